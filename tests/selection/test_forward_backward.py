"""Forward selection and backward elimination equal their naive twins."""

from __future__ import annotations

import gc
import weakref
from functools import partial

import numpy as np
import pytest
import systems
from systems import assert_same, quick

import naive
from pidselect.data.column import Block, Column
from pidselect.estimators import KSG, Copula, Discrete, Gaussian, Mixed
from pidselect.selection.backward import STATISTICS, backward
from pidselect.selection.context import NamedEstimator, SelectionContext
from pidselect.selection.criteria import Conditional, Unconditional
from pidselect.selection.forward import SelectionPlan, forward
from pidselect.selection.pool import Feature
from pidselect.significance.rng import BACKWARD, FORWARD

ALPHA, DRAWS, SEED = 0.05, 39, 7
PHASES = {"forward": FORWARD, "backward": BACKWARD}
CONDITIONAL = SelectionPlan(Conditional())


def zscored(twin):
    return lambda *blocks: twin(*(naive.zscore(block) for block in blocks))


ESTIMATORS = [
    pytest.param(Discrete(), naive.discrete, True, id="discrete"),
    pytest.param(Gaussian(), naive.gaussian, False, id="gaussian"),
    pytest.param(Copula(), naive.copula, False, id="copula"),
    pytest.param(KSG(), zscored(naive.ksg1), False, id="ksg"),
    pytest.param(KSG(k=2, algorithm=2), zscored(partial(naive.ksg2, k=2)), False, id="ksg2"),
    pytest.param(Mixed(), zscored(naive.mixed), False, id="mixed"),
]


# --- systems and their pieces --------------------------------------------------------------------


def gates(seed, n=150):
    """y = (x0 and x1) or x2; x3 is a copy of x2 with errors, x4 and x5 are noise."""
    x = np.random.default_rng(seed).integers(0, 2, (n, 6)).astype(float)
    x[:, 3] = np.where(np.arange(n) % 5, x[:, 2], 1 - x[:, 2])
    y = np.maximum(x[:, [0]] * x[:, [1]], x[:, [2]])
    return x, y


