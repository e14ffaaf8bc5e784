"""Files: every format holds the table in memory, damaged files are refused, some columns copied."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import pickle
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from pidselect import Table
from pidselect.data import FileError
from pidselect.data.files import MISSING_WORDS, header, read_file, write_columns
from pidselect.data.raw_column import from_objects

pl = pytest.importorskip("polars")
zstd = pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table.csv"


def raws(path, content, **how):
    """Write a file and return its columns by name."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return {raw.name: raw for raw in read_file(path, **how)}


def column(path, texts, **how):
    """Write texts beside another column, and return their column."""
    content = io.StringIO(newline="")
    csv.writer(content, delimiter=";").writerows([["i", "a"], *([1, text] for text in texts)])
    return raws(path, content.getvalue(), **how)["a"]


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
        (["1e400", "-1e400", "1e-400"], "number", [np.inf, -np.inf, 0]),
        (["true", "False", "TRUE", "NA"], "bool", [1, 0, 1, np.nan]),
        (["1970-01-02", "1970-01-01T00:00:01", ""], "time", [86400, 1, np.nan]),
        (["1970-01-01 01:00+01:00", "1970-01-01T00:00:00.25Z"], "time", [0, 0.25]),
        (["1970-01-01T00:00:05-0330", "1970-01-01 00:00:01.123456789"], "time", [12605, 1.123456]),
        (["12:30:45.1", "12:30", "00:00:05.5"], "time", [45045.1, 45000, 5.5]),
        (["b", "a", "NA", "b"], "text", [1, 0, np.nan, 1]),
        (["nan(1)", "2"], "text", [1, 0]),
        (["１２", "2"], "text", [1, 0]),
        (["1", "x", "2.50", " 1"], "text", [1, 3, 2, 0]),
        (["true", "1", "0"], "text", [2, 1, 0]),
        (["yes", "no"], "text", [1, 0]),
        (["2023-02-29", "2023-02-28"], "text", [1, 0]),
        (["2023-02-28", "20230301", "7"], "text", [0, 1, 2]),
        (["08:30", "1970-01-01"], "text", [0, 1]),
        (["1,5", "2", "x"], "text", [0, 1, 2]),
    ],
)
def test_a_column_is_what_all_its_values_are(path, texts, form, values):
    found = column(path, texts)
    assert found.form == form
    np.testing.assert_array_equal(found.values, values)
    if form == "text":
        assert found.labels == tuple(sorted({text for text in texts if text not in MISSING_WORDS}))


def test_whole_numbers_that_merge_are_named(path):
    with pytest.warns(UserWarning, match=r"'id': 2 different values become 1"):
        found = raws(path, "id,n\n9007199254740992,1\n9007199254740993,2\n")
    assert found["id"].values.tolist() == [2.0**53, 2.0**53]


def test_words_for_missing_values_are_the_callers(path):
    content = "a,b\n -999,x\n1,NA\n-999.0,\n3,y \n"
    found = raws(path, content, na_values=("-999", "y"))
    np.testing.assert_array_equal(found["a"].values, [np.nan, 1, -999, 3])
    assert found["b"].labels == ("", "NA", "x")
    np.testing.assert_array_equal(found["b"].values, [2, 1, 0, np.nan])


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_delimiters_line_ends_and_encodings(path, delimiter, end, encoding):
    lines = [["größe", "b", "c"], *[["1", "é", "2.5"], ["2", "y", "3.5"]] * 20]
    content = end.join(delimiter.join(line) for line in lines).encode(encoding)
    found = raws(path, content, encoding=encoding.removesuffix("-sig"))
    assert list(found) == ["größe", "b", "c"]
    assert found["c"].values.tolist() == [2.5, 3.5] * 20
    assert found["b"].labels == ("y", "é")


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
    assert list(raws(path, "a:b,c\n1:2\n", delimiter=":")) == ["a", "b,c"]


