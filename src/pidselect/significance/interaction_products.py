"""Interaction scan of small tables by matrix products: nothing is compiled.

A cell of a table is a set of samples, a row of 0 and 1; times the classes in all permutations, it
has its counts in each of them. These are exact in 32 bits, and n ln n is an integer: values and
tuples are those of `interaction_kernels` to the bit.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from pidselect.data import IntArray
from pidselect.significance.interactions import LOWEST, InteractionScan, Planes, Tables

#: Permutations at a time at most, and times the samples: these are up to 100 MB.
PERMUTATIONS, PERMUTED = 64, 2**22

#: Samples at a time, and about the numbers of an array: products are of what is in the cache.
SAMPLES, SIZE = 2**12, 2**20


def scan_block(
    scan: InteractionScan, tables: Tables, columns: range, rows: NDArray[np.int32]
) -> tuple[IntArray, IntArray]:
    """Return the largest interaction of each family, and the tuple, in every permutation."""
    families, n_samples = list(tables.families), rows.shape[1]
    best = np.full((len(families), len(rows)), LOWEST, dtype=np.int64)
    which = np.full((*best.shape, 3), -1, dtype=np.int64)
    levels, tuples = _levels(tables.planes, n_samples), _tuples(tables, columns)
    family_of = np.diff(tables.planes.first)[tuples].prod(axis=1)
    size = min(PERMUTATIONS, max(1, PERMUTED // n_samples))
    n_counts = max(min(SAMPLES, n_samples), len(scan.class_sizes) * size)
    step = max(1, SIZE // (levels.shape[1] ** tables.order * n_counts))
    with threadpool_limits(1, user_api="blas"):  # products are small: more threads would wait
        for start in range(0, len(rows), size):
            lanes = slice(start, start + size)
            classes = _classes(scan, rows[lanes])
            for place, family in enumerate(families):
                own = tuples[family_of == family]
                for first in range(0, len(own), step):
                    some = own[first : first + step]
                    cells = _count(levels, some, classes, len(scan.class_sizes))
                    values = _interactions(cells, scan.weight)
                    _keep_largest(values, some, best[place, lanes], which[place, lanes])
    return best, which


def _levels(planes: Planes, n_samples: int) -> NDArray[np.uint8]:
    """Return the levels of columns as 0 and 1, (n_columns, n_levels, n_samples); some are empty."""
    bytes_ = planes.bits.view(np.uint8)
    bits = np.unpackbits(bytes_, axis=-1, count=n_samples, bitorder="little")
    n_planes = np.diff(planes.first)
    levels = np.zeros((len(n_planes), n_planes.max() + 1, n_samples), dtype=np.uint8)
    for own, first, n in zip(levels, planes.first, n_planes, strict=False):
        own[1 : n + 1] = bits[first : first + n]
        own[0] = 1 - own[1:].sum(axis=0)
    return levels


def _tuples(tables: Tables, columns: range) -> IntArray:
    """Return the tuples whose last column is one of some, that column first, in ascending order."""
    owner = tables.planes.owner
    if tables.order == 2:
        i, j = np.ogrid[columns.start : columns.stop, : columns.stop]
        is_tuple = (i > j) & (owner[i] != owner[j])
    else:  # the third column may be given, the others not
        i, j, m = np.ogrid[columns.start : columns.stop, : columns.stop, : tables.n_third]
        is_tuple = (i > j) & (j > m) & (owner[j] >= 0)
        for one, other in ((i, j), (i, m), (j, m)):
            is_tuple &= owner[one] != owner[other]
    tuples = np.argwhere(is_tuple)
    tuples[:, 0] += columns.start
    return tuples


def _classes(scan: InteractionScan, rows: NDArray[np.int32]) -> NDArray[np.float32]:
    """Return ones, then all classes but the first in every permutation, by sample."""
    n_classes = len(scan.class_sizes)
    is_class = scan.permuted(rows) == np.arange(1, n_classes)[:, np.newaxis, np.newaxis]
    classes = np.ones((rows.shape[1], 1 + (n_classes - 1) * len(rows)), dtype=np.float32)
    classes[:, 1:] = is_class.reshape(-1, rows.shape[1]).T
    return classes


def _count(
    levels: NDArray[np.uint8], tuples: IntArray, classes: NDArray[np.float32], n_classes: int
) -> IntArray:
    """Return the samples in the cells of tables, (n_tuples, levels ..., n_classes, n_permutations).

    Samples are taken in parts, which stay in the cache.
    """
    n_tuples, order = tuples.shape
    counts = np.zeros((n_tuples * levels.shape[1] ** order, classes.shape[1]), np.float32)
    for start in range(0, len(classes), SAMPLES):
        part = slice(start, start + SAMPLES)
        sets = levels[tuples[:, 0], :, part]
        for column in tuples.T[1:]:
            own = levels[column, :, part]
            sets = sets[:, :, np.newaxis] * own[:, np.newaxis]
            sets = sets.reshape(n_tuples, -1, own.shape[2])
        counts += sets.reshape(len(counts), -1).astype(np.float32) @ classes[part]
    others = counts[:, 1:].astype(np.intp).reshape(len(counts), n_classes - 1, -1)
    first = counts[:, :1].astype(np.intp) - others.sum(axis=1)
    cells = np.concatenate([first[:, np.newaxis], others], axis=1)
    return cells.reshape(n_tuples, *[levels.shape[1]] * order, *cells.shape[1:])


def _interactions(cells: IntArray, weight: IntArray) -> IntArray:
    """Return the interaction of tables: that of all columns, less pairs, plus columns, less none.

    Each is n ln n over cells and classes, less n ln n over cells.
    """
    order = cells.ndim - 3
    total = np.zeros((len(cells), cells.shape[-1]), dtype=np.int64)
    for n_left_out in range(order + 1):
        for axes in combinations(range(1, order + 1), n_left_out):
            table = cells.sum(axis=axes).reshape(len(cells), -1, *cells.shape[-2:])
            of_cells = weight[table[..., 0].sum(axis=2)].sum(axis=1)
            of_classes = weight.take(table).sum(axis=(1, 2))
            total += (-1) ** n_left_out * (of_classes - of_cells[:, np.newaxis])
    return total


def _keep_largest(values: IntArray, tuples: IntArray, best: IntArray, which: IntArray) -> None:
    """Replace what is smaller than the largest of some tuples, the first of equal ones."""
    first = values.argmax(axis=0)
    largest = values.max(axis=0)
    is_larger = largest > best
    best[is_larger] = largest[is_larger]
    which[is_larger, : tuples.shape[1]] = tuples[first[is_larger]]
