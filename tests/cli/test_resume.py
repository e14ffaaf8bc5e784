"""Interrupted runs: what they leave, and how they are resumed."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from calling import QUICK, call, made, read_json, select, write

from pidselect import PIDSelector
from pidselect.data.io import atomic_write
from pidselect.selection.checkpoint import CheckpointFile
from pidselect.selection.progress import ProgressDisplay

CHECKPOINT = "made.csv.pidselect-run.json"


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
    Path("notes.txt").write_text("mine", encoding="utf-8")
    result = select(table, "--target", "y", "--checkpoint", "notes.txt", "--restart")
    assert result.exit_code == 2
    assert Path("notes.txt").read_text(encoding="utf-8") == "mine"


def test_a_stated_checkpoint_is_kept(table):
    options = (table, "--target", "y", "--quiet", "--checkpoint", "run.json")
    first = select(*options)
    assert first.exit_code == 0, first.output
    assert select(*options).exit_code == 2
    again = select(*options, "--resume")
    assert (again.exit_code, again.stdout) == (0, first.stdout)


def refuse_writing(monkeypatch, number, after=0):
    """Let the system refuse to write checkpoints, the first few times excepted."""
    calls = []

    def refuse(path):
        calls.append(path)
        if len(calls) <= after:
            return atomic_write(path)
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr("pidselect.selection.checkpoint.atomic_write", refuse)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EACCES])
def test_a_run_continues_without_its_checkpoint(table, monkeypatch, number):
    expected = select(table, "--target", "y", "--json", "whole.json")
    refuse_writing(monkeypatch, number)
    result = select(table, "--target", "y", "--json", "part.json")
    assert result.exit_code == 0, result.output
    assert result.stdout.replace("part", "whole") == expected.stdout
    (note,) = [line for line in result.stderr.splitlines() if CHECKPOINT in line]
    assert all(word in note for word in (os.strerror(number), "cannot be resumed"))
    first, second = (read_json(Path(name))["selection"] for name in ("whole.json", "part.json"))
    assert first == second
    assert not Path(CHECKPOINT).exists()


def test_a_disk_that_is_full_after_the_first_step(table, monkeypatch):
    """The state saved before is kept, and the run says that it is the one to resume from."""

    def interrupt(self, stage):
        if stage.step == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        refuse_writing(patch, errno.ENOSPC, after=2)
        patch.setattr(ProgressDisplay, "on_stage", interrupt)
        result = select(table, "--target", "y")
    assert result.exit_code == 130
    (note,) = [line for line in result.stderr.splitlines() if "No space" in line]
    assert "saved last" in note
    assert "--resume" in result.stderr.splitlines()[-1]
    assert select(table, "--target", "y", "--resume").exit_code == 0


@pytest.mark.parametrize("after", [0, 1])
def test_a_stated_checkpoint_must_be_writable_at_the_start(table, monkeypatch, after):
    refuse_writing(monkeypatch, errno.ENOSPC, after)
    result = select(table, "--target", "y", "--checkpoint", "run.json")
    assert result.exit_code == (0 if after else 1)
    assert "No space left" in result.stderr
    assert "run.json" in result.stderr


def test_two_runs_at_once(table, monkeypatch):
    """The run that finds the file of the other one continues without, and leaves it alone."""
    other = b'{"what": "pidselect checkpoint", "written": "0123-0"}'

    def write_too(self, stage):
        Path(CHECKPOINT).write_bytes(other)

    monkeypatch.setattr(ProgressDisplay, "on_stage", write_too)
    result = select(table, "--target", "y")
    assert result.exit_code == 0, result.output
    assert sum(CHECKPOINT in line for line in result.stderr.splitlines()) == 1
    assert Path(CHECKPOINT).read_bytes() == other


def damage(table):
    content = Path(CHECKPOINT).read_bytes()
    Path(CHECKPOINT).write_bytes(content[: len(content) // 2])


def age(table):
    """Make the file one of an earlier version, checksum included."""
    file = CheckpointFile(Path(CHECKPOINT))
    file.write({**file.read(), "pidselect": "0.0.1"})


def change(table):
    columns = made()
    columns["width"][7] = 0.0
    write(table, columns)


@pytest.mark.parametrize("spoil", [damage, age, change])
@pytest.mark.parametrize("options", [(), ("--resume",), ("--restart",)])
def test_a_checkpoint_that_cannot_be_resumed_is_replaced(
    table, interrupted, monkeypatch, spoil, options
):
    spoil(table)
    stale = Path(CHECKPOINT).read_bytes()
    fresh = []

    def look(self, stage):
        fresh.append(Path(CHECKPOINT).read_bytes())

    monkeypatch.setattr(ProgressDisplay, "on_stage", look)
    result = select(table, "--target", "y", *options)
    assert result.exit_code == 0, result.output
    assert fresh
    assert stale not in fresh
    notes = [line for line in result.stderr.splitlines() if CHECKPOINT in line]
    assert len(notes) == (options != ("--restart",))
    assert not Path(CHECKPOINT).exists()


@pytest.mark.parametrize("spoil", [damage, age, change])
@pytest.mark.parametrize("options", [(), ("--resume",)])
def test_a_stated_checkpoint_is_never_replaced(table, interrupted, spoil, options):
    spoil(table)
    stale = Path(CHECKPOINT).read_bytes()
    named = (table, "--target", "y", "--checkpoint", CHECKPOINT)
    result = select(*named, *options)
    assert result.exit_code == 2
    assert CHECKPOINT in result.stderr
    assert Path(CHECKPOINT).read_bytes() == stale
    assert select(*named, "--restart").exit_code == 0


@pytest.mark.parametrize("options", [("--target", "width"), ("--target", "y", "--drop", "noise")])
def test_other_options_do_not_replace_a_checkpoint(table, interrupted, options):
    saved = Path(CHECKPOINT).read_bytes()
    result = select(table, *options)
    assert result.exit_code == 2
    assert "--restart" in result.stderr
    assert Path(CHECKPOINT).read_bytes() == saved


@pytest.mark.parametrize("option", ["--quiet", "--restart"])
def test_another_file_in_place_of_the_checkpoint(table, option):
    """It is kept, and the run continues without a checkpoint."""
    Path(CHECKPOINT).write_text("mine", encoding="utf-8")
    result = select(table, "--target", "y", option)
    assert result.exit_code == 0, result.output
    assert Path(CHECKPOINT).read_text(encoding="utf-8") == "mine"
    assert (CHECKPOINT in result.stderr) == (option == "--restart")
    assert select(table, "--target", "y", "--resume").exit_code == 2


def test_resume_without_a_checkpoint(table):
    result = select(table, "--target", "y", "--resume")
    assert result.exit_code == 0, result.output
    assert "made.csv.pidselect-run.json" in result.stderr
