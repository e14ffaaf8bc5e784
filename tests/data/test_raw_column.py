"""One column of anything becomes float64: numbers, seconds or codes."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pidselect.data.input import read_vectors

DAY = 86400.0


def read(values):
    (raw,) = read_vectors(values, "a")
    return raw


MISSING_NUMBERS = {
    "numpy": np.array([1.0, np.nan, 3.0]),
    "list": [1, None, 3],
    "objects": np.array([1, np.nan, Decimal(3)], dtype=object),
    "decimal-nan": [Fraction(1), Decimal("nan"), 3],
    "pandas": pd.Series([1.0, np.nan, 3.0]),
    "pandas-Int64": pd.Series([1, pd.NA, 3], dtype="Int64"),
    "pandas-Float64": pd.Series([1, pd.NA, 3], dtype="Float64"),
    "pandas-object": pd.Series([1, pd.NA, 3], dtype=object),
    "pandas-pyarrow": pd.Series([1, None, 3], dtype="int64[pyarrow]"),
    "pandas-array": pd.array([1, None, 3], dtype="Int64"),
    "polars-int": pl.Series([1, None, 3]),
    "polars-float": pl.Series([1.0, None, 3.0]),
    "polars-decimal": pl.Series([Decimal(1), None, Decimal(3)]),
    "polars-int128": pl.Series([1, None, 3], dtype=pl.Int128),
    "pyarrow": pa.chunked_array([[1, None], [3]]),
    "pyarrow-array": pa.array([1, None, 3]),
    "pyarrow-decimal": pa.chunked_array([pa.array([Decimal(1), None, Decimal(3)])]),
}


@pytest.mark.parametrize("values", MISSING_NUMBERS.values(), ids=MISSING_NUMBERS.keys())
def test_numbers_with_a_missing_one(values):
    raw = read(values)
    assert raw.form == "number"
    assert raw.labels is None
    np.testing.assert_array_equal(raw.values, [1, np.nan, 3])


TEXTS = {
    "list": ["b", None, "a"],
    "nan": np.array(["b", np.nan, "a"], dtype=object),
    "pandas": pd.Series(["b", None, "a"]),
    "pandas-object": pd.Series(["b", None, "a"], dtype=object),
    "pandas-string": pd.Series(["b", pd.NA, "a"], dtype="string"),
    "pandas-pyarrow": pd.Series(["b", None, "a"], dtype="string[pyarrow]"),
    "pandas-categorical": pd.Series(["b", None, "a"], dtype="category"),
    "polars": pl.Series(["b", None, "a"]),
    "polars-categorical": pl.Series(["b", None, "a"], dtype=pl.Categorical),
    "pyarrow": pa.chunked_array([["b", None, "a"]]),
    "pyarrow-dictionary": pa.chunked_array([pa.array(["b", None, "a"]).dictionary_encode()]),
}


@pytest.mark.parametrize("values", TEXTS.values(), ids=TEXTS.keys())
def test_texts_are_codes_in_sorted_order(values):
    raw = read(values)
    assert raw.form == "text"
    assert raw.labels == ("a", "b")
    np.testing.assert_array_equal(raw.values, [1, np.nan, 0])


@pytest.mark.parametrize("values", [np.array(["b", "a"]), np.array([b"b", b"a"])])
def test_arrays_of_texts(values):
    raw = read(values)
    assert raw.labels == ("a", "b")
    assert raw.values.tolist() == [1, 0]


BOOLS = {
    "list": [True, None, False],
    "pandas": pd.Series([True, pd.NA, False], dtype="boolean"),
    "pandas-object": pd.Series([True, None, False], dtype=object),
    "pandas-pyarrow": pd.Series([True, None, False], dtype="bool[pyarrow]"),
    "polars": pl.Series([True, None, False]),
    "pyarrow": pa.chunked_array([[True, None, False]]),
}


@pytest.mark.parametrize("values", BOOLS.values(), ids=BOOLS.keys())
def test_bools(values):
    raw = read(values)
    assert raw.form == "bool"
    np.testing.assert_array_equal(raw.values, [1, np.nan, 0])


GRADES = ["low", "middle", "high"]


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (pd.Series(pd.Categorical(["high", None, "low"], GRADES, ordered=True)), "graded"),
        (
            pa.chunked_array(
                [pa.DictionaryArray.from_arrays(pa.array([2, None, 0]), GRADES, ordered=True)]
            ),
            "graded",
        ),
        (pl.Series(["high", None, "low"], dtype=pl.Enum(GRADES)), "category"),
    ],
)
def test_categories_keep_their_stated_order(values, form):
    raw = read(values)
    assert raw.form == form
    assert raw.labels == ("low", "high")
    np.testing.assert_array_equal(raw.values, [1, np.nan, 0])


MOMENTS = [dt.datetime(1970, 1, 2), None, dt.datetime(1970, 1, 1, 0, 0, 1, 500_000)]
TIMES = {
    "list": (MOMENTS, [DAY, np.nan, 1.5]),
    "pandas": (pd.Series(MOMENTS), [DAY, np.nan, 1.5]),
    "pandas-object": (pd.Series(MOMENTS, dtype=object), [DAY, np.nan, 1.5]),
    "pandas-pyarrow": (pd.Series(MOMENTS, dtype="timestamp[ns][pyarrow]"), [DAY, np.nan, 1.5]),
    "polars": (pl.Series(MOMENTS), [DAY, np.nan, 1.5]),
    "pyarrow": (pa.chunked_array([MOMENTS]), [DAY, np.nan, 1.5]),
    "zone": (
        pd.Series(pd.to_datetime(["1970-01-01T01:00", None])).dt.tz_localize("Europe/Rome"),
        [0, np.nan],
    ),
    "zone-object": ([dt.datetime(1970, 1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1)))], [0]),
    "dates": ([dt.date(1970, 1, 2), None], [DAY, np.nan]),
    "dates-polars": (pl.Series([dt.date(1970, 1, 2), None]), [DAY, np.nan]),
    "dates-pandas": (pd.Series([dt.date(1970, 1, 2)], dtype="date32[pyarrow]"), [DAY]),
    "months": (np.array(["1970-02", "NaT"], dtype="datetime64[M]"), [31 * DAY, np.nan]),
    "numpy-objects": (
        np.array([np.datetime64(1, "D"), np.datetime64("NaT", "D")], dtype=object),
        None,
    ),
    "spans": ([dt.timedelta(days=1), pd.NaT], [DAY, np.nan]),
    "spans-numpy": (np.array([5, "NaT"], dtype="timedelta64[ms]"), [0.005, np.nan]),
    "spans-numpy-objects": (np.array([np.timedelta64(5, "ms")], dtype=object), [0.005]),
    "spans-pandas": (pd.Series(pd.to_timedelta(["1D", None])), [DAY, np.nan]),
    "spans-polars": (pl.Series([dt.timedelta(days=1), None]), [DAY, np.nan]),
    "clock-polars": (pl.Series([dt.time(1, 0, 2, 500_000), None]), [3602.5, np.nan]),
    "clock-arrow-seconds": (pa.chunked_array([pa.array([5, None], pa.time32("s"))]), [5, np.nan]),
    "seven-milliseconds": (np.array([1, 2], dtype="timedelta64[7ms]"), [0.007, 0.014]),
}


@pytest.mark.parametrize(("values", "seconds"), TIMES.values(), ids=TIMES.keys())
def test_times_are_seconds(values, seconds):
    raw = read(values)
    assert raw.form == "time"
    np.testing.assert_array_equal(raw.values, [DAY, np.nan] if seconds is None else seconds)


@pytest.mark.parametrize(
    "values",
    [
        [None, None],
        np.array([None, np.nan], dtype=object),
        pl.Series([None, None]),
        pa.chunked_array([pa.nulls(2)]),
        pd.Series([pd.NA, None], dtype=object),
    ],
)
def test_nothing_but_missing_values(values):
    assert np.isnan(read(values).values).all()


def test_sparse_series_of_pandas_are_numbers():
    assert read(pd.Series(pd.arrays.SparseArray([0.0, 1.0]))).values.tolist() == [0, 1]


def test_bools_among_numbers_are_numbers():
    raw = read([True, 2.5])
    assert raw.form == "number"
    assert read(np.array([True, 2.5, 3], dtype=object)).values.tolist() == [1, 2.5, 3]


def dictionary(values):
    """Return an Arrow dictionary of one row per value."""
    indices = pa.array(range(len(values)), pa.int32())
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, pa.array(values))])


class Unprintable:
    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, {"foo": "bar"}], r"column 'a' holds \{'foo': 'bar'\} \(dict\) in row 1"),
        (pl.Series([[1, 2]]), r"column 'a' holds \[1, 2\] \(list\) in row 0"),
        (pl.Series([{"b": 1}]), r"column 'a' holds \{'b': 1\} \(dict\) in row 0"),
        (pl.Series([None, b"x"]), r"column 'a' holds b'x' \(bytes\) in row 1"),
        (pd.Series(pd.period_range("2020", periods=1)), r"\(Period\) in row 0"),
        (
            pd.Series([None, 1, "x"], dtype=object),
            r"column 'a' holds 'x' \(str\) in row 2, but 1 \(int\) in row 1",
        ),
        ([1.5, dt.date(2020, 1, 1)], r"\(date\) in row 1, but 1.5 \(float\) in row 0"),
        (dictionary([{"b": 1}]), r"column 'a' holds \{'b': 1\} \(dict\) in row 0"),
        (dictionary([[1, 2]]), r"column 'a' holds \[1, 2\] \(list\) in row 0"),
        (np.array([b"ab"], dtype="V2"), r"column 'a' holds b'ab' \(bytes\) in row 0"),
        ([Unprintable()], r"column 'a' holds .*Unprintable.* in row 0"),
    ],
)
def test_odd_objects(values, message):
    pattern = "argument must be .* string.* number.*" + message + ".*; convert the column"
    with pytest.raises(TypeError, match=pattern):
        read(values)


BIG = 2**60
MERGING = {
    "numpy": np.array([BIG, BIG + 1]),
    "unsigned": np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64),
    "objects": np.array([BIG, BIG + 1, None], dtype=object),
    "beyond-int64": [10**30, 10**30 + 1],
    "pandas": pd.Series([BIG, BIG + 1, pd.NA], dtype="Int64"),
    "polars": pl.Series([BIG, BIG + 1, None]),
    "pyarrow": pa.chunked_array([[BIG, None, BIG + 1]]),
    "negative": np.array([-BIG, -BIG - 1]),
    "nanoseconds": np.array([BIG, BIG + 1], dtype="datetime64[ns]"),
    "decimals": pl.Series([Decimal("0.1"), Decimal("0.10000000000000000001")]),
    "decimal-objects": [Decimal("0.1"), Decimal("0.10000000000000000001")],
    "long-double": 1 + np.array([0, 1], dtype=np.longdouble) / 2**60,
    "tiny-long-double": np.array([1, 2], dtype=np.longdouble) / np.longdouble("1e4000"),
}
if np.finfo(np.longdouble).eps == np.finfo(float).eps:  # as on Windows
    MERGING = {name: values for name, values in MERGING.items() if "long" not in name}


@pytest.mark.parametrize("values", MERGING.values(), ids=MERGING.keys())
def test_integers_that_merge_in_float64_are_warned_about(values):
    with pytest.warns(UserWarning, match=r"column 'a': 2 different values become 1 .*2\*\*53"):
        read(values)


def test_large_integers_that_stay_apart_are_fine():
    assert read(np.array([BIG, 2 * BIG])).values.tolist() == [BIG, 2 * BIG]
    assert np.isinf(read([10**400, 1]).values[0])


@pytest.mark.parametrize("value", ["NaN", "sNaN", "-sNaN7"])
def test_a_decimal_that_is_no_number_is_missing(value):
    values = np.array([Decimal(value), Decimal(1)], dtype=object)
    np.testing.assert_array_equal(read(values).values, [np.nan, 1])


@pytest.mark.parametrize("value", [Decimal("Infinity"), Decimal("1e999"), np.inf])
def test_infinite_objects_are_found(value):
    values = np.array([value, -value, Decimal(1)], dtype=object)
    np.testing.assert_array_equal(read(values).values, [np.inf, -np.inf, 1])


@pytest.mark.filterwarnings("error")
def test_long_doubles_beyond_float64_are_infinite():
    values = np.array([1, 2], dtype=np.longdouble)
    values[0] = np.finfo(np.longdouble).max
    np.testing.assert_array_equal(read(values).values, [np.inf, 2])


def test_a_category_that_is_nan_is_missing():
    raw = read(dictionary([np.nan, 1.5, np.nan]))
    assert raw.labels == ("1.5",)
    np.testing.assert_array_equal(raw.values, [np.nan, 0, np.nan])


def test_types_that_a_library_cannot_convert_are_named():
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1]), pa.array(["x"])])
    with pytest.raises(TypeError, match=r"column 'a' of type .*; convert the column or leave it"):
        read(pa.chunked_array([union]))


def test_complex_columns_are_named():
    with pytest.raises(
        ValueError, match=r"Complex data not supported: column .a. holds .*1j.* in row 0"
    ):
        read(np.array([1j, 1]))
