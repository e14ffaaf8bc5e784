"""Rulers: sorted values that are searched by cells of equal width.

A search by halves takes a branch at every step that cannot be foretold, and so an order of
magnitude longer than looking into the one cell where a value must be.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pidselect.estimators.knn.simd64 import LANES
from pidselect.estimators.knn.spaces import INNER, JIT, FloatArray

#: Infinite values before the first one of a ruler, and behind the last one.
BEFORE = 2
BEFORE_, ONE = np.uint64(BEFORE), np.uint64(1)  # no check whether a place is negative

#: A few units in the last place. A search begins so much before the value, and goes up from there.
SLIP = 2.0**-49


class Ruler(NamedTuple):
    """Sorted values with infinite ones around them, and cells of equal width to search them by."""

    values: FloatArray
    start: NDArray[np.uint32]  # the first place in each cell or beyond it, and the end
    origin: float  # a little more than the first value, more than rounding can shift a search
    scale: float


@njit(**JIT)
def to_ruler(ascending):
    """Lay sorted values out for searching."""
    n_cells = 2 * ascending.size
    values = np.full(2 * BEFORE + ascending.size, np.inf)
    values[:BEFORE] = -np.inf
    values[BEFORE : BEFORE + ascending.size] = ascending
    start = np.zeros(n_cells + 1, dtype=np.uint32)
    if ascending.size == 0:
        return Ruler(values, start, 0.0, 0.0)
    width = max(ascending[-1] - ascending[0], 1e-300)
    origin, scale = ascending[0], n_cells / width
    place = 0
    for cell in range(n_cells):
        while place < ascending.size and (ascending[place] - origin) * scale < cell:
            place += 1
        start[cell] = place
    start[n_cells] = ascending.size
    largest = max(abs(ascending[0]), abs(ascending[-1]))
    return Ruler(values, start, origin + SLIP * (largest + width), scale)


@njit(**INNER)
def stretch(ruler, here, limit):
    """Return the range of places nearer to a value than the limit."""
    x, start, origin, scale = ruler
    first = _left_end(x, start, (origin, scale), here, limit)
    last = _right_end(x, start, (origin, scale), here, limit)
    return min(first, last), last


@njit(**INNER)
def _left_end(x, start, cells, here, limit):
    """Return the first place that is less than the limit below a value."""
    cell = _cell(cells, here - limit, start.size)
    place = np.uint64(start[cell])
    # A cell holds a value or two: no branch, which could not be foretold, for those.
    place += np.uint64(here - x[BEFORE_ + place] >= limit)
    place += np.uint64(here - x[BEFORE_ + place] >= limit)
    if here - x[BEFORE_ + place] >= limit:
        end = np.uint64(start[cell + ONE])
        if here - x[BEFORE_ + end] >= limit:
            end = np.uint64(x.size) - BEFORE_ - BEFORE_
        while place < end:
            middle = (place + end) >> ONE
            if here - x[BEFORE_ + middle] >= limit:
                place = middle + ONE
            else:
                end = middle
    return np.int64(place)


@njit(**INNER)
def _right_end(x, start, cells, here, limit):
    """Return the first place that is the limit or more above a value."""
    cell = _cell(cells, here + limit, start.size)
    place = np.uint64(start[cell])
    place += np.uint64(x[BEFORE_ + place] - here < limit)
    place += np.uint64(x[BEFORE_ + place] - here < limit)
    if x[BEFORE_ + place] - here < limit:
        end = np.uint64(start[cell + ONE])
        if x[BEFORE_ + end] - here < limit:
            end = np.uint64(x.size) - BEFORE_ - BEFORE_
        while place < end:
            middle = (place + end) >> ONE
            if x[BEFORE_ + middle] - here < limit:
                place = middle + ONE
            else:
                end = middle
    return np.int64(place)


@njit(**INNER)
def _cell(cells, value, n_random_starts):
    """Return the cell that a value lies in, or the first or the last one."""
    origin, scale = cells
    return np.uint64(min(max((value - origin) * scale, 0.0), n_random_starts - 2.0))


@njit(**INNER)
def find_ends(ruler, here, limit, first, last):
    """Write the range of places nearer to each lane's value than its limit."""
    x, start, origin, scale = ruler
    for lane in range(LANES):
        value, near = here[lane], limit[lane]
        first[lane] = _left_end(x, start, (origin, scale), value, near)
        last[lane] = _right_end(x, start, (origin, scale), value, near)
