"""Binning, joint states and frequencies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pidselect.data import Block, Column, read_block
from pidselect.decomposition.binning import (
    check_size,
    equal_count_bins,
    equal_width_bins,
    join_codes,
    to_codes,
)
from pidselect.decomposition.minimum import mmi
from pidselect.decomposition.samples import DiscreteSample

GOLDEN = Path(__file__).parents[1] / "golden" / "information"
CASES = json.loads((GOLDEN / "discrete.json").read_text(encoding="utf-8"))["discretisations"]
DATA = np.load(GOLDEN / "discrete_data.npz")
BINNING = {"equal": "width", "max_ent": "count"}
BINS = {"width": equal_width_bins, "count": equal_count_bins}

numbers = st.floats(-1e300, 1e300, allow_subnormal=False)
some = arrays(np.float64, st.integers(1, 60), elements=numbers)
tied = arrays(np.float64, st.integers(1, 60), elements=st.integers(-3, 3).map(float))
bins = st.integers(2, 9)


def continuous(values) -> Block:
    return Block((Column("x", "continuous", np.asarray(values, dtype=np.float64)),))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["key"])
def test_golden(case):
    """Also with ties: a value equal to the last of a bin belongs to that bin."""
    binning = BINNING[case["method"]]
    values, expected = DATA[case["input"]], DATA[case["key"]]
    np.testing.assert_array_equal(BINS[binning](values, case["bins"]), expected)
    codes = to_codes(continuous(values), case["bins"], binning)
    occupied = [count for count in case["counts"] if count]
    np.testing.assert_array_equal(np.bincount(codes), occupied)


@pytest.mark.parametrize("binning", BINS)
@given(values=st.one_of(some, tied), n_bins=bins)
def test_bins_follow_the_values(binning, values, n_bins):
    """Equal values share a bin, larger ones are never in a lower one."""
    found = BINS[binning](values, n_bins)
    assert found.min() >= 0
    assert found.max() < n_bins
    order = np.argsort(values, kind="stable")
    assert (np.diff(found[order]) >= 0).all()
    assert (np.diff(found[order])[np.diff(values[order]) == 0] == 0).all()


@given(st.integers(1, 200), bins)
def test_equal_counts_without_ties(n, n_bins):
    counts = np.bincount(equal_count_bins(np.arange(n)[::-1] * 0.1, n_bins), minlength=n_bins)
    assert counts.max() - counts.min() <= 1


@given(tied, bins)
def test_equal_count_bins_see_the_order_alone(values, n_bins):
    stretched = np.exp(3 * values) - 7
    np.testing.assert_array_equal(
        equal_count_bins(stretched, n_bins), equal_count_bins(values, n_bins)
    )


def test_the_widest_range_there_is():
    values = np.array([-1.7e308, -1e307, 1e307, 1.7e308])
    np.testing.assert_array_equal(equal_width_bins(values, 4), [0, 1, 2, 3])


def test_many_equal_values_leave_bins_empty():
    values = np.concatenate([np.zeros(70), np.arange(1, 31) / 7])
    assert np.bincount(to_codes(continuous(values), 5)).tolist() == [70, 10, 20]


def test_discrete_columns_are_taken_as_they_are():
    many = np.repeat(np.arange(40), 3)[::-1]
    assert to_codes(read_block(many, "x"), 5).max() == 39
    labels = read_block(["b", "a", "c", "a"], "x")
    assert to_codes(labels, 2).tolist() == [1, 0, 2, 0]
    flags = read_block([True, False, True, False], "x")
    assert to_codes(flags, 5).tolist() == [1, 0, 1, 0]


def test_columns_are_joined():
    block = read_block([[0.1, 0], [0.2, 1], [0.8, 0], [0.9, 0]], "x")
    assert block.feature_types == ("continuous", "ordinal")
    assert to_codes(block, 2).tolist() == [0, 1, 2, 2]


@given(st.integers(1, 50), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_joint_states_are_those_of_the_rows(n, width, seed):
    rows = np.random.default_rng(seed).integers(-2, 3, size=(n, width))
    expected = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    found = join_codes([np.unique(column, return_inverse=True)[1] for column in rows.T])
    np.testing.assert_array_equal(found, expected)


def test_frequencies():
    codes = np.random.default_rng(0).integers(0, 3, size=(3, 50))
    pmf = DiscreteSample(tuple(codes), mmi).pmf([None] * 3)
    assert pmf.shape == (3, 3, 3)
    for state in np.ndindex(pmf.shape):
        share = np.mean((codes == np.array(state)[:, np.newaxis]).all(axis=0))
        assert pmf[state] == pytest.approx(share, abs=1e-15)


def test_a_table_that_fits():
    check_size((1000, 20, 1000))
    with pytest.raises(ValueError, match="source 2 has 21 and the target has 1000"):
        check_size((1000, 21, 1000))
