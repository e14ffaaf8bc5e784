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
from pidselect.estimators.knn.spaces import INLINE, INNER, JIT, LANES
from pidselect.jit import njit
from pidselect.significance.interactions import (
    LOWEST,
    MAX_LEVELS,
    Bits,
    InteractionScan,
    Planes,
    Tables,
)

#: Words of 64 samples counted at a time: of less work compilers would make no vectors.
WORDS = 4

Triple = tuple[int, int, int]


class TargetPlanes(NamedTuple):
    """LANES permutations of the target: each plane is the set of samples of one class."""

    bits: Bits  # (n_classes - 1, n_words * LANES), without the first class
    size: IntArray  # (n_classes,)
    common: IntArray  # (n_planes, n_classes * LANES): samples of each class in each plane of x
    information: IntArray  # (n_columns, LANES): n ln n over (x, y) less n ln n over x


class PairCounts(NamedTuple):
    """All pairs of binary columns: those of column i begin at i (i - 1) / 2."""

    size: IntArray  # (n_pairs,): samples in the planes of both columns
    common: IntArray  # (n_pairs, n_classes * LANES): of each class
    information: IntArray  # (n_pairs, LANES): n ln n over (pair, y) less n ln n over the pair


def scan_block(
    scan: InteractionScan, tables: Tables, columns: range, rows: NDArray[np.int32]
) -> tuple[IntArray, IntArray]:
    """Return the largest interaction of each family, and the tuple, in every permutation."""
    parts, planes, n_classes = [], tables.planes, len(scan.class_sizes)
    padding = -planes.bits.shape[1] % WORDS
    planes = planes._replace(bits=np.pad(planes.bits, ((0, 0), (0, padding))))
    for start in range(0, len(rows), LANES):
        bits = scan.permuted_planes(rows[start : start + LANES], LANES)
        bits = np.pad(bits, ((0, 0), (0, 0), (0, padding)))
        target = TargetPlanes(
            bits.transpose(1, 2, 0).reshape(n_classes - 1, -1),
            scan.class_sizes,
            np.empty((len(planes.size), n_classes * LANES), dtype=np.int64),
            np.empty((len(planes.owner), LANES), dtype=np.int64),
        )
        count_classes(planes, target, scan.weight)
        parts.append(_scan(tables, planes, columns, target, scan.weight))
    best, which = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
    return best[:, : len(rows)], which[:, : len(rows)]


