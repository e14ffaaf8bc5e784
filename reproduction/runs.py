"""Runs on disk, and their execution: an interrupted reproduction can be resumed."""

from __future__ import annotations

import json
import math
import sqlite3
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from weakref import finalize

from joblib import Parallel, delayed

from pidselect.report.summary import environment
from reproduction.experiment import Arguments, Experiment, Outcome, Part, RunRecord

#: Repetitions of most parts; `RunCount.runs` scales others in proportion.
FULL_RUNS = 100

TABLE = """create table if not exists runs (
    experiment, part, point, seed, outcome, seconds, environment,
    primary key (experiment, part, point, seed)
)"""


@dataclass(frozen=True)
class RunCount:
    """How much is run: a few runs of everything or all, from which seed, on which device."""

    quick: bool = False
    runs: int = FULL_RUNS
    seed: int = 0
    device: str = "cpu"

    def repetitions(self, part: Part) -> int:
        """Return the number of runs at each point of a part.

        Examples
        --------
        >>> part = Part("terms", dict, runs=20)
        >>> [RunCount(**how).repetitions(part) for how in ({}, {"quick": True}, {"runs": 10})]
        [20, 3, 2]
        """
        if self.quick or part.runs == 1:
            return part.quick_runs if self.quick else 1
        if self.device == "cpu" and part.cpu_runs is not None:
            return part.cpu_runs
        return math.ceil(part.runs * self.runs / FULL_RUNS)

    def points(self, part: Part) -> Sequence[Arguments]:
        """Return the points of a part that are run."""
        return part.quick_points if self.quick and part.quick_points is not None else part.points


class PendingRun(NamedTuple):
    """A run to be made."""

    experiment: str
    part: Part
    point: Arguments
    seed: int
    device: str

    def __str__(self) -> str:
        point = ", ".join(f"{name}={value}" for name, value in self.point.items())
        return f"{self.experiment}/{self.part.name}({point}), seed {self.seed}"

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What identifies the run."""
        return self.experiment, self.part.name, _text(self.point), self.seed


def pending_runs(experiments: Sequence[Experiment], count: RunCount) -> list[PendingRun]:
    """Return all runs of the experiments."""
    return [
        PendingRun(experiment.name, part, point, count.seed + run, count.device)
        for experiment in experiments
        for part in experiment.parts
        for point in count.points(part)
        for run in range(count.repetitions(part))
    ]


class RunLog:
    """A file of runs, which are written when they end."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(folder / "runs.sqlite3", isolation_level=None)
        finalize(self, self._database.close)
        self._database.execute(TABLE)
        self._environment = json.dumps(environment())

    def missing(self, wanted: Sequence[PendingRun]) -> list[PendingRun]:
        """Return the runs that are not stored."""
        rows = self._database.execute("select experiment, part, point, seed from runs")
        stored = set(rows)
        return [run for run in wanted if run.key not in stored]

    def experiments(self) -> set[str]:
        """Return the names of the experiments that have runs."""
        return {name for (name,) in self._database.execute("select experiment from runs")}

    def add(self, run: PendingRun, outcome: Outcome, seconds: float) -> None:
        """Store a run."""
        try:
            text = json.dumps(outcome, allow_nan=False)
        except ValueError as error:  # a number that JSON does not have
            raise RuntimeError(f"{run}: {error}") from error
        row = (*run.key, text, round(seconds, 4), self._environment)
        self._database.execute("insert or replace into runs values (?, ?, ?, ?, ?, ?, ?)", row)

    def current(self, experiment: Experiment) -> list[RunRecord]:
        """Return the runs at the points that an experiment has now."""
        known = {
            (part.name, _text(point))
            for part in experiment.parts
            for point in (*part.points, *(part.quick_points or ()))
        }
        rows = self._database.execute(
            "select part, point, seed, outcome, seconds, environment from runs "
            "where experiment = ? order by rowid",
            [experiment.name],
        )
        return [
            RunRecord(part, json.loads(point), seed, json.loads(outcome), *others)
            for part, point, seed, outcome, *others in rows
            if (part, point) in known
        ]


def execute(
    missing: Sequence[PendingRun], *, n_jobs: int = -1
) -> Iterator[tuple[PendingRun, Outcome, float]]:
    """Make runs, and yield each with its outcome and time when it ends.

    Runs that use a GPU or all cores come first, one at a time; the others follow in parallel, long
    ones first.
    """
    alone = [run for run in missing if run.part.cpu_runs is not None]
    others = [run for run in missing if run.part.cpu_runs is None]
    others.sort(key=lambda run: -run.part.seconds)
    pool = Parallel(n_jobs, return_as="generator_unordered", batch_size=1)
    with warnings.catch_warnings():
        # Workers that grow, as they do while they compile kernels, are replaced by new ones.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
        yield from chain(map(_perform, alone), pool(delayed(_perform)(run) for run in others))


def _perform(run: PendingRun) -> tuple[PendingRun, Outcome, float]:
    start = time.perf_counter()
    options = {} if run.part.cpu_runs is None else {"device": run.device}
    try:
        outcome = run.part.run(run.seed, **run.point, **options)
    except Exception as error:
        raise RuntimeError(f"{run}: {error}") from error
    return run, outcome, time.perf_counter() - start


def _text(point: Arguments) -> str:
    return json.dumps(dict(point), sort_keys=True)
