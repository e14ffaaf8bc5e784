from __future__ import annotations

import json

import numpy as np
import pytest

import naive_decomposition as naive
from pidselect.datasets import gate
from reproduction.agreement import Verdict
from reproduction.experiment import Results
from reproduction.redundancy import (
    EXPERIMENT,
    run_exact,
    run_parity,
    run_sampled,
    run_selection,
)
from reproduction.redundancy.cases import (
    CASES,
    common_cause,
    correlated_copy,
    counterexample,
    information_between,
)

MANDATORY = {
    "AND: shared 0.311",
    "AND: inputs independent",
    "counterexample: dependent features",
    "counterexample: nothing shared",
    "source redundancy bounded by I(F1;F2)",
}


def entropy_of_bit(p):
    return -p * np.log2(p) - (1 - p) * np.log2(1 - p)


# ----------------------------------------------------------------------------------------- cases


@pytest.mark.parametrize("case", CASES)
def test_cases_are_distributions_of_two_features_and_a_target(case):
    pmf = CASES[case]()
    assert pmf.ndim == 3
    assert pmf.sum() == pytest.approx(1.0)
    assert (pmf >= 0).all()


def test_information_is_that_of_a_count_over_all_outcomes():
    pmf = np.random.default_rng(0).dirichlet(np.ones(24)).reshape(2, 3, 4)
    ours = information_between(pmf, [0], [1], given=[2])
    bits = 0.0
    for (i, j, k), p in np.ndenumerate(pmf):
        joint = pmf[:, :, k].sum()
        bits += p * np.log2(p * joint / (pmf[i, :, k].sum() * pmf[:, j, k].sum()))
    assert ours == pytest.approx(bits)


def test_what_features_know_about_each_other_is_known():
    one_bit = information_between(counterexample(0.1), [0], [1])
    assert one_bit == pytest.approx(1.0)
    alike = information_between(correlated_copy(0.9), [0], [1])
    assert alike == pytest.approx(1 - entropy_of_bit(0.9))
    caused = information_between(common_cause(0.1), [0], [1])
    assert caused == pytest.approx(1 - entropy_of_bit(2 * 0.1 * 0.9))


# ------------------------------------------------------------------------------------------ runs


@pytest.fixture(scope="module")
def exact():
    return [({"case": case}, 0, run_exact(0, case)) for case in CASES]


def test_runs_are_plain_and_the_same_twice(exact):
    assert json.loads(json.dumps(exact[0][2], allow_nan=False)) == run_exact(0, "AND")
    for run in (
        lambda: run_sampled(5, "AND"),
        lambda: run_selection(5, "cmi"),
        lambda: run_parity(5),
    ):
        assert json.loads(json.dumps(run(), allow_nan=False)) == run()


def test_the_bit_in_common_is_not_shared_about_the_target(exact):
    found = {where["case"]: outcome for where, _, outcome in exact}
    flipped = found["counterexample, 10 % flipped"]["atoms"]["broja"]
    assert flipped["unique1"] == pytest.approx(1 - entropy_of_bit(0.1), abs=1e-6)
    assert flipped["shared"] == pytest.approx(0.0, abs=1e-6)
    cause = found["common cause"]
    assert cause["atoms"]["broja"]["shared"] > cause["between"] + 0.2


def test_every_measure_adds_up_on_every_case(exact):
    for _, _, outcome in exact:
        for atoms in outcome["atoms"].values():
            assert atoms["unique1"] + atoms["shared"] == pytest.approx(outcome["mi1"], abs=1e-6)
            assert atoms["unique1"] + atoms["synergy"] == pytest.approx(outcome["cmi"], abs=1e-6)


def test_a_parity_of_three_is_invisible_to_pairs():
    outcome = run_parity(0)
    assert outcome["pairs"] == pytest.approx(0.0, abs=1e-12)
    assert outcome["cmi"] == pytest.approx(1.0)


def test_criteria_that_subtract_dependence_miss_a_relevant_feature():
    assert set(run_selection(1, "cmi")["selected"]) == {"F1", "F2"}
    assert len(set(run_selection(1, "mifs")["selected"]) & {"F1", "F2"}) == 1


# ---------------------------------------------------------------------------------------- report


def verdicts(parts):
    return {claim.name: claim.verdict for claim in EXPERIMENT.report(Results(parts)).claims}


def test_all_claims_of_the_paper_are_there_and_nothing_run_is_told():
    findings = EXPERIMENT.report(Results({}))
    names = [claim.name for claim in findings.claims]
    assert set(names) >= MANDATORY
    assert len(names) == len(set(names))
    assert {claim.verdict for claim in findings.claims} == {Verdict.NOT_RUN}
    assert not findings.figures


def test_what_is_known_exactly_is_settled_by_one_run(exact):
    found = verdicts({"exact": exact, "parity": [({}, 0, run_parity(0))]})
    run = {name: verdict for name, verdict in found.items() if verdict is not Verdict.NOT_RUN}
    assert set(run) >= MANDATORY
    assert set(run.values()) == {Verdict.AGREES}


@pytest.mark.parametrize(
    ("case", "key", "value", "broken"),
    [
        ("AND", "shared", 0.313, "AND: shared 0.311"),
        ("AND", "between", 0.01, "AND: inputs independent"),
        ("counterexample", "between", 0.0, "counterexample: dependent features"),
        ("counterexample", "shared", 0.1, "counterexample: nothing shared"),
        ("same bit", "between", 0.5, "source redundancy bounded by I(F1;F2)"),
    ],
)
def test_another_number_differs(exact, case, key, value, broken):
    changed = json.loads(json.dumps(exact))
    for where, _, outcome in changed:
        if where["case"] == case:
            (outcome["atoms"]["broja"] if key == "shared" else outcome)[key] = value
    assert verdicts({"exact": changed})[broken] is Verdict.DIFFERS


def test_few_samples_are_drawn(exact):
    parts = {
        "sampled": [({"case": "AND"}, seed, run_sampled(seed, "AND")) for seed in range(3)],
        "selection": [({"criterion": "cmi"}, 0, run_selection(0, "cmi"))],
    }
    (figure,) = EXPERIMENT.report(Results(parts)).figures
    sampled, selected = figure.panels
    assert len(sampled.series) == 5
    assert sampled.series[0].error is not None
    assert list(selected.series[0].x) == ["cmi"]


def test_an_and_gate_is_what_the_slow_twin_says(exact):
    """The smallest mutual information of a source, which is what inputs alike share by BROJA."""
    distribution = naive.to_dict(gate("AND"))
    single, target = naive.marginal(distribution, [0, 2]), naive.marginal(distribution, [2])
    bits = sum(p * np.log2(p / (0.5 * target[(y,)])) for (_, y), p in single.items())
    found = exact[0][2]["atoms"]
    assert found["broja"]["shared"] == pytest.approx(bits, abs=1e-6)
    assert found["mmi"]["shared"] == pytest.approx(bits, abs=1e-9)
