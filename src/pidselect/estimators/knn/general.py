"""General nearest-neighbour kernel, for any feature types and any number of columns.

For each sample: the distance of its k-th neighbour in (x, y, S), and the numbers of samples within
that distance in (y, S), in S and in (x, S). Neighbours in (y, S) and in S are listed once, by
ascending distance; for each permutation of x a list is scanned until no farther sample can matter.

LANES permutations are processed at a time: ``x[j]`` holds the values of sample j in all of them,
so that one vector instruction serves all. If a list ends too early for some lane, its neighbours
are searched along x instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.estimators.knn.simd import (
    LANES,
    count_below,
    count_nearer,
    insert_smallest,
    largest,
)
from pidselect.estimators.knn.spaces import (
    INNER,
    JIT,
    BoundingBoxes,
    FloatArray,
    NeighbourLists,
    SortedColumn,
    Space,
    count_less,
    distances_from,
    insert,
    interval_within,
    space_distance,
)
from pidselect.jit import njit

#: Neighbours scanned between two checks whether a scan may stop.
STRIDE = 8

#: List length up to which comparing all distances is faster than a binary search.
SHORT_SCAN = 64


class TargetSpaces(NamedTuple):
    """The spaces (y, S), called joint, and S, called given, with their neighbour lists.

    If S is one numeric column, `given_sorted` replaces its lists.
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
    """

    k: int
    strict: bool
    weight: NDArray[np.int64]


class SurrogateBatch(NamedTuple):
    """Permutations of a candidate, one per lane."""

    x: FloatArray  # (n_samples, n_columns, lanes)
    rank: NDArray[np.int32]  # (n_samples, lanes): of each sample in the first column
    sample: NDArray[np.int32]  # (n_samples, lanes): by rank
    x_by_given: FloatArray  # (lanes, n_samples): x sorted by S, if both are one numeric column
    limit: FloatArray  # (n_samples, lanes): by rank, if x has several columns and S is empty


class Workspace(NamedTuple):
    """Buffers reused for every sample."""

    nearest: FloatArray  # (k, lanes): the smallest distances, ascending
    limit: FloatArray  # (lanes,): distances below this are counted
    counts: NDArray[np.int64]  # (lanes,)
    sums: NDArray[np.int64]  # (lanes,): sums of weights
    distance: FloatArray  # (n_samples,)


@njit(**JIT)
def score_general(
    candidate: Candidate,
    rows: NDArray[np.int32],
    spaces: TargetSpaces,
    rule: CountingRule,
    values: NDArray[np.int64],
) -> None:
    """Score the candidate in each permutation ``rows[m]``; fill ``values[m]``."""
    n_samples = candidate.values.shape[0]
    batch = new_batch(candidate, spaces, LANES)
    work = new_workspace(n_samples, rule.k, LANES)
    for start in range(0, rows.shape[0], LANES):
        for lane in range(LANES):
            # An incomplete last batch repeats its last permutation.
            row = rows[min(start + lane, rows.shape[0] - 1)]
            set_permutation(candidate, row, spaces, batch, lane)
        work.sums[:] = 0
        for i in range(n_samples):
            add_sample(batch, candidate, spaces, rule, i, work)
        if batch.limit.size > 0:
            _count_in_x_by_rank(batch, candidate, rule, work)
        values[start : start + LANES] = work.sums[: rows.shape[0] - start]


@njit(**JIT)
def new_batch(candidate, spaces, n_lanes):
    """Allocate a batch of permutations."""
    n_samples, n_columns = candidate.values.shape
    both_sorted = n_columns == 1 and spaces.given_sorted.ascending.size > 0
    by_rank = n_columns > 1 and spaces.given.max_distance.size == 0
    return SurrogateBatch(
        np.empty((n_samples, n_columns, n_lanes)),
        np.empty((n_samples, n_lanes), dtype=np.int32),
        np.empty((n_samples, n_lanes), dtype=np.int32),
        np.empty((n_lanes, n_samples if both_sorted else 0)),
        np.empty((n_samples if by_rank else 0, n_lanes)),
    )


@njit(**JIT)
def new_workspace(n_samples, k, n_lanes):
    """Allocate the buffers."""
    return Workspace(
        np.empty((k, n_lanes)),
        np.empty(n_lanes),
        np.empty(n_lanes, dtype=np.int64),
        np.empty(n_lanes, dtype=np.int64),
        np.empty(n_samples),
    )


@njit(**INNER)
def set_permutation(candidate, row, spaces, batch, lane):
    """Set one lane to a permutation of the candidate."""
    for i in range(row.size):
        for column in range(candidate.max_distance.size):
            batch.x[i, column, lane] = candidate.values[row[i], column]
        rank = candidate.sorted.rank[row[i]]
        batch.rank[i, lane] = rank
        batch.sample[rank, lane] = i
    for i in range(batch.x_by_given.shape[1]):
        batch.x_by_given[lane, spaces.given_sorted.rank[i]] = batch.x[i, 0, lane]


@njit(**INNER)
def add_sample(batch, candidate, spaces, rule, i, work):
    """Add the weights of sample i's counts to the sum of each lane.

    Without `strict`, the weight of the count in (x, y, S) is added, which is k or more with ties.
    """
    counts = work.counts
    _find_kth_distances(batch, candidate, spaces, i, work)
    for lane in range(counts.size):
        radius = work.nearest[rule.k - 1, lane]
        work.limit[lane] = radius if rule.strict else np.nextafter(radius, np.inf)

    _count(spaces.joint, spaces.joint_lists, i, work)
    _add_weights(-1, rule, work)
    if not rule.strict:
        _count_with_x(batch, candidate, spaces.joint, spaces.joint_lists, i, work)
        _add_weights(1, rule, work)

    if spaces.given.max_distance.size == 0:
        counts[:] = work.distance.size - 1
        _add_weights(1, rule, work)
        if candidate.max_distance.size > 1:
            for lane in range(counts.size):
                batch.limit[batch.rank[i, lane], lane] = work.limit[lane]
            return  # counts in x follow in `_count_in_x_by_rank`
        for lane in range(counts.size):
            first, last = _rank_interval(candidate, batch.rank[i, lane], work.limit[lane])
            counts[lane] = max(last - first - 1, 0)  # without the sample itself
    elif spaces.given_sorted.ascending.size > 0:
        _count_in_sorted_given(batch, candidate, spaces.given_sorted, rule, i, work)
    else:
        _count(spaces.given, spaces.given_lists, i, work)
        _add_weights(1, rule, work)
        _count_with_x(batch, candidate, spaces.given, spaces.given_lists, i, work)
    _add_weights(-1, rule, work)


@njit(**INNER)
def _add_weights(sign, rule, work):
    for lane in range(work.counts.size):
        work.sums[lane] += sign * rule.weight[work.counts[lane]]


# ------------------------------------------------------------------ the k-th neighbour


@njit(**INNER)
def _find_kth_distances(batch, candidate, spaces, i, work):
    """Fill `nearest` with the k smallest distances in (x, y, S) of every lane."""
    nearest = work.nearest
    k, n_lanes = nearest.shape
    sample, distance = spaces.joint_lists.sample[i], spaces.joint_lists.distance[i]
    x, max_distance = batch.x, candidate.max_distance
    nearest[:] = np.inf
    widest, t = np.inf, 0
    while t < sample.size and distance[t] < widest:
        near, base_distance = sample[t : t + STRIDE], distance[t : t + STRIDE]
        if n_lanes != LANES:
            for s in range(near.size):
                for lane in range(n_lanes):
                    step = _x_distance(x, max_distance, i, near[s], lane)
                    insert(max(step, base_distance[s]), nearest[:, lane])
            widest = _largest(nearest[k - 1])
        elif max_distance.size == 1 and k == 4:
            widest = insert_smallest(nearest, 4, x, i, max_distance[0], near, base_distance)
        elif max_distance.size == 1:
            widest = insert_smallest(nearest, k, x, i, max_distance[0], near, base_distance)
        elif k == 4:
            widest = insert_smallest(nearest, 4, x, i, max_distance, near, base_distance)
        else:
            widest = insert_smallest(nearest, k, x, i, max_distance, near, base_distance)
        t += STRIDE
    radius = spaces.joint_lists.radius[i]
    if widest > radius:
        for lane in range(n_lanes):
            if nearest[k - 1, lane] > radius:
                nearest[:, lane] = np.inf
                _search_from_x(batch, candidate, spaces.joint, i, lane, nearest)


@njit(**INNER)
def _search_from_x(batch, candidate, joint, i, lane, nearest):
    """Find the k smallest distances of one lane, by ascending distance in x's first column."""
    ascending, max_distance = candidate.sorted.ascending, candidate.max_distance
    k, here = nearest.shape[0], batch.rank[i, lane]
    below, above = here - 1, here + 1
    for _ in range(ascending.size - 1):
        down = ascending[here] - ascending[below] if below >= 0 else np.inf
        up = ascending[above] - ascending[here] if above < ascending.size else np.inf
        if min(down, up, max_distance[0]) >= nearest[k - 1, lane]:
            break
        if down <= up:
            j = batch.sample[below, lane]
            below -= 1
        else:
            j = batch.sample[above, lane]
            above += 1
        step = _x_distance(batch.x, max_distance, i, j, lane)
        insert(max(step, space_distance(joint, i, j)), nearest[:, lane])


