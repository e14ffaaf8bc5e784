"""Orders of rows under the null hypothesis, keyed by NumPy's Philox.

Rows are permuted globally or within groups or strata, exchanged with rows that are near in S,
shifted circularly, or moved in whole groups. An order is a function of the stream key and its
number, for any number of workers and batch size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pidselect.data import Block, IntArray
from pidselect.estimators.base import groups_of
from pidselect.significance.near import NEIGHBOURS, nearest_samples

#: Schemes that permute all samples if there is no S.
GIVEN_ONLY = frozenset({"local", "residual"})

#: Rounds in which samples that have no partner yet look for one.
ROUNDS = 8

#: Share of the samples that must be in joint levels large enough to permute within.
PERMUTABLE = 0.9


def find_strata(given: Block, groups: IntArray | None) -> IntArray | None:
    """Return the joint level of S, and group, of every sample, within which permutation is exact.

    None if S has a column that is not discrete, or if more than a tenth of the samples are in
    levels of fewer than five samples: integers of many levels leave nothing to permute.
    """
    if not len(given) or not all(column.is_discrete for column in given.columns):
        return None
    strata = given.codes()
    if groups is not None:
        pairs = strata * (groups.max() + 1) + groups
        strata = np.unique(pairs, return_inverse=True)[1].astype(np.int64).reshape(-1)
    is_large = np.bincount(strata)[strata] >= NEIGHBOURS
    return strata if is_large.mean() >= PERMUTABLE else None


@dataclass(frozen=True, eq=False)
class RowOrders:
    """How rows are permuted: in order m, sample i has the value of sample ``rows[m, i]``.

    Examples
    --------
    Within two groups of rows; order 0 is that of the data.

    >>> orders = RowOrders("global", 6, np.array([0, 0, 0, 1, 1, 1]))
    >>> rows = orders((0, 1), range(3))
    >>> rows[0].tolist(), sorted(rows[2, :3].tolist())
    ([0, 1, 2, 3, 4, 5], [0, 1, 2])
    >>> bool((orders((0, 1), range(2, 3)) == rows[2:]).all())
    True
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

    def __call__(self, stream_key: tuple[int, ...], numbers: range) -> NDArray[np.int32]:
        """Return the orders of these numbers, (len(numbers), n_samples)."""
        key = np.random.SeedSequence(stream_key).generate_state(2, np.uint64)
        everything = np.arange(self.n_samples)
        parts = [everything] if self.groups is None else groups_of(self.groups)
        if self.scheme == "blocks":  # groups of equal size side by side
            sizes = sorted({len(part) for part in parts})
            parts = [np.array([part for part in parts if len(part) == size]) for size in sizes]
        rows = np.tile(everything.astype(np.int32), (len(numbers), 1))
        for row, number in zip(rows, numbers, strict=True):
            if number:
                bits = np.random.Philox(key=key, counter=[0, 0, 0, number])
                self._fill(row, parts, np.random.Generator(bits))
        return rows

    def _fill(
        self, row: NDArray[np.int32], parts: list[IntArray], rng: np.random.Generator
    ) -> None:
        """Write one order into a row that holds that of the data."""
        if self.nearest is not None:
            row[:] = _exchanged(self.nearest, rng)
            small = [part for part in parts if len(part) <= NEIGHBOURS + 1]
            if self.groups is not None and small:
                # All rows are neighbours; in groups of two, they would always change places.
                _permute_within(row, np.concatenate(small), self.groups, rng)
        elif self.scheme == "shift":
            for part in parts:
                row[part] = np.roll(part, int(rng.integers(len(part))))
        elif self.scheme == "blocks":
            for part in parts:
                row[part] = rng.permutation(part)
        elif self.groups is None:
            row[:] = rng.permutation(self.n_samples)
        else:
            _permute_within(row, np.concatenate(parts), self.groups, rng)


def _permute_within(
    row: NDArray[np.int32], by_group: IntArray, groups: IntArray, rng: np.random.Generator
) -> None:
    """Write a permutation within groups; `by_group` are their samples, one group after another."""
    keys = 2.0 * groups + rng.random(len(groups))  # by group, and then at random
    row[by_group] = by_group[np.argsort(keys[by_group])]


def _exchanged(nearest: IntArray, rng: np.random.Generator) -> IntArray:
    """Return an order in which samples have changed places with a random near one, in pairs."""
    n_samples, n_near = nearest.shape
    row, earliest = np.arange(n_samples), np.empty(n_samples, dtype=np.int64)
    for _ in range(ROUNDS):
        first = np.flatnonzero(row == np.arange(n_samples))
        if len(first) < 2:
            break
        first = rng.permutation(first)
        second = nearest[first, rng.integers(n_near, size=len(first))]
        is_free = (row[second] == second) & (first != second)
        ends = np.stack([first[is_free], second[is_free]], axis=1)
        # A pair is exchanged if it is the first in random order that has either of the two.
        places = np.arange(ends.size)[::-1]
        earliest[ends.ravel()[::-1]] = places
        pairs = ends[(earliest[ends] == places[::-1].reshape(ends.shape)).all(axis=1)]
        row[pairs[:, 0]], row[pairs[:, 1]] = pairs[:, 1], pairs[:, 0]
    return row
