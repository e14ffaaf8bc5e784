"""The linear system of a Newton step of the BROJA solver: factorise once, solve repeatedly.

The unknowns are changes of the potentials, l[t,a] and r[t,b]. Pair (a, b) of source states couples
l[:,a] and r[:,b] by a matrix that is diagonal plus rank one, diag(q) + c p p', where q[t,a,b] is
the current joint distribution, p[t,a,b] = p(t | a, b), and c diverges as the pair's constraint
becomes active. To keep large numbers out of sums, every rank-one term has an unknown of its own,
w[a,b] = c p'(l + r). Then the r are eliminated first, as their matrix M[t,b] = sum_a q[t,a,b] is
diagonal; then the w, by one small matrix N of |A| rows for each state b; one dense system in the l
remains. All terms of sums are positive.

The states b of the larger source are the last axis, so that rows are contiguous.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pidselect.data import FloatArray, IntArray
from pidselect.jit import njit

#: A pivot below this fraction of its diagonal entry is rounding: its unknown is not changed.
NOTHING_LEFT = 1e-14
#: Replaces such a pivot; it does not overflow.
WALL = 1e200
#: States b processed at once, to stay in cache.
CHUNK = 128

#: No fast mathematics: results are the same whenever and wherever the kernels are compiled. No
#: reference counts, which are slow to compile: kernels allocate nothing.
ENTRY = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}
#: Kernels that only kernels call.
KERNEL = {**ENTRY, "no_cpython_wrapper": True}
#: Kernels that are mostly calls are inlined: each level of calls is optimised again.
INLINED = {**ENTRY, "inline": "always"}


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


@njit(**KERNEL)
def dot(x, y):
    """Return the sum of x * y over the entries of x; y may be longer.

    Eight partial sums, then the remaining elements: the order of additions is fixed, so that sums
    are equal to the bit wherever they are compiled.
    """
    a = b = c = d = e = f = g = h = 0.0
    whole = x.size // 8 * 8
    for i in range(0, whole, 8):
        a += x[i] * y[i]
        b += x[i + 1] * y[i + 1]
        c += x[i + 2] * y[i + 2]
        d += x[i + 3] * y[i + 3]
        e += x[i + 4] * y[i + 4]
        f += x[i + 5] * y[i + 5]
        g += x[i + 6] * y[i + 6]
        h += x[i + 7] * y[i + 7]
    rest = 0.0
    for i in range(whole, x.size):
        rest += x[i] * y[i]
    return (((a + e) + (c + g)) + ((b + f) + (d + h))) + rest


@njit(**KERNEL)
def multiply(row, x):
    """Multiply a row by another."""
    for i in range(row.size):
        row[i] *= x[i]


@njit(**KERNEL)
def assign_product(row, x, y):
    """Set a row to the product of two others."""
    for i in range(row.size):
        row[i] = x[i] * y[i]


@njit(**KERNEL)
def add_product(row, x, y):
    """Add the product of two rows to another."""
    for i in range(row.size):
        row[i] += x[i] * y[i]


@njit(**KERNEL)
def subtract_product(row, x, y):
    """Subtract the product of two rows from another."""
    for i in range(row.size):
        row[i] -= x[i] * y[i]


@njit(**KERNEL)
def add_product_sum(row, x, number, y):
    """Add x (number + y) to a row."""
    for i in range(row.size):
        row[i] += x[i] * (number + y[i])


@njit(**KERNEL)
def number_unknowns(first, free, place):
    """List the free unknowns of the marginal p(t, a), and set the place of each."""
    n = 0
    for t in range(first.shape[0]):
        # Adding a constant to l[t,:] and subtracting it from r[t,:] changes nothing: one is fixed.
        fixed = 0
        for a in range(first.shape[1]):
            if first[t, a] > first[t, fixed]:
                fixed = a
        for a in range(first.shape[1]):
            place[t, a] = -1
            if first[t, a] > 0.0 and a != fixed:
                free[n, 0], free[n, 1], place[t, a] = t, a, n
                n += 1


@njit(**INLINED)
def factorise(system):
    """Reduce and factorise the system."""
    joint, conditional, inverse_total = system.joint, system.conditional, system.inverse_total
    small, dense, reduced, buffer = system.small, system.dense, system.reduced, system.buffer
    n_first, n_second = system.stiffness.shape
    _invert_total(joint, inverse_total)
    _factorise_small(conditional, system.stiffness, inverse_total, small, buffer)
    _add_laplacians(joint, inverse_total, system.place, dense, buffer[0])
    # Add U' N^-1 U, where U is the dependence of the w on the l, some states b at a time.
    for start in range(0, n_second, CHUNK):
        size = min(CHUNK, n_second - start)
        for i in range(dense.shape[0]):
            t, a = system.free[i, 0], system.free[i, 1]
            row = reduced[i, : n_first * size]
            _reduce(a, start, joint[t], conditional[t], inverse_total[t], small, row, buffer)
        _add_products(dense, reduced, n_first * size)
    _factorise_dense(dense)


@njit(**INLINED)
def solve(system, step, left_side, right_side):
    """Solve for right-hand sides of shapes (T, A) and (T, B): l, r and w of the step."""
    joint, conditional, inverse_total = system.joint, system.conditional, system.inverse_total
    left, right, tension, missing = step.left, step.right, step.tension, step.missing
    left[:] = 0.0
    for is_second in range(2):
        if is_second:  # l was 0 so far, and accounts for the residual on the left
            for i in range(missing.size):
                t, a = system.free[i, 0], system.free[i, 1]
                known = dot(joint[t, a], right[t])
                missing[i] = left_side[t, a] - known - dot(conditional[t, a], tension[a])
            _solve_dense(system.dense, missing)
            for i in range(missing.size):
                left[system.free[i, 0], system.free[i, 1]] = missing[i]
        _set_tensions(
            joint, conditional, inverse_total, left, right_side, tension, system.buffer[0]
        )
        _solve_small(system.small, tension)
        _solve_right(joint, conditional, inverse_total, left, tension, right_side, right)


@njit(**KERNEL)
def _invert_total(joint, inverse_total):
    """Set 1 / sum_a q[t,a,b], and 0 where the sum is 0."""
    inverse_total[:] = 0.0
    for t in range(joint.shape[0]):
        row = inverse_total[t]
        for a in range(joint.shape[1]):
            for b in range(row.size):
                row[b] += joint[t, a, b]
        for b in range(row.size):
            row[b] = 1.0 / row[b] if row[b] > 0.0 else 0.0


@njit(**KERNEL)
def _factorise_small(conditional, stiffness, inverse_total, factor, buffer):
    """Set the Cholesky factors of N = p' M^-1 p + 1/c for each b, shape (A, A, B).

    A pair without a term has WALL instead of 1/c, which keeps its w at 0. Diagonals are stored
    inverted.
    """
    n_targets, n_first, _ = conditional.shape
    weighted, before = buffer[0], buffer[1]
    factor[:] = 0.0
    for t in range(n_targets):
        for i in range(n_first):
            assign_product(weighted, conditional[t, i], inverse_total[t])
            for j in range(i + 1):
                add_product(factor[i, j], weighted, conditional[t, j])
    for j in range(n_first):
        pivot = factor[j, j]
        for b in range(pivot.size):
            pivot[b] += 1.0 / stiffness[j, b] if stiffness[j, b] > 0.0 else WALL
            before[b] = pivot[b]
        for k in range(j):
            subtract_product(pivot, factor[j, k], factor[j, k])
        for b in range(pivot.size):
            left = pivot[b] if pivot[b] > NOTHING_LEFT * before[b] else WALL
            pivot[b] = 1.0 / np.sqrt(left)
        for i in range(j + 1, n_first):
            entry = factor[i, j]
            for k in range(j):
                subtract_product(entry, factor[i, k], factor[j, k])
            multiply(entry, pivot)


@njit(**KERNEL)
def _add_laplacians(joint, inverse_total, place, dense, scaled):
    """Set the dense matrix to the Schur complement of diag(q) without r.

    For each t it is a Laplacian over the states a. Its off-diagonal entries are
    -sum_b q[t,a,b] q[t,a',b] / M[t,b]; the diagonal ones are sums, not differences.
    """
    dense[:] = 0.0
    for t in range(place.shape[0]):
        for a in range(place.shape[1]):
            assign_product(scaled, joint[t, a], inverse_total[t])
            for other in range(a):
                weight = dot(scaled, joint[t, other])
                i, j = place[t, a], place[t, other]
                if i >= 0:
                    dense[i, i] += weight
                if j >= 0:
                    dense[j, j] += weight
                if i >= 0 and j >= 0:
                    dense[i, j] -= weight  # i > j, as they are numbered in order


@njit(**KERNEL)
def _reduce(own, start, joint, conditional, inverse, small, rows, buffer):
    """Set the rows, (A, size), to the inverse Cholesky factor of N times a column of U.

    For l[t,own] it is U[a] = p[t,a] (1[a = own] - q[t,own] / M[t]), where 1 - q / M is a sum again.
    The states b begin at `start`.
    """
    n_first = joint.shape[0]
    size = rows.size // n_first
    others, share = buffer[0, :size], buffer[1, :size]
    inverse = inverse[start:]
    others[:] = 0.0
    for a in range(n_first):
        if a != own:
            add_product(others, joint[a, start:], inverse)
    share[:] = 0.0
    subtract_product(share, joint[own, start:], inverse)
    for a in range(n_first):
        row = rows[a * size : (a + 1) * size]
        assign_product(row, conditional[a, start:], others if a == own else share)
        for k in range(a):
            subtract_product(row, small[a, k, start:], rows[k * size :])
        multiply(row, small[a, a, start:])


@njit(**KERNEL)
def _add_products(dense, rows, width):
    """Add the products of all pairs of rows, of their first entries, to the lower triangle."""
    for i in range(rows.shape[0]):
        row = rows[i, :width]
        for j in range(i + 1):
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
def _set_tensions(joint, conditional, inverse_total, left, right_side, tension, shift):
    """Set N w for the given l: p' l + p' M^-1 (right side - sum_a q l)."""
    tension[:] = 0.0
    for t in range(joint.shape[0]):
        for b in range(shift.size):
            shift[b] = right_side[t, b]
        for a in range(joint.shape[1]):
            if left[t, a] != 0.0:
                for b in range(shift.size):
                    shift[b] -= joint[t, a, b] * left[t, a]
        multiply(shift, inverse_total[t])
        for a in range(joint.shape[1]):
            add_product_sum(tension[a], conditional[t, a], left[t, a], shift)


@njit(**KERNEL)
def _solve_small(factor, tension):
    """Solve for w in place."""
    for i in range(len(tension)):
        for k in range(i):
            subtract_product(tension[i], factor[i, k], tension[k])
        multiply(tension[i], factor[i, i])
    for i in range(len(tension) - 1, -1, -1):
        for k in range(i + 1, len(tension)):
            subtract_product(tension[i], factor[k, i], tension[k])
        multiply(tension[i], factor[i, i])


@njit(**KERNEL)
def _solve_right(joint, conditional, inverse_total, left, tension, right_side, right):
    """Set r for the given l and w: M r = right side - sum_a (q l + p w)."""
    for t in range(joint.shape[0]):
        row = right[t]
        for b in range(row.size):
            row[b] = right_side[t, b]
        for a in range(joint.shape[1]):
            q, p, w, known = joint[t, a], conditional[t, a], tension[a], left[t, a]
            for b in range(row.size):
                row[b] -= q[b] * known + p[b] * w[b]
        multiply(row, inverse_total[t])
