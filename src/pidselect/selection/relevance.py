r"""Strong and weak relevance by tests, for rows other than those of the fit.

With S for the selected features, a feature f is strongly relevant if it is informative about the
target y given all others, and weakly relevant if only given some subset of them:

.. math:: I(f; y | S \setminus f) > 0, \qquad
          \exists\, T \subseteq S \setminus f:\; I(f; y | T) > 0 .

All other features are irrelevant. One that is not selected, but informative given all of S, is not
redundant, hence not weakly relevant: it adds to the selected set.

A fit has tested all candidates given the growing set S, and these tests decide (`explain`). Without
them, the features that are not selected are tested in two families, given the empty set and given
S, each at level alpha / 2 by the step-down maximum statistic over its features, so that the
family-wise error rate is at most alpha / 2 + alpha / 2 = alpha.

With ``select="relevant"`` a fit tests the first of these families for all candidates, and selects
what is significant beside the features of the forward path.

References
----------
G. H. John, R. Kohavi, K. Pfleger, Irrelevant features and the subset selection problem.
International Conference on Machine Learning (1994). J. R. Vergara, P. A. Estévez, A review of
feature selection methods based on mutual information. Neural Computing and Applications 24 (2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pidselect.data import FloatArray, IntArray
from pidselect.decomposition.explanation import Role
from pidselect.selection.backward import cmi_given_others
from pidselect.selection.context import SelectionContext
from pidselect.selection.pool import Feature, FeaturePool, Features, joint_block
from pidselect.selection.progress import StageName
from pidselect.selection.result import Step
from pidselect.selection.score_step import settings_of
from pidselect.selection.scoring import ConditionalMI, cmi_given, information_given
from pidselect.selection.step_test import RunningTest, run_test
from pidselect.significance import RELEVANCE, is_significant
from pidselect.significance.permutation_test import fewest_permutations, step_down_p_values

#: Permutations after which a test ends if nothing can become significant any more; with the
#: observed data they fill batches.
INTERIM = (15, 47, 111)

#: Random streams of the tests of selected features and of the others.
SELECTED_STREAM, OTHERS_STREAM = 0, 1


@dataclass(frozen=True)
class Relevance:
    """The role of a feature, and the tests that decided it.

    P-values are of I(f; y | S) = 0 and I(f; y) = 0, adjusted for all features and both families, to
    be compared with alpha; None if not tested. If nothing in a family can be significant, they are
    of the first permutations, by the first surrogate scheme.
    """

    role: Role
    p_value: float | None = None
    marginal_p_value: float | None = None


def assess(
    context: SelectionContext,
    fixed: Sequence[Feature],
    selected: Sequence[Feature],
    candidates: Sequence[Feature],
) -> dict[str, Relevance]:
    """Test the relevance of every feature; the context must have permutations.

    Fixed features are in every conditioning set. Selected ones among the candidates are ignored,
    and features without a varying column are not tested.

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
    >>> for name, found in assess(context, [], features[:1], features).items():
    ...     print(f"{name}: {found.role}")
    a: strongly relevant
    b: weakly relevant
    c: irrelevant
    """
    if context.score_test is None:
        context = replace(context, n_permutations=context.fixed_n_permutations)
    varying = [feature for feature in selected if len(feature.block)]
    others = [c for c in candidates if c not in selected and len(c.block)]
    found = {feature.name: Relevance("fixed") for feature in fixed}
    found |= {feature.name: Relevance("weakly relevant") for feature in selected}
    found |= {c.name: Relevance("irrelevant") for c in candidates if c not in selected}
    if varying:
        found |= _assess_selected(context, fixed, varying)
    if others:
        found |= _assess_others(context, fixed, varying, others)
    return found


@dataclass(frozen=True, eq=False)
class FamilyTests:
    """Tests of every feature given one set, shape (n_features,).

    All but the p-values are those of the surrogate scheme with the smallest score.
    """

    p_values: FloatArray
    scores: FloatArray
    names: tuple[str, ...]  # the estimator, or the functions with the largest statistic
    schemes: IntArray  # by their positions among those of the set
    n_permutations: IntArray


def run_family(
    context: SelectionContext, features: Features, given: Features, stage: StageName = "roles"
) -> FamilyTests:
    """Test I(f; y | T) of all features f given a set T as one family, at the level of the context.

    All surrogate schemes must reject: they are tested one after the other until nothing is
    significant.
    """
    key = RELEVANCE, OTHERS_STREAM
    if context.score_test is not None:
        blocks, n = [feature.block for feature in features], len(features)
        test = settings_of(context).test(
            joint_block(given), blocks, (context.seed, *key), True, context.executor.run
        )
        n_permutations = np.full(n, len(test.null))
        return FamilyTests(
            test.p_values, test.statistics, test.functions, np.zeros(n, np.int64), n_permutations
        )
    tests = cmi_given(context, features, given, key).one_by_one()
    found = _run_scheme(0, tests[0], np.zeros(len(features)), stage)
    for place, scores in enumerate(tests[1:], start=1):
        if not is_significant(float(found.p_values.min()), context.alpha):
            break
        new = _run_scheme(place, scores, found.p_values, stage)
        lower = new.scores < found.scores
        others = {
            name: np.where(lower, getattr(new, name), getattr(found, name))
            for name in ("scores", "schemes", "n_permutations")
        }
        p_values = np.maximum(found.p_values, new.p_values)
        found = FamilyTests(p_values, names=found.names, **others)
    return found


def _run_scheme(
    scheme: int, scores: ConditionalMI, known: FloatArray, stage: StageName
) -> FamilyTests:
    """Test with all permutations, or with fewer if nothing can become significant.

    `known` are p-values of other schemes.
    """
    context, n_features = scores.context, len(known)
    n = context.fixed_n_permutations
    stops = [*(stop for stop in INTERIM if stop < n), n]
    n_values = n_features * (1 + n)
    context.executor.observer.on_stage(stage, n_features, n_values)
    test = RunningTest(scores, stops[0], keep_surrogates=True)
    for stop in stops:
        if more := 1 + stop - test.n_computed:
            test.extend(more)
        p_values = step_down_p_values(test.observed[0], test.surrogates[0])
        # The smallest p-values if no further permutation reaches the observed values.
        least = np.maximum(p_values * (1 + stop) / (1 + n), known)
        if not is_significant(float(least.min()), context.alpha):
            break
    scheme_of, n_of = np.full(n_features, scheme), np.full(n_features, stop)
    names = (context.estimators[0].name,) * n_features
    return FamilyTests(p_values, test.observed[0], names, scheme_of, n_of)


def _assess_selected(
    context: SelectionContext, fixed: Sequence[Feature], selected: Sequence[Feature]
) -> dict[str, Relevance]:
    """Test selected features given all others, and by themselves if there are no fixed ones."""
    scores = cmi_given_others(context, fixed, selected, (RELEVANCE, SELECTED_STREAM))
    p_values = run_test(scores, "roles", step_down=True).step_down
    marginal: list[float | None] = [None] * len(selected)
    if not fixed:
        marginal = run_family(_for_families(context, context.alpha), selected, ()).p_values.tolist()
    roles: tuple[Role, Role] = ("weakly relevant", "strongly relevant")
    return {
        feature.name: Relevance(roles[is_significant(p, context.alpha)], p, of_marginal)
        for feature, p, of_marginal in zip(selected, p_values, marginal, strict=True)
    }


def _assess_others(
    context: SelectionContext,
    fixed: Sequence[Feature],
    selected: Sequence[Feature],
    others: Sequence[Feature],
) -> dict[str, Relevance]:
    """Test features that are not selected, given the fixed ones and given all selected ones."""
    n_families, alpha = (2 if selected else 1), context.alpha
    context = _for_families(context, alpha / n_families)
    marginal = given_all = run_family(context, others, fixed).p_values
    if selected:
        given_all = run_family(context, others, (*fixed, *selected)).p_values
    found, can_add = {}, any(len(feature.block) for feature in (*fixed, *selected))
    for feature, *p_values in zip(others, given_all.tolist(), marginal.tolist(), strict=True):
        p, of_marginal = (min(1.0, n_families * p_value) for p_value in p_values)
        role: Role = "irrelevant"
        if can_add and is_significant(p, alpha):
            role = "adds to the selected set"
        elif is_significant(of_marginal, alpha):
            role = "weakly relevant"
        found[feature.name] = Relevance(role, p, None if fixed else of_marginal)
    return found


def _for_families(context: SelectionContext, level: float) -> SelectionContext:
    """Return the context of the tests of a family at a level."""
    if context.score_test is not None:
        return replace(context, alpha=level)
    n_permutations = max(context.fixed_n_permutations, fewest_permutations(level))
    return replace(context, alpha=level, n_permutations=n_permutations, shared_permutations=True)


# --- all relevant features ----------------------------------------------------------------------


def marginal_tests(
    context: SelectionContext, fixed: Features, candidates: Features, level: float
) -> Step:
    """Test I(c; y) of all candidates given the fixed features, as one family."""
    bits = information_given(context, candidates, [fixed] * len(candidates))
    context = _for_families(context, level)
    tests = run_family(context, candidates, fixed, "marginal")
    p_values, scores = tests.p_values, tests.scores
    order = np.lexsort((-scores, p_values))
    strongest, names = int(order[0]), [candidate.name for candidate in candidates]
    significant = [names[place] for place in order if is_significant(p_values[place], level)]
    return Step(
        phase="marginal",
        conditioning_set=tuple(feature.name for feature in fixed),
        candidates=tuple(names),
        values=tuple(bits.tolist()),
        scores=tuple(scores.tolist()),
        unit="" if context.score_test is not None else "bit",
        estimators=tests.names,
        p_values=tuple(p_values.tolist()),
        chosen=names[strongest],
        critical_value=None,
        p_value=float(p_values[strongest]),
        alpha=level,
        surrogates=context.schemes(fixed)[tests.schemes[strongest]],
        n_permutations=int(tests.n_permutations[strongest]),
        accepted=bool(significant),
        jointly_included=tuple(significant),
    )


def select_relevant(
    tests: Step,
    pool: FeaturePool,
    minimal: Features,
    column_names: Sequence[str],
    max_columns: float,
) -> list[Feature]:
    """Return the relevant features outside the minimal set, by p-value and score.

    They are those with significant marginal information, and duplicates of any relevant column. At
    most `max_columns` columns.
    """
    names = {*tests.jointly_included, *(feature.name for feature in minimal)}
    relevant = [candidate for candidate in pool.candidates if candidate.name in names]
    strength = zip(tests.p_values, (-score for score in tests.scores), strict=True)
    rank = dict(zip(tests.candidates, strength, strict=True))
    singles = {feature.columns: feature for feature in relevant}
    found = [(rank[f.name], f.columns, f) for f in relevant if f not in minimal]
    for copy, original in pool.duplicates.items():
        if (feature := singles.get((original,))) is not None:
            duplicate = Feature(column_names[copy], (copy,), feature.block)
            found.append((rank[feature.name], duplicate.columns, duplicate))
    selected = []
    for *_, feature in sorted(found, key=lambda one: one[:2]):
        if len(feature.columns) <= max_columns:
            max_columns -= len(feature.columns)
            selected.append(feature)
    return selected
