"""The summary of a report: plain values, and sentences with the numbers of the record."""

import json
import re
from dataclasses import replace
from pathlib import Path

import hostile
import numpy as np
import pytest

from pidselect.data.diagnostics import Finding
from pidselect.report.page import render_report
from pidselect.report.summary import FORMAT, MAX_CANDIDATES, ReportMetadata, summarise

NAMES = ("wind", "rain", "day", "hour")


def metadata(**more):
    facts = {"target": "rentals", "n_rows": 400, "n_columns": 4}
    return ReportMetadata(**{**facts, "feature_types": dict.fromkeys(NAMES, "continuous"), **more})


METADATA = metadata()


def summary(n_selected=2, explained=True, *, metadata=METADATA, stability=None, **more):
    record = hostile.selection(NAMES, n_selected, **more)
    explanation = hostile.explanation(NAMES, n_selected) if explained else None
    return summarise(record, explanation=explanation, stability=stability, metadata=metadata)


def test_it_is_ready_for_json_whatever_names_and_values_are():
    record = hostile.selection()
    first = record.steps[0]
    endless = replace(first, values=(np.inf, *first.values[1:]))
    found = summarise(
        replace(record, steps=(endless, *record.steps[1:])),
        explanation=hostile.explanation(),
        stability=hostile.stability(),
        findings=[Finding("ties", ("a",), "Many.")],
        metadata=hostile.metadata(),
    )
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["format"] == FORMAT
    assert found["steps"][0]["bits"] == "inf"
    assert found["findings"] == [{"topic": "ties", "columns": ["a"], "sentence": "Many."}]


def test_warnings_are_those_of_the_fit():
    record = hostile.selection(NAMES, 2)  # wind and rain
    record = replace(record, warnings=("rain: this column grows.",))
    found = summarise(record, metadata=METADATA)
    assert found["warnings"] == ["rain: this column grows."]
    assert "rain: this column grows." in render_report(found)


# ------------------------------------------------------------------------------------ conclusions


@pytest.mark.parametrize(
    ("bits", "entropy", "expected"),
    [
        (0.6, None, "1.200 bits of information about .*, as much as .* R2 = 0.81"),
        (0.6, 1.9, "1.200 bits of information about .*, 63 % of its entropy of 1.900 bits"),
        (None, None, "not estimable"),
        (np.inf, None, "infinite"),
    ],
)
def test_the_conclusion_has_the_joint_information_with_a_yardstick(bits, entropy, expected):
    explanation = hostile.explanation(NAMES, 2, entropy=entropy)
    explanation = replace(explanation, bits_added=dict.fromkeys(("wind", "rain"), bits))
    found = summarise(hostile.selection(NAMES, 2), explanation=explanation, metadata=METADATA)
    assert re.search(expected, found["conclusions"][0])
    explained = found["explanation"]
    assert explained["information"] == (2 * bits if bits and np.isfinite(bits) else bits and "inf")
    assert explained["share_name"] == ("R2" if entropy is None else f"share of H({hostile.TARGET})")


def test_an_empty_selection_has_remedies_unless_it_is_incomplete():
    assert "'wind'" in summary(0)["empty_reason"]
    found = summary(0, explained=False, is_complete=False)
    assert (found["is_complete"], found["empty_reason"]) == (False, "")


# ----------------------------------------------------------------------------------- significance


def significance(**more):
    return " ".join(summary(**more)["significance"])


def by_estimator(**more):
    record = hostile.selection(NAMES, 2)
    steps = tuple(replace(step, unit="bit", **more) for step in record.steps)
    settings = replace(hostile.SETTINGS, estimator="KSG()")
    return replace(record, steps=steps, settings=settings)


def test_level_permutations_and_final_p_values():
    text = significance()
    assert all(number in text for number in ("residuals", "200 times", "0.05", "80 %", "20 %"))
    assert f"{1 / 201 / 0.8:.3g}" in text  # the smallest p-value: over the share of its test
    assert "adjusted" not in text
    assert "wind" not in text
    text = " ".join(summarise(by_estimator(), metadata=METADATA)["significance"])
    assert all(words in text for words in ("0.05", "200 permutations", "0.005", "5 %", "adjusted"))
    weak = summary(p_values={"wind": 0.3, "rain": 0.01})["significance"][-1]
    assert "wind" in weak
    assert "rain" not in weak


def test_sequential_and_omitted_tests():
    auto = replace(hostile.SETTINGS, n_permutations="auto")
    found = summary(settings=auto)
    assert "sequential" not in " ".join(found["significance"]).lower()
    assert f"{1 / 251 / 0.8:.3g}" in " ".join(found["significance"])
    assert not found["is_sequential"]
    early = summarise(replace(by_estimator(), settings=auto), metadata=METADATA)
    assert "at most 200 permutations" in " ".join(early["significance"])
    assert early["is_sequential"]
    assert "stop early" in " ".join(early["significance"])
    (none,) = summary(settings=replace(hostile.SETTINGS, n_permutations=0))["significance"]
    assert "n_permutations" in none


def test_stability():
    found = summary(stability=hostile.stability(NAMES, 2))
    assert "4 subsamples of 50 %" in found["significance"][-1]
    assert [row["frequency"] for row in found["features"]] == [1.0, 0.75, 0.0, 0.0]


