"""Evidence: the information of every candidate, and of its surrogates, computed side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from pidselect.data import Block, FloatArray
from pidselect.estimators import MAX_MEMORY, NATS_PER_UNIT, Batch, Estimator, Scorer
from pidselect.selection.features import Feature
from pidselect.selection.record import Phase, Step
from pidselect.significance import (
    BACKWARD,
    FORWARD,
    SURROGATES,
    is_significant,
    null_line,
    p_values,
)

PHASE_WORD: dict[Phase, int] = {"forward": FORWARD, "backward": BACKWARD}

#: Numbers in the row orders of one task; with it, the memory and the patience a task needs.
TASK_SIZE = 2**22

#: Draws of a task come in multiples of what a kernel serves side by side.
DRAWS_AT_ONCE = 16


@dataclass(frozen=True, eq=False)
class Evidence:
    """Candidates with their information in nats, observed and in all surrogates."""

    candidates: tuple[Feature, ...]
    observed: FloatArray  # (n_candidates,)
    surrogates: FloatArray  # (n_candidates, n_permutations)

    def judge(
        self,
        chosen: int,
        null: FloatArray,
        given: Sequence[Feature],
        inquiry: Inquiry,
        phase: Phase,
    ) -> Step:
        """Test one candidate against the null distribution, and put it on record."""
        p = p_values(self.observed, null)
        nat = NATS_PER_UNIT["bit"]
        return Step(
            phase=phase,
            given=tuple(feature.name for feature in given),
            candidates=tuple(feature.name for feature in self.candidates),
            values=tuple((self.observed / nat).tolist()),
            p_values=tuple(p.tolist()),
            chosen=self.candidates[chosen].name,
            null_line=null_line(null, inquiry.alpha) / nat,
            p_value=float(p[chosen]),
            n_drawn=len(null),
            accepted=is_significant(p[chosen], inquiry.alpha),
        )


@dataclass(frozen=True, eq=False)
class Inquiry:
    """What stays the same over all steps of a selection: target, estimator and how to test."""

    target: Block
    estimator: Estimator
    alpha: float = 0.05
    n_permutations: int = 200
    surrogates: str = "global"
    shared: bool = False
    seed: int = 0
    n_jobs: int | None = None
    max_memory: int = MAX_MEMORY
    progress: Callable[[int], None] | None = None

    def bind(self, given: Sequence[Feature]) -> Scorer:
        """Prepare to score candidates given these features."""
        block = Block(tuple(column for feature in given for column in feature.block.columns))
        return self.estimator.bind(self.target, block, max_memory=self.max_memory)

    def gather(
        self, candidates: Sequence[Feature], given: Sequence[Feature], phase: Phase, step: int
    ) -> Evidence:
        """Score every candidate as observed and in all its surrogates, given these features."""
        scorer = self.bind(given)
        ranges = self._split(len(candidates))
        tasks = [(candidate, draws) for candidate in candidates for draws in ranges]
        scored = self._workers()(
            delayed(score_draws)(
                scorer, candidate.block, self._words(candidate, phase, step), draws, self.surrogates
            )
            for candidate, draws in tasks
        )
        values = np.empty((len(candidates), 1 + self.n_permutations))
        row_of = {candidate: row for row, candidate in enumerate(candidates)}
        for (candidate, draws), part in zip(tasks, scored, strict=True):
            values[row_of[candidate], draws.start : draws.stop] = part
            if self.progress is not None:
                self.progress(len(draws))
        return Evidence(tuple(candidates), values[:, 0], values[:, 1:])

    def _workers(self) -> Parallel:
        """Return what runs tasks: one by one for progress, at once where joblib's backend must."""
        if self.progress is not None:
            with suppress(ValueError):  # such as multiprocessing: progress then comes step by step
                return Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")
        return Parallel(n_jobs=self.n_jobs, prefer="threads")

    def _words(self, candidate: Feature, phase: Phase, step: int) -> tuple[int, ...]:
        columns = () if self.shared else candidate.columns
        return (self.seed, PHASE_WORD[phase], step, *columns)

    def _split(self, n_candidates: int) -> list[range]:
        """Cut the draws, of which number 0 is the data as observed, into tasks.

        No cut shows in the result; a task is small enough for memory, and there are enough of them
        to keep all workers busy.
        """
        n_draws = 1 + self.n_permutations
        size = max(1, TASK_SIZE // self.target.n_samples)
        if n_candidates < 8:
            size = min(size, -(-n_draws * n_candidates // 8))
        size = -(-size // DRAWS_AT_ONCE) * DRAWS_AT_ONCE
        return [range(start, min(start + size, n_draws)) for start in range(0, n_draws, size)]


def score_draws(
    scorer: Scorer, block: Block, words: tuple[int, ...], draws: range, scheme: str
) -> FloatArray:
    """Score a block in the draws with these numbers, number 0 being the data as observed."""
    drawn = range(max(draws.start, 1), draws.stop)
    rows = SURROGATES[scheme](words, drawn, block.n_samples)
    if draws.start == 0:
        rows = np.concatenate([np.arange(block.n_samples, dtype=np.int32)[np.newaxis], rows])
    return scorer.score(Batch(block, rows))
