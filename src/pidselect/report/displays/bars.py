"""Bars with one row for each feature or atom: importance, and PID atoms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pidselect.data.messages import counted, number, p_relation, to_float
from pidselect.decomposition.explanation import ADDED_PARTS, ATOMS, Explanation
from pidselect.decomposition.result import TWO_SOURCE_NAMES, Decomposition
from pidselect.report.displays import base
from pidselect.report.displays.base import MAX_FEATURES, RowsDisplay
from pidselect.report.style import AMBER, BLUE, DARK, GREEN, INK

#: Colour and hatch of each type of atom.
PARTS = {
    "unique": (BLUE, ""),
    "shared": (AMBER, "\\\\\\\\"),
    "synergy": (GREEN, "----"),
    "mixed": (DARK, "xxxx"),
}

#: Candidates of a step that are drawn.
MAX_CANDIDATES = 5

#: Up to so many atoms are in the order of the lattice, more by decreasing size.
IN_ORDER = 18

#: Roles of columns that could not be selected.
NO_CANDIDATES = ("duplicate", "skipped")

#: Opacity of the bars of features that are not selected.
PALE = 0.4


@dataclass(frozen=True)
class AtomBar:
    """One bar: the PID of a feature, or one atom of a decomposition.

    `parts` are amounts by type: "unique", "shared", "synergy", or "mixed" for other atoms of three
    and more sources; empty or NaN if not estimable. `note` is the text beside the bar, such as the
    role of a feature, `interval` the bootstrap interval of an atom.
    """

    name: str
    parts: Mapping[str, float]
    note: str = ""
    interval: tuple[float, float] | None = None

    @property
    def is_known(self) -> bool:
        """Whether all parts are numbers."""
        return bool(self.parts) and not any(np.isnan(value) for value in self.parts.values())

    def describe(self) -> str:
        """Return the numbers in words."""
        name, note = base.label(self.name, base.LONG_NAME), f" ({self.note})" if self.note else ""
        if not self.is_known:
            return f"{name}{note}: not estimable."
        if len(self.parts) == 1:  # of a decomposition, whose note is the value
            ends = "" if self.interval is None else ", from {} to {}"
            (value,) = self.parts.values()
            return f"{name}: {number(value)}{ends.format(*map(number, self.interval or ()))}."
        parts = ", ".join(f"{part} {number(value)}" for part, value in self.parts.items())
        return f"{name}{note}: {parts}."


class BarsDisplay(RowsDisplay):
    """A display of bars, one in each row."""

    bars: tuple[AtomBar, ...]
    _nothing = "No feature to explain."

    @classmethod
    def from_explanation(
        cls, explanation: Explanation, *, ax: Axes | None = None, max_features: int = MAX_FEATURES
    ) -> Self:
        """Draw the features of ``selector.explain(X, y)``."""
        origin = "selector.explain(X, y)"
        return cls._of(explanation, Explanation, origin, ax, max_features=max_features)

    def describe(self) -> str:
        """Return the main numbers in words."""
        described = self.bars[: min(base.MAX_DESCRIBED, self.max_features)]
        parts = [f"{self._summary()}.", *(bar.describe() for bar in described)]
        if more := len(self.bars) - len(described):
            parts.append(f"And {more} more.")
        return " ".join(parts)

    def _rows(self) -> list[tuple[str, str]]:
        return [(bar.name, bar.note) for bar in self.bars]

    def _draw_rows(self, ax: Axes, n_rows: int) -> list[Artist]:
        drawn = self.bars[:n_rows]
        ends = [
            abs(sum(part for part in bar.parts.values() if np.isfinite(part) and part * sign > 0))
            for bar in drawn
            for sign in (-1.0, 1.0)
        ]
        edge = 1.15 * max(ends, default=0.0) or 1.0  # infinite parts are longer than all others
        for place, bar in enumerate(drawn):
            draw_bar(ax, place, bar, edge, self._opacity(place))
        ax.axvline(0.0, color=INK, lw=0.6, zorder=3)
        ax.spines["left"].set_visible(False)
        ax.margins(x=0.03)
        found = {name for bar in drawn for name in bar.parts}
        return [
            Patch(fc=colour, hatch=hatch, ec=base.BACKGROUND, label=name)
            for name, (colour, hatch) in PARTS.items()
            if name in found
        ]

    def _opacity(self, place: int) -> float:
        return 1.0


@dataclass(eq=False, repr=False)
class AtomBarsDisplay(BarsDisplay):
    """Unique, shared and synergistic information as stacked bars.

    Parts differ in colour and hatch. Estimates below zero extend to the left. A dash: not
    estimable.

    Parameters
    ----------
    bars : tuple of AtomBar
    unit : {"bit", "nat"}
    variables : tuple of str
        Of a decomposition, the names of the sources and, last, of the target.
    max_features : int
        Number of bars drawn.

    Examples
    --------
    >>> from pidselect import AtomBarsDisplay, PIDSelector, datasets, decompose_distribution
    >>> xor = decompose_distribution(datasets.gate("XOR"))
    >>> AtomBarsDisplay.from_decomposition(xor).describe()
    '4 bars, in bit. shared: 0.000. unique 1: 0.000. unique 2: 0.000. synergy: 1.000.'
    >>> X, y = datasets.sample(datasets.gate("AND"), 200, random_state=0)
    >>> selector = PIDSelector(random_state=0).fit(X, y)
    >>> explanation = selector.explain(X, y, path=True)
    >>> print(AtomBarsDisplay.from_explanation(explanation).describe())
    2 bars, in bit. x1 (strongly relevant): unique 0.037, shared 0.326, synergy 0.518. x0 (strongly
    relevant): unique 0.000, shared 0.327, synergy 0.518.
    >>> [(bar.name, bar.note) for bar in AtomBarsDisplay.from_path(explanation).bars]
    [('step 1: x1', 'included'), ('step 1: x0', ''), ('step 2: x0', 'included')]
    """

    bars: tuple[AtomBar, ...]
    unit: str = "bit"
    variables: tuple[str, ...] = ()
    max_features: int = MAX_FEATURES
    title: ClassVar[str] = "Unique, shared and synergistic information"

    @classmethod
    def from_path(
        cls,
        explanation: Explanation,
        *,
        ax: Axes | None = None,
        max_candidates: int = MAX_CANDIDATES,
    ) -> Self:
        """Draw the strongest candidates of each forward step of ``explain(X, y, path=True)``.

        Each is decomposed beside the features selected before, as in figure 3B of the paper.
        """
        if not isinstance(explanation, Explanation) or explanation.path is None:
            raise TypeError(
                "expected an explanation with a path: selector.explain(X, y, path=True)"
            )
        bars = []
        steps = [step for step in explanation.path.steps if step.phase == "forward"]
        for number_of_step, step in enumerate(steps, start=1):
            strongest = sorted(step.atoms, key=lambda name: -step.atoms[name].added)
            names = dict.fromkeys((step.chosen, *strongest))
            for name in [one for one in names if one in step.atoms][:max_candidates]:
                note = step.outcome if name == step.chosen else ""
                parts = {atom: getattr(step.atoms[name], atom) for atom in ATOMS}
                bars.append(AtomBar(f"step {number_of_step}: {name}", parts, note))
        return cls(tuple(bars), max_features=max(1, len(bars))).plot(ax)

    @classmethod
    def from_decomposition(
        cls,
        decomposition: Decomposition,
        *,
        ax: Axes | None = None,
        max_features: int = MAX_FEATURES,
    ) -> Self:
        """Draw the atoms of `decompose`, with their intervals if there are any."""
        origin = "decompose(sources, target)"
        return cls._of(decomposition, Decomposition, origin, ax, max_features=max_features)

    @classmethod
    def _fields(cls, record: Mapping[str, Any]) -> dict[str, Any]:
        if "atoms" not in record:
            rows = [
                AtomBar(one["name"], {name: to_float(one[name]) for name in ATOMS}, one["role"])
                for one in record["features"]
            ]
            return {"bars": tuple(rows)}
        atoms = {name: to_float(value) for name, value in record["atoms"].items()}
        if len(atoms) > IN_ORDER:
            atoms = dict(sorted(atoms.items(), key=lambda item: -abs(item[1])))
        names = TWO_SOURCE_NAMES if len(atoms) == len(TWO_SOURCE_NAMES) else {}
        intervals = record.get("intervals") or {}
        bars = [
            AtomBar(
                names.get(label, label),
                {atom_type(label): value},
                number(value, unknown="nan"),
                _ends(intervals.get(label)),
            )
            for label, value in atoms.items()
        ]
        return {
            "bars": tuple(bars),
            "unit": record["unit"],
            "variables": tuple(record.get("variables", ())),
        }

    def _summary(self) -> str:
        return f"{counted(len(self.bars), 'bar')}, in {self.unit}"

    def _axis_lines(self) -> list[str]:
        key = [base.variable_key(self.variables)] if self.variables else []
        return [f"information about the target, {self.unit}", *key]

    def _draw_rows(self, ax: Axes, n_rows: int) -> list[Artist]:
        ax.use_sticky_edges = False
        handles = super()._draw_rows(ax, n_rows)
        if ax.dataLim.width == 0.0:
            ax.set_xlim(-0.05, 1.0)
        return handles


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
    >>> from pidselect import ImportanceDisplay, PIDSelector, datasets
    >>> X, y = datasets.sample(datasets.gate("AND"), 200, random_state=0)
    >>> selector = PIDSelector(random_state=0).fit(X, y)
    >>> ImportanceDisplay.from_explanation(selector.explain(X, y))
    <ImportanceDisplay: 2 features, 2 selected>
    """

    bars: tuple[AtomBar, ...]
    n_selected: int = 0
    level: float = 0.95
    max_features: int = MAX_FEATURES
    title: ClassVar[str] = "Information added by each feature"

    @classmethod
    def _fields(cls, record: Mapping[str, Any]) -> dict[str, Any]:
        features = [one for one in record["features"] if one["role"] not in NO_CANDIDATES]
        bars = []
        for one in features:
            out = "not significant, " * (one["role"] in ("weakly relevant", "irrelevant"))
            test = p_relation(one["p_value"], record["alpha"], record["is_sequential"])
            note = f"{'≥ ' * one['is_lower_bound']}{number(one['added'])}, {out}{test}"
            parts = {part: to_float(one[part]) for part in ADDED_PARTS}
            bars.append(AtomBar(one["name"], parts, note, _ends(one["intervals"].get("added"))))
        n_selected = sum(one["selected"] for one in features)
        return {"bars": tuple(bars), "n_selected": n_selected, "level": record["level"]}

    def _summary(self) -> str:
        return f"{counted(len(self.bars), 'feature')}, {self.n_selected} selected"

    def _axis_lines(self) -> list[str]:
        return ["information added to the (other) selected features, bit"]

    def _opacity(self, place: int) -> float:
        return 1.0 if place < self.n_selected else PALE

    def _draw_rows(self, ax: Axes, n_rows: int) -> list[Artist]:
        handles = super()._draw_rows(ax, n_rows)
        if 0 < self.n_selected < n_rows:
            ax.axhline(self.n_selected - 0.5, color=INK, lw=0.6, linestyle=(0, (4.0, 3.0)))
        ax.set_xlim(left=0.0, right=None if ax.dataLim.width else 1.0)
        if self.n_selected < n_rows:
            handles.append(Patch(fc=PARTS["unique"][0], alpha=PALE, label="not selected"))
        if any(bar.interval for bar in self.bars[:n_rows]):
            look: dict[str, Any] = {"color": INK, "lw": 1.0, "marker": "|", "ms": 5.0}
            handles.append(Line2D([], [], label=f"{100 * self.level:g} % interval", **look))
        return handles


