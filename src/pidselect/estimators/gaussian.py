"""Information between jointly Gaussian variables, and between those with a Gaussian copula."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from pidselect.data import Block, Column, FloatArray, IntArray
from pidselect.estimators.base import (
    MAX_MEMORY,
    Batch,
    Scorer,
    check_same_length,
    normal_scores,
    standardised,
)
from pidselect.estimators.gaussian_kernels import (
    NOTHING_LEFT,
    ConditioningBasis,
    Levels,
    add_products,
    correlate_columns,
    inform_levels,
    inform_numbers,
    inform_singles,
    invert,
)

#: What is left unexplained below this is rounding: the target is a linear function of x and S.
ALL_EXPLAINED = 1e-14

#: With fewer samples there is no covariance to speak of.
FEWEST_FOR_COVARIANCE = 3

#: Levels of a label that get an axis of their own; all rarer ones share one.
MOST_LEVELS = 100

#: Samples of all candidates and of all that is known, which together stay in the cache.
SAMPLES_AT_ONCE = 2**10

#: Candidates for which it pays to rearrange what is known, instead of each of them.
FEWEST_TOGETHER = 4

#: Draws that are scored side by side, unless that takes more than this share of the memory.
DRAWS_AT_ONCE, SIDE_BY_SIDE = 16, 1 / 8

#: Values, none of them missing -> a centred direction of length 1, or of length 0 if constant.
Scaling = Callable[[FloatArray], FloatArray]


def standard_direction(values: FloatArray) -> FloatArray:
    """Return the direction of the values themselves."""
    return _direction(standardised(values))


def rank_direction(values: FloatArray) -> FloatArray:
    """Return the direction of the values' normal scores."""
    return _direction(normal_scores(values))


def _direction(scores: FloatArray) -> FloatArray:
    centred = scores - scores.mean()
    length = np.linalg.norm(centred)
    return np.asarray(centred / length if length > 0.0 else centred)


class Gaussian(BaseEstimator):
    r"""Information of the Gaussian distribution with the observed covariance.

    .. math:: I(x;y|S) = \frac12 \ln \frac{|\Sigma_{xS}|\,|\Sigma_{yS}|}{|\Sigma_S|\,|\Sigma_{xyS}|}
              = -\frac12 \sum_i \ln (1 - \rho_i^2),

    with the canonical correlations of x and y once S is regressed out of both, which is how it is
    computed: near-copies in S then cost no accuracy. A variable that is a linear function of S
    tells nothing more, and one that determines y linearly tells infinitely much. It sees linear
    relations only, and it sees those with few samples.

    Labels have no covariance, but their indicators do: a nominal column stands for one column a
    level, 1 where a sample has that level and 0 elsewhere (the 100 most frequent levels; any others
    share one column). Missing values of a column of numbers lie at its mean, and a column more says
    where they are. So a label is seen where the means of something else differ between its levels.

    Examples
    --------
    >>> import numpy as np
    >>> from pidselect import mutual_information
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 10_000))
    >>> round(mutual_information(x, x + noise, estimator="gaussian"), 1)
    0.5
    """

    chi2_null: ClassVar[bool] = True

    def bind(self, target: Block, given: Block, *, max_memory: int = MAX_MEMORY) -> Scorer:
        """Regress S out of the target."""
        return _bind(target, given, standard_direction, max_memory)


class Copula(BaseEstimator):
    """Gaussian information of normal scores: each column keeps only its ranks.

    The n-th of N ranks becomes the n / (N + 1) quantile of the standard normal distribution, ties
    sharing their average rank, and the Gaussian estimator does the rest. The value is invariant
    under strictly monotone maps of any column and blind to relations that are not monotone. Labels
    and missing values enter by indicators, as they do in `Gaussian`.

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

    A label tells how far the means of its levels lie apart.

    >>> size = np.repeat(["small", "medium", "large"], 1000)
    >>> weight = np.repeat([1.0, 2.0, 5.0], 1000) * np.exp(rng.normal(size=3000))
    >>> round(mutual_information(size, weight, estimator="copula"), 1)
    0.3
    """

    chi2_null: ClassVar[bool] = True
    uses_ranks_only: ClassVar[bool] = True

    def bind(self, target: Block, given: Block, *, max_memory: int = MAX_MEMORY) -> Scorer:
        """Regress the normal scores of S out of those of the target."""
        return _bind(target, given, rank_direction, max_memory)


