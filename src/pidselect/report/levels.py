"""The target over the levels of one feature or of two, as plain numbers.

A profile has means of the target, or shares of its classes, at the levels of a feature; a joint
table has a value for each combination of the levels of two. Levels have readable names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, islice, pairwise
from math import floor, log10
from typing import Any

import numpy as np

from pidselect.data import Column, Dataset, FloatArray, IntArray
from pidselect.data.feature_types import TARGET
from pidselect.data.messages import cut, listed, number, shown
from pidselect.report.sentences import target_name
from pidselect.selection.result import Selection, Step

#: Levels of a column, beside missing values; rarer labels are lumped, numbers are binned.
MAX_LEVELS, N_BINS = 6, 5

#: Features and classes that are shown; rarer classes are lumped.
MAX_PROFILES, MAX_CLASSES = 24, 5

#: Bins of a line, and rows of each bin at least.
LINE_BINS, ROWS_PER_BIN = 10, 20

#: Steps that include features jointly.
JOINT_PHASES = ("lookahead", "random_starts")

#: Pairs shown of the features of one step, if there are more than three.
MAX_PAIRS = 3

#: Combinations of fewer rows do not count for the range: their means scatter widely.
MIN_ROWS = 10


def target_profiles(names: Iterable[str], dataset: Dataset) -> list[dict[str, Any]]:
    """Return the target against each of the columns named; groups of columns have none."""
    if len(dataset.target) > 1:
        return []
    known = [name for name in names if name in dataset.table.names]
    return [target_profile(dataset, name) for name in known[:MAX_PROFILES]]


def target_profile(dataset: Dataset, name: str) -> dict[str, Any]:
    """Return means of a target, or shares of its classes, at the levels of a column.

    Their keys are those of `profiles` in the summary, see ``docs/report.md``.
    """
    column = dataset.table.columns[dataset.table.index(name)]
    target = dataset.target.columns[0]
    is_nominal = target.feature_type == "nominal"
    is_known = ~np.isnan(target.values) | is_nominal
    column, target = (one.take(np.flatnonzero(is_known)) for one in (column, target))
    is_line = not is_nominal and is_binned(column)
    n_bins = max(3, min(LINE_BINS, len(column.values) // ROWS_PER_BIN))
    levels, codes = column_levels(column, n_bins) if is_line else column_levels(column)
    counts = np.bincount(codes)  # no level is empty
    quantity, classes, outcomes = _outcomes(target)
    means = np.array([np.bincount(codes, one) / counts for one in outcomes])
    residuals = outcomes[0] - means[0][codes]
    variance = np.bincount(codes, residuals**2) / np.maximum(counts - 1, 1)
    errors = 2.0 * np.sqrt(variance / counts)
    positions, ends = None, None
    if is_line:
        places = np.bincount(codes, np.nan_to_num(column.values)) / counts
        known = places[: len(levels) - column.has_missing]
        positions = [*known.tolist(), *[None] * column.has_missing]
        digits = decimals(float(np.ptp(known)))
        ends = [number_text(round(float(value), digits)) for value in known[[0, -1]]]
    return {
        "feature": name,
        "levels": levels,
        "counts": counts.tolist(),
        "values": means.T.tolist(),
        "errors": errors.tolist() if len(outcomes) == 1 else None,
        "classes": classes,
        "quantity": quantity,
        "overall": [float(one.mean()) for one in outcomes],
        "positions": positions,
        "ends": ends,
    }


def joint_tables(selection: Selection, dataset: Dataset) -> list[dict[str, Any]]:
    """Return the target over features that were included jointly, two at a time.

    See `joint_table`. Of a triple, there is a table of two of them for each level of the third,
    which `within` names. `sentence` is of the first table of a step. What cannot be shown has the
    sentence only.
    """
    found = []
    for step in selection.steps:
        names = [name for name in selection.features if selection.inclusion_step(name) is step]
        if step.phase in JOINT_PHASES and len(names) > 1:
            is_alone = any(
                one.phase == "forward"
                and not one.accepted
                and one.conditioning_set == step.conditioning_set
                for one in selection.steps
            )
            found += _tables(names, step, is_alone, dataset)
    return found


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
        tables = _tables_within(dataset, names)
        which = "their combinations"
    low, high = (number(end, tables[0]["digits"]) for end in tables[0]["range"])
    few = any(0 < count < MIN_ROWS for one in tables for row in one["counts"] for count in row)
    sentence += f" The {tables[0]['quantity']} ranges from {low} to {high} over {which}"
    sentence += f" of at least {MIN_ROWS} rows" * few
    sentence += "; the joint effect may need all of them" * (len(names) > 3)
    return [{**one, "sentence": f"{sentence}." * (one is tables[0])} for one in tables]


def joint_table(dataset: Dataset, pair: Sequence[str]) -> dict[str, Any]:
    """Return the mean of a target, or the share of one class, in each cell of two columns.

    Of two classes it is the share of the second; of more, that of the class whose share varies most
    between the cells, of equal ones the most frequent. The keys are those of `joint` in the
    summary, see ``docs/report.md``.
    """
    return _tables_within(dataset, pair)[0]


def _tables_within(dataset: Dataset, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the table of two features; of three, one for each level of that with fewest levels."""
    target = dataset.target.columns[0]
    columns = {name: dataset.table.columns[dataset.table.index(name)] for name in names}
    found = {name: column_levels(column) for name, column in columns.items()}
    third = min(names, key=lambda name: len(found[name][0])) if len(names) > 2 else None
    pair = [name for name in names if name != third]
    outer = found[third] if third is not None else ([""], np.zeros_like(found[pair[0]][1]))
    levels, codes = zip(outer, *(found[name] for name in pair), strict=True)
    shape = tuple(map(len, levels))
    is_known = ~np.isnan(target.values) | (target.feature_type == "nominal")
    cells = np.ravel_multi_index(codes, shape)[is_known]
    quantity, outcome = _outcome(target.take(np.flatnonzero(is_known)), cells)
    counts = np.bincount(cells, minlength=int(np.prod(shape)))
    sums = np.bincount(cells, outcome, minlength=counts.size)
    values = np.divide(sums, counts, out=np.full(counts.size, np.nan), where=counts > 0)
    least = min(MIN_ROWS, int(counts.max()))
    ends = [float(end(values[counts >= least])) for end in (np.min, np.max)]
    parts = zip(levels[0], counts.reshape(shape), values.reshape(shape), strict=True)
    return [
        {
            "features": pair,
            "levels": list(levels[1:]),
            "counts": some.tolist(),
            "values": [[None if np.isnan(one) else one for one in row] for row in means.tolist()],
            "overall": float(outcome.mean()),
            "range": ends,
            "quantity": quantity,
            "digits": 2 if target.feature_type == "nominal" else max(0, decimals(np.ptp(ends))),
            "within": None if third is None else [third, level],
        }
        for level, some, means in parts
        if some.any()
    ]


