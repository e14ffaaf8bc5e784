"""Neighbours in order: every sample's nearest neighbours, sorted once and used for every column.

Distances are maximum norms. A column's share of a distance never exceeds its ``cap``: infinite
for numbers, 1 for labels, whose codes differ by 1 or more and so are 0 or 1 apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

# No value is NaN, and the sign of a zero distance does not matter: knowing both lets the compiler
# use vector minima and maxima. Nothing is reordered, so results stay the same to the bit.
JIT = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": {"nnan", "nsz"}}

# Functions that allocate nothing need not count who holds the arrays they are handed, which takes
# longer than most of what they do.
INNER = {**JIT, "_nrt": False}


#: Samples in a block.
BLOCK = 64


class Space(NamedTuple):
    """Points between which distances are taken: ``values[column, sample]`` and ``cap[column]``."""

    values: FloatArray
    cap: FloatArray


class Order(NamedTuple):
    """The nearest neighbours of every sample, nearest first, the sample itself left out.

    Any neighbour that is not listed is at least ``reach[sample]`` away.
    """

    sample: NDArray[np.int32]
    distance: FloatArray
    reach: FloatArray


class Blocks(NamedTuple):
    """The smallest box around every BLOCK samples, ``low[column, block]`` to ``high``.

    Where near samples follow each other boxes are small, and most are left out as a whole.
    """

    low: FloatArray
    high: FloatArray


class NeighbourBuffer(NamedTuple):
    """Room for samples within a distance of another one."""

    sample: NDArray[np.int32]
    distance: FloatArray
    gap: FloatArray  # by block
    step: FloatArray  # by sample of a block


class SortedColumn(NamedTuple):
    """Samples along one column of numbers; empty where there is no such column."""

    ascending: FloatArray  # the sorted values
    place: NDArray[np.int64]  # each sample's place among them
    at: NDArray[np.int64]  # the sample at each place


def in_blocks(space: Space) -> Blocks:
    """Put samples into blocks, one after the other."""
    if not len(space.values):
        return Blocks(space.values, space.values)
    starts = np.arange(0, space.values.shape[1], BLOCK)
    return Blocks(
        np.minimum.reduceat(space.values, starts, axis=1),
        np.maximum.reduceat(space.values, starts, axis=1),
    )


def in_line(values: FloatArray) -> SortedColumn:
    """Sort samples along their values."""
    order = np.argsort(values, kind="stable")
    place = np.empty(len(values), dtype=np.int64)
    place[order] = np.arange(len(values))
    return SortedColumn(values[order], place, order)


@njit(**INNER)
def apart(space, i, j):
    """Return the distance of two samples."""
    distance = 0.0
    for column in range(space.values.shape[0]):
        step = abs(space.values[column, j] - space.values[column, i])
        distance = max(distance, min(step, space.cap[column]))
    return distance


@njit(**INNER)
def apart_at(points, cap, i, j):
    """Return the distance of two samples by ``points[sample, column]``, all side by side."""
    distance = 0.0
    for column in range(points.shape[1]):
        step = abs(points[j, column] - points[i, column])
        distance = max(distance, min(step, cap[column]))
    return distance


@njit(**INNER)
def distances_from(space: Space, i: int, distance: FloatArray) -> None:
    """Fill `distance` with the maximum-norm distances from sample i to all samples."""
    distance[:] = 0.0
    for column in range(space.values.shape[0]):
        values = space.values[column]
        cap = space.cap[column]
        here = values[i]
        for j in range(values.size):
            distance[j] = max(distance[j], min(abs(values[j] - here), cap))


@njit(**INNER)
def list_within(space, blocks, i, limit, found):
    """Write the other samples nearer to i than the limit, in no order; return how many there are.

    Loops go along blocks and samples, which vector instructions take several of at once.
    """
    n_axes, n_samples = space.values.shape
    n_blocks = blocks.low.shape[1]
    sample, distance, gap = found.sample, found.distance, found.gap
    gap[:] = 0.0
    for axis in range(n_axes):
        here, cap = space.values[axis, i], space.cap[axis]
        low, high = blocks.low[axis], blocks.high[axis]
        for block in range(n_blocks):
            gap[block] = max(gap[block], min(max(low[block] - here, here - high[block]), cap))
    size = 0
    for block in range(n_blocks):
        if gap[block] >= limit:
            continue
        first = block * BLOCK
        width = min(BLOCK, n_samples - first)
        step = found.step[:width]
        step[:] = 0.0
        for axis in range(n_axes):
            here, cap = space.values[axis, i], space.cap[axis]
            values = space.values[axis, first : first + width]
            for j in range(width):
                step[j] = max(step[j], min(abs(values[j] - here), cap))
        if first <= i < first + width:
            step[i - first] = np.inf  # the sample itself is no neighbour
        for j in range(width):
            # Without a branch, which could not be foretold: who is too far is written over.
            sample[size] = first + j
            distance[size] = step[j]
            size += int(step[j] < limit)
    return size


@njit(**INNER)
def nearer_than(limit, ascending):
    """Return how many of sorted distances are below a limit.

    Halving by a product instead of a branch: which way it goes cannot be foretold.
    """
    first, size = 0, ascending.size
    while size > 1:
        half = size >> 1
        first += half * int(ascending[first + half - 1] < limit)
        size -= half
    return first + int(size == 1 and ascending[first] < limit)


@njit(**INNER)
def within(ascending, at, limit):
    """Return the range of sorted values nearer than `limit` to the one at place `at`.

    Steps double on the way out, so that near ends are found fast.
    """
    here = ascending[at]
    step, low, first = 1, at, at + 1  # first: the first that counts; it lies in low..first
    while low >= 0 and here - ascending[low] < limit:
        first, low, step = low, low - step, 2 * step
    low = max(low, -1) + 1
    while low < first:
        middle = (low + first) >> 1
        if here - ascending[middle] < limit:
            first = middle
        else:
            low = middle + 1
    step, high, last = 1, at, at  # last: behind the last that counts; it lies in last..high
    while high < ascending.size and ascending[high] - here < limit:
        last, high, step = high + 1, high + step, 2 * step
    high = min(high, ascending.size)
    while last < high:
        middle = (last + high) >> 1
        if ascending[middle] - here < limit:
            last = middle + 1
        else:
            high = middle
    return min(first, last), last
