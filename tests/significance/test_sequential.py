"""Betting against the null hypothesis is a fair game that may be stopped at any time."""

from __future__ import annotations

import warnings
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import naive
from pidselect import PIDSelector
from pidselect.selection.scoring import ConditionalMI
from pidselect.significance.sequential import (
    BET_SHARE,
    MAX_PERMUTATIONS,
    MIN_WEALTH,
    betting_critical_value,
    betting_p_values,
    decision,
    max_permutations,
    wealth,
)

alphas = st.sampled_from([0.01, 0.025, 0.05, 0.1, 0.2])
nulls = st.lists(st.integers(0, 9), min_size=1, max_size=80).map(lambda v: np.array(v, float))
some_alphas = pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])


def twin(reached: np.ndarray, alpha: float) -> list[float]:
    """P(Bin(t + 1, c) > L) / c after each permutation, from the binomial distribution."""
    bet = BET_SHARE * alpha
    so_far = [sum(reached[:t]) for t in range(1, len(reached) + 1)]
    return [binom.sf(L, t + 1, bet) / bet for t, L in enumerate(so_far, start=1)]


# The game.


@given(st.lists(st.booleans(), min_size=1, max_size=60), alphas)
def test_wealth_equals_the_twin(reached, alpha):
    found = wealth(np.array(reached), alpha)
    np.testing.assert_allclose(found, twin(np.array(reached), alpha), rtol=1e-9, atol=1e-15)


@some_alphas
@pytest.mark.parametrize("n_permutations", [1, 2, 3, 4, 5])
def test_fair_over_all_orders(n_permutations, alpha):
    """Every order of the observed and its surrogate values is equally likely: on average, W = 1."""
    orders = np.array(list(permutations(range(n_permutations + 1))))
    games = wealth(orders[:, 1:] >= orders[:, :1], alpha)
    np.testing.assert_allclose(games.mean(axis=0), 1.0, rtol=1e-12)


def test_ties_favour_the_null():
    """Equal values count as reached, so that with few levels the game is at best fair."""
    values = np.array(list(product(range(3), repeat=5)))
    games = wealth(values[:, 1:] >= values[:, :1], 0.1)
    assert (games.mean(axis=0) < 1).all()


@pytest.mark.parametrize("alpha", [0.01, 0.025, 0.05, 0.1, 0.25])
def test_false_positive_rate_is_at_most_alpha(alpha):
    """Exact, over all counts that are not yet decided, for the largest number of permutations."""
    undecided, won = np.ones(1), 0.0
    for t in range(1, MAX_PERMUTATIONS + 1):
        p = (np.arange(t) + 1) / (t + 1)
        undecided = np.append(undecided * (1 - p), 0) + np.append(0, undecided * p)
        has_won = binom.sf(np.arange(t + 1), t + 1, BET_SHARE * alpha) / BET_SHARE >= 1
        won += undecided[has_won].sum()
        undecided[has_won] = 0
    assert 0.6 * alpha < won <= alpha


# p-values.


@given(st.floats(-1, 10), nulls, alphas)
def test_p_values_never_increase(observed, null, alpha):
    found = [
        betting_p_values(np.array([observed]), null[:t], alpha)[0] for t in range(len(null) + 1)
    ]
    assert found[0] == 1
    assert (np.diff(found) <= 0).all()


def test_rounding_decides_nothing():
    null = np.tile([0.3, 0.1], 30)
    found = betting_p_values(np.array([0.1 + 0.2, 0.3, 0.3 - 1e-12]), null, 0.05)
    assert {*found} == {*betting_p_values(np.array([0.2]), null, 0.05)}


# Decisions and critical values.


@given(st.floats(-1, 10), nulls, alphas)
def test_decision_agrees_with_the_p_value(observed, null, alpha):
    p = betting_p_values(np.array([observed]), null, alpha)[0]
    said = decision(observed, null, alpha)
    assert (said == "significant") == (p <= alpha)
    if said == "open":
        assert wealth(null >= observed - naive.SLACK, alpha)[-1] >= MIN_WEALTH


@given(nulls, alphas)
def test_above_the_critical_value_all_are_significant(null, alpha):
    critical = betting_critical_value(null, alpha)
    above = (np.inf,) if critical is None else (critical + 1e-6, critical + 0.5, np.inf)
    for value in above:
        significant = wealth(null >= value, alpha)[-1] >= 1 / alpha
        assert significant == (critical is not None)
        if significant:
            assert decision(value, null, alpha) == "significant"


@pytest.mark.parametrize(("alpha", "needed"), [(0.2, 9), (0.1, 19), (0.05, 39), (0.025, 79)])
def test_a_clear_case_needs_few_permutations(alpha, needed):
    assert decision(1.0, np.zeros(needed - 1), alpha) == "open"
    assert betting_critical_value(np.zeros(needed - 1), alpha) is None
    assert decision(1.0, np.zeros(needed), alpha) == "significant"
    assert decision(1.0, np.append(np.zeros(needed), np.ones(20)), alpha) == "significant"  # still
    assert betting_critical_value(np.zeros(needed), alpha) == 0
    assert decision(0.0, np.zeros(1), alpha) == ("open" if alpha > 0.05 else "not significant")
    assert decision(0.0, np.zeros(2), alpha) == "not significant"


