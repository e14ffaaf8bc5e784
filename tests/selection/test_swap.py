"""Selected features are exchanged for candidates that make them redundant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from recording_observer import Interrupting
from systems import bits, quick

import naive
from pidselect.data import Block, Column
from pidselect.estimators import Discrete, Gaussian
from pidselect.report.sentences import record_sentence
from pidselect.selection.context import NamedEstimator, SelectionContext
from pidselect.selection.criteria import Conditional
from pidselect.selection.forward import SelectionPlan
from pidselect.selection.pool import Feature
from pidselect.selection.progress import observing, selected_features
from pidselect.selection.scoring import ConditionalMI
from pidselect.selection.swap import BIAS_PERMUTATIONS, swap
from pidselect.significance import SWAP

ALPHA, DRAWS, SEED, N = 0.05, 39, 7, 200
PLAN = SelectionPlan(Conditional())
LABELS = np.array(list("abcd"), dtype=object)


def flipped(rng, bits, share):
    return np.where(rng.random(len(bits)) < share, 1 - bits, bits)


def proxy_of_two(seed=1):
    """y is a + b with errors, p a joint measurement of a and b, z noise: columns p, a, b, z."""
    rng = np.random.default_rng(seed)
    a, b, z = rng.integers(0, 2, (3, N))
    p = 2 * flipped(rng, a, 0.02) + flipped(rng, b, 0.02)
    y = np.where(rng.random(N) < 0.75, a + b, rng.integers(0, 3, N))
    return LABELS[np.stack([p, a, b, z], axis=1)], LABELS[y]


def measured(seed):
    """y and x0 are x1 with errors, x2 is informative, too; x3 and x4 are noise."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, (N, 5))
    x[:, 0] = flipped(rng, x[:, 1], 0.1)
    y = flipped(rng, x[:, 1], 0.15) + x[:, 2] * (rng.random(N) < 0.7)
    return x.astype(float), y.astype(float)[:, np.newaxis]


# --- against a twin in plain loops ---------------------------------------------------------------


def draw(n, key, number):
    return naive.permutation((SEED, *key, number), n) if number else range(n)


def value(x, y, j, given, rows):
    return naive.discrete(x[list(rows)][:, [j]], y, x[:, given] if given else None)


def p_of(j, x, y, candidates, given, key):
    """Return the p-value of one of the candidates by the maximum over all of them."""
    values = np.array(
        [
            [value(x, y, j, given, draw(len(x), key, m)) for m in range(1 + DRAWS)]
            for j in candidates
        ]
    )
    return naive.p_value(values[candidates.index(j), 0], values[:, 1:].max(axis=0))


def naive_swap(x, y, selected, candidates, fixed=(), n_before=0):
    """Return the features, and the swaps: the candidate, its p-value, and that of f."""
    current, swaps = list(selected), []
    for f in selected:
        kept = [j for j in current if j != f]
        others = [*fixed, *kept]
        rivals = [j for j in candidates if j not in current]
        above = {}
        for j in (f, *rivals):
            values = [
                value(x, y, j, others, draw(len(x), (SWAP,), m))
                for m in range(1 + BIAS_PERMUTATIONS)
            ]
            above[j] = values[0] - np.mean(values[1:])
        rival = max(rivals, key=above.__getitem__)
        if above[rival] <= above[f] + 1e-10:
            continue
        observed, *null = [
            value(x, y, f, [*others, rival], draw(len(x), (SWAP,), m))
            for m in range(1 + BIAS_PERMUTATIONS)
        ]
        if observed > np.mean(null) + 5 * np.std(null) + 1e-10:
            continue
        step = n_before + len(swaps)
        p_of_f = p_of(f, x, y, [f], [*others, rival], (SWAP, step, 0))
        if p_of_f <= ALPHA:
            continue
        p = p_of(rival, x, y, [f, *rivals], others, (SWAP, step, 1))
        if p <= ALPHA:
            swaps.append((rival, p, p_of_f))
            current = [*kept, rival]
    return current, swaps


