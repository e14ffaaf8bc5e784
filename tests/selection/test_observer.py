"""An observer does not change a fit, and keeps the record of one that is interrupted."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from recording_observer import Interrupting, Recorder, Stage
from systems import N_SCANNED, PAPER, gates, n_computed, noise, numbers, quick, xor

from pidselect.selection import executor
from pidselect.selection.progress import observing, selected_features
from pidselect.selection.stability import stability

SETTINGS = {
    "defaults": (numbers, {}),
    "until decided": (numbers, {"n_permutations": "auto", "estimator": "mixed"}),
    "the paper": (numbers, PAPER),
    "no test": (gates, {"n_permutations": 0, "max_features": 2}),
    "no way back": (gates, {"backward": None}),
    "ratings": (gates, {"criterion": "jmi", "estimator": "discrete"}),
    "subsets": (gates, {"max_conditioning": 1}),
    "fixed": (gates, {"fixed_features": [3]}),
    "pairs": (xor, {"lookahead": 2, "n_permutations": 99, "estimator": "discrete"}),
    "random_starts": (xor, {"n_random_starts": 3, "n_permutations": 99, "estimator": "discrete"}),
    "no room": (xor, {"lookahead": 2, "max_features": 1}),
    "nothing": (noise, {"lookahead": 3, "n_random_starts": 2, "n_permutations": 199}),
    "nothing until decided": (noise, {"n_permutations": "auto"}),
}


def record_fit(system, settings):
    """Return a recorder of a fit, and the record of the selection."""
    recorder = Recorder()
    with observing(recorder):
        selection = quick(**settings).fit(*system()).selection_
    return recorder, selection


@pytest.mark.filterwarnings("ignore:No feature was selected")
@pytest.mark.parametrize(("system", "settings"), SETTINGS.values(), ids=SETTINGS)
def test_every_step_is_reported_and_unchanged(system, settings):
    """And is announced, with its candidates and how many values it has at most."""
    expected = quick(**settings).fit(*system()).selection_
    recorder, found = record_fit(system, settings)
    assert found == expected
    assert tuple(recorder.all("step")) == expected.steps
    assert selected_features(expected.steps) == expected.features
    assert all(0 < count <= stage.n_values for stage, count in recorder.stages)
    begun = {stage.step: stage for stage in recorder.all("stage") if stage.phase != "final"}
    assert len(begun) == len(found.steps)
    for number, step in enumerate(found.steps, start=1):
        assert begun[number].phase == step.phase
        if step.phase != "lookahead":  # a scan has many tables, and one tuple is on record
            assert begun[number].n_candidates == len(step.candidates)


@pytest.mark.parametrize("system", [gates, numbers])
@pytest.mark.parametrize(
    "settings",
    [
        {"lookahead": 1},
        {"estimator": "copula", "surrogates": "local"},
        {"estimator": "gaussian"},
    ],
    ids=["defaults", "local", "gaussian"],
)
def test_every_value_is_reported(system, settings):
    """All candidates of all steps, as observed and in all draws, by all estimators and schemes."""
    recorder, selection = record_fit(system, settings)
    assert sum(recorder.all("progress")) == n_computed(selection, N_SCANNED[system])


def test_a_scan_is_a_stage_of_its_tables():
    """Of 6 columns, there are 15 pairs and 20 triples, in a family each."""
    X = np.random.default_rng(0).integers(0, 2, (200, 6))
    settings = {"lookahead": 3, "n_permutations": 99, "estimator": "discrete"}
    recorder, selection = record_fit(lambda: (X, X[:, 0] ^ X[:, 1]), settings)
    assert [step.phase for step in selection.steps][:2] == ["forward", "lookahead"]
    ((stage, count),) = [each for each in recorder.stages if each[0].step == 2]
    assert (stage.n_candidates, stage.n_values, count) == (35, 2 * 2 * 100, 2 * 2 * 100)


def test_no_cut_for_the_sake_of_progress_shows(monkeypatch):
    """Long tasks are cut, so that there is something to be seen, and the record is the same."""
    names = ("the paper", "ratings", "pairs")
    more_draws = {"n_permutations": 199, "max_features": 2}
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


def test_an_observer_is_active_in_its_block_and_thread():
    outer, inner = Recorder(), Recorder()
    with observing(outer):
        with observing(inner):
            quick().fit(*gates())
        with ThreadPoolExecutor(1) as threads:
            threads.submit(quick().fit, *gates()).result()
        assert outer.calls == []
        quick().fit(*gates())
    quick().fit(*gates())
    assert outer.stages == inner.stages


# --- what follows a fit ---------------------------------------------------------------------------


@pytest.mark.parametrize("is_held_out", [False, True])
@pytest.mark.parametrize("system", [gates, numbers])
def test_explanations_are_reported_and_unchanged(system, is_held_out):
    """Roles are tested on other rows than those of the fit only."""
    X, y = system()
    half = len(y) // 2 if is_held_out else None
    fitted, recorder = quick().fit(X[:half], y[:half]), Recorder()
    expected = fitted.explain(X, y)
    with observing(recorder):
        assert fitted.explain(X, y).to_dict() == expected.to_dict()
    *roles, (atoms, n_apart) = recorder.stages
    assert {stage.phase for stage, _ in roles} == ({"roles"} if is_held_out else set())
    assert all(0 < n_values <= stage.n_values for stage, n_values in roles)
    assert (atoms.phase, atoms.n_values, n_apart) == ("atoms", X.shape[1], X.shape[1])
    assert recorder.all("step") == []


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_subsamples_are_reported_as_one_stage(n_jobs):
    X, y = gates()
    expected = stability(quick(), X, y, 4, random_state=0)
    recorder = Recorder()
    with observing(recorder):
        assert stability(quick(), X, y, 4, random_state=0, n_jobs=n_jobs) == expected
        quick().fit(X, y)
    first, *rest = recorder.calls[:5]
    assert first == ("stage", Stage("stability", 1, X.shape[1], 4))
    assert rest == [("progress", 1)] * 4
    assert recorder.calls[5][1].phase == "forward"  # the observer is active again


def test_ctrl_c_between_selections_on_parts():
    observer = Interrupting("progress", 2)
    with pytest.raises(KeyboardInterrupt), observing(observer):
        stability(quick(), *gates(), 50, random_state=0, n_jobs=2)
    assert observer.interrupted is None


# --- the end before the end -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "number", "name"),
    [
        *(("stage", 1, "fixed"), ("progress", 2, "fixed"), ("step", 1, "fixed")),
        *(("stage", 3, "fixed"), ("progress", 4, "fixed"), ("step", 3, "fixed")),
        *(("step", number, name) for name in ("pairs", "random_starts") for number in range(1, 6)),
    ],
)
def test_ctrl_c_leaves_what_is_known(event, number, name):
    """It is what the whole record was at that moment; tuples are selected until removed."""
    system, settings = SETTINGS[name]
    X, y = system()
    X = np.column_stack([X, X[:, 0], np.ones(len(X))])
    fitted = quick(**settings).fit(X, y)
    whole = fitted.selection_
    assert whole.duplicates
    assert whole.skipped
    assert whole.is_complete
    observer = Interrupting(event, min(number, len(whole.steps)))
    with pytest.raises(KeyboardInterrupt), observing(observer):
        fitted.fit(X, y)
    assert fitted.selection_ is whole
    partial, n_steps = observer.interrupted, len(observer.all("step"))
    features = selected_features(whole.steps[:n_steps])
    assert partial == replace(
        whole,
        steps=whole.steps[:n_steps],
        features=features,
        p_values={},
        bits_added={},
        warnings=(),
        is_complete=False,
    )
    for feature in features:
        assert partial.inclusion_step(feature) in partial.steps
    json.dumps(partial.to_dict())
    assert len(partial.to_frame()) == sum(len(step.candidates) for step in partial.steps)


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
