"""False alarms: how often anything is selected where no column tells anything of the target."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from common import parser, show, write
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import binomtest

from pidselect import PIDSelector

Data = tuple[NDArray[Any], NDArray[Any]]

N_SAMPLES = 300
ALPHA = 0.05


def continuous(rng: np.random.Generator) -> Data:
    """Ten uniform columns, a normal target."""
    return rng.uniform(size=(N_SAMPLES, 10)), rng.standard_normal(N_SAMPLES)


def discrete(rng: np.random.Generator) -> Data:
    """Eight columns of two to five levels, a target of three."""
    levels = np.tile([2, 3, 4, 5], 2)
    return rng.integers(levels, size=(N_SAMPLES, 8)), rng.integers(3, size=N_SAMPLES)


def classes(rng: np.random.Generator) -> Data:
    """Ten normal columns, three classes."""
    return rng.standard_normal((N_SAMPLES, 10)), rng.integers(3, size=N_SAMPLES)


def mixed(rng: np.random.Generator) -> Data:
    """Four continuous columns, three of texts and three of counts, a normal target."""
    columns = [
        *rng.standard_normal((4, N_SAMPLES)),
        *(rng.choice(list("abcde"[:n]), N_SAMPLES) for n in (2, 3, 5)),
        *(rng.poisson(mean, N_SAMPLES) for mean in (1.0, 4.0, 20.0)),
    ]
    X = np.empty((N_SAMPLES, len(columns)), dtype=object)
    for i, column in enumerate(columns):
        X[:, i] = column.tolist()
    return X, rng.standard_normal(N_SAMPLES)


def correlated(rng: np.random.Generator) -> Data:
    """Ten normal columns, each pair correlated 0.8, a normal target."""
    common, own = rng.standard_normal((N_SAMPLES, 1)), rng.standard_normal((N_SAMPLES, 10))
    return np.sqrt(0.8) * common + np.sqrt(0.2) * own, rng.standard_normal(N_SAMPLES)


TABLES: dict[str, Callable[[np.random.Generator], Data]] = {
    "continuous": continuous,
    "discrete": discrete,
    "classes": classes,
    "mixed": mixed,
    "correlated": correlated,
}


def select(name: str, seed: int) -> tuple[int, str]:
    """Return how many columns are selected from fresh data, and by which estimator."""
    X, y = TABLES[name](np.random.default_rng(seed))
    selector = PIDSelector(alpha=ALPHA, n_jobs=1, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # nothing selected is what should happen
        selector.fit(X, y)
    return len(selector.selected_), repr(selector.estimator_)


def count_alarms(name: str, options: Any) -> dict[str, Any]:
    """Return the share of runs with any selection, and its 95 % interval (Clopper, Pearson)."""
    seeds = range(options.seed, options.seed + options.runs)
    outcomes = Parallel(n_jobs=options.jobs)(delayed(select)(name, seed) for seed in seeds)
    alarms = sum(n_selected > 0 for n_selected, _ in outcomes)
    interval = binomtest(alarms, options.runs).proportion_ci(0.95, method="exact")
    return {
        "table": name,
        "estimator": ", ".join(sorted({estimator for _, estimator in outcomes})),
        "runs": options.runs,
        "alarms": alarms,
        "percent": 100.0 * alarms / options.runs,
        "low": 100.0 * interval.low,
        "high": 100.0 * interval.high,
        "above_alpha": bool(interval.low > ALPHA),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Select, count, print and write."""
    options = parser(__doc__, runs=200, help_runs="data sets of each table")
    options.add_argument("--jobs", type=int, default=1, help="processes (1)")
    options.add_argument("--only", choices=TABLES, help="one table")
    options = options.parse_args(arguments)
    rows = [count_alarms(name, options) for name in TABLES if options.only in (None, name)]
    show(
        f"Runs with any selection where nothing is relevant, N={N_SAMPLES}, alpha={ALPHA}",
        ("table", "estimator", "runs", "alarms", "percent", "low", "high", "above alpha"),
        [tuple(row.values()) for row in rows],
    )
    write("calibration", options, {"tables": rows})


if __name__ == "__main__":
    main()
