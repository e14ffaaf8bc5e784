"""One column of anything -> float64 values: numbers, seconds, or codes into labels.

The feature type is inferred elsewhere, see `feature_types`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from numbers import Complex, Real
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from .column import FloatArray
from .messages import cut, warn_caller

Form = Literal["number", "time", "bool", "text", "category", "graded"]

EXACT_INTEGERS = 2**53  # float64 holds every integer up to here, where the next one merges
BOOLS = ("False", "True")  # what 0 and 1 stand for in a column of bools


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column as the caller's table holds it, in numbers, without a feature type.

    Parameters
    ----------
    name : str
    form : {"number", "time", "bool", "text", "category", "graded"}
        "category" has categories in a stated order that need not mean anything, "graded" ones
        whose order does.
    values : array of float64, shape (n_samples,)
        Numbers, seconds (form "time") or codes into `labels`; NaN where missing.
        Always a fresh array, never the caller's memory.
    labels : tuple of str, optional
        What the codes stand for, where the column does not hold numbers.
    is_categorical : bool
        Whether the caller's table holds categories: labels, whatever they look like.
    """

    name: str
    form: Form
    values: FloatArray
    labels: tuple[str, ...] | None = None
    is_categorical: bool = False

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
    """Read a 1-D array of any dtype."""
    match values.dtype.kind:
        case "f" | "i" | "u":
            return RawColumn(name, "number", _to_floats(name, values))
        case "b":
            return RawColumn(name, "bool", np.array(values, dtype=np.float64), BOOLS)
        case "m" | "M":
            return RawColumn(name, "time", _seconds(name, values))
        case "S":
            return from_labels(name, [text.decode("utf-8", "replace") for text in values.tolist()])
    return from_objects(name, values if values.dtype.kind == "O" else values.tolist())


def from_series(name: str, series: nw.Series[Any]) -> RawColumn:
    """Read a narwhals series of any backend."""
    dtype, missing = series.dtype, None
    try:  # every library has types that it cannot convert
        if dtype in (nw.Enum, nw.Categorical):
            values: Any = series.to_list()
            categories, form = _categories(series)
        elif dtype in (nw.Int128, nw.UInt128, nw.List, nw.Struct, nw.Array, nw.Time):
            values = series.to_list()
        elif dtype.is_decimal():
            values, n_levels = series.cast(nw.Float64).to_numpy(), series.n_unique()
        elif dtype.is_integer():
            # A null would turn the integers into floats before their exactness is checked.
            missing = series.is_null().to_numpy().astype(bool)
            values = (series.fill_null(0) if missing.any() else series).to_numpy()
        else:
            values = np.asarray(series.to_numpy())
    except Exception as error:
        problem = f"column {name!r} of type {dtype} cannot be read ({error})"
        raise TypeError(f"{problem}; convert the column or leave it out") from error
    if dtype in (nw.Enum, nw.Categorical):
        return replace(from_labels(name, values, categories, form), is_categorical=True)
    if dtype.is_decimal():
        warn_merged(name, n_levels, len(np.unique(values)))
    if missing is not None:
        return RawColumn(name, "number", _to_floats(name, values, missing))
    return from_objects(name, values) if isinstance(values, list) else from_array(name, values)


def _categories(series: nw.Series[Any]) -> tuple[Iterable[Hashable] | None, Form]:
    """Return the categories in a stated order, None if there is none, and what the order means."""
    if isinstance(series.dtype, nw.Enum):
        is_polars = series.implementation.is_polars()
        return series.dtype.categories, "category" if is_polars else "graded"
    native = series.to_native()
    if getattr(getattr(native, "type", None), "ordered", False):  # pyarrow
        return native.unify_dictionaries().chunk(0).dictionary.to_pylist(), "graded"
    return None, "text"


def from_objects(name: str, values: Sequence[Any] | NDArray[Any]) -> RawColumn:
    """Read Python objects: all numbers, all texts, all bools or all times, and missing ones."""
    missing = np.fromiter(map(_is_missing, values), dtype=bool, count=len(values))
    present = [value for value, gone in zip(values, missing, strict=True) if not gone]
    families = {_family(kind) for kind in set(map(type, present))}
    if families == {"text"}:
        return from_labels(name, values)
    if families == {"bool"}:
        return RawColumn(name, "bool", _spread(map(float, present), missing), BOOLS)
    if families <= {"bool", "number"}:
        floats = [to_float(value) for value in present]
        warn_merged(name, len(set(present)), len(set(floats)))
        return RawColumn(name, "number", _spread(floats, missing))
    if len(families) == 1 and families <= {"date", "duration", "time of day"}:
        seconds = (seconds_of(name, value) for value in present)
        return RawColumn(name, "time", _spread(seconds, missing))
    raise _odd_value(name, values)


def from_labels(
    name: str,
    values: Sequence[Hashable] | NDArray[Any],
    categories: Iterable[Hashable] | None = None,
    form: Form = "text",
) -> RawColumn:
    """Read labels as codes in the order of `categories`, by default the sorted order."""
    try:
        used = {value for value in set(values) if not _is_missing(value)}
    except TypeError as error:  # an Arrow dictionary may hold lists
        raise _odd_value(name, values) from error
    order: list[Any] = [category for category in categories or () if category in used]
    if categories is None:
        try:
            order = sorted(used)
        except TypeError:  # categories of several types have no order of their own
            order = sorted(used, key=str)
    codes = {value: code for code, value in enumerate(order)}
    floats = np.array([codes.get(value, np.nan) for value in values], dtype=np.float64)
    return RawColumn(name, form, floats, tuple(str(value) for value in order))


