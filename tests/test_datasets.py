"""The generators: shapes, the formulas recomputed, the truth they claim, and their seeds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from pidselect import datasets
from pidselect.datasets import SyntheticDataset

GENERATORS: dict[str, Callable[..., SyntheticDataset]] = {
    "toy": datasets.toy,
    "nested_spheres": datasets.nested_spheres,
    "noisy_spheres": partial(datasets.nested_spheres, label_noise=0.5),
    "friedman1": partial(datasets.friedman, model=1),
    "friedman2": partial(datasets.friedman, model=2),
    "friedman3": partial(datasets.friedman, model=3),
    "runge": datasets.runge,
    "regression": datasets.regression,
    "classes": datasets.classes,
}

every_generator = pytest.mark.parametrize("make", GENERATORS.values(), ids=GENERATORS)


def correlation(x, y):
    return np.corrcoef(x, y)[0, 1]


@every_generator
def test_a_problem_is_complete(make):
    problem = make(101, random_state=0)
    assert problem.X.shape == (101, len(problem.names))
    assert problem.X.dtype == np.float64
    assert problem.y.shape == (101,)
    assert problem.y.dtype in (np.float64, np.int64)
    assert np.isfinite(problem.X).all()
    assert np.isfinite(problem.y).all()
    assert len(set(problem.names)) == len(problem.names)
    assert list(problem.relevant) == sorted(set(problem.relevant))
    assert all(0 <= column < len(problem.names) for column in problem.relevant)
    assert "\n" not in problem.description
    X, y = problem.Xy
    assert X is problem.X
    assert y is problem.y


@every_generator
def test_the_seed_decides(make):
    first, again, other = (make(50, random_state=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    assert not np.array_equal(first.X, other.X)


@every_generator
def test_a_generator_is_accepted_and_advanced(make):
    rng = np.random.default_rng(3)
    first, second = make(50, random_state=rng), make(50, random_state=rng)
    np.testing.assert_array_equal(first.X, make(50, random_state=3).X)
    assert not np.array_equal(first.X, second.X)


@every_generator
def test_the_global_state_is_left_alone(make):
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = make(50, random_state=5)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    np.testing.assert_array_equal(first.X, make(50, random_state=5).X)
    assert not np.array_equal(make(50).X, make(50).X)


@every_generator
def test_one_sample_is_enough(make):
    problem = make(1, random_state=0)
    assert problem.X.shape[0] == problem.y.shape[0] == 1


@every_generator
def test_no_samples_is_an_error(make):
    with pytest.raises(ValueError, match=r"n_samples.*got 0"):
        make(0)


def test_a_problem_prints_its_truth():
    assert "7 samples of X1, X2, eta; relevant: X1, eta" in repr(datasets.toy(7))
    assert "relevant: none" in repr(datasets.regression(7, n_informative=0))
    assert "..." in repr(datasets.regression(7))


def test_toy_is_solved_by_its_relevant_columns():
    problem = datasets.toy(5000, random_state=0)
    X1, X2, eta = problem.X.T
    assert problem.relevant_names == ("X1", "eta")
    assert np.std(problem.y - np.sin(X1 - 0.1 * eta)) == pytest.approx(0.1, rel=0.05)
    assert abs(correlation(eta, problem.y)) < 0.05
    assert np.var(X2) == pytest.approx(0.8**2 + 0.2**2, rel=0.06)
    assert abs(correlation(X1, problem.y)) > abs(correlation(X2, problem.y)) > 0.8


def test_spheres_have_their_radii():
    problem = datasets.nested_spheres(501, radii=(0.5, 3.0), random_state=0)
    radius = np.linalg.norm(problem.X, axis=1)
    np.testing.assert_allclose(radius, np.where(problem.y == 0, 0.5, 3.0))
    assert np.bincount(problem.y).tolist() == [251, 250]


def test_label_noise_makes_the_target_continuous():
    noisy = datasets.nested_spheres(4000, label_noise=0.5, random_state=0)
    clean = datasets.nested_spheres(4000, random_state=0)
    assert clean.y.dtype == np.int64
    np.testing.assert_array_equal(noisy.X, clean.X)
    assert np.std(noisy.y - clean.y) == pytest.approx(0.5, rel=0.05)


@pytest.mark.parametrize("radii", [(1.0, 1.0), (2.0, 1.0), (0.0, 1.0), (1.0, float("nan"))])
def test_radii_must_grow(radii):
    with pytest.raises(ValueError, match="radii"):
        datasets.nested_spheres(10, radii=radii)


def friedman_formula(model, X):
    x1, x2, x3, x4, x5 = X[:, :5].T
    if model == 1:
        return 10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5
    inner = x2 * x3 - 1 / (x2 * x4)
    return np.hypot(x1, inner) if model == 2 else np.arctan(inner / x1)


@pytest.mark.parametrize(("model", "n_relevant"), [(1, 5), (2, 4), (3, 4)])
def test_friedman_follows_its_formula(model, n_relevant):
    problem = datasets.friedman(3000, model=model, random_state=0)
    noise = problem.y - friedman_formula(model, problem.X)
    assert problem.X.shape[1] == 10
    assert problem.relevant == tuple(range(n_relevant))
    assert problem.names[n_relevant - 1 : n_relevant + 1] == (f"X{n_relevant}", "Z1")
    assert np.std(noise) == pytest.approx(1.0, rel=0.05)
    nuisance = problem.X[:, n_relevant:]
    assert nuisance.min() >= 0
    assert nuisance.max() <= 1
    assert max(abs(correlation(column, problem.y)) for column in nuisance.T) < 0.06


def test_runge_follows_its_formula():
    problem = datasets.runge(5000, random_state=0)
    Z, W, X = problem.X[:, :3], problem.X[:, 3:7], problem.X[:, 7:]
    noise = problem.y - 0.4 * W.sum(axis=1) - 2 * Z.prod(axis=1)
    assert problem.names == ("Z1", "Z2", "Z3", "W1", "W2", "W3", "W4", "X1", "X2")
    assert problem.relevant == tuple(range(7))
    assert np.std(noise) == pytest.approx(0.5, rel=0.05)
    np.testing.assert_allclose(np.std(X[:, 0] - 0.4 * (W[:, 0] + W[:, 2])), 1, rtol=0.05)
    np.testing.assert_allclose(np.std(X[:, 1] - 0.4 * (W[:, 1] + W[:, 3])), 1, rtol=0.05)
    assert abs(correlation(noise, X[:, 0])) < 0.05  # X adds nothing to W


@pytest.mark.parametrize(("n_features", "n_informative"), [(50, 10), (30, 20), (1, 1), (4, 0)])
def test_regression_is_linear_in_its_relevant_columns(n_features, n_informative):
    problem = datasets.regression(
        300, n_features=n_features, n_informative=n_informative, random_state=0
    )
    weights, *_ = np.linalg.lstsq(problem.X, problem.y, rcond=None)
    assert len(problem.relevant) == n_informative
    assert tuple(np.flatnonzero(np.abs(weights) > 1e-8)) == problem.relevant
    assert all(
        name.startswith("X" if column in problem.relevant else "Z")
        for column, name in enumerate(problem.names)
    )


def test_classes_differ_only_in_relevant_columns():
    problem = datasets.classes(6000, n_features=8, n_informative=3, n_classes=4, random_state=0)
    means = np.array([problem.X[problem.y == label].mean(axis=0) for label in range(4)])
    assert problem.relevant == (0, 1, 2)
    assert problem.names == ("X1", "X2", "X3", "Z1", "Z2", "Z3", "Z4", "Z5")
    assert np.bincount(problem.y).tolist() == [1500] * 4
    expected = np.tile([[-2.25], [-0.75], [0.75], [2.25]], 3)
    np.testing.assert_allclose(np.sort(means[:, :3], axis=0), expected, atol=0.12)
    np.testing.assert_allclose(means[:, 3:], 0, atol=0.12)
    within = problem.X - means[problem.y]
    np.testing.assert_allclose(np.corrcoef(within.T), np.eye(8), atol=0.06)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("AND", lambda a, b: a & b),
        ("OR", lambda a, b: a | b),
        ("XOR", lambda a, b: a ^ b),
        ("SUM", lambda a, b: a + b),
        ("COPY", lambda a, b: 2 * a + b),
        ("COPY1", lambda a, b: a),
        ("UNQ", lambda a, b: 2 * a + b),
    ],
)
def test_gates_are_fair_bits_and_a_rule(name, rule):
    pmf = datasets.gate(name)
    np.testing.assert_array_equal(pmf.sum(axis=-1), 0.25)
    for a in (0, 1):
        for b in (0, 1):
            assert pmf[a, b, rule(a, b)] == 0.25
    np.testing.assert_array_equal(pmf, datasets.gate(name.lower()))


@pytest.mark.parametrize("name", datasets.GATES)
@pytest.mark.parametrize("n_sources", [1, 2, 3, 4])
def test_gates_of_any_size_are_distributions(name, n_sources):
    pmf = datasets.gate(name, n_sources=n_sources)
    assert pmf.shape[:-1] == (2,) * n_sources
    assert pmf.sum() == pytest.approx(1.0, abs=1e-15)
    assert (pmf.sum(axis=tuple(range(n_sources))) > 0).all()  # no state of the target is idle


def test_samples_have_the_frequencies_of_the_distribution():
    pmf = np.arange(24, dtype=float).reshape(2, 3, 4)
    pmf /= pmf.sum()
    X, y = datasets.sample(pmf, 50_000, random_state=0)
    counts = np.zeros(pmf.shape)
    np.add.at(counts, (X[:, 0], X[:, 1], y), 1)
    np.testing.assert_allclose(counts / 50_000, pmf, atol=0.006)
    assert counts[0, 0, 0] == 0
    assert X.dtype == y.dtype == np.int64


def test_mixed_table_holds_plain_values():
    island = datasets.mixed_table(200, random_state=0)
    types = {name: set(map(type, values)) for name, values in island.columns.items()}
    assert all(len(values) == 200 for values in island.columns.values())
    assert all(len(found) == 1 for found in types.values())
    assert set.union(*types.values()) == {float, int, str, bool}
    assert set(island.relevant) | set(island.redundant) < set(island.columns)
    assert list(island.with_target()) == [*island.columns, "kilometres_ridden"]
    assert island.with_target()["kilometres_ridden"] == island.y.tolist()


def test_mixed_table_follows_its_formula():
    island = datasets.mixed_table(5000, random_state=0)
    column = {name: np.array(values) for name, values in island.columns.items()}
    together = column["market"] == column["ferry"]
    expected = (
        60
        + 120 * np.exp(-(((column["temperature"] - 20) / 6) ** 2))
        + 0.8 * column["overnight_guests"]
        + 60 * column["holiday"]
        + 140 * together
    )
    assert np.std(island.y - expected) == pytest.approx(10, rel=0.05)
    assert abs(correlation(column["ferry"] == "north", island.y)) < 0.05
    assert correlation(column["market"] == "north", island.y) > 0.2
    assert correlation(together, island.y) > 0.5


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: datasets.friedman(model=4), "model=4.*1, 2, 3"),
        (lambda: datasets.friedman(noise=-1), "noise.*-1"),
        (lambda: datasets.runge(sigma=-1), "sigma.*-1"),
        (lambda: datasets.nested_spheres(label_noise=-1), "label_noise.*-1"),
        (lambda: datasets.regression(n_features=3, n_informative=4), "n_informative.*n_features=3"),
        (lambda: datasets.regression(noise=-1), "noise.*-1"),
        (lambda: datasets.classes(n_features=0), "n_features.*0"),
        (lambda: datasets.classes(n_classes=1), "n_classes.*1"),
        (lambda: datasets.classes(separation=0), "separation.*0"),
        (lambda: datasets.mixed_table(0), "n_samples.*got 0"),
        (lambda: datasets.gate("NAND"), "name='NAND'.*'AND'"),
        (lambda: datasets.gate("AND", n_sources=0), "n_sources.*got 0"),
        (lambda: datasets.sample([0.5, 0.5]), "pmf.*axis"),
        (lambda: datasets.sample([[0.5, 0.6]]), "pmf.*1.1"),
        (lambda: datasets.sample([[1.5, -0.5]]), "pmf.*-0.5"),
        (lambda: datasets.sample([[float("nan"), 1.0]]), "pmf.*nan"),
        (lambda: datasets.sample([[1.0]], 0), "n_samples.*got 0"),
    ],
)
def test_errors_name_the_parameter_and_its_value(call, names):
    with pytest.raises(ValueError, match=names):
        call()
