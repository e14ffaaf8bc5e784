"""Selectors on the same tables: what they find, what they select besides, and the time.

A cell is one method on one table. Each is stored as soon as it is done, so that a run that is
stopped or killed loses the running cells alone, and the next run does what is missing. Numbers go
to results/comparison.json, from which `tables.py` writes comparison.md and `--draw` draws its
pictures. The other selectors run in an environment of their own, out/compare-env.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np
from common import RESULTS, circumstances, positive
from compare_tasks import TASKS
from peers import ONE_THREAD
from selectors_process import PACKAGES, find_peers

HERE = Path(__file__).parent
STORED, JOURNAL = RESULTS / "comparison.json", HERE / "out" / "comparison.jsonl"
IMAGES = HERE.parent / "docs" / "images"
FOLDER = "compare-env"
COMPARED = (
    *(*PACKAGES, "skrebate==0.8.4", "mrmr_selection==0.2.8", "hidimstat==0.4.0"),
    "packaging",  # which hidimstat imports, and does not ask for
)

OURS = ("minimal", "relevant")
METHODS = (
    *OURS,
    *("kbest", "mrmr", "multisurf", "sfs", "rfecv", "boruta", "dcrt", "hiton"),
)
SLOW = ("rfecv", "boruta")
LIMIT = 600.0  # seconds of a cell

Cell = dict[str, Any]


class Key(NamedTuple):
    """A method on one table."""

    task: str
    case: str
    seed: int
    method: str


def plan(tasks: Sequence[str], methods: Sequence[str], runs: int | None = None) -> list[Key]:
    """Return all cells, the first table of every case and method before the second of any."""
    keys = [
        Key(name, case, seed, method)
        for name in tasks
        for case in TASKS[name].cases
        for method in (*TASKS[name].extra, *methods)
        for seed in range(runs or TASKS[name].n_runs(method in SLOW))
    ]

    def share(key: Key) -> tuple[bool, float]:
        """By share of the whole, so that a case of a hundred tables is not the last to end."""
        return key.seed > 0, key.seed / TASKS[key.task].n_runs(key.method in SLOW)

    return sorted(keys, key=share)


# ---------------------------------------------------------------------------- workers


@dataclass
class Worker:
    """A process that selects; it is started when needed, and ended if it takes too long."""

    python: str
    process: subprocess.Popen[str] | None = field(default=None, repr=False)

    def ask(self, limit: float, **request: Any) -> dict[str, Any]:
        """Return the answer; a note beyond the limit."""
        process = self.process or self.start()
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("The worker has no pipes.")
        timer = threading.Timer(limit, process.kill)
        timer.start()
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            said = process.stdout.readline()
        except BrokenPipeError:
            said = ""
        is_late = not timer.is_alive()
        timer.cancel()
        if said:
            return json.loads(said)
        self.end()
        return {"note": f"over {limit:.0f} s" if is_late else "failed: its process has ended"}

    def start(self) -> subprocess.Popen[str]:
        """Start the process, and wait until it answers: what it imports is not timed."""
        command = [self.python, str(HERE / "compare_worker.py")]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        environment = os.environ | ONE_THREAD | {"PYTHONWARNINGS": "ignore"}
        self.process = subprocess.Popen(
            command, env=environment, stderr=subprocess.DEVNULL, **pipes
        )
        self.ask(LIMIT, method="versions")
        return self.process

    def end(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


class Workers:
    """Two workers of each thread: one for our methods, one with the other selectors."""

    def __init__(self, own: str, others: str) -> None:
        self._pythons = own, others
        self._local = threading.local()
        self._all: list[Worker] = []

    def of(self, method: str) -> Worker:
        """Return the worker of this thread that has a method."""
        if not hasattr(self._local, "pair"):
            own, others = self._pythons
            self._local.pair = Worker(own), Worker(others)
            self._all += self._local.pair
        return self._local.pair[method not in (*OURS, "all")]

    def end(self) -> None:
        """End all processes."""
        for worker in self._all:
            worker.end()


def measure(key: Key, workers: Workers, limit: float, deadline: float) -> Cell | None:
    """Return the cell of a method on a table; None if time is up before."""
    task = TASKS[key.task]
    table = task.cases[key.case].make(key.seed)
    left = deadline - time.monotonic()
    if left <= 0:
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.npz"
        np.savez(file, **table.to_arrays())
        worker = workers.of(key.method)
        told = worker.ask(min(limit, left), method=key.method, file=str(file), seed=key.seed)
    if "note" in told:
        cut_off = left < limit and told["note"].startswith("over")
        return None if cut_off else {**key._asdict(), "note": told["note"]}
    measures = {**task.measure(table, {*told["selected"]}), **told["scores"]}
    times = {name: round(told[name], 4) for name in ("seconds", "cpu_seconds")}
    rounded = {name: round(float(value), 5) for name, value in measures.items()}
    return {**key._asdict(), **times, **rounded}


# ---------------------------------------------------------------------------- stored cells


def key_of(cell: Cell) -> Key:
    """Return the key of a cell."""
    return Key(*(cell[name] for name in Key._fields))


def read(stored: Path, journal: Path) -> tuple[list[dict[str, Any]], list[Cell]]:
    """Return circumstances and cells; a last line that was not written to its end is cut off."""
    machines: list[dict[str, Any]] = []
    cells: dict[Key, Cell] = {}
    if stored.exists():
        results = json.loads(stored.read_text(encoding="utf-8"))["results"]
        machines = results["machines"]
        cells = {key_of(cell): cell for cell in unpacked(results["cells"])}
    if journal.exists():
        text = journal.read_text(encoding="utf-8")
        journal.write_text(text[: text.rfind("\n") + 1], encoding="utf-8")
        for line in text.split("\n")[:-1]:
            one = json.loads(line)
            if "machine" in one and "task" not in one:
                place = add(machines, one["machine"])
            else:
                cells[key_of(one)] = {**one, "machine": place}
    # Cases that the comparison has no more are forgotten.
    return machines, [cell for key, cell in cells.items() if key.case in TASKS[key.task].cases]


def add(machines: list[dict[str, Any]], machine: dict[str, Any]) -> int:
    """Return the place of a machine among those known, to which it is added."""
    if machine not in machines:
        machines.append(machine)
    return machines.index(machine)


def packed(cells: Iterable[Cell]) -> list[dict[str, Any]]:
    """Group cells by task, case and method: names once, then a line of values for each seed."""
    groups: dict[tuple[Any, ...], dict[str, Any]] = {}
    for cell in sorted(cells, key=lambda cell: (order_of(key_of(cell)), cell["seed"])):
        about = {name: cell[name] for name in ("task", "case", "method")}
        values = {name: value for name, value in cell.items() if name not in about}
        group = groups.setdefault((*about.values(), *values), {**about, "names": [*values]})
        group.setdefault("values", []).append([*values.values()])
    return list(groups.values())


def unpacked(groups: Iterable[dict[str, Any]]) -> Iterator[Cell]:
    """Yield the cells again."""
    for group in groups:
        about = {name: group[name] for name in ("task", "case", "method")}
        for values in group["values"]:
            yield {**about, **dict(zip(group["names"], values, strict=True))}


def order_of(key: Key) -> tuple[int, int, int]:
    """Return the place of a cell in tables."""
    names = [*TASKS], [*TASKS[key.task].cases], ["all", *METHODS]
    return names[0].index(key.task), names[1].index(key.case), names[2].index(key.method)


# ---------------------------------------------------------------------------- summary


def summarise(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return a row for each task, title of cases and method, and for each method in all cases."""
    cells = with_differences(cells)
    groups: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: order_of(key_of(cell))):
        for case in (TASKS[cell["task"]].cases[cell["case"]].title, "all cases"):
            groups.setdefault((cell["task"], case, cell["method"]), []).append(cell)
    return [row(*names, group) for names, group in groups.items()]


