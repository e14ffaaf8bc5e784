"""The path of a selection: scores of all candidates at each step, and the critical value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from pidselect.data.messages import counted, listed, number, to_float
from pidselect.report.displays import base
from pidselect.report.displays.base import Display
from pidselect.report.style import BLUE, GREY, INK, VERMILION
from pidselect.selection.result import INCLUSION_PHASES, Selection
from pidselect.significance.score import NOTHING

Numbers = NDArray[np.float64]

CHOSEN, CRITICAL, OTHERS, BAND = BLUE, VERMILION, GREY, "#F3F3F3"

#: Largest width of a figure, smallest and largest width of a column, in inches.
MAX_WIDTH, COLUMN = 10.0, (0.95, 1.9)

#: Labels are sloped if wider than their column, and upright if it is narrower than this, in inches.
SLOPE, UPRIGHT = 35, 0.45

#: Half the spread of the candidates of a column, and half the length of the critical value's line.
SPREAD, HALF_LINE = 0.32, 0.42

#: More dots than this are rasterized within an SVG, which is then smaller.
MANY_DOTS = 800

#: Scales of the axis: that of statistics is of their roots, so that small ones are seen, too.
LINEAR = (np.positive, np.positive)
ROOT = (lambda x: np.sign(x) * np.sqrt(np.abs(x)), lambda x: x * np.abs(x))

DIAMOND: dict[str, Any] = {"marker": "D", "mew": 1.3, "linestyle": "none", "color": CHOSEN}

UNITS = {
    "bit": "conditional mutual information, bit",
    "": "statistic",
}


@dataclass(frozen=True)
class PathStep:
    """A step of an inclusion phase.

    `scores` are in the unit of the display and may be infinite or unknown, `chosen` is the tested
    candidate. `included` holds none, the chosen one, or all of a tuple; `removed` those of them
    that a later test removed.
    """

    phase: str
    candidates: tuple[str, ...]
    scores: tuple[float, ...]
    chosen: str
    critical_value: float | None
    included: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def is_removed(self) -> bool:
        """Whether all included features were removed later."""
        return bool(self.included) and set(self.removed) >= set(self.included)

    @property
    def score(self) -> float:
        """Score of the chosen candidate."""
        return self.scores[self.candidates.index(self.chosen)]


@dataclass(eq=False, repr=False)
class SelectionPathDisplay(Display):
    """The steps of a selection: one column for each step, one dot for each candidate.

    A line across the column is the critical value. The strongest candidate is a diamond, filled if
    it was included, crossed out if it was removed later. Another candidate may have a larger
    statistic and less information.

    Parameters
    ----------
    steps : tuple of PathStep
        Steps of the inclusion phases.
    features : tuple of str
        The selected features.
    fixed_features : tuple of str
        Features included from the start.
    unit : {"bit", ""}
        Of the scores: bits, or none for statistics of the default test, on a root scale.
    alpha : float or None
        The level of the tests; None if it differs between steps.

    Examples
    --------
    >>> import numpy as np
    >>> from pidselect import PIDSelector, SelectionPathDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> selector = PIDSelector(estimator="gaussian", n_permutations=50, random_state=0)
    >>> selection = selector.fit(X, X[:, 0] + rng.normal(size=100)).selection_
    >>> display = SelectionPathDisplay.from_selection(selection)
    >>> display, display.removed
    (<SelectionPathDisplay: 2 steps, 1 feature selected>, ())
    """

    steps: tuple[PathStep, ...]
    features: tuple[str, ...] = ()
    fixed_features: tuple[str, ...] = ()
    unit: str = "bit"
    alpha: float | None = None
    title: ClassVar[str] = "Selection path"
    _nothing: ClassVar[str] = "No step: there was no candidate."

    @classmethod
    def from_selection(cls, selection: Selection, *, ax: Axes | None = None) -> Self:
        """Draw the path of ``selector.selection_``."""
        return cls._of(selection, Selection, "selector.selection_", ax)

    @classmethod
    def _fields(cls, record: Mapping[str, Any]) -> dict[str, Any]:
        steps = record["steps"]
        units = {step["unit"] for step in steps}
        unit = units.pop() if len(units) == 1 else "bit"
        levels = {to_float(step["alpha"]) for step in steps}
        found = []
        for step, removed in zip(steps, _removals(steps), strict=True):
            # Steps by different statistics are compared in bits.
            is_comparable, critical = step["unit"] == unit, to_float(step["critical_value"])
            of_step = step["scores" if is_comparable else "values"]
            scores = np.array(list(map(to_float, of_step)))
            included = (*step["jointly_included"],) or (step["chosen"],)
            one = PathStep(
                phase=step["phase"],
                candidates=tuple(step["candidates"]),
                scores=tuple(np.where(scores == NOTHING, np.nan, scores).tolist()),
                chosen=step["chosen"],
                critical_value=critical if is_comparable and not math.isnan(critical) else None,
                included=included if step["accepted"] else (),
                removed=tuple(removed),
            )
            found += [one] * (step["phase"] in INCLUSION_PHASES)
        return {
            "steps": tuple(found),
            "features": tuple(record["features"]),
            "fixed_features": tuple(record["fixed_features"]),
            "unit": unit,
            "alpha": levels.pop() if len(levels) == 1 else None,
        }

    @property
    def removed(self) -> tuple[str, ...]:
        """Included features that were removed later, in the order of inclusion."""
        removed = dict.fromkeys(name for step in self.steps for name in step.removed)
        return tuple(name for name in removed if name not in self.features)

    @property
    def _exceeding(self) -> str:
        """Why candidates above the tested one are not it; nothing if there are none."""
        is_exceeded = any(score > step.score for step in self.steps for score in step.scores)
        why = "score lower in another test of that step" if self.unit else "have less information"
        return why * is_exceeded

    def describe(self) -> str:
        """Return the main numbers in words."""
        if not self.steps:
            return self._nothing
        what = "scores in bits" if self.unit else "statistics"
        parts = [
            f"{counted(len(self.steps), 'step')}, {what}.",
            f"Selected: {listed(self.features, base.MAX_DESCRIBED) or 'no feature'}.",
        ]
        described = range(min(len(self.steps), base.MAX_DESCRIBED))
        parts += map(self._describe_step, described)
        if (more := len(self.steps) - base.MAX_DESCRIBED) > 0:
            parts.append(f"And {counted(more, 'more step')}.")
        if self.removed:
            parts.append(f"Removed later: {listed(self.removed, base.MAX_DESCRIBED)}.")
        if self._exceeding:
            parts.append(f"Candidates above the tested one {self._exceeding}.")
        return " ".join(parts)

    def _describe_step(self, place: int) -> str:
        step, digits = self.steps[place], 3 if self.unit == "bit" else 1
        score = number(step.score, digits, unknown="not estimable")
        critical = ""
        if step.critical_value is not None:
            critical = f", critical value {number(step.critical_value, digits)}"
        outcome = f"{'not ' * (not step.included)}included{', removed later' * step.is_removed}"
        return (
            f"Step {place + 1}, {counted(len(step.candidates), 'candidate')}: "
            f"{base.label(step.chosen, base.LONG_NAME)} at {score}{critical}, {outcome}."
        )

    def _summary(self) -> str:
        features = counted(len(self.features), "feature")
        return f"{counted(len(self.steps), 'step')}, {features} selected"

    def _layout(self) -> base.FigureLayout:
        longest, left, right = self._longest_label(), 0.75, 0.1
        column = min(max(longest, COLUMN[0]), COLUMN[1])
        wide = min(MAX_WIDTH, max(5.6, 0.9 + 1.05 * column * len(self.steps)))
        column = (wide - left - right) / len(self.steps)
        slope = 1.0 if column < UPRIGHT else math.sin(math.radians(SLOPE))
        high = 3.6 if longest <= column else 3.0 + longest * slope
        return wide, high, left, right

    def _longest_label(self) -> float:
        return max(base.width(_tick_label(step)) for step in self.steps) + 0.15

    def _draw(self, ax: Axes) -> None:
        for place in range(0, len(self.steps), 2):
            ax.axvspan(place + 0.5, place + 1.5, color=BAND, linewidth=0, zorder=0)
        column = base.inches(ax)[0] / len(self.steps)
        drawn = [score for step in self.steps for score in step.scores]
        drawn += [one.critical_value for one in self.steps if one.critical_value is not None]
        known = [value for value in drawn if np.isfinite(value)] or [0.0, 1.0]
        scale, unscale = LINEAR if self.unit else ROOT
        low, high = scale(min(known)), scale(max(known))
        gap = 0.12 * ((high - low) or abs(high) or 1.0)
        edges = unscale(low - gap), unscale(high + gap)  # where infinite scores are drawn
        positions = self._positions()
        self._draw_dots(ax, positions, edges, column)
        for place, step in enumerate(self.steps):
            if step.critical_value is not None:
                y = float(np.clip(step.critical_value, *edges))
                ends = [place + 1 - HALF_LINE, place + 1 + HALF_LINE]
                ax.plot(ends, [y, y], color=CRITICAL, lw=2.0, zorder=3, solid_capstyle="butt")
            if np.isnan(step.score):
                continue
            x = positions[place][step.candidates.index(step.chosen)]
            y = float(np.clip(step.score, *edges))
            size, face = 7.5 if column > 0.3 else 5.0, CHOSEN if step.included else base.BACKGROUND
            ax.plot([x], [y], markerfacecolor=face, ms=size, zorder=4, clip_on=False, **DIAMOND)
            if step.is_removed:
                ax.plot([x], [y], "x", ms=1.9 * size, color=INK, mew=1.4, zorder=5)
        pad = 1.3 * gap
        ax.set_xlim(0.5, len(self.steps) + 0.5)
        ax.set_yscale("function", functions=(scale, unscale))
        ax.set_ylim(unscale(low - pad), unscale(high + pad))
        self._label_columns(ax, column)
        self._draw_legend(ax)

    def _positions(self) -> list[Numbers]:
        """Return where candidates are in each column; a feature has the same place in all."""
        forward = [step.candidates for step in self.steps if step.phase == "forward"]
        features = list(dict.fromkeys(name for names in forward for name in names))
        positions = []
        for place, step in enumerate(self.steps):
            names = features if step.phase == "forward" else step.candidates
            spread = np.linspace(-SPREAD, SPREAD, len(names)) if len(names) > 1 else [0.0]
            at = dict(zip(names, spread, strict=True))
            positions.append(place + 1 + np.array([at[name] for name in step.candidates]))
        return positions

    def _draw_dots(
        self, ax: Axes, positions: list[Numbers], edges: tuple[float, float], column: float
    ) -> None:
        """Draw all candidates but the tested one; infinite scores are at an edge."""
        others = np.concatenate(
            [[name != step.chosen for name in step.candidates] for step in self.steps]
        ).astype(bool)
        x, y = np.concatenate(positions), np.concatenate([step.scores for step in self.steps])
        x, y = x[others & ~np.isnan(y)], y[others & ~np.isnan(y)]
        n_most = max(len(step.candidates) for step in self.steps)
        size = 4.2 if n_most * len(self.steps) < 150 else 3.0 if column > 0.3 else 2.0
        ax.scatter(
            x,
            np.clip(y, *edges),
            s=size**2,
            color=OTHERS,
            edgecolors="none",
            rasterized=len(x) > MANY_DOTS,
            alpha=0.9 if len(x) < MANY_DOTS else 0.5,
            zorder=2,
        )

    def _label_columns(self, ax: Axes, column: float) -> None:
        """Write the strongest candidate below each column, only some where there is no room."""
        every = max(1, math.ceil(0.12 / column))
        shown_steps = self.steps[::every]
        ax.set_xticks(range(1, len(self.steps) + 1, every), list(map(_tick_label, shown_steps)))
        ax.tick_params(axis="both", length=2.5, labelsize=base.LABEL_SIZE)
        if self._longest_label() > column:
            base.slope(ax, 90 if column < UPRIGHT else SLOPE)
        for text, step in zip(ax.get_xticklabels(), shown_steps, strict=True):
            text.set_color(CHOSEN if step.included else base.outer_colour(ax))
            text.set_alpha(1.0 if step.included else base.MUTED)
        base.as_plain_text(*ax.get_xticklabels())
        lines = ["tested candidate of each step"]
        if self.fixed_features:
            lines.append(f"fixed features: {listed(self.fixed_features, 6, base.SHORT_NAME)}")
        if self.removed:
            lines.append(f"removed later: {listed(self.removed, 6, base.SHORT_NAME)}")
        if self._exceeding:
            lines.append(f"dots above a diamond {self._exceeding}")
        base.label_axes(ax, x=base.wrap(ax, lines), y=UNITS[self.unit])

    def _draw_legend(self, ax: Axes) -> None:
        steps = self.steps
        level = "" if self.alpha is None else f" (level {self.alpha:g})"
        cross = {**DIAMOND, "marker": "x", "ms": 8.0, "color": base.outer_colour(ax)}
        dot = {"marker": "o", "ms": 4.2, "mew": 0.0, "linestyle": "none", "color": OTHERS}
        entries: list[tuple[bool, str, dict[str, Any]]] = [
            (any(step.included for step in steps), "included", {**DIAMOND, "ms": 6.0}),
            (
                not all(step.included for step in steps),
                "not included",
                {**DIAMOND, "ms": 6.0, "markerfacecolor": base.BACKGROUND},
            ),
            (any(step.is_removed for step in steps), "removed later", cross),
            (any(len(step.candidates) > 1 for step in steps), "other candidates", dot),
            (
                any(step.critical_value is not None for step in steps),
                f"critical value{level}",
                {"lw": 2.0, "color": CRITICAL},
            ),
        ]
        found = [(text, look) for is_found, text, look in entries if is_found]
        base.legend_above(ax, [Line2D([], [], label=text, **look) for text, look in found])


def _tick_label(step: PathStep) -> str:
    phase = "" if step.phase == "forward" else f"\n{step.phase.replace('_', ' ')}"
    return f"{base.label(step.chosen)}{phase}"


def _removals(steps: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return, for each step, which of its included features were removed later."""
    removals: list[list[str]] = [[] for _ in steps]
    included_at: dict[str, int] = {}
    for place, step in enumerate(steps):
        is_inclusion = step["phase"] in INCLUSION_PHASES
        if is_inclusion and step["accepted"]:
            included_at |= dict.fromkeys(step["jointly_included"] or [step["chosen"]], place)
        gone = step["replaced"] if is_inclusion else "" if step["accepted"] else step["chosen"]
        if gone in included_at:
            removals[included_at.pop(gone)].append(gone)
    return removals
