"""What all benchmarks share: arguments, timing, tables, and results with their circumstances."""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from scipy.stats import binomtest

from pidselect import PIDSelector
from pidselect.report.summary import environment

RESULTS = Path(__file__).parent / "results"


def parser(description: str, *, runs: int, help_runs: str) -> argparse.ArgumentParser:
    """Return a parser of the options that every benchmark has."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--runs", type=positive, default=runs, help=f"{help_runs} ({runs})")
    options.add_argument("--seed", type=int, default=0, help="of the first run (0)")
    options.add_argument(
        "--out", type=Path, help="where to write (results/<name>.json, or <name>-<part>.json)"
    )
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


def fit(selector: PIDSelector, X: Any, y: Any) -> tuple[str, ...]:
    """Fit, and return what it warned of: that nothing is selected is a result here."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        selector.fit(X, y)
    return tuple(str(warning.message) for warning in caught)


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
