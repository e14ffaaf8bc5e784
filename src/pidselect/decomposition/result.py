"""Results: the atoms of a decomposition, and the explanation of features by their atoms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pidselect.data import FloatArray, check_choice, make_frame
from pidselect.data.messages import (
    align,
    counted,
    did_you_mean,
    number,
    shorten,
    shown,
    to_plain,
    wrap,
)
from pidselect.estimators.base import Unit
from pidselect.notebook import decomposition_html, explanation_html

#: The names of the atoms of two sources.
TWO_SOURCE_NAMES = {"{1}{2}": "shared", "{1}": "unique 1", "{2}": "unique 2", "{1,2}": "synergy"}

#: The number of atoms printed: all of two and three sources, the largest of more.
SHOWN_ATOMS = 18

#: Larger gaps are printed: they could change the digits shown.
SHOWN_GAP = 1e-5

#: The number of features printed that are not selected.
SHOWN_FEATURES = 20

P_VALUE_NOTE = (
    "p-value: permutation test of zero information; x: the source, y: the target, rest: the others."
)

Role = Literal[
    "strongly relevant",
    "adds to the selected set",
    "weakly relevant",
    "irrelevant",
    "untested",
    "fixed",
    "duplicate",
    "skipped",
]

ATOMS = ("unique", "shared", "synergy")
VALUES = (*ATOMS, "relevance", "information")
HEADER = ("feature", "role", *ATOMS, "relevance", "of I(S;y)", "I(f;y)")

#: The columns of the frame of an explanation, and their types.
FRAME_COLUMNS = {
    "name": str,
    "role": str,
    "selected": bool,
    **dict.fromkeys((*ATOMS, "total"), float),
    **dict.fromkeys(("method", "redundant_with", "reason", "sentence"), str),
    **dict.fromkeys(("relevance", "information"), float),
    **dict.fromkeys([f"{value}_share" for value in VALUES], float),
}
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
PAIR_COLUMNS = {"feature": str, "and": str, "redundancy": float, "synergy": float}


@dataclass(frozen=True)
class SourceTest:
    """The permutation tests of one source x, with the target y and the rest, all other sources.

    Parameters
    ----------
    source : str
    information, p_value : float
        I(x;y), and the p-value of the null hypothesis I(x;y) = 0.
    conditional_information, conditional_p_value : float
        I(x;y|rest), and the p-value of the null hypothesis I(x;y|rest) = 0.
    """

    source: str
    information: float
    p_value: float
    conditional_information: float
    conditional_p_value: float


@dataclass(frozen=True, repr=False)
class Decomposition:
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
    informative, misinformative : mapping of str to float, optional
        The two parts whose difference each atom is ("sx").
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
    >>> from pidselect.decomposition.decompose import decompose
    >>> rng = np.random.default_rng(0)
    >>> rain, sprinkler = rng.integers(0, 2, size=(2, 200))
    >>> decompose(
    ...     [rain, sprinkler],
    ...     rain | sprinkler,
    ...     n_permutations=199,
    ...     n_bootstrap=200,
    ...     random_state=0,
    ... )
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
        """Return plain dicts, lists and numbers, ready for JSON; fields that are None are left out.

        Infinite values become the strings "inf" and "-inf" (and "nan"), which ``float`` reads.
        """
        known = {key: value for key, value in vars(self).items() if value is not None}
        known.pop("frame_library", None)
        if self.source_tests is not None:
            known["source_tests"] = [asdict(test) for test in self.source_tests]
        return to_plain(known)

    def to_frame(self, of: Literal["atoms", "sources"] = "atoms") -> Any:
        """Return a frame in the caller's library, with one row for each atom or tested source."""
        check_choice(of, ("atoms", "sources"), "of")
        if of == "sources":
            tests = [tuple(vars(test).values()) for test in self.source_tests or ()]
            return _to_frame(tests, SOURCE_COLUMNS, self.frame_library)
        rows = []
        for label, value in self.atoms.items():
            kinds = (self.informative, self.misinformative, self.corrected)
            parts = [None if kind is None else kind[label] for kind in kinds]
            low, high = (None, None) if self.intervals is None else self.intervals[label]
            name = self._names.get(label, label)
            rows.append((label, name, value, self.unit, *parts, low, high))
        return _to_frame(rows, ATOM_COLUMNS, self.frame_library)

    def __repr__(self) -> str:
        return f"{self.title()}\n{self}"

    def _repr_html_(self) -> str:
        return decomposition_html(self)

    def title(self) -> str:
        """Return the information decomposed, the measure and the number of samples."""
        samples = "" if self.n_samples is None else f" from {self.n_samples} samples"
        gap = f", gap {self.gap:.0e}" if self.gap > SHOWN_GAP else ""
        bits = f"{number(self.information, 4)} {self.unit}"
        return f"{bits} decomposed by {self.measure!r}{samples}{gap}"

    def __str__(self) -> str:
        """Return a table with one row for each atom; of many atoms, the largest."""
        atoms = align(self.cells(), n_left=2 if self._names else 1)
        return "\n".join([*atoms, *align(self.source_cells(), n_left=1), *self.remarks()])

    def cells(self) -> list[list[str]]:
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

    def source_cells(self) -> list[list[str]]:
        """Return the cells of the table of tested sources, the header first; empty without any."""
        if self.source_tests is None:
            return []
        rows = [["source", "I(x;y)", "p-value", "I(x;y|rest)", "p-value"]]
        for test in self.source_tests:
            name, *values = vars(test).values()
            rows.append([shorten(name), *map(_cell, values)])
        return rows

    def remarks(self) -> list[str]:
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


