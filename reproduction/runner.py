"""Make the runs that are not there yet, in several processes, and say how long it will take."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from joblib import Parallel, delayed

from pidselect.selection.executor import count_workers
from pidselect.selection.validation import check_device
from reproduction.experiment import Experiment, Outcome, Part, Point
from reproduction.store import Record, Store, key_of

#: Seconds of work after which the time taken counts as much as what was expected.
BELIEVED = 60.0

#: The runs of most parts in the full reproduction; other parts are repeated in proportion.
FULL_RUNS = 100


@dataclass(frozen=True)
class Plan:
    """How much is to be run.

    Parameters
    ----------
    quick : bool
        A few runs of everything.
    runs : int, optional
        Of the parts that the full reproduction repeats 100 times; of others in proportion.
    seed : int
        Of the first run.
    device : {"cpu", "cuda"}
        Where parts that can use a GPU are run.
    """

    quick: bool = False
    runs: int | None = None
    seed: int = 0
    device: str = "cpu"

    def n_runs(self, part: Part) -> int:
        """Return how often each point of a part is run.

        Examples
        --------
        >>> part = Part("terms", dict, runs=20)
        >>> Plan().n_runs(part), Plan(quick=True).n_runs(part), Plan(runs=10).n_runs(part)
        (20, 3, 2)
        """
        if self.quick:
            number = part.quick_runs
        elif part.on_gpu and self.device == "cpu" and part.cpu_runs is not None:
            return part.cpu_runs
        else:
            number = part.runs
        if self.runs is None or number <= 1:
            return number
        if self.quick:
            return self.runs
        return max(1, math.ceil(number * self.runs / FULL_RUNS))

    def points(self, part: Part) -> Sequence[Point]:
        """Return the points of a part that are run."""
        if self.quick and part.quick_points is not None:
            return part.quick_points
        return part.points


class Task(NamedTuple):
    """One run to be made."""

    experiment: str
    part: Part
    point: Point
    seed: int
    device: str

    @property
    def seconds(self) -> float:
        """How long it takes, roughly."""
        on_gpu = self.part.gpu_seconds if self.device == "cuda" else None
        return self.part.seconds if on_gpu is None else on_gpu

    def __str__(self) -> str:
        point = ", ".join(f"{name}={value}" for name, value in self.point.items())
        return f"{self.experiment}/{self.part.name}({point}), seed {self.seed}"


class State(NamedTuple):
    """How far it has come.

    Parameters
    ----------
    task : Task
        The run that has just ended.
    done, total : int
        Runs.
    seconds_left : float
    """

    task: Task
    done: int
    total: int
    seconds_left: float


def planned(
    experiments: Sequence[Experiment], plan: Plan, parts: Sequence[str] | None = None
) -> list[Task]:
    """Return all runs of a plan.

    Parameters
    ----------
    parts : sequence of str, optional
        Only these, each as "experiment" or "experiment/part".
    """
    return [
        Task(experiment.name, part, point, plan.seed + run, plan.device)
        for experiment in experiments
        for part in experiment.parts
        if parts is None or {experiment.name, f"{experiment.name}/{part.name}"} & set(parts)
        for point in plan.points(part)
        for run in range(plan.n_runs(part))
    ]


def make(
    tasks: Sequence[Task],
    store: Store,
    *,
    n_jobs: int | None = None,
    watch: Callable[[State], None] = lambda state: None,
) -> None:
    """Make the runs that the store does not have, and put each into it as soon as it is there.

    Long ones go first, so that the last worker does not finish long after the others. Runs that
    may use a GPU, or all cores by themselves, come after them, one at a time.

    Parameters
    ----------
    tasks : sequence of Task
    store : Store
    n_jobs : int, optional
        Processes; None or -1 for as many as there are cores.
    watch : callable
        Is told after each run.
    """
    missing = [
        task
        for task in tasks
        if key_of(task.part.name, task.point, task.seed) not in store.records(task.experiment)
    ]
    together = sorted((t for t in missing if not t.part.on_gpu), key=lambda t: -t.seconds)
    alone = [task for task in missing if task.part.on_gpu]
    if any(task.device == "cuda" for task in alone):
        check_device("cuda")  # now, and not after hours of other runs
    workers = count_workers(-1 if n_jobs is None else n_jobs)
    clock = Clock(together, alone, workers)
    here = store.here() if missing else ""

    def note(task: Task, outcome: Outcome, seconds: float) -> None:
        record = Record(task.part.name, task.point, task.seed, outcome, seconds, here)
        try:
            store.add(task.experiment, record)
        except ValueError as error:
            error.add_note(f"This was {task}.")
            raise
        clock.note(task)
        watch(State(task, clock.done, clock.total, clock.seconds_left))

    pool = Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)
    calls = (delayed(_perform_numbered)(number, task) for number, task in enumerate(together))
    with warnings.catch_warnings():
        # Workers that grow, as they do while they compile kernels, are replaced by new ones.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
        for number, outcome, seconds in pool(calls):
            note(together[number], outcome, seconds)
    for task in alone:
        note(task, *perform(task))


def perform(task: Task) -> tuple[Outcome, float]:
    """Make one run, and return what came out and how long it took."""
    start = time.perf_counter()
    options = {"device": task.device} if task.part.on_gpu else {}
    try:
        outcome = task.part.run(task.seed, **task.point, **options)
    except Exception as error:
        error.add_note(f"This was {task}.")
        raise
    return outcome, time.perf_counter() - start


def _perform_numbered(number: int, task: Task) -> tuple[int, Outcome, float]:
    return number, *perform(task)


class Clock:
    """Tells the time left from the rough seconds of each part and the time taken so far."""

    def __init__(self, together: Sequence[Task], alone: Sequence[Task], workers: int) -> None:
        self.done, self.total = 0, len(together) + len(alone)
        self._share = 1.0 / workers
        self._ahead = self._expected(together, alone)
        self._behind = 0.0
        self._start = time.perf_counter()

    @property
    def seconds_left(self) -> float:
        """Seconds until all is done, if the rest goes as what was done so far.

        What parts say of themselves counts as much as a minute's work: the first runs of all
        wait for kernels to be compiled.
        """
        taken = time.perf_counter() - self._start
        return max(0.0, self._ahead) * (taken + BELIEVED) / (self._behind + BELIEVED)

    def note(self, task: Task) -> None:
        """Count a run that has ended."""
        self.done += 1
        took = self._expected((), (task,)) if task.part.on_gpu else self._expected((task,), ())
        self._behind += took
        self._ahead -= took

    def _expected(self, together: Sequence[Task], alone: Sequence[Task]) -> float:
        shared = sum(task.seconds for task in together) * self._share
        return shared + sum(task.seconds for task in alone)
