"""The command line in a real terminal: bar, Ctrl-C, resuming, and errors."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest
from calling import ESCAPE, QUICK, Terminal, call, made, read_json, screen, words, write

#: Slow enough to be interrupted: each step has thousands of values.
SLOW = ("--estimator", "ksg", "--n-permutations", "2000", "--max-features", "2", "--n-jobs", "1")


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "made.csv", made())
    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.normal(size=250).round(4) for i in range(5)}
    y = columns["x1"] + 0.7 * columns["x3"] + 0.5 * rng.normal(size=250)
    write(tmp_path / "slow.csv", {**columns, "y": y.round(4)})
    return tmp_path


def test_ctrl_c_leaves_a_partial_result_and_the_command_to_resume(folder, monkeypatch):
    saved = ["--checkpoint", "run.state"]
    arguments = ["select", "slow.csv", "--target", "y", *SLOW, *saved, "--json", "part.json"]
    terminal = Terminal(arguments, folder)
    terminal.until("step 2, forward: 4 candidates, 1 selected")
    assert "━" in terminal.said  # the bar
    assert "%" in terminal.said
    terminal.child.sendintr()
    assert terminal.ended() == 130
    assert "Interrupted." in terminal.text
    part = read_json(folder / "part.json")
    assert part["is_complete"] is False
    assert [one["name"] for one in part["selected"]] == ["x1"]

    command = shlex.split(words(terminal.text[terminal.text.rindex("pidselect select") :]))
    assert command[:3] == ["pidselect", "select", "slow.csv"]
    monkeypatch.chdir(folder)
    assert call(*command[1:]).exit_code == 0
    resumed = read_json(folder / "part.json")
    (folder / "run.state").unlink()
    assert call(*arguments[:-1], "whole.json").exit_code == 0
    whole = read_json(folder / "whole.json")
    assert resumed["is_complete"] is True
    assert resumed["selection"] == whole["selection"]
    assert [one["name"] for one in whole["selected"]] == ["x1", "x3"]


def test_ctrl_c_leaves_nothing_of_the_bar(tmp_path):
    """The bar is as wide as the terminal: what Ctrl-C prints beside it must not break the line."""
    rng = np.random.default_rng(0)
    write(tmp_path / "wide.csv", {f"x{i}": rng.normal(size=80).round(4) for i in range(101)})
    arguments = ["select", "wide.csv", "--target", "x100", *SLOW, "--n-permutations", "20000"]
    terminal = Terminal(arguments, tmp_path, columns=80)
    terminal.until("step 1, forward: 100 candidates, 0 selected.*[0-9]:[0-9][0-9]")
    terminal.child.sendintr()
    assert terminal.ended() == 130
    assert "^C" in terminal.said
    lines = [line.rstrip() for line in screen(terminal.said, 80)]
    assert any(line.startswith("Interrupted.") for line in lines)
    assert [line for line in lines if "━" in line or "0 selected" in line] == []


def run(folder: Path, *arguments: str, columns: int = 120, **environment: str) -> Terminal:
    terminal = Terminal(list(arguments), folder, columns, **environment)
    terminal.status = terminal.ended()
    return terminal


def test_quiet_and_narrow(folder):
    terminal = run(folder, "explain", "made.csv", "--target", "y", "-q", *QUICK, columns=60)
    assert terminal.status == 0
    assert ESCAPE not in terminal.said
    lines = terminal.text.splitlines()
    sentences = lines[next(i for i, line in enumerate(lines) if line.startswith("In bits")) + 1 :]
    assert max(map(len, sentences)) <= 60


def test_no_colour(folder):
    terminal = run(folder, "select", "made.csv", "--target", "y", *QUICK, NO_COLOR="1")
    assert terminal.status == 0
    assert f"{ESCAPE}[38;5" not in terminal.said
    assert f"{ESCAPE}[35m" not in terminal.said


@pytest.mark.parametrize(
    ("name", "content", "target", "named"),
    [
        ("made.csv", None, "Y", ["--target", "'Y'", "'y'"]),
        ("maed.csv", None, "y", ["'maed.csv'", "'made.csv'"]),
        ("broken.csv", "a,y\n1,2\n3,4,5\n", "y", ["'broken.csv'", "line 3"]),
        ("empty.csv", "", "y", ["'empty.csv'", "empty"]),
    ],
)
def test_errors_have_no_traceback(folder, name, content, target, named):
    if content is not None:
        (folder / name).write_text(content)
    terminal = run(folder, "select", name, "--target", target)
    assert terminal.status == 2
    assert all(word in words(terminal.text) for word in named)
    assert "Traceback" not in terminal.text
    assert "Error: " in words(terminal.text)