def row(task: str, case: str, method: str, cells: Sequence[Cell]) -> dict[str, Any]:
    """Return means with standard errors, the number of tables, and notes with their counts.

    In all cases, each case has the same weight: the mean of their means, and its standard error.
    """
    found: dict[str, Any] = {"task": task, "case": case, "method": method}
    done = [cell for cell in cells if "note" not in cell]
    known = {cell["case"] for cell in done}
    found |= {"tables": len(done), "cases": len(known)}
    notes = [cell["note"].partition(":")[0] for cell in cells if "note" in cell]
    if notes:
        found["notes"] = {note: notes.count(note) for note in dict.fromkeys(notes)}
    skipped = {"task", "case", "method", "seed", "machine"}
    for name in dict.fromkeys(name for cell in done for name in cell if name not in skipped):
        by_case = [
            [cell[name] for cell in done if cell["case"] == one and name in cell]
            for one in sorted(known)
        ]
        found[name] = mean_of([values for values in by_case if values])
    return found


def mean_of(by_case: Sequence[Sequence[float]]) -> dict[str, float | None]:
    """Return the mean of the means of cases, and its standard error.

    None if a case has one value only.
    """
    mean = fmean(fmean(values) for values in by_case)
    error = None
    if all(len(values) > 1 for values in by_case):
        variances = [stdev(values) ** 2 / len(values) for values in by_case]
        error = round(math.sqrt(math.fsum(variances)) / len(by_case), 6)
    elif len(by_case) > 1:  # few tables of each case: the spread over cases is in it
        means = [fmean(values) for values in by_case]
        error = round(stdev(means) / math.sqrt(len(means)), 6)
    return {"mean": round(mean, 6), "standard_error": error}


def with_differences(cells: Sequence[Cell]) -> list[Cell]:
    """Replace scores of predictors by their differences to those with all columns, fold by fold."""
    whole = {(c["task"], c["case"], c["seed"]): c for c in cells if c["method"] == "all"}
    changed = []
    for cell in cells:
        other = whole.get((cell["task"], cell["case"], cell["seed"]))
        if other is not None and cell["method"] != "all":
            both = {name for name in ("forest", "linear") if name in cell}
            cell = cell | {name: round(cell[name] - other[name], 5) for name in both}
        changed.append(cell)
    return changed


