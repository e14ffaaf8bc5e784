"""Selectors of the comparison on one table after the other, as lines of JSON.

Run by compare.py with the Python of an environment that has the method: the other selectors in one
of their own, which needs nothing of this package. A line on standard input names a method, a .npz
file and a seed; the answer is a line on standard output.

The file has X (labels as codes), y (integers are classes), `nominal` (which columns are labels),
`n_features` (told to methods that only rank; 0 if not known), `probes` and, for predictors, X_test,
y_test and, if not those of the comparison, their names. A request as an argument is the only one.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import textbook
from memory import peak_mb, reset_peak
from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import (
    RFECV,
    SequentialFeatureSelector,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.linear_model import LassoCV, LogisticRegression, LogisticRegressionCV, RidgeCV
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

#: Sizes from which methods that only rank choose by cross-validation, and its folds and trees.
SIZES, N_INNER, N_TREES = (1, 2, 3, 5, 8, 13, 21, 34, 55), 3, 100
#: Least gain of the score by another column in a sequential selection, and its folds.
TOLERANCE, N_SEQUENTIAL = 0.005, 5
#: False discovery rate of dCRT, and bins of continuous columns for HITON-MB.
DISCOVERIES, N_BINS = 0.1, 3
N_PREDICTOR_TREES = 300

PACKAGES = (
    *("pidselect", "scikit-learn", "boruta", "skrebate", "mrmr_selection", "hidimstat"),
    *("numpy", "scipy", "numba", "pandas"),
)


class NotApplicableError(Exception):
    """The method is not for such a table."""


# ---------------------------------------------------------------------------- ours


def select_ours(select):
    """Return a method of ours: default settings, one thread."""

    def method(X, y, nominal, seed, n_features):
        from pidselect import PIDSelector

        types = {f"x{place}": "nominal" for place in np.flatnonzero(nominal)}
        selector = PIDSelector(select=select, feature_types=types, n_jobs=1, random_state=seed)
        target = y if is_numeric(y) else np.array([f"class {value}" for value in y], dtype=object)
        return selector.fit(X, target).selected_

    return method


# ---------------------------------------------------------------------------- rankings


def rank_by_information(X, y, nominal, seed):
    """Order columns by mutual information with the target, as SelectKBest does."""
    score = mutual_info_regression if is_numeric(y) else mutual_info_classif
    values = score(X, y, discrete_features=nominal, random_state=seed)
    return np.argsort(-values, kind="stable")


def rank_by_mrmr(X, y, nominal, seed):
    """Order columns by relevance (F statistic) over mean redundancy (correlation)."""
    import mrmr
    import pandas

    rank = mrmr.mrmr_regression if is_numeric(y) else mrmr.mrmr_classif
    frame, target = pandas.DataFrame(X.astype(float)), pandas.Series(y)
    return np.array(rank(frame, target, K=X.shape[1], n_jobs=1, show_progress=False), dtype=int)


def rank_by_multisurf(X, y, nominal, seed):
    """Order columns by their weights."""
    from skrebate import MultiSURF

    return np.argsort(-MultiSURF().fit(X.astype(float), y).feature_importances_, kind="stable")


def first_of(rank):
    """Return a method: the first columns, as many as are told or as predict best."""

    def method(X, y, nominal, seed, n_features):
        k = n_features or best_size(rank, X, y, nominal, seed)
        return rank(X, y, nominal, seed)[:k]

    return method


def best_size(rank, X, y, nominal, seed):
    """Return the number of first columns with which a forest predicts best in inner folds."""
    n_columns = X.shape[1]
    sizes = [*(size for size in SIZES if size < n_columns), n_columns]
    splitter = KFold if is_numeric(y) else StratifiedKFold
    totals = np.zeros(len(sizes))
    for train, test in splitter(N_INNER, shuffle=True, random_state=seed).split(X, y):
        order = rank(X[train], y[train], nominal, seed)
        for place, size in enumerate(sizes):
            forest = make_forest(y, N_TREES, seed)
            forest.fit(X[train][:, order[:size]], y[train])
            totals[place] += forest.score(X[test][:, order[:size]], y[test])
    return sizes[int(totals.argmax())]


# ---------------------------------------------------------------------------- the others


def boruta(X, y, nominal, seed, n_features):
    """Select as the documentation of boruta does: 100 iterations, balanced trees of depth 5."""
    from boruta import BorutaPy

    balanced = {} if is_numeric(y) else {"class_weight": "balanced"}
    forest = make_forest(y, seed=seed, **balanced, max_depth=5)
    return np.flatnonzero(BorutaPy(forest, "auto", random_state=seed).fit(X, y).support_)


def rfecv(X, y, nominal, seed, n_features):
    """Remove a fifth of the columns at a time, by a forest in three folds."""
    return np.flatnonzero(RFECV(make_forest(y, seed=seed), step=0.2, cv=3).fit(X, y).support_)


def sequential(X, y, nominal, seed, n_features):
    """Add the column that improves nearest neighbours most, while that is enough."""
    neighbours = KNeighborsRegressor if is_numeric(y) else KNeighborsClassifier
    selector = SequentialFeatureSelector(
        make_pipeline(StandardScaler(), neighbours()),
        n_features_to_select="auto",
        tol=TOLERANCE,
        cv=N_SEQUENTIAL,
        n_jobs=1,
    )
    return np.flatnonzero(selector.fit(X, y).get_support())


def dcrt(X, y, nominal, seed, n_features):
    """Test the residuals of every column and of the target given the others, by linear models."""
    from hidimstat import D0CRT

    if not is_numeric(y) and len(np.unique(y)) > 2:
        raise NotApplicableError("numeric targets and two classes only")
    if np.any([len(np.unique(column)) > 2 for column in X[:, nominal].T]):
        raise NotApplicableError("numeric columns only")
    model = LassoCV(random_state=seed) if is_numeric(y) else LogisticRegressionCV(**LOGISTIC)
    varies = np.flatnonzero(np.ptp(X, axis=0) > 0)
    test = D0CRT(model, lasso_screening=clone(model), screening_threshold=100, random_state=seed)
    test.fit_importance(X[:, varies].astype(float), y)
    return varies[test.fdr_selection(fdr=DISCOVERIES) != 0]


LOGISTIC = {"l1_ratios": (1,), "solver": "liblinear"}


def hiton(X, y, nominal, seed, n_features):
    """Find the Markov blanket by G2 tests; continuous columns are cut into bins."""
    from blanket_peers import IndependenceTests, hiton_mb

    columns = [*(states(x, label) for x, label in zip(X.T, nominal, strict=True))]
    tests = IndependenceTests(np.column_stack([*columns, states(y, not is_numeric(y))]))
    return np.array(sorted(hiton_mb(tests, X.shape[1])), dtype=int)


def states(values, is_nominal):
    """Return bins of about equal counts; labels and few levels stay."""
    levels, codes = np.unique(values, return_inverse=True)
    if is_nominal or len(levels) <= 10:
        return codes
    return np.searchsorted(np.quantile(values, np.arange(1, N_BINS) / N_BINS), values)


def by_tests(forward):
    """Return forward selection by textbook tests."""

    def method(X, y, nominal, seed, n_features):
        return np.array(forward(list(X.T), y, nominal=nominal), dtype=int)

    return method


METHODS = {
    **{name: by_tests(forward) for name, forward in textbook.METHODS.items()},
    "minimal": select_ours("minimal"),
    "relevant": select_ours("relevant"),
    "kbest": first_of(rank_by_information),
    "mrmr": first_of(rank_by_mrmr),
    "multisurf": first_of(rank_by_multisurf),
    "rfecv": rfecv,
    "sfs": sequential,
    "boruta": boruta,
    "dcrt": dcrt,
    "hiton": hiton,
}


# ---------------------------------------------------------------------------- answers


def is_numeric(y):
    """Return whether the target is of numbers, else of classes."""
    return y.dtype.kind == "f"


def make_forest(y, n_trees=100, seed=0, **settings):
    """Return a forest of the usual settings, unless there are others."""
    forest = RandomForestRegressor if is_numeric(y) else RandomForestClassifier
    return forest(n_trees, random_state=seed, n_jobs=1, **settings)


def predict(table, columns, seed):
    """Return scores of predictors, fitted to these columns, on the test rows.

    Without columns, those of the most frequent class or of the mean.
    """
    y, y_test, wanted = table["y"], table["y_test"], table.get("predictors", ("forest", "linear"))
    linear, boosting, neighbours = (
        (RidgeCV(np.logspace(-3, 3, 13)), HistGradientBoostingRegressor, KNeighborsRegressor)
        if is_numeric(y)
        else (
            LogisticRegression(max_iter=2000),
            HistGradientBoostingClassifier,
            KNeighborsClassifier,
        )
    )
    models = {
        "forest": make_forest(y, N_PREDICTOR_TREES, seed),
        "linear": make_pipeline(StandardScaler(), linear),
        "boosting": boosting(random_state=seed),
        "kNN": make_pipeline(StandardScaler(), neighbours()),
    }
    models = {name: model for name, model in models.items() if name in wanted}
    if not len(columns):
        trivial = 0.0 if is_numeric(y) else float(np.mean(y_test == np.bincount(y).argmax()))
        return dict.fromkeys(models, trivial)
    X, X_test = table["X"][:, columns], table["X_test"][:, columns]
    return {
        name: float(clone(model).fit(X, y).score(X_test, y_test)) for name, model in models.items()
    }


def reply(request):
    """Return the selected columns with the seconds, or why there are none."""
    if request["method"] == "versions":
        return versions()
    with np.load(request["file"]) as file:
        table = dict(file)
    settings = table["nominal"], request["seed"], int(table["n_features"])
    if request["method"] in ("minimal", "relevant"):
        from pidselect import PIDSelector  # noqa: F401 (imports are not timed)
    held, start, used = reset_peak(), time.perf_counter(), time.process_time()
    try:
        columns = select(request["method"], table, settings)
    except NotApplicableError as reason:
        return {"note": f"not applicable: {reason}"}
    except Exception as error:
        return {"note": f"failed: {type(error).__name__}: {error}"}
    times = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - used}
    times["peak_mb"] = max(0.0, peak_mb() - held)
    scores = predict(table, columns, request["seed"]) if "y_test" in table else {}
    return {"selected": [int(column) for column in columns], **times, "scores": scores}


def select(method, table, settings):
    """Return the columns that a method selects; "all" are those of the table, without probes."""
    if method == "all":
        return np.flatnonzero(~table["probes"])
    return METHODS[method](table["X"], table["y"], *settings)


def versions():
    """Return the versions of what is installed."""
    found = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def main():
    """Answer line by line; what packages print goes to standard error."""
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    once = [argument for argument in sys.argv[1:] if argument.startswith("{")]
    for line in once or sys.stdin:
        print(json.dumps(reply(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
