"""General nearest-neighbour kernel, for any feature types and any number of columns.

For each sample: the distance of its k-th neighbour in (x, y, S), and the numbers of samples within
that distance in (y, S), in S and in (x, S). Neighbours in (y, S) and in S are listed once, by
ascending distance; for each permutation of x a list is scanned until no farther sample can matter.
If a list ends too early, all samples near enough are found by their bounding boxes.

LANES permutations are processed at a time: ``x[j]`` holds the values of sample j in all of them,
so that one vector instruction serves all.

Two labels are at distance 0 or 1, so that a radius of 1 or more holds every label. If x or y has
labels only, that variable then changes no count, and what a sample adds cancels to zero. Otherwise
the other columns alone decide: the *numeric* spaces.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.estimators.knn.spaces import (
    INLINE,
    INNER,
    LANES,
    SLOTS,
    Candidate,
    CountingRule,
    FloatArray,
    NeighbourBuffer,
    TargetSpaces,
    count_below,
    count_less,
    count_sorted_below,
    insert_in_lanes,
    interval_within,
    largest,
    list_within,
    new_buffer,
    point_distance,
)
from pidselect.jit import njit

#: Signs of weights; with literals a function would be compiled for each.
PLUS, MINUS = np.int64(1), np.int64(-1)

#: Neighbours scanned between two checks whether a scan may stop.
STRIDE = 8


class SurrogateBatch(NamedTuple):
    """Permutations of a candidate, one per lane."""

    x: FloatArray  # (n_samples, n_columns, lanes)
    rank: NDArray[np.int32]  # (n_samples, lanes): of each sample in the first column, if S is empty
    limit: FloatArray  # (n_samples, lanes): by rank, if x has several columns and S is empty


class Workspace(NamedTuple):
    """Buffers reused for every sample; arrays are by lane unless stated."""

    nearest: FloatArray  # rows of lanes: the smallest distances, ascending
    moving: FloatArray  # distances of one sample
    limit: FloatArray  # distances below this are counted
    is_open: NDArray[np.bool_]  # whether the sample is still to be counted
    is_counted: NDArray[np.int64]  # 1 if it is counted in the current spaces, else 0
    counts: NDArray[np.int64]
    sums: NDArray[np.int64]  # sums of weights
    found: NeighbourBuffer


def score_general(
    candidate: Candidate,
    rows: NDArray[np.int32],
    is_open: NDArray[np.bool_],
    spaces: TargetSpaces,
    numeric: TargetSpaces,
    rule: CountingRule,
    values: NDArray[np.int64],
) -> None:
    """Add the value of the candidate in each permutation ``rows[m]`` to ``values[m]``.

    Only samples with ``is_open[m, i]`` are counted, or all if it has no rows. `numeric` are the
    spaces without labels, for radii of 1 or more; they have no columns if not needed.
    """
    n_samples, n_columns = candidate.values.shape
    has_numeric = len(numeric.joint.values) > 0 and bool(np.isinf(candidate.max_distance).any())
    has_given = len(spaces.given.values) > 0 and (not has_numeric or len(numeric.given.values) > 0)
    batch = SurrogateBatch(
        np.empty((n_samples, n_columns, LANES)),
        np.empty((0 if has_given else n_samples, LANES), dtype=np.int32),
        np.empty((0 if has_given or n_columns == 1 else n_samples, LANES)),
    )
    buffers = (
        np.empty(-(-rule.k // SLOTS) * SLOTS * LANES),
        *np.empty((2, LANES)),
        np.empty(LANES, dtype=np.bool_),
        *np.empty((3, LANES), dtype=np.int64),
        new_buffer(n_samples),
    )
    work = Workspace._make(buffers)
    pair = spaces, numeric
    add_general(candidate, rows, is_open, pair, has_numeric, rule, batch, work, values)


@njit(**INNER)
def add_general(candidate, rows, is_open, pair, has_numeric, rule, batch, work, values):
    """Score all permutations, LANES at a time."""
    spaces, numeric = pair
    for start in range(0, rows.shape[0], LANES):
        n_rows = min(LANES, rows.shape[0] - start)
        for lane in range(LANES):
            # An incomplete last batch repeats its last permutation.
            row = rows[start + min(lane, n_rows - 1)]
            _set_permutation(candidate, row, batch, lane)
        work.sums[:] = 0
        for i in range(candidate.values.shape[0]):
            work.is_open[:] = True
            if is_open.shape[0] > 0 and not _set_open(is_open, start, n_rows, i, work):
                continue
            _add_sample(batch, candidate, spaces, (0.0, rule.max_radius), rule, i, work)
            if has_numeric:
                _add_sample(batch, candidate, numeric, (1.0, np.inf), rule, i, work)
        if batch.limit.size > 0:
            _count_in_x_by_rank(batch, candidate, rule, work)
        for lane in range(n_rows):
            values[start + lane] += work.sums[lane]


@njit(**INLINE)
def _set_permutation(candidate, row, batch, lane):
    """Set one lane to a permutation of the candidate."""
    for i in range(row.size):
        for column in range(candidate.max_distance.size):
            batch.x[i, column, lane] = candidate.values[row[i], column]
    for i in range(batch.rank.shape[0]):
        batch.rank[i, lane] = candidate.sorted.rank[row[i]]
    for i in range(batch.limit.shape[0]):
        batch.limit[i, lane] = 0.0


@njit(**INLINE)
def _set_open(is_open, start, n_rows, i, work):
    """Set which lanes are open; return whether any is."""
    some = False
    for lane in range(LANES):
        work.is_open[lane] = lane < n_rows and is_open[start + min(lane, n_rows - 1), i]
        some |= work.is_open[lane]
    return some


@njit(**INNER)
def _add_sample(batch, candidate, spaces, bounds, rule, i, work):
    """Add the weights of sample i's counts to the sum of each open lane with a radius in bounds.

    Radii below the bounds are enlarged. Without `strict`, the weight of the count in (x, y, S) is
    added, which is k or more with ties.
    """
    low, high = bounds
    counts = work.counts
    limit = work.limit
    lists = spaces.joint_lists
    if has_fewer_within(high, lists, rule.k, i):
        return
    _find_kth_distances(batch, candidate, spaces, bounds, rule, i, work)
    some = False
    for lane in range(LANES):
        radius = max(work.nearest[(rule.k - 1) * LANES + lane], low)
        counted = work.is_open[lane] and radius < high
        work.is_counted[lane] = int(counted)
        work.is_open[lane] &= not counted
        limit[lane] = (
            0.0 if not counted else radius if rule.strict else np.nextafter(radius, np.inf)
        )
        some |= counted
    if not some:
        return
    widest = largest(limit)

    near, distance, is_sorted = _near(
        spaces.joint, spaces.joint_boxes, lists, i, widest, work.found
    )
    _count(distance, is_sorted, work)
    _add_weights(MINUS, rule, work)
    if not rule.strict:
        _count_with_x(batch, candidate, i, near, distance, work)
        _add_weights(PLUS, rule, work)

    if spaces.given.max_distance.size == 0:
        counts[:] = candidate.values.shape[0] - 1
        _add_weights(PLUS, rule, work)
        for lane in range(LANES):
            if candidate.max_distance.size > 1:
                if work.is_counted[lane] == 1:
                    batch.limit[batch.rank[i, lane], lane] = limit[lane]
            else:
                first, last = _rank_interval(candidate, np.int64(batch.rank[i, lane]), limit[lane])
                counts[lane] = max(last - first - 1, 0)  # without the sample itself
        if candidate.max_distance.size == 1:
            _add_weights(MINUS, rule, work)
        return  # counts in several columns of x follow in `_count_in_x_by_rank`
    near, distance, is_sorted = _near(
        spaces.given, spaces.given_boxes, spaces.given_lists, i, widest, work.found
    )
    _count(distance, is_sorted, work)
    _add_weights(PLUS, rule, work)
    _count_with_x(batch, candidate, i, near, distance, work)
    _add_weights(MINUS, rule, work)


@njit(**INNER)
def has_fewer_within(radius, lists, k, i):
    """Return whether less than k neighbours of a sample are nearer than a radius, if listed."""
    return radius <= lists.radius[i] and count_less(radius, lists.distance[i]) < k


@njit(**INNER)
def _add_weights(sign, rule, work):
    for lane in range(LANES):
        work.sums[lane] += sign * work.is_counted[lane] * rule.weight[work.counts[lane]]


@njit(**INLINE)
def _find_kth_distances(batch, candidate, spaces, bounds, rule, i, work):
    """Fill `nearest` with the k smallest distances in (x, y, S) of every lane, if below the bound.

    Distances up to the lower bound need not be the smallest.
    """
    low, high = bounds
    lists, found = spaces.joint_lists, work.found
    work.nearest[:] = high
    listed = lists.sample[i], lists.distance[i]
    widest = _scan(batch.x, candidate, i, listed, (low, True), rule, work)
    if widest <= lists.radius[i]:
        return
    if low > 0.0:  # k samples within the lower bound are enough
        size = list_within(spaces.joint, spaces.joint_boxes, i, np.nextafter(low, np.inf), found)
        near = found.sample[:size], found.distance[:size]
        work.nearest[:] = high
        widest = _scan(batch.x, candidate, i, near, (low, False), rule, work)
    if widest > low:
        limit = np.nextafter(widest, np.inf) if widest < high else high
        size = list_within(spaces.joint, spaces.joint_boxes, i, limit, found)
        near = found.sample[:size], found.distance[:size]
        work.nearest[:] = high
        _scan(batch.x, candidate, i, near, (low, False), rule, work)


@njit(**INNER)
def _scan(x, candidate, i, listed, stop, rule, work):
    """Insert the distances of samples into `nearest`; return the largest k-th one of a lane.

    Stop when no lane's is above a limit, or if samples are sorted, above the next distance.
    """
    sample, distance = listed
    enough, is_sorted = stop
    kth = work.nearest[(rule.k - 1) * LANES :]
    widest = kth[0]
    t = 0
    while t < sample.size and widest > (max(enough, distance[t]) if is_sorted else enough):
        for place in range(t, min(t + STRIDE, sample.size)):
            _set_distances(x, candidate, (i, sample[place]), distance[place], work.moving)
            insert_in_lanes(work.moving, work.nearest)
        widest = largest(kth)
        t += STRIDE
    return widest


@njit(**INNER)
def _set_distances(x, candidate, pair, base, distance):
    """Set every lane's distance of two samples over all columns of x, and at least a number."""
    for lane in range(distance.size):
        distance[lane] = base
    for column in range(candidate.max_distance.size):
        one, other = x[pair[0], column], x[pair[1], column]
        most = candidate.max_distance[column]
        for lane in range(distance.size):
            distance[lane] = max(distance[lane], min(abs(one[lane] - other[lane]), most))


