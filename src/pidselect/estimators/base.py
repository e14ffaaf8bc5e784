"""The one question that every estimator answers: how much x tells about y, given S.

An estimator is two calls. `Estimator.bind` takes the target y and the given S and does all that
depends on them alone; `Scorer.score` then takes as many columns as come by, every candidate and
all its surrogates, and returns the information of each. Values are in nats and are never clipped:
an estimate of nothing scatters around zero, and cutting off its lower half would bias every sum
and difference it enters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from pidselect.data import Block, FloatArray, IntArray
from pidselect.data.raw import BOOLS

#: Memory that a bound estimator may hold, in bytes, unless told otherwise.
MAX_MEMORY = 2**30


@dataclass(frozen=True, eq=False)
class Batch:
    """One block in m rearrangements of its samples.

    Parameters
    ----------
    block : Block
        The candidate variable.
    rows : array of int32, shape (m, n_samples)
        Version m of the candidate has the value of sample ``rows[m, i]`` in the place of i.
    """

    block: Block
    rows: NDArray[np.int32]

    @classmethod
    def observed(cls, block: Block) -> Batch:
        """Return the block as it was observed, as a batch of one."""
        return cls(block, np.arange(block.n_samples, dtype=np.int32)[np.newaxis])

    def __len__(self) -> int:
        return len(self.rows)


class Scorer(Protocol):
    """An estimator that has seen the target and the given."""

    def score(self, batch: Batch) -> FloatArray:
        """Return I(x; y | S) in nats for every version of the candidate, shape (m,)."""
        ...


class Estimator(Protocol):
    """A way to estimate information from samples.

    A class may say ``is_skewed = True`` (it is False unless said): where there is no information,
    2 N times the estimate is about a chi-square variable, which has a long upper tail. Estimates
    are then brought to a symmetric scale before those of several estimators are compared. And it
    may say ``uses_ranks_only = True``: strictly monotone maps of a column change nothing, so that
    columns of equal ranks are copies.
    """

    def bind(self, target: Block, given: Block, *, max_memory: int = MAX_MEMORY) -> Scorer:
        """Do all that depends on the target and the given alone."""
        ...

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        ...

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name."""
        ...


def as_numbers(block: Block, estimator: str) -> Block:
    """Return the block with every column taken as numbers; refuse text and missing values."""
    for column in block.columns:
        if column.labels not in (None, BOOLS):
            raise ValueError(
                f"{estimator} needs numbers, but column {column.name!r} holds labels such as "
                f'{column.labels[0]!r}. Use estimator="mixed" (or "auto"), which knows what to do '
                "with them."
            )
        if column.has_missing:
            raise ValueError(
                f"{estimator} cannot place the {int(np.isnan(column.values).sum())} missing (NaN) "
                f'values of column {column.name!r}. Use estimator="mixed" (or "auto"), or '
                'missing="drop".'
            )
    return Block(
        tuple(
            replace(c, feature_type="ordinal") if c.feature_type == "nominal" else c
            for c in block.columns
        )
    )


def check_same_length(batch: Batch, n_samples: int) -> None:
    """Refuse a candidate that has another number of samples than the target."""
    if batch.block.n_samples != n_samples:
        raise ValueError(
            f"x has {batch.block.n_samples} samples and y has {n_samples}: "
            "each needs one value per sample."
        )


def standardised(values: FloatArray) -> FloatArray:
    """Return a column with mean 0 and standard deviation 1 (ddof=1); a constant one as zeros."""
    # A power of two takes no digit away, and leaves no number too large or too small to square.
    values = np.ldexp(values, -np.frexp(np.nanmax(np.abs(values)))[1])
    if np.nanmin(values) == np.nanmax(values):  # rounding may leave it a deviation above zero
        return values - np.nanmin(values)
    return np.asarray((values - np.nanmean(values)) / np.nanstd(values, ddof=1), dtype=np.float64)


def normal_scores(values: FloatArray) -> FloatArray:
    r"""Return the normal scores of a column's ranks, with standard deviation 1 (ddof=1).

    The n-th of N ranks, ties sharing their average, becomes :math:`\Phi^{-1}(n / (N + 1))`.
    Missing values stay missing and do not count; a constant column becomes zeros.

    Distances between scores are the same to the last bit whatever strictly monotone map the column
    went through and in whatever order its samples come. So nothing is centred: ties may leave a
    mean that is not 0, and taking it away would round each score in its own way.

    Examples
    --------
    >>> x = np.array([0.1, 0.2, 0.7, 100.0])
    >>> normal_scores(x).round(2)
    array([-1.17, -0.35,  0.35,  1.17])
    >>> np.array_equal(normal_scores(-np.exp(x)), -normal_scores(x))
    True
    """
    scores = np.full(len(values), np.nan)
    present = ~np.isnan(values)
    _, level, size = np.unique(values[present], return_inverse=True, return_counts=True)
    if len(size) <= 1:
        scores[present] = 0.0
        return scores
    # Ranks counted from the nearer end, in halves: a column turned around gives the same numbers.
    n = len(level)
    from_below = 2 * np.cumsum(size) - size + 1
    from_above = 2 * (n + 1) - from_below
    score = ndtri(np.minimum(from_below, from_above) / (2 * (n + 1)))
    score = np.where(from_above < from_below, -score, score)
    mean = _sum_from_both_ends(size * score) / n
    score /= np.sqrt(_sum_from_both_ends(size * (score - mean) ** 2) / (n - 1))
    scores[present] = score[level]
    return scores


def _sum_from_both_ends(values: FloatArray) -> float:
    """Return the sum, rounded alike for values in reverse order."""
    return float(np.sum(values + values[::-1])) / 2.0


def group_starts(codes: IntArray) -> IntArray:
    """Return where each group begins, and the end, once samples are sorted by code."""
    return np.concatenate([[0], np.cumsum(np.bincount(codes))]).astype(np.int64)
