"""Experiment II, Section 4.2: two inputs added or multiplied, with opposite weights."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.agreement import Decided, extreme_place
from reproduction.data import statistical_model
from reproduction.experiment import (
    Claims,
    NotRunError,
    Outcome,
    Part,
    Results,
    attempt,
    each,
    finest,
)
from reproduction.information import (
    ATOMS,
    BINNINGS,
    N_SAMPLES,
    TERMS,
    atom_labels,
    pair_terms,
)
from reproduction.information import atoms as decompose_pair
from reproduction.quantities import Quantity, grid, quantity

KINDS = ("additive", "multiplicative")
ATOM_LABELS = atom_labels("unique to X1", "unique to X2")
DISTRIBUTIONS = ("uniform", "binomial", "poisson", "exponential")
SIGMAS = (0.1, 1.0, 10.0)

#: Integer inputs, whose terms are estimated for mixed data.
DISCRETE = ("binomial", "poisson")

#: The distribution and noise that the paper shows.
SHOWN = ("uniform", 0.1)

#: Terms that noise lowers, as it does all atoms.
LOWERED = ("mi1", "mi2", "cmi1", "cmi2")


def _sweep(seed: int, kind: str, distribution: str, sigma: float, step: float) -> Outcome:
    """Return "alpha" and, by estimator, the curve of each term and atom."""
    alphas = [round(step * place, 10) for place in range(round(2 / step) + 1)]
    found: dict[str, list[dict[str, float]]] = {}
    estimator = "mixed" if distribution in DISCRETE else "ksg"
    for alpha in alphas:
        X, y = statistical_model(
            N_SAMPLES,
            kind=kind,
            alpha=alpha,
            sigma=sigma,
            distribution=distribution,
            random_state=seed,
        )
        for binning in BINNINGS:
            row = decompose_pair([X[:, 0], X[:, 1]], y, binning=binning)
            found.setdefault(binning, []).append(row | {"joint": sum(row.values())})
        terms = pair_terms(X, y, [*TERMS], estimator=estimator, n_permutations=0)
        found.setdefault(estimator, []).append({key: at["bits"] for key, at in terms.items()})
    curves = {
        name: {key: [row[key] for row in rows] for key in rows[0]} for name, rows in found.items()
    }
    return {"alpha": alphas, **curves}


def _curves(results: Results, kind: str, distribution: str, sigma: float) -> list[Outcome]:
    if (distribution, sigma) == SHOWN:
        return finest(results.of("curve", kind=kind), "alpha")
    runs = results.of("others", kind=kind, distribution=distribution, sigma=sigma)
    return finest(runs, "alpha")


def _at(runs: list[Outcome], name: str, alpha: float, by: str = "count") -> NDArray[np.float64]:
    """Return a term or atom at one alpha, run by run."""
    return np.array([run[by][name][run["alpha"].index(alpha)] for run in runs])


@quantity
def _shown(results: Results, kind: str, alpha: float, by: str, name: str) -> NDArray[np.float64]:
    """Return a term or atom at one alpha for the inputs and noise that the paper shows."""
    return _at(_curves(results, kind, *SHOWN), name, alpha, by)


@quantity
def _least_rise(results: Results, kind: str, names: Sequence[str], low: float, high: float) -> Any:
    """Return the smallest increase of some atoms from one alpha to another."""
    rises = [_shown(kind, high, "count", name) - _shown(kind, low, "count", name) for name in names]
    return np.min([rise(results) for rise in rises], axis=0)


@quantity
def _place(
    results: Results, kind: str, atom: str, low: float, high: float, lowest: bool
) -> Decided:
    runs = _curves(results, kind, *SHOWN)
    curves = np.array([run["count"][atom] for run in runs])
    return extreme_place(runs[0]["alpha"], curves, low, high, lowest)


@quantity
def _lowered(results: Results, kind: str) -> list[float]:
    """Return the percentage of terms and atoms that more noise lowers, averaged over alpha."""
    held = []
    for distribution in DISTRIBUTIONS:
        sweeps = [attempt(_curves, results, kind, distribution, sigma) for sigma in SIGMAS]
        by = "mixed" if distribution in DISCRETE else "ksg"
        asked = [*((by, name) for name in LOWERED), *(("count", name) for name in ATOMS)]
        for quiet, loud in pairwise(sweeps):
            for estimator, name in asked:
                pairs = zip(quiet, loud, strict=False)
                found = [_mean_falls(one, other, estimator, name) for one, other in pairs]
                held += [found] if found else []
    return _mean_of_all(held)


def _mean_of_all(held: Sequence[Any]) -> list[float]:
    """Return the percentage of what holds in each run."""
    if not held:
        raise NotRunError
    return [100.0 * float(np.mean(one)) for one in zip(*held, strict=False)]


def _mean_falls(quiet: Outcome, loud: Outcome, by: str, name: str) -> bool:
    common = [alpha for alpha in quiet["alpha"] if alpha in loud["alpha"]]
    low, high = (
        np.mean([run[by][name][run["alpha"].index(alpha)] for alpha in common])
        for run in (loud, quiet)
    )
    return bool(low < high)


@quantity
def _same_shape(results: Results, kind: str, sigmas: Sequence[float]) -> list[float]:
    """Return the percentage of other inputs and noise whose synergy is largest at alpha 0.5."""
    held = []
    for distribution, sigma in product(DISTRIBUTIONS, sigmas):
        runs = attempt(_curves, results, kind, distribution, sigma)
        if len(runs) and (distribution, sigma) != SHOWN:
            start, middle, end = (_at(runs, "synergy", alpha) for alpha in (0.0, 0.5, 1.0))
            held.append(middle > np.maximum(start, end))
    return _mean_of_all(held)


@quantity
def _synergy(results: Results, kind: str, by: str) -> NDArray[np.float64]:
    """Return the mean synergy over all alpha between 0 and 1."""
    runs = _curves(results, kind, *SHOWN)
    inside = [alpha for alpha in runs[0]["alpha"] if 0 < alpha < 1]
    return np.mean([_at(runs, "synergy", alpha, by) for alpha in inside], axis=0)


@quantity
def _model_difference(results: Results) -> NDArray[np.float64]:
    found = []
    for atom in ("synergy", "shared"):
        first, second = (_shown(kind, 1.0, "count", atom) for kind in KINDS)
        found.append((first - second)(results))
    return np.max(np.abs(found), axis=0)


#: Name, atom, range of alpha, and whether the lowest value is located, of claims on places.
PLACES: tuple[tuple[Any, ...], ...] = (
    ("synergy peaks at alpha 0.5", "synergy", 0, 1, False),
    ("redundancy peaks at alpha 0.5", "shared", 0, 1, False),
    ("synergy lowest at alpha 1", "synergy", 0.5, 1.5, True),
    ("redundancy lowest at alpha 1", "shared", 0.5, 1.5, True),
    ("unique X2 highest at alpha 0", "unique2", 0, 1, False),
    ("unique X1 highest at alpha 1", "unique1", 0, 1, False),
)


def _claims(kind: str) -> Claims:
    return {
        **{f"{name} ({kind})": _place(kind, *place) for name, *place in PLACES},
        f"synergy and redundancy arise ({kind})": _least_rise(
            kind, ("synergy", "shared"), 0.0, 0.5
        ),
        f"noise lowers all terms ({kind})": _lowered(kind),
        f"same shape for other inputs and noise ({kind})": _same_shape(kind, SIGMAS),
        f"same shape for other inputs ({kind})": _same_shape(kind, SIGMAS[:1]),
    }


def _claims_by(by: str, suffix: str) -> Claims:
    """Return the claims that the type of bins decides."""
    end, how = (f", {suffix})", f" ({suffix})") if suffix else (")", "")
    first, second = KINDS

    def more(kind: str, low: float, high: float) -> Quantity:
        return _shown(kind, high, by, "joint") - _shown(kind, low, by, "joint")

    return {
        f"contributions grow beyond alpha 1 (additive{end}": more(first, 1.0, 2.0),
        f"contributions shrink beyond alpha 1 (multiplicative{end}": more(second, 2.0, 1.0),
        f"additive synergy above multiplicative{how}": (
            _shown(first, 0.5, by, "synergy") - _shown(second, 0.5, by, "synergy")
        ),
        f"additive synergy above multiplicative, over the grid{how}": (
            _synergy(first, by) - _synergy(second, by)
        ),
    }


CLAIMS: Claims = {
    **_claims("additive"),
    **_claims("multiplicative"),
    "each contribution grows beyond alpha 1 (additive)": _least_rise("additive", ATOMS, 1.0, 2.0),
    **_claims_by("count", ""),
    **_claims_by("width", "equal width"),
    "similar synergy and redundancy at alpha 1 in both models": _model_difference(),
}


OTHERS = [
    point
    for point in each(kind=KINDS, distribution=DISTRIBUTIONS, sigma=SIGMAS, step=[0.25])
    if (point["distribution"], point["sigma"]) != SHOWN
]

PARTS = (
    Part(
        "curve",
        lambda seed, kind, step: _sweep(seed, kind, *SHOWN, step),
        each(kind=KINDS, step=[0.1]),
        quick_points=each(kind=KINDS, step=[0.25]),
        quick_runs=2,
        seconds=2.5,
    ),
    Part(
        "others",
        _sweep,
        OTHERS,
        20,
        [{**OTHERS[place], "step": 0.5} for place in (8, 9, 19, 20)],
        2,
        seconds=0.9,
    ),
)

TABLES = {
    "information": grid(
        lambda row, column: _shown(*row, *column),
        {
            (kind, alpha): f"{kind}, alpha {alpha:g}"
            for kind in KINDS
            for alpha in (0.0, 0.5, 1.0, 1.5, 2.0)
        },
        {
            **{("ksg", name): label for name, label in TERMS.items()},
            **{("count", atom): label for atom, label in ATOM_LABELS.items()},
        },
    ),
}
