"""What is wrong with a file is said with its line and the way out."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pytest

from pidselect import Table
from pidselect.data.disk import header
from pidselect.data.text_format import TextFormat

GOOD = "".join(f"{i},{i * i},w\n" for i in range(50))


@pytest.fixture(params=[7, 2**22], ids=["small blocks", "one block"], autouse=True)
def _blocks(request, monkeypatch):
    monkeypatch.setattr("pidselect.data.lines.BLOCK_CHARACTERS", request.param)


FAULTS = {
    "too few fields": (
        f"a,b,c\n{GOOD}1,2\n{GOOD}",
        r"line 52: found 2 fields, but the header names 3 \(.*','\): '1,2'\. Mend this line",
    ),
    "too many fields": (
        f"a,b,c\n{GOOD}1,2,3,4\n",
        r"line 52: found 4 fields.*: '1,2,3,4'.*must be in quotes",
    ),
    "after quoted newlines and blank lines": (
        f'a,b,c\n\n1,"x\n\ny",2\r\n{GOOD}\n1,2\n',
        r"line 57: found 2 fields",
    ),
    "in a record of several lines": ('a,b\n1,2\n1,"x\ny",3\n', r"line 3: found 3 fields"),
    "a delimiter at the end": ("a,b\n1,2,\n", r"line 2: found 3.*ends in a delimiter"),
    "row names": ("a,b\nr1,1,2\n", r"line 2: found 3.*name it in the header"),
    "another delimiter": ("a:b\n1:2,3\n", r"line 2: found 2.*--delimiter ';'"),
    "never closed": (f'a,b,c\n{GOOD}1,"2,3\n{GOOD}', r"line 52: a quote is opened.*in line 102"),
    "closed too early": (f'a,b,c\n{GOOD}1,"2"x,3\n', r"line 52: .*after its closing quote\."),
    "closed by another": ('a,b\n1,"x\n2,"y"\n', r"line 2: .*after its closing quote \(in line 3\)"),
    "a quote in the header": ('a,"b\n1,2\n', r"line 1: a quote is opened and never closed"),
    "very long": (f'a,b\n1,"{"x" * 140_000}\n', r"line 2: .*longer than 131072"),
    "NUL": (f"a,b,c\n{GOOD}1,\0,3\n", r"line 52: there is a NUL byte at character 3.*utf-16"),
    "latin-1": (
        f"a,b,c\n{GOOD}1,caf\xe9,3\n".encode("latin-1"),
        r"line 52: byte \d+ \(0xe9\) is not utf-8.*encoding='latin-1' \(--encoding latin-1\)",
    ),
    "cut in a letter": ("a,b\n1,é".encode()[:-1], r"line 2: byte \d+ \(0xc3\) is not utf-8"),
    "UTF-16": ("a,b\n1,2\n".encode("utf-16"), r"UTF-16\. Give encoding='utf-16' \(--encoding"),
    "empty": ("", "is empty"),
    "blank": ("\n\n", "is empty"),
    "header only": ("a,b\n", "has no rows: there is a header"),
    "same names": ("a,b,a\n1,2,3\n", r"names must be unique.*'a'; rename them"),
    "no header": ("5.1,3\n4.9,2\n", r"line 1: '5\.1,3' holds numbers alone.*names above it"),
    "a note": ("sep=;\na;b\n1;2\n", r"line 1: 'sep=;' is a note for spreadsheets; delete this"),
    "a title": ("# of 2020\na,b\n1,2\n", r"line 2: found 2.*if the first line, '# of 2020', is no"),
    "no names": (" \n  \n", r"line 1: ' ' names no column"),
    "no names at all": (",,\n1,2,3\n", r"line 1: ',,' names no column"),
    "packed": (gzip.compress(b"a,b\n1,2\n"), r"packed by gzip\. Rename it to '.*\.csv\.gz'"),
    "zip": (b"PK\x03\x04 ...", "zip archive or a spreadsheet"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_delimited_files(tmp_path, fault):
    content, message = FAULTS[fault]
    path = tmp_path / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=message) as caught:
        Table.open(path)
    assert repr(str(path)) in str(caught.value)


JSON_FAULTS = {
    "broken": ('{"a": 1}\n\n{"a": 2\n', r"line 3: broken JSON at character \d+.*'\{\"a\": 2'"),
    "no object": ('{"a": 1}\n[1, 2]\n', r"line 2: '\[1, 2\]' is no object"),
    "a list": ('{"a": 1}\n{"a": [1]}\n', r"line 2: 'a' holds a list, '\[1\]'.*without=\['a'\]"),
    "an object": ('{"b": {"c": 1}}\n', r"line 1: 'b' holds an object.*\(--drop 'b'\)"),
    "empty": ("", "has no rows: there is no object"),
    "nothing in it": ("{}\n", "has no rows: there is no object"),
    "latin-1": (b'{"a": 1}\n{"a": "\xe9"}\n', r"line 2: byte 17 \(0xe9\)"),
    "NUL": ('{"a": 1}\n{"a": "\0"}\n', "line 2: there is a NUL"),
}


@pytest.mark.parametrize("fault", JSON_FAULTS)
def test_faults_of_json_lines(tmp_path, fault):
    content, message = JSON_FAULTS[fault]
    path = tmp_path / "table.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=message):
        Table.open(path)


def test_a_nested_column_can_be_left_out(tmp_path):
    path = tmp_path / "table.jsonl"
    path.write_text('{"a": 1.5, "b": [1]}\n{"a": 2.5, "b": []}\n')
    assert Table.open(path, without="b").names == ("a",)
    assert Table.open(path, columns="a").names == ("a",)


def test_lines_are_counted_with_any_line_end(tmp_path, monkeypatch):
    monkeypatch.setattr("pidselect.data.lines.BLOCK_CHARACTERS", 2**15)
    path = tmp_path / "table.csv"
    for end in (b"\n", b"\r\n", b"\r"):
        # More than what is looked at in one go when the wrong byte is sought.
        path.write_bytes(b"a,b" + end + (b"1,2" + end) * 30_000 + b"1,\xff" + end)
        with pytest.raises(ValueError, match=r"line 30002: byte \d+ \(0xff\)") as caught:
            Table.open(path)
        place = int(re.search(r"byte (\d+)", str(caught.value))[1])
        assert path.read_bytes()[place - 1] == 0xFF


@pytest.mark.parametrize("name", ["t.csv.gz", "t.jsonl.gz"])
def test_broken_gzip(tmp_path, name):
    path = tmp_path / name
    rng = np.random.default_rng(0)
    rows = "".join(f'{{"a": {x}}}\n' for x in rng.normal(size=3000))
    packed = gzip.compress((rows if "json" in name else f"a\n{rows}").encode())
    for content in (packed[: len(packed) // 2], b"no gzip at all", packed[:-4] + b"1234"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"cannot be unpacked.*cut short or damaged"):
            Table.open(path)


def test_infinite_and_missing_values_are_refused_as_everywhere(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n-inf,3\n")
    with pytest.raises(ValueError, match="Column 'a' holds -inf in row 1"):
        Table.open(path)
    path.write_text("a,b\n1,\n,3\n2,\n")
    with pytest.raises(ValueError, match=r"'a' \(1 missing\), 'b' \(2 missing\).*--missing drop"):
        Table.open(path)
    path.write_text("a,b\n1,\n2,\n3,\n")
    with pytest.raises(ValueError, match="drop' leaves none of the 3 rows"):
        Table.open(path, missing="drop")
    assert dict(Table.open(path, missing="category").skipped) == {1: "constant"}


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "people.csv").write_text("a\n1\n")
    with pytest.raises(FileNotFoundError, match=r"no file .*did you mean '.*people\.csv'\?"):
        Table.open(tmp_path / "poeple.csv")
    with pytest.raises(FileNotFoundError, match=r"did you mean '.*people\.csv'\?"):
        header(tmp_path / "people.parquet")
    with pytest.raises(FileNotFoundError, match="and no folder"):
        Table.open(tmp_path / "elsewhere" / "people.csv")
    with pytest.raises(ValueError, match="is a folder"):
        Table.open(tmp_path)
    with pytest.raises(ValueError, match=r"spreadsheet; save it as CSV.*read_excel"):
        Table.open(tmp_path / "people.xlsx")
    (tmp_path / "people.parquet").write_text("a\n1\n")
    with pytest.raises(ValueError, match="no Parquet file"):
        Table.open(tmp_path / "people.parquet")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"delimiter": ";;"}, r"delimiter=';;' is no delimiter.*--delimiter"),
        ({"delimiter": '"'}, "no quote"),
        ({"decimal": ":"}, r"decimal=':' is no decimal mark.*--decimal"),
        ({"delimiter": ",", "decimal": ","}, "cannot both be ','"),
        ({"encoding": "latin-9000"}, r"encoding='latin-9000' is unknown.*--encoding"),
    ],
)
def test_formats_that_make_no_sense(settings, message):
    with pytest.raises(ValueError, match=message):
        TextFormat(**settings)


def test_words_are_given_as_a_tuple():
    with pytest.raises(TypeError, match=r"\('NA',\)"):
        TextFormat(missing="NA")
    assert TextFormat(missing=["NA"]).missing == ("NA",)
