"""Tests of the comparison methods against scikit-learn's own and against plain least squares."""

from __future__ import annotations

import json

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
from reproduction.data import noise_model
from reproduction.regression import (
    forest_importances,
    forward_selection,
    importances,
    linear_importances,
    subset_errors,
)

METHODS = ["lars", "lasso", "svr", "forest", "forest-training"]


@pytest.fixture(scope="module")
def problem() -> SyntheticDataset:
    return friedman(200, model=2, random_state=0)


# ------------------------------------------------------------------------------------ importances


def test_importances_are_plain_and_the_same_twice() -> None:
    small = noise_model(100, kind="mackay", a=1.0, random_state=0)
    found = importances(small, seed=3)
    assert list(found) == METHODS
    assert all(list(values) == ["X1", "X2"] for values in found.values())
    assert json.loads(json.dumps(found)) == found
    assert importances(small, seed=3) == found


def test_the_largest_importance_is_one(problem: SyntheticDataset) -> None:
    for standardise in (False, True):
        for values in linear_importances(problem, 0, standardise=standardise).values():
            assert max(values.values()) == pytest.approx(1.0)


def test_lars_goes_to_the_end_of_its_path_which_is_least_squares(problem: SyntheticDataset) -> None:
    X, y = problem.Xy
    table = np.column_stack([X, np.ones(len(y))])
    coefficients = np.abs(np.linalg.lstsq(table, y)[0][:-1])
    found = list(linear_importances(problem, 0)["lars"].values())
    assert found == pytest.approx(coefficients / coefficients.max(), abs=1e-9)


def test_units_hide_columns_with_wide_ranges(problem: SyntheticDataset) -> None:
    in_units = linear_importances(problem, 0)["lars"]
    in_spreads = linear_importances(problem, 0, standardise=True)["lars"]
    assert in_units["X2"] < 0.01 < 0.5 < in_spreads["X2"]  # X2 goes up to 1760
    spread = problem.X.std(axis=0)
    scaled = np.array(list(in_units.values())) * spread
    assert list(in_spreads.values()) == pytest.approx(scaled / scaled.max())


def test_the_linear_methods_agree_on_what_matters(problem: SyntheticDataset) -> None:
    for values in linear_importances(problem, 0, standardise=True).values():
        assert set(sorted(values, key=lambda name: values[name])[-2:]) == {"X2", "X3"}


def test_a_forest_finds_noise_important_only_where_it_has_learned_it() -> None:
    found = forest_importances(friedman(200, model=3, random_state=0), 0)
    learned = [found["forest-training"][f"Z{i}"] for i in range(1, 7)]
    unseen = [found["forest"][f"Z{i}"] for i in range(1, 7)]
    assert min(learned) > 0.1
    assert abs(np.mean(unseen)) < np.mean(learned) / 2


def test_where_nothing_is_important_values_stay_as_they_are() -> None:
    small = noise_model(10, kind="mackay", a=1.0, random_state=0)
    below = np.array([-0.5, -0.25])
    assert regression._relative(small, below) == {"X1": -0.5, "X2": -0.25}
    mixed = np.array([2.0, -1.0])
    assert regression._relative(small, mixed) == {"X1": 1.0, "X2": -0.5}


# ------------------------------------------------------------------------------ forward selection


@pytest.mark.parametrize(("method", "n_columns"), [("lars", 10), ("forest", 4)])
def test_forward_selection_takes_the_set_that_scikit_learn_takes(
    problem: SyntheticDataset, method: str, n_columns: int
) -> None:
    few = SyntheticDataset(
        problem.X[:, :n_columns], problem.y, problem.names[:n_columns], (0, 1, 2, 3), ""
    )
    forest = RandomForestRegressor(regression.N_TREES_IN_SEARCH, random_state=5)
    model = Lars() if method == "lars" else forest
    selector = SequentialFeatureSelector(model, n_features_to_select=2, cv=regression.N_FOLDS).fit(
        *few.Xy
    )
    taken = {name for name, chosen in zip(few.names, selector.support_, strict=True) if chosen}
    assert set(forward_selection(few, 2, 5, method)) == taken


def test_fewer_features_are_the_first_of_more(problem: SyntheticDataset) -> None:
    order = forward_selection(problem, 4, 0)
    assert order[:2] == forward_selection(problem, 2, 0) == ["X3", "X2"]
    assert len(set(order)) == 4


def test_forward_selection_can_take_all_columns() -> None:
    assert sorted(
        forward_selection(noise_model(60, kind="mackay", a=1.0, random_state=0), 2, 0)
    ) == ["X1", "X2"]


# ------------------------------------------------------------------------------ nearest neighbours


@pytest.mark.parametrize("k", [1, 5])
def test_errors_are_those_of_scikit_learns_neighbours(problem: SyntheticDataset, k: int) -> None:
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


def test_errors_are_plain_and_least_for_what_makes_the_target(problem: SyntheticDataset) -> None:
    errors = subset_errors(problem, 0)
    assert json.loads(json.dumps(errors)) == errors == subset_errors(problem, 0)
    assert int(np.argmin(errors)) + 1 == 0b110  # X2 and X3
