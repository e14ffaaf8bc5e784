"""Kernels of the plug-in estimator: counts of the cells of (x, y, S) and (x, S).

Cells are tallied by their number of samples before they are weighted, in ascending order, so that
the sum does not depend on the order of the samples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.data import FloatArray
from pidselect.estimators.base import Partition
from pidselect.jit import njit


class Cells(NamedTuple):
    """The joint level of (y, S) of every sample, and the level of S of each joint level."""

    joint: NDArray[np.int32]  # (n_samples,)
    given_of_joint: NDArray[np.int32]  # (n_joint,)
    n_given: int


@njit(cache=True, nogil=True)
def score_by_table(
    codes: NDArray[np.uint8],  # any unsigned type; smaller types make better use of the cache
    rows: NDArray[np.int32],
    cells: Cells,
    weight: FloatArray,
    values: FloatArray,
) -> None:
    """Fill `values` as `score_by_group` does, to the bit, by a contingency table of all cells."""
    n_levels, n_joint = np.int64(codes.max()) + 1, cells.given_of_joint.size
    # Two tables: consecutive increments of one cell would wait for each other.
    even, odd = np.empty((2, n_joint * n_levels), dtype=np.int32)
    given = np.empty(cells.n_given * n_levels, dtype=np.int32)
    tally = np.zeros(weight.size, dtype=np.int64)
    sizes = np.empty(even.size + given.size, dtype=np.int64)
    end = codes.size - codes.size % 2
    for m in range(rows.shape[0]):
        even[:], odd[:], given[:] = 0, 0, 0
        row = rows[m]
        for i in range(0, end, 2):
            even[cells.joint[i] * n_levels + codes[row[i]]] += 1
            odd[cells.joint[i + 1] * n_levels + codes[row[i + 1]]] += 1
        for i in range(end, codes.size):
            even[cells.joint[i] * n_levels + codes[row[i]]] += 1
        n_sizes = 0
        for j in range(n_joint):
            base = cells.given_of_joint[j] * n_levels
            for level in range(n_levels):
                n = even[j * n_levels + level] + odd[j * n_levels + level]
                given[base + level] += n
                n_sizes = _tally_cell(n, 1, tally, sizes, n_sizes)
        for cell in range(given.size):
            n_sizes = _tally_cell(given[cell], -1, tally, sizes, n_sizes)
        values[m] = 0.0
        for n in np.sort(sizes[:n_sizes]):
            values[m] += tally[n] * weight[n]
            tally[n] = 0


@njit(cache=True, nogil=True)
def _tally_cell(n, change, tally, sizes, n_sizes):
    """Tally a cell of n samples and list its size; return the number of listed sizes."""
    if n == 0:
        return n_sizes
    if tally[n] == 0:
        sizes[n_sizes] = n
        n_sizes += 1
    tally[n] += change
    return n_sizes


@njit(cache=True, nogil=True)
def score_by_group(
    codes: NDArray[np.int64],
    rows: NDArray[np.int32],
    joint: Partition,
    given: Partition,
    weight: FloatArray,
    values: FloatArray,
) -> None:
    """Fill ``values[m]`` with the sum of ``weight[n]`` over the cells of (x, y, S) less (x, S).

    The levels of x are counted in one group at a time: no table of all joint levels is needed.
    """
    x = np.empty(codes.size, dtype=np.int64)
    cell = np.zeros(codes.max() + 1, dtype=np.int64)
    tally = np.empty(weight.size, dtype=np.int64)
    for m in range(rows.shape[0]):
        for i in range(codes.size):
            x[i] = codes[rows[m, i]]
        tally[:] = 0
        _tally_groups(x, joint, 1, cell, tally)
        _tally_groups(x, given, -1, cell, tally)
        values[m] = 0.0
        for n in range(weight.size):
            values[m] += tally[n] * weight[n]


@njit(cache=True, nogil=True)
def _tally_groups(x, partition, change, cell, tally):
    for group in range(partition.start.size - 1):
        members = partition.samples[partition.start[group] : partition.start[group + 1]]
        for i in members:
            cell[x[i]] += 1
        for i in members:
            if cell[x[i]] > 0:
                tally[cell[x[i]]] += change
                cell[x[i]] = 0
