r"""Strong and weak relevance, by tests given the selected features and subsets of them.

With S for the selected features, a feature f is strongly relevant if it is informative about the
target y given all others, and weakly relevant if only given some subset of them:

.. math:: I(f; y | S \setminus f) > 0, \qquad
          \exists\, T \subseteq S \setminus f:\; I(f; y | T) > 0 .

All other features are irrelevant. One that is not selected, but informative given all of S, is not
redundant, hence not weakly relevant: it adds to the selected set.

A limited number of subsets is tested, in this order: the empty set, S, single features, all but
one, pairs. The features that are not selected are tested in two families, each at level alpha / 2:
first given the empty set, then, if they were not significant, given the other subsets. Each family
has the p-values of the step-down maximum statistic over its features and subsets. Unless an
irrelevant feature is significant in the first family, the second one includes them all, so that the
family-wise error rate is at most alpha / 2 + alpha / 2 = alpha. Those that are relevant are then
tested given S, as one family at level alpha.

With ``select="relevant"`` a fit tests the first of these families for all candidates, and selects
what is significant beside the features of the forward path.

References
----------
G. H. John, R. Kohavi, K. Pfleger, Irrelevant features and the subset selection problem.
International Conference on Machine Learning (1994). J. R. Vergara, P. A. Estévez, A review of
feature selection methods based on mutual information. Neural Computing and Applications 24 (2014).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations, islice
from typing import Any, TypeVar

import numpy as np

from pidselect.data import FloatArray, IntArray
from pidselect.decomposition.explanation import Role
from pidselect.estimators import NATS_PER_UNIT
from pidselect.selection.backward import cmi_given_others
from pidselect.selection.callbacks import StageName
from pidselect.selection.context import SelectionContext
from pidselect.selection.executor import PERMUTATION_BATCH
from pidselect.selection.pool import Feature, FeaturePool, Features
from pidselect.selection.result import Step
from pidselect.selection.scoring import ConditionalMI, cmi_given
from pidselect.selection.step_test import is_pooled, pooled_standardizer, run_test
from pidselect.significance import RELEVANCE, is_significant
from pidselect.significance.permutation_test import fewest_permutations, step_down_p_values

BIT = NATS_PER_UNIT["bit"]

#: The largest number of subsets that are tested, and the smallest: the empty set and S.
MAX_SUBSETS = 16
MIN_SUBSETS = 2

#: The largest number of features times subsets, unless MIN_SUBSETS exceed it.
MAX_TESTS = 2000

#: Fewest permutations after which a test ends if nothing can become significant any more. More are
#: used as far as they fill batches with the pilot and the observed data: none with a pilot of 50.
INTERIM = (13, 45, 109)

#: Random streams of the tests of selected features and of the others.
SELECTED_STREAM, OTHERS_STREAM = 0, 1

Item = TypeVar("Item")


@dataclass(frozen=True)
class Relevance:
    """The role of a feature, and the test that decided it.

    The p-value is adjusted for all features and subsets. If nothing in a family can be significant,
    it is that of the first permutations, by the first surrogate scheme.
    """

    name: str
    role: Role
    p_value: float | None = None  # None if not tested
    conditioning_set: tuple[str, ...] = ()  # the subset with the smallest p-value
    bits: float | None = None  # given this subset; None if it was not estimated
    n_subsets: int = 0  # in the families of tests


def assess(
    context: SelectionContext,
    fixed: Sequence[Feature],
    selected: Sequence[Feature],
    candidates: Sequence[Feature],
    final: Mapping[str, float] | None = None,
    may_add: bool = True,
) -> dict[str, Relevance]:
    """Test the relevance of every feature; the context must have permutations.

    Fixed features are in every conditioning set. Selected ones among the candidates are ignored,
    and features without a varying column are not tested. `final` are known p-values of selected
    features given all others. `may_add` is False if it is known that no other feature is
    significant given all selected ones.

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
    c: irrelevant, 0.0 bit ()
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
        relevant = [c for c in others if found[c.name].role == "weakly relevant"]
        if may_add and relevant and (given := (*fixed, *varying)):
            found |= _assess_adding(context, given, relevant, found)
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
class SubsetTests:
    """Tests of every feature given each of several subsets, shapes (n_subsets, n_features).

    All but the p-values are those of the surrogate scheme with the smallest score.
    """

    p_values: FloatArray
    scores: FloatArray
    bits: FloatArray
    estimators: IntArray  # those with the largest score
    schemes: IntArray  # by their positions among those of the subset
    n_permutations: IntArray


