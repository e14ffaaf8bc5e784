"""The atoms of a feature beside a set: identities, bounds and intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pidselect.data import read_block
from pidselect.decomposition.atoms import atoms_of, decompose_feature
from pidselect.decomposition.explanation import VALUES
from pidselect.decomposition.posterior import SharedFraction

bits = st.floats(0, 20)
fractions = st.floats(0, 1)


def thousandths(value):
    """Return a value as a whole number of 0.001 bit; it must be one."""
    number = round(1000 * value)
    assert value == number / 1000
    return number


# --- identities ---------------------------------------------------------------------------------


@given(bits, bits, fractions)
def test_identities_hold_to_the_last_digit(information, added, fraction):
    atoms = atoms_of(information, added, fraction)
    unique, shared, synergy = map(thousandths, (atoms.unique, atoms.shared, atoms.synergy))
    assert unique + shared == thousandths(atoms.information)
    assert unique + synergy == thousandths(atoms.added)
    assert 0 <= unique <= min(thousandths(atoms.information), thousandths(atoms.added))
    assert min(shared, synergy) >= 0
    assert atoms.information == pytest.approx(information, abs=0.0005 + 1e-9)
    assert atoms.added == pytest.approx(added, abs=0.0005 + 1e-9)


@given(bits, bits, st.floats(-3, 3))
def test_other_measures_may_be_negative_and_add_up_too(information, added, fraction):
    atoms = atoms_of(information, added, fraction, is_non_negative=False)
    unique, shared, synergy = map(thousandths, (atoms.unique, atoms.shared, atoms.synergy))
    assert unique + shared == thousandths(atoms.information)
    assert unique + synergy == thousandths(atoms.added)
    assert atoms.unique == pytest.approx((1 - fraction) * atoms.information, abs=0.0005 + 1e-9)


@given(bits, bits)
def test_unique_information_is_not_more_than_is_added(information, added):
    """Nothing is shared in the states, yet estimates have less given the set: that is shared."""
    atoms = atoms_of(information, added, 0.0)
    assert atoms.unique == min(atoms.information, atoms.added)


def test_no_negative_zero():
    values = vars(atoms_of(0.0, 0.0, 1.0))
    assert all(math.copysign(1.0, values[name]) == 1.0 for name in VALUES)


# --- one feature --------------------------------------------------------------------------------


def known(n=400, seed=0):
    """Return the fraction for y = two bits, one of them observed twice, with all states."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, (2, n))
    fraction = SharedFraction(read_block(a + 2 * b, "y"))
    return fraction, a, b


def test_alone_all_of_it_is_unique():
    fraction, a, b = known()
    atoms = decompose_feature(fraction, a, np.zeros_like(b), 0.9, 0.9)
    assert (atoms.unique, atoms.shared, atoms.synergy) == (0.9, 0.0, 0.0)
    assert atoms.intervals == {}


def test_shared_information_is_at_most_that_of_the_set():
    """The set repeats the feature, but its information is estimated as smaller."""
    fraction, a, _ = known()
    atoms = decompose_feature(fraction, a, a, 1.0, 0.8, most_shared=0.25)
    assert (atoms.shared, atoms.unique) == (0.25, 0.75)


# --- intervals ----------------------------------------------------------------------------------


def halves_of(n, n_halves=25, seed=1):
    rng = np.random.default_rng(seed)
    return np.array([np.sort(rng.permutation(n)[: n // 2]) for _ in range(n_halves)])


@given(st.lists(st.tuples(bits, bits), min_size=25, max_size=25), bits, bits)
@settings(max_examples=30)
def test_intervals_contain_the_value(of_halves, information, added):
    fraction, a, b = known(60)
    halves = halves_of(60)
    atoms = decompose_feature(fraction, a, b, information, added, halves, np.array(of_halves))
    assert set(atoms.intervals) == set(VALUES)
    for name, (lower, upper) in atoms.intervals.items():
        assert 0 <= lower <= getattr(atoms, name) <= upper


def test_width_is_that_of_students_distribution_and_the_bias():
    _, a, b = known(60)
    fraction = SharedFraction(read_block(a + 0.01 * np.arange(60), "y"))
    values = np.random.default_rng(0).normal(0.5, 0.05, 25)
    of_halves = np.column_stack([values, np.full(25, 0.7)])
    atoms = decompose_feature(fraction, a, b, 0.5, 0.7, halves_of(60), of_halves)
    values = np.round(values, 3)
    width = 2.0639 * np.std(values, ddof=1)  # 0.975 quantile, 24 degrees of freedom
    bias = (0.5 - values.mean()) / (2**0.25 - 1)  # halves are too small by this
    assert bias > 0.01
    expected = (0.5 - width, 0.5 + width + bias)
    assert atoms.intervals["information"] == pytest.approx(expected, abs=0.001)
    assert atoms.intervals["added"] == (0.7, 0.7)


@pytest.mark.parametrize(("in_halves", "is_bound"), [(0.7, False), (0.69, False), (0.4, True)])
def test_a_value_that_still_grows_with_the_samples_is_a_lower_bound(in_halves, is_bound):
    fraction, a, b = known(60)
    scatter = 0.05 * np.resize([-1, 1], 24)
    of_halves = np.column_stack([np.full(24, 0.9), in_halves + scatter])
    atoms = decompose_feature(fraction, a, b, 0.9, 0.7, halves_of(60, 24), of_halves)
    assert atoms.is_lower_bound is is_bound


def test_no_interval_exceeds_the_entropy_of_the_target():
    fraction, a, b = known(60)
    of_halves = np.column_stack([np.linspace(0, 4, 25), np.full(25, 0.7)])
    atoms = decompose_feature(fraction, a, b, 1.5, 0.7, halves_of(60), of_halves)
    assert atoms.intervals["information"] == (0.0, round(fraction.max_bits, 3))
    assert fraction.max_bits == pytest.approx(2, abs=0.1)
