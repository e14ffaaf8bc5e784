"""Experiment VI: two classes in the plane, whose inputs may be correlated but not redundant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gaussian_kde

from pidselect.datasets import SyntheticDataset
from reproduction.data import two_classes
from reproduction.experiment import (
    Cell,
    Claims,
    Outcome,
    Part,
    Results,
    attempt,
    difference,
    line,
    means,
    panel,
    percent,
)
from reproduction.information import (
    BINNINGS,
    N_SAMPLES,
    PAPER,
    atoms,
    is_significant,
    select,
    term,
)

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

TERMS = {
    "mi1": ("I(X1;Y)", "mi"),
    "mi2": ("I(X2;Y)", "mi2"),
    "cmi": ("I(X1;Y|X2)", "cmi"),
    "joint": ("I(X1,X2;Y)", "joint"),
}
ATOM_LABELS = {
    "unique1": ("unique X1", "unique1"),
    "unique2": ("unique X2", "unique2"),
    "shared": ("shared", "shared"),
    "synergy": ("synergy", "synergy"),
}
ESTIMATES = {
    "noise 0.1": "KSG, label noise 0.1",
    "noise 0.75": "KSG, label noise 0.75",
    "mixed": "mixed, labels as they are",
    "width": "equal-width bins",
    "count": "equal-count bins",
}
SETTINGS = {
    "paper": "as the paper, label noise 0.1",
    "paper 0.75": "as the paper, label noise 0.75",
    "defaults": "our defaults",
}
CHOICES = {"neither": (), "X1 only": ("X1",), "X2 only": ("X2",), "both": ("X1", "X2")}

#: Bits below which information counts as zero: the bias of plug-in terms here is 0.003 to 0.014.
ZERO = 0.03

#: Standard deviation of the noise on labels, which makes them continuous; the paper does not give
#: it. With the second, of those tried, all the paper's statements on significance hold.
LABEL_NOISE, FITTED_NOISE = 0.1, 0.75
NOISES = (LABEL_NOISE, 0.25, 0.5, FITTED_NOISE, 1.0, 1.5, 2.0)

#: Key of the random stream of the label noise.
STREAM = 31

#: Points of each class, and places of a density, in the figure of the data.
SHOWN, GRID = 200, 40

# ------------------------------------------------------------------------------------------- runs


def _data(example: str, seed: int) -> SyntheticDataset:
    corrected = CORRECTED.get(example)
    return two_classes(N_SAMPLES, example=int(example[0]), means=corrected, random_state=seed)


def _noisy(y: NDArray[Any], noise: float, seed: int) -> NDArray[np.float64]:
    return y + noise * np.random.default_rng([STREAM, seed]).standard_normal(len(y))


def _all_terms(X: NDArray[Any], y: NDArray[Any], **options: Any) -> Outcome:
    X1, X2 = X.T
    pairs = {"mi1": (X1, None), "mi2": (X2, None), "cmi": (X1, X2), "joint": (X, None)}
    return {name: term(x, y, given, **options) for name, (x, given) in pairs.items()}


def _coefficient(X: NDArray[Any]) -> float:
    return float(np.asarray(np.corrcoef(X.T))[0, 1])


def run_terms(seed: int, example: str) -> Outcome:
    """Estimate all terms by each estimator, the atoms, and the correlation of the inputs."""
    X, y = _data(example, seed).Xy
    noises = (LABEL_NOISE, FITTED_NOISE)
    terms = {f"noise {a:g}": _all_terms(X, _noisy(y, a, seed), seed=seed) for a in noises}
    terms["mixed"] = _all_terms(X, y, estimator="mixed", seed=seed)
    terms |= {binning: _all_terms(X, y, binning=binning, seed=seed) for binning in BINNINGS}
    centred = X - np.array([X[y == label].mean(axis=0) for label in (0, 1)])[y]
    return {
        "terms": terms,
        "atoms": {binning: atoms(list(X.T), y, binning=binning) for binning in BINNINGS},
        "correlation": _coefficient(X),
        "within": _coefficient(centred),
    }


def run_labels(seed: int, example: str, noise: float) -> Outcome:
    """Estimate all terms by KSG with noise on the labels."""
    X, y = _data(example, seed).Xy
    return {"terms": _all_terms(X, _noisy(y, noise, seed), seed=seed)}


def run_sample(seed: int, example: str) -> Outcome:
    """Return some points of each class, and the density of each input in each class."""
    X, y = _data(example, seed).Xy
    points = [X[y == label][:SHOWN].round(3).tolist() for label in (0, 1)]
    densities = []
    for column in X.T:
        places = np.linspace(column.min(), column.max(), GRID)
        heights = [gaussian_kde(column[y == label])(places).round(4).tolist() for label in (0, 1)]
        densities.append({"places": places.round(4).tolist(), "heights": heights})
    return {"points": points, "densities": densities}


def run_selection(seed: int, example: str, settings: str) -> Outcome:
    """Select with the paper's settings on noisy labels, or with our defaults on classes."""
    data = _data(example, seed)
    if settings == "defaults":
        return {"selected": select(data, seed, {})["selected"]}
    noise = LABEL_NOISE if settings == "paper" else FITTED_NOISE
    noisy = replace(data, y=_noisy(data.y, noise, seed))
    return {"selected": select(noisy, seed, PAPER)["selected"]}


