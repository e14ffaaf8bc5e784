"""Diagnostics: properties of the data that may mislead a selection.

None of them stops a selection.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pidselect.exceptions import (
    LeakageWarning,
    NearDuplicateWarning,
    RowNumberWarning,
    SelectionWarning,
)

from .column import Column, IntArray
from .duplicates import NEAR_DUPLICATE, are_near_duplicates, find_duplicates, near_duplicates
from .messages import counted, listed, shown
from .table import Dataset, Table

FEW_SAMPLES = 100  # with fewer, estimates scatter by about a tenth of a bit
SMALL_CLASS = 10  # with fewer, nearest neighbours are mostly of other classes
SAMPLES_PER_LEVEL = 5  # with fewer on average, estimates are biased upwards
ORDERED_ROWS = 10  # random rows are in strict order once in two million cases
MOST_COLUMNS = 10_000  # of which every two are compared, which takes the square of their number
MOST_NAMED = 6  # levels of a target that are named

#: What was found of columns, and what to make of it.
SENTENCES = {
    "near-duplicates": "These columns are nearly the same (rank correlation beyond "
    f"{NEAR_DUPLICATE:g}). Which one is selected is nearly random; any other is mostly redundant.",
    "leakage": "The target is determined almost exactly, which may be leakage. Check that this is "
    "known before the target is, and not made from it.",
    "row counter": "Strictly increasing or decreasing from row to row, as a row number or a time "
    "is. Leave out a row number. If the rows are a time series, use surrogates='shift'.",
    "many levels": f"Fewer than {SAMPLES_PER_LEVEL} samples for each level on average. Estimates "
    "are biased upwards; the tests make up for it, but rare levels hide what is there.",
    "missing values": "They count as a level of their own: that a value is missing may be "
    "informative.",
}


@dataclass(frozen=True)
class Finding:
    """One property of the data that may mislead a selection.

    `columns` are those that it is about, none where it is about all.
    """

    topic: str
    columns: tuple[str, ...]
    sentence: str

    def __str__(self) -> str:
        return f"{self.topic}: {self.sentence}"


def selection_warnings(
    dataset: Dataset,
    selected: Sequence[int],
    fixed: Collection[int] = (),
    duplicates: Collection[int] = (),
    determining: Collection[str] = (),
) -> tuple[SelectionWarning, ...]:
    """Return the warnings of a fit about its data, at most one of each category.

    Leakage is searched in all columns but duplicates, anything else in those that are selected
    without being fixed.
    `determining` are columns whose estimated information shows that they determine the target.
    """
    table, numbers = dataset.table, _numbers(dataset.table, duplicates)
    chosen = [i for i in selected if _is_number(table.columns[i])]
    found = [
        (LeakageWarning, "leakage", _leaking(dataset, numbers, determining)),
        (RowNumberWarning, "row counter", _ordered(table, chosen)),
    ]
    named = [
        category(f"{listed(names)}: {SENTENCES[topic][0].lower()}{SENTENCES[topic][1:]}", names)
        for category, topic, names in found
        if names
    ]
    others = [i for i in numbers if i not in fixed]
    return (*named, *_near_duplicates_of(table, chosen, others))


def _near_duplicates_of(
    table: Table, selected: Sequence[int], numbers: Sequence[int]
) -> Iterator[NearDuplicateWarning]:
    """Yield a warning if any selected column has near-duplicates among the others."""
    columns, numbers = table.columns, [i for i in numbers if i not in selected]
    alike = are_near_duplicates([columns[i] for i in selected], [columns[i] for i in numbers])
    texts, names = [], []
    for index, row in zip(selected, alike, strict=True):
        others = [columns[numbers[i]].name for i in np.flatnonzero(row).tolist()]
        if others:
            texts.append(f"{shown(columns[index].name)} (with {listed(others, MOST_NAMED)})")
            names += [columns[index].name, *others]
    if texts:
        more = f"; and {len(texts) - MOST_NAMED} more" * (len(texts) > MOST_NAMED)
        message = (
            f"{'; '.join(texts[:MOST_NAMED])}{more}: selected columns with near-duplicates (rank "
            f"correlation beyond {NEAR_DUPLICATE:g}). Which one is selected is nearly random."
        )
        yield NearDuplicateWarning(message, tuple(dict.fromkeys(names)))


def inspect_data(
    dataset: Dataset, n_rows: int | None = None, determining: Collection[str] = ()
) -> tuple[Finding, ...]:
    """Return the findings about a dataset, besides skipped columns and duplicates.

    Without `n_rows`, the number of rows before any were left out, those left out after the last one
    used go unnoticed. See `selection_warnings` for `determining`.
    """
    table, target = dataset.table, dataset.target.columns
    duplicates = find_duplicates(table)
    aside = {*table.skipped, *duplicates}
    used = [column for i, column in enumerate(table.columns) if i not in aside]
    labels = [column for column in used if column.feature_type == "nominal"]
    numbers, columns = _numbers(table, duplicates), (*table.columns, *target)
    few = [c.name for c in labels if c.levels() * SAMPLES_PER_LEVEL > len(c.values)]
    groups = near_duplicates(table, numbers) if len(numbers) <= MOST_COLUMNS else []
    found: list[tuple[str, Sequence[str]]] = [
        *(("near-duplicates", [table.names[i] for i in group]) for group in groups),
        ("leakage", _leaking(dataset, numbers, determining)),
        ("row counter", _ordered(table, numbers)),
        ("many levels", few),
        ("missing values", [column.name for column in columns if column.has_missing]),
    ]
    named = [Finding(topic, tuple(names), SENTENCES[topic]) for topic, names in found if names]
    return (*_of_rows(dataset, n_rows), *_small_classes(target), *named)


def _is_number(column: Column) -> bool:
    return column.labels is None and column.feature_type != "nominal"


def _numbers(table: Table, duplicates: Collection[int]) -> list[int]:
    """Return the columns of numbers that are neither skipped nor duplicates."""
    aside = {*table.skipped, *duplicates}
    return [i for i, c in enumerate(table.columns) if i not in aside and _is_number(c)]


def _of_rows(dataset: Dataset, n_rows: int | None) -> Iterator[Finding]:
    n_samples, n_columns = len(dataset.rows), len(dataset.table)
    before = n_rows if n_rows is not None else int(dataset.rows[-1]) + 1
    if before > n_samples:
        sentence = (
            f"{before - n_samples:,} of {before:,} rows were left out for missing values. If "
            "values are missing for a reason, the other rows are not like these."
        )
        yield Finding("rows left out", (), sentence)
    if n_samples < max(FEW_SAMPLES, n_columns):
        sentence = (
            f"There are only {n_samples:,} samples of {counted(n_columns, 'column')}. Estimates "
            f"scatter widely with fewer than {FEW_SAMPLES} samples, and among many columns only "
            "strong features are significant."
        )
        yield Finding("few samples", (), sentence)


def _small_classes(target: Sequence[Column]) -> Iterator[Finding]:
    for column in target:
        levels, counts = np.unique(column.values, return_counts=True)
        small = np.flatnonzero(counts < SMALL_CLASS)
        if column.feature_type != "nominal" or not len(small):
            continue
        names = [_label(column, level) for level in levels[small[:MOST_NAMED]]]
        classes = [f"{name} ({counts[i]})" for name, i in zip(names, small, strict=False)]
        more = f" and {len(small) - MOST_NAMED} more" * (len(small) > MOST_NAMED)
        amounts = " If these are amounts, state the type ordinal." * (column.labels is None)
        sentence = (
            f"Classes of fewer than {SMALL_CLASS} samples: {', '.join(classes)}{more}. What "
            f"distinguishes them is hard to detect; merge or drop such classes.{amounts}"
        )
        yield Finding("small classes", (column.name,), sentence)


def _label(column: Column, level: float) -> str:
    if np.isnan(level):
        return "missing"
    return f"{level:g}" if column.labels is None else shown(column.labels[int(level)])


def _ordered(table: Table, numbers: Sequence[int]) -> list[str]:
    """Return the columns whose values grow or fall strictly."""
    columns = [table.columns[i] for i in numbers if table.n_samples >= ORDERED_ROWS]
    # The first rows show of most columns that they do not.
    return [
        column.name
        for column in columns
        if all(
            abs(np.sign(np.diff(values)).sum()) == len(values) - 1
            for values in (column.values[:ORDERED_ROWS], column.values)
        )
    ]


def _leaking(dataset: Dataset, numbers: Sequence[int], determining: Collection[str]) -> list[str]:
    """Return the columns that determine the target: mostly a result of it, not a cause."""
    columns, names = dataset.table.columns, set(determining)
    if len(dataset.target) == 1:
        (target,) = dataset.target.columns
        if _is_number(target):
            (alike,) = are_near_duplicates([target], [columns[i] for i in numbers])
            names |= {columns[numbers[i]].name for i in np.flatnonzero(alike).tolist()}
        else:
            codes = target.codes()
            names |= {c.name for c in columns if c.is_discrete and _determines(c, codes)}
    return [name for name in dataset.table.names if name in names]


def _determines(column: Column, target: IntArray) -> bool:
    """Return whether every level, met often enough on average, goes with one class only."""
    codes = column.small_codes()
    n_levels = int(codes.max()) + 1
    class_of = np.zeros(n_levels, dtype=target.dtype)
    class_of[codes] = target  # of each level that of its last sample
    is_met = 2 <= n_levels <= len(codes) / SAMPLES_PER_LEVEL
    return is_met and np.array_equal(class_of[codes], target)
