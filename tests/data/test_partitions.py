"""Tables in partitions: the same rows and counts for any partitioning."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dask import delayed
from hypothesis import given, settings
from hypothesis import strategies as st

from pidselect.data import FileError, read_dataset
from pidselect.data.counts import (
    JointCounts,
    Levels,
    find_levels,
    level_counts,
    merge_levels,
    scan_levels,
    with_counts,
)
from pidselect.data.partitions import (
    ParquetFiles,
    gather_sample,
    largest_key,
    row_keys,
    to_partitions,
)

dd = pytest.importorskip("dask.dataframe", reason="there is no Dask")


def table(n=500):
    rng = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "whole": rng.integers(-2, 3, n),
            "text": rng.choice(["b", "a", "ü"], n),
            "flag": rng.random(n) < 0.3,
            "grade": pd.Categorical(rng.choice(["low", "high"], n), ["low", "high"], ordered=True),
            "half": rng.choice([0.5, 1.5, np.nan], n),
            "label": pd.Series(rng.choice(["x", None], n), dtype="object"),
            "day": pd.to_datetime(rng.choice(["2026-01-01", "2026-05-01"], n)),
        }
    )


def write(frame, folder, cuts, group):
    for number, part in enumerate(np.split(np.arange(len(frame)), cuts)):
        found = pa.Table.from_pandas(frame.iloc[part], preserve_index=False)
        pq.write_table(found, folder / f"{number:03}.parquet", row_group_size=group)
    return ParquetFiles(folder)


# --- rows of a sample ---------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**64 - 1), st.integers(1, 300), st.integers(1, 400), st.integers(0, 300))
def test_sample_of_keys(seed, n_rows, n_sampled, cut):
    keys = row_keys(seed, range(n_rows))
    chosen = np.flatnonzero(keys <= np.uint64(largest_key(seed, n_rows, n_sampled)))
    assert len(chosen) == min(n_rows, n_sampled)
    cut = min(cut, n_rows)
    parts = [row_keys(seed, range(cut)), row_keys(seed, range(cut, n_rows))]
    assert (np.concatenate(parts) == keys).all()


def test_samples_are_uniform():
    """Every row is in as many samples as any other, also beside its neighbours."""
    chosen = np.zeros(200)
    pairs = 0
    for seed in range(2000):
        keys = row_keys(seed, range(200))
        member = keys <= np.uint64(largest_key(seed, 200, 50))
        chosen += member
        pairs += np.count_nonzero(member[1:] & member[:-1])
    assert abs(chosen - 500).max() < 5 * np.sqrt(2000 * 0.25 * 0.75)
    expected = 2000 * 199 * 0.25 * 49 / 199
    assert abs(pairs - expected) < 5 * np.sqrt(expected)


@pytest.mark.parametrize("n_sampled", [1, 60, 10_000])
def test_same_rows_for_any_partitioning(tmp_path, n_sampled):
    frame = table()
    keys = row_keys(3, range(len(frame)))
    rows = keys <= np.uint64(largest_key(3, len(frame), n_sampled))
    expected = pa.Table.from_pandas(frame[rows], preserve_index=False).to_pylist()
    for n_partitions in (1, 3, 8):
        partitions = to_partitions(dd.from_pandas(frame, npartitions=n_partitions, sort=False))
        found = pa.Table.from_pandas(gather_sample(partitions, n_sampled, 3))
        assert found.to_pylist() == expected, n_partitions
    for number, (cuts, group) in enumerate((([], 500), ([1, 100, 101], 70))):
        (folder := tmp_path / str(number)).mkdir()
        found = gather_sample(write(frame, folder, cuts, group), n_sampled, 3)
        assert found.to_pylist() == expected, cuts


def test_columns_are_gathered_in_chunks(tmp_path, monkeypatch):
    frame, read = table(), []
    partitions = write(frame, tmp_path, [250], 100)
    everything = gather_sample(partitions, 40, 0)

    def run(function, common, tasks):
        read.append(common.columns)
        return (function(common, *task) for task in tasks)

    monkeypatch.setattr("pidselect.data.partitions.COLUMNS_PER_TASK", 3)
    assert gather_sample(partitions.using(run), 40, 0).equals(everything)
    assert [len(columns) for columns in read] == [3, 3, 1]


# --- counts -------------------------------------------------------------------------------------


def test_levels_of_every_type(tmp_path):
    frame = table()
    expected = {
        "whole": (-2.0, -1.0, 0.0, 1.0, 2.0),
        "text": ("a", "b", "ü"),
        "flag": ("False", "True"),
        "grade": ("high", "low"),
        "half": (0.5, 1.5),
        "label": ("x",),
    }
    for partitions in (
        write(frame, tmp_path, [1, 100], 70),
        to_partitions(dd.from_pandas(frame, npartitions=4, sort=False)),
    ):
        found = find_levels(partitions, list(frame))
        assert {name: found[name].values for name in expected} == expected
        assert {name: found[name].n_missing for name in frame} == frame.isna().sum().to_dict()
        for name in ("whole", "text"):
            assert found[name].counts == tuple(frame[name].value_counts().sort_index())
        assert len(found["day"]) == 2


@pytest.mark.parametrize("dense", [0, 2**16])
def test_counts_are_those_of_all_rows(tmp_path, monkeypatch, dense):
    monkeypatch.setattr("pidselect.data.counts.DENSE_CELLS", dense)
    frame = table()
    partitions = write(frame, tmp_path, [7, 100], 33)
    joint = JointCounts(partitions, find_levels(partitions, list(frame)), len(frame))
    (found, again) = joint.count(("text", "flag"), [("whole",), ("half", "label")])
    for counts, names in ((found, ["text", "flag", "whole"]), (again, ["half", "label"])):
        sizes = frame.groupby(names, dropna=False, observed=True).size()
        codes = counts.codes(names)
        per_cell = np.zeros(codes.max() + 1)
        np.add.at(per_cell, codes, counts.counts)
        assert sorted(per_cell[per_cell > 0]) == sorted(sizes)
    assert joint.n_passes == 1
    # The same columns in other roles are known.
    joint.count(("whole", "text"), [("flag",)])
    assert joint.n_passes == 1


def test_wide_tables_are_counted_in_chunks(tmp_path, monkeypatch):
    """No task reads more columns than the common ones and a chunk."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 3, (200, 30)), columns=[f"x{i}" for i in range(30)])
    partitions, read = write(frame, tmp_path, [90], 200), []

    def run(function, common, tasks):
        read.append(common.columns)
        return (function(common, *task) for task in tasks)

    monkeypatch.setattr("pidselect.data.counts.COLUMNS_PER_TASK", 8)
    partitions = partitions.using(run)
    joint = JointCounts(partitions, find_levels(partitions, list(frame)), len(frame))
    counts = joint.count(("x0",), [(f"x{i}",) for i in range(1, 30)])
    assert max(map(len, read)) == 9
    for place in range(1, 30):
        sizes = frame.groupby(["x0", f"x{place}"]).size()
        assert counts[place - 1].counts.tolist() == sizes.tolist()


