"""The runs of Appendix C, as tables, claims and figures need them."""

from __future__ import annotations

from reproduction.experiment import Outcome, Results

#: Columns and informative ones of each problem.
PROBLEMS = {"10 of 50": (50, 10), "20 of 30": (30, 20)}

SMALL, MIDDLE, LARGE = 100, 1000, 50_000
SIZES = (SMALL, MIDDLE, LARGE)

LABELS = {
    "paper": "as the paper, KSG",
    "defaults": "our defaults",
    "copula": "Gaussian copula",
}


def outcomes(results: Results, problem: str, n_samples: int, settings: str) -> list[Outcome]:
    """Return the runs of a problem with so many samples; of what was not run, none."""
    if n_samples != LARGE:
        part = "small" if n_samples == SMALL else "middle"
        return results.of(part, problem=problem, settings=settings)
    if settings == "copula":
        return results.of("large-copula", problem=problem)
    if settings == "paper":
        return results.of("large", problem=problem) + results.of("large-20", problem=problem)
    return []


def numbers_found(
    results: Results, problem: str, n_samples: int, settings: str = "paper"
) -> list[float]:
    """Return how many informative columns each run found."""
    return [float(run["true"]) for run in outcomes(results, problem, n_samples, settings)]