@njit(**INNER)
def _largest(numbers):
    if numbers.size == LANES:
        return largest(numbers, 0)
    most = numbers[0]
    for lane in range(1, numbers.size):
        most = max(most, numbers[lane])
    return most


# ------------------------------------------------------------------ counts


@njit(**INNER)
def _count(space, lists, i, work):
    """Count the samples nearer than each lane's limit in a space."""
    limit, counts, distance = work.limit, work.counts, lists.distance[i]
    widest = _largest(limit)
    size = count_less(widest, distance)
    if size <= SHORT_SCAN and limit.size == LANES:
        count_below(limit, 0, counts, distance[:size])
    else:
        for lane in range(limit.size):
            counts[lane] = count_less(limit[lane], distance[:size])
    if widest > lists.radius[i]:
        distances_from(space, i, work.distance)
        for lane in range(limit.size):
            if limit[lane] > lists.radius[i]:
                nearer = 0
                for j in range(work.distance.size):
                    nearer += int(work.distance[j] < limit[lane])
                counts[lane] = nearer - 1  # without the sample itself


@njit(**INNER)
def _count_with_x(batch, candidate, space, lists, i, work):
    """Count the samples nearer than each lane's limit in x and a space."""
    x, max_distance, limit, counts = batch.x, candidate.max_distance, work.limit, work.counts
    widest = _largest(limit)
    sample, distance = lists.sample[i], lists.distance[i]
    size = count_less(widest, distance)
    if limit.size != LANES:
        counts[:] = 0
        for t in range(size):
            for lane in range(limit.size):
                step = max(_x_distance(x, max_distance, i, sample[t], lane), distance[t])
                counts[lane] += int(step < limit[lane])
    elif max_distance.size == 1:
        count_nearer(limit, counts, x, i, max_distance[0], sample[:size], distance[:size])
    else:
        count_nearer(limit, counts, x, i, max_distance, sample[:size], distance[:size])
    if widest > lists.radius[i]:
        for lane in range(limit.size):
            if limit[lane] > lists.radius[i]:
                counts[lane] = _count_from_x(batch, candidate, space, i, lane, limit[lane])


