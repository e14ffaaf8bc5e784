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

from typing import NamedTuple

import numpy as np

from pidselect.decomposition.broja_certificate import certify
from pidselect.decomposition.broja_newton import OPTIONS, FloatArray, IntArray, factorise, solve
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
    """The marginals and the unknowns.

    `first` (T, A) and `second` (T, B) are p(t, a) and p(t, b); `free` lists the (t, a) of the
    unknowns l; `centre` (A, B) is what slack times multiplier is to be proportional to, 0 for an
    impossible pair.
    """

    first: FloatArray
    second: FloatArray
    free: IntArray
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


class NewtonStep(NamedTuple):
    """Changes of the four unknowns of an iterate."""

    left: FloatArray
    right: FloatArray
    slack: FloatArray
    pair: FloatArray


@njit(**OPTIONS)
def interior_point(first, second, power, tolerance, most_steps):
    """Solve for p(t, a) and p(t, b), every row and column of which has a positive entry.

    `first` (T, A) and `second` (T, B) have the same sum for each t. The target of slack times
    multiplier is proportional to its value at the start to the `power`: 1 treats likely and
    unlikely pairs alike, 0 favours likely ones. Returned are certified bounds (lower, upper) of
    min -H(T | X1, X2) in nats, and the number of steps.
    """
    problem, point = start(first, second, power)
    lower, upper = -np.inf, np.inf
    for step in range(most_steps + 1):
        distance = distance_of(point.slack, point.pair)
        if distance < tolerance or step == most_steps or not np.isfinite(distance):
            below, above = certify(first, second, point.left, point.right, joint_of(point))
            lower, upper = max(lower, below), min(upper, above)
            if upper - lower <= tolerance or not np.isfinite(distance):
                return lower, upper, step
        if step < most_steps:
            improve(problem, point, distance, FLOOR * tolerance)
    return lower, upper, most_steps


@njit(**OPTIONS)
def distance_of(slack, pair):
    """Return the sum of slack times multiplier, approximately the duality gap."""
    return dot(slack.ravel(), pair.ravel())


@njit(**OPTIONS)
def start(first, second, power):
    """Return the problem and the start: sources independent given the target, strictly feasible."""
    shape = (first.shape[0], first.shape[1], second.shape[1])
    point = Iterate(
        np.full(first.shape, -np.inf),
        np.full(second.shape, -np.inf),
        np.ones(shape[1:]),
        np.zeros(shape[1:]),
        np.zeros(shape),
        np.zeros(shape[1:]),
    )
    of_first, of_second = first.sum(axis=0), second.sum(axis=0)
    for t in range(shape[0]):
        of_target = 0.0
        for a in range(shape[1]):
            of_target += first[t, a]
            if first[t, a] > 0.0:
                point.left[t, a] = np.log(first[t, a] / of_first[a])
        for b in range(shape[2]):
            if second[t, b] > 0.0:
                point.right[t, b] = np.log(second[t, b] / of_second[b] / of_target)
                for a in range(shape[1]):
                    point.pair[a, b] += first[t, a] * second[t, b] / of_target
    for b in range(shape[2]):
        largest = 0.0
        for a in range(shape[1]):
            largest = max(largest, point.pair[a, b] / (of_first[a] * of_second[b]))
        for t in range(shape[0]):
            point.right[t, b] -= np.log(largest) + MARGIN
        for a in range(shape[1]):
            if point.pair[a, b] > 0.0:
                ratio = point.pair[a, b] / (of_first[a] * of_second[b])
                point.slack[a, b] = MARGIN + np.log(largest / ratio)
    update(point)
    return BrojaProblem(first, second, _unknowns(first), _centre(point, power)), point


@njit(**OPTIONS)
def _unknowns(first):
    """List the (t, a) of the potentials l to solve for.

    Adding a constant to l[t,:] and subtracting it from r[t,:] changes nothing, so one is fixed.
    """
    free = np.empty((first.size, 2), dtype=np.int64)
    n_free = 0
    for t in range(first.shape[0]):
        fixed = np.argmax(first[t])
        for a in range(first.shape[1]):
            if first[t, a] > 0.0 and a != fixed:
                free[n_free, 0], free[n_free, 1] = t, a
                n_free += 1
    return free[:n_free].copy()


