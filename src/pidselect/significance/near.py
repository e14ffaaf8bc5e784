"""Samples that are near in the conditioning set."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import ndtri
from scipy.stats import rankdata

from pidselect.data import Block, Column, FloatArray, IntArray

#: Neighbours of a sample that it may change places with.
NEIGHBOURS = 5

#: Distance of samples of different levels of a label, or in different groups.
APART = 10.0


def nearest_samples(
    given: Block, n_samples: int, groups: IntArray | None = None, n_neighbours: int = NEIGHBOURS
) -> IntArray:
    """Return the nearest samples of each in S, (n_samples, n_neighbours), by normal scores.

    Equal samples are in an order that depends on their row alone.
    """
    columns = [_position(column) for column in given.columns]
    if groups is not None:
        columns.append(1e3 * APART * groups[:, np.newaxis])
    points = np.concatenate(columns, axis=1)
    # The first of many equal samples would else be the neighbours of all.
    points = points + np.random.default_rng(n_samples).normal(scale=1e-6, size=points.shape)
    n_neighbours = max(1, min(n_neighbours, n_samples - 1))
    found = cKDTree(points).query(points, k=n_neighbours + 1)[1]
    return np.asarray(found[:, 1:], dtype=np.int64)


def _position(column: Column) -> FloatArray:
    """Return normal scores of a number, and indicators of the levels of a label."""
    if column.feature_type == "nominal":
        codes = column.codes()
        return APART * (codes[:, np.newaxis] == np.arange(codes.max() + 1))
    missing = np.isnan(column.values)
    ranks = np.full(len(missing), (1.0 + (~missing).sum()) / 2)
    ranks[~missing] = rankdata(column.values[~missing])
    scores = ndtri(ranks / (1.0 + (~missing).sum()))
    return np.stack([scores, APART * missing], axis=1) if missing.any() else scores[:, np.newaxis]
