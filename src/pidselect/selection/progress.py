"""Progress of long selections, and a word before very long ones."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from pidselect.data.messages import duration
from pidselect.estimators import KSG, Mixed
from pidselect.selection.callbacks import Callback, Stage
from pidselect.selection.context import SelectionContext
from pidselect.selection.criteria import Criterion
from pidselect.selection.executor import PERMUTATION_BATCH, count_workers
from pidselect.selection.pool import Feature, FeaturePool
from pidselect.selection.result import Selection

if TYPE_CHECKING:
    from rich.progress import Progress

logger = logging.getLogger("pidselect")

#: A step with less work than this, in samples times scores, is not worth timing: even at 100 µs
#: each, as long as a search in a tree takes, six such steps take a minute.
SURELY_SHORT = 1e5

#: A selection expected to take longer than this many seconds is announced.
LONG = 60.0

#: The number of selected features for which the time is stated.
TYPICAL_FEATURES = 5

#: Draws that a sequential test takes, as a rule.
USUAL_DRAWS = 50

#: Given other features, a step takes at most about so many times as long as the first one.
SLOWER = 10

#: The time of nearest neighbours, sorting included, grows about with this power of the number of
#: samples: measured from 1,000 to 50,000 samples, it is 1.4 to 1.7 with up to six columns given.
GROWTH = 1.5

#: No more samples than this are timed.
TIMED_SAMPLES = 2000

#: Fewer samples than this are never advised, however long it takes.
FEWEST_SAMPLES = 50

#: Where there is no terminal, so many seconds pass between two lines of progress.
QUIET = 15.0

#: Held by whoever shows a bar.
_SCREEN = Lock()


def announce_long_fit(context: SelectionContext, line: FeaturePool, criterion: Criterion) -> None:
    """Time a small part of the work, and say so if the whole will take more than a minute."""
    candidates = line.candidates
    n_samples = context.target.n_samples
    if n_samples * len(candidates) * _draws(context) < SURELY_SHORT or context.device != "cpu":
        return  # a GPU takes longer to compile its kernels than for a part of the work
    n_later = min(TYPICAL_FEATURES, len(candidates) - 1)
    given = criterion.conditioning_set(line.fixed, ())
    given_more = criterion.conditioning_set(line.fixed, candidates[-1:])
    first = _seconds_per_step(context, candidates, given)
    if first + n_later * SLOWER * first < LONG:
        return
    # It looks long, but the first calls may have compiled: only what lasts is reported.
    first = later = min(first, _seconds_per_step(context, candidates, given))
    if n_later and given_more != given:
        later = min(_seconds_per_step(context, candidates, given_more) for _ in range(2))
    expected = first + n_later * later
    if expected < LONG:
        return
    logger.warning(
        "Selecting from %d candidates with %d samples takes about %s a step, so about %s if %d "
        "features are selected. %sn_jobs=-1 uses all cores.",
        len(candidates),
        n_samples,
        duration(later),
        duration(expected),
        n_later,
        fewer_samples(n_samples, expected, growth(context)),
    )


def fewer_samples(n_samples: int, seconds: float, power: float = GROWTH) -> str:
    """Return the advice to take fewer samples, if so few still tell something.

    Examples
    --------
    >>> fewer_samples(10_000, 240.0), fewer_samples(40, 240.0)
    ('max_samples=2500 would take about 30 s; ', '')
    """
    share = (LONG / 2 / seconds) ** (1 / power)
    fewer = max(FEWEST_SAMPLES, int(float(f"{share * n_samples:.2g}")))
    if fewer >= n_samples:
        return ""
    shorter = duration(seconds * (fewer / n_samples) ** power)
    return f"max_samples={fewer} would take about {shorter}; "


def _seconds_per_step(
    context: SelectionContext, candidates: Sequence[Feature], given: Sequence[Feature]
) -> float:
    """Estimate the time of one step from a few surrogates of the first candidate.

    With many samples a part of them is timed, so that the word comes before the work.
    """
    n_samples = context.target.n_samples
    rows = np.linspace(0, n_samples - 1, min(n_samples, TIMED_SAMPLES)).astype(np.int64)
    groups = None if context.groups is None else context.groups[rows]
    # In a part of the rows, groups that can change places are no longer of the same size.
    schemes = tuple("global" if name == "blocks" else name for name in context.surrogates)
    part = replace(context, target=context.target.take(rows), groups=groups, surrogates=schemes)
    times = n_samples / len(rows)
    start = time.perf_counter()
    bound = part.bind([feature.take(rows) for feature in given])
    ready = time.perf_counter()
    draws = range(1, 1 + PERMUTATION_BATCH)
    bound.score(candidates[0].take(rows).block, bound.rows((0,), draws))
    seconds_per_draw = (time.perf_counter() - ready) / len(draws)
    scores = len(candidates) * _draws(context) / count_workers(context.n_jobs)
    return ((ready - start) + scores * seconds_per_draw) * times ** growth(context)


def growth(context: SelectionContext) -> float:
    """Return the power of the number of samples with which the time of a step grows."""
    neighbours = any(isinstance(named.estimator, KSG | Mixed) for named in context.estimators)
    return GROWTH if neighbours else 1.0


def _draws(context: SelectionContext) -> int:
    """Return how often each candidate is scored in a step, by each estimator and scheme."""
    n_drawn = USUAL_DRAWS if context.n_permutations is None else context.n_permutations
    return 1 + context.n_pilot + n_drawn


@contextmanager
def progress_bar(verbose: int) -> Iterator[Callback | None]:
    """Show how far each step has come while the selection runs, on standard error.

    How many steps there will be, nobody knows. Of fits in several threads the first one has the
    bar: two would write over each other.
    """
    if not verbose:
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "verbose=1 shows progress with rich: pip install 'pidselect[progress]', or verbose=0."
        ) from error
    console = Console(stderr=True)
    if not _SCREEN.acquire(blocking=False):
        yield None
        return
    try:
        if not console.is_terminal:
            yield Lines()
            return
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[left]}", markup=False),
        )
        with Progress(*columns, console=console, transient=True) as progress:
            yield Bar(progress)
    finally:
        _SCREEN.release()


class Pace:
    """How fast the values of a stage come in.

    Parameters
    ----------
    stage : Stage
    """

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.n_done = 0
        self._n_first = 0
        self._begun: float | None = None

    def on_progress(self, count: int) -> None:
        """Count values that came in."""
        self.n_done += count
        if self._begun is None:  # what was prepared before the first ones will not be done again
            self._begun, self._n_first = time.monotonic(), count

    def left(self) -> str:
        """Return how long the stage still takes; nothing as long as nobody knows."""
        passed = 0.0 if self._begun is None else time.monotonic() - self._begun
        n_timed = self.n_done - self._n_first
        if not n_timed or passed <= 0:
            return ""
        seconds = (self.stage.n_values - self.n_done) * passed / n_timed
        return f"{'about' if self.stage.is_exact else 'at most'} {duration(seconds)} left"


def title(stage: Stage) -> str:
    """Return what a stage is about, in a few words.

    Examples
    --------
    >>> title(Stage("forward", 3, 28, 1000)), title(Stage("final", 5, 1, 1000))
    ('step 3, forward: 28 candidates', 'final p-values: 1 candidate')
    """
    what = "final p-values" if stage.phase == "final" else f"step {stage.step}, {stage.phase}"
    return f"{what}: {stage.n_candidates} candidate{'s' * (stage.n_candidates != 1)}"


class Bar(Callback):
    """A bar on a terminal, for each stage anew.

    Parameters
    ----------
    progress : rich.progress.Progress
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("preparing", total=None, left="")
        self._pace: Pace | None = None

    def on_stage(self, stage: Stage) -> None:
        """Start from the left again."""
        self._pace = Pace(stage)
        self._progress.reset(self._task, total=stage.n_values, description=title(stage), left="")

    def on_progress(self, count: int) -> None:
        """Move to the right."""
        if self._pace is not None:
            self._pace.on_progress(count)
            self._progress.update(self._task, left=self._pace.left())
        self._progress.advance(self._task, count)

    def on_interrupt(self, selection: Selection) -> None:
        """Leave the screen to others."""
        self._progress.stop()


class Lines(Callback):
    """Plain lines, few of them, for files and for whatever else is no terminal."""

    def __init__(self) -> None:
        self._pace: Pace | None = None
        self._due = time.monotonic() + QUIET

    def on_stage(self, stage: Stage) -> None:
        """Take note of what the next lines are about."""
        self._pace = Pace(stage)

    def on_progress(self, count: int) -> None:
        """Write a line if the time has come."""
        if self._pace is None:
            return
        self._pace.on_progress(count)
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + QUIET
        stage, left = self._pace.stage, self._pace.left()
        share = f"{self._pace.n_done / stage.n_values:.0%}"
        sys.stderr.write(", ".join(filter(None, [title(stage), share, left])) + "\n")
        sys.stderr.flush()
