"""Kernels of the interaction scan: contingency tables of pairs and triples by AND and popcount.

A statistic is a sum of n ln n over the cells of a table, as integers: it does not depend on the
order of the sum, nor on the device.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.data import IntArray
from pidselect.estimators.knn.simd import (
    add_row,
    add_weights,
    copy_row,
    count_common_bits,
    exceeds_row,
    fill_row,
    popcount,
    subtract_row,
)
from pidselect.estimators.knn.spaces import INNER, JIT, LANES
from pidselect.jit import njit
from pidselect.significance.interactions import (
    LOWEST,
    MAX_LEVELS,
    Bits,
    InteractionScan,
    Planes,
    Tables,
)


class TargetPlanes(NamedTuple):
    """LANES permutations of the target: each plane is the set of samples of one class."""

    bits: Bits  # (n_classes - 1, n_words, LANES), without the first class
    size: IntArray  # (n_classes,)
    common: IntArray  # (n_planes, n_classes, LANES): samples of each class in each plane of x
    information: IntArray  # (n_columns, LANES): n ln n over (x, y) less n ln n over x


class PairCounts(NamedTuple):
    """All pairs of binary columns: those of column i begin at i (i - 1) / 2."""

    size: IntArray  # (n_pairs,): samples in the planes of both columns
    common: IntArray  # (n_pairs, n_classes, LANES): of each class
    information: IntArray  # (n_pairs, LANES): n ln n over (pair, y) less n ln n over the pair


def scan_block(
    scan: InteractionScan, tables: Tables, columns: range, rows: NDArray[np.int32]
) -> tuple[IntArray, IntArray]:
    """Return the largest interaction of each family, and the tuple, in every permutation."""
    parts, planes, n_classes = [], tables.planes, len(scan.class_sizes)
    for start in range(0, len(rows), LANES):
        bits = scan.permuted_planes(rows[start : start + LANES], LANES)
        target = TargetPlanes(
            np.ascontiguousarray(bits.transpose(1, 2, 0)),
            scan.class_sizes,
            np.empty((len(planes.size), n_classes, LANES), dtype=np.int64),
            np.empty((len(planes.owner), LANES), dtype=np.int64),
        )
        count_classes(planes, target, scan.weight)
        parts.append(_scan(tables, columns, target, scan.weight))
    best, which = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
    return best[:, : len(rows)], which[:, : len(rows)]


def _scan(
    tables: Tables, columns: range, target: TargetPlanes, weight: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the largest interaction of each family, and the tuple, in every lane."""
    planes, bounds, families = tables.planes, (columns.start, columns.stop), list(tables.families)
    best = np.full(((MAX_LEVELS - 1) ** 2 + 1, LANES), LOWEST, dtype=np.int64)
    which = np.full((*best.shape, 3), -1, dtype=np.int64)
    if tables.order == 2:
        scan_pairs(planes, target, weight, *bounds, best, which)
    elif tables.is_grown:
        strongest = np.full((tables.n_columns, LANES), LOWEST, dtype=np.int64)
        partner = np.full((tables.n_columns, LANES), -1, dtype=np.int64)
        find_partners(planes, target, weight, strongest, partner)
        by_lane = np.ascontiguousarray(target.bits.transpose(2, 0, 1))
        grow_pairs(planes, target, by_lane, weight, partner, best, which)
    else:
        n_pairs, n_classes = comb(columns.stop, 2), len(target.size)
        pairs = PairCounts(
            np.empty(n_pairs, dtype=np.int64),
            np.empty((n_pairs, n_classes, LANES), dtype=np.int64),
            np.empty((n_pairs, LANES), dtype=np.int64),
        )
        count_pairs(planes, target, weight, columns.stop, pairs)
        scan_triples(planes, target, pairs, weight, tables.n_third, *bounds, best, which)
    return best[families], which[families]


