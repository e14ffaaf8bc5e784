"""Duplicate columns, equal up to an affine map or a relabelling, and near-duplicates by rank.

Comparing all pairs of p columns takes p² n steps. Instead each column gets a number that duplicates
share, and only columns with equal numbers are compared: about p n + p log p steps.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import rankdata

from .column import Column, FloatArray, IntArray
from .table import Table

FIRST_SAMPLES = 2**10  # enough to distinguish most columns

TOLERANCE = 1e-10  # the largest difference of duplicates, in standard deviations
ROUNDING = 8 * np.finfo(np.float64).eps  # what a few operations lose, relative to the largest value
# A column far from zero loses digits to its offset. Beyond this loss duplicates cannot be
# distinguished from columns with a little noise, and only identical ones are reported.
LARGEST_TOLERANCE = 1e-7

#: The absolute rank correlation of near-duplicates.
NEAR_DUPLICATE = 0.99

#: Rows of which ranks are correlated: with 2000, correlations of 0.99 and 0.985 are distinguished.
#: Of more rows a fixed random sample is used.
RANK_ROWS = 2_000

#: Rows in which columns are compared first, and the correlation there of any that are compared in
#: more: that of near-duplicates scatters by 0.001.
SCREENED_ROWS, SCREENED = 250, 0.97

#: Columns of a block of the correlation matrix.
BLOCK = 1_000


def find_duplicates(
    table: Table,
    prefer: Collection[int] = (),
    without: Collection[int] = (),
    by_rank: bool = False,
) -> dict[int, int]:
    """Return the index of each duplicate with that of the column that represents it.

    Numbers (continuous, ordinal) are duplicates if they are equal up to an affine map of either
    sign, with `by_rank` up to a strictly monotone map; discrete columns (ordinal, nominal) also if
    they are equal up to a renaming of their levels. Missing values must be in the same places. The
    first column of a group represents it, or the first of those to `prefer`. Skipped columns and
    those of `without` are excluded.
    """
    aside = {*table.skipped, *without}
    used = [index for index in range(len(table)) if index not in aside]
    pairs = [*_equal(table, used, _fingerprint), *_affine(table, used)]
    if by_rank:
        numbers = [index for index in used if table.columns[index].feature_type != "nominal"]
        pairs += _equal(table, numbers, _rank_fingerprint)
    group = {index: {index} for index in used}
    for one, other in pairs:
        if group[one] is not group[other]:
            small, large = sorted((group[one], group[other]), key=len)
            large |= small
            group.update(dict.fromkeys(small, large))
    first = {i: min(group[i], key=lambda j: (j not in prefer, j)) for i in used}
    return {index: original for index, original in first.items() if index != original}


def _equal(
    table: Table, used: list[int], digest: Callable[[Column], bytes]
) -> Iterator[tuple[int, int]]:
    """Yield pairs of columns with the same digest.

    Columns that differ in their first samples are no duplicates, so that most columns are not
    sorted as a whole.
    """
    first = np.arange(min(FIRST_SAMPLES, table.n_samples))
    alike: dict[bytes, list[int]] = {}
    for index in used:
        alike.setdefault(digest(table.columns[index].take(first)), []).append(index)
    seen: dict[bytes, int] = {}
    for group in alike.values():
        for index in group if len(group) > 1 else ():
            yield seen.setdefault(digest(table.columns[index]), index), index


def _fingerprint(column: Column) -> bytes:
    """Return a digest of the values, or of levels numbered as they appear; 128 bits will do."""
    missing = np.isnan(column.values)
    canonical = np.where(missing, 0.0, column.values) + 0.0  # -0.0 has bits of its own
    if column.is_discrete:
        _, first, codes = np.unique(column.values, return_index=True, return_inverse=True)
        canonical = np.argsort(np.argsort(first))[codes.reshape(-1)].astype(np.float64)
    digest = blake2b(canonical.data, digest_size=16, salt=bytes([column.is_discrete]))
    digest.update(missing.data)
    return digest.digest()


def _rank_fingerprint(column: Column) -> bytes:
    """Return a digest of the ranks, the same for those counted from the other end."""
    codes, missing = column.codes(), np.isnan(column.values)
    codes[missing] = -1
    turned = np.where(missing, -1, codes.max() - codes)
    return min(blake2b(c.data, digest_size=16).digest() for c in (codes, turned))


def _affine(table: Table, used: list[int]) -> Iterator[tuple[int, int]]:
    """Yield pairs of numeric columns that are equal up to an affine map.

    Standardised, they have the same projection on a fixed direction, up to what is lost by
    rounding. Ordinal columns are included: the duplicate in another unit may be continuous, as
    whole inches and their centimetres do.
    """
    weights = np.random.default_rng(0).normal(size=table.n_samples)
    weights /= np.abs(weights).sum()  # so that projections differ by at most what columns do
    found: list[tuple[float, int, float]] = []
    for index in used:
        column = table.columns[index]
        if column.labels is None and column.feature_type != "nominal":
            scores, tolerance = _standardised(column.values)
            if tolerance <= LARGEST_TOLERANCE:
                projection = abs(float(weights @ np.nan_to_num(scores)))  # the same for both signs
                found.append((projection, index, tolerance))
    originals: list[tuple[float, int, float]] = []  # those that a later column can still reach
    for projection, index, tolerance in sorted(found):
        originals = [one for one in originals if projection - one[0] <= 2 * LARGEST_TOLERANCE]
        for other_projection, other, other_tolerance in originals:
            most = tolerance + other_tolerance
            if projection - other_projection <= most and _are_copies(table, other, index, most):
                yield other, index
                break
        else:
            originals.append((projection, index, tolerance))


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


def _are_copies(table: Table, one: int, other: int, tolerance: float) -> bool:
    a, b = (_standardised(table.columns[index].values)[0] for index in (one, other))
    known = ~np.isnan(a)
    if not np.array_equal(known, ~np.isnan(b)):
        return False
    a, b = a[known], b[known]
    sign = 1.0 if a @ b >= 0 else -1.0
    return bool(np.abs(a - sign * b).max() <= tolerance)


def near_duplicates(table: Table, numbers: Sequence[int]) -> list[list[int]]:
    """Return groups of numeric columns whose ranks are nearly the same, counted from either end.

    Two columns of a group may be alike only by way of a third.
    """
    if not numbers:
        return []
    columns = [table.columns[i] for i in numbers]
    graph = csr_array(are_near_duplicates(columns, columns))
    _, labels = connected_components(graph, directed=False)
    groups: dict[int, list[int]] = {}
    for index, label in zip(numbers, labels.tolist(), strict=True):
        groups.setdefault(label, []).append(index)
    return [group for group in groups.values() if len(group) > 1]


def are_near_duplicates(goals: Sequence[Column], columns: Sequence[Column]) -> NDArray[np.bool_]:
    """Return which columns have nearly the ranks of which goals, shape (n_goals, n_columns).

    Columns that differ in a few rows are not ranked in more of them.
    """
    n_samples = len(columns[0].values) if columns else 0
    found = np.ones((len(goals), len(columns)), dtype=bool)
    for most, least in ((SCREENED_ROWS, SCREENED), (RANK_ROWS, NEAR_DUPLICATE)):
        rows = np.arange(n_samples)
        if n_samples > most:
            rows = np.sort(np.random.default_rng(0).choice(n_samples, most, replace=False))
        goal_ranks = ranks_of(goals, rows).T
        left = np.flatnonzero(found.any(axis=0))
        for start in range(0, len(left), BLOCK):
            part = left[start : start + BLOCK]
            correlations = goal_ranks @ ranks_of([columns[i] for i in part], rows)
            found[:, part] &= np.abs(correlations) > least
    return found


def ranks_of(columns: Sequence[Column], rows: IntArray) -> NDArray[np.float32]:
    """Return ranks of mean 0 and length 1, one column each; gaps are in the middle."""
    ranks = np.zeros((len(rows), len(columns)), dtype=np.float32)
    if not columns:
        return ranks
    values = np.stack([column.values[rows] for column in columns], axis=1)
    gaps = np.isnan(values)
    complete = ~gaps.any(axis=0)
    ranks[:, complete] = _unit_ranks(values[:, complete])
    for place in np.flatnonzero(~complete & ~gaps.all(axis=0)):
        known = ~gaps[:, place]
        ranks[known, place] = _unit_ranks(values[known, place : place + 1])[:, 0]
    return ranks


def _unit_ranks(values: FloatArray) -> FloatArray:
    """Return ranks of mean 0 and length 1 in each column, zeros in a constant one."""
    if not values.size:
        return values
    order = np.asarray(rankdata(values, axis=0), dtype=np.float64)
    order -= order.mean(axis=0)
    length = np.sqrt((order**2).sum(axis=0))
    return order / np.where(length > 0, length, 1.0)
