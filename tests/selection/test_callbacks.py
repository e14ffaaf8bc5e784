"""A fit is told of as it goes, and changes by nothing; what is stopped leaves a record."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import joblib
import numpy as np
import pytest
from recording_callbacks import Interrupting, Memory
from systems import PAPER, gates, n_computed, noise, numbers, quick, xor

from pidselect.selection import context, lookahead, partial_scores, selector
from pidselect.selection.callbacks import CallbackList, Stage, included, so_far, use_callback
from pidselect.selection.result import Selection
from pidselect.selection.stability import stability

SETTINGS = {
    "defaults": (numbers, {}),
    "until decided": (numbers, {"n_permutations": "auto"}),
    "the paper": (numbers, PAPER),
    "no test": (gates, {"n_permutations": 0, "max_features": 2}),
    "no way back": (gates, {"backward": None}),
    "ratings": (gates, {"criterion": "jmi", "estimator": "discrete"}),
    "subsets": (gates, {"max_conditioning": 1}),
    "kept": (gates, {"keep": [3]}),
    "pairs": (xor, {"lookahead": 2, "n_permutations": 79, "estimator": "discrete"}),
    "random_starts": (xor, {"n_random_starts": 3, "n_permutations": 79, "estimator": "discrete"}),
    "no room": (xor, {"lookahead": 2, "n_permutations": 79, "max_features": 1}),
    "nothing": (noise, {"lookahead": 3, "n_random_starts": 2, "n_permutations": 159}),
}


def watch_fit(system, settings, **more):
    """Return what a watcher is told of a fit, and the record."""
    memory = Memory()
    with use_callback(memory):
        selection = quick(**settings, **more).fit(*system()).selection_
    return memory, selection


@pytest.mark.filterwarnings("ignore:No feature was selected")
@pytest.mark.parametrize(("system", "settings"), SETTINGS.values(), ids=SETTINGS)
def test_watched_or_not_the_result_is_the_same(system, settings):
    """And the watcher is told of every step as it stands in the record."""
    expected = quick(**settings).fit(*system()).selection_
    memory, found = watch_fit(system, settings)
    assert found == expected
    assert tuple(memory.all("took")) == expected.steps
    assert memory.all("stopped") == []
    assert "complete" not in expected.settings
    assert included(expected.steps) == expected.features


@pytest.mark.filterwarnings("ignore:No feature was selected")
@pytest.mark.parametrize(("system", "settings"), SETTINGS.values(), ids=SETTINGS)
def test_stages_say_what_is_to_come(system, settings):
    memory, found = watch_fit(system, settings)
    for stage, count in memory.stages:
        assert count == stage.n_values if stage.is_exact else 0 < count <= stage.n_values
    begun = {stage.step: stage for stage in memory.all("begins") if stage.phase != "final"}
    for number, step in enumerate(found.steps, start=1):
        stage = begun[number]
        assert (stage.phase, stage.n_candidates) == (step.phase, len(step.candidates))
        assert stage.is_exact == (found.settings["n_permutations"] != "auto")
    assert len(begun) == len(found.steps)


@pytest.mark.parametrize("system", [gates, numbers])
@pytest.mark.parametrize(
    "settings",
    [{}, {"n_permutations": "auto"}, {"surrogates": "local"}, {"estimator": "gaussian"}],
    ids=["defaults", "auto", "local", "gaussian"],
)
def test_every_value_is_told_of(system, settings):
    """All candidates of all steps, as observed and in all draws, by all estimators and schemes."""
    memory, selection = watch_fit(system, settings)
    assert sum(memory.all("advances")) == n_computed(selection)


def test_every_value_of_the_plainest_way():
    memory, selection = watch_fit(gates, {"estimator": "discrete", "surrogates": "global"})
    assert sum(memory.all("advances")) == sum(40 * len(step.candidates) for step in selection.steps)


def test_final_p_values_are_a_stage_after_the_last_step():
    memory, selection = watch_fit(numbers, {"n_permutations": "auto"})
    stage = memory.all("begins")[-1]
    n_features = len(selection.features)
    assert (stage.phase, stage.step) == ("final", len(selection.steps) + 1)
    assert (stage.n_candidates, stage.is_exact) == (n_features, True)


def test_a_screen_of_single_candidates_is_a_stage_of_its_own(monkeypatch):
    monkeypatch.setattr(lookahead, "MOST_TUPLES", 6)
    X = np.random.default_rng(0).integers(0, 2, (200, 6))
    settings = {"lookahead": 2, "n_permutations": 79, "estimator": "discrete"}
    memory, selection = watch_fit(lambda: (X, X[:, 0] ^ X[:, 1]), settings)
    assert [step.phase for step in selection.steps][:2] == ["forward", "lookahead"]
    screen, test = (stage for stage in memory.all("begins") if stage.step == 2)
    assert (screen.n_candidates, screen.n_values) == (6, 6)
    assert (test.n_candidates, test.n_values) == (6, 80 * (6 + 6))
    assert all(count == stage.n_values for stage, count in memory.stages)


def test_several_threads():
    alone, expected = watch_fit(numbers, {})
    with joblib.parallel_config(backend="threading", n_jobs=2):
        memory, found = watch_fit(numbers, {})
    assert found == expected
    assert memory.all("begins") == alone.all("begins")
    assert memory.all("took") == alone.all("took")
    assert sum(memory.all("advances")) == n_computed(expected)


def test_no_cut_for_the_sake_of_watchers_shows(monkeypatch):
    """Long tasks are cut, so that there is something to be seen, and the record is the same."""
    names = ("defaults", "the paper", "ratings", "pairs")
    more_draws = {"n_permutations": 159, "max_features": 2}
    cases = [(system, settings | more_draws) for system, settings in map(SETTINGS.get, names)]
    expected = [watch_fit(*case) for case in cases]
    monkeypatch.setattr(context, "WATCHED_WORK", 1)
    monkeypatch.setattr(partial_scores, "WORK", 1)
    monkeypatch.setattr(partial_scores, "FEWEST_TOGETHER", 2)
    for case, (memory, selection) in zip(cases, expected, strict=True):
        more, found = watch_fit(*case)
        assert found == selection
        assert more.stages == memory.stages
        assert len(more.all("advances")) > len(memory.all("advances"))


# --- who is told ----------------------------------------------------------------------------------


def test_the_innermost_watcher_is_told():
    outer, inner = Memory(), Memory()
    with use_callback(outer):
        with use_callback(inner):
            quick().fit(*gates())
        assert outer.heard == []
        quick().fit(*gates())
    assert [stage for stage, _ in outer.stages] == [stage for stage, _ in inner.stages]


def test_nobody_is_told_after_the_block():
    memory = Memory()
    with pytest.raises(ValueError, match="a bug"), use_callback(memory):
        raise ValueError("a bug")
    quick().fit(*gates())
    assert memory.heard == []


def test_fits_at_the_same_time_are_told_apart():
    def fit(seed):
        memory = Memory()
        with use_callback(memory):
            selection = quick(random_state=seed).fit(*gates(seed=seed)).selection_
        return tuple(memory.all("took")) == selection.steps

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(fit, range(4))) == [True] * 4


def test_the_bar_and_a_watcher_hear_the_same(capsys):
    silent, expected = watch_fit(gates, {})
    memory, found = watch_fit(gates, {}, verbose=1)
    assert (memory.heard, found) == (silent.heard, expected)


# --- what follows a fit ---------------------------------------------------------------------------


@pytest.mark.parametrize("is_held_out", [False, True])
@pytest.mark.parametrize("system", [gates, numbers])
def test_an_explanation_is_watched_and_the_same(system, is_held_out):
    X, y = system()
    half = len(y) // 2 if is_held_out else None
    fitted, memory = quick().fit(X[:half], y[:half]), Memory()
    expected = fitted.explain(X, y)
    with use_callback(memory):
        assert fitted.explain(X, y).to_dict() == expected.to_dict()
    *roles, (atoms, n_apart) = memory.stages
    assert {stage.phase for stage, _ in roles} == {"roles"}
    for stage, n_values in roles:
        assert n_values == stage.n_values if stage.is_exact else 0 < n_values <= stage.n_values
    assert (atoms.phase, atoms.n_values, n_apart) == ("atoms", X.shape[1], X.shape[1])
    assert {stage.step for stage, _ in memory.stages} == {len(fitted.selection_.steps) + 1}
    assert memory.all("took") == memory.all("stopped") == []


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_selections_on_parts_are_watched_as_a_whole(n_jobs):
    X, y = gates()
    expected = stability(quick(), X, y, 4, random_state=0)
    memory = Memory()
    with use_callback(memory):
        assert stability(quick(), X, y, 4, random_state=0, n_jobs=n_jobs) == expected
        quick().fit(X, y)
    first, *rest = memory.heard[:5]
    assert first == ("begins", Stage("stability", 1, X.shape[1], 4))
    assert rest == [("advances", 1)] * 4
    assert memory.heard[5][1].phase == "forward"  # the watcher is told of what comes next


def test_ctrl_c_between_selections_on_parts():
    watcher = Interrupting("advances", 2)
    with pytest.raises(KeyboardInterrupt), use_callback(watcher):
        stability(quick(), *gates(), 50, random_state=0, n_jobs=2)
    assert watcher.all("stopped") == []


# --- the end before the end -----------------------------------------------------------------------


def stop(system, settings, event, number, error=KeyboardInterrupt):
    """Return what a watcher is told of a fit that is interrupted."""
    watcher = Interrupting(event, number, error)
    with pytest.raises(error), use_callback(watcher):
        quick(**settings).fit(*system())
    return watcher


def check_partial(partial, whole):
    """It is what the whole record was at that moment."""
    n_steps = len(partial.steps)
    assert partial.steps == whole.steps[:n_steps]
    assert partial.features == included(whole.steps[:n_steps])
    assert partial.p_values == {}
    assert partial.settings == {**whole.settings, "complete": False}
    same = ("kept", "copies", "skipped", "frame_library")
    assert [getattr(partial, name) for name in same] == [getattr(whole, name) for name in same]


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("event", ["begins", "advances", "took"])
def test_ctrl_c_leaves_what_is_known(event, number):
    whole = quick().fit(*gates()).selection_
    watcher = stop(gates, {}, event, number)
    assert [name for name, _ in watcher.heard][-2:] == [event, "stopped"]
    (partial,) = watcher.all("stopped")
    check_partial(partial, whole)
    assert len(partial.steps) == len(watcher.all("took"))
    for name in partial.features:
        assert partial.inclusion_step(name) in partial.steps
    json.dumps(partial.to_dict())
    assert len(partial.to_frame()) == sum(len(step.candidates) for step in partial.steps)
    assert "stopped before its end" in str(partial)
    assert "stopped before its end" not in str(whole)


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("name", ["pairs", "random_starts"])
def test_ctrl_c_while_looking_ahead(name, number):
    """Features that came in together are in until they are removed."""
    system, settings = SETTINGS[name]
    whole = quick(**settings).fit(*system()).selection_
    number = min(number, len(whole.steps))
    (partial,) = stop(system, settings, "took", number).all("stopped")
    check_partial(partial, whole)
    assert len(partial.steps) == number


def test_copies_and_skipped_columns_are_in_a_partial_record():
    X, y = gates()
    wide = np.column_stack([X, X[:, 0], np.ones(len(X))])
    whole = quick(fixed_features=[3]).fit(wide, y).selection_
    assert whole.duplicates
    assert whole.skipped
    (partial,) = stop(lambda: (wide, y), {"keep": [3]}, "took", 1).all("stopped")
    check_partial(partial, whole)


def test_an_error_after_a_step_leaves_what_is_known():
    watcher = stop(gates, {}, "took", 1, ValueError)
    (partial,) = watcher.all("stopped")
    assert len(partial.steps) == 1


def test_an_error_before_any_step_leaves_nothing():
    assert stop(gates, {}, "begins", 1, ValueError).all("stopped") == []


def test_ctrl_c_while_the_work_is_timed(monkeypatch, tmp_path):
    """There is nothing to tell yet, but a record and a checkpoint to go on from."""

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(selector, "announce_long_fit", interrupt)
    memory, path = Memory(), tmp_path / "fit.json"
    with pytest.raises(KeyboardInterrupt), use_callback(memory):
        quick(checkpoint=path).fit(*gates())
    (partial,) = memory.all("stopped")
    assert (partial.features, partial.steps) == ((), ())
    assert path.exists()
    monkeypatch.undo()
    assert quick(checkpoint=path).fit(*gates()).selection_ == quick().fit(*gates()).selection_


def test_a_fit_that_is_stopped_leaves_an_earlier_one_whole():
    X, y = gates()
    fitted = quick().fit(X, y)
    before = fitted.selection_
    with pytest.raises(KeyboardInterrupt), use_callback(Interrupting("took", 1)):
        fitted.fit(X[:, :3], y)
    assert fitted.selection_ is before


class Clumsy(Interrupting):
    def on_interrupt(self, selection):
        raise OSError("no space left")


def test_what_ended_the_fit_is_raised_even_if_the_watcher_fails():
    with pytest.raises(KeyboardInterrupt) as caught, use_callback(Clumsy("took", 1)):
        quick().fit(*gates())
    assert caught.value.__notes__ == ["Clumsy.stopped failed, too: OSError('no space left')"]


# --- checkpoints ----------------------------------------------------------------------------------


@pytest.mark.parametrize("event", ["advances", "took"])
@pytest.mark.parametrize("name", ["defaults", "until decided", "pairs", "ratings"])
def test_after_a_resume(name, event, tmp_path):
    """The same record; what was known counts, and whole tests of the checkpoint do not begin."""
    system, settings = SETTINGS[name]
    path = tmp_path / "fit.json"
    whole, expected = watch_fit(system, settings, checkpoint=tmp_path / "whole.json")
    first = stop(system, {**settings, "checkpoint": path}, event, 2)
    check_partial(first.all("stopped")[0], expected)
    assert path.exists()
    again, found = watch_fit(system, settings, checkpoint=path)
    assert found == expected
    assert tuple(again.all("took")) == expected.steps
    n_done = len(first.all("took"))
    for stage, count in again.stages:
        assert stage.step > n_done
        assert count == stage.n_values if stage.is_exact else 0 < count <= stage.n_values
    assert again.stages == [pair for pair in whole.stages if pair[0].step > n_done]
    once_more, found = watch_fit(system, settings, checkpoint=path)
    assert found == expected
    assert [name for name, _ in once_more.heard] == ["took"] * len(expected.steps)


# --- the parts ------------------------------------------------------------------------------------


def test_a_record_so_far():
    steps = quick().fit(*gates()).selection_.steps
    known = Selection((), ("a",), steps[:1], settings={"alpha": 0.05})
    partial = so_far(known)
    assert partial.features == (steps[0].chosen,)
    assert partial.settings == {"alpha": 0.05, "complete": False}
    assert known.settings == {"alpha": 0.05}


def test_what_was_removed_may_come_back():
    (step, *_) = quick().fit(*gates()).selection_.steps
    inn = replace(step, phase="lookahead", jointly_included=("a", "b"), accepted=True)
    out = replace(step, phase="joint_backward", chosen="b", accepted=False)
    stays = replace(step, phase="joint_backward", chosen="a", accepted=True)
    back = replace(step, phase="forward", chosen="b", accepted=True)
    missed = replace(step, phase="forward", chosen="c", accepted=False)
    assert included([inn, out, stays, missed]) == ("a",)
    assert included([inn, out, stays, back]) == ("a", "b")
    assert included([]) == ()


def test_steps_are_numbered_from_one():
    memory = Memory()
    watch = CallbackList([memory], Selection((), (), ()))
    (step, *_) = quick().fit(*gates()).selection_.steps
    watch.on_stage("forward", 5, 200)
    watch.on_step(step)
    watch.on_stage("forward", 4, 160, is_exact=False)
    expected = [Stage("forward", 1, 5, 200), Stage("forward", 2, 4, 160, is_exact=False)]
    assert memory.all("begins") == expected
