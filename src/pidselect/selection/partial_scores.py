"""Sheets: the values of a question as they come in, and the form in which JSON holds arrays."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from pidselect.data import FloatArray
from pidselect.selection.context import BoundScorers, SelectionContext
from pidselect.selection.executor import TASKS_PER_WORKER, abandon, count_workers

#: What a task may take, in samples times values, so that it is done within about a minute:
#: neighbours take about half a microsecond for each, two estimators and two tests four times that.
WORK = 2**25

#: Candidates of a task are not fewer, as they share the drawing of their surrogates.
FEWEST_TOGETHER = 16

#: A task: which candidates it is about, unless about all of them, and which draws.
Task = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class PartialScores:
    """Values of candidates in draws, of which some may be known already.

    Parameters
    ----------
    values : array, shape (n_tests, n_candidates, n_members, n_draws)
    known : array of bool, shape (n_candidates, n_draws)
    draws : range
        The numbers of the draws.
    """

    values: FloatArray
    known: NDArray[np.bool_]
    draws: range

    @classmethod
    def blank(cls, shape: tuple[int, ...], draws: range) -> PartialScores:
        """Return a sheet of which nothing is known."""
        return cls(np.zeros(shape), np.zeros((shape[1], shape[3]), dtype=bool), draws)

    def fits(self, shape: tuple[int, ...], draws: range) -> bool:
        """Return whether it is about as many candidates and the same draws."""
        return self.values.shape == shape and self.draws == draws

    def knows(self, *task: Any) -> bool:
        """Return whether all values of a task are known."""
        return bool(self.known[self._places(task), self._columns(task)].all())

    def size(self, *task: Any) -> int:
        """Return how many values a task has."""
        return int(self.values[:, self._places(task), :, self._columns(task)].size)

    def put(self, found: FloatArray, *task: Any) -> None:
        """Write down the values of a task."""
        places, columns = self._places(task), self._columns(task)
        self.values[:, places, :, columns] = found
        self.known[places, columns] = True  # last, as an interruption may come between

    def _places(self, task: Task) -> Any:
        return task[0] if len(task) > 1 else slice(None)

    def _columns(self, task: Task) -> slice:
        some = task[-1]
        return slice(some.start - self.draws.start, some.stop - self.draws.start)

    def to_dict(self) -> dict[str, Any]:
        r"""Return what is known, ready for JSON.

        Examples
        --------
        >>> sheet = Sheet.blank((1, 2, 1, 3), range(5, 8))
        >>> sheet.put(np.array([[[[0.5, -0.0]]]]), [1], range(6, 8))
        >>> again = Sheet.from_dict(sheet.to_dict())
        >>> again.known
        array([[False, False, False],
               [False,  True,  True]])
        >>> again.values[0, 1]
        array([[ 0. ,  0.5, -0. ]])
        """
        return {
            "shape": list(self.values.shape),
            "draws": [self.draws.start, self.draws.stop],
            "known": encode(np.packbits(self.known)),
            "values": encode(self.values.transpose(1, 3, 0, 2)[self.known]),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> PartialScores:
        """Return the sheet of which `to_dict` has told."""
        sheet = cls.blank(tuple(stored["shape"]), range(*stored["draws"]))
        bits = np.unpackbits(decode(stored["known"]), count=sheet.known.size)
        sheet.known[:] = bits.reshape(sheet.known.shape)
        sheet.values.transpose(1, 3, 0, 2)[sheet.known] = decode(stored["values"])
        return sheet


def encode(array: NDArray[Any]) -> dict[str, Any]:
    """Return an array, to the bit, in a form that JSON can hold.

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
    """Return the array that `encode` was given."""
    dtype = np.dtype(stored["dtype"])
    array = np.frombuffer(b64decode(stored["bytes"]), dtype=dtype).reshape(stored["shape"])
    return array.astype(dtype.newbyteorder("="))  # a copy, as that of the text is read-only


class LazyScorer:
    """Estimators to be bound when they are needed: where all values are known, they never are.

    Parameters
    ----------
    bind : callable
        Returns what is bound.
    """

    def __init__(self, bind: Callable[[], BoundScorers]) -> None:
        self._bind = bind

    @cached_property
    def bound(self) -> BoundScorers:
        """What is bound; made by whoever asks first."""
        return self._bind()

    def anew(self) -> LazyScorer:
        """Return the same, but not bound."""
        return LazyScorer(self._bind)

    def ready(self) -> LazyScorer:
        """Bind now, before work is shared out: else every worker would."""
        _ = self.bound
        return self

    def __getstate__(self) -> dict[str, BoundScorers]:
        return {"bound": self.bound}  # how to bind stays here, with all that it holds


def get_ready(context: SelectionContext, pending: Sequence[LazyScorer]) -> tuple[LazyScorer, ...]:
    """Bind all that is to be bound, several at a time where there are threads for it."""
    n_threads = 1 if context.device != "cpu" else effective_n_jobs(context.n_jobs)
    with ThreadPoolExecutor(max(1, min(n_threads, len(pending)))) as threads:
        return tuple(threads.map(LazyScorer.ready, pending))


def fill(
    context: SelectionContext,
    shape: tuple[int, ...],
    tasks: Sequence[Task],
    draws: range,
    function: Callable[..., FloatArray],
    common: Callable[[], Any],
) -> FloatArray:
    """Return the values of a question, of which only those not known yet are computed.

    Parameters
    ----------
    inquiry : Inquiry
    shape : tuple of int
        (n_tests, n_candidates, n_members, n_draws)
    tasks : sequence of tuples
        The places of some candidates and a range of draws, or the range alone for all candidates.
    draws : range
        All of them.
    function : callable
        ``function(common(), *task)`` gives the values of a task.
    common : callable
        Gives what all tasks need; not called if there is nothing to do.
    """
    journal = context.journal
    sheet = PartialScores.blank(shape, draws) if journal is None else journal.sheet(shape, draws)
    left = [task for task in tasks if not sheet.knows(*task)]
    if context.watch is not None and len(left) < len(tasks):
        context.watch.on_progress(sheet.values.size - sum(sheet.size(*task) for task in left))
    if not left:
        return sheet.values
    results = context.run(function, common(), left)
    try:
        for task, found in zip(left, results, strict=True):
            sheet.put(found, *task)
            if journal is not None:
                journal.pause()
            if context.watch is not None:
                context.watch.on_progress(found.size)
    except BaseException:
        abandon(results)
        raise
    return sheet.values


def alone(context: SelectionContext) -> SelectionContext:
    """Return the inquiry without what belongs to this process, so that it can be sent elsewhere."""
    return replace(context, watch=None, journal=None)


def cut(context: SelectionContext, n_candidates: int, draws: range) -> list[Task]:
    """Cut the work on candidates that are rearranged alike into tasks.

    A task has all of them, as they share their draws; unless there are too few draws to keep all
    workers busy, or what is known is to be written or told every minute, so that no task may take
    much longer than that.
    """
    ranges = context.split(draws, 1, n_candidates)
    size, n_workers = n_candidates, count_workers(context.n_jobs)
    if n_workers > 1 and len(ranges) < n_workers:
        size = max(1, -(-n_candidates * len(ranges) // (TASKS_PER_WORKER * n_workers)))
    if context.journal is not None or context.watch is not None:
        work = context.target.n_samples * max(map(len, ranges), default=1)
        size = min(size, max(FEWEST_TOGETHER, WORK // work))
    parts = [
        list(range(start, min(start + size, n_candidates)))
        for start in range(0, n_candidates, size)
    ]
    return [(part, some) for some in ranges for part in parts]
