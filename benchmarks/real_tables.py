"""Real tables: the columns that are selected, seconds of CPU and peak memory, beside peers.

Tables of scikit-learn, and those of the folder `--data`, which `fill_tables.py` fills: MADELON,
abalone and penguins. Each selection has a process and one thread of its own. Boruta needs
`--peers`, which installs it in an environment of its own; the other peers are of scikit-learn, or
textbook tests. Memory is on top of the data and the packages. `--tables 10` selects by ten seeds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from common import collect, mean_error, resumable, show, write
from fill_tables import FOLDER, TABLES
from selectors_process import ask_once, find_peers

OURS = ("minimal", "relevant")
TEXTBOOK = ("cubic F", "spline F", "glm forward")
PEERS = ("kbest", "rfecv")
LIMIT = 3600.0  # seconds of a selection


def available(folder: Path) -> list[str]:
    """Return the tables that are there, and say how the others are filled."""
    found = []
    for name, read in TABLES.items():
        try:
            read(folder)
        except FileNotFoundError:
            print(f"{name} is not in {folder}: python benchmarks/fill_tables.py {folder}")
        else:
            found.append(name)
    return found


def examine(name: str, method: str, seed: int, folder: Path, python: str) -> dict[str, Any]:
    """Return the columns that a method selects from a table, with time and memory."""
    table = TABLES[name](folder)
    told = ask_once(method, table.arrays(), seed, LIMIT, python if method == "boruta" else "")
    if "selected" in told:
        told["selected"] = [table.names[place] for place in told["selected"]]
    return told


def summarise(name: str, method: str, found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return how often each column is selected, and means of time and memory."""
    done = [one for one in found if "note" not in one]
    row: dict[str, Any] = {"table": name, "method": method, "runs": len(done)}
    row["notes"] = sorted({one["note"][:80] for one in found if "note" in one})
    if done:
        times = Counter(column for one in done for column in one["selected"])
        row["columns"] = dict(times.most_common())
        row["n_columns"], row["n_error"] = mean_error([len(one["selected"]) for one in done])
        row["cpu_seconds"] = min(one["cpu_seconds"] for one in done)
        row["peak_mb"] = max(one["peak_mb"] for one in done)
    return row


def methods_of(has_peers: bool) -> tuple[list[str], str]:
    """Return all methods, and the Python that has Boruta if that is one of them."""
    if not has_peers:
        return [*OURS, *TEXTBOOK, *PEERS], ""
    found, trouble = find_peers()
    if trouble:
        raise SystemExit(trouble)
    return [*OURS, *TEXTBOOK, *PEERS, "boruta"], str(found)


def shown(row: dict[str, Any]) -> tuple[Any, ...]:
    """Return a row as it is printed, columns with the number of runs where not in all."""
    columns = [
        name if times == row["runs"] else f"{name} ({times})"
        for name, times in row.get("columns", {}).items()
    ]
    about = [row.get(key) for key in ("runs", "n_columns", "n_error", "cpu_seconds", "peak_mb")]
    return (row["method"], *about, ", ".join([*columns[:12], *row["notes"]]))


def main(arguments: Sequence[str] | None = None) -> None:
    command = resumable(__doc__ or "", runs=1, help_runs="seeds")
    command.add_argument("--data", type=Path, default=FOLDER, help=f"folder of tables ({FOLDER})")
    command.add_argument("--peers", action="store_true", help="Boruta, too")
    options = command.parse_args(arguments)
    methods, python = methods_of(options.peers)
    names = [name for name in available(options.data) if options.only in (None, name)]
    wanted = [
        (name, method, options.seed + number)
        for number in range(options.runs)
        for name in names
        for method in methods
    ]
    work = partial(examine, folder=options.data, python=python)
    rows: list[dict[str, Any]] = []
    found_by: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in collect("real_tables", wanted, work, options):
        found_by.setdefault(tuple(one["key"][:2]), []).append(one)
    for name in names:
        rows += [summarise(name, method, found_by[name, method]) for method in methods]
        header = ("method", "runs", "columns", "s.e.", "CPU s", "MB", "names (runs)")
        show(name, header, [shown(row) for row in rows if row["table"] == name])
    del options.data
    write("real_tables", options, {"rows": rows})


if __name__ == "__main__":
    main()
