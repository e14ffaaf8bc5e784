from __future__ import annotations

import json

import numpy as np
import pytest

from reproduction.agreement import Verdict
from reproduction.examples import (
    EXPERIMENT,
    make_example,
    run_labels,
    run_sample,
    run_selection,
    run_terms,
    with_label_noise,
)
from reproduction.examples.figures import ESTIMATES, EXAMPLES
from reproduction.experiment import Results

MANDATORY = {
    "Example 3 as printed: information shared",
    "Example 3 (means apart): purely redundant",
    "Example 3 (means apart): CMI is zero",
    "Example 2 significant more often than Example 1",
    "Example 1 significant in some runs only",
    "Examples 1 and 2: synergy though independent",
    "Example 2: synergy more evident than in Example 1",
    "Examples 1 and 2: single and joint MI significant",
    "Example 4 mostly unique X1",
    "Example 5 mostly unique X1",
    "Examples 4 and 5: little redundancy, some synergy",
    "Example 4 less redundant than Examples 1 and 2, though correlated",
    "Example 5: X2 alone tells nothing",
    "Example 1: higher relative redundancy than Example 2",
}


# ------------------------------------------------------------------------------------------ runs


@pytest.fixture(scope="module")
def equal_inputs():
    return run_terms(1, example="3*")


def test_terms_are_plain_and_the_same_twice(equal_inputs):
    assert json.loads(json.dumps(equal_inputs, allow_nan=False)) == equal_inputs
    assert run_terms(1, example="3*") == equal_inputs
    assert set(equal_inputs["terms"]) == set(ESTIMATES)


def test_equal_inputs_share_everything_by_every_estimator(equal_inputs):
    for terms in equal_inputs["terms"].values():
        assert terms["cmi"]["bits"] == pytest.approx(0.0, abs=1e-9)
        assert terms["mi1"] == terms["mi2"]
        assert terms["joint"]["bits"] == pytest.approx(terms["mi1"]["bits"], abs=1e-9)
    for binning, parts in equal_inputs["atoms"].items():
        assert parts["shared"] == pytest.approx(equal_inputs["terms"][binning]["joint"]["bits"])
    assert equal_inputs["within"] == pytest.approx(1.0)


def test_correlations_are_those_of_the_model():
    drawn = run_terms(0, example="4")
    overall = 0.4 / np.sqrt((0.1 + 0.25) * 2.0)  # half of the distance of the means counts, too
    within = 0.4 / np.sqrt(0.1 * 2.0)
    assert drawn["correlation"] == pytest.approx(overall, abs=0.08)
    assert drawn["within"] == pytest.approx(within, abs=0.03)


def test_one_input_tells_what_two_normal_classes_do(equal_inputs):
    """Integrate the information of a class about a normal variable, means 2 apart."""
    x = np.linspace(-9, 9, 20001)
    classes = np.exp(-((x - np.array([[-1.0], [1.0]])) ** 2) / 2) / np.sqrt(2 * np.pi)
    both = classes.mean(axis=0)
    bits = np.mean(np.sum(classes * np.log2(classes / both), axis=1)) * (x[1] - x[0])
    assert equal_inputs["terms"]["mixed"]["mi1"]["bits"] == pytest.approx(bits, abs=0.07)


def test_noise_hides_labels_and_leaves_the_data_alone():
    outcome = run_labels(0, example="1", noise=2.0)
    json.dumps(outcome, allow_nan=False)
    clear = run_labels(0, example="1", noise=0.1)
    assert 0.2 + outcome["terms"]["joint"]["bits"] < clear["terms"]["joint"]["bits"]
    y = make_example("1", 0).y
    assert np.std(with_label_noise(y, 0.75, 0) - y) == pytest.approx(0.75, rel=0.1)


def test_a_sample_has_points_and_densities_that_add_up():
    outcome = run_sample(0, example="5")
    json.dumps(outcome, allow_nan=False)
    assert [len(points) for points in outcome["points"]] == [200, 200]
    for density in outcome["densities"]:
        step = density["places"][1] - density["places"][0]
        for heights in density["heights"]:
            assert sum(heights) * step == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("settings", ["paper", "paper 0.75", "defaults"])
def test_of_equal_inputs_one_is_selected(settings):
    outcome = run_selection(2, example="3*", settings=settings)
    assert json.loads(json.dumps(outcome)) == outcome
    assert len(outcome["selected"]) == 1


# ---------------------------------------------------------------------------------------- report


def made_up(example, seed):
    """Return a run that is as the paper says, with a little noise."""
    noise = abs(1e-3 * np.random.default_rng(seed).standard_normal())
    parts = {
        "1": {"unique1": 0.02, "unique2": 0.02, "shared": 0.4, "synergy": 0.1},
        "2": {"unique1": 0.2, "unique2": 0.0, "shared": 0.2, "synergy": 0.15},
        "3": {"unique1": 0.0, "unique2": 0.0, "shared": 0.0, "synergy": 0.0},
        "3*": {"unique1": 0.0, "unique2": 0.0, "shared": 0.4, "synergy": 0.0},
        "4": {"unique1": 0.7, "unique2": 0.0, "shared": 0.01, "synergy": 0.2},
        "5": {"unique1": 0.7, "unique2": 0.0, "shared": 0.0, "synergy": 0.2},
    }[example]
    parts = {name: value + (noise if value else 0.0) for name, value in parts.items()}
    bits = {
        "mi1": parts["unique1"] + parts["shared"],
        "mi2": parts["unique2"] + parts["shared"],
        "cmi": parts["unique1"] + parts["synergy"],
        "joint": sum(parts.values()),
    }
    terms = {name: {"bits": value, "line": 0.03} for name, value in bits.items()}
    correlated = example in ("4", "5")
    return {
        "terms": dict.fromkeys(ESTIMATES, terms),
        "atoms": {"count": parts, "width": parts},
        "correlation": 0.9 + noise if correlated else 0.1,
        "within": 0.9 + noise if correlated else 0.0,
    }


