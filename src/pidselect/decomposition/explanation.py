"""Explanation: what each feature tells about a target and how, ready to be read."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pidselect.data import FloatArray, make_frame
from pidselect.data.messages import align, did_you_mean, shown
from pidselect.decomposition.short_form import explanation_form

Role = Literal[
    "strongly relevant", "weakly relevant", "irrelevant", "fixed", "duplicate", "skipped"
]

#: Of features that are not selected, so many are printed.
SHOWN = 20

#: What is printed fits into so many columns, and names into so many of them.
WIDTH = 100
NAME_WIDTH = 22

#: How the methods begin by which shared is the smaller of two amounts, as much as it can be.
BY_AMOUNTS = "mmi"

ATOMS = ("unique", "shared", "synergy")
VALUES = (*ATOMS, "relevance", "information")

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

#: Those of pairs.
PAIR_COLUMNS = {"feature": str, "and": str, "redundancy": float, "synergy": float}

HEADER = ("feature", "role", *ATOMS, "relevance", "of I(S;y)", "by itself")


@dataclass(frozen=True)
class FeatureExplanation:
    """What one feature tells about the target, beside the (other) selected features; in bits.

    Parameters
    ----------
    name : str
    role : {"strongly relevant", "weakly relevant", "irrelevant", "fixed", "duplicate", "skipped"}
        The verdict of tests on the selected set and its subsets: see `PIDSelector.explain`.
    selected : bool
        Whether it is in the selected set, so that it is compared with the rest of that. Others are
        compared with all of it.
    unique : float or None
        What it tells by itself, and the selected features do not; None where that is not estimable
        or not asked.
    shared : float or None
        What it tells by itself, and the selected features do as well.
    synergy : float or None
        What it tells only together with the selected features.
    total : float or None
        What the selected features tell together, I(S; y), by the same method.
    method : str
        How the values were computed, or "not estimable"; empty where they were not asked.
    redundant_with : tuple of str
        Of a weakly relevant feature, the selected ones that tell most of the same.
    reason : str
        Why a column was skipped, of what it is a copy, or why values are not estimable.
    sentence : str
        All of that in words.
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

    @property
    def relevance(self) -> float | None:
        """What it adds to the selected features, unique + synergy = I(f; y | S)."""
        return None if self.unique is None or self.synergy is None else self.unique + self.synergy

    @property
    def information(self) -> float | None:
        """What it tells by itself, unique + shared = I(f; y)."""
        return None if self.unique is None or self.shared is None else self.unique + self.shared

    @property
    def has_bounds(self) -> bool:
        """Whether unique is at least, shared and synergy at most so much, as far as it is exact."""
        return self.method.startswith(BY_AMOUNTS)

    def share(self, value: str) -> float | None:
        """Return a value as a share of I(S; y), or None where that is not positive.

        Parameters
        ----------
        value : {"unique", "shared", "synergy", "relevance", "information"}
        """
        bits = getattr(self, value)
        return None if bits is None or self.total is None or self.total <= 0 else bits / self.total

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        plain = asdict(self) | {"redundant_with": list(self.redundant_with)}
        derived = {"relevance": self.relevance, "information": self.information}
        return plain | derived | {f"{value}_share": self.share(value) for value in VALUES}

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, eq=False)
class Pairs:
    """What every two selected features share about the target and tell only together, in bits.

    Parameters
    ----------
    names : tuple of str
        The selected features, in the order of inclusion.
    redundancy : array of float64, shape (n, n)
        What both tell, each by itself; on the diagonal, all that a feature tells by itself.
    synergy : array of float64, shape (n, n)
        What they tell only together; 0 on the diagonal.
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
        """Return every two features, what both tell, and what they tell only together."""
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
        """Return a frame, one row for every two features, in the caller's library.

        What is not estimable is null there.
        """
        columns = zip(*self.rows(), strict=True) if len(self.names) > 1 else [[]] * 4
        frame = dict(zip(PAIR_COLUMNS, map(list, columns), strict=True))
        return make_frame(frame, self.frame_library, PAIR_COLUMNS)

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
        """Return how values were computed, and a line for each pair."""
        rows: list[tuple[str, ...]] = [("feature", "and", "redundancy", "synergy")]
        for first, second, *values in self.rows():
            rows.append((cut(first), cut(second), *map(number, values)))
        return "\n".join([f"In bits, by {self.method}", *align(rows, n_left=2)])


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """What each feature tells about the target, and how: in numbers, in a role, in a sentence.

    ``explanation["X1"]`` is the `FeatureExplanation` of X1; iterating goes through all of them.

    Parameters
    ----------
    features : tuple of FeatureExplanation
        Kept ones, selected ones in the order of inclusion, the others by their relevance; at the
        end copies and skipped columns.
    information : float or None
        What the selected features tell together, I(S; y), in bits, by the method of theirs; None if
        that is not estimable.
    pairs : Pairs
        The selected features by twos.
    n_samples : int
    target : str
        What the target is called.
    notes : tuple of str
        What to know before trusting the numbers.
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
        """Return everything as plain dicts, lists, strings and numbers, ready for JSON."""
        return {
            "features": [feature.to_dict() for feature in self.features],
            "information": self.information,
            "pairs": self.pairs.to_dict(),
            "n_samples": self.n_samples,
            "target": self.target,
            "notes": list(self.notes),
        }

    def to_frame(self) -> Any:
        """Return a frame, one row for each feature, in the caller's library."""
        rows = [feature.to_dict() for feature in self.features]
        for row in rows:
            row["redundant_with"] = ", ".join(map(shown, row["redundant_with"]))
        frame = {key: [row[key] for row in rows] for key in FRAME_COLUMNS}
        return make_frame(frame, self.frame_library, FRAME_COLUMNS)

    def in_library(self, library: str | None) -> Explanation:
        """Return the same, whose frames are of a library; None for any that is installed."""
        pairs = replace(self.pairs, frame_library=library)
        return replace(self, pairs=pairs, frame_library=library)

    def _repr_html_(self) -> str:
        return explanation_form(self)

    def methods(self) -> list[str]:
        """Return how values were computed, of selected features and of others."""
        keys = dict.fromkeys((f.selected, f.method, f.total) for f in self.features if f.method)
        return [_caption(*key).removeprefix("- ") for key in keys]

    def __repr__(self) -> str:
        return f"Explanation of {len(self.features)} features\n{self}"

    def __str__(self) -> str:
        """Return a table, then a sentence for each feature, then the notes."""
        others = [feature for feature in self.features if not feature.selected]
        printed = [feature for feature in self.features if feature.selected] + others[:SHOWN]
        blocks = [self._table(printed), [feature.sentence for feature in printed]]
        if more := len(others) - SHOWN:
            blocks[1] += [f"... and {more} more, see .to_frame()."] * (more > 0)
        blocks.append([f"Note: {note}" for note in self.notes])
        wrapped = ["\n".join(blocks[0]), *(_wrap(lines) for lines in blocks[1:] if lines)]
        n_selected = sum(feature.selected for feature in self.features)
        title = (
            f"What features tell about {shown(self.target)}, in bits "
            f"({n_selected} selected, {self.n_samples} samples)"
        )
        return "\n\n".join([title, *wrapped])

    def _table(self, printed: list[FeatureExplanation]) -> list[str]:
        """Return the lines of the table, each run of features with its method above it."""
        lines = align([HEADER, *map(_row, printed)], n_left=2)
        table, rest = lines[:1], iter(lines[1:])
        for key, run in groupby(printed, key=lambda f: (f.selected, f.method, f.total)):
            table.append(_caption(*key))
            table += [next(rest) for _ in run]
        return table


def _caption(selected: bool, method: str, total: float | None) -> str:
    who = "selected" if selected else "not selected"
    if total is None:
        return f"- {who}" + f": {method}" * bool(method)
    beside = "" if selected else ", beside all selected"
    return f"- {who}{beside}; by {method}, I(S; y) = {number(total)} bit"


def _row(feature: FeatureExplanation) -> tuple[str, ...]:
    share = feature.share("relevance")
    return (
        cut(feature.name),
        feature.role,
        *(number(getattr(feature, value)) for value in (*ATOMS, "relevance")),
        "-" if share is None else f"{100 * share + 0.0:.0f} %",
        number(feature.information),
    )


def _wrap(lines: list[str]) -> str:
    return "\n".join(
        textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False) for line in lines
    )


def cut(name: str) -> str:
    """Return a name that fits into a table."""
    text = shown(name)
    return text if len(text) <= NAME_WIDTH else f"{text[: NAME_WIDTH - 3]}..."


def number(value: float | None) -> str:
    """Return three decimals; what rounds to zero has no sign, and what is unknown is a dash."""
    return "-" if value is None else f"{round(value, 3) + 0.0:.3f}"
