"""Selecting from the command line: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import gzip
import json
import logging
import os
import shlex
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest
import typer
from calling import ESCAPE, QUICK, call, made, names_of, read_json, select, words, write

from pidselect import PIDSelector
from pidselect.cli.options import SelectionOptions, TableOptions
from pidselect.cli.run import make_selector


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """A selection that writes all files, and their folder."""
    folder = tmp_path_factory.mktemp("everything")
    with chdir(folder):
        options = ("--json", "r.json", "--report", "r.html", "--output", "small.tsv")
        result = select(write(Path("made.csv"), made()), "--target", "y", *options)
    assert result.exit_code == 0, result.output
    return result, folder


def test_the_selection_is_printed_and_nothing_is_left_behind(table, monkeypatch):
    monkeypatch.delattr(PIDSelector, "explain")  # which takes longer
    result = select(table, "--target", "y")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["length", "width"]
    for names in (["length_mm", "length"], ["planet", "constant"]):
        assert any(all(name in line for name in names) for line in lines[3:])
    assert any(line.split()[:2] == ["forward", "length:"] for line in result.stderr.splitlines())
    assert list(Path.cwd().iterdir()) == [Path.cwd() / "made.csv"]


def test_it_is_what_the_selector_finds(everything):
    columns = made()
    X = np.column_stack([columns[name] for name in ("length", "noise", "width")])
    selector = PIDSelector(estimator="gaussian", n_permutations=20, random_state=0)
    known = selector.fit(X, np.array(columns["y"])).selection_
    record = everything[1] / "r.json"
    found = read_json(record)["selection"]["steps"][0]
    assert found["values"][:3] == pytest.approx(known.steps[0].values, abs=1e-12)
    assert names_of(record) == ["length", "width"]
    assert read_json(record)["settings"]["seed"] == 0


def test_json_on_standard_output_is_alone_there(table):
    result = select(table, "--target", "y", "--json", "-")
    summary = json.loads(result.stdout)
    assert (result.exit_code, summary["is_complete"]) == (0, True)
    assert summary["metadata"]["source"] == "made.csv"
    assert summary["metadata"]["command"].startswith("pidselect select made.csv --target y ")
    assert "length" in result.stderr
    assert select(table, "--target", "y", "--json", "-", "--quiet").stderr == ""


def test_all_files_are_written(everything):
    result, folder = everything
    written = [line.split()[-1] for line in result.stdout.splitlines()[-3:]]
    assert written == ["r.html", "r.json", "small.tsv"]
    small = [line.split("\t") for line in (folder / "small.tsv").read_text("utf-8").splitlines()]
    assert small[0] == ["length", "width", "y"]
    assert [float(row[2]) for row in small[1:]] == made()["y"]
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "length_<wbr>mm" in page
    assert any(one["unique"] is not None for one in read_json(folder / "r.json")["features"])


def test_roles_of_columns(table):
    """One has a comma in its name."""
    columns = made()
    columns["length, cm"] = columns.pop("length_mm")
    result = select(
        *(write(table, columns), "--target", "y", "--drop", "length, cm,planet"),
        *("--fixed-features", "noise", "--feature-groups", "size=length,width"),
        *("--feature-types", "colour=nominal", "--json", "r.json"),
    )
    assert result.exit_code == 0, result.output
    assert names_of(Path("r.json")) == ["noise", "size"]
    feature_types = read_json(Path("r.json"))["metadata"]["feature_types"]
    assert feature_types["colour"] == "nominal"
    assert not {"planet", "length, cm"} & set(feature_types)


def test_a_joint_target_and_row_groups(table):
    write(table, {**made(), "person": [i % 12 for i in range(120)]})
    result = select(
        *(table, "--target", "y", "--target", "noise", "--groups", "person", "--json", "r.json"),
        *("--max-features", "1"),
    )
    assert result.exit_code == 0, result.output
    summary = read_json(Path("r.json"))
    assert summary["settings"]["n_groups"] == 12
    assert "person" not in summary["metadata"]["feature_types"]
    assert summary["metadata"]["target"] == "y and noise"


@pytest.mark.parametrize(("name", "feature_type"), [("grade", "ordinal"), ("target", "nominal")])
def test_the_type_of_the_target_can_be_stated(table, name, feature_type):
    write(table, {**made(), "grade": [round(y) for y in made()["y"]]})
    result = select(
        *(table, "--target", "grade", "--feature-types", f"{name}={feature_type}"),
        *("--json", "r.json"),
    )
    assert result.exit_code == 0, result.output
    assert read_json(Path("r.json"))["settings"]["target_types"] == [feature_type]


def test_the_command_is_written_down_as_it_can_be_typed(table):
    table.rename("-my table.csv")
    options = ("--target", "y", "--drop", "noise", "--drop", "colour", "--random-state", "7", "-q")
    more = ("--json", "r.json", *QUICK[:4], "--n-jobs", "-1")
    result = call("select", *options, *more, "--", "-my table.csv")
    assert result.exit_code == 0, result.output
    typed = shlex.split(read_json(Path("r.json"))["metadata"]["command"])
    assert typed[:2] == ["pidselect", "select"]
    assert typed[-1] == "-my table.csv"
    assert typed.count("--drop") == 2
    again = call(*typed[1:])
    assert (again.exit_code, again.stdout) == (0, result.stdout)


def test_alarms_are_printed(table):
    columns, day = made(), np.arange(120.0)
    y = 0.03 * day + np.array(columns["y"])
    write(table, {**columns, "day": day.tolist(), "y": y.round(4).tolist()})
    result = select(table, "--target", "y", "--quiet", "--json", "r.json")
    assert (result.exit_code, result.stderr) == (0, "")
    (alarm,) = [block for block in result.stdout.split("\n\n") if block.startswith("Warning: day")]
    assert "surrogates='shift'" in words(alarm)
    assert max(map(len, result.stdout.splitlines())) <= 100
    assert any("day" in alarm for alarm in read_json(Path("r.json"))["warnings"])
    assert words(result.output).count("trictly increasing or decreasing") == 1
    piped = select(table, "--target", "y", "--json", "-")
    assert json.loads(piped.stdout)["warnings"]
    assert "Warning: day" in piped.stderr


def test_warnings_of_the_library_are_notes(table):
    mass, person = [f"{i + 0.5} kg" for i in range(120)], [f"no {i}" for i in range(120)]
    result = select(write(table, {**made(), "mass": mass, "id": person}), "--target", "y")
    assert result.exit_code == 0, result.output
    notes = [line for line in result.stderr.splitlines() if line.startswith("Note: ")]
    assert sorted(("'mass'" in note, " kg'" in note, "'id'" in note) for note in notes) == [
        (False, False, True),
        (True, True, False),
    ]
    assert "--feature-types id=nominal" in result.stderr
    assert "UserWarning" not in result.stderr
    assert "mass was skipped: numbers stored as text" in words(result.stdout)
    assert "id was skipped" in words(result.stdout)


def test_how_surrogates_and_searches_are_made(table):
    result = select(
        *(table, "--target", "y", "--surrogates", "global, local", "--backward", "none"),
        *("--max-conditioning", "1", "--n-random-starts", "2", "--alpha", "0.6"),
        *("--lookahead", "3", "--json", "r.json"),
    )
    assert result.exit_code == 0, result.output
    found = read_json(Path("r.json"))["settings"]
    assert (found["surrogates"], found["lookahead"]) == (["global", "local"], 3)
    assert (found["backward"], found["max_conditioning"], found["n_random_starts"]) == (None, 1, 2)


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


@pytest.mark.parametrize("name", ["t.tsv", "t.csv.gz", "t.parquet"])
def test_other_formats(name, tmp_path, monkeypatch):
    from pidselect.data.files import write_columns

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
        [sys.executable, "-m", "pidselect", "select", table, "--target", "y", *QUICK],
        capture_output=True,
        encoding="cp1252",
        check=True,
        env={**os.environ, "TERM": "xterm-256color", "PYTHONIOENCODING": "cp1252"},
        timeout=300,
    )
    assert ESCAPE not in said.stdout + said.stderr
    assert r"größe \u03bb" in said.stderr
    assert r"größe \u03bb" in said.stdout


def test_defaults_are_those_of_the_selector():
    """Except for the seed and the number of threads, whose defaults the help shows."""
    table = TableOptions(table=Path("table.csv"), target=["y"])
    typed = make_selector(SelectionOptions(), table).get_params(deep=False)
    default = PIDSelector(random_state=0, n_jobs=-1).get_params(deep=False)
    assert typed == default
    assert make_selector(SelectionOptions(max_samples="all"), table).max_samples is None


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        (["--paper"], {}),
        (["--n-permutations", "19", "--paper"], {"n_permutations": 19}),
        (
            ["--paper", "--backward", "maximum", "--max-samples", "auto", "--estimator", "mixed"],
            {"backward": "maximum", "max_samples": "auto", "estimator": "mixed"},
        ),
    ],
)
def test_the_settings_of_the_paper(table, monkeypatch, options, changed):
    """Options override them, also by a value that is the default without them."""
    found = []

    def compute(call, roles, selector):
        found.append(selector.get_params())
        raise typer.Exit

    monkeypatch.setattr("pidselect.cli.run._compute", compute)
    result = call("select", table, "--target", "y", *options)
    assert result.exit_code == 0, result.output
    assert found == [PIDSelector.paper(random_state=0, n_jobs=-1, **changed).get_params()]


def test_the_settings_of_the_paper_in_a_record(table):
    options = ("--drop", "colour", "--paper", "--n-permutations", "39", "--quiet", "--json", "-")
    settings = json.loads(call("select", table, "--target", "y", *options).stdout)["settings"]
    expected = {"estimator": "KSG()", "surrogates": ["global"], "shared_permutations": False}
    assert {name: settings[name] for name in expected} == expected
    refused = call("select", table, "--target", "y", "--paper")
    assert refused.exit_code == 2
    assert all(word in refused.stderr for word in ("'colour'", "nominal", "mixed"))


@pytest.mark.parametrize("wanted", ["auto", "all", "110"])
def test_many_rows(table, monkeypatch, wanted):
    """A note and the result say how many rows nearest neighbours use, unless a number is given."""
    monkeypatch.setattr("pidselect.selection.rows.MAX_ROWS", 100)
    monkeypatch.setattr("pidselect.selection.rows.NEIGHBOUR_ROWS", 60)
    level = logging.getLogger("pidselect").level
    few = ("--estimator", "mixed-rank", "--n-permutations", "19", "--n-jobs", "1")
    result = call("select", table, "--target", "y", "--max-samples", wanted, *few)
    assert result.exit_code == 0, result.output
    is_limited = wanted == "auto"
    assert ("a random 60 of 120 rows" in words(result.stdout)) == is_limited
    notes = [line for line in result.stderr.splitlines() if line.startswith("Note: ")]
    assert any("max_samples=None" in note for note in notes) == is_limited
    assert logging.getLogger("pidselect").level == level
