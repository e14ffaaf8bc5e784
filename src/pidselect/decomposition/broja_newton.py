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
#: Kernels that allocate nothing need no reference counts, which are slow to compile. Those that are
#: mostly calls are inlined before compilation: each level of calls is optimised again.
KERNEL = {**OPTIONS, "_nrt": False}
INLINED = {**KERNEL, "inline": "always"}


class NewtonSystem(NamedTuple):
    """The terms of the matrix, the Cholesky factors of its reduced parts, and buffers.

    `joint` and `conditional` (T, A, B) are q and p, `stiffness` (A, B) the c, 0 where there is no
    term. `free` lists the (t, a) of the unknowns l[t,a] that are not fixed, and `place` (T, A) is
    the place of each in it, or -1.
    """

    joint: FloatArray
    conditional: FloatArray
    stiffness: FloatArray
    free: IntArray
    place: IntArray
    inverse_total: FloatArray  # (T, B)
    small: FloatArray  # (A, A, B)
    dense: FloatArray  # one row and column for each free unknown
    reduced: FloatArray
    buffer: FloatArray  # (2, B)


class NewtonStep(NamedTuple):
    """Changes of the four unknowns of an iterate, and the solution w (A, B)."""

    left: FloatArray
    right: FloatArray
    slack: FloatArray
    pair: FloatArray
    tension: FloatArray
    missing: FloatArray  # of each free unknown


def new_system(first: FloatArray, conditional: FloatArray) -> NewtonSystem:
    """Allocate the system of the marginal p(t, a)."""
    n_targets, n_first, n_second = conditional.shape
    # Adding a constant to l[t,:] and subtracting it from r[t,:] changes nothing: one is fixed.
    is_free = first > 0.0
    is_free[np.arange(n_targets), first.argmax(axis=1)] = False
    free = np.ascontiguousarray(np.argwhere(is_free))
    place = np.full(first.shape, -1)
    place[is_free] = np.arange(len(free))
    return NewtonSystem(
        np.empty(conditional.shape),
        conditional,
        np.empty((n_first, n_second)),
        free,
        place,
        np.empty((n_targets, n_second)),
        np.empty((n_first, n_first, n_second)),
        np.empty((len(free), len(free))),
        np.empty((len(free), n_first * min(CHUNK, n_second))),
        np.empty((2, n_second)),
    )


def new_step(system: NewtonSystem) -> NewtonStep:
    """Allocate a step."""
    n_targets, n_first, n_second = system.joint.shape
    left, right = np.empty((n_targets, n_first)), np.empty((n_targets, n_second))
    slack, pair, tension = np.empty((3, n_first, n_second))
    return NewtonStep(left, right, slack, pair, tension, np.empty(len(system.free)))


@njit(**INLINED)
def factorise(system):
    """Reduce and factorise the system."""
    _invert_total(system)
    _factorise_small(system)
    _add_laplacians(system)
    _add_tensions(system)
    _factorise_dense(system.dense)


@njit(**INLINED)
def solve(system, step, left_side, right_side):
    """Solve for right-hand sides of shapes (T, A) and (T, B): l, r and w of the step."""
    # With l = 0 first; l accounts for the residual on the left.
    step.left[:] = 0.0
    _solve_tensions(system, step, right_side)
    _solve_right(system, step, right_side)
    _set_missing(system, step, left_side)
    _solve_dense(system.dense, step.missing)
    for i in range(step.missing.size):
        step.left[system.free[i, 0], system.free[i, 1]] = step.missing[i]
    _solve_tensions(system, step, right_side)
    _solve_right(system, step, right_side)


@njit(**KERNEL)
def _invert_total(system):
    """Set 1 / sum_a q[t,a,b], and 0 where the sum is 0."""
    n_targets, n_first, n_second = system.joint.shape
    for t in range(n_targets):
        inverse = system.inverse_total[t]
        inverse[:] = 0.0
        for a in range(n_first):
            joint = system.joint[t, a]
            for b in range(n_second):
                inverse[b] += joint[b]
        for b in range(n_second):
            inverse[b] = 1.0 / inverse[b] if inverse[b] > 0.0 else 0.0


