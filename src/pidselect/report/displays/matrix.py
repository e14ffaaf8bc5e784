"""The selected features by twos: what each pair shares, and what it tells only together."""

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

from pidselect.decomposition.result import Explanation
from pidselect.report.displays.base import (
    AN_EXPLANATION,
    GROUND,
    LABEL_SIZE,
    Display,
    as_text,
    colour_bar,
    inches,
    ink_on,
    name_axes,
    record_of,
    say_empty,
)
from pidselect.report.displays.wording import counted, number, to_float, width, written
from pidselect.report.style import INK, LOOKS

Numbers = NDArray[np.float64]

#: Below zero, both halves fade into the same grey: such an estimate tells nothing.
_BELOW, _ZERO = "#6B6B6B", "#FAFAFA"

#: By the roles that they have in all pictures, and a darker shade of each.
_SHADES = {
    "redundancy": (LOOKS["shared"].colour, "#8F5F00"),
    "synergy": (LOOKS["synergy"].colour, "#00553E"),
}
MAPS = {
    name: LinearSegmentedColormap.from_list(
        name, [(0.0, _BELOW), (0.5, _ZERO), (0.8, colour), (1.0, dark)]
    )
    for name, (colour, dark) in _SHADES.items()
}

#: So many pairs are told in words.
TOLD = 3

#: Numbers in cells are not written smaller than this, in points.
SMALLEST = 4.5

#: A colour bar's share of the height.
BAR = 0.47


