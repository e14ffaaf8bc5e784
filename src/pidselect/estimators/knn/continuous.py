"""Fast nearest-neighbour kernel for continuous columns of which hardly any two values coincide.

It gives the values of `score_general`, for a candidate of one column, from numbers of fewer bits.
32-bit distances bound the distance of the k-th neighbour; usually exactly one sample lies within
the bounds in x or in (y, S), and its exact distance is the radius. Otherwise the radius is computed
from exact distances. Whether a sample is near in x then follows from its rank in x, a number of
16 bits, or of 32 for many samples.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.estimators.knn.general import STRIDE, CountingRule, TargetSpaces
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
    count_near_in_interval,
    count_sorted_below,
    insert_smallest,
)
from pidselect.estimators.knn.spaces import (
    INLINE,
    INNER,
    FloatArray,
    NeighbourBuffer,
    count_less,
    insert,
    list_within,
    new_buffer,
    point_distance,
    sort_order,
)
from pidselect.jit import njit

#: Number of samples up to which ranks fit into 16 bits.
MAX_UINT16_SAMPLES = 2**16 - 1

#: Minimum length of lists in (y, S).
MIN_LIST = LANES

#: Relative rounding error of 32-bit numbers, and a bound on that of subnormal ones.
ROUNDING, SUBNORMAL = 2.0**-24, 2.0**-147


#: Share of distinct values from which a column has hardly any ties.
MIN_DISTINCT = 0.9

#: Largest number for 32-bit distances.
MAX_FLOAT32 = 1e30


class ContinuousCandidates(NamedTuple):
    """Candidates of one column each: values and order, (n_candidates, n_samples)."""

    values: FloatArray
    order: NDArray[np.int32]  # the samples in ascending order of their values


class SurrogateBatch32(NamedTuple):
    """Permutations of a candidate of one column, one per lane."""

    observed_rank: NDArray[Any]  # (n_samples,): without a permutation
    x: NDArray[np.float32]  # (n_samples, lanes)
    rank: NDArray[Any]  # (n_samples, lanes): of each sample
    sample: NDArray[np.int32]  # (lanes, n_samples): by rank
    rank_by_given: NDArray[Any]  # (lanes, n_samples + WIDTH): ranks sorted by S, if one column


class GridIndexes(NamedTuple):
    """The sorted values of x and, if it is one column, of S."""

    x: GridIndex
    given: GridIndex


class Workspace32(NamedTuple):
    """Buffers reused for every sample; arrays are by lane unless stated."""

    nearest: NDArray[np.float32]  # (k, lanes): the smallest distances, ascending
    exact: FloatArray  # (k,): the same for one lane, exactly
    here: FloatArray  # value of the sample
    limit: FloatArray  # distances below this are counted
    is_ambiguous: NDArray[np.bool_]  # whether 32-bit distances leave the limit open
    first: NDArray[np.int64]  # interval of ranks of x
    last: NDArray[np.int64]
    begin: NDArray[np.int64]  # interval of ranks of S, if it is one column
    end: NDArray[np.int64]
    in_joint: NDArray[np.int64]  # count in (y, S)
    in_given: NDArray[np.int64]  # count in S
    counts: NDArray[np.int64]  # count in (x, S)
    sums: NDArray[np.int64]  # sum of weights
    interval: NDArray[Any]  # (2, lanes): start and length of the interval of x
    small_counts: NDArray[Any]  # (2, lanes): counts in S and in (x, S)
    found: NeighbourBuffer


def new_workspace(n_samples: int, k: int, rank_type: type[np.unsignedinteger]) -> Workspace32:
    """Allocate the buffers."""
    first, last, begin, end, in_joint, in_given, counts, sums = np.empty((8, LANES), dtype=np.int64)
    return Workspace32(
        np.empty((k, LANES), dtype=np.float32),
        np.empty(k),
        np.empty(LANES),
        np.empty(LANES),
        np.empty(LANES, dtype=np.bool_),
        first,
        last,
        begin,
        end,
        in_joint,
        in_given,
        counts,
        sums,
        np.empty((2, LANES), dtype=rank_type),
        np.empty((2, LANES), dtype=rank_type),
        new_buffer(n_samples),
    )


def continuous_order(values: FloatArray) -> NDArray[np.int32]:
    """Return the samples in ascending order of their values; none if the kernel is not for these.

    Values must be numbers with hardly any ties that fit into 32 bits. With many ties, exact
    distances would be needed nearly always.
    """
    order = sort_order(values)
    ascending = values[order]
    n_distinct = 1 + np.count_nonzero(ascending[1:] != ascending[:-1])
    fits = -MAX_FLOAT32 < ascending[0] <= ascending[-1] < MAX_FLOAT32
    return order if fits and n_distinct >= MIN_DISTINCT * len(order) else order[:0]


def score_continuous(
    candidates: ContinuousCandidates,
    rows: NDArray[np.int32],
    spaces: TargetSpaces,
    rule: CountingRule,
    rank_type: type[np.unsignedinteger] | None = None,
) -> NDArray[np.int64]:
    """Return the sum of the weights of candidate c in permutation ``rows[m]`` as ``[c, m]``.

    Ranks have the smallest type that holds them, or the stated one.
    """
    n_samples, n_given = rows.shape[1], len(spaces.given_sorted.ascending)
    if rank_type is None:
        rank_type = np.uint16 if n_samples <= MAX_UINT16_SAMPLES else np.uint32
    batch = SurrogateBatch32(
        np.empty(n_samples, dtype=rank_type),
        np.empty((n_samples, LANES), dtype=np.float32),
        np.empty((n_samples, LANES), dtype=rank_type),
        np.empty((LANES, n_samples), dtype=np.int32),
        np.empty((LANES, n_given + WIDTH if n_given else 0), dtype=rank_type),
    )
    grids = GridIndexes(new_grid(np.empty(n_samples)), new_grid(spaces.given_sorted.ascending))
    work = new_workspace(n_samples, rule.k, rank_type)
    sums = np.empty((len(candidates.values), len(rows)), dtype=np.int64)
    sum_continuous(candidates, rows, spaces, rule, grids, batch, work, sums)
    return sums


@njit(**INNER)
def sum_continuous(candidates, rows, spaces, rule, grids, batch, work, sums):
    """Score all candidates in all permutations, LANES at a time."""
    of_given = fill_grid(grids.given)
    for c in range(sums.shape[0]):
        values, order = candidates.values[c], candidates.order[c]
        for rank in range(order.size):
            batch.observed_rank[order[rank]] = rank
            grids.x.values[PADDING + rank] = values[order[rank]]
        of_values = GridIndexes(fill_grid(grids.x), of_given)
        for start in range(0, rows.shape[0], LANES):
            _fill(values, rows[start : start + LANES], spaces, batch)
            work.sums[:] = 0
            for i in range(rows.shape[1]):
                n_scanned = _find_nearest(batch, spaces, i, work.nearest)
                _find_limits(batch, of_values, spaces, rule, (i, n_scanned), work)
                _count_given(batch, of_values, spaces, rule, i, work)
            for lane in range(min(LANES, rows.shape[0] - start)):
                sums[c, start + lane] = work.sums[lane]


@njit(**INLINE)
def _fill(values, rows, spaces, batch):
    """Set every lane to a permutation of the candidate; lanes without one repeat the last."""
    for lane in range(LANES):
        row = rows[min(lane, rows.shape[0] - 1)]
        for i in range(row.size):
            rank = batch.observed_rank[row[i]]
            batch.x[i, lane] = values[row[i]]
            batch.rank[i, lane] = rank
            batch.sample[lane, rank] = i
        for t in range(spaces.given_sorted.sample.size):
            batch.rank_by_given[lane, t] = batch.rank[spaces.given_sorted.sample[t], lane]


@njit(**INLINE)
def _find_nearest(batch, spaces, i, nearest):
    """Fill `nearest` with the k smallest 32-bit distances in (x, y, S) of every lane.

    Return the number of listed samples scanned; those after are no nearer than any lane's k-th.
    """
    k = nearest.shape[0]
    sample, distance = spaces.joint_lists.sample[i], spaces.joint_lists.distance[i]
    nearest[:] = np.inf
    widest, t = np.float32(np.inf), 0
    while t < sample.size and distance[t] < widest:
        near, base_distance = sample[t : t + STRIDE], distance[t : t + STRIDE]
        if k == 4:
            widest = insert_smallest(nearest, 4, batch.x, i, None, near, base_distance)
        else:
            widest = insert_smallest(nearest, k, batch.x, i, None, near, base_distance)
        t += STRIDE
    return min(t, sample.size)


@njit(**INLINE)
def _find_limits(batch, grids, spaces, rule, point, work):
    """Find every lane's limit and interval of x, and subtract the weight of its count in (y, S).

    Without `strict`, add the weight of the count in (x, y, S).
    """
    i, n_scanned = point
    here, low, in_joint = work.here, work.limit, work.in_joint
    _set_lower_bounds(grids.x.values, batch.rank[i], work.nearest[rule.k - 1], here, low)
    distance, radius = spaces.joint_lists.distance[i], spaces.joint_lists.radius[i]
    # Those behind the scanned ones are not below a bound: whole groups take less time.
    _count_sorted(distance[: -(-n_scanned // LANES) * LANES], low, in_joint)
    find_intervals(grids.x, here, low, work.first, work.last)
    _resolve_limits(grids.x.values, distance, radius, rule.strict, work)
    weight, sums, is_ambiguous = rule.weight, work.sums, work.is_ambiguous
    for lane in range(LANES):
        if is_ambiguous[lane]:
            _resolve_exactly(batch, grids, spaces, rule, (i, lane), work)
        elif not rule.strict:
            sums[lane] += weight[rule.k]
        sums[lane] -= weight[in_joint[lane]]


@njit(**INLINE)
def _set_lower_bounds(x, ranks, kth, here, low):
    """Write each lane's value of x and a lower bound of its k-th neighbour's distance."""
    for lane in range(LANES):
        value, about = x[PADDING_ + ranks[lane]], np.float64(kth[lane])
        here[lane] = value
        error = ROUNDING * (2.0 * abs(value) + 4.0 * about) + SUBNORMAL
        low[lane] = about - error if about < np.inf else 0.0  # fewer than k are listed


@njit(**INLINE)
def _resolve_limits(x, distance, radius, strict, work):
    """Set exact limits where it is clear which sample is the k-th neighbour; mark other lanes.

    Possible ones are adjacent to those certainly nearer: on either side in x, or next in (y, S).
    Of several at the same distance any is, unless those up to the distance are to be counted. All
    are evaluated, since branches would be mispredicted.
    """
    kth, here, limit, first, last = work.nearest[-1], work.here, work.limit, work.first, work.last
    in_joint, is_ambiguous, end = work.in_joint, work.is_ambiguous, distance.size - 1
    for lane in range(LANES):
        value, low = here[lane], limit[lane]
        high = 2.0 * np.float64(kth[lane]) - low
        left_rank, right_rank = np.uint64(first[lane]), np.uint64(last[lane])
        left = value - x[PADDING_ + left_rank - ONE]
        right = x[PADDING_ + right_rank] - value
        next_left = value - x[left_rank]
        next_right = x[PADDING_ + right_rank + ONE] - value
        nearer = in_joint[lane]
        joint = distance[np.uint64(min(nearer, end))] if nearer <= end else np.inf
        next_joint = distance[np.uint64(min(nearer + 1, end))] if nearer < end else np.inf
        exact = min(left, right, joint)
        tied = exact if strict else -np.inf
        n_close = (
            (int(left <= high) & int(left != tied))
            + (int(right <= high) & int(right != tied))
            + (int(joint <= high) & int(joint != tied))
        )
        is_open = int(exact > high) | (n_close > int(not strict))
        is_open |= int(min(next_left, next_right, next_joint) <= high)
        is_ambiguous[lane] = is_open | int(low <= 0.0) | int(high >= radius)
        if not strict:
            exact = np.nextafter(exact, np.inf)
            first[lane] -= int(left < exact)
            last[lane] += int(right < exact)
            in_joint[lane] += int(joint < exact)
        limit[lane] = exact


@njit(**INLINE)
def _resolve_exactly(batch, grids, spaces, rule, which, work):
    """Compute an ambiguous lane by exact distances; add the weight of its count in (x, y, S)."""
    i, lane = which
    lists = spaces.joint_lists
    radius = _exact_radius(batch, grids.x.values, spaces, work.exact, which)
    limit = radius if rule.strict else np.nextafter(radius, np.inf)
    first, last = find_interval(grids.x, work.here[lane], limit)
    work.in_joint[lane] = count_less(limit, lists.distance[i])
    if limit > lists.radius[i]:
        work.in_joint[lane] = list_within(spaces.joint, spaces.joint_boxes, i, limit, work.found)
    work.limit[lane], work.first[lane], work.last[lane] = limit, first, last
    if not rule.strict:
        points, max_distance = spaces.joint_points, spaces.joint.max_distance
        nearer = 0
        for rank in range(first, last):
            j = batch.sample[lane, rank]
            nearer += int(point_distance(points, max_distance, i, j) < limit)
        work.sums[lane] += rule.weight[max(nearer - 1, 0)]  # without the sample itself


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
def _exact_radius(batch, values, spaces, nearest, which):
    """Return the exact distance of one lane's k-th neighbour."""
    i, lane = which
    x, lists = values[PADDING:], spaces.joint_lists
    k, here = nearest.size, x[batch.rank[i, lane]]
    nearest[:] = np.inf
    for t in range(lists.sample.shape[1]):
        if lists.distance[i, t] >= nearest[k - 1]:
            break
        step = abs(x[batch.rank[lists.sample[i, t], lane]] - here)
        insert(max(step, lists.distance[i, t]), nearest)
    if nearest[k - 1] <= lists.radius[i]:
        return nearest[k - 1]
    nearest[:] = np.inf
    points, sample_at = spaces.joint_points, batch.sample[lane]
    below = np.int64(batch.rank[i, lane]) - 1
    above = below + 2
    for _ in range(sample_at.size - 1):
        down, up = here - values[PADDING + below], x[above] - here
        step = min(down, up)
        if step >= nearest[k - 1]:
            break
        if down <= up:
            j = sample_at[below]
            below -= 1
        else:
            j = sample_at[above]
            above += 1
        insert(max(step, point_distance(points, spaces.joint.max_distance, i, j)), nearest)
    return nearest[k - 1]


