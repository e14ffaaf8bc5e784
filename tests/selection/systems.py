"""Small systems with a known answer, and a selector that is quick on them."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np
import pytest
import sklearn
from sklearn.utils.fixes import parse_version

from pidselect import PIDSelector
from pidselect.data import Block, Column, read_dataset
from pidselect.estimators import Discrete
from pidselect.selection.context import NamedEstimator, SelectionContext
from pidselect.selection.fit import choose_estimator, make_context, make_plan, select_features
from pidselect.selection.pool import Feature, build_pool
from pidselect.selection.validation import check_parameters

#: Checks of scikit-learn that fail by themselves, with the reason.
EXPECTED_FAILURES = {}
if parse_version(sklearn.__version__) < parse_version("1.7.2"):
    EXPECTED_FAILURES["check_positive_only_tag_during_fit"] = "it subtracts a float from integers"


def quick(criterion="cmi", estimator="auto", **settings):
    """Return a selector with a fixed seed, and few permutations unless the score test decides."""
    is_scored = estimator == "auto" and criterion in ("cmi", "mi")
    n = {"n_permutations": "auto" if is_scored else 39}
    return PIDSelector(criterion, estimator, **{**n, "random_state": 0, **settings})


def select(selector, X, y, plan=None, **changes):
    """Return features, steps and final p-values as `fit` does, in a changed plan or executor."""
    dataset, parameters = read_dataset(X, y), check_parameters(selector)
    estimator = choose_estimator(selector, parameters, dataset)
    by_rank = estimator.has("uses_ranks_only")
    pool = build_pool(
        dataset.table, selector.fixed_features, selector.feature_groups, None, by_rank
    )
    _, _, context = make_context(parameters, dataset, estimator, None, selector.random_state)
    context = replace(context, executor=replace(context.executor, **changes))
    plan = replace(make_plan(parameters, pool), **(plan or {}))
    return select_features(context, pool, plan)


#: The settings of the paper: one estimator, independent global permutations of each candidate.
PAPER = {
    "estimator": "ksg",
    "surrogates": "global",
    "shared_permutations": False,
    "backward": "minimum",
}


def gates(n=200, seed=0):
    """y = (x0 and x1) or x2; x3 and x4 are noise. All of them bits."""
    X = np.random.default_rng(seed).integers(0, 2, (n, 5))
    return X, (X[:, 0] & X[:, 1]) | X[:, 2]


def numbers(n=100, seed=0):
    """y = x0 + x1 + noise; x2 and x3 are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=n)


def xor(n=200, seed=0):
    """y = x0 xor x1, each with zero marginal information; x2 is noise."""
    first, second = np.tile([0, 0, 1, 1], n // 4), np.tile([0, 1, 0, 1], n // 4)
    noise = np.random.default_rng(seed).integers(0, 2, n)
    return np.column_stack([first, second, noise]), first ^ second


def noise(n=100, seed=0, n_columns=3):
    """No column is informative about y."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, n_columns)), rng.normal(size=n)


def wide(n=40, seed=0):
    """y = x0 + noise; 109 other continuous columns and 10 bits are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 120))
    X[:, 110:] = X[:, 110:] > 0
    return X, X[:, 0] + 0.3 * rng.normal(size=n)


def season(n=150, seed=0):
    """Columns of several dtypes, by name: y depends on wind and on port, not on the others."""
    rng = np.random.default_rng(seed)
    wind, port = rng.normal(size=n), rng.choice(["north", "south"], n)
    columns = {
        "boats": rng.poisson(5, n).tolist(),
        "wind": wind.tolist(),
        "flag": (rng.random(n) < 0.5).tolist(),
        "port": port.tolist(),
    }
    return columns, wind + 3 * (port == "north") + 0.3 * rng.normal(size=n)


def chosen(selector):
    """Return the names of the features of a fitted selector, in the order of inclusion."""
    return list(selector.selection_.features)


def bits(n=240, seed=1, n_columns=6):
    """Independent bits."""
    return np.random.default_rng(seed).integers(0, 2, (n, n_columns))


def parity(order, **settings):
    """Bits of which the first few make the parity y; the others are noise."""
    X = bits(**settings)
    return X, X[:, :order].sum(axis=1) % 2


def features_of(X, feature_type="ordinal"):
    """Return every column as a feature."""
    return [
        Feature(
            f"x{j}", (j,), Block((Column(f"x{j}", feature_type, np.ascontiguousarray(v, float)),))
        )
        for j, v in enumerate(X.T)
    ]


def context_for(y, named=None, feature_type="ordinal", **settings):
    """Return the context of a selection for y, by counts unless an estimator is given."""
    target = Block((Column("y", feature_type, np.asarray(y, dtype=float)),))
    return SelectionContext(target, named or NamedEstimator("discrete", Discrete()), **settings)


#: The values of a permutation of a scan, by system: one pair of two bits, and of two numbers, once
#: in four levels and once in two; and the pair with each selected feature. Each of these has a
#: block and a family, and every block has a value of all families.
N_SCANNED = {gates: 2 * 2, numbers: 3 * 3}


def n_computed(selection, n_scanned=0):
    """Return the number of computed values: candidates, permutations, tests.

    After sequential tests, final p-values are a test of their own of 10 / alpha permutations.
    """
    settings = selection.settings
    count = 0
    for step in selection.steps:
        if not step.unit:  # the score test reports candidates
            count += len(step.candidates)
            continue
        n_given = len(step.conditioning_set) - (
            step.phase == "backward"
        )  # there, all but the one tested
        is_exact = step.surrogates not in settings.surrogates  # within levels, by default
        # With nothing given, all are alike.
        n_tests = len(settings.surrogates) if n_given and not is_exact else 1
        if step.phase != "backward" and not step.accepted and not is_exact:
            n_tests = min(n_tests, 1 + settings.surrogates.index(step.surrogates))
        if step.phase == "lookahead":
            count += n_tests * n_scanned * (1 + step.n_permutations)
            continue
        count += n_tests * len(step.candidates) * (1 + step.n_permutations)
    if settings.n_permutations == "auto" and selection.steps[0].unit:
        n_known = len(selection.fixed_features) + len(selection.features)
        n_tests = len(settings.surrogates) if n_known > 1 and not is_exact else 1
        count += n_tests * len(selection.features) * (1 + round(10 / settings.alpha))
    return count


def assert_same(steps, expected):
    """The same decisions as the twin's, and values that agree to 1e-10 (bits against nats)."""
    assert len(steps) == len(expected)
    for step, twin in zip(steps, expected, strict=True):
        assert step.phase == twin.phase
        assert step.candidates == tuple(f"x{j}" for j in twin.candidates)
        np.testing.assert_allclose(np.multiply(step.scores, log(2)), twin.values, atol=1e-10)
        assert step.unit == "bit"
        np.testing.assert_allclose(step.values, np.maximum(step.scores, 0.0), atol=1e-12)
        assert step.chosen == f"x{twin.chosen}"
        if twin.critical_value is None:
            assert step.critical_value is None
        else:
            assert step.critical_value * log(2) == pytest.approx(twin.critical_value, abs=1e-10)
        assert step.p_value == twin.p_value
        assert step.n_permutations == len(twin.null)
        assert step.accepted == twin.accepted
