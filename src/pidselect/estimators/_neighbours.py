"""Nearest-neighbour kernels: sort once around every sample, then walk for every column.

All estimators of this family ask, for each sample i, how far its k-th neighbour in (x, y, S) is
and how many samples are that near in (y, S), in S and in (x, S). Everything that depends on
(y, S) and S alone is sorted once (`sorted_neighbours`); a column x then only has to walk these
orders, nearest first, until no farther sample can matter. Many columns are served side by side:
``x[j]`` holds sample j's value in every column, so one vector instruction serves all of them.

Distances are maximum norms. A column's share of a distance never exceeds its ``cap``: infinite
for numbers, 1 for labels, whose codes differ by 1 or more and so are 0 or 1 apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: Columns served side by side. 16 was the fastest of 8, 16, 32 and 64.
LANES = 16

#: Neighbours looked at between two checks whether a walk may stop.
STRIDE = 8

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


class Neighbourhood(NamedTuple):
    """All that scoring needs to know of the target y and the given S: the spaces (y, S) and S."""

    joint: Space
    given: Space
    joint_order: Order
    given_order: Order


class Candidate(NamedTuple):
    """The variable x to be scored: ``values[sample, column]`` and caps.

    If it has but one column, `order` sorts its samples and `ascending` holds its sorted values.
    """

    values: FloatArray
    cap: FloatArray
    order: NDArray[np.int64]
    ascending: FloatArray


class Rule(NamedTuple):
    """How counts become a value.

    Samples count if nearer than the k-th neighbour (`strict`) or at most as far; the value is the
    sum of ``weight[n]`` over all counts n, those in (y, S) and (x, S) taken negative.
    """

    k: int
    strict: bool
    weight: FloatArray


# ---------------------------------------------------------------------------- sorting


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
    reach = np.full(n_samples, np.inf)
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
            exact = 0.0
            for column in range(space.values.shape[0]):
                apart = abs(space.values[column, j] - space.values[column, i])
                exact = max(exact, min(apart, space.cap[column]))
            place = t
            while place > 0 and distance[i, place - 1] > exact:
                distance[i, place] = distance[i, place - 1]
                index[i, place] = index[i, place - 1]
                place -= 1
            distance[i, place] = exact
            index[i, place] = j


# ---------------------------------------------------------------------------- scoring


@njit(**JIT)
def score_columns(
    candidate: Candidate,
    rows: NDArray[np.int32],
    around: Neighbourhood,
    rule: Rule,
    values: FloatArray,
) -> None:
    """Score the candidate in each rearrangement ``rows[m]`` of its samples; fill ``values[m]``.

    Counts are gathered as integers and only then weighted, smallest count first: the order in
    which samples or columns were visited leaves no trace in the result.
    """
    n_samples, n_columns = candidate.values.shape
    scratch = new_scratch(n_samples, rule.k, LANES)
    x = np.empty((n_samples, n_columns, LANES))
    tally = np.empty((n_samples + 1, LANES), dtype=np.int32)
    for start in range(0, rows.shape[0], LANES):
        for lane in range(LANES):
            # A last group that is not full repeats its last column.
            row = rows[min(start + lane, rows.shape[0] - 1)]
            for i in range(n_samples):
                for column in range(n_columns):
                    x[i, column, lane] = candidate.values[row[i], column]
        tally[:] = 0
        for i in range(n_samples):
            count_one(x, candidate, around, rule, i, scratch, tally)
        weigh(tally, rule.weight, values[start : start + LANES])


@njit(**JIT)
def weigh(tally: NDArray[np.int32], weight: FloatArray, values: FloatArray) -> None:
    """Sum the weights of all counts in the tally of each column."""
    values[:] = 0.0
    for n in range(weight.size):
        for lane in range(values.size):
            values[lane] += tally[n, lane] * weight[n]


class Scratch(NamedTuple):
    """Memory that every sample uses anew."""

    nearest: FloatArray  # (k + 1, lanes): the smallest distances ascending, then the one at hand
    limit: FloatArray  # (lanes,): samples count when nearer than this
    counts: NDArray[np.int64]  # (lanes,)
    everyone: NDArray[np.int32]  # 0, 1, ..., n_samples - 1
    distance: FloatArray  # (n_samples,): everyone's distance


class Nearby(NamedTuple):
    """The samples to be looked at, with their distances, nearest first if `in_order`."""

    sample: NDArray[np.int32]
    distance: FloatArray
    in_order: bool


@njit(**JIT)
def new_scratch(n_samples: int, k: int, n_lanes: int) -> Scratch:
    """Set the memory aside."""
    return Scratch(
        np.empty((k + 1, n_lanes)),
        np.empty(n_lanes),
        np.empty(n_lanes, dtype=np.int64),
        np.arange(n_samples).astype(np.int32),
        np.empty(n_samples),
    )


@njit(**JIT)
def count_one(x, candidate, around, rule, i, scratch, tally):  # type: ignore[no-untyped-def]
    """Add sample i's counts to the tally of each column.

    ``tally[n]`` goes up where n samples are counted in S, down where they are in (y, S) or in
    (x, S). Without `strict` it also goes up for n = k or, where the k nearest coincide with the
    sample, for the number of all that do.
    """
    joint, given = around.joint_order, around.given_order
    limit, counts = scratch.limit, scratch.counts
    nearby = Nearby(joint.sample[i], joint.distance[i], True)
    widest = _find_radius(x, candidate.cap, i, nearby, scratch.nearest)
    if widest > joint.reach[i]:
        nearby = everyone(around.joint, i, scratch)
        _find_radius(x, candidate.cap, i, nearby, scratch.nearest)
    widest = _set_limit(rule, scratch.nearest, limit)

    nearby = within(widest, around.joint, joint, i, scratch)
    _count(nearby, widest, limit, counts)
    _add(counts, -1, tally)
    if not rule.strict:
        _count_coinciding(x, candidate.cap, i, nearby, rule, scratch)
        _add(counts, 1, tally)

    nothing_given = around.given.values.shape[0] == 0
    if nothing_given and x.shape[1] == 1:
        for lane in range(counts.size):
            counts[lane] = count_in_x(candidate, candidate.ascending, x[i, 0, lane], limit[lane])
        _add(counts, -1, tally)
    else:
        nearby = within(widest, around.given, given, i, scratch)
        _count_with_x(x, candidate.cap, i, nearby, widest, limit, counts)
        _add(counts, -1, tally)
    if nothing_given:
        counts[:] = x.shape[0] - 1
    else:
        _count(nearby, widest, limit, counts)
    _add(counts, 1, tally)


@njit(**JIT)
def everyone(space, i, scratch):  # type: ignore[no-untyped-def]
    """Return all samples in no order, sample i itself out of reach."""
    distances_from(space, i, scratch.distance)
    scratch.distance[i] = np.inf
    return Nearby(scratch.everyone, scratch.distance, False)


@njit(**JIT)
def within(widest, space, order, i, scratch):  # type: ignore[no-untyped-def]
    """Return a list with every sample nearer than `widest`, in order if one reaches that far."""
    if widest > order.reach[i]:
        return everyone(space, i, scratch)
    return Nearby(order.sample[i], order.distance[i], True)


@njit(**JIT)
def _find_radius(x, cap, i, nearby, nearest):  # type: ignore[no-untyped-def]
    """Leave in ``nearest[:k]`` the k smallest distances in (x, y, S); return the largest k-th."""
    k, n_lanes = nearest.shape[0] - 1, x.shape[2]
    nearest[:] = np.inf
    widest = np.inf
    length = nearby.sample.size
    start = 0
    while start < length and not (nearby.in_order and nearby.distance[start] >= widest):
        stop = min(start + STRIDE, length)
        for t in range(start, stop):
            j, distance = nearby.sample[t], nearby.distance[t]
            for lane in range(n_lanes):
                apart = min(abs(x[j, 0, lane] - x[i, 0, lane]), cap[0])
                nearest[k, lane] = max(apart, distance)
            for column in range(1, x.shape[1]):
                for lane in range(n_lanes):
                    apart = min(abs(x[j, column, lane] - x[i, column, lane]), cap[column])
                    nearest[k, lane] = max(apart, nearest[k, lane])
            # One pass of insertion sort: the smaller stays, the larger moves on.
            for place in range(k):
                for lane in range(n_lanes):
                    new, old = nearest[k, lane], nearest[place, lane]
                    nearest[place, lane] = min(new, old)
                    nearest[k, lane] = max(new, old)
        start = stop
        widest = nearest[k - 1].max()
    return widest


@njit(**JIT)
def _set_limit(rule, nearest, limit):  # type: ignore[no-untyped-def]
    """Set the distance under which samples count, and return the largest over all columns."""
    for lane in range(limit.size):
        radius = nearest[rule.k - 1, lane]
        limit[lane] = radius if rule.strict else np.nextafter(radius, np.inf)
    return limit.max()


@njit(**JIT)
def _count(nearby, widest, limit, counts):  # type: ignore[no-untyped-def]
    """Count the samples nearer than each column's limit."""
    counts[:] = 0
    for t in range(nearby.distance.size):
        distance = nearby.distance[t]
        if distance < widest:
            for lane in range(limit.size):
                counts[lane] += np.int64(distance < limit[lane])
        elif nearby.in_order:
            break


