"""Experiment V: a distractor in the target or in the measurement, and what reads through it."""

from __future__ import annotations

from typing import Literal

from pidselect.decomposition.binning import BINNINGS
from reproduction.agreement import Claim, Comparison, cell, estimate, is_at_least
from reproduction.averages import mean_series, percent
from reproduction.experiment import Experiment, Findings, Note, Outcome, Part, Results
from reproduction.figures import Figure, Panel, Role, Series
from reproduction.noise.claims import (
    ATOMS,
    ESTIMATES,
    TERMS,
    haufe_claims,
    mackay_claims,
)
from reproduction.noise.curves import QUICK_STEP, STEP, Curves
from reproduction.terms import N_PERMUTATIONS, WAYS, atoms, select, term
from reproduction.two_variable_models import noise_model

Kind = Literal["mackay", "haufe"]
KINDS: dict[Kind, str] = {"mackay": "MacKay", "haufe": "Haufe"}

#: Strengths of the distractor at which a selection is made; curves go up to the last.
STRENGTHS = (0.0, 0.5, 1.0, 2.0, 4.0)

SETTINGS = {"paper": "as the paper", "defaults": "our defaults"}

NO_START = (
    "The paper does not select here. Given each other both inputs tell much. But after Haufe with "
    "a = 4, neither tells enough by itself for KSG to tell it from chance, X1 0.04 bit in truth "
    "where 0.05 would be significant, so that adding one after the other rarely starts. Our "
    "defaults also look for monotone relations, which are easier to see, and start with X1."
)

ROLES: dict[str, Role] = {
    "mi1": "mi",
    "mi2": "mi2",
    "cmi": "cmi",
    "joint": "joint",
    "unique1": "unique1",
    "unique2": "unique2",
    "shared": "shared",
    "synergy": "synergy",
}


# ------------------------------------------------------------------------------------------ runs


def run_curve(seed: int, kind: Kind, step: float, n_permutations: int) -> Outcome:
    """Estimate all terms and atoms at strengths 0, step, ..., 4, from the same S, D and noise.

    Returns
    -------
    dict with "a", the strengths, and "curves", values in bits by names such as "ksg mi1", with
    "ksg mi1 line" for the line above which it is significant.
    """
    grid = [place * step for place in range(round(STRENGTHS[-1] / step) + 1)]
    places = [_at_strength(seed, kind, a, n_permutations) for a in grid]
    return {"a": grid, "curves": {key: [place[key] for place in places] for key in places[0]}}


def _at_strength(seed: int, kind: Kind, a: float, n_permutations: int) -> dict[str, float]:
    problem = noise_model(kind=kind, a=a, random_state=seed)
    X1, X2 = problem.X.T
    asked = {"mi1": (X1, None), "mi2": (X2, None), "cmi": (X1, X2), "joint": (problem.X, None)}
    found: dict[str, float] = {}
    for name, (x, given) in asked.items():
        by_ksg = term(x, problem.y, given, n_permutations=n_permutations, seed=seed)
        found[f"ksg {name}"] = by_ksg["bits"]
        if n_permutations:
            found[f"ksg {name} line"] = by_ksg["line"]
        for binning in BINNINGS:
            counted = term(x, problem.y, given, binning=binning, n_permutations=0)
            found[f"{binning} {name}"] = counted["bits"]
    for binning in BINNINGS:
        parts = atoms([X1, X2], problem.y, binning=binning)
        found |= {f"{binning} {name}": bits for name, bits in parts.items()}
    return found


def run_selection(seed: int, kind: Kind, a: float, settings: str) -> Outcome:
    """Select, with the settings of the paper or with our defaults."""
    problem = noise_model(kind=kind, a=a, random_state=seed)
    chosen = select(problem, seed, WAYS[settings])["selected"]
    return {"selected": chosen, "exact": set(chosen) == set(problem.relevant_names)}


# ---------------------------------------------------------------------------------------- report


