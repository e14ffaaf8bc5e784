"""Experiment I, Section 4.1: two nested spheres, distinguished by the three coordinates jointly."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.datasets import nested_spheres
from reproduction.experiment import Claims, Outcome, Part, Results
from reproduction.information import ATOMS, BINNINGS, N_SAMPLES, atom_labels, atoms, term
from reproduction.quantities import Quantity, grid, quantity


class Spheres(NamedTuple):
    """What the paper leaves open: the outer radius, with an inner one of 1, and the label noise."""

    outer: float
    label_noise: float

    def __str__(self) -> str:
        return f"radii 1 and {self.outer:g}, noise {self.label_noise:g}"


#: The data that decide the claims, and closer spheres with less noise on the labels.
CHOSEN, CLOSER = Spheres(1.25, 0.5), Spheres(1.1, 0.1)

DEPTHS = {"alone": "alone", "one": "given one other", "both": "given both others"}

#: Label, target and options of each estimate.
ESTIMATES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "ksg": ("nearest neighbours, noisy labels", "labels", {}),
    "mixed": ("nearest neighbours, classes", "classes", {"estimator": "mixed"}),
    "count": ("plug-in of equal counts, classes", "classes", {"binning": "count"}),
    "width": ("plug-in of equal widths, classes", "classes", {"binning": "width"}),
}

DATA_POINTS = [data._asdict() for data in (CHOSEN, CLOSER)]


def _data(
    seed: int, target: str, outer: float, label_noise: float
) -> tuple[NDArray[Any], NDArray[Any]]:
    noise = label_noise if target == "labels" else 0.0
    return nested_spheres(N_SAMPLES, radii=(1.0, outer), label_noise=noise, random_state=seed).Xy


def run_terms(seed: int, outer: float, label_noise: float) -> Outcome:
    """Estimate the information of each coordinate alone, given the next, and given both others."""
    found: Outcome = {}
    for name, (_, target, options) in ESTIMATES.items():
        X, y = _data(seed, target, outer, label_noise)
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
    X, y = _data(seed, "classes", outer, label_noise)
    others = {"pair": [[1], [2], [0]], "set": [[1, 2], [2, 0], [0, 1]]}
    found: Outcome = {}
    for binning in BINNINGS:
        found[binning] = {}
        for name, given in others.items():
            each = [atoms([X[:, i], X[:, given[i]]], y, binning=binning) for i in range(3)]
            found[binning][name] = {a: float(np.mean([one[a] for one in each])) for a in ATOMS}
    return found


@quantity
def _significant(results: Results, data: Spheres, by: str, depth: str) -> NDArray[np.float64]:
    """Return the percentage of significant coordinates in each run."""
    found = [run[by][depth] for run in results.of("terms", **data._asdict())]
    return np.array(
        [100 * np.mean(np.greater(one["bits"], one["critical_value"])) for one in found]
    )


@quantity
def _bits(results: Results, data: Spheres, by: str, depth: str) -> NDArray[np.float64]:
    runs = results.of("terms", **data._asdict())
    return np.array([run[by][depth]["bits"] for run in runs]).mean(axis=1)


def _atoms(results: Results, data: Spheres, group: str, by: str = "count") -> NDArray[np.float64]:
    """Return unique1, unique2, shared and synergy, a row for each run."""
    runs = results.of("atoms", **data._asdict())
    return np.array([[run[by][group][atom] for atom in ATOMS] for run in runs])


def _claims(data: Spheres) -> Claims:
    claims: Claims = {
        "synergy prevails": lambda r: (
            100 * _atoms(r, data, "pair")[:, 3] / _atoms(r, data, "pair").sum(axis=1)
        ),
        "no unique information alone": lambda r: _atoms(r, data, "pair")[:, :2].mean(axis=1),
        "sets of two raise unique, shared and synergy": lambda r: (
            _atoms(r, data, "set") - _atoms(r, data, "pair")
        )[:, 1:].min(axis=1),
        "no single significant MI": _significant(data, "ksg", "alone"),
        "CMI significant given one other": _significant(data, "ksg", "one"),
        "CMI significant given both others": _significant(data, "ksg", "both"),
        "CMI above MI": _bits(data, "ksg", "one") - _bits(data, "ksg", "alone"),
        "CMI highest given both": _bits(data, "ksg", "both") - _bits(data, "ksg", "one"),
    }
    suffix = "" if data == CHOSEN else f" ({data})"
    return {f"spheres: {name}{suffix}": values for name, values in claims.items()}


CLAIMS: Claims = {**_claims(CHOSEN), **_claims(CLOSER)}


PARTS = (
    Part("terms", run_terms, DATA_POINTS, 100, DATA_POINTS[:1], 2, seconds=0.8),
    Part("atoms", run_atoms, DATA_POINTS, seconds=0.03),
)

_ROWS = {
    (data, by): f"{data}: {label}"
    for data in (CHOSEN, CLOSER)
    for by, (label, *_) in ESTIMATES.items()
}

TABLES = {
    "significance": grid(lambda row, depth: _significant(row[0], row[1], depth), _ROWS, DEPTHS),
    "terms": grid(lambda row, depth: _bits(row[0], row[1], depth), _ROWS, DEPTHS),
    "atoms": grid(
        lambda row, atom: Quantity(lambda r: _atoms(r, CHOSEN, *row)[:, ATOMS.index(atom)]),
        {
            (group, by): f"{label}, equal {by}s"
            for by in BINNINGS
            for group, label in (("pair", "one other"), ("set", "both others"))
        },
        atom_labels("unique to the coordinate", "unique to the others"),
    ),
}
