"""Fit, explain and report one ordinary table, in a process of its own.

Arguments: a JSON object with the name of the table, the seed and the number of rounds. Each piece
of work is a line of JSON on standard output, so that what is done stays known if the process is
stopped. Only public names of the package are used, so that other versions of it can be measured.
"""

from __future__ import annotations

import inspect
import json
import logging
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numba.core.event
import numpy as np
import pandas as pd
from memory import peak_mb, reset_peak
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, make_classification
from threadpoolctl import threadpool_limits

AUTO_TWO_THREADS = {"n_permutations": "auto", "n_jobs": 2}

#: The part of a table that is fitted first, so that most kernels are loaded.
WARM_UP_ROWS, WARM_UP_COLUMNS = 150, 30


@dataclass(frozen=True)
class Problem:
    """A table, its target, and the columns that are informative where this is known."""

    X: pd.DataFrame
    y: NDArray[Any]
    relevant: frozenset[str] | None = None


@dataclass(frozen=True)
class OrdinaryTable:
    """How a table is made, what is done with it, and in how many seconds."""

    make: Callable[[int], Problem]
    goals: dict[str, float]  # by work, in seconds; "all" for all works together
    settings: dict[str, Any] = field(default_factory=dict)
    works: tuple[str, ...] = ("fit", "explain")
    is_cold: bool = False  # nothing is compiled before


def credit(seed: int, n_rows: int = 1000) -> Problem:
    """Return a table as those of credit applications: 13 label columns and 7 of integers.

    Four label columns, the duration and the age have an effect on the risk; the amount depends on
    the duration alone.
    """
    rng = np.random.default_rng(seed)
    n_levels = (4, 5, 10, 5, 5, 4, 3, 4, 3, 3, 4, 2, 2)
    informative = (0, 1, 2, 5)
    columns: dict[str, NDArray[Any]] = {}
    risk = np.zeros(n_rows)
    for place, n in enumerate(n_levels):
        codes = rng.choice(n, size=n_rows, p=rng.dirichlet(np.full(n, 2.0)))
        if place in informative:
            # Evenly spaced effects in random order: every informative column is, for any seed.
            effects = 1.2 * rng.permutation(np.linspace(-1.0, 1.0, n))
            risk += effects[codes]
        columns[f"label{place}"] = np.array([f"A{place}{level}" for level in range(n)])[codes]
    log_duration = rng.normal(2.9, 0.55, n_rows)
    duration = 3 + 3 * np.round(np.exp(log_duration) / 3)
    amount = np.round(np.exp(7.8 + 0.5 * np.log(duration / 18) + rng.normal(0, 0.6, n_rows)))
    age = np.round(19 + rng.gamma(2.0, 8.0, n_rows))
    numbers = {
        "duration": duration,
        "amount": amount,
        "rate": rng.integers(1, 5, n_rows),
        "residence": rng.integers(1, 5, n_rows),
        "age": age,
        "credits": 1 + rng.poisson(0.4, n_rows).clip(0, 3),
        "dependents": 1 + (rng.random(n_rows) < 0.15),
    }
    columns |= {name: values.astype(np.int64) for name, values in numbers.items()}
    risk += 0.9 * (log_duration - 2.9) / 0.55 - 0.7 * (age - 35) / 11
    risk += rng.logistic(size=n_rows)
    y = np.where(risk > np.quantile(risk, 0.7), "bad", "good")
    relevant = {*(f"label{place}" for place in informative), "duration", "age"}
    return Problem(pd.DataFrame(columns), y, frozenset(relevant))


def breast_cancer(seed: int) -> Problem:
    """Return scikit-learn's table, 569 x 30."""
    data = load_breast_cancer(as_frame=True)
    return Problem(data.data, data.target.to_numpy())


def abalone(seed: int, n_rows: int = 4177) -> Problem:
    """Return a table as abalone: a label, 7 correlated rounded measurements, rings from 1 to 29.

    Lengths are multiples of 0.005, weights of 0.0005, as in the original.
    """
    rng = np.random.default_rng(seed)
    age = np.clip(9.4 * np.exp(rng.normal(0, 0.34, n_rows)), 1.0, 29.0)
    size = 0.6 * (1 - np.exp(-0.22 * age)) * np.exp(rng.normal(0, 0.13, n_rows))
    sex = np.where(rng.random(n_rows) < 1 / (1 + np.exp(18 * (size - 0.43))), "I", "")
    adults = np.where(rng.random(n_rows) < 0.54, "M", "F")

    def weight(share: float, noise: float) -> NDArray[np.float64]:
        values = share * 5.7 * size**3 * np.exp(rng.normal(0, noise, n_rows))
        return np.round(np.maximum(values, 0.001) / 0.0005) * 0.0005

    def length(share: float, noise: float) -> NDArray[np.float64]:
        values = share * size * np.exp(rng.normal(0, noise, n_rows))
        return np.round(np.maximum(values, 0.01) / 0.005) * 0.005

    X = {
        "sex": np.where(sex == "I", "I", adults),
        "length": length(1.0, 0.02),
        "diameter": length(0.78, 0.025),
        "height": length(0.27, 0.09),
        "whole": weight(1.0, 0.08),
        "shucked": weight(0.43, 0.14),
        "viscera": weight(0.22, 0.13),
        # The shell grows with age beyond the size of the animal.
        "shell": np.round(weight(0.29, 0.1) * (age / 10) ** 0.25 / 0.0005) * 0.0005,
    }
    rings = np.clip(np.round(age + rng.normal(0, 0.7, n_rows)), 1, 29).astype(np.int64)
    rings[rings == 28] = 29  # nor has the original any: 28 levels
    return Problem(pd.DataFrame(X), rings)


