"""Nearest-neighbour kernels for a discrete target and conditioning set, such as a class target.

Each sample shares its (y, S) with others at distance zero, so that neighbour lists would be long.
Within such a stratum distances depend on x alone: with x sorted, the k nearest are adjacent and
counts are differences of ranks. If x has labels, too, samples are counted by cells of a table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.estimators.knn.spaces import (
    INLINE,
    INNER,
    Candidate,
    CountingRule,
    FloatArray,
    interval_within,
)
from pidselect.jit import njit

#: What a sample adds that is not counted, no sum of weights.
OPEN = np.iinfo(np.int64).min


class Strata(NamedTuple):
    """Samples grouped by their levels: stratum g holds ``start[g + 1] - start[g]`` of them."""

    joint: NDArray[np.int64]  # each sample's stratum in (y, S)
    joint_start: NDArray[np.int64]
    given: NDArray[np.int64]  # each sample's stratum in S
    given_start: NDArray[np.int64]
    gap: FloatArray  # distance of each stratum in (y, S) to the nearest other one
    has_given: bool  # whether S has columns
    has_label_target: bool  # whether all columns of y are labels


class StratifiedColumn(NamedTuple):
    """Values of x sorted by stratum, then ascending; a slot is a position in that order."""

    joint: FloatArray  # strata of (y, S)
    given: FloatArray  # strata of S
    given_slot: NDArray[np.int64]  # the slot in `given` of each slot in `joint`
    sample: NDArray[np.int64]  # the sample of each slot in `joint`
    by_rank: NDArray[np.int64]  # the sample of each rank in x
    next_joint: NDArray[np.int64]  # the next free slot of each stratum
    next_given: NDArray[np.int64]


def score_discrete(
    candidate: Candidate,
    rows: NDArray[np.int32],
    strata: Strata,
    rule: CountingRule,
    values: NDArray[np.int64],
    is_open: NDArray[np.bool_],
) -> bool:
    """Add the value of a candidate of one column in each permutation ``rows[m]`` to ``values[m]``.

    Samples that other strata may be as near to are marked in ``is_open[m]`` and not counted. Return
    whether there are any.
    """
    n_samples = rows.shape[1]
    values_of_x, samples = np.empty((2, n_samples)), np.empty((3, n_samples), dtype=np.int64)
    starts = strata.joint_start.copy(), strata.given_start.copy()
    slots = StratifiedColumn._make((*values_of_x, *samples, *starts))
    return bool(add_discrete(candidate, rows, strata, rule, slots, values, is_open))


@njit(**INNER)
def add_discrete(candidate, rows, strata, rule, slots, values, is_open):
    """Score all permutations; return whether any sample is open."""
    some = False
    for m in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            slots.by_rank[candidate.sorted.rank[rows[m, i]]] = i
        _sort_within(candidate.sorted.ascending, strata, slots)
        total = 0
        for slot in range(rows.shape[1]):
            added = _count_in_stratum(slot, slots, strata, candidate, rule)
            if added != OPEN:
                total += added
            else:
                is_open[m, slots.sample[slot]] = some = True
        values[m] += total
    return some


@njit(**INLINE)
def _sort_within(ascending, strata, slots):
    """Sort one permutation of x within the strata, from its sorted values."""
    next_joint, next_given = slots.next_joint, slots.next_given
    for g in range(next_joint.size):
        next_joint[g] = strata.joint_start[g]
    for h in range(next_given.size):
        next_given[h] = strata.given_start[h]
    for rank in range(ascending.size):
        i = slots.by_rank[rank]
        g, h = strata.joint[i], strata.given[i]
        slots.joint[next_joint[g]] = slots.given[next_given[h]] = ascending[rank]
        slots.given_slot[next_joint[g]] = next_given[h]
        slots.sample[next_joint[g]] = i
        next_joint[g] += 1
        next_given[h] += 1


@njit(**INLINE)
def _count_in_stratum(slot, slots, strata, candidate, rule):
    """Return the weights of a sample's counts, or OPEN if other strata may be as near."""
    i = slots.sample[slot]
    g, h = strata.joint[i], strata.given[i]
    start, gap = strata.joint_start[g], strata.gap[g]
    mates = slots.joint[start : strata.joint_start[g + 1]]
    # Beyond the maximum radius counts cancel if all samples are as near in y, or all in x.
    is_cancelled = strata.has_label_target or candidate.max_distance[0] <= rule.max_radius
    is_zero = gap >= rule.max_radius and is_cancelled
    if mates.size <= rule.k:
        return 0 if is_zero else OPEN
    radius = min(_kth_nearest(mates, slot - start, rule.k), candidate.max_distance[0])
    if radius >= rule.max_radius and is_zero:
        return 0
    limit = radius if rule.strict else np.nextafter(radius, np.inf)
    if limit > gap:
        return OPEN
    first = strata.given_start[h]
    wider = slots.given[first : strata.given_start[h + 1]]
    in_given = wider.size - 1 if limit > 0.0 or not strata.has_given else 0
    in_joint = mates.size - 1 if limit > 0.0 else 0
    in_x = _nearer(wider, slots.given_slot[slot] - first, limit, candidate)
    weight = rule.weight
    added = weight[in_given] - weight[in_joint] - weight[in_x]
    if not rule.strict:
        added += weight[_nearer(mates, slot - start, limit, candidate)]
    return added


@njit(**INNER)
def _nearer(ascending, rank, limit, candidate):
    """Count the others nearer than the limit to the value at a rank."""
    if limit > candidate.max_distance[0]:
        return ascending.size - 1
    first, last = interval_within(ascending, rank, limit)
    return max(last - first - 1, 0)


@njit(**INLINE)
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


def score_labels(
    codes: NDArray[np.int64],
    rows: NDArray[np.int32],
    strata: Strata,
    rule: CountingRule,
    values: NDArray[np.int64],
) -> None:
    """Add the value of labels in each permutation ``rows[m]``, given labels, to ``values[m]``.

    Without k others in its cell of (x, y, S) a sample's radius is 1, and what it adds is zero.
    """
    n_levels = codes.max() + 1
    cells = (
        np.zeros((len(strata.joint_start) - 1, n_levels), dtype=np.int32),
        np.zeros((len(strata.given_start) - 1, n_levels), dtype=np.int32),
    )
    add_labels(codes, rows, strata, rule, cells, values)


@njit(**INNER)
def add_labels(codes, rows, strata, rule, cells, values):
    """Score all permutations; cells are zero before and after, of which most may be empty."""
    in_joint, in_given = cells
    weight = rule.weight
    for m in range(rows.shape[0]):
        for i in range(codes.size):
            code = codes[rows[m, i]]
            in_joint[strata.joint[i], code] += 1
            in_given[strata.given[i], code] += 1
        for i in range(codes.size):
            g, h, code = strata.joint[i], strata.given[i], codes[rows[m, i]]
            if in_joint[g, code] > rule.k:
                n_joint = strata.joint_start[g + 1] - strata.joint_start[g]
                n_given = strata.given_start[h + 1] - strata.given_start[h]
                values[m] += weight[in_joint[g, code] - 1] - weight[in_given[h, code] - 1]
                values[m] += weight[n_given - 1] - weight[n_joint - 1]
        for i in range(codes.size):
            code = codes[rows[m, i]]
            in_joint[strata.joint[i], code] = 0
            in_given[strata.given[i], code] = 0
