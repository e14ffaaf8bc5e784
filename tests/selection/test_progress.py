"""Progress on standard error, and the warning before a long selection."""

from __future__ import annotations

import io
import logging
import re
import sys
from functools import partial
from types import SimpleNamespace

import joblib
import pytest
from recording_callbacks import Interrupting
from rich.console import Console
from rich.progress import Progress
from systems import gates, n_computed, numbers, quick

from pidselect.data.messages import duration
from pidselect.estimators import Gaussian
from pidselect.selection.callbacks import Stage, use_callback
from pidselect.selection.progress import ProgressDisplay, announce_long_fit, fewer_samples


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
    selection = quick(verbose=1).fit(*gates()).selection_
    stages = bars[1:]  # the first one is shown before anything is tested
    assert len(stages) == len(selection.steps)
    for (text, total, done), step in zip(stages, selection.steps, strict=True):
        assert step.phase in text
        assert done == total if step.accepted else 0 < done <= total
    assert sum(done for _, _, done in stages) == n_computed(selection)


def test_the_bar_is_removed_after_ctrl_c(capsys, terminal):
    with pytest.raises(KeyboardInterrupt), use_callback(Interrupting("step", 1)):
        quick(verbose=1).fit(*gates())
    err = capsys.readouterr().err
    assert err.count("\x1b[?25l") == err.count("\x1b[?25h")
    quick(verbose=1).fit(*gates())
    assert "step 1" in capsys.readouterr().err  # the terminal was released


