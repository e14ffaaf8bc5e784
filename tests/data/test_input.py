"""Any two-dimensional input gives the same columns, and comes back as what it was."""

from __future__ import annotations

import sys

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from pidselect import PIDSelector, decompose
from pidselect.data import Table, select_columns
from pidselect.data.input import n_rows, read_columns, read_vectors, select_rows

COLUMNS = {"b": [3, 1, 3, 2], "a": [0.5, 1.5, 2.5, 0.25], "c": ["u", "v", "u", "v"]}
FRAMES = {
    "pandas": pd.DataFrame,
    "pandas-nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas-pyarrow": lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}
frames = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())


@frames
def test_every_frame_gives_the_same_columns(frame):
    b, a, c = read_columns(frame(COLUMNS))
    assert [raw.name for raw in (b, a, c)] == ["b", "a", "c"]
    assert [raw.form for raw in (b, a, c)] == ["number", "number", "text"]
    assert b.values.tolist() == COLUMNS["b"]
    assert a.values.tolist() == COLUMNS["a"]
    assert c.values.tolist() == [0, 1, 0, 1]
    assert c.labels == ("u", "v")


@pytest.mark.parametrize("dtype", [float, np.float32, np.int8, np.uint16, bool, object])
def test_arrays_of_every_dtype(dtype):
    first, second = read_columns(np.array([[1, 0], [0, 0], [1, 1]], dtype=dtype))
    assert (first.name, second.name) == ("x0", "x1")
    assert first.values.tolist() == [1, 0, 1]
    assert first.values.dtype == np.float64


def test_lists_keep_numbers_beside_texts():
    numbers, texts = read_columns([[1, "a"], [2.5, "b"]])
    assert (numbers.form, texts.form) == ("number", "text")
    assert numbers.values.tolist() == [1, 2.5]


def test_masked_values_are_missing():
    masked = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    first, second = read_columns(masked)
    assert first.values.tolist() == [1, 3]
    assert np.isnan(second.values[0])


@pytest.mark.parametrize(
    "X",
    [
        np.asfortranarray(np.random.default_rng(0).normal(size=(5, 3))),
        np.random.default_rng(0).normal(size=(5, 1)),
        np.broadcast_to(np.arange(5.0)[:, None], (5, 3)),
        pl.DataFrame({"a": [1.0, 2.0, 3.0]}),
        pd.DataFrame({"a": [1.0, 2.0, 3.0]}),
        pa.table({"a": [1.0, 2.0, 3.0]}),
    ],
)
def test_values_are_contiguous_copies(X):
    for column in Table.read(X).columns:
        assert column.values.flags.c_contiguous
        assert column.values.flags.writeable
        assert not np.shares_memory(column.values, np.asarray(X))


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.arange(3), ValueError, "Expected 2D array, got 1D array.*Reshape your data"),
        (pd.Series([1, 2]), ValueError, "Expected 2D array, got 1D array"),
        (np.zeros((2, 2, 2)), ValueError, "must be a table.*ndarray with 3 dimensions"),
        (None, ValueError, "must be a table.*got NoneType"),
        ({"a": [1]}, ValueError, "must be a table.*got dict"),
        (sparse.eye_array(3, format="csr"), TypeError, r"sparse.*X\.toarray\(\)"),
        (np.eye(2) * 1j, ValueError, "Complex data not supported"),
        (np.array([[1j], [2]], dtype=object), ValueError, "Complex data not supported.*'x0'"),
        (pd.DataFrame({"a": [1, 2j]}), ValueError, "Complex data not supported.*'a'.*row 0"),
        (np.zeros(2, dtype=[("a", float)]), TypeError, "structured array"),
        ([[1, 2], [3]], ValueError, "rows of different lengths"),
        (np.zeros((0, 3)), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1"),
        (np.zeros((3, 0)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1"),
        (pd.DataFrame(index=range(3)), ValueError, r"0 feature\(s\)"),
        (pl.DataFrame({"a": []}), ValueError, r"0 sample\(s\)"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "unique.*more than one of 'a'"),
        (pa.table([[1], [2]], names=["a", "a"]), ValueError, "unique.*more than one of 'a'"),
        (pd.DataFrame([[1, 2]], columns=[0, "0"]), ValueError, "unique.*more than one of '0'"),
    ],
)
def test_bad_input(X, error, message):
    with pytest.raises(error, match=message):
        read_columns(X)


def test_names_need_not_be_texts():
    tuples = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])
    assert [raw.name for raw in read_columns(pd.DataFrame([[1, 2]], columns=tuples))] == [
        "('a', 1)",
        "('b', 2)",
    ]
    numbered = pd.DataFrame([[1, 2]], columns=[7, 3])
    assert [raw.name for raw in read_columns(numbered)] == ["7", "3"]


