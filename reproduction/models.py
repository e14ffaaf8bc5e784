"""Experiment II, Section 4.2: two inputs added or multiplied, with opposite weights."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.agreement import (
    Decided,
    extreme_place,
)
from reproduction.data import statistical_model
from reproduction.experiment import (
    Cell,
    Claims,
    NotRunError,
    Outcome,
    Part,
    Results,
    attempt,
    difference,
    mean_panel,
    percent,
)
from reproduction.information import ATOMS, BINNINGS, N_PERMUTATIONS, N_SAMPLES, selected, term
from reproduction.information import atoms as decompose_pair

KINDS = ("additive", "multiplicative")
DISTRIBUTIONS = ("uniform", "binomial", "poisson", "exponential")
SIGMAS = (0.1, 1.0, 10.0)

#: Integer inputs, whose terms are also estimated for mixed data.
DISCRETE = ("binomial", "poisson")

#: The distribution and noise that the paper shows, the only ones with critical values here.
SHOWN = ("uniform", 0.1)

TERMS = {
    "mi1": ("I(X1;Y)", "mi"),
    "mi2": ("I(X2;Y)", "mi2"),
    "cmi1": ("I(X1;Y|X2)", "cmi"),
    "cmi2": ("I(X2;Y|X1)", "cmi2"),
    "joint": ("I(X1,X2;Y)", "joint"),
}
ATOM_LABELS = {
    "unique1": ("unique to X1", "unique1"),
    "unique2": ("unique to X2", "unique2"),
    "shared": ("shared", "shared"),
    "synergy": ("synergy", "synergy"),
}

SETTINGS = {"paper": "as the paper", "defaults": "our defaults"}
SELECTED_AT = (0.0, 0.25, 0.5, 1.0, 1.5)

# ------------------------------------------------------------------------------------------- runs


def run_curve(seed: int, kind: str, step: float) -> Outcome:
    """Compute terms and atoms over alpha for uniform inputs and noise 0.1, with critical values."""
    return _sweep(seed, kind, *SHOWN, step, N_PERMUTATIONS)


def run_others(seed: int, kind: str, distribution: str, sigma: float, step: float) -> Outcome:
    """Compute terms and atoms over alpha for other inputs and noise."""
    return _sweep(seed, kind, distribution, sigma, step, 0)


def run_selection(seed: int, kind: str, alpha: float, settings: str) -> Outcome:
    """Select from the two inputs."""
    data = statistical_model(N_SAMPLES, kind=kind, alpha=alpha, random_state=seed)
    return {**selected(data, seed, settings), "relevant": list(data.relevant_names)}


def _sweep(
    seed: int, kind: str, distribution: str, sigma: float, step: float, n_permutations: int
) -> Outcome:
    """Return "alpha" and, by estimator, the curve of each term and atom."""
    grid = [round(step * place, 10) for place in range(round(2 / step) + 1)]
    found: dict[str, list[dict[str, float]]] = {}
    estimators = ("ksg", "mixed") if distribution in DISCRETE else ("ksg",)
    for alpha in grid:
        X, y = statistical_model(
            N_SAMPLES,
            kind=kind,
            alpha=alpha,
            sigma=sigma,
            distribution=distribution,
            random_state=seed,
        ).Xy
        for binning in BINNINGS:
            row = decompose_pair([X[:, 0], X[:, 1]], y, binning=binning)
            found.setdefault(binning, []).append(row | _sums(row))
        for estimator in estimators:
            terms = _terms(X, y, n_permutations, estimator=estimator, seed=seed)
            found.setdefault(estimator, []).append({key: at["bits"] for key, at in terms.items()})
            if n_permutations:
                limits = {key: at["critical_value"] for key, at in terms.items() if key != "joint"}
                found.setdefault("critical_values", []).append(limits)
    curves = {
        name: {key: [row[key] for row in rows] for key in rows[0]} for name, rows in found.items()
    }
    return {"alpha": grid, **curves}


def _sums(found: dict[str, float]) -> dict[str, float]:
    return {
        "mi1": found["unique1"] + found["shared"],
        "mi2": found["unique2"] + found["shared"],
        "cmi1": found["unique1"] + found["synergy"],
        "cmi2": found["unique2"] + found["synergy"],
        "joint": sum(found.values()),
    }


def _terms(X: NDArray[Any], y: NDArray[Any], n_permutations: int, **options: Any) -> Outcome:
    X1, X2 = X.T
    pairs = {"mi1": (X1, None), "mi2": (X2, None), "cmi1": (X1, X2), "cmi2": (X2, X1)}
    found = {
        name: term(x, y, given, n_permutations=n_permutations, **options)
        for name, (x, given) in pairs.items()
    }
    return found | {"joint": term(X, y, n_permutations=0, **options)}


# ----------------------------------------------------------------------------------------- claims


def _finest(runs: list[Outcome]) -> list[Outcome]:
    """Return the runs on the finest grid: quick and full ones may be in one log."""
    most = max(len(run["alpha"]) for run in runs)
    return [run for run in runs if len(run["alpha"]) == most]


def _curves(results: Results, kind: str, distribution: str, sigma: float) -> list[Outcome]:
    if (distribution, sigma) == SHOWN:
        return _finest(results.of("curve", kind=kind))
    return _finest(results.of("others", kind=kind, distribution=distribution, sigma=sigma))


def _at(runs: list[Outcome], name: str, alpha: float, by: str = "count") -> NDArray[np.float64]:
    """Return a term or atom at one alpha, run by run."""
    return np.array([run[by][name][run["alpha"].index(alpha)] for run in runs])


def _rise(
    results: Results, kind: str, names: Iterable[str], low: float, high: float, by: str = "count"
) -> Any:
    """Return the smallest increase of some terms or atoms from one alpha to another."""
    runs = _curves(results, kind, *SHOWN)
    rises = [_at(runs, name, high, by) - _at(runs, name, low, by) for name in names]
    return np.min(rises, axis=0)


def _place(
    kind: str, atom: str, low: float, high: float, lowest: bool, results: Results
) -> Decided:
    runs = _curves(results, kind, *SHOWN)
    curves = np.array([run["count"][atom] for run in runs])
    return extreme_place(runs[0]["alpha"], curves, low, high, lowest)


def _lowered(results: Results, kind: str) -> list[float]:
    """Return the percentage of terms and atoms that more noise lowers, averaged over alpha."""
    held = []
    for distribution in DISTRIBUTIONS:
        sweeps = [attempt(_curves, results, kind, distribution, sigma) for sigma in SIGMAS]
        by = "mixed" if distribution in DISCRETE else "ksg"
        asked = [(by, name) for name in TERMS if name != "joint"]
        asked += [("count", name) for name in ATOMS]
        for quiet, loud in pairwise(sweeps):
            for estimator, name in asked:
                pairs = zip(quiet, loud, strict=False)
                found = [_mean_falls(one, other, estimator, name) for one, other in pairs]
                held += [found] if found else []
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


def _same_shape(results: Results, kind: str, sigmas: Iterable[float]) -> list[float]:
    """Return the percentage of other inputs and noise whose synergy is largest at alpha 0.5."""
    held = []
    for distribution, sigma in ((one, sigma) for sigma in sigmas for one in DISTRIBUTIONS):
        runs = attempt(_curves, results, kind, distribution, sigma)
        if len(runs) and (distribution, sigma) != SHOWN:
            start, middle, end = (_at(runs, "synergy", alpha) for alpha in (0.0, 0.5, 1.0))
            held.append(percent(middle > np.maximum(start, end)))
    if not held:
        raise NotRunError
    return [float(np.mean(values)) for values in zip(*held, strict=False)]


def _more_by_adding(
    results: Results, by: str, alphas: Iterable[float] | None = None
) -> NDArray[np.float64]:
    """Return additive less multiplicative synergy, mean over alphas or all between 0 and 1."""
    synergies = []
    for kind in KINDS:
        runs = _curves(results, kind, *SHOWN)
        inside = alphas or [alpha for alpha in runs[0]["alpha"] if 0 < alpha < 1]
        synergies.append(np.mean([_at(runs, "synergy", alpha, by) for alpha in inside], axis=0))
    return difference(*synergies)


def _model_difference(results: Results) -> NDArray[np.float64]:
    added, multiplied = (_curves(results, kind, *SHOWN) for kind in KINDS)
    return np.max(
        [
            np.abs(difference(_at(added, atom, 1.0), _at(multiplied, atom, 1.0)))
            for atom in ("synergy", "shared")
        ],
        axis=0,
    )


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
        **{f"{name} ({kind})": partial(_place, kind, *place) for name, *place in PLACES},
        f"synergy and redundancy arise ({kind})": lambda r: _rise(
            r, kind, ("synergy", "shared"), 0.0, 0.5
        ),
        f"noise lowers all terms ({kind})": lambda r: _lowered(r, kind),
        f"same shape for other inputs and noise ({kind})": lambda r: _same_shape(r, kind, SIGMAS),
        f"same shape for other inputs ({kind})": lambda r: _same_shape(r, kind, SIGMAS[:1]),
    }


def _claims_by(by: str, suffix: str) -> Claims:
    """Return the claims that the type of bins decides."""
    end = f", {suffix})" if suffix else ")"
    return {
        f"contributions grow beyond alpha 1 (additive{end}": lambda r: _rise(
            r, "additive", ["joint"], 1.0, 2.0, by
        ),
        f"contributions shrink beyond alpha 1 (multiplicative{end}": lambda r: (
            -_rise(r, "multiplicative", ["joint"], 1.0, 2.0, by)
        ),
        f"additive synergy above multiplicative{suffix and f' ({suffix})'}": lambda r: (
            _more_by_adding(r, by, [0.5])
        ),
        f"additive synergy above multiplicative, over the grid{suffix and f' ({suffix})'}": (
            lambda r: _more_by_adding(r, by)
        ),
    }


CLAIMS: Claims = {
    **{name: values for kind in KINDS for name, values in _claims(kind).items()},
    "each contribution grows beyond alpha 1 (additive)": lambda r: _rise(
        r, "additive", ATOMS, 1.0, 2.0
    ),
    **_claims_by("count", ""),
    **_claims_by("width", "equal width"),
    "similar synergy and redundancy at alpha 1 in both models": _model_difference,
}

# ------------------------------------------------------------------------------- table and figures


def _exact(results: Results, **point: Any) -> NDArray[np.float64]:
    runs = results.of("selection", **point)
    return percent(set(run["selected"]) == set(run["relevant"]) for run in runs)


def _selections(results: Results) -> Iterable[Cell]:
    for kind in KINDS:
        for alpha in SELECTED_AT:
            for settings, label in SETTINGS.items():
                point = {"kind": kind, "alpha": alpha, "settings": settings}
                values = attempt(lambda at: _exact(results, **at), point)
                yield Cell(f"{kind}, alpha {alpha:g}", label, values)


def _over_alpha(
    title: str, runs: list[Outcome], by: str, series: dict[str, tuple[str, str]], label: str
) -> Outcome:
    grid = runs[0]["alpha"]
    limits = by == "ksg" and "critical_values" in runs[0]

    def limit(run: Outcome, key: str, alpha: float) -> float:
        return float(run["critical_values"].get(key, run[by][key])[grid.index(alpha)])

    found = mean_panel(
        title,
        "lines",
        runs,
        grid,
        series,
        lambda run, key, alpha: run[by][key][grid.index(alpha)],
        limit if limits else None,
        x_label="alpha",
        y_label=label,
        marks=[0.5, 1.0],
    )
    for one in found["series"]:  # the joint information has no critical value
        one["threshold"] = None if one["role"] == "joint" else one["threshold"]
    return found


def _model_panels(kind: str) -> Any:
    def panels(results: Results) -> Iterable[Any]:
        runs = attempt(_curves, results, kind, *SHOWN)
        if runs:
            rows: list[tuple[str, str, Any]] = [
                (f"Atoms, bins of equal {by}s", by, ATOM_LABELS) for by in BINNINGS
            ]
            rows.append(("Terms, nearest neighbours", "ksg", TERMS))
            rows += [(f"Terms, plug-in of equal {by}s", by, TERMS) for by in BINNINGS]
            for title, by, labels in rows:
                yield _over_alpha(title, runs, by, labels, "information (bit)")

    return panels


def _synergy_panels(results: Results) -> Iterable[Any]:
    roles = dict(zip(KINDS, ("first", "second"), strict=True))
    for distribution in DISTRIBUTIONS:
        for sigma in SIGMAS:
            shown = None
            for kind, role in roles.items():
                runs = attempt(_curves, results, kind, distribution, sigma)
                if runs:
                    title = f"{distribution.capitalize()}, noise {sigma:g}"
                    labels = {"synergy": (kind, role)}
                    one = _over_alpha(title, runs, "count", labels, "synergy (bit)")
                    shown = shown or {**one, "series": []}
                    shown["series"] += one["series"]
            yield shown


OTHERS: list[dict[str, Any]] = [
    {"kind": kind, "distribution": distribution, "sigma": sigma, "step": 0.25}
    for kind in KINDS
    for distribution in DISTRIBUTIONS
    for sigma in SIGMAS
    if (distribution, sigma) != SHOWN
]
SELECTIONS = [
    {"kind": kind, "alpha": alpha, "settings": settings}
    for kind in KINDS
    for alpha in SELECTED_AT
    for settings in SETTINGS
]

PARTS = (
    Part(
        "curve",
        run_curve,
        [{"kind": kind, "step": 0.1} for kind in KINDS],
        100,
        [{"kind": kind, "step": 0.25} for kind in KINDS],
        2,
        seconds=2.5,
    ),
    Part(
        "others",
        run_others,
        OTHERS,
        20,
        [{**OTHERS[place], "step": 0.5} for place in (8, 9, 19, 20)],
        2,
        seconds=0.9,
    ),
    Part(
        "selection",
        run_selection,
        SELECTIONS,
        20,
        [point for point in SELECTIONS if point["alpha"] == 0.5],
        1,
        seconds=0.2,
    ),
)

TABLES = {
    "selections": _selections,
}

FIGURES = {
    **{f"models-{kind}": _model_panels(kind) for kind in KINDS},
    "models-synergy": _synergy_panels,
}
