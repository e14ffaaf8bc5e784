"""Draws the path of a selection: columns of dots, null lines, and the names of the strongest."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from pidselect.report.displays.base import (
    GROUND,
    LABEL_SIZE,
    QUIET,
    around,
    as_text,
    inches,
    name_axes,
)
from pidselect.report.displays.placing import Room, Spot, boxes_around
from pidselect.report.displays.rows import explain_above
from pidselect.report.displays.wording import LONGEST, listed, width, written
from pidselect.report.style import INK, LETTER, LOOKS

if TYPE_CHECKING:
    from pidselect.report.displays.path import PathStep, SelectionPathDisplay

Numbers = NDArray[np.float64]

CHOSEN, LINE, OTHERS = LOOKS["first"].colour, LOOKS["second"].colour, LOOKS["plain"].colour
BAND = "#F3F3F3"

#: How far to both sides of a column's middle the candidates spread, and the null line.
SPREAD, HALF_LINE = 0.32, 0.42

#: More dots than these become a picture within an SVG, which is smaller.
MANY_DOTS = 800

#: Diamonds, in points, and the height of a line of names, in inches.
MARK, LINE_HEIGHT = 7.5, 0.135

#: A column narrower than this has its name below, turned upright; in inches.
UPRIGHT = 0.45

#: Of names below columns that are wider than that, in degrees.
SLOPE = 35

#: Said where it happens; each candidate counts by the test that speaks least for it.
TOPPED = "a dot above a diamond stands lower in another test of that step"

UNITS = {
    "bit": "information about the target, bits",
    "sd": "information about the target,\nstandard deviations above chance",
}


@dataclass(frozen=True)
class PathDrawing:
    """One drawing of a display into axes."""

    display: SelectionPathDisplay
    ax: Axes

    # ------------------------------------------------------------------------ where things are

    @property
    def steps(self) -> tuple[PathStep, ...]:
        """The columns."""
        return self.display.steps

    @cached_property
    def order(self) -> dict[str, int]:
        """Where a feature stands in every column: in the order in which features come up."""
        names = (name for step in self.steps for name in _singles(step))
        return {name: place for place, name in enumerate(dict.fromkeys(names))}

    @cached_property
    def edges(self) -> tuple[float, float]:
        """Where infinite scores are drawn, below and above all others."""
        known = [
            value
            for step in self.steps
            for value in (*step.scores, step.critical_value)
            if value is not None and np.isfinite(value)
        ] or [0.0, 1.0]
        low, high = min(known), max(known)
        room = 0.12 * ((high - low) or abs(high) or 1.0)
        return low - room, high + room

    @cached_property
    def infinite_edges(self) -> dict[str, float]:
        """The edges at which anything stands, by what they are called."""
        scores = {value for step in self.steps for value in (*step.scores, step.critical_value)}
        low, high = self.edges
        named = {"-inf": (-np.inf, low), "inf": (np.inf, high)}
        return {name: edge for name, (value, edge) in named.items() if value in scores}

    @cached_property
    def column(self) -> float:
        """How wide a column is, in inches."""
        return inches(self.ax)[0] / len(self.steps)

    @property
    def is_wide(self) -> bool:
        """Whether names have room beside their marks."""
        return max(width(written(step.chosen)) for step in self.steps) + 0.08 <= self.column

    def x_of(self, place: int) -> Numbers:
        """Return where the candidates of a step are."""
        step = self.steps[place]
        if _singles(step) == step.candidates:
            where = np.array([self.order[name] for name in step.candidates], dtype=float)
            n_places = len(self.order)
        else:
            where, n_places = np.arange(len(step.candidates), dtype=float), len(step.candidates)
        share = 2.0 * where / (n_places - 1) - 1.0 if n_places > 1 else np.zeros_like(where)
        return place + 1 + SPREAD * share

    def y_of(self, scores: Any) -> Numbers:
        """Return where scores are; infinite ones stand at an edge."""
        return np.clip(np.asarray(scores, dtype=float), *self.edges)

    # ------------------------------------------------------------------------- what is drawn

    def draw(self) -> None:
        """Draw everything but the names."""
        ax = self.ax
        for place in range(0, len(self.steps), 2):
            ax.axvspan(place + 0.5, place + 1.5, color=BAND, linewidth=0, zorder=0)
        self._draw_dots()
        self._draw_lines()
        for place, step in enumerate(self.steps):
            self._draw_mark(place, step)
        ax.set_xlim(0.5, len(self.steps) + 0.5)
        low, high = self.edges
        pad = 0.04 * (high - low)
        ax.set_ylim(low - pad, high + pad)
        self._draw_edges()
        name_axes(ax, y=UNITS[self.display.unit])
        self._name_columns()
        self._explain()

    def _draw_dots(self) -> None:
        x, y, infinite = self._dots()
        n_most = max(len(step.candidates) for step in self.steps)
        size = 4.2 if n_most * len(self.steps) < 150 else 3.0 if self.column > 0.3 else 2.0
        style: dict[str, Any] = {
            "color": OTHERS,
            "edgecolors": "none",
            "rasterized": len(x) > MANY_DOTS,
            "alpha": 0.9 if len(x) < MANY_DOTS else 0.5,
        }
        self.ax.scatter(x[~infinite], y[~infinite], s=size**2, marker="o", zorder=2, **style)
        for up, marker in ((True, "^"), (False, "v")):
            at = infinite & ((y > 0.5 * sum(self.edges)) == up)
            if at.any():
                self.ax.scatter(x[at], y[at], s=(size + 1.5) ** 2, marker=marker, **style)

    def _dots(self) -> tuple[Numbers, Numbers, NDArray[np.bool_]]:
        """Return the places of all candidates but the strongest, and which are infinite."""
        parts = []
        for place, step in enumerate(self.steps):
            scores = np.array(step.scores, dtype=float)
            others = np.array([name != step.chosen for name in step.candidates], dtype=bool)
            others &= ~np.isnan(scores)
            at = np.stack([self.x_of(place), self.y_of(scores), np.isinf(scores)])
            parts.append(at[:, others])
        x, y, infinite = np.concatenate(parts, axis=1)
        return x, y, infinite.astype(bool)

    def _draw_lines(self) -> None:
        lines = [
            (place, float(self.y_of(step.critical_value)))
            for place, step in enumerate(self.steps, start=1)
            if step.critical_value is not None
        ]
        thick = 2.0 if self.column > 0.3 else 1.5
        for place, line in lines:
            ends = [place - HALF_LINE, place + HALF_LINE]
            self.ax.plot(ends, [line, line], color=LINE, lw=thick, zorder=3, solid_capstyle="butt")

    def _draw_mark(self, place: int, step: PathStep) -> None:
        x, y = self._mark(place)
        if np.isnan(y):
            return
        face = CHOSEN if step.is_included else GROUND
        size = MARK if self.column > 0.3 else 5.0
        style: dict[str, Any] = {"color": CHOSEN, "markerfacecolor": face, "mew": 1.3}
        self.ax.plot([x], [y], "D", ms=size, zorder=4, linestyle="none", clip_on=False, **style)
        if step.is_removed:
            self.ax.plot([x], [y], "x", ms=1.9 * size, color=INK, mew=1.4, zorder=5)

    def _mark(self, place: int) -> tuple[float, float]:
        step = self.steps[place]
        at = step.candidates.index(step.chosen)
        return float(self.x_of(place)[at]), float(self.y_of(step.score))

    def _draw_edges(self) -> None:
        """Say where infinite scores are drawn."""
        for name, edge in self.infinite_edges.items():
            low, high = self.edges  # no number stands beside or beyond the word
            near = 0.06 * (high - low)
            ticks = np.array(self.ax.get_yticks())
            self.ax.set_yticks(ticks[(ticks > low + near) & (ticks < high - near)])
            self.ax.axhline(edge, color=OTHERS, lw=0.7, linestyle=(0, (1.0, 2.0)), zorder=1)
            self.ax.annotate(
                name,
                (0.0, edge),
                (-4.0, 0.0),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                ha="right",
                va="center",
                color=around(self.ax),
            )

    # --------------------------------------------------------------------------- what is written

    def _name_columns(self) -> None:
        """Write below each column what is new there; where columns are narrow, who is strongest."""
        ax, places = self.ax, np.arange(1, len(self.steps) + 1)
        if self.is_wide:
            ax.set_xticks(places, [self._news(place) for place in range(len(self.steps))])
            lines = ["what is known, step by step"]
        else:
            every = max(1, int(np.ceil(0.12 / self.column)))
            names = [name_below(step) for step in self.steps]
            ax.set_xticks(places[::every], names[::every])
            lines = ["the strongest candidate, step by step"]
            turned = {"rotation": 90} if self.column < UPRIGHT else {"rotation": SLOPE}
            for label, step in zip(ax.get_xticklabels(), self.steps[::every], strict=True):
                label.set(ha="right", rotation_mode="anchor", **turned)
                label.set_verticalalignment("center" if self.column < UPRIGHT else "top")
                label.set_color(CHOSEN if step.is_included else around(ax))
                label.set_alpha(1.0 if step.is_included else QUIET)
        as_text(*ax.get_xticklabels())
        ax.tick_params(axis="both", length=2.5, labelsize=LABEL_SIZE)
        if self.display.removed:
            lines.append(f"removed again: {listed(self.display.removed, 6, LONGEST)}")
        if self.display.is_topped:
            lines.append(TOPPED)
        most = max(30, int(inches(ax)[0] / LETTER))
        name_axes(ax, x="\n".join(part for line in lines for part in textwrap.wrap(line, most)))

    def _news(self, place: int) -> str:
        """Return what is known at a step, and was not at the one before."""
        here = self.steps[place]
        manner = {"lookahead": "together", "random_starts": "random\nstarts"}.get(here.phase, "")
        if not place:
            kept = self.display.kept
            first = "nothing\nknown" if not kept else f"{len(kept)} kept"
            return manner or first
        before = self.steps[place - 1]
        most = max(4, int(self.column / LETTER) - 2)
        left = [name for name in before.came_in if name not in before.removed or before.is_removed]
        news = [f"+ {written(name, most)}" for name in left[:3]]
        if len(left) > 3:
            news[2:] = [f"+ {len(left) - 2} more"]
        return "\n".join([*news, *([manner] if manner else [])]) or "the same"

    def _explain(self) -> None:
        """Write a legend of what there is, above the axes."""
        mark: dict[str, Any] = {"marker": "D", "ms": 6.0, "mew": 1.3, "linestyle": "none"}
        cross = {**mark, "marker": "x", "ms": 8.0}
        dot = {**mark, "marker": "o", "ms": 4.2, "mew": 0.0}
        alpha, steps = self.display.alpha, self.steps
        often = (
            "seldom gets there" if alpha is None else f"gets there in {100 * alpha:g} % of draws"
        )
        line = f"null line: chance {often}" if inches(self.ax)[0] > 4.5 else "null line"
        entries = [
            (any(step.is_included for step in steps), "included", CHOSEN, mark),
            (
                any(not step.is_included for step in steps),
                "not included",
                CHOSEN,
                {**mark, "markerfacecolor": GROUND},
            ),
            (any(step.is_removed for step in steps), "removed again", around(self.ax), cross),
            (any(len(step.candidates) > 1 for step in steps), "other candidates", OTHERS, dot),
            (
                any(step.critical_value is not None for step in steps),
                line,
                LINE,
                {"lw": 2.0},
            ),
        ]
        explain_above(
            self.ax,
            [
                Line2D([], [], label=words, color=colour, **style)
                for is_there, words, colour, style in entries
                if is_there
            ],
        )

    def name(self) -> None:
        """Write the names of the strongest beside their marks, where columns are wide enough."""
        if not self.is_wide:
            return
        room = self._room()
        for place, step in enumerate(self.steps):
            x, y = self._mark(place)
            if np.isnan(y):
                continue
            text = written(step.chosen)
            mark = self._to_inches([x], [y])[0]
            size = (width(text) + 0.04, LINE_HEIGHT)
            spots = self._spots(place, mark, size[0])
            spot = room.find((mark[0], mark[1]), size, spots) or spots[0]
            self.ax.annotate(
                text,
                (x, y),
                (72.0 * spot.x, 72.0 * spot.y),
                textcoords="offset points",
                ha=spot.ha,
                va=spot.va,
                color=CHOSEN,
                zorder=6,
            )

    def _spots(self, place: int, mark: Numbers, wide: float) -> list[Spot]:
        """Return where a name of a width may stand within the column of its mark."""
        gap, beside, half = 0.09, 0.12, 0.5 * wide
        left, right = self.column * place, self.column * (place + 1)
        shift = min(max(mark[0], left + half), right - half) - mark[0]
        above, below = Spot(shift, gap, "center", "bottom"), Spot(shift, -gap, "center", "top")
        sides = [Spot(-beside, y, "right", "center") for y in (0.0, gap) if mark[0] - wide > left]
        sides += [Spot(beside, y, "left", "center") for y in (0.0, gap) if mark[0] + wide < right]
        critical_value, beyond = self.steps[place].critical_value, []
        if critical_value is not None:
            line = self._to_inches([0.0], [float(self.y_of(critical_value))])[0, 1]
            if line > mark[1]:
                beyond = [Spot(shift, line - mark[1] + 0.03, "center", "bottom")]
        return [above, *sides, *beyond, below]

    def _room(self) -> Room:
        """Return what dots, marks and null lines leave."""
        wide, high = inches(self.ax)
        room = Room((0.0, 0.0, wide, high))
        x, y, _ = self._dots()
        room.take(boxes_around(self._to_inches(x, y), 0.03))
        marks = np.array([self._mark(place) for place in range(len(self.steps))])
        room.take(boxes_around(self._to_inches(*marks.T), 0.07))
        for place, step in enumerate(self.steps, start=1):
            if step.critical_value is not None:
                line = float(self.y_of(step.critical_value))
                room.take(self._around_line(place - HALF_LINE, place + HALF_LINE, line))
        for edge in self.infinite_edges.values():
            room.take(self._around_line(*self.ax.get_xlim(), edge))
        return room

    def _around_line(self, left: float, right: float, y: float) -> Numbers:
        """Return a box around a level line, in inches."""
        ends = self._to_inches([left, right], [y, y])
        return np.array([[ends[0, 0], ends[0, 1] - 0.02, ends[1, 0], ends[1, 1] + 0.02]])

    def _to_inches(self, x: Any, y: Any) -> Numbers:
        """Return points of the data as inches from the lower left corner of the axes."""
        corner = self.ax.get_window_extent().p0
        pixels = self.ax.transData.transform(np.stack([x, y], axis=1))
        return np.asarray((pixels - corner) / self.ax.figure.dpi)


def _singles(step: PathStep) -> tuple[str, ...]:
    """Return candidates that are features, not tuples of them or combinations with others."""
    return step.candidates if step.phase == "forward" else ()


def name_below(step: PathStep) -> str:
    """Return what stands below a column that has no room for a name beside the mark."""
    name = written(step.chosen)
    return f"{name} (removed)" if step.is_removed else name
