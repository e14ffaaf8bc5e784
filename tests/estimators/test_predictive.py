"""Predictive information: the naive twin, identities, known values, extremes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

import naive_predictive
from pidselect.data import Block, Column
from pidselect.estimators import evidence, predictive
from pidselect.estimators.predictive import gains, information

seeds = st.integers(0, 2**32 - 1)
NOTHING = Block()


def block(values, feature_type="continuous", name="x"):
    return Block((Column(name, feature_type, np.asarray(values, dtype=float)),))


def label(values, name="x"):
    return block(values, "nominal", name)


def entropy(values):
    share = np.unique(values, return_counts=True)[1] / len(values)
    return -(share * np.log2(share)).sum()


def mixed_table(rng, n, n_levels=3):
    """Draw a target's cause and columns of all sorts, some with missing values."""
    z = rng.normal(size=(3, n))
    columns = [
        block(z[0], name="number"),
        block(np.round(2 * z[1]), "ordinal", "grade"),
        label(rng.integers(0, 4, n), "label"),
        label(z[0] > 0, "flag"),
        block(np.where(rng.random(n) < 0.2, np.nan, z[2]), name="with gaps"),
        block(np.exp(z[1])) + label(rng.integers(0, 2, n), "second"),
    ]
    cause = z[0] + z[1] ** 2 + z[0] * z[2] + rng.normal(size=n)
    return (
        columns,
        cause,
        np.searchsorted(np.quantile(cause, np.linspace(0, 1, n_levels + 1)[1:-1]), cause),
    )


# --- the twin -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_levels", "few"), [(0, 100), (2, 100), (2, 20), (4, 20)])
@drawn(seeds)
@settings(max_examples=6)
def test_gains_equal_those_of_the_naive_twin(n_levels, few, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evidence, "FEW_FUNCTIONS", few)
        check_against_twin(n_levels, seed)


def check_against_twin(n_levels, seed):
    rng = np.random.default_rng(seed)
    columns, cause, classes = mixed_table(rng, 50, max(n_levels, 2))
    target = label(classes, "y") if n_levels else block(cause, name="y")
    start = int(rng.integers(0, 3))
    given, candidates = sum(columns[:start], NOTHING), columns[start:]
    found = gains(target, given, candidates)
    for candidate, one in zip(candidates, found, strict=True):
        expected = naive_predictive.gains(target, given, candidate, predictive.MAX_PRODUCTS)
        np.testing.assert_allclose(one, expected, atol=1e-5)


# --- identities -----------------------------------------------------------------------------------


@pytest.mark.parametrize("is_class", [False, True])
@drawn(seeds)
@settings(max_examples=8)
def test_information_along_a_path_adds_up(is_class, seed):
    rng = np.random.default_rng(seed)
    columns, cause, classes = mixed_table(rng, 80)
    target = label(classes) if is_class else block(cause)
    order = rng.permutation(len(columns))
    given, total = NOTHING, np.zeros(80)
    for place in order:
        total += gains(target, given, [columns[place]])[0]
        given += columns[place]
    joint = gains(target, NOTHING, [sum(columns, NOTHING)])[0]
    np.testing.assert_allclose(total, joint, atol=1e-6)


@pytest.mark.parametrize("is_class", [False, True])
@drawn(seeds)
@settings(max_examples=8)
def test_rows_units_and_blocks_change_nothing(is_class, seed):
    rng = np.random.default_rng(seed)
    columns, cause, classes = mixed_table(rng, 80)
    target = label(classes) if is_class else block(cause)
    found = gains(target, columns[0], columns[1:])
    rows = rng.permutation(80)
    moved = gains(target.take(rows), columns[0].take(rows), [c.take(rows) for c in columns[1:]])
    np.testing.assert_allclose(moved, found[:, rows], atol=1e-6)
    number = columns[0].columns[0].values
    target = target if is_class else block(np.exp(cause))
    same = gains(target, block(1e6 * number - 3.0), columns[1:])
    np.testing.assert_allclose(same, found, atol=1e-6)
    alone = [gains(target, columns[0], [column])[0] for column in columns[1:]]
    np.testing.assert_allclose(alone, found, atol=1e-6)


@drawn(seeds, st.integers(2, 20), st.integers(10, 120))
@settings(max_examples=30)
def test_information_about_classes_is_at_most_their_entropy(seed, n_levels, n):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_levels, n)
    copies = [label(y), block(y + 0.01 * rng.normal(size=n)), block(np.where(y > 1, np.nan, y))]
    total, given = 0.0, NOTHING
    for copy in copies:
        total += gains(label(y), given, [copy]).mean()
        given += copy
        assert total <= entropy(y) + 1e-9


def test_several_targets_are_a_chain():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 200))
    first, second = label(x > 0, "first"), block(x + noise, name="second")
    found = gains(first + second, NOTHING, [block(x)])
    alone = gains(first, NOTHING, [block(x)]) + gains(second, first, [block(x)])
    np.testing.assert_allclose(found, alone, atol=0.05)
    assert found.mean() == pytest.approx(alone.mean(), abs=1e-9)