def run_subset_tests(
    context: SelectionContext,
    features: Features,
    subsets: Sequence[Features],
    stage: StageName = "roles",
) -> SubsetTests:
    """Test I(f; y | T) of all features f and subsets T as one family, at the level of the context.

    All surrogate schemes must reject: they are tested one after the other until nothing is
    significant.
    """
    found = _run_test(context, 0, features, subsets, np.zeros((len(subsets), len(features))), stage)
    for test in range(1, max(len(context.schemes(subset)) for subset in subsets)):
        if not is_significant(float(found.p_values.min()), context.alpha):
            break
        new = _run_test(context, test, features, subsets, found.p_values, stage)
        lower = new.scores < found.scores
        others = {
            name: np.where(lower, getattr(new, name), getattr(found, name))
            for name in ("scores", "bits", "estimators", "schemes", "n_permutations")
        }
        found = SubsetTests(np.maximum(found.p_values, new.p_values), **others)
    return found


def _run_test(
    context: SelectionContext,
    test: int,
    features: Features,
    subsets: Sequence[Features],
    known: FloatArray,
    stage: StageName,
) -> SubsetTests:
    """Test with all permutations, or with fewer if nothing can become significant.

    `known` are p-values of other tests.
    """
    scores_given = partial(_scores_given, context, test, features)
    first = scores_given(subsets[0])
    pooled = first if len(subsets) == 1 and is_pooled(first) else None
    n_pilot = context.n_pilot if pooled is None else context.count_pilot(len(features))
    n, n_tests, first_test = context.fixed_n_permutations, known.size, 1 + n_pilot
    interim = (_fill_batch(first_test + least) - first_test for least in INTERIM)
    stops = [*(stop for stop in interim if stop < n), n]
    context.executor.callbacks.on_stage(
        stage, len(features), n_tests * len(context.estimators) * (first_test + n), False
    )

    def score(permutations: range) -> FloatArray:
        """Return nats, shape (n_subsets * n_features, n_estimators, n_permutations)."""
        # Subsets are bound one after the other, so that each may use all the memory.
        each = map(scores_given, subsets) if pooled is None else [pooled]
        return np.concatenate([scores.score(permutations)[0] for scores in each])

    values = score(range(first_test + stops[0]))
    pilot = values[..., 1:first_test]
    if pooled is None:
        standardizer = context.standardizer(pilot)
    else:
        standardizer = pooled_standardizer(pooled, pilot)
    assert standardizer is not None  # scores given different subsets are not comparable in bits
    standardized = standardizer.apply(values)
    scores = standardized.max(axis=1)
    observed, surrogates = scores[:, 0], scores[:, first_test:]
    for stop in stops:
        if stop > (done := surrogates.shape[1]):
            more = score(range(first_test + done, first_test + stop))
            surrogates = np.hstack([surrogates, standardizer.apply(more).max(axis=1)])
        p_values = step_down_p_values(observed, surrogates)
        # The smallest p-values if no further permutation reaches the observed values.
        least = np.maximum(p_values * (1 + stop) / (1 + n), known.ravel())
        if not is_significant(float(least.min()), context.alpha):
            break
    best = standardized[..., 0].argmax(axis=1)
    bits = np.minimum(values[np.arange(n_tests), best, 0] / BIT, context.max_bits)
    arrays: tuple[Any, ...] = (p_values, observed, bits, best, np.int64(test), np.int64(stop))
    return SubsetTests(*(np.broadcast_to(one, n_tests).reshape(known.shape) for one in arrays))


def _scores_given(
    context: SelectionContext, test: int, features: Features, subset: Features
) -> ConditionalMI:
    """Return scores by one of the schemes of the subset, if there are fewer by the last.

    Subsets share permutations as far as the scheme allows.
    """
    tests = cmi_given(context, features, subset, (RELEVANCE, OTHERS_STREAM)).one_by_one()
    return tests[min(test, len(tests) - 1)]


