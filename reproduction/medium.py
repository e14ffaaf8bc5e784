"""Appendix C: linear problems of 50 and of 30 columns, with 100, 1,000 and 50,000 samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect.datasets import regression
from reproduction.experiment import (
    Arguments,
    Claims,
    NotRunError,
    Outcome,
    Part,
    Results,
    attempt,
    each,
)
from reproduction.information import SETTINGS, select
from reproduction.quantities import Quantity, grid, percent, quantity

#: Number of columns and of informative columns of each problem.
PROBLEMS = {"10 of 50": (50, 10), "20 of 30": (30, 20)}

SMALL, MIDDLE, LARGE = SIZES = (100, 1000, 50_000)

LABELS = {
    "paper": "as the paper, KSG",
    "defaults": "our defaults",
    "copula": "Gaussian copula",
}


def run_large(seed: int, problem: str, device: str = "cpu") -> Outcome:
    """Select from 50,000 samples with the paper's settings.

    A GPU makes all 200 permutations. On a CPU all cores are used, with a sequential test, which is
    valid at any time and needs about a quarter of the permutations.
    """
    sequential = {} if device == "cuda" else {"n_permutations": "auto", "n_jobs": -1}
    return _select(seed, problem, LARGE, "paper", device=device, **sequential)


def _select(seed: int, problem: str, n_samples: int, settings: str, **changed: Any) -> Outcome:
    """Select once, on one core unless it is changed."""
    n_features, n_informative = PROBLEMS[problem]
    sizes = {"n_features": n_features, "n_informative": n_informative}
    data = regression(n_samples, **sizes, random_state=seed)
    selected = select(data, seed, SETTINGS[settings] | changed)["selected"]
    n_true = sum(name in data.relevant_names for name in selected)
    return {
        "irrelevant": n_features - len(data.relevant),
        "true": n_true,
        "false": len(selected) - n_true,
    }


def _runs(results: Results, problem: str, n_samples: int, settings: str) -> list[Outcome]:
    part = {SMALL: "small", MIDDLE: "middle"}.get(n_samples)
    if part:
        return results.of(part, problem=problem, settings=settings)
    if settings == "defaults":
        raise NotRunError
    paper = "large" if problem == "10 of 50" else "large-20"
    return results.of("large-copula" if settings == "copula" else paper, problem=problem)


@quantity
def _number(
    results: Results, problem: str, n_samples: int, settings: str = "paper", key: str = "true"
) -> NDArray[np.float64]:
    """Return the number of informative, or of other, columns that each run selected."""
    runs = _runs(results, problem, n_samples, settings)
    return np.array([run[key] for run in runs], dtype=float)


@quantity
def _false(results: Results) -> list[float]:
    points = [(problem, n_samples) for problem in PROBLEMS for n_samples in SIZES]
    runs = [run for point in points for run in attempt(_runs, results, *point, "paper")]
    return [100.0 * run["false"] / run["irrelevant"] for run in runs]


def _claims(problem: str, suffix: str) -> Claims:
    number = PROBLEMS[problem][1]
    small, middle, large = (_number(problem, n_samples) for n_samples in SIZES)
    return {
        f"few found at N = 100{suffix}": small,
        f"half of {number} found at N = 1000": middle,
        f"more samples find more ({problem})": middle - small,
        f"50,000 samples find more still ({problem})": large - middle,
    }


CLAIMS: Claims = {
    **_claims("10 of 50", ""),
    **_claims("20 of 30", " (20 of 30)"),
    "some runs find none at N = 100": lambda r: percent(
        np.concatenate([_number(problem, SMALL)(r) for problem in PROBLEMS])
    ),
    "9 of 10 found at N = 50,000": _number("10 of 50", LARGE),
    "false positives below alpha": _false(),
}


def _table(key: str) -> Any:
    rows = {
        (problem, n_samples): f"{problem}, N = {n_samples:,}"
        for problem in PROBLEMS
        for n_samples in SIZES
    }

    def values(row: tuple[str, int], settings: str) -> Quantity:
        return _number(*row, settings, key)

    cells = grid(values, rows, LABELS)
    not_run = [(rows[problem, LARGE], LABELS["defaults"]) for problem in PROBLEMS]
    return lambda results: (cell for cell in cells(results) if cell[:2] not in not_run)


_ONE, _OTHER = ([{"problem": problem}] for problem in PROBLEMS)
_LARGE: dict[str, Any] = {"runs": 10, "quick_runs": 0, "seconds": 1000.0}


def _points(n_samples: int, *settings: str) -> list[Arguments]:
    return each(problem=PROBLEMS, n_samples=[n_samples], settings=settings)


PARTS = (
    Part("small", _select, _points(SMALL, *LABELS), 10, _points(SMALL, "paper", "copula"), 2),
    Part(
        "middle",
        _select,
        _points(MIDDLE, *LABELS),
        10,
        each(problem=["10 of 50"], n_samples=[MIDDLE], settings=["paper"]),
        1,
        seconds=11.0,
    ),
    Part("large", run_large, _ONE, cpu_runs=1, **_LARGE),
    Part("large-20", run_large, _OTHER, cpu_runs=0, **_LARGE),
    Part(
        "large-copula",
        # Columns are independent here, so that local permutations, which take most of the time,
        # would not change the test.
        lambda seed, problem: _select(seed, problem, LARGE, "copula", surrogates="global"),
        [*_ONE, *_OTHER],
        3,
        quick_runs=0,
        seconds=15.0,
    ),
)

TABLES = {
    "found": _table("true"),
    "false positives": _table("false"),
}
