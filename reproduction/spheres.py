"""Experiment I, Section 4.1: two nested spheres, distinguished by the three coordinates jointly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.datasets import SyntheticDataset, nested_spheres
from reproduction.experiment import (
    Cell,
    Claims,
    Outcome,
    Part,
    Results,
    attempt,
    line,
    mean_panel,
    panel,
    percent,
)
from reproduction.information import ATOMS, BINNINGS, N_SAMPLES, atoms, selected, term


class Spheres(NamedTuple):
    """What the paper leaves open: the outer radius, with an inner one of 1, and the label noise."""

    outer: float
    label_noise: float

    def __str__(self) -> str:
        return f"radii 1 and {self.outer:g}, noise {self.label_noise:g}"


#: The data that decide the claims, and closer spheres with less noise on the labels.
CHOSEN, CLOSER = Spheres(1.25, 0.5), Spheres(1.1, 0.1)

DEPTHS = {"alone": "alone", "one": "given one other", "both": "given both others"}

#: Label, colour, target and options of each estimate.
ESTIMATES: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "ksg": ("nearest neighbours, noisy labels", "first", "labels", {}),
    "mixed": ("nearest neighbours, classes", "second", "classes", {"estimator": "mixed"}),
    "count": ("plug-in of equal counts, classes", "third", "classes", {"binning": "count"}),
    "width": ("plug-in of equal widths, classes", "fourth", "classes", {"binning": "width"}),
}

ATOM_LABELS = {
    "unique1": ("unique to the coordinate", "unique1"),
    "unique2": ("unique to the others", "unique2"),
    "shared": ("shared", "shared"),
    "synergy": ("synergy", "synergy"),
}

SETTINGS = {"paper": "as the paper", "defaults": "our defaults", "lookahead": "looking ahead 3"}

DATA_POINTS = [data._asdict() for data in (CHOSEN, CLOSER)]
SELECTION_POINTS: list[dict[str, Any]] = [
    {**data, "target": target, "settings": settings}
    for data in DATA_POINTS
    for target, settings in (
        ("labels", "paper"),
        ("labels", "defaults"),
        ("labels", "lookahead"),
        ("classes", "defaults"),
        ("classes", "lookahead"),
    )
]

#: Half the thickness of the slice that is shown.
SLICE = 0.3

# ------------------------------------------------------------------------------------------- runs


def _data(seed: int, target: str, outer: float, label_noise: float) -> SyntheticDataset:
    noise = label_noise if target == "labels" else 0.0
    return nested_spheres(N_SAMPLES, radii=(1.0, outer), label_noise=noise, random_state=seed)


def run_terms(seed: int, outer: float, label_noise: float) -> Outcome:
    """Estimate the information of each coordinate alone, given the next, and given both others."""
    found: Outcome = {}
    for name, (_, _, target, options) in ESTIMATES.items():
        X, y = _data(seed, target, outer, label_noise).Xy
        found[name] = {}
        for n_given, depth in enumerate(DEPTHS):
            terms = []
            for i in range(3):
                given = X[:, [(i + j) % 3 for j in range(1, 1 + n_given)]] if n_given else None
                terms.append(term(X[:, i], y, given, seed=seed, **options))
            found[name][depth] = {key: [one[key] for one in terms] for key in terms[0]}
    return found


def run_atoms(seed: int, outer: float, label_noise: float) -> Outcome:
    """Decompose a coordinate with the next one ("pair") and with both others ("set").

    Means over the coordinates; the coordinate is source 1.
    """
    X, y = _data(seed, "classes", outer, label_noise).Xy
    others = {"pair": [[1], [2], [0]], "set": [[1, 2], [2, 0], [0, 1]]}
    found: Outcome = {}
    for binning in BINNINGS:
        found[binning] = {}
        for name, given in others.items():
            each = [atoms([X[:, i], X[:, given[i]]], y, binning=binning) for i in range(3)]
            found[binning][name] = {a: float(np.mean([one[a] for one in each])) for a in ATOMS}
    return found


def run_selection(
    seed: int, outer: float, label_noise: float, target: str, settings: str
) -> Outcome:
    """Select coordinates for noisy labels or for classes."""
    return selected(_data(seed, target, outer, label_noise), seed, settings)


def run_sample(seed: int, outer: float, label_noise: float) -> Outcome:
    """Return the first two coordinates in a slice through the middle, by class."""
    X, y = _data(seed, "classes", outer, label_noise).Xy
    shown = np.flatnonzero(np.abs(X[:, 2]) < SLICE)[:300]
    return {
        name: np.round(X[shown[y[shown] == label], :2], 4).tolist()
        for label, name in enumerate(("inner", "outer"))
    }


# ----------------------------------------------------------------------------------------- claims


def _significant(results: Results, data: Spheres, by: str, depth: str) -> NDArray[np.float64]:
    """Return the percentage of significant coordinates in each run."""
    found = [run[by][depth] for run in results.of("terms", **data._asdict())]
    return np.array(
        [100 * np.mean(np.greater(one["bits"], one["critical_value"])) for one in found]
    )


def _ksg(results: Results, data: Spheres, depth: str) -> NDArray[np.float64]:
    runs = results.of("terms", **data._asdict())
    return np.array([run["ksg"][depth]["bits"] for run in runs]).mean(axis=1)


def _atoms(results: Results, data: Spheres, group: str) -> NDArray[np.float64]:
    """Return unique1, unique2, shared and synergy by bins of equal counts, a row for each run."""
    runs = results.of("atoms", **data._asdict())
    return np.array([[run["count"][group][atom] for atom in ATOMS] for run in runs])


def _claims(data: Spheres) -> Claims:
    suffix = "" if data == CHOSEN else f" ({data})"
    return {
        f"spheres: synergy prevails{suffix}": lambda r: (
            100 * _atoms(r, data, "pair")[:, 3] / _atoms(r, data, "pair").sum(axis=1)
        ),
        f"spheres: no unique information alone{suffix}": lambda r: _atoms(r, data, "pair")[
            :, :2
        ].mean(axis=1),
        f"spheres: sets of two raise unique, shared and synergy{suffix}": lambda r: (
            _atoms(r, data, "set") - _atoms(r, data, "pair")
        )[:, 1:].min(axis=1),
        f"spheres: no single significant MI{suffix}": lambda r: _significant(
            r, data, "ksg", "alone"
        ),
        f"spheres: CMI significant given one other{suffix}": lambda r: _significant(
            r, data, "ksg", "one"
        ),
        f"spheres: CMI significant given both others{suffix}": lambda r: _significant(
            r, data, "ksg", "both"
        ),
        f"spheres: CMI above MI{suffix}": lambda r: _ksg(r, data, "one") - _ksg(r, data, "alone"),
        f"spheres: CMI highest given both{suffix}": lambda r: (
            _ksg(r, data, "both") - _ksg(r, data, "one")
        ),
    }


CLAIMS: Claims = {**_claims(CHOSEN), **_claims(CLOSER)}

# ------------------------------------------------------------------------------- tables and figure


def _significance(results: Results) -> Iterable[Cell]:
    for data in (CHOSEN, CLOSER):
        for by, (label, *_) in ESTIMATES.items():
            for depth, column in DEPTHS.items():
                values = attempt(_significant, results, data, by, depth)
                yield Cell(f"{data}: {label}", column, values)


def _selections(results: Results) -> Iterable[Cell]:
    for point in SELECTION_POINTS:
        runs = attempt(lambda at: results.of("selection", **at), point)
        found = [len(run["selected"]) for run in runs]
        target = "classes" if point["target"] == "classes" else "noisy labels"
        data = Spheres(point["outer"], point["label_noise"])
        row = f"{data}: {target}, {SETTINGS[point['settings']]}"
        yield Cell(row, "nothing", percent(count == 0 for count in found))
        yield Cell(row, "one or two", percent(count in (1, 2) for count in found))
        yield Cell(row, "all three", percent(count == 3 for count in found))


def _sample_panel(results: Results) -> Outcome:
    run = results.of("sample", **CHOSEN._asdict())[0]
    series = [
        line(f"{name} sphere", role, *zip(*run[name], strict=True))
        for name, role in (("inner", "first"), ("outer", "second"))
    ]
    return panel("Data", "points", series, x_label="X1", y_label="X2")


def _atoms_panel(results: Results, binning: str) -> Outcome:
    groups = {"one other": "pair", "both others": "set"}
    return mean_panel(
        f"Atoms, bins of equal {binning}s",
        "bars",
        results.of("atoms", **CHOSEN._asdict()),
        groups,
        ATOM_LABELS,
        lambda run, atom, name: run[binning][groups[name]][atom],
        x_label="coordinate beside",
        y_label="information (bit)",
    )


def _terms_panel(results: Results, data: Spheres) -> Outcome:
    keys = {label: depth for depth, label in DEPTHS.items()}
    return mean_panel(
        f"Terms, {data}",
        "bars",
        results.of("terms", **data._asdict()),
        keys,
        {by: (label, role) for by, (label, role, *_) in ESTIMATES.items()},
        lambda run, by, name: float(np.mean(run[by][keys[name]]["bits"])),
        lambda run, by, name: float(np.mean(run[by][keys[name]]["critical_value"])),
        y_label="information (bit)",
    )


def _panels(results: Results) -> Iterable[Any]:
    yield attempt(_sample_panel, results)
    yield from (attempt(_atoms_panel, results, binning) for binning in BINNINGS)
    yield from (attempt(_terms_panel, results, data) for data in (CHOSEN, CLOSER))


PARTS = (
    Part("terms", run_terms, DATA_POINTS, 100, DATA_POINTS[:1], 2, seconds=0.8),
    Part("atoms", run_atoms, DATA_POINTS, seconds=0.03),
    Part("selection", run_selection, SELECTION_POINTS, 40, SELECTION_POINTS[:3], 1, 0.5),
    Part("sample", run_sample, DATA_POINTS[:1], 1, quick_runs=1, seconds=0.01),
)

TABLES = {
    "significance": _significance,
    "selections": _selections,
}

FIGURES = {
    "spheres": _panels,
}
