"""The redundancy lattice of two to four sources, its nodes coloured by their atoms."""

from __future__ import annotations

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

from pidselect.data.messages import number, to_float
from pidselect.decomposition.lattice import lattice
from pidselect.decomposition.result import TWO_SOURCE_NAMES, Decomposition
from pidselect.report.displays import base
from pidselect.report.displays.base import Display
from pidselect.report.style import BLUE, INK, VERMILION

Numbers = NDArray[np.float64]

#: Number of sources by the number of their atoms.
SOURCES = {4: 2, 18: 3, 166: 4}

#: Diverging, distinguishable with any colour vision and by lightness.
COLOURS = LinearSegmentedColormap.from_list("atoms", [VERMILION, "#F7F7F7", BLUE])

#: Atoms listed where there is no room for boxes, and in the description.
MAX_NAMED, MAX_DESCRIBED_ATOMS = 12, 8

#: Sizes of figures, in inches.
SIZES = {2: (5.0, 3.2), 3: (6.6, 5.4), 4: (10.0, 7.6)}


class Layout(NamedTuple):
    """Positions of the nodes of a lattice and its edges; levels count from 0 at the bottom."""

    x: Numbers
    level: Numbers
    edges: tuple[tuple[int, int], ...]


@dataclass(eq=False, repr=False)
class LatticeDisplay(Display):
    """The atoms of a decomposition in the redundancy lattice, coloured by value.

    The bottom node is shared by all sources, the top node is the synergy of all. Two and three
    sources have a box for each atom; of the 166 atoms of four sources the largest are numbered and
    listed.

    Parameters
    ----------
    labels : tuple of str
        Antichains, such as "{1}{2}", in the order of the lattice.
    values : array of float64, shape (n_atoms,)
    unit : {"bit", "nat"}
    measure : str
    variables : tuple of str
        Names of the sources and, last, of the target.

    Examples
    --------
    Three sources have 18 atoms; of a parity, all is in the synergy of the three.

    >>> from pidselect import LatticeDisplay, datasets, decompose_distribution
    >>> xor = decompose_distribution(datasets.gate("XOR", n_sources=3), measure="imin")
    >>> display = LatticeDisplay.from_decomposition(xor)
    >>> display.n_sources, display.describe()
    (3, '18 atoms of 3 sources, measure imin, 1.000 bit in total. Largest: {1,2,3} 1.000.')
    """

    labels: tuple[str, ...]
    values: Numbers
    unit: str = "bit"
    measure: str = ""
    variables: tuple[str, ...] = ()
    title: ClassVar[str] = "Redundancy lattice of PID atoms"

    def __post_init__(self) -> None:
        if len(self.labels) not in SOURCES:
            raise ValueError(
                f"{len(self.labels)} atoms: a lattice is drawn for 2 to 4 sources, which have 4, "
                "18 or 166 atoms. AtomBarsDisplay shows the largest atoms of any number."
            )

    @classmethod
    def from_decomposition(cls, decomposition: Decomposition, *, ax: Axes | None = None) -> Self:
        """Draw the atoms of `decompose`."""
        return cls._of(decomposition, Decomposition, "decompose(sources, target)", ax)

    @classmethod
    def _fields(cls, record: Mapping[str, Any]) -> dict[str, Any]:
        atoms = record["atoms"]
        labels = lattice(SOURCES[len(atoms)]).labels if len(atoms) in SOURCES else tuple(atoms)
        return {
            "labels": labels,
            "values": np.array([to_float(atoms[name]) for name in labels]),
            "unit": record["unit"],
            "measure": record["measure"],
            "variables": tuple(record.get("variables", ())),
        }

    @property
    def n_sources(self) -> int:
        """Number of sources."""
        return SOURCES[len(self.labels)]

    def describe(self) -> str:
        """Return the main numbers in words."""
        measure = f", measure {self.measure}" if self.measure else ""
        total = number(float(self.values.sum()), unknown="not estimable")
        parts = [f"{self._summary()}{measure}, {total} {self.unit} in total."]
        if largest := self._largest(MAX_DESCRIBED_ATOMS):
            atoms = [f"{self.labels[node]} {number(self.values[node])}" for node in largest]
            parts.append(f"Largest: {', '.join(atoms)}.")
        if self.variables:
            parts.append(f"{base.variable_key(self.variables)}.")
        return " ".join(parts)

    def _largest(self, most: int) -> list[int]:
        """Return the atoms of largest absolute value, without those that round to zero."""
        amounts = np.nan_to_num(np.abs(self.values), nan=0.0, posinf=np.inf)
        order = np.argsort(-amounts, kind="stable")[:most]
        return [int(node) for node in order if amounts[node] >= 5e-4]

    def _summary(self) -> str:
        return f"{len(self.labels)} atoms of {self.n_sources} sources"

    def _layout(self) -> base.FigureLayout:
        return (*SIZES[self.n_sources], 0.1, 0.9)

    def _draw(self, ax: Axes) -> None:
        place = layout(self.n_sources)
        nodes = np.stack([place.x, place.level], axis=1)
        lines = [(nodes[low], nodes[high]) for low, high in place.edges]
        thin = 0.8 if self.n_sources < 4 else 0.4
        ax.add_collection(LineCollection(lines, colors="#C4C4C4", linewidths=thin, zorder=1))
        half = max(1.0, float(np.abs(place.x).max())) + 0.55
        ax.set_xlim(-half, half)
        ax.set_ylim(-0.6, place.level.max() + 0.6)
        base.hide_axes(ax)
        if self.variables:
            base.label_axes(ax, x=base.wrap(ax, [base.variable_key(self.variables)]))
        known = np.abs(self.values[np.isfinite(self.values)])
        most = max(float(known.max()), 1e-3) if len(known) else 1.0
        norm = Normalize(-most, most)
        colours = ScalarMappable(norm, COLOURS)
        base.colour_bar(ax, (1.02, 0.1, 0.02, 0.8), colours, f"atom, {self.unit}")
        shades = np.clip(np.nan_to_num(self.values), -most, most)
        room = 0.92 * base.inches(ax)[0] / (2 * half)
        if self.n_sources < 4 and max(base.width(text) for text in self._texts()) <= room:
            self._draw_boxes(ax, place, colours.to_rgba(shades))
        else:
            self._draw_dots(ax, place, shades, norm)

    def _texts(self) -> list[str]:
        names = TWO_SOURCE_NAMES if self.n_sources == 2 else {}
        return [
            "\n".join(filter(None, (name, names.get(name), number(value, unknown="nan"))))
            for name, value in zip(self.labels, self.values, strict=True)
        ]

    def _draw_boxes(self, ax: Axes, place: Layout, faces: Numbers) -> None:
        for x, level, text, face in zip(place.x, place.level, self._texts(), faces, strict=True):
            box = {"boxstyle": "round,pad=0.35", "facecolor": face, "edgecolor": INK, "lw": 0.6}
            style: dict[str, Any] = {"color": base.text_colour(face), "fontsize": 7.0, "bbox": box}
            ax.text(x, level, text, ha="center", va="center", zorder=3, **style)

    def _draw_dots(self, ax: Axes, place: Layout, shades: Numbers, norm: Normalize) -> None:
        """Draw nodes as dots; the largest are numbered and listed in the upper left corner."""
        largest = self._largest(MAX_NAMED)
        sizes = np.where(np.isin(np.arange(len(shades)), largest), 100.0, 36.0)
        style: dict[str, Any] = {"edgecolors": INK, "linewidths": 0.5, "zorder": 2}
        ax.scatter(place.x, place.level, c=shades, cmap=COLOURS, norm=norm, s=sizes, **style)
        lines = []
        for rank, node in enumerate(largest, start=1):
            text = ax.text(place.x[node], place.level[node], str(rank), fontsize=5.5, zorder=3)
            text.set(ha="center", va="center", color=base.text_colour(COLOURS(norm(shades[node]))))
            lines.append(f"{rank}: {self.labels[node]} {number(self.values[node])}")
        ax.text(0.0, 1.0, "\n".join(lines), transform=ax.transAxes, va="top", fontsize=7.0)


@cache
def layout(n_sources: int) -> Layout:
    """Arrange the nodes of a lattice with few edge crossings, by the barycentre heuristic."""
    upsets = lattice(n_sources).upsets
    sizes = upsets.sum(axis=1)
    levels = sizes.max() - sizes
    # Row: the lower, column: the upper node of an edge.
    is_above = (sizes == sizes[:, np.newaxis] - 1) & ~(upsets & ~upsets[:, np.newaxis]).any(axis=2)
    rows = [np.flatnonzero(levels == level).tolist() for level in range(int(levels.max()) + 1)]
    x = np.zeros(len(sizes))
    for row in rows:
        x[row] = _spread(len(row))
    for sweep in range(12):
        near, order = (is_above.T, rows) if sweep % 2 == 0 else (is_above, rows[::-1])
        for row in order[1:]:
            row.sort(key=lambda node: (round(float(x[near[node]].mean()), 9), x[node]))
            x[row] = _spread(len(row))
    return Layout(
        x, levels.astype(float), tuple((low, high) for low, high in np.argwhere(is_above).tolist())
    )


def _spread(count: int) -> Numbers:
    return np.arange(count, dtype=np.float64) - (count - 1) / 2
