"""The test of the strongest tuple: permutations repeat the scan, and respect groups and S."""

from __future__ import annotations

import numpy as np
import pytest
from systems import bits, context_for, features_of, parity

import naive
import naive_interactions
import naive_selection
from pidselect.estimators import Copula, Mixed
from pidselect.selection import interaction_test
from pidselect.selection.context import NamedEstimator
from pidselect.selection.interaction_test import InteractionTestResult, run_interaction_test
from pidselect.significance.rng import LOOKAHEAD
from pidselect.significance.sequential import decision

SETTINGS = {"alpha": 0.05, "n_permutations": 99}

BY_DISTANCES = NamedEstimator("mixed", Mixed())

BY_RANKS = NamedEstimator("copula", Copula())


def scan_step(context, X, given=(), feature_type="ordinal", order=2):
    """Return the step of the scan of all columns of X given features."""
    candidates = features_of(X, feature_type)
    key = (LOOKAHEAD, len(given))
    result = run_interaction_test(context, given, candidates, key, "all" if order == 3 else "none")
    names = " & ".join(candidates[place].name for place in result.found)
    return result.to_step(context, names, tuple(feature.name for feature in given))


def wrong_parity(order, seed, share=0.25, n=120, n_columns=5):
    """Bits of which the first few make the parity, wrong in some samples: p-values of all sizes."""
    X, y = parity(order, n=n, seed=seed, n_columns=n_columns)
    return X, np.where(np.random.default_rng(seed).random(n) < share, 1 - y, y)


# --- against the twin ----------------------------------------------------------------------------


def twin(X, y, scheme, given, n_permutations, order):
    """Return the statistics of the data and of every permutation, and the tuples of the data."""
    columns = [column.tolist() for column in X.T]
    known = [] if given is None else given.T.tolist()
    tested = naive_interactions.families(columns, columns, range(X.shape[1]), 2, order == 3, known)
    n_given = len(known)
    rows = naive_selection.orders(scheme, given, (0, LOOKAHEAD, n_given), len(y), n_permutations)
    statistics, tuples = [], []
    for row in rows:
        moved = [
            family._replace(
                tuples=[(f, [[x[i] for i in row] for x in some]) for f, some in family.tuples]
            )
            for family in tested
        ]
        value, found = naive_interactions.statistic(moved, y.tolist())
        statistics.append(value)
        tuples.append(found)
    return statistics, tuples[0]


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("seed", [1, 4, 5])
@pytest.mark.parametrize("n_given", [0, 1])
def test_the_test_equals_the_twin(n_given, seed, order):
    X, y = wrong_parity(order, seed, n=80)
    context = context_for(y, surrogates=("global", "residual"), **SETTINGS)
    known, candidates = features_of(X[:, 5 - n_given :]), X[:, : 5 - n_given]
    step = scan_step(context, candidates, known[:n_given], order=order)
    given = X[:, 5 - n_given :] if n_given else None
    scheme = "local" if n_given else "global"  # within levels: exact
    (observed, *null), tuples = twin(candidates, y, scheme, given, step.n_permutations, order)
    assert step.score == pytest.approx(observed, abs=1e-5)
    assert step.p_value == naive.p_value(observed, np.array(null))
    assert {tuple(int(name[1:]) for name in step.chosen.split(" & "))} <= tuples
    if step.n_permutations == 99:
        expected = naive.critical_value(np.array(null), step.alpha)
        assert step.critical_value == pytest.approx(expected, abs=1e-5)
    else:
        assert step.critical_value is None
        assert not step.accepted


# --- the end of a test ---------------------------------------------------------------------------


