"""The interaction scan equals plain contingency tables, whatever its order of work."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import naive_interactions as naive
from pidselect.data import Block, Column
from pidselect.significance import interaction_products, interactions
from pidselect.significance.interactions import (
    InteractionScan,
    adjusted_quantile,
    count_levels,
    few_levels,
    target_classes,
)
from pidselect.significance.rng import permutations

#: n ln n is rounded, in each cell of a table.
ROUNDING = 1e-5


def column(values, feature_type="continuous", name="x"):
    return Column(name, feature_type, np.ascontiguousarray(values, dtype=np.float64))


def block(*columns):
    return Block(tuple(columns))


def values_of(kind, n, rng):
    """Return a column of n samples, and its type."""
    match kind:
        case "normal":
            return column(rng.normal(size=n))
        case "few":
            return column(rng.integers(0, rng.integers(2, 8), n), "ordinal")
        case "labels":
            return column(rng.integers(0, rng.integers(2, 8), n), "nominal")
        case "ties":
            return column(np.round(rng.exponential(size=n)))
        case "ceiling":
            return column(np.minimum(rng.normal(size=n), -0.7))
        case "missing":
            return column(np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)))
        case "constant":
            return column(np.zeros(n))
    raise ValueError(kind)


KINDS = ["normal", "few", "labels", "ties", "ceiling", "missing", "constant"]


@st.composite
def systems(draw, min_samples=2, kinds=KINDS):
    """Return features of one or several columns, and a target."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(min_samples, 150))
    features = [
        block(*(values_of(kind, n, rng) for kind in some))
        for some in draw(
            st.lists(
                st.lists(st.sampled_from(kinds), min_size=1, max_size=2), min_size=1, max_size=5
            )
        )
    ]
    n_classes = draw(st.integers(2, 7))
    target = draw(st.sampled_from(["labels", "normal", "ties", "ceiling", "joint", "xor"]))
    if target == "labels":
        y = block(column(rng.integers(0, n_classes, n), "nominal"))
    elif target == "joint":
        y = block(values_of("normal", n, rng), values_of("labels", n, rng))
    elif target == "xor":
        levels = [few_levels(feature.columns[0], 2) for feature in features]
        y = block(column(sum(levels) % 2, "ordinal"))
    else:
        y = block(values_of(target, n, rng))
    return features, y


def is_nominal(column):
    return column.feature_type == "nominal"


def twin(features, target, strata=None, with_triples=True):
    """Return the families and the classes of the naive scan."""
    owner = [place for place, feature in enumerate(features) for _ in feature.columns]
    columns = [c for feature in features for c in feature.columns]
    several, two = (
        [naive.few_levels(c.values.tolist(), is_nominal(c), n) for c in columns] for n in (4, 2)
    )
    y = naive.target_classes([(c.values.tolist(), is_nominal(c)) for c in target.columns], strata)
    return naive.families(several, two, owner, len(set(y)), with_triples), y


def scanned(scan, rows):
    """Return the statistic of every permutation."""
    return scan.statistic(np.stack([scan.largest(b, rows)[0] for b in range(len(scan.blocks))]))


def some_rows(n_samples, n_permutations=3):
    """Return the data as observed, then permutations."""
    shuffled = permutations((7,), range(1, n_permutations + 1), n_samples)
    return np.concatenate([np.arange(n_samples, dtype=np.int32)[np.newaxis], shuffled])


# --- the scan ------------------------------------------------------------------------------------


@given(systems(), st.booleans())
def test_scan_equals_the_twin(system, with_triples):
    features, target = system
    scan = InteractionScan.of(features, target, None, "all" if with_triples else "none")
    tested, classes = twin(features, target, None, with_triples)
    assert scan.classes.tolist() == classes
    if len(set(classes)) < 2 or not tested:
        assert scan.tables == ()
        return
    assert scan.n_tables == sum(family.n_tables for family in tested)
    rows = some_rows(len(classes))
    found = scanned(scan, rows)
    for value, row in zip(found, rows, strict=True):
        permuted = np.empty(len(row), dtype=np.int64)
        permuted[row] = classes
        assert value == pytest.approx(naive.statistic(tested, permuted.tolist())[0], abs=ROUNDING)


