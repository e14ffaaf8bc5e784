"""Nested cross-validation: what predictors lose or gain by selected columns.

In every outer fold, features are selected from the training rows alone, predictors are fitted to
the selected columns of these rows, and scored on the rows left out (accuracy, or R2 of a numeric
target), minus the score with all columns. To every table probes are added, permuted columns that
are informative about nothing; "all" has the columns of the table, without probes. Methods and
folder are those of `real_tables.py`; SelectKBest chooses its number of columns by inner folds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import real_tables
from common import collect, mean_error, resumable, show, write
from fill_tables import FOLDER
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d
from selectors_process import ask_once
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.model_selection import KFold, StratifiedKFold

N_PROBES, N_FOLDS = 10, 5

#: Seconds that a method may take in a fold.
LIMIT = 600.0

#: Rows of the table of digits, which has 1,797.
N_DIGITS = 600

#: Tables of `real_tables.py` that are used, too; of more rows, so many at random.
REAL, N_REAL = ("penguins", "abalone"), 1000
PREDICTORS = ("forest", "boosting", "kNN")
BESIDE = "glm forward"  # differences to this method have a standard error of their own

Array = NDArray[Any]


class Problem(NamedTuple):
    """A table and its target: classes, or numbers if `y` is of floats."""

    X: Array
    y: Array
    probes: tuple[int, ...] = ()  # columns of X
    nominal: tuple[int, ...] = ()

    @property
    def is_numeric(self) -> bool:
        """Whether predictors are regressions."""
        return self.y.dtype.kind == "f"


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
    labels = [place for place, one in zip(places, chosen, strict=True) if one in problem.nominal]
    nominal = (*problem.nominal, *labels)
    return Problem(np.hstack([problem.X, probes]), problem.y, places, nominal)


def load(name: str, folder: Path) -> Problem:
    """Return one of the tables."""
    if name in TABLES:
        return TABLES[name]()
    table = real_tables.TABLES[name](folder)
    rows = np.random.default_rng(0).permutation(len(table.y))[:N_REAL]
    return Problem(table.X[rows], table.y[rows], nominal=table.nominal)


def split(problem: Problem, number: int) -> tuple[Array, Array]:
    """Return training and test rows of a fold; the next five are another round."""
    round_, fold = divmod(number, N_FOLDS)
    splitter = KFold if problem.is_numeric else StratifiedKFold
    folds = splitter(N_FOLDS, shuffle=True, random_state=round_).split(problem.X, problem.y)
    return list(folds)[fold]


def examine(name: str, method: str, number: int, folder: Path, python: str) -> dict[str, Any]:
    """Select by a method in one outer fold, and predict."""
    problem = with_probes(load(name, folder), N_PROBES, number // N_FOLDS)
    train, test = split(problem, number)
    places, (X, y) = np.arange(problem.X.shape[1]), (problem.X, problem.y)
    table = {
        **{"X": X[train], "y": y[train], "X_test": X[test], "y_test": y[test]},
        **{"nominal": np.isin(places, problem.nominal), "probes": np.isin(places, problem.probes)},
        **{"n_features": np.array(0), "predictors": np.array(PREDICTORS)},
    }
    told = ask_once(method, table, number, LIMIT, python if method == "boruta" else "")
    if "note" in told:
        return told
    selected = set(told.pop("selected"))
    n_probes = len(selected & set(problem.probes))
    return {**told.pop("scores"), **told, "n_features": len(selected), "n_probes": n_probes}


def summarise(name: str, found: dict[str, dict[int, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return a row for each method: means over the folds of differences to all columns."""
    rows = []
    for method, folds in found.items():
        done = {number: one for number, one in folds.items() if "note" not in one}
        row: dict[str, Any] = {"table": name, "method": method, "folds": len(done)}
        row["notes"] = sorted({one["note"][:80] for one in folds.values() if "note" in one})
        for predictor in PREDICTORS:
            own = {number: one[predictor] for number, one in done.items()}
            row[predictor] = difference(own, found["all"] if method != "all" else {}, predictor)
            if method != BESIDE:
                row[f"{predictor}, beside"] = difference(own, found[BESIDE], predictor)
        for fact in ("n_features", "n_probes", "seconds", "cpu_seconds", "peak_mb"):
            row[fact] = mean_error([one[fact] for one in done.values()])[0] if done else None
        rows.append(row)
    return rows


def difference(own: dict[int, float], others: dict[int, Any], predictor: str) -> dict[str, Any]:
    """Return mean and standard error of scores, minus those of another method in the same fold."""
    known = {number: one[predictor] for number, one in others.items() if "note" not in one}
    pairs = {number: known.get(number, 0.0) for number in own if number in known or not others}
    values = [own[number] - other for number, other in pairs.items()]
    mean, error = mean_error(values) if values else (None, None)
    return {"mean": mean, "standard_error": error}


def cell(score: dict[str, Any] | None, sign: str) -> str:
    """Return a score with its standard error in brackets."""
    if score is None or score["mean"] is None:
        return "-"
    error = score["standard_error"]
    return f"{score['mean']:{sign}.3f}" + ("" if error is None else f" ({error:.3f})")


def show_table(name: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print the rows of a table."""
    header = ("method", *PREDICTORS, f"forest - {BESIDE}", "columns", "probes", "CPU s", "notes")
    lines = []
    for row in rows:
        sign = "" if row["method"] == "all" else "+"
        scores = [cell(row[predictor], sign) for predictor in PREDICTORS]
        scores.append(cell(row.get("forest, beside"), "+"))
        facts = [row[fact] for fact in ("n_features", "n_probes", "cpu_seconds")]
        lines.append((row["method"], *scores, *facts, ", ".join(row["notes"])))
    show(
        f"{name}: scores with all columns, then differences to it (standard errors)", header, lines
    )


def main(arguments: Sequence[str] | None = None) -> None:
    description = (__doc__ or "").partition("\n")[0]
    command = resumable(description, runs=1, help_runs="rounds of five outer folds")
    command.add_argument("--peers", action="store_true", help="Boruta, too")
    command.add_argument("--data", type=Path, default=FOLDER, help="folder of tables")
    options = command.parse_args(arguments)
    methods, python = real_tables.methods_of(options.peers)
    there = [name for name in real_tables.available(options.data) if name in REAL]
    names = [name for name in (*TABLES, *there) if options.only in (None, name)]
    wanted = [
        (name, method, options.seed + number)
        for number in range(N_FOLDS * options.runs)
        for name in names
        for method in ("all", *methods)
    ]
    work = partial(examine, folder=options.data, python=python)
    found: dict[str, dict[str, dict[int, dict[str, Any]]]] = {}
    for one in collect("prediction", wanted, work, options):
        name, method, number = one["key"]
        found.setdefault(name, {}).setdefault(method, {})[number] = one
    rows: list[dict[str, Any]] = []
    for name in names:
        part = summarise(name, found[name])
        show_table(name, part)
        rows += part
    del options.data
    write("prediction", options, {"rows": rows})


if __name__ == "__main__":
    main()