def _to_floats(
    name: str, numbers: NDArray[Any], missing: NDArray[np.bool_] | None = None
) -> FloatArray:
    """Return numbers as new floats, warning where different ones become equal."""
    with np.errstate(over="ignore"):  # infinity is reported with its row
        floats = np.array(numbers, dtype=np.float64)
    is_wide = numbers.dtype.kind == "f" and numbers.dtype.itemsize > floats.itemsize
    is_whole = numbers.dtype.kind != "f" and len(floats)
    if is_wide or (is_whole and max(floats.max(), -floats.min()) >= EXACT_INTEGERS):
        known = ~np.isnan(floats) if missing is None else ~missing
        warn_merged(name, len(np.unique(numbers[known])), len(np.unique(floats[known])))
    if missing is not None:
        floats[missing] = np.nan
    return floats


def warn_merged(name: str, before: int, after: int) -> None:
    """Warn if there are fewer different values after than before."""
    if after < before:
        warn_caller(
            f"column {name!r}: {before} different values become {after} as float64, which holds "
            "about 16 digits, and integers up to 2**53; subtract an offset first, or pass them as "
            "text"
        )


def _seconds(name: str, times: NDArray[Any]) -> FloatArray:
    """Return NumPy's datetimes (since 1970) or durations in seconds, NaT as NaN."""
    if np.datetime_data(times.dtype)[0] in ("Y", "M"):  # of no fixed length
        times = times.astype(f"{times.dtype.kind}8[s]")
    spans = times - np.datetime64(0, "s") if times.dtype.kind == "M" else times
    # Dividing by a whole number is exact where multiplying by 1e-6 is not.
    seconds = np.asarray(spans / np.timedelta64(1, "s"))
    known = ~np.isnat(times)
    ticks = times[known].astype(np.int64)
    if len(ticks) and max(ticks.max(), -ticks.min()) >= EXACT_INTEGERS:
        warn_merged(name, len(np.unique(ticks)), len(np.unique(seconds[known])))
    return seconds


def seconds_of(name: str, value: Any) -> float:
    """Return a duration in seconds, a date or a time since 1970 in UTC unless it has a zone."""
    match value:
        case np.datetime64() | np.timedelta64():
            return float(_seconds(name, value.reshape(1))[0])
        case timedelta():
            return value.total_seconds()
        case datetime():
            moment = value if value.tzinfo else value.replace(tzinfo=UTC)
            return (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
        case date():
            return (value - date(1970, 1, 1)).total_seconds()
    return float(value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6)


def to_float(value: Any) -> float:
    """Return a number as float64, infinite if it is too large."""
    try:
        return float(value)
    except OverflowError:  # an integer beyond 1e308; infinity is reported with its row
        return math.inf if value > 0 else -math.inf


def _spread(values: Iterable[float], missing: NDArray[np.bool_]) -> FloatArray:
    """Return the values in the places that are not missing, NaN in the others."""
    spread = np.full(len(missing), np.nan)
    spread[~missing] = np.fromiter(values, dtype=np.float64)
    return spread


def _is_missing(value: Any) -> bool:
    if isinstance(value, str):  # first, because most objects in tables are texts
        return False
    # pandas' NA and NaT go by name, so that pandas need not be there.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()  # a signalling NaN cannot be compared
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.inexact) and bool(np.isnan(value))


#: Types that a column may hold together; subclasses stand before their parents.
FAMILIES: dict[str, tuple[type, ...]] = {
    "bool": (bool, np.bool_),
    "duration": (timedelta, np.timedelta64),  # to NumPy a duration is an integer
    "number": (Real, Decimal),
    "complex": (Complex,),
    "text": (str,),
    "date": (date, np.datetime64),
    "time of day": (time,),
}


def _family(kind: type) -> str:
    return next((name for name, types in FAMILIES.items() if issubclass(kind, types)), "other")


def _odd_value(name: str, values: Sequence[Any] | NDArray[Any]) -> Exception:
    """Return the error for a column that is neither all numbers nor all texts."""
    rows = [row for row, value in enumerate(values) if not _is_missing(value)]
    families = [_family(type(values[row])) for row in rows]
    odd = next((family for family in ("complex", "other") if family in families), None)
    differs = [row for row, family in zip(rows, families, strict=True) if family != families[0]]
    row = rows[families.index(odd)] if odd else differs[0]
    found = f"{_described(values[row])} in row {row}"
    if odd == "complex":
        return ValueError(
            f"Complex data not supported: column {name!r} holds {found}; pass its real and "
            "imaginary parts as two columns"
        )
    other = "" if odd else f", but {_described(values[rows[0]])} in row {rows[0]}"
    return TypeError(
        "argument must be a string or a number, the same throughout a column: column "
        f"{name!r} holds {found}{other}; convert the column or leave it out"
    )


def _described(value: Any) -> str:
    try:
        text = cut(repr(value), 200)
    except Exception:  # whatever an object of the caller does
        text = object.__repr__(value)
    return f"{text} ({type(value).__name__})"