class Clock:
    """Time that passes only where a test says so."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def display(clock, is_terminal=False, interval=15.0):
    """Return a display and the stream that it writes to."""
    console = Console(file=io.StringIO(), force_terminal=is_terminal, width=200)
    bar = Progress(console=console, disable=not is_terminal, get_time=clock)
    return ProgressDisplay(bar, interval), console.file


def test_lines_where_there_is_no_terminal(clock):
    shown, stream = display(clock)
    shown.on_stage(Stage("forward", 2, 28, 1000))
    for _ in range(50):
        clock.now += 1.0
        shown.on_progress(10)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("step 2, forward: 28 candidates, 0 selected: 15 %")


def test_time_left(clock):
    """The first values are not timed, as they may be those of a checkpoint."""
    shown, stream = display(clock, interval=0.0)
    shown.on_stage(Stage("forward", 1, 5, 1000))
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
    shown.on_stage(Stage("forward", 1, 3, 60))
    shown.on_progress(30)
    assert [(task.total, task.completed) for task in bar.tasks] == [(60, 30)]
    shown.on_stage(Stage("atoms", 2, 3, 3))
    assert [(task.total, task.completed) for task in bar.tasks] == [(None, 0)]


def test_what_follows_a_fit_has_one_line_for_all_of_its_stages(clock):
    shown, stream = display(clock)
    shown.on_stage(Stage("roles", 2, 3, 60))
    shown.on_stage(Stage("roles", 2, 2, 40))
    assert len(stream.getvalue().splitlines()) == 1


def test_an_interrupted_selection_is_kept(clock):
    shown, _ = display(clock)

    def interrupt(step):
        raise KeyboardInterrupt

    shown.on_step = interrupt
    with pytest.raises(KeyboardInterrupt), use_callback(shown):
        quick().fit(*numbers())
    assert not shown.interrupted.is_complete
    assert len(shown.interrupted.steps) == 1


def test_progress_does_not_change_the_result(capsys):
    assert quick(verbose=1).fit(*gates()).selection_ == quick().fit(*gates()).selection_
    assert capsys.readouterr().out == ""


def test_without_rich(monkeypatch):
    for module in ("rich", "rich.console", "rich.progress"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=r"pidselect\[progress\]"):
        quick(verbose=1).fit(*gates())
    quick().fit(*gates())


# A fit is timed from 1e5 samples times scores on: 100 samples, 4 candidates and 299 permutations.
TIMED = {"estimator": "gaussian", "n_permutations": 299}


@pytest.fixture
def announcing(monkeypatch):
    """Return a function that sets what counts as long, and the clock."""

    def announce(**settings):
        changed = partial(announce_long_fit, **settings)
        monkeypatch.setattr("pidselect.selection.selector.announce_long_fit", changed)

    return announce


@pytest.mark.parametrize("settings", [{}, TIMED], ids=["too little work", "timed"])
def test_a_short_selection_is_not_announced(caplog, settings):
    with caplog.at_level(logging.DEBUG, logger="pidselect"):
        quick(**settings).fit(*numbers())
    assert caplog.records == []


@pytest.mark.parametrize("settings", [{}, {"fixed_features": [0]}, {"feature_groups": [[0, 1]]}])
def test_a_long_selection_is_announced_once(caplog, announcing, settings):
    X, y = numbers(200)
    expected = quick(**TIMED, **settings).fit(X, y).selection_
    assert caplog.records == []
    announcing(long=1e-9)
    assert quick(**TIMED, **settings).fit(X, y).selection_ == expected
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("pidselect", "WARNING")
    n_candidates = len(expected.steps[0].candidates)
    assert f"{n_candidates} candidates with 200 samples" in record.getMessage()


@pytest.mark.parametrize(("n_jobs", "is_advised"), [(1, joblib.cpu_count() > 1), (-1, False)])
def test_all_cores_are_advised_unless_they_are_used(caplog, announcing, n_jobs, is_advised):
    announcing(long=1e-9)
    quick(**TIMED, n_jobs=n_jobs).fit(*numbers())
    assert ("n_jobs=-1" in caplog.text) == is_advised


def slow(clock, seconds_per_score=0.0, seconds_to_compile=0.0):
    """Return an estimator that takes time by the clock: for scores, and for the first binding."""

    class Slow(Gaussian):
        def bind(self, *blocks, **settings):
            if not clock.now:
                clock.now += seconds_to_compile
            bound = super().bind(*blocks, **settings)

            def score(batch):
                clock.now += seconds_per_score * len(batch.rows)
                return bound.score(batch)

            return SimpleNamespace(score=score)

    return Slow()


@pytest.mark.parametrize(
    ("surrogates", "per_step", "total"),
    [
        ("global", "24 s", "2 min"),  # 4 candidates of 300 scores each at 0.02 s; 1 + 3 such steps
        (("global", "local"), "48 s", "3 min"),  # twice that with a conditioning set
    ],
    ids=["one scheme", "two schemes"],
)
def test_a_slow_estimator_is_announced(caplog, announcing, clock, surrogates, per_step, total):
    """However few samples there are."""
    announcing(clock=clock)
    estimator = slow(clock, seconds_per_score=0.02)
    quick(estimator=estimator, surrogates=surrogates, n_permutations=299).fit(*numbers())
    (record,) = caplog.records
    assert per_step in record.getMessage()
    assert total in record.getMessage()


def test_compilation_is_not_announced(caplog, announcing, clock):
    announcing(clock=clock)
    quick(estimator=slow(clock, seconds_to_compile=50.0), n_permutations=299).fit(*numbers())
    assert clock.now == 50.0
    assert caplog.records == []


def test_a_single_candidate_can_be_announced(caplog, announcing):
    announcing(long=1e-9)
    X, y = numbers(400)
    quick(**TIMED).fit(X[:, :1], y)
    assert len(caplog.records) == 1


@pytest.mark.parametrize(("settings", "n"), [({}, "4 selected"), ({"max_features": 1}, "1 sel")])
def test_the_number_of_features_that_is_assumed(caplog, announcing, settings, n):
    announcing(long=1e-9)
    quick(**TIMED, **settings).fit(*numbers(200))
    assert n in caplog.text


def test_no_announcement_without_candidates(caplog, announcing):
    announcing(long=1e-9)
    X, y = numbers()
    quick(**TIMED, fixed_features=range(4)).fit(X, y)
    assert caplog.records == []


@pytest.mark.parametrize(
    ("criterion", "long", "expected"),
    [
        ("cmi", 60.0, [("x0",)]),
        ("cmi", 1e-9, 2 * [("x0",)] + 2 * [("x0", "x3")]),
        ("mi", 1e-9, 2 * [()]),
    ],
)
def test_conditioning_sets_that_are_timed(monkeypatch, criterion, long, expected):
    """Those of the first and of a later step; what seems long is timed twice."""
    bound, timed = [], []

    class Recording(Gaussian):
        def bind(self, target, given, **settings):
            bound.append(given.names)
            return super().bind(target, given, **settings)

    def announce(*fit):
        announce_long_fit(*fit, long=long)
        timed.extend(bound)

    monkeypatch.setattr("pidselect.selection.selector.announce_long_fit", announce)
    settings = {**TIMED, "estimator": Recording()}
    quick(criterion=criterion, fixed_features=["x0"], **settings).fit(*numbers(200))
    assert timed == expected


def test_fewer_samples():
    assert fewer_samples(10_000, 240.0) == "max_samples=2500 takes about 30 s"


@pytest.mark.parametrize("n_samples", [2, 50, 51, 75, 1000, 123_456])
@pytest.mark.parametrize("seconds", [60.0, 61.0, 1e3, 1e6])
def test_fewer_samples_are_advised_than_there_are(n_samples, seconds):
    advice = re.search(r"max_samples=(\d+)", fewer_samples(n_samples, seconds))
    assert int(advice[1]) < n_samples if advice else n_samples <= 50


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (89, "89 s"), (90, "2 min"), (3600, "60 min"), (5400, "1.5 h")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text
