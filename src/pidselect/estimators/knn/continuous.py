"""Fast nearest-neighbour kernel for candidates of one column, with or without ties.

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
    CountingRule,
    TargetSpaces,
    has_fewer_within,
)
from pidselect.estimators.knn.grid_index import (
    ONE,
    PADDING,
    PADDING_,
    GridIndex,
    fill_grid,
    find_interval,
    find_intervals,
    new_grid,
)
from pidselect.estimators.knn.simd import (
    LANES,
    WIDTH,
    count_in_intervals,
    count_listed_in_interval,
    count_sorted_below,
    insert_smallest,
    largest,
)
from pidselect.estimators.knn.spaces import (
    INLINE,
    INNER,
    FloatArray,
    RankedColumns,
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

#: Largest number for 32-bit distances.
MAX_FLOAT32 = 1e30


class SingleColumns(NamedTuple):
    """Candidates of one column each: values and order, (n_candidates, n_samples)."""

    values: FloatArray
    order: NDArray[np.int32]  # the samples in ascending order of their values


class SurrogateBatch32(NamedTuple):
    """Permutations of a candidate of one column, one per lane; or several batches of them."""

    x: NDArray[np.float32]  # (n_samples, lanes)
    level: NDArray[Any]  # (n_samples, lanes): of each sample
    sample: NDArray[np.int32]  # (lanes, n_samples): by rank
    level_by_sample: NDArray[Any]  # (lanes, n_samples): `level`, transposed
    level_by_given: NDArray[Any]  # (lanes, n_samples + WIDTH): sorted by S, if one column


class GridIndexes(NamedTuple):
    """The sorted values of x and, if it is one column, of S."""

    x: GridIndex
    given: GridIndex


class Workspace32(NamedTuple):
    """Buffers reused for every sample; arrays are by lane unless stated."""

    observed_rank: NDArray[np.int32]  # (n_samples,): of each sample in x, without a permutation
    observed_level: NDArray[Any]  # (n_samples,)
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
    begin: NDArray[np.int64]  # interval of ranks of S, if it is one column
    end: NDArray[np.int64]
    in_joint: NDArray[np.int64]  # count in (y, S)
    in_all: NDArray[np.int64]  # count in (x, y, S)
    in_given: NDArray[np.int64]  # count in S
    counts: NDArray[np.int64]  # count in (x, S)
    sums: NDArray[np.int64]  # sum of weights
    interval: NDArray[Any]  # (2, lanes): start and length of the interval of x
    listed: NDArray[Any]  # (2, lanes): listed samples to count, and those in the interval
    is_near: NDArray[Any]  # (n_samples,): 1 where a sample is near, else 0


def new_workspace(n_samples: int, k: int, level_type: type[np.unsignedinteger]) -> Workspace32:
    """Allocate the buffers."""
    here, low, high, limit = np.empty((4, LANES))
    is_counted, first, last, begin, end = np.empty((5, LANES), dtype=np.int64)
    in_joint, in_all, in_given, counts, sums = np.empty((5, LANES), dtype=np.int64)
    return Workspace32(
        np.empty(n_samples, dtype=np.int32),
        np.empty(n_samples, dtype=level_type),
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
    candidates: SingleColumns,
    rows: NDArray[np.int32],
    is_open: NDArray[np.bool_],
    spaces: TargetSpaces,
    ranks: RankedColumns,
    rule: CountingRule,
) -> NDArray[np.int64]:
    """Return the sum of the weights of candidate c in permutation ``rows[m]`` as ``[c, m]``.

    Only samples with ``is_open[m, i]`` are counted, or all if it has no rows. `ranks` are those of
    (y, S).
    """
    n_samples, given = rows.shape[1], spaces.given_sorted.ascending
    level_type = ranks.rank.dtype.type
    n_batches = min(-(-len(rows) // LANES), 1 + BATCH_BYTES // (LANES * SAMPLE_BYTES * n_samples))
    batches = SurrogateBatch32(
        np.empty((n_batches, n_samples, LANES), dtype=np.float32),
        np.empty((n_batches, n_samples, LANES), dtype=level_type),
        np.empty((n_batches, LANES, n_samples), dtype=np.int32),
        np.empty((n_batches, LANES, n_samples), dtype=level_type),
        np.empty((n_batches, LANES, n_samples + WIDTH if len(given) else 0), dtype=level_type),
    )
    grids = GridIndexes(new_grid(np.empty(n_samples)), new_grid(given))
    work = new_workspace(n_samples, rule.k, level_type)
    sums = np.zeros((len(candidates.values), len(rows)), dtype=np.int64)
    sum_continuous(candidates, rows, is_open, spaces, ranks, rule, grids, batches, work, sums)
    return sums


@njit(**INNER)
def sum_continuous(candidates, rows, is_open, spaces, ranks, rule, grids, batches, work, sums):
    """Score all candidates in all permutations, LANES at a time."""
    n_batches, n_rows, n_samples = batches.x.shape[0], rows.shape[0], rows.shape[1]
    of_given = fill_grid(grids.given)
    for c in range(sums.shape[0]):
        values = candidates.values[c]
        of_x = _fill_levels(values, candidates.order[c], grids.x, work)
        of_values = GridIndexes(of_x, of_given)
        for start in range(0, n_rows, n_batches * LANES):
            end = min(start + n_batches * LANES, n_rows)
            for first in range(start, end, LANES):
                batch = _batch(batches, (first - start) // LANES)
                _fill(values, rows[first : first + LANES], spaces, work, batch)
            # Lists of a few samples stay in the cache for all batches.
            for some in range(0, n_samples, CACHED_SAMPLES):
                for first in range(start, end, LANES):
                    batch = _batch(batches, (first - start) // LANES)
                    work.sums[:] = 0
                    for i in range(some, min(some + CACHED_SAMPLES, n_samples)):
                        if has_fewer_within(rule.max_radius, spaces.joint_lists, rule.k, i):
                            continue
                        if not _set_open(is_open, first, i, work.is_counted):
                            continue
                        n_scanned = _find_nearest(batch, spaces, rule, i, work)
                        radius = spaces.joint_lists.radius[i]
                        if not _set_bounds(of_x.values, batch.level[i], radius, rule, work):
                            continue
                        _find_limits(batch, of_values, spaces, ranks, rule, (i, n_scanned), work)
                        _count_given(batch, of_values, spaces, ranks, rule, i, work)
                    for lane in range(min(LANES, n_rows - first)):
                        sums[c, first + lane] += work.sums[lane]


@njit(**INLINE)
def _fill_levels(values, order, grid, work):
    """Set the ranks and the levels of a candidate; return its grid index."""
    for rank in range(order.size):
        work.observed_rank[order[rank]] = rank
        grid.values[PADDING + rank] = values[order[rank]]
    filled = fill_grid(grid)
    for level in range(filled.rank.size - 1):
        for rank in range(filled.rank[level], filled.rank[level + 1]):
            work.observed_level[order[rank]] = level
    return filled


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
def _fill(values, rows, spaces, work, batch):
    """Set every lane to a permutation of the candidate; lanes without one repeat the last."""
    for lane in range(LANES):
        row, levels = rows[min(lane, rows.shape[0] - 1)], batch.level_by_sample[lane]
        for i in range(row.size):
            batch.x[i, lane] = values[row[i]]
            batch.level[i, lane] = levels[i] = work.observed_level[row[i]]
            batch.sample[lane, work.observed_rank[row[i]]] = i
        for t in range(spaces.given_sorted.sample.size):
            batch.level_by_given[lane, t] = levels[spaces.given_sorted.sample[t]]


@njit(**INLINE)
def _set_open(is_open, start, i, is_counted):
    """Set in which lanes a sample is to be counted; return whether it is in any."""
    if is_open.shape[0] == 0:
        is_counted[:] = 1
        return True
    some = 0
    for lane in range(LANES):
        is_counted[lane] = int(is_open[min(start + lane, is_open.shape[0] - 1), i])
        some += is_counted[lane]
    return some > 0


@njit(**INLINE)
def _find_nearest(batch, spaces, rule, i, work):
    """Fill `nearest` with the k smallest 32-bit distances in (x, y, S) of every lane.

    Return the number of listed samples scanned; those after are no nearer than any lane's k-th.
    """
    nearest, k = work.nearest, work.nearest.shape[0]
    sample, distance = spaces.joint_lists.sample[i], spaces.joint_lists.distance[i]
    # More than the maximum radius, so that rounding errors do not matter.
    widest, t = np.float32(2.0 * rule.max_radius), 0
    for slot in range(k):
        for lane in range(LANES):
            nearest[slot, lane] = widest if work.is_counted[lane] == 1 else np.float32(0.0)
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
    kth, here, low, high, some = work.nearest[-1], work.here, work.low, work.high, 0
    for lane in range(LANES):
        value, about = x[PADDING_ + levels[lane]], np.float64(kth[lane])
        here[lane] = value
        error = ROUNDING * (2.0 * abs(value) + 4.0 * about) + SUBNORMAL
        least = max(about - error, 0.0) if about < np.inf else 0.0  # fewer than k are listed
        low[lane], high[lane] = least, about + error
        work.is_counted[lane] &= int(min(least, list_radius) < rule.max_radius)
        some += work.is_counted[lane]
    return some > 0


@njit(**INLINE)
def _find_limits(batch, grids, spaces, ranks, rule, point, work):
    """Find every lane's limit and interval of x, and subtract the weight of its count in (y, S).

    Without `strict`, add the weight of the count in (x, y, S).
    """
    i, n_scanned = point
    lists, is_counted, in_joint, in_all = (
        spaces.joint_lists,
        work.is_counted,
        work.in_joint,
        work.in_all,
    )
    distance, radius = lists.distance[i], lists.radius[i]
    # Those behind the scanned ones are not below a bound: whole groups take less time.
    _count_sorted(distance[: -(-n_scanned // LANES) * LANES], work.low, in_joint)
    find_intervals(grids.x, work.here, work.low, work.first, work.last)
    has_ties, has_joint_ties = _resolve_limits(grids.x.values, distance, radius, rule, work)
    if has_joint_ties:
        _count_joint_ties(distance, n_scanned, rule, work)
    # Otherwise one sample is at the distance of the k-th neighbour.
    has_ties |= grids.x.rank.size <= batch.level.shape[0]
    for lane in range(LANES):
        in_all[lane] = rule.k
        if work.is_ambiguous[lane]:
            has_ties = True
            _resolve_exactly(batch, grids, spaces, ranks, rule, (i, lane), work)
        if is_counted[lane] == 0:
            work.limit[lane], in_joint[lane] = 0.0, 0
            work.first[lane] = work.last[lane] = 0
        work.interval[0, lane] = work.first[lane]
        work.interval[1, lane] = max(work.last[lane] - work.first[lane], 0)
    if has_ties and not rule.strict:
        _count_listed(batch.level, lists.sample[i], radius, in_joint, in_all, work)
    for lane in range(LANES):
        added = -rule.weight[in_joint[lane]]
        if not rule.strict:
            added += rule.weight[in_all[lane]]
        work.sums[lane] += is_counted[lane] * added


@njit(**INLINE)
def _resolve_limits(x, distance, radius, rule, work):
    """Set exact limits where only one distance lies within the bounds; mark others as ambiguous.

    Possible ones are adjacent to those certainly nearer: on either side in x, or next in (y, S).
    All are evaluated, since branches would be mispredicted. Return whether several samples may be
    at such a distance, and whether several are in (y, S).
    """
    here, limit, first, last = work.here, work.limit, work.first, work.last
    in_joint, is_ambiguous, is_counted = work.in_joint, work.is_ambiguous, work.is_counted
    end, n_tied, n_tied_in_joint = distance.size - 1, 0, 0
    for lane in range(LANES):
        value, high = here[lane], work.high[lane]
        left_level, right_level = np.uint64(first[lane]), np.uint64(last[lane])
        left = value - x[PADDING_ + left_level - ONE]
        right = x[PADDING_ + right_level] - value
        next_left = value - x[left_level]
        next_right = x[PADDING_ + right_level + ONE] - value
        nearer = in_joint[lane]
        joint = distance[np.uint64(min(nearer, end))] if nearer <= end else np.inf
        next_joint = distance[np.uint64(min(nearer + 1, end))] if nearer < end else np.inf
        exact = min(left, right, joint)
        at_left, at_right, at_joint = int(left == exact), int(right == exact), int(joint == exact)
        at_next = int(next_joint == exact)
        n_close = int(left <= high) + int(right <= high) + int(joint <= high)
        n_close += int(next_left <= high) + int(next_right <= high) + int(next_joint <= high)
        # More are close than are at the exact distance.
        is_open = int(exact > high) | int(n_close > at_left + at_right + at_joint + at_next)
        is_ambiguous[lane] = is_counted[lane] & (is_open | int(high >= radius))
        is_counted[lane] &= int(exact < rule.max_radius)
        n_tied += int(at_left + at_right + at_joint + at_next > 1)
        n_tied_in_joint += at_next
        if not rule.strict:
            exact = np.nextafter(exact, np.inf)
            first[lane] -= at_left
            last[lane] += at_right
            in_joint[lane] += at_joint
        limit[lane] = exact
    return n_tied > 0, n_tied_in_joint > 0


@njit(**INNER)
def _count_joint_ties(distance, n_scanned, rule, work):
    """Count all samples that are at the exact distance in (y, S); mark limits still ambiguous."""
    above, up_to, widest = work.here, work.counts, largest(work.high, 0)
    while n_scanned < distance.size and distance[n_scanned] <= widest:
        n_scanned += STRIDE
    for lane in range(LANES):
        above[lane] = np.nextafter(work.limit[lane], np.inf) if rule.strict else work.limit[lane]
    _count_sorted(distance[: -(-n_scanned // LANES) * LANES], above, up_to)
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
        batch.level_by_sample[lane], spaces, ranks, 0, which, work
    )


@njit(**INNER)
def _count_sorted(ascending, limits, counts):
    """Count the sorted distances below each lane's limit: groups of 16, then the remainder."""
    n_groups = ascending.size // LANES
    if n_groups > 0:
        count_sorted_below(limits, counts, ascending, n_groups)
    else:
        counts[:] = 0
    rest = ascending[n_groups * LANES :]
    if rest.size > 0:
        for lane in range(LANES):
            if counts[lane] == n_groups * LANES:
                counts[lane] += count_less(limits[lane], rest)


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
        _count_near_given(batch, spaces, ranks, i, work)
    for lane in range(LANES):
        added = weight[in_given[lane]] - weight[counts[lane]]
        sums[lane] += is_counted[lane] * added


