"""Files of any format: read as the table in memory, damaged or not; some columns copied."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import os
import subprocess
import sys
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pidselect import Table
from pidselect.data import ColumnStore, FileError, TextFormat
from pidselect.data.io import header, read_file, write_columns

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

CSV = """id,when,size,town,at,ok,count,mix
1,2020-01-02,1.50,"Rome, old",08:30,true,3,1.0
2,2020-01-03 10:00:00.25,NA,=SUM(A1),09:00,false,,x
3,,-2e3,"say ""hi""
there",,NA,007,2
"""
NAMES = ("town", "size", "when", "ok", "count", "mix", "at")
SUFFIXES = ["csv", "tsv", "txt", "jsonl", "ndjson", "csv.gz", "jsonl.gz"]
BINARY = ["parquet", "pq", "feather", "arrow", "ipc"]


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source.csv"
    path.write_text(CSV)
    return path


def assert_same_columns(path, other, names, text=None):
    found = {raw.name: raw for raw in read_file(path, ColumnStore(2**20), text=text)}
    expected = {raw.name: raw for raw in read_file(other, ColumnStore(2**20))}
    assert tuple(found) == tuple(names)
    for name in names:
        assert (found[name].form, found[name].labels) == (
            expected[name].form,
            expected[name].labels,
        )
        np.testing.assert_array_equal(found[name].values, expected[name].values)


@pytest.mark.parametrize("n_copies", [1, 200])  # in blocks of about 4000 bytes
@pytest.mark.parametrize("suffix", [*SUFFIXES, *BINARY])
def test_every_format_holds_the_same_table(source, suffix, n_copies):
    names, _, rows = CSV.partition("\n")
    source.write_text(f"{names}\n{rows * n_copies}")
    target = source.with_name(f"target.{suffix}")
    with mock.patch("pidselect.data.text_io.BLOCK_BYTES", 1000):
        write_columns(source, target, NAMES)
    assert header(target) == NAMES
    assert_same_columns(target, source, NAMES)
    assert sorted(path.name for path in source.parent.iterdir()) == ["source.csv", target.name]


@pytest.mark.parametrize("first", ["jsonl", "parquet", "feather"])
@pytest.mark.parametrize("second", ["csv", "tsv.gz", "ndjson", "parquet", "arrow"])
def test_any_format_becomes_any_other(source, first, second):
    between, target = source.with_name(f"between.{first}"), source.with_name(f"target.{second}")
    write_columns(source, between, NAMES)
    write_columns(between, target, NAMES[::-1])
    assert_same_columns(target, source, NAMES[::-1])


def test_fields_of_texts_are_copied_as_they_are(source):
    target = source.with_name("target.csv")
    write_columns(source, target, ["count", "town", "size"])
    assert target.read_text() == (
        'count,town,size\n3,"Rome, old",1.50\n,=SUM(A1),NA\n007,"say ""hi""\nthere",-2e3\n'
    )


def test_delimiters_and_encodings_stay(tmp_path):
    source = tmp_path / "s.csv"
    source.write_bytes("größe;b; c\n1,5;é;x\n2;ü;y\n".encode("latin-1"))
    text = TextFormat(encoding="latin-1")
    for name, expected in (
        ("t.csv", "größe; c\n1,5;x\n2;y\n"),
        ("t.tsv", "größe\t c\n1,5\tx\n2\ty\n"),
    ):
        write_columns(source, tmp_path / name, ["größe", "c"], text)
        assert (tmp_path / name).read_bytes().decode("latin-1") == expected
    write_columns(source, tmp_path / "t.jsonl", ["größe", "b"], text)
    assert (tmp_path / "t.jsonl").read_text("utf-8") == (
        '{"größe": 1.5, "b": "é"}\n{"größe": 2.0, "b": "ü"}\n'
    )
    write_columns(tmp_path / "t.tsv", tmp_path / "u.csv", ["c"], text)
    assert (tmp_path / "u.csv").read_text("latin-1") == " c\nx\ny\n"


def test_unnamed_columns_stay_unnamed(tmp_path):
    source, target = tmp_path / "s.csv", tmp_path / "t.csv"
    source.write_text(",a,b\n0,1,2\n")
    write_columns(source, target, ["column 1", "b"])
    assert target.read_text() == ",b\n0,2\n"


def test_large_whole_numbers_keep_their_digits(tmp_path):
    source = tmp_path / "s.csv"
    source.write_text("id,a\n9007199254740993,1\n9007199254740992,2\n")
    write_columns(source, tmp_path / "t.jsonl", ["id"])
    assert [json.loads(line)["id"] for line in (tmp_path / "t.jsonl").read_text().splitlines()] == [
        2**53 + 1,
        2**53,
    ]
    write_columns(source, tmp_path / "t.parquet", ["id"])
    assert pa.parquet.read_table(tmp_path / "t.parquet")["id"].to_pylist() == [
        2**53 + 1,
        2**53,
    ]


def test_whole_numbers_beyond_all_integers_stay_texts(tmp_path):
    source = tmp_path / "s.csv"
    source.write_text(f"id,a\n{10**30 + 1},1\n 7,2\n")
    for suffix in ("jsonl", "parquet"):
        write_columns(source, tmp_path / f"t.{suffix}", ["id"])
        (raw,) = read_file(tmp_path / f"t.{suffix}", ColumnStore(0))
        assert raw.labels == (" 7", str(10**30 + 1))


def test_types_of_arrow(source):
    target = source.with_name("t.parquet")
    write_columns(source, target, ["id", "when", "size", "town", "at", "ok", "count"])
    table = pa.parquet.read_table(target)
    assert list(map(str, table.schema.types)) == [
        "int64",
        "timestamp[us]",
        "double",
        "string",
        "time64[us]",
        "bool",
        "int64",
    ]
    assert table["when"][1].as_py() == datetime.datetime(2020, 1, 3, 10, 0, 0, 250_000)
    assert table["count"].to_pylist() == [3, None, 7]


def test_categories_of_arrow_stay(tmp_path):
    pieces = [["a", "b"], ["c", "a"]]
    chunks = pa.chunked_array([pa.array(piece).dictionary_encode() for piece in pieces])
    table = pa.table({"grade": chunks, "x": [1.5, 2.5, 3.5, float("nan")]})
    pa.parquet.write_table(table, tmp_path / "s.parquet", row_group_size=2)
    write_columns(tmp_path / "s.parquet", tmp_path / "t.arrow", ["x", "grade"])
    again = pa.ipc.open_file(tmp_path / "t.arrow").read_all()
    assert again["grade"].to_pylist() == ["a", "b", "c", "a"]
    assert pa.types.is_dictionary(again.schema.field("grade").type)
    write_columns(tmp_path / "t.arrow", tmp_path / "t.jsonl", ["x"])
    assert (tmp_path / "t.jsonl").read_text().splitlines()[-1] == '{"x": null}'


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_durations_are_seconds(tmp_path, suffix):
    path, target = tmp_path / "t.parquet", tmp_path / f"t{suffix}"
    taken = [datetime.timedelta(days=1, microseconds=5), datetime.timedelta(seconds=2), None]
    parquet.write_table(pa.table({"taken": taken}), path)
    write_columns(path, target, ["taken"])
    (found,) = read_file(target, ColumnStore(2**20))
    np.testing.assert_array_equal(found.values, [86400.000005, 2, np.nan])


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_half_a_surrogate_pair_is_escaped(tmp_path, suffix):
    path, target = tmp_path / "t.jsonl", tmp_path / f"half{suffix}"
    path.write_text('{"a": "\\ud800"}\n{"a": "b"}\n')
    write_columns(path, target, ["a"])
    assert r"\ud800" in target.read_text(encoding="utf-8")


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_arrays(tmp_path, suffix):
    X = np.random.default_rng(0).normal(size=(9, 4))
    np.save(tmp_path / "x.npy", X)
    write_columns(tmp_path / "x.npy", tmp_path / f"t.{suffix}", ["x3", "x0"])
    found = read_file(tmp_path / f"t.{suffix}", ColumnStore(0))
    np.testing.assert_array_equal(np.column_stack([raw.values for raw in found]), X[:, [3, 0]])


def test_keys_of_json_that_come_late(tmp_path):
    (tmp_path / "s.jsonl").write_text('{"a": 1}\n' * 120_000 + '{"a": 2, "b": "x"}\n')
    assert header(tmp_path / "s.jsonl") == ("a",)
    with pytest.raises(FileError, match="'B'; did you mean 'b'"):
        write_columns(tmp_path / "s.jsonl", tmp_path / "t.csv", ["B"])
    for name in ("t.csv", "t.jsonl", "t.parquet"):
        with mock.patch("pidselect.data.text_io.BLOCK_BYTES", 2**19):
            write_columns(tmp_path / "s.jsonl", tmp_path / name, ["b", "a"])
        assert_same_columns(tmp_path / name, tmp_path / "s.jsonl", ["b", "a"])


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.text(st.characters(codec="utf-8", exclude_characters="\0"))), min_size=1)
)
def test_any_text_comes_back(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("any")
    lines = "".join(json.dumps({"a": text, "b": 1}) + "\n" for (text,) in rows)
    (folder / "s.jsonl").write_text(lines)
    write_columns(folder / "s.jsonl", folder / "t.csv", ["a"])
    write_columns(folder / "t.csv", folder / "u.csv", ["a"], TextFormat(delimiter=","))
    assert (folder / "t.csv").read_bytes() == (folder / "u.csv").read_bytes()
    raw = read_file(folder / "t.csv", ColumnStore(0), text=TextFormat(delimiter=","))[0]
    if raw.form == "text":
        present = {text for (text,) in rows if text.strip() not in TextFormat().na_values}
        assert raw.labels == tuple(sorted(present))


# What is refused --------------------------------------------------------------------------------


def test_the_source_is_never_written_over(source, tmp_path):
    (tmp_path / "link.csv").symlink_to(source)
    for target in (source, tmp_path / "link.csv", tmp_path / "." / "source.csv"):
        with pytest.raises(ValueError, match="the table itself"):
            write_columns(source, target, ["size"])
    assert source.read_text() == CSV


def test_targets_that_cannot_be(source, tmp_path):
    for name in ("t.xlsx", "t.npy", "t", "t.parquet.gz"):
        with pytest.raises(ValueError, match=r"cannot be written.*\.csv"):
            write_columns(source, tmp_path / name, ["size"])
    with pytest.raises(FileNotFoundError, match="no folder"):
        write_columns(source, tmp_path / "nowhere" / "t.csv", ["size"])
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ValueError, match="is a folder"):
        write_columns(source, tmp_path / "folder.csv", ["size"])
    with pytest.raises(ValueError, match="'sizes'; did you mean 'size'"):
        write_columns(source, tmp_path / "t.csv", ["sizes"])
    with pytest.raises(ValueError, match="no column is left"):
        write_columns(source, tmp_path / "t.csv", [])


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "csv.gz"])
def test_a_broken_source_leaves_what_was_there(tmp_path, suffix):
    source, target = tmp_path / "s.csv", tmp_path / f"t.{suffix}"
    source.write_text("a,b\n" + "1,2\n" * 100 + "1\n")
    target.write_text("before")
    with pytest.raises(ValueError, match="line 102"):
        write_columns(source, target, ["a"])
    assert target.read_text() == "before"
    assert sorted(os.listdir(tmp_path)) == ["s.csv", target.name]


def test_a_source_without_rows(tmp_path):
    (tmp_path / "s.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match="no rows"):
        write_columns(tmp_path / "s.csv", tmp_path / "t.parquet", ["a"])
    write_columns(tmp_path / "s.csv", tmp_path / "t.csv", ["b"])
    assert (tmp_path / "t.csv").read_text() == "b\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_permissions_of_a_file_stay(source, tmp_path):
    target = tmp_path / "t.csv"
    target.touch()
    target.chmod(0o640)
    write_columns(source, target, ["size"])
    assert target.stat().st_mode & 0o777 == 0o640


def test_compressed_files_are_the_same_each_time(source, tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        write_columns(source, tmp_path / name, ["size"])
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    with gzip.open(tmp_path / "a.csv.gz", "rt") as file:
        assert file.read() == "size\n1.50\nNA\n-2e3\n"


def test_files_need_pyarrow(source, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match=r"t\.parquet.*pip install 'pidselect\[arrow\]'"):
        write_columns(source, tmp_path / "t.parquet", ["size"])


# Parquet, Arrow and NumPy -------------------------------------------------------------------------


def test_missing_values_of_a_file(tmp_path):
    table = pa.table({"a": [1.5, None, 2.5, 0.5], "b": ["x", "y", None, "x"]})
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"contains NaN: 'a' \(1 missing\), 'b' \(1 missing\)"):
        Table.open(tmp_path / "t.parquet")
    kept = Table.open(tmp_path / "t.parquet", missing="category", feature_types={"b": "nominal"})
    assert [column.has_missing for column in kept.columns] == [True, True]
    left = Table.open(tmp_path / "t.parquet", missing="drop", max_memory=0)
    assert left.columns[0].values.tolist() == [1.5, 0.5]
    assert dict(left.skipped) == {1: "constant"}


def test_unknown_and_empty_files(tmp_path):
    with pytest.raises(ValueError, match=r"table\.dta.*must end in \.csv.*\.parquet.*\.gz"):
        Table.open(tmp_path / "table.dta")
    parquet.write_table(pa.table({"a": pa.array([], pa.float64())}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="no rows"):
        Table.open(tmp_path / "t.parquet")


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_row_numbers_of_pandas_are_no_column(tmp_path, suffix):
    path = tmp_path / f"filtered.{suffix}"
    frame = pd.DataFrame({"a": [1.5, 2.5, 3.5], "b": [1.0, 0.5, 0.25]})
    table = pa.Table.from_pandas(frame, preserve_index=True)
    write = parquet.write_table if suffix == "parquet" else feather.write_feather
    write(table, path)
    assert "__index_level_0__" in table.column_names
    assert Table.open(path).names == ("a", "b")


def test_a_stream_of_arrow_is_read_and_written(tmp_path):
    table = pa.table({"a": [1.5, 2.5], "b": [0.5, 1.0], "c": ["x", "y"]})
    for name in ("stream.arrow", "stream.arrows"):
        with pa.ipc.new_stream(tmp_path / name, table.schema) as writer:
            writer.write_table(table)
        assert header(tmp_path / name) == ("a", "b", "c")
        found = read_file(tmp_path / name, ColumnStore(0))
        assert [raw.values.tolist() for raw in found] == [[1.5, 2.5], [0.5, 1.0], [0, 1]]
    write_columns(tmp_path / "stream.arrow", tmp_path / "some.arrows", ["c", "a"])
    assert pa.ipc.open_stream(tmp_path / "some.arrows").read_all()["c"].to_pylist() == ["x", "y"]


ARRAYS = {
    "objects": np.array([["a", 1]], dtype=object),
    "records": np.array([("a", 1.5)], dtype=[("name", "U3"), ("size", float)]),
    "3 dimensions": np.zeros((2, 2, 2)),
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_arrays_that_are_no_table_are_named(tmp_path, array):
    np.save(path := tmp_path / "odd.npy", array, allow_pickle=True)
    with pytest.raises(FileError, match=r"odd\.npy"):
        Table.open(path)


@pytest.mark.parametrize("values", [[[1], [2]], [{"x": 1}, {"x": 2}], [b"a", b"b"]])
@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_columns_of_other_values_are_named(tmp_path, name, values):
    path = tmp_path / name
    write = parquet.write_table if name == "t.parquet" else feather.write_feather
    write(pa.table({"a": [1.5, 2.5], "odd": values}), path)
    with pytest.raises(FileError, match=rf"{name}': .*'odd' holds .*without=\['odd'\]") as caught:
        Table.open(path)
    assert caught.value.setting == ("without", "odd")
    assert Table.open(path, without="odd").names == ("a",)


def test_a_name_with_a_point_is_no_part_of_another_column(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": [{"b": 7.5}, {"b": 8.5}], "a.b": [1.5, 2.5]}), path)
    assert Table.open(path, columns="a.b").columns[0].values.tolist() == [1.5, 2.5]


# Damaged files, and files that are not there ----------------------------------------------------


def save(table, path):
    match path.suffixes:
        case [".parquet"]:
            parquet.write_table(table, path, row_group_size=80)
        case [".feather"]:
            feather.write_feather(table, path, compression="zstd", chunksize=80)
        case [".arrow"]:
            with pa.ipc.new_file(path, table.schema) as writer:
                writer.write_table(table, max_chunksize=80)
        case [".npy"]:
            np.save(path, np.column_stack([table["a"], table["b"]]))
        case _:
            write_columns_of(table, path)


def write_columns_of(table, path):
    parquet.write_table(table, path.with_name("whole.parquet"))
    write_columns(path.with_name("whole.parquet"), path, table.column_names)


@pytest.mark.parametrize("suffix", ["parquet", "feather", "arrow", "npy", "csv.gz", "jsonl"])
def test_damaged_files_are_read_or_refused_with_their_name(tmp_path, suffix):
    rng = np.random.default_rng(0)
    values = {"a": rng.normal(size=200), "b": rng.normal(size=200)}
    save(pa.table({**values, "c": rng.choice(["x", "yy"], 200)}), tmp_path / f"whole.{suffix}")
    whole = (tmp_path / f"whole.{suffix}").read_bytes()
    path = tmp_path / f"damaged.{suffix}"
    refused = []
    for _ in range(60):
        damaged = bytearray(whole)
        place = int(rng.choice([rng.integers(len(whole)), rng.integers(64), -rng.integers(1, 64)]))
        match rng.integers(3):
            case 0:
                damaged[place] ^= 1 << int(rng.integers(8))
            case 1:
                del damaged[place:]
            case _:
                damaged[place : place + 8] = rng.bytes(8)
        path.write_bytes(damaged)
        try:
            read_file(path, ColumnStore(2**20))
        except FileError as error:
            refused.append((error.path, bool(error.remedy)))
    assert len(refused) > 5
    assert set(refused) == {(str(path), True)}


def test_more_rows_than_a_file_can_hold(tmp_path):
    path = tmp_path / "rows.arrow"
    batch = pa.record_batch([pa.nulls(2**26)], ["a"])
    with pa.ipc.new_file(path, batch.schema) as writer:
        writer.write_batch(batch)
    with pytest.raises(FileError, match=r"rows\.arrow.*67,108,864 rows"):
        Table.open(path)


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "people.csv").write_text("a\n1\n")
    with pytest.raises(FileNotFoundError, match=r"did you mean '.*people\.csv'\?"):
        Table.open(tmp_path / "poeple.csv")
    with pytest.raises(FileNotFoundError, match=r"did you mean '.*people\.csv'\?"):
        header(tmp_path / "people.parquet")
    with pytest.raises(FileNotFoundError, match=r"no folder '.*elsewhere'"):
        Table.open(tmp_path / "elsewhere" / "people.csv")
    with pytest.raises(FileError, match="folder"):
        Table.open(tmp_path)
    with pytest.raises(FileError, match=r"CSV.*read_excel"):
        Table.open(tmp_path / "people.xlsx")
    (tmp_path / "people.parquet").write_text("a\n1\n")
    with pytest.raises(FileError, match=r"people\.parquet"):
        Table.open(tmp_path / "people.parquet")


# Standard input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "suffix", ["csv", "csv.gz", "jsonl", "jsonl.gz", "parquet", "arrow", "arrows", "npy"]
)
def test_standard_input_of_any_format(tmp_path, suffix, monkeypatch):
    table = pa.table({"x0": [1.5, 2.5, 3.5], "x1": [0.5, 1.0, 0.25]})
    path = tmp_path / f"t.{suffix}"
    if suffix == "npy":
        np.save(path, np.column_stack([table["x0"], table["x1"]]))
    else:
        write_columns_of(table, path)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(path.read_bytes())))
    assert header("-") == ("x0", "x1")  # what was read is kept, as a pipe can be read only once
    assert Table.open("-").columns[1].values.tolist() == [0.5, 1.0, 0.25]
    write_columns("-", tmp_path / "some.csv", ["x1"])
    assert (tmp_path / "some.csv").read_text() == "x1\n0.5\n1.0\n0.25\n"


def test_nothing_is_left_of_standard_input(tmp_path):
    code = "from pidselect import Table; print(Table.open('-').names)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        input="a,b\n1,2\n2,3\n",
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "('a', 'b')\n"
    assert not list(tmp_path.iterdir())