@pytest.mark.parametrize(
    ("texts", "decimal", "setting"),
    [
        (["10%", "20 %", "1.5%"], None, None),
        (["5 €", "12,50 €"], ",", None),
        (["1 000", "12\u202f000,5", "7"], None, None),
        (["1,5", "2.5"], None, None),
        (["1,5", "2"], ".", None),
        (["1", "2", "3", "4.5", "?"], None, ("na_values", ("?",))),
        (["10.1.2020", "11.1.2020"], None, "no warning"),
        (["1", "1", "some", "many"], None, "no warning"),
    ],
)
def test_texts_that_are_likely_numbers_are_named(path, texts, decimal, setting):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert column(path, texts, decimal=decimal).form == "text"
    is_expected = setting != "no warning" and not (decimal == "." and "1,5" in texts)
    found = [(warning.message.columns, warning.message.setting) for warning in caught]
    assert found == ([(("a",), setting)] if is_expected else [])


# How texts are written --------------------------------------------------------------------------


def test_quotes_and_blank_lines(path):
    rows = '"1","x,\ny\n\nz"\n2,"say ""hi"""\n\n   \n3,5" pipe\n'
    found = raws(path, '\na,"b ""c"""\n' + rows * 50)
    assert list(found) == ["a", 'b "c"']
    assert found['b "c"'].labels == ('5" pipe', 'say "hi"', "x,\ny\n\nz")
    assert len(found["a"].values) == 150
    np.testing.assert_array_equal(raws(path, 'a\n1\n\n""\n3\n')["a"].values, [1, np.nan, 3])
    assert list(raws(path, ",a, b \n0,1,2\n1,3,4\n")) == ["column 1", "a", "b"]