def report(results: Results) -> Findings:
    """Make tables, claims and figures of whatever was run."""
    curves = {kind: Curves(results, kind) for kind in KINDS}
    claims = [
        *mackay_claims(curves["mackay"]),
        *haufe_claims(curves["haufe"]),
        *_recovered(results),
    ]
    comparisons = [_terms_table(curves), _selection_table(results)]
    figures = [_figure(curves, by) for by in ESTIMATES if any(map(len, curves.values()))]
    return Findings(comparisons, claims, figures)


def _exact(results: Results, kind: Kind, a: float, settings: str) -> list[float]:
    """Return, in percent run by run, whether exactly the relevant inputs were selected."""
    runs = results.of("selection", kind=kind, a=a, settings=settings)
    return percent([run["exact"] for run in runs])


def _recovered(results: Results) -> list[Claim]:
    """Decide whether the signal is found with its distractor, in both models."""
    claims = []
    for settings, label in SETTINGS.items():
        shares = {
            f"{KINDS[kind]}, a = {a:g}": found
            for kind in KINDS
            for a in STRENGTHS
            if a > 0 and (found := _exact(results, kind, a, settings))
        }
        means = {place: estimate(found).mean for place, found in shares.items()}
        worst = min(means, key=lambda place: means[place], default="")
        where = f"where these are fewest: {worst}" if len(set(means.values())) > 1 else "at any a"
        claims.append(
            is_at_least(
                f"signal found behind strong noise ({label})",
                "Where the source of the noise is recorded, the signal can be recovered, however "
                "strong the noise: both inputs are selected.",
                shares.get(worst, []),
                95.0,
                measured=f"runs in which both inputs are selected, {where}, %",
                remark=NO_START if settings == "paper" else "",
            )
        )
    return claims


def _terms_table(curves: dict[Kind, Curves]) -> Comparison:
    """Show the terms at some strengths, by every estimator; the paper prints no numbers."""
    cells = [
        cell(
            f"{KINDS[kind]}, a = {a:g}",
            f"{ESTIMATES[by]}: {label}",
            seen.of(by, name)[:, seen.grid.index(a)].tolist() if a in seen.grid else [],
        )
        for kind, seen in curves.items()
        for a in STRENGTHS
        for by in ESTIMATES
        for name, label in TERMS.items()
    ]
    return Comparison(
        "terms",
        "Information about Y by strength of the distractor",
        "Means in bits. The paper shows curves and prints no numbers. Five bins hold at most 2.3 "
        "bit: where there is much to know, plug-in estimates are far below those of KSG.",
        cells,
        digits=2,
    )


def _selection_table(results: Results) -> Comparison:
    """Show how often exactly the relevant inputs are selected."""
    cells = [
        cell(f"{name}, a = {a:g}", label, _exact(results, kind, a, settings))
        for kind, name in KINDS.items()
        for a in STRENGTHS
        for settings, label in SETTINGS.items()
    ]
    return Comparison(
        "selection",
        "Runs in which exactly the relevant inputs are selected, %",
        "Relevant are both, but at a = 0 only X1. The paper shows no selection here."
        f"{_say_gain(results)}",
        cells,
    )


def _say_gain(results: Results) -> str:
    """Say how often each way to select is right, with a distractor and without."""
    said = []
    for label, strengths in (
        ("With a distractor", [a for a in STRENGTHS if a > 0]),
        ("at a = 0", [0.0]),
    ):
        shares = [
            [share for kind in KINDS for a in strengths for share in _exact(results, kind, a, name)]
            for name in SETTINGS
        ]
        if all(shares):
            paper, ours = (estimate(share).mean for share in shares)
            said.append(f"{label} {paper:.1f} % as the paper, {ours:.1f} % by our defaults")
    return f" {'; '.join(said)}." if said else ""


