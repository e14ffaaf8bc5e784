"""Some columns of a file in another one: the same table, and never half a file."""

from __future__ import annotations

import datetime
import gzip
import json
import os
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pidselect import Table
from pidselect.data.column_store import ColumnStore
from pidselect.data.disk import header, read_file
from pidselect.data.text_format import TextFormat
from pidselect.data.writing import write_columns

pa = pytest.importorskip("pyarrow")

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
    found = {raw.name: raw for raw in read_file(path, ColumnStore(2**20), None, text)}
    expected = {raw.name: raw for raw in read_file(other, ColumnStore(2**20))}
    assert tuple(found) == tuple(names)
    for name in names:
        assert (found[name].form, found[name].labels) == (
            expected[name].form,
            expected[name].labels,
        )
        np.testing.assert_array_equal(found[name].values, expected[name].values)


@pytest.mark.parametrize("size", [20, 2**22])
@pytest.mark.parametrize("suffix", [*SUFFIXES, *BINARY])
def test_every_format_holds_the_same_table(source, suffix, size, monkeypatch):
    monkeypatch.setattr("pidselect.data.lines.BLOCK_CHARACTERS", size)
    target = source.with_name(f"target.{suffix}")
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
        '{"größe": 1.5, "b": "é"}\n{"größe": 2, "b": "ü"}\n'
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
        "9007199254740993",
        "9007199254740992",
    ]


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
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path, target = tmp_path / "t.parquet", tmp_path / f"t{suffix}"
    taken = [datetime.timedelta(days=1, microseconds=5), datetime.timedelta(seconds=2), None]
    parquet.write_table(pa.table({"taken": taken}), path)
    write_columns(path, target, ["taken"])
    (found,) = read_file(target, ColumnStore(2**20))
    np.testing.assert_array_equal(found.values, [86400.000005, 2, np.nan])


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_half_a_letter_of_json_is_written_as_json_writes_it(tmp_path, suffix):
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


def test_keys_of_json_that_come_late(tmp_path, monkeypatch):
    monkeypatch.setattr("pidselect.data.lines.BLOCK_CHARACTERS", 5)
    (tmp_path / "s.jsonl").write_text('{"a": 1}\n{"a": 2, "b": "x"}\n')
    monkeypatch.setattr("pidselect.data.json_lines.SAMPLE_CHARACTERS", 5)
    assert header(tmp_path / "s.jsonl") == ("a",)
    with pytest.raises(ValueError, match="has no column 'B'; did you mean 'b'"):
        write_columns(tmp_path / "s.jsonl", tmp_path / "t.csv", ["B"])
    for name in ("t.csv", "t.jsonl", "t.parquet"):
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
    raw = read_file(folder / "t.csv", ColumnStore(0), None, TextFormat(delimiter=","))[0]
    if raw.form == "text":
        present = {text for (text,) in rows if text.strip() not in TextFormat().missing}
        assert raw.labels == tuple(sorted(present))


# What is refused --------------------------------------------------------------------------------


def test_the_source_is_never_written_over(source, tmp_path):
    (tmp_path / "link.csv").symlink_to(source)
    for target in (source, tmp_path / "link.csv", tmp_path / "." / "source.csv"):
        with pytest.raises(ValueError, match="is the table itself"):
            write_columns(source, target, ["size"])
    assert source.read_text() == CSV


def test_targets_that_cannot_be(source, tmp_path):
    for name in ("t.xlsx", "t.npy", "t", "t.parquet.gz"):
        with pytest.raises(ValueError, match=r"cannot be written: its name must end in \.csv"):
            write_columns(source, tmp_path / name, ["size"])
    with pytest.raises(FileNotFoundError, match="no folder"):
        write_columns(source, tmp_path / "nowhere" / "t.csv", ["size"])
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ValueError, match="is a folder"):
        write_columns(source, tmp_path / "folder.csv", ["size"])
    with pytest.raises(ValueError, match="has no column 'sizes'; did you mean 'size'"):
        write_columns(source, tmp_path / "t.csv", ["sizes"])
    with pytest.raises(ValueError, match="no column of"):
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
    with pytest.raises(ValueError, match="has no rows"):
        write_columns(tmp_path / "s.csv", tmp_path / "t.parquet", ["a"])
    write_columns(tmp_path / "s.csv", tmp_path / "t.csv", ["b"])
    assert (tmp_path / "t.csv").read_text() == "b\n"


def test_who_may_read_a_file_stays(source, tmp_path):
    target = tmp_path / "t.csv"
    target.touch()
    target.chmod(0o640)
    write_columns(source, target, ["size"])
    assert target.stat().st_mode & 0o777 == 0o640


def test_packed_files_are_the_same_each_time(source, tmp_path):
    for name in ("a.csv.gz", "b.csv.gz"):
        write_columns(source, tmp_path / name, ["size"])
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    with gzip.open(tmp_path / "a.csv.gz", "rt") as file:
        assert file.read() == "size\n1.50\nNA\n-2e3\n"


def test_arrow_files_take_pyarrow(source, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match=r"t\.parquet.*pip install 'pidselect\[arrow\]'"):
        write_columns(source, tmp_path / "t.parquet", ["size"])
    write_columns(source, tmp_path / "t.csv", ["size"])
    assert Table.open(tmp_path / "t.csv", missing="drop").names == ("size",)
