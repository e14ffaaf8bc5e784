"""The figures of Friedman's models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from reproduction.averages import mean_series
from reproduction.figures import Figure, Panel, Role, Series
from reproduction.friedman.model import (
    BINNINGS,
    LABELS,
    N_SELECT,
    Model,
    Selections,
)


def friedman_figures(models: Sequence[Model]) -> list[Figure]:
    """Return the figures that have something to show."""
    figures = (
        _selected(models),
        _importances(models),
        _forward(models),
        _neighbours(models),
        _information(models),
        _atoms(models),
    )
    return [figure for figure in figures if figure.panels]


def _taken(label: str, role: Role, names: Sequence[str], selections: Selections) -> Series:
    shares = [[100.0 * (name in selected) for name in names] for selected in selections]
    return mean_series(label, role, names, shares)


def _selected(models: Sequence[Model]) -> Figure:
    panels = [
        Panel(
            f"{label}, model {model.roman}",
            "bars",
            (
                _taken("relevant", "right", model.relevant, model.selected(settings)),
                _taken("nuisance", "wrong", model.nuisance, model.selected(settings)),
            ),
            y_label="runs with it, %",
            top=100.0,
        )
        for settings, label in LABELS.items()
        for model in models
        if model.selected(settings)
    ]
    caption = (
        "How often each column is selected, in percent of the runs, with standard errors. CMI and "
        "MI are by KSG (k = 4) against 200 permutations at level 0.05. The first two rows are "
        "panels A to F of the paper's rates figure. The third leaves out backward elimination, the "
        "fourth takes our defaults."
    )
    return Figure("friedman-selected", "Selected features", caption, panels)


def _importances(models: Sequence[Model]) -> Figure:
    ways: tuple[tuple[str, tuple[tuple[str, str, Role], ...]], ...] = (
        ("as the paper", (("lars", "LARS", "first"), ("forest-training", "forest", "second"))),
        ("comparable", (("lars-standardised", "LARS", "first"), ("forest", "forest", "second"))),
    )
    panels = [
        Panel(
            f"Model {model.roman}, {way}",
            "bars",
            [
                mean_series(
                    label, role, model.names, model.importances(method, model.names).tolist()
                )
                for method, label, role in methods_
            ],
            y_label="importance, largest = 1",
        )
        for way, methods_ in ways
        for model in models
        if len(model.importances("lars", model.names))
    ]
    caption = (
        "Importance of each column relative to the largest of the run; mean and standard error. "
        "Upper row, panels G to I of the paper's rates figure: LARS's coefficients for one unit "
        "of each column, and the forest's loss of R² on the samples it was grown on when a column "
        "is shuffled; these fit what the paper says. Lower row: coefficients for one standard "
        "deviation of each column, and the forest's loss on samples kept aside."
    )
    return Figure("friedman-importances", "Importances by regression", caption, panels)


def _forward(models: Sequence[Model]) -> Figure:
    ways: tuple[tuple[str, str, Role], ...] = (
        ("lars", "LARS", "first"),
        ("forest", "forest", "second"),
    )
    panels = [
        Panel(
            f"Model {model.roman}, {N_SELECT[model.number]} columns",
            "bars",
            [
                _taken(label, role, model.names, model.forward(method))
                for method, label, role in ways
                if model.forward(method)
            ],
            y_label="runs with it, %",
            top=100.0,
        )
        for model in models
        if any(model.forward(method) for method, _, _ in ways)
    ]
    caption = (
        "How often sequential forward selection takes each column, if it is to take seven "
        "(model I) or five, in percent of the runs (100 with LARS, 20 with forests), with standard "
        "errors. Columns are scored by R² in five folds, with forests of ten trees: panels J to L "
        "of the paper's rates figure."
    )
    return Figure("friedman-forward", "Sequential forward selection", caption, panels)


def _neighbours(models: Sequence[Model]) -> Figure:
    panels = []
    for model in models:
        errors = model.errors()
        if not len(errors):
            continue
        places = {"every set": range(errors.shape[1])} | {
            f"most frequent by {LABELS[settings]}": _most_frequent(model, settings)
            for settings in ("mi", "cmi")
        }
        roles: tuple[Role, ...] = ("plain", "mi", "cmi")
        series = [
            Series(label, role, _spread(here), errors.mean(axis=0)[list(here)].tolist())
            for (label, here), role in zip(places.items(), roles, strict=True)
            if len(here)
        ]
        title = f"Model {model.roman}"
        panels.append(Panel(title, "points", series, "number of columns", "mean absolute error"))
    caption = (
        "Error of predicting the target by five nearest neighbours, on 30 % of the samples, from "
        "each of the 1023 sets of columns; mean over the runs. Sets of equal size are spread "
        "sideways. Marked are the sets that each criterion selects the most often, if any: panels "
        "M to O of the paper's rates figure."
    )
    return Figure("friedman-neighbours", "Prediction from every set", caption, panels)


def _most_frequent(model: Model, settings: str) -> list[int]:
    """Return where the set that most runs selected stands, or nothing if that is the empty one."""
    counts = Counter(tuple(sorted(selected)) for selected in model.selected(settings))
    names = max(sorted(counts), key=lambda found: counts[found], default=())
    return [model.place_of(names)] if names else []


def _spread(places: Sequence[int]) -> list[float]:
    """Return the number of columns of each set, moved a little by a rule of its own.

    Multiples of the golden ratio fill an interval evenly.
    """
    return [
        (place + 1).bit_count() + 0.6 * ((place + 1) * 0.618034 % 1.0 - 0.5) for place in places
    ]


ESTIMATORS_SHOWN = {"ksg": "KSG", "count": "bins of equal counts", "width": "bins of equal width"}


def _information(models: Sequence[Model]) -> Figure:
    def series(model: Model, estimator: str, what: Role, label: str) -> Series:
        bits = model.bits(estimator, what, model.relevant)
        lines = model.bits(estimator, f"{what} line", model.relevant)
        return mean_series(label, what, model.relevant, bits.tolist(), lines.tolist())

    panels = [
        Panel(
            f"Model {model.roman}, {title}",
            "bars",
            (
                series(model, estimator, "mi", "MI"),
                series(model, estimator, "cmi", "CMI given the rest"),
            ),
            y_label="bit",
        )
        for estimator, title in ESTIMATORS_SHOWN.items()
        for model in models
        if len(model.bits("ksg", "mi", model.relevant))
    ]
    caption = (
        "What each input tells about the target alone, and given the other inputs: by KSG (k = 4), "
        "and by plug-in estimates on five bins a column. Mean, standard error and mean threshold "
        "(dashed; 200 permutations, level 0.05, each term by itself): panels A to C of the paper's "
        "information figure. On bins the given inputs have 625 states (model I) or 125 for 1,000 "
        "samples: such a CMI is large for permuted data, too."
    )
    return Figure("friedman-information", "Information of single inputs", caption, panels)


def _atoms(models: Sequence[Model]) -> Figure:
    kinds: tuple[tuple[Role, str], ...] = (
        ("unique1", "unique to the input"),
        ("unique2", "unique to the rest"),
        ("shared", "shared"),
        ("synergy", "synergy"),
    )
    panels = [
        Panel(
            f"Model {model.roman}, {ESTIMATORS_SHOWN[binning]}",
            "stacked",
            [
                mean_series(
                    label, atom, model.relevant, model.bits(binning, atom, model.relevant).tolist()
                )
                for atom, label in kinds
            ],
            y_label="bit",
        )
        for binning in BINNINGS
        for model in models
        if len(model.bits(binning, "shared", model.relevant))
    ]
    caption = (
        "What each input and the rest of the inputs tell about the target, decomposed by BROJA on "
        "five bins of each column; mean and standard error: panels D to F of the paper's "
        "information figure. Synergy has the bias of the CMI on bins."
    )
    return Figure("friedman-atoms", "Atoms of each input and the rest", caption, panels)
