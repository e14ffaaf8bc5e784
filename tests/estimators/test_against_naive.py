"""The fast paths equal their slow twins, whatever the batch, the memory and the thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from estimators.samples import NOTHING, Sample, block, list_bytes, orders, sample
from pidselect.estimators import (
    KSG,
    Batch,
    Copula,
    Discrete,
    Gaussian,
    Mixed,
    mutual_information,
)
from pidselect.estimators.gaussian import MAX_LEVELS

MEMORY = 2**30
BATCHES = (1, 2, 15, 16, 17, 40)
TIED = ("normal", "tenths", "nearly tenths", "integers", "grades", "constant")
LABELLED = (*TIED, "labels")
WITH_MISSING = (*LABELLED, "missing", "labels missing")
FEW_LEVELS = ("grades", "labels", "labels missing")
SCALE = {"zscore": naive.zscore, "rank": naive.normal_scores, None: lambda columns: columns}
LINEAR = [(Gaussian(), naive.gaussian), (Copula(), naive.copula)]

sizes = st.integers(8, 120)
widths = st.tuples(st.integers(1, 3), st.integers(1, 2), st.integers(0, 4))
seeds = st.integers(0, 2**32 - 1)
neighbours = st.integers(1, 6)
batches = st.sampled_from(BATCHES)


def fast(estimator, data: Sample, rows, memory: int = MEMORY) -> np.ndarray:
    x, y, s = data.blocks
    with list_bytes(memory):
        return estimator.bind(y, s).score(Batch(x, rows))


def slow(twin, data: Sample, rows, scale=None) -> np.ndarray:
    """Score each rearrangement on its own; labels are not scaled."""
    x, y, s = (
        _scaled(values, labels, SCALE[scale])
        for values, labels in (
            (data.x, data.nominal_x),
            (data.y, data.nominal_y),
            (data.s, data.nominal_s),
        )
    )
    return np.array([twin(x[order], y, s) for order in rows])


def _scaled(values, labels, scale):
    scaled = np.array(values, dtype=np.float64)
    numbers = [j for j in range(values.shape[1]) if j not in labels]
    if numbers:
        scaled[:, numbers] = scale(scaled[:, numbers])
    return scaled


def stack(*columns) -> np.ndarray:
    return np.stack(columns, axis=1).astype(np.float64)


def drawn(data: Sample, m: int) -> np.ndarray:
    return orders(np.random.default_rng(m), m, data.n)


def ksg(algorithm, k):
    return lambda x, y, s: (naive.ksg1 if algorithm == 1 else naive.ksg2)(x, y, s, k=k)


def labelled(twin, data: Sample):
    """Return the twin with the places of the labels filled in."""
    return partial(
        twin, nominal_x=data.nominal_x, nominal_y=data.nominal_y, nominal_given=data.nominal_s
    )


def mixed(data: Sample, k):
    return partial(labelled(naive.mixed, data), k=k)


def agree(found, expected):
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


# --- KSG ----------------------------------------------------------------------------------------


@given(seeds, sizes, widths, neighbours, batches, st.booleans())
@settings(max_examples=60)
def test_ksg_of_measured_columns(seed, n, shape, k, m, duplicates):
    data = sample(seed, n, shape, ("normal", "normal", "constant"), duplicates=duplicates)
    rows = drawn(data, m)
    agree(fast(KSG(k=k), data, rows), slow(ksg(1, k), data, rows, "zscore"))


@given(seeds, sizes, widths, neighbours, batches, st.sampled_from(list(SCALE)), st.booleans())
@settings(max_examples=120)
def test_ksg_with_ties(seed, n, shape, k, m, scale, duplicates):
    data = sample(seed, n, shape, TIED, duplicates=duplicates)
    rows = drawn(data, m)
    agree(fast(KSG(k=k, scale=scale), data, rows), slow(ksg(1, k), data, rows, scale))


@given(seeds, sizes, widths, neighbours, batches, st.sampled_from(list(SCALE)), st.booleans())
@settings(max_examples=60)
def test_ksg_algorithm_2(seed, n, shape, k, m, scale, ties):
    data = sample(seed, n, shape, TIED if ties else ("normal",))
    rows = drawn(data, m)
    estimator = KSG(k=k, algorithm=2, scale=scale)
    agree(fast(estimator, data, rows), slow(ksg(2, k), data, rows, scale))


@pytest.mark.parametrize("algorithm", [1, 2])
@pytest.mark.parametrize("place", ["x", "y", "s"])
def test_ksg_with_a_constant_block(algorithm, place):
    data = sample(3, 60, (1, 1, 1), ("normal",))
    parts = {"x": data.x, "y": data.y, "s": data.s, place: np.full((60, 1), 0.1)}
    data, rows = Sample(**parts), drawn(data, 5)
    estimator = KSG(algorithm=algorithm)
    agree(fast(estimator, data, rows), slow(ksg(algorithm, 4), data, rows, "zscore"))


@pytest.mark.parametrize("n", [257, 500])
@pytest.mark.parametrize("algorithm", [1, 2])
@pytest.mark.parametrize("width", [0, 1, 4])
def test_ksg_with_many_samples(n, algorithm, width):
    data = sample(n, n, (1, 1, width), ("normal",))
    rows = drawn(data, 18)
    estimator = KSG(algorithm=algorithm)
    agree(fast(estimator, data, rows), slow(ksg(algorithm, 4), data, rows, "zscore"))


def test_samples_that_are_sorted_in_several_parts():
    data = sample(8, 1600, (1, 1, 1), ("normal",))
    rows = drawn(data, 2)
    agree(fast(KSG(), data, rows), slow(ksg(1, 4), data, rows, "zscore"))


@pytest.mark.parametrize("k", [1, 4, 6])
@pytest.mark.parametrize("width", [0, 2])
def test_fewest_samples(k, width):
    data = sample(k, k + 2, (1, 1, width), ("normal",))
    rows = drawn(data, 17)
    for algorithm in (1, 2):
        found = fast(KSG(k=k, algorithm=algorithm), data, rows)
        agree(found, slow(ksg(algorithm, k), data, rows, "zscore"))
    agree(fast(Mixed(k=k), data, rows), slow(mixed(data, k), data, rows, "zscore"))


@pytest.mark.parametrize("shape", [(1, 1, 0), (2, 1, 0), (1, 1, 1), (1, 2, 3)])
def test_all_samples_equal(shape):
    data = sample(0, 30, shape, ("constant",))
    rows = drawn(data, 3)
    for scale in SCALE:
        agree(fast(KSG(scale=scale), data, rows), slow(ksg(1, 4), data, rows, scale))
        agree(fast(Mixed(scale=scale), data, rows), np.zeros(3))


# --- mixed --------------------------------------------------------------------------------------


@given(seeds, sizes, widths, neighbours, batches, st.sampled_from(list(SCALE)), st.booleans())
@settings(max_examples=120)
def test_mixed_with_ties(seed, n, shape, k, m, scale, duplicates):
    data = sample(seed, n, shape, LABELLED, duplicates=duplicates)
    rows = drawn(data, m)
    agree(fast(Mixed(k=k, scale=scale), data, rows), slow(mixed(data, k), data, rows, scale))


@given(seeds, sizes, widths, neighbours, batches, st.sampled_from(list(SCALE)), st.booleans())
@settings(max_examples=120)
def test_mixed_with_missing_values(seed, n, shape, k, m, scale, duplicates):
    data = sample(seed, n, shape, WITH_MISSING, duplicates=duplicates)
    rows = drawn(data, m)
    agree(fast(Mixed(k=k, scale=scale), data, rows), slow(mixed(data, k), data, rows, scale))


@pytest.mark.parametrize("shape", [(1, 1, 0), (2, 1, 1), (1, 2, 3)])
def test_mixed_with_labels_alone(shape):
    data = sample(9, 80, shape, ("labels",))
    rows = drawn(data, 20)
    agree(fast(Mixed(), data, rows), slow(mixed(data, 4), data, rows, "zscore"))


@given(
    seeds,
    sizes,
    widths,
    neighbours,
    batches,
    st.sampled_from(["rank", None]),
    st.integers(0, 2**15),
)
@settings(max_examples=200)
def test_labels_beside_numbers_for_any_memory(seed, n, shape, k, m, scale, memory):
    # Without scaling, numbers are far apart or near each other beside labels at distance 1.
    data = sample(seed, n, shape, ("normal", "labels", "labels", "grades")[seed % 2 :])
    rows = drawn(data, m)
    found = fast(Mixed(k=k, scale=scale), data, rows, memory)
    agree(found, slow(mixed(data, k), data, rows, scale))


@given(seeds, st.integers(8, 300), widths, neighbours, st.sampled_from(list(SCALE)), st.booleans())
@settings(max_examples=100)
def test_a_single_estimate_has_the_value_of_a_bound_one(seed, n, shape, k, scale, ties):
    data = sample(seed, n, shape, WITH_MISSING if ties else ("normal",))
    x, y, s = data.blocks
    observed = np.arange(n, dtype=np.int32)[np.newaxis]
    estimators = [Mixed(k=k, scale=scale)]
    if not ties:
        estimators += [KSG(k=k, scale=scale), KSG(k=k, scale=scale, algorithm=2)]
    for estimator in estimators:
        assert estimator.estimate(x, y, s) == fast(estimator, data, observed)[0]


@pytest.mark.parametrize("n", [300, 500])
@pytest.mark.parametrize("kinds", ["nn nl", "ln nl", "nl nnl", "nn nll", "ll nnl"])
@pytest.mark.parametrize("memory", [2**13, MEMORY])
def test_labels_beside_many_numbers(n, kinds, memory):
    rng = np.random.default_rng(n)
    columns = [
        rng.normal(size=n) if kind == "n" else rng.integers(0, 4, size=n).astype(float)
        for kind in kinds.replace(" ", "")
    ]
    x, y, *s = columns
    labels = [kind == "l" for kind in kinds.replace(" ", "")]
    data = Sample(
        x[:, np.newaxis],
        y[:, np.newaxis],
        np.stack(s, axis=1),
        *(tuple(np.flatnonzero(some)) for some in (labels[:1], labels[1:2], labels[2:])),
    )
    rows = drawn(data, 18)
    found = fast(Mixed(scale="rank"), data, rows, memory)
    agree(found, slow(mixed(data, 4), data, rows, "rank"))


# --- few strata ---------------------------------------------------------------------------------

# A target and a given of few levels leave many samples alike in (y, S).
in_strata = given(seeds, st.integers(40, 200), st.integers(0, 2), st.integers(1, 3), batches)


def stratified(seed, n, width, sorts_x, sorts_s) -> Sample:
    candidate = sample(seed, n, (1, 0, 0), sorts_x)
    around = sample(seed + 1, n, (0, 1, width), sorts_s)
    return Sample(
        candidate.x, around.y, around.s, candidate.nominal_x, around.nominal_y, around.nominal_s
    )


@in_strata
@settings(max_examples=100)
def test_mixed_in_strata(seed, n, width, k, m):
    data = stratified(seed, n, width, WITH_MISSING, FEW_LEVELS)
    rows = drawn(data, m)
    for scale in SCALE:
        agree(fast(Mixed(k=k, scale=scale), data, rows), slow(mixed(data, k), data, rows, scale))


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("is_constant", [False, True])
def test_strata_farther_apart_than_labels(k, is_constant):
    """A label that does not vary beside the target leaves numbers to be compared beyond it."""
    rng = np.random.default_rng(k)
    x, grade = 2 * rng.normal(size=150), 3.0 * rng.integers(-1, 2, size=150)
    label = np.zeros(150) if is_constant else grade % 5
    data = Sample(stack(x), stack(grade), stack(label), nominal_s=(0,))
    rows = drawn(data, 3)
    for scale in SCALE:
        agree(fast(Mixed(k=k, scale=scale), data, rows), slow(mixed(data, k), data, rows, scale))


@in_strata
@settings(max_examples=100)
def test_ksg_in_strata(seed, n, width, k, m):
    data = stratified(seed, n, width, TIED, ("grades",))
    rows = drawn(data, m)
    for scale in SCALE:
        agree(fast(KSG(k=k, scale=scale), data, rows), slow(ksg(1, k), data, rows, scale))


@pytest.mark.parametrize("estimator", [KSG(), Mixed()])
def test_zscored_strata(estimator):
    data = sample(21, 300, (1, 0, 0), ("normal",))
    data = Sample(data.x, (data.x > 0.5).astype(float), data.s)
    rows = drawn(data, 17)
    twin = mixed(data, 4) if isinstance(estimator, Mixed) else ksg(1, 4)
    agree(fast(estimator, data, rows), slow(twin, data, rows, "zscore"))


def test_labels_in_strata_far_apart():
    """All other labels are 1 away, also those whose codes differ by more."""
    rng = np.random.default_rng(22)
    x = np.concatenate([np.zeros(3), rng.integers(1, 4, 197)])
    data = Sample(x[:, None], 3.0 * (np.arange(200) % 2)[:, None], np.empty((200, 0)), (0,))
    rows = drawn(data, 17)
    agree(fast(Mixed(scale=None), data, rows), slow(mixed(data, 4), data, rows))


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.9, 0.1), (0.7, 0.2, 0.1)])
@pytest.mark.parametrize("width", [0, 1])
def test_lists_hold_the_largest_group_of_labels(shares, width):
    """All samples with the same labels tie: a list that ended among them would serve none."""
    rng = np.random.default_rng(23)
    label = rng.choice(len(shares), 200, p=shares)
    other = sample(23, 200, (1, 1, 0), ("normal",))
    s = stack(label, *(rng.integers(0, 2, 200) for _ in range(width)))
    data = Sample(other.x, other.y, s, nominal_s=tuple(range(1 + width)))
    rows = drawn(data, 17)
    _, y, given = data.blocks
    spaces = Mixed().bind(y, given).bound.spaces
    assert spaces.given_lists.radius.min() == 1.0
    agree(fast(Mixed(), data, rows), slow(mixed(data, 4), data, rows, "zscore"))


# --- discrete and Gaussian ----------------------------------------------------------------------


@given(seeds, sizes, widths, batches, st.sampled_from([None, "miller-madow"]))
@settings(max_examples=80)
def test_discrete(seed, n, shape, m, correction):
    data = sample(seed, n, shape, ("integers", "labels"))
    rows = drawn(data, m)

    def twin(x, y, s):
        return naive.discrete(x, y, s, correction)

    agree(fast(Discrete(correction=correction), data, rows), slow(twin, data, rows))


@pytest.mark.parametrize("correction", [None, "miller-madow"])
@pytest.mark.parametrize("place", ["x", "y", "s"])
def test_discrete_takes_missing_for_a_level(correction, place):
    data = sample(4, 90, (1, 1, 1), ("integers",))
    parts = {"x": data.x, "y": data.y, "s": data.s}
    parts[place] = np.where(parts[place] > 1, np.nan, parts[place])
    data, rows = Sample(**parts), drawn(data, 17)

    def twin(x, y, s):
        return naive.discrete(x, y, s, correction)

    agree(fast(Discrete(correction=correction), data, rows), slow(twin, data, rows))


@pytest.mark.parametrize(("estimator", "twin"), LINEAR)
@given(seed=seeds, n=sizes, shape=widths, m=batches)
@settings(max_examples=50)
def test_gaussian_and_copula(estimator, twin, seed, n, shape, m):
    data = sample(seed, max(n, 2 * sum(shape) + 4), shape, ("normal",))
    rows = drawn(data, m)
    agree(fast(estimator, data, rows), slow(twin, data, rows))


@given(seeds, widths)
@settings(max_examples=30)
def test_copula_shares_ranks_among_ties(seed, shape):
    data = sample(seed, 100, shape, ("tenths",))
    rows = drawn(data, 3)
    agree(fast(Copula(), data, rows), slow(naive.copula, data, rows))


@pytest.mark.parametrize(("estimator", "twin"), LINEAR)
@given(seed=seeds, shape=widths, m=batches)
@settings(max_examples=40)
def test_labels_and_missing_values_by_indicators(estimator, twin, seed, shape, m):
    data = sample(seed, 200, shape, ("normal", "tenths", "labels", "missing", "labels missing"))
    rows = drawn(data, m)
    agree(fast(estimator, data, rows), slow(labelled(twin, data), data, rows))


@pytest.mark.parametrize(("estimator", "twin"), LINEAR)
@pytest.mark.parametrize("levels", [3, 12, 40])
@pytest.mark.parametrize("width", [0, 1, 3])
def test_labels_with_many_levels(estimator, twin, levels, width):
    """More levels than directions of the target and the given, as many, and fewer."""
    rng = np.random.default_rng(levels)
    given = sample(levels, 300, (0, 0, width), ("normal",)).s
    codes = np.arange(300) % levels
    target = rng.permutation(codes) // 2
    data = Sample(stack(codes), stack(target), given, (0,), (0,))
    rows = drawn(data, 4)
    agree(fast(estimator, data, rows), slow(labelled(twin, data), data, rows))
    number = Sample(stack(codes), stack(rng.normal(size=300) + codes), given, (0,))
    agree(fast(estimator, number, rows), slow(labelled(twin, number), number, rows))


@pytest.mark.parametrize(("estimator", "twin"), LINEAR)
def test_rare_levels_share_one(estimator, twin):
    rng = np.random.default_rng(6)
    codes = np.concatenate([np.repeat(np.arange(MAX_LEVELS), 3), 200 + np.arange(60)])
    target = rng.normal(size=codes.size) + codes % 3
    data = Sample(stack(codes), stack(target), np.empty((codes.size, 0)), (0,))
    shared = Sample(stack(np.minimum(codes, 200)), data.y, data.s, (0,))
    rows = drawn(data, 3)
    agree(fast(estimator, data, rows), slow(labelled(twin, shared), shared, rows))


@pytest.mark.parametrize(("estimator", "twin"), LINEAR)
@pytest.mark.parametrize("noise", [1.0, 0.1, 0.03, 0.01])
@pytest.mark.parametrize("place", ["x", "y"])
def test_near_copies_of_the_given_or_of_the_target(estimator, twin, noise, place):
    """The way a value is computed changes with what is left, the value does not."""
    rng = np.random.default_rng(7)
    s, label = rng.normal(size=(250, 2)), rng.integers(0, 3, 250)
    y = rng.normal(size=250) + s[:, 0] + label
    known = {"x": s[:, 0], "y": y}[place]
    x = stack(known + noise * rng.normal(size=250), label)
    data = Sample(x, stack(y), s, (1,))
    rows = drawn(data, 3)
    agree(fast(estimator, data, rows), slow(labelled(twin, data), data, rows))
    alone = Sample(x[:, :1], data.y, s)
    agree(fast(estimator, alone, rows), slow(twin, alone, rows))


# --- batches, memory, threads -------------------------------------------------------------------

EVERY = [
    pytest.param(KSG(), "normal", id="ksg"),
    pytest.param(KSG(), "tenths", id="ksg-lattice"),
    pytest.param(KSG(k=2, scale=None), "tenths", id="ksg-ties"),
    pytest.param(KSG(scale="rank"), "tenths", id="ksg-rank"),
    pytest.param(KSG(algorithm=2), "normal", id="ksg2"),
    pytest.param(KSG(k=1, scale=None), "nearly tenths", id="ksg-near-ties"),
    pytest.param(KSG(scale=None), "grades", id="ksg-strata"),
    pytest.param(Mixed(), "normal", id="mixed"),
    pytest.param(Mixed(k=3), "labels", id="mixed-labels"),
    pytest.param(Discrete(), "integers", id="discrete"),
    pytest.param(Discrete("miller-madow"), "labels", id="miller-madow"),
    pytest.param(Gaussian(), "normal", id="gaussian"),
    pytest.param(Copula(), "tenths", id="copula"),
    pytest.param(Copula(), "labels", id="copula-labels"),
    pytest.param(Copula(), "missing", id="copula-missing"),
    pytest.param(Mixed(scale="rank"), "missing", id="mixed-rank"),
]


@pytest.mark.parametrize(("estimator", "sort"), EVERY)
@pytest.mark.parametrize("shape", [(1, 1, 0), (1, 1, 3), (2, 2, 1)])
def test_memory_does_not_matter(estimator, sort, shape):
    data = sample(11, 150, shape, (sort,))
    rows = drawn(data, 35)
    expected = fast(estimator, data, rows)
    for memory in (1, 10**3, 10**4, 10**5, 10**6):
        np.testing.assert_array_equal(fast(estimator, data, rows, memory), expected)


@given(seeds, sizes, widths, neighbours, st.integers(1, 10**6), st.booleans())
@settings(max_examples=40)
def test_memory_does_not_matter_to_neighbours(seed, n, shape, k, memory, ties):
    data = sample(seed, n, shape, WITH_MISSING if ties else ("normal",))
    rows = drawn(data, 17)
    found = fast(Mixed(k=k, scale=None), data, rows, memory)
    np.testing.assert_array_equal(found, fast(Mixed(k=k, scale=None), data, rows))
    agree(found, slow(mixed(data, k), data, rows))


@pytest.mark.parametrize(("estimator", "sort"), EVERY)
@pytest.mark.parametrize("width", [0, 2])
@pytest.mark.parametrize("memory", [1, MEMORY])
def test_grouping_does_not_matter(estimator, sort, width, memory):
    data = sample(12, 100, (1, 1, width), (sort,))
    x, y, s = data.blocks
    rows = drawn(data, 53)
    with list_bytes(memory):
        scorer = estimator.bind(y, s)
    expected = scorer.score(Batch(x, rows))
    for cuts in ([1], [16, 32], [5, 22, 39], list(range(1, 53))):
        parts = [scorer.score(Batch(x, part)) for part in np.split(rows, cuts)]
        np.testing.assert_array_equal(np.concatenate(parts), expected)
    np.testing.assert_array_equal(scorer.score(Batch.observed(x)), expected[:1])


@pytest.mark.parametrize(("estimator", "sort"), EVERY)
def test_threads_do_not_matter(estimator, sort):
    data = sample(13, 200, (1, 1, 2), (sort,))
    x, y, s = data.blocks
    rows = drawn(data, 48)
    scorer = estimator.bind(y, s)
    expected = scorer.score(Batch(x, rows))
    halves = [rows[:24], rows[24:]] * 4
    with ThreadPoolExecutor(2) as pool:
        shared = list(pool.map(lambda part: scorer.score(Batch(x, part)), halves))
        own = list(pool.map(lambda part: fast(estimator, data, part), halves))
    for parts in (shared, own):
        np.testing.assert_array_equal(np.concatenate(parts), np.tile(expected, 4))


@pytest.mark.parametrize(("estimator", "sort"), EVERY)
def test_scoring_changes_nothing_it_is_given(estimator, sort):
    data = sample(14, 50, (2, 1, 1), (sort,))
    x, y, s = data.blocks
    rows = drawn(data, 3)
    before = [column.values.copy() for column in (x + y + s).columns]
    kept = rows.copy()
    scorer = estimator.bind(y, s)
    first = scorer.score(Batch(x, rows))
    np.testing.assert_array_equal(scorer.score(Batch(x, rows)), first)
    np.testing.assert_array_equal(rows, kept)
    for column, values in zip((x + y + s).columns, before, strict=True):
        np.testing.assert_array_equal(column.values, values)


# --- the public function ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "twin", "scale"),
    [
        ("ksg", naive.ksg1, "zscore"),
        ("ksg-rank", naive.ksg1, "rank"),
        ("mixed", naive.mixed, "zscore"),
        ("mixed-rank", naive.mixed, "rank"),
        ("gaussian", naive.gaussian, None),
        ("copula", naive.copula, None),
    ],
)
@pytest.mark.parametrize("width", [0, 2])
def test_mutual_information_by_name(name, twin, scale, width):
    data = sample(15, 80, (1, 1, width), ("normal",))
    x, y, s = (SCALE[scale](part) for part in (data.x, data.y, data.s))
    given = data.s if width else None
    expected = twin(x, y, s)
    for unit, size in (("nat", 1.0), ("bit", log(2))):
        found = mutual_information(data.x, data.y, given, estimator=name, unit=unit)
        assert isinstance(found, float)
        assert found == pytest.approx(expected / size, rel=0, abs=1e-10)


def test_mutual_information_takes_vectors_and_objects():
    data = sample(16, 80, (1, 1, 1), ("normal",))
    found = mutual_information(
        data.x[:, 0], data.y[:, 0], data.s[:, 0], estimator=KSG(k=3, algorithm=2), unit="nat"
    )
    expected = naive.ksg2(*(naive.zscore(part) for part in (data.x, data.y, data.s)), k=3)
    assert found == pytest.approx(expected, rel=0, abs=1e-10)


def test_bits_are_the_default():
    coin = np.repeat([0, 1], 50)
    assert mutual_information(coin, coin, estimator="discrete") == pytest.approx(1.0, abs=1e-12)


def test_an_empty_given_is_none():
    data = sample(17, 60, (1, 1, 0), ("normal",))
    rows = drawn(data, 2)
    found = KSG().bind(block(data.y), NOTHING).score(Batch(block(data.x), rows))
    agree(found, slow(ksg(1, 4), data, rows, "zscore"))
