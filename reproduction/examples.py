"""Experiment VI: two classes in the plane, whose inputs may be correlated but not redundant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.data import two_classes
from reproduction.experiment import (
    Claims,
    Outcome,
    Part,
    Results,
    each,
)
from reproduction.information import (
    BINNINGS,
    N_SAMPLES,
    TERMS,
    atom_labels,
    atoms,
    is_significant,
    pair_terms,
)
from reproduction.quantities import Quantity, grid, percent, quantity

#: The paper's examples, and those with misprinted class means with others.
EXAMPLES = {
    "1": "1",
    "2": "2",
    "3": "3 as printed",
    "3*": "3, means apart",
    "4": "4 as printed",
    "4*": "4, sign corrected",
    "5": "5",
}
CORRECTED = {"3*": ((-1.0, -1.0), (1.0, 1.0)), "4*": ((-0.5, -0.5), (0.5, 0.5))}

SHOWN = {name: TERMS[name] for name in ("mi1", "mi2", "cmi1", "joint")}
ATOM_LABELS = atom_labels("unique X1", "unique X2")
ESTIMATES = {
    "noise 0.1": "KSG, label noise 0.1",
    "noise 0.75": "KSG, label noise 0.75",
    "mixed": "mixed, labels as they are",
    "width": "equal-width bins",
    "count": "equal-count bins",
}

#: Bits below which information counts as zero: the bias of plug-in terms here is 0.003 to 0.014.
ZERO = 0.03

#: Standard deviation of the noise on labels, which makes them continuous; the paper does not give
#: it. With the second, of those tried, all the paper's statements on significance hold.
LABEL_NOISE, FITTED_NOISE = 0.1, 0.75
NOISES = (LABEL_NOISE, FITTED_NOISE)

#: Key of the random stream of the label noise.
STREAM = 31


def _data(example: str, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    means = CORRECTED.get(example)
    return two_classes(N_SAMPLES, example=int(example[0]), means=means, random_state=seed)


def _noisy(y: NDArray[Any], noise: float, seed: int) -> NDArray[np.float64]:
    return y + noise * np.random.default_rng([STREAM, seed]).standard_normal(len(y))


def _coefficient(X: NDArray[Any]) -> float:
    return float(np.asarray(np.corrcoef(X.T))[0, 1])


def run_terms(seed: int, example: str) -> Outcome:
    """Estimate all terms by each estimator, the atoms, and the correlation of the inputs."""
    X, y = _data(example, seed)
    noises = (LABEL_NOISE, FITTED_NOISE)
    terms = {f"noise {a:g}": pair_terms(X, _noisy(y, a, seed), [*SHOWN], seed=seed) for a in noises}
    terms["mixed"] = pair_terms(X, y, [*SHOWN], estimator="mixed", seed=seed)
    terms |= {by: pair_terms(X, y, [*SHOWN], binning=by, seed=seed) for by in BINNINGS}
    centred = X - np.array([X[y == label].mean(axis=0) for label in (0, 1)])[y]
    return {
        "terms": terms,
        "atoms": atoms([*X.T], y, binning="width"),
        "correlation": _coefficient(X),
        "within": _coefficient(centred),
    }


def run_labels(seed: int, example: str, noise: float) -> Outcome:
    """Estimate all terms by KSG with noise on the labels."""
    X, y = _data(example, seed)
    return {"terms": pair_terms(X, _noisy(y, noise, seed), [*SHOWN], seed=seed)}


Array = NDArray[np.float64]


@quantity
def _of(results: Results, example: str, get: Callable[[Outcome], float]) -> Array:
    """Return a number of each run on an example."""
    return np.array([get(run) for run in results.of("terms", example=example)])


def _bits(example: str, by: str, name: str) -> Quantity:
    return _of(example, lambda run: run["terms"][by][name]["bits"])


def _atom(example: str, name: str) -> Quantity:
    return _of(example, lambda run: run["atoms"][name])


def _part(example: str, name: str) -> Quantity:
    """Return an atom in percent of the joint information, on bins of equal width."""
    return 100 * (_atom(example, name) / _bits(example, "width", "joint"))


@quantity
def _with_noise(results: Results, example: str, noise: float, name: str) -> Array:
    """Return, in percent run by run, whether a term is significant with noise on the labels."""
    runs = results.of("labels", example=example, noise=noise)
    return percent(is_significant(run["terms"][name]) for run in runs)


def _correlation(example: str, key: str) -> Quantity:
    return _of(example, lambda run: abs(run[key]))


@quantity
def _extreme(results: Results, function: Any, *values: Quantity) -> Array:
    """Return the minimum or maximum of several values, run by run, of the runs that all have."""
    found = (value(results) for value in values)
    return np.array([function(row) for row in zip(*found, strict=False)])


def _significance(noise: float, suffix: str) -> Claims:
    others = [
        _with_noise(example, noise, name) for example in "12" for name in ("mi1", "mi2", "joint")
    ]
    first, second = (_with_noise(example, noise, "cmi1") for example in "12")
    return {
        f"Example 1 significant in some runs only{suffix}": first,
        f"Example 2 significant more often than Example 1{suffix}": second - first,
        f"Example 2 significant consistently{suffix}": second,
        f"Examples 1 and 2: single and joint MI significant{suffix}": _extreme(np.mean, *others),
    }


def _more_correlated(example: str, key: str) -> Quantity:
    """Return the absolute correlation less the larger one of Examples 1 and 2."""
    return _correlation(example, key) - _extreme(max, *(_correlation(one, key) for one in "12"))


def _correlated(example: str, suffix: str) -> Claims:
    """Return the claims that compare Example 4 with the first two."""
    least = _extreme(min, _atom("1", "shared"), _atom("2", "shared"))
    return {
        f"Example 4 less redundant than Examples 1 and 2{suffix}": least - _atom(example, "shared"),
        f"Example 4 more correlated than Examples 1 and 2{suffix}": _more_correlated(
            example, "correlation"
        ),
    }


#: Examples of inputs that are correlated within a class.
_DEPENDENT = {"4": "Example 4", "4*": "Example 4 (sign corrected)", "5": "Example 5"}

CLAIMS: Claims = {
    "Examples 1 and 2: synergy though independent": (
        _extreme(min, _atom("1", "synergy"), _atom("2", "synergy")) - ZERO
    ),
    "Example 2: synergy more evident than in Example 1": (
        _atom("2", "synergy") - _atom("1", "synergy")
    ),
    "Example 1: higher relative redundancy than Example 2": (
        _part("1", "shared") - _part("2", "shared")
    ),
    **_significance(LABEL_NOISE, ""),
    **_significance(FITTED_NOISE, f" (label noise {FITTED_NOISE:g})"),
    "Example 3 as printed: information shared": _bits("3", "mixed", "joint") - ZERO,
    "Example 3 (means apart): purely redundant": _part("3*", "shared"),
    "Example 3 (means apart): CMI is zero": lambda r: np.max(
        [np.abs(_bits("3*", by, "cmi1")(r)) for by in ESTIMATES], axis=0
    ),
    **{
        f"{name}{claim}": values
        for example, name in _DEPENDENT.items()
        for claim, values in (
            (" mostly unique X1", _part(example, "unique1")),
            (": little shared", _part(example, "shared")),
            (": some synergy", _atom(example, "synergy") - ZERO),
        )
    },
    **_correlated("4", ""),
    **_correlated("4*", " (sign corrected)"),
    "Example 4 more correlated than Examples 1 and 2 (within a class)": (
        _more_correlated("4", "within")
    ),
    "Example 5: X2 has no marginal information": _bits("5", "mixed", "mi2"),
}


PARTS = (
    Part("terms", run_terms, each(example=EXAMPLES), 20, quick_runs=1, seconds=0.75),
    Part("labels", run_labels, each(example="12", noise=NOISES), 50, quick_runs=2, seconds=0.22),
)

TABLES = {
    "terms": grid(
        lambda example, column: _bits(example, *column),
        EXAMPLES,
        {
            (by, name): f"{label}, {ESTIMATES[by]}"
            for by in ("mixed", "noise 0.1")
            for name, label in SHOWN.items()
        },
    ),
    "atoms": grid(_atom, EXAMPLES, ATOM_LABELS),
    "correlation": grid(
        lambda example, key: _of(example, lambda run: run[key]),
        EXAMPLES,
        {"correlation": "all samples", "within": "within a class"},
    ),
}
