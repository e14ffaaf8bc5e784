"""Nested cross-validation: what predictors lose or gain by selected columns.

In every outer fold, features are selected from the training rows alone, predictors are fitted to
the selected columns of these rows, and scored on the rows left out (accuracy, or R2 of a numeric
target), minus the score with all columns. To every table probes are added, permuted columns that
are informative about nothing; "all columns" are those of the table, without probes. mRMR is told
the number of columns: as many as the minimal set has in the same fold. Boruta and RFECV need
`--peers`, which installs Boruta in an environment of its own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from common import RESULTS, fit, parser, positive, show, write
from joblib import Parallel, delayed
from numpy.typing import NDArray
from ordinary_tables import PEERS
from scipy.ndimage import gaussian_filter1d
from selectors_process import find_peers, select_with
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pidselect import PIDSelector

N_PROBES, N_FOLDS, N_TREES = 10, 5, 300

#: Seconds that Boruta or RFECV may take in a fold.
LIMIT = 300.0

#: Rows of the table of digits, which has 1,797.
N_DIGITS = 600

OURS = ("minimal", "relevant", "mrmr")
Array = NDArray[Any]


class Problem(NamedTuple):
    """A table and its target: classes, or numbers if `y` is of floats."""

    X: Array
    y: Array
    probes: tuple[int, ...] = ()  # columns of X

    @property
    def is_numeric(self) -> bool:
        """Whether predictors are regressions."""
        return self.y.dtype.kind == "f"


class Score(NamedTuple):
    """One method in one fold: scores by predictor, minus those with all columns."""

    method: str
    differences: dict[str, float]
    n_features: int
    n_probes: int
    seconds: float


def digits() -> Problem:
    """Return the first rows of scikit-learn's table of 8 x 8 images."""
    X, y = load_digits(return_X_y=True)
    return Problem(X[:N_DIGITS], y[:N_DIGITS])


def bands(seed: int = 0) -> Problem:
    """Return 208 spectra of 60 bands, like sonar echoes, whose peaks differ by class.

    Neighbouring bands are redundant, and the peaks differ in height from row to row.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 208)
    noise = gaussian_filter1d(rng.normal(size=(208, 60)), 2.0, axis=1)
    peaks = rng.choice(np.arange(4, 56, 4), 7, replace=False)
    shapes = np.exp(-0.5 * ((np.arange(60) - peaks[:, np.newaxis]) / 2.0) ** 2)
    heights = rng.gamma(2.0, 0.15, size=(208, 7)) * np.where(y, 1, -1)[:, np.newaxis]
    return Problem(noise / noise.std() + heights @ shapes, y)


def copies(seed: int = 0) -> Problem:
    """Return 300 rows of six relevant columns, a noisy copy of each, and exact copies of two."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(300, 6))
    y = x[:, 0] + x[:, 1] * x[:, 2] + np.sin(2 * x[:, 3]) + 0.7 * x[:, 4] ** 2 + 0.5 * x[:, 5]
    noisy = x + 0.3 * rng.normal(size=x.shape)
    return Problem(np.hstack([x, noisy, 2 * x[:, :2] + 1]), y + 0.3 * rng.normal(size=300))


TABLES: dict[str, Callable[[], Problem]] = {
    "breast_cancer": lambda: Problem(*load_breast_cancer(return_X_y=True)),
    "wine": lambda: Problem(*load_wine(return_X_y=True)),
    "diabetes": lambda: Problem(*load_diabetes(return_X_y=True)),
    "digits": digits,
    "bands": bands,
    "copies": copies,
}


def with_probes(problem: Problem, n_probes: int, seed: int) -> Problem:
    """Add permuted columns."""
    rng, (_, n_columns) = np.random.default_rng(seed), problem.X.shape
    chosen = rng.choice(n_columns, n_probes)
    probes = rng.permuted(problem.X[:, chosen], axis=0)
    places = tuple(range(n_columns, n_columns + n_probes))
    return Problem(np.hstack([problem.X, probes]), problem.y, places)


def predictors(is_numeric: bool, seed: int) -> dict[str, Any]:
    """Return a forest, boosting and nearest neighbours."""
    if is_numeric:
        return {
            "forest": RandomForestRegressor(N_TREES, random_state=seed),
            "boosting": HistGradientBoostingRegressor(random_state=seed),
            "kNN": make_pipeline(StandardScaler(), KNeighborsRegressor()),
        }
    return {
        "forest": RandomForestClassifier(N_TREES, random_state=seed),
        "boosting": HistGradientBoostingClassifier(random_state=seed),
        "kNN": make_pipeline(StandardScaler(), KNeighborsClassifier()),
    }


def folds(problem: Problem, options: Any) -> list[tuple[Array, Array]]:
    """Return training and test rows of all outer folds."""
    splitter = RepeatedKFold if problem.is_numeric else RepeatedStratifiedKFold
    split = splitter(n_splits=options.folds, n_repeats=options.runs, random_state=options.seed)
    return list(split.split(problem.X, problem.y))


def select(method: str, X: Array, y: Array, k: int, seed: int) -> list[int]:
    """Return the columns that one of our methods selects; k is told to mRMR."""
    settings: dict[str, Any] = {"select": method}
    if method == "mrmr":
        settings = {"criterion": "mrmr", "max_features": k, "n_permutations": 0}
    selector = PIDSelector(**settings, n_jobs=1, random_state=seed)
    fit(selector, X, y)
    return [int(column) for column in selector.selected_]


