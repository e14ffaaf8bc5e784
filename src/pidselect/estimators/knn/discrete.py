"""The nearest-neighbour kernel for a target and a given that take few values, a class target say.

Then every sample shares its (y, S) with many others, all at distance zero, and walking them
nearest first would mean walking them all. But within such a stratum only x tells samples apart:
with x sorted, the k nearest are next door, and counts are the ends of a stretch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pidselect.estimators.knn.general import (
    Candidate,
    Neighbourhood,
    Rule,
    count_one,
    fill_lane,
    new_lanes,
    new_scratch,
)
from pidselect.estimators.knn.spaces import INNER, JIT, FloatArray, within


class Strata(NamedTuple):
    """Samples grouped by what they share: stratum g holds ``start[g + 1] - start[g]`` of them."""

    joint: NDArray[np.int64]  # each sample's stratum in (y, S)
    joint_start: NDArray[np.int64]
    given: NDArray[np.int64]  # each sample's stratum in S
    given_start: NDArray[np.int64]
    safe: FloatArray  # for each stratum in (y, S): no sample of another one is nearer


class Sorted(NamedTuple):
    """Slots for all samples, stratum by stratum and x ascending within each."""

    joint: FloatArray  # the value in each slot, samples grouped by (y, S)
    given: FloatArray  # the same, samples grouped by S
    given_slot: NDArray[np.int64]  # for each slot in `joint`, the same sample's in `given`
    sample: NDArray[np.int64]  # for each slot in `joint`, the sample


@njit(**JIT)
def score_columns_in_strata(
    candidate: Candidate,
    rows: NDArray[np.int32],
    strata: Strata,
    around: Neighbourhood,
    rule: Rule,
    values: NDArray[np.int64],
) -> None:
    """Fill `values` with what `score_columns` would give, for a candidate of one column."""
    n_samples = candidate.line.ascending.size
    lanes = new_lanes(candidate, around, 1)
    scratch = new_scratch(n_samples, rule.k, 1)
    slots = Sorted(
        np.empty(n_samples),
        np.empty(n_samples),
        np.empty(n_samples, dtype=np.int64),
        np.empty(n_samples, dtype=np.int64),
    )
    for m in range(rows.shape[0]):
        fill_lane(candidate, rows[m], around, lanes, 0)
        _sort_within(candidate, lanes, strata, slots)
        scratch.sums[:] = 0
        for slot in range(n_samples):
            if not _count_in_stratum(slot, slots, strata, candidate, around, rule, scratch):
                count_one(lanes, candidate, around, rule, slots.sample[slot], scratch)
        values[m] = scratch.sums[0]


@njit(**JIT)
def _sort_within(candidate, lanes, strata, slots):
    """Go through the samples with x ascending, and give each the next slot of its strata."""
    next_joint, next_given = strata.joint_start.copy(), strata.given_start.copy()
    for place in range(candidate.line.ascending.size):
        i = lanes.at[place, 0]
        g, h = strata.joint[i], strata.given[i]
        slots.joint[next_joint[g]] = slots.given[next_given[h]] = candidate.line.ascending[place]
        slots.given_slot[next_joint[g]] = next_given[h]
        slots.sample[next_joint[g]] = i
        next_joint[g] += 1
        next_given[h] += 1


@njit(**INNER)
def _count_in_stratum(slot, slots, strata, candidate, around, rule, scratch):
    """Add the weights of a sample's counts, unless other strata may matter: then return False."""
    i = slots.sample[slot]
    g, h = strata.joint[i], strata.given[i]
    start = strata.joint_start[g]
    mates = slots.joint[start : strata.joint_start[g + 1]]
    if mates.size <= rule.k:
        return False
    radius = min(_kth_nearest(mates, slot - start, rule.k), candidate.cap[0])
    limit = radius if rule.strict else np.nextafter(radius, np.inf)
    if limit > strata.safe[g]:
        return False
    first = strata.given_start[h]
    wider = slots.given[first : strata.given_start[h + 1]]
    in_given = wider.size - 1 if limit > 0.0 or around.given.cap.size == 0 else 0
    in_joint = mates.size - 1 if limit > 0.0 else 0
    in_x = _nearer(wider, slots.given_slot[slot] - first, limit, candidate)
    weight = rule.weight
    scratch.sums[0] += weight[in_given] - weight[in_joint] - weight[in_x]
    if not rule.strict:
        scratch.sums[0] += weight[_nearer(mates, slot - start, limit, candidate)]
    return True


@njit(**INNER)
def _nearer(ascending, at, limit, candidate):
    """Count the others nearer than the limit to the value at a place in sorted values."""
    if limit > candidate.cap[0]:
        return ascending.size - 1
    first, last = within(ascending, at, limit)
    return max(last - first - 1, 0)


@njit(**INNER)
def _kth_nearest(ascending, at, k):
    """Return the distance of the k-th nearest to the value at a place in sorted values."""
    below, above = at - 1, at + 1
    radius = 0.0
    for _ in range(k):
        down = ascending[at] - ascending[below] if below >= 0 else np.inf
        up = ascending[above] - ascending[at] if above < ascending.size else np.inf
        radius = min(down, up)
        if down <= up:
            below -= 1
        else:
            above += 1
    return radius
