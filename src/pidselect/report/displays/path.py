"""The path of a selection: each step's candidates against the line that chance reaches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from matplotlib.axes import Axes

from pidselect.report.displays.base import Display, record_of, say_empty
from pidselect.report.displays.path_drawing import SLOPE, UPRIGHT, PathDrawing, name_below
from pidselect.report.displays.wording import counted, listed, number, to_float, width, written
from pidselect.selection.result import INCLUSION_PHASES, Selection

#: So many steps are told in words, one by one.
TOLD = 12

#: Widest figure, and how wide a column is at least and at most, in inches.
WIDEST, COLUMN = 10.0, (0.95, 1.9)


@dataclass(frozen=True)
class PathStep:
    """A step in which something could come in.

    Parameters
    ----------
    phase : {"forward", "lookahead", "random_starts"}
    candidates : tuple of str
    scores : tuple of float
        Of each candidate, in the unit of the display; infinite where the estimate is.
    chosen : str
        The strongest candidate.
    null_line : float or None
        What a score must exceed to be significant.
    came_in : tuple of str
        The features that were included: none, the chosen one, or all of a tuple.
    removed : tuple of str
        Of those, the ones that a later test took out again.
    """

    phase: str
    candidates: tuple[str, ...]
    scores: tuple[float, ...]
    chosen: str
    critical_value: float | None
    came_in: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def is_included(self) -> bool:
        """Whether the chosen one came in."""
        return bool(self.came_in)

    @property
    def is_removed(self) -> bool:
        """Whether all that came in went out again."""
        return self.is_included and set(self.removed) >= set(self.came_in)

    @property
    def score(self) -> float:
        """Of the chosen one."""
        return self.scores[self.candidates.index(self.chosen)]

    @property
    def is_topped(self) -> bool:
        """Whether another candidate has a higher score: then it has a lower one in another test."""
        return any(score > self.score for score in self.scores)


@dataclass(eq=False, repr=False)
class SelectionPathDisplay(Display):
    """How a selection went: each step is a column, each candidate a dot at its score.

    A bar across the column is the null line of the step. The strongest candidate is a diamond with
    its name: filled if it was included, open if not, crossed out if it was removed again later.
    Where there are several tests, a candidate is as strong as in the one that speaks least for it.
    Scores are those of the test that decided, in which another candidate may stand higher.

    Parameters
    ----------
    steps : tuple of PathStep
        Those in which something could come in.
    features : tuple of str
        What was selected in the end.
    kept : tuple of str
        What was in the set from the start.
    unit : {"bit", "sd"}
        Of the scores: bits, or standard deviations above what chance reaches on average.
    alpha : float or None
        The level of the tests; None where steps had different ones.

    Examples
    --------
    >>> import numpy as np
    >>> from pidselect import PIDSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3))
    >>> selector = PIDSelector(estimator="gaussian", n_permutations=50, random_state=0)
    >>> selection = selector.fit(X, X[:, 0] + rng.normal(size=100)).selection_
    >>> SelectionPathDisplay.from_selection(selection)
    <SelectionPathDisplay: 2 steps, 1 feature selected>
    """

    steps: tuple[PathStep, ...]
    features: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    unit: str = "bit"
    alpha: float | None = None
    title: ClassVar[str] = "The path of the selection"

    @classmethod
    def from_selection(cls, selection: Selection, *, ax: Axes | None = None) -> Self:
        """Draw the path of ``selector.selection_``."""
        return cls.from_dict(record_of(selection, Selection, "selector.selection_")).plot(ax)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Return the display of what `Selection.to_dict` gave, without drawing it."""
        steps = record["steps"]
        units = {step["unit"] for step in steps}
        unit = units.pop() if len(units) == 1 else "bit"
        levels = {to_float(step["alpha"]) for step in steps}
        removed = _removals(steps)
        return cls(
            steps=tuple(
                _to_step(step, unit, removed[place])
                for place, step in enumerate(steps)
                if step["phase"] in INCLUSION_PHASES
            ),
            features=tuple(record["features"]),
            kept=tuple(record["fixed_features"]),
            unit=unit,
            alpha=levels.pop() if len(levels) == 1 else None,
        )

    @property
    def removed(self) -> tuple[str, ...]:
        """What came in and went out again, in the order of coming in."""
        gone = dict.fromkeys(name for step in self.steps for name in step.removed)
        return tuple(name for name in gone if name not in self.features)

    @property
    def is_topped(self) -> bool:
        """Whether somewhere a dot stands above the mark of its step."""
        return any(step.is_topped for step in self.steps)

    def describe(self) -> str:
        """Return what is seen, with the main numbers, in sentences."""
        if not self.steps:
            return "There was no step: nothing was a candidate."
        unit = "bits" if self.unit == "bit" else "standard deviations above chance"
        chosen = f"Selected: {listed(self.features)}." if self.features else "Nothing was selected."
        said = [f"{counted(len(self.steps), 'step')}, scores in {unit}. {chosen}"]
        said += [self._told(place) for place in range(min(TOLD, len(self.steps)))]
        if (more := len(self.steps) - TOLD) > 0:
            said.append(f"And {counted(more, 'more step')}.")
        if self.removed:
            said.append(f"Removed again: {listed(self.removed)}.")
        if self.is_topped:
            said.append("What scores higher than the strongest scores lower in another test.")
        return " ".join(said)

    def _told(self, place: int) -> str:
        step, digits = self.steps[place], 3 if self.unit == "bit" else 1
        line = (
            ""
            if step.critical_value is None
            else f", null line {number(step.critical_value, digits)}"
        )
        verdict = "included" if step.is_included else "not included"
        if step.is_removed:
            verdict += ", removed later"
        return (
            f"Step {place + 1}, {counted(len(step.candidates), 'candidate')}: "
            f"{written(step.chosen, 60)} at {number(step.score, digits)}{line}, {verdict}."
        )

    def _short(self) -> str:
        chosen = counted(len(self.features), "feature")
        return f"{counted(len(self.steps), 'step')}, {chosen} selected"

    def _size(self) -> tuple[float, float]:
        if not self.steps:
            return 5.2, 1.2
        longest = max(width(written(step.chosen)) for step in self.steps) + 0.25
        column = min(max(longest, COLUMN[0]), COLUMN[1])
        wide = min(WIDEST, max(5.6, 0.9 + 1.05 * column * len(self.steps)))
        column = (wide - sum(self._sides())) / len(self.steps)
        if longest <= column:
            return wide, 3.6
        names = max(width(name_below(step)) for step in self.steps)
        return wide, 3.0 + names * (1.0 if column < UPRIGHT else math.sin(math.radians(SLOPE)))

    def _draw(self, ax: Axes) -> None:
        if not self.steps:
            say_empty(ax, "No step: there was no candidate.")
            return
        PathDrawing(self, ax).draw()

    def _label(self, ax: Axes) -> None:
        if self.steps:
            PathDrawing(self, ax).name()


