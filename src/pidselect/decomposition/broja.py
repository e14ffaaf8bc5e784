"""BROJA: unique information as what no joint distribution with the same marginals can explain away.

Bertschinger et al. argue that what a source tells uniquely can depend on p(t, x1) and p(t, x2)
alone. Among all distributions q with these two marginals,

    unique_1 = min_q I_q(T; X1 | X2),

and one and the same q minimises unique_2, too, and maximises H_q(T | X1, X2). That maximum is all
there is to find: a convex problem, solved here by an interior point method whose result carries a
certificate, the distance of two bounds that do not depend on how they were found.

References
----------
N. Bertschinger, J. Rauh, E. Olbrich, J. Jost, N. Ay, Quantifying unique information. Entropy 16,
2161 (2014). A. Makkeh, D. O. Theis, R. Vicente, Bivariate partial information decomposition: the
optimization perspective. Entropy 19, 530 (2017).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pidselect.data import FloatArray
from pidselect.decomposition.broja_certificate import certify
from pidselect.decomposition.broja_interior_point import interior_point
from pidselect.decomposition.conic import solve_conic
from pidselect.decomposition.pmf import Parts, entropy

#: The gap to reach: 1e-9 bit, in nats.
TOLERANCE = 1e-9 * math.log(2.0)

#: States whose p(target | state) differ by no more than this are one: it is rounding.
PROPORTIONAL = 1e-13

#: What is tried in turn until the gap is reached: what it is called, and by which power of their
#: weight pairs of states are treated (see `interior_point`). Nearly always the first does; the
#: others are for near-copies, whose likely and unlikely states matter on scales apart.
SWAPPED = "sources swapped"
ATTEMPTS = (
    ("interior point", 0.75),
    ("other centring", 0.5),
    (SWAPPED, 0.75),
    (SWAPPED, 0.5),
    ("other centring", 1.0),
    ("other centring", 0.6),
)
MOST_STEPS = 100

#: The most unknowns of the dense system of a step: states of the target times those of the smaller
#: source. With so many, a step takes seconds.
MOST_UNKNOWNS = 2000

#: Rounding may put the lower bound above the upper one by this much, in nats.
ROUNDING = 1e-12

#: Above this gap, in nats, a general solver is asked last of all. Below, it has nothing to add.
CONIC_FROM = 1e-8


class BrojaSolution(NamedTuple):
    """The largest H(T | X1, X2) that the marginals allow, in nats, and how sure that is.

    Parameters
    ----------
    entropy : float
        That of a distribution with these marginals, so at most the largest.
    gap : float
        The largest is at most this much larger.
    method : str
        What it took: "exact", "interior point", "other centring", "sources swapped" or "conic".
    steps : int
        Newton steps, over all attempts.
    """

    entropy: float
    gap: float
    method: str
    steps: int


def broja(pmf: FloatArray, *, tolerance: float = TOLERANCE) -> Parts:
    """Decompose what two sources tell about a target by the measure of Bertschinger et al.

    Parameters
    ----------
    pmf : array of float64, shape (n_first, n_second, n_targets)
    tolerance : float
        The gap to reach, in nats.

    Returns
    -------
    Parts
        Shared, unique to the first, unique to the second, synergy, in nats. No atom is off by more
        than the gap.

    Examples
    --------
    Two sources of one bit each, and the target is both: nothing is shared, as they have nothing to
    do with each other.

    >>> from pidselect import datasets
    >>> parts = broja(datasets.gate("COPY"))
    >>> np.round(parts.atoms / np.log(2), 6) + 0.0
    array([0., 1., 1., 0.])
    """
    first, second = pmf.sum(axis=1).T, pmf.sum(axis=0).T
    solution = solve(first, second, tolerance)
    of_target = entropy(first.sum(axis=1))
    given_first = entropy(first) - entropy(first.sum(axis=0))
    given_second = entropy(second) - entropy(second.sum(axis=0))
    given_both = entropy(pmf) - entropy(pmf.sum(axis=-1))
    atoms = np.array(
        [
            of_target - given_first - given_second + solution.entropy,
            given_second - solution.entropy,
            given_first - solution.entropy,
            solution.entropy - given_both,
        ]
    )
    return Parts(atoms, solution.gap)


def solve(first: FloatArray, second: FloatArray, tolerance: float = TOLERANCE) -> BrojaSolution:
    """Find the largest H(T | X1, X2) for given p(t, x1) and p(t, x2).

    Parameters
    ----------
    first : array of float64, shape (n_targets, n_first)
    second : array of float64, shape (n_targets, n_second)
    tolerance : float
        The gap to reach, in nats.
    """
    possible = first.sum(axis=1) > 0.0
    first, second = merge(first[possible]), merge(second[possible])
    if first.shape[1] == 1 or second.shape[1] == 1 or first.shape[0] == 1:
        # A source of one state is independent of the target: the other one is all there is.
        other = second if first.shape[1] == 1 else first
        return BrojaSolution(entropy(other) - entropy(other.sum(axis=0)), 0.0, "exact", 0)
    if first.shape[1] > second.shape[1]:
        first, second = second, first  # the dense part of a step goes by the first source's states
    if reason := too_many_unknowns((first.shape[1], second.shape[1], first.shape[0])):
        raise ValueError(reason)
    lower, upper, steps, method = -np.inf, np.inf, 0, "conic"
    for method, power in ATTEMPTS:
        ends = (second, first) if method == SWAPPED else (first, second)
        below, above, taken = interior_point(*ends, power, tolerance, MOST_STEPS)
        lower, upper, steps = max(lower, below), min(upper, above), steps + taken
        if -ROUNDING <= upper - lower <= tolerance:
            return BrojaSolution(-upper, max(upper - lower, 0.0), method, steps)
    if not upper - lower <= CONIC_FROM:
        below, above = certify(first, second, *solve_conic(first, second))
        lower, upper, method = max(lower, below), min(upper, above), "conic"
    return BrojaSolution(-upper, max(upper - lower, 0.0), method, steps)


def too_many_unknowns(shape: Sequence[int]) -> str:
    """Say that there are too many states to solve for in reasonable time, if so."""
    states, n_targets = min(shape[0], shape[1]), shape[2]
    if states * n_targets <= MOST_UNKNOWNS:
        return ""
    return (
        f"BROJA: sources of {states} states or more and a target of {n_targets} are too many, as "
        f"their product is above {MOST_UNKNOWNS}. Use fewer bins; if whole numbers are meant as "
        'measurements, say so by feature_types={...: "continuous"}, so that they are binned; or '
        'use measure="imin".'
    )


def merge(marginal: FloatArray) -> FloatArray:
    """Merge states of a source that say the same of the target: p(t | state) is the same.

    That leaves the decomposition as it is: such states differ by nothing but their names. States
    that do not occur are left out.

    Examples
    --------
    >>> merge(np.array([[0.1, 0.2, 0.0, 0.3], [0.1, 0.2, 0.0, 0.1]]))
    array([[0.3, 0.3],
           [0.3, 0.1]])
    """
    of_state = marginal.sum(axis=0)
    conditional = marginal / np.where(of_state > 0.0, of_state, 1.0)
    # Equal states have equal keys, so that they come next to each other.
    key = np.cos(np.arange(1.0, len(marginal) + 1.0)) @ conditional
    order = np.argsort(key, kind="stable")
    order = order[of_state[order] > 0.0]
    conditional = conditional[:, order]
    differs = np.abs(np.diff(conditional, axis=1)).max(axis=0) > PROPORTIONAL
    starts = np.concatenate([[0], np.flatnonzero(differs) + 1])
    return np.ascontiguousarray(np.add.reduceat(marginal[:, order], starts, axis=1))
