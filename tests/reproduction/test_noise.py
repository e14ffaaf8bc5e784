from __future__ import annotations

import json

import numpy as np
import pytest

from reproduction.agreement import Verdict
from reproduction.experiment import Results
from reproduction.noise import EXPERIMENT, run_curve, run_selection
from reproduction.noise.claims import ATOMS, TERMS
from reproduction.two_variable_models import noise_model

MANDATORY = {
    "MacKay: CMI is unique plus synergy",
    "MacKay: MI of X1 falls from a = 0.5 on",
    "MacKay: CMI at least MI from a = 0.5 on",
    "MacKay: I(X2;Y) above the CMI from a = 1 on",
    "MacKay: I(X2;Y) grows with a",
    "MacKay: shared and synergy fall for larger a",
    "MacKay: synergy above redundancy",
    "MacKay: joint includes both",
    "MacKay: signal significant given the distractor",
    "Haufe: signal significant given the distractor",
    "Haufe: CMI holds both",
    "Haufe: MI misses the synergy",
    "Haufe: no redundancy",
    "Haufe: joint equals the CMI",
    "Haufe: MI equals unique X1",
}

GRID = [place / 4 for place in range(17)]


# ------------------------------------------------------------------------------------------ runs


@pytest.fixture(scope="module")
def curve():
    return run_curve(3, kind="mackay", step=2.0, n_permutations=20)


def test_a_curve_is_plain_and_the_same_twice(curve):
    assert curve["a"] == [0.0, 2.0, 4.0]
    text = json.dumps(curve, allow_nan=False)
    again = run_curve(3, kind="mackay", step=2.0, n_permutations=20)
    assert json.loads(text) == again
    assert {key.split()[0] for key in curve["curves"]} == {"ksg", "count", "width"}


def test_terms_on_bins_are_those_of_a_histogram(curve):
    X, y = noise_model(kind="mackay", a=2.0, random_state=3).Xy
    counts, _, _ = np.histogram2d(X[:, 1], y, bins=5)
    p = counts / counts.sum()
    independent = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    bits = np.sum(p[p > 0] * np.log2(p[p > 0] / independent[p > 0]))
    assert curve["curves"]["width mi2"][1] == pytest.approx(bits, abs=1e-9)


def true_entropy(sd):
    """Integrate the entropy of sin(S) plus normal noise, in bits."""
    signal = np.linspace(-6, 6, 1001)
    weights = np.exp(-(signal**2) / 2)
    places = np.linspace(-1.2 - 7 * sd, 1.2 + 7 * sd, 1001)
    heights = np.exp(-((places[:, None] - np.sin(signal)) ** 2) / (2 * sd**2))
    density = heights @ (weights / weights.sum()) / (sd * np.sqrt(2 * np.pi))
    step = places[1] - places[0]
    return -np.sum(density * np.log2(np.maximum(density, 1e-300))) * step


def test_nearest_neighbours_are_near_the_truth(curve):
    noise = 0.5 * np.log2(2 * np.pi * np.e * 0.1**2)
    assert curve["curves"]["ksg mi1"][0] == pytest.approx(true_entropy(0.1) - noise, abs=0.15)
    distractor = true_entropy(np.hypot(0.1, 2.0)) - true_entropy(0.1)
    assert curve["curves"]["ksg mi2"][1] == pytest.approx(distractor, abs=0.15)


def test_after_haufe_x1_tells_by_itself_what_the_remark_says():
    signal, places, y = np.linspace(-6, 6, 401), np.linspace(-24, 24, 401), np.linspace(-2, 2, 401)
    weights = np.exp(-(signal**2) / 2)
    x1 = np.exp(-((places[:, None] - signal) ** 2) / (2 * 4.0**2))
    target = np.exp(-((y[:, None] - np.sin(signal)) ** 2) / (2 * 0.1**2))
    joint = (x1 * weights) @ target.T
    joint /= joint.sum()
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    assert np.sum(joint * np.log2(joint / independent)) == pytest.approx(0.04, abs=0.005)


@pytest.mark.parametrize("binning", ["count", "width"])
def test_atoms_add_up_to_terms(curve, binning):
    found = {name: np.array(curve["curves"][f"{binning} {name}"]) for name in (*TERMS, *ATOMS)}
    np.testing.assert_allclose(found["unique1"] + found["synergy"], found["cmi"], atol=1e-6)
    np.testing.assert_allclose(found["unique2"] + found["shared"], found["mi2"], atol=1e-6)


def test_a_selection_finds_the_distractor_that_lets_the_signal_be_read():
    outcome = run_selection(0, kind="haufe", a=1.0, settings="defaults")
    json.dumps(outcome, allow_nan=False)
    assert sorted(outcome["selected"]) == ["X1", "X2"]
    assert outcome["exact"]
    assert outcome == run_selection(0, kind="haufe", a=1.0, settings="defaults")


# ---------------------------------------------------------------------------------------- report


