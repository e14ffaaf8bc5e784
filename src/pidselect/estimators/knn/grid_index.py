"""Grid index: sorted values searched by cells of equal width.

Looking up the cell of a value is an order of magnitude faster than a binary search, whose branches
are mispredicted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.estimators.knn.simd import LANES
from pidselect.estimators.knn.spaces import INNER, FloatArray
from pidselect.jit import njit

#: Infinite values before the first value, and after the last one.
PADDING = 2
PADDING_, ONE = np.uint64(PADDING), np.uint64(1)  # unsigned: no check for negative indices

#: A few units in the last place, by which a search begins before the value.
ROUNDING_MARGIN = 2.0**-49


class GridIndex(NamedTuple):
    """Sorted values, padded by infinities, with a grid of cells of equal width."""

    values: FloatArray  # without duplicates; the rank of a value is its level
    start: NDArray[np.uint32]  # the first level in each cell or beyond it, and the end
    origin: float  # the first value plus a margin for rounding
    scale: float  # cells per unit
    rank: NDArray[np.int64]  # of the first sample at each level, and the number of samples


def build_grid(ascending: FloatArray) -> GridIndex:
    """Build the grid index of sorted values, which may have ties."""
    changes = np.flatnonzero(ascending[1:] != ascending[:-1]) + 1
    rank = np.concatenate([[0], changes, [len(ascending)]])
    ascending = ascending[rank[:-1]] if len(ascending) else ascending
    n_values, n_cells = len(ascending), 2 * len(ascending)
    values = np.full(2 * PADDING + n_values, np.inf)
    values[:PADDING] = -np.inf
    values[PADDING : PADDING + n_values] = ascending
    if not n_values:
        return GridIndex(values, np.zeros(1, dtype=np.uint32), 0.0, 0.0, rank)
    width = max(ascending[-1] - ascending[0], 1e-300)
    origin, scale = ascending[0], n_cells / width
    # A value lies before the next whole number of cells.
    ends = np.minimum(((ascending - origin) * scale).astype(np.int64) + 1, n_cells)
    start = np.cumsum(np.bincount(ends, minlength=n_cells + 1)).astype(np.uint32)
    largest = max(abs(ascending[0]), abs(ascending[-1]))
    margin = ROUNDING_MARGIN * (largest + width)
    return GridIndex(values, start, float(origin + margin), float(scale), rank)


@njit(**INNER)
def find_interval(grid, here, limit):
    """Return the interval of levels nearer to a value than the limit."""
    x, start, origin, scale, _ = grid
    first = _left_end(x, start, (origin, scale), here, limit)
    last = _right_end(x, start, (origin, scale), here, limit)
    return min(first, last), last


@njit(**INNER)
def _left_end(x, start, cells, here, limit):
    """Return the first rank that is less than the limit below a value."""
    cell = _cell(cells, here - limit, start.size)
    rank = np.uint64(start[cell])
    # A cell holds a value or two: these are compared without a branch.
    rank += np.uint64(here - x[PADDING_ + rank] >= limit)
    rank += np.uint64(here - x[PADDING_ + rank] >= limit)
    if here - x[PADDING_ + rank] >= limit:
        end = np.uint64(start[cell + ONE])
        if here - x[PADDING_ + end] >= limit:
            end = np.uint64(x.size) - PADDING_ - PADDING_
        while rank < end:
            middle = (rank + end) >> ONE
            if here - x[PADDING_ + middle] >= limit:
                rank = middle + ONE
            else:
                end = middle
    return np.int64(rank)


@njit(**INNER)
def _right_end(x, start, cells, here, limit):
    """Return the first rank that is the limit or more above a value."""
    cell = _cell(cells, here + limit, start.size)
    rank = np.uint64(start[cell])
    rank += np.uint64(x[PADDING_ + rank] - here < limit)
    rank += np.uint64(x[PADDING_ + rank] - here < limit)
    if x[PADDING_ + rank] - here < limit:
        end = np.uint64(start[cell + ONE])
        if x[PADDING_ + end] - here < limit:
            end = np.uint64(x.size) - PADDING_ - PADDING_
        while rank < end:
            middle = (rank + end) >> ONE
            if x[PADDING_ + middle] - here < limit:
                rank = middle + ONE
            else:
                end = middle
    return np.int64(rank)


@njit(**INNER)
def _cell(cells, value, n_starts):
    """Return the cell of a value, clipped to the grid."""
    origin, scale = cells
    return np.uint64(min(max((value - origin) * scale, 0.0), n_starts - 2.0))


@njit(**INNER)
def find_intervals(grid, here, limit, first, last):
    """Write `find_interval` of every lane's value and limit."""
    x, start, origin, scale, _ = grid
    for lane in range(LANES):
        value, near = here[lane], limit[lane]
        first[lane] = _left_end(x, start, (origin, scale), value, near)
        last[lane] = _right_end(x, start, (origin, scale), value, near)
