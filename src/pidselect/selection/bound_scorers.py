"""Estimators and surrogate schemes bound to a target and a conditioning set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pidselect.data import Block, FloatArray
from pidselect.estimators import Batch, Scorer
from pidselect.significance import PermutationSampler


@dataclass(frozen=True, eq=False)
class BoundScorers:
    """The estimators of a portfolio and the surrogate schemes of a test.

    `samplers` return the row orders of permutations; permutation 0 is the observed data.
    """

    scorers: tuple[Scorer, ...]
    samplers: tuple[PermutationSampler, ...]

    def score(self, block: Block, rows: Any) -> FloatArray:
        """Score a block in given row orders, in nats, shape (n_estimators, n_permutations)."""
        batch = Batch.of_permutations(block, rows)
        return np.array([scorer.score(batch) for scorer in self.scorers])
