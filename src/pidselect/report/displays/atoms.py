"""Bars of atoms: what a feature tells alone, what others tell as well, what takes all of them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from pidselect.decomposition.result import TWO_SOURCE_NAMES, Decomposition, Explanation
from pidselect.decomposition.short_form import kind
from pidselect.report.displays.base import (
    A_DECOMPOSITION,
    AN_EXPLANATION,
    GROUND,
    QUIET,
    Display,
    inches,
    name_axes,
    record_of,
    say_empty,
)
from pidselect.report.displays.rows import (
    MAX_FEATURES,
    check_max_features,
    explain_above,
    height,
    name_rows,
)
from pidselect.report.displays.wording import (
    counted,
    number,
    sources_in_words,
    to_float,
    width,
    written,
)
from pidselect.report.style import INK, LETTER, LOOKS

#: Parts of a bar, each with a colour and a hatch of its own.
PARTS = {
    "unique": LOOKS["unique1"],
    "shared": LOOKS["shared"],
    "synergy": LOOKS["synergy"],
    "mixed": LOOKS["joint"]._replace(hatch="xxxx"),
}
EXPLAINED = ("unique", "shared", "synergy")

#: Up to so many atoms stand in the order of the lattice; of more, the largest come first.
IN_ORDER = 18

#: So many bars are told in words.
TOLD = 12


@dataclass(frozen=True)
class AtomBar:
    """A row: the parts of a feature's information, or one atom of a decomposition.

    Parameters
    ----------
    name : str
    parts : mapping of str to float
        By what they are: "unique", "shared", "synergy", or "mixed" for atoms of three sources and
        more that are none of these. NaN, or no part at all: not estimable, or not asked.
    note : str
        Written beside the bar: the role of a feature.
    interval : pair of float, optional
        Of an atom, from resamples.
    """

    name: str
    parts: Mapping[str, float]
    note: str = ""
    interval: tuple[float, float] | None = None

    @property
    def is_known(self) -> bool:
        """Whether there is anything to draw."""
        return bool(self.parts) and not any(np.isnan(value) for value in self.parts.values())


@dataclass(eq=False, repr=False)
class AtomBarsDisplay(Display):
    """Information about the target as horizontal bars, split into unique, shared and synergy.

    Parts are told by colour and by hatch. Estimates below zero go to the left of it. What is not
    estimable is a dash.

    Parameters
    ----------
    bars : tuple of AtomBar
        The strongest first.
    unit : {"bit", "nat"}
    variables : tuple of str
        Of a decomposition, what its sources are called and, last, its target.
    max_features : int
        So many bars are drawn at most.

    Examples
    --------
    >>> import numpy as np
    >>> from pidselect import decompose_distribution
    >>> xor = np.zeros((2, 2, 2))  # two sources, and the target last
    >>> xor[0, 0, 0] = xor[0, 1, 1] = xor[1, 0, 1] = xor[1, 1, 0] = 0.25
    >>> AtomBarsDisplay.from_decomposition(decompose_distribution(xor)).describe()
    '4 bars, in bit. shared: 0.000. unique 1: 0.000. unique 2: 0.000. synergy: 1.000.'
    """

    bars: tuple[AtomBar, ...]
    unit: str = "bit"
    variables: tuple[str, ...] = ()
    max_features: int = MAX_FEATURES
    title: ClassVar[str] = "Unique, shared and synergistic information"

    def __post_init__(self) -> None:
        check_max_features(self.max_features)

    @classmethod
    def from_explanation(
        cls, explanation: Explanation, *, ax: Axes | None = None, max_features: int = MAX_FEATURES
    ) -> Self:
        """Draw the features of ``selector.explain(X, y)``."""
        return cls.from_dict(
            record_of(explanation, Explanation, AN_EXPLANATION), max_features=max_features
        ).plot(ax)

    @classmethod
    def from_decomposition(
        cls,
        decomposition: Decomposition,
        *,
        ax: Axes | None = None,
        max_features: int = MAX_FEATURES,
    ) -> Self:
        """Draw the atoms that `decompose` found, with their intervals where they are known."""
        return cls.from_dict(
            record_of(decomposition, Decomposition, A_DECOMPOSITION), max_features=max_features
        ).plot(ax)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any], *, max_features: int = MAX_FEATURES) -> Self:
        """Return the display of a record, without drawing it.

        Parameters
        ----------
        record : mapping
            What `Explanation.to_dict` or `Decomposition.to_dict` gave.
        max_features : int
        """
        if "atoms" not in record:
            bars = tuple(_feature_bar(feature) for feature in record["features"])
            return cls(bars, max_features=max_features)
        atoms = {label: to_float(value) for label, value in record["atoms"].items()}
        labels = list(atoms)
        if len(labels) > IN_ORDER:
            labels.sort(key=lambda label: -abs(atoms[label]))
        return cls(
            bars=tuple(_atom_bar(label, atoms, record.get("intervals")) for label in labels),
            unit=record["unit"],
            variables=tuple(record.get("variables", ())),
            max_features=max_features,
        )

    def describe(self) -> str:
        """Return what is seen, with the main numbers, in sentences."""
        said = [f"{counted(len(self.bars), 'bar')}, in {self.unit}."]
        said += [_told(bar) for bar in self.bars[: min(TOLD, self.max_features)]]
        if more := len(self.bars) + 1 - len(said):
            said.append(f"And {more} more.")
        return " ".join(said)

    def _short(self) -> str:
        return f"{counted(len(self.bars), 'bar')}, in {self.unit}"

    def _size(self) -> tuple[float, float]:
        if not self.bars:
            return 5.2, 1.2
        drawn = self.bars[: self.max_features]
        more = len(self.bars) > len(drawn)
        return 4.4 + sum(self._sides()), height(len(drawn) + more) + 0.15 * bool(self.variables)

    def _sides(self) -> tuple[float, float]:
        drawn = self.bars[: self.max_features]
        names = max((width(written(bar.name)) for bar in drawn), default=0.0)
        return names + 0.15, max((width(bar.note) for bar in drawn), default=0.0) + 0.15

    def _draw(self, ax: Axes) -> None:
        if not self.bars:
            say_empty(ax, "There is no feature to explain.")
            return
        drawn = self.bars[: self.max_features]
        edge = _edge(drawn)
        for place, bar in enumerate(drawn):
            _draw_bar(ax, place, bar, edge)
        left = len(self.bars) - len(drawn)
        more = f"and {left} more" if left else ""
        name_rows(ax, [written(bar.name) for bar in drawn], [bar.note for bar in drawn], more)
        ax.axvline(0.0, color=INK, lw=0.6, zorder=3)
        ax.spines["left"].set_visible(False)
        ax.use_sticky_edges = False
        ax.margins(x=0.03)
        if ax.dataLim.width == 0.0:
            ax.set_xlim(-0.05, 1.0)
        self._explain(ax, drawn)

    def _explain(self, ax: Axes, drawn: Sequence[AtomBar]) -> None:
        lines = [f"information about the target, {self.unit}"]
        if self.variables:
            lines += textwrap.wrap(
                sources_in_words(self.variables), max(30, int(inches(ax)[0] / LETTER))
            )
        name_axes(ax, x="\n".join(lines))
        there = {name for bar in drawn for name in bar.parts}
        explain_above(ax, [_patch(name) for name in PARTS if name in there])


def _feature_bar(feature: Mapping[str, Any]) -> AtomBar:
    parts = {name: to_float(feature[name]) for name in EXPLAINED}
    return AtomBar(feature["name"], parts, note=feature["role"])


def _atom_bar(label: str, atoms: Mapping[str, float], intervals: Any) -> AtomBar:
    name = TWO_SOURCE_NAMES[label] if len(atoms) == len(TWO_SOURCE_NAMES) else label
    ends = None
    if intervals is not None:
        low, high = intervals[label]
        ends = to_float(low), to_float(high)
    value = atoms[label]
    shown = number(value, 3) if np.isfinite(value) else str(value)
    return AtomBar(name, {kind(label): value}, note=shown, interval=ends)


def _told(bar: AtomBar) -> str:
    name = written(bar.name, 60)
    if not bar.is_known:
        return f"{name}{f' ({bar.note})' * bool(bar.note)}: not estimable."
    if len(bar.parts) == 1:
        (value,) = bar.parts.values()
        ends = (
            ""
            if bar.interval is None
            else ", from {} to {}".format(*(number(end, 3) for end in bar.interval))
        )
        return f"{name}: {number(value, 3)}{ends}."
    parts = ", ".join(f"{part} {number(value, 3)}" for part, value in bar.parts.items())
    return f"{name} ({bar.note}): {parts}."


def _edge(bars: Sequence[AtomBar]) -> float:
    """Return how long a bar of infinite length is drawn: longer than all others."""
    ends = [
        abs(sum(value for value in bar.parts.values() if np.isfinite(value) and value * sign > 0))
        for bar in bars
        for sign in (-1.0, 1.0)
    ]
    return 1.15 * max(ends, default=0.0) or 1.0


def _draw_bar(ax: Axes, place: int, bar: AtomBar, edge: float) -> None:
    if not bar.is_known:
        ax.plot([0.0], [place], linestyle="none")  # so that the axes know of this row
        ax.annotate(
            "–",
            (0.0, place),
            (5.0, 0.0),
            textcoords="offset points",
            va="center_baseline",
            alpha=QUIET,
        )
        return
    ends = {-1: 0.0, 1: 0.0}
    for name, value in sorted(bar.parts.items(), key=lambda part: np.isinf(part[1])):
        length = float(np.clip(value, -edge, edge))
        side, look = -1 if length < 0 else 1, PARTS[name]
        ax.barh(
            place,
            length,
            height=0.72,
            left=ends[side],
            color=look.colour,
            hatch=look.hatch,
            edgecolor=GROUND,
            linewidth=0.3,
            zorder=2,
        )
        ends[side] += length
        if np.isinf(value):
            marker, shift, words = (">", -7.0, "inf") if side > 0 else ("<", 7.0, "-inf")
            ax.plot([ends[side]], [place], marker, color=INK, ms=6.0, zorder=4, clip_on=False)
            ax.annotate(
                words,
                (ends[side], place),
                (shift, 0.0),
                textcoords="offset points",
                ha="right" if side > 0 else "left",
                va="center_baseline",
                bbox={"boxstyle": "square,pad=0.15", "facecolor": GROUND, "lw": 0.0},
                zorder=4,
            )
    if bar.interval is not None and np.isfinite(bar.interval).all():
        ax.plot(bar.interval, [place, place], color=INK, lw=1.0, marker="|", ms=5.0, zorder=4)


def _patch(name: str) -> Patch:
    look = PARTS[name]
    return Patch(facecolor=look.colour, hatch=look.hatch, edgecolor=GROUND, label=name)
