"""The kernel for continuous columns gives the integer sums of the general kernel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import list_bytes

from pidselect.data import Block, Column
from pidselect.estimators import KSG, Batch, Mixed
from pidselect.estimators.knn import binding, spaces
from pidselect.estimators.knn.binding import to_candidate
from pidselect.estimators.knn.continuous import (
    score_continuous,
    sum_continuous,
)
from pidselect.estimators.knn.general import add_general, score_general
from pidselect.estimators.knn.grid_index import fill_grid, find_interval, new_grid
from pidselect.estimators.knn.neighbour_lists import list_neighbours, spatial_order
from pidselect.estimators.knn.spaces import (
    INNER,
    MAX_UINT16_SAMPLES,
    SingleColumns,
    Space,
    bounding_boxes,
    interval_around,
    rank_columns,
)
from pidselect.jit import njit
from pidselect.significance.rng import permutations

SHAPES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.uniform(size=n),
    "heavy tails": lambda rng, n: rng.standard_cauchy(size=n),
    "far from zero": lambda rng, n: 1e6 + rng.normal(size=n),
    "tiny": lambda rng, n: 1e-42 * rng.normal(size=n),
    # Distances of which many agree to more digits than 32 bits hold.
    "near ties": lambda rng, n: rng.integers(0, 20, n) + 1e-9 * rng.normal(size=n),
    # Differences of tenths round up or down: which are equal is decided by the last digit.
    "tenths": lambda rng, n: rng.permutation(n) / 10,
    "few levels": lambda rng, n: rng.integers(0, 3, n),
    "many ties": lambda rng, n: np.round(rng.normal(size=n), 1),
    "some ties": lambda rng, n: np.where(rng.uniform(size=n) < 0.1, 0.5, rng.normal(size=n)),
}


def column(values: np.ndarray) -> Column:
    return Column("x", "continuous", np.asarray(values, dtype=np.float64))


def both(estimator, columns, rows):
    """Return the sums of weights by the kernel for continuous columns and by the general one."""
    x, y, *given = columns
    scorer = estimator.bind(Block((column(y),)), Block(tuple(map(column, given))))
    candidate = to_candidate(Block((column(x),)), estimator.scale)
    all_open = np.empty((0, len(x)), dtype=np.bool_)
    return sums_of_both(candidate, scorer.bound, scorer.formula.rule, rows, all_open)


def sums_of_both(candidate, bound, rule, rows, is_open):
    exact = np.zeros(len(rows), dtype=np.int64)
    rows = np.take(rows, bound.order, axis=1)
    columns = SingleColumns(
        candidate.values.T, candidate.sorted.sample[np.newaxis].astype(np.int32)
    )
    ranks = rank_columns(bound.spaces.joint.values)
    (quick,) = score_continuous(columns, rows, is_open, bound.spaces, ranks, rule)
    score_general(candidate, rows, is_open, bound.spaces, bound.numeric, rule, exact)
    return quick, exact


@pytest.mark.parametrize("n_columns", [1, 2])
def test_kernels_are_compiled_once_for_one_row_and_for_many(n_columns):
    rng, compiled = np.random.default_rng(0), []
    scorer = KSG().bind(Block((column(rng.normal(size=50)),)), Block())
    block = Block(tuple(column(values) for values in rng.normal(size=(n_columns, 50))))
    for n_rows in (1, 16):
        scorer.score(Batch(block, permutations((7,), range(n_rows), 50)))
        kernel = sum_continuous if n_columns == 1 else add_general
        compiled.append(list(kernel.signatures))
    assert compiled[0] == compiled[1]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n_given", "n"), [(0, 300), (1, 300), (1, 420), (2, 300), (4, 300)])
@pytest.mark.parametrize("estimator", [KSG(scale=None), Mixed(scale=None), KSG(k=1), KSG(k=7)])
def test_continuous_kernel(shape, n_given, n, estimator):
    rng = np.random.default_rng(n_given)
    columns = [SHAPES[shape](rng, n) for _ in range(2 + n_given)]
    rows = permutations((7,), range(1, 20), n)
    quick, exact = both(estimator, columns, rows)
    assert quick.tolist() == exact.tolist()


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(40, 300),
    feature_types=st.sampled_from(["lnn", "lnl", "nl", "nlnl", "nlnn", "nn", "nnnn"]),
    levels=st.integers(2, 30),
    k=st.integers(1, 8),
    lists=st.integers(16, 60),
    share_open=st.sampled_from([0.0, 0.1, 0.9]),
    seed=st.integers(0, 2**32 - 1),
)
def test_labels_and_ties(n, feature_types, levels, k, lists, share_open, seed):
    """Radii of 1 or more add nothing if x or y has labels; only open samples are counted."""
    rng = np.random.default_rng(seed)
    x, y, *rest = (
        Column("x", "nominal", rng.integers(0, levels, n).astype(float))
        if feature_type == "l"
        else Column("x", "continuous", np.round(rng.normal(size=n), 1))
        for feature_type in feature_types
    )
    rows = permutations((seed,), range(1, 40), n)
    with list_bytes(12 * n * lists * 2):
        scorer = Mixed(k=k).bind(Block((y,)), Block(tuple(rest)))
    rule = scorer.formula.rule._replace(max_radius=1.0 if "l" in feature_types else np.inf)
    is_open = rng.random((len(rows) if share_open else 0, n)) < share_open
    candidate = to_candidate(Block((x,)), "zscore")
    quick, exact = sums_of_both(candidate, scorer.bound, rule, rows, is_open)
    assert quick.tolist() == exact.tolist()


@pytest.mark.parametrize(("n", "offset"), [(203, 139), (229, 119)])
@pytest.mark.parametrize("estimator", [KSG(), Mixed()])
def test_limits_on_the_border_of_a_cell(n, offset, estimator):
    """Thirds, whose sums round up over borders that their differences do not reach."""
    rng = np.random.default_rng(0)
    columns = (np.arange(n) - offset) / 3, rng.permutation(n) / 3
    quick, exact = both(estimator, columns, permutations((3,), range(1, 321), n))
    assert quick.tolist() == exact.tolist()


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(40, 500),
    n_given=st.integers(0, 5),
    k=st.integers(1, 20),
    lists=st.integers(16, 60),
    seed=st.integers(0, 2**32 - 1),
)
def test_short_lists(n, n_given, k, lists, seed):
    """Beyond the list radius neighbours are searched along x and by bounding boxes."""
    rng = np.random.default_rng(seed)
    columns = [rng.standard_t(2, size=n) for _ in range(2 + n_given)]
    rows = permutations((seed,), range(1, 18), n)
    memory = 12 * n * lists * (2 if n_given > 0 else 1)
    with list_bytes(memory):
        quick, exact = both(KSG(k=k), columns, rows)
    assert quick.tolist() == exact.tolist()


@pytest.mark.parametrize("n_given", [0, 1, 3])
def test_ranks_of_32_bits(monkeypatch, n_given):
    monkeypatch.setattr(spaces, "MAX_UINT16_SAMPLES", 0)
    rng = np.random.default_rng(n_given)
    columns = [rng.normal(size=420) for _ in range(2 + n_given)]
    rows = permutations((7,), range(1, 20), 420)
    with list_bytes(12 * 420 * 40):
        quick, exact = both(KSG(), columns, rows)
    assert quick.tolist() == exact.tolist()


def test_many_samples():
    """Beyond 65,535 samples ranks have 32 bits."""
    x, y = np.random.default_rng(0).normal(size=(2, MAX_UINT16_SAMPLES + 30))
    columns = x, x + y
    rows = permutations((7,), range(1, 3), len(x))
    rows[0] = np.arange(len(x))
    scorer = KSG().bind(Block((column(columns[1]),)), Block())
    values = scorer.score(Batch(Block((column(x),)), rows))
    assert values[0] == pytest.approx(np.log(2) / 2, abs=0.01)
    assert values[1] == pytest.approx(0.0, abs=0.01)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 600),
    n_axes=st.integers(1, 5),
    length=st.integers(1, 300),
    digits=st.sampled_from([None, 1, 0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_neighbours_are_the_nearest_ones(n, n_axes, length, digits, seed):
    values = np.random.default_rng(seed).normal(size=(n_axes, n))
    values = values if digits is None else np.round(values, digits)
    values = np.ascontiguousarray(values[:, spatial_order(values)])
    space = Space(values, np.full(n_axes, np.inf))
    lists = list_neighbours(space, bounding_boxes(space), length)
    apart = np.abs(values[:, :, np.newaxis] - values[:, np.newaxis]).max(axis=0)
    listed = np.take_along_axis(apart, lists.sample.astype(np.int64), axis=1)
    np.testing.assert_array_equal(listed, lists.distance)
    np.fill_diagonal(apart, np.inf)
    # Keys omit the last digits: of samples that differ in those only, any may be listed.
    nearest = np.sort(apart, axis=1)[:, : min(length, n - 1)]
    np.testing.assert_allclose(lists.distance, nearest, rtol=1e-9)
    np.put_along_axis(apart, lists.sample.astype(np.int64), np.inf, axis=1)
    assert (apart.min(axis=1) >= lists.radius * (1 - 1e-15)).all()


@njit(**{**INNER, "cache": False})
def ranks_around(grid, here, limit):
    """Search within compiled code, as kernels do: arrays must not leave it uncounted."""
    filled = fill_grid(grid)
    first, last = find_interval(filled, here, limit)
    return filled.rank[first], filled.rank[last]


@settings(max_examples=300, deadline=None)
@given(
    values=st.lists(st.integers(-40, 40), min_size=1, max_size=60),
    unit=st.sampled_from([0.1, 1 / 3, 1e-3, 7.0]),
    limit=st.integers(0, 60),
    seed=st.integers(0, 2**32 - 1),
)
def test_grid_index(values, unit, limit, seed):
    """Intervals are those of the rounded differences."""
    ascending = np.sort(np.array(values) * unit)
    here = np.random.default_rng(seed).choice(ascending)
    near = np.flatnonzero(np.abs(ascending - here) < limit * unit)
    of_levels = ranks_around(new_grid(ascending), here, limit * unit)
    for first, last in (of_levels, interval_around(ascending, here, limit * unit)):
        assert last - first == len(near)
        assert not len(near) or (first, last) == (near[0], near[-1] + 1)


@given(n=st.integers(1, 500), n_axes=st.integers(0, 4), seed=st.integers(0, 2**32 - 1))
def test_the_spatial_order_has_every_sample_once(n, n_axes, seed):
    points = np.random.default_rng(seed).integers(0, 9, size=(n_axes, n)).astype(float)
    assert sorted(spatial_order(points)) == list(range(n))


def test_candidates_scored_together(monkeypatch):
    """Candidates of several kernels have the values that they have alone, in order."""
    monkeypatch.setattr(binding, "STACKED_VALUES", 250)  # two candidates at a time
    rng = np.random.default_rng(0)
    y, *continuous = (Block((column(values),)) for values in rng.normal(size=(6, 100)))
    tied = Block((column(rng.integers(0, 5, 100)),))
    candidates = [*continuous[:3], tied, continuous[3] + tied, *continuous[3:]]
    scorer, rows = KSG().bind(y, Block()), permutations((7,), range(5), 100)
    together = scorer.score_together(candidates, rows)
    alone = [scorer.score(Batch(candidate, rows)) for candidate in candidates]
    assert together.tolist() == np.array(alone).tolist()


@pytest.mark.parametrize("estimator", [KSG(), Mixed()])
def test_one_column_given_sorted_or_by_lists(monkeypatch, estimator):
    """The value does not depend on how S is searched."""
    rng, values = np.random.default_rng(0), []
    y, s, x = (Block((column(numbers),)) for numbers in rng.normal(size=(3, 100)))
    tied = Block((column(rng.integers(0, 5, 100)),))
    rows = permutations((7,), range(20), 100)
    for fewest in (0, 101):
        monkeypatch.setattr(binding, "MIN_SORTED_SAMPLES", fewest)
        values.append(estimator.bind(y, s).score_together([x, tied, x + tied], rows).tolist())
    assert values[0] == values[1]