@njit(**INLINE)
def _count_given(batch, grids, spaces, rule, i, work):
    """Add the weights of the counts in S, and subtract those of the counts in (x, S)."""
    weight, sums, first, last = rule.weight, work.sums, work.first, work.last
    in_given, counts = work.in_given, work.counts
    if spaces.given.max_distance.size == 0:
        for lane in range(LANES):
            sums[lane] += weight[weight.size - 1] - weight[max(last[lane] - first[lane] - 1, 0)]
        return
    if spaces.given_sorted.ascending.size > 0:
        _count_in_sorted_given(batch.rank_by_given, grids.given, spaces.given.values[0, i], work)
    else:
        _count_listed(batch, spaces, i, work)
    for lane in range(LANES):
        sums[lane] += weight[in_given[lane]] - weight[counts[lane]]


@njit(**INLINE)
def _count_in_sorted_given(rank_by_given, grid, value, work):
    """Count in S and in (x, S), for one sorted column S."""
    here, begin, end = work.here, work.begin, work.end
    in_given, counts = work.in_given, work.counts
    here[:] = value
    find_intervals(grid, here, work.limit, begin, end)
    row_size = rank_by_given.shape[1]
    count_in_intervals(begin, end, work.first, work.last, counts, rank_by_given, row_size)
    for lane in range(LANES):
        in_given[lane] = max(end[lane] - begin[lane] - 1, 0)
        counts[lane] = max(counts[lane] - 1, 0)  # without the sample itself


