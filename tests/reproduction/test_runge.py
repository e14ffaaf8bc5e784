"""The model by Runge et al.: its runs, and what is made of them."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from reproduction import runge as module
from reproduction.agreement import Claim, Verdict
from reproduction.averages import share
from reproduction.experiment import Findings, Point, Results
from reproduction.methods import subset_errors
from reproduction.runge import EXPERIMENT, SETTINGS, data
from reproduction.runge.sets import (
    DRIVERS,
    GROUPS,
    VARIABLES,
    number_of,
    place,
)

MANDATORY = {
    "CMI finds true features reliably",
    "MI finds fewer W",
    "MI takes more X",
    "LARS importance high for W only",
    "LARS gives Z and X the same small importance",
    "linear methods agree",
    "forest importance high for W and Z, small for X",
    "forward LARS takes W with 4 features",
    "forward forest takes W in about 60 %, with 4",
    "forward forest takes Z in 20 to 25 %, with 4",
    "forward forest takes X as often, with 4",
    "with 7 both take W",
    "with 7 X in 70 to 80 %",
    "with 7 Z in 50 to 60 %",
    "Z tells most alone, X least",
    "single Z is significant",
    "Z1 tells more given Z2 and Z3",
    "synergy within Z comparable to within W",
    "order of inclusion Z, W, X (CMI)",
    "order of inclusion Z, W, X (MI)",
    "first three steps are Z",
    "Z alone best in the nearest-neighbour test",
    "Z best of all sets of three",
    "Z and W comparable to Z alone",
    "W alone much worse",
    "W and X equally bad",
}

Runs = dict[str, list[tuple[Point, int, dict[str, Any]]]]


@pytest.fixture(scope="module")
def small() -> Runs:
    """One run of each part with few samples; the forest takes too long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "N_SAMPLES", 120)
        return {
            part.name: [(point, 0, part.run(0, **point)) for point in part.points]
            for part in EXPERIMENT.parts
            if part.name != "forward-forest"
        }


def claims_of(findings: Findings) -> dict[str, Claim]:
    return {claim.name: claim for claim in findings.claims}


# ------------------------------------------------------------------------------------------- runs


def test_runs_are_plain_and_the_same_twice(small: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "N_SAMPLES", 120)
    for part in EXPERIMENT.parts[1:]:
        for point, seed, outcome in small.get(part.name, []):
            assert json.loads(json.dumps(outcome, allow_nan=False)) == outcome
            assert part.run(seed, **point) == outcome


def test_selections_are_of_known_variables(small: Runs) -> None:
    assert [point["settings"] for point, _, _ in small["selection"]] == list(SETTINGS)
    for _, _, outcome in [*small["selection"], *small["forward"]]:
        assert set(outcome["selected"]) <= set(VARIABLES)
        assert len(set(outcome["selected"])) == len(outcome["selected"])
    assert len(small["forward"][0][2]["selected"]) == 7


def test_terms_obey_the_chain_rule(small: Runs) -> None:
    terms = small["terms"][0][2]
    for binning in ("count", "width"):
        for sources, whole in (("Z", "Z"), ("W", "W")):
            atoms = terms["atoms"][binning][sources]
            assert sum(atoms.values()) == pytest.approx(terms["sets"][binning][whole], abs=1e-6)
        atoms = terms["atoms"][binning]["Z"]
        alone = terms["mi"][binning]["Z1"]["bits"]
        given = terms["cmi"][binning]["bits"]
        assert atoms["unique1"] + atoms["shared"] == pytest.approx(alone, abs=1e-6)
        assert atoms["unique1"] + atoms["synergy"] == pytest.approx(given, abs=1e-6)


def test_plug_in_terms_are_those_of_counts(small: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "N_SAMPLES", 120)
    problem = data(0)
    x, y = problem.X[:, 0], problem.y
    edges = [np.linspace(values.min(), values.max(), 6) for values in (x, y)]
    table = np.histogram2d(x, y, bins=edges)[0] / 120
    independent = np.outer(table.sum(axis=1), table.sum(axis=0))
    seen = table > 0
    bits = float(np.sum(table[seen] * np.log2(table[seen] / independent[seen])))
    assert small["terms"][0][2]["mi"]["width"]["Z1"]["bits"] == pytest.approx(bits)


