"""Errors of explanations: information, atoms and their intervals for systems of known truth.

A selector is given all features of a system as fixed ones, and `explain` is compared with the truth
of `explanation_systems`. Beside it, on the same samples: "counting", corrected plug-in atoms by
BROJA in joint bins of all other features, and "bounds", nearest neighbours (or counts, if all is
discrete) with the smaller of I(f; y) and I(R; y) as shared information. "given 1" to "given 9"
compare estimators of I(f; y | R) alone, by the sum of normal features with so many in R.
"""

from __future__ import annotations

import json
import time
import warnings
from argparse import Namespace
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from typing import Any, NamedTuple

import numpy as np
from common import RESULTS, parser, positive, show, write
from explanation_systems import SYSTEMS, Array, Normal, System, Truth, read
from joblib import Parallel, delayed

from pidselect import PIDSelector, decompose, mutual_information
from pidselect.data import Block, read_block
from pidselect.decomposition.pmf import TooManyStatesError
from pidselect.estimators import NATS_PER_UNIT
from pidselect.estimators.mutual_information import by_residuals
from pidselect.estimators.registry import default_estimator

VALUES = ("information", "added", "unique", "shared", "synergy")
METHODS = ("explain", "counting", "bounds")

#: Data sets by number of samples; the last two sizes are of a few systems.
RUNS = {300: 24, 1000: 24, 4000: 20, 20_000: 4, 100_000: 2}
LARGE = 20_000
LARGE_SYSTEMS = ("sum of 4", "two classes, 3 features", "labels")

#: Features in the rest, for the estimators of I(f; y | R) alone.
GIVEN = {f"given {n_rest}": Normal([1] * (1 + n_rest)) for n_rest in range(1, 10)}

N_CORRECTION_PERMUTATIONS = 20

#: Values are shown in multiples of 0.001 bit.
ROUNDING = 0.0005

Row = dict[str, Any]


class Cell(NamedTuple):
    """One system and one number of samples."""

    name: str
    n_samples: int

    @property
    def system(self) -> System:
        """The system itself."""
        return GIVEN[self.name] if self.name in GIVEN else SYSTEMS[self.name][0]

    @property
    def features(self) -> tuple[int, ...]:
        """The features that are measured."""
        return (0,) if self.name in GIVEN else SYSTEMS[self.name][1]

    @property
    def runs(self) -> int:
        """The number of data sets."""
        return RUNS[self.n_samples]

    @property
    def cost(self) -> float:
        """What a data set takes, roughly: long ones are started first."""
        cost = float(self.n_samples) ** 1.5 * self.system.n_features
        return cost / 100 if self.name in GIVEN else cost


def cells() -> Iterable[Cell]:
    """Return all systems and numbers of samples."""
    for n_samples in RUNS:
        for name in (*SYSTEMS, *GIVEN):
            if n_samples < LARGE or name in LARGE_SYSTEMS:
                yield Cell(name, n_samples)


class Outcome(NamedTuple):
    """What is found for one feature in one data set: the values of each method, in bits."""

    values: dict[str, list[float] | None]  # in the order of VALUES; None if not possible
    intervals: Array = np.empty((0, 2))
    is_lower_bound: bool = False
    seconds: float = 0.0  # of `explain`, for each feature of the set


