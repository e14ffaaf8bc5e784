"""The kernel of the second KSG algorithm: each block of variables has a radius of its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pidselect.estimators._neighbours import (
    JIT,
    Candidate,
    FloatArray,
    Nearby,
    Neighbourhood,
    Space,
    everyone,
    new_scratch,
    within,
)


class BoxRule(NamedTuple):
    """The number of neighbours, and what a count of n adds, in S and in (x, S) or (y, S)."""

    k: int
    weight_given: FloatArray
    weight_joint: FloatArray


@njit(**JIT)
def score_columns_in_boxes(
    candidate: Candidate,
    rows: NDArray[np.int32],
    target: Space,
    around: Neighbourhood,
    rule: BoxRule,
    values: FloatArray,
) -> None:
    """Score the candidate in each rearrangement ``rows[m]`` of its samples; fill ``values[m]``.

    The k nearest neighbours of a sample span a box: radii in x, y and S. Samples count if they
    lie in the box, its faces included, as far as (x, S), (y, S) or S are concerned.
    """
    n_samples = candidate.values.shape[0]
    scratch = new_scratch(n_samples, rule.k, 1)
    nearest = np.empty(rule.k, dtype=np.int64)
    distance = np.empty(rule.k)
    tally = np.empty((n_samples, 2), dtype=np.int64)
    for m in range(rows.shape[0]):
        x = Space(candidate.values[rows[m]].T.copy(), candidate.cap)
        tally[:] = 0
        for i in range(n_samples):
            nearby = Nearby(around.joint_order.sample[i], around.joint_order.distance[i], True)
            _find_nearest(x, i, nearby, nearest, distance)
            if distance[rule.k - 1] > around.joint_order.reach[i]:
                _find_nearest(x, i, everyone(around.joint, i, scratch), nearest, distance)
            radius_x, radius_y, radius_given = 0.0, 0.0, 0.0
            for j in nearest:
                radius_x = max(radius_x, _apart(x, i, j))
                radius_y = max(radius_y, _apart(target, i, j))
                radius_given = max(radius_given, _apart(around.given, i, j))
            limit = np.nextafter(radius_given, np.inf)
            in_given, in_x, in_y = 0, 0, 0
            nearby = within(limit, around.given, around.given_order, i, scratch)
            for t in range(nearby.sample.size):
                if nearby.distance[t] < limit:
                    j = nearby.sample[t]
                    in_given += 1
                    in_x += 1 if _apart(x, i, j) <= radius_x else 0
                    in_y += 1 if _apart(target, i, j) <= radius_y else 0
                elif nearby.in_order:
                    break
            tally[in_given, 0] += 1
            tally[in_x, 1] -= 1
            tally[in_y, 1] -= 1
        values[m] = 0.0
        for n in range(n_samples):
            values[m] += tally[n, 0] * rule.weight_given[n] + tally[n, 1] * rule.weight_joint[n]


@njit(**JIT)
def _apart(space, i, j):  # type: ignore[no-untyped-def]
    distance = 0.0
    for column in range(space.values.shape[0]):
        step = abs(space.values[column, j] - space.values[column, i])
        distance = max(distance, min(step, space.cap[column]))
    return distance


@njit(**JIT)
def _find_nearest(x, i, nearby, nearest, distance):  # type: ignore[no-untyped-def]
    """Leave in `nearest` and `distance` the k nearest neighbours in (x, y, S), nearest first."""
    k = nearest.size
    distance[:] = np.inf
    for t in range(nearby.sample.size):
        if nearby.in_order and nearby.distance[t] >= distance[k - 1]:
            break
        j = nearby.sample[t]
        apart = max(nearby.distance[t], _apart(x, i, j))
        if apart < distance[k - 1]:
            place = k - 1
            while place > 0 and distance[place - 1] > apart:
                distance[place], nearest[place] = distance[place - 1], nearest[place - 1]
                place -= 1
            distance[place], nearest[place] = apart, j
