"""Tables in text files: the same columns as in memory, whatever the dialect and the blocks."""

from __future__ import annotations

import csv
import gzip
import io
import json
import pickle
import random
import sys
import warnings
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from pidselect import Table
from pidselect.data import ColumnStore, FileError, TextFormat
from pidselect.data.formats import MISSING_WORDS
from pidselect.data.io import header, read_file
from pidselect.data.raw_column import from_objects
from pidselect.data.text_io import BLOCK_BYTES
from pidselect.exceptions import TextNumbersWarning

SMALL = 300  # bytes of a block, of which the files below have several


def blocks_of(n_bytes):
    """Return a context in which texts are parsed in blocks of another size."""
    return mock.patch("pidselect.data.text_io.BLOCK_BYTES", n_bytes)


def raws(path, content, block_bytes=BLOCK_BYTES, **settings):
    """Write a file and return its columns by name."""
    if isinstance(content, str):
        content = content.encode()
    opening = gzip.open if path.suffix == ".gz" else open
    with opening(path, "wb") as file:
        file.write(content)
    text = TextFormat(**settings) if settings else None
    with blocks_of(block_bytes):
        found = read_file(path, ColumnStore(2**20), text=text)
    return {raw.name: raw for raw in found}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table.csv"


def assert_same(raw, other):
    assert (raw.name, raw.form, raw.labels) == (other.name, other.form, other.labels)
    np.testing.assert_array_equal(raw.values, other.values)


