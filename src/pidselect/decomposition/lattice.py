r"""The redundancy lattice of Williams and Beer.

An atom belongs to an antichain, a collection of sets of sources of which none contains another:
"{1}{2,3}" is the information that source 1 shares with sources 2 and 3 jointly. An antichain lies
below another if each set of the latter contains a set of the former. The redundancy of an antichain
is the sum of all atoms at and below it,

.. math:: I_\cap(\alpha) = \sum_{\beta \preceq \alpha} \Pi(\beta),

and the atoms follow from the redundancies by Moebius inversion.

An antichain is represented by its up-set, the collection of all sets of sources that contain one of
its members; it lies below another exactly if its up-set contains that of the other. The sum above
is computed one set of sources after the other, larger ones first: add to every up-set without the
set the value at the smallest up-set with it. These are 2^n - 2 vectorised additions; undone in
reverse order they are the inversion, without any matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect.data import FloatArray, IntArray

BoolArray = NDArray[np.bool_]

#: Six sources would have 7 828 352 atoms.
FEWEST_SOURCES, MOST_SOURCES = 2, 5


@dataclass(frozen=True, eq=False, repr=False)
class Lattice:
    """All antichains of sets of sources, from the bottom "{1}{2}.." to the top "{1,2,..}".

    A set of sources is a bit mask: source 1 is bit 0, so mask 5 is {1,3}. `labels` are antichains
    as text, lower ones first, `antichains` the masks of their members in the order of the label.
    `members` and `upsets`, of shape (n_atoms, 2**n_sources), are whether a mask is, or contains, a
    member. `steps` are, for each mask but the full one, larger ones first, the antichains whose
    up-set is without it, and the indices of the smallest up-sets that contain both.

    References
    ----------
    P. L. Williams and R. D. Beer (2010), "Nonnegative decomposition of multivariate information",
    arXiv:1004.2515. A. Bjoerklund et al. (2016), "Fast zeta transforms for lattices with few
    irreducibles", ACM Transactions on Algorithms 12(1).

    Examples
    --------
    >>> lattice(2).labels
    ('{1}{2}', '{1}', '{2}', '{1,2}')
    >>> [len(lattice(n).labels) for n in (2, 3, 4, 5)]
    [4, 18, 166, 7579]

    One bit shared by two sources:

    >>> lattice(2).moebius(np.array([1.0, 1.0, 1.0, 1.0]))
    array([1., 0., 0., 0.])
    """

    n_sources: int
    labels: tuple[str, ...]
    antichains: tuple[tuple[int, ...], ...]
    members: BoolArray
    upsets: BoolArray
    steps: tuple[tuple[IntArray, IntArray], ...]

    def moebius(self, redundancies: FloatArray) -> FloatArray:
        """Return the atoms whose sums the redundancies are, along the first axis."""
        values = self._copy(redundancies)
        for without, within in reversed(self.steps):
            values[without] -= values[within]
        return values

    def cumulate(self, atoms: FloatArray) -> FloatArray:
        """Return for each antichain the sum of all atoms at and below it, along the first axis."""
        values = self._copy(atoms)
        for without, within in self.steps:
            values[without] += values[within]
        return values

    def labelled(self, values: FloatArray, scale: float = 1.0) -> dict[str, Any]:
        """Return scaled values by label: floats, or tuples of the second axis."""
        rows = (values * scale).tolist()
        return dict(zip(self.labels, rows if values.ndim == 1 else map(tuple, rows), strict=True))

    def _copy(self, values: FloatArray) -> FloatArray:
        if not np.ndim(values) or len(values) != len(self.labels):
            raise ValueError(
                f"The lattice of {self.n_sources} sources has {len(self.labels)} antichains, but "
                f"the first axis of the values differs: shape {np.shape(values)}."
            )
        return np.array(values, dtype=np.float64)


@cache
def lattice(n_sources: int) -> Lattice:
    """Return the redundancy lattice of 2 to 5 sources, cached."""
    if n_sources not in range(FEWEST_SOURCES, MOST_SOURCES + 1):
        raise ValueError(
            f"n_sources={n_sources}: the redundancy lattice is built for {FEWEST_SOURCES} to "
            f"{MOST_SOURCES} sources (six would have 7 828 352 atoms). Join sources into one "
            "variable, or use fewer."
        )
    n_masks = 2**n_sources
    codes = _monotone_collections(n_sources)[1:-1]  # without the empty one and that of all sets
    upsets = (codes[:, None] >> np.arange(n_masks)) & 1 == 1
    members = _minimal(upsets, n_sources)
    antichains, labels = _spell(members, n_sources)
    sizes = upsets.sum(axis=1)
    order = sorted(range(len(codes)), key=lambda i: (-sizes[i], len(antichains[i]), labels[i]))
    codes, upsets, members = codes[order], upsets[order], members[order]
    upsets.setflags(write=False)
    members.setflags(write=False)
    return Lattice(
        n_sources=n_sources,
        labels=tuple(labels[i] for i in order),
        antichains=tuple(antichains[i] for i in order),
        members=members,
        upsets=upsets,
        steps=_steps(codes, upsets),
    )


def _monotone_collections(n_sources: int) -> IntArray:
    """Return all collections of sets closed under supersets, ascending, as bit codes.

    Bit m of a code is 1 if mask m is in the collection. Over one more source they are pairs of
    collections, without and with that source, the second containing the first.
    """
    codes = np.array([0, 1], dtype=np.int64)
    for source in range(n_sources):
        without, within = np.meshgrid(codes, codes, indexing="ij")
        fits = without & ~within == 0
        codes = without[fits] | within[fits] << 2**source
    return np.sort(codes)


def _minimal(upsets: BoolArray, n_sources: int) -> BoolArray:
    """Return which masks of each up-set are minimal."""
    masks = np.arange(2**n_sources)
    members = upsets.copy()
    for bit in 1 << np.arange(n_sources):
        members &= ~(upsets[:, masks & ~bit] & (masks & bit > 0))
    return members


def _spell(members: BoolArray, n_sources: int) -> tuple[list[tuple[int, ...]], list[str]]:
    """Return the members of each antichain, ordered by their sources, and its label."""
    sources = {
        mask: tuple(source + 1 for source in range(n_sources) if mask >> source & 1)
        for mask in range(2**n_sources)
    }
    ordered = sorted(sources, key=sources.__getitem__)
    names = {mask: "{" + ",".join(map(str, sources[mask])) + "}" for mask in ordered}
    antichains = [
        tuple(mask for mask, is_member in zip(ordered, row, strict=True) if is_member)
        for row in members[:, ordered].tolist()
    ]
    return antichains, ["".join(names[mask] for mask in antichain) for antichain in antichains]


def _steps(codes: IntArray, upsets: BoolArray) -> tuple[tuple[IntArray, IntArray], ...]:
    """Return for each mask the up-sets without it, and the up-sets they become with it."""
    masks = np.arange(1, upsets.shape[1] - 1)
    ascending = np.argsort(codes)
    steps = []
    for mask in sorted(masks, key=lambda mask: -int(mask).bit_count()):
        larger = int(sum(1 << int(m) for m in range(upsets.shape[1]) if m & mask == mask))
        without = np.flatnonzero(~upsets[:, mask])
        within = ascending[np.searchsorted(codes, codes[without] | larger, sorter=ascending)]
        steps.append((without, within))
    return tuple(steps)
