"""How often each feature is selected when only a part of the rows is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from pidselect.report.displays.base import GROUND, Display, name_axes, record_of, say_empty
from pidselect.report.displays.rows import (
    MAX_FEATURES,
    check_max_features,
    explain_above,
    height,
    name_rows,
)
from pidselect.report.displays.wording import counted, listed, number, to_float, width, written
from pidselect.report.style import LOOKS
from pidselect.selection.stability import Stability

COLOUR = LOOKS["first"].colour

#: So many features are told in words.
TOLD = 12


@dataclass(eq=False, repr=False)
class StabilityDisplay(Display):
    """Each feature's share of the selections, with its interval; the most frequent one on top.

    Dots of features in the set that came up most often are filled, the others open; where no set
    came up twice, all are filled.

    Parameters
    ----------
    names : tuple of str
        The most frequent first.
    frequencies : tuple of float
    intervals : tuple of pairs of float
        With 95 % confidence.
    most_frequent : tuple of str
        The set that came up most often.
    n_most_frequent : int
        How often that was.
    n_selections : int
    stability : float or None
        1 if all selections are the same, 0 if features are taken at random.
    max_features : int
        So many are drawn at most.

    Examples
    --------
    >>> from pidselect.selection.stability import Stability
    >>> result = Stability(("a", "b", "c"), (("a",), ("a", "b"), ("a",), ("a",)))
    >>> print(StabilityDisplay.from_stability(result).describe())
    3 features in 4 selections. Selected most often: a 1.00, b 0.25. Never selected: 1 feature. Most
    often, 3 times: a. Stability 0.66.
    """

    names: tuple[str, ...]
    frequencies: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    most_frequent: tuple[str, ...]
    n_most_frequent: int
    n_selections: int
    stability: float | None = None
    max_features: int = MAX_FEATURES
    title: ClassVar[str] = "How often each feature is selected"

    def __post_init__(self) -> None:
        check_max_features(self.max_features)

    @classmethod
    def from_stability(
        cls, stability: Stability, *, ax: Axes | None = None, max_features: int = MAX_FEATURES
    ) -> Self:
        """Draw what ``stability(selector, X, y)`` found."""
        return cls.from_dict(
            record_of(stability, Stability, "stability(selector, X, y)"), max_features=max_features
        ).plot(ax)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any], *, max_features: int = MAX_FEATURES) -> Self:
        """Return the display of what `Stability.to_dict` gave, without drawing it."""
        frequencies = {name: to_float(value) for name, value in record["frequencies"].items()}
        names = sorted(frequencies, key=lambda name: -frequencies[name])
        ends = [record["intervals"][name] for name in names]
        stability, most_frequent = record["stability"], tuple(record["most_frequent"])
        selections = [tuple(one) for one in record["selections"]]
        return cls(
            names=tuple(names),
            frequencies=tuple(frequencies[name] for name in names),
            intervals=tuple((to_float(low), to_float(high)) for low, high in ends),
            most_frequent=most_frequent,
            n_most_frequent=selections.count(most_frequent),
            n_selections=len(selections),
            stability=None if stability is None else to_float(stability),
            max_features=max_features,
        )

    def describe(self) -> str:
        """Return what is seen, with the main numbers, in sentences."""
        features = counted(len(self.names), "feature")
        said = [f"{features} in {counted(self.n_selections, 'selection')}."]
        found = [name for name, share in zip(self.names, self.frequencies, strict=True) if share]
        if found:
            often = [
                f"{written(name, 60)} {number(share)}"
                for name, share in zip(found[:TOLD], self.frequencies, strict=False)
            ]
            said.append(f"Selected most often: {', '.join(often)}.")
        if never := len(self.names) - len(found):
            said.append(f"Never selected: {counted(never, 'feature')}.")
        most = listed(self.most_frequent) if self.most_frequent else "nothing"
        if self.n_most_frequent > 1:
            said.append(f"Most often, {self.n_most_frequent} times: {most}.")
        if self.stability is not None:
            said.append(f"Stability {number(self.stability)}.")
        return " ".join(said)

    def _short(self) -> str:
        features = counted(len(self.names), "feature")
        return f"{features}, {counted(self.n_selections, 'selection')}"

    def _size(self) -> tuple[float, float]:
        if not self.names:
            return 5.2, 1.2
        drawn = self.names[: self.max_features]
        return 4.4 + sum(self._sides()), height(len(drawn) + (len(self.names) > len(drawn))) + 0.15

    def _sides(self) -> tuple[float, float]:
        names = max((width(written(name)) for name in self.names[: self.max_features]), default=0.0)
        return names + 0.15, 0.5

    def _draw(self, ax: Axes) -> None:
        if not self.names:
            say_empty(ax, "There was no feature to select.")
            return
        drawn = self.names[: self.max_features]
        for place, name in enumerate(drawn):
            low, high = self.intervals[place]
            ax.plot([low, high], [place, place], color=COLOUR, lw=1.6, alpha=0.55, zorder=2)
            face = COLOUR if self._is_filled(name) else GROUND
            style: dict[str, Any] = {
                "color": COLOUR,
                "markerfacecolor": face,
                "ms": 5.0,
                "mew": 1.2,
            }
            at = self.frequencies[place]
            ax.plot([at], [place], "o", clip_on=False, zorder=3, **style)
        notes = [number(share) for share in self.frequencies[: len(drawn)]]
        name_rows(ax, [written(name) for name in drawn], notes, self._more())
        ax.set_xlim(-0.02, 1.02)
        lines = [f"share of {counted(self.n_selections, 'selection')} that have it"]
        if self.stability is not None:
            measure = f"stability {number(self.stability)}"
            lines.append(f"{measure} (1: always the same, 0: as by chance)")
        name_axes(ax, x="\n".join(lines))
        self._explain(ax)

    def _more(self) -> str:
        left = self.frequencies[self.max_features :]
        if not left:
            return ""
        how = (
            f"selected in at most {number(100 * max(left), 0)} %" if max(left) else "never selected"
        )
        return f"and {len(left)} more, {how}"

    def _explain(self, ax: Axes) -> None:
        style: dict[str, Any] = {"marker": "o", "ms": 5.0, "mew": 1.2, "color": COLOUR, "ls": ""}
        times = f"{self.n_most_frequent} of {self.n_selections}"
        drawn = [self._is_filled(name) for name in self.names[: self.max_features]]
        filled = Line2D([], [], label=f"in the most frequent set ({times})", **style)
        style["markerfacecolor"] = GROUND
        hollow = Line2D([], [], label="not in it", **style)
        line = Line2D([], [], label="95 % interval", color=COLOUR, lw=1.6, alpha=0.55)
        dots = [filled] * any(drawn) + [hollow] * (not all(drawn))
        explain_above(ax, [*(dots if self.n_most_frequent > 1 else []), line])

    def _is_filled(self, name: str) -> bool:
        return self.n_most_frequent < 2 or name in self.most_frequent
