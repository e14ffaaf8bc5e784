"""Wrong calls and broken tables: exit codes, and what an error names."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from calling import QUICK, call, made, names_of, select, words, write

from pidselect.cli.messages import to_option
from pidselect.data.text_files import TextSettings
from pidselect.selection import PIDSelector


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--target", "Y"], ["--target", "'Y'", "'y'"]),
        (["--target", "y", "--drop", "lenght"], ["--drop", "'lenght'", "'length'"]),
        (["--target", "y", "--feature-types", "colour"], ["--feature-types", "colour=nominal"]),
        (["--target", "y", "--feature-types", "colour=nominl"], ["colour=nominl", "nominal."]),
        (["--target", "y", "--feature-types", "color=nominal"], ["'colour'"]),
        (["--target", "y", "--drop", "y"], ["--target", "--drop", "'y'"]),
        (["--target", "y", "--groups", "colour,planet"], ["--groups"]),
        (["--target", "y", "--alpha", "2"], ["alpha=2"]),
        (["--target", "y", "--n-permutations", "3"], ["n_permutations"]),
        (["--target", "y", "--max-features", "0"], ["max_features"]),
        (["--target", "y", "--output", "small.xlsx"], ["small.xlsx", ".csv"]),
        (["--target", "y", "--output", "made.csv"], ["--output", "made.csv"]),
        (["--target", "y", "--json", "no/folder.json"], ["--json", "'no'"]),
        (["--target", "y", "--report", "."], ["--report", "folder"]),
        (["--target", "y", "--json", "a.htm", "--report", "a.htm"], ["--json", "--report"]),
        (["--target", "y", "--report", "page.csv"], ["--report", ".html"]),
        (["--target", "y", "--n-random-starts", "-1"], ["n_random_starts=-1"]),
        (["--target", "y", "--n-permutations", "many"], ["n_permutations='many'"]),
        (["--target", "y", "--lookahead", "4"], ["lookahead=4"]),
        (["--target", "y", "--lookahead", "all"], ["lookahead='all'"]),
        (["--target", "y", "--estimator", "gausian"], ["'gausian'", "'gaussian'"]),
        (["--target", "y", "--surrogates", "shfit"], ["'shfit'", "'shift'"]),
        (["--target", "y", "--stability", "1"], ["stability=1"]),
        (["--target", "y", "--n-permutations", "0"], ["max_features"]),
        (["--target", "y", "--n-jobs", "0"], ["n_jobs=0"]),
        (["--target", "y", "--drop", "length,noise,width,length_mm,colour,planet"], ["--drop"]),
    ],
)
def test_wrong_calls(table, arguments, named):
    result = call("select", table, *QUICK, *arguments)
    assert result.exit_code == 2, result.output
    (error,) = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert all(word in error for word in named)
    assert result.stdout == ""
    assert [path.name for path in Path.cwd().iterdir()] == ["made.csv"]


def test_the_table_is_not_overwritten_by_another_name(table):
    Path("other.json").hardlink_to(table)
    result = call("select", table, *QUICK, "--target", "y", "--json", "other.json")
    assert result.exit_code == 2, result.output
    assert all(word in result.stderr for word in ("--json", "'other.json'", "the table"))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["select"], ["--target"]),
        (["select", "--missing", "dorp"], ["--missing", "'dorp'", "'drop'"]),
        (["select", "--device", "gpu"], ["--device", "'cpu', 'cuda'"]),
        (["select", "--backward", "yes"], ["--backward", "'minimum', 'maximum', 'none'"]),
        (["select", "--random-state", "x"], ["--random-state", "integer"]),
        (["select", "--alpha", "x"], ["--alpha"]),
        (["select", "--criterion", "mrmmr"], ["--criterion", "'mrmr'"]),
        (["explain", "--measure", "brojo"], ["--measure", "'broja'"]),
        (["decompose", "--source", "width", "--measure", "x"], ["--measure", "'broja'"]),
        (["decompose", "--source", "width", "--unit", "byte"], ["--unit", "'bit', 'nat'"]),
    ],
)
def test_values_that_no_option_takes(table, arguments, named):
    target = ("--target", "y") if len(arguments) > 1 else ()
    result = call(*arguments, table, *target)
    assert result.exit_code == 2, result.output
    assert all(word in words(result.stderr.replace("│", "")) for word in named)
    assert "reading" not in result.stderr


def test_parameters_in_messages_are_options():
    """A message names parameters, and each one is an option with dashes."""
    options = words(call("select", "--help").output.replace("│", ""))
    not_options = {"shared_permutations", "verbose"}
    for name in set(PIDSelector().get_params(deep=False)) - not_options:
        assert f"--{name.replace('_', '-')}" in options
    for name in vars(TextSettings()):
        assert f"--{name.replace('_', '-')}" in options


def test_a_setting_as_options():
    assert to_option("decimal", ",") == "--decimal ,"
    assert to_option("without", ["a b", "-c"]) == "--without 'a b' --without=-c"


def test_an_error_of_the_library_has_a_hint(table):
    result = select(table, "--target", "y", "--alpha", "2")
    assert "--n-jobs" in result.stderr.splitlines()[-1]
    result = select(table, "--target", "y", "--drop", "lenght")
    assert result.stderr.splitlines()[-1].startswith("Error: ")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "empty"),
        ('a,b,y\n1,2,3\n4,"5,6\n', "line 3"),
    ],
)
def test_broken_tables(tmp_path, content, said):
    path = tmp_path / "broken.csv"
    path.write_text(content)
    result = call("select", path, "--target", "y", "--checkpoint", tmp_path / "run.json")
    assert result.exit_code == 2, result.output
    assert "Error: " in result.stderr
    assert str(path) in result.stderr
    assert said in words(result.stderr)


def test_a_target_that_is_an_identifier(table):
    write(table, {**made(), "person": [f"no {i}" for i in range(120)]})
    result = select(table, "--target", "person")
    assert result.exit_code == 2
    assert all(word in result.stderr for word in ("'person'", "feature_types", "nominal"))
    assert "skipped" not in result.stderr


def test_a_lone_surrogate_in_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = {"\ud800" if name == "length" else name: v for name, v in made().items()}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    places = ("--report", "r.html", "--json", "r.json", "--output", "small.csv")
    result = select("t.jsonl", "--target", "y", *places)
    assert result.exit_code == 0, result.output
    assert names_of(Path("r.json")) == ["\ud800", "width"]
    assert r"\ud800" in Path("r.html").read_text(encoding="utf-8")


def test_a_missing_file(table):
    result = select("maed.csv", "--target", "y")
    assert result.exit_code == 2
    assert all(name in result.stderr for name in ("'maed.csv'", "'made.csv'"))
    assert len(result.stderr.splitlines()) == 1


def test_a_missing_library(table, monkeypatch):
    monkeypatch.delitem(sys.modules, "pidselect.report.page", raising=False)
    monkeypatch.delattr("pidselect.report.page", raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = select(table, "--target", "y", "--report", "r.html")
    assert result.exit_code == 1
    assert all(word in result.stderr for word in ("jinja2", "pidselect[cli]"))


def test_a_full_disk_is_a_failure(table, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("pidselect.cli.output.write_columns", fail)
        result = select(table, "--target", "y", "--output", "small.csv")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "Error: No space left on device"


def test_a_defect_shows_its_traceback(table, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise AttributeError("a bug")

    monkeypatch.setattr("pidselect.selection.selector.build_pool", fail)
    result = select(table, "--target", "y")
    assert result.exit_code == 1
    assert isinstance(result.exception, AttributeError)
