"""The nearest-neighbour kernel for numbers of which hardly any two coincide.

It gives what `score_columns` gives, for a candidate of one column, from narrower numbers. Distances
of 32 bits tell the k-th neighbour's to within a small error; as a rule exactly one sample lies so
near to it in x or in (y, S), and that sample's exact distance is the radius. Where none or several
do, the radius is found anew with exact numbers. Whether a sample is near in x is then told by its
place along x alone, a number of 16 bits, or of 32 where there are many samples.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pidselect.estimators.knn.general import STRIDE, Candidate, Neighbourhood, Rule
from pidselect.estimators.knn.grid_index import (
    BEFORE,
    BEFORE_,
    ONE,
    Ruler,
    find_ends,
    stretch,
    to_ruler,
)
from pidselect.estimators.knn.simd32 import (
    count_between,
    count_near,
    count_placed,
    count_sixteens,
    keep_nearest,
)
from pidselect.estimators.knn.simd64 import LANES
from pidselect.estimators.knn.spaces import (
    BLOCK,
    INNER,
    JIT,
    FloatArray,
    NeighbourBuffer,
    apart_at,
    list_within,
    nearer_than,
)

#: Up to so many samples places have room in 16 bits; beyond, they take 32.
FEW_SAMPLES = 2**16 - 1

#: Neighbours in (y, S) that are listed at least.
SHORTEST_LIST = LANES

#: Half the distance between 1 and the next number of 32 bits; and more than rounding can do to the
#: smallest ones there are.
ROUNDING, SMALLEST = 2.0**-24, 2.0**-147


class Narrow(NamedTuple):
    """A candidate in several rearrangements of its samples, one in each lane."""

    x: NDArray[np.float32]  # (n_samples, lanes)
    place: NDArray[Any]  # (n_samples, lanes): each sample's place along x
    at: NDArray[np.int32]  # (lanes, n_samples): the sample at each place
    along: NDArray[Any]  # (lanes, n_samples): the places in the order of S, if it is a line


class Rulers(NamedTuple):
    """The sorted values of x and, if it is a line, of S."""

    x: Ruler
    given: Ruler


class Desk(NamedTuple):
    """Memory that every sample uses anew: numbers by lane."""

    nearest: NDArray[np.float32]  # (k, lanes): the smallest distances, ascending
    exact: FloatArray  # (k,): the same for one lane, in all their digits
    here: FloatArray  # the sample's value
    limit: FloatArray  # samples count when nearer than this
    is_open: NDArray[np.bool_]  # whether narrow numbers leave it open
    first: NDArray[np.int64]  # the stretch of x in which they lie
    last: NDArray[np.int64]
    begin: NDArray[np.int64]  # the stretch of S, if it is a line
    end: NDArray[np.int64]
    in_joint: NDArray[np.int64]  # how many count in (y, S)
    in_given: NDArray[np.int64]  # in S
    counts: NDArray[np.int64]  # in (x, S)
    stretch: NDArray[Any]  # (2, lanes): where the stretch of x begins, and how long it is
    narrow: NDArray[Any]  # (2, lanes): the counts in S and in (x, S)
    sums: NDArray[np.int64]  # the weights added up so far
    found: NeighbourBuffer


@njit(**JIT)
def _to_desk(k, n_samples, places):
    return Desk(
        np.empty((k, LANES), dtype=np.float32),
        np.empty(k),
        np.empty(LANES),
        np.empty(LANES),
        np.empty(LANES, dtype=np.bool_),
        np.empty(LANES, dtype=np.int64),
        np.empty(LANES, dtype=np.int64),
        np.empty(LANES, dtype=np.int64),
        np.empty(LANES, dtype=np.int64),
        np.empty(LANES, dtype=np.int64),
        np.empty(LANES, dtype=np.int64),
        np.empty(LANES, dtype=np.int64),
        np.empty((2, LANES), dtype=places.dtype),
        np.empty((2, LANES), dtype=places.dtype),
        np.empty(LANES, dtype=np.int64),
        NeighbourBuffer(
            np.empty(n_samples + 1, dtype=np.int32),
            np.empty(n_samples + 1),
            np.empty(-(-n_samples // BLOCK)),
            np.empty(BLOCK),
        ),
    )


@njit(**JIT)
def score_smooth_columns(
    candidate: Candidate,
    rows: NDArray[np.int32],
    around: Neighbourhood,
    rule: Rule,
    values: NDArray[np.int64],
    places: NDArray[np.uint16] | NDArray[np.uint32],
) -> None:
    """Fill `values` with what `score_columns` would give, for a candidate of one column.

    Places are of the type of `places`, an array of any length.
    """
    n_samples, kind = candidate.values.shape[0], places.dtype
    on_line = around.given_line.ascending.size > 0
    rulers = Rulers(to_ruler(candidate.line.ascending), to_ruler(around.given_line.ascending))
    lanes = Narrow(
        np.empty((n_samples, LANES), dtype=np.float32),
        np.empty((n_samples, LANES), dtype=kind),
        np.empty((LANES, n_samples), dtype=np.int32),
        np.empty((LANES, n_samples if on_line else 0), dtype=kind),
    )
    desk = _to_desk(rule.k, n_samples, places)
    for start in range(0, rows.shape[0], LANES):
        for lane in range(LANES):
            # A last group that is not full repeats its last column.
            _fill(candidate, rows[min(start + lane, rows.shape[0] - 1)], around, lanes, lane)
        desk.sums[:] = 0
        for i in range(n_samples):
            n_walked = _find_nearest(lanes, around, i, desk.nearest)
            _find_limits(lanes, rulers, around, rule, (i, n_walked), desk)
            _count_given(lanes, rulers, around, rule, i, desk)
        values[start : start + LANES] = desk.sums[: rows.shape[0] - start]


@njit(**INNER)
def _fill(candidate, row, around, lanes, lane):
    """Put one rearrangement of the candidate into a lane."""
    line = candidate.line
    for i in range(row.size):
        place = line.place[row[i]]
        lanes.x[i, lane] = candidate.values[row[i], 0]
        lanes.place[i, lane] = place
        lanes.at[lane, place] = i
    for t in range(lanes.along.shape[1]):
        lanes.along[lane, t] = lanes.place[around.given_line.at[t], lane]


@njit(**INNER)
def _find_nearest(lanes, around, i, nearest):
    """Leave in `nearest` about the k smallest distances in (x, y, S) of every lane.

    Returns how many samples were walked; those beyond are no nearer than any lane's k-th.
    """
    k = nearest.shape[0]
    sample, distance = around.joint_order.sample[i], around.joint_order.distance[i]
    nearest[:] = np.inf
    widest, t = np.float32(np.inf), 0
    while t < sample.size and distance[t] < widest:
        near, beyond_x = sample[t : t + STRIDE], distance[t : t + STRIDE]
        if k == 4:
            widest = keep_nearest(nearest, 4, lanes.x, i, near, beyond_x)
        else:
            widest = keep_nearest(nearest, k, lanes.x, i, near, beyond_x)
        t += STRIDE
    return min(t, sample.size)


@njit(**INNER)
def _find_limits(lanes, rulers, around, rule, point, desk):
    """Find every lane's limit and stretch of x, and subtract the weight of its count in (y, S).

    Without `strict` that of the count in (x, y, S) is added.
    """
    i, n_walked = point
    here, low, in_joint = desk.here, desk.limit, desk.in_joint
    _set_lows(rulers.x.values, lanes.place[i], desk.nearest[rule.k - 1], here, low)
    distance, reach = around.joint_order.distance[i], around.joint_order.reach[i]
    _count_sorted(distance[: max(n_walked, SHORTEST_LIST)], low, in_joint)
    find_ends(rulers.x, here, low, desk.first, desk.last)
    _settle(rulers.x.values, distance, reach, rule.strict, desk)
    weight, sums, is_open = rule.weight, desk.sums, desk.is_open
    for lane in range(LANES):
        if is_open[lane]:
            _decide(lanes, rulers, around, rule, (i, lane), desk)
        elif not rule.strict:
            sums[lane] += weight[rule.k]
        sums[lane] -= weight[in_joint[lane]]


@njit(**INNER)
def _set_lows(x, places, kth, here, low):
    """Write each lane's value of x, and what its k-th neighbour's distance cannot be below."""
    for lane in range(LANES):
        value, about = x[BEFORE_ + places[lane]], np.float64(kth[lane])
        here[lane] = value
        doubt = ROUNDING * (2.0 * abs(value) + 4.0 * about) + SMALLEST
        low[lane] = about - doubt if about < np.inf else 0.0  # not even k neighbours are listed


@njit(**INNER)
def _settle(x, distance, reach, strict, desk):
    """Make limits exact where one sample alone can be the k-th neighbour; else leave them open.

    Who can be lies next to those that are nearer for sure: on either side along x, or next in
    (y, S). All are looked at, since a branch could not be foretold.
    """
    kth, here, limit, first, last = desk.nearest[-1], desk.here, desk.limit, desk.first, desk.last
    in_joint, is_open, end = desk.in_joint, desk.is_open, distance.size - 1
    for lane in range(LANES):
        value, low = here[lane], limit[lane]
        high = 2.0 * np.float64(kth[lane]) - low
        left_place, right_place = np.uint64(first[lane]), np.uint64(last[lane])
        left = value - x[BEFORE_ + left_place - ONE]
        right = x[BEFORE_ + right_place] - value
        next_left = value - x[left_place]
        next_right = x[BEFORE_ + right_place + ONE] - value
        nearer = in_joint[lane]
        joint = distance[np.uint64(min(nearer, end))]
        next_joint = distance[np.uint64(min(nearer + 1, end))]
        n_open = (
            int(left <= high)
            + int(next_left <= high)
            + int(right <= high)
            + int(next_right <= high)
            + (int(joint <= high) & int(nearer <= end))
            + (int(next_joint <= high) & int(nearer < end))
        )
        is_open[lane] = (n_open != 1) | (low <= 0.0) | (high >= reach)
        exact = left if left <= high else (right if right <= high else joint)
        if not strict:
            exact = np.nextafter(exact, np.inf)
            first[lane] -= int(left < exact)
            last[lane] += int(right < exact)
            in_joint[lane] += int(joint < exact) & int(nearer <= end)
        limit[lane] = exact


@njit(**INNER)
def _decide(lanes, rulers, around, rule, which, desk):
    """Do for one lane what narrow numbers could not; add the weight of its count in (x, y, S)."""
    i, lane = which
    order = around.joint_order
    radius = _exact_radius(lanes, rulers.x.values, around, desk.exact, which)
    limit = radius if rule.strict else np.nextafter(radius, np.inf)
    first, last = stretch(rulers.x, desk.here[lane], limit)
    nearer = nearer_than(limit, order.distance[i])
    desk.in_joint[lane] = nearer
    if limit > order.reach[i]:
        desk.in_joint[lane] = list_within(around.joint, around.joint_blocks, i, limit, desk.found)
    desk.limit[lane], desk.first[lane], desk.last[lane] = limit, first, last
    if not rule.strict:
        near_in_x = lanes.at[lane, first:last]
        nearer = _count_stretch(near_in_x, around.joint_points, around.joint.cap, i, limit)
        desk.sums[lane] += rule.weight[nearer]


@njit(**INNER)
def _count_sorted(ascending, limits, counts):
    """Count for every lane the sorted distances below its limit: by sixteens, then one by one."""
    size = ascending.size
    if size < LANES:
        for lane in range(LANES):
            counts[lane] = nearer_than(limits[lane], ascending)
        return
    count_sixteens(limits, counts, ascending, size // LANES)
    for lane in range(LANES):
        start = min(counts[lane] * LANES, size - LANES)
        some = ascending[start : start + LANES]
        nearer = start
        for t in range(LANES):
            nearer += int(some[t] < limits[lane])
        counts[lane] = nearer


@njit(**INNER)
def _exact_radius(lanes, values, around, nearest, which):
    """Return the exact distance of one lane's k-th neighbour."""
    i, lane = which
    x, order = values[BEFORE:], around.joint_order
    k, here = nearest.size, x[lanes.place[i, lane]]
    nearest[:] = np.inf
    for t in range(order.sample.shape[1]):
        if order.distance[i, t] >= nearest[k - 1]:
            break
        step = abs(x[lanes.place[order.sample[i, t], lane]] - here)
        _insert(max(step, order.distance[i, t]), nearest)
    if nearest[k - 1] <= order.reach[i]:
        return nearest[k - 1]
    nearest[:] = np.inf
    points, cap, at = around.joint_points, around.joint.cap, lanes.at[lane]
    below = np.int64(lanes.place[i, lane]) - 1
    above = below + 2
    for _ in range(at.size - 1):
        down, up = here - values[BEFORE + below], x[above] - here
        step = min(down, up)
        if step >= nearest[k - 1]:
            break
        if down <= up:
            j = at[below]
            below -= 1
        else:
            j = at[above]
            above += 1
        _insert(max(step, apart_at(points, cap, i, j)), nearest)
    return nearest[k - 1]


