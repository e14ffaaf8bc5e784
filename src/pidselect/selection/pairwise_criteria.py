r"""Criteria made of pairs: the family of Brown et al. (2012), and one built on shared information.

Where I(c; y | S) asks for the joint distribution of all selected features, these look at a
candidate c beside one selected feature s at a time, and put the pairs together:

.. math:: J'(c) = I(c;y) - \beta \sum_{s \in S} I(c;s) + \gamma \sum_{s \in S} I(c;s|y)

and relatives that are not linear. So they need samples for three columns, not for all, and are
blind to what takes more than two features to see. Before anything is selected or kept, each of
them is I(c; y). Their test permutes the target, see `pidselect.selection.pairwise_scores`.

There is one estimator, no portfolio: to standardise a value by draws in which I(c; s) never changes
would subtract redundancy from itself.

References
----------
G. Brown, A. Pocock, M.-J. Zhao, M. Luján, Conditional likelihood maximisation: a unifying framework
for information theoretic feature selection. Journal of Machine Learning Research 13 (2012), which
names the origin of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from pidselect.data import FloatArray
from pidselect.estimators import NATS_PER_UNIT, Discrete
from pidselect.selection.context import SelectionContext
from pidselect.selection.pairwise_scores import MITerms, PairwiseScores, minus
from pidselect.selection.partial_scores import LazyScorer
from pidselect.selection.pool import Feature


class Pairwise(BaseEstimator):
    """A criterion of pairs. To make one, write its `rate` and add its line to `CRITERIA`."""

    is_cmi: ClassVar[bool] = False
    prunes: ClassVar[bool] = False
    takes_portfolio: ClassVar[bool] = False

    def rate(self, terms: MITerms) -> FloatArray:
        """Return the candidates' values beside at least one selected feature.

        Parameters
        ----------
        terms : Terms

        Returns
        -------
        array, shape (n_candidates, n_draws), in nats
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how it rates candidates.")

    def check(self, context: SelectionContext, features: Sequence[Feature]) -> None:
        """Refuse what the criterion is not made for; nothing, unless it says so."""

    def given(self, kept: Sequence[Feature], selected: Sequence[Feature]) -> Sequence[Feature]:
        """Return all of them."""
        return [*kept, *selected]

    def ask(
        self,
        context: SelectionContext,
        candidates: Sequence[Feature],
        known: tuple[Sequence[Feature], Sequence[Feature]],
        stream_key: tuple[int, ...],
    ) -> PairwiseScores:
        """Ask for the candidates' values, kept features counting as selected."""
        if len(context.members) != 1:
            named = ", ".join(repr(member.name) for member in context.members)
            raise ValueError(
                f"criterion={self!r} goes with one estimator, not with several ({named}): "
                f"name one, such as estimator={context.members[0].name!r}."
            )
        # A constant column that was kept tells nothing, and would count in every mean.
        selected = [feature for feature in self.given(*known) if len(feature.block)]
        self.check(context, [*candidates, *selected])
        schemes = tuple(scheme for scheme in context.surrogates if scheme != "local")
        if not schemes:
            raise ValueError(
                f"surrogates={context.surrogates!r}: local surrogates permute a candidate among "
                f"samples alike in the selected features, but criterion={self!r} is tested by "
                'permuting the target. Use surrogates="global", or "shift" or "blocks".'
            )
        # The other half of the memory is for redundancy.
        bound = LazyScorer(partial(context.bind, (), schemes, share=2))
        context = replace(context, is_portfolio=False)
        return PairwiseScores(
            context, tuple(candidates), tuple(selected), schemes, bound, stream_key, self.rate
        )


