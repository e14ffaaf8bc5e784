"""Values of any size, strata of any size, ties at the end of a list."""

from __future__ import annotations

import numpy as np
import pytest
from samples import NOTHING, block, list_bytes, orders

import naive
from pidselect import mutual_information
from pidselect.data.column import Block, Column
from pidselect.estimators import KSG, Batch, Copula, Gaussian, Mixed

RNG = np.random.default_rng(0)
S = RNG.normal(size=60)
X = S + RNG.normal(size=60)
Y = X + S + RNG.normal(size=60)


@pytest.mark.parametrize("exponent", [-1000, -700, -300, 300, 700, 1000])
@pytest.mark.parametrize(
    "estimator",
    [KSG(), KSG(algorithm=2), KSG(scale="rank"), Mixed(), Gaussian(), Copula()],
    ids=repr,
)
def test_size_does_not_matter(estimator, exponent):
    """A power of two changes no digit, so it may change none of the value either."""
    huge = [np.ldexp(column, exponent) for column in (X, Y, S)]
    assert mutual_information(*huge, estimator=estimator) == mutual_information(
        X, Y, S, estimator=estimator
    )


@pytest.mark.parametrize("estimator", [KSG(), Mixed(), Gaussian()], ids=repr)
def test_subnormal_numbers_are_numbers(estimator):
    tiny = RNG.integers(1, 2**40, size=60) * 5e-324
    expected = mutual_information(tiny / 5e-324, Y, estimator=estimator)
    assert mutual_information(tiny, Y, estimator=estimator) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "estimator", [KSG(scale=None), KSG(algorithm=2, scale=None), Mixed(scale=None)]
)
def test_unscaled_numbers_beyond_reach_are_refused(estimator):
    with pytest.raises(ValueError, match=r"(?s)'x'.*1e\+290.*zscore"):
        mutual_information(X * 1e300, Y, estimator=estimator)


@pytest.mark.parametrize("rare", [1, 3, 4, 5, 9])
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("nominal_x", [(), (0,)])
def test_a_rare_level_far_from_the_others(rare, k, nominal_x):
    """A stratum with hardly more samples than k has its neighbours elsewhere."""
    y = np.arange(400) % 5 * 1.0
    y[:rare] = 40.0
    x = np.random.default_rng(rare).integers(0, 4, size=400) * 1.0
    rows = orders(np.random.default_rng(1), 3, 400)
    scorer = Mixed(k=k, scale=None).bind(block(y[:, None], name="y"), NOTHING)
    assert scorer.bound.strata is not None
    found = scorer.score(Batch(block(x[:, None], nominal_x), rows))
    expected = [naive.mixed(x[row, None], y[:, None], None, k, nominal_x=nominal_x) for row in rows]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("given", [0, 2])
def test_the_second_algorithm_does_not_depend_on_memory_with_ties(given):
    rng = np.random.default_rng(2)

    def column(name):
        return Column(name, "continuous", np.round(rng.normal(size=150), 1))

    x, y = Block((column("x"),)), Block((column("y"),))
    s = Block(tuple(column(f"s{i}") for i in range(given)))
    values = set()
    for memory in (1, 2_000, 20_000, 60_000, 2**30):
        with list_bytes(memory):
            values.add(KSG(algorithm=2).bind(y, s).score(Batch.observed(x))[0])
    assert len(values) == 1


def test_true_and_false_are_one_and_zero_to_estimators_of_numbers():
    positive = X > 0
    for estimator in ("ksg", "gaussian", "copula"):
        as_number = mutual_information(positive.astype(float), Y, estimator=estimator)
        assert mutual_information(positive, Y, estimator=estimator) == as_number


def test_what_leaves_no_freedom_is_infinite_and_not_noise():
    """With n - 2 columns given, every correlation is 1 or -1 up to rounding."""
    rng = np.random.default_rng(3)
    given = rng.normal(size=(12, 10))
    x, y = rng.normal(size=(2, 12))
    assert mutual_information(x, y, given, estimator="gaussian") == np.inf


@pytest.mark.parametrize("digits", [0, 1, 8])
def test_rounding_does_not_pull_the_mixed_estimator_down(digits):
    rng = np.random.default_rng(4)
    x, noise = rng.normal(size=(2, 1000))
    found = mutual_information(np.round(x, digits), np.round(x + noise, digits), estimator="mixed")
    assert found == pytest.approx(0.5, abs=0.12)
