"""Progress of a fit, of `PIDSelector.explain` and of `stability`, on standard error.

A step reports to an `Observer`; results do not depend on it. Without `verbose`, the observer is a
context variable, so that fits in several threads are reported separately.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pidselect.data.messages import counted, duration, printable
from pidselect.selection.result import Phase, Selection, Step

if TYPE_CHECKING:
    from rich.progress import Progress

logger = logging.getLogger(__name__)

#: A phase of the fit, its final p-values, the tests and atoms of `explain`, or `stability`.
StageName = Phase | Literal["final", "roles", "atoms", "stability"]

#: Stages of the work that follows the selection.
LATER_STAGES = {
    "roles": "testing relevance",
    "atoms": "decomposing information",
    "stability": "selecting on random subsamples",
}

#: Seconds between two lines of progress where there is no terminal.
LINE_INTERVAL = 15.0

#: Columns left free beside the bar for the ^C^C that a terminal prints: in a full line it would
#: start a new one, and the bar would stay.
MARGIN = 4


class Observer:
    """What a fit reports to, in its thread; this one only keeps the steps so far."""

    #: Whether progress is shown: tasks are then short.
    is_shown: bool = False

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._blank: Selection | None = None

    def begin(self, blank: Selection) -> None:
        """Handle the start of a fit, with its record without steps."""
        self.steps, self._blank = [], blank

    def on_stage(self, phase: StageName, n_candidates: int, n_values: int) -> None:
        """Handle the start of a test of at most so many values; not of one in a checkpoint.

        The values of "atoms" are features, those of "stability" subsamples.
        """

    def on_progress(self, count: int) -> None:
        """Handle `count` more values, computed or read from a checkpoint."""

    def on_step(self, step: Step) -> Step:
        """Handle a step that is decided, and return it."""
        self.steps.append(step)
        logger.debug("%s", step)
        return step

    @property
    def interrupted(self) -> Selection | None:
        """The record so far of a fit that was interrupted; None if none had begun."""
        if self._blank is None:
            return None
        steps, features = tuple(self.steps), selected_features(self.steps)
        return replace(self._blank, steps=steps, features=features, is_complete=False)


def selected_features(steps: Sequence[Step]) -> tuple[str, ...]:
    """Return the features that are selected after some steps, in the order of inclusion."""
    names: list[str] = []
    for step in steps:
        if step.outcome == "included":
            names += step.jointly_included or (step.chosen,)
        for name in step.removed:
            names.remove(name)
    return tuple(names)


_ACTIVE: ContextVar[Observer | None] = ContextVar("pidselect_observer", default=None)


@contextmanager
def observing(observer: Observer | None) -> Iterator[None]:
    """Have an observer in this block and thread; None for none."""
    token = _ACTIVE.set(observer)
    try:
        yield
    finally:
        _ACTIVE.reset(token)


def current_observer() -> Observer:
    """Return the observer of this thread, or one that shows nothing."""
    return _ACTIVE.get() or Observer()


@contextmanager
def progress_bar(verbose: int) -> Iterator[Observer]:
    """Yield the observer of a fit; if none is active, a display of the progress if `verbose`.

    It is shown in the main thread only: several bars would overwrite each other.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if _ACTIVE.get() or not verbose or not is_main:
        yield current_observer()
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


class ProgressDisplay(Observer):
    """Progress as a bar or, where it is disabled, as lines at an interval of some seconds."""

    is_shown = True

    def __init__(self, bar: Progress, interval: float = LINE_INTERVAL) -> None:
        super().__init__()
        self._bar, self._interval = bar, interval
        self._task = bar.add_task("starting", total=None)
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

    def on_stage(self, phase: StageName, n_candidates: int, n_values: int) -> None:
        """Start a new bar."""
        text = describe_stage(phase, n_candidates, self.steps)
        total = None if phase == "atoms" else n_values  # atoms are counted at the end
        is_new = text != self._bar.tasks[0].description
        start = self.status if phase in LATER_STAGES and is_new else self._start
        start(text, total)

    def on_progress(self, count: int) -> None:
        """Advance the bar, or print a line if none was printed for some seconds."""
        self._bar.advance(self._task, count)
        if self._bar.disable and self._bar.get_time() - self._last >= self._interval:
            (task,) = self._bar.tasks
            left = task.time_remaining
            about = f", about {duration(left)} left" if left is not None else ""
            self.message(f"{task.description}: {task.percentage:.0f} %{about}")

    def on_step(self, step: Step) -> Step:
        """Print the decision where there is no bar."""
        if self._bar.disable:
            self.message(str(step))
        return super().on_step(step)


def describe_stage(phase: StageName, n_candidates: int, steps: Sequence[Step] = ()) -> str:
    """Return what is being computed after some steps, in a few words.

    Examples
    --------
    >>> describe_stage("forward", 28)
    'step 1, forward: 28 candidates, 0 selected'
    """
    if phase in LATER_STAGES:
        return LATER_STAGES[phase]
    if phase == "final":
        return f"final p-values of {counted(n_candidates, 'feature')}"
    name = "marginal tests" if phase == "marginal" else f"step {len(steps) + 1}, {phase}"
    n_selected = len(selected_features(steps))
    return f"{name}: {counted(n_candidates, 'candidate')}, {n_selected} selected"
