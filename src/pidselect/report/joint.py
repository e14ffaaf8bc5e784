"""The target over the levels of features that were included jointly, as plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, islice
from typing import Any

import numpy as np

from pidselect.data import Column, Dataset, FloatArray, IntArray
from pidselect.data.feature_types import TARGET
from pidselect.data.messages import cut, listed, number, shown
from pidselect.decomposition import Explanation
from pidselect.decomposition.sentences import synergistic_partner
from pidselect.report.levels import column_levels, decimals, level_names
from pidselect.report.sentences import target_name
from pidselect.selection.result import Selection, Step

#: Steps that include features jointly.
JOINT_PHASES = ("lookahead", "random_starts")

#: Pairs shown of the features of one step, if there are more than three.
MAX_PAIRS = 3

#: Pairs of less synergy, in bits, are not shown.
MIN_SYNERGY = 0.05

#: Combinations of fewer rows do not count for the range: their means scatter widely.
MIN_ROWS = 10


def joint_tables(
    selection: Selection, dataset: Dataset, explanation: Explanation | None = None
) -> list[dict[str, Any]]:
    """Return the target over features that were included jointly or are synergistic, two at a time.

    See `joint_table`. Synergistic are the strongest pairs of each feature. Of a
    triple, there is a table of two of them for each level of the third, which `within` names.
    `sentence` is of the first table of a step. What cannot be shown has the sentence only.
    """
    included: dict[int, list[str]] = {}
    for name in selection.features:
        step = selection.inclusion_step(name)
        if step.phase in JOINT_PHASES:
            included.setdefault(selection.step_number(step), []).append(name)
    found = []
    for place, names in included.items():
        if len(names) > 1:
            step = selection.steps[place - 1]
            is_alone = any(
                one.phase == "forward"
                and not one.accepted
                and one.conditioning_set == step.conditioning_set
                for one in selection.steps
            )
            found += _tables(names, step, is_alone, dataset)
    if explanation is not None:
        shown_pairs = [{*one["features"], *(one["within"] or ())} for one in found]
        found += _synergistic(explanation, dataset, shown_pairs)
    return found


def _synergistic(
    explanation: Explanation, dataset: Dataset, shown_pairs: Sequence[set[str]]
) -> list[dict[str, Any]]:
    """Return the tables of the most synergistic pairs of columns that are not shown yet."""
    pairs, names = explanation.pairs, dataset.table.names
    partners = {one.name: synergistic_partner(one, explanation) for one in explanation}
    values = {
        frozenset((name, other)): float(
            pairs.synergy[pairs.names.index(name), pairs.names.index(other)]
        )
        for name, other in partners.items()
        if other is not None
    }
    values = {pair: bits for pair, bits in values.items() if bits >= MIN_SYNERGY}
    found = []
    for pair in sorted(values, key=lambda pair: -values[pair]):
        if len(dataset.target) > 1 or pair - {*names} or any(pair <= one for one in shown_pairs):
            continue
        table = joint_table(dataset, [name for name in pairs.names if name in pair])
        who = f"{listed(table['features'])} are synergistic: {number(values[pair])} bits."
        found.append({**table, "sentence": f"{who} {_span([table], 'their combinations')}."})
    return found[:MAX_PAIRS]


def _tables(
    names: Sequence[str], step: Step, is_alone: bool, dataset: Dataset
) -> list[dict[str, Any]]:
    """Return the tables of one step; `is_alone`: no single candidate was significant before."""
    sentence = f"Jointly included: {listed(names)}."
    if is_alone:
        given = "given the features selected before" if step.conditioning_set else "alone"
        sentence += f" {'Neither' if len(names) == 2 else 'None of them'} is significant {given}."
    # A group that has the name of one of its columns is shown by that column.
    groups = [name for name in names if name not in dataset.table.names]
    if groups or len(dataset.target) > 1:
        are = f"{listed(groups)} {'are groups' if groups[1:] else 'is a group'} of columns"
        obstacle = are if groups else "the target has several columns"
        sentence += f" No heat map: {obstacle}."
        return [{"features": list(names), "counts": [], "within": None, "sentence": sentence}]
    if len(names) > 3:
        tables = [joint_table(dataset, pair) for pair in islice(combinations(names, 2), MAX_PAIRS)]
        which = f"the combinations of {listed(tables[0]['features'])}"
    else:
        tables = _within(dataset, names) if len(names) == 3 else [joint_table(dataset, names)]
        which = "their combinations"
    sentence += f" {_span(tables, which)}"
    sentence += "; the joint effect may need all of them" * (len(names) > 3)
    return [{**one, "sentence": f"{sentence}." * (one is tables[0])} for one in tables]


def _span(tables: Sequence[dict[str, Any]], which: str) -> str:
    """Return the range of the values as a clause."""
    low, high = (number(end, tables[0]["digits"]) for end in tables[0]["range"])
    few = any(0 < count < MIN_ROWS for one in tables for row in one["counts"] for count in row)
    return (
        f"The {tables[0]['quantity']} ranges from {low} to {high} over {which}"
        + f" of at least {MIN_ROWS} rows" * few
    )


def joint_table(dataset: Dataset, pair: Sequence[str]) -> dict[str, Any]:
    """Return the mean of a target, or the share of one class, in each cell of two columns.

    Of two classes it is the share of the second; of more, that of the class whose share varies most
    between the cells, of equal ones the most frequent.

    Returns
    -------
    dict
        `features` and their `levels`; `counts` of rows and `values`, lists of a row for each level
        of the first feature, with None in empty cells; `overall`, the value of all rows; `range`,
        the extreme values of cells of `MIN_ROWS` or more rows, or of all if there are none;
        `quantity` in words; `digits` after the point; `within`, the level of a third feature.

    Examples
    --------
    >>> from pidselect.data import read_dataset
    >>> dataset = read_dataset([[0, 0], [0, 1], [1, 0], [0, 0]], ["no", "yes", "yes", "no"])
    >>> found = joint_table(dataset, ("x0", "x1"))
    >>> found["quantity"], found["values"], found["counts"]
    ('share of class yes', [[0.0, 1.0], [1.0, None]], [[2, 1], [1, 0]])
    """
    counts, values, levels, more = _cells(dataset, pair)
    return {**_table(pair, levels, counts, values), **more}


def _within(dataset: Dataset, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return a table of two features for each level of a third one, that with fewest levels."""
    columns = [dataset.table.columns[dataset.table.index(name)] for name in names]
    n_levels = [len(column_levels(column)[0]) for column in columns]
    third = n_levels.index(min(n_levels))
    others = [name for place, name in enumerate(names) if place != third]
    counts, values, levels, more = _cells(dataset, (names[third], *others))
    return [
        {
            **_table(others, levels[1:], counts[place], values[place]),
            **more,
            "within": [names[third], level],
        }
        for place, level in enumerate(levels[0])
        if counts[place].any()
    ]


