"""Reproducing from the command line: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pidselect import __version__
from pidselect.cli import app
from pidselect.experiments.registry import EXPERIMENTS

sys.path.append(str(Path(__file__).parents[1] / "experiments"))
import coins


@pytest.fixture
def known_coins(monkeypatch):
    monkeypatch.setitem(EXPERIMENTS, "coins", "coins, tossed")
    monkeypatch.setitem(sys.modules, "pidselect.experiments.coins", coins)


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def run(*arguments: object):
    return CliRunner().invoke(app, ["reproduce", "--jobs", "1", *map(str, arguments)])


def numbers(out: Path) -> dict:
    return json.loads((out / "numbers.json").read_text(encoding="utf-8"))


def test_version():
    result = CliRunner().invoke(app, ["--version"])
    assert (result.exit_code, result.output) == (0, f"pidselect {__version__}\n")


def test_the_help_has_examples():
    result = CliRunner().invoke(app, ["reproduce", "--help"])
    assert result.exit_code == 0
    lines = [line.strip() for line in result.output.splitlines()]
    assert "pidselect reproduce --quick" in lines
    assert "\\b" not in lines
    assert all(name in result.output for name in ("friedman", "--resume", "--only", "--runs"))


def test_experiments_and_parts_are_listed(known_coins, out):
    result = run("coins", "--list", "--out", out)
    assert (result.exit_code, result.output.splitlines()) == (
        0,
        [
            "coins: coins, tossed",
            "  coins/toss: 50 runs, about 5 s on one core",
            "  coins/throw: 1 run, about 1 s on one core",
        ],
    )
    assert not out.exists()


def test_page_and_numbers_are_written(known_coins, out):
    result = run("coins", "--out", out)
    assert result.exit_code == 0, result.output
    assert "numbers compared: 1 agrees, 1 differs" in result.output
    assert "statements checked: 1 agrees" in result.output
    assert "51 of 51 runs, drawing the page" in result.output
    assert f"page: {out / 'index.html'}" in result.output
    assert {path.name for path in out.iterdir()} == {
        "index.html",
        "numbers.csv",
        "numbers.json",
        "runs",
    }
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "The bent coin shows heads more often." in page
    assert "Heads &lt;b&gt;" in page
    assert "Heads <b>" not in page
    assert numbers(out)["command"] == "pidselect reproduce coins"


def test_what_was_run_is_not_run_again(known_coins, out):
    assert run("--only", "coins/toss", "--quick", "--out", out).exit_code == 0
    assert len((out / "runs" / "coins.jsonl").read_text().splitlines()) == 3
    refused = run("coins", "--out", out)
    assert refused.exit_code == 2
    assert "Give --resume to go on" in refused.output
    assert run("coins", "--runs", 16, "--resume", "--out", out).exit_code == 0
    lines = (out / "runs" / "coins.jsonl").read_text().splitlines()
    assert len(lines) == 9
    assert len({(r["part"], str(r["point"]), r["seed"]) for r in map(json.loads, lines)}) == 9


def test_other_seeds_are_not_mixed_in(known_coins, out):
    assert run("coins", "--quick", "--seed", "7", "--out", out).exit_code == 0
    refused = run("coins", "--quick", "--resume", "--out", out)
    assert refused.exit_code == 2
    assert "Give --seed 7 to go on" in refused.output
    assert run("coins", "--quick", "--seed", "7", "--resume", "--out", out).exit_code == 0


def test_runs_from_an_environment_that_nobody_wrote_down(known_coins, out):
    assert run("coins", "--quick", "--out", out).exit_code == 0
    lines = out / "runs" / "coins.jsonl"
    here = json.loads(lines.read_text().splitlines()[0])["environment"]
    lines.write_text(lines.read_text().replace(here, "elsewhere"))
    (out / "runs" / "environments.json").unlink()
    assert run("coins", "--quick", "--resume", "--out", out).exit_code == 0
    assert [found["id"] for found in numbers(out)["environments"]] == ["elsewhere"]


def test_redrawing_needs_no_run(known_coins, out):
    assert run("coins", "--out", out).exit_code == 0
    page = (out / "index.html").read_bytes()
    (out / "index.html").unlink()
    for path in (out / "runs").iterdir():
        path.unlink()
    assert run("--redraw", "--out", out).exit_code == 0
    assert (out / "index.html").read_bytes() == page


def test_quiet_says_nothing_of_progress(known_coins, out):
    assert "runs" not in run("coins", "--quiet", "--out", out).output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["freedman"], "There is no experiment 'freedman'; did you mean 'friedman'?"),
        (["toy/select"], "has no part 'select'; did you mean 'selection'?"),
        (
            ["--device", "gpu"],
            "--device gpu is unknown; did you mean 'cpu'? Known are 'cpu', 'cuda'",
        ),
        (["--redraw"], "to draw from. Leave out --redraw."),
        (["--runs", "0"], "Invalid value for '--runs'"),
        (["lattice", "--jobs", "0"], "Invalid value for '--jobs'"),
    ],
)
def test_wrong_calls(arguments, said, out):
    result = run(*arguments, "--out", out)
    assert result.exit_code == 2
    assert said in " ".join(result.output.replace("│", "").split())


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").touch()
    result = run("lattice", "--out", tmp_path / "file")
    assert result.exit_code == 2
    assert result.output.startswith("Error: Not a directory: ")
    assert len(result.output.splitlines()) == 1


def test_a_library_that_is_not_there(out, monkeypatch):
    monkeypatch.delitem(sys.modules, "pidselect.experiments.reproduction", raising=False)
    for name in ("pidselect.report.page", "pidselect.report.html"):
        monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.delattr(name, raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = run("lattice", "--out", out)
    assert result.exit_code == 1
    assert result.output == "Error: making a page needs jinja2: pip install 'pidselect[cli]'\n"
    assert not out.exists()


def test_numbers_that_are_none(out):
    out.mkdir()
    for text in ("{", "{}"):
        (out / "numbers.json").write_text(text)
        result = run("--redraw", "--out", out)
        assert result.exit_code == 2
        assert "numbers.json' cannot be drawn from" in result.output


def test_the_package_is_the_command():
    said = subprocess.run(
        [sys.executable, "-m", "pidselect", "--version"], check=True, capture_output=True, text=True
    )
    assert said.stdout == f"pidselect {__version__}\n"


def test_a_run_without_a_number_is_named(known_coins, out, monkeypatch):
    bad = replace(coins.TOSS, run=coins.no_number)
    monkeypatch.setattr(coins, "EXPERIMENT", replace(coins.EXPERIMENT, parts=[bad]))
    result = run("coins", "--out", out)
    assert result.exit_code == 1
    assert result.exception.__notes__ == ["This was coins/toss(coin=fair), seed 0."]


def test_a_run_that_fails_is_no_wrong_call(known_coins, out, monkeypatch):
    bad = replace(coins.TOSS, run=coins.fail)
    monkeypatch.setattr(coins, "EXPERIMENT", replace(coins.EXPERIMENT, parts=[bad]))
    result = run("coins", "--out", out)
    assert result.exit_code == 1
    assert "under the table" in str(result.exception)


PARTS = ("redundancy/sampled", "redundancy/selection", "--runs", "30")


def going(out: Path) -> subprocess.Popen[str]:
    """Begin, or go on, with two processes beside."""
    arguments = ["reproduce", *PARTS, "--jobs", "2", "--out", str(out), "--resume"]
    return subprocess.Popen(
        [sys.executable, "-m", "pidselect", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def end(process: subprocess.Popen[str], how: signal.Signals, lines: Path) -> str:
    """End what goes on as soon as it has written another run, and return what it said."""
    before = lines.stat().st_size if lines.exists() else 0
    while (lines.stat().st_size if lines.exists() else 0) == before and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(how)
    process.wait(timeout=60)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # workers outlive a killed process for a while
    return process.communicate(timeout=60)[1]


def found(out: Path) -> object:
    """Return all that was found, without what depends on the moment."""
    summary = numbers(out)
    for one in summary["experiments"]:
        for part in one["parts"]:
            part.pop("seconds")
    return summary["experiments"]


def test_what_was_ended_goes_on(out, tmp_path):
    """Killed, then stopped by Ctrl-C, it goes on to what an undisturbed reproduction finds."""
    lines = out / "runs" / "redundancy.jsonl"
    end(going(out), signal.SIGKILL, lines)
    stopped = going(out)
    said = end(stopped, signal.SIGINT, lines)
    assert stopped.returncode == 130, said
    assert f"redundancy/selection --runs 30 --out {out} --resume" in said
    assert not (out / "numbers.json").exists()
    assert run(*PARTS, "--out", out, "--resume").exit_code == 0
    assert run(*PARTS, "--out", tmp_path / "undisturbed").exit_code == 0
    assert found(out) == found(tmp_path / "undisturbed")
