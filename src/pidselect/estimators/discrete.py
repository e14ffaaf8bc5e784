"""Plug-in estimator of the mutual information of discrete variables.

Cells are tallied by their number of samples before they are weighted, in ascending order, so that
the sum does not depend on the order of the samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from sklearn.base import BaseEstimator

from pidselect.data import Block, FloatArray, IntArray, check_choice
from pidselect.data.column import narrowed
from pidselect.estimators.base import (
    Batch,
    Partition,
    Scorer,
    check_same_length,
    partition,
)
from pidselect.jit import njit

#: Cells of (x, y, S) up to which a contingency table is used for any number of samples; else up to
#: one cell per sample.
SMALL_TABLE = 2**10

Correction = Literal["miller-madow"] | None


class Discrete(BaseEstimator):
    r"""Plug-in (maximum likelihood) estimator from relative frequencies.

    .. math:: I(x;y|S) = \frac1N \left( \sum_{xyS} n \ln n + \sum_S n \ln n
              - \sum_{xS} n \ln n - \sum_{yS} n \ln n \right),

    with sums over the occupied cells of n samples each. It is never negative and biased upwards,
    the more the more cells there are for N samples. The Miller-Madow correction adds
    (occupied cells - 1) / 2N to each of the four entropies and removes most of the bias; the value
    may then be negative.

    Parameters
    ----------
    correction : {None, "miller-madow"}

    References
    ----------
    G. A. Miller, Note on the bias of information estimates (1955).

    Examples
    --------
    >>> from pidselect import mutual_information
    >>> a, b = [0, 0, 1, 1] * 25, [0, 1, 0, 1] * 25
    >>> xor = [0, 1, 1, 0] * 25
    >>> mutual_information(a, xor, estimator="discrete")
    0.0
    >>> round(mutual_information(a, xor, given=b, estimator="discrete"), 9)
    1.0
    """

    uses_ranks_only: ClassVar[bool] = True
    needs_levels: ClassVar[bool] = True

    def __init__(self, correction: Correction = None) -> None:
        self.correction = correction

    def bind(self, target: Block, given: Block) -> Scorer:
        """Group the samples by (y, S) and by S."""
        check_choice(self.correction, (None, "miller-madow"), "correction")
        check_discrete(target + given)
        n = target.n_samples
        counts = np.arange(n + 1, dtype=np.float64)
        weight = xlogy(counts, counts)
        if self.correction == "miller-madow":
            weight[1:] -= 0.5
        joint = (target + given).codes().astype(np.int32)
        given_codes = np.zeros(n, dtype=np.int32)
        if len(given):
            given_codes = given.codes().astype(np.int32)
        given_of_joint = np.zeros(joint.max() + 1, dtype=np.int32)
        given_of_joint[joint] = given_codes
        constant = sum_of_weights(given_codes, weight) - sum_of_weights(joint, weight)
        cells = Cells(joint, given_of_joint, int(given_codes.max()) + 1)
        return DiscreteScorer(cells, weight, constant)


def check_discrete(block: Block) -> None:
    """Refuse continuous columns."""
    for column in block.columns:
        if column.feature_type == "continuous":
            raise ValueError(
                f"The discrete estimator counts equal values, but column {column.name!r} is "
                f"continuous ({column.levels()} different values in {len(column.values)} samples). "
                'Use estimator="auto" or "mixed", or bin the column first.'
            )


def sum_of_weights(codes: NDArray[np.int32], weight: FloatArray) -> float:
    """Sum ``weight[n]`` over groups of n samples."""
    sizes = np.bincount(codes)
    n_of_size = np.bincount(sizes, minlength=len(weight))
    return float(n_of_size @ weight)


class Cells(NamedTuple):
    """The joint level of (y, S) of every sample, and the level of S of each joint level."""

    joint: NDArray[np.int32]  # (n_samples,)
    given_of_joint: NDArray[np.int32]  # (n_joint,)
    n_given: int


@dataclass(frozen=True, eq=False)
class DiscreteScorer:
    """Scores candidates by the counts of their levels within the cells of (y, S) and of S."""

    cells: Cells
    weight: FloatArray
    constant: float

    @cached_property
    def partitions(self) -> tuple[Partition, Partition]:
        """The samples grouped by (y, S) and by S, for candidates with too large a table."""
        joint, given_of_joint, _ = self.cells
        return partition(joint), partition(given_of_joint[joint])

    def score(self, batch: Batch) -> FloatArray:
        """Return I(x; y | S) in nats for every permutation of the candidate, shape (m,)."""
        n_samples = len(self.cells.joint)
        check_same_length(batch.block, n_samples)
        check_discrete(batch.block)
        sums = np.empty(len(batch))
        codes = small_codes(batch.block)
        if (int(codes.max()) + 1) * len(self.cells.given_of_joint) <= max(SMALL_TABLE, n_samples):
            score_by_table(codes, batch.rows, self.cells, self.weight, sums)
        else:
            score_by_group(codes.astype(np.int64), batch.rows, *self.partitions, self.weight, sums)
        return (sums + self.constant) / n_samples


def small_codes(block: Block) -> NDArray[Any]:
    """Return the joint level of each sample in the smallest unsigned type."""
    return block.columns[0].small_codes() if len(block) == 1 else narrowed(block.codes())


def target_entropy(target: Block) -> float | None:
    """Return the plug-in entropy of a target in bits; None if any of its columns is continuous.

    It bounds the information of any features about the target.
    """
    if not all(column.is_discrete for column in target.columns):
        return None
    counts = np.bincount(target.codes())
    shares = counts[counts > 0] / counts.sum()
    return -float((shares * np.log2(shares)).sum())


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
def _tally_cell(n: int, change: int, tally: IntArray, sizes: IntArray, n_sizes: int) -> int:
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
def _tally_groups(
    x: IntArray, groups: Partition, change: int, cell: IntArray, tally: IntArray
) -> None:
    for group in range(groups.start.size - 1):
        members = groups.samples[groups.start[group] : groups.start[group + 1]]
        for i in members:
            cell[x[i]] += 1
        for i in members:
            if cell[x[i]] > 0:
                tally[cell[x[i]]] += change
                cell[x[i]] = 0
