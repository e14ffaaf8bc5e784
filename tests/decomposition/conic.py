"""BROJA as an exponential cone program: an independent solver to compare with."""

from __future__ import annotations

import clarabel
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pidselect.data import FloatArray, IntArray

#: Requested of Clarabel, which stops where it makes no progress; `certify` bounds the result.
TOLERANCE = 1e-12


def solve_conic(P1: FloatArray, P2: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Maximise H(target | both sources) under given marginals by Clarabel.

    .. math:: \max_{q, r, w} \sum_{tab} r_{tab} \quad\text{with}\quad
              q_{tab} \ln \frac{w_{ab}}{q_{tab}} \ge r_{tab},\ \sum_t q_{tab} = w_{ab},\
              \sum_b q_{tab} = P^1_{ta},\ \sum_a q_{tab} = P^2_{tb},

    in which (r, q, w) is in the exponential cone. The multipliers of the last two constraints
    solve the dual problem: max <P1, lam> + <P2, mu> with sum_t exp(lam_ta + mu_tb) <= 1 for every
    pair (a, b). Neither point is exactly feasible: use `certify`.

    `P1` (n_target, n_first) and `P2` (n_target, n_second) are p(t, x1) and p(t, x2). Returned are
    lam, mu (-inf where P1, P2 are 0) and q of shape (n_target, n_first, n_second), which is 0 where
    P1 or P2 is 0; elsewhere rounding may make it negative.

    References
    ----------
    A. Makkeh, D. O. Theis and R. Vicente, BROJA-2PID: a robust estimator for bivariate partial
    information decomposition (2018).
    P. J. Goulart and Y. Chen, Clarabel: an interior-point solver for conic programs with quadratic
    objectives (2024).
    """
    occupied1, occupied2 = P1 > 0, P2 > 0
    t, a, b = terms = np.nonzero(occupied1[:, :, None] & occupied2[:, None, :])
    row1, row2 = _positions(occupied1)[t, a], _positions(occupied2)[t, b]
    pair = np.unique(a * P2.shape[1] + b, return_inverse=True)[1]
    # Between probabilities, which are small relative to the solver's tolerances, and a mean q of 1,
    # where w is large and the solver sometimes stalls.
    scale = float(np.sqrt(len(t)))
    marginals = scale * np.concatenate([P1[occupied1], P2[occupied2]])
    n1 = int(occupied1.sum())
    variables, multipliers = _solve(marginals, row1, n1 + row2, pair)

    lam, mu = np.full(P1.shape, -np.inf), np.full(P2.shape, -np.inf)
    lam[occupied1] = -multipliers[:n1]
    mu[occupied2] = -multipliers[n1 : len(marginals)]
    q = np.zeros((*P1.shape, P2.shape[1]))
    q[terms] = variables[: len(t)] / scale
    return lam, mu, q


def _positions(mask: NDArray[np.bool_]) -> IntArray:
    """Return the position of every true entry among all true ones."""
    return (np.cumsum(mask.ravel()) - 1).reshape(mask.shape)


def _solve(
    marginals: FloatArray, row1: IntArray, row2: IntArray, pair: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the variables (q, r, w) and the multipliers of all constraints.

    The rows are the marginals, w of each pair, and three for the cone of each term.
    """
    n, n_marginals, n_pairs = len(pair), len(marginals), int(pair.max()) + 1
    n_equal = n_marginals + n_pairs
    term, of_pair = np.arange(n), np.arange(n_pairs)
    q, r, w = term, n + term, 2 * n + of_pair
    cone, one = n_equal + 3 * term, np.ones(n)
    entries = [
        (row1, q, one),
        (row2, q, one),
        (n_marginals + pair, q, one),
        (n_marginals + of_pair, w, -np.ones(n_pairs)),
        (cone, r, -one),
        (cone + 1, q, -one),
        (cone + 2, w[pair], -one),
    ]
    rows, columns, values = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    shape = (n_equal + 3 * n, 2 * n + n_pairs)
    constraints = sparse.csc_matrix((values, (rows, columns)), shape=shape)
    right = np.concatenate([marginals, np.zeros(n_pairs + 3 * n)])
    cost = np.concatenate([np.zeros(n), -one, np.zeros(n_pairs)])
    cones = [clarabel.ZeroConeT(n_equal)] + [clarabel.ExponentialConeT()] * n

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.presolve_enable = False
    settings.tol_feas = settings.tol_gap_rel = settings.tol_gap_abs = TOLERANCE
    quadratic = sparse.csc_matrix((shape[1], shape[1]))
    solution = clarabel.DefaultSolver(quadratic, cost, constraints, right, cones, settings).solve()
    return np.array(solution.x), np.array(solution.z)
