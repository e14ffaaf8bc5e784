from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_decomposition as naive
from naive_decomposition import largest_difference, pmfs
from pidselect.decomposition.lattice import lattice
from pidselect.decomposition.shared_exclusions import sx

seeds = st.integers(0, 2**32 - 1)


def decompose(pmf):
    parts = sx(pmf)
    assert parts.gap == 0
    labels = lattice(pmf.ndim - 1).labels
    atoms, informative = (
        dict(zip(labels, part.tolist(), strict=True)) for part in (parts.atoms, parts.informative)
    )
    return naive.SharedExclusions(
        atoms, informative, {label: informative[label] - atoms[label] for label in labels}
    )


def assert_same(found, expected, tolerance=1e-12):
    for part, other in zip(found, expected, strict=True):
        assert largest_difference(part, other) < tolerance


def close(value, tolerance=1e-12):
    return pytest.approx(value, rel=0, abs=tolerance)


@pytest.mark.parametrize(("n_sources", "states", "examples"), [(2, 4, 50), (3, 2, 30), (4, 2, 3)])
def test_against_twin(n_sources, states, examples):
    @given(pmfs(n_sources, most_states=states))
    @settings(max_examples=examples)
    def check(pmf):
        assert_same(decompose(pmf), naive.sx(pmf))

    check()


@given(st.integers(2, 5).flatmap(lambda n: pmfs(n, most_states=2 if n > 3 else 4)))
@settings(max_examples=60)
def test_atoms_sum_to_the_information_and_neither_part_is_negative(pmf):
    atoms, informative, misinformative = decompose(pmf)
    assert sum(atoms.values()) == close(naive.information(pmf, range(1, pmf.ndim)))
    assert min(informative.values()) > -1e-12
    assert min(misinformative.values()) > -1e-12


@pytest.mark.parametrize("chunk_size", [1, 40])  # one and two realisations at a time
def test_the_chunk_size_does_not_matter(chunk_size):
    pmf = np.random.default_rng(0).dirichlet(np.ones(3 * 2 * 2 * 3)).reshape(3, 2, 2, 3)
    assert sx(pmf, chunk_size=chunk_size).atoms == close(sx(pmf).atoms)
