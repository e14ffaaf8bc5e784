"""Columns and blocks: the data structures of all packages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

FeatureType = Literal["continuous", "ordinal", "nominal"]
FEATURE_TYPES: tuple[FeatureType, ...] = get_args(FeatureType)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Column:
    """One variable: its name, its feature type and its values.

    Parameters
    ----------
    name : str
    feature_type : {"continuous", "ordinal", "nominal"}
        Whether values are measured, counted or graded, or mere labels.
    values : array of float64, shape (n_samples,)
        Numbers, or labels as codes 0, 1, ... into `labels`. NaN marks a
        missing value that was kept (``missing="category"``).
    labels : tuple of str, optional
        What the codes stand for where the values were not numbers.

    Examples
    --------
    The columns of a table are read once, and then are numbers with a feature type.

    >>> from pidselect import Table
    >>> grade = Table.read([["B", 1.5], ["A", 2.5], ["B", 0.5], ["A", 1.5]]).columns[0]
    >>> grade.name, grade.feature_type, grade.values.tolist(), grade.labels
    ('x0', 'nominal', [1.0, 0.0, 1.0, 0.0], ('A', 'B'))
    >>> grade.is_discrete, grade.levels(), grade.has_missing
    (True, 2, False)
    >>> grade.take([0, 2]).codes()
    array([0, 0])
    """

    name: str
    feature_type: FeatureType
    values: FloatArray
    labels: tuple[str, ...] | None = None

    @property
    def is_discrete(self) -> bool:
        """Whether values are levels rather than measurements."""
        return self.feature_type != "continuous"

    @cached_property
    def has_missing(self) -> bool:
        """Whether any value is missing."""
        return bool(np.isnan(self.values).any())

    def levels(self) -> int:
        """Return the number of different values, a missing one counting as one of them."""
        codes = self.small_codes()
        return int(codes.max()) + 1 if len(codes) else 0

    def codes(self) -> IntArray:
        """Return each sample's level as 0, 1, ..., in the order of the values, missing last."""
        return self.small_codes().astype(np.int64)

    def small_codes(self) -> NDArray[Any]:
        """Return the codes in a type as small as holds them; not to be written to."""
        return self.made(to_codes)

    @cached_property
    def _made(self) -> dict[Any, NDArray[Any]]:
        return {}

    def made(self, make: Callable[[FloatArray], NDArray[Any]], key: Any = None) -> NDArray[Any]:
        """Return ``make(values)``, computed once for a key, or `make`; not to be written to."""
        if (key or make) not in self._made:
            self._made[key or make] = make(self.values)
        return self._made[key or make]

    def __reduce__(self) -> tuple[Any, ...]:
        return Column, (self.name, self.feature_type, self.values, self.labels)

    def take(self, rows: IntArray) -> Column:
        """Return the column restricted to, or rearranged by, `rows`."""
        return Column(self.name, self.feature_type, self.values[rows], self.labels)


def to_codes(values: FloatArray) -> NDArray[Any]:
    """Return each value's level as 0, 1, ..., in the order of the values, missing last.

    >>> to_codes(np.array([2.5, np.nan, -1.0, 2.5]))
    array([1, 2, 0, 1], dtype=uint8)
    """
    codes = _codes_of_whole_numbers(values)
    if codes is None:
        codes = np.unique(values, return_inverse=True)[1].reshape(-1)
    return narrowed(codes)


def narrowed(codes: IntArray) -> NDArray[Any]:
    """Return codes as the smallest of uint8, uint16 and int32 that holds them."""
    n_levels = codes.max(initial=0) + 1
    small = np.uint8 if n_levels <= 2**8 else np.uint16 if n_levels <= 2**16 else np.int32
    return codes.astype(small)


def _codes_of_whole_numbers(values: FloatArray) -> IntArray | None:
    """Return the codes of whole numbers in a narrow range, which need not be sorted, or None."""
    if not len(values):
        return None
    low, high = values.min(), values.max()
    if not high / 2 - low / 2 < len(values) / 2:  # nor if any is missing
        return None
    steps = (values - low).astype(np.int64)
    return renumbered(steps) if np.array_equal(steps + low, values) else None


def renumbered(codes: IntArray) -> IntArray:
    """Return codes of any whole numbers from 0 on as 0, 1, ... without gaps, in the same order.

    >>> renumbered(np.array([7, 2, 7, 900]))
    array([1, 0, 1, 2])
    """
    if codes.max(initial=0) > 4 * len(codes) + 2**10:  # sorting takes longer, but no more memory
        return np.unique(codes, return_inverse=True)[1].astype(np.int64).reshape(-1)
    occurs = np.bincount(codes) > 0
    return np.asarray((np.cumsum(occurs) - 1)[codes], dtype=np.int64)


def is_constant(values: FloatArray) -> bool:
    """Return whether there is one level only, a missing value being a level, too.

    >>> is_constant(np.array([1.0, 1.0])), is_constant(np.array([1.0, np.nan]))
    (True, False)
    """
    same = np.isnan(values) if np.isnan(values[0]) else values == values[0]
    return bool(same.all())


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of one length, in order."""

    columns: tuple[Column, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(column.name for column in self.columns)

    @property
    def feature_types(self) -> tuple[FeatureType, ...]:
        """The columns' feature types."""
        return tuple(column.feature_type for column in self.columns)

    @property
    def n_samples(self) -> int:
        """The number of samples; 0 where there are no columns."""
        return len(self.columns[0].values) if self.columns else 0

    def __len__(self) -> int:
        return len(self.columns)


@dataclass(frozen=True, eq=False)
class Block(Columns):
    """One or more columns that are treated as a single joint variable.

    A block without columns is the empty conditioning set.

    Examples
    --------
    Two columns as one joint variable, of as many levels as there are pairs of values:

    >>> from pidselect.data import Block, read_block
    >>> block = read_block([0, 0, 1, 1], "a") + read_block([0, 1, 0, 0], "b")
    >>> block.names, block.feature_types, block.n_samples
    (('a', 'b'), ('ordinal', 'ordinal'), 4)
    >>> block.codes()
    array([0, 1, 2, 2])
    >>> block.take([3, 2]).codes(), len(Block())
    (array([0, 0]), 0)
    """

    def __add__(self, other: Block) -> Block:
        return Block(self.columns + other.columns)

    def codes(self) -> IntArray:
        """Return each sample's joint level over all columns, as 0, 1, ... in sorted order."""
        (first, *others) = self.columns
        joint = first.codes()
        for column in others:
            codes = column.small_codes()
            # Both have at most as many levels as samples, so that no product overflows.
            joint = renumbered(joint * (int(codes.max(initial=0)) + 1) + codes)
        return joint

    def take(self, rows: IntArray) -> Block:
        """Return the block restricted to, or rearranged by, `rows`."""
        return Block(tuple(column.take(rows) for column in self.columns))
