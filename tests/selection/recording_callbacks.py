"""Callbacks that record every call, or interrupt a fit."""

from __future__ import annotations

from pidselect.selection.callbacks import Callback


class Recorder(Callback):
    """Record the calls in order, as pairs of event and argument."""

    def __init__(self):
        self.calls = []

    def on_stage(self, stage):
        self.calls.append(("stage", stage))

    def on_progress(self, count):
        self.calls.append(("progress", count))

    def on_step(self, step):
        self.calls.append(("step", step))

    def on_interrupt(self, selection):
        self.calls.append(("interrupt", selection))

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

    def on_stage(self, stage):
        super().on_stage(stage)
        self._raise_if_due("stage")

    def on_progress(self, count):
        super().on_progress(count)
        self._raise_if_due("progress")

    def on_step(self, step):
        super().on_step(step)
        self._raise_if_due("step")

    def _raise_if_due(self, event):
        if self.due == (event, len(self.all(event))):
            raise self.error
