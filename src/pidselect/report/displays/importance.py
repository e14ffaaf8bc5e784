"""The importance of features: the information that each adds to the (other) selected ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pidselect.data.messages import counted, number, p_relation, to_float
from pidselect.decomposition.explanation import ADDED_PARTS, Explanation
from pidselect.report.displays import base
from pidselect.report.displays.atoms import (
    PARTS,
    AtomBar,
    BarsDisplay,
    draw_bar,
    infinite_length,
)
from pidselect.report.displays.base import MAX_FEATURES
from pidselect.report.style import INK

#: Roles of columns that could not be selected.
NO_CANDIDATES = ("duplicate", "skipped")

#: Opacity of the bars of features that are not selected.
PALE = 0.4


@dataclass(eq=False, repr=False)
class ImportanceDisplay(BarsDisplay):
    """Information that each feature adds to the (other) selected ones, unique and synergistic.

    Selected features come first, each by its role, then by added information. Features that are not
    selected are pale: it is what they would add, with the p-value that leaves them out. Whiskers
    are intervals.

    Parameters
    ----------
    bars : tuple of AtomBar
    n_selected : int
        The number of selected features, which are the first bars.
    level : float
        Of the intervals.
    max_features : int
        Number of bars drawn.

    Examples
    --------
    >>> from pidselect import ImportanceDisplay
    >>> record = {
    ...     "features": [
    ...         {"name": "rain", "role": "strongly relevant", "selected": True, "unique": 0.3,
    ...          "synergy": 0.1, "added": 0.4, "p_value": 0.005},
    ...         {"name": "wind", "role": "irrelevant", "selected": False, "unique": 0.01,
    ...          "synergy": 0.0, "added": 0.01, "p_value": 0.7},
    ...     ]
    ... }
    >>> print(ImportanceDisplay.from_dict(record).describe())
    2 features, 1 selected. rain (0.400, p = 0.005): unique 0.300, synergy 0.100. wind (0.010,
    not significant, p = 0.700): unique 0.010, synergy 0.000.
    """

    bars: tuple[AtomBar, ...]
    n_selected: int = 0
    level: float = 0.95
    max_features: int = MAX_FEATURES
    title: ClassVar[str] = "Information added by each feature"
    nothing: ClassVar[str] = "No feature to explain."

    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        *,
        ax: Axes | None = None,
        max_features: int = MAX_FEATURES,
    ) -> Self:
        """Draw the features of ``selector.explain(X, y)``.

        Examples
        --------
        >>> from pidselect import ImportanceDisplay, PIDSelector, datasets
        >>> X, y = datasets.sample(datasets.gate("AND"), 200, random_state=0)
        >>> selector = PIDSelector(n_permutations=50, random_state=0).fit(X, y)
        >>> display = ImportanceDisplay.from_explanation(selector.explain(X, y))
        >>> display
        <ImportanceDisplay: 2 features, 2 selected>
        >>> [bar.name for bar in display.bars], display.ax_.get_xlabel()
        (['x1', 'x0'], 'information added to the (other) selected features, bit')
        """
        record = base.to_record(explanation, Explanation, "selector.explain(X, y)")
        return cls.from_dict(record, max_features=max_features).plot(ax)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any], *, max_features: int = MAX_FEATURES) -> Self:
        """Return the display of `Explanation.to_dict`, without drawing it."""
        features = [one for one in record["features"] if one["role"] not in NO_CANDIDATES]
        test = record.get("alpha", 0.05), record.get("is_sequential", False)
        return cls(
            bars=tuple(_bar(feature, *test) for feature in features),
            n_selected=sum(feature["selected"] for feature in features),
            level=record.get("level", 0.95),
            max_features=max_features,
        )

    def _summary(self) -> str:
        return f"{counted(len(self.bars), 'feature')}, {self.n_selected} selected"

    def _axis_lines(self) -> list[str]:
        return ["information added to the (other) selected features, bit"]

    def _draw_rows(self, ax: Axes, n_rows: int) -> list[Artist]:
        drawn = self.bars[:n_rows]
        edge = infinite_length(drawn)
        for place, bar in enumerate(drawn):
            draw_bar(ax, place, bar, edge, 1.0 if place < self.n_selected else PALE)
        if 0 < self.n_selected < n_rows:
            ax.axhline(self.n_selected - 0.5, color=INK, lw=0.6, linestyle=(0, (4.0, 3.0)))
        ax.axvline(0.0, color=INK, lw=0.6, zorder=3)
        ax.spines["left"].set_visible(False)
        ax.margins(x=0.03)
        ax.set_xlim(left=0.0, right=None if ax.dataLim.width else 1.0)
        handles: list[Artist] = []
        for name in ADDED_PARTS:
            colour, hatch = PARTS[name]
            handles.append(Patch(fc=colour, hatch=hatch, ec=base.BACKGROUND, label=name))
        if self.n_selected < n_rows:
            handles.append(Patch(fc=PARTS["unique"][0], alpha=PALE, label="not selected"))
        if any(bar.interval for bar in drawn):
            look: dict[str, Any] = {"color": INK, "lw": 1.0, "marker": "|", "ms": 5.0}
            handles.append(Line2D([], [], label=f"{100 * self.level:g} % interval", **look))
        return handles


def _bar(feature: Mapping[str, Any], alpha: float, is_sequential: bool) -> AtomBar:
    bound, added = "≥ " * feature.get("is_lower_bound", False), number(feature["added"])
    out = "not significant, " * (feature["role"] in ("weakly relevant", "irrelevant"))
    ends = feature.get("intervals", {}).get("added")
    return AtomBar(
        feature["name"],
        {part: to_float(feature[part]) for part in ADDED_PARTS},
        note=f"{bound}{added}, {out}{p_relation(feature['p_value'], alpha, is_sequential)}",
        interval=None if ends is None else (to_float(ends[0]), to_float(ends[1])),
    )
