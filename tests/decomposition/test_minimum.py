from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_decomposition as naive
from naive_decomposition import largest_difference, pmfs
from pidselect.decomposition.lattice import lattice
from pidselect.decomposition.minimum import imin, lattice_of_minima, mmi

MEASURES = {"imin": (imin, naive.imin), "mmi": (mmi, naive.mmi)}
seeds = st.integers(0, 2**32 - 1)
both = pytest.mark.parametrize("name", MEASURES)


def decompose(name, pmf):
    parts = MEASURES[name][0](pmf)
    assert parts.gap == 0
    assert parts.informative is None
    return dict(zip(lattice(pmf.ndim - 1).labels, parts.atoms.tolist(), strict=True))


def close(value, tolerance=1e-12):
    return pytest.approx(value, rel=0, abs=tolerance)


@both
@pytest.mark.parametrize(("n_sources", "examples"), [(2, 60), (3, 40), (4, 5)])
def test_against_twin(name, n_sources, examples):
    @given(pmfs(n_sources))
    @settings(max_examples=examples)
    def check(pmf):
        assert largest_difference(decompose(name, pmf), MEASURES[name][1](pmf)) < 1e-12

    check()


@both
@given(pmf=st.integers(2, 5).flatmap(lambda n: pmfs(n, most_states=2 if n > 3 else 4)))
@settings(max_examples=60)
def test_atoms_sum_to_the_information_and_none_is_negative(name, pmf):
    atoms = decompose(name, pmf)
    every = range(1, pmf.ndim)
    assert sum(atoms.values()) == close(naive.information(pmf, every))
    assert min(atoms.values()) > -1e-12


@both
def test_many_target_states_are_gone_through_in_parts(name):
    pmf = np.random.default_rng(0).dirichlet(np.ones(2 * 2 * 140)).reshape(2, 2, 140)
    assert largest_difference(decompose(name, pmf), MEASURES[name][1](pmf)) < 1e-12


def test_imin_calls_equal_amounts_shared_per_state_and_mmi_in_total():
    # Source 1 indicates t = 0, source 2 indicates t = 2.
    pmf = np.zeros((2, 2, 3))
    pmf[0, 0, 0] = pmf[1, 0, 1] = pmf[1, 1, 2] = 1 / 3
    bits = {name: decompose(name, pmf)["{1}{2}"] / np.log(2) for name in MEASURES}
    assert bits["mmi"] == close(np.log2(3) - 2 / 3)
    assert bits["imin"] == close(np.log2(1.5))


def test_lattice_of_minima_takes_information_from_anywhere():
    information = np.array([0.0, 1.0, 2.0, 4.0, 3.0, 5.0, 6.0, 9.0])
    atoms = dict(zip(lattice(3).labels, lattice_of_minima(information), strict=True))
    steps = ["{1}{2}{3}", "{2}{3}", "{1,2}{3}", "{1,2}{1,3}{2,3}", "{1,3}{2,3}", "{2,3}"]
    assert atoms == dict.fromkeys(atoms, 0.0) | dict.fromkeys(steps, 1.0) | {"{1,2,3}": 3.0}
