"""Gaussian estimators of mutual information: Pearson correlation, and Gaussian copula."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from pidselect.data import Block, Column, FloatArray, IntArray
from pidselect.estimators.base import Batch, Scorer, check_same_length
from pidselect.estimators.gaussian_kernels import (
    MIN_RESIDUAL,
    ConditioningBasis,
    LevelDirections,
    add_level_loadings,
    add_products,
    fill_loadings,
    information_from_loadings,
    invert_permutations,
    log_determinants,
    residual_loadings,
)
from pidselect.estimators.scaling import normal_scores

#: Unexplained variance below which the target is a linear function of x and S.
MIN_UNEXPLAINED = 1e-14

#: Fewest samples for a covariance.
MIN_SAMPLES = 3

#: Levels of a nominal column with an indicator each; rarer levels share one.
MAX_LEVELS = 100

#: Samples of all candidates and of the basis that are processed in the cache.
SAMPLES_PER_BLOCK = 2**10

#: Number of candidates from which permuting the basis is faster than permuting each candidate.
MIN_CANDIDATES = 4

#: Permutations scored at a time, unless they take more bytes.
MAX_CHUNK, CHUNK_BYTES = 16, 2**26

#: Inner products of one candidate and the basis that are kept at a time, a megabyte.
MAX_LOADINGS = 2**17

#: Values without missing ones -> a centred unit vector, or zeros if constant.
Transformation = Callable[[FloatArray], FloatArray]


def linear_direction(values: FloatArray) -> FloatArray:
    """Return the centred unit vector of the values."""
    if values.min() == values.max():  # rounding could make its deviation positive
        return np.zeros(len(values))
    # Scaling by a power of two is exact and prevents overflow and underflow of squares.
    scaled = np.ldexp(values, -np.frexp(np.abs(values).max())[1])
    return _direction(_direction(scaled))  # twice, to remove rounding errors of the mean


def rank_direction(values: FloatArray) -> FloatArray:
    """Return the centred unit vector of the values' normal scores."""
    return _direction(normal_scores(values))


def _direction(scores: FloatArray) -> FloatArray:
    centred = scores - scores.mean()
    length = np.linalg.norm(centred)
    return np.asarray(centred / length if length > 0.0 else centred)