@njit(**JIT)
def count_classes(planes: Planes, target: TargetPlanes, weight: IntArray) -> None:
    """Fill ``target.common`` and ``target.information``."""
    n_classes = target.size.size
    n_samples = weight.size - 1
    rest = np.empty((n_classes, LANES), dtype=np.int64)
    for column in range(planes.first.size - 1):
        begin, end = planes.first[column], planes.first[column + 1]
        n_rest, constant = n_samples, 0
        for k in range(n_classes):
            fill_row(rest, k, target.size[k])
        fill_row(target.information, column, 0)
        total = target.information[column : column + 1]
        for plane in range(begin, end):
            common = target.common[plane]
            count_cell(common, 0, planes.size[plane], planes.bits[plane], target)
            for k in range(n_classes):
                subtract_row(rest, k, common, k)
            add_weights(total, weight, common, n_classes)
            n_rest -= planes.size[plane]
            constant += weight[planes.size[plane]]
        add_weights(total, weight, rest, n_classes)
        fill_row(rest, 0, constant + weight[n_rest])
        subtract_row(target.information, column, rest, 0)


@njit(**JIT)
def scan_pairs(
    planes: Planes,
    target: TargetPlanes,
    weight: IntArray,
    begin: int,
    end: int,
    best: IntArray,
    which: IntArray,
) -> None:
    """Update the largest interaction of columns `begin` to `end` with any column before them.

    ``best[f]`` is that of the pairs of n and m levels with (n - 1)(m - 1) = f, and ``which[f]`` are
    their columns, both in every lane.
    """
    n_classes, n_samples = target.size.size, weight.size - 1
    constant = _negative_entropy(target, weight)
    cells = np.empty((MAX_LEVELS**2 * n_classes, LANES), dtype=np.int64)
    total = np.empty((1, LANES), dtype=np.int64)
    size = np.empty(MAX_LEVELS**2, dtype=np.int64)
    mask = np.empty(planes.bits.shape[1], dtype=np.uint64)
    for i in range(begin, end):
        first, n_first = planes.first[i], planes.first[i + 1] - planes.first[i]
        for j in range(i):
            if planes.owner[i] == planes.owner[j]:
                continue
            second, n_second = planes.first[j], planes.first[j + 1] - planes.first[j]
            width, n_cells = n_second + 1, (n_first + 1) * (n_second + 1)
            # The cells of the last level of a column are what the others leave of its marginal.
            last, corner = n_first * width, n_cells - 1
            size[corner] = n_samples
            for k in range(n_classes):
                fill_row(cells, corner * n_classes + k, target.size[k])
            for b in range(n_second):
                size[last + b] = planes.size[second + b]
                size[corner] -= size[last + b]
                for k in range(n_classes):
                    row = (last + b) * n_classes + k
                    copy_row(cells, row, target.common[second + b], k)
                    subtract_row(cells, corner * n_classes + k, cells, row)
            for a in range(n_first):
                rest = a * width + n_second
                size[rest] = planes.size[first + a]
                for k in range(n_classes):
                    copy_row(cells, rest * n_classes + k, target.common[first + a], k)
                for b in range(n_second):
                    cell = a * width + b
                    size[cell] = intersect(planes.bits[first + a], planes.bits[second + b], mask)
                    size[rest] -= size[cell]
                    size[last + b] -= size[cell]
                    count_cell(cells, cell * n_classes, size[cell], mask, target)
                    for k in range(n_classes):
                        row = cell * n_classes + k
                        subtract_row(cells, rest * n_classes + k, cells, row)
                        subtract_row(cells, (last + b) * n_classes + k, cells, row)
                size[corner] -= size[rest]
                for k in range(n_classes):
                    subtract_row(cells, corner * n_classes + k, cells, rest * n_classes + k)
            of_sizes = 0
            for cell in range(n_cells):
                of_sizes += weight[size[cell]]
            fill_row(total, 0, constant - of_sizes)
            subtract_row(total, 0, target.information, i)
            subtract_row(total, 0, target.information, j)
            add_weights(total, weight, cells, n_cells * n_classes)
            family = n_first * n_second
            if exceeds_row(total, 0, best, family):
                _keep_largest(total[0], best[family], which[family], i, j, -1)