@njit(**JIT)
def _count_with_x(x, cap, i, nearby, widest, limit, counts):  # type: ignore[no-untyped-def]
    """Count the samples nearer than each column's limit, x included in the distance."""
    counts[:] = 0
    for t in range(nearby.sample.size):
        distance = nearby.distance[t]
        if distance < widest:
            j = nearby.sample[t]
            if x.shape[1] == 1:
                for lane in range(limit.size):
                    apart = min(abs(x[j, 0, lane] - x[i, 0, lane]), cap[0])
                    counts[lane] += np.int64(max(apart, distance) < limit[lane])
            else:
                for lane in range(limit.size):
                    apart = distance
                    for column in range(x.shape[1]):
                        step = min(abs(x[j, column, lane] - x[i, column, lane]), cap[column])
                        apart = max(apart, step)
                    counts[lane] += np.int64(apart < limit[lane])
        elif nearby.in_order:
            break


@njit(**JIT)
def _count_coinciding(x, cap, i, nearby, rule, scratch):  # type: ignore[no-untyped-def]
    """Count k, or all samples at distance zero in (x, y, S) where the k nearest are."""
    counts, radius = scratch.counts, scratch.nearest[rule.k - 1]
    if radius.min() > 0.0:
        counts[:] = rule.k
        return
    _count_with_x(x, cap, i, nearby, np.nextafter(0.0, 1.0), scratch.limit, counts)
    for lane in range(counts.size):
        if radius[lane] > 0.0:
            counts[lane] = rule.k


