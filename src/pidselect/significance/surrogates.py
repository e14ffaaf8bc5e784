"""Surrogate schemes: permutations of a candidate that remove its dependence on the target.

A scheme is bound to the conditioning set S and the groups of rows, and then samples permutations:
in permutation m, sample i has the value of sample ``rows[m, i]``.

==========  ===================================================================================
"global"    permutes all samples, or those of a group: exact if the candidate is independent of
            (y, S)
"local"     local permutation among samples near in S (Runge 2018): keeps the dependence on S
"residual"  the same, of what a regression on S leaves of the candidate, with what it leaves of the
            target: for candidates that S nearly determines
"shift"     circular shift of all rows: keeps the candidate's autocorrelation
"blocks"    permutes whole groups: keeps rows of a group together
==========  ===================================================================================

References
----------
Runge (2018), Conditional independence testing based on a nearest-neighbor estimator of
conditional mutual information, AISTATS.
"""

from __future__ import annotations

import math
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
from pidselect.estimators.base import Partition, check_permutations, groups_of, partition
from pidselect.significance.rng import key_arrays, permutations, row_keys
from pidselect.significance.surrogate_kernels import (
    NearestSamples,
    fill_local_permutations,
    fill_nearest,
    fill_shifts,
    fill_within_groups,
)

#: Stream key and numbers of permutations -> rows, int32 of shape (len(numbers), n_samples), which
#: may be in the memory of a GPU.
PermutationSampler = Callable[[tuple[int, ...], range], Any]

#: Conditioning set, number of samples and group of every row -> sampler.
SurrogateScheme = Callable[[Block, int, IntArray | None], PermutationSampler]

#: Neighbours that a sample may be exchanged with in local permutations.
NEIGHBOURS = 5

#: Share of the samples that must be in joint levels large enough to permute within.
PERMUTABLE = 0.9

#: Nominal columns up to which nearest samples are found by trees, one for each subset.
MAX_TREE_LABELS = 5

#: Samples whose nearest ones are compared at a time.
SAMPLES_PER_CHUNK = 2**16

#: Seed of the numbers that break ties of equally near samples.
TIES = 0x7469_6573


def permute_globally(given: Block, n_samples: int, groups: IntArray | None) -> PermutationSampler:
    """Permute all samples, or those of every group; S is ignored.

    Examples
    --------
    >>> permute_globally(Block(), 6, np.array([0, 0, 0, 1, 1, 1]))((0,), range(1, 4))
    array([[2, 1, 0, 3, 5, 4],
           [1, 0, 2, 5, 4, 3],
           [2, 1, 0, 5, 3, 4]], dtype=int32)
    """
    if groups is None:
        return partial(permutations, n_samples=n_samples)
    return partial(_sample, "within", partition(groups))


