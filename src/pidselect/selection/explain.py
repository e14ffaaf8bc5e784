"""`PIDSelector.explain`: read the data as in the fit, test the roles, decompose the information."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed

from pidselect.data import (
    Block,
    Dataset,
    FeatureType,
    FloatArray,
    IntArray,
    Missing,
    Table,
    check_choice,
    collect,
    frame_library,
    is_constant,
    n_rows,
    read_dataset,
)
from pidselect.data.feature_types import TARGET
from pidselect.data.input import column_names
from pidselect.decomposition.atoms import Atoms, decompose_feature
from pidselect.decomposition.explain import Samples, explain
from pidselect.decomposition.explanation import DIGITS, Explanation, FeatureExplanation, Role
from pidselect.decomposition.measures import MEASURES
from pidselect.decomposition.posterior import SharedFraction
from pidselect.estimators import Batch, Estimator
from pidselect.estimators.mutual_information import varying as varying_columns
from pidselect.estimators.predictive import gains
from pidselect.selection.context import NamedEstimator, SelectionContext
from pidselect.selection.fit import make_context
from pidselect.selection.pool import Feature, FeaturePool, Features, joint_block, read_groups
from pidselect.selection.progress import current_observer
from pidselect.selection.relevance import Relevance, assess
from pidselect.selection.result import Selection, Step, last_step
from pidselect.selection.resume import digest
from pidselect.selection.rows import random_part
from pidselect.selection.scoring import BIT, bits_shown, information_given, information_of_set
from pidselect.selection.validation import check_columns, check_parameters
from pidselect.significance.permutation_test import is_significant
from pidselect.significance.rng import DECOMPOSITION, permutations
from pidselect.significance.surrogates import check_groups
from pidselect.significance.validation import check_count

if TYPE_CHECKING:
    from pidselect.selection.selector import PIDSelector


#: Candidates of a step that are decomposed: those with the most information.
MOST_CANDIDATES = 50

IN_SAMPLE = (
    "values are optimistic, as these are the samples of the fit; held-out samples can be passed "
    "instead."
)
OUT_OF_SAMPLE = "values are optimistic as far as these samples include some of the fit."
AT_MAX_FEATURES = (
    "the selection ended at max_features: features that are not selected may add to the selected "
    "ones."
)
MINIMAL_SET = 'with select="relevant", the selected features are here those of the minimal set.'
LOWER_BOUND = (
    'a value with "at least" still grows with the number of samples by more than the width of its '
    "interval: nearest neighbours in so many dimensions underestimate it."
)

TESTED = (
    "roles are results of tests of these rows at level {:g}: a selected feature is strongly "
    "relevant if it is significant given all the others, else weakly relevant; any other feature "
    "adds to the selected set if it is significant given all selected ones, and is weakly relevant "
    "if its marginal information is significant."
)
RECORDED = (
    "roles are results of the tests of the fit at level {:g}: a selected feature is strongly "
    "relevant if it is significant given all the others, else weakly relevant; any other feature "
    "is weakly relevant if its marginal information was significant."
)
UNTESTED = "n_permutations=0, nothing was tested: roles only show what was selected."

#: Subsamples by which intervals are computed, each of half of the rows or so many, and features
#: that are not selected with an interval.
N_SUBSAMPLES, SUBSAMPLE_ROWS, MOST_INTERVALS = 25, 1000, 30

#: Fewest rows of a subsample.
LEAST_ROWS = 10

#: Rows that states of posteriors are estimated from, at most.
MOST_ROWS = 20_000


def explain_fit(
    selector: PIDSelector, X: Any, y: Any, groups: Any, measure: str, bins: int, path: bool
) -> Explanation:
    """Explain the selection of a fitted selector; see `PIDSelector.explain`."""
    check_choice(measure, ("auto", *MEASURES), "measure")
    bins = check_count(bins, "bins", at_least=2)
    record, X = selector.selection_, collect(X)
    dataset, table, context = _read(selector, X, y, groups)
    settings, observer = record.settings, context.executor.observer
    in_sample = data_digest(dataset) == selector._digest
    of_columns = selector.feature_groups
    grouped = {} if of_columns is None else read_groups(table, of_columns)
    features = _features(record, table, grouped)
    can_test = groups is not None or settings.n_groups is None
    roles, note = _roles(context if can_test else None, features, record, in_sample)
    observer.on_stage("atoms", len(features), len(features))
    selected = [features[name] for name in (*record.fixed_features, *record.features)]
    bits_added = bits_shown(context, selected)
    varying = [feature for feature in selected if len(feature.block)]
    sets = {n: tuple(one for one in varying if one is not f) for n, f in features.items()}
    assessed, of_others = _assessed(selector, context, features, sets, roles, bits_added, in_sample)
    part = _rows_of_states(context)
    subsamples = _subsamples(context, len(part))
    others = sorted((one for one in assessed if not one.selected), key=lambda f: -(f.added or 0))
    some = (*(one for one in assessed if one.selected), *others[:MOST_INTERVALS])
    wanted = {one.name: features[one.name] for one in some}
    resampled = subsample_information(context, wanted, sets, part[subsamples])
    blocks = {name: feature.block.take(part) for name, feature in features.items()}
    target = context.target.take(part)
    fraction = SharedFraction(target, measure, bins, settings.seed)
    assessed += _excluded(record, table, grouped, features)
    # Counts are of all rows, and only their shared fractions and intervals of a part of them.
    by_counts = len(part) < context.target.n_samples
    notes = [note, IN_SAMPLE if in_sample else OUT_OF_SAMPLE]
    notes += [MINIMAL_SET] * (settings.select == "relevant")
    if len(part) < (n_all := dataset.target.n_samples):
        what = "shared fractions and intervals" if by_counts else "values"
        notes.append(f"{what} are of a random {len(part):,} of {n_all:,} rows.")
    last = last_step(record.steps, "forward")
    if last and last.accepted and len(last.candidates) > 1:
        notes.append(AT_MAX_FEATURES)
    explanation = explain(
        assessed,
        Samples(blocks, resampled, of_others),
        target,
        fraction,
        bits_added=bits_added,
        pairwise=_pairwise(context, selected),
        subsamples=subsamples,
        alpha=settings.alpha,
        is_sequential=record.is_sequential,
        notes=notes,
        n_jobs=context.executor.n_jobs,
    )
    if any(one.is_lower_bound for one in explanation):
        explanation = replace(explanation, notes=(*explanation.notes, LOWER_BOUND))
    if path:
        own = {one.name: one.information for one in assessed if one.information is not None}
        detailed = with_path_atoms(record, context, features, own, fraction, part, subsamples)
        explanation = replace(explanation, path=detailed)
    observer.on_progress(len(features))
    n_samples = context.target.n_samples if by_counts else len(part)
    explanation = replace(explanation, in_sample=in_sample, n_samples=n_samples)
    return explanation.in_library(frame_library(X))


def _read(
    selector: PIDSelector, X: Any, y: Any, groups: Any
) -> tuple[Dataset, Table, SelectionContext]:
    """Return the data read as in the fit, the rows of the table in use, and the context."""
    parameters, settings = check_parameters(selector), selector.selection_.settings
    check_columns(selector, X)
    dataset = read_like_fit(
        X, y, selector.feature_types_, settings.target_types, parameters.missing
    )
    names, fitted = dataset.target.names, selector._target
    if dataset.has_target_names and fitted is not None and names != fitted:
        raise ValueError(
            f"y has the column(s) {', '.join(map(repr, names))}, but the selector was fitted with "
            f"{', '.join(map(repr, fitted))}. Pass the same target, its columns in the same order."
        )
    codes, used = check_groups(groups, n_rows(X)), selector.estimator_
    named = NamedEstimator(type(used).__name__, used)
    _, taken, context = make_context(parameters, dataset, named, codes, settings.seed)
    executor = replace(context.executor, observer=current_observer())
    return dataset, taken.table, replace(context, executor=executor)


def _assessed(
    selector: PIDSelector,
    context: SelectionContext,
    features: Mapping[str, Feature],
    sets: Mapping[str, Features],
    roles: Mapping[str, Relevance],
    bits_added: Mapping[str, float],
    in_sample: bool,
) -> tuple[list[FeatureExplanation], dict[str, float]]:
    """Return all features of the fit with roles and information, and that of the others of each."""
    record = selector.selection_
    selected = (*record.fixed_features, *record.features)
    varying = {name: feature for name, feature in features.items() if len(feature.block)}

    def given(some: Sequence[Features]) -> dict[str, float]:
        values = information_given(context, list(varying.values()), some).tolist()
        return dict.fromkeys(features, 0.0) | dict(zip(varying, values, strict=True))

    information, added = given([()] * len(varying)), given([sets[name] for name in varying])
    joint = math.fsum(bits_added.values())
    of_others = {
        name: information_of_set(
            information, added[name] if name in selected else 0.0, joint, [f.name for f in others]
        )
        for name, others in sets.items()
    }
    types = selector.feature_types_
    in_fit = dict(zip(types, selector.scores_.tolist(), strict=True))
    assessed = [
        FeatureExplanation(
            name,
            roles[name].role,
            name in selected,
            types.get(name, "group"),
            information[name],
            added[name],
            p_value=roles[name].p_value,
            marginal_p_value=roles[name].marginal_p_value,
            added_in_fit=None if in_sample or name not in in_fit else round(in_fit[name], DIGITS),
        )
        for name in features
    ]
    return assessed, of_others


def _pairwise(context: SelectionContext, selected: Sequence[Feature]) -> FloatArray:
    """Return I(f; y | g) of all pairs of selected features in bits, shape (n, n)."""
    values = np.zeros((len(selected), len(selected)))
    varying = [place for place, feature in enumerate(selected) if len(feature.block)]
    pairs = [(i, j) for i in varying for j in varying if i != j]
    features = [selected[i] for i, _ in pairs]
    found = information_given(context, features, [(selected[j],) for _, j in pairs])
    for (i, j), value in zip(pairs, found, strict=True):
        values[i, j] = value
    return values


def _rows_of_states(context: SelectionContext) -> IntArray:
    """Return the rows of the atoms: those of nearest neighbours, and not too many."""
    n_samples = context.target.n_samples
    if n_samples <= MOST_ROWS:
        return np.arange(n_samples)
    return random_part(MOST_ROWS, context.target, context.groups, context.seed)


def _subsamples(context: SelectionContext, n_rows: int) -> IntArray:
    """Return the rows of random subsamples, shape (N_SUBSAMPLES, m); none of too few rows."""
    size = min(n_rows // 2, SUBSAMPLE_ROWS)
    n_neighbours = getattr(context.estimator.estimator, "k", 0)
    n_subsamples = N_SUBSAMPLES if size >= max(LEAST_ROWS, n_neighbours + 2) else 0
    orders = permutations((context.seed, DECOMPOSITION, 3), range(1, n_subsamples + 1), n_rows)
    return np.sort(orders[:, :size].astype(np.int64), axis=1)


def read_like_fit(
    X: Any,
    y: Any,
    feature_types: Mapping[str, FeatureType],
    target_types: Sequence[FeatureType],
    missing: Missing,
) -> Dataset:
    """Read data with the feature types and under the column names of the fit."""
    names = column_names(X)  # differ from those of the fit if one of both is an array
    types = dict(zip(names, feature_types.values(), strict=True))
    if len(set(target_types)) == 1:
        types = {TARGET: target_types[0], **types}
    dataset = read_dataset(X, y, feature_types=types, missing=missing)
    if len(dataset.target) != len(target_types):
        raise ValueError(
            f"y has {len(dataset.target)} column(s), but the selector was fitted with "
            f"{len(target_types)}. Pass the same target."
        )
    target = Block(
        tuple(
            replace(column, feature_type=feature_type)
            for column, feature_type in zip(dataset.target.columns, target_types, strict=True)
        )
    )
    columns = zip(dataset.table.columns, feature_types, strict=True)
    table = Table(tuple(replace(column, name=name) for column, name in columns))
    return replace(dataset, table=table, target=target)


def data_digest(dataset: Dataset) -> str:
    """Return a hash of all values; not of labels, which depend on the type of the input."""
    columns = (*dataset.table.columns, *dataset.target.columns)
    return digest(*(digest(column.values.tobytes()) for column in columns)).hex()


def _features(
    record: Selection, table: Table, grouped: Mapping[str, tuple[int, ...]]
) -> dict[str, Feature]:
    """Return all features of the fit: fixed ones, selected ones, then the other candidates.

    Columns that are constant in the table are left out of their features.
    """
    columns = {**{name: (index,) for index, name in enumerate(table.names)}, **grouped}
    names = recorded_roles(record)
    if changed := [name for name in names if name not in columns]:
        raise ValueError(
            f"the selection has a feature {changed[0]!r} that is neither a column nor one of "
            "feature_groups: parameters were changed after fit. Fit again."
        )
    usable = {
        index
        for index, column in enumerate(table.columns)
        if column.name not in record.skipped and not is_constant(column.values)
    }
    return {
        name: Feature(name, columns[name], table.block(i for i in columns[name] if i in usable))
        for name in names
    }


def _excluded(
    record: Selection,
    table: Table,
    grouped: Mapping[str, tuple[int, ...]],
    features: Mapping[str, Feature],
) -> list[FeatureExplanation]:
    """Return the role of columns and groups that were no candidates, and the reason."""
    reasons: dict[str, tuple[Role, str]] = {
        **{name: ("duplicate", original) for name, original in record.duplicates.items()},
        **{name: ("skipped", reason) for name, reason in record.skipped.items()},
    }
    in_groups = {table.names[index] for indices in grouped.values() for index in indices}
    for name in (*table.names, *grouped):
        if name not in in_groups or name in grouped:
            reasons.setdefault(name, ("skipped", "not tested, as max_features was reached"))
    return [
        FeatureExplanation(name, role, False, reason=reason)
        for name, (role, reason) in reasons.items()
        if name not in features
    ]


def _roles(
    context: SelectionContext | None,
    features: Mapping[str, Feature],
    record: Selection,
    in_sample: bool,
) -> tuple[dict[str, Relevance], str]:
    """Return roles and p-values: those of the fit for its rows, else by new tests; and a note.

    Without a context, there are no groups of rows to permute within: roles are those of the fit.
    """
    is_tested = record.settings.n_permutations != 0
    # Criteria other than conditional mutual information have no final tests.
    is_decided = is_tested and bool(record.p_values or not record.features)
    if context is None or (in_sample and is_decided):
        roles = recorded_roles(record)
        final = marginal = dict[str, float]()
        if in_sample:
            final = _final_p_values(record)
            first = next((step for step in record.steps if step.phase == "forward"), None)
            of_marginal = (step for step in (record.marginal, first) if step and step.p_values)
            if step := next((step for step in of_marginal if not step.conditioning_set), None):
                marginal = dict(zip(step.candidates, step.p_values, strict=True))
        found = {
            name: Relevance(roles[name], final.get(name), marginal.get(name)) for name in features
        }
        return found, RECORDED.format(record.settings.alpha) if is_tested else UNTESTED
    if not is_tested:  # roles need a test even if the selection had none
        context = replace(context, n_permutations=None)
    fixed = [features[name] for name in record.fixed_features]
    selected = [features[name] for name in record.features]
    others = [f for f in features.values() if f not in fixed and f not in selected]
    return assess(context, fixed, selected, others), TESTED.format(context.alpha)


def recorded_roles(record: Selection) -> dict[str, Role]:
    """Return the roles that follow from the record of a selection alone.

    Selected features are strongly relevant if their final p-value is significant, else weakly. Of
    the others, those of ``select="relevant"`` are weakly relevant; without it those that were
    significant at the first step, given nothing but fixed features. All others are irrelevant;
    untested if nothing was tested.
    """
    alpha = record.settings.alpha
    tested = [step for step in record.steps if step.phase == "forward"]
    significant = {*record.also_relevant}
    if record.marginal is None and tested and tested[0].p_values:
        first = zip(tested[0].candidates, tested[0].p_values, strict=True)
        significant |= {name for name, p in first if is_significant(p, tested[0].alpha)}
    roles: dict[str, Role] = dict.fromkeys(record.fixed_features, "fixed")
    for name in record.features:
        is_strong = is_significant(record.p_values.get(name, 1.0), alpha)
        roles[name] = "strongly relevant" if is_strong else "weakly relevant"
    for step in (*tested, *filter(None, [record.marginal])):
        for name in step.candidates:
            roles.setdefault(name, "weakly relevant" if name in significant else "irrelevant")
    if record.settings.n_permutations == 0:
        return {name: "fixed" if role == "fixed" else "untested" for name, role in roles.items()}
    return roles


def roles_of_fit(record: Selection, pool: FeaturePool) -> dict[str, Role]:
    """Return the roles of all features of a fit, and of the columns that were no candidates."""
    roles: dict[str, Role] = recorded_roles(record)
    for candidate in pool.candidates:  # too wide for max_features
        roles.setdefault(candidate.name, "untested")
    roles |= dict.fromkeys(record.duplicates, "duplicate")
    for name in record.skipped:  # a fixed column may be constant
        roles.setdefault(name, "skipped")
    return roles


def _final_p_values(record: Selection) -> dict[str, float]:
    """Return the p-values of I(f; y | S) = 0: final ones, and those of the last forward step."""
    last, selected = last_step(record.steps, "forward"), {*record.fixed_features, *record.features}
    if last is None or last.accepted or {*last.conditioning_set} != selected:
        return dict(record.p_values)
    if selected and record.settings.criterion != "cmi":
        return dict(record.p_values)
    return dict(zip(last.candidates, last.p_values, strict=False)) | dict(record.p_values)


def with_path_atoms(
    record: Selection,
    context: SelectionContext,
    features: Mapping[str, Feature],
    information: Mapping[str, float],
    fraction: SharedFraction,
    rows: IntArray,
    subsamples: IntArray,
) -> Selection:
    """Return the record of a fit with the atoms of its steps.

    `information` is I(f; y) of all features in bits. `rows` are those of the states of `fraction`,
    `subsamples` some of them each, for the intervals of the chosen candidates. Tuples of look-ahead
    are not decomposed.
    """
    varying = {name: feature for name, feature in features.items() if len(feature.block)}
    steps: list[Step] = []
    for step in record.steps:
        order = np.lexsort((-np.array(step.scores), -np.array(step.values)))  # NaN last
        names = dict.fromkeys((step.chosen, *(step.candidates[place] for place in order)))
        candidates = [varying[name] for name in names if name in varying][:MOST_CANDIDATES]
        given = [varying[name] for name in step.conditioning_set if name in varying]
        sets = {one.name: tuple(f for f in given if f is not one) for one in candidates}
        added = information_given(context, candidates, [sets[one.name] for one in candidates])
        joint = math.fsum(bits_shown(context, given).values())
        chosen = {one.name: one for one in candidates if one.name == step.chosen}
        resampled = subsample_information(context, chosen, sets, rows[subsamples])
        states = {
            some: fraction.states_of_set(joint_block(some).take(rows)) for some in sets.values()
        }
        atoms: dict[str, Atoms] = {}
        for one, bits in zip(candidates, added.tolist(), strict=True):
            others = [other.name for other in sets[one.name]]
            found = decompose_feature(
                fraction,
                fraction.states_of_feature(one.block.take(rows)),
                states[sets[one.name]],
                information[one.name],
                bits,
                subsamples,
                resampled.get(one.name),
                information_of_set(information, bits if one in given else 0.0, joint, others),
            )
            if found is not None:
                atoms[one.name] = found
        steps.append(replace(step, atoms=atoms))
    return replace(record, steps=tuple(steps))


def subsample_information(
    context: SelectionContext,
    features: Mapping[str, Feature],
    sets: Mapping[str, Features],
    subsamples: IntArray,
) -> dict[str, FloatArray]:
    """Return I(f; y) and I(f; y | S) in bits in each subsample, shape (n_subsamples, 2).

    What regressions on S leave of f and y is that of all rows: intervals do not include the error
    of the regressions.
    """
    usable = {name: feature for name, feature in features.items() if len(feature.block)}
    marginal = _information_in_subsamples(context, list(usable.values()), (), subsamples)
    found = {name: np.zeros((len(subsamples), 2)) for name in features}
    for name, values in marginal.items():
        found[name][:, 0] = values
    by_set: dict[Features, list[Feature]] = {}
    for name, feature in usable.items():
        by_set.setdefault(tuple(sets[name]), []).append(feature)
    for given, some in by_set.items():
        conditional = (
            _information_in_subsamples(context, some, given, subsamples) if given else marginal
        )
        for feature in some:
            found[feature.name][:, 1] = conditional[feature.name]
    return {name: np.clip(values, 0.0, context.max_bits) for name, values in found.items()}


def _information_in_subsamples(
    context: SelectionContext, features: list[Feature], given: Features, subsamples: IntArray
) -> dict[str, FloatArray]:
    """Return the information of features given one set in bits, in each subsample."""
    target, block = context.target, joint_block(given)
    blocks = {feature.name: feature.block for feature in features}
    if context.score_test is not None:
        each = gains(target, block, list(blocks.values()), context.groups)
        means = each[:, subsamples].mean(axis=2)
        return dict(zip(blocks, means, strict=True))
    estimator = context.estimator.estimator
    run = Parallel(n_jobs=context.executor.n_jobs, prefer="threads")
    values = run(
        delayed(_information_in_rows)(estimator, target, block, list(blocks.values()), rows)
        for rows in subsamples
    )
    columns_of_values = np.array(values).reshape(len(subsamples), len(blocks)).T
    return dict(zip(blocks, columns_of_values, strict=True))


def _information_in_rows(
    estimator: Estimator, target: Block, given: Block, blocks: list[Block], rows: IntArray
) -> list[float]:
    """Return the information of each block in some of the rows, in bits."""
    some_target, some_given = varying_columns(target.take(rows)), varying_columns(given.take(rows))
    if not len(some_target):
        return [0.0] * len(blocks)
    taken = [varying_columns(block.take(rows)) for block in blocks]
    if len(blocks) == 1 and len(taken[0]) and hasattr(estimator, "estimate"):
        return [estimator.estimate(taken[0], some_target, some_given) / BIT]
    scorer = estimator.bind(some_target, some_given)
    scores = (scorer.score(Batch.observed(one))[0] if len(one) else 0.0 for one in taken)
    return [float(score) / BIT for score in scores]
