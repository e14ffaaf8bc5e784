"""Classes as the target: what is selected, how long it takes, and what a classifier loses by it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from common import parser, show, write
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pidselect import PIDSelector, datasets


class Data(NamedTuple):
    """A table with names, and its classes."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    names: tuple[str, ...]


LOADERS: dict[str, Callable[[], Any]] = {
    "iris": load_iris,
    "wine": load_wine,
    "breast_cancer": load_breast_cancer,
}
GENERATED = "generated"


def load(name: str, options: Any) -> Data:
    """Return one of scikit-learn's tables, or a large one whose relevant columns are X1 to X5."""
    if name in LOADERS:
        bunch = LOADERS[name]()
        return Data(bunch.data, bunch.target, tuple(map(str, bunch.feature_names)))
    problem = datasets.classes(
        options.samples, n_features=50, n_informative=5, n_classes=5, random_state=options.seed
    )
    return Data(problem.X, problem.y, problem.names)


def select(data: Data, selector: PIDSelector) -> dict[str, Any]:
    """Fit once, and note what was selected and what it took."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        selector.fit(data.X, data.y)
        took = time.perf_counter() - start
    return {
        "n_samples": len(data.y),
        "n_features": data.X.shape[1],
        "selected": [data.names[column] for column in selector.selected_],
        "steps": len(selector.selection_.steps),
        "seconds": took,
        "warnings": [str(warning.message) for warning in caught],
    }


def accuracy(data: Data, seed: int, *before: BaseEstimator) -> float:
    """Return the 5-fold accuracy of nearest neighbours; `before` sees the training part only."""
    classifier = make_pipeline(*before, StandardScaler(), KNeighborsClassifier())
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    return float(cross_val_score(classifier, data.X, data.y, cv=folds).mean())


def examine(name: str, options: Any) -> dict[str, Any]:
    """Select from one table, and for the small ones classify with and without selection."""
    data = load(name, options)
    selector = PIDSelector(n_jobs=options.jobs, random_state=options.seed)
    fits = [select(data, selector) for _ in range(options.runs)]
    row = {"table": name, **fits[0], "seconds": min(fit["seconds"] for fit in fits)}
    if name in LOADERS:
        row["accuracy_selected"] = accuracy(data, options.seed, selector)
        row["accuracy_all"] = accuracy(data, options.seed)
    return row


def main(arguments: Sequence[str] | None = None) -> None:
    """Select, classify, print and write."""
    tables = (*LOADERS, GENERATED)
    options = parser(__doc__, runs=1, help_runs="fits of each table, of which the fastest counts")
    options.add_argument("--jobs", type=int, default=1, help="threads of a fit (1)")
    options.add_argument("--only", choices=tables, help="one table")
    options.add_argument("--samples", type=int, default=10_000, help="of the generated one (10000)")
    options = options.parse_args(arguments)
    PIDSelector(n_permutations=20).fit(*load_iris(return_X_y=True))  # loads or compiles kernels
    rows = [examine(name, options) for name in tables if options.only in (None, name)]
    show(
        "Class targets, default settings; accuracy by nearest neighbours, selection in each fold",
        ("table", "samples", "features", "taken", "steps", "s", "warnings", "accuracy", "with all"),
        [
            (
                row["table"],
                row["n_samples"],
                row["n_features"],
                len(row["selected"]),
                row["steps"],
                row["seconds"],
                len(row["warnings"]),
                row.get("accuracy_selected"),
                row.get("accuracy_all"),
            )
            for row in rows
        ],
    )
    print()
    for row in rows:
        print(f"{row['table']}: {', '.join(row['selected'])}")
        for message in row["warnings"]:
            print(f"  warning: {message}")
    write("classification", options, {"tables": rows})


if __name__ == "__main__":
    main()
