"""Workers: how the work of a step is cut into tasks, and who does them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

#: Numbers in the row orders of one task; with it, the memory and the patience a task needs.
TASK_SIZE = 2**22

#: Draws of a task come in multiples of what a kernel serves side by side.
DRAWS_AT_ONCE = 16

#: Tasks that keep a worker busy to the end, however unlike they are.
TASKS_PER_WORKER = 4


def run(
    function: Callable[..., Any],
    common: Any,
    tasks: Sequence[tuple[Any, ...]],
    n_jobs: int | None,
    in_turn: bool = False,
) -> Iterable[Any]:
    """Return ``function(common, *task)`` of every task, in the order of the tasks.

    Parameters
    ----------
    function : callable
        Known by its name to any process that imports it.
    common : object
        What all tasks need, and the bulk of what they are given.
    tasks : sequence of tuples
    n_jobs : int, optional
        As joblib takes it, whose context says where tasks run.
    in_turn : bool
        Whether results are wanted as soon as they are there, where joblib's backend can do that.
    """
    calls = [delayed(function)(common, *task) for task in tasks]
    if in_turn:
        with suppress(ValueError):  # such as multiprocessing: results then come all at once
            return Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(calls)
    return Parallel(n_jobs=n_jobs, prefer="threads")(calls)


def split(draws: range, n_samples: int, n_parts: int, n_jobs: int | None) -> list[range]:
    """Cut the draws of each of several parts of the work into tasks.

    No cut shows in the result; a task is small enough for memory, and there are enough of them to
    keep all workers busy.
    """
    size = max(1, TASK_SIZE // n_samples)
    n_workers = effective_n_jobs(n_jobs)
    wanted = TASKS_PER_WORKER * n_workers
    if n_parts < wanted:
        size = min(size, -(-len(draws) * n_parts // wanted))
    size = max(1, -(-size // DRAWS_AT_ONCE)) * DRAWS_AT_ONCE
    return [
        range(start, min(start + size, draws.stop))
        for start in range(draws.start, draws.stop, size)
    ]
