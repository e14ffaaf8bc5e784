"""The course of a selection: from what users set to an inquiry and a plan, then phase by phase."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.base import clone

from pidselect.data import Block, Dataset, IntArray, is_constant
from pidselect.estimators import is_portfolio, resolve, resolve_members
from pidselect.selection.backward import (
    STATISTICS,
    backward,
    each_given_the_others,
    final_p_values,
)
from pidselect.selection.context import NamedEstimator, SelectionContext
from pidselect.selection.criteria import Conditional
from pidselect.selection.forward import SelectionPlan, forward
from pidselect.selection.pool import Feature, FeaturePool
from pidselect.selection.relevance import fixed_n_permutations
from pidselect.selection.result import Selection, Step
from pidselect.selection.step_test import evaluate_weakest
from pidselect.selection.validation import (
    STORE_SHARE,
    check_lookahead,
    to_bytes,
    to_criterion,
    to_n_permutations,
    to_schemes,
)
from pidselect.significance import (
    FINAL,
    SUBSAMPLE,
    check_groups,
    maximum_statistic,
    permutations,
)

if TYPE_CHECKING:
    from pidselect.selection.selector import PIDSelector


def sample_rows(max_samples: int | None, target: Block, seed: int) -> IntArray | None:
    """Draw a random part of the samples if there are too many; None stands for all."""
    if max_samples is None or target.n_samples <= max_samples:
        return None
    shuffled = permutations((seed, SUBSAMPLE), range(1, 2), target.n_samples)[0]
    rows = np.sort(shuffled[:max_samples]).astype(np.int64)
    if all(is_constant(column.values) for column in target.take(rows).columns):
        raise ValueError(
            f"The target is constant in a random part of max_samples={max_samples} samples. Allow "
            "more of them."
        )
    return rows


def choose_members(estimator: Any, criterion: Any, problem: Dataset) -> tuple[NamedEstimator, ...]:
    """Return copies of the estimators, chosen by the columns that can take part."""
    skipped = problem.table.skipped
    usable = (c for index, c in enumerate(problem.table.columns) if index not in skipped)
    block = Block((*problem.target.columns, *usable))
    if not to_criterion(criterion).takes_portfolio:
        if isinstance(estimator, tuple | list):
            raise ValueError(
                f"criterion={criterion!r} takes one estimator, not several as in "
                f"estimator={estimator!r}: its redundancy would be lost among surrogates. Name "
                "one, or 'auto'."
            )
        estimator = resolve(cast(Any, estimator), block)
    chosen = resolve_members(estimator, block)
    return tuple(NamedEstimator(name, clone(one, safe=False)) for name, one in chosen)


def members_of(selector: PIDSelector) -> tuple[NamedEstimator, ...]:
    """Return the estimators of a fit under the names of its record."""
    used = selector.estimator_
    if not isinstance(used, tuple):
        return (NamedEstimator(type(used).__name__, used),)
    names = selector.selection_.settings["estimator"]
    return tuple(NamedEstimator(name, one) for name, one in zip(names, used, strict=True))


def make_plan(selector: PIDSelector, line: FeaturePool) -> SelectionPlan:
    """Return how to go forward."""
    criterion = to_criterion(selector.criterion)
    if criterion.is_cmi and selector.max_conditioning is not None:
        criterion = Conditional(int(selector.max_conditioning))
    return SelectionPlan(
        criterion=criterion,
        max_features=line.room(selector.max_features),
        search=check_lookahead(selector),
        statistic=None if selector.backward is None else STATISTICS[selector.backward],
    )


def make_context(
    selector: PIDSelector,
    problem: Dataset,
    members: tuple[NamedEstimator, ...],
    groups: IntArray | None,
    seed: int,
) -> SelectionContext:
    """Put together what all steps share, NumPy's numbers made plain ones.

    Parameters
    ----------
    selector : PIDSelector
    problem : Problem
        The samples to use.
    members : tuple of Member
    groups : array of int, optional
        The group of every row that was passed, of which the problem may hold a part.
    seed : int
    """
    schemes = to_schemes(selector.surrogates)
    if groups is not None:  # numbered anew, as if the rows left out had never been there
        groups = cast(IntArray, check_groups(groups[problem.rows], len(problem.rows)))
        if to_n_permutations(selector.n_permutations) != 0:
            search = check_lookahead(selector)
            smallest = search.share(float(selector.alpha), search.n_levels)
            check_can_move(groups, problem.target, schemes, smallest)
    standardised = is_portfolio(selector.estimator)
    return SelectionContext(
        target=problem.target,
        members=members,
        is_portfolio=standardised and to_criterion(selector.criterion).takes_portfolio,
        alpha=float(selector.alpha),
        n_permutations=to_n_permutations(selector.n_permutations),
        surrogates=schemes,
        shared_permutations=bool(selector.shared_permutations),
        groups=groups,
        seed=seed,
        n_jobs=selector.n_jobs,
        max_memory=max(1, int((1 - STORE_SHARE) * to_bytes(selector.max_memory))),
        device=selector.device,
    )


def check_can_move(groups: IntArray, target: Block, schemes: Sequence[str], alpha: float) -> None:
    """Refuse groups that leave nothing to be rearranged, so that nothing could be significant."""
    if "blocks" in schemes:
        sizes = np.bincount(np.bincount(groups))
        arrangements = math.prod(math.factorial(min(int(count), 20)) for count in sizes[1:])
        if 1.0 / arrangements > alpha:
            raise ValueError(
                f'surrogates="blocks": the {groups.max() + 1} groups can be arranged in '
                f"{arrangements} ways only, so that no p-value could go below 1/{arrangements} and "
                f"nothing could be significant at alpha={alpha:g}. More groups of the same size "
                "are needed."
            )
    if any(scheme != "blocks" for scheme in schemes):
        pairs = np.stack([groups, target.codes()], axis=1)
        if len(np.unique(pairs, axis=0)) == groups.max() + 1:
            raise ValueError(
                "the target does not vary within any of the groups, so that rearranging rows "
                'within them changes nothing and nothing could be significant: surrogates="blocks" '
                "exchanges whole groups."
            )


def run(
    context: SelectionContext, line: FeaturePool, plan: SelectionPlan
) -> tuple[list[Feature], list[Step], dict[str, float]]:
    """Go forward, then backward, then see what each feature is worth beside all others.

    Returns
    -------
    features : list of Feature, in the order of inclusion
    steps : list of Step
    final : dict of str to float
        The final p-value of every feature; none if nothing was tested.
    """
    features, steps = forward(context, line.kept, line.candidates, plan)
    if context.n_permutations == 0 or not plan.criterion.prunes:
        return features, steps, {}
    evidence = None
    if plan.statistic is not None:
        features, more, evidence = backward(context, line.kept, features, plan.statistic)
        steps += more
    if features and (evidence is None or context.n_permutations is None):
        # A test that ends early is settled for the weakest feature, not for all of them.
        evidence = None  # and with it go the neighbours that were sorted for it
        settled = replace(context, n_permutations=fixed_n_permutations(context))
        question = each_given_the_others(settled, line.kept, features, (FINAL, 0))
        _, evidence = evaluate_weakest(question, maximum_statistic, "final")
    if evidence is None:
        return features, steps, {}
    names = [feature.name for feature in features]
    return features, steps, dict(zip(names, final_p_values(evidence), strict=True))


def blank_record(
    selector: PIDSelector,
    problem: Dataset,
    line: FeaturePool,
    context: SelectionContext,
    library: str | None,
) -> Selection:
    """Return the record of a fit of which no step is decided yet.

    Parameters
    ----------
    selector : PIDSelector
    problem : Problem
    line : Line
    inquiry : Inquiry
    library : str, optional
        The one that the caller's frames are of.
    """
    names = problem.table.names
    return Selection(
        features=(),
        fixed_features=tuple(feature.name for feature in line.kept),
        steps=(),
        duplicates={names[copy]: names[original] for copy, original in line.copies.items()},
        skipped={names[column]: reason for column, reason in line.skipped.items()},
        settings=describe(selector, context),
        frame_library=library,
    )


def describe(selector: PIDSelector, context: SelectionContext) -> dict[str, Any]:
    """Return what the record says of how to repeat it."""
    most = selector.max_conditioning
    criterion = to_criterion(selector.criterion)
    schemes = [s for s in context.surrogates if s != "local" or criterion.takes_portfolio]
    estimators = {member.name: repr(member.estimator) for member in context.members}
    (first, *_) = estimators.values()
    return {
        "criterion": repr(selector.criterion).strip("'"),
        "estimator": estimators if context.is_portfolio else first,
        "alpha": context.alpha,
        "n_permutations": "auto" if context.n_permutations is None else context.n_permutations,
        "n_pilot": context.n_pilot,
        "surrogates": tuple(schemes),
        "shared_permutations": context.shared_permutations,
        "n_groups": None if context.groups is None else len(np.unique(context.groups)),
        "backward": selector.backward,
        "lookahead": int(selector.lookahead),
        "n_random_starts": int(selector.n_random_starts),
        "max_conditioning": None if most is None else int(most),
        "seed": context.seed,
        "n_samples": context.target.n_samples,
        "target_types": context.target.feature_types,
    }
