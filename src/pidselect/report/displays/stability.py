"""Selection frequencies over subsamples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from pidselect.data.messages import counted, listed, number, to_float
from pidselect.report.displays import base
from pidselect.report.displays.base import MAX_FEATURES, RowsDisplay
from pidselect.report.style import BLUE
from pidselect.selection.stability import Stability

DOT: dict[str, Any] = {"marker": "o", "ms": 5.0, "mew": 1.2, "color": BLUE}
INTERVAL: dict[str, Any] = {"color": BLUE, "lw": 1.6, "alpha": 0.55}


@dataclass(eq=False, repr=False)
class StabilityDisplay(RowsDisplay):
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
    >>> from pidselect import StabilityDisplay
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
    _nothing: ClassVar[str] = "No features."

    @classmethod
    def from_stability(
        cls, stability: Stability, *, ax: Axes | None = None, max_features: int = MAX_FEATURES
    ) -> Self:
        """Draw the result of ``stability(selector, X, y)``."""
        origin = "stability(selector, X, y)"
        return cls._of(stability, Stability, origin, ax, max_features=max_features)

    @classmethod
    def _fields(cls, record: Mapping[str, Any]) -> dict[str, Any]:
        frequencies = {name: to_float(value) for name, value in record["frequencies"].items()}
        names = sorted(frequencies, key=lambda name: -frequencies[name])
        ends = [record["intervals"][name] for name in names]
        stability, most_frequent = record["stability"], tuple(record["most_frequent"])
        selections = [tuple(one) for one in record["selections"]]
        return {
            "names": tuple(names),
            "frequencies": tuple(frequencies[name] for name in names),
            "intervals": tuple((to_float(low), to_float(high)) for low, high in ends),
            "most_frequent": most_frequent,
            "n_most_frequent": selections.count(most_frequent),
            "n_selections": len(selections),
            "stability": None if stability is None else to_float(stability),
        }

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

    def _rows(self) -> list[tuple[str, str]]:
        shares = [f"{share:.2f}" for share in self.frequencies]
        return list(zip(self.names, shares, strict=True))

    def _axis_lines(self) -> list[str]:
        lines = [f"selection frequency, {counted(self.n_selections, 'subsample')}"]
        if self.stability is not None:
            lines.append(f"stability {number(self.stability, 2)} (1: equal, 0: random selections)")
        return lines

    def _draw_rows(self, ax: Axes, n_rows: int) -> list[Artist]:
        is_typical = self.n_most_frequent > 1
        filled = [not is_typical or name in self.most_frequent for name in self.names[:n_rows]]
        for place, is_filled in enumerate(filled):
            ax.plot(self.intervals[place], [place, place], zorder=2, **INTERVAL)
            face = BLUE if is_filled else base.BACKGROUND
            at = self.frequencies[place]
            ax.plot([at], [place], markerfacecolor=face, clip_on=False, zorder=3, **DOT)
        ax.set_xlim(-0.02, 1.02)
        handles: list[Artist] = []
        if is_typical and any(filled):
            text = f"in the most frequent set ({self.n_most_frequent} of {self.n_selections})"
            handles.append(Line2D([], [], linestyle="", label=text, **DOT))
        if is_typical and not all(filled):
            hollow = {**DOT, "markerfacecolor": base.BACKGROUND}
            handles.append(Line2D([], [], linestyle="", label="not in that set", **hollow))
        return [*handles, Line2D([], [], label="95 % interval", **INTERVAL)]
