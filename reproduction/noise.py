"""Experiment V: a distractor in the target or in the measurement."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.data import noise_model
from reproduction.experiment import (
    Cell,
    Claims,
    NotRunError,
    Outcome,
    Part,
    Results,
    attempt,
    mean_panel,
    percent,
)
from reproduction.information import BINNINGS, N_PERMUTATIONS, N_SAMPLES, atoms, selected, term

KINDS = {"mackay": "MacKay", "haufe": "Haufe"}

#: Strengths of the distractor for selections; curves extend to the last.
STRENGTHS = (0.0, 0.5, 1.0, 2.0, 4.0)

#: Steps between the strengths of a curve: full and quick.
STEP, QUICK_STEP = 0.25, 0.5

SETTINGS = {"paper": "as the paper", "defaults": "our defaults"}
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
ESTIMATES = {"width": "equal-width bins", "count": "equal-count bins", "ksg": "KSG"}

# ------------------------------------------------------------------------------------------- runs


def run_curve(seed: int, kind: str, step: float, n_permutations: int) -> Outcome:
    """Estimate terms and atoms at strengths 0, step, ..., 4 of the same signal and noise.

    Returns "a", the strengths, and "curves" in bits by names such as "ksg mi1" and "ksg mi1
    critical_value".
    """
    grid = [place * step for place in range(round(STRENGTHS[-1] / step) + 1)]
    rows = [_at_strength(seed, kind, a, n_permutations) for a in grid]
    return {"a": grid, "curves": {key: [row[key] for row in rows] for key in rows[0]}}


def _at_strength(seed: int, kind: str, a: float, n_permutations: int) -> dict[str, float]:
    X, y = noise_model(N_SAMPLES, kind=kind, a=a, random_state=seed).Xy
    X1, X2 = X.T
    asked = {"mi1": (X1, None), "mi2": (X2, None), "cmi": (X1, X2), "joint": (X, None)}
    found: dict[str, float] = {}
    for name, (x, given) in asked.items():
        ksg = term(x, y, given, n_permutations=n_permutations, seed=seed)
        found |= {f"ksg {name} {key}".removesuffix(" bits"): value for key, value in ksg.items()}
        for binning in BINNINGS:
            plug_in = term(x, y, given, binning=binning, n_permutations=0)
            found[f"{binning} {name}"] = plug_in["bits"]
    for binning in BINNINGS:
        parts = atoms([X1, X2], y, binning=binning)
        found |= {f"{binning} {name}": bits for name, bits in parts.items()}
    return found


def run_selection(seed: int, kind: str, a: float, settings: str) -> Outcome:
    """Select from the two inputs."""
    data = noise_model(N_SAMPLES, kind=kind, a=a, random_state=seed)
    found = selected(data, seed, settings)
    return {**found, "exact": set(found["selected"]) == set(data.relevant_names)}


# ----------------------------------------------------------------------------------------- claims

#: Returns a curve of the runs by its name, shape (n_runs, n_strengths).
Curve = Callable[[str], NDArray[np.float64]]


def _runs(results: Results, kind: str) -> list[Outcome]:
    fine = attempt(lambda: results.of("curve", kind=kind, step=STEP))
    return fine or results.of("curve", kind=kind, step=QUICK_STEP)


def _curve(results: Results, kind: str, by: str) -> tuple[list[float], Curve]:
    """Return the strengths, and a function of the curves by one estimator."""
    runs = _runs(results, kind)

    def get(name: str) -> NDArray[np.float64]:
        key = f"{by} {name}"
        if any(key not in run["curves"] for run in runs):
            raise NotRunError(key)
        return np.array([run["curves"][key] for run in runs])

    return runs[0]["a"], get


def _everywhere(
    kind: str, by: str, of: Callable[[Curve], NDArray[np.float64]], since: float = 0.0
) -> Callable[[Results], dict[str, NDArray[np.float64]]]:
    """Return a function of the results: the values of an expression at every strength."""

    def values(results: Results) -> dict[str, NDArray[np.float64]]:
        grid, curve = _curve(results, kind, by)
        found = of(curve)
        return {f"a = {a:g}": found[:, place] for place, a in enumerate(grid) if a >= since}

    return values


def _monotone(kind: str, by: str, name: str, since: float, sign: float) -> tuple[Any, Any]:
    """Return the total decrease (sign 1) or increase (-1) of a curve, and that of each step."""

    def steps(results: Results) -> dict[str, NDArray[np.float64]]:
        grid, curve = _curve(results, kind, by)
        inside = [place for place, a in enumerate(grid) if a >= since]
        falls = -sign * np.diff(curve(name)[:, inside], axis=1)
        return {f"to a = {grid[at]:g}": falls[:, place] for place, at in enumerate(inside[1:])}

    def total(results: Results) -> NDArray[np.float64]:
        return np.sum(list(steps(results).values()), axis=0)

    return total, steps


def _identity(of: tuple[str, ...], to: str) -> Callable[[Results], dict[str, Any]]:
    """Return the distance of a plug-in term from a sum of atoms, at every strength."""

    def values(results: Results) -> dict[str, Any]:
        grid, _ = _curve(results, "mackay", "count")
        curves = [_curve(results, "mackay", by)[1] for by in BINNINGS]
        off = np.max([np.abs(sum(map(one, of)) - one(to)) for one in curves], axis=0)
        return {f"a = {a:g}": off[:, place] for place, a in enumerate(grid)}

    return values


def _claims(by: str) -> Claims:
    """Return the claims on terms by one estimator, or on terms and atoms by one binning."""

    def mackay(of: Callable[[Curve], NDArray[np.float64]], since: float) -> Any:
        return _everywhere("mackay", by, of, since)

    def haufe(of: Callable[[Curve], NDArray[np.float64]], since: float = 0.0) -> Any:
        return _everywhere("haufe", by, of, since)

    terms = {
        "MacKay: MI of X1 falls from a = 0.5 on": _monotone("mackay", by, "mi1", 0.5, 1.0),
        "MacKay: CMI at least MI from a = 0.5 on": mackay(lambda c: c("cmi") - c("mi1"), 0.5),
        "MacKay: I(X2;Y) above the CMI from a = 1 on": mackay(lambda c: c("mi2") - c("cmi"), 1.0),
        "MacKay: I(X2;Y) grows with a": _monotone("mackay", by, "mi2", 0.0, -1.0),
        "MacKay: joint includes both": mackay(
            lambda c: c("joint") - np.maximum(c("mi2"), c("cmi")), QUICK_STEP
        ),
        "Haufe: CMI holds both": haufe(lambda c: c("cmi") - c("mi1") - c("mi2"), QUICK_STEP),
        "Haufe: MI misses the synergy": haufe(
            lambda c: c("joint") - np.maximum(c("mi1"), c("mi2")), QUICK_STEP
        ),
        "Haufe: joint equals the CMI": haufe(lambda c: np.abs(c("joint") - c("cmi"))),
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


def _exact(results: Results, kind: str, a: float, settings: str) -> NDArray[np.float64]:
    """Return, in percent run by run, whether exactly the relevant inputs were selected."""
    runs = results.of("selection", kind=kind, a=a, settings=settings)
    return percent(run["exact"] for run in runs)


def _recovered(settings: str) -> Callable[[Results], dict[str, Any]]:
    def values(results: Results) -> dict[str, Any]:
        places = {
            f"{name}, a = {a:g}": (kind, a) for kind, name in KINDS.items() for a in STRENGTHS
        }
        found = {
            label: attempt(_exact, results, kind, a, settings)
            for label, (kind, a) in places.items()
            if a > 0
        }
        return {label: one for label, one in found.items() if len(one)} or {"any a": []}

    return values


CLAIMS: Claims = {
    "MacKay: CMI is unique plus synergy": _identity(("unique1", "synergy"), "cmi"),
    "MacKay: CMI leaves out the information of X2": _identity(
        ("unique1", "synergy", "unique2", "shared"), "joint"
    ),
    **_claims("ksg"),
    **_claims("width"),
    **_claims("count"),
    **{
        f"{name}: signal significant given the distractor": _everywhere(
            kind, "ksg", lambda c: c("cmi") - c("cmi critical_value")
        )
        for kind, name in KINDS.items()
    },
    **{
        f"signal found behind strong noise ({label})": _recovered(settings)
        for settings, label in SETTINGS.items()
    },
}

# ------------------------------------------------------------------------------ tables and figures


def _terms_table(results: Results) -> Iterable[Cell]:
    for kind, model in KINDS.items():
        for a in STRENGTHS:
            for by, how in ESTIMATES.items():
                found = attempt(_curve, results, kind, by)
                for name, (label, _) in TERMS.items():
                    known = found and a in found[0]
                    values = found[1](name)[:, found[0].index(a)] if known else []
                    yield Cell(f"{model}, a = {a:g}", f"{how}: {label}", values)


def _selection_table(results: Results) -> Iterable[Cell]:
    for kind, name in KINDS.items():
        for a in STRENGTHS:
            for settings, label in SETTINGS.items():
                values = attempt(_exact, results, kind, a, settings)
                yield Cell(f"{name}, a = {a:g}", label, values)


def _panels(by: str) -> Callable[[Results], Iterable[Any]]:
    def drawn(results: Results, kind: str, where: str) -> Outcome:
        runs = _runs(results, kind)
        grid = runs[0]["a"]
        tested = by == "ksg" and "ksg mi1 critical_value" in runs[0]["curves"]
        return mean_panel(
            f"{KINDS[kind]}: distractor in the {where}",
            "lines",
            [run["curves"] for run in runs],
            grid,
            TERMS if by == "ksg" else {**TERMS, **ATOM_LABELS},
            lambda run, key, a: run[f"{by} {key}"][grid.index(a)],
            (lambda run, key, a: run[f"{by} {key} critical_value"][grid.index(a)])
            if tested
            else None,
            x_label="strength a of the distractor",
            y_label="bit",
        )

    places = {"mackay": "target", "haufe": "measurement"}
    return lambda results: [attempt(drawn, results, *place) for place in places.items()]


SELECTIONS = [
    {"kind": kind, "a": a, "settings": settings}
    for kind in KINDS
    for a in STRENGTHS
    for settings in SETTINGS
]

PARTS = (
    Part(
        "curve",
        run_curve,
        [{"kind": kind, "step": STEP, "n_permutations": N_PERMUTATIONS} for kind in KINDS],
        quick_points=[{"kind": kind, "step": QUICK_STEP, "n_permutations": 0} for kind in KINDS],
        seconds=3.4,
    ),
    Part(
        "selection",
        run_selection,
        SELECTIONS,
        20,
        [point for point in SELECTIONS if point["a"] in (0.0, 1.0)],
        1,
        seconds=0.22,
    ),
)

TABLES = {
    "terms": _terms_table,
    "selection": _selection_table,
}

FIGURES = {f"noise-{by}": _panels(by) for by in ESTIMATES}
