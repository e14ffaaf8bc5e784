r"""Ratings: candidates beside one selected feature at a time, by a formula of a few terms.

Permuting a candidate would take its redundancy with selected features away, together with its
relevancy. So the target is permuted, against all features as they are: in a draw, all columns are
rearranged alike, and I(c; s) is the same in every draw. What does change comes from I(c; y),
I(s; y) and I(cs; y), by the chain rule

.. math:: I(c;y|s) = I(cs;y) - I(s;y), \qquad I(c;s|y) - I(c;s) = I(c;y|s) - I(c;y),

which holds for counts, and which for every other estimator is what these terms are defined by.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from pidselect.data import Block, FloatArray
from pidselect.estimators import Batch, Estimator
from pidselect.selection.context import SelectionContext
from pidselect.selection.partial_scores import LazyScorer, alone, fill
from pidselect.selection.pool import Feature


@dataclass(frozen=True, eq=False)
class FixedTerms:
    """What no permutation of the target changes; computed once it is asked for.

    Parameters
    ----------
    target : Block
    candidates, selected : tuple of Block
    estimator : Estimator
    max_memory : int
        What a bound estimator may hold, in bytes.
    """

    target: Block
    candidates: tuple[Block, ...]
    selected: tuple[Block, ...]
    estimator: Estimator
    max_memory: int

    @cached_property
    def redundancy(self) -> FloatArray:
        """I(c; s), shape (n_candidates, n_selected, 1)."""
        values = np.empty((len(self.candidates), len(self.selected), 1))
        for place, block in enumerate(self.selected):  # one after the other: each may fill memory
            scorer = self.estimator.bind(block, Block(), max_memory=self.max_memory)
            for row, candidate in zip(values, self.candidates, strict=True):
                row[place] = scorer.score(Batch.observed(candidate))
        return values

    @cached_property
    def entropy(self) -> FloatArray:
        """H(cs) + H(y) of discrete columns, shape (n_candidates, n_selected, 1)."""
        pairs = [[self._entropy(c + s) for s in self.selected] for c in self.candidates]
        return np.array(pairs) + self._entropy(self.target)

    @cached_property
    def entropy_of_selected(self) -> FloatArray:
        """H(s) + H(y) of discrete columns, shape (n_selected, 1)."""
        return np.array([self._entropy(s) for s in self.selected]) + self._entropy(self.target)

    def _entropy(self, block: Block) -> FloatArray:
        """Return what a variable tells about itself, shape (1,)."""
        return self.estimator.bind(block, Block()).score(Batch.observed(block))


@dataclass(frozen=True, eq=False)
class MITerms:
    """What criteria are made of, in nats and for some draws; computed once it is asked for.

    Parameters
    ----------
    still : Still
    information : callable
        A block -> what it tells about the target in each draw, shape (n_draws,).
    """

    still: FixedTerms
    information: Callable[[Block], FloatArray]

    @property
    def redundancy(self) -> FloatArray:
        """I(c; s), shape (n_candidates, n_selected, 1)."""
        return self.still.redundancy

    @cached_property
    def relevance(self) -> FloatArray:
        """I(c; y), shape (n_candidates, n_draws)."""
        return np.array([self.information(block) for block in self.still.candidates])

    @cached_property
    def relevance_of_selected(self) -> FloatArray:
        """I(s; y), shape (n_selected, n_draws)."""
        return np.array([self.information(block) for block in self.still.selected])

    @cached_property
    def joint(self) -> FloatArray:
        """I(cs; y), shape (n_candidates, n_selected, n_draws)."""
        still = self.still
        return np.array(
            [[self.information(c + s) for s in still.selected] for c in still.candidates]
        )

    @cached_property
    def conditional(self) -> FloatArray:
        """I(c; y | s), shape (n_candidates, n_selected, n_draws)."""
        return minus(self.joint, self.relevance_of_selected)

    @cached_property
    def interaction(self) -> FloatArray:
        """I(c; s | y) - I(c; s), shape (n_candidates, n_selected, n_draws)."""
        return minus(self.conditional, self.relevance[:, np.newaxis])

    @cached_property
    def conditional_of_selected(self) -> FloatArray:
        """I(s; y | t) for two of the selected, shape (n_selected, n_selected, n_draws)."""
        joint = np.zeros((len(self.still.selected), *self.relevance_of_selected.shape))
        for place, s in enumerate(self.still.selected):
            for other, t in enumerate(self.still.selected[:place]):
                joint[place, other] = joint[other, place] = self.information(s + t)
        return minus(joint, self.relevance_of_selected)


def minus(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the difference, 0 where both are infinite: all there is to know was known before."""
    with np.errstate(invalid="ignore"):
        return np.where(first == second, 0.0, first - second)


@dataclass(frozen=True, eq=False)
class PairwiseScores:
    """Ask how candidates rate by a formula of terms, with the target as it is and permuted.

    Parameters
    ----------
    inquiry : Inquiry
        With a single estimator.
    candidates, selected : tuple of Feature
    schemes : tuple of str
    bound : Pending
        To the target, with nothing given.
    words : tuple of int
        What the draws are for: the phase and the step.
    formula : callable
        Terms -> values in nats, shape (n_candidates, n_draws).
    """

    context: SelectionContext
    candidates: tuple[Feature, ...]
    selected: tuple[Feature, ...]
    schemes: tuple[str, ...]
    bound: LazyScorer
    stream_key: tuple[int, ...]
    formula: Callable[[MITerms], FloatArray]

    @cached_property
    def still(self) -> FixedTerms:
        """What is the same in all draws."""
        return FixedTerms(
            self.context.target,
            tuple(feature.block for feature in self.candidates),
            tuple(feature.block for feature in self.selected),
            self.context.members[0].estimator,
            self.context.max_memory // 2,
        )

    def score(self, draws: range) -> FloatArray:
        """Return values in nats, shape (n_tests, n_candidates, 1, n_draws)."""
        tasks = [(some,) for some in self.context.split(draws, 1)]
        shape = (len(self.schemes), len(self.candidates), 1, len(draws))
        return fill(
            self.context, shape, tasks, draws, PairwiseScores.score_part, lambda: self.ready
        )

    @cached_property
    def ready(self) -> PairwiseScores:
        """The question with all that is bound or stays still, so that it can be sent elsewhere."""
        ready = replace(self, context=alone(self.context), bound=self.bound.ready())
        # The data as observed first, so that what is still is computed once, not by every worker.
        ready.score_part(range(1))
        return ready

    def score_part(self, draws: range) -> FloatArray:
        """Score all candidates in some of the draws."""
        values = []
        for rows in self.bound.bound.rows((self.context.seed, *self.stream_key), draws):
            terms = MITerms(self.still, partial(self.inform, rows=rows))
            values.append(self.formula(terms) if self.selected else terms.relevance)
        return np.stack(values)[:, :, np.newaxis]

    def inform(self, block: Block, rows: NDArray[np.int32]) -> FloatArray:
        """Return what a block tells about the target in these rearrangements, in nats."""
        return np.asarray(self.bound.bound.score(block, [rows])[0, 0])
