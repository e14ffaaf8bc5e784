"""Nested spheres: runs, and what is made of them."""

import json
from typing import Any

import numpy as np
import pytest

from pidselect.datasets import nested_spheres
from reproduction.agreement import Verdict
from reproduction.experiment import Results
from reproduction.spheres import (
    EXPERIMENT,
    run_atoms,
    run_sample,
    run_selection,
    run_terms,
)

CHOSEN = {"outer": 1.25, "label_noise": 0.5}
MANDATORY = {
    "spheres: synergy prevails",
    "spheres: no unique information alone",
    "spheres: no single significant MI",
    "spheres: sets of two raise unique, shared and synergy",
    "spheres: CMI significant given one other",
    "spheres: CMI significant given both others",
    "spheres: CMI above MI",
    "spheres: CMI highest given both",
}


def terms_of(alone: float, one: float, both: float) -> dict[str, Any]:
    """Return made-up terms, with lines at 0.05."""
    depths = {
        depth: {"bits": [value] * 3, "line": [0.05] * 3}
        for depth, value in (("alone", alone), ("one", one), ("both", both))
    }
    return dict.fromkeys(("ksg", "mixed", "count", "width"), depths)


def atoms_of(pair: list[float], beside_both: list[float]) -> dict[str, Any]:
    names = ("unique1", "unique2", "shared", "synergy")
    groups = {
        "pair": dict(zip(names, pair, strict=True)),
        "set": dict(zip(names, beside_both, strict=True)),
    }
    return {"count": groups, "width": groups}


def repeated(part: str, outcome: dict[str, Any], times: int = 20) -> Results:
    return Results({part: [(CHOSEN, seed, outcome) for seed in range(times)]})


def verdicts_of(results: Results) -> dict[str, Verdict]:
    return {claim.name: claim.verdict for claim in EXPERIMENT.report(results).claims}


@pytest.fixture(scope="module")
def terms() -> dict[str, Any]:
    return run_terms(4, **CHOSEN)


def test_runs_are_plain_and_repeatable(terms: dict[str, Any]) -> None:
    assert json.dumps(terms, allow_nan=False) == json.dumps(run_terms(4, **CHOSEN))
    first, second = (
        [
            run_atoms(1, **CHOSEN),
            run_selection(3, **CHOSEN, target="labels", settings="paper"),
            run_sample(1, **CHOSEN),
        ]
        for _ in range(2)
    )
    assert json.dumps(first, allow_nan=False) == json.dumps(second, allow_nan=False)


def test_a_coordinate_alone_tells_what_the_formula_says(terms: dict[str, Any]) -> None:
    q = 1 / 1.25
    share = 1 / (1 + q)
    entropy = -share * np.log2(share) - (1 - share) * np.log2(1 - share)
    expected = 1 - (1 + q) / 2 * entropy
    assert np.mean(terms["mixed"]["alone"]["bits"]) == pytest.approx(expected, abs=0.04)


def test_plug_in_terms_are_sums_of_atoms(terms: dict[str, Any]) -> None:
    plug_in, atoms = terms["width"], run_atoms(4, **CHOSEN)["width"]
    for depth, group in (("one", "pair"), ("both", "set")):
        found = atoms[group]
        alone, given = (np.mean(plug_in[at]["bits"]) for at in ("alone", depth))
        assert found["unique1"] + found["shared"] == pytest.approx(alone)
        assert found["unique1"] + found["synergy"] == pytest.approx(given)


def test_sample_is_a_slice() -> None:
    sample = run_sample(0, **CHOSEN)
    X, y = nested_spheres(1000, random_state=0).Xy
    inside = (np.abs(X[:, 2]) < 0.3) & (y == 0)
    assert 50 < len(sample["inner"]) + len(sample["outer"]) <= 300
    assert sample["inner"][0] == pytest.approx(X[inside][0, :2], abs=1e-4)


@pytest.mark.parametrize("n_runs", [0, 1, 2])
def test_report_of_few_runs(n_runs: int) -> None:
    results = Results(
        {
            "terms": [(CHOSEN, seed, terms_of(0.04, 0.1, 0.2)) for seed in range(n_runs)],
            "sample": [(CHOSEN, 0, run_sample(0, **CHOSEN))] * min(n_runs, 1),
        }
    )
    findings = EXPERIMENT.report(results)
    names = [claim.name for claim in findings.claims]
    assert len(set(names)) == len(names)
    assert set(names) >= MANDATORY
    expected = [Verdict.NOT_RUN, Verdict.UNDECIDED, Verdict.AGREES][n_runs]
    assert verdicts_of(results)["spheres: CMI above MI"] is expected
    assert verdicts_of(results)["spheres: synergy prevails"] is Verdict.NOT_RUN
    shown = [[panel.kind for panel in figure.panels] for figure in findings.figures]
    assert shown == ([["points", "bars"]] if n_runs else [])


def test_verdicts_on_terms() -> None:
    like_the_paper = verdicts_of(repeated("terms", terms_of(0.04, 0.1, 0.2)))
    assert like_the_paper["spheres: no single significant MI"] is Verdict.AGREES
    assert like_the_paper["spheres: CMI significant given one other"] is Verdict.AGREES
    assert like_the_paper["spheres: CMI highest given both"] is Verdict.AGREES
    unlike = verdicts_of(repeated("terms", terms_of(0.1, 0.04, 0.01)))
    assert unlike["spheres: no single significant MI"] is Verdict.DIFFERS
    assert unlike["spheres: CMI significant given one other"] is Verdict.DIFFERS
    assert unlike["spheres: CMI above MI"] is Verdict.DIFFERS
    assert unlike["spheres: CMI highest given both"] is Verdict.DIFFERS


def test_verdicts_on_atoms() -> None:
    like_the_paper = verdicts_of(
        repeated("atoms", atoms_of([0, 0.001, 0.01, 0.05], [0, 0.05, 0.02, 0.2]))
    )
    assert {verdict for name, verdict in like_the_paper.items() if "radii" not in name} == {
        Verdict.AGREES,
        Verdict.NOT_RUN,
    }
    unlike = verdicts_of(repeated("atoms", atoms_of([0.2, 0.2, 0.1, 0.1], [0.1, 0.3, 0.05, 0.2])))
    for name in ("synergy prevails", "no unique information alone"):
        assert unlike[f"spheres: {name}"] is Verdict.DIFFERS
    # Shared information falls while the other two rise: not all three do.
    name = "spheres: sets of two raise unique, shared and synergy"
    assert unlike[name] is Verdict.DIFFERS


def test_table_of_selections() -> None:
    point = {**CHOSEN, "target": "labels", "settings": "paper"}
    runs = [(point, 0, {"selected": []}), (point, 1, {"selected": ["X1", "X2", "X3"]})]
    tables = EXPERIMENT.report(Results({"selection": runs})).comparisons
    cells = {
        (at.row, at.column): at.ours.mean
        for at in next(table for table in tables if table.name == "selections").cells
        if at.ours.runs
    }
    row = "radii 1 and 1.25, noise 0.5: noisy labels, as the paper"
    assert cells == {(row, "nothing"): 50, (row, "one or two"): 0, (row, "all three"): 50}
