"""Selection context: what all steps of a selection share, and binding to a conditioning set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed

from pidselect.data import Block, FloatArray, IntArray
from pidselect.estimators import MAX_MEMORY, Batch, Estimator, Scorer
from pidselect.estimators.cuda.scorer import (
    CudaScorer,
    Permutations,
    bind_on,
    cuda,
    split_for_device,
)
from pidselect.selection.executor import (
    PERMUTATION_BATCH,
    TASK_SIZE,
    run_tasks,
    split_permutations,
)
from pidselect.selection.pool import Feature
from pidselect.significance import SURROGATES, PermutationSampler
from pidselect.significance.standardize import PILOT_PERMUTATIONS, NullStandardizer

if TYPE_CHECKING:
    from pidselect.selection.callbacks import CallbackList
    from pidselect.selection.checkpoint import Journal
    from pidselect.selection.result import Step

#: Bytes of the row orders of permutations that are scored at a time.
ROW_BYTES = 2**26

#: Work of a task where progress is reported, in samples times values: a few seconds.
PROGRESS_WORK = 2**21


@dataclass(frozen=True, eq=False)
class NamedEstimator:
    """An estimator and its name in the record."""

    name: str
    estimator: Estimator

    @property
    def chi2_null(self) -> bool:
        """Whether its null distribution has a long tail, as a chi-squared distribution has."""
        return bool(getattr(self.estimator, "chi2_null", False))

    @property
    def uses_ranks_only(self) -> bool:
        """Whether its values depend on the ranks of a column only."""
        return bool(getattr(self.estimator, "uses_ranks_only", False))


@dataclass(frozen=True, eq=False)
class SelectionContext:
    """What all steps share: target, estimators, the settings of the tests, resources.

    Parameters
    ----------
    target : Block
    estimators : tuple of NamedEstimator
        Of several, the one with the most significant value counts.
    is_portfolio : bool
        Whether values are standardised by pilot permutations, as those of several estimators are.
    alpha : float
    n_permutations : int or None
        The number of permutations of a test; None for a sequential test.
    surrogates : tuple of str
        Surrogate schemes; the tests of all of them must reject.
    shared_permutations : bool
        Whether all candidates are permuted alike.
    groups : array of int, optional
        The group of every row.
    seed, n_jobs, max_memory, device
        See `PIDSelector`.
    task_size : int
        Row indices in the permutations of a task; results do not depend on it.
    callbacks : CallbackList, optional
        Receives progress and steps.
    journal : Journal, optional
        The log of the checkpoint.
    """

    target: Block
    estimators: tuple[NamedEstimator, ...]
    is_portfolio: bool = False
    alpha: float = 0.05
    n_permutations: int | None = 200
    surrogates: tuple[str, ...] = ("global",)
    shared_permutations: bool = False
    groups: IntArray | None = None
    seed: int = 0
    n_jobs: int | None = None
    max_memory: int = MAX_MEMORY
    device: str = "cpu"
    task_size: int = TASK_SIZE
    callbacks: CallbackList | None = None
    journal: Journal | None = None

    @property
    def n_pilot(self) -> int:
        """The number of pilot permutations, which precede those of the test."""
        return PILOT_PERMUTATIONS if self.is_portfolio else 0

    @property
    def unit(self) -> str:
        """The unit of scores: bits, or standard deviations of the null distribution."""
        return "sd" if self.is_portfolio else "bit"

    def standardizer(self, pilot: FloatArray) -> NullStandardizer | None:
        """Return the standardisation by pilot permutations; None if scores are in bits."""
        if not self.is_portfolio:
            return None
        return NullStandardizer.from_pilot(pilot, [named.chi2_null for named in self.estimators])

    def detached(self) -> SelectionContext:
        """Return the context without callbacks and journal, which belong to this process."""
        return replace(self, callbacks=None, journal=None)

    def schemes(self, given: Sequence[Feature]) -> tuple[str, ...]:
        """Return the schemes that differ: with an empty conditioning set, "local" is "global"."""
        if any(len(feature.block) for feature in given) or "global" not in self.surrogates:
            return self.surrogates
        return tuple(scheme for scheme in self.surrogates if scheme != "local")

    def bind(
        self, given: Sequence[Feature], schemes: Sequence[str] | None = None, n_concurrent: int = 1
    ) -> BoundScorers:
        """Bind estimators and surrogate schemes to the target and a conditioning set.

        `n_concurrent` is how many are bound at the same time, each with an equal part of the
        memory; schemes are those of `schemes(given)` by default.
        """
        block = Block(tuple(column for feature in given for column in feature.block.columns))
        memory = max(1, self.max_memory // (n_concurrent * len(self.estimators)))
        chosen = self.schemes(given) if schemes is None else schemes
        on_gpu = self.device == "cuda"
        return BoundScorers(
            scorers=tuple(
                bind_on(cuda(), named.estimator, self.target, block, memory, n_concurrent)
                if on_gpu
                else named.estimator.bind(self.target, block, max_memory=memory)
                for named in self.estimators
            ),
            samplers=tuple(self._bind_scheme(scheme, block) for scheme in chosen),
        )

    def _bind_scheme(self, scheme: str, given: Block) -> PermutationSampler:
        n_samples = self.target.n_samples
        if self.device == "cuda" and scheme == "global" and self.groups is None:
            return Permutations(cuda(), n_samples)
        return SURROGATES[scheme](given, n_samples, self.groups)

    def report(self, step: Step) -> Step:
        """Pass a decided step to the callbacks, and return it."""
        if self.callbacks is not None:
            self.callbacks.on_step(step)
        return step

    def run(
        self, function: Callable[..., Any], common: Any, tasks: Sequence[tuple[Any, ...]]
    ) -> Iterable[Any]:
        """Return ``function(common, *task)`` of every task, one by one if they are reported."""
        stream = self.callbacks is not None or self.journal is not None
        if self.device != "cpu":  # no other process can use what is bound on a device
            return_as = "generator" if stream else "list"
            calls = (delayed(function)(common, *task) for task in tasks)
            return Parallel(self.n_jobs, require="sharedmem", return_as=return_as)(calls)
        return run_tasks(function, common, tasks, self.n_jobs, stream)

    def split(self, permutations: range, n_parts: int, n_candidates: int = 1) -> list[range]:
        """Split the permutations of each of several parts of the work into tasks.

        If progress is reported, tasks of many candidates have fewer permutations.
        """
        n_samples = self.target.n_samples
        if self.device != "cpu":
            return split_for_device(permutations, n_samples)
        ranges = split_permutations(permutations, n_samples, n_parts, self.n_jobs, self.task_size)
        if self.callbacks is None:
            return ranges
        n_batches = PROGRESS_WORK // (n_samples * n_candidates * PERMUTATION_BATCH)
        size = PERMUTATION_BATCH * max(1, n_batches)
        return [
            some[start : start + size] for some in ranges for start in range(0, len(some), size)
        ]


@dataclass(frozen=True, eq=False)
class BoundScorers:
    """Estimators bound to target and conditioning set, and surrogate schemes bound to the latter.

    Permutation 0 is the observed data.
    """

    scorers: tuple[Scorer, ...]
    samplers: tuple[PermutationSampler, ...]

    def rows(self, stream_key: tuple[int, ...], permutations: range) -> list[Any]:
        """Return the row orders of the permutations by each scheme."""
        return [_rows(sampler, stream_key, permutations) for sampler in self.samplers]

    def score_all(
        self, blocks: Sequence[Block], stream_key: tuple[int, ...], permutations: range
    ) -> FloatArray:
        """Score blocks that are permuted alike.

        Returns values in nats, shape (n_schemes, n_blocks, n_estimators, n_permutations).
        """
        shape = (len(self.samplers), len(blocks), len(self.scorers), len(permutations))
        values = np.empty(shape)
        batch = max(1, ROW_BYTES // (4 * blocks[0].n_samples))
        for scheme, sampler in enumerate(self.samplers):
            size = len(permutations) if isinstance(sampler, Permutations) else batch
            for start in range(0, len(permutations), size):
                part = slice(start, start + size)
                rows = _rows(sampler, stream_key, permutations[part])
                for estimator, scorer in enumerate(self.scorers):
                    values[scheme, :, estimator, part] = _score_together(scorer, blocks, rows)
        return values

    def score(self, block: Block, rows: Sequence[Any]) -> FloatArray:
        """Score a block in given row orders, shape (n_schemes, n_estimators, n_permutations)."""
        return np.array(
            [[_score(scorer, block, order) for scorer in self.scorers] for order in rows]
        )


def _rows(sampler: PermutationSampler, stream_key: tuple[int, ...], permutations: range) -> Any:
    if permutations.start > 0 or isinstance(sampler, Permutations):
        return sampler(stream_key, permutations)
    rows = sampler(stream_key, range(1, permutations.stop))
    observed = np.arange(rows.shape[1], dtype=np.int32)[np.newaxis]
    return np.concatenate([observed, rows])


def _score_together(scorer: Scorer, blocks: Sequence[Block], rows: Any) -> FloatArray:
    """Score several blocks at once if the estimator can, else one after the other."""
    if hasattr(scorer, "score_together"):
        return np.asarray(scorer.score_together(blocks, np.asarray(rows)))
    return np.stack([_score(scorer, block, rows) for block in blocks])


def _score(scorer: Scorer, block: Block, rows: Any) -> FloatArray:
    on_device = isinstance(scorer, CudaScorer)
    return scorer.score(Batch.of_permutations(block, rows if on_device else np.asarray(rows)))
