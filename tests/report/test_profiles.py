"""The target against single features: means, shares and errors against a plain loop."""

import numpy as np
import pandas as pd
import pytest

from pidselect.data import read_dataset
from pidselect.report.levels import LINE_BINS, MAX_CLASSES, target_profile, target_profiles

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "wind": RNG.normal(size=400),
        "gate": RNG.choice(["a", "b", "c"], size=400),
        "day": pd.date_range("2020-01-01", periods=400),
    }
)
SALES = pd.Series(1e6 + RNG.normal(size=400), name="sales")


def profile(name, y=SALES, X=TABLE):
    return target_profile(read_dataset(X, y), name)


def test_means_at_labels_with_two_standard_errors():
    found = profile("gate")
    groups = SALES.groupby(TABLE.gate)
    assert found["levels"] == ["a", "b", "c"]
    assert found["counts"] == groups.size().tolist()
    assert [value for (value,) in found["values"]] == pytest.approx(groups.mean().tolist())
    assert found["errors"] == pytest.approx((2 * groups.sem()).tolist(), rel=1e-6)
    assert found["quantity"] == "mean of sales"
    assert (found["positions"], found["ends"]) == (None, None)


def test_means_of_a_binned_feature_are_at_its_means():
    found = profile("wind")
    assert len(found["levels"]) == LINE_BINS
    bins = pd.cut(TABLE.wind, [-np.inf, *np.quantile(TABLE.wind, np.arange(1, 10) / 10), np.inf])
    expected = TABLE.wind.groupby(bins, observed=True).mean()
    assert found["positions"] == pytest.approx(expected.tolist(), abs=0.1)  # edges are rounded
    assert found["ends"] == ["−1.8", "1.7"]


def test_of_two_classes_the_share_of_the_second():
    y = (TABLE.wind > 0).map({False: "no", True: "yes"}).rename("windy")
    found = profile("wind", y)
    assert found["quantity"] == "share of windy = yes"
    assert found["classes"] == ["yes"]
    assert found["values"][0] == [0.0]
    assert found["values"][-1] == [1.0]
    assert found["errors"][0] == 0.0
    assert found["positions"] is None
    assert found["overall"] == [(y == "yes").mean()]


@pytest.mark.parametrize("n_classes", [3, 9])
def test_shares_of_more_classes_sum_to_one(n_classes):
    y = pd.Series(RNG.integers(0, n_classes, size=400).astype(str), name="kind")
    found = profile("gate", y)
    assert len(found["classes"]) == min(n_classes, MAX_CLASSES)
    assert ("other" in found["classes"]) == (n_classes > MAX_CLASSES)
    assert [sum(shares) for shares in found["values"]] == pytest.approx([1.0] * 3)
    assert found["errors"] is None
    if n_classes == 3:
        shares = pd.crosstab(TABLE.gate, y, normalize="index").to_numpy()
        assert found["values"] == [pytest.approx(row) for row in shares]


def test_missing_values_are_a_level():
    X = TABLE.assign(wind=TABLE.wind.where(TABLE.index >= 50))
    dataset = read_dataset(X, SALES, missing="category")
    found = target_profile(dataset, "wind")
    assert found["levels"][-1] == "missing"
    assert found["counts"][-1] == 50
    assert found["positions"][-1] is None
    assert found["values"][-1] == [pytest.approx(SALES[:50].mean())]


def test_groups_of_columns_and_several_targets_are_left_out():
    dataset = read_dataset(TABLE, SALES)
    assert [one["feature"] for one in target_profiles(["gate", "a group"], dataset)] == ["gate"]
    assert target_profiles(["gate"], read_dataset(TABLE[["gate"]], TABLE[["wind", "day"]])) == []
