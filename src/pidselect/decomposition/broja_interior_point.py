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

from pidselect.data import FloatArray
from pidselect.decomposition.broja_certificate import certify
from pidselect.decomposition.broja_newton import (
    CHUNK,
    ENTRY,
    INLINED,
    KERNEL,
    NewtonStep,
    NewtonSystem,
    add_product_sum,
    assign_product,
    dot,
    factorise,
    multiply,
    number_unknowns,
    solve,
    subtract_product,
)
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
    """What a step aims at, the right-hand sides, and buffers."""

    target: FloatArray  # (A, B): of slack times multiplier
    left_side: FloatArray  # (T, A)
    right_side: FloatArray  # (T, B)
    pairs: FloatArray  # (3, A, B)


def interior_point(
    first: FloatArray, second: FloatArray, power: float, tolerance: float, most_steps: int
) -> tuple[float, float, int]:
    """Solve for p(t, a) and p(t, b), every row and column of which has a positive entry.

    `first` (T, A) and `second` (T, B) have the same sum for each t. The target of slack times
    multiplier is proportional to its value at the start to the `power`: 1 treats likely and
    unlikely pairs alike, 0 favours likely ones. Returned are certified bounds (lower, upper) of
    min -H(T | X1, X2) in nats, and the number of steps.
    """
    # All arrays are allocated here: what allocates nothing itself compiles in half the time.
    n_targets, n_first, n_second = *first.shape, second.shape[1]
    n_free = np.count_nonzero(first) - n_targets
    conditional, joint = np.empty((2, n_targets, n_first, n_second))
    left, left_side, left_change = np.empty((3, *first.shape))
    right, right_side, right_change, inverse_total = np.empty((4, *second.shape))
    slack, pair, excess, centre, target, stiffness = np.empty((6, n_first, n_second))
    problem = BrojaProblem(first, second, centre)
    point = Iterate(left, right, slack, pair, conditional, excess)
    system = NewtonSystem(
        joint,
        conditional,
        stiffness,
        np.empty((n_free, 2), np.int64),
        np.empty((n_targets, n_first), np.int64),
        inverse_total,
        np.empty((n_first, n_first, n_second)),
        np.empty((n_free, n_free)),
        np.empty((n_free, n_first * min(CHUNK, n_second))),
        np.empty((2, n_second)),
    )
    slack_change, pair_change, tension = np.empty((3, n_first, n_second))
    step = NewtonStep(
        left_change, right_change, slack_change, pair_change, tension, np.empty(n_free)
    )
    work = Work(target, left_side, right_side, np.empty((3, n_first, n_second)))
    bounds: tuple[float, float, int] = iterate(
        problem, point, system, step, work, power, tolerance, most_steps
    )
    return bounds


@njit(**ENTRY)
def iterate(problem, point, system, step, work, power, tolerance, most_steps):
    """Take steps until the bounds are closer than the tolerance, or to the last one.

    The bounds are computed once slack times multiplier, which approximates the duality gap, sums to
    less than the tolerance.
    """
    joint, buffer = system.joint, system.buffer
    number_unknowns(problem.first, system.free, system.place)
    start(problem, point, power, work.left_side[0], buffer[0])
    update(point, work.right_side, buffer[0])
    lower, upper, n_steps = -np.inf, np.inf, 0
    while True:
        distance = dot(point.slack.reshape(-1), point.pair.reshape(-1))
        is_last = n_steps == most_steps or not np.isfinite(distance)
        set_joint(point.conditional, point.pair, joint)
        if is_last or distance < tolerance:
            below, above = certify(
                problem.first,
                problem.second,
                point.left,
                point.right,
                joint,
                work.left_side[0],
                buffer[0],
            )
            lower, upper = max(lower, below), min(upper, above)
            if is_last or upper - lower <= tolerance:
                return lower, upper, n_steps
            set_joint(point.conditional, point.pair, joint)
        improve(problem, point, system, step, work, distance, FLOOR * tolerance)
        n_steps += 1


