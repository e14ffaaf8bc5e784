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
    NeighbourBuffer,
    NeighbourLists,
    SortedColumn,
    Space,
    count_less,
    distances_from,
    interval_within,
    list_within,
    new_buffer,
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

    Samples whose k-th neighbour is at `max_radius` or farther are not counted: that is 1 if there
    are labels, else infinite.
    """

    k: int
    strict: bool
    weight: NDArray[np.int64]
    max_radius: float


class SurrogateBatch(NamedTuple):
    """Permutations of a candidate, one per lane."""

    x: FloatArray  # (n_samples, n_columns, lanes)
    rank: NDArray[np.int32]  # (n_samples, lanes): of each sample in the first column, if S is empty
    limit: FloatArray  # (n_samples, lanes): by rank, if x has several columns and S is empty


class Workspace(NamedTuple):
    """Buffers reused for every sample; arrays are by lane unless stated."""

    nearest: FloatArray  # (k, lanes): the smallest distances, ascending
    limit: FloatArray  # distances below this are counted
    is_open: NDArray[np.bool_]  # whether the sample is still to be counted
    is_counted: NDArray[np.bool_]  # whether it is counted in the current spaces
    counts: NDArray[np.int64]
    sums: NDArray[np.int64]  # sums of weights
    found: NeighbourBuffer


@njit(**JIT)
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
    n_samples, has_given = candidate.values.shape[0], spaces.given.max_distance.size > 0
    has_numeric = numeric.joint.max_distance.size > 0 and np.isinf(candidate.max_distance).any()
    if has_numeric:
        has_given &= numeric.given.max_distance.size > 0
    batch = _new_batch(candidate, has_given)
    work = _new_workspace(n_samples, rule.k)
    for start in range(0, rows.shape[0], LANES):
        n_rows = min(LANES, rows.shape[0] - start)
        for lane in range(LANES):
            # An incomplete last batch repeats its last permutation.
            _set_permutation(candidate, rows[start + min(lane, n_rows - 1)], batch, lane)
        work.sums[:] = 0
        for i in range(n_samples):
            work.is_open[:] = True
            if is_open.shape[0] > 0 and not _set_open(is_open[start : start + n_rows, i], work):
                continue
            _add_sample(batch, candidate, spaces, (0.0, rule.max_radius), rule, i, work)
            if has_numeric:
                _add_sample(batch, candidate, numeric, (1.0, np.inf), rule, i, work)
        if batch.limit.size > 0:
            _count_in_x_by_rank(batch, candidate, rule, work)
        values[start : start + n_rows] += work.sums[:n_rows]


@njit(**JIT)
def _new_batch(candidate, has_given):
    n_samples, n_columns = candidate.values.shape
    return SurrogateBatch(
        np.empty((n_samples, n_columns, LANES)),
        np.empty((0 if has_given else n_samples, LANES), dtype=np.int32),
        np.empty((0 if has_given or n_columns == 1 else n_samples, LANES)),
    )


@njit(**JIT)
def _new_workspace(n_samples, k):
    return Workspace(
        np.empty((k, LANES)),
        np.empty(LANES),
        np.empty(LANES, dtype=np.bool_),
        np.empty(LANES, dtype=np.bool_),
        np.empty(LANES, dtype=np.int64),
        np.empty(LANES, dtype=np.int64),
        new_buffer(n_samples),
    )


@njit(**INNER)
def _set_permutation(candidate, row, batch, lane):
    """Set one lane to a permutation of the candidate."""
    for i in range(row.size):
        for column in range(candidate.max_distance.size):
            batch.x[i, column, lane] = candidate.values[row[i], column]
    for i in range(batch.rank.shape[0]):
        batch.rank[i, lane] = candidate.sorted.rank[row[i]]
    for i in range(batch.limit.shape[0]):
        batch.limit[i, lane] = 0.0


@njit(**INNER)
def _set_open(flags, work):
    """Set which lanes are open; return whether any is."""
    some = False
    for lane in range(LANES):
        work.is_open[lane] = lane < flags.size and flags[lane]
        some |= work.is_open[lane]
    return some


@njit(**INNER)
def _add_sample(batch, candidate, spaces, bounds, rule, i, work):
    """Add the weights of sample i's counts to the sum of each open lane with a radius in bounds.

    Radii below the bounds are enlarged. Without `strict`, the weight of the count in (x, y, S) is
    added, which is k or more with ties.
    """
    low, high = bounds
    counts, limit, lists = work.counts, work.limit, spaces.joint_lists
    if lists.sample.shape[1] >= rule.k and lists.distance[i, rule.k - 1] >= high:
        return
    _find_kth_distances(batch, candidate, spaces, bounds, i, work)
    some = False
    for lane in range(LANES):
        radius = max(work.nearest[rule.k - 1, lane], low)
        counted = work.is_open[lane] and radius < high
        work.is_counted[lane] = counted
        work.is_open[lane] &= not counted
        limit[lane] = (
            0.0 if not counted else radius if rule.strict else np.nextafter(radius, np.inf)
        )
        some |= counted
    if not some:
        return
    widest = largest(limit, 0)

    near, distance, is_sorted = _near(
        spaces.joint, spaces.joint_boxes, lists, i, widest, work.found
    )
    _count(distance, is_sorted, work)
    _add_weights(-1, rule, work)
    if not rule.strict:
        _count_with_x(batch, candidate, i, near, distance, work)
        _add_weights(1, rule, work)

    if spaces.given.max_distance.size == 0:
        counts[:] = candidate.values.shape[0] - 1
        _add_weights(1, rule, work)
        for lane in range(LANES):
            if candidate.max_distance.size > 1:
                if work.is_counted[lane]:
                    batch.limit[batch.rank[i, lane], lane] = limit[lane]
            else:
                first, last = _rank_interval(candidate, batch.rank[i, lane], limit[lane])
                counts[lane] = max(last - first - 1, 0)  # without the sample itself
        if candidate.max_distance.size == 1:
            _add_weights(-1, rule, work)
        return  # counts in several columns of x follow in `_count_in_x_by_rank`
    if spaces.given_sorted.ascending.size > 0:
        near, distance, is_sorted = _near_sorted(spaces.given_sorted, i, widest, work.found)
    else:
        near, distance, is_sorted = _near(
            spaces.given, spaces.given_boxes, spaces.given_lists, i, widest, work.found
        )
    _count(distance, is_sorted, work)
    _add_weights(1, rule, work)
    _count_with_x(batch, candidate, i, near, distance, work)
    _add_weights(-1, rule, work)


@njit(**INNER)
def _add_weights(sign, rule, work):
    for lane in range(LANES):
        if work.is_counted[lane]:
            work.sums[lane] += sign * rule.weight[work.counts[lane]]


# ------------------------------------------------------------------ the k-th neighbour


@njit(**INNER)
def _find_kth_distances(batch, candidate, spaces, bounds, i, work):
    """Fill `nearest` with the k smallest distances in (x, y, S) of every lane, if below the bound.

    Distances up to the lower bound need not be the smallest.
    """
    low, high = bounds
    lists, nearest, found = spaces.joint_lists, work.nearest, work.found
    sample, distance = lists.sample[i], lists.distance[i]
    nearest[:] = high
    widest, t = high, 0
    while t < sample.size and distance[t] < widest:
        widest = _insert(
            nearest, batch.x, candidate, i, sample[t : t + STRIDE], distance[t : t + STRIDE]
        )
        t += STRIDE
    if widest <= lists.radius[i]:
        return
    if low > 0.0:
        size = list_within(spaces.joint, spaces.joint_boxes, i, np.nextafter(low, np.inf), found)
        nearest[:] = high
        widest = _insert(nearest, batch.x, candidate, i, found.sample[:size], found.distance[:size])
    if widest > low:
        limit = np.nextafter(widest, np.inf) if widest < high else high
        size = list_within(spaces.joint, spaces.joint_boxes, i, limit, found)
        nearest[:] = high
        _insert(nearest, batch.x, candidate, i, found.sample[:size], found.distance[:size])


@njit(**INNER)
def _insert(nearest, x, candidate, i, near, base_distance):
    """Insert distances into the k smallest of every lane; return the largest k-th one."""
    k, max_distance = nearest.shape[0], candidate.max_distance
    if max_distance.size == 1 and k == 4:
        return insert_smallest(nearest, 4, x, i, max_distance[0], near, base_distance)
    if max_distance.size == 1:
        return insert_smallest(nearest, k, x, i, max_distance[0], near, base_distance)
    return insert_smallest(nearest, k, x, i, max_distance, near, base_distance)


# ------------------------------------------------------------------ counts


@njit(**INNER)
def _near(space, boxes, lists, i, limit, found):
    """Return the other samples nearer to i than a limit, and whether they are sorted by distance."""
    if limit > lists.radius[i]:
        size = list_within(space, boxes, i, limit, found)
        return found.sample[:size], found.distance[:size], False
    size = count_less(limit, lists.distance[i])
    return lists.sample[i, :size], lists.distance[i, :size], True


@njit(**INNER)
def _near_sorted(column, i, limit, found):
    """Return the same for one sorted column."""
    here = column.rank[i]
    first, last = interval_within(column.ascending, here, limit)
    size = 0
    for rank in range(first, last):
        found.sample[size] = column.sample[rank]
        found.distance[size] = abs(column.ascending[rank] - column.ascending[here])
        size += int(rank != here)
    return found.sample[:size], found.distance[:size], False


@njit(**INNER)
def _count(distance, is_sorted, work):
    """Count the distances below each lane's limit."""
    if is_sorted and distance.size > SHORT_SCAN:
        for lane in range(LANES):
            work.counts[lane] = count_less(work.limit[lane], distance)
    else:
        count_below(work.limit, 0, work.counts, distance)


