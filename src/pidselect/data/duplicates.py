"""Copies: columns that say the same in other units or other words.

Comparing all pairs would take p² n steps. Instead every column gets a number that copies share,
and only columns whose numbers agree are compared: about p n + p log p steps.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np

from .column import Column, FloatArray
from .table import Table

FIRST_SAMPLES = 2**10  # enough to tell columns apart that are no copies

TOLERANCE = 1e-10  # the largest difference of copies, in standard deviations
ROUNDING = 8 * np.finfo(np.float64).eps  # what a few operations lose, relative to the largest value
# A column far from zero loses digits to its offset. Beyond this loss copies cannot be told from
# columns that differ by a little noise, and only identical ones are reported.
LARGEST_TOLERANCE = 1e-7


def find_duplicates(
    table: Table,
    prefer: Collection[int] = (),
    without: Collection[int] = (),
    by_rank: bool = False,
) -> dict[int, int]:
    """Return which columns are copies of which others.

    Numbers (continuous, ordinal) are copies if they are equal up to an affine map of either
    sign, discrete columns (ordinal, nominal) also if they are equal up to a renaming of their
    levels. Missing values must be in the same places. Skipped columns take no part.

    Parameters
    ----------
    table : Table
        The columns.
    prefer : collection of int
        Columns that stand for their copies even if they do not come first.
    without : collection of int
        Columns that take no part, as skipped ones do not.
    by_rank : bool
        Whether numbers are copies already if a strictly monotone map takes one to the other.

    Returns
    -------
    dict of int to int
        From a copy's index to that of the column that stands for it: the first preferred
        one among its copies, or else the first.

    Examples
    --------
    >>> inch = np.array([60.5, 71.25, 66.0, 63.75])
    >>> table = Table.read(np.column_stack([inch, [0, 1, 1, 0], 2.54 * inch, [7, 3, 3, 7]]))
    >>> find_copies(table)
    {2: 0, 3: 1}
    >>> find_copies(table, prefer=[2])
    {0: 2, 3: 1}
    >>> growth = Table.read(np.column_stack([inch, np.exp(-inch)]))
    >>> find_copies(growth), find_copies(growth, by_rank=True)
    ({}, {1: 0})
    """
    aside = {*table.skipped, *without}
    used = [index for index in range(len(table)) if index not in aside]
    pairs = [*_identical(table, used), *_affine(table, used)]
    if by_rank:
        pairs += _monotone(table, used)
    group = {index: {index} for index in used}
    for one, other in pairs:
        if group[one] is not group[other]:
            small, large = sorted((group[one], group[other]), key=len)
            large |= small
            group.update(dict.fromkeys(small, large))
    first = {i: min(group[i], key=lambda j: (j not in prefer, j)) for i in used}
    return {index: original for index, original in first.items() if index != original}


def _identical(table: Table, used: list[int]) -> Iterator[tuple[int, int]]:
    """Yield pairs of equal columns; of discrete ones also those that only name levels otherwise."""
    seen: dict[tuple[bool, bytes], int] = {}
    for index in _alike_at_first(table, used, _fingerprint):
        column = table.columns[index]
        yield seen.setdefault((column.is_discrete, _fingerprint(column)), index), index


def _alike_at_first(
    table: Table, used: list[int], digest: Callable[[Column], bytes]
) -> Iterator[int]:
    """Yield the columns whose first samples have the same digest as those of another one.

    Columns that differ there are no copies, whatever comes later. That saves going through, and
    sorting, nearly all of a table with many samples.
    """
    first = np.arange(min(FIRST_SAMPLES, table.n_samples))
    alike: dict[tuple[bool, bytes], list[int]] = {}
    for index in used:
        column = table.columns[index]
        key = column.is_discrete, digest(column.take(first))
        alike.setdefault(key, []).append(index)
    for group in alike.values():
        if len(group) > 1:
            yield from group


def _fingerprint(column: Column) -> bytes:
    """Return a digest of the values, or of levels numbered as they appear; 128 bits will do."""
    missing = np.isnan(column.values)
    canonical = np.where(missing, 0.0, column.values) + 0.0  # -0.0 has bits of its own
    if column.is_discrete:
        _, first, codes = np.unique(column.values, return_index=True, return_inverse=True)
        canonical = np.argsort(np.argsort(first))[codes.reshape(-1)].astype(np.float64)
    digest = blake2b(canonical.data, digest_size=16)
    digest.update(missing.data)
    return digest.digest()


def _monotone(table: Table, used: list[int]) -> Iterator[tuple[int, int]]:
    """Yield pairs of numeric columns of the same ranks, counted from either end."""
    seen: dict[bytes, int] = {}
    numbers = [index for index in used if table.columns[index].feature_type != "nominal"]
    # A column may be continuous and its image ordinal, so one kind stands for both.
    plain = Table(tuple(replace(column, feature_type="continuous") for column in table.columns))
    for index in _alike_at_first(plain, numbers, _rank_fingerprint):
        yield seen.setdefault(_rank_fingerprint(table.columns[index]), index), index


def _rank_fingerprint(column: Column) -> bytes:
    """Return a digest of the ranks, the same for those counted from the other end."""
    codes, missing = column.codes(), np.isnan(column.values)
    codes[missing] = -1
    turned = np.where(missing, -1, codes.max() - codes)
    return min(blake2b(c.data, digest_size=16).digest() for c in (codes, turned))


@dataclass(frozen=True, eq=False)
class _Shadow:
    """A column's projection on a fixed direction, equal for affine copies up to `tolerance`."""

    index: int
    projection: float
    tolerance: float