def by_kernels(scan):
    """Return the same scan, by compiled kernels however small it is."""
    other = replace(scan)
    vars(other)["is_small"] = False
    return other


@given(systems(), st.sampled_from(["none", "given", "all"]), st.integers(1, 40), st.integers(1, 99))
def test_matrix_products_equal_the_kernels(system, triples, n_permutations, n_numbers):
    """To the bit, the first of equal tuples included, whatever is computed at a time."""
    (first, *features), target = system
    scan = InteractionScan.of(features, target, None, triples, first)
    rows = some_rows(target.n_samples, n_permutations)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PERMUTATIONS", "SAMPLES", "SIZE"):
            patch.setattr(interaction_products, name, n_numbers)
        found = [scan.largest(number, rows) for number in range(len(scan.blocks))]
    assert not scan.tables or scan.is_small
    kernels = by_kernels(scan)
    for number, (values, tuples) in enumerate(found):
        expected_values, expected_tuples = kernels.largest(number, rows)
        np.testing.assert_array_equal(values, expected_values)
        np.testing.assert_array_equal(tuples, expected_tuples)


def test_equal_tuples():
    """Copies of columns: of the largest the first is found, by kernels as well."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, (3, 200))
    columns = [column(one, "nominal") for one in (*x, *x, x[0] > 1, x[1] > 1, x[2] > 1)]
    y = block(column(x[0] + x[1] + x[2] > 4, "nominal"))
    scan = InteractionScan.of([block(one) for one in columns], y, None, "all")
    rows = some_rows(200, 20)
    for number in range(len(scan.blocks)):
        found, expected = (one.largest(number, rows) for one in (scan, by_kernels(scan)))
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])


def test_what_is_computed_without_kernels(caplog):
    """Counts decide, and kernels are announced once."""
    rng = np.random.default_rng(0)
    y = block(column(rng.integers(0, 2, 500), "nominal"))
    features = [block(column(x)) for x in rng.normal(size=(80, 500))]
    caplog.set_level("INFO", "pidselect")
    assert InteractionScan.of(features, y, None, "none").is_small
    assert InteractionScan.of(features[:30], y, None, "all").is_small
    caplog.clear()
    scan = InteractionScan.of(features, y, None, "all")
    assert not scan.is_small
    assert not scan.is_small
    assert [str(scan.n_tables) in record.message for record in caplog.records] == [True]


@given(systems())
def test_tuples_are_those_with_the_largest_interaction(system):
    features, target = system
    scan = InteractionScan.of(features, target, None, "all")
    for number, (place, _) in enumerate(scan.blocks):
        values, tuples = scan.largest(number, some_rows(len(scan.classes), 0))
        several = [few_levels(c, 4) for f in features for c in f.columns]
        two = [few_levels(c, 2) for f in features for c in f.columns]
        owner = np.array([p for p, f in enumerate(features) for _ in f.columns])
        order = scan.tables[place].order
        for (own, df, _), value, found in zip(
            scan.families, values[:, 0], tuples[:, 0], strict=True
        ):
            if own != place:
                assert value == -inf
                assert (found == -1).all()
                continue
            if value < 0 and (found == -1).all():  # all tuples of this family are of one feature
                continue
            names = [int(one) for one in found if one >= 0]
            assert len(set(names)) == len(names) == order
            columns = two if place or order == 3 else several
            options = [np.flatnonzero(owner == name) for name in names]
            tables = np.stack(np.meshgrid(*options), axis=-1).reshape(-1, order)
            g = [
                naive.interaction([columns[c].tolist() for c in table], scan.classes.tolist())
                for table in tables
                if np.prod([columns[c].max() for c in table]) == df
            ]
            assert value == pytest.approx(max(g), abs=ROUNDING)


@pytest.mark.parametrize("triples", ["given", "all"])
@given(systems())
def test_triples_with_a_given_column(triples, system):
    """Two candidates and one given column, or three candidates; never two given columns."""
    (first, *features), target = system
    scan = InteractionScan.of(features, target, None, triples, first)
    places = [place for place, tables in enumerate(scan.tables) if tables.order == 3]
    owner = [-1 - place for place in range(len(first))]
    owner += [place for place, f in enumerate(features) for _ in f.columns]
    columns = [few_levels(c, 2).tolist() for f in (first, *features) for c in f.columns]
    usable = [c for c, levels in enumerate(columns) if len(set(levels)) > 1]
    tuples = [
        some
        for some in combinations(usable, 3)
        if len({owner[c] for c in some}) == 3
        and sum(owner[c] < 0 for c in some) in ((1,) if triples == "given" else (0, 1))
    ]
    if not tuples or not scan.classes.any():
        assert all(tables.order == 2 for tables in scan.tables) or not tuples
        return
    (family,) = (f for f, (place, _, _) in enumerate(scan.families) if place in places)
    for row in some_rows(len(scan.classes), 2):
        y = np.empty(len(row), dtype=np.int64)
        y[row] = scan.classes
        expected = max(naive.interaction([columns[c] for c in some], y.tolist()) for some in tuples)
        blocks = [b for b, (place, _) in enumerate(scan.blocks) if place in places]
        values = [scan.largest(b, row[np.newaxis])[0][family, 0] for b in blocks]
        assert max(values) == pytest.approx(expected, abs=ROUNDING)


@pytest.mark.parametrize("most", [0, interactions.MAX_PRODUCTS])
@pytest.mark.parametrize("block_size", [1, 7, 2**18])
def test_any_split_of_the_work_gives_the_same_values(block_size, most, monkeypatch):
    """To the bit: blocks of any size, and any batches of permutations."""
    rng = np.random.default_rng(5)
    kinds = [KINDS[place % len(KINDS)] for place in range(11)]
    features = [block(*(values_of(kind, 90, rng) for kind in (kind, "few"))) for kind in kinds]
    target = block(column(rng.integers(0, 3, 90), "nominal"))
    rows = some_rows(90, 40)
    expected = scanned(InteractionScan.of(features, target, None, "all"), rows)
    monkeypatch.setattr(interactions, "BLOCK_SIZE", block_size)
    monkeypatch.setattr(interactions, "MAX_PRODUCTS", most)
    scan = InteractionScan.of(features, target, None, "all")
    assert scan.is_small == (most > 0)
    n_blocks = len(scan.blocks)
    assert n_blocks == 3 if block_size == 2**18 else n_blocks > 10
    for tables in scan.tables:
        covered = [place for columns in tables.blocks() for place in columns]
        assert covered == list(range(tables.n_columns))
    for bounds in ([0, 41], [0, 1, 2, 41], [0, 16, 32, 41], [0, 5, 30, 41]):
        parts = [scanned(scan, rows[a:b]) for a, b in pairwise(bounds)]
        np.testing.assert_array_equal(np.concatenate(parts), expected)


@given(systems(kinds=["normal", "few", "ties", "missing", "ceiling"]), st.integers(0, 2**32))
def test_monotone_maps_and_the_order_of_samples_change_nothing(system, seed):
    features, target = system

    def mapped(column):
        return Column(column.name, column.feature_type, np.exp(column.values / 4) - 9)

    rows = some_rows(target.n_samples, 0)
    scan = InteractionScan.of(features, target, None, "all")
    monotone = InteractionScan.of(
        [block(*map(mapped, feature.columns)) for feature in features], target, None, True
    )
    order = np.random.default_rng(seed).permutation(target.n_samples)
    other = InteractionScan.of([f.take(order) for f in features], target.take(order), None, "all")
    assert len(other.tables) == len(monotone.tables) == len(scan.tables)
    if scan.tables:
        np.testing.assert_array_equal(scanned(monotone, rows), scanned(scan, rows))
        np.testing.assert_array_equal(scanned(other, rows), scanned(scan, rows))


def test_nothing_to_scan():
    rng = np.random.default_rng(0)
    x = block(column(rng.normal(size=50)))
    same = block(column(np.zeros(50)))
    y = block(column(rng.integers(0, 2, 50), "nominal"))
    for features, target in [([x], y), ([x, same], y), ([same, same], y), ([x, x], same), ([], y)]:
        scan = InteractionScan.of(features, target, None, "all")
        assert (scan.tables, scan.n_tables, scan.blocks, scan.families) == ((), 0, [], [])


def test_strong_interactions_are_ordered():
    """Far in the tail, where p-values are below the smallest float."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (4000, 3))
    wrong = rng.random(4000)
    features = [block(column(x, "ordinal")) for x in X.T]
    found = []
    for share in (0.3, 0.1, 0.0):
        y = block(column(X[:, 0] ^ X[:, 1] ^ (wrong < share), "ordinal"))
        scan = InteractionScan.of(features, y, None, "none")
        found.append(scanned(scan, some_rows(4000, 0))[0])
    assert np.isfinite(found).all()
    assert sorted(found) == found
    assert found[-1] > 60


