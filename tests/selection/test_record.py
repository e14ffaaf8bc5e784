"""The record of a selection agrees with itself and reads well."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from systems import gates, noise, numbers, quick, season, xor

from pidselect.selection import Selection, Step


def step(**changes):
    parts = {
        "phase": "forward",
        "given": (),
        "candidates": ("a", "b"),
        "values": (0.5, 0.25),
        "p_values": (0.025, 0.5),
        "chosen": "a",
        "null_line": 0.3,
        "p_value": 0.025,
        "n_drawn": 39,
        "accepted": True,
    }
    return Step(**{**parts, **changes})


RECORDS = {
    "gates": lambda: quick().fit(*gates()),
    "numbers": lambda: quick().fit(*numbers()),
    "shared": lambda: quick(shared=True, backward="maximum").fit(*numbers(seed=1)),
    "lenient": lambda: quick(alpha=0.5).fit(*numbers(seed=2)),
    "alone": lambda: quick(criterion="mi", alpha=0.3).fit(*gates(seed=3)),
    "kept": lambda: quick(keep=["x3"]).fit(*gates(seed=4)),
    "groups": lambda: quick(feature_groups=[[0, 1]]).fit(*gates(seed=5)),
}
records = pytest.mark.parametrize("make", RECORDS.values(), ids=RECORDS)


# --- identities ---------------------------------------------------------------------------------


@records
def test_each_step_agrees_with_itself(make):
    selector = make()
    alpha = selector.selection_.settings["alpha"]
    for one in selector.selection_.steps:
        assert len(one.candidates) == len(one.values) == len(one.p_values)
        extreme = max if one.phase == "forward" else min
        assert one.value == extreme(one.values)
        assert one.p_value == one.p_values[one.candidates.index(one.chosen)]
        assert one.accepted == (one.p_value <= alpha)
        assert one.n_drawn == 39
        for value, p in zip(one.values, one.p_values, strict=True):
            assert p in np.arange(1, 41) / 40
            if abs(value - one.null_line) > 1e-9:
                assert (p <= alpha) == (value > one.null_line)
        order = np.argsort(one.values)
        assert (np.diff(np.array(one.p_values)[order]) <= 0).all()


@records
def test_each_step_follows_from_the_one_before(make):
    selection = make().selection_
    forward = [one for one in selection.steps if one.phase == "forward"]
    backward = [one for one in selection.steps if one.phase == "backward"]
    assert list(selection.steps) == forward + backward
    included = []
    for number, one in enumerate(forward):
        if selection.settings["criterion"] == "cmi":
            assert one.given == (*selection.kept, *included)
        assert set(one.candidates) == set(forward[0].candidates) - set(included)
        assert one.accepted or number == len(forward) - 1
        included += [one.chosen] * one.accepted
    for number, one in enumerate(backward):
        assert one.candidates == tuple(included)
        assert one.given == (*selection.kept, *included)
        assert one.accepted == (number == len(backward) - 1)
        included = [name for name in included if one.accepted or name != one.chosen]
    assert selection.features == tuple(included)


@records
def test_selected_and_record_agree(make):
    selector = make()
    names, selection = list(selector.kinds_), selector.selection_
    columns = {"x0+x1": ("x0", "x1")}
    expected = [c for f in (*selection.kept, *selection.features) for c in columns.get(f, (f,))]
    assert [names[index] for index in selector.selected_] == expected


def test_the_last_forward_value_is_the_backward_value():
    """With all features in, the last one was tested given the others, before and after."""
    for seed in range(3):
        steps = quick().fit(*numbers(seed=seed)).selection_.steps
        last = [one for one in steps if one.phase == "forward" and one.accepted][-1]
        first = next(one for one in steps if one.phase == "backward")
        value = first.values[first.candidates.index(last.chosen)]
        assert value == pytest.approx(last.value, abs=1e-12)


# --- forms --------------------------------------------------------------------------------------


@records
def test_to_dict_goes_through_json_and_back(make):
    selection = make().selection_
    record = selection.to_dict()
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert set(record) == {"features", "kept", "steps", "copies", "skipped", "settings"}
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
    odd = Selection(("a",), (), (step(values=(-np.inf, np.nan), null_line=np.inf),)).to_dict()
    assert odd["steps"][0]["values"] == ["-inf", "nan"]
    assert odd["steps"][0]["null_line"] == "inf"


def test_settings_are_enough_to_repeat_it():
    X, y = numbers()
    first = quick(random_state=None).fit(X, y).selection_
    settings = dict(first.settings)
    assert set(settings) >= {
        "criterion",
        "estimator",
        "alpha",
        "n_permutations",
        "surrogates",
        "shared",
        "backward",
        "seed",
        "n_samples",
    }
    assert quick(random_state=settings["seed"]).fit(X, y).selection_ == first


def test_numpy_numbers_as_settings_become_plain():
    """As a grid over numpy.arange passes them."""
    selector = quick(
        n_permutations=np.int64(39),
        alpha=np.float32(0.05),
        shared=np.bool_(True),
        random_state=np.int64(3),
        max_samples=np.int32(150),
        max_features=np.int64(2),
    )
    settings = selector.fit(*gates()).selection_.settings
    json.dumps(selector.selection_.to_dict())
    plain = {type(value) for value in settings.values()}
    assert plain <= {bool, int, float, str}


def test_to_frame_has_a_row_for_each_candidate_of_each_step():
    columns, y = season()
    selection = quick().fit(pd.DataFrame(columns), y).selection_
    frame = selection.to_frame()
    assert len(frame) == sum(len(one.candidates) for one in selection.steps)
    for number, one in enumerate(selection.steps, start=1):
        rows = frame[frame["step"] == number]
        assert rows["candidate"].tolist() == list(one.candidates)
        assert rows["bits"].tolist() == list(one.values)
        assert rows["p_value"].tolist() == list(one.p_values)
        assert set(rows["phase"]) == {one.phase}
        assert set(rows["null_line"]) == {one.null_line}
        assert rows.loc[rows["chosen"], "candidate"].tolist() == [one.chosen]
        assert rows["accepted"].sum() == one.accepted
    assert frame["chosen"].dtype == bool
    assert frame["accepted"].dtype == bool


def test_an_empty_record_gives_an_empty_frame():
    frame = Selection((), (), ()).to_frame()
    assert len(frame) == 0
    assert list(frame.columns)[:3] == ["step", "phase", "candidate"]


def test_entry():
    selection = quick().fit(*gates()).selection_
    for name in selection.features:
        entry = selection.entry(name)
        assert (entry.phase, entry.chosen, entry.accepted) == ("forward", name, True)
    with pytest.raises(KeyError, match="'x4' was not included; selected: x2"):
        selection.entry("x4")


def test_a_step_reads_as_a_sentence():
    assert str(step()) == "forward  a: 0.5000 bit (null line 0.3000, p = 0.0250), included"
    assert str(step(accepted=False)).endswith("not included")
    assert str(step(phase="backward")).endswith("stays")
    assert str(step(phase="backward", accepted=False)).endswith("removed")


def test_a_selection_reads_as_a_table():
    selection = Selection(("a",), ("age of the patient",), (step(),))
    assert [line.rstrip() for line in str(selection).splitlines()] == [
        "feature                  step       bits    p-value  null line",
        "age of the patient       kept",
        "a                           1     0.5000     0.0250     0.3000",
    ]
    assert "(nothing selected)" in str(Selection((), (), ()))
    gate = quick().fit(*gates()).selection_
    first_words = [line.split()[0] for line in str(gate).splitlines()]
    assert first_words == ["feature", *gate.features]


def test_no_line_of_the_table_ends_in_blanks():
    text = str(Selection(("a",), ("kept",), (step(),)))
    assert all(line == line.rstrip() for line in text.splitlines())


def test_a_record_cannot_be_changed():
    selection = quick().fit(*gates()).selection_
    with pytest.raises(AttributeError):
        selection.features = ()
    with pytest.raises(AttributeError):
        selection.steps[0].accepted = False


# --- nothing selected ---------------------------------------------------------------------------


def test_an_empty_selection_says_how_near_it_was_and_what_may_help():
    X, y = noise(seed=4)
    with pytest.warns(UserWarning, match="No feature was selected") as caught:
        selection = quick().fit(X, y).selection_
    assert len(caught) == 1
    assert caught[0].filename == __file__
    text, best = str(caught[0].message), selection.steps[0]
    assert f"'{best.chosen}'" in text
    assert f"{best.value:.4f} bit" in text
    assert f"p = {best.p_value:.3g}" in text
    for remedy in ("more samples", "estimator", "feature_groups", "alpha"):
        assert remedy in text


def test_an_empty_selection_because_all_were_removed_again():
    """The best candidate was significant going forward, so p <= alpha is not what explains it."""
    included = step(candidates=("a",), values=(0.5,), p_values=(0.025,))
    removed = step(
        phase="backward",
        given=("a",),
        candidates=("a",),
        values=(0.5,),
        p_values=(0.075,),
        p_value=0.075,
        null_line=0.6,
        accepted=False,
    )
    text = Selection((), (), (included, removed)).why_nothing()
    assert text.startswith("No feature was selected")
    assert "removed" in text
    assert "0.075" in text
    assert "backward=None" in text


def test_kept_features_alone_are_no_reason_to_warn():
    X, y = xor()
    selection = quick(keep=["x2"], feature_groups=None, max_features=1).fit(X, y).selection_
    assert selection.features == ()
    assert str(selection).splitlines()[1:] == [
        "x2            kept",
        "(nothing beyond what was kept)",
    ]


def test_a_selection_shows_itself_as_its_table():
    record = quick().fit(*gates()).selection_
    assert repr(record).startswith(f"Selection of {len(record.features)} features in ")
    assert repr(record).endswith(str(record))


def test_the_record_says_what_the_target_was_taken_for():
    X, y = gates()
    assert quick().fit(X, y).selection_.settings["target"] == "nominal"
    both = np.column_stack([y, X[:, 0] + np.random.default_rng(0).normal(size=len(y))])
    assert quick().fit(X, both).selection_.settings["target"] == "nominal, continuous"
