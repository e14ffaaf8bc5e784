"""Kinds are inferred by the stated thresholds, unless they are stated."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pidselect.data import CLASS_LEVELS, Table, read_block, read_dataset
from pidselect.exceptions import IdentifierWarning

N = 40


def cycle(levels: int, n: int = N) -> np.ndarray:
    return np.arange(n) % levels


def feature_type(values, **options) -> str:
    return Table.read(pd.DataFrame({"a": values}), **options).feature_types[0]


@pytest.mark.parametrize("dtype", [int, np.uint8, float, np.float32, object, "Int64", "Float64"])
@pytest.mark.parametrize(("levels", "expected"), [(20, "ordinal"), (21, "continuous")])
def test_whole_numbers_are_ordinal_up_to_half_as_many_levels(dtype, levels, expected):
    assert feature_type(pd.Series(cycle(levels)).astype(dtype)) == expected


@pytest.mark.parametrize(("levels", "expected"), [(2, "ordinal"), (3, "continuous")])
def test_decimals_are_ordinal_up_to_a_twentieth(levels, expected):
    assert feature_type(cycle(levels) + 0.5) == expected


def test_missing_values_count_neither_as_level_nor_as_sample():
    gaps = [np.nan] * N
    assert feature_type([*cycle(20), *gaps], missing="category") == "ordinal"
    assert feature_type([*cycle(21), *gaps], missing="category") == "continuous"


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
    assert table.feature_types == ("nominal",)
    assert table.columns[0].labels is not None
    assert not table.skipped


def test_ordered_categories_are_ordinal():
    grades = pd.Categorical(["good", "bad", "fair", "good"], ["bad", "fair", "good"], ordered=True)
    (column,) = Table.read(pd.DataFrame({"a": grades})).columns
    assert column.feature_type == "ordinal"
    assert column.values.tolist() == [2, 0, 1, 2]
    assert column.labels == ("bad", "fair", "good")


def test_times_are_continuous_however_few():
    assert feature_type(pd.to_datetime(["2020-01-01", "2020-01-02"] * 20)) == "continuous"


def test_identifiers_are_skipped_with_a_warning():
    X = pl.DataFrame({"id": [f"r{i}" for i in range(N)], "a": cycle(3)})
    with pytest.warns(IdentifierWarning, match=r"'id'.*feature_types=\{'id': ") as caught:
        table = Table.read(X)
    assert len(caught) == 1
    assert list(caught[0].message.columns) == ["id"]
    assert table.skipped == {0: "identifier: 40 different texts in 40 rows"}
    assert not Table.read(X, feature_types={"id": "nominal"}).skipped


@pytest.mark.parametrize(("levels", "skipped"), [(20, False), (21, True)])
@pytest.mark.filterwarnings("ignore:skipped columns")
def test_identifiers_begin_past_half_as_many_levels(levels, skipped):
    assert bool(Table.read([[f"r{level}"] for level in cycle(levels)]).skipped) == skipped


# The target


@pytest.mark.parametrize(("levels", "expected"), [(20, "nominal"), (21, "ordinal")])
def test_a_target_of_few_levels_is_a_class_label(levels, expected):
    assert CLASS_LEVELS == 20
    y = cycle(levels, 200).astype(float)
    assert read_dataset(np.arange(200)[:, None], y).target.feature_types == (expected,)


def test_a_continuous_target_stays_so():
    y = np.random.default_rng(0).normal(size=N)
    assert read_dataset(np.arange(N)[:, None], y).target.feature_types == ("continuous",)


def test_an_identifier_is_no_target():
    y = [f"r{i}" for i in range(N)]
    X = np.arange(N)[:, None]
    with pytest.raises(ValueError, match=r"'target' looks like an identifier: 40 .*feature_types="):
        read_dataset(X, y)
    stated = read_dataset(X, y, feature_types={"target": "nominal"})
    assert stated.target.feature_types == ("nominal",)


# Stated kinds


def test_stated_kinds_by_name_and_by_position():
    X = np.column_stack([cycle(3), cycle(4)])
    assert Table.read(X, feature_types={"x1": "nominal"}).feature_types == ("ordinal", "nominal")
    assert Table.read(X, feature_types=["continuous", "nominal"]).feature_types == (
        "continuous",
        "nominal",
    )
    numbered = pd.DataFrame(X, columns=[5, 6])
    assert Table.read(numbered, feature_types={6: "nominal"}).feature_types == (
        "ordinal",
        "nominal",
    )


def test_the_key_target_means_the_target():
    X, y = cycle(3)[:, None], cycle(4)
    assert read_dataset(X, y, feature_types={"target": "ordinal"}).target.feature_types == (
        "ordinal",
    )
    assert Table.read(X, feature_types={"target": "ordinal"}).feature_types == ("ordinal",)
    both = read_dataset(X, np.column_stack([y, y]), feature_types={"target": "continuous"})
    assert both.target.feature_types == ("continuous", "continuous")


def test_the_key_target_means_a_feature_of_that_name():
    X = pd.DataFrame({"target": cycle(3)})
    problem = read_dataset(X, cycle(4), feature_types={"target": "continuous"})
    assert problem.table.feature_types == ("continuous",)
    assert problem.target.feature_types == ("nominal",)


@pytest.mark.parametrize("stated", ["ordinal", "continuous"])
def test_bools_may_be_numbers(stated):
    assert feature_type(cycle(2) == 0, feature_types={"a": stated}) == stated


@pytest.mark.parametrize(
    ("feature_types", "error", "message"),
    [
        ({"colour": "nominal"}, ValueError, "no column 'colour'; did you mean 'color'\\? Known"),
        ({"zzz": "nominal"}, ValueError, "no column 'zzz'; known are 'color', 'size'"),
        ({"size": "ordnial"}, ValueError, r"feature_types\['size'\]='ordnial'.*mean 'ordinal'"),
        ({"target": "label"}, ValueError, r"feature_types\['target'\]='label'"),
        ({"size": None}, ValueError, r"feature_types\['size'\]=None"),
        (["nominal"], ValueError, r"1 .*2 columns"),
        (["nominal", "number"], ValueError, "column 'size'='number' is unknown"),
        ("nominal", TypeError, "feature_types must map"),
        (3, TypeError, "feature_types must map"),
        ({"color": "ordinal"}, ValueError, "'color' cannot be ordinal.*texts \\('red' in row 0"),
        ({"color": "continuous"}, ValueError, "'color' cannot be continuous.*use 'nominal'"),
    ],
)
def test_bad_kinds(feature_types, error, message):
    X = pd.DataFrame({"color": ["red", "blue"] * 20, "size": cycle(3)})
    with pytest.raises(error, match=message):
        read_dataset(X, cycle(2), feature_types=feature_types)


def test_categories_are_not_continuous():
    X = pd.DataFrame({"a": pd.Categorical([None, "v", "u"], ["v", "u"], ordered=True)})
    with pytest.raises(ValueError, match=r"'a' cannot be continuous.*'v' in row 1"):
        Table.read(X, feature_types=["continuous"], missing="category")


def test_blocks_of_a_target_follow_the_same_rules():
    assert read_block(cycle(3), "x").feature_types == ("ordinal",)
    assert read_block(cycle(3), "y", target=True).feature_types == ("nominal",)
    assert read_block(["a", "b"], "x").feature_types == ("nominal",)
    with pytest.raises(ValueError, match="identifier"):
        read_block(["a", "b"], "y", target=True)
