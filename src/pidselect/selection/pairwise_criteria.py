r"""Pairwise criteria: the family of Brown et al. (2012), and one inspired by PID.

Where I(c; y | S) needs the joint distribution of all selected features, these criteria combine
terms of a candidate c and one selected feature s at a time:

.. math:: J'(c) = I(c;y) - \beta \sum_{s \in S} I(c;s) + \gamma \sum_{s \in S} I(c;s|y)

and relatives that are not linear. They need samples for three variables only, and do not see
interactions of more. With no selected or fixed feature each of them is I(c; y).

Permuting a candidate would remove its redundancy with selected features together with its
relevancy. The test therefore permutes the target against all features: I(c; s) is the same in every
permutation. The other terms follow from I(c; y), I(s; y) and I(cs; y) by the chain rule

.. math:: I(c;y|s) = I(cs;y) - I(s;y), \qquad I(c;s|y) - I(c;s) = I(c;y|s) - I(c;y),

which holds for plug-in estimates, and defines these terms for every other estimator. There is one
estimator, no portfolio: standardising by permutations in which I(c; s) is constant would cancel it.

References
----------
G. Brown, A. Pocock, M.-J. Zhao, M. Luján, Conditional likelihood maximisation: a unifying framework
for information theoretic feature selection. Journal of Machine Learning Research 13 (2012), with
the origin of each criterion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator

from pidselect.data import Block, FloatArray
from pidselect.estimators import NATS_PER_UNIT, Batch, Discrete, Estimator
from pidselect.selection.context import SelectionContext
from pidselect.selection.executor import BoundScorers, ScoringJob
from pidselect.selection.pool import Feature, Features
from pidselect.selection.scoring import StepScores
from pidselect.significance import GIVEN_ONLY

# --- terms --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MITerms:
    """The terms of a criterion in nats, for several permutations, computed at the first use.

    `rows` are the row orders of these permutations.
    """

    scores: PairwiseScores
    rows: Any

    def mi(self, block: Block) -> FloatArray:
        """Return I(x; y) of a block x in each permutation, shape (n_permutations,)."""
        return np.asarray(self.scores.bound.score(block, self.rows)[0])

    @property
    def n_selected(self) -> int:
        """The number of selected features."""
        return len(self.scores.selected)

    @property
    def redundancy(self) -> FloatArray:
        """I(c; s), shape (n_candidates, n_selected, 1)."""
        return self.scores.redundancy

    @cached_property
    def relevance(self) -> FloatArray:
        """I(c; y), shape (n_candidates, n_permutations)."""
        return np.array([self.mi(c.block) for c in self.scores.candidates])

    @cached_property
    def relevance_of_selected(self) -> FloatArray:
        """I(s; y), shape (n_selected, n_permutations)."""
        return np.array([self.mi(s.block) for s in self.scores.selected])

    @cached_property
    def joint(self) -> FloatArray:
        """I(cs; y), shape (n_candidates, n_selected, n_permutations)."""
        candidates, selected = self.scores.candidates, self.scores.selected
        return np.array([[self.mi(c.block + s.block) for s in selected] for c in candidates])

    @cached_property
    def conditional(self) -> FloatArray:
        """I(c; y | s), shape (n_candidates, n_selected, n_permutations)."""
        return subtract(self.joint, self.relevance_of_selected)

    @cached_property
    def interaction(self) -> FloatArray:
        """I(c; s | y) - I(c; s), shape (n_candidates, n_selected, n_permutations)."""
        return subtract(self.conditional, self.relevance[:, np.newaxis])

    @cached_property
    def conditional_of_selected(self) -> FloatArray:
        """I(s; y | t) of selected features, shape (n_selected, n_selected, n_permutations)."""
        joint = np.zeros((self.n_selected, *self.relevance_of_selected.shape))
        for place, s in enumerate(self.scores.selected):
            for other, t in enumerate(self.scores.selected[:place]):
                joint[place, other] = joint[other, place] = self.mi(s.block + t.block)
        return subtract(joint, self.relevance_of_selected)


def subtract(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the difference, 0 where both are infinite: then nothing can be added."""
    with np.errstate(invalid="ignore"):
        return np.where(first == second, 0.0, first - second)


