"""Plug-in estimator of the mutual information of discrete variables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from sklearn.base import BaseEstimator

from pidselect.data import Block, FloatArray, check_choice
from pidselect.data.column import narrowed
from pidselect.estimators.base import (
    MAX_MEMORY,
    Batch,
    Partition,
    Scorer,
    check_same_length,
    partition,
)
from pidselect.estimators.discrete_kernels import Cells, score_by_group, score_by_table

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
    >>> mutual_information(a, xor), round(mutual_information(a, xor, given=b), 9)
    (0.0, 1.0)
    """

    chi2_null: ClassVar[bool] = True
    uses_ranks_only: ClassVar[bool] = True

    def __init__(self, correction: Correction = None) -> None:
        self.correction = correction

    def bind(self, target: Block, given: Block, *, max_memory: int = MAX_MEMORY) -> Scorer:
        """Group the samples by (y, S) and by S."""
        check_choice(self.correction, (None, "miller-madow"), "correction")
        check_discrete(target + given)
        n = target.n_samples
        counts = np.arange(n + 1, dtype=np.float64)
        weight = xlogy(counts, counts)
        if self.correction == "miller-madow":
            weight[1:] -= 0.5
        joint = (target + given).codes().astype(np.int32)
        given_codes = given.codes().astype(np.int32) if len(given) else np.zeros(n, dtype=np.int32)
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
    return float(np.bincount(np.bincount(codes), minlength=len(weight)) @ weight)


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
        check_same_length(batch, n_samples)
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

    Examples
    --------
    >>> from pidselect.data import read_block
    >>> target_entropy(read_block([0, 1, 1, 0], "y"))
    1.0
    """
    if not all(column.is_discrete for column in target.columns):
        return None
    shares = np.bincount(target.codes()) / target.n_samples
    return -float((shares * np.log2(shares)).sum())
