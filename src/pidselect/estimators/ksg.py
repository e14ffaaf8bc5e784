r"""KSG estimator: mutual information of continuous variables from nearest neighbours.

The KSG formula (Kraskov, Stögbauer, Grassberger 2004, algorithm 1; Frenzel, Pompe 2007 for the
conditional case), with counts n of the samples nearer than the k-th neighbour in (x, y, S):

.. math:: I(x;y|S) = \psi(k) + \langle \psi(n_S+1) - \psi(n_{xS}+1) - \psi(n_{yS}+1) \rangle
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import digamma

from pidselect.data import Block, check_choice
from pidselect.estimators.base import Batch, Scorer
from pidselect.estimators.knn.binding import Formula, NeighbourEstimator, Scale
from pidselect.estimators.knn.ksg2 import bind_ksg2


class KSG(NeighbourEstimator):
    r"""Kraskov-Stögbauer-Grassberger estimator of (conditional) mutual information.

    Algorithm 1 finds the distance of each sample's k-th neighbour in (x, y, S), maximum norm, and
    counts the samples strictly nearer than that in S, in (x, S) and in (y, S):

    .. math:: I(x;y|S) = \psi(k) + \langle \psi(n_S+1) - \psi(n_{xS}+1) - \psi(n_{yS}+1) \rangle

    Without S, psi(N) replaces the first term of the mean. Algorithm 2 has separate radii in x, y
    and S, the largest distances of the k neighbours and of those that tie with the k-th, and counts
    samples at distances up to these:

    .. math::
       I(x;y|S) = \psi(k) - \tfrac{2}{k} + \langle \psi(n_S) - \psi(n_{xS}) - \psi(n_{yS})
                  + \tfrac{1}{n_{xS}} + \tfrac{1}{n_{yS}} \rangle

    and :math:`\psi(k) - \tfrac1k + \psi(N) - \langle \psi(n_x) + \psi(n_y) \rangle` without S.
    A sample is not its own neighbour.

    Parameters
    ----------
    k : int
        The number of neighbours: larger values reduce variance and increase bias.
    algorithm : {1, 2}
        Algorithm 1 is the default of the literature and much faster here.
    scale : {"zscore", "rank", None}
        The transformation of each column: "zscore" to mean 0 and standard deviation 1; "rank" to
        normal scores of the ranks, which makes the estimate invariant under strictly monotone
        maps (see `normal_scores`); None leaves columns as they are.

    Notes
    -----
    No noise is added to break ties. If a sample's k nearest neighbours all coincide with it, no
    sample is strictly nearer and all counts are zero, which biases the estimate upwards. The
    surrogates of a test have the same bias, so that the test remains valid, but the value is not
    meaningful. Use `Mixed` for columns with many ties, as "auto" does.

    References
    ----------
    A. Kraskov, H. Stögbauer, P. Grassberger, Physical Review E 69, 066138 (2004).
    S. Frenzel, B. Pompe, Physical Review Letters 99, 204101 (2007), for the conditional case.

    Examples
    --------
    >>> import numpy as np
    >>> from pidselect import mutual_information
    >>> from pidselect.estimators import KSG
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 1000))
    >>> round(mutual_information(x, x + noise, estimator=KSG(k=10)), 1)  # the true value is 0.5
    0.5

    With ranks, a monotone function of the conditioning set has no information beyond it.

    >>> ranks = KSG(scale="rank")
    >>> abs(round(mutual_information(np.exp(-x), x + noise, given=x, estimator=ranks), 12))
    0.0
    """

    uses_neighbours: ClassVar[bool] = True

    def __init__(self, k: int = 4, algorithm: int = 1, scale: Scale = "zscore") -> None:
        self.k = k
        self.algorithm = algorithm
        self.scale = scale

    def formula(self, n_samples: int) -> Formula:
        """Return the formula of algorithm 1."""
        weight = digamma(np.arange(n_samples) + 1.0)
        return Formula(self.k, True, self.scale, weight, float(digamma(self.k)))

    def estimate(self, x: Block, target: Block, given: Block) -> float:
        """Return I(x; y | S) in nats."""
        if self.algorithm == 1:
            return super().estimate(x, target, given)
        return float(self.bind(target, given).score(Batch.observed(x))[0])

    def _bind(self, target: Block, given: Block, formula: Formula) -> Scorer:
        check_choice(self.algorithm, (1, 2), "algorithm")
        if self.algorithm == 2:
            return bind_ksg2(target, given, formula)
        return super()._bind(target, given, formula)