@njit(**INLINE)
def _count_listed(batch, spaces, i, work):
    """Count in S and in (x, S) by the lists of S, or by a search where these end too early."""
    lists, limit, in_given, counts = spaces.given_lists, work.limit, work.in_given, work.counts
    interval, small_counts = work.interval, work.small_counts
    widest = limit[0]
    for lane in range(LANES):
        interval[0, lane] = work.first[lane]
        interval[1, lane] = max(work.last[lane] - work.first[lane], 0)
        widest = max(widest, limit[lane])
    if widest > lists.radius[i]:
        found = work.found
        size = list_within(spaces.given, spaces.given_boxes, i, widest, found)
        near = found.sample[:size]
        count_near_in_interval(
            limit, interval, small_counts, batch.rank, near, found.distance[:size]
        )
        for lane in range(LANES):
            in_given[lane] = small_counts[0, lane]
    else:
        _count_sorted(lists.distance[i], limit, in_given)
        shortest, longest = in_given[0], in_given[0]
        for lane in range(LANES):
            small_counts[0, lane] = in_given[lane]
            shortest, longest = min(shortest, in_given[lane]), max(longest, in_given[lane])
        count_listed_in_interval(
            interval, small_counts, batch.rank, lists.sample[i, :longest], shortest
        )
    for lane in range(LANES):
        counts[lane] = small_counts[1, lane]
