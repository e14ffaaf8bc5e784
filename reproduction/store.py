"""Runs on disk, one line each: what was done is never lost, and never done again."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pidselect.report.environment import Environment, environment, identity
from reproduction.experiment import Experiment, Outcome, Point, Results

if sys.platform != "win32":
    import fcntl

#: A run: its part, its point as JSON, its seed.
Key = tuple[str, str, int]


def key_of(part: str, point: Point, seed: int) -> Key:
    """Return what tells a run from all others of an experiment.

    Examples
    --------
    >>> key_of("terms", {"b": 1, "a": 0.5}, 7)
    ('terms', '{"a": 0.5, "b": 1}', 7)
    """
    return part, json.dumps(dict(point), sort_keys=True), seed


@dataclass(frozen=True)
class Record:
    """One run: what it was of, what came out, how long it took and where."""

    part: str
    point: Point
    seed: int
    outcome: Outcome
    seconds: float
    environment: str

    @property
    def key(self) -> Key:
        """What tells it from all others."""
        return key_of(self.part, self.point, self.seed)


class Store:
    """A folder with a file of lines for each experiment.

    Every run is a line of JSON, brought to the disk as soon as it is known. A line that was cut
    short, since the process was killed while it wrote, is taken away when the file is next opened;
    anything else that is no run is an error that names the line.

    Parameters
    ----------
    folder : Path
        Made if it is not there.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     run = Record("coin", {"side": 1}, 0, {"heads": 3}, seconds=0.1, environment="here")
    ...     Store(Path(folder)).add("toss", run)
    ...     [found.outcome for found in Store(Path(folder)).records("toss").values()]
    [{'heads': 3}]
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._known: dict[str, dict[Key, Record]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing was run yet."""
        return not any(path.stat().st_size for path in self.folder.glob("*.jsonl"))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes from writing here, where the system has such locks.

        The system lets go of it when the process ends, however that ends.
        """
        with (self.folder / ".lock").open("w") as file:
            if sys.platform != "win32":
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise FileExistsError(
                        f"Another reproduction is writing to {str(self.folder)!r}. Wait for its "
                        "end, or give another folder."
                    ) from None
            yield

    def first_seed(self, wanted: int) -> int:
        """Return the seed with which the runs here begin: in a new folder, the one wanted."""
        path = self.folder / "first_seed.txt"
        if not path.exists():
            replace_text(path, f"{wanted}\n")
        return int(path.read_text(encoding="utf-8"))

    def records(self, experiment: str) -> dict[Key, Record]:
        """Return all runs of an experiment."""
        if experiment not in self._known:
            self._known[experiment] = {record.key: record for record in self._read(experiment)}
        return self._known[experiment]

    def current(self, experiment: Experiment) -> list[Record]:
        """Return the runs of an experiment as it is now, none of points that it had once."""
        known = {
            key_of(part.name, point, 0)[:2]
            for part in experiment.parts
            for point in (*part.points, *(part.quick_points or ()))
        }
        return [run for run in self.records(experiment.name).values() if run.key[:2] in known]

    def add(self, experiment: str, record: Record) -> None:
        """Write down a run."""
        known = self.records(experiment)  # also takes away a line that was cut short
        line = json.dumps(
            {
                "part": record.part,
                "point": dict(record.point),
                "seed": record.seed,
                "outcome": record.outcome,
                "seconds": round(record.seconds, 4),
                "environment": record.environment,
            },
            allow_nan=False,
        )
        with self._path(experiment).open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
        known[record.key] = record

    def here(self) -> str:
        """Write down this environment if it is new, and return its short name."""
        found = environment()
        known = self.environments()
        if (name := identity(found)) not in known:
            path = self.folder / "environments.json"
            replace_text(path, json.dumps({**known, name: found}, indent=2) + "\n")
        return name

    def environments(self) -> dict[str, Environment]:
        """Return all environments in which runs were made, by their short names."""
        path = self.folder / "environments.json"
        if not path.exists():
            return {}
        found: dict[str, Environment] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def _path(self, experiment: str) -> Path:
        return self.folder / f"{experiment}.jsonl"

    def _read(self, experiment: str) -> list[Record]:
        path = self._path(experiment)
        if not path.exists():
            return []
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            with path.open("r+b") as file:
                file.truncate(len(whole))
        return [
            _parsed(line, path, number)
            for number, line in enumerate(whole.decode("utf-8").splitlines(), start=1)
        ]


def results_of(records: Iterable[Record]) -> Results:
    """Return the outcomes by part."""
    runs: dict[str, list[tuple[Point, int, Outcome]]] = {}
    for record in records:
        runs.setdefault(record.part, []).append((record.point, record.seed, record.outcome))
    return Results(runs)


def replace_text(path: Path, text: str) -> None:
    """Put a file in its place at once: it is never seen half written."""
    beside = path.with_name(f".{path.name}.part")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)


def _parsed(line: str, path: Path, number: int) -> Record:
    try:
        found: dict[str, Any] = json.loads(line)
        return Record(**found)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"Line {number} of {str(path)!r} is no run ({error}). Delete that line to run it anew, "
            "or give another folder."
        ) from error
