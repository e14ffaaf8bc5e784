"""The rules that decide whether our numbers agree with the paper's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import fisher_exact

from reproduction.agreement import (
    CRITICAL,
    FEW_RUNS,
    PAPER_RUNS,
    Agreement,
    Estimate,
    cochran_q,
    compare,
    equal_columns,
    estimate,
    extreme_place,
    parse_rule,
)
from reproduction.experiment import Claim, Condition, Results
from reproduction.quantities import Quantity, share

DIFFERS, NOT_RUN, UNDECIDED, UNCHECKED, IDENTITY, AGREES = Agreement

#: What ± 1 standard error tolerates against a mean of the paper.
TOLERANCE = CRITICAL * math.sqrt(1 + FEW_RUNS / PAPER_RUNS)


def test_estimates():
    assert estimate([1.0, 2.0, 6.0]) == pytest.approx((3.0, math.sqrt(7 / 3), 3))
    assert estimate([2.5])[::2] == (2.5, 1)
    assert math.isnan(estimate([2.5]).standard_error)
    assert math.isnan(estimate([]).mean)


@pytest.mark.parametrize(("factor", "verdict"), [(0.99, AGREES), (1.01, DIFFERS), (-1.01, DIFFERS)])
@pytest.mark.parametrize("runs", [FEW_RUNS, 1000])
def test_numbers_agree_within_the_standard_error_of_the_difference(factor, verdict, runs):
    ours, papers = 20.0 / math.sqrt(runs), 20.0 / math.sqrt(PAPER_RUNS)
    found = Estimate(50.0 + factor * CRITICAL * math.hypot(ours, papers), ours, runs)
    assert compare(found, 50.0) is verdict


@pytest.mark.parametrize("count", range(1, 15))
def test_numbers_of_equal_runs_agree_as_by_fishers_test(count):
    verdict = compare(Estimate(0.0, 0.0, 100), float(count))
    p_value = fisher_exact([[0, 100], [count, 100 - count]]).pvalue
    if not 0.005 < p_value < 0.02:  # near the level the two may differ
        assert verdict is (AGREES if p_value > 0.01 else DIFFERS)


def test_numbers_of_few_runs():
    assert compare(estimate([]), 3.0) is NOT_RUN
    assert compare(estimate([3.0, 3.0]), 3.0) is AGREES
    assert compare(estimate([4.0]), 3.0) is UNDECIDED
    assert compare(Estimate(99.0, 1.0, FEW_RUNS - 1), 3.0) is UNDECIDED


@pytest.mark.parametrize(
    ("rule", "mean", "verdict"),
    [
        ("above", 1.01 * CRITICAL, AGREES),
        ("above", 0.99 * CRITICAL, DIFFERS),
        ("not below", -0.99 * CRITICAL, AGREES),
        ("not below", -1.01 * CRITICAL, DIFFERS),
        ("not above", 0.99 * CRITICAL, AGREES),
        ("not above", 1.01 * CRITICAL, DIFFERS),
        ("at most 5", 5.0, AGREES),
        ("at most 4.9", 5.0, DIFFERS),
        ("at least 5", 5.0, AGREES),
        ("at least 5.1", 5.0, DIFFERS),
        ("between -4 6", 5.0, AGREES),
        ("between 5.1 6", 5.0, DIFFERS),
        (f"about 10 {5.01 - TOLERANCE}", 5.0, AGREES),
        (f"about 10 {4.99 - TOLERANCE}", 5.0, DIFFERS),
        ("located at 0.5 0.25", 0.75, AGREES),
        ("located at 0.5 0.25", 0.8, DIFFERS),
    ],
)
def test_rules(rule, mean, verdict):
    assert parse_rule(rule).judge(Estimate(mean, 1.0, FEW_RUNS)) is verdict
    assert parse_rule(rule).judge(estimate([])) is NOT_RUN
    if verdict is DIFFERS:
        assert parse_rule(rule).judge(Estimate(mean, 1.0, FEW_RUNS - 1)) is UNDECIDED


def test_few_and_exact_runs():
    few = Estimate(5.0, 1.0, FEW_RUNS - 1)
    assert parse_rule("at most 9").judge(few) is AGREES
    assert parse_rule("at most 9").judge(few._replace(runs=1)) is UNDECIDED
    assert parse_rule("about 5 1").judge(few) is UNDECIDED  # a lack of significance decides nothing
    assert parse_rule("not below").judge(few) is UNDECIDED
    assert parse_rule(f"between 1 2 {few.runs}").judge(few) is DIFFERS
    one = Estimate(18.0, math.nan, 1)
    assert parse_rule("exactly 18 18").judge(one) is AGREES
    assert parse_rule("exactly -inf 1e-06").judge(one) is DIFFERS
    same = Estimate(0.0, 0.0, FEW_RUNS)
    assert parse_rule("above").judge(same) is DIFFERS  # 0 is not above 0
    assert parse_rule("not above").judge(same) is AGREES
    assert parse_rule("unchecked") is None
    with pytest.raises(ValueError, match="nearly 3"):
        parse_rule("nearly 3")


GRID = [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5]


@pytest.mark.parametrize("peak", [0.5, 1.0])
def test_extremes_of_curves(peak):
    curves = np.array([[-abs(x - peak) + (3.0 if x > 1.2 else 0.0) for x in GRID]] * FEW_RUNS)
    assert extreme_place(GRID, curves, 0.0, 1.0).ours.mean == peak
    assert extreme_place(GRID, -curves, 0.0, 1.0, lowest=True).ours.mean == peak


def test_columns_of_equal_and_of_different_means():
    table = (np.random.default_rng(0).random((200, 4)) < 0.3).astype(float)
    equal = parse_rule("equal")
    assert equal.judge(*equal_columns(table)) is AGREES
    assert equal.judge(*equal_columns(table + np.array([0, 0, 0, 0.5]))) is DIFFERS
    table = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0]], dtype=float)
    columns, rows, k = table.sum(axis=0), table.sum(axis=1), 3
    expected = k * (k - 1) * ((columns - columns.mean()) ** 2).sum() / (rows * (k - rows)).sum()
    assert cochran_q(table) == pytest.approx(expected)


def test_a_claim_has_the_verdict_of_its_least_favourable_condition():
    """Of several values by label, and of several conditions; an identity does not agree."""
    high, low = Quantity(lambda r: [5.0] * FEW_RUNS), Quantity(lambda r: [1.0] * (FEW_RUNS + 9))
    above, most = parse_rule("above"), parse_rule("at most 4")

    def found(*conditions: Condition, identity: str = "") -> dict:
        return Claim("c", "", "", conditions, identity).evaluate(Results([]))

    both = found(Condition(above, "bit", {"high": high, "low": low}))
    assert both["measured"] == "bit (low, the least favourable of 2)"
    assert (both["verdict"], both["ours"].mean) == (AGREES, 1.0)
    assert found(Condition(above, "", low), Condition(most, "", high))["verdict"] is DIFFERS
    assert found(Condition(above, "", high - low))["ours"] == (4.0, 0.0, FEW_RUNS)
    assert found(Condition(above, "", high), identity="By counting.")["verdict"] is IDENTITY
    assert found(Condition(most, "", high), identity="By counting.")["verdict"] is DIFFERS
    assert found(Condition(None, "", lambda r: []))["verdict"] is UNCHECKED
    assert share(["Z1", "W2"], ["W1", "W2"]) == 50.0
