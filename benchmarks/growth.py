"""How time and memory grow with samples and columns: one step and whole selections, as a plot."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from common import RESULTS, parser, show, write
from growth_cell import PARTS, Cell
from growth_plot import draw
from peers import ONE_THREAD

HERE = Path(__file__).parent
PICTURE = HERE.parent / "docs" / "images" / "growth.png"

ESTIMATORS = ("ksg", "copula", "discrete", "mixed", "labels")
AXES = ("samples", "columns", "wide")
LIMIT = 600.0  # seconds that one cell may take, all its parts together


@dataclass(frozen=True)
class Sizes:
    """The sizes along each axis, the other being at its smallest, and of wide tables."""

    samples: tuple[int, ...] = (1000, 3000, 10_000, 30_000, 100_000)
    columns: tuple[int, ...] = (10, 30, 100, 300, 1000)
    wide: tuple[int, ...] = (100, 300, 1000, 3000, 10_000)
    n_samples_wide: int = 200

    def axis(self, name: str) -> list[tuple[int, int]]:
        """Pairs of samples and columns along an axis; the corner belongs to the first."""
        if name == "samples":
            return [(n_samples, self.columns[0]) for n_samples in self.samples]
        if name == "columns":
            return [(self.samples[0], n_columns) for n_columns in self.columns[1:]]
        return [(self.n_samples_wide, n_columns) for n_columns in self.wide]


QUICK = Sizes((1000, 3000), (10, 30), (100, 300))


def measure(
    cell: Cell, sizes: Sizes, axes: Sequence[str], limit: float
) -> Iterator[dict[str, Any]]:
    """Measure one estimator along some axes; what takes too long is not tried with more."""
    run(replace(cell, n_samples=300), limit)  # compiles what is not on disk
    for axis in axes:
        parts = PARTS
        for n_samples, n_columns in sizes.axis(axis):
            here = replace(cell, n_samples=n_samples, n_columns=n_columns, parts=parts)
            about = {"estimator": cell.estimator, "samples": n_samples, "columns": n_columns}
            done = run(here, limit) if parts else {}
            for part in PARTS:
                missing = "not done in time" if part in parts else "not tried"
                yield about | {"part": part} | done.get(part, {"note": missing})
            parts = tuple(done)


def run(cell: Cell, limit: float) -> dict[str, dict[str, Any]]:
    """Measure a cell in a process of its own; return the parts done within the limit."""
    command = [sys.executable, str(HERE / "growth_cell.py"), json.dumps(asdict(cell))]
    with subprocess.Popen(
        command, env=os.environ | ONE_THREAD, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            said = process.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            said = process.communicate()[0]
        else:
            if process.returncode:
                sys.exit(f"{cell} failed.")
    return {row["part"]: row for row in map(json.loads, said.splitlines())}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, write and draw."""
    options = parser(__doc__, runs=1, help_runs="rounds of each, of which the best counts")
    options.add_argument(
        "--limit", type=float, default=LIMIT, help=f"seconds for each size ({LIMIT:.0f})"
    )
    options.add_argument("--quick", action="store_true", help="small sizes, kept in out/")
    options.add_argument("--draw", action="store_true", help="only draw the kept numbers anew")
    options.add_argument("--estimators", nargs="+", choices=ESTIMATORS, default=ESTIMATORS)
    options.add_argument("--axes", nargs="+", choices=AXES, default=AXES)
    options.add_argument("--update", action="store_true", help="keep the other stored numbers")
    options = options.parse_args(arguments)
    if options.quick and options.out is None:
        options.out = HERE / "out" / "growth.json"
    kept = options.out or RESULTS / "growth.json"
    if not options.draw:
        stored = json.loads(kept.read_text())["results"]["cells"] if options.update else []
        rows: list[dict[str, Any]] = []
        try:
            gather(options, rows)
        finally:  # what was measured until then is worth keeping
            measured = {place(row) for row in rows}
            others = [row for row in stored if place(row) not in measured]
            write("growth", options, {"cells": others + rows})
    picture = PICTURE if options.out is None else kept.with_suffix(".png")
    picture.parent.mkdir(parents=True, exist_ok=True)
    draw(json.loads(kept.read_text())).savefig(picture)
    print(f"drawn to {picture}")


def place(row: dict[str, Any]) -> tuple[Any, ...]:
    """Return what a row is about."""
    return tuple(row[key] for key in ("estimator", "samples", "columns", "part"))


def gather(options: Any, rows: list[dict[str, Any]]) -> None:
    """Fill in the rows, a table for each estimator."""
    start = time.perf_counter()
    for estimator in options.estimators:
        cell = Cell(estimator, 300, 10, rounds=options.runs, seed=options.seed)
        found = []
        sizes = QUICK if options.quick else Sizes()
        for row in measure(cell, sizes, options.axes, options.limit):
            found.append(row)
            rows.append(row)
        columns = ("samples", "columns", "part", "seconds", "peak_mb", "selected", "note")
        show(
            f"{estimator}: one step given 3 columns, and a whole selection of 3; 200 permutations, "
            "one thread",
            columns,
            [tuple(row.get(column) for column in columns) for row in found],
        )
    print(f"\n{time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
