"""Statistical models: runs, and what is made of them."""

import json
from typing import Any

import numpy as np
import pytest

from reproduction.agreement import Verdict
from reproduction.experiment import Results
from reproduction.models import EXPERIMENT, run_curve, run_others, run_selection
from reproduction.models.curves import KINDS
from reproduction.terms import term
from reproduction.two_variable_models import statistical_model

GRID = [round(0.25 * place, 10) for place in range(9)]
NAMES = ("unique1", "unique2", "shared", "synergy", "mi1", "mi2", "cmi1", "cmi2", "joint")
MANDATORY = {
    *(
        f"{name} ({kind})"
        for kind in KINDS
        for name in (
            "synergy peaks at alpha 0.5",
            "redundancy peaks at alpha 0.5",
            "synergy lowest at alpha 1",
            "redundancy lowest at alpha 1",
            "unique X2 highest at alpha 0",
            "unique X1 highest at alpha 1",
            "noise lowers all terms",
            "same shape for other inputs and noise",
            "same shape for other inputs",
        )
    ),
    "additive synergy above multiplicative",
    "contributions grow beyond alpha 1 (additive)",
    "contributions shrink beyond alpha 1 (multiplicative)",
    "similar synergy and redundancy at alpha 1 in both models",
}


def a_sweep(synergy: list[float], scale: float = 1.0, **curves: list[float]) -> dict[str, Any]:
    """Return a made-up sweep over `GRID`, in which what is not named is `scale` everywhere."""
    rows = {name: [scale] * len(GRID) for name in NAMES}
    rows |= {"synergy": [scale * value for value in synergy]} | curves
    lines = {name: [0.05] * len(GRID) for name in ("mi1", "mi2", "cmi1", "cmi2")}
    estimates = dict.fromkeys(("ksg", "mixed", "count", "width"), rows)
    return {"alpha": GRID, **estimates, "lines": lines}


PEAKED = [0, 0.5, 1, 0.5, 0, 0.5, 1, 1.5, 2]
FLAT = [1, 0.5, 0, 0.5, 1, 1.5, 1, 0.5, 0.0]


def curves(additive: dict[str, Any], multiplicative: dict[str, Any]) -> Results:
    runs = [
        ({"kind": kind, "step": 0.25}, seed, outcome)
        for kind, outcome in (("additive", additive), ("multiplicative", multiplicative))
        for seed in range(20)
    ]
    return Results({"curve": runs})


def verdicts_of(results: Results) -> dict[str, Verdict]:
    return {claim.name: claim.verdict for claim in EXPERIMENT.report(results).claims}


def test_runs_are_plain_and_repeatable() -> None:
    first, second = (
        [
            run_curve(1, "additive", 1.0),
            run_others(1, "multiplicative", "poisson", 1.0, 1.0),
            run_selection(1, "additive", 0.5, "paper"),
        ]
        for _ in range(2)
    )
    assert json.dumps(first, allow_nan=False) == json.dumps(second, allow_nan=False)
    assert first[2] == {"selected": first[2]["selected"], "relevant": ["X1", "X2"]}
    assert "mixed" in first[1]


def test_plug_in_terms_are_those_of_the_estimator() -> None:
    sweep = run_others(5, "multiplicative", "uniform", 0.1, 1.0)
    problem = statistical_model(1000, kind="multiplicative", alpha=2.0, random_state=5)
    X1, X2 = problem.X.T
    options: dict[str, Any] = {"binning": "count", "n_permutations": 0}
    assert sweep["count"]["mi1"][2] == pytest.approx(term(X1, problem.y, **options)["bits"])
    assert sweep["count"]["cmi2"][2] == pytest.approx(term(X2, problem.y, X1, **options)["bits"])
    assert sweep["count"]["joint"][2] == pytest.approx(
        term(problem.X, problem.y, **options)["bits"]
    )


def test_noisy_uniform_input_tells_what_an_integral_says() -> None:
    """At alpha 1, Y is X1 with noise: its entropy by numerical integration, less that of noise."""
    y = np.linspace(0, 3, 6001)
    x = np.linspace(1, 2, 2001)
    kernel = np.exp(-0.5 * ((y[:, np.newaxis] - x) / 0.1) ** 2) / (0.1 * np.sqrt(2 * np.pi))
    density = kernel.mean(axis=1)
    inside = density > 1e-12
    entropy = -np.sum(density[inside] * np.log2(density[inside])) * (y[1] - y[0])
    expected = entropy - 0.5 * np.log2(2 * np.pi * np.e * 0.01)
    found = [run_others(seed, "additive", "uniform", 0.1, 1.0)["ksg"]["mi1"][1] for seed in (0, 1)]
    assert np.mean(found) == pytest.approx(expected, abs=0.1)


