"""False alarms: how often anything is selected where no column tells anything of the target."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from common import fit, interval, parser, positive, repeat, show, write
from numpy.typing import NDArray

from pidselect import PIDSelector

Data = tuple[NDArray[Any], NDArray[Any]]

N_SAMPLES = 200
N_COLUMNS = 6
SHAPE = (N_SAMPLES, N_COLUMNS)
WIDE = (100, 130)
ALPHA = 0.05

# Of 1,000 runs at 5 %, fewer than 30, or more than 72, come by chance once in 1,000 times. Too few
# say that power is given away; where values are tied, fewer than 5 % cannot be helped.
LEAST, MOST = 0.030, 0.072


def uniform(rng: np.random.Generator) -> Data:
    """Uniform columns, a normal target."""
    return rng.uniform(size=SHAPE), rng.standard_normal(N_SAMPLES)


def heavy_tails(rng: np.random.Generator) -> Data:
    """Cauchy columns and ones of Student's t with 1.5 degrees of freedom, by turns; so the target.

    The former have no mean, the latter no variance.
    """
    freedom = np.resize([1.0, 1.5], N_COLUMNS)
    return rng.standard_t(freedom, size=SHAPE), rng.standard_t(1.5, size=N_SAMPLES)


def correlated(rng: np.random.Generator) -> Data:
    """Normal columns, each pair correlated 0.8, a normal target."""
    common, own = rng.standard_normal((N_SAMPLES, 1)), rng.standard_normal(SHAPE)
    return np.sqrt(0.8) * common + np.sqrt(0.2) * own, rng.standard_normal(N_SAMPLES)


def discrete(rng: np.random.Generator) -> Data:
    """Columns of two to five levels, a target of three."""
    levels = np.resize([2, 3, 4, 5], N_COLUMNS)
    return rng.integers(levels, size=SHAPE), rng.integers(3, size=N_SAMPLES)


def mixed(rng: np.random.Generator) -> Data:
    """Continuous columns, texts and counts by turns, a normal target."""
    X = np.empty(SHAPE, dtype=object)
    for column in range(N_COLUMNS):
        letters, mean = "abcde"[: 2 + column // 2], 4.0 ** (column // 3)
        match column % 3:
            case 0:
                X[:, column] = rng.standard_normal(N_SAMPLES).tolist()
            case 1:
                X[:, column] = rng.choice(list(letters), N_SAMPLES).tolist()
            case 2:
                X[:, column] = rng.poisson(mean, N_SAMPLES).tolist()
    return X, rng.standard_normal(N_SAMPLES)


def classes(rng: np.random.Generator) -> Data:
    """Normal columns, three classes."""
    return rng.standard_normal(SHAPE), rng.integers(3, size=N_SAMPLES)


def labels(rng: np.random.Generator) -> Data:
    """Texts of two to nine levels, three classes."""
    X = np.empty(SHAPE, dtype=object)
    for column in range(N_COLUMNS):
        X[:, column] = rng.choice(list("abcdefghi"[: 2 + 7 * column // 5]), N_SAMPLES).tolist()
    return X, rng.integers(3, size=N_SAMPLES)


def wide(rng: np.random.Generator) -> Data:
    """Normal columns, more of them than samples, a normal target."""
    return rng.standard_normal(WIDE), rng.standard_normal(WIDE[0])


def wide_labels(rng: np.random.Generator) -> Data:
    """Mostly normal columns, and texts of two to twenty levels, a normal target."""
    X = np.empty(WIDE, dtype=object)
    for column in range(WIDE[1]):
        if column % 6:
            X[:, column] = rng.standard_normal(WIDE[0]).tolist()
        else:
            letters = list("abcdefghijklmnopqrst"[: 2 + column % 19])
            X[:, column] = rng.choice(letters, WIDE[0]).tolist()
    return X, rng.standard_normal(WIDE[0])


def wide_given_one(rng: np.random.Generator) -> Data:
    """Normal columns, the target a nonlinear function of the first and noise."""
    X = rng.standard_normal(WIDE)
    return X, X[:, 0] + X[:, 0] ** 2 + 0.2 * rng.standard_normal(WIDE[0])


class Table(NamedTuple):
    """How null data are made, and in which share of runs anything must be selected at least."""

    make: Callable[[np.random.Generator], Data]
    least: float
    relevant: frozenset[int] = frozenset()  # columns that are no false positives


TABLES = {
    "uniform": Table(uniform, LEAST),
    "heavy_tails": Table(heavy_tails, LEAST),
    "correlated": Table(correlated, LEAST),
    "discrete": Table(discrete, 0.0),
    "mixed": Table(mixed, 0.0),
    "classes": Table(classes, 0.0),
    "labels": Table(labels, 0.0),
    "wide": Table(wide, LEAST),
    "wide_labels": Table(wide_labels, 0.0),
    "wide_given_one": Table(wide_given_one, 0.0, frozenset({0})),
}

#: Those that are made unless others are asked for.
NARROW = ["uniform", "heavy_tails", "correlated", "discrete", "mixed", "classes"]


def select(
    name: str, lookahead: int | str, n_permutations: int | str, seed: int
) -> tuple[int, str]:
    """Return how many irrelevant columns are selected from fresh data, and by which estimator."""
    X, y = TABLES[name].make(np.random.default_rng(seed))
    selector = PIDSelector(
        alpha=ALPHA,
        lookahead=lookahead,
        n_permutations=n_permutations,
        n_jobs=1,
        random_state=seed,
    )
    fit(selector, X, y)
    false_positives = set(selector.selected_.tolist()) - TABLES[name].relevant
    return len(false_positives), repr(selector.estimator_)


def count_alarms(name: str, options: Namespace) -> dict[str, Any]:
    """Return the share of runs with any selection, its 95 % interval, and whether it will do."""
    outcomes = repeat(select, name, options.lookahead, options.permutations, options=options)
    alarms = sum(n_selected > 0 for n_selected, _ in outcomes)
    low, high = interval(alarms, options.runs)
    least = TABLES[name].least * options.runs
    return {
        "table": name,
        "estimator": ", ".join(sorted({estimator for _, estimator in outcomes})),
        "runs": options.runs,
        "alarms": alarms,
        "percent": 100.0 * alarms / options.runs,
        "low": low,
        "high": high,
        "least": least,
        "most": MOST * options.runs,
        "met": bool(least <= alarms <= MOST * options.runs),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Select, count, print and write."""
    command = parser(__doc__, runs=1000, help_runs="data sets of each table")
    command.add_argument("--jobs", type=int, default=1, help="processes (1)")
    command.add_argument(
        "--kinds", nargs="+", choices=TABLES, default=NARROW, help=f"tables ({' '.join(NARROW)})"
    )
    command.add_argument(
        "--lookahead", type=number_or_auto, default="auto", help="of the selector (auto)"
    )
    command.add_argument(
        "--permutations", type=number_or_auto, default=200, help='of the selector, or "auto" (200)'
    )
    options = command.parse_args(arguments)
    rows = [count_alarms(name, options) for name in options.kinds]
    show(
        f"Runs with any false selection, N={N_SAMPLES}, {N_COLUMNS} columns (wide: {WIDE[0]}, "
        f"{WIDE[1]}), alpha={ALPHA}, lookahead={options.lookahead}, "
        f"n_permutations={options.permutations}",
        (
            *("table", "estimator", "runs", "alarms", "percent", "low", "high"),
            *("least", "most", "met"),
        ),
        [tuple(row.values()) for row in rows],
    )
    parts = [] if options.kinds == NARROW else options.kinds
    parts += [] if options.lookahead == "auto" else [f"lookahead{options.lookahead}"]
    parts += ["auto"] if options.permutations == "auto" else []
    write("-".join(["calibration", *parts]), options, {"tables": rows})


def number_or_auto(text: str) -> int | str:
    """Read a number, or "auto"."""
    return text if text == "auto" else positive(text)


if __name__ == "__main__":
    main()