# ----------------------------------------------------------------------------------------- claims

Array = NDArray[np.float64]


def _terms(results: Results, example: str) -> list[Outcome]:
    return results.of("terms", example=example)


def _bits(results: Results, example: str, by: str, name: str) -> Array:
    return np.array([run["terms"][by][name]["bits"] for run in _terms(results, example)])


def _atom(results: Results, example: str, name: str, by: str = "width") -> Array:
    return np.array([run["atoms"][by][name] for run in _terms(results, example)])


def _part(results: Results, example: str, name: str) -> Array:
    """Return an atom in percent of the joint information, on bins of equal width."""
    joint = _bits(results, example, "width", "joint")
    atom = _atom(results, example, name)
    return np.array([100 * a / b if b > 0 else 0.0 for a, b in zip(atom, joint, strict=True)])


def _with_noise(results: Results, example: str, noise: float, name: str) -> Array:
    """Return, in percent run by run, whether a term is significant with noise on the labels."""
    runs = results.of("labels", example=example, noise=noise)
    return percent(is_significant(run["terms"][name]) for run in runs)


def _correlation(results: Results, example: str, key: str) -> Array:
    return np.abs([run[key] for run in _terms(results, example)])


def _extreme(function: Any, *values: Array) -> Array:
    """Return the minimum or maximum of several values, run by run, of the runs that all have."""
    return np.array([function(row) for row in zip(*values, strict=False)])


def _significance(noise: float, suffix: str) -> Claims:
    others = [(example, name) for example in "12" for name in ("mi1", "mi2", "joint")]
    return {
        f"Example 1 significant in some runs only{suffix}": lambda r: _with_noise(
            r, "1", noise, "cmi"
        ),
        f"Example 2 significant more often than Example 1{suffix}": lambda r: difference(
            *(_with_noise(r, one, noise, "cmi") for one in "21")
        ),
        f"Example 2 significant consistently{suffix}": lambda r: _with_noise(r, "2", noise, "cmi"),
        f"Examples 1 and 2: single and joint MI significant{suffix}": lambda r: _extreme(
            np.mean, *(_with_noise(r, one, noise, name) for one, name in others)
        ),
    }


def _more_correlated(results: Results, example: str, key: str) -> Array:
    """Return the absolute correlation less the larger one of Examples 1 and 2."""
    others = _extreme(max, *(_correlation(results, one, key) for one in "12"))
    return difference(_correlation(results, example, key), others)


def _correlated(example: str, suffix: str) -> Claims:
    """Return the claims that compare Example 4 with the first two."""
    return {
        f"Example 4 less redundant than Examples 1 and 2{suffix}": lambda r: difference(
            _extreme(min, *(_atom(r, one, "shared") for one in "12")), _atom(r, example, "shared")
        ),
        f"Example 4 more correlated than Examples 1 and 2{suffix}": lambda r: _more_correlated(
            r, example, "correlation"
        ),
    }


#: Examples of inputs that are correlated within a class.
_DEPENDENT = {"4": "Example 4", "4*": "Example 4 (sign corrected)", "5": "Example 5"}

CLAIMS: Claims = {
    "Examples 1 and 2: synergy though independent": lambda r: (
        _extreme(min, *(_atom(r, one, "synergy") for one in "12")) - ZERO
    ),
    "Example 2: synergy more evident than in Example 1": lambda r: difference(
        _atom(r, "2", "synergy"), _atom(r, "1", "synergy")
    ),
    "Example 1: higher relative redundancy than Example 2": lambda r: difference(
        _part(r, "1", "shared"), _part(r, "2", "shared")
    ),
    **_significance(LABEL_NOISE, ""),
    **_significance(FITTED_NOISE, f" (label noise {FITTED_NOISE:g})"),
    "Example 3 as printed: information shared": lambda r: _bits(r, "3", "mixed", "joint") - ZERO,
    "Example 3 (means apart): purely redundant": lambda r: _part(r, "3*", "shared"),
    "Example 3 (means apart): CMI is zero": lambda r: _extreme(
        max, *(np.abs(_bits(r, "3*", by, "cmi")) for by in ESTIMATES)
    ),
    **{
        f"{name} mostly unique X1": lambda r, example=example: _part(r, example, "unique1")
        for example, name in _DEPENDENT.items()
    },
    **{
        f"{name}: little shared": lambda r, example=example: _part(r, example, "shared")
        for example, name in _DEPENDENT.items()
    },
    **{
        f"{name}: some synergy": lambda r, example=example: _atom(r, example, "synergy") - ZERO
        for example, name in _DEPENDENT.items()
    },
    **_correlated("4", ""),
    **_correlated("4*", " (sign corrected)"),
    "Example 4 more correlated than Examples 1 and 2 (within a class)": lambda r: _more_correlated(
        r, "4", "within"
    ),
    "Example 5: X2 has no marginal information": lambda r: _bits(r, "5", "mixed", "mi2"),
}

