"""Runs on disk, one line each: what was done is never lost, and never done again."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pidselect.experiments.environment import Environment, environment, identity
from pidselect.experiments.experiment import Outcome, Point, Results

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
    ...     Store(Path(folder)).results("toss").of("coin", side=1)
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

    def records(self, experiment: str) -> dict[Key, Record]:
        """Return all runs of an experiment."""
        if experiment not in self._known:
            self._known[experiment] = {record.key: record for record in self._read(experiment)}
        return self._known[experiment]

    def results(self, experiment: str) -> Results:
        """Return the outcomes by part."""
        runs: dict[str, list[tuple[Point, int, Outcome]]] = {}
        for record in self.records(experiment).values():
            runs.setdefault(record.part, []).append((record.point, record.seed, record.outcome))
        return Results(runs)

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
            path.write_text(json.dumps({**known, name: found}, indent=2) + "\n", encoding="utf-8")
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


def _parsed(line: str, path: Path, number: int) -> Record:
    try:
        found: dict[str, Any] = json.loads(line)
        return Record(**found)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"Line {number} of {str(path)!r} is no run ({error}). Delete that line to run it anew, "
            "or give another folder."
        ) from error
