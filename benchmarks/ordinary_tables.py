"""The tables that people have: how long a fit, an explanation and a report take.

Each table is measured in a process of its own with a time limit, the best of some rounds. "cold"
are a first and a second fit and explanation in a new process whose kernels are not compiled, with
the number of compilations, and whether numba was imported. With `--base FOLDER`, the `src` of
another version, both versions are measured one after the other on each table. abalone and MADELON
are in the folder that `fill_tables.py` fills; `real_tables.py` has them beside other selectors.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from common import RESULTS, parser, show, write
from fill_tables import FOLDER
from ordinary_cell import TABLES
from peers import ONE_THREAD
from selectors_process import within

import pidselect

HERE = Path(__file__).parent
LIMIT = 600.0  # seconds that one table may take, all its work together
FILES = {"abalone": "abalone.csv", "madelon": "madelon.npz"}
HEADER = (
    "version",
    "work",
    "CPU s",
    "goal",
    "seconds",
    "peak_mb",
    "compilations",
    "numba",
    "selected",
    "relevant found",
)

Found = dict[str, Any]


def measure(name: str, source: Path, options: argparse.Namespace) -> list[Found]:
    """Measure a table with one version; return the best round of every piece of work."""
    is_cold = TABLES[name].is_cold
    done = []
    for _ in range(options.runs if is_cold else 1):
        done += run(name, source, options, 1 if is_cold else options.runs)
    found = []
    for work in TABLES[name].works:
        same = [one for one in done if one["work"] == work]
        over = {"work": work, "note": f"over {options.limit:.0f} s"}
        found.append(min(same, key=lambda one: one["cpu_seconds"], default=over))
        if not same:
            break  # what would follow was not tried
    seconds = {one["work"]: one.get("cpu_seconds") for one in found}
    for work in ("fit", "explain"):
        if seconds.get(f"second {work}") is not None:
            extra = seconds[work] - seconds[f"second {work}"]
            found.append({"work": f"first {work} beyond the second", "cpu_seconds": extra})
    return found


def run(name: str, source: Path, options: argparse.Namespace, rounds: int) -> list[Found]:
    """Measure in a process of its own; return what was done within the limit."""
    cell = {"name": name, "seed": options.seed, "rounds": rounds, "data": str(options.data)}
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | ONE_THREAD | {"PYTHONPATH": str(source)}
        if TABLES[name].is_cold:
            environment["NUMBA_CACHE_DIR"] = folder
        command = [sys.executable, str(HERE / "ordinary_cell.py"), json.dumps(cell)]
        said = within(options.limit, command, environment)
    return [json.loads(line) for line in said.splitlines()]


def shown(found: Found) -> tuple[Any, ...]:
    """Return a row of the table that is printed."""
    columns = len(found["selected"]) if "selected" in found else None
    right = f"{found['right']} of {found['relevant']}" if "right" in found else None
    took = found.get("cpu_seconds", found.get("note"))
    about = (found["version"], found["work"], took, found["goal"])
    facts = [found.get(name) for name in ("seconds", "peak_mb", "compilations", "numba")]
    return (*about, *facts, columns, right)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__ or "", runs=5, help_runs="rounds of each, of which the best counts")
    options.add_argument("--only", choices=TABLES, help="one table")
    options.add_argument("--base", type=Path, help="the src folder of a version to compare with")
    options.add_argument(
        "--limit", type=float, default=LIMIT, help=f"seconds for each table ({LIMIT:.0f})"
    )
    options.add_argument("--data", type=Path, default=FOLDER, help=f"real tables ({FOLDER})")
    options.add_argument("--update", action="store_true", help="keep the other stored numbers")
    options = options.parse_args(arguments)
    stored: list[Found] = []
    if options.update:
        options.out = options.out or RESULTS / "ordinary_tables.json"
        if options.out.exists():
            stored = json.loads(options.out.read_text())["results"]["rows"]
    versions = {"now": Path(pidselect.__file__).parents[1]}
    if options.base is not None:
        if not (options.base / "pidselect").is_dir():
            sys.exit(f"{options.base} has no folder pidselect. Pass the src folder of a version.")
        versions = {"before": options.base.resolve(), **versions}
    rows: list[Found] = []
    try:
        for name in [options.only] if options.only else TABLES:
            if name in FILES and not (options.data / FILES[name]).exists():
                print(f"{name} is not in {options.data}: see fill_tables.py")
                continue
            new = []
            for version, source in versions.items():
                for found in measure(name, source, options):
                    work = "beyond" if "beyond" in found["work"] else found["work"]
                    goal = TABLES[name].goals.get(work)
                    new.append({"table": name, "version": version, **found, "goal": goal})
            rows += new
            show(name, HEADER, [shown(found) for found in new])
    finally:  # what was measured until then is worth keeping
        options.base, options.data = options.base is not None, options.data.name
        measured = {row["table"] for row in rows}
        others = [row for row in stored if row["table"] not in measured]
        order = list(TABLES)
        known = [row for row in others + rows if row["table"] in order]
        kept = sorted(known, key=lambda row: order.index(row["table"]))
        write("ordinary_tables", options, {"rows": kept})


if __name__ == "__main__":
    main()
