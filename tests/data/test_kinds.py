"""Kinds are inferred by the stated thresholds, unless they are stated."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pidselect.data import CLASS_LEVELS, Table, read_block, read_problem

N = 40


def cycle(levels: int, n: int = N) -> np.ndarray:
    return np.arange(n) % levels


def kind(values, **options) -> str:
    return Table.read(pd.DataFrame({"a": values}), **options).kinds[0]


@pytest.mark.parametrize("dtype", [int, np.uint8, float, np.float32, object, "Int64", "Float64"])
@pytest.mark.parametrize(("levels", "expected"), [(20, "ordinal"), (21, "continuous")])
def test_whole_numbers_are_ordinal_up_to_half_as_many_levels(dtype, levels, expected):
    assert kind(pd.Series(cycle(levels)).astype(dtype)) == expected


@pytest.mark.parametrize(("levels", "expected"), [(2, "ordinal"), (3, "continuous")])
def test_decimals_are_ordinal_up_to_a_twentieth(levels, expected):
    assert kind(cycle(levels) + 0.5) == expected


def test_missing_values_count_neither_as_level_nor_as_sample():
    gaps = [np.nan] * N
    assert kind([*cycle(20), *gaps], missing="category") == "ordinal"
    assert kind([*cycle(21), *gaps], missing="category") == "continuous"


NOMINAL = {
    "bool": pd.DataFrame({"a": cycle(2) == 0}),
    "text": pd.DataFrame({"a": cycle(3).astype(str)}),
    "categorical": pd.DataFrame({"a": pd.Categorical(cycle(3))}),
    "boolean": pd.DataFrame({"a": pd.array(cycle(2) == 0, dtype="boolean")}),
    "string": pd.DataFrame({"a": pd.array(cycle(2).astype(str), dtype="string")}),
    "objects": cycle(3).astype(str).astype(object)[:, None],
    "array": cycle(3).astype(str)[:, None],
    "polars": pl.DataFrame({"a": cycle(3).astype(str)}),
    "enum": pl.DataFrame({"a": pl.Series(cycle(2).astype(str), dtype=pl.Enum(["0", "1"]))}),
    "polars-bool": pl.DataFrame({"a": cycle(2) == 0}),
    "pyarrow": pa.table({"a": pa.array(cycle(3).astype(str)).dictionary_encode()}),
}


@pytest.mark.parametrize("X", NOMINAL.values(), ids=NOMINAL.keys())
def test_labels_are_nominal(X):
    table = Table.read(X)
    assert table.kinds == ("nominal",)
    assert table.columns[0].labels is not None
    assert not table.skipped


def test_ordered_categories_are_ordinal():
    grades = pd.Categorical(["good", "bad", "fair", "good"], ["bad", "fair", "good"], ordered=True)
    (column,) = Table.read(pd.DataFrame({"a": grades})).columns
    assert column.kind == "ordinal"
    assert column.values.tolist() == [2, 0, 1, 2]
    assert column.labels == ("bad", "fair", "good")


def test_times_are_continuous_however_few():
    assert kind(pd.to_datetime(["2020-01-01", "2020-01-02"] * 20)) == "continuous"


def test_identifiers_are_skipped_with_a_warning():
    X = pl.DataFrame({"id": [f"r{i}" for i in range(N)], "a": cycle(3)})
    with pytest.warns(UserWarning, match=r"'id' .*kinds=\{'id': 'nominal'\} keeps") as caught:
        table = Table.read(X)
    assert len(caught) == 1
    assert table.skipped == {0: "identifier: 40 different texts in 40 rows"}
    assert not Table.read(X, kinds={"id": "nominal"}).skipped


@pytest.mark.parametrize(("levels", "skipped"), [(20, False), (21, True)])
@pytest.mark.filterwarnings("ignore:skipped columns")
def test_identifiers_begin_past_half_as_many_levels(levels, skipped):
    assert bool(Table.read(cycle(levels).astype(str)[:, None]).skipped) == skipped


# The target


@pytest.mark.parametrize(("levels", "expected"), [(20, "nominal"), (21, "ordinal")])
def test_a_target_of_few_levels_is_a_class_label(levels, expected):
    assert CLASS_LEVELS == 20
    y = cycle(levels, 200).astype(float)
    assert read_problem(np.arange(200)[:, None], y).target.kinds == (expected,)


def test_an_ordered_target_of_few_levels_is_a_class_label():
    y = pd.Series(pd.Categorical(["a", "b"] * 20, ordered=True))
    assert read_problem(np.arange(N)[:, None], y).target.kinds == ("nominal",)


def test_a_continuous_target_stays_so():
    y = np.random.default_rng(0).normal(size=N)
    assert read_problem(np.arange(N)[:, None], y).target.kinds == ("continuous",)


def test_an_identifier_is_no_target():
    y = [f"r{i}" for i in range(N)]
    X = np.arange(N)[:, None]
    with pytest.raises(ValueError, match=r"'target' looks like an identifier: 40 .*kinds="):
        read_problem(X, y)
    stated = read_problem(X, y, kinds={"target": "nominal"})
    assert stated.target.kinds == ("nominal",)


# Stated kinds


def test_stated_kinds_by_name_and_by_position():
    X = np.column_stack([cycle(3), cycle(4)])
    assert Table.read(X, kinds={"x1": "nominal"}).kinds == ("ordinal", "nominal")
    assert Table.read(X, kinds=["continuous", "nominal"]).kinds == ("continuous", "nominal")
    numbered = pd.DataFrame(X, columns=[5, 6])
    assert Table.read(numbered, kinds={6: "nominal"}).kinds == ("ordinal", "nominal")


def test_the_key_target_means_the_target():
    X, y = cycle(3)[:, None], cycle(4)
    assert read_problem(X, y, kinds={"target": "ordinal"}).target.kinds == ("ordinal",)
    assert Table.read(X, kinds={"target": "ordinal"}).kinds == ("ordinal",)
    both = read_problem(X, np.column_stack([y, y]), kinds={"target": "continuous"})
    assert both.target.kinds == ("continuous", "continuous")


def test_the_key_target_means_a_feature_of_that_name():
    X = pd.DataFrame({"target": cycle(3)})
    problem = read_problem(X, cycle(4), kinds={"target": "continuous"})
    assert problem.table.kinds == ("continuous",)
    assert problem.target.kinds == ("nominal",)


@pytest.mark.parametrize("stated", ["ordinal", "continuous"])
def test_bools_may_be_numbers(stated):
    assert kind(cycle(2) == 0, kinds={"a": stated}) == stated


def test_categories_may_be_ordinal():
    enum = pl.Series(["u", "v"] * 20, dtype=pl.Enum(["v", "u"]))
    (column,) = Table.read(pl.DataFrame({"a": enum}), kinds=["ordinal"]).columns
    assert column.kind == "ordinal"
    assert column.values[:2].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("kinds", "error", "message"),
    [
        ({"colour": "nominal"}, ValueError, "no column 'colour'; did you mean 'color'\\? Known"),
        ({"zzz": "nominal"}, ValueError, "no column 'zzz'; known are 'color', 'size'"),
        ({"size": "ordnial"}, ValueError, r"kinds\['size'\]='ordnial'.*mean 'ordinal'"),
        ({"target": "label"}, ValueError, r"kinds\['target'\]='label' is unknown"),
        ({"size": None}, ValueError, r"kinds\['size'\]=None is unknown"),
        (["nominal"], ValueError, "1 kinds for 2 columns"),
        (["nominal", "number"], ValueError, "column 'size'='number' is unknown"),
        ("nominal", TypeError, "must map names to kinds"),
        (3, TypeError, "must map names to kinds"),
        ({"color": "ordinal"}, ValueError, "'color' cannot be ordinal.*texts \\('red' in row 0"),
        ({"color": "continuous"}, ValueError, "'color' cannot be continuous.*use 'nominal'"),
    ],
)
def test_bad_kinds(kinds, error, message):
    X = pd.DataFrame({"color": ["red", "blue"] * 20, "size": cycle(3)})
    with pytest.raises(error, match=message):
        read_problem(X, cycle(2), kinds=kinds)


def test_categories_are_not_continuous():
    X = pd.DataFrame({"a": pd.Categorical([None, "v", "u"], ["v", "u"], ordered=True)})
    with pytest.raises(ValueError, match=r"'a' cannot be continuous.*'v' in row 1"):
        Table.read(X, kinds=["continuous"], missing="category")


def test_blocks_of_a_target_follow_the_same_rules():
    assert read_block(cycle(3), "x").kinds == ("ordinal",)
    assert read_block(cycle(3), "y", target=True).kinds == ("nominal",)
    assert read_block(cycle(3), "y", kinds={"target": "ordinal"}, target=True).kinds == ("ordinal",)
    assert read_block(cycle(3), "y", kinds=["ordinal"], target=True).kinds == ("ordinal",)
    assert read_block(["a", "b"], "x").kinds == ("nominal",)
    with pytest.raises(ValueError, match="identifier"):
        read_block(["a", "b"], "y", target=True)
