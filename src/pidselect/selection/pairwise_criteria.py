r"""Pairwise criteria: the family of Brown et al. (2012), and one inspired by PID.

Where I(c; y | S) needs the joint distribution of all selected features, these criteria combine
terms of a candidate c and one selected feature s at a time, and see no interactions of more. If
nothing is selected or fixed, each of them is I(c; y).

Permuting a candidate would remove its redundancy with selected features together with its
relevancy. The test therefore permutes the target against all features: I(c; s) is the same in every
permutation.

G. Brown, A. Pocock, M.-J. Zhao, M. Luján, Conditional likelihood maximisation, Journal of Machine
Learning Research 13 (2012), has the origin of each criterion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from numbers import Real
from typing import Any, cast

import numpy as np
from sklearn.base import BaseEstimator

from pidselect.data import Block, FloatArray
from pidselect.estimators import Batch, Discrete
from pidselect.selection.context import SelectionContext
from pidselect.selection.pool import Feature, Features
from pidselect.selection.scoring import BIT, CandidateScores, ConditionalMI, Criterion, cmi_given
from pidselect.significance.row_orders import GIVEN_ONLY

Pairs = list[tuple[Feature, Feature]]


def subtract(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the difference, 0 where both are infinite: then nothing can be added."""
    with np.errstate(invalid="ignore"):
        return np.where(first == second, 0.0, first - second)


class MITerms:
    """The terms of a criterion in nats, in each test (the first axis) and permutation (the last).

    They are `relevance` I(c; y), `of_selected` I(s; y), `joint` I(cs; y), `conditional` I(c; y | s)
    = I(cs; y) - I(s; y) and `interaction` I(c; s | y) - I(c; s) = I(c; y | s) - I(c; y).
    """

    def __init__(self, scores: PairwiseScores, values: FloatArray) -> None:
        n, self.n_selected = len(scores.candidates), len(scores.selected)
        ends = np.cumsum([n, self.n_selected, n * self.n_selected])
        self.relevance, self.of_selected, joint, self.of_selected_pairs = np.split(values, ends, 1)
        if joint.size:
            self.joint = joint.reshape(len(values), n, self.n_selected, -1)
            self.conditional = subtract(self.joint, self.of_selected[:, np.newaxis])
            self.interaction = subtract(self.conditional, self.relevance[:, :, np.newaxis])
        self.scores = scores

    @cached_property
    def redundancy(self) -> FloatArray:
        """I(c; s), shape (n_candidates, n_selected, 1): the same in all permutations."""
        estimator = self.scores.context.estimator.estimator
        scorers = [estimator.bind(s.block, Block()) for s in self.scores.selected]
        batches = [Batch.observed(c.block) for c in self.scores.candidates]
        return np.array([[scorer.score(batch) for scorer in scorers] for batch in batches])


@dataclass(frozen=True, eq=False)
class PairwiseScores(CandidateScores):
    """Values of candidates by a criterion, for the observed and the permuted target."""

    selected: tuple[Feature, ...]
    mi: ConditionalMI  # I(f; y) of candidates, selected features and the pairs that are needed
    criterion: Pairwise

    @property
    def key(self) -> Any:
        """That of the terms, and how many of them are of candidates."""
        return self.mi.key, len(self.candidates)

    @property
    def n_values(self) -> int:
        """The number of values that are computed for one permutation."""
        return self.mi.n_values

    def score(self, permutations: range) -> FloatArray:
        """Return values in nats, shape (n_tests, n_candidates, 1, n_permutations)."""
        terms = MITerms(self, self.mi.score(permutations)[:, :, 0])
        value = self.criterion.evaluate(terms) if self.selected else terms.relevance
        return value[:, :, np.newaxis]


class Pairwise(BaseEstimator, Criterion):
    """Base class of pairwise criteria; a criterion implements `evaluate`."""

    permutes_target = True

    def evaluate(self, terms: MITerms) -> FloatArray:
        """Return J(c) in nats given some selected feature, of the shape of `terms.relevance`."""
        raise NotImplementedError

    def pairs(self, context: SelectionContext, candidates: Features, selected: Features) -> Pairs:
        """Return the pairs of which I(fg; y) is needed; refuse what J is not defined for."""
        return list(product(candidates, selected))

    def candidate_scores(
        self,
        context: SelectionContext,
        candidates: Features,
        fixed: Features,
        selected: Features,
        stream_key: tuple[int, ...],
    ) -> PairwiseScores:
        """Return the values of the candidates; fixed features count as selected."""
        # Without constant fixed columns, which would count in every mean.
        varying = tuple(f for f in self.conditioning_set(fixed, selected) if len(f.block))
        schemes = tuple(scheme for scheme in context.surrogates if scheme not in GIVEN_ONLY)
        if not schemes:
            raise ValueError(
                f"surrogates={context.surrogates!r} permute a candidate, but criterion={self!r} is "
                'tested by permuting the target: use surrogates="global", "shift" or "blocks".'
            )
        shared = replace(context, surrogates=schemes, shared_permutations=True)
        pairs = self.pairs(context, candidates, varying)
        joint = (Feature("", f.columns + g.columns, f.block + g.block) for f, g in pairs)
        features = (*candidates, *varying, *joint)
        mi = cast(ConditionalMI, cmi_given(shared, features, (), stream_key))
        return PairwiseScores(shared, tuple(candidates), schemes, varying, mi, self)


