"""Data structures of nearest-neighbour search: spaces, neighbour lists, sorted columns.

Distances are maximum norms. The contribution of a column is at most its ``max_distance``: infinite
for numbers, 1 for labels, whose codes are integers, so that two labels are 0 or 1 apart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.jit import njit

FloatArray = NDArray[np.float64]

# No value is NaN and the sign of zero is irrelevant, which allows vector minima and maxima.
# Operations are not reordered, so that results are the same to the bit.
JIT = {"cache": True, "nogil": True, "error_model": "numpy", "fastmath": {"nnan", "nsz"}}

# Functions that allocate nothing need no reference counting, which would dominate their run time.
INNER = {**JIT, "_nrt": False}

# Functions called in one place are inlined before they are compiled. Otherwise each would be
# optimized once more with every function around it, which takes a third longer.
INLINE = {**INNER, "inline": "always"}

#: Permutations processed at a time. 16 was the fastest of 8, 16, 32 and 64.
LANES = 16

#: Smallest distances are kept in rows, of which this many are updated at a time.
SLOTS = 4

#: Distances compared at a time.
GROUP = 8

#: Number of samples up to which ranks fit into 16 bits.
MAX_UINT16_SAMPLES = 2**16 - 1

#: Samples in a bounding box.
BLOCK = 64


class Space(NamedTuple):
    """Points in the maximum norm: ``values[column, sample]`` and ``max_distance[column]``."""

    values: FloatArray
    max_distance: FloatArray


class NeighbourLists(NamedTuple):
    """The nearest neighbours of every sample, in ascending order of distance.

    Samples that are not listed are at a distance of at least ``radius[sample]``, the list radius.
    """

    sample: NDArray[np.int32]
    distance: FloatArray
    radius: FloatArray


class RankedColumns(NamedTuple):
    """Columns by ranks: ``rank[column, sample]`` is the number of smaller values in a column."""

    ascending: FloatArray  # (n_columns, n_samples): sorted values
    rank: NDArray[Any]


class BoundingBoxes(NamedTuple):
    """The bounding box of each BLOCK consecutive samples: ``low[column, block]`` to ``high``."""

    low: FloatArray
    high: FloatArray


class NeighbourBuffer(NamedTuple):
    """Buffers of `list_within`."""

    sample: NDArray[np.int32]
    distance: FloatArray
    gap: FloatArray  # distance of each box
    step: FloatArray  # distance of each sample of a box


class SortedColumn(NamedTuple):
    """One sorted column of numbers; empty if there is none."""

    ascending: FloatArray  # the sorted values
    rank: NDArray[np.int64]  # of each sample, from 0
    sample: NDArray[np.int64]  # by rank


class TargetSpaces(NamedTuple):
    """The spaces (y, S), called joint, and S, called given, with their neighbour lists.

    If S is one numeric column, the kernel for single columns uses `given_sorted`; it has no lists.
    """

    joint: Space
    joint_points: FloatArray
    joint_boxes: BoundingBoxes
    joint_lists: NeighbourLists
    given: Space
    given_boxes: BoundingBoxes
    given_lists: NeighbourLists
    given_sorted: SortedColumn


class Candidate(NamedTuple):
    """The candidate x: ``values[sample, column]``, maximum distances, its sorted first column."""

    values: FloatArray
    max_distance: FloatArray
    sorted: SortedColumn


class CountingRule(NamedTuple):
    """How counts become a value.

    Samples at distances less than (`strict`) or up to that of the k-th neighbour are counted; the
    value is the sum of ``weight[n]`` over all counts n, with a negative sign in (y, S) and (x, S).
    Weights are integers, so that the sum does not depend on the order of the samples.

    Samples whose k-th neighbour is at `max_radius` or farther are not counted: that is 1 if there
    are labels, else infinite.
    """

    k: int
    strict: bool
    weight: NDArray[np.int64]
    max_radius: float


class SingleColumns(NamedTuple):
    """Candidates of one column each: values and order, (n_candidates, n_samples)."""

    values: FloatArray
    order: NDArray[np.int32]  # the samples in ascending order of their values


def bounding_boxes(space: Space) -> BoundingBoxes:
    """Return the bounding boxes of consecutive samples."""
    if not len(space.values):
        return BoundingBoxes(space.values, space.values)
    starts = np.arange(0, space.values.shape[1], BLOCK)
    return BoundingBoxes(
        np.minimum.reduceat(space.values, starts, axis=1),
        np.maximum.reduceat(space.values, starts, axis=1),
    )


def rank_columns(values: FloatArray) -> RankedColumns:
    """Rank each column, by the smallest type that holds all ranks."""
    n_columns, n_samples = values.shape
    rank_type = np.uint16 if n_samples <= MAX_UINT16_SAMPLES else np.uint32
    ascending = np.sort(values, axis=1)
    rank = np.empty((n_columns, n_samples), dtype=rank_type)
    for column in range(n_columns):
        rank[column] = np.searchsorted(ascending[column], values[column])
    return RankedColumns(ascending, rank)


def sort_column(values: FloatArray) -> SortedColumn:
    """Sort a column."""
    return sorted_by(sort_order(values), values)


def sort_order(values: FloatArray) -> NDArray[np.int32]:
    """Return the samples in ascending order of their values, missing ones last."""
    return np.argsort(values, kind="stable").astype(np.int32)


def sorted_by(order: NDArray[np.int32], values: FloatArray) -> SortedColumn:
    """Return a column sorted in this order."""
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values))
    return SortedColumn(values[order], rank, order.astype(np.int64))


@njit(**INNER)
def space_distance(space, i, j):
    """Return the distance of two samples."""
    distance = 0.0
    for column in range(space.values.shape[0]):
        step = abs(space.values[column, j] - space.values[column, i])
        distance = max(distance, min(step, space.max_distance[column]))
    return distance


@njit(**INNER)
def point_distance(points, max_distance, i, j):
    """Return the distance of two samples by ``points[sample, column]``."""
    distance = 0.0
    for column in range(points.shape[1]):
        step = abs(points[j, column] - points[i, column])
        distance = max(distance, min(step, max_distance[column]))
    return distance


@njit(**INNER)
def distances_from(space: Space, i: int, distance: FloatArray) -> None:
    """Fill `distance` with the distances from sample i to all samples."""
    distance[:] = 0.0
    for column in range(space.values.shape[0]):
        values = space.values[column]
        max_distance = space.max_distance[column]
        here = values[i]
        for j in range(values.size):
            distance[j] = max(distance[j], min(abs(values[j] - here), max_distance))


@njit(**INNER)
def insert(distance, nearest):
    """Insert a distance into the smallest ones, which are ascending."""
    slot = nearest.size - 1
    if distance >= nearest[slot]:
        return
    while slot > 0 and nearest[slot - 1] > distance:
        nearest[slot] = nearest[slot - 1]
        slot -= 1
    nearest[slot] = distance


@njit(**INNER)
def insert_in_lanes(moving, nearest):
    """Insert a distance of every lane, `moving`, into the smallest ones.

    These are ascending, rows of LANES of which there is a multiple of SLOTS, in one array: rows at
    fixed places are known not to overlap.
    """
    for start in range(0, nearest.size, SLOTS * LANES):
        rows = nearest[start : start + SLOTS * LANES]
        for lane in range(LANES):
            new = moving[lane]
            old = rows[lane]
            rows[lane], new = min(new, old), max(new, old)
            old = rows[LANES + lane]
            rows[LANES + lane], new = min(new, old), max(new, old)
            old = rows[2 * LANES + lane]
            rows[2 * LANES + lane], new = min(new, old), max(new, old)
            old = rows[3 * LANES + lane]
            rows[3 * LANES + lane], moving[lane] = min(new, old), max(new, old)


@njit(**INNER)
def count_below(distance, limits, counts):
    """Count in every lane the distances below its limit, GROUP at a time: see `insert_in_lanes`."""
    for lane in range(LANES):
        counts[lane] = 0
    whole = distance.size // GROUP * GROUP
    for t in range(0, whole, GROUP):
        a, b, c, d = distance[t], distance[t + 1], distance[t + 2], distance[t + 3]
        e, f, g, h = distance[t + 4], distance[t + 5], distance[t + 6], distance[t + 7]
        for lane in range(LANES):
            limit = limits[lane]
            n = int(a < limit) + int(b < limit) + int(c < limit) + int(d < limit)
            n += int(e < limit) + int(f < limit) + int(g < limit) + int(h < limit)
            counts[lane] += n
    for t in range(whole, distance.size):
        for lane in range(LANES):
            counts[lane] += int(distance[t] < limits[lane])


@njit(**INNER)
def count_sorted_below(ascending, limits, counts):
    """Count in every lane the sorted distances below its limit."""
    size = count_less(largest(limits), ascending)
    # Whole groups take less time, and those behind are below no limit.
    count_below(ascending[: min(-(-size // GROUP) * GROUP, ascending.size)], limits, counts)


@njit(**INNER)
def largest(numbers):
    """Return the largest number of all lanes."""
    widest = numbers[0]
    for lane in range(1, LANES):
        widest = max(widest, numbers[lane])
    return widest


@njit(**INNER)
def insert_sample(step, j, slot, distance, sample):
    """Insert a sample at a distance into ascending ones, of which that at the slot is dropped."""
    while slot > 0 and distance[slot - 1] > step:
        distance[slot], sample[slot] = distance[slot - 1], sample[slot - 1]
        slot -= 1
    distance[slot], sample[slot] = step, j


def new_buffer(n_samples: int) -> NeighbourBuffer:
    """Allocate the buffers of `list_within`."""
    return NeighbourBuffer(
        np.empty(n_samples + 1, dtype=np.int32),
        np.empty(n_samples + 1),
        np.empty(-(-n_samples // BLOCK)),
        np.empty(BLOCK),
    )


@njit(**INNER)
def list_within(space, blocks, i, limit, found):
    """Write the other samples nearer to i than the limit, in no order; return their number."""
    n_axes, n_samples = space.values.shape
    n_blocks = blocks.low.shape[1]
    sample, distance, gap = found.sample, found.distance, found.gap
    gap[:] = 0.0
    for axis in range(n_axes):
        here, max_distance = space.values[axis, i], space.max_distance[axis]
        low, high = blocks.low[axis], blocks.high[axis]
        for block in range(n_blocks):
            gap[block] = max(
                gap[block], min(max(low[block] - here, here - high[block]), max_distance)
            )
    size = 0
    for block in range(n_blocks):
        if gap[block] >= limit:
            continue
        first = block * BLOCK
        width = min(BLOCK, n_samples - first)
        step = found.step[:width]
        step[:] = 0.0
        for axis in range(n_axes):
            here, max_distance = space.values[axis, i], space.max_distance[axis]
            values = space.values[axis, first : first + width]
            for j in range(width):
                step[j] = max(step[j], min(abs(values[j] - here), max_distance))
        if first <= i < first + width:
            step[i - first] = np.inf
        for j in range(width):
            # Without a branch, which would be mispredicted: samples too far are overwritten.
            sample[size] = first + j
            distance[size] = step[j]
            size += int(step[j] < limit)
    return size


@njit(**INNER)
def count_less(limit, ascending):
    """Return how many sorted distances are below a limit, by a binary search without branches."""
    first, size = 0, ascending.size
    while size > 1:
        half = size >> 1
        first += half * int(ascending[first + half - 1] < limit)
        size -= half
    return first + int(size == 1 and ascending[first] < limit)


@njit(**INNER)
def interval_within(ascending, rank, limit):
    """Return the interval of ranks nearer than a limit to a rank's value, by exponential search."""
    here = ascending[rank]
    step, low, first = 1, rank, rank + 1
    while low >= 0 and here - ascending[low] < limit:
        first, low, step = low, low - step, 2 * step
    low = max(low, -1) + 1
    while low < first:
        middle = (low + first) >> 1
        if here - ascending[middle] < limit:
            first = middle
        else:
            low = middle + 1
    step, high, last = 1, rank, rank
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


@njit(**INLINE)
def interval_around(ascending, here, limit):
    """Return the interval of ranks nearer than a limit to a value, without branches."""
    first = last = 0
    size = ascending.size
    while size > 1:
        half = size >> 1
        first += half * int(here - ascending[first + half - 1] >= limit)
        last += half * int(ascending[last + half - 1] - here < limit)
        size -= half
    first += int(here - ascending[first] >= limit)
    last += int(ascending[last] - here < limit)
    return min(first, last), last
