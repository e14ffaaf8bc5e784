"""Questions: candidates side by side, as observed and in any of their surrogates.

A question is all that a test needs to know. It has candidates and, for draws of any numbers, their
values: draw 0 is the data as observed, the others are surrogates. How a criterion comes to its
values, nothing else knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Protocol

import numpy as np

from pidselect.data import FloatArray
from pidselect.selection.context import SelectionContext
from pidselect.selection.partial_scores import LazyScorer, alone, cut, fill, get_ready
from pidselect.selection.pool import Feature

#: Candidates given features of their own for which there is memory at the same time.
AT_ONCE = 4


class CandidateScores(Protocol):
    """Candidates that compete, and their values in any draw."""

    @property
    def context(self) -> SelectionContext:
        """How to test."""
        ...

    @property
    def candidates(self) -> tuple[Feature, ...]:
        """Who competes."""
        ...

    @property
    def schemes(self) -> tuple[str, ...]:
        """The scheme of surrogates of each test; all tests must reject."""
        ...

    def score(self, draws: range) -> FloatArray:
        """Return values in nats, shape (n_tests, n_candidates, n_members, n_draws)."""
        ...


@dataclass(frozen=True, eq=False)
class ConditionalMI:
    """The information of each candidate about the target, given what is bound with it.

    Parameters
    ----------
    inquiry : Inquiry
    candidates : tuple of Feature
    schemes : tuple of str
    bound : tuple of Pending
        One for all candidates, or one for each.
    words : tuple of int
        What the draws are for: the phase and the step.
    at_once : int, optional
        For how many candidates there is memory at the same time; None for all.
    """

    context: SelectionContext
    candidates: tuple[Feature, ...]
    schemes: tuple[str, ...]
    bound: tuple[LazyScorer, ...]
    stream_key: tuple[int, ...]
    at_once: int | None = None

    def score(self, draws: range) -> FloatArray:
        """Return I(c; y | S) in nats, shape (n_tests, n_candidates, n_members, n_draws)."""
        n_candidates = len(self.candidates)
        if self.at_once is not None:
            starts = range(0, n_candidates, self.at_once)
            parts = (range(n_candidates)[start : start + self.at_once] for start in starts)
            return np.concatenate([self._of(part).score(draws) for part in parts], axis=1)
        if self.context.shared_permutations and len(self.bound) == 1:
            tasks = cut(self.context, n_candidates, draws)
        else:
            ranges = self.context.split(draws, n_candidates)
            tasks = [([place], some) for place in range(n_candidates) for some in ranges]
        shape = (len(self.schemes), n_candidates, len(self.context.members), len(draws))
        return fill(self.context, shape, tasks, draws, ConditionalMI.score_part, lambda: self.ready)

    def _of(self, places: Sequence[int]) -> ConditionalMI:
        """Return the question about some candidates, whose bounds go with it."""
        return replace(
            self,
            candidates=tuple(self.candidates[place] for place in places),
            bound=tuple(self.bound[place].anew() for place in places),
            at_once=None,
        )

    @cached_property
    def ready(self) -> ConditionalMI:
        """The question with all that is bound, to be sent elsewhere: once for all rounds."""
        return replace(self, context=alone(self.context), bound=get_ready(self.context, self.bound))

    def score_part(self, places: Sequence[int], draws: range) -> FloatArray:
        """Score candidates that are rearranged alike."""
        bound = self.bound[0 if len(self.bound) == 1 else places[0]].bound
        columns = () if self.context.shared_permutations else self.candidates[places[0]].columns
        stream_key = (self.context.seed, *self.stream_key, *columns)
        return bound.score_all(
            [self.candidates[place].block for place in places], stream_key, draws
        )


@dataclass(frozen=True, eq=False)
class SubsetIntersection:
    """The same candidates asked several questions: the tests of all of them must reject.

    Parameters
    ----------
    questions : tuple of Question
    given : tuple of tuples of str
        What is given in each of them.
    """

    questions: tuple[CandidateScores, ...]
    given: tuple[tuple[str, ...], ...]

    @property
    def context(self) -> SelectionContext:
        """How to test."""
        return self.questions[0].context

    @property
    def candidates(self) -> tuple[Feature, ...]:
        """Who competes."""
        return self.questions[0].candidates

    @property
    def schemes(self) -> tuple[str, ...]:
        """The scheme of surrogates of each test."""
        return tuple(scheme for question in self.questions for scheme in question.schemes)

    @property
    def givens(self) -> tuple[tuple[str, ...], ...]:
        """What is given in each test."""
        pairs = zip(self.questions, self.given, strict=True)
        return tuple(names for question, names in pairs for _ in question.schemes)

    def score(self, draws: range) -> FloatArray:
        """Return the values of all tests."""
        return np.concatenate([question.score(draws) for question in self.questions])


def given_all(
    context: SelectionContext,
    candidates: Sequence[Feature],
    given: Sequence[Feature],
    stream_key: tuple[int, ...],
    share: int = 1,
) -> ConditionalMI:
    """Ask for the information of each candidate, all given the same features."""
    bound = (LazyScorer(partial(context.bind, given, share=share)),)
    return ConditionalMI(context, tuple(candidates), context.schemes(given), bound, stream_key)


def given_each(
    context: SelectionContext,
    candidates: Sequence[Feature],
    given: Sequence[Sequence[Feature]],
    stream_key: tuple[int, ...],
) -> ConditionalMI:
    """Ask for the information of each candidate, each given features of its own."""
    # Where only some have anything given, all take the schemes of those: else tests would differ.
    fullest = max(given, key=lambda features: sum(len(f.block) for f in features))
    schemes = context.schemes(fullest)
    # If all draws are made at once, some candidates after the others have more memory each; the
    # number does not depend on the workers, so that a checkpoint does not, either.
    at_once = None if context.n_permutations is None else min(len(given), AT_ONCE)
    share = at_once or len(given)
    bound = tuple(
        LazyScorer(partial(context.bind, features, schemes, share=share)) for features in given
    )
    return ConditionalMI(context, tuple(candidates), schemes, bound, stream_key, at_once)
