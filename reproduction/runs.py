"""Runs on disk, one line each, and their execution: an interrupted reproduction can be resumed."""

from __future__ import annotations

import json
import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, delayed

from pidselect.report.summary import Environment, environment
from reproduction.experiment import Arguments, Experiment, Outcome, Part, RunRecord

if sys.platform != "win32":
    import fcntl

#: Repetitions of most parts; `RunCount.runs` scales others in proportion.
FULL_RUNS = 100


def run_key(part: str, point: Arguments, seed: int) -> tuple[str, str, int]:
    """Return what identifies a run within its experiment."""
    return part, json.dumps(dict(point), sort_keys=True), seed


def write_atomically(path: Path, text: str) -> None:
    """Replace a file at once: it is never half written."""
    beside = path.with_name(f".{path.name}.part")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)


@dataclass(frozen=True)
class RunCount:
    """How much is run: a few runs of everything or all, from which seed, on which device."""

    quick: bool = False
    runs: int | None = None
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
        if self.quick:
            return part.quick_runs if self.runs is None or part.quick_runs <= 1 else self.runs
        if part.uses_device and self.device == "cpu" and part.cpu_runs is not None:
            return part.cpu_runs
        if self.runs is None or part.runs <= 1:
            return part.runs
        return max(1, math.ceil(part.runs * self.runs / FULL_RUNS))

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


def pending_runs(
    experiments: Sequence[Experiment], count: RunCount, wanted: Sequence[str]
) -> list[PendingRun]:
    """Return all runs of the wanted experiments, or of parts such as "friedman/selection"."""
    return [
        PendingRun(experiment.name, part, point, count.seed + run, count.device)
        for experiment in experiments
        for part in experiment.parts
        if {experiment.name, f"{experiment.name}/{part.name}"} & set(wanted)
        for point in count.points(part)
        for run in range(count.repetitions(part))
    ]


class RunLog:
    """A folder with a file of JSON lines for each experiment.

    A line cut short, by a process that was killed while writing, is removed when the file is read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._records: dict[str, dict[tuple[str, str, int], RunRecord]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether the folder holds no run."""
        return not any(path.stat().st_size for path in self.folder.glob("*.jsonl"))

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes from writing here, where the system has file locks."""
        with (self.folder / ".lock").open("w") as file:
            if sys.platform != "win32":
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise FileExistsError(
                        f"Another process is writing to {str(self.folder)!r}. Wait for its end, or "
                        "use another folder."
                    ) from None
            yield

    def first_seed(self, wanted: int) -> int:
        """Return the first seed of the runs in this folder: in a new one, the wanted one."""
        path = self.folder / "first_seed.txt"
        if not path.exists():
            write_atomically(path, f"{wanted}\n")
        return int(path.read_text(encoding="utf-8"))

    def records(self, experiment: str) -> dict[tuple[str, str, int], RunRecord]:
        """Return all runs of an experiment by their keys."""
        if experiment not in self._records:
            found = self._read(self.folder / f"{experiment}.jsonl")
            self._records[experiment] = {run_key(*record[:3]): record for record in found}
        return self._records[experiment]

    def current(self, experiment: Experiment) -> list[RunRecord]:
        """Return the runs at the points that an experiment has now."""
        known = {
            run_key(part.name, point, 0)[:2]
            for part in experiment.parts
            for point in (*part.points, *(part.quick_points or ()))
        }
        records = self.records(experiment.name)
        return [record for key, record in records.items() if key[:2] in known]

    def add(self, experiment: str, record: RunRecord) -> None:
        """Write a run to the disk."""
        known = self.records(experiment)  # also removes a line that was cut short
        text = json.dumps(record._asdict(), allow_nan=False)
        with (self.folder / f"{experiment}.jsonl").open("a", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        known[run_key(*record[:3])] = record

    def this_environment(self) -> str:
        """Store this environment if it is new, and return its short name."""
        found, known = environment(), self.environments()
        if (name := identity(found)) not in known:
            text = json.dumps({**known, name: found}, indent=2)
            write_atomically(self.folder / "environments.json", text + "\n")
        return name

    def environments(self) -> dict[str, Any]:
        """Return the environments of the runs by their short names."""
        path = self.folder / "environments.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def _read(self, path: Path) -> list[RunRecord]:
        if not path.exists():
            return []
        content = path.read_bytes()
        complete = content[: content.rfind(b"\n") + 1]
        if len(complete) < len(content):
            with path.open("r+b") as file:
                file.truncate(len(complete))
        records = []
        for number, text in enumerate(complete.decode("utf-8").splitlines(), start=1):
            try:
                records.append(RunRecord(**json.loads(text)))
            except (ValueError, TypeError) as error:
                raise ValueError(
                    f"Line {number} of {str(path)!r} is not a run ({error}). Delete the line to "
                    "repeat the run, or use another folder."
                ) from error
        return records


def execute(
    wanted: Sequence[PendingRun],
    log: RunLog,
    *,
    n_jobs: int | None = None,
    on_run: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Make the runs that the log does not hold, and add each to it when it ends.

    Runs that use a GPU or all cores come first, one at a time; the others follow in parallel, long
    ones first.

    Parameters
    ----------
    n_jobs : int, optional
        Processes; None for one per core.
    on_run : callable
        Called with the numbers of finished runs and of all runs.
    """
    missing = [
        run
        for run in wanted
        if run_key(run.part.name, run.point, run.seed) not in log.records(run.experiment)
    ]
    missing.sort(key=lambda run: (not run.part.uses_device, -run.part.seconds))
    n_single = sum(run.part.uses_device for run in missing)
    here = log.this_environment() if missing else ""
    calls = (delayed(_perform)(place, run) for place, run in enumerate(missing[n_single:]))
    pool = Parallel(-1 if n_jobs is None else n_jobs, return_as="generator_unordered", batch_size=1)

    def finished() -> Iterator[tuple[PendingRun, Outcome, float]]:
        for run in missing[:n_single]:
            yield run, *_perform(0, run)[1:]
        with warnings.catch_warnings():
            # Workers that grow, as they do while they compile kernels, are replaced by new ones.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs were given")
            for place, outcome, seconds in pool(calls):
                yield missing[n_single + place], outcome, seconds

    for done, (run, outcome, seconds) in enumerate(finished(), start=1):
        record = RunRecord(run.part.name, run.point, run.seed, outcome, round(seconds, 4), here)
        try:
            log.add(run.experiment, record)
        except ValueError as error:  # a number that JSON does not have
            raise RuntimeError(f"{run}: {error}") from error
        on_run(done, len(missing))


def _perform(place: int, run: PendingRun) -> tuple[int, Outcome, float]:
    start = time.perf_counter()
    options = {"device": run.device} if run.part.uses_device else {}
    try:
        outcome = run.part.run(run.seed, **run.point, **options)
    except Exception as error:
        raise RuntimeError(f"{run}: {error}") from error
    return place, outcome, time.perf_counter() - start


def identity(found: Environment) -> str:
    """Return a short hash of an environment."""
    return sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:8]