NAMES = st.lists(
    st.text("abc ,;|\t\"'\n=é", min_size=1).filter(lambda name: name == name.strip()),
    min_size=1,
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


@settings(max_examples=100)
@given(
    tables(),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    st.sampled_from(["\n", "\r\n"]),
)
@example({"a": [None], "b": [1.5]}, ";", csv.QUOTE_ALL, "\r\n")
def test_what_is_written_in_any_dialect_is_read(tmp_path_factory, table, delimiter, quoting, end):
    if quoting == csv.QUOTE_MINIMAL:  # Python leaves "\r" bare where lines end in "\n"
        assume(not any("\r" in str(value) for values in table.values() for value in values))
    folder = tmp_path_factory.mktemp("dialect")
    with (folder / "t.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting, lineterminator=end)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    found = read_file(folder / "t.csv", delimiter=delimiter)
    for raw, (name, values) in zip(found, table.items(), strict=True):
        assert_same(raw, from_objects(name, values))
    write_columns(folder / "t.csv", folder / "u.csv", [*table], delimiter=delimiter)
    other = read_file(folder / "u.csv", delimiter="," if delimiter == "\t" else delimiter)
    for raw, copy in zip(found, other, strict=True):
        assert_same(copy, raw)


# JSON lines -------------------------------------------------------------------------------------


def test_json_values_have_types(path):
    rows = [
        {"n": 1, "t": "1", "b": True, "when": "1970-01-02", "mix": 1.5},
        {"n": 2.5, "t": "NA", "b": False, "when": None, "mix": "x", "late": 3},
        {},
        {"n": "NA", "t": "", "b": None, "when": "1970-01-03", "mix": True, "half": "\ud800"},
    ]
    content = "\n\n".join(map(json.dumps, rows))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a number in quotes is meant as a text
        found = raws(path.with_suffix(".jsonl"), content)
    gap = np.nan
    expected = {
        "n": ("number", [1, 2.5, gap, gap]),
        "t": ("text", [0, gap, gap, gap]),
        "b": ("bool", [1, 0, gap, gap]),
        "when": ("time", [86400, gap, gap, 172800]),
        "mix": ("text", [0, 2, gap, 1]),
        "late": ("number", [gap, 3, gap, gap]),
        "half": ("text", [gap, gap, gap, 0]),
    }
    assert list(found) == list(expected)
    for name, (form, values) in expected.items():
        assert found[name].form == form
        np.testing.assert_array_equal(found[name].values, values)
    assert (found["mix"].labels, found["t"].labels) == (("1.5", "true", "x"), ("1",))
    mixed = raws(path.with_suffix(".ndjson"), '{"a": 1.50}\n{"a": "x"}\n{"a": 1e2}\n')
    assert mixed["a"].labels == ("1.50", "1e2", "x")
    a, b = raws(path.with_suffix(".jsonl"), '{"a": 1}\n' * 20_000 + '{"b": "x"}\n').values()
    assert (np.isnan(a.values[-1]), np.isnan(b.values).sum()) == (True, 20_000)


# All formats ------------------------------------------------------------------------------------

FRAME = pd.DataFrame({"x0": [1.5, 2.5, 4.0], "x1": [0.5, 1.0, 0.25], "x2": [7.0, 8.0, 9.5]})


def saved(path, frame=FRAME):
    """Save a frame of pandas in the format of a name."""
    table, suffix = pl.from_pandas(frame), "".join(path.suffixes)
    match suffix.removesuffix(".gz").removesuffix(".zst"):
        case ".npy":
            np.save(path, frame.to_numpy())
        case ".parquet" | ".pq":
            table.write_parquet(path, row_group_size=80, compression="uncompressed")
        case ".arrows":
            table.write_ipc_stream(path)
        case ".arrow" | ".feather" | ".ipc":
            table.write_ipc(path, compression="zstd")
        case name:
            is_json = name in (".jsonl", ".ndjson")
            delimiter = "\t" if name == ".tsv" else ","
            text = table.write_ndjson() if is_json else table.write_csv(separator=delimiter)
            pack = {".gz": gzip.compress, ".zst": zstd.compress}.get(path.suffix, bytes)
            path.write_bytes(pack(text.encode()))
    return path


PACKED = ["csv.gz", "jsonl.gz", "csv.zst", "jsonl.zst"]
TEXTS = ["csv", "tsv", "txt", "TXT", "jsonl", "ndjson", *PACKED]
FORMATS = [*TEXTS, "parquet", "pq", "feather", "arrow", "ipc", "arrows", "npy"]


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("is_piped", [False, True])
def test_every_format(tmp_path, suffix, is_piped, monkeypatch):
    path = place = saved(tmp_path / f"t.{suffix}")
    if is_piped:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(path.read_bytes())))
        place = "-"
    assert header(place) == ("x0", "x1", "x2")  # a pipe can be read only once
    table = Table.open(place, columns=["x2", "x0"])
    assert table.names == ("x0", "x2")
    assert [c.values.tolist() for c in table.columns] == [[*FRAME["x0"]], [*FRAME["x2"]]]
    assert Table.open(place, without="x1").names == ("x0", "x2")
    with pytest.raises(FileError, match=r"'X1'; did you mean 'x1'\?"):
        Table.open(place, columns="X1")
    with pytest.raises(FileError, match="no column is left"):
        Table.open(place, without=["x0", "x1", "x2"])
    for target in ("some.csv", "some.tsv.gz", "some.parquet"):
        write_columns(place, tmp_path / target, ["x2", "x1"])
        x2, x1 = read_file(tmp_path / target)
        assert (x2.values.tolist(), x1.values.tolist()) == ([*FRAME["x2"]], [*FRAME["x1"]])
    with pytest.raises(FileError, match="'x3'"):
        write_columns(place, tmp_path / "none.csv", ["x3"])


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
def test_packed_texts_that_are_cut_off(tmp_path, pack):
    suffix, packed = ".gz" if pack is gzip.compress else ".zst", pack(b"a,b\n1,2\n")
    path = tmp_path / f"t.csv{suffix}"
    path.write_bytes(packed)
    assert [raw.values.tolist() for raw in read_file(path)] == [[1.0], [2.0]]
    for n_bytes in range(1, len(packed)):
        path.write_bytes(packed[:n_bytes])
        with pytest.raises(FileError, match="decompressed"):
            read_file(path)


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_row_numbers_of_pandas_are_no_column(tmp_path, suffix):
    path = saved(tmp_path / f"t.{suffix}", FRAME.assign(__index_level_0__=[0, 1, 2]))
    assert Table.open(path).names == ("x0", "x1", "x2")


@pytest.mark.parametrize("values", [[[1], [2]], [{"x": 1}, {"x": 2}], [b"a", b"b"]])
@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_columns_of_other_values_are_named(tmp_path, suffix, values):
    frame, path = pl.DataFrame({"a": [1.5, 2.5], "odd": values}), tmp_path / f"t{suffix}"
    (frame.write_parquet if suffix == ".parquet" else frame.write_ipc)(path)
    with pytest.raises(FileError, match=r"'odd' holds .*without=\['odd'\]") as caught:
        Table.open(path)
    assert caught.value.setting == ("without", "odd")
    assert Table.open(path, without="odd").names == ("a",)


