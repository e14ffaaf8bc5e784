"""Decompositions of continuous variables: exact identities, and convergence to what is defined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decomposition.naive_continuous import (
    System,
    binned,
    estimate,
    linear,
    normal_scores,
    product,
    sum_of,
)
from pidselect import mutual_information
from pidselect.data import Block, Column
from pidselect.decomposition.continuous import DegenerateError, gaussian, sx_ksg
from pidselect.decomposition.lattice import lattice
from pidselect.decomposition.shared_exclusions import sx
from pidselect.estimators import KSG

seeds = st.integers(0, 2**32 - 1)
TWO = (((0,), (1,)), ((0,),), ((1,),), ((0, 1),))


def block(*columns, feature_type="continuous"):
    return Block(
        tuple(
            Column(f"c{number}", feature_type, np.asarray(column, dtype=np.float64))
            for number, column in enumerate(columns)
        )
    )


def make(seed, n, widths, target_width=1):
    """Return sources of so many columns, and a target that depends on all of them."""
    rng = np.random.default_rng(seed)
    sources = [rng.normal(size=(n, width)) for width in widths]
    target = sum(source.sum(axis=1, keepdims=True) for source in sources)
    return sources, target + rng.normal(size=(n, target_width))


def decompose(measure, sources, target, **settings):
    return measure([block(*np.transpose(s)) for s in sources], block(*target.T), **settings).atoms


def redundancies(atoms, n_sources):
    return lattice(n_sources).cumulate(atoms)


def antichains(n_sources):
    return [
        tuple(tuple(s for s in range(n_sources) if mask >> s & 1) for mask in members)
        for members in lattice(n_sources).antichains
    ]


def close(values, tolerance=1e-10):
    return pytest.approx(values, rel=0, abs=tolerance)


# ------------------------------------------------------------------ Gaussian


def exactly(covariance, n, seed=0):
    """Return n samples whose covariance is exactly this, sources and target."""
    values = np.random.default_rng(seed).normal(size=(n, len(covariance)))
    values -= values.mean(axis=0)
    values = values @ np.linalg.inv(np.linalg.cholesky(np.cov(values.T))).T
    values = values @ np.linalg.cholesky(np.asarray(covariance, dtype=float)).T
    return [values[:, [i]] for i in range(len(covariance) - 1)], values[:, [-1]]


def test_gaussian_of_two_sources_in_closed_form():
    # t = 2 s1 + s2 + noise: R² = 4/6, 1/6 and 5/6.
    sources, target = exactly([[1, 0, 2], [0, 1, 1], [2, 1, 6]], 50)
    first, second, both = 0.5 * np.log([3.0, 1.2, 6.0])
    assert decompose(gaussian, sources, target) == close(
        [second, first - second, 0.0, both - first]
    )


def test_gaussian_of_three_sources_in_closed_form():
    # t = s1 + s2 + s3 + noise: a set of m sources explains m / 4 of the variance.
    sources, target = exactly([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 4]], 40)
    one, two, three = -0.5 * np.log([3 / 4, 2 / 4, 1 / 4])
    atoms = dict(zip(lattice(3).labels, decompose(gaussian, sources, target), strict=True))
    assert atoms.pop("{1}{2}{3}") == close(one)
    assert atoms.pop("{1,2}{1,3}{2,3}") == close(two - one)
    assert atoms.pop("{1,2,3}") == close(three - two)
    assert list(atoms.values()) == close(np.zeros(15))


@pytest.mark.parametrize("widths", [(1, 1), (2, 1), (1, 3, 2), (1, 1, 2, 1)])
def test_gaussian_identities(widths):
    sources, target = make(1, 100, widths)
    atoms = decompose(gaussian, sources, target)
    for value, members in zip(
        redundancies(atoms, len(widths)), antichains(len(widths)), strict=True
    ):
        known = [
            mutual_information(
                np.hstack([sources[s] for s in member]), target, estimator="gaussian", unit="nat"
            )
            for member in members
        ]
        assert value == close(min(known))
    assert atoms.min() > -1e-12


@given(seed=seeds)
@settings(max_examples=10)
def test_gaussian_does_not_change_under_linear_maps(seed):
    sources, target = make(seed, 60, (2, 1))
    rotation = np.random.default_rng(seed).normal(size=(2, 2)) + 3 * np.eye(2)
    mapped = [sources[0] @ rotation + 7, -1e6 * sources[1]]
    assert decompose(gaussian, mapped, 3 - target) == close(
        decompose(gaussian, sources, target), 1e-8
    )


def test_gaussian_refuses_what_it_has_no_form_for():
    (x1, x2), target = make(0, 30, (1, 1))
    with pytest.raises(ValueError, match=r"2 columns .*'c0', 'c1'.*sx-ksg"):
        decompose(gaussian, [x1, x2], np.hstack([target, x1]))
    with pytest.raises(ValueError, match=r"'c0', 'c0' .*broja"):
        decompose(gaussian, [x1, x2], 2 * x1 - x2)
    with pytest.raises(ValueError, match=r"of 'c0' .*broja"):
        decompose(gaussian, [x1, x2], 2 * x1)
    with pytest.raises(DegenerateError, match="3 samples"):
        decompose(gaussian, [x1[:3], x2[:3]], target[:3])


# ------------------------------------------------------------------ shared exclusions


@pytest.mark.parametrize(
    ("widths", "target_width", "n", "k"),
    [
        ((1, 1), 1, 60, 4),
        ((1, 1), 1, 61, 1),
        ((2, 1), 1, 50, 3),
        ((2, 3), 2, 40, 4),
        ((1, 1, 1), 1, 50, 4),
        ((1, 2, 1), 2, 40, 5),
        ((1, 1), 1, 6, 4),
    ],
)
def test_kernel_agrees_with_naive_twin(widths, target_width, n, k):
    sources, target = make(n, n, widths, target_width)
    expected = [estimate(sources, target, members, k) for members in antichains(len(widths))]
    found = redundancies(decompose(sx_ksg, sources, target, k=k), len(widths))
    assert found == close(expected)


def test_kernel_agrees_with_naive_twin_for_four_sources():
    sources, target = make(5, 30, (1, 1, 1, 1))
    found = redundancies(decompose(sx_ksg, sources, target), 4)
    for index in range(0, 166, 9):
        assert found[index] == close(estimate(sources, target, antichains(4)[index], 4))


@given(seed=seeds, n=st.integers(8, 80), k=st.integers(1, 5))
@settings(max_examples=15)
def test_redundancies_of_one_set_equal_ksg(seed, n, k):
    sources, target = make(seed, n, (1, 2, 1))
    scores = [np.stack([normal_scores(c) for c in source.T], axis=1) for source in sources]
    found = redundancies(decompose(sx_ksg, sources, target, k=k), 3)
    for value, members in zip(found, antichains(3), strict=True):
        if len(members) == 1:
            known = mutual_information(
                np.hstack([scores[s] for s in members[0]]),
                normal_scores(target[:, 0]),
                estimator=KSG(k=k, scale=None),
                unit="nat",
            )
            assert value == close(known)


@given(seed=seeds, n=st.integers(8, 80))
@settings(max_examples=15)
def test_shared_exclusions_are_symmetric(seed, n):
    (x1, x2), target = make(seed, n, (1, 1))
    atoms = decompose(sx_ksg, [x1, x2], target)
    assert decompose(sx_ksg, [x2, x1], target) == close(atoms[[0, 2, 1, 3]])
    rows = np.random.default_rng(seed).permutation(n)
    assert decompose(sx_ksg, [x1[rows], x2[rows]], target[rows]) == close(atoms)


@given(seed=seeds, n=st.integers(8, 80))
@settings(max_examples=15)
def test_only_ranks_matter(seed, n):
    sources, target = make(seed, n, (2, 1))
    atoms = decompose(sx_ksg, sources, target)
    mapped = [np.exp(sources[0]) * [1, -1], sources[1] ** 3]
    assert decompose(sx_ksg, mapped, -1e9 * np.arctan(target)) == close(atoms)


SYSTEMS = {
    "sum": sum_of([1, 1], correlation=0.5, noise=1),
    "product": product(noise=0.7),
    "redundant": linear([[1.1, 1, 1], [1, 1.1, 1], [1, 1, 1.1]]),
    "noise": linear([[1, 0, 1], [0, 1, 0], [1, 0, 1.3]]),
}


def error_of(system: System, members, truth, n, n_seeds):
    """Return the mean deviation of redundancies from the truth, for each antichain."""
    n_sources = len(members[-1][0])
    found = []
    for seed in range(n_seeds):
        s, t = system.draw(n, np.random.default_rng(seed + 100))
        atoms = decompose(sx_ksg, s.T[:, :, None], t[:, None])
        by_members = dict(zip(antichains(n_sources), redundancies(atoms, n_sources), strict=True))
        found.append([by_members[m] for m in members])
    return np.abs(np.mean(found, axis=0) - truth)


@pytest.mark.parametrize("name", SYSTEMS)
def test_shared_exclusions_converge(name):
    """Tolerances are the largest bias plus three standard errors, measured with other seeds."""
    system = SYSTEMS[name]
    truth = [system.redundancy(members) for members in TWO]
    assert error_of(system, TWO, truth, n=300, n_seeds=12).max() < 0.14
    assert error_of(system, TWO, truth, n=1000, n_seeds=4).max() < 0.07


def test_small_and_large_sets_of_sources_converge():
    """Noise in two sources counts as much as noise in one: {1}{2,3} does not become {1}."""
    members = (((0,), (1, 2)), ((0, 2), (1,)), ((0, 1), (0, 2), (1, 2)), ((0, 1, 2),))
    for weights in ([1, 0, 0], [1, 0.7, 0.5]):  # nothing in 2 and 3, something in each
        system = sum_of(weights, correlation=0.3 if weights[1] else 0, noise=0.7)
        truth = [system.redundancy(m) for m in members]
        assert error_of(system, members, truth, n=1000, n_seeds=3).max() < 0.11


def test_shared_exclusions_are_the_limit_of_fine_bins():
    covariance = [[1, 0.5, 1.5], [0.5, 1, 1.5], [1.5, 1.5, 4]]
    truth = linear(covariance).redundancy(TWO[0])
    error = [abs(sx(binned(covariance, bins)).atoms[0] - truth) for bins in (6, 12, 24, 48)]
    assert error == sorted(error, reverse=True)
    assert error[-1] < 0.03


@pytest.mark.parametrize("step", [0.02, 0.1, 0.3])
def test_rounded_values_cost_little(step):
    sources, target = SYSTEMS["sum"].draw(1000, np.random.default_rng(0))
    atoms = decompose(sx_ksg, sources.T[:, :, None], target[:, None])
    coarse = (sources / step).round().T[:, :, None], (target / step).round()[:, None]
    rounded, again = (decompose(sx_ksg, *coarse) for _ in range(2))
    assert rounded == close(atoms, 0.06)
    assert (rounded == again).all()


def test_a_constant_has_no_neighbours():
    (x1, _), target = make(0, 100, (1, 1))
    with pytest.raises(ValueError, match="'c0' is constant"):
        decompose(sx_ksg, [x1, np.ones_like(x1)], target)


def test_the_order_of_equal_values_is_no_information():
    rng = np.random.default_rng(0)
    x1, x2 = rng.normal(size=(2, 1000)).round(1)
    levels, counts = np.unique(x1, return_counts=True)
    assert len(levels) < 80
    entropy = -(counts / 1000 * np.log(counts / 1000)).sum()
    same, turned = (
        redundancies(decompose(sx_ksg, [x1[:, None], x2[:, None]], y[:, None]), 2)[1]
        for y in (x1, -x1)
    )
    assert same == close(turned, 0.1)
    assert same < entropy


# ------------------------------------------------------------------ bad input


def test_shared_exclusions_refuse_what_has_no_distances():
    (x1, x2), target = make(0, 30, (1, 1))
    levels = block(np.arange(30) % 3, feature_type="ordinal")
    with pytest.raises(ValueError, match=r"'c0' is ordinal, with 3 levels.*\"sx\" or \"broja\""):
        sx_ksg([block(*x1.T), levels], block(*target.T))
    with pytest.raises(ValueError, match=r"'c0' is ordinal"):
        sx_ksg([block(*x1.T), block(*x2.T)], levels)
    with pytest.raises(ValueError, match=r"at least 6 samples"):
        decompose(sx_ksg, [x1[:5], x2[:5]], target[:5])


@pytest.mark.parametrize("measure", [gaussian, sx_ksg])
def test_both_refuse_labels(measure):
    (x1, _), target = make(0, 30, (1, 1))
    with pytest.raises(ValueError, match=r"'c0' is nominal.*\"broja\""):
        measure([block(*x1.T), block(np.arange(30) % 3, feature_type="nominal")], block(*target.T))
