"""Other selectors on one table, as JSON: the seconds and the selected columns.

Run in an environment that has them, which this package needs for nothing else: the script imports
nothing of it. Arguments: the method, a .npz file, and the seed. The file has X, y and, for methods
that only rank, n_features.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import RFECV

N_JOBS = 2


def is_numeric(y):
    """Return whether the target is of numbers, else of classes."""
    return y.dtype.kind == "f"


def make_forest(y, **settings):
    """Return a forest for the target."""
    forest = RandomForestRegressor if is_numeric(y) else RandomForestClassifier
    return forest(n_jobs=N_JOBS, **settings)


def boruta(X, y, seed):
    """Select as the documentation of boruta does: 100 iterations, balanced trees of depth 5."""
    from boruta import BorutaPy

    balanced = {} if is_numeric(y) else {"class_weight": "balanced"}
    forest = make_forest(y, **balanced, max_depth=5, random_state=seed)
    return BorutaPy(forest, n_estimators="auto", random_state=seed).fit(X, y).support_


def rfecv(X, y, seed, step=0.1, cv=5):
    """Remove a share of the columns at a time, by a forest in some folds."""
    forest = make_forest(y, random_state=seed)
    return RFECV(forest, step=step, cv=cv).fit(X, y).support_


def rank_by_forest(X, y, seed, n_features):
    """Take the columns of largest importance in a forest of 500 trees."""
    fitted = make_forest(y, n_estimators=500, random_state=seed).fit(X, y)
    return is_largest(fitted.feature_importances_, n_features)


def rank_by_multisurf(X, y, _, n_features):
    """Take the columns of largest weight, on one thread; nothing is random."""
    from skrebate import MultiSURF

    weights = MultiSURF().fit(X.astype(float), y).feature_importances_
    return is_largest(weights, n_features)


def is_largest(values, n_features):
    """Return whether each value is among the n largest."""
    return np.argsort(np.argsort(-values, kind="stable")) < n_features


def versions():
    """Return the versions of what is installed."""
    found = {}
    for name in ("boruta", "skrebate", "scikit-learn", "numpy"):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


SELECTING = {"boruta": boruta, "rfecv": rfecv}
RANKING = {"forest": rank_by_forest, "multisurf": rank_by_multisurf}

if __name__ == "__main__":
    method, path, seed = sys.argv[1:]
    data = np.load(path)
    X, y = data["X"], data["y"]
    start, used = time.perf_counter(), sum(os.times()[:4])
    if method in RANKING:
        support = RANKING[method](X, y, int(seed), int(data["n_features"]))
    else:
        support = SELECTING[method](X, y, int(seed))
    seconds, cpu_seconds = time.perf_counter() - start, sum(os.times()[:4]) - used
    found = {"seconds": seconds, "cpu_seconds": cpu_seconds}
    found |= {"selected": np.flatnonzero(support).tolist(), "versions": versions()}
    print(json.dumps(found))
