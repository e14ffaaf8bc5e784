"""Portfolios: of several estimators the one with the most significant value counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from systems import chosen, noise, quick

import naive_selection
from pidselect import mutual_information
from pidselect.estimators import KSG, Copula
from pidselect.significance import FORWARD
from pidselect.significance.standardize import PILOT_PERMUTATIONS

BOTH = ("ksg-rank", "copula")


def sums(n=60, seed=0):
    """y = x0 + x1 + noise; x2 is a noisy copy of x0, x3 is noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 2] = X[:, 0] + 0.3 * X[:, 2]
    return X, X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n)


def labels(seed, n=900):
    """x0 is noise of 300 levels; x1 is a bit that equals y in two thirds of the rows."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 300, n), rng.integers(0, 2, n)])
    return X, np.where(rng.random(n) < 2 / 3, X[:, 1], 1 - X[:, 1])


def hump(seed, n=120):
    """y is large at both ends of x1; x0 and x2 are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 1] ** 2 + 0.2 * rng.normal(size=n)


def slope(seed, n=120):
    """y grows a little with x1; x0 and x2 are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, 0.45 * X[:, 1] + rng.normal(size=n)


# --- against the twin ----------------------------------------------------------------------------


def twin_step(X, y, known, shared, n_step, rules):
    """Repeat one forward step, given the columns known."""
    given = X[:, known] if known else None
    contests = {}
    for scheme in ("global", "local") if known else ("global",):
        asked = {}
        for column in [c for c in range(X.shape[1]) if c not in known]:
            stream_key = (0, FORWARD, n_step) if shared else (0, FORWARD, n_step, column)
            m = rules.n_pilot + rules.n_draws
            rows = naive_selection.orders(scheme, given, stream_key, len(X), m)
            asked[f"x{column}"] = naive_selection.Asked(X[:, column], given, rows)
        contests[scheme] = naive_selection.contest(asked, y, rules)
    return naive_selection.judge(contests, rules)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("estimator", [BOTH, ("copula",), "gaussian"], ids=str)
def test_forward_steps_equal_the_twin(estimator, shared):
    X, y = sums()
    schemes = ("global", "local")
    selector = quick(estimator=estimator, surrogates=schemes, shared_permutations=shared).fit(X, y)
    portfolio = isinstance(estimator, tuple)
    rules = naive_selection.Rules(
        estimator if portfolio else (estimator,), 39, PILOT_PERMUTATIONS if portfolio else 0
    )
    # Ranks and neighbours of a portfolio show what "auto" has, else it is the first estimator.
    general = "auto" if estimator == BOTH else rules.estimators[0]
    for number, step in enumerate(selector.selection_.steps[:3]):
        known = [int(name[1:]) for name in step.conditioning_set]
        twin = twin_step(X, y, known, shared, number, rules)
        assert step.chosen == twin.chosen
        assert step.surrogates == twin.deciding
        assert step.p_values == tuple(twin.p_values.values())
        assert step.p_value == twin.p_values[twin.chosen]
        assert step.estimators == tuple(twin.estimators.values())
        np.testing.assert_allclose(step.scores, list(twin.scores.values()), atol=1e-8)
        shown = [
            mutual_information(
                X[:, int(name[1:])], y, X[:, known] if known else None, estimator=general
            )
            for name in step.candidates
        ]
        np.testing.assert_allclose(step.values, np.maximum(shown, 0.0), atol=1e-10)
        assert step.critical_value == pytest.approx(twin.critical_value, abs=1e-8)
        assert step.accepted == (step.p_value <= 0.05)
        assert step.n_permutations == 39
        assert step.unit == ("sd" if portfolio else "bit")
    assert {step.surrogates for step in selector.selection_.steps[:1]} == {"global"}


@pytest.mark.parametrize("system", [sums, noise])
def test_the_order_of_estimators_does_not_matter(system):
    """Only the bits shown are those of the first."""
    found = []
    for estimator in (BOTH, BOTH[::-1]):
        selector = quick(estimator=estimator, backward=None)
        if system is noise:
            with pytest.warns(UserWarning, match="No feature"):
                selector.fit(*noise(60))
        else:
            selector.fit(*system())
        found.append(selector.selection_)
    for one, two in zip(found[0].steps, found[1].steps, strict=True):
        assert one == replace(two, values=one.values)
        assert one.values != two.values
    assert found[0].p_values == found[1].p_values


# --- unlike columns ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_a_label_of_many_levels_does_not_block_a_good_bit(seed):
    X, y = labels(seed)
    feature_types = {"x0": "nominal"}
    selector = quick(estimator=("discrete",), feature_types=feature_types).fit(X, y)
    assert chosen(selector) == ["x1"]
    step = selector.selection_.steps[0]
    assert step.values[0] > step.values[1]  # bias
    assert step.scores[0] < 4 < step.scores[1]
    assert (step.chosen, step.estimator, step.unit) == ("x1", "discrete", "sd")
    with pytest.warns(UserWarning, match="'x0'"):
        quick(estimator="discrete", feature_types=feature_types).fit(X, y)


@pytest.mark.parametrize("seed", range(3))
def test_both_are_found_beside_each_other(seed):
    """An informative column of many levels is not penalised for them."""
    X, y = labels(seed)
    informative = 10 * y + np.random.default_rng(seed).integers(0, 10, len(y))
    wide = np.where(np.random.default_rng(seed).random(len(y)) < 0.8, informative, X[:, 0] % 20)
    selector = quick(estimator=("discrete",), feature_types={"x0": "nominal"})
    selector.fit(np.column_stack([wide, X[:, 1]]), y)
    assert chosen(selector) == ["x0", "x1"]


# --- complementary estimators --------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_a_hump_is_found_by_neighbours(seed):
    X, y = hump(seed)
    selector = quick(estimator=BOTH).fit(X, y)
    assert chosen(selector) == ["x1"]
    assert selector.selection_.inclusion_step("x1").estimator == "ksg-rank"
    assert selector.selection_.inclusion_step("x1").value > 0.3
    alone = quick(estimator="copula")
    with pytest.warns(UserWarning, match="No feature"):
        alone.fit(X, y)


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_a_weak_slope_is_found_by_the_copula(seed):
    X, y = slope(seed)
    selector = quick(estimator=BOTH).fit(X, y)
    assert chosen(selector) == ["x1"]
    entry = selector.selection_.inclusion_step("x1")
    assert entry.estimator == "copula"
    assert 0 < entry.value < 0.3 < 3 < entry.score
    assert "sd by copula" in str(entry)
    alone = quick(estimator="ksg-rank")
    with pytest.warns(UserWarning, match="No feature"):
        alone.fit(X, y)


def test_the_record_names_the_estimators():
    X, y = sums()
    selector = quick(estimator=("copula", KSG(k=3))).fit(X, y)
    assert selector.selection_.settings.estimator == {"copula": "Copula()", "KSG": "KSG(k=3)"}
    assert selector.selection_.settings.n_pilot == PILOT_PERMUTATIONS
    assert [type(one) for one in selector.estimator_] == [Copula, KSG]
    named = {name for step in selector.selection_.steps for name in step.estimators}
    assert named <= {"copula", "KSG"}
    frame = quick(estimator=BOTH).fit(X, y).selection_.to_dict()
    assert frame["steps"][0]["unit"] == "sd"


def test_one_estimator_in_a_tuple_is_standardised_and_alone_is_not():
    X, y = sums()
    alone, listed = (quick(estimator=e).fit(X, y).selection_ for e in ("copula", ("copula",)))
    assert alone.steps[0].unit == "bit"
    assert alone.steps[0].scores == alone.steps[0].values
    assert listed.steps[0].unit == "sd"
    assert listed.steps[0].values == alone.steps[0].values
    assert alone.settings.n_pilot == 0
