"""Selecting from the command line: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import gzip
import json
import logging
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from calling import ESCAPE, QUICK, call, made, names_of, read_json, select, words, write

from pidselect import PIDSelector
from pidselect.cli.options import SelectionOptions, TableOptions
from pidselect.cli.run import make_selector
from pidselect.selection import rows


def test_the_selection_is_printed_and_nothing_is_left_behind(table):
    result = select(table, "--target", "y")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["length", "width"]
    for names in (["length_mm", "length"], ["planet", "constant"]):
        assert any(all(name in line for name in names) for line in lines[3:])
    assert any(line.split()[:2] == ["forward", "length:"] for line in result.stderr.splitlines())
    assert list(Path.cwd().iterdir()) == [Path.cwd() / "made.csv"]


def test_it_is_what_the_selector_finds(table):
    assert select(table, "--target", "y", "--json", "record.json").exit_code == 0
    columns = made()
    X = np.column_stack([columns[name] for name in ("length", "noise", "width")])
    selector = PIDSelector(estimator="gaussian", n_permutations=20, random_state=0)
    known = selector.fit(X, np.array(columns["y"])).selection_
    found = read_json(Path("record.json"))["selection"]["steps"][0]
    assert found["values"][:3] == pytest.approx(known.steps[0].values, abs=1e-12)
    assert names_of(Path("record.json")) == ["length", "width"]


def test_json_on_standard_output_is_alone_there(table):
    result = select(table, "--target", "y", "--json", "-")
    summary = json.loads(result.stdout)
    assert (result.exit_code, summary["is_complete"]) == (0, True)
    assert summary["metadata"]["source"] == "made.csv"
    assert summary["metadata"]["command"].startswith("pidselect select made.csv --target y ")
    assert "length" in result.stderr
    assert select(table, "--target", "y", "--json", "-", "--quiet").stderr == ""


def test_all_files_are_written(table):
    options = ("--json", "r.json", "--report", "r.html", "--output", "small.tsv")
    result = select(table, "--target", "y", *options)
    assert result.exit_code == 0, result.output
    written = [line.split()[-1] for line in result.stdout.splitlines()[-3:]]
    assert written == ["r.html", "r.json", "small.tsv"]
    small = [line.split("\t") for line in Path("small.tsv").read_text("utf-8").splitlines()]
    columns = made()
    assert small[0] == ["length", "width", "y"]
    assert [float(row[2]) for row in small[1:]] == columns["y"]
    page = Path("r.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "length_<wbr>mm" in page
    assert any(one["unique"] is not None for one in read_json(Path("r.json"))["features"])


def test_the_same_call_gives_the_same_result(table):
    for name in ("a.json", "b.json"):
        assert select(table, "--target", "y", "--quiet", "--json", name).exit_code == 0
    assert read_json(Path("a.json"))["selection"] == read_json(Path("b.json"))["selection"]
    assert read_json(Path("a.json"))["settings"]["seed"] == 0


def test_roles_of_columns(table):
    result = select(
        *(table, "--target", "y", "--drop", "length_mm,planet", "--fixed-features", "noise"),
        *(
            "--feature-groups",
            "size=length,width",
            "--feature-types",
            "colour=nominal",
            "--json",
            "r.json",
        ),
    )
    assert result.exit_code == 0, result.output
    assert names_of(Path("r.json")) == ["noise", "size"]
    summary = read_json(Path("r.json"))
    assert summary["metadata"]["feature_types"]["colour"] == "nominal"
    assert "planet" not in summary["metadata"]["feature_types"]


def test_a_joint_target_and_row_groups(table):
    columns = {**made(), "person": [i % 12 for i in range(120)]}
    write(table, columns)
    result = select(
        *(table, "--target", "y", "--target", "noise", "--groups", "person", "--json", "r.json"),
        *("--max-features", "1"),
    )
    assert result.exit_code == 0, result.output
    summary = read_json(Path("r.json"))
    assert summary["settings"]["n_groups"] == 12
    assert "person" not in summary["metadata"]["feature_types"]
    assert summary["metadata"]["target"] == "y and noise"


@pytest.mark.parametrize(
    ("name", "feature_type"),
    [("grade", "ordinal"), ("grade", "nominal"), ("grade", "continuous"), ("target", "nominal")],
)
def test_the_type_of_the_target_can_be_stated(table, name, feature_type):
    write(table, {**made(), "grade": [round(y) for y in made()["y"]]})
    result = select(
        *(table, "--target", "grade", "--feature-types", f"{name}={feature_type}"),
        *("--json", "r.json"),
    )
    assert result.exit_code == 0, result.output
    assert read_json(Path("r.json"))["settings"]["target_types"] == [feature_type]


def test_the_command_is_written_down_as_it_can_be_typed(table):
    Path("made.csv").rename("-my table.csv")
    options = ("--target", "y", "--drop", "noise", "--drop", "colour", "--random-state", "7", "-q")
    result = call(
        "select",
        *options,
        "--json",
        "r.json",
        *QUICK[:4],
        "--n-jobs",
        "-1",
        "--",
        *("-my table.csv",),
    )
    assert result.exit_code == 0, result.output
    typed = shlex.split(read_json(Path("r.json"))["metadata"]["command"])
    assert typed[:2] == ["pidselect", "select"]
    assert typed[-1] == "-my table.csv"
    assert typed.count("--drop") == 2
    again = call(*typed[1:])
    assert (again.exit_code, again.stdout) == (0, result.stdout)


def test_names_with_commas(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = made()
    columns["length, cm"] = columns.pop("length_mm")
    write(Path("t.csv"), columns)
    result = select("t.csv", "--target", "y", "--drop", "length, cm,planet", "--drop", "colour")
    assert result.exit_code == 0, result.output
    assert not any(name in result.stdout for name in ("length, cm", "planet", "colour"))


def test_alarms_are_printed(table):
    columns = made()
    day = np.arange(120.0)
    y = np.array(columns["y"])
    columns = {**columns, "day": day.tolist(), "y": (0.03 * day + y).round(4).tolist()}
    write(table, columns)
    result = select(table, "--target", "y", "--quiet", "--json", "r.json")
    assert result.exit_code == 0, result.output
    (alarm,) = [block for block in result.stdout.split("\n\n") if block.startswith("Warning: day")]
    assert "surrogates='shift'" in words(alarm)
    assert max(map(len, result.stdout.splitlines())) <= 100
    assert any("day" in alarm for alarm in read_json(Path("r.json"))["warnings"])
    explained = call("explain", table, "--target", "y", *QUICK)
    assert "\nWarning: day" in explained.stdout
    piped = select(table, "--target", "y", "--json", "-")
    assert json.loads(piped.stdout)["warnings"]
    assert "Warning: day" in piped.stderr
    assert " ".join(result.output.split()).count("trictly increasing or decreasing") == 1
    without = select(table, "--target", "y", "--drop", "day")
    assert "Warning:" not in without.output


def test_leakage_is_printed_as_python_warns(table):
    columns = made()
    write(table, {**columns, "leak": [2.5 * value + 1 for value in columns["y"]]})
    result = select(table, "--target", "y", "--max-features", "1", "--json", "r.json")
    assert result.exit_code == 0, result.output
    (warning,) = read_json(Path("r.json"))["warnings"]
    assert warning.startswith("leak: ")
    assert words(result.output).count(words(warning)) == 1


def test_numbers_stored_as_text_are_named(table):
    columns = made()
    write(table, {**columns, "mass": [f"{i + 0.5} kg" for i in range(120)]})
    result = select(table, "--target", "y")
    assert result.exit_code == 0, result.output
    (note,) = [line for line in result.stderr.splitlines() if "'mass'" in line]
    assert " kg'" in note
    assert "identifier" not in result.output
    assert "mass was skipped: numbers stored as text" in words(result.stdout)


def test_select_does_not_explain(table, monkeypatch):
    monkeypatch.delattr(PIDSelector, "explain")
    assert select(table, "--target", "y").exit_code == 0


def test_how_surrogates_and_searches_are_made(table):
    result = select(
        *(table, "--target", "y", "--surrogates", "global,local", "--backward", "none"),
        *(
            "--max-conditioning",
            "1",
            "--n-random-starts",
            "2",
            "--alpha",
            "0.3",
            "--json",
            "r.json",
        ),
    )
    assert result.exit_code == 0, result.output
    found = read_json(Path("r.json"))["settings"]
    assert found["surrogates"] == ["global", "local"]
    assert (found["backward"], found["max_conditioning"], found["n_random_starts"]) == (None, 1, 2)


@pytest.mark.parametrize(("given", "found"), [("auto", "auto"), ("1", 1), ("3", 3)])
def test_lookahead_is_a_number_or_auto(table, given, found):
    options = ("--lookahead", given, "--alpha", "0.3", "--json", "r.json")
    result = select(table, "--target", "y", *options)
    assert result.exit_code == 0, result.output
    assert read_json(Path("r.json"))["settings"]["lookahead"] == found


@pytest.mark.parametrize("given", ["0", "4", "all"])
def test_other_lookahead_is_refused(table, given):
    result = select(table, "--target", "y", "--lookahead", given)
    assert result.exit_code == 2
    assert "lookahead" in words(result.output)


def test_all_relevant_columns(table):
    """The copy of a selected column is relevant, too, so that it is not left out."""
    options = ("--select", "relevant", "--alpha", "0.1", "--json", "r.json", "--output", "s.csv")
    result = select(table, "--target", "y", *options)
    assert result.exit_code == 0, result.output
    assert "length_mm is a duplicate" not in result.stdout
    assert "not in the minimal set: length_mm." in words(result.stdout)
    assert Path("s.csv").read_text(encoding="utf-8").splitlines()[0] == "length,width,length_mm,y"
    found = read_json(Path("r.json"))
    assert found["settings"]["select"] == "relevant"
    assert found["selection"]["also_relevant"] == ["length_mm"]
    rows = {row["name"]: row for row in found["selected"]}
    assert [rows[name]["is_minimal"] for name in ("length", "width", "length_mm")] == [1, 1, 0]
    assert found["steps"][-1]["phase"] == "marginal"
    assert rows["length_mm"]["step"] == found["steps"][-1]["number"]


def test_stability_is_printed(table):
    result = select(table, "--target", "y", "--stability", "4", "--json", "r.json")
    assert result.exit_code == 0, result.output
    assert "4 subsamples" in result.stdout
    assert read_json(Path("r.json"))["stability"]["frequencies"]["length"] == 1.0


def test_nothing_selected_is_no_failure(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    write(Path("t.csv"), {"a": rng.normal(size=50).tolist(), "y": rng.normal(size=50).tolist()})
    result = select("t.csv", "--target", "y", "--output", "small.csv")
    assert result.exit_code == 0, result.output
    assert "No feature was selected: there may be nothing to find." in result.stdout
    assert "feature_groups" in result.stdout
    assert Path("small.csv").read_text(encoding="utf-8").startswith("y\n")
    assert "lookahead" not in result.stderr


def test_quiet_leaves_the_result_alone(table):
    result = select(table, "--target", "y", "--quiet")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[1].startswith("length")


def test_warnings_of_the_library_are_notes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = {"id": [f"no {i}" for i in range(120)], **made()}
    write(Path("t.csv"), columns)
    result = select("t.csv", "--target", "y")
    assert result.exit_code == 0, result.output
    (note,) = [line for line in result.stderr.splitlines() if line.startswith("Note: ")]
    assert "'id'" in note
    assert "--feature-types id=nominal" in result.stderr
    assert "UserWarning" not in result.stderr
    assert any(line.startswith("id was skipped") for line in result.stdout.splitlines())


def test_information_of_the_log_is_noted(table, monkeypatch):
    """As that nearest neighbours use a part of the rows; but not the result, which is printed."""
    monkeypatch.setattr(rows, "MAX_ROWS", 100)
    monkeypatch.setattr(rows, "NEIGHBOUR_ROWS", 60)
    level = logging.getLogger("pidselect").level
    result = call("select", table, "--target", "y", *QUICK, "--estimator", "ksg")
    notes = [line for line in result.stderr.splitlines() if line.startswith("Note: ")]
    (note,) = [note for note in notes if "Compiling" not in note]
    assert "random 60" in note
    assert "max_samples" in note
    assert logging.getLogger("pidselect").level == level


@pytest.mark.parametrize("name", ["t.tsv", "t.jsonl", "t.csv.gz", "t.parquet", "t.feather"])
def test_other_formats(name, tmp_path, monkeypatch):
    from pidselect.data.io import write_columns

    monkeypatch.chdir(tmp_path)
    columns = made()
    write_columns(write(Path("made.csv"), columns), name, list(columns))
    result = select(name, "--target", "y", "--quiet", "--json", "r.json")
    assert result.exit_code == 0, result.output
    assert names_of(Path("r.json")) == ["length", "width"]


def test_standard_input(table):
    arguments = ["select", "-", "--target", "y", *QUICK, "--json", "r.json"]
    result = call(*arguments, read=table.read_bytes())
    assert result.exit_code == 0, result.output
    assert names_of(Path("r.json")) == ["length", "width"]
    assert read_json(Path("r.json"))["metadata"]["command"].startswith("pidselect select - ")
    assert {path.name for path in Path.cwd().iterdir()} == {"made.csv", "r.json"}


def test_how_text_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = made()
    columns["größe"] = columns.pop("length")
    rows = [";".join(columns)]
    rows += [
        ";".join(str(v).replace(".", ",") for v in row)
        for row in zip(*columns.values(), strict=True)
    ]
    rows[4] = rows[4].replace(rows[4].split(";")[0], "fehlt", 1)
    with gzip.open("t.csv.gz", "wt", encoding="latin-1") as file:
        file.write("\n".join(rows) + "\n")
    options = ("--delimiter", ";", "--decimal", ",", "--encoding", "latin-1")
    wrong = select("t.csv.gz", "--target", "y", *options[:4])
    assert wrong.exit_code == 2
    assert all(word in wrong.stderr for word in ("t.csv.gz", "encoding", "latin-1"))
    result = select(
        *("t.csv.gz", "--target", "y", *options, "--na-values", "fehlt", "--missing", "drop"),
        *("--drop", "length_mm", "--json", "r.json"),
    )
    assert result.exit_code == 0, result.output
    assert names_of(Path("r.json")) == ["größe", "width"]
    assert "119 of 120 rows" in result.stdout


def test_names_cannot_command_a_terminal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = made()
    evil = f"{ESCAPE}[2Jlength\x07"
    columns = {evil if name == "length" else name: values for name, values in columns.items()}
    write(Path("t.csv"), columns)
    result = select("t.csv", "--target", "y")
    assert result.exit_code == 0, result.output
    assert ESCAPE not in result.output
    assert "\\x1b[2Jlength" in result.stdout


def test_what_is_piped_has_no_escape_codes_and_fits_the_encoding(table):
    columns = made()
    write(table, {"größe λ": columns.pop("length"), **columns})
    said = subprocess.run(
        [sys.executable, "-m", "pidselect", "explain", table, "--target", "y", *QUICK],
        capture_output=True,
        encoding="cp1252",
        check=True,
        env={**os.environ, "TERM": "xterm-256color", "PYTHONIOENCODING": "cp1252"},
    )
    assert ESCAPE not in said.stdout + said.stderr
    assert r"größe \u03bb" in said.stderr
    assert "u unique, + synergy" in said.stdout


def test_defaults_are_those_of_the_selector():
    """Except for the seed and the number of threads, whose defaults the help shows."""
    table = TableOptions(table=Path("table.csv"), target=["y"])
    typed = make_selector(SelectionOptions(), table).get_params(deep=False)
    default = PIDSelector(random_state=0, n_jobs=-1).get_params(deep=False)
    assert typed == default


@pytest.mark.parametrize(
    ("max_samples", "expected"), [("auto", "auto"), ("all", None), (70, 70)], ids=str
)
def test_rows_to_use(max_samples, expected):
    table = TableOptions(table=Path("table.csv"), target=["y"])
    assert make_selector(SelectionOptions(max_samples=max_samples), table).max_samples == expected


@pytest.mark.parametrize("wanted", ["auto", "all", "110"])
def test_many_rows(table, monkeypatch, wanted):
    """A note and the result say how many rows nearest neighbours use, unless a number is given."""
    monkeypatch.setattr("pidselect.selection.rows.MAX_ROWS", 100)
    monkeypatch.setattr("pidselect.selection.rows.NEIGHBOUR_ROWS", 60)
    few = ("--estimator", "mixed-rank,copula", "--n-permutations", "19", "--n-jobs", "1")
    result = call("select", table, "--target", "y", "--max-samples", wanted, *few)
    assert result.exit_code == 0, result.output
    is_limited = wanted == "auto"
    assert ("a random 60 of 120 rows" in words(result.stdout)) == is_limited
    assert ("max_samples=None" in words(result.stderr)) == is_limited
