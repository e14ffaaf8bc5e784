"""Conditional mutual information by residuals and neighbours that are near in x and y."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import block

import naive
from pidselect import PIDSelector, mutual_information
from pidselect.data import Block, Column
from pidselect.estimators import KSG, Batch, Copula, Discrete, Mixed
from pidselect.estimators.conditional import (
    GIVEN_SCALE,
    ConditionalNeighbours,
    estimate_given,
    is_shown_by_residuals,
    unit_ranks,
)

seeds = st.integers(0, 10**6)


def sample(n=80, n_given=2, seed=0):
    """Return x, y and S: y is a noisy sum of x and S."""
    rng = np.random.default_rng(seed)
    S = rng.normal(size=(n, n_given))
    x = rng.normal(size=(n, 1)) + 0.5 * S[:, :1]
    return x, x + S.sum(axis=1, keepdims=True) + 0.5 * rng.normal(size=(n, 1)), S


# --- ranks ----------------------------------------------------------------------------------------


def test_unit_ranks():
    columns = block(np.array([[3.5, 10, 1], [0.5, 10, 0], [np.nan, 20, 1], [9.5, 30, 0]]), (2,))
    ranks = [column.values.tolist() for column in unit_ranks(columns, 0.6).columns]
    assert ranks[0] == pytest.approx([0.3, 0.1, np.nan, 0.5], nan_ok=True)
    assert ranks[1] == pytest.approx([0.15, 0.15, 0.375, 0.525])  # the mean rank of equal values
    assert ranks[2] == [1, 0, 1, 0]  # labels as they are


# --- the naive twin -------------------------------------------------------------------------------


def unit(columns, scale=1.0):
    """Return ranks from 0 to a scale, of columns without equal values."""
    places = columns.argsort(axis=0).argsort(axis=0)
    return scale * (places + 0.5) / len(columns)


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("n_given", [0, 1, 3])
def test_numbers_against_the_naive_twin(k, n_given):
    x, y, S = sample(25, n_given or 1)
    S = S[:, :n_given]
    found = ConditionalNeighbours(k).estimate(block(x), block(y), block(S))
    twin = naive.ksg1(unit(x), unit(y), unit(S, GIVEN_SCALE) if n_given else None, k)
    assert found == pytest.approx(twin, abs=1e-10)


def test_labels_against_the_naive_twin():
    x, y, S = sample(30)
    classes = (y > 0).astype(float)
    target = Block((Column("y", "nominal", classes[:, 0]),))
    estimator = ConditionalNeighbours.for_target(target)
    assert estimator.given_scale == 1.0
    twin = naive.mixed(unit(x), classes, unit(S), 4, nominal_y=[0])
    assert estimator.estimate(block(x), target, block(S)) == pytest.approx(twin, abs=1e-10)


def test_scale_of_the_conditioning_set():
    x, y, S = sample(200)
    blocks = block(x), block(y), block(S)
    assert ConditionalNeighbours.for_target(blocks[1]).given_scale == GIVEN_SCALE < 1
    values = {ConditionalNeighbours(4, scale).estimate(*blocks) for scale in (0.1, 0.25, 1.0)}
    assert len(values) == 3
    same = KSG(4, scale=None).bind(unit_ranks(blocks[1]), unit_ranks(blocks[2]))
    expected = same.score(Batch.observed(unit_ranks(blocks[0])))[0]
    assert ConditionalNeighbours(4, 1.0).estimate(*blocks) == expected


def test_permutations_are_scored_as_permuted_data():
    x, y, S = sample(60)
    rows = np.stack([np.arange(60), np.random.default_rng(0).permutation(60)]).astype(np.int32)
    scorer = ConditionalNeighbours().bind(block(y), block(S))
    found = scorer.score(Batch.of_permutations(block(x), rows))
    expected = [ConditionalNeighbours().estimate(block(x[r]), block(y), block(S)) for r in rows]
    np.testing.assert_allclose(found, expected, atol=1e-12)


# --- what must not matter -------------------------------------------------------------------------

MAPS = (np.exp, np.arctan, lambda v: v**3, lambda v: 3 * v - 7)


@given(seeds, st.lists(st.sampled_from(MAPS), min_size=3, max_size=3))
@settings(max_examples=20)
def test_monotone_maps(seed, maps):
    """Of the columns that neighbours are found in."""
    columns = sample(40, seed=seed)
    plain = ConditionalNeighbours().estimate(*map(block, columns))
    warped = (block(warp(values)) for warp, values in zip(maps, columns, strict=True))
    assert ConditionalNeighbours().estimate(*warped) == plain


@given(seeds)
@settings(max_examples=10)
def test_order_of_rows(seed):
    columns = sample(40, seed=seed)
    order = np.random.default_rng(seed).permutation(40)
    found = ConditionalNeighbours().estimate(*(block(values[order]) for values in columns))
    assert found == pytest.approx(ConditionalNeighbours().estimate(*map(block, columns)))


# --- values against truth -------------------------------------------------------------------------


@pytest.mark.parametrize("n_given", [1, 5, 9])
def test_sum_of_normal_variables(n_given):
    """Nearest neighbours of all columns lose most of it."""
    truth, found, plain = 0.5, [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(500, 1 + n_given))
        y = X.sum(axis=1) + rng.normal(size=500)
        found.append(mutual_information(X[:, 0], y, X[:, 1:]))
        plain.append(mutual_information(X[:, 0], y, X[:, 1:], estimator="ksg-rank"))
    assert np.mean(found) == pytest.approx(truth, abs=0.08)
    assert n_given == 1 or np.mean(plain) < truth - 0.2


@pytest.mark.parametrize("n_given", [1, 5])
def test_nothing_given_what_explains_both(n_given):
    """x and y both follow S, and are independent given S."""
    found = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        S = rng.normal(size=(500, n_given))
        x, y = (S.sum(axis=1) + 0.5 * rng.normal(size=500) for _ in range(2))
        found.append(mutual_information(x, y, S))
    assert np.mean(found) == pytest.approx(0, abs=0.06)


def test_a_product_needs_the_neighbours_in_the_conditioning_set():
    """The sign of the dependence of x and y is that of S: there is none in the residuals alone."""
    rng = np.random.default_rng(0)
    x, s, noise = rng.normal(size=(3, 1000))
    y = x * np.sign(s) + 0.5 * noise
    assert mutual_information(x, y, s) == pytest.approx(0.5 * log(5, 2), abs=0.25)
    blocks = (block(values[:, np.newaxis]) for values in (x, y, s))
    assert ConditionalNeighbours(given_scale=1e-6).estimate(*blocks) / log(2) < 0.7


def test_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3))
    y = np.where(X[:, 0] > 0, "up", "down")
    assert mutual_information(X[:, 0], y, X[:, 1:]) == pytest.approx(1, abs=0.15)
    assert mutual_information(X[:, 1], y, X[:, [0, 2]]) < 0.1


@pytest.mark.parametrize("determined", ["x", "y"])
def test_nothing_is_left_of_what_the_conditioning_set_determines(determined):
    """Residuals that are all equal have no neighbours to count."""
    x, y, S = sample(100)
    if determined == "x":
        x = 2 * S[:, :1] - 1
    else:
        y = S[:, :1] - S[:, 1:]
    assert mutual_information(x, y, S) == 0


# --- where it is used -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "given", "expected"),
    [
        (KSG(scale="rank"), [[0.5, 1], [1.5, 0], [0.1, 1]], True),
        (Mixed(scale="rank"), [[0.5, 1], [1.5, 0], [0.1, 1]], True),
        (KSG(), [[0.5], [1.5], [0.1]], False),
        (Copula(), [[0.5], [1.5], [0.1]], False),
        (Discrete(), [[0], [1], [1]], False),
        (Mixed(scale="rank"), [[0], [1], [1]], False),
        (KSG(scale="rank"), np.empty((3, 0)), False),
    ],
    ids=str,
)
def test_used_for_ranks_and_neighbours_given_numbers(estimator, given, expected):
    assert is_shown_by_residuals(estimator, block(np.array(given))) is expected


def test_counts_are_numbers_if_they_have_many_levels():
    few, many = (block(np.arange(100.0)[:, np.newaxis] % n) for n in (20, 21))
    assert not is_shown_by_residuals(Mixed(scale="rank"), few)
    assert is_shown_by_residuals(Mixed(scale="rank"), many)


@pytest.mark.parametrize("estimator", ["auto", "ksg-rank"])
def test_one_value_in_scores_and_steps(estimator):
    """``scores_`` and the steps of a fit have the same value of a feature given the same set."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=150)
    selector = PIDSelector(estimator=estimator, lookahead=1, random_state=0).fit(X, y)
    assert sorted(selector.selected_) == [0, 1]
    values = {}
    for step in selector.selection_.steps:
        for name, value in zip(step.candidates, step.values, strict=True):
            given = frozenset(step.conditioning_set) - {name}
            if not np.isnan(value):  # estimated for candidates that pass
                assert values.setdefault((name, given), value) == value
    expected = [values["x0", frozenset({"x1"})], values["x1", frozenset({"x0"})]]
    np.testing.assert_array_equal(selector.scores_[:2], expected)


@pytest.mark.parametrize("where", ["x", "y", "given"])
def test_missing_values(where):
    """They are a level of their own, at a distance from all numbers."""
    x, y, S = sample(300)
    plain = mutual_information(x, y, S)
    columns = {"x": x.copy(), "y": y.copy(), "given": S.copy()}
    columns[where][::5, 0] = np.nan
    blocks = (block(values, name=name) for name, values in columns.items())
    found = estimate_given(*blocks) / log(2)
    assert np.isfinite(found)
    assert 0.4 * plain < found < 1.6 * plain
