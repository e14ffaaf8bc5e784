"""Columns and blocks: the form in which every other room sees data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

Kind = Literal["continuous", "ordinal", "nominal"]
KINDS: tuple[Kind, ...] = get_args(Kind)

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Column:
    """One variable: its name, its kind and its values.

    Parameters
    ----------
    name : str
        The name users know it by; errors quote it.
    kind : {"continuous", "ordinal", "nominal"}
        Whether values are measured, counted or graded, or mere labels.
    values : array of float64, shape (n_samples,)
        Numbers as given; labels as codes 0, 1, ... into `labels`. NaN marks a
        missing value that was kept (``missing="category"``).
    labels : tuple of str, optional
        What the codes stand for where the values were not numbers.
    """

    name: str
    kind: Kind
    values: FloatArray
    labels: tuple[str, ...] | None = None

    @property
    def is_discrete(self) -> bool:
        """Whether values are levels rather than measurements."""
        return self.kind != "continuous"

    @property
    def has_missing(self) -> bool:
        """Whether any value is missing."""
        return bool(np.isnan(self.values).any())

    def levels(self) -> int:
        """Return the number of different values, a missing one counting as one of them."""
        return len(np.unique(self.values))

    def codes(self) -> IntArray:
        """Return each sample's level as 0, 1, ..., in the order of the values, missing last."""
        return np.unique(self.values, return_inverse=True)[1].astype(np.int64).reshape(-1)

    def take(self, rows: IntArray) -> Column:
        """Return the column restricted to, or rearranged by, `rows`."""
        return Column(self.name, self.kind, self.values[rows], self.labels)


def is_constant(values: FloatArray) -> bool:
    """Return whether there is one level only, a missing value being a level, too.

    Examples
    --------
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
    def kinds(self) -> tuple[Kind, ...]:
        """The columns' kinds."""
        return tuple(column.kind for column in self.columns)

    @property
    def n_samples(self) -> int:
        """The number of samples; 0 where there are no columns."""
        return len(self.columns[0].values) if self.columns else 0

    def __len__(self) -> int:
        return len(self.columns)


@dataclass(frozen=True, eq=False)
class Block(Columns):
    """One or more columns that are treated as a single joint variable.

    A block without columns stands for "nothing given".
    """

    def __add__(self, other: Block) -> Block:
        return Block(self.columns + other.columns)

    def codes(self) -> IntArray:
        """Return each sample's joint level over all columns, as 0, 1, ... in sorted order."""
        joint = np.stack([column.codes() for column in self.columns], axis=1)
        return np.unique(joint, axis=0, return_inverse=True)[1].astype(np.int64).reshape(-1)

    def take(self, rows: IntArray) -> Block:
        """Return the block restricted to, or rearranged by, `rows`."""
        return Block(tuple(column.take(rows) for column in self.columns))
