"""The paper's tables: its toy system, Friedman's three models and Runge's, beside its numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from common import parser, show, write
from joblib import Parallel, delayed

from pidselect import PIDSelector, datasets

Rates = tuple[float, float]  # percent of the relevant features found, and of the others taken

#: The paper's own rates by criterion.
PAPER: dict[str, dict[str, Rates]] = {
    "friedman1": {"cmi": (100.0, 1.2), "mi": (81.0, 0.8)},
    "friedman2": {"cmi": (50.5, 0.2), "mi": (56.8, 0.8)},
    "friedman3": {"cmi": (3.5, 0.0), "mi": (3.3, 0.5)},
    "runge": {"cmi": (99.6, 3.0), "mi": (54.7, 7.5)},
}

MAKE: dict[str, Callable[..., datasets.Problem]] = {
    "toy": datasets.toy,
    "friedman1": partial(datasets.friedman, model=1),
    "friedman2": partial(datasets.friedman, model=2),
    "friedman3": partial(datasets.friedman, model=3),
    "runge": datasets.runge,
}

#: Two results of equal spread differ at the 1 % level beyond so many standard errors of one.
AGREEMENT = 2.58 * np.sqrt(2.0)

VERDICT = {True: "yes", False: "no", None: "no spread"}


class Tally(NamedTuple):
    """Mean of the runs, in percent, and its standard error."""

    mean: float
    standard_error: float


def select(name: str, criterion: str, seed: int) -> tuple[int, ...]:
    """Run one selection on fresh data as the paper does, and return the columns in order."""
    problem = MAKE[name](1000, random_state=seed)
    selector = PIDSelector(
        criterion,
        "ksg",
        alpha=0.05,
        n_permutations=200,
        surrogates="global",
        shared=False,
        backward="minimum",
        n_jobs=1,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # nothing selected is a result here
        selector.fit(problem.X, problem.y)
    return tuple(selector.selected_.tolist())


def repeat(name: str, criterion: str, options: Any) -> list[tuple[int, ...]]:
    """Run many selections, side by side in processes."""
    seeds = range(options.seed, options.seed + options.runs)
    return Parallel(n_jobs=options.jobs)(delayed(select)(name, criterion, seed) for seed in seeds)


def share(columns: set[int], selections: Sequence[tuple[int, ...]]) -> Tally:
    """Return how many of these columns a run selects on average."""
    percent = [100.0 * len(columns & set(selected)) / len(columns) for selected in selections]
    if len(percent) == 1:
        return Tally(percent[0], 0.0)
    return Tally(float(np.mean(percent)), float(np.std(percent, ddof=1) / np.sqrt(len(percent))))


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
    selections = repeat(name, criterion, options)
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
    selections = repeat("toy", "cmi", options)
    return {
        "runs": len(selections),
        "X1 first": sum(selected[:1] == (X1,) for selected in selections),
        "X1, then eta": sum(selected[:2] == (X1, eta) for selected in selections),
        "X2 left out": sum(X2 not in selected for selected in selections),
        "exact": sum(selected == (X1, eta) for selected in selections),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Select, compare, print and write."""
    options = parser(__doc__, runs=100, help_runs="data sets of each model; the paper has 100")
    options.add_argument("--jobs", type=int, default=1, help="processes (1)")
    options.add_argument("--only", choices=MAKE, help="one model")
    options = options.parse_args(arguments)
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
