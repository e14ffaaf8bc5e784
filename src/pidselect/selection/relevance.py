r"""Strong and weak relevance, by tests given the selected features and subsets of them.

With S for the selected features, a feature f is strongly relevant if it is informative about the
target y given all others, and weakly relevant if only given some subset of them:

.. math:: I(f; y | S \setminus f) > 0, \qquad
          \exists\, T \subseteq S \setminus f:\; I(f; y | T) > 0 .

All other features are irrelevant. A limited number of subsets is tested, in this order: the empty
set, S, single features, all but one, pairs. All features that are not selected, given all of these
subsets, are one family under the maximum statistic, so that the family-wise error rate is alpha.

References
----------
G. H. John, R. Kohavi, K. Pfleger, Irrelevant features and the subset selection problem.
International Conference on Machine Learning (1994). J. R. Vergara, P. A. Estévez, A review of
feature selection methods based on mutual information. Neural Computing and Applications 24 (2014).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice
from typing import TypeVar

import numpy as np

from pidselect.data import FloatArray
from pidselect.decomposition.result import Role
from pidselect.selection.backward import cmi_given_others, final_p_values
from pidselect.selection.context import SelectionContext
from pidselect.selection.executor import Executor
from pidselect.selection.pool import Feature
from pidselect.selection.scoring import cmi_given
from pidselect.selection.step_test import PermutationTestResult, run_test
from pidselect.significance import RELEVANCE, is_significant

#: The largest number of subsets that are tested, and the smallest: the empty set and S.
MAX_SUBSETS = 16
MIN_SUBSETS = 2

#: The largest number of features times subsets, unless MIN_SUBSETS exceed it.
MAX_TESTS = 2000

#: If nothing can become significant after this many permutations, there are no more of them. With
#: the pilot and the observed data they fill six batches of 16.
FIRST_PERMUTATIONS = 45

#: Random streams of the tests of selected features and of the others.
SELECTED_STREAM, OTHERS_STREAM = 0, 1

Item = TypeVar("Item")


@dataclass(frozen=True)
class Relevance:
    """The role of a feature, and the test that decided it.

    The p-value is adjusted for all features and subsets of the family. If nothing in the family can
    be significant, it is that of the first permutations.
    """

    name: str
    role: Role
    p_value: float | None = None  # None if not tested
    conditioning_set: tuple[str, ...] = ()  # the subset with the smallest p-value
    bits: float = 0.0  # given this subset
    n_subsets: int = 0  # that were tested


def assess(
    context: SelectionContext,
    fixed: Sequence[Feature],
    selected: Sequence[Feature],
    candidates: Sequence[Feature],
    final: Mapping[str, float] | None = None,
) -> dict[str, Relevance]:
    """Test the relevance of every feature; the context must have permutations.

    Fixed features are in every conditioning set. Selected ones among the candidates are ignored,
    and features without a varying column are not tested. `final` are known p-values of selected
    features given all others.

    Examples
    --------
    y is a with a few errors, b another measurement of a, and c independent of both.

    >>> from pidselect.data import read_block
    >>> from pidselect.estimators import Discrete
    >>> from pidselect.selection.context import NamedEstimator
    >>> rng = np.random.default_rng(0)
    >>> a, c = rng.integers(0, 2, (2, 200))
    >>> y, b = a ^ (rng.random((2, 200)) < 0.1)
    >>> features = [Feature(n, (0,), read_block(v, n)) for n, v in zip("abc", (a, b, c))]
    >>> context = SelectionContext(read_block(y, "y"), (NamedEstimator("discrete", Discrete()),))
    >>> for found in assess(context, [], features[:1], features).values():
    ...     print(f"{found.name}: {found.role}, {found.bits:.1f} bit", found.conditioning_set)
    a: strongly relevant, 0.5 bit ()
    b: weakly relevant, 0.4 bit ()
    c: irrelevant, 0.0 bit ('a',)
    """
    final = final or {}
    context = replace(context, n_permutations=context.fixed_n_permutations)
    varying = [feature for feature in selected if len(feature.block)]
    others = [c for c in candidates if c not in selected and len(c.block)]
    found = {feature.name: Relevance(feature.name, "fixed") for feature in fixed}
    for feature in selected:
        untested = Relevance(feature.name, "weakly relevant")
        found[feature.name] = _with_p_value(untested, final, context.alpha)
    found |= {c.name: Relevance(c.name, "irrelevant") for c in candidates if c not in selected}
    if varying:
        found |= _assess_selected(context, fixed, varying, final)
    if others:
        found |= _assess_others(context, fixed, varying, others)
    return found


def max_subsets(n_features: int) -> int:
    """Return the largest number of subsets that are tested for so many features."""
    return min(MAX_SUBSETS, max(MIN_SUBSETS, MAX_TESTS // n_features))


def subsets_of(items: Sequence[Item], most: int) -> list[tuple[Item, ...]]:
    """Return the first subsets: the empty one, all, single items, all but one, pairs.

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
class CMIGivenSubsets:
    """Candidate scores of every feature given each of several subsets.

    Candidates are pairs of a feature and a subset, ordered by subset. Subsets are bound one after
    the other, so that each may use all the memory.
    """

    context: SelectionContext
    features: tuple[Feature, ...]
    subsets: tuple[tuple[Feature, ...], ...]
    known: FloatArray | None = None  # values of the first permutations

    @property
    def candidates(self) -> tuple[Feature, ...]:
        """Every feature, once per subset."""
        return self.features * len(self.subsets)

    @property
    def schemes(self) -> tuple[str, ...]:
        """The surrogate scheme of each test."""
        return self.context.surrogates

    @property
    def n_values(self) -> int:
        """The number of values that are computed for one permutation."""
        n_tests = sum(len(self.context.schemes(subset)) for subset in self.subsets)
        return n_tests * len(self.features) * len(self.context.estimators)

    def score(self, permutations: range) -> FloatArray:
        """Return values in nats, shape (n_tests, n_candidates, n_estimators, n_permutations)."""
        if self.known is not None:
            return self.known[..., permutations.start : permutations.stop]
        values = [self._score_given(subset, permutations) for subset in self.subsets]
        return np.concatenate(values, axis=1)

    def one_by_one(self) -> tuple[CMIGivenSubsets]:
        """Return itself: the p-values of all candidates are needed, in all tests."""
        return (self,)

    def conditioning_set(self, test: int) -> None:
        """Return None, as there are several."""

    def _score_given(self, subset: Sequence[Feature], permutations: range) -> FloatArray:
        # One stream for all subsets: they share permutations as far as the scheme allows.
        scores = cmi_given(self.context, self.features, subset, (RELEVANCE, OTHERS_STREAM))
        values = scores.score(permutations)
        # With an empty conditioning set, a scheme that is left out equals the global one.
        places = [
            scores.schemes.index(scheme if scheme in scores.schemes else "global")
            for scheme in self.schemes
        ]
        return np.asarray(values[places])


