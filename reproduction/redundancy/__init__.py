"""Section 5.4: dependence of features is neither needed nor enough for them to be redundant."""

from __future__ import annotations

from typing import Any

import numpy as np

from pidselect.datasets import SyntheticDataset, gate, sample
from pidselect.decomposition import MEASURES, decompose_distribution
from reproduction.agreement import Comparison, cell, estimate
from reproduction.experiment import Experiment, Findings, Note, Outcome, Part, Results
from reproduction.figures import Figure, Panel, Role, Series
from reproduction.redundancy.cases import (
    CASES,
    SAMPLED,
    counterexample,
    information_between,
)
from reproduction.redundancy.claims import (
    ATOMS,
    CRITERIA,
    exact,
    exact_claims,
    found_both,
    sampled_claims,
)
from reproduction.terms import ALPHA, N_PERMUTATIONS, N_SAMPLES, atoms, select, term

# ------------------------------------------------------------------------------------------ runs


def run_exact(seed: int, case: str) -> Outcome:
    """Decompose a known distribution by every measure; there is no chance in it."""
    pmf = CASES[case]()
    by_measure = {}
    for measure in MEASURES:
        found = decompose_distribution(pmf, measure=measure)
        by_measure[measure] = {
            "unique1": found.unique[0],
            "unique2": found.unique[1],
            "shared": found.shared,
            "synergy": found.synergy,
        }
    return {
        "atoms": by_measure,
        "between": information_between(pmf, [0], [1]),
        "between given Y": information_between(pmf, [0], [1], [2]),
        "mi1": information_between(pmf, [0], [2]),
        "mi2": information_between(pmf, [1], [2]),
        "cmi": information_between(pmf, [0], [2], [1]),
    }


def run_parity(seed: int) -> Outcome:
    """Rate the third bit of a parity beside two selected ones, in full and by pairs."""
    pmf = gate("XOR", n_sources=3)
    selected, candidate, target = (0, 1), [2], [3]
    pairs = information_between(pmf, candidate, target)
    for one in selected:
        pairs -= information_between(pmf, candidate, [one])
        pairs += information_between(pmf, candidate, [one], target)
    return {"pairs": pairs, "cmi": information_between(pmf, candidate, target, selected)}


def run_sampled(seed: int, case: str) -> Outcome:
    """Draw samples, and estimate atoms and the dependence of the features from them."""
    X, y = sample(CASES[case](), N_SAMPLES, random_state=seed)
    between = term(X[:, 0], X[:, 1], estimator="discrete", seed=seed)
    return {"atoms": atoms(list(X.T), y), "between": between}


def run_selection(seed: int, criterion: str) -> Outcome:
    """Select among F1, F2 and a variable of four levels that tells nothing."""
    rng = np.random.default_rng(seed)
    X, y = sample(counterexample(0.1), N_SAMPLES, random_state=rng)
    table = np.column_stack([X, rng.integers(0, 4, N_SAMPLES)]).astype(float)
    problem = SyntheticDataset(
        table, y, ("F1", "F2", "N"), (0, 1), "Relevant features with a bit in common"
    )
    settings: dict[str, Any] = {
        "criterion": criterion,
        "estimator": "discrete",
        "alpha": ALPHA,
        "n_permutations": N_PERMUTATIONS,
        "surrogates": "global",
    }
    chosen = select(problem, seed, settings)["selected"]
    return {"selected": chosen, "exact": set(chosen) == {"F1", "F2"}}


# ---------------------------------------------------------------------------------------- report


def report(results: Results) -> Findings:
    """Make tables, claims and the figure of whatever was run."""
    claims = [*exact_claims(results), *sampled_claims(results)]
    panels = _panels(results)
    figure = Figure(
        "redundancy",
        "Shared about the target, and known about each other",
        "Atoms by BROJA beside I(F1;F2): of known distributions, exact, and of "
        f"{N_SAMPLES:,} samples (plug-in), with standard errors. Atoms of an AND gate by every "
        "measure. And how often criteria select exactly the two relevant features of the "
        "counterexample: those that subtract I(F1;F2), mifs and mrmr, never do.",
        panels,
        n_columns=2,
    )
    return Findings(_tables(results), claims, [figure] if panels else [])


