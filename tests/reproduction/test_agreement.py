from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from reproduction.agreement import (
    ABOVE,
    CRITICAL,
    EQUAL,
    FEW_RUNS,
    NOT_ABOVE,
    NOT_BELOW,
    PAPER_RUNS,
    RULES,
    UNCHECKED,
    Agreement,
    Estimate,
    about,
    at_least,
    at_most,
    between,
    cochran_q,
    compare,
    equal_columns,
    estimate,
    exactly,
    extreme_place,
    located_at,
    parse_rule,
)

DIFFERS, NOT_RUN, UNDECIDED, _, _, AGREES = Agreement


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30))
def test_estimate_by_its_formulas(values):
    found = estimate(values)
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    assert found.mean == pytest.approx(mean, abs=1e-9)
    assert found.standard_error == pytest.approx(math.sqrt(variance / len(values)), abs=1e-9)
    assert found.runs == len(values)


def test_estimate_of_few_runs():
    assert estimate([2.5])[::2] == (2.5, 1)
    assert math.isnan(estimate([2.5]).standard_error)
    assert math.isnan(estimate([]).mean)


@pytest.mark.parametrize(
    ("factor", "verdict"), [(0.0, AGREES), (0.99, AGREES), (1.01, DIFFERS), (-1.01, DIFFERS)]
)
@pytest.mark.parametrize("runs", [FEW_RUNS, 100, 1000])
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
    ("difference", "above", "not_below", "not_above"),
    [
        (1.01 * CRITICAL, AGREES, AGREES, DIFFERS),
        (0.99 * CRITICAL, DIFFERS, AGREES, AGREES),
        (-0.99 * CRITICAL, DIFFERS, AGREES, AGREES),
        (-1.01 * CRITICAL, DIFFERS, DIFFERS, AGREES),
    ],
)
def test_orders(difference, above, not_below, not_above):
    found = Estimate(difference, 1.0, FEW_RUNS)
    assert ABOVE.judge(found) is above
    assert NOT_BELOW.judge(found) is not_below
    assert NOT_ABOVE.judge(found) is not_above


def test_equal_values_are_not_above_each_other():
    same = Estimate(0.0, 0.0, FEW_RUNS)
    assert ABOVE.judge(same) is DIFFERS
    assert NOT_BELOW.judge(same) is NOT_ABOVE.judge(same) is AGREES


def test_few_runs_do_not_decide():
    few = Estimate(5.0, 1.0, FEW_RUNS - 1)
    assert at_most(1).judge(few) is UNDECIDED
    assert at_most(9).judge(few) is AGREES
    assert at_most(9).judge(few._replace(runs=1)) is UNDECIDED
    assert about(5, 1).judge(few) is UNDECIDED  # a lack of significance decides nothing
    assert NOT_BELOW.judge(few) is UNDECIDED
    assert between(1, 2).judge(few) is UNDECIDED
    assert between(1, 2, few.runs).judge(few) is DIFFERS
    assert between(1, 2, few.runs + 1).judge(few) is UNDECIDED


def test_what_is_not_checked_has_no_verdict_on_agreement():
    for found in (estimate([]), Estimate(5.0, 1.0, 100)):
        assert UNCHECKED.judge(found) is Agreement.UNCHECKED


def test_limits():
    found = Estimate(5.0, 1.0, FEW_RUNS)
    assert (
        at_most(5).judge(found) is at_least(5).judge(found) is between(4, 6).judge(found) is AGREES
    )
    assert at_most(4.9).judge(found) is at_least(5.1).judge(found) is DIFFERS
    assert between(5.1, 6).judge(found) is DIFFERS
    tolerance = CRITICAL * math.sqrt(1 + FEW_RUNS / PAPER_RUNS)
    assert about(10, 5.01 - tolerance).judge(found) is AGREES
    assert about(10, 4.99 - tolerance).judge(found) is DIFFERS


def test_exact_numbers_need_one_run():
    assert exactly(18, 18).judge(Estimate(18.0, math.nan, 1)) is AGREES
    assert exactly(18, 18).judge(Estimate(17.0, math.nan, 1)) is DIFFERS


GRID = [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5]


@pytest.mark.parametrize(("peak", "verdict"), [(0.5, AGREES), (0.75, AGREES), (1.0, DIFFERS)])
def test_extremes_of_curves(peak, verdict):
    curves = np.array([[-abs(x - peak) + (3.0 if x > 1.2 else 0.0) for x in GRID]] * FEW_RUNS)
    rule = located_at(0.5, 0.25)
    for found in (
        extreme_place(GRID, curves, 0.0, 1.0),
        extreme_place(GRID, -curves, 0.0, 1.0, lowest=True),
    ):
        assert found.ours.mean == peak
        assert rule.judge(*found) is verdict


def test_columns_of_equal_and_of_different_means():
    rng = np.random.default_rng(0)
    table = (rng.random((200, 4)) < 0.3).astype(float)
    assert EQUAL.judge(*equal_columns(table)) is AGREES
    assert EQUAL.judge(*equal_columns(table + np.array([0, 0, 0, 0.5]))) is DIFFERS


def test_q_of_cochran():
    table = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0]], dtype=float)
    columns, rows, k = table.sum(axis=0), table.sum(axis=1), 3
    expected = k * (k - 1) * ((columns - columns.mean()) ** 2).sum() / (rows * (k - rows)).sum()
    assert cochran_q(table) == pytest.approx(expected)


@pytest.mark.parametrize("name", RULES)
def test_rules_by_their_text(name):
    rule = RULES[name]
    if rule in (ABOVE, NOT_BELOW, NOT_ABOVE, EQUAL, UNCHECKED):
        assert parse_rule(name) is rule
    else:
        numbers = {"at least": "95", "at most": "0.1"}.get(name, "-1e-06 2.5")
        assert parse_rule(f"{name} {numbers}").text == rule(*map(float, numbers.split())).text
