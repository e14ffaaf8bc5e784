"""Step tests: equal to the bit for any split of the work, and decided as defined."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recording_observer import Recorder
from systems import PAPER, gates, n_computed, numbers, quick, select, wide

from pidselect.data import Block, Column
from pidselect.estimators import KSG, Copula, Discrete
from pidselect.selection.backward import N_CONCURRENT, cmi_given_others
from pidselect.selection.context import NamedEstimator, SelectionContext
from pidselect.selection.executor import Executor
from pidselect.selection.pool import Feature
from pidselect.selection.progress import observing
from pidselect.selection.scoring import ConditionalMI, cmi_given
from pidselect.selection.step_test import PermutationTestResult, run_test
from pidselect.significance.permutation_test import first_largest, maximum_statistic
from pidselect.significance.rng import BACKWARD, FORWARD

SYSTEMS = {
    "paper": (numbers, PAPER),
    "discrete": (gates, {"estimator": "discrete"}),
    "ksg-rank": (numbers, {"estimator": "ksg-rank"}),
    "gaussian": (numbers, {"estimator": "gaussian"}),
    "copula": (numbers, {"estimator": "copula"}),
    "mixed": (numbers, {"estimator": "mixed"}),
    "defaults": (numbers, {}),
    "defaults, labels": (gates, {}),
    "defaults, feature groups": (numbers, {"feature_groups": [[0, 2]]}),
    "independent": (numbers, {"estimator": "copula", "shared_permutations": False}),
    "defaults, stricter": (numbers, {"backward": "maximum", "max_conditioning": 1}),
    "sequential": (numbers, {"n_permutations": "auto", "estimator": "ksg-rank"}),
    "sequential, labels": (
        gates,
        {"n_permutations": "auto", "estimator": "discrete", "backward": None},
    ),
    "wide": (wide, {"backward": None}),
}
BITS = Block((Column("y", "ordinal", np.arange(50.0) % 2),))
NUMBER = Column("x", "continuous", np.random.default_rng(0).random(50))
systems = pytest.mark.parametrize("name", SYSTEMS)


def record(system, settings, **more):
    return quick(**{**settings, **more}).fit(*system()).selection_


@cache
def plain_record(name):
    """Return the record of a system without anything unusual, made once for all tests."""
    return record(*SYSTEMS[name])


@systems
def test_two_threads(name):
    assert record(*SYSTEMS[name], n_jobs=2) == plain_record(name)


@systems
@pytest.mark.parametrize("task_size", [1, 2000])
def test_any_task_size(name, task_size):
    system, settings = SYSTEMS[name]
    expected = plain_record(name)
    features, steps, final = select(quick(**settings), *system(), task_size=task_size)
    assert tuple(feature.name for feature in features) == expected.features
    assert tuple(steps) == expected.steps
    assert final == expected.p_values


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("n_concurrent", [1, 2, 100])
def test_any_number_of_conditioning_sets_at_once(shared, n_concurrent):
    context, features = continuous_features(shared_permutations=shared)
    scores = cmi_given_others(context, [], features, (BACKWARD, 0))
    found, expected = (
        replace(scores, binding=replace(scores.binding, n_concurrent=n)).score(range(20))
        for n in (n_concurrent, len(features))
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n_parts", [1, 2, 7, 8, 100])
@pytest.mark.parametrize("numbers", [range(1), range(2), range(251), range(64, 80), range(3, 1000)])
def test_every_permutation_is_in_one_task(n_parts, numbers):
    for task_size in (1, 50 * 16, 2**22):
        job = SimpleNamespace(shape=(1, n_parts, 1), n_samples=50, is_divided=True)
        tasks = Executor(task_size=task_size).split(job, numbers)
        for place in range(n_parts):
            found = [number for places, some in tasks if places == [place] for number in some]
            assert found == list(numbers)


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_progress_under_any_backend(backend):
    """Task by task where the backend can hand over results one by one, else step by step."""
    X, y = gates()
    selector = quick(lookahead=1)
    expected = selector.fit(X, y).selection_
    recorder = Recorder()
    with joblib.parallel_config(backend=backend, n_jobs=2), observing(recorder):
        assert selector.fit(X, y).selection_ == expected
    assert tuple(recorder.all("step")) == expected.steps
    assert all(count <= stage.n_values for stage, count in recorder.stages)
    assert sum(recorder.all("progress")) == n_computed(expected)


# --- seeds ---------------------------------------------------------------------------------------


def test_other_seeds_give_other_permutations():
    for settings in ({}, PAPER):
        records = [record(numbers, settings, random_state=seed) for seed in range(6)]
        assert len({one.steps[0].critical_value for one in records}) == 6


@pytest.mark.parametrize("random_state", [None, 0])
@pytest.mark.parametrize("max_samples", [None, 60])
def test_global_states_are_left_alone(random_state, max_samples):
    random.seed(5)
    np.random.seed(5)  # noqa: NPY002
    legacy, plain = np.random.get_state(), random.getstate()  # noqa: NPY002
    record(numbers, {}, random_state=random_state, max_samples=max_samples, n_jobs=2)
    for before, after in zip(legacy, np.random.get_state(), strict=True):  # noqa: NPY002
        np.testing.assert_array_equal(after, before)
    assert random.getstate() == plain


def test_more_permutations_begin_with_the_same():
    """The first permutations do not depend on how many follow."""
    scores = about_numbers(shared_permutations=False)
    few, many = (scores.score(range(1 + n)) for n in (20, 45))
    assert many.shape == (2, 3, 1, 46)
    np.testing.assert_array_equal(many[..., :21], few)


@pytest.mark.parametrize("shared", [True, False])
def test_permutations_do_not_depend_on_batches_or_candidates(shared):
    scores = about_numbers(shared_permutations=shared)
    everything = scores.score(range(40))
    np.testing.assert_array_equal(scores.score(range(17, 33)), everything[..., 17:33])
    for place in range(3):
        alone = replace(scores, candidates=scores.candidates[place : place + 1])
        np.testing.assert_array_equal(alone.score(range(40))[:, 0], everything[:, place])


def about_numbers(**settings):
    """Return the scores of three columns given the fourth, by two schemes."""
    context, features = continuous_features(**settings)
    return cmi_given(context, features[1:], features[:1], (FORWARD, 0))


def continuous_features(seed=0, **settings):
    X, y = numbers(seed=seed)
    features = [
        Feature(f"x{place}", (place,), Block((Column(f"x{place}", "continuous", values),)))
        for place, values in enumerate(np.ascontiguousarray(X.T))
    ]
    target, schemes = Block((Column("y", "continuous", y),)), ("global", "local")
    context = SelectionContext(target, NamedEstimator("ksg", KSG()), surrogates=schemes, **settings)
    return context, features


# --- schemes one after the other -----------------------------------------------------------------


def test_the_schemes_that_apply_to_a_conditioning_set():
    """Within the levels of a discrete one permutations are exact: no other scheme is needed."""
    bit, number = (Feature("s", (0,), Block((column,))) for column in (BITS.columns[0], NUMBER))
    by_ranks, by_levels = (
        SelectionContext(BITS, NamedEstimator("one", one), surrogates=("global", "residual"))
        for one in (Copula(), Discrete())
    )
    assert by_ranks.schemes([]) == ("global",)
    assert by_ranks.schemes([bit]) == by_levels.schemes([bit]) == ("local",)
    assert by_ranks.schemes([bit, number]) == ("global", "residual")
    assert by_levels.schemes([number]) == ("global", "local")  # residuals have no levels


@pytest.mark.parametrize("n_permutations", [39, None])
def test_a_scheme_in_which_nothing_is_significant_ends_the_step(monkeypatch, n_permutations):
    """The decision is that of all schemes, whether or not they are computed."""
    computed, n_computed, score = set(), set(), ConditionalMI.score

    def note_schemes(self, permutations):
        computed.update(self.schemes)
        return score(self, permutations)

    for seed in range(12):
        context, features = continuous_features(seed, n_permutations=n_permutations)
        scores = cmi_given(context, features[1 + seed % 2 :], features[:1], (FORWARD, seed))
        every = run_test(scores, choose=lambda v: first_largest(v)).to_step("forward", ())
        computed.clear()
        with monkeypatch.context() as patch:
            patch.setattr(ConditionalMI, "score", note_schemes)
            step = run_test(scores).to_step("forward", ())
        assert step.accepted == every.accepted
        if step.accepted:
            assert step.chosen == every.chosen
        if len(computed) == 1:
            assert (step.surrogates, step.accepted) == ("global", False)
        elif n_permutations is not None:
            assert step == every
        n_computed.add(len(computed))
    assert n_computed == {1, 2}


def test_a_disputed_test_waits_for_the_other_scheme(monkeypatch):
    """A test that takes many permutations is not carried on if another scheme decides with few."""
    context, features = continuous_features(n_permutations=None)
    scores = cmi_given(context, features[1:], features[:1], (FORWARD, 0))
    computed = dict.fromkeys(scores.schemes, 0)

    def score(self, permutations):
        # Observed values are 1. By "global" one of 16 permutations reaches that, which is near
        # alpha and would take hundreds of them; by "local" all do.
        (scheme,) = self.schemes
        computed[scheme] += len(permutations)
        reaches = [scheme == "local" or number % 16 == 5 for number in permutations]
        values = np.where(reaches, 2.0, 0.0)
        values[[number == 0 for number in permutations]] = 1.0
        return np.broadcast_to(values, (1, len(self.candidates), 1, len(permutations)))

    monkeypatch.setattr(ConditionalMI, "score", score)
    step = run_test(scores).to_step("forward", ())
    assert (step.accepted, step.surrogates) == (False, "local")
    assert computed["global"] <= 32


# --- verdicts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2, 0.25, 1 - 0.9, 1 - 0.8, 1 - 0.7, 3 * 0.1])
def test_a_value_is_accepted_if_it_exceeds_the_critical_value(alpha):
    """Whatever rounding does to alpha: 1 - 0.8 is a little less than 0.2."""
    null = np.arange(19.0)
    for value in np.arange(-0.5, 19.5):
        step = judged(np.array([[value]]), null[np.newaxis, np.newaxis], alpha)
        assert step.accepted == (step.value > step.critical_value), (value, step)


def judged(observed, surrogates, alpha=0.05, early=False, step_down=()):
    """Return the step about the first candidate, tested by one scheme or by two."""
    schemes = ("global", "local")[: len(observed)]
    context = SelectionContext(
        BITS,
        NamedEstimator("discrete", Discrete()),
        alpha=alpha,
        n_permutations=None if early else surrogates.shape[-1],
        surrogates=schemes,
    )
    features = [Feature(f"x{place}", (place,), BITS) for place in range(observed.shape[1])]
    scores = replace(cmi_given(context, features, (), (FORWARD, 0)), schemes=schemes)
    found = PermutationTestResult(
        scores,
        0,
        observed,
        tuple(map(maximum_statistic, surrogates)),
        observed[0],
        step_down,
    )
    return found.to_step("forward", (), is_step_down=bool(step_down))


@pytest.mark.parametrize("values", [(20.0, 8.5), (8.5, 20.0)])
def test_of_several_tests_the_largest_p_value_decides(values):
    null = np.tile(np.arange(19.0), (2, 1, 1))
    step = judged(np.array(values)[:, np.newaxis], null)
    assert step.surrogates == ("global", "local")[values.index(8.5)]
    assert (step.score, step.p_value, step.accepted) == (8.5, 11 / 20, False)
    assert step.critical_value == 18.0


def test_of_equal_p_values_the_smaller_value_decides():
    null = np.stack([np.zeros((1, 19)), np.ones((1, 19))])
    step = judged(np.array([[3.0], [2.0]]), null)
    assert (step.score, step.critical_value, step.surrogates) == (2.0, 1.0, "local")
    assert (step.p_value, step.accepted) == (1 / 20, True)


def test_each_candidate_has_the_largest_of_its_p_values():
    null = np.zeros((2, 3, 19))
    observed = np.array([[1.0, 1.0, -1.0], [1.0, -1.0, 1.0]])
    assert judged(observed, null).p_values == (1 / 20, 1.0, 1.0)


@given(st.integers(0, 2**32 - 1), st.integers(0, 150), st.sampled_from([0.02, 0.05, 0.2]))
def test_no_critical_value_contradicts_the_decision(seed, n_permutations, alpha):
    """A sequential test is decided by the largest wealth so far, which may have decreased since."""
    rng = np.random.default_rng(seed)
    surrogates = rng.normal(size=(2, 2, n_permutations)).round(1)  # with ties
    surrogates[..., 60:] += rng.choice([0.0, 2.0])  # a significant result may become insignificant
    step = judged(rng.normal(1.5, 1, (2, 2)).round(1), surrogates, alpha, early=True)
    assert step.accepted == (n_permutations == 0 or step.p_value <= alpha)
    assert step.critical_value is None or step.accepted == (step.score > step.critical_value)


def test_no_critical_value_if_earlier_permutations_decided():
    null = np.concatenate([np.zeros(39), np.full(20, 2.0)])
    won, after = (
        judged(np.ones((1, 1)), null[np.newaxis, np.newaxis, :n], early=True) for n in (39, 59)
    )
    assert (won.accepted, won.critical_value) == (True, 0.0)
    assert (after.accepted, after.critical_value) == (True, None)


# --- close calls ---------------------------------------------------------------------------------


def is_close_call(n_reached, n_permutations, alpha=0.05, **settings):
    """Return whether a value that so many surrogates reach is a close call."""
    null = (np.arange(n_permutations) < n_reached).astype(float)
    return judged(np.ones((1, 1)), null[np.newaxis, np.newaxis], alpha, **settings).close_call


@pytest.mark.parametrize(
    ("n_reached", "is_close"),
    # p from 0.005 in steps of 0.005; two standard errors of 0.02, 0.025, 0.085 and 0.1 are
    # 0.020, 0.022, 0.040 and 0.043
    [(0, False), (3, False), (5, True), (9, True), (10, True), (16, True), (20, False)],
)
def test_within_two_standard_errors_of_alpha_it_is_close(n_reached, is_close):
    assert is_close_call(n_reached, 199) == is_close


@pytest.mark.parametrize(
    ("n_permutations", "alpha"), [(19, 0.05), (39, 0.05), (99, 0.025), (200, 0.025)]
)
def test_the_smallest_p_value_is_never_close(n_permutations, alpha):
    """The smallest possible p-value."""
    assert not is_close_call(0, n_permutations, alpha)
    assert is_close_call(1, n_permutations, alpha) == (n_permutations < 200)


def test_sequential_tests_and_no_test_are_not_close():
    assert not is_close_call(2, 59, early=True)
    assert not is_close_call(0, 0)


def test_the_step_down_p_value_decides():
    """Nine of 199 surrogates reach the value, p = 0.05; a stronger candidate has a larger p."""
    null = (np.arange(199) < 9).astype(float)[np.newaxis, np.newaxis]
    own, other = (judged(np.ones((1, 1)), null, step_down=(p,)) for p in (0.05, 0.5))
    assert (own.accepted, own.critical_value, own.close_call) == (True, 0.0, True)
    assert (other.accepted, other.critical_value, other.close_call) == (False, None, False)
    assert (other.p_value, other.p_values) == (0.5, (0.5,))


# --- what no test can decide ----------------------------------------------------------------------


def followers(noise_of_x, noise_of_y, n=200):
    """s, x and y, of one column or several, follow s with noise; five more features of y."""
    rng = np.random.default_rng(0)
    s, *more = rng.normal(size=(6, n))
    x, *y = (s + noise * rng.normal(size=n) for noise in (noise_of_x, *np.ravel(noise_of_y)))
    return np.column_stack([s, x, *more]), np.squeeze(np.transpose(y))


@pytest.mark.parametrize("max_conditioning", [None, 1])
@pytest.mark.parametrize(
    "noise",  # a standard deviation of 0.17 is an R squared of 0.97
    [(0.02, 0.02), (0.02, 0.5), (0.5, 0.02), (0.17, 0.02), (0.02, 0.17), (0.02, (0.02, 0.5))],
    ids=str,
)
def test_a_step_says_that_no_test_can_decide(noise, max_conditioning):
    """Only if the candidate and all of the target follow the selected features."""
    X, y = followers(*noise)
    settings = {"estimator": "ksg", "max_conditioning": max_conditioning}
    record = quick(**settings, fixed_features=[0]).fit(X[:, :2], y).selection_
    step = record.steps[0]
    if noise == (0.02, 0.02):
        assert step.note.startswith("x1 and target both follow")
    else:
        assert step.note == ""
    assert record.to_dict()["steps"][0]["note"] == step.note


def test_notes_of_conditioning_sets_that_are_bound_a_few_at_a_time(tmp_path):
    """A fit that is resumed has the same notes."""
    X, y = followers(0.02, 0.02)
    y = y + X[:, 2:].sum(axis=1)
    settings = {"estimator": "copula", "criterion": "mi"}
    fits = [quick(**settings, checkpoint=tmp_path / "fit.sqlite").fit(X, y) for _ in range(2)]
    step = next(step for step in fits[0].selection_.steps if step.phase == "backward")
    assert len(step.candidates) > N_CONCURRENT
    assert "both follow the selected features" in step.note
    assert fits[1].selection_ == fits[0].selection_
