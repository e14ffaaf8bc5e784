"""The redundancy lattice of two to four sources, its nodes coloured by their atoms."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from numpy.typing import NDArray

from pidselect.decomposition.lattice import lattice
from pidselect.decomposition.result import TWO_SOURCE_NAMES, Decomposition
from pidselect.report.displays.base import (
    A_DECOMPOSITION,
    GROUND,
    Display,
    bare,
    colour_bar,
    inches,
    ink_on,
    name_axes,
    record_of,
)
from pidselect.report.displays.placing import Room, Spot, boxes_around
from pidselect.report.displays.wording import (
    counted,
    number,
    sources_in_words,
    to_float,
    width,
)
from pidselect.report.style import INK, LETTER, LOOKS

Numbers = NDArray[np.float64]

#: How many sources a number of atoms belongs to, as far as their lattice can be drawn.
SOURCES = {4: 2, 18: 3, 166: 4}

#: Below zero, at zero, above it: told apart with any colour vision, and by lightness.
COLOURS = LinearSegmentedColormap.from_list(
    "atoms", [LOOKS["second"].colour, "#F7F7F7", LOOKS["first"].colour]
)

#: Where there is no room for boxes, so many of the largest atoms are named.
NAMED = 16

#: So many atoms are told in words.
TOLD = 8

#: Sizes of figures, in inches.
SIZES = {2: (5.0, 3.2), 3: (6.6, 5.4), 4: (10.0, 7.6)}

SMALL = 6.5


class Layout(NamedTuple):
    """Where the nodes of a lattice stand: x in steps from the middle, levels from 0 up."""

    x: Numbers
    level: Numbers
    edges: tuple[tuple[int, int], ...]


@dataclass(eq=False, repr=False)
class LatticeDisplay(Display):
    """Each atom of a decomposition at its place in the lattice, coloured by its value.

    The lower a node, the more sources know of it: at the bottom is what all of them share, at the
    top what only all together tell. Two and three sources have a box for each atom; of the 166
    atoms of four sources, the largest are named.

    Parameters
    ----------
    labels : tuple of str
        Antichains, such as "{1}{2}", lower ones first.
    values : array of float64, shape (n_atoms,)
    unit : {"bit", "nat"}
    measure : str
    variables : tuple of str
        What the sources are called and, last, the target.

    Examples
    --------
    >>> import numpy as np
    >>> from pidselect import decompose_distribution
    >>> xor = np.zeros((2, 2, 2))  # two sources, and the target last
    >>> xor[0, 0, 0] = xor[0, 1, 1] = xor[1, 0, 1] = xor[1, 1, 0] = 0.25
    >>> print(LatticeDisplay.from_decomposition(decompose_distribution(xor)).describe())
    4 atoms of 2 sources by broja, 1.000 bit in all. The largest: {1,2} 1.000.
    """

    labels: tuple[str, ...]
    values: Numbers
    unit: str = "bit"
    measure: str = ""
    variables: tuple[str, ...] = ()
    title: ClassVar[str] = "The redundancy lattice and its atoms"

    def __post_init__(self) -> None:
        if len(self.labels) not in SOURCES:
            raise ValueError(
                f"{len(self.labels)} atoms: a lattice is drawn for 2 to 4 sources, which have 4, "
                "18 or 166. AtomBarsDisplay shows the largest atoms of any number."
            )

    @classmethod
    def from_decomposition(cls, decomposition: Decomposition, *, ax: Axes | None = None) -> Self:
        """Draw the atoms that `decompose` found."""
        return cls.from_dict(record_of(decomposition, Decomposition, A_DECOMPOSITION)).plot(ax)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Return the display of what `Decomposition.to_dict` gave, without drawing it."""
        atoms = record["atoms"]
        labels = lattice(SOURCES[len(atoms)]).labels if len(atoms) in SOURCES else tuple(atoms)
        return cls(
            labels=labels,
            values=np.array([to_float(atoms[label]) for label in labels]),
            unit=record["unit"],
            measure=record["measure"],
            variables=tuple(record.get("variables", ())),
        )

    @property
    def n_sources(self) -> int:
        """The number of sources."""
        return SOURCES[len(self.labels)]

    def describe(self) -> str:
        """Return what is seen, with the main numbers, in sentences."""
        by = f" by {self.measure}" if self.measure else ""
        total = number(float(self.values.sum()), 3)
        said = f"{len(self.labels)} atoms of {counted(self.n_sources, 'source')}{by}, "
        said += f"{total} {self.unit} in all."
        largest = [
            f"{self.labels[place]} {number(float(self.values[place]), 3)}"
            for place in self._largest(TOLD)
        ]
        words = f" {sources_in_words(self.variables)}." if self.variables else ""
        return said + (f" The largest: {', '.join(largest)}." if largest else "") + words

    def _largest(self, most: int) -> list[int]:
        """Return the atoms of the largest amount, those left out that round to zero."""
        amounts = np.nan_to_num(np.abs(self.values), nan=0.0, posinf=np.inf)
        order = np.argsort(-amounts, kind="stable")[:most]
        return [int(place) for place in order if amounts[place] >= 5e-4]

    def _short(self) -> str:
        return f"{len(self.labels)} atoms of {self.n_sources} sources"

    def _size(self) -> tuple[float, float]:
        return SIZES[self.n_sources]

    def _sides(self) -> tuple[float, float]:
        return 0.1, 0.9

    def _draw(self, ax: Axes) -> None:
        place = layout(self.n_sources)
        ends = np.stack([place.x, place.level], axis=1)
        lines = [(ends[low], ends[high]) for low, high in place.edges]
        thin = 0.8 if self.n_sources < 4 else 0.4
        ax.add_collection(LineCollection(lines, colors="#C4C4C4", linewidths=thin, zorder=1))
        half = max(1.0, float(np.abs(place.x).max())) + 0.55
        ax.set_xlim(-half, half)
        ax.set_ylim(-0.6, place.level.max() + 0.6)
        bare(ax)
        if self.variables:
            words = sources_in_words(self.variables)
            told = textwrap.wrap(words, max(30, int(inches(ax)[0] / LETTER)))
            name_axes(ax, x="\n".join(told))
        colours = ScalarMappable(self._norm(), COLOURS)
        colour_bar(ax, (1.02, 0.1, 0.02, 0.8), colours, f"atom, {self.unit}")

    def _norm(self) -> Normalize:
        known = np.abs(self.values[np.isfinite(self.values)])
        most = max(float(known.max()), 1e-3) if len(known) else 1.0
        return Normalize(-most, most)

    def _label(self, ax: Axes) -> None:
        place = layout(self.n_sources)
        wide = inches(ax)[0] * 0.92 / (np.ptp(ax.get_xlim()))
        if self.n_sources < 4 and max(width(text) for text in self._texts()) <= wide:
            self._draw_boxes(ax, place)
        else:
            self._draw_dots(ax, place)

    def _texts(self) -> list[str]:
        """Return what the boxes hold."""
        names = TWO_SOURCE_NAMES if self.n_sources == 2 else {}
        return [
            "\n".join([label, *([names[label]] if label in names else []), _short(value)])
            for label, value in zip(self.labels, self.values, strict=True)
        ]

    def _draw_boxes(self, ax: Axes, place: Layout) -> None:
        norm = self._norm()
        for x, level, text, value in zip(
            place.x, place.level, self._texts(), self.values, strict=True
        ):
            face = COLOURS(norm(np.clip(np.nan_to_num(value), norm.vmin, norm.vmax)))
            box = {"boxstyle": "round,pad=0.35", "facecolor": face, "edgecolor": INK, "lw": 0.6}
            ax.text(
                x,
                level,
                text,
                fontsize=SMALL + 0.5,
                color=ink_on(face),
                bbox=box,
                ha="center",
                va="center",
                zorder=3,
            )

    def _draw_dots(self, ax: Axes, place: Layout) -> None:
        """Draw nodes as dots, and name the largest where there is room."""
        norm = self._norm()
        shades = np.clip(np.nan_to_num(self.values), norm.vmin, norm.vmax)
        size = 0.09 if self.n_sources == 4 else 0.12
        ax.scatter(
            place.x,
            place.level,
            c=shades,
            cmap=COLOURS,
            norm=norm,
            s=(72 * size) ** 2,
            edgecolors=INK,
            linewidths=0.5,
            zorder=2,
        )
        room = Room((-0.3, -0.3, inches(ax)[0] + 0.3, inches(ax)[1] + 0.3))
        corner, dpi = ax.get_window_extent().p0, ax.figure.dpi
        marks = (ax.transData.transform(np.stack(place[:2], axis=1)) - corner) / dpi
        room.take(boxes_around(marks, size / 2 + 0.01))
        ends = {label: place for place, label in enumerate(self.labels)}
        always = [ends[self.labels[0]], ends[self.labels[-1]]]
        for node in dict.fromkeys([*self._largest(NAMED), *always]):
            text = f"{self.labels[node]}\n{_short(self.values[node])}"
            needed = (width(text, SMALL) + 0.02, 0.23)
            spot = room.find(tuple(marks[node]), needed, _spots(size))
            if spot is not None:
                self._name(ax, node, text, spot)

    def _name(self, ax: Axes, node: int, text: str, spot: Spot) -> None:
        place = layout(self.n_sources)
        ax.annotate(
            text,
            (place.x[node], place.level[node]),
            (72.0 * spot.x, 72.0 * spot.y),
            textcoords="offset points",
            fontsize=SMALL,
            linespacing=1.05,
            ha=spot.ha,
            va=spot.va,
            zorder=4,
            bbox={"boxstyle": "square,pad=0.05", "facecolor": GROUND, "lw": 0.0},
        )