@dataclass(frozen=True, eq=False)
class PairwiseScores(StepScores, ScoringJob):
    """Values of candidates by a formula of terms, for the observed and the permuted target.

    `formula` returns values in nats, shape (n_candidates, n_permutations). Terms that no
    permutation of the target changes are computed once, at the first use.
    """

    context: SelectionContext
    candidates: tuple[Feature, ...]
    selected: tuple[Feature, ...]
    schemes: tuple[str, ...]
    stream_key: tuple[int, ...]
    formula: Callable[[MITerms], FloatArray]
    split_by: ClassVar[Literal["permutation"]] = "permutation"

    @cached_property
    def bound(self) -> BoundScorers:
        """The estimator bound to the target and an empty conditioning set."""
        # The other half of the memory is for redundancy.
        return self.context.bind([()], self.schemes, n_concurrent=2)[0]

    @cached_property
    def redundancy(self) -> FloatArray:
        """I(c; s), shape (n_candidates, n_selected, 1)."""
        values = np.empty((len(self.candidates), len(self.selected), 1))
        memory = self.context.executor.max_memory // 2
        for place, s in enumerate(self.selected):  # one at a time: each may use all the memory
            scorer = self._estimator.bind(s.block, Block(), max_memory=memory)
            for row, candidate in zip(values, self.candidates, strict=True):
                row[place] = scorer.score(Batch.observed(candidate.block))
        return values

    @cached_property
    def entropy(self) -> FloatArray:
        """H(cs) + H(y) of discrete columns, shape (n_candidates, n_selected, 1)."""
        pairs = [[self._entropy(c.block + s.block) for s in self.selected] for c in self.candidates]
        return np.array(pairs) + self._entropy(self.context.target)

    @cached_property
    def entropy_of_selected(self) -> FloatArray:
        """H(s) + H(y) of discrete columns, shape (n_selected, 1)."""
        entropies = [self._entropy(s.block) for s in self.selected]
        return np.array(entropies) + self._entropy(self.context.target)

    @property
    def _estimator(self) -> Estimator:
        return self.context.estimators[0].estimator

    def _entropy(self, block: Block) -> FloatArray:
        """Return H(x) = I(x; x), shape (1,)."""
        return self._estimator.bind(block, Block()).score(Batch.observed(block))

    def score(self, permutations: range) -> FloatArray:
        """Return values in nats, shape (n_tests, n_candidates, 1, n_permutations)."""
        return self.context.executor.compute(self, permutations)

    def prepare(self) -> None:
        """Bind, and compute the fixed terms, once and not in every worker."""
        self.score_task(list(range(len(self.candidates))), range(1))

    def shared(self) -> tuple[Callable[..., FloatArray], PairwiseScores]:
        """Return all of it: every task needs all columns."""
        return PairwiseScores.score_task, self

    def score_task(self, places: list[int], permutations: range) -> FloatArray:
        """Score all candidates in some of the permutations."""
        values, stream_key = [], (self.context.seed, *self.stream_key)
        for sampler in self.bound.samplers:
            terms = MITerms(self, sampler(stream_key, permutations))
            values.append(self.formula(terms) if self.selected else terms.relevance)
        return np.stack(values)[:, :, np.newaxis]


# --- criteria -----------------------------------------------------------------------------------


class Pairwise(BaseEstimator):
    """Base class of pairwise criteria; a criterion implements `evaluate`."""

    is_cmi: ClassVar[bool] = False
    prunes: ClassVar[bool] = False
    takes_portfolio: ClassVar[bool] = False

    def evaluate(self, terms: MITerms) -> FloatArray:
        """Return J(c) in nats given some selected feature, shape (n_candidates, n_permutations)."""
        raise NotImplementedError(f"{type(self).__name__} does not implement evaluate().")

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
        varying = [f for f in self.conditioning_set(fixed, selected) if len(f.block)]
        self.check(context, [*candidates, *varying])
        schemes = tuple(scheme for scheme in context.surrogates if scheme not in GIVEN_ONLY)
        if not schemes:
            raise ValueError(
                f"surrogates={context.surrogates!r}: local surrogates permute a candidate among "
                f"samples with similar selected features, but criterion={self!r} is tested by "
                'permuting the target. Use surrogates="global", "shift" or "blocks".'
            )
        context = replace(context, is_portfolio=False)
        return PairwiseScores(
            context, tuple(candidates), tuple(varying), schemes, stream_key, self.evaluate
        )


