"""Nearest-neighbour kernels: sort once around every sample, then walk for every column.

For each sample i, how far is its k-th neighbour in (x, y, S), and how many samples are that near
in (y, S), in S and in (x, S)? Everything that depends on (y, S) and S alone is sorted once; a
column x then only has to walk these orders, nearest first, until no farther sample can matter.

Many columns are walked side by side, in lanes: ``x[j]`` holds sample j's value in every one of
them, so that a vector instruction serves all. A lane that comes to the end of a list that was cut
short looks among its neighbours in x instead: far out, it has but few.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pidselect.estimators.knn.simd64 import LANES, count_below, count_nearer, keep_smallest, largest
from pidselect.estimators.knn.spaces import (
    INNER,
    JIT,
    Blocks,
    FloatArray,
    Order,
    SortedColumn,
    Space,
    apart,
    distances_from,
    nearer_than,
    within,
)

#: Neighbours looked at between two checks whether a walk may stop.
STRIDE = 8

#: Distances that are sooner compared one by one than searched.
FEW = 64


class Neighbourhood(NamedTuple):
    """All that scoring needs to know of the target y and the given S: the spaces (y, S) and S.

    Points are the values of a space once more, all of a sample side by side. Where S is one column
    of numbers, its line takes the place of its order.
    """

    joint: Space
    joint_points: FloatArray
    joint_blocks: Blocks
    joint_order: Order
    given: Space
    given_points: FloatArray
    given_blocks: Blocks
    given_order: Order
    given_line: SortedColumn


class Candidate(NamedTuple):
    """The variable x to be scored: ``values[sample, column]``, caps, the first column's line."""

    values: FloatArray
    cap: FloatArray
    line: SortedColumn


class Rule(NamedTuple):
    """How counts become a value.

    Samples count if nearer than the k-th neighbour (`strict`) or at most as far; the value is the
    sum of ``weight[n]`` over all counts n, those in (y, S) and (x, S) taken negative. Weights are
    whole numbers, so that the order in which samples are visited leaves no trace in the sum.
    """

    k: int
    strict: bool
    weight: NDArray[np.int64]


class Lanes(NamedTuple):
    """A candidate in several rearrangements of its samples, one in each lane."""

    x: FloatArray  # (n_samples, n_columns, lanes)
    place: NDArray[np.int32]  # (n_samples, lanes): each sample's place along the first column
    at: NDArray[np.int32]  # (n_samples, lanes): the sample at each place
    along: FloatArray  # (lanes, n_samples): x in the order of S, if both are lines
    limit: FloatArray  # (n_samples, lanes): by place, if x has several columns and S none


class Scratch(NamedTuple):
    """Memory that every sample uses anew."""

    nearest: FloatArray  # (k, lanes): the smallest distances, ascending
    limit: FloatArray  # (lanes,): samples count when nearer than this
    counts: NDArray[np.int64]  # (lanes,)
    sums: NDArray[np.int64]  # (lanes,): the weights added up so far
    distance: FloatArray  # (n_samples,): everyone's distance


@njit(**JIT)
def score_columns(
    candidate: Candidate,
    rows: NDArray[np.int32],
    around: Neighbourhood,
    rule: Rule,
    values: NDArray[np.int64],
) -> None:
    """Score the candidate in each rearrangement ``rows[m]`` of its samples; fill ``values[m]``."""
    n_samples = candidate.values.shape[0]
    lanes = new_lanes(candidate, around, LANES)
    scratch = new_scratch(n_samples, rule.k, LANES)
    for start in range(0, rows.shape[0], LANES):
        for lane in range(LANES):
            # A last group that is not full repeats its last column.
            fill_lane(candidate, rows[min(start + lane, rows.shape[0] - 1)], around, lanes, lane)
        scratch.sums[:] = 0
        for i in range(n_samples):
            count_one(lanes, candidate, around, rule, i, scratch)
        if lanes.limit.size > 0:
            _count_by_place(lanes, candidate, rule, scratch)
        values[start : start + LANES] = scratch.sums[: rows.shape[0] - start]


