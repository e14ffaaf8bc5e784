"""Tables: their columns, what they skip, how they are asked and printed."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from pidselect.data import Block, Table, read_dataset

X = pd.DataFrame({"age": [31.5, 44.2, 27.1, 63.0], "smoker": [True, False] * 2, "one": 1})


def test_columns_names_kinds():
    table = Table.read(X)
    assert table.names == ("age", "smoker", "one")
    assert table.feature_types == ("continuous", "nominal", "ordinal")
    assert (table.n_samples, len(table)) == (4, 3)
    assert Table(()).n_samples == 0


def test_constants_are_skipped():
    assert Table.read(X).skipped == {2: "constant"}
    texts = pd.DataFrame({"a": ["u"] * 4, "b": [None] * 4, "c": [1.5, 1.5, None, None]})
    assert Table.read(texts, missing="category").skipped == {0: "constant", 1: "constant"}
    assert Table.read([["only"]]).skipped == {0: "constant"}


def test_columns_that_drop_makes_constant_are_skipped():
    columns = {"a": [1, 1, 2], "b": [1.5, 2.5, None]}
    assert Table.read(pd.DataFrame(columns), missing="drop").skipped == {0: "constant"}


def test_a_table_survives_pickling():
    table = Table.read([[0, 1.5], [0, 2.5], [0, 3.5]])
    copy = pickle.loads(pickle.dumps(table))
    assert copy.names == table.names
    assert copy.skipped == table.skipped == {0: "constant"}


def test_block():
    block = Table.read(X).block(np.array([1, 0]))
    assert isinstance(block, Block)
    assert block.names == ("smoker", "age")
    assert len(Table.read(X).block([])) == 0


def test_index():
    table = Table.read(X)
    assert table.index("smoker") == table.index(1) == table.index(np.int64(1)) == 1


@pytest.mark.parametrize(
    ("column", "error", "message"),
    [
        ("smokes", ValueError, "no column 'smokes'; did you mean 'smoker'"),
        ("Age", ValueError, "no column 'Age'; did you mean 'age'"),
        (3, ValueError, "no column at position 3; the 3 columns have positions 0 to 2"),
        (-1, ValueError, "no column at position -1"),
        (True, TypeError, "name or its position, got True"),
        (1.0, TypeError, "name or its position, got 1.0"),
    ],
)
def test_bad_index(column, error, message):
    with pytest.raises(error, match=message):
        Table.read(X).index(column)


def test_repr():
    assert repr(Table.read(X)).splitlines() == [
        "Table of 4 samples and 3 columns",
        "  age     continuous  4 levels",
        "  smoker  nominal     2 levels",
        "  one     ordinal     1 level   skipped, constant",
    ]
    wide = Table.read(np.random.default_rng(0).normal(size=(3, 30)))
    assert str(wide).endswith("  x19  continuous  3 levels\n  ... and 10 more")


@pytest.mark.parametrize("read", [Table.read, lambda X: read_dataset(X, [1.5, 0.5, 1.5])])
@pytest.mark.parametrize(
    ("values", "words"),
    [(["a", "b", "c"], "skipped columns"), ([2**53, 2**53 + 1, 0], "become 2 as float64")],
)
def test_warnings_point_at_the_caller(read, values, words):
    with pytest.warns(UserWarning, match=words) as caught:
        read(pd.DataFrame({"id": values}))
    assert [warning.filename for warning in caught] == [__file__]


def test_a_part_says_why_more_columns_are_skipped():
    table = Table.read(X.assign(two=[1, 1, 2, 2]))
    assert table.take(np.arange(2), "of late").skipped == {2: "constant", 3: "of late"}
    assert table.take(np.arange(4)).skipped == {2: "constant"}
