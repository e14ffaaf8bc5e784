"""Candidates of several columns equal their slow twins, rearranged, with lists long and short."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import naive
from estimators.samples import Sample, list_bytes, orders, sample
from pidselect.estimators import KSG, Batch, Mixed
from pidselect.estimators.knn.spaces import count_less

N_SAMPLES = 150
LONG, SHORT, NONE = 2**30, N_SAMPLES * 12 * 20, 1  # bytes: all neighbours, about twenty, none
WIDTHS, GIVEN, MEMORY = (2, 3), (0, 1, 2), (LONG, SHORT, NONE)


def scores(estimator, data: Sample, rows, memory: int) -> np.ndarray:
    x, y, s = data.blocks
    with list_bytes(memory):
        return estimator.bind(y, s).score(Batch(x, rows))


def twins(twin, data: Sample, rows) -> np.ndarray:
    return np.array([twin(data.x[order], data.y, data.s) for order in rows])


def with_a_label(data: Sample, place: int) -> Sample:
    """Return the data with one column of x cut into three labels."""
    x = data.x.copy()
    x[:, place] = np.digitize(x[:, place], [-0.7, 0.7])
    return Sample(x, data.y, data.s, nominal_x=(place,))


@pytest.mark.parametrize("memory", MEMORY)
@pytest.mark.parametrize("n_given", GIVEN)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("k", [3, 4])  # four neighbours are held in registers
def test_ksg(k, width, n_given, memory):
    data = sample(20 + width, N_SAMPLES, (width, 1, n_given), ("normal",))
    rows = orders(np.random.default_rng(0), 20, N_SAMPLES)
    found = scores(KSG(k=k, scale=None), data, rows, memory)
    np.testing.assert_allclose(found, twins(partial(naive.ksg1, k=k), data, rows), atol=1e-10)


@pytest.mark.parametrize("memory", MEMORY)
@pytest.mark.parametrize("n_given", GIVEN)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("labelled_first", [True, False])
def test_mixed_with_a_label(labelled_first, width, n_given, memory):
    data = sample(30 + width, N_SAMPLES, (width, 1, n_given), ("normal", "tenths"))
    data = with_a_label(data, 0 if labelled_first else width - 1)
    rows = orders(np.random.default_rng(1), 20, N_SAMPLES)
    twin = partial(naive.mixed, nominal_x=data.nominal_x)
    found = scores(Mixed(scale=None), data, rows, memory)
    np.testing.assert_allclose(found, twins(twin, data, rows), atol=1e-10)


@pytest.mark.parametrize("n_given", GIVEN)
def test_a_block_with_a_column_that_never_matters_is_that_column_less(n_given):
    data = sample(40, N_SAMPLES, (2, 1, n_given), ("normal",))
    beside_a_constant = np.column_stack([data.x, np.zeros(N_SAMPLES)])
    rows = orders(np.random.default_rng(2), 33, N_SAMPLES)
    one = scores(KSG(), data, rows, LONG)
    other = scores(KSG(), Sample(beside_a_constant, data.y, data.s), rows, LONG)
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 64, 65])
def test_count_less_is_a_search_from_the_left(size):
    ascending = np.sort(np.random.default_rng(size).integers(0, 20, size) / 4)
    for limit in np.arange(-1, 44) / 8:
        assert count_less(limit, ascending) == np.searchsorted(ascending, limit, side="left")