@njit(**INNER)
def _count_from_x(batch, candidate, space, i, lane, limit):
    """Count in x and a space for one lane, among the neighbours in x's first column."""
    nearer = 0
    first, last = _rank_interval(candidate, batch.rank[i, lane], limit)
    for rank in range(first, last):
        j = batch.sample[rank, lane]
        step = _x_distance(batch.x, candidate.max_distance, i, j, lane)
        nearer += int(max(step, space_distance(space, i, j)) < limit)
    return max(nearer - 1, 0)  # without the sample itself


@njit(**JIT)
def _count_in_x_by_rank(batch, candidate, rule, work):
    """Subtract the weights of all counts in x, which has several columns.

    Permutations change the sample at a rank but not the distances between ranks: distances around a
    rank are computed once for all lanes.
    """
    x = Space(candidate.values[candidate.sorted.sample].T.copy(), candidate.max_distance)
    for rank in range(work.distance.size):
        first, last = _rank_interval(candidate, rank, largest(batch.limit, rank))
        distance = work.distance[: last - first]
        distances_from(Space(x.values[:, first:last], x.max_distance), rank - first, distance)
        count_below(batch.limit, rank, work.counts, distance)
        work.counts[:] = np.maximum(work.counts - 1, 0)  # without the sample itself
        _add_weights(-1, rule, work)


@njit(**INNER)
def _count_in_sorted_given(batch, candidate, column, rule, i, work):
    """Count in S, directly into the sums, and in (x, S), for one sorted column S."""
    max_distance, limit, counts = candidate.max_distance, work.limit, work.counts
    for lane in range(limit.size):
        first, last = interval_within(column.ascending, column.rank[i], limit[lane])
        work.sums[lane] += rule.weight[max(last - first - 1, 0)]
        if max_distance.size == 1:
            nearby, here = batch.x_by_given[lane, first:last], batch.x[i, 0, lane]
            nearer = 0
            for t in range(nearby.size):
                nearer += int(min(abs(nearby[t] - here), max_distance[0]) < limit[lane])
            counts[lane] = nearer
    if max_distance.size > 1:
        first, last = interval_within(column.ascending, column.rank[i], largest(limit, 0))
        distance = work.distance[: last - first]
        for t in range(distance.size):
            distance[t] = abs(column.ascending[first + t] - column.ascending[column.rank[i]])
        count_nearer(limit, counts, batch.x, i, max_distance, column.sample[first:last], distance)
    for lane in range(counts.size):
        counts[lane] = max(counts[lane] - 1, 0)  # without the sample itself


@njit(**INNER)
def _rank_interval(candidate, here, limit):
    """Return the interval of ranks nearer than the limit to a rank, in the first column of x."""
    if limit > candidate.max_distance[0]:
        return 0, candidate.sorted.ascending.size
    return interval_within(candidate.sorted.ascending, here, limit)


@njit(**INNER)
def _x_distance(x, max_distance, i, j, lane):
    distance = 0.0
    for column in range(max_distance.size):
        step = abs(x[j, column, lane] - x[i, column, lane])
        distance = max(distance, min(step, max_distance[column]))
    return distance