def _to_step(step: Mapping[str, Any], unit: str, removed: Sequence[str]) -> PathStep:
    # Where steps have different units, only the bits can be compared; a null line in standard
    # deviations has no place among them.
    comparable = step["unit"] == unit
    came_in = (*step["jointly_included"],) or (step["chosen"],)
    return PathStep(
        phase=step["phase"],
        candidates=tuple(step["candidates"]),
        scores=tuple(to_float(value) for value in step["scores" if comparable else "values"]),
        chosen=step["chosen"],
        critical_value=_line(step["critical_value"]) if comparable else None,
        came_in=came_in if step["accepted"] else (),
        removed=tuple(removed),
    )


def _line(value: Any) -> float | None:
    line = to_float(value)
    return None if math.isnan(line) else line


def _removals(steps: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return for each step which of the features that came in then went out again."""
    removals: list[list[str]] = [[] for _ in steps]
    entered: dict[str, int] = {}
    for place, step in enumerate(steps):
        if step["phase"] in INCLUSION_PHASES:
            if step["accepted"]:
                names = step["jointly_included"] or [step["chosen"]]
                entered.update(dict.fromkeys(names, place))
        elif not step["accepted"] and step["chosen"] in entered:
            removals[entered.pop(step["chosen"])].append(step["chosen"])
    return removals
