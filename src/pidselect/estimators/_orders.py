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


class Line(NamedTuple):
    """Samples along one column of numbers; empty where there is no such column."""

    ascending: FloatArray  # the sorted values
    place: NDArray[np.int64]  # each sample's place among them
    at: NDArray[np.int64]  # the sample at each place


def in_line(values: FloatArray) -> Line:
    """Sort samples along their values."""
    order = np.argsort(values, kind="stable")
    place = np.empty(len(values), dtype=np.int64)
    place[order] = np.arange(len(values))
    return Line(values[order], place, order)


def sorted_neighbours(space: Space, length: int) -> Order:
    """Find and sort the `length` nearest neighbours of every sample.

    Distance and index share one 64-bit key (the bits of a positive float sort like the float;
    its last ones give way to the index), because sorting plain integers is several times faster
    than sorting by reference. The exact distances then put right what the lost bits confused.
    """
    n_samples = space.values.shape[1]
    length = min(length, n_samples - 1)
    index = np.empty((n_samples, length), dtype=np.int32)
    distance = np.empty((n_samples, length))
    reach = np.full(n_samples, np.inf if length else 0.0)  # anyone unlisted may be anywhere
    if not length:
        return Order(index, distance, reach)
    index_mask = np.uint64((1 << (n_samples - 1).bit_length()) - 1)
    rows_at_once = max(1, 2**21 // n_samples)
    for start in range(0, n_samples, rows_at_once):
        keys = np.empty((min(rows_at_once, n_samples - start), n_samples), dtype=np.uint64)
        _distance_keys(space, start, index_mask, keys)
        if length < n_samples - 1:
            keys.partition(length, axis=1)
            reach[start : start + len(keys)] = (keys[:, length] & ~index_mask).view(np.float64)
            keys = np.ascontiguousarray(keys[:, :length])
        keys.sort(axis=1)
        _unpack_keys(space, start, keys[:, :length] & index_mask, index, distance)
    return Order(index, distance, reach)


@njit(**JIT)
def apart(space, i, j):
    """Return the distance of two samples."""
    distance = 0.0
    for column in range(space.values.shape[0]):
        step = abs(space.values[column, j] - space.values[column, i])
        distance = max(distance, min(step, space.cap[column]))
    return distance


@njit(**JIT)
def distances_from(space: Space, i: int, distance: FloatArray) -> None:
    """Fill `distance` with the maximum-norm distances from sample i to all samples."""
    distance[:] = 0.0
    for column in range(space.values.shape[0]):
        values = space.values[column]
        cap = space.cap[column]
        here = values[i]
        for j in range(values.size):
            distance[j] = max(distance[j], min(abs(values[j] - here), cap))


@njit(**JIT)
def _distance_keys(
    space: Space, start: int, index_mask: np.uint64, keys: NDArray[np.uint64]
) -> None:
    distance = np.empty(keys.shape[1])
    bits = distance.view(np.uint64)
    for row in range(keys.shape[0]):
        distances_from(space, start + row, distance)
        distance[start + row] = np.inf  # the sample itself sorts last
        for j in range(keys.shape[1]):
            keys[row, j] = (bits[j] & ~index_mask) | np.uint64(j)


@njit(**JIT)
def _unpack_keys(
    space: Space,
    start: int,
    neighbours: NDArray[np.uint64],
    index: NDArray[np.int32],
    distance: FloatArray,
) -> None:
    for row in range(neighbours.shape[0]):
        i = start + row
        for t in range(neighbours.shape[1]):
            j = np.int32(neighbours[row, t])
            exact = apart(space, i, j)
            place = t
            while place > 0 and distance[i, place - 1] > exact:
                distance[i, place] = distance[i, place - 1]
                index[i, place] = index[i, place - 1]
                place -= 1
            distance[i, place] = exact
            index[i, place] = j


@njit(**JIT)
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


@njit(**JIT)
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
