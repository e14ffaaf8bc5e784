"""What can be wrong with a call or a table, and how it is said."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from calling import QUICK, call, made, names_of, select, words, write

from pidselect.cli.errors import as_options


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--target", "Y"], "--target: there is no column 'Y'; did you mean 'y'? Known are"),
        (["--target", "y", "--drop", "lenght"], "--drop: there is no column 'lenght'; did you"),
        (["--target", "y", "--kinds", "colour"], "such as colour=nominal"),
        (["--target", "y", "--kinds", "colour=nominl"], "did you mean 'nominal'?"),
        (["--target", "y", "--kinds", "color=nominal"], "did you mean 'colour'?"),
        (["--target", "y", "--drop", "y"], "--target and --drop both name 'y'"),
        (["--target", "y", "--groups", "colour,planet"], "--groups takes one column"),
        (["--target", "y", "--alpha", "2"], "--alpha 2.0 is no error rate"),
        (["--target", "y", "--permutations", "many"], "neither a whole number nor auto"),
        (["--target", "y", "--permutations", "3"], "--permutations"),
        (["--target", "y", "--max-features", "0"], "--max-features"),
        (["--target", "y", "--max-memory", "lots"], "--max-memory lots is no amount of memory"),
        (["--target", "y", "--estimator", "gausian"], "did you mean 'gaussian'?"),
        (["--target", "y", "--output", "small.xlsx"], "its name must end in .csv"),
        (["--target", "y", "--output", "made.csv"], "the table itself"),
        (["--target", "y", "--json", "no/folder.json"], "there is no folder 'no'"),
        (["--target", "y", "--report", "."], "is a folder"),
        (["--target", "y", "--json", "a.htm", "--report", "a.htm"], "the file of --json, too"),
        (["--target", "y", "--report", "page.csv"], "its name must end in .html or .htm"),
        (["--target", "y", "--criterion", "mrmmr"], "--criterion mrmmr is unknown; did you mean"),
        (["--target", "y", "--estimator", "ksg,copla"], "did you mean 'copula'?"),
        (["--target", "y", "--surrogates", "shfit"], "--surrogates shfit is unknown; did you mean"),
        (["--target", "y", "--starts", "-1"], "--starts -1 must be a whole number of at least 0"),
        (["--target", "y", "--stability", "1"], "--stability 1 must be a whole number"),
        (["--target", "y", "--permutations", "0"], "say where to end with --max-features"),
        (["--target", "y", "--jobs", "0"], "such as 2, -1 for all cores."),
        (["--target", "y", "--resume", "--restart"], "give one of them"),
        (["--target", "y", "--drop", "length,noise,width,length_mm,colour,planet"], "No column is"),
        ([], "Missing option '--target'"),
    ],
)
def test_wrong_calls(table, arguments, said):
    result = call("select", table, *QUICK, *arguments)
    assert result.exit_code == 2, result.output
    assert said in words(result.stderr.replace("│", ""))
    if arguments:
        assert result.stderr.splitlines()[-1].startswith("Error: ")
    assert result.stdout == ""
    assert [path.name for path in Path.cwd().iterdir()] == ["made.csv"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["select", "--missing", "dorp"], "'dorp' is unknown; did you mean 'drop'? Known are"),
        (["select", "--device", "gpu"], "Known are 'cpu', 'cuda'"),
        (["select", "--backward", "yes"], "known are 'minimum', 'maximum', 'none'"),
        (["select", "--seed", "x"], "Invalid value for '--seed': 'x' is no whole number"),
        (["select", "--alpha", "x"], "Invalid value for '--alpha': 'x' is no number"),
        (["explain", "--measure", "brojo"], "'brojo' is unknown; did you mean 'broja'?"),
        (["decompose", "--source", "width", "--measure", "x"], "Known are 'broja', 'ccs'"),
        (["decompose", "--source", "width", "--unit", "byte"], "known are 'bit', 'nat'"),
    ],
)
def test_values_that_no_option_takes(table, arguments, said):
    result = call(*arguments, table, "--target", "y")
    assert result.exit_code == 2, result.output
    assert said in words(result.stderr.replace("│", ""))
    assert "Value error" not in result.stderr


def test_a_wrong_estimator_is_refused_before_the_table_is_read(table):
    result = call("select", table, "--target", "y", "--estimator", "gausian")
    assert result.exit_code == 2
    assert "reading" not in result.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("a,b,y\n", "no rows"),
        ("a,b,y\n1,2,3\n4,5\n6,7,8\n", "line 3"),
        ('a,b,y\n1,2,3\n4,"5,6\n', "line 3"),
    ],
)
def test_broken_tables(tmp_path, content, said):
    path = tmp_path / "broken.csv"
    path.write_text(content)
    result = call("select", path, "--target", "y", "--checkpoint", tmp_path / "run.json")
    assert result.exit_code == 2, result.output
    assert said in words(result.stderr).replace("no data rows", "no rows")
    assert result.stderr.splitlines()[-1].startswith("Error: ")


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ("give encoding='utf-16' (--encoding utf-16), or", "give --encoding utf-16, or"),
        ("by delimiter=';' (--delimiter ';')", "by --delimiter ';'"),
        ("decimal=';' is no decimal mark", "--decimal ';' is no decimal mark"),
        ("by without=['a b'] (--drop 'a b')", "by --drop 'a b'"),
        ("by TextFormat(missing=...) (--na '?')", "by --na '?'"),
        (
            "the target 'city' ..., feature_types={'target': 'nominal'}",
            "the target 'city' ..., --kinds 'city=nominal'",
        ),
        (
            "feature_types={\"a'b\": 'nominal', 'c': 'ordinal'}",
            "--kinds \"a'b=nominal\" --kinds 'c=ordinal'",
        ),
        ("use surrogates='shift'.", "use --surrogates shift."),
        (
            "surrogates=('global', 'local') and n_random_starts=3",
            "--surrogates global,local and --starts 3",
        ),
        ("backward=None, max_conditioning=2", "--backward none, --max-conditioning 2"),
        ("several as in estimator=('ksg', 'copula'):", "several as in --estimator ksg,copula:"),
        ("Use measure='imin' or 'mmi' or 'sx'", "Use --measure imin or mmi or sx"),
        ('say so by feature_types={...: "continuous"};', "say so by --kinds NAME=continuous;"),
        (
            "one at a time: give each its own path.",
            "one at a time: give each its own --checkpoint FILE.",
        ),
    ],
)
def test_words_of_the_library_are_options(said, typed):
    assert as_options(said) == typed


@pytest.mark.parametrize("values", [[[1], [2]], [{"x": 1}, {"x": 2}]])
def test_a_column_of_lists_or_objects(tmp_path, values):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"odd": values, "y": [1.5, 2.5]}), tmp_path / "t.parquet")
    result = select(tmp_path / "t.parquet", "--target", "y", "--checkpoint", tmp_path / "run.json")
    assert result.exit_code == 2, result.output
    assert result.stderr.endswith("leave it out, by --drop 'odd'\n")


def test_a_target_of_names_of_rows(table):
    write(table, {**made(), "person": [f"no {i}" for i in range(120)]})
    result = select(table, "--target", "person")
    assert result.exit_code == 2
    assert "or state --kinds 'person=nominal' if" in result.stderr
    assert "skipped" not in result.stderr


def test_half_a_letter_in_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = {"\ud800" if name == "length" else name: v for name, v in made().items()}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    places = ("--report", "r.html", "--json", "r.json", "--output", "small.csv")
    result = select("t.jsonl", "--target", "y", *places)
    assert result.exit_code == 0, result.output
    assert names_of(Path("r.json")) == ["\ud800", "width"]
    assert r"\ud800" in Path("r.html").read_text(encoding="utf-8")


def test_a_missing_file(table):
    result = select("maed.csv", "--target", "y")
    assert result.exit_code == 2
    assert result.stderr == "Error: there is no file 'maed.csv'; did you mean 'made.csv'?\n"


def test_a_missing_library(table, monkeypatch):
    monkeypatch.delitem(sys.modules, "pidselect.report.selection_page", raising=False)
    monkeypatch.delitem(sys.modules, "pidselect.report.html", raising=False)
    monkeypatch.delattr("pidselect.report.selection_page", raising=False)
    monkeypatch.delattr("pidselect.report.html", raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = select(table, "--target", "y", "--report", "r.html")
    assert result.exit_code == 1
    assert "needs jinja2: pip install 'pidselect[cli]'" in result.stderr


def test_a_full_disk_is_no_wrong_call(table, monkeypatch):
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("pidselect.data.writing.write_columns", fail)
        result = select(table, "--target", "y", "--output", "small.csv")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "Error: No space left on device"
    assert "Nothing is lost. Go on with" in result.stderr
    going_on = select(table, "--target", "y", "--output", "small.csv", "--resume")
    assert going_on.exit_code == 0, going_on.output
    assert Path("small.csv").exists()


def test_a_bug_is_shown_as_one(table, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise AttributeError("a bug")

    monkeypatch.setattr("pidselect.selection.selector.line_up", fail)
    result = select(table, "--target", "y")
    assert result.exit_code == 1
    assert isinstance(result.exception, AttributeError)
