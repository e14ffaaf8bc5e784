"""Runs of the experiments, and the numbers computed from them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import naive
from pidselect import mutual_information
from pidselect.datasets import SyntheticDataset, gate, runge
from pidselect.significance.rng import BACKWARD
from reproduction import EXPERIMENTS, load_experiment
from reproduction.experiment import RunRecord
from reproduction.information import (
    atoms,
    is_significant,
    term,
    toolbox_elimination,
)
from reproduction.redundancy import counterexample, information_between
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


@pytest.mark.reproduction
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_short_runs_are_summarised(name):
    """Values of all claims and tables are computed; the rest is reported as not run."""
    experiment = load_experiment(name)
    records = short_runs(name)
    summary = json.loads(json.dumps(summarise_experiment(experiment, records), allow_nan=False))
    verdicts = {claim["verdict"] for claim in summary["claims"]}
    assert verdicts & {"agrees", "undecided", "differs"} or name in ("models", "noise", "medium")
    for claim in summary["claims"]:
        assert (claim["ours"]["runs"] == 0) == (claim["verdict"] in ("not run", "unchecked"))
    for table in summarise_experiment(experiment, [])["comparisons"]:
        assert all(cell["ours"]["runs"] == 0 for cell in table["cells"])


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


def test_critical_values_have_their_level():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 100, 60))
    found = [
        is_significant(term(x[:, i], y[:, i], seed=i, estimator="gaussian")) for i in range(60)
    ]
    assert sum(found) <= 9
    assert is_significant(term(x[:, 0], x[:, 0] + y[:, 0], seed=0))


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


def test_information_between_axes():
    assert information_between(gate("XOR"), [0], [2]) == pytest.approx(0.0)
    assert information_between(gate("XOR"), [0], [2], [1]) == pytest.approx(1.0)
    assert information_between(counterexample(), [0], [1]) == pytest.approx(1.0)
    assert information_between(counterexample(), [0, 1], [2]) == pytest.approx(2.0)
