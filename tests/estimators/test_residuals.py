"""Regressions on the conditioning set: leave-one-out residuals, their invariances, whole fits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from pidselect import PIDSelector
from pidselect.data import Block, Column
from pidselect.estimators import regression
from pidselect.estimators.regression import RecentRegressions, Regression, residuals

seeds = st.integers(0, 2**32 - 1)


def block(*columns, feature_type="continuous"):
    return Block(
        tuple(
            Column(f"s{j}", feature_type, np.asarray(values, dtype=float))
            for j, values in enumerate(columns)
        )
    )


def residual_of(given, values, feature_type="continuous", groups=None):
    column = Column("x", feature_type, np.asarray(values, dtype=float))
    return residuals(given, [column], groups)[0]


def naive_leave_one_out(features, values, penalty, groups):
    """Fit again without each sample in turn: ridge coefficients, and a free mean of each group."""
    n, m = features.shape
    indicators = (groups[:, np.newaxis] == np.unique(groups)).astype(float)
    design = np.column_stack([features, indicators])
    weights = np.diag(np.concatenate([n * penalty * np.ones(m), np.zeros(indicators.shape[1])]))
    left = np.empty(n)
    for i in range(n):
        others = np.arange(n) != i
        A, b = design[others], values[others]
        left[i] = values[i] - design[i] @ np.linalg.solve(A.T @ A + weights, A.T @ b)
    return left


@drawn(seeds, st.sampled_from([1, 3]))
@settings(max_examples=20)
def test_residuals_equal_those_of_fits_without_each_sample(seed, n_groups):
    rng = np.random.default_rng(seed)
    features, values = rng.normal(size=(40, 3)), rng.normal(size=(40, 1))
    groups = np.arange(40) % n_groups
    basis = regression._Basis(features, np.array([0.05]), False)
    ridge = regression.Ridge.of(basis, regression.GroupMeans(groups))
    found, _ = ridge.residuals(values, np.zeros((40, 1), dtype=bool))
    expected = naive_leave_one_out(features, values[:, 0], 0.05, groups)
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-9)


FUNCTIONS = {
    "a total": (3, lambda s: s.sum(axis=0)),
    "a square": (1, lambda s: s[0] ** 2),
    "a product": (2, lambda s: s[0] * s[1]),
    "a product of three": (3, lambda s: s[0] * s[1] * s[2]),
    "a sine": (1, lambda s: np.sin(3 * s[0])),
    "a sum of sines": (3, lambda s: np.sin(2 * s).sum(axis=0)),
    "a sine of a total": (3, lambda s: np.sin(1.5 * s.sum(axis=0))),
    "an exponential": (2, lambda s: np.exp(s.sum(axis=0) / 2)),
    "an absolute difference": (2, lambda s: np.abs(s[0] - s[1])),
    "a step": (1, lambda s: 2.0 * (s[0] > 0.3)),
    "steps of two columns": (2, lambda s: 2.0 * (s[0] > 0.3) + (s[1] > -0.2)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_residuals_are_the_noise(name):
    n_columns, function = FUNCTIONS[name]
    rng = np.random.default_rng(0)
    s, noise = rng.normal(size=(n_columns, 600)), rng.normal(size=600)
    found = residual_of(block(*s), function(s) + 0.2 * noise)
    # By ranks: next to a step, the side of a sample is unknown.
    assert spearmanr(found.column.values, noise).statistic > 0.93
    assert found.r_squared > 0.7


@pytest.mark.parametrize("name", ["a product of three", "a sine of a total"])
def test_much_noise_is_left_by_a_penalty_of_its_own(name):
    """A lighter one would fit the noise, a heavier one nothing."""
    n_columns, function = FUNCTIONS[name]
    rng = np.random.default_rng(0)
    s, noise = rng.normal(size=(n_columns, 200)), rng.normal(size=200)
    found = residual_of(block(*s), function(s) + noise)
    assert spearmanr(found.column.values, noise).statistic > 0.85
    assert found.r_squared > 0.05


def test_at_most_a_third_of_the_samples_are_fitted():
    features, penalties = np.random.default_rng(0).normal(size=(60, 30)), 10.0 ** np.arange(-4, 3)
    basis = regression._Basis(features, penalties, False)
    ridge = regression.Ridge.of(basis, regression.GroupMeans(np.zeros(60, dtype=np.int64)))
    assert 0 < len(ridge.freedom) < len(penalties)
    assert ridge.freedom.max() <= 20


def test_a_weak_dependence_is_removed():
    s, noise = np.random.default_rng(0).normal(size=(2, 2000))
    found = residual_of(block(s), 0.2 * s + noise)
    assert 0.02 < found.r_squared < 0.05
    assert abs(np.corrcoef(found.column.values, s)[0, 1]) < 0.01


def test_what_does_not_depend_on_the_given_is_returned_as_it_is():
    s, x = np.random.default_rng(0).normal(size=(2, 200))
    column = Column("x", "continuous", x)
    (found,) = residuals(block(s), [column])
    assert found.column is column
    assert found.r_squared == 0.0


def test_labels_are_returned_as_they_are_and_two_labels_regressed():
    rng = np.random.default_rng(0)
    s = rng.normal(size=300)
    three = np.digitize(s, [-0.5, 0.5]).astype(float)
    assert (residual_of(block(s), three, "nominal").column.values == three).all()
    two = (s + 0.1 * rng.normal(size=300) > 0).astype(float)
    found = residual_of(block(s), two, "nominal")
    assert found.column.feature_type == "continuous"
    assert abs(np.corrcoef(found.column.values, s)[0, 1]) < 0.1


def test_labels_given_are_strata():
    rng = np.random.default_rng(0)
    label, s, noise = rng.integers(0, 3, 400), rng.normal(size=400), rng.normal(size=400)
    given = Block((Column("l", "nominal", label.astype(float)), Column("s", "continuous", s)))
    x = s * np.array([-1.0, 0.5, 2.0])[label] + np.array([0, 3, -1])[label] + 0.1 * noise
    assert np.corrcoef(residual_of(given, x).column.values, noise)[0, 1] > 0.95


@pytest.mark.parametrize("n", [5, 12, 19])
@pytest.mark.parametrize("n_levels", [1, 2, 3])
def test_labels_of_few_rows_are_regressed_on(n, n_levels):
    levels = np.arange(n) % n_levels
    given = block(levels, feature_type="nominal")
    residual = residual_of(given, levels + 0.01 * np.random.default_rng(0).normal(size=n))
    assert np.isfinite(residual.column.values).all()


def test_missing_values_stay_missing_and_do_not_bend_the_fit():
    rng = np.random.default_rng(0)
    s, noise = rng.normal(size=400), rng.normal(size=400)
    x = 3 * s + 0.1 * noise
    x[rng.random(400) < 0.3] = np.nan
    found = residual_of(block(s), x).column.values
    assert (np.isnan(found) == np.isnan(x)).all()
    known = ~np.isnan(x)
    assert np.corrcoef(found[known], noise[known])[0, 1] > 0.99
    s[::7] = np.nan  # then x follows an unknown number there
    found = residual_of(block(s), x).column.values
    assert np.isfinite(found[known]).all()


def test_a_determined_column_has_no_residuals():
    s = np.random.default_rng(0).normal(size=(3, 200))
    assert (residual_of(block(*s), s.sum(axis=0)).column.values == 0.0).all()


def test_each_group_has_its_own_mean():
    """Without it, x would depend on s within groups, though it does not."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(20), 20)
    s, x = rng.normal(size=(2, 400)) + 3.0 * rng.normal(size=20)[who]
    own = np.random.default_rng(0).normal(size=(2, 400))[1]
    within = residual_of(block(s), x, groups=who).column.values
    assert np.corrcoef(within, own)[0, 1] > 0.9


