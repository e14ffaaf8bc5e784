"""Workers: how the work of a step is cut into tasks, and who does them."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError
from joblib.parallel import get_active_backend

from pidselect.selection.clusters import CLUSTERS, ENDED, LostError

#: Numbers in the row orders of one task; with it, the memory and the patience a task needs.
TASK_SIZE = 2**22

#: Draws of a task come in multiples of what a kernel serves side by side.
DRAWS_AT_ONCE = 16

#: Tasks that keep a worker busy to the end, however unlike they are.
TASKS_PER_WORKER = 4

logger = logging.getLogger("pidselect")


def run(
    function: Callable[..., Any],
    common: Any,
    tasks: Sequence[tuple[Any, ...]],
    n_jobs: int | None,
    in_turn: bool = False,
) -> Iterator[Any]:
    """Yield ``function(common, *task)`` of every task, in the order of the tasks.

    If workers end before their time, what is missing is tried once more.

    Parameters
    ----------
    function : callable
        Known by its name to any process that imports it, and pure.
    common : object
        What all tasks need, and the bulk of what they are given. A cluster keeps it for as long as
        this very object lives.
    tasks : sequence of tuples
    n_jobs : int, optional
        As joblib takes it, whose context says where tasks run; on a cluster None stands for all.
    in_turn : bool
        Whether results are wanted as soon as they are there, where joblib's backend can do that.

    Examples
    --------
    >>> list(run(pow, 2, [(3,), (4,)], n_jobs=2))
    [8, 16]
    """
    n_done = 0
    for is_last in (False, True):
        try:
            for result in _start(function, common, tasks[n_done:], n_jobs, in_turn):
                yield result
                n_done += 1
        except (LostError, TerminatedWorkerError) as error:
            if is_last:
                raise RuntimeError(ENDED) from error
            logger.warning("A worker process ended; what it was at is done once more.")
        else:
            return


def _start(
    function: Callable[..., Any],
    common: Any,
    tasks: Sequence[tuple[Any, ...]],
    n_jobs: int | None,
    in_turn: bool,
) -> Iterable[Any]:
    """Give the tasks to whoever joblib's context names."""
    backend, n_jobs = _context(n_jobs)
    cluster = CLUSTERS.get(type(backend).__name__)
    if cluster is not None:
        if n_jobs == 1 or cluster.is_inside():
            return (function(common, *task) for task in tasks)
        return cluster.run(backend, function, common, tasks, n_jobs)
    # Copies are made where one writes, which no task does: arrays that processes share are then of
    # the same type as all others, and kernels need not be compiled for a second one.
    return Parallel(
        n_jobs=n_jobs,
        backend=serving(backend),
        prefer="threads",
        mmap_mode="c",
        return_as="generator" if in_turn and backend.supports_return_generator else "list",
    )(delayed(function)(common, *task) for task in tasks)


def serving(backend: Any) -> str | None:
    """Return the backend to name to joblib, where the one of its context will not do.

    Processes forked beside running threads may wait for each other for ever; those of loky are
    started clean, and tell if one of them ends.
    """
    return "loky" if type(backend).__name__ == "MultiprocessingBackend" else None


def abandon(results: Iterable[Any]) -> None:
    """End what nobody waits for any more, without joblib's warnings of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(results, "close", lambda: None)()


def count_workers(n_jobs: int | None) -> int:
    """Return how many tasks run at a time.

    Examples
    --------
    >>> count_workers(None), count_workers(2)
    (1, 2)
    """
    backend, n_jobs = _context(n_jobs)
    cluster = CLUSTERS.get(type(backend).__name__)
    if cluster is None:
        return int(backend.effective_n_jobs(n_jobs))
    return 1 if n_jobs == 1 or cluster.is_inside() else cluster.count(backend, n_jobs)


def _context(n_jobs: int | None) -> tuple[Any, int | None]:
    """Return joblib's backend, and the number of jobs as it is set here or there."""
    backend, _ = get_active_backend(prefer="threads")
    _, set_there = get_active_backend()  # where threads are only preferred, it would say 1 above
    return backend, set_there if n_jobs is None else n_jobs


def split(draws: range, n_samples: int, n_parts: int, n_jobs: int | None) -> list[range]:
    """Cut the draws of each of several parts of the work into tasks.

    No cut shows in the result; a task is small enough for memory, and there are enough of them to
    keep all workers busy.
    """
    size = max(1, TASK_SIZE // n_samples)
    wanted = TASKS_PER_WORKER * count_workers(n_jobs)
    if n_parts < wanted:
        size = min(size, -(-len(draws) * n_parts // wanted))
    size = max(1, -(-size // DRAWS_AT_ONCE)) * DRAWS_AT_ONCE
    return [
        range(start, min(start + size, draws.stop))
        for start in range(draws.start, draws.stop, size)
    ]