# ------------------------------------------------------------------------------ steps and features


def test_selected_features_have_their_tests():
    first, second = summary(p_values={"wind": 0.005, "rain": 0.01})["selected"]
    assert (second["name"], second["step"], second["bits_added"]) == ("rain", 2, 0.25)
    assert (second["p_value"], second["final_p"], second["estimator"]) == (0.005, 0.01, "line")
    assert first["name"] == "wind"
    assert summary(p_values={})["selected"][0]["final_p"] is None


def test_features_have_their_values_and_sentences():
    explanation = hostile.explanation(NAMES, 2)
    types = {"wind": "continuous"}
    rows = summary(metadata=metadata(feature_types=types))["features"]
    assert [row["feature_type"] for row in rows] == ["continuous", *["group"] * 3]
    for row, feature in zip(rows, explanation, strict=True):
        for key in ("name", "added", "unique", "shared", "synergy", "information", "sentence"):
            assert row[key] == getattr(feature, key)
    assert rows[1]["short"].endswith("redundant with wind.")
    assert rows[1]["intervals"]["added"] == list(explanation["rain"].intervals["added"])


def test_features_that_are_relevant_but_not_in_the_minimal_set():
    tests = replace(hostile.step(NAMES, (), True, 0, "marginal"), jointly_included=("hour",))
    found = summary(also_relevant=("hour",), marginal=tests)
    assert [row["is_minimal"] for row in found["selected"]] == [True, True, False]
    rows = found["features"]
    assert [row["name"] for row in rows] == ["wind", "rain", "hour", "day"]
    assert [row["selected"] for row in rows] == [True, True, True, False]
    assert [row["is_minimal"] for row in rows] == [True, True, False, True]


def test_information_that_was_not_estimated_is_null():
    record = hostile.selection(NAMES, 2)
    first = record.steps[0]
    unknown = replace(first, values=(first.values[0], *[np.nan] * (len(first.values) - 1)))
    record = replace(record, steps=(unknown, *record.steps[1:]))
    found = summarise(record, metadata=METADATA)
    bits = {row["name"]: row["bits"] for row in found["steps"][0]["candidates"]}
    assert bits == {"wind": first.values[0], "rain": None, "day": None, "hour": None}
    assert found["selection"]["steps"][0]["values"][1:] == [None] * 3
    frame = record.to_frame()
    assert np.isnan(np.array(frame[frame["step"] == 1]["bits"], dtype=float)).tolist() == [
        False,
        *[True] * 3,
    ]
    page = render_report(found)
    assert not re.search(r">\s*nan", page)
    assert replace(first, values=(first.values[0], *map(float, ["nan"] * 3))) == unknown != first
    other = replace(unknown, chosen="rain", p_value=0.5)
    assert "nan" not in str(other)
    assert "p = 0.5" in str(other)


def test_a_step_lists_the_chosen_one_and_then_the_nearest():
    names = hostile.plain_names(80)
    found = summarise(hostile.selection(names, 70), metadata=hostile.metadata(names))
    forward, *_, backward = found["steps"]
    assert (forward["n_candidates"], len(forward["candidates"])) == (80, MAX_CANDIDATES)
    scores = [row["score"] for row in forward["candidates"]]
    assert forward["candidates"][0]["is_chosen"]
    assert scores == sorted(scores, reverse=True)
    weak = [row["score"] for row in backward["candidates"][1:]]
    assert weak == sorted(weak)
    assert backward["outcome"] == "retained"


def test_without_an_explanation_roles_are_those_of_the_record():
    found = summary(2, explained=False, duplicates={"breeze": "wind"}, skipped={"id": "constant"})
    roles = {row["name"]: row["role"] for row in found["features"]}
    assert roles == {
        "wind": "strongly relevant",
        "rain": "strongly relevant",
        "day": "irrelevant",
        "hour": "irrelevant",
        "breeze": "duplicate",
        "id": "skipped",
    }
    assert found["explanation"] is None
    sentences = [row["sentence"] for row in found["features"]]
    assert all(name in sentence for name, sentence in zip(roles, sentences, strict=True))
    assert "wind" in sentences[4]
    assert "constant" in sentences[5]
    assert sentences[1] == "rain adds 0.250 bits to the features selected before."
    assert found["features"][0]["added"] is None
    assert found["features"][0]["p_value"] == 0.005


def test_jointly_included_features():
    record = hostile.selection(NAMES, 1)
    both = replace(record.steps[0], phase="lookahead", jointly_included=("wind", "rain"))
    record = replace(record, features=("wind", "rain"), steps=(both,), p_values={})
    found = summarise(record, metadata=METADATA)
    assert found["selected"][1]["jointly_included"] == ["wind"]
    assert "jointly with wind" in found["features"][1]["sentence"]
    interrupted = summarise(replace(record, bits_added={}), metadata=METADATA)["features"][1]
    assert interrupted["sentence"] == "rain, jointly with wind, was included at step 1."


# -------------------------------------------------------------------------------------- metadata


def test_every_key_is_documented():
    text = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    assert {key for row in rows for key in re.findall(r"`(\w+)`", row)} == set(summary())
