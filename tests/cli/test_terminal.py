"""The command line in a real terminal: bar, Ctrl-C, resuming, and errors."""

from __future__ import annotations

import shlex

import numpy as np
from calling import ESCAPE, QUICK, Terminal, call, made, read_json, screen, words, write

#: Slow enough to be interrupted: each step has thousands of values.
SLOW = ("--estimator", "ksg", "--n-permutations", "2000", "--max-features", "2", "--n-jobs", "1")


def test_ctrl_c_leaves_a_partial_result_and_the_command_to_resume(tmp_path, monkeypatch):
    """The bar is as wide as the terminal: what Ctrl-C prints beside it must not break the line."""
    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.normal(size=200).round(4) for i in range(5)}
    y = columns["x1"] + 0.7 * columns["x3"] + 0.5 * rng.normal(size=200)
    write(tmp_path / "slow.csv", {**columns, "y": y.round(4)})
    saved = ["--checkpoint", "run.state"]
    arguments = ["select", "slow.csv", "--target", "y", *SLOW, *saved, "--json", "part.json"]
    terminal = Terminal(arguments, tmp_path, columns=80)
    terminal.until("step 2, forward: 4 candidates, 1 selected.*[0-9]:[0-9][0-9]")
    assert "━" in terminal.said  # the bar
    assert "%" in terminal.said
    terminal.child.sendintr()
    assert terminal.ended() == 130
    assert "^C" in terminal.said
    lines = [line.rstrip() for line in screen(terminal.said, 80)]
    assert any(line.startswith("Interrupted.") for line in lines)
    assert [line for line in lines if "━" in line or "1 selected" in line] == []
    part = read_json(tmp_path / "part.json")
    assert part["is_complete"] is False
    assert [one["name"] for one in part["selected"]] == ["x1"]

    command = shlex.split(words(terminal.text[terminal.text.rindex("pidselect select") :]))
    assert command == ["pidselect", *arguments]
    monkeypatch.chdir(tmp_path)
    assert call(*arguments).exit_code == 0
    resumed = read_json(tmp_path / "part.json")
    (tmp_path / "run.state").unlink()
    assert call(*arguments[:-1], "whole.json").exit_code == 0
    whole = read_json(tmp_path / "whole.json")
    assert resumed["is_complete"] is True
    assert resumed["selection"] == whole["selection"]
    assert [one["name"] for one in whole["selected"]] == ["x1", "x3"]


def test_quiet_and_narrow(tmp_path):
    write(tmp_path / "made.csv", made())
    arguments = ["select", "made.csv", "--target", "y", "-q", *QUICK]
    terminal = Terminal(arguments, tmp_path, columns=60)
    assert terminal.ended() == 0
    assert ESCAPE not in terminal.said
    lines = terminal.text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("length_mm is"))
    assert max(map(len, lines[first:])) <= 60


def test_errors_have_no_traceback(tmp_path):
    write(tmp_path / "made.csv", made())
    terminal = Terminal(["select", "maed.csv", "--target", "y"], tmp_path)
    assert terminal.ended() == 2
    assert all(word in words(terminal.text) for word in ("Error: ", "'maed.csv'", "'made.csv'"))
    assert "Traceback" not in terminal.text