# --- levels --------------------------------------------------------------------------------------


@given(st.sampled_from(KINDS), st.integers(1, 120), st.integers(2, 6), st.integers(0, 2**32))
def test_few_levels_equal_the_twin(kind, n, n_levels, seed):
    x = values_of(kind, n, np.random.default_rng(seed))
    levels = few_levels(x, n_levels)
    assert levels.tolist() == naive.few_levels(x.values.tolist(), is_nominal(x), n_levels)
    n_found = len(set(levels.tolist()))
    assert n_found == levels.max() + 1 <= n_levels
    assert (n_found > 1) == (x.levels() > 1)


# --- classes -------------------------------------------------------------------------------------


@given(
    st.lists(st.sampled_from(["normal", "few", "labels", "ties", "ceiling"]), min_size=1),
    st.integers(1, 80),
    st.integers(0, 5),
    st.integers(0, 2**32),
)
def test_target_classes_equal_the_twin(kinds, n, n_strata, seed):
    rng = np.random.default_rng(seed)
    target = block(*(values_of(kind, n, rng) for kind in kinds[:3]))
    strata = None
    if n_strata:
        strata = np.unique(rng.integers(0, n_strata, n), return_inverse=True)[1]
    classes = target_classes(target, strata)
    columns = [(c.values.tolist(), is_nominal(c)) for c in target.columns]
    expected = naive.target_classes(columns, None if strata is None else strata.tolist())
    assert classes.tolist() == expected
    order = rng.permutation(n)
    if np.bincount(target.codes()).max() == 1 or len(target.columns) == 1:
        again = target_classes(target.take(order), None if strata is None else strata[order])
        np.testing.assert_array_equal(again, classes[order])