def test_a_shuffled_target_has_less_information(small: Runs) -> None:
    terms = small["terms"][0][2]
    by_chance = sum(terms["chance"]["count"]["Z"].values())
    assert 0 < by_chance < sum(terms["atoms"]["count"]["Z"].values())


def test_all_parts_see_the_same_data(small: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "N_SAMPLES", 120)
    assert np.array_equal(data(0).X, data(0).X)
    assert not np.array_equal(data(0).X, data(1).X)
    assert small["neighbours"][0][2]["errors"] == subset_errors(data(0), 0)


# ----------------------------------------------------------------------------------------- report


def test_nothing_run() -> None:
    findings = EXPERIMENT.report(Results({}))
    assert claims_of(findings).keys() >= MANDATORY
    assert len(claims_of(findings)) == len(findings.claims)
    assert {claim.verdict for claim in findings.claims} == {Verdict.NOT_RUN}
    (rates,) = findings.comparisons
    assert [cell.verdict for cell in rates.cells[:8]] == [Verdict.NOT_RUN] * 8
    assert not findings.figures


def test_one_run_of_each_part(small: Runs) -> None:
    findings = EXPERIMENT.report(Results(small))
    assert [figure.name for figure in findings.figures] == ["runge", "runge-more"]
    assert len(findings.figures[0].panels) == 10  # A to J, as in the paper
    json.dumps([figure.to_dict() for figure in findings.figures], allow_nan=False)
    verdicts = {claim.verdict for claim in findings.claims}
    assert verdicts == {Verdict.UNDECIDED, Verdict.NOT_RUN}  # the forest was not run


def test_each_part_alone(small: Runs) -> None:
    for name, runs in small.items():
        findings = EXPERIMENT.report(Results({name: runs}))
        assert findings.figures
        decided = [claim for claim in findings.claims if claim.verdict is not Verdict.NOT_RUN]
        assert decided or name == "forward"


def test_selections_of_nothing() -> None:
    runs: Runs = {"selection": [({"settings": "mi"}, seed, {"selected": []}) for seed in range(3)]}
    findings = EXPERIMENT.report(Results(runs))
    assert claims_of(findings)["MI does not fail on Z"].verdict is Verdict.UNDECIDED
    rates = {(cell.row, cell.column): cell.ours.mean for cell in findings.comparisons[0].cells}
    assert (rates["MI", "TP"], rates["MI", "TN"]) == (0, 100)


def test_counting() -> None:
    assert share(["Z1", "X1"], DRIVERS) == pytest.approx(100 / 7)
    assert place(["W2", "Z3", "Z1", "Z2"], GROUPS["Z"]) == 3
    assert place([], GROUPS["X"]) == 10
    assert number_of(VARIABLES) == 511
    assert len({number_of(names) for names in combinations(VARIABLES, 3)}) == 84


# --------------------------------------------------------------------------------- made-up results

Z, W, X = (list(GROUPS[name]) for name in "ZWX")
ESTIMATORS = ("ksg", "count", "width")

#: What the forest takes in five runs, so that on average it is what the paper says.
FOREST = [
    W + X + Z[:1],
    W[:3] + Z[:1] + X + W[3:],
    W[:3] + X[:1] + Z[:2] + W[3:],
    W[:2] + Z[:2] + X[:1] + W[2:],
    W[:1] + Z[:1] + X + W[1:3] + Z[1:2],
]


def repeated(part: str, point: Point, *outcomes: dict[str, Any]) -> Runs:
    """Return 25 runs with these outcomes in turn."""
    return {part: [(point, seed, outcomes[seed % len(outcomes)]) for seed in range(25)]}


