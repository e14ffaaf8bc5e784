"""A column as a few levels with readable names: labels, whole numbers, intervals."""

from __future__ import annotations

from itertools import pairwise
from math import floor, log10

import numpy as np

from pidselect.data import Column, FloatArray, IntArray

#: Levels of a column, beside missing values; rarer labels are lumped, numbers are binned.
MAX_LEVELS, N_BINS = 6, 5


def column_levels(column: Column, n_bins: int = N_BINS) -> tuple[list[str], IntArray]:
    """Return the names of a few levels, and the level of each row.

    Of more than `MAX_LEVELS` labels all but the most frequent become "other"; more numbers are
    binned at quantiles, rounded so that the intervals are readable. A level "missing" comes last if
    there is any.

    Examples
    --------
    >>> column_levels(Column("x", "continuous", np.arange(0.5, 10.5)))[0]
    ['< 2.5', '2.5 to 4.5', '4.5 to 6.5', '6.5 to 8.5', '≥ 8.5']
    >>> names, codes = column_levels(Column("x", "ordinal", np.arange(10.0)))
    >>> names
    ['≤ 1', '2 to 3', '4 to 5', '6 to 7', '≥ 8']
    >>> codes
    array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    """
    is_missing = np.isnan(column.values)
    if is_binned(column):
        names, codes = _binned(column.values, n_bins)
    else:
        levels, codes = np.unique(column.values, return_inverse=True)
        names = level_names(column)
        if len(names) > MAX_LEVELS:
            frequency = np.bincount(codes[~is_missing])
            kept = np.sort(np.argsort(-frequency, kind="stable")[: MAX_LEVELS - 1])
            place = np.full(len(levels), len(kept))
            place[kept] = np.arange(len(kept))
            names, codes = [*(names[level] for level in kept), "other"], place[codes]
    if is_missing.any():
        codes, names = np.where(is_missing, len(names), codes), [*names, "missing"]
    return names, codes


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