@pytest.mark.parametrize(
    "array", [np.array([["a", 1]], object), np.zeros((2, 2, 2)), np.array([(1, 2.5)], "i,f")]
)
def test_arrays_that_are_no_table_are_named(tmp_path, array):
    np.save(path := tmp_path / "odd.npy", array, allow_pickle=True)
    with pytest.raises(FileError, match=r"odd\.npy"):
        Table.open(path)


# Faults -----------------------------------------------------------------------------------------

GOOD = "".join(f"{i},{i * i},w\n" for i in range(50))

#: The text of a file, the line of its fault, what the message names, and the setting to change.
FAULTS = {
    "too few fields": (f"a,b,c\n{GOOD}1,2\n{GOOD}", 52, "2 fields.*3.*'1,2'", None),
    "too few and too many": ("a,b\n1\n1,2,3\n", 2, "1 field", "delimiter"),
    "in a record of several lines": ('a,b\n1,2\n1,"x\ny",3\n', 3, "3 fields", None),
    "another delimiter": ("a:b\n1:2,3\n", 2, "2 fields", "delimiter"),
    "never closed": (f'a,b,c\n{GOOD}1,"2,3\n{GOOD}', 52, "quote.*line 102", None),
    "cut off in a quote": ('a,b\n1,"x"\n2,"y', 3, "quote", None),
    "closed by another": ('a,b\n1,"x\n2,"y"\n', 2, "quote.*line 3", None),
    "a quote in the header": ('a,"b\n1,2\n', 1, "quote", None),
    "NUL": (f"a,b,c\n{GOOD}1,\0,3\n", 52, "NUL", "encoding"),
    "latin-1": (f"a,b,c\n{GOOD}1,caf\xe9,3\n".encode("latin-1"), 52, "0xe9.*utf-8", "encoding"),
    "cut in a letter": ("a,b\n1,é".encode()[:-1], 2, "0xc3.*utf-8", "encoding"),
    "UTF-16": ("a,b\n1,2\n".encode("utf-16"), None, "utf-8.*utf-16", "encoding"),
    "empty": ("", None, "empty", None),
    "header only": ("a,b\n", None, "no rows", None),
    "same names": ("a,b,a\n1,2,3\n", 1, "'a'", None),
    "no header": ("5.1,3\n4.9,2\n", 1, r"'5\.1,3'.*numbers", None),
    "a note": ("sep=;\na;b\n1;2\n", 1, "'sep=;'.*Delete", None),
    "a title": ("# of 2020\na,b\n1,2\n", 2, "2 fields.*'# of 2020'", "delimiter"),
    "packed": (gzip.compress(b"a,b\n1,2\n"), None, r"gzip.*'.*\.csv\.gz'", None),
    "Parquet": (b"PAR1" + bytes(20), None, r"Parquet.*'.*table\.parquet'", None),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_delimited_files(path, fault):
    content, line, message, setting = FAULTS[fault]
    with pytest.raises(FileError, match=message) as caught:
        raws(path, content)
    assert repr(str(path)) in str(caught.value)
    assert caught.value.line == line
    assert caught.value.remedy
    assert (caught.value.setting or (None,))[0] == setting
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.line) == (str(caught.value), line)
    content = content.encode() if isinstance(content, str) else content
    with pytest.raises(FileError):
        raws(path.with_name("t.csv.gz"), gzip.compress(content))


JSON_FAULTS = {
    "broken": ('{"a": 1}\n\n{"a": 2\n', 3, r"'\{\"a\": 2'.*char \d+"),
    "cut off": ('{"a": 1}\n{"a": "x', 2, "char"),
    "no object": ('{"a": 1}\n[1, 2]\n', 2, r"'\[1, 2\]'"),
    "a list": ('{"a": 1}\n\n{"a": [1]}\n', None, r"'a' holds lists.*without=\['a'\]"),
    "an object": ('{"b": {"c": 1}}\n', None, "'b' holds lists or objects"),
    "nothing in it": ("{}\n", None, "no rows"),
}


