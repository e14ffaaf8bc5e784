"""Piecewise linear functions: a tree whose leaves are lines, for kinks and jumps.

A smooth regression is wrong near a kink or a jump, and in the same way for a candidate and for the
target. A split is searched along every column; then its boundary is moved to where the lines of its
two sides meet, so that a kink may lie in any direction, as that of a maximum does.

References
----------
Breiman (1993), Hinging hyperplanes for regression, classification, and function approximation, IEEE
Transactions on Information Theory, for the moved boundary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.data import FloatArray, IntArray

#: Most leaves of a function of one column, and the same of any function: those of many columns have
#: more coefficients.
MAX_LEAVES = 24
MIN_LEAVES = 8

#: Leaves that may be added without a gain.
PATIENCE = 3

#: Fewest samples of a leaf beyond the coefficients of its line.
SPARE_SAMPLES = 1

#: Cuts along a direction; then all those near the best are tried.
N_CUTS = 24

#: Moves of a boundary.
N_MOVES = 8

#: Degrees of freedom of the position of a split, beside the coefficients of a line.
SPLIT_FREEDOM = 2

#: Penalty of slopes, relative to the mean square of the columns.
RIDGE = 1e-6


@dataclass(frozen=True, eq=False)
class _Leaf:
    """Samples that a line is fitted to, and the best split of them, if any."""

    rows: IntArray
    error: float  # sum of squares
    split_error: float = np.inf
    sides: tuple[IntArray, IntArray] | None = None

    @property
    def gain(self) -> float:
        return self.error - self.split_error


def linear_pieces(z: FloatArray, y: FloatArray, max_freedom: float) -> list[IntArray]:
    """Return the rows of the leaves of a tree of lines, by the Bayesian information criterion.

    `z` has the shape (n_samples, n_columns). The leaf that gains most is split first. There are no
    more coefficients than `max_freedom`.
    """
    design = np.column_stack([np.ones(len(z)), z])
    n_samples, n_coefficients = design.shape
    most = max(MIN_LEAVES, MAX_LEAVES // z.shape[1])
    leaves = [_grow(design, y, np.arange(n_samples))]
    best = leaves
    smallest = np.inf
    while True:
        freedom = len(leaves) * (n_coefficients + SPLIT_FREEDOM)
        error = sum(leaf.error for leaf in leaves)
        criterion = n_samples * np.log(max(error, 1e-300))
        criterion += np.log(n_samples) * freedom
        if criterion < smallest:
            best = leaves
            smallest = criterion
        place = int(np.argmax([leaf.gain for leaf in leaves]))
        sides = leaves[place].sides
        is_last = (len(leaves) + 1) * n_coefficients > max_freedom
        is_last |= len(leaves) == min(len(best) + PATIENCE, most)
        if sides is None or is_last:
            return [leaf.rows for leaf in best]
        grown = [_grow(design, y, rows) for rows in sides]
        leaves = [*leaves[:place], *grown, *leaves[place + 1 :]]


def _grow(design: FloatArray, y: FloatArray, rows: IntArray) -> _Leaf:
    """Return a leaf with the best split of its samples."""
    design = design[rows]
    y = y[rows]
    error_of_line = float(_Sums.of(design, y).errors())
    leaf = _Leaf(rows, error_of_line)
    fewest = design.shape[1] + SPARE_SAMPLES
    for column in design.T[1:]:
        is_left, error = _best_cut(design, y, column, fewest)
        if is_left is None:
            continue
        is_left, error = _move(design, y, is_left, error, fewest)
        if error < leaf.split_error:
            sides = rows[is_left], rows[~is_left]
            leaf = _Leaf(rows, error_of_line, error, sides)
    return leaf


def _best_cut(
    design: FloatArray, y: FloatArray, column: FloatArray, fewest: int
) -> tuple[NDArray[np.bool_] | None, float]:
    """Return the samples on the left of the cut of a column with the smallest error."""
    order = np.argsort(column, kind="stable")
    design = design[order]
    y = y[order]
    values = column[order]
    cuts = np.arange(fewest, len(values) - fewest + 1)  # samples on the left
    cuts = cuts[values[cuts - 1] < values[cuts]]
    if not len(cuts):
        return None, np.inf
    sums = _Sums.up_to(design, y, cuts)
    step = -(-len(cuts) // N_CUTS)
    errors = sums.split_errors(slice(None, None, step))
    best = int(errors.argmin()) * step
    if step > 1:
        first = max(best - step + 1, 0)
        errors = sums.split_errors(slice(first, best + step))
        best = first + int(errors.argmin())
    return column < values[cuts[best]], float(errors.min())


def _move(
    design: FloatArray, y: FloatArray, is_left: NDArray[np.bool_], error: float, fewest: int
) -> tuple[NDArray[np.bool_], float]:
    """Move the boundary to where the lines of both sides meet, as long as the error decreases."""
    for _ in range(N_MOVES):
        left = _Sums.of(design[is_left], y[is_left]).slopes()
        right = _Sums.of(design[~is_left], y[~is_left]).slopes()
        moved = design @ (left - right) <= 0
        if (moved == is_left).mean() < 0.5:
            moved = ~moved
        n_left = int(moved.sum())
        if min(n_left, len(y) - n_left) < fewest:
            break
        found = float(_Sums.of(design[moved], y[moved]).errors())
        found += float(_Sums.of(design[~moved], y[~moved]).errors())
        if not found < error:
            break
        is_left = moved
        error = found
    return is_left, error


class _Sums(NamedTuple):
    """Sums over samples that determine a line; leading axes are those of several lines."""

    squares: FloatArray  # (..., n_coefficients, n_coefficients)
    products: FloatArray  # (..., n_coefficients): with y
    total: FloatArray  # (...): of the squares of y

    @classmethod
    def of(cls, design: FloatArray, y: FloatArray) -> _Sums:
        return cls(design.T @ design, design.T @ y, np.asarray(y @ y))

    @classmethod
    def up_to(cls, design: FloatArray, y: FloatArray, cuts: IntArray) -> _Sums:
        """Return the sums over the samples before each cut, and over all."""
        n_coefficients = design.shape[1]
        rows = np.column_stack([design, y])
        i, j = np.triu_indices(n_coefficients + 1)
        ends = np.append(cuts, len(y)) - 1
        upper = np.cumsum(rows[:, i] * rows[:, j], axis=0)[ends]
        of_rows = np.empty((len(ends), n_coefficients + 1, n_coefficients + 1))
        of_rows[:, i, j] = upper
        of_rows[:, j, i] = upper
        return cls(of_rows[:, :-1, :-1], of_rows[:, :-1, -1], of_rows[:, -1, -1])

    def split_errors(self, cuts: slice) -> FloatArray:
        """Return the sum of squares of two lines for each of some cuts."""
        left = _Sums(*(each[:-1][cuts] for each in self))
        right = _Sums(*(each[-1] - before for each, before in zip(self, left, strict=True)))
        return left.errors() + right.errors()

    def slopes(self) -> FloatArray:
        n_coefficients = self.squares.shape[-1]
        mean = np.trace(self.squares, axis1=-2, axis2=-1)[..., np.newaxis, np.newaxis]
        penalty = RIDGE / n_coefficients * mean * np.eye(n_coefficients)
        solved = np.linalg.solve(self.squares + penalty, self.products[..., np.newaxis])
        return np.asarray(solved[..., 0])

    def errors(self) -> FloatArray:
        """Return the sum of squared residuals of each line."""
        return np.asarray(self.total - (self.slopes() * self.products).sum(axis=-1))
