"""The paper's tables: its toy system, Friedman's three models and Runge's, beside its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from common import parser, repeat, show, write
from models import AS_THE_PAPER, MAKE, PAPER, Tally, select, share

#: Two results of equal spread differ at the 1 % level beyond so many standard errors of one.
AGREEMENT = 2.58 * np.sqrt(2.0)

VERDICT = {True: "yes", False: "no", None: "no spread"}


def agrees(ours: Tally, paper: float) -> bool | None:
    """Say whether the difference is within chance.

    None if it is not 0 but all runs are alike: then there is no spread to measure it by.
    """
    difference = abs(ours.mean - paper)
    if ours.standard_error == 0 and difference > 0:
        return None
    return bool(difference <= AGREEMENT * ours.standard_error)


def compare(name: str, criterion: str, options: Any) -> list[dict[str, Any]]:
    """Return a row for the relevant features and one for the others."""
    problem = MAKE[name](10, random_state=0)
    relevant = set(problem.relevant)
    others = set(range(len(problem.names))) - relevant
    settings = {**AS_THE_PAPER, "criterion": criterion}
    selections = repeat(select, name, settings, options=options)
    rows = []
    for rate, columns, paper in zip(
        ("TP", "FP"), (relevant, others), PAPER[name][criterion], strict=True
    ):
        ours = share(columns, selections)
        rows.append(
            {
                "model": name,
                "criterion": criterion,
                "rate": rate,
                "percent": ours.mean,
                "standard_error": ours.standard_error,
                "paper": paper,
                "difference": ours.mean - paper,
                "allowed": AGREEMENT * ours.standard_error,
                "agrees": agrees(ours, paper),
            }
        )
    return rows


def try_toy(options: Any) -> dict[str, int]:
    """Count the runs that go as the paper's example: X1, then eta, and X2 left out."""
    X1, X2, eta = range(3)
    selections = repeat(select, "toy", AS_THE_PAPER, options=options)
    return {
        "runs": len(selections),
        "X1 first": sum(selected[:1] == (X1,) for selected in selections),
        "X1, then eta": sum(selected[:2] == (X1, eta) for selected in selections),
        "X2 left out": sum(X2 not in selected for selected in selections),
        "exact": sum(selected == (X1, eta) for selected in selections),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Select, compare, print and write."""
    command = parser(__doc__, runs=100, help_runs="data sets of each model; the paper has 100")
    command.add_argument("--jobs", type=int, default=1, help="processes (1)")
    command.add_argument("--only", choices=MAKE, help="one model")
    options = command.parse_args(arguments)
    results: dict[str, Any] = {}
    if options.only in (None, "toy"):
        results["toy"] = try_toy(options)
        show("Toy system, CMI", ("what", "runs"), list(results["toy"].items()))
    models = [name for name in PAPER if options.only in (None, name)]
    results["models"] = []
    for name in models:
        for criterion in PAPER[name]:
            rows = compare(name, criterion, options)
            results["models"] += rows
            show(
                f"{name}, {criterion}, {options.runs} runs",
                ("rate", "percent", "SE", "paper", "difference", "allowed", "agrees"),
                [(*list(row.values())[2:-1], VERDICT[row["agrees"]]) for row in rows],
            )
    write("paper", options, results)


if __name__ == "__main__":
    main()