@njit(**KERNEL)
def _factorise_small(system):
    """Set the Cholesky factors of N = p' M^-1 p + 1/c for each b, shape (A, A, B).

    A pair without a term has WALL instead of 1/c, which keeps its w at 0. Diagonals are stored
    inverted.
    """
    n_targets, n_first, n_second = system.conditional.shape
    factor, weighted, before = system.small, system.buffer[0], system.buffer[1]
    factor[:] = 0.0
    for t in range(n_targets):
        inverse = system.inverse_total[t]
        for i in range(n_first):
            conditional = system.conditional[t, i]
            for b in range(n_second):
                weighted[b] = conditional[b] * inverse[b]
            for j in range(i + 1):
                entry, other = factor[i, j], system.conditional[t, j]
                for b in range(n_second):
                    entry[b] += weighted[b] * other[b]
    for j in range(n_first):
        pivot, stiff = factor[j, j], system.stiffness[j]
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
            for b in range(n_second):
                entry[b] *= pivot[b]


@njit(**KERNEL)
def _add_laplacians(system):
    """Set the dense matrix to the Schur complement of diag(q) without r.

    For each t it is a Laplacian over the states a. Its off-diagonal entries are
    -sum_b q[t,a,b] q[t,a',b] / M[t,b]; the diagonal ones are sums, not differences.
    """
    dense, scaled = system.dense, system.buffer[0]
    dense[:] = 0.0
    for t in range(system.place.shape[0]):
        inverse = system.inverse_total[t]
        for a in range(system.place.shape[1]):
            joint = system.joint[t, a]
            for b in range(scaled.size):
                scaled[b] = joint[b] * inverse[b]
            for other in range(a):
                weight = dot(scaled, system.joint[t, other])
                i, j = system.place[t, a], system.place[t, other]
                if i >= 0:
                    dense[i, i] += weight
                if j >= 0:
                    dense[j, j] += weight
                if i >= 0 and j >= 0:
                    dense[max(i, j), min(i, j)] -= weight


@njit(**INLINED)
def _add_tensions(system):
    """Add U' N^-1 U, where U is the dependence of the w on the l, some states b at a time."""
    n_second = system.joint.shape[2]
    for start in range(0, n_second, CHUNK):
        size = min(CHUNK, n_second - start)
        for i in range(system.dense.shape[0]):
            _reduce(system, i, start, size)
        _add_products(system.dense, system.reduced, system.joint.shape[1] * size)


@njit(**KERNEL)
def _reduce(system, i, start, size):
    """Set row i, (A, size), to the inverse Cholesky factor of N times the column of U of unknown i.

    For l[t,own] it is U[a] = p[t,a] (1[a = own] - q[t,own] / M[t]), where 1 - q / M is a sum again.
    """
    n_first = system.joint.shape[1]
    t, own, stop = system.free[i, 0], system.free[i, 1], start + size
    inverse = system.inverse_total[t, start:stop]
    others, share = system.buffer[0], system.buffer[1]
    others[:] = 0.0
    for a in range(n_first):
        joint = system.joint[t, a, start:stop]
        if a != own:
            for b in range(size):
                others[b] += joint[b] * inverse[b]
    joint = system.joint[t, own, start:stop]
    for b in range(size):
        share[b] = -joint[b] * inverse[b]
    for a in range(n_first):
        row = system.reduced[i, a * size : (a + 1) * size]
        conditional = system.conditional[t, a, start:stop]
        weight = others if a == own else share
        for b in range(size):
            row[b] = conditional[b] * weight[b]
        for k in range(a):
            entry = system.small[a, k, start:stop]
            known = system.reduced[i, k * size : (k + 1) * size]
            for b in range(size):
                row[b] -= entry[b] * known[b]
        pivot = system.small[a, a, start:stop]
        for b in range(size):
            row[b] *= pivot[b]