@njit(**INLINE)
def _count_in_sorted_given(level_by_given, grid, value, work):
    """Count in S and in (x, S), for one sorted column S."""
    here, begin, end = work.here, work.begin, work.end
    in_given, counts = work.in_given, work.counts
    here[:] = value
    find_intervals(grid, here, work.limit, begin, end)
    for lane in range(LANES):
        begin[lane], end[lane] = grid.rank[begin[lane]], grid.rank[end[lane]]
    row_size = level_by_given.shape[1]
    count_in_intervals(begin, end, work.first, work.last, counts, level_by_given, row_size)
    for lane in range(LANES):
        in_given[lane] = max(end[lane] - begin[lane] - 1, 0)
        counts[lane] = max(counts[lane] - 1, 0)  # without the sample itself


@njit(**INLINE)
def _count_near_given(batch, spaces, ranks, i, work):
    """Count in S and in (x, S) by the lists of S, or by ranks where these end too early."""
    lists, limit, in_given, counts = spaces.given_lists, work.limit, work.in_given, work.counts
    _count_sorted(lists.distance[i], limit, in_given)
    _count_listed(batch.level, lists.sample[i], lists.radius[i], in_given, counts, work)
    first_column = ranks.rank.shape[0] - spaces.given.max_distance.size
    for lane in range(LANES):
        if limit[lane] > lists.radius[i]:
            in_given[lane], counts[lane] = _count_in_box(
                batch.level_by_sample[lane], spaces, ranks, first_column, (i, lane), work
            )


