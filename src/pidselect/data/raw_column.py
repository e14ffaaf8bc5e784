"""One column of anything -> float64 values: numbers, seconds, or codes into labels.

The feature type is inferred elsewhere, see `feature_types`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from numbers import Complex, Real
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from .column import FloatArray, IntArray
from .messages import warn_caller

Form = Literal["number", "time", "bool", "text", "category", "graded"]
Family = Literal["number", "bool", "text", "moment", "span", "clock", "complex", "other"]

EXACT_INTEGERS = 2**53  # float64 holds every integer up to here, where the next one merges
BOOLS = ("False", "True")  # what 0 and 1 stand for in a column of bools
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column as the caller's table holds it, in numbers, without a feature type.

    Parameters
    ----------
    name : str
        The column's name.
    form : {"number", "time", "bool", "text", "category", "graded"}
        What the table holds: "category" has categories in a stated order that
        need not mean anything, "graded" ones whose order does.
    values : array of float64, shape (n_samples,)
        Numbers, seconds (form "time") or codes into `labels`; NaN where missing.
        Always a fresh array, never the caller's memory.
    labels : tuple of str, optional
        What the codes stand for, where the column does not hold numbers.
    """

    name: str
    form: Form
    values: FloatArray
    labels: tuple[str, ...] | None = None

    def take(self, rows: IntArray) -> RawColumn:
        """Return the column restricted to `rows`."""
        return RawColumn(self.name, self.form, self.values[rows], self.labels)

    def present(self) -> FloatArray:
        """Return the values that are not missing."""
        missing = np.isnan(self.values)
        return self.values[~missing] if missing.any() else self.values

    def shown(self, row: int) -> str:
        """Return the value in a row as in the input, for messages."""
        value = self.values[row]
        if np.isnan(value):
            return "nan"
        return repr(self.labels[int(value)]) if self.labels else f"{value:g}"


def from_array(name: str, values: NDArray[Any]) -> RawColumn:
    """Read a 1-D array of any dtype.

    Examples
    --------
    >>> from_array("when", np.array(["1970-01-02", "NaT"], dtype="datetime64[D]")).values
    array([86400.,    nan])
    """
    match values.dtype.kind:
        case "f":
            return RawColumn(name, "number", np.array(values, dtype=np.float64))
        case "i" | "u":
            return RawColumn(name, "number", _exact_floats(name, values))
        case "b":
            return RawColumn(name, "bool", np.array(values, dtype=np.float64), BOOLS)
        case "m" | "M":
            return RawColumn(name, "time", _seconds(name, values))
        case "S":
            texts = [value.decode("utf-8", "replace") for value in values.tolist()]
            return from_labels(name, texts)
        case _:
            return from_objects(name, values if values.dtype.kind == "O" else values.tolist())


def from_series(name: str, series: nw.Series[Any]) -> RawColumn:
    """Read a narwhals series of any backend.

    Examples
    --------
    >>> import pandas as pd
    >>> grades = pd.Series(pd.Categorical(["good", None, "bad"], ["bad", "good"], ordered=True))
    >>> raw = from_series("grade", nw.from_native(grades, series_only=True))
    >>> raw.form, raw.values, raw.labels
    ('graded', array([ 1., nan,  0.]), ('bad', 'good'))
    """
    dtype = series.dtype
    if dtype in (nw.Enum, nw.Categorical):
        return _from_categories(name, series)
    if dtype in (nw.Int128, nw.UInt128, nw.List, nw.Struct, nw.Array):
        return from_objects(name, series.to_list())
    if dtype.is_integer():
        # A null would turn the integers into floats before their exactness is checked.
        missing = series.is_null().to_numpy().astype(bool)
        integers = series.fill_null(0).to_numpy() if missing.any() else series.to_numpy()
        return RawColumn(name, "number", _exact_floats(name, integers, missing))
    if dtype.is_decimal():
        series = series.cast(nw.Float64)
    return from_array(name, np.asarray(series.to_numpy()))


def gaps_of_array(name: str, values: NDArray[Any]) -> RawColumn:
    """Read only where values are missing or infinite, all others as 0: quick also for texts.

    Examples
    --------
    >>> gaps_of_array("wind", np.array([1.5, np.nan, -np.inf])).values
    array([  0.,  nan, -inf])
    """
    match values.dtype.kind:
        case "f":
            gaps = np.where(np.isfinite(values), 0.0, values)
            return RawColumn(name, "number", gaps.astype(np.float64))
        case "m" | "M":
            missing = np.isnat(values)
        case "O":
            floats = [value if isinstance(value, float) else 0.0 for value in values]
            missing = np.fromiter(map(_is_missing, values), dtype=bool, count=len(values))
            infinite = np.isinf(floats)
            return RawColumn(
                name, "number", np.where(missing, np.nan, np.where(infinite, floats, 0.0))
            )
        case _:
            missing = np.zeros(len(values), dtype=bool)
    return RawColumn(name, "number", np.where(missing, np.nan, 0.0))


