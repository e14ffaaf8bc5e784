"""The checks of scikit-learn on settings in which every pair of registered values occurs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from systems import EXPECTED_FAILURES

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
try:
    import estimator_checks
finally:
    del sys.path[0]

VALID = [one for one in estimator_checks.all_settings() if estimator_checks.is_valid(one)]


@pytest.mark.parametrize("settings", estimator_checks.covering(VALID), ids=str)
def test_checks(settings):
    counts, failed = estimator_checks.check(settings, EXPECTED_FAILURES)
    assert not failed
    assert counts["passed"] > 40


@pytest.mark.parametrize(
    "settings",
    [
        {"surrogates": "blocks"},
        {"criterion": "jmi", "surrogates": "local"},
        {"criterion": "disr", "estimator": "mixed"},
    ],
    ids=str,
)
def test_settings_that_exclude_each_other(settings):
    assert estimator_checks.refusal(settings)
