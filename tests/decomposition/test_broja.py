from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import naive_decomposition as naive
from naive_decomposition import pmfs
from pidselect.decomposition.broja import ATTEMPTS, TOLERANCE, broja, merge, solve
from pidselect.decomposition.broja_certificate import certify

BIT = np.log(2)
seeds = st.integers(0, 2**32 - 1)


def close(value, tolerance=1e-9):
    return pytest.approx(value, rel=0, abs=tolerance)


def marginals(pmf):
    return np.ascontiguousarray(pmf.sum(axis=1).T), np.ascontiguousarray(pmf.sum(axis=0).T)


def dense(shape, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(np.prod(shape))).reshape(shape)


@given(pmf=pmfs(2, most_states=3))
@settings(max_examples=8)
def test_against_twin(pmf):
    atoms = dict(zip(["{1}{2}", "{1}", "{2}", "{1,2}"], broja(pmf).atoms, strict=True))
    slow = naive.broja(pmf)
    assert naive.largest_difference(atoms, slow) < 2e-3  # the twin converges slowly, from above
    assert atoms["{1}"] <= slow["{1}"] + TOLERANCE


def test_unique_information_depends_on_the_two_marginals_alone():
    pmf = dense((3, 4, 3))
    first, second = marginals(pmf)
    independent = np.einsum("ta,tb,t->abt", first, second, 1 / first.sum(axis=1))
    assert broja(independent).atoms[:3] == close(broja(pmf).atoms[:3])


def test_states_of_equal_conditionals_are_merged():
    rng = np.random.default_rng(0)
    base = dense((4, 3, 3))
    parts = np.zeros((4, 30, 3))
    for b in range(3):
        share = rng.dirichlet(np.ones(10))
        parts[:, 10 * b : 10 * b + 10] = base[:, b, None, :] * share[:, None]
    first, second = marginals(parts[:, rng.permutation(30)])
    assert merge(second).shape == (3, 3)
    assert merge(first).shape == (3, 4)
    assert solve(first, second).entropy == close(solve(*marginals(base)).entropy)


@given(arrays(np.int64, (3, 12), elements=st.integers(0, 3)))
def test_merged_counts_differ_in_their_proportions(counts):
    if not counts.sum():
        counts[0, 0] = 1
    states = {tuple(np.round(c / c.sum(), 9)) for c in counts.T if c.sum()}
    merged = merge(counts / counts.sum())
    assert merged.shape[1] == len(states)
    assert merged.sum(axis=1) == close(counts.sum(axis=1) / counts.sum(), 1e-15)


@given(pmf=pmfs(2, most_states=4), seed=seeds)
def test_bounds_hold_for_any_potentials_and_any_joint_distribution(pmf, seed):
    first, second = marginals(pmf)
    possible = first.sum(axis=1) > 0
    first, second = merge(first[possible]), merge(second[possible])
    best = -solve(first, second).entropy
    rng = np.random.default_rng(seed)
    left, right = rng.normal(size=first.shape), rng.normal(size=second.shape)
    joint = rng.normal(size=(*first.shape, second.shape[1]))
    lower, upper = certify(first, second, left, right, joint, *map(np.empty, joint.shape[1:]))
    assert lower <= best + 1e-12
    assert upper >= best - TOLERANCE
    # The rounded distribution has the marginals.
    assert (joint >= 0).all()
    assert joint.sum(axis=2) == close(first, 1e-15)
    assert joint.sum(axis=1) == close(second, 1e-15)


def test_the_gap_is_valid_where_the_method_is_stopped_early():
    first, second = marginals(dense((4, 9, 3)))
    best = solve(first, second)
    early = solve(first, second, most_steps=2)
    assert early.gap > 1e-6
    # All attempts are made, each to its last step, where none reaches the gap; else one may do.
    assert (early.method, early.steps) == (ATTEMPTS[-1].method, 2 * len(ATTEMPTS))
    assert (best.method, best.steps < 30) == (ATTEMPTS[0].method, True)
    assert early.entropy <= best.entropy + best.gap
    assert early.entropy + early.gap >= best.entropy


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_every_attempt_reaches_the_optimum(attempt):
    first, second = marginals(dense((3, 6, 4)))
    found = solve(first, second, attempts=[attempt])
    assert found.method == attempt.method
    assert found.entropy == close(solve(first, second).entropy)


@pytest.mark.parametrize(
    ("shape", "unique"), [((1, 3, 2), (0, 1)), ((3, 1, 2), (1, 0)), ((1, 1, 4), (0, 0))]
)
def test_a_constant_source_has_no_information(shape, unique):
    pmf = dense(shape)
    parts = broja(pmf)
    total = naive.information(pmf, [1, 2])
    assert parts.atoms == close(np.array([0, unique[0] * total, unique[1] * total, 0]), 1e-12)
    assert parts.gap == 0


def test_probabilities_hundreds_of_decades_apart():
    pmf = 10.0 ** -np.random.default_rng(3).uniform(0, 250, size=(3, 4, 3))
    parts = broja(pmf / pmf.sum())
    assert np.isfinite(parts.atoms).all()
    assert parts.gap < 1e-6 * BIT


def test_too_many_states_are_refused():
    n = 46
    pmf = np.random.default_rng(0).dirichlet(np.ones(n**3)).reshape(n, n, n)
    with pytest.raises(ValueError, match=r"46 .* states .* 46 .*imin"):
        broja(pmf)
