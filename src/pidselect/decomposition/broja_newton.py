"""The linear system of a Newton step of the BROJA solver: factorise once, solve repeatedly.

The unknowns are changes of the potentials, l[t,a] and r[t,b]. Pair (a, b) of source states couples
l[:,a] and r[:,b] by a matrix that is diagonal plus rank one, diag(q) + c p p', where q[t,a,b] is
the current joint distribution, p[t,a,b] = p(t | a, b), and c diverges as the pair's constraint
becomes active. To keep large numbers out of sums, every rank-one term has an unknown of its own,
w[a,b] = c p'(l + r). Then the r are eliminated first, as their matrix M[t,b] = sum_a q[t,a,b] is
diagonal; then the w, by one small matrix N of |A| rows for each state b; one dense system in the l
remains. All terms of sums are positive.

The states b of the larger source are the last axis, so that the inner loops are contiguous and
vectorised.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.decomposition.dot_product import dot, four_dots
from pidselect.jit import njit

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: A pivot below this fraction of its diagonal entry is rounding: its unknown is not changed.
NOTHING_LEFT = 1e-14
#: Replaces such a pivot; it does not overflow.
WALL = 1e200
#: States b processed at once, to stay in cache.
CHUNK = 128

#: No fast mathematics: results are the same whenever and wherever the kernels are compiled.
OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy"}


class Factors(NamedTuple):
    """The terms of the matrix, and the Cholesky factors of its reduced parts.

    `free` lists the (t, a) of the unknowns l[t,a] that are not fixed.
    """

    joint: FloatArray
    conditional: FloatArray
    inverse_total: FloatArray
    small: FloatArray
    dense: FloatArray
    free: IntArray


class PotentialChange(NamedTuple):
    """A solution: l (T, A), r (T, B) and w (A, B)."""

    left: FloatArray
    right: FloatArray
    tension: FloatArray


@njit(**OPTIONS)
def factorise(joint, conditional, stiffness, free):
    """Reduce and factorise the system; `stiffness` holds the c[a,b], 0 where there is no term."""
    inverse_total = _inverse_total(joint)
    small = _small_factors(conditional, inverse_total, stiffness)
    dense = np.zeros((free.shape[0], free.shape[0]))
    _add_laplacians(dense, joint, inverse_total, free)
    factors = Factors(joint, conditional, inverse_total, small, dense, free)
    _add_tensions(dense, factors)
    _factorise_dense(dense)
    return factors


@njit(**OPTIONS)
def solve(factors, left_side, right_side):
    """Solve for right-hand sides of shapes (T, A) and (T, B)."""
    n_targets, n_first, n_second = factors.joint.shape
    change = PotentialChange(
        np.zeros((n_targets, n_first)),
        np.empty((n_targets, n_second)),
        np.zeros((n_first, n_second)),
    )
    # With l = 0 first; l accounts for the residual on the left.
    _solve_tensions(factors, change, right_side)
    _solve_right(factors, change, right_side)
    missing = np.empty(factors.free.shape[0])
    for i in range(missing.size):
        t, a = factors.free[i]
        known = dot(factors.joint[t, a], change.right[t])
        missing[i] = left_side[t, a] - known - dot(factors.conditional[t, a], change.tension[a])
    _solve_dense(factors.dense, missing)
    for i in range(missing.size):
        t, a = factors.free[i]
        change.left[t, a] = missing[i]
    _solve_tensions(factors, change, right_side)
    _solve_right(factors, change, right_side)
    return change


@njit(**OPTIONS)
def _inverse_total(joint):
    """Return 1 / sum_a q[t,a,b], and 0 where the sum is 0."""
    total = joint.sum(axis=1)
    return np.where(total > 0.0, 1.0 / total, 0.0)


@njit(**OPTIONS)
def _small_factors(conditional, inverse_total, stiffness):
    """Return the Cholesky factors of N = p' M^-1 p + 1/c for each b, shape (A, A, B).

    A pair without a term has WALL instead of 1/c, which keeps its w at 0. Diagonals are stored
    inverted.
    """
    n_targets, n_first, n_second = conditional.shape
    factor = np.zeros((n_first, n_first, n_second))
    weighted = np.empty(n_second)
    for t in range(n_targets):
        for i in range(n_first):
            for b in range(n_second):
                weighted[b] = conditional[t, i, b] * inverse_total[t, b]
            for j in range(i + 1):
                entry, other = factor[i, j], conditional[t, j]
                for b in range(n_second):
                    entry[b] += weighted[b] * other[b]
    before = np.empty(n_second)
    for j in range(n_first):
        pivot, stiff = factor[j, j], stiffness[j]
        for b in range(n_second):
            pivot[b] += 1.0 / stiff[b] if stiff[b] > 0.0 else WALL
            before[b] = pivot[b]
        for k in range(j):
            entry = factor[j, k]
            for b in range(n_second):
                pivot[b] -= entry[b] * entry[b]
        for b in range(n_second):
            left = pivot[b] if pivot[b] > NOTHING_LEFT * before[b] else WALL
            pivot[b] = 1.0 / np.sqrt(left)
        for i in range(j + 1, n_first):
            entry = factor[i, j]
            for k in range(j):
                one, other = factor[i, k], factor[j, k]
                for b in range(n_second):
                    entry[b] -= one[b] * other[b]
            entry *= pivot
    return factor


@njit(**OPTIONS)
def _add_laplacians(dense, joint, inverse_total, free):
    """Add the Schur complement of diag(q) without r: for each t a Laplacian over the states a.

    Its off-diagonal entries are -sum_b q[t,a,b] q[t,a',b] / M[t,b]; the diagonal ones are sums, not
    differences.
    """
    n_targets, n_first = joint.shape[:2]
    place = np.full((n_targets, n_first), -1)
    for i in range(free.shape[0]):
        place[free[i, 0], free[i, 1]] = i
    for t in range(n_targets):
        for a in range(n_first):
            scaled = joint[t, a] * inverse_total[t]
            for other in range(a):
                weight = dot(scaled, joint[t, other])
                i, j = place[t, a], place[t, other]
                if i >= 0:
                    dense[i, i] += weight
                if j >= 0:
                    dense[j, j] += weight
                if i >= 0 and j >= 0:
                    dense[max(i, j), min(i, j)] -= weight


@njit(**OPTIONS)
def _add_tensions(dense, factors):
    """Add U' N^-1 U, where U is the dependence of the w on the l, some states b at a time."""
    n_first, n_second = factors.joint.shape[1:]
    for start in range(0, n_second, CHUNK):
        size = min(CHUNK, n_second - start)
        reduced = np.empty((dense.shape[0], n_first * size))
        for i in range(dense.shape[0]):
            _reduce(factors, i, start, reduced[i].reshape(n_first, size))
        _add_products(dense, reduced)


@njit(**OPTIONS)
def _reduce(factors, i, start, rows):
    """Set rows (A, size) to the inverse Cholesky factor of N times the column of U of unknown i.

    For l[t,own] it is U[a] = p[t,a] (1[a = own] - q[t,own] / M[t]), where 1 - q / M is a sum again.
    """
    n_first, size = rows.shape
    t, own = factors.free[i]
    inverse = factors.inverse_total[t, start : start + size]
    others = np.zeros(size)
    for a in range(n_first):
        joint = factors.joint[t, a, start : start + size]
        if a != own:
            for b in range(size):
                others[b] += joint[b] * inverse[b]
    share = factors.joint[t, own, start : start + size] * inverse
    for a in range(n_first):
        row, conditional = rows[a], factors.conditional[t, a, start : start + size]
        row[:] = conditional * others if a == own else -conditional * share
        for k in range(a):
            entry, known = factors.small[a, k, start : start + size], rows[k]
            for b in range(size):
                row[b] -= entry[b] * known[b]
        pivot = factors.small[a, a, start : start + size]
        row *= pivot


@njit(**OPTIONS)
def _add_products(dense, rows):
    """Add the products of all pairs of rows to the lower triangle."""
    for i in range(rows.shape[0]):
        four = i + 1 - (i + 1) % 4
        for j in range(0, four, 4):
            products = four_dots(rows[i], rows[j], rows[j + 1], rows[j + 2], rows[j + 3])
            for k in range(4):
                dense[i, j + k] += products[k]
        for j in range(four, i + 1):
            dense[i, j] += dot(rows[i], rows[j])


@njit(**OPTIONS)
def _factorise_dense(matrix):
    """Replace the lower triangle by its Cholesky factor, diagonal inverted."""
    for j in range(matrix.shape[0]):
        before, row = matrix[j, j], matrix[j, :j]
        pivot = before - dot(row, row)
        if not pivot > NOTHING_LEFT * before:
            pivot = WALL
        inverse = 1.0 / np.sqrt(pivot)
        matrix[j, j] = inverse
        for i in range(j + 1, matrix.shape[0]):
            matrix[i, j] = (matrix[i, j] - dot(matrix[i, :j], row)) * inverse


@njit(**OPTIONS)
def _solve_dense(factor, values):
    """Solve in place."""
    n = values.size
    for i in range(n):
        values[i] = (values[i] - dot(factor[i, :i], values[:i])) * factor[i, i]
    for i in range(n - 1, -1, -1):
        value = values[i]
        for k in range(i + 1, n):
            value -= factor[k, i] * values[k]
        values[i] = value * factor[i, i]


@njit(**OPTIONS)
def _solve_tensions(factors, change, right_side):
    """Set w for the given l: N w = p' l + p' M^-1 (right side - sum_a q l)."""
    n_targets, n_first, n_second = factors.joint.shape
    left, tension = change.left, change.tension
    tension[:] = 0.0
    shift = np.empty(n_second)
    for t in range(n_targets):
        shift[:] = right_side[t]
        for a in range(n_first):
            if left[t, a] != 0.0:
                joint, value = factors.joint[t, a], left[t, a]
                for b in range(n_second):
                    shift[b] -= joint[b] * value
        shift *= factors.inverse_total[t]
        for a in range(n_first):
            row, conditional, value = tension[a], factors.conditional[t, a], left[t, a]
            for b in range(n_second):
                row[b] += conditional[b] * (value + shift[b])
    _solve_small(factors.small, tension)


@njit(**OPTIONS)
def _solve_small(small, values):
    """Solve with all the factors of N in place, values (A, B)."""
    n_first, n_second = values.shape
    for i in range(n_first):
        row, pivot = values[i], small[i, i]
        for k in range(i):
            entry, known = small[i, k], values[k]
            for b in range(n_second):
                row[b] -= entry[b] * known[b]
        row *= pivot
    for i in range(n_first - 1, -1, -1):
        row, pivot = values[i], small[i, i]
        for k in range(i + 1, n_first):
            entry, known = small[k, i], values[k]
            for b in range(n_second):
                row[b] -= entry[b] * known[b]
        row *= pivot


@njit(**OPTIONS)
def _solve_right(factors, change, right_side):
    """Set r for the given l and w: M r = right side - sum_a (q l + p w)."""
    n_targets, n_first, n_second = factors.joint.shape
    for t in range(n_targets):
        row = change.right[t]
        row[:] = right_side[t]
        for a in range(n_first):
            joint, conditional = factors.joint[t, a], factors.conditional[t, a]
            tension, value = change.tension[a], change.left[t, a]
            for b in range(n_second):
                row[b] -= joint[b] * value + conditional[b] * tension[b]
        row *= factors.inverse_total[t]