def numbers(seed, n=70):
    """y = x0 + x1 + noise; x2 is a noisy copy of x0, x3 and x4 are noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 5))
    x[:, 2] = x[:, 0] + 0.3 * x[:, 2]
    return x, x[:, [0]] + x[:, [1]] + 0.5 * rng.normal(size=(n, 1))


def column(name, values, discrete):
    return Column(name, "ordinal" if discrete else "continuous", np.ascontiguousarray(values))


def prepared(x, y, estimator, discrete, **settings):
    context = SelectionContext(
        Block((column("y", y[:, 0], discrete),)),
        NamedEstimator("estimator", estimator),
        **{"alpha": ALPHA, "n_permutations": DRAWS, "seed": SEED, **settings},
    )
    features = [
        Feature(f"x{j}", (j,), Block((column(f"x{j}", values, discrete),)))
        for j, values in enumerate(x.T)
    ]
    return context, features


def permute(n, phase, step, j, draw):
    return naive.permutation((SEED, PHASES[phase], step, j, draw), n)


def permute_all_alike(n, phase, step, j, draw):
    return naive.permutation((SEED, PHASES[phase], step, draw), n)


def included(steps):
    return [step.chosen for step in steps if step.accepted]


# --- against the twin ----------------------------------------------------------------------------


@pytest.mark.parametrize(("estimator", "twin", "discrete"), ESTIMATORS)
def test_forward(estimator, twin, discrete):
    x, y = gates(0) if discrete else numbers(0)
    context, features = prepared(x, y, estimator, discrete)
    selected, steps = forward(context, (), features, CONDITIONAL)
    expected = naive.forward(x, y, twin, partial(permute, len(x)), ALPHA, DRAWS)
    assert_same(steps, expected)
    assert [f.columns[0] for f in selected] == included(expected)
    for number, step in enumerate(steps):
        assert step.conditioning_set == tuple(f.name for f in selected[:number])


@pytest.mark.parametrize(("estimator", "twin", "discrete"), ESTIMATORS)
@pytest.mark.parametrize("statistic", ["minimum", "maximum"])
def test_backward(estimator, twin, discrete, statistic):
    x, y = gates(1) if discrete else numbers(1)
    start = [3, 2, 0, 1, 4]
    context, features = prepared(x, y, estimator, discrete)
    remaining, steps, final = backward(
        context, (), [features[j] for j in start], STATISTICS[statistic]
    )
    twin_statistic = {"minimum": naive.minimum_statistic, "maximum": naive.maximum_statistic}
    expected = naive.backward(
        x, y, start, twin, partial(permute, len(x)), ALPHA, DRAWS, twin_statistic[statistic]
    )
    assert_same(steps, expected)
    removed = [step.chosen for step in expected if not step.accepted]
    assert [f.columns[0] for f in remaining] == [j for j in start if j not in removed]
    assert list(final) == [feature.name for feature in remaining]


def test_unconditional_forward():
    x, y = gates(2)
    context, features = prepared(x, y, Discrete(), True)
    _, steps = forward(context, (), features, SelectionPlan(Unconditional()))
    expected = naive.forward(
        x, y, lambda x, y, s: naive.discrete(x, y), partial(permute, len(x)), ALPHA, DRAWS
    )
    assert_same(steps, expected)


def test_shared_permutations():
    x, y = gates(3)
    context, features = prepared(x, y, Discrete(), True, shared_permutations=True)
    _, steps = forward(context, (), features, CONDITIONAL)
    order = partial(permute_all_alike, len(x))
    assert_same(steps, naive.forward(x, y, naive.discrete, order, ALPHA, DRAWS))
    _, steps, _ = backward(context, (), features[:4], STATISTICS["minimum"])
    assert_same(steps, naive.backward(x, y, range(4), naive.discrete, order, ALPHA, DRAWS))


def test_fixed_features_are_conditioned_on_and_never_tested():
    x, y = gates(4)
    context, features = prepared(x, y, Discrete(), True)
    fixed = x[:, [5]]

    def score(x, y, s):
        return naive.discrete(x, y, np.hstack([fixed, s]))

    order = partial(permute, len(x))
    selected, steps = forward(context, features[5:], features[:5], CONDITIONAL)
    assert_same(steps, naive.forward(x[:, :5], y, score, order, ALPHA, DRAWS))
    _, steps, _ = backward(context, features[5:], selected, STATISTICS["minimum"])
    chosen = [f.columns[0] for f in selected]
    assert_same(steps, naive.backward(x, y, chosen, score, order, ALPHA, DRAWS))


def test_the_most_features():
    x, y = gates(5)
    context, features = prepared(x, y, Discrete(), True)
    selected, steps = forward(context, (), features, CONDITIONAL)
    for most in range(len(selected) + 1):
        fewer, first = forward(context, (), features, SelectionPlan(Conditional(), most))
        assert fewer == selected[:most]
        assert first == steps[:most]


def test_no_result_if_nothing_remains():
    x, y = gates(4)
    context, features = prepared(x, y, Discrete(), True)
    remaining, steps, final = backward(context, (), features[4:5], STATISTICS["minimum"])
    assert (remaining, [step.accepted for step in steps], final) == ([], [False], {})
    assert backward(context, (), (), STATISTICS["minimum"]) == ([], [], {})


class GivenValues:
    """An estimator with given values of the observed features, and 0 for every surrogate."""

    def __init__(self, **worth):
        self.worth = worth

    def bind(self, target, given):
        return self

    def score(self, batch):
        observed = (batch.rows == np.arange(batch.rows.shape[1])).all(axis=1)
        return np.where(observed, self.worth[batch.block.names[0]], 0.0)


def test_near_ties_go_to_the_first():
    """0.1 + 0.2 is a little more than 0.3: rounding, which must not decide."""
    x, y = gates(0)
    context, features = prepared(x[:, :2], y, GivenValues(x0=0.3, x1=0.1 + 0.2), True)
    assert forward(context, (), features, CONDITIONAL)[1][0].chosen == "x0"
    context, features = prepared(x[:, :2], y, GivenValues(x0=0.1 + 0.2, x1=0.3), True)
    assert backward(context, (), features, STATISTICS["minimum"])[1][0].chosen == "x0"


# --- what results do not depend on ---------------------------------------------------------------


def test_order_of_candidates_does_not_matter():
    """Random streams belong to columns, not to positions."""
    x, y = numbers(7)
    context, features = prepared(x, y, KSG(), False)
    selected, steps = forward(context, (), features, CONDITIONAL)
    turned, mirrored = forward(context, (), features[::-1], CONDITIONAL)
    assert turned == selected
    for step, mirror in zip(steps, mirrored, strict=True):
        assert (step.chosen, step.p_value) == (mirror.chosen, mirror.p_value)
        assert step.critical_value == mirror.critical_value
        assert step.values == mirror.values[::-1]


def test_estimators_are_released_before_others_are_bound(monkeypatch):
    """The memory is that of one test at a time."""
    bound, n_alive, bind = [], [], SelectionContext.bind

    def recording(*arguments, **options):
        gc.collect()
        n_alive.append(sum(reference() is not None for reference in bound))
        found = bind(*arguments, **options)
        bound.extend(map(weakref.ref, found))
        return found

    monkeypatch.setattr(SelectionContext, "bind", recording)
    gc.freeze()  # what is there already need not be looked through each time
    for settings in ({}, {"n_permutations": "auto"}, {"backward": None}):
        quick(**settings).fit(*systems.numbers())
    assert not any(n_alive)
