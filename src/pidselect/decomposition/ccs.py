r"""Common change in surprisal: what two sources do to the surprise at the target in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, vstack

from pidselect.data import FloatArray
from pidselect.decomposition.lattice import BoolArray, lattice
from pidselect.decomposition.pmf import Parts, information

#: Changes in surprisal (nats) smaller than this have no sign: they are 0 but for rounding.
ZERO = 1e-10

#: A solution this uncertain (nats) is refused; almost all are certain to 1e-13.
LARGEST_GAP = 1e-6

#: Newton steps; ten are many, but where probabilities span hundreds of orders more are taken.
MOST_STEPS = 200

#: The most marginal probabilities to fit: with so many, a step takes seconds.
MOST_MARGINALS = 2000


def ccs(pmf: FloatArray) -> Parts:
    r"""Decompose what two sources tell by their common change in surprisal.

    .. math:: I_{ccs} = \sum_{abt} q(a,b,t)\, c(a,b,t), \qquad
              c = i(a;t) + i(b;t) - i(ab;t),

    where i are pointwise mutual informations under q, and the sum goes over those (a, b, t) where
    c and all three i have the same sign. q is the distribution of largest entropy that has the
    marginals p(a,b), p(a,t) and p(b,t). Atoms may be negative. There is a jump wherever an i
    changes its sign: two distributions next to each other may then be decomposed differently.

    Parameters
    ----------
    pmf : array, shape (n_states_1, n_states_2, n_states_target)
        A joint distribution of two sources and, last, the target; see `check_pmf`.

    Returns
    -------
    Parts
        The atoms in nats, shared, unique to either source, synergistic; and how far they may be
        off because q is solved for, to first order in the error of q, usually some 1e-16.

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
    if pmf.ndim != 3:
        raise ValueError(
            f"The common change in surprisal is defined here for two sources, but pmf has "
            f'{pmf.ndim - 1}: shape {pmf.shape}. Use measure="sx", "imin" or "mmi" for more.'
        )
    if reason := too_many_marginals(pmf.shape):
        raise ValueError(reason)
    shared, gap = _common_change(pmf, maximum_entropy(pmf))
    if not gap <= LARGEST_GAP:
        raise RuntimeError(
            f"The distribution of largest entropy was not found: the shared information is known "
            f"to {gap:.1e} nats only. Join states that are next to impossible, or use another "
            "measure."
        )
    each = information(pmf.sum(axis=1)), information(pmf.sum(axis=0)), information(pmf)
    return Parts(lattice(2).moebius(np.array([shared, *each])), gap)


def too_many_marginals(shape: Sequence[int]) -> str:
    """Say that there are too many states to solve for in reasonable time, if so."""
    n_marginals = (shape[0] + shape[1]) * shape[2]
    if n_marginals <= MOST_MARGINALS:
        return ""
    return (
        f"CCS: sources of {shape[0]} and {shape[1]} states and a target of {shape[2]} are too "
        f"many, as the sum of the former times the latter is above {MOST_MARGINALS}. Use fewer "
        "bins; if whole numbers are meant as measurements, say so by "
        'feature_types={...: "continuous"}; or use measure="broja".'
    )


class MaxentSolution(NamedTuple):
    """A distribution and, cell by cell, by which share of it it may be off."""

    pmf: FloatArray
    error: FloatArray


def _common_change(pmf: FloatArray, solution: MaxentSolution) -> tuple[float, float]:
    """Return the average common change in surprisal in nats, and how far it may be off."""
    cells = np.nonzero(solution.pmf)
    q, error = solution.pmf[cells], np.abs(solution.error[cells])
    # q has the same marginals as the pmf, which has them exactly.
    first, second, both = pmf.sum(axis=(1, 2)), pmf.sum(axis=(0, 2)), pmf.sum(axis=2)
    target = np.log(pmf.sum(axis=(0, 1))[cells[2]])
    one = np.log(pmf.sum(axis=1)[cells[0], cells[2]] / first[cells[0]]) - target
    two = np.log(pmf.sum(axis=0)[cells[1], cells[2]] / second[cells[1]]) - target
    joint = np.log(q / both[cells[0], cells[1]]) - target
    common = one + two - joint
    signs = [np.where(np.abs(i) <= ZERO, 0, np.sign(i)) for i in (common, one, two, joint)]
    agree = (signs[0] == signs[1]) & (signs[0] == signs[2]) & (signs[0] == signs[3])
    undecided = np.abs(np.abs(joint) - ZERO) <= error
    change = q * np.abs(common)
    gap = (error * (q + change)).sum() + change[undecided].sum()
    return float((q * common)[agree].sum()), float(gap)


