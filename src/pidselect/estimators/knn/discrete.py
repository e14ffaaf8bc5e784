"""Nearest-neighbour kernel for a discrete target and conditioning set, such as a class target.

Each sample shares its (y, S) with many others at distance zero, so that neighbour lists would be
long. Within such a stratum distances depend on x alone: with x sorted, the k nearest are adjacent
and counts are differences of ranks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.estimators.knn.general import (
    Candidate,
    CountingRule,
    TargetSpaces,
    add_sample,
    new_batch,
    new_workspace,
    set_permutation,
)
from pidselect.estimators.knn.spaces import INNER, JIT, FloatArray, interval_within
from pidselect.jit import njit


class Strata(NamedTuple):
    """Samples grouped by their levels: stratum g holds ``start[g + 1] - start[g]`` of them."""

    joint: NDArray[np.int64]  # each sample's stratum in (y, S)
    joint_start: NDArray[np.int64]
    given: NDArray[np.int64]  # each sample's stratum in S
    given_start: NDArray[np.int64]
    gap: FloatArray  # distance of each stratum in (y, S) to the nearest other one


class StratifiedColumn(NamedTuple):
    """Values of x sorted by stratum, then ascending; a slot is a position in that order."""

    joint: FloatArray  # strata of (y, S)
    given: FloatArray  # strata of S
    given_slot: NDArray[np.int64]  # the slot in `given` of each slot in `joint`
    sample: NDArray[np.int64]  # the sample of each slot in `joint`


@njit(**JIT)
def score_discrete(
    candidate: Candidate,
    rows: NDArray[np.int32],
    strata: Strata,
    spaces: TargetSpaces,
    rule: CountingRule,
    values: NDArray[np.int64],
) -> None:
    """Fill `values` as `score_general` does, for a candidate of one column."""
    n_samples = candidate.sorted.ascending.size
    batch = new_batch(candidate, spaces, 1)
    work = new_workspace(n_samples, rule.k, 1)
    slots = StratifiedColumn(
        np.empty(n_samples),
        np.empty(n_samples),
        np.empty(n_samples, dtype=np.int64),
        np.empty(n_samples, dtype=np.int64),
    )
    for m in range(rows.shape[0]):
        set_permutation(candidate, rows[m], spaces, batch, 0)
        _sort_within(candidate, batch, strata, slots)
        work.sums[:] = 0
        for slot in range(n_samples):
            if not _count_in_stratum(slot, slots, strata, candidate, spaces, rule, work):
                add_sample(batch, candidate, spaces, rule, slots.sample[slot], work)
        values[m] = work.sums[0]


@njit(**JIT)
def _sort_within(candidate, batch, strata, slots):
    """Sort one permutation of x within the strata, from its sorted values."""
    next_joint, next_given = strata.joint_start.copy(), strata.given_start.copy()
    for rank in range(candidate.sorted.ascending.size):
        i = batch.sample[rank, 0]
        g, h = strata.joint[i], strata.given[i]
        slots.joint[next_joint[g]] = slots.given[next_given[h]] = candidate.sorted.ascending[rank]
        slots.given_slot[next_joint[g]] = next_given[h]
        slots.sample[next_joint[g]] = i
        next_joint[g] += 1
        next_given[h] += 1


@njit(**INNER)
def _count_in_stratum(slot, slots, strata, candidate, spaces, rule, work):
    """Add the weights of a sample's counts; return False if other strata may be as near."""
    i = slots.sample[slot]
    g, h = strata.joint[i], strata.given[i]
    start = strata.joint_start[g]
    mates = slots.joint[start : strata.joint_start[g + 1]]
    if mates.size <= rule.k:
        return False
    radius = min(_kth_nearest(mates, slot - start, rule.k), candidate.max_distance[0])
    limit = radius if rule.strict else np.nextafter(radius, np.inf)
    if limit > strata.gap[g]:
        return False
    first = strata.given_start[h]
    wider = slots.given[first : strata.given_start[h + 1]]
    in_given = wider.size - 1 if limit > 0.0 or spaces.given.max_distance.size == 0 else 0
    in_joint = mates.size - 1 if limit > 0.0 else 0
    in_x = _nearer(wider, slots.given_slot[slot] - first, limit, candidate)
    weight = rule.weight
    work.sums[0] += weight[in_given] - weight[in_joint] - weight[in_x]
    if not rule.strict:
        work.sums[0] += weight[_nearer(mates, slot - start, limit, candidate)]
    return True


@njit(**INNER)
def _nearer(ascending, rank, limit, candidate):
    """Count the others nearer than the limit to the value at a rank."""
    if limit > candidate.max_distance[0]:
        return ascending.size - 1
    first, last = interval_within(ascending, rank, limit)
    return max(last - first - 1, 0)


@njit(**INNER)
def _kth_nearest(ascending, rank, k):
    """Return the distance of the k-th nearest value to that at a rank."""
    below, above = rank - 1, rank + 1
    radius = 0.0
    for _ in range(k):
        down = ascending[rank] - ascending[below] if below >= 0 else np.inf
        up = ascending[above] - ascending[rank] if above < ascending.size else np.inf
        radius = min(down, up)
        if down <= up:
            below -= 1
        else:
            above += 1
    return radius