@njit(**INNER)
def _count_listed(levels, samples, radius, sizes, counts, work):
    """Count in every lane those of its first listed samples that are near in x.

    Lanes whose limit is beyond the list radius are left as they are.
    """
    limit, listed, shortest, longest = work.limit, work.listed, samples.size, 0
    for lane in range(LANES):
        size = sizes[lane] if limit[lane] <= radius else 0
        listed[0, lane] = size
        shortest, longest = min(shortest, size), max(longest, size)
    count_listed_in_interval(work.interval, listed, levels, samples[:longest], shortest)
    for lane in range(LANES):
        if limit[lane] <= radius:
            counts[lane] = listed[1, lane]


@njit(**INNER)
def _count_in_box(levels, spaces, ranks, first_column, which, work):
    """Return one lane's counts in (y, S), from a column on, and in that with x."""
    i, lane = which
    limit, is_near, near = work.limit[lane], work.is_near, 0
    is_near[:] = 1
    for column in range(first_column, ranks.rank.shape[0]):
        here = spaces.joint.values[column, i]
        first, last = interval_around(ranks.ascending[column], here, limit)
        near = _keep_within(first, last, ranks.rank[column], is_near)
    both = _keep_within(work.first[lane], work.last[lane], levels, is_near)
    return max(near - 1, 0), max(both - 1, 0)  # without the sample itself


@njit(**INNER)
def _keep_within(first, last, rank, is_near):
    """Set to 0 where the rank is not in an interval; return the number of ones.

    All numbers have the few bits of a rank, so that many fit into a vector.
    """
    kind = is_near.dtype.type
    start, width, total = kind(first), kind(max(last - first, 0)), kind(0)
    for j in range(is_near.size):
        is_near[j] &= kind(kind(rank[j] - start) < width)
        total = kind(total + is_near[j])
    return np.int64(total)
