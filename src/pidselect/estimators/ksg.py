"""Information between continuous variables from nearest neighbours (Kraskov et al. 2004)."""

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
    NeighbourScorer,
    Scale,
    bind_space,
    check_enough_samples,
    check_neighbours,
    in_whole_numbers,
    list_lengths,
    to_candidate,
    to_space,
)
from pidselect.estimators.knn.general import Candidate
from pidselect.estimators.knn.ksg2 import Boxes, BoxRule, score_columns_in_boxes
from pidselect.estimators.knn.neighbour_lists import sorted_neighbours
from pidselect.estimators.knn.spaces import in_blocks


class KSG(BaseEstimator):
    r"""Kraskov-Stögbauer-Grassberger estimator of (conditional) mutual information.

    Algorithm 1 takes for each sample the distance of its k-th neighbour in (x, y, S), maximum
    norm, and counts the samples strictly nearer than that in S, in (x, S) and in (y, S):

    .. math:: I(x;y|S) = \psi(k) + \langle \psi(n_S+1) - \psi(n_{xS}+1) - \psi(n_{yS}+1) \rangle

    without S, psi(N) stands for the first term of the mean. Algorithm 2 gives x, y and S a radius
    each and counts samples up to it:

    .. math::
       I(x;y|S) = \psi(k) - \tfrac{2}{k} + \langle \psi(n_S) - \psi(n_{xS}) - \psi(n_{yS})
                  + \tfrac{1}{n_{xS}} + \tfrac{1}{n_{yS}} \rangle

    and :math:`\psi(k) - \tfrac1k + \psi(N) - \langle \psi(n_x) + \psi(n_y) \rangle` without S.
    A sample never counts itself.

    Parameters
    ----------
    k : int
        The number of neighbours. More neighbours, less variance and more bias.
    algorithm : {1, 2}
        Algorithm 1 is the paper's, and much the faster one here.
    scale : {"zscore", "rank", None}
        What is done to each column first: mean 0 and standard deviation 1; ranks, turned into
        normal scores with standard deviation 1, which make the estimate invariant under strictly
        monotone maps (see `normal_scores`); or nothing.

    Notes
    -----
    Nothing is added to the data to break ties. Where a sample's k nearest all coincide with it,
    no sample is strictly nearer and each count is zero: ties push the estimate up. They do so in
    the surrogates of a test as well, so that a test stays valid, but the value itself means
    little. Columns with many ties are better served by `Mixed`, which "auto" chooses for them.

    References
    ----------
    A. Kraskov, H. Stögbauer, P. Grassberger, Physical Review E 69, 066138 (2004).
    S. Frenzel, B. Pompe, Physical Review Letters 99, 204101 (2007), for the conditional one.

    Examples
    --------
    >>> import numpy as np
    >>> from pidselect import mutual_information
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 1000))
    >>> round(mutual_information(x, x + noise, estimator=KSG(k=10)), 1)  # the truth is 0.5 bit
    0.5

    With ranks, a function of what is known tells nothing more, however it bends.

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
        """Whether strictly monotone maps of a column change nothing."""
        return self.scale == "rank"

    def bind(self, target: Block, given: Block, *, max_memory: int = MAX_MEMORY) -> Scorer:
        """Sort every sample's neighbours in (y, S) and in S."""
        check_neighbours(self.k, self.scale)
        check_choice(self.algorithm, (1, 2), "algorithm")
        target, given = as_numbers(target, "KSG"), as_numbers(given, "KSG")
        check_enough_samples(target.n_samples, self.k)
        if self.algorithm == 2:
            boxes = to_boxes(target, given, self.k, self.scale, max_memory)
            return BoxScorer(boxes, self.k, self._to_candidate)
        known = bind_space(target, given, self.k, self.scale, max_memory)
        weight = digamma(np.arange(target.n_samples) + 1.0)
        rule, unit = in_whole_numbers(self.k, True, weight)
        return NeighbourScorer(known, rule, unit, digamma(self.k), self._to_candidate)

    def _to_candidate(self, block: Block) -> Candidate:
        return to_candidate(as_numbers(block, "KSG"), self.scale)


def to_boxes(target: Block, given: Block, k: int, scale: Scale, max_memory: int) -> Boxes:
    """Sort the neighbours of every sample in (y, S)."""
    n, joint = target.n_samples, target + given
    length, _ = list_lengths(joint, Block(), k, max_memory)
    space = to_space(joint, n, scale)
    order = sorted_neighbours(space, in_blocks(space), length)
    return Boxes(to_space(target, n, scale), to_space(given, n, scale), space, order)


@dataclass(frozen=True, eq=False)
class BoxScorer:
    """Scores columns by the second algorithm."""

    around: Boxes
    k: int
    to_candidate: Callable[[Block], Candidate]

    def score(self, batch: Batch) -> FloatArray:
        """Return I(x; y | S) in nats for every version of the candidate, shape (m,)."""
        n_samples = self.around.joint.values.shape[1]
        check_same_length(batch, n_samples)
        counts = np.maximum(np.arange(n_samples), 1.0)  # the k neighbours count, so none is zero
        if len(self.around.given.values):
            rule = BoxRule(self.k, digamma(counts), digamma(counts) - 1.0 / counts)
            offset = digamma(self.k) - 2.0 / self.k
        else:
            rule = BoxRule(self.k, np.zeros(n_samples), digamma(counts))
            offset = digamma(self.k) - 1.0 / self.k + digamma(n_samples)
        sums = np.empty(len(batch))
        candidate = self.to_candidate(batch.block)
        score_columns_in_boxes(candidate, batch.rows, self.around, rule, sums)
        return offset + sums / n_samples
