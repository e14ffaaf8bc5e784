"""Contingency tables drawn with fixed margins have the distribution of permutations."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, hypergeom

import naive
from pidselect.significance.margins import LOG_FACTORIALS, ContingencyTable, hypergeometric

SMALL = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1)), min_size=2, max_size=30
)


def table_of(x, y, s, **settings):
    cells, counts = np.unique(np.stack([x, y, s], axis=1), axis=0, return_counts=True)
    return ContingencyTable.from_cells(*cells.T, counts, **settings)


@settings(max_examples=100, deadline=None)
@given(SMALL, st.sampled_from([None, "miller-madow"]))
def test_observed_value_is_that_of_rows(rows, correction):
    x, y, s = np.array(rows).T
    weight = -0.5 if correction else 0.0
    expected = naive.discrete(x[:, None], y[:, None], s[:, None], correction)
    table = table_of(x, y, s, cell_weight=weight)
    assert table.observed == pytest.approx(expected, abs=1e-12)
    assert table.score((0,), range(1)).tolist() == [table.observed]


@settings(max_examples=50, deadline=None)
@given(SMALL)
def test_drawn_values_are_those_of_some_permutation(rows):
    """In small strata, all values that are drawn occur among the permutations within levels."""
    x, y, s = np.array(rows[:6]).T
    possible = set()
    for order in permutations(range(len(x))):
        if (s[list(order)] == s).all():
            value = naive.discrete(x[list(order)][:, None], y[:, None], s[:, None])
            possible.add(round(value, 9))
    drawn = table_of(x, y, s).score((7,), range(1, 50))
    assert {round(value, 9) for value in drawn.tolist()} <= possible


def test_distribution_is_that_of_permutations():
    """All tables of ten rows in two strata, by their exact probabilities."""
    x = np.array([0, 0, 1, 1, 2, 0, 1, 1, 0, 1])
    y = np.array([0, 1, 0, 1, 1, 0, 0, 1, 1, 1])
    s = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])

    def values(rows):  # of each stratum, by enumeration
        found = Counter()
        for order in permutations(rows):
            joint = Counter(zip(x[list(order)].tolist(), y[rows].tolist(), strict=True))
            found[sum(n * np.log(n) for n in joint.values()).round(9)] += 1
        return found

    first, second = values(np.arange(5)), values(np.arange(5, 10))
    exact = Counter()
    for one, n in first.items():
        for other, m in second.items():
            exact[round(one + other, 6)] += n * m
    table, n_drawn = table_of(x, y, s), 20_000
    sums = table.score((3, 1), range(1, n_drawn + 1)) * len(x)
    offset = (table.observed * len(x)) - sum(
        n * np.log(n) for n in Counter(zip(x, y, s, strict=True)).values()
    )
    seen = Counter(np.round(sums - offset, 6).tolist())
    assert set(seen) <= set(exact)
    total = sum(exact.values())
    levels = sorted(exact)
    expected = [n_drawn * exact[level] / total for level in levels]
    assert chisquare([seen[level] for level in levels], expected).pvalue > 1e-3


@pytest.mark.parametrize(
    ("n_good", "n_bad", "n_drawn"), [(3, 4, 5), (40, 90, 30), (1, 9, 10), (500, 2, 250)]
)
def test_hypergeometric_is_inverted(n_good, n_bad, n_drawn):
    """Equally spaced numbers give every value in proportion to its probability."""
    n = 20_000
    fractions = (np.arange(n) + 0.5) / n
    found = Counter(hypergeometric(n_good, n_bad, n_drawn, u, LOG_FACTORIALS) for u in fractions)
    for value in range(n_drawn + 1):
        p = comb(n_good, value) * comb(n_bad, n_drawn - value) / comb(n_good + n_bad, n_drawn)
        assert found[value] / n == pytest.approx(p, abs=2.5 / n)


def test_hypergeometric_of_many():
    n_good, n_bad, n_drawn = 10**7, 9 * 10**7, 2 * 10**7
    expected = hypergeom(n_good + n_bad, n_good, n_drawn)
    fractions = np.random.default_rng(0).random(10_000)
    values = np.array(
        [hypergeometric(n_good, n_bad, n_drawn, u, LOG_FACTORIALS) for u in fractions]
    )
    assert values.mean() == pytest.approx(expected.mean(), abs=0.04 * expected.std())
    assert values.std() == pytest.approx(expected.std(), rel=0.03)


def test_values_depend_on_key_and_number_alone():
    rng = np.random.default_rng(0)
    table = table_of(*rng.integers(0, 3, (3, 500)))
    whole = table.score((1, 2), range(20))
    assert (table.score((1, 2), range(5, 20)) == whole[5:]).all()
    assert (table.score((1, 3), range(1, 20)) != whole[1:]).any()