def test_inputs_from_zero_are_the_others_moved() -> None:
    """At alpha 1 the target moves along, so that nothing changes."""
    moved = run_others(3, "multiplicative", "uniform from 0", 0.1, 1.0)
    there = run_others(3, "multiplicative", "uniform", 0.1, 1.0)
    assert moved["count"]["mi1"][1] == pytest.approx(there["count"]["mi1"][1], abs=1e-3)
    assert moved["width"]["joint"][2] < 0.2 < there["width"]["joint"][2]


def test_report_of_nothing() -> None:
    findings = EXPERIMENT.report(Results({}))
    names = [claim.name for claim in findings.claims]
    assert len(set(names)) == len(names)
    assert set(names) >= MANDATORY
    assert {claim.verdict for claim in findings.claims} == {Verdict.NOT_RUN}
    assert not findings.figures


@pytest.mark.parametrize("part", ["curve", "others", "zero", "selection"])
def test_report_of_one_run_of_one_part(part: str) -> None:
    planned = next(one for one in EXPERIMENT.parts if one.name == part)
    point = (planned.quick_points or planned.points)[-1]
    sweep = {"selected": ["X1"], "relevant": ["X1"]} if part == "selection" else a_sweep(PEAKED)
    findings = EXPERIMENT.report(Results({part: [(point, 0, sweep)]}))
    assert {claim.verdict for claim in findings.claims} <= {Verdict.NOT_RUN, Verdict.UNDECIDED}
    assert bool(findings.figures) == (part != "selection")


def test_verdicts_on_places() -> None:
    unique1 = [0, 0, 0, 0.5, 1, 0.9, 0.8, 0.7, 0.6]
    unique2 = [1, 0.5, 0, 0, 0, 0, 0, 0, 0]
    like = a_sweep(PEAKED, shared=PEAKED, unique1=unique1, unique2=unique2, joint=list(GRID))
    found = verdicts_of(curves(like, like))
    for kind in KINDS:
        for name in MANDATORY:
            if name.endswith(f"({kind})") and " at alpha " in name:
                assert found[name] is Verdict.AGREES, name
    assert found["contributions grow beyond alpha 1 (additive)"] is Verdict.AGREES
    # What is unique to X1 falls from 1 to 0.6.
    assert found["each contribution grows beyond alpha 1 (additive)"] is Verdict.DIFFERS
    assert found["contributions shrink beyond alpha 1 (multiplicative)"] is Verdict.DIFFERS
    unlike = verdicts_of(curves(a_sweep(FLAT, shared=FLAT), a_sweep(FLAT, shared=FLAT)))
    assert unlike["synergy peaks at alpha 0.5 (additive)"] is Verdict.DIFFERS
    assert unlike["redundancy lowest at alpha 1 (multiplicative)"] is Verdict.DIFFERS


def test_verdicts_on_both_models() -> None:
    more, less = a_sweep(PEAKED), a_sweep([0.5 * value for value in PEAKED])
    assert verdicts_of(curves(more, less))["additive synergy above multiplicative"] == "agrees"
    assert verdicts_of(curves(less, more))["additive synergy above multiplicative"] == "differs"
    name = "similar synergy and redundancy at alpha 1 in both models"
    assert verdicts_of(curves(more, less))[name] is Verdict.AGREES
    assert verdicts_of(curves(more, a_sweep(FLAT)))[name] is Verdict.DIFFERS


@pytest.mark.parametrize("falling", [True, False])
def test_verdicts_on_noise_and_shape(falling: bool) -> None:
    runs = [
        (point, seed, a_sweep(PEAKED if falling else FLAT, 1 / size if falling else size))
        for point in EXPERIMENT.parts[1].points
        for size in [float(point["sigma"])]
        for seed in range(20)
    ]
    found = verdicts_of(Results({"others": runs}))
    expected = Verdict.AGREES if falling else Verdict.DIFFERS
    for kind in KINDS:
        assert found[f"noise lowers all terms ({kind})"] is expected
        assert found[f"same shape for other inputs and noise ({kind})"] is expected
        assert found[f"same shape for other inputs ({kind})"] is expected


def test_quick_runs_do_not_mix_with_full_ones() -> None:
    coarse = {**a_sweep([9, 0, 0]), "alpha": [0.0, 1.0, 2.0]}
    other = {"kind": "multiplicative", "distribution": "uniform from 0", "sigma": 0.1, "step": 1.0}
    results = Results(
        {
            "curve": [
                ({"kind": "additive", "step": 1.0}, 0, coarse),
                ({"kind": "additive", "step": 0.25}, 0, a_sweep(PEAKED)),
                ({"kind": "multiplicative", "step": 0.25}, 0, a_sweep(PEAKED)),
            ],
            "zero": [(other, 0, coarse)],
        }
    )
    claims = {claim.name: claim for claim in EXPERIMENT.report(results).claims}
    assert claims["synergy peaks at alpha 0.5 (additive)"].ours.runs == 1
