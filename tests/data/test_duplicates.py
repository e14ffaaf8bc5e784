"""Copies are the affine images and the relabellings, and nothing else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pidselect.data import Table, find_duplicates

seeds = st.integers(0, 2**32 - 1)
slopes = st.floats(1e-9, 1e9).flatmap(lambda slope: st.sampled_from([slope, -slope]))


def table(*columns, **options) -> Table:
    return Table.read(pd.DataFrame(dict(enumerate(columns))), **options)


@given(seeds, st.integers(8, 60), slopes, st.floats(-1e3, 1e3))
def test_affine_images_are_copies(seed, n, slope, shift):
    rng = np.random.default_rng(seed)
    x, other = rng.normal(size=(2, n))
    # The shift is in units of the image, so that it does not swallow the digits of x.
    image = slope * (x + shift)
    assert find_duplicates(table(x, other, image)) == {2: 0}


@given(seeds, st.integers(8, 60), st.sampled_from([1e-6, 1e-4, 1e-1]))
def test_near_images_are_not_copies(seed, n, size):
    rng = np.random.default_rng(seed)
    x, noise = rng.normal(size=(2, n))
    assert find_duplicates(table(x, 2.54 * (x + size * noise) + 1, np.exp(x), x**3)) == {}


@given(seeds, st.integers(2, 6), st.sampled_from(["text", "number"]))
def test_relabellings_are_copies(seed, levels, form):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(60) % levels)
    names = rng.permutation(100)[:levels]
    renamed = names[codes].astype(str) if form == "text" else names[codes]
    merged = np.where(codes == 0, 1, codes)
    differing = codes.copy()
    differing[0] = (codes[0] + 1) % levels
    copies = find_duplicates(table(codes, merged, differing, renamed, feature_types=None))
    assert copies[3] == 0
    assert 1 not in copies
    assert 2 not in copies


@given(seeds)
def test_groups_are_found_among_many_columns(seed):
    rng = np.random.default_rng(seed)
    origins = rng.normal(size=(30, 5))
    which = rng.integers(0, 5, size=20)
    X = origins[:, which] * rng.normal(size=20) + rng.normal(size=20)
    first = {origin: int(np.argmax(which == origin)) for origin in which}
    expected = {i: first[o] for i, o in enumerate(which) if first[o] != i}
    assert find_duplicates(Table.read(X)) == expected


def test_zero_one_and_no_yes():
    answers = ["no", "yes", "yes", "no"]
    assert find_duplicates(table([0, 1, 1, 0], answers, [True, False, False, True])) == {1: 0, 2: 0}


def test_preferred_columns_stand_for_their_copies():
    x = np.random.default_rng(0).normal(size=20)
    X = table(x, -x, x + 1, np.exp(x))
    assert find_duplicates(X) == {1: 0, 2: 0}
    assert find_duplicates(X, prefer=[2]) == {0: 2, 1: 2}
    assert find_duplicates(X, prefer={1, 2}) == {0: 1, 2: 1}
    assert find_duplicates(X, prefer=[3]) == {1: 0, 2: 0}


def test_skipped_columns_take_no_part():
    ones = np.ones(4)
    assert find_duplicates(table(ones, ones, [0, 1, 0, 1], [1, 0, 1, 0])) == {3: 2}


def test_the_missing_pattern_counts():
    x = np.random.default_rng(0).normal(size=20)
    gap, other_gap = x.copy(), x.copy()
    gap[3], other_gap[4] = np.nan, np.nan
    X = table(x, gap, other_gap, 2 * gap - 1, missing="category")
    assert find_duplicates(X) == {3: 1}
    X = table(
        ["a", "b", None, "a"],
        ["a", "b", "c", "a"],
        ["b", "a", None, "b"],
        missing="category",
        feature_types=["nominal"] * 3,
    )
    assert find_duplicates(X) == {2: 0}


def test_ordinal_columns_and_their_image_in_another_unit():
    inches = np.random.default_rng(0).integers(0, 30, size=100)
    X = table(inches, 2.54 * inches)
    assert X.feature_types == ("ordinal", "continuous")
    assert find_duplicates(X) == {1: 0}


@pytest.mark.parametrize("scale", [1e-300, 1e-5, 1e300])
def test_scale_does_not_matter(scale):
    x = np.random.default_rng(0).normal(size=50)
    assert find_duplicates(table(x, scale * x, scale * x**3)) == {1: 0}


def test_far_from_zero():
    seconds = 1.7e9 + np.random.default_rng(0).normal(size=50) * 1e5
    assert find_duplicates(table(seconds, seconds / 3600, seconds + 3)) == {1: 0, 2: 0}
    hardly = 1e15 + np.random.default_rng(0).normal(size=50)
    assert find_duplicates(table(hardly, hardly.copy(), hardly + 1)) == {1: 0}


def test_negative_zero_is_zero():
    x = np.array([0.0, 1.5, 2.5])
    assert find_duplicates(table(x, np.array([-0.0, 1.5, 2.5]))) == {1: 0}


def test_some_columns_take_no_part():
    x = np.arange(6.0) ** 2
    X = table(x, 2 * x, -x, x[::-1])
    assert find_duplicates(X, without=[0]) == {2: 1}
    assert find_duplicates(X, prefer=[2], without={0, 1}) == {}


# --- by rank ------------------------------------------------------------------------------------


@given(seeds, st.integers(8, 60), st.booleans())
def test_monotone_images_are_copies_by_rank(seed, n, decreasing):
    rng = np.random.default_rng(seed)
    x, other = rng.normal(size=(2, n))
    values = np.sort(rng.exponential(size=n)).cumsum()
    image = values[::-1][x.argsort().argsort()] if decreasing else values[x.argsort().argsort()]
    X = table(x, other, image)
    assert find_duplicates(X) == {}
    assert find_duplicates(X, by_rank=True) == {2: 0}


@given(seeds)
def test_by_rank_ties_count(seed):
    """A map that is not strict makes levels one: what it leaves is less, no copy."""
    x = np.random.default_rng(seed).normal(size=30)
    assert find_duplicates(table(x, np.maximum(x, 0.0), np.abs(x)), by_rank=True) == {}


def test_by_rank_affine_copies_and_relabellings_are_still_copies():
    x = np.random.default_rng(0).normal(size=20)
    label = np.tile(["a", "b", "c", "b"], 5)
    renamed = np.array([{"a": "z", "b": "y", "c": "x"}[level] for level in label])
    X = table(x, label, 3 - 2 * x, renamed, np.exp(x))
    assert find_duplicates(X, by_rank=True) == {2: 0, 3: 1, 4: 0}


def test_by_rank_copies_of_copies_are_one_group():
    x = np.random.default_rng(1).normal(size=20)
    X = table(x, np.exp(x), -2 * np.exp(x) + 1, x**3)
    assert find_duplicates(X, by_rank=True) == {1: 0, 2: 0, 3: 0}
    assert find_duplicates(X, prefer=[2], by_rank=True) == {0: 2, 1: 2, 3: 2}
    assert find_duplicates(X, without=[0], by_rank=True) == {2: 1, 3: 1}


def test_by_rank_labels_have_no_order():
    """Else the order of the alphabet would make copies of what is none."""
    number = np.repeat([0.5, 1.5, 2.5, 4.5], 5)
    X = table(number, np.repeat(["a", "b", "c", "d"], 5), feature_types=["continuous", "nominal"])
    assert find_duplicates(X, by_rank=True) == {}


def test_by_rank_the_missing_pattern_counts():
    x = np.random.default_rng(0).normal(size=20)
    gap, other_gap = x.copy(), np.exp(x)
    gap[3], other_gap[4] = np.nan, np.nan
    X = table(x, gap, other_gap, np.exp(-gap), missing="category")
    assert find_duplicates(X, by_rank=True) == {3: 1}


def test_by_rank_ordinal_and_continuous_columns_may_be_copies():
    inches = np.random.default_rng(0).integers(0, 30, size=100)
    X = table(inches, np.sqrt(inches))
    assert X.feature_types == ("ordinal", "continuous")
    assert find_duplicates(X) == {}
    assert find_duplicates(X, by_rank=True) == {1: 0}