@njit(**INNER)
def _insert(distance, nearest):
    """Let a distance take its place among the smallest, if it is one of them."""
    place = nearest.size - 1
    if distance >= nearest[place]:
        return
    while place > 0 and nearest[place - 1] > distance:
        nearest[place] = nearest[place - 1]
        place -= 1
    nearest[place] = distance


@njit(**INNER)
def _count_given(lanes, rulers, around, rule, i, desk):
    """Add the weights of the counts in S, and subtract those of the counts in (x, S)."""
    weight, sums, first, last = rule.weight, desk.sums, desk.first, desk.last
    in_given, counts = desk.in_given, desk.counts
    if around.given.cap.size == 0:
        for lane in range(LANES):
            sums[lane] += weight[weight.size - 1] - weight[max(last[lane] - first[lane] - 1, 0)]
        return
    if around.given_line.ascending.size > 0:
        _count_along(lanes.along, rulers.given, around.given.values[0, i], desk)
    else:
        _count_listed(lanes, around, i, desk)
    for lane in range(LANES):
        sums[lane] += weight[in_given[lane]] - weight[counts[lane]]


@njit(**INNER)
def _count_along(along, ruler, value, desk):
    """Count in S and in (x, S): a stretch of the line that is S holds them all."""
    here, limit, first, last = desk.here, desk.limit, desk.first, desk.last
    begin, end, in_given, counts = desk.begin, desk.end, desk.in_given, desk.counts
    here[:] = value
    find_ends(ruler, here, limit, begin, end)
    for lane in range(LANES):
        stretch = along[lane, begin[lane] : end[lane]]
        nearer = count_between(stretch, first[lane], max(last[lane] - first[lane], 0))
        in_given[lane] = max(end[lane] - begin[lane] - 1, 0)
        counts[lane] = max(nearer - 1, 0)  # the sample itself is no neighbour


