"""The plot of growth.py, drawn from the numbers it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

#: Colours that the colour-blind tell apart (Okabe and Ito), and markers for print in grey.
LOOKS = {
    "ksg": ("#0072B2", "o"),
    "mixed": ("#CC79A7", "D"),
    "discrete": ("#009E73", "^"),
    "copula": ("#D55E00", "s"),
    "labels": ("#E69F00", "v"),
}
NAMES = {"labels": "half labels, defaults"}
LINES = {"selection": "-", "step": (0, (2, 1.5))}
LABELS = {"selection": "whole selection", "step": "one step"}
TEXT, GRID = "#333333", "#DDDDDD"

#: Less memory than this cannot be told from what the interpreter does by itself, in 10^6 bytes.
LEAST_MB = 1.0

Row = dict[str, Any]


def draw(record: dict[str, Any]) -> Figure:
    """Return the figure: time above memory, over samples and over columns."""
    rows: list[Row] = record["results"]["cells"]
    panels = panels_of(rows)
    with matplotlib.rc_context({"font.size": 11, "text.color": TEXT, "axes.labelcolor": TEXT}):
        figure = Figure(figsize=(4.4 * len(panels), 7), dpi=72, layout="constrained")
        grid = figure.subplots(2, len(panels), sharex="col", sharey="row")
        for column, (axis, title, along) in enumerate(panels):
            for line, quantity in enumerate(("seconds", "peak_mb")):
                draw_panel(grid[line, column], along, axis, quantity)
            grid[0, column].set_title(title, color=TEXT)
            grid[1, column].set_xlabel(f"number of {axis}")
        grid[0, 0].set_ylabel("seconds, one thread")
        grid[1, 0].set_ylabel("memory beside the data, MB")
        figure.legend(
            handles=legend({row["estimator"] for row in rows}),
            loc="outside lower center",
            ncols=7,
            frameon=False,
        )
    return figure


def panels_of(rows: Sequence[Row]) -> list[tuple[str, str, list[Row]]]:
    """Return axis, title and rows of every panel.

    The first is over samples, with the fewest columns; the others are over columns, one for each
    number of samples that was measured with several.
    """
    fewest = min(row["columns"] for row in rows)
    few_columns = [row for row in rows if row["columns"] == fewest]
    panels = [("samples", f"{fewest:,} columns", few_columns)]
    for n_samples in sorted({row["samples"] for row in rows}, reverse=True):
        along = [row for row in rows if row["samples"] == n_samples]
        if len({row["columns"] for row in along}) > 1:
            panels.append(("columns", f"{n_samples:,} samples", along))
    return panels


def draw_panel(axes: Axes, rows: Sequence[Row], axis: str, quantity: str) -> None:
    """Draw one quantity over one axis, a line for each estimator and part."""
    for estimator, (colour, marker) in LOOKS.items():
        for part, style in LINES.items():
            points = sorted(
                (row[axis], max(row[quantity], LEAST_MB if quantity == "peak_mb" else 0.0))
                for row in rows
                if (row["estimator"], row["part"]) == (estimator, part) and quantity in row
            )
            if points:
                axes.plot(
                    *zip(*points, strict=True),
                    color=colour,
                    marker=marker,
                    linestyle=style,
                    markersize=6 if part == "selection" else 4,
                    markerfacecolor=colour if part == "selection" else "white",
                )
    axes.set(xscale="log", yscale="log")
    sizes = sorted({row[axis] for row in rows})
    axes.set_xticks(sizes, labels=[f"{size:,}" for size in sizes], minor=False)
    axes.set_xticks([], minor=True)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=TEXT, which="both")
    axes.spines[["top", "right"]].set_visible(False)


def legend(estimators: set[str]) -> list[Line2D]:
    """Return a key for each estimator, then for each part."""
    keys = [
        Line2D([], [], color=colour, marker=marker, label=NAMES.get(estimator, estimator))
        for estimator, (colour, marker) in LOOKS.items()
        if estimator in estimators
    ]
    return keys + [
        Line2D(
            [],
            [],
            color=TEXT,
            linestyle=style,
            marker="o",
            markersize=6 if part == "selection" else 4,
            markerfacecolor=TEXT if part == "selection" else "white",
            label=LABELS[part],
        )
        for part, style in LINES.items()
    ]
