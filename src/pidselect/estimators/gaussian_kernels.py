"""Kernels of the Gaussian estimator: information from inner products of orthonormal directions.

With orthonormal directions of x, of S and of the residual of y given S, and the inner products A of
x and S and B of x and y, the covariance of x given S is 1 - A A', and

    I(x; y | S) = 1/2 ln |1 - A A'| - 1/2 ln |1 - A A' - B B'|.

A permutation of x changes A and B only. Every product is rounded to a multiple of 2^-51 before it
is added: since the products of two unit vectors sum to at most 1, sums are exact and independent
of the order of the samples. If S explains nearly all of x, or x and S nearly all of y, differences
would lose digits: the value is then NaN, and `residual_loadings` regresses S out of x instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.data import FloatArray
from pidselect.jit import njit

#: Relative length below which a residual is rounding: the column is a linear function of S.
MIN_RESIDUAL = 1e-13

#: Residual variance below which differences from 1 have lost three digits.
MIN_VARIANCE = 1e-3

#: Kernels allocate nothing: without reference counts they compile faster.
KERNEL = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}

#: Adding and subtracting it rounds numbers between -1 and 1 to multiples of 2^-51.
ROUNDER = 3.0


class ConditioningBasis(NamedTuple):
    """Orthonormal directions of S and of the residual of the target given S."""

    given: FloatArray  # (n_given, n_samples)
    target: FloatArray  # (n_target, n_samples)
    by_sample: FloatArray  # (n_samples, n_given + n_target): both, by sample


class LevelDirections(NamedTuple):
    """Indicators of a nominal column as unit vectors: sample i adds ``weight[i]`` to its level's.

    They are not centred: the constant is orthogonal to the basis and changes no determinant.
    """

    code: NDArray[np.int64]
    weight: FloatArray
    size: int


@njit(**KERNEL)
def invert_permutations(rows: NDArray[np.int32], inverse: NDArray[np.int32]) -> None:
    """Fill ``inverse[m, rows[m, i]]`` with i."""
    for m in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            inverse[m, rows[m, i]] = i


@njit(**KERNEL)
def add_products(
    x: FloatArray,
    start: int,
    inverse: NDArray[np.int32],
    by_sample: FloatArray,
    permuted: FloatArray,
    loadings: FloatArray,
) -> None:
    """Add the inner products of x, shape (n_candidates, n_some), and of the basis to the loadings.

    `x` are samples from `start` on of one direction each, `inverse` has the shape (m, n_samples)
    and the loadings (n_candidates, m, n_basis). The basis is permuted instead of x, once for all:
    `permuted`, shape (n_some + 1, m * n_basis), is a buffer for that and for sums.
    """
    n_permutations, n_basis = loadings.shape[1], loadings.shape[2]
    width = n_permutations * n_basis
    for m in range(n_permutations):
        for j in range(x.shape[1]):
            sample = inverse[m, start + j]
            for q in range(n_basis):
                permuted[j, m * n_basis + q] = by_sample[sample, q]
    total = permuted[x.shape[1]]
    end = x.shape[1] - x.shape[1] % 4
    for column in range(x.shape[0]):
        total[:] = 0.0
        for j in range(0, end, 4):
            a, b, c, d = x[column, j], x[column, j + 1], x[column, j + 2], x[column, j + 3]
            for t in range(width):
                total[t] += (
                    ((a * permuted[j, t] + ROUNDER) - ROUNDER)
                    + ((b * permuted[j + 1, t] + ROUNDER) - ROUNDER)
                    + ((c * permuted[j + 2, t] + ROUNDER) - ROUNDER)
                    + ((d * permuted[j + 3, t] + ROUNDER) - ROUNDER)
                )
        for j in range(end, x.shape[1]):
            for t in range(width):
                total[t] += (x[column, j] * permuted[j, t] + ROUNDER) - ROUNDER
        for m in range(n_permutations):
            for q in range(n_basis):
                loadings[column, m, q] += total[m * n_basis + q]


@njit(**KERNEL)
def information_from_loadings(loadings: FloatArray, n_given: int, values: FloatArray) -> None:
    """Fill ``values[candidate, m]`` from the loadings of one direction each; NaN if inaccurate."""
    for column in range(loadings.shape[0]):
        for m in range(loadings.shape[1]):
            values[column, m] = 0.0
            if loadings.shape[2] > n_given:
                values[column, m] = _information_1d(loadings[column, m], n_given)


@njit(**KERNEL)
def fill_loadings(
    x: FloatArray,
    rows: NDArray[np.int32],
    basis: ConditioningBasis,
    column: FloatArray,
    loadings: FloatArray,
) -> None:
    """Fill ``loadings[m]`` with the inner products of x and of the basis, (n_directions, n_basis).

    `x` are orthonormal centred directions, shape (n_directions, n_samples); `column`, of n_samples,
    is a buffer.
    """
    n_given = basis.given.shape[0]
    for m in range(rows.shape[0]):
        for p in range(x.shape[0]):
            for i in range(column.size):
                column[i] = x[p, rows[m, i]]
            for q in range(loadings.shape[2]):
                direction = basis.given[q] if q < n_given else basis.target[q - n_given]
                loadings[m, p, q] = _order_free_dot(column, direction)


@njit(**KERNEL)
def add_level_loadings(
    x: LevelDirections, rows: NDArray[np.int32], by_sample: FloatArray, loadings: FloatArray
) -> None:
    """Add to ``loadings[m]`` what `fill_loadings` does, for a nominal column in a single pass."""
    for m in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            row = rows[m, i]
            level, weight = x.code[row], x.weight[row]
            for q in range(loadings.shape[2]):
                loadings[m, level, q] += weight * by_sample[i, q]


@njit(**KERNEL)
def residual_loadings(
    x: FloatArray,
    rows: NDArray[np.int32],
    basis: ConditioningBasis,
    residual: FloatArray,
    loadings: FloatArray,
) -> None:
    """Fill ``loadings[m]`` with inner products of the residual directions of x and of the target.

    `x` are centred columns, shape (n_columns, n_samples), as is the buffer `residual`; loadings
    have the shape (m, n_columns, n_target).
    """
    n_columns, n_samples = x.shape
    for m in range(rows.shape[0]):
        for column in range(n_columns):
            direction = residual[column]
            for i in range(n_samples):
                direction[i] = x[column, rows[m, i]]
            before = np.sqrt(_dot(direction, direction))
            for _ in range(2):  # twice, to remove rounding errors
                _project_out(basis.given, basis.given.shape[0], direction)
                _project_out(residual, column, direction)
            length = np.sqrt(_dot(direction, direction))
            scale = 1.0 / length if length > MIN_RESIDUAL * before else 0.0
            for i in range(n_samples):
                direction[i] *= scale
            for q in range(basis.target.shape[0]):
                loadings[m, column, q] = _dot(direction, basis.target[q])


@njit(**KERNEL)
def log_determinants(
    factors: FloatArray,
    start: int,
    stop: int,
    first: int,
    covariance: FloatArray,
    work: FloatArray,
    values: FloatArray,
) -> None:
    """Subtract F'F from every covariance matrix C, and fill ``values[m]`` with ln |C|.

    F are rows start to stop of ``factors[m]``, and of C, shape (m, size, size), the upper triangle
    is used. Less the logarithm of the determinant of its `first` rows and columns; NaN if
    inaccurate. `work`, (size, size), is a buffer.
    """
    size = work.shape[0]
    for m in range(covariance.shape[0]):
        for r in range(start, stop):
            for a in range(size):
                factor = factors[m, r, a]
                for b in range(a, size):
                    covariance[m, a, b] -= factor * factors[m, r, b]
        for a in range(size):
            for b in range(a, size):
                work[a, b] = covariance[m, a, b]
        values[m] = _eliminate(work, first)


@njit(**KERNEL)
def _eliminate(work, first):
    """Return ln |C| less that of its first rows and columns, by elimination; NaN if inaccurate."""
    total = 0.0
    for j in range(work.shape[0]):
        pivot = work[j, j]
        if not pivot >= MIN_VARIANCE:
            return np.nan
        if j >= first:
            total += np.log(pivot)
        for a in range(j + 1, work.shape[0]):
            factor = work[j, a] / pivot
            for b in range(a, work.shape[0]):
                work[a, b] -= factor * work[j, b]
    return total


@njit(**KERNEL)
def _information_1d(loading, n_given):
    left, explained = 1.0, 0.0
    for q in range(n_given):
        left -= loading[q] * loading[q]
    for q in range(n_given, loading.size):
        explained += loading[q] * loading[q]
    if left < MIN_VARIANCE or left - explained < MIN_VARIANCE * left:
        return np.nan
    return -0.5 * np.log1p(-explained / left)


@njit(**KERNEL)
def _project_out(directions, count, column):
    for q in range(count):
        share = _dot(directions[q], column)
        for i in range(column.size):
            column[i] -= share * directions[q, i]


@njit(**KERNEL)
def _order_free_dot(a, b):
    """Return the inner product of two unit vectors, rounded as in `add_products`."""
    first = second = third = fourth = 0.0
    end = a.size - a.size % 4
    for i in range(0, end, 4):
        first += (a[i] * b[i] + ROUNDER) - ROUNDER
        second += (a[i + 1] * b[i + 1] + ROUNDER) - ROUNDER
        third += (a[i + 2] * b[i + 2] + ROUNDER) - ROUNDER
        fourth += (a[i + 3] * b[i + 3] + ROUNDER) - ROUNDER
    for i in range(end, a.size):
        first += (a[i] * b[i] + ROUNDER) - ROUNDER
    return (first + second) + (third + fourth)


@njit(**KERNEL)
def _dot(a, b):
    # Four independent sums, since additions of one depend on each other.
    first = second = third = fourth = 0.0
    end = a.size - a.size % 4
    for i in range(0, end, 4):
        first += a[i] * b[i]
        second += a[i + 1] * b[i + 1]
        third += a[i + 2] * b[i + 2]
        fourth += a[i + 3] * b[i + 3]
    for i in range(end, a.size):
        first += a[i] * b[i]
    return (first + second) + (third + fourth)
