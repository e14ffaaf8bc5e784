"""Boruta and RFECV on one table, as JSON: the seconds and the selected columns.

Run in an environment that has both, which this package needs for nothing else: the script imports
nothing of it. Arguments: the method, a .npz file with X and y, and the seed.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version

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


def rfecv(X, y, seed):
    """Remove a tenth of the columns at a time, by a forest in five folds."""
    forest = make_forest(y, random_state=seed)
    return RFECV(forest, step=0.1, cv=5).fit(X, y).support_


if __name__ == "__main__":
    method, path, seed = sys.argv[1:]
    data = np.load(path)
    start = time.perf_counter()
    support = {"boruta": boruta, "rfecv": rfecv}[method](data["X"], data["y"], int(seed))
    seconds = time.perf_counter() - start
    packages = {name: version(name) for name in ("boruta", "scikit-learn", "numpy")}
    found = {"seconds": seconds, "selected": np.flatnonzero(support).tolist()}
    print(json.dumps(found | {"versions": packages}))
