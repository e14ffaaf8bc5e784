"""KSG algorithm 2: separate radii in x, y and S."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from pidselect.data import Block
from pidselect.estimators.base import Batch, check_same_length
from pidselect.estimators.knn.binding import Formula, list_lengths, to_candidate, to_space
from pidselect.estimators.knn.neighbour_lists import list_neighbours
from pidselect.estimators.knn.spaces import (
    INNER,
    JIT,
    Candidate,
    FloatArray,
    NeighbourLists,
    Space,
    bounding_boxes,
    distances_from,
    insert,
    space_distance,
)
from pidselect.jit import njit


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


def bind_ksg2(target: Block, given: Block, formula: Formula) -> KSG2Scorer:
    """List the neighbours of every sample in (y, S)."""
    n, joint, scale = target.n_samples, target + given, formula.scale
    length, _ = list_lengths(joint, Block(), formula.k)
    space = to_space(joint, n, scale)
    lists = list_neighbours(space, bounding_boxes(space), length)
    spaces = KSG2Spaces(to_space(target, n, scale), to_space(given, n, scale), space, lists)
    return KSG2Scorer(spaces, formula)


@dataclass(frozen=True, eq=False)
class KSG2Scorer:
    """Scores candidates by KSG algorithm 2."""

    spaces: KSG2Spaces
    formula: Formula

    def score(self, batch: Batch) -> FloatArray:
        """Return I(x; y | S) in nats for every permutation of the candidate, shape (m,)."""
        k, n_samples = self.formula.k, self.spaces.joint.values.shape[1]
        check_same_length(batch.block, n_samples)
        counts = np.maximum(np.arange(n_samples), 1.0)  # counts include the k neighbours
        if len(self.spaces.given.values):
            rule = KSG2Rule(k, digamma(counts), digamma(counts) - 1.0 / counts)
            offset = digamma(k) - 2.0 / k
        else:
            rule = KSG2Rule(k, np.zeros(n_samples), digamma(counts))
            offset = digamma(k) - 1.0 / k + digamma(n_samples)
        sums = np.empty(len(batch))
        candidate = to_candidate(self.formula.accept(batch.block), self.formula.scale)
        score_ksg2(candidate, batch.rows, self.spaces, rule, sums)
        return offset + sums / n_samples


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
    (x, y, S), and of all others as near as the k-th; samples at distances up to these are counted
    in S, (x, S) and (y, S).
    """
    n_samples = candidate.values.shape[0]
    nearest, radii = np.empty(rule.k), np.empty(3)
    all_distances, counts = np.empty(n_samples), np.empty(3, dtype=np.int64)
    tally = np.empty((n_samples, 2), dtype=np.int64)
    for m in range(rows.shape[0]):
        x = Space(candidate.values[rows[m]].T.copy(), candidate.max_distance)
        tally[:] = 0
        for i in range(n_samples):
            _find_radii(x, spaces, i, nearest, all_distances, radii)
            counts[:] = 0
            distances_from(spaces.given, i, all_distances)
            for j in range(n_samples):
                if j != i and all_distances[j] <= radii[2]:
                    counts[0] += 1
                    counts[1] += 1 if space_distance(x, i, j) <= radii[0] else 0
                    counts[2] += 1 if space_distance(spaces.target, i, j) <= radii[1] else 0
            tally[counts[0], 0] += 1
            tally[counts[1], 1] -= 1
            tally[counts[2], 1] -= 1
        values[m] = 0.0
        for n in range(n_samples):
            values[m] += tally[n, 0] * rule.weight_given[n] + tally[n, 1] * rule.weight_joint[n]


@njit(**INNER)
def _find_radii(x, spaces, i, nearest, all_distances, radii):
    """Write the radii in x, y and S, by the lists or, where these end too early, all samples."""
    lists, last = spaces.lists, nearest.size - 1
    sample, distance = lists.sample[i], lists.distance[i]
    nearest[:], radii[:] = np.inf, 0.0
    for t in range(sample.size):
        if distance[t] > nearest[last]:
            break
        insert(max(distance[t], space_distance(x, i, sample[t])), nearest)
    if nearest[last] < lists.radius[i]:
        for t in range(sample.size):
            if distance[t] > nearest[last]:
                break
            _widen(x, spaces, i, sample[t], nearest[last], radii)
        return
    nearest[:] = np.inf
    distances_from(spaces.joint, i, all_distances)
    all_distances[i] = np.inf
    for j in range(all_distances.size):
        if all_distances[j] < nearest[last]:
            insert(max(all_distances[j], space_distance(x, i, j)), nearest)
    for j in range(all_distances.size):
        if all_distances[j] <= nearest[last]:
            _widen(x, spaces, i, j, nearest[last], radii)


@njit(**INNER)
def _widen(x, spaces, i, j, kth_distance, radii):
    """Extend the radii to sample j, which is near enough in (y, S), if it is so in x."""
    step = space_distance(x, i, j)
    if step <= kth_distance:
        radii[0] = max(radii[0], step)
        radii[1] = max(radii[1], space_distance(spaces.target, i, j))
        radii[2] = max(radii[2], space_distance(spaces.given, i, j))
