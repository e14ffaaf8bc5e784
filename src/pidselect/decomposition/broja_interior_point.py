"""A primal-dual interior point method for the dual of the BROJA problem.

Given p(t, a) and p(t, b), find potentials l[t,a] and r[t,b] that

    maximise <p(t,a), l> + <p(t,b), r>  subject to  log sum_t exp(l[t,a] + r[t,b]) <= 0

for every pair (a, b) of source states. The multiplier of a pair is its probability q(a, b) in the
optimal distribution q(t, a, b) = q(a, b) p(t | a, b), with p(t | a, b) proportional to exp(l + r).
Each step is a Newton step for feasible marginals and a small complementarity product (slack times
multiplier) of each pair, with Mehrotra's predictor and corrector (1992).

The target of a product is proportional to a power of its value at the start, not the same for all
pairs: so states of tiny probability are hardly harder than others.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pidselect.decomposition.broja_certificate import certify
from pidselect.decomposition.broja_newton import (
    INLINED,
    KERNEL,
    FloatArray,
    NewtonStep,
    NewtonSystem,
    factorise,
    new_step,
    new_system,
    solve,
)
from pidselect.decomposition.dot_product import dot
from pidselect.jit import njit

#: The smallest slack at the start, in nats.
MARGIN = 0.5
#: The fraction of the distance to the boundary that a step takes.
NEARLY = 0.995
#: The largest violation (constraint plus slack, in nats) for which the linear model is trusted.
TRUSTED = 0.5
#: The factor by which a step beyond it is shortened, and how often.
SHORTER, SHORTENINGS = 0.6, 30
#: The smallest ratio of the next duality gap aimed at to the present one.
BOLDEST = 1e-4
#: The smallest ratio of the gap aimed at to the tolerance: below, rounding errors grow.
FLOOR = 0.05
#: Corrections are bounded by this many times the present target of the product.
MOST_CORRECTION = 5.0


class BrojaProblem(NamedTuple):
    """The marginals p(t, a), p(t, b), shapes (T, A) and (T, B), and the centre.

    `centre` (A, B) is what slack times multiplier is to be proportional to, 0 for an impossible
    pair.
    """

    first: FloatArray
    second: FloatArray
    centre: FloatArray


class Iterate(NamedTuple):
    """Potentials, slacks and multipliers, and what follows from them.

    `excess` is log sum_t exp(l + r) + slack, the primal residual.
    """

    left: FloatArray
    right: FloatArray
    slack: FloatArray
    pair: FloatArray
    conditional: FloatArray
    excess: FloatArray


class Work(NamedTuple):
    """The Newton system, the step, what it aims at, and buffers."""

    system: NewtonSystem
    step: NewtonStep
    target: FloatArray  # (A, B): of slack times multiplier
    left_side: FloatArray  # (T, A)
    right_side: FloatArray  # (T, B)
    pairs: FloatArray  # (2, A, B)


def interior_point(
    first: FloatArray, second: FloatArray, power: float, tolerance: float, most_steps: int
) -> tuple[float, float, int]:
    """Solve for p(t, a) and p(t, b), every row and column of which has a positive entry.

    `first` (T, A) and `second` (T, B) have the same sum for each t. The target of slack times
    multiplier is proportional to its value at the start to the `power`: 1 treats likely and
    unlikely pairs alike, 0 favours likely ones. Returned are certified bounds (lower, upper) of
    min -H(T | X1, X2) in nats, and the number of steps.
    """
    problem, point, work = allocate(first, second)
    start(problem, point, work, power)
    lower, upper, step = -math.inf, math.inf, 0
    nearest = FLOOR * tolerance
    while True:
        step, distance = iterate(problem, point, work, nearest, tolerance, step, most_steps)
        joint = work.system.joint
        set_joint(point, joint)
        below, above = certify(first, second, point.left, point.right, joint)
        lower, upper = max(lower, below), min(upper, above)
        if upper - lower <= tolerance or not math.isfinite(distance) or step == most_steps:
            return lower, upper, step
        step, _ = iterate(problem, point, work, nearest, 0.0, step, step + 1)


def allocate(first: FloatArray, second: FloatArray) -> tuple[BrojaProblem, Iterate, Work]:
    """Allocate all arrays: what allocates nothing itself compiles in half the time."""
    n_targets, n_first, n_second = *first.shape, second.shape[1]
    pairs = (n_first, n_second)
    conditional = np.empty((n_targets, *pairs))
    point = Iterate(
        np.full(first.shape, -np.inf),
        np.full(second.shape, -np.inf),
        np.ones(pairs),
        np.zeros(pairs),
        conditional,
        np.zeros(pairs),
    )
    system = new_system(first, conditional)
    work = Work(
        system,
        new_step(system),
        np.empty(pairs),
        np.empty(first.shape),
        np.empty(second.shape),
        np.empty((2, *pairs)),
    )
    return BrojaProblem(first, second, np.empty(pairs)), point, work


@njit(**KERNEL)
def iterate(problem, point, work, nearest, enough, step, last):
    """Take steps until slack times multiplier sums to less than `enough`, or to the last one.

    Returned are the number of steps and that sum, approximately the duality gap; steps aim at
    `nearest` at most.
    """
    distance = dot(point.slack, point.pair)
    while step < last and distance >= enough and np.isfinite(distance):
        improve(problem, point, work, distance, nearest)
        distance = dot(point.slack, point.pair)
        step += 1
    return step, distance


@njit(**KERNEL)
def start(problem, point, work, power):
    """Set the start, sources independent given the target, strictly feasible; and the centre."""
    first, second = problem.first, problem.second
    n_targets, n_first, n_second = point.conditional.shape
    of_first, of_second = work.left_side[0], work.right_side[0]
    of_first[:], of_second[:] = 0.0, 0.0
    for t in range(n_targets):
        for a in range(n_first):
            of_first[a] += first[t, a]
        for b in range(n_second):
            of_second[b] += second[t, b]
    for t in range(n_targets):
        of_target = 0.0
        for a in range(n_first):
            of_target += first[t, a]
            if first[t, a] > 0.0:
                point.left[t, a] = np.log(first[t, a] / of_first[a])
        for b in range(n_second):
            if second[t, b] > 0.0:
                point.right[t, b] = np.log(second[t, b] / of_second[b] / of_target)
                for a in range(n_first):
                    point.pair[a, b] += first[t, a] * second[t, b] / of_target
    for b in range(n_second):
        largest = 0.0
        for a in range(n_first):
            largest = max(largest, point.pair[a, b] / (of_first[a] * of_second[b]))
        for t in range(n_targets):
            point.right[t, b] -= np.log(largest) + MARGIN
        for a in range(n_first):
            if point.pair[a, b] > 0.0:
                ratio = point.pair[a, b] / (of_first[a] * of_second[b])
                point.slack[a, b] = MARGIN + np.log(largest / ratio)
    update(point, work)
    total = 0.0
    for a in range(n_first):
        for b in range(n_second):
            slack, pair = point.slack[a, b], point.pair[a, b]
            problem.centre[a, b] = (slack * pair) ** power if pair > 0.0 else 0.0
            total += problem.centre[a, b]
    for a in range(n_first):
        for b in range(n_second):
            problem.centre[a, b] /= total


@njit(**KERNEL)
def update(point, work):
    """Compute p(t | a, b) and the excess from the potentials."""
    n_targets, n_first, n_second = point.conditional.shape
    right, total = work.right_side, work.system.buffer[0]
    for t in range(n_targets):
        for b in range(n_second):
            right[t, b] = np.exp(point.right[t, b])
    for a in range(n_first):
        total[:] = 0.0
        for t in range(n_targets):
            row, factor, other = point.conditional[t, a], np.exp(point.left[t, a]), right[t]
            for b in range(n_second):
                row[b] = factor * other[b]
                total[b] += row[b]
        excess, slack = point.excess[a], point.slack[a]
        for b in range(n_second):
            excess[b] = np.log(total[b]) + slack[b] if total[b] > 0.0 else 0.0
            total[b] = 1.0 / total[b] if total[b] > 0.0 else 0.0
        for t in range(n_targets):
            row = point.conditional[t, a]
            for b in range(n_second):
                row[b] *= total[b]


@njit(**KERNEL)
def set_joint(point, joint):
    """Set q(t, a, b)."""
    n_targets, n_first, n_second = joint.shape
    for t in range(n_targets):
        for a in range(n_first):
            row, conditional, pair = joint[t, a], point.conditional[t, a], point.pair[a]
            for b in range(n_second):
                row[b] = conditional[b] * pair[b]


@njit(**INLINED)
def improve(problem, point, work, distance, nearest):
    """Take one predictor-corrector step."""
    system, step, target = work.system, work.step, work.target
    set_joint(point, system.joint)
    set_stiffness(point, system.stiffness)
    factorise(system)
    target[:] = 0.0
    direction(problem, point, work)
    dual, primal = step_lengths(point, step)
    reached = predict(point, step, dual, primal, work.pairs)
    # The better the prediction, the smaller the duality gap to aim at.
    aim = max(distance * max((reached / distance) ** 3, BOLDEST), nearest)
    correct(problem, point, work, (dual, primal), aim, distance)
    direction(problem, point, work)
    advance(point, work)


@njit(**KERNEL)
def set_stiffness(point, stiffness):
    """Set c = z/s - z, but not below 0: a constraint with s > 1 is inactive."""
    for a in range(stiffness.shape[0]):
        for b in range(stiffness.shape[1]):
            slack, pair = point.slack[a, b], point.pair[a, b]
            stiffness[a, b] = pair / slack - pair if slack < 1.0 else 0.0


@njit(**KERNEL)
def predict(point, step, dual, primal, pairs):
    """Return the sum of slack times multiplier after a step; pairs (2, A, B) is a buffer."""
    slack, pair = pairs[0], pairs[1]
    for a in range(slack.shape[0]):
        for b in range(slack.shape[1]):
            slack[a, b] = point.slack[a, b] + dual * step.slack[a, b]
            pair[a, b] = point.pair[a, b] + primal * step.pair[a, b]
    return dot(slack, pair)


@njit(**KERNEL)
def direction(problem, point, work):
    """Set the Newton step towards slack times multiplier = target and zero residuals."""
    n_targets, n_first, n_second = point.conditional.shape
    step, pull, drift = work.step, work.pairs[0], work.pairs[1, 0]
    left_side, right_side = work.left_side, work.right_side
    for a in range(n_first):
        for b in range(n_second):
            aim = work.target[a, b] + point.pair[a, b] * point.excess[a, b]
            pull[a, b] = aim / point.slack[a, b]
    for t in range(n_targets):
        other, second = right_side[t], problem.second[t]
        for b in range(n_second):
            other[b] = second[b]
        for a in range(n_first):
            conditional, row = point.conditional[t, a], pull[a]
            for b in range(n_second):
                other[b] -= conditional[b] * row[b]
            left_side[t, a] = problem.first[t, a] - dot(conditional, row)
    solve(work.system, step, left_side, right_side)
    for a in range(n_first):
        drift[:] = 0.0
        for t in range(n_targets):
            conditional, value, other = point.conditional[t, a], step.left[t, a], step.right[t]
            for b in range(n_second):
                drift[b] += conditional[b] * (value + other[b])
        for b in range(n_second):
            slack, pair = point.slack[a, b], point.pair[a, b]
            step.slack[a, b] = -point.excess[a, b] - drift[b]
            # Near the constraint the tension is exact, while pair / slack * drift would be a huge
            # number times a tiny one.
            response = step.tension[a, b] + pair * drift[b]
            if slack >= 1.0:
                response = pair / slack * drift[b]
            step.pair[a, b] = pull[a, b] - pair + response


@njit(**KERNEL)
def step_lengths(point, step):
    """Return the step lengths at which a slack or a multiplier becomes 0, at most 1."""
    dual, primal = 1.0, 1.0
    for a in range(point.pair.shape[0]):
        for b in range(point.pair.shape[1]):
            if -step.slack[a, b] * dual > point.slack[a, b]:
                dual = point.slack[a, b] / -step.slack[a, b]
            if -step.pair[a, b] * primal > point.pair[a, b]:
                primal = point.pair[a, b] / -step.pair[a, b]
    return dual, primal


@njit(**KERNEL)
def correct(problem, point, work, lengths, aim, distance):
    """Set the target of slack times multiplier for each pair.

    That is its part of `aim`, minus the product of the predicted changes, plus the effect of the
    constraint's curvature on its slack.
    """
    n_targets, n_first, n_second = point.conditional.shape
    step, mean, variance = work.step, work.pairs[0, 0], work.pairs[1, 0]
    dual, primal = lengths
    bound = MOST_CORRECTION * max(aim, distance)
    for a in range(n_first):
        variance[:], mean[:] = 0.0, 0.0
        for t in range(n_targets):
            conditional, value, other = point.conditional[t, a], step.left[t, a], step.right[t]
            for b in range(n_second):
                moved = value + other[b]
                mean[b] += conditional[b] * moved
                variance[b] += conditional[b] * moved * moved
        for b in range(n_second):
            curved = 0.5 * dual * dual * (variance[b] - mean[b] * mean[b])
            product = dual * primal * step.slack[a, b] * step.pair[a, b]
            wanted = aim * problem.centre[a, b] - product + point.pair[a, b] * curved
            most = bound * problem.centre[a, b]
            work.target[a, b] = min(max(wanted, -most), most)


@njit(**INLINED)
def advance(point, work):
    """Move as far as slacks and multipliers stay positive and the linear model is trusted."""
    step = work.step
    dual, primal = step_lengths(point, step)
    dual, primal = min(1.0, NEARLY * dual), min(1.0, NEARLY * primal)
    trusted = max(_largest(point.excess), TRUSTED)
    gone = 0.0
    for _ in range(SHORTENINGS):
        _move(point.left, dual - gone, step.left)
        _move(point.right, dual - gone, step.right)
        _move(point.slack, dual - gone, step.slack)
        gone = dual
        update(point, work)
        if _largest(point.excess) <= trusted:
            break
        dual *= SHORTER
    _move(point.pair, primal, step.pair)


@njit(**KERNEL)
def _largest(values):
    """Return the largest entry, NaN if there is one."""
    largest = -np.inf
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            if not values[i, j] <= largest:
                largest = values[i, j]
                if np.isnan(largest):
                    return largest
    return largest


@njit(**KERNEL)
def _move(values, length, step):
    for i in range(values.shape[0]):
        row, change = values[i], step[i]
        for j in range(row.size):
            row[j] += length * change[j]