@njit(**JIT)
def count_pairs(
    planes: Planes, target: TargetPlanes, weight: IntArray, n_columns: int, pairs: PairCounts
) -> None:
    """Fill the counts of all pairs of the first columns, which are binary."""
    cells = np.empty((4 * target.size.size, LANES), dtype=np.int64)
    mask = np.empty(planes.bits.shape[1], dtype=np.uint64)
    for i in range(n_columns):
        for j in range(i):
            pair = i * (i - 1) // 2 + j
            information = pairs.information[pair : pair + 1]
            pairs.size[pair] = _count_pair(
                planes, target, weight, i, j, pairs.common[pair], cells, mask, information
            )


@njit(**INNER)
def _count_pair(
    planes: Planes,
    target: TargetPlanes,
    weight: IntArray,
    i: int,
    j: int,
    common: IntArray,
    cells: IntArray,
    mask: Bits,
    information: IntArray,
) -> int:
    """Fill the counts of a pair of binary columns and its information; return its size."""
    n_classes = target.size.size
    n_samples = weight.size - 1
    n = intersect(planes.bits[i], planes.bits[j], mask)
    count_cell(common, 0, n, mask, target)
    for k in range(n_classes):
        copy_row(cells, 4 * k, common, k)
        copy_row(cells, 4 * k + 1, target.common[i], k)
        copy_row(cells, 4 * k + 2, target.common[j], k)
        fill_row(cells, 4 * k + 3, target.size[k])
        complete_table(cells, 4 * k)
    of_sizes = table_weight(n, planes.size[i], planes.size[j], n_samples, weight)
    fill_row(information, 0, -of_sizes)
    add_weights(information, weight, cells, 4 * n_classes)
    return n


@njit(**JIT)
def scan_triples(
    planes: Planes,
    target: TargetPlanes,
    pairs: PairCounts,
    weight: IntArray,
    n_third: int,
    begin: int,
    end: int,
    best: IntArray,
    which: IntArray,
) -> None:
    """Update the largest interaction of three binary columns, the last from `begin` to `end`.

    It is ``best[1]``, as all have one degree of freedom for two classes. The third column is one of
    the first `n_third`; it may be given, the others not.
    """
    n_classes, n_samples = target.size.size, weight.size - 1
    constant = _negative_entropy(target, weight)
    cells = np.empty((8 * n_classes, LANES), dtype=np.int64)
    total = np.empty((1, LANES), dtype=np.int64)
    both = np.empty(planes.bits.shape[1], dtype=np.uint64)
    mask = np.empty(planes.bits.shape[1], dtype=np.uint64)
    for i in range(begin, end):
        for j in range(i):
            if planes.owner[i] == planes.owner[j] or planes.owner[j] < 0:
                continue
            i_j = i * (i - 1) // 2 + j
            intersect(planes.bits[i], planes.bits[j], both)
            for m in range(min(j, n_third)):
                if planes.owner[m] == planes.owner[j] or planes.owner[m] == planes.owner[i]:
                    continue
                i_m, j_m = i * (i - 1) // 2 + m, j * (j - 1) // 2 + m
                n = intersect(both, planes.bits[m], mask)
                count_cell(cells, 0, n, mask, target)
                for k in range(n_classes - 1, -1, -1):  # the counts are in the first rows
                    row = 8 * k
                    copy_row(cells, row, cells, k)
                    copy_row(cells, row + 1, pairs.common[i_j], k)
                    copy_row(cells, row + 2, pairs.common[i_m], k)
                    copy_row(cells, row + 3, target.common[i], k)
                    copy_row(cells, row + 4, pairs.common[j_m], k)
                    copy_row(cells, row + 5, target.common[j], k)
                    copy_row(cells, row + 6, target.common[m], k)
                    fill_row(cells, row + 7, target.size[k])
                    for part in range(4):  # outside of the plane of i
                        subtract_row(cells, row + 4 + part, cells, row + part)
                    complete_table(cells, row)
                    complete_table(cells, row + 4)
                n_i = planes.size[i]
                n_j = planes.size[j]
                n_m = planes.size[m]
                n_ij = pairs.size[i_j]
                n_im = pairs.size[i_m]
                n_jm = pairs.size[j_m]
                of_sizes = table_weight(n, n_ij, n_im, n_i, weight) + table_weight(
                    n_jm - n, n_j - n_ij, n_m - n_im, n_samples - n_i, weight
                )
                fill_row(total, 0, -constant - of_sizes)
                for pair in (i_j, i_m, j_m):
                    subtract_row(total, 0, pairs.information, pair)
                for column in (i, j, m):
                    add_row(total, 0, target.information, column)
                add_weights(total, weight, cells, 8 * n_classes)
                if exceeds_row(total, 0, best, 1):
                    _keep_largest(total[0], best[1], which[1], i, j, m)


