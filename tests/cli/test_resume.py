"""Interrupted runs: what they leave, and how they are resumed."""

from __future__ import annotations

from pathlib import Path

import pytest
from calling import QUICK, call, read_json, select

from pidselect import PIDSelector
from pidselect.selection.progress import ProgressDisplay


@pytest.fixture
def interrupted(table, monkeypatch):
    """A run interrupted by Ctrl-C as its second step began."""

    def interrupt(self, stage):
        if stage.step == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ProgressDisplay, "on_stage", interrupt)
        result = select(table, "--target", "y", "--quiet", "--json", "part.json")
    assert result.exit_code == 130, result.output
    return result


def test_an_interrupted_run_leaves_its_results_and_the_command_to_resume(interrupted):
    assert interrupted.stdout.splitlines()[1].startswith("length")
    summary = read_json(Path("part.json"))
    assert summary["is_complete"] is False
    assert [one["name"] for one in summary["selected"]] == ["length"]
    typed = interrupted.stderr.splitlines()[-1].strip()
    expected = f"pidselect select made.csv --target y {' '.join(QUICK)} --json part.json --quiet"
    assert sorted(typed.split()) == sorted(f"{expected} --resume".split())
    assert Path("made.csv.pidselect-run.json").exists()


def test_a_run_is_resumed_only_on_request(table, interrupted):
    refused = select(table, "--target", "y")
    assert refused.exit_code == 2
    assert all(option in refused.stderr for option in ("--resume", "--restart", "--checkpoint"))
    resumed_run = select(table, "--target", "y", "--resume", "--quiet", "--json", "resumed.json")
    assert resumed_run.exit_code == 0, resumed_run.output
    assert not Path("made.csv.pidselect-run.json").exists()
    assert select(table, "--target", "y", "--quiet", "--json", "whole.json").exit_code == 0
    resumed, whole = (read_json(Path(name)) for name in ("resumed.json", "whole.json"))
    assert resumed["selection"] == whole["selection"]


def test_interrupted_during_the_explanation(table, monkeypatch):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(PIDSelector, "explain", interrupt)
        result = call("explain", table, "--target", "y", *QUICK, "--json", "part.json")
    assert result.exit_code == 130
    assert "pidselect explain made.csv" in result.stderr
    assert "--resume" in result.stderr
    assert result.stdout.splitlines()[1].startswith("length")
    assert read_json(Path("part.json"))["is_complete"] is False
    resumed_run = call("explain", table, "--target", "y", *QUICK, "--resume")
    assert resumed_run.exit_code == 0, resumed_run.output
    assert "forward" in resumed_run.stderr


def test_interrupted_before_the_first_step(table, monkeypatch):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pidselect.cli.run.read_data", interrupt)
    result = select(table, "--target", "y", "--quiet")
    assert result.exit_code == 130
    assert "--resume" not in result.stderr


def test_restart_deletes_the_checkpoint(table, interrupted):
    result = select(table, "--target", "y", "--restart", "--alpha", "0.1")
    assert result.exit_code == 0, result.output
    assert not Path("made.csv.pidselect-run.json").exists()


def test_another_call_cannot_resume_it(table, interrupted):
    result = select(table, "--target", "y", "--resume", "--alpha", "0.1")
    assert result.exit_code == 2
    assert all(
        word in result.stderr for word in ("alpha", "0.05", "0.1", "made.csv.pidselect-run.json")
    )


def test_a_file_that_is_no_checkpoint_is_kept(table):
    Path("notes.txt").write_text("mine")
    result = select(table, "--target", "y", "--checkpoint", "notes.txt", "--restart")
    assert result.exit_code == 2
    assert Path("notes.txt").read_text() == "mine"


def test_a_stated_checkpoint_is_kept(table):
    options = (table, "--target", "y", "--quiet", "--checkpoint", "run.json")
    first = select(*options)
    assert first.exit_code == 0, first.output
    assert select(*options).exit_code == 2
    again = select(*options, "--resume")
    assert (again.exit_code, again.stdout) == (0, first.stdout)


def test_a_folder_that_is_not_writable(table, monkeypatch):
    monkeypatch.setattr("pidselect.cli.resume.can_write", lambda folder: False)
    result = select(table, "--target", "y")
    assert result.exit_code == 0, result.output
    assert "--checkpoint" in result.stderr


def test_resume_without_a_checkpoint(table):
    result = select(table, "--target", "y", "--resume")
    assert result.exit_code == 0, result.output
    assert "made.csv.pidselect-run.json" in result.stderr
