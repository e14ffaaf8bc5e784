"""Experiment V: a distractor in the target or in the measurement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.data import noise_model
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
    BINNINGS,
    N_PERMUTATIONS,
    N_SAMPLES,
    TERMS,
    atom_labels,
    atoms,
    pair_terms,
    selected,
)
from reproduction.quantities import Quantity, grid, percent, quantity

KINDS = {"mackay": "MacKay", "haufe": "Haufe"}

#: Strengths of the distractor for selections; curves extend to the last.
STRENGTHS = (0.0, 0.5, 1.0, 2.0, 4.0)

#: Steps between the strengths of a curve: full and quick.
STEP, QUICK_STEP = 0.25, 0.5

SETTINGS = {"paper": "as the paper", "defaults": "our defaults"}
SHOWN = {name: TERMS[name] for name in ("mi1", "mi2", "cmi1", "joint")}
ATOM_LABELS = atom_labels("unique X1", "unique X2")
ESTIMATES = {"width": "equal-width bins", "count": "equal-count bins", "ksg": "KSG"}


def run_curve(seed: int, kind: str, step: float, n_permutations: int) -> Outcome:
    """Estimate terms and atoms at strengths 0, step, ..., 4 of the same signal and noise.

    Returns "a", the strengths, and "curves" in bits by names such as "ksg mi1" and "ksg mi1
    critical_value".
    """
    strengths = [place * step for place in range(round(STRENGTHS[-1] / step) + 1)]
    rows = [_at_strength(seed, kind, a, n_permutations) for a in strengths]
    return {"a": strengths, "curves": {key: [row[key] for row in rows] for key in rows[0]}}


def _at_strength(seed: int, kind: str, a: float, n_permutations: int) -> dict[str, float]:
    X, y = noise_model(N_SAMPLES, kind=kind, a=a, random_state=seed).Xy
    found: dict[str, float] = {}
    for name, ksg in pair_terms(X, y, [*SHOWN], n_permutations=n_permutations, seed=seed).items():
        found |= {f"ksg {name} {key}".removesuffix(" bits"): value for key, value in ksg.items()}
    for by in BINNINGS:
        plug_in = pair_terms(X, y, [*SHOWN], binning=by, n_permutations=0)
        found |= {f"{by} {name}": one["bits"] for name, one in plug_in.items()}
        found |= {f"{by} {name}": bits for name, bits in atoms([*X.T], y, binning=by).items()}
    return found


def run_selection(seed: int, kind: str, a: float, settings: str) -> Outcome:
    """Select from the two inputs."""
    data = noise_model(N_SAMPLES, kind=kind, a=a, random_state=seed)
    found = selected(data, seed, settings)
    return {**found, "exact": set(found["selected"]) == set(data.relevant_names)}


#: Returns a curve of the runs by its name, shape (n_runs, n_strengths).
Curve = Callable[[str], NDArray[np.float64]]


def _curve(results: Results, kind: str, by: str) -> tuple[list[float], Curve]:
    """Return the strengths, and a function of the curves by one estimator."""
    runs = finest(results.of("curve", kind=kind), "a")

    def get(name: str) -> NDArray[np.float64]:
        if any(f"{by} {name}" not in run["curves"] for run in runs):
            raise NotRunError(name)
        return np.array([run["curves"][f"{by} {name}"] for run in runs])

    return runs[0]["a"], get


@quantity
def _everywhere(
    results: Results,
    kind: str,
    by: str,
    of: Callable[[Curve], NDArray[np.float64]],
    since: float = 0.0,
) -> dict[str, NDArray[np.float64]]:
    """Return the values of an expression at every strength."""
    strengths, curve = _curve(results, kind, by)
    found = of(curve)
    return {f"a = {a:g}": found[:, place] for place, a in enumerate(strengths) if a >= since}


@quantity
def _bits(results: Results, kind: str, a: float, by: str, name: str) -> NDArray[np.float64]:
    strengths, curve = _curve(results, kind, by)
    return curve(name)[:, strengths.index(a)]


def _monotone(
    kind: str, by: str, name: str, since: float, sign: float
) -> tuple[Quantity, Quantity]:
    """Return the total decrease (sign 1) or increase (-1) of a curve, and that of each step."""

    def steps(results: Results) -> dict[str, NDArray[np.float64]]:
        strengths, curve = _curve(results, kind, by)
        inside = [place for place, a in enumerate(strengths) if a >= since]
        falls = -sign * np.diff(curve(name)[:, inside], axis=1)
        return {f"to a = {strengths[at]:g}": falls[:, place] for place, at in enumerate(inside[1:])}

    return Quantity(lambda r: np.sum(list(steps(r).values()), axis=0)), Quantity(steps)


@quantity
def _identity(results: Results, of: tuple[str, ...], to: str) -> dict[str, Any]:
    """Return the distance of a plug-in term from a sum of atoms, at every strength."""
    curves = {by: _curve(results, "mackay", by) for by in BINNINGS}
    off = [np.abs(sum(map(curve, of)) - curve(to)) for _, curve in curves.values()]
    places = enumerate(curves["count"][0])
    return {f"a = {a:g}": np.max(off, axis=0)[:, place] for place, a in places}


def _claims(by: str) -> Claims:
    """Return the claims on terms by one estimator, or on terms and atoms by one binning."""

    def mackay(of: Callable[[Curve], NDArray[np.float64]], since: float) -> Any:
        return _everywhere("mackay", by, of, since)

    def haufe(of: Callable[[Curve], NDArray[np.float64]], since: float = 0.0) -> Any:
        return _everywhere("haufe", by, of, since)

    terms = {
        "MacKay: MI of X1 falls from a = 0.5 on": _monotone("mackay", by, "mi1", 0.5, 1.0),
        "MacKay: CMI at least MI from a = 0.5 on": mackay(lambda c: c("cmi1") - c("mi1"), 0.5),
        "MacKay: I(X2;Y) above the CMI from a = 1 on": mackay(lambda c: c("mi2") - c("cmi1"), 1.0),
        "MacKay: I(X2;Y) grows with a": _monotone("mackay", by, "mi2", 0.0, -1.0),
        "MacKay: joint includes both": mackay(
            lambda c: c("joint") - np.maximum(c("mi2"), c("cmi1")), QUICK_STEP
        ),
        "Haufe: CMI holds both": haufe(lambda c: c("cmi1") - c("mi1") - c("mi2"), QUICK_STEP),
        "Haufe: MI misses the synergy": haufe(
            lambda c: c("joint") - np.maximum(c("mi1"), c("mi2")), QUICK_STEP
        ),
        "Haufe: joint equals the CMI": haufe(lambda c: np.abs(c("joint") - c("cmi1"))),
    }
    shared = _monotone("mackay", by, "shared", 1.0, 1.0)
    synergy = _monotone("mackay", by, "synergy", 1.0, 1.0)
    of_atoms = {
        "MacKay: shared and synergy fall for larger a": (*shared, *synergy),
        "MacKay: synergy above redundancy": mackay(lambda c: c("synergy") - c("shared"), 0.0),
        "Haufe: no redundancy": haufe(lambda c: c("shared")),
        "Haufe: MI equals unique X1": haufe(lambda c: np.abs(c("mi1") - c("unique1"))),
        "Haufe: X2 contributes synergy only": haufe(lambda c: c("unique2") + c("shared")),
    }
    suffix = f" ({ESTIMATES[by]})"
    if by == "ksg":
        return terms
    return {name + suffix: values for name, values in terms.items()} | {
        name + ("" if by == "width" else suffix): values for name, values in of_atoms.items()
    }


@quantity
def _recovered(results: Results, settings: str) -> dict[str, Any]:
    """Return how often both inputs are selected where there is a distractor."""
    found = {
        f"{name}, a = {a:g}": attempt(_exact, results, kind, a, settings)
        for kind, name in KINDS.items()
        for a in STRENGTHS
        if a > 0
    }
    return {label: one for label, one in found.items() if len(one)} or {"any a": []}


def _exact(results: Results, kind: str, a: float, settings: str) -> NDArray[np.float64]:
    runs = results.of("selection", kind=kind, a=a, settings=settings)
    return percent(run["exact"] for run in runs)


CLAIMS: Claims = {
    "MacKay: CMI is unique plus synergy": _identity(("unique1", "synergy"), "cmi1"),
    "MacKay: CMI leaves out the information of X2": _identity(
        ("unique1", "synergy", "unique2", "shared"), "joint"
    ),
    **_claims("ksg"),
    **_claims("width"),
    **_claims("count"),
    **{
        f"{name}: signal significant given the distractor": _everywhere(
            kind, "ksg", lambda c: c("cmi1") - c("cmi1 critical_value")
        )
        for kind, name in KINDS.items()
    },
    **{
        f"signal found behind strong noise ({label})": _recovered(settings)
        for settings, label in SETTINGS.items()
    },
}


PARTS = (
    Part(
        "curve",
        run_curve,
        each(kind=KINDS, step=[STEP], n_permutations=[N_PERMUTATIONS]),
        quick_points=each(kind=KINDS, step=[QUICK_STEP], n_permutations=[0]),
        seconds=3.4,
    ),
    Part(
        "selection",
        run_selection,
        each(kind=KINDS, a=STRENGTHS, settings=SETTINGS),
        20,
        each(kind=KINDS, a=(0.0, 1.0), settings=SETTINGS),
        1,
        seconds=0.22,
    ),
)

TABLES = {
    "information": grid(
        lambda row, column: _bits(*row, *column),
        {(kind, a): f"{name}, a = {a:g}" for kind, name in KINDS.items() for a in STRENGTHS},
        {
            **{("ksg", name): f"{label}, KSG" for name, label in SHOWN.items()},
            **{("width", name): label for name, label in (SHOWN | ATOM_LABELS).items()},
        },
    ),
}
