"""Selecting from the command line: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import gzip
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from calling import ESCAPE, QUICK, call, made, read_json, words, write

from pidselect import PIDSelector


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write(Path("made.csv"), made())


def select(*arguments: object):
    return call("select", *arguments, *QUICK)


def names_of(path: Path) -> list[str]:
    return [one["name"] for one in read_json(path)["selected"]]


def test_the_selection_is_printed_and_nothing_is_left_behind(table):
    result = select(table, "--target", "y")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["length", "width"]
    assert "length_mm says the same as length and was left out." in lines
    assert "planet was skipped: constant." in lines
    assert "forward: length" in result.stderr
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
    assert summary["about"]["source"] == "made.csv"
    assert summary["about"]["command"].startswith("pidselect select made.csv --target y ")
    assert "length" in result.stderr
    assert select(table, "--target", "y", "--json", "-", "--quiet").stderr == ""


def test_all_files_are_written(table):
    options = ("--json", "r.json", "--report", "r.html", "--output", "small.tsv")
    result = select(table, "--target", "y", *options)
    assert result.exit_code == 0, result.output
    places = ["Report: r.html", "Record: r.json", "Reduced table of 3 columns: small.tsv"]
    assert result.stdout.splitlines()[-3:] == places
    small = [line.split("\t") for line in Path("small.tsv").read_text().splitlines()]
    columns = made()
    assert small[0] == ["length", "width", "y"]
    assert [float(row[2]) for row in small[1:]] == columns["y"]
    page = Path("r.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "length_mm" in page
    assert any(one["unique"] is not None for one in read_json(Path("r.json"))["features"])


def test_the_same_call_gives_the_same_result(table):
    for name in ("a.json", "b.json"):
        assert select(table, "--target", "y", "--quiet", "--json", name).exit_code == 0
    assert read_json(Path("a.json"))["selection"] == read_json(Path("b.json"))["selection"]
    assert read_json(Path("a.json"))["settings"]["seed"] == 0


def test_columns_take_the_parts_that_options_give_them(table):
    result = select(
        *(table, "--target", "y", "--drop", "length_mm,planet", "--keep", "noise"),
        *("--feature-groups", "size=length,width", "--kinds", "colour=nominal", "--json", "r.json"),
    )
    assert result.exit_code == 0, result.output
    assert names_of(Path("r.json")) == ["noise", "size"]
    summary = read_json(Path("r.json"))
    assert summary["about"]["kinds"]["colour"] == "nominal"
    assert "planet" not in summary["about"]["kinds"]


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
    assert "person" not in summary["about"]["kinds"]
    assert summary["about"]["target"] == "y and noise"


@pytest.mark.parametrize("kind", ["ordinal", "nominal", "continuous"])
def test_the_kind_of_the_target_can_be_stated(table, kind):
    write(table, {**made(), "grade": [round(y) for y in made()["y"]]})
    result = select(table, "--target", "grade", "--kinds", f"grade={kind}", "--json", "r.json")
    assert result.exit_code == 0, result.output
    assert read_json(Path("r.json"))["settings"]["target"] == kind


def test_the_command_is_written_down_as_it_can_be_typed(table):
    Path("made.csv").rename("-my table.csv")
    options = ("--target", "y", "--drop", "noise", "--drop", "colour", "--seed", "7", "-q")
    result = call(
        "select",
        *options,
        "--json",
        "r.json",
        *QUICK[:4],
        "--jobs",
        "-1",
        "--",
        *("-my table.csv",),
    )
    assert result.exit_code == 0, result.output
    typed = shlex.split(read_json(Path("r.json"))["about"]["command"])
    assert typed[:3] == ["pidselect", "select", "./-my table.csv"]
    assert {"--jobs=-1", "--quiet", "--seed"} <= set(typed)
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
    assert "was left out" not in result.stdout


def test_stability_is_told(table):
    result = select(table, "--target", "y", "--stability", "4", "--json", "r.json")
    assert result.exit_code == 0, result.output
    assert "4 subsamples of 50 % of the rows" in result.stdout
    assert read_json(Path("r.json"))["stability"]["frequencies"]["length"] == 1.0


def test_nothing_selected_is_no_failure(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    write(Path("t.csv"), {"a": rng.normal(size=50).tolist(), "y": rng.normal(size=50).tolist()})
    result = select("t.csv", "--target", "y", "--output", "small.csv")
    assert result.exit_code == 0, result.output
    assert "(nothing selected)" in result.stdout
    assert "--feature-groups or --lookahead 2" in words(result.stdout)
    assert Path("small.csv").read_text().startswith("y\n")
    assert "No feature" not in result.stderr


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
    assert "Note: skipped columns where nearly every row has its own text" in result.stderr
    assert "--kinds 'id=nominal' keeps them" in result.stderr
    assert "UserWarning" not in result.stderr
    assert "id was skipped: identifier: 120 different texts in 120 rows." in result.stdout


@pytest.mark.parametrize("name", ["t.tsv", "t.jsonl", "t.csv.gz", "t.parquet", "t.feather"])
def test_other_formats(name, tmp_path, monkeypatch):
    from pidselect.data.writing import write_columns

    monkeypatch.chdir(tmp_path)
    columns = made()
    write_columns(write(Path("made.csv"), columns), name, list(columns))
    result = select(name, "--target", "y", "--quiet", "--json", "r.json")
    assert result.exit_code == 0, result.output
    assert names_of(Path("r.json")) == ["length", "width"]


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
    assert "--encoding latin-1" in wrong.stderr
    result = select(
        *("t.csv.gz", "--target", "y", *options, "--na", "fehlt", "--missing", "drop"),
        *("--drop", "length_mm", "--json", "r.json"),
    )
    assert result.exit_code == 0, result.output
    assert names_of(Path("r.json")) == ["größe", "width"]
    assert "119 of 120 rows were used." in result.stdout


# ---------------------------------------------------------------------------- wrong calls


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
        (["--target", "y", "--missing", "dorp"], "did you mean 'drop'?"),
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
        (["--target", "y", "--json", "a", "--report", "a"], "the file of --json, too"),
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


# ------------------------------------------------------------- what the world does to output


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


def test_what_is_piped_has_no_escape_codes(table):
    said = subprocess.run(
        [sys.executable, "-m", "pidselect", "select", table, "--target", "y", *QUICK],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    assert ESCAPE not in said.stdout + said.stderr
    assert "forward: length" in said.stderr
    assert said.stdout.splitlines()[1].startswith("length")


# --------------------------------------------------------------------------- going on


@pytest.fixture
def stopped(table, monkeypatch):
    """A run that was stopped by Ctrl-C as its second step began."""
    from pidselect.cli.progress import Progress

    begins = Progress.begins

    def stop(self, stage):
        begins(self, stage)
        if stage.step == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Progress, "begins", stop)
        result = select(table, "--target", "y", "--quiet", "--json", "part.json")
    assert result.exit_code == 130, result.output
    return result


def test_a_stopped_run_leaves_what_it_knows_and_says_how_to_go_on(stopped):
    assert stopped.stdout.splitlines()[1].startswith("length")
    summary = read_json(Path("part.json"))
    assert summary["is_complete"] is False
    assert [one["name"] for one in summary["selected"]] == ["length"]
    typed = stopped.stderr.splitlines()[-1].strip()
    expected = f"pidselect select made.csv --target y {' '.join(QUICK)} --json part.json --quiet"
    assert sorted(typed.split()) == sorted(f"{expected} --resume".split())
    assert Path("made.csv.pidselect-run.json").exists()


def test_a_stopped_run_goes_on_only_if_asked(table, stopped):
    refused = select(table, "--target", "y")
    assert refused.exit_code == 2
    assert "Give --resume to go on from there, or --restart" in refused.stderr
    going_on = select(table, "--target", "y", "--resume", "--quiet", "--json", "resumed.json")
    assert going_on.exit_code == 0, going_on.output
    assert not Path("made.csv.pidselect-run.json").exists()
    assert select(table, "--target", "y", "--quiet", "--json", "whole.json").exit_code == 0
    resumed, whole = (read_json(Path(name)) for name in ("resumed.json", "whole.json"))
    assert resumed["selection"] == whole["selection"]


def test_stopped_while_features_are_taken_apart(table, monkeypatch):
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(PIDSelector, "explain", stop)
        result = call("explain", table, "--target", "y", *QUICK, "--json", "part.json")
    assert result.exit_code == 130
    assert "The selection is finished, what follows it is not" in result.stderr
    assert "pidselect explain made.csv" in result.stderr
    assert result.stdout.splitlines()[1].startswith("length")
    assert read_json(Path("part.json"))["is_complete"] is False
    going_on = call("explain", table, "--target", "y", *QUICK, "--resume")
    assert going_on.exit_code == 0, going_on.output
    assert "forward:" in going_on.stderr


def test_stopped_before_anything_is_known(table, monkeypatch):
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pidselect.cli.running.read_data", stop)
    result = select(table, "--target", "y", "--quiet")
    assert (result.exit_code, result.stderr) == (130, "\nStopped.\n")


def test_a_stopped_run_can_be_forgotten(table, stopped):
    result = select(table, "--target", "y", "--restart", "--alpha", "0.1")
    assert result.exit_code == 0, result.output
    assert not Path("made.csv.pidselect-run.json").exists()


def test_another_call_does_not_go_on_from_it(table, stopped):
    result = select(table, "--target", "y", "--resume", "--alpha", "0.1")
    assert result.exit_code == 2
    assert "is of another fit: alpha was 0.05 and is 0.1" in result.stderr


def test_a_file_that_is_no_checkpoint_is_left_alone(table):
    Path("notes.txt").write_text("mine")
    result = select(table, "--target", "y", "--checkpoint", "notes.txt", "--restart")
    assert result.exit_code == 2
    assert Path("notes.txt").read_text() == "mine"


def test_a_named_checkpoint_stays(table):
    options = (table, "--target", "y", "--quiet", "--checkpoint", "run.json")
    first = select(*options)
    assert first.exit_code == 0, first.output
    assert select(*options).exit_code == 2
    again = select(*options, "--resume")
    assert (again.exit_code, again.stdout) == (0, first.stdout)


def test_a_folder_that_cannot_be_written_to(table, monkeypatch):
    monkeypatch.setattr("pidselect.cli.resuming.can_write", lambda folder: False)
    result = select(table, "--target", "y")
    assert result.exit_code == 0, result.output
    assert "Note: nothing can be written in" in result.stderr


def test_nothing_to_go_on_from(table):
    result = select(table, "--target", "y", "--resume")
    assert result.exit_code == 0, result.output
    assert "there is nothing to go on from" in result.stderr
