"""BROJA's optimisation for Clarabel's exponential cones, formulated to be fast on full marginals.

The fallback of the package is made to be robust; this is made to be the peer to beat. Which of the
formulations and settings is fastest differs from one distribution to the next, so all are tried.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import clarabel
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pidselect.decomposition.broja_certificate import certify

FloatArray = NDArray[np.float64]
BIT = np.log(2)

TOLERANCES = (1e-8, 3e-9, 1e-9, 3e-10)
FORMULATIONS = ("dual", "primal")


@dataclass(frozen=True)
class Configuration:
    """One way to ask Clarabel."""

    formulation: str
    tolerance: float
    regularised: bool
    step: float


@dataclass(frozen=True)
class Answer:
    """What it said, how good that is in bits, and how long it took, building apart."""

    configuration: Configuration
    gap: float
    building: float  # seconds
    solving: float


@dataclass(frozen=True)
class BrojaProblem:
    """A cone programme, and how to read lam, mu and q out of its two vectors."""

    cost: FloatArray
    constraints: sparse.csc_matrix
    right: FloatArray
    cones: list[Any]
    read: Any


def configurations() -> Iterator[Configuration]:
    """Yield all that are tried."""
    for choice in product(FORMULATIONS, TOLERANCES, (True, False), (0.99, 0.999)):
        yield Configuration(*choice)


def ask(P1: FloatArray, P2: FloatArray, configuration: Configuration) -> Answer:
    """Build, solve on one thread, and certify; the certificate is not timed."""
    start = time.perf_counter()
    scale = float(P1.size * P2.shape[1])
    problem = BUILD[configuration.formulation](scale * P1, scale * P2)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.presolve_enable = settings.chordal_decomposition_enable = False
    settings.tol_feas = settings.tol_gap_rel = configuration.tolerance
    settings.tol_gap_abs = scale * configuration.tolerance
    settings.static_regularization_enable = configuration.regularised
    settings.max_step_fraction = configuration.step
    quadratic = sparse.csc_matrix((len(problem.cost), len(problem.cost)))
    parts = (quadratic, problem.cost, problem.constraints, problem.right, problem.cones)
    solver = clarabel.DefaultSolver(*parts, settings)
    built = time.perf_counter()
    solution = solver.solve()
    solved = time.perf_counter()
    left, right, joint = problem.read(np.array(solution.x), np.array(solution.z))
    lower, upper = certify(P1, P2, left, right, joint / scale, *map(np.empty, joint.shape[1:]))
    return Answer(configuration, (upper - lower) / BIT, built - start, solved - built)


def build_dual(P1: FloatArray, P2: FloatArray) -> BrojaProblem:
    """Maximise <P1, lam> + <P2, mu> with exp(lam + mu) <= u and, for each pair, sum_t u = 1.

    The last target's u is put in terms of the others, and one of P1's lam of each target is fixed
    at 0, as only lam + mu counts.
    """
    (n_targets, n_first), n_second = P1.shape, P2.shape[1]
    n, n1 = P1.size * n_second, P1.size
    term = np.arange(n)
    t, a, b = np.unravel_index(term, (n_targets, n_first, n_second))
    free = term[: n - n_first * n_second]  # the terms with a u of their own
    last = n - n_first * n_second + free % (n_first * n_second)
    u = n1 + P2.size + free
    one = np.ones(n)
    entries = [
        (3 * term, t * n_first + a, -one),
        (3 * term, n1 + t * n_second + b, -one),
        (3 * free + 2, u, -one[free]),
        (3 * last + 2, u, one[free]),
    ]
    right = np.tile([0.0, 1.0, 0.0], n)
    right[3 * len(free) + 2 :: 3] = 1.0
    cost = np.concatenate([-P1.ravel(), -P2.ravel(), np.zeros(len(free))])
    kept = np.ones(len(cost), dtype=bool)
    kept[:n1:n_first] = False
    constraints = assemble(entries, (3 * n, len(cost)))[:, np.flatnonzero(kept)]

    def read(x: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        potentials = np.zeros(len(cost))
        potentials[kept] = x
        lam, mu = potentials[:n1], potentials[n1 : n1 + P2.size]
        joint = -z[::3].reshape(n_targets, n_first, n_second)
        return lam.reshape(P1.shape), mu.reshape(P2.shape), joint

    return BrojaProblem(cost[kept], constraints, right, [clarabel.ExponentialConeT()] * n, read)


def build_primal(P1: FloatArray, P2: FloatArray) -> BrojaProblem:
    """Maximise the sum of r <= q log(w / q), w = sum_t q, the sums of q over b and over a given.

    One of P1's sums of each target follows from the others and is left out.
    """
    (n_targets, n_first), n_second = P1.shape, P2.shape[1]
    n, n1, n_pairs = P1.size * n_second, P1.size, n_first * n_second
    term, one = np.arange(n), np.ones(n)
    t, a, b = np.unravel_index(term, (n_targets, n_first, n_second))
    sums = n1 + P2.size
    cone = sums + n_pairs + 3 * term
    w = 2 * n + np.arange(n_pairs)
    entries = [
        (t * n_first + a, term, one),
        (n1 + t * n_second + b, term, one),
        (sums + term % n_pairs, term, one),
        (sums + np.arange(n_pairs), w, -np.ones(n_pairs)),
        (cone, n + term, -one),
        (cone + 1, term, -one),
        (cone + 2, w[term % n_pairs], -one),
    ]
    right = np.concatenate([P1.ravel(), P2.ravel(), np.zeros(n_pairs + 3 * n)])
    cost = np.concatenate([np.zeros(n), -one, np.zeros(n_pairs)])
    kept = np.ones(len(right), dtype=bool)
    kept[:n1:n_first] = False
    constraints = assemble(entries, (len(right), len(cost)))[np.flatnonzero(kept)]
    equal = clarabel.ZeroConeT(sums + n_pairs - n_targets)

    def read(x: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        multipliers = np.zeros(len(right))
        multipliers[kept] = -z
        lam, mu = multipliers[:n1], multipliers[n1:sums]
        joint = x[:n].reshape(n_targets, n_first, n_second)
        return lam.reshape(P1.shape), mu.reshape(P2.shape), joint

    cones = [equal] + [clarabel.ExponentialConeT()] * n
    return BrojaProblem(cost, constraints.tocsc(), right[kept], cones, read)


def assemble(entries: list[tuple[Any, ...]], shape: tuple[int, int]) -> sparse.csc_matrix:
    """Return a sparse matrix of (rows, columns, values)."""
    rows, columns, values = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    return sparse.csc_matrix((values, (rows, columns)), shape=shape)


BUILD = {"dual": build_dual, "primal": build_primal}


def fastest(answers: list[Answer], gap: float) -> Answer:
    """Return the fastest that is good enough, or the best if none is."""
    enough = [answer for answer in answers if answer.gap <= gap]
    return min(enough, key=lambda a: a.solving) if enough else min(answers, key=lambda a: a.gap)
