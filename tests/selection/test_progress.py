"""Progress goes to standard error, and a word comes before a very long selection only."""

from __future__ import annotations

import logging
import re
import sys

import pytest
from recording_callbacks import Interrupting
from rich.progress import Progress
from systems import gates, n_computed, numbers, quick

from pidselect.data.messages import duration
from pidselect.estimators import Gaussian
from pidselect.selection import progress
from pidselect.selection.callbacks import Stage, use_callback
from pidselect.selection.progress import Lines, Pace, fewer_samples


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
    assert captured.err.endswith("\x1b[2K")  # the bar is gone, and the cursor is there again
    assert captured.err.count("\x1b[?25l") == captured.err.count("\x1b[?25h")


def test_a_bar_for_every_stage(monkeypatch, terminal):
    """It is filled by as many values as it was said to have."""
    done, resets, advance, reset = [], [], Progress.advance, Progress.reset

    def note_advance(self, task, count):
        advance(self, task, count)
        done.append(self.tasks[0].completed)

    def note_reset(self, task, **settings):
        reset(self, task, **settings)
        resets.append((settings["description"], settings["total"], len(done)))

    monkeypatch.setattr(Progress, "advance", note_advance)
    monkeypatch.setattr(Progress, "reset", note_reset)
    selection = quick(verbose=1).fit(*gates()).selection_
    assert len(resets) == len(selection.steps)
    ends = [place for _, _, place in resets[1:]] + [len(done)]
    for (text, total, _), end, step in zip(resets, ends, selection.steps, strict=True):
        assert step.phase in text
        assert done[end - 1] == total
    assert sum(total for _, total, _ in resets) == n_computed(selection)


def test_the_bar_is_gone_after_ctrl_c(capsys, terminal):
    with pytest.raises(KeyboardInterrupt), use_callback(Interrupting("step", 1)):
        quick(verbose=1).fit(*gates())
    err = capsys.readouterr().err
    assert err.count("\x1b[?25l") == err.count("\x1b[?25h")
    quick(verbose=1).fit(*gates())
    assert "step 1" in capsys.readouterr().err  # the screen was given back


def test_a_short_fit_writes_no_lines(capsys):
    quick(verbose=1).fit(*gates())
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


class Ticking:
    """A clock that goes on by so many seconds whenever it is read."""

    def __init__(self, seconds):
        self.now = 0.0
        self.seconds = seconds

    def monotonic(self):
        self.now += self.seconds
        return self.now


def test_plain_lines_where_there_is_no_terminal(capsys, monkeypatch):
    monkeypatch.setattr(progress, "time", Ticking(1.0))
    stage = Stage("forward", 2, 28, 1000)
    lines = Lines()
    lines.on_progress(7)  # of nothing that has begun
    lines.on_stage(stage)
    for _ in range(100):
        lines.on_progress(10)
    written = capsys.readouterr()
    assert written.out == ""
    said = written.err.splitlines()
    assert 5 < len(said) < 30
    pattern = r"step 2, forward: 28 candidates, \d+%, about (\d+ s|\d+ min) left"
    assert all(re.fullmatch(pattern, line) for line in said)


def test_lines_of_a_fit(capsys, monkeypatch):
    monkeypatch.setattr(progress, "QUIET", 0.0)
    quick(verbose=1, n_permutations="auto").fit(*numbers())
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("step 1, forward: 4 candidates, ")
    assert said[-1].startswith("final p-values: 2 candidates, ")
    assert all(re.search(r"\d%|left$", line) for line in said)


@pytest.mark.parametrize(("is_exact", "word"), [(True, "about"), (False, "at most")])
def test_time_left(monkeypatch, is_exact, word):
    """By the values that came after the first ones, which may be those of a checkpoint."""
    clock = Ticking(0.0)
    monkeypatch.setattr(progress, "time", clock)
    pace = Pace(Stage("forward", 1, 5, 1000, is_exact))
    assert pace.left() == ""
    clock.now += 100.0
    pace.on_progress(500)
    assert pace.left() == ""
    clock.now += 10.0
    pace.on_progress(100)
    assert pace.left() == f"{word} 40 s left"


def test_progress_does_not_change_the_result(capsys):
    assert quick(verbose=1).fit(*gates()).selection_ == quick().fit(*gates()).selection_
    assert capsys.readouterr().out == ""


def test_without_rich_progress_says_how_to_get_it(monkeypatch):
    for module in ("rich", "rich.console", "rich.progress"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=r"pidselect\[progress\].*verbose=0"):
        quick(verbose=1).fit(*gates())
    quick().fit(*gates())


def test_nothing_is_said_of_a_short_selection(caplog):
    with caplog.at_level(logging.DEBUG, logger="pidselect"):
        quick().fit(*numbers())
    assert caplog.records == []


def test_nothing_is_said_if_it_turns_out_to_be_short(caplog, monkeypatch):
    monkeypatch.setattr(progress, "SURELY_SHORT", 1)
    with caplog.at_level(logging.DEBUG, logger="pidselect"):
        quick().fit(*numbers())
    assert caplog.records == []


