"""Section 5.4: dependence of features is neither necessary nor sufficient for redundancy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect import decompose_distribution
from pidselect.datasets import SyntheticDataset, gate, sample
from pidselect.decomposition import MEASURES
from reproduction.experiment import Claims, Outcome, Part, Results
from reproduction.information import (
    ALPHA,
    ATOMS,
    N_PERMUTATIONS,
    N_SAMPLES,
    atom_labels,
    atoms,
    is_significant,
    select,
    term,
)
from reproduction.quantities import grid, percent, quantity


def _flip(is_flipped: bool, error: float) -> float:
    return error if is_flipped else 1 - error


def correlated_copy(agreement: float) -> NDArray[np.float64]:
    """Return two bits that agree with a probability, and a target that is the pair of them."""
    pmf = np.zeros((2, 2, 4))
    for first, second in product((0, 1), repeat=2):
        pmf[first, second, 2 * first + second] = _flip(first != second, 1 - agreement) / 2
    return pmf


def common_cause(error: float = 0.1) -> NDArray[np.float64]:
    """Return a target bit and two features that equal it, except for independent errors."""
    pmf = np.zeros((2, 2, 2))
    for first, second, target in product((0, 1), repeat=3):
        both = _flip(first != target, error) * _flip(second != target, error)
        pmf[first, second, target] = 0.5 * both
    return pmf


def counterexample(error: float = 0.0) -> NDArray[np.float64]:
    """Return features with an irrelevant bit in common, and each with a relevant bit.

    F1 is (X1, X2) and F2 is (Z1, Z2) with Z1 = X1; the target is (X2, Z2), each of which is flipped
    with probability `error`.
    """
    pmf = np.zeros((4, 4, 4))
    for common, own1, own2, seen1, seen2 in product((0, 1), repeat=5):
        probability = _flip(own1 != seen1, error) * _flip(own2 != seen2, error) / 8
        pmf[2 * common + own1, 2 * common + own2, 2 * seen1 + seen2] += probability
    return pmf


CASES: dict[str, Callable[[], NDArray[np.float64]]] = {
    "AND": lambda: gate("AND"),
    "XOR": lambda: gate("XOR"),
    "same bit": lambda: gate("RDN"),
    "copy": lambda: gate("COPY"),
    "copy, 60 % alike": lambda: correlated_copy(0.6),
    "copy, 90 % alike": lambda: correlated_copy(0.9),
    "common cause": common_cause,
    "counterexample": counterexample,
    "counterexample, 10 % flipped": lambda: counterexample(0.1),
}

#: Cases in which the target repeats the features: no mechanism adds redundancy.
OF_THE_SOURCE = ("same bit", "copy", "copy, 60 % alike", "copy, 90 % alike", "counterexample")

SAMPLED = ("AND", "counterexample, 10 % flipped")

#: Criteria that select in the counterexample; the last two subtract I(F1;F2).
CRITERIA = ("cmi", "mi", "jmi", "mifs", "mrmr")

ATOM_LABELS = atom_labels("unique F1", "unique F2")


def information_between(
    pmf: NDArray[np.float64], first: Sequence[int], second: Sequence[int], given: Sequence[int] = ()
) -> float:
    """Return I(first; second | given) of axes of a distribution, in bits.

    Examples
    --------
    >>> round(information_between(gate("AND"), [0], [1], given=[2]), 3)
    0.189
    """

    def entropy(*axes: int) -> float:
        marginal = pmf.sum(axis=tuple(set(range(pmf.ndim)) - set(axes))).ravel()
        marginal = marginal[marginal > 0]
        return float(-np.sum(marginal * np.log2(marginal)))

    separate = entropy(*first, *given) + entropy(*second, *given)
    return separate - entropy(*first, *second, *given) - entropy(*given)


def described(
    pmf: NDArray[np.float64], measures: Sequence[str] = ("broja", "imin", "mmi")
) -> Outcome:
    """Return atoms by some measures, and information terms, of two features and a target."""
    asked: dict[str, Sequence[Sequence[int]]] = {
        "mi1": ([0], [2]),
        "mi2": ([1], [2]),
        "mi of Y and F1": ([2], [0]),
        "cmi1": ([0], [2], [1]),
        "cmi2": ([1], [2], [0]),
        "joint": ([0, 1], [2]),
        "between": ([0], [1]),
        "between given Y": ([0], [1], [2]),
        "entropy1": ([0], [0]),
        "entropy of Y": ([2], [2]),
    }
    by_measure = {}
    for measure in measures:
        found = decompose_distribution(pmf, measure=measure)
        values = (*found.unique, found.shared, found.synergy)
        by_measure[measure] = dict(zip(ATOMS, map(float, values), strict=True))
    terms = {name: information_between(pmf, *axes) for name, axes in asked.items()}
    return {"atoms": by_measure, **terms}


def run_exact(seed: int, case: str) -> Outcome:
    """Decompose a known distribution by each measure."""
    return described(CASES[case](), list(MEASURES))


def run_parity(seed: int) -> Outcome:
    """Score the third bit of a parity given two selected ones, in full and by pairs."""
    pmf = gate("XOR", n_sources=3)
    selected, candidate, target = (0, 1), [2], [3]
    pairs = information_between(pmf, candidate, target)
    for one in selected:
        pairs -= information_between(pmf, candidate, [one])
        pairs += information_between(pmf, candidate, [one], target)
    return {"pairs": pairs, "cmi": information_between(pmf, candidate, target, selected)}


def run_sampled(seed: int, case: str) -> Outcome:
    """Estimate atoms and the dependence of the features from samples."""
    X, y = sample(CASES[case](), N_SAMPLES, random_state=seed)
    between = term(X[:, 0], X[:, 1], estimator="discrete", seed=seed)
    return {"atoms": atoms(list(X.T), y), "between": between}


def run_selection(seed: int, criterion: str) -> Outcome:
    """Select among F1, F2 and an irrelevant variable of four levels."""
    rng = np.random.default_rng(seed)
    X, y = sample(counterexample(0.1), N_SAMPLES, random_state=rng)
    table = np.column_stack([X, rng.integers(0, 4, N_SAMPLES)]).astype(float)
    data = SyntheticDataset(
        table, y, ("F1", "F2", "N"), (0, 1), "Relevant features with a bit in common"
    )
    settings: dict[str, Any] = {
        "criterion": criterion,
        "estimator": "discrete",
        "alpha": ALPHA,
        "n_permutations": N_PERMUTATIONS,
        "surrogates": "global",
    }
    chosen = select(data, seed, settings)["selected"]
    return {"selected": chosen, "exact": set(chosen) == {"F1", "F2"}}


@quantity
def _exact(results: Results, case: str, key: str, measure: str = "broja") -> list[float]:
    """Return an atom or a term of a known distribution."""
    runs = results.of("exact", case=case)
    return [run["atoms"][measure][key] if key in ATOMS else run[key] for run in runs]


@quantity
def _largest(results: Results, cases: Iterable[str], of: Callable[[Outcome], float]) -> list[float]:
    return [max(of(run) for case in cases for run in results.of("exact", case=case))]


@quantity
def _shared(results: Results, case: str) -> list[float]:
    return [run["atoms"]["shared"] for run in results.of("sampled", case=case)]


@quantity
def _dependent(results: Results, case: str) -> NDArray[np.float64]:
    return percent(is_significant(run["between"]) for run in results.of("sampled", case=case))


@quantity
def _found(results: Results, *criteria: str) -> NDArray[np.float64]:
    """Return whether exactly F1 and F2 were selected, in percent."""
    runs = [run for one in criteria for run in results.of("selection", criterion=one)]
    return percent(run["exact"] for run in runs)


FLIPPED = "counterexample, 10 % flipped"

CLAIMS: Claims = {
    "AND: shared 0.311": _exact("AND", "shared"),
    "AND: inputs independent": _exact("AND", "between"),
    "counterexample: dependent features": _exact("counterexample", "between"),
    "counterexample: nothing shared": _exact("counterexample", "shared"),
    "source redundancy bounded by I(F1;F2)": _largest(
        OF_THE_SOURCE, lambda run: run["atoms"]["broja"]["shared"] - run["between"]
    ),
    "Brown: relevancy less dependence, plus dependence given Y": _largest(
        CASES, lambda run: abs(run["mi1"] - run["between"] + run["between given Y"] - run["cmi1"])
    ),
    "Brown: no synergy without the third term": _exact("XOR", "mi1") - _exact("XOR", "between"),
    "Brown: pairs only": lambda r: [run["pairs"] for run in r.of("parity")],
    "AND: shared 0.311 (sampled)": _shared("AND"),
    "AND: inputs independent (sampled)": _dependent("AND"),
    "counterexample: dependent features (sampled)": _dependent(FLIPPED),
    "counterexample: nothing shared (sampled)": _shared(FLIPPED),
    "counterexample: CMI finds both": _found("cmi"),
    "counterexample: MIFS and mRMR miss one": _found("mifs", "mrmr"),
}

PARTS = (
    Part("exact", run_exact, [{"case": case} for case in CASES], 1, None, 1, 0.03),
    Part("parity", run_parity, runs=1, quick_runs=1, seconds=0.01),
    Part("sampled", run_sampled, [{"case": case} for case in SAMPLED], seconds=0.005),
    Part("selection", run_selection, [{"criterion": one} for one in CRITERIA], seconds=0.015),
)

TABLES = {
    "exact": grid(_exact, {case: case for case in CASES}, {**ATOM_LABELS, "between": "I(F1;F2)"}),
    "measures": grid(
        lambda measure, key: _exact("AND", key, measure),
        {measure: measure for measure in MEASURES},
        ATOM_LABELS,
    ),
    "selection": grid(
        lambda criterion, _: _found(criterion),
        {criterion: criterion for criterion in CRITERIA},
        {"": "F1 and F2, nothing else"},
    ),
}
