"""The joint information by order: of single features, pairs, and more."""

from __future__ import annotations

import numpy as np
import pytest

from pidselect.data import read_block
from pidselect.decomposition.orders import ORDERS, information_by_order


def shares(columns, y, seed=0):
    blocks = [read_block(column, f"x{place}") for place, column in enumerate(columns)]
    return information_by_order(blocks, np.asarray(y, dtype=np.int64), seed)


def test_sum_is_of_single_features():
    *x, noise = np.random.default_rng(0).normal(size=(4, 1000))
    found = shares(x, np.digitize(sum(x) + noise, [-1, 1]))
    assert found["single"] > 0.8
    assert sum(found.values()) == pytest.approx(1)


@pytest.mark.parametrize(("n_inputs", "order"), [(2, "pairs"), (3, "higher")])
def test_parity_is_of_the_order_of_its_inputs(n_inputs, order):
    x = np.random.default_rng(1).integers(0, 2, (4, 600))
    found = shares(x, x[:n_inputs].sum(axis=0) % 2)
    assert found[order] > 0.9
    assert list(found) == list(ORDERS)


def test_columns_of_one_feature_may_interact():
    x = np.random.default_rng(2).integers(0, 2, (3, 600))
    blocks = [read_block(x[:2].T, "pair"), read_block(x[2], "other")]
    assert information_by_order(blocks, x[0] ^ x[1], 0)["single"] > 0.9


def test_nothing_to_split():
    x = np.random.default_rng(3).normal(size=(3, 200))
    assert shares(x, np.zeros(200)) == {}
    assert shares(x, np.arange(200) == 7) == {}  # a class of one sample
    noise = np.random.default_rng(4).integers(0, 2, 200)
    assert shares(x, noise) == {} or sum(shares(x, noise).values()) == pytest.approx(1)
