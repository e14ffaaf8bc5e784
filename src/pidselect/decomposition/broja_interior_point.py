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
    factorise,
    number_unknowns,
    solve,
)
from pidselect.decomposition.rows import (
    ONE,
    ZERO,
    add_product,
    add_product_sum,
    assign,
    assign_product,
    divide,
    dot,
    invert,
    keep_rolled,
    larger,
    multiply,
    operation,
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


def _clipped(builder, value, x, y):
    limit = builder.fmul(x, y)
    opposite = builder.fneg(limit)
    value = larger(builder, opposite, value, opposite, value)
    return larger(builder, value, limit, limit, value)


def _response(builder, old, tension, slack, pair, drift):
    # Near the constraint the tension is exact, while pair / slack * drift would be a huge number
    # times a tiny one.
    near = builder.fadd(tension, builder.fmul(pair, drift))
    far = builder.fmul(builder.fdiv(pair, slack), drift)
    return builder.fadd(old, larger(builder, ONE, slack, near, far))


#: Set c = z/s - z, but not below 0: a constraint with s > 1 is inactive.
set_stiffness = operation(
    "set_stiffness",
    lambda b, old, s, z: larger(b, ONE, s, b.fsub(b.fdiv(z, s), z), ZERO),
)
#: Add the response of multipliers to a drift.
add_response = operation("add_response", _response)
#: Add x (y + z)^2.
add_square = operation(
    "add_square",
    lambda b, old, x, y, z: b.fadd(old, b.fmul(b.fmul(x, b.fadd(y, z)), b.fadd(y, z))),
)
#: Bound magnitudes by x y.
clip = operation("clip", _clipped)


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
        distance = dot(point.slack, point.pair)
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
    assign(left, -np.inf)
    assign(right, -np.inf)
    assign(slack, 1.0)
    assign(pair, 0.0)
    assign(of_first, 0.0)
    assign(of_second, 0.0)
    for t in range(n_targets):
        add_product(of_first, first[t], 1.0)
        add_product(of_second, second[t], 1.0)
    for t in range(n_targets):
        of_target = 0.0
        for a in range(n_first):
            keep_rolled()
            of_target += first[t, a]
            if first[t, a] > 0.0:
                left[t, a] = np.log(first[t, a] / of_first[a])
        for b in range(n_second):
            if second[t, b] > 0.0:
                right[t, b] = np.log(second[t, b] / of_second[b] / of_target)
                for a in range(n_first):
                    keep_rolled()
                    pair[a, b] += first[t, a] * second[t, b] / of_target
    for b in range(n_second):
        largest = 0.0
        for a in range(n_first):
            keep_rolled()
            largest = max(largest, pair[a, b] / (of_first[a] * of_second[b]))
        for t in range(n_targets):
            keep_rolled()
            right[t, b] -= np.log(largest) + MARGIN
        for a in range(n_first):
            keep_rolled()
            if pair[a, b] > 0.0:
                ratio = pair[a, b] / (of_first[a] * of_second[b])
                slack[a, b] = MARGIN + np.log(largest / ratio)
    total = 0.0
    for a in range(n_first):
        for b in range(n_second):
            keep_rolled()
            centre[a, b] = (slack[a, b] * pair[a, b]) ** power if pair[a, b] > 0.0 else 0.0
            total += centre[a, b]
    divide(centre, total)


@njit(**KERNEL)
def update(point, factors, total):
    """Compute p(t | a, b) and the excess from the potentials; `factors`, `total` are buffers."""
    conditional, excess = point.conditional, point.excess
    n_targets, n_first, n_second = conditional.shape
    for t in range(n_targets):
        for b in range(n_second):
            keep_rolled()
            factors[t, b] = np.exp(point.right[t, b])
    for a in range(n_first):
        assign(total, 0.0)
        for t in range(n_targets):
            assign_product(conditional[t, a], factors[t], np.exp(point.left[t, a]))
            add_product(total, conditional[t, a], 1.0)
        for b in range(n_second):
            keep_rolled()
            excess[a, b] = np.log(total[b]) + point.slack[a, b] if total[b] > 0.0 else 0.0
        invert(total)
        for t in range(n_targets):
            multiply(conditional[t, a], total)


@njit(**KERNEL)
def set_joint(conditional, pair, joint):
    """Set q(t, a, b)."""
    for t in range(joint.shape[0]):
        assign_product(joint[t], conditional[t], pair)


@njit(**INLINED)
def improve(problem, point, system, step, work, distance, nearest):
    """Take one predictor-corrector step."""
    set_stiffness(system.stiffness, point.slack, point.pair)
    factorise(system)
    assign(work.target, 0.0)
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
    assign(pull, work.target)
    add_product(pull, point.pair, point.excess)
    divide(pull, point.slack)
    set_sides(
        problem.first, problem.second, point.conditional, pull, work.left_side, work.right_side
    )
    solve(system, step, work.left_side, work.right_side)
    set_drift(point.conditional, step.left, step.right, drift)
    assign_product(step.slack, point.excess, -1.0)
    subtract_product(step.slack, drift, 1.0)
    assign(step.pair, pull)
    subtract_product(step.pair, point.pair, 1.0)
    add_response(step.pair, step.tension, point.slack, point.pair, drift)


@njit(**KERNEL)
def set_sides(first, second, conditional, pull, left_side, right_side):
    """Set the right-hand sides: the marginals minus those of p(t | a, b) times pull[a,b]."""
    assign(right_side, second)
    for t in range(conditional.shape[0]):
        for a in range(conditional.shape[1]):
            subtract_product(right_side[t], conditional[t, a], pull[a])
            left_side[t, a] = first[t, a] - dot(conditional[t, a], pull[a])


@njit(**KERNEL)
def set_drift(conditional, left, right, drift):
    """Set the mean of l + r, changes of the potentials, under p(t | a, b)."""
    assign(drift, 0.0)
    for t in range(conditional.shape[0]):
        for a in range(conditional.shape[1]):
            add_product_sum(drift[a], conditional[t, a], left[t, a], right[t])


@njit(**KERNEL)
def step_lengths(slack, pair, slack_change, pair_change):
    """Return the step lengths at which a slack or a multiplier becomes 0, at most 1."""
    dual, primal = 1.0, 1.0
    for a in range(pair.shape[0]):
        for b in range(pair.shape[1]):
            keep_rolled()
            if -slack_change[a, b] * dual > slack[a, b]:
                dual = slack[a, b] / -slack_change[a, b]
            if -pair_change[a, b] * primal > pair[a, b]:
                primal = pair[a, b] / -pair_change[a, b]
    return dual, primal


@njit(**KERNEL)
def set_square(conditional, left, right, square):
    """Set the mean of (l + r)^2 under p(t | a, b)."""
    assign(square, 0.0)
    for t in range(conditional.shape[0]):
        for a in range(conditional.shape[1]):
            add_square(square[a], conditional[t, a], left[t, a], right[t])


@njit(**INLINED)
def correct(problem, point, step, work, dual, primal, distance, nearest):
    """Set the target of slack times multiplier for each pair after a prediction.

    That is its part of the duality gap to aim at, minus the product of the predicted changes, plus
    the effect of the constraint's curvature on its slack.
    """
    target, product, mean, variance = work.target, work.pairs[0], work.pairs[1], work.pairs[2]
    assign(product, point.slack)
    add_product(product, step.slack, dual)
    assign(target, point.pair)
    add_product(target, step.pair, primal)
    # The better the prediction, the smaller the gap to aim at.
    reached = dot(product, target)
    aim = max(distance * max((reached / distance) ** 3, BOLDEST), nearest)
    set_square(point.conditional, step.left, step.right, variance)
    subtract_product(variance, mean, mean)
    multiply(variance, 0.5 * dual * dual)
    assign_product(product, step.slack, dual * primal)
    multiply(product, step.pair)
    assign_product(target, problem.centre, aim)
    subtract_product(target, product, 1.0)
    add_product(target, point.pair, variance)
    clip(target, problem.centre, MOST_CORRECTION * max(aim, distance))


@njit(**INLINED)
def advance(point, step, factors, total, dual, primal):
    """Move as far as slacks and multipliers stay positive and the linear model is trusted."""
    trusted = max(_largest(point.excess), TRUSTED)
    gone = 0.0
    for _ in range(SHORTENINGS):
        add_product(point.left, step.left, dual - gone)
        add_product(point.right, step.right, dual - gone)
        add_product(point.slack, step.slack, dual - gone)
        gone = dual
        update(point, factors, total)
        if _largest(point.excess) <= trusted:
            break
        dual *= SHORTER
    add_product(point.pair, step.pair, primal)


@njit(**KERNEL)
def _largest(values):
    """Return the largest entry, NaN if there is one."""
    largest = -np.inf
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            keep_rolled()
            if not values[i, j] <= largest:
                largest = values[i, j]
                if np.isnan(largest):
                    return largest
    return largest
