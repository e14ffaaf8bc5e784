"""The figures of the statistical models: curves over alpha."""

from __future__ import annotations

from collections.abc import Sequence

from pidselect.decomposition.binning import BINNINGS
from reproduction.averages import mean_series
from reproduction.experiment import Outcome, Results
from reproduction.figures import Figure, Panel, Role, Series
from reproduction.models.curves import (
    ATOMS,
    DISTRIBUTIONS,
    KINDS,
    SIGMAS,
    TERMS,
    curves_of,
    finest,
)

#: What a term of a run is drawn as.
ROLES: dict[str, Role] = {
    "mi1": "mi",
    "mi2": "mi2",
    "cmi1": "cmi",
    "cmi2": "cmi2",
    "joint": "joint",
}


def draw(results: Results) -> list[Figure]:
    """Return one figure for each model, and one of synergy in all combinations."""
    figures = [_draw_model(results, kind) for kind in KINDS] + [_draw_synergy(results)]
    return [figure for figure in figures if figure.panels]


def _draw_model(results: Results, kind: str) -> Figure:
    runs = finest(results.of("curve", kind=kind))
    panels = []
    if runs:
        panels = [
            *(_draw_atoms(runs, binning) for binning in BINNINGS),
            _draw_terms(runs, "ksg", "Terms, nearest neighbours"),
            *(_draw_terms(runs, bins, f"Terms, plug-in of equal {bins}s") for bins in BINNINGS),
        ]
    zero = finest(results.of("zero", kind=kind))
    if zero:
        panels.append(_draw_atoms(zero, "width", ", inputs from 0 to 1"))
    caption = (
        f"The {kind} model over alpha, uniform inputs, noise 0.1: atoms by BROJA on five bins; "
        "terms by nearest neighbours, with the line of significance of each one's own 200 "
        "permutations, dashed (the joint one has none); and terms by plug-in on the same bins, "
        "without lines. Means of all runs, with standard errors. Vertical lines mark equal "
        "weights, alpha 0.5, and alpha 1, where X2 does not count."
    )
    return Figure(f"models-{kind}", f"The {kind} model", caption, panels, n_columns=3)


def _draw_atoms(runs: Sequence[Outcome], binning: str, more: str = "") -> Panel:
    grid = runs[0]["alpha"]
    series = [
        mean_series(label, atom, grid, [run[binning][atom] for run in runs])
        for atom, label in ATOMS.items()
    ]
    return _over_alpha(f"Atoms, bins of equal {binning}s{more}", series)


def _draw_terms(runs: Sequence[Outcome], estimator: str, title: str) -> Panel:
    grid = runs[0]["alpha"]
    series = []
    for name, label in {**TERMS, "joint": "I(X1,X2;Y)"}.items():
        tested = estimator == "ksg" and all(name in run["lines"] for run in runs)
        lines = [run["lines"][name] for run in runs] if tested else None
        values = [run[estimator][name] for run in runs]
        series.append(mean_series(label, ROLES[name], grid, values, lines))
    return _over_alpha(title, series)


def _draw_synergy(results: Results) -> Figure:
    roles: dict[str, Role] = {"additive": "first", "multiplicative": "second"}
    panels = []
    for distribution in DISTRIBUTIONS:
        for sigma in SIGMAS:
            found = {kind: curves_of(results, kind, distribution, sigma) for kind in KINDS}
            series = [
                mean_series(
                    kind,
                    roles[kind],
                    runs[0]["alpha"],
                    [run["count"]["synergy"] for run in runs],
                )
                for kind, runs in found.items()
                if runs
            ]
            if series:
                title = f"{distribution.capitalize()}, noise {sigma:g}"
                panels.append(_over_alpha(title, series, "synergy (bit)"))
    caption = (
        "Synergy over alpha for all inputs and strengths of noise, by BROJA on five bins of equal "
        "counts; binomial and Poisson inputs are states as they are. Means and standard errors. "
        "Where noise hides all signal, what is left is bias: the more states, the more."
    )
    return Figure("models-synergy", "Synergy in all combinations", caption, panels, n_columns=3)


def _over_alpha(title: str, series: Sequence[Series], y_label: str = "information (bit)") -> Panel:
    return Panel(title, "lines", series, x_label="alpha", y_label=y_label, marks=(0.5, 1.0))
