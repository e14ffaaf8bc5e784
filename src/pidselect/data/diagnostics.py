"""Diagnostics: properties of the data that may mislead a selection.

None of them stops a selection. Each check is one function from a `Dataset` to findings.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect.exceptions import (
    LeakageWarning,
    NearDuplicateWarning,
    RowNumberWarning,
    SelectionWarning,
)

from .column import Column, FloatArray, IntArray
from .duplicates import (
    NEAR_DUPLICATE,
    RANK_ROWS,
    SCREENED_ROWS,
    are_near_duplicates,
    find_duplicates,
    near_duplicates,
    some_rows,
)
from .feature_types import Identifier, TextNumbers
from .messages import listed, shown
from .table import Dataset, Table

FEW_SAMPLES = 100  # with fewer, estimates scatter by about a tenth of a bit
SMALL_CLASS = 10  # with fewer, nearest neighbours are mostly of other classes
SAMPLES_PER_LEVEL = 5  # with fewer on average, estimates are biased upwards
TIED_SAMPLES = (
    5  # estimators look at the four nearest: where five share a value, it is all they see
)
ORDERED_ROWS = 10  # random rows are in strict order once in two million cases
TIE_ROWS = 100_000  # rows examined for ties; of more rows a fixed random sample
MOST_COLUMNS = 10_000  # of which every two are compared, which takes the square of their number
MOST_GROUPS = 20  # groups of duplicates that are reported one by one
MOST_NAMED = 6  # levels of a target that are named

#: The share of samples that may be tied: rounded measurements of which a third is come out too
#: large by 0.02 to 0.05 bit, those of which all are by 0.2.
TIED_SHARE = 1 / 3


class Topic(StrEnum):
    """What a finding is about."""

    ROWS_LEFT_OUT = "rows left out"
    FEW_SAMPLES = "few samples"
    MANY_COLUMNS = "more columns than samples"
    SMALL_CLASSES = "small classes"
    SKIPPED = "skipped columns"
    COPIES = "copies"
    NEAR_DUPLICATES = "near-duplicates"
    GIVES_TARGET_AWAY = "gives the target away"
    COUNTS_ROWS = "counts the rows"
    TIES = "ties"
    MANY_LEVELS = "many levels"
    MISSING_VALUES = "missing values"
    TEXT_NUMBERS = "numbers stored as text"


@dataclass(frozen=True)
class Finding:
    """One property of the data that may mislead a selection.

    Parameters
    ----------
    topic : Topic
    columns : tuple of str
        The columns that it is about; none where it is about all.
    sentence : str
        What was found, and what to make of it.
    """

    topic: Topic
    columns: tuple[str, ...]
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"topic": str(self.topic), "columns": list(self.columns), "sentence": self.sentence}

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

    Examples
    --------
    >>> from pidselect.data import read_dataset
    >>> x = np.random.default_rng(0).normal(size=(300, 2))
    >>> for warning in selection_warnings(read_dataset(x, np.exp(x[:, 0])), selected=[0]):
    ...     print(f"{type(warning).__name__}: {warning}")
    LeakageWarning: x0: this column determines the target almost exactly, which may be leakage.
    Check that it is known before the target is, and not made from it.
    """
    table = dataset.table
    numbers = _numbers(table, duplicates)
    chosen = [i for i in selected if _is_number(table.columns[i])]
    found = [
        *((LeakageWarning, one) for one in _giveaways(dataset, numbers, determining)),
        *((RowNumberWarning, one) for one in _row_numbers([table.columns[i] for i in chosen])),
    ]
    named = [
        category(f"{listed(one.columns)}: {one.sentence[0].lower()}{one.sentence[1:]}", one.columns)
        for category, one in found
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
    """Return the findings about a dataset.

    Without `n_rows`, the number of rows before any were left out, those left out after the last one
    used go unnoticed. See `selection_warnings` for `determining`.

    Examples
    --------
    >>> from pidselect.data import read_dataset
    >>> rng = np.random.default_rng(0)
    >>> inch = rng.normal(size=200)
    >>> X = np.column_stack([inch, 2.54 * inch + 0.01 * rng.normal(size=200), np.zeros(200)])
    >>> for finding in inspect_data(read_dataset(X, rng.normal(size=200))):
    ...     print(finding)
    skipped columns: 1 column is constant, hence not informative.
    near-duplicates: These 2 columns are nearly the same (rank correlation beyond 0.99). Which one
    is selected is nearly random; the other is mostly redundant.
    """
    table, target = dataset.table, dataset.target.columns
    duplicates = _find_duplicates(table)
    usable = [i for i in range(len(table)) if i not in table.skipped and i not in duplicates]
    columns = [table.columns[i] for i in usable]
    numbers = _numbers(table, duplicates)
    found: list[Iterable[Finding]] = [
        _left_out(dataset, n_rows),
        _few_samples(dataset),
        _small_classes(target),
        _skipped(table),
        _text_numbers(table),
        _duplicates(table, duplicates),
        _near_duplicates(table, numbers),
        _giveaways(dataset, numbers, determining),
        _row_numbers([table.columns[i] for i in numbers]),
        _ties((*columns, *target)),
        _many_levels(columns),
        _kept_gaps((*table.columns, *target)),
    ]
    return tuple(finding for findings in found for finding in findings)


def _find_duplicates(table: Table) -> dict[int, int]:
    """Return the duplicates: first those in some rows, then of these the ones in all."""
    rows = some_rows(table.n_samples, RANK_ROWS)
    if len(rows) == table.n_samples:
        return find_duplicates(table)
    some = find_duplicates(table.take(rows))
    without = set(range(len(table))) - {*some.keys(), *some.values()}
    return find_duplicates(table, without=without) if some else {}


def _is_number(column: Column) -> bool:
    return column.labels is None and column.feature_type != "nominal"


def _numbers(table: Table, duplicates: Collection[int]) -> list[int]:
    """Return the columns of numbers that are neither skipped nor duplicates."""
    aside = {*table.skipped, *duplicates}
    return [i for i, c in enumerate(table.columns) if i not in aside and _is_number(c)]


def _about(topic: Topic, names: Sequence[str], one: str, several: str) -> Iterator[Finding]:
    """Yield a finding about columns, in the singular or the plural, if there are any."""
    if names:
        yield Finding(topic, tuple(names), one if len(names) == 1 else several)


# ----------------------------------------------------------------------------- rows and classes


def _left_out(dataset: Dataset, n_rows: int | None) -> Iterator[Finding]:
    before = n_rows if n_rows is not None else int(dataset.rows[-1]) + 1
    if gone := before - len(dataset.rows):
        sentence = (
            f"{gone:,} of {before:,} {'row was' if gone == 1 else 'rows were'} left out for "
            "missing values. If values are missing for a reason, the other rows are not like these."
        )
        yield Finding(Topic.ROWS_LEFT_OUT, (), sentence)


def _few_samples(dataset: Dataset) -> Iterator[Finding]:
    n_samples, n_columns = len(dataset.rows), len(dataset.table)
    if n_samples < FEW_SAMPLES:
        sentence = (
            f"There are only {n_samples} samples. Estimates scatter widely with fewer than "
            f"{FEW_SAMPLES}, and only strong features pass the tests."
        )
        yield Finding(Topic.FEW_SAMPLES, (), sentence)
    if n_columns > n_samples:
        sentence = (
            f"There are {n_columns:,} columns but {n_samples:,} samples. A feature must beat the "
            "luckiest of so many, so weak ones are likely missed."
        )
        yield Finding(Topic.MANY_COLUMNS, (), sentence)


def _small_classes(target: Sequence[Column]) -> Iterator[Finding]:
    for column in target:
        _, first, counts = np.unique(column.codes(), return_index=True, return_counts=True)
        small = np.flatnonzero(counts < SMALL_CLASS)
        if column.feature_type != "nominal" or not len(small):
            continue
        classes = [f"{_label(column, first[i])} ({counts[i]})" for i in small[:MOST_NAMED]]
        more = f" and {len(small) - MOST_NAMED} more" * (len(small) > MOST_NAMED)
        have, them = ("class has", "it") if len(small) == 1 else ("classes have", "them")
        amounts = " If these are amounts, state the type ordinal." * (column.labels is None)
        sentence = (
            f"{len(small)} {have} fewer than {SMALL_CLASS} samples: {', '.join(classes)}{more}. "
            f"Features that distinguish {them} are hard to detect; merge or drop such classes."
            f"{amounts}"
        )
        yield Finding(Topic.SMALL_CLASSES, (column.name,), sentence)


def _label(column: Column, row: int) -> str:
    value = column.values[row]
    if np.isnan(value):
        return "missing"
    return f"{value:g}" if column.labels is None else shown(column.labels[int(value)])


# ---------------------------------------------------------------------------- uninformative columns


def _skipped(table: Table) -> Iterator[Finding]:
    groups: dict[str | type, list[str]] = {}
    for index, reason in table.skipped.items():
        if isinstance(reason, TextNumbers):
            continue
        kind = Identifier if isinstance(reason, Identifier) else reason
        groups.setdefault(kind, []).append(table.names[index])
    for key, names in groups.items():
        are = f"{len(names)} column{' is' if len(names) == 1 else 's are'}"
        sentence = f"{are} {key}, hence not informative."
        if key is Identifier:
            sentence = (
                f"{are} an identifier: nearly every row has a different text. State the type "
                "nominal if these are labels."
            )
        yield Finding(Topic.SKIPPED, tuple(names), sentence)


def _text_numbers(table: Table) -> Iterator[Finding]:
    found = {
        table.names[i]: why for i, why in table.skipped.items() if isinstance(why, TextNumbers)
    }
    rest = (
        f"{next(iter(found.values()), '')}, and skipped. Convert them, as with pd.to_numeric after "
        "removing units and separators, or state the type nominal if these are labels."
    )
    yield from _about(
        Topic.TEXT_NUMBERS, list(found), f"This column holds {rest}", f"These columns hold {rest}"
    )


def _duplicates(table: Table, duplicates: Mapping[int, int]) -> Iterator[Finding]:
    groups: dict[int, list[int]] = {}
    for copy, original in duplicates.items():
        groups.setdefault(original, [original]).append(copy)
    sentence = (
        "These columns are equal up to units or labels. Only the first is a candidate of a "
        "selection."
    )
    yield from _groups(Topic.COPIES, table, list(groups.values()), lambda _: sentence)


def _groups(
    topic: Topic, table: Table, groups: list[list[int]], sentence: Callable[[int], str]
) -> Iterator[Finding]:
    """Yield a finding about each of the first groups of columns, by its size."""
    for group in groups[:MOST_GROUPS]:
        yield Finding(topic, tuple(table.names[i] for i in group), sentence(len(group)))
    if (more := len(groups) - MOST_GROUPS) > 0:
        yield Finding(topic, (), f"There are {more} more such groups of columns.")


def _many_levels(columns: Sequence[Column]) -> Iterator[Finding]:
    names = [
        column.name
        for column in columns
        if column.feature_type == "nominal"
        and column.levels() * SAMPLES_PER_LEVEL > len(column.values)
    ]
    rest = (
        f"fewer than {SAMPLES_PER_LEVEL} samples for each level on average. Estimates come out too "
        "large; the tests make up for it, but rare levels hide what is there."
    )
    yield from _about(
        Topic.MANY_LEVELS, names, f"This column has {rest}", f"These columns have {rest}"
    )


def _kept_gaps(columns: Sequence[Column]) -> Iterator[Finding]:
    names = [column.name for column in columns if column.has_missing]
    rest = (
        "missing values, which count as a level of their own. That a value is missing may be "
        "informative."
    )
    yield from _about(
        Topic.MISSING_VALUES, names, f"This column has {rest}", f"These columns have {rest}"
    )


# -------------------------------------------------------------------- leakage, order and ties


def _row_numbers(numbers: Sequence[Column]) -> Iterator[Finding]:
    names = [column.name for column in numbers if _is_ordered(column.values)]
    rest = (
        "strictly from row to row, as a row number or a time does. Leave out a row number. If the "
        "rows are a time series, use surrogates='shift'."
    )
    yield from _about(
        Topic.COUNTS_ROWS,
        names,
        f"This column grows or falls {rest}",
        f"These columns grow or fall {rest}",
    )


def _is_ordered(values: FloatArray) -> bool:
    """Return whether values grow or fall strictly; most columns show at once that they do not."""
    signs = np.sign(np.diff(values[:ORDERED_ROWS]))
    if len(values) < ORDERED_ROWS or signs[0] == 0 or not (signs == signs[0]).all():
        return False
    return bool((np.sign(np.diff(values)) == signs[0]).all())


def _ties(columns: Sequence[Column]) -> Iterator[Finding]:
    """Find ties where all columns are continuous: beside others the estimator allows for them."""
    if any(column.feature_type != "continuous" or column.has_missing for column in columns):
        return
    few, many = (some_rows(len(columns[0].values), most) for most in (RANK_ROWS, TIE_ROWS))
    # So many ties in all rows show in some of them, which are sorted much sooner.
    shares = {
        column.name: _tied_share(column.values[many])
        for column in columns
        if len(np.unique(column.values[few])) < len(few)
    }
    tied = {name: share for name, share in shares.items() if share >= TIED_SHARE}
    rest = (
        f"{100 * max(tied.values(), default=0):.0f} % of the samples share their value with at "
        f"least {TIED_SAMPLES - 1} others. By the estimator 'ksg-rank' values are off then, mostly "
        "too large, although tests make up for it; 'mixed-rank' allows for ties."
    )
    yield from _about(
        Topic.TIES,
        list(tied),
        f"This column counts as continuous, but {rest}",
        f"These columns count as continuous, but up to {rest}",
    )


def _tied_share(values: FloatArray) -> float:
    """Return the share of samples whose value at least five have."""
    counts = np.unique(values, return_counts=True)[1]
    return float(counts[counts >= TIED_SAMPLES].sum() / len(values))


def _giveaways(
    dataset: Dataset, numbers: Sequence[int], determining: Collection[str]
) -> Iterator[Finding]:
    """Find columns that determine the target: mostly a result of it, not a cause."""
    columns, names = dataset.table.columns, set(determining)
    if len(dataset.target) == 1:
        (target,) = dataset.target.columns
        if _is_number(target):
            (alike,) = are_near_duplicates([target], [columns[i] for i in numbers])
            names |= {columns[numbers[i]].name for i in np.flatnonzero(alike).tolist()}
        else:
            codes, some = target.codes(), some_rows(len(target.values), SCREENED_ROWS)
            names |= {c.name for c in columns if c.is_discrete and _determines(c, codes, some)}
    rest = "known before the target is, and not made from it."
    yield from _about(
        Topic.GIVES_TARGET_AWAY,
        [name for name in dataset.table.names if name in names],
        "This column determines the target almost exactly, which may be leakage. Check that it is "
        + rest,
        "Each of these columns determines the target almost exactly, which may be leakage. Check "
        f"that they are {rest}",
    )


def _determines(column: Column, target: IntArray, some: IntArray) -> bool:
    """Return whether every level, met often enough on average, goes with one class only.

    Most columns show in some rows that they do not.
    """
    codes = column.small_codes()
    if not _has_one_class_each(codes[some], target[some]):
        return False
    n_levels = int(codes.max()) + 1
    is_met = 2 <= n_levels <= len(codes) / SAMPLES_PER_LEVEL
    return is_met and _has_one_class_each(codes, target)


def _has_one_class_each(codes: NDArray[Any], target: IntArray) -> bool:
    """Return whether samples of one level are of one class."""
    class_of = np.zeros(int(codes.max()) + 1, dtype=target.dtype)
    class_of[codes] = target  # of each level that of its last sample
    return np.array_equal(class_of[codes], target)


# -------------------------------------------------------------------------------- near-duplicates


def _near_duplicates(table: Table, numbers: Sequence[int]) -> Iterator[Finding]:
    if len(numbers) > MOST_COLUMNS:
        many = "Columns that are nearly the same were not looked for, as there are more than "
        yield Finding(Topic.NEAR_DUPLICATES, (), f"{many}{MOST_COLUMNS:,}.")
        return

    def sentence(size: int) -> str:
        return (
            f"These {size} columns are nearly the same (rank correlation beyond "
            f"{NEAR_DUPLICATE:g}). Which one is selected is nearly random; "
            f"{'the other is' if size == 2 else 'the others are'} mostly redundant."
        )

    groups = near_duplicates(table, numbers)
    yield from _groups(Topic.NEAR_DUPLICATES, table, groups, sentence)
