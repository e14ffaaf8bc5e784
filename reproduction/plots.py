"""Draws a figure as SVG or PNG; only this, `panels` and `displays` know matplotlib.

Everything is drawn into matplotlib's own objects, without pyplot: no window, no current figure, and
the same numbers give the same file again.
"""

from __future__ import annotations

import io
import math
import textwrap
import zlib
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pidselect.report.style import CLOUD_DPI, INK, LETTER, LOOKS, SETTINGS, SHARED_STYLES
from pidselect.report.svg import tidy
from reproduction.figures import Figure, Panel, PanelKind, Role
from reproduction.panels import KINDS, categories_of, stroke

#: What the dashed lines are called in a legend.
THRESHOLD = "significant above"

#: Width of a whole figure, in inches.
MAX_WIDTH = 10.4


# ------------------------------------------------------------------------------- the way in


def draw(figure: Figure, *, salt: str = "") -> str:
    """Return the figure as one SVG element that needs nothing else.

    Parameters
    ----------
    figure : Figure
    salt : str
        Makes the ids inside differ from those of other figures on the same page.
    """
    with matplotlib.rc_context({**SETTINGS, "svg.hashsalt": f"{salt} {figure.name}"}):
        written = io.StringIO()
        _compose(figure).savefig(written, format="svg", dpi=CLOUD_DPI, metadata={"Date": None})
    prefix = f"f{zlib.crc32(f'{salt} {figure.name}'.encode()):08x}"
    return tidy(written.getvalue(), describe(figure), prefix, SHARED_STYLES)


def save(figure: Figure, path: str | Path) -> None:
    """Write the figure as .svg or .png, by the suffix of the path."""
    path = Path(path)
    if path.suffix == ".svg":
        path.write_text(draw(figure), encoding="utf-8")
    elif path.suffix == ".png":
        with matplotlib.rc_context(SETTINGS):
            _compose(figure).savefig(path, format="png", dpi=150)
    else:
        raise ValueError(
            f"a figure is written as .svg or .png, not as {path.suffix!r} ({path.name})"
        )


def describe(figure: Figure) -> str:
    """Return what a reader who cannot see the figure is told.

    Examples
    --------
    >>> describe(Figure("demo", "Terms", "MI of each.", (Panel("KSG", "bars"),)))
    'Terms. MI of each. 1 panel: KSG.'
    """
    titles = [panel.title for panel in figure.panels]
    number = "1 panel" if len(titles) == 1 else f"{len(titles)} panels"
    named = [
        f"{letter} {title}" if len(titles) > 1 else title
        for letter, title in zip(letters(len(titles)), titles, strict=True)
    ]
    contents = f"{number}: {'; '.join(named)}" if titles else number
    sentences = (text.rstrip(". ") for text in (figure.title, figure.caption, contents))
    return " ".join(f"{text}." for text in sentences if text)


