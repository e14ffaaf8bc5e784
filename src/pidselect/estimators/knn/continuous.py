"""Fast nearest-neighbour kernel for a candidate of one column, with or without ties.

It gives the values of `score_general` from numbers of fewer bits. 32-bit distances bound the
distance of the k-th neighbour; usually exactly one distance in x or in (y, S) lies within the
bounds, at which several samples may be, and is the radius. Otherwise the radius is computed from
exact distances. Whether a sample is near in x then follows from its level in x, the number of
smaller distinct values, of 16 bits or of 32 for many samples. Where neighbour lists end too early,
samples are counted by the ranks of all columns.

Labels need no maximum distance: their codes are 1 or more apart, and radii from `max_radius` on,
which is 1 if there are labels, are not counted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.estimators.knn.general import (
    STRIDE,
    Candidate,
    CountingRule,
    TargetSpaces,
    has_fewer_within,
)
from pidselect.estimators.knn.grid_index import (
    ONE,
    PADDING,
    PADDING_,
    GridIndex,
    build_grid,
    find_interval,
    find_intervals,
)
from pidselect.estimators.knn.simd import (
    LANES,
    count_groups_below,
    count_in_interval,
    count_listed_in_interval,
    insert_smallest,
    largest,
)
from pidselect.estimators.knn.spaces import (
    INLINE,
    INNER,
    FloatArray,
    RankedSpace,
    count_less,
    insert,
    interval_around,
    point_distance,
)
from pidselect.jit import njit

#: Bytes of batches processed together, about, and of one sample of a permutation.
BATCH_BYTES, SAMPLE_BYTES = 2**23, 12

#: Samples of which the lists stay in the cache.
CACHED_SAMPLES = 16

#: Minimum length of lists in (y, S).
MIN_LIST = LANES

#: Relative rounding error of 32-bit numbers, and a bound on that of subnormal ones.
ROUNDING, SUBNORMAL = 2.0**-24, 2.0**-147


class SurrogateBatch32(NamedTuple):
    """Permutations of a candidate of one column, one per lane; or several batches of them."""

    x: NDArray[np.float32]  # (n_samples, lanes)
    level: NDArray[Any]  # (n_samples, lanes): of each sample
    sample: NDArray[np.int32]  # (lanes, n_samples): by rank
    level_by_sample: NDArray[Any]  # (lanes, n_samples): the same
    level_by_given: NDArray[Any]  # (lanes, n_samples): levels sorted by S, if it is one column


class GridIndexes(NamedTuple):
    """The sorted values of x and, if it is one column, of S."""

    x: GridIndex
    given: GridIndex


class Workspace32(NamedTuple):
    """Buffers reused for every sample; arrays are by lane unless stated."""

    nearest: NDArray[np.float32]  # (k, lanes): the smallest distances, ascending
    exact: FloatArray  # (k,): the same for one lane, exactly
    here: FloatArray  # value of the sample
    low: FloatArray  # bounds of the distance of the k-th neighbour
    high: FloatArray
    limit: FloatArray  # distances below this are counted
    is_ambiguous: NDArray[np.bool_]  # whether 32-bit distances leave the limit open
    is_counted: NDArray[np.int64]  # 1 if the sample is counted, else 0
    first: NDArray[np.int64]  # interval of levels of x
    last: NDArray[np.int64]
    begin: NDArray[np.int64]  # interval of levels of S, if it is one column
    end: NDArray[np.int64]
    in_joint: NDArray[np.int64]  # count in (y, S)
    in_all: NDArray[np.int64]  # count in (x, y, S)
    in_given: NDArray[np.int64]  # count in S
    counts: NDArray[np.int64]  # count in (x, S)
    sums: NDArray[np.int64]  # sum of weights
    interval: NDArray[Any]  # (2, lanes): start and length of the interval of x
    small_counts: NDArray[Any]  # (2, lanes): counts in a space, and with x
    near: NDArray[Any]  # (n_samples,): 1 where a sample is near, else 0


def new_workspace(n_samples: int, k: int, level_type: type[np.unsignedinteger]) -> Workspace32:
    """Allocate the buffers."""
    here, low, high, limit = np.empty((4, LANES))
    is_counted, first, last, begin, end = np.empty((5, LANES), dtype=np.int64)
    in_joint, in_all, in_given, counts, sums = np.empty((5, LANES), dtype=np.int64)
    return Workspace32(
        np.empty((k, LANES), dtype=np.float32),
        np.empty(k),
        here,
        low,
        high,
        limit,
        np.empty(LANES, dtype=np.bool_),
        is_counted,
        first,
        last,
        begin,
        end,
        in_joint,
        in_all,
        in_given,
        counts,
        sums,
        np.empty((2, LANES), dtype=level_type),
        np.empty((2, LANES), dtype=level_type),
        np.empty(n_samples, dtype=level_type),
    )


def score_continuous(
    candidate: Candidate,
    rows: NDArray[np.int32],
    is_open: NDArray[np.bool_],
    spaces: TargetSpaces,
    ranks: RankedSpace,
    rule: CountingRule,
    values: NDArray[np.int64],
) -> None:
    """Add the value of a candidate of one column in each permutation ``rows[m]`` to ``values[m]``.

    Only samples with ``is_open[m, i]`` are counted, or all if it has no rows. `ranks` are those of
    (y, S).
    """
    n_samples, given = len(candidate.values), spaces.given_sorted.ascending
    level_type = ranks.rank.dtype.type
    n_batches = min(-(-len(rows) // LANES), 1 + BATCH_BYTES // (LANES * SAMPLE_BYTES * n_samples))
    batches = SurrogateBatch32(
        np.empty((n_batches, n_samples, LANES), dtype=np.float32),
        np.empty((n_batches, n_samples, LANES), dtype=level_type),
        np.empty((n_batches, LANES, n_samples), dtype=np.int32),
        np.empty((n_batches, LANES, n_samples), dtype=level_type),
        np.empty((n_batches, LANES, n_samples if len(given) else 0), dtype=level_type),
    )
    grids = GridIndexes(build_grid(candidate.sorted.ascending), build_grid(given))
    level_by_rank = np.repeat(np.arange(len(grids.x.rank) - 1), np.diff(grids.x.rank))
    level = level_by_rank[candidate.sorted.rank].astype(level_type)
    work = new_workspace(n_samples, rule.k, level_type)
    add_continuous(
        candidate, level, rows, is_open, spaces, ranks, rule, grids, batches, work, values
    )


@njit(**INNER)
def add_continuous(
    candidate, level, rows, is_open, spaces, ranks, rule, grids, batches, work, values
):
    """Score all permutations, LANES at a time; `level` is that of each sample."""
    n_batches, n_samples, n_rows = batches.x.shape[0], candidate.values.shape[0], rows.shape[0]
    for start in range(0, n_rows, n_batches * LANES):
        end = min(start + n_batches * LANES, n_rows)
        for first in range(start, end, LANES):
            batch = _batch(batches, (first - start) // LANES)
            for lane in range(LANES):
                # An incomplete last batch repeats its last permutation.
                row = rows[min(first + lane, n_rows - 1)]
                _fill(candidate, level, row, spaces, batch, lane)
        # Lists of a few samples stay in the cache for all batches.
        for some in range(0, n_samples, CACHED_SAMPLES):
            for first in range(start, end, LANES):
                batch = _batch(batches, (first - start) // LANES)
                work.sums[:] = 0
                for i in range(some, min(some + CACHED_SAMPLES, n_samples)):
                    if has_fewer_within(rule.max_radius, spaces.joint_lists, rule.k, i):
                        continue
                    work.is_counted[:] = 1
                    if is_open.shape[0] > 0 and not _set_open(is_open, first, i, work):
                        continue
                    n_near = _find_nearest(batch, spaces, rule, i, work)
                    radius = spaces.joint_lists.radius[i]
                    if not _set_bounds(grids.x.values, batch.level[i], radius, rule, work):
                        continue
                    _find_limits(batch, grids, spaces, ranks, rule, (i, n_near), work)
                    _count_given(batch, grids, spaces, ranks, rule, i, work)
                for lane in range(min(LANES, n_rows - first)):
                    values[first + lane] += work.sums[lane]


@njit(**INLINE)
def _batch(batches, place):
    """Return one of several batches."""
    return SurrogateBatch32(
        batches.x[place],
        batches.level[place],
        batches.sample[place],
        batches.level_by_sample[place],
        batches.level_by_given[place],
    )


@njit(**INLINE)
def _fill(candidate, level, row, spaces, batch, lane):
    """Set one lane to a permutation of the candidate."""
    levels, by_given = batch.level_by_sample[lane], batch.level_by_given[lane]
    samples, rank = batch.sample[lane], candidate.sorted.rank
    for i in range(row.size):
        batch.x[i, lane] = candidate.values[row[i], 0]
        batch.level[i, lane] = levels[i] = level[row[i]]
        samples[rank[row[i]]] = i
    for t in range(by_given.size):
        by_given[t] = levels[spaces.given_sorted.sample[t]]


@njit(**INLINE)
def _set_open(is_open, start, i, work):
    """Set in which lanes a sample is to be counted; return whether it is in any."""
    some = 0
    for lane in range(LANES):
        work.is_counted[lane] = int(is_open[min(start + lane, is_open.shape[0] - 1), i])
        some += work.is_counted[lane]
    return some > 0


@njit(**INLINE)
def _find_nearest(batch, spaces, rule, i, work):
    """Fill `nearest` with the k smallest 32-bit distances in (x, y, S) of every lane.

    Return the number of listed samples scanned; those after are no nearer than any lane's k-th.
    """
    nearest, k = work.nearest, work.nearest.shape[0]
    sample, distance = spaces.joint_lists.sample[i], spaces.joint_lists.distance[i]
    for slot in range(k):
        for lane in range(LANES):
            # More than the maximum radius, so that rounding errors do not matter.
            nearest[slot, lane] = 2.0 * rule.max_radius if work.is_counted[lane] == 1 else 0.0
    widest, t = np.float32(2.0 * rule.max_radius), 0
    while t < sample.size and distance[t] < widest:
        near, base_distance = sample[t : t + STRIDE], distance[t : t + STRIDE]
        if k == 4:
            widest = insert_smallest(nearest, 4, batch.x, i, None, near, base_distance)
        else:
            widest = insert_smallest(nearest, k, batch.x, i, None, near, base_distance)
        t += STRIDE
    return min(t, sample.size)


@njit(**INLINE)
def _set_bounds(x, levels, list_radius, rule, work):
    """Write each lane's value of x and bounds of its k-th neighbour's distance.

    Return whether the distance may be less than the maximum radius in any.
    """
    kth, some = work.nearest[-1], 0
    for lane in range(LANES):
        value, about = x[PADDING_ + levels[lane]], np.float64(kth[lane])
        work.here[lane] = value
        error = ROUNDING * (2.0 * abs(value) + 4.0 * about) + SUBNORMAL
        # Fewer than k may be listed.
        work.low[lane] = max(about - error, 0.0) if about < np.inf else 0.0
        work.high[lane] = about + error
        work.is_counted[lane] &= int(min(work.low[lane], list_radius) < rule.max_radius)
        some += work.is_counted[lane]
    return some > 0


@njit(**INLINE)
def _find_limits(batch, grids, spaces, ranks, rule, point, work):
    """Find every lane's limit and interval of x, and subtract the weight of its count in (y, S).

    Without `strict`, add the weight of the count in (x, y, S).
    """
    i, n_near = point
    low, high, is_counted, in_joint = work.low, work.high, work.is_counted, work.in_joint
    distance, radius = spaces.joint_lists.distance[i], spaces.joint_lists.radius[i]
    widest = largest(high, 0)
    while n_near < distance.size and distance[n_near] <= widest:
        n_near = min(n_near + STRIDE, distance.size)
    near = distance[: max(n_near, MIN_LIST)]
    _count_sorted(near, low, in_joint)
    find_intervals(grids.x, work.here, low, work.first, work.last)
    has_ties = _resolve_limits(grids.x.values, near, radius, rule, work)
    if has_ties[1]:
        _count_joint_ties(near, rule, work)
    several = has_ties[0] or grids.x.rank.size <= batch.level.shape[0]
    for lane in range(LANES):
        work.in_all[lane] = rule.k
        if work.is_ambiguous[lane]:
            several = True
            _resolve_exactly(batch, grids, spaces, ranks, rule, (i, lane), work)
        if is_counted[lane] == 0:
            work.limit[lane], in_joint[lane] = 0.0, 0
            work.first[lane] = work.last[lane] = 0
        work.interval[0, lane] = work.first[lane]
        work.interval[1, lane] = max(work.last[lane] - work.first[lane], 0)
    if not rule.strict and several:
        _count_all(batch, spaces.joint_lists, i, work)
    for lane in range(LANES):
        added = -rule.weight[in_joint[lane]]
        if not rule.strict:
            added += rule.weight[work.in_all[lane]]
        work.sums[lane] += is_counted[lane] * added


@njit(**INLINE)
def _resolve_limits(x, distance, radius, rule, work):
    """Set exact limits where only one distance lies within the bounds; mark others as ambiguous.

    Possible ones are adjacent to those certainly nearer: on either side in x, or next in (y, S).
    All are evaluated, since branches would be mispredicted. Return whether several samples may be
    at such a distance, and whether several are in (y, S).
    """
    first, last, in_joint, end = work.first, work.last, work.in_joint, distance.size - 1
    n_tied = n_tied_in_joint = 0
    for lane in range(LANES):
        value, high = work.here[lane], work.high[lane]
        left_level, right_level = np.uint64(first[lane]), np.uint64(last[lane])
        left = value - x[PADDING_ + left_level - ONE]
        right = x[PADDING_ + right_level] - value
        next_left = value - x[left_level]
        next_right = x[PADDING_ + right_level + ONE] - value
        nearer = in_joint[lane]
        joint = distance[np.uint64(min(nearer, end))]
        next_joint = distance[np.uint64(min(nearer + 1, end))]
        joint = joint if nearer <= end else np.inf
        next_joint = next_joint if nearer < end else np.inf
        exact = min(min(left, right), joint)
        work.is_ambiguous[lane] = (work.is_counted[lane] == 1) & (
            (exact > high)
            | (high >= radius)
            | ((left > exact) & (left <= high))
            | ((right > exact) & (right <= high))
            | ((joint > exact) & (joint <= high))
            | (next_left <= high)
            | (next_right <= high)
            | ((next_joint > exact) & (next_joint <= high))
        )
        work.is_counted[lane] &= int(exact < rule.max_radius)
        n_equal = int(left == exact) + int(right == exact) + int(joint == exact)
        n_tied += int(n_equal > 1)
        n_tied_in_joint += int(next_joint == exact)
        work.limit[lane] = exact
        if not rule.strict:
            work.limit[lane] = np.nextafter(exact, np.inf)
            first[lane] -= int(left == exact)
            last[lane] += int(right == exact)
            in_joint[lane] += int(joint == exact)
    return n_tied + n_tied_in_joint > 0, n_tied_in_joint > 0


@njit(**INNER)
def _count_joint_ties(distance, rule, work):
    """Count all samples that are at the exact distance in (y, S); mark limits still ambiguous."""
    above, up_to = work.here, work.counts
    for lane in range(LANES):
        above[lane] = np.nextafter(work.limit[lane], np.inf) if rule.strict else work.limit[lane]
    _count_sorted(distance, above, up_to)
    for lane in range(LANES):
        following = distance[min(up_to[lane], distance.size - 1)]
        is_close = (up_to[lane] < distance.size) & (following <= work.high[lane])
        work.is_ambiguous[lane] |= is_close & (work.is_counted[lane] == 1)
        if not rule.strict:
            work.in_joint[lane] = up_to[lane]


@njit(**INLINE)
def _resolve_exactly(batch, grids, spaces, ranks, rule, which, work):
    """Compute an ambiguous lane by exact distances."""
    i, lane = which
    lists = spaces.joint_lists
    radius = _exact_radius(batch, grids.x, spaces, rule, which, work)
    work.is_counted[lane] = int(radius < rule.max_radius)
    if radius >= rule.max_radius:
        return
    limit = radius if rule.strict else np.nextafter(radius, np.inf)
    value = grids.x.values[PADDING_ + batch.level[i, lane]]
    first, last = find_interval(grids.x, value, limit)
    work.limit[lane], work.first[lane], work.last[lane] = limit, first, last
    if limit <= lists.radius[i]:
        work.in_joint[lane] = count_less(limit, lists.distance[i])
        return
    work.in_joint[lane], work.in_all[lane] = _count_in_box(
        batch, spaces.joint, ranks.ascending, ranks.rank, (i, lane), work
    )


@njit(**INLINE)
def _count_all(batch, lists, i, work):
    """Count in (x, y, S) where the limit is within the list radius."""
    small_counts, limit, shortest, longest = work.small_counts, work.limit, lists.sample.shape[1], 0
    for lane in range(LANES):
        size = work.in_joint[lane] if limit[lane] <= lists.radius[i] else 0
        small_counts[0, lane] = size
        shortest, longest = min(shortest, size), max(longest, size)
    count_listed_in_interval(
        work.interval, small_counts, batch.level, lists.sample[i, :longest], shortest
    )
    for lane in range(LANES):
        if limit[lane] <= lists.radius[i]:
            work.in_all[lane] = small_counts[1, lane]


@njit(**INNER)
def _count_sorted(ascending, limits, counts):
    """Count the sorted distances below each lane's limit: groups of 16, then the remainder."""
    size = ascending.size
    if size < LANES:
        for lane in range(LANES):
            counts[lane] = count_less(limits[lane], ascending)
        return
    count_groups_below(limits, counts, ascending, size // LANES)
    for lane in range(LANES):
        start = min(counts[lane] * LANES, size - LANES)
        some = ascending[start : start + LANES]
        nearer = start
        for t in range(LANES):
            nearer += int(some[t] < limits[lane])
        counts[lane] = nearer


@njit(**INLINE)
def _exact_radius(batch, grid, spaces, rule, which, work):
    """Return the exact distance of one lane's k-th neighbour, or infinity from max_radius on."""
    i, lane = which
    x, lists, nearest = grid.values, spaces.joint_lists, work.exact
    level = np.int64(batch.level[i, lane])
    k, here = nearest.size, x[PADDING + level]
    nearest[:] = np.inf
    for t in range(lists.sample.shape[1]):
        if max(lists.distance[i, t], work.low[lane]) >= min(nearest[k - 1], lists.radius[i]):
            break
        step = abs(x[PADDING_ + batch.level[lists.sample[i, t], lane]] - here)
        insert(max(step, lists.distance[i, t]), nearest)
    if nearest[k - 1] <= lists.radius[i]:
        return nearest[k - 1]
    if lists.radius[i] >= rule.max_radius:
        return np.inf
    nearest[:] = np.inf
    below, above = level, level + 1
    while True:
        down, up = here - x[PADDING + below], x[PADDING + above] - here
        step = min(down, up)
        if step >= min(nearest[k - 1], rule.max_radius):
            return nearest[k - 1]
        if down <= up:
            level = below
            below -= 1
        else:
            level = above
            above += 1
        for rank in range(grid.rank[level], grid.rank[level + 1]):
            j = batch.sample[lane, rank]
            if j != i:
                base = point_distance(spaces.joint_points, spaces.joint.max_distance, i, j)
                insert(max(step, base), nearest)


@njit(**INLINE)
def _count_given(batch, grids, spaces, ranks, rule, i, work):
    """Add the weights of the counts in S, and subtract those of the counts in (x, S)."""
    weight, sums, first, last = rule.weight, work.sums, work.first, work.last
    in_given, counts, is_counted = work.in_given, work.counts, work.is_counted
    if spaces.given.max_distance.size == 0:
        for lane in range(LANES):
            in_x = grids.x.rank[max(last[lane], first[lane])] - grids.x.rank[first[lane]] - 1
            added = weight[weight.size - 1] - weight[max(in_x, 0)]
            sums[lane] += is_counted[lane] * added
        return
    if spaces.given_sorted.ascending.size > 0:
        _count_in_sorted_given(batch.level_by_given, grids.given, spaces.given.values[0, i], work)
    else:
        _count_listed(batch, spaces, ranks, i, work)
    for lane in range(LANES):
        added = weight[in_given[lane]] - weight[counts[lane]]
        sums[lane] += is_counted[lane] * added


@njit(**INLINE)
def _count_in_sorted_given(level_by_given, grid, value, work):
    """Count in S and in (x, S), for one sorted column S."""
    here, limit, first, last = work.here, work.limit, work.first, work.last
    begin, end, in_given, counts = work.begin, work.end, work.in_given, work.counts
    here[:] = value
    find_intervals(grid, here, limit, begin, end)
    for lane in range(LANES):
        start, stop = grid.rank[min(begin[lane], end[lane])], grid.rank[end[lane]]
        nearby = level_by_given[lane, start:stop]
        nearer = count_in_interval(nearby, first[lane], max(last[lane] - first[lane], 0))
        in_given[lane] = max(stop - start - 1, 0)
        counts[lane] = max(nearer - 1, 0)  # without the sample itself


@njit(**INLINE)
def _count_listed(batch, spaces, ranks, i, work):
    """Count in S and in (x, S) by the lists of S, or by ranks where these end too early."""
    lists, limit, in_given, counts = spaces.given_lists, work.limit, work.in_given, work.counts
    small_counts, radius = work.small_counts, lists.radius[i]
    _count_sorted(lists.distance[i], limit, in_given)
    shortest, longest = lists.sample.shape[1], 0
    for lane in range(LANES):
        if limit[lane] <= radius:
            shortest, longest = min(shortest, in_given[lane]), max(longest, in_given[lane])
    for lane in range(LANES):
        small_counts[0, lane] = min(in_given[lane], longest)
    count_listed_in_interval(
        work.interval, small_counts, batch.level, lists.sample[i, :longest], min(shortest, longest)
    )
    first_column = ranks.rank.shape[0] - spaces.given.max_distance.size
    for lane in range(LANES):
        counts[lane] = small_counts[1, lane]
        if limit[lane] > radius:
            in_given[lane], counts[lane] = _count_in_box(
                batch,
                spaces.given,
                ranks.ascending[first_column:],
                ranks.rank[first_column:],
                (i, lane),
                work,
            )


@njit(**INNER)
def _count_in_box(batch, space, ascending, rank, which, work):
    """Return one lane's counts in a space and in that with x, of which it knows the interval."""
    i, lane = which
    limit, near, nearer = work.limit[lane], work.near, work.near.size
    near[:] = 1
    for column in range(rank.shape[0]):
        if limit <= space.max_distance[column]:
            here = space.values[column, i]
            first, last = interval_around(ascending[column], here, limit)
            nearer = _keep_within(first, last, rank[column], near)
    both = _keep_within(work.first[lane], work.last[lane], batch.level_by_sample[lane], near)
    return max(nearer - 1, 0), max(both - 1, 0)  # without the sample itself


@njit(**INNER)
def _keep_within(first, last, rank, near):
    """Set to 0 where the rank is not in an interval; return the number of ones.

    All numbers have the few bits of a rank, so that many fit into a vector.
    """
    kind = near.dtype.type
    start, width, total = kind(first), kind(max(last - first, 0)), kind(0)
    for j in range(near.size):
        near[j] &= kind(kind(rank[j] - start) < width)
        total = kind(total + near[j])
    return np.int64(total)
