"""Progress of a selection on standard error, and a warning before a very long one."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import joblib
import numpy as np

from pidselect.data.messages import counted, duration, printable
from pidselect.estimators import KSG, Mixed
from pidselect.selection.callbacks import Callback, Stage, selected_features
from pidselect.selection.context import SelectionContext
from pidselect.selection.executor import PERMUTATION_BATCH
from pidselect.selection.forward import SelectionPlan
from pidselect.selection.pool import Feature, FeaturePool, Features
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
    plan: SelectionPlan,
    *,
    long: float = LONG,
    clock: Clock = time.perf_counter,
) -> None:
    """Time a small part of the work; log a warning if all of it takes `long` seconds or more."""
    candidates, n_samples = pool.candidates, context.target.n_samples
    n_permutations = context.n_permutations
    if n_permutations is None:
        n_permutations = SEQUENTIAL_PERMUTATIONS
    n_scores = len(candidates) * (1 + context.n_pilot + n_permutations)
    n_steps = min(len(candidates), 1 + TYPICAL_FEATURES, plan.remaining_columns(()))
    if not n_steps or n_samples * n_scores < MIN_TIMED_WORK or not context.executor.device.is_cpu:
        return  # on a GPU, compiling the kernels takes longer than what would be timed
    has_neighbours = any(isinstance(named.estimator, KSG | Mixed) for named in context.estimators)
    growth = GROWTH if has_neighbours else 1.0

    def seconds_per_step(given: Features) -> float:
        n_timed = min(n_samples, TIMED_SAMPLES)
        to_bind, to_score = _time(context, candidates[0], given, n_timed, clock)
        per_worker = n_scores / context.executor.count_workers()
        return (to_bind + per_worker * to_score) * (n_samples / n_timed) ** growth

    given = plan.criterion.conditioning_set(pool.fixed, ())
    given_more = plan.criterion.conditioning_set(pool.fixed, candidates[-1:])
    first = seconds_per_step(given)
    if first * (1 + SLOWDOWN * (n_steps - 1)) < long:
        return
    # The first calls may have compiled kernels: time again what looks long.
    first = later = min(first, seconds_per_step(given))
    if n_steps > 1 and given_more != given:
        later = min(seconds_per_step(given_more) for _ in range(2))
    expected = first + (n_steps - 1) * later
    if expected < long:
        return
    remedies = [fewer_samples(n_samples, expected, growth)]
    if context.executor.count_workers() < joblib.cpu_count():
        remedies.append("n_jobs=-1 uses all cores")
    logger.warning(
        f"Selecting from {counted(len(candidates), 'candidate')} with {n_samples} samples takes "
        f"about {duration(later)} per step, about {duration(expected)} for "
        f"{counted(int(min(n_steps, TYPICAL_FEATURES)), 'selected feature')}. "
        + "; ".join(filter(None, remedies))
    )


def fewer_samples(n_samples: int, seconds: float, power: float = GROWTH) -> str:
    """Return the number of samples that takes half a minute, as a setting; nothing if too few."""
    share = (LONG / 2 / seconds) ** (1 / power)
    fewer = max(MIN_SAMPLES, int(float(f"{share * n_samples:.2g}")))
    if fewer >= n_samples:
        return ""
    return f"max_samples={fewer} takes about {duration(seconds * (fewer / n_samples) ** power)}"


def _time(
    context: SelectionContext, candidate: Feature, given: Features, n_timed: int, clock: Clock
) -> tuple[float, float]:
    """Return the seconds to bind some of the samples, and to score one permutation of them."""
    rows = np.linspace(0, context.target.n_samples - 1, n_timed).astype(np.int64)
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
        bound.score(candidate.take(rows).block, sampler((0,), permutations))
    return ready - start, (clock() - ready) / len(permutations)


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
