"""The level of a step is alpha: its stages and tests have shares that add up to it."""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest
from systems import chosen, noise, numbers, parity, quick

from pidselect import PIDSelector
from pidselect.selection.lookahead import SINGLE_SHARE, Lookahead
from pidselect.significance.staged import STAGES

LEVELS = pytest.mark.parametrize("alpha", [0.05, 0.01, 0.001])
EMPTY = pytest.mark.filterwarnings("ignore:No feature was selected:UserWarning")


def test_shares_add_up_to_alpha():
    stages = [stage.share for stage in STAGES]
    assert sum(stages) == pytest.approx(1.0)
    for plan, n_joint in ((Lookahead(3), 1), (Lookahead(3, 5), 2), (Lookahead(1, 5), 1)):
        order = plan.order
        single = [plan.share_of_singles(order) * share for share in stages]
        joint = [plan.share_of_joint(order)] * n_joint
        assert sum(single) + sum(joint) == pytest.approx(1.0)
    assert Lookahead(1).share_of_singles(1) == 1.0
    assert [SINGLE_SHARE * share for share in stages] == pytest.approx([0.64, 0.16])


@EMPTY
@pytest.mark.parametrize(("alpha", "lookahead"), [(0.05, 1), (0.05, 2), (0.01, 2), (0.001, 1)])
def test_a_decided_stage_has_the_permutations_that_its_share_needs(alpha, lookahead):
    """10 over its level; a stage that cannot become significant stops before."""
    share = (SINGLE_SHARE if lookahead > 1 else 1.0) * STAGES[0].share
    record = quick(alpha=alpha, lookahead=lookahead).fit(*numbers(seed=2)).selection_
    forward = [step for step in record.steps if step.phase == "forward"]
    assert [step.accepted for step in forward] == [True, True, False]
    needed = ceil(10 / (alpha * share))
    assert [step.n_permutations for step in forward[:2]] == [needed, needed]
    # p = (1 + 0) / (1 + n) over the share
    assert forward[0].p_value == pytest.approx(1 / (1 + needed) / share)
    assert forward[0].score > forward[0].critical_value
    none = quick(alpha=alpha, lookahead=lookahead).fit(*noise(seed=1)).selection_.steps[0]
    assert none.n_permutations < 10 / (alpha * STAGES[1].share)
    assert none.alpha == alpha


@pytest.mark.parametrize(
    ("alpha", "kind"), [(0.05, int), (0.05, float), (0.01, int), (0.01, float), (0.001, int)]
)
def test_a_synergistic_pair_is_found_at_any_level(alpha, kind):
    """An XOR pair of 95 % right answers, or the sign of a product, by default."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (150, 3)) if kind is int else rng.normal(size=(150, 3))
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0)) ^ (rng.random(150) < 0.05)
    selector = quick(alpha=alpha).fit(X, y)
    # In the one table whose third column comes beside the pair, by chance, the pair is asked for.
    by_chance = {"x2"} if (alpha, kind) == (0.05, float) else set()
    assert set(chosen(selector)) - by_chance == {"x0", "x1"}
    assert all(step.alpha == pytest.approx(alpha) for step in selector.selection_.steps[:1])


@pytest.mark.parametrize(
    ("settings", "least"),
    [
        ({"lookahead": 1}, 0.2),
        ({"lookahead": 2}, 0.8 * 0.2),
        ({"lookahead": "auto"}, 0.8 * 0.2),
        ({"lookahead": 1, "n_random_starts": 2}, 0.8 * 0.2),
        ({"lookahead": 2, "n_random_starts": 2}, 0.1),
        ({"lookahead": 2, "estimator": "gaussian"}, 0.2),
        ({"lookahead": 1, "estimator": "gaussian"}, 1.0),
    ],
    ids=str,
)
@LEVELS
def test_a_number_that_cannot_reach_a_share_is_refused_in_words(settings, least, alpha):
    needed = ceil(1 / (alpha * least) - 1e-9) - 1
    few = PIDSelector(alpha=alpha, n_permutations=needed - 1, random_state=0, **settings)
    with pytest.raises(ValueError, match=rf"n_permutations={needed - 1}.*={needed} or more"):
        few.fit(*numbers())
    if alpha == 0.05:
        found = few.set_params(n_permutations=needed).fit(*numbers())
        assert sorted(chosen(found)) == ["x0", "x1"]


def test_parity_of_three_is_found_by_default():
    """Each of the three is informative given both others, whose levels are strata."""
    X, y = parity(3)
    assert sorted(chosen(quick().fit(X, y))) == ["x0", "x1", "x2"]
