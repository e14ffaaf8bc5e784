"""Figures of two classes in the plane (Experiment VI)."""

from __future__ import annotations

from pidselect.decomposition.binning import BINNINGS
from reproduction.agreement import estimate
from reproduction.averages import mean_bars
from reproduction.examples.claims import NOISES, TERMS, Runs
from reproduction.experiment import Outcome, Results
from reproduction.figures import Figure, Panel, Role, Series
from reproduction.terms import N_PERMUTATIONS

#: The paper's examples, and the third with class means that differ, as its results need.
EXAMPLES = ("1", "2", "3", "3*", "4", "5")

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
        "Terms by five estimators: KSG (nearest neighbours) with noise on the labels, little and "
        "much; an estimator for continuous inputs and classes (mixed); and plug-in on five bins "
        f"of either kind. Dashed: mean lines of significance, of {N_PERMUTATIONS} permutations. "
        "Then atoms by BROJA on these bins, and the correlation of the inputs, over all samples "
        "and within a class. Means of all runs, with standard errors. As panels D to F of the "
        "paper's figure; 3* has class means that differ.",
        panels,
        n_columns=3,
    )


def _terms_panel(runs: Runs, shown: list[str], by: str) -> Panel:
    series = [
        mean_bars(
            label,
            ROLES[name],
            shown,
            [runs.bits(example, by, name) for example in shown],
            [runs.lines(example, by, name) for example in shown],
        )
        for name, label in TERMS.items()
    ]
    return Panel(f"Terms: {ESTIMATES[by]}", "bars", series, x_label="example", y_label="bit")


def _atoms_panel(runs: Runs, shown: list[str], binning: str) -> Panel:
    series = [
        mean_bars(label, role, shown, [runs.atom(example, role, binning) for example in shown])
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
        mean_bars(label, role, shown, [[run[key] for run in runs.terms(one)] for one in shown])
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
        "Share of runs in which a term by KSG is above its own line of significance. The paper "
        "finds I(X1;Y|X2) significant in some runs of Example 1 and consistently in Example 2, and "
        "the other terms in most.",
        panels,
        n_columns=2,
    )
