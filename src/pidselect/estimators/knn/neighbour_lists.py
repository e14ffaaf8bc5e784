"""Sorting every sample's neighbours once, without looking at all pairs of samples.

Samples that come in an order in which near ones follow each other (`spatial_order`) make blocks
that are small in space. Who is within a radius of a sample then lies in few blocks, and the radius
that takes in as many as wanted is nearly that of the sample before.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pidselect.estimators.knn.spaces import (
    BLOCK,
    INNER,
    JIT,
    Blocks,
    FloatArray,
    Order,
    Space,
    apart_at,
    distances_from,
)

#: Keys that are sorted at once; with it, the memory that sorting needs.
KEYS_AT_ONCE = 2**20

#: How often a radius is tried before all samples are looked at.
TRIES = 6

#: More neighbours are found than wanted, by this share and this number, so that a radius fits.
ROOM, ROOM_AT_LEAST = 0.8, 32


def spatial_order(points: FloatArray) -> NDArray[np.int64]:
    """Return an order of samples in which those that follow each other are near each other.

    Halves are split at the median of their widest column until no more than a block is left.

    Parameters
    ----------
    points : array, shape (n_columns, n_samples)
    """
    parts, done = [np.arange(points.shape[1])], []
    while parts:
        part = parts.pop()
        if len(part) <= BLOCK or not len(points):
            done.append(part)
            continue
        values = points[:, part]
        widest = np.argmax(values.max(axis=1) - values.min(axis=1))
        halves = np.argpartition(values[widest], len(part) // 2)
        # The first half is taken from the stack first.
        parts += [part[halves[len(part) // 2 :]], part[halves[: len(part) // 2]]]
    return np.concatenate(done)


def sorted_neighbours(space: Space, blocks: Blocks, length: int) -> Order:
    """Find and sort the `length` nearest neighbours of every sample.

    Distance and index share one 64-bit key (the bits of a positive float sort like the float;
    its last ones give way to the index), because sorting plain integers is several times faster
    than sorting by reference. The exact distances then put right what the lost bits confused.
    """
    n_samples = space.values.shape[1]
    length = min(length, n_samples - 1)
    order = Order(
        np.empty((n_samples, length), dtype=np.int32),
        np.empty((n_samples, length)),
        np.full(n_samples, np.inf if length else 0.0),  # anyone unlisted may be anywhere
    )
    if not length:
        return order
    mask = np.uint64((1 << (n_samples - 1).bit_length()) - 1)
    room = length + max(int(ROOM * length), ROOM_AT_LEAST)
    if room >= n_samples or np.isfinite(space.cap).all():  # of labels alone most are equally far
        _sort_all(space, np.arange(n_samples), mask, order)
        return order
    points, radius = space.values.T.copy(), 0.0
    rows_at_once = max(1, KEYS_AT_ONCE // room)
    for start in range(0, n_samples, rows_at_once):
        keys = np.empty((min(rows_at_once, n_samples - start), room + 1), dtype=np.uint64)
        found = np.empty(len(keys), dtype=np.int64)
        radius = _collect(space, blocks, start, (length, mask, radius), keys, found)
        keys.sort(axis=1)
        _unpack(points, space.cap, start, keys, mask, order)
        # Where nobody beyond the last one was seen, none is nearer than that one.
        beyond = np.take_along_axis(keys, np.minimum(length, found - 1)[:, np.newaxis], axis=1)
        order.reach[start : start + len(keys)] = (beyond[:, 0] & ~mask).view(np.float64)
        if len(missed := start + np.flatnonzero(found == 0)):
            _sort_all(space, missed, mask, order)
    return order


def _sort_all(space: Space, samples: NDArray[np.int64], mask: np.uint64, order: Order) -> None:
    """Sort the neighbours of some samples among all there are."""
    n_samples, length = space.values.shape[1], order.sample.shape[1]
    points = space.values.T.copy()
    rows_at_once = max(1, KEYS_AT_ONCE // n_samples)
    for start in range(0, len(samples), rows_at_once):
        some = samples[start : start + rows_at_once]
        keys = np.empty((len(some), n_samples), dtype=np.uint64)
        _distance_keys(space, some, mask, keys)
        if length < n_samples - 1:
            keys.partition(length, axis=1)
            order.reach[some] = (keys[:, length] & ~mask).view(np.float64)
            keys = np.ascontiguousarray(keys[:, :length])
        keys.sort(axis=1)
        for row, i in enumerate(some):
            _unpack_row(points, space.cap, i, keys[row, :length], mask, order)


@njit(**JIT)
def _collect(space, blocks, start, wanted, keys, found):
    """Fill each row with the keys of the neighbours within some radius, and pad it with the rest.

    `found` is the number of them, at least `length`, or 0 where no radius takes in as many but
    not too many, because samples are equally far. Returns the last radius, a guess for the next.
    """
    length, mask, radius = wanted
    room, n_axes = keys.shape[1] - 1, space.values.shape[0]
    aim = length + (room - length) // 3
    distance = np.empty(BLOCK)
    if radius <= 0.0:
        radius = _guess(space, start, aim)
    for row in range(keys.shape[0]):
        i = start + row
        found[row] = 0
        low, high = 0.0, np.inf
        for _ in range(TRIES):
            size = _within(space, blocks, i, radius, mask, keys[row], distance)
            if length <= size <= room:
                found[row] = size
                keys[row, size:] = np.uint64(0xFFFFFFFFFFFFFFFF)
            if size < length:
                low = radius
            elif size > room:
                high = radius
            nearer = radius * (aim / max(size, 1)) ** (1.0 / n_axes)
            if not low < nearer < high:
                nearer = (low + high) / 2.0 if high < np.inf else 2.0 * low
            if found[row] > 0 or nearer == radius or nearer == 0.0:
                radius = max(nearer, radius / 4.0)
                break
            radius = nearer
        if found[row] == 0:
            keys[row, :] = np.uint64(i)  # to be sorted among all
            radius = _guess(space, i, aim)
    return radius


@njit(**JIT)
def _guess(space, i, aim):
    """Return a radius that takes in about as many neighbours as aimed at."""
    distance = np.empty(space.values.shape[1])
    distances_from(space, i, distance)
    return np.sort(distance)[min(aim, distance.size - 1)]


@njit(**INNER)
def _within(space, blocks, i, radius, mask, keys, distance):
    """Write the keys of the samples nearer than a radius; return their number."""
    n_axes, n_samples = space.values.shape
    size, last = 0, keys.size - 1
    for block in range(blocks.low.shape[1]):
        gap = 0.0
        for axis in range(n_axes):
            here = space.values[axis, i]
            step = max(blocks.low[axis, block] - here, here - blocks.high[axis, block])
            gap = max(gap, min(step, space.cap[axis]))
        if gap >= radius:
            continue
        first = block * BLOCK
        width = min(BLOCK, n_samples - first)
        for axis in range(n_axes):
            values = space.values[axis, first : first + width]
            here, cap = space.values[axis, i], space.cap[axis]
            if axis == 0:
                for j in range(width):
                    distance[j] = min(abs(values[j] - here), cap)
            else:
                for j in range(width):
                    distance[j] = max(distance[j], min(abs(values[j] - here), cap))
        if first <= i < first + width:
            distance[i - first] = np.inf
        bits = distance.view(np.uint64)
        for j in range(width):
            # Without a branch, which could not be foretold: who is too far is written over.
            keys[min(size, last)] = (bits[j] & ~mask) | np.uint64(first + j)
            size += int(distance[j] < radius)
    return size


@njit(**INNER)
def _unpack(points, cap, start, keys, mask, order):
    """Put sorted keys into the order of samples."""
    for row in range(keys.shape[0]):
        some = keys[row, : order.sample.shape[1]]
        _unpack_row(points, cap, start + row, some, mask, order)


@njit(**INNER)
def _unpack_row(points, cap, i, keys, mask, order):
    """Put sorted keys into the order of sample i, by exact distances."""
    sample, distance = order.sample[i], order.distance[i]
    for t in range(keys.size):
        j = np.int32(keys[t] & mask)
        exact = apart_at(points, cap, i, j)
        place = t
        while place > 0 and distance[place - 1] > exact:
            distance[place] = distance[place - 1]
            sample[place] = sample[place - 1]
            place -= 1
        distance[place] = exact
        sample[place] = j


@njit(**JIT)
def _distance_keys(space, samples, mask, keys):
    """Write the keys of everyone's distance to each of the samples; a sample itself sorts last."""
    distance = np.empty(keys.shape[1])
    bits = distance.view(np.uint64)
    for row in range(keys.shape[0]):
        distances_from(space, samples[row], distance)
        distance[samples[row]] = np.inf
        for j in range(keys.shape[1]):
            keys[row, j] = (bits[j] & ~mask) | np.uint64(j)
