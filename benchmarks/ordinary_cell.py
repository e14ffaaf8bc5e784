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
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

import fill_tables
import numpy as np
import pandas as pd
from memory import peak_mb, reset_peak
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from threadpoolctl import threadpool_limits


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
    goals: dict[str, float]  # by work, in seconds; "beyond" for the first beyond the second
    settings: dict[str, Any] = field(default_factory=dict)
    works: tuple[str, ...] = ("fit", "explain")
    is_cold: bool = False  # nothing is compiled before, and every round has its own process


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


def real(name: str) -> Problem:
    """Return a table of `fill_tables.py`, labels as texts."""
    table = fill_tables.TABLES[name](fill_tables.FOLDER)
    X = pd.DataFrame(table.X, columns=table.names)
    for place in table.nominal:
        X[table.names[place]] = [f"level {code:.0f}" for code in table.X[:, place]]
    useful = frozenset(column for column in table.names if column.startswith("useful"))
    return Problem(X, table.y, useful or None)


def friedman(seed: int, n_columns: int = 10) -> Problem:
    """Return Friedman's first model of five among uniform columns."""
    X = np.random.default_rng(seed).uniform(size=(1000, n_columns))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + X[:, 3:5] @ [10, 5]
    frame = pd.DataFrame(X, columns=[f"x{place}" for place in range(n_columns)])
    y += np.random.default_rng([seed, 1]).standard_normal(1000)
    return Problem(frame, y, frozenset(frame.columns[:5]))


def ipss(seed: int) -> Problem:
    """Return a table of the published simulation of IPSS, 500 x 500."""
    from simulations import DESIGNS

    X, y, relevant = DESIGNS["exp(-x^2), N=500, numbers"].make(np.random.default_rng(seed))
    frame = pd.DataFrame(X, columns=[f"x{place}" for place in range(X.shape[1])])
    return Problem(frame, y, frozenset(f"x{place}" for place in relevant))


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


COLD = ("fit", "explain", "second fit", "second explain")

TABLES: dict[str, OrdinaryTable] = {
    "friedman": OrdinaryTable(friedman, {"fit": 0.8, "explain": 1.5}),
    "breast_cancer": OrdinaryTable(breast_cancer, {"fit": 0.6, "explain": 1.0}),
    "credit": OrdinaryTable(
        credit, {"fit": 1.2, "explain": 1.5}, works=("fit", "explain", "report")
    ),
    "abalone": OrdinaryTable(lambda seed: real("abalone"), {"fit": 3, "explain": 4}),
    "madelon": OrdinaryTable(lambda seed: real("madelon"), {"fit": 20}, works=("fit",)),
    "ipss": OrdinaryTable(ipss, {"fit": 8}, works=("fit",)),
    "wide": OrdinaryTable(
        lambda seed: numbers(seed, 200, 5000), {"fit": 5}, {"lookahead": 1}, ("fit",)
    ),
    "wide_lookahead": OrdinaryTable(lambda seed: numbers(seed, 200, 5000), {}, works=("fit",)),
    "forty": OrdinaryTable(lambda seed: friedman(seed, 40), {"fit": 2}, works=("fit",)),
    "million": OrdinaryTable(
        lambda seed: numbers(seed, 1_000_000, 20, correlation=0.5), {"fit": 180}, works=("fit",)
    ),
    "widest": OrdinaryTable(lambda seed: numbers(seed, 100, 100_000), {"fit": 60}, works=("fit",)),
    "cold_numbers": OrdinaryTable(friedman, {"beyond": 0.3}, works=COLD, is_cold=True),
    "cold_classes": OrdinaryTable(breast_cancer, {"beyond": 0.3}, works=COLD, is_cold=True),
    "cold_mixed": OrdinaryTable(credit, {"beyond": 0.3}, works=COLD, is_cold=True),
}

#: Compilations since numba was imported, if it was.
compilations: list[str] = []


class Watch(MetaPathFinder):
    """Count compilations from the moment at which something imports numba: we do not."""

    def find_spec(self, name: str, *_: Any) -> None:
        """Begin when the module that records events is there; find nothing."""
        if name == "numba.core.dispatcher":
            from numba.core.event import Listener, register

            class Counter(Listener):
                def on_start(self, event: Any) -> None:
                    compilations.append(event.kind)

                def on_end(self, event: Any) -> None:
                    pass

            register("numba:compile", Counter())


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
        work |= {f"second {part}": work[part] for part in ("fit", "explain")}
        result = None
        for part in works:
            held, before = reset_peak(), len(compilations)
            start, used = time.perf_counter(), time.process_time()
            result = work[part](result)
            found = {
                "work": part,
                "seconds": time.perf_counter() - start,
                "cpu_seconds": time.process_time() - used,
                "peak_mb": max(0.0, peak_mb() - held),
                "compilations": len(compilations) - before,
                "numba": "numba" in sys.modules,
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


def main(name: str, seed: int, rounds: int, data: str) -> None:
    warnings.simplefilter("ignore")
    logging.getLogger("pidselect").setLevel(logging.ERROR)
    fill_tables.FOLDER, table = Path(data), TABLES[name]
    problem = table.make(seed)
    settings = {"n_jobs": 1, **table.settings, "random_state": seed}
    for _ in range(rounds):
        for found in measure(problem, table.works, settings):
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    sys.meta_path.insert(0, Watch())
    with threadpool_limits(1):
        main(**json.loads(sys.argv[1]))
