"""The kernel of the second KSG algorithm: each block of variables has a radius of its own."""

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
    Order,
    Space,
    apart,
    distances_from,
)


class Boxes(NamedTuple):
    """All that scoring needs to know of the target y and the given S."""

    target: Space
    given: Space
    joint: Space
    order: Order  # of the joint space


class BoxRule(NamedTuple):
    """The number of neighbours, and what a count of n adds, in S and in (x, S) or (y, S)."""

    k: int
    weight_given: FloatArray
    weight_joint: FloatArray


@njit(**JIT)
def score_columns_in_boxes(
    candidate: Candidate,
    rows: NDArray[np.int32],
    around: Boxes,
    rule: BoxRule,
    values: FloatArray,
) -> None:
    """Score the candidate in each rearrangement ``rows[m]`` of its samples; fill ``values[m]``.

    The k nearest neighbours of a sample span a box: radii in x, y and S. Samples count if they
    lie in the box, its faces included, as far as (x, S), (y, S) or S are concerned.
    """
    n_samples = candidate.values.shape[0]
    nearest = np.empty(rule.k, dtype=np.int64)
    distance = np.empty(rule.k)
    everyone, counts = np.empty(n_samples), np.empty(3, dtype=np.int64)
    tally = np.empty((n_samples, 2), dtype=np.int64)
    for m in range(rows.shape[0]):
        x = Space(candidate.values[rows[m]].T.copy(), candidate.cap)
        tally[:] = 0
        for i in range(n_samples):
            _find_nearest(x, around, i, nearest, distance, everyone)
            radius_x, radius_y, radius_given = 0.0, 0.0, 0.0
            for neighbour in range(rule.k):
                j = nearest[neighbour]
                radius_x = max(radius_x, apart(x, i, j))
                radius_y = max(radius_y, apart(around.target, i, j))
                radius_given = max(radius_given, apart(around.given, i, j))
            counts[:] = 0
            distances_from(around.given, i, everyone)
            for j in range(n_samples):
                if j != i and everyone[j] <= radius_given:
                    counts[0] += 1
                    counts[1] += 1 if apart(x, i, j) <= radius_x else 0
                    counts[2] += 1 if apart(around.target, i, j) <= radius_y else 0
            tally[counts[0], 0] += 1
            tally[counts[1], 1] -= 1
            tally[counts[2], 1] -= 1
        values[m] = 0.0
        for n in range(n_samples):
            values[m] += tally[n, 0] * rule.weight_given[n] + tally[n, 1] * rule.weight_joint[n]


@njit(**INNER)
def _find_nearest(x, around, i, nearest, distance, everyone):
    """Leave in `nearest` and `distance` the k nearest neighbours in (x, y, S), nearest first.

    Of samples at the same distance the first ones are taken, so that it does not matter where the
    list ends.
    """
    k, order = nearest.size, around.order
    nearest[:], distance[:] = i, np.inf
    for t in range(order.sample.shape[1]):
        if order.distance[i, t] > distance[k - 1]:
            break
        j = order.sample[i, t]
        _insert(max(order.distance[i, t], apart(x, i, j)), j, nearest, distance)
    if distance[k - 1] >= order.reach[i]:
        nearest[:], distance[:] = i, np.inf
        distances_from(around.joint, i, everyone)
        for j in range(everyone.size):
            if j != i:
                _insert(max(everyone[j], apart(x, i, j)), j, nearest, distance)


@njit(**INNER)
def _insert(step, j, nearest, distance):
    """Let sample j take its place among the nearest, if it is one of them."""
    place = nearest.size
    while place > 0 and (
        step < distance[place - 1] or (step == distance[place - 1] and j < nearest[place - 1])
    ):
        place -= 1
        if place + 1 < nearest.size:
            distance[place + 1], nearest[place + 1] = distance[place], nearest[place]
    if place < nearest.size:
        distance[place], nearest[place] = step, j