def store(path: Path, machines: list[dict[str, Any]], cells: Sequence[Cell]) -> None:
    """Write the results in one step: a reader sees the old file or the new one."""
    rows = summarise(cells)
    results = {
        "machines": machines,
        "methods": [*METHODS],
        "titles": {
            name: list(dict.fromkeys(case.title for case in task.cases.values()))
            for name, task in TASKS.items()
        },
        "n_cases": {name: len(task.cases) for name, task in TASKS.items()},
        "rows": rows,
        "cells": packed(cells),
    }
    record = {
        "benchmark": "comparison",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "options": {"limit": LIMIT},
        "environment": machines[-1] if machines else circumstances(),
        "results": results,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(compact(record) + "\n", encoding="utf-8")
    os.replace(partial, path)


def compact(record: Any, depth: int = 0) -> str:
    """Return JSON with a line for each row and group of cells, not for each number."""
    if depth < 3 and record and isinstance(record, dict):
        inside = (f"{json.dumps(k)}: {compact(v, depth + 1)}" for k, v in record.items())
        return "{\n" + ",\n".join(inside) + "\n}"
    if depth < 3 and record and isinstance(record, list):
        return "[\n" + ",\n".join(json.dumps(one) for one in record) + "\n]"
    return json.dumps(record)


# ---------------------------------------------------------------------------- run


def run(
    keys: Sequence[Key],
    workers: Workers,
    machine: dict[str, Any],
    options: argparse.Namespace,
) -> int:
    """Measure cells in threads and append each to the journal; return how many were done."""
    deadline = time.monotonic() + 60 * options.minutes
    options.journal.parent.mkdir(parents=True, exist_ok=True)
    n_done = 0
    with (
        options.journal.open("a", encoding="utf-8") as journal,
        ThreadPoolExecutor(options.jobs) as pool,
    ):
        append(journal, {"machine": machine})
        futures = [pool.submit(measure, key, workers, options.limit, deadline) for key in keys]
        try:
            for future in as_completed(futures):
                cell = future.result()
                if cell is not None:
                    append(journal, cell)
                    n_done += 1
                    say(cell, n_done, len(keys))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            workers.end()
    return n_done


def append(journal: Any, line: dict[str, Any]) -> None:
    """Write a line to the disk."""
    journal.write(json.dumps(line) + "\n")
    journal.flush()
    os.fsync(journal.fileno())


def say(cell: Cell, n_done: int, n_cells: int) -> None:
    """Print what was done."""
    about = " ".join(str(value) for value in key_of(cell))
    took = cell.get("note") or f"{cell['seconds']:.1f} s"
    print(f"{n_done} of {n_cells}: {about}: {took}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is missing, store it, and draw."""
    command = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    command.add_argument("--tasks", nargs="+", choices=TASKS, default=[*TASKS], help="some of them")
    command.add_argument("--methods", nargs="+", choices=METHODS, default=[*METHODS])
    command.add_argument("--runs", type=positive, help="tables of each case (as in compare_tasks)")
    command.add_argument("--jobs", type=positive, default=1, help="cells at a time (1)")
    command.add_argument(
        "--limit", type=float, default=LIMIT, help=f"seconds of a cell ({LIMIT:g})"
    )
    command.add_argument("--minutes", type=float, default=math.inf, help="stop after these")
    command.add_argument("--fresh", action="store_true", help="forget the stored cells")
    command.add_argument("--draw", action="store_true", help="only draw what is stored")
    command.add_argument("--out", type=Path, default=STORED, help="results/comparison.json")
    command.add_argument("--journal", type=Path, default=JOURNAL, help="out/comparison.jsonl")
    command.add_argument("--python", help="of the other selectors (out/compare-env)")
    options = command.parse_args(arguments)
    if not options.draw:
        compare(options)
    if options.out == STORED:
        from compare_plot import draw_all  # needs matplotlib

        draw_all(json.loads(STORED.read_text(encoding="utf-8"))["results"], IMAGES)


def compare(options: argparse.Namespace) -> None:
    """Measure what is missing, and store it."""
    if options.fresh:
        options.out.unlink(missing_ok=True)
        options.journal.unlink(missing_ok=True)
    _, cells = read(options.out, options.journal)
    known = {key_of(cell) for cell in cells}
    keys = [k for k in plan(options.tasks, options.methods, options.runs) if k not in known]
    print(f"{len(known)} cells are stored, {len(keys)} are missing", flush=True)
    if keys:
        others = options.python
        if others is None:
            found, trouble = find_peers(FOLDER, COMPARED)
            if trouble:
                raise SystemExit(trouble)
            others = str(found)
        asked = Worker(others)
        machine = {
            key: value for key, value in circumstances().items() if key != "load_average"
        } | {"others": asked.ask(LIMIT, method="versions"), "jobs": options.jobs}
        asked.end()
        run(keys, Workers(sys.executable, others), machine, options)
    machines, cells = read(options.out, options.journal)
    store(options.out, machines, cells)
    options.journal.unlink(missing_ok=True)
    print(f"{len(cells)} cells are written to {options.out}")


if __name__ == "__main__":
    main()
