from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from reproduction.agreement import (
    FEW_RUNS,
    PAPER_RUNS,
    SURE,
    Verdict,
    all_of,
    cell,
    estimate,
    is_about,
    is_above,
    is_at_least,
    is_at_most,
    is_not_below,
    peaks_at,
)

AGREES, DIFFERS, UNDECIDED, NOT_RUN = (
    Verdict.AGREES,
    Verdict.DIFFERS,
    Verdict.UNDECIDED,
    Verdict.NOT_RUN,
)


def spread(mean: float, error: float, runs: int = FEW_RUNS) -> list[float]:
    """Return values with exactly this mean and standard error."""
    raw = np.linspace(-1, 1, runs)
    raw *= error * math.sqrt(runs) / raw.std(ddof=1)
    return [float(value) for value in mean + raw]


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30))
def test_estimate_by_its_formulas(values):
    found = estimate(values)
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    assert found.mean == pytest.approx(mean, abs=1e-9)
    assert found.standard_error == pytest.approx(math.sqrt(variance / len(values)), abs=1e-9)
    assert found.runs == len(values)


def test_estimate_of_few():
    assert estimate([2.5])[::2] == (2.5, 1)
    assert math.isnan(estimate([2.5]).standard_error)
    assert math.isnan(estimate([]).mean)


@pytest.mark.parametrize(
    ("factor", "verdict"), [(0.0, AGREES), (0.99, AGREES), (1.01, DIFFERS), (-1.01, DIFFERS)]
)
@pytest.mark.parametrize("runs", [FEW_RUNS, 100, 1000])
def test_a_cell_agrees_within_its_standard_errors(factor, verdict, runs):
    ours, papers = 20.0 / math.sqrt(runs), 20.0 / math.sqrt(PAPER_RUNS)
    values = spread(50.0 + factor * SURE * math.hypot(ours, papers), ours, runs)
    assert cell("row", "column", values, paper=50.0).verdict is verdict


def test_a_cell_without_spread():
    assert cell("a", "b", [100.0] * 100, paper=100.0).verdict is AGREES
    # 0.2 % in as many runs would often show as none at all; 20 % would not.
    assert cell("a", "b", [0.0] * 100, paper=0.2).verdict is AGREES
    assert cell("a", "b", [0.0] * 100, paper=20.0).verdict is DIFFERS


@pytest.mark.parametrize("count", range(1, 15))
def test_a_cell_without_spread_as_by_fishers_test(count):
    verdict = cell("a", "b", [0.0] * 100, paper=float(count)).verdict
    p_value = fisher_exact([[0, 100], [count, 100 - count]]).pvalue
    if not 0.005 < p_value < 0.02:  # near the level the two may part
        assert verdict is (AGREES if p_value > 0.01 else DIFFERS)


def test_a_cell_of_one_run_or_none():
    assert cell("a", "b", [], paper=3.0).verdict is NOT_RUN
    assert cell("a", "b", [3.0], paper=3.0).verdict is AGREES
    assert cell("a", "b", [4.0], paper=3.0).verdict is UNDECIDED
    assert cell("a", "b", [3.0, 3.0], paper=3.0).verdict is AGREES
    assert cell("a", "b", spread(3.0, 1.0, FEW_RUNS - 1), paper=3.0).verdict is UNDECIDED
    assert cell("a", "b", spread(99.0, 1.0, FEW_RUNS - 1), paper=3.0).verdict is UNDECIDED
    assert cell("a", "b", [4.0]).verdict is None


@pytest.mark.parametrize(
    ("difference", "above", "not_below"),
    [
        (1.01 * SURE, AGREES, AGREES),
        (0.99 * SURE, DIFFERS, AGREES),
        (-0.99 * SURE, DIFFERS, AGREES),
        (-1.01 * SURE, DIFFERS, DIFFERS),
    ],
)
def test_orders_are_tested_on_differences(difference, above, not_below):
    smaller = list(np.random.default_rng(0).standard_normal(FEW_RUNS) * 100)
    larger = list(np.add(smaller, spread(difference, 1.0)))
    assert is_above("n", "s", larger, smaller, measured="m").verdict is above
    assert is_not_below("n", "s", larger, smaller, measured="m").verdict is not_below


def test_a_number_may_be_compared_with():
    assert is_above("n", "s", [2.0, 2.1], 1.0, measured="m").ours.mean == pytest.approx(1.05)


