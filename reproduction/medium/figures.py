"""Figures of problems of medium size."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reproduction.agreement import estimate
from reproduction.experiment import Outcome, Results
from reproduction.figures import Figure, Panel, Role, Series
from reproduction.medium.outcomes import LABELS, PROBLEMS, SIZES, numbers_found, outcomes

ROLES: dict[str, Role] = {"paper": "first", "defaults": "second", "copula": "third"}


def medium_figures(results: Results) -> list[Figure]:
    """Return the figures that have something to show."""
    figures = []
    if hits := [
        _hits(problem, n_samples, runs)
        for problem in PROBLEMS
        for n_samples in SIZES
        if (runs := outcomes(results, problem, n_samples, "paper"))
    ]:
        columns = max(
            sum(panel.title.startswith(problem) for panel in hits) for problem in PROBLEMS
        )
        figures.append(
            Figure(
                "medium-found",
                "How often each informative column was found",
                "Runs in which each informative column was selected, and false positives Z of all "
                "runs together, as the paper selects (KSG, k = 4, 200 permutations, level 0.05). "
                "Columns are numbered as they come in the data; their weights are drawn anew in "
                "each run.",
                hits,
                n_columns=columns,
            )
        )
    if growth := [panel for problem in PROBLEMS if (panel := _growth(results, problem)).series]:
        figures.append(
            Figure(
                "medium-growth",
                "Informative columns found, by the number of samples",
                "Means and standard errors over runs: of the copula with 50,000 samples three, "
                "else ten, or one on a CPU. The target is a linear function of normal columns, "
                "which the Gaussian copula describes exactly; our defaults take the more "
                "significant of KSG on ranks and copula, and were not run with 50,000 samples.",
                growth,
                n_columns=2,
            )
        )
    return figures


def _hits(problem: str, n_samples: int, runs: Sequence[Outcome]) -> Panel:
    names = [f"X{number}" for number in range(1, 1 + PROBLEMS[problem][1])]
    found = [float(sum(name in run["hits"] for run in runs)) for name in names]
    false = float(sum(run["false"] for run in runs))
    places = [*names, "Z"]
    count = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
    return Panel(
        f"{problem}, N = {n_samples:,} ({count})",
        "stacked",
        (
            Series("found", "right", places, [*found, 0.0]),
            Series("false positives", "wrong", places, [0.0] * len(names) + [false]),
        ),
        y_label="runs",
        top=float(len(runs)),
    )


def _growth(results: Results, problem: str) -> Panel:
    lines = []
    for settings, label in LABELS.items():
        seen = [
            (float(n_samples), estimate(found))
            for n_samples in SIZES
            if (found := numbers_found(results, problem, n_samples, settings))
        ]
        if seen:
            errors = [value.standard_error for _, value in seen]
            lines.append(
                Series(
                    label,
                    ROLES[settings],
                    [place for place, _ in seen],
                    [value.mean for _, value in seen],
                    error=[0.0 if math.isnan(error) else error for error in errors],
                )
            )
    return Panel(
        f"{problem} columns informative",
        "lines",
        lines,
        x_label="number of samples",
        y_label="informative columns found",
    )