def gaps_of_series(name: str, series: nw.Series[Any]) -> RawColumn:
    """Read only where a narwhals series is missing or infinite, all others as 0.

    Examples
    --------
    >>> import polars as pl
    >>> gaps_of_series("port", nw.from_native(pl.Series(["a", None]), series_only=True)).values
    array([ 0., nan])
    """
    if series.dtype.is_float() or series.dtype == nw.Object:
        return gaps_of_array(name, np.asarray(series.to_numpy()))
    missing = series.is_null().to_numpy().astype(bool)
    return RawColumn(name, "number", np.where(missing, np.nan, 0.0))


def from_objects(name: str, values: Sequence[Any] | NDArray[Any]) -> RawColumn:
    """Read Python objects: all numbers, all texts, all bools or all times, and missing ones.

    Examples
    --------
    >>> from_objects("a", ["yes", None, "no"]).values
    array([ 1., nan,  0.])
    >>> from_objects("a", [1, {"foo": "bar"}])
    Traceback (most recent call last):
    ...
    TypeError: argument must be a string or a number, the same throughout a column: column 'a'
    holds {'foo': 'bar'} (dict) in row 1; convert the column or leave it out
    """
    missing = np.fromiter(map(_is_missing, values), dtype=bool, count=len(values))
    rows = np.flatnonzero(~missing).tolist()
    families = {_family(feature_type) for feature_type in {type(values[row]) for row in rows}}
    if families <= {"bool", "number"}:
        if families == {"bool"}:
            return RawColumn(name, "bool", _spread(map(float, _at(values, rows)), missing), BOOLS)
        return RawColumn(name, "number", _numbers(name, _at(values, rows), missing))
    if families == {"text"}:
        return from_labels(name, values, missing)
    if len(families) == 1 and families <= _CLOCKS.keys():
        seconds = _CLOCKS[families.pop()]
        return RawColumn(name, "time", _spread(map(seconds, _at(values, rows)), missing))
    raise _odd_value(name, values, rows)


def from_labels(
    name: str,
    values: Sequence[Hashable] | NDArray[Any],
    missing: NDArray[np.bool_] | None = None,
    categories: Iterable[Hashable] | None = None,
    form: Form = "text",
) -> RawColumn:
    """Read labels as codes in the order of `categories`, by default the sorted order.

    Examples
    --------
    >>> from_labels("size", ["S", "L", "S"], categories=["S", "M", "L"], form="graded").values
    array([0., 1., 0.])
    """
    if missing is None:
        missing = np.zeros(len(values), dtype=bool)
    present = [value for value, gone in zip(values, missing, strict=True) if not gone]
    used = set(present)
    order = _sorted(used) if categories is None else [c for c in categories if c in used]
    codes = {value: code for code, value in enumerate(order)}
    floats = _spread((codes[value] for value in present), missing)
    return RawColumn(name, form, floats, tuple(str(value) for value in order))


def _from_categories(name: str, series: nw.Series[Any]) -> RawColumn:
    """Read a categorical; those of pandas and pyarrow may be ordered."""
    values, missing = series.to_list(), series.is_null().to_numpy().astype(bool)
    native = series.to_native()
    if isinstance(series.dtype, nw.Enum):
        form: Form = "category" if series.implementation.is_polars() else "graded"
        return from_labels(name, values, missing, series.dtype.categories, form)
    if getattr(getattr(native, "type", None), "ordered", False):  # pyarrow
        categories = native.unify_dictionaries().chunk(0).dictionary.to_pylist()
        return from_labels(name, values, missing, categories, "graded")
    return from_labels(name, values, missing)


def _exact_floats(
    name: str, integers: NDArray[Any], missing: NDArray[np.bool_] | None = None
) -> FloatArray:
    """Return integers as floats, warning where different ones become equal."""
    floats = integers.astype(np.float64)
    if len(integers) and (floats.max() >= EXACT_INTEGERS or floats.min() <= -EXACT_INTEGERS):
        known = slice(None) if missing is None else ~missing
        _warn_merged(name, len(np.unique(integers[known])), len(np.unique(floats[known])))
    if missing is not None:
        floats[missing] = np.nan
    return floats


