"""Neighbour lists: the nearest neighbours of every sample, without computing all distances.

Samples in `spatial_order` have small bounding boxes in blocks of consecutive ones, so that only a
few blocks are near a sample. The radius that holds the desired number of neighbours is nearly the
same for consecutive samples.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pidselect.estimators.knn.spaces import (
    BLOCK,
    INNER,
    BoundingBoxes,
    FloatArray,
    NeighbourLists,
    Space,
    distances_from,
    insert_sample,
    point_distance,
)
from pidselect.jit import njit

#: Keys sorted at a time, which limits the memory of sorting.
KEYS_PER_CHUNK = 2**20

#: Radii tried before all distances are computed.
MAX_TRIES = 6

#: Key behind the last neighbour.
UNUSED = np.uint64(0xFFFFFFFFFFFFFFFF)

#: Steps of a bisection of distances.
BISECTIONS = 24

#: Capacity in excess of the list length, relative and at least, so that a radius is found.
EXCESS, MIN_EXCESS = 0.8, 32


def spatial_order(points: FloatArray) -> NDArray[np.int64]:
    """Order points, shape (n_columns, n_samples), as the leaves of a k-d tree.

    Consecutive samples are near each other.
    """
    parts, leaves = [np.arange(points.shape[1])], []
    while parts:
        part = parts.pop()
        if len(part) <= BLOCK or not len(points):
            leaves.append(part)
            continue
        values = points[:, part]
        widest = np.argmax(values.max(axis=1) - values.min(axis=1))
        halves = np.argpartition(values[widest], len(part) // 2)
        parts += [part[halves[len(part) // 2 :]], part[halves[: len(part) // 2]]]
    return np.concatenate(leaves)


def list_neighbours(
    space: Space, boxes: BoundingBoxes, length: int, max_radius: float = np.inf
) -> NeighbourLists:
    """List the `length` nearest neighbours of every sample that are nearer than `max_radius`.

    Where there are fewer, the rest of a list is at infinite distance.

    Distance and index share one 64-bit key (positive floats sort as their bits; the last bits hold
    the index), because sorting integers is several times faster than an argsort. Exact distances
    then correct the order where keys are too coarse.
    """
    n_samples = space.values.shape[1]
    length = min(length, n_samples - 1)
    lists = NeighbourLists(
        np.empty((n_samples, length), dtype=np.int32),
        np.empty((n_samples, length)),
        np.full(n_samples, np.inf if length else 0.0),  # an empty list excludes no distance
    )
    if not length:
        return lists
    mask = np.uint64((1 << (n_samples - 1).bit_length()) - 1)
    capacity = length + max(int(EXCESS * length), MIN_EXCESS)
    if capacity >= n_samples and max_radius == np.inf:
        _sort_all(space, np.arange(n_samples), mask, lists)
        return lists
    points, radius = space.values.T.copy(), 0.0
    buffers = np.empty(BLOCK), np.empty(n_samples)
    rows_per_chunk = max(1, KEYS_PER_CHUNK // capacity)
    for start in range(0, n_samples, rows_per_chunk):
        keys = np.empty((min(rows_per_chunk, n_samples - start), capacity + 1), dtype=np.uint64)
        found = np.empty(len(keys), dtype=np.int64)
        wanted = length, mask, radius, max_radius
        radius = _collect(space, boxes, start, wanted, buffers, keys, found)
        keys.sort(axis=1)
        some = np.arange(start, start + len(keys))
        _unpack(points, space.max_distance, some, keys, mask, lists)
        # The list radius is the next distance, or the last one if there is no other.
        last = np.clip(found - 1, 0, length)
        beyond = np.take_along_axis(keys, last[:, np.newaxis], axis=1)[:, 0]
        lists.radius[some] = (beyond & ~mask).view(np.float64)
        lists.radius[some[(found >= 0) & (found < length)]] = max_radius
        if len(missed := some[found < 0]):
            _sort_all(space, missed, mask, lists)
    return lists


def _sort_all(
    space: Space, samples: NDArray[np.int64], mask: np.uint64, lists: NeighbourLists
) -> None:
    """List the neighbours of some samples by all distances."""
    n_samples, length = space.values.shape[1], lists.sample.shape[1]
    points, distance = space.values.T.copy(), np.empty(n_samples)
    rows_per_chunk = max(1, KEYS_PER_CHUNK // n_samples)
    for start in range(0, len(samples), rows_per_chunk):
        some = samples[start : start + rows_per_chunk]
        keys = np.empty((len(some), n_samples), dtype=np.uint64)
        _distance_keys(space, some, mask, distance, distance.view(np.uint64), keys)
        if length < n_samples - 1:
            keys.partition(length, axis=1)
            lists.radius[some] = (keys[:, length] & ~mask).view(np.float64)
            keys = np.ascontiguousarray(keys[:, :length])
        keys.sort(axis=1)
        _unpack(points, space.max_distance, some, keys, mask, lists)


@njit(**INNER)
def _collect(space, boxes, start, wanted, buffers, keys, found):
    """Fill each row with the keys of the neighbours within some radius, padded by the largest key.

    `found` is their number, from `length` to the capacity, or fewer within the maximum radius, or
    -1 if ties allow no such radius. Return the last radius, the first guess for the next sample.
    """
    length, mask, radius, max_radius = wanted
    capacity, n_axes = keys.shape[1] - 1, space.values.shape[0]
    aim = length + (capacity - length) // 3
    distance, all_distances = buffers
    if radius <= 0.0:
        radius = _guess_radius(space, start, aim, all_distances)
    for row in range(keys.shape[0]):
        i = start + row
        found[row] = -1
        low, high = 0.0, np.inf
        for _ in range(MAX_TRIES):
            radius = min(radius, max_radius)
            size = _keys_within(space, boxes, i, radius, mask, keys[row], distance)
            if size <= capacity and (size >= length or radius == max_radius):
                found[row] = size
                for t in range(size, keys.shape[1]):
                    keys[row, t] = UNUSED
            if size < length:
                low = radius
            elif size > capacity:
                high = radius
            nearer = radius * (aim / max(size, 1)) ** (1.0 / n_axes)
            if not low < nearer < high:
                nearer = (low + high) / 2.0 if high < np.inf else 2.0 * low
            if found[row] >= 0 or nearer == radius or nearer == 0.0:
                radius = max(nearer, radius / 4.0)
                break
            radius = nearer
        if found[row] < 0:
            for t in range(keys.shape[1]):
                keys[row, t] = UNUSED  # replaced by `_sort_all`
            radius = _guess_radius(space, i, aim, all_distances)
    return radius


@njit(**INNER)
def _guess_radius(space, i, aim, distance):
    """Return the radius around sample i that holds about `aim` neighbours, by bisection."""
    distances_from(space, i, distance)
    low, high = 0.0, 0.0
    for j in range(distance.size):
        high = max(high, distance[j])
    for _ in range(BISECTIONS):
        middle = low + (high - low) / 2.0
        size = 0
        for j in range(distance.size):
            size += int(distance[j] <= middle)
        if size > aim:
            high = middle
        else:
            low = middle
    radius = 0.0
    for j in range(distance.size):
        if distance[j] <= high:
            radius = max(radius, distance[j])
    return radius


@njit(**INNER)
def _keys_within(space, boxes, i, radius, mask, keys, distance):
    """Write the keys of the samples nearer than a radius; return their number."""
    n_axes, n_samples = space.values.shape
    size, last = 0, keys.size - 1
    for box in range(boxes.low.shape[1]):
        gap = 0.0
        for axis in range(n_axes):
            here = space.values[axis, i]
            step = max(boxes.low[axis, box] - here, here - boxes.high[axis, box])
            gap = max(gap, min(step, space.max_distance[axis]))
        if gap >= radius:
            continue
        first = box * BLOCK
        width = min(BLOCK, n_samples - first)
        for axis in range(n_axes):
            values = space.values[axis, first : first + width]
            here, max_distance = space.values[axis, i], space.max_distance[axis]
            if axis == 0:
                for j in range(width):
                    distance[j] = min(abs(values[j] - here), max_distance)
            else:
                for j in range(width):
                    distance[j] = max(distance[j], min(abs(values[j] - here), max_distance))
        if first <= i < first + width:
            distance[i - first] = np.inf
        bits = distance.view(np.uint64)
        for j in range(width):
            # Without a branch, which would be mispredicted: samples too far are overwritten.
            keys[min(size, last)] = (bits[j] & ~mask) | np.uint64(first + j)
            size += int(distance[j] < radius)
    return size


@njit(**INNER)
def _unpack(points, max_distance, samples, keys, mask, lists):
    """Write the lists of some samples from sorted keys, by insertion sorts of exact distances."""
    for row in range(samples.size):  # one function per row: nested loops take a fifth longer
        _unpack_row(points, max_distance, samples[row], keys[row], mask, lists)


@njit(**INNER)
def _unpack_row(points, max_distance, i, keys, mask, lists):
    sample, distance = lists.sample[i], lists.distance[i]
    for t in range(sample.size):
        if keys[t] == UNUSED:
            sample[t], distance[t] = i, np.inf
            continue
        j = np.int32(keys[t] & mask)
        exact = point_distance(points, max_distance, i, j)
        insert_sample(exact, j, t, distance, sample)


@njit(**INNER)
def _distance_keys(space, samples, mask, distance, bits, keys):
    """Write the keys of all distances to each of the samples; the sample itself sorts last."""
    for row in range(keys.shape[0]):
        distances_from(space, samples[row], distance)
        distance[samples[row]] = np.inf
        for j in range(keys.shape[1]):
            keys[row, j] = (bits[j] & ~mask) | np.uint64(j)
