"""p-values, critical values, maximum and minimum statistic against the naive ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from pidselect.significance.permutation_test import (
    check_resolution,
    critical_value,
    first_largest,
    first_smallest,
    fixed_decision,
    is_significant,
    maximum_statistic,
    minimum_statistic,
    p_values,
    step_down_p_values,
)

values = st.lists(st.integers(-50, 50).map(lambda v: v / 10), min_size=1, max_size=60)
alphas = st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 1 - 0.9, 1 - 0.8, 1 - 0.7, 0.95, 0.99])
seeds = st.integers(0, 2**32 - 1)


@given(values, values)
def test_p_values(observed, null):
    """Null values equal to the observed one up to rounding count as reaching it."""
    observed = np.concatenate([np.add(observed, nudge) for nudge in (0.0, 1e-12, -1e-12)])
    expected = [naive.p_value(value, null) for value in observed]
    np.testing.assert_array_equal(p_values(observed, np.array(null)), expected)


def test_p_value_counts_equal_values():
    null = np.array([0.1, 0.2, 0.3, 0.4])
    observed = np.array([0.5, 0.4, 0.4 + 1e-12, 0.4 + 1e-8, 0.0])
    np.testing.assert_array_equal(p_values(observed, null), [0.2, 0.4, 0.4, 0.2, 1.0])


@given(values)
def test_order_is_irrelevant_and_input_unchanged(null):
    array = np.array(null)
    before = array.copy()
    forth, back = p_values(array[:3], array), p_values(array[:3], array[::-1])
    np.testing.assert_array_equal(forth, back)
    assert critical_value(array, 0.6) == critical_value(array[::-1], 0.6)
    np.testing.assert_array_equal(array, before)


@given(values, alphas)
def test_critical_value(null, alpha):
    if naive.critical_value(null, alpha) < np.inf:
        assert critical_value(np.array(null), alpha) == naive.critical_value(null, alpha)


@pytest.mark.parametrize(
    ("n", "alpha"), [(200, 0.05), (19, 0.05), (39, 0.05), (99, 0.01), (999, 0.3), (9, 0.5)]
)
def test_p_passes_alpha_at_the_critical_value(n, alpha):
    null = np.random.default_rng(n).normal(size=n)
    critical = critical_value(null, alpha)
    assert critical == naive.critical_value(null, alpha)
    for observed in [*null, critical + 1e-6, critical - 1e-6, 10.0, -10.0]:
        assert (naive.p_value(observed, null) <= alpha) == (observed > critical)
        assert (p_values(np.array([observed]), null)[0] <= alpha) == (observed > critical)


@given(values, st.sampled_from([1 - 1e-13, 1 - 1e-12, np.nextafter(1.0, 0.0)]))
def test_an_alpha_next_to_one(null, alpha):
    """All null values but one may reach the observed value; p = 1 is never significant."""
    critical = critical_value(np.array(null), alpha)
    assert critical == min(null)
    p = p_values(np.array([critical - 1, critical + 1]), np.array(null))
    assert [is_significant(value, alpha) for value in p] == [False, True]


def test_200_permutations_allow_nine():
    """(1 + 9) / 201 <= 0.05 < (1 + 10) / 201: the critical value is the tenth largest."""
    assert critical_value(np.arange(200.0), 0.05) == 190
    assert naive.critical_value(range(200), 0.05) == 190


def test_naive_critical_value_of_too_few_permutations():
    assert naive.critical_value([0.0] * 18, 0.05) == np.inf
    assert naive.critical_value([0.0] * 19, 0.05) == 0.0


@given(values, st.lists(st.sampled_from([0.0, 5e-11, 2e-10]), min_size=60, max_size=60))
def test_extremes(values, nudges):
    nudged = np.add(values, nudges[: len(values)])
    assert first_largest(nudged) == naive.strongest(nudged)
    assert first_smallest(nudged) == naive.weakest(nudged)


@given(seeds, st.integers(1, 6), st.integers(1, 300))
def test_statistics(seed, n_features, n):
    values = np.random.default_rng(seed).normal(size=(n_features, n))
    np.testing.assert_array_equal(maximum_statistic(values), naive.maximum_statistic(values))
    np.testing.assert_array_equal(minimum_statistic(values), naive.minimum_statistic(values))


@pytest.mark.parametrize("n", [19, 39, 99, 200])
def test_false_positive_rate(n):
    """Of n + 1 exchangeable values, floor(alpha (n + 1)) are significant."""
    everything = np.random.default_rng(n).normal(size=n + 1)
    p = [p_values(everything[[i]], np.delete(everything, i))[0] for i in range(n + 1)]
    np.testing.assert_allclose(np.sort(p), np.arange(1, n + 2) / (n + 1))
    assert np.sum(np.array(p) <= 0.05) == (n + 1) // 20


@given(alphas, st.integers(1, 150))
def test_resolution(alpha, n):
    """Enough permutations are those with which some value can be significant."""
    if naive.critical_value(np.zeros(n), alpha) < np.inf:
        check_resolution(alpha, n)
        assert p_values(np.array([1.0]), np.zeros(n))[0] <= alpha + 1e-12
    else:
        with pytest.raises(ValueError, match=f"n_permutations={n}"):
            check_resolution(alpha, n)


@given(st.floats(1e-4, 0.49) | st.sampled_from([1 - 0.9, 1 - 0.95, 1 - 0.99, 1 - 0.8]))
def test_the_advised_number_is_enough_and_not_too_large(alpha):
    with pytest.raises(ValueError, match="n_permutations=") as caught:
        check_resolution(alpha, 1)
    needed = int(str(caught.value).split("n_permutations=")[2].split()[0])
    check_resolution(alpha, needed)
    with pytest.raises(ValueError):
        check_resolution(alpha, needed - 1)


@given(
    st.integers(1, 5).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(-5, 5).map(lambda v: v / 10), min_size=n, max_size=n),
            min_size=2,
            max_size=12,
        )
    ),
    st.randoms(use_true_random=False),
)
def test_step_down_equals_the_twin(rows, random):
    """Each value is compared with the largest surrogate of those after it, with ties, monotone."""
    observed, surrogates = np.array(rows[0]) + 1e-12, np.array(rows[1:]).T
    descending = sorted(range(len(observed)), key=lambda place: -observed[place])
    shuffled = random.sample(descending, len(descending))
    for order in (descending, shuffled):
        expected, largest = {}, 0.0
        for place, candidate in enumerate(order):
            null = surrogates[order[place:]].max(axis=0)
            largest = max(largest, naive.p_value(observed[candidate], null))
            expected[candidate] = largest
        found = step_down_p_values(
            observed, surrogates, None if order is descending else np.array(order)
        )
        assert found.tolist() == [expected[candidate] for candidate in range(len(observed))]


@given(values, st.integers(-51, 51).map(lambda v: v / 10), alphas)
def test_a_decision_is_early_if_it_cannot_change(null, observed, alpha):
    n, array = len(null), np.array(null)
    p = naive.p_value(observed, null)
    final = "significant" if p <= alpha + 1e-12 and p < 1 else "not significant"
    assert fixed_decision(observed, array, alpha, n) == final
    for t in range(n):
        # With no more values that reach the observed one.
        best = naive.p_value(observed, null[:t]) * (1 + t) / (1 + n)
        is_open = best <= alpha + 1e-12 and best < 1
        assert fixed_decision(observed, array[:t], alpha, n) == (
            "open" if is_open else "not significant"
        )
