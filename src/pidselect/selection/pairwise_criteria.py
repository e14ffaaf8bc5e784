r"""Pairwise criteria: the family of Brown et al. (2012), and one inspired by PID.

Where I(c; y | S) needs the joint distribution of all selected features, these criteria combine
terms of a candidate c and one selected feature s at a time, and see no interactions of more. If
nothing is selected or fixed, each of them is I(c; y).

Permuting a candidate would remove its redundancy with selected features together with its
relevancy. The test therefore permutes the target against all features: I(c; s) is the same in every
permutation, and standardising by them, as for a portfolio, would cancel it. The other terms are

.. math:: I(c;y|s) = I(cs;y) - I(s;y), \qquad I(c;s|y) - I(c;s) = I(c;y|s) - I(c;y).

G. Brown, A. Pocock, M.-J. Zhao, M. Luján, Conditional likelihood maximisation, Journal of Machine
Learning Research 13 (2012), has the origin of each criterion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from pidselect.data import Block, FloatArray
from pidselect.estimators import Batch, Discrete
from pidselect.selection.context import SelectionContext
from pidselect.selection.pool import Feature, Features, columns_of, joint_block
from pidselect.selection.scoring import BIT, CandidateScores, ConditionalMI, cmi_given
from pidselect.significance import GIVEN_ONLY


def subtract(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the difference, 0 where both are infinite: then nothing can be added."""
    with np.errstate(invalid="ignore"):
        return np.where(first == second, 0.0, first - second)


class MITerms:
    """The terms of a criterion in nats, in each test (the first axis) and permutation (the last).

    `relevance` is I(c; y), `of_selected` I(s; y), `joint` I(cs; y); c and s have an axis each.
    """

    def __init__(self, scores: PairwiseScores, values: FloatArray) -> None:
        n, self.n_selected = shape = len(scores.candidates), len(scores.selected)
        ends = np.cumsum([n, self.n_selected, n * self.n_selected])
        self.relevance, self.of_selected, joint, self.of_selected_pairs = np.split(values, ends, 1)
        self.joint = joint.reshape(len(values), *shape, -1) if joint.size else joint
        self.scores = scores

    @property
    def redundancy(self) -> FloatArray:
        """I(c; s), shape (n_candidates, n_selected, 1): the same in all permutations."""
        return self.scores.redundancy

    @cached_property
    def conditional(self) -> FloatArray:
        """I(c; y | s), shape (n_tests, n_candidates, n_selected, n_permutations)."""
        return subtract(self.joint, self.of_selected[:, np.newaxis])

    @property
    def interaction(self) -> FloatArray:
        """I(c; s | y) - I(c; s), of the same shape."""
        return subtract(self.conditional, self.relevance[:, :, np.newaxis])


@dataclass(frozen=True, eq=False)
class PairwiseScores(CandidateScores):
    """Values of candidates by a criterion, for the observed and the permuted target."""

    context: SelectionContext
    candidates: tuple[Feature, ...]
    selected: tuple[Feature, ...]
    schemes: tuple[str, ...]
    stream_key: tuple[int, ...]
    criterion: Pairwise

    @property
    def key(self) -> Any:
        """The settings, the candidates and the selected features."""
        features = columns_of(self.candidates), columns_of(self.selected)
        return self.context.key, self.stream_key, self.schemes, features

    @cached_property
    def mi(self) -> ConditionalMI:
        """I(f; y) of candidates, of selected features and of the pairs that are needed."""
        pairs = self.criterion.pairs(self.candidates, self.selected)
        joint = (Feature("", f.columns + g.columns, f.block + g.block) for f, g in pairs)
        features = self.candidates + self.selected + tuple(joint)
        return cmi_given(self.context, features, (), self.stream_key)

    @property
    def n_values(self) -> int:
        """The number of values that are computed for one permutation."""
        return self.mi.n_values

    def score(self, permutations: range) -> FloatArray:
        """Return values in nats, shape (n_tests, n_candidates, 1, n_permutations)."""
        terms = MITerms(self, self.mi.score(permutations)[:, :, 0])
        value = self.criterion.evaluate(terms) if self.selected else terms.relevance
        return value[:, :, np.newaxis]

    @cached_property
    def redundancy(self) -> FloatArray:
        """I(c; s), shape (n_candidates, n_selected, 1): the same in all permutations."""
        estimator = self.context.estimators[0].estimator
        scorers = [estimator.bind(s.block, Block()) for s in self.selected]
        batches = [Batch.observed(c.block) for c in self.candidates]
        return np.array([[scorer.score(batch) for scorer in scorers] for batch in batches])

    @cached_property
    def entropies(self) -> tuple[FloatArray, FloatArray]:
        """H(cs) + H(y) and H(s) + H(y) of discrete columns."""
        estimator = self.context.estimators[0].estimator
        blocks = [self.context.target, *(s.block for s in self.selected)]
        blocks += [joint_block(pair) for pair in product(self.candidates, self.selected)]
        h = [estimator.bind(x, Block()).score(Batch.observed(x)) for x in blocks]  # I(x; x)
        of_pairs = np.reshape(h[len(self.selected) + 1 :], self.redundancy.shape)
        return of_pairs + h[0], np.array(h[1 : len(self.selected) + 1]) + h[0]


