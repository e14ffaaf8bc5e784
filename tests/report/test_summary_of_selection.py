"""The summary of a selection: plain values, and sentences that say what the record says."""

import json
import re
from dataclasses import replace
from pathlib import Path

import hostile
import numpy as np
import pytest

from pidselect.data import read_dataset
from pidselect.data.diagnostics import Finding
from pidselect.report.selection_page import render_selection
from pidselect.report.summary import FORMAT, MOST_CANDIDATES, About, summarise

NAMES = ("wind", "rain", "day", "hour")


def about(**more):
    facts = {"target": "rentals", "n_rows": 400, "n_columns": 4}
    return About(**{**facts, "feature_types": dict.fromkeys(NAMES, "continuous"), **more})


ABOUT = about()


def summary(n_selected=2, explained=True, *, about=ABOUT, stability=None, **more):
    record = hostile.selection(NAMES, n_selected, **more)
    told = hostile.explanation(NAMES, n_selected) if explained else None
    return summarise(record, explanation=told, stability=stability, about=about)


def test_it_is_ready_for_json_whatever_names_and_values_are():
    record = hostile.selection()
    first = record.steps[0]
    endless = replace(first, values=(np.inf, *first.values[1:]))
    made = summarise(
        replace(record, steps=(endless, *record.steps[1:])),
        explanation=hostile.explanation(),
        stability=hostile.stability(),
        remarks=[Finding("ties", ("a",), "Many.")],
        about=hostile.about(),
    )
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert made["format"] == FORMAT
    assert made["steps"][0]["bits"] == made["selected"][0]["bits"] == "inf"
    assert made["remarks"] == [{"topic": "ties", "columns": ["a"], "sentence": "Many."}]


def test_bits_from_the_rows_of_the_selection_are_the_upper_end():
    told = hostile.explanation(NAMES, 2)
    record = hostile.selection(NAMES, 2)
    said = "take them for the upper end"
    same = replace(told, in_sample=True)
    assert said in summarise(record, explanation=same, about=ABOUT)["certainty"][-1]
    others = replace(told, notes=())
    assert said not in " ".join(summarise(record, explanation=others, about=ABOUT)["certainty"])


def test_what_undoes_the_answer_is_told_of_selected_columns_alone():
    record = hostile.selection(NAMES, 2)  # wind and rain
    remarks = [
        Finding("counts the rows", ("rain", "day"), "They grow."),
        Finding("ties", ("wind",), "Many."),
    ]
    made = summarise(record, remarks=remarks, about=ABOUT)
    assert made["alarms"] == ["rain counts the rows. They grow."]
    assert "<strong>Mind:</strong> rain counts the rows." in render_selection(made)


# ------------------------------------------------------------------------------------- the answer


@pytest.mark.parametrize(
    ("n_selected", "more", "said"),
    [
        (2, {}, "2 of 4 columns were selected for what they tell about rentals: wind and rain."),
        (1, {}, "1 of 4 columns was selected for what it tells about rentals: wind."),
        (0, {}, "None of the 4 columns was found to tell something about rentals."),
        (
            1,
            {"fixed_features": ("hour",)},
            "Beyond hour, which was kept, 1 of 4 columns was selected for what it tells about "
            "rentals: wind.",
        ),
        (
            0,
            {"fixed_features": ("hour", "day")},
            "Beyond hour and day, which were kept, none of the 4 columns was found to tell "
            "something more about rentals.",
        ),
        (
            2,
            {"settings": {**hostile.SETTINGS, "n_permutations": 0}},
            "2 of 4 columns were selected, untested, for what they tell about rentals: wind and "
            "rain.",
        ),
        (
            1,
            {"fixed_features": ("hour",), "is_complete": False},
            "So far, beyond hour, which was kept, 1 of 4 columns was selected for what it tells "
            "about rentals: wind.",
        ),
    ],
)
def test_the_first_sentence_names_what_was_selected(n_selected, more, said):
    assert summary(n_selected, **more)["answer"][0] == said


def test_groups_of_columns_are_features():
    made = summary(about=about(n_columns=9, feature_types={"wind": "continuous"}))
    assert made["answer"][0].startswith("2 features, out of 9 columns, were selected")
    assert [row["kind"] for row in made["selected"]] == ["continuous", "group"]