def _outcome(target: Column, cells: IntArray) -> tuple[str, FloatArray]:
    """Return what is averaged, in words and for each row: the target, or whether it is a class."""
    names = _class_names(target)
    if len(names) < 3:
        quantity, _, (outcome,) = _outcomes(target)
        return quantity, outcome
    codes, n_classes = target.codes(), len(names)
    n_joint = (int(cells.max()) + 1) * n_classes
    joint = np.bincount(cells * n_classes + codes, minlength=n_joint).reshape(-1, n_classes)
    n_rows, share = joint.sum(axis=1, keepdims=True), joint.sum(axis=0) / len(codes)
    spread = ((joint - n_rows * share) ** 2 / np.maximum(n_rows, 1)).sum(axis=0)
    by_frequency = np.argsort(-share, kind="stable")
    chosen = int(by_frequency[np.argmax(spread[by_frequency])])
    return _share_of(target, names[chosen]), (codes == chosen).astype(float)


def _outcomes(target: Column) -> tuple[str, list[str], list[FloatArray]]:
    """Return what is averaged in words, the classes, and an array for each value of a level."""
    names = _class_names(target)
    if not names:
        return f"mean of {target_name(target.name)}", [], [target.values]
    codes = target.codes()
    if len(names) < 3:
        return _share_of(target, names[-1]), names[-1:], [(codes == len(names) - 1).astype(float)]
    names, codes = _lumped(names, codes, MAX_CLASSES, np.bincount(codes))
    shares = [(codes == one).astype(float) for one in range(len(names))]
    return f"shares of the classes of {target_name(target.name)}", names, shares


def _class_names(target: Column) -> list[str]:
    """Return the names of the classes of a target, missing values last; none of numbers."""
    if target.feature_type != "nominal":
        return []
    return [*level_names(target), *["missing"] * target.has_missing]


