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

With ``select="relevant"`` a fit tests the first of these families for all candidates at level
alpha, and selects what is significant beside the minimal set.

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

from pidselect.decomposition.explanation import Role
from pidselect.selection.backward import cmi_given_others
from pidselect.selection.context import SelectionContext
from pidselect.selection.pool import Feature, FeaturePool, Features
from pidselect.selection.progress import StageName
from pidselect.selection.result import Step
from pidselect.selection.score_step import ScoreTestResult
from pidselect.selection.scoring import cmi_given, information_given
from pidselect.selection.step_test import PermutationTestResult, run_test
from pidselect.significance.permutation_test import fewest_permutations, is_significant
from pidselect.significance.rng import RELEVANCE

#: Random streams of the tests of selected features and of the others.
SELECTED_STREAM, OTHERS_STREAM = 0, 1


@dataclass(frozen=True)
class Relevance:
    """The role of a feature, and the tests that decided it.

    P-values are of I(f; y | S) = 0 and I(f; y) = 0, adjusted for all features and both families, to
    be compared with alpha; None if not tested.
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


def run_family(
    context: SelectionContext, features: Features, given: Features, stage: StageName = "roles"
) -> PermutationTestResult | ScoreTestResult:
    """Test I(f; y | T) of all features f given a set T, by the step-down maximum statistic."""
    scores = cmi_given(context, features, given, (RELEVANCE, OTHERS_STREAM))
    return run_test(scores, stage, step_down=True)


def _assess_selected(
    context: SelectionContext, fixed: Sequence[Feature], selected: Sequence[Feature]
) -> dict[str, Relevance]:
    """Test selected features given all others, and by themselves if there are no fixed ones."""
    scores = cmi_given_others(context, fixed, selected, (RELEVANCE, SELECTED_STREAM))
    p_values = run_test(scores, "roles", step_down=True).step_down
    marginal: list[float | None] = [None] * len(selected)
    if not fixed:
        marginal = [*run_family(_for_families(context, context.alpha), selected, ()).step_down]
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
    marginal = given_all = run_family(context, others, fixed).step_down
    if selected:
        given_all = run_family(context, others, (*fixed, *selected)).step_down
    found, can_add = {}, any(len(feature.block) for feature in (*fixed, *selected))
    for feature, *p_values in zip(others, given_all, marginal, strict=True):
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


def marginal_tests(
    context: SelectionContext, fixed: Features, candidates: Features, level: float
) -> Step:
    """Test I(c; y) of all candidates given the fixed features, as one family."""
    result = run_family(_for_families(context, level), candidates, fixed, "marginal")
    step = result.to_step("marginal", tuple(feature.name for feature in fixed), is_step_down=True)
    order = np.lexsort((-np.array(step.scores), np.array(step.p_values)))
    names = (candidates[place].name for place in order)
    p_values = (step.p_values[place] for place in order)
    found = (name for name, p in zip(names, p_values, strict=True) if is_significant(p, level))
    bits = information_given(context, candidates, [fixed] * len(candidates))
    return replace(
        step,
        values=tuple(bits.tolist()),
        critical_value=None,  # each candidate is compared with those that are not stronger
        jointly_included=tuple(found),
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
