"""Grid index: sorted values searched by cells of equal width.

Looking up the cell of a value is an order of magnitude faster than a binary search, whose branches
are mispredicted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.estimators.knn.spaces import INNER, LANES, FloatArray
from pidselect.jit import njit

#: Infinite values before the first value, and after the last one.
PADDING = 2
PADDING_, ONE = np.uint64(PADDING), np.uint64(1)  # unsigned: no check for negative indices

#: A few units in the last place, by which a search begins before the value.
ROUNDING_MARGIN = 2.0**-49


class GridIndex(NamedTuple):
    """Distinct values in ascending order, padded by infinities, with a grid of equal cells.

    The level of a value is the number of smaller distinct ones.
    """

    values: FloatArray
    start: NDArray[np.uint32]  # the first level in each cell or beyond it, and the end
    rank: NDArray[np.int64]  # of the first sample at each level, and the number of samples
    origin: float  # the first value plus a margin for rounding
    scale: float  # cells per unit


def new_grid(ascending: FloatArray) -> GridIndex:
    """Return the grid index of sorted values, which is yet to be filled."""
    values = np.concatenate([[-np.inf] * PADDING, ascending, [np.inf] * PADDING])
    start = np.zeros(2 * len(ascending) + 1, dtype=np.uint32)
    return GridIndex(values, start, np.zeros(len(ascending) + 1, dtype=np.int64), 0.0, 0.0)


@njit(**INNER)
def fill_grid(grid: GridIndex) -> GridIndex:
    """Return the grid index without duplicates, and with the cells of its values."""
    values, n_samples, n_levels = grid.values, grid.rank.size - 1, 0
    if n_samples == 0:
        return grid
    for rank in range(n_samples):
        value = values[PADDING + rank]
        if rank == 0 or value != values[PADDING + n_levels - 1]:
            values[PADDING + n_levels] = value
            grid.rank[n_levels] = rank
            n_levels += 1
    for place in range(PADDING + n_levels, 2 * PADDING + n_levels):
        values[place] = np.inf
    grid.rank[n_levels] = n_samples
    first, last = values[PADDING], values[PADDING + n_levels - 1]
    width, n_cells = max(last - first, 1e-300), 2 * n_levels
    start, scale = grid.start[: n_cells + 1], n_cells / width
    for cell in range(n_cells + 1):
        start[cell] = 0
    for level in range(n_levels):
        # A value lies before the next whole number of cells.
        cell = int((values[PADDING + level] - first) * scale)
        start[min(cell + 1, n_cells)] += 1
    for cell in range(n_cells):
        start[cell + 1] += start[cell]
    margin = ROUNDING_MARGIN * (max(abs(first), abs(last)) + width)
    distinct, ranks = values[: 2 * PADDING + n_levels], grid.rank[: n_levels + 1]
    return GridIndex(distinct, start, ranks, first + margin, scale)


@njit(**INNER)
def find_interval(grid, here, limit):
    """Return the interval of levels nearer to a value than the limit."""
    x, start, _, origin, scale = grid
    first = _left_end(x, start, (origin, scale), here, limit)
    last = _right_end(x, start, (origin, scale), here, limit)
    return min(first, last), last


@njit(**INNER)
def _left_end(x, start, cells, here, limit):
    """Return the first level that is less than the limit below a value."""
    cell = _cell(cells, here - limit, start.size)
    level = np.uint64(start[cell])
    # A cell holds a value or two: these are compared without a branch.
    level += np.uint64(here - x[PADDING_ + level] >= limit)
    level += np.uint64(here - x[PADDING_ + level] >= limit)
    if here - x[PADDING_ + level] >= limit:
        end = np.uint64(start[cell + ONE])
        if here - x[PADDING_ + end] >= limit:
            end = np.uint64(x.size) - PADDING_ - PADDING_
        while level < end:
            middle = (level + end) >> ONE
            if here - x[PADDING_ + middle] >= limit:
                level = middle + ONE
            else:
                end = middle
    return np.int64(level)


@njit(**INNER)
def _right_end(x, start, cells, here, limit):
    """Return the first level that is the limit or more above a value."""
    cell = _cell(cells, here + limit, start.size)
    level = np.uint64(start[cell])
    level += np.uint64(x[PADDING_ + level] - here < limit)
    level += np.uint64(x[PADDING_ + level] - here < limit)
    if x[PADDING_ + level] - here < limit:
        end = np.uint64(start[cell + ONE])
        if x[PADDING_ + end] - here < limit:
            end = np.uint64(x.size) - PADDING_ - PADDING_
        while level < end:
            middle = (level + end) >> ONE
            if x[PADDING_ + middle] - here < limit:
                level = middle + ONE
            else:
                end = middle
    return np.int64(level)


@njit(**INNER)
def _cell(cells, value, n_starts):
    """Return the cell of a value, clipped to the grid."""
    origin, scale = cells
    return np.uint64(min(max((value - origin) * scale, 0.0), n_starts - 2.0))


@njit(**INNER)
def find_intervals(grid, here, limit, first, last):
    """Write `find_interval` of every lane's value and limit."""
    x, start, _, origin, scale = grid
    for lane in range(LANES):
        value, near = here[lane], limit[lane]
        first[lane] = _left_end(x, start, (origin, scale), value, near)
        last[lane] = _right_end(x, start, (origin, scale), value, near)
