"""Orders of rows under the null hypothesis, keyed by NumPy's Philox.

Rows are permuted globally or within groups or strata, exchanged with rows that are near in S,
shifted circularly, or moved in whole groups. An order is a function of the stream key and its
number, for any number of workers and batch size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from pidselect.data import Block, Column, FloatArray, IntArray
from pidselect.estimators.base import groups_of
from pidselect.estimators.scaling import normal_scores

#: Schemes that permute all samples if there is no S.
GIVEN_ONLY = frozenset({"local", "residual"})

#: Neighbours of a sample that it may change places with.
NEIGHBOURS = 5

#: Distance of samples of different levels of a label, or in different groups.
APART = 10.0

#: Levels of a label that are set apart, the most frequent; rarer ones than so many neighbours have
#: are alike, as these samples would be neighbours of none.
MAX_APART = 100

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
        _, strata = np.unique(pairs, return_inverse=True)
        strata = strata.astype(np.int64).reshape(-1)
    sizes = np.bincount(strata)
    is_large = sizes[strata] >= NEIGHBOURS
    return strata if is_large.mean() >= PERMUTABLE else None


@dataclass(frozen=True, eq=False)
class RowOrders:
    """How rows are permuted: in order m, sample i has the value of sample ``rows[m, i]``."""

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
        nearest = nearest_samples(given, n_samples, groups)
        return cls("near", n_samples, groups, nearest)

    def __call__(self, stream_key: tuple[int, ...], numbers: range) -> NDArray[np.int32]:
        """Return the orders of these numbers, (len(numbers), n_samples)."""
        key = np.random.SeedSequence(stream_key).generate_state(2, np.uint64)
        everything = np.arange(self.n_samples)
        parts = [everything] if self.groups is None else groups_of(self.groups)
        if self.scheme == "blocks":  # groups of equal size side by side
            of_size: dict[int, list[IntArray]] = {}
            for part in sorted(parts, key=len):
                of_size.setdefault(len(part), []).append(part)
            parts = [np.array(alike) for alike in of_size.values()]
        unchanged = everything.astype(np.int32)
        rows = np.tile(unchanged, (len(numbers), 1))
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
                n_places = int(rng.integers(len(part)))
                row[part] = np.roll(part, n_places)
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
    row = np.arange(n_samples)
    earliest = np.empty(n_samples, dtype=np.int64)
    for _ in range(ROUNDS):
        first = np.flatnonzero(row == np.arange(n_samples))
        if len(first) < 2:
            break
        first = rng.permutation(first)
        place = rng.integers(n_near, size=len(first))
        second = nearest[first, place]
        is_free = (row[second] == second) & (first != second)
        ends = np.stack([first[is_free], second[is_free]], axis=1)
        # A pair is exchanged if it is the first in random order that has either of the two.
        places = np.arange(ends.size)[::-1]
        earliest[ends.ravel()[::-1]] = places
        is_first = earliest[ends] == places[::-1].reshape(ends.shape)
        pairs = ends[is_first.all(axis=1)]
        row[pairs] = pairs[:, ::-1]
    return row


def nearest_samples(
    given: Block, n_samples: int, groups: IntArray | None = None, n_neighbours: int = NEIGHBOURS
) -> IntArray:
    """Return the nearest samples of each in S, (n_samples, n_neighbours), by normal scores.

    Those of a small group include the sample itself.
    """
    points = _points(given, n_samples, groups)
    n_neighbours = max(1, min(n_neighbours, n_samples - 1))
    # Labels are few points along many axes, which a tree with medians as splits would not separate.
    tree = cKDTree(points, balanced_tree=False)
    _, found = tree.query(points, k=n_neighbours + 1)
    found = np.asarray(found[:, 1:], dtype=np.int64)
    if groups is None:
        return found
    own = np.arange(n_samples)[:, np.newaxis]
    is_inside = groups[found] == groups[:, np.newaxis]
    return np.where(is_inside, found, own)


def near_cells(given: Block, n_samples: int, size: int) -> list[IntArray]:
    """Return the samples of cells that are near in S, about so many each.

    Samples are halved along the axis along which they spread most, again and again.
    """
    points = _points(given, n_samples)
    parts, cells = [(np.arange(n_samples), max(1, n_samples // max(size, 1)))], []
    while parts:
        rows, n_cells = parts.pop()
        if n_cells == 1:
            cells.append(rows)
            continue
        axis = points[rows].std(axis=0).argmax()
        rows = rows[points[rows, axis].argsort(kind="stable")]
        half = n_cells // 2
        cut = len(rows) * half // n_cells
        parts += [(rows[:cut], half), (rows[cut:], n_cells - half)]
    return cells


def _points(given: Block, n_samples: int, groups: IntArray | None = None) -> FloatArray:
    """Return samples as points by normal scores, with less noise than values differ by.

    Equal samples are in an order that depends on their row alone: the first of many would else be
    the neighbours of all.
    """
    columns = [_position(column) for column in given.columns]
    if groups is not None:
        far_apart = 1e3 * APART
        columns.append(far_apart * groups[:, np.newaxis].astype(np.float64))
    points = np.concatenate(columns, axis=1)
    rng = np.random.default_rng(n_samples)
    return np.asarray(points + rng.normal(scale=1e-6, size=points.shape))


def _position(column: Column) -> FloatArray:
    """Return normal scores of a number, and indicators of the levels of a label."""
    if column.feature_type == "nominal":
        codes = column.codes()
        counts = np.bincount(codes)
        frequent = np.argsort(-counts, kind="stable")[:MAX_APART]
        is_apart = counts[frequent] > NEIGHBOURS
        n_apart = max(1, int(is_apart.sum()))
        return APART * (codes[:, np.newaxis] == frequent[:n_apart])
    columns = [np.nan_to_num(column.made(normal_scores))]
    if column.has_missing:
        columns.append(APART * np.isnan(column.values))
    return np.stack(columns, axis=1)
