"""`PIDSelector.explain`: read the data as in the fit, test the roles, decompose the information."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from pidselect.data import (
    Block,
    Dataset,
    FeatureType,
    IntArray,
    Missing,
    Table,
    check_choice,
    frame_library,
    is_constant,
    n_rows,
    read_dataset,
)
from pidselect.data.feature_types import TARGET
from pidselect.data.input import column_names
from pidselect.decomposition.explain import AssessedFeature, explain
from pidselect.decomposition.measures import MEASURES
from pidselect.decomposition.explanation import Explanation, Role
from pidselect.decomposition.source_pair import PIDStrategy
from pidselect.estimators import is_portfolio
from pidselect.selection.callbacks import active_callbacks
from pidselect.selection.checkpoint import digest
from pidselect.selection.context import SelectionContext
from pidselect.selection.fit import estimators_of, make_context, rows_in_use
from pidselect.selection.pool import Feature, FeaturePool, read_groups
from pidselect.selection.relevance import assess
from pidselect.selection.result import Selection, Step
from pidselect.selection.validation import check_columns, check_parameters
from pidselect.significance import check_groups, is_significant
from pidselect.significance.validation import check_count

if TYPE_CHECKING:
    from pidselect.selection.selector import PIDSelector


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


def explain_fit(
    selector: PIDSelector, X: Any, y: Any, groups: Any, measure: str, bins: int
) -> Explanation:
    """Explain the selection of a fitted selector; see `PIDSelector.explain`."""
    check_choice(measure, ("auto", *MEASURES), "measure")
    bins = check_count(bins, "bins", at_least=2)
    check_columns(selector, X)
    record = selector.selection_
    parameters, settings = check_parameters(selector), record.settings
    dataset = read_like_fit(
        X, y, selector.feature_types_, settings.target_types, parameters.missing
    )
    _check_target(dataset, selector._target)
    in_sample = data_digest(dataset) == selector._digest
    seed, callbacks = settings.seed, active_callbacks(record)
    codes, estimators = check_groups(groups, n_rows(X)), estimators_of(selector)
    used = rows_in_use(parameters, dataset, estimators, codes, seed)
    # All on the rows of nearest neighbours, so that the parts of a sum are of the same rows.
    n_all = dataset.target.n_samples
    dataset = take_rows(dataset, used.rows if used.of_neighbours is None else used.of_neighbours)
    context = None
    if groups is not None or settings.n_groups is None:
        standardised = is_portfolio(selector.estimator)
        context = make_context(parameters, dataset, estimators, standardised, codes, seed)
        context = replace(context, executor=replace(context.executor, callbacks=callbacks))
        if not in_sample:
            # So that selected features are tested, too.
            record = replace(record, p_values={}, also_relevant=(), marginal=None)
    groups_of_columns = selector.feature_groups
    grouped = {} if groups_of_columns is None else read_groups(dataset.table, groups_of_columns)
    features = _features(record, dataset.table, grouped)
    roles, note = _roles(context, features, record, in_sample)
    selected = (*record.fixed_features, *record.features)
    marginal = _marginal_p_values(record)
    final = _final_p_values(record)
    types = selector.feature_types_
    assignments = [
        AssessedFeature(
            name,
            roles[name],
            name in selected,
            feature.block,
            feature_type=types.get(name, "group"),
            p_value=final.get(name),
            marginal_p_value=marginal.get(name),
        )
        for name, feature in features.items()
    ]
    assignments += _excluded(record, dataset.table, grouped, features)
    fitted = selector.estimator_
    strategy = PIDStrategy(
        fitted[0] if isinstance(fitted, tuple) else fitted,
        measure,
        bins,
        seed,
        parameters.n_jobs,
        parameters.max_memory,
    )
    callbacks.on_stage("atoms", len(features), len(features))
    notes = [note, IN_SAMPLE if in_sample else OUT_OF_SAMPLE]
    if settings.select == "relevant":
        notes.append(MINIMAL_SET)
    if used.of_neighbours is not None:
        notes.append(
            f"values and tests are of a random {dataset.target.n_samples:,} of {n_all:,} rows."
        )
    forward = _forward_steps(record)
    if forward and forward[-1].accepted and len(forward[-1].candidates) > 1:
        notes.append(AT_MAX_FEATURES)
    is_sequential = settings.n_permutations == "auto"
    explanation = explain(
        assignments, dataset.target, strategy, notes, settings.alpha, is_sequential
    )
    callbacks.on_progress(len(features))
    return replace(explanation, in_sample=in_sample).in_library(frame_library(X))


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


def _check_target(dataset: Dataset, fitted: tuple[str, ...] | None) -> None:
    """Raise if the target has other names than in the fit; a target without names matches any."""
    names = dataset.target.names
    if dataset.has_target_names and fitted is not None and names != fitted:
        raise ValueError(
            f"y has the column(s) {', '.join(map(repr, names))}, but the selector was fitted with "
            f"{', '.join(map(repr, fitted))}. Pass the same target, its columns in the same order."
        )


def data_digest(dataset: Dataset) -> str:
    """Return a hash of all values; not of labels, which depend on the type of the input."""
    columns = (*dataset.table.columns, *dataset.target.columns)
    digests = "".join(digest(column.values) for column in columns)
    return blake2b(digests.encode(), digest_size=16).hexdigest()


def take_rows(dataset: Dataset, rows: IntArray | None) -> Dataset:
    """Return a dataset with some of its samples; None for all."""
    if rows is None:
        return dataset
    return replace(
        dataset,
        table=dataset.table.take(rows),
        target=dataset.target.take(rows),
        rows=dataset.rows[rows],
    )


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
) -> list[AssessedFeature]:
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
        AssessedFeature(name, role, False, Block(), reason)
        for name, (role, reason) in reasons.items()
        if name not in features
    ]


def _roles(
    context: SelectionContext | None,
    features: Mapping[str, Feature],
    record: Selection,
    in_sample: bool,
) -> tuple[dict[str, Role], str]:
    """Return the role of every feature by tests, without a context by the record, and a note."""
    if context is None:
        if record.settings.n_permutations == 0:
            note = "n_permutations=0, nothing was tested: roles only show what was selected."
        else:
            note = (
                "roles are results of the tests of the selection: a feature is weakly relevant if "
                "it was significant at any step, else irrelevant; no other subsets were tested."
            )
        return recorded_roles(record), note
    if context.n_permutations == 0:  # roles need a test even if the selection had none
        context = replace(context, n_permutations=None)
    fixed = [features[name] for name in record.fixed_features]
    selected = [features[name] for name in record.features]
    others = [f for f in features.values() if f not in fixed and f not in selected]
    may_add = not (in_sample and _is_exhausted(record, [f.name for f in others]))
    found = assess(context, fixed, selected, others, record.p_values, may_add)
    n_subsets = max((found[feature.name].n_subsets for feature in others), default=0)
    note = _test_note(n_subsets, len(selected), context.alpha)
    roles = {name: found[name].role for name in features}
    for name in record.also_relevant:
        if roles.get(name) == "irrelevant":  # in this family of tests, unlike in that of the fit
            roles[name] = "weakly relevant"
    return roles, note


def _is_exhausted(record: Selection, others: Sequence[str]) -> bool:
    """Return whether the fit found none of the others significant given all selected features."""
    selected = {*record.fixed_features, *record.features}
    return record.settings.criterion == "cmi" and any(
        not step.accepted
        and {*step.conditioning_set} == selected
        and {*others} <= {*step.candidates}
        for step in _forward_steps(record)[-1:]
    )


def _test_note(n_subsets: int, n_selected: int, alpha: float) -> str:
    """Return a note on the tests of the roles."""
    level = f"roles are results of tests at level {alpha:g}: "
    if not n_selected:
        return f"{level}a feature is weakly relevant if it is significant."
    selected = (
        "a selected feature is strongly relevant if it is significant given all the others, else "
        "weakly relevant"
    )
    if not n_subsets:
        return f"{level}{selected}."
    n_all = 2**n_selected
    tested = f"{n_subsets} of {n_all} subsets" if n_subsets < n_all else f"all {n_all} subsets"
    return (
        f"{level}{selected}; any other feature adds to the selected set if it is significant given "
        "all selected ones, and is weakly relevant if it is given a subset of them "
        f"({tested} tested, adjusted for all features and subsets)."
    )


def recorded_roles(record: Selection) -> dict[str, Role]:
    """Return the roles that follow from the record of a selection alone.

    Selected features are strongly relevant if their final p-value is significant. They and other
    candidates are weakly relevant if they were significant at any forward step or in the marginal
    tests, or were included jointly with others, else irrelevant; untested if nothing was tested.
    """
    alpha = record.settings.alpha
    tested = [step for step in record.tests if step.phase in ("forward", "marginal")]
    significant = {
        candidate
        for step in tested
        if step.p_values  # empty if nothing was tested
        for candidate, p in zip(step.candidates, step.p_values, strict=True)
        if is_significant(p, step.alpha)
    }
    significant |= {
        name
        for step in record.steps
        if step.accepted and step.phase in ("lookahead", "random_starts")
        for name in step.jointly_included
    }
    roles: dict[str, Role] = dict.fromkeys(record.fixed_features, "fixed")
    for name in record.features:
        is_strong = is_significant(record.p_values.get(name, 1.0), alpha)
        roles[name] = "strongly relevant" if is_strong else "weakly relevant"
    for step in tested:
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
    return roles | dict.fromkeys(record.skipped, "skipped")


def _marginal_p_values(record: Selection) -> dict[str, float]:
    """Return the p-values of I(f; y) = 0: of the first step, or of the marginal tests."""
    tests = [step for step in record.tests if step.phase in ("forward", "marginal")]
    for step in reversed(tests):
        if not step.conditioning_set and step.p_values:
            return dict(zip(step.candidates, step.p_values, strict=True))
    return {}


def _final_p_values(record: Selection) -> dict[str, float]:
    """Return the p-values of I(f; y | S) = 0: final ones, and those of the last forward step."""
    selected = {*record.fixed_features, *record.features}
    found: dict[str, float] = {}
    for step in _forward_steps(record)[-1:]:
        if not step.accepted and {*step.conditioning_set} == selected:
            found |= dict(zip(step.candidates, step.p_values, strict=False))
    return found | dict(record.p_values)


def _forward_steps(record: Selection) -> list[Step]:
    return [step for step in record.steps if step.phase == "forward"]
