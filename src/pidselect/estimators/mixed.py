"""Nearest-neighbour estimator for mixed discrete and continuous variables (Mesner, Shalizi)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import digamma
from sklearn.base import BaseEstimator

from pidselect.data import Block
from pidselect.estimators.base import MAX_MEMORY, Scorer
from pidselect.estimators.knn.binding import (
    Formula,
    NeighbourScorer,
    Scale,
    bind_target,
    check_enough_samples,
    check_neighbours,
    to_candidate,
)
from pidselect.estimators.knn.general import Candidate


class Mixed(BaseEstimator):
    r"""Nearest-neighbour estimator for any mixture of discrete and continuous variables.

    With :math:`\rho` the distance of a sample's k-th neighbour in (x, y, S), maximum norm, and
    counts of the samples at distances up to :math:`\rho`,

    .. math:: I(x;y|S) = \langle \psi(\tilde k) + \psi(n_S) - \psi(n_{xS}) - \psi(n_{yS}) \rangle,

    where :math:`\tilde k` is the count in (x, y, S): k, or more if several samples are at distance
    :math:`\rho`, as for labels, counts and rounded numbers. (The paper uses k unless
    :math:`\rho = 0`; ties then bias the value downwards, by 0.4 bit for two independent normal
    variables rounded to one digit, N = 1000.) A sample is not its own neighbour; without S,
    :math:`n_S = N - 1`, as for a constant S. The value is never clipped.

    The distance of two labels is 0 or 1, that of numbers their difference after scaling. Missing
    values kept as a category are at distance 0 from each other and infinitely far from the rest.

    Parameters
    ----------
    k : int
        The number of neighbours.
    scale : {"zscore", "rank", None}
        The transformation of numeric columns, as in `KSG`. Both scales have standard deviation 1,
        comparable to the distance 1 of two labels.

    References
    ----------
    O. C. Mesner, C. R. Shalizi, arXiv:1912.03387 (2019).
    W. Gao, S. Kannan, S. Oh, P. Viswanath, NeurIPS (2017), for the case without S.

    Examples
    --------
    >>> import numpy as np
    >>> from pidselect import mutual_information
    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(0, 5, size=2000)
    >>> y = rng.uniform(x, x + 2)
    >>> round(float(np.log2(5) - 4 / 5), 1)  # the true value in bits
    1.5
    >>> round(mutual_information(x, y, estimator="mixed"), 1)
    1.5
    """

    chi2_null: ClassVar[bool] = False

    def __init__(self, k: int = 4, scale: Scale = "zscore") -> None:
        self.k = k
        self.scale = scale

    @property
    def uses_ranks_only(self) -> bool:
        """Whether the estimate is invariant under strictly monotone maps of numeric columns."""
        return self.scale == "rank"

    def bind(self, target: Block, given: Block, *, max_memory: int = MAX_MEMORY) -> Scorer:
        """List every sample's neighbours in (y, S) and in S."""
        check_neighbours(self.k, self.scale)
        check_enough_samples(target.n_samples, self.k)
        bound = bind_target(target, given, self.k, self.scale, max_memory)
        return NeighbourScorer(bound, self.formula(target.n_samples), self._to_candidate)

    def formula(self, n_samples: int) -> Formula:
        """Return the formula; counts are at least 1, since they include the k neighbours."""
        weight = digamma(np.maximum(np.arange(n_samples), 1.0))
        return Formula(self.k, False, self.scale, weight, 0.0)

    def _to_candidate(self, block: Block) -> Candidate:
        return to_candidate(block, self.scale)
