"""Fast paths for many samples: to the last bit what the plain ones give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pidselect.data import Block, Column
from pidselect.estimators import Batch
from pidselect.estimators.discrete import Discrete, score_by_group, score_by_table, small_codes
from pidselect.estimators.gaussian import MIN_CANDIDATES, Copula, Gaussian
from pidselect.significance.rng import permutations


def block(values, feature_type="continuous"):
    matrix = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
    return Block(tuple(Column(f"x{i}", feature_type, v.copy()) for i, v in enumerate(matrix.T)))


@pytest.mark.parametrize("estimator", [Gaussian(), Copula()])
@pytest.mark.parametrize("n_given", [0, 1, 3])
@pytest.mark.parametrize("n_samples", [7, 1023, 2500])
def test_candidates_together_are_those_alone(estimator, n_given, n_samples):
    rng = np.random.default_rng(n_samples)
    X = rng.normal(size=(n_samples, 9))
    given = block(X[:, :n_given]) if n_given else Block()
    scorer = estimator.bind(block(X.sum(axis=1)), given)
    candidates = [
        *(block(column) for column in X.T[n_given:]),
        block(X[:, :2] + rng.normal(size=(n_samples, 2))),
        block(rng.integers(0, 4, n_samples), "nominal"),
        block(np.where(rng.random(n_samples) < 0.2, np.nan, X[:, 5])),
        block(np.ones(n_samples)),
    ]
    rows = permutations((n_samples,), range(1, 20), n_samples)
    together = scorer.score_together(candidates, rows)
    alone = [scorer.score(Batch(candidate, rows)) for candidate in candidates]
    np.testing.assert_array_equal(together, alone)
    assert len(candidates) > MIN_CANDIDATES


@pytest.mark.parametrize("memory", [1, 2**30])
def test_memory_changes_nothing(memory, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    candidates = [block(column) for column in X.T]
    plain = Copula().bind(block(X[:, 0] + X[:, 1]), Block())
    monkeypatch.setattr("pidselect.estimators.gaussian.CHUNK_BYTES", memory)
    scorer = Copula().bind(block(X[:, 0] + X[:, 1]), Block())
    rows = permutations((3,), range(1, 18), 3000)
    for _ in range(2):  # the second time, what is made of the columns is there
        found = scorer.score_together(candidates, rows)
        expected = [plain.score(Batch(block(column), rows)) for column in X.T]
        np.testing.assert_array_equal(found, expected)


@given(st.integers(0, 2**32), st.integers(4, 60))
@settings(max_examples=25)
def test_gaussian_sums_do_not_depend_on_the_order_of_the_samples(seed, n_samples):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n_samples)
    scorer = Gaussian().bind(block(x + rng.normal(size=n_samples)), Block())
    one = np.arange(n_samples, dtype=np.int32)[np.newaxis]
    turned = scorer.basis._replace(
        by_sample=scorer.basis.by_sample[::-1].copy(),
        target=scorer.basis.target[:, ::-1].copy(),
        given=scorer.basis.given[:, ::-1].copy(),
    )
    other = type(scorer)(turned, scorer.transformation, scorer.chunk)
    backwards = one[:, ::-1].copy()
    assert scorer.score(Batch(block(x), one)) == other.score(Batch(block(x), backwards))


@given(st.integers(0, 2**32), st.integers(2, 80), st.integers(1, 6), st.integers(0, 3))
@settings(max_examples=40)
def test_a_table_of_cells_counts_as_groups_do(seed, n_samples, n_levels, n_given):
    rng = np.random.default_rng(seed)
    levels = rng.integers(0, n_levels, (n_samples, n_given + 2))
    y, x = block(levels[:, 0], "nominal"), block(levels[:, 1], "nominal")
    given = block(levels[:, 2:], "nominal") if n_given else Block()
    scorer = Discrete().bind(y, given)
    rows = permutations((seed,), range(1, 5), n_samples)
    one, other = np.empty(4), np.empty(4)
    codes = small_codes(x)
    score_by_table(codes, rows, scorer.cells, scorer.weight, one)
    score_by_group(codes.astype(np.int64), rows, *scorer.partitions, scorer.weight, other)
    np.testing.assert_array_equal(one, other)
