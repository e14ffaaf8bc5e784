"""Progress of a selection on standard error, and a warning before a very long one."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import joblib
import numpy as np

from pidselect.data.messages import counted, duration, printable
from pidselect.estimators import KSG, Mixed
from pidselect.selection.callbacks import Callback, Stage, selected_features
from pidselect.selection.context import SelectionContext
from pidselect.selection.criteria import Criterion
from pidselect.selection.executor import PERMUTATION_BATCH
from pidselect.selection.pool import Feature, FeaturePool
from pidselect.selection.result import Selection, Step

if TYPE_CHECKING:
    from rich.progress import Progress

logger = logging.getLogger("pidselect")

#: Seconds from which on a selection is announced, and the number of features that it assumes.
LONG, TYPICAL_FEATURES = 60.0, 5

#: A step with less work than this, in samples times scores, is not timed: even at 100 µs a score,
#: as long as a search in a tree takes, six such steps take a minute.
MIN_TIMED_WORK = 1e5

#: Usual permutations of a sequential test; the longest step takes about 10 times the first one.
SEQUENTIAL_PERMUTATIONS, SLOWDOWN = 50, 10

#: The time of nearest neighbours, sorting included, grows about with this power of the number of
#: samples: 1.4 to 1.7 from 1,000 to 50,000 samples with up to six conditioning columns.
GROWTH = 1.5

#: The largest number of samples that is timed, and the smallest that is recommended.
TIMED_SAMPLES, MIN_SAMPLES = 2000, 50

#: Seconds between two lines of progress where there is no terminal.
LINE_INTERVAL = 15.0

#: Columns left free beside the bar for the ^C^C that a terminal prints: in a full line it would
#: start a new one, and the bar would stay.
MARGIN = 4

Clock = Callable[[], float]


def announce_long_fit(
    context: SelectionContext,
    pool: FeaturePool,
    criterion: Criterion,
    *,
    long: float = LONG,
    clock: Clock = time.perf_counter,
) -> None:
    """Time a small part of the work; log a warning if all of it takes `long` seconds or more."""
    candidates, n_samples = pool.candidates, context.target.n_samples
    work = n_samples * len(candidates) * _scores_per_candidate(context)
    if work < MIN_TIMED_WORK or not context.executor.device.is_cpu:
        return  # on a GPU, compiling the kernels takes longer than what would be timed
    n_later = min(TYPICAL_FEATURES, len(candidates) - 1)
    given = criterion.conditioning_set(pool.fixed, ())
    given_more = criterion.conditioning_set(pool.fixed, candidates[-1:])
    first = _seconds_per_step(context, candidates, given, clock)
    if first + n_later * SLOWDOWN * first < long:
        return
    # The first calls may have compiled kernels: time again what looks long.
    first = later = min(first, _seconds_per_step(context, candidates, given, clock))
    if n_later and given_more != given:
        later = min(_seconds_per_step(context, candidates, given_more, clock) for _ in range(2))
    expected = first + n_later * later
    if expected < long:
        return
    remedies = [fewer_samples(n_samples, expected, _growth(context))]
    if context.executor.count_workers() < joblib.cpu_count():
        remedies.append("n_jobs=-1 uses all cores")
    text = (
        f"Selecting from {len(candidates)} candidates with {n_samples} samples takes about "
        f"{duration(later)} per step, about {duration(expected)} for {n_later} selected features. "
    )
    logger.warning(text + "; ".join(filter(None, remedies)))


def fewer_samples(n_samples: int, seconds: float, power: float = GROWTH) -> str:
    """Return the number of samples that takes half a minute, as a setting; nothing if too few."""
    share = (LONG / 2 / seconds) ** (1 / power)
    fewer = max(MIN_SAMPLES, int(float(f"{share * n_samples:.2g}")))
    if fewer >= n_samples:
        return ""
    return f"max_samples={fewer} takes about {duration(seconds * (fewer / n_samples) ** power)}"


def _seconds_per_step(
    context: SelectionContext, candidates: Sequence[Feature], given: Sequence[Feature], clock: Clock
) -> float:
    """Estimate the time of one step from a few surrogates of the first candidate."""
    n_samples = context.target.n_samples
    rows = np.linspace(0, n_samples - 1, min(n_samples, TIMED_SAMPLES)).astype(np.int64)
    groups = None if context.groups is None else context.groups[rows]
    # In a part of the rows, exchangeable groups are no longer of the same size.
    schemes = tuple("global" if name == "blocks" else name for name in context.surrogates)
    part = replace(context, target=context.target.take(rows), groups=groups, surrogates=schemes)
    start = clock()
    taken = [feature.take(rows) for feature in given]
    (bound,) = part.bind([taken], part.schemes(taken))
    ready = clock()
    permutations = range(1, 1 + PERMUTATION_BATCH)
    for sampler in bound.samplers:
        bound.score(candidates[0].take(rows).block, sampler((0,), permutations))
    seconds_per_score = (clock() - ready) / len(permutations)
    scores = len(candidates) * _scores_per_candidate(context) / context.executor.count_workers()
    times = (n_samples / len(rows)) ** _growth(context)
    return ((ready - start) + scores * seconds_per_score) * times


def _growth(context: SelectionContext) -> float:
    """Return the power of the number of samples with which the time of a step grows."""
    neighbours = any(isinstance(named.estimator, KSG | Mixed) for named in context.estimators)
    return GROWTH if neighbours else 1.0


def _scores_per_candidate(context: SelectionContext) -> int:
    n = context.n_permutations
    return 1 + context.n_pilot + (SEQUENTIAL_PERMUTATIONS if n is None else n)


@contextmanager
def progress_bar(verbose: int) -> Iterator[Callback | None]:
    """Show progress if `verbose`, in the main thread: several bars would overwrite each other."""
    if not verbose or threading.current_thread() is not threading.main_thread():
        yield None
        return
    with show_progress() as display:
        yield display


@contextmanager
def show_progress(quiet: bool = False) -> Iterator[ProgressDisplay]:
    """Show progress on standard error: a bar on a terminal, lines elsewhere, nothing if quiet."""
    try:
        from rich.console import Console
        from rich.constrain import Constrain
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
        from rich.progress import TimeRemainingColumn as TimeColumn
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "verbose=1 shows progress with rich: pip install 'pidselect[progress]', or verbose=0."
        ) from error

    console = Console(stderr=True, quiet=quiet)

    class Bar(Progress):
        def get_renderable(self) -> Constrain:
            return Constrain(super().get_renderable(), max(1, console.width - MARGIN))

    text = TextColumn("{task.description}", markup=False)
    columns = (text, BarColumn(bar_width=24), TaskProgressColumn(), TimeColumn())
    is_hidden = quiet or not console.is_terminal
    with Bar(*columns, console=console, transient=True, disable=is_hidden) as bar:
        yield ProgressDisplay(bar)


class ProgressDisplay(Callback):
    """Progress of a fit and of what follows it, as a bar or as lines.

    Parameters
    ----------
    bar : rich.progress.Progress
        Where it is disabled, lines are printed instead.
    interval : float
        Seconds between two lines.

    Attributes
    ----------
    interrupted : Selection or None
        The selection as far as it was at an interruption.
    """

    def __init__(self, bar: Progress, interval: float = LINE_INTERVAL) -> None:
        self.interrupted: Selection | None = None
        self._bar, self._interval = bar, interval
        self._task = bar.add_task("starting", total=None)
        self._steps: list[Step] = []
        self._last = bar.get_time()

    def message(self, text: str) -> None:
        """Print a line, above the bar if there is one."""
        self._last = self._bar.get_time()
        self._bar.console.print(printable(text), markup=False, highlight=False, soft_wrap=True)

    def status(self, text: str, total: int | None = None) -> None:
        """Start a new bar, of unknown length without a total, or print a line."""
        self._start(text, total)
        if self._bar.disable:
            self.message(text)

    def _start(self, text: str, total: int | None) -> None:
        self._bar.remove_task(self._task)  # rich cannot reset a total to None
        self._task = self._bar.add_task(printable(text), total=total)

    def on_stage(self, stage: Stage) -> None:
        """Start a new bar."""
        text = describe_stage(stage, len(selected_features(self._steps)))
        total = None if stage.phase == "atoms" else stage.n_values  # atoms are counted at the end
        is_new = text != self._bar.tasks[0].description
        start = self.status if stage.phase in LATER_STAGES and is_new else self._start
        start(text, total)

    def on_progress(self, count: int) -> None:
        """Advance the bar, or print a line if none was printed for some seconds."""
        self._bar.advance(self._task, count)
        if self._bar.disable and self._bar.get_time() - self._last >= self._interval:
            (task,) = self._bar.tasks
            left = task.time_remaining
            about = f", about {duration(left)} left" if left is not None else ""
            self.message(f"{task.description}: {task.percentage:.0f} %{about}")

    def on_step(self, step: Step) -> None:
        """Print the decision where there is no bar."""
        self._steps.append(step)
        if self._bar.disable:
            self.message(str(step))

    def on_interrupt(self, selection: Selection) -> None:
        """Remove the bar and keep the selection."""
        self._bar.stop()
        self.interrupted = selection


#: Stages of the work that follows the selection.
LATER_STAGES = {
    "roles": "testing relevance",
    "atoms": "decomposing information",
    "stability": "selecting on random subsamples",
}


def describe_stage(stage: Stage, n_selected: int) -> str:
    """Return what is being computed, in a few words.

    Examples
    --------
    >>> describe_stage(Stage("forward", 3, 28, 1000), 2)
    'step 3, forward: 28 candidates, 2 selected'
    """
    if stage.phase in LATER_STAGES:
        return LATER_STAGES[stage.phase]
    if stage.phase == "final":
        return f"final p-values of {counted(stage.n_candidates, 'feature')}"
    candidates = counted(stage.n_candidates, "candidate")
    return f"step {stage.step}, {stage.phase}: {candidates}, {n_selected} selected"