@njit(**KERNEL)
def start(problem, point, power, of_first, of_second):
    """Set the start, sources independent given the target, strictly feasible; and the centre.

    The last two arguments are buffers.
    """
    first, second, centre = problem.first, problem.second, problem.centre
    left, right, slack, pair = point.left, point.right, point.slack, point.pair
    n_targets, n_first, n_second = point.conditional.shape
    left[:], right[:], slack[:], pair[:] = -np.inf, -np.inf, 1.0, 0.0
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
                left[t, a] = np.log(first[t, a] / of_first[a])
        for b in range(n_second):
            if second[t, b] > 0.0:
                right[t, b] = np.log(second[t, b] / of_second[b] / of_target)
                for a in range(n_first):
                    pair[a, b] += first[t, a] * second[t, b] / of_target
    for b in range(n_second):
        largest = 0.0
        for a in range(n_first):
            largest = max(largest, pair[a, b] / (of_first[a] * of_second[b]))
        for t in range(n_targets):
            right[t, b] -= np.log(largest) + MARGIN
        for a in range(n_first):
            if pair[a, b] > 0.0:
                ratio = pair[a, b] / (of_first[a] * of_second[b])
                slack[a, b] = MARGIN + np.log(largest / ratio)
    total = 0.0
    for a in range(n_first):
        for b in range(n_second):
            centre[a, b] = (slack[a, b] * pair[a, b]) ** power if pair[a, b] > 0.0 else 0.0
            total += centre[a, b]
    for a in range(n_first):
        for b in range(n_second):
            centre[a, b] /= total


@njit(**KERNEL)
def update(point, factors, total):
    """Compute p(t | a, b) and the excess from the potentials; `factors`, `total` are buffers."""
    conditional, excess = point.conditional, point.excess
    n_targets, n_first, n_second = conditional.shape
    for t in range(n_targets):
        for b in range(n_second):
            factors[t, b] = np.exp(point.right[t, b])
    for a in range(n_first):
        total[:] = 0.0
        for t in range(n_targets):
            row, factor = conditional[t, a], np.exp(point.left[t, a])
            for b in range(n_second):
                row[b] = factors[t, b] * factor
                total[b] += row[b]
        for b in range(n_second):
            excess[a, b] = np.log(total[b]) + point.slack[a, b] if total[b] > 0.0 else 0.0
            total[b] = 1.0 / total[b] if total[b] > 0.0 else 0.0
        for t in range(n_targets):
            multiply(conditional[t, a], total)


@njit(**KERNEL)
def set_joint(conditional, pair, joint):
    """Set q(t, a, b)."""
    for t in range(joint.shape[0]):
        for a in range(joint.shape[1]):
            assign_product(joint[t, a], conditional[t, a], pair[a])


@njit(**INLINED)
def improve(problem, point, system, step, work, distance, nearest):
    """Take one predictor-corrector step."""
    for a in range(point.slack.shape[0]):
        for b in range(point.slack.shape[1]):
            s, z = point.slack[a, b], point.pair[a, b]
            # Not below 0: a constraint with s > 1 is inactive.
            system.stiffness[a, b] = z / s - z if s < 1.0 else 0.0
    factorise(system)
    work.target[:] = 0.0
    dual = primal = 1.0
    for is_corrector in range(2):
        direction(problem, point, system, step, work)
        dual, primal = step_lengths(point.slack, point.pair, step.slack, step.pair)
        if not is_corrector:
            correct(problem, point, step, work, dual, primal, distance, nearest)
    advance(
        point,
        step,
        work.right_side,
        system.buffer[0],
        min(1.0, NEARLY * dual),
        min(1.0, NEARLY * primal),
    )


@njit(**INLINED)
def direction(problem, point, system, step, work):
    """Set the Newton step towards slack times multiplier = target and zero residuals."""
    pull, drift = work.pairs[0], work.pairs[1]
    slack, pair = point.slack, point.pair
    for a in range(pull.shape[0]):
        for b in range(pull.shape[1]):
            aim = work.target[a, b] + pair[a, b] * point.excess[a, b]
            pull[a, b] = aim / slack[a, b]
    set_sides(
        problem.first, problem.second, point.conditional, pull, work.left_side, work.right_side
    )
    solve(system, step, work.left_side, work.right_side)
    set_drift(point.conditional, step.left, step.right, drift)
    for a in range(pull.shape[0]):
        for b in range(pull.shape[1]):
            change, s, z = drift[a, b], slack[a, b], pair[a, b]
            step.slack[a, b] = -point.excess[a, b] - change
            # Near the constraint the tension is exact, while z / s * change would be a huge number
            # times a tiny one.
            response = step.tension[a, b] + z * change if s < 1.0 else z / s * change
            step.pair[a, b] = pull[a, b] - z + response


