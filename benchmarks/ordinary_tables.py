"""The tables that people have: how long a fit, an explanation and a report take.

Each table is synthetic, of the shape of a known one, and measured in a process of its own with a
time limit. With `--base FOLDER`, the `src` of another version, both versions are measured one after
the other on each table. With `--peers`, Boruta and RFECV select from the table like MADELON.
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
from ordinary_cell import TABLES, judged
from peers import ONE_THREAD
from selectors_process import find_peers, select_with, within

import pidselect

HERE = Path(__file__).parent
LIMIT = 600.0  # seconds that one table may take, all its work together
PEERS = ("boruta", "rfecv")
PEERS_TABLE = "madelon"

HEADER = (
    "version",
    "work",
    "seconds",
    "goal",
    "peak_mb",
    "compilations",
    "selected",
    "relevant found",
)

Found = dict[str, Any]


def measure(name: str, source: Path, options: argparse.Namespace) -> list[Found]:
    """Measure a table with one version; return the best round of every piece of work."""
    is_cold = TABLES[name].is_cold
    rounds = 1 if is_cold else options.runs
    done = run(name, source, options.limit, options.seed, rounds)
    if not is_cold and any(one["compilations"] for one in done):
        done = run(name, source, options.limit, options.seed, rounds)  # now they are on disk
    found = []
    for work in TABLES[name].works:
        same = [one for one in done if one["work"] == work]
        over = {"work": work, "note": f"over {options.limit:.0f} s"}
        found.append(min(same, key=lambda one: one["seconds"], default=over))
        if not same:
            break  # what would follow was not tried
    if len(found) > 1 and all("seconds" in one for one in found):
        peak = max(one["peak_mb"] for one in found)
        seconds = sum(one["seconds"] for one in found)
        found.append({"work": "all", "seconds": seconds, "peak_mb": peak})
    return found


def run(name: str, source: Path, limit: float, seed: int, rounds: int) -> list[Found]:
    """Measure in a process of its own; return what was done within the limit."""
    cell = json.dumps({"name": name, "seed": seed, "rounds": rounds})
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | ONE_THREAD | {"PYTHONPATH": str(source)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        if TABLES[name].is_cold:
            environment["NUMBA_CACHE_DIR"] = folder
        if name.endswith("no_bytecode"):
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
        command = [sys.executable, str(HERE / "ordinary_cell.py"), cell]
        said = within(limit, command, environment)
    return [json.loads(line) for line in said.splitlines()]


def peers(options: argparse.Namespace) -> list[Found]:
    """Return what Boruta and RFECV select from the table like MADELON, in their environment."""
    python, trouble = find_peers()
    if trouble:
        return [{"version": peer, "work": "fit", "note": trouble} for peer in PEERS]
    problem = TABLES[PEERS_TABLE].make(options.seed)
    found = []
    for peer in PEERS:
        X = problem.X.to_numpy()
        told = select_with(python, peer, X, problem.y, options.seed, options.limit)
        row: Found = {"version": peer, "work": "fit", "note": f"over {options.limit:.0f} s"}
        if told is not None:
            selected = [str(problem.X.columns[place]) for place in told.pop("selected")]
            row = {"version": peer, "work": "fit"} | told | judged(problem, selected)
        found.append(row)
    return found


def shown(found: Found) -> tuple[Any, ...]:
    """Return a row of the table that is printed."""
    columns = len(found["selected"]) if "selected" in found else None
    right = f"{found['right']} of {found['relevant']}" if "right" in found else None
    took = found.get("seconds", found.get("note"))
    about = (found["version"], found["work"], took, found["goal"])
    return (*about, found.get("peak_mb"), found.get("compilations"), columns, right)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and write."""
    options = parser(__doc__ or "", runs=1, help_runs="rounds of each, of which the best counts")
    options.add_argument("--only", choices=TABLES, help="one table")
    options.add_argument("--base", type=Path, help="the src folder of a version to compare with")
    options.add_argument(
        "--limit", type=float, default=LIMIT, help=f"seconds for each table ({LIMIT:.0f})"
    )
    options.add_argument("--peers", action="store_true", help="Boruta and RFECV, too")
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
            new = []
            for version, source in versions.items():
                for found in measure(name, source, options):
                    goal = TABLES[name].goals.get(found["work"])
                    new.append({"table": name, "version": version, **found, "goal": goal})
            if options.peers and name == PEERS_TABLE:
                new += [{"table": name, **found, "goal": None} for found in peers(options)]
            rows += new
            show(name, HEADER, [shown(found) for found in new])
    finally:  # what was measured until then is worth keeping
        options.base = options.base is not None
        measured = {row["table"] for row in rows}
        others = [row for row in stored if row["table"] not in measured]
        order = list(TABLES)
        kept = sorted(others + rows, key=lambda row: order.index(row["table"]))
        write("ordinary_tables", options, {"rows": kept})


if __name__ == "__main__":
    main()
