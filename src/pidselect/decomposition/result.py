"""`Decomposition`: the information of sources about a target, by atoms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pidselect.data import check_choice
from pidselect.data.messages import counted, number, shorten, shown
from pidselect.estimators.base import Unit
from pidselect.tabular import TabularResult, TextTable, to_frame

#: The names of the atoms of two sources.
TWO_SOURCE_NAMES = {"{1}{2}": "shared", "{1}": "unique 1", "{2}": "unique 2", "{1,2}": "synergy"}

#: The number of atoms printed: all of two and three sources, the largest of more.
SHOWN_ATOMS = 18

#: Larger gaps are printed: they could change the digits shown.
SHOWN_GAP = 1e-5

P_VALUE_NOTE = (
    "p-value: permutation test of zero information; x: the source, y: the target, rest: the others."
)

ATOM_COLUMNS = {
    **{"atom": str, "name": str, "value": float, "unit": str},
    **dict.fromkeys(("informative", "misinformative", "corrected"), float),
    **dict.fromkeys(("lower", "upper"), float),
}
SOURCE_COLUMNS = {
    "source": str,
    **dict.fromkeys(("information", "p_value"), float),
    **dict.fromkeys(("conditional_information", "conditional_p_value"), float),
}


@dataclass(frozen=True)
class SourceTest:
    """The permutation tests of one source x, with the target y and the rest, all other sources.

    Parameters
    ----------
    source : str
    information : float
        I(x;y).
    p_value : float
        Of the null hypothesis I(x;y) = 0.
    conditional_information : float
        I(x;y|rest).
    conditional_p_value : float
        Of the null hypothesis I(x;y|rest) = 0.

    Examples
    --------
    Neither input of an exclusive-or is informative alone, each is given the other one.

    >>> from pidselect import datasets, decompose
    >>> X, y = datasets.sample(datasets.gate("XOR"), 200, random_state=0)
    >>> for test in decompose(list(X.T), y, n_permutations=99, random_state=0).source_tests:
    ...     given = test.conditional_p_value
    ...     print(f"{test.source}: p = {test.p_value:.2f}, given the other {given:.2f}")
    source 1: p = 0.42, given the other 0.01
    source 2: p = 0.10, given the other 0.01
    """

    source: str
    information: float
    p_value: float
    conditional_information: float
    conditional_p_value: float


@dataclass(frozen=True, repr=False)
class Decomposition(TabularResult):
    """The information of several sources about a target, decomposed into atoms.

    Parameters
    ----------
    atoms : mapping of str to float
        The information of every atom by its antichain. For two sources, "{1}{2}" is shared, "{1}"
        and "{2}" are unique, and "{1,2}" is synergistic information.
    information : float
        I(all sources; target), the sum of all atoms.
    measure : str
    unit : {"bit", "nat"}
    gap : float
        The numerical error of an atom for the distribution at hand: a certified bound for "broja"
        (usually below 1e-9 bit), an estimate for "ccs", 0 for closed formulas.
    informative : mapping of str to float, optional
        The first of two parts whose difference each atom is ("sx").
    misinformative : mapping of str to float, optional
        The second of them.
    n_samples : int, optional
        The number of samples it was estimated from.
    corrected : mapping of str to float, optional
        The bias-corrected atoms.
    intervals : mapping of str to (float, float), optional
        Bootstrap confidence intervals of the atoms; they may extend below 0.
    confidence : float, optional
        The confidence level of the intervals.
    source_tests : tuple of SourceTest, optional
        For each source the tests of its (conditional) mutual information with the target.
    binned : mapping of str to int, optional
        The number of bins of each column whose values were binned.
    variables : tuple of str, optional
        The names of the sources and, last, of the target.

    Examples
    --------
    >>> import numpy as np
    >>> from pidselect import decompose
    >>> rng = np.random.default_rng(0)
    >>> rain, sprinkler = rng.integers(0, 2, size=(2, 200))
    >>> result = decompose(
    ...     [rain, sprinkler],
    ...     rain | sprinkler,
    ...     n_permutations=199,
    ...     n_bootstrap=200,
    ...     random_state=0,
    ... )
    >>> result
    0.7602 bit decomposed by 'broja' from 200 samples
    atom                 bit  corrected      95 % interval
    {1}{2}  shared    0.3103     0.3095   0.2432 to 0.4205
    {1}     unique 1  0.0049     0.0038  -0.1157 to 0.0805
    {2}     unique 2  0.0000    -0.0023  -0.0920 to 0.0503
    {1,2}   synergy   0.4450     0.4491   0.3956 to 0.5462
    source    I(x;y)  p-value  I(x;y|rest)  p-value
    source 1  0.3152   0.0050       0.4498   0.0050
    source 2  0.3103   0.0050       0.4450   0.0050
    p-value: permutation test of zero information; x: the source, y: the target, rest: the others.
    >>> round(sum([result.shared, *result.unique, result.synergy]), 4)
    0.7602
    >>> result.to_dict()["measure"], result.to_frame()["value"].round(4).tolist()
    ('broja', [0.3103, 0.0049, 0.0, 0.445])
    """

    atoms: Mapping[str, float]
    information: float
    measure: str
    unit: Unit = "bit"
    gap: float = 0.0
    informative: Mapping[str, float] | None = None
    misinformative: Mapping[str, float] | None = None
    n_samples: int | None = None
    corrected: Mapping[str, float] | None = None
    intervals: Mapping[str, tuple[float, float]] | None = None
    confidence: float | None = None
    source_tests: tuple[SourceTest, ...] | None = None
    binned: Mapping[str, int] | None = None
    variables: tuple[str, ...] | None = None
    frame_library: str | None = field(default=None, compare=False)

    @property
    def shared(self) -> float:
        """The shared (redundant) information of two sources."""
        return self._of_two("{1}{2}", "shared")

    @property
    def unique(self) -> tuple[float, float]:
        """The unique information of the first and of the second of two sources."""
        return self._of_two("{1}", "unique"), self._of_two("{2}", "unique")

    @property
    def synergy(self) -> float:
        """The synergistic information of two sources."""
        return self._of_two("{1,2}", "synergy")

    def _of_two(self, label: str, name: str) -> float:
        if not self._names:
            raise AttributeError(
                f".{name} is defined for two sources; the {len(self.atoms)} atoms of more sources "
                'are in .atoms by label, such as .atoms["{1}{2}"].'
            )
        return self.atoms[label]

    @property
    def _names(self) -> dict[str, str]:
        """The names of the atoms, if there are two sources."""
        return TWO_SOURCE_NAMES if len(self.atoms) == len(TWO_SOURCE_NAMES) else {}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON, without fields that are None."""
        return {key: value for key, value in super().to_dict().items() if value is not None}

    def to_frame(self, of: Literal["atoms", "sources"] = "atoms") -> Any:
        """Return a frame in the caller's library, with one row for each atom or tested source."""
        check_choice(of, ("atoms", "sources"), "of")
        if of == "sources":
            tests = [vars(test) for test in self.source_tests or ()]
            return to_frame(tests, SOURCE_COLUMNS, self.frame_library)
        rows = []
        for label, value in self.atoms.items():
            low, high = (None, None) if self.intervals is None else self.intervals[label]
            name = self._names.get(label, label)
            row = {"atom": label, "name": name, "value": value, "unit": self.unit}
            row |= {"lower": low, "upper": high}
            for kind in ("informative", "misinformative", "corrected"):
                row[kind] = (getattr(self, kind) or {}).get(label)
            rows.append(row)
        return to_frame(rows, ATOM_COLUMNS, self.frame_library)

    def _title(self) -> str:
        """Return the information decomposed, the measure and the number of samples."""
        samples = "" if self.n_samples is None else f" from {self.n_samples} samples"
        gap = f", gap {self.gap:.0e}" if self.gap > SHOWN_GAP else ""
        bits = f"{number(self.information, 4)} {self.unit}"
        return f"{bits} decomposed by {self.measure!r}{samples}{gap}"

    def _blocks(self) -> list[list[str | TextTable]]:
        """Return a table with one row for each atom; of many atoms, the largest."""
        parts: list[str | TextTable] = [TextTable(self._cells(), n_left=2 if self._names else 1)]
        if self.source_tests is not None:
            cells = [["source", "I(x;y)", "p-value", "I(x;y|rest)", "p-value"]]
            for test in self.source_tests:
                name, *values = vars(test).values()
                cells.append([shorten(name), *map(_cell, values)])
            parts.append(TextTable(cells))
        return [[*parts, *self._remarks()]]

    def _cells(self) -> list[list[str]]:
        """Return the cells of the table, the header first; of many atoms, the largest."""
        percent = "" if self.confidence is None else f"{100 * self.confidence:g} % "
        optional: dict[str, Mapping[str, Any] | None] = {
            self.unit: self.atoms,
            "informative": self.informative,
            "misinformative": self.misinformative,
            "corrected": self.corrected,
            f"{percent}interval": self.intervals,
        }
        columns = {title: values for title, values in optional.items() if values is not None}
        rows = [["atom", *[""] * bool(self._names), *columns]]
        for label in self._largest():
            name = [self._names[label]] if self._names else []
            rows.append([label, *name, *(_cell(values[label]) for values in columns.values())])
        return rows

    def _remarks(self) -> list[str]:
        """Return the footnotes of the table."""
        labels, lines = self._largest(), []
        if more := len(self.atoms) - len(labels):
            rest = sum(value for label, value in self.atoms.items() if label not in labels)
            lines.append(f"... and {more} smaller atoms, {number(rest, 4)} {self.unit} in total")
        if self.source_tests is not None:
            lines.append(P_VALUE_NOTE)
        if self.variables is not None:
            *sources, target = map(shown, self.variables)
            numbered = [f"source {i}: {name}" for i, name in enumerate(sources, start=1)]
            lines.append(f"{', '.join(numbered)}; target: {target}")
        if self.binned is not None:
            names: dict[int, list[str]] = {}
            for name, bins in self.binned.items():
                names.setdefault(bins, []).append(shown(name))
            parts = (f"{counted(bins, 'bin')}: {', '.join(some)}" for bins, some in names.items())
            lines.append("; ".join(parts))
        return lines

    def _largest(self) -> list[str]:
        """Return the labels to print, in the order of the lattice."""
        largest = sorted(self.atoms, key=lambda label: -abs(self.atoms[label]))[:SHOWN_ATOMS]
        return [label for label in self.atoms if label in largest]


def _cell(value: float | tuple[float, float]) -> str:
    ends = value if isinstance(value, tuple) else (value,)
    return " to ".join(number(end, 4) for end in ends)
