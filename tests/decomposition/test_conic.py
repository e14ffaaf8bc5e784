"""The cone programme alone, judged by bounds of its own."""

from __future__ import annotations

import numpy as np
import pytest

from decomposition.conic import solve_conic
from decomposition.distributions import FAMILIES, stress
from decomposition.naive_conic import bounds, conditional_entropy, marginals, onto_marginals
from pidselect import datasets

BIT = np.log(2)
AND_SHARED = 1.5 - 0.75 * np.log2(3)  # I(T; X1) of an AND gate, all of it shared


def decompose(pmf):
    """Return shared, unique 1, unique 2 and synergy in bits."""
    P1, P2 = marginals(pmf)
    given_both = bounds(P1, P2, *solve_conic(P1, P2))[0]
    of_target = conditional_entropy(P1.sum(axis=1)[:, None, None])
    given_first, given_second = (
        conditional_entropy(P1[:, :, None]),
        conditional_entropy(P2[:, None]),
    )
    left = conditional_entropy(np.moveaxis(pmf, -1, 0))
    shared = of_target - given_first - given_second + given_both
    atoms = [shared, given_second - given_both, given_first - given_both, given_both - left]
    return np.array(atoms) / BIT


@pytest.mark.parametrize(
    ("gate", "atoms"),
    [
        ("AND", [AND_SHARED, 0, 0, 0.5]),
        ("OR", [AND_SHARED, 0, 0, 0.5]),
        ("XOR", [0, 0, 0, 1]),
        ("SUM", [0.5, 0, 0, 1]),
        ("COPY", [0, 1, 1, 0]),
        ("COPY1", [0, 1, 0, 0]),
        ("RDN", [1, 0, 0, 0]),
    ],
)
def test_gates(gate, atoms):
    assert decompose(datasets.gate(gate)) == pytest.approx(atoms, abs=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(8))
def test_bounds_meet(family, seed):
    P1, P2 = marginals(stress(family, np.random.default_rng(seed)))
    lower, upper = bounds(P1, P2, *solve_conic(P1, P2))
    assert -1e-12 <= upper - lower <= 1e-6 * BIT


@pytest.mark.parametrize("seed", range(5))
def test_states_that_do_not_occur_have_no_part(seed):
    P1, P2 = marginals(stress("80 % zeros", np.random.default_rng(seed)))
    lam, mu, q = solve_conic(P1, P2)
    assert np.array_equal(np.isneginf(lam), P1 == 0)
    assert np.array_equal(np.isneginf(mu), P2 == 0)
    assert not q[(P1 == 0)[:, :, None] | (P2 == 0)[:, None, :]].any()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_distribution_found_nearly_has_the_marginals(family):
    P1, P2 = marginals(stress(family, np.random.default_rng(1)))
    q = solve_conic(P1, P2)[2]
    assert q.sum(axis=2) == pytest.approx(P1, abs=1e-7)
    assert q.sum(axis=1) == pytest.approx(P2, abs=1e-7)
    exact = onto_marginals(P1, P2, q)
    assert exact.sum(axis=2) == pytest.approx(P1, abs=1e-15)
    assert exact.sum(axis=1) == pytest.approx(P2, abs=1e-15)
