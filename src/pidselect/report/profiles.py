"""The target against single features, as plain numbers: means or shares of classes by level."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pidselect.data import Column, Dataset
from pidselect.report.joint import class_names, class_text
from pidselect.report.levels import column_levels, decimals, is_binned, number_text
from pidselect.report.sentences import target_name

#: Features and classes that are shown; rarer classes are lumped.
MAX_PROFILES, MAX_CLASSES = 24, 5

#: Bins of a line, and rows of each bin at least.
LINE_BINS, ROWS_PER_BIN = 10, 20


def target_profiles(names: Iterable[str], dataset: Dataset) -> list[dict[str, Any]]:
    """Return the target against each of the columns named; groups of columns have none.

    See `target_profile`.
    """
    if len(dataset.target) > 1:
        return []
    known = [name for name in names if name in dataset.table.names]
    return [target_profile(dataset, name) for name in known[:MAX_PROFILES]]


def target_profile(dataset: Dataset, name: str) -> dict[str, Any]:
    """Return means of a target, or shares of its classes, at the levels of a column.

    Returns
    -------
    dict
        `feature`; `levels`, `counts` of rows; `values`, for each level the mean, or the shares of
        the `classes` (of two the second alone); `errors`, two standard errors of a mean or of a
        single share; `quantity` in words; `overall`, of all rows.
        `positions` are the means of a binned feature in each bin, else None, and `ends` the
        first and the last of them as text.

    Examples
    --------
    >>> from pidselect.data import read_dataset
    >>> dataset = read_dataset([[0], [0], [1], [1]], ["no", "yes", "yes", "yes"])
    >>> found = target_profile(dataset, "x0")
    >>> found["quantity"], found["values"], found["counts"]
    ('share of class yes', [[0.5], [1.0]], [2, 2])
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


def _outcomes(target: Column) -> tuple[str, list[str], list[Any]]:
    """Return what is averaged in words, the classes, and an array for each value of a level."""
    if target.feature_type != "nominal":
        return f"mean of {target_name(target.name)}", [], [target.values]
    codes, names = target.codes(), class_names(target)
    if len(names) == 2:
        quantity = f"share of {class_text(target, names[1])}"
        return quantity, [names[1]], [(codes == 1).astype(float)]
    if len(names) > MAX_CLASSES:
        kept = np.sort(np.argsort(-np.bincount(codes), kind="stable")[: MAX_CLASSES - 1])
        place = np.full(len(names), len(kept))
        place[kept] = np.arange(len(kept))
        names, codes = [*(names[one] for one in kept), "other"], place[codes]
    shares = [(codes == one).astype(float) for one in range(len(names))]
    return f"shares of the classes of {target_name(target.name)}", names, shares
