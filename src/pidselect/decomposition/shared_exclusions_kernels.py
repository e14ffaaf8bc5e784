"""Nearest-neighbour kernels for shared exclusions.

Around each sample, all others are ordered by their distance in every space: along each column by
walking outwards from the sample, then in every set of columns by merging the orders of two parts of
it. In the maximum norm the distance is that in the farther part, so a sample has its place in the
merged order where it occurs for the second time. Only the columns are sorted, once.

In an antichain of several members the distance of a sample is the number of samples at most as far,
which is comparable between small and large sets of sources and any scales of columns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.data import FloatArray, IntArray
from pidselect.estimators.knn.spaces import JIT, CountingRule, insert
from pidselect.jit import njit


class Spaces(NamedTuple):
    """The spaces in which samples have neighbours: columns first, then joint spaces."""

    ascending: FloatArray  # (n_columns, n_samples): the sorted values
    place: IntArray  # (n_columns, n_samples): each sample's place along the column
    at: IntArray  # (n_columns, n_samples): the sample at each place
    joined: IntArray  # (n_joined, 2): the two earlier spaces that each joint space joins


class Antichains(NamedTuple):
    """The members of each antichain, all of them spaces, and the space of the target.

    In an antichain of several members, n samples around the target correspond to
    ``reach[scale, n]`` around a member.
    """

    members: IntArray  # the members of all antichains, concatenated
    starts: IntArray  # where those of each antichain start, and the end
    scale: IntArray  # of each antichain
    reach: FloatArray  # (n_scales, n_samples)
    target: int


class NeighbourOrders(NamedTuple):
    """The other samples around one sample, and a workspace reused for every sample."""

    order: NDArray[np.int32]  # (n_spaces, n_samples - 1): nearest first
    along: FloatArray  # (n_spaces, n_samples - 1): the distances in that order
    distance: FloatArray  # (n_spaces, n_samples)
    counts: FloatArray  # (n_spaces, n_samples): number of samples at most as far
    reach: FloatArray  # (n_scales, n_samples): distance in the target, by its count
    nearest: FloatArray  # (k,): the smallest distances, ascending
    seen: IntArray  # (n_samples,): the time each was last visited


@njit(**JIT)
def count_exclusions(
    spaces: Spaces, antichains: Antichains, rule: CountingRule, sums: NDArray[np.int64]
) -> None:
    """Fill ``sums`` with each antichain's sum over samples of the weights of its two counts.

    The k-th neighbour of a sample is found by the maximum of the distance in the target and the
    smallest distance in a member. Samples strictly nearer are counted in any of the members, and in
    the target.
    """
    n_columns, n_samples = spaces.ascending.shape
    n_spaces = n_columns + spaces.joined.shape[0]
    around = NeighbourOrders(
        np.empty((n_spaces, n_samples - 1), dtype=np.int32),
        np.empty((n_spaces, n_samples - 1)),
        np.empty((n_spaces, n_samples)),
        np.empty((n_spaces, n_samples)),
        np.empty((antichains.reach.shape[0], n_samples)),
        np.empty(rule.k),
        np.full(n_samples, -1),
    )
    target, time = antichains.target, 0
    sums[:] = 0
    for i in range(n_samples):
        time = _order_neighbours(spaces, antichains, i, time, around)
        for antichain in range(sums.size):
            start, stop = antichains.starts[antichain], antichains.starts[antichain + 1]
            members = antichains.members[start:stop]
            far, far_in_target = around.distance, around.distance[target]
            if members.size > 1:
                far, far_in_target = around.counts, around.reach[antichains.scale[antichain]]
            limit = _find_limit(members, far, around.order[target], far_in_target, around.nearest)
            nearer = _count_in_any(members, far, limit, time, around)
            sums[antichain] += rule.weight[nearer]
            sums[antichain] += rule.weight[_count(around.order[target], far_in_target, limit)]
            time += 1


@njit(**JIT)
def _order_neighbours(spaces, antichains, i, time, around):
    """Order all other samples in every space; return the next time."""
    n_columns = spaces.ascending.shape[0]
    for column in range(n_columns):
        _walk_outwards(spaces, column, i, around)
    for joined in range(spaces.joined.shape[0]):
        left, right = spaces.joined[joined]
        _merge(left, right, n_columns + joined, time, around)
        time += 1
    for space in range(around.order.shape[0]):
        _store_distances(space, around)
    for j in around.order[antichains.target]:
        for scale in range(around.reach.shape[0]):
            count = int(around.counts[antichains.target, j])
            around.reach[scale, j] = antichains.reach[scale, count]
    return time


@njit(**JIT)
def _walk_outwards(spaces, column, i, around):
    """Order the samples by their distance from sample i along a column."""
    ascending, at, here = spaces.ascending[column], spaces.at[column], spaces.place[column, i]
    order, along = around.order[column], around.along[column]
    below, above = here - 1, here + 1
    for rank in range(order.size):
        down = ascending[here] - ascending[below] if below >= 0 else np.inf
        up = ascending[above] - ascending[here] if above < at.size else np.inf
        if down <= up:
            order[rank] = at[below]
            along[rank] = down
            below -= 1
        else:
            order[rank] = at[above]
            along[rank] = up
            above += 1


@njit(**JIT)
def _merge(left, right, joined, time, around):
    """Order the samples by the maximum of their distances in two spaces."""
    left_order, left_along = around.order[left], around.along[left]
    right_order, right_along = around.order[right], around.along[right]
    order, along, seen = around.order[joined], around.along[joined], around.seen
    s = t = rank = 0
    while rank < order.size:
        if t == order.size or (s < order.size and left_along[s] <= right_along[t]):
            j, distance = left_order[s], left_along[s]
            s += 1
        else:
            j, distance = right_order[t], right_along[t]
            t += 1
        if seen[j] == time:
            order[rank] = j
            along[rank] = distance
            rank += 1
        seen[j] = time


@njit(**JIT)
def _store_distances(space, around):
    """Store each sample's distance, and the number of samples at most as far."""
    order, along = around.order[space], around.along[space]
    at_most_as_far = order.size
    for rank in range(order.size - 1, -1, -1):
        if rank + 1 < order.size and along[rank] < along[rank + 1]:
            at_most_as_far = rank + 1
        around.distance[space, order[rank]] = along[rank]
        around.counts[space, order[rank]] = at_most_as_far


@njit(**JIT)
def _find_limit(members, far, target_order, far_in_target, nearest):
    """Return the distance of the k-th neighbour, following the order in the target."""
    last = nearest.size - 1
    nearest[:] = np.inf
    for j in target_order:
        if far_in_target[j] >= nearest[last]:
            break
        distance = far[members[0], j]
        for member in members[1:]:
            distance = min(distance, far[member, j])
        insert(max(distance, far_in_target[j]), nearest)
    return nearest[last]


@njit(**JIT)
def _count_in_any(members, far, limit, time, around):
    """Count the samples that are nearer than the limit in any member."""
    if members.size == 1:
        return _count(around.order[members[0]], far[members[0]], limit)
    nearer = 0
    for member in members:
        for j in around.order[member]:
            if far[member, j] >= limit:
                break
            nearer += int(around.seen[j] != time)
            around.seen[j] = time
    return nearer


@njit(**JIT)
def _count(order, far, limit):
    """Count the samples that are nearer than the limit."""
    nearer = 0
    while nearer < order.size and far[order[nearer]] < limit:
        nearer += 1
    return nearer