def measure(cell: Cell, seed: int) -> tuple[Cell, int, list[Outcome]]:
    """Explain one data set."""
    X, y = read(cell.system, cell.n_samples, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few samples for the states that are counted
        outcomes = given_once(X, y) if cell.name in GIVEN else explain_once(cell, X, y, seed)
    return cell, seed, outcomes


def explain_once(cell: Cell, X: Array, y: Array, seed: int) -> list[Outcome]:
    """Return the values of all methods for the features of a system."""
    names = [f"x{place}" for place in range(X.shape[1])]
    selector = PIDSelector(fixed_features=names, n_jobs=1, random_state=seed).fit(X, y)
    start = time.perf_counter()
    explanation = selector.explain(X, y)
    seconds = (time.perf_counter() - start) / len(names)
    outcomes = []
    for place in cell.features:
        feature = explanation[names[place]]
        values = {
            "explain": [getattr(feature, value) for value in VALUES],
            "counting": count(X, y, place, seed),
            "bounds": bound(X, y, place),
        }
        intervals = np.array([feature.intervals[value] for value in VALUES])
        outcomes.append(Outcome(values, intervals, feature.is_lower_bound, seconds))
    return outcomes


def split(X: Array, place: int) -> tuple[Array, Array]:
    """Return a feature and the rest."""
    return X[:, place], np.delete(X, place, axis=1)


def count(X: Array, y: Array, place: int, seed: int) -> list[float] | None:
    """Return corrected plug-in values, from joint bins of all other features."""
    try:
        found = decompose(
            list(split(X, place)), y, n_permutations=N_CORRECTION_PERMUTATIONS, random_state=seed
        )
    except TooManyStatesError:
        return None
    shared, unique, synergy = (found.corrected[atom] for atom in ("{1}{2}", "{1}", "{1,2}"))
    return [unique + shared, unique + synergy, unique, shared, synergy]


def bound(X: Array, y: Array, place: int) -> list[float]:
    """Return the values of the plain estimator, with the largest shared information possible."""
    f, rest = split(X, place)
    estimator = plain_estimator(X, y)
    own = mutual_information(f, y, estimator=estimator)
    added = mutual_information(f, y, given=rest, estimator=estimator)
    shared = min(own, mutual_information(rest, y, estimator=estimator))
    return [own, added, own - shared, shared, added - own + shared]


def plain_estimator(X: Array, y: Array) -> str:
    """Return the name of the default estimator for all columns."""
    return default_estimator(Block((*read_block(X, "x").columns, *read_block(y, "y").columns)))


def given_once(X: Array, y: Array) -> list[Outcome]:
    """Return I(f; y | R) of the first feature by residuals and by plain neighbours."""
    f, rest = split(X, 0)
    blocks = (read_block(values, name) for values, name in ((f, "f"), (y, "y"), (rest, "r")))
    residuals = by_residuals(*blocks) / NATS_PER_UNIT["bit"]
    plain = mutual_information(f, y, given=rest, estimator=plain_estimator(X, y))
    return [Outcome({"explain": [residuals], "bounds": [plain]})]


def summarise(cell: Cell, truths: Sequence[Truth], runs: Sequence[Sequence[Outcome]]) -> list[Row]:
    """Return errors, coverage and times, a row for each feature; `runs` are by data set."""
    rows = []
    for feature, truth, *outcomes in zip(cell.features, truths, *runs, strict=True):
        values = ("added",) if cell.name in GIVEN else VALUES
        true = np.array([getattr(truth, value) for value in values])
        row: Row = {
            "system": cell.name,
            "feature": f"x{feature}",
            "features": cell.system.n_features,
            "samples": cell.n_samples,
            "runs": len(outcomes),
            "true": rounded(values, true),
            **{
                method: errors(values, true, [one.values[method] for one in outcomes])
                for method in outcomes[0].values
            },
        }
        if cell.name not in GIVEN:
            row |= coverage(true, outcomes)
            row["seconds"] = float(np.median([one.seconds for one in outcomes]))
        rows.append(row)
    return rows


def errors(values: Sequence[str], true: Array, found: Sequence[list[float] | None]) -> Row | None:
    """Return bias and root mean square error of one method; None if it is not always possible."""
    if any(one is None for one in found):
        return None
    deviations = np.array(found, dtype=float) - true
    rmse = np.sqrt((deviations**2).mean(axis=0))
    return {"bias": rounded(values, deviations.mean(axis=0)), "rmse": rounded(values, rmse)}


def coverage(true: Array, outcomes: Sequence[Outcome]) -> Row:
    """Return how often intervals have the true value, and lower bounds are right, in percent."""
    ends = np.array([one.intervals for one in outcomes])  # (runs, values, 2)
    lower, upper = ends[..., 0] - ROUNDING, ends[..., 1] + ROUNDING
    is_above = true > upper  # the interval lies below the true value
    place = VALUES.index("added")
    flagged = np.array([one.is_lower_bound for one in outcomes])
    return {
        "covered": rounded(VALUES, 100.0 * ((lower <= true) & ~is_above).mean(axis=0)),
        "too_low": rounded(VALUES, 100.0 * is_above.mean(axis=0)),
        "width": rounded(VALUES, np.diff(ends, axis=2).mean(axis=(0, 2))),
        "flagged": int(flagged.sum()),
        "flagged_too_low": int((flagged & is_above[:, place]).sum()),
        "unique_above_0": int((ends[:, VALUES.index("unique"), 0] > 0).sum()),
    }


def rounded(values: Sequence[str], numbers: Array) -> dict[str, float]:
    """Return numbers by their names, without -0."""
    return dict(zip(values, (np.round(numbers, 5) + 0.0).tolist(), strict=True))


def show_rows(cell: Cell, rows: Sequence[Row]) -> None:
    """Print truth, errors and coverage of every feature."""
    table = []
    for row in rows:
        for value, true in row["true"].items():
            found = [row.get(method) for method in METHODS]
            cells = [one and one[kind][value] for one in found for kind in ("bias", "rmse")]
            covered = [row[kind][value] if kind in row else None for kind in ("covered", "width")]
            table.append([f"{row['feature']} {value}", true, *cells, *covered])
    about = f"{cell.name}, N={cell.n_samples:,}, {rows[0]['runs']} data sets"
    if "seconds" in rows[0]:
        flagged = "/".join(str(row["flagged"]) for row in rows)
        about += f", {rows[0]['seconds']:.2f} s per feature, lower bounds: {flagged}"
    header = [f"{method} {kind}" for method in METHODS for kind in ("bias", "rmse")]
    show(about, ["value", "true", *header, "covered", "width"], table)


def measure_all(asked: Sequence[Cell], options: Namespace) -> None:
    """Measure in processes, and write whenever a cell is complete."""
    rows: list[Row] = []
    if options.update and options.out.exists():
        rows = json.loads(options.out.read_text())["results"]["rows"]
    order = {cell: place for place, cell in enumerate(cells())}
    run = Parallel(n_jobs=options.jobs)
    known = list(dict.fromkeys((cell.name, place) for cell in asked for place in cell.features))
    system = {cell.name: cell.system for cell in asked}
    found = run(delayed(system[name].truth)(place) for name, place in known)
    truths = dict(zip(known, found, strict=True))
    runs = {cell: min(cell.runs, options.runs) for cell in asked}
    tasks = [
        delayed(measure)(cell, options.seed + seed)
        for cell in sorted(asked, key=lambda cell: -cell.cost)
        for seed in range(runs[cell])
    ]
    run = Parallel(n_jobs=options.jobs, return_as="generator_unordered", batch_size=1)
    done: dict[Cell, dict[int, list[Outcome]]] = {cell: {} for cell in asked}
    for cell, seed, outcomes in run(tasks):
        done[cell][seed] = outcomes
        if len(done[cell]) == runs[cell]:
            by_seed = [done[cell][seed] for seed in sorted(done[cell])]
            new = summarise(cell, [truths[cell.name, place] for place in cell.features], by_seed)
            show_rows(cell, new)
            rows = [row for row in rows if Cell(row["system"], row["samples"]) != cell] + new
            rows.sort(key=lambda row: order[Cell(row["system"], row["samples"])])
            write("explanations", options, {"rows": rows})


def main(arguments: Sequence[str] | None = None) -> None:
    """Explain, compare, print and write."""
    description = (__doc__ or "").partition("\n")[0]
    most = max(RUNS.values())
    command = parser(description, runs=most, help_runs="most data sets of a system and size")
    command.add_argument("--jobs", type=int, default=1, help="processes, a data set each (1)")
    command.add_argument("--only", dest="systems", nargs="+", default=["*"], help="with * and ?")
    command.add_argument(
        "--sizes", nargs="+", type=positive, choices=RUNS, default=list(RUNS), help="samples (all)"
    )
    command.add_argument("--update", action="store_true", help="keep the other stored numbers")
    options = command.parse_args(arguments)
    asked = [
        cell
        for cell in cells()
        if cell.n_samples in options.sizes
        and any(fnmatch(cell.name, pattern) for pattern in options.systems)
    ]
    if not asked:
        raise SystemExit(f"No such systems. There are: {', '.join([*SYSTEMS, *GIVEN])}.")
    if len(asked) < len(list(cells())) and not (options.update or options.out):
        command.error("a part needs --update, or --out: the other stored numbers would be lost")
    options.out = options.out or RESULTS / "explanations.json"
    measure_all(asked, options)


if __name__ == "__main__":
    main()
