"""Fit: from the parameters of a selector to a context and a plan, then phase by phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from pidselect.data import Block, Dataset, FloatArray, IntArray
from pidselect.estimators import BY_TYPES, KSG, resolve
from pidselect.selection.backward import STATISTICS, backward, cmi_given_others
from pidselect.selection.context import NamedEstimator, SelectionContext
from pidselect.selection.criteria import Conditional
from pidselect.selection.executor import DEVICES, Executor
from pidselect.selection.forward import SelectionPlan, forward
from pidselect.selection.pool import Feature, FeaturePool
from pidselect.selection.relevance import marginal_tests, select_relevant
from pidselect.selection.result import Selection, Settings, Step, last_step
from pidselect.selection.rows import UsedRows, choose_rows, take_rows
from pidselect.selection.scoring import bits_shown, information_given
from pidselect.selection.step_test import run_test
from pidselect.selection.swap import swap
from pidselect.selection.validation import Parameters
from pidselect.significance.permutation_test import first_smallest
from pidselect.significance.rng import FINAL
from pidselect.significance.row_orders import GIVEN_ONLY
from pidselect.significance.staged import ScoreTest
from pidselect.significance.surrogates import check_groups, count_block_orders, permute_blocks

if TYPE_CHECKING:
    from pidselect.selection.selector import PIDSelector

#: Rounds of swaps, each followed by forward selection and backward elimination.
MAX_SWAPS = 3


def select_features(
    context: SelectionContext, pool: FeaturePool, plan: SelectionPlan
) -> tuple[list[Feature], list[Step], dict[str, float]]:
    """Run forward selection, backward elimination and the final test of all selected features.

    After the elimination, selected features may be swapped for others; if any was removed or
    swapped, both phases go on. Returns the features in the order of inclusion, the steps, and the
    final p-value of every feature (none if nothing was tested).
    """
    fixed, candidates = pool.fixed, pool.candidates
    features, steps = forward(context, fixed, candidates, plan)
    if context.n_permutations == 0 or plan.criterion.permutes_target:
        return features, steps, {}
    final: dict[str, float] = {}
    if plan.statistic is not None:
        features, more, final = backward(context, fixed, features, plan.statistic)
        steps += more
        for _ in range(plan.n_swaps if features else 0):
            is_changed = any(step.outcome == "removed" for step in more)
            features, more = swap(context, fixed, features, candidates, plan, steps)
            steps += more
            is_swapped = bool(more)
            if not is_changed and not is_swapped:
                break
            features, more = forward(context, fixed, candidates, plan, features, len(steps))
            steps += more
            if not is_swapped and not any(step.accepted for step in more):
                break  # the features are those of the last elimination
            features, more, final = backward(
                context, fixed, features, plan.statistic, n_steps=len(steps)
            )
            steps += more
    if features and not final:
        # A sequential test is decided for the weakest feature, not for all of them.
        number = context.n_permutations if context.score_test else context.fixed_n_permutations
        fixed_number = replace(context, n_permutations=number)
        scores = cmi_given_others(fixed_number, fixed, features, (FINAL, 0))
        final = run_test(scores, "final", first_smallest, step_down=True).final
    return features, steps, final


def run_phases(
    context: SelectionContext,
    pool: FeaturePool,
    plan: SelectionPlan,
    parameters: Parameters,
    blank: Selection,
    names: Sequence[str],
) -> tuple[Selection, list[Feature], tuple[FloatArray, FloatArray, IntArray], list[int]]:
    """Return the record, the features of the minimal set, scores of columns and those selected."""
    features, steps, final = select_features(context, pool, plan)
    marginal, others = None, list[Feature]()
    if parameters.select == "relevant" and pool.candidates:
        marginal = marginal_tests(context, pool.fixed, pool.candidates, context.alpha)
        most = plan.remaining_columns(features)
        others = select_relevant(marginal, pool, features, names, most)
    record = replace(
        blank,
        features=tuple(feature.name for feature in features),
        steps=tuple(steps),
        p_values=final,
        bits_added=bits_shown(context, (*pool.fixed, *features)),
        also_relevant=tuple(feature.name for feature in others),
        marginal=marginal,
    )
    by_cmi = plan.criterion.is_cmi
    columns = score_columns(context, pool, features, steps, final, len(names), by_cmi, others)
    selected = [column for f in (*pool.fixed, *features, *others) for column in f.columns]
    return record, features, columns, selected


def choose_estimator(
    selector: PIDSelector, parameters: Parameters, dataset: Dataset
) -> NamedEstimator:
    """Return a copy of the estimator; a name may stand for one by the types of the columns."""
    estimator = cast(Any, selector.estimator)
    if parameters.is_scored:
        return NamedEstimator("score test", ScoreTest())
    skipped = dataset.table.skipped
    usable = (c for index, c in enumerate(dataset.table.columns) if index not in skipped)
    block = Block((*dataset.target.columns, *usable))
    if isinstance(estimator, str) and estimator in BY_TYPES:
        estimator = BY_TYPES[estimator](block)
    chosen = resolve(estimator, block)
    classes = [column for column in dataset.target.columns if column.feature_type == "nominal"]
    if classes and isinstance(chosen, KSG):  # most neighbours tie in y
        raise ValueError(
            f"KSG needs a target of numbers, but {classes[0].name!r} has {classes[0].levels()} "
            'class labels. Use estimator="mixed", state feature_types={"target": "continuous"} if '
            "they are numbers, or add noise to them, as in the paper's experiment I."
        )
    name = str(estimator) if isinstance(estimator, str) else type(chosen).__name__
    return NamedEstimator(name, clone(chosen, safe=False))


def make_plan(parameters: Parameters, pool: FeaturePool) -> SelectionPlan:
    """Return the plan of the selection."""
    criterion, statistic = parameters.criterion, parameters.backward
    if criterion.is_cmi and parameters.max_conditioning is not None:
        criterion = Conditional(parameters.max_conditioning)
    # A swap is decided given all other selected features; the paper's algorithm has none.
    swaps = parameters.is_scored and criterion.is_cmi and parameters.max_conditioning is None
    return SelectionPlan(
        criterion=criterion,
        max_features=pool.remaining_columns(parameters.max_features),
        lookahead=parameters.search,
        statistic=None if statistic is None else STATISTICS[statistic],
        n_swaps=MAX_SWAPS if swaps else 0,
    )


def make_context(
    parameters: Parameters,
    dataset: Dataset,
    estimator: NamedEstimator,
    groups: IntArray | None,
    seed: int,
) -> tuple[UsedRows, Dataset, SelectionContext]:
    """Return the rows to use, the data in them, and the context; `groups` are of all rows."""
    used = choose_rows(
        parameters.max_samples,
        estimator,
        parameters.surrogates,
        dataset.target,
        None if groups is None else groups[dataset.rows],
        seed,
    )
    dataset = take_rows(dataset, used.rows)
    if groups is not None:  # numbered again, without the rows left out
        groups = cast(IntArray, check_groups(groups[dataset.rows], len(dataset.rows)))
        if parameters.n_permutations != 0:
            schemes, alpha = parameters.surrogates, parameters.smallest_alpha
            check_permutable(groups, dataset.target, schemes, alpha)
    if parameters.is_scored and parameters.surrogates == ("blocks",):
        permute_blocks(Block(), dataset.target.n_samples, groups)  # refuses what cannot be permuted
    context = SelectionContext(
        target=dataset.target,
        estimator=estimator,
        alpha=parameters.alpha,
        n_permutations=parameters.n_permutations,
        surrogates=parameters.surrogates,
        shared_permutations=parameters.shared_permutations,
        groups=groups,
        seed=seed,
        executor=Executor(parameters.n_jobs, DEVICES[parameters.device]),
    )
    return used, dataset, context


def check_permutable(groups: IntArray, target: Block, schemes: Sequence[str], alpha: float) -> None:
    """Refuse groups that leave too few permutations for any p-value to reach alpha."""
    if "blocks" in schemes:
        n_orders = count_block_orders(groups)
        if 1.0 / n_orders > alpha:
            raise ValueError(
                f'surrogates="blocks": the {groups.max() + 1} groups have {n_orders} permutations '
                f"only, so that no p-value is below 1/{n_orders} and nothing can be significant at "
                f"alpha={alpha:g}. More groups of the same size are needed."
            )
    if any(scheme != "blocks" for scheme in schemes):
        pairs = np.stack([groups, target.codes()], axis=1)
        if len(np.unique(pairs, axis=0)) == groups.max() + 1:
            raise ValueError(
                "The target is constant within every group, so that permutations within groups "
                'change nothing and nothing can be significant. Use surrogates="blocks", which '
                "permutes whole groups."
            )


def empty_record(
    selector: PIDSelector,
    parameters: Parameters,
    context: SelectionContext,
    used: UsedRows,
    pool: FeaturePool,
    names: Sequence[str],
) -> Selection:
    """Return the record of a fit without any steps."""
    keeps_target = not parameters.criterion.permutes_target
    criterion: Any = selector.criterion
    settings = Settings(
        criterion=str(criterion) if isinstance(criterion, str) else repr(criterion),
        estimator=repr(context.estimator.estimator),
        alpha=parameters.alpha,
        n_permutations="auto" if context.n_permutations is None else context.n_permutations,
        surrogates=tuple(s for s in context.surrogates if s not in GIVEN_ONLY or keeps_target),
        shared_permutations=context.shared_permutations,
        n_groups=None if context.groups is None else len(np.unique(context.groups)),
        backward=parameters.backward,
        lookahead=parameters.lookahead,
        n_random_starts=parameters.n_random_starts,
        select=parameters.select,
        max_conditioning=parameters.max_conditioning,
        seed=context.seed,
        n_samples=used.n_samples,
        n_neighbour_samples=used.n_neighbour_samples,
        target_types=context.target.feature_types,
    )
    return Selection(
        features=(),
        fixed_features=tuple(feature.name for feature in pool.fixed),
        steps=(),
        duplicates={names[copy]: names[original] for copy, original in pool.duplicates.items()},
        skipped={names[column]: reason for column, reason in pool.skipped.items()},
        settings=settings,
    )


def saved_settings(
    selector: PIDSelector,
    settings: Settings,
    parameters: Parameters,
    pool: FeaturePool,
    context: SelectionContext,
    names: Sequence[str],
) -> dict[str, Any]:
    """Return all settings that the result depends on, by which a checkpoint is recognised."""
    groups = {
        feature.name: [names[column] for column in feature.columns]
        for feature in (*pool.fixed, *pool.candidates)
        if len(feature.columns) > 1 or feature.name != names[feature.columns[0]]
    }
    return {
        **asdict(settings),
        "criterion": selector.criterion,
        "estimator": [context.estimator.name, context.estimator.estimator],
        "fixed_features": [feature.name for feature in pool.fixed],
        "feature_groups": groups,
        "max_features": parameters.max_features,
        "max_samples": parameters.max_samples,
        "missing": parameters.missing,
    }


#: Columns outside the selected set whose information is estimated beside the score test, at most.
MOST_ESTIMATED = 200


def score_columns(
    context: SelectionContext,
    pool: FeaturePool,
    selected: Sequence[Feature],
    steps: Sequence[Step],
    final: Mapping[str, float],
    n_columns: int,
    by_cmi: bool,
    also_relevant: Sequence[Feature] = (),
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return scores given the selected columns, p-values of the tests and ranks of all columns.

    `by_cmi` is whether forward selection tested the conditional mutual information. Features that
    are `also_relevant` are of rank 1, but not conditioned on.
    """
    p_of, known = dict(final), dict[str, float]()
    names = {feature.name for feature in (*pool.fixed, *selected)}
    last = last_step(steps, "forward")
    # By any criterion, the first step tests I(c; y).
    if last and not last.accepted and (by_cmi or not names) and {*last.conditioning_set} == names:
        p_of |= dict(zip(last.candidates, last.p_values, strict=False))
        known |= dict(zip(last.candidates, last.values, strict=True))
    last = last_step(steps, "backward")
    if last and last.accepted and {*last.conditioning_set} == names:
        known |= dict(zip(last.candidates, last.values, strict=True))
    known = {name: value for name, value in known.items() if not np.isnan(value)}
    given = [feature for feature in (*pool.fixed, *selected) if len(feature.block)]
    inside = [feature for feature in given if feature.name not in known]
    outside = [c for c in pool.candidates if c not in selected and c.name not in known]
    if context.score_test is not None and len(outside) > MOST_ESTIMATED:
        outside = []
    sets = [[other for other in given if other is not feature] for feature in inside]
    values = information_given(context, [*inside, *outside], sets + [given] * len(outside))
    unknown = (feature.name for feature in (*inside, *outside))
    bits = known | dict(zip(unknown, values.tolist(), strict=True))
    scores, p_values = np.full(n_columns, np.nan), np.full(n_columns, np.nan)
    is_selected = np.zeros(n_columns, dtype=bool)
    for feature in (*pool.fixed, *pool.candidates):
        columns = list(feature.columns)
        scores[columns] = bits.get(feature.name, np.nan)
        p_values[columns] = p_of.get(feature.name, np.nan)
        is_selected[columns] = feature in pool.fixed or feature in selected
    for copy, original in pool.duplicates.items():
        # Given its original, a duplicate has no information.
        scores[copy] = 0.0 if is_selected[original] else scores[original]
        p_values[copy] = np.nan if is_selected[original] else p_values[original]
    for feature in also_relevant:
        is_selected[list(feature.columns)] = True
    return scores, p_values, _ranking(scores, p_values, is_selected)


def _ranking(scores: FloatArray, p_values: FloatArray, is_selected: NDArray[np.bool_]) -> IntArray:
    """Return 1 for selected columns, and 2, 3, ... for the others; those without a p-value last.

    Examples
    --------
    >>> _ranking(np.array([0.5, 0.1, 0.0, 0.2]), np.array([0.01, 0.3, np.nan, 0.3]),
    ...          np.array([True, False, False, False]))
    array([1, 3, 4, 2])
    """
    order = np.lexsort((-np.nan_to_num(scores, nan=-1.0), p_values))
    others = order[~is_selected[order]]
    ranking = np.ones(len(scores), dtype=np.int64)
    ranking[others] = np.arange(2, len(others) + 2)
    return ranking
