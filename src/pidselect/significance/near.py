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

#: Levels of a label that are set apart, the most frequent; rarer ones than so many neighbours have
#: are alike, as these samples would be neighbours of none.
MAX_APART = 100


def nearest_samples(
    given: Block, n_samples: int, groups: IntArray | None = None, n_neighbours: int = NEIGHBOURS
) -> IntArray:
    """Return the nearest samples of each in S, (n_samples, n_neighbours), by normal scores.

    Those of a small group include the sample itself. Equal samples are in an order that depends on
    their row alone.

    Examples
    --------
    >>> given = Block((Column("s", "continuous", np.array([0.0, 9.0, 0.1, 9.1, 0.2, 9.2])),))
    >>> nearest_samples(given, 6, n_neighbours=2).tolist()
    [[2, 4], [4, 3], [4, 0], [1, 5], [1, 2], [3, 1]]
    """
    columns = [_position(column) for column in given.columns]
    if groups is not None:
        columns.append(1e3 * APART * groups[:, np.newaxis].astype(np.float64))
    points = np.concatenate(columns, axis=1)
    # The first of many equal samples would else be the neighbours of all.
    points = points + np.random.default_rng(n_samples).normal(scale=1e-6, size=points.shape)
    n_neighbours = max(1, min(n_neighbours, n_samples - 1))
    # Labels are few points along many axes, which a tree with medians as splits would not separate.
    tree = cKDTree(points, balanced_tree=False)
    found = np.asarray(tree.query(points, k=n_neighbours + 1)[1][:, 1:], dtype=np.int64)
    if groups is None:
        return found
    return np.where(groups[found] == groups[:, np.newaxis], found, np.arange(n_samples)[:, None])


def _position(column: Column) -> FloatArray:
    """Return normal scores of a number, and indicators of the levels of a label."""
    if column.feature_type == "nominal":
        codes = column.codes()
        counts = np.bincount(codes)
        frequent = np.argsort(-counts, kind="stable")[:MAX_APART]
        n_apart = max(1, int((counts[frequent] > NEIGHBOURS).sum()))
        return APART * (codes[:, np.newaxis] == frequent[:n_apart])
    missing = np.isnan(column.values)
    ranks = np.full(len(missing), (1.0 + (~missing).sum()) / 2)
    ranks[~missing] = rankdata(column.values[~missing])
    scores = ndtri(ranks / (1.0 + (~missing).sum()))
    return np.stack([scores, APART * missing], axis=1) if missing.any() else scores[:, np.newaxis]
