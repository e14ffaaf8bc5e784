"""Observers that record every call, or interrupt a fit."""

from __future__ import annotations

from typing import NamedTuple

from pidselect.selection.progress import Observer


class Stage(NamedTuple):
    """A stage, and the number of the step that it decides."""

    phase: str
    step: int
    n_candidates: int
    n_values: int


class Recorder(Observer):
    """Record the calls in order, as pairs of event and argument."""

    is_shown = True

    def __init__(self):
        super().__init__()
        self.calls = []

    def on_stage(self, phase, n_candidates, n_values):
        self.record("stage", Stage(phase, len(self.steps) + 1, n_candidates, n_values))

    def on_progress(self, count):
        self.record("progress", count)

    def on_step(self, step):
        super().on_step(step)
        self.record("step", step)
        return step

    def record(self, event, what):
        self.calls.append((event, what))

    def all(self, event):
        """Return the arguments of all calls of one event."""
        return [what for name, what in self.calls if name == event]

    @property
    def stages(self):
        """All stages, each with the number of values reported until the next one."""
        counts = []
        for name, what in self.calls:
            if name == "stage":
                counts.append([what, 0])
            elif name == "progress":
                counts[-1][1] += what
        return counts


class Interrupting(Recorder):
    """Raise an error at the given number of calls of an event."""

    def __init__(self, event, number, error=KeyboardInterrupt):
        super().__init__()
        self.due = event, number
        self.error = error

    def record(self, event, what):
        super().record(event, what)
        if self.due == (event, len(self.all(event))):
            raise self.error