def letters(number: int) -> list[str]:
    """Return the names of panels: A to Z, then AA, AB and so on.

    Examples
    --------
    >>> letters(28)[-3:]
    ['Z', 'AA', 'AB']
    """
    alphabet = [chr(ord("A") + place) for place in range(26)]
    first = ["", *alphabet]
    return [first[place // 26] + alphabet[place % 26] for place in range(number)]


# -------------------------------------------------------------------------------------- legends

#: Label, role, and the kind of panel; a threshold has no role.
_Entry = tuple[str, Role | None, PanelKind]


class _Legend(NamedTuple):
    """What is explained below panels that stand side by side: from which on, and how many."""

    column: int
    span: int
    entries: list[_Entry]


def _entries(panel: Panel) -> list[_Entry]:
    """Return what the legend of a panel explains: nothing, where its title says it already."""
    if panel.kind == "lattice":
        return []
    labels = [series.label for series in panel.series]
    named: list[_Entry] = [
        (series.label, series.role, panel.kind)
        for series in panel.series
        if series.label and labels != [panel.title]
    ]
    if any(series.threshold is not None for series in panel.series):
        named.append((THRESHOLD, None, panel.kind))
    return list(dict.fromkeys(named))


def _handle(entry: _Entry) -> Artist:
    label, role, kind = entry
    if role is None:
        return Line2D([], [], label=label, color=INK, lw=1.1, dashes=(2.0, 1.4))
    look = LOOKS[role]
    if kind in ("bars", "stacked"):
        return Patch(facecolor=look.colour, hatch=look.hatch, edgecolor="white", label=label)
    if kind == "points":
        style: dict[str, Any] = {"linestyle": "none", "color": look.colour}
    else:
        style = {"lw": 1.3, **stroke(look)}
    return Line2D([], [], label=label, marker=look.marker, ms=4.5, mew=0.0, **style)


def _columns_of_legend(entries: Sequence[_Entry], width: float) -> int:
    widest = max(len(label) for label, _, _ in entries) * LETTER + 0.5
    most = max(1, int(width / widest))
    return math.ceil(len(entries) / math.ceil(len(entries) / most))  # lines of equal length


# -------------------------------------------------------------------------- a figure of panels


def _compose(figure: Figure) -> Canvas:
    """Lay the panels out in rows, with legends between them."""
    columns, width = _columns(figure)
    starts = range(0, len(figure.panels), columns)
    rows = [list(figure.panels[start : start + columns]) for start in starts]
    legends = _legends(rows, columns)
    # Of each row: what lies around its axes, the axes, and the legends below.
    around = [max(_height_around(panel, width) for panel in row) for row in rows]
    axes = [3.4 if _has_lattice(row) else min(max(0.5 * width, 1.45), 2.0) for row in rows]
    below_axes = [_height_below(below, width) for below in legends]
    canvas = Canvas(figsize=(columns * width, sum(around) + sum(axes) + sum(below_axes) + 0.05))
    canvas.set_layout_engine("constrained", w_pad=0.09, h_pad=0.05, hspace=0.0)
    if not rows:
        return canvas
    ratios = [max(height, 1e-3) for pair in zip(axes, below_axes, strict=True) for height in pair]
    grid = canvas.add_gridspec(2 * len(rows), columns, height_ratios=ratios)
    names = iter(letters(len(figure.panels)) if len(figure.panels) > 1 else [""])
    for place, row in enumerate(rows):
        for column, panel in enumerate(row):
            _draw_panel(canvas.add_subplot(grid[2 * place, column]), panel, next(names), width)
        for column, span, entries in legends[place]:
            where = grid[2 * place + 1, column : column + span]
            _write_legend(canvas.add_subplot(where), entries, width * span)
    return canvas


def _legends(rows: Sequence[Sequence[Panel]], columns: int) -> list[list[_Legend]]:
    """Return the legends below each row; what stands for rows above as well is in the middle."""
    legends = [list(_legends_of_row(row)) for row in rows]
    for above, below in pairwise(legends):
        alike = {_meaning(legend.entries) for legend in (*above, *below)}
        if len(above) == len(below) == len(alike) == 1:
            above.clear()
            below[0] = _Legend(0, columns, below[0].entries)
    return legends


def _legends_of_row(row: Sequence[Panel]) -> Iterator[_Legend]:
    """Yield one legend for neighbours that need the same, and for all if none needs another."""
    own = [_entries(panel) for panel in row]
    different = {_meaning(entries): entries for entries in own if entries}
    if len(different) == 1:
        own = list(different.values()) * len(row)
    for _, group in groupby(enumerate(own), lambda place: _meaning(place[1])):
        alike = list(group)
        column, entries = alike[0]
        if entries:
            yield _Legend(column, len(alike), entries)


def _meaning(entries: Sequence[_Entry]) -> tuple[tuple[str, Role | None], ...]:
    """Return what a legend tells, be it of bars or of lines."""
    return tuple((label, role) for label, role, _ in entries)


def _height_below(legends: Sequence[_Legend], width: float) -> float:
    """Return how high the legends below a row of panels are, each panel of a width."""
    lines = [
        len(entries) / _columns_of_legend(entries, width * span) for _, span, entries in legends
    ]
    return 0.19 * math.ceil(max(lines)) + 0.06 if lines else 0.0


def _write_legend(axes: Axes, entries: Sequence[_Entry], width: float) -> None:
    axes.axis("off")
    legend = axes.legend(
        handles=[_handle(entry) for entry in entries],
        ncols=_columns_of_legend(entries, width),
        handlelength=2.93,  # so that it ends with a whole dash
        columnspacing=1.2,
        loc="upper center",
        borderaxespad=0.0,
    )
    legend.set_in_layout(False)  # its room is there already; panels need not make more


def _draw_panel(axes: Axes, panel: Panel, letter: str, width: float) -> None:
    title = _wrap(panel.title, width - 0.5, 1.12)
    axes.set_title(title)
    if letter:
        above = 5.0 + 10.8 * title.count("\n")
        axes.annotate(
            letter,
            (0.0, 1.0),
            (-8.0, above),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="right",
            fontsize=10.5,
            fontweight="bold",
        )
    if not panel.series and not panel.nodes:
        axes.text(0.5, 0.5, "nothing to show", ha="center", transform=axes.transAxes)
        axes.set_xticks([])
        axes.set_yticks([])
        return
    for mark in panel.marks:
        axes.axvline(mark, color="#8C8C8C", lw=0.8, linestyle=(0, (1.0, 1.5)), zorder=1)
    KINDS[panel.kind](axes, panel)
    if panel.kind in ("bars", "stacked"):
        _turn_names(axes, categories_of(panel), width)
    if panel.top is not None:
        axes.set_ylim(top=max(axes.get_ylim()[1], 1.05 * panel.top))
    axes.set_xlabel(_wrap(panel.x_label, width - 0.5))
    axes.set_ylabel(_wrap(panel.y_label, 2.0))


def _columns(figure: Figure) -> tuple[int, float]:
    """Return how many panels stand side by side, fewer where bars would be too thin, and how wide.

    Examples
    --------
    >>> _columns(Figure("demo", "Demo", "", (Panel("One", "lines"),)))
    (1, 5.2)
    """
    needed = max((_width(panel) for panel in figure.panels), default=1.0)
    most = max(1, int(MAX_WIDTH / needed))
    columns = max(1, min(figure.n_columns, len(figure.panels), most))
    return columns, min(MAX_WIDTH / columns, max(needed, {1: 5.2, 2: 4.4}.get(columns, 3.45)))


def _width(panel: Panel) -> float:
    if panel.kind == "lattice":
        return 3.4
    if panel.kind in ("bars", "stacked"):
        side_by_side = len(panel.series) if panel.kind == "bars" else 1
        return max(2.5, 0.9 + len(categories_of(panel)) * (0.07 * side_by_side + 0.06))
    return 2.5


def _height_around(panel: Panel, width: float) -> float:
    """Return how much room title, names and labels of a panel take."""
    title = 0.16 * (1 + _wrap(panel.title, width - 0.5, 1.12).count("\n"))
    if panel.kind == "lattice":
        return 0.3 + title
    label = 0.17 * (1 + _wrap(panel.x_label, width - 0.5).count("\n")) if panel.x_label else 0.0
    names = 0.0
    if panel.kind in ("bars", "stacked"):
        shown, slope = _fit_names(categories_of(panel), width)
        longest = max((len(line) for name in shown for line in name.split("\n")), default=0)
        deep = max((name.count("\n") for name in shown), default=0)
        names = longest * LETTER * math.sin(math.radians(slope)) + 0.14 * deep
    return 0.45 + title + label + names


def _has_lattice(row: Sequence[Panel]) -> bool:
    return any(panel.kind == "lattice" for panel in row)


def _fit_names(names: list[str], width: float) -> tuple[list[str], int]:
    """Return the names of categories, broken if that helps, and by how many degrees to turn them.

    Examples
    --------
    >>> _fit_names(["X1", "given X2"], 2.5), _fit_names(["a long name"] * 9, 2.5)[1]
    ((['X1', 'given X2'], 0), 90)
    """
    slot = (width - 0.8) / max(1, len(names))
    broken = [_wrap(name, slot) for name in names]
    lines = [line for name in broken for line in name.split("\n")]
    fits = max((len(line) for line in lines), default=0) * LETTER <= slot
    if fits and all(name.count("\n") < 3 for name in broken):
        return broken, 0
    shortened = [_wrap(name, 2.2) for name in names]
    return shortened, 40 if slot > 0.36 else 90


def _turn_names(axes: Axes, names: list[str], width: float) -> None:
    shown, slope = _fit_names(names, width)
    axes.set_xticks(range(len(names)), shown)
    if slope:
        place = {"rotation": slope, "rotation_mode": "anchor", "ha": "right"}
        va = "center" if slope == 90 else "top"
        for label in axes.get_xticklabels():
            label.set(va=va, **place)


def _wrap(text: str, width: float, size: float = 1.0) -> str:
    """Break a text into lines of a width in inches; words stay whole."""
    letters_a_line = max(4, int(width / (LETTER * size)))
    return "\n".join(textwrap.wrap(text, letters_a_line, break_long_words=False)) or text
