"""Missing and infinite values: found, named, and dealt with by a stated policy."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from .column import IntArray
from .input import read_columns
from .messages import check_choice
from .raw_column import RawColumn

Missing = Literal["error", "drop", "category"]


def kept_rows(inputs: Mapping[str, Sequence[RawColumn]], missing: Missing = "error") -> IntArray:
    """Return the rows to go on with, or raise what the policy asks for.

    `inputs` is what the caller passed, by the name of the argument ("X", "y").
    """
    check_choice(missing, get_args(Missing), "missing")
    for argument, raws in inputs.items():
        _check_finite(argument, raws)
    columns = [raw for raws in inputs.values() for raw in raws]
    everything = np.arange(len(columns[0].values), dtype=np.int64)
    gaps = {argument: counts for argument, raws in inputs.items() if (counts := _count(raws))}
    if missing == "category" or not gaps:
        return everything
    found = " ".join(_sentence(argument, counts) for argument, counts in gaps.items())
    if missing == "error":
        raise ValueError(
            f"{found} Either impute the missing values (for example with "
            "sklearn.impute.SimpleImputer), or use missing='drop' to drop the rows that have any, "
            "or missing='category' to treat them as a separate level."
        )
    complete = np.ones(len(everything), dtype=bool)
    for raw in columns:
        complete &= ~np.isnan(raw.values)
    rows: IntArray = everything[complete]
    if len(rows) == 0:
        raise ValueError(
            f"missing='drop' leaves none of the {len(everything)} rows. {found} Leave out the "
            "columns with most of them, fill them in first, or use missing='category'."
        )
    return rows


def check_no_gaps(argument: str, raws: Sequence[RawColumn]) -> None:
    """Refuse missing and infinite values where there is no policy for them."""
    _check_finite(argument, raws, "")
    if counts := _count(raws):
        raise ValueError(
            f"{_sentence(argument, counts)} Leave out these samples in all variables, or fill in "
            "the values first."
        )


def check_complete(X: Any) -> None:
    """Refuse a table that is only to be passed on if anything in it is missing or infinite."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has warned
        raws = read_columns(X)
    incomplete = [raw for raw in raws if not np.isfinite(raw.values).all()]
    _check_finite("X", incomplete)
    if incomplete:
        raise ValueError(
            f"{_sentence('X', _count(incomplete))} Either fill in the missing values first (for "
            "example with sklearn.impute.SimpleImputer), or use missing='drop' or "
            "missing='category', with which they are passed on."
        )


def _check_finite(
    argument: str,
    raws: Sequence[RawColumn],
    or_else: str = ", or by NaN together with missing='drop' or missing='category'",
) -> None:
    for raw in raws:
        infinite = np.isinf(raw.values)
        if infinite.any():
            row = int(np.argmax(infinite))
            raise ValueError(
                f"Input {argument} contains infinity or a value too large for dtype('float64'). "
                f"Column {raw.name!r} holds {raw.values[row]} in row {row}; replace it by a "
                f"number{or_else}"
            )


def _count(raws: Sequence[RawColumn]) -> dict[str, int]:
    counts = {raw.name: int(np.count_nonzero(np.isnan(raw.values))) for raw in raws}
    return {name: count for name, count in counts.items() if count}


def _sentence(argument: str, counts: Mapping[str, int]) -> str:
    named = ", ".join(f"{name!r} ({count} missing)" for name, count in counts.items())
    return f"Input {argument} contains NaN: {named}."
