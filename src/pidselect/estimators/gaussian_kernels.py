"""The kernels of the Gaussian estimator: information from inner products of directions.

Let x, S and y be orthonormal directions, those of y without what S explains, with the inner
products A of x and S and B of x and y. Then what S leaves of x has the covariance 1 - A A', and

    I(x; y | S) = 1/2 ln |1 - A A'| - 1/2 ln |1 - A A' - B B'|.

Rearranging samples changes A and B alone, so that is all there is to do for a surrogate. Every
product is rounded to a multiple of 2^-51 before it is added. As the products of two directions add
up to at most 1, all sums are then exact, and come out the same in any order of the samples. Where S
explains nearly all of x, or x and S nearly all of y, the differences would lose digits: such a row
gets NaN, and `correlate_columns`, which takes S out of x itself, is there for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pidselect.estimators.knn.spaces import FloatArray

#: A residual this small, relative to the column, is rounding: the column is a function of S.
#: Near-copies with a millionth of noise of their own are far above it.
NOTHING_LEFT = 1e-13

#: Where less variance than this is left, differences from 1 have lost three digits.
ENOUGH_LEFT = 1e-3


#: Adding and subtracting it rounds what lies between -1 and 1 to a multiple of 2^-51.
STEP = 3.0


class ConditioningBasis(NamedTuple):
    """Orthonormal directions of S and of what the target has beyond it."""

    given: FloatArray  # (n_given, n_samples)
    target: FloatArray  # (n_target, n_samples)
    by_sample: FloatArray  # (n_samples, n_given + n_target), both once more


class Levels(NamedTuple):
    """A label's levels as orthonormal directions: sample i adds ``weight[i]`` to that of its code.

    The directions are not centred. What they have in common beyond the centred ones is the
    constant, which is orthogonal to all that is known and changes no determinant.
    """

    code: NDArray[np.int64]
    weight: FloatArray
    size: int


@njit(cache=True, nogil=True)
def invert(rows: NDArray[np.int32], inverse: NDArray[np.int32]) -> bool:
    """Fill ``inverse[m, rows[m, i]]`` with i; return whether all rows are permutations."""
    for m in range(rows.shape[0]):
        inverse[m] = -1
        for i in range(rows.shape[1]):
            inverse[m, rows[m, i]] = i
        for i in range(rows.shape[1]):
            if inverse[m, i] < 0:
                return False
    return True


@njit(cache=True, nogil=True)
def add_products(
    x: FloatArray,
    start: int,
    inverse: NDArray[np.int32],
    known: ConditioningBasis,
    loadings: FloatArray,
) -> None:
    """Add what some of the samples contribute to the inner products with all that is known.

    What is known is rearranged instead of x, once for all columns.

    Parameters
    ----------
    x : array, shape (n_columns, n_some), one direction of each of several candidates
    start : int, the first of these samples
    inverse : array, shape (m, n_samples)
    known : Known
    loadings : array, shape (n_columns, m, n_known), added to in place
    """
    n_draws, n_known = loadings.shape[1:]
    n_lanes = n_draws * n_known
    arranged = np.empty((x.shape[1], n_lanes))
    for m in range(n_draws):
        for j in range(x.shape[1]):
            sample = inverse[m, start + j]
            for q in range(n_known):
                arranged[j, m * n_known + q] = known.by_sample[sample, q]
    total = np.empty(n_lanes)
    whole = x.shape[1] - x.shape[1] % 4
    for column in range(x.shape[0]):
        total[:] = 0.0
        for j in range(0, whole, 4):
            a, b, c, d = x[column, j], x[column, j + 1], x[column, j + 2], x[column, j + 3]
            for lane in range(n_lanes):
                total[lane] += (
                    ((a * arranged[j, lane] + STEP) - STEP)
                    + ((b * arranged[j + 1, lane] + STEP) - STEP)
                    + ((c * arranged[j + 2, lane] + STEP) - STEP)
                    + ((d * arranged[j + 3, lane] + STEP) - STEP)
                )
        for j in range(whole, x.shape[1]):
            for lane in range(n_lanes):
                total[lane] += (x[column, j] * arranged[j, lane] + STEP) - STEP
        for m in range(n_draws):
            for q in range(n_known):
                loadings[column, m, q] += total[m * n_known + q]


@njit(cache=True, nogil=True)
def inform_singles(loadings: FloatArray, n_given: int, values: FloatArray) -> None:
    """Fill ``values[column, m]`` from the loadings of one direction each; see `inform_numbers`."""
    for column in range(loadings.shape[0]):
        for m in range(loadings.shape[1]):
            values[column, m] = 0.0
            if loadings.shape[2] > n_given:
                values[column, m] = _information_of_one(loadings[column, m], n_given)


@njit(cache=True, nogil=True)
def inform_numbers(
    x: FloatArray, rows: NDArray[np.int32], known: ConditioningBasis, values: FloatArray
) -> None:
    """Fill ``values[m]`` with I(x; y | S) in nats, NaN where too few digits would be left.

    Parameters
    ----------
    x : array of orthonormal centred directions, shape (n_directions, n_samples)
    rows : array, shape (m, n_samples), the rearrangements of x's samples
    known : Known
    values : array, shape (m,), filled in place
    """
    n_given, n_known = known.given.shape[0], known.by_sample.shape[1]
    column = np.empty(x.shape[1])
    loadings = np.empty((x.shape[0], n_known))
    scratch = _new_scratch(x.shape[0], n_known)
    for m in range(rows.shape[0]):
        for p in range(x.shape[0]):
            for i in range(column.size):
                column[i] = x[p, rows[m, i]]
            for q in range(n_given):
                loadings[p, q] = _exact_dot(column, known.given[q])
            for q in range(n_given, n_known):
                loadings[p, q] = _exact_dot(column, known.target[q - n_given])
        values[m] = _information(loadings, n_given, scratch)


@njit(cache=True, nogil=True)
def inform_levels(
    x: Levels, rows: NDArray[np.int32], known: ConditioningBasis, values: FloatArray
) -> None:
    """Fill ``values[m]`` as `inform_numbers` does, for a label with many levels in no more time."""
    n_given, n_known = known.given.shape[0], known.by_sample.shape[1]
    loadings = np.empty((x.size, n_known))
    scratch = _new_scratch(x.size, n_known)
    for m in range(rows.shape[0]):
        loadings[:] = 0.0
        for i in range(rows.shape[1]):
            row = rows[m, i]
            level, weight = x.code[row], x.weight[row]
            for q in range(n_known):
                loadings[level, q] += weight * known.by_sample[i, q]
        values[m] = _information(loadings, n_given, scratch)


@njit(cache=True, nogil=True)
def correlate_columns(
    x: FloatArray,
    rows: NDArray[np.int32],
    known: ConditioningBasis,
    loadings: FloatArray,
) -> None:
    """Fill ``loadings[m]`` with the inner products of x's residual directions and the target's.

    Parameters
    ----------
    x : array, shape (n_columns, n_samples), columns centred
    rows : array, shape (m, n_samples), the rearrangements of x's samples
    known : Known
    loadings : array, shape (m, n_columns, n_target), filled in place
    """
    n_columns, n_samples = x.shape
    residual = np.empty((n_columns, n_samples))
    for m in range(rows.shape[0]):
        for column in range(n_columns):
            direction = residual[column]
            for i in range(n_samples):
                direction[i] = x[column, rows[m, i]]
            before = np.sqrt(_dot(direction, direction))
            for _ in range(2):  # once more puts right what rounding left the first time
                _take_away(known.given, known.given.shape[0], direction)
                _take_away(residual, column, direction)
            length = np.sqrt(_dot(direction, direction))
            scale = 1.0 / length if length > NOTHING_LEFT * before else 0.0
            for i in range(n_samples):
                direction[i] *= scale
            for q in range(known.target.shape[0]):
                loadings[m, column, q] = _dot(direction, known.target[q])


@njit(cache=True, nogil=True)
def _new_scratch(n_directions, n_known):
    """Return room for two square matrices on the smaller side, by |1 - M M'| = |1 - M' M|."""
    size = min(n_directions, n_known)
    return np.empty((2, size, size))


@njit(cache=True, nogil=True)
def _information(loadings, n_given, scratch):
    n_directions, n_known = loadings.shape
    if n_directions == 0 or n_known == n_given:
        return 0.0
    if n_directions == 1:
        return _information_of_one(loadings[0], n_given)
    covariance, work = scratch
    covariance[:] = 0.0
    for a in range(covariance.shape[0]):
        covariance[a, a] = 1.0
    if n_known <= n_directions:
        _subtract_products(loadings, 0, n_directions, covariance)
        return -0.5 * _log_determinant(covariance, n_given, work)
    known_first = loadings.T.copy()
    _subtract_products(known_first, 0, n_given, covariance)
    left_by_given = _log_determinant(covariance, 0, work)
    _subtract_products(known_first, n_given, n_known, covariance)
    return 0.5 * (left_by_given - _log_determinant(covariance, 0, work))


@njit(cache=True, nogil=True)
def _information_of_one(loading, n_given):
    left, told = 1.0, 0.0
    for q in range(n_given):
        left -= loading[q] * loading[q]
    for q in range(n_given, loading.size):
        told += loading[q] * loading[q]
    if left < ENOUGH_LEFT or left - told < ENOUGH_LEFT * left:
        return np.nan
    return -0.5 * np.log1p(-told / left)


@njit(cache=True, nogil=True)
def _subtract_products(factors, start, stop, covariance):
    """Subtract F'F from the upper triangle, F being rows start to stop of the factors."""
    for r in range(start, stop):
        for a in range(covariance.shape[0]):
            factor = factors[r, a]
            for b in range(a, covariance.shape[0]):
                covariance[a, b] -= factor * factors[r, b]