def maximum_entropy(pmf: FloatArray) -> MaxentSolution:
    r"""Return the distribution of largest entropy with the same marginals of any two of three axes.

    It has the form q = exp(f(a,b) + g(a,t) + h(b,t)) on all cells that are possible at all under
    these marginals. Those are found first, exactly; then f, g, h by Newton's method on the dual
    problem, minimise :math:`\sum q - \sum p \ln q`, which is convex.

    Parameters
    ----------
    pmf : array, shape (A, B, T)

    Returns
    -------
    Solution
        The distribution, and the last Newton step not taken: by which share each cell may be off.

    Examples
    --------
    Parity is invisible in pairs, so all is possible and nothing is preferred:

    >>> XOR = np.array([[[0.25, 0], [0, 0.25]], [[0, 0.25], [0.25, 0]]])
    >>> maximum_entropy(XOR).pmf.ravel()
    array([0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125])
    """
    order = np.argsort([-size for size in pmf.shape], kind="stable")  # the largest face is easiest
    p = pmf.transpose(order)
    q = _fit_in_turn(possible_cells(p).astype(np.float64), p, n_rounds=10)
    best, smallest = MaxentSolution(q, np.full_like(q, np.inf)), np.inf
    for _ in range(MOST_STEPS):
        step = _newton_step(p, q)
        size = float((q * np.abs(step)).sum())
        is_stuck = smallest < 1e-12 and size > smallest / 2  # all that is left is rounding
        if size < smallest:
            best, smallest = MaxentSolution(q, step), size
        if is_stuck or size <= np.finfo(float).eps:
            break
        q = _fit_in_turn(q * np.exp(_damping(p, q, step) * step), p, n_rounds=1)
    back = np.argsort(order)
    return MaxentSolution(best.pmf.transpose(back), best.error.transpose(back))


def possible_cells(pmf: FloatArray) -> BoolArray:
    """Return which cells are above 0 in some distribution with the same two-axis marginals.

    A cell is possible if some change that leaves the marginals as they are, and takes nothing from
    empty cells, adds to it. Most are found by the simplest changes, those of eight cells. For the
    rest, changes can be scaled and added up, so one linear program decides on all: the largest sum
    of what is added to each, counting at most 1.
    """
    candidates = _product_of_faces(pmf > 0)
    filled = _fill_by_exchange(pmf > 0, candidates)
    places, empty = np.argwhere(candidates), ~filled[candidates]
    if not empty.any():
        return candidates
    marginals = _marginals(places, pmf.shape)
    n_empty, n_cells = int(empty.sum()), len(places)
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
        raise RuntimeError(f"The possible states were not found: {found.message}")
    filled[tuple(places[empty][found.x[:n_empty] > 0.5].T)] = True
    return filled


def _fill_by_exchange(filled: BoolArray, candidates: BoolArray) -> BoolArray:
    """Return the filled cells and those that can take from filled ones by a change of eight cells.

    Cells (a,b,t), (a,y,z), (x,b,z) and (x,y,t) take what (x,b,t), (a,y,t), (a,b,z) and (x,y,z)
    give. It is repeated with the cells so filled until there are no more.
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


def _product_of_faces(cells: BoolArray) -> BoolArray:
    """Return which cells are seen from all three sides."""
    first, second, target = (np.asarray(cells.any(axis=k, keepdims=True)) for k in range(3))
    return first & second & target


def _marginals(places: np.ndarray, shape: tuple[int, ...]) -> csr_array:
    """Return the matrix that sums cells over each axis in turn."""
    columns = np.arange(len(places))
    parts = []
    for kept in ((0, 1), (0, 2), (1, 2)):
        sizes = shape[kept[0]], shape[kept[1]]
        rows = np.ravel_multi_index((places[:, kept[0]], places[:, kept[1]]), sizes)
        ones = np.ones(len(places))
        parts.append(csr_array((ones, (rows, columns)), shape=(sizes[0] * sizes[1], len(places))))
    return csr_array(vstack(parts))


def _fit_in_turn(q: FloatArray, p: FloatArray, n_rounds: int) -> FloatArray:
    """Scale q to the marginals of p, one after the other: iterative proportional fitting."""
    for _ in range(n_rounds):
        for axis in range(3):
            present, wanted = q.sum(axis=axis, keepdims=True), p.sum(axis=axis, keepdims=True)
            q = q * np.divide(wanted, present, out=np.zeros_like(wanted), where=present > 0)
    return q


def _damping(p: FloatArray, q: FloatArray, step: FloatArray) -> float:
    """Return the part of a Newton step to take: all of it near the solution."""
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

    f is eliminated: it follows cell by cell from g and h. What is left is solved by Cholesky
    factors, with a trace added to the diagonal because g and h are not unique.
    """
    n_first, n_second, n_target = q.shape
    missing = p - q
    share = _ratio(q, q.sum(axis=2, keepdims=True))
    targets = np.arange(n_target)
    shape = (n_first + n_second, n_target, n_first + n_second, n_target)
    system = np.zeros(shape)
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
    """Solve a positive semidefinite system, scaled by the faces that its diagonal comes from."""
    scale = _ratio(np.ones_like(faces), np.sqrt(faces))
    scaled = system * scale[:, None] * scale
    for trace in 10.0 ** np.arange(-14, 0):
        try:
            factors = cho_factor(scaled + trace * np.eye(len(scaled)), check_finite=False)
        except LinAlgError:
            continue
        return np.asarray(scale * cho_solve(factors, scale * sides, check_finite=False))
    raise RuntimeError(
        "The distribution of largest entropy was not found: the Newton step has no solution. Join "
        "states that are next to impossible, or use another measure."
    )


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Return the ratio, 0 where the denominator is 0."""
    shape = np.broadcast_shapes(numerator.shape, denominator.shape)
    return np.divide(numerator, denominator, out=np.zeros(shape), where=denominator > 0)