def _fill_batch(n: int) -> int:
    """Return the number of permutations in as many whole batches as n need."""
    return -(-n // PERMUTATION_BATCH) * PERMUTATION_BATCH


def _assess_selected(
    context: SelectionContext,
    fixed: Sequence[Feature],
    selected: Sequence[Feature],
    final: Mapping[str, float],
) -> dict[str, Relevance]:
    """Assess selected features given all others, by known p-values or by a test."""
    names = [feature.name for feature in selected]
    bits: list[float | None] = [None] * len(selected)
    p_values = final
    if not all(name in final for name in names):
        scores = cmi_given_others(context, fixed, selected, (RELEVANCE, SELECTED_STREAM))
        result = run_test(scores, "roles", step_down=True)
        p_values = dict(zip(names, result.step_down, strict=True))
        weakest = result.observed.argmin(axis=0)
        bits = result.bits[weakest, np.arange(len(names))].tolist()
    found = {}
    for feature, value in zip(selected, bits, strict=True):
        rest = tuple(f.name for f in (*fixed, *selected) if f is not feature)
        relevance = Relevance(feature.name, "weakly relevant", None, rest, value, 1)
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
    subsets = [(*fixed, *subset) for subset in subsets_of(selected, max_subsets(len(others)))]
    families = [family for family in (subsets[:1], subsets[1:]) if family]
    level = context.alpha / len(families)
    context = _for_subsets(context, level)
    found: dict[str, Relevance] = {}
    undecided = list(others)
    for family in families:
        tests = run_subset_tests(context, undecided, family)
        # Equal p-values are common with few permutations: then the largest score decides.
        best = np.lexsort((-tests.scores, tests.p_values), axis=0)[0]
        for place, feature in enumerate(undecided):
            subset = int(best[place])
            p = float(tests.p_values[subset, place])
            relevance = Relevance(
                name=feature.name,
                role="weakly relevant" if is_significant(p, level) else "irrelevant",
                p_value=min(1.0, len(families) * p),
                conditioning_set=tuple(f.name for f in family[subset]),
                bits=float(tests.bits[subset, place]),
                n_subsets=len(subsets),
            )
            earlier = found.get(feature.name, relevance)
            found[feature.name] = min(earlier, relevance, key=lambda one: one.p_value or 0.0)
        undecided = [f for f in undecided if found[f.name].role == "irrelevant"]
        if not undecided:
            break
    return found


def _assess_adding(
    context: SelectionContext,
    given: Features,
    relevant: Features,
    known: Mapping[str, Relevance],
) -> dict[str, Relevance]:
    """Return the relevant features that are significant given all selected ones, as one family."""
    tests = run_subset_tests(_for_subsets(context, context.alpha), relevant, [given])
    names = tuple(feature.name for feature in given)
    return {
        feature.name: replace(
            known[feature.name],
            role="adds to the selected set",
            p_value=float(p),
            conditioning_set=names,
            bits=float(bits),
        )
        for feature, p, bits in zip(relevant, tests.p_values[0], tests.bits[0], strict=True)
        if is_significant(float(p), context.alpha)
    }


def _for_subsets(context: SelectionContext, level: float) -> SelectionContext:
    """Return the context of tests given subsets at a level."""
    return replace(
        context,
        alpha=level,
        n_permutations=max(context.fixed_n_permutations, fewest_permutations(level)),
        # Values given different subsets are comparable only after standardization by surrogates.
        shared_permutations=True,
        is_portfolio=True,
    )


# --- all relevant features ----------------------------------------------------------------------


def marginal_tests(
    context: SelectionContext, fixed: Features, candidates: Features, level: float
) -> Step:
    """Test I(c; y) of all candidates given the fixed features, as one family."""
    context = _for_subsets(context, level)
    tests = run_subset_tests(context, candidates, [fixed], "marginal")
    p_values, scores = tests.p_values[0], tests.scores[0]
    order = np.lexsort((-scores, p_values))
    strongest, names = int(order[0]), [candidate.name for candidate in candidates]
    significant = [names[place] for place in order if is_significant(p_values[place], level)]
    return Step(
        phase="marginal",
        conditioning_set=tuple(feature.name for feature in fixed),
        candidates=tuple(names),
        values=tuple(tests.bits[0].tolist()),
        scores=tuple(scores.tolist()),
        unit=context.unit,
        estimators=tuple(context.estimators[place].name for place in tests.estimators[0]),
        p_values=tuple(p_values.tolist()),
        chosen=names[strongest],
        critical_value=None,
        p_value=float(p_values[strongest]),
        alpha=level,
        surrogates=context.schemes(fixed)[tests.schemes[0, strongest]],
        n_permutations=int(tests.n_permutations[0, strongest]),
        accepted=bool(significant),
        jointly_included=tuple(significant),
    )


def select_relevant(
    tests: Step,
    pool: FeaturePool,
    minimal: Features,
    path: Collection[str],
    column_names: Sequence[str],
    max_columns: float,
) -> list[Feature]:
    """Return the relevant features outside the minimal set, by p-value and score.

    They are those with significant marginal information, those that were included on the forward
    `path` and removed later, and duplicates of any relevant column. At most `max_columns` columns.
    """
    names = {*path, *tests.jointly_included, *(feature.name for feature in minimal)}
    relevant = [candidate for candidate in pool.candidates if candidate.name in names]
    strength = zip(tests.p_values, (-score for score in tests.scores), strict=True)
    rank = dict(zip(tests.candidates, strength, strict=True))
    singles = {feature.columns: feature for feature in relevant}
    found = [(rank[f.name], f.columns, f) for f in relevant if f not in minimal]
    for copy, original in pool.duplicates.items():
        if (feature := singles.get((original,))) is not None:
            twin = Feature(column_names[copy], (copy,), feature.block)
            found.append((rank[feature.name], twin.columns, twin))
    selected = []
    for *_, feature in sorted(found, key=lambda one: one[:2]):
        if len(feature.columns) <= max_columns:
            max_columns -= len(feature.columns)
            selected.append(feature)
    return selected
