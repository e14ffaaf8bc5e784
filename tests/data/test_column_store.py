"""Tables in files and in a store that has little room: the same columns, the same selection."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pidselect import PIDSelector, Table
from pidselect.data import Block, Column, ColumnStore, read_dataset
from pidselect.data.column import renumbered, to_codes
from pidselect.data.feature_types import count_levels, has_at_most
from pidselect.data.input import read_columns, select_columns, select_rows

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")


def columns(n_samples=200):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n_samples, 3))
    return {
        "height": x[:, 0],
        "children": rng.integers(0, 4, n_samples),
        "city": np.array(["Oslo", "Rome", "Bonn"])[rng.integers(0, 3, n_samples)],
        "smoker": rng.random(n_samples) < 0.5,
        "weight": x[:, 1],
        "age": x[:, 0] + 0.5 * x[:, 1] + 0.1 * x[:, 2],
    }


def write_parquet(table, path):
    parquet.write_table(table, path, row_group_size=64)


def write_arrow(table, path):
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=64)


FILES = {
    "table.parquet": write_parquet,
    "table.feather": lambda table, path: feather.write_feather(table, str(path)),
    "plain.feather": lambda t, path: feather.write_feather(t, str(path), compression=None),
    "table.arrow": write_arrow,
}


def assert_same(one, other):
    assert one.names == other.names
    assert one.feature_types == other.feature_types
    assert dict(one.skipped) == dict(other.skipped)
    for a, b in zip(one.columns, other.columns, strict=True):
        np.testing.assert_array_equal(a.values, b.values)
        assert a.labels == b.labels


@pytest.mark.parametrize("max_memory", [0, 5000, 2**28])
@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_as_the_table_in_memory(tmp_path, name, max_memory):
    table = pa.table(columns())
    FILES[name](table, tmp_path / name)
    assert_same(Table.open(tmp_path / name, max_memory=max_memory), Table.read(table))


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_saved_array_is_read_as_the_array(tmp_path, order):
    X = np.random.default_rng(0).normal(size=(50, 7))
    np.save(tmp_path / "x.npy", np.asarray(X, order=order))
    assert_same(Table.open(tmp_path / "x.npy", max_memory=500), Table.read(X))


def test_columns_of_a_matrix_come_a_few_at_a_time(monkeypatch):
    monkeypatch.setattr("pidselect.data.input.TOGETHER_BYTES", 2 * 8 * 50)
    X = np.random.default_rng(0).normal(size=(50, 7))
    found = read_columns(X)
    assert [raw.name for raw in found] == [f"x{i}" for i in range(7)]
    np.testing.assert_array_equal(np.column_stack([raw.values for raw in found]), X)
    assert not any(np.shares_memory(raw.values, X) for raw in found)


@pytest.fixture
def opened(tmp_path):
    write_parquet(pa.table(columns()), tmp_path / "table.parquet")
    return Table.open(tmp_path / "table.parquet", max_memory=0)


def test_a_selection_from_a_file_is_that_from_memory(opened):
    table = pa.table(columns())
    features, age = table.drop_columns(["age"]), table["age"]
    settings = {"random_state": 0, "n_permutations": 50, "estimator": "copula"}
    X, y = opened.split("age")
    selector = PIDSelector(**settings).fit(X, y)
    expected = PIDSelector(**settings).fit(features.to_pandas(), age.to_pandas().rename("age"))
    assert selector.selection_.steps == expected.selection_.steps
    assert selector.selected_.tolist() == expected.selected_.tolist()
    assert selector.feature_names_in_.tolist() == list(X.names)
    assert selector.feature_types_ == expected.feature_types_
    np.testing.assert_array_equal(
        selector.transform(X), expected.transform(features.to_pandas()).astype(float)
    )
    assert (
        selector.explain(X, y).to_dict()
        == expected.explain(features.to_pandas(), age.to_pandas().rename("age")).to_dict()
    )


def test_other_columns_are_refused(opened):
    X, y = opened.split("age")
    selector = PIDSelector(estimator="copula", n_permutations=30, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"6.*5"):
        selector.transform(opened)


def test_kinds_of_a_table_can_be_overruled(opened):
    X, y = opened.split(["age", "city"])
    problem = read_dataset(X, y, feature_types={"children": "continuous"})
    assert problem.table.feature_types == ("continuous", "continuous", "nominal", "continuous")
    assert problem.target.names == ("age", "city")


def test_skipped_columns_stay_skipped():
    table = pa.table({"id": [f"row {i}" for i in range(40)], "a": np.arange(40.0) % 7 / 3})
    with pytest.warns(UserWarning, match="skipped columns"):
        X = Table.read(table)
    problem = read_dataset(X, np.arange(40.0) % 2)
    assert dict(problem.table.skipped) == dict(X.skipped)


def test_columns_of_a_table_are_decoded(opened):
    matrix = select_columns(opened, [2, 1])
    expected = columns()
    assert matrix[:, 0].tolist() == expected["city"].tolist()
    assert matrix[:, 1].tolist() == expected["children"].tolist()
    some = select_rows(opened, [3, 1])
    assert some.columns[0].values.tolist() == expected["height"][[3, 1]].tolist()


def test_a_store_fills_memory_first_and_files_then():
    store, rng = ColumnStore(1000), np.random.default_rng(0)
    arrays = [rng.normal(size=size) for size in (50, 50, 100, 5, 70_000)]
    kept = [store.keep(values) for values in arrays]
    for values, found in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(found, values)
        assert found.flags.writeable
        assert found.flags.aligned
    assert kept[0] is arrays[0]
    assert kept[4] is not arrays[4]
    assert (store.bytes_in_memory, store.bytes_in_files) == (840, 560_800)


def test_arrays_outlive_the_store_and_files_are_renewed():
    store = ColumnStore(0, file_bytes=4096)
    kept = [store.keep(np.full(300, float(i))) for i in range(5)]
    del store
    assert [values.sum() for values in kept] == [300.0 * i for i in range(5)]


def test_what_is_made_of_a_column_is_made_once_and_stays_here():
    column = Column("a", "continuous", np.arange(3.0))
    assert column.made(np.sqrt) is column.made(np.sqrt)
    others = pickle.loads(pickle.dumps(column)), copy.deepcopy(column), replace(column, name="b")
    for other in others:
        assert not other._made
        np.testing.assert_array_equal(other.made(np.sqrt), np.sqrt(column.values))


def test_a_full_disk_is_said(monkeypatch):
    class Full:
        def truncate(self, size): ...
        def close(self): ...
        def fileno(self):
            return -1

        def seek(self, place):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("pidselect.data.column_store.tempfile.TemporaryFile", Full)
    monkeypatch.setattr(
        "pidselect.data.column_store.mmap.mmap", lambda *_: bytearray(2**30 // 2**10)
    )
    with pytest.raises(OSError, match=r"do not fit.*No space left.*TMPDIR"):
        ColumnStore(0).keep(np.arange(10.0))


FLOATS = st.one_of(
    st.integers(-5, 5).map(float),
    st.sampled_from([0.5, -0.0, np.nan, 1e300, -1e300, 2.0**53]),
)


@given(hnp.arrays(np.float64, st.integers(1, 40), elements=FLOATS))
def test_codes_are_those_of_unique(values):
    codes = to_codes(values)
    np.testing.assert_array_equal(codes, np.unique(values, return_inverse=True)[1])
    assert Column("a", "nominal", values).levels() == len(np.unique(values))


@given(
    st.integers(1, 30).flatmap(
        lambda n: st.lists(
            hnp.arrays(np.float64, n, elements=st.integers(0, 9).map(float)), min_size=1, max_size=4
        )
    )
)
def test_joint_codes_are_in_sorted_order(columns):
    block = Block(tuple(Column("a", "nominal", values) for values in columns))
    joint = np.stack([column.codes() for column in block.columns], axis=1)
    expected = np.unique(joint, axis=0, return_inverse=True)[1].reshape(-1)
    np.testing.assert_array_equal(block.codes(), expected)


@given(hnp.arrays(np.int64, st.integers(1, 30), elements=st.integers(0, 10**7)))
def test_renumbered_without_gaps(codes):
    np.testing.assert_array_equal(renumbered(codes), np.unique(codes, return_inverse=True)[1])


@given(hnp.arrays(np.float64, st.integers(1, 60), elements=st.integers(0, 30).map(float)))
def test_a_part_may_settle_the_number_of_levels(values):
    for most in (0.5, 3, 10, 25):
        assert has_at_most(values, most) == (count_levels(values) <= most)


def test_a_stated_kind_of_the_target_is_kept(tmp_path):
    path = tmp_path / "graded.parquet"
    frame = pd.DataFrame({"a": np.arange(60.0) ** 2, "grade": np.arange(60) % 30})
    frame.to_parquet(path)
    for feature_type in ("nominal", "continuous"):
        X, y = Table.open(path, feature_types={"grade": feature_type}).split("grade")
        assert read_dataset(X, y).target.feature_types == (feature_type,)


@pytest.mark.parametrize("target", [[], ["x0", "x1"]])
def test_a_split_leaves_features_and_a_target(target):
    table = Table.read([[0, 1.5], [1, 2.5], [2, 3.5]])
    assert table.split(np.int64(1))[1].names == ("x1",)
    assert table.split(["x0", "x0"])[1].names == ("x0",)
    with pytest.raises(ValueError, match="not all"):
        table.split(target)
