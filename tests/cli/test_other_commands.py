"""The demo, what is installed, help and completion."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from calling import QUICK, call, made, words, write

from pidselect import __version__
from pidselect.cli import info
from pidselect.data import Table

COMMANDS = ("select", "explain", "decompose", "demo", "info")


def test_the_demo_shows_a_selection_and_writes_a_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pidselect.cli.demo.N_DAYS", 100)
    monkeypatch.setattr("pidselect.cli.demo.N_DRAWS", 20)
    monkeypatch.setitem(sys.modules, "pandas", None)  # it must not be needed
    result = call("demo", "--table", "island.csv")
    assert result.exit_code == 0, result.output
    assert "What makes people on an island ride" in result.stdout
    assert "temperature says the same as temperature_fahrenheit" in result.stdout
    assert "is strongly relevant: it tells" in words(result.stdout)
    assert "Report: pidselect-demo.html" in result.stdout
    assert "pidselect select TABLE.csv --target COLUMN" in result.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"island.csv", "pidselect-demo.html"}
    feature_types = dict(
        zip((table := Table.open("island.csv")).names, table.feature_types, strict=True)
    )
    assert (feature_types["holiday"], feature_types["captain"]) == ("nominal", "nominal")
    assert (feature_types["temperature"], feature_types["seagulls_counted"]) == (
        "continuous",
        "ordinal",
    )
    typed = "pidselect demo --report pidselect-demo.html --table island.csv"
    assert typed in Path("pidselect-demo.html").read_text(encoding="utf-8")


def test_the_demo_does_not_speak_of_where_its_table_lies(tmp_path, monkeypatch):
    seen = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pidselect.cli.demo.N_DAYS", 20)
    monkeypatch.setattr("pidselect.cli.demo.run", lambda call, text: seen.append(call))
    assert call("demo").exit_code == 0
    assert seen[0].source == "island.csv"
    assert seen[0].table.table != Path("island.csv")
    assert call("demo", "--table", "mine.csv").exit_code == 0
    assert seen[1].source == "mine.csv"


def test_info_for_people_and_for_programs():
    result = call("info")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0].split() == ["pidselect", __version__]
    found = json.loads(call("info", "--json", "-").stdout)
    assert found["libraries"]["numpy"] in result.stdout
    assert found["threads"] >= 1


def test_info_of_what_is_not_there(monkeypatch):
    def gone(name: str) -> str:
        raise info.PackageNotFoundError(name)

    def no_driver() -> None:
        raise OSError("the driver is broken")

    monkeypatch.setattr(info, "version", gone)
    monkeypatch.setattr("pidselect.estimators.cuda.scorer.scorer.cuda", no_driver)
    result = call("info")
    assert result.exit_code == 0, result.output
    assert "not installed (pip install 'pidselect[arrow]')" in result.stdout
    assert "none (the driver is broken)" in result.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_examples(name):
    result = call(name, "--help")
    assert result.exit_code == 0
    lines = [line.strip() for line in result.output.splitlines()]
    assert "Examples:" in lines
    assert any(line.startswith(f"pidselect {name}") for line in lines)
    assert "\\b" not in result.output


def test_a_bar_of_unknown_length_shows_no_share():
    from rich.console import Console
    from rich.progress import Progress

    from pidselect.cli.progress import Bar
    from pidselect.selection.callbacks import Stage

    with Progress(console=Console(file=io.StringIO())) as shown:
        bar = Bar(shown)
        bar.begins(Stage("forward", 1, 3, 60, True))
        bar.advances(30)
        assert [(task.total, task.completed) for task in shown.tasks] == [(60, 30)]
        bar.begins(Stage("atoms", 2, 3, 3, True))
        assert [(task.total, task.completed) for task in shown.tasks] == [(None, 0)]
        assert shown.tasks[0].description == "taking features apart"


def test_all_commands_are_listed():
    result = call("--help")
    assert all(name in result.output for name in COMMANDS)


def complete(folder: Path, line: str) -> list[str]:
    """Return what bash would be offered at the end of a line."""
    typed = line.split(" ")
    said = subprocess.run(
        [sys.executable, "-c", "from pidselect.cli import app; app(prog_name='pidselect')"],
        env={
            **os.environ,
            "_PIDSELECT_COMPLETE": "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(typed) - 1),
        },
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.stderr == ""
    return said.stdout.split()


@pytest.mark.parametrize("option", ["--target", "--drop", "--keep"])
def test_columns_are_completed(tmp_path, option):
    write(tmp_path / "made.csv", made())
    assert complete(tmp_path, f"pidselect select made.csv {option} len") == ["length", "length_mm"]


def test_sources_are_completed(tmp_path):
    write(tmp_path / "made.csv", made())
    assert complete(tmp_path, "pidselect decompose made.csv --source wid") == ["width"]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("select made.csv --missing d", ["drop"]),
        ("select made.csv --device cu", ["cuda"]),
        ("explain made.csv --measure b", ["broja"]),
        ("decompose made.csv --unit n", ["nat"]),
        ("select made.csv --criterion mi", ["mi", "mim", "mifs"]),
        ("select made.csv --estimator mix", ["mixed", "mixed-rank"]),
        ("select made.csv --estimator ksg,co", ["ksg,copula"]),
    ],
)
def test_names_are_completed(tmp_path, line, offered):
    assert complete(tmp_path, f"pidselect {line}") == offered


def test_names_are_those_of_the_library():
    from pidselect.cli import choices
    from pidselect.decomposition.decompose import CONTINUOUS
    from pidselect.decomposition.measures import MEASURES
    from pidselect.estimators import ESTIMATORS
    from pidselect.selection.criteria import CRITERIA
    from pidselect.significance import SURROGATES

    assert set(choices.CRITERIA) == set(CRITERIA)
    assert ("auto", *ESTIMATORS) == choices.ESTIMATORS
    assert set(choices.SCHEMES) == set(SURROGATES)
    assert set(choices.MEASURES) == set(MEASURES)
    assert set(choices.CONTINUOUS) == set(CONTINUOUS)


def test_completion_never_fails(tmp_path):
    (tmp_path / "broken.csv").write_bytes(b"\x00\xff\n")
    assert complete(tmp_path, "pidselect select broken.csv --target a") == []
    assert complete(tmp_path, "pidselect select nothing.csv --target a") == []
    assert complete(tmp_path, "pidselect select --target a") == []


def test_commands_import_late():
    """Help and version come at once: nothing heavy is loaded before it is needed."""
    code = "import sys, pidselect.cli; print([m for m in sys.modules if m in sys.argv])"
    heavy = ["numba", "sklearn", "pandas", "matplotlib", "jinja2", "rich.progress"]
    said = subprocess.run(
        [sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True
    )
    assert said.stdout == "[]\n"


def test_without_a_terminal_lines_come_now_and_then(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(Path("made.csv"), made())
    monkeypatch.setattr("pidselect.cli.progress.BETWEEN_LINES", 0.0)
    result = call("select", "made.csv", "--target", "y", *QUICK)
    assert result.exit_code == 0, result.output
    assert "step 1, 4 candidates, 0 features so far: 100 %" in result.stderr
    assert "testing 2 features so far once more" in result.stderr
