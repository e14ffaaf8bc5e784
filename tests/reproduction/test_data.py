"""The paper's models of two variables: formulas recomputed, moments, and relevant features."""

from functools import partial

import numpy as np
import pytest

from reproduction.data import noise_model, statistical_model, two_classes


def correlation(x, y):
    return np.corrcoef(x, y)[0, 1]


MODELS = {
    "additive": statistical_model,
    "multiplicative": partial(statistical_model, kind="multiplicative", alpha=1.7),
    "mackay": partial(noise_model, kind="mackay", a=1.0),
    "haufe": partial(noise_model, kind="haufe", a=1.0),
    **{f"example {i}": partial(two_classes, example=i) for i in range(1, 6)},
}


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_the_seed_determines_the_samples(make):
    first, again, other = (make(51, random_state=seed) for seed in (3, 3, 4))
    assert first.X.shape == (51, 2)
    assert np.isfinite(first.X).all()
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    assert not np.array_equal(first.X, other.X)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("distribution", ["uniform", "binomial", "poisson", "exponential"])
def test_statistical_models_follow_their_formulas(alpha, distribution):
    make = partial(statistical_model, 500, alpha=alpha, distribution=distribution, sigma=0.0)
    X1, X2 = make(kind="additive", random_state=0).X.T
    y = make(kind="additive", random_state=0).y
    np.testing.assert_allclose(y, alpha * X1 + (1 - alpha) * X2)
    X1, X2 = make(kind="multiplicative", random_state=0).X.T
    y = make(kind="multiplicative", random_state=0).y
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
    problem = statistical_model(20_000, distribution=distribution, random_state=0)
    np.testing.assert_allclose(problem.X.mean(axis=0), means, rtol=0.03)
    np.testing.assert_allclose(problem.X.var(axis=0), variances, rtol=0.08)
    assert abs(correlation(*problem.X.T)) < 0.03


def test_zeros_are_redrawn_only_where_they_are_divided_by():
    make = partial(statistical_model, 200_000, kind="multiplicative", distribution="poisson")
    assert (make(alpha=0.5, random_state=0).X[:, 1] == 0).any()
    redrawn = make(alpha=1.5, random_state=0)
    assert (redrawn.X[:, 1] > 0).all()
    assert (redrawn.X[:, 0] == 0).any()
    assert np.isfinite(redrawn.y).all()


@pytest.mark.parametrize(
    ("alpha", "relevant"), [(0.0, (1,)), (0.3, (0, 1)), (1.0, (0,)), (2.0, (0, 1))]
)
def test_alpha_decides_what_is_relevant(alpha, relevant):
    assert statistical_model(10, alpha=alpha).relevant == relevant


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


COVARIANCES = {
    1: [[1, 0], [0, 1]],
    2: [[1, 0], [0, 2]],
    3: [[1, 1], [1, 1]],
    4: [[0.1, 0.4], [0.4, 2]],
    5: [[0.1, -0.4], [-0.4, 2]],
}


@pytest.mark.parametrize("example", COVARIANCES)
def test_two_classes_have_the_printed_moments(example):
    means = {
        1: [(-1, -1), (1, 1)],
        2: [(-1, -1), (1, 1)],
        3: [(0, 0), (0, 0)],
        4: [(-0.5, 0.5), (0.5, 0.5)],
        5: [(-0.5, 0), (0.5, 0)],
    }[example]
    problem = two_classes(20_000, example=example, random_state=0)
    for label in (0, 1):
        rows = problem.X[problem.y == label]
        np.testing.assert_allclose(rows.mean(axis=0), means[label], atol=0.05)
        np.testing.assert_allclose(np.cov(rows.T), COVARIANCES[example], atol=0.08)


@pytest.mark.parametrize("example", [1, 2, 4, 5])
def test_two_classes_relevance_is_that_of_the_discriminant(example):
    problem = two_classes(20_000, example=example, random_state=0)
    shift = np.subtract(*(problem.X[problem.y == label].mean(axis=0) for label in (1, 0)))
    weights = np.linalg.solve(COVARIANCES[example], shift)
    assert problem.relevant == (0, 1)
    assert np.abs(weights).min() > 0.5


def test_two_classes_example_4_with_a_corrected_sign_is_more_correlated():
    printed, corrected = (
        two_classes(20_000, example=4, means=means, random_state=0)
        for means in (None, ((-0.5, -0.5), (0.5, 0.5)))
    )
    first = two_classes(20_000, example=1, random_state=0)
    values = [correlation(*one.X.T) for one in (printed, first, corrected)]
    np.testing.assert_allclose(values, [0.478, 0.5, 0.732], atol=0.02)


def test_two_classes_example_3_is_one_column_twice():
    printed = two_classes(500, example=3, random_state=0)
    moved = two_classes(500, example=3, means=((-1, -1), (1, 1)), random_state=0)
    np.testing.assert_array_equal(printed.X[:, 0], printed.X[:, 1])
    np.testing.assert_array_equal(moved.X[:, 0], moved.X[:, 1])
    assert (printed.relevant, moved.relevant) == ((), (0,))
    assert correlation(moved.X[:, 0], moved.y) > 0.6
