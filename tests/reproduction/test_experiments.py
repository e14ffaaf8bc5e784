"""Runs of the experiments, and the numbers computed from them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pidselect import decompose, mutual_information
from pidselect.datasets import friedman, gate, runge
from reproduction import EXPERIMENTS, load_experiment
from reproduction.experiment import Results, RunRecord, share
from reproduction.information import SETTINGS, atoms, is_significant, select, term
from reproduction.redundancy import CASES, counterexample, information_between
from reproduction.summary import summarise_experiment

#: Longer runs are left to `make reproduce`.
SHORT = 0.4


def short_runs(name: str) -> list[RunRecord]:
    """Make one run of each short part, at its first quick point of each kind."""
    records = []
    for part in load_experiment(name).parts:
        points = part.points if part.quick_points is None else part.quick_points
        for point in list(points)[: 9 if part.seconds < 0.05 else 1]:
            if part.seconds <= SHORT and part.quick_runs:
                outcome = json.loads(json.dumps(part.run(0, **point), allow_nan=False))
                records.append(RunRecord(part.name, point, 0, outcome, 0.1, "here"))
                records.append(records[-1]._replace(seed=1))
    return records


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_short_runs_are_summarised(name):
    """Values of all claims, tables and figures are computed; the rest is reported as not run."""
    experiment = load_experiment(name)
    records = short_runs(name)
    summary = json.loads(json.dumps(summarise_experiment(experiment, records), allow_nan=False))
    verdicts = {claim["verdict"] for claim in summary["claims"]}
    assert verdicts & {"agrees", "undecided", "differs"} or name in ("models", "noise", "medium")
    for claim in summary["claims"]:
        assert (claim["ours"]["runs"] == 0) == (claim["verdict"] == "not run")
    assert summarise_experiment(experiment, [])["figures"] == []


def test_claims_on_the_lattice_and_on_known_distributions_need_no_long_run():
    for name, count in (("lattice", 8), ("redundancy", 8)):
        experiment = load_experiment(name)
        results = Results(short_runs(name))
        found = [claim.evaluate(results) for claim in experiment.claims[:count]]
        differing = [one["name"] for one in found if one["verdict"] != "agrees"]
        assert differing == (["fewer atoms than sets of features"] if name == "lattice" else [])


# ------------------------------------------------------------------------- terms and selections


@pytest.mark.parametrize("estimator", ["ksg", "gaussian"])
def test_terms_are_those_of_the_library(estimator):
    X, y = runge(300, random_state=0).Xy
    for given in (None, X[:, 1:3]):
        expected = mutual_information(X[:, 0], y, given, estimator=estimator)
        found = term(X[:, 0], y, given, estimator=estimator, n_permutations=0)
        assert found == {"bits": pytest.approx(expected, abs=1e-12)}


def test_binned_terms_are_sums_of_atoms():
    X, y = runge(300, random_state=0).Xy
    for binning in ("count", "width"):
        found = atoms([X[:, 0], X[:, 1]], y, binning=binning)
        mi = term(X[:, 0], y, binning=binning, n_permutations=0)["bits"]
        cmi = term(X[:, 0], y, X[:, 1], binning=binning, n_permutations=0)["bits"]
        assert found["unique1"] + found["shared"] == pytest.approx(mi, abs=1e-6)
        assert found["unique1"] + found["synergy"] == pytest.approx(cmi, abs=1e-6)


def test_atoms_are_those_of_the_library():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 2, size=(2, 200))
    expected = decompose([first, second], first & second)
    found = atoms([first, second], first & second)
    assert found["shared"] == pytest.approx(expected.shared)
    assert (found["unique1"], found["unique2"]) == pytest.approx(expected.unique)


def test_critical_values_have_their_level():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 100, 60))
    found = [
        is_significant(term(x[:, i], y[:, i], seed=i, estimator="gaussian")) for i in range(60)
    ]
    assert sum(found) <= 9
    assert is_significant(term(x[:, 0], x[:, 0] + y[:, 0], seed=0))


def test_selections_name_features():
    data = friedman(200, model=1, random_state=0)
    found = select(data, 0, SETTINGS["mi"] | {"n_permutations": 39})
    assert set(found["selected"]) <= set(data.names)
    assert found["steps"][0]["conditioning_set"] == []
    assert set(found["steps"][0]["candidates"]) == set(data.names)
    assert found["selected"][0] == "X4"


# ---------------------------------------------------------------------------------- distributions


@pytest.mark.parametrize("case", CASES)
def test_cases_are_distributions(case):
    pmf = CASES[case]()
    assert pmf.sum() == pytest.approx(1.0)
    assert pmf.min() >= 0.0


def test_information_between_axes():
    assert information_between(gate("XOR"), [0], [2]) == pytest.approx(0.0)
    assert information_between(gate("XOR"), [0], [2], [1]) == pytest.approx(1.0)
    assert information_between(counterexample(), [0], [1]) == pytest.approx(1.0)
    assert information_between(counterexample(), [0, 1], [2]) == pytest.approx(2.0)


def test_shares():
    assert share(["Z1", "W2"], ["W1", "W2"]) == 50.0
