"""The paper's models of two variables: formulas recomputed, moments, and relevant features."""

from functools import partial

import numpy as np
import pytest

from reproduction.data import noise_model, statistical_model, two_classes


def correlation(x, y):
    return np.corrcoef(x, y)[0, 1]


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("distribution", ["uniform", "binomial", "poisson", "exponential"])
def test_statistical_models_follow_their_formulas(alpha, distribution):
    make = partial(statistical_model, 500, alpha=alpha, distribution=distribution, sigma=0.0)
    (X1, X2), y = (part.T for part in make(kind="additive", random_state=0))
    np.testing.assert_allclose(y, alpha * X1 + (1 - alpha) * X2)
    (X1, X2), y = (part.T for part in make(kind="multiplicative", random_state=0))
    np.testing.assert_allclose(y, X1**alpha * X2 ** (1 - alpha))


@pytest.mark.parametrize(
    ("distribution", "means", "variances"),
    [
        ("uniform", (2, 2), (1 / 3, 1 / 3)),
        ("binomial", (10, 10), (5, 5)),
        ("poisson", (4, 10), (4, 10)),
        ("exponential", (1 / 1.5, 1 / 1.5), (1 / 1.5**2, 1 / 1.5**2)),
    ],
)
def test_statistical_inputs_have_the_moments_of_the_table(distribution, means, variances):
    X, _ = statistical_model(20_000, distribution=distribution, random_state=0)
    np.testing.assert_allclose(X.mean(axis=0), means, rtol=0.03)
    np.testing.assert_allclose(X.var(axis=0), variances, rtol=0.08)
    assert abs(correlation(*X.T)) < 0.03


def test_zeros_are_redrawn_only_where_they_are_divided_by():
    make = partial(statistical_model, 200_000, kind="multiplicative", distribution="poisson")
    assert (make(alpha=0.5, random_state=0)[0][:, 1] == 0).any()
    X, y = make(alpha=1.5, random_state=0)
    assert (X[:, 1] > 0).all()
    assert (X[:, 0] == 0).any()
    assert np.isfinite(y).all()


@pytest.mark.parametrize("a", [0.0, 0.5, 4.0])
def test_noise_models_follow_their_formulas(a):
    mackay = noise_model(4000, kind="mackay", a=a, random_state=0)
    X1, X2 = mackay.X.T
    assert np.std(mackay.y - np.sin(X1) - a * X2) == pytest.approx(0.1, rel=0.05)
    haufe = noise_model(4000, kind="haufe", a=a, random_state=0)
    X1, X2 = haufe.X.T
    assert np.std(haufe.y - np.sin(X1 - a * X2)) == pytest.approx(0.1, rel=0.05)
    assert abs(correlation(X2, haufe.y)) < 0.06
    assert mackay.relevant == haufe.relevant == ((0, 1) if a else (0,))


@pytest.mark.parametrize(
    ("example", "means", "covariance"),
    [
        (1, [(-1, -1), (1, 1)], [[1, 0], [0, 1]]),
        (2, [(-1, -1), (1, 1)], [[1, 0], [0, 2]]),
        (3, [(0, 0), (0, 0)], [[1, 1], [1, 1]]),
        (4, [(-0.5, 0.5), (0.5, 0.5)], [[0.1, 0.4], [0.4, 2]]),
        (5, [(-0.5, 0), (0.5, 0)], [[0.1, -0.4], [-0.4, 2]]),
    ],
)
def test_two_classes_have_the_printed_moments(example, means, covariance):
    X, y = two_classes(20_000, example=example, random_state=0)
    for label in (0, 1):
        rows = X[y == label]
        np.testing.assert_allclose(rows.mean(axis=0), means[label], atol=0.05)
        np.testing.assert_allclose(np.cov(rows.T), covariance, atol=0.08)


def test_corrected_means_of_two_classes():
    """Example 4 is more correlated with its sign corrected; Example 3 is one column twice."""
    signs = ((-0.5, -0.5), (0.5, 0.5))
    found = [two_classes(20_000, example=4, means=means, random_state=0) for means in (None, signs)]
    values = [correlation(*X.T) for X, _ in found]
    np.testing.assert_allclose(values, [0.478, 0.732], atol=0.02)
    X, y = two_classes(500, example=3, means=((-1, -1), (1, 1)), random_state=0)
    np.testing.assert_array_equal(X[:, 0], X[:, 1])
    assert correlation(X[:, 0], y) > 0.6