@njit(**JIT)
def find_partners(
    planes: Planes, target: TargetPlanes, weight: IntArray, best: IntArray, partner: IntArray
) -> None:
    """Fill the largest interaction of every binary column with another, and the other, by lane."""
    n_columns, n_classes = planes.owner.size, target.size.size
    common = np.empty((n_classes, LANES), dtype=np.int64)
    cells = np.empty((4 * n_classes, LANES), dtype=np.int64)
    total = np.empty((1, LANES), dtype=np.int64)
    mask = np.empty(planes.bits.shape[1], dtype=np.uint64)
    for i in range(n_columns):
        for j in range(i):
            if planes.owner[i] == planes.owner[j]:
                continue
            _count_pair(planes, target, weight, i, j, common, cells, mask, total)
            subtract_row(total, 0, target.information, i)
            subtract_row(total, 0, target.information, j)
            for column, other in ((i, j), (j, i)):
                if exceeds_row(total, 0, best, column):
                    for lane in range(LANES):
                        if total[0, lane] > best[column, lane]:
                            best[column, lane] = total[0, lane]
                            partner[column, lane] = other


@njit(**JIT)
def grow_pairs(
    planes: Planes,
    target: TargetPlanes,
    by_lane: Bits,
    weight: IntArray,
    partner: IntArray,
    best: IntArray,
    which: IntArray,
) -> None:
    """Update the largest interaction of each column, its partner and a third column, by lane.

    `by_lane` are the target's planes, (LANES, n_classes - 1, n_words).
    """
    n_columns, n_classes, n_samples = planes.owner.size, target.size.size, weight.size - 1
    both = np.empty(planes.bits.shape[1], dtype=np.uint64)
    every = np.full(both.size, np.uint64(2**64 - 1), dtype=np.uint64)
    sizes, counts = np.empty(8, dtype=np.int64), np.empty(8, dtype=np.int64)
    for lane in range(LANES):
        for i in range(n_columns):
            j = partner[i, lane]
            if j < 0 or (j < i and partner[j, lane] == i):  # none, or the same pair again
                continue
            intersect(planes.bits[i], planes.bits[j], both)
            for m in range(n_columns):
                if planes.owner[m] == planes.owner[i] or planes.owner[m] == planes.owner[j]:
                    continue
                _count_triple(planes.bits, i, j, m, both, every, sizes)
                sizes[3], sizes[5] = planes.size[i], planes.size[j]
                sizes[6], sizes[7] = planes.size[m], n_samples
                total = -_interaction(sizes, weight)
                for k in range(1, n_classes):
                    _count_triple(planes.bits, i, j, m, both, by_lane[lane, k - 1], counts)
                    counts[3], counts[5] = target.common[i, k, lane], target.common[j, k, lane]
                    counts[6], counts[7] = target.common[m, k, lane], target.size[k]
                    for part in range(8):  # what is left is the first class
                        sizes[part] -= counts[part]
                    total += _interaction(counts, weight)
                total += _interaction(sizes, weight)
                if total > best[1, lane]:
                    best[1, lane] = total
                    which[1, lane, 0], which[1, lane, 1], which[1, lane, 2] = i, j, m


