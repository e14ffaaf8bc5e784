"""Which candidate a step of the score test chooses, by the results of its tests."""

from __future__ import annotations

import numpy as np
import pytest
from systems import context_for, features_of

from pidselect.selection import score_step
from pidselect.selection.context import NamedEstimator
from pidselect.selection.criteria import Conditional
from pidselect.selection.score_step import ScoreTestResult, run_score_test
from pidselect.selection.scoring import cmi_given, scores_given
from pidselect.significance.permutation_test import first_largest, first_smallest
from pidselect.significance.rng import FORWARD
from pidselect.significance.staged import ScoreTest, StagedResult, StagedSettings

RNG = np.random.default_rng(0)
A, B, C, D = features_of(RNG.normal(size=(30, 4)), "continuous")
CONTEXT = context_for(
    RNG.normal(size=30), NamedEstimator("score", ScoreTest()), feature_type="continuous"
)
KEY = (FORWARD, 0)


@pytest.fixture
def decide(monkeypatch):
    """Run a step by given p-values and statistics, of which the first is the critical value.

    The bits of a feature are its number. Returns also the shares of the level that tests had.
    """

    def run(scores, *results, choose=first_largest):
        left, shares = list(results), []

        def test(settings, *_):
            shares.append(settings.share)
            p, values = map(np.array, left.pop(0))
            return StagedResult(p, values, ("line",) * len(p), np.zeros(99), values[0], 0.8)

        monkeypatch.setattr(StagedSettings, "test", test)
        return run_score_test(scores, "forward", choose, False), shares

    def bits(context, features, given):
        return np.array([float(feature.name[1:]) for feature in features])

    monkeypatch.setattr(score_step, "information_given", bits)
    return run


def test_of_the_significant_the_most_informative_is_included(decide):
    """Not the one with the largest statistic, nor one that is not significant."""
    scores = cmi_given(CONTEXT, [A, B, C, D], (), KEY)
    found, _ = decide(scores, ([0.01, 0.02, 0.03, 0.06], [9.0, 8.0, 7.0, 6.0]))
    assert found.chosen == 2
    np.testing.assert_array_equal(found.information, [0, 1, 2, np.nan])
    none, _ = decide(scores, ([0.3, 0.2, 0.2, 0.2], [9.0, 7.0, 8.0, 1.0]))
    assert none.chosen == 2
    np.testing.assert_array_equal(none.information, [np.nan, np.nan, 2, np.nan])


def test_the_largest_p_value_is_removed_and_of_equal_ones_the_smallest_statistic(decide):
    """Statistics of different stages are no measure of strength."""
    scores = cmi_given(CONTEXT, [A, B, C], (), KEY)
    found, _ = decide(scores, ([0.01, 0.2, 0.2], [1.0, 5.0, 3.0]), choose=first_smallest)
    assert found.chosen == 2
    np.testing.assert_array_equal(found.information, [np.nan, np.nan, 2])
    all_retained, _ = decide(scores, ([0.01, 0.02, 0.05], [1.0, 5.0, 3.0]), choose=first_smallest)
    np.testing.assert_array_equal(all_retained.information, [0, 1, 2])


def test_several_sets_share_the_level(decide):
    scores = scores_given(CONTEXT, [A, B], [(C,), (D,)], [0, 1], KEY, 2)
    found, shares = decide(scores, ([0.2], [3.0]), ([0.04], [4.0]))
    assert found.p_values.tolist() == [0.2, 0.04]
    assert found.statistics.tolist() == [3.0, 4.0]
    assert (found.chosen, found.critical_value) == (1, 4.0)
    assert shares == [0.5, 0.5]


def test_features_that_are_tested_each_given_others_have_the_whole_level(decide):
    scores = scores_given(CONTEXT, [A, B], [(B,), (A,)], [0, 1], KEY, 2)
    found, shares = decide(scores, ([0.2], [3.0]), ([0.04], [4.0]), choose=first_smallest)
    assert (found.chosen, found.p_values.tolist()) == (0, [0.2, 0.04])
    assert found.critical_value == 3.0
    assert shares == [1.0, 1.0]


def test_given_every_subset_the_largest_p_value_counts(decide):
    scores = Conditional(1).candidate_scores(CONTEXT, [A, B], (), [C, D], KEY)
    found, _ = decide(scores, ([0.01, 0.3], [9.0, 1.0]), ([0.04, 0.01], [4.0, 5.0]))
    assert (found.p_values.tolist(), found.statistics.tolist()) == ([0.04, 0.3], [4.0, 1.0])
    step = found.to_step("forward", ("x2", "x3"))
    assert (step.chosen, step.accepted, step.conditioning_set) == ("x0", True, ("x3",))


@pytest.mark.parametrize(
    ("n_reached", "n", "critical", "is_close"),
    # p = (1 + n_reached) / (0.8 (1 + n)), two standard errors of 0.03 at 249 and 0.1 at 24
    [
        *[(9, 249, 2.0, True), (13, 249, 2.0, True), (20, 249, 2.0, False), (2, 249, 2.0, False)],
        *[(9, 249, None, False), (0, 24, 2.0, False), (1, 24, 2.0, True)],
    ],
)
def test_close_calls(n_reached, n, critical, is_close):
    """Within two standard errors of alpha, but for the smallest p and if the test ended early."""
    p = np.array([(1 + n_reached) / (1 + n) / 0.8])
    parts = cmi_given(CONTEXT, [A], (), KEY), 0, p, np.ones(1), ("line",), np.ones(1)
    found = ScoreTestResult(*parts, n, critical, 0.8, 0)
    assert found.to_step("forward", ()).close_call == is_close
