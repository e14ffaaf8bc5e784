"""Identities that hold whatever the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma

import naive
from estimators.samples import NOTHING, block, sample
from pidselect.data.column import Block
from pidselect.estimators import KSG, Batch, Copula, Discrete, Gaussian, Mixed
from pidselect.estimators.scaling import normal_scores

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(12, 100)
widths = st.tuples(st.integers(1, 2), st.integers(1, 2), st.integers(0, 3))

NEIGHBOURS = [
    (KSG(), ("normal",)),
    (KSG(k=2, scale="rank"), ("normal", "tenths")),
    (KSG(scale=None), ("normal", "tenths", "integers")),
    (KSG(algorithm=2), ("normal",)),
    (Mixed(), ("normal", "labels")),
    (Mixed(k=3, scale=None), ("tenths", "labels", "missing")),
]
COUNTS = [
    (Discrete(), ("integers", "labels")),
    (Discrete(correction="miller-madow"), ("integers", "labels")),
]
LINEAR = [
    (Gaussian(), ("normal",)),
    (Copula(), ("normal", "tenths")),
    (Copula(), ("normal", "labels", "missing")),
]

every = pytest.mark.parametrize(("estimator", "sorts"), NEIGHBOURS + COUNTS + LINEAR)


def information(estimator, x: Block, y: Block, s: Block = NOTHING) -> float:
    return float(estimator.bind(y, s).score(Batch.observed(x))[0])


def close(value, tolerance=1e-10):
    return pytest.approx(value, rel=0, abs=tolerance)


@every
@given(seed=seeds, n=sizes, shape=widths)
@settings(max_examples=30)
def test_symmetry(estimator, sorts, seed, n, shape):
    x, y, s = sample(seed, n, shape, sorts).blocks
    assert information(estimator, x, y, s) == close(information(estimator, y, x, s))


@every
@given(seed=seeds, n=sizes, shape=widths)
@settings(max_examples=20)
def test_order_of_samples_does_not_matter(estimator, sorts, seed, n, shape):
    blocks = sample(seed, n, shape, sorts).blocks
    rows = np.random.default_rng(seed).permutation(n)
    shuffled = (part.take(rows) for part in blocks)
    assert information(estimator, *shuffled) == close(information(estimator, *blocks))


@every
@given(seed=seeds, n=sizes)
@settings(max_examples=20)
def test_order_of_columns_does_not_matter(estimator, sorts, seed, n):
    x, y, s = sample(seed, n, (2, 2, 3), sorts).blocks
    turned = (Block(part.columns[::-1]) for part in (x, y, s))
    assert information(estimator, *turned) == close(information(estimator, x, y, s))


@pytest.mark.parametrize(
    ("estimator", "sort"),
    [
        (KSG(), "normal"),
        (KSG(scale="rank"), "normal"),
        (Mixed(), "normal"),
        (Mixed(), "labels"),
        (Discrete(), "integers"),
        (Discrete(correction="miller-madow"), "labels"),
        (Gaussian(), "normal"),
        (Copula(), "normal"),
    ],
)
@given(seed=seeds, n=sizes, value=st.sampled_from([0.0, 0.1, 3.0, -1e6]))
@settings(max_examples=15)
def test_constant_conditioning_set(estimator, sort, seed, n, value):
    x, y, _ = sample(seed, n, (1, 1, 0), (sort,)).blocks
    value = value if sort == "normal" else round(value)
    constant = block(np.full((n, 1), value), nominal=[0] if sort == "labels" else ())
    assert information(estimator, x, y, constant) == close(information(estimator, x, y))


@pytest.mark.parametrize("estimator", [Gaussian(), Copula(), Mixed()])
@given(seed=seeds, n=sizes, value=st.sampled_from([0.0, 0.1, 3.0, -1e6]))
@settings(max_examples=15)
def test_constant_column_has_no_information(estimator, seed, n, value):
    _, y, s = sample(seed, n, (1, 1, 1), ("normal",)).blocks
    constant = block(np.full((n, 1), value))
    for target, known in ((y, NOTHING), (y, s), (y, constant), (constant, NOTHING)):
        assert information(estimator, constant, target, known) == close(0.0)


# --- chain rules --------------------------------------------------------------------------------


@pytest.mark.parametrize(("estimator", "sorts"), [COUNTS[0], LINEAR[0], (Copula(), ("normal",))])
@given(seed=seeds, n=sizes, width=st.integers(0, 2))
@settings(max_examples=40)
def test_chain_rule_of_parts_that_are_not_negative(estimator, sorts, seed, n, width):
    x, y, s = sample(seed, n, (2, 1, width), sorts).blocks
    first, second = (Block((column,)) for column in x.columns)
    parts = information(estimator, first, y, s), information(estimator, second, y, first + s)
    assert information(estimator, x, y, s) == close(sum(parts))
    assert min(parts) >= -1e-10


# --- invariances --------------------------------------------------------------------------------

MONOTONE = {
    "exp": np.exp,
    "cube": lambda values: values**3,
    "decreasing": lambda values: -np.arctan(values),
}


BY_RANK = [KSG(k=2, scale="rank"), KSG(algorithm=2, scale="rank"), Mixed(scale="rank"), Copula()]


@pytest.mark.parametrize("estimator", BY_RANK)
@pytest.mark.parametrize("name", MONOTONE)
@given(seed=seeds, n=sizes, shape=widths, place=st.integers(0, 2))
@settings(max_examples=15)
def test_ranks_survive_monotone_maps(estimator, name, seed, n, shape, place):
    """Every column of a block through its own map or the same, rising or falling: not a bit."""
    missing = () if isinstance(estimator, KSG) else ("missing",)
    data = sample(seed, n, shape, ("normal", "tenths", *missing))
    parts = [data.x, data.y, data.s]
    expected = information(estimator, *(measured(part) for part in parts))
    parts[place] = MONOTONE[name](parts[place])
    assert information(estimator, *(measured(part) for part in parts)) == expected


@pytest.mark.parametrize("name", MONOTONE)
@given(seed=seeds, n=sizes, k=st.integers(1, 5))
@settings(max_examples=20)
def test_function_of_the_conditioning_set_adds_nothing(name, seed, n, k):
    """Where some samples' k-th neighbour in (y, S) ties with the one before, KSG counts fewer.

    Without S or y having ties, it takes equal ranks in both to make equal distances.
    """
    data = sample(seed, n, (1, 1, 1), ("normal",))
    x, y, s = map(block, (MONOTONE[name](data.s), data.y, data.s))
    assert information(Mixed(k=k, scale="rank"), x, y, s) == 0.0
    scores = np.hstack([naive.normal_scores(data.y), naive.normal_scores(data.s)])
    apart = naive.distances(scores)
    strictly_nearer = np.sum(apart < np.sort(apart, axis=1)[:, [k]], axis=1) - 1
    excess = digamma(k) - digamma(strictly_nearer + 1)
    assert information(KSG(k=k, scale="rank"), x, y, s) == close(excess.mean(), 1e-14)


def measured(values) -> Block:
    """Return continuous columns, whatever values a map happens to give."""
    return Block(tuple(replace(c, feature_type="continuous") for c in block(values).columns))


@given(seeds, sizes, st.sampled_from(["normal", "tenths", "missing", "integers"]))
def test_normal_scores_are_invariant_under_order_and_sign(seed, n, sort):
    values = sample(seed, n, (1, 1, 0), (sort,)).x[:, 0]
    scores = normal_scores(values)
    np.testing.assert_array_equal(normal_scores(-values), -scores)
    rows = np.random.default_rng(seed).permutation(n)
    np.testing.assert_array_equal(normal_scores(values[rows]), scores[rows])
    assert np.nanstd(scores, ddof=1) == close(1.0, 1e-12)


@pytest.mark.parametrize("estimator", [Gaussian(), Copula()])
@given(seed=seeds, n=sizes)
@settings(max_examples=20)
def test_binary_label_is_a_point_biserial_correlation(estimator, seed, n):
    """-1/2 ln(1 - r^2), r the point-biserial correlation with what the estimator sees of x."""
    x = sample(seed, n, (1, 1, 0), ("normal",)).x
    side = x[:, 0] + np.random.default_rng(seed).normal(size=n) > x[0, 0]
    side[:2] = True, False
    seen = x[:, 0] if type(estimator) is Gaussian else normal_scores(x[:, 0])
    r = np.corrcoef(seen, side)[0, 1]
    label = block(side[:, None], (0,))
    assert information(estimator, label, block(x)) == close(-0.5 * np.log1p(-(r**2)), 1e-12)
    assert information(estimator, block(x), label) == close(-0.5 * np.log1p(-(r**2)), 1e-12)


@given(seed=seeds, n=sizes)
@settings(max_examples=20)
def test_information_of_a_label_is_the_variance_between_its_levels(seed, n):
    data = sample(seed, n, (1, 1, 0), ("normal",))
    codes = np.random.default_rng(seed).integers(0, 4, n)
    y = data.y[:, 0]
    within = sum(np.sum((y[codes == c] - y[codes == c].mean()) ** 2) for c in set(codes.tolist()))
    found = information(Gaussian(), block(codes[:, None], (0,)), block(data.y))
    assert found == close(-0.5 * np.log(within / np.sum((y - y.mean()) ** 2)), 1e-12)


@pytest.mark.parametrize("estimator", [KSG(), KSG(algorithm=2), Mixed(), Gaussian()])
@given(
    seed=seeds,
    n=sizes,
    shape=widths,
    place=st.integers(0, 2),
    factor=st.sampled_from([-100.0, -1.0, 0.01, 7.0]),
    shift=st.floats(-100, 100),
)
@settings(max_examples=25)
def test_zscores_survive_affine_maps(estimator, seed, n, shape, place, factor, shift):
    data = sample(seed, n, shape, ("normal",))
    parts = [data.x, data.y, data.s]
    expected = information(estimator, *map(block, parts))
    parts[place] = factor * parts[place] + shift
    assert information(estimator, *map(block, parts)) == close(expected, 1e-9)


@pytest.mark.parametrize(
    "estimator", [Discrete(), Discrete(correction="miller-madow"), Mixed(), Gaussian(), Copula()]
)
@given(seed=seeds, n=sizes, shape=widths)
@settings(max_examples=30)
def test_labels_are_only_names(estimator, seed, n, shape):
    data = sample(seed, n, shape, ("labels",))
    expected = information(estimator, *data.blocks)
    rename = np.random.default_rng(seed).permutation(10)
    renamed = (
        block(rename[part.astype(int)], range(part.shape[1])) for part in (data.x, data.y, data.s)
    )
    assert information(estimator, *renamed) == close(expected)


@given(seeds, sizes)
@settings(max_examples=20)
def test_information_of_a_copy_is_its_entropy(seed, n):
    x, _, _ = sample(seed, n, (1, 1, 0), ("integers",)).blocks
    share = np.bincount(x.columns[0].codes()) / n
    assert information(Discrete(), x, x) == close(-np.sum(share * np.log(share)))
    assert information(Discrete(), x, x, x) == close(0.0)
