"""Pieces of lines follow kinks and jumps, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pidselect.data import Block, Column
from pidselect.estimators.pieces import _best_cut, linear_pieces
from pidselect.estimators.regression import residuals

N = 300


def error_of_line(design, y):
    """Return the sum of squares that least squares leaves."""
    return float(((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2).sum())


def naive_cut(design, y, column, fewest):
    """Try every cut between different values."""
    best = (np.inf, None)
    for value in np.unique(column)[1:]:
        is_left = column < value
        if min(is_left.sum(), (~is_left).sum()) >= fewest:
            error = sum(error_of_line(design[side], y[side]) for side in (is_left, ~is_left))
            best = min(best, (error, value))
    return best


@given(st.integers(0, 1000), st.booleans())
@settings(max_examples=30, deadline=None)
def test_a_cut_equals_the_best_of_all_cuts(seed, has_ties):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(25, 2))
    if has_ties:
        z = np.round(z, 1)
    y = np.where(z[:, 0] > 0.2, 2 + z[:, 1], -z[:, 1]) + 0.5 * rng.normal(size=25)
    design = np.column_stack([np.ones(25), z])
    is_left, error = _best_cut(design, y, z[:, 0], 4)
    expected, value = naive_cut(design, y, z[:, 0], 4)
    assert error == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert is_left.tolist() == (z[:, 0] < value).tolist()


@given(st.integers(0, 1000), st.integers(1, 4), st.sampled_from([0, 1, None]))
@settings(max_examples=30, deadline=None)
def test_each_row_is_in_one_piece(seed, n_columns, decimals):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(60, n_columns))
    if decimals is not None:
        z = np.round(z, decimals)
    pieces = linear_pieces(z, np.sin(3 * z[:, 0]) + 0.1 * rng.normal(size=60), 20.0)
    assert sorted(np.concatenate(pieces).tolist()) == list(range(60))
    assert len(pieces) == 1 or len(pieces) * (n_columns + 1) <= 20


def test_a_line_is_one_piece():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(N, 3))
    y = z @ [1.0, 2.0, -1.0] + 0.1 * rng.normal(size=N)
    assert len(linear_pieces(z, y, N / 3)) == 1
    assert len(linear_pieces(np.ones((N, 2)), y, N / 3)) == 1


FUNCTIONS = {
    "kink between columns": (2, lambda s: np.abs(s[:, 0] - s[:, 1]), 0.965),
    "maximum": (3, lambda s: s.max(axis=1), 0.9),
    "jump of a slope": (2, lambda s: np.sign(s[:, 0]) * s[:, 1], 0.98),
    "two steps": (2, lambda s: 2.0 * (s[:, 0] > 0.3) + 1.5 * (s[:, 1] > -0.2), 0.95),
    "stairs": (1, lambda s: np.floor(2 * s[:, 0]), 0.85),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_residuals_of_kinks_and_jumps_are_the_noise(name):
    n_columns, function, least = FUNCTIONS[name]
    rng = np.random.default_rng(1)
    s, noise = rng.normal(size=(500, n_columns)), 0.1 * rng.normal(size=500)
    block = Block(tuple(Column(f"s{j}", "continuous", values) for j, values in enumerate(s.T)))
    (found,) = residuals(block, [Column("y", "continuous", function(s) + noise)])
    assert np.corrcoef(found.column.values, noise)[0, 1] > least
    (coarse,) = residuals(block, [Column("y", "continuous", function(s) + noise)], n_refined=0)
    assert np.corrcoef(coarse.column.values, noise)[0, 1] < least
