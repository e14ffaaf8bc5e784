"""Binning: numbers of many levels become states; few levels and labels are states as they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from pidselect.data import Block, Column, FloatArray, IntArray
from pidselect.data.column import renumbered

Binning = Literal["count", "width"]
BINNINGS: tuple[Binning, ...] = get_args(Binning)

#: The largest table of joint states: 160 MB, of which measures make a few copies.
MOST_CELLS = 2 * 10**7


def to_codes(
    block: Block, bins: int | None = 5, binning: Binning = "count", most_levels: float = math.inf
) -> IntArray:
    """Return the state of each sample of one joint variable, as 0, 1, ... without gaps.

    Continuous columns, and ordinal ones of more than `most_levels`, are binned one by one, into
    fewer bins where many values are equal; others are used as they are, and all of them if `bins`
    is None. A missing value is a level of its own. States are ordered by the first column, then the
    second, and so on.
    """
    return join_codes([_levels(column, bins, binning, most_levels) for column in block.columns])


def join_codes(codes: Sequence[IntArray]) -> IntArray:
    """Return the joint state of several variables, as 0, 1, ... without gaps."""
    joint = np.zeros_like(codes[0])
    for code in codes:
        # Renumbered each time, so that no number grows beyond the square of the samples.
        joint = renumbered(joint * (int(code.max()) + 1) + code)
    return joint


def count_bins(block: Block, bins: int, binning: Binning, most_levels: float) -> dict[str, int]:
    """Return the number of bins that occur of each column that is binned, by its name."""
    return {
        column.name: len(np.unique(_levels(column, bins, binning, most_levels)))
        for column in block.columns
        if is_binned(column, most_levels)
    }


def _levels(column: Column, bins: int | None, binning: Binning, most_levels: float) -> IntArray:
    if bins is None or not is_binned(column, most_levels):
        return column.codes()
    present = ~np.isnan(column.values)
    to_bins = equal_count_bins if binning == "count" else equal_width_bins
    levels = np.full(len(column.values), bins, dtype=np.int64)
    levels[present] = to_bins(column.values[present], bins)
    return levels


def is_binned(column: Column, most_levels: float) -> bool:
    """Return whether a column has too many ordered levels to count each of them."""
    is_ordinal = column.feature_type == "ordinal"
    return column.feature_type == "continuous" or (is_ordinal and column.levels() > most_levels)


def equal_count_bins(values: FloatArray, bins: int) -> IntArray:
    """Return bins of equal counts, as far as ties permit.

    Bin k of 0, 1, ... ends with the value of rank floor(N (k + 1) / bins). Values equal to the last
    one of a bin belong to it: with many ties, counts are unequal, and some bins may be empty.
    """
    n = len(values)
    ends = n * np.arange(1, bins) // bins
    last = np.sort(values)[ends[ends > 0] - 1]
    return np.searchsorted(last, values, side="left").astype(np.int64)


def equal_width_bins(values: FloatArray, bins: int) -> IntArray:
    """Return bins of equal width between the smallest and the largest value.

    A value on a border belongs to the upper bin, the largest value to the last one.
    """
    low, high = float(values.min()), float(values.max())
    if low == high:
        return np.zeros(len(values), dtype=np.int64)
    # A range beyond the largest float is halved first.
    scale = 1.0 if math.isfinite(high - low) else 0.5
    share = (values * scale - low * scale) / (high * scale - low * scale)
    return np.minimum((share * bins).astype(np.int64), bins - 1)


def check_size(shape: Sequence[int]) -> None:
    """Raise if a table of joint states, the target last, would be too large."""
    if math.prod(shape) > MOST_CELLS:
        first, *others = (f"source {i} has {levels}" for i, levels in enumerate(shape[:-1], 1))
        raise ValueError(
            f"{', '.join([f'{first} states', *others])} and the target has {shape[-1]}, which "
            f"makes {math.prod(shape):.0e} joint states, more than {MOST_CELLS:.0e}. Use fewer "
            'bins, fewer columns in a source, or measure="gaussian" or "sx-ksg", which need no '
            "states."
        )
