"""Corner cases that once went wrong: groups, roles and notes."""

from __future__ import annotations

import numpy as np
import pytest
from systems import noise, numbers, quick

from pidselect.selection import Selection, Step


def looks(n=300, seed=0):
    rng = np.random.default_rng(seed)
    fine, coins = rng.integers(0, 4, n), rng.integers(0, 2, (2, n))
    return np.column_stack([fine, fine // 2, coins[0]]), fine + coins[1]


def test_roles_from_the_record_are_the_same_for_other_rows():
    """Without the groups of the fit nothing is tested, so its final p-values still count."""
    X, y = looks()
    settings = {"criterion": "mi", "backward": None, "estimator": "discrete"}
    selector = quick(**settings).fit(X, y, np.arange(300) % 5)
    assert selector.selection_.p_values["x1"] > 0.05
    found = [
        {feature.name: feature.role for feature in selector.explain(*rows)}
        for rows in ((X, y), looks(seed=1))
    ]
    assert found[0] == found[1]


def test_groups_must_do_for_the_smallest_share_of_alpha():
    """24 arrangements do for 0.05, but not for the 0.025 of each level with look-ahead."""
    X = np.random.default_rng(0).integers(0, 2, (80, 3))
    y = X[:, 0] ^ X[:, 1]
    selector = quick(surrogates="blocks", estimator="discrete", lookahead=2)
    with pytest.raises(ValueError, match="arranged in 24 ways only"):
        selector.fit(X, y, np.repeat(np.arange(4), 20))


def test_without_tests_groups_need_not_move():
    X, _ = numbers()
    level = np.repeat(np.random.default_rng(0).normal(size=50), 2)
    selector = quick(n_permutations=0, max_features=1, estimator="gaussian")
    assert len(selector.fit(X, level, np.arange(100) // 2).selection_.features) == 1


def test_who_left_and_came_back_did_not_come_in_together():
    parts = {
        "conditioning_set": (),
        "unit": "bit",
        "critical_value": 0.3,
        "p_value": 0.025,
        "alpha": 0.05,
        "surrogates": "global",
        "n_permutations": 39,
    }

    def step(phase, candidates, chosen, accepted=True, jointly_included=()):
        n = len(candidates)
        return Step(
            phase=phase,
            candidates=candidates,
            values=(0.5,) * n,
            scores=(0.5,) * n,
            estimators=("ksg",) * n,
            p_values=(0.025,) * n,
            chosen=chosen,
            accepted=accepted,
            jointly_included=jointly_included,
            **parts,
        )

    steps = (
        step(
            "lookahead", ("a & b & c", "a & b & d"), "a & b & c", jointly_included=("a", "b", "c")
        ),
        step("joint_backward", ("a", "b", "c"), "c", accepted=False),
        step("forward", ("c", "d"), "c"),
    )
    text = str(Selection(("a", "b", "c"), (), steps))
    assert "a and b were included jointly" in text


@pytest.mark.filterwarnings("ignore:No feature was selected")
def test_a_close_call_is_noted_also_where_there_is_no_room_to_look_ahead():
    settings = {"estimator": "gaussian", "surrogates": "global", "alpha": 0.1, "n_permutations": 99}
    n_close = 0
    for seed in range(30):
        X, y = noise(60, seed)
        wide = quick(**{**settings, "alpha": 0.05}).fit(X, y).selection_.steps[0]
        short = quick(**settings, lookahead=2, max_features=1).fit(X, y).selection_.steps[0]
        n_close += wide.close_call
        if not wide.accepted:
            assert wide.close_call == short.close_call
    assert n_close
