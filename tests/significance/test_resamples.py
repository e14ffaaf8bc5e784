"""Rows of bootstrap resamples come from their key alone, as permutations do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import naive
from pidselect.significance.rng import BOOTSTRAP, permutations, resamples

KNOWN = [1, 1, 2, 3, 3, 0]
stream_key = st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=5).map(tuple)


def naive_resample(key, n):
    """Fold the words into one key; row t is the fraction mix(key + t * GOLDEN) / 2^64 of n."""
    folded = 0
    for word in key:
        folded = naive.mix(((folded ^ word) + naive.GOLDEN) & naive.MASK)
    numbers = (naive.mix((folded + t * naive.GOLDEN) & naive.MASK) for t in range(1, n + 1))
    return [number * n >> 64 for number in numbers]


@given(stream_key, st.integers(1, 1000), st.integers(1, 10), st.integers(1, 100))
@settings(max_examples=40)
def test_equal_to_the_naive_generator(key, first, m, n):
    found = resamples(key, range(first, first + m), n)
    assert found.dtype == np.int32
    expected = [naive_resample((*key, draw), n) for draw in range(first, first + m)]
    np.testing.assert_array_equal(found, expected)


def test_known_resample():
    """The generator is a promise: a new version must give the old draws."""
    np.testing.assert_array_equal(resamples((0, BOOTSTRAP), range(1, 2), 6), [KNOWN])


def test_the_range_does_not_matter():
    together = resamples((7, BOOTSTRAP), range(1, 41), 50)
    parts = [resamples((7, BOOTSTRAP), draws, 50) for draws in (range(1, 12), range(12, 41))]
    np.testing.assert_array_equal(np.concatenate(parts), together)


def test_every_row_is_equally_likely():
    n, m = 25, 4000
    counts = np.bincount(resamples((3, BOOTSTRAP), range(1, m + 1), n).ravel(), minlength=n)
    assert 1e-3 < chi2.sf(((counts - m) ** 2 / m).sum(), n - 1) < 1 - 1e-3


def test_copies_are_as_frequent_as_they_should_be():
    n, m = 200, 500
    drawn = resamples((4, BOOTSTRAP), range(1, m + 1), n)
    absent = 1 - np.mean([len(np.unique(rows)) for rows in drawn]) / n
    assert absent == pytest.approx((1 - 1 / n) ** n, abs=0.005)


def test_unlike_permutations():
    key = (1, 2, 3)
    assert (resamples(key, range(1, 2), 50) != permutations(key, range(1, 2), 50)).any()
