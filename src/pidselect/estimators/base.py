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
    """A way to estimate information from samples."""

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
        tuple(replace(c, kind="ordinal") if c.kind == "nominal" else c for c in block.columns)
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


def group_starts(codes: IntArray) -> IntArray:
    """Return where each group begins, and the end, once samples are sorted by code."""
    return np.concatenate([[0], np.cumsum(np.bincount(codes))]).astype(np.int64)