@njit(**INNER)
def _count_listed(lanes, around, i, desk):
    """Count in S and in (x, S) along the order of S, or beyond its reach among all within it."""
    order, limit, in_given, counts = around.given_order, desk.limit, desk.in_given, desk.counts
    stretch, narrow = desk.stretch, desk.narrow
    _narrow_down(desk.first, desk.last, stretch)
    widest = limit[0]
    for lane in range(1, LANES):
        widest = max(widest, limit[lane])
    if widest > order.reach[i]:
        found = desk.found
        size = list_within(around.given, around.given_blocks, i, widest, found)
        near = found.sample[:size]
        count_near(limit, stretch, narrow, lanes.place, near, found.distance[:size])
        for lane in range(LANES):
            in_given[lane] = narrow[0, lane]
    else:
        _count_sorted(order.distance[i], limit, in_given)
        shortest, longest = in_given[0], in_given[0]
        for lane in range(LANES):
            narrow[0, lane] = in_given[lane]
            shortest, longest = min(shortest, in_given[lane]), max(longest, in_given[lane])
        count_placed(stretch, narrow, lanes.place, order.sample[i, :longest], shortest)
    for lane in range(LANES):
        counts[lane] = narrow[1, lane]


@njit(**INNER)
def _narrow_down(first, last, stretch):
    """Write where each lane's stretch of x begins and how long it is, narrowly."""
    for lane in range(LANES):
        stretch[0, lane] = first[lane]
        stretch[1, lane] = max(last[lane] - first[lane], 0)


@njit(**INNER)
def _count_stretch(at, points, cap, i, limit):
    """Count the others nearer than the limit among those in a stretch of one lane's x."""
    nearer = 0
    for place in range(at.size):
        nearer += int(apart_at(points, cap, i, at[place]) < limit)
    return max(nearer - 1, 0)