def _table(
    features: Sequence[str], levels: Sequence[list[str]], counts: IntArray, values: FloatArray
) -> dict[str, Any]:
    return {
        "features": list(features),
        "levels": list(levels),
        "counts": counts.tolist(),
        "values": [
            [None if np.isnan(value) else value for value in row] for row in values.tolist()
        ],
    }


def _cells(
    dataset: Dataset, names: Sequence[str]
) -> tuple[IntArray, FloatArray, list[list[str]], dict[str, Any]]:
    """Return counts and values, an axis for each column, the levels, and what all cells share."""
    target = dataset.target.columns[0]
    found = [column_levels(dataset.table.columns[dataset.table.index(name)]) for name in names]
    levels, codes = [one for one, _ in found], [one for _, one in found]
    shape = tuple(map(len, levels))
    is_known = ~np.isnan(target.values) | (target.feature_type == "nominal")
    cells = np.ravel_multi_index(tuple(codes), shape)[is_known]
    quantity, outcome = _outcome(target, cells, is_known)
    counts = np.bincount(cells, minlength=int(np.prod(shape)))
    sums = np.bincount(cells, outcome, minlength=counts.size)
    values = np.divide(sums, counts, out=np.full(counts.size, np.nan), where=counts > 0)
    least = min(MIN_ROWS, int(counts.max()))
    ends = [float(end(values[counts >= least])) for end in (np.min, np.max)]
    more = {
        "overall": float(outcome.mean()),
        "range": ends,
        "quantity": quantity,
        "digits": 2 if target.feature_type == "nominal" else max(0, decimals(ends[1] - ends[0])),
        "within": None,
    }
    return counts.reshape(shape), values.reshape(shape), levels, more


def _outcome(target: Column, cells: IntArray, is_known: Any) -> tuple[str, FloatArray]:
    """Return what is averaged, in words and for each row: the target, or whether it is a class."""
    name = target_name(target.name)
    if target.feature_type != "nominal":
        return f"mean of {name}", target.values[is_known]
    codes, names = target.codes(), class_names(target)
    n_classes = len(names)
    chosen = 1 if n_classes == 2 else 0
    if n_classes > 2:
        n_joint = (int(cells.max()) + 1) * n_classes
        joint = np.bincount(cells * n_classes + codes, minlength=n_joint).reshape(-1, n_classes)
        n_rows, share = joint.sum(axis=1, keepdims=True), joint.sum(axis=0) / len(codes)
        spread = ((joint - n_rows * share) ** 2 / np.maximum(n_rows, 1)).sum(axis=0)
        by_frequency = np.argsort(-share, kind="stable")
        chosen = int(by_frequency[np.argmax(spread[by_frequency])])
    return f"share of {class_text(target, names[chosen])}", (codes == chosen).astype(float)


def class_names(target: Column) -> list[str]:
    """Return the names of the classes of a nominal target, missing values last."""
    return [*level_names(target), *["missing"] * target.has_missing]


def class_text(target: Column, label: str) -> str:
    """Return a class in words, such as "diagnosis = benign"."""
    short = cut(shown(label), 24)
    return f"class {short}" if target.name == TARGET else f"{target_name(target.name)} = {short}"