@dataclass(eq=False, repr=False)
class SynergyMatrixDisplay(Display):
    """Selected features by twos: redundancy below the diagonal, synergy above it.

    The diagonal is what each feature tells by itself, as a number without colour. Pairs that are
    not estimable are hatched.

    Parameters
    ----------
    names : tuple of str
    redundancy : array of float64, shape (n, n)
        What both tell, each by itself; on the diagonal, all that a feature tells by itself. NaN
        where it is not estimable.
    synergy : array of float64, shape (n, n)
        What they tell only together. NaN where it is not estimable.
    unit : str

    Examples
    --------
    >>> record = {
    ...     "names": ["rain", "sprinkler"],
    ...     "redundancy": [[0.31, 0.31], [0.31, 0.31]],
    ...     "synergy": [[0.0, 0.5], [0.5, 0.0]],
    ...     "estimable": [[True, True], [True, True]],
    ... }
    >>> display = SynergyMatrixDisplay.from_dict({"pairs": record})
    >>> print(display.describe())
    2 features by twos, 1 pair. Most redundancy: rain and sprinkler 0.31 bit. Most synergy: rain and
    sprinkler 0.50 bit.
    """

    names: tuple[str, ...]
    redundancy: Numbers
    synergy: Numbers
    unit: str = "bit"
    title: ClassVar[str] = "Redundancy and synergy of the selected features by twos"

    @classmethod
    def from_explanation(cls, explanation: Explanation, *, ax: Axes | None = None) -> Self:
        """Draw the pairs of ``selector.explain(X, y)``."""
        return cls.from_dict(record_of(explanation, Explanation, AN_EXPLANATION)).plot(ax)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Return the display of what `Explanation.to_dict` gave, without drawing it."""
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
        )

    def describe(self) -> str:
        """Return what is seen, with the main numbers, in sentences."""
        n = len(self.names)
        n_pairs = n * (n - 1) // 2
        said = [f"{counted(n, 'feature')} by twos, {counted(n_pairs, 'pair')}."]
        for name, values in (("redundancy", self.redundancy), ("synergy", self.synergy)):
            if strongest := self._strongest(values):
                said.append(f"Most {name}: {', '.join(strongest)}.")
        unknown = int(np.isnan(self.synergy[np.triu_indices(n, 1)]).sum())
        if unknown:
            said.append(f"{counted(unknown, 'pair')} not estimable.")
        return " ".join(said)

    def _strongest(self, values: Numbers) -> list[str]:
        rows, columns = np.triu_indices(len(self.names), 1)
        pairs = values[rows, columns]
        order = [place for place in np.argsort(-pairs, kind="stable") if pairs[place] > 0]
        return [
            f"{written(self.names[rows[place]], 60)} and {written(self.names[columns[place]], 60)} "
            f"{number(pairs[place])} {self.unit}"
            for place in order[:TOLD]
        ]

    def _short(self) -> str:
        n = len(self.names)
        return f"{counted(n, 'feature')}, {counted(n * (n - 1) // 2, 'pair')}"

    def _size(self) -> tuple[float, float]:
        if len(self.names) < 2:
            return 5.2, 1.2
        cells = min(7.0, max(1.9, 0.5 * len(self.names)))
        names = max(width(written(name)) for name in self.names)
        # A colour bar is as high as the matrix, and its title needs some height, too.
        return cells + names + 1.9, max(cells, 2.3) + 0.75 * names + 0.4

    def _sides(self) -> tuple[float, float]:
        return max((width(written(name)) for name in self.names), default=0.0) + 0.15, 1.3

    def _draw(self, ax: Axes) -> None:
        n = len(self.names)
        if n < 2:
            say_empty(ax, "No pair: fewer than two features are selected.")
            return
        most = self._largest()
        norm = Normalize(-most, most)
        lower = np.tril(np.ones((n, n), dtype=bool), -1)
        for name, values, there in (
            ("redundancy", self.redundancy, lower),
            ("synergy", self.synergy, lower.T),
        ):
            seen = np.ma.masked_where(~there | np.isnan(values), np.clip(values, -most, most))
            ax.imshow(seen, cmap=MAPS[name], norm=norm, interpolation="nearest", zorder=1)
        self._draw_cells(ax)
        self._name_sides(ax)
        low = float(np.nanmin([0.0, *self.redundancy[lower], *self.synergy[lower.T]]))
        self._draw_bars(ax, norm, max(low, -most))

    def _largest(self) -> float:
        """Return what the deepest colour stands for."""
        off = ~np.eye(len(self.names), dtype=bool)
        values = np.abs(np.concatenate([self.redundancy[off], self.synergy[off]]))
        known = values[np.isfinite(values)]
        return max(float(known.max()), 1e-3) if len(known) else 1.0

    def _draw_cells(self, ax: Axes) -> None:
        """Hatch what is not known, and draw lines between cells as long as they are large."""
        n = len(self.names)
        for place in range(n):
            ax.add_patch(Rectangle((place - 0.5, place - 0.5), 1, 1, color="#E8E8E8", lw=0.0))
        for row, column in zip(*np.nonzero(np.isnan(self.synergy)), strict=True):
            if row != column:
                corner = (column - 0.5, row - 0.5)
                ax.add_patch(
                    Rectangle(corner, 1, 1, fill=False, hatch="////", ec="#8C8C8C", lw=0.0)
                )
        if n <= 60:
            between = np.arange(n + 1) - 0.5
            ax.hlines(between, -0.5, n - 0.5, color=GROUND, lw=0.8, zorder=2)
            ax.vlines(between, -0.5, n - 0.5, color=GROUND, lw=0.8, zorder=2)
        ax.set_xlim(-0.5, n - 0.5)
        ax.set_ylim(n - 0.5, -0.5)
        ax.spines[:].set_visible(False)

    def _name_sides(self, ax: Axes) -> None:
        """Write names on both sides, only every so many where they are too dense."""
        n = len(self.names)
        cell = min(inches(ax)) / n
        every = max(1, int(np.ceil(0.125 / cell)))
        places, names = range(0, n, every), [written(name) for name in self.names[::every]]
        ax.set_yticks(places, names)
        ax.set_xticks(places, names)
        ax.tick_params(axis="both", length=0, labelsize=LABEL_SIZE)
        longest = max(map(width, names))
        if longest > 0.9 * every * cell:
            slope = 45 if every * cell > 0.22 else 90
            for label in ax.get_xticklabels():
                label.set(rotation=slope, rotation_mode="anchor", ha="right")
                label.set_verticalalignment("center" if slope == 90 else "top")
        as_text(*ax.get_xticklabels(), *ax.get_yticklabels())

    def _draw_bars(self, ax: Axes, norm: Normalize, low: float) -> None:
        """Draw a colour bar for each half, in axes that belong to these."""
        has_room = BAR * min(inches(ax)) > 0.8 * width("(below the diagonal)")
        for place, (name, colours) in enumerate(MAPS.items()):
            where = "below" if name == "redundancy" else "above"
            long, short = f"{name}, {self.unit}\n({where} the diagonal)", f"{name}\n({where})"
            box = (1.04, (1.0 - BAR) * place, 0.045, BAR)
            side = colour_bar(ax, box, ScalarMappable(norm, colours), long if has_room else short)
            side.set_ylim(low, norm.vmax)

    def _label(self, ax: Axes) -> None:
        """Print values where cells are large enough to hold them."""
        n = len(self.names)
        if n < 2:
            return
        if size_in(min(inches(ax)) / n) < SMALLEST:
            return
        name_axes(ax, x=f"on the diagonal: what each tells by itself, {self.unit}")
        most = self._largest()
        norm = Normalize(-most, most, clip=True)
        for row in range(n):
            for column in range(n):
                kind = "synergy" if column > row else "redundancy"
                value = float(getattr(self, kind)[row, column])
                ink = INK if row == column else ink_on(MAPS[kind](norm(value)))
                if not np.isnan(value):
                    ax.add_artist(CellText(column, row, value, ink))


class CellText(Text):
    """A number as large as its cell has room for, which is known only when all is drawn."""

    def __init__(self, column: int, row: int, value: float, colour: str) -> None:
        text = number(value) if np.isfinite(value) else str(value)
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
    """Return how large numbers are, in points, in a cell of a width in inches.

    Examples
    --------
    >>> round(size_in(0.5), 1), round(size_in(0.25), 1)
    (8.0, 6.1)
    """
    return min(8.0, 8.0 * (cell - 0.03) / width("0.00"))
