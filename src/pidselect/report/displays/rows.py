"""What displays with one row for each feature share: names, notes, and how many are left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pidselect.report.displays.base import LABEL_SIZE, QUIET, around, as_text, inches
from pidselect.report.displays.wording import width
from pidselect.report.style import SETTINGS

#: So many rows are drawn if nothing else is asked for.
MAX_FEATURES = 30

#: Height of a row, of what lies around all of them, and what a line of names needs; in inches.
ROW, AROUND, LINE_HEIGHT = 0.215, 1.05, 0.125


def check_max_features(max_features: object) -> None:
    """Raise a ValueError unless it is a number of rows."""
    if isinstance(max_features, bool) or not isinstance(max_features, int) or max_features < 1:
        raise ValueError(
            f"max_features={max_features!r}: it is the number of rows, a whole one from 1 on."
        )


def height(n_rows: int) -> float:
    """Return how high a figure of so many rows is, in inches."""
    return AROUND + ROW * max(2, n_rows)


def name_rows(ax: Axes, names: Sequence[str], notes: Sequence[str], more: str) -> None:
    """Write names to the left of rows, notes to their right, and a last line for what is left out.

    Where rows are too low for their names, only some are named.
    """
    n_rows = len(names) + bool(more)
    ax.set_ylim(n_rows - 0.4, -0.6)
    row = inches(ax)[1] / max(1, n_rows)
    every = max(1, math.ceil(LINE_HEIGHT / row - 1e-9)) if row < LINE_HEIGHT else 1
    ax.set_yticks(range(0, len(names), every), names[::every])
    ax.tick_params(axis="y", length=0, labelsize=LABEL_SIZE)
    ax.tick_params(axis="x", length=2.5, labelsize=LABEL_SIZE)
    as_text(*ax.get_yticklabels())
    ax.set_axisbelow(True)
    ax.grid(axis="x", color=SETTINGS["grid.color"], linewidth=SETTINGS["grid.linewidth"])
    quiet: dict[str, Any] = {
        "transform": ax.get_yaxis_transform(),
        "va": "center_baseline",
        "alpha": QUIET,
        "clip_on": False,
    }
    for place in range(0, len(notes), every):
        ax.text(1.02, place, notes[place], color=around(ax), **quiet)
    if more:
        ax.text(0.01, len(names), more, **quiet)


def explain_above(ax: Axes, handles: Sequence[Line2D | Patch]) -> None:
    """Write a legend above the axes, in as many columns as have room."""
    words = [str(handle.get_label()) for handle in handles]
    ax.legend(
        handles=list(handles),
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=_columns(words, inches(ax)[0]),
        labelcolor=around(ax),
        borderaxespad=0.2,
        columnspacing=1.4,
        handletextpad=0.5,
    )


def _columns(words: Sequence[str], room: float) -> int:
    """Return in how many columns a legend fits; its entries go down one column after the other.

    Examples
    --------
    >>> _columns(["unique", "shared", "synergy"], 5.0), _columns(["a long explanation"] * 3, 3.5)
    (3, 2)
    """
    for columns in range(len(words), 1, -1):
        n_lines, longer = divmod(len(words), columns)
        sizes = [n_lines + (place < longer) for place in range(columns)]
        starts = [sum(sizes[:place]) for place in range(columns)]
        blocks = [words[at : at + size] for at, size in zip(starts, sizes, strict=True)]
        if sum(0.8 * max(map(width, block)) + 0.45 for block in blocks if block) <= room:
            return columns
    return 1
