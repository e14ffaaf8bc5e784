"""The inquiry: what stays the same over all steps of a selection, and how a question is bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed

from pidselect.data import Block, FloatArray, IntArray
from pidselect.estimators import MAX_MEMORY, Batch, Estimator, Scorer
from pidselect.estimators.cuda.scorer import CudaScorer, Permutations, bind_on, cuda, cut_draws
from pidselect.selection.executor import DRAWS_AT_ONCE, run, split
from pidselect.selection.pool import Feature
from pidselect.significance import SURROGATES, Shuffle
from pidselect.significance.standardize import PILOT_DRAWS, NullStandardizer

if TYPE_CHECKING:
    from pidselect.selection.callbacks import CallbackList
    from pidselect.selection.checkpoint import Journal
    from pidselect.selection.result import Step

#: What the row orders of some draws may take; there are more of them in a task where they are many.
ROW_BYTES = 2**26

#: What a task may take where somebody watches, in samples times values, so that there is something
#: to be seen every few seconds.
WATCHED_WORK = 2**21


@dataclass(frozen=True, eq=False)
class NamedEstimator:
    """An estimator and what it is called in the record."""

    name: str
    estimator: Estimator

    @property
    def chi2_null(self) -> bool:
        """Whether its values have a long tail where there is no information."""
        return bool(getattr(self.estimator, "chi2_null", False))

    @property
    def uses_ranks_only(self) -> bool:
        """Whether columns of the same ranks are all the same to it."""
        return bool(getattr(self.estimator, "uses_ranks_only", False))


@dataclass(frozen=True, eq=False)
class SelectionContext:
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
    shared_permutations : bool
        Whether all candidates are rearranged alike in a draw.
    groups : array of int, optional
        The group of every row.
    seed, n_jobs, max_memory, device
        See `PIDSelector`.
    watch : Watch, optional
        Who is told of what is computed and decided.
    journal : Journal, optional
        What is known already, and where to write it down.
    """

    target: Block
    members: tuple[NamedEstimator, ...]
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
    watch: CallbackList | None = None
    journal: Journal | None = None

    @property
    def n_pilot(self) -> int:
        """The draws that fix a centre and a scale, before those of the test."""
        return PILOT_DRAWS if self.is_portfolio else 0

    @property
    def unit(self) -> str:
        """What candidates are compared in: bits, or standard deviations of their surrogates."""
        return "sd" if self.is_portfolio else "bit"

    def standard(self, pilot: FloatArray) -> NullStandardizer | None:
        """Return what makes values of a portfolio comparable, by pilot draws; None for bits."""
        if not self.is_portfolio:
            return None
        return NullStandardizer.of(pilot, [member.chi2_null for member in self.members])

    def at(self, alpha: float) -> SelectionContext:
        """Return the same inquiry at another level."""
        return replace(self, alpha=alpha)

    def schemes(self, given: Sequence[Feature]) -> tuple[str, ...]:
        """Return the schemes that tell something new: with nothing given, "local" is "global"."""
        if any(len(feature.block) for feature in given) or "global" not in self.surrogates:
            return self.surrogates
        return tuple(scheme for scheme in self.surrogates if scheme != "local")

    def bind(
        self, given: Sequence[Feature], schemes: Sequence[str] | None = None, share: int = 1
    ) -> BoundScorers:
        """Prepare to score candidates given these features, with its share of the memory."""
        block = Block(tuple(column for feature in given for column in feature.block.columns))
        memory = max(1, self.max_memory // (share * len(self.members)))
        n_samples = self.target.n_samples
        chosen = self.schemes(given) if schemes is None else schemes
        if self.device == "cuda":
            return self._bind_on_gpu(block, chosen, memory, share)
        return BoundScorers(
            scorers=tuple(
                member.estimator.bind(self.target, block, max_memory=memory)
                for member in self.members
            ),
            shuffles=tuple(SURROGATES[scheme](block, n_samples, self.groups) for scheme in chosen),
        )

    def _bind_on_gpu(
        self, block: Block, schemes: Sequence[str], memory: int, share: int
    ) -> BoundScorers:
        """Bind what has a kernel on the GPU, and draw there what can be drawn there."""
        gpu, n_samples = cuda(), self.target.n_samples
        is_plain = self.groups is None
        return BoundScorers(
            scorers=tuple(
                bind_on(gpu, member.estimator, self.target, block, memory, share)
                for member in self.members
            ),
            shuffles=tuple(
                Permutations(gpu, n_samples)
                if scheme == "global" and is_plain
                else SURROGATES[scheme](block, n_samples, self.groups)
                for scheme in schemes
            ),
        )

    def on_step(self, step: Step) -> Step:
        """Return a step that is decided, and tell whoever watches."""
        if self.watch is not None:
            self.watch.on_step(step)
        return step

    def run(
        self, function: Callable[..., Any], common: Any, tasks: Sequence[tuple[Any, ...]]
    ) -> Iterable[Any]:
        """Return ``function(common, *task)`` of every task, one by one where that is of use."""
        in_turn = self.watch is not None or self.journal is not None
        if self.device != "cpu":  # no other process can use what is bound on a device
            how = "generator" if in_turn else "list"
            calls = (delayed(function)(common, *task) for task in tasks)
            return Parallel(self.n_jobs, require="sharedmem", return_as=how)(calls)
        return run(function, common, tasks, self.n_jobs, in_turn=in_turn)

    def split(self, draws: range, n_parts: int, n_together: int = 1) -> list[range]:
        """Cut the draws of each of several parts of the work into tasks.

        Parameters
        ----------
        draws : range
        n_parts : int
        n_together : int
            Of how many candidates a task is. Where somebody watches, tasks of many are shorter; no
            cut shows in the result.
        """
        n_samples = self.target.n_samples
        if self.device != "cpu":
            return cut_draws(draws, n_samples)
        ranges = split(draws, n_samples, n_parts, self.n_jobs)
        if self.watch is None:
            return ranges
        n_batches = WATCHED_WORK // (n_samples * n_together * DRAWS_AT_ONCE)
        size = DRAWS_AT_ONCE * max(1, n_batches)
        return [
            some[start : start + size] for some in ranges for start in range(0, len(some), size)
        ]


@dataclass(frozen=True, eq=False)
class BoundScorers:
    """Estimators that have seen the target and the given, and schemes that have seen the given."""

    scorers: tuple[Scorer, ...]
    shuffles: tuple[Shuffle, ...]

    def rows(self, stream_key: tuple[int, ...], draws: range) -> list[Any]:
        """Return the row orders of the draws by each scheme; draw 0 is the data as observed."""
        return [_rows(shuffle, stream_key, draws) for shuffle in self.shuffles]

    def score_all(
        self, blocks: Sequence[Block], stream_key: tuple[int, ...], draws: range
    ) -> FloatArray:
        """Score blocks that are rearranged alike, a few draws at a time.

        Returns
        -------
        array, shape (n_schemes, n_blocks, n_members, n_draws), in nats
        """
        shape = (len(self.shuffles), len(blocks), len(self.scorers), len(draws))
        values = np.empty(shape)
        size = max(1, ROW_BYTES // (4 * blocks[0].n_samples))
        for scheme, shuffle in enumerate(self.shuffles):
            some = len(draws) if isinstance(shuffle, Permutations) else size
            for start in range(0, len(draws), some):
                part = slice(start, start + some)
                rows = _rows(shuffle, stream_key, draws[part])
                for member, scorer in enumerate(self.scorers):
                    values[scheme, :, member, part] = _score_together(scorer, blocks, rows)
        return values

    def score(self, block: Block, rows: Sequence[Any]) -> FloatArray:
        """Score a block in rearrangements, shape (n_schemes, n_members, n_draws), in nats."""
        return np.array(
            [[_score(scorer, block, order) for scorer in self.scorers] for order in rows]
        )


def _rows(shuffle: Shuffle, stream_key: tuple[int, ...], draws: range) -> Any:
    if draws.start > 0 or isinstance(shuffle, Permutations):
        return shuffle(stream_key, draws)
    rows = shuffle(stream_key, range(1, draws.stop))
    as_it_is = np.arange(rows.shape[1], dtype=np.int32)[np.newaxis]
    return np.concatenate([as_it_is, rows])


def _score_together(scorer: Scorer, blocks: Sequence[Block], rows: Any) -> FloatArray:
    """Score blocks side by side where an estimator can do that, else one after the other."""
    if hasattr(scorer, "score_together"):
        return np.asarray(scorer.score_together(blocks, np.asarray(rows)))
    return np.stack([_score(scorer, block, rows) for block in blocks])


def _score(scorer: Scorer, block: Block, rows: Any) -> FloatArray:
    on_device = isinstance(scorer, CudaScorer)
    return scorer.score(Batch(block, rows if on_device else np.asarray(rows)))
