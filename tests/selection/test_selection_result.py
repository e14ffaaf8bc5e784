"""The record of a selection agrees with itself and reads well."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache

import numpy as np
import pandas as pd
import pytest
from systems import PAPER, gates, noise, numbers, quick, season

from pidselect.selection import Selection, Step
from pidselect.selection.result import Settings
from pidselect.significance.score import FAMILIES


def step(**changes):
    parts = {
        "phase": "forward",
        "conditioning_set": (),
        "candidates": ("a", "b"),
        "values": (0.5, 0.25),
        "scores": (0.5, 0.25),
        "unit": "bit",
        "estimators": ("ksg", "ksg"),
        "p_values": (0.025, 0.5),
        "chosen": "a",
        "critical_value": 0.3,
        "p_value": 0.025,
        "alpha": 0.05,
        "surrogates": "global",
        "n_permutations": 39,
        "accepted": True,
    }
    return Step(**{**parts, **changes})


def scored(**changes):
    """Return a step of the score test."""
    parts = {
        "values": (0.5, float("nan")),
        "scores": (7.25, 3.0),
        "unit": "",
        "estimators": ("line", "products"),
        "critical_value": 3.5,
    }
    return step(**{**parts, **changes})


def one_stage(estimator, **settings):
    """Return a selector whose steps have the whole level."""
    return quick(estimator=estimator, lookahead=1, **settings)


RECORDS = {
    "gates": lambda: one_stage("discrete").fit(*gates()),
    "numbers": lambda: one_stage("copula", surrogates="global").fit(*numbers()),
    "paper": lambda: quick(**PAPER).fit(*numbers()),
    "paper, discrete": lambda: quick(**{**PAPER, "estimator": "discrete"}).fit(*gates()),
    "local": lambda: one_stage("copula", surrogates="local").fit(*numbers(seed=3)),
    "independent": lambda: one_stage("copula", surrogates="global", shared_permutations=False).fit(
        *numbers(seed=1)
    ),
    "lenient": lambda: one_stage("copula", surrogates="global", alpha=0.5).fit(*numbers(seed=2)),
    "alone": lambda: one_stage("discrete", criterion="mi", alpha=0.3).fit(*gates(seed=3)),
    "fixed": lambda: one_stage("discrete", fixed_features=["x3"]).fit(*gates(seed=4)),
    "groups": lambda: one_stage("discrete", feature_groups=[[0, 1]]).fit(*gates(seed=5)),
}
records = pytest.mark.parametrize("make", [*map(cache, RECORDS.values())], ids=RECORDS)


# --- identities ---------------------------------------------------------------------------------


@records
def test_each_step_agrees_with_itself(make):
    """The p-value is the largest of all tests, the scores are those of the deciding one."""
    selection = make().selection_
    for one in selection.steps:
        assert len(one.candidates) == len(one.values) == len(one.p_values) == len(one.scores)
        assert one.p_value == one.p_values[one.candidates.index(one.chosen)]
        assert one.alpha == selection.settings.alpha
        assert one.accepted == (one.p_value <= one.alpha)
        assert one.n_permutations == 39
        assert one.surrogates in (*selection.settings.surrogates, "local")
        assert one.unit == "bit"
        assert np.maximum(one.scores, 0.0) == pytest.approx(one.values)
        if abs(one.score - one.critical_value) > 1e-9:
            assert one.accepted == (one.score > one.critical_value)
        for score, p in zip(one.scores, one.p_values, strict=True):
            assert p in np.arange(1, 41) / 40
            if p <= one.alpha:
                assert score > one.critical_value - 1e-9


@pytest.mark.parametrize("settings", [{}, {"alpha": 0.3}, {"n_permutations": 199}], ids=str)
@pytest.mark.parametrize("system", [gates, numbers])
def test_each_step_of_the_score_test_agrees_with_itself(system, settings):
    """At most five significant candidates have an information; the largest is included."""
    selection = quick(**settings).fit(*system(seed=1)).selection_
    for one in selection.steps:
        assert one.p_value == one.p_values[one.candidates.index(one.chosen)]
        assert one.accepted == (one.p_value <= one.alpha)
        if one.phase == "lookahead":
            continue
        assert (one.unit, one.alpha) == ("", selection.settings.alpha)
        assert set(one.estimators) <= {*FAMILIES, "local", ""}
        assert one.critical_value is None or one.accepted == (one.score > one.critical_value)
        if one.phase == "forward":
            known = np.isfinite(one.values)
            n_passing = sum(p <= one.alpha for p in one.p_values)
            assert known.sum() == min(5, max(1, n_passing))
            assert one.value == np.max(np.array(one.values)[known])


@records
def test_each_step_follows_from_the_one_before(make):
    selection = make().selection_
    forward = [one for one in selection.steps if one.phase == "forward"]
    backward = [one for one in selection.steps if one.phase == "backward"]
    assert list(selection.steps) == forward + backward
    included = []
    for number, one in enumerate(forward):
        if selection.settings.criterion == "cmi":
            assert one.conditioning_set == (*selection.fixed_features, *included)
        assert set(one.candidates) == set(forward[0].candidates) - set(included)
        assert one.accepted or number == len(forward) - 1
        included += [one.chosen] * one.accepted
    for number, one in enumerate(backward):
        assert one.candidates == tuple(included)
        assert one.conditioning_set == (*selection.fixed_features, *included)
        assert one.accepted == (number == len(backward) - 1)
        included = [name for name in included if one.accepted or name != one.chosen]
    assert selection.features == tuple(included)


@records
def test_selected_and_record_agree(make):
    selector = make()
    names, selection = list(selector.feature_types_), selector.selection_
    columns = {"x0+x1": ("x0", "x1")}
    expected = [
        c for f in (*selection.fixed_features, *selection.features) for c in columns.get(f, (f,))
    ]
    assert [names[index] for index in selector.selected_] == expected


# --- forms --------------------------------------------------------------------------------------


@records
def test_to_dict_goes_through_json_and_back(make):
    selection = make().selection_
    record = selection.to_dict()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert set(record) == {
        "features",
        "fixed_features",
        "steps",
        "p_values",
        "bits_added",
        "duplicates",
        "skipped",
        "also_relevant",
        "marginal",
        "settings",
        "warnings",
        "is_complete",
    }
    again = [
        Step(**{name: tuple(v) if isinstance(v, list) else v for name, v in one.items()})
        for one in record["steps"]
    ]
    assert tuple(again) == selection.steps


def test_infinite_values_are_texts_in_the_dict_and_floats_in_the_frame():
    X, _ = numbers()
    selection = quick(estimator="gaussian").fit(X, 2 * X[:, 0] + 1).selection_
    assert selection.steps[0].value == np.inf
    record = selection.to_dict()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    values = record["steps"][0]["values"]
    assert values[0] == "inf"
    assert tuple(map(float, values)) == selection.steps[0].values
    assert selection.to_frame()["bits"].dtype == np.float64
    odd = Selection(("a",), (), (step(values=(-np.inf, np.nan), critical_value=np.inf),)).to_dict()
    assert odd["steps"][0]["values"] == ["-inf", None]
    assert odd["steps"][0]["critical_value"] == "inf"


def test_numpy_numbers_as_settings_become_plain():
    """As a grid over numpy.arange passes them."""
    selector = quick(
        estimator="discrete",
        n_permutations=np.int64(39),
        alpha=np.float32(0.05),
        shared_permutations=np.bool_(True),
        random_state=np.int64(3),
        max_samples=np.int32(150),
        max_features=np.int64(2),
        max_conditioning=np.int64(1),
        lookahead=np.int64(1),
        n_random_starts=np.int64(0),
    )
    settings = asdict(selector.fit(*gates()).selection_.settings)
    json.dumps(selector.selection_.to_dict())
    assert settings.pop("estimator") == "Discrete()"
    assert settings.pop("surrogates") == ("global", "residual")
    for name in ("n_groups", "n_neighbour_samples"):
        assert settings.pop(name) is None
    assert settings.pop("target_types") == ("nominal",)
    assert {type(value) for value in settings.values()} <= {bool, int, float, str}


def test_to_frame_has_a_row_for_each_candidate_of_each_step():
    columns, y = season()
    selection = quick().fit(pd.DataFrame(columns), y).selection_
    frame = selection.to_frame()
    assert len(frame) == sum(len(one.candidates) for one in selection.steps)
    for number, one in enumerate(selection.steps, start=1):
        rows = frame[frame["step"] == number]
        assert rows["candidate"].tolist() == list(one.candidates)
        np.testing.assert_array_equal(rows["bits"], one.values)
        assert rows["p_value"].tolist() == list(one.p_values)
        assert rows["score"].tolist() == list(one.scores)
        assert rows["estimator"].tolist() == list(one.estimators)
        assert set(rows["unit"]) == {one.unit}
        assert set(rows["surrogates"]) == {one.surrogates}
        assert set(rows["n_permutations"]) == {one.n_permutations}
        assert set(rows["phase"]) == {one.phase}
        critical = np.nan if one.critical_value is None else one.critical_value
        np.testing.assert_array_equal(rows["critical_value"], critical)
        assert rows.loc[rows["chosen"], "candidate"].tolist() == [one.chosen]
        assert rows["accepted"].sum() == one.accepted
    assert frame["chosen"].dtype == bool
    assert frame["accepted"].dtype == bool


def test_inclusion_step_of_a_feature_that_was_removed_and_included_again():
    """Removed from jointly included features, included alone later: that step counts."""
    alone = {"candidates": ("c",), "values": (0.5,), "scores": (0.5,), "estimators": ("ksg",)}
    together = step(
        phase="lookahead",
        candidates=("a & b & c", "a & b & d"),
        chosen="a & b & c",
        jointly_included=("a", "b", "c"),
    )
    removed = step(
        phase="joint_backward", candidates=("a", "c"), chosen="c", p_value=0.5, accepted=False
    )
    later = step(**alone, chosen="c", p_values=(0.025,))
    selection = Selection(("a", "b", "c"), (), (together, removed, later))
    assert selection.inclusion_step("a") is selection.inclusion_step("b") is together
    assert selection.inclusion_step("c") is later
    lines = str(selection).splitlines()
    assert lines[3].split()[:2] == ["c", "3"]
    assert selection.notes[0].startswith("a and b ")
    gone = Selection(("a", "b"), (), (together, removed))
    with pytest.raises(KeyError, match="'c' was not included; selected: a, b"):
        gone.inclusion_step("c")


def test_a_step_as_text():
    assert str(step()) == "forward   a: 0.500 bit (critical value 0.3000, p = 0.0250), included"
    assert str(scored()) == (
        "forward   a: 0.500 bit (statistic 7.2, line, critical value 3.5, p = 0.0250), included"
    )
    assert "(p = 0.0250)" in str(step(critical_value=None))
    untested = step(critical_value=None, p_value=None, p_values=(), n_permutations=0)
    assert str(untested) == "forward   a: 0.500 bit (not tested), included"
    assert str(step(note="all 6 pairs searched")).endswith("included; all 6 pairs searched")
    assert "close call" in str(step(close_call=True))


def test_a_selection_reads_as_a_table():
    selection = Selection(
        ("a",),
        ("age of the patient",),
        (step(),),
        {"a": 0.05},
        {"age of the patient": 0.021, "a": 0.4},
        settings=Settings(n_permutations=39),
    )
    assert str(selection).splitlines() == [
        "feature              step  bits added   score  critical value       p  final p",
        "age of the patient  fixed       0.021",
        "a                       1       0.400  0.5000          0.3000  0.0250   0.0500",
        "Joint information with the target: 0.421 bit.",
    ]
    assert str(Selection((), (), ())).splitlines()[1:] == ["(no feature)"]
    gate = one_stage("discrete").fit(*gates()).selection_
    first_words = [line.split()[0] for line in str(gate).splitlines()]
    assert first_words == ["feature", *gate.features, "Joint"]


def test_steps_without_an_information_are_equal():
    assert scored() == scored()
    assert scored(values=(0.5, 0.1)) != scored() != scored(values=(float("nan"), 0.5))
    assert scored() != "a step"


def test_notes_on_sequential_tests_and_interrupted_fits():
    parts = (("a",), (), (step(),), {"a": 0.05})
    assert Selection(*parts, settings=Settings(n_permutations=200)).notes == ()
    assert len(Selection(*parts, settings=Settings(n_permutations="auto")).notes) == 1
    interrupted = Selection(*parts, is_complete=False, settings=Settings(n_permutations=200))
    assert len(interrupted.notes) == 1


def test_notes_name_close_calls_and_features_that_are_not_significant_at_the_end():
    steps = (step(), step(chosen="b", close_call=True))
    settings = Settings(alpha=0.05, n_permutations=39)
    sure = Selection(("a",), (), steps[:1], {"a": 0.05}, settings=settings)
    assert sure.notes == ()
    unsure = Selection(("a", "b"), (), steps, {"a": 0.05, "b": 0.1}, settings=settings)
    close, weak = unsure.notes
    assert close.startswith("Close call")
    assert "more permutations" not in close
    assert close.endswith(": b.")
    assert "0.05" in weak
    assert weak.endswith(": b.")


@pytest.mark.filterwarnings("ignore:No feature was selected")
def test_close_calls_do_not_depend_on_lookahead():
    settings = {"estimator": "gaussian", "surrogates": "global", "n_permutations": 99}
    n_close = 0
    for seed in range(30):
        X, y = noise(60, seed)
        single = quick(**settings, alpha=0.05, lookahead=1).fit(X, y).selection_.steps[0]
        shared = quick(**settings, alpha=0.0625, lookahead=2).fit(X, y).selection_.steps[0]
        assert shared.alpha == single.alpha
        n_close += single.close_call
        assert single.close_call == shared.close_call
    assert n_close


# --- without tests ------------------------------------------------------------------------------


def test_without_permutations_the_strongest_are_included_untested():
    X, y = gates()
    selection = quick(n_permutations=0, max_features=4, estimator="discrete").fit(X, y).selection_
    assert len(selection.features) == len(selection.steps) == 4
    assert selection.p_values == {}
    for one in selection.steps:
        assert (one.p_value, one.critical_value, one.p_values, one.n_permutations) == (
            None,
            None,
            (),
            0,
        )
        assert one.accepted
        assert one.score == max(one.scores)
    assert json.loads(json.dumps(selection.to_dict())) == selection.to_dict()
    assert selection.to_frame()["p_value"].isna().all()
    tested = quick(estimator="discrete", backward=None).fit(X, y).selection_
    assert selection.features[: len(tested.features)] == tested.features


# --- nothing selected ---------------------------------------------------------------------------


def test_an_empty_selection_warns_with_the_best_candidate_and_remedies():
    X, y = noise(seed=4)
    with pytest.warns(UserWarning, match="No feature was selected") as caught:
        selection = quick(lookahead=1).fit(X, y).selection_
    assert len(caught) == 1
    assert caught[0].filename == __file__
    text, best = str(caught[0].message), selection.steps[0]
    assert f"'{best.chosen}'" in text
    assert f"{best.value:.3f} bit" in text
    assert f"p = {best.p_value:.4f}" in text
    assert text.startswith("No feature was selected: there may be nothing to find.")
    for remedy in ("more samples", "feature_types", "feature_groups", "lookahead=2"):
        assert remedy in text
    # What would change the outcome by trying.
    assert not any(word in text for word in ("alpha", "estimator=", "random_state", "backward="))
    assert "nothing to find" in str(selection)


@pytest.mark.parametrize("criterion", ["mi", "mrmr"])
def test_lookahead_is_recommended_only_for_cmi(criterion):
    with pytest.warns(UserWarning, match="No feature was selected") as caught:
        quick(criterion=criterion, estimator="gaussian").fit(*noise(seed=4))
    text = str(caught[0].message)
    assert "feature_groups" in text
    assert "lookahead" not in text


def test_an_empty_selection_because_all_were_removed_again():
    """The best candidate was significant going forward, so p <= alpha is not what explains it."""
    alone = {"candidates": ("a",), "values": (0.5,), "scores": (0.5,), "estimators": ("ksg",)}
    included = step(p_values=(0.025,), **alone)
    removed = step(
        **alone,
        phase="backward",
        conditioning_set=("a",),
        p_values=(0.075,),
        p_value=0.075,
        critical_value=0.6,
        accepted=False,
    )
    text = Selection((), (), (included, removed)).empty_reason()
    assert "removed" in text
    assert "0.075" in text
    assert "backward=" not in text


def test_the_record_says_what_the_target_was_taken_for():
    X, y = gates()
    assert quick().fit(X, y).selection_.settings.target_types == ("nominal",)
    both = np.column_stack([y, X[:, 0] + np.random.default_rng(0).normal(size=len(y))])
    assert quick().fit(X, both).selection_.settings.target_types == ("nominal", "continuous")
