"""Draws one panel into axes of matplotlib: one function for each kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from pidselect.report.style import INK, LOOKS, Look
from reproduction.figures import Panel, PanelKind, Series

#: More points than the first are a cloud; clouds in a panel of more points than the second become
#: a picture within the SVG, which is smaller.
FEW_POINTS, MANY_POINTS = 50, 300

#: Below this a value is an error of rounding, and drawn as zero.
TINY = 1e-9


# ------------------------------------------------------------------------ one kind of panel each


def _draw_bars(axes: Axes, panel: Panel) -> None:
    categories = categories_of(panel)
    # Series that share no category need no room for each other.
    shared = len(categories) < sum(len(series.x) for series in panel.series)
    slots = len(panel.series) if shared else 1
    width = 0.82 / max(1, slots)
    for position, series in enumerate(panel.series):
        shift = (position - (slots - 1) / 2) * width if shared else 0.0
        x = np.array([categories.index(str(name)) + shift for name in series.x])
        _draw_blocks(axes, series, x, np.zeros(len(x)), width)
    _name_categories(axes, categories, [value for series in panel.series for value in series.y])


def _draw_stacked(axes: Axes, panel: Panel) -> None:
    categories = categories_of(panel)
    above, below = np.zeros(len(categories)), np.zeros(len(categories))
    for series in panel.series:
        x = np.array([categories.index(str(name)) for name in series.x], dtype=int)
        y = np.nan_to_num(_numbers(series.y))
        _draw_blocks(axes, series, x.astype(float), np.where(y < 0, below[x], above[x]), 0.7)
        above[x] += np.maximum(y, 0.0)
        below[x] += np.minimum(y, 0.0)
    _name_categories(axes, categories, [*above, *below])


def _draw_blocks(
    axes: Axes, series: Series, x: NDArray[Any], floor: NDArray[Any], width: float
) -> None:
    y, look = _numbers(series.y), LOOKS[series.role]
    known = np.isfinite(y)
    axes.bar(
        x[known],
        y[known],
        0.94 * width,
        bottom=floor[known],
        color=look.colour,
        hatch=look.hatch,
        edgecolor="white",
        linewidth=0.3,
    )
    _draw_errors(axes, series, x, floor + y)
    if series.threshold is not None:
        line, half = _numbers(series.threshold), 0.54 * width
        _draw_strokes(axes, (x - half, line), (x + half, line), color=INK, lw=1.1, dashes=(2, 1))


def _draw_lines(axes: Axes, panel: Panel) -> None:
    for series in panel.series:
        x, y, look = _numbers(series.x), _numbers(series.y), LOOKS[series.role]
        _draw_errors(axes, series, x, y, look.colour)
        marks: dict[str, Any] = {
            "marker": look.marker,
            "ms": 3.2,
            "mew": 0.0,
            "markevery": 1 + len(x) // 30,
        }
        axes.plot(x, y, lw=1.3, **marks, **stroke(look))
        if series.threshold is not None:
            dark = _darker(look.colour)
            axes.plot(x, _numbers(series.threshold), lw=0.9, color=dark, dashes=(2.0, 1.6))
    _scale_numbers(axes, panel)


def _draw_points(axes: Axes, panel: Panel) -> None:
    many = sum(len(series.x) for series in panel.series) > MANY_POINTS
    for position, series in enumerate(panel.series):
        x, y, look = _numbers(series.x), _numbers(series.y), LOOKS[series.role]
        known, cloud = np.isfinite(x) & np.isfinite(y), len(x) > FEW_POINTS
        _draw_errors(axes, series, x, y, look.colour)
        axes.scatter(
            x[known],
            y[known],
            s=(2.4 + 0.6 * position + (0.0 if cloud or not position else 1.8)) ** 2,
            marker=look.marker,
            color=look.colour,
            alpha=0.5 if cloud and many else 0.9,
            edgecolors="none" if cloud else INK,
            linewidths=0.4,
            zorder=2.0 + 0.01 * position,
            rasterized=cloud and many,
        )
        if series.threshold is not None:
            line = _numbers(series.threshold)
            axes.plot(x, line, linestyle="none", marker="_", ms=5.0, color=INK)


def _draw_lattice(axes: Axes, panel: Panel) -> None:
    """Draw antichains as boxes: dotted if never covered, with a number if more than once."""
    for low, high in panel.edges:
        ends = panel.nodes[low], panel.nodes[high]
        x, level = [node.x for node in ends], [node.level for node in ends]
        axes.plot(x, level, color="#B8B8B8", lw=0.7, zorder=1)
    for node in panel.nodes:
        covered = node.count > 0
        look = LOOKS[node.role]
        box = {
            "boxstyle": "round,pad=0.3",
            "facecolor": _paler(look.colour) if covered else "white",
            "edgecolor": _darker(look.colour) if covered else "#8C8C8C",
            "linewidth": 1.6 if node.count > 1 else 0.8,
            "linestyle": "solid" if covered else "dotted",
        }
        text = f"{node.label} ×{node.count}" if node.count > 1 else node.label
        ink = INK if covered else "#6B6B6B"
        axes.text(
            node.x, node.level, text, fontsize=6.6, color=ink, bbox=box, ha="center", va="center"
        )
    axes.plot([node.x for node in panel.nodes], [node.level for node in panel.nodes], alpha=0.0)
    axes.margins(0.16, 0.06)
    axes.axis("off")


KINDS: Mapping[PanelKind, Callable[[Axes, Panel], None]] = {
    "bars": _draw_bars,
    "stacked": _draw_stacked,
    "lines": _draw_lines,
    "points": _draw_points,
    "lattice": _draw_lattice,
}


# ------------------------------------------------------------------------------- parts of a panel


def _numbers(values: Sequence[Any]) -> NDArray[Any]:
    """Return floats; what is missing is NaN, and leaves a gap."""
    return np.array([math.nan if value is None else value for value in values], dtype=float)


def categories_of(panel: Panel) -> list[str]:
    """Return the names along the x axis, in the order in which they first come up."""
    return list(dict.fromkeys(str(name) for series in panel.series for name in series.x))


def _draw_errors(
    axes: Axes, series: Series, x: NDArray[Any], y: NDArray[Any], colour: str = INK
) -> None:
    if series.error is not None:
        error = _numbers(series.error)
        _draw_strokes(axes, (x, y - error), (x, y + error), color=colour, lw=0.9)


def _draw_strokes(
    axes: Axes,
    start: tuple[NDArray[Any], NDArray[Any]],
    end: tuple[NDArray[Any], NDArray[Any]],
    **style: Any,
) -> None:
    """Draw many strokes as one line with gaps, which takes far fewer bytes."""
    gap = np.full(len(start[0]), math.nan)
    x, y = (np.stack([*ends, gap], axis=1).ravel() for ends in zip(start, end, strict=True))
    axes.plot(x, y, zorder=2.5, solid_capstyle="butt", **style)


def _name_categories(axes: Axes, names: list[str], values: Sequence[float]) -> None:
    """Write the names below their bars, and let the bars stand on zero."""
    axes.set_xlim(-0.6, max(len(names), 1) - 0.4)
    axes.set_xticks(range(len(names)), names)
    axes.tick_params(axis="x", length=0)
    axes.grid(axis="y", clip_on=False)
    axes.use_sticky_edges = False  # a block of no height would hold the top of the axes down
    axes.autoscale_view(scalex=False)
    seen = _numbers(values)
    seen = seen[np.isfinite(seen)]
    if np.all(seen == np.round(seen)):
        axes.locator_params(axis="y", integer=True)
    if np.any(seen < -TINY):
        axes.axhline(0.0, color=INK, lw=0.6)
        axes.spines["bottom"].set_visible(False)
    else:
        axes.set_ylim(0.0, axes.get_ylim()[1] if np.any(seen > TINY) else 1.0)


def _scale_numbers(axes: Axes, panel: Panel) -> None:
    """Take a logarithmic axis where the numbers along it are of very different size."""
    axes.grid(axis="y")
    low, high = axes.dataLim.intervaly
    if low == high > 0:
        axes.set_ylim(0.0, 1.1 * high)
    x = sorted({float(value) for series in panel.series for value in series.x})
    if len(x) > 1 and x[0] > 0 and x[-1] >= 50 * x[0]:
        axes.set_xscale("log")
        axes.set_xticks(x, [f"{value:,g}" for value in x])
        axes.set_xticks([], minor=True)


def stroke(look: Look) -> dict[str, Any]:
    """Return colour and dashes as lines and their legend take them."""
    dashes = {"dashes": look.dashes} if look.dashes else {}
    return {"color": look.colour, **dashes}


def _darker(colour: str) -> tuple[float, ...]:
    return tuple(0.6 * part for part in to_rgb(colour))


def _paler(colour: str) -> tuple[float, ...]:
    return tuple(0.4 * part + 0.6 for part in to_rgb(colour))