def _bind(target: Block, given: Block, scaling: Scaling, max_memory: int) -> Scorer:
    n = target.n_samples
    if n < FEWEST_FOR_COVARIANCE:
        raise ValueError(
            f"A covariance needs at least {FEWEST_FOR_COVARIANCE} samples, but n_samples={n}."
        )
    nothing = np.empty((0, n))
    explained = _directions(_axes(given, scaling), nothing) if len(given) else nothing
    left = _directions(_axes(target, scaling), explained)
    by_sample = np.ascontiguousarray(np.vstack([explained, left]).T)
    affordable = int(SIDE_BY_SIDE * max_memory) // (4 * n)
    at_once = max(1, min(DRAWS_AT_ONCE, affordable))
    return ProjectionScorer(ConditioningBasis(explained, left, by_sample), scaling, at_once)


@dataclass(frozen=True, eq=False)
class ProjectionScorer:
    """Scores columns by their canonical correlations with the target, S taken out of both."""

    known: ConditioningBasis
    scaling: Scaling
    draws_at_once: int = DRAWS_AT_ONCE

    def score(self, batch: Batch) -> FloatArray:
        """Return I(x; y | S) in nats for every version of the candidate, shape (m,)."""
        return self.score_together([batch.block], batch.rows)[0]

    def score_together(self, blocks: Sequence[Block], rows: NDArray[np.int32]) -> FloatArray:
        """Return I(x; y | S) in nats for candidates that are rearranged alike.

        Parameters
        ----------
        blocks : sequence of Block
        rows : array of int32, shape (m, n_samples)

        Returns
        -------
        array, shape (n_blocks, m)
        """
        for block in blocks:
            check_same_length(Batch(block, rows), self.known.given.shape[1])
        values = np.empty((len(blocks), len(rows)))
        singles = [place for place, block in enumerate(blocks) if _is_single(block)]
        if len(singles) < FEWEST_TOGETHER or not self._score_singles(blocks, singles, rows, values):
            singles = []
        for place in sorted({*range(len(blocks))}.difference(singles)):
            values[place] = self._score_alone(Batch(blocks[place], rows))
        for place, block in enumerate(blocks):
            delicate = np.flatnonzero(np.isnan(values[place]))
            if delicate.size:
                values[place, delicate] = self._score_residuals(Batch(block, rows[delicate]))
        return values

    def _score_singles(
        self,
        blocks: Sequence[Block],
        places: Sequence[int],
        rows: NDArray[np.int32],
        values: FloatArray,
    ) -> bool:
        """Score those of one direction each, NaN if delicate; False if rows are no permutations."""
        directions = [blocks[place].columns[0].made(self.scaling) for place in places]
        n_samples, n_known = self.known.by_sample.shape
        for first in range(0, len(rows), self.draws_at_once):
            some = slice(first, first + self.draws_at_once)
            inverse = np.empty(rows[some].shape, dtype=np.int32)
            if not invert(rows[some], inverse):
                return False
            loadings = np.zeros((len(places), len(inverse), n_known))
            for start in range(0, n_samples, SAMPLES_AT_ONCE):
                end = start + SAMPLES_AT_ONCE
                together = np.stack([direction[start:end] for direction in directions])
                add_products(together, start, inverse, self.known, loadings)
            found = np.empty(loadings.shape[:2])
            inform_singles(loadings, len(self.known.given), found)
            values[places, some] = found
        return True

    def _score_alone(self, batch: Batch) -> FloatArray:
        """Score a candidate of any number of directions, shape (m,), NaN if delicate."""
        values = np.empty(len(batch))
        levels = _levels(batch.block)
        if levels is not None:
            inform_levels(levels, batch.rows, self.known, values)
            return values
        directions = _axes(batch.block, self.scaling)
        if len(directions) > 1:
            directions = _directions(directions, np.empty((0, batch.block.n_samples)))
        inform_numbers(directions, batch.rows, self.known, values)
        return values

    def _score_residuals(self, batch: Batch) -> FloatArray:
        """Score as exactly as can be, whatever S explains of x and x of the target."""
        axes = _axes(batch.block, self.scaling)
        loadings = np.empty((len(batch), len(axes), len(self.known.target)))
        correlate_columns(axes, batch.rows, self.known, loadings)
        explained = np.linalg.svd(loadings, compute_uv=False) ** 2
        explained[explained > 1.0 - ALL_EXPLAINED] = 1.0
        with np.errstate(divide="ignore"):  # a correlation of 1 is infinite information
            return -0.5 * np.log1p(-explained).sum(axis=1)


