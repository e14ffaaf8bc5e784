"""Selected features are exchanged for candidates that make them redundant."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from systems import bits, context_for, features_of, quick

from pidselect.selection import Step
from pidselect.selection import fit as fit_module
from pidselect.selection.context import NamedEstimator
from pidselect.selection.criteria import Conditional
from pidselect.selection.forward import SelectionPlan
from pidselect.selection.scoring import ConditionalMI
from pidselect.selection.swap import swap
from pidselect.significance.staged import ScoreTest, StagedSettings

N = 200
PLAN = SelectionPlan(Conditional())


def proxy_of_both(seed=2, n=120):
    """y is t + z with noise, x0 measures t and some of z, x1 is z, x2 measures t alone."""
    rng = np.random.default_rng(seed)
    t, z, *noise = rng.normal(size=(5, n))
    x0, x2 = t + 0.5 * z + 0.35 * noise[0], t + 0.05 * noise[1]
    return np.column_stack([x0, z, x2]), t + z + 1.5 * noise[2]


# --- one round -----------------------------------------------------------------------------------


def proxy(seed=0, n=N):
    """y and x0 are x1 with errors, x2 is informative, too; x3 and x4 are noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 5))
    x[:, 0] = x[:, 1] + 0.5 * x[:, 0]
    return x, x[:, 1] + x[:, 2] + 0.5 * rng.normal(size=n)


def run_swap(x, y, selected, before=(), significant=range(5), fixed=()):
    """Return the columns after one round of swaps, and its steps."""
    features = features_of(x, "continuous")
    context = context_for(y, NamedEstimator("score", ScoreTest()), feature_type="continuous")
    given, start = ([features[j] for j in some] for some in (fixed, selected))
    candidates = [feature for feature in features if feature not in given]
    first = forward_step(
        [f"x{j}" for j in range(5)], [0.01 if j in significant else 0.5 for j in range(5)]
    )
    context = replace(context, n_permutations=None, seed=7)
    found, steps = swap(context, given, start, candidates, PLAN, [first, *before])
    return [feature.columns[0] for feature in found], steps


def forward_step(names, p_values, **changes):
    parts = {
        "phase": "forward",
        "conditioning_set": (),
        "candidates": tuple(names),
        "values": (0.1,) * len(names),
        "scores": (1.0,) * len(names),
        "unit": "",
        "estimators": ("line",) * len(names),
        "p_values": tuple(p_values),
        "chosen": names[0],
        "critical_value": None,
        "p_value": p_values[0],
        "alpha": 0.05,
        "surrogates": "global",
        "n_permutations": 250,
        "accepted": True,
    }
    return Step(**{**parts, **changes})


@pytest.mark.parametrize(
    ("selected", "swapped"),
    [([0, 2], [2, 1]), ([2, 0], [2, 1]), ([1, 2], [1, 2]), ([3, 0], [1, 2])],
)
def test_swaps(selected, swapped):
    """The most informative takes the place, one feature after the other."""
    x, y = proxy()
    found, steps = run_swap(x, y, selected)
    assert sorted(found) == sorted(swapped)
    assert len(steps) == len(set(swapped) - set(selected))
    for step in steps:
        assert step.accepted
        assert step.p_value <= 0.05
        assert float(step.note.split("p = ")[1].split()[0]) > 0.05


@pytest.mark.parametrize("share", [2.0, 0.5])
def test_both_are_retained_if_both_are_significant_given_each_other(share):
    """Whichever of the two is more informative."""
    x, y = proxy()
    assert run_swap(x, y + share * x[:, 0], [0, 2]) == ([0, 2], [])


def test_of_two_that_make_each_other_redundant_the_more_informative_stays():
    x, _ = proxy()
    truth = x[:, 4].copy()
    x[:, 0] = truth + 0.2 * x[:, 2]
    x[:, 1] = truth + 0.2 * x[:, 3]
    y = truth + 2.0 * np.random.default_rng(0).normal(size=N)
    found = [run_swap(x, y, [j], significant=[0, 1])[0] for j in (0, 1)]
    assert found in ([[0], [0]], [[1], [1]])


def test_only_what_was_significant_before_is_a_rival():
    x, y = proxy()
    assert run_swap(x, y, [0, 2], significant=[0, 2, 3]) == ([0, 2], [])


def test_what_was_replaced_before_does_not_come_back():
    x, y = proxy()
    found, (step,) = run_swap(x, y, [0, 2])
    assert found == [2, 1]
    before = [replace(step, chosen="x0", replaced="x1")]
    assert run_swap(x, y, [0, 2], before) == ([0, 2], [])


