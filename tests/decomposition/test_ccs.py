from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive_decomposition as naive
from naive_decomposition import largest_difference, pmfs
from pidselect.decomposition.ccs import ccs, maximum_entropy, possible_cells
from pidselect.decomposition.lattice import lattice

seeds = st.integers(0, 2**32 - 1)
FACES = range(3)


def decompose(pmf):
    parts = ccs(pmf)
    assert 0 <= parts.gap < 1e-13
    assert parts.informative is None
    return dict(zip(lattice(2).labels, parts.atoms.tolist(), strict=True))


def close(value, tolerance=1e-12):
    return pytest.approx(value, rel=0, abs=tolerance)


# --- the measure --------------------------------------------------------------------------------


@given(pmfs(2, most_states=4))
@settings(max_examples=15)
def test_against_twin(pmf):
    expected = naive.ccs(pmf)
    assume(expected is not None)
    assert largest_difference(decompose(pmf), expected) < 1e-11


def test_a_solution_that_is_not_reached_raises():
    pmf = np.random.default_rng(0).random((4, 4, 4)) ** 9
    pmf /= pmf.sum()
    with pytest.raises(RuntimeError, match="nats"):
        ccs(pmf, most_steps=1)


def test_the_gap_bounds_the_error_of_a_crude_solution():
    pmf = np.random.default_rng(0).random((4, 4, 4)) ** 9
    pmf /= pmf.sum()
    exact = ccs(pmf)
    for steps in (1, 2, 3):
        crude = ccs(pmf, most_steps=steps, largest_gap=1.0)
        assert np.abs(crude.atoms - exact.atoms).max() <= crude.gap + 1e-14
        assert crude.gap > exact.gap


# --- the maximum entropy distribution -----------------------------------------------------------


@given(pmfs(2, most_states=5))
@settings(max_examples=50)
def test_largest_entropy_has_the_marginals_and_the_form(pmf):
    q = maximum_entropy(pmf)[0]
    for axis in FACES:
        assert q.sum(axis=axis) == close(pmf.sum(axis=axis), 1e-14)
    cells = np.argwhere(q > 0)
    design = np.zeros((len(cells), 3, 25))
    for pair, (i, j) in enumerate(naive.PAIRS):
        design[np.arange(len(cells)), pair, 5 * cells[:, i] + cells[:, j]] = 1
    design = design.reshape(len(cells), -1)
    logs = np.log(q[q > 0])
    # ln q = f(a,b) + g(a,t) + h(b,t): with the marginals, this makes the entropy the largest.
    weights = np.sqrt(q[q > 0])
    fitted = np.linalg.lstsq(design * weights[:, None], logs * weights, rcond=None)[0]
    assert (design @ fitted - logs) * weights == close(np.zeros(len(cells)), 1e-9)


@given(pmfs(2, most_states=4))
@settings(max_examples=30)
def test_possible_cells_against_twin(pmf):
    possible = {tuple(place) for place in np.argwhere(possible_cells(pmf)).tolist()}
    assert possible == naive.possible_outcomes(naive.to_dict(pmf))


@given(pmfs(2, most_states=5))
def test_possible_cells_do_not_depend_on_which_distribution_has_the_marginals(pmf):
    possible = possible_cells(pmf)
    assert not (~possible & (pmf > 0)).any()
    q = maximum_entropy(pmf)[0]
    assert np.array_equal(q > 0, possible)
    assert np.array_equal(possible_cells(q), possible)
    assert np.array_equal(possible_cells((pmf + q) / 2), possible)


def test_cells_that_the_marginals_rule_out():
    # Each pair of (0, 0, 0) and of (1, 1, 1) occurs, yet either could take only from the other.
    pmf = np.full((2, 2, 2), 1 / 6)
    pmf[0, 0, 0] = pmf[1, 1, 1] = 0
    assert np.array_equal(possible_cells(pmf), pmf > 0)
    assert maximum_entropy(pmf)[0] == close(pmf, 1e-15)


def test_cells_that_only_a_change_of_twelve_cells_can_fill():
    pmf = np.zeros((3, 3, 2))
    for a in range(3):
        pmf[a, a, 1] = pmf[a, (a + 1) % 3, 0] = 1 / 6
    assert possible_cells(pmf).sum() == 12
    assert maximum_entropy(pmf)[0] == close(np.where(possible_cells(pmf), 1 / 12, 0), 1e-15)


def test_too_many_states_are_refused():
    with pytest.raises(ValueError, match=r"60 and 60 states .* 60 .*broja"):
        ccs(np.full((60, 60, 60), 60.0**-3))
