"""The kernel of the Gaussian estimator: take away what S explains, then correlate."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pidselect.estimators._orders import FloatArray

#: A residual this small, relative to the column, is rounding: the column is a function of S.
#: Near-copies with a millionth of noise of their own are far above it.
NOTHING_LEFT = 1e-13


@njit(cache=True, nogil=True)
def correlate_columns(
    x: FloatArray,
    rows: NDArray[np.int32],
    given: FloatArray,
    target: FloatArray,
    loadings: FloatArray,
) -> None:
    """Fill ``loadings[m]`` with the inner products of x's residual directions and the target's.

    Parameters
    ----------
    x : array, shape (n_columns, n_samples), columns centred
    rows : array, shape (m, n_samples), the rearrangements of x's samples
    given, target : arrays of orthonormal directions, shape (n_directions, n_samples)
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
                _take_away(given, given.shape[0], direction)
                _take_away(residual, column, direction)
            length = np.sqrt(_dot(direction, direction))
            scale = 1.0 / length if length > NOTHING_LEFT * before else 0.0
            for i in range(n_samples):
                direction[i] *= scale
            for q in range(target.shape[0]):
                loadings[m, column, q] = _dot(direction, target[q])


@njit(cache=True, nogil=True)
def _take_away(directions, count, column):
    for q in range(count):
        share = _dot(directions[q], column)
        for i in range(column.size):
            column[i] -= share * directions[q, i]


@njit(cache=True, nogil=True)
def _dot(a, b):
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total
