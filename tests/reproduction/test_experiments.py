"""Runs of the experiments, and the numbers computed from them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import naive
from pidselect import decompose, decompose_distribution, mutual_information
from pidselect.datasets import SyntheticDataset, friedman, gate, runge
from pidselect.significance import BACKWARD
from reproduction import EXPERIMENTS, load_experiment
from reproduction.experiment import Results, RunRecord, share
from reproduction.information import (
    SETTINGS,
    atoms,
    is_significant,
    select,
    selected,
    term,
    toolbox_elimination,
)
from reproduction.redundancy import CASES, counterexample, information_between
from reproduction.summary import summarise_experiment
from reproduction.theory import SHARES, WEAKLY_RELEVANT, from_bits, with_shares

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
        assert (claim["ours"]["runs"] == 0) == (claim["verdict"] in ("not run", "unchecked"))
    assert summarise_experiment(experiment, [])["figures"] == []


def test_claims_on_the_lattice_and_on_known_distributions_need_no_long_run():
    for name, count in (("lattice", 8), ("redundancy", 8)):
        experiment = load_experiment(name)
        results = Results(short_runs(name))
        found = [claim.evaluate(results) for claim in experiment.claims[:count]]
        held = ("agrees", "identity")
        differing = [one["name"] for one in found if one["verdict"] not in held]
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


@pytest.mark.parametrize("seed", range(3))
def test_the_toolbox_conditions_all_surrogates_on_the_set_without_the_weakest(seed):
    """Compare with KSG, the permutations and the test written out."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 3))
    y = X[:, 0] + 0.3 * rng.standard_normal(60)
    data = SyntheticDataset(X, y, ("a", "b", "c"), (0,), "One relevant column")
    remaining = [0, 1, 2]
    while remaining:
        others = [[f for f in remaining if f != one] for one in remaining]
        values = [
            naive.ksg1(X[:, [f]], y[:, np.newaxis], X[:, given] if given else None)
            for f, given in zip(remaining, others, strict=True)
        ]
        place = naive.weakest(values)
        given = X[:, others[place]] if others[place] else None
        surrogates = [
            [
                naive.ksg1(
                    X[naive.permutation((seed, BACKWARD, len(remaining), f, number), 60)][:, [f]],
                    y[:, np.newaxis],
                    given,
                )
                for number in range(1, 40)
            ]
            for f in remaining
        ]
        null = naive.minimum_statistic(np.array(surrogates))
        if naive.p_value(values[place], null) <= 0.05:
            break
        del remaining[place]
    expected = [data.names[f] for f in remaining]
    assert toolbox_elimination(data, data.names, seed, n_permutations=39) == expected


def test_settings_of_the_toolbox_prune_a_selection_without_backward_elimination():
    data = friedman(200, model=1, random_state=0)
    unpruned = selected(data, 0, "mi-unpruned")["selected"]
    assert set(selected(data, 0, "mi-toolbox")["selected"]) <= set(unpruned)


# ---------------------------------------------------------------------------------- distributions


@pytest.mark.parametrize("shares", SHARES)
def test_distributions_have_the_wanted_shares(shares):
    found = decompose_distribution(with_shares(*shares))
    assert (found.shared, found.unique[0], found.synergy) == pytest.approx(shares, abs=1e-6)
    assert found.unique[1] == pytest.approx(0.0, abs=1e-6)


def test_distributions_of_functions_of_bits():
    np.testing.assert_array_equal(from_bits(2, lambda bit: (*bit, bit[0] & bit[1])), gate("AND"))


def test_a_weakly_relevant_feature_may_share_nothing():
    """It adds a bit given one input of XOR and none given both, and has no marginal information."""
    pmf = WEAKLY_RELEVANT["copy of an input of XOR"]
    assert information_between(pmf, [0], [2]) == pytest.approx(0.0)
    assert information_between(pmf, [0], [2], [1]) == pytest.approx(0.0)
    given_one = pmf.reshape(2, 2, 2, 2).sum(axis=1)
    assert information_between(given_one, [0], [2], [1]) == pytest.approx(1.0)


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