def permute_locally(
    given: Block, n_samples: int, groups: IntArray | None, n_neighbours: int = NEIGHBOURS
) -> PermutationSampler:
    """Permute samples among those near in S, which keeps the dependence of a candidate on S.

    If all of S is discrete, and its joint levels are large enough, samples are permuted within
    these levels, which is exact. Otherwise integers are numbers, and pairs of near samples are
    exchanged: in random order, each with a random one of its nearest in S that has no partner yet.
    So each value is used once, unlike in Runge's scheme, where about one in ten occurs twice.

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
        return permute_globally(given, n_samples, groups)
    if (strata := find_strata(given, groups, n_neighbours)) is not None:
        return partial(_sample, "within", partition(strata))
    nearest = nearest_samples(given, n_samples, groups, n_neighbours + 1)
    if groups is None:
        return partial(_sample, "local", nearest)
    # In small groups all rows are neighbours; in those of two, partners would always be the same.
    is_small = np.bincount(groups)[groups] <= n_neighbours + 1
    if not is_small.any():
        return partial(_sample, "local", nearest)
    return partial(_sample_local_or_within, nearest, partition(groups), is_small)


def find_strata(
    given: Block, groups: IntArray | None, n_neighbours: int = NEIGHBOURS
) -> IntArray | None:
    """Return the joint level of S, and group, of every sample, within which permutation is exact.

    None if S has a column that is not discrete, or if more than a tenth of the samples are in
    levels of fewer than `n_neighbours` samples: integers of many levels leave nothing to permute.
    """
    if not len(given) or not all(column.is_discrete for column in given.columns):
        return None
    levels = given.codes()
    strata = levels if groups is None else _joint_codes(levels, groups)
    is_large = np.bincount(strata)[strata] >= n_neighbours
    return strata if is_large.mean() >= PERMUTABLE else None


def shift(given: Block, n_samples: int, groups: IntArray | None) -> PermutationSampler:
    """Shift all rows circularly by one random number, or those of every group by its own.

    For rows ordered in time. All shifts are equally likely, zero included, so that p-values are
    exact for a stationary circular series.

    Examples
    --------
    >>> shift(Block(), 6, None)((1,), range(1, 4))
    array([[2, 3, 4, 5, 0, 1],
           [5, 0, 1, 2, 3, 4],
           [4, 5, 0, 1, 2, 3]], dtype=int32)
    """
    one_group = np.zeros(n_samples, dtype=np.int64)
    return partial(_sample, "shift", partition(one_group if groups is None else groups))


def permute_blocks(given: Block, n_samples: int, groups: IntArray | None) -> PermutationSampler:
    """Permute whole groups of equal size, which keeps the order of rows within each.

    For rows of a group that are not independent samples. A group of unique size is not permuted.

    Examples
    --------
    >>> permute_blocks(Block(), 6, np.array([0, 0, 1, 1, 2, 2]))((0,), range(1, 4))
    array([[4, 5, 2, 3, 0, 1],
           [2, 3, 0, 1, 4, 5],
           [4, 5, 2, 3, 0, 1]], dtype=int32)
    """
    if groups is None:
        raise ValueError(
            'surrogates="blocks" permutes whole groups of rows, but groups=None: pass the group '
            "of every row as groups, or choose other surrogates."
        )
    by_group = partition(groups)
    sizes = np.diff(by_group.start)
    if len(np.unique(sizes)) == len(sizes):
        listed = ", ".join(map(str, sizes[:10])) + (", ..." if len(sizes) > 10 else "")
        raise ValueError(
            'surrogates="blocks" permutes groups of the same number of rows, but all '
            f'{len(sizes)} groups differ in size: {listed} rows. surrogates="global" with groups '
            "permutes rows within each instead; or make groups equally long."
        )
    return partial(_sample_blocks, by_group, partition(sizes))


#: Every named scheme.
SURROGATES: dict[str, SurrogateScheme] = {
    "global": permute_globally,
    "local": permute_locally,
    "residual": permute_locally,
    "shift": shift,
    "blocks": permute_blocks,
}

#: Schemes of exchangeable rows, of which a random part can be used.
WITHIN_PARTS = frozenset({"global", "local", "residual"})

#: Schemes that permute all samples if there is no S.
GIVEN_ONLY = frozenset({"local", "residual"})

#: Schemes that are known to return permutations; what is registered later is checked.
OWN_SCHEMES = frozenset(SURROGATES.values())


def bind_scheme(
    scheme: str, given: Block, n_samples: int, groups: IntArray | None
) -> PermutationSampler:
    """Return the sampler of a named scheme; its permutation 0 is the observed data."""
    bind = SURROGATES[scheme]
    sampler = bind(given, n_samples, groups)
    if bind not in OWN_SCHEMES:
        sampler = partial(_checked, sampler, n_samples)
    return partial(_observed_first, sampler, n_samples)


def _checked(
    sampler: PermutationSampler, n_samples: int, stream_key: tuple[int, ...], numbers: range
) -> NDArray[np.int32]:
    """Refuse rows that are no permutations, which kernels would read beyond their arrays for."""
    return check_permutations(sampler(stream_key, numbers), n_samples)


def _observed_first(
    sampler: PermutationSampler, n_samples: int, stream_key: tuple[int, ...], numbers: range
) -> NDArray[np.int32]:
    if numbers.start > 0:
        return np.asarray(sampler(stream_key, numbers))
    observed = np.arange(n_samples, dtype=np.int32)[np.newaxis]
    return np.concatenate([observed, sampler(stream_key, range(1, numbers.stop))])


def count_block_orders(groups: IntArray) -> int:
    """Return the number of permutations of whole groups, of at most 20 of a size.

    >>> count_block_orders(np.array([0, 0, 1, 1, 2, 2, 3]))
    6
    """
    groups_of_size = np.bincount(np.bincount(groups))
    return math.prod(math.factorial(min(int(count), 20)) for count in groups_of_size[1:])


def check_groups(groups: Any, n_samples: int) -> IntArray | None:
    """Return the groups of the rows, numbers, texts or times, as 0, 1, ... in order of appearance.

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
            f"groups must have one value for every row, but has {len(block)} columns: pass one "
            "of them, or join them into one label."
        )
    if block.n_samples != n_samples:
        raise ValueError(
            f"groups has {block.n_samples} values, but there are {n_samples} rows: pass one value "
            "for every row."
        )
    # By first row, so that permutations do not depend on the names of groups.
    codes = block.columns[0].codes()
    _, first = np.unique(codes, return_index=True)
    return np.asarray(np.argsort(np.argsort(first))[codes], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Coordinates:
    """Samples in S, in units in which every squared distance is an integer."""

    numbers: FloatArray  # (n_samples, numeric columns + 1): twice the ranks; NaN if missing
    labels: IntArray  # (n_samples, nominal columns)
    patterns: IntArray  # (n_samples,): joint level of labels and of missing numbers
    label_distance: float  # squared distance of two labels

    @classmethod
    def of(cls, given: Block, n_samples: int) -> _Coordinates:
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
        # Twice an average rank is an integer, and so is a squared distance; less than half of that
        # in the extra coordinate cannot reverse their order.
        zeros = np.zeros(n_samples, dtype=np.int64)
        return cls(
            numbers=np.stack([*numbers, row_keys(TIES, n_samples) / 2], axis=1),
            labels=np.stack(labels, axis=1) if labels else np.empty((n_samples, 0), dtype=np.int64),
            patterns=reduce(_joint_codes, [*labels, *patterns], zeros),
            label_distance=4.0 * n_samples**2,
        )

    def take(self, rows: IntArray) -> _Coordinates:
        return _Coordinates(
            self.numbers[rows], self.labels[rows], self.patterns[rows], self.label_distance
        )


#: A tree for each set of labels that may differ, with its points.
_Trees = dict[tuple[int, ...], tuple[cKDTree, FloatArray]]


def nearest_samples(
    given: Block, n_samples: int, groups: IntArray | None = None, n_neighbours: int = NEIGHBOURS
) -> NearestSamples:
    r"""Find the samples nearest in S to every sample, itself included, within its group.

    The distance is Euclidean over columns: the difference of average ranks over `n_samples` for
    numbers (invariant under strictly monotone maps), 0 or 1 for labels, and 1 between a missing and
    a present number.

    A random coordinate, smaller than any difference of distances, breaks ties: it distributes
    neighbours evenly among tied samples, and lets trees split them. Of `members`, int32 of shape
    (n_samples, n_neighbours), the first `size` are valid: a group may have fewer samples.

    Examples
    --------
    >>> from pidselect.data import Column
    >>> given = Block((Column("s", "continuous", np.array([0.0, 9.0, 0.1, 9.1, 0.2, 9.2])),))
    >>> nearest_samples(given, 6, n_neighbours=2).members[[0, 5]]
    array([[0, 2],
           [5, 3]], dtype=int32)
    """
    coordinates = _Coordinates.of(given, n_samples)
    members = np.zeros((n_samples, min(n_neighbours, n_samples)), dtype=np.int32)
    size = np.zeros(n_samples, dtype=np.int32)
    for rows in groups_of(np.zeros(n_samples, dtype=np.int64) if groups is None else groups):
        size[rows] = k = min(n_neighbours, len(rows))
        members[rows, :k] = rows[_nearest(coordinates.take(rows), k)]
    return NearestSamples(members, size)


def _nearest(coordinates: _Coordinates, k: int) -> IntArray:
    """Return the k nearest samples of each, by trees where possible.

    Samples of another pattern are at a distance of at least 1, so that the tree of a sample's own
    pattern suffices if it holds enough samples within that distance. Otherwise trees allow for
    more and more differing labels; with many labels or missing numbers all pairs are compared.
    """
    n_samples = len(coordinates.numbers)
    nearest = np.full((n_samples, k), -1, dtype=np.int64)
    for rows in groups_of(coordinates.patterns):
        if len(rows) < k:
            continue
        points = np.nan_to_num(coordinates.numbers[rows])
        distance, index = cKDTree(points).query(points, k=range(1, k + 1))
        complete = (distance[:, -1] ** 2 < coordinates.label_distance) | (len(rows) == n_samples)
        nearest[rows[complete]] = rows[index[complete]]
    rest = np.flatnonzero(nearest[:, 0] < 0)
    numbers, labels = coordinates.numbers, coordinates.labels
    if np.isnan(numbers).any() or labels.shape[1] > MAX_TREE_LABELS:
        fill_nearest(rest, numbers, labels, coordinates.label_distance, nearest)
        return nearest
    trees: _Trees = {}
    for start in range(0, len(rest), SAMPLES_PER_CHUNK):
        some = rest[start : start + SAMPLES_PER_CHUNK]
        nearest[some] = _nearest_by_labels(some, coordinates, trees, k)
    return nearest


def _nearest_by_labels(
    samples: IntArray, coordinates: _Coordinates, trees: _Trees, k: int
) -> IntArray:
    """Return the k nearest of some samples by trees that allow certain labels to differ.

    A sample that differs in certain labels is among the nearest only if it is among the nearest by
    numbers of those that differ in no others. Once the farthest is nearer than one more differing
    label would be, larger sets of labels are not searched.
    """
    n_labels = coordinates.labels.shape[1]
    found = np.empty((len(samples), 0), dtype=np.int64)
    nearest = np.empty((len(samples), k), dtype=np.int64)
    left = np.arange(len(samples))
    for n_differing in range(n_labels + 1):
        for differing in combinations(range(n_labels), n_differing):
            tree, points = _tree(coordinates, differing, trees)
            _, more = tree.query(points[samples[left]], k=range(1, k + 1))
            found = np.concatenate([found, more], axis=1)
        best, distance = _best(samples[left], found, coordinates, k)
        complete = distance < coordinates.label_distance * (n_differing + 1)
        complete |= n_differing == n_labels
        nearest[left[complete]] = best[complete]
        left, found = left[~complete], found[~complete]
        if not len(left):
            break
    return nearest


def _tree(
    coordinates: _Coordinates, differing: tuple[int, ...], trees: _Trees
) -> tuple[cKDTree, FloatArray]:
    """Return a tree in which samples are far apart unless all labels but these are equal."""
    if differing not in trees:
        n_samples, n_numbers = coordinates.numbers.shape
        equal = [codes for i, codes in enumerate(coordinates.labels.T) if i not in differing]
        pattern = reduce(_joint_codes, equal, np.zeros(n_samples, dtype=np.int64))
        apart = n_numbers * (1.0 + np.sqrt(coordinates.label_distance))  # more than by numbers
        points = np.column_stack([apart * pattern, coordinates.numbers])
        trees[differing] = cKDTree(points), points
    return trees[differing]


def _best(
    samples: IntArray, found: IntArray, coordinates: _Coordinates, k: int
) -> tuple[IntArray, FloatArray]:
    """Return the k nearest among those found for each sample, and the distance of the last."""
    found = np.sort(found, axis=1)
    is_repeated = np.zeros(found.shape, dtype=bool)
    is_repeated[:, 1:] = found[:, 1:] == found[:, :-1]
    numbers = np.zeros(found.shape)
    for column in coordinates.numbers.T:
        numbers += (column[samples, np.newaxis] - column[found]) ** 2
    distance = np.where(is_repeated, np.inf, numbers)
    for labels in coordinates.labels.T:
        distance += coordinates.label_distance * (labels[samples, np.newaxis] != labels[found])
    # The coordinate that breaks ties may be lost beside the distance of labels.
    order = np.lexsort((numbers, distance), axis=1)[:, :k]
    last = np.take_along_axis(distance, order[:, -1:], axis=1)[:, 0]
    return np.take_along_axis(found, order, axis=1), last


def _joint_codes(first: IntArray, second: IntArray) -> IntArray:
    pairs = first * (second.max() + 1) + second
    return np.unique(pairs, return_inverse=True)[1].astype(np.int64).reshape(-1)


# Samplers are partial functions of these, which, unlike closures, can be pickled.

_KERNELS = {"within": fill_within_groups, "local": fill_local_permutations, "shift": fill_shifts}


def _sample(
    kernel: str, samples: Partition | NearestSamples, stream_key: tuple[int, ...], numbers: range
) -> NDArray[np.int32]:
    """Permute samples within groups, among nearest samples, or by shifts within groups."""
    rows = np.empty((len(numbers), len(samples[0])), dtype=np.int32)
    _KERNELS[kernel](*key_arrays(stream_key, numbers), samples, rows)
    return rows


def _sample_local_or_within(
    nearest: NearestSamples,
    groups: Partition,
    is_within: NDArray[np.bool_],
    stream_key: tuple[int, ...],
    numbers: range,
) -> NDArray[np.int32]:
    rows = _sample("local", nearest, stream_key, numbers)
    rows[:, is_within] = _sample("within", groups, stream_key, numbers)[:, is_within]
    return rows


def _sample_blocks(
    groups: Partition, by_size: Partition, stream_key: tuple[int, ...], numbers: range
) -> NDArray[np.int32]:
    start, size = groups.start[:-1], np.diff(groups.start)
    blocks = _sample("within", by_size, stream_key, numbers)
    offset = np.arange(len(groups.samples)) - np.repeat(start, size)
    rows = np.empty((len(numbers), len(groups.samples)), dtype=np.int32)
    rows[:, groups.samples] = groups.samples[np.repeat(start[blocks], size, axis=1) + offset]
    return rows
