"""The kernel of the plug-in estimator: count equal samples within strata."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pidselect.estimators.knn.spaces import FloatArray


class Partition(NamedTuple):
    """Samples grouped by joint level: group g is ``members[start[g]:start[g + 1]]``."""

    members: NDArray[np.int64]
    start: NDArray[np.int64]


class Cells(NamedTuple):
    """Samples by joint level of (y, S), and the level of S that each of these has."""

    joint: NDArray[np.int32]  # (n_samples,)
    given_of_joint: NDArray[np.int32]  # (n_joint,)
    n_given: int


@njit(cache=True, nogil=True)
def score_in_table(
    codes: NDArray[np.uint8],
    rows: NDArray[np.int32],
    cells: Cells,
    weight: FloatArray,
    values: FloatArray,
) -> None:
    """Sum as `score_codes` does, to the last bit, by a table of all cells, which must be small.

    Parameters
    ----------
    codes : array of any unsigned type, shape (n_samples,)
        The smaller the type, the more of it stays in the processor's cache.
    rows : array, shape (m, n_samples)
    cells : Cells
    weight : array, shape (n_samples + 1,)
    values : array, shape (m,), filled in place
    """
    n_levels, n_joint = np.int64(codes.max()) + 1, cells.given_of_joint.size
    # Two samples in a row may fall into the same cell, and would wait for each other.
    even, odd = np.empty((2, n_joint * n_levels), dtype=np.int32)
    given = np.empty(cells.n_given * n_levels, dtype=np.int32)
    tally = np.zeros(weight.size, dtype=np.int64)
    met = np.empty(even.size + given.size, dtype=np.int64)
    whole = codes.size - codes.size % 2
    for m in range(rows.shape[0]):
        even[:], odd[:], given[:] = 0, 0, 0
        row = rows[m]
        for i in range(0, whole, 2):
            even[cells.joint[i] * n_levels + codes[row[i]]] += 1
            odd[cells.joint[i + 1] * n_levels + codes[row[i + 1]]] += 1
        for i in range(whole, codes.size):
            even[cells.joint[i] * n_levels + codes[row[i]]] += 1
        n_met = 0
        for j in range(n_joint):
            base = cells.given_of_joint[j] * n_levels
            for level in range(n_levels):
                n = even[j * n_levels + level] + odd[j * n_levels + level]
                given[base + level] += n
                n_met = _note(n, 1, tally, met, n_met)
        for cell in range(given.size):
            n_met = _note(given[cell], -1, tally, met, n_met)
        # In ascending order, so that no order of visits shows.
        values[m] = 0.0
        for n in np.sort(met[:n_met]):
            values[m] += tally[n] * weight[n]
            tally[n] = 0


@njit(cache=True, nogil=True)
def _note(n, change, tally, met, n_met):
    """Tally a cell of n samples; return how many sizes were met so far."""
    if n == 0:
        return n_met
    if tally[n] == 0:
        met[n_met] = n
        n_met += 1
    tally[n] += change
    return n_met


@njit(cache=True, nogil=True)
def score_codes(
    codes: NDArray[np.int64],
    rows: NDArray[np.int32],
    joint: Partition,
    given: Partition,
    weight: FloatArray,
    values: FloatArray,
) -> None:
    """Sum ``weight[n]`` over the cells of (x, y, S) less those of (x, S), n samples in each.

    The cells of one group are counted at a time, so no table of all joint states is needed, and
    cells are tallied by size before they are weighted, so no order of visits shows.
    """
    x = np.empty(codes.size, dtype=np.int64)
    cell = np.zeros(codes.max() + 1, dtype=np.int64)
    tally = np.empty(weight.size, dtype=np.int64)
    for m in range(rows.shape[0]):
        for i in range(codes.size):
            x[i] = codes[rows[m, i]]
        tally[:] = 0
        _tally_cells(x, joint, 1, cell, tally)
        _tally_cells(x, given, -1, cell, tally)
        values[m] = 0.0
        for n in range(weight.size):
            values[m] += tally[n] * weight[n]


@njit(cache=True, nogil=True)
def _tally_cells(x, partition, change, cell, tally):
    for group in range(partition.start.size - 1):
        first, last = partition.start[group], partition.start[group + 1]
        for position in range(first, last):
            cell[x[partition.members[position]]] += 1
        for position in range(first, last):
            level = x[partition.members[position]]
            if cell[level] > 0:
                tally[cell[level]] += change
                cell[level] = 0
