"""The pictures of the comparison, drawn from the stored numbers: a line for each method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from tables import COMPARED, EVERY_CASE, OURS

#: Methods from above, by their names in the results.
NAMES = {name: title.replace("`", "") for name, title in COMPARED.items()}

#: Colours that the colour-blind tell apart (Okabe and Ito), and markers for print in grey.
LOOKS = (("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"))
TEXT, GRID, BAND = "#333333", "#DDDDDD", "#F1F5F9"

SORTS = ("continuous", "half labels", "two classes")  # of null tables, in their order


@dataclass(frozen=True)
class Series:
    """One mean of every method."""

    task: str
    measure: str
    case: str = EVERY_CASE
    label: str = ""
    scale: float = 1.0

    def points(self, rows: Sequence[dict[str, Any]]) -> dict[str, tuple[float, float]]:
        """Return mean and standard error (0 if not known) by method."""
        return {
            row["method"]: (
                self.scale * row[self.measure]["mean"],
                self.scale * (row[self.measure]["standard_error"] or 0.0),
            )
            for row in rows
            if (row["task"], row["case"]) == (self.task, self.case) and self.measure in row
        }


@dataclass(frozen=True)
class Panel:
    """Some series over one axis."""

    title: str
    series: tuple[Series, ...]
    line: float | None = None  # what is nominal, or no difference
    log: bool = False
    limits: tuple[float, float] | None = None
    from_zero: bool = False  # counts, of which few may be all zero


def pictures(titles: dict[str, list[str]]) -> dict[str, list[Panel]]:
    """Return the panels of every picture."""
    share = (-0.03, 1.03)
    percent = (-4.0, 104.0)

    def of(task: str, *measures: tuple[str, str]) -> list[Panel]:
        return [
            Panel(title, (Series(task, measure),), limits=share if measure != "false" else None)
            for measure, title in measures
        ]

    def found(task: str, cases: dict[str, str]) -> tuple[Series, ...]:
        return tuple(
            Series(task, "recall", case, label, scale=100.0) for case, label in cases.items()
        )

    sorts = {"numeric target": "numeric target", "two classes": "two classes"}
    return {
        "blankets": of("blankets", ("recall", "recall"), ("precision", "precision"), ("f1", "F1")),
        "synergy": of(
            "synergy", ("recall", "share found"), ("false", "false columns"), ("f1", "F1")
        ),
        "copies": [
            Panel("columns found, %", found("copies", sorts), limits=percent),
            *(
                Panel(
                    title,
                    tuple(Series("copies", name, case, case) for case in sorts),
                    from_zero=True,
                )
                for name, title in (("copies", "further copies"), ("probes", "probes, of 10"))
            ),
        ],
        "prediction": [
            Panel(
                title,
                tuple(Series("prediction", m, title, m) for m in ("forest", "linear")),
                line=0.0,
            )
            for title in titles["prediction"]
        ],
        "seconds": [
            Panel(
                title,
                tuple(Series("seconds", "cpu_seconds", case, case) for case in cases),
                log=True,
            )
            for title, cases in (
                ("CPU seconds, 300 rows", ("300 x 10", "300 x 40")),
                ("CPU seconds, 1,000 rows", ("1,000 x 10", "1,000 x 40")),
            )
        ],
        "null": [
            Panel(
                title,
                tuple(
                    Series("null", name, case, label, scale)
                    for case, label in zip(titles["null"], SORTS, strict=True)
                ),
                line=5.0 if name == "any" else None,
                limits=percent if name == "any" else None,
            )
            for name, title, scale in (
                ("any", "tables with any selected column, %", 100.0),
                ("columns", "selected columns, of 20", 1.0),
            )
        ],
    }


def draw_all(results: dict[str, Any], folder: Path) -> None:
    """Write every picture."""
    for name, panels in pictures(results["titles"]).items():
        path = folder / f"comparison_{name}.png"
        draw(results["rows"], panels).savefig(path)
        print(f"drawn to {path}")


def draw(rows: Sequence[dict[str, Any]], panels: Sequence[Panel]) -> Figure:
    """Return a figure: methods from above, a panel beside the other."""
    with matplotlib.rc_context({"font.size": 11, "text.color": TEXT, "axes.labelcolor": TEXT}):
        size = 2.0 + (2.5 if len(panels) > 3 else 3.0) * len(panels), 4.6
        figure = Figure(figsize=size, dpi=90, layout="constrained", facecolor="white")
        grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)
        for axes, panel in zip(grid[0], panels, strict=True):
            draw_panel(axes, rows, panel)
        labels = {tuple(series.label for series in panel.series) for panel in panels}
        if len(labels) == 1:
            keys = legend(panels[0])
            if keys:
                figure.legend(handles=keys, loc="outside lower center", ncols=3, frameon=False)
        else:
            for axes, panel in zip(grid[0], panels, strict=True):
                below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.1)}
                axes.legend(handles=legend(panel), frameon=False, **below)
    return figure


def draw_panel(axes: Axes, rows: Sequence[dict[str, Any]], panel: Panel) -> None:
    """Draw means with standard errors; several of a method above each other."""
    axes.axhspan(-0.5, len(OURS) - 0.5, color=BAND, zorder=0)
    if panel.line is not None:
        axes.axvline(panel.line, color="#888888", linewidth=1, zorder=1)
    n_series = len(panel.series)
    for number, (series, (colour, marker)) in enumerate(zip(panel.series, LOOKS, strict=False)):
        offset = 0.24 * (number - (n_series - 1) / 2)
        for method, (mean, error) in series.points(rows).items():
            if method in NAMES:
                place = [*NAMES].index(method) + offset
                axes.errorbar(
                    *(mean, place),
                    xerr=error or None,
                    color=colour,
                    marker=marker,
                    markersize=6,
                    elinewidth=1.4,
                    linestyle="none",
                )
    axes.set_title(panel.title, color=TEXT, fontsize=11)
    if panel.log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=panel.from_zero))
    if panel.limits is not None:
        axes.set_xlim(panel.limits)
    elif panel.from_zero:
        axes.set_xlim(-0.04 * max(1.0, axes.get_xlim()[1]), max(1.0, axes.get_xlim()[1]))
    axes.set_yticks(range(len(NAMES)), labels=[*NAMES.values()])
    for label in axes.get_yticklabels()[: len(OURS)]:
        label.set_fontweight("bold")
    axes.set_ylim(len(NAMES) - 0.5, -0.5)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=TEXT, which="both", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(GRID)


def legend(panel: Panel) -> list[Line2D]:
    """Return a key for each series, if there are several."""
    if len(panel.series) == 1:
        return []
    return [
        Line2D([], [], color=colour, marker=marker, linestyle="none", label=series.label)
        for series, (colour, marker) in zip(panel.series, LOOKS, strict=False)
    ]
