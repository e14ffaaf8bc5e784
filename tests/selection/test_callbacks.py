"""Callbacks observe a fit without changing it; an interrupted fit leaves a record."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import joblib
import numpy as np
import pytest
from recording_callbacks import Interrupting, Recorder
from systems import N_SCANNED, PAPER, gates, n_computed, noise, numbers, quick, xor

from pidselect.selection import executor
from pidselect.selection.callbacks import (
    CallbackList,
    Stage,
    partial_record,
    selected_features,
    use_callback,
)
from pidselect.selection.result import Selection, Settings
from pidselect.selection.stability import stability

SETTINGS = {
    "defaults": (numbers, {}),
    "until decided": (numbers, {"n_permutations": "auto"}),
    "the paper": (numbers, PAPER),
    "no test": (gates, {"n_permutations": 0, "max_features": 2}),
    "no way back": (gates, {"backward": None}),
    "ratings": (gates, {"criterion": "jmi", "estimator": "discrete"}),
    "subsets": (gates, {"max_conditioning": 1}),
    "fixed": (gates, {"fixed_features": [3]}),
    "pairs": (xor, {"lookahead": 2, "n_permutations": 99, "estimator": "discrete"}),
    "random_starts": (xor, {"n_random_starts": 3, "n_permutations": 99, "estimator": "discrete"}),
    "no room": (xor, {"lookahead": 2, "n_permutations": 99, "max_features": 1}),
    "nothing": (noise, {"lookahead": 3, "n_random_starts": 2, "n_permutations": 199}),
    "nothing until decided": (noise, {"n_permutations": "auto"}),
}


def record_fit(system, settings, **more):
    """Return a recorder of a fit, and the record of the selection."""
    recorder = Recorder()
    with use_callback(recorder):
        selection = quick(**settings, **more).fit(*system()).selection_
    return recorder, selection


@pytest.mark.filterwarnings("ignore:No feature was selected")
@pytest.mark.parametrize(("system", "settings"), SETTINGS.values(), ids=SETTINGS)
def test_callbacks_do_not_change_the_result(system, settings):
    """And the callback receives every step of the record."""
    expected = quick(**settings).fit(*system()).selection_
    recorder, found = record_fit(system, settings)
    assert found == expected
    assert tuple(recorder.all("step")) == expected.steps
    assert recorder.all("interrupt") == []
    assert expected.is_complete
    assert selected_features(expected.steps) == expected.features


@pytest.mark.filterwarnings("ignore:No feature was selected")
@pytest.mark.parametrize(("system", "settings"), SETTINGS.values(), ids=SETTINGS)
def test_stages_announce_steps_and_numbers_of_values(system, settings):
    recorder, found = record_fit(system, settings)
    for stage, count in recorder.stages:
        assert count == stage.n_values if stage.is_exact else 0 < count <= stage.n_values
    begun = {stage.step: stage for stage in recorder.all("stage") if stage.phase != "final"}
    for number, step in enumerate(found.steps, start=1):
        stage = begun[number]
        assert stage.phase == step.phase
        if step.phase != "lookahead":  # a scan has many tables, and one tuple is on record
            assert stage.n_candidates == len(step.candidates)
        is_sequential = found.settings.n_permutations == "auto"
        assert not (stage.is_exact and is_sequential)
        if step.phase == "backward":
            assert stage.is_exact != is_sequential  # others may end after one of several schemes
    assert len(begun) == len(found.steps)


@pytest.mark.parametrize("system", [gates, numbers])
@pytest.mark.parametrize(
    "settings",
    [{}, {"n_permutations": "auto"}, {"surrogates": "local"}, {"estimator": "gaussian"}],
    ids=["defaults", "auto", "local", "gaussian"],
)
def test_every_value_is_reported(system, settings):
    """All candidates of all steps, as observed and in all draws, by all estimators and schemes."""
    recorder, selection = record_fit(system, settings)
    assert sum(recorder.all("progress")) == n_computed(selection, N_SCANNED[system])


def test_every_value_of_the_plainest_way():
    recorder, selection = record_fit(gates, {"estimator": "discrete", "surrogates": "global"})
    assert sum(recorder.all("progress")) == sum(
        40 * len(step.candidates) for step in selection.steps
    )


def test_final_p_values_are_a_stage_after_the_last_step():
    recorder, selection = record_fit(numbers, {"n_permutations": "auto"})
    stage = recorder.all("stage")[-1]
    n_features = len(selection.features)
    assert (stage.phase, stage.step) == ("final", len(selection.steps) + 1)
    assert (stage.n_candidates, stage.is_exact) == (n_features, True)


@pytest.mark.filterwarnings("ignore:No feature was selected")
def test_a_scan_is_a_stage_of_its_tables():
    """Of 6 columns, there are 15 pairs and 20 triples, in a family each."""
    X = np.random.default_rng(0).integers(0, 2, (200, 6))
    settings = {"lookahead": 3, "n_permutations": 99, "estimator": "discrete"}
    recorder, selection = record_fit(lambda: (X, X[:, 0] ^ X[:, 1]), settings)
    assert [step.phase for step in selection.steps][:2] == ["forward", "lookahead"]
    ((stage, count),) = [each for each in recorder.stages if each[0].step == 2]
    assert (stage.n_candidates, stage.n_values, stage.is_exact) == (35, 2 * 2 * 100, False)
    assert count == stage.n_values
    recorder, selection = record_fit(lambda: (X, X.sum(axis=1) % 2), settings)
    ((stage, count),) = [each for each in recorder.stages if each[0].step == 2]
    assert not selection.steps[1].accepted
    assert count == 2 * 2 * (1 + selection.steps[1].n_permutations) < stage.n_values


def test_several_threads():
    alone, expected = record_fit(numbers, {})
    with joblib.parallel_config(backend="threading", n_jobs=2):
        recorder, found = record_fit(numbers, {})
    assert found == expected
    assert recorder.all("stage") == alone.all("stage")
    assert recorder.all("step") == alone.all("step")
    assert sum(recorder.all("progress")) == n_computed(expected)


def test_no_cut_for_the_sake_of_callbacks_shows(monkeypatch):
    """Long tasks are cut, so that there is something to be seen, and the record is the same."""
    names = ("defaults", "the paper", "ratings", "pairs")
    more_draws = {"n_permutations": 159, "max_features": 2}
    cases = [(system, settings | more_draws) for system, settings in map(SETTINGS.get, names)]
    expected = [record_fit(*case) for case in cases]
    monkeypatch.setattr(executor, "PROGRESS_WORK", 1)
    monkeypatch.setattr(executor, "SAVED_WORK", 1)
    monkeypatch.setattr(executor, "FEWEST_CANDIDATES", 2)
    for case, (recorder, selection) in zip(cases, expected, strict=True):
        more, found = record_fit(*case)
        assert found == selection
        assert more.stages == recorder.stages
        assert len(more.all("progress")) > len(recorder.all("progress"))


# --- which callback -----------------------------------------------------------------------------


def test_the_innermost_callback_is_active():
    outer, inner = Recorder(), Recorder()
    with use_callback(outer):
        with use_callback(inner):
            quick().fit(*gates())
        assert outer.calls == []
        quick().fit(*gates())
    assert [stage for stage, _ in outer.stages] == [stage for stage, _ in inner.stages]


def test_no_callback_is_active_after_the_block():
    recorder = Recorder()
    with pytest.raises(ValueError, match="a bug"), use_callback(recorder):
        raise ValueError("a bug")
    quick().fit(*gates())
    assert recorder.calls == []


def test_concurrent_fits_are_reported_separately():
    def fit(seed):
        recorder = Recorder()
        with use_callback(recorder):
            selection = quick(random_state=seed).fit(*gates(seed=seed)).selection_
        return tuple(recorder.all("step")) == selection.steps

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(fit, range(4))) == [True] * 4


def test_progress_bar_beside_a_callback(capsys):
    silent, expected = record_fit(gates, {})
    recorder, found = record_fit(gates, {}, verbose=1)
    assert (recorder.calls, found) == (silent.calls, expected)


# --- what follows a fit ---------------------------------------------------------------------------


@pytest.mark.parametrize("is_held_out", [False, True])
@pytest.mark.parametrize("system", [gates, numbers])
def test_explanations_are_reported_and_unchanged(system, is_held_out):
    """Roles are tested on other rows than those of the fit only."""
    X, y = system()
    half = len(y) // 2 if is_held_out else None
    fitted, recorder = quick().fit(X[:half], y[:half]), Recorder()
    expected = fitted.explain(X, y)
    with use_callback(recorder):
        assert fitted.explain(X, y).to_dict() == expected.to_dict()
    *roles, (atoms, n_apart) = recorder.stages
    assert {stage.phase for stage, _ in roles} == ({"roles"} if is_held_out else set())
    for stage, n_values in roles:
        assert n_values == stage.n_values if stage.is_exact else 0 < n_values <= stage.n_values
    assert (atoms.phase, atoms.n_values, n_apart) == ("atoms", X.shape[1], X.shape[1])
    assert {stage.step for stage, _ in recorder.stages} == {len(fitted.selection_.steps) + 1}
    assert recorder.all("step") == recorder.all("interrupt") == []


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_subsamples_are_reported_as_one_stage(n_jobs):
    X, y = gates()
    expected = stability(quick(), X, y, 4, random_state=0)
    recorder = Recorder()
    with use_callback(recorder):
        assert stability(quick(), X, y, 4, random_state=0, n_jobs=n_jobs) == expected
        quick().fit(X, y)
    first, *rest = recorder.calls[:5]
    assert first == ("stage", Stage("stability", 1, X.shape[1], 4))
    assert rest == [("progress", 1)] * 4
    assert recorder.calls[5][1].phase == "forward"  # the callback is active again


def test_ctrl_c_between_selections_on_parts():
    callback = Interrupting("progress", 2)
    with pytest.raises(KeyboardInterrupt), use_callback(callback):
        stability(quick(), *gates(), 50, random_state=0, n_jobs=2)
    assert callback.all("interrupt") == []


# --- the end before the end -----------------------------------------------------------------------


def stop(system, settings, event, number, error=KeyboardInterrupt):
    """Return the callback of a fit that it interrupts."""
    callback = Interrupting(event, number, error)
    with pytest.raises(error), use_callback(callback):
        quick(**settings).fit(*system())
    return callback


def check_partial(partial, whole):
    """It is what the whole record was at that moment."""
    n_steps = len(partial.steps)
    assert partial.steps == whole.steps[:n_steps]
    assert partial.features == selected_features(whole.steps[:n_steps])
    assert partial.p_values == {}
    assert not partial.is_complete
    same = ("fixed_features", "duplicates", "skipped", "settings", "frame_library")
    assert [getattr(partial, name) for name in same] == [getattr(whole, name) for name in same]


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("event", ["stage", "progress", "step"])
def test_ctrl_c_leaves_what_is_known(event, number):
    whole = quick().fit(*gates()).selection_
    callback = stop(gates, {}, event, number)
    assert [name for name, _ in callback.calls][-2:] == [event, "interrupt"]
    (partial,) = callback.all("interrupt")
    check_partial(partial, whole)
    assert len(partial.steps) == len(callback.all("step"))
    for name in partial.features:
        assert partial.inclusion_step(name) in partial.steps
    json.dumps(partial.to_dict())
    assert len(partial.to_frame()) == sum(len(step.candidates) for step in partial.steps)
    assert whole.is_complete


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("name", ["pairs", "random_starts"])
def test_ctrl_c_while_looking_ahead(name, number):
    """Jointly included features are selected until they are removed."""
    system, settings = SETTINGS[name]
    whole = quick(**settings).fit(*system()).selection_
    number = min(number, len(whole.steps))
    (partial,) = stop(system, settings, "step", number).all("interrupt")
    check_partial(partial, whole)
    assert len(partial.steps) == number


def test_duplicates_and_skipped_columns_are_in_a_partial_record():
    X, y = gates()
    wide = np.column_stack([X, X[:, 0], np.ones(len(X))])
    whole = quick(fixed_features=[3]).fit(wide, y).selection_
    assert whole.duplicates
    assert whole.skipped
    (partial,) = stop(lambda: (wide, y), {"fixed_features": [3]}, "step", 1).all("interrupt")
    check_partial(partial, whole)


def test_an_error_after_a_step_leaves_what_is_known():
    callback = stop(gates, {}, "step", 1, ValueError)
    (partial,) = callback.all("interrupt")
    assert len(partial.steps) == 1


def test_an_error_before_any_step_leaves_nothing():
    assert stop(gates, {}, "stage", 1, ValueError).all("interrupt") == []


def test_a_fit_that_is_stopped_leaves_an_earlier_one_whole():
    X, y = gates()
    fitted = quick().fit(X, y)
    before = fitted.selection_
    with pytest.raises(KeyboardInterrupt), use_callback(Interrupting("step", 1)):
        fitted.fit(X[:, :3], y)
    assert fitted.selection_ is before


class Clumsy(Interrupting):
    def on_interrupt(self, selection):
        raise OSError("no space left")


def test_the_first_error_is_raised_even_if_the_callback_fails():
    with pytest.raises(KeyboardInterrupt) as caught, use_callback(Clumsy("step", 1)):
        quick().fit(*gates())
    (note,) = caught.value.__notes__
    assert "Clumsy" in note
    assert "no space left" in note


# --- the parts ------------------------------------------------------------------------------------


def test_partial_record():
    steps = quick().fit(*gates()).selection_.steps
    known = Selection((), ("a",), steps[:1], settings=Settings(alpha=0.05))
    partial = partial_record(known)
    assert partial.features == (steps[0].chosen,)
    assert (partial.is_complete, known.is_complete) == (False, True)


def test_removed_features_may_be_included_again():
    (step, *_) = quick().fit(*gates()).selection_.steps
    inn = replace(step, phase="lookahead", jointly_included=("a", "b"), accepted=True)
    out = replace(step, phase="joint_backward", chosen="b", accepted=False)
    stays = replace(step, phase="joint_backward", chosen="a", accepted=True)
    back = replace(step, phase="forward", chosen="b", accepted=True)
    missed = replace(step, phase="forward", chosen="c", accepted=False)
    assert selected_features([inn, out, stays, missed]) == ("a",)
    assert selected_features([inn, out, stays, back]) == ("a", "b")
    assert selected_features([]) == ()


def test_steps_are_numbered_from_one():
    recorder = Recorder()
    callbacks = CallbackList([recorder], Selection((), (), ()))
    (step, *_) = quick().fit(*gates()).selection_.steps
    callbacks.on_stage("forward", 5, 200)
    callbacks.on_step(step)
    callbacks.on_stage("forward", 4, 160, is_exact=False)
    expected = [Stage("forward", 1, 5, 200), Stage("forward", 2, 4, 160, is_exact=False)]
    assert recorder.all("stage") == expected
