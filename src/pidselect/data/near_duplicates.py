"""Likeness: columns whose ranks are nearly the same, found among thousands of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import rankdata

from .column import Column, IntArray
from .table import Table

#: Columns so alike in their ranks stand for each other: which one is selected is nearly chance.
NEAR_DUPLICATE = 0.99

#: Rows by which correlations are told: with 2000 of them one of 0.99 is told from one of 0.985.
#: Where there are more, some are drawn, always the same ones.
RANK_ROWS = 2_000

#: Columns of a block of the correlation matrix.
BLOCK = 1_000


def near_duplicates(table: Table, numbers: Sequence[int]) -> list[list[int]]:
    """Return groups of columns whose ranks are nearly the same, counted from either end.

    Parameters
    ----------
    table : Table
    numbers : sequence of int
        The columns to compare, all of them numbers.

    Returns
    -------
    list of list of int
        In order. Two columns of a group may be alike only by way of a third.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(3, 500))
    >>> table = Table.read(np.column_stack([x[0], x[1], np.exp(x[0] + x[2] / 100)]))
    >>> near_duplicates(table, [0, 1, 2])
    [[0, 2]]
    """
    rows = some_rows(table.n_samples, RANK_ROWS)
    starts = range(0, len(numbers), BLOCK)
    blocks = [[table.columns[i] for i in numbers[start : start + BLOCK]] for start in starts]
    ranks = [ranks_of(block, rows) for block in blocks]
    pairs = [
        np.array([one, other]) + np.argwhere(np.abs(left.T @ right) > NEAR_DUPLICATE)
        for one, left in zip(starts, ranks, strict=True)
        for other, right in zip(starts, ranks, strict=True)
        if one <= other
    ]
    ends = np.concatenate(pairs) if pairs else np.empty((0, 2), dtype=np.int64)
    shape = (len(numbers), len(numbers))
    graph = coo_array((np.ones(len(ends), dtype=bool), ends.T), shape=shape)
    _, labels = connected_components(graph, directed=False)
    groups: dict[int, list[int]] = {}
    for index, label in zip(numbers, labels.tolist(), strict=True):
        groups.setdefault(label, []).append(index)
    return [group for group in groups.values() if len(group) > 1]


def ranks_of(columns: Sequence[Column], rows: IntArray) -> NDArray[np.float32]:
    """Return ranks of mean 0 and length 1, one column each; gaps are in the middle."""
    ranks = np.zeros((len(rows), len(columns)), dtype=np.float32)
    for place, column in enumerate(columns):
        values = column.values[rows]
        known = ~np.isnan(values)
        if not known.any():
            continue
        order = rankdata(values[known])
        order -= order.mean()
        length = np.sqrt((order**2).sum())
        if length:
            ranks[known, place] = order / length
    return ranks


def some_rows(n_samples: int, most: int) -> IntArray:
    """Return all rows, or some drawn at random, the same ones each time; in order."""
    if n_samples <= most:
        return np.arange(n_samples)
    return np.sort(np.random.default_rng(0).choice(n_samples, most, replace=False))