@njit(**JIT)
def new_lanes(candidate, around, n_lanes):
    """Set memory aside for rearrangements of the candidate."""
    n_samples, n_columns = candidate.values.shape
    on_lines = n_columns == 1 and around.given_line.ascending.size > 0
    by_place = n_columns > 1 and around.given.cap.size == 0
    return Lanes(
        np.empty((n_samples, n_columns, n_lanes)),
        np.empty((n_samples, n_lanes), dtype=np.int32),
        np.empty((n_samples, n_lanes), dtype=np.int32),
        np.empty((n_lanes, n_samples if on_lines else 0)),
        np.empty((n_samples if by_place else 0, n_lanes)),
    )


@njit(**JIT)
def new_scratch(n_samples, k, n_lanes):
    """Set memory aside for the work on a sample."""
    return Scratch(
        np.empty((k, n_lanes)),
        np.empty(n_lanes),
        np.empty(n_lanes, dtype=np.int64),
        np.empty(n_lanes, dtype=np.int64),
        np.empty(n_samples),
    )


@njit(**INNER)
def fill_lane(candidate, row, around, lanes, lane):
    """Put one rearrangement of the candidate into a lane."""
    for i in range(row.size):
        for column in range(candidate.cap.size):
            lanes.x[i, column, lane] = candidate.values[row[i], column]
        place = candidate.line.place[row[i]]
        lanes.place[i, lane] = place
        lanes.at[place, lane] = i
    for i in range(lanes.along.shape[1]):
        lanes.along[lane, around.given_line.place[i]] = lanes.x[i, 0, lane]


@njit(**INNER)
def count_one(lanes, candidate, around, rule, i, scratch):
    """Add the weights of sample i's counts to the sum of each lane.

    Those of the counts in S are added, those in (y, S) and in (x, S) subtracted. Without `strict`
    the count in (x, y, S) is added, too: k, or more where several samples are at the same distance.
    """
    counts = scratch.counts
    _find_radii(lanes, candidate, around, i, scratch)
    _set_limits(rule, scratch)

    _count(around.joint, around.joint_order, i, scratch)
    _add(-1, rule, scratch)
    if not rule.strict:
        _count_with_x(lanes, candidate, around.joint, around.joint_order, i, scratch)
        _add(1, rule, scratch)

    if around.given.cap.size == 0:
        counts[:] = scratch.distance.size - 1
        _add(1, rule, scratch)
        if candidate.cap.size > 1:
            for lane in range(counts.size):
                lanes.limit[lanes.place[i, lane], lane] = scratch.limit[lane]
            return  # what is left is counted by place
        _count_in_x(lanes, candidate, i, scratch)
    elif around.given_line.ascending.size > 0:
        _count_along_line(lanes, candidate, around.given_line, rule, i, scratch)
    else:
        _count(around.given, around.given_order, i, scratch)
        _add(1, rule, scratch)
        _count_with_x(lanes, candidate, around.given, around.given_order, i, scratch)
    _add(-1, rule, scratch)


@njit(**INNER)
def _add(sign, rule, scratch):
    """Add or subtract the weight of each lane's count."""
    for lane in range(scratch.counts.size):
        scratch.sums[lane] += sign * rule.weight[scratch.counts[lane]]


# ------------------------------------------------------------------ the k-th neighbour


