"""Candidate scores: the conditional mutual information of candidates, observed and permuted.

A test needs candidates and, for permutations of any numbers, their values; permutation 0 is the
observed data. `CandidateScores` is that interface. Values are computed task by task, and those
that a checkpoint holds are not computed again (`compute_missing`).
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from pidselect.data import FloatArray
from pidselect.selection.context import BoundScorers, SelectionContext
from pidselect.selection.executor import TASKS_PER_WORKER, count_workers, discard
from pidselect.selection.pool import Feature, Features

#: Conditioning sets of their own that are bound at the same time, each with a part of the memory.
N_CONCURRENT = 4

#: Work of a task, in samples times values, that takes about a minute: neighbour searches take
#: about half a microsecond each, and two estimators and two tests four times as long.
TASK_WORK = 2**25

#: Fewest candidates of a task: they share the generation of their permutations.
FEWEST_CANDIDATES = 16

#: The positions of some candidates and a range of permutations, or the range alone.
Task = tuple[Any, ...]


class CandidateScores(Protocol):
    """Candidates of a test and their values."""

    @property
    def context(self) -> SelectionContext:
        """The context of the selection."""

    @property
    def candidates(self) -> tuple[Feature, ...]:
        """The candidates, in the order of their values."""

    @property
    def schemes(self) -> tuple[str, ...]:
        """The surrogate scheme of each test; all tests must reject."""

    def score(self, permutations: range) -> FloatArray:
        """Return values in nats, shape (n_tests, n_candidates, n_estimators, n_permutations)."""


# --- conditional mutual information -------------------------------------------------------------


class LazyScorer:
    """Estimators that are bound at the first use: never, if all values are known."""

    def __init__(self, bind: Callable[[], BoundScorers]) -> None:
        self._bind = bind

    @cached_property
    def bound(self) -> BoundScorers:
        """The bound estimators."""
        return self._bind()

    def unbound_copy(self) -> LazyScorer:
        """Return a copy that is not bound yet."""
        return LazyScorer(self._bind)

    def bind_now(self) -> LazyScorer:
        """Bind before tasks are distributed: otherwise every worker would."""
        _ = self.bound
        return self

    def __getstate__(self) -> dict[str, BoundScorers]:
        return {"bound": self.bound}  # without the callable and all that it refers to


def bind_all(context: SelectionContext, lazy: Sequence[LazyScorer]) -> tuple[LazyScorer, ...]:
    """Bind several scorers, in as many threads as there are jobs."""
    n_threads = 1 if context.device != "cpu" else effective_n_jobs(context.n_jobs)
    with ThreadPoolExecutor(max(1, min(n_threads, len(lazy)))) as threads:
        return tuple(threads.map(LazyScorer.bind_now, lazy))


@dataclass(frozen=True, eq=False)
class ConditionalMI:
    """I(c; y | S) of each candidate c, with a common conditioning set S or with one for each.

    Parameters
    ----------
    scorers : tuple of LazyScorer
        One for all candidates, or one for each.
    stream_key : tuple of int
        The key of the random stream: the phase and the step.
    n_concurrent : int, optional
        For how many candidates scorers are bound at the same time; None for all.
    """

    context: SelectionContext
    candidates: tuple[Feature, ...]
    schemes: tuple[str, ...]
    scorers: tuple[LazyScorer, ...]
    stream_key: tuple[int, ...]
    n_concurrent: int | None = None

    def score(self, permutations: range) -> FloatArray:
        """Return values in nats, shape (n_tests, n_candidates, n_estimators, n_permutations)."""
        n_candidates = len(self.candidates)
        if self.n_concurrent is not None:
            starts = range(0, n_candidates, self.n_concurrent)
            parts = (slice(start, start + self.n_concurrent) for start in starts)
            return np.concatenate([self._part(part).score(permutations) for part in parts], axis=1)
        if self.context.shared_permutations and len(self.scorers) == 1:
            tasks = make_tasks(self.context, n_candidates, permutations)
        else:
            ranges = self.context.split(permutations, n_candidates)
            tasks = [([place], some) for place in range(n_candidates) for some in ranges]
        return compute_missing(self, tasks, permutations, lambda: self.for_workers)

    def _part(self, places: slice) -> ConditionalMI:
        """Return the scores of some candidates, whose bound scorers are released with it."""
        return replace(
            self,
            candidates=self.candidates[places],
            scorers=tuple(scorer.unbound_copy() for scorer in self.scorers[places]),
            n_concurrent=None,
        )

    @cached_property
    def for_workers(self) -> ConditionalMI:
        """Bound and without what belongs to this process; the same for all batches of a test."""
        return replace(
            self, context=self.context.detached(), scorers=bind_all(self.context, self.scorers)
        )

    def score_task(self, places: Sequence[int], permutations: range) -> FloatArray:
        """Score candidates that are permuted alike."""
        scorer = self.scorers[0 if len(self.scorers) == 1 else places[0]]
        columns = () if self.context.shared_permutations else self.candidates[places[0]].columns
        stream_key = (self.context.seed, *self.stream_key, *columns)
        blocks = [self.candidates[place].block for place in places]
        return scorer.bound.score_all(blocks, stream_key, permutations)


@dataclass(frozen=True, eq=False)
class SubsetIntersection:
    """The same candidates with several conditioning sets: the tests of all of them must reject."""

    scores: tuple[CandidateScores, ...]
    conditioning_sets: tuple[tuple[str, ...], ...]

    @property
    def context(self) -> SelectionContext:
        """The context of the selection."""
        return self.scores[0].context

    @property
    def candidates(self) -> tuple[Feature, ...]:
        """The candidates."""
        return self.scores[0].candidates

    @property
    def schemes(self) -> tuple[str, ...]:
        """The surrogate scheme of each test."""
        return tuple(scheme for scores in self.scores for scheme in scores.schemes)

    @property
    def conditioning_set_of_tests(self) -> tuple[tuple[str, ...], ...]:
        """The conditioning set of each test."""
        pairs = zip(self.scores, self.conditioning_sets, strict=True)
        return tuple(names for scores, names in pairs for _ in scores.schemes)

    def score(self, permutations: range) -> FloatArray:
        """Return the values of all tests."""
        return np.concatenate([scores.score(permutations) for scores in self.scores])


def cmi_given(
    context: SelectionContext,
    candidates: Features,
    given: Features,
    stream_key: tuple[int, ...],
    n_concurrent: int = 1,
) -> ConditionalMI:
    """Return the conditional mutual information of candidates with one conditioning set."""
    scorer = LazyScorer(partial(context.bind, given, n_concurrent=n_concurrent))
    return ConditionalMI(context, tuple(candidates), context.schemes(given), (scorer,), stream_key)


def cmi_given_each(
    context: SelectionContext,
    candidates: Features,
    given: Sequence[Features],
    stream_key: tuple[int, ...],
) -> ConditionalMI:
    """Return the conditional mutual information of candidates, each with its conditioning set."""
    # All take the schemes of the largest set: otherwise tests would differ where some are empty.
    largest = max(given, key=lambda features: sum(len(f.block) for f in features))
    schemes = context.schemes(largest)
    # A fixed number of permutations is computed at once, so that candidates can be processed a few
    # at a time, each with more memory. The number must not depend on the workers: a checkpoint
    # would, too.
    n_concurrent = None if context.n_permutations is None else min(len(given), N_CONCURRENT)
    scorers = tuple(
        LazyScorer(partial(context.bind, features, schemes, n_concurrent or len(given)))
        for features in given
    )
    return ConditionalMI(context, tuple(candidates), schemes, scorers, stream_key, n_concurrent)


# --- tasks and partial scores -------------------------------------------------------------------


def make_tasks(context: SelectionContext, n_candidates: int, permutations: range) -> list[Task]:
    """Split the scoring of candidates that are permuted alike into tasks.

    A task has all candidates, as they share their permutations; fewer if there are too few
    permutations to keep all workers busy, or if progress is reported or saved every minute.
    """
    ranges = context.split(permutations, 1, n_candidates)
    size, n_workers = n_candidates, count_workers(context.n_jobs)
    if n_workers > 1 and len(ranges) < n_workers:
        size = max(1, -(-n_candidates * len(ranges) // (TASKS_PER_WORKER * n_workers)))
    if context.journal is not None or context.callbacks is not None:
        work = context.target.n_samples * max(map(len, ranges), default=1)
        size = min(size, max(FEWEST_CANDIDATES, TASK_WORK // work))
    parts = [
        list(range(start, min(start + size, n_candidates)))
        for start in range(0, n_candidates, size)
    ]
    return [(part, some) for some in ranges for part in parts]


def compute_missing(
    candidate_scores: CandidateScores,
    tasks: Sequence[Task],
    permutations: range,
    for_workers: Callable[[], Any],
) -> FloatArray:
    """Return the values of all tasks; those that the checkpoint holds are not computed again.

    `for_workers` returns what workers receive, an object with ``score_task(*task)``; it is not
    called if no value is missing.
    """
    context = candidate_scores.context
    journal, callbacks = context.journal, context.callbacks
    n_tests, n_candidates = len(candidate_scores.schemes), len(candidate_scores.candidates)
    shape = (n_tests, n_candidates, len(context.estimators), len(permutations))
    scores = (
        PartialScores.empty(shape, permutations)
        if journal is None
        else journal.partial_scores(shape, permutations)
    )
    missing = [task for task in tasks if not scores.has(*task)]
    if callbacks is not None and len(missing) < len(tasks):
        callbacks.on_progress(scores.values.size - sum(scores.size(*task) for task in missing))
    if not missing:
        return scores.values
    results = context.run(_score_task, for_workers(), missing)
    try:
        for task, values in zip(missing, results, strict=True):
            scores.put(values, *task)
            if journal is not None:
                journal.write_if_due()
            if callbacks is not None:
                callbacks.on_progress(values.size)
    except BaseException:
        discard(results)
        raise
    return scores.values


def _score_task(scorer: Any, *task: Any) -> FloatArray:
    return np.asarray(scorer.score_task(*task))


@dataclass(frozen=True, eq=False)
class PartialScores:
    """Values of candidates, of which some may not be computed yet.

    Parameters
    ----------
    values : array, shape (n_tests, n_candidates, n_estimators, n_permutations)
    computed : array of bool, shape (n_candidates, n_permutations)
    permutations : range
    """

    values: FloatArray
    computed: NDArray[np.bool_]
    permutations: range

    @classmethod
    def empty(cls, shape: tuple[int, ...], permutations: range) -> PartialScores:
        """Return scores of which none is computed."""
        return cls(np.zeros(shape), np.zeros((shape[1], shape[3]), dtype=bool), permutations)

    def fits(self, shape: tuple[int, ...], permutations: range) -> bool:
        """Return whether shape and permutations are these."""
        return self.values.shape == shape and self.permutations == permutations

    def has(self, *task: Any) -> bool:
        """Return whether all values of a task are computed."""
        return bool(self.computed[self._places(task), self._columns(task)].all())

    def size(self, *task: Any) -> int:
        """Return the number of values of a task."""
        return int(self.values[:, self._places(task), :, self._columns(task)].size)

    def put(self, values: FloatArray, *task: Any) -> None:
        """Store the values of a task."""
        places, columns = self._places(task), self._columns(task)
        self.values[:, places, :, columns] = values
        self.computed[places, columns] = True  # last, as an interrupt may come in between

    def _places(self, task: Task) -> Any:
        return task[0] if len(task) > 1 else slice(None)

    def _columns(self, task: Task) -> slice:
        first = self.permutations.start
        return slice(task[-1].start - first, task[-1].stop - first)

    def to_dict(self) -> dict[str, Any]:
        """Return the computed values as plain types, for JSON.

        Examples
        --------
        >>> scores = PartialScores.empty((1, 2, 1, 3), range(5, 8))
        >>> scores.put(np.array([[[[0.5, -0.0]]]]), [1], range(6, 8))
        >>> again = PartialScores.from_dict(scores.to_dict())
        >>> again.computed
        array([[False, False, False],
               [False,  True,  True]])
        >>> again.values[0, 1]
        array([[ 0. ,  0.5, -0. ]])
        """
        return {
            "shape": list(self.values.shape),
            "permutations": [self.permutations.start, self.permutations.stop],
            "computed": encode(np.packbits(self.computed)),
            "values": encode(self.values.transpose(1, 3, 0, 2)[self.computed]),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> PartialScores:
        """Return the scores that `to_dict` has stored."""
        scores = cls.empty(tuple(stored["shape"]), range(*stored["permutations"]))
        bits = np.unpackbits(decode(stored["computed"]), count=scores.computed.size)
        scores.computed[:] = bits.reshape(scores.computed.shape)
        scores.values.transpose(1, 3, 0, 2)[scores.computed] = decode(stored["values"])
        return scores


def encode(array: NDArray[Any]) -> dict[str, Any]:
    """Return an array, exact to the bit, as plain types for JSON.

    Examples
    --------
    >>> encode(np.array([1.0, np.nan]))
    {'dtype': '<f8', 'shape': [2], 'bytes': 'AAAAAAAA8D8AAAAAAAD4fw=='}
    """
    dtype = array.dtype.newbyteorder("<")
    return {
        "dtype": dtype.str,
        "shape": list(array.shape),
        "bytes": b64encode(np.ascontiguousarray(array, dtype=dtype).data).decode("ascii"),
    }


def decode(stored: Mapping[str, Any]) -> NDArray[Any]:
    """Return the array that `encode` has stored."""
    dtype = np.dtype(stored["dtype"])
    array = np.frombuffer(b64decode(stored["bytes"]), dtype=dtype).reshape(stored["shape"])
    return array.astype(dtype.newbyteorder("="))  # a copy, as that of the buffer is read-only