@pytest.fixture
def no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# What columns hold ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "form", "values"),
    [
        (["1", " 3.5", "1e5", "-.5", "+2.", "007"], "number", [1, 3.5, 1e5, -0.5, 2, 7]),
        (["1", "NA", "", " n/a ", "nan", "2"], "number", [1, *[np.nan] * 4, 2]),
        (["inf", "1", "-inf", "NAN"], "number", [np.inf, 1, -np.inf, np.nan]),
        (["1e400", "-1e400", "1e-400"], "number", [np.inf, -np.inf, 0]),
        (["", "", "NA"], "number", [np.nan] * 3),
        (["true", "False", "TRUE", "NA"], "bool", [1, 0, 1, np.nan]),
        (["1970-01-02", "1970-01-01T00:00:01", ""], "time", [86400, 1, np.nan]),
        (["1970-01-01 01:00+01:00", "1970-01-01T00:00:00.25Z"], "time", [0, 0.25]),
        (["08:30", "00:00:05.5"], "time", [30600, 5.5]),
        (["12:30:45.1", "12:30"], "time", [45045.1, 45000]),
        (["b", "a", "NA", "b"], "text", [1, 0, np.nan, 1]),
        (["1_000", "2"], "text", [0, 1]),
        (["nan(1)", "2"], "text", [1, 0]),
        (["１２", "2"], "text", [1, 0]),
        (["1", "x", "2.50", " 1"], "text", [1, 3, 2, 0]),
        (["true", "1", "0"], "text", [2, 1, 0]),
        (["2023-02-29", "2023-02-28"], "text", [1, 0]),
        (["2023-02-28", "20230301", "7"], "text", [0, 1, 2]),
        (["08:30", "1970-01-01"], "text", [0, 1]),
        (["24:00", "08:30"], "text", [1, 0]),
        (["NAN", "x", "NAN"], "text", [0, 1, 0]),
        (["1,5", "2", "x"], "text", [0, 1, 2]),
    ],
)
@pytest.mark.parametrize("n_between", [0, 200])  # so that each value is in a block of its own
def test_a_column_is_what_all_its_values_are(path, texts, form, values, n_between):
    content = io.StringIO(newline="")
    writer = csv.writer(content)
    writer.writerow(["i", "a"])
    for i, text in enumerate(texts):
        writer.writerows([[i, text], *[[i, "NA"]] * n_between])
    found = raws(path, content.getvalue(), SMALL)["a"]
    assert found.form == form
    np.testing.assert_array_equal(found.values[:: n_between + 1], values)
    if form == "text":
        present = [text for text in texts if text not in MISSING_WORDS]
        assert found.labels == tuple(sorted(set(present)))


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from(["1", "2.5", "NAN", "true", "x", "", "2020-01-01", "1_0", "08:30"]))
)
def test_the_order_of_rows_changes_nothing(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("order") / "a.csv"
    texts = [text for text in texts for _ in range(30)]
    shuffled = random.Random(0).sample(range(len(texts)), len(texts))
    contents = ["i,a\n0,\n" + "".join(f"1,{t}\n" for t in texts)]
    contents.append("i,a\n0,\n" + "".join(f"1,{texts[i]}\n" for i in shuffled))
    one, other = (raws(path, content, SMALL)["a"] for content in contents)
    assert (one.form, one.labels) == (other.form, other.labels)
    np.testing.assert_array_equal(one.values[1:][shuffled], other.values[1:])


def test_whole_numbers_that_merge_are_named(path, no_warning):
    with pytest.warns(UserWarning, match=r"'id': 2 different values become 1"):
        found = raws(path, "id,n\n9007199254740992,1\n9007199254740993,2\n")
    assert found["id"].values.tolist() == [2.0**53, 2.0**53]
    raws(path, "id,n\n9007199254740993,1\n9007199254740999,2\n1e300,3\n")


def test_words_for_missing_values_are_the_callers(path):
    content = "a,b\n-999,x\n1,NA\n-999.0,y\n"
    found = raws(path, content, na_values=("-999", "y"))
    np.testing.assert_array_equal(found["a"].values, [np.nan, 1, -999])
    assert found["b"].labels == ("NA", "x")
    np.testing.assert_array_equal(found["b"].values, [1, 0, np.nan])
    blanks = raws(path, "a,b\n -999,x\n1,y \n", na_values=("-999", "y"))
    np.testing.assert_array_equal(blanks["a"].values, [np.nan, 1])
    np.testing.assert_array_equal(blanks["b"].values, [0, np.nan])


# How files are written --------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_and_line_ends_are_detected(path, delimiter, end):
    lines = [["a", "b", "c"], *[["1", "x", "2.5"], ["2", "y", "3.5"]] * 200]
    content = end.join(delimiter.join(line) for line in lines)
    found = raws(path, content, SMALL)
    assert list(found) == ["a", "b", "c"]
    assert found["c"].values.tolist() == [2.5, 3.5] * 200
    assert header(path) == ("a", "b", "c")


def test_a_stated_delimiter_counts(path):
    assert list(raws(path, "a:b,c\n1:2\n", delimiter=":")) == ["a", "b,c"]


def test_decimal_commas(path):
    found = raws(path, "a;b;c\n1,5;1;x1,5\n2;2,25;1\n")
    assert found["a"].values.tolist() == [1.5, 2]
    assert found["b"].values.tolist() == [1, 2.25]
    assert found["c"].form == "text"
    assert raws(path, "a;b\n1.5;1\n2;2.25\n")["b"].values.tolist() == [1, 2.25]
    with pytest.raises(FileError, match=r"'b'.*'a'") as caught:
        raws(path, "a;b\n1.234;1,5\n")
    assert caught.value.setting == ("decimal", ",")
    assert raws(path, "a;b\n1.234;1,5\n", decimal=".")["b"].form == "text"
    assert raws(path, "a\tb\n1\t1,5\n", decimal=",")["b"].values.tolist() == [1.5]


@pytest.mark.parametrize(
    ("column", "decimal"),
    [
        (["10%", "20 %", "1.5%"], None),
        (["$5", "-$12.50", "$1,000"], None),
        (["5 €", "12,50 €"], ","),
        (["1 000", "12\u202f000,5", "7"], None),
        (["1.234,5", "1"], None),
        (["1.234", "2"], ","),
        (["1,5", "2.5"], None),
        (["5 kg", "7.5 kg"], None),
    ],
)
def test_numbers_with_signs_are_named(path, column, decimal):
    content = "a;b\n" + "".join(f"{text};1\n" for text in column)
    with pytest.warns(TextNumbersWarning) as caught:
        assert raws(path, content, decimal=decimal)["a"].form == "text"
    assert [(w.message.columns, w.message.setting) for w in caught] == [(("a",), None)]


@pytest.mark.parametrize("texts", [["10.1.2020", "11.1.2020"], ["5 kg", "7 m"], ["1-3", "4-6"]])
def test_texts_with_digits_are_no_numbers(path, texts, no_warning):
    assert raws(path, "a;b\n" + "".join(f"{t};1\n" for t in texts))["a"].form == "text"


def test_texts_of_json_are_meant(path, no_warning):
    texts = ["1.5", "2.5", "3.5", "4.5", "?"]
    for some in (texts[:4], texts, ["5%", "7%"]):
        content = "".join(f'{{"a": "{text}"}}\n' for text in some)
        assert raws(path.with_suffix(".jsonl"), content)["a"].form == "text"


def test_numbers_with_a_few_words_among_them_are_named(path, no_warning):
    numbers = "".join(f"{i},{i % 3}\n" for i in range(9))
    with pytest.warns(TextNumbersWarning, match="'a'") as caught:
        assert raws(path, f"a,b\n{numbers}?,1\n")["a"].form == "text"
    assert caught[0].message.setting == ("na_values", ("?",))
    assert raws(path, f"a,b\n{numbers}?,1\n", na_values=("?",))["a"].form == "number"
    assert raws(path, "a,b\n1,1\n2,1\nsome,1\nmany,2\n")["a"].form == "text"


def test_commas_that_may_be_decimal_marks_are_named(path, no_warning):
    for content in ("a\tb\n1\t1,5\n2\t2\n", 'a,b\n1,"1,000"\n2,"12"\n'):
        with pytest.warns(TextNumbersWarning, match="'b'") as caught:
            assert raws(path, content)["b"].form == "text"
        assert caught[0].message.setting == ("decimal", ",")
    assert raws(path, "a\tb\n1\t1,5\n", decimal=".")["b"].form == "text"


def test_quoted_fields_hold_anything(path):
    rows = '"1","x,\ny\n\nz"\n2,"say ""hi"""\n3,5" pipe\n'
    found = raws(path, 'a,"b ""c"""\n' + rows * 50, SMALL)
    assert list(found) == ["a", 'b "c"']
    assert found['b "c"'].labels == ('5" pipe', 'say "hi"', "x,\ny\n\nz")
    assert len(found["a"].values) == 150


def test_blank_lines_are_skipped(path):
    assert raws(path, "\na,b\n\n1,2\n   \n3,4\n\n")["b"].values.tolist() == [2, 4]
    one = raws(path, 'a\n1\n\n""\n3\n')["a"]
    np.testing.assert_array_equal(one.values, [1, np.nan, 3])


def test_names_of_columns(path):
    found = raws(path, ",a, b \n0,1,2\n1,3,4\n")
    assert list(found) == ["column 1", "a", "b"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings(path, encoding):
    content = ("größe,b\n" + "1,é\n" * 300).encode(encoding)
    found = raws(path, content, SMALL, encoding=encoding.replace("-sig", ""))
    assert list(found) == ["größe", "b"]
    assert found["b"].labels == ("é",)
    assert len(found["b"].values) == 300


@pytest.mark.parametrize("name", ["t.csv.gz", "t.TXT", "t.tsv.gz"])
def test_names_of_files(tmp_path, name):
    path = tmp_path / name
    assert [raw.values.tolist() for raw in raws(path, "a\tb\n1\t2\n").values()] == [[1], [2]]
    assert header(path) == ("a", "b")


def test_a_column_that_changes_is_read_again(tmp_path):
    content = "a,b\n" + "".join(f"{i},{i}\n" for i in range(500)) + "x,1\n"
    with pytest.warns(TextNumbersWarning, match="'a'"):
        found = raws(tmp_path / "t.csv.gz", content, SMALL)
    assert found["a"].labels == tuple(sorted([*map(str, range(500)), "x"]))
    assert found["b"].form == "number"


# Some columns -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet", "t.feather", "t.npy"])
def test_only_some_columns(tmp_path, name):
    path = tmp_path / name
    frame = pd.DataFrame(np.arange(12.0).reshape(4, 3) ** 2, columns=["x0", "x1", "x2"])
    {
        ".csv": lambda: frame.to_csv(path, index=False),
        ".jsonl": lambda: frame.to_json(path, orient="records", lines=True),
        ".parquet": lambda: frame.to_parquet(path),
        ".feather": lambda: frame.to_feather(path),
        ".npy": lambda: np.save(path, frame.to_numpy()),
    }[path.suffix]()
    assert header(path) == ("x0", "x1", "x2")
    table = Table.open(path, columns=["x2", "x0"])
    assert table.names == ("x0", "x2")
    assert table.columns[1].values.tolist() == frame["x2"].tolist()
    assert Table.open(path, without="x1").names == ("x0", "x2")
    with pytest.raises(FileError, match=r"'X1'; did you mean 'x1'\?"):
        Table.open(path, columns="X1")
    with pytest.raises(FileError, match="'x9'; known are 'x0', 'x1'"):
        Table.open(path, without=["x9"])
    with pytest.raises(FileError, match="no column is left"):
        Table.open(path, without=["x0", "x1", "x2"])


def test_a_wide_table_with_little_memory(tmp_path):
    X = np.random.default_rng(0).normal(size=(400, 100))
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(100)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    store = ColumnStore(0)
    with blocks_of(10_000):
        found = read_file(tmp_path / "t.csv", store, without="c7")
    assert store.bytes_in_memory == 0
    np.testing.assert_array_equal(
        np.column_stack([raw.values for raw in found]), frame.drop(columns="c7").to_numpy()
    )


# JSON lines -------------------------------------------------------------------------------------


def lines_of(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize("block_bytes", [5, BLOCK_BYTES])
def test_json_values_have_types(path, block_bytes):
    rows = [
        {"n": 1, "t": "1", "b": True, "when": "1970-01-02", "mix": 1.5},
        {"n": 2.5, "t": "NA", "b": False, "when": None, "mix": "x", "late": 3},
        {},
        {"n": "NA", "t": "", "b": None, "when": "1970-01-03", "mix": True},
    ]
    content = lines_of(*rows[:2]) + "\n" + lines_of(*rows[2:])
    found = raws(path.with_suffix(".jsonl"), content, block_bytes)
    gap = np.nan
    expected = {
        "n": ("number", [1, 2.5, gap, gap]),
        "t": ("text", [0, gap, gap, gap]),
        "b": ("bool", [1, 0, gap, gap]),
        "when": ("time", [86400, gap, gap, 172800]),
        "mix": ("text", [0, 2, gap, 1]),
        "late": ("number", [gap, 3, gap, gap]),
    }
    assert list(found) == list(expected)
    for name, (form, values) in expected.items():
        assert found[name].form == form
        np.testing.assert_array_equal(found[name].values, values)
    assert found["mix"].labels == ("1.5", "true", "x")
    assert found["t"].labels == ("1",)


@pytest.mark.parametrize("block_bytes", [5, BLOCK_BYTES])
def test_mixed_json_is_verbatim(path, block_bytes):
    content = '{"a": 1.50}\n{"a": "x"}\n{"a": 1e2}\n'
    found = raws(path.with_suffix(".ndjson"), content, block_bytes)
    assert found["a"].labels == ("1.50", "1e2", "x")


def test_large_whole_numbers_of_json(path):
    path = path.with_suffix(".jsonl")
    with pytest.warns(UserWarning, match="2 different values become 1"):
        raws(path, lines_of({"a": 2**53}, {"a": 2**53 + 1}))
    found = raws(path, lines_of({"a": 10**400}, {"a": -(10**400)}))
    assert found["a"].values.tolist() == [np.inf, -np.inf]


# Against others ---------------------------------------------------------------------------------

NAMES = st.lists(
    st.text("abc ,;|\t\"'\n=é", min_size=1).filter(lambda name: name == name.strip()),
    min_size=2,
    max_size=4,
    unique=True,
)
WORDS = st.text("xyz ,;|\t\"'\r\n=+-@éß", min_size=1).filter(str.strip)
CELLS = {
    "float": st.floats(allow_nan=False),
    "int": st.integers(-(2**53), 2**53),
    "text": WORDS.map("w".__add__),
    "bool": st.booleans(),
}


@st.composite
def tables(draw):
    n_rows = draw(st.integers(1, 8))
    table = {}
    for name in draw(NAMES):
        cell = CELLS[draw(st.sampled_from(sorted(CELLS)))]
        table[name] = draw(st.lists(st.none() | cell, min_size=n_rows, max_size=n_rows)) * 20
    return table


@settings(max_examples=80)
@given(
    tables(),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([1000, BLOCK_BYTES]),
)
@example({"a": [None], "b": [1.5]}, ";", csv.QUOTE_ALL, "\r\n", 1000)
def test_what_is_written_in_any_dialect_is_read(
    tmp_path_factory, table, delimiter, quoting, end, size
):
    if quoting == csv.QUOTE_MINIMAL:  # Python leaves "\r" bare where lines end in "\n"
        assume(not any("\r" in str(value) for values in table.values() for value in values))
    path = tmp_path_factory.mktemp("dialect") / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator=end)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    with blocks_of(size):
        found = read_file(path, ColumnStore(0), text=TextFormat(delimiter=delimiter))
    for raw, (name, values) in zip(found, table.items(), strict=True):
        assert_same(raw, from_objects(name, values))


@settings(max_examples=40)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_numbers_are_those_of_pandas_to_the_bit(tmp_path_factory, numbers):
    path = tmp_path_factory.mktemp("pandas") / "t.csv"
    frame = pd.DataFrame({"a": numbers, "b": [f"{x:.5g}" for x in numbers]})
    frame.to_csv(path, index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions are as precise without the option
        again = pd.read_csv(path, float_precision="round_trip")
    for raw in read_file(path, ColumnStore(0)):
        # A whole column of -0 is one of integers for pandas, which have only one zero.
        expected = again[raw.name].to_numpy(np.float64) + 0.0
        np.testing.assert_array_equal((raw.values + 0.0).view(np.int64), expected.view(np.int64))


def test_feature_types_are_those_of_pandas(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "height": rng.normal(size=80),
            "children": rng.integers(0, 4, 80),
            "city": rng.choice(["Oslo", "Rome"], 80),
            "smoker": rng.random(80) < 0.5,
            "gaps": np.where(rng.random(80) < 0.2, np.nan, rng.normal(size=80)),
        }
    )
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    opened, expected = Table.open(path, missing="drop"), Table.read(frame, missing="drop")
    assert opened.names == expected.names
    assert opened.feature_types == expected.feature_types
    for one, other in zip(opened.columns, expected.columns, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
        assert one.labels == other.labels


# Faults -----------------------------------------------------------------------------------------

GOOD = "".join(f"{i},{i * i},w\n" for i in range(50))

#: The text of a file, the line of its fault, what the message names, and the setting to change.
FAULTS = {
    "too few fields": (f"a,b,c\n{GOOD}1,2\n{GOOD}", 52, "2 fields.*3.*'1,2'", None),
    "too many fields": (f"a,b,c\n{GOOD}1,2,3,4\n", 52, "4 fields.*'1,2,3,4'.*quotes", None),
    "after quoted newlines": (f'a,b,c\n\n1,"x\n\ny",2\r\n{GOOD}\n1,2\n', 57, "2 fields", None),
    "in a record of several lines": ('a,b\n1,2\n1,"x\ny",3\n', 3, "3 fields", None),
    "a delimiter at the end": ("a,b\n1,2,\n", 2, "3 fields.*delimiter", None),
    "row names": ("a,b\nr1,1,2\n", 2, "3 fields.*header", None),
    "another delimiter": ("a:b\n1:2,3\n", 2, "2 fields", "delimiter"),
    "never closed": (f'a,b,c\n{GOOD}1,"2,3\n{GOOD}', 52, "quote.*line 102", None),
    "closed by another": ('a,b\n1,"x\n2,"y"\n', 2, "quote.*line 3", None),
    "a quote in the header": ('a,"b\n1,2\n', 1, "quote", None),
    "NUL": (f"a,b,c\n{GOOD}1,\0,3\n", 52, "NUL", "encoding"),
    "latin-1": (f"a,b,c\n{GOOD}1,caf\xe9,3\n".encode("latin-1"), 52, "0xe9.*utf-8", "encoding"),
    "cut in a letter": ("a,b\n1,é".encode()[:-1], 2, "0xc3.*utf-8", "encoding"),
    "UTF-16": ("a,b\n1,2\n".encode("utf-16"), None, "utf-8.*utf-16", "encoding"),
    "empty": ("", None, "empty", None),
    "blank": ("\n\n", None, "empty", None),
    "header only": ("a,b\n", None, "no rows", None),
    "same names": ("a,b,a\n1,2,3\n", 1, "'a'", None),
    "no header": ("5.1,3\n4.9,2\n", 1, r"'5\.1,3'.*numbers", None),
    "a note": ("sep=;\na;b\n1;2\n", 1, "'sep=;'.*Delete", None),
    "a title": ("# of 2020\na,b\n1,2\n", 2, "2 fields.*'# of 2020'", "delimiter"),
    "no names": (" \n  \n", 1, "' '", None),
    "no names at all": (",,\n1,2,3\n", 1, "',,'", None),
    "packed": (gzip.compress(b"a,b\n1,2\n"), None, r"gzip.*'.*\.csv\.gz'", None),
    "Parquet": (b"PAR1" + bytes(20), None, r"Parquet.*'.*table\.parquet'", None),
    "Arrow": (b"ARROW1" + bytes(20), None, r"Arrow.*'.*table\.arrow'", None),
    "zip": (b"PK\x03\x04 ...", None, "zip", None),
}


@pytest.mark.parametrize("block_bytes", [SMALL, BLOCK_BYTES])
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_delimited_files(path, fault, block_bytes):
    content, line, message, setting = FAULTS[fault]
    with pytest.raises(FileError, match=message) as caught:
        raws(path, content, block_bytes)
    assert repr(str(path)) in str(caught.value)
    assert caught.value.line == line
    assert caught.value.remedy
    assert (caught.value.setting or (None,))[0] == setting
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.line) == (str(caught.value), line)


JSON_FAULTS = {
    "broken": ('{"a": 1}\n\n{"a": 2\n', 3, r"character \d+.*'\{\"a\": 2'"),
    "no object": ('{"a": 1}\n[1, 2]\n', 2, r"'\[1, 2\]'"),
    "a list": ('{"a": 1}\n\n{"a": [1]}\n', 3, r"'a' holds a list.*without=\['a'\]"),
    "an object": ('{"b": {"c": 1}}\n', 1, "'b' holds an object"),
    "too deep": ("[" * 10**6, 1, "recursion"),
    "empty": ("", None, "no rows"),
    "nothing in it": ("{}\n", None, "no rows"),
    "latin-1": (b'{"a": 1}\n{"a": "\xe9"}\n', 2, "0xe9"),
    "NUL": ('{"a": 1}\n{"a": "\0"}\n', 2, "NUL"),
}


@pytest.mark.parametrize("fault", JSON_FAULTS)
def test_faults_of_json_lines(path, fault):
    content, line, message = JSON_FAULTS[fault]
    with pytest.raises(FileError, match=message) as caught:
        raws(path.with_suffix(".jsonl"), content)
    assert caught.value.line == line


def test_a_nested_column_can_be_left_out(tmp_path):
    path = tmp_path / "table.jsonl"
    path.write_text('{"a": 1.5, "b": [1]}\n{"a": 2.5, "b": []}\n')
    assert Table.open(path, without="b").names == ("a",)
    assert Table.open(path, columns="a").names == ("a",)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_are_counted_with_any_line_end(path, end):
    with pytest.raises(FileError) as caught:
        raws(path, b"a,b" + end + (b"1,2" + end) * 30_000 + b"1,\xff" + end)
    assert caught.value.line == 30_002


@pytest.mark.parametrize("name", ["t.csv.gz", "t.jsonl.gz"])
def test_broken_gzip(tmp_path, name):
    path = tmp_path / name
    rng = np.random.default_rng(0)
    rows = "".join(f'{{"a": {x}}}\n' for x in rng.normal(size=3000))
    packed = gzip.compress((rows if "json" in name else f"a\n{rows}").encode())
    for content in (packed[: len(packed) // 2], b"no gzip at all", packed[:-4] + b"1234"):
        path.write_bytes(content)
        with pytest.raises(FileError, match="decompressed"):
            Table.open(path)


@pytest.mark.parametrize("start", [b"a,b\n1,", b"", b'a,b\n1,"', b'{"a": "'])
@pytest.mark.parametrize("filler", [b"a", b","])
def test_an_endless_line_takes_little_memory(tmp_path, start, filler):
    resource = pytest.importorskip("resource")
    path = tmp_path / ("t.jsonl.gz" if start.startswith(b"{") else "t.csv.gz")
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(start)
        for _ in range(200):
            file.write(filler * 2**20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(FileError) as caught:
        Table.open(path)
    assert caught.value.line == 1 + start.count(b"\n")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400 * 2**10


def test_infinite_and_missing_values_are_refused_as_everywhere(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n-inf,3\n")
    with pytest.raises(ValueError, match="'a' holds -inf in row 1"):
        Table.open(path)
    path.write_text("a,b\n1,\n,3\n2,\n")
    with pytest.raises(ValueError, match=r"'a' \(1 missing\), 'b' \(2 missing\).*missing='drop'"):
        Table.open(path)
    path.write_text("a,b\n1,\n2,\n3,\n")
    with pytest.raises(ValueError, match="missing='drop' leaves none of the 3 rows"):
        Table.open(path, missing="drop")
    assert dict(Table.open(path, missing="category").skipped) == {1: "constant"}


@pytest.mark.parametrize(
    "settings",
    [
        {"delimiter": ";;"},
        {"delimiter": '"'},
        {"delimiter": "§"},
        {"decimal": ":"},
        {"delimiter": ",", "decimal": ","},
        {"encoding": "latin-9000"},
        {"encoding": "hex"},
    ],
)
def test_formats_that_make_no_sense(settings):
    name, value = list(settings.items())[-1]
    with pytest.raises(ValueError, match=name) as caught:
        TextFormat(**settings)
    assert repr(value) in str(caught.value)


def test_words_are_stated_as_a_tuple():
    with pytest.raises(TypeError, match=r"\('NA',\)"):
        TextFormat(na_values="NA")
    assert TextFormat(na_values=["NA"]).na_values == ("NA",)


def test_without_pyarrow(monkeypatch, path):
    path.write_text("a\n1\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match=r"table\.csv.*pip install 'pidselect\[arrow\]'"):
        Table.open(path)
