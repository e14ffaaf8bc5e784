"""The comparison methods against scikit-learn's own and against plain least squares."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import Lars
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

from pidselect.datasets import SyntheticDataset, friedman
from reproduction import regression
from reproduction.regression import (
    forward_selection,
    linear_importances,
    subset_errors,
)


@pytest.fixture(scope="module")
def problem() -> SyntheticDataset:
    return friedman(200, model=2, random_state=0)


def test_lars_goes_to_the_end_of_its_path_which_is_least_squares(problem):
    """Coefficients are for one unit: those of columns with wide ranges are small."""
    X, y = problem.Xy
    table = np.column_stack([X, np.ones(len(y))])
    coefficients = np.abs(np.linalg.lstsq(table, y)[0][:-1])
    found = linear_importances(problem, 0)
    expected = coefficients / coefficients.max()
    assert list(found["lars"].values()) == pytest.approx(expected, abs=1e-9)
    assert found["lars"]["X2"] < 0.01  # X2 goes up to 1760
    assert {max(values.values()) for values in found.values()} == {1.0}


@pytest.mark.parametrize(("method", "n_columns"), [("lars", 10), ("forest", 4)])
def test_forward_selection_takes_the_set_that_scikit_learn_takes(problem, method, n_columns):
    few = SyntheticDataset(
        problem.X[:, :n_columns], problem.y, problem.names[:n_columns], (0, 1, 2, 3), ""
    )
    forest = RandomForestRegressor(regression.N_TREES_IN_SEARCH, random_state=5)
    model = Lars() if method == "lars" else forest
    selector = SequentialFeatureSelector(model, n_features_to_select=2, cv=regression.N_FOLDS)
    selector.fit(*few.Xy)
    taken = {name for name, chosen in zip(few.names, selector.support_, strict=True) if chosen}
    assert set(forward_selection(few, 2, 5, method)) == taken


@pytest.mark.parametrize("k", [1, 5])
def test_errors_are_those_of_scikit_learns_neighbours(problem, k):
    errors = subset_errors(problem, 7, k)
    assert len(errors) == 2**10 - 1
    X, X_test, y, y_test = train_test_split(*problem.Xy, test_size=0.3, random_state=7)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    for number in (1, 2, 0b110, 0b1000000001, 0b1010110101, 0b1111111111):
        columns = [column for column in range(10) if number >> column & 1]
        model = KNeighborsRegressor(k).fit(X[:, columns], y)
        expected = np.abs(model.predict(X_test[:, columns]) - y_test).mean()
        assert errors[number - 1] == pytest.approx(expected, abs=1e-10)
