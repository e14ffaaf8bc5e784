"""Interrupted runs: what they print and write, and how a checkpoint continues them."""

from __future__ import annotations

from pathlib import Path

import pytest
from calling import QUICK, call, made, read_json, select, write

from pidselect import PIDSelector
from pidselect.selection.progress import ProgressDisplay

CHECKPOINT = ("--checkpoint", "run.state")


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.fixture
def interrupted(table, monkeypatch):
    """A run with a checkpoint, interrupted by Ctrl-C as its second step began."""
    with monkeypatch.context() as patch:
        patch.setattr(
            ProgressDisplay, "on_stage", lambda self, *_: len(self.steps) == 1 and interrupt()
        )
        result = select(table, "--target", "y", "--quiet", "--json", "r.json", *CHECKPOINT)
    assert result.exit_code == 130, result.output
    return result


def test_the_same_command_resumes_an_interrupted_run(table, interrupted, monkeypatch):
    assert interrupted.stdout.splitlines()[1].startswith("length")
    part = read_json(Path("r.json"))
    assert part["is_complete"] is False
    assert [one["name"] for one in part["selected"]] == ["length"]
    typed = interrupted.stderr.splitlines()[-1].split()
    assert typed[:2] == ["pidselect", "select"]

    stages = []
    monkeypatch.setattr(
        ProgressDisplay, "on_stage", lambda self, *_: stages.append(len(self.steps) + 1)
    )
    resumed = call(*typed[1:])
    assert resumed.exit_code == 0, resumed.output
    assert 1 not in stages  # it is read from the checkpoint
    assert select(table, "--target", "y", "--quiet", "--json", "whole.json").exit_code == 0
    assert read_json(Path("r.json"))["selection"] == read_json(Path("whole.json"))["selection"]
    again = call(*typed[1:])  # the file is kept
    assert (again.exit_code, again.stdout) == (0, resumed.stdout)


def test_without_a_checkpoint_the_way_to_one_is_named(table, monkeypatch):
    monkeypatch.setattr(PIDSelector, "explain", interrupt)
    result = call("explain", table, "--target", "y", *QUICK, "--json", "part.json")
    assert result.exit_code == 130
    assert "--checkpoint" in result.stderr.splitlines()[-1]
    assert result.stdout.splitlines()[1].startswith("length")
    assert read_json(Path("part.json"))["is_complete"] is False


def test_interrupted_before_the_first_step(table, monkeypatch):
    monkeypatch.setattr("pidselect.cli.load.read_data", interrupt)
    result = select(table, "--target", "y", "--quiet", *CHECKPOINT)
    assert result.exit_code == 130
    assert "pidselect select" not in result.stderr


def other_data(path):
    columns = made()
    columns["width"][7] = 0.0
    write(Path("made.csv"), columns)


@pytest.mark.parametrize(
    ("options", "spoil", "named"),
    [
        (("--alpha", "0.1"), lambda path: None, ("alpha", "0.05", "0.1")),
        (("--drop", "noise"), lambda path: None, ("'noise'",)),
        ((), other_data, ("'width'",)),
        ((), lambda path: path.write_text("mine", encoding="utf-8"), ()),
        ((), lambda path: path.write_bytes(path.read_bytes()[:600]), ()),
    ],
)
def test_a_file_of_another_fit_is_refused_and_kept(table, interrupted, options, spoil, named):
    path = Path(CHECKPOINT[1])
    spoil(path)
    before = path.read_bytes()
    result = select(table, "--target", "y", "--quiet", *CHECKPOINT, *options)
    assert result.exit_code == 2
    error = result.stderr.splitlines()[0]
    assert all(word in error for word in (path.name, *named))
    assert path.read_bytes() == before