class LinearCriterion(Pairwise):
    r"""The general linear criterion of Brown et al. (2012).

    .. math:: J'(c) = I(c;y) - \beta \sum_s I(c;s) + \gamma \sum_s I(c;s|y)

    Parameters
    ----------
    beta : float
        0 if features are assumed to be independent.
    gamma : float
        0 if they are assumed to be independent given the target.

    Examples
    --------
    >>> from pidselect.selection import LinearCriterion
    >>> LinearCriterion(beta=0.5, gamma=0.2)
    LinearCriterion(beta=0.5, gamma=0.2)
    """

    def __init__(self, beta: float = 1.0, gamma: float = 1.0) -> None:
        self.beta = beta
        self.gamma = gamma

    def pairs(self, context: SelectionContext, candidates: Features, selected: Features) -> Pairs:
        """Return none if I(c; s | y) has no weight; refuse weights that are no finite numbers."""
        for name, weight in self.get_params().items():
            if not isinstance(weight, Real) or not np.isfinite(float(weight)):
                raise ValueError(f"{name}={weight!r} is no weight: use a number, such as 1.0.")
        return super().pairs(context, candidates, selected) if self.gamma else []

    def evaluate(self, terms: MITerms) -> FloatArray:
        """Return J'; terms of weight 0 are not computed."""
        value = terms.relevance
        if self.gamma != 0:
            value = subtract(value, -self.gamma * terms.interaction.sum(axis=2))
        if self.gamma != self.beta:
            value = subtract(value, (self.beta - self.gamma) * terms.redundancy.sum(axis=1))
        return value


class LinearMean(LinearCriterion):
    """The linear criterion with means over the selected features in place of sums."""

    def evaluate(self, terms: MITerms) -> FloatArray:
        """Return J'."""
        n = terms.n_selected
        return LinearCriterion(self.beta / n, self.gamma / n).evaluate(terms)


class CMIM(Pairwise):
    """Conditional mutual information maximisation (Fleuret 2004): min over s of I(c; y | s)."""

    def evaluate(self, terms: MITerms) -> FloatArray:
        """Return the minimum over selected features."""
        return terms.conditional.min(axis=2)


class ICAP(Pairwise):
    """Interaction capping (Jakulin 2005): I(c; y) - sum of max(0, I(c; s) - I(c; s | y)) over s."""

    def evaluate(self, terms: MITerms) -> FloatArray:
        """Return relevancy minus the positive differences: synergy makes up for no redundancy."""
        return subtract(terms.relevance, np.maximum(-terms.interaction, 0.0).sum(axis=2))


class DISR(Pairwise):
    r"""Double input symmetrical relevance (Meyer and Bontempi 2006), for discrete columns.

    .. math:: J(c) = \sum_s \left( \frac{I(cs;y)}{H(c,s,y)} - \frac{I(s;y)}{H(s,y)} \right)

    Without the second part, which is added here and changes no ranking, noise would inherit the
    relevancy of the selected features. Given selected features, values are ratios, not bits.
    """

    def pairs(self, context: SelectionContext, candidates: Features, selected: Features) -> Pairs:
        """Return all of them; refuse an estimator without entropies."""
        estimator = context.estimator.estimator
        if not isinstance(estimator, Discrete):
            raise ValueError(
                f"DISR divides by an entropy, which {estimator!r} does not estimate: use "
                'estimator="discrete", with binned columns.'
            )
        return super().pairs(context, candidates, selected)

    def evaluate(self, terms: MITerms) -> FloatArray:
        """Return the sum of the increases in symmetrical relevance."""
        mi, n = terms.scores.mi, terms.n_selected
        features = mi.candidates[len(terms.scores.candidates) :]  # the selected ones, then pairs
        blocks = [mi.context.target, *(feature.block for feature in features)]
        bind = mi.context.estimator.estimator.bind
        h = np.array([bind(x, Block()).score(Batch.observed(x)) for x in blocks])  # H(x) = I(x; x)
        sums = h[1:] + h[0]
        ratio_of_selected = terms.of_selected / (sums[:n] - terms.of_selected)
        ratio = terms.joint / (sums[n:].reshape(-1, n, 1) - terms.joint)
        # A ratio has no unit: times a bit, as values are divided by a bit later.
        return BIT * (ratio - ratio_of_selected[:, np.newaxis]).sum(axis=2)


class UniqueInContext(Pairwise):
    r"""PID-inspired: information given the best single selected feature, less redundancy.

    .. math:: J(c) = \max_{t \in S} \min_{s \in S \setminus t}
              \Big[ I(c;y|t) - \min\big( I(c;y|t),\, I(s;y|t),\, I(c;s) \big) \Big]

    The brackets bound the unique information of c given t (section 5.4 of the paper). One t is
    enough for a synergy, hence the maximum; one s for a redundancy, hence the minimum.
    """

    def pairs(self, context: SelectionContext, candidates: Features, selected: Features) -> Pairs:
        """Return also those of selected features."""
        return [*super().pairs(context, candidates, selected), *combinations(selected, 2)]

    def evaluate(self, terms: MITerms) -> FloatArray:
        """Return the value given the feature t for which it is largest."""
        places, best = range(terms.n_selected), np.full(terms.relevance.shape, -np.inf)
        pairs = {frozenset(pair): place for place, pair in enumerate(combinations(places, 2))}
        for t in places:
            value, others = terms.conditional[:, :, t], [s for s in places if s != t]
            if others:
                joint = terms.of_selected_pairs[:, [pairs[frozenset((s, t))] for s in others]]
                of_others = subtract(joint, terms.of_selected[:, [t]])[:, np.newaxis]
                shared = np.minimum(of_others, terms.redundancy[:, others]).max(axis=2)
                value = subtract(value, np.minimum(value, shared))
            best = np.maximum(best, value)
        return best
