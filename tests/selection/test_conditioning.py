"""With max_conditioning, a candidate must be significant given every subset of that size."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
import pytest
from systems import chosen, context_for, features_of, gates, numbers, quick

import naive_selection
from pidselect.estimators import Gaussian
from pidselect.selection.context import NamedEstimator
from pidselect.selection.criteria import Conditional
from pidselect.significance.rng import FORWARD


def sums(n=80, seed=0):
    """y is the sum of x0 to x2 and noise; x3 is a noisy copy of x0, x4 is noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 3] = X[:, 0] + 0.4 * X[:, 3]
    return X, X[:, 0] + 0.9 * X[:, 1] + 0.8 * X[:, 2] + 0.5 * rng.normal(size=n)


def key(n=600, seed=0):
    """y is x0, or x1, or the parity of x0, x1 and x2: x2 is informative given both, not one."""
    rng = np.random.default_rng(seed)
    X, which = rng.integers(0, 2, (n, 4)), rng.integers(0, 3, n)
    return X, np.choose(which, [X[:, 0], X[:, 1], X[:, :3].sum(axis=1) % 2])


def twin_step(X, y, known, most, rules, schemes):
    """Repeat one forward step given every subset of what is known, each a test of its own."""
    number = len(known)
    stream_key = (0, FORWARD, number)
    contests = {}
    for subset in combinations(known, min(most, number)):
        given = X[:, subset] if subset else None
        for scheme in schemes if subset else ("global",):
            rows = naive_selection.orders(scheme, given, stream_key, len(X), rules.n_draws)
            asked = {
                f"x{c}": naive_selection.Asked(X[:, c], given, rows)
                for c in range(X.shape[1])
                if c not in known
            }
            contests[scheme, subset] = naive_selection.contest(asked, y, rules)
    return naive_selection.judge(contests, rules), contests


@pytest.mark.parametrize(
    ("estimator", "schemes", "most"),
    [
        ("gaussian", ("global",), 1),
        ("gaussian", ("global",), 2),
        ("gaussian", ("global", "local"), 1),
        ("copula", ("global", "local"), 1),
    ],
    ids=str,
)
def test_the_largest_p_value_over_all_subsets_counts(estimator, schemes, most):
    X, y = sums()
    selector = quick(
        estimator=estimator, surrogates=schemes, max_conditioning=most, shared_permutations=True
    )
    steps = [s for s in selector.fit(X, y).selection_.steps if s.phase == "forward"]
    assert len(steps) == 4
    rules = naive_selection.Rules(estimator, 39)
    known = []
    for step in steps:
        twin, contests = twin_step(X, y, known, most, rules, schemes)
        known.append(int(step.chosen[1:]))
        assert step.chosen == twin.chosen
        scheme, subset = twin.deciding
        assert step.surrogates == scheme
        assert step.conditioning_set == tuple(f"x{column}" for column in subset)
        assert step.p_values == tuple(twin.p_values.values())
        np.testing.assert_allclose(step.scores, list(twin.scores.values()), atol=1e-8)
        smallest = [
            min(given[name].observed for given in contests.values()) for name in twin.scores
        ]
        np.testing.assert_allclose(step.values, np.maximum(smallest, 0.0), atol=1e-10)
        assert step.critical_value == pytest.approx(twin.critical_value, abs=1e-8)


def test_the_recorded_conditioning_set_is_the_subset_that_decided():
    """The noisy copy of x0 fails where x0 is given, be x1 and x2 selected as well."""
    X, y = sums(n=200)
    selector = quick(estimator="gaussian", max_conditioning=1, surrogates="global")
    record = selector.fit(X[:, :4], y).selection_
    last = [step for step in record.steps if step.phase == "forward"][-1]
    assert (last.candidates, last.accepted) == (("x3",), False)
    assert last.conditioning_set == ("x0",)
    back = record.steps[-1]
    assert (
        set(back.conditioning_set) == set(back.candidates) == {"x0", "x1", "x2"}
    )  # no limit there


def test_a_copy_of_one_selected_feature_is_not_taken():
    """As with CMIM: redundant with one selected feature is enough."""
    for seed in range(3):
        selector = quick(estimator="gaussian", max_conditioning=1).fit(*sums(seed=seed))
        assert sorted(chosen(selector)) == ["x0", "x1", "x2"]


@pytest.mark.parametrize("seed", range(3))
def test_a_synergy_of_three_needs_two_given(seed):
    X, y = key(seed=seed)
    limited = partial(quick, estimator="discrete", backward=None)
    found = {m: chosen(limited(max_conditioning=m).fit(X, y)) for m in (1, 2, None)}
    assert sorted(found[1]) == ["x0", "x1"]
    assert sorted(found[2]) == sorted(found[None]) == ["x0", "x1", "x2"]


@pytest.mark.parametrize(("system", "estimator"), [(gates, "discrete"), (numbers, "copula")])
@pytest.mark.parametrize("shared", [True, False])
def test_a_limit_that_is_never_reached_is_none(system, estimator, shared):
    X, y = system()
    free = quick(estimator=estimator, shared_permutations=shared).fit(X, y).selection_
    for most in (len(free.features), len(free.features) + 1, 100):
        limited = quick(estimator=estimator, shared_permutations=shared, max_conditioning=most)
        limited.fit(X, y)
        assert limited.selection_.steps == free.steps
        assert limited.selection_.features == free.features
        assert limited.selection_.p_values == free.p_values
        assert limited.selection_.settings.max_conditioning == most


def test_fixed_features_are_always_given():
    """The limit is on selected ones: with x0 and x1 fixed, x2 is found with any limit."""
    X, y = key()
    settings = {"estimator": "discrete", "fixed_features": [0, 1], "backward": None}
    selector = quick(**settings, max_conditioning=1).fit(X, y)
    assert chosen(selector) == ["x2"]
    assert selector.selection_.inclusion_step("x2").conditioning_set == ("x0", "x1")


def test_subsets_are_beside_fixed_features_and_the_largest_r_squared_counts():
    """x and y follow s, and neither t nor the fixed feature."""
    rng = np.random.default_rng(0)
    fixed, t, s, *noise = rng.normal(size=(5, 150))
    x, y = s + 0.02 * np.array(noise)
    fixed, t, s, x = features_of(np.column_stack([fixed, t, s, x]), "continuous")
    gaussian = NamedEstimator("gaussian", Gaussian())
    context = context_for(y, gaussian, feature_type="continuous", surrogates=("residual",))
    for selected in ([s, t], [t, s]):
        key = (FORWARD, 2)
        scores = Conditional(1).candidate_scores(context, [x], [fixed], selected, key)
        sets = [scores.conditioning_set(test) for test in range(2)]
        assert sets == [("x0", feature.name) for feature in selected]
        assert scores.r_squared(0) > 0.99
