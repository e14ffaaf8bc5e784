"""Kernel of KSG algorithm 2: separate radii in x, y and S."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pidselect.estimators.knn.general import Candidate
from pidselect.estimators.knn.spaces import (
    INNER,
    JIT,
    FloatArray,
    NeighbourLists,
    Space,
    distances_from,
    space_distance,
)


class KSG2Spaces(NamedTuple):
    """The target y and the conditioning set S, with neighbour lists in (y, S)."""

    target: Space
    given: Space
    joint: Space
    lists: NeighbourLists  # in the joint space


class KSG2Rule(NamedTuple):
    """The number of neighbours k, and the weights of counts in S and in (x, S) or (y, S)."""

    k: int
    weight_given: FloatArray
    weight_joint: FloatArray


@njit(**JIT)
def score_ksg2(
    candidate: Candidate,
    rows: NDArray[np.int32],
    spaces: KSG2Spaces,
    rule: KSG2Rule,
    values: FloatArray,
) -> None:
    """Score the candidate in each permutation ``rows[m]``; fill ``values[m]``.

    The radii of a sample in x, y and S are the largest distances of its k nearest neighbours in
    (x, y, S); samples at distances up to these are counted in S, (x, S) and (y, S).
    """
    n_samples = candidate.values.shape[0]
    nearest = np.empty(rule.k, dtype=np.int64)
    distance = np.empty(rule.k)
    all_distances, counts = np.empty(n_samples), np.empty(3, dtype=np.int64)
    tally = np.empty((n_samples, 2), dtype=np.int64)
    for m in range(rows.shape[0]):
        x = Space(candidate.values[rows[m]].T.copy(), candidate.max_distance)
        tally[:] = 0
        for i in range(n_samples):
            _find_nearest(x, spaces, i, nearest, distance, all_distances)
            radius_x, radius_y, radius_given = 0.0, 0.0, 0.0
            for neighbour in range(rule.k):
                j = nearest[neighbour]
                radius_x = max(radius_x, space_distance(x, i, j))
                radius_y = max(radius_y, space_distance(spaces.target, i, j))
                radius_given = max(radius_given, space_distance(spaces.given, i, j))
            counts[:] = 0
            distances_from(spaces.given, i, all_distances)
            for j in range(n_samples):
                if j != i and all_distances[j] <= radius_given:
                    counts[0] += 1
                    counts[1] += 1 if space_distance(x, i, j) <= radius_x else 0
                    counts[2] += 1 if space_distance(spaces.target, i, j) <= radius_y else 0
            tally[counts[0], 0] += 1
            tally[counts[1], 1] -= 1
            tally[counts[2], 1] -= 1
        values[m] = 0.0
        for n in range(n_samples):
            values[m] += tally[n, 0] * rule.weight_given[n] + tally[n, 1] * rule.weight_joint[n]


@njit(**INNER)
def _find_nearest(x, spaces, i, nearest, distance, all_distances):
    """Find the k nearest neighbours in (x, y, S), nearest first; ties by sample index."""
    k, lists = nearest.size, spaces.lists
    nearest[:], distance[:] = i, np.inf
    for t in range(lists.sample.shape[1]):
        if lists.distance[i, t] > distance[k - 1]:
            break
        j = lists.sample[i, t]
        _insert(max(lists.distance[i, t], space_distance(x, i, j)), j, nearest, distance)
    if distance[k - 1] >= lists.radius[i]:
        nearest[:], distance[:] = i, np.inf
        distances_from(spaces.joint, i, all_distances)
        for j in range(all_distances.size):
            if j != i:
                _insert(max(all_distances[j], space_distance(x, i, j)), j, nearest, distance)


@njit(**INNER)
def _insert(step, j, nearest, distance):
    """Insert sample j into the sorted nearest neighbours."""
    slot = nearest.size
    while slot > 0 and (
        step < distance[slot - 1] or (step == distance[slot - 1] and j < nearest[slot - 1])
    ):
        slot -= 1
        if slot + 1 < nearest.size:
            distance[slot + 1], nearest[slot + 1] = distance[slot], nearest[slot]
    if slot < nearest.size:
        distance[slot], nearest[slot] = step, j
