"""Tables in text files: the same columns as in memory, whatever the dialect and the blocks."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pidselect import Table
from pidselect.data.choice import Choice
from pidselect.data.column_store import ColumnStore
from pidselect.data.disk import header, read_file
from pidselect.data.raw import from_objects
from pidselect.data.text_format import MISSING_WORDS, TextFormat


def raws(path, content, store=None, choice=None, **settings):
    """Write a file and return its columns by name."""
    if isinstance(content, str):
        content = content.encode()
    opening = gzip.open if path.suffix == ".gz" else open
    with opening(path, "wb") as file:
        file.write(content)
    text = TextFormat(**settings) if settings else None
    return {raw.name: raw for raw in read_file(path, store or ColumnStore(2**20), choice, text)}


@pytest.fixture(params=[5, 2**22], ids=["small blocks", "one block"])
def csv_path(request, tmp_path, monkeypatch):
    monkeypatch.setattr("pidselect.data.lines.BLOCK_CHARACTERS", request.param)
    return tmp_path / "table.csv"


def assert_same(raw, other):
    assert (raw.name, raw.form, raw.labels) == (other.name, other.form, other.labels)
    np.testing.assert_array_equal(raw.values, other.values)


# What columns hold ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "form", "values"),
    [
        (["1", " 3.5", "1e5", "-.5", "+2.", "007"], "number", [1, 3.5, 1e5, -0.5, 2, 7]),
        (["1", "NA", "", " n/a ", "nan", "2"], "number", [1, *[np.nan] * 4, 2]),
        (["inf", "1", "-inf", "NAN"], "number", [np.inf, 1, -np.inf, np.nan]),
        (["", "", "NA"], "number", [np.nan] * 3),
        (["true", "False", "TRUE", "NA"], "bool", [1, 0, 1, np.nan]),
        (["1970-01-02", "1970-01-01T00:00:01", ""], "time", [86400, 1, np.nan]),
        (["1970-01-01 01:00+01:00", "1970-01-01T00:00:00.25Z"], "time", [0, 0.25]),
        (["08:30", "00:00:05.5"], "time", [30600, 5.5]),
        (["b", "a", "NA", "b"], "text", [1, 0, np.nan, 1]),
        (["1_000", "2"], "text", [0, 1]),
        (["１２", "2"], "text", [1, 0]),
        (["1", "x", "2.50", " 1"], "text", [1, 3, 2, 0]),
        (["true", "1", "0"], "text", [2, 1, 0]),
        (["2023-02-29", "2023-02-28"], "text", [1, 0]),
        (["2023-02-28", "20230301", "7"], "text", [0, 1, 2]),
        (["08:30", "1970-01-01"], "text", [0, 1]),
        (["NAN", "x", "NAN"], "text", [0, 1, 0]),
        (["1,5", "2", "x"], "text", [0, 1, 2]),
    ],
)
def test_a_column_is_what_all_its_values_are(csv_path, texts, form, values):
    rows = [["i", "a"], *([str(i), text] for i, text in enumerate(texts))]
    content = io.StringIO(newline="")
    csv.writer(content).writerows(rows)
    found = raws(csv_path, content.getvalue())["a"]
    assert found.form == form
    np.testing.assert_array_equal(found.values, values)
    if form == "text":
        present = [text for text in texts if text not in MISSING_WORDS]
        assert found.labels == tuple(sorted(set(present)))


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from(["1", "2.5", "NAN", "true", "x", "", "2020-01-01", "1_0", "08:30"]))
)
def test_the_order_of_rows_changes_nothing(tmp_path_factory, texts):
    path = tmp_path_factory.mktemp("order") / "a.csv"
    shuffled = random.Random(0).sample(range(len(texts)), len(texts))
    contents = ["i,a\n0,\n" + "".join(f"1,{t}\n" for t in texts)]
    contents.append("i,a\n0,\n" + "".join(f"1,{texts[i]}\n" for i in shuffled))
    for size in (5, 2**22):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("pidselect.data.lines.BLOCK_CHARACTERS", size)
            one, other = (raws(path, content)["a"] for content in contents)
        assert (one.form, one.labels) == (other.form, other.labels)
        np.testing.assert_array_equal(one.values[1:][shuffled], other.values[1:])


def test_whole_numbers_that_merge_are_named(csv_path):
    large = "id,n\n9007199254740992,1\n9007199254740993,2\n"
    with pytest.warns(UserWarning, match=r"'id': 2 different values become 1 as float64"):
        found = raws(csv_path, large)
    assert found["id"].values.tolist() == [2.0**53, 2.0**53]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        raws(csv_path, "id,n\n9007199254740993,1\n9007199254740999,2\n1e300,3\n")


def test_words_for_missing_values_are_the_callers(csv_path):
    content = "a,b\n-999,x\n1,NA\n-999.0,y\n"
    found = raws(csv_path, content, missing=("-999", "y"))
    np.testing.assert_array_equal(found["a"].values, [np.nan, 1, -999])
    blanks = raws(csv_path, "a,b\n -999,x\n1,y \n", missing=("-999", "y"))
    np.testing.assert_array_equal(blanks["a"].values, [np.nan, 1])
    np.testing.assert_array_equal(blanks["b"].values, [0, np.nan])
    assert found["b"].labels == ("NA", "x")
    np.testing.assert_array_equal(found["b"].values, [1, 0, np.nan])


# How files are written --------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_and_line_ends_are_found_out(csv_path, delimiter, end):
    lines = ["a", "b", "c"], ["1", "x", "2.5"], ["2", "y", "3.5"]
    content = end.join(delimiter.join(line) for line in lines)
    found = raws(csv_path, content)
    assert list(found) == ["a", "b", "c"]
    assert found["c"].values.tolist() == [2.5, 3.5]
    assert header(csv_path) == ("a", "b", "c")


def test_a_stated_delimiter_counts(csv_path):
    assert list(raws(csv_path, "a:b,c\n1:2\n", delimiter=":")) == ["a", "b,c"]


def test_decimal_commas(csv_path):
    found = raws(csv_path, "a;b;c\n1,5;1;x1,5\n2;2,25;1\n")
    assert found["a"].values.tolist() == [1.5, 2]
    assert found["b"].values.tolist() == [1, 2.25]
    assert found["c"].form == "text"
    assert raws(csv_path, "a;b\n1.5;1\n2;2.25\n")["b"].values.tolist() == [1, 2.25]
    with pytest.raises(ValueError, match=r"comma \(column 'b'.*point \(column 'a'.*--decimal ,"):
        raws(csv_path, "a;b\n1.234;1,5\n")
    assert raws(csv_path, "a;b\n1.234;1,5\n", decimal=".")["b"].form == "text"
    assert raws(csv_path, "a\tb\n1\t1,5\n", decimal=",")["b"].values.tolist() == [1.5]


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
    ],
)
def test_numbers_in_disguise_are_named(csv_path, column, decimal):
    content = "a;b\n" + "".join(f"{text};1\n" for text in column)
    with pytest.warns(UserWarning, match=r"look like numbers with a sign, a mark .*: 'a'\. With"):
        assert raws(csv_path, content, decimal=decimal)["a"].form == "text"


@pytest.mark.parametrize("texts", [["10.1.2020", "11.1.2020"], ["5 kg", "7 kg"], ["1-3", "4-6"]])
def test_texts_with_digits_are_no_numbers_in_disguise(csv_path, texts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert raws(csv_path, "a;b\n" + "".join(f"{t};1\n" for t in texts))["a"].form == "text"


def test_texts_of_json_are_meant(csv_path):
    texts = ["1.5", "2.5", "3.5", "4.5", "?"]
    path = csv_path.with_suffix(".jsonl")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for some in (texts[:4], texts, ["5%", "7%"]):
            content = "".join(f'{{"a": "{text}"}}\n' for text in some)
            assert raws(path, content)["a"].form == "text"


def test_numbers_with_a_few_words_among_them_are_named(csv_path):
    numbers = "".join(f"{i},{i % 3}\n" for i in range(9))
    with pytest.warns(UserWarning, match=r"column 'a' holds numbers, but for '\?'.*\(--na '\?'\)"):
        assert raws(csv_path, f"a,b\n{numbers}?,1\n")["a"].form == "text"
    found = raws(csv_path, f"a,b\n{numbers}?,1\n", missing=("?",))
    assert found["a"].form == "number"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # more words than numbers are none of this
        assert raws(csv_path, "a,b\n1,1\n2,1\nsome,1\nmany,2\n")["a"].form == "text"


def test_commas_that_are_not_taken_for_decimal_marks_are_named(csv_path):
    for content in ("a\tb\n1\t1,5\n2\t2\n", 'a,b\n1,"1,000"\n2,"12"\n'):
        with pytest.warns(UserWarning, match=r"with a comma: 'b'\. If it is .*--decimal ,"):
            assert raws(csv_path, content)["b"].form == "text"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert raws(csv_path, "a\tb\n1\t1,5\n", decimal=".")["b"].form == "text"


def test_quoted_fields_hold_anything(csv_path):
    found = raws(csv_path, 'a,"b ""c"""\n"1","x,\ny\n\nz"\n2,"say ""hi"""\n')
    assert list(found) == ["a", 'b "c"']
    assert found['b "c"'].labels == ('say "hi"', "x,\ny\n\nz")


