"""A single nearest-neighbour estimate: without permutations, neighbour lists would not pay.

The same counts as those of the other kernels, each by a search of the bounding boxes near a sample.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pidselect.data import IntArray
from pidselect.estimators.knn.neighbour_lists import spatial_order
from pidselect.estimators.knn.spaces import (
    BLOCK,
    INNER,
    BoundingBoxes,
    CountingRule,
    FloatArray,
    NeighbourBuffer,
    Space,
    bounding_boxes,
    insert,
    list_within,
    new_buffer,
    space_distance,
)
from pidselect.jit import njit


class OrderedSpace(NamedTuple):
    """A space with samples in `spatial_order`, and the original index of each."""

    space: Space
    boxes: BoundingBoxes
    order: IntArray

    @classmethod
    def of(cls, *spaces: Space) -> OrderedSpace:
        """Return the joint space of several."""
        values = np.concatenate([space.values for space in spaces])
        order = spatial_order(values)
        max_distance = np.concatenate([space.max_distance for space in spaces])
        joint = Space(np.ascontiguousarray(values[:, order]), max_distance)
        return cls(joint, bounding_boxes(joint), order)


def score_single(x: Space, target: Space, given: Space, rule: CountingRule) -> int:
    """Return the sum of the weights of all counts."""
    n_samples, weight = x.values.shape[1], rule.weight
    found, radius = new_buffer(n_samples), np.empty(n_samples)
    everything = OrderedSpace.of(x, target, given)
    _find_radii(everything, np.empty(rule.k), found, radius)
    limit = radius if rule.strict else np.nextafter(radius, np.inf)

    def total(ordered: OrderedSpace) -> int:
        counts = np.empty(n_samples, dtype=np.int64)
        _count_within(ordered, limit, found, counts)
        return int(weight[counts].sum())

    value = -total(OrderedSpace.of(x, given)) - total(OrderedSpace.of(target, given))
    value += total(OrderedSpace.of(given)) if len(given.values) else n_samples * int(weight[-1])
    return value if rule.strict else value + total(everything)


@njit(**INNER)
def _find_radii(
    ordered: OrderedSpace, nearest: FloatArray, found: NeighbourBuffer, radius: FloatArray
) -> None:
    """Fill `radius` with the distance of each sample's k-th neighbour."""
    space, n_samples = ordered.space, radius.size
    for i in range(n_samples):
        nearest[:] = np.inf
        first = i // BLOCK * BLOCK
        for j in range(first, min(first + BLOCK, n_samples)):
            if j != i:
                insert(space_distance(space, i, j), nearest)
        limit = np.nextafter(nearest[-1], np.inf)
        size = list_within(space, ordered.boxes, i, limit, found)
        nearest[:] = np.inf
        for t in range(size):
            insert(found.distance[t], nearest)
        radius[ordered.order[i]] = nearest[-1]


@njit(**INNER)
def _count_within(
    ordered: OrderedSpace, limit: FloatArray, found: NeighbourBuffer, counts: IntArray
) -> None:
    """Fill `counts` with the number of other samples nearer to each than its limit."""
    for i in range(limit.size):
        sample = ordered.order[i]
        counts[sample] = list_within(ordered.space, ordered.boxes, i, limit[sample], found)
