"""From a fitted selector to what `explain` asks for: data read as before, roles and blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np

from pidselect.data import (
    Block,
    IntArray,
    Kind,
    Missing,
    Problem,
    Table,
    is_constant,
    read_problem,
)
from pidselect.data.frames import read_columns
from pidselect.data.kinds import TARGET
from pidselect.decomposition.contrast import Approach
from pidselect.decomposition.explain import Verdict, explain
from pidselect.decomposition.explanation import Explanation, Role
from pidselect.selection.features import FeatureGroups, read_groups
from pidselect.selection.record import Selection, Step
from pidselect.significance import is_significant

NO_ROOM = "never tested, as there was no room for it within max_features"

SAME_ROWS = (
    "these are the rows that the selection was made on, so that values are optimistic; held-out "
    "rows can be passed instead."
)
OTHER_ROWS = "values are optimistic as far as rows among these took part in the selection."

FULL = (
    "the selection ended at max_features, so other features were never tested beside all of the "
    "selected ones; a weakly relevant one need not be redundant."
)


def read_again(
    X: Any, y: Any, kinds: Mapping[str, Kind], target_kinds: str, missing: Missing
) -> Problem:
    """Read data as those of the fit were read, with the same kinds and under the same names.

    Parameters
    ----------
    X, y
        See `read_problem`; X has as many columns as there are kinds.
    kinds : mapping of str to kind
        Of every column of X.
    target_kinds : str
        Of every column of y, as the record of the selection has it: "nominal, nominal".
    missing : {"error", "drop", "category"}
    """
    of_target: Any = target_kinds.split(", ")
    names = [raw.name for raw in read_columns(X)]  # others than before, if one of both is no frame
    stated = dict(zip(names, kinds.values(), strict=True))
    if len(set(of_target)) == 1:
        stated = {TARGET: of_target[0], **stated}
    problem = read_problem(X, y, kinds=stated, missing=missing)
    if len(problem.target) != len(of_target):
        raise ValueError(
            f"y has {len(problem.target)} column(s), but the selection was made with "
            f"{len(of_target)}. Pass the same target."
        )
    columns = zip(problem.target.columns, of_target, strict=True)
    target = Block(tuple(replace(column, kind=kind) for column, kind in columns))
    named = zip(problem.table.columns, kinds, strict=True)
    table = Table(tuple(replace(column, name=name) for column, name in named))
    return Problem(table, target, problem.rows)


def check_same_target(names: tuple[str, ...], before: tuple[str, ...]) -> None:
    """Refuse a target of other names than that of the fit, where both have names of their own."""
    named = [not name.startswith(TARGET) for name in (*names, *before)]
    if names != before and all(named):
        raise ValueError(
            f"y has the column(s) {', '.join(map(repr, names))}, but the selection was made for "
            f"{', '.join(map(repr, before))}. Pass the same target, its columns in the same order."
        )


def fingerprint(problem: Problem) -> str:
    """Return a text by which the same data are recognised, and nothing else can be told."""
    digest = blake2b(digest_size=16)
    for column in (*problem.table.columns, *problem.target.columns):
        digest.update(np.ascontiguousarray(column.values).tobytes())
    return digest.hexdigest()


def explain_selection(
    selection: Selection,
    problem: Problem,
    rows: IntArray | None,
    groups: FeatureGroups | None,
    approach: Approach,
    notes: Sequence[str] = (),
) -> Explanation:
    """Explain a selection by some data.

    Parameters
    ----------
    selection : Selection
    problem : Problem
        The data, see `read_again`.
    rows : array of int64, optional
        The rows to use; None for all.
    groups : FeatureGroups, optional
        As they were when the selection was made.
    approach : Approach
    notes : sequence of str
        To be added to those of the explanation.
    """
    table, target = problem.table, problem.target
    if rows is not None:
        table, target = table.take(rows), target.take(rows)
    notes = [*notes, *([FULL] if _ended_early(selection) else [])]
    return explain(to_verdicts(selection, table, groups), target, approach, notes)


def to_verdicts(selection: Selection, table: Table, groups: FeatureGroups | None) -> list[Verdict]:
    """Say what became of every feature, and of the columns that took no part.

    A column that is constant in the table tells nothing, so that it is left out of its feature.
    """
    grouped = {} if groups is None else read_groups(table, groups)
    columns = {name: (index,) for index, name in enumerate(table.names)} | grouped
    roles = roles_of(selection)
    if changed := [name for name in roles if name not in columns]:
        raise ValueError(
            f"the selection knows a feature {changed[0]!r}, of which neither the columns nor "
            "feature_groups say anything: parameters were changed after fit. Fit again."
        )
    usable = [
        index
        for index, column in enumerate(table.columns)
        if column.name not in selection.skipped and not is_constant(column.values)
    ]
    selected = (*selection.kept, *selection.features)
    verdicts = [
        Verdict(name, role, name in selected, table.block(i for i in columns[name] if i in usable))
        for name, role in roles.items()
    ]
    inside = {table.names[index] for places in grouped.values() for index in places}
    aside: dict[str, tuple[Role, str]] = {
        **{copy: ("copy", original) for copy, original in selection.copies.items()},
        **{name: ("skipped", reason) for name, reason in selection.skipped.items()},
    }
    for name in columns:
        if name not in inside or name in grouped:
            aside.setdefault(name, ("skipped", NO_ROOM))
    return verdicts + [
        Verdict(name, role, False, Block(), reason)
        for name, (role, reason) in aside.items()
        if name not in roles
    ]


def roles_of(selection: Selection) -> dict[str, Role]:
    """Return the roles that follow from the tests of a selection.

    Selected features are strongly relevant. Candidates that were significant at any step forward,
    as also those were that were removed going backward, are weakly relevant. All others are
    irrelevant, as far as the tests can tell.
    """
    alpha = selection.settings["alpha"]
    passed = {
        candidate
        for step in _forward(selection)
        for candidate, p in zip(step.candidates, step.p_values, strict=True)
        if is_significant(p, alpha)
    }
    roles: dict[str, Role] = dict.fromkeys(selection.kept, "kept")
    roles |= dict.fromkeys(selection.features, "strongly relevant")
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