@pytest.mark.parametrize(("noise", "is_replaced"), [(0.3, True), (0.1, False)])
def test_a_near_duplicate_is_not_replaced(noise, is_replaced):
    """Whichever of two columns of nearly the same ranks is selected stays."""
    x, y = proxy()
    x[:, 0] = x[:, 1] + noise * np.random.default_rng(1).normal(size=N)
    found, _ = run_swap(x, y, [0, 2])
    assert found == ([2, 1] if is_replaced else [0, 2])


def test_swaps_beside_fixed_features():
    x, y = proxy()
    found, (step,) = run_swap(x, y, [0], fixed=[2])
    assert (found, step.conditioning_set) == ([1], ("x2",))
    assert (step.chosen, step.replaced, step.removed) == ("x1", "x0", ("x0",))


# --- in a fit ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "swapped"),
    [
        ({}, ["x0"]),
        ({"estimator": "gaussian"}, []),
        ({"backward": None}, []),
        ({"max_conditioning": 2}, []),
        ({"criterion": "mi"}, []),
    ],
    ids=str,
)
def test_only_the_score_test_given_all_others_has_swaps(settings, swapped):
    """Once x1 is selected, x2 is more informative than x0."""
    record = quick(lookahead=1, **settings).fit(*proxy_of_both()).selection_
    assert [step.replaced for step in record.steps if step.phase == "swap"] == swapped


def test_a_proxy_of_two_features_is_removed():
    """x0 is most informative alone, but the sum of x1 and x2 with errors."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    X[:, 0] = X[:, 1] + X[:, 2] + 0.7 * X[:, 0]
    y = X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=N)
    record = quick().fit(X, y).selection_
    assert record.steps[0].chosen == "x0"
    assert sorted(record.features) == ["x1", "x2"]


def test_swaps_go_on_for_three_rounds(monkeypatch):
    """Each is followed by the other phases, even if the same two are swapped for ever."""
    rounds = []

    def endless(context, fixed, selected, candidates, plan, before):
        rounds.append([step.phase for step in before])
        return list(selected), [replace(before[0], phase="swap")]

    monkeypatch.setattr(fit_module, "swap", endless)
    quick().fit(*proxy())
    assert len(rounds) == 3
    for earlier, later in pairwise(rounds):
        added = later[len(earlier) :]
        assert added[0] == "swap"
        assert {"forward", "backward"} < {*added}


def test_a_feature_is_not_replaced_beyond_max_features():
    """A group of two columns does not fit in the place of one."""
    X, y = proxy_of_both()
    X = np.column_stack([X, np.random.default_rng(0).normal(size=len(X))])
    settings = {"lookahead": 1, "feature_groups": {"both": [2, 3]}}
    features = [quick(**settings, max_features=n).fit(X, y).selection_.features for n in (2, 3)]
    assert [sorted(some) for some in features] == [["x0", "x1"], ["both", "x1"]]


def two_pairs():
    """Two pairs of bits are informative jointly only."""
    X = bits(400)
    return X, 2 * (X[:, 0] ^ X[:, 1]) + (X[:, 2] ^ X[:, 3])


def test_no_steps_of_a_fit_have_a_random_stream_in_common(monkeypatch):
    score, given = ConditionalMI.score, {}

    def noted(scores, permutations):
        names = tuple(tuple(f.name for f in some) for some in scores.binding.given)
        given.setdefault(scores.stream_key, set()).add(names)
        return score(scores, permutations)

    monkeypatch.setattr(ConditionalMI, "score", noted)
    steps = quick(estimator="discrete", n_permutations=99).fit(*two_pairs()).selection_.steps
    assert [step.phase for step in steps].count("joint_backward") == 2
    assert {len(sets) for key, sets in given.items() if key} == {1}


def test_swaps_and_the_steps_after_them_have_random_streams_of_their_own(monkeypatch):
    test, given = StagedSettings.test, {}

    def noted(settings, block, candidates, stream_key, *more):
        given.setdefault(stream_key, set()).add(block.names)
        return test(settings, block, candidates, stream_key, *more)

    monkeypatch.setattr(StagedSettings, "test", noted)
    steps = quick(lookahead=1).fit(*proxy_of_both()).selection_.steps
    phases = [step.phase for step in steps]
    assert {"forward", "backward"} <= {*phases[phases.index("swap") + 1 :]}
    assert {len(sets) for sets in given.values()} == {1}
    given.clear()
    assert len(run_swap(*proxy(), [3, 0])[1]) == 2
    assert {len(sets) for sets in given.values()} == {1}
