r"""KSG estimator: mutual information of continuous variables from nearest neighbours.

The KSG formula (Kraskov, Stögbauer, Grassberger 2004, algorithm 1; Frenzel, Pompe 2007 for the
conditional case), with counts n of the samples nearer than the k-th neighbour in (x, y, S):

.. math:: I(x;y|S) = \psi(k) + \langle \psi(n_S+1) - \psi(n_{xS}+1) - \psi(n_{yS}+1) \rangle
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import digamma
from sklearn.base import BaseEstimator

from pidselect.data import Block, FloatArray, check_choice
from pidselect.estimators.base import MAX_MEMORY, Batch, Scorer, as_numbers, check_same_length
from pidselect.estimators.knn.binding import (
    Formula,
    NeighbourScorer,
    Scale,
    bind_target,
    check_enough_samples,
    check_neighbours,
    list_lengths,
    to_candidate,
    to_space,
)
from pidselect.estimators.knn.general import Candidate
from pidselect.estimators.knn.ksg2 import KSG2Rule, KSG2Spaces, score_ksg2
from pidselect.estimators.knn.neighbour_lists import list_neighbours
from pidselect.estimators.knn.spaces import bounding_boxes


class KSG(BaseEstimator):
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
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 1000))
    >>> round(mutual_information(x, x + noise, estimator=KSG(k=10)), 1)  # the true value is 0.5
    0.5

    With ranks, a monotone function of the conditioning set has no information beyond it.

    >>> ranks = KSG(scale="rank")
    >>> abs(round(mutual_information(np.exp(-x), x + noise, given=x, estimator=ranks), 12))
    0.0
    """

    chi2_null: ClassVar[bool] = False

    def __init__(self, k: int = 4, algorithm: int = 1, scale: Scale = "zscore") -> None:
        self.k = k
        self.algorithm = algorithm
        self.scale = scale

    @property
    def uses_ranks_only(self) -> bool:
        """Whether the estimate is invariant under strictly monotone maps of a column."""
        return self.scale == "rank"

    def bind(self, target: Block, given: Block, *, max_memory: int = MAX_MEMORY) -> Scorer:
        """List every sample's neighbours in (y, S) and in S."""
        check_neighbours(self.k, self.scale)
        check_choice(self.algorithm, (1, 2), "algorithm")
        target, given = as_numbers(target, "KSG"), as_numbers(given, "KSG")
        check_enough_samples(target.n_samples, self.k)
        if self.algorithm == 2:
            spaces = bind_ksg2(target, given, self.k, self.scale, max_memory)
            return KSG2Scorer(spaces, self.k, self._to_candidate)
        bound = bind_target(target, given, self.k, self.scale, max_memory)
        return NeighbourScorer(bound, self.formula(target.n_samples), self._to_candidate)

    def formula(self, n_samples: int) -> Formula:
        """Return the formula of algorithm 1."""
        weight = digamma(np.arange(n_samples) + 1.0)
        return Formula(self.k, True, self.scale, weight, float(digamma(self.k)))

    def _to_candidate(self, block: Block) -> Candidate:
        return to_candidate(as_numbers(block, "KSG"), self.scale)


def bind_ksg2(target: Block, given: Block, k: int, scale: Scale, max_memory: int) -> KSG2Spaces:
    """List the neighbours of every sample in (y, S)."""
    n, joint = target.n_samples, target + given
    length, _ = list_lengths(joint, Block(), k, max_memory)
    space = to_space(joint, n, scale)
    lists = list_neighbours(space, bounding_boxes(space), length)
    return KSG2Spaces(to_space(target, n, scale), to_space(given, n, scale), space, lists)


@dataclass(frozen=True, eq=False)
class KSG2Scorer:
    """Scores candidates by KSG algorithm 2."""

    spaces: KSG2Spaces
    k: int
    to_candidate: Callable[[Block], Candidate]

    def score(self, batch: Batch) -> FloatArray:
        """Return I(x; y | S) in nats for every permutation of the candidate, shape (m,)."""
        n_samples = self.spaces.joint.values.shape[1]
        check_same_length(batch, n_samples)
        counts = np.maximum(np.arange(n_samples), 1.0)  # counts include the k neighbours
        if len(self.spaces.given.values):
            rule = KSG2Rule(self.k, digamma(counts), digamma(counts) - 1.0 / counts)
            offset = digamma(self.k) - 2.0 / self.k
        else:
            rule = KSG2Rule(self.k, np.zeros(n_samples), digamma(counts))
            offset = digamma(self.k) - 1.0 / self.k + digamma(n_samples)
        sums = np.empty(len(batch))
        score_ksg2(self.to_candidate(batch.block), batch.rows, self.spaces, rule, sums)
        return offset + sums / n_samples