@njit(**INNER)
def _count_triple(
    planes: Bits, i: int, j: int, m: int, both: Bits, within: Bits, counts: IntArray
) -> None:
    """Count the samples of some set in the planes of (i, j, m), (i, j), (i, m) and (j, m).

    They are ``counts[0]``, [1], [2] and [4]; `both` is the intersection of i and j.
    """
    for pair in (0, 1, 2, 4):
        counts[pair] = 0
    for word in range(both.size):
        third = within[word] & planes[m, word]
        counts[0] += popcount(both[word] & third)
        counts[1] += popcount(both[word] & within[word])
        counts[2] += popcount(planes[i, word] & third)
        counts[4] += popcount(planes[j, word] & third)


@njit(**INNER)
def _interaction(counts: IntArray, weight: IntArray) -> int:
    """Return n ln n over the cells of a triple less its pairs, plus its columns, less all.

    `counts` are the samples in the planes (i, j, m), (i, j), (i, m), i, (j, m), j, m, and all.
    """
    n_ijm = counts[0]
    n_ij = counts[1]
    n_im = counts[2]
    n_i = counts[3]
    n_jm = counts[4]
    n_j = counts[5]
    n_m = counts[6]
    n = counts[7]
    total = table_weight(n_ijm, n_ij, n_im, n_i, weight)
    total += table_weight(n_jm - n_ijm, n_j - n_ij, n_m - n_im, n - n_i, weight)
    total -= table_weight(n_ij, n_i, n_j, n, weight)
    total -= table_weight(n_im, n_i, n_m, n, weight)
    total -= table_weight(n_jm, n_j, n_m, n, weight)
    for size in (n_i, n_j, n_m):
        total += weight[size] + weight[n - size]
    return total - weight[n]


@njit(**INNER)
def _negative_entropy(target: TargetPlanes, weight: IntArray) -> int:
    """Return the sum of n ln n over the classes less N ln N."""
    total = -weight[weight.size - 1]
    for k in range(target.size.size):
        total += weight[target.size[k]]
    return total


@njit(**INNER)
def intersect(one: Bits, other: Bits, mask: Bits) -> int:
    """Fill `mask` with the samples of both planes; return their number."""
    n = 0
    for word in range(mask.size):
        mask[word] = one[word] & other[word]
        n += popcount(mask[word])
    return n


@njit(**INNER)
def count_cell(cells: IntArray, row: int, size: int, mask: Bits, target: TargetPlanes) -> None:
    """Count the samples of a cell by class, from some row on."""
    fill_row(cells, row, size)
    for k in range(1, target.size.size):
        count_common_bits(cells, row + k, mask, target.bits[k - 1])
        subtract_row(cells, row, cells, row + k)


@njit(**INNER)
def complete_table(cells: IntArray, row: int) -> None:
    """Turn counts in both planes, in each of them and in all into those of the four cells."""
    subtract_row(cells, row + 3, cells, row + 1)
    subtract_row(cells, row + 1, cells, row)
    subtract_row(cells, row + 2, cells, row)
    subtract_row(cells, row + 3, cells, row + 2)


@njit(**INNER)
def table_weight(both: int, one: int, other: int, size: int, weight: IntArray) -> int:
    """Return the sum of n ln n over the four cells of two planes."""
    return (
        weight[both] + weight[one - both] + weight[other - both] + weight[size - one - other + both]
    )


@njit(**INNER)
def _keep_largest(total: IntArray, best: IntArray, which: IntArray, i: int, j: int, m: int) -> None:
    """Replace the largest value, and the tuple, in the lanes where it is exceeded."""
    for lane in range(LANES):
        if total[lane] > best[lane]:
            best[lane] = total[lane]
            which[lane, 0], which[lane, 1], which[lane, 2] = i, j, m
