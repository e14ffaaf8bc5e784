"""Figures of the model by Runge et al."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from reproduction.averages import mean_bars, share
from reproduction.experiment import Outcome, Results
from reproduction.figures import Figure, Panel, Role, Series
from reproduction.runge.sets import DRIVERS, GROUPS, VARIABLES, number_of, place
from reproduction.runge.tables import ATOMS, ESTIMATORS, IMPORTANCES, MARKED, SELECTIONS


def figures(results: Results) -> list[Figure]:
    """Return the figure with the paper's panels, and one with what was done besides."""
    as_the_paper = Figure(
        "runge",
        "Model by Runge et al.: the paper's panels",
        "In the order of the paper. A, B: variables included by CMI and by MI (KSG, k = 4). C: "
        "importance to LARS (coefficients for one unit) and to a random forest (in the samples it "
        "has learned from), the most important variable being 1. D: what each variable tells "
        "alone, by KSG and by plug-in estimates on five bins, with mean thresholds (dashed; 200 "
        "permutations, level 0.05). E: Z1 alone, Z1 given Z2 and Z3, and the whole set Z, "
        "by the same estimators. F: atoms by BROJA on five bins of equal counts, within Z and "
        "within W (first variable against the others), and of Z against W. G: mean place in the "
        "order of inclusion; what is left out counts as tenth. H, I: variables included by forward "
        "selection with four and seven features. J: mean absolute error of prediction by five "
        "nearest neighbours for every set of variables, mean over runs. Bars have standard errors "
        "over runs.",
        _present(
            _inclusion(results, "cmi"),
            _inclusion(results, "mi"),
            _importance_panel(results, ("lars", "forest-training"), "Importance"),
            _alone_panel(results),
            _together_panel(results),
            _atoms_panel(results, "atoms", "count", "Atoms, equal counts"),
            _order_panel(results),
            _forward_panel(results, 4),
            _forward_panel(results, 7),
            _neighbours_panel(results),
        ),
    )
    besides = Figure(
        "runge-more",
        "Model by Runge et al.: beside the paper",
        "Variables included by MI without the backward step and by our defaults; which set the "
        "variable of each step belongs to; importances by other linear methods and in samples that "
        "the forest has not seen; atoms on bins of equal width, and atoms of a shuffled target, "
        "which tells how much of a bar is chance. Our defaults start with W, where KSG alone "
        "starts with Z: by the Gaussian copula W stands out more from chance.",
        _present(
            _inclusion(results, "mi-unpruned"),
            _inclusion(results, "defaults"),
            *(_steps_panel(results, settings) for settings in ("cmi", "mi", "defaults")),
            _importance_panel(results, ("lasso", "svr", "forest"), "Importance, other ways"),
            _atoms_panel(results, "atoms", "width", "Atoms, equal width"),
            _atoms_panel(results, "chance", "count", "Atoms by chance, equal counts"),
            _atoms_panel(results, "chance", "width", "Atoms by chance, equal width"),
        ),
    )
    return [figure for figure in (as_the_paper, besides) if figure.panels]


def _present(*panels: Panel | None) -> tuple[Panel, ...]:
    return tuple(panel for panel in panels if panel is not None)


def _bars(
    label: str,
    role: Role,
    values: Mapping[str, Sequence[float]],
    lines: Mapping[str, Sequence[float]] | None = None,
) -> Series:
    """Return the mean and standard error for each category."""
    thresholds = None if lines is None else list(lines.values())
    return mean_bars(label, role, list(values), list(values.values()), thresholds)


def _each(of: Callable[[Outcome, str], float], runs: Sequence[Outcome]) -> dict[str, list[float]]:
    return {name: [of(run, name) for run in runs] for name in VARIABLES}


def _inclusion(results: Results, settings: str) -> Panel | None:
    runs = results.of("selection", settings=settings)
    if not runs:
        return None
    included = _each(lambda run, name: share(run["selected"], [name]), runs)
    return Panel(
        f"Included: {SELECTIONS[settings][0]}",
        "stacked",
        [
            _bars("true feature", "right", {name: included[name] for name in DRIVERS}),
            _bars("spurious feature", "wrong", {name: included[name] for name in GROUPS["X"]}),
        ],
        y_label="percent of runs",
        top=100.0,
    )


def _importance_panel(results: Results, methods: Sequence[str], title: str) -> Panel | None:
    runs = results.of("methods")
    if not runs:
        return None
    series = []
    for method in methods:
        label, role = IMPORTANCES[method]
        of_method = [run["importances"][method] for run in runs]
        series.append(_bars(label, role, _each(lambda run, name: run[name], of_method)))
    return Panel(title, "bars", series, y_label="relative importance")


