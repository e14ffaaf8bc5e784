"""Features that act only together: what look-ahead finds, what is left without, and the time."""

from __future__ import annotations

import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from common import fit, interval, parser, repeat, show, write

from pidselect import PIDSelector, datasets

LEAST = 90.0  # percent of the runs that must go as they should
LONGEST = 60.0  # seconds of any fit


def parity(n_samples: int, *, n_bits: int, random_state: int) -> datasets.SyntheticDataset:
    """Parity of some bits, beside five bits of no use."""
    rng = np.random.default_rng(random_state)
    bits, y = datasets.sample(datasets.gate("XOR", n_sources=n_bits), n_samples, random_state=rng)
    X = np.column_stack([bits, rng.integers(2, size=(n_samples, 5))]).astype(np.float64)
    names = tuple(f"X{i + 1}" for i in range(n_bits)) + tuple(f"Z{i + 1}" for i in range(5))
    return datasets.SyntheticDataset(X, y, names, tuple(range(n_bits)), f"Parity of {n_bits} bits")


class Case(NamedTuple):
    """Data, how far to look ahead, and whether all that is relevant or nothing is to be found."""

    make: Callable[..., datasets.SyntheticDataset]
    lookahead: int
    empty: bool = False


loci = partial(datasets.epistasis, 1600, n_loci=20, heritability=0.4)
spheres = partial(datasets.nested_spheres, 1000, radii=(1.0, 1.25))

CASES = {
    "loci": Case(partial(loci, minor_allele=0.2), 2),
    "loci_common": Case(partial(loci, minor_allele=0.4), 2),
    "xor": Case(partial(parity, 500, n_bits=2), 3),
    "spheres": Case(spheres, 3),
    "noisy_spheres": Case(partial(spheres, label_noise=0.5), 3),
    "loci_alone": Case(partial(loci, minor_allele=0.2), 1, empty=True),
    "xor_alone": Case(partial(parity, 500, n_bits=2), 1, empty=True),
    "parity5": Case(partial(parity, 1000, n_bits=5), 3, empty=True),
    "parity5_four": Case(partial(parity, 1000, n_bits=5), 4, empty=True),
}


class Outcome(NamedTuple):
    """What one run selected, whether that is right, what it said and how long it took."""

    selected: tuple[str, ...]
    right: bool
    warnings: tuple[str, ...]
    seconds: float


def select(name: str, seed: int) -> Outcome:
    """Run one selection on fresh data; nothing found is right only if it is said."""
    case = CASES[name]
    problem = case.make(random_state=seed)
    selector = PIDSelector(lookahead=case.lookahead, n_jobs=1, random_state=seed)
    start = time.perf_counter()
    warnings = fit(selector, problem.X, problem.y)
    took = time.perf_counter() - start
    selected = set(selector.selected_.tolist())
    if case.empty:
        right = not selected and any("No feature was selected" in text for text in warnings)
    else:
        right = selected == set(problem.relevant)
    names = tuple(problem.names[column] for column in sorted(selected))
    return Outcome(names, right, warnings, took)


def judge(name: str, options: Namespace) -> dict[str, Any]:
    """Return how many runs went as they should, what else was selected, and the times."""
    outcomes: list[Outcome] = repeat(select, name, options=options)
    right = sum(outcome.right for outcome in outcomes)
    low, high = interval(right, options.runs)
    times = [outcome.seconds for outcome in outcomes]
    others = Counter(", ".join(outcome.selected) for outcome in outcomes if not outcome.right)
    said = [text for outcome in outcomes if outcome.right for text in outcome.warnings]
    percent = 100.0 * right / options.runs
    return {
        "case": name,
        "lookahead": CASES[name].lookahead,
        "wanted": "nothing" if CASES[name].empty else "all relevant, no other",
        "runs": options.runs,
        "right": right,
        "percent": percent,
        "low": low,
        "high": high,
        "asked": LEAST,
        "median_seconds": float(np.median(times)),
        "longest_seconds": max(times),
        "met": bool(percent >= LEAST and max(times) < LONGEST),
        "others": dict(others.most_common(5)),
        "said": said[0] if said else None,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Select, count, print and write."""
    command = parser(__doc__, runs=100, help_runs="data sets of each case")
    command.add_argument("--jobs", type=int, default=1, help="processes (1)")
    command.add_argument("--only", choices=CASES, help="one case")
    options = command.parse_args(arguments)
    rows = [judge(name, options) for name in CASES if options.only in (None, name)]
    show(
        f"Runs that select what they should, and seconds a run (at most {LONGEST:g})",
        (
            *("case", "lookahead", "wanted", "runs", "right", "percent", "low", "high", "asked"),
            *("median s", "longest s", "met"),
        ),
        [list(row.values())[:-2] for row in rows],
    )
    for row in rows:
        for selected, times in row["others"].items():
            print(f"{row['case']}: {selected or 'nothing'} in {times} of {row['runs']} runs")
        if row["said"]:
            print(f"{row['case']} says: {row['said']}")
    write("epistasis", options, {"cases": rows})


if __name__ == "__main__":
    main()
