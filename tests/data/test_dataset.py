"""Features and target are read together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pidselect.data import read_block, read_dataset

X = np.random.default_rng(0).normal(size=(6, 2))
LABELS = ["u", "v", "u", "v", "v", "u"]


@pytest.mark.parametrize(
    ("y", "name"),
    [
        (LABELS, "target"),
        (np.array(LABELS), "target"),
        (np.array(LABELS, dtype=object)[:, None], "target"),
        (pd.Series(LABELS, name="class", index=range(10, 16)), "class"),
        (pl.Series("class", LABELS), "class"),
        (pa.chunked_array([LABELS]), "target"),
        (pd.DataFrame({"class": LABELS}), "class"),
    ],
)
def test_targets_of_every_type(y, name):
    problem = read_dataset(X, y)
    (column,) = problem.target.columns
    assert (column.name, column.feature_type, column.labels) == (name, "nominal", ("u", "v"))
    assert column.values.tolist() == [0, 1, 0, 1, 1, 0]
    assert problem.table.names == ("x0", "x1")
    assert problem.rows.tolist() == list(range(6))


def test_joint_targets():
    assert read_dataset(X, X).target.names == ("target[0]", "target[1]")
    frame = pd.DataFrame({"a": [1, 1, 1, 2, 2, 2], "b": 0})
    assert read_dataset(X, frame).target.names == ("a", "b")


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (None, ValueError, "requires y to be passed, but the target y is None"),
        ([1, 2], ValueError, "inconsistent numbers of samples: X has 6, y has 2"),
        (["u"] * 6, ValueError, "constant.*one class.*'u' in 'target'.* 6 samples"),
        (pd.Series([1.5] * 6, name="p"), ValueError, "constant.*1.5 in 'p'"),
        (np.ones((6, 2)), ValueError, r"constant.*1 in 'target\[0\]', 1 in 'target\[1\]'"),
        ([{}] * 6, TypeError, "column 'target' holds {}"),
    ],
)
def test_bad_targets(y, error, message):
    with pytest.raises(error, match=message):
        read_dataset(X, y)


def test_one_sample_is_a_constant_target():
    with pytest.raises(ValueError, match="1 sample;"):
        read_dataset([[1, 2]], [1])


def test_a_target_of_missing_values_only_is_constant():
    with pytest.raises(ValueError, match=r"constant.*nan in 'target'"):
        read_dataset(X, [None] * 6, missing="category")


def test_target_values_are_copies():
    y = np.random.default_rng(0).normal(size=6)
    assert not np.shares_memory(read_dataset(X, y).target.columns[0].values, y)


@pytest.mark.parametrize(
    ("values", "names", "feature_types"),
    [
        (X[:, 0], ("x",), ("continuous",)),
        (X, ("x[0]", "x[1]"), ("continuous", "continuous")),
        ([0, 1, 0, 1], ("x",), ("ordinal",)),
        (pd.Series(LABELS, name="a"), ("a",), ("nominal",)),
        (
            pl.DataFrame({"a": [1.5, 2.5], "b": [True, False]}),
            ("a", "b"),
            ("continuous", "nominal"),
        ),
    ],
)
def test_blocks(values, names, feature_types):
    block = read_block(values, "x")
    assert (block.names, block.feature_types) == (names, feature_types)
