"""Selection frequencies over subsamples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from pidselect.data.messages import counted, listed, number, to_float
from pidselect.report.displays import base
from pidselect.report.displays.base import MAX_FEATURES, Display
from pidselect.report.style import LOOKS
from pidselect.selection.stability import Stability

COLOUR = LOOKS["first"].colour
DOT: dict[str, Any] = {"marker": "o", "ms": 5.0, "mew": 1.2, "color": COLOUR}
INTERVAL: dict[str, Any] = {"color": COLOUR, "lw": 1.6, "alpha": 0.55}


@dataclass(eq=False, repr=False)
class StabilityDisplay(Display):
    """Selection frequency of each feature with its 95 % interval, the largest on top.

    Features of the most frequent set have filled dots; all dots are filled if no set was selected
    twice.

    Parameters
    ----------
    names : tuple of str
        By decreasing frequency.
    frequencies : tuple of float
    intervals : tuple of pairs of float
    most_frequent : tuple of str
        The most frequently selected set.
    n_most_frequent : int
        How many subsamples selected it.
    n_selections : int
    stability : float or None
        Nogueira's measure: 1 if all selections are equal, 0 if they are random.
    max_features : int
        Number of rows.

    Examples
    --------
    >>> from pidselect.selection.stability import Stability
    >>> result = Stability(("a", "b", "c"), (("a",), ("a", "b"), ("a",), ("a",)))
    >>> print(StabilityDisplay.from_stability(result).describe())
    3 features, 4 selections. Frequencies: a 1.00, b 0.25. Never selected: 1 feature. Most frequent
    set, 3 times: a. Stability 0.66.
    """

    names: tuple[str, ...]
    frequencies: tuple[float, ...]
    intervals: tuple[tuple[float, float], ...]
    most_frequent: tuple[str, ...]
    n_most_frequent: int
    n_selections: int
    stability: float | None = None
    max_features: int = MAX_FEATURES
    title: ClassVar[str] = "Selection frequency of each feature"

    def __post_init__(self) -> None:
        base.check_max_features(self.max_features)

    @classmethod
    def from_stability(
        cls, stability: Stability, *, ax: Axes | None = None, max_features: int = MAX_FEATURES
    ) -> Self:
        """Draw the result of ``stability(selector, X, y)``."""
        record = base.to_record(stability, Stability, "stability(selector, X, y)")
        return cls.from_dict(record, max_features=max_features).plot(ax)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any], *, max_features: int = MAX_FEATURES) -> Self:
        """Return the display of `Stability.to_dict`, without drawing it."""
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
        """Return the main numbers in words."""
        found = [pair for pair in zip(self.names, self.frequencies, strict=True) if pair[1]]
        parts = [f"{self._summary()}."]
        if found:
            shares = [
                f"{base.label(name, base.LONG_NAME)} {share:.2f}"
                for name, share in found[: base.MAX_DESCRIBED]
            ]
            parts.append(f"Frequencies: {', '.join(shares)}.")
        if never := len(self.names) - len(found):
            parts.append(f"Never selected: {counted(never, 'feature')}.")
        if self.n_most_frequent > 1:
            most = listed(self.most_frequent, base.MAX_DESCRIBED) or "no feature"
            parts.append(f"Most frequent set, {self.n_most_frequent} times: {most}.")
        if self.stability is not None:
            parts.append(f"Stability {number(self.stability, 2)}.")
        return " ".join(parts)

    def _summary(self) -> str:
        features = counted(len(self.names), "feature")
        return f"{features}, {counted(self.n_selections, 'selection')}"

    def _size(self) -> tuple[float, float]:
        if not self.names:
            return base.EMPTY_SIZE
        n_rows = min(len(self.names), self.max_features + 1)
        return 4.4 + sum(self._margins()), base.rows_height(n_rows) + 0.15

    def _margins(self) -> tuple[float, float]:
        return base.max_width(self.names[: self.max_features]) + 0.15, 0.5

    def _draw(self, ax: Axes) -> None:
        if not self.names:
            base.show_message(ax, "No features.")
            return
        drawn = self.names[: self.max_features]
        for place, name in enumerate(drawn):
            ax.plot(self.intervals[place], [place, place], zorder=2, **INTERVAL)
            face = COLOUR if self._is_filled(name) else base.BACKGROUND
            at = self.frequencies[place]
            ax.plot([at], [place], markerfacecolor=face, clip_on=False, zorder=3, **DOT)
        notes = [f"{share:.2f}" for share in self.frequencies[: len(drawn)]]
        base.label_rows(ax, drawn, notes, self._omitted())
        ax.set_xlim(-0.02, 1.02)
        lines = [f"selection frequency, {counted(self.n_selections, 'subsample')}"]
        if self.stability is not None:
            lines.append(f"stability {number(self.stability, 2)} (1: equal, 0: random selections)")
        base.label_axes(ax, x="\n".join(lines))
        self._draw_legend(ax)

    def _omitted(self) -> str:
        omitted = self.frequencies[self.max_features :]
        if not omitted:
            return ""
        largest = max(omitted)
        share = f"selected in at most {100 * largest:.0f} %" if largest else "never selected"
        return f"and {len(omitted)} more, {share}"

    def _draw_legend(self, ax: Axes) -> None:
        handles = []
        if self.n_most_frequent > 1:
            times = f"{self.n_most_frequent} of {self.n_selections}"
            is_filled = [self._is_filled(name) for name in self.names[: self.max_features]]
            if any(is_filled):
                text = f"in the most frequent set ({times})"
                handles.append(Line2D([], [], linestyle="", label=text, **DOT))
            if not all(is_filled):
                hollow = {**DOT, "markerfacecolor": base.BACKGROUND}
                handles.append(Line2D([], [], linestyle="", label="not in that set", **hollow))
        handles.append(Line2D([], [], label="95 % interval", **INTERVAL))
        base.legend_above(ax, handles)

    def _is_filled(self, name: str) -> bool:
        return self.n_most_frequent < 2 or name in self.most_frequent