@njit(**INNER)
def _near(space, boxes, lists, i, limit, found):
    """Return the samples nearer to i than a limit, their distances, and whether these ascend."""
    if limit > lists.radius[i]:
        size = list_within(space, boxes, i, limit, found)
        return found.sample[:size], found.distance[:size], False
    size = count_less(limit, lists.distance[i])
    return lists.sample[i, :size], lists.distance[i, :size], True


@njit(**INNER)
def _count(distance, is_sorted, work):
    """Count the distances below each lane's limit."""
    if is_sorted:
        count_sorted_below(distance, work.limit, work.counts)
    else:
        count_below(distance, work.limit, work.counts)


@njit(**INNER)
def _count_with_x(batch, candidate, i, near, distance, work):
    """Count the samples that are nearer than each lane's limit in x, too."""
    counts, limit, moving = work.counts, work.limit, work.moving
    counts[:] = 0
    for t in range(near.size):
        _set_distances(batch.x, candidate, (i, near[t]), distance[t], moving)
        for lane in range(counts.size):
            counts[lane] += int(moving[lane] < limit[lane])


@njit(**INLINE)
def _count_in_x_by_rank(batch, candidate, rule, work):
    """Subtract the weights of all counts in x, which has several columns.

    Permutations change the sample at a rank but not the distances between ranks: distances around a
    rank are computed once for all lanes.
    """
    x, sample = candidate.values, candidate.sorted.sample
    for rank in range(batch.limit.shape[0]):
        first, last = _rank_interval(candidate, rank, largest(batch.limit[rank]))
        distance = work.found.distance[: last - first]
        for t in range(distance.size):
            distance[t] = point_distance(x, candidate.max_distance, sample[rank], sample[first + t])
        count_below(distance, batch.limit[rank], work.counts)
        for lane in range(LANES):
            work.counts[lane] = max(work.counts[lane] - 1, 0)  # without the sample itself
            work.is_counted[lane] = int(rule.strict or batch.limit[rank, lane] > 0.0)
        _add_weights(MINUS, rule, work)


@njit(**INNER)
def _rank_interval(candidate, here, limit):
    """Return the interval of ranks nearer than the limit to a rank, in the first column of x."""
    if limit > candidate.max_distance[0]:
        return 0, candidate.sorted.ascending.size
    return interval_within(candidate.sorted.ascending, here, limit)
