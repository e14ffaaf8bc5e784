"""Orders of rows by every surrogate scheme: permutations, which, and how likely each is."""

from __future__ import annotations

import math
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import naive_score
from pidselect.data import Block, Column
from pidselect.significance.rng import permutations
from pidselect.significance.row_orders import (
    MAX_APART,
    NEIGHBOURS,
    RowOrders,
    find_strata,
    nearest_samples,
)
from pidselect.significance.surrogates import (
    SURROGATES,
    bind_scheme,
    check_groups,
    count_block_orders,
)

NOTHING = Block()
seeds = st.integers(0, 2**32 - 1)
partitions = st.lists(st.integers(0, 4), min_size=1, max_size=60).map(
    lambda values: np.unique(values, return_inverse=True)[1]
)


def column(feature_type, values):
    return Column("s", feature_type, np.asarray(values, dtype=np.float64))


def mixed_block(seed, n):
    """Return columns of every feature type, with ties and missing values."""
    rng = np.random.default_rng(seed)
    gaps = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n).round(1))
    choices = [
        column("continuous", rng.normal(size=n)),
        column("continuous", gaps),
        column("ordinal", rng.integers(0, 4, n)),
        column("nominal", rng.integers(0, 3, n)),
        column("nominal", rng.integers(0, n, n)),
        column("continuous", np.maximum(0, rng.normal(size=n))),
    ]
    picked = rng.choice(len(choices), size=rng.integers(1, 4), replace=False)
    return Block(tuple(choices[i] for i in picked))


def is_permutation(rows):
    return (np.sort(rows, axis=1) == np.arange(rows.shape[1])).all()


def chi_square(counts):
    expected = counts.sum() / counts.size
    return chi2.sf(((counts - expected) ** 2 / expected).sum(), counts.size - 1)


# What every scheme promises.


