"""`Explanation`: which part of each feature's information is unique, shared and synergistic."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pidselect.data import FloatArray
from pidselect.data.messages import (
    did_you_mean,
    number,
    p_relation,
    shorten,
    shown,
    to_plain,
    wrap,
)
from pidselect.tabular import TabularResult, TextTable, to_frame

#: Roles of features, in the order of an explanation.
Role = Literal[
    "strongly relevant",
    "fixed",
    "adds to the selected set",
    "weakly relevant",
    "untested",
    "irrelevant",
    "duplicate",
    "skipped",
]

#: Decimals of all bits. They are rounded once, so that sums hold to the last digit shown.
DIGITS = 3

#: The number of features printed that are not selected.
SHOWN_FEATURES = 20

#: PID atoms of two sources, and those that sum up to the added information.
ATOMS = ("unique", "shared", "synergy")
ADDED_PARTS = ("unique", "synergy")

VALUES = ("information", "added", *ATOMS)

#: The columns of frames, and their types.
FRAME_COLUMNS = {
    **{"name": str, "feature_type": str, "role": str, "selected": bool},
    **dict.fromkeys((*VALUES, "p_value", "marginal_p_value", "share", "added_in_fit"), float),
    **{f"{value}_{end}": float for value in VALUES for end in ("lower", "upper")},
    "is_lower_bound": bool,
    **dict.fromkeys(("redundant_with", "overlaps_with", "method", "reason", "sentence"), str),
}
PAIR_COLUMNS = {
    **{"feature": str, "and": str, "redundancy": float, "synergy": float},
    "dependent": bool,
}


@dataclass(frozen=True)
class FeatureExplanation:
    r"""The information of one feature f about the target y, in bits, and its PID.

    S is the rest of the selected set for a selected feature, and all of it for any other. Values
    are None where they are not estimable or not computed, else multiples of 0.001 bit with

    .. math:: I(f; y) = \mathrm{unique} + \mathrm{shared}, \qquad
              I(f; y | S) = \mathrm{unique} + \mathrm{synergy} .

    Parameters
    ----------
    name : str
    role : str
        "strongly relevant", "adds to the selected set", "weakly relevant", "irrelevant",
        "untested", "fixed", "duplicate" or "skipped"; see `PIDSelector.explain`.
    selected : bool
    feature_type : str
        "continuous", "ordinal" or "nominal", "group" for several columns.
    information : float or None
        The marginal mutual information I(f; y).
    added : float or None
        The conditional mutual information I(f; y | S).
    unique : float or None
        Unique information of f.
    shared : float or None
        Information shared by f and S.
    synergy : float or None
        Synergistic information of f and S.
    intervals : mapping of str to (float, float)
        Confidence intervals by the name of the value, at the level of the explanation, conditional
        on the selected set.
    p_value : float or None
        Of the test of I(f; y | S) = 0, adjusted for the number of features; None where there was
        no test.
    marginal_p_value : float or None
        The same of I(f; y) = 0.
    share : float or None
        `added` as a share of the entropy of a nominal target, or as the R2 of a Gaussian channel
        of this information; see `Explanation.share`.
    is_lower_bound : bool
        Whether `added` and `synergy` are lower bounds: nearest neighbours in so many dimensions
        underestimate them by more than the width of the interval.
    added_in_fit : float or None
        I(f; y | S) on the rows of the fit, if the explanation is of other rows.
    redundant_with : tuple of str
        The selected features that f depends on and shares most information with.
    overlaps_with : tuple of str
        Selected features that f is independent of, but shares most information with: both predict
        the same part of the target.
    method : str
        How the values were computed, or "not estimable"; empty where they were not computed.
    reason : str
        Why a column was skipped, which column it duplicates, or why values are not estimable or
        unreliable.
    sentence : str
        Values and role as text.

    Examples
    --------
    >>> from pidselect import PIDSelector, datasets
    >>> X, y = datasets.sample(datasets.gate("AND"), 300, random_state=0)
    >>> selector = PIDSelector(random_state=0).fit(X, y)
    >>> feature = selector.explain(X, y)["x0"]
    >>> abs(feature.unique + feature.shared - feature.information) < 1e-9
    True
    >>> low, high = feature.intervals["synergy"]
    >>> low <= feature.synergy <= high
    True
    >>> print(feature)
    x0 adds 0.535 bits beyond the other selected features (0.000 unique, 0.535 synergistic;
    p = 0.005); its marginal information is 0.347 bits, of which 0.347 overlap with what x1
    predicts.
    >>> feature.to_dict()["role"]
    'strongly relevant'
    """

    name: str
    role: Role
    selected: bool
    feature_type: str = ""
    information: float | None = None
    added: float | None = None
    unique: float | None = None
    shared: float | None = None
    synergy: float | None = None
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    p_value: float | None = None
    marginal_p_value: float | None = None
    share: float | None = None
    is_lower_bound: bool = False
    added_in_fit: float | None = None
    redundant_with: tuple[str, ...] = ()
    overlaps_with: tuple[str, ...] = ()
    method: str = ""
    reason: str = ""
    sentence: str = field(default="", repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        plain: dict[str, Any] = to_plain(self)
        return plain

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, eq=False, repr=False)
class Pairs(TabularResult):
    """Pairwise PID of the selected features about the target, in bits.

    Parameters
    ----------
    names : tuple of str
        The selected features, in the order of inclusion.
    redundancy : array of float64, shape (n, n)
        Shared information; on the diagonal the marginal mutual information.
    synergy : array of float64, shape (n, n)
        Synergistic information; 0 on the diagonal.
    dependent : array of bool, shape (n, n)
        Whether the two features depend on each other, by a test: else they share information
        only because they predict the same part of the target.
    estimable : array of bool, shape (n, n)
        Where this is False there are too few samples, and both values are 0.
    method : str
        How the values were computed.

    Examples
    --------
    >>> from pidselect import PIDSelector, datasets
    >>> X, y = datasets.sample(datasets.gate("AND"), 300, random_state=0)
    >>> pairs = PIDSelector(random_state=0).fit(X, y).explain(X, y).pairs
    >>> print(pairs)
    In bits, by broja, posterior states
    feature  and  redundancy  synergy  dependent
    x1       x0        0.347    0.535         no
    >>> {(first, second): synergy for first, second, _, synergy, _ in pairs.rows()}
    {('x1', 'x0'): 0.535}
    >>> pairs.to_frame().columns.tolist(), sorted(pairs.to_dict())
    (['feature', 'and', 'redundancy', 'synergy', 'dependent'], ['dependent', 'estimable', 'method',
    'names', 'redundancy', 'synergy'])
    """

    names: tuple[str, ...]
    redundancy: FloatArray
    synergy: FloatArray
    dependent: NDArray[np.bool_]
    estimable: NDArray[np.bool_]
    method: str
    frame_library: str | None = None

    def rows(self) -> list[tuple[str, str, float | None, float | None, bool]]:
        """Return names, redundancy, synergy and dependence of every pair."""
        rows = []
        for i, j in zip(*np.triu_indices(len(self.names), 1), strict=True):
            values = float(self.redundancy[i, j]), float(self.synergy[i, j])
            known = values if self.estimable[i, j] else (None, None)
            rows.append((self.names[i], self.names[j], *known, bool(self.dependent[i, j])))
        return rows

    def to_frame(self) -> Any:
        """Return a frame with one row for every pair, in the caller's library."""
        rows = [dict(zip(PAIR_COLUMNS, row, strict=True)) for row in self.rows()]
        return to_frame(rows, PAIR_COLUMNS, self.frame_library)

    def _title(self) -> str:
        return f"Pairs of {len(self.names)} features"

    def _blocks(self) -> list[list[str | TextTable]]:
        """Return the method and a row for each pair."""
        rows: list[tuple[str, ...]] = [tuple(PAIR_COLUMNS)]
        for first, second, redundancy, synergy, dependent in self.rows():
            names = (shorten(first), shorten(second))
            rows.append((*names, number(redundancy), number(synergy), "yes" if dependent else "no"))
        return [[f"In bits, by {self.method}", TextTable(rows, n_left=2)]]


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(TabularResult):
    """The information of every feature, its PID and its role, and one sentence for each.

    ``explanation["X1"]`` is the `FeatureExplanation` of X1; iteration yields all of them.

    Parameters
    ----------
    features : tuple of FeatureExplanation
        Selected features, then the others, each by role, then by added information; duplicates
        and skipped columns last.
    bits_added : mapping of str to float
        The information that each selected feature adds to those before it, in the order of
        inclusion; None where it is not estimable.
    pairs : Pairs
    n_samples : int
    target : str
        The name of the target.
    entropy : float or None
        Of a nominal target, in bits.
    alpha : float
        The level of the tests.
    level : float
        Of the intervals.
    is_sequential : bool
        Whether p-values are of tests that stop early, and only show whether they are below alpha.
    notes : tuple of str
        Caveats of the estimates.
    in_sample : bool
        Whether the samples are those of the fit, so that values are optimistic.
    path : Selection, optional
        The record of the fit with the atoms of the candidates of each step, with ``path=True``.

    Examples
    --------
    The target is 1 if both columns are: they overlap in what they predict, and act jointly.

    >>> from pidselect import PIDSelector, datasets
    >>> X, y = datasets.sample(datasets.gate("AND"), 300, random_state=0)
    >>> explanation = PIDSelector(random_state=0).fit(X, y).explain(X, y)
    >>> explanation.to_frame()[["name", "role", "unique", "shared", "synergy"]]
      name               role  unique  shared  synergy
    0   x1  strongly relevant   0.008   0.347    0.535
    1   x0  strongly relevant   0.000   0.347    0.535
    >>> bits = explanation.information
    >>> print(f"{bits:.2f} bit, {explanation.share(bits):.0%} of the entropy of y")
    0.89 bit, 99% of the entropy of y
    >>> explanation.to_dict()["information"] == bits
    True
    """

    features: tuple[FeatureExplanation, ...]
    bits_added: Mapping[str, float | None]
    pairs: Pairs
    n_samples: int
    target: str = "y"
    entropy: float | None = None
    alpha: float = 0.05
    level: float = 0.95
    is_sequential: bool = False
    notes: tuple[str, ...] = ()
    in_sample: bool = False
    path: Any = None
    frame_library: str | None = None

    @property
    def information(self) -> float | None:
        """I(selected features; y) in bits: the sum of the bits added; None if not estimable."""
        bits = [value for value in self.bits_added.values() if value is not None]
        if len(bits) < len(self.bits_added):
            return None
        return round(math.fsum(bits), DIGITS) if all(map(math.isfinite, bits)) else math.inf

    def share(self, bits: float | None) -> float | None:
        r"""Return bits on a scale from 0 to 1.

        For a nominal target it is the share of its entropy, for others :math:`1 - 2^{-2 I}`, which
        for a Gaussian channel is the coefficient of determination R2: 0.5 for half a bit.
        """
        if bits is None:
            return None
        if self.entropy is None:
            return 1.0 - 2.0 ** (-2.0 * bits)
        return bits / self.entropy if self.entropy > 0 else None

    @property
    def share_name(self) -> str:
        """What `share` is: "share of H(y)" or "R2"."""
        return "R2" if self.entropy is None else f"share of H({shown(self.target)})"

    def p_text(self, p_value: float | None) -> str:
        """Return a p-value with its relation, such as "p = 0.005", "p < 0.05" or "not tested"."""
        return p_relation(p_value, self.alpha, self.is_sequential)

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
        return {**super().to_dict(), "information": to_plain(self.information)}

    def to_frame(self) -> Any:
        """Return a frame with one row for each feature, in the caller's library."""
        rows = []
        for feature in self.features:
            row = dict(vars(feature))
            for value in VALUES:
                ends = feature.intervals.get(value, (None, None))
                row |= {f"{value}_lower": ends[0], f"{value}_upper": ends[1]}
            for names in ("redundant_with", "overlaps_with"):
                row[names] = ", ".join(map(shown, row[names]))
            rows.append(row)
        return to_frame(rows, FRAME_COLUMNS, self.frame_library)

    def in_library(self, library: str | None) -> Explanation:
        """Return the same with frames of a library; None for any that is installed."""
        pairs = replace(self.pairs, frame_library=library)
        return replace(self, pairs=pairs, frame_library=library)

    def _title(self) -> str:
        return f"Explanation of {len(self.features)} features"

    def _blocks(self) -> list[list[str | TextTable]]:
        """Return a table, then a sentence for each feature, then the notes."""
        selected = [feature for feature in self.features if feature.selected]
        others = [feature for feature in self.features if not feature.selected]
        printed = selected + others[:SHOWN_FEATURES]
        sentences = [feature.sentence for feature in printed]
        if len(others) > SHOWN_FEATURES:
            sentences.append(f"... and {len(others) - SHOWN_FEATURES} more, see .to_frame().")
        title = (
            f"Information of each feature about {shown(self.target)}, in bits "
            f"({len(selected)} selected, {self.n_samples} samples)"
        )
        header = ["feature", "role", "added", self.share_name, "p"]
        header += ["unique", "synergy", "shared", "I(f;y)"]
        table: list[str | TextTable] = [
            TextTable([header, *(self._row(feature) for feature in printed)], n_left=2)
        ]
        if selected and self.information is not None:
            total = number(self.information)
            table.append(f"I(selected features; {shown(self.target)}) = {total} bit")
        notes = [f"Note: {note}" for note in self.notes]
        texts: list[list[str | TextTable]] = [
            [wrap([line]) for line in lines] for lines in (sentences, notes) if lines
        ]
        return [[title], table, *texts]

    def _row(self, feature: FeatureExplanation) -> tuple[str, ...]:
        share = "-" if feature.share is None else f"{100 * feature.share + 0.0:.0f} %"
        p = "-" if feature.p_value is None else self.p_text(feature.p_value).removeprefix("p ")
        values = ("unique", "synergy", "shared", "information")
        return (
            shorten(feature.name),
            feature.role,
            "≥ " * feature.is_lower_bound + number(feature.added),
            share,
            p.removeprefix("= "),
            *(number(getattr(feature, value)) for value in values),
        )