def run_swap(x, y, selected, before=(), estimator=None, feature_type="nominal", fixed=()):
    """Return the columns after one round of swaps, and its steps."""
    blocks = [Block((Column(f"x{j}", feature_type, v.copy()),)) for j, v in enumerate(x.T)]
    features = [Feature(f"x{j}", (j,), block) for j, block in enumerate(blocks)]
    context = SelectionContext(
        Block((Column("y", feature_type, y[:, 0]),)),
        (NamedEstimator("one", estimator or Discrete()),),
        alpha=ALPHA,
        n_permutations=DRAWS,
        shared_permutations=True,
        seed=SEED,
    )
    given, start = ([features[j] for j in some] for some in (fixed, selected))
    candidates = [feature for feature in features if feature not in given]
    found, steps = swap(context, given, start, candidates, PLAN, before)
    return [feature.columns[0] for feature in found], steps


@pytest.mark.parametrize(
    ("seed", "selected", "swapped"),
    [
        (0, [0, 2], [2, 1]),
        (1, [0, 2], [2, 1]),
        (2, [2, 0], [2, 1]),
        (3, [1, 2], [1, 2]),
        (4, [3, 0], [2, 1]),
        (18, [0, 2], [0, 2]),  # x1 is more informative, but x0 is significant given x1
    ],
)
def test_swaps_equal_the_twin(seed, selected, swapped):
    x, y = measured(seed)
    found, steps = run_swap(x, y, selected)
    expected, swaps = naive_swap(x, y, selected, range(5))
    assert found == expected == swapped
    for step, (c, p, p_of_f) in zip(steps, swaps, strict=True):
        assert step.accepted
        assert step.chosen == f"x{c}"
        assert step.p_value == pytest.approx(p)
        assert f"p = {p_of_f:.4f} given it" in step.note


def test_what_was_replaced_before_does_not_come_back():
    x, y = measured(0)
    _, (step,) = run_swap(x, y, [0, 2])
    before = [replace(step, chosen="x0", replaced="x1")]
    assert run_swap(x, y, [0, 2], before) == ([0, 2], [])


@pytest.mark.parametrize(("noise", "is_replaced"), [(0.3, True), (0.1, False)])
def test_a_near_duplicate_is_not_replaced(noise, is_replaced):
    """Whichever of two columns of nearly the same ranks is selected stays."""
    rng = np.random.default_rng(0)
    truth, error = rng.normal(size=(2, N))
    x = np.column_stack([truth + noise * error, truth])
    y = (truth + 0.05 * rng.normal(size=N))[:, np.newaxis]
    found, _ = run_swap(x, y, [0], estimator=Gaussian(), feature_type="continuous")
    assert found == [int(is_replaced)]


# --- in a fit ------------------------------------------------------------------------------------


def test_a_proxy_of_two_features_is_replaced():
    """Given a and the proxy, b is not significant; given a alone, it is, and the proxy is not."""
    X, y = proxy_of_two()
    selection = quick().fit(X, y).selection_
    assert sorted(selection.features) == ["x1", "x2"]
    (step,) = (step for step in selection.steps if step.phase == "swap" and step.accepted)
    assert (step.chosen, step.replaced, step.conditioning_set) == ("x2", "x0", ("x1",))
    assert step.outcome == "included"
    assert step.removed == ("x0",)
    assert selection.inclusion_step("x2") is step
    assert "replaces x0, p = " in str(step)
    assert selected_features(selection.steps) == selection.features
    assert set(selection.p_values) == set(selection.features)
    assert "swap" in list(selection.to_frame()["phase"])
    assert "later removed as redundant" in record_sentence("x0", selection)
    with pytest.raises(KeyError, match="was not included"):
        selection.inclusion_step("x0")


@pytest.mark.parametrize("seed", [106, 264])
def test_a_swap_makes_others_possible(seed):
    """y is a sum of three bits, five columns before them joint measurements with errors."""
    rng = np.random.default_rng(seed)
    bits, columns = rng.integers(0, 2, (3, 300)), []
    for _ in range(5):
        measured = rng.choice(3, size := rng.integers(1, 4), replace=False)
        shares = rng.choice([0.02, 0.05, 0.1, 0.2], size)
        errors = [flipped(rng, bits[j], share) for j, share in zip(measured, shares, strict=True)]
        columns.append(np.left_shift(np.array(errors).T, range(size)).sum(axis=1))
    y = np.where(rng.random(300) < 0.8, bits.sum(axis=0), rng.integers(0, 4, 300))
    X = np.column_stack([*columns, *bits])
    selector = quick(lookahead=1, feature_types=["nominal"] * 8)
    record = selector.fit(X, y.astype(str)).selection_
    assert sorted(record.features) == ["x5", "x6", "x7"]
    swaps = [place for place, step in enumerate(record.steps) if step.phase == "swap"]
    assert swaps[-1] - swaps[0] >= len(swaps)  # with other steps between them


