"""The plot of synergy.py: how often two loci are found, drawn from the numbers it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

#: Colours that the colour-blind tell apart (Okabe and Ito), and markers for print in grey, by the
#: place of a number of samples.
LOOKS = (("#D55E00", "^"), ("#E69F00", "s"), ("#0072B2", "o"))
LINES = {"default": "-", "multisurf": (0, (4, 2)), "boruta": (0, (1, 1.5)), "forest": "-."}
NAMES = {"default": "pidselect, defaults", "multisurf": "MultiSURF", "boruta": "Boruta"}
TEXT, GRID = "#333333", "#DDDDDD"

Row = dict[str, Any]


def draw(rows: Sequence[Row]) -> Figure:
    """Return the figure: a panel for each allele frequency (down) and number of columns (across).

    Each panel shows the share of exact selections over the heritability.
    """
    rows = [row for row in rows if row["runs"] and row["method"] in LINES]
    alleles, columns, samples = (
        sorted({row[key] for row in rows}) for key in ("minor_allele", "columns", "samples")
    )
    looks = dict(zip(samples, LOOKS, strict=False))
    shape = len(alleles), len(columns)
    with matplotlib.rc_context({"font.size": 11, "text.color": TEXT, "axes.labelcolor": TEXT}):
        size = 1 + 3.2 * shape[1], 1.2 + 2.5 * shape[0]
        figure = Figure(figsize=size, dpi=90, layout="constrained")
        grid = figure.subplots(*shape, sharex=True, sharey=True, squeeze=False)
        for line, allele in enumerate(alleles):
            for place, n_columns in enumerate(columns):
                wanted = allele, n_columns
                own = [row for row in rows if (row["minor_allele"], row["columns"]) == wanted]
                draw_panel(grid[line, place], own, looks)
                grid[0, place].set_title(f"2 of {n_columns:,} loci", color=TEXT)
                grid[-1, place].set_xlabel("heritability")
            grid[line, 0].set_ylabel(f"minor allele {allele:g}\nexactly the pair, %")
        methods = [method for method in LINES if any(row["method"] == method for row in rows)]
        keys = legend(looks, methods)
        figure.legend(handles=keys, loc="outside lower center", ncols=len(keys), frameon=False)
    return figure


def draw_panel(axes: Axes, rows: Sequence[Row], looks: dict[int, tuple[str, str]]) -> None:
    """Draw a line for each number of samples and method, ours with 95 % intervals."""
    for n_samples, (colour, marker) in looks.items():
        for method, style in LINES.items():
            points = sorted(
                (row["heritability"], row["percent"], row["low"], row["high"])
                for row in rows
                if (row["samples"], row["method"]) == (n_samples, method)
            )
            if not points:
                continue
            x, percent, low, high = zip(*points, strict=True)
            is_ours = method == "default"
            axes.plot(
                *(x, percent),
                color=colour,
                linestyle=style,
                marker=marker,
                markersize=6 if is_ours else 4,
                markerfacecolor=colour if is_ours else "white",
                linewidth=1.8 if is_ours else 1.2,
            )
            if is_ours:
                axes.vlines(x, low, high, color=colour, linewidth=1, alpha=0.6)
    axes.set(xscale="log", ylim=(-4, 104))
    shares = sorted({row["heritability"] for row in rows})
    axes.set_xticks(shares, labels=[f"{share:g}" for share in shares])
    axes.set_xticks([], minor=True)
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=TEXT, which="both")
    axes.spines[["top", "right"]].set_visible(False)


def legend(looks: dict[int, tuple[str, str]], methods: Sequence[str]) -> list[Line2D]:
    """Return a key for each number of samples, then for each method if there are several."""
    keys = [
        Line2D([], [], color=colour, marker=marker, label=f"{n_samples:,} samples")
        for n_samples, (colour, marker) in looks.items()
    ]
    if len(methods) > 1:
        keys += [
            Line2D([], [], color=TEXT, linestyle=LINES[method], label=NAMES.get(method, method))
            for method in methods
        ]
    return keys