@njit(**JIT)
def count_in_x(candidate, ascending, here, limit):  # type: ignore[no-untyped-def]
    """Count the others among these sorted values that are nearer than the limit to one of them."""
    if limit > candidate.cap[0]:
        return ascending.size - 1
    return others(count_around(ascending, here, limit), limit)


@njit(**JIT)
def others(count, limit):  # type: ignore[no-untyped-def]
    """Leave the sample itself out of a count; with a limit of zero it never was in."""
    return count - 1 if limit > 0.0 else 0


@njit(**JIT)
def count_around(ascending, here, limit):  # type: ignore[no-untyped-def]
    """Count the sorted values nearer than `limit` to the value `here`, which is one of them."""
    low, high = 0, np.searchsorted(ascending, here)  # the first to count lies in low..high
    first = high
    while low < first:
        middle = (low + first) >> 1
        if here - ascending[middle] < limit:
            first = middle
        else:
            low = middle + 1
    last, above = high, ascending.size  # the last to count lies in last..above - 1
    while last < above:
        middle = (last + above) >> 1
        if ascending[middle] - here < limit:
            last = middle + 1
        else:
            above = middle
    return last - first


@njit(**JIT)
def _add(counts, change, tally):  # type: ignore[no-untyped-def]
    for lane in range(counts.size):
        tally[counts[lane], lane] += change
