"""I_ccs: redundancy as the pointwise common change in surprisal of two sources."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, vstack

from pidselect.data import FloatArray
from pidselect.decomposition.lattice import BoolArray, lattice
from pidselect.decomposition.pmf import PIDAtoms, check_states, information

#: Changes in surprisal (nats) smaller than this have no sign: they are 0 but for rounding.
ZERO = 1e-10

#: A larger estimated error (nats) is an error; nearly always it is below 1e-13.
LARGEST_GAP = 1e-6

#: Rarely more than ten, unless probabilities span hundreds of orders of magnitude.
MOST_STEPS = 200


def ccs(
    pmf: FloatArray, *, most_steps: int = MOST_STEPS, largest_gap: float = LARGEST_GAP
) -> PIDAtoms:
    r"""Decompose the information of exactly two sources by their common change in surprisal.

    .. math:: I_{ccs} = \sum_{abt} q(a,b,t)\, c(a,b,t), \qquad
              c = i(a;t) + i(b;t) - i(ab;t),

    where i are pointwise mutual informations under q, and the sum is over those (a, b, t) where
    c and all three i have the same sign. q is the maximum entropy distribution with the marginals
    p(a,b), p(a,t) and p(b,t). Atoms may be negative, and are discontinuous in the distribution
    where an i changes its sign.

    `pmf` has shape (n_states_1, n_states_2, n_states_target). The atoms are shared, unique 1,
    unique 2, synergy in nats; their `gap` is the error to first order in the error of q, usually
    about 1e-16. A gap above `largest_gap` after `most_steps` Newton steps raises a RuntimeError.

    References
    ----------
    R. A. A. Ince (2017), "Measuring multivariate redundant information with pointwise common
    change in surprisal", Entropy 19(7), 318.

    Examples
    --------
    The conjunction of two fair bits, in bits:

    >>> AND = np.array([[[0.25, 0], [0.25, 0]], [[0.25, 0], [0, 0.25]]])
    >>> ccs(AND).atoms / np.log(2)
    array([0.10375937, 0.20751875, 0.20751875, 0.29248125])
    """
    check_marginals(pmf.shape)
    shared, gap = _common_change(pmf, *maximum_entropy(pmf, most_steps))
    if not gap <= largest_gap:
        raise RuntimeError(
            f"The maximum entropy distribution was not found: the error of the shared information "
            f"is {gap:.1e} nats. Merge states of tiny probability, or use another measure."
        )
    each = information(pmf.sum(axis=1)), information(pmf.sum(axis=0)), information(pmf)
    return PIDAtoms(lattice(2).moebius(np.array([shared, *each])), gap)


def check_marginals(shape: Sequence[int]) -> None:
    """Raise if there are too many marginal probabilities to fit."""
    check_states("ccs", shape, (shape[0] + shape[1]) * shape[2], "broja")


def _common_change(pmf: FloatArray, q: FloatArray, error: FloatArray) -> tuple[float, float]:
    """Return the mean common change in surprisal in nats, and its error, by those of q."""
    cells = np.nonzero(q)
    q, error = q[cells], np.abs(error[cells])
    # q has the same marginals as the pmf, which has them exactly.
    first, second, both = pmf.sum(axis=(1, 2)), pmf.sum(axis=(0, 2)), pmf.sum(axis=2)
    target = np.log(pmf.sum(axis=(0, 1))[cells[2]])
    one = np.log(pmf.sum(axis=1)[cells[0], cells[2]] / first[cells[0]]) - target
    two = np.log(pmf.sum(axis=0)[cells[1], cells[2]] / second[cells[1]]) - target
    joint = np.log(q / both[cells[0], cells[1]]) - target
    common = one + two - joint
    terms = np.stack([common, one, two, joint])
    signs = np.where(np.abs(terms) <= ZERO, 0, np.sign(terms))
    agree = (signs == signs[0]).all(axis=0)
    undecided = np.abs(np.abs(joint) - ZERO) <= error
    change = q * np.abs(common)
    gap = (error * (q + change)).sum() + change[undecided].sum()
    return float((q * common)[agree].sum()), float(gap)


def maximum_entropy(pmf: FloatArray, most_steps: int = MOST_STEPS) -> tuple[FloatArray, FloatArray]:
    r"""Return the maximum entropy distribution with the same two-variable marginals.

    It has the form q = exp(f(a,b) + g(a,t) + h(b,t)) on the cells that are possible under these
    marginals, which are determined first, exactly. Then f, g, h minimise the convex dual
    :math:`\sum q - \sum p \ln q` by Newton's method.

    Also returned is the relative error of each cell, the last Newton step, which is not taken.
    """
    order = np.argsort([-size for size in pmf.shape], kind="stable")  # the largest face is easiest
    p = pmf.transpose(order)
    q = _fit_in_turn(possible_cells(p).astype(np.float64), p, n_rounds=10)
    best, smallest = (q, np.full_like(q, np.inf)), np.inf
    for _ in range(most_steps):
        step = _newton_step(p, q)
        size = float((q * np.abs(step)).sum())
        is_stuck = smallest < 1e-12 and size > smallest / 2  # only rounding is left
        if size < smallest:
            best, smallest = (q, step), size
        if is_stuck or size <= np.finfo(float).eps:
            break
        q = _fit_in_turn(q * np.exp(_damping(p, q, step) * step), p, n_rounds=1)
    back = np.argsort(order)
    return best[0].transpose(back), best[1].transpose(back)


def possible_cells(pmf: FloatArray) -> BoolArray:
    """Return which cells are above 0 in some distribution with the same two-variable marginals.

    A cell is possible if some change that preserves the marginals, and takes nothing from empty
    cells, adds to it. Most are found by changes of eight cells. Changes can be scaled and added, so
    one linear program decides on the rest: maximise the sum of what is added, at most 1 per cell.
    """
    cells = pmf > 0
    first, second, target = (cells.any(axis=axis, keepdims=True) for axis in range(3))
    candidates = np.asarray(first & second & target)  # all marginals are positive
    filled = _fill_by_exchange(cells, candidates)
    places, empty = np.argwhere(candidates), ~filled[candidates]
    if not empty.any():
        return candidates
    n_empty, n_cells = int(empty.sum()), len(places)
    faces = []
    for i, j in combinations(range(3), 2):
        rows, size = places[:, i] * pmf.shape[j] + places[:, j], pmf.shape[i] * pmf.shape[j]
        entries = np.ones(n_cells), (rows, np.arange(n_cells))
        faces.append(csr_array(entries, shape=(size, n_cells)))
    marginals = csr_array(vstack(faces))
    counted_bounds = np.tile([0.0, 1.0], (n_empty, 1))
    more_bounds = np.column_stack([np.where(empty, 0.0, -np.inf), np.full(n_cells, np.inf)])
    found = linprog(
        np.concatenate([-np.ones(n_empty), np.zeros(n_cells)]),
        A_eq=hstack([marginals[:, np.flatnonzero(empty)], marginals]),
        b_eq=np.zeros(marginals.shape[0]),
        bounds=np.concatenate([counted_bounds, more_bounds]),
        method="highs",
    )
    if not found.success:
        raise RuntimeError(f"measure='ccs': linear program not solved: {found.message}")
    filled[tuple(places[empty][found.x[:n_empty] > 0.5].T)] = True
    return filled


def _fill_by_exchange(filled: BoolArray, candidates: BoolArray) -> BoolArray:
    """Return the filled cells and those that changes of eight cells can fill from them.

    Cells (a,b,t), (a,y,z), (x,b,z) and (x,y,t) receive from (x,b,t), (a,y,t), (a,b,z) and (x,y,z),
    repeatedly until nothing changes.
    """
    n_filled = 0
    while n_filled < filled.sum() < candidates.sum():
        n_filled = filled.sum()
        giving = filled.astype(np.float64)
        ways = np.empty_like(giving)
        for a, plane in enumerate(giving):
            opposite = np.tensordot(plane, giving, axes=(1, 2))  # b, x, y: z's that give twice
            ways[a] = np.einsum("bxt,xbt->bt", opposite @ plane, giving)
        filled = filled | ((ways > 0) & candidates)
    return filled


def _fit_in_turn(q: FloatArray, p: FloatArray, n_rounds: int) -> FloatArray:
    """Scale q to the marginals of p by iterative proportional fitting."""
    for _ in range(n_rounds):
        for axis in range(3):
            present, wanted = q.sum(axis=axis, keepdims=True), p.sum(axis=axis, keepdims=True)
            q = q * np.divide(wanted, present, out=np.zeros_like(wanted), where=present > 0)
    return q


def _damping(p: FloatArray, q: FloatArray, step: FloatArray) -> float:
    """Return the fraction of a Newton step to take: 1 near the solution."""
    slope = float(((q - p) * step).sum())
    part = min(1.0, 3.0 / float(np.abs(step).max()))
    while part > 1e-10:
        change = float((q * np.expm1(part * step) - p * (part * step)).sum())
        if change <= 0.1 * part * slope or abs(slope) < 1e-15:
            break
        part /= 2
    return part


def _newton_step(p: FloatArray, q: FloatArray) -> FloatArray:
    """Return the change of ln q = f(a,b) + g(a,t) + h(b,t) towards the marginals of p.

    f is eliminated: it follows from g and h. The rest is solved by Cholesky factors, with a small
    multiple of the identity added, because g and h are not unique.
    """
    n_first, n_second, n_target = q.shape
    missing = p - q
    share = _ratio(q, q.sum(axis=2, keepdims=True))
    targets = np.arange(n_target)
    system = np.zeros((n_first + n_second, n_target, n_first + n_second, n_target))
    a, b = np.arange(n_first), n_first + np.arange(n_second)
    system[a, :, a, :] -= np.einsum("abt,abs->ats", q, share)
    system[b, :, b, :] -= np.einsum("abt,abs->bts", q, share)
    across = -np.einsum("abt,abs->atbs", q, share)
    across[:, targets, :, targets] += q.transpose(2, 0, 1)
    system[:n_first, :, n_first:, :] = across
    system[n_first:, :, :n_first, :] = across.transpose(2, 3, 0, 1)
    faces = np.concatenate([q.sum(axis=1), q.sum(axis=0)])
    system.reshape(faces.size, faces.size)[np.diag_indices(faces.size)] += faces.ravel()
    rest = missing - share * missing.sum(axis=2, keepdims=True)
    sides = np.concatenate([rest.sum(axis=1), rest.sum(axis=0)])
    solved = _solve(system.reshape(faces.size, faces.size), sides.ravel(), faces.ravel())
    solved = solved.reshape(faces.shape)
    change = solved[:n_first, None, :] + solved[None, n_first:, :]
    change = change - (share * change).sum(axis=2, keepdims=True)
    change = change + _ratio(missing.sum(axis=2, keepdims=True), q.sum(axis=2, keepdims=True))
    return np.where(q > 0, change, 0.0)


def _solve(system: FloatArray, sides: FloatArray, faces: FloatArray) -> FloatArray:
    """Solve a positive semidefinite system, scaled by the marginals on its diagonal."""
    scale = _ratio(np.ones_like(faces), np.sqrt(faces))
    scaled = system * scale[:, None] * scale
    for trace in 10.0 ** np.arange(-14, 0):
        try:
            factors = cho_factor(scaled + trace * np.eye(len(scaled)), check_finite=False)
        except LinAlgError:
            continue
        return np.asarray(scale * cho_solve(factors, scale * sides, check_finite=False))
    raise RuntimeError(
        "The maximum entropy distribution was not found: the Newton step has no solution. Merge "
        "states of tiny probability, or use another measure."
    )


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Return the ratio, 0 where the denominator is 0."""
    shape = np.broadcast_shapes(numerator.shape, denominator.shape)
    return np.divide(numerator, denominator, out=np.zeros(shape), where=denominator > 0)