def made_up(kind, seed):
    """Return curves that are as the paper says, by every estimator, with a little noise."""
    a, rng = np.array(GRID), np.random.default_rng(seed)
    if kind == "mackay":
        unique1 = np.exp(-2 * a)
        shared = np.where(a < 1, 0.2 * a, 0.2 / np.maximum(a, 1))
        synergy = 0.1 + shared
        unique2 = 1.0 + a - np.exp(-a) - 0.8 * np.exp(-2 * a) - shared
    else:
        unique1, synergy = 1 / (1 + a), 0.2 + a / 10
        shared = unique2 = np.zeros_like(a)
    noise = 1e-3 * rng.standard_normal()
    synergy, shared = synergy + noise, shared + abs(noise) / 10
    parts = {"unique1": unique1, "unique2": unique2, "shared": shared, "synergy": synergy}
    terms = {
        "mi1": unique1 + shared,
        "mi2": unique2 + shared,
        "cmi": unique1 + synergy,
        "joint": unique1 + unique2 + shared + synergy,
    }
    curves = {f"ksg {name}": list(values) for name, values in terms.items()}
    curves |= {f"ksg {name} line": [0.05] * len(a) for name in terms}
    for binning in ("count", "width"):
        curves |= {f"{binning} {name}": list(v) for name, v in (terms | parts).items()}
    return {"a": GRID, "curves": curves}


def results_of(runs, change=lambda outcome: outcome):
    rows = [
        ({"kind": kind, "step": 0.25, "n_permutations": 200}, seed, change(made_up(kind, seed)))
        for kind in ("mackay", "haufe")
        for seed in range(runs)
    ]
    return Results({"curve": rows})


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
    assert all(one.ours.runs == 0 for table in findings.comparisons for one in table.cells)


def test_one_run_is_drawn_but_settles_nothing():
    findings = EXPERIMENT.report(results_of(1))
    assert Verdict.DIFFERS not in {claim.verdict for claim in findings.claims}
    assert [len(figure.panels) for figure in findings.figures] == [2, 2, 2]
    assert all(len(series.y) == len(GRID) for series in findings.figures[0].panels[0].series)


def test_one_model_alone_is_drawn_alone():
    rows = [({"kind": "haufe", "step": 0.5}, 0, run_curve(0, "haufe", 2.0, 0))]
    findings = EXPERIMENT.report(Results({"curve": rows}))
    assert [len(figure.panels) for figure in findings.figures] == [1, 1, 1]
    assert findings.figures[-1].panels[0].series[0].threshold is None


def test_curves_as_the_paper_has_them_agree():
    found = verdicts(results_of(20))
    assert {name: found[name] for name in MANDATORY} == dict.fromkeys(MANDATORY, Verdict.AGREES)


@pytest.mark.parametrize(
    ("key", "broken"),
    [
        ("ksg mi2", "MacKay: I(X2;Y) above the CMI from a = 1 on"),
        ("ksg cmi", "MacKay: CMI at least MI from a = 0.5 on"),
        ("width synergy", "MacKay: synergy above redundancy"),
        ("ksg joint", "Haufe: MI misses the synergy"),
        ("ksg cmi", "Haufe: signal significant given the distractor"),
    ],
)
def test_a_curve_that_drops_to_nothing_at_one_strength_differs(key, broken):
    def drop(outcome):
        outcome["curves"][key][GRID.index(2.0)] = 0.0
        return outcome

    assert verdicts(results_of(20, drop))[broken] is Verdict.DIFFERS


def test_a_rise_on_the_way_is_no_fall():
    def rise(outcome):
        outcome["curves"]["ksg mi1"][GRID.index(2.0)] += 0.1
        return outcome

    name = "MacKay: MI of X1 falls from a = 0.5 on"
    assert verdicts(results_of(20, rise))[name] is Verdict.DIFFERS


def test_shared_information_at_any_strength_is_redundancy():
    def share(outcome):
        outcome["curves"]["width shared"][GRID.index(3.0)] += 0.1
        return outcome

    assert verdicts(results_of(20, share))["Haufe: no redundancy"] is Verdict.DIFFERS


def test_selections_are_counted():
    def row(seed, exact):
        return ({"kind": "haufe", "a": 1.0, "settings": "paper"}, seed, {"exact": exact})

    found = EXPERIMENT.report(Results({"selection": [row(0, True), row(1, False)]}))
    (claim,) = (one for one in found.claims if one.ours.runs)
    assert claim.ours.mean == 50.0
    assert claim.verdict is Verdict.UNDECIDED


def test_the_remark_says_where_curves_cross():
    found = {claim.name: claim.remark for claim in EXPERIMENT.report(results_of(2)).claims}
    remark = found["MacKay: I(X2;Y) above the CMI from a = 1 on"]
    crossing = np.diff(
        [made_up("mackay", 0)["curves"][f"ksg {name}"] for name in ("cmi", "mi2")], axis=0
    )[0]
    last = int(np.flatnonzero(crossing <= 0)[-1])
    assert remark.startswith(f"The curves cross between a = {GRID[last]:g} and {GRID[last + 1]:g}.")