def _tables(results: Results) -> list[Comparison]:
    terms: dict[str, str] = {**dict(ATOMS.items()), "between": "I(F1;F2)"}
    known = [
        cell(case, label, exact(results, case, key))
        for case in CASES
        for key, label in terms.items()
    ]
    runs = results.of("exact", case="AND")
    measures = [
        cell(measure, label, [run["atoms"][measure][key] for run in runs])
        for measure in MEASURES
        for key, label in ATOMS.items()
    ]
    chosen = [
        cell(criterion, "F1 and F2, nothing else", found_both(results, criterion))
        for criterion in CRITERIA
    ]
    return [
        Comparison(
            "exact",
            "Atoms and dependence of known distributions",
            "In bits, by BROJA. The paper prints one of the numbers, 0.311 for AND.",
            known,
            digits=3,
        ),
        Comparison(
            "measures",
            "An AND gate by other measures",
            "In bits. BROJA, I_min and MMI have the same atoms here; CCS and SX call less of it "
            "shared.",
            measures,
            digits=3,
        ),
        Comparison(
            "selection",
            "Selecting in the counterexample, % of runs",
            "Candidates are F1, F2 and a variable that tells nothing; bits are flipped on their "
            "way to the target in 10 % of cases. Criteria subtract I(F1;F2) (mifs, mrmr) or not "
            "(cmi, mi, jmi). In 100 runs mifs and mrmr take F1 or F2 alone in 96; cmi and jmi take "
            "both in all, and the third variable besides in 6, about as often as the level allows.",
            chosen,
        ),
    ]


def _panels(results: Results) -> list[Panel]:
    panels = []
    cases = [case for case in CASES if results.of("exact", case=case)]
    if cases:
        series = [
            Series(label, role, cases, [exact(results, case, role)[0] for case in cases])
            for role, label in ATOMS.items()
        ]
        between = [exact(results, case, "between")[0] for case in cases]
        series.append(Series("I(F1;F2)", "plain", cases, between))
        panels.append(Panel("Exact", "bars", series, y_label="bit"))
    panels += _sampled_panel(results)
    if runs := results.of("exact", case="AND"):
        series = [
            Series(label, role, list(MEASURES), [runs[0]["atoms"][one][role] for one in MEASURES])
            for role, label in ATOMS.items()
        ]
        panels.append(Panel("AND by other measures", "bars", series, y_label="bit"))
    criteria = [one for one in CRITERIA if found_both(results, one)]
    if criteria:
        shares = [estimate(found_both(results, one)).mean for one in criteria]
        bars = [Series("F1 and F2 selected", "right", criteria, shares)]
        panels.append(Panel("Counterexample, selected", "bars", bars, y_label="% of runs"))
    return panels


def _sampled_panel(results: Results) -> list[Panel]:
    runs = {case: results.of("sampled", case=case) for case in SAMPLED}
    cases = [case for case in SAMPLED if runs[case]]
    if not cases:
        return []

    def bars(label: str, role: Role, values: list[list[float]]) -> Series:
        found = [estimate(one) for one in values]
        known = all(one.runs > 1 for one in found)
        error = [one.standard_error for one in found] if known else None
        return Series(label, role, cases, [one.mean for one in found], error=error)

    series = [
        bars(label, role, [[run["atoms"][role] for run in runs[case]] for case in cases])
        for role, label in ATOMS.items()
    ]
    between = [[run["between"]["bits"] for run in runs[case]] for case in cases]
    series.append(bars("I(F1;F2)", "plain", between))
    return [Panel(f"From {N_SAMPLES:,} samples", "bars", series, y_label="bit")]


# ------------------------------------------------------------------------------------ experiment

EXPERIMENT = Experiment(
    name="redundancy",
    title="Dependence and redundancy of features",
    where="Section 5.4, no figure",
    about=(
        "Criteria of the family of Brown et al. subtract what features know about each other. The "
        "paper argues with two cases that this is not what they share about a target: an AND gate, "
        "whose inputs are independent and share information, and features that have an irrelevant "
        "part in common and share none.",
        "Here both are computed from the distributions, beside cases in which redundancy is in the "
        "features, and from samples. Then features of the second case are selected by criteria "
        "that subtract dependence and by others.",
    ),
    parts=(
        Part(
            "exact",
            run_exact,
            points=[{"case": case} for case in CASES],
            runs=1,
            quick_runs=1,
            seconds=0.03,
        ),
        Part("parity", run_parity, runs=1, quick_runs=1, seconds=0.01),
        Part(
            "sampled",
            run_sampled,
            points=[{"case": case} for case in SAMPLED],
            runs=100,
            quick_runs=3,
            seconds=0.005,
        ),
        Part(
            "selection",
            run_selection,
            points=[{"criterion": criterion} for criterion in CRITERIA],
            runs=100,
            quick_runs=3,
            seconds=0.015,
        ),
    ),
    report=report,
    notes=(
        Note(
            "The counterexample is described by its information terms only.",
            "F1 = (X1, X2) and F2 = (Z1, Z2) of fair bits with Z1 = X1, and a target that tells "
            "X2 and Z2. To select from samples, each of these is flipped in 10 % of cases: then "
            "a relevant feature tells less than is subtracted for the bit in common.",
        ),
        Note(
            "I(F1;F2) is said to bound redundancy that comes from the sources alone.",
            "Shown where the target repeats the features. It is no bound where the target is a "
            "common cause of both: see that case.",
        ),
    ),
)
