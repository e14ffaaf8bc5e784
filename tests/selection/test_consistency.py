"""Selections of the default test agree with themselves, on tables of all sorts."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from systems import quick

from pidselect.significance import staged

pytestmark = [
    pytest.mark.filterwarnings("ignore::pidselect.exceptions.PIDSelectWarning"),
    pytest.mark.filterwarnings("ignore:skipped columns:UserWarning"),
]

ALPHA, N_TABLES, PART = 0.05, 200, 20


def table(seed):
    """Return a random table, a target, groups of rows or None, and settings."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 50))
    makers = {
        "number": lambda: rng.normal(size=n),
        "heavy": lambda: rng.standard_cauchy(n),
        "count": lambda: rng.poisson(3, n),
        "integer": lambda: rng.integers(0, 1000, n),
        "zeros": lambda: np.where(rng.random(n) < 0.5, 0.0, rng.normal(size=n)),
        "flag": lambda: rng.random(n) < 0.3,
        "rare": lambda: rng.random(n) < 0.06,
        "label": lambda: rng.choice(list("abcd"), n, p=[0.5, 0.3, 0.1, 0.1]),
        "gaps": lambda: np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
        "constant": lambda: np.ones(n),
    }
    kinds = rng.choice(list(makers), 5)
    columns = {f"{kind}{place}": makers[kind]() for place, kind in enumerate(kinds)}
    X = pd.DataFrame(columns)
    codes = X.apply(lambda values: pd.factorize(values, sort=True)[0]).to_numpy(dtype=float)
    codes = (codes - codes.mean(axis=0)) / np.maximum(codes.std(axis=0), 1.0)
    X["copy"], X["noisy"] = X.iloc[:, 0], codes[:, 1] + 0.3 * rng.normal(size=n)
    signal = (
        codes[:, 0]
        + codes[:, 1] * rng.choice([0, 1, 3])
        + rng.choice([0.2, 1, 50]) * (rng.normal(size=n))
    )
    y = {
        "number": signal,
        "two": np.where(signal > np.median(signal), "yes", "no"),
        "three": pd.cut(signal, 3, labels=["low", "mid", "high"]).astype(str),
        "count": np.round(3 * signal),
    }[rng.choice(["number", "number", "two", "three", "count"])]
    groups = np.arange(n) % 8 if rng.random() < 0.2 else None
    settings = {"missing": "category", "lookahead": 1, "n_permutations": 99}
    if seed % 10 == 0:
        settings |= {"lookahead": "auto", "n_permutations": "auto"}
    if rng.random() < 0.2:
        settings["feature_groups"] = {"pair": [X.columns[1], X.columns[2]]}
    elif rng.random() < 0.2:
        settings["fixed_features"] = [X.columns[2]]
    return X, y, groups, settings


@cache
def fitted(seed, select="minimal"):
    X, y, groups, settings = table(seed)
    return quick(**settings, select=select).fit(X, y, groups)


def assert_agrees(selector):
    """Support, ranks, roles and p-values are of the same decisions."""
    record, names = selector.selection_, list(selector.feature_types_)
    selected = {names[place] for place in selector.selected_}
    assert [names[place] for place in np.flatnonzero(selector.support_)] == [
        name for name in names if name in selected
    ]
    assert selector.n_features_ == selector.support_.sum() == len(selector.selected_)
    np.testing.assert_array_equal(selector.ranking_ == 1, selector.support_)
    others = sorted(selector.ranking_[~selector.support_])
    assert others == list(range(2, 2 + len(others)))
    roles = selector.roles_
    for name in record.features:
        assert roles[name] == "strongly relevant"
        assert 0 < record.p_values[name] <= ALPHA
        if name in names:
            assert selector.pvalues_[names.index(name)] == record.p_values[name]
    for name in record.fixed_features:
        assert roles[name] == "fixed"
    first = record.marginal or next((s for s in record.steps if s.phase == "forward"), None)
    p_of = {} if first is None else dict(zip(first.candidates, first.p_values, strict=True))
    for name, role in roles.items():
        if role == "weakly relevant":
            assert p_of[name] <= ALPHA
        if role == "irrelevant":
            assert p_of[name] > ALPHA
    for step in record.tests:
        assert not np.isnan(step.p_values).any()
        assert step.accepted == (step.p_value <= step.alpha) or step.jointly_included
        known = np.isfinite(step.values)
        assert (np.array(step.values)[known] >= 0).all()
    tested = [names.index(name) for name in p_of if name in names]
    assert np.isfinite(selector.scores_[tested]).all()


