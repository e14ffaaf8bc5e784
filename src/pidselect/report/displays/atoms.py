"""PID atoms as horizontal bars, of features or of a decomposition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from pidselect.data.messages import counted, number, to_float
from pidselect.decomposition.explanation import ATOMS, Explanation
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

    def describe(self) -> str:
        """Return the main numbers in words."""
        described = self.bars[: min(base.MAX_DESCRIBED, self.max_features)]
        parts = [f"{self._summary()}.", *(bar.describe() for bar in described)]
        if more := len(self.bars) - len(described):
            parts.append(f"And {more} more.")
        return " ".join(parts)

    def _rows(self) -> list[tuple[str, str]]:
        return [(bar.name, bar.note) for bar in self.bars]


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
    >>> from pidselect import AtomBarsDisplay, datasets, decompose_distribution
    >>> xor = decompose_distribution(datasets.gate("XOR"))
    >>> AtomBarsDisplay.from_decomposition(xor).describe()
    '4 bars, in bit. shared: 0.000. unique 1: 0.000. unique 2: 0.000. synergy: 1.000.'
    """

    bars: tuple[AtomBar, ...]
    unit: str = "bit"
    variables: tuple[str, ...] = ()
    max_features: int = MAX_FEATURES
    title: ClassVar[str] = "Unique, shared and synergistic information"
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
        >>> from pidselect import AtomBarsDisplay, PIDSelector, datasets
        >>> X, y = datasets.sample(datasets.gate("AND"), 200, random_state=0)
        >>> selector = PIDSelector(n_permutations=50, random_state=0).fit(X, y)
        >>> print(AtomBarsDisplay.from_explanation(selector.explain(X, y)).describe())
        2 bars, in bit. x1 (strongly relevant): unique 0.036, shared 0.338, synergy 0.523. x0
        (strongly relevant): unique 0.000, shared 0.338, synergy 0.523.
        """
        record = base.to_record(explanation, Explanation, "selector.explain(X, y)")
        return cls.from_dict(record, max_features=max_features).plot(ax)

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

        Examples
        --------
        >>> from pidselect import AtomBarsDisplay, PIDSelector, datasets
        >>> X, y = datasets.sample(datasets.gate("AND"), 200, random_state=0)
        >>> selector = PIDSelector(n_permutations=50, random_state=0).fit(X, y)
        >>> display = AtomBarsDisplay.from_path(selector.explain(X, y, path=True))
        >>> [(bar.name, bar.note) for bar in display.bars]
        [('step 1: x1', 'included'), ('step 1: x0', ''), ('step 2: x0', 'included')]
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
        """Draw the atoms of `decompose`, with their intervals if there are any.

        Examples
        --------
        >>> from pidselect import AtomBarsDisplay, datasets, decompose
        >>> X, y = datasets.sample(datasets.gate("AND"), 200, random_state=0)
        >>> result = decompose(list(X.T), y, n_bootstrap=50, random_state=0)
        >>> display = AtomBarsDisplay.from_decomposition(result)
        >>> low, high = display.bars[-1].interval
        >>> display.bars[-1].name, low < result.synergy < high
        ('synergy', True)
        """
        record = base.to_record(decomposition, Decomposition, "decompose(sources, target)")
        return cls.from_dict(record, max_features=max_features).plot(ax)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any], *, max_features: int = MAX_FEATURES) -> Self:
        """Return the display of `Explanation.to_dict` or `Decomposition.to_dict`, not drawn.

        Examples
        --------
        A plot of numbers that were stored, without the data:

        >>> import json
        >>> from pidselect import AtomBarsDisplay, datasets, decompose_distribution
        >>> stored = json.dumps(decompose_distribution(datasets.gate("XOR")).to_dict())
        >>> AtomBarsDisplay.from_dict(json.loads(stored))
        <AtomBarsDisplay: 4 bars, in bit>
        """
        if "atoms" not in record:
            bars = [
                AtomBar(one["name"], {name: to_float(one[name]) for name in ATOMS}, one["role"])
                for one in record["features"]
            ]
            return cls(tuple(bars), max_features=max_features)
        atoms = {name: to_float(value) for name, value in record["atoms"].items()}
        labels = list(atoms)
        if len(labels) > IN_ORDER:
            labels.sort(key=lambda name: -abs(atoms[name]))
        return cls(
            bars=tuple(_atom_bar(name, atoms, record.get("intervals")) for name in labels),
            unit=record["unit"],
            variables=tuple(record.get("variables", ())),
            max_features=max_features,
        )

    def _summary(self) -> str:
        return f"{counted(len(self.bars), 'bar')}, in {self.unit}"

    def _axis_lines(self) -> list[str]:
        key = [base.variable_key(self.variables)] if self.variables else []
        return [f"information about the target, {self.unit}", *key]

    def _draw_rows(self, ax: Axes, n_rows: int) -> list[Artist]:
        drawn = self.bars[:n_rows]
        edge = infinite_length(drawn)
        for place, bar in enumerate(drawn):
            draw_bar(ax, place, bar, edge)
        ax.axvline(0.0, color=INK, lw=0.6, zorder=3)
        ax.spines["left"].set_visible(False)
        ax.use_sticky_edges = False
        ax.margins(x=0.03)
        if ax.dataLim.width == 0.0:
            ax.set_xlim(-0.05, 1.0)
        found = {name for bar in drawn for name in bar.parts}
        return [
            Patch(fc=colour, hatch=hatch, ec=base.BACKGROUND, label=name)
            for name, (colour, hatch) in PARTS.items()
            if name in found
        ]


def _atom_bar(antichain: str, atoms: Mapping[str, float], intervals: Any) -> AtomBar:
    is_of_two = len(atoms) == len(TWO_SOURCE_NAMES)
    low, high = map(to_float, intervals[antichain]) if intervals is not None else (None, None)
    return AtomBar(
        TWO_SOURCE_NAMES[antichain] if is_of_two else antichain,
        {atom_type(antichain): atoms[antichain]},
        note=number(atoms[antichain], unknown="nan"),
        interval=None if low is None or high is None else (low, high),
    )


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


def infinite_length(bars: Sequence[AtomBar]) -> float:
    """Return the length that infinite parts are drawn with: longer than all others."""
    ends = [
        abs(sum(value for value in bar.parts.values() if np.isfinite(value) and value * sign > 0))
        for bar in bars
        for sign in (-1.0, 1.0)
    ]
    return 1.15 * max(ends, default=0.0) or 1.0


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
