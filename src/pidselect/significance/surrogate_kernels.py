"""Kernels of surrogates: keyed random numbers, permutations, nearest samples.

A key is mixed from the stream key and the number of a permutation; its t-th random number is the
mixed sum of the key and t times an odd constant (SplitMix64). There is no state between them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.estimators.knn.spaces import insert_sample
from pidselect.jit import njit

# SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a counter times GAMMA, its bits well mixed.
GAMMA = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_30, _SHIFT_27, _SHIFT_31 = np.uint64(30), np.uint64(27), np.uint64(31)
_SHIFT_32, _LOW_32 = np.uint64(32), np.uint64(0xFFFFFFFF)

OPTIONS = {"cache": True, "nogil": True}
#: Formulas are inlined before compilation, which takes less time than a function each.
INLINED = {**OPTIONS, "inline": "always"}


class NearestSamples(NamedTuple):
    """The nearest samples of each sample i, itself first: ``members[i, :size[i]]``."""

    members: NDArray[np.int32]
    size: NDArray[np.int32]


@njit(**OPTIONS)
def fill_permutations(stream_key, numbers, rows):
    """Write a permutation of all samples into each row."""
    stream = stream_of(stream_key)
    for m in range(numbers.size):
        _shuffle(key_of(stream, numbers[m]), rows[m])


@njit(**OPTIONS)
def fill_resamples(stream_key, numbers, rows):
    """Write samples with replacement into each row."""
    stream = stream_of(stream_key)
    for m in range(numbers.size):
        key = key_of(stream, numbers[m])
        for i in range(rows.shape[1]):
            key += GAMMA
            rows[m, i] = _below(np.uint64(rows.shape[1]), _mix(key))


@njit(**OPTIONS)
def fill_within_groups(stream_key, numbers, partition, rows):
    """Write a permutation within the groups into each row."""
    stream = stream_of(stream_key)
    for m in range(numbers.size):
        key = key_of(stream, numbers[m])
        row = rows[m]
        for i in range(row.size):
            row[i] = i
        for group in range(partition.start.size - 1):
            first = partition.start[group]
            for last in range(partition.start[group + 1] - 1, first, -1):
                key += GAMMA
                i = partition.samples[last]
                j = partition.samples[first + _below(np.uint64(last + 1 - first), _mix(key))]
                row[i], row[j] = row[j], row[i]


@njit(**OPTIONS)
def fill_shifts(stream_key, numbers, partition, rows):
    """Write a circular shift of every group by a random number into each row."""
    stream = stream_of(stream_key)
    for m in range(numbers.size):
        key = key_of(stream, numbers[m])
        for group in range(partition.start.size - 1):
            key += GAMMA
            first, stop = partition.start[group], partition.start[group + 1]
            source = first + _below(np.uint64(stop - first), _mix(key))
            for place in range(first, stop):
                rows[m, partition.samples[place]] = partition.samples[source]
                source = source + 1 if source + 1 < stop else first


@njit(**OPTIONS)
def fill_local_permutations(stream_key, numbers, nearest_samples, rows):
    """Write a permutation into each row in which pairs of near samples are exchanged.

    In random order, each sample without a partner is paired with a random one of its nearest
    samples that has none either; if there is none, it keeps its own value.
    """
    members, size = nearest_samples
    stream = stream_of(stream_key)
    order = np.empty(rows.shape[1], dtype=np.int32)
    free = np.empty(members.shape[1], dtype=np.int32)
    for m in range(numbers.size):
        key = _shuffle(key_of(stream, numbers[m]), order)
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
                key += GAMMA
                j = free[_below(np.uint64(n_free), _mix(key))]
            row[i], row[j] = j, i


@njit(**OPTIONS)
def fill_nearest(samples, coordinates, labels, label_distance, nearest):
    """Write the nearest rows of some samples, itself included, in ascending order of distance.

    Squared distances are summed over columns: the squared difference of numbers, or
    `label_distance` if one of two is missing; 0 or `label_distance` for labels.
    """
    k = nearest.shape[1]
    distance = np.empty(k)
    for i in samples:
        distance[:] = np.inf
        for j in range(coordinates.shape[0]):
            total = _squared_distance(coordinates, labels, label_distance, i, j, distance[k - 1])
            if total < distance[k - 1]:
                insert_sample(total, j, k - 1, distance, nearest[i])


@njit(**OPTIONS)
def _squared_distance(coordinates, labels, label_distance, i, j, enough):
    """Return the squared distance, or a partial sum that is at least `enough`."""
    total = 0.0
    for c in range(labels.shape[1]):
        if labels[i, c] != labels[j, c]:
            total += label_distance
    for c in range(coordinates.shape[1]):
        if total >= enough:
            break
        gap = coordinates[i, c] - coordinates[j, c]
        if not np.isnan(gap):
            total += gap * gap
        elif np.isnan(coordinates[i, c]) != np.isnan(coordinates[j, c]):
            total += label_distance
    return total


@njit(**INLINED)
def stream_of(stream_key):
    """Return the start of a stream."""
    stream = np.uint64(0)
    for entry in stream_key:
        stream = _mix((stream ^ entry) + GAMMA)
    return stream


@njit(**INLINED)
def key_of(stream, number):
    """Return the key of a permutation."""
    return _mix((stream ^ number) + GAMMA)


@njit(**OPTIONS)
def _shuffle(key, row):
    """Write a Fisher-Yates shuffle; return the key."""
    for i in range(row.size):
        row[i] = i
    for i in range(row.size - 1, 0, -1):
        key += GAMMA
        j = _below(np.uint64(i + 1), _mix(key))
        row[i], row[j] = row[j], row[i]
    return key


@njit(**INLINED)
def _below(bound, random):
    """Return the upper 64 bits of bound * random: a random number below the bound (< 2**32)."""
    low = (random & _LOW_32) * bound
    return np.int64(((random >> _SHIFT_32) * bound + (low >> _SHIFT_32)) >> _SHIFT_32)


def mix(z: Any) -> Any:
    """Mix the bits of numbers."""
    z = (z ^ (z >> _SHIFT_30)) * MIX_1
    z = (z ^ (z >> _SHIFT_27)) * MIX_2
    return z ^ (z >> _SHIFT_31)


_mix = njit(**INLINED)(mix)