@njit(**INNER)
def _find_radii(lanes, candidate, around, i, scratch):
    """Leave in `nearest` the k smallest distances in (x, y, S) of every lane."""
    nearest = scratch.nearest
    k, n_lanes = nearest.shape
    sample, distance = around.joint_order.sample[i], around.joint_order.distance[i]
    x, cap = lanes.x, candidate.cap
    nearest[:] = np.inf
    widest, t = np.inf, 0
    while t < sample.size and distance[t] < widest:
        near, beyond_x = sample[t : t + STRIDE], distance[t : t + STRIDE]
        if n_lanes != LANES:
            for s in range(near.size):
                for lane in range(n_lanes):
                    step = _apart_in_x(x, cap, i, near[s], lane)
                    _insert(max(step, beyond_x[s]), nearest, lane)
        elif cap.size == 1 and k == 4:
            keep_smallest(nearest, 4, x, i, cap[0], near, beyond_x)
        elif cap.size == 1:
            keep_smallest(nearest, k, x, i, cap[0], near, beyond_x)
        elif k == 4:
            keep_smallest(nearest, 4, x, i, cap, near, beyond_x)
        else:
            keep_smallest(nearest, k, x, i, cap, near, beyond_x)
        t += STRIDE
        widest = _largest(nearest[k - 1])
    reach = around.joint_order.reach[i]
    if widest > reach:
        for lane in range(n_lanes):
            if nearest[k - 1, lane] > reach:
                nearest[:, lane] = np.inf
                _search_along_x(lanes, candidate, around.joint, i, lane, nearest)


@njit(**INNER)
def _search_along_x(lanes, candidate, joint, i, lane, nearest):
    """Find one lane's k nearest, the nearest in x, or in its first column, first."""
    k, ascending, cap = nearest.shape[0], candidate.line.ascending, candidate.cap
    here = lanes.place[i, lane]
    below, above = here - 1, here + 1
    for _ in range(ascending.size - 1):
        down = ascending[here] - ascending[below] if below >= 0 else np.inf
        up = ascending[above] - ascending[here] if above < ascending.size else np.inf
        if min(down, up, cap[0]) >= nearest[k - 1, lane]:
            break
        if down <= up:
            j = lanes.at[below, lane]
            below -= 1
        else:
            j = lanes.at[above, lane]
            above += 1
        step = _apart_in_x(lanes.x, cap, i, j, lane)
        _insert(max(step, apart(joint, i, j)), nearest, lane)


@njit(**INNER)
def _insert(distance, nearest, lane):
    """Let a distance take its place among one lane's smallest, if it is one of them."""
    place = nearest.shape[0] - 1
    if distance >= nearest[place, lane]:
        return
    while place > 0 and nearest[place - 1, lane] > distance:
        nearest[place, lane] = nearest[place - 1, lane]
        place -= 1
    nearest[place, lane] = distance


@njit(**INNER)
def _largest(numbers):
    """Return the largest number of all lanes."""
    if numbers.size == LANES:
        return largest(numbers, 0)
    most = numbers[0]
    for lane in range(1, numbers.size):
        most = max(most, numbers[lane])
    return most


@njit(**INNER)
def _set_limits(rule, scratch):
    """Set the distances under which samples count."""
    for lane in range(scratch.limit.size):
        radius = scratch.nearest[rule.k - 1, lane]
        scratch.limit[lane] = radius if rule.strict else np.nextafter(radius, np.inf)


# ------------------------------------------------------------------ counts


@njit(**INNER)
def _count(space, order, i, scratch):
    """Count the samples nearer than each lane's limit."""
    limit, counts, distance = scratch.limit, scratch.counts, order.distance[i]
    widest = _largest(limit)
    size = nearer_than(widest, distance)
    if size <= FEW and limit.size == LANES:
        count_below(limit, 0, counts, distance[:size])
    else:
        for lane in range(limit.size):
            counts[lane] = nearer_than(limit[lane], distance[:size])
    if widest > order.reach[i]:
        distances_from(space, i, scratch.distance)
        for lane in range(limit.size):
            if limit[lane] > order.reach[i]:
                nearer = 0
                for j in range(scratch.distance.size):
                    nearer += int(scratch.distance[j] < limit[lane])
                counts[lane] = nearer - 1  # the sample itself is no neighbour


