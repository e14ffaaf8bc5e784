r"""Relevance: strong, weak or none, by tests given the selected features and subsets of them.

With S for the selected features, a feature f is strongly relevant if it adds something to all
others, and weakly relevant if it is not that, but adds something to some of them:

.. math:: I(f; y | S \setminus f) > 0, \qquad
          \exists\, T \subseteq S \setminus f:\; I(f; y | T) > 0 .

All else is irrelevant. There are too many subsets to ask about each of them; so a stated number is
searched, the most telling ones first: none of S, all of it, every single feature, all but one, and
pairs. All features that are not selected, given all of these subsets, are one family: the largest
value over all of them in a draw is what each competes with, so that with probability 1 - alpha none
of them is called relevant by chance.

References
----------
G. H. John, R. Kohavi, K. Pfleger, Irrelevant features and the subset selection problem.
International Conference on Machine Learning (1994). J. R. Vergara, P. A. Estévez, A review of
feature selection methods based on mutual information. Neural Computing and Applications 24 (2014),
for the definitions as information.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice
from math import ceil
from typing import TypeVar

import numpy as np

from pidselect.data import FloatArray
from pidselect.decomposition.explanation import Role
from pidselect.selection.backward import each_given_the_others, final_p_values
from pidselect.selection.context import SelectionContext
from pidselect.selection.pool import Feature
from pidselect.selection.scoring import given_all
from pidselect.selection.step_test import PermutationTestResult, evaluate_strongest
from pidselect.significance import RELEVANCE, is_significant
from pidselect.significance.sequential import most_draws

#: The most subsets of the selected features that are searched.
SUBSETS = 16

#: The most features times subsets; but no fewer subsets than none and all of the selected ones.
MOST_QUESTIONS = 2000
FEWEST_SUBSETS = 2

#: Where a test may take as many draws as it needs, this one takes so many over alpha: 200 at 5 %.
#: It is about many features at once, some of which would always need the most.
DRAWS_TIMES_ALPHA = 10

#: After so many draws a look is taken: if nothing can become significant, there are no more. With
#: those of the pilot and the data as observed they fill six batches of 16.
FIRST_DRAWS = 45

#: What the draws are for, besides relevance: selected features or all others.
OF_SELECTED, OF_OTHERS = 0, 1

Item = TypeVar("Item")


@dataclass(frozen=True)
class Relevance:
    """What tests say of one feature.

    Parameters
    ----------
    name : str
    role : {"strongly relevant", "weakly relevant", "irrelevant", "fixed"}
    p_value : float or None
        Adjusted for all features and subsets that it competed with; None if it was not tested. If
        none of them can be significant, it comes from the first draws only.
    given : tuple of str
        The features given which the test was most in its favour.
    bits : float
        Its information about the target given these.
    n_subsets : int
        How many subsets of the selected features were searched.
    """

    name: str
    role: Role
    p_value: float | None = None
    given: tuple[str, ...] = ()
    bits: float = 0.0
    n_subsets: int = 0


def assess(
    context: SelectionContext,
    kept: Sequence[Feature],
    selected: Sequence[Feature],
    candidates: Sequence[Feature],
    final: Mapping[str, float] | None = None,
) -> dict[str, Relevance]:
    """Test how every feature is relevant.

    A selected feature whose p-value beside all others is not significant is weakly relevant: it
    came in beside fewer of them.

    Parameters
    ----------
    inquiry : Inquiry
        With draws: none can be made of ``n_permutations=0``.
    kept, selected : sequence of Feature
        Kept ones are always given.
    candidates : sequence of Feature
        Selected ones among them are passed over. Where no column varies, nothing is tested.
    final : mapping of str to float, optional
        The p-values of selected features beside all others, as far as they are known.

    Returns
    -------
    dict of str to Relevance

    Examples
    --------
    y is a, but for a few errors; b is another measurement of a, and c a coin.

    >>> from pidselect.data import read_block
    >>> from pidselect.estimators import Discrete
    >>> from pidselect.selection.context import Member
    >>> rng = np.random.default_rng(0)
    >>> a, c = rng.integers(0, 2, (2, 200))
    >>> y, b = a ^ (rng.random((2, 200)) < 0.1)
    >>> columns = [Feature(n, (0,), read_block(v, n)) for n, v in zip("abc", (a, b, c))]
    >>> inquiry = Inquiry(read_block(y, "y"), (Member("discrete", Discrete()),))
    >>> found = assess(inquiry, [], columns[:1], columns)
    >>> for feature in found.values():
    ...     print(feature.name, feature.role, "given", feature.given, f"{feature.bits:.1f} bit")
    a strongly relevant given () 0.5 bit
    b weakly relevant given () 0.4 bit
    c irrelevant given ('a',) 0.0 bit
    """
    tested = replace(context, n_permutations=n_draws(context))
    known = [feature for feature in selected if len(feature.block)]
    others = [c for c in candidates if c not in selected and len(c.block)]
    found = {feature.name: Relevance(feature.name, "fixed") for feature in kept}
    for feature in selected:  # those that do not vary keep what is known of them
        untested = Relevance(feature.name, "weakly relevant")
        found[feature.name] = _strong_or_weak(untested, final or {}, context.alpha)
    found |= {c.name: Relevance(c.name, "irrelevant") for c in candidates if c not in selected}
    if known:
        found |= _judge_selected(tested, kept, known, final or {})
    if others:
        found |= _judge_others(tested, kept, known, others)
    return found


def n_draws(context: SelectionContext) -> int:
    """Return the number of draws: as many as are set, or enough to tell alpha well.

    Examples
    --------
    >>> from pidselect.data import Block
    >>> [n_draws(Inquiry(Block(), (), alpha=a, n_permutations=None)) for a in (0.05, 0.01, 0.001)]
    [200, 1000, 10000]
    """
    if context.n_permutations is not None:
        return context.n_permutations
    return min(ceil(DRAWS_TIMES_ALPHA / context.alpha), most_draws(context.alpha))


def subsets_of(items: Sequence[Item], most: int) -> list[tuple[Item, ...]]:
    """Return the first subsets: of no item, all, one, all but one, and pairs.

    Examples
    --------
    >>> ["".join(subset) for subset in subsets_of("abcd", 12)]
    ['', 'abcd', 'a', 'b', 'c', 'd', 'abc', 'abd', 'acd', 'bcd', 'ab', 'ac']
    """
    n = len(items)
    sizes = [size for size in dict.fromkeys((0, n, 1, n - 1, 2)) if 0 <= size <= n]
    every = chain.from_iterable(combinations(items, size) for size in sizes)
    return list(islice(every, most))


@dataclass(frozen=True, eq=False)
class BesideSubsets:
    """Every feature given each of several subsets: as many candidates as there are pairs of these.

    Subsets come one after the other, with all features given each; and they are bound one after
    the other, so that each may have all the memory.

    Parameters
    ----------
    inquiry : Inquiry
    features : tuple of Feature
    given : tuple of tuples of Feature
    """

    context: SelectionContext
    features: tuple[Feature, ...]
    given: tuple[tuple[Feature, ...], ...]

    @property
    def candidates(self) -> tuple[Feature, ...]:
        """Every feature as often as there are subsets."""
        return self.features * len(self.given)

    @property
    def schemes(self) -> tuple[str, ...]:
        """The scheme of surrogates of each test."""
        return self.context.surrogates

    @property
    def n_values(self) -> int:
        """How many values a draw takes."""
        n_tests = sum(len(self.context.schemes(given)) for given in self.given)
        return n_tests * len(self.features) * len(self.context.members)

    def score(self, draws: range) -> FloatArray:
        """Return values in nats, shape (n_tests, n_subsets * n_features, n_members, n_draws)."""
        return np.concatenate([self._score_given(given, draws) for given in self.given], axis=1)

    def _score_given(self, given: Sequence[Feature], draws: range) -> FloatArray:
        # The same key for all subsets: they share their draws, as far as a scheme allows.
        question = given_all(self.context, self.features, given, (RELEVANCE, OF_OTHERS))
        values = question.score(draws)
        # A scheme that is left out with nothing given is the same as the global one there.
        places = [
            question.schemes.index(scheme if scheme in question.schemes else "global")
            for scheme in self.schemes
        ]
        return np.asarray(values[places])


@dataclass(frozen=True, eq=False)
class Scored:
    """A question whose values are known, draws from the first on."""

    question: BesideSubsets
    values: FloatArray

    @property
    def context(self) -> SelectionContext:
        """How to test, with the draws that there are."""
        context = self.question.context
        n_permutations = self.values.shape[-1] - 1 - context.n_pilot
        return replace(context, n_permutations=n_permutations, watch=None)  # all was told

    @property
    def candidates(self) -> tuple[Feature, ...]:
        """Who competes."""
        return self.question.candidates

    @property
    def schemes(self) -> tuple[str, ...]:
        """The scheme of surrogates of each test."""
        return self.question.schemes

    def score(self, draws: range) -> FloatArray:
        """Return values in nats."""
        return self.values[..., draws.start : draws.stop]


def _examine(question: BesideSubsets) -> PermutationTestResult:
    """Make all draws, unless the first ones show that nothing will be significant after all."""
    context = question.context
    n = n_draws(context)
    first, end = 1 + context.n_pilot + min(FIRST_DRAWS, n), 1 + context.n_pilot + n
    if context.watch is not None:
        is_exact = first == end
        context.watch.on_stage("roles", len(question.features), question.n_values * end, is_exact)
    values = question.score(range(first))
    _, evidence = evaluate_strongest(Scored(question, values))
    if first == end:
        return evidence
    # What p-values would be if no further draw reached what was observed.
    least = evidence.p_values().max(axis=0).min() * (1 + FIRST_DRAWS) / (1 + n)
    if not is_significant(float(least), context.alpha):
        return evidence
    values = np.concatenate([values, question.score(range(first, end))], axis=-1)
    return evaluate_strongest(Scored(question, values))[1]


def _judge_selected(
    context: SelectionContext,
    kept: Sequence[Feature],
    selected: Sequence[Feature],
    final: Mapping[str, float],
) -> dict[str, Relevance]:
    """Judge selected features beside all others, by known p-values or by a test."""
    is_known = all(feature.name in final for feature in selected)
    asked = replace(context, n_permutations=0) if is_known else context
    question = each_given_the_others(asked, kept, selected, (RELEVANCE, OF_SELECTED))
    _, evidence = evaluate_strongest(question, "roles")
    names = [feature.name for feature in selected]
    p_values = final if is_known else dict(zip(names, final_p_values(evidence), strict=True))
    found = {}
    for place, feature in enumerate(selected):
        rest = tuple(f.name for f in (*kept, *selected) if f is not feature)
        bits = _bits(evidence, place)
        relevance = Relevance(feature.name, "weakly relevant", None, rest, bits, 1)
        found[feature.name] = _strong_or_weak(relevance, p_values, context.alpha)
    return found


def _strong_or_weak(relevance: Relevance, p_values: Mapping[str, float], alpha: float) -> Relevance:
    """Put a selected feature's p-value and its role in."""
    p = p_values.get(relevance.name, 1.0)
    role: Role = "strongly relevant" if is_significant(p, alpha) else "weakly relevant"
    return replace(relevance, role=role, p_value=p)