def test_level_counts_and_constants(tmp_path):
    """A level that the sample lacks makes a column neither constant nor skipped."""
    frame = pd.DataFrame({"rare": [0] * 99 + [1], "never": 7, "y": ["a", "b"] * 50})
    partitions = write(frame, tmp_path, [50], 100)
    joint = JointCounts(partitions, find_levels(partitions, list(frame)), len(frame))
    sample = frame.iloc[:20]
    dataset = with_counts(read_dataset(sample[["rare", "never"]], sample["y"]), joint)
    assert dataset.table.skipped == {1: "constant"}
    assert dataset.table.columns[0].levels() == 2
    assert level_counts(dataset.target).tolist() == [50, 50]
    assert level_counts(dataset.table.block([0])).tolist() == [99, 1]


def test_too_many_levels(monkeypatch):
    one, other = Levels(("a", "b"), (1, 1)), Levels(("c", "d"), (1, 1))
    assert merge_levels(None, one) is None
    monkeypatch.setattr("pidselect.data.counts.MAX_LEVELS", 3)
    assert merge_levels(one, other) is None


def test_types_that_differ_between_partitions():
    parts = [pd.DataFrame({"a": [True, False]}), pd.DataFrame({"a": [0, 1]})]
    lazy = dd.from_delayed([delayed(part) for part in parts], meta=parts[0], verify_meta=False)
    with pytest.raises(TypeError, match=r"column 'a'.*'False'.*numbers.*convert"):
        find_levels(to_partitions(lazy), ["a"])


