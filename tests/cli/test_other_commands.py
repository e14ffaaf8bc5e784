"""The demo, what is installed, help and completion."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from calling import call, made, words, write

from pidselect.data import Table
from pidselect.jit import is_compiled

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
    seen = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pidselect.jit.is_compiled", lambda package: True)
    monkeypatch.setattr("pidselect.cli.run.run", lambda call, text: seen.append(call))
    assert call("demo").exit_code == 0
    assert seen[0].source == "island.csv"
    assert seen[0].table.table != Path("island.csv")
    assert call("demo", "--table", "mine.csv").exit_code == 0
    assert seen[1].source == "mine.csv"


def test_the_demo_compiles_kernels_of_explanations_beside_the_selection(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("pidselect.jit.is_compiled", lambda package: False)
        patch.setattr("pidselect.cli.run.run", lambda call, text: None)
        patch.setattr("subprocess.Popen", started := MagicMock())
        assert call("demo", "--quiet").exit_code == 0
    python, option, code = started.call_args.args[0]
    assert (python, option) == (sys.executable, "-c")
    exec(code, {})
    assert is_compiled("decomposition")


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


@pytest.mark.parametrize("option", ["--target", "--drop", "--fixed-features"])
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
    from pidselect import names
    from pidselect.decomposition.measures import MEASURES
    from pidselect.decomposition.samples import CONTINUOUS
    from pidselect.estimators import ESTIMATORS
    from pidselect.selection.criteria import CRITERIA
    from pidselect.significance import SURROGATES

    assert tuple(CRITERIA) == names.CRITERION_NAMES
    assert tuple(ESTIMATORS) == names.ESTIMATOR_NAMES
    assert tuple(SURROGATES) == names.SURROGATE_NAMES
    assert tuple(MEASURES) == names.MEASURE_NAMES
    assert tuple(CONTINUOUS) == names.CONTINUOUS_MEASURE_NAMES


def test_completion_never_fails(tmp_path):
    (tmp_path / "broken.csv").write_bytes(b"\x00\xff\n")
    assert complete(tmp_path, "pidselect select broken.csv --target a") == []
    assert complete(tmp_path, "pidselect select nothing.csv --target a") == []
    assert complete(tmp_path, "pidselect select --target a") == []


def test_commands_import_late():
    """Help, version and completion load no compiled code."""
    code = "import sys, pidselect.cli; print([m for m in sys.modules if m in sys.argv])"
    heavy = ["numpy", "numba", "sklearn", "pandas", "matplotlib", "jinja2", "rich.progress"]
    said = subprocess.run(
        [sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True
    )
    assert said.stdout == "[]\n"
