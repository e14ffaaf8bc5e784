"""The checks of scikit-learn on settings in which every pair of registered values occurs."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator
from systems import EXPECTED_FAILURES

from pidselect import PIDSelector
from pidselect.estimators import ESTIMATORS
from pidselect.selection import LinearCriterion
from pidselect.selection.backward import STATISTICS
from pidselect.selection.criteria import CRITERIA
from pidselect.selection.validation import to_criterion
from pidselect.significance.row_orders import GIVEN_ONLY
from pidselect.significance.surrogates import SURROGATES

#: Few permutations, and a level that they reach also where it is shared with look-ahead.
QUICK = {"alpha": 0.5, "n_permutations": 40, "random_state": 0}

DIMENSIONS = {
    "criterion": (*CRITERIA, LinearCriterion(beta=0.5, gamma=0.2)),
    "estimator": ("auto", *ESTIMATORS),
    "surrogates": (("global", "residual"), *SURROGATES),
    "backward": (*STATISTICS, None),
    "lookahead": ("auto", 1, 2, 3),
    "select": ("minimal", "relevant"),
}


def valid_settings():
    """Yield all combinations that agree with each other, on discrete columns without groups.

    Settings that change nothing are not combined: backward elimination follows only "cmi" and
    "mi", and look-ahead "cmi".
    """
    for values in product(*DIMENSIONS.values()):
        one = dict(zip(DIMENSIONS, values, strict=True))
        criterion, surrogates = to_criterion(one["criterion"]), one["surrogates"]
        is_changed = not criterion.permutes_target or one["backward"] == "maximum"
        is_changed = is_changed and (criterion.is_cmi or one["lookahead"] == "auto")
        is_counted = one["criterion"] != "disr" or one["estimator"] in ("auto", "discrete")
        is_scheme = not criterion.permutes_target or surrogates not in GIVEN_ONLY
        is_scored = one["estimator"] == "auto" and one["criterion"] in ("cmi", "mi")
        is_scheme = is_scheme and (not is_scored or surrogates in ("global", "shift"))
        if is_changed and is_counted and is_scheme and surrogates != "blocks":
            yield one


def covering(settings):
    """Return a few of some settings with every pair of values that occurs in any of them.

    Criteria of a family, which share their implementation, count as one, but each of them occurs;
    so do estimators of values and of their ranks.
    """

    def pairs(one):
        family = "pairwise" if to_criterion(one["criterion"]).permutes_target else one["criterion"]
        changed = {"criterion": family, "estimator": one["estimator"].removesuffix("-rank")}
        items = [(name, str(value)) for name, value in {**one, **changed}.items()]
        own = {(name, str(one[name])) for name in changed}
        return {*own, *combinations(items, 2)}

    of_each = [pairs(one) for one in settings]
    missing = set().union(*of_each)
    chosen = []
    while missing:
        place = max(range(len(settings)), key=lambda i: len(of_each[i] & missing))
        chosen.append(settings[place])
        missing -= of_each[place]
    return chosen


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("settings", covering([*valid_settings()]), ids=str)
def test_checks(settings):
    # KSG needs a target of numbers, and the checks have classes.
    is_ksg = settings["estimator"] in ("ksg", "ksg-rank")
    feature_types = {"target": "continuous"} if is_ksg else None
    results = check_estimator(
        PIDSelector(**QUICK, **settings, feature_types=feature_types),
        on_fail=None,
        on_skip=None,
        expected_failed_checks=EXPECTED_FAILURES,
    )
    counts = Counter(one["status"] for one in results)
    failed = [
        one
        for one in results
        if one["status"] == "failed"
        # The selector reads arrays as NumPy does.
        or (one["status"] == "skipped" and one["check_name"] != "check_array_api_input")
    ]
    assert not failed
    assert counts["passed"] > 40


@pytest.mark.filterwarnings("ignore")
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
    X = np.random.default_rng(0).integers(0, 2, (60, 3))
    with pytest.raises(ValueError, match=r"."):
        PIDSelector(**QUICK, **settings).fit(X, X[:, 0] | X[:, 1])
