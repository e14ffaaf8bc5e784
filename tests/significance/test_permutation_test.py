"""Tests keep their promise: how often chance passes, and what p-value and line say together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from pidselect.significance import (
    check_resolution,
    critical_value,
    first_largest,
    first_smallest,
    is_significant,
    maximum_statistic,
    minimum_statistic,
    p_values,
)

values = st.lists(st.integers(-50, 50).map(lambda v: v / 10), min_size=1, max_size=60)
alphas = st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 1 - 0.9, 1 - 0.8, 1 - 0.7, 0.95, 0.99])


@given(values, values)
def test_p_values_equal_the_twin(observed, null):
    expected = [naive.p_value(value, null) for value in observed]
    np.testing.assert_array_equal(p_values(np.array(observed), np.array(null)), expected)


@given(values, st.lists(st.sampled_from([0.0, 5e-11, 2e-10]), min_size=60, max_size=60))
def test_extremes_equal_the_twin(values, nudges):
    nudged = np.add(values, nudges[: len(values)])
    assert first_largest(nudged) == naive.strongest(nudged)
    assert first_smallest(nudged) == naive.weakest(nudged)


@given(values, alphas)
def test_null_line_equals_the_twin(null, alpha):
    if naive.critical_value(null, alpha) < np.inf:
        assert critical_value(np.array(null), alpha) == naive.critical_value(null, alpha)


@given(values, st.sampled_from([1 - 1e-13, 1 - 1e-12, np.nextafter(1.0, 0.0)]))
def test_an_alpha_next_to_one(null, alpha):
    """All draws but one may reach the observed value; with p = 1, nothing is significant."""
    line = critical_value(np.array(null), alpha)
    assert line == min(null)
    p = p_values(np.array([line - 1, line + 1]), np.array(null))
    assert [is_significant(value, alpha) for value in p] == [False, True]


@given(values, st.integers(-51, 51).map(lambda v: v / 10))
def test_p_values_are_valid(null, observed):
    p = float(p_values(np.array([observed]), np.array(null))[0])
    assert 1 / (1 + len(null)) <= p <= 1
    assert p * (1 + len(null)) == pytest.approx(round(p * (1 + len(null))))


@given(values)
def test_a_larger_value_has_no_larger_p(null):
    p = p_values(np.linspace(-6, 6, 25), np.array(null))
    assert (np.diff(p) <= 0).all()


@given(values)
def test_neither_order_nor_input_changes(null):
    array = np.array(null)
    before = array.copy()
    forth, back = p_values(array[:3], array), p_values(array[:3], array[::-1])
    np.testing.assert_array_equal(forth, back)
    assert critical_value(array, 0.6) == critical_value(array[::-1], 0.6)
    np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize("n", [19, 39, 99, 200])
def test_chance_passes_at_the_stated_rate(n):
    """If all n + 1 are alike, each rank is as likely: exactly floor(alpha (n + 1)) of them pass."""
    everything = np.random.default_rng(n).normal(size=n + 1)
    p = [p_values(everything[[i]], np.delete(everything, i))[0] for i in range(n + 1)]
    np.testing.assert_allclose(np.sort(p), np.arange(1, n + 2) / (n + 1))
    assert np.sum(np.array(p) <= 0.05) == (n + 1) // 20


def test_family_wise_error_of_the_maximum():
    """The largest of ten null candidates passes as often as alpha says."""
    rng = np.random.default_rng(0)
    passed = 0
    for _ in range(400):
        observed, surrogates = rng.normal(size=10), rng.normal(size=(10, 39))
        p = p_values(observed, maximum_statistic(surrogates))
        passed += p.min() <= 0.05
    assert 8 <= passed <= 36  # 20 expected, standard deviation 4.4


@given(st.integers(0, 1000), st.integers(1, 5), st.integers(1, 30))
def test_extremes_enclose_every_feature(seed, n_features, n_draws):
    surrogates = np.random.default_rng(seed).normal(size=(n_features, n_draws))
    low, high = minimum_statistic(surrogates), maximum_statistic(surrogates)
    assert low.shape == high.shape == (n_draws,)
    assert ((low <= surrogates) & (surrogates <= high)).all()


@given(alphas, st.integers(1, 150))
def test_enough_draws_are_those_with_which_something_can_pass(alpha, n):
    possible = naive.critical_value(np.zeros(n), alpha) < np.inf
    if possible:
        check_resolution(alpha, n)
        assert p_values(np.array([1.0]), np.zeros(n))[0] <= alpha + 1e-12
    else:
        with pytest.raises(ValueError, match=f"n_permutations={n}"):
            check_resolution(alpha, n)


@given(st.floats(1e-4, 0.999))
def test_the_advice_is_enough_and_not_too_much(alpha):
    with pytest.raises(ValueError, match="n_permutations=") as caught:
        check_resolution(alpha / 2, 1) if alpha < 0.999 else check_resolution(0.1, 1)
    needed = int(str(caught.value).split("n_permutations=")[2].split()[0])
    level = alpha / 2 if alpha < 0.999 else 0.1
    check_resolution(level, needed)
    with pytest.raises(ValueError):
        check_resolution(level, needed - 1)
