"""How fast: one estimate beside four peers, whole selections and imports."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from common import best_of, fit, parser, seconds, show, write
from models import AS_THE_PAPER
from peers import N_CANDIDATES, N_SURROGATES, K, Outside, ask, compare, outside
from threadpoolctl import threadpool_limits

from pidselect import PIDSelector, datasets

#: Samples and given columns of each question, and the most rounds of it.
QUESTIONS = ((1000, 0, 9), (1000, 1, 9), (1000, 3, 9), (1000, 6, 9), (10_000, 3, 2))
GOAL_RATIO = 200.0  # of scipy's time, with 1000 samples and 3 given

N_SAMPLES = 1000
SETTINGS: dict[str, dict[str, Any]] = {"paper": AS_THE_PAPER, "defaults": {}}
#: Seconds, in the paper's way.
GOALS = {"friedman": 0.9, "regression": 10.0}


def one_core() -> None:
    """Stay on one processor, with all processes started from here."""
    if hasattr(os, "sched_setaffinity"):  # on Linux
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


# ---------------------------------------------------------------------------- one estimate


def time_estimates(rounds: int, seed: int, peers: Outside) -> list[dict[str, Any]]:
    """Time the same question with all who can answer it."""
    rows = []
    for n_samples, n_given, most in QUESTIONS:
        compare(ask(100, n_given, seed), 1, peers)  # what is compiled at the first call is so now
        rows += compare(ask(n_samples, n_given, seed), min(rounds, most), peers)
    return rows


def show_estimates(rows: Sequence[dict[str, Any]]) -> None:
    """Print all rows, what went wrong, and whether the goal is met."""
    columns = {
        "samples": "samples",
        "given": "given",
        "by": "by",
        "ms": "ms",
        "a second": "per_second",
        "times ours": "ratio",
        "times ours, alone": "ratio_alone",
        "difference": "largest_difference_nat",
    }
    show(
        f"One estimate by nearest neighbours, k={K}, one thread: ours as one of {N_CANDIDATES} x "
        f"{N_SURROGATES} in a step, and alone",
        tuple(columns),
        [tuple(row.get(key) for key in columns.values()) for row in rows],
    )
    for trouble in {f"{row['by']}: {row['trouble']}" for row in rows if "trouble" in row}:
        print(trouble)
    (ratio,) = (
        row["ratio"]
        for row in rows
        if (row["samples"], row["given"], row["by"]) == (1000, 3, "scipy")
    )
    met = "met" if ratio >= GOAL_RATIO else "not met"
    print(f"scipy with 3 given: {ratio:.0f} times; the goal of {GOAL_RATIO:.0f} is {met}.")


# ---------------------------------------------------------------------------- selections


def time_selections(name: str, rounds: int, seed: int) -> list[dict[str, Any]]:
    """Time whole selections on one thread, the paper's way and the defaults taking turns."""
    problem = getattr(datasets, name)(N_SAMPLES, random_state=seed)
    selectors = [
        PIDSelector(**settings, n_jobs=1, random_state=seed) for settings in SETTINGS.values()
    ]
    for selector in selectors:
        fit(selector, problem.X[:200], problem.y[:200])  # kernels are loaded or compiled here
    works = [partial(selector.fit, problem.X, problem.y) for selector in selectors]
    relevant, rows = set(problem.relevant), []
    for settings, selector, best in zip(SETTINGS, selectors, best_of(rounds, *works), strict=True):
        selected = set(selector.selected_.tolist())
        goal = GOALS[name] if settings == "paper" else None
        rows.append(
            {
                "problem": problem.description,
                "settings": settings,
                "seconds": best,
                "best_of": rounds,
                "goal": goal,
                "met": goal and bool(best <= goal),
                "found": f"{len(selected & relevant)} of {len(relevant)}",
                "others": len(selected - relevant),
            }
        )
    return rows


# ---------------------------------------------------------------------------- fresh processes

IMPORTS = ("import sklearn.base", "import pidselect", "from pidselect import PIDSelector")


def fresh(code: str) -> list[float]:
    """Run code in a new process and return the numbers it prints."""
    command = [sys.executable, "-c", f"import time\n{code}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(number) for number in done.stdout.split()]


def time_imports(rounds: int) -> dict[str, float]:
    """Time imports, the interpreter's own start left out, in seconds."""
    code = "start = time.perf_counter()\n{}\nprint(time.perf_counter() - start)"
    times = [[fresh(code.format(line))[0] for line in IMPORTS] for _ in range(rounds)]
    return dict(zip(IMPORTS, map(min, zip(*times, strict=True)), strict=True))


# ---------------------------------------------------------------------------- all of it


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__, runs=5, help_runs="rounds, of which the best counts")
    options.add_argument(
        "--peers", type=Path, help="a python with ennemi and tigramite (one is made in out)"
    )
    options = options.parse_args(arguments)
    results: dict[str, Any] = {}
    one_core()
    with threadpool_limits(1), outside(options.peers) as peers:
        took = seconds(lambda: measure(options.runs, options.seed, peers, results))
    print(f"\n{took:.0f} s in all")
    del options.peers  # a path says nothing; the versions do
    results["peers"] = peers.versions
    write("speed", options, results)


def measure(rounds: int, seed: int, peers: Outside, results: dict[str, Any]) -> None:
    """Fill in the results, a table at a time."""
    results["estimate"] = time_estimates(rounds, seed, peers)
    show_estimates(results["estimate"])
    results["selection"] = [
        *time_selections("friedman", min(rounds, 3), seed),
        *time_selections("regression", 1, seed),
    ]
    show(
        f"Whole selections, N={N_SAMPLES}, 200 permutations, one thread",
        tuple(results["selection"][0]),
        [tuple(row.values()) for row in results["selection"]],
    )
    results["import_seconds"] = time_imports(rounds)
    show(
        "Imports in a fresh process",
        ("statement", "ms"),
        [(line, 1e3 * took) for line, took in results["import_seconds"].items()],
    )


if __name__ == "__main__":
    main()
