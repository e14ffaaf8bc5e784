"""Estimators that record or kill the processes they run in, and a time limit.

Every process can import them by name, as those of users.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from uuid import uuid4

from sklearn.base import BaseEstimator

from pidselect.data import Column
from pidselect.estimators import Batch, Gaussian

#: What ends a process at once; Windows has but one such signal.
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)

#: No fit here takes more than a few seconds.
PATIENCE = 90.0


def within(function, seconds=PATIENCE):
    """Call a function with a time limit."""
    outcome = []

    def work():
        try:
            outcome.append((function(), None))
        except Exception as error:
            outcome.append((None, error))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    assert outcome, f"there was no result within {seconds} seconds"
    value, error = outcome[0]
    if error is not None:
        raise error
    return value


class Counting(BaseEstimator):
    """The Gaussian estimator, whose scorers note in a folder where they are packed and unpacked.

    Parameters
    ----------
    folder : str
        With a file for every event: "packed" or "unpacked", the scorer, the process.
    """

    def __init__(self, folder=None):
        self.folder = folder

    def bind(self, target, given, **settings):
        return CountedScorer(Gaussian().bind(target, given), self.folder, uuid4().hex)


@dataclass(frozen=True, eq=False)
class CountedScorer:
    scorer: object
    folder: str
    name: str

    def score(self, batch):
        note(self.folder, "used", self.name)
        return self.scorer.score(batch)

    def __reduce__(self):
        note(self.folder, "packed", self.name)
        return unpack, (self.scorer, self.folder, self.name)

    def __deepcopy__(self, memo):
        return self  # a copy within a process is no parcel


def unpack(*arguments):
    scorer = CountedScorer(*arguments)
    note(scorer.folder, "unpacked", scorer.name)
    return scorer


def note(folder, event, name):
    (Path(folder) / f"{event} {name} {os.getpid()} {uuid4().hex}").touch()


def notes(folder, event):
    """Return the scorer and the process of every such event."""
    found = [path.name.split() for path in Path(folder).iterdir()]
    return [(name, int(process)) for what, name, process, _ in found if what == event]


class Mortal(BaseEstimator):
    """The Gaussian estimator, which ends its process in the middle of its work.

    Parameters
    ----------
    folder : str
        With a file for every death.
    home : int
        A process that is spared.
    lives : int
        How often processes end.
    """

    def __init__(self, folder=None, home=0, lives=1):
        self.folder = folder
        self.home = home
        self.lives = lives

    def bind(self, target, given, **settings):
        scorer = Gaussian().bind(target, given)
        # With something given: the first step is over by then.
        return MortalScorer(scorer, self) if len(given) else scorer


@dataclass(frozen=True, eq=False)
class MortalScorer:
    scorer: object
    estimator: Mortal

    def score(self, batch):
        if os.getpid() != self.estimator.home:
            for life in range(self.estimator.lives):
                if take(Path(self.estimator.folder) / f"life {life}"):
                    os.kill(os.getpid(), KILL)
        return self.scorer.score(batch)


#: Calls of watching scorers in this process for a test, of which a few are noted: it takes long.
CALLS = count()


class Watching(Mortal):
    """A mortal estimator that notes in the folder which columns its process has."""

    def bind(self, target, given, **settings):
        return WatchingScorer(super().bind(target, given), self)


@dataclass(frozen=True, eq=False)
class WatchingScorer:
    scorer: object
    estimator: Watching

    def score(self, batch):
        return self.score_together([batch.block], batch.rows)[0]

    def score_together(self, blocks, rows):
        is_test = os.getpid() != self.estimator.home and len(rows) > 10
        if is_test and next(CALLS) % 3 == 0:
            names = {each.name for each in gc.get_objects() if type(each) is Column}
            with (Path(self.estimator.folder) / f"columns {os.getpid()}").open("a") as file:
                file.write(" ".join(names) + "\n")
        return [self.scorer.score(Batch.of_permutations(block, rows)) for block in blocks]


def most_columns(folder):
    """Return the most columns that a process has had at a time."""
    notes = [path.read_text() for path in Path(folder).glob("columns *")]
    return max(len(line.split()) for note in notes for line in note.splitlines())


def take(path):
    """Return whether the file was created by this call."""
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def deaths(folder):
    return len(list(Path(folder).glob("life *")))


class Failing(BaseEstimator):
    """An estimator with a bug, that shows with something given."""

    def bind(self, target, given, **settings):
        return FailingScorer() if len(given) else Gaussian().bind(target, given)


class FailingScorer:
    def score(self, batch):
        raise ValueError(f"no value for {batch.block.names[0]}")