@pytest.mark.parametrize("settings", [{}, {"keep": [0]}, {"feature_groups": [[0, 1]]}])
def test_a_long_selection_is_announced_once(caplog, monkeypatch, settings):
    monkeypatch.setattr(progress, "SURELY_SHORT", 1)
    monkeypatch.setattr(progress, "LONG", 1e-9)
    X, y = numbers()
    found = quick(**settings).fit(X, y).selection_
    assert len(caplog.records) == 1
    record = caplog.records[0]
    assert (record.name, record.levelname) == ("pidselect", "WARNING")
    text = record.getMessage()
    n_candidates = len(found.steps[0].candidates)
    assert text.startswith(f"Selecting from {n_candidates} candidates with 100 samples takes about")
    assert re.search(r"max_samples=\d+", text)
    assert "n_jobs" in text
    monkeypatch.undo()
    assert quick(**settings).fit(X, y).selection_ == found


class Clock:
    """Time that passes only where a test says so."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def slow(monkeypatch, clock, seconds_per_score=0.0, seconds_to_compile=0.0):
    """Let Gaussian estimates take time, and the first of all bindings compile."""
    bind, compiled = Gaussian.bind, []

    class Slow:
        def __init__(self, scorer):
            self.scorer = scorer

        def score(self, batch):
            clock.now += seconds_per_score * len(batch.rows)
            return self.scorer.score(batch)

    def slow_bind(self, *blocks, **settings):
        clock.now += 0.0 if compiled else seconds_to_compile
        compiled.append(True)
        return Slow(bind(self, *blocks, **settings))

    monkeypatch.setattr(Gaussian, "bind", slow_bind)


@pytest.mark.parametrize(
    ("surrogates", "words"),
    [
        # 4 candidates of 300 scores each, at 0.02 s; 1 + 3 such steps
        ("global", "about 24 s a step, so about 2 min if 3 features"),
        # twice that as soon as something is given
        (("global", "local"), "about 48 s a step, so about 3 min if 3 features"),
    ],
    ids=["one scheme", "two schemes"],
)
def test_a_slow_estimator_is_announced(caplog, monkeypatch, clock, surrogates, words):
    """However few samples there are."""
    slow(monkeypatch, clock, seconds_per_score=0.02)
    settings = {"estimator": "gaussian", "surrogates": surrogates}
    quick(n_permutations=299, **settings).fit(*numbers())
    assert len(caplog.records) == 1
    assert words in caplog.records[0].getMessage()


def test_compiling_is_no_reason_for_an_announcement(caplog, monkeypatch, clock):
    slow(monkeypatch, clock, seconds_to_compile=50.0)
    quick(estimator="gaussian", n_permutations=299).fit(*numbers())
    assert clock.now == 50.0
    assert caplog.records == []


def test_a_single_candidate_can_be_announced(caplog, monkeypatch):
    monkeypatch.setattr(progress, "SURELY_SHORT", 1)
    monkeypatch.setattr(progress, "LONG", 1e-9)
    X, y = numbers()
    quick().fit(X[:, :1], y)
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    ("criterion", "long", "expected"),
    [
        ("cmi", 60.0, [("x0",)]),
        ("cmi", 1e-9, 2 * [("x0",)] + 2 * [("x0", "x3")]),
        ("mi", 1e-9, 2 * [()]),
    ],
)
def test_steps_are_timed_as_they_will_be_taken(monkeypatch, criterion, long, expected):
    """Kept features are conditioned on from the first step; what looks long is looked at twice."""
    timed, seconds = [], progress._seconds_per_step

    def watched(context, candidates, given):
        timed.append(tuple(feature.name for feature in given))
        return seconds(context, candidates, given)

    monkeypatch.setattr(progress, "SURELY_SHORT", 1)
    monkeypatch.setattr(progress, "LONG", long)
    monkeypatch.setattr(progress, "_seconds_per_step", watched)
    quick(criterion=criterion, fixed_features=["x0"]).fit(*numbers())
    assert timed == expected


def test_no_candidate_is_no_reason_for_an_announcement(caplog, monkeypatch):
    monkeypatch.setattr(progress, "SURELY_SHORT", 1)
    monkeypatch.setattr(progress, "LONG", 1e-9)
    X, y = numbers()
    quick(fixed_features=range(4)).fit(X, y)
    assert caplog.records == []


def test_the_advice_is_to_take_fewer_samples(caplog, monkeypatch):
    monkeypatch.setattr(progress, "SURELY_SHORT", 1)
    monkeypatch.setattr(progress, "LONG", 1e-9)
    X, y = numbers(60)
    quick().fit(X, y)
    advice = re.search(r"max_samples=(\d+)", caplog.records[0].getMessage())
    assert advice is None or int(advice[1]) < 60


@pytest.mark.parametrize("n_samples", [2, 50, 51, 75, 1000, 123_456])
@pytest.mark.parametrize("seconds", [60.0, 61.0, 1e3, 1e6])
def test_never_more_samples_than_there_are(n_samples, seconds):
    advice = re.search(r"max_samples=(\d+)", fewer_samples(n_samples, seconds))
    assert int(advice[1]) < n_samples if advice else n_samples <= 50


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "0 s"), (89, "89 s"), (90, "2 min"), (3600, "60 min"), (5400, "1.5 h")],
)
def test_durations(seconds, words):
    assert duration(seconds) == words
