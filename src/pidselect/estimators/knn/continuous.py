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

from pidselect.estimators.knn.general import STRIDE, has_fewer_within
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
from pidselect.estimators.knn.spaces import (
    INLINE,
    INNER,
    LANES,
    SLOTS,
    CountingRule,
    FloatArray,
    RankedColumns,
    SingleColumns,
    TargetSpaces,
    count_less,
    count_sorted_below,
    insert,
    insert_in_lanes,
    interval_around,
    largest,
    point_distance,
)
from pidselect.jit import njit

#: Bytes of batches processed together, about, and of one sample of a permutation.
BATCH_BYTES, SAMPLE_BYTES = 2**23, 8

#: Samples of which the lists stay in the cache.
CACHED_SAMPLES = 16

#: Relative rounding error of 32-bit numbers, and a bound on that of subnormal ones.
ROUNDING, SUBNORMAL = 2.0**-24, 2.0**-147

#: What lanes with ties in (y, S) add to the number of lanes with ties.
TIED_IN_JOINT = 2 * LANES

#: The first column of (y, S); with a literal a function would be compiled once more.
FIRST = np.int64(0)


class SurrogateBatch32(NamedTuple):
    """Permutations of a candidate of one column, one per lane; or several batches of them."""

    x: NDArray[np.float32]  # (n_samples, lanes)
    level: NDArray[Any]  # (n_samples, lanes): of each sample
    level_by_sample: NDArray[Any]  # (lanes, n_samples): `level`, transposed
    level_by_given: NDArray[Any]  # (lanes, n_samples): sorted by S, if one column


class GridIndexes(NamedTuple):
    """The sorted values of x and, if it is one column, of S."""

    x: GridIndex
    given: GridIndex


class Workspace32(NamedTuple):
    """Buffers reused for every sample; arrays are by lane unless stated."""

    observed: NDArray[Any]  # (n_samples,): the level of each sample without a permutation
    nearest: NDArray[np.float32]  # rows of lanes: SLOTS smallest distances, two larger, the others
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
    added: NDArray[np.int64]  # sum of weights of the sample
    sums: NDArray[np.int64]  # of all samples
    listed: NDArray[Any]  # rows of lanes: start and length of the interval of x, samples, count
    is_near: NDArray[Any]  # (n_samples,): 1 where a sample is near, else 0


