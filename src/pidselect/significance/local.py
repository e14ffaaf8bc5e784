r"""Local test: dependence on a candidate that shows only together with S, or in other moments.

Functions :math:`\phi` of what S leaves of the candidate and :math:`\psi` of what it leaves of the
target are uncorrelated near any value of S if the candidate has no information. Two kinds of sums
of their products :math:`u_i = \phi_i \psi_i` are large if it has: those over all samples, for
other moments of the target than its mean, and those over pairs of samples near in S,

.. math:: \frac{(\sum_i u_i)^2}{\sum_i u_i^2}, \qquad
          \frac{\sum_{i<j} K_{ij} u_i u_j}{\sqrt{\sum_{i<j} K_{ij} u_i^2 u_j^2}},

with the graph K of near samples. Both are self-normalised as in the score test and brought to the
scale of a normal distribution; the largest is the statistic of a candidate. The null distribution
is that of the score test. Functions of several dimensions, such as splines, are summed over in
:math:`u_i u_j`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from pidselect.data import FloatArray, IntArray
from pidselect.significance.score import LEAST, NOTHING, Bound, Family

#: Wilson and Hilferty's normal approximation of chi-square with one degree of freedom.
CUBE_MEAN, CUBE_DEVIATION = 7 / 9, np.sqrt(2 / 9)

#: Families whose functions are summed over pairs, and moments of the target by which.
PAIRED = {"line": 2, "label": 2, "spline": 1}

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
            pooled = pooled_statistics(family, permuted)
            np.maximum.at(found, family.owners, pooled)
        n_moments = PAIRED.get(family.name, 0)
        for moment in permuted[:n_moments]:
            members = zip(family.owners, family.functions, strict=True)
            for owner, functions in members:
                best = found[owner]
                for graph in bound.graphs:
                    value = pair_statistics(functions, graph, moment)
                    np.maximum(best, value, out=best)
    return found


def pooled_statistics(family: Family, permuted: Sequence[FloatArray]) -> FloatArray:
    """Return the largest pooled sum of each member, (n_members, n_permutations)."""
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
            if order == 1 and family.name == "powers":  # squares by squares
                by_member = root.reshape(members, width, -1)
                by_member[~family.is_even, 1::3] = 0.0
            normal = (root - CUBE_MEAN) / CUBE_DEVIATION
            np.maximum(best, normal, out=best)
    by_member = best.reshape(members, width, -1)
    return np.asarray(by_member.max(axis=1))


def pair_statistics(
    functions: FloatArray, graph: tuple[IntArray, IntArray], permuted: FloatArray
) -> FloatArray:
    """Return the largest statistic over directions of the target, (n_permutations,).

    `functions` have the shape (n_samples, n_functions), `permuted` (n_directions, n_samples,
    n_permutations).
    """
    first, second = graph
    weight = np.einsum("pk,pk->p", functions[first], functions[second])
    ends = first.searchsorted(np.arange(len(functions) + 1))
    matrix = csr_array((weight, second, ends), shape=(len(functions), len(functions)))
    squared = csr_array((weight**2, second, ends), shape=matrix.shape)
    best = np.full(permuted.shape[2], NOTHING)
    for direction in permuted:
        squares = direction**2
        variance = (squares * (squared @ squares)).sum(axis=0)
        deviation = np.sqrt(np.maximum(variance, 1e-300))
        total = (direction * (matrix @ direction)).sum(axis=0)
        np.maximum(best, total / deviation, out=best)
    return best