def test_differences_that_are_all_zero_are_none():
    same = [1.0] * FEW_RUNS
    assert is_above("n", "s", same, same, measured="m").verdict is DIFFERS
    assert is_not_below("n", "s", same, same, measured="m").verdict is AGREES


def test_few_runs_decide_nothing_against_the_paper():
    few, small = FEW_RUNS - 1, [0.0, 1.0]
    assert is_above("n", "s", spread(0.0, 1.0, few), 0.0, measured="m").verdict is UNDECIDED
    assert is_at_most("n", "s", spread(5.0, 1.0, few), 1.0, measured="m").verdict is UNDECIDED
    assert is_at_most("n", "s", [0.5], 1.0, measured="m").verdict is UNDECIDED
    assert is_at_most("n", "s", small, 1.0, measured="m").verdict is AGREES


def test_few_runs_decide_nothing_for_the_paper_by_chance():
    few = spread(60.0, 30.0, 3)
    assert is_about("n", "s", few, 70.0, tolerance=1.0, measured="m").verdict is UNDECIDED
    assert is_not_below("n", "s", few, 70.0, measured="m").verdict is UNDECIDED


def test_limits():
    values = spread(5.0, 1.0)
    assert is_at_most("n", "s", values, 5.1, measured="m").verdict is AGREES
    assert is_at_most("n", "s", values, 4.9, measured="m").verdict is DIFFERS
    assert is_at_least("n", "s", values, 4.9, measured="m").verdict is AGREES
    assert is_at_least("n", "s", values, 5.1, measured="m").verdict is DIFFERS


@pytest.mark.parametrize("test", [is_at_most, is_at_least])
def test_a_limit_that_is_near_is_called_so(test):
    near = "less than 2.58 standard errors from its limit"
    assert near in test("n", "s", spread(5.0, 1.0), 5.1, measured="m").remark
    assert near not in test("n", "s", spread(5.0, 1.0), 9.0, measured="m").remark
    assert near not in test("n", "s", [5.0] * FEW_RUNS, 5.0, measured="m").remark


def test_about():
    values = spread(60.0, 1.0)
    assert is_about("n", "s", values, 70.0, tolerance=7.5, measured="m").verdict is AGREES
    assert is_about("n", "s", values, 70.0, tolerance=7.0, measured="m").verdict is DIFFERS
    assert is_about("n", "s", [], 70.0, tolerance=6.0, measured="m").verdict is NOT_RUN


GRID = [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5]


@pytest.mark.parametrize(("peak", "verdict"), [(0.5, AGREES), (0.75, AGREES), (1.0, DIFFERS)])
def test_peaks(peak, verdict):
    curves = [[-abs(x - peak) + (3.0 if x > 1.2 else 0.0) for x in GRID]] * FEW_RUNS
    claim = peaks_at("n", "s", GRID, curves, 0.5, within=(0.0, 1.0))
    assert claim.verdict is verdict
    assert claim.ours.mean == peak
    upside_down = [[-value for value in curve] for curve in curves]
    assert peaks_at("n", "s", GRID, upside_down, 0.5, within=(0, 1), lowest=True).verdict is verdict


def test_nothing_run():
    assert is_above("n", "s", [], [], measured="m").verdict is NOT_RUN
    assert is_not_below("n", "s", [], 0.0, measured="m").verdict is NOT_RUN
    assert peaks_at("n", "s", GRID, [], 0.5, within=(0.0, 1.0)).verdict is NOT_RUN


def test_a_claim_of_parts_shows_the_one_that_does_not_hold():
    parts = [
        is_above("", "", [2.0] * 30, 1.0, measured="A less B"),
        is_above("", "", [0.5] * 30, 1.0, measured="C less B"),
        is_above("", "", [3.0] * 30, 1.0, measured="D less B"),
    ]
    claim = all_of("all above B", "All lie above B.", *parts)
    assert (claim.name, claim.verdict, claim.ours.mean) == ("all above B", DIFFERS, -0.5)
    assert claim.measured == "C less B; A less B: 1; D less B: 2"
    assert all_of("both", "Both.", *parts[::2]).verdict is AGREES
    not_run = is_above("", "", [], 1.0, measured="E less B")
    assert all_of("with one not run", "All.", *parts[::2], not_run).verdict is NOT_RUN
    assert all_of("one differs", "All.", *parts, not_run).verdict is DIFFERS
    many = all_of("many", "All.", *parts, *parts)
    assert many.measured == "C less B; one of 6 conditions"