def test_a_long_list_is_cut_and_so_is_a_long_name():
    names = ("w" * 300, *hostile.plain_names(20))
    record = hostile.selection(names, 12)
    said = summarise(record, about=hostile.about(names))["answer"][0]
    assert f"{'w' * 59}…, column 0" in said
    assert said.endswith("column 6 and 4 more.")


@pytest.mark.parametrize(
    ("information", "entropy", "said"),
    [
        (1.2, None, "Together they tell 1.20 bit."),
        (1.2, 1.9, "Together they tell 1.20 of the 1.90 bit there is to know, or 63 %."),
        (
            1.2,
            1.1,
            "Together they tell all of the 1.10 bit there is to know, as far as the estimate goes.",
        ),
        (None, None, "How much they tell together cannot be estimated from these samples."),
        (np.inf, None, "Together they tell it exactly, as far as the estimate goes."),
        (-0.1, None, "Together they tell 0.00 bit."),
    ],
)
def test_the_second_sentence_says_how_much(information, entropy, said):
    told = replace(hostile.explanation(NAMES, 2), information=information)
    record = hostile.selection(NAMES, 2)
    made = summarise(record, explanation=told, about=about(entropy=entropy))
    assert made["answer"][1] == said
    beside = summarise(replace(record, fixed_features=("day",)), explanation=told, about=about())
    if information == 1.2:
        assert beside["answer"][1] == "With what was kept, they tell 1.20 bit."


def test_the_last_sentence_says_what_became_of_the_others():
    assert summary()["answer"][-1] == "None of the others was found to add to that."
    record = hostile.selection(NAMES, 2)
    full = replace(record, steps=record.steps[:2])
    assert summarise(full, about=about())["answer"][-1] == (
        "The search ended at max_features: others may add to that."
    )
    both = replace(record.steps[1], phase="lookahead", jointly_included=("rain", "day"))
    by_two = replace(record, steps=(record.steps[0], record.steps[2], both))
    assert "max_features" in summarise(by_two, about=about())["answer"][-1]
    for settings in ({"n_permutations": 0}, {"criterion": "jmi"}):
        changed = {**hostile.SETTINGS, **settings}
        assert len(summary(explained=False, settings=changed)["answer"]) == 1
    assert len(summary(explained=False, is_complete=False)["answer"]) == 1
    assert len(summary(4, explained=False)["answer"]) == 1  # there are no others


def test_a_target_without_a_name_is_the_target():
    made = summary(about=about(target="target"))
    assert made["title"] == "What tells something about the target"
    assert summary(about=about(title="Mine"))["title"] == "Mine"


def test_what_is_incomplete_says_so_and_gives_no_advice():
    made = summary(0, explained=False, is_complete=False)
    assert made["is_complete"] is False
    assert made["answer"] == [
        "No feature was selected before the run was stopped, of 4 columns given."
    ]
    assert made["advice"] == ""
    assert summary(2, about=about(is_complete=False))["answer"][0].startswith(
        "So far, 2 of 4 columns were"
    )
    assert summary(0)["advice"].startswith("The strongest candidate, 'wind', has 0.")


# ------------------------------------------------------------------------------------ how sure


def test_p_values_are_put_in_words():
    said = summary()["certainty"]
    assert "at level 0.05 against 200 sets of shuffled data" in said[0]
    assert "0.005 is the smallest" in said[0]
    assert "chance passes in 5 % of cases" in said[1]
    assert said[2].startswith("The final p-value tests each feature once more")
    doubtful = summary(p_values={"wind": 0.3, "rain": 0.01})["certainty"][2]
    assert doubtful.endswith("By it, wind does not surely add something to the others.")


def test_tests_that_end_early_or_were_left_out_are_told():
    early = summary(settings={**hostile.SETTINGS, "n_permutations": "auto"})["certainty"]
    assert "as it took, at most 200. Tests ended early" in early[0]
    none = summary(settings={**hostile.SETTINGS, "n_permutations": 0})["certainty"]
    assert none == ["Nothing was tested, as n_permutations is 0: this is a ranking, cut off."]


def test_close_calls_are_told():
    record = hostile.selection(NAMES, 2)
    close = replace(record.steps[2], close_call=True)
    made = summarise(replace(record, steps=(*record.steps[:2], close)), about=about())
    (told,) = [line for line in made["certainty"] if "lose call" in line]
    assert "day" in told
    assert "lose call" not in " ".join(summary()["certainty"])