@pytest.mark.parametrize("part", range(N_TABLES // PART))
def test_both_modes_agree_with_themselves_and_each_other(part):
    for seed in range(part * PART, (part + 1) * PART):
        minimal, relevant = fitted(seed), fitted(seed, "relevant")
        assert_agrees(minimal)
        assert_agrees(relevant)
        record, tests = relevant.selection_, relevant.selection_.marginal
        assert record.features == minimal.selection_.features
        assert record.steps == minimal.selection_.steps
        assert (minimal.support_ <= relevant.support_).all()
        expected = {*record.features}
        if tests is not None:
            pairs = zip(tests.candidates, tests.p_values, strict=True)
            expected |= {name for name, p in pairs if p <= ALPHA}
        copies = {copy for copy, original in record.duplicates.items() if original in expected}
        assert {*record.selected} == expected | copies
        roles = relevant.roles_
        assert all(roles[name] in ("weakly relevant", "duplicate") for name in record.also_relevant)
        found = {name for name, role in roles.items() if role.endswith("ly relevant")}
        assert found == expected


@pytest.mark.parametrize("seed", range(0, N_TABLES, 19))
def test_the_same_for_any_workers(seed):
    X, y, groups, settings = table(seed)
    for select in ("minimal", "relevant"):
        again = quick(**settings, select=select, n_jobs=2).fit(X, y, groups)
        expected = fitted(seed, select)
        assert again.selection_ == expected.selection_
        for name in ("selected_", "ranking_", "scores_", "pvalues_"):
            np.testing.assert_array_equal(getattr(again, name), getattr(expected, name))
        assert again.roles_ == expected.roles_


@pytest.mark.parametrize("seed", range(1, N_TABLES, 19))
def test_the_order_of_rows_does_not_change_statistics(seed):
    """Permutations are of row numbers, so that p-values differ by the random error."""
    X, y, groups, settings = table(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    shuffled = quick(**settings).fit(
        X.iloc[order].reset_index(drop=True), y[order], None if groups is None else groups[order]
    )
    steps = [one.selection_.steps[:1] for one in (fitted(seed), shuffled)]
    for step, again in zip(*steps, strict=True):
        if step.estimators == again.estimators and "local" not in step.estimators:
            np.testing.assert_allclose(again.scores, step.scores, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(2, N_TABLES, 19))
def test_the_names_of_levels_do_not_matter(seed):
    """Their order does, as it decides between levels that are as frequent."""
    X, y, groups, settings = table(seed)
    names = {"a": "ape", "b": "bee", "c": "cat", "d": "dog"}
    renamed = X.map(lambda value: names.get(value, value) if isinstance(value, str) else value)
    again, expected = quick(**settings).fit(renamed, y, groups), fitted(seed)
    assert again.selection_.features == expected.selection_.features
    np.testing.assert_allclose(again.pvalues_, expected.pvalues_)


# --- nothing to find -----------------------------------------------------------------------------


def fixed_numbers():
    rng = np.random.default_rng(0)
    first, second, noise = rng.normal(size=(3, 80))
    return first, second, noise


def test_a_candidate_that_s_determines_has_p_1():
    first, second, noise = fixed_numbers()
    X = np.column_stack([first, second, first - 2 * second, noise])
    y = first + second + 0.5 * np.random.default_rng(1).normal(size=80)
    step = quick(fixed_features=[0, 1]).fit(X, y).selection_.steps[0]
    assert step.p_values[step.candidates.index("x2")] == 1.0
    labels = np.random.default_rng(2).integers(0, 6, 80)
    X = np.column_stack([labels, labels // 2, labels % 2]).astype(str)
    step = quick(fixed_features=[0]).fit(X, y + labels).selection_.steps[0]
    assert step.p_values == (1.0, 1.0)


@pytest.mark.parametrize("is_class", [False, True])
def test_where_s_leaves_nothing_of_the_target_all_have_p_1(is_class):
    first, second, noise = fixed_numbers()
    label = np.random.default_rng(2).integers(0, 3, 80)
    fixed = [label, label] if is_class else [first, second]
    y = np.array(list("abc"))[label] if is_class else 2 * first + second
    X = pd.DataFrame({"s": fixed[0].astype(str) if is_class else first, "t": second, "x": noise})
    X["z"] = noise**2 + second**3
    step = quick(fixed_features=["s", "t"]).fit(X, y).selection_.steps[0]
    assert step.p_values == (1.0, 1.0)


@pytest.mark.parametrize("everywhere", [False, True])
def test_a_statistic_that_is_nan_is_never_significant(monkeypatch, everywhere):
    """Nor does it make others significant."""
    original = staged.task_statistics

    def with_nan(*task):
        observed, names, null = original(*task)
        observed[0] = np.nan
        if everywhere:
            null = np.array(null)
            null[0] = np.nan
        return observed, names, null

    X = np.random.default_rng(0).normal(size=(80, 3))
    y = np.random.default_rng(3).normal(size=80)
    expected = quick(lookahead=1).fit(X, y + X[:, 0]).selection_
    assert expected.features == ("x0",)
    monkeypatch.setattr(staged, "task_statistics", with_nan)
    selector = quick(lookahead=1).fit(X, y + X[:, 0])
    assert selector.selection_.features == ()
    assert selector.selection_.steps[0].p_values[0] == 1.0