def test_without_permutations_the_decision_is_open():
    assert decision(1.0, np.empty(0), 0.05) == "open"
    assert betting_critical_value(np.empty(0), 0.05) is None
    np.testing.assert_array_equal(betting_p_values(np.ones(2), np.empty(0), 0.05), [1, 1])


def test_maximum_number_of_permutations():
    """One in 24 surrogates reaches the value: just below alpha, which the bet does not decide."""
    null = (np.arange(MAX_PERMUTATIONS) % 24 == 12).astype(float)
    said = {t: decision(1.0, null[:t], 0.05) for t in (100, MAX_PERMUTATIONS - 1, MAX_PERMUTATIONS)}
    assert said == {100: "open", MAX_PERMUTATIONS - 1: "open", MAX_PERMUTATIONS: "not significant"}


@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.025, 0.01, 0.001, 1e-4])
def test_the_maximum_number_is_enough_for_any_level(alpha):
    """A value that no surrogate reaches is significant long before, for any alpha."""
    game = wealth(np.zeros(max_permutations(alpha), dtype=bool), alpha)
    needed = int(np.argmax(game >= 1 / alpha)) + 1
    assert 1 < needed < max_permutations(alpha) / 2
    assert max_permutations(alpha) == max(MAX_PERMUTATIONS, round(10 / alpha))
    assert decision(1.0, np.zeros(needed), alpha) == "significant"


def test_maximum_number_of_permutations_of_a_small_alpha():
    null = (np.arange(10_000) % 1100 == 1000).astype(float)
    said = {t: decision(1.0, null[:t], 0.001) for t in (MAX_PERMUTATIONS, 9_999, 10_000)}
    assert said == {MAX_PERMUTATIONS: "open", 9_999: "open", 10_000: "not significant"}


# Selections with sequential tests.


def clear(n=100, seed=0):
    """y = x0 + x1 + noise; x2 and x3 are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=n)


def nothing(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 4)), rng.normal(size=n)


def fit(X, y, n_permutations="auto", **settings):
    selector = PIDSelector(n_permutations=n_permutations, random_state=0, **settings)
    return selector.fit(X, y).selection_


estimators = pytest.mark.parametrize("estimator", ["gaussian", "copula"])


@estimators
def test_a_clear_feature_is_found_at_a_strict_level(estimator):
    X, y = clear()
    record = fit(X[:, [0, 2]], y, estimator=estimator, alpha=0.001, surrogates="global")
    assert record.features == ("x0",)
    assert record.steps[0].p_value <= 0.001
    assert record.steps[0].n_permutations > MAX_PERMUTATIONS
    assert record.p_values["x0"] == pytest.approx(1 / 10_001)


@estimators
@pytest.mark.parametrize("backward", ["minimum", "maximum"])
def test_scores_and_critical_values_agree_with_decisions(estimator, backward):
    """In all phases, also where the game was won and then lost again."""
    steps = []
    for seed in range(12):
        X, y = nothing(seed=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            record = fit(
                X, y + 0.4 * X[:, 0] + 0.4 * X[:, 1], estimator=estimator, backward=backward
            )
        steps += record.steps
    for step in steps:
        assert step.accepted == (step.p_value <= step.alpha)
        assert step.critical_value is None or step.accepted == (step.score > step.critical_value)
    assert {step.critical_value is None for step in steps} == {True, False}
    assert {step.accepted for step in steps} == {True, False}


@estimators
def test_n_permutations_counts_those_of_the_test(estimator, monkeypatch):
    asked = []
    score = ConditionalMI.score

    def noted(self, numbers):
        asked.append(numbers)
        return score(self, numbers)

    monkeypatch.setattr(ConditionalMI, "score", noted)
    record = fit(*clear(), estimator=estimator, backward=None, max_features=1)
    assert asked[0].start == 0
    first = asked[: next((i for i, d in enumerate(asked[1:], 1) if d.start == 0), len(asked))]
    assert [number for numbers in first for number in numbers] == list(range(first[-1].stop))
    assert record.steps[0].n_permutations == first[-1].stop - 1


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2])
def test_the_critical_value_is_the_smallest_below_significant_values(alpha):
    """Several of 200 null values may reach a value that is significant."""
    null = np.random.default_rng(0).permutation(np.arange(200.0))
    exceeded = [v for v in null if wealth(null >= v + 0.5, alpha)[-1] >= 1 / alpha]
    assert len(exceeded) > 2
    assert betting_critical_value(null, alpha) == min(exceeded)