def _figure(curves: dict[Kind, Curves], by: str) -> Figure:
    """Draw terms and atoms over the strength, one panel a model; atoms of KSG there are none."""
    names = TERMS if by == "ksg" else {**TERMS, **ATOMS}
    panels = [
        Panel(
            title=f"{KINDS[kind]}: distractor in the {where}",
            kind="lines",
            series=[_series(seen, by, name, label) for name, label in names.items()],
            x_label="strength a of the distractor",
            y_label="bit",
        )
        for (kind, seen), where in zip(curves.items(), ("target", "measurement"), strict=True)
        if len(seen)
    ]
    line = (
        f" Dashed: mean lines of significance, from {N_PERMUTATIONS} permutations of each."
        if by == "ksg"
        else " Atoms are by BROJA on the same bins. Neither was tested for significance."
    )
    how = "KSG" if by == "ksg" else f"plug-in on five {ESTIMATES[by]}"
    return Figure(
        f"noise-{by}",
        f"Signal and distractor, by {ESTIMATES[by]}",
        f"Information about Y by {how}; means of all runs, with standard errors.{line}",
        panels,
        n_columns=2,
    )


def _series(seen: Curves, by: str, name: str, label: str) -> Series:
    lines = seen.lines(by, name)
    return mean_series(
        label,
        ROLES[name],
        seen.grid,
        seen.of(by, name).tolist(),
        None if lines is None else lines.tolist(),
    )


# ------------------------------------------------------------------------------------ experiment

EXPERIMENT = Experiment(
    name="noise",
    title="Experiment V: noise examples after MacKay (2005) and Haufe et al. (2014)",
    where="Section 4.5, panels A and B of the noise figure",
    about=(
        "X1 measures a signal S, X2 a distractor D, both standard normal. After MacKay, Y is "
        "sin(S) + aD with a little noise: the distractor disturbs the target. After Haufe, X1 is "
        "S + aD and Y is sin(S) with a little noise: it disturbs the measurement, and tells "
        "nothing of Y by itself.",
        "Terms are by KSG (nearest neighbours), and by plug-in on the bins of the atoms, as the "
        "paper wants terms and atoms to be comparable. A claim without an addition in brackets is "
        "decided by KSG if it is about terms, by bins of equal width if it is about atoms: with "
        "these the curves are in the order that the paper describes. A claim on a range of a is "
        "decided at every strength, and shows the least favourable one.",
        "Beyond the paper, inputs are selected, by its settings and by our defaults.",
    ),
    parts=(
        Part(
            "curve",
            run_curve,
            points=[
                {"kind": kind, "step": STEP, "n_permutations": N_PERMUTATIONS} for kind in KINDS
            ],
            runs=100,
            quick_points=[
                {"kind": kind, "step": QUICK_STEP, "n_permutations": 0} for kind in KINDS
            ],
            quick_runs=3,
            seconds=3.4,
        ),
        Part(
            "selection",
            run_selection,
            points=[
                {"kind": kind, "a": a, "settings": settings}
                for kind in KINDS
                for a in STRENGTHS
                for settings in SETTINGS
            ],
            runs=20,
            quick_points=[
                {"kind": kind, "a": a, "settings": settings}
                for kind in KINDS
                for a in (0.0, 1.0)
                for settings in SETTINGS
            ],
            quick_runs=1,
            seconds=0.22,
        ),
    ),
    report=report,
    notes=(
        Note(
            "Which estimator the curves of the noise figure are from is not said.",
            "All three are shown. The order of the curves that the text describes, with I(X2;Y) "
            "above I(X1;Y|X2) from a = 1 on, is that of plug-in estimates on 5 bins of equal "
            "width; with bins of equal count or with KSG the curves cross later.",
        ),
        Note(
            "The steps between values of a are not given.",
            "Steps of 0.25 from 0 to 4.",
        ),
        Note(
            "After MacKay, the true I(X1;Y|X2) is the same for every a, 2.5 bit: given D, "
            "adding aD changes nothing. I(X2;Y) passes it near a = 3. All estimates of it fall.",
            "Left as it is: 1000 samples or 5 bins of a Y stretched by the distractor do not "
            "resolve the signal.",
        ),
    ),
)