@frames
def test_selected_columns_keep_type_order_and_dtype(frame):
    X = frame(COLUMNS)
    selected = select_columns(X, np.array([2, 0]))
    assert type(selected) is type(X)
    if isinstance(X, pa.Table):
        assert selected.equals(X.select(["c", "b"]))
    elif isinstance(X, pl.DataFrame):
        assert selected.equals(X[["c", "b"]])
    else:
        pd.testing.assert_frame_equal(selected, X[["c", "b"]])


@frames
def test_no_column_selected(frame):
    selected = select_columns(frame(COLUMNS), [])
    assert type(selected) is type(frame(COLUMNS))
    if isinstance(selected, pl.DataFrame) and int(pl.__version__.partition(".")[0]) < 2:
        assert selected.shape == (0, 0)  # without columns it had no rows before polars 2
    else:
        assert selected.shape == (len(frame(COLUMNS)), 0)


def test_selection_keeps_the_index_and_odd_names():
    X = pd.DataFrame([[1, 2.5], [3, 4.5]], columns=[1, 0], index=["r", "s"])
    pd.testing.assert_frame_equal(select_columns(X, [1]), X[[0]])
    assert select_columns(X, []).index.tolist() == ["r", "s"]


def test_selection_from_arrays_and_lists():
    X = np.arange(6, dtype=np.int16).reshape(2, 3)
    selected = select_columns(X, (2, 1))
    assert selected.dtype == np.int16
    assert selected.tolist() == [[2, 1], [5, 4]]
    assert select_columns([[1, "a"], [2, "b"]], [1]).tolist() == [["a"], ["b"]]
    assert select_columns(X, []).shape == (2, 0)


@pytest.mark.parametrize("X", [np.arange(3), sparse.eye_array(3)])
def test_selection_refuses_what_reading_refuses(X):
    with pytest.raises((TypeError, ValueError)):
        select_columns(X, [0])


@frames
def test_rows_of_frames(frame):
    X = frame(COLUMNS)
    some = select_rows(X, np.array([3, 0]))
    assert type(some) is type(X)
    b, a, c = read_columns(some)
    assert b.values.tolist() == [2, 3]
    assert a.values.tolist() == [0.25, 0.5]
    assert [c.labels[int(level)] for level in c.values] == ["v", "u"]


def test_rows_keep_dtypes_and_the_index():
    X = pd.DataFrame({"a": [1, 2, 3], "b": list("uvw")}, index=list("rst")).astype({"a": "int16"})
    pd.testing.assert_frame_equal(select_rows(X, [2, 1]), X.loc[["t", "s"]])
    pd.testing.assert_series_equal(select_rows(X["a"], [2, 1]), X["a"].loc[["t", "s"]])