def _is_single(block: Block) -> bool:
    """Return whether the block is one column of numbers, none of them missing."""
    return (
        block.feature_types in (("continuous",), ("ordinal",)) and not block.columns[0].has_missing
    )


def _levels(block: Block) -> Levels | None:
    """Return the directions of a single label with more than two levels; of all else, none."""
    if block.feature_types != ("nominal",):
        return None
    code = _common_codes(block.columns[0])
    size = np.bincount(code)
    return Levels(code, 1.0 / np.sqrt(size[code]), len(size)) if len(size) > 2 else None


def _axes(block: Block, scaling: Scaling) -> FloatArray:
    """Return the centred axes of all columns, shape (n_axes, n_samples)."""
    return np.concatenate([_axes_of(column, scaling) for column in block.columns])


def _axes_of(column: Column, scaling: Scaling) -> FloatArray:
    values = column.values
    if column.feature_type == "nominal":
        codes = _common_codes(column)
        size = np.bincount(codes)
        if len(size) > 2:
            # Together they are constant, so one can go; without the largest they overlap least.
            kept = np.delete(np.arange(len(size)), size.argmax())
            return (codes == kept[:, np.newaxis]) - size[kept, np.newaxis] / len(codes)
        return scaling(codes.astype(np.float64))[np.newaxis]
    missing = np.isnan(values)
    if missing.all():
        return np.zeros((1, len(values)))
    if not missing.any():
        return column.made(scaling)[np.newaxis]
    scores = np.zeros(len(values))
    scores[~missing] = scaling(values[~missing])
    return np.stack([scores, missing - missing.mean()])


def _common_codes(column: Column) -> IntArray:
    """Return each sample's level, all but the most frequent ones being one (ties by order)."""
    codes = column.codes()
    size = np.bincount(codes)
    if len(size) <= MOST_LEVELS:
        return codes
    renumbered = np.full(len(size), MOST_LEVELS)
    renumbered[np.argsort(-size, kind="stable")[:MOST_LEVELS]] = np.arange(MOST_LEVELS)
    return renumbered[codes]


def _directions(columns: FloatArray, explained: FloatArray) -> FloatArray:
    """Return orthonormal directions of what the columns have beyond those explained."""
    found = np.concatenate([explained, np.empty_like(columns)])
    n_found = len(explained)
    for column in columns:
        known, direction = found[:n_found], column.copy()
        for _ in range(2):  # once more puts right what rounding left the first time
            direction -= (known @ direction) @ known
        length = np.linalg.norm(direction)
        if length > NOTHING_LEFT * np.linalg.norm(column):
            found[n_found] = direction / length
            n_found += 1
    return np.ascontiguousarray(found[len(explained) : n_found])
