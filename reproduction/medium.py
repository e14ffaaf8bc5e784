"""Appendix C: linear problems of 50 and of 30 columns, with 100, 1,000 and 50,000 samples."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect.datasets import regression
from reproduction.agreement import estimate
from reproduction.experiment import (
    Cell,
    Claims,
    NotRunError,
    Outcome,
    Part,
    Results,
    attempt,
    difference,
    line,
    panel,
    percent,
)
from reproduction.information import PAPER, SETTINGS, select

#: Number of columns and of informative columns of each problem.
PROBLEMS = {"10 of 50": (50, 10), "20 of 30": (30, 20)}

SMALL, MIDDLE, LARGE = SIZES = (100, 1000, 50_000)

LABELS = {
    "paper": ("as the paper, KSG", "first"),
    "defaults": ("our defaults", "second"),
    "copula": ("Gaussian copula", "third"),
}

# ------------------------------------------------------------------------------------------- runs


def run(seed: int, problem: str, n_samples: int, settings: str) -> Outcome:
    """Select once on one core."""
    return _select(seed, problem, n_samples, SETTINGS[settings])


def run_large(seed: int, problem: str, device: str = "cpu") -> Outcome:
    """Select from 50,000 samples with the paper's settings.

    A GPU makes all 200 permutations. On a CPU all cores are used, with a sequential test, which is
    valid at any time and needs about a quarter of the permutations.
    """
    settings = PAPER | {"device": device}
    if device == "cpu":
        settings |= {"n_permutations": "auto", "n_jobs": -1}
    return _select(seed, problem, LARGE, settings)


def run_large_copula(seed: int, problem: str) -> Outcome:
    """Select from 50,000 samples by the Gaussian copula and global permutations.

    Columns are independent here, so that local permutations, which take most of the time, would not
    change the test.
    """
    return _select(seed, problem, LARGE, SETTINGS["copula"] | {"surrogates": "global"})


def _select(seed: int, problem: str, n_samples: int, settings: dict[str, Any]) -> Outcome:
    n_features, n_informative = PROBLEMS[problem]
    sizes = {"n_features": n_features, "n_informative": n_informative}
    data = regression(n_samples, **sizes, random_state=seed)
    start = time.perf_counter()
    selected = select(data, seed, settings)["selected"]
    seconds = time.perf_counter() - start
    hits = [name for name in selected if name in data.relevant_names]
    return {
        "selected": selected,
        "hits": hits,
        "relevant": len(data.relevant),
        "irrelevant": n_features - len(data.relevant),
        "true": len(hits),
        "false": len(selected) - len(hits),
        "seconds": seconds,
        "device": settings.get("device", "cpu"),
    }


# ----------------------------------------------------------------------------------------- claims


def _runs(results: Results, problem: str, n_samples: int, settings: str) -> list[Outcome]:
    part = {SMALL: "small", MIDDLE: "middle"}.get(n_samples)
    if part:
        return results.of(part, problem=problem, settings=settings)
    if settings == "defaults":
        raise NotRunError
    paper = "large" if problem == "10 of 50" else "large-20"
    return results.of("large-copula" if settings == "copula" else paper, problem=problem)


def _found(
    results: Results, problem: str, n_samples: int, settings: str = "paper"
) -> NDArray[np.float64]:
    """Return the number of informative columns that each run selected."""
    runs = _runs(results, problem, n_samples, settings)
    return np.array([run["true"] for run in runs], dtype=float)


def _false(results: Results) -> list[float]:
    points = [(problem, n_samples) for problem in PROBLEMS for n_samples in SIZES]
    runs = [run for point in points for run in attempt(_runs, results, *point, "paper")]
    return [100.0 * run["false"] / run["irrelevant"] for run in runs]


def _claims_on_numbers(problem: str, suffix: str) -> Claims:
    number = PROBLEMS[problem][1]
    return {
        f"few found at N = 100{suffix}": lambda r: _found(r, problem, SMALL),
        f"half of {number} found at N = 1000": lambda r: _found(r, problem, MIDDLE),
    }


def _claims_on_growth(problem: str) -> Claims:
    return {
        f"more samples find more ({problem})": lambda r: difference(
            _found(r, problem, MIDDLE), _found(r, problem, SMALL)
        ),
        f"50,000 samples find more still ({problem})": lambda r: difference(
            _found(r, problem, LARGE), _found(r, problem, MIDDLE)
        ),
    }


CLAIMS: Claims = {
    **_claims_on_numbers("10 of 50", ""),
    **_claims_on_numbers("20 of 30", " (20 of 30)"),
    "some runs find none at N = 100": lambda r: percent(
        np.concatenate([_found(r, name, SMALL) for name in PROBLEMS]) > 0
    ),
    "9 of 10 found at N = 50,000": lambda r: _found(r, "10 of 50", LARGE),
    **{name: values for problem in PROBLEMS for name, values in _claims_on_growth(problem).items()},
    "false positives below alpha": _false,
}

# ------------------------------------------------------------------------------ tables and figures


def _rows(results: Results) -> Iterable[tuple[str, str, list[Outcome]]]:
    for problem in PROBLEMS:
        for n_samples in SIZES:
            for settings, (label, _) in LABELS.items():
                if (n_samples, settings) != (LARGE, "defaults"):
                    runs = attempt(_runs, results, problem, n_samples, settings)
                    yield f"{problem}, N = {n_samples:,}", label, runs


def _seconds(results: Results) -> Iterable[Cell]:
    for row, label, runs in _rows(results):
        for device, suffix in (("cpu", ""), ("cuda", ", on a GPU")):
            values = [run["seconds"] for run in runs if run["device"] == device]
            if device == "cpu" or values:
                yield Cell(row, label + suffix, values)


def _hits(results: Results) -> Iterable[Any]:
    for problem, (_, n_informative) in PROBLEMS.items():
        for n_samples in SIZES:
            if not (runs := attempt(_runs, results, problem, n_samples, "paper")):
                continue
            names = [f"X{number}" for number in range(1, 1 + n_informative)]
            found = [sum(name in run["hits"] for run in runs) for name in names]
            false = [0] * len(names) + [sum(run["false"] for run in runs)]
            count = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
            series = [
                line("found", "right", [*names, "Z"], [*found, 0]),
                line("false positives", "wrong", [*names, "Z"], false),
            ]
            title = f"{problem}, N = {n_samples:,} ({count})"
            yield panel(title, "stacked", series, y_label="runs", top=float(len(runs)))


def _growth(results: Results) -> Iterable[Any]:
    for problem in PROBLEMS:
        series = []
        for settings, (label, role) in LABELS.items():
            found = {size: attempt(_found, results, problem, size, settings) for size in SIZES}
            seen = {float(size): estimate(one) for size, one in found.items() if len(one)}
            errors = [one.standard_error for one in seen.values()]
            error = [0.0 if math.isnan(one) else one for one in errors]
            y = [one.mean for one in seen.values()]
            series += [line(label, role, seen, y, error=error)] if seen else []
        labels = {"x_label": "number of samples", "y_label": "informative columns found"}
        title = f"{problem} columns informative"
        yield series and panel(title, "lines", series, **labels)


def _points(n_samples: int) -> list[dict[str, Any]]:
    return [
        {"problem": problem, "n_samples": n_samples, "settings": name}
        for problem in PROBLEMS
        for name in LABELS
    ]


_SMALL, _MIDDLE = _points(SMALL), _points(MIDDLE)
_EACH = [{"problem": problem} for problem in PROBLEMS]
_LARGE: dict[str, Any] = {"runs": 10, "quick_runs": 0, "seconds": 1000.0, "uses_device": True}

PARTS = (
    Part(
        "small",
        run,
        _SMALL,
        10,
        [point for point in _SMALL if point["settings"] != "defaults"],
        2,
        seconds=1.0,
    ),
    Part("middle", run, _MIDDLE, 10, _MIDDLE[:1], 1, seconds=11.0),
    Part("large", run_large, _EACH[:1], cpu_runs=1, **_LARGE),
    Part("large-20", run_large, _EACH[1:], cpu_runs=0, **_LARGE),
    Part("large-copula", run_large_copula, _EACH, 3, quick_runs=0, seconds=15.0),
)

TABLES = {
    "found": lambda r: (
        Cell(row, label, [run["true"] for run in runs]) for row, label, runs in _rows(r)
    ),
    "false positives": lambda r: (
        Cell(row, label, [run["false"] for run in runs]) for row, label, runs in _rows(r)
    ),
    "seconds": _seconds,
}

FIGURES = {
    "medium-found": _hits,
    "medium-growth": _growth,
}
