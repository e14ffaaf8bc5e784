"""A run that was stopped: what it leaves, and how it goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from calling import QUICK, call, read_json, select

from pidselect import PIDSelector


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

    monkeypatch.setattr("pidselect.cli.run.read_data", stop)
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
    assert "Give --restart to forget it and begin anew, or --checkpoint FILE" in result.stderr


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
    monkeypatch.setattr("pidselect.cli.resume.can_write", lambda folder: False)
    result = select(table, "--target", "y")
    assert result.exit_code == 0, result.output
    assert "Note: nothing can be written in" in result.stderr


def test_nothing_to_go_on_from(table):
    result = select(table, "--target", "y", "--resume")
    assert result.exit_code == 0, result.output
    assert "there is nothing to go on from" in result.stderr
