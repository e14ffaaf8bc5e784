"""Information between jointly Gaussian variables, and between those with a Gaussian copula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.base import BaseEstimator

from pidselect.data import Block, FloatArray
from pidselect.estimators._projections import NOTHING_LEFT, correlate_columns
from pidselect.estimators.base import (
    MAX_MEMORY,
    Batch,
    Scorer,
    as_numbers,
    check_same_length,
    standardised,
)

#: What is left unexplained below this is rounding: the target is a linear function of x and S.
ALL_EXPLAINED = 1e-14

#: With fewer samples there is no covariance to speak of.
FEWEST_FOR_COVARIANCE = 3


class Gaussian(BaseEstimator):
    r"""Information of the Gaussian distribution with the observed covariance.

    .. math:: I(x;y|S) = \frac12 \ln \frac{|\Sigma_{xS}|\,|\Sigma_{yS}|}{|\Sigma_S|\,|\Sigma_{xyS}|}
              = -\frac12 \sum_i \ln (1 - \rho_i^2),

    with the canonical correlations of x and y once S is regressed out of both, which is how it is
    computed: near-copies in S then cost no accuracy. A variable that is a linear function of S
    tells nothing more, and one that determines y linearly tells infinitely much. It sees linear
    relations only, and it sees those with few samples.

    Examples
    --------
    >>> import numpy as np
    >>> from pidselect import mutual_information
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 10_000))
    >>> round(mutual_information(x, x + noise, estimator="gaussian"), 1)
    0.5
    """

    def bind(self, target: Block, given: Block, *, max_memory: int = MAX_MEMORY) -> Scorer:
        """Regress S out of the target."""
        return _bind(target, given, _axes)


class Copula(BaseEstimator):
    """Gaussian information of normal scores: each column keeps only its ranks.

    The n-th of N ranks becomes the n / (N + 1) quantile of the standard normal distribution, ties
    sharing their average rank, and the Gaussian estimator does the rest. The value is invariant
    under strictly monotone maps of any column and blind to relations that are not monotone.

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
    """

    def bind(self, target: Block, given: Block, *, max_memory: int = MAX_MEMORY) -> Scorer:
        """Regress the normal scores of S out of those of the target."""
        return _bind(target, given, _normal_scores)


def _normal_scores(block: Block) -> FloatArray:
    """Return the standardised normal scores of each column, shape (n_columns, n_samples)."""
    columns = as_numbers(block, "Copula").columns
    ranks = [rankdata(column.values) / (len(column.values) + 1) for column in columns]
    return np.stack([standardised(ndtri(rank)) for rank in ranks])


def _axes(block: Block) -> FloatArray:
    """Return the standardised columns, shape (n_columns, n_samples)."""
    columns = as_numbers(block, "Gaussian").columns
    return np.stack([standardised(column.values) for column in columns])


def _bind(target: Block, given: Block, axes: Callable[[Block], FloatArray]) -> Scorer:
    n = target.n_samples
    if n < FEWEST_FOR_COVARIANCE:
        raise ValueError(
            f"A covariance needs at least {FEWEST_FOR_COVARIANCE} samples, but n_samples={n}."
        )
    nothing = np.empty((0, n))
    explained = _directions(axes(given), nothing) if len(given) else nothing
    return ProjectionScorer(explained, _directions(axes(target), explained), axes)


def _directions(columns: FloatArray, explained: FloatArray) -> FloatArray:
    """Return orthonormal directions of what the columns have beyond those explained."""
    found = explained
    for column in columns:
        direction = column.copy()
        for _ in range(2):
            direction -= (found @ direction) @ found
        length = np.linalg.norm(direction)
        if length > NOTHING_LEFT * np.linalg.norm(column):
            found = np.vstack([found, direction / length])
    return np.ascontiguousarray(found[len(explained) :])


@dataclass(frozen=True, eq=False)
class ProjectionScorer:
    """Scores columns by their canonical correlations with the target, S taken out of both."""

    given: FloatArray
    target: FloatArray
    axes: Callable[[Block], FloatArray]

    def score(self, batch: Batch) -> FloatArray:
        """Return I(x; y | S) in nats for every version of the candidate, shape (m,)."""
        check_same_length(batch, self.target.shape[1])
        loadings = np.empty((len(batch), len(batch.block), len(self.target)))
        correlate_columns(self.axes(batch.block), batch.rows, self.given, self.target, loadings)
        explained = np.linalg.svd(loadings, compute_uv=False) ** 2
        explained[explained > 1.0 - ALL_EXPLAINED] = 1.0
        with np.errstate(divide="ignore"):  # a correlation of 1 is infinite information
            return -0.5 * np.log1p(-explained).sum(axis=1)
