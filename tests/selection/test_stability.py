"""Selection frequencies over random subsamples."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.feature_selection import (
    SelectKBest,
    SelectorMixin,
    VarianceThreshold,
    f_regression,
)
from sklearn.linear_model import LinearRegression
from systems import noise, numbers, quick

from pidselect.selection.stability import (
    Stability,
    stability,
    stratify,
    subsample,
)


class FirstColumn(SelectorMixin, BaseEstimator):
    """Select the first column, and record the arguments of fit."""

    seen: list = []  # noqa: RUF012  (shared by clones)

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None, groups=None):
        self.n_features_in_ = X.shape[1]
        self.seen.append((np.asarray(X), y, groups, self.random_state))
        return self

    def _get_support_mask(self):
        return np.arange(self.n_features_in_) == 0


@pytest.fixture
def first_column(monkeypatch):
    monkeypatch.setattr(FirstColumn, "seen", [])
    return FirstColumn


# --- what is found ------------------------------------------------------------------------------


def test_features_that_matter_come_back():
    X, y = numbers(200)
    found = stability(quick(), X, y, n_subsamples=8, random_state=0)
    assert found.features == ("x0", "x1", "x2", "x3")
    assert found.most_frequent == ("x0", "x1")
    assert found.counts["x0"] == found.counts["x1"] == 8
    assert found.stability > 0.7
    assert () not in found.selections


def test_nothing_selected_is_counted_in_silence():
    X, y = noise(60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = stability(quick(alpha=0.026), X, y, n_subsamples=6, random_state=0)
    assert () in found.selections


def test_any_selector():
    X, y = numbers(80)
    found = stability(
        SelectKBest(f_regression, k=2), pd.DataFrame(X), y, n_subsamples=5, random_state=0
    )
    assert sum(found.frequencies.values()) == 2
    X = np.column_stack([X, np.ones(80)])
    found = stability(VarianceThreshold(), X, n_subsamples=3)
    assert found.most_frequent == ("x0", "x1", "x2", "x3")
    assert found.stability == 1


# --- which rows ---------------------------------------------------------------------------------


def test_halves_of_the_rows(first_column):
    X = np.arange(21.0)[:, np.newaxis]
    stability(first_column(), X, n_subsamples=30, random_state=0)
    halves = [rows.ravel() for rows, *_ in first_column.seen]
    assert {len(rows) for rows in halves} == {10}
    assert all((np.diff(rows) > 0).all() for rows in halves)  # in their order, none twice
    assert len({tuple(rows) for rows in halves}) == 30
    assert set(np.concatenate(halves)) == set(range(21))


def test_every_class_is_there(first_column):
    y = np.array(["often"] * 30 + ["rare"] * 3 + ["once"])
    stability(
        first_column(),
        np.arange(34.0)[:, np.newaxis],
        y,
        n_subsamples=10,
        sample_fraction=0.5,
        random_state=0,
    )
    for _, classes, *_ in first_column.seen:
        names, counts = np.unique(classes, return_counts=True)
        assert dict(zip(names, counts, strict=True)) == {"often": 15, "rare": 2, "once": 1}


def test_groups_stay_whole(first_column):
    groups = np.repeat(list("abcdef"), 5)
    X = np.repeat(np.arange(6.0), 5)[:, np.newaxis]
    stability(first_column(), X, X[:, 0] ** 2 / 3, n_subsamples=10, groups=groups, random_state=0)
    for rows, _, given_groups, _ in first_column.seen:
        assert len(rows) == len(given_groups) == 15
        assert len(np.unique(rows)) == len(np.unique(given_groups)) == 3


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)), min_size=2, max_size=30),
    st.floats(0.05, 0.95),
    st.integers(0, 5),
)
def test_parts_are_whole_groups_of_every_class(rows, share, seed):
    classes, groups = np.array(rows).T
    groups = np.unique(groups, return_inverse=True)[1]
    units, strata = stratify(classes, groups)
    part = subsample(units, strata, share, seed, number=1)
    assert len(part) > 0
    assert set(groups[part]).isdisjoint(np.delete(groups, part))
    of_group = {group: set(classes[groups == group]) for group in groups}
    if all(len(found) == 1 for found in of_group.values()):
        assert set(classes[part]) == set(classes)
    else:  # a group has no class, not even that of its first row
        assert not strata.any()


def test_seeds(first_column):
    X = np.arange(20.0)[:, np.newaxis]
    for random_state in (0, 0, 1):
        stability(first_column(7), X, n_subsamples=5, random_state=random_state)
    parts = [tuple(rows.ravel()) for rows, *_ in first_column.seen]
    seeds = [seed for *_, seed in first_column.seen]
    assert parts[:5] == parts[5:10] != parts[10:]
    assert seeds[:5] == seeds[5:10] != seeds[10:]
    assert len(set(seeds)) == 10


# --- the numbers --------------------------------------------------------------------------------


def stability_of(chosen):
    names = tuple(f"x{place}" for place in range(chosen.shape[1]))
    sets = (tuple(name for name, is_in in zip(names, one, strict=True) if is_in) for one in chosen)
    return Stability(names, tuple(sets)).stability


def test_published_measure():
    """With sets of one size k: Kuncheva's index, the mean over pairs of (r - k²/d) / (k - k²/d)."""
    rng = np.random.default_rng(0)
    chosen = np.array([rng.permutation(8) < 3 for _ in range(6)])
    pairs = [(i, j) for i in range(6) for j in range(i)]
    common = np.array([(chosen[i] & chosen[j]).sum() for i, j in pairs])
    expected = ((common - 9 / 8) / (3 - 9 / 8)).mean()
    assert stability_of(chosen) == pytest.approx(expected)
    assert stability_of(rng.random((2000, 30)) < 0.3) == pytest.approx(0, abs=0.01)
    assert stability_of(np.zeros((3, 4), dtype=bool)) is None
    assert stability_of(np.ones((3, 4), dtype=bool)) is None