class Pairwise(BaseEstimator):
    """Base class of pairwise criteria; a criterion implements `evaluate`."""

    is_cmi: ClassVar[bool] = False
    prunes: ClassVar[bool] = False
    takes_portfolio: ClassVar[bool] = False

    def evaluate(self, terms: MITerms) -> FloatArray:
        """Return J(c) in nats given some selected feature, of the shape of `terms.relevance`."""
        raise NotImplementedError

    def pairs(self, candidates: Features, selected: Features) -> list[tuple[Feature, Feature]]:
        """Return the pairs of features of which I(fg; y) is needed, those of candidates first."""
        return list(product(candidates, selected))

    def check(self, context: SelectionContext, features: Features) -> None:
        """Refuse data, estimators or parameters that the criterion is not defined for."""

    def conditioning_set(self, fixed: Features, selected: Features) -> Features:
        """Return all of them."""
        return [*fixed, *selected]

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
        self.check(context, [*candidates, *varying])
        schemes = tuple(scheme for scheme in context.surrogates if scheme not in GIVEN_ONLY)
        if not schemes:
            raise ValueError(
                f"surrogates={context.surrogates!r} permute a candidate among samples with similar "
                f"selected features, but criterion={self!r} is tested by permuting the target: "
                'use surrogates="global", "shift" or "blocks".'
            )
        shared = replace(context, is_portfolio=False, surrogates=schemes, shared_permutations=True)
        return PairwiseScores(shared, tuple(candidates), varying, schemes, stream_key, self)


class LinearCriterion(Pairwise):
    r"""The general linear criterion of Brown et al. (2012).

    .. math:: J'(c) = I(c;y) - \beta \sum_s I(c;s) + \gamma \sum_s I(c;s|y)

    Parameters
    ----------
    beta : float
        The weight of redundancy with each selected feature; 0 if features are assumed to be
        independent.
    gamma : float
        The weight of I(c; s | y); 0 if they are assumed to be independent given the target.

    Examples
    --------
    >>> from pidselect import PIDSelector, datasets
    >>> from pidselect.selection import LinearCriterion
    >>> X, y = datasets.toy(random_state=1).Xy
    >>> PIDSelector(LinearCriterion(1.0, 1.0), n_permutations=0, max_features=2).fit(X, y).selected_
    array([0, 2])
    """

    def __init__(self, beta: float = 1.0, gamma: float = 1.0) -> None:
        self.beta = beta
        self.gamma = gamma

    def check(self, context: SelectionContext, features: Features) -> None:
        """Refuse weights that are no finite numbers."""
        for name, weight in self.get_params().items():
            is_number = isinstance(weight, Real) and not isinstance(weight, bool)
            if not is_number or not np.isfinite(float(weight)):
                raise ValueError(f"{name}={weight!r} is no weight: use a number, such as 1.0.")

    def pairs(self, candidates: Features, selected: Features) -> list[tuple[Feature, Feature]]:
        """Return none if I(c; s | y) has no weight."""
        return super().pairs(candidates, selected) if self.gamma else []

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

    The second part is added here: it is the same for all candidates, so it changes no ranking, but
    without it noise would inherit the relevancy of the selected features and be significant. Given
    selected features, values are ratios, not bits.
    """

    def check(self, context: SelectionContext, features: Features) -> None:
        """Refuse estimators and columns without entropies."""
        estimator = context.estimators[0].estimator
        columns = (*context.target.columns, *joint_block(features).columns)
        continuous = [c.name for c in columns if c.feature_type == "continuous"]
        if continuous or not isinstance(estimator, Discrete):
            raise ValueError(
                f"DISR divides by an entropy: of its columns, {continuous} are continuous, and the "
                f'estimator is {estimator!r}. Bin the columns and use estimator="discrete".'
            )

    def evaluate(self, terms: MITerms) -> FloatArray:
        """Return the sum of the increases in symmetrical relevance."""
        of_pairs, of_selected = terms.scores.entropies
        ratio_of_selected = terms.of_selected / (of_selected - terms.of_selected)
        ratio = terms.joint / (of_pairs - terms.joint)
        # A ratio has no unit: times a bit, as values are divided by a bit later.
        return BIT * (ratio - ratio_of_selected[:, np.newaxis]).sum(axis=2)


class UniqueInContext(Pairwise):
    r"""PID-inspired: information given the best single selected feature, less redundancy.

    .. math:: J(c) = \max_{t \in S} \min_{s \in S \setminus t}
              \Big[ I(c;y|t) - \min\big( I(c;y|t),\, I(s;y|t),\, I(c;s) \big) \Big]

    The brackets take the place of the unique information of c given t: I(c; y | t) less a bound on
    what c shares with s (section 5.4 of the paper). One t is enough for a synergy, hence the
    maximum; one s is enough for a redundancy, hence the minimum.
    """

    def pairs(self, candidates: Features, selected: Features) -> list[tuple[Feature, Feature]]:
        """Return also those of selected features."""
        return [*super().pairs(candidates, selected), *combinations(selected, 2)]

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
