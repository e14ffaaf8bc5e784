"""BROJA on distributions made to be hard: always certified, always adding up."""

from __future__ import annotations

import numpy as np
import pytest

from decomposition.conic import solve_conic
from decomposition.distributions import FAMILIES, stress
from decomposition.naive_conic import bounds, marginals
from pidselect.decomposition.broja import broja, solve
from pidselect.decomposition.pmf import information

BIT = np.log(2)
CERTIFIED, EXACT = 1e-6, 1e-9  # bits

every_family = pytest.mark.parametrize("family", FAMILIES)


def check(pmf):
    """Assert all that holds of every decomposition."""
    parts = broja(pmf)
    assert np.isfinite(parts.atoms).all()
    assert 0 <= parts.gap <= CERTIFIED * BIT
    shared, unique1, unique2, synergy = parts.atoms / BIT
    assert min(shared, unique1, unique2, synergy) >= -CERTIFIED
    both = information(pmf) / BIT
    first = information(pmf.sum(axis=1)) / BIT
    second = information(pmf.sum(axis=0)) / BIT
    assert shared + unique1 == pytest.approx(first, abs=EXACT)
    assert shared + unique2 == pytest.approx(second, abs=EXACT)
    assert unique1 + synergy == pytest.approx(both - second, abs=EXACT)
    assert unique2 + synergy == pytest.approx(both - first, abs=EXACT)
    assert shared + unique1 + unique2 + synergy == pytest.approx(both, abs=EXACT)


@every_family
@pytest.mark.parametrize("seed", range(25))
def test_certified_and_adding_up(family, seed):
    check(stress(family, np.random.default_rng((seed, 25))))


@every_family
def test_large(family):
    check(stress(family, np.random.default_rng(0), large=True))


@every_family
@pytest.mark.parametrize("seed", range(3))
def test_within_the_bounds_of_the_cone_programme(family, seed):
    P1, P2 = marginals(stress(family, np.random.default_rng((seed, 3))))
    solution = solve(P1, P2)
    lower, upper = bounds(P1, P2, *solve_conic(P1, P2))
    assert solution.entropy <= upper + 1e-12
    assert solution.entropy + solution.gap >= lower - 1e-12
