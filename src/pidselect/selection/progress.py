"""Progress of a selection on standard error."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pidselect.data.messages import counted, duration, printable
from pidselect.selection.callbacks import Callback, Stage, selected_features
from pidselect.selection.result import Selection, Step

if TYPE_CHECKING:
    from rich.progress import Progress

#: Seconds between two lines of progress where there is no terminal.
LINE_INTERVAL = 15.0

#: Columns left free beside the bar for the ^C^C that a terminal prints: in a full line it would
#: start a new one, and the bar would stay.
MARGIN = 4


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
    if stage.phase == "marginal":
        return f"marginal tests: {candidates}, {n_selected} selected"
    return f"step {stage.step}, {stage.phase}: {candidates}, {n_selected} selected"
