"""Orders of rows under the null hypothesis: permutations of residuals, keyed by NumPy's Philox.

Rows are permuted globally or within groups or strata, shifted circularly, or moved in whole groups.
An order is a function of the stream key and its number, for any number of workers and batch size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pidselect.data import Block, IntArray
from pidselect.estimators.base import groups_of
from pidselect.significance.near import nearest_samples
from pidselect.significance.surrogates import GIVEN_ONLY, find_strata

#: Rounds in which samples that have no partner yet look for one.
ROUNDS = 8


@dataclass(frozen=True, eq=False)
class RowOrders:
    """How the rows of residuals are permuted.

    Examples
    --------
    Within two groups of rows; order 0 is that of the data.

    >>> orders = RowOrders("global", 6, np.array([0, 0, 0, 1, 1, 1]))
    >>> rows = orders((0, 1), range(3))
    >>> rows[0], np.sort(rows[2, :3]), bool((orders((0, 1), range(2, 3)) == rows[2:]).all())
    (array([0, 1, 2, 3, 4, 5]), array([0, 1, 2]), True)
    """

    scheme: str  # "global", "near", "shift" or "blocks"
    n_samples: int
    groups: IntArray | None = None
    nearest: IntArray | None = None  # (n_samples, NEIGHBOURS): of "near"

    @classmethod
    def given(cls, scheme: str, given: Block, n_samples: int, groups: IntArray | None) -> RowOrders:
        """Return the orders of a surrogate scheme given S.

        "local" and "residual" exchange samples that are near in S, or permute within its levels.
        """
        if scheme not in GIVEN_ONLY or not len(given):
            return cls(scheme, n_samples, groups)
        strata = find_strata(given, groups)
        if strata is not None:
            return cls("global", n_samples, strata)
        return cls("near", n_samples, groups, nearest_samples(given, n_samples, groups))

    def __call__(self, stream_key: tuple[int, ...], numbers: range) -> IntArray:
        """Return the orders of these numbers, (len(numbers), n_samples)."""
        key = np.random.SeedSequence(stream_key).generate_state(2, np.uint64)
        parts = [np.arange(self.n_samples)] if self.groups is None else groups_of(self.groups)
        rows = np.tile(np.arange(self.n_samples), (len(numbers), 1))
        for row, number in zip(rows, numbers, strict=True):
            if number:
                bits = np.random.Philox(key=key, counter=[0, 0, 0, number])
                self._fill(row, parts, np.random.Generator(bits))
        return rows

    def _fill(self, row: IntArray, parts: list[IntArray], rng: np.random.Generator) -> None:
        """Write one order into a row that holds that of the data."""
        if self.nearest is not None:
            row[:] = _exchanged(self.nearest, rng)
        elif self.scheme == "shift":
            for part in parts:
                row[part] = np.roll(part, int(rng.integers(len(part))))
        elif self.scheme == "blocks":
            sizes = np.array([len(part) for part in parts])
            for size in np.unique(sizes):
                places = np.flatnonzero(sizes == size)
                for place, other in zip(places, rng.permutation(places), strict=True):
                    row[parts[place]] = parts[other]
        elif self.groups is None:
            row[:] = rng.permutation(self.n_samples)
        else:
            by_group = np.concatenate(parts)
            row[by_group] = np.lexsort((rng.random(self.n_samples), self.groups))


def _exchanged(nearest: IntArray, rng: np.random.Generator) -> IntArray:
    """Return an order in which samples have changed places with a random near one, in pairs."""
    n_samples, n_near = nearest.shape
    row = np.arange(n_samples)
    for _ in range(ROUNDS):
        first = np.flatnonzero(row == np.arange(n_samples))
        if len(first) < 2:
            break
        first = rng.permutation(first)
        second = nearest[first, rng.integers(n_near, size=len(first))]
        is_free = (row[second] == second) & (first != second)
        ends = np.stack([first[is_free], second[is_free]], axis=1)
        # A pair is exchanged if it is the first in random order that has either of the two.
        _, place = np.unique(ends, return_index=True)
        is_first = np.zeros(ends.size, dtype=bool)
        is_first[place] = True
        pairs = ends[is_first.reshape(ends.shape).all(axis=1)]
        row[pairs[:, 0]], row[pairs[:, 1]] = pairs[:, 1], pairs[:, 0]
    return row