def _share_of(target: Column, label: str) -> str:
    short = cut(shown(label), 24)
    named = f"class {short}" if target.name == TARGET else f"{target_name(target.name)} = {short}"
    return f"share of {named}"


def column_levels(column: Column, n_bins: int = N_BINS) -> tuple[list[str], IntArray]:
    """Return the names of a few levels, and the level of each row.

    Of more than `MAX_LEVELS` labels all but the most frequent become "other"; more numbers are
    binned at quantiles, rounded so that the intervals are readable. A level "missing" comes last if
    there is any.
    """
    is_missing = np.isnan(column.values)
    if is_binned(column):
        names, codes = _binned(column.values, n_bins)
    else:
        _, codes = np.unique(column.values, return_inverse=True)
        frequency = np.bincount(codes[~is_missing])
        names, codes = _lumped(level_names(column), codes, MAX_LEVELS, frequency)
    if is_missing.any():
        codes, names = np.where(is_missing, len(names), codes), [*names, "missing"]
    return names, codes


def _lumped(
    names: list[str], codes: IntArray, most: int, frequency: IntArray
) -> tuple[list[str], IntArray]:
    """Return the most frequent levels by name, all others, if there are too many, as "other"."""
    if len(names) <= most:
        return names, codes
    kept = np.sort(np.argsort(-frequency, kind="stable")[: most - 1])
    place = np.full(int(codes.max()) + 1, len(kept))
    place[kept] = np.arange(len(kept))
    return [*(names[level] for level in kept), "other"], place[codes]


def is_binned(column: Column) -> bool:
    """Return whether a column has more numbers than are shown one by one."""
    known = column.values[~np.isnan(column.values)]
    is_number = column.feature_type != "nominal" and column.labels is None
    return is_number and len(np.unique(known)) > MAX_LEVELS


def level_names(column: Column) -> list[str]:
    """Return the names of all levels but missing values."""
    levels = np.unique(column.values[~np.isnan(column.values)])
    if column.labels is None:
        return list(map(number_text, levels))
    return [column.labels[int(level)] for level in levels]


def number_text(value: float) -> str:
    """Return a number with a minus sign and as many digits as it has.

    >>> number_text(-0.25), number_text(3.0)
    ('−0.25', '3')
    """
    return f"{value + 0.0:.15g}".replace("-", "\N{MINUS SIGN}")


def decimals(spread: float) -> int:
    """Return the decimals at which a difference has two digits.

    >>> decimals(12.3), decimals(0.05)
    (0, 3)
    """
    return 1 - floor(log10(spread)) if spread > 0 else 2


def _binned(values: FloatArray, n_bins: int) -> tuple[list[str], IntArray]:
    known = values[~np.isnan(values)]
    edges = _bin_edges(known, n_bins)
    if (known % 1).any():
        ends = list(map(number_text, edges))
        inner = [f"{low} to {high}" for low, high in pairwise(ends)]
        return [f"< {ends[0]}", *inner, f"≥ {ends[-1]}"], np.digitize(values, edges)
    # Intervals of whole numbers name the numbers that they hold.
    starts = np.ceil(edges)
    inner = [
        number_text(low) if low == high - 1 else f"{number_text(low)} to {number_text(high - 1)}"
        for low, high in pairwise(starts)
    ]
    names = [f"≤ {number_text(starts[0] - 1)}", *inner, f"≥ {number_text(starts[-1])}"]
    return names, np.digitize(values, starts)


def _bin_edges(values: FloatArray, n_bins: int) -> FloatArray:
    """Return the inner edges of up to `n_bins` bins, none empty, with few digits."""
    low = values.min()
    quantiles = np.unique(np.quantile(values, np.arange(1, n_bins) / n_bins, method="higher"))
    quantiles = quantiles[quantiles > low]
    if not len(quantiles):  # most values are equal
        return values[values > low].min(keepdims=True)
    if not (values % 1).any():
        quantiles = np.unique(np.ceil(quantiles))
    start = decimals(float(quantiles[-1] - quantiles[0]) or float(values.max() - low))
    for places in range(start, start + 15):
        edges = np.unique(quantiles.round(places))
        filled = np.unique(np.digitize(values, edges))
        if len(edges) == len(quantiles) == len(filled) - 1:
            return edges
    return quantiles
