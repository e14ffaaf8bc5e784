"""The demo, what is installed, help and completion."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from calling import call, words
from typer.testing import CliRunner

from pidselect.cli import app
from pidselect.data import Table

COMMANDS = ("select", "explain", "decompose", "demo")


class NoPandas:
    """Finds no pandas, as if it were not installed."""

    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(name)


def test_the_demo_shows_a_selection_and_writes_a_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "pandas", raising=False)  # it must not be needed
    monkeypatch.setattr(sys, "meta_path", [NoPandas(), *sys.meta_path])
    result = call("demo", "--table", "island.csv")
    assert result.exit_code == 0, result.output
    assert "beyond the other selected features" in words(result.stdout)
    assert "pidselect-demo.html" in result.stdout
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
    typed = "pidselect demo --table island.csv"
    assert typed in Path("pidselect-demo.html").read_text(encoding="utf-8")


def test_the_demo_names_its_table_without_a_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pidselect.cli.demo.run", run := MagicMock())
    run.return_value.explanation = None
    assert call("demo").exit_code == 0
    (seen,) = run.call_args.args
    assert seen.source == "island.csv"
    assert seen.table.table != Path("island.csv")
    assert call("demo", "--table", "mine.csv").exit_code == 0
    assert run.call_args.args[0].source == "mine.csv"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_examples(name):
    result = call(name, "--help")
    assert result.exit_code == 0
    lines = [line.strip() for line in result.output.splitlines()]
    assert "Examples:" in lines
    assert any(line.startswith(f"pidselect {name}") for line in lines)
    assert "\\b" not in result.output


def test_all_commands_are_listed():
    result = call("--help")
    assert all(name in result.output for name in COMMANDS)


def complete(line: str) -> list[str]:
    """Return what bash would be offered at the end of a line."""
    typed = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    runner = CliRunner(env={"_PIDSELECT_COMPLETE": "complete_bash", **typed})
    result = runner.invoke(app, [], prog_name="pidselect")
    assert result.stderr == ""
    return result.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("select made.csv --target len", ["length", "length_mm"]),
        ("select made.csv --drop len", ["length", "length_mm"]),
        ("select made.csv --fixed-features len", ["length", "length_mm"]),
        ("decompose made.csv --source wid", ["width"]),
        ("select made.csv --missing d", ["drop"]),
        ("select made.csv --device cu", ["cuda"]),
        ("explain made.csv --measure b", ["broja"]),
        ("decompose made.csv --unit n", ["nat"]),
        ("select made.csv --criterion mi", ["mi", "mim", "mifs"]),
        ("select made.csv --estimator mix", ["mixed", "mixed-rank"]),
        ("select made.csv --surrogates global,re", ["global,residual"]),
        ("select broken.csv --target a", []),
        ("select nothing.csv --target a", []),
        ("select --target a", []),
    ],
)
def test_columns_and_names_are_completed(table, line, offered):
    Path("broken.csv").write_bytes(b"\x00\xff\n")
    assert complete(f"pidselect {line}") == offered


def test_names_are_those_of_the_library():
    from pidselect import names
    from pidselect.decomposition.measures import MEASURES
    from pidselect.decomposition.samples import CONTINUOUS
    from pidselect.estimators import ESTIMATORS
    from pidselect.estimators.registry import BY_TYPES
    from pidselect.selection.criteria import CRITERIA
    from pidselect.significance.surrogates import SURROGATES

    assert tuple(CRITERIA) == names.CRITERION_NAMES
    assert tuple(BY_TYPES) == names.BY_TYPES_NAMES
    assert tuple(ESTIMATORS) == names.ESTIMATOR_NAMES
    assert tuple(SURROGATES) == names.SURROGATE_NAMES
    assert tuple(MEASURES) == names.MEASURE_NAMES
    assert tuple(CONTINUOUS) == names.CONTINUOUS_MEASURE_NAMES


def test_commands_import_late():
    """Help, version and completion load no compiled code."""
    code = "import sys, pidselect.cli; print([m for m in sys.modules if m in sys.argv])"
    heavy = ["numpy", "numba", "sklearn", "pandas", "matplotlib", "jinja2", "rich.progress"]
    said = subprocess.run(
        [sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True, timeout=60
    )
    assert said.stdout == "[]\n"