def test_blank_lines_are_skipped(csv_path):
    assert raws(csv_path, "\na,b\n\n1,2\n   \n3,4\n\n")["b"].values.tolist() == [2, 4]
    one = raws(csv_path, 'a\n1\n\n""\n3\n')["a"]
    np.testing.assert_array_equal(one.values, [1, np.nan, 3])


def test_names_of_columns(csv_path):
    found = raws(csv_path, ",a, b \n0,1,2\n1,3,4\n")
    assert list(found) == ["column 1", "a", "b"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings(csv_path, encoding):
    content = "größe,b\n1,é\n".encode(encoding)
    found = raws(csv_path, content, encoding=encoding.replace("-sig", ""))
    assert list(found) == ["größe", "b"]
    assert found["b"].labels == ("é",)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.TXT", "t.tsv.gz"])
def test_names_of_files(tmp_path, name):
    path = tmp_path / name
    raws(path, "a\tb\n1\t2\n")
    assert header(path) == ("a", "b")
    assert [raw.values.tolist() for raw in read_file(path, ColumnStore(0))] == [[1], [2]]


def test_a_packed_file_is_read_twice_where_a_column_changes(tmp_path, monkeypatch):
    monkeypatch.setattr("pidselect.data.lines.BLOCK_CHARACTERS", 64)
    content = "a,b\n" + "".join(f"{i},{i}\n" for i in range(500)) + "x,1\n"
    with pytest.warns(UserWarning, match="column 'a' holds numbers, but for 'x'"):
        found = raws(tmp_path / "t.csv.gz", content)
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
    with pytest.raises(ValueError, match=r"has no column 'X1'; did you mean 'x1'\?"):
        Table.open(path, columns="X1")
    with pytest.raises(ValueError, match="has no column 'x9'; known are 'x0', 'x1'"):
        Table.open(path, without=["x9"])
    with pytest.raises(ValueError, match=r"no column of .* is left"):
        Table.open(path, without=["x0", "x1", "x2"])


def test_a_wide_table_with_little_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("pidselect.data.growing.WAITING", 300)
    monkeypatch.setattr("pidselect.data.lines.BLOCK_CHARACTERS", 1000)
    X = np.random.default_rng(0).normal(size=(60, 100))
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(100)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    store = ColumnStore(0)
    found = read_file(tmp_path / "t.csv", store, Choice.of(None, "c7"))
    assert store.bytes_in_memory == 0
    np.testing.assert_array_equal(
        np.column_stack([raw.values for raw in found]), frame.drop(columns="c7").to_numpy()
    )


# JSON lines -------------------------------------------------------------------------------------


def lines_of(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_json_values_have_types(csv_path):
    path = csv_path.with_suffix(".jsonl")
    rows = [
        {"n": 1, "t": "1", "b": True, "when": "1970-01-02", "mix": 1.5},
        {"n": 2.5, "t": "NA", "b": False, "when": None, "mix": "x", "late": 3},
        {},
        {"n": "NA", "t": "", "b": None, "when": "1970-01-03", "mix": True},
    ]
    found = raws(path, lines_of(*rows[:2]) + "\n" + lines_of(*rows[2:]))
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


def test_mixed_json_is_verbatim(csv_path):
    path = csv_path.with_suffix(".ndjson")
    found = raws(path, '{"a": 1.50}\n{"a": "x"}\n{"a": 1e2}\n')
    assert found["a"].labels == ("1.50", "1e2", "x")


def test_large_whole_numbers_of_json(csv_path):
    path = csv_path.with_suffix(".jsonl")
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
        table[name] = draw(st.lists(st.none() | cell, min_size=n_rows, max_size=n_rows))
    return table


@settings(max_examples=80)
@given(
    tables(),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([3, 40, 2**22]),
)
@example({"a": [None], "b": [1.5]}, ";", csv.QUOTE_ALL, "\r\n", 3)
def test_what_is_written_in_any_dialect_is_read(
    tmp_path_factory, table, delimiter, quoting, end, size
):
    path = tmp_path_factory.mktemp("dialect") / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator=end)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pidselect.data.lines.BLOCK_CHARACTERS", size)
        found = read_file(path, ColumnStore(0), None, TextFormat(delimiter=delimiter))
    for raw, (name, values) in zip(found, table.items(), strict=True):
        assert_same(raw, from_objects(name, values))


@settings(max_examples=40)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_numbers_are_those_of_pandas_to_the_bit(tmp_path_factory, numbers):
    path = tmp_path_factory.mktemp("pandas") / "t.csv"
    frame = pd.DataFrame({"a": numbers, "b": [f"{x:.5g}" for x in numbers]})
    frame.to_csv(path, index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions are as precise without being told
        again = pd.read_csv(path, float_precision="round_trip")
    for raw in read_file(path, ColumnStore(0)):
        # A whole column of -0 is one of integers for pandas, which have only one zero.
        expected = again[raw.name].to_numpy(np.float64) + 0.0
        np.testing.assert_array_equal((raw.values + 0.0).view(np.int64), expected.view(np.int64))


def test_kinds_are_those_of_pandas(tmp_path):
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