@njit(**OPTIONS)
def _centre(point, power):
    """Return a power of slack times multiplier, normalised to sum 1; 0 for impossible pairs."""
    centre = np.where(point.pair > 0.0, (point.slack * point.pair) ** power, 0.0)
    return centre / centre.sum()


@njit(**OPTIONS)
def update(point):
    """Compute p(t | a, b) and the excess from the potentials."""
    n_targets, n_first, n_second = point.conditional.shape
    right = np.exp(point.right)
    total = np.empty(n_second)
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
            point.conditional[t, a] *= total


@njit(**OPTIONS)
def joint_of(point):
    """Return q(t, a, b)."""
    return point.conditional * point.pair


@njit(**OPTIONS)
def improve(problem, point, distance, nearest):
    """Take one predictor-corrector step."""
    # c = z/s - z, but not below 0: a constraint with s > 1 is inactive.
    stiffness = np.where(point.slack < 1.0, point.pair / point.slack - point.pair, 0.0)
    factors = factorise(joint_of(point), point.conditional, stiffness, problem.free)
    target = np.zeros(point.pair.shape)
    step = direction(problem, point, factors, target)
    dual, primal = step_lengths(point, step)
    reached = distance_of(point.slack + dual * step.slack, point.pair + primal * step.pair)
    # The better the prediction, the smaller the duality gap to aim at.
    aim = max(distance * max((reached / distance) ** 3, BOLDEST), nearest)
    correct(problem, point, step, (dual, primal), aim, distance, target)
    advance(point, direction(problem, point, factors, target))


@njit(**OPTIONS)
def direction(problem, point, factors, target):
    """Return the Newton step towards slack times multiplier = `target` and zero residuals."""
    n_targets, n_first, n_second = point.conditional.shape
    pull = (target + point.pair * point.excess) / point.slack
    left_side, right_side = problem.first.copy(), problem.second.copy()
    for t in range(n_targets):
        for a in range(n_first):
            conditional, row, other = point.conditional[t, a], pull[a], right_side[t]
            for b in range(n_second):
                other[b] -= conditional[b] * row[b]
            left_side[t, a] -= dot(conditional, row)
    change = solve(factors, left_side, right_side)
    step = NewtonStep(change.left, change.right, np.empty(target.shape), np.empty(target.shape))
    drift = np.empty(n_second)
    for a in range(n_first):
        drift[:] = 0.0
        for t in range(n_targets):
            conditional, value, other = point.conditional[t, a], change.left[t, a], change.right[t]
            for b in range(n_second):
                drift[b] += conditional[b] * (value + other[b])
        for b in range(n_second):
            slack, pair = point.slack[a, b], point.pair[a, b]
            step.slack[a, b] = -point.excess[a, b] - drift[b]
            # Near the constraint the tension is exact, while pair / slack * drift would be a huge
            # number times a tiny one.
            response = change.tension[a, b] + pair * drift[b]
            if slack >= 1.0:
                response = pair / slack * drift[b]
            step.pair[a, b] = pull[a, b] - pair + response
    return step


@njit(**OPTIONS)
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


@njit(**OPTIONS)
def correct(problem, point, step, lengths, aim, distance, target):
    """Set the target of slack times multiplier for each pair.

    That is its part of `aim`, minus the product of the predicted changes, plus the effect of the
    constraint's curvature on its slack.
    """
    n_targets, n_first, n_second = point.conditional.shape
    dual, primal = lengths
    bound = MOST_CORRECTION * max(aim, distance)
    variance, mean = np.empty(n_second), np.empty(n_second)
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
            target[a, b] = min(max(wanted, -most), most)


@njit(**OPTIONS)
def advance(point, step):
    """Move as far as slacks and multipliers stay positive and the linear model is trusted."""
    dual, primal = step_lengths(point, step)
    dual, primal = min(1.0, NEARLY * dual), min(1.0, NEARLY * primal)
    trusted = max(point.excess.max(), TRUSTED)
    gone = 0.0
    for _ in range(SHORTENINGS):
        _move(point.left, dual - gone, step.left)
        _move(point.right, dual - gone, step.right)
        _move(point.slack, dual - gone, step.slack)
        gone = dual
        update(point)
        if point.excess.max() <= trusted:
            break
        dual *= SHORTER
    _move(point.pair, primal, step.pair)


@njit(**OPTIONS)
def _move(values, length, step):
    for i in range(values.shape[0]):
        row, change = values[i], step[i]
        for j in range(row.size):
            row[j] += length * change[j]