@pytest.mark.parametrize("fault", JSON_FAULTS)
def test_faults_of_json_lines(path, fault):
    content, line, message = JSON_FAULTS[fault]
    with pytest.raises(FileError, match=message) as caught:
        raws(path.with_suffix(".jsonl"), content)
    assert caught.value.line == line
    assert list(raws(path.with_suffix(".jsonl"), '{"a": 1, "b": []}\n', without="b")) == ["a"]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("suffix", FORMATS)
def test_damaged_files_are_read_or_refused_with_their_name(tmp_path, suffix):
    rng = np.random.default_rng(0)
    values = {"a": rng.normal(size=200), "b": rng.normal(size=200)}
    labels = {} if suffix == "npy" else {"c": rng.choice(["x", "yy"], 200)}
    path = saved(tmp_path / f"t.{suffix}", pd.DataFrame(values | labels))
    whole, refused = path.read_bytes(), []
    for _ in range(40):
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
            read_file(path)
        except FileError as error:
            refused.append((error.path, bool(error.remedy)))
    assert len(refused) > 5
    assert set(refused) == {(str(path), True)}


@pytest.mark.parametrize(
    "name", ["rows.csv.gz", "t.jsonl.gz", "t.csv.zst", "t.parquet", "t.feather"]
)
def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path, name):
    path = tmp_path / name
    match path.suffix:
        case ".gz":
            path.write_bytes(gzip.compress(b'{"a": 1}\n' * 2**23, 1))
        case ".zst":
            path.write_bytes(zstd.compress(bytes(2**27)))
        case _:
            frame = pl.select(a=pl.repeat(0.0, 2**25 + 1), b=pl.repeat(1, 2**25 + 1))
            (frame.write_parquet if name == "t.parquet" else frame.write_ipc)(
                path, compression="zstd"
            )
    with pytest.raises(FileError, match="too many for its size"):
        Table.open(path)


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "people.csv").write_text("a\n1\n")
    with pytest.raises(FileNotFoundError, match=r"did you mean '.*people\.csv'\?"):
        Table.open(tmp_path / "poeple.csv")
    with pytest.raises(FileNotFoundError, match=r"did you mean '.*people\.csv'\?"):
        header(tmp_path / "people.parquet")
    with pytest.raises(FileNotFoundError, match=r"no folder '.*elsewhere'"):
        Table.open(tmp_path / "elsewhere" / "people.csv")
    for name, message in {".": "folder", "t.xlsx": "read_excel", "t.dta": r"\.csv.*\.zst"}.items():
        with pytest.raises(FileError, match=message):
            Table.open(tmp_path / name)
    for name in ("people.parquet", "people.arrow", "people.npy", "people.csv.gz", "people.csv.zst"):
        (tmp_path / name).write_text("a\n1\n")
        with pytest.raises(FileError, match=f"{name}.*name"):
            Table.open(tmp_path / name)


@pytest.mark.parametrize(
    "how",
    [
        {"delimiter": ";;"},
        {"delimiter": '"'},
        {"delimiter": "§"},
        {"decimal": ":"},
        {"delimiter": ",", "decimal": ","},
        {"encoding": "latin-9000"},
        {"encoding": "hex"},
        {"na_values": "NA"},
    ],
)
def test_settings_that_make_no_sense(path, how):
    name, value = list(how.items())[-1]
    with pytest.raises((ValueError, TypeError), match=name) as caught:
        raws(path, "a\n1\n", **how)
    assert repr(value) in str(caught.value)


# Writing ----------------------------------------------------------------------------------------

CSV = """id,when,size,town,ok,count,mix
1,2020-01-02,1.50,"Rome, old",true,3,1.0
2,2020-01-03 10:00:00.25,NA,=SUM(A1),false,,x
9007199254740993,,-2e3,"say ""hi""
there",NA,007,2
"""


