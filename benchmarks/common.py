"""What all benchmarks share: arguments, timing, tables, and results with their circumstances."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from joblib import Parallel, delayed, parallel_config
from scipy.stats import binomtest
from threadpoolctl import threadpool_limits

import pidselect
from pidselect import PIDSelector
from pidselect.report.summary import environment

RESULTS = Path(__file__).parent / "results"
OUT = Path(__file__).parent / "out"

Found = dict[str, Any]


def parser(description: str, *, runs: int, help_runs: str) -> argparse.ArgumentParser:
    """Return a parser of the options that every benchmark has."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument(
        "--runs", "--tables", type=positive, default=runs, help=f"{help_runs} ({runs})"
    )
    options.add_argument("--seed", type=int, default=0, help="of the first run (0)")
    options.add_argument(
        "--out", type=Path, help="where to write (results/<name>.json, or <name>-<part>.json)"
    )
    return options


def resumable(description: str, *, runs: int | None, help_runs: str) -> argparse.ArgumentParser:
    """Return a parser of a benchmark whose parts are stored by `collect`."""
    options = parser(description, runs=runs or 1, help_runs=help_runs)
    options.set_defaults(runs=runs)
    options.add_argument("--jobs", type=positive, default=1, help="processes (1)")
    options.add_argument("--only", help="what has this in its name")
    options.add_argument("--fresh", action="store_true", help="forget what is stored")
    return options


def positive(text: str) -> int:
    """Read a number of runs."""
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return number


def circumstances() -> dict[str, Any]:
    """Return what the numbers depend on besides the code."""
    load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    return {**environment(), "load_average": load}


def now() -> str:
    """Return the time of a measurement."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def seconds(work: Callable[[], object]) -> float:
    """Return how long a piece of work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def best_of(rounds: int, *works: Callable[[], object]) -> list[float]:
    """Return the shortest time of each work, in seconds.

    The works take turns, so that a slow minute of the machine falls on all of them; whatever else
    the machine does only adds time, so the shortest is the nearest to the truth.
    """
    times = [[seconds(work) for work in works] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def repeat(work: Callable[..., Any], *arguments: Any, options: argparse.Namespace) -> list[Any]:
    """Return what `work` gives with each run's seed as its last argument, run in processes."""
    seeds = range(options.seed, options.seed + options.runs)
    return list(Parallel(n_jobs=options.jobs)(delayed(work)(*arguments, seed) for seed in seeds))


def collect(
    name: str, keys: Iterable[tuple[Any, ...]], work: Callable[..., Found], options: Any
) -> list[Found]:
    """Return what `work` finds for every key, each stored in out/<name>.jsonl when it is done.

    A run that is stopped loses what it was working at; the next one does what is missing. What
    another version of the package found is measured anew, and stays in the file. A failure is
    stored as a note.
    """
    path, version = OUT / f"{name}.jsonl", version_of_package()
    stored: dict[tuple[Any, ...], Found] = {}
    if path.exists() and not options.fresh:
        *lines, unfinished = path.read_text().split("\n")
        for row in map(json.loads, lines):
            if row["version"] == version:
                stored[tuple(row["key"])] = row
        if unfinished:
            path.write_text("".join(f"{line}\n" for line in lines))
    wanted = list(keys)
    missing = [key for key in wanted if key not in stored]
    print(f"{len(missing)} of {len(wanted)} to do, stored in {path}", flush=True)
    path.parent.mkdir(exist_ok=True)
    with (
        path.open("a" if stored else "w") as file,
        threadpool_limits(1),
        parallel_config("loky", inner_max_num_threads=1),
    ):
        found = Parallel(n_jobs=options.jobs, return_as="generator_unordered")(
            delayed(_noted)(work, key) for key in missing
        )
        for row in found:
            stored[tuple(row["key"])] = row
            file.write(json.dumps({**row, "version": version}) + "\n")
            file.flush()
    return [stored[key] for key in wanted]


def _noted(work: Callable[..., Found], key: tuple[Any, ...]) -> Found:
    """Return what is found for a key, with the CPU time; a note of an error."""
    start = time.process_time()
    try:
        found = work(*key)
    except Exception as error:
        found = {"note": f"{type(error).__name__}: {error}"}
    return {"key": key, "cpu_seconds": round(time.process_time() - start, 3), **found}


def version_of_package() -> str:
    """Return a hash of the package's sources, committed or not."""
    digest = hashlib.sha256()
    for path in sorted(Path(pidselect.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def mean_error(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean and its standard error, None of a single value."""
    error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else None
    return fmean(values), error


def fit(selector: PIDSelector, X: Any, y: Any) -> tuple[str, ...]:
    """Fit, and return what it warned of: that nothing is selected is a result here."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        selector.fit(X, y)
    return tuple(f"{one.category.__name__}: {one.message}" for one in caught)


def interval(count: int, runs: int) -> tuple[float, float]:
    """Return the 95 % interval of a share, in percent (Clopper and Pearson)."""
    exact = binomtest(count, runs).proportion_ci(0.95, method="exact")
    return 100.0 * exact.low, 100.0 * exact.high


def show(title: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a plain table, the first column to the left and the others to the right."""
    table = [list(header), *([text(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    print(f"\n{title}")
    for first, *rest in table:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        print("  ".join([first.ljust(widths[0]), *cells]), flush=True)


def text(cell: Any) -> str:
    """Return a cell in words: three significant digits of small numbers, a dash for nothing."""
    match cell:
        case None:
            return "-"
        case bool():
            return "yes" if cell else "no"
        case float():
            return f"{cell:.1f}" if abs(cell) >= 100 or cell == 0 else f"{cell:.3g}"
    return str(cell)


def write(name: str, options: argparse.Namespace, results: dict[str, Any], **about: str) -> None:
    """Write results with the date, the options, the environment and what else is said of it."""
    part = getattr(options, "only", None)
    path = options.out or RESULTS / f"{f'{name}-{part}' if part else name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "benchmark": name,
        "date": now(),
        "options": {key: value for key, value in vars(options).items() if key != "out"},
        "environment": {**circumstances(), **about},
        "results": results,
    }
    path.write_text(json.dumps(record, indent=2) + "\n")
    print(f"\nwritten to {path}")
