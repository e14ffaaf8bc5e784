"""Interaction scan of small tables by matrix products: nothing is compiled.

A cell of a table is a set of samples, a row of 0 and 1; times the classes in all permutations, it
has its counts in each of them. These are exact in 32 bits, and n ln n is an integer: values and
tuples are those of `interaction_kernels` to the bit.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

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
    n_samples = rows.shape[1]
    families = list(tables.families)
    shape = len(families), len(rows)
    best = np.full(shape, LOWEST, dtype=np.int64)
    which = np.full((*shape, 3), -1, dtype=np.int64)
    levels = _levels(tables.planes, n_samples)
    tuples = _tuples(tables, columns)
    degrees_of_freedom = np.diff(tables.planes.first)
    family_of = degrees_of_freedom[tuples].prod(axis=1)
    size = min(PERMUTATIONS, max(1, PERMUTED // n_samples))
    n_classes = len(scan.class_sizes)
    n_counts = max(min(SAMPLES, n_samples), n_classes * size)
    n_cells = levels.shape[1] ** tables.order
    step = max(1, SIZE // (n_cells * n_counts))
    for start in range(0, len(rows), size):
        lanes = slice(start, start + size)
        classes = _classes(scan, rows[lanes])
        for place, family in enumerate(families):
            own = tuples[family_of == family]
            for first in range(0, len(own), step):
                some = own[first : first + step]
                cells = _count(levels, some, classes, n_classes)
                values = _interactions(cells, scan.weight)
                _keep_largest(values, some, best[place, lanes], which[place, lanes])
    return best, which


def _levels(planes: Planes, n_samples: int) -> NDArray[np.uint8]:
    """Return the levels of columns as 0 and 1, (n_columns, n_levels, n_samples); some are empty."""
    bits = np.unpackbits(
        planes.bits.view(np.uint8),
        axis=-1,
        count=n_samples,
        bitorder="little",
    )
    n_planes = np.diff(planes.first)
    n_levels = n_planes.max() + 1
    levels = np.zeros((len(n_planes), n_levels, n_samples), dtype=np.uint8)
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
        is_tuple = (i > j) & (j > m)
        is_tuple &= owner[j] >= 0
        is_tuple &= owner[i] != owner[j]
        is_tuple &= owner[i] != owner[m]
        is_tuple &= owner[j] != owner[m]
    tuples = np.argwhere(is_tuple)
    tuples[:, 0] += columns.start
    return tuples


def _classes(scan: InteractionScan, rows: NDArray[np.int32]) -> NDArray[np.float32]:
    """Return ones, then all classes but the first in every permutation, by sample."""
    n_permutations, n_samples = rows.shape
    others = np.arange(1, len(scan.class_sizes))
    is_class = scan.permuted(rows) == others[:, np.newaxis, np.newaxis]
    n_indicators = len(others) * n_permutations
    classes = np.ones((n_samples, 1 + n_indicators), dtype=np.float32)
    classes[:, 1:] = is_class.reshape(n_indicators, n_samples).T
    return classes


def _count(
    levels: NDArray[np.uint8], tuples: IntArray, classes: NDArray[np.float32], n_classes: int
) -> IntArray:
    """Return the samples in the cells of tables, (n_tuples, levels ..., n_classes, n_permutations).

    Samples are taken in parts, which stay in the cache.
    """
    n_tuples, order = tuples.shape
    n_levels = levels.shape[1]
    n_cells = n_tuples * n_levels**order
    counts = np.zeros((n_cells, classes.shape[1]), np.float32)
    for start in range(0, len(classes), SAMPLES):
        part = slice(start, start + SAMPLES)
        sets = levels[tuples[:, 0], :, part]
        for column in tuples.T[1:]:
            own = levels[column, :, part]
            sets = sets[:, :, np.newaxis] * own[:, np.newaxis]
            sets = sets.reshape(n_tuples, -1, own.shape[2])
        indicators = sets.reshape(n_cells, -1).astype(np.float32)
        counts += indicators @ classes[part]
    exact = counts.astype(np.intp)
    of_all = exact[:, :1]
    others = exact[:, 1:].reshape(n_cells, n_classes - 1, -1)
    first = of_all - others.sum(axis=1)
    cells = np.concatenate([first[:, np.newaxis], others], axis=1)
    of_columns = [n_levels] * order
    return cells.reshape(n_tuples, *of_columns, *cells.shape[1:])


def _interactions(cells: IntArray, weight: IntArray) -> IntArray:
    """Return the interaction of tables: that of all columns, less pairs, plus columns, less none.

    Each is n ln n over cells and classes, less n ln n over cells.
    """
    n_tuples, order = len(cells), cells.ndim - 3
    by_class = cells.shape[-2:]
    total = np.zeros((n_tuples, cells.shape[-1]), dtype=np.int64)
    for n_left_out in range(order + 1):
        for axes in combinations(range(1, order + 1), n_left_out):
            table = cells.sum(axis=axes)
            table = table.reshape(n_tuples, -1, *by_class)
            sizes = table[..., 0].sum(axis=2)
            of_cells = weight[sizes].sum(axis=1)
            of_classes = weight.take(table).sum(axis=(1, 2))
            information = of_classes - of_cells[:, np.newaxis]
            if n_left_out % 2:
                total -= information
            else:
                total += information
    return total


def _keep_largest(values: IntArray, tuples: IntArray, best: IntArray, which: IntArray) -> None:
    """Replace what is smaller than the largest of some tuples, the first of equal ones."""
    first = values.argmax(axis=0)
    largest = values.max(axis=0)
    is_larger = largest > best
    best[is_larger] = largest[is_larger]
    order = tuples.shape[1]
    which[is_larger, :order] = tuples[first[is_larger]]
