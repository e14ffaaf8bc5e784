"""A watcher that remembers all it is told."""

from __future__ import annotations

from pidselect.selection.callbacks import Callback


class Memory(Callback):
    """Keep what came, in order: a list of pairs of what happened and of what it was about."""

    def __init__(self):
        self.heard = []

    def on_stage(self, stage):
        self.heard.append(("begins", stage))

    def on_progress(self, count):
        self.heard.append(("advances", count))

    def on_step(self, step):
        self.heard.append(("took", step))

    def on_interrupt(self, selection):
        self.heard.append(("stopped", selection))

    def all(self, event):
        """Return what all events of one kind were about."""
        return [what for name, what in self.heard if name == event]

    @property
    def stages(self):
        """All stages, each with the number of values that came in until the next one began."""
        counts = []
        for name, what in self.heard:
            if name == "begins":
                counts.append([what, 0])
            elif name == "advances":
                counts[-1][1] += what
        return counts


class Interrupting(Memory):
    """Press Ctrl-C, or what else is given, as soon as so many events of a kind have come."""

    def __init__(self, event, number, error=KeyboardInterrupt):
        super().__init__()
        self.due = event, number
        self.error = error

    def on_stage(self, stage):
        super().on_stage(stage)
        self._look("begins")

    def on_progress(self, count):
        super().on_progress(count)
        self._look("advances")

    def on_step(self, step):
        super().on_step(step)
        self._look("took")

    def _look(self, event):
        if self.due == (event, len(self.all(event))):
            raise self.error
