"""Final p-values of selected features given all others, by the step-down maximum statistic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from systems import chosen, gates, numbers, quick

import naive_selection
from pidselect.data import read_block
from pidselect.estimators.regression import residuals
from pidselect.selection.step_test import final_p_values
from pidselect.significance.rng import BACKWARD, FINAL

seeds = st.integers(0, 2**32 - 1)


def sums(n=60, seed=0):
    """y is x0 to x3, each weaker than the one before, and noise; x4 is noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, X[:, :4] @ [1.4, 1.0, 0.7, 0.5] + 0.4 * rng.normal(size=n)


def contests_of(observed, surrogates):
    return {
        test: {
            f"x{j}": naive_selection.Scored(observed[test, j], list(values))
            for j, values in enumerate(surrogates[test])
        }
        for test in range(len(observed))
    }


def strongest_first(observed):
    return [f"x{j}" for j in np.argsort(-observed.min(axis=0), kind="stable")]


@given(seeds, st.integers(1, 3), st.integers(1, 6), st.integers(1, 40))
@settings(max_examples=60)
def test_step_down_equals_the_twin(seed, n_tests, n_features, n_draws):
    rng = np.random.default_rng(seed)
    surrogates = rng.normal(size=(n_tests, n_features, n_draws)).round(1)  # with ties
    observed = rng.normal(1, 1, size=(n_tests, n_features)).round(1)
    found = final_p_values(observed, surrogates)
    order = strongest_first(observed)
    expected = naive_selection.step_down(contests_of(observed, surrogates), order)
    assert found == tuple(expected[f"x{j}"] for j in range(n_features))


def test_the_error_over_all_features_is_at_most_alpha():
    """With correlated surrogates, too: 400 uninformative sets, within 3 standard errors."""
    rng = np.random.default_rng(0)
    rejected = 0
    for _ in range(400):
        values = rng.normal(size=(1, 3, 40)) + rng.normal(size=(1, 1, 40))
        rejected += min(final_p_values(values[..., 0], values[..., 1:])) <= 0.1
    assert rejected <= 400 * 0.1 + 3 * np.sqrt(400 * 0.09)


@pytest.mark.parametrize("schemes", [("global", "local"), ("global", "residual")], ids=str)
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("backward", ["minimum", "maximum", None])
@pytest.mark.parametrize("estimator", ["gaussian", "copula"])
def test_the_selector_equals_the_twin(estimator, backward, shared, schemes):
    X, y = sums()
    selector = quick(
        estimator=estimator, backward=backward, shared_permutations=shared, surrogates=schemes
    )
    selector.fit(X, y)
    record = selector.selection_
    assert sorted(chosen(selector)) == ["x0", "x1", "x2", "x3"]
    phases = ["forward"] * 5 + ["backward"] * (backward is not None)
    assert [step.phase for step in record.steps] == phases
    rules = naive_selection.Rules(estimator, 39)
    contests = {}
    for scheme in schemes:
        asked = {}
        for column in range(4):
            others = X[:, [c for c in range(4) if c != column]]
            stream_key = (0, FINAL if backward is None else BACKWARD, 0)
            stream_key = stream_key if shared else (*stream_key, column)
            rows = naive_selection.orders(scheme, others, stream_key, len(X), rules.n_draws)
            tested = X[:, column], y
            if "residual" in schemes:
                found = residuals(
                    read_block(others, "s"), read_block(np.stack(tested, 1), "xy").columns
                )
                tested = (residual.column.values for residual in found)
            x, left = tested
            asked[f"x{column}"] = naive_selection.Asked(x, others, rows, left)
        contests[scheme] = naive_selection.contest(asked, y, rules)
    weakest = {f"x{j}": min(c[f"x{j}"].observed for c in contests.values()) for j in range(4)}
    order = sorted(weakest, key=lambda name: -weakest[name])
    assert record.p_values == naive_selection.step_down(contests, order)
    if backward is not None:
        last = record.steps[-1]
        expected = [contests[last.surrogates][name].observed for name in last.candidates]
        np.testing.assert_allclose(last.scores, expected, atol=1e-8)


@pytest.mark.parametrize("settings", [{}, {"estimator": "mixed"}], ids=str)
@pytest.mark.parametrize("n_permutations", [199, "auto"])
@pytest.mark.parametrize("backward", ["minimum", "maximum", None])
@pytest.mark.parametrize("system", [gates, numbers])
def test_every_selected_feature_has_one(system, backward, n_permutations, settings):
    settings = {"lookahead": 1, "backward": backward, **settings}
    selector = quick(**settings, n_permutations=n_permutations).fit(*system())
    record = selector.selection_
    assert len(record.features) > 1
    assert tuple(record.p_values) == record.features
    assert all(0 < p <= 1 for p in record.p_values.values())
    assert "final p" in str(record)
    assert record.to_dict()["p_values"] == dict(record.p_values)


def looks(n=300, seed=0):
    """y is x0 and a random bit; x1 is x0 rounded, so that it adds nothing; x2 is random."""
    rng = np.random.default_rng(seed)
    fine, coins = rng.integers(0, 4, n), rng.integers(0, 2, (2, n))
    return np.column_stack([fine, fine // 2, coins[0]]), fine + coins[1]


@pytest.mark.parametrize("estimator", ["discrete", "auto"])
def test_sequential_tests_have_enough_permutations_for_the_strongest(estimator):
    """Permutations that suffice for the weakest are too few for the strongest."""
    selector = quick("mi", estimator, backward=None, n_permutations="auto").fit(*looks())
    final = selector.selection_.p_values
    assert sorted(final) == ["x0", "x1"]
    assert final["x0"] <= 0.05 < final["x1"]


@pytest.mark.parametrize("backward", ["minimum", "maximum", None])
@pytest.mark.parametrize("system", [looks, numbers])
def test_sequential_tests_have_those_of_a_fixed_number(system, backward):
    settings = {"alpha": 0.1, "estimator": "copula", "criterion": "mi"}
    X, y = system()
    early = quick(**settings, backward=backward, n_permutations="auto").fit(X, y).selection_
    assert len(early.features) == 2 - (system is looks and backward == "maximum")
    full = quick(**settings, backward=None, n_permutations=100, max_features=len(early.features))
    full.fit(X[:, [0, 1]], y)
    assert dict(early.p_values) == dict(full.selection_.p_values)


def test_one_feature_has_the_p_value_of_its_own_test():
    X, y = numbers()
    record = quick(estimator="gaussian", backward="maximum", max_features=1).fit(X, y).selection_
    assert list(record.p_values.values()) == [record.steps[-1].p_value]


def test_fixed_features_have_none():
    X, y = numbers()
    record = quick(fixed_features=[0]).fit(X, y).selection_
    assert record.fixed_features == ("x0",)
    assert list(record.p_values) == ["x1"]