def example():
    return Stability(("a", "b", "c"), (("a", "b"), (), ("a", "b"), ("b",)), 0.5)


def test_the_table():
    found = example()
    assert found.frequencies == {"a": 0.5, "b": 0.75, "c": 0.0}
    assert found.most_frequent == ("a", "b")
    assert str(found) == (
        "feature  selected  frequency  95 % interval\n"
        "b               3       0.75   0.30 to 0.95\n"
        "a               2       0.50   0.15 to 0.85\n"
        "4 subsamples of 50 % of the rows, 1.2 features selected on average.\n"
        "3 distinct selections, most frequent (2 of 4): a, b.\n"
        "Stability 0.20 (1: equal, 0: random selections).\n"
        "Never selected: 1 of 3 features.\n"
        "Empty selections: 1 of 4."
    )
    assert repr(found).startswith("Stability over 4 subsamples\nfeature")


def test_a_long_table_is_cut():
    names = tuple(f"x{i}" for i in range(25))
    assert "... and 5 more" in str(Stability(names, (names, names[:-1])))


def test_taking_it_elsewhere():
    found = example()
    record = json.loads(json.dumps(found.to_dict()))
    assert record["selections"] == [["a", "b"], [], ["a", "b"], ["b"]]
    assert record["frequencies"]["b"] == 0.75
    frame = found.to_frame()
    assert list(frame.columns) == ["feature", "selected", "frequency", "lower", "upper"]
    assert frame["selected"].tolist() == [2, 3, 0]


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_subsamples": 1}, "n_subsamples=1 .*at least 2"),
        ({"sample_fraction": 1.0}, "sample_fraction=1.0"),
        ({"sample_fraction": "half"}, "sample_fraction='half'"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"groups": [1, 2]}, "groups has 2 values, but there are 60 rows"),
        ({"random_state": -1}, "random_state=-1"),
    ],
    ids=str,
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        stability(SelectKBest(f_regression), *numbers(60), **settings)


def test_no_selector():
    with pytest.raises(TypeError, match="LinearRegression has no get_support"):
        stability(LinearRegression(), *numbers(60))


def test_rows_that_do_not_match():
    X, y = numbers(60)
    with pytest.raises(ValueError, match="X has 60 rows, but y has 59"):
        stability(SelectKBest(f_regression), X, y[1:])