@njit(**INNER)
def _count_with_x(lanes, candidate, space, order, i, scratch):
    """Count the samples nearer than each lane's limit, x included in the distance."""
    x, cap, limit, counts = lanes.x, candidate.cap, scratch.limit, scratch.counts
    widest = _largest(limit)
    sample, distance = order.sample[i], order.distance[i]
    size = nearer_than(widest, distance)
    if limit.size != LANES:
        counts[:] = 0
        for t in range(size):
            for lane in range(limit.size):
                step = max(_apart_in_x(x, cap, i, sample[t], lane), distance[t])
                counts[lane] += int(step < limit[lane])
    elif cap.size == 1:
        count_nearer(limit, counts, x, i, cap[0], sample[:size], distance[:size])
    else:
        count_nearer(limit, counts, x, i, cap, sample[:size], distance[:size])
    if widest > order.reach[i]:
        for lane in range(limit.size):
            if limit[lane] > order.reach[i]:
                counts[lane] = _count_alone(lanes, candidate, space, i, lane, limit[lane])


@njit(**INNER)
def _count_alone(lanes, candidate, space, i, lane, limit):
    """Count for one lane among its neighbours in x, or in its first column."""
    nearer = 0
    first, last = _places(candidate, lanes.place[i, lane], limit)
    for place in range(first, last):
        j = lanes.at[place, lane]
        step = max(_apart_in_x(lanes.x, candidate.cap, i, j, lane), apart(space, i, j))
        nearer += int(step < limit)
    return max(nearer - 1, 0)  # the sample itself is no neighbour


@njit(**INNER)
def _count_in_x(lanes, candidate, i, scratch):
    """Count the samples nearer than each lane's limit in x alone, which is one column."""
    for lane in range(scratch.limit.size):
        first, last = _places(candidate, lanes.place[i, lane], scratch.limit[lane])
        scratch.counts[lane] = max(last - first - 1, 0)


@njit(**JIT)
def _count_by_place(lanes, candidate, rule, scratch):
    """Subtract the weights of the counts in x alone, all samples' at once.

    Rearrangements move samples to other places, but leave the distances between places alone: one
    walk around each place serves the samples that are there in all lanes.
    """
    x = Space(candidate.values[candidate.line.at].T.copy(), candidate.cap)
    for place in range(scratch.distance.size):
        first, last = _places(candidate, place, largest(lanes.limit, place))
        distance = scratch.distance[: last - first]
        distances_from(Space(x.values[:, first:last], x.cap), place - first, distance)
        count_below(lanes.limit, place, scratch.counts, distance)
        scratch.counts[:] = np.maximum(scratch.counts - 1, 0)  # there is the sample itself
        _add(-1, rule, scratch)


@njit(**INNER)
def _count_along_line(lanes, candidate, line, rule, i, scratch):
    """Count in S, straight into the sums, and in (x, S): a stretch of the line holds them all."""
    cap, limit, counts = candidate.cap, scratch.limit, scratch.counts
    for lane in range(limit.size):
        first, last = within(line.ascending, line.place[i], limit[lane])
        scratch.sums[lane] += rule.weight[max(last - first - 1, 0)]
        if cap.size == 1:
            stretch, here = lanes.along[lane, first:last], lanes.x[i, 0, lane]
            nearer = 0
            for t in range(stretch.size):
                nearer += int(min(abs(stretch[t] - here), cap[0]) < limit[lane])
            counts[lane] = nearer
    if cap.size > 1:
        first, last = within(line.ascending, line.place[i], largest(limit, 0))
        distance = scratch.distance[: last - first]
        for t in range(distance.size):
            distance[t] = abs(line.ascending[first + t] - line.ascending[line.place[i]])
        count_nearer(limit, counts, lanes.x, i, cap, line.at[first:last], distance)
    for lane in range(counts.size):
        counts[lane] = max(counts[lane] - 1, 0)  # the sample itself is no neighbour


@njit(**INNER)
def _places(candidate, here, limit):
    """Return the range of places along the first column of x nearer than the limit to a place."""
    if limit > candidate.cap[0]:
        return 0, candidate.line.ascending.size
    return within(candidate.line.ascending, here, limit)


@njit(**INNER)
def _apart_in_x(x, cap, i, j, lane):
    distance = 0.0
    for column in range(cap.size):
        step = abs(x[j, column, lane] - x[i, column, lane])
        distance = max(distance, min(step, cap[column]))
    return distance
