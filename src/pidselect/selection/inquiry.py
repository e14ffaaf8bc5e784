"""The inquiry: what stays the same over all steps of a selection, and how a question is bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pidselect.data import Block, FloatArray, IntArray
from pidselect.estimators import MAX_MEMORY, Batch, Estimator, Scorer
from pidselect.selection.features import Feature
from pidselect.selection.workers import run, split
from pidselect.significance import SURROGATES, Shuffle
from pidselect.significance.standards import PILOT_DRAWS, Standard


@dataclass(frozen=True, eq=False)
class Member:
    """An estimator and what it is called in the record."""

    name: str
    estimator: Estimator

    @property
    def is_skewed(self) -> bool:
        """Whether its values have a long tail where there is no information."""
        return bool(getattr(self.estimator, "is_skewed", False))

    @property
    def uses_ranks_only(self) -> bool:
        """Whether columns of the same ranks are all the same to it."""
        return bool(getattr(self.estimator, "uses_ranks_only", False))


@dataclass(frozen=True, eq=False)
class Inquiry:
    """What stays the same over all steps: target, estimators and how to test.

    Parameters
    ----------
    target : Block
    members : tuple of Member
        The estimators; of several, the one whose value is most unlike chance counts.
    is_portfolio : bool
        Whether values are standardised by pilot draws, as several estimators' must be.
    alpha : float
    n_permutations : int or None
        The number of draws of a test; None for as many as it takes.
    surrogates : tuple of str
        Schemes, all of which must reject.
    shared : bool
        Whether all candidates are rearranged alike in a draw.
    groups : array of int, optional
        The group of every row.
    seed, n_jobs, max_memory, progress
        See `PIDSelector`; progress is told how many values were computed.
    """

    target: Block
    members: tuple[Member, ...]
    is_portfolio: bool = False
    alpha: float = 0.05
    n_permutations: int | None = 200
    surrogates: tuple[str, ...] = ("global",)
    shared: bool = False
    groups: IntArray | None = None
    seed: int = 0
    n_jobs: int | None = None
    max_memory: int = MAX_MEMORY
    progress: Callable[[int], None] | None = None

    @property
    def n_pilot(self) -> int:
        """The draws that fix a centre and a scale, before those of the test."""
        return PILOT_DRAWS if self.is_portfolio else 0

    @property
    def unit(self) -> str:
        """What candidates are compared in: bits, or standard deviations of their surrogates."""
        return "sd" if self.is_portfolio else "bit"

    def standard(self, pilot: FloatArray) -> Standard | None:
        """Return what makes values of a portfolio comparable, by pilot draws; None for bits."""
        if not self.is_portfolio:
            return None
        return Standard.of(pilot, [member.is_skewed for member in self.members])

    def at(self, alpha: float) -> Inquiry:
        """Return the same inquiry at another level."""
        return replace(self, alpha=alpha)

    def schemes(self, given: Sequence[Feature]) -> tuple[str, ...]:
        """Return the schemes that tell something new: with nothing given, "local" is "global"."""
        if any(len(feature.block) for feature in given) or "global" not in self.surrogates:
            return self.surrogates
        return tuple(scheme for scheme in self.surrogates if scheme != "local")

    def bind(
        self, given: Sequence[Feature], schemes: Sequence[str] | None = None, share: int = 1
    ) -> Bound:
        """Prepare to score candidates given these features, with its share of the memory."""
        block = Block(tuple(column for feature in given for column in feature.block.columns))
        memory = max(1, self.max_memory // (share * len(self.members)))
        n_samples = self.target.n_samples
        return Bound(
            scorers=tuple(
                member.estimator.bind(self.target, block, max_memory=memory)
                for member in self.members
            ),
            shuffles=tuple(
                SURROGATES[scheme](block, n_samples, self.groups)
                for scheme in (self.schemes(given) if schemes is None else schemes)
            ),
        )

    def run(
        self, function: Callable[..., Any], common: Any, tasks: Sequence[tuple[Any, ...]]
    ) -> Iterable[Any]:
        """Return ``function(common, *task)`` of every task, one by one where progress is shown."""
        return run(function, common, tasks, self.n_jobs, in_turn=self.progress is not None)

    def split(self, draws: range, n_parts: int) -> list[range]:
        """Cut the draws of each of several parts of the work into tasks."""
        return split(draws, self.target.n_samples, n_parts, self.n_jobs)


@dataclass(frozen=True, eq=False)
class Bound:
    """Estimators that have seen the target and the given, and schemes that have seen the given."""

    scorers: tuple[Scorer, ...]
    shuffles: tuple[Shuffle, ...]

    def rows(self, words: tuple[int, ...], draws: range) -> list[Any]:
        """Return the row orders of the draws by each scheme; draw 0 is the data as observed."""
        drawn = range(max(draws.start, 1), draws.stop)
        rows = [shuffle(words, drawn) for shuffle in self.shuffles]
        if draws.start > 0:
            return rows
        as_it_is = np.arange(rows[0].shape[1], dtype=np.int32)[np.newaxis]
        return [np.concatenate([as_it_is, drawn_rows]) for drawn_rows in rows]

    def score(self, block: Block, rows: Sequence[Any]) -> FloatArray:
        """Score a block in rearrangements, shape (n_schemes, n_members, n_draws), in nats."""
        return np.array(
            [[scorer.score(Batch(block, order)) for scorer in self.scorers] for order in rows]
        )