def test_other_rows_than_those_of_the_tests_are_counted():
    told = replace(hostile.explanation(NAMES, 2), n_samples=90)
    made = summarise(hostile.selection(NAMES, 2), explanation=told, about=about())
    assert made["certainty"][-1] == "How features tell was estimated from 90 rows."
    assert not any("estimated from" in sentence for sentence in summary()["certainty"])


def test_samples_and_stability_are_told():
    made = summary(about=about(n_rows=9000), stability=hostile.stability(NAMES, 2))
    assert made["certainty"][-2] == "The tests went by 400 of 9,000 rows."
    assert "4 parts, each 50 % of the rows. Their stability is" in made["certainty"][-1]
    assert [row["frequency"] for row in made["features"]] == [1.0, 0.75, 0.0, 0.0]


# ------------------------------------------------------------------------------ steps and features


def test_selected_features_stand_with_their_tests():
    first, second = summary()["selected"]
    step = hostile.selection(NAMES, 2).steps[1]
    assert (second["name"], second["step"], second["bits"]) == ("rain", 2, step.value)
    assert (second["p_value"], second["final_p"], second["estimator"]) == (0.005, 0.005, "ksg-rank")
    assert first["sentence"].startswith("wind is strongly relevant")


def test_kept_features_come_first_untested():
    kept, _ = summary(1, explained=False, fixed_features=("hour",))["selected"]
    assert (kept["is_kept"], kept["bits"], kept["p_value"]) == (True, None, None)
    assert kept["sentence"] == "hour was kept from the start, untested."


def test_a_step_lists_the_chosen_one_and_then_the_nearest():
    names = hostile.plain_names(80)
    forward, *_, backward = summarise(hostile.selection(names, 70), about=hostile.about(names))[
        "steps"
    ]
    assert (forward["n_candidates"], len(forward["candidates"])) == (80, MOST_CANDIDATES)
    scores = [row["score"] for row in forward["candidates"]]
    assert forward["candidates"][0]["is_chosen"]
    assert scores == sorted(scores, reverse=True)
    weak = [row["score"] for row in backward["candidates"][1:]]
    assert weak == sorted(weak)
    assert backward["verdict"] == "retained"


def test_without_an_explanation_the_record_says_what_it_can():
    made = summary(2, explained=False, duplicates={"breeze": "wind"}, skipped={"id": "constant"})
    roles = {row["name"]: row["role"] for row in made["features"]}
    assert roles == {
        "wind": "strongly relevant",
        "rain": "strongly relevant",
        "day": "irrelevant",
        "hour": "irrelevant",
        "breeze": "duplicate",
        "id": "skipped",
    }
    assert made["has_atoms"] is False
    said = [row["sentence"] for row in made["features"]]
    assert said[1].endswith("bit beyond what was selected before.")
    assert said[2:4] == ["day was not selected.", "hour was not selected."]
    assert said[4].startswith("breeze is a copy of wind")
    assert made["features"][0]["information"] == hostile.selection(NAMES, 2).steps[0].value


def test_what_was_removed_again_is_told():
    record = hostile.selection(NAMES, 2)
    out = hostile.step(("rain", "wind"), ("wind", "rain"), False, 9, "backward")
    record = replace(record, features=("wind",), steps=(*record.steps[:2], out), p_values={})
    made = summarise(record, about=about())
    said = {row["name"]: row["sentence"] for row in made["features"]}
    assert said["rain"] == "rain was selected, but removed again, as the others tell the same."


def test_those_that_came_in_together_are_told_together():
    record = hostile.selection(NAMES, 1)
    both = replace(record.steps[0], phase="lookahead", jointly_included=("wind", "rain"))
    record = replace(record, features=("wind", "rain"), steps=(both,), p_values={})
    _, second = summarise(record, about=about())["selected"]
    assert second["jointly_included"] == ["wind"]
    assert second["sentence"].startswith("rain and wind together tell 0.")


# -------------------------------------------------------------------------------------- the data


def test_what_the_data_say_of_themselves():
    X = np.random.default_rng(0).normal(size=(8, 2))
    found = About.of(read_dataset(X, list("aabbccdd")), source="x.csv", is_complete=False)
    assert (found.target, found.n_rows, found.n_columns, found.entropy) == ("target", 8, 2, 2.0)
    assert (found.source, found.is_complete) == ("x.csv", False)
    assert About.of(read_dataset(X, X[:, 0])).entropy is None


def test_every_key_is_documented():
    text = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    assert {key for row in rows for key in re.findall(r"`(\w+)`", row)} == set(summary())
