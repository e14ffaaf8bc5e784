"""How long and how much memory: selections from a million rows, and from files of gigabytes.

Every selection runs in a process of its own. Memory is that of the process itself (RssAnon), looked
at fifty times a second; pages of mapped files come on top, and the system takes them back when
anybody needs them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from common import parser, show, write

MIB = 2**20
ROWS_AT_ONCE = 50_000  # of a file that is written

#: What is selected from: rows, columns, where they are, and the settings.
CELLS: dict[str, tuple[int, int, str, dict[str, Any]]] = {
    "discrete, 1e6 x 20": (10**6, 20, "memory", {"estimator": "discrete"}),
    "gaussian, 1e6 x 20": (10**6, 20, "memory", {"estimator": "gaussian"}),
    "copula, 1e6 x 20": (10**6, 20, "memory", {"estimator": "copula"}),
    "copula, global alone": (
        10**6,
        20,
        "memory",
        {"estimator": "copula", "surrogates": "global"},
    ),
    "copula, 1000 x 5000": (1000, 5000, "memory", {"estimator": "copula"}),
    "copula, arrow 2 GB": (
        10**6,
        250,
        "arrow",
        {"estimator": "copula", "n_permutations": "auto", "max_features": 5},
    ),
    "copula, parquet 2 GB": (
        10**6,
        250,
        "parquet",
        {"estimator": "copula", "n_permutations": "auto", "max_features": 5},
    ),
    "gaussian, npy 2 GB": (
        10**6,
        250,
        "npy",
        {"estimator": "gaussian", "n_permutations": "auto", "max_features": 5},
    ),
    "ksg, arrow 2 GB, max_samples=2000": (
        10**6,
        250,
        "arrow",
        {"estimator": "ksg", "max_samples": 2000, "max_features": 5},
    ),
}


def rows_of(n_rows: int, n_columns: int, is_discrete: bool, seed: int) -> tuple[Any, Any]:
    """Make rows in which the first four columns tell about the target."""
    rng = np.random.default_rng(seed)
    if is_discrete:
        X = rng.integers(0, 5, (n_rows, n_columns)).astype(np.float64)
        y = (X[:, 0] > 2) + (X[:, 1] > 1) + (X[:, 2] == X[:, 3]) + rng.integers(0, 2, n_rows)
        return X, y.astype(np.float64)
    X = rng.standard_normal((n_rows, n_columns))
    y = X[:, 0] + 0.5 * X[:, 1] + 0.3 * X[:, 2] ** 3 + 0.2 * X[:, 3]
    return X, y + rng.standard_normal(n_rows)


def write_file(path: Path, n_rows: int, n_columns: int) -> None:
    """Write rows and, as the last column, the target, a part at a time."""
    if path.suffix == ".npy":
        shape = (n_rows, n_columns + 1)
        array = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=shape)
        for start in range(0, n_rows, ROWS_AT_ONCE):
            X, y = rows_of(min(ROWS_AT_ONCE, n_rows - start), n_columns, False, start)
            array[start : start + len(y)] = np.column_stack([X, y])
        array.flush()
        return
    import pyarrow
    import pyarrow.parquet

    names = [*(f"x{i}" for i in range(n_columns)), "target"]
    schema = pyarrow.schema([(name, pyarrow.float64()) for name in names])
    is_parquet = path.suffix == ".parquet"
    make = pyarrow.parquet.ParquetWriter if is_parquet else pyarrow.ipc.new_file
    with make(str(path), schema) as writer:
        for start in range(0, n_rows, ROWS_AT_ONCE):
            X, y = rows_of(min(ROWS_AT_ONCE, n_rows - start), n_columns, False, start)
            columns = [pyarrow.array(column) for column in (*X.T, y)]
            writer.write_batch(pyarrow.record_batch(columns, schema=schema))


def anonymous() -> float:
    """Return the memory of this process that is no file's, in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("RssAnon"))


def select(name: str, folder: str, seed: int) -> dict[str, Any]:
    """Select once, and return what it took."""
    from pidselect import PIDSelector, Table

    n_rows, n_columns, where, settings = CELLS[name]
    if where == "memory":
        X, y = rows_of(n_rows, n_columns, settings["estimator"] == "discrete", seed)
    before, peak = anonymous(), [0.0]

    def watch() -> None:
        while True:
            peak[0] = max(peak[0], anonymous())
            time.sleep(0.02)

    threading.Thread(target=watch, daemon=True).start()
    start = time.perf_counter()
    if where != "memory":
        path = Path(folder) / f"table.{where}"
        X, y = Table.open(path).split(f"x{n_columns}" if where == "npy" else "target")
    opened = time.perf_counter() - start
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = PIDSelector(random_state=seed, **settings).fit(X, y)
    return {
        "n_samples": n_rows,
        "n_columns": n_columns,
        "settings": settings,
        "table_mb": 8 * n_rows * n_columns / MIB,
        "open_s": opened,
        "seconds": time.perf_counter() - start,
        "selected": selector.selected_.tolist(),
        "n_steps": len(selector.selection_.steps),
        "anonymous_before_mb": before,
        "anonymous_peak_mb": peak[0],
        "resident_peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def measure(name: str, folder: str, seed: int) -> dict[str, Any]:
    """Select in a process of its own."""
    command = [sys.executable, __file__, "--cell", name, "--folder", folder, "--seed", str(seed)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    options = parser(__doc__ or "", runs=1, help_runs="not used: every cell runs once")
    options.add_argument("--cell", choices=CELLS, help=argparse.SUPPRESS)
    options.add_argument("--folder", help="where files of 2 GB are made, and removed again")
    options.add_argument("--cells", nargs="+", choices=CELLS, default=list(CELLS))
    chosen = options.parse_args()
    if chosen.cell:
        print(json.dumps(select(chosen.cell, chosen.folder or "", chosen.seed)))
        return
    results: dict[str, Any] = {}
    for name in chosen.cells:
        n_rows, n_columns, where, _ = CELLS[name]
        with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
            if where != "memory":
                write_file(Path(folder) / f"table.{where}", n_rows, n_columns)
            results[name] = measure(name, folder, chosen.seed)
        print(f"{name}: {results[name]['seconds']:.1f} s", flush=True)
    header = ("selection", "seconds", "selected", "table MB", "own MB", "with files MB")
    keys = ("table_mb", "anonymous_peak_mb", "resident_peak_mb")
    rows = [
        (name, r["seconds"], len(r["selected"]), *(r[key] for key in keys))
        for name, r in results.items()
    ]
    show("Large tables (defaults: max_memory 1 GiB, one thread)", header, rows)
    chosen.only = None if len(results) == len(CELLS) else "some"
    write("large", chosen, results)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
