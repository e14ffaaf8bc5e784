"""The target over the levels of two features that were included jointly, as plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, islice, pairwise
from math import floor, log10
from typing import Any

import numpy as np

from pidselect.data import Column, Dataset, FloatArray, IntArray
from pidselect.data.feature_types import TARGET
from pidselect.data.messages import cut, listed, number, shown
from pidselect.report.sentences import target_name
from pidselect.selection.result import Selection, Step

#: Steps that include features jointly.
JOINT_PHASES = ("lookahead", "random_starts")

#: Pairs shown of the features of one step.
MAX_PAIRS = 3

#: Levels of a column, beside missing values; rarer labels are lumped, numbers are binned.
MAX_LEVELS, N_BINS = 6, 5

#: Combinations of fewer rows do not count for the range: their means scatter widely.
MIN_ROWS = 10


def joint_tables(selection: Selection, dataset: Dataset) -> list[dict[str, Any]]:
    """Return the target over each pair of selected features that were included jointly.

    See `joint_table`; a sentence is added. A pair that cannot be shown has the sentence only.
    """
    included: dict[int, list[str]] = {}
    for name in selection.features:
        step = selection.inclusion_step(name)
        if step.phase in JOINT_PHASES:
            included.setdefault(selection.step_number(step), []).append(name)
    return [
        _described(pair, names, selection.steps[place - 1], selection, dataset)
        for place, names in included.items()
        for pair in islice(combinations(names, 2), MAX_PAIRS)
    ]


def _described(
    pair: Sequence[str], names: Sequence[str], step: Step, selection: Selection, dataset: Dataset
) -> dict[str, Any]:
    """Return the table of a pair with its sentence; `names` are all that were included jointly."""
    start = f"Jointly included: {listed(names)}."
    is_single_insignificant = any(
        one.phase == "forward"
        and not one.accepted
        and one.conditioning_set == step.conditioning_set
        for one in selection.steps
    )
    alone = ""
    if is_single_insignificant:
        given = "given the features selected before" if step.conditioning_set else "alone"
        alone = f"{'Neither' if len(names) == 2 else 'None of them'} is significant {given}"
    # A group that has the name of one of its columns is shown by that column.
    if groups := [name for name in pair if name not in dataset.table.names]:
        obstacle = f"{listed(groups)} {'are groups' if groups[1:] else 'is a group'} of columns"
    elif len(dataset.target) > 1:
        obstacle = "the target has several columns"
    else:
        table = joint_table(dataset, pair)
        low, high = (number(end, table["digits"]) for end in table["range"])
        which = "their combinations" if len(names) == 2 else f"the combinations of {listed(pair)}"
        few = any(0 < count < MIN_ROWS for row in table["counts"] for count in row)
        span = f"{table['quantity']} ranges from {low} to {high} over {which}"
        span += f" of at least {MIN_ROWS} rows" * few
        if len(names) > 2:
            span += "; the joint effect may need all of them"
        sentence = f"{alone}; the {span}." if alone else f"The {span}."
        return {**table, "sentence": f"{start} {sentence}"}
    sentence = f"{start} {alone}{'. ' * bool(alone)}No heat map: {obstacle}."
    return {"features": list(pair), "counts": [], "sentence": sentence}


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
        `quantity` in words; `digits` after the point.

    Examples
    --------
    >>> from pidselect.data import read_dataset
    >>> dataset = read_dataset([[0, 0], [0, 1], [1, 0], [0, 0]], ["no", "yes", "yes", "no"])
    >>> found = joint_table(dataset, ("x0", "x1"))
    >>> found["quantity"], found["values"], found["counts"]
    ('share of class yes', [[0.0, 1.0], [1.0, None]], [[2, 1], [1, 0]])
    """
    columns = [dataset.table.columns[dataset.table.index(name)] for name in pair]
    target = dataset.target.columns[0]
    (first, rows), (second, places) = map(column_levels, columns)
    shape = len(first), len(second)
    is_known = ~np.isnan(target.values) | (target.feature_type == "nominal")
    cells = (rows * shape[1] + places)[is_known]
    quantity, outcome = _outcome(target, cells)
    outcome = outcome[is_known]
    counts = np.bincount(cells, minlength=shape[0] * shape[1])
    sums = np.bincount(cells, outcome, minlength=counts.size)
    values = np.divide(sums, counts, out=np.full(counts.size, np.nan), where=counts > 0)
    least = min(MIN_ROWS, int(counts.max()))
    ends = [float(end(values[counts >= least])) for end in (np.min, np.max)]
    is_share = target.feature_type == "nominal"
    return {
        "features": list(pair),
        "levels": [first, second],
        "counts": counts.reshape(shape).tolist(),
        "values": [
            [None if np.isnan(value) else value for value in row]
            for row in values.reshape(shape).tolist()
        ],
        "overall": float(outcome.mean()),
        "range": ends,
        "quantity": quantity,
        "digits": 2 if is_share else max(0, _decimals(ends[1] - ends[0])),
    }


