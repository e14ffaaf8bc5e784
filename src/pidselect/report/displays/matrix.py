"""Pairwise PID of the selected features: redundancy and synergy of each pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from numpy.typing import NDArray

from pidselect.data.messages import counted, number, to_float
from pidselect.decomposition.explanation import Explanation
from pidselect.report.displays import base
from pidselect.report.displays.base import Display
from pidselect.report.style import AMBER, GREEN, INK

Numbers = NDArray[np.float64]

#: The colours of all displays, from almost white to a darker shade.
_SHADES = {"redundancy": (AMBER, "#8F5F00"), "synergy": (GREEN, "#00553E")}
MAPS = {
    name: LinearSegmentedColormap.from_list(name, [(0.0, "#FAFAFA"), (0.6, colour), (1.0, dark)])
    for name, (colour, dark) in _SHADES.items()
}

#: Pairs named in the description.
MAX_PAIRS = 3

#: Smallest redundancy of independent features that is marked, in bits.
MARKED = 0.01

#: Smallest size of numbers in cells, in points.
SMALLEST = 4.5

#: Height of a colour bar as a share of the axes.
BAR = 0.47


@dataclass(eq=False, repr=False)
class SynergyMatrixDisplay(Display):
    """Pairwise PID: redundancy below the diagonal, synergy above it.

    The diagonal holds the mutual information of each feature and the target, without colour. Pairs
    that are not estimable are hatched. Dots mark the redundancy of features that are independent of
    each other: an overlap in what they predict.

    Parameters
    ----------
    names : tuple of str
    redundancy : array of float64, shape (n, n)
        Shared information of each pair; on the diagonal, mutual information. NaN: not estimable.
    synergy : array of float64, shape (n, n)
    dependent : array of bool, shape (n, n)
        Whether two features depend on each other.
    unit : str

    Examples
    --------
    >>> from pidselect import SynergyMatrixDisplay
    >>> record = {
    ...     "names": ["rain", "sprinkler"],
    ...     "redundancy": [[0.31, 0.31], [0.31, 0.31]],
    ...     "synergy": [[0.0, 0.5], [0.5, 0.0]],
    ...     "dependent": [[True, False], [False, True]],
    ...     "estimable": [[True, True], [True, True]],
    ... }
    >>> SynergyMatrixDisplay.from_dict({"pairs": record}).describe()
    '2 features, 1 pair. Redundancy: rain and sprinkler 0.310. Synergy: rain and sprinkler 0.500.'
    """

    names: tuple[str, ...]
    redundancy: Numbers
    synergy: Numbers
    dependent: NDArray[np.bool_]
    unit: str = "bit"
    title: ClassVar[str] = "Pairwise redundancy and synergy of the selected features"

    @classmethod
    def from_explanation(cls, explanation: Explanation, *, ax: Axes | None = None) -> Self:
        """Draw the pairs of ``selector.explain(X, y)``.

        Examples
        --------
        >>> from pidselect import PIDSelector, SynergyMatrixDisplay, datasets
        >>> X, y = datasets.sample(datasets.gate("AND"), 200, random_state=0)
        >>> selector = PIDSelector(n_permutations=50, random_state=0).fit(X, y)
        >>> display = SynergyMatrixDisplay.from_explanation(selector.explain(X, y))
        >>> print(display.describe())
        2 features, 1 pair. Redundancy: x1 and x0 0.338. Synergy: x1 and x0 0.523.
        """
        record = base.to_record(explanation, Explanation, "selector.explain(X, y)")
        return cls.from_dict(record).plot(ax)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Return the display of `Explanation.to_dict`, without drawing it."""
        pairs = record["pairs"]
        n = len(pairs["names"])
        estimable = np.array(pairs["estimable"], dtype=bool).reshape(n, n)
        redundancy, synergy = (
            np.array([[to_float(value) for value in row] for row in pairs[key]]).reshape(n, n)
            for key in ("redundancy", "synergy")
        )
        return cls(
            names=tuple(pairs["names"]),
            redundancy=np.where(estimable, redundancy, np.nan),
            synergy=np.where(estimable, synergy, np.nan),
            dependent=np.array(pairs["dependent"], dtype=bool).reshape(n, n),
        )

    def describe(self) -> str:
        """Return the main numbers in words."""
        parts = [f"{self._summary()}."]
        for name, values in (("Redundancy", self.redundancy), ("Synergy", self.synergy)):
            if strongest := self._strongest(values):
                parts.append(f"{name}: {', '.join(strongest)}.")
        unknown = int(np.isnan(self.synergy[np.triu_indices(len(self.names), 1)]).sum())
        if unknown:
            parts.append(f"{counted(unknown, 'pair')} not estimable.")
        return " ".join(parts)

    def _strongest(self, values: Numbers) -> list[str]:
        rows, columns = np.triu_indices(len(self.names), 1)
        pairs = values[rows, columns]
        order = [place for place in np.argsort(-pairs, kind="stable") if pairs[place] > 0]
        names = [base.label(name, base.LONG_NAME) for name in self.names]
        return [
            f"{names[rows[place]]} and {names[columns[place]]} {number(pairs[place])}"
            for place in order[:MAX_PAIRS]
        ]

    def _summary(self) -> str:
        n = len(self.names)
        return f"{counted(n, 'feature')}, {counted(n * (n - 1) // 2, 'pair')}"

    def _layout(self) -> base.FigureLayout:
        if len(self.names) < 2:
            return base.EMPTY
        cells = min(7.0, max(1.9, 0.5 * len(self.names)))
        names = base.max_width(self.names)
        # A colour bar has half the height of the matrix, and its title needs some, too.
        return cells + names + 1.9, max(cells, 2.3) + 0.75 * names + 0.4, names + 0.15, 1.3

    def _draw(self, ax: Axes) -> None:
        n = len(self.names)
        if n < 2:
            base.show_message(ax, "No pair: fewer than two selected features.")
            return
        lower = np.tril(np.ones((n, n), dtype=bool), -1)
        known = np.concatenate([self.redundancy[lower], self.synergy[lower.T]])
        norm = Normalize(0.0, max(known[np.isfinite(known)], default=0.0) or 1.0, clip=True)
        for name, half in (("redundancy", lower), ("synergy", lower.T)):
            values = getattr(self, name)
            seen = np.ma.masked_where(~half | np.isnan(values), np.clip(values, 0.0, norm.vmax))
            ax.imshow(seen, cmap=MAPS[name], norm=norm, interpolation="nearest", zorder=1)
        cell = min(base.inches(ax)) / n
        self._draw_cells(ax, norm, cell)
        self._label_sides(ax, cell)
        self._draw_colour_bars(ax, norm)

    def _draw_cells(self, ax: Axes, norm: Normalize, cell: float) -> None:
        """Hatch unknown values, separate the cells, and print values where there is room."""
        n = len(self.names)
        for place in range(n):
            ax.add_patch(Rectangle((place - 0.5, place - 0.5), 1, 1, color="#E8E8E8", lw=0.0))
        unknown = np.isnan(self.synergy)
        independent = np.tril(~self.dependent & (self.redundancy >= MARKED), -1)
        for cells, hatch in ((unknown, "////"), (independent, "..")):
            for row, column in zip(*np.nonzero(cells), strict=True):
                if row != column:
                    corner = (column - 0.5, row - 0.5)
                    look: dict[str, Any] = {
                        "fill": False,
                        "hatch": hatch,
                        "ec": "#8C8C8C",
                        "lw": 0.0,
                    }
                    ax.add_patch(Rectangle(corner, 1, 1, zorder=2, **look))
        if n <= 60:
            between = np.arange(n + 1) - 0.5
            ax.hlines(between, -0.5, n - 0.5, color=base.BACKGROUND, lw=0.8, zorder=2)
            ax.vlines(between, -0.5, n - 0.5, color=base.BACKGROUND, lw=0.8, zorder=2)
        ax.set_xlim(-0.5, n - 0.5)
        ax.set_ylim(n - 0.5, -0.5)
        ax.spines[:].set_visible(False)
        if size_in(cell) < SMALLEST:
            return
        lines = [f"diagonal: mutual information with the target, {self.unit}"]
        if independent.any():
            lines.append("dotted: independent features that overlap in what they predict")
        base.label_axes(ax, x=base.wrap(ax, lines))
        for row in range(n):
            for column in range(n):
                part = "synergy" if column > row else "redundancy"
                value = float(getattr(self, part)[row, column])
                colour = INK if row == column else base.text_colour(MAPS[part](norm(value)))
                if not np.isnan(value):
                    ax.add_artist(CellText(column, row, value, colour))

    def _label_sides(self, ax: Axes, cell: float) -> None:
        """Write names on both sides, only every n-th where they are too dense."""
        every = max(1, int(np.ceil(base.LINE_HEIGHT / cell)))
        places, names = range(0, len(self.names), every), list(map(base.label, self.names[::every]))
        ax.set_yticks(places, names)
        ax.set_xticks(places, names)
        ax.tick_params(axis="both", length=0, labelsize=base.LABEL_SIZE)
        if max(map(base.width, names)) > 0.9 * every * cell:
            base.slope(ax, 45 if every * cell > 0.22 else 90)
        base.as_plain_text(*ax.get_xticklabels(), *ax.get_yticklabels())

    def _draw_colour_bars(self, ax: Axes, norm: Normalize) -> None:
        is_tall = BAR * min(base.inches(ax)) > 0.8 * base.width("(below the diagonal)")
        for place, (name, colours) in enumerate(MAPS.items()):
            where = "below" if name == "redundancy" else "above"
            long, short = f"{name}, {self.unit}\n({where} the diagonal)", f"{name}\n({where})"
            box = (1.04, (1.0 - BAR) * place, 0.045, BAR)
            base.colour_bar(ax, box, ScalarMappable(norm, colours), long if is_tall else short)


class CellText(Text):
    """A number whose size follows that of its cell, which is known only when it is drawn."""

    def __init__(self, column: int, row: int, value: float, colour: str) -> None:
        text = number(value)
        super().__init__(column, row, text, color=colour, ha="center", va="center", zorder=3)
        self.set_in_layout(False)

    def draw(self, renderer: Any) -> None:
        """Draw it, unless it would be too small to read."""
        corners = self.get_transform().transform([(0.0, 0.0), (1.0, 1.0)])
        size = size_in(np.abs(np.diff(corners, axis=0)).min() / renderer.points_to_pixels(72.0))
        if size >= SMALLEST:
            self.set_fontsize(size)
            super().draw(renderer)


def size_in(cell: float) -> float:
    """Return the font size of numbers in a cell of a width in inches."""
    return min(8.0, 8.0 * (cell - 0.03) / base.width("0.000"))
