"""Warnings of a fit about its data: one of each category, none for sound data."""

import warnings

import numpy as np
import pandas as pd
import pytest

import pidselect
from pidselect import (
    LeakageWarning,
    NearDuplicateWarning,
    PIDSelector,
    PIDSelectWarning,
    RowNumberWarning,
    stability,
    write_report,
)
from pidselect.data import read_dataset
from pidselect.data.diagnostics import selection_warnings
from pidselect.data.duplicates import are_near_duplicates

N = 200


def quick(**settings):
    """Return a selector by the copula, unless another estimator is passed."""
    n = {"n_permutations": "auto" if settings.get("estimator") == "auto" else 39}
    return PIDSelector(**{"estimator": "copula", "random_state": 0, **n, **settings})


def caught(X, y, **settings):
    """Fit, and return the selector and the warnings."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        selector = quick(**settings).fit(X, y)
    return selector, [one for one in found if issubclass(one.category, PIDSelectWarning)]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N, 4)), columns=list("abcd"))
    return X, X["a"] + rng.normal(size=N)


def test_sound_data_need_no_warning(table):
    selector, found = caught(*table)
    assert found == []
    assert selector.selection_.warnings == ()


def shifted(X):
    return 3 * X["a"] + 0.01 * X["b"]


@pytest.mark.parametrize(
    ("target", "settings"),
    [
        (shifted, {}),
        (lambda X: X["a"] ** 2, {"estimator": "auto"}),
        (lambda X: X["a"] > 0.3, {"estimator": "auto"}),
        (lambda X: np.where(X["a"].abs() < 0.7, "in", "out"), {"estimator": "auto"}),
    ],
    ids=["monotone", "square", "threshold", "interval"],
)
def test_leakage(table, target, settings):
    X, _ = table
    selector, found = caught(X, target(X), **settings)
    (leak,) = [one for one in found if one.category is LeakageWarning]
    assert leak.filename == __file__
    assert leak.message.columns == ("a",)
    assert str(leak.message).startswith("a: ")
    assert "leakage" in str(leak.message)
    assert str(leak.message) in selector.selection_.warnings


def test_leakage_by_labels(table):
    X, _ = table
    status = np.arange(N) % 3
    X = X.assign(code=np.array(["x", "y", "z"])[status], other=np.arange(N) % 2)
    _, found = caught(X, status == 1, estimator="auto")
    assert [one.message.columns for one in found] == [("code",)]


def test_columns_of_many_levels_do_not_leak(table):
    """Their information is overestimated: nearly that of the target by chance."""
    X, _ = table
    rng = np.random.default_rng(1)
    X = X.assign(street=[f"s{i}" for i in rng.integers(0, 90, N)])
    X["street"] = X["street"].astype("category")
    _, found = caught(X, rng.integers(0, 2, N), estimator="auto", n_permutations=0, max_features=1)
    assert LeakageWarning not in [one.category for one in found]


def test_near_duplicates_of_selected_columns(table):
    X, y = table
    rng = np.random.default_rng(1)
    X = X.assign(again=X["a"] + 0.01 * rng.normal(size=N), copy=X["d"] + 0.01 * rng.normal(size=N))
    selector, found = caught(X, y, max_features=1)
    (near,) = found
    assert near.category is NearDuplicateWarning
    assert set(near.message.columns) == {"a", "again"}  # d is not selected
    assert selector.selection_.features[0] in ("a", "again")
    _, found = caught(X, y, fixed_features=["a"], max_features=2)
    assert found == []  # it was no choice


def test_a_selected_row_number(table):
    X, y = table
    X = X.assign(day=np.arange(N), number=np.arange(N)[::-1] ** 3)
    _, found = caught(X, y + 0.05 * X["day"], max_features=2)
    assert RowNumberWarning in [one.category for one in found]
    _, found = caught(X, y, fixed_features=["b"], max_features=2)
    assert found == []  # not selected


def test_each_category_can_be_filtered(table):
    X, _ = table
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", LeakageWarning)
        quick().fit(X, shifted(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PIDSelectWarning)
        with pytest.raises(LeakageWarning):
            quick().fit(X, shifted(X))
    categories = {getattr(pidselect, name) for name in pidselect.__all__ if "Warning" in name}
    assert all(issubclass(category, PIDSelectWarning) for category in categories)


def test_subsamples_do_not_warn(table):
    X, _ = table
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stability(quick(), X, shifted(X), 2, random_state=0)


def test_the_page_has_the_same_warnings(table, tmp_path):
    X, _ = table
    selector, found = caught(X, X["a"] ** 2, estimator="auto")
    page = write_report(selector, X, X["a"] ** 2, tmp_path / "page.html").read_text("utf-8")
    assert str(found[0].message) in page
    assert "leakage</dt>" in page


@pytest.mark.parametrize("n", [100, 600, 3000])
def test_near_duplicates_agree_with_all_pairs(n):
    """Comparing a few rows first changes nothing."""
    rng = np.random.default_rng(n)
    x = rng.normal(size=(n, 4))
    noisy = [x[:, i % 4] + scale * rng.normal(size=n) for i, scale in enumerate([0.02, 0.1, 0.16])]
    columns = read_dataset(np.column_stack([x, *noisy]), x[:, 0]).table.columns
    found = are_near_duplicates(columns[:4], columns)
    ranks = pd.DataFrame({c.name: c.values for c in columns}).corr("spearman").abs().to_numpy()
    clear = np.abs(ranks[:4] - 0.99) > 0.002
    assert (found == (ranks[:4] > 0.99))[clear].all()


def test_nothing_selected_is_no_error():
    x = np.random.default_rng(0).normal(size=(N, 2))
    assert selection_warnings(read_dataset(x, x[:, 0] * np.sin(99 * x[:, 1])), []) == ()
