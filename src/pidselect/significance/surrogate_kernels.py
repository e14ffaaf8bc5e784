"""The kernels of surrogates: random numbers from keys, rearrangements, nearest samples.

Every draw has its own key, mixed from its words and its number; its t-th random number is the
mixed sum of the key and t times an odd constant. Nothing is remembered between draws.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

# SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a counter times GAMMA, its bits well mixed.
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_30, _SHIFT_27, _SHIFT_31 = np.uint64(30), np.uint64(27), np.uint64(31)
_SHIFT_32, _LOW_32 = np.uint64(32), np.uint64(0xFFFFFFFF)


class GroupPartition(NamedTuple):
    """Samples by group, rows in their order: group g is ``members[start[g]:start[g + 1]]``."""

    members: NDArray[np.int64]
    start: NDArray[np.int64]


class Neighbourhoods(NamedTuple):
    """Samples that may stand in for each other: those of i are ``members[i, :size[i]]``."""

    members: NDArray[np.int32]
    size: NDArray[np.int32]


@njit(cache=True, nogil=True)
def fill_permutations(stream_key, draws, rows):
    """Write a permutation of all samples into each row."""
    stem = _stem(stream_key)
    for m in range(draws.size):
        _shuffle(_key(stem, draws[m]), rows[m])


@njit(cache=True, nogil=True)
def fill_resamples(stream_key, draws, rows):
    """Write samples drawn with replacement into each row."""
    stem = _stem(stream_key)
    for m in range(draws.size):
        key = _key(stem, draws[m])
        for i in range(rows.shape[1]):
            key += _GAMMA
            rows[m, i] = _below(np.uint64(rows.shape[1]), _mix(key))


@njit(cache=True, nogil=True)
def fill_within(stream_key, draws, partition, rows):
    """Write a permutation into each row that leaves every sample in its group."""
    stem = _stem(stream_key)
    for m in range(draws.size):
        key = _key(stem, draws[m])
        row = rows[m]
        for i in range(row.size):
            row[i] = i
        for group in range(partition.start.size - 1):
            first = partition.start[group]
            for last in range(partition.start[group + 1] - 1, first, -1):
                key += _GAMMA
                i = partition.members[last]
                j = partition.members[first + _below(np.uint64(last + 1 - first), _mix(key))]
                row[i], row[j] = row[j], row[i]


@njit(cache=True, nogil=True)
def fill_shifts(stream_key, draws, partition, rows):
    """Write into each row, for every group, its members moved round by a random number."""
    stem = _stem(stream_key)
    for m in range(draws.size):
        key = _key(stem, draws[m])
        for group in range(partition.start.size - 1):
            key += _GAMMA
            first, stop = partition.start[group], partition.start[group + 1]
            source = first + _below(np.uint64(stop - first), _mix(key))
            for place in range(first, stop):
                rows[m, partition.members[place]] = partition.members[source]
                source = source + 1 if source + 1 < stop else first


@njit(cache=True, nogil=True)
def fill_local(stream_key, draws, neighbourhoods, rows):
    """Write into each row a permutation in which pairs of near samples change places.

    In random order, each sample that has no partner yet takes a random one of its neighbours that
    has none either; where all of them have, it stays. Of `members` the first is the sample itself.
    """
    members, size = neighbourhoods
    stem = _stem(stream_key)
    order = np.empty(rows.shape[1], dtype=np.int32)
    free = np.empty(members.shape[1], dtype=np.int32)
    for m in range(draws.size):
        key = _shuffle(_key(stem, draws[m]), order)
        row = rows[m]
        row[:] = -1
        for i in order:
            if row[i] >= 0:
                continue
            n_free = 0
            for t in range(1, size[i]):
                if row[members[i, t]] < 0:
                    free[n_free] = members[i, t]
                    n_free += 1
            j = i
            if n_free > 0:
                key += _GAMMA
                j = free[_below(np.uint64(n_free), _mix(key))]
            row[i], row[j] = j, i


@njit(cache=True, nogil=True)
def fill_fractions(stream_key, fractions):
    """Write numbers between 0 and 1, of which no two are equal but by a chance in 2^53."""
    key = _stem(stream_key)
    for i in range(fractions.size):
        key += _GAMMA
        fractions[i] = np.float64(_mix(key)) / 2.0**64


@njit(cache=True, nogil=True)
def fill_nearest(samples, numbers, labels, far, nearest):
    """Write the nearest rows of each of these samples, itself included, the nearest one first.

    Squared distances are summed over columns: of numbers the squared difference, or `far` where
    one is missing (and 0 where both are); of labels 0 or `far`.
    """
    k = nearest.shape[1]
    distance = np.empty(k)
    for i in samples:
        distance[:] = np.inf
        for j in range(numbers.shape[0]):
            total = _squared_distance(numbers, labels, far, i, j, distance[k - 1])
            if total < distance[k - 1]:
                t = k - 1
                while t > 0 and distance[t - 1] > total:
                    distance[t], nearest[i, t] = distance[t - 1], nearest[i, t - 1]
                    t -= 1
                distance[t], nearest[i, t] = total, j


@njit(cache=True, nogil=True)
def _squared_distance(numbers, labels, far, i, j, enough):
    """Sum over columns, but no further once there is enough."""
    total = 0.0
    for c in range(labels.shape[1]):
        if labels[i, c] != labels[j, c]:
            total += far
    for c in range(numbers.shape[1]):
        if total >= enough:
            break
        gap = numbers[i, c] - numbers[j, c]
        if not np.isnan(gap):
            total += gap * gap
        elif np.isnan(numbers[i, c]) != np.isnan(numbers[j, c]):
            total += far
    return total


@njit(cache=True, nogil=True)
def _stem(stream_key):
    stem = np.uint64(0)
    for word in stream_key:
        stem = _mix((stem ^ word) + _GAMMA)
    return stem


@njit(cache=True, nogil=True)
def _key(stem, draw):
    return _mix((stem ^ draw) + _GAMMA)


@njit(cache=True, nogil=True)
def _shuffle(key, row):
    """Fisher and Yates: from the top, swap each place with one not above it; return the key."""
    for i in range(row.size):
        row[i] = i
    for i in range(row.size - 1, 0, -1):
        key += _GAMMA
        j = _below(np.uint64(i + 1), _mix(key))
        row[i], row[j] = row[j], row[i]
    return key


@njit(cache=True, nogil=True)
def _below(bound, random):
    """Return the upper 64 bits of bound * random: a number below the bound (which is < 2**32)."""
    low = (random & _LOW_32) * bound
    return np.int64(((random >> _SHIFT_32) * bound + (low >> _SHIFT_32)) >> _SHIFT_32)


@njit(cache=True, nogil=True)
def _mix(z):
    z = (z ^ (z >> _SHIFT_30)) * _MIX_1
    z = (z ^ (z >> _SHIFT_27)) * _MIX_2
    return z ^ (z >> _SHIFT_31)