def made_labels(example, noise, seed):
    """Return a run in which X1 adds something in Example 2, and in 1 only every second time."""
    found = noise == 0.1 or example == "2" or seed % 2 == 0
    bits = {"mi1": 0.1, "mi2": 0.1, "cmi": 0.1 if found else 0.01, "joint": 0.2}
    return {"terms": {name: {"bits": value, "line": 0.03} for name, value in bits.items()}}


def results_of(runs, change=lambda example, outcome: outcome):
    terms = [
        ({"example": example}, seed, change(example, made_up(example, seed)))
        for example in EXAMPLES
        for seed in range(runs)
    ]
    labels = [
        ({"example": example, "noise": noise}, seed, made_labels(example, noise, seed))
        for example in ("1", "2")
        for noise in (0.1, 0.75)
        for seed in range(runs)
    ]
    return Results({"terms": terms, "labels": labels})


def verdicts(results):
    return {claim.name: claim.verdict for claim in EXPERIMENT.report(results).claims}


def test_all_claims_of_the_paper_are_there_and_none_twice():
    names = [claim.name for claim in EXPERIMENT.report(Results({})).claims]
    assert set(names) >= MANDATORY
    assert len(names) == len(set(names))


def test_nothing_run_is_reported_as_such():
    findings = EXPERIMENT.report(Results({}))
    assert {claim.verdict for claim in findings.claims} == {Verdict.NOT_RUN}
    assert not findings.figures


def test_one_run_is_drawn_but_settles_nothing():
    findings = EXPERIMENT.report(results_of(1))
    assert Verdict.DIFFERS not in {claim.verdict for claim in findings.claims}
    assert [figure.name for figure in findings.figures] == ["examples-terms", "examples-labels"]
    assert findings.figures[0].panels[0].series[0].error is None


def test_examples_with_unequal_numbers_of_runs_are_paired():
    rows = [({"example": "1"}, seed, made_up("1", seed)) for seed in range(3)]
    rows += [({"example": "2"}, seed, made_up("2", seed)) for seed in range(2)]
    found = {c.name: c.ours.runs for c in EXPERIMENT.report(Results({"terms": rows})).claims}
    assert found["Example 1: higher relative redundancy than Example 2"] == 2
    assert found["Example 4 more correlated than Examples 1 and 2"] == 0


def test_runs_as_the_paper_has_them_agree():
    found = verdicts(results_of(20))
    significance = {
        "Example 1 significant in some runs only",
        "Example 2 significant more often than Example 1",
    }
    as_printed = "Example 3 as printed: information shared"
    assert found[as_printed] is Verdict.DIFFERS
    agree = MANDATORY - significance - {as_printed}
    assert {name: found[name] for name in agree} == dict.fromkeys(agree, Verdict.AGREES)
    assert all(found[f"{name} (label noise 0.75)"] is Verdict.AGREES for name in significance)
    assert all(found[name] is Verdict.DIFFERS for name in significance)


@pytest.mark.parametrize(
    ("example", "atom", "value", "broken"),
    [
        ("3*", "shared", 0.3, "Example 3 (means apart): purely redundant"),
        ("1", "synergy", 0.0, "Examples 1 and 2: synergy though independent"),
        ("4", "unique1", 0.1, "Example 4 mostly unique X1"),
        ("5", "shared", 0.3, "Examples 4 and 5: little redundancy, some synergy"),
        (
            "4",
            "shared",
            0.5,
            "Example 4 less redundant than Examples 1 and 2, though correlated",
        ),
        ("1", "shared", 0.1, "Example 1: higher relative redundancy than Example 2"),
        ("2", "synergy", 0.05, "Example 2: synergy more evident than in Example 1"),
    ],
)
def test_other_atoms_differ(example, atom, value, broken):
    def change(where, outcome):
        if where == example:
            outcome["atoms"]["width"] = {**outcome["atoms"]["width"], atom: value}
        return outcome

    assert verdicts(results_of(20, change))[broken] is Verdict.DIFFERS


def test_remarks_say_what_was_found():
    found = {claim.name: claim.remark for claim in EXPERIMENT.report(results_of(20)).claims}
    fitted = found["Example 1 significant in some runs only (label noise 0.75)"]
    assert fitted.startswith("Of the sizes tried (0.1, 0.75), all four")
    assert "hold with 0.75." in fitted
    assert "at 0.10 in Example 1" in found["Example 4 more correlated than Examples 1 and 2"]
    assert (
        "equal counts it is 7" in found["Example 4 mostly unique X1"]
    )  # 0.7 of 0.91 bit, in percent


def test_a_drawn_sample_has_a_row_for_each_example():
    rows = [({"example": one}, 0, run_sample(0, example=one)) for one in ("1", "3*")]
    (figure,) = EXPERIMENT.report(Results({"sample": rows})).figures
    assert figure.n_columns == 3
    assert [panel.kind for panel in figure.panels] == ["points", "lines", "lines"] * 2


def test_selections_are_counted():
    rows = [({"example": "4", "settings": "defaults"}, 0, {"selected": ["X2", "X1"]})]
    tables = EXPERIMENT.report(Results({"selection": rows})).comparisons
    run = {c.column: c.ours.mean for table in tables for c in table.cells if c.ours.runs}
    assert run == {"neither": 0.0, "X1 only": 0.0, "X2 only": 0.0, "both": 100.0}
    assert tables[-1].caption.endswith("Right in 100 % our defaults.")