@pytest.mark.parametrize(
    "settings", [{"backward": "minimum"}, {"backward": None}, {"max_conditioning": 1}]
)
def test_other_settings_have_no_swaps(settings):
    selection = quick(**settings).fit(*proxy_of_two()).selection_
    assert all(step.phase != "swap" for step in selection.steps)


def test_a_replaced_feature_does_not_come_back():
    """Copies with like errors make each other redundant."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        truth = rng.normal(size=100)
        X = truth[:, np.newaxis] + 0.1 * rng.normal(size=(100, 4))
        steps = quick().fit(X, truth + 0.5 * rng.normal(size=100)).selection_.steps
        replaced: set[str] = set()
        for step in steps:
            if step.phase == "swap":
                assert step.chosen not in replaced
                replaced.add(step.replaced)


def test_workers_and_sequential_tests():
    X, y = proxy_of_two()
    expected = quick().fit(X, y).selection_
    assert quick(n_jobs=2).fit(X, y).selection_ == expected
    assert sorted(quick(n_permutations="auto").fit(X, y).selection_.features) == ["x1", "x2"]


def test_a_fit_resumes_at_any_step(tmp_path):
    X, y = proxy_of_two()
    expected = quick().fit(X, y).selection_
    for n_steps in range(1, len(expected.steps) + 1):
        path = tmp_path / f"{n_steps}.checkpoint"
        with observing(Interrupting("step", n_steps)), pytest.raises(KeyboardInterrupt):
            quick(checkpoint=path).fit(X, y)
        assert quick(checkpoint=path).fit(X, y).selection_ == expected


def test_a_feature_is_not_replaced_beyond_max_features():
    """A group of two columns does not fit in the place of one."""
    X, y = proxy_of_two()
    selector = quick(max_features=1, feature_groups={"both": [1, 2]}).fit(X, y)
    assert "both" not in selector.selection_.features


def test_of_many_rivals_the_strongest_are_compared(monkeypatch):
    monkeypatch.setattr("pidselect.selection.swap.MOST_RIVALS", 1)
    assert sorted(quick().fit(*proxy_of_two()).selection_.features) == ["x1", "x2"]


def test_swaps_beside_fixed_features_and_after_other_steps_equal_the_twin():
    x, y = measured(0)
    _, (step,) = run_swap(x, y, [0, 2])
    other = replace(step, chosen="x3", replaced=None)
    found, (step,) = run_swap(x, y, [0], [other] * 3, fixed=[2])
    assert (found, step.conditioning_set) == ([1], ("x2",))
    expected, ((_, p, p_of_f),) = naive_swap(x, y, [0], [0, 1, 3, 4], [2], n_before=3)
    assert expected == found
    assert step.p_value == pytest.approx(p)
    assert f"p = {p_of_f:.4f} given it" in step.note


def two_pairs():
    """Two pairs of bits are informative jointly only."""
    X = bits(400)
    return X, 2 * (X[:, 0] ^ X[:, 1]) + (X[:, 2] ^ X[:, 3])


@pytest.mark.parametrize(
    ("system", "n_permutations", "phases"),
    [(proxy_of_two, 39, ["swap"]), (two_pairs, 99, ["joint_backward"] * 2)],
)
def test_no_steps_of_a_fit_have_a_random_stream_in_common(
    system, n_permutations, phases, monkeypatch
):
    score, given = ConditionalMI.score, {}

    def noted(scores, permutations):
        names = tuple(tuple(f.name for f in some) for some in scores.binding.given)
        given.setdefault(scores.stream_key, set()).add(names)
        return score(scores, permutations)

    monkeypatch.setattr(ConditionalMI, "score", noted)
    steps = quick(n_permutations=n_permutations).fit(*system()).selection_.steps
    assert [step.phase for step in steps if step.phase in phases] == phases
    assert {len(sets) for key, sets in given.items() if key and key[0] != SWAP} == {1}
