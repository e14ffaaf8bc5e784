"""The other methods that the paper compares with: regressions, and neighbours as a check.

They are scikit-learn's. The paper names no settings; the ones chosen here are constants below,
each with its reason.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Lars, LassoCV
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVR

from pidselect.datasets import SyntheticDataset
from pidselect.datasets.base import FloatArray

#: The methods in sequential forward selection.
Method = Literal["lars", "forest"]

#: Of the samples, as the paper says for its nearest neighbours; the forest leaves as many unseen.
TEST_SHARE = 0.3

#: scikit-learn's own number of trees. All its other settings are left as they are, too.
N_TREES = 100

#: How often a column is shuffled: scikit-learn's own number.
N_SHUFFLES = 5

#: In a forward selection, which grows hundreds of forests. Chosen after trying 5, 20 and 50 on
#: Runge's model, as its counts come nearest to the paper's: they are no independent test of it.
N_TREES_IN_SEARCH = 10

#: scikit-learn's own number of folds.
N_FOLDS = 5

#: Weight of the errors in support vector regression. With more, columns and target having spread 1,
#: its coefficients no longer change but its solver takes ever longer.
SVR_WEIGHT = 0.1


def importances(problem: SyntheticDataset, seed: int) -> dict[str, dict[str, float]]:
    """Return how important each column is to regressions on all columns.

    Parameters
    ----------
    problem : SyntheticDataset
    seed : int
        Of the forest, its samples and shuffles, and of a solver.

    Returns
    -------
    dict of method to dict of name to importance
        "lars", "lasso", "svr", "forest" and "forest-training": see `linear_importances` and
        `forest_importances`. Of each, the largest is 1, unless none is above 0.

    Examples
    --------
    >>> from pidselect.datasets import friedman
    >>> found = importances(friedman(200, model=1, random_state=0), seed=0)
    >>> {method: max(values, key=values.get) for method, values in found.items()}
    {'lars': 'X4', 'lasso': 'X4', 'svr': 'X4', 'forest': 'X4', 'forest-training': 'X4'}
    """
    return {**linear_importances(problem, seed), **forest_importances(problem, seed)}


def linear_importances(
    problem: SyntheticDataset, seed: int, *, standardise: bool = False
) -> dict[str, dict[str, float]]:
    """Return the absolute coefficients of three linear regressions.

    The paper describes columns with wide ranges as having coefficients close to zero, beside
    columns without any influence that have larger ones: it seems to take coefficients for one
    unit of each column, whatever its range. So they are here, unless `standardise` is set: then
    they are for one standard deviation of each column, which makes them comparable. Either way the
    regressions see standardised columns, so that their penalties treat all columns alike.

    Parameters
    ----------
    problem : SyntheticDataset
    seed : int
        Of a solver that visits samples in random order.
    standardise : bool
        Take coefficients for a standard deviation instead of a unit.

    Returns
    -------
    dict of method ("lars", "lasso", "svr") to dict of name to importance
    """
    scaler = StandardScaler().fit(problem.X)
    X = scaler.transform(problem.X)
    y = (problem.y - np.mean(problem.y)) / np.std(problem.y)
    models = {
        "lars": Lars(),
        "lasso": LassoCV(cv=N_FOLDS),
        "svr": LinearSVR(C=SVR_WEIGHT, max_iter=10_000, random_state=seed),
    }
    units = 1.0 if standardise else scaler.scale_
    return {
        name: _relative_to_largest(problem, np.abs(model.fit(X, y).coef_) / units)
        for name, model in models.items()
    }


def forest_importances(problem: SyntheticDataset, seed: int) -> dict[str, dict[str, float]]:
    """Return by how much a forest's R² falls when a column is shuffled.

    It is measured in samples that the forest has not seen ("forest"), where it may lie below 0,
    and in those that it has learned from ("forest-training"). In the latter, columns without
    influence have an importance, too, since trees have learned the noise. Only this fits the
    paper's description of Friedman's model III, where it is a third of the largest.

    Parameters
    ----------
    problem : SyntheticDataset
    seed : int
        Of the forest, of the samples it does not see, and of the shuffles.

    Returns
    -------
    dict of "forest" and "forest-training" to dict of name to importance
    """
    X, X_unseen, y, y_unseen = _split(problem, seed)
    forest = RandomForestRegressor(N_TREES, random_state=seed).fit(X, y)
    return {
        name: _relative_to_largest(
            problem,
            permutation_importance(
                forest, *samples, n_repeats=N_SHUFFLES, random_state=seed
            ).importances_mean,
        )
        for name, samples in {"forest": (X_unseen, y_unseen), "forest-training": (X, y)}.items()
    }


def _split(problem: SyntheticDataset, seed: int) -> tuple[NDArray[Any], ...]:
    """Return X and X_unseen, y and y_unseen."""
    return tuple(train_test_split(*problem.Xy, test_size=TEST_SHARE, random_state=seed))


def _relative_to_largest(problem: SyntheticDataset, values: FloatArray) -> dict[str, float]:
    largest = values.max()
    relative = values / largest if largest > 0 else values
    return {name: float(value) for name, value in zip(problem.names, relative, strict=True)}


def forward_selection(
    problem: SyntheticDataset, n_select: int, seed: int, method: Method = "lars"
) -> list[str]:
    """Include columns one by one, each time the one that lets a regression predict best.

    The regression is scored by R², the mean over folds of samples; R² of a set of columns is of
    the regression on this set alone. Of equally good columns the first is taken.

    Parameters
    ----------
    problem : SyntheticDataset
    n_select : int
        How many columns: the method itself has no end.
    seed : int
        Of the forest.
    method : {"lars", "forest"}

    Returns
    -------
    list of str
        Names in the order of inclusion.

    References
    ----------
    F. J. Ferri et al. (1994), "Comparative study of techniques for large-scale feature selection".

    Examples
    --------
    >>> from pidselect.datasets import friedman
    >>> forward_selection(friedman(500, model=1, random_state=0), 3, seed=0)
    ['X4', 'X1', 'X2']
    """
    model = searched_model(method, seed)
    selected: list[int] = []
    remaining = list(range(problem.X.shape[1]))
    for _ in range(n_select):
        scores = [
            cross_val_score(model, problem.X[:, [*selected, column]], problem.y, cv=N_FOLDS).mean()
            for column in remaining
        ]
        selected.append(remaining.pop(int(np.argmax(scores))))
    return [problem.names[column] for column in selected]


def searched_model(method: Method, seed: int) -> Any:
    """Return the regression that a forward selection scores columns by."""
    if method == "lars":
        return Lars()
    return RandomForestRegressor(N_TREES_IN_SEARCH, random_state=seed)


def subset_errors(problem: SyntheticDataset, seed: int, k: int = 5) -> list[float]:
    """Predict the target by nearest neighbours in every set of columns.

    Columns have spread 1 in the training samples; distances are Euclidean; the prediction is the
    mean of the k neighbours.

    Parameters
    ----------
    problem : SyntheticDataset
    seed : int
        Of the test samples, 30 % of all.
    k : int
        The number of neighbours.

    Returns
    -------
    list of float
        Mean absolute error of each non-empty set. Sets are numbered 1, 2, ...: column i belongs to
        a set if bit i of its number is 1, so the last one is the set of all.

    Examples
    --------
    >>> from reproduction.two_variable_models import noise_model
    >>> disturbed = noise_model(1000, kind="haufe", random_state=0)
    >>> [round(error, 1) for error in subset_errors(disturbed, seed=0)]   # X1, X2, both
    [0.4, 0.6, 0.1]
    """
    X, X_test, y, y_test = _split(problem, seed)
    scaler = StandardScaler().fit(X)
    columns, tests = scaler.transform(X).T, scaler.transform(X_test).T
    squared = [
        (test[:, np.newaxis] - train) ** 2 for train, test in zip(columns, tests, strict=True)
    ]
    errors = []
    # sums[i] has the columns i, i + 1, ... of the present set: counting up, a set differs from one
    # that was there before by its first column alone.
    sums = [np.zeros((len(X_test), len(X)))] * (len(squared) + 1)
    for number in range(1, 2 ** len(squared)):
        first = (number & -number).bit_length() - 1
        distances = sums[first + 1] + squared[first]
        sums[: first + 1] = [distances] * (first + 1)
        errors.append(_neighbour_error(distances, y, y_test, k))
    return errors


def _neighbour_error(distances: FloatArray, y: NDArray[Any], y_test: NDArray[Any], k: int) -> float:
    nearest = np.argpartition(distances, k - 1, axis=1)[:, :k]
    return float(np.abs(y[nearest].mean(axis=1) - y_test).mean())