def _to_frame(rows: Sequence[Sequence[Any]], types: Mapping[str, type], library: str | None) -> Any:
    columns = {name: [row[i] for row in rows] for i, name in enumerate(types)}
    return make_frame(columns, library, types)


def _cell(value: float | tuple[float, float]) -> str:
    ends = value if isinstance(value, tuple) else (value,)
    return " to ".join(number(end, 4) for end in ends)


@dataclass(frozen=True)
class FeatureExplanation:
    """The PID of one feature f and the set S of the (other) selected features, in bits.

    S is the rest of the selected set for a selected feature, and all of it for any other. Values
    are None where they are not estimable or not computed.

    Parameters
    ----------
    name : str
    role : {"strongly relevant", "adds to the selected set", "weakly relevant", "irrelevant", \
            "untested", "fixed", "duplicate", "skipped"}
        See `PIDSelector.explain`.
    selected : bool
    unique : float or None
        Unique information of f about the target y.
    shared : float or None
        Information about y shared by f and S.
    synergy : float or None
        Synergistic information of f and S about y.
    total : float or None
        I(selected features; y), by the same method.
    method : str
        How the values were computed, or "not estimable"; empty where they were not computed.
    redundant_with : tuple of str
        The selected features that a weakly relevant feature is most redundant with.
    reason : str
        Why a column was skipped, which column it duplicates, or why values are not estimable or
        unreliable.
    sentence : str
        Values and role as text.
    has_bounds : bool
        Whether `unique` is a lower, `shared` and `synergy` are upper bounds (by "mmi").
    """

    name: str
    role: Role
    selected: bool
    unique: float | None = None
    shared: float | None = None
    synergy: float | None = None
    total: float | None = None
    method: str = ""
    redundant_with: tuple[str, ...] = ()
    reason: str = ""
    sentence: str = field(default="", repr=False)
    has_bounds: bool = False

    @property
    def relevance(self) -> float | None:
        """I(f; y | S) = unique + synergy."""
        return None if self.unique is None or self.synergy is None else self.unique + self.synergy

    @property
    def information(self) -> float | None:
        """The marginal mutual information I(f; y) = unique + shared."""
        return None if self.unique is None or self.shared is None else self.unique + self.shared

    def share(self, value: str) -> float | None:
        """Return a value as a share of I(selected features; y); None where that is not positive.

        `value` is "unique", "shared", "synergy", "relevance" or "information".
        """
        bits = getattr(self, value)
        return None if bits is None or self.total is None or self.total <= 0 else bits / self.total

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        plain = asdict(self) | {"redundant_with": list(self.redundant_with)}
        derived = {"relevance": self.relevance, "information": self.information}
        return plain | derived | {f"{value}_share": self.share(value) for value in VALUES}

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairwise PID of the selected features about the target, in bits.

    Parameters
    ----------
    names : tuple of str
        The selected features, in the order of inclusion.
    redundancy : array of float64, shape (n, n)
        Shared information; on the diagonal the marginal mutual information.
    synergy : array of float64, shape (n, n)
        Synergistic information; 0 on the diagonal.
    estimable : array of bool, shape (n, n)
        Where this is False there are too few samples, and both values are 0.
    method : str
        How the values were computed.
    """

    names: tuple[str, ...]
    redundancy: FloatArray
    synergy: FloatArray
    estimable: NDArray[np.bool_]
    method: str
    frame_library: str | None = None

    def rows(self) -> list[tuple[str, str, float | None, float | None]]:
        """Return the two names, the redundancy and the synergy of every pair."""
        return [
            (
                self.names[i],
                self.names[j],
                float(self.redundancy[i, j]) if self.estimable[i, j] else None,
                float(self.synergy[i, j]) if self.estimable[i, j] else None,
            )
            for i, j in zip(*np.triu_indices(len(self.names), 1), strict=True)
        ]

    def to_frame(self) -> Any:
        """Return a frame with one row for every pair, in the caller's library."""
        return _to_frame(self.rows(), PAIR_COLUMNS, self.frame_library)

    def to_dict(self) -> dict[str, Any]:
        """Return lists, ready for JSON."""
        return {
            "names": list(self.names),
            "redundancy": self.redundancy.tolist(),
            "synergy": self.synergy.tolist(),
            "estimable": self.estimable.tolist(),
            "method": self.method,
        }

    def __str__(self) -> str:
        """Return the method and a line for each pair."""
        rows: list[tuple[str, ...]] = [tuple(PAIR_COLUMNS)]
        for first, second, *values in self.rows():
            rows.append((shorten(first), shorten(second), *map(number, values)))
        return "\n".join([f"In bits, by {self.method}", *align(rows, n_left=2)])


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The atoms and the role of every feature, and one sentence for each.

    ``explanation["X1"]`` is the `FeatureExplanation` of X1; iteration yields all of them.

    Parameters
    ----------
    features : tuple of FeatureExplanation
        Fixed features, selected ones in the order of inclusion, the others by their relevance, then
        duplicates and skipped columns.
    information : float or None
        I(selected features; y) in bits; None if it is not estimable.
    pairs : Pairs
    n_samples : int
    target : str
        The name of the target.
    notes : tuple of str
        Caveats of the estimates.
    in_sample : bool
        Whether the samples are those of the fit, so that values are optimistic.
    """

    features: tuple[FeatureExplanation, ...]
    information: float | None
    pairs: Pairs
    n_samples: int
    target: str = "y"
    notes: tuple[str, ...] = ()
    in_sample: bool = False
    frame_library: str | None = None

    def __getitem__(self, name: str) -> FeatureExplanation:
        for feature in self.features:
            if feature.name == name:
                return feature
        known = [feature.name for feature in self.features]
        raise KeyError(f"there is no feature {name!r}{did_you_mean(name, known)}")

    def __iter__(self) -> Iterator[FeatureExplanation]:
        return iter(self.features)

    def __len__(self) -> int:
        return len(self.features)

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, lists, strings and numbers, ready for JSON."""
        return {
            "features": [feature.to_dict() for feature in self.features],
            "information": self.information,
            "pairs": self.pairs.to_dict(),
            "n_samples": self.n_samples,
            "target": self.target,
            "notes": list(self.notes),
        }

    def to_frame(self) -> Any:
        """Return a frame with one row for each feature, in the caller's library."""
        rows = [feature.to_dict() for feature in self.features]
        for row in rows:
            row["redundant_with"] = ", ".join(map(shown, row["redundant_with"]))
        cells = [[row[name] for name in FRAME_COLUMNS] for row in rows]
        return _to_frame(cells, FRAME_COLUMNS, self.frame_library)

    def in_library(self, library: str | None) -> Explanation:
        """Return the same with frames of a library; None for any that is installed."""
        pairs = replace(self.pairs, frame_library=library)
        return replace(self, pairs=pairs, frame_library=library)

    def _repr_html_(self) -> str:
        return explanation_html(self)

    def methods(self) -> list[str]:
        """Return how values were computed, for selected features and for others."""
        keys = dict.fromkeys((f.selected, f.method, f.total) for f in self.features if f.method)
        return [_method_line(*key) for key in keys]

    def __repr__(self) -> str:
        return f"Explanation of {len(self.features)} features\n{self}"

    def __str__(self) -> str:
        """Return a table, then a sentence for each feature, then the notes."""
        selected = [feature for feature in self.features if feature.selected]
        others = [feature for feature in self.features if not feature.selected]
        printed = selected + others[:SHOWN_FEATURES]
        sentences = [feature.sentence for feature in printed]
        if len(others) > SHOWN_FEATURES:
            sentences.append(f"... and {len(others) - SHOWN_FEATURES} more, see .to_frame().")
        title = (
            f"PID of each feature about {shown(self.target)}, in bits "
            f"({len(selected)} selected, {self.n_samples} samples)"
        )
        notes = [f"Note: {note}" for note in self.notes]
        blocks = [wrap(lines) for lines in (sentences, notes) if lines]
        return "\n\n".join([title, "\n".join(_table(printed)), *blocks])


def _table(features: Sequence[FeatureExplanation]) -> list[str]:
    """Return the lines of the table, the method above each run of features that share it."""
    header, *lines = align([HEADER, *map(_row, features)], n_left=2)
    table, rest = [header], iter(lines)
    for key, run in groupby(features, key=lambda f: (f.selected, f.method, f.total)):
        table.append(f"- {_method_line(*key)}")
        table += [next(rest) for _ in run]
    return table


def _row(feature: FeatureExplanation) -> tuple[str, ...]:
    share = feature.share("relevance")
    return (
        shorten(feature.name),
        feature.role,
        *(number(getattr(feature, value)) for value in (*ATOMS, "relevance")),
        "-" if share is None else f"{100 * share + 0.0:.0f} %",
        number(feature.information),
    )


def _method_line(selected: bool, method: str, total: float | None) -> str:
    group = "selected" if selected else "not selected"
    if total is None:
        return f"{group}: {method}" if method else group
    given = "" if selected else ", given all selected"
    return f"{group}{given}; by {method}, I(S; y) = {number(total)} bit"
