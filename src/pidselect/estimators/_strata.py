"""The nearest-neighbour kernel for a target and a given that take few values, a class target say.

Then every sample shares its (y, S) with many others, all at distance zero, and walking them
nearest first would mean walking them all. But within such a stratum only x tells samples apart:
with x sorted, the k nearest are next door, and counts are two searches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pidselect.estimators._neighbours import (
    JIT,
    Candidate,
    FloatArray,
    Neighbourhood,
    Rule,
    count_in_x,
    count_one,
    new_scratch,
    others,
    weigh,
)


class Strata(NamedTuple):
    """Samples grouped by what they share: stratum g holds ``start[g + 1] - start[g]`` of them."""

    joint: NDArray[np.int64]  # each sample's stratum in (y, S)
    joint_start: NDArray[np.int64]
    given: NDArray[np.int64]  # each sample's stratum in S
    given_start: NDArray[np.int64]
    safe: FloatArray  # for each stratum in (y, S): no sample of another one is nearer


@njit(**JIT)
def score_columns_in_strata(
    candidate: Candidate,
    rows: NDArray[np.int32],
    strata: Strata,
    around: Neighbourhood,
    rule: Rule,
    values: FloatArray,
) -> None:
    """Fill `values` with what `score_columns` would give, for a candidate of one column."""
    n_samples = candidate.order.size
    nothing_given = around.given.values.shape[0] == 0
    lanes = new_scratch(n_samples, rule.k, 1)
    x = np.empty((n_samples, 1, 1))
    tally = np.empty((n_samples + 1, 1), dtype=np.int32)
    sample_of = np.empty(n_samples, dtype=np.int64)
    sorted_in_joint, sorted_in_given = np.empty(n_samples), np.empty(n_samples)
    place = np.empty(n_samples, dtype=np.int64)
    for m in range(rows.shape[0]):
        for i in range(n_samples):
            sample_of[rows[m, i]] = i
            x[i, 0, 0] = candidate.values[rows[m, i], 0]
        _sort_within(candidate, sample_of, strata.given, strata.given_start, sorted_in_given, place)
        _sort_within(candidate, sample_of, strata.joint, strata.joint_start, sorted_in_joint, place)
        tally[:] = 0
        for i in range(n_samples):
            g, h = strata.joint[i], strata.given[i]
            mates = sorted_in_joint[strata.joint_start[g] : strata.joint_start[g + 1]]
            radius = min(
                _kth_nearest(mates, place[i] - strata.joint_start[g], rule.k), candidate.cap[0]
            )
            limit = radius if rule.strict else np.nextafter(radius, np.inf)
            if limit > strata.safe[g]:
                count_one(x, candidate, around, rule, i, lanes, tally)
                continue
            wider = sorted_in_given[strata.given_start[h] : strata.given_start[h + 1]]
            here = x[i, 0, 0]
            tally[n_samples - 1 if nothing_given else others(wider.size, limit), 0] += 1
            tally[others(mates.size, limit), 0] -= 1
            tally[count_in_x(candidate, wider, here, limit), 0] -= 1
            if not rule.strict:
                same = count_in_x(candidate, mates, here, limit)
                tally[rule.k if radius > 0.0 else same, 0] += 1
        weigh(tally, rule.weight, values[m : m + 1])


@njit(**JIT)
def _sort_within(candidate, sample_of, stratum, start, ascending, place):  # type: ignore[no-untyped-def]
    """Fill `ascending` stratum by stratum with sorted values, and note each sample's place."""
    filled = start.copy()
    for position in range(candidate.order.size):
        i = sample_of[candidate.order[position]]
        place[i] = filled[stratum[i]]
        ascending[place[i]] = candidate.ascending[position]
        filled[stratum[i]] += 1


@njit(**JIT)
def _kth_nearest(ascending, at, k):  # type: ignore[no-untyped-def]
    """Return the distance of the k-th nearest to the value at a place in sorted values."""
    if ascending.size <= k:
        return np.inf
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