def bound_schemes(n=60):
    """Return every scheme in all the ways it works, for n samples."""
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(n // 10), 10)[rng.permutation(n)]
    continuous = Block((column("continuous", rng.normal(size=n)),))
    levels = Block((column("ordinal", rng.integers(0, 5, n)),))
    return {
        (name, which, grouped): SURROGATES[name](block, n, groups if grouped else None)
        for name in SURROGATES
        for which, block in (("nothing", NOTHING), ("levels", levels), ("numbers", continuous))
        for grouped in (False, True)
        if name != "blocks" or grouped
    }


@pytest.mark.parametrize("which", bound_schemes())
def test_neither_batch_nor_thread_matters(which):
    sample = bound_schemes()[which]
    together = sample((7, 1, 2), range(1, 41))
    assert together.shape == (40, 60)
    assert together.dtype == np.int32
    with ThreadPoolExecutor(2) as threads:
        parts = threads.map(sample, [(7, 1, 2)] * 3, [range(1, 4), range(4, 30), range(30, 41)])
        np.testing.assert_array_equal(np.concatenate(list(parts)), together)
    sent = pickle.loads(pickle.dumps(sample))
    np.testing.assert_array_equal(sent((7, 1, 2), range(40, 41))[0], together[-1])
    assert (sample((7, 1, 3), range(1, 41)) != together).any()
    assert sample((7,), range(1, 1)).shape == (0, 60)


@pytest.mark.parametrize("which", bound_schemes())
def test_every_row_is_a_permutation(which):
    rows = bound_schemes()[which]((3,), range(1, 101))
    assert is_permutation(rows)
    assert (rows != np.arange(60)).any(axis=1).mean() > 0.9


# Permuting everything or within groups.


def test_global_permutations():
    found = SURROGATES["global"](NOTHING, 50, None)((7, 1, 2, 3), range(1, 11))
    np.testing.assert_array_equal(found, permutations((7, 1, 2, 3), range(1, 11), 50))


def test_every_order_within_groups_is_equally_likely():
    groups = np.array([0, 1, 0, 1, 1])
    rows = SURROGATES["global"](NOTHING, 5, groups)((11,), range(1, 2401))
    _, counts = np.unique(rows, axis=0, return_counts=True)
    assert len(counts) == 2 * 6
    assert 1e-3 < chi_square(counts) < 1 - 1e-3


def test_a_group_without_rows_is_none():
    """Groups of a subsample need not be numbered without gaps."""
    groups = np.array([0, 0, 3, 3, 5, 5])
    for name in SURROGATES:
        rows = SURROGATES[name](Block((column("continuous", range(6)),)), 6, groups)
        dense = SURROGATES[name](Block((column("continuous", range(6)),)), 6, groups // 2)
        np.testing.assert_array_equal(rows((1,), range(1, 20)), dense((1,), range(1, 20)))


@given(partitions, seeds)
def test_rows_stay_in_their_group(groups, seed):
    rows = SURROGATES["global"](NOTHING, len(groups), groups)((seed, 1), range(1, 4))
    assert is_permutation(rows)
    assert (groups[rows] == groups).all()


@pytest.mark.parametrize("groups", [None, np.zeros(3, dtype=np.int64)])
def test_every_order_of_three_rows_is_equally_likely_over_keys(groups):
    """Over stream keys, and over the numbers of one."""
    orders = RowOrders("global", 3, groups)
    over_keys = np.concatenate([orders((seed, 5), range(1, 2)) for seed in range(3000)])
    for rows in (over_keys, orders((9,), range(1, 3001))):
        found, counts = np.unique(rows, axis=0, return_counts=True)
        assert len(found) == 6
        assert 1e-3 < chi_square(counts) < 1 - 1e-3


def test_orders_of_two_keys_or_numbers_are_independent():
    orders = RowOrders("global", 3)
    codes = orders((1,), range(1, 6001)) @ [9, 3, 1]
    pairs = np.unique(codes[::2] * 100 + codes[1::2], return_counts=True)[1]
    assert len(pairs) == 36
    assert 1e-3 < chi_square(pairs) < 1 - 1e-3


# Shifts.


def test_every_shift_is_equally_likely():
    n, m = 20, 8000
    rows = SURROGATES["shift"](NOTHING, n, None)((4,), range(1, m + 1))
    assert (np.diff(rows, axis=1) % n == 1).all()
    assert 1e-3 < chi_square(np.bincount(rows[:, 0], minlength=n)) < 1 - 1e-3


def test_groups_shift_by_numbers_of_their_own():
    groups = np.repeat([0, 1], 4)
    rows = SURROGATES["shift"](NOTHING, 8, groups)((4,), range(1, 3201))
    counts = np.bincount(4 * rows[:, 0] + rows[:, 4] - 4, minlength=16)
    assert 1e-3 < chi_square(counts) < 1 - 1e-3


@given(partitions, seeds)
def test_shifts_keep_the_order_within_groups(groups, seed):
    rows = SURROGATES["shift"](NOTHING, len(groups), groups)((seed, 1), range(1, 4))
    for members in (np.flatnonzero(groups == group) for group in set(groups.tolist())):
        place = np.searchsorted(members, rows[:, members])
        np.testing.assert_array_equal(members[place], rows[:, members])
        assert (np.diff(place, axis=1) % len(members) == 1 % len(members)).all()


# Whole groups.


@given(partitions, seeds)
def test_blocks_keep_the_order_within_groups(groups, seed):
    members = [np.flatnonzero(groups == group) for group in sorted(set(groups.tolist()))]
    sizes = [len(one) for one in members]
    if len(set(sizes)) == len(sizes):
        with pytest.raises(ValueError, match="blocks"):
            SURROGATES["blocks"](NOTHING, len(groups), groups)
        return
    rows = SURROGATES["blocks"](NOTHING, len(groups), groups)((seed, 1), range(1, 4))
    assert is_permutation(rows)
    for row in rows:
        for one in members:
            np.testing.assert_array_equal(row[one], members[groups[row[one[0]]]])


def test_every_order_of_blocks_is_equally_likely():
    groups = np.array([0, 0, 1, 1, 2, 2, 3])
    rows = SURROGATES["blocks"](NOTHING, 7, groups)((8,), range(1, 1801))
    orders, counts = np.unique(rows, axis=0, return_counts=True)
    assert len(orders) == 6
    assert (orders[:, 6] == 6).all()
    assert (orders[:, 1:6:2] == orders[:, 0:6:2] + 1).all()
    assert 1e-3 < chi_square(counts) < 1 - 1e-3


def test_blocks_need_groups_of_equal_size():
    with pytest.raises(ValueError, match="groups=None"):
        SURROGATES["blocks"](NOTHING, 6, None)
    with pytest.raises(ValueError, match=r'2, 4 rows.*surrogates="global"'):
        SURROGATES["blocks"](NOTHING, 6, np.array([0, 0, 1, 1, 1, 1]))


# Local permutations.


@given(seeds, st.integers(8, 40), st.integers(1, 5), st.booleans())
@settings(max_examples=40, deadline=None)
def test_neighbours_are_the_nearest_by_all_distances(seed, n, k, grouped):
    """In a group of fewer samples, the sample itself takes the other places."""
    block = mixed_block(seed, n)
    groups = np.random.default_rng(seed).integers(0, 4, n) if grouped else None
    found = nearest_samples(block, n, groups, k)
    expected = naive_score.nearest_lists(block, n, k, groups)
    for i, (row, nearest) in enumerate(zip(found.tolist(), expected, strict=True)):
        assert [j for j in row if j != i] == nearest


@pytest.mark.parametrize("n_levels", [MAX_APART - 1, MAX_APART + 1, 3000])
def test_labels_of_many_levels(n_levels):
    """Of rare levels, those whose numbers are near are near; memory does not grow with levels."""
    rng = np.random.default_rng(0)
    codes = np.arange(3000) % n_levels
    block = Block((column("nominal", codes), column("continuous", rng.normal(size=3000))))
    nearest = nearest_samples(block, 3000)
    if n_levels < MAX_APART:
        assert (codes[nearest] == codes[:, np.newaxis]).all()
    assert (nearest != np.arange(3000)[:, np.newaxis]).all()


def test_samples_of_a_level_are_nearer_than_others_at_any_distance_in_numbers():
    """The first sample is of the level of the last five, at the other end of five numbers."""
    codes = np.isin(np.arange(100), [0, 95, 96, 97, 98, 99])
    numbers = [column("continuous", np.arange(100))] * 5
    nearest = nearest_samples(Block((column("nominal", codes), *numbers)), 100)
    assert sorted(nearest[0]) == [95, 96, 97, 98, 99]


@pytest.mark.parametrize("n_levels", [1, 3, 40, 1000])
def test_ties_favour_no_row(n_levels):
    """Where many samples are alike, they are all in about as many lists, first rows or last."""
    levels = np.random.default_rng(n_levels).integers(0, n_levels, 1000)
    block = Block((column("continuous", levels),))
    listed = np.bincount(nearest_samples(block, 1000).ravel(), minlength=1000)
    assert listed.max() <= 3 * NEIGHBOURS
    first, second = np.split(listed, 2)
    assert first.mean() == pytest.approx(second.mean(), abs=0.4)


@pytest.mark.parametrize("seed", range(6))
def test_near_samples_change_places_in_pairs(seed):
    """One is in the list of the other, and few stay."""
    n = 300
    block = Block((*mixed_block(seed, n).columns, column("continuous", np.arange(n))))
    rows = SURROGATES["local"](block, n, None)((seed,), range(1, 21))
    near = np.zeros((n, n), dtype=bool)
    near[np.arange(n)[:, np.newaxis], nearest_samples(block, n)] = True
    for row in rows:
        np.testing.assert_array_equal(row[row], np.arange(n))
        alone = row == np.arange(n)
        assert (alone | (near | near.T)[np.arange(n), row]).all()
        assert alone.sum() < 0.2 * n


@given(seeds)
@settings(max_examples=20)
def test_strata_are_never_mixed(seed):
    rng = np.random.default_rng(seed)
    block = Block(
        (column("ordinal", rng.integers(0, 3, 150)), column("nominal", rng.integers(0, 3, 150)))
    )
    rows = SURROGATES["local"](block, 150, None)((seed,), range(1, 6))
    assert is_permutation(rows)
    codes = block.codes()
    assert (codes[rows] == codes).all()
    within = SURROGATES["global"](NOTHING, 150, codes)((seed,), range(1, 6))
    np.testing.assert_array_equal(rows, within)


def test_pairs_are_no_fixed_partners():
    """In groups of two the rows change places in about half of the permutations, not in all."""
    block = Block((column("continuous", np.random.default_rng(0).normal(size=40)),))
    rows = SURROGATES["local"](block, 40, np.repeat(np.arange(20), 2))((1,), range(1, 201))
    assert 0.4 < (rows == np.arange(40)).mean() < 0.6


def test_groups_of_which_all_rows_are_near_are_permuted_not_only_in_pairs():
    n = 5 * (NEIGHBOURS + 1)
    block = Block((column("continuous", np.random.default_rng(0).normal(size=n)),))
    rows = SURROGATES["local"](block, n, np.arange(n) // (NEIGHBOURS + 1))((1,), range(1, 20))
    assert any((row[row] != np.arange(n)).any() for row in rows)


@pytest.mark.parametrize("seed", range(6))
def test_local_rows_stay_in_their_group(seed):
    n = 200
    groups = np.random.default_rng(seed).integers(0, 40, n)
    rows = SURROGATES["local"](mixed_block(seed, n), n, groups)((seed,), range(1, 21))
    assert is_permutation(rows)
    assert (groups[rows] == groups).all()


def test_values_move_either_way_and_not_far():
    """All neighbours are chosen, none much more often than others; on average nothing moves."""
    n, m = 60, 4000
    block = Block((column("continuous", np.arange(n)),))
    rows = SURROGATES["local"](block, n, None)((2,), range(1, m + 1))
    moved = (rows - np.arange(n))[:, 15:45]
    assert moved.mean() == pytest.approx(0, abs=0.05)
    assert (np.abs(moved) <= 3).all()
    assert 0.15 < (np.abs(moved) == 3).mean() < 0.25  # the fifth neighbour, on either side
    for step in (1, 2):
        assert (moved == step).mean() == pytest.approx((moved == -step).mean(), abs=0.02)
        assert 0.15 < (moved == step).mean() < 0.25


def test_strata_within_groups():
    rng = np.random.default_rng(1)
    levels, groups = rng.integers(0, 3, 200), rng.integers(0, 4, 200)
    rows = SURROGATES["local"](Block((column("nominal", levels),)), 200, groups)((5,), range(1, 6))
    assert is_permutation(rows)
    assert (levels[rows] == levels).all()
    assert (groups[rows] == groups).all()
    assert (rows != np.arange(200)).any()


def test_integers_of_many_levels_are_numbers():
    """The joint levels of 55 integers and a label leave nothing to permute within."""
    rng = np.random.default_rng(0)
    integers, label = np.round(rng.normal(200, 14, 333)), rng.integers(0, 2, 333)
    for block in (
        Block((column("ordinal", integers),)),
        Block((column("ordinal", integers), column("nominal", label))),
    ):
        assert find_strata(block, None) is None
    assert find_strata(Block((column("nominal", label),)), None) is not None


@pytest.mark.parametrize(("n_levels", "exact"), [(12, True), (13, False)])
def test_strata_need_enough_samples(n_levels, exact):
    levels = np.arange(12 * NEIGHBOURS) % n_levels
    block = Block((column("ordinal", levels),))
    rows = SURROGATES["local"](block, 12 * NEIGHBOURS, None)((1,), range(1, 50))
    assert is_permutation(rows)
    assert (levels[rows] == levels).all() == exact


@pytest.mark.parametrize(("n_rare", "exact"), [(10, True), (11, False)])
def test_up_to_a_tenth_of_the_samples_may_be_in_small_strata(n_rare, exact):
    levels = np.concatenate([np.zeros(100 - n_rare), 1 + np.arange(n_rare) // 2])
    assert (find_strata(Block((column("nominal", levels),)), None) is not None) == exact


def test_dependence_on_the_conditioning_set_is_kept():
    """A function of S stays what it was, nearly; a global permutation would leave nothing."""
    n = 400
    values = np.random.default_rng(0).random(n)
    rows = SURROGATES["local"](Block((column("continuous", values),)), n, None)((1,), range(1, 20))
    correlation = [np.corrcoef(values, values[row])[0, 1] for row in rows]
    assert min(correlation) > 0.99


# Groups as users give them.


@pytest.mark.parametrize(
    "groups",
    [
        ["b", "b", "a", "c"],
        [7, 7, -1, 8],
        np.array([0.5, 0.5, 2.0, 1.0]),
        pd.Series(["x", "x", "y", "z"], index=[4, 5, 6, 7]),
        pd.Series(["x", "x", "y", "z"], dtype="category"),
        pl.Series([3, 3, 1, 2]),
        np.array(["2024-01-02", "2024-01-02", "2023-01-01", "2025-01-01"], dtype="datetime64[D]"),
        [[1], [1], [2], [3]],
    ],
)
def test_groups_are_read(groups):
    found = check_groups(groups, 4)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, [0, 0, 1, 2])


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a", "b", "a"], r"groups.* 3 .* 4 rows"),
        ([1.0, np.nan, np.nan, 2.0], r"'groups' \(2 missing\)"),
        (["a", None, "b", "b"], r"'groups' \(1 missing\)"),
        (pd.Series([1, None, 2, 3], dtype="Int64"), r"'groups' \(1 missing\)"),
        (np.zeros((4, 2)), r"groups.* 2 columns"),
    ],
)
def test_odd_groups(groups, message):
    with pytest.raises(ValueError, match=message):
        check_groups(groups, 4)


@pytest.mark.parametrize(
    ("rows", "words"),
    [([[0, 1, 1, 3]], r"rows\[0, 2\] is 1"), ([[0, 1, 2, 4]], r"rows\[0, 3\] is 4")],
)
def test_rows_of_a_registered_scheme_must_be_permutations(monkeypatch, rows, words):
    """Kernels would read beyond the end of their arrays."""
    monkeypatch.setitem(SURROGATES, "odd", lambda given, n, groups: lambda key, numbers: rows)
    sampler = bind_scheme("odd", Block(), 4, None)
    with pytest.raises(ValueError, match=words):
        sampler((0,), range(1, 2))
    with pytest.raises(ValueError, match=words):
        sampler((0,), range(2))


@given(partitions)
def test_block_orders_are_those_of_groups_of_equal_size(groups):
    """Also of groups of one row."""
    sizes = [groups.tolist().count(group) for group in set(groups.tolist())]
    orders = math.prod(math.factorial(sizes.count(size)) for size in set(sizes))
    assert count_block_orders(groups) == orders
    assert count_block_orders(np.arange(4)) == 24