def examine(
    problem: Problem, train: Array, test: Array, methods: Sequence[str], python: str, seed: int
) -> list[Score]:
    """Select by every method in one outer fold, and predict."""
    X, y = problem.X, problem.y
    columns = [column for column in range(X.shape[1]) if column not in problem.probes]
    models = predictors(problem.is_numeric, seed)

    def score(model: Any, chosen: Sequence[int]) -> float:
        if not chosen:  # the most frequent class, or the mean
            if problem.is_numeric:
                return 0.0
            return float(np.mean(y[test] == np.bincount(y[train]).argmax()))
        fitted = clone(model).fit(X[train][:, chosen], y[train])
        return float(fitted.score(X[test][:, chosen], y[test]))

    with_all = {name: score(model, columns) for name, model in models.items()}
    found, k = [Score("all", with_all, len(columns), 0, 0.0)], 1
    for method in methods:
        start = time.perf_counter()
        if method in PEERS:
            told = select_with(Path(python), method, X[train], y[train], seed, LIMIT)
            if told is None:
                continue
            chosen, seconds = told["selected"], told["seconds"]
        else:
            chosen = select(method, X[train], y[train], k, seed)
            seconds = time.perf_counter() - start
        if method == "minimal":
            k = max(1, len(chosen))
        differences = {
            name: score(model, chosen) - with_all[name] for name, model in models.items()
        }
        n_probes = len(set(chosen) & set(problem.probes))
        found.append(Score(method, differences, len(chosen), n_probes, seconds))
    return found


def summarise(name: str, problem: Problem, scores: Sequence[Score]) -> list[dict[str, Any]]:
    """Return a row for each method: means over the folds, and standard errors of differences."""
    rows = []
    for method in dict.fromkeys(score.method for score in scores):
        own = [score for score in scores if score.method == method]
        row: dict[str, Any] = {"table": name, "method": method, "folds": len(own)}
        row |= {"n_samples": len(problem.y), "n_columns": problem.X.shape[1] - len(problem.probes)}
        for predictor in own[0].differences:
            values = [score.differences[predictor] for score in own]
            error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
            row[predictor] = {"mean": float(np.mean(values)), "standard_error": float(error)}
        for fact in ("n_features", "n_probes", "seconds"):
            row[fact] = float(np.mean([getattr(score, fact) for score in own]))
        rows.append(row)
    return rows


def cells(row: dict[str, Any]) -> tuple[Any, ...]:
    """Return a row as it is printed."""
    sign = "" if row["method"] == "all" else "+"
    scores = [
        f"{row[name]['mean']:{sign}.3f} ({row[name]['standard_error']:.3f})"
        for name in ("forest", "boosting", "kNN")
    ]
    return (row["method"], *scores, row["n_features"], row["n_probes"], row["seconds"])


def measure(name: str, methods: Sequence[str], python: str, options: Any) -> list[dict[str, Any]]:
    """Examine all folds of a table, and print the rows."""
    problem = with_probes(TABLES[name](), options.probes, options.seed)
    work = (
        delayed(examine)(problem, train, test, methods, python, options.seed + number)
        for number, (train, test) in enumerate(folds(problem, options))
    )
    scores = [score for found in Parallel(n_jobs=options.jobs)(work) for score in found]
    rows = summarise(name, problem, scores)
    what = "R2" if problem.is_numeric else "accuracy"
    show(
        f"{name}: {what} with all columns, then differences to it (standard errors)",
        ("method", "forest", "boosting", "kNN", "columns", "probes", "s"),
        [cells(row) for row in rows],
    )
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and write."""
    description = (__doc__ or "").partition("\n")[0]
    options = parser(description, runs=1, help_runs="repetitions of the outer folds")
    options.add_argument("--folds", type=positive, default=N_FOLDS, help=f"outer folds ({N_FOLDS})")
    options.add_argument("--jobs", type=int, default=1, help="processes (1)")
    options.add_argument("--only", choices=TABLES, help="one table")
    options.add_argument("--probes", type=positive, default=N_PROBES, help=f"({N_PROBES})")
    options.add_argument("--peers", action="store_true", help="Boruta and RFECV, too")
    options.add_argument("--update", action="store_true", help="keep the other stored tables")
    options = options.parse_args(arguments)
    methods: tuple[str, ...] = OURS
    python = ""
    if options.peers:
        found, trouble = find_peers()
        if trouble:
            raise SystemExit(trouble)
        methods, python = (*OURS, *PEERS), str(found)
    rows: list[dict[str, Any]] = []
    if options.update:
        options.out = options.out or RESULTS / "prediction.json"
        if options.out.exists():
            rows = json.loads(options.out.read_text())["results"]["rows"]
    PIDSelector(n_permutations=39).fit(*load_wine(return_X_y=True))  # loads or compiles kernels
    order = list(TABLES)
    for name in [options.only] if options.only else TABLES:
        rows = [row for row in rows if row["table"] != name]
        rows += measure(name, methods, python, options)
        rows.sort(key=lambda row: order.index(row["table"]))
        write("prediction", options, {"rows": rows})  # a run that is interrupted keeps its tables


if __name__ == "__main__":
    main()