@njit(**INNER)
def _count_with_x(batch, candidate, i, near, distance, work):
    """Count the samples that are nearer than each lane's limit in x, too."""
    x, max_distance = batch.x, candidate.max_distance
    if max_distance.size == 1:
        count_nearer(work.limit, work.counts, x, i, max_distance[0], near, distance)
    else:
        count_nearer(work.limit, work.counts, x, i, max_distance, near, distance)


@njit(**JIT)
def _count_in_x_by_rank(batch, candidate, rule, work):
    """Subtract the weights of all counts in x, which has several columns.

    Permutations change the sample at a rank but not the distances between ranks: distances around a
    rank are computed once for all lanes.
    """
    x = Space(candidate.values[candidate.sorted.sample].T.copy(), candidate.max_distance)
    for rank in range(batch.limit.shape[0]):
        first, last = _rank_interval(candidate, rank, largest(batch.limit, rank))
        distance = work.found.distance[: last - first]
        distances_from(Space(x.values[:, first:last], x.max_distance), rank - first, distance)
        count_below(batch.limit, rank, work.counts, distance)
        for lane in range(LANES):
            work.counts[lane] = max(work.counts[lane] - 1, 0)  # without the sample itself
            work.is_counted[lane] = rule.strict or batch.limit[rank, lane] > 0.0
        _add_weights(-1, rule, work)


@njit(**INNER)
def _rank_interval(candidate, here, limit):
    """Return the interval of ranks nearer than the limit to a rank, in the first column of x."""
    if limit > candidate.max_distance[0]:
        return 0, candidate.sorted.ascending.size
    return interval_within(candidate.sorted.ascending, here, limit)
