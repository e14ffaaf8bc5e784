"""The methods that the paper compares with: regressions and nearest-neighbour prediction.

All are scikit-learn's. The paper names no settings; the constants below give those chosen here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Lars, LassoCV
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVR

from pidselect.datasets import SyntheticDataset

#: Share of test samples, as the paper has it for its nearest neighbours.
TEST_SHARE = 0.3

#: scikit-learn's defaults: trees of a forest, permutations of a column, folds.
N_TREES, N_REPEATS, N_FOLDS = 100, 5, 5

#: Trees in forward selection, which fits hundreds of forests. Of 5, 10, 20 and 50, this number
#: comes nearest to the paper's counts on Runge's model: these are no independent test of it.
N_TREES_IN_SEARCH = 10

#: Regularisation of support vector regression; with larger values on standardised columns its
#: coefficients hardly change, but the solver takes much longer.
SVR_C = 0.1


def _split(data: SyntheticDataset, seed: int) -> list[NDArray[Any]]:
    return list(train_test_split(*data.Xy, test_size=TEST_SHARE, random_state=seed))


def _relative(data: SyntheticDataset, values: NDArray[np.float64]) -> dict[str, float]:
    """Return importances by name, the largest being 1 unless none is positive."""
    largest = values.max()
    relative = values / largest if largest > 0 else values
    return {name: float(value) for name, value in zip(data.names, relative, strict=True)}


def linear_importances(data: SyntheticDataset, seed: int) -> dict[str, dict[str, float]]:
    """Return the absolute coefficients of LARS, Lasso and linear support vector regression.

    The regressions are fitted to standardised columns. Coefficients are for one unit of a column,
    which is what fits the paper's description.
    """
    scaler = StandardScaler().fit(data.X)
    X = scaler.transform(data.X)
    y = (data.y - np.mean(data.y)) / np.std(data.y)
    models = {
        "lars": Lars(),
        "lasso": LassoCV(cv=N_FOLDS),
        "svr": LinearSVR(C=SVR_C, max_iter=10_000, random_state=seed),
    }
    return {
        name: _relative(data, np.abs(model.fit(X, y).coef_) / scaler.scale_)
        for name, model in models.items()
    }


def forest_importances(data: SyntheticDataset, seed: int) -> dict[str, dict[str, float]]:
    """Return the permutation importances of a random forest on test and on training samples.

    On training samples irrelevant columns have positive importances, since trees fit the noise.
    Only this fits the paper's description of Friedman's model III.
    """
    X, X_test, y, y_test = _split(data, seed)
    forest = RandomForestRegressor(N_TREES, random_state=seed).fit(X, y)
    samples = {"forest": (X_test, y_test), "forest-training": (X, y)}
    options = {"n_repeats": N_REPEATS, "random_state": seed}
    return {
        name: _relative(data, permutation_importance(forest, *pair, **options).importances_mean)
        for name, pair in samples.items()
    }


def importances(data: SyntheticDataset, seed: int) -> dict[str, dict[str, float]]:
    """Return the importances of all methods."""
    return {**linear_importances(data, seed), **forest_importances(data, seed)}


def forward_selection(
    data: SyntheticDataset, n_select: int, seed: int, method: str = "lars"
) -> list[str]:
    """Select columns by the cross-validated R² of LARS or of a forest, one after the other.

    Examples
    --------
    >>> from pidselect.datasets import friedman
    >>> forward_selection(friedman(500, model=1, random_state=0), 3, seed=0)
    ['X4', 'X1', 'X2']
    """
    forest = RandomForestRegressor(N_TREES_IN_SEARCH, random_state=seed)
    model = Lars() if method == "lars" else forest
    selected: list[int] = []
    remaining = list(range(data.X.shape[1]))
    for _ in range(n_select):
        scores = [
            cross_val_score(model, data.X[:, [*selected, column]], data.y, cv=N_FOLDS).mean()
            for column in remaining
        ]
        selected.append(remaining.pop(int(np.argmax(scores))))
    return [data.names[column] for column in selected]


def subset_errors(data: SyntheticDataset, seed: int, k: int = 5) -> list[float]:
    """Return the mean absolute error of nearest-neighbour prediction from each set of columns.

    Columns are standardised, distances Euclidean. Sets are numbered 1, 2, ...: column i belongs to
    a set if bit i of its number is 1. The error of set s is at position s - 1.
    """
    X, X_test, y, y_test = _split(data, seed)
    scaler = StandardScaler().fit(X)
    columns = zip(scaler.transform(X).T, scaler.transform(X_test).T, strict=True)
    squared = [(test[:, np.newaxis] - train) ** 2 for train, test in columns]
    errors = []
    # sums[i] is over the columns i, i + 1, ... of the present set: the next set differs from one
    # of these by its first column alone.
    sums = [np.zeros((len(X_test), len(X)))] * (len(squared) + 1)
    for number in range(1, 2 ** len(squared)):
        first = (number & -number).bit_length() - 1
        distances = sums[first + 1] + squared[first]
        sums[: first + 1] = [distances] * (first + 1)
        nearest = np.argpartition(distances, k - 1, axis=1)[:, :k]
        errors.append(float(np.abs(y[nearest].mean(axis=1) - y_test).mean()))
    return errors
