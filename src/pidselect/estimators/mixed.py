"""Information between any mixture of continuous and discrete variables (Mesner, Shalizi 2019)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import digamma
from sklearn.base import BaseEstimator

from pidselect.data import Block
from pidselect.estimators.base import MAX_MEMORY, Scorer
from pidselect.estimators.knn.binding import (
    NeighbourScorer,
    Scale,
    bind_space,
    check_enough_samples,
    check_neighbours,
    in_whole_numbers,
    to_candidate,
)
from pidselect.estimators.knn.general import Candidate


class Mixed(BaseEstimator):
    r"""Nearest-neighbour estimator for discrete and continuous variables in any of the places.

    With :math:`\rho` the distance of a sample's k-th neighbour in (x, y, S) in the maximum norm
    and counts of the samples at most :math:`\rho` away,

    .. math:: I(x;y|S) = \langle \psi(\tilde k) + \psi(n_S) - \psi(n_{xS}) - \psi(n_{yS}) \rangle,

    where :math:`\tilde k` is the count in (x, y, S): k, or more where several samples are at the
    same distance, as they are for labels, counts and rounded numbers. (With k in its place unless
    :math:`\rho = 0`, as the paper has it, ties would pull the value down: by 0.4 bit for two
    independent normal variables rounded to one digit, N = 1000.) A sample counts itself nowhere;
    without S, :math:`n_S = N - 1`, as for a constant S. The value is never clipped.

    Labels are 0 or 1 apart, numbers as far as they are after scaling. A missing value, where it
    is kept as a category, is 0 from another one and infinitely far from the rest.

    Parameters
    ----------
    k : int
        The number of neighbours.
    scale : {"zscore", "rank", None}
        What is done to each column of numbers first, as in `KSG`. Both scales leave numbers with
        standard deviation 1, next to which labels, 0 or 1 apart, are neither near nor far.

    References
    ----------
    O. C. Mesner, C. R. Shalizi, arXiv:1912.03387 (2019).
    W. Gao, S. Kannan, S. Oh, P. Viswanath, NeurIPS (2017), for the one without S.

    Examples
    --------
    >>> import numpy as np
    >>> from pidselect import mutual_information
    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(0, 5, size=2000)
    >>> y = rng.uniform(x, x + 2)
    >>> round(float(np.log2(5) - 4 / 5), 1)  # the truth in bits
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
        """Whether strictly monotone maps of a column of numbers change nothing."""
        return self.scale == "rank"

    def bind(self, target: Block, given: Block, *, max_memory: int = MAX_MEMORY) -> Scorer:
        """Sort every sample's neighbours in (y, S) and in S."""
        check_neighbours(self.k, self.scale)
        check_enough_samples(target.n_samples, self.k)
        known = bind_space(target, given, self.k, self.scale, max_memory)
        # No count is zero: the k neighbours count everywhere.
        weight = digamma(np.maximum(np.arange(target.n_samples), 1.0))
        rule, unit = in_whole_numbers(self.k, False, weight)
        return NeighbourScorer(known, rule, unit, 0.0, self._to_candidate)

    def _to_candidate(self, block: Block) -> Candidate:
        return to_candidate(block, self.scale)
