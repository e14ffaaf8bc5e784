"""The paper's largest problem: 10 of 50 columns of a linear regression, 50,000 samples.

Appendix C makes such problems with scikit-learn's make_regression and repeats each ten times: with
1,000 samples half of the ten features were found, with 50,000 nine, and hardly any others.
"""

from __future__ import annotations

import inspect
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from common import fit, parser, positive, show, write
from memory import peak_mb, reset_peak
from models import AS_THE_PAPER

from pidselect import PIDSelector, datasets
from pidselect.selection.result import Step
from pidselect.selection.step_test import PermutationTestResult

N_SAMPLES = 50_000
MODES: dict[str, dict[str, Any]] = {
    "fixed": {"n_permutations": 200},
    "auto": {"n_permutations": "auto"},
}
#: With 50,000 samples on two cores: minutes, and 10^6 bytes of memory.
GOAL_MINUTES = {"fixed": 45.0, "auto": 20.0}
GOAL_MB = 2000.0

OUT = Path(__file__).parent / "out"


# ---------------------------------------------------------------------------- steps as they end


@contextmanager
def watched(note: Callable[[Step], None]) -> Iterator[None]:
    """Pass every step to a function at the moment it is judged."""
    judge = PermutationTestResult.to_step

    def judge_and_note(*arguments: Any, **options: Any) -> Step:
        step = judge(*arguments, **options)
        note(step)
        return step

    PermutationTestResult.to_step = judge_and_note  # type: ignore[method-assign]
    try:
        yield
    finally:
        PermutationTestResult.to_step = judge  # type: ignore[method-assign]


class Diary:
    """The steps of a selection with the time each took; prints them as they come."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Any]] = []
        self.start = self.last = time.perf_counter()

    def note(self, step: Step) -> None:
        """Write down a step that has just ended."""
        now = time.perf_counter()
        took, self.last = now - self.last, now
        self.steps.append(
            {
                "phase": step.phase,
                "given": len(step.conditioning_set),
                "candidates": len(step.candidates),
                "draws": step.n_permutations,
                "chosen": step.chosen,
                "bits": step.value,
                "p_value": step.p_value,
                "accepted": step.accepted,
                "seconds": took,
                "peak_mb": peak_mb(),
            }
        )
        say(f"{now - self.start:7.0f} s  {len(self.steps):2}  {took:6.1f} s  {step}")


def say(line: str) -> None:
    """Print a line with the time of day."""
    print(f"{datetime.now():%H:%M:%S}  {line}", flush=True)


# ---------------------------------------------------------------------------- one selection


def select(mode: str, seed: int, options: Namespace) -> dict[str, Any]:
    """Run one selection and return how it went."""
    problem = datasets.regression(options.n_samples, random_state=seed)
    settings = AS_THE_PAPER | MODES[mode] | {"n_jobs": options.jobs, "random_state": seed}
    fit(PIDSelector(**settings), problem.X[:300, :5], problem.y[:300])  # compiles
    settings |= extras(f"{mode}-{seed}", options)
    selector = PIDSelector(**settings)
    say(f"{mode}: {options.n_samples} samples of {problem.X.shape[1]} columns, seed {seed}")
    reset_peak()
    diary = Diary()
    with watched(diary.note):
        complaints = fit(selector, problem.X, problem.y)
    took = time.perf_counter() - diary.start
    selected, relevant = set(selector.selected_.tolist()), set(problem.relevant)
    judged = options.n_samples == N_SAMPLES and not options.resume
    goal = 60.0 * GOAL_MINUTES[mode] if judged else None
    return {
        "mode": mode,
        "seed": seed,
        "seconds": took,
        "after_last_step_seconds": took - (diary.last - diary.start),
        "goal_seconds": goal,
        "met": goal and bool(took <= goal),
        "peak_mb": peak_mb(),
        "memory_met": bool(peak_mb() <= GOAL_MB) if judged else None,
        "selected": [problem.names[column] for column in selector.selected_],
        "relevant_selected": len(selected & relevant),
        "relevant": len(relevant),
        "others_selected": len(selected - relevant),
        "steps": diary.steps,
        "complaints": complaints,
    }


def extras(run: str, options: Namespace) -> dict[str, Any]:
    """Return what this version of the selector can be asked for besides the paper's settings."""
    known = inspect.signature(PIDSelector).parameters
    asked: dict[str, Any] = {}
    if options.device != "cpu":
        if "device" not in known:
            sys.exit(f"This version knows no device={options.device!r}.")
        asked["device"] = options.device
    if "checkpoint" in known:
        OUT.mkdir(exist_ok=True)
        checkpoint = OUT / f"appendix_c-{run}-{options.n_samples}.json"
        if not options.resume:
            checkpoint.unlink(missing_ok=True)
        asked["checkpoint"] = str(checkpoint)
    return asked


# ---------------------------------------------------------------------------- all of it


def main(arguments: Sequence[str] | None = None) -> None:
    """Select, print and write."""
    options = parser(__doc__, runs=1, help_runs="data sets")
    options.add_argument(
        "--n-samples", type=positive, default=N_SAMPLES, help=f"samples ({N_SAMPLES})"
    )
    options.add_argument("--jobs", type=int, default=2, help="threads (2)")
    options.add_argument("--device", default="cpu", help="as PIDSelector takes it (cpu)")
    options.add_argument("--only", choices=tuple(MODES), help="one way to test")
    options.add_argument(
        "--resume", action="store_true", help="go on from the checkpoint of a run that was ended"
    )
    options = options.parse_args(arguments)
    rows: list[dict[str, Any]] = []
    for seed in range(options.seed, options.seed + options.runs):
        for mode in [options.only] if options.only else MODES:
            rows.append(select(mode, seed, options))
            # After each of them, as the next one may take long.
            write("appendix_c", options, {"settings": AS_THE_PAPER, "selections": rows})
    columns = ("mode", "seed", "seconds", "goal_seconds", "met", "peak_mb", "memory_met")
    show(
        f"10 of 50 columns, {options.n_samples} samples, {options.jobs} threads",
        (*columns, "steps", "found", "others"),
        [
            (
                *(row[column] for column in columns),
                len(row["steps"]),
                f"{row['relevant_selected']} of {row['relevant']}",
                row["others_selected"],
            )
            for row in rows
        ],
    )


if __name__ == "__main__":
    main()
