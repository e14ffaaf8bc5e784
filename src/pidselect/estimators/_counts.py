"""The kernel of the plug-in estimator: count equal samples within strata."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pidselect.estimators._orders import FloatArray


class Partition(NamedTuple):
    """Samples grouped by joint level: group g is ``members[start[g]:start[g + 1]]``."""

    members: NDArray[np.int64]
    start: NDArray[np.int64]


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