@njit(cache=True, nogil=True)
def _log_determinant(covariance, first, work):
    """Return the logarithm of |C| over that of its first rows and columns, or NaN."""
    work[:] = covariance
    total = 0.0
    for j in range(work.shape[0]):
        pivot = work[j, j]
        if not pivot >= ENOUGH_LEFT:
            return np.nan
        if j >= first:
            total += np.log(pivot)
        for a in range(j + 1, work.shape[0]):
            factor = work[j, a] / pivot
            for b in range(a, work.shape[0]):
                work[a, b] -= factor * work[j, b]
    return total


@njit(cache=True, nogil=True)
def _take_away(directions, count, column):
    for q in range(count):
        share = _dot(directions[q], column)
        for i in range(column.size):
            column[i] -= share * directions[q, i]


@njit(cache=True, nogil=True)
def _exact_dot(a, b):
    """Return the inner product of two directions as `add_products` has it, in any order."""
    first = second = third = fourth = 0.0
    whole = a.size - a.size % 4
    for i in range(0, whole, 4):
        first += (a[i] * b[i] + STEP) - STEP
        second += (a[i + 1] * b[i + 1] + STEP) - STEP
        third += (a[i + 2] * b[i + 2] + STEP) - STEP
        fourth += (a[i + 3] * b[i + 3] + STEP) - STEP
    for i in range(whole, a.size):
        first += (a[i] * b[i] + STEP) - STEP
    return (first + second) + (third + fourth)


@njit(cache=True, nogil=True)
def _dot(a, b):
    # Four sums side by side, since each addition waits for the one before it.
    first = second = third = fourth = 0.0
    whole = a.size - a.size % 4
    for i in range(0, whole, 4):
        first += a[i] * b[i]
        second += a[i + 1] * b[i + 1]
        third += a[i + 2] * b[i + 2]
        fourth += a[i + 3] * b[i + 3]
    for i in range(whole, a.size):
        first += a[i] * b[i]
    return (first + second) + (third + fourth)