def _test_in_two_stages(scores: CMIGivenSubsets) -> PermutationTestResult:
    """Test with all permutations, unless the first ones show that nothing can be significant."""
    context = scores.context
    n = context.fixed_n_permutations
    first, end = 1 + context.n_pilot + min(FIRST_PERMUTATIONS, n), 1 + context.n_pilot + n
    callbacks = context.executor.callbacks
    callbacks.on_stage("roles", len(scores.features), scores.n_values * end, first == end)
    values = scores.score(range(first))
    result = _test_known(scores, values)
    if first == end:
        return result
    # The smallest p-value if no further permutation reaches the observed value.
    least = result.p_values().max(axis=0).min() * (1 + FIRST_PERMUTATIONS) / (1 + n)
    if not is_significant(float(least), context.alpha):
        return result
    values = np.concatenate([values, scores.score(range(first, end))], axis=-1)
    return _test_known(scores, values)


def _test_known(scores: CMIGivenSubsets, values: FloatArray) -> PermutationTestResult:
    """Test with the permutations that are known; their progress was reported before."""
    n_permutations = values.shape[-1] - 1 - scores.context.n_pilot
    context = replace(scores.context, n_permutations=n_permutations, executor=Executor())
    return run_test(replace(scores, context=context, known=values))


def _assess_selected(
    context: SelectionContext,
    fixed: Sequence[Feature],
    selected: Sequence[Feature],
    final: Mapping[str, float],
) -> dict[str, Relevance]:
    """Assess selected features given all others, by known p-values or by a test."""
    is_known = all(feature.name in final for feature in selected)
    tested = replace(context, n_permutations=0) if is_known else context
    scores = cmi_given_others(tested, fixed, selected, (RELEVANCE, SELECTED_STREAM))
    result = run_test(scores, "roles", keep_surrogates=True)
    names = [feature.name for feature in selected]
    p_values = final if is_known else dict(zip(names, final_p_values(result), strict=True))
    found = {}
    for place, feature in enumerate(selected):
        rest = tuple(f.name for f in (*fixed, *selected) if f is not feature)
        relevance = Relevance(feature.name, "weakly relevant", None, rest, _bits(result, place), 1)
        found[feature.name] = _with_p_value(relevance, p_values, context.alpha)
    return found


def _with_p_value(relevance: Relevance, p_values: Mapping[str, float], alpha: float) -> Relevance:
    """Set p-value and role of a selected feature."""
    p = p_values.get(relevance.name, 1.0)
    role: Role = "strongly relevant" if is_significant(p, alpha) else "weakly relevant"
    return replace(relevance, role=role, p_value=p)


def _assess_others(
    context: SelectionContext,
    fixed: Sequence[Feature],
    selected: Sequence[Feature],
    others: Sequence[Feature],
) -> dict[str, Relevance]:
    """Assess features that are not selected, given subsets of those that are."""
    most = max_subsets(len(others))
    subsets = tuple((*fixed, *subset) for subset in subsets_of(selected, most))
    # Values given different subsets are comparable only after standardization by surrogates.
    standardized = replace(context, shared_permutations=True, is_portfolio=True)
    result = _test_in_two_stages(CMIGivenSubsets(standardized, tuple(others), subsets))
    shape = (len(subsets), len(others))
    p_values = result.p_values().max(axis=0).reshape(shape)
    # Equal p-values are common with few permutations: then the largest score decides.
    best = np.lexsort((-result.min_observed.reshape(shape), p_values), axis=0)[0]
    found = {}
    for place, feature in enumerate(others):
        subset = int(best[place])
        p = float(p_values[subset, place])
        found[feature.name] = Relevance(
            name=feature.name,
            role="weakly relevant" if is_significant(p, context.alpha) else "irrelevant",
            p_value=p,
            conditioning_set=tuple(f.name for f in subsets[subset]),
            bits=_bits(result, subset * len(others) + place),
            n_subsets=len(subsets),
        )
    return found


def _bits(result: PermutationTestResult, place: int) -> float:
    """Return a candidate's bits in the test with its smallest score."""
    return float(result.bits[result.observed[:, place].argmin(), place])