def _alone_panel(results: Results) -> Panel | None:
    runs = results.of("terms")
    if not runs:
        return None
    series = []
    for name, (label, role) in ESTIMATORS.items():
        of_name = [run["mi"][name] for run in runs]
        values = _each(lambda run, variable: run[variable]["bits"], of_name)
        lines = _each(lambda run, variable: run[variable]["line"], of_name)
        series.append(_bars(label, role, values, lines))
    return Panel("What each variable tells alone", "bars", series, y_label="I(·; Y), bit")


def _together_panel(results: Results) -> Panel | None:
    runs = results.of("terms")
    if not runs:
        return None
    series = []
    for name, (label, role) in ESTIMATORS.items():
        values = {
            "Z1": [run["mi"][name]["Z1"]["bits"] for run in runs],
            "Z1 given Z2, Z3": [run["cmi"][name]["bits"] for run in runs],
            "Z": [run["sets"][name]["Z"] for run in runs],
        }
        series.append(_bars(label, role, values))
    return Panel("Z1 alone and in its set", "bars", series, y_label="bit")


def _atoms_panel(results: Results, kind: str, binning: str, title: str) -> Panel | None:
    runs = results.of("terms")
    if not runs:
        return None
    series = [
        _bars(
            label,
            role,
            {
                sources: [run[kind][binning][sources][atom] for run in runs]
                for sources in ("Z", "W", "Z and W")
            },
        )
        for atom, (label, role) in ATOMS.items()
    ]
    return Panel(title, "bars", series, y_label="bit")


def _order_panel(results: Results) -> Panel | None:
    series = []
    roles: tuple[tuple[str, Role], ...] = (("cmi", "cmi"), ("mi", "mi"))
    for settings, role in roles:
        runs = results.of("selection", settings=settings)
        if runs:
            places = {
                group: [place(run["selected"], GROUPS[group]) for run in runs] for group in GROUPS
            }
            series.append(_bars(SELECTIONS[settings][0], role, places))
    return Panel("Order of inclusion", "bars", series, y_label="mean place") if series else None


def _steps_panel(results: Results, settings: str) -> Panel | None:
    runs = results.of("selection", settings=settings)
    longest = max((len(run["selected"]) for run in runs), default=0)
    if not longest:
        return None
    roles: tuple[Role, ...] = ("first", "second", "wrong")
    steps = range(longest)
    series = [
        Series(
            group,
            role,
            [str(step + 1) for step in steps],
            [_taken_at(step, runs, group) for step in steps],
        )
        for group, role in zip(GROUPS, roles, strict=True)
    ]
    return Panel(
        f"Set taken from at each step: {SELECTIONS[settings][0]}",
        "stacked",
        series,
        x_label="step",
        y_label="percent of runs",
        top=100.0,
    )


def _taken_at(step: int, runs: Sequence[Outcome], group: str) -> float:
    """Return in how many runs the variable of a step is of a set, in percent."""
    taken = [set(run["selected"][step : step + 1]) & set(GROUPS[group]) for run in runs]
    return 100.0 * sum(map(len, taken)) / len(runs)


def _forward_panel(results: Results, n_select: int) -> Panel | None:
    methods: tuple[tuple[str, str, Role], ...] = (
        ("LARS", "forward", "first"),
        ("Random forest", "forward-forest", "second"),
    )
    series = [
        _bars(
            label,
            role,
            _each(lambda run, name: share(run["selected"][:n_select], [name]), results.of(part)),
        )
        for label, part, role in methods
        if results.of(part)
    ]
    title = f"Forward selection of {n_select}"
    return Panel(title, "bars", series, y_label="percent of runs", top=100.0) if series else None


def _neighbours_panel(results: Results) -> Panel | None:
    runs = results.of("neighbours")
    if not runs:
        return None
    means = np.mean([run["errors"] for run in runs], axis=0)
    sizes = [float(number.bit_count()) for number in range(1, 1 + len(means))]
    series = [Series("other sets", "plain", sizes, means.tolist())]
    for label, (names, role) in MARKED.items():
        error = float(means[number_of(names) - 1])
        series.append(Series(label, role, [float(len(names))], [error]))
    return Panel(
        "Prediction by nearest neighbours",
        "points",
        series,
        x_label="number of variables",
        y_label="mean absolute error",
    )