class LinearCriterion(Pairwise):
    r"""The general linear criterion of Brown et al. (2012).

    .. math:: J'(c) = I(c;y) - \beta \sum_s I(c;s) + \gamma \sum_s I(c;s|y)

    Parameters
    ----------
    beta : float
        The weight of redundancy with each selected feature; 0 if features are assumed to be
        independent.
    gamma : float
        The weight of class-conditional redundancy; 0 if features are assumed to be independent
        given the target.

    Examples
    --------
    >>> from pidselect import PIDSelector, datasets
    >>> from pidselect.selection import LinearCriterion
    >>> toy = datasets.toy(random_state=1)
    >>> for gamma in (0.0, 1.0):
    ...     criterion = LinearCriterion(beta=gamma, gamma=gamma)
    ...     selector = PIDSelector(criterion, n_permutations=0, max_features=2)
    ...     print([toy.names[column] for column in selector.fit(toy.X, toy.y).selected_])
    ['X1', 'X2']
    ['X1', 'eta']
    """

    def __init__(self, beta: float = 1.0, gamma: float = 1.0) -> None:
        self.beta = beta
        self.gamma = gamma

    def weights(self, n_selected: int) -> tuple[float, float]:
        """Return beta and gamma for this number of selected features."""
        return self.beta, self.gamma

    def check(self, context: SelectionContext, features: Features) -> None:
        """Refuse weights that are no finite numbers."""
        for name, weight in self.get_params().items():
            is_number = isinstance(weight, Real) and not isinstance(weight, bool)
            if not is_number or not np.isfinite(float(weight)):
                raise ValueError(f"{name}={weight!r} is no weight: use a number, such as 1.0.")

    def evaluate(self, terms: MITerms) -> FloatArray:
        """Return J'; terms of weight 0 are not computed."""
        beta, gamma = self.weights(terms.n_selected)
        value = terms.relevance
        if gamma != 0:
            value = subtract(value, -gamma * terms.interaction.sum(axis=1))
        if gamma != beta:
            value = subtract(value, (beta - gamma) * terms.redundancy.sum(axis=1))
        return value


class MIFS(LinearCriterion):
    r"""Mutual information feature selection (Battiti 1994).

    .. math:: J(c) = I(c;y) - \beta \sum_s I(c;s)

    Parameters
    ----------
    beta : float
        The weight of redundancy with each selected feature.

    Examples
    --------
    X2 is a noisy copy of X1: with a large weight of redundancy it is not the second choice.

    >>> from pidselect import PIDSelector, datasets
    >>> from pidselect.selection import MIFS
    >>> toy = datasets.toy(300, random_state=1)
    >>> for beta in (0.0, 1.0):
    ...     selector = PIDSelector(MIFS(beta), n_permutations=0, max_features=2).fit(toy.X, toy.y)
    ...     print(beta, [toy.names[column] for column in selector.selected_])
    0.0 ['X1', 'X2']
    1.0 ['X1', 'eta']
    """

    def __init__(self, beta: float = 1.0) -> None:
        self.beta = beta

    def weights(self, n_selected: int) -> tuple[float, float]:
        """Return beta and 0."""
        return self.beta, 0.0


class _WithoutParameters(LinearCriterion):
    def __init__(self) -> None:
        """Set nothing: weights are those of the class."""


class MIM(_WithoutParameters):
    """Mutual information maximisation: I(c; y)."""

    beta = gamma = 0.0


class CIFE(_WithoutParameters):
    r"""Conditional infomax feature extraction (Lin and Tang 2006).

    .. math:: J(c) = I(c;y) - \sum_s I(c;s) + \sum_s I(c;s|y)

    Redundancy with two selected features that are redundant with each other is subtracted twice.
    """

    beta = gamma = 1.0


class MRMR(_WithoutParameters):
    r"""Maximum relevancy, minimum redundancy (Peng et al. 2005).

    .. math:: J(c) = I(c;y) - \frac1{|S|} \sum_s I(c;s)
    """

    def weights(self, n_selected: int) -> tuple[float, float]:
        """Return 1 / |S| and 0."""
        return 1.0 / n_selected, 0.0


class JMI(_WithoutParameters):
    r"""Joint mutual information (Yang and Moody 1999): the mean of I(c; y | s) over s.

    .. math:: J(c) = I(c;y) - \frac1{|S|} \sum_s \big( I(c;s) - I(c;s|y) \big)

    Its usual form :math:`\sum_s I(cs;y)` ranks candidates alike: it is |S| J(c) plus a constant.
    """

    def weights(self, n_selected: int) -> tuple[float, float]:
        """Return 1 / |S|, twice."""
        return 1.0 / n_selected, 1.0 / n_selected


class CMIM(Pairwise):
    r"""Conditional mutual information maximisation (Fleuret 2004).

    .. math:: J(c) = \min_s I(c;y|s)
    """

    def evaluate(self, terms: MITerms) -> FloatArray:
        """Return the minimum over selected features."""
        return terms.conditional.min(axis=1)