@drawn(seeds, st.floats(-3, 3), st.floats(0.1, 9))
@settings(max_examples=10, deadline=None)
def test_units_and_the_order_of_rows_do_not_matter(seed, shift, factor):
    rng = np.random.default_rng(seed)
    s = rng.normal(size=(2, 90))
    x = np.sin(s[0]) + s[1] + 0.3 * rng.normal(size=90)
    expected = residual_of(block(*s), x).column.values
    rows = rng.permutation(90)
    found = residual_of(block(*(factor * s + shift)[:, rows]), (shift - factor * x)[rows])
    back = np.empty(90)
    back[rows] = found.column.values
    np.testing.assert_allclose(-back, expected, atol=1e-4)


def test_nothing_is_regressed_on_an_empty_set():
    x = Column("x", "continuous", np.arange(9.0))
    target = Block((Column("y", "continuous", np.arange(9.0)),))
    found = Regression.of(target, [x], Block())
    assert found.target is target
    assert found.residual(Block((x,))).columns == (x,)


def parts_and_total(seed, n=300):
    """y is of three parts; a total of them with little noise adds nothing; two noise columns."""
    rng = np.random.default_rng(seed)
    parts, noise = rng.normal(size=(n, 3)), rng.normal(size=(n, 2))
    total = parts.sum(axis=1) + 0.1 * rng.normal(size=n)
    y = parts @ [1.0, 0.8, 0.6] + 0.3 * rng.normal(size=n)
    return np.column_stack([parts, total, noise]), y


def test_a_total_is_not_included_beside_its_parts():
    """Of 20 data sets, one is expected; by local permutations it is included in all."""
    included = 0
    for seed in range(20):
        X, y = parts_and_total(seed)
        selector = PIDSelector(fixed_features=[0, 1, 2], backward=None, random_state=seed)
        included += 3 in selector.fit(X, y).selected_
    assert included <= 4


def test_a_dependence_of_orders_of_magnitude_is_found():
    """Most of the variance of the values is in a few samples, which are left out of their fits."""
    rng = np.random.default_rng(0)
    a, b, noise = rng.normal(size=(3, 200))
    found = residual_of(block(a, b), np.exp(4 * (a + b) + 0.1 * noise))
    assert found.r_squared > 0.9
    assert abs(spearmanr(found.column.values, noise)[0]) > 0.9


def test_recent_regressions_are_kept(monkeypatch):
    rng = np.random.default_rng(0)
    target, first, second = (block(rng.normal(size=100)) for _ in range(3))
    candidates = block(*rng.normal(size=(3, 100))).columns
    recent = RecentRegressions()
    found = recent.find(target, candidates, first, None)
    assert recent.find(target, candidates, first, None) is found
    assert recent.find(target, candidates[:2], first, None) is not found
    assert recent.find(target, candidates, second, None) is not found
    monkeypatch.setattr(regression, "MAX_KEPT", 1000)  # less than two of them
    assert recent.find(target, candidates, first, None) is found
    other = block(rng.normal(size=100))
    assert recent.find(target, candidates, other, None) is not recent.find(
        target, candidates, other, None
    )
    assert recent.find(target, candidates, first, None) is not found
