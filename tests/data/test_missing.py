"""Missing values are refused, dropped or kept; infinite ones refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pidselect.data import Table, check_complete, read_block, read_dataset

COLUMNS = {
    "a": [1.5, None, 2.5, 3.5, 1.25, 7.5, 8.5],
    "b": ["u", "v", None, "u", "v", "u", "v"],
    "c": [0, 1, 2, 0, 1, 2, 0],
}
Y = [0, 1, 0, None, 1, 1, 0]
FRAMES = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas-nullable": pd.DataFrame(COLUMNS).convert_dtypes(),
    "polars": pl.DataFrame(COLUMNS),
    "pyarrow": pa.table(COLUMNS),
    "objects": np.array(list(COLUMNS.values()), dtype=object).T,
}
frames = pytest.mark.parametrize("X", FRAMES.values(), ids=FRAMES.keys())


@frames
def test_error_names_every_column_its_count_and_the_ways_out(X):
    with pytest.raises(ValueError, match="Input X contains NaN") as caught:
        read_dataset(X, Y)
    message = str(caught.value)
    for name in ("a", "b") if isinstance(X, pd.DataFrame | pl.DataFrame | pa.Table) else ("x0",):
        assert f"'{name}' (1 missing)" in message
    assert "'c'" not in message
    assert "Input y contains NaN: 'target' (1 missing)" in message
    for way in ("SimpleImputer", "missing='drop'", "missing='category'"):
        assert way in message


@frames
def test_drop_leaves_out_rows_of_features_and_target_together(X):
    problem = read_dataset(X, Y, missing="drop")
    assert problem.rows.tolist() == [0, 4, 5, 6]
    assert problem.rows.dtype == np.int64
    assert problem.table.n_samples == problem.target.n_samples == 4
    assert problem.table.columns[0].values.tolist() == [1.5, 1.25, 7.5, 8.5]
    assert problem.target.columns[0].values.tolist() == [0, 1, 1, 0]
    assert Table.read(X, missing="drop").n_samples == 5


@frames
def test_category_keeps_missing_values_as_nan(X):
    problem = read_dataset(X, Y, missing="category")
    a, b, c = problem.table.columns
    assert problem.rows.tolist() == list(range(7))
    np.testing.assert_array_equal(a.values, [1.5, np.nan, 2.5, 3.5, 1.25, 7.5, 8.5])
    np.testing.assert_array_equal(b.values, [0, 1, np.nan, 0, 1, 0, 1])
    assert (a.has_missing, b.has_missing, c.has_missing) == (True, True, False)
    assert problem.target.columns[0].levels() == 3


def test_nothing_left():
    X = pd.DataFrame({"a": [1.0, np.nan], "b": [np.nan, 1.0]})
    with pytest.raises(ValueError, match=r"none of the 2 rows.*'a' \(1 missing\), 'b' \(1"):
        Table.read(X, missing="drop")


def test_unknown_policy():
    with pytest.raises(ValueError, match="missing='dropp' is unknown; did you mean 'drop'"):
        Table.read([[1], [2]], missing="dropp")


@pytest.mark.parametrize("missing", ["error", "drop", "category"])
@pytest.mark.parametrize(
    "X",
    [
        np.array([[1.0], [np.inf], [np.nan]]),
        pd.DataFrame({"x0": [1.0, np.inf, np.nan]}),
        pl.DataFrame({"x0": [1.0, np.inf, None]}),
        np.array([[1.0], [10**400], [None]], dtype=object),
    ],
)
def test_infinity_is_always_refused(X, missing):
    with pytest.raises(ValueError, match=r"Input X contains infinity.*'x0' holds inf in row 1"):
        Table.read(X, missing=missing)


def test_infinity_in_the_target():
    with pytest.raises(
        ValueError, match=r"Input y contains infinity.*'target' holds -inf in row 2"
    ):
        read_dataset(np.eye(3), [0.0, 1.0, -np.inf], missing="drop")


def test_blocks_refuse_missing_values():
    with pytest.raises(ValueError, match=r"Input x contains NaN: 'x\[1\]' \(1 missing\)"):
        read_block([[1, 2], [3, None]], "x")


@frames
def test_a_table_to_be_passed_on_must_be_complete(X):
    names = ("x0", "x1") if isinstance(X, np.ndarray) else ("a", "b")
    words = rf"NaN: '{names[0]}' \(1 missing\), '{names[1]}' \(1 missing\)\. .*missing='drop'"
    with pytest.raises(ValueError, match=words):
        check_complete(X)


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"]
)
def test_complete_tables_of_any_type_pass(make):
    columns = {
        "number": [1.5, 2.5],
        "huge": [2**53, 2**53 + 1],
        "text": ["a", "b"],
        "flag": [True, False],
        "day": np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[ns]"),
    }
    check_complete(make(columns))
    for name, gap in (("number", float("nan")), ("text", None), ("flag", None)):
        with pytest.raises(ValueError, match=f"'{name}' \\(1 missing"):
            check_complete(make({**columns, name: [columns[name][0], gap]}))
    with pytest.raises(ValueError, match="'day' \\(1 missing"):
        check_complete(make({**columns, "day": np.array(["2024-01-01", "NaT"], "datetime64[ns]")}))
    with pytest.raises(ValueError, match="'number' holds -inf in row 1"):
        check_complete(make({**columns, "number": [1.5, -np.inf]}))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.array([[1.5], [np.nan]], dtype=np.float32), "'x0' .1 missing"),
        (np.array([["2024-01-01"], ["NaT"]], dtype="datetime64[D]"), "'x0' .1 missing"),
        (np.array([[1, None], [2, "a"]], dtype=object), "'x1' .1 missing"),
        (np.array([[1, "a"], [np.inf, "b"]], dtype=object), "'x0' holds inf in row 1"),
    ],
)
def test_arrays_to_be_passed_on_must_be_complete(values, words):
    with pytest.raises(ValueError, match=words):
        check_complete(values)
    check_complete(values[:1, :1])
    check_complete(np.array([[1], [2]]))
