"""The toy system: its runs, and what is made of them."""

import json
from typing import Any

import numpy as np
import pytest

from pidselect.datasets import toy
from reproduction.agreement import Verdict
from reproduction.experiment import Results
from reproduction.toy import EXPERIMENT, run_atoms, run_selection, run_terms

PATH = ("X1", "eta")


def a_selection(extra: bool = False) -> dict[str, Any]:
    """Return a run on the paper's path; with `extra`, X2 comes along at the third step."""

    def step(given: list[str], p_values: dict[str, float], accepted: bool) -> dict[str, Any]:
        return {
            "phase": "forward",
            "given": given,
            "candidates": list(p_values),
            "bits": [0.1 if p_value <= 0.05 else 0.01 for p_value in p_values.values()],
            "null_line": 0.05,
            "p_values": list(p_values.values()),
            "chosen": min(p_values, key=lambda name: p_values[name]),
            "accepted": accepted,
        }

    steps = [
        step([], {"X1": 0.001, "X2": 0.002, "eta": 0.9}, True),
        step(["X1"], {"X2": 0.4, "eta": 0.001}, True),
        step(["X1", "eta"], {"X2": 0.01 if extra else 0.3}, extra),
    ]
    return {"selected": [*PATH, "X2"] if extra else list(PATH), "steps": steps}


def selections(*runs: dict[str, Any]) -> Results:
    point = {"settings": "paper"}
    return Results({"selection": [(point, seed, run) for seed, run in enumerate(runs)]})


@pytest.fixture(scope="module")
def terms() -> dict[str, Any]:
    return run_terms(2)


@pytest.fixture(scope="module")
def selection() -> dict[str, Any]:
    return run_selection(2, "paper")


def claims_of(results: Results) -> dict[str, Any]:
    return {claim.name: claim for claim in EXPERIMENT.report(results).claims}


def test_runs_are_plain_and_repeatable(terms: dict[str, Any], selection: dict[str, Any]) -> None:
    first = [terms, selection, run_atoms(2)]
    second = [run_terms(2), run_selection(2, "paper"), run_atoms(2)]
    assert json.dumps(first, allow_nan=False) == json.dumps(second, allow_nan=False)


def test_terms_are_those_of_the_selection(terms: dict[str, Any], selection: dict[str, Any]) -> None:
    first = selection["steps"][0]
    assert first["candidates"] == ["X1", "X2", "eta"]
    alone = [terms["ksg"][f"I({name};Y)"]["bits"] for name in first["candidates"]]
    assert first["bits"] == pytest.approx(alone)


def test_atoms_add_up_to_plug_in_terms(terms: dict[str, Any]) -> None:
    plug_in, atoms = terms["count"], run_atoms(2)["count"]
    second = atoms["step 2: X2"]
    assert second["unique1"] + second["shared"] == pytest.approx(plug_in["I(X1;Y)"]["bits"])
    assert second["unique2"] + second["synergy"] == pytest.approx(plug_in["I(X2;Y|X1)"]["bits"])
    third = atoms["step 3: X2"]
    assert third["unique2"] + third["synergy"] == pytest.approx(plug_in["I(X2;Y|X1,eta)"]["bits"])


def test_inputs_add_what_the_notes_say() -> None:
    """Given normal inputs the signal is normal, and Y's density an integral over it."""
    problem = toy(20_000, random_state=0)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)

    def log_density(
        columns: list[int], covariance: list[list[float]], with_signal: list[float]
    ) -> Any:
        gain = np.linalg.solve(covariance, with_signal)
        spread = np.sqrt(1 - np.dot(with_signal, gain))
        signal = (problem.X[:, columns] @ gain)[:, np.newaxis] + spread * nodes
        density = np.exp(-0.5 * ((problem.y[:, np.newaxis] - np.sin(signal)) / 0.1) ** 2)
        return np.log2(density @ weights)

    alone = log_density([0], [[1.01]], [1.0])
    both = log_density([0, 1], [[1.01, 0.801], [0.801, 0.6801]], [1.0, 0.8])
    assert np.mean(both - alone) == pytest.approx(0.027, abs=0.004)
    second = log_density([1], [[0.6801]], [0.8])
    with_eta = log_density([1, 2], [[0.6801, 0.01], [0.01, 1.0]], [0.8, 0.0])
    assert np.mean(with_eta - second) == pytest.approx(0.001, abs=0.001)


@pytest.mark.parametrize("n_runs", [0, 1, 2])
def test_report_of_few_runs(terms: dict[str, Any], n_runs: int) -> None:
    results = Results(
        {
            "terms": [({}, seed, terms) for seed in range(n_runs)],
            "atoms": [({}, seed, run_atoms(seed)) for seed in range(n_runs)],
        }
    )
    findings = EXPERIMENT.report(results)
    assert len({claim.name for claim in findings.claims}) == len(findings.claims)
    verdicts = {claim.name: claim.verdict for claim in findings.claims}
    expected = [Verdict.NOT_RUN, Verdict.UNDECIDED, Verdict.AGREES][n_runs]
    assert verdicts["toy: X1 tells more than X2"] is expected
    assert verdicts["toy: X1 and eta selected"] is Verdict.NOT_RUN
    assert [len(figure.panels) for figure in findings.figures] == ([4] if n_runs else [])


def test_verdicts_on_the_path() -> None:
    typical = claims_of(selections(*[a_selection()] * 19, a_selection(extra=True)))
    assert typical["toy: X1 and eta selected"].ours.mean == 95
    assert typical["toy: X1 and eta selected"].verdict is Verdict.AGREES
    assert typical["toy: X1 included first, then eta"].verdict is Verdict.AGREES
    assert not typical["toy: X1 included first, then eta"].remark
    near = claims_of(selections(*[a_selection()] * 15, *[a_selection(extra=True)] * 5))
    assert near["toy: X1 and eta selected"].remark.endswith("standard errors from its limit.")
    assert typical["toy: backward elimination keeps both"].ours.runs == 19
    assert typical["toy: only eta significant at step 2"].verdict is Verdict.AGREES
    rare = claims_of(selections(*[a_selection(extra=True)] * 20))
    assert rare["toy: X2 not significant at step 3"].verdict is Verdict.DIFFERS
    assert rare["toy: only X1 and X2 significant at step 1"].verdict is Verdict.AGREES
    assert rare["toy: backward elimination keeps both"].verdict is Verdict.NOT_RUN


def test_table_of_sets() -> None:
    table = EXPERIMENT.report(selections(a_selection(), a_selection(extra=True))).comparisons[0]
    shown = {(at.row, at.column): at.ours for at in table.cells}
    assert shown["as the paper", "exactly X1 and eta"].mean == 50
    assert shown["as the paper", "X2 besides"].mean == 50
    assert shown["our defaults", "exactly X1 and eta"].runs == 0
    assert "0.0550 bit on average" in table.caption
    assert "50 % pass" in table.caption