def _ends(interval: Any) -> tuple[float, float] | None:
    return None if interval is None else (to_float(interval[0]), to_float(interval[1]))


def atom_type(label: str) -> str:
    """Return the type of a PID atom by its antichain: unique, shared, synergy, or mixed.

    Examples
    --------
    >>> [atom_type(label) for label in ("{1}", "{1}{2}", "{1,2}", "{1}{2,3}")]
    ['unique', 'shared', 'synergy', 'mixed']
    """
    is_shared, is_synergistic = "}{" in label, "," in label
    if is_shared and is_synergistic:
        return "mixed"
    if is_shared:
        return "shared"
    return "synergy" if is_synergistic else "unique"


def draw_bar(ax: Axes, place: int, bar: AtomBar, edge: float, alpha: float = 1.0) -> None:
    """Draw a bar with its interval; `edge` is the length of infinite parts."""
    beside: dict[str, Any] = {"textcoords": "offset points", "va": "center_baseline"}
    if not bar.is_known:
        ax.plot([0.0], [place], linestyle="none")  # includes the row in the data limits
        ax.annotate("–", (0.0, place), (5.0, 0.0), alpha=base.MUTED, **beside)
        return
    ends = {-1: 0.0, 1: 0.0}
    for name, value in sorted(bar.parts.items(), key=lambda part: np.isinf(part[1])):
        length = float(np.clip(value, -edge, edge))
        side, (colour, hatch) = -1 if length < 0 else 1, PARTS[name]
        style: dict[str, Any] = {"color": colour, "hatch": hatch, "edgecolor": base.BACKGROUND}
        style["alpha"] = alpha
        ax.barh(place, length, 0.72, ends[side], linewidth=0.3, zorder=2, **style)
        ends[side] += length
        if np.isinf(value):
            marker = ">" if side > 0 else "<"
            ax.plot([ends[side]], [place], marker, color=INK, ms=6.0, zorder=4, clip_on=False)
            ax.annotate(
                str(value),
                (ends[side], place),
                (-7.0 * side, 0.0),
                ha="right" if side > 0 else "left",
                bbox={"boxstyle": "square,pad=0.15", "facecolor": base.BACKGROUND, "lw": 0.0},
                zorder=4,
                **beside,
            )
    if bar.interval is not None and np.isfinite(bar.interval).all():
        ax.plot(bar.interval, [place, place], color=INK, lw=1.0, marker="|", ms=5.0, zorder=4)
