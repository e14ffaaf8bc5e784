r"""I_min and MMI: redundancy as the minimum over sets of sources.

Both take a joint distribution of 2 to 5 sources and, last, the target (see `check_pmf`), and return
the atoms in nats in the order of `lattice(n_sources).labels`. Atoms are non-negative. Both count
equal amounts as shared even where their contents differ: for COPY, the copy of two independent
bits, one bit is shared.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from pidselect.data import FloatArray
from pidselect.decomposition.lattice import BoolArray, lattice
from pidselect.decomposition.pmf import PIDAtoms

#: Target states per chunk, so that five sources take a few megabytes.
CHUNK = 128


def imin(pmf: FloatArray) -> PIDAtoms:
    r"""Decompose by the specific information of Williams and Beer.

    .. math:: I_{min}(\alpha) = \sum_t p(t) \min_{A \in \alpha} I(T{=}t; A), \qquad
              I(T{=}t; A) = \sum_a p(a|t) \ln \frac{p(t|a)}{p(t)} .

    References
    ----------
    P. L. Williams and R. D. Beer (2010), "Nonnegative decomposition of multivariate information",
    arXiv:1004.2515.

    Examples
    --------
    The conjunction of two fair bits: shared, unique 1, unique 2, synergy, in bits.

    >>> AND = np.array([[[0.25, 0], [0.25, 0]], [[0.25, 0], [0, 0.25]]])
    >>> imin(AND).atoms / np.log(2)
    array([0.31127812, 0.        , 0.        , 0.5       ])
    """
    sources = lattice(pmf.ndim - 1)
    specific = specific_information(pmf)
    redundancies = np.zeros(len(sources.labels))
    for start in range(0, specific.shape[1], CHUNK):
        chunk = specific[:, start : start + CHUNK]
        redundancies += _smallest(sources.members, chunk).sum(axis=1)
    return PIDAtoms(sources.moebius(redundancies))


def mmi(pmf: FloatArray) -> PIDAtoms:
    r"""Decompose by the minimum mutual information.

    .. math:: I_{MMI}(\alpha) = \min_{A \in \alpha} I(T; A) .

    For two jointly Gaussian sources of a univariate target it equals every measure whose redundancy
    depends on the marginals (target, source) alone (Barrett 2015). It is an upper bound of the
    redundancy of measures with non-negative atoms; not of "sx", whose atoms may be negative.

    References
    ----------
    A. B. Barrett (2015), "Exploration of synergistic and redundant information sharing in static
    and dynamical Gaussian systems", Physical Review E 91, 052802.

    Examples
    --------
    Two independent bits and their copy, in bits:

    >>> COPY = np.eye(4).reshape(2, 2, 4) / 4
    >>> mmi(COPY).atoms / np.log(2)
    array([1., 0., 0., 1.])
    """
    return PIDAtoms(lattice_of_minima(specific_information(pmf).sum(axis=1)))


def lattice_of_minima(information_by_mask: FloatArray) -> FloatArray:
    """Return the atoms if the redundancy of sets of sources is their smallest information.

    `information_by_mask` has I(set of sources; target) by the bit mask of the set, shape
    (2**n_sources,); the value at 0, no source, is not used.
    """
    sources = lattice(len(information_by_mask).bit_length() - 1)
    return sources.moebius(_smallest(sources.members, information_by_mask[:, None])[:, 0])


def specific_information(pmf: FloatArray) -> FloatArray:
    """Return p(t) I(T=t; A) in nats for every set of sources A, shape (2**n_sources, n_states_t).

    A row sums to I(T; A); the first, for no source, is 0.
    """
    n_sources = pmf.ndim - 1
    target = pmf.sum(axis=tuple(range(n_sources)))
    specific = np.zeros((2**n_sources, len(target)))
    for mask in range(1, 2**n_sources):
        others = tuple(source for source in range(n_sources) if not mask >> source & 1)
        joint = pmf.sum(axis=others).reshape(-1, len(target))
        joint = joint[joint.any(axis=1)]
        # p(t|a) and p(t) apart: their ratio could overflow for a tiny p(t).
        conditional = xlogy(joint, joint / joint.sum(axis=1, keepdims=True))
        specific[mask] = (conditional - xlogy(joint, target)).sum(axis=0)
    return specific


def _smallest(members: BoolArray, values: FloatArray) -> FloatArray:
    """Return the smallest of the members' rows of values, shape (n_atoms, n_columns)."""
    smallest = np.full((len(members), values.shape[1]), np.inf)
    for mask in range(1, members.shape[1]):
        np.minimum(smallest, values[mask], out=smallest, where=members[:, mask, None])
    return smallest
