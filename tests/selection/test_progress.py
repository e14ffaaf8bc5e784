"""Progress on standard error."""

from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console
from rich.progress import Progress
from systems import gates, n_computed, numbers, quick

from pidselect.data.messages import duration
from pidselect.selection.progress import ProgressDisplay


@pytest.fixture
def terminal(monkeypatch):
    """Let rich believe that it writes to a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")


def test_silent_by_default(capsys):
    quick().fit(*gates())
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_a_bar_goes_to_standard_error(capsys, terminal):
    quick(verbose=1).fit(*gates())
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "step 1, forward: 5 candidates" in captured.err
    assert captured.err.endswith("\x1b[2K")  # the bar is removed, and the cursor shown again
    assert captured.err.count("\x1b[?25l") == captured.err.count("\x1b[?25h")


def test_a_bar_for_every_stage(monkeypatch, terminal):
    """It is filled by as many values as it was announced to have, or ends with its test."""
    bars, advance, add = [], Progress.advance, Progress.add_task

    def note_advance(self, task, count):
        advance(self, task, count)
        bars[-1][2] = self.tasks[0].completed

    def note_add(self, description, total):
        bars.append([description, total, 0])
        return add(self, description, total=total)

    monkeypatch.setattr(Progress, "advance", note_advance)
    monkeypatch.setattr(Progress, "add_task", note_add)
    selection = quick(estimator="discrete", verbose=1, lookahead=1).fit(*gates()).selection_
    stages = bars[1:]  # the first one is shown before anything is tested
    assert len(stages) == len(selection.steps)
    for (text, total, done), step in zip(stages, selection.steps, strict=True):
        assert step.phase in text
        assert done == total if step.accepted else 0 < done <= total
    assert sum(done for _, _, done in stages) == n_computed(selection)


def test_the_bar_is_removed_after_ctrl_c(capsys, terminal, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ProgressDisplay, "on_step", interrupt)
        with pytest.raises(KeyboardInterrupt):
            quick(verbose=1).fit(*gates())
    err = capsys.readouterr().err
    assert err.count("\x1b[?25l") == err.count("\x1b[?25h")
    quick(verbose=1).fit(*gates())
    assert "step 1" in capsys.readouterr().err  # the terminal was released


def display(clock, is_terminal=False, interval=15.0):
    """Return a display and the stream that it writes to."""
    console = Console(file=io.StringIO(), force_terminal=is_terminal, width=200)
    bar = Progress(console=console, disable=not is_terminal, get_time=clock)
    return ProgressDisplay(bar, interval), console.file


def test_lines_where_there_is_no_terminal(clock):
    shown, stream = display(clock)
    shown.on_stage("forward", 28, 1000)
    for _ in range(50):
        clock.now += 1.0
        shown.on_progress(10)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("step 1, forward: 28 candidates, 0 selected: 15 %")


def test_time_left(clock):
    """The first values are not timed, as they may be those of a checkpoint."""
    shown, stream = display(clock, interval=0.0)
    shown.on_stage("forward", 5, 1000)
    for seconds, count in ((100.0, 500), (10.0, 100)):
        clock.now += seconds
        shown.on_progress(count)
    first, second = stream.getvalue().splitlines()
    assert first.endswith("50 %")
    assert "40 s" in second


def test_lines_of_a_fit(capsys):
    selection = quick(verbose=1, n_permutations="auto").fit(*numbers()).selection_
    lines = capsys.readouterr().err.splitlines()
    assert {str(step) for step in selection.steps} <= set(lines)


def test_control_characters_are_escaped(clock):
    for is_terminal in (False, True):
        shown, stream = display(clock, is_terminal)
        shown.message("age \x1b[2J")
        shown.status("age \x1b[2J")
        assert "\x1b[2J" not in stream.getvalue() + shown._bar.tasks[0].description


def test_a_bar_of_unknown_length(clock):
    shown, _ = display(clock, is_terminal=True)
    bar = shown._bar
    shown.on_stage("forward", 3, 60)
    shown.on_progress(30)
    assert [(task.total, task.completed) for task in bar.tasks] == [(60, 30)]
    shown.on_stage("atoms", 3, 3)
    assert [(task.total, task.completed) for task in bar.tasks] == [(None, 0)]


def test_what_follows_a_fit_has_one_line_for_all_of_its_stages(clock):
    shown, stream = display(clock)
    shown.on_stage("roles", 3, 60)
    shown.on_stage("roles", 2, 40)
    assert len(stream.getvalue().splitlines()) == 1


def test_without_rich(monkeypatch):
    for module in ("rich", "rich.console", "rich.progress"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=r"pidselect\[progress\]"):
        quick(verbose=1).fit(*gates())
    quick().fit(*gates())


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (89, "89 s"), (90, "2 min"), (3600, "60 min"), (5400, "1.5 h")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text