def _spots(size: float) -> list[Spot]:
    gap = size / 2 + 0.03
    sides = [Spot(gap, 0.0, "left", "center"), Spot(-gap, 0.0, "right", "center")]
    over = [Spot(0.0, gap, "center", "bottom"), Spot(0.0, -gap, "center", "top")]
    corners = [
        Spot(x, y, "left" if x > 0 else "right", "bottom" if y > 0 else "top")
        for y in (gap, -gap)
        for x in (0.02, -0.02)
    ]
    return [*over, *corners, *sides]


def _short(value: float) -> str:
    return number(value, 3) if np.isfinite(value) else str(float(value))


@cache
def layout(n_sources: int) -> Layout:
    """Return where the nodes of a lattice stand, so that edges cross each other little.

    Examples
    --------
    >>> layout(2).x.tolist(), layout(2).level.tolist()
    ([0.0, -0.5, 0.5, 0.0], [0.0, 1.0, 1.0, 2.0])
    """
    upsets = lattice(n_sources).upsets
    sizes = upsets.sum(axis=1)
    levels = sizes.max() - sizes
    edges = tuple(
        (int(low), int(high))
        for low in range(len(sizes))
        for high in np.flatnonzero(sizes == sizes[low] - 1)
        if not (upsets[high] & ~upsets[low]).any()
    )
    rows = [np.flatnonzero(levels == level).tolist() for level in range(int(levels.max()) + 1)]
    x = np.zeros(len(sizes))
    for row in rows:
        x[row] = _spread(len(row))
    down: dict[int, list[int]] = {node: [] for node in range(len(sizes))}
    up: dict[int, list[int]] = {node: [] for node in range(len(sizes))}
    for low, high in edges:
        down[high].append(low)
        up[low].append(high)
    for sweep in range(12):
        near, order = (down, rows) if sweep % 2 == 0 else (up, rows[::-1])
        for row in order[1:]:
            row.sort(key=lambda node: (round(float(x[near[node]].mean()), 9), x[node]))
            x[row] = _spread(len(row))
    return Layout(x, levels.astype(float), edges)


def _spread(count: int) -> Numbers:
    return np.arange(count, dtype=np.float64) - (count - 1) / 2
