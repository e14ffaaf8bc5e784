"""I_sx: redundancy by shared exclusions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pidselect.data import FloatArray
from pidselect.decomposition.lattice import lattice
from pidselect.decomposition.pmf import PIDAtoms, entropy

#: 32 MiB of float64.
CHUNK = 2**22


def sx(pmf: FloatArray, *, chunk_size: int = CHUNK) -> PIDAtoms:
    r"""Decompose by shared exclusions, into informative and misinformative parts.

    For a realisation (s, t), the statement W that at least one member of the antichain is as
    observed rules out all other realisations of the sources:

    .. math:: i_\cap^{sx}(t : \alpha) = \ln \frac{P(t | W)}{P(t)}
              = \underbrace{- \ln P(W)}_{\text{informative}}
              - \underbrace{\ln \frac{P(t)}{P(t, W)}}_{\text{misinformative}}, \qquad
              W = \bigcup_{A \in \alpha} \{s' : s'_A = s_A\} .

    It is averaged over all realisations. Atoms are negative where the misinformative part exceeds
    the informative one; both parts are non-negative. The atoms depend on the partition into states:
    splitting a state into two with the same p(t | state) changes them.

    `pmf` is a joint distribution of 2 to 5 sources and, last, the target; `chunk_size` limits the
    entries of the largest temporary array. The atoms are in nats, in the order of
    `lattice(n_sources).labels`, with their informative part.

    References
    ----------
    A. Makkeh, A. J. Gutknecht and M. Wibral (2021), "Introducing a differentiable measure of
    pointwise shared information", Physical Review E 103, 032149.

    Examples
    --------
    The parity of two fair bits, in bits: the shared information is misinformative.

    >>> XOR = np.array([[[0.25, 0], [0, 0.25]], [[0, 0.25], [0.25, 0]]])
    >>> parts = sx(XOR)
    >>> parts.atoms / np.log(2)
    array([-0.5849625,  0.5849625,  0.5849625,  0.4150375])
    >>> parts.informative / np.log(2)
    array([0.4150375, 0.5849625, 0.5849625, 0.4150375])
    """
    sources = lattice(pmf.ndim - 1)
    target = pmf.sum(axis=tuple(range(pmf.ndim - 1)))
    informative = _mean_surprisal(pmf.sum(axis=-1, keepdims=True), chunk_size)
    misinformative = _mean_surprisal(pmf, chunk_size) - entropy(target)
    atoms = sources.moebius(np.stack([informative, misinformative], axis=1))
    return PIDAtoms(atoms[:, 0] - atoms[:, 1], informative=atoms[:, 0])


def _mean_surprisal(pmf: FloatArray, chunk_size: int) -> FloatArray:
    """Return the mean of -ln P(t, W) over all realisations (s, t), for each antichain.

    Another realisation lies in W if the set of sources in which it agrees with this one is in the
    antichain's up-set; so one matrix product gives P(t, W) for all antichains.
    """
    upsets = lattice(pmf.ndim - 1).upsets.astype(np.float64)
    possible = pmf > 0
    weights = pmf[possible]
    agreements = np.empty((upsets.shape[1], len(weights)))
    for mask, probabilities in _agreements(pmf):
        agreements[mask] = probabilities[possible]
    mean = np.zeros(len(upsets))
    step = max(1, chunk_size // len(upsets))
    for start in range(0, len(weights), step):
        unions = upsets @ agreements[:, start : start + step]
        mean -= np.log(unions, out=unions) @ weights[start : start + step]
    return mean


def _agreements(
    probabilities: FloatArray, axis: int = 0, mask: int = 0
) -> Iterator[tuple[int, FloatArray]]:
    """Yield every set of sources with, for each realisation, the probability of agreement.

    That is the probability of all realisations with the same target that agree with it in the
    sources of the set and in no other. Only sums are taken, no differences, so that tiny
    probabilities stay exact.
    """
    if axis == probabilities.ndim - 1:
        yield mask, probabilities
        return
    yield from _agreements(probabilities, axis + 1, mask | 1 << axis)
    along = np.moveaxis(probabilities, axis, 0)
    others = np.zeros_like(along)  # at each index, the sum of all other values
    others[1:] += np.cumsum(along[:-1], axis=0)
    others[:-1] += np.cumsum(along[:0:-1], axis=0)[::-1]
    yield from _agreements(np.moveaxis(others, 0, axis), axis + 1, mask)
