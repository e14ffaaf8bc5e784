"""Bayesian networks of the benchmark of Markov blankets, and the methods beside ours."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"

#: a -> c <- b, c -> d; the probabilities of d do not sum to one, as rounded ones may not.
TEXT = """
network unknown {
}
variable a { type discrete [ 2 ] { yes, no }; }
variable d { type discrete [ 2 ] { yes, no }; }
variable b {
  type discrete [ 3 ] { low, mid, high };
}
variable c { type discrete [ 2 ] { yes, no }; }
probability ( a ) { table 0.3, 0.7; }
probability ( b ) { table 0.5, 0.25, 0.25; }
probability ( c | a, b ) {
  (yes, low) 1.0, 0.0;
  (no, low) 0.0, 1.0;
  (yes, mid) 0.2, 0.8;
  (no, mid) 0.6, 0.4;
  (yes, high) 0.5, 0.5;
  (no, high) 0.9, 0.1;
}
probability ( d | c ) {
  (yes) 0.45, 0.05;
  (no) 0.2, 0.8;
}
"""


@pytest.fixture(autouse=True)
def _scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))


@pytest.fixture
def network():
    return importlib.import_module("networks").read_bif(TEXT)


def test_reading(network):
    assert network.names == ["a", "d", "b", "c"]
    assert network.nodes["c"].parents == ("a", "b")
    assert network.nodes["c"].table[1, 2].tolist() == [0.9, 0.1]
    assert network.order.index("c") > max(map(network.order.index, "ab"))


def test_incomplete_probabilities_are_refused():
    with pytest.raises(ValueError, match="c are incomplete"):
        importlib.import_module("networks").read_bif(TEXT.replace("(no, high) 0.9, 0.1;", ""))


def test_blankets(network):
    blankets = {name: "".join(sorted(network.blanket(name))) for name in network.names}
    assert blankets == {"a": "bc", "b": "ac", "c": "abd", "d": "c"}


def test_samples_have_the_probabilities_of_the_network(network):
    states = network.sample(40_000, np.random.default_rng(0))
    assert list(states) == network.names
    for name, node in network.nodes.items():
        for given in np.ndindex(*node.table.shape[:-1]):
            pairs = zip(node.parents, given, strict=True)
            rows = np.all([states[parent] == state for parent, state in pairs], axis=0)
            found = np.bincount(states[name][rows * np.ones(40_000, dtype=bool)], minlength=2)
            share = node.table[given] / node.table[given].sum()
            assert found / found.sum() == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("method", ["hiton_mb", "iamb"])
def test_methods_beside_ours_find_blankets(network, method):
    peers = importlib.import_module("blanket_peers")
    states = network.sample(4000, np.random.default_rng(1))
    tests = peers.IndependenceTests(np.column_stack(list(states.values())))
    for place, name in enumerate(network.names):
        found = getattr(peers, method)(tests, place)
        assert {network.names[column] for column in found} == network.blanket(name)


def test_g2_is_that_of_scipy(network):
    stats = importlib.import_module("scipy.stats")
    peers = importlib.import_module("blanket_peers")
    states = network.sample(300, np.random.default_rng(2))
    tests = peers.IndependenceTests(np.column_stack(list(states.values())))
    table = stats.contingency.crosstab(states["c"], states["b"]).count
    expected = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
    p, minus_g2 = tests.test(network.names.index("b"), network.names.index("c"))
    assert -minus_g2 == pytest.approx(expected.statistic)
    assert p == pytest.approx(expected.pvalue)
