"""Smoother and Projection: what S leaves of any functions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from estimators.test_residuals import naive_leave_one_out
from pidselect.data import Block, Column
from pidselect.estimators import evidence, regression
from pidselect.estimators.regression import Projection, Smoother, residuals

seeds = st.integers(0, 2**32 - 1)


def column(values, feature_type="continuous"):
    return Column("s", feature_type, np.asarray(values, dtype=float))


def given_of(rng, n):
    return Block((column(rng.normal(size=n)), column(rng.integers(0, 3, n), "nominal")))


@drawn(seeds, st.sampled_from([1, 2]))
@settings(max_examples=5, deadline=None)
def test_residuals_equal_those_of_fits_without_each_sample(seed, n_groups):
    """By whichever basis and penalty was chosen for a function."""
    rng = np.random.default_rng(seed)
    n, groups = 60, np.arange(60) % n_groups
    given = given_of(rng, n)
    s = given.columns[0].values
    functions = np.column_stack([s + 0.5 * rng.normal(size=n), np.sin(3 * s)])
    smoother = Smoother.of(given, groups)
    found, is_explained = smoother.residual(functions)
    assert is_explained.all()
    for place, function in enumerate(functions.T):
        centred = function[:, np.newaxis] - smoother.means(function[:, np.newaxis])
        errors = []
        for ridge in (*smoother.first, *smoother.more):
            shrinkage = shrinkage_of(ridge, centred)
            left = naive_leave_one_out(ridge.axes, function, (1 / shrinkage - 1) / n, groups)
            # Samples that determine their own fit are not left out entirely.
            is_capped = ridge.axes**2 @ shrinkage + n_groups / n > 0.9
            errors.append(np.abs(found[:, place] - left)[~is_capped].max())
        assert min(errors) < 1e-6


def shrinkage_of(ridge, centred):
    """Return the shrinkage of each axis by the best penalty of a basis."""
    along = ridge.axes.T @ centred
    errors = ridge.generalised_errors(along, (centred**2).sum(axis=0))
    return ridge.shrinkage[errors[:, 0].argmin()]


@drawn(seeds)
@settings(max_examples=10, deadline=None)
def test_generalised_errors_are_those_of_the_fits(seed):
    rng = np.random.default_rng(seed)
    features, values = rng.normal(size=(50, 4)), rng.normal(size=(50, 2))
    means = regression.GroupMeans(np.zeros(50, dtype=np.int64))
    penalties = np.array([1e-3, 0.1, 2.0])
    ridge = regression.Ridge.of(regression._Basis(features, penalties, False), means)
    centred, design = values - values.mean(axis=0), features - features.mean(axis=0)
    found = ridge.generalised_errors(ridge.axes.T @ centred, (centred**2).sum(axis=0))
    for number, penalty in enumerate(penalties):
        hat = design @ np.linalg.solve(design.T @ design + 50 * penalty * np.eye(4), design.T)
        left = centred - hat @ centred
        expected = (left**2).sum(axis=0) / (1 - (1 + np.trace(hat)) / 50) ** 2
        np.testing.assert_allclose(found[number], expected)


@drawn(seeds)
@settings(max_examples=10, deadline=None)
def test_a_projection_is_the_fit_of_its_own_regression(seed):
    """It is linear, leaves what is orthogonal to S, and what it left before comes out again."""
    rng = np.random.default_rng(seed)
    s, noise, f, g = rng.normal(size=(4, 100))
    given = Block((column(s),))
    projection = residuals(given, [column(2 * s + noise)])[0].projection
    assert isinstance(projection, Projection)
    functions = np.stack([f, g, 3 * f - g + 7], axis=1)
    found = projection.residual(functions)
    np.testing.assert_allclose(found[:, 2], 3 * found[:, 0] - found[:, 1], atol=1e-9)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-9)
    centred = f - f.mean()
    fitted = np.zeros(100)
    for axis, share in zip(projection.axes.T, projection.shrinkage, strict=True):
        fitted += share * (axis @ centred) * axis
    np.testing.assert_allclose(found[:, 0], centred - fitted, atol=1e-9)
    outside = centred - projection.axes @ (projection.axes.T @ centred)
    np.testing.assert_allclose(
        projection.residual(outside[:, np.newaxis])[:, 0], outside, atol=1e-8
    )


def test_what_s_does_not_explain_is_centred_and_left_as_it_is():
    rng = np.random.default_rng(1)
    function = rng.normal(size=(200, 1)) + 5
    found, is_explained = Smoother.of(Block((column(rng.normal(size=200)),))).residual(function)
    assert not is_explained.any()
    np.testing.assert_allclose(found, function - function.mean())


@pytest.mark.parametrize("function", [np.sin, np.square, np.abs, np.exp])
def test_functions_of_s_are_explained(function):
    rng = np.random.default_rng(0)
    s = rng.normal(size=300)
    values = np.column_stack([function(2 * s), rng.normal(size=300)])
    found, is_explained = Smoother.of(Block((column(s),))).residual(values)
    assert is_explained[0]
    assert found[:, 0].var() < 0.05 * values[:, 0].var()


def test_cells_of_labels_have_means_and_curves_of_their_own():
    rng = np.random.default_rng(0)
    label, s = rng.integers(0, 2, 400), rng.normal(size=400)
    given = Block((column(label, "nominal"), column(s)))
    function = np.where(label, np.sin(2 * s), 1 - s**2)
    found, _ = Smoother.of(given).residual(function[:, np.newaxis])
    assert found.var() < 0.02 * function.var()


@drawn(seeds)
@settings(max_examples=5, deadline=None)
def test_functions_do_not_matter_to_each_other(seed):
    rng = np.random.default_rng(seed)
    given = given_of(rng, 80)
    functions = rng.normal(size=(80, 5)) + given.columns[0].values[:, np.newaxis] * np.arange(5)
    together, explained = Smoother.of(given).residual(functions)
    for place in range(5):
        alone, is_explained = Smoother.of(given).residual(functions[:, [place]])
        np.testing.assert_allclose(alone[:, 0], together[:, place], atol=1e-9)
        assert is_explained[0] == explained[place]


def waves_of(rng, n, n_columns):
    """Return columns of S, and the sum of a wave of each with noise."""
    columns = rng.normal(size=(n_columns, n))
    given = Block(tuple(Column(f"s{i}", "continuous", x) for i, x in enumerate(columns)))
    total = np.sin(3 * columns).sum(axis=0) + rng.normal(size=n)
    return given, (total - total.mean()) / total.std()


def test_a_weighted_regression_is_the_one_of_largest_marginal_likelihood():
    """What it leaves of samples that are left out is what that regression leaves of them."""
    rng = np.random.default_rng(0)
    given, y = waves_of(rng, 300, 3)
    (ridge,) = Smoother.of(given).weighted(y[:, np.newaxis])
    left, _ = ridge.residuals(y[:, np.newaxis], np.zeros((1, 1), dtype=bool))
    design = evidence.design_of([evidence.functions_of(c) for c in given.columns], 150)
    np.testing.assert_allclose(left[:, 0], y - evidence.left_out(design, y), atol=1e-6)


def test_no_weighted_regression_without_information_or_of_many_samples(monkeypatch):
    given = Block((Column("s", "continuous", np.zeros(50)),))
    y = np.random.default_rng(0).normal(size=(50, 1))
    assert Smoother.of(given).weighted(y) == []
    given, y = waves_of(np.random.default_rng(0), 60, 2)
    monkeypatch.setattr(regression, "MANY_SAMPLES", 59)
    assert Smoother.of(given).weighted(y[:, np.newaxis]) == []
