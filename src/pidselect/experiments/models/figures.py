"""The figures of the statistical models: curves over alpha."""

from __future__ import annotations

from collections.abc import Sequence

from pidselect.decomposition.states import BINNINGS
from pidselect.experiments.averages import mean_series
from pidselect.experiments.experiment import Outcome, Results
from pidselect.experiments.models.claims import DISTRIBUTIONS, KINDS, SIGMAS, curves_of, finest
from pidselect.report import Figure, Panel, Series
from pidselect.report.figures import Role

ATOMS: dict[Role, str] = {
    "unique1": "unique to X1",
    "unique2": "unique to X2",
    "shared": "shared",
    "synergy": "synergy",
}
TERMS: dict[Role, str] = {
    "mi": "I(X1;Y)",
    "mi2": "I(X2;Y)",
    "cmi": "I(X1;Y|X2)",
    "cmi2": "I(X2;Y|X1)",
    "joint": "I(X1,X2;Y)",
}

#: What a term is called in the outcome of a run.
KEYS: dict[Role, str] = {"mi": "mi1", "mi2": "mi2", "cmi": "cmi1", "cmi2": "cmi2", "joint": "joint"}


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
        panels.append(_draw_atoms(zero, "width", " from inputs between 0 and 1"))
    caption = (
        f"The {kind} model over alpha, uniform inputs, noise 0.1: atoms by BROJA on five bins, and "
        "terms, of nearest neighbours with the line of significance of each one's own 200 "
        "permutations, dashed. Means and standard errors."
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
    for role, label in TERMS.items():
        key = KEYS[role]
        tested = estimator == "ksg" and all(key in run["lines"] for run in runs)
        lines = [run["lines"][key] for run in runs] if tested else None
        series.append(mean_series(label, role, grid, [run[estimator][key] for run in runs], lines))
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