def _affine(table: Table, used: list[int]) -> Iterator[tuple[int, int]]:
    """Yield pairs of numeric columns that are equal up to an affine map.

    An ordinal column takes part as well: its copy in another unit may count as continuous, as
    whole inches and their centimetres do.
    """
    weights = np.random.default_rng(0).normal(size=table.n_samples)
    weights /= np.abs(weights).sum()  # so that projections differ by at most what columns do
    shadows = [
        shadow
        for index in used
        if table.columns[index].labels is None
        and table.columns[index].feature_type != "nominal"
        and (shadow := _shadow(index, table.columns[index].values, weights)) is not None
    ]
    originals: list[_Shadow] = []  # of those met, the ones that a later column can still reach
    for shadow in sorted(shadows, key=lambda shadow: shadow.projection):
        originals = [
            o for o in originals if shadow.projection - o.projection <= 2 * LARGEST_TOLERANCE
        ]
        for original in originals:
            if _are_copies(table, original, shadow):
                yield original.index, shadow.index
                break
        else:
            originals.append(shadow)


def _shadow(index: int, values: FloatArray, weights: FloatArray) -> _Shadow | None:
    scores, tolerance = _standardised(values)
    if tolerance > LARGEST_TOLERANCE:
        return None
    projection = abs(float(weights @ np.nan_to_num(scores)))  # the same for both signs
    return _Shadow(index, projection, tolerance)


def _standardised(values: FloatArray) -> tuple[FloatArray, float]:
    """Return values of mean 0 and standard deviation 1, and how exact they are."""
    largest = np.nanmax(np.abs(values), initial=0.0)
    if largest == 0:  # only missing values and zeros
        return values, np.inf
    scaled = values / largest  # squares of huge or tiny values would overflow
    centred = scaled - np.nanmean(scaled)
    deviation = float(np.sqrt(np.nanmean(centred**2)))
    if deviation == 0:  # constant but for missing values
        return values, np.inf
    return centred / deviation, TOLERANCE + ROUNDING / deviation


def _are_copies(table: Table, one: _Shadow, other: _Shadow) -> bool:
    tolerance = one.tolerance + other.tolerance
    if other.projection - one.projection > tolerance:
        return False
    a, _ = _standardised(table.columns[one.index].values)
    b, _ = _standardised(table.columns[other.index].values)
    known = ~np.isnan(a)
    if not np.array_equal(known, ~np.isnan(b)):
        return False
    a, b = a[known], b[known]
    sign = 1.0 if a @ b >= 0 else -1.0
    return bool(np.abs(a - sign * b).max() <= tolerance)