def test_categories_of_every_library(tmp_path):
    """Indices may be unsigned, use all of 8 bits, or point to NaN."""
    table = pa.table(
        {
            "unsigned": pa.DictionaryArray.from_arrays(
                pa.array([0, None, 1], "uint32"), ["a", "b"]
            ),
            "nan": pa.DictionaryArray.from_arrays(pa.array([0, 1, 1], "int8"), [1.5, np.nan]),
        }
    )
    assert scan_levels(table, 0) == [Levels(("a", "b"), (1, 1), 1), Levels(("1.5",), (1,), 2)]
    labels = [f"{number:03}" for number in range(128)]
    full = pa.DictionaryArray.from_arrays(pa.array(range(128), "int8"), labels)
    (found,) = scan_levels(pa.table({"full": full}), 0)
    assert found.values == tuple(labels)


def test_categories_that_differ_between_partitions():
    parts = [pd.DataFrame({"a": pd.Categorical([1, 2])}), pd.DataFrame({"a": pd.Categorical([7])})]
    lazy = dd.from_delayed([delayed(part) for part in parts], meta=parts[0], verify_meta=False)
    found = gather_sample(to_partitions(lazy), 10, 0)
    assert found["a"].dtype == "category"
    assert found["a"].tolist() == [1, 2, 7]


def test_changed_data_are_noticed(tmp_path):
    frame = pd.DataFrame({"a": [0, 1] * 10, "y": [0, 1] * 10})
    partitions = write(frame, tmp_path, [10], 100)
    levels = find_levels(partitions, ["a", "y"])
    joint = JointCounts(partitions, {**levels, "a": Levels((0.0,), (20,))}, len(frame))
    with pytest.raises(ValueError, match=r"column 'a' holds 1\.0.*changed"):
        joint.count(("y",), [("a",)])


# --- files --------------------------------------------------------------------------------------


def test_hive_folders_are_columns(tmp_path):
    for year in (2025, 2026):
        (folder := tmp_path / f"year={year}").mkdir()
        pq.write_table(pa.table({"x": [1, 2]}), folder / "part.parquet")
    partitions = to_partitions(tmp_path)
    assert partitions.names == ("x", "year")
    assert gather_sample(partitions, 10, 0)["year"].to_pylist() == [2025, 2025, 2026, 2026]


def test_types_of_all_files(tmp_path):
    """A column without values in one file has the type of the others."""
    for number, values in enumerate(([None, None], [1, 2], [0.5, None])):
        pq.write_table(pa.table({"a": values}), tmp_path / f"{number}.parquet")
    found = gather_sample(to_partitions(tmp_path), 10, 0)
    assert found["a"].to_pylist() == [None, None, 1.0, 2.0, 0.5, None]
    pq.write_table(pa.table({"a": ["text"]}), tmp_path / "3.parquet")
    with pytest.raises(FileError, match=r"3\.parquet.*types"):
        gather_sample(to_partitions(tmp_path), 10, 0)


@pytest.mark.parametrize("content", [None, b"", b"PAR1 not really PAR1"])
def test_bad_files(tmp_path, content):
    if content is not None:
        (tmp_path / "bad.parquet").write_bytes(content)
    with pytest.raises(FileError, match=str(tmp_path)):
        gather_sample(to_partitions(tmp_path), 10, 0)


def test_no_such_folder(tmp_path):
    with pytest.raises(FileError, match="no such folder"):
        gather_sample(to_partitions(tmp_path / "away"), 10, 0)


def test_damaged_row_group(tmp_path):
    frame = pd.DataFrame({"a": np.random.default_rng(0).normal(size=5000)})
    write(frame, tmp_path, [], 1000)
    path = tmp_path / "000.parquet"
    content = bytearray(path.read_bytes())
    content[4:60] = b"\xff" * 56
    path.write_bytes(bytes(content))
    with pytest.raises(FileError, match=r"000\.parquet"):
        gather_sample(ParquetFiles(tmp_path), 5000, 0)
