"""Surrogate schemes: what may be exchanged when a candidate is to lose what it knew of the target.

A scheme is bound once to what stays the same in a step, the features S that are given and the
groups of the rows. It then gives rows for any draws: in version m, sample i has the value that
sample ``rows[m, i]`` had.

==========  ===================================================================================
"global"    all samples, or those of a group: exact where the candidate is independent of (y, S)
"local"     samples alike in S (Runge 2018): the candidate keeps what it knows of S
"shift"     all rows move round by one number: the candidate keeps its own order in time
"blocks"    whole groups change places: rows within a group stay together
==========  ===================================================================================

References
----------
Runge (2018), Conditional independence testing based on a nearest-neighbor estimator of
conditional mutual information, AISTATS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.stats import rankdata

from pidselect.data import Block, FloatArray, IntArray, read_block
from pidselect.significance.rng import as_keys, permutations
from pidselect.significance.surrogate_kernels import (
    GroupPartition,
    Neighbourhoods,
    fill_fractions,
    fill_local,
    fill_nearest,
    fill_shifts,
    fill_within,
)

#: Words and numbers of draws -> rows, shape (len(draws), n_samples).
Shuffle = Callable[[tuple[int, ...], range], NDArray[np.int32]]

#: What is given, the number of samples and the group of every row -> how to draw.
Scheme = Callable[[Block, int, IntArray | None], Shuffle]

#: Others that a sample may change places with in local surrogates.
NEIGHBOURS = 5

#: Labels up to which nearest samples are found by trees, of which there may be one for each set.
MOST_LABELS = 5

#: Samples whose nearest ones are compared at once.
SAMPLES_AT_ONCE = 2**16

#: The key of the fixed numbers by which equally near samples are told apart.
TIES = np.array([0x7469_6573], dtype=np.uint64)


def permute(given: Block, n_samples: int, groups: IntArray | None) -> Shuffle:
    """Permute all samples, or those of every group among themselves; S does not matter.

    Examples
    --------
    >>> permute(Block(), 6, np.array([0, 0, 0, 1, 1, 1]))((0,), range(1, 4))
    array([[2, 1, 0, 3, 5, 4],
           [1, 0, 2, 5, 4, 3],
           [2, 1, 0, 5, 3, 4]], dtype=int32)
    """
    if groups is None:
        return partial(_draw_from_all, n_samples)
    return partial(_draw_within, _partition(groups))


def permute_locally(
    given: Block, n_samples: int, groups: IntArray | None, n_neighbours: int = NEIGHBOURS
) -> Shuffle:
    """Permute samples among those alike in S, so that a candidate keeps what it knows of S.

    Where all of S is discrete, with `n_neighbours` samples or more on average to every joint
    level, samples are permuted within these levels, which is exact. Otherwise pairs of near samples
    change places: in random order, each takes a random one of its nearest in S that has no partner
    yet. So every value is used once and none goes further than to a neighbour, unlike in Runge's
    scheme, where about one in ten comes twice and one in five stays where it is.

    Examples
    --------
    >>> from pidselect.data import Column
    >>> given = Block((Column("s", "continuous", np.array([0, 0.1, 0.3, 0.7, 2, 5, 9, 90])),))
    >>> permute_locally(given, 8, None, n_neighbours=2)((0,), range(1, 4))
    array([[2, 1, 0, 3, 5, 4, 7, 6],
           [1, 0, 3, 2, 5, 4, 7, 6],
           [2, 1, 0, 4, 3, 6, 5, 7]], dtype=int32)
    """
    if not len(given):
        return permute(given, n_samples, groups)
    if all(column.is_discrete for column in given.columns):
        levels = given.codes()
        strata = levels if groups is None else _joint(levels, groups)
        if n_neighbours * (strata.max() + 1) <= n_samples:
            return partial(_draw_within, _partition(strata))
    nearby = nearest_samples(given, n_samples, groups, n_neighbours + 1)
    if groups is None:
        return partial(_draw_nearby, nearby)
    # In a group of so few rows all are neighbours; and of two, partners would be always the same.
    small = np.bincount(groups)[groups] <= n_neighbours + 1
    return partial(_draw_nearby_or_within, nearby, _partition(groups), small)


def shift(given: Block, n_samples: int, groups: IntArray | None) -> Shuffle:
    """Move all rows round by one random number, or those of every group by its own.

    For rows in the order of time. All shifts are equally likely, that by nothing included, so
    that they form a group and p-values are exact for a series that is stationary and circular.

    Examples
    --------
    >>> shift(Block(), 6, None)((1,), range(1, 4))
    array([[2, 3, 4, 5, 0, 1],
           [5, 0, 1, 2, 3, 4],
           [4, 5, 0, 1, 2, 3]], dtype=int32)
    """
    everything = np.zeros(n_samples, dtype=np.int64)
    return partial(_draw_shifts, _partition(everything if groups is None else groups))


def exchange_blocks(given: Block, n_samples: int, groups: IntArray | None) -> Shuffle:
    """Let whole groups of equal size change places, rows in their order within each.

    For candidates and targets that go along with the group: rows of one group are no independent
    samples. A group that is alone in its size stays where it is.

    Examples
    --------
    >>> exchange_blocks(Block(), 6, np.array([0, 0, 1, 1, 2, 2]))((0,), range(1, 4))
    array([[4, 5, 2, 3, 0, 1],
           [2, 3, 0, 1, 4, 5],
           [4, 5, 2, 3, 0, 1]], dtype=int32)
    """
    if groups is None:
        raise ValueError(
            'surrogates="blocks" exchanges whole groups of rows, but groups=None: pass the group '
            "of every row as groups, or choose other surrogates."
        )
    partition = _partition(groups)
    sizes = np.diff(partition.start)
    if len(np.unique(sizes)) == len(sizes):
        listed = ", ".join(map(str, sizes[:10])) + (", ..." if len(sizes) > 10 else "")
        raise ValueError(
            'surrogates="blocks" exchanges groups of the same number of rows, but no two groups '
            f'have it: there are {len(sizes)}, of {listed} rows. surrogates="global" with groups '
            "permutes rows within each instead; or make groups equally long."
        )
    return partial(_draw_blocks, partition, _partition(sizes))


#: Every scheme that has a name.
SURROGATES: dict[str, Scheme] = {
    "global": permute,
    "local": permute_locally,
    "shift": shift,
    "blocks": exchange_blocks,
}


def check_groups(groups: Any, n_samples: int) -> IntArray | None:
    """Read the groups of the rows as 0, 1, ... in the order of their first rows.

    Parameters
    ----------
    groups : list, array or series, or None
        One value for every row: numbers, texts or times, none of them missing.
    n_samples : int

    Examples
    --------
    >>> check_groups(["Ada", "Ada", "Max", "Eva", "Max"], 5)
    array([0, 0, 1, 2, 1])
    """
    if groups is None:
        return None
    block = read_block(groups, "groups")
    if len(block) != 1:
        raise ValueError(
            f"groups must have one value for every row, but has {len(block)} columns: give one "
            "of them, or join them into one label."
        )
    if block.n_samples != n_samples:
        raise ValueError(
            f"groups has {block.n_samples} values, but there are {n_samples} rows: give one value "
            "for every row."
        )
    # By first row, so that what groups are called makes no difference to any draw.
    codes = block.columns[0].codes()
    _, first = np.unique(codes, return_index=True)
    return np.asarray(np.argsort(np.argsort(first))[codes], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Places:
    """Where samples are in S, in units in which every squared distance is exact."""

    numbers: FloatArray  # (n_samples, columns with numbers + 1): twice their ranks; NaN if missing
    labels: IntArray  # (n_samples, columns with labels)
    patterns: IntArray  # (n_samples,): the joint level of labels and of which numbers are missing
    far: float  # the squared distance of two labels

    def take(self, rows: IntArray) -> _Places:
        return _Places(self.numbers[rows], self.labels[rows], self.patterns[rows], self.far)


def nearest_samples(
    given: Block, n_samples: int, groups: IntArray | None = None, n_neighbours: int = NEIGHBOURS
) -> Neighbourhoods:
    r"""Find, for every sample, those of its group that are nearest in S, itself included.

    The distance is Euclidean over columns: of numbers the difference of their average ranks over
    `n_samples` (so that strictly monotone maps change nothing), of labels 0 or 1, and from a
    missing number 0 to another missing one and 1 to the rest.

    Samples equally near are told apart by a random coordinate, much smaller than any difference
    of distances. A rule by row number would let all samples of one place take from the same few;
    a coordinate spreads them evenly, keeps each sample its own nearest, and keeps trees from
    places where nothing can be split.

    Returns
    -------
    Neighbourhoods
        `members`, int32 of shape (n_samples, n_neighbours), of which the first `size` are
        meant: a group may have fewer samples than that.

    Examples
    --------
    >>> from pidselect.data import Column
    >>> given = Block((Column("s", "continuous", np.array([0.0, 9.0, 0.1, 9.1, 0.2, 9.2])),))
    >>> nearest_samples(given, 6, n_neighbours=2).members[[0, 5]]
    array([[0, 2],
           [5, 3]], dtype=int32)
    """
    places = _places(given, n_samples)
    members = np.zeros((n_samples, min(n_neighbours, n_samples)), dtype=np.int32)
    size = np.zeros(n_samples, dtype=np.int32)
    by_group = _partition(np.zeros(n_samples, dtype=np.int64) if groups is None else groups)
    for rows in np.split(by_group.members, by_group.start[1:-1]):
        size[rows] = k = min(n_neighbours, len(rows))
        members[rows, :k] = rows[_nearest(places.take(rows), k)]
    return Neighbourhoods(members, size)


def _places(given: Block, n_samples: int) -> _Places:
    ties = np.empty(n_samples)
    fill_fractions(TIES, ties)
    # Twice an average rank is a whole number, and so is a squared distance; less than half of
    # that in the extra coordinate cannot reverse two of them.
    numbers, labels, patterns = [], [], []
    for column in given.columns:
        if column.feature_type == "nominal":
            labels.append(column.codes())
            continue
        present = ~np.isnan(column.values)
        ranks = np.full(n_samples, np.nan)
        ranks[present] = 2 * rankdata(column.values[present])
        numbers.append(ranks)
        if not present.all():
            patterns.append(present.astype(np.int64))
    nothing = np.zeros(n_samples, dtype=np.int64)
    return _Places(
        numbers=np.stack([*numbers, ties / 2], axis=1),
        labels=np.stack(labels, axis=1) if labels else np.empty((n_samples, 0), dtype=np.int64),
        patterns=reduce(_joint, [*labels, *patterns], nothing),
        far=4.0 * n_samples**2,
    )


def _nearest(places: _Places, k: int) -> IntArray:
    """Return the k nearest samples of each: by a tree if it has them nearer than all others.

    Samples of another pattern are at least 1 away. So the tree of a sample's own pattern decides,
    unless it has too few within that distance; then those that differ in one label follow, and so
    on, or with many labels or missing numbers all samples.
    """
    n_samples = len(places.numbers)
    nearest = np.full((n_samples, k), -1, dtype=np.int64)
    by_pattern = _partition(places.patterns)
    for rows in np.split(by_pattern.members, by_pattern.start[1:-1]):
        if len(rows) < k:
            continue
        points = np.nan_to_num(places.numbers[rows])
        distance, index = cKDTree(points).query(points, k=range(1, k + 1))
        sure = (distance[:, -1] ** 2 < places.far) | (len(rows) == n_samples)
        nearest[rows[sure]] = rows[index[sure]]
    rest = np.flatnonzero(nearest[:, 0] < 0)
    if not len(rest):
        return nearest
    if np.isnan(places.numbers).any() or places.labels.shape[1] > MOST_LABELS:
        fill_nearest(rest, places.numbers, places.labels, places.far, nearest)
        return nearest
    trees: dict[tuple[int, ...], tuple[cKDTree, FloatArray]] = {}
    for some in np.split(rest, range(SAMPLES_AT_ONCE, len(rest), SAMPLES_AT_ONCE)):
        nearest[some] = _nearest_by_labels(some, places, trees, k)
    return nearest


def _nearest_by_labels(
    samples: IntArray,
    places: _Places,
    trees: dict[tuple[int, ...], tuple[cKDTree, FloatArray]],
    k: int,
) -> IntArray:
    """Return the k nearest of some samples, with the trees that others may use again.

    One that differs in certain labels is among the nearest only if it is among the nearest by
    numbers of all that differ in none but these. So a tree for each set of labels finds everyone,
    and as long as the farthest is nearer than one label more would be, larger sets need no look.
    """
    n_labels = places.labels.shape[1]
    found = np.empty((len(samples), 0), dtype=np.int64)
    nearest = np.empty((len(samples), k), dtype=np.int64)
    left = np.arange(len(samples))
    for n_differing in range(n_labels + 1):
        for differing in combinations(range(n_labels), n_differing):
            tree, points = _tree(places, differing, trees)
            _, more = tree.query(points[samples[left]], k=range(1, k + 1))
            found = np.concatenate([found, more], axis=1)
        best, distance = _best(samples[left], found, places, k)
        sure = (distance < places.far * (n_differing + 1)) | (n_differing == n_labels)
        nearest[left[sure]] = best[sure]
        left, found = left[~sure], found[~sure]
        if not len(left):
            break
    return nearest


def _tree(
    places: _Places,
    differing: tuple[int, ...],
    trees: dict[tuple[int, ...], tuple[cKDTree, FloatArray]],
) -> tuple[cKDTree, FloatArray]:
    """Return a tree in which samples are far apart unless all labels but these are the same."""
    if differing not in trees:
        n_samples, n_numbers = places.numbers.shape
        same = [places.labels[:, i] for i in range(places.labels.shape[1]) if i not in differing]
        pattern = reduce(_joint, same, np.zeros(n_samples, dtype=np.int64))
        apart = n_numbers * (1.0 + np.sqrt(places.far))  # more than numbers can be
        points = np.column_stack([apart * pattern, places.numbers])
        trees[differing] = cKDTree(points), points
    return trees[differing]


def _best(
    samples: IntArray, found: IntArray, places: _Places, k: int
) -> tuple[IntArray, FloatArray]:
    """Return the k nearest among those found for each sample, and the distance of the last."""
    found = np.sort(found, axis=1)
    doubled = np.zeros(found.shape, dtype=bool)
    doubled[:, 1:] = found[:, 1:] == found[:, :-1]
    numbers = np.zeros(found.shape)
    for column in places.numbers.T:
        numbers += (column[samples, np.newaxis] - column[found]) ** 2
    distance = np.where(doubled, np.inf, numbers)
    for labels in places.labels.T:
        distance += places.far * (labels[samples, np.newaxis] != labels[found])
    # Beside the distance of labels, that of the coordinate that decides ties may be lost.
    order = np.lexsort((numbers, distance), axis=1)[:, :k]
    last = np.take_along_axis(distance, order[:, -1:], axis=1)[:, 0]
    return np.take_along_axis(found, order, axis=1), last


def _partition(codes: IntArray) -> GroupPartition:
    # A code that no sample has leaves two equal starts, of which one goes.
    start = np.unique(np.concatenate([[0], np.cumsum(np.bincount(codes))])).astype(np.int64)
    return GroupPartition(np.argsort(codes, kind="stable").astype(np.int64), start)


def _joint(first: IntArray, second: IntArray) -> IntArray:
    pairs = first * (second.max() + 1) + second
    return np.unique(pairs, return_inverse=True)[1].astype(np.int64).reshape(-1)


# What a scheme returns is one of these with its first arguments filled in, which, unlike a
# function made inside another, can be sent to another process.


def _draw_from_all(n_samples: int, stream_key: tuple[int, ...], draws: range) -> NDArray[np.int32]:
    return permutations(stream_key, draws, n_samples)


def _draw_within(
    partition: GroupPartition, stream_key: tuple[int, ...], draws: range
) -> NDArray[np.int32]:
    rows = np.empty((len(draws), len(partition.members)), dtype=np.int32)
    fill_within(*as_keys(stream_key, draws), partition, rows)
    return rows


def _draw_nearby(
    neighbourhoods: Neighbourhoods, stream_key: tuple[int, ...], draws: range
) -> NDArray[np.int32]:
    rows = np.empty((len(draws), len(neighbourhoods.members)), dtype=np.int32)
    fill_local(*as_keys(stream_key, draws), neighbourhoods, rows)
    return rows


def _draw_nearby_or_within(
    neighbourhoods: Neighbourhoods,
    partition: GroupPartition,
    within: NDArray[np.bool_],
    stream_key: tuple[int, ...],
    draws: range,
) -> NDArray[np.int32]:
    rows = _draw_nearby(neighbourhoods, stream_key, draws)
    rows[:, within] = _draw_within(partition, stream_key, draws)[:, within]
    return rows


def _draw_shifts(
    partition: GroupPartition, stream_key: tuple[int, ...], draws: range
) -> NDArray[np.int32]:
    rows = np.empty((len(draws), len(partition.members)), dtype=np.int32)
    fill_shifts(*as_keys(stream_key, draws), partition, rows)
    return rows


def _draw_blocks(
    partition: GroupPartition, by_size: GroupPartition, stream_key: tuple[int, ...], draws: range
) -> NDArray[np.int32]:
    start, size = partition.start[:-1], np.diff(partition.start)
    blocks = _draw_within(by_size, stream_key, draws)
    offset = np.arange(len(partition.members)) - np.repeat(start, size)
    rows = np.empty((len(draws), len(partition.members)), dtype=np.int32)
    rows[:, partition.members] = partition.members[np.repeat(start[blocks], size, axis=1) + offset]
    return rows