class ICAP(Pairwise):
    r"""Interaction capping (Jakulin 2005): synergy does not compensate redundancy.

    .. math:: J(c) = I(c;y) - \sum_s \max\big( 0, I(c;s) - I(c;s|y) \big)
    """

    def evaluate(self, terms: MITerms) -> FloatArray:
        """Return relevancy minus the positive differences."""
        return subtract(terms.relevance, np.maximum(-terms.interaction, 0.0).sum(axis=1))


class DISR(Pairwise):
    r"""Double input symmetrical relevance (Meyer and Bontempi 2006), for discrete columns.

    .. math:: J(c) = \sum_s \left( \frac{I(cs;y)}{H(c,s,y)} - \frac{I(s;y)}{H(s,y)} \right)

    The second part is added here: it is the same for all candidates, so it changes no ranking, but
    without it noise would inherit the relevancy of the selected features and be significant. Given
    selected features, values are ratios, not bits.
    """

    def check(self, context: SelectionContext, features: Features) -> None:
        """Refuse continuous columns, and estimators without entropies."""
        blocks = [context.target, *(feature.block for feature in features)]
        for column in (column for block in blocks for column in block.columns):
            if column.feature_type == "continuous":
                raise ValueError(
                    "DISR divides by an entropy, which only discrete columns have, but column "
                    f"{column.name!r} is continuous ({column.levels()} different values in "
                    f'{len(column.values)} samples). Bin it first, or use criterion="jmi".'
                )
        estimator = context.estimators[0].estimator
        if not isinstance(estimator, Discrete):
            raise ValueError(
                "DISR divides by an entropy, which needs a discrete estimator, but the estimator "
                f'is {estimator!r}. Use estimator="discrete".'
            )

    def evaluate(self, terms: MITerms) -> FloatArray:
        """Return the sum of the increases in symmetrical relevance."""
        relevance = terms.relevance_of_selected
        ratio_of_selected = relevance / (terms.scores.entropy_of_selected - relevance)
        ratio = terms.joint / (terms.scores.entropy - terms.joint)
        # A ratio has no unit: times a bit, as values are divided by a bit later.
        return NATS_PER_UNIT["bit"] * (ratio - ratio_of_selected).sum(axis=1)


class UniqueInContext(Pairwise):
    r"""PID-inspired: information given the best single selected feature, less redundancy.

    .. math:: J(c) = \max_{t \in S} \min_{s \in S \setminus t}
              \Big[ I(c;y|t) - \min\big( I(c;y|t),\, I(s;y|t),\, I(c;s) \big) \Big]

    No atom is computed. The brackets take the place of the unique information of c given t: they
    hold I(c; y | t) less a bound on what c shares with s. Shared information is at most the
    conditional information of either and, unless it arises from the mechanism of y, at most I(c; s)
    (section 5.4 of the paper). One t is enough for a synergy, hence the maximum; one s is enough
    for a redundancy, hence the minimum.

    It follows, for the distribution: with one selected feature J(c) = I(c; y | S). A candidate that
    is independent of all selected features has J(c) <= I(c; y | S). A noisy copy of a selected
    feature has J(c) = 0, whatever the synergies of that feature.

    Examples
    --------
    y consists of a xor b and of d. Given a and d, b is missing. Given a, b and d, a copy of a is
    redundant; JMI counts its synergy with b once more.

    >>> import numpy as np
    >>> from pidselect import PIDSelector
    >>> a, b, d, noise = np.random.default_rng(0).integers(0, 2, size=(4, 400))
    >>> X = np.stack([a, d, b, np.where(np.arange(400) % 20, a, 1 - a), noise], axis=1)
    >>> for criterion in ("pid", "cmim", "jmi"):
    ...     selector = PIDSelector(criterion, fixed_features=[0, 1], random_state=0)
    ...     print(criterion, selector.fit(X, 2 * (a ^ b) + d).selected_)
    pid [0 1 2]
    cmim [0 1]
    jmi [0 1 2 3]
    """

    def evaluate(self, terms: MITerms) -> FloatArray:
        """Return the value given the feature t for which it is largest."""
        best = np.full(terms.relevance.shape, -np.inf)
        for t in range(terms.n_selected):
            others = [s for s in range(terms.n_selected) if s != t]
            value = terms.conditional[:, t]
            if others:
                of_others = terms.conditional_of_selected[others, t]
                shared = np.minimum(of_others, terms.redundancy[:, others]).max(axis=1)
                value = subtract(value, np.minimum(value, shared))
            best = np.maximum(best, value)
        return best