def test_rows_of_vectors_arrays_and_lists():
    assert select_rows(pl.Series("y", [5, 6, 7]), [2, 0]).to_list() == [7, 5]
    assert select_rows(pa.chunked_array([[5, 6], [7]]), [2, 0]).to_pylist() == [7, 5]
    assert select_rows(np.arange(6).reshape(3, 2), [2, 0]).tolist() == [[4, 5], [0, 1]]
    assert select_rows(["a", "b", "c"], np.array([1])).tolist() == ["b"]
    wrapped = nw.from_native(pl.DataFrame(COLUMNS), eager_only=True)
    assert isinstance(select_rows(wrapped, [1]), nw.DataFrame)
    assert select_rows(wrapped, [1]).shape == (1, 3)


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([1, 2], ["y"]),
        (np.zeros((2, 1)), ["y"]),
        (np.zeros((2, 2)), ["y[0]", "y[1]"]),
        (pd.Series([1, 2]), ["y"]),
        (pd.Series([1, 2], name="price"), ["price"]),
        (pd.Series([1, 2], name=0), ["0"]),
        (pl.Series([1, 2]), ["y"]),
        (pl.Series("price", [1, 2]), ["price"]),
        (pa.chunked_array([[1, 2]]), ["y"]),
        (pa.array([1, 2]), ["y"]),
        (pd.Index([1, 2]), ["y"]),
        (pl.DataFrame({"a": [1], "b": [2]}), ["a", "b"]),
    ],
)
def test_vectors_have_names(values, names):
    assert [raw.name for raw in read_vectors(values, "y")] == names


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (5, "y must have one dimension, or two.*int with 0"),
        (np.zeros((2, 2, 2)), "ndarray with 3"),
        ([], r"0 sample\(s\)"),
        (pd.Series([], dtype=float), r"0 sample\(s\)"),
    ],
)
def test_bad_vectors(values, message):
    with pytest.raises(ValueError, match=message):
        read_vectors(values, "y")


class Stream:
    """What exports an Arrow stream, which may be read once only, as a query of a database."""

    def __init__(self, table):
        self._reader = table.to_reader()

    def __arrow_c_stream__(self, requested_schema=None):
        return self._reader.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("make", [Stream, lambda table: pl.from_arrow(table).lazy()])
def test_arrow_streams_and_lazy_frames_are_read(make):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 60))
    table = pa.table({"a": a, "b": b, "c": rng.choice(["x", "y"], 60)})
    read = Table.read(make(table))
    assert (read.names, read.feature_types) == (
        ("a", "b", "c"),
        ("continuous", "continuous", "nominal"),
    )
    y = a + 0.1 * b
    settings = {"estimator": "gaussian", "n_permutations": 50, "random_state": 0}
    selector = PIDSelector(**settings).fit(make(table), y)
    assert selector.selection_.steps == PIDSelector(**settings).fit(table, y).selection_.steps
    assert selector.transform(make(table)).shape == (60, len(selector.selected_))
    one = pa.table({"a": a > 0})
    two = pa.table({"b": b > 0})
    assert decompose([make(one), make(two)], y > 0).atoms == decompose([a > 0, b > 0], y > 0).atoms


def test_arrow_streams_need_pyarrow_or_polars(monkeypatch):
    stream = Stream(pa.table({"a": [1.5, 2.5]}))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert Table.read(stream).columns[0].values.tolist() == [1.5, 2.5]
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ModuleNotFoundError, match=r"Stream.*pip install polars"):
        Table.read(stream)


def test_masked_times_are_times():
    times = np.ma.array(np.array([[10**9], [5]], dtype="datetime64[ns]"), mask=[[0], [1]])
    (raw,) = read_columns(times)
    assert raw.form == "time"
    np.testing.assert_array_equal(raw.values, [1, np.nan])


def test_a_number_beside_a_duration_stays_a_number():
    taken, count = read_columns([[np.timedelta64(1, "s"), 5], [np.timedelta64(2, "s"), 6]])
    assert (taken.form, count.form) == ("time", "number")
    assert (taken.values.tolist(), count.values.tolist()) == ([1, 2], [5, 6])


def test_the_number_of_rows():
    columns = {"a": [1.5, 2.5, 3.5]}
    rows = np.array([[1.5], [2.5], [3.5]])
    for X in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns), rows, rows.tolist()):
        assert n_rows(X) == 3
    assert n_rows(Table.read(rows)) == 3