def _scan(
    tables: Tables, planes: Planes, columns: range, target: TargetPlanes, weight: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the largest interaction of each family, and the tuple, in every lane."""
    bounds, families = (columns.start, columns.stop), list(tables.families)
    best = np.full(((MAX_LEVELS - 1) ** 2 + 1, LANES), LOWEST, dtype=np.int64)
    which = np.full((*best.shape, 3), -1, dtype=np.int64)
    if tables.order == 2:
        scan_pairs(planes, target, weight, *bounds, best, which)
    else:
        n_pairs, n_classes = comb(columns.stop, 2), len(target.size)
        pairs = PairCounts(
            np.empty(n_pairs, dtype=np.int64),
            np.empty((n_pairs, n_classes * LANES), dtype=np.int64),
            np.empty((n_pairs, LANES), dtype=np.int64),
        )
        count_pairs(planes, target, weight, columns.stop, pairs)
        scan_triples(planes, target, pairs, weight, tables.n_third, *bounds, best, which)
    return best[families], which[families]


@njit(**JIT)
def count_classes(planes: Planes, target: TargetPlanes, weight: IntArray) -> None:
    """Fill ``target.common`` and ``target.information``."""
    for column in range(planes.first.size - 1):
        begin, end = planes.first[column], planes.first[column + 1]
        n_rest, of_sizes = weight.size - 1, 0
        for plane in range(begin, end):
            bits, size = planes.bits[plane], planes.size[plane]
            count_cell(target.common[plane], size, bits, bits, target.bits)
            n_rest -= size
            of_sizes += weight[size]
        of_sizes += weight[n_rest]
        for lane in range(LANES):
            total = -of_sizes
            for k in range(target.size.size):
                rest = target.size[k]
                for plane in range(begin, end):
                    n = target.common[plane, k * LANES + lane]
                    total += weight[n]
                    rest -= n
                total += weight[rest]
            target.information[column, lane] = total


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
    constant, n_classes = _negative_entropy(target, weight), target.size.size
    cells = np.empty((MAX_LEVELS**2, n_classes * LANES), dtype=np.int64)
    rows = cells.reshape(-1, LANES)
    size = np.empty(MAX_LEVELS**2, dtype=np.int64)
    for i in range(begin, end):
        first = planes.first[i]
        n_first = planes.first[i + 1] - first
        for j in range(i):
            if planes.owner[i] == planes.owner[j]:
                continue
            second = planes.first[j]
            n_second = planes.first[j + 1] - second
            _count_cells(planes, target, (first, n_first), (second, n_second), cells, size)
            family, n_cells, of_sizes = n_first * n_second, (n_first + 1) * (n_second + 1), 0
            for cell in range(n_cells):
                of_sizes += weight[size[cell]]
            for lane in range(LANES):
                total = constant - of_sizes
                total -= target.information[i, lane] + target.information[j, lane]
                for row in range(n_cells * n_classes):
                    total += weight[np.uint64(rows[row, lane])]
                if total > best[family, lane]:
                    best[family, lane] = total
                    which[family, lane, 0], which[family, lane, 1] = i, j


@njit(**INNER)
def _count_cells(
    planes: Planes,
    target: TargetPlanes,
    of_first: tuple[int, int],
    of_second: tuple[int, int],
    cells: IntArray,
    size: IntArray,
) -> None:
    """Fill the counts of the cells of two columns, given by their first plane and number of planes.

    The cells of the last level of a column are what the others leave of its marginal.
    """
    first, n_first = of_first
    second, n_second = of_second
    last = n_first * (n_second + 1)
    corner = last + n_second
    size[corner] = 0
    for k in range(target.size.size):
        size[corner] += target.size[k]
        for lane in range(LANES):
            cells[corner, k * LANES + lane] = target.size[k]
    for b in range(n_second):
        size[last + b] = planes.size[second + b]
        size[corner] -= size[last + b]
        set_row(cells[last + b], target.common[second + b])
        subtract(cells[corner], target.common[second + b])
    for a in range(n_first):
        rest = a * (n_second + 1) + n_second
        size[rest] = planes.size[first + a]
        set_row(cells[rest], target.common[first + a])
        for b in range(n_second):
            cell = a * (n_second + 1) + b
            one, other = planes.bits[first + a], planes.bits[second + b]
            n = count_common(one, other)
            size[cell] = n
            size[rest] -= n
            size[last + b] -= n
            count_cell(cells[cell], n, one, other, target.bits)
            subtract(cells[rest], cells[cell])
            subtract(cells[last + b], cells[cell])
        size[corner] -= size[rest]
        subtract(cells[corner], cells[rest])


@njit(**JIT)
def count_pairs(
    planes: Planes, target: TargetPlanes, weight: IntArray, n_columns: int, pairs: PairCounts
) -> None:
    """Fill the counts of all pairs of the first columns, which are binary."""
    n_samples = weight.size - 1
    for i in range(n_columns):
        for j in range(i):
            pair = i * (i - 1) // 2 + j
            one, other = planes.bits[i], planes.bits[j]
            common = pairs.common[pair]
            of_i, of_j = target.common[i], target.common[j]
            n = count_common(one, other)
            count_cell(common, n, one, other, target.bits)
            pairs.size[pair] = n
            of_sizes = table_weight(n, planes.size[i], planes.size[j], n_samples, weight)
            for lane in range(LANES):
                total = -of_sizes
                for k in range(target.size.size):
                    at, size = k * LANES + lane, target.size[k]
                    total += table_weight(common[at], of_i[at], of_j[at], size, weight)
                pairs.information[pair, lane] = total


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
    constant = _negative_entropy(target, weight)
    counts = np.empty(target.size.size * LANES, dtype=np.int64)
    both = np.empty(planes.bits.shape[1], dtype=np.uint64)
    for i in range(begin, end):
        for j in range(i):
            if planes.owner[i] == planes.owner[j] or planes.owner[j] < 0:
                continue
            for word in range(both.size):
                both[word] = planes.bits[i, word] & planes.bits[j, word]
            i_j = i * (i - 1) // 2 + j
            for m in range(min(j, n_third)):
                if planes.owner[m] == planes.owner[j] or planes.owner[m] == planes.owner[i]:
                    continue
                third = planes.bits[m]
                n = count_common(both, third)
                count_cell(counts, n, both, third, target.bits)
                of_pairs = (i_j, i * (i - 1) // 2 + m, j * (j - 1) // 2 + m)
                sizes = (pairs.size[i_j], pairs.size[of_pairs[1]], pairs.size[of_pairs[2]])
                of_columns = (planes.size[i], planes.size[j], planes.size[m])
                rest = -constant - triple_weight(n, sizes, of_columns, weight.size - 1, weight)
                _keep_largest(target, pairs, weight, counts, rest, (i, j, m), of_pairs, best, which)


@njit(**INLINE)
def _keep_largest(
    target: TargetPlanes,
    pairs: PairCounts,
    weight: IntArray,
    counts: IntArray,
    constant: int,
    columns: Triple,
    of_pairs: Triple,
    best: IntArray,
    which: IntArray,
) -> None:
    """Replace the largest value, and the triple, in the lanes where it is exceeded."""
    i, j, m = columns
    of_i = target.common[i]
    of_j = target.common[j]
    of_m = target.common[m]
    i_j, i_m, j_m = of_pairs
    of_ij = pairs.common[i_j]
    of_im = pairs.common[i_m]
    of_jm = pairs.common[j_m]
    for lane in range(LANES):
        total = constant
        total -= pairs.information[i_j, lane] + pairs.information[i_m, lane]
        total += target.information[i, lane] + target.information[j, lane]
        total += target.information[m, lane] - pairs.information[j_m, lane]
        for k in range(target.size.size):
            at = k * LANES + lane
            of_columns = (of_i[at], of_j[at], of_m[at])
            total += triple_weight(
                counts[at], (of_ij[at], of_im[at], of_jm[at]), of_columns, target.size[k], weight
            )
        if total > best[1, lane]:
            best[1, lane] = total
            which[1, lane, 0], which[1, lane, 1], which[1, lane, 2] = i, j, m


@njit(**INNER)
def _negative_entropy(target: TargetPlanes, weight: IntArray) -> int:
    """Return the sum of n ln n over the classes less N ln N."""
    total = -weight[weight.size - 1]
    for k in range(target.size.size):
        total += weight[target.size[k]]
    return total


@njit(**INLINE)
def count_cell(counts: IntArray, size: int, one: Bits, other: Bits, bits: Bits) -> None:
    """Count the samples of both planes by class, in every lane."""
    for lane in range(LANES):
        counts[lane] = size
    for k in range(bits.shape[0]):
        row = counts[(k + 1) * LANES : (k + 2) * LANES]
        for lane in range(LANES):
            row[lane] = 0
        for word in range(0, one.size, WORDS):
            a = one[word] & other[word]
            b = one[word + 1] & other[word + 1]
            c = one[word + 2] & other[word + 2]
            d = one[word + 3] & other[word + 3]
            words = bits[k, word * LANES : (word + WORDS) * LANES]
            for lane in range(LANES):
                n = popcount(a & words[lane]) + popcount(b & words[LANES + lane])
                n += popcount(c & words[2 * LANES + lane]) + popcount(d & words[3 * LANES + lane])
                row[lane] += n
        for lane in range(LANES):
            counts[lane] -= row[lane]


@njit(**INNER)
def count_common(one: Bits, other: Bits) -> int:
    """Return the number of samples in both planes."""
    n = 0
    for word in range(one.size):
        n += popcount(one[word] & other[word])
    return n


@njit(**INNER)
def popcount(word: np.uint64) -> int:
    """Return the number of set bits; compilers replace this sequence by one instruction."""
    by_two = np.uint64(0x3333333333333333)
    ones = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    ones = (ones & by_two) + ((ones >> np.uint64(2)) & by_two)
    ones = (ones + (ones >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((ones * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(**INNER)
def set_row(row: IntArray, other: IntArray) -> None:
    """Copy a row."""
    for place in range(row.size):
        row[place] = other[place]


@njit(**INNER)
def subtract(row: IntArray, other: IntArray) -> None:
    """Subtract a row from another."""
    for place in range(row.size):
        row[place] -= other[place]


@njit(**INNER)
def table_weight(both: int, one: int, other: int, size: int, weight: IntArray) -> int:
    """Return the sum of n ln n over the four cells of two planes."""
    neither = np.uint64(size - one - other + both)  # unsigned: no check for negative indices
    total = weight[np.uint64(both)] + weight[np.uint64(one - both)]
    return int(total + weight[np.uint64(other - both)] + weight[neither])


@njit(**INNER)
def triple_weight(
    all_three: int, of_pairs: Triple, of_columns: Triple, size: int, weight: IntArray
) -> int:
    """Return the sum of n ln n over the eight cells of the planes i, j and m.

    The pairs are (i, j), (i, m) and (j, m).
    """
    n_ij, n_im, n_jm = of_pairs
    n_i, n_j, n_m = of_columns
    return table_weight(all_three, n_ij, n_im, n_i, weight) + table_weight(
        n_jm - all_three, n_j - n_ij, n_m - n_im, size - n_i, weight
    )
