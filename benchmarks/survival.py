"""Fits that are killed: whether all go on to the same end, and what it costs to be able to.

A fit of Friedman's first model runs in a process of its own, which gets SIGKILL at a random moment.
Then it runs once more with the same checkpoint, on two threads every other time, and must end with
the same record, to the bit, as a fit that nobody disturbed. Within a step, what is known is written
every 50 ms here, not every minute, so that short fits are met in all states.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from common import parser, seconds, show, write
from models import MAKE

from pidselect import PIDSelector
from pidselect.selection import checkpoint
from pidselect.selection.checkpoint import CheckpointFile, Journal

MODEL = "friedman1"
EVERY = 0.05  # seconds between two writings within a step
EVERY_WHERE_TIMED = 5.0  # a twelfth of the default, so that cost is rather too high


def select(path: Path | None, n_samples: int, n_jobs: int = 1) -> tuple[dict[str, Any], list[int]]:
    """Return the record and the selected columns of a fit."""
    problem = MAKE[MODEL](n_samples, random_state=0)
    selector = PIDSelector(checkpoint=path, n_jobs=n_jobs, random_state=0)
    selector.fit(problem.X, problem.y)
    return selector.selection_.to_dict(), selector.selected_.tolist()


def write_every(interval: float, **settings: float) -> None:
    """Set the time between two writes within a step."""
    checkpoint.Journal = partial(Journal, interval=interval, **settings)  # type: ignore[misc,assignment]


def begin(path: Path, n_samples: int) -> None:
    """Fit in a process that will be killed."""
    write_every(EVERY, max_write_share=1 / EVERY)
    select(path, n_samples)


def end(path: Path, n_samples: int, n_jobs: int, out: Path) -> None:
    """Go on in a process that is left alone, and write down what it finds and how long it takes."""
    start = time.perf_counter()
    found = select(path, n_samples, n_jobs)
    out.write_text(json.dumps([found, time.perf_counter() - start]))


def run(target: Callable[..., None], *arguments: Any, moment: float | None = None) -> int | None:
    """Run in a process of its own, killed after some seconds if told; return how it ended."""
    process = multiprocessing.get_context("fork").Process(target=target, args=arguments)
    process.start()
    process.join(moment)
    process.kill()
    process.join()
    return process.exitcode


def survive(options: Namespace) -> dict[str, Any]:
    """Kill fits at random moments, go on, and compare."""
    expected = json.loads(json.dumps(select(None, options.samples)))  # this compiles, too
    whole = seconds(lambda: select(None, options.samples))
    rng = np.random.default_rng(options.seed)
    rows: list[dict[str, Any]] = []
    while len(rows) < options.runs:
        with TemporaryDirectory() as folder:
            path = Path(folder, "fit.json")
            moment = whole * float(rng.uniform(0.0, 1.2))
            if run(begin, path, options.samples, moment=moment) == 0:
                continue  # it was done before
            known = CheckpointFile(path).read()
            out = Path(folder, "out.json")
            run(end, path, options.samples, 1 + len(rows) % 2, out)
            found, left = json.loads(out.read_text())
            rows.append(
                {
                    "moment": moment,
                    "finished_tests": len(known["entries"]) if known else 0,
                    "within_a_test": bool(known and known["partial"]),
                    "left": left,
                    "identical": found == expected,
                }
            )
    return {"seconds_undisturbed": whole, "killed": rows}


def cost(options: Namespace) -> dict[str, Any]:
    """Time a fit of many candidates, and what of it goes into writing."""
    rng = np.random.default_rng(options.seed)
    X = rng.normal(size=(options.rows, options.candidates))
    y = X[:, : options.steps].sum(axis=1) + 0.1 * rng.normal(size=options.rows)
    spent: list[float] = []
    sizes: list[int] = []
    plain_write = CheckpointFile.write
    with TemporaryDirectory() as folder:
        path = Path(folder, "fit.json")

        def timed(file: CheckpointFile, record: dict[str, Any]) -> None:
            spent.append(seconds(lambda: plain_write(file, record)))
            sizes.append(path.stat().st_size)

        write_every(EVERY_WHERE_TIMED)
        CheckpointFile.write = timed  # type: ignore[method-assign]
        try:
            selector = PIDSelector(
                checkpoint=path, max_features=options.steps, backward=None, random_state=0
            )
            whole = seconds(lambda: selector.fit(X, y))
        finally:
            CheckpointFile.write = plain_write  # type: ignore[method-assign]
        again = seconds(lambda: selector.fit(X, y))
        final_size = path.stat().st_size
    return {
        "candidates": options.candidates,
        "samples": options.rows,
        "steps": len(selector.selection_.steps),
        "seconds": whole,
        "writings": len(spent),
        "seconds_writing": sum(spent),
        "percent_writing": 100 * sum(spent) / whole,
        "largest_megabytes": max(sizes) / 1e6,
        "final_megabytes": final_size / 1e6,
        "seconds_from_finished": again,
    }


def main() -> None:
    options = parser(__doc__, runs=20, help_runs="fits that are killed")
    options.add_argument("--samples", type=int, default=1000, help="of those fits (1000)")
    options.add_argument("--candidates", type=int, default=1000, help="where cost is timed (1000)")
    options.add_argument("--rows", type=int, default=200, help="where cost is timed (200)")
    options.add_argument("--steps", type=int, default=3, help="where cost is timed (3)")
    chosen = options.parse_args()
    survival = survive(chosen)
    killed = survival["killed"]
    show(
        f"Killed at random moments ({survival['seconds_undisturbed']:.2f} s undisturbed)",
        ("run", "killed after s", "tests finished", "within a test", "s to the end", "identical"),
        [(number, *row.values()) for number, row in enumerate(killed, start=1)],
    )
    n_same = sum(row["identical"] for row in killed)
    print(f"\n{n_same} of {len(killed)} ended with the identical selection.")
    costs = cost(chosen)
    show("What a checkpoint costs", ("", "value"), list(costs.items()))
    write("survival", chosen, {**survival, "identical": n_same, "cost": costs})
    if n_same < len(killed):
        raise SystemExit("Some fits ended otherwise after they were killed.")


if __name__ == "__main__":
    main()
