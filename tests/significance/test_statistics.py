"""p-values, null lines and the statistics they are taken of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from pidselect.significance import (
    check_resolution,
    critical_value,
    maximum_statistic,
    minimum_statistic,
    p_values,
)

seeds = st.integers(0, 2**32 - 1)
draws = st.integers(1, 300)


def null_of(seed, n):
    """Return n null values, some of them equal."""
    return np.round(np.random.default_rng(seed).normal(size=n), 1)


@given(seeds, draws)
def test_p_values(seed, n):
    null = null_of(seed, n)
    observed = np.concatenate([null[:5], null[:5] + 1e-12, null[:5] - 1e-12, [9.0, -9.0, 0.05]])
    expected = [naive.p_value(value, null) for value in observed]
    np.testing.assert_array_equal(p_values(observed, null), expected)


def test_p_value_counts_equal_values():
    null = np.array([0.1, 0.2, 0.3, 0.4])
    observed = np.array([0.5, 0.4, 0.4 + 1e-12, 0.4 + 1e-8, 0.0])
    np.testing.assert_array_equal(p_values(observed, null), [0.2, 0.4, 0.4, 0.2, 1.0])


@pytest.mark.parametrize(
    ("n", "alpha"), [(200, 0.05), (19, 0.05), (39, 0.05), (99, 0.01), (999, 0.3), (9, 0.5)]
)
def test_the_line_is_where_p_passes_alpha(n, alpha):
    null = np.random.default_rng(n).normal(size=n)
    line = critical_value(null, alpha)
    assert line == naive.critical_value(null, alpha)
    for observed in [*null, line + 1e-6, line - 1e-6, 10.0, -10.0]:
        assert (naive.p_value(observed, null) <= alpha) == (observed > line)
        assert (p_values(np.array([observed]), null)[0] <= alpha) == (observed > line)


@given(seeds, draws, st.sampled_from([0.01, 0.05, 0.1, 0.25, 0.5, 0.99]))
def test_null_line(seed, n, alpha):
    null = null_of(seed, n)
    if 1 / (1 + n) <= alpha:
        assert critical_value(null, alpha) == naive.critical_value(null, alpha)


def test_two_hundred_draws_allow_nine():
    """(1 + 9) / 201 <= 0.05 < (1 + 10) / 201: the line is the tenth largest."""
    assert critical_value(np.arange(200.0), 0.05) == 190
    assert naive.critical_value(range(200), 0.05) == 190


def test_naive_line_without_enough_draws():
    assert naive.critical_value([0.0] * 18, 0.05) == np.inf
    assert naive.critical_value([0.0] * 19, 0.05) == 0.0


@given(seeds, st.integers(1, 6), draws)
def test_statistics(seed, n_features, n):
    values = np.random.default_rng(seed).normal(size=(n_features, n))
    np.testing.assert_array_equal(maximum_statistic(values), naive.maximum_statistic(values))
    np.testing.assert_array_equal(minimum_statistic(values), naive.minimum_statistic(values))


@pytest.mark.parametrize(("alpha", "needed"), [(0.05, 19), (0.01, 99), (0.1, 9), (0.001, 999)])
def test_resolution(alpha, needed):
    check_resolution(alpha, needed)
    with pytest.raises(ValueError, match=f"n_permutations={needed} or more"):
        check_resolution(alpha, needed - 1)


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99, 0.8])
def test_what_the_message_asks_for_is_enough(level):
    """1 - 0.9 is a little less than 0.1; the advice must hold all the same."""
    needed = round(1 / (1 - level)) - 1
    check_resolution(1 - level, needed)
