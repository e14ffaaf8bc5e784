"""Estimators on a part of the samples, beside others that use all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pidselect.data import Block, Column, FloatArray, IntArray, is_constant
from pidselect.estimators.base import Batch, Scorer


@dataclass(frozen=True, eq=False)
class Subsample:
    """Some of the samples, in ascending order, and the others."""

    rows: IntArray
    n_samples: int  # of all
    _taken: WeakKeyDictionary[Column, Column] = field(default_factory=WeakKeyDictionary, repr=False)

    def __reduce__(self) -> tuple[type[Subsample], tuple[IntArray, int]]:
        return Subsample, (self.rows, self.n_samples)

    @cached_property
    def parts(self) -> tuple[IntArray, IntArray]:
        """These samples and the others, within each of which samples are permuted."""
        is_other = np.ones(self.n_samples, dtype=bool)
        is_other[self.rows] = False
        return self.rows, np.flatnonzero(is_other)

    @cached_property
    def _positions(self) -> NDArray[np.int32]:
        positions = np.full(self.n_samples, -1, dtype=np.int32)
        positions[self.rows] = np.arange(len(self.rows))
        return positions

    def within(self, rows: IntArray) -> Subsample:
        """Return those of these samples that are among `rows`, by their positions in them."""
        return Subsample(np.flatnonzero(np.isin(rows, self.rows)), len(rows))

    def take(self, block: Block) -> Block:
        """Return these samples of a block, without columns that are constant in them.

        A column is always taken as the same object, so that what is derived from it can be reused.
        """
        taken = []
        for column in block.columns:
            if column not in self._taken:
                self._taken[column] = replace(column, values=column.values[self.rows])
            taken.append(self._taken[column])
        return Block(tuple(column for column in taken if not is_constant(column.values)))

    def take_permutations(self, rows: Any) -> NDArray[np.int32]:
        """Return permutations of all samples, which permute these among themselves, as of these.

        Examples
        --------
        >>> Subsample(np.array([1, 3, 4]), 5).take_permutations(np.array([[2, 4, 0, 1, 3]]))
        array([[2, 0, 1]], dtype=int32)
        """
        return np.take(self._positions, np.take(rows, self.rows, axis=1))


@dataclass(frozen=True, eq=False)
class SubsampleScorer:
    """A scorer bound to a part of the samples, which is given candidates of all of them."""

    scorer: Scorer
    subsample: Subsample

    def score(self, batch: Batch) -> FloatArray:
        """Return I(x; y | S) in nats for every permutation of the candidate, shape (m,)."""
        return self.score_together([batch.block], batch.rows)[0]

    def score_together(self, blocks: Sequence[Block], rows: Any) -> FloatArray:
        """Return I(x; y | S) in nats, shape (n_blocks, m), for candidates permuted by `rows`."""
        rows = self.subsample.take_permutations(rows)
        taken = [self.subsample.take(block) for block in blocks]
        values = np.zeros((len(blocks), len(rows)))  # the information of a constant
        for place, block in enumerate(taken):
            if len(block):
                values[place] = self.scorer.score(Batch.of_permutations(block, rows))
        return values