class Gaussian(BaseEstimator):
    r"""Mutual information of the Gaussian distribution with the observed covariance.

    .. math:: I(x;y|S) = \frac12 \ln \frac{|\Sigma_{xS}|\,|\Sigma_{yS}|}{|\Sigma_S|\,|\Sigma_{xyS}|}
              = -\frac12 \sum_i \ln (1 - \rho_i^2),

    with the canonical correlations of x and y given S, by which it is computed: near-duplicates in
    S then cost no accuracy. It detects linear dependence only, with few samples. It is zero if x is
    a linear function of S and infinite if x determines y linearly.

    Nominal columns enter by indicators of their levels (the 100 most frequent levels; the others
    share one). Missing numbers are set to the mean, with an indicator of where they are. So a label
    is informative if the means of the other variable differ between its levels.

    Examples
    --------
    >>> import numpy as np
    >>> from pidselect import mutual_information
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 10_000))
    >>> round(mutual_information(x, x + noise, estimator="gaussian"), 1)
    0.5
    """

    uses_ranks_only: ClassVar[bool] = False

    def bind(self, target: Block, given: Block) -> Scorer:
        """Regress S out of the target."""
        n = target.n_samples
        direction_of = rank_direction if self.uses_ranks_only else linear_direction
        if n < MIN_SAMPLES:
            raise ValueError(
                f"A covariance needs at least {MIN_SAMPLES} samples, but n_samples={n}."
            )
        empty = np.empty((0, n))
        explained = _directions(_axes(given, direction_of), empty) if len(given) else empty
        residual = _directions(_axes(target, direction_of), explained)
        by_sample = np.ascontiguousarray(np.vstack([explained, residual]).T)
        basis = ConditioningBasis(explained, residual, by_sample)
        chunk = max(1, min(MAX_CHUNK, CHUNK_BYTES // (4 * n)))
        return GaussianScorer(basis, direction_of, chunk)


class Copula(Gaussian):
    """Gaussian copula mutual information: the Gaussian estimator of normal scores of the ranks.

    Rank n of N becomes the n / (N + 1) quantile of the standard normal distribution, ties sharing
    their average rank. The value is invariant under strictly monotone maps of any column and
    insensitive to dependence that is not monotone. Labels and missing values enter by indicators,
    as in `Gaussian`.

    References
    ----------
    R. A. A. Ince et al., Human Brain Mapping 38, 1541 (2017).

    Examples
    --------
    >>> import numpy as np
    >>> from pidselect import mutual_information
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 10_000))
    >>> round(mutual_information(np.exp(3 * x), (x + noise) ** 3, estimator="copula"), 1)
    0.5

    A label is informative if the means of its levels differ.

    >>> size = np.repeat(["small", "medium", "large"], 1000)
    >>> weight = np.repeat([1.0, 2.0, 5.0], 1000) * np.exp(rng.normal(size=3000))
    >>> round(mutual_information(size, weight, estimator="copula"), 1)
    0.3
    """

    uses_ranks_only: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class GaussianScorer:
    """Scores candidates by their canonical correlations with the target given S."""

    basis: ConditioningBasis
    transformation: Transformation
    chunk: int

    def score(self, batch: Batch) -> FloatArray:
        """Return I(x; y | S) in nats for every permutation of the candidate, shape (m,)."""
        return self.score_together([batch.block], batch.rows)[0]

    def score_together(self, blocks: Sequence[Block], rows: NDArray[np.int32]) -> FloatArray:
        """Return I(x; y | S) in nats, shape (n_blocks, m), for candidates permuted by `rows`."""
        for block in blocks:
            check_same_length(block, self.basis.given.shape[1])
        values = np.full((len(blocks), len(rows)), np.nan)
        single = [index for index, block in enumerate(blocks) if _is_single_column(block)]
        if len(single) < MIN_CANDIDATES:
            single = []
        else:
            values[single] = self._score_columns([blocks[i].columns[0] for i in single], rows)
        for index in set(range(len(blocks))).difference(single):
            values[index] = self._score_block(blocks[index], rows)
        inaccurate = np.isnan(values)
        for row in np.flatnonzero(inaccurate.any(axis=1)).tolist():
            some = np.flatnonzero(inaccurate[row])
            values[row, some] = self._score_residuals(blocks[row], rows[some])
        return values

    def _score_columns(self, columns: Sequence[Column], rows: NDArray[np.int32]) -> FloatArray:
        """Score single columns, shape (n_columns, m), NaN if inaccurate."""
        directions = [column.made(self.transformation) for column in columns]
        n_samples, n_basis = self.basis.by_sample.shape
        values = np.empty((len(columns), len(rows)))
        for first in range(0, len(rows), self.chunk):
            some = slice(first, first + self.chunk)
            inverse = np.empty(rows[some].shape, dtype=np.int32)
            invert_permutations(rows[some], inverse)
            loadings = np.zeros((len(columns), len(inverse), n_basis))
            for start in range(0, n_samples, SAMPLES_PER_BLOCK):
                x = np.stack([v[start : start + SAMPLES_PER_BLOCK] for v in directions])
                permuted = np.empty((x.shape[1] + 1, len(inverse) * n_basis))
                add_products(x, start, inverse, self.basis.by_sample, permuted, loadings)
            found = np.empty(loadings.shape[:2])
            information_from_loadings(loadings, len(self.basis.given), found)
            values[:, some] = found
        return values

    def _score_block(self, block: Block, rows: NDArray[np.int32]) -> FloatArray:
        """Score a candidate of any number of directions, shape (m,), NaN if inaccurate."""
        levels = _level_directions(block)
        directions = np.empty((0, block.n_samples))
        if levels is None:
            directions = _axes(block, self.transformation)
            if len(directions) > 1:
                directions = _directions(directions, np.empty((0, block.n_samples)))
        n_directions = len(directions) if levels is None else levels.size
        values = np.empty(len(rows))
        chunk = max(1, MAX_LOADINGS // max(1, n_directions * self.basis.by_sample.shape[1]))
        for first in range(0, len(rows), chunk):
            some = rows[first : first + chunk]
            loadings = np.zeros((len(some), n_directions, self.basis.by_sample.shape[1]))
            if levels is None:
                column = np.empty(block.n_samples)
                fill_loadings(directions, some, self.basis, column, loadings)
            else:
                add_level_loadings(levels, some, self.basis.by_sample, loadings)
            values[first : first + chunk] = _information(loadings, len(self.basis.given))
        return values

    def _score_residuals(self, block: Block, rows: NDArray[np.int32]) -> FloatArray:
        """Score accurately by regressing S out of every permutation of the candidate."""
        axes = _axes(block, self.transformation)
        loadings = np.empty((len(rows), len(axes), len(self.basis.target)))
        residual_loadings(axes, rows, self.basis, np.empty(axes.shape), loadings)
        explained = np.linalg.svd(loadings, compute_uv=False) ** 2
        explained[explained > 1.0 - MIN_UNEXPLAINED] = 1.0
        with np.errstate(divide="ignore"):  # a correlation of 1 is infinite information
            return -0.5 * np.log1p(-explained).sum(axis=1)


def _information(loadings: FloatArray, n_given: int) -> FloatArray:
    """Return I(x; y | S) in nats, shape (m,), from loadings (m, n_directions, n_basis).

    The determinants are those of the smaller side: |1 - M M'| = |1 - M' M|. NaN if inaccurate.
    """
    n_permutations, n_directions, n_basis = loadings.shape
    values = np.zeros(n_permutations)
    if n_directions == 0 or n_basis == n_given:
        return values
    if n_directions == 1:
        information_from_loadings(loadings.reshape(1, -1, n_basis), n_given, values[np.newaxis])
        return values
    size = min(n_directions, n_basis)
    covariance = np.tile(np.eye(size), (n_permutations, 1, 1))
    work, left = np.empty((size, size)), np.empty(n_permutations)
    if n_basis <= n_directions:
        log_determinants(loadings, 0, n_directions, n_given, covariance, work, values)
        return -0.5 * values
    by_basis = np.ascontiguousarray(loadings.transpose(0, 2, 1))
    log_determinants(by_basis, 0, n_given, 0, covariance, work, left)
    log_determinants(by_basis, n_given, n_basis, 0, covariance, work, values)
    return 0.5 * (left - values)


def _is_single_column(block: Block) -> bool:
    """Return whether the block is one numeric column without missing values."""
    return (
        block.feature_types in (("continuous",), ("ordinal",)) and not block.columns[0].has_missing
    )


def _level_directions(block: Block) -> LevelDirections | None:
    """Return the indicators of a single nominal column of more than two levels, else None."""
    if block.feature_types != ("nominal",):
        return None
    code = _frequent_codes(block.columns[0])
    size = np.bincount(code)
    return LevelDirections(code, 1.0 / np.sqrt(size[code]), len(size)) if len(size) > 2 else None


def _axes(block: Block, transformation: Transformation) -> FloatArray:
    """Return the centred numeric columns and indicators of a block, shape (n_axes, n_samples)."""
    return np.concatenate([_column_axes(column, transformation) for column in block.columns])


def _column_axes(column: Column, transformation: Transformation) -> FloatArray:
    values = column.values
    if column.feature_type == "nominal":
        codes = _frequent_codes(column)
        size = np.bincount(codes)
        if len(size) > 2:
            # Indicators sum to a constant: one is redundant, best the most frequent one.
            kept = np.delete(np.arange(len(size)), size.argmax())
            return (codes == kept[:, np.newaxis]) - size[kept, np.newaxis] / len(codes)
        return transformation(codes.astype(np.float64))[np.newaxis]
    missing = np.isnan(values)
    if missing.all():
        return np.zeros((1, len(values)))
    if not missing.any():
        return column.made(transformation)[np.newaxis]
    scores = np.zeros(len(values))
    scores[~missing] = transformation(values[~missing])
    return np.stack([scores, missing - missing.mean()])


def _frequent_codes(column: Column) -> IntArray:
    """Return each sample's level, with one common level for all but the most frequent ones."""
    codes = column.codes()
    size = np.bincount(codes)
    if len(size) <= MAX_LEVELS:
        return codes
    renumbered = np.full(len(size), MAX_LEVELS)
    renumbered[np.argsort(-size, kind="stable")[:MAX_LEVELS]] = np.arange(MAX_LEVELS)
    return renumbered[codes]


def _directions(columns: FloatArray, explained: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the columns' residuals given those explained."""
    found = np.concatenate([explained, np.empty_like(columns)])
    n_found = len(explained)
    for column in columns:
        basis, direction = found[:n_found], column.copy()
        for _ in range(2):  # twice, to remove rounding errors
            direction -= (basis @ direction) @ basis
        length = np.linalg.norm(direction)
        if length > MIN_RESIDUAL * np.linalg.norm(column):
            found[n_found] = direction / length
            n_found += 1
    return np.ascontiguousarray(found[len(explained) : n_found])
