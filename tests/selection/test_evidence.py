"""The same seed gives the same record, to the bit, however the work is cut and spread."""

from __future__ import annotations

import random

import joblib
import numpy as np
import pytest
from rich.progress import Progress
from systems import gates, numbers, quick, season

from pidselect.data import Block, Column
from pidselect.estimators import Discrete
from pidselect.selection import evidence
from pidselect.selection.evidence import Evidence, Inquiry
from pidselect.selection.features import Feature

SYSTEMS = {
    "discrete": (gates, {}),
    "ksg": (numbers, {}),
    "ksg2": (numbers, {"estimator": "ksg-rank"}),
    "gaussian": (numbers, {"estimator": "gaussian"}),
    "copula": (numbers, {"estimator": "copula"}),
    "mixed": (numbers, {"estimator": "mixed"}),
    "groups": (numbers, {"feature_groups": [[0, 2]]}),
    "shared": (numbers, {"shared": True}),
}
systems = pytest.mark.parametrize(("system", "settings"), SYSTEMS.values(), ids=SYSTEMS)


def record(system, settings, **more):
    return quick(**{**settings, **more}).fit(*system()).selection_


@systems
def test_again(system, settings):
    assert record(system, settings) == record(system, settings)


@systems
def test_two_threads(system, settings):
    assert record(system, settings, n_jobs=2) == record(system, settings, n_jobs=1)


@systems
def test_tiny_memory(system, settings):
    expected = record(system, settings)
    assert record(system, settings, max_memory="1KiB") == expected
    assert record(system, settings, max_memory=1, n_jobs=2) == expected


@systems
@pytest.mark.parametrize(("task_size", "at_once"), [(1, 1), (700, 5), (1, 16), (2**30, 64)])
def test_any_cut(system, settings, task_size, at_once, monkeypatch):
    expected = record(system, settings)
    monkeypatch.setattr(evidence, "TASK_SIZE", task_size)
    monkeypatch.setattr(evidence, "DRAWS_AT_ONCE", at_once)
    assert record(system, settings) == expected


@pytest.mark.parametrize("n_candidates", [1, 2, 7, 8, 100])
@pytest.mark.parametrize("n_permutations", [1, 19, 200, 1000])
def test_every_draw_is_in_one_task(n_candidates, n_permutations, monkeypatch):
    target = Block((Column("y", "ordinal", np.arange(50.0) % 2),))
    inquiry = Inquiry(target, Discrete(), n_permutations=n_permutations)
    for task_size in (1, 50 * 16, 2**22):
        monkeypatch.setattr(evidence, "TASK_SIZE", task_size)
        draws = [draw for part in inquiry._split(n_candidates) for draw in part]
        assert draws == list(range(1 + n_permutations))


def test_joblib_context():
    X, y = numbers()
    expected = quick().fit(X, y).selection_
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert quick().fit(X, y).selection_ == expected


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
@pytest.mark.parametrize("system", [gates, numbers])
def test_other_processes(backend, system):
    """Not every backend can hand over results one by one, nor does it have to."""
    X, y = system()
    expected = quick().fit(X, y).selection_
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert quick().fit(X, y).selection_ == expected


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_progress_under_any_backend(backend, monkeypatch):
    """Task by task where the backend can hand over results one by one, else step by step."""
    X, y = gates()
    expected = quick().fit(X, y).selection_
    counts = []
    monkeypatch.setattr(Progress, "advance", lambda self, task, count: counts.append(count))
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert quick(verbose=1).fit(X, y).selection_ == expected
    assert sum(counts) == sum(40 * len(step.candidates) for step in expected.steps)


def test_mixed_tables_too():
    columns, y = season()
    table = np.array(list(zip(*columns.values(), strict=True)), dtype=object)
    expected = quick().fit(table, y).selection_
    assert expected.settings["estimator"].startswith("Mixed")
    assert quick(n_jobs=2, max_memory="1KiB").fit(table, y).selection_ == expected


# --- seeds --------------------------------------------------------------------------------------


def test_other_seeds_give_other_draws():
    lines = {record(numbers, {}, random_state=seed).steps[0].null_line for seed in range(6)}
    assert len(lines) == 6


def test_the_seed_does_not_touch_what_was_observed():
    values = {record(numbers, {}, random_state=seed).steps[0].values for seed in range(3)}
    assert len(values) == 1


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators(make):
    first = record(numbers, {}, random_state=make(5))
    assert record(numbers, {}, random_state=make(5)) == first
    again = record(numbers, {}, random_state=first.settings["seed"])
    assert again == first


def test_without_a_seed_each_time_is_another():
    first, second = (record(numbers, {}, random_state=None) for _ in range(2))
    assert first.settings["seed"] != second.settings["seed"]
    assert first.steps[0].null_line != second.steps[0].null_line


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


def test_global_seeds_have_no_say():
    np.random.seed(1)  # noqa: NPY002
    first = record(numbers, {})
    np.random.seed(2)  # noqa: NPY002
    assert record(numbers, {}) == first


def test_more_draws_begin_with_the_same():
    """So that a p-value of 1/(1+n) can only come from the same draws and more."""
    X, y = numbers()
    inquiry = Inquiry(Block((Column("y", "continuous", y),)), quick().fit(X, y).estimator_)
    feature = Feature("x0", (0,), Block((Column("x0", "continuous", X[:, 0].copy()),)))
    few, many = (
        Inquiry(inquiry.target, inquiry.estimator, n_permutations=n).gather(
            [feature], (), "forward", 0
        )
        for n in (20, 45)
    )
    np.testing.assert_array_equal(many.surrogates[:, :20], few.surrogates)


# --- verdicts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2, 0.25, 1 - 0.9, 1 - 0.8, 1 - 0.7, 3 * 0.1])
def test_a_value_is_accepted_if_it_exceeds_the_null_line(alpha):
    """Whatever rounding does to alpha: 1 - 0.8 is a little less than 0.2."""
    target = Block((Column("y", "ordinal", np.arange(50.0) % 2),))
    inquiry = Inquiry(target, Discrete(), alpha=alpha, n_permutations=19)
    null = np.arange(19.0)
    feature = Feature("x", (0,), target)
    for value in np.arange(-0.5, 19.5):
        found = Evidence((feature,), np.array([value]), null[np.newaxis])
        step = found.judge(0, null, (), inquiry, "forward")
        assert step.accepted == (step.value > step.null_line), (value, step)