# ------------------------------------------------------------------------------ tables and figures


def _terms_table(results: Results) -> Iterable[Cell]:
    for example, name in EXAMPLES.items():
        for by, how in ESTIMATES.items():
            for key, (label, _) in TERMS.items():
                values = attempt(_bits, results, example, by, key)
                yield Cell(f"Example {name}", f"{how}: {label}", values)


def _atoms_table(results: Results) -> Iterable[Cell]:
    for example, name in EXAMPLES.items():
        for binning in BINNINGS:
            for atom, (label, _) in ATOM_LABELS.items():
                values = attempt(_atom, results, example, atom, binning)
                yield Cell(f"Example {name}", f"{ESTIMATES[binning]}: {label}", values)


def _selection_table(results: Results) -> Iterable[Cell]:
    for example, name in EXAMPLES.items():
        for settings, label in SETTINGS.items():
            point = {"example": example, "settings": settings}
            runs = attempt(lambda at: results.of("selection", **at), point)
            found = [tuple(sorted(run["selected"])) for run in runs]
            for choice, names in CHOICES.items():
                values = percent(one == names for one in found)
                yield Cell(f"Example {name}, {label}", choice, values)


def _data_panels(results: Results) -> Iterable[Any]:
    for example, name in EXAMPLES.items():
        for run in attempt(lambda one: results.of("sample", example=one), example)[:1]:
            labels = {"class 0": "first", "class 1": "second"}.items()
            pairs = [list(zip(*points, strict=True)) for points in run["points"]]
            series = [line(*one, *xy) for one, xy in zip(labels, pairs, strict=True)]
            yield panel(f"Example {name}", "points", series, x_label="X1", y_label="X2")
            for input_, density in zip(("X1", "X2"), run["densities"], strict=True):
                curves = zip(labels, density["heights"], strict=True)
                series = [line(*one, density["places"], heights) for one, heights in curves]
                title = f"Example {name}: {input_}"
                yield panel(title, "lines", series, x_label=input_, y_label="density")


def _terms_panels(results: Results) -> Iterable[Any]:
    runs = {one: found for one in EXAMPLES if (found := attempt(_terms, results, one))}
    if not runs:
        return
    for by, how in ESTIMATES.items():
        series = []
        for key, (label, role) in TERMS.items():
            bits, limits = (
                [[run["terms"][by][key][what] for run in found] for found in runs.values()]
                for what in ("bits", "critical_value")
            )
            series.append(means(label, role, runs, bits, limits))
        yield panel(f"Terms: {how}", "bars", series, x_label="example", y_label="bit")
    for by in BINNINGS:
        series = [
            means(label, role, runs, [_atom(results, example, atom, by) for example in runs])
            for atom, (label, role) in ATOM_LABELS.items()
        ]
        title = f"Atoms: BROJA, {ESTIMATES[by]}"
        yield panel(title, "bars", series, x_label="example", y_label="bit")
    kinds = (("all samples", "first", "correlation"), ("within a class", "second", "within"))
    series = [
        means(label, role, runs, [[run[key] for run in found] for found in runs.values()])
        for label, role, key in kinds
    ]
    yield panel("Correlation of X1 and X2", "bars", series, x_label="example", y_label="r")


def _labels_panels(results: Results) -> Iterable[Any]:
    for example in ("1", "2"):
        seen = [a for a in NOISES if len(attempt(_with_noise, results, example, a, "cmi"))]
        series = [
            line(label, role, seen, [_with_noise(results, example, a, name).mean() for a in seen])
            for name, (label, role) in TERMS.items()
        ]
        x_label, y_label = "standard deviation of the noise on labels", "significant, % of runs"
        if seen:
            title = f"Example {example}"
            yield panel(title, "lines", series, x_label=x_label, y_label=y_label)


_EACH = [{"example": example} for example in EXAMPLES]
_LABELS = [{"example": example, "noise": noise} for example in ("1", "2") for noise in NOISES]
_SELECTIONS = [{**point, "settings": settings} for point in _EACH for settings in SETTINGS]

PARTS = (
    Part("terms", run_terms, _EACH, 20, quick_runs=1, seconds=0.75),
    Part(
        "labels",
        run_labels,
        _LABELS,
        50,
        [point for point in _LABELS if point["noise"] in (LABEL_NOISE, FITTED_NOISE)],
        2,
        seconds=0.22,
    ),
    Part("sample", run_sample, _EACH, 1, quick_runs=1, seconds=0.03),
    Part(
        "selection",
        run_selection,
        _SELECTIONS,
        20,
        [point for point in _SELECTIONS if point["settings"] == "defaults"],
        1,
        seconds=0.22,
    ),
)

TABLES = {
    "terms": _terms_table,
    "atoms": _atoms_table,
    "selection": _selection_table,
}

FIGURES = {
    "examples-data": _data_panels,
    "examples-terms": _terms_panels,
    "examples-labels": _labels_panels,
}