@pytest.mark.parametrize("n_permutations", [99, None])
def test_batches_do_not_show(monkeypatch, n_permutations):
    """A test that ends early decides as all permutations do, and has their first."""
    seen = set()
    for seed in range(12):
        X, y = wrong_parity(2, seed, share=0.3)
        context = context_for(y, alpha=0.05, n_permutations=n_permutations)
        arguments = (context, (), features_of(X), (LOOKAHEAD, 0), "none")
        early = run_interaction_test(*arguments)
        with monkeypatch.context() as patched:
            patched.setattr(interaction_test, "FIRST_BATCH", 100)
            whole = run_interaction_test(*arguments)
        assert (early.found, early.observed, early.bits) == (
            whole.found,
            whole.observed,
            whole.bits,
        )
        n = len(early.null[0])
        np.testing.assert_array_equal(early.null[0], whole.null[0][:n])
        steps = [one.to_step(context, "pair", ()) for one in (early, whole)]
        assert steps[0].accepted == steps[1].accepted
        seen.add((n == len(whole.null[0]), steps[0].accepted))
    assert {accepted for _, accepted in seen} == {False, True}
    assert (False, False) in seen


def test_a_sequential_test_ends_once_it_is_decided():
    for seed in range(8):
        X, y = wrong_parity(2, seed, share=0.3)
        context = context_for(y, alpha=0.05, n_permutations=None)
        result = run_interaction_test(context, (), features_of(X), (LOOKAHEAD, 0), "none")
        (null,) = result.null
        assert decision(result.observed, null, 0.05) != "open"
        assert len(null) <= 1000
        halves = null[: (len(null) + 1) // 2 - 1]
        assert len(null) == 15 or decision(result.observed, halves, 0.05) == "open"
        step = result.to_step(context, "pair", ())
        assert step.accepted == (decision(result.observed, null, 0.05) == "significant")
        assert (step.critical_value is not None) >= step.accepted


def test_a_scheme_that_does_not_reject_ends_the_test():
    """Given a continuous S, all schemes must reject: there is no third after the second."""
    rng = np.random.default_rng(0)
    X, s = rng.normal(size=(100, 4)), features_of(rng.normal(size=(100, 1)), "continuous")
    y = rng.normal(size=100)
    schemes = ("global", "local")
    context = context_for(y, BY_RANKS, feature_type="continuous", surrogates=schemes, **SETTINGS)
    arguments = (features_of(X, "continuous"), (LOOKAHEAD, 1), "none")
    assert len(run_interaction_test(context, s, *arguments).null) == 1
    sign = np.sign(X[:, 0] * X[:, 1])
    strong = context_for(sign, BY_DISTANCES, surrogates=schemes, **SETTINGS)
    result = run_interaction_test(strong, s, *arguments)
    assert result.schemes == schemes
    assert [len(null) for null in result.null] == [99, 99]


def test_the_scheme_with_the_larger_p_value_decides():
    null = np.zeros(99), np.repeat([0.0, 3.0], [89, 10])
    context = context_for(np.zeros(4), n_permutations=99, alpha=0.05)
    for place, schemes in enumerate([("local", "global"), ("global", "local")]):
        nulls = null if place else null[::-1]
        step = InteractionTestResult((0, 1), 0.5, 2.0, schemes, nulls).to_step(context, "pair", ())
        assert (step.p_value, step.surrogates, step.accepted) == (0.11, "local", False)


# --- groups of rows, and time --------------------------------------------------------------------


def count_rejected(contexts):
    return sum(scan_step(context, X).accepted for context, X in contexts)


def test_traits_of_groups_are_tested_by_whole_groups():
    """24 persons of 10 rows: columns and target are theirs but for a few rows, and unrelated."""

    def traits(seed, surrogates, grouped):
        rng = np.random.default_rng(seed)
        who = np.repeat(np.arange(24), 10)
        values = rng.integers(0, 2, (24, 7))[who] ^ (rng.random((240, 7)) < 0.05)
        groups = who if grouped else None
        return context_for(values[:, 0], surrogates=surrogates, groups=groups, **SETTINGS), values[
            :, 1:
        ]

    assert count_rejected(traits(seed, ("global",), False) for seed in range(20)) > 10
    assert count_rejected(traits(seed, ("blocks",), True) for seed in range(20)) <= 3


def test_what_differs_between_groups_is_not_significant_within_them():
    """x0 xor x1 and y have the same level in a group, and are unrelated otherwise."""

    def persons(seed, grouped):
        rng = np.random.default_rng(seed)
        who = np.repeat(np.arange(20), 15)
        level = rng.integers(0, 2, 20)[who]
        X = rng.integers(0, 2, (300, 5))
        X[:, 1] = X[:, 0] ^ level ^ (rng.random(300) < 0.2)
        y = level ^ (rng.random(300) < 0.2)
        return context_for(
            y, surrogates=("global",), groups=who if grouped else None, **SETTINGS
        ), X

    assert count_rejected(persons(seed, grouped=False) for seed in range(20)) == 20
    assert count_rejected(persons(seed, grouped=True) for seed in range(20)) <= 3


def test_slow_series_are_tested_by_shifts():
    """States that last for long: neighbouring rows are not independent samples."""

    def series(seed, surrogates):
        rng = np.random.default_rng(seed)
        states = np.cumsum(rng.random((600, 6)) < 0.03, axis=0) % 2
        return context_for(states[:, 0], surrogates=surrogates, **SETTINGS), states[:, 1:]

    assert count_rejected(series(seed, ("global",)) for seed in range(20)) > 10
    assert count_rejected(series(seed, ("shift",)) for seed in range(20)) <= 4


@pytest.mark.parametrize("scheme", ["global", "local", "shift", "blocks"])
def test_every_scheme_finds_a_pair(scheme):
    X, y = parity(2, n=240)
    groups = np.repeat(np.arange(24), 10) if scheme == "blocks" else None
    context = context_for(y, surrogates=(scheme,), groups=groups, **SETTINGS)
    step = scan_step(context, X)
    assert step.chosen == "x0 & x1"
    assert step.accepted


# --- given S -------------------------------------------------------------------------------------


def test_numbers_are_ranked_within_levels_of_a_discrete_s():
    """y is larger and varies more in some levels of S, on which the candidates depend."""

    def system(seed, strength=0.0):
        rng = np.random.default_rng(seed)
        s = rng.integers(0, 4, 240)
        X = rng.integers(0, 2, (240, 5)) | (rng.random((240, 5)) < s[:, np.newaxis] / 6)
        y = 30 * s + (1 + s) * (rng.normal(size=240) + strength * (X[:, 0] ^ X[:, 1]))
        schemes = ("global", "residual")
        context = context_for(
            y, BY_DISTANCES, feature_type="continuous", surrogates=schemes, **SETTINGS
        )
        known = features_of(s[:, np.newaxis])
        return scan_step(context, X, known)

    assert sum(system(seed).accepted for seed in range(40)) <= 5
    for seed in range(5):
        step = system(seed, strength=1.5)
        assert step.accepted
        assert step.chosen == "x0 & x1"


def test_a_continuous_s_on_which_the_spread_of_y_depends():
    """Candidates and target follow S, and y varies more where S is large."""

    def system(seed, strength=0.0):
        rng = np.random.default_rng(seed)
        s = rng.normal(size=200)
        X = s[:, np.newaxis] + rng.normal(size=(200, 5))
        noise = rng.normal(size=200) + strength * np.sign((X[:, 0] - s) * (X[:, 1] - s))
        y = s + (0.5 + np.abs(s)) * noise
        schemes = ("global", "residual")
        context = context_for(
            y, BY_RANKS, feature_type="continuous", surrogates=schemes, **SETTINGS
        )
        known = features_of(s[:, np.newaxis], "continuous")
        return scan_step(context, X, known, "continuous")

    assert sum(system(seed).accepted for seed in range(40)) <= 5
    for seed in range(3):
        step = system(seed, strength=1.5)
        assert step.accepted
        assert step.chosen == "x0 & x1"


def test_noise_is_rejected_at_the_level():
    """Of 100 data sets without any pair, about five at 0.05."""
    n_accepted = 0
    for seed in range(100):
        X = bits(60, seed, 6)
        context = context_for(bits(60, 1000 + seed, 1)[:, 0], seed=seed, **SETTINGS)
        n_accepted += scan_step(context, X, order=3).accepted
    assert 1 <= n_accepted <= 11