@njit(**KERNEL)
def set_sides(first, second, conditional, pull, left_side, right_side):
    """Set the right-hand sides: the marginals minus those of p(t | a, b) times pull[a,b]."""
    for t in range(conditional.shape[0]):
        for b in range(second.shape[1]):
            right_side[t, b] = second[t, b]
        for a in range(conditional.shape[1]):
            subtract_product(right_side[t], conditional[t, a], pull[a])
            left_side[t, a] = first[t, a] - dot(conditional[t, a], pull[a])


@njit(**KERNEL)
def set_drift(conditional, left, right, drift):
    """Set the mean of l + r, changes of the potentials, under p(t | a, b)."""
    drift[:] = 0.0
    for t in range(conditional.shape[0]):
        for a in range(conditional.shape[1]):
            add_product_sum(drift[a], conditional[t, a], left[t, a], right[t])


@njit(**KERNEL)
def step_lengths(slack, pair, slack_change, pair_change):
    """Return the step lengths at which a slack or a multiplier becomes 0, at most 1."""
    dual, primal = 1.0, 1.0
    for a in range(pair.shape[0]):
        for b in range(pair.shape[1]):
            if -slack_change[a, b] * dual > slack[a, b]:
                dual = slack[a, b] / -slack_change[a, b]
            if -pair_change[a, b] * primal > pair[a, b]:
                primal = pair[a, b] / -pair_change[a, b]
    return dual, primal


@njit(**KERNEL)
def set_square(conditional, left, right, square):
    """Set the mean of (l + r)^2 under p(t | a, b)."""
    square[:] = 0.0
    for t in range(conditional.shape[0]):
        for a in range(conditional.shape[1]):
            for b in range(square.shape[1]):
                change = left[t, a] + right[t, b]
                square[a, b] += conditional[t, a, b] * change * change


@njit(**INLINED)
def correct(problem, point, step, work, dual, primal, distance, nearest):
    """Set the target of slack times multiplier for each pair after a prediction.

    That is its part of the duality gap to aim at, minus the product of the predicted changes, plus
    the effect of the constraint's curvature on its slack.
    """
    target, product, mean, variance = work.target, work.pairs[0], work.pairs[1], work.pairs[2]
    slack, pair, centre = point.slack, point.pair, problem.centre
    for a in range(target.shape[0]):
        for b in range(target.shape[1]):
            product[a, b] = slack[a, b] + step.slack[a, b] * dual
            target[a, b] = pair[a, b] + step.pair[a, b] * primal
    # The better the prediction, the smaller the gap to aim at.
    reached = dot(product.reshape(-1), target.reshape(-1))
    aim = max(distance * max((reached / distance) ** 3, BOLDEST), nearest)
    set_square(point.conditional, step.left, step.right, variance)
    most = MOST_CORRECTION * max(aim, distance)
    for a in range(target.shape[0]):
        for b in range(target.shape[1]):
            curved = (variance[a, b] - mean[a, b] * mean[a, b]) * (0.5 * dual * dual)
            predicted = step.slack[a, b] * (dual * primal) * step.pair[a, b]
            value, limit = centre[a, b] * aim - predicted, centre[a, b] * most
            value += pair[a, b] * curved
            value = -limit if -limit > value else value
            target[a, b] = limit if value > limit else value


@njit(**INLINED)
def advance(point, step, factors, total, dual, primal):
    """Move as far as slacks and multipliers stay positive and the linear model is trusted."""
    trusted = max(_largest(point.excess), TRUSTED)
    gone = 0.0
    for _ in range(SHORTENINGS):
        move(point.left, step.left, dual - gone)
        move(point.right, step.right, dual - gone)
        move(point.slack, step.slack, dual - gone)
        gone = dual
        update(point, factors, total)
        if _largest(point.excess) <= trusted:
            break
        dual *= SHORTER
    move(point.pair, step.pair, primal)


@njit(**KERNEL)
def move(values, changes, length):
    """Add a multiple of the changes."""
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            values[i, j] += changes[i, j] * length


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
