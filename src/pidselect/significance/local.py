r"""Local test: dependence on a candidate that shows only together with S, or in other moments.

Functions :math:`\phi` of what S leaves of the candidate and :math:`\psi` of what it leaves of the
target are uncorrelated near any value of S if the candidate has no information. Two kinds of sums
of their products :math:`u_i = \phi_i \psi_i` are large if it has: those over all samples, for
other moments of the target than its mean, and those over pairs of samples near in S,

.. math:: \frac{(\sum_i u_i)^2}{\sum_i u_i^2}, \qquad
          \frac{\sum_{i<j} K_{ij} u_i u_j}{\sqrt{\sum_{i<j} K_{ij} u_i^2 u_j^2}},

with K = 1 for samples in the same cell of S, else 0. Both are self-normalised as in the score test
and brought to the scale of a normal distribution; the largest is the statistic of a candidate. The
null distribution is that of the score test. Functions of several dimensions, such as waves, are
summed over in :math:`u_i u_j`; sums over pairs are squares of sums over cells, without the terms of
a sample with itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pidselect.data import FloatArray, IntArray
from pidselect.significance.score import LEAST, NOTHING, Bound, Family

#: Wilson and Hilferty's normal approximation of chi-square with one degree of freedom.
CUBE_MEAN, CUBE_DEVIATION = 7 / 9, np.sqrt(2 / 9)

#: Families whose functions are summed over pairs, and moments of the target by which.
PAIRED = {"line": 2, "label": 2, "wave": 1}

#: Functions of a candidate at most that are summed over pairs: of labels, the most frequent levels.
#: Of waves these are the slower half.
MOST_PAIRED = 12

#: Permutations at a time at least, and values of an array that stays in the cache.
LANES, IN_CACHE = 16, 2**16

#: All families that are used.
LOCAL_FAMILIES = ("powers", *PAIRED)


def local_statistics(
    made: Sequence[Family], bound: Bound, n_candidates: int, rows: IntArray
) -> FloatArray:
    """Return the statistics of candidates, (n_candidates, n_permutations)."""
    found = np.full((n_candidates, len(rows)), NOTHING)
    permuted = [moment.T.take(rows.T, axis=1) for moment in bound.moments]
    for family in made:
        if family.name in ("powers", "label"):
            pooled = pooled_statistics(family, permuted, bound.smoother is None)
            np.maximum.at(found, family.owners, pooled)
        most = family.functions.shape[2] // 2 if family.name == "wave" else MOST_PAIRED
        functions = family.functions[:, :, :most]
        for moment in permuted[: PAIRED.get(family.name, 0)]:
            for cells in bound.partitions:
                for direction in moment:
                    value = pair_statistics(functions, cells, direction)
                    np.maximum.at(found, family.owners, value)
    return found


def pooled_statistics(
    family: Family, permuted: Sequence[FloatArray], has_squares: bool
) -> FloatArray:
    """Return the largest pooled sum of each member, (n_members, n_permutations).

    Squares by squares are left out given numbers: both may depend on S, and so on each other.
    """
    members, n_samples, width = family.functions.shape
    flat = family.functions.transpose(0, 2, 1).reshape(-1, n_samples)
    squared = flat**2
    n_permutations = permuted[0].shape[2]
    best = np.full((len(flat), n_permutations), NOTHING)
    for order, moment in enumerate(permuted):
        for direction in moment:
            variance = squared @ direction**2
            total = flat @ direction
            chi_square = total**2 / np.maximum(variance, LEAST)
            root = np.cbrt(chi_square)
            if order == 1 and family.name == "powers" and not has_squares:
                root.reshape(members, width, -1)[:, 1::3] = 0.0
            normal = (root - CUBE_MEAN) / CUBE_DEVIATION
            np.maximum(best, normal, out=best)
    by_member = best.reshape(members, width, -1)
    return np.asarray(by_member.max(axis=1))


def pair_statistics(
    functions: FloatArray, cells: Sequence[IntArray], permuted: FloatArray
) -> FloatArray:
    """Return sums over pairs of samples in the same cell, (n_members, n_permutations).

    `functions` have the shape (n_members, n_samples, n_functions), `permuted` (n_samples,
    n_permutations).
    """
    order, ends = np.concatenate(cells), np.cumsum([0, *map(len, cells)])
    functions, permuted = functions[:, order], permuted[order]
    first, second = np.triu_indices(functions.shape[2])
    times = np.where(first == second, 1.0, np.sqrt(2.0))  # a product stands for two
    products = functions[:, :, first] * functions[:, :, second] * times
    length = (functions**2).sum(axis=2)
    squares = permuted**2
    total = _sums_of_squares(functions, ends, permuted) - length @ squares
    variance = _sums_of_squares(products, ends, squares) - length**2 @ squares**2
    return np.asarray(total / np.sqrt(2.0 * np.maximum(variance, 1e-300)))


def _sums_of_squares(functions: FloatArray, ends: IntArray, permuted: FloatArray) -> FloatArray:
    """Return sums over functions and cells of the squared sums of products in a cell.

    The samples of cells follow one another, between two ends each.
    """
    n_members, n_samples, width = functions.shape
    flat = functions.transpose(0, 2, 1).reshape(-1, n_samples)
    found = np.zeros((len(flat), permuted.shape[1]))
    size = max(LANES, IN_CACHE // len(flat))
    for start in range(0, permuted.shape[1], size):
        lanes = slice(start, start + size)
        total = np.zeros(found[:, lanes].shape)
        for first, last in pairwise(ends.tolist()):
            of_cell = flat[:, first:last] @ permuted[first:last, lanes]
            total += np.square(of_cell, out=of_cell)
        found[:, lanes] = total
    return np.asarray(found.reshape(n_members, width, -1).sum(axis=1))