def test_parquet_holds_what_is_read(path):
    path.write_text(CSV.replace("9007199254740993", "3"))
    names = ["town", "size", "when", "ok", "count", "mix"]
    write_columns(path, path.with_suffix(".parquet"), names)
    found = {raw.name: raw for raw in read_file(path)}
    for raw in read_file(path.with_suffix(".parquet")):
        assert_same(raw, found[raw.name])
    write_columns(path.with_suffix(".parquet"), path.with_name("again.csv"), names)
    for raw in read_file(path.with_name("again.csv")):
        assert_same(raw, found[raw.name])


def test_whole_numbers_keep_their_digits(path):
    path.write_text(f"id,large\n{2**53 + 1},{10**30 + 1}\n{2**53},7\n")
    write_columns(path, path.with_suffix(".pq"), ["id", "large"])
    assert pl.read_parquet(path.with_suffix(".pq"))["id"].to_list() == [2**53 + 1, 2**53]
    (large,) = read_file(path.with_suffix(".pq"), columns="large")
    assert large.labels == (str(10**30 + 1), "7")


def test_fields_of_texts_are_copied_as_they_are(path):
    path.write_text(CSV)
    write_columns(path, path.with_name("t.csv"), ["count", "town", "size"])
    assert path.with_name("t.csv").read_text() == (
        'count,town,size\n3,"Rome, old",1.50\n,=SUM(A1),NA\n007,"say ""hi""\nthere",-2e3\n'
    )
    how = {"encoding": "latin-1"}
    path.write_bytes("größe;b; c\n1,5;é;x\n2;ü;y\n".encode("latin-1"))
    for name, expected in (
        ("t.csv", "größe; c\n1,5;x\n2;y\n"),
        ("t.tsv", "größe\t c\n1,5\tx\n2\ty\n"),
    ):
        write_columns(path, path.with_name(name), ["größe", "c"], **how)
        assert path.with_name(name).read_bytes().decode("latin-1") == expected
    path.write_text("a,b\n1,\n2,NA\n,3\n")
    write_columns(path, path.with_name("t.csv"), ["b"])
    assert len(read_file(path.with_name("t.csv"))[0].values) == 3


def test_files_that_cannot_be_written(path, tmp_path):
    path.write_text(CSV)
    (tmp_path / "link.csv").symlink_to(path)
    (tmp_path / "folder.csv").mkdir()
    for target in (path, tmp_path / "link.csv", tmp_path / "." / "table.csv"):
        with pytest.raises(FileError, match="the table itself"):
            write_columns(path, target, ["size"])
    for name in ("t.xlsx", "t.npy", "t", "t.parquet.gz", "t.jsonl"):
        with pytest.raises(FileError, match=r"cannot be written.*\.csv"):
            write_columns(path, tmp_path / name, ["size"])
    with pytest.raises(FileNotFoundError, match="no folder"):
        write_columns(path, tmp_path / "nowhere" / "t.csv", ["size"])
    for target, names, message in (
        ("folder.csv", ["size"], "is a folder"),
        ("t.csv", ["sizes"], "'sizes'; did you mean 'size'"),
        ("t.csv", [], "no column is left"),
    ):
        with pytest.raises(FileError, match=message):
            write_columns(path, tmp_path / target, names)
    assert path.read_text() == CSV


@pytest.mark.parametrize("suffix", ["csv", "parquet", "csv.gz"])
def test_a_broken_source_leaves_what_was_there(path, suffix):
    path.write_text("a,b\n" + "1,2\n" * 100 + "1\n")
    (target := path.with_name(f"t.{suffix}")).write_text("before")
    target.chmod(0o640)
    with pytest.raises(FileError, match="line 102"):
        write_columns(path, target, ["a"])
    assert target.read_text() == "before"
    assert sorted(os.listdir(path.parent)) == sorted([path.name, target.name])
    path.write_text("a,b\n1,2\n")
    write_columns(path, target, ["a"])
    assert os.name == "nt" or target.stat().st_mode & 0o777 == 0o640


def test_files_need_polars(path, monkeypatch):
    path.write_text("a\n1\n")
    monkeypatch.setitem(sys.modules, "polars", None)
    for call in (Table.open, lambda table: write_columns(table, path.with_name("t.csv"), ["a"])):
        with pytest.raises(ModuleNotFoundError, match=r"\.csv.*pip install 'pidselect\[cli\]'"):
            call(path)