class Linear(Pairwise):
    r"""Relevancy, less redundancy, and more where the target brings out a dependence.

    .. math:: J'(c) = I(c;y) - \beta \sum_s I(c;s) + \gamma \sum_s I(c;s|y)
    """

    def weights(self, n_selected: int) -> tuple[float, float]:
        """Return beta and gamma beside so many selected features."""
        raise NotImplementedError(f"{type(self).__name__} does not say what its weights are.")

    def check(self, context: SelectionContext, features: Sequence[Feature]) -> None:
        """Refuse weights that are no numbers."""
        for name, weight in self.get_params().items():
            is_number = isinstance(weight, Real) and not isinstance(weight, bool)
            if not is_number or not np.isfinite(float(weight)):
                raise ValueError(f"{name}={weight!r} is no weight: give a number, such as 1.0.")

    def rate(self, terms: MITerms) -> FloatArray:
        """Return J'; a term of no weight is not even computed."""
        beta, gamma = self.weights(len(terms.still.selected))
        value = terms.relevance
        if gamma != 0:
            value = minus(value, -gamma * terms.interaction.sum(axis=1))
        if gamma != beta:
            value = minus(value, (beta - gamma) * terms.redundancy.sum(axis=1))
        return value


class LinearCriterion(Linear):
    r"""The general criterion of Brown et al., with weights of one's own.

    .. math:: J'(c) = I(c;y) - \beta \sum_s I(c;s) + \gamma \sum_s I(c;s|y)

    Parameters
    ----------
    beta : float
        The weight of redundancy with each selected feature; 0 if features are believed to be
        independent of each other.
    gamma : float
        The weight of their dependence given the target; 0 if they are believed to be independent
        in every class.

    Examples
    --------
    >>> from pidselect import PIDSelector, datasets
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
        """Return those given."""
        return self.beta, self.gamma


class MIM(Linear):
    """Mutual information maximisation: I(c; y), blind to what is selected."""

    def weights(self, n_selected: int) -> tuple[float, float]:
        """Return 0 and 0."""
        return 0.0, 0.0


class MIFS(Linear):
    r"""Mutual information feature selection (Battiti 1994): redundancy counts, synergy does not.

    .. math:: J(c) = I(c;y) - \beta \sum_s I(c;s)

    Parameters
    ----------
    beta : float
        The weight of redundancy with each selected feature.
    """

    def __init__(self, beta: float = 1.0) -> None:
        self.beta = beta

    def weights(self, n_selected: int) -> tuple[float, float]:
        """Return beta and 0."""
        return self.beta, 0.0


class MRMR(Linear):
    r"""Most relevant, least redundant (Peng et al. 2005): MIFS by the mean over what is selected.

    .. math:: J(c) = I(c;y) - \frac1{|S|} \sum_s I(c;s)
    """

    def weights(self, n_selected: int) -> tuple[float, float]:
        """Return 1 / |S| and 0."""
        return 1.0 / n_selected, 0.0


class CIFE(Linear):
    r"""Conditional infomax feature extraction (Lin and Tang 2006): all pairs in full.

    .. math:: J(c) = I(c;y) - \sum_s I(c;s) + \sum_s I(c;s|y)

    Redundancy with two selected features that say the same is subtracted twice.
    """

    def weights(self, n_selected: int) -> tuple[float, float]:
        """Return 1 and 1."""
        return 1.0, 1.0


class JMI(Linear):
    r"""Joint mutual information (Yang and Moody 1999): the mean of I(c; y | s) over pairs.

    .. math:: J(c) = I(c;y) - \frac1{|S|} \sum_s \big( I(c;s) - I(c;s|y) \big)

    Candidates rank as by :math:`\sum_s I(cs;y)`, its usual form, which is |S| times as large and a
    sum of I(s; y) larger.
    """

    def weights(self, n_selected: int) -> tuple[float, float]:
        """Return 1 / |S|, twice."""
        return 1.0 / n_selected, 1.0 / n_selected


class CMIM(Pairwise):
    r"""Conditional mutual information maximisation (Fleuret 2004): beside the worst of partners.

    .. math:: J(c) = \min_s I(c;y|s)
    """

    def rate(self, terms: MITerms) -> FloatArray:
        """Return the smallest over selected features."""
        return terms.conditional.min(axis=1)


class ICAP(Pairwise):
    r"""Interaction capping (Jakulin 2005): redundancy counts, synergy never makes up for it.

    .. math:: J(c) = I(c;y) - \sum_s \max\big( 0, I(c;s) - I(c;s|y) \big)
    """

    def rate(self, terms: MITerms) -> FloatArray:
        """Return relevancy less all that is lost beside one selected feature."""
        return minus(terms.relevance, np.maximum(-terms.interaction, 0.0).sum(axis=1))


class DISR(Pairwise):
    r"""Double input symmetrical relevance (Meyer and Bontempi 2006), for discrete columns.

    .. math:: J(c) = \sum_s \left( \frac{I(cs;y)}{H(c,s,y)} - \frac{I(s;y)}{H(s,y)} \right)

    The second part is ours. It is the same for all candidates, so it changes no ranking; without
    it, noise would inherit the relevancy of selected features and pass every test. Values beside
    selected features are ratios, and in the record they stand as such, not in bits.
    """

    def check(self, context: SelectionContext, features: Sequence[Feature]) -> None:
        """Refuse measurements, and estimators that do not count."""
        blocks = [context.target, *(feature.block for feature in features)]
        for column in (column for block in blocks for column in block.columns):
            if column.feature_type == "continuous":
                raise ValueError(
                    f"DISR divides by an entropy, which only discrete columns have, but column "
                    f"{column.name!r} is continuous ({column.levels()} different values in "
                    f'{len(column.values)} samples). Bin it first, or use criterion="jmi".'
                )
        if not isinstance(context.members[0].estimator, Discrete):
            raise ValueError(
                "DISR divides by an entropy, which is counted, but the estimator is "
                f'{context.members[0].estimator!r}. Use estimator="discrete".'
            )

    def rate(self, terms: MITerms) -> FloatArray:
        """Return by how much the ratios are larger with the candidate."""
        alone = terms.relevance_of_selected
        ratio_of_selected = alone / (terms.still.entropy_of_selected - alone)
        ratio = terms.joint / (terms.still.entropy - terms.joint)
        # A ratio has no unit: times a bit, so that it comes out as it is where bits are wanted.
        return NATS_PER_UNIT["bit"] * (ratio - ratio_of_selected).sum(axis=1)


class UniqueInContext(Pairwise):
    r"""What a candidate tells, beside the best partner, that no other selected feature tells.

    .. math:: J(c) = \max_{t \in S} \min_{s \in S \setminus t}
              \Big[ I(c;y|t) - \min\big( I(c;y|t),\, I(s;y|t),\, I(c;s) \big) \Big]

    In brackets is unique information given t: what c tells about y once t is known, less what it
    shares with s. No more can be shared than either tells, nor, unless by the way in which y comes
    about, more than the two have in common (the paper's section 5.4); this decomposition takes
    the largest amount within these bounds. A synergy needs one partner to be seen, so the best one
    counts; a redundancy needs one feature to be useless, so the worst one counts.

    Hence, in the distribution: with one feature selected it is I(c; y | S). A candidate independent
    of all selected ones has at most I(c; y | S). One that is a noisy copy of a selected feature has
    0, whatever synergies that feature has, and so a selection can stop.

    Examples
    --------
    y has two parts, a xor b and d. Beside a and d, b is all that is missing. Beside a, b and d, a
    copy of a adds nothing; JMI would count its synergy with b once more.

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

    def rate(self, terms: MITerms) -> FloatArray:
        """Return the unique information given the partner for which it is largest."""
        n_selected = len(terms.still.selected)
        best = np.full(terms.relevance.shape, -np.inf)
        for t in range(n_selected):
            others = [s for s in range(n_selected) if s != t]
            value = terms.conditional[:, t]
            if others:
                of_others = terms.conditional_of_selected[others, t]
                shared = np.minimum(of_others, terms.redundancy[:, others]).max(axis=1)
                value = minus(value, np.minimum(value, shared))
            best = np.maximum(best, value)
        return best
