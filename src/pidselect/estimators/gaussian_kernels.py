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


@njit(cache=True, nogil=True)
def invert_permutations(rows: NDArray[np.int32], inverse: NDArray[np.int32]) -> None:
    """Fill ``inverse[m, rows[m, i]]`` with i."""
    for m in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            inverse[m, rows[m, i]] = i


@njit(cache=True, nogil=True)
def add_products(
    x: FloatArray,
    start: int,
    inverse: NDArray[np.int32],
    basis: ConditioningBasis,
    loadings: FloatArray,
) -> None:
    """Add the inner products of x, shape (n_candidates, n_some), and of the basis to the loadings.

    `x` are samples from `start` on of one direction each, `inverse` has the shape (m, n_samples)
    and the loadings (n_candidates, m, n_basis). The basis is permuted instead of x, once for all.
    """
    n_permutations, n_basis = loadings.shape[1:]
    width = n_permutations * n_basis
    permuted = np.empty((x.shape[1], width))
    for m in range(n_permutations):
        for j in range(x.shape[1]):
            sample = inverse[m, start + j]
            for q in range(n_basis):
                permuted[j, m * n_basis + q] = basis.by_sample[sample, q]
    total = np.empty(width)
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


@njit(cache=True, nogil=True)
def information_from_loadings(loadings: FloatArray, n_given: int, values: FloatArray) -> None:
    """Fill ``values[candidate, m]`` from the loadings of one direction each; NaN if inaccurate."""
    for column in range(loadings.shape[0]):
        for m in range(loadings.shape[1]):
            values[column, m] = 0.0
            if loadings.shape[2] > n_given:
                values[column, m] = _information_1d(loadings[column, m], n_given)


@njit(cache=True, nogil=True)
def score_directions(
    x: FloatArray, rows: NDArray[np.int32], basis: ConditioningBasis, values: FloatArray
) -> None:
    """Fill ``values[m]`` with I(x; y | S) in nats; NaN if inaccurate.

    `x` are orthonormal centred directions, shape (n_directions, n_samples).
    """
    n_given, n_basis = basis.given.shape[0], basis.by_sample.shape[1]
    column = np.empty(x.shape[1])
    loadings = np.empty((x.shape[0], n_basis))
    work = _new_work(x.shape[0], n_basis)
    for m in range(rows.shape[0]):
        for p in range(x.shape[0]):
            for i in range(column.size):
                column[i] = x[p, rows[m, i]]
            for q in range(n_given):
                loadings[p, q] = _order_free_dot(column, basis.given[q])
            for q in range(n_given, n_basis):
                loadings[p, q] = _order_free_dot(column, basis.target[q - n_given])
        values[m] = _information(loadings, n_given, work)


@njit(cache=True, nogil=True)
def score_levels(
    x: LevelDirections, rows: NDArray[np.int32], basis: ConditioningBasis, values: FloatArray
) -> None:
    """Fill ``values[m]`` as `score_directions` does, for a nominal column in a single pass."""
    n_given, n_basis = basis.given.shape[0], basis.by_sample.shape[1]
    loadings = np.empty((x.size, n_basis))
    work = _new_work(x.size, n_basis)
    for m in range(rows.shape[0]):
        loadings[:] = 0.0
        for i in range(rows.shape[1]):
            row = rows[m, i]
            level, weight = x.code[row], x.weight[row]
            for q in range(n_basis):
                loadings[level, q] += weight * basis.by_sample[i, q]
        values[m] = _information(loadings, n_given, work)


@njit(cache=True, nogil=True)
def residual_loadings(
    x: FloatArray,
    rows: NDArray[np.int32],
    basis: ConditioningBasis,
    loadings: FloatArray,
) -> None:
    """Fill ``loadings[m]`` with inner products of the residual directions of x and of the target.

    `x` are centred columns, shape (n_columns, n_samples); loadings have the shape
    (m, n_columns, n_target).
    """
    n_columns, n_samples = x.shape
    residual = np.empty((n_columns, n_samples))
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


@njit(cache=True, nogil=True)
def _new_work(n_directions, n_basis):
    """Allocate two square matrices of the smaller side: |1 - M M'| = |1 - M' M|."""
    size = min(n_directions, n_basis)
    return np.empty((2, size, size))


@njit(cache=True, nogil=True)
def _information(loadings, n_given, work):
    n_directions, n_basis = loadings.shape
    if n_directions == 0 or n_basis == n_given:
        return 0.0
    if n_directions == 1:
        return _information_1d(loadings[0], n_given)
    covariance, factor = work
    covariance[:] = 0.0
    for a in range(covariance.shape[0]):
        covariance[a, a] = 1.0
    if n_basis <= n_directions:
        _subtract_products(loadings, 0, n_directions, covariance)
        return -0.5 * _log_determinant(covariance, n_given, factor)
    by_basis = loadings.T.copy()
    _subtract_products(by_basis, 0, n_given, covariance)
    left_by_given = _log_determinant(covariance, 0, factor)
    _subtract_products(by_basis, n_given, n_basis, covariance)
    return 0.5 * (left_by_given - _log_determinant(covariance, 0, factor))


@njit(cache=True, nogil=True)
def _information_1d(loading, n_given):
    left, explained = 1.0, 0.0
    for q in range(n_given):
        left -= loading[q] * loading[q]
    for q in range(n_given, loading.size):
        explained += loading[q] * loading[q]
    if left < MIN_VARIANCE or left - explained < MIN_VARIANCE * left:
        return np.nan
    return -0.5 * np.log1p(-explained / left)


@njit(cache=True, nogil=True)
def _subtract_products(factors, start, stop, covariance):
    """Subtract F'F from the upper triangle, with rows start to stop of the factors as F."""
    for r in range(start, stop):
        for a in range(covariance.shape[0]):
            factor = factors[r, a]
            for b in range(a, covariance.shape[0]):
                covariance[a, b] -= factor * factors[r, b]


@njit(cache=True, nogil=True)
def _log_determinant(covariance, first, work):
    """Return ln |C| less that of its first rows and columns, by elimination; NaN if inaccurate."""
    work[:] = covariance
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


@njit(cache=True, nogil=True)
def _project_out(directions, count, column):
    for q in range(count):
        share = _dot(directions[q], column)
        for i in range(column.size):
            column[i] -= share * directions[q, i]


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
