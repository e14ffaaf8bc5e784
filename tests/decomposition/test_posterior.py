"""The shared fraction: states of posteriors against exact decompositions of known systems."""

from __future__ import annotations

import numpy as np
import pytest

from decomposition.distributions import count_states
from pidselect import datasets, decompose_distribution
from pidselect.data import Block, Column
from pidselect.decomposition.broja import broja
from pidselect.decomposition.lattice import lattice
from pidselect.decomposition.pmf import entropy
from pidselect.decomposition.posterior import N_STATES, SharedFraction, most_frequent
from pidselect.significance.rng import DECOMPOSITION, permutations

N = 4000


def labels(values, name="x"):
    return Column(name, "nominal", np.asarray(values, dtype=float))


def measured(values, name="x"):
    return Column(name, "continuous", np.asarray(values, dtype=float))


def counts(values, name="x"):
    return Column(name, "ordinal", np.asarray(values, dtype=float))


def fraction_of(feature, others, target, **settings):
    """Return the fraction of a feature's information that is shared, for columns."""
    shared = SharedFraction(Block((target,)), **settings)
    states = shared.states_of_feature(Block((feature,)))
    return shared.of(states, shared.states_of_set(Block(tuple(others))))


def exact(*codes):
    """Return the fraction by BROJA, the others joined, for the counts of all states."""
    feature, *others, target = codes
    joint = np.unique(np.column_stack(others), axis=0, return_inverse=True)[1].ravel()
    pmf = np.zeros((feature.max() + 1, joint.max() + 1, target.max() + 1))
    np.add.at(pmf, (feature, joint, target), 1 / len(feature))
    found = decompose_distribution(pmf)
    shared, unique = found.shared, found.unique[0]
    return shared / (shared + unique) if shared + unique > 1e-6 else 1.0


def gate(name, n=N):
    """Return the sources and the target of a gate, each state as often as it is likely."""
    pmf = datasets.gate(name)
    states = np.argwhere(pmf > 0)
    repeats = np.round(n * pmf[tuple(states.T)]).astype(int)
    return np.repeat(states, repeats, axis=0).T


# --- one other column ---------------------------------------------------------------------------


def test_noise_shares_what_little_it_has():
    """Below what can be estimated in bins nothing is called unique."""
    a, b, y = gate("XOR")
    assert fraction_of(labels(a), [labels(b)], labels(y, "y")) == 1.0


def test_the_bias_is_corrected_by_permutations_of_the_target():
    """As that of a decomposition: see `inference`."""
    rng = np.random.default_rng(0)
    feature, other, noise = rng.integers(0, [[4], [8], [4]], size=(3, 200))
    y = np.where(rng.random(200) < 0.5, noise, feature)
    orders = permutations((0, DECOMPOSITION, 2), range(1, 11), 200)
    observed, *null = (
        lattice(2).cumulate(broja(count_states([feature, other, y[rows]])).atoms)
        for rows in (np.arange(200), *orders)
    )
    mean, entropy_of_y = np.mean(null, axis=0), entropy(np.bincount(y) / 200)
    shared, unique, *_ = lattice(2).moebius((observed - mean) / (1 - mean / entropy_of_y))
    found = SharedFraction(Block((labels(y, "y"),))).of(feature, other)
    assert found == pytest.approx(shared / (shared + unique), abs=1e-9)


# --- several other columns ----------------------------------------------------------------------


def systems():
    """Return feature, other columns and target by name: bits, their sums, products and copies."""
    rng = np.random.default_rng(0)
    a, b, c, d = rng.integers(0, 2, (4, N))
    flips = rng.random((3, N)) < 0.1
    e = rng.integers(0, 3, N)
    return {
        "two bits": (a, b, c, a + 2 * b),
        "copy in the set": (a, a ^ flips[0], b, c, a + 2 * b),
        "and": (a, b, c, d, a & b),
        "majority": (a, b, c, (a + b + c > 1).astype(int)),
        "sum": (a, b, c, d, a + b + c + d),
        "xor of the set": (a, b, c, d, (b ^ c) + 2 * a),
        "copy by an xor": (a, b, a ^ b, c, a ^ flips[1]),
        "levels": (e, (e + flips[0]) % 3, b, c, d, np.where(flips[2], 0, e) + 3 * b),
    }


@pytest.mark.parametrize("name", systems())
def test_sets_of_labels(name):
    """With states of posteriors where the joint states of the set are eight or more."""
    *codes, y = systems()[name]
    feature, *others = (labels(values, f"x{j}") for j, values in enumerate(codes))
    found = fraction_of(feature, others, labels(y, "y"))
    assert found == pytest.approx(exact(*codes, y), abs=0.05)


@pytest.mark.parametrize("name", ["two bits", "copy in the set", "majority", "xor of the set"])
def test_hidden_in_numbers(name):
    """The same bits, each with noise that does not hide it, and columns of noise beside them.

    Bins of equal counts, of which two are one bit.
    """
    *codes, y = systems()[name]
    rng = np.random.default_rng(1)
    feature, *others = (
        measured(values + rng.uniform(0, 0.9, N), f"x{j}") for j, values in enumerate(codes)
    )
    others += [measured(rng.normal(size=N), f"z{j}") for j in range(2)]
    found = fraction_of(feature, others, labels(y, "y"), bins=4)
    assert found == pytest.approx(exact(*codes, y), abs=0.12)


@pytest.mark.parametrize("n_others", [1, 3, 6])
def test_an_uninformative_set_shares_nothing(n_others):
    rng = np.random.default_rng(2)
    x, noise, *others = rng.normal(size=(2 + n_others, 1000))
    target = measured(x + 0.5 * noise, "y")
    columns = [measured(values, f"z{j}") for j, values in enumerate(others)]
    assert fraction_of(measured(x), columns, target) < 0.05


