"""Null standardization and its shrinkage over candidates."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_selection
from pidselect.selection.executor import PERMUTATION_BATCH
from pidselect.significance.standardize import (
    MANY_ALIKE,
    MORE_PERMUTATIONS,
    PILOT_PERMUTATIONS,
    POOLED_PERMUTATIONS,
    NullStandardizer,
)

seeds = st.integers(0, 2**32 - 1)
SHAPE = (2, 3, 4)  # tests, candidates, members: too few candidates to have anything in common
MANY = (2, 8, 4)
shapes = st.sampled_from([SHAPE, MANY])


def normal_values(seed, n=PILOT_PERMUTATIONS, shape=SHAPE):
    return np.random.default_rng(seed).normal(size=(*shape, n))


@given(seeds, shapes, st.floats(-100, 100), st.floats(0.01, 100))
def test_neither_location_nor_scale_matters(seed, shape, location, scale):
    pilot, values = normal_values(seed, shape=shape), normal_values(seed + 1, 7, shape)
    expected = NullStandardizer.from_pilot(pilot, [False] * 4).apply(values)
    moved = NullStandardizer.from_pilot(location + scale * pilot, [False] * 4).apply(
        location + scale * values
    )
    np.testing.assert_allclose(moved, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("chi2_null", [False, True])
@pytest.mark.parametrize("constant", [0.0, 1.0, -3.0, 0.1 + 0.2])
def test_without_a_scale_everything_is_0(constant, chi2_null):
    standard = NullStandardizer.from_pilot(
        np.full((1, 1, PILOT_PERMUTATIONS), constant), [chi2_null]
    )
    values = np.array([[[constant, constant + 1, -50.0, np.inf]]])
    np.testing.assert_array_equal(standard.apply(values), np.zeros((1, 1, 4)))


def test_rounding_is_no_scale():
    pilot = 1.0 + 1e-15 * np.random.default_rng(0).integers(0, 3, (1, 1, PILOT_PERMUTATIONS))
    np.testing.assert_array_equal(
        NullStandardizer.from_pilot(pilot, [False]).apply(pilot + 1), 0 * pilot
    )


@pytest.mark.parametrize("odd", [np.inf, -np.inf])
def test_infinite_pilot_values_affect_only_their_own(odd):
    pilot, values = normal_values(0), normal_values(1, 6)
    expected = NullStandardizer.from_pilot(pilot, [False] * 4).apply(values)
    pilot[0, 1, 2, 7] = odd
    found = NullStandardizer.from_pilot(pilot, [False] * 4).apply(values)
    np.testing.assert_array_equal(found[0, 1, 2], np.zeros(6))
    found[0, 1, 2] = expected[0, 1, 2]
    np.testing.assert_array_equal(found, expected)


def test_an_infinite_value_is_the_largest_and_changes_no_other():
    pilot, values = normal_values(0), normal_values(1, 6)
    expected = NullStandardizer.from_pilot(pilot, [False] * 4).apply(values)
    values[1, 2, 3, 0] = np.inf
    found = NullStandardizer.from_pilot(pilot, [False] * 4).apply(values)
    assert found[1, 2, 3, 0] == np.inf
    found[1, 2, 3, 0] = expected[1, 2, 3, 0]
    np.testing.assert_array_equal(found, expected)


@given(seeds, st.permutations(range(4)))
def test_the_order_of_members_is_irrelevant_to_the_score(seed, order):
    pilot, values = normal_values(seed), normal_values(seed + 1, 7)
    chi2_null = np.array([True, False, False, True])
    expected = NullStandardizer.from_pilot(pilot, chi2_null).apply(values).max(axis=2)
    turned = (
        NullStandardizer.from_pilot(pilot[:, :, order], chi2_null[order])
        .apply(values[:, :, order])
        .max(axis=2)
    )
    np.testing.assert_array_equal(turned, expected)


@given(seeds)
def test_the_square_root_is_for_chi2_null_only(seed):
    pilot, values = normal_values(seed), normal_values(seed + 1, 7)
    root = NullStandardizer.from_pilot(pilot, [False, True, False, True]).apply(values)
    plain = NullStandardizer.from_pilot(pilot, [False] * 4).apply(values)
    np.testing.assert_array_equal(root[:, :, ::2], plain[:, :, ::2])
    signed = np.sign(pilot) * np.sqrt(np.abs(pilot)), np.sign(values) * np.sqrt(np.abs(values))
    by_hand = NullStandardizer.from_pilot(signed[0], [False] * 4).apply(signed[1])
    np.testing.assert_allclose(root[:, :, 1::2], by_hand[:, :, 1::2], rtol=1e-12)


@given(seeds, st.booleans())
def test_larger_values_have_larger_scores(seed, chi2_null):
    """Below zero, too: the square root keeps the sign."""
    standard = NullStandardizer.from_pilot(normal_values(seed, shape=(5, 1)), [chi2_null])
    scores = standard.apply(np.tile(np.linspace(-3, 3, 41), (5, 1, 1)))
    assert (np.diff(scores) > 0).all()


# --- what many candidates have in common --------------------------------------------------------


@given(
    seeds,
    st.integers(1, 9),
    st.integers(2, 60),
    st.floats(0, 3),
    st.lists(st.sampled_from([0.0, 2.5, np.inf, -np.inf]), max_size=3),
)
def test_equal_to_the_twin(seed, n_candidates, n_permutations, unlike, odd):
    """Candidates more or less unlike each other; some always have the same value, or none."""
    rng = np.random.default_rng(seed)
    locations, logarithms = unlike * rng.normal(size=(2, n_candidates, 2, 1))
    pilot = locations + np.exp(logarithms) * rng.normal(size=(n_candidates, 2, n_permutations))
    for place, value in zip(rng.permutation(n_candidates), odd, strict=False):
        pilot[place, 0] = value
    found = NullStandardizer.from_pilot(pilot, [False, False])
    for member in range(2):
        expected = np.array(naive_selection.standards(pilot[:, member].tolist()))
        has_scale = expected[:, 1] > 0
        np.testing.assert_allclose(found.scale[:, member, 0], expected[:, 1], rtol=1e-9)
        centres = found.centre[has_scale, member, 0]
        np.testing.assert_allclose(centres, expected[has_scale, 0], rtol=1e-9, atol=1e-9)


@given(seeds)
def test_tests_and_members_have_nothing_in_common(seed):
    """Each has candidates of its own distribution: together or apart makes no difference."""
    sizes = 10.0 ** np.arange(8).reshape(2, 1, 4, 1)
    pilot = sizes * normal_values(seed, shape=MANY)
    found = NullStandardizer.from_pilot(pilot, [False] * 4)
    for test, member in np.ndindex(2, 4):
        alone = NullStandardizer.from_pilot(pilot[test, :, member : member + 1], [False])
        together = found.centre[test, :, member], found.scale[test, :, member]
        np.testing.assert_allclose(together[0], alone.centre[:, 0], rtol=1e-9)
        np.testing.assert_allclose(together[1], alone.scale[:, 0], rtol=1e-12)


@given(seeds, st.permutations(range(8)))
def test_the_order_of_candidates_is_irrelevant(seed, order):
    pilot, values = normal_values(seed, shape=MANY), normal_values(seed + 1, 7, MANY)
    expected = NullStandardizer.from_pilot(pilot, [False] * 4).apply(values)
    turned = NullStandardizer.from_pilot(pilot[:, order], [False] * 4).apply(values[:, order])
    np.testing.assert_allclose(turned, expected[:, order], rtol=1e-9, atol=1e-9)


# --- many candidates of one kind -----------------------------------------------------------------

ONE_KIND = np.zeros(300, dtype=np.int64)


def few_pilot_values(seed, n_candidates=300, n_estimators=1):
    shape = (n_candidates, n_estimators, POOLED_PERMUTATIONS)
    return np.random.default_rng(seed).normal(size=shape)


def test_with_the_observed_data_and_39_permutations_they_fill_batches():
    assert (1 + POOLED_PERMUTATIONS + 39) % PERMUTATION_BATCH == 0
    assert len(MORE_PERMUTATIONS) % PERMUTATION_BATCH == 0


def test_pooled_in_plain_words():
    """As documented, with means and variances of lists."""
    pilot = few_pilot_values(1)
    pilot += 0.2 * np.random.default_rng(2).normal(size=(300, 1, 1))
    pilot[7] += 4.0
    found, (unknown,) = NullStandardizer.from_alike(pilot, [False], ONE_KIND)
    assert 7 in unknown
    rows = [row for place, row in enumerate(pilot[:, 0].tolist()) if place not in unknown]
    means = [statistics.mean(row) for row in rows]
    centre = statistics.mean(means)
    half = POOLED_PERMUTATIONS // 2
    halves = [
        [statistics.mean(row[part]) for row in rows] for part in (slice(half), slice(half, None))
    ]
    between = statistics.covariance(*halves) * (len(rows) - 1) / len(rows)
    kept = between / statistics.pvariance(means)
    assert 0.0 < kept < 1.0
    expected = [centre + kept * (statistics.mean(row) - centre) for row in pilot[:, 0].tolist()]
    np.testing.assert_allclose(found.centre[:, 0, 0], expected, atol=1e-12)
    scale = math.sqrt(statistics.mean(statistics.variance(row) for row in rows))
    np.testing.assert_allclose(found.scale, scale, rtol=1e-12)


@pytest.mark.parametrize("change", [lambda x: x + 3, lambda x: 8 * x, lambda x: 0 * x, np.exp])
def test_few_that_differ_need_a_larger_pilot(change):
    pilot = few_pilot_values(0)
    odd = slice(40, 45)
    pilot[odd] = change(8.0 * pilot[odd]) if change is np.exp else change(pilot[odd])
    expected, before = NullStandardizer.from_alike(few_pilot_values(0), [False], ONE_KIND)
    found, unknown = NullStandardizer.from_alike(pilot, [False], ONE_KIND)
    assert {40, 41, 42, 43, 44} <= set(unknown[0]) <= {40, 41, 42, 43, 44, *before[0]}
    np.testing.assert_allclose(found.scale, expected.scale, rtol=0.02)


@pytest.mark.parametrize("odd", [np.inf, -np.inf])
def test_infinite_values_need_a_larger_pilot(odd):
    pilot = few_pilot_values(0)
    pilot[3, 0, 2] = odd
    found, unknown = NullStandardizer.from_alike(pilot, [False], ONE_KIND)
    assert 3 in unknown[0]
    assert np.isfinite(np.delete(found.centre, 3)).all()
    assert np.isfinite(found.scale).all()


@pytest.mark.parametrize("part", ["centre", "scale"])
def test_if_candidates_differ_in_earnest_none_is_pooled(part):
    """For one of two estimators; the other is not affected."""
    rng = np.random.default_rng(0)
    pilot = few_pilot_values(1, n_estimators=2)
    if part == "centre":
        pilot[:, 1] += 0.7 * rng.normal(size=(300, 1))
    else:
        pilot[:, 1] *= np.exp(0.4 * rng.normal(size=(300, 1)))
    _, unknown = NullStandardizer.from_alike(pilot, [False, False], ONE_KIND)
    assert len(unknown[0]) < 15
    assert len(unknown[1]) == 300


def test_kinds_are_pooled_apart_and_small_ones_not_at_all():
    kinds = np.repeat([0, 1, 2], [150, 120, 30])
    pilot = few_pilot_values(0)
    pilot[kinds == 1] = 100.0 + 10.0 * pilot[kinds == 1]
    found, (unknown,) = NullStandardizer.from_alike(pilot, [False], kinds)
    assert set(unknown) >= set(np.flatnonzero(kinds == 2))
    assert len(unknown) < 45
    np.testing.assert_allclose(found.scale[kinds == 1], 10.0, rtol=0.15)
    np.testing.assert_allclose(found.scale[kinds == 0], 1.0, rtol=0.15)


def test_a_replaced_candidate_is_standardised_by_its_own_pilot():
    pilot, more = few_pilot_values(0, n_estimators=2), normal_values(1, shape=(2, 1))
    found, _ = NullStandardizer.from_alike(pilot, [False, True], ONE_KIND)
    own = NullStandardizer.from_pilot(more, [True])
    places = np.array([5, 9])
    values = normal_values(2, 6, (300, 2))
    expected = found.apply(values)
    expected[places, 1:] = own.apply(values[places, 1:])
    np.testing.assert_array_equal(found.replaced(places, 1, own).apply(values), expected)


def test_values_of_rare_levels_do_not_exceed_all_others():
    """Most permutations of a column with a rare level are alike, a few differ by far."""
    n, rng = 1000, np.random.default_rng(0)
    usual = rng.chisquare(1, 50) / (2 * n)
    rare = np.where(np.arange(50) == 7, 4.0, 0.01) / (2 * n)
    pilot = np.stack([usual, rare, np.full(50, 0.01 / (2 * n))])[:, np.newaxis]
    value = np.full((3, 1, 1), 9.0 / (2 * n))
    scores = NullStandardizer.from_pilot(pilot, [True], n).apply(value)[:, 0, 0]
    assert scores.max() < 3 / 0.5
    assert scores.min() > 3
    free = NullStandardizer.from_pilot(pilot, [True]).apply(value)[:, 0, 0]
    assert free[1] > 10
    assert free[2] == 0.0  # a value that no permutation reaches had no score


def test_the_fewest_that_are_pooled():
    kinds = np.repeat([0, 1], [MANY_ALIKE, MANY_ALIKE - 1])
    _, (unknown,) = NullStandardizer.from_alike(few_pilot_values(0, len(kinds)), [False], kinds)
    np.testing.assert_array_equal(unknown, np.flatnonzero(kinds))