def _warn_merged(name: str, before: int, after: int) -> None:
    if after < before:
        warn_caller(
            f"column {name!r}: {before} different values become {after} as float64, which holds "
            "all integers only up to 2**53; subtract an offset first, or pass them as text"
        )


def _seconds(name: str, times: NDArray[Any]) -> FloatArray:
    """Return numpy's datetimes (since 1970) or durations in seconds, NaT as NaN."""
    missing = np.isnat(times)
    if np.datetime_data(times.dtype)[0] in ("Y", "M", "generic"):  # of no fixed length
        times = times.astype(f"{times.dtype.kind}8[s]")
    unit: Any  # NumPy's stubs accept only literal units
    unit, count = np.datetime_data(times.dtype)
    length = float(np.timedelta64(count, unit) / np.timedelta64(1, "s"))
    ticks = times.astype(np.int64)
    ticks[missing] = 0
    # Dividing by a whole number is exact where multiplying by 1e-6 is not.
    seconds = ticks * length if length >= 1 else ticks / np.round(1 / length)
    if len(ticks) and np.abs(ticks).max() >= EXACT_INTEGERS:
        _warn_merged(name, len(np.unique(ticks)), len(np.unique(seconds)))
    return np.where(missing, np.nan, seconds)


def _numbers(name: str, present: list[Any], missing: NDArray[np.bool_]) -> FloatArray:
    floats = [_float(value) for value in present]
    if any(abs(value) >= EXACT_INTEGERS for value in floats):
        _warn_merged(name, len(set(present)), len(set(floats)))
    return _spread(floats, missing)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer beyond 1e308; infinity is reported with its row
        return float("inf") if value > 0 else float("-inf")


def _spread(values: Iterable[float], missing: NDArray[np.bool_]) -> FloatArray:
    """Return the values in the places that are not missing, NaN in the others."""
    spread = np.full(len(missing), np.nan)
    spread[~missing] = np.fromiter(values, dtype=np.float64)
    return spread


def _at(values: Sequence[Any] | NDArray[Any], rows: list[int]) -> list[Any]:
    return [values[row] for row in rows]


def _sorted(values: Iterable[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:  # categories of several types have no order of their own
        return sorted(values, key=str)


def _is_missing(value: Any) -> bool:
    if isinstance(value, str):  # first, because most objects in tables are texts
        return False
    # pandas' NA and NaT go by name, so that pandas need not be there.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, float | np.inexact | Decimal | np.datetime64 | np.timedelta64):
        return bool(value != value)
    return False


def _family(feature_type: type) -> Family:
    """Return the family a type belongs to; subclasses stand before their parents."""
    families: tuple[tuple[Family, tuple[type, ...]], ...] = (
        ("bool", (bool, np.bool_)),
        ("span", (timedelta, np.timedelta64)),  # to numpy a duration is an integer
        ("number", (Real, Decimal)),
        ("complex", (Complex,)),
        ("text", (str,)),
        ("moment", (date, np.datetime64)),
        ("clock", (time,)),
    )
    return next((name for name, types in families if issubclass(feature_type, types)), "other")


def _moment_seconds(value: date | np.datetime64) -> float:
    if isinstance(value, np.datetime64):
        return float(_seconds("", value.reshape(1))[0])
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return ((value if value.tzinfo else value.replace(tzinfo=UTC)) - _EPOCH).total_seconds()


def _span_seconds(value: timedelta | np.timedelta64) -> float:
    if isinstance(value, np.timedelta64):
        return float(_seconds("", value.reshape(1))[0])
    return value.total_seconds()


def _clock_seconds(value: time) -> float:
    return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6


def _odd_value(name: str, values: Sequence[Any] | NDArray[Any], rows: list[int]) -> Exception:
    """Return the error for a column that is neither all numbers nor all texts."""
    families = [_family(type(values[row])) for row in rows]
    if "complex" in families:
        row = rows[families.index("complex")]
        return ValueError(
            f"Complex data not supported: column {name!r} holds {values[row]!r} in row {row}; "
            "pass its real and imaginary parts as two columns"
        )
    if "other" in families:
        row = rows[families.index("other")]
        other = ""
    else:
        row = next(rows[i] for i, family in enumerate(families) if family != families[0])
        other = f", but {values[rows[0]]!r} ({type(values[rows[0]]).__name__}) in row {rows[0]}"
    return TypeError(
        "argument must be a string or a number, the same throughout a column: "
        f"column {name!r} holds {values[row]!r} ({type(values[row]).__name__}) in row {row}"
        f"{other}; convert the column or leave it out"
    )


_CLOCKS: dict[Family, Any] = {
    "moment": _moment_seconds,
    "span": _span_seconds,
    "clock": _clock_seconds,
}