@pytest.mark.parametrize("n_others", [1, 3, 6])
def test_a_set_with_a_copy_shares_nearly_everything(n_others):
    rng = np.random.default_rng(3)
    x, noise, *others = rng.normal(size=(2 + n_others, 1000))
    target = measured(x + 0.5 * noise, "y")
    columns = [measured(values, f"z{j}") for j, values in enumerate(others[1:])]
    columns.append(measured(x**3, "copy"))
    assert fraction_of(measured(x), columns, target) > 0.9


# --- states -------------------------------------------------------------------------------------


def test_few_labels_are_states_as_they_are():
    a, b, y = gate("AND")
    shared = SharedFraction(Block((labels(y, "y"),)))
    states = shared.states_of_set(Block((labels(a, "a"), labels(b, "b"))))
    np.testing.assert_array_equal(states, 2 * a + b)


def test_states_of_posteriors_are_few_and_not_rare():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 5))
    shared = SharedFraction(Block((measured(X.sum(axis=1), "y"),)))
    states = shared.states_of_set(Block(tuple(measured(v, f"x{j}") for j, v in enumerate(X.T))))
    n_states = np.bincount(states)
    assert 2 <= len(n_states) <= N_STATES
    assert n_states.min() >= 800 / 40


def test_states_do_not_follow_the_noise_of_the_target():
    """Trees are not asked about samples that they were fitted to: noise has no information."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(600, 6)), rng.integers(0, 2, 600)
    shared = SharedFraction(Block((labels(y, "y"),)))
    states = shared.states_of_set(Block(tuple(measured(v, f"x{j}") for j, v in enumerate(X.T))))
    rates = np.bincount(states, weights=y) / np.bincount(states)
    assert np.average((rates - y.mean()) ** 2, weights=np.bincount(states)) < 0.02


@pytest.mark.parametrize("warp", [np.exp, lambda v: v**5, np.arctan], ids=["exp", "power", "atan"])
def test_monotone_maps_change_nothing(warp):
    """Random thresholds of trees would separate only the outliers of a heavy-tailed column."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    X[::9, 1] = np.nan
    shared = SharedFraction(Block((measured(X[:, 0] + X[:, 2], "y"),)))
    plain, warped = (
        Block(tuple(measured(v, f"x{j}") for j, v in enumerate(values.T)))
        for values in (X, warp(X))
    )
    np.testing.assert_array_equal(shared.states_of_set(plain), shared.states_of_set(warped))


def test_an_empty_set_is_one_state():
    shared = SharedFraction(Block((labels([0, 1, 1], "y"),)))
    assert shared.states_of_set(Block()).tolist() == [0, 0, 0]
    assert shared.states_of_feature(Block()).tolist() == [0, 0, 0]


def test_counts_of_many_levels_are_binned():
    many, few = counts(np.arange(100.0)), counts(np.arange(100.0) % 20)
    shared = SharedFraction(Block((many,)))
    assert len(np.unique(shared.states_of_feature(Block((many,))))) == 5
    assert len(np.unique(shared.states_of_feature(Block((few,))))) == 20


def test_missing_values_are_a_state_of_their_own():
    values = np.arange(100.0)
    values[::4] = np.nan
    states = SharedFraction(Block((labels(np.arange(100) % 2),))).states_of_feature(
        Block((measured(values),))
    )
    assert np.bincount(states).tolist() == [15, 15, 15, 15, 15, 25]
    assert set(states[::4]) == {5}


def test_several_columns_as_one_feature():
    """A group of numbers is represented by its posterior: the exclusive or of its signs."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(N, 2))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    shared = SharedFraction(Block((labels(y, "y"),)))
    group = Block((measured(X[:, 0], "a"), measured(X[:, 1], "b")))
    states = shared.states_of_feature(group)
    rates = np.bincount(states, weights=y) / np.bincount(states)
    assert np.average(np.abs(rates - 0.5), weights=np.bincount(states)) > 0.4


def test_most_frequent():
    codes = np.repeat(np.arange(30), np.arange(30, 0, -1))
    joined = most_frequent(codes)
    assert np.bincount(joined).tolist()[:19] == list(range(30, 11, -1))
    assert len(np.unique(joined)) == 20
    assert most_frequent(codes, 40) is codes


def test_a_constant_target_in_bins():
    shared = SharedFraction(Block((labels(np.zeros(50), "y"),)))
    x = Block((measured(np.arange(50.0)),))
    assert shared.states_of_posterior(x).tolist() == [0] * 50


# --- measures by name ---------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["broja", "imin", "mmi", "ccs", "sx"])
def test_named_measures_count_states(measure):
    """Those with negative atoms are not truncated."""
    a, b, y = gate("AND")
    pmf = np.zeros((2, 2, 2))
    np.add.at(pmf, (a, b, y), 1 / len(y))
    found = decompose_distribution(pmf, measure=measure)
    shared = SharedFraction(Block((labels(y, "y"),)), measure)
    expected = found.shared / (found.shared + found.unique[0])
    assert shared.of(a, b) == pytest.approx(expected, abs=0.02)
    assert shared.name == f"{measure}, counted"
    assert shared.is_non_negative == (measure not in ("ccs", "sx"))


def test_named_measures_do_not_compress_the_set():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    block = Block(tuple(measured(v, f"x{j}") for j, v in enumerate(X.T)))
    shared = SharedFraction(Block((measured(X[:, 0], "y"),)), "broja", bins=3)
    assert len(np.unique(shared.states_of_set(block))) == 27
    assert len(np.unique(shared.target_states)) == 3
    assert SharedFraction(shared.target).name == "broja, posterior states"