def new_workspace(n_samples: int, k: int, level_type: type[np.unsignedinteger]) -> Workspace32:
    """Allocate the buffers."""
    buffers = (
        np.empty(n_samples, dtype=level_type),
        np.empty((2 + -(-k // SLOTS) * SLOTS) * LANES, dtype=np.float32),
        np.empty(k),
        *np.empty((4, LANES)),
        np.empty(LANES, dtype=np.bool_),
        *np.empty((11, LANES), dtype=np.int64),
        np.empty(4 * LANES, dtype=level_type),
        np.empty(n_samples, dtype=level_type),
    )
    return Workspace32._make(buffers)


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
        np.empty((n_batches, LANES, n_samples), dtype=level_type),
        np.empty((n_batches, LANES, n_samples if len(given) else 0), dtype=level_type),
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
    lists, of_given, all_open = spaces.joint_lists, fill_grid(grids.given), is_open.shape[0] == 0
    for c in range(sums.shape[0]):
        values = candidates.values[c]
        filled = GridIndexes(_fill_x(values, candidates.order[c], grids.x, work), of_given)
        for start in range(0, n_rows, n_batches * LANES):
            end = min(start + n_batches * LANES, n_rows)
            _fill(values, rows[start:end], spaces, work.observed, batches)
            # Lists of a few samples stay in the cache for all batches.
            for some in range(0, n_samples, CACHED_SAMPLES):
                for first in range(start, end, LANES):
                    place = (first - start) // LANES
                    batch = SurrogateBatch32(
                        batches.x[place],
                        batches.level[place],
                        batches.level_by_sample[place],
                        batches.level_by_given[place],
                    )
                    for lane in range(LANES):
                        work.sums[lane] = 0
                    for i in range(some, min(some + CACHED_SAMPLES, n_samples)):
                        if has_fewer_within(rule.max_radius, lists, rule.k, i):
                            continue
                        if not _set_open(is_open, first, i, work.is_counted):
                            continue
                        n_scanned = _find_nearest(batch, spaces, rule, i, all_open, work)
                        x, radius = filled.x.values, lists.radius[i]
                        if _set_bounds(x, batch.level[i], radius, rule, work):
                            _find_limits(batch, filled, spaces, ranks, rule, (i, n_scanned), work)
                            _count_given(batch, filled, spaces, ranks, rule, i, work)
                            for lane in range(LANES):
                                work.sums[lane] += work.is_counted[lane] * work.added[lane]
                    for lane in range(min(LANES, n_rows - first)):
                        sums[c, first + lane] += work.sums[lane]


@njit(**INLINE)
def _fill_x(values, order, grid, work):
    """Return the grid index of a candidate; write the level of each sample."""
    for rank in range(order.size):
        grid.values[PADDING + rank] = values[order[rank]]
    filled = fill_grid(grid)
    for level in range(filled.rank.size - 1):
        for rank in range(filled.rank[level], filled.rank[level + 1]):
            work.observed[order[rank]] = level
    return filled


@njit(**INLINE)
def _fill(values, rows, spaces, observed, batches):
    """Set every lane to a permutation of the candidate; lanes without one repeat the last."""
    for m in range(-(-rows.shape[0] // LANES) * LANES):
        place, lane, row = m // LANES, m % LANES, rows[min(m, rows.shape[0] - 1)]
        levels, by_given = batches.level_by_sample[place, lane], batches.level_by_given[place, lane]
        for i in range(row.size):
            batches.x[place, i, lane] = values[row[i]]
            batches.level[place, i, lane] = levels[i] = observed[row[i]]
        for t in range(spaces.given_sorted.sample.size):
            by_given[t] = levels[spaces.given_sorted.sample[t]]


@njit(**INNER)
def _set_open(is_open, start, i, is_counted):
    """Set in which lanes a sample is to be counted; return whether it is in any."""
    if is_open.shape[0] == 0:
        for lane in range(LANES):
            is_counted[lane] = 1
        return True
    n_open = 0
    for lane in range(LANES):
        is_counted[lane] = int(is_open[min(start + lane, is_open.shape[0] - 1), i])
        n_open += is_counted[lane]
    return n_open > 0


@njit(**INLINE)
def _find_nearest(batch, spaces, rule, i, all_open, work):
    """Fill `nearest` with the k smallest 32-bit distances in (x, y, S) of every lane.

    Return the number of listed samples scanned; those after are no nearer than any lane's k-th.
    """
    nearest = work.nearest
    sample, distance = spaces.joint_lists.sample[i], spaces.joint_lists.distance[i]
    # More than the maximum radius, so that rounding errors do not matter.
    widest, t = np.float32(2.0 * rule.max_radius), 0
    kth = nearest[_first_of(rule.k) :]
    nearest[:] = widest
    if not all_open:
        for lane in range(LANES):
            if work.is_counted[lane] == 0:
                nearest[lane::LANES] = 0.0
    while t < sample.size and distance[t] < widest:
        _insert_nearest(batch.x, i, sample[t : t + STRIDE], distance[t : t + STRIDE], work)
        widest = largest(kth)
        t += STRIDE
    return min(t, sample.size)


@njit(**INLINE)
def _first_of(k):
    """Return where the k-th smallest distances begin."""
    return (k - 1 if k <= SLOTS else k + 1) * LANES


@njit(**INNER)
def _insert_nearest(x, i, sample, distance, work):
    """Insert the distances of samples to i into the smallest ones of every lane.

    Two samples and SLOTS rows at a time: of less work compilers would make no vectors.
    """
    nearest, here, last = work.nearest, x[i], sample.size - 1
    rows, beyond = nearest[: (SLOTS + 2) * LANES], nearest[(SLOTS + 2) * LANES :]
    for t in range(0, sample.size, 2):
        there, base = x[sample[t]], np.float32(distance[t])
        other = x[sample[min(t + 1, last)]]
        base_other = np.float32(distance[t + 1] if t < last else np.inf)
        for lane in range(LANES):
            value = here[lane]
            a = max(abs(there[lane] - value), base)
            b = max(abs(other[lane] - value), base_other)
            old = rows[lane]
            less, a = min(a, old), max(a, old)
            rows[lane], b = min(b, less), max(b, less)
            old = rows[LANES + lane]
            less, a = min(a, old), max(a, old)
            rows[LANES + lane], b = min(b, less), max(b, less)
            old = rows[2 * LANES + lane]
            less, a = min(a, old), max(a, old)
            rows[2 * LANES + lane], b = min(b, less), max(b, less)
            old = rows[3 * LANES + lane]
            less, a = min(a, old), max(a, old)
            rows[3 * LANES + lane], b = min(b, less), max(b, less)
            rows[4 * LANES + lane], rows[5 * LANES + lane] = a, b
        if beyond.size > 0:
            insert_in_lanes(rows[4 * LANES : 5 * LANES], beyond)
            insert_in_lanes(rows[5 * LANES : 6 * LANES], beyond)


@njit(**INLINE)
def _set_bounds(x, levels, list_radius, rule, work):
    """Write each lane's value of x and bounds of its k-th neighbour's distance.

    Return whether the distance may be less than the maximum radius in any.
    """
    kth, here, low, high = work.nearest[_first_of(rule.k) :], work.here, work.low, work.high
    for lane in range(LANES):
        value, about = x[PADDING_ + levels[lane]], np.float64(kth[lane])
        here[lane] = value
        error = ROUNDING * (2.0 * abs(value) + 4.0 * about) + SUBNORMAL
        # Fewer than k may be listed.
        low[lane] = max(about - error, 0.0) if about < np.inf else 0.0
        high[lane] = about + error
    if rule.max_radius == np.inf:
        return True
    some = 0
    for lane in range(LANES):
        work.is_counted[lane] &= int(min(low[lane], list_radius) < rule.max_radius)
        some += work.is_counted[lane]
    return some > 0


@njit(**INLINE)
def _find_limits(batch, grids, spaces, ranks, rule, point, work):
    """Find every lane's limit and interval of x; set the negative weight of its count in (y, S).

    Without `strict`, add the weight of the count in (x, y, S).
    """
    i, n_scanned = point
    lists, weight, added, in_joint = spaces.joint_lists, rule.weight, work.added, work.in_joint
    distance, radius = lists.distance[i], lists.radius[i]
    count_sorted_below(distance[:n_scanned], work.low, in_joint)  # others are not below a bound
    find_intervals(grids.x, work.here, work.low, work.first, work.last)
    n_tied = _resolve_limits(grids.x.values, distance, radius, rule, work)
    if n_tied >= TIED_IN_JOINT:
        _count_joint_ties(distance, n_scanned, rule, work)
    # Without ties one sample is at the distance of the k-th neighbour, and k are counted.
    has_ties = n_tied > 0 or grids.x.rank.size <= batch.level.shape[0]
    joint, is_beyond = (lists, spaces.joint_points, spaces.joint.max_distance), False
    for lane in range(LANES):
        if work.is_ambiguous[lane]:
            levels = batch.level_by_sample[lane]
            _resolve_exactly(levels, grids.x, joint, rule, (i, lane), work)
            has_ties = True
            is_beyond |= work.limit[lane] > radius
        if work.is_counted[lane] == 0:
            work.limit[lane], in_joint[lane] = 0.0, 0
            work.first[lane] = work.last[lane] = 0
    if is_beyond or (has_ties and not rule.strict):
        _count_near(
            batch, lists, ranks, spaces.joint.values, (i, FIRST), in_joint, work.in_all, work
        )
    for lane in range(LANES):
        added[lane] = -weight[in_joint[lane]]
    if not rule.strict:
        for lane in range(LANES):
            added[lane] += weight[work.in_all[lane] if has_ties else rule.k]


@njit(**INLINE)
def _resolve_limits(x, distance, radius, rule, work):
    """Set exact limits where only one distance lies within the bounds; mark others as ambiguous.

    Possible ones are adjacent to those certainly nearer: on either side in x, or next in (y, S).
    All are evaluated, since branches would be mispredicted. Return 0 if no two samples are at an
    exact distance, and TIED_IN_JOINT or more if two in (y, S) are, which is all `strict` needs.
    """
    here = work.here
    limit = work.limit
    first = work.first
    last = work.last
    in_joint = work.in_joint
    is_ambiguous = work.is_ambiguous
    is_counted = work.is_counted
    end, n_tied = distance.size - 1, 0
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
        # The nearest of those that are not at the exact distance.
        other = min(
            left if left > exact else np.inf,
            right if right > exact else np.inf,
            joint if joint > exact else np.inf,
            next_joint if next_joint > exact else np.inf,
            next_left,
            next_right,
        )
        is_open = int(exact > high) | int(high >= radius) | int(other <= high)
        is_ambiguous[lane] = is_counted[lane] & is_open
        is_counted[lane] &= int(exact < rule.max_radius)
        n_tied += TIED_IN_JOINT * int(next_joint == exact)
        if not rule.strict:
            at_left, at_right, at_joint = left == exact, right == exact, joint == exact
            n_tied += int(int(at_left) + int(at_right) + int(at_joint) > 1)
            exact = np.nextafter(exact, np.inf)
            first[lane] -= int(at_left)
            last[lane] += int(at_right)
            in_joint[lane] += int(at_joint)
        limit[lane] = exact
    return n_tied


@njit(**INNER)
def _count_joint_ties(distance, n_scanned, rule, work):
    """Count all samples that are at the exact distance in (y, S); mark limits still ambiguous."""
    above, up_to, widest = work.here, work.counts, largest(work.high)
    while n_scanned < distance.size and distance[n_scanned] <= widest:
        n_scanned += STRIDE
    for lane in range(LANES):
        above[lane] = np.nextafter(work.limit[lane], np.inf) if rule.strict else work.limit[lane]
    count_sorted_below(distance[:n_scanned], above, up_to)
    for lane in range(LANES):
        following = distance[min(up_to[lane], distance.size - 1)]
        is_close = (up_to[lane] < distance.size) & (following <= work.high[lane])
        work.is_ambiguous[lane] |= is_close & (work.is_counted[lane] == 1)
        if not rule.strict:
            work.in_joint[lane] = up_to[lane]


@njit(**INNER)
def _resolve_exactly(levels, grid, joint, rule, which, work):
    """Compute the limit of an ambiguous lane by exact distances, and count in listed (y, S)."""
    i, lane = which
    lists, points, max_distance = joint
    x, nearest, low, high = grid.values, work.exact, work.low[lane], work.high[lane]
    here, farthest = x[PADDING_ + levels[i]], nearest.size - 1
    distance, samples, list_radius = lists.distance[i], lists.sample[i], lists.radius[i]
    for slot in range(nearest.size):
        nearest[slot] = np.inf
    for t in range(samples.size):
        if max(distance[t], low) >= min(nearest[farthest], list_radius):
            break
        insert(max(abs(x[PADDING_ + levels[samples[t]]] - here), distance[t]), nearest)
    if nearest[farthest] > list_radius:
        for slot in range(nearest.size):
            nearest[slot] = np.inf
        for j in range(levels.size):
            step = abs(x[PADDING_ + levels[j]] - here)
            if step <= high and step < nearest[farthest] and j != i:
                insert(max(step, point_distance(points, max_distance, i, j)), nearest)
    radius = nearest[farthest]
    limit = radius if rule.strict else np.nextafter(radius, np.inf)
    work.is_counted[lane] = int(radius < rule.max_radius)
    work.limit[lane] = limit
    work.first[lane], work.last[lane] = find_interval(grid, here, limit)
    work.in_joint[lane] = count_less(limit, distance)


@njit(**INLINE)
def _count_given(batch, grids, spaces, ranks, rule, i, work):
    """Add the weights of the counts in S, and subtract those of the counts in (x, S)."""
    weight = rule.weight
    added = work.added
    first = work.first
    last = work.last
    in_given = work.in_given
    counts = work.counts
    rank = grids.x.rank
    if spaces.given.max_distance.size == 0:
        for lane in range(LANES):
            in_x = rank[last[lane]] - rank[first[lane]] - 1
            added[lane] += weight[weight.size - 1] - weight[max(in_x, 0)]
        return
    if spaces.given_sorted.ascending.size > 0:
        _count_in_sorted_given(batch.level_by_given, grids.given, spaces.given.values[0, i], work)
    else:
        lists, first_column = spaces.given_lists, ranks.rank.shape[0] - spaces.given.values.shape[0]
        count_sorted_below(lists.distance[i], work.limit, in_given)
        _count_near(
            batch, lists, ranks, spaces.joint.values, (i, first_column), in_given, counts, work
        )
    for lane in range(LANES):
        added[lane] += weight[in_given[lane]] - weight[counts[lane]]


@njit(**INLINE)
def _count_in_sorted_given(level_by_given, grid, value, work):
    """Count in S and in (x, S), for one sorted column S."""
    here, begin, end = work.here, work.begin, work.end
    in_given, counts = work.in_given, work.counts
    for lane in range(LANES):
        here[lane] = value
    find_intervals(grid, here, work.limit, begin, end)
    for lane in range(LANES):
        begin[lane], end[lane] = grid.rank[begin[lane]], grid.rank[end[lane]]
    kind = level_by_given.dtype.type
    for lane in range(LANES):
        levels = level_by_given[lane, begin[lane] : max(end[lane], begin[lane])]
        first, width = kind(work.first[lane]), kind(max(work.last[lane] - work.first[lane], 0))
        inside = kind(0)
        for t in range(levels.size):
            inside = kind(inside + int(kind(levels[t] - first) < width))
        in_given[lane] = max(end[lane] - begin[lane] - 1, 0)
        counts[lane] = max(np.int64(inside) - 1, 0)  # without the sample itself


@njit(**INNER)
def _count_near(batch, lists, ranks, values, point, near, both, work):
    """Count in every lane the samples near in x as well, by lists of the columns from one on.

    Each lane's first ``near`` listed samples are near in these columns. Where its limit is beyond
    the list radius, both numbers are counted by ranks.
    """
    i, first_column = point
    samples, radius, limit = lists.sample[i], lists.radius[i], work.limit
    listed, longest = work.listed, 0
    for lane in range(LANES):
        size = near[lane] if limit[lane] <= radius else 0
        listed[lane] = work.first[lane]
        listed[LANES + lane] = max(work.last[lane] - work.first[lane], 0)
        listed[2 * LANES + lane] = size
        listed[3 * LANES + lane] = 0
        longest = max(longest, size)
    _count_listed(batch.level, samples[:longest], listed)
    for lane in range(LANES):
        both[lane] = listed[3 * LANES + lane]
        if limit[lane] > radius:
            near[lane], both[lane] = _count_in_box(
                batch.level_by_sample[lane], ranks, values, (i, first_column, lane), work
            )


@njit(**INNER)
def _count_listed(level, samples, listed):
    """Count in every lane those of its first samples that are in its interval.

    Four samples at a time: of less work compilers would make no vectors.
    """
    kind, last = level.dtype.type, samples.size - 1
    for t in range(0, samples.size, 4):
        a, b = level[samples[t]], level[samples[min(t + 1, last)]]
        c, d = level[samples[min(t + 2, last)]], level[samples[min(t + 3, last)]]
        second, third, fourth = kind(t + 1), kind(t + 2), kind(t + 3)
        for lane in range(LANES):
            start, width, size = listed[lane], listed[LANES + lane], listed[2 * LANES + lane]
            n = int(kind(a[lane] - start) < width) & int(kind(t) < size)
            n += int(kind(b[lane] - start) < width) & int(second < size)
            n += int(kind(c[lane] - start) < width) & int(third < size)
            n += int(kind(d[lane] - start) < width) & int(fourth < size)
            listed[3 * LANES + lane] = kind(listed[3 * LANES + lane] + n)


@njit(**INLINE)
def _count_in_box(levels, ranks, values, which, work):
    """Return one lane's counts in the columns of (y, S) from one on, and in these with x.

    All numbers have the few bits of a rank, so that many fit into a vector.
    """
    i, first_column, lane = which
    is_near, n_columns, kind = work.is_near, ranks.rank.shape[0], work.is_near.dtype.type
    near = both = np.int64(0)
    for j in range(is_near.size):
        is_near[j] = 1
    for column in range(first_column, n_columns + 1):
        rank, first, last, near = levels, work.first[lane], work.last[lane], both
        if column < n_columns:
            rank, here = ranks.rank[column], values[column, i]
            first, last = interval_around(ranks.ascending[column], here, work.limit[lane])
        start, width, total = kind(first), kind(max(last - first, 0)), kind(0)
        for j in range(is_near.size):
            is_near[j] &= kind(kind(rank[j] - start) < width)
            total = kind(total + is_near[j])
        both = np.int64(total)
    return max(near - 1, 0), max(both - 1, 0)  # without the sample itself
