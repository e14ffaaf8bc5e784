"""Permutations and resamples are functions of their stream key and number."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import naive
from pidselect.significance import rng
from pidselect.significance.rng import BOOTSTRAP, permutations, resamples, row_keys
from pidselect.significance.validation import to_seed

KNOWN = [4, 1, 7, 2, 0, 6, 5, 3]
stream_key = st.lists(st.integers(0, 2**64 - 1), min_size=3, max_size=6).map(tuple)


@given(stream_key, st.integers(1, 1000), st.integers(1, 20), st.integers(1, 200))
@settings(max_examples=60)
def test_equal_to_the_naive_generator(key, first, m, n):
    found = permutations(key, range(first, first + m), n)
    assert found.dtype == np.int32
    expected = [naive.permutation((*key, number), n) for number in range(first, first + m)]
    np.testing.assert_array_equal(found, expected)


def test_known_permutation():
    """A new version must give the permutations of the old one."""
    assert naive.permutation((0, 0, 0, 0, 1), 8) == KNOWN
    np.testing.assert_array_equal(permutations((0, 0, 0, 0), range(1, 2), 8), [KNOWN])


def test_splitmix64_by_its_published_values():
    """The first numbers of SplitMix64 from the seed 1234567."""
    stream = [naive.mix((1234567 + t * naive.GOLDEN) & naive.MASK) for t in range(1, 4)]
    assert stream == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@given(st.integers(0, 2**64 - 1))
def test_keys_of_rows(seed):
    own = naive.mix((seed + naive.GOLDEN) & naive.MASK)
    numbers = [naive.mix((row * naive.GOLDEN + own) & naive.MASK) for row in range(1, 6)]
    assert row_keys(seed, 5).tolist() == [number / 2**64 for number in numbers]


@given(stream_key, st.integers(2, 100))
def test_each_is_a_permutation(key, n):
    found = permutations(key, range(1, 6), n)
    np.testing.assert_array_equal(np.sort(found, axis=1), np.tile(np.arange(n), (5, 1)))


def test_the_range_does_not_matter():
    key = (7, 1, 2, 3)
    together = permutations(key, range(1, 41), 50)
    for cut in (1, 7, 16, 39):
        parts = [
            permutations(key, range(1, 1 + cut), 50),
            permutations(key, range(1 + cut, 41), 50),
        ]
        np.testing.assert_array_equal(np.concatenate(parts), together)
    np.testing.assert_array_equal(permutations(key, range(40, 41), 50)[0], together[-1])
    assert permutations(key, range(1, 1), 50).shape == (0, 50)


def test_every_entry_of_the_key_matters():
    keys = [(1, 2, 3, 4), (2, 2, 3, 4), (1, 3, 3, 4), (1, 2, 4, 4), (1, 2, 3, 5)]
    keys += [(1, 2, 3, 4, 0), (0, 1, 2, 3, 4), (1, 2, 4, 3), (1, 2, 3), (2**40 + 1, 2, 3, 4)]
    found = {tuple(order) for key in keys for order in permutations(key, range(1, 4), 40).tolist()}
    assert len(found) == 3 * len(keys)


def test_purposes_keep_their_numbers():
    """Old seeds must give old permutations, and no two purposes the same ones."""
    phases = ("SUBSAMPLE", "FORWARD", "BACKWARD", "DECOMPOSITION", "BOOTSTRAP", "LOOKAHEAD")
    phases += ("START", "RELEVANCE", "STABILITY", "FINAL", "MEMBERS", "SWAP")
    assert [getattr(rng, phase) for phase in phases] == list(range(12))


def test_neighbouring_keys_are_unrelated():
    """Permutations of neighbouring keys agree at one position on average, as any two do."""
    orders = np.concatenate([permutations((0, 0, 0, c), range(1, 41), 100) for c in range(50)])
    for lag in (1, 40):
        matches = (orders[lag:] == orders[:-lag]).sum(axis=1)
        assert matches.mean() == pytest.approx(1, abs=4 / np.sqrt(len(matches)))


def test_every_order_is_equally_likely():
    rows = permutations((11, 0, 0, 0), range(1, 24_001), 5)
    _, counts = np.unique(rows, axis=0, return_counts=True)
    assert len(counts) == 120
    assert 1e-3 < chi2.sf(((counts - 200) ** 2 / 200).sum(), 119) < 1 - 1e-3


def test_every_row_is_equally_likely_at_every_position():
    n, m = 30, 20_000
    rows = permutations((12, 0, 0, 0), range(1, m + 1), n)
    counts = np.stack([np.bincount(column, minlength=n) for column in rows.T])
    statistic = ((counts - m / n) ** 2 / (m / n)).sum() * (n - 1) / n
    assert 1e-3 < chi2.sf(statistic, (n - 1) ** 2) < 1 - 1e-3


def test_no_global_state_is_touched():
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    permutations((1, 2, 3, 4), range(1, 10), 20)
    after = random.getstate(), np.random.get_state()  # noqa: NPY002
    assert before[0] == after[0]
    np.testing.assert_equal(after[1], before[1])


@pytest.mark.parametrize("entry", [-1, 2**64])
def test_entries_do_not_wrap(entry):
    with pytest.raises(OverflowError):
        permutations((entry, 1, 0), range(1, 2), 5)


# --- resamples with replacement -----------------------------------------------------------------


def naive_resample(key, n):
    """Fold the entries into one key; row t is the fraction mix(key + t * GOLDEN) / 2^64 of n."""
    folded = 0
    for entry in key:
        folded = naive.mix(((folded ^ entry) + naive.GOLDEN) & naive.MASK)
    numbers = (naive.mix((folded + t * naive.GOLDEN) & naive.MASK) for t in range(1, n + 1))
    return [number * n >> 64 for number in numbers]


@given(stream_key, st.integers(1, 1000), st.integers(1, 10), st.integers(1, 100))
@settings(max_examples=40)
def test_resamples_equal_the_naive_generator(key, first, m, n):
    found = resamples(key, range(first, first + m), n)
    assert found.dtype == np.int32
    expected = [naive_resample((*key, number), n) for number in range(first, first + m)]
    np.testing.assert_array_equal(found, expected)


def test_known_resample():
    np.testing.assert_array_equal(resamples((0, BOOTSTRAP), range(1, 2), 6), [[1, 1, 2, 3, 3, 0]])


def test_every_row_is_resampled_equally_often():
    n, m = 25, 4000
    counts = np.bincount(resamples((3, BOOTSTRAP), range(1, m + 1), n).ravel(), minlength=n)
    assert 1e-3 < chi2.sf(((counts - m) ** 2 / m).sum(), n - 1) < 1 - 1e-3


def test_share_of_absent_rows():
    n, m = 200, 500
    rows = resamples((4, BOOTSTRAP), range(1, m + 1), n)
    absent = 1 - np.mean([len(np.unique(row)) for row in rows]) / n
    assert absent == pytest.approx((1 - 1 / n) ** n, abs=0.005)


def test_the_largest_seed():
    assert to_seed(2**64 - 1) == 2**64 - 1
    assert row_keys(2**64 - 1, 3).tolist() != row_keys(0, 3).tolist()
