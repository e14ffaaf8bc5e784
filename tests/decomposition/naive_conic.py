"""Bounds of BROJA's optimum by whole arrays: the obvious twin of the certificate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, xlogy

FloatArray = NDArray[np.float64]


def marginals(pmf: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return p(t, x1) and p(t, x2)."""
    return pmf.sum(axis=1).T, pmf.sum(axis=0).T


def bounds(
    P1: FloatArray, P2: FloatArray, lam: FloatArray, mu: FloatArray, q: FloatArray
) -> tuple[float, float]:
    """Return what max H(T | X1, X2) cannot be below and above, in nats."""
    return conditional_entropy(onto_marginals(P1, P2, q)), -dual_value(P1, P2, lam, mu)


def dual_value(P1: FloatArray, P2: FloatArray, lam: FloatArray, mu: FloatArray) -> float:
    """Return <P1, lam> + <P2, mu>, mu shifted for each b until no constraint is violated."""
    occurs = P2.any(axis=0)
    P2, mu = P2[:, occurs], mu[:, occurs]
    sums = logsumexp(lam[:, :, None] + mu[:, None, :], axis=0)  # (A, B)
    shifted = mu - sums.max(axis=0)
    return float(P1[P1 > 0] @ lam[P1 > 0] + P2[P2 > 0] @ shifted[P2 > 0])


def onto_marginals(P1: FloatArray, P2: FloatArray, q: FloatArray) -> FloatArray:
    """Scale rows, then columns, down to their sums, and spread what is missing then."""
    q = np.maximum(q, 0.0)
    q = q * at_most_one(P1, q.sum(axis=2))[:, :, None]
    q = q * at_most_one(P2, q.sum(axis=1))[:, None, :]
    missing1 = np.maximum(P1 - q.sum(axis=2), 0.0)
    missing2 = np.maximum(P2 - q.sum(axis=1), 0.0)
    total = missing1.sum(axis=1)[:, None, None]
    spread = missing1[:, :, None] * missing2[:, None, :]
    return q + np.divide(spread, total, out=np.zeros_like(q), where=total > 0)


def at_most_one(wanted: FloatArray, found: FloatArray) -> FloatArray:
    return np.divide(wanted, found, out=np.ones_like(found), where=found > wanted)


def conditional_entropy(q: FloatArray) -> float:
    """Return H(T | X1, X2), the target being the first axis."""
    pairs = q.sum(axis=0)
    return float(xlogy(pairs, pairs).sum() - xlogy(q, q).sum())