def selections(cmi: list[str], mi: list[str]) -> Runs:
    by_cmi = repeated("selection", {"settings": "cmi"}, {"selected": cmi})
    by_mi = repeated("selection", {"settings": "mi"}, {"selected": mi})
    return {"selection": by_cmi["selection"] + by_mi["selection"]}


def terms(alone: dict[str, float], given: float, synergy: dict[str, float]) -> Runs:
    mi = {name: {"bits": alone[name[0]], "line": 0.05} for name in VARIABLES}
    atoms = {
        name: {"unique1": 0.0, "unique2": 0.1, "shared": 0.1, "synergy": synergy[name[0]]}
        for name in ("Z", "W", "Z and W")
    }
    outcome = {
        "mi": dict.fromkeys(ESTIMATORS, mi),
        "cmi": {name: {"bits": given, "line": 0.1} for name in ESTIMATORS},
        "sets": {name: {"Z": 1.0, "W": 1.0, "X": 1.0} for name in ESTIMATORS},
        "atoms": dict.fromkeys(ESTIMATORS, atoms),
        "chance": dict.fromkeys(ESTIMATORS, atoms),
    }
    return repeated("terms", {}, outcome)


def importances(
    lars: dict[str, float], forest: dict[str, float], svr: dict[str, float] | None = None
) -> Runs:
    linear = {name: lars[name[0]] for name in VARIABLES}
    of_forest = {name: forest[name[0]] for name in VARIABLES}
    found = dict.fromkeys(("lars", "lasso"), linear)
    found["svr"] = {name: (svr or lars)[name[0]] for name in VARIABLES}
    found |= dict.fromkeys(("forest", "forest-training"), of_forest)
    return repeated("methods", {}, {"importances": found, "standardised": found})


def orders(lars: list[list[str]], forest: list[list[str]]) -> Runs:
    by_lars = [{"selected": order} for order in lars]
    by_forest = [{"selected": order} for order in forest]
    return {
        **repeated("forward", {"method": "lars"}, *by_lars),
        **repeated("forward-forest", {"method": "forest"}, *by_forest),
    }


def errors(useful: list[str]) -> Runs:
    """Let the error fall with each useful variable, and with no other."""
    bits = [1 << VARIABLES.index(name) for name in useful]
    found = [2.0 - 0.3 * sum(bit & number > 0 for bit in bits) for number in range(1, 512)]
    return repeated("neighbours", {}, {"errors": found})


def test_results_like_the_papers_agree() -> None:
    lars = [W + X + Z[:1], W + X + Z[1:2], W + X[:1] + Z[1:], W + X[:1] + Z[:2]]
    runs = {
        **selections(cmi=Z + W, mi=Z + W[:3] + X[:1]),
        **terms({"Z": 0.09, "W": 0.06, "X": 0.02}, 0.4, {"Z": 0.7, "W": 0.9}),
        **importances({"Z": 0.15, "W": 0.9, "X": 0.1}, {"Z": 0.6, "W": 0.7, "X": 0.1}),
        **orders(lars, FOREST),
        **errors(Z),
    }
    found = EXPERIMENT.report(Results(runs)).claims
    assert {claim.name: claim for claim in found if claim.verdict is not Verdict.AGREES} == {}


def test_results_unlike_the_papers_differ() -> None:
    runs = {
        **selections(cmi=X + Z, mi=W[:3] + Z[:1]),
        **terms({"Z": 0.01, "W": 0.02, "X": 0.09}, 0.005, {"Z": 0.7, "W": 0.1}),
        **importances(
            {"Z": 0.9, "W": 0.1, "X": 0.1},
            {"Z": 0.2, "W": 0.2, "X": 0.9},
            svr={"Z": 0.1, "W": 0.9, "X": 0.9},
        ),
        **orders([Z + W], [Z + X[:1] + W[:3]]),
        **errors(W + X),
    }
    found = EXPERIMENT.report(Results(runs)).claims
    assert {claim.name: claim for claim in found if claim.verdict is not Verdict.DIFFERS} == {}
