"""Tests that stop early: how many draws they save, and whether they select the same."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any, NamedTuple

from common import fit, interval, parser, repeat, show, write
from models import MAKE, PAPER

from pidselect import PIDSelector

FIXED = 200
MOST_DRAWS = 50.0  # percent of those of the fixed number, of all runs together
LEAST_SAME = 95.0  # percent of the runs that select the same
ASKED_OF = "friedman1"  # other models are for comparison


class Run(NamedTuple):
    """What one selection found, and how many surrogates were drawn for it."""

    selected: frozenset[int]
    draws: int


def select(name: str, n_permutations: int | str, seed: int) -> Run:
    """Run one selection, and count a draw for each surrogate of each candidate.

    Pilot draws count, too, and those for the final p-values, which tests that stop early make anew.
    """
    problem = MAKE[name](1000, random_state=seed)
    selector = PIDSelector(n_permutations=n_permutations, n_jobs=1, random_state=seed)
    fit(selector, problem.X, problem.y)
    record = selector.selection_
    n_pilot = record.settings.n_pilot
    draws = sum((n_pilot + step.n_permutations) * len(step.candidates) for step in record.steps)
    if n_permutations == "auto":
        draws += (n_pilot + FIXED) * len(record.features)
    return Run(frozenset(selector.selected_.tolist()), draws)


def compare(name: str, options: Namespace) -> dict[str, Any]:
    """Return draws and agreement of a fixed number and of tests that stop by themselves."""
    fixed: list[Run] = repeat(select, name, FIXED, options=options)
    stopping: list[Run] = repeat(select, name, "auto", options=options)
    same = sum(a.selected == b.selected for a, b in zip(fixed, stopping, strict=True))
    low, high = interval(same, options.runs)
    draws = [sum(run.draws for run in runs) for runs in (fixed, stopping)]
    percent = 100.0 * draws[1] / draws[0]
    agreement = 100.0 * same / options.runs
    return {
        "model": name,
        "runs": options.runs,
        "draws_fixed": draws[0],
        "draws_auto": draws[1],
        "percent": percent,
        "same": same,
        "low": low,
        "high": high,
        "met": (
            bool(percent <= MOST_DRAWS and agreement >= LEAST_SAME) if name == ASKED_OF else None
        ),
        "differing": [
            {
                "seed": options.seed + i,
                "fixed": sorted(a.selected),
                "auto": sorted(b.selected),
            }
            for i, (a, b) in enumerate(zip(fixed, stopping, strict=True))
            if a.selected != b.selected
        ],
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Select both ways, compare, print and write."""
    command = parser(__doc__, runs=20, help_runs="data sets of each model")
    command.add_argument("--jobs", type=int, default=1, help="processes (1)")
    command.add_argument("--only", choices=PAPER, help="one model")
    options = command.parse_args(arguments)
    rows = [compare(name, options) for name in PAPER if options.only in (None, name)]
    show(
        f'n_permutations="auto" beside {FIXED}: at most {MOST_DRAWS:g} % of the draws and the same '
        f"columns in {LEAST_SAME:g} % of the runs of {ASKED_OF}",
        (
            *("model", "runs", "draws, fixed", "draws, auto", "percent"),
            *("runs the same", "low %", "high %", "met"),
        ),
        [list(row.values())[:-1] for row in rows],
    )
    for row in rows:
        for run in row["differing"]:
            print(f"{row['model']}, seed {run['seed']}: {run['fixed']} became {run['auto']}")
    write("sequential", options, {"models": rows})


if __name__ == "__main__":
    main()