def test_many_candidates_are_predicted_like_few_if_s_is_empty():
    rng = np.random.default_rng(0)
    y, columns = rng.normal(size=100), rng.normal(size=(40, 100))
    candidates = [block(column + y * (j % 2)) for j, column in enumerate(columns)]
    found = gains(block(y), NOTHING, candidates)
    few = gains(block(y), NOTHING, candidates[:5])
    np.testing.assert_allclose(found[:5], few, atol=1e-9)


# --- known values ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [300, 1000])
def test_a_flag_with_errors(n):
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = rng.random(n) < 0.5
        flags = [y ^ (rng.random(n) < rate) for rate in (0.03, 0.2)]
        found.append(information(label(y), NOTHING, [label(flag) for flag in flags]))
    np.testing.assert_allclose(np.mean(found, axis=0), [0.806, 0.278], atol=0.05)


def test_noise_has_none():
    found = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        s, y, *noise = rng.normal(size=(7, 300))
        y += np.sin(2 * s)
        candidates = [*map(block, noise), label(rng.integers(0, 4, 300))]
        found.append(
            [
                gains(target, block(s), candidates).mean(axis=1)
                for target in (block(y), label(y > 0))
            ]
        )
    assert np.abs(np.mean(found, axis=(0, 2))).max() <= 0.007


def test_the_number_is_more_informative_than_the_label():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 500))
    y = x + 0.7 * noise
    in_thirds = np.searchsorted([-0.5, 0.5], x + rng.normal(size=500))
    of_label, of_number = information(block(y), NOTHING, [label(in_thirds), block(x)])
    assert 0.1 < of_label < 0.4 < of_number < 0.9


def test_dependence_of_all_sorts_is_found():
    rng = np.random.default_rng(0)
    x, s, noise = rng.normal(size=(3, 500))
    cases = {
        "curve": (NOTHING, block(np.sin(3 * x) + 0.3 * noise), 0.8),
        "product": (block(s), block(x * s + 0.3 * noise), 0.5),
        "xor": (label(s > 0), label((x > 0) ^ (s > 0)), 0.3),
        "variance": (NOTHING, block(noise * np.exp(0.8 * x)), 0.2),
        "counts": (NOTHING, block(rng.poisson(np.exp(x)), "ordinal"), 0.3),
    }
    for name, (given, target, least) in cases.items():
        assert information(target, given, [block(x)])[0] > least, name


# --- extremes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 10, 40])
def test_determined_targets_have_finite_gains(n):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    candidates = [
        block(x),
        block(x**3),
        label(x > np.median(x)),
        block(np.zeros(n)),
        label(np.arange(n)),
    ]
    for target in (
        block(x),
        block(1e300 * x),
        label(x > np.median(x)),
        label(np.arange(n)),
        block(np.ones(n)),
    ):
        for given in (NOTHING, block(x), block(x) + block(-x)):
            found = gains(target, given, candidates)
            assert np.isfinite(found).all()
            assert found.mean(axis=1).max() <= np.log2(n) + 1e-9


def test_missing_values():
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 300))
    y = np.where(rng.random(300) < 0.2, np.nan, x + noise)
    groups = np.arange(300) % 3
    found = gains(block(y), NOTHING, [block(x), block(np.full(300, np.nan))], groups)
    kept = np.flatnonzero(~np.isnan(y))
    of_kept = gains(block(y[kept]), NOTHING, [block(x[kept])], groups[kept])
    np.testing.assert_allclose(found[0, kept], of_kept[0], atol=1e-9)
    assert (found[:, np.isnan(y)] == 0).all()
    assert (found[1] == 0).all()
    is_missing = label(np.where(noise > 0, 0.0, np.nan))
    assert information(is_missing, NOTHING, [block(noise)])[0] > 0.8
    assert information(block(noise), NOTHING, [is_missing])[0] > 0.5
    assert (gains(block(np.full(300, np.nan)), NOTHING, [block(x)]) == 0).all()


def test_groups_are_part_of_s():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 5, 300)
    y = 3.0 * groups + rng.normal(size=300)
    candidate = [block(groups + 0.1 * rng.normal(size=300))]
    assert information(block(y), NOTHING, candidate)[0] > 1.0
    assert information(block(y), NOTHING, candidate, groups)[0] < 0.05


def test_no_candidates():
    assert gains(block(np.arange(20.0)), NOTHING, []).shape == (0, 20)


def test_the_module_imports_no_compiler():
    code = (
        "import runpy, sys; runpy.run_path(sys.argv[1]);"
        "sys.exit('numba' in sys.modules or 'llvmlite' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(predictive.__file__)]
    assert subprocess.run(command, check=False).returncode == 0
