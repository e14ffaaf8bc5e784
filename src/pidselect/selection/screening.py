"""Screening: tuples of the candidates that are strongest by themselves, in every draw anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import comb

import numpy as np

from pidselect.data import FloatArray, IntArray
from pidselect.selection.context import SelectionContext
from pidselect.selection.partial_scores import fill
from pidselect.selection.pool import Feature, as_one
from pidselect.selection.scoring import ConditionalMI, given_all
from pidselect.significance.standardize import NullStandardizer


@dataclass(frozen=True, eq=False)
class Screened:
    """The tuples of the strongest single candidates, chosen anew in every draw.

    A place among the candidates of this question is not a tuple but a combination of ranks, such
    as the first and the third: which tuple that is differs from draw to draw.

    Parameters
    ----------
    singles : Information
        About the candidates one by one.
    standard : Standard or None
        What makes them comparable.
    order : int
        The size of a tuple.
    n_strongest : int
        How many of the strongest make tuples.
    tuples : list of tuples of Feature
        In the data as observed.
    """

    singles: ConditionalMI
    standard: NullStandardizer | None
    order: int
    n_strongest: int
    tuples: list[tuple[Feature, ...]]

    @property
    def context(self) -> SelectionContext:
        """How to test."""
        return self.singles.context

    @property
    def candidates(self) -> tuple[Feature, ...]:
        """The tuples in the data as observed."""
        return tuple(as_one(members) for members in self.tuples)

    @property
    def schemes(self) -> tuple[str, ...]:
        """The scheme of surrogates of each test."""
        return self.singles.schemes

    @property
    def n_values_per_draw(self) -> int:
        """How many values a draw takes, those of single candidates included."""
        n_scored = len(self.singles.candidates) + len(self.tuples)
        return len(self.schemes) * n_scored * len(self.context.members)

    def score(self, draws: range) -> FloatArray:
        """Return the joint information of each draw's own tuples."""
        ranked = self.strongest(self.singles.score(draws))
        shape = (len(self.schemes), len(self.tuples), len(self.context.members), len(draws))
        tasks = [(some,) for some in self.context.split(draws, 1, len(self.tuples))]
        common = partial(self.ready, ranked, draws)
        return fill(self.context, shape, tasks, draws, Ranked.score_part, common)

    def ready(self, ranked: IntArray, draws: range) -> Ranked:
        """Return what is to be done with ranked candidates, so that it can be sent elsewhere."""
        return Ranked(self.singles.ready, ranked, draws, self.order)

    def strongest(self, values: FloatArray) -> IntArray:
        """Return the places of the strongest single candidates in each draw, strongest first."""
        best = values.max(axis=2)
        if self.standard is not None:
            # By the standards of all tests alike: else the data as observed would have other
            # tuples in each test.
            every = replace(
                self.standard,
                centre=self.standard.centre[:, np.newaxis],
                scale=self.standard.scale[:, np.newaxis],
            )
            best = every.apply(values).max(axis=3).min(axis=0)
        return np.argsort(-best, axis=1, kind="stable")[:, : self.n_strongest].astype(np.int64)


@dataclass(frozen=True, eq=False)
class Ranked:
    """Each draw's own tuples.

    Parameters
    ----------
    singles : Information
    ranked : array of int64, shape (n_tests, n_strongest, n_draws)
        The strongest of its candidates, in each draw.
    draws : range
        The numbers of the draws.
    order : int
        The size of a tuple.
    """

    singles: ConditionalMI
    ranked: IntArray
    draws: range
    order: int

    def score_part(self, draws: range) -> FloatArray:
        """Return the joint information of the tuples of some draws."""
        ranked = self.ranked[..., draws.start - self.draws.start : draws.stop - self.draws.start]
        ranks = np.array(list(combinations(range(ranked.shape[1]), self.order)))
        bound, context = self.singles.bound[0].bound, self.singles.context
        rows = bound.rows((context.seed, *self.singles.stream_key), draws)
        values = np.empty((len(rows), len(ranks), len(context.members), len(draws)))
        for test, orders in enumerate(rows):
            members = np.sort(ranked[test][ranks], axis=1)  # (n_tuples, order, n_draws)
            flat = members.transpose(0, 2, 1).reshape(-1, self.order)
            tuples, which, counts = np.unique(flat, axis=0, return_inverse=True, return_counts=True)
            cells = np.split(np.argsort(which, axis=None, kind="stable"), np.cumsum(counts)[:-1])
            for places, cell in zip(tuples, cells, strict=True):
                slot, draw = np.divmod(cell, len(draws))
                block = as_one([self.singles.candidates[place] for place in places]).block
                only = replace(bound, shuffles=bound.shuffles[test : test + 1])
                values[test, slot, :, draw] = only.score(block, [orders[draw]])[0].T
        return values


def screened(
    context: SelectionContext,
    known: Sequence[Feature],
    candidates: Sequence[Feature],
    order: int,
    stream_key: tuple[int, ...],
    most: int,
) -> Screened:
    """Look at single candidates first, and take as many of the best as make so many tuples."""
    n_strongest = max(n for n in range(order, len(candidates) + 1) if comb(n, order) <= most)
    singles = given_all(context, candidates, known, stream_key)
    if context.watch is not None:
        n_values = len(singles.schemes) * len(candidates) * len(context.members)
        context.watch.on_stage("lookahead", len(candidates), n_values * (1 + context.n_pilot))
    first = singles.score(range(1 + context.n_pilot))
    question = Screened(singles, context.standard(first[..., 1:]), order, n_strongest, [])
    best = question.strongest(first[..., :1])[0, :, 0]
    tuples = [
        tuple(candidates[place] for place in sorted(best[list(ranks)]))
        for ranks in combinations(range(n_strongest), order)
    ]
    return replace(question, tuples=tuples)
