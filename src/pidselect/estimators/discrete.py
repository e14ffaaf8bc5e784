"""Information between discrete variables from relative frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.special import xlogy
from sklearn.base import BaseEstimator

from pidselect.data import Block, FloatArray, IntArray, check_choice
from pidselect.estimators._counts import Partition, score_codes
from pidselect.estimators.base import (
    MAX_MEMORY,
    Batch,
    Scorer,
    check_same_length,
    group_starts,
)

Correction = Literal["miller-madow"] | None


class Discrete(BaseEstimator):
    r"""Plug-in estimator: the information of the observed relative frequencies.

    .. math:: I(x;y|S) = \frac1N \Big( \sum_{xyS} n \ln n + \sum_S n \ln n
              - \sum_{xS} n \ln n - \sum_{yS} n \ln n \Big),

    sums over the occupied cells, n samples in each. It is never negative, and on average too
    large, the more so the more cells there are for N samples. The Miller-Madow correction adds
    (occupied cells - 1) / 2N to each of the four entropies, which takes most of that off; the
    value may then be negative.

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

    is_skewed: ClassVar[bool] = True
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
        joint = to_partition((target + given).codes())
        alone = to_partition(given.codes() if len(given) else np.zeros(n, dtype=np.int64))
        constant = sum_of_weights(alone, weight) - sum_of_weights(joint, weight)
        return DiscreteScorer(joint, alone, weight, constant)


def check_discrete(block: Block) -> None:
    """Refuse measurements, in which hardly any value occurs twice."""
    for column in block.columns:
        if column.kind == "continuous":
            raise ValueError(
                f"The discrete estimator counts equal values, but column {column.name!r} is "
                f"continuous ({column.levels()} different values in {len(column.values)} samples). "
                'Use estimator="auto" or "mixed", or bin the column first.'
            )


def to_partition(codes: IntArray) -> Partition:
    """Group samples by their code."""
    return Partition(np.argsort(codes, kind="stable").astype(np.int64), group_starts(codes))


def sum_of_weights(partition: Partition, weight: FloatArray) -> float:
    """Sum the weights of the groups' sizes."""
    return float(np.bincount(np.diff(partition.start), minlength=len(weight)) @ weight)


@dataclass(frozen=True, eq=False)
class DiscreteScorer:
    """Scores columns by counting their levels within the groups."""

    joint: Partition
    given: Partition
    weight: FloatArray
    constant: float

    def score(self, batch: Batch) -> FloatArray:
        """Return I(x; y | S) in nats for every version of the candidate, shape (m,)."""
        n_samples = len(self.joint.members)
        check_same_length(batch, n_samples)
        check_discrete(batch.block)
        sums = np.empty(len(batch))
        block = batch.block  # a joint level of one column is a level, and found much sooner
        codes = block.columns[0].codes() if len(block) == 1 else block.codes()
        score_codes(codes, batch.rows, self.joint, self.given, self.weight, sums)
        return (sums + self.constant) / n_samples
