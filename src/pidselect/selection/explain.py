"""From a fitted selector to what `explain` asks for: data read as before, roles and blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import _num_samples

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
    read_dataset,
)
from pidselect.data.feature_types import TARGET
from pidselect.data.frames import column_names
from pidselect.decomposition.explain import RoleAssignment, explain
from pidselect.decomposition.explanation import Explanation, Role
from pidselect.decomposition.measures import MEASURES
from pidselect.decomposition.source_pair import PIDStrategy
from pidselect.selection.callbacks import after_fit
from pidselect.selection.columns import check_columns
from pidselect.selection.context import SelectionContext
from pidselect.selection.fit import make_context, members_of, sample_rows
from pidselect.selection.pool import Feature, FeatureGroups, read_groups
from pidselect.selection.relevance import assess
from pidselect.selection.result import Selection, Step
from pidselect.selection.validation import check_count, to_bytes
from pidselect.significance import check_groups, is_significant

if TYPE_CHECKING:
    from pidselect.selection.selector import PIDSelector

NO_ROOM = "never tested, as there was no room for it within max_features"

SAME_ROWS = (
    "these are the rows that the selection was made on, so that values are optimistic; held-out "
    "rows can be passed instead."
)
OTHER_ROWS = "values are optimistic as far as rows among these took part in the selection."

FULL = (
    "the selection ended at max_features, so a weakly relevant feature need not be redundant: it "
    "may add something to all of the selected ones."
)

UNTESTED = (
    "nothing was tested, as n_permutations=0: roles only tell what was selected from what was not."
)
BY_RECORD = (
    "roles are the verdicts of the tests on the way: a feature is weakly relevant if it passed one "
    "beside what was selected then, and irrelevant if it never did; no other subsets were tried."
)


def explain_fit(
    selector: PIDSelector, X: Any, y: Any, groups: Any, measure: str, bins: int
) -> Explanation:
    """Explain what a fitted selector has selected; see `PIDSelector.explain`."""
    check_choice(measure, ("auto", *MEASURES), "measure")
    bins = check_count(bins, "bins", at_least=2)
    check_columns(selector, X)
    record = selector.selection_
    problem = read_again(
        X, y, selector.feature_types_, record.settings["target_types"], selector.missing
    )
    check_same_target(problem.target.names, selector._target)
    seed = record.settings["seed"]
    rows = sample_rows(selector.max_samples, problem.target, seed)
    fitted = selector.estimator_
    approach = PIDStrategy(
        fitted[0] if isinstance(fitted, tuple) else fitted,
        measure,
        bins,
        seed,
        selector.n_jobs,
        to_bytes(selector.max_memory),
    )
    is_same = fingerprint(problem) == selector._rows
    note = SAME_ROWS if is_same else OTHER_ROWS
    problem, context = restrict(problem, rows), None
    if groups is not None or record.settings["n_groups"] is None:
        codes = check_groups(groups, _num_samples(X))
        context = make_context(selector, problem, members_of(selector), codes, seed)
        context = replace(context, watch=after_fit(record))
        if not is_same:
            record = replace(record, p_values={})  # selected ones are tested on these rows, too
    explanation = explain_selection(
        record, problem, selector.feature_groups, approach, context, [note]
    )
    return replace(explanation, in_sample=is_same).in_library(frame_library(X))


def read_again(
    X: Any,
    y: Any,
    feature_types: Mapping[str, FeatureType],
    target_types: Sequence[FeatureType],
    missing: Missing,
) -> Dataset:
    """Read data as those of the fit were read, with the same kinds and under the same names.

    Parameters
    ----------
    X, y
        See `read_dataset`; X has as many columns as there are kinds.
    kinds : mapping of str to kind
        Of every column of X.
    target_types : sequence of str
        Of every column of y.
    missing : {"error", "drop", "category"}
    """
    names = column_names(X)  # others than before, if one of both is no frame
    stated = dict(zip(names, feature_types.values(), strict=True))
    if len(set(target_types)) == 1:
        stated = {TARGET: target_types[0], **stated}
    problem = read_dataset(X, y, feature_types=stated, missing=missing)
    if len(problem.target) != len(target_types):
        raise ValueError(
            f"y has {len(problem.target)} column(s), but the selection was made with "
            f"{len(target_types)}. Pass the same target."
        )
    columns = zip(problem.target.columns, target_types, strict=True)
    target = Block(
        tuple(replace(column, feature_type=feature_type) for column, feature_type in columns)
    )
    named = zip(problem.table.columns, feature_types, strict=True)
    table = Table(tuple(replace(column, name=name) for column, name in named))
    return Dataset(table, target, problem.rows)


def check_same_target(names: tuple[str, ...], before: tuple[str, ...]) -> None:
    """Refuse a target of other names than that of the fit, where both have names of their own."""
    named = [not name.startswith(TARGET) for name in (*names, *before)]
    if names != before and all(named):
        raise ValueError(
            f"y has the column(s) {', '.join(map(repr, names))}, but the selection was made for "
            f"{', '.join(map(repr, before))}. Pass the same target, its columns in the same order."
        )


def fingerprint(problem: Dataset) -> str:
    """Return a text by which the same data are recognised, and nothing else can be told."""
    digest = blake2b(digest_size=16)
    for column in (*problem.table.columns, *problem.target.columns):
        digest.update(np.ascontiguousarray(column.values).data)
    return digest.hexdigest()


def restrict(problem: Dataset, rows: IntArray | None) -> Dataset:
    """Return a problem with some of its samples only; None stands for all of them."""
    if rows is None:
        return problem
    return Dataset(problem.table.take(rows), problem.target.take(rows), problem.rows[rows])


def explain_selection(
    selection: Selection,
    problem: Dataset,
    groups: FeatureGroups | None,
    approach: PIDStrategy,
    context: SelectionContext | None = None,
    notes: Sequence[str] = (),
) -> Explanation:
    """Explain a selection by some data.

    Parameters
    ----------
    selection : Selection
    problem : Problem
        The samples to use, see `read_again` and `restrict`.
    groups : FeatureGroups, optional
        As they were when the selection was made.
    approach : Approach
    inquiry : Inquiry, optional
        How to test roles, with the target of the problem; None takes them from the record.
    notes : sequence of str
        To be added to those of the explanation.
    """
    features = line_up_again(selection, problem.table, groups)
    roles, how = roles_by_tests(context, features, selection)
    selected = (*selection.fixed_features, *selection.features)
    verdicts = [
        RoleAssignment(name, roles[name], name in selected, feature.block)
        for name, feature in features.items()
    ]
    verdicts += aside(selection, problem.table, groups, features)
    notes = [how, *notes, *([FULL] if _ended_early(selection) else [])]
    watch = None if context is None else context.watch
    if watch is not None:
        watch.on_stage("atoms", len(features), len(features))
    explanation = explain(verdicts, problem.target, approach, notes)
    if watch is not None:
        watch.on_progress(len(features))
    return explanation


def line_up_again(
    selection: Selection, table: Table, groups: FeatureGroups | None
) -> dict[str, Feature]:
    """Return the features that took part: kept ones, selected ones, then all other candidates.

    A column that is constant in the table tells nothing, so that it is left out of its feature.
    """
    grouped = {} if groups is None else read_groups(table, groups)
    columns = {name: (index,) for index, name in enumerate(table.names)} | grouped
    names = roles_of(selection)
    if changed := [name for name in names if name not in columns]:
        raise ValueError(
            f"the selection knows a feature {changed[0]!r}, of which neither the columns nor "
            "feature_groups say anything: parameters were changed after fit. Fit again."
        )
    usable = {
        index
        for index, column in enumerate(table.columns)
        if column.name not in selection.skipped and not is_constant(column.values)
    }
    return {
        name: Feature(name, columns[name], table.block(i for i in columns[name] if i in usable))
        for name in names
    }


def aside(
    selection: Selection,
    table: Table,
    groups: FeatureGroups | None,
    features: Mapping[str, Feature],
) -> list[RoleAssignment]:
    """Say of the columns that took no part why they did not."""
    reasons: dict[str, tuple[Role, str]] = {
        **{copy: ("duplicate", original) for copy, original in selection.duplicates.items()},
        **{name: ("skipped", reason) for name, reason in selection.skipped.items()},
    }
    grouped = {} if groups is None else read_groups(table, groups)
    inside = {table.names[index] for places in grouped.values() for index in places}
    for name in (*table.names, *grouped):
        if name not in inside or name in grouped:
            reasons.setdefault(name, ("skipped", NO_ROOM))
    return [
        RoleAssignment(name, role, False, Block(), reason)
        for name, (role, reason) in reasons.items()
        if name not in features
    ]


def roles_by_tests(
    context: SelectionContext | None, features: Mapping[str, Feature], selection: Selection
) -> tuple[dict[str, Role], str]:
    """Return the role of every feature, and how it was found.

    Parameters
    ----------
    inquiry : Inquiry, optional
        How to test; None takes roles from the record.
    features : mapping of str to Feature
        All that took part, in the samples of the inquiry; see `line_up_again`.
    selection : Selection

    Returns
    -------
    roles : dict of str to Role
    how : str
        What was tested.

    See Also
    --------
    pidselect.selection.relevance.assess : the tests.
    """
    if context is None:
        untested = selection.settings.get("n_permutations") == 0
        return roles_of(selection), UNTESTED if untested else BY_RECORD
    if context.n_permutations == 0:  # the selection went without tests, but roles are what they say
        context = replace(context, n_permutations=None)
    kept = [features[name] for name in selection.fixed_features]
    selected = [features[name] for name in selection.features]
    others = [f for f in features.values() if f not in kept and f not in selected]
    found = assess(context, kept, selected, others, selection.p_values)
    n_subsets = max((found[feature.name].n_subsets for feature in others), default=0)
    how = in_words(n_subsets, len(selected), context.alpha)
    return {name: found[name].role for name in features}, how


def in_words(n_subsets: int, n_selected: int, alpha: float) -> str:
    """Say what was tested.

    Examples
    --------
    >>> print(in_words(16, 5, 0.05))
    roles are verdicts of tests at level 0.05: a selected feature is strongly relevant if it adds
    something to all the others, else weakly; any other is weakly relevant if it adds something to
    a subset of the selected ones, of which 16 of 32 were searched, in one test of all.
    """
    tests = f"roles are verdicts of tests at level {alpha:g}: "
    strong = (
        "a selected feature is strongly relevant if it adds something to all the others, else "
        "weakly"
    )
    if not n_selected:
        return f"{tests}a feature is weakly relevant if it tells something where none is selected."
    if not n_subsets:
        return f"{tests}{strong}."
    n_all = 2**n_selected
    searched = f"{n_subsets} of {n_all}" if n_subsets < n_all else f"all {n_all}"
    return (
        f"{tests}{strong}; any other is weakly relevant if it adds something to a subset of the "
        f"selected ones, of which {searched} were searched, in one test of all."
    )


def roles_of(selection: Selection) -> dict[str, Role]:
    """Return the roles that follow from the record of a selection alone.

    Selected features are strongly relevant; or weakly, if their final p-values say that they add
    nothing to all others. Candidates that were significant at any step forward, as also those were
    that were removed going backward, are weakly relevant, too. All others are irrelevant, as far as
    the tests can tell.
    """
    alpha = selection.settings["alpha"]
    passed = {
        candidate
        for step in _forward(selection)
        if step.p_values  # none, if nothing was tested
        for candidate, p in zip(step.candidates, step.p_values, strict=True)
        if is_significant(p, step.alpha)
    }
    passed |= {
        name
        for step in selection.steps
        if step.accepted and step.phase in ("lookahead", "random_starts")
        for name in step.jointly_included
    }
    roles: dict[str, Role] = dict.fromkeys(selection.fixed_features, "fixed")
    for name in selection.features:
        adds = name not in selection.p_values or is_significant(selection.p_values[name], alpha)
        roles[name] = "strongly relevant" if adds else "weakly relevant"
    for step in _forward(selection):
        for candidate in step.candidates:
            roles.setdefault(candidate, "weakly relevant" if candidate in passed else "irrelevant")
    return roles


def _forward(selection: Selection) -> list[Step]:
    return [step for step in selection.steps if step.phase == "forward"]


def _ended_early(selection: Selection) -> bool:
    """Return whether the last step forward took a feature and left others untested beside it."""
    forward = _forward(selection)
    return bool(forward) and forward[-1].accepted and len(forward[-1].candidates) > 1
