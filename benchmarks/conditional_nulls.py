"""Functions of a kept column: how often they are included though they tell nothing new."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from common import fit, interval, parser, repeat, show, write
from numpy.typing import NDArray

from pidselect import PIDSelector

Array = NDArray[np.float64]

SIZES = (500, 1000)
RELEVANT_RUNS = 50
MOST = 7.5  # percent of the data sets in any row

#: Schemes of surrogates; without a choice, the selector's default.
SURROGATES: dict[str, str | tuple[str, ...]] = {
    "global": "global",
    "local": "local",
    "both": ("global", "local"),
}


def noisy(values: Array, percent: float, rng: np.random.Generator) -> Array:
    """Add normal noise of a share of the standard deviation."""
    return values + percent / 100.0 * float(values.std()) * rng.standard_normal(len(values))


def correlated(s: Array, correlation: float, rng: np.random.Generator) -> Array:
    """Return a normal column so correlated with s."""
    return correlation * s + math.sqrt(1 - correlation**2) * rng.standard_normal(len(s))


class Case(NamedTuple):
    """A second column: what it is, how it is made of s, and whether the target heeds it."""

    words: str
    make: Callable[[Array, np.random.Generator], Array]
    relevant: bool = False


# An exact copy is set aside before any test. The next one is no copy to that check, but one to any
# estimator; so are cube and exp to those that take ranks.
CASES = {
    "copy": Case("exact copy", lambda s, rng: s.copy()),
    "copy0": Case("copy + 0.0001 % noise", lambda s, rng: noisy(s, 1e-4, rng)),
    "cube": Case("s^3", lambda s, rng: s**3),
    "exp": Case("exp(s)", lambda s, rng: np.exp(s)),
    "copy1": Case("copy + 1 % noise", lambda s, rng: noisy(s, 1, rng)),
    "copy5": Case("copy + 5 % noise", lambda s, rng: noisy(s, 5, rng)),
    "copy30": Case("copy + 30 % noise", lambda s, rng: noisy(s, 30, rng)),
    "square10": Case("s^2 + 10 % noise", lambda s, rng: noisy(s**2, 10, rng)),
    "square30": Case("s^2 + 30 % noise", lambda s, rng: noisy(s**2, 30, rng)),
    "relevant0": Case("relevant, correlation 0", lambda s, rng: correlated(s, 0.0, rng), True),
    "relevant80": Case("relevant, correlation 0.8", lambda s, rng: correlated(s, 0.8, rng), True),
    "relevant95": Case("relevant, correlation 0.95", lambda s, rng: correlated(s, 0.95, rng), True),
}

# What the target is of s, and the standard deviation of its noise. The less noise, the narrower is
# the curve that s and y lie on, and the more a surrogate of x, which leaves it, differs from x.
TARGETS: dict[str, tuple[Callable[[Array], Array], float]] = {
    "s + 0.5 noise": (lambda s: s, 0.5),
    "sin(2 s) + 0.3 noise": (lambda s: np.sin(2 * s), 0.3),
    "sin(2 s) + 0.1 noise": (lambda s: np.sin(2 * s), 0.1),
}


def included(name: str, target: str, n_samples: int, settings: dict[str, Any], seed: int) -> bool:
    """Return whether the second column is included beside s, in one data set."""
    rng = np.random.default_rng(seed)
    signal, deviation = TARGETS[target]
    case = CASES[name]
    s = rng.standard_normal(n_samples)
    y = signal(s) + deviation * rng.standard_normal(n_samples)
    x = case.make(s, rng)
    selector = PIDSelector(
        **settings, fixed_features=[0], backward=None, n_jobs=1, random_state=seed
    )
    fit(selector, np.column_stack([s, x]), y + x if case.relevant else y)
    return 1 in selector.selected_


def count(name: str, target: str, n_samples: int, options: Namespace) -> dict[str, Any]:
    """Return the share of data sets in which the second column is included."""
    settings: dict[str, Any] = {}
    if options.surrogates is not None:
        settings["surrogates"] = SURROGATES[options.surrogates]
    if options.estimator is not None:
        names = tuple(options.estimator.split(","))
        settings["estimator"] = names if len(names) > 1 else names[0]
    if CASES[name].relevant:  # there to show that something is found at all
        options = Namespace(**{**vars(options), "runs": min(options.runs, RELEVANT_RUNS)})
    times = sum(repeat(included, name, target, n_samples, settings, options=options))
    low, high = interval(times, options.runs)
    percent = 100.0 * times / options.runs
    return {
        "x": CASES[name].words,
        "target": target,
        "n_samples": n_samples,
        "data sets": options.runs,
        "included": times,
        "percent": percent,
        "low": low,
        "high": high,
        "met": None if CASES[name].relevant else bool(percent <= MOST),
    }


def summarise(target: str, rows: list[dict[str, Any]]) -> None:
    """Print in how many rows as little is included as is asked, and the worst of them."""
    nulls = [row for row in rows if row["met"] is not None]
    if nulls:
        worst = max(nulls, key=lambda row: row["percent"])
        print(
            f"y = {target}: {sum(row['met'] for row in nulls)} of {len(nulls)} rows met; highest "
            f"{worst['percent']:.1f} % ({worst['x']}, N={worst['n_samples']})"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Test, count, print and write."""
    command = parser(__doc__, runs=500, help_runs="data sets of each row")
    command.add_argument("--jobs", type=int, default=1, help="processes (1)")
    command.add_argument("--only", choices=CASES, help="one kind of second column")
    command.add_argument("--surrogates", choices=SURROGATES, help="(the selector's default)")
    command.add_argument(
        "--estimator", help="by name, several with commas between (the selector's default)"
    )
    options = command.parse_args(arguments)
    cases = [name for name in CASES if options.only in (None, name)]
    rows: list[dict[str, Any]] = []
    for n_samples in SIZES:
        for target in TARGETS:
            part = [count(name, target, n_samples, options) for name in cases]
            show(
                f"x included beside s, y = {target} (+ x where relevant), N={n_samples}; "
                f"at most {MOST} % where not",
                ("x", "data sets", "included", "percent", "low", "high", "met"),
                [(row["x"], *list(row.values())[3:]) for row in part],
            )
            rows += part
    print()
    for target in TARGETS:
        summarise(target, [row for row in rows if row["target"] == target])
    chosen = (options.surrogates, options.estimator and options.estimator.replace(",", "+"))
    write("-".join(["conditional_nulls", *filter(None, chosen)]), options, {"rows": rows})


if __name__ == "__main__":
    main()
