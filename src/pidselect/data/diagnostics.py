"""Diagnostics: properties of the data that may mislead a selection.

None of them stops a selection. Each check is one function from a `Dataset` to findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from .column import Column, FloatArray, IntArray
from .duplicates import (
    BLOCK,
    NEAR_DUPLICATE,
    RANK_ROWS,
    find_duplicates,
    near_duplicates,
    ranks_of,
    some_rows,
)
from .feature_types import Identifier
from .messages import shown
from .table import Dataset, Table

#: Below so many samples estimates scatter by about a tenth of a bit, and only strong features pass.
FEW_SAMPLES = 100

#: Of a class with fewer samples, nearest neighbours are mostly of other classes, whatever it is.
SMALL_CLASS = 10

#: With fewer samples per level on average, estimates are biased upwards.
SAMPLES_PER_LEVEL = 5

#: Estimators look at the four nearest samples: where five share a value, their distance is zero.
TIED_SAMPLES = 5

#: Of the samples, that may be tied so: rounded measurements of which a third is come out too large
#: by 0.02 to 0.05 bit, those of which all are by 0.2.
TIED_SHARE = 1 / 3

#: Ten random rows are in strict order once in two million cases; fewer rows more often.
ORDERED_ROWS = 10

#: Rows examined for ties; of more rows a fixed random sample.
TIE_ROWS = 100_000

#: The most columns of which every two are compared: that takes the square of their number.
MOST_COLUMNS = 10_000

#: Groups of near-duplicates that are reported one by one.
MOST_GROUPS = 20

#: Levels of a target that are named.
MOST_NAMED = 6


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


#: Topics that undo an answer if they are about a selected column.
SERIOUS = (Topic.COUNTS_ROWS, Topic.GIVES_TARGET_AWAY)


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


def alarms(findings: Iterable[Finding], selected: Iterable[str]) -> list[str]:
    """Return, of the findings, what undoes the answer because it is about a selected column.

    Examples
    --------
    >>> alarms([Finding(Topic.COUNTS_ROWS, ("id", "day"), "These grow.")], ["age", "id"])
    ['id counts the rows. These grow.']
    """
    chosen = set(selected)
    return [
        f"{shown(name)} {finding.topic}. {finding.sentence}"
        for finding in findings
        if finding.topic in SERIOUS
        for name in finding.columns
        if name in chosen
    ]


def inspect_data(dataset: Dataset, n_rows: int | None = None) -> tuple[Finding, ...]:
    """Return the findings about a dataset.

    Parameters
    ----------
    dataset : Dataset
    n_rows : int, optional
        How many rows there were before any were left out; without it, those left out after the
        last one used go unnoticed.

    Returns
    -------
    tuple of Finding

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
    usable = _usable(table, duplicates)
    numbers = [i for i in usable if _is_number(table.columns[i])]
    found: list[Iterable[Finding]] = [
        _left_out(dataset, n_rows),
        _few_samples(dataset),
        _small_classes(target),
        _skipped(table),
        _duplicates(table, duplicates),
        _near_duplicates(table, numbers),
        _giveaways(dataset, numbers),
        _row_numbers(table, numbers),
        _ties((*(table.columns[i] for i in usable), *target)),
        _many_levels(table, duplicates),
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


def _usable(table: Table, duplicates: Mapping[int, int]) -> list[int]:
    return [i for i in range(len(table)) if i not in table.skipped and i not in duplicates]


def _is_number(column: Column) -> bool:
    return column.labels is None and column.feature_type != "nominal"


# ----------------------------------------------------------------------------- rows and classes


def _left_out(dataset: Dataset, n_rows: int | None) -> Iterator[Finding]:
    rows = dataset.rows
    before = n_rows if n_rows is not None else int(rows[-1]) + 1
    if gone := before - len(rows):
        were = "row was" if gone == 1 else "rows were"
        yield Finding(
            Topic.ROWS_LEFT_OUT,
            (),
            f"{gone:,} of {before:,} {were} left out for missing values. If values are missing "
            "for a reason, the other rows are not like these.",
        )


def _few_samples(dataset: Dataset) -> Iterator[Finding]:
    n_samples, n_columns = len(dataset.rows), len(dataset.table)
    if n_samples < FEW_SAMPLES:
        yield Finding(
            Topic.FEW_SAMPLES,
            (),
            f"There are only {n_samples} samples. Estimates scatter widely with fewer than "
            f"{FEW_SAMPLES}, and only strong features pass the tests.",
        )
    if n_columns > n_samples:
        yield Finding(
            Topic.MANY_COLUMNS,
            (),
            f"There are {n_columns:,} columns but {n_samples:,} samples. A feature must beat the "
            "luckiest of so many, so weak ones are likely missed.",
        )


def _small_classes(target: Sequence[Column]) -> Iterator[Finding]:
    for column in target:
        if column.feature_type != "nominal":
            continue
        codes = column.codes()
        counts = np.bincount(codes)
        small = np.flatnonzero(counts < SMALL_CLASS)
        if len(small):
            _, first = np.unique(codes, return_index=True)
            named = ", ".join(
                f"{_label(column, int(first[code]))} ({counts[code]})"
                for code in small[:MOST_NAMED]
            )
            more = f" and {len(small) - MOST_NAMED} more" * (len(small) > MOST_NAMED)
            have, them = ("class has", "it") if len(small) == 1 else ("classes have", "them")
            amounts = " If these are amounts, state the type ordinal." * (column.labels is None)
            yield Finding(
                Topic.SMALL_CLASSES,
                (column.name,),
                f"{len(small)} {have} fewer than {SMALL_CLASS} samples: {named}{more}. Features "
                f"that distinguish {them} are hard to detect; merge or drop such classes."
                f"{amounts}",
            )


def _label(column: Column, row: int) -> str:
    value = column.values[row]
    if np.isnan(value):
        return "missing"
    return f"{value:g}" if column.labels is None else shown(column.labels[int(value)])


# ---------------------------------------------------------------------------- uninformative columns


def _skipped(table: Table) -> Iterator[Finding]:
    groups: dict[str | type, list[str]] = {}
    for index, reason in table.skipped.items():
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


def _duplicates(table: Table, duplicates: Mapping[int, int]) -> Iterator[Finding]:
    groups: dict[int, list[int]] = {}
    for copy, original in duplicates.items():
        groups.setdefault(original, []).append(copy)
    for original, others in list(groups.items())[:MOST_GROUPS]:
        names = tuple(table.names[i] for i in (original, *others))
        yield Finding(
            Topic.COPIES,
            names,
            "These columns are equal up to units or labels. Only the first is a candidate of a "
            "selection.",
        )
    yield from _more_groups(Topic.COPIES, len(groups) - MOST_GROUPS)


def _many_levels(table: Table, duplicates: Mapping[int, int]) -> Iterator[Finding]:
    names = [
        table.names[i]
        for i in _usable(table, duplicates)
        if table.columns[i].feature_type == "nominal"
        and table.columns[i].levels() * SAMPLES_PER_LEVEL > table.n_samples
    ]
    if names:
        have = "This column has" if len(names) == 1 else "These columns have"
        yield Finding(
            Topic.MANY_LEVELS,
            tuple(names),
            f"{have} fewer than {SAMPLES_PER_LEVEL} samples for each level on average. Estimates "
            "come out too large; the tests make up for it, but rare levels hide what is there.",
        )


def _kept_gaps(columns: Sequence[Column]) -> Iterator[Finding]:
    names = [column.name for column in columns if column.has_missing]
    if names:
        one = "This column has" if len(names) == 1 else "These columns have"
        yield Finding(
            Topic.MISSING_VALUES,
            tuple(names),
            f"{one} missing values, which count as a level of their own. That a value is missing "
            "may be informative.",
        )


# -------------------------------------------------------------------- leakage, order and ties


def _row_numbers(table: Table, numbers: Sequence[int]) -> Iterator[Finding]:
    if table.n_samples < ORDERED_ROWS:
        return
    names = [table.names[i] for i in numbers if _is_ordered(table.columns[i].values)]
    if names:
        one = len(names) == 1
        grow = "This column grows or falls" if one else "These columns grow or fall"
        yield Finding(
            Topic.COUNTS_ROWS,
            tuple(names),
            f"{grow} strictly from row to row, as a row number or a time does. Leave out a row "
            "number. If the rows are a time series, use surrogates='shift'.",
        )


def _is_ordered(values: FloatArray) -> bool:
    """Return whether values grow or fall strictly; most columns show at once that they do not."""
    signs = np.sign(np.diff(values[:ORDERED_ROWS]))
    if signs[0] == 0 or not (signs == signs[0]).all():
        return False
    return bool((np.sign(np.diff(values)) == signs[0]).all())


def _ties(columns: Sequence[Column]) -> Iterator[Finding]:
    """Find ties where all columns are continuous: beside others the estimator allows for them."""
    measured = [column for column in columns if column.feature_type == "continuous"]
    if len(measured) < len(columns) or any(column.has_missing for column in columns):
        return
    n_samples = len(measured[0].values)
    few, many = (some_rows(n_samples, most) for most in (RANK_ROWS, TIE_ROWS))
    # So many ties in all rows show in some of them, which are sorted much sooner.
    shares = {
        column.name: _tied_share(column.values[many])
        for column in measured
        if len(np.unique(column.values[few])) < len(few)
    }
    tied = {name: share for name, share in shares.items() if share >= TIED_SHARE}
    if tied:
        one = len(tied) == 1
        up_to = f"{100 * max(tied.values()):.0f} %"
        yield Finding(
            Topic.TIES,
            tuple(tied),
            f"{'This column counts' if one else 'These columns count'} as continuous, but "
            f"{'' if one else 'up to '}{up_to} of the samples share their value with at least "
            f"{TIED_SAMPLES - 1} others. By the estimator 'ksg-rank' values are off then, mostly "
            "too large, although tests make up for it; 'mixed-rank' allows for ties.",
        )


def _tied_share(values: FloatArray) -> float:
    """Return the share of samples whose value at least five have.

    Examples
    --------
    >>> _tied_share(np.array([0.0] * 6 + [1.5, 2.5, 3.5, 3.5]))
    0.6
    """
    ordered = np.sort(values[~np.isnan(values)])
    if not len(ordered):
        return 0.0
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff(np.append(starts, len(ordered)))
    return float(lengths[lengths >= TIED_SAMPLES].sum() / len(ordered))


def _giveaways(dataset: Dataset, numbers: Sequence[int]) -> Iterator[Finding]:
    """Find columns that determine the target: mostly a result of it, not a cause."""
    if len(dataset.target) != 1:
        return
    table, (target,) = dataset.table, dataset.target.columns
    names: list[str] = []
    if _is_number(target):
        rows = some_rows(table.n_samples, RANK_ROWS)
        goal = ranks_of([target], rows)[:, 0]
        for start in range(0, len(numbers), BLOCK):
            part = [table.columns[i] for i in numbers[start : start + BLOCK]]
            strong = np.abs(goal @ ranks_of(part, rows)) > NEAR_DUPLICATE
            names += [column.name for column, is_one in zip(part, strong, strict=True) if is_one]
    else:
        goal_codes = target.codes()
        names = [c.name for c in table.columns if c.is_discrete and _determines(c, goal_codes)]
    if names:
        one = len(names) == 1
        yield Finding(
            Topic.GIVES_TARGET_AWAY,
            tuple(names),
            f"{'This column determines' if one else 'Each of these columns determines'} the target "
            f"almost exactly. Check that {'it is' if one else 'they are'} known before the target "
            "is, and not made from it.",
        )


def _determines(column: Column, target: IntArray) -> bool:
    """Return whether every level, met often enough on average, goes with one class only."""
    codes = column.codes()
    n_levels = int(codes.max()) + 1
    if n_levels < 2 or n_levels * SAMPLES_PER_LEVEL > len(codes):
        return False
    return len(np.unique(codes * (int(target.max()) + 1) + target)) == n_levels


# -------------------------------------------------------------------------------- near-duplicates


def _near_duplicates(table: Table, numbers: Sequence[int]) -> Iterator[Finding]:
    if len(numbers) > MOST_COLUMNS:
        yield Finding(
            Topic.NEAR_DUPLICATES,
            (),
            f"Columns that are nearly the same were not looked for, as there are more than "
            f"{MOST_COLUMNS:,}.",
        )
        return
    groups = near_duplicates(table, numbers)
    for group in groups[:MOST_GROUPS]:
        names = tuple(table.names[i] for i in group)
        others = "the other is" if len(names) == 2 else "the others are"
        yield Finding(
            Topic.NEAR_DUPLICATES,
            names,
            f"These {len(names)} columns are nearly the same (rank correlation beyond "
            f"{NEAR_DUPLICATE:g}). Which one is selected is nearly random; {others} mostly "
            "redundant.",
        )
    yield from _more_groups(Topic.NEAR_DUPLICATES, len(groups) - MOST_GROUPS)


def _more_groups(topic: Topic, more: int) -> Iterator[Finding]:
    if more > 0:
        yield Finding(topic, (), f"There are {more} more such groups of columns.")