@njit(**KERNEL)
def _add_products(dense, rows, width):
    """Add the products of all pairs of rows, of their first entries, to the lower triangle."""
    for i in range(rows.shape[0]):
        row = rows[i, :width]
        four = i + 1 - (i + 1) % 4
        for j in range(0, four, 4):
            products = four_dots(row, rows[j], rows[j + 1], rows[j + 2], rows[j + 3])
            for k in range(4):
                dense[i, j + k] += products[k]
        for j in range(four, i + 1):
            dense[i, j] += dot(row, rows[j])


@njit(**KERNEL)
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
            matrix[i, j] = (matrix[i, j] - dot(row, matrix[i])) * inverse


@njit(**KERNEL)
def _set_missing(system, step, left_side):
    """Set the residual on the left of each free unknown."""
    for i in range(step.missing.size):
        t, a = system.free[i, 0], system.free[i, 1]
        known = dot(system.joint[t, a], step.right[t])
        step.missing[i] = left_side[t, a] - known - dot(system.conditional[t, a], step.tension[a])


@njit(**KERNEL)
def _solve_dense(factor, values):
    """Solve in place."""
    n = values.size
    for i in range(n):
        values[i] = (values[i] - dot(values[:i], factor[i])) * factor[i, i]
    for i in range(n - 1, -1, -1):
        value = values[i]
        for k in range(i + 1, n):
            value -= factor[k, i] * values[k]
        values[i] = value * factor[i, i]


@njit(**KERNEL)
def _solve_tensions(system, step, right_side):
    """Set w for the given l: N w = p' l + p' M^-1 (right side - sum_a q l)."""
    n_targets, n_first, n_second = system.joint.shape
    small, tension, shift = system.small, step.tension, system.buffer[0]
    tension[:] = 0.0
    for t in range(n_targets):
        side, inverse = right_side[t], system.inverse_total[t]
        for b in range(n_second):
            shift[b] = side[b]
        for a in range(n_first):
            joint, value = system.joint[t, a], step.left[t, a]
            if value != 0.0:
                for b in range(n_second):
                    shift[b] -= joint[b] * value
        for b in range(n_second):
            shift[b] *= inverse[b]
        for a in range(n_first):
            row, conditional, value = tension[a], system.conditional[t, a], step.left[t, a]
            for b in range(n_second):
                row[b] += conditional[b] * (value + shift[b])
    for i in range(n_first):
        row, pivot = tension[i], small[i, i]
        for k in range(i):
            entry, known = small[i, k], tension[k]
            for b in range(n_second):
                row[b] -= entry[b] * known[b]
        for b in range(n_second):
            row[b] *= pivot[b]
    for i in range(n_first - 1, -1, -1):
        row, pivot = tension[i], small[i, i]
        for k in range(i + 1, n_first):
            entry, known = small[k, i], tension[k]
            for b in range(n_second):
                row[b] -= entry[b] * known[b]
        for b in range(n_second):
            row[b] *= pivot[b]


@njit(**KERNEL)
def _solve_right(system, step, right_side):
    """Set r for the given l and w: M r = right side - sum_a (q l + p w)."""
    n_targets, n_first, n_second = system.joint.shape
    for t in range(n_targets):
        row, side, inverse = step.right[t], right_side[t], system.inverse_total[t]
        for b in range(n_second):
            row[b] = side[b]
        for a in range(n_first):
            joint, conditional = system.joint[t, a], system.conditional[t, a]
            tension, value = step.tension[a], step.left[t, a]
            for b in range(n_second):
                row[b] -= joint[b] * value + conditional[b] * tension[b]
        for b in range(n_second):
            row[b] *= inverse[b]
