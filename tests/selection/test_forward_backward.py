"""Forward selection and backward elimination."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import naive

PHASES = {"forward": 0, "backward": 1}


def permute(n, seed, phase, step, column, draw):
    return naive.permutation((seed, PHASES[phase], step, column, draw), n)


def gates(seed, n=150):
    """y = (x0 and x1) or x2; x3 is a copy of x2 with errors, x4 and x5 are noise."""
    x = np.random.default_rng(seed).integers(0, 2, (n, 6)).astype(float)
    x[:, 3] = np.where(np.arange(n) % 5, x[:, 2], 1 - x[:, 2])
    y = np.maximum(x[:, [0]] * x[:, [1]], x[:, [2]])
    return x, y


def chosen(steps):
    return [step.chosen for step in steps if step.accepted]


# --- the twin itself ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_naive_forward_finds_the_gate_and_stops(seed):
    x, y = gates(seed)
    steps = naive.forward(x, y, naive.discrete, partial(permute, len(x), seed), 0.05, 39)
    assert sorted(chosen(steps)) == [0, 1, 2]
    assert [step.accepted for step in steps] == [True, True, True, False]
    assert all((step.p_value <= 0.05) == step.accepted for step in steps)


def test_naive_backward_removes_the_copy():
    x, y = gates(3)
    order = partial(permute, len(x), 3)
    for statistic in (naive.minimum_statistic, naive.maximum_statistic):
        steps = naive.backward(x, y, [3, 2, 0, 1], naive.discrete, order, 0.05, 39, statistic)
        assert chosen(steps) == [3]
        assert [step.accepted for step in steps] == [True, False]


def test_naive_backward_can_end_with_nothing():
    x, y = gates(4)
    noise = x[:, [4]]
    steps = naive.backward(noise, y, [0], naive.discrete, partial(permute, len(x), 4), 0.05, 39)
    assert chosen(steps) == [0]
    assert naive.backward(noise, y, [], naive.discrete, partial(permute, len(x), 4), 0.05, 39) == []


# --- p-values and lines -------------------------------------------------------------------------


def test_p_value_counts_equal_values():
    null = [0.1, 0.2, 0.3, 0.4]
    assert naive.p_value(0.5, null) == 1 / 5
    assert naive.p_value(0.4, null) == 2 / 5
    assert naive.p_value(0.4 + 1e-12, null) == 2 / 5
    assert naive.p_value(0.0, null) == 1


@pytest.mark.parametrize(("n", "alpha"), [(200, 0.05), (19, 0.05), (99, 0.01), (999, 0.3)])
def test_the_line_is_where_p_passes_alpha(n, alpha):
    null = np.random.default_rng(n).normal(size=n).tolist()
    line = naive.null_line(null, alpha)
    for observed in [*null, line + 1e-6, line - 1e-6, 10.0, -10.0]:
        assert (naive.p_value(observed, null) <= alpha) == (observed > line)


def test_no_value_passes_where_there_are_too_few_draws():
    assert naive.null_line([0.0] * 18, 0.05) == np.inf
    assert naive.null_line([0.0] * 19, 0.05) == 0.0


def test_two_hundred_draws_allow_nine():
    """(1 + 9) / 201 <= 0.05 < (1 + 10) / 201: the line is the tenth largest."""
    assert naive.null_line(list(range(200)), 0.05) == 190