def _outcome(target: Column, cells: IntArray) -> tuple[str, FloatArray]:
    """Return what is averaged, in words and for each row: the target, or whether it is a class."""
    name = target_name(target.name)
    if target.feature_type != "nominal":
        return f"mean of {name}", target.values
    codes, names = target.codes(), [*_level_names(target), "missing"]
    n_classes = int(codes.max()) + 1
    chosen = 1
    if n_classes > 2:
        n_joint = (int(cells.max()) + 1) * n_classes
        joint = np.bincount(cells * n_classes + codes, minlength=n_joint).reshape(-1, n_classes)
        n_rows, share = joint.sum(axis=1, keepdims=True), joint.sum(axis=0) / len(codes)
        spread = ((joint - n_rows * share) ** 2 / np.maximum(n_rows, 1)).sum(axis=0)
        by_frequency = np.argsort(-share, kind="stable")
        chosen = int(by_frequency[np.argmax(spread[by_frequency])])
    label = cut(shown(names[chosen]), 24)
    words = f"class {label}" if target.name == TARGET else f"{name} = {label}"
    return f"share of {words}", (codes == chosen).astype(float)


def column_levels(column: Column) -> tuple[list[str], IntArray]:
    """Return the names of at most `MAX_LEVELS` levels, and the level of each row.

    Of more labels all but the most frequent become "other"; more numbers are binned at quantiles,
    rounded so that the intervals are readable. A level "missing" comes last if there is any.

    Examples
    --------
    >>> names, codes = column_levels(Column("x", "continuous", np.arange(10.0)))
    >>> names
    ['< 1.8', '1.8 to 3.6', '3.6 to 5.4', '5.4 to 7.2', '≥ 7.2']
    >>> codes
    array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    """
    is_missing = np.isnan(column.values)
    known = column.values[~is_missing]
    levels = np.unique(known)
    is_number = column.feature_type != "nominal" and column.labels is None
    if is_number and len(levels) > MAX_LEVELS:
        edges = _bin_edges(known)
        ends = list(map(_number, edges))
        inner = [f"{low} to {high}" for low, high in pairwise(ends)]
        names, codes = [f"< {ends[0]}", *inner, f"≥ {ends[-1]}"], np.digitize(column.values, edges)
    else:
        names, codes = _level_names(column), np.searchsorted(levels, column.values)
        if len(levels) > MAX_LEVELS:
            frequency = np.bincount(codes[~is_missing])
            kept = np.sort(np.argsort(-frequency, kind="stable")[: MAX_LEVELS - 1])
            place = np.full(len(levels) + 1, len(kept))
            place[kept] = np.arange(len(kept))
            names, codes = [*(names[level] for level in kept), "other"], place[codes]
    if is_missing.any():
        codes, names = np.where(is_missing, len(names), codes), [*names, "missing"]
    return names, codes


def _bin_edges(values: FloatArray) -> FloatArray:
    """Return the inner edges of up to `N_BINS` bins, none empty, with few digits."""
    low = values.min()
    quantiles = np.unique(np.quantile(values, np.arange(1, N_BINS) / N_BINS))
    quantiles = quantiles[quantiles > low]
    if not len(quantiles):  # most values are equal
        return values[values > low].min(keepdims=True)
    start = _decimals(float(quantiles[-1] - quantiles[0]) or float(values.max() - low))
    for decimals in range(start, start + 15):
        edges = np.unique(quantiles.round(decimals))
        filled = np.unique(np.digitize(values, edges))
        if len(edges) == len(quantiles) == len(filled) - 1:
            return edges
    return quantiles


def _decimals(spread: float) -> int:
    """Return the decimals at which a difference has two digits."""
    return 1 - floor(log10(spread)) if spread > 0 else 2


def _level_names(column: Column) -> list[str]:
    levels = np.unique(column.values[~np.isnan(column.values)])
    if column.labels is None:
        return list(map(_number, levels))
    return [column.labels[int(level)] for level in levels]


def _number(value: float) -> str:
    return f"{value + 0.0:.15g}".replace("-", "\N{MINUS SIGN}")