def toy(seed: int) -> Problem:
    """Return the first example of the documentation: 1,000 x 3."""
    from pidselect import datasets

    data = datasets.toy(random_state=seed + 1)
    names = [f"x{place}" for place in range(data.X.shape[1])]
    return Problem(pd.DataFrame(data.X, columns=names), data.y, frozenset({"x0", "x2"}))


def numbers(seed: int, n_rows: int, n_columns: int, correlation: float = 0.0) -> Problem:
    """Return continuous columns, five with an effect, each correlated with the one before."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns))
    for place in range(1, n_columns if correlation else 0):
        X[:, place] = correlation * X[:, place - 1] + (1 - correlation**2) ** 0.5 * X[:, place]
    relevant = [place * (n_columns // 5) for place in range(5)]
    first, second, third, fourth, fifth = X[:, relevant].T
    y = 1.5 * first + second + np.sin(2 * third) + fourth**2 + fifth
    y += 0.5 * rng.standard_normal(n_rows)
    names = [f"x{place}" for place in range(n_columns)]
    return Problem(pd.DataFrame(X, columns=names), y, frozenset(f"x{i}" for i in relevant))


def madelon(seed: int) -> Problem:
    """Return a table as MADELON: 32 clusters on a hypercube of 5 columns, 15 combinations of them.

    The order of the columns is random.
    """
    X, y = make_classification(
        2000,
        500,
        n_informative=5,
        n_redundant=15,
        n_clusters_per_class=16,
        class_sep=2.0,
        flip_y=0.01,
        shuffle=False,
        random_state=seed,
    )
    names = np.array([f"useful{i}" if i < 20 else f"noise{i}" for i in range(500)])
    order = np.random.default_rng(seed).permutation(500)
    return Problem(pd.DataFrame(X[:, order], columns=names[order]), y, frozenset(names[:20]))


TABLES: dict[str, OrdinaryTable] = {
    "credit": OrdinaryTable(credit, {"fit": 8, "all": 20}, works=("fit", "explain", "report")),
    "breast_cancer": OrdinaryTable(breast_cancer, {"fit": 3, "explain": 3}),
    "abalone": OrdinaryTable(abalone, {"fit": 10}),
    "cold": OrdinaryTable(toy, {"fit": 10, "explain": 6}, is_cold=True),
    "cold_no_bytecode": OrdinaryTable(toy, {"fit": 10, "explain": 6}, is_cold=True),
    "wide": OrdinaryTable(
        lambda seed: numbers(seed, 200, 5000), {"fit": 8}, AUTO_TWO_THREADS, ("fit",)
    ),
    "tall": OrdinaryTable(
        lambda seed: numbers(seed, 100_000, 30, correlation=0.5), {"fit": 120}, works=("fit",)
    ),
    "madelon": OrdinaryTable(madelon, {"fit": 90}, AUTO_TWO_THREADS, ("fit",)),
}


def measure(
    problem: Problem, works: tuple[str, ...], settings: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Do one piece of work after the other, and yield what each took."""
    from pidselect import PIDSelector, write_report

    selector, X, y = PIDSelector(**settings), problem.X, problem.y
    takes_explanation = "explanation" in inspect.signature(write_report).parameters
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"

        def report(explanation: Any) -> object:
            known = {"explanation": explanation} if takes_explanation else {}
            return write_report(selector, X, y, page, **known)

        work: dict[str, Callable[[Any], object]] = {
            "fit": lambda _: selector.fit(X, y),
            "explain": lambda _: selector.explain(X, y),
            "report": report,
        }
        result = None
        for part in works:
            held = reset_peak()
            with numba.core.event.install_recorder("numba:compile") as compilations:
                start = time.perf_counter()
                result = work[part](result)
                seconds = time.perf_counter() - start
            found = {
                "work": part,
                "seconds": seconds,
                "peak_mb": max(0.0, peak_mb() - held),
                "compilations": len(compilations.buffer) // 2,  # each begins and ends
            }
            if part == "fit":
                found |= judged(problem, list(map(str, selector.get_feature_names_out())))
            yield found


def judged(problem: Problem, selected: list[str]) -> dict[str, Any]:
    """Return the selected columns, and how many are informative where this is known."""
    found: dict[str, Any] = {"shape": list(problem.X.shape), "selected": selected}
    if problem.relevant is not None:
        right = len(problem.relevant & set(selected))
        found |= {"right": right, "wrong": len(selected) - right, "relevant": len(problem.relevant)}
    return found


def main(name: str, seed: int, rounds: int) -> None:
    """Measure; memory counts on top of the packages, the kernels and the data."""
    warnings.simplefilter("ignore")
    logging.getLogger("pidselect").setLevel(logging.ERROR)
    table = TABLES[name]
    problem = table.make(seed)
    settings = {**table.settings, "random_state": seed}
    if not table.is_cold:
        few = Problem(problem.X.iloc[:WARM_UP_ROWS, :WARM_UP_COLUMNS], problem.y[:WARM_UP_ROWS])
        list(measure(few, table.works, settings | {"n_permutations": 19}))
    for _ in range(rounds):
        for found in measure(problem, table.works, settings):
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main(**json.loads(sys.argv[1]))
