"""Figures of two classes in the plane (Experiment VI)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pidselect.decomposition.states import BINNINGS
from pidselect.experiments.agreement import estimate
from pidselect.experiments.examples.claims import FITTED_NOISE, LABEL_NOISE, TERMS, Runs
from pidselect.experiments.experiment import Outcome, Results
from pidselect.experiments.terms import N_PERMUTATIONS
from pidselect.report import Figure, Panel, Series
from pidselect.report.figures import Role

#: The paper's examples, and the third with class means that differ, as its results need.
EXAMPLES = ("1", "2", "3", "3*", "4", "5")

#: Standard deviations of the noise on labels at which significance is looked at.
NOISES = (LABEL_NOISE, 0.25, 0.5, FITTED_NOISE, 1.0, 1.5, 2.0)

ESTIMATES = {
    "noise 0.1": "KSG, label noise 0.1",
    "noise 0.75": "KSG, label noise 0.75",
    "mixed": "mixed, labels as they are",
    "width": "equal-width bins",
    "count": "equal-count bins",
}
ROLES: dict[str, Role] = {"mi1": "mi", "mi2": "mi2", "cmi": "cmi", "joint": "joint"}
ATOMS: dict[Role, str] = {
    "unique1": "unique X1",
    "unique2": "unique X2",
    "shared": "shared",
    "synergy": "synergy",
}

CLASSES: tuple[Role, Role] = ("first", "second")

#: Of the sample shown: points of each class, and places at which densities are given.
SHOWN, GRID = 200, 40


def shown_name(example: str) -> str:
    """Return what an example is called in tables and figures."""
    return {"3": "3 as printed", "3*": "3, means apart"}.get(example, example)


def data_figure(results: Results) -> Figure:
    """Draw points and densities: a row for each example, as panels A to C of the paper."""
    panels: list[Panel] = []
    for example in EXAMPLES:
        for run in results.of("sample", example=example)[:1]:
            panels.append(_points_panel(example, run))
            panels += [_density_panel(example, run, column) for column in (0, 1)]
    return Figure(
        "examples-data",
        "Two classes in the plane",
        f"One run of each example, a row each: {SHOWN} points of each class, and the densities of "
        "X1 and of X2 within each class (kernel estimates). As panels A to C of the paper's "
        "figure; Example 3 also with class means that differ.",
        panels,
        n_columns=3,
    )


def _points_panel(example: str, run: Outcome) -> Panel:
    series = [
        Series(f"class {label}", role, *map(list, zip(*run["points"][label], strict=True)))
        for label, role in enumerate(CLASSES)
    ]
    return Panel(f"Example {shown_name(example)}", "points", series, "X1", "X2")


def _density_panel(example: str, run: Outcome, column: int) -> Panel:
    density, name = run["densities"][column], ("X1", "X2")[column]
    series = [
        Series(f"class {label}", role, density["places"], density["heights"][label])
        for label, role in enumerate(CLASSES)
    ]
    return Panel(f"Example {shown_name(example)}: {name}", "lines", series, name, "density")


def terms_figure(runs: Runs) -> Figure:
    """Draw terms, atoms and correlations by example, as panels D to F of the paper."""
    shown = [example for example in EXAMPLES if runs.terms(example)]
    panels = []
    if shown:
        panels = [_terms_panel(runs, shown, by) for by in ESTIMATES]
        panels += [_atoms_panel(runs, shown, binning) for binning in BINNINGS]
        panels.append(_correlation_panel(runs, shown))
    return Figure(
        "examples-terms",
        "What two inputs tell about the class",
        "Means of all runs, with standard errors. Terms by each way to treat the class labels, "
        f"dashed their mean lines of significance ({N_PERMUTATIONS} permutations); atoms by BROJA; "
        "and the correlation of the inputs, over all samples and within a class. As panels D to F "
        "of the paper's figure; 3* has class means that differ.",
        panels,
        n_columns=3,
    )


def _bars(label: str, role: Role, shown: list[str], values: list[list[float]]) -> Series:
    found = [estimate(runs) for runs in values]
    known = all(one.runs > 1 for one in found)
    error = [one.standard_error for one in found] if known else None
    return Series(label, role, shown, [one.mean for one in found], error=error)


def _terms_panel(runs: Runs, shown: list[str], by: str) -> Panel:
    series = []
    for name, label in TERMS.items():
        lines = [
            float(np.mean([run["terms"][by][name]["line"] for run in runs.terms(example)]))
            for example in shown
        ]
        bars = _bars(label, ROLES[name], shown, [runs.bits(example, by, name) for example in shown])
        series.append(replace(bars, threshold=lines))
    return Panel(f"Terms: {ESTIMATES[by]}", "bars", series, x_label="example", y_label="bit")


def _atoms_panel(runs: Runs, shown: list[str], binning: str) -> Panel:
    series = [
        _bars(label, role, shown, [runs.atom(example, role, binning) for example in shown])
        for role, label in ATOMS.items()
    ]
    title = f"Atoms: BROJA, {ESTIMATES[binning]}"
    return Panel(title, "bars", series, x_label="example", y_label="bit")


def _correlation_panel(runs: Runs, shown: list[str]) -> Panel:
    kinds: tuple[tuple[str, Role, str], ...] = (
        ("all samples", "first", "correlation"),
        ("within a class", "second", "within"),
    )
    series = [
        _bars(label, role, shown, [[run[key] for run in runs.terms(one)] for one in shown])
        for label, role, key in kinds
    ]
    return Panel("Correlation of X1 and X2", "bars", series, x_label="example", y_label="r")


def labels_figure(runs: Runs) -> Figure:
    """Draw how often terms are significant, over the noise on the labels."""
    panels = []
    for example in ("1", "2"):
        seen = [noise for noise in NOISES if runs.with_noise(example, noise, "cmi")]
        series = []
        for name, label in TERMS.items():
            found = [estimate(runs.with_noise(example, noise, name)) for noise in seen]
            series.append(Series(label, ROLES[name], seen, [one.mean for one in found]))
        if seen:
            title, x_label = f"Example {example}", "standard deviation of the noise on labels"
            panels.append(Panel(title, "lines", series, x_label, "significant, % of runs"))
    return Figure(
        "examples-labels",
        "Noise on class labels decides what is significant",
        "Share of runs in which a term by KSG is above its line of significance. What the paper "
        "says of Examples 1 and 2 is seen near a standard deviation of 0.75.",
        panels,
        n_columns=2,
    )