def _judge_others(
    context: SelectionContext,
    kept: Sequence[Feature],
    selected: Sequence[Feature],
    others: Sequence[Feature],
) -> dict[str, Relevance]:
    """Judge features that are not selected, given subsets of those that are."""
    most = min(SUBSETS, max(FEWEST_SUBSETS, MOST_QUESTIONS // len(others)))
    given = tuple((*kept, *subset) for subset in subsets_of(selected, most))
    # Values given unlike subsets are comparable only beside their own surrogates.
    alike = replace(context, shared_permutations=True, is_portfolio=True)
    evidence = _examine(BesideSubsets(alike, tuple(others), given))
    shape = (len(given), len(others))
    p_values = evidence.p_values().max(axis=0).reshape(shape)
    # Equal p-values are common, as there are few draws: then the largest value counts.
    best = np.lexsort((-evidence.weakest.reshape(shape), p_values), axis=0)[0]
    found = {}
    for place, feature in enumerate(others):
        subset = int(best[place])
        p = float(p_values[subset, place])
        found[feature.name] = Relevance(
            name=feature.name,
            role="weakly relevant" if is_significant(p, context.alpha) else "irrelevant",
            p_value=p,
            given=tuple(f.name for f in given[subset]),
            bits=_bits(evidence, subset * len(others) + place),
            n_subsets=len(given),
        )
    return found


def _bits(evidence: PermutationTestResult, place: int) -> float:
    """Return a candidate's bits in the test that speaks least for it."""
    return float(evidence.bits[evidence.observed[:, place].argmin(), place])