# --- quantiles -----------------------------------------------------------------------------------


@given(st.floats(0.01, 600), st.integers(1, 45), st.integers(1, 10**6))
def test_quantiles_equal_the_twin(g, df, n_tables):
    found = float(adjusted_quantile(np.array([g]), df, n_tables)[0])
    assert found == pytest.approx(naive.quantile(g, df, n_tables), rel=1e-6, abs=1e-6)


def test_limits_of_quantiles():
    lowest = adjusted_quantile(np.array([0.0, -3.0, -inf]), 2, 5)
    np.testing.assert_allclose(lowest, norm.isf(1 - 2**-52))
    assert (adjusted_quantile(np.array([0.0, 0.1]), 1, 10**9) == lowest[0]).all()
    far = adjusted_quantile(np.array([1e3, 1e4, 1e6]), 1, 10**9)
    assert np.isfinite(far).all()
    assert (np.diff(far) > 0).all()


# --- counts --------------------------------------------------------------------------------------


@given(st.sampled_from(KINDS), st.integers(2, 60), st.integers(0, 99))
def test_a_column_has_at_most_the_levels_that_are_counted(kind, n, seed):
    x = values_of(kind, n, np.random.default_rng(seed))
    assert few_levels(x).max() + 1 <= count_levels(x)
