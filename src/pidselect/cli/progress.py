"""Progress of a selection: a bar on a terminal, lines elsewhere, or nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pidselect.cli.output import harmless, say
from pidselect.data.messages import duration, shown

if TYPE_CHECKING:  # loaded by what needs it: help and errors come at once
    from pidselect.selection.callbacks import Stage
    from pidselect.selection.result import Selection, Step

#: Seconds between two lines of progress where there is no terminal.
BETWEEN_LINES = 15.0

#: What follows a selection, in words.
AFTERWARDS = {
    "roles": "testing roles",
    "atoms": "taking features apart",
    "stability": "selecting on random halves, {} times",
}

#: Columns that are left free beside a bar, for what the terminal itself prints there: ^C^C.
MARGIN = 4

#: After so many seconds a time is told: before, it would be a guess.
ENOUGH = 0.5


class Progress:
    """Watches a fit and says nothing of it, but keeps what is known when it is stopped."""

    def __init__(self) -> None:
        self.stopped_at: Selection | None = None
        self._stage: Stage | None = None
        self._done = 0
        self._since = 0.0
        self._n_features = 0

    def says(self, doing: str) -> None:
        """Say what comes next, such as reading a file."""

    def notes(self, text: str) -> None:
        """Pass on what the library warns of."""

    def on_stage(self, stage: Stage) -> None:
        """Take note that a test begins."""
        self._stage, self._done, self._since = stage, 0, time.monotonic()

    def on_progress(self, count: int) -> None:
        """Take note of values that came in."""
        self._done += count

    def on_step(self, step: Step) -> None:
        """Take note of a step that is decided."""
        from pidselect.selection.result import INCLUSION_PHASES

        if step.phase in INCLUSION_PHASES:
            self._n_features += step.accepted * max(1, len(step.jointly_included))
        else:
            self._n_features -= not step.accepted

    def on_interrupt(self, selection: Selection) -> None:
        """Keep what is known."""
        self.stopped_at = selection

    @property
    def share(self) -> float:
        """How much of the test under way is done, from 0 to 1."""
        total = 0 if self._stage is None else self._stage.n_values
        return min(1.0, self._done / total) if total else 0.0

    def described(self) -> str:
        """Return what is under way, such as "step 2, 12 candidates, 1 feature so far"."""
        stage = self._stage
        if stage is None:
            return "starting"
        if stage.phase in AFTERWARDS:
            return AFTERWARDS[stage.phase].format(stage.n_values)
        so_far = f"{self._n_features} feature{'s' * (self._n_features != 1)} so far"
        if stage.phase == "final":
            return f"final p-values, {so_far}"
        if stage.phase == "backward":
            return f"step {stage.step}, testing {so_far} once more"
        candidates = f"{stage.n_candidates} candidate{'s' * (stage.n_candidates != 1)}"
        return f"step {stage.step}, {candidates}, {so_far}"

    def time_left(self) -> str:
        """Return how long the test under way will take, as far as that can be told."""
        passed, share = time.monotonic() - self._since, self.share
        if self._stage is None or not share or passed < ENOUGH:
            return ""
        left = duration(passed * (1 - share) / share)
        return f"{left} left" if self._stage.is_exact else f"at most {left} left"


class Lines(Progress):
    """Progress where nobody watches a bar: a line for each step, and one now and then."""

    def __init__(self) -> None:
        super().__init__()
        self._last = time.monotonic()
        self._said = ""

    def says(self, doing: str) -> None:
        """Write what comes next."""
        self._write(doing)

    def notes(self, text: str) -> None:
        """Write what the library warns of."""
        self._write(f"Note: {text}")

    def on_stage(self, stage: Stage) -> None:
        """Write what follows a selection, once for all of its stages."""
        super().on_stage(stage)
        if stage.phase in AFTERWARDS and self.described() != self._said:
            self._said = self.described()
            self._write(self._said)

    def on_progress(self, count: int) -> None:
        """Write how far it has come, if nothing was written for some seconds."""
        super().on_progress(count)
        if time.monotonic() - self._last >= BETWEEN_LINES:
            left = self.time_left()
            self._write(f"{self.described()}: {100 * self.share:.0f} %{left and f', {left}'}")

    def on_step(self, step: Step) -> None:
        """Write what was decided."""
        super().on_step(step)
        self._write(in_words(step))

    def _write(self, text: str) -> None:
        self._last = time.monotonic()
        say(text, err=True)


def in_words(step: Step) -> str:
    """Return what a step has decided, in a line."""
    name = shown(step.chosen)
    tested = "" if step.p_value is None else f", p = {step.p_value:.4f}"
    return f"{step.phase}: {name}, {step.value:.4f} bit{tested}, {step.outcome}"


class Bar(Progress):
    """Progress on a terminal.

    Parameters
    ----------
    bar : rich.progress.Progress
        With a field "left" for the time that is left.
    """

    def __init__(self, bar: Any) -> None:
        super().__init__()
        self._bar = bar
        self._task = bar.add_task("starting", total=None, left="")

    def says(self, doing: str) -> None:
        """Show what comes next."""
        self._show(doing, None)

    def notes(self, text: str) -> None:
        """Write what the library warns of above the bar."""
        self._bar.console.print(
            f"Note: {harmless(text)}", markup=False, highlight=False, soft_wrap=True
        )

    def on_stage(self, stage: Stage) -> None:
        """Begin a new bar."""
        super().on_stage(stage)
        # Atoms are all told at the end.
        self._show(self.described(), None if stage.phase == "atoms" else stage.n_values)

    def on_progress(self, count: int) -> None:
        """Move the bar."""
        super().on_progress(count)
        self._bar.update(self._task, completed=self._done, left=self.time_left())

    def on_step(self, step: Step) -> None:
        """Show that the next step begins."""
        super().on_step(step)
        self._show(self.described(), None)

    def _show(self, what: str, total: int | None) -> None:
        # A new one, as the length of a bar that is there cannot be made unknown.
        self._bar.remove_task(self._task)
        self._task = self._bar.add_task(harmless(what), total=total, left="")


@contextmanager
def showing(quiet: bool) -> Iterator[Progress]:
    """Yield what shows progress on standard error: a bar, lines or nothing."""
    if quiet:
        yield Progress()
        return
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines()
        return
    from rich.constrain import Constrain
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as RichBar

    class Shown(RichBar):
        def get_renderable(self) -> Constrain:
            # Of a full line, what Ctrl-C prints would begin a new one, and the bar would stay.
            return Constrain(super().get_renderable(), max(1, console.width - MARGIN))

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TextColumn("{task.fields[left]}", markup=False),
    )
    with Shown(*columns, console=console, transient=True) as bar:
        yield Bar(bar)
