"""Executor: splits the work of a step into tasks and runs them on threads, processes or a cluster.

Joblib's context names the backend. On Dask and Ray, what all tasks have in common, which may be a
gigabyte of sorted neighbours, is sent once to every worker, and a task is a few bytes. The cluster
is then addressed directly: joblib 1.6 sends the common part again with every call, waits forever
for a task that killed its workers (Dask), or leaves its own process pool modified (Ray).
"""

from __future__ import annotations

import copy
import logging
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError
from joblib.parallel import get_active_backend

#: Row indices in the permutations of one task, which bound its memory and its time.
TASK_SIZE = 2**22

#: Permutations of a task come in multiples of what a kernel processes side by side.
PERMUTATION_BATCH = 16

#: Tasks per worker that keep all workers busy although tasks differ in length.
TASKS_PER_WORKER = 4

#: Seconds after which it is checked whether a Dask cluster still has workers.
WORKER_TIMEOUT = 10.0

#: How often Ray gives a task to another worker; Dask's scheduler has its own setting.
RETRIES = 3

WORKER_ENDED = (
    "A worker process ended before its task was done, and no other worker could do it. Operating "
    "systems end processes when memory runs out: use fewer workers per machine, or a smaller "
    "max_memory or max_samples. The logs of the workers show the cause."
)

logger = logging.getLogger("pidselect")

Function = Callable[..., Any]
Tasks = Sequence[tuple[Any, ...]]


class WorkerLostError(Exception):
    """Data or results were lost with a worker; a second attempt may succeed."""


# --- any backend --------------------------------------------------------------------------------


def run_tasks(
    function: Function, common: Any, tasks: Tasks, n_jobs: int | None, stream: bool = False
) -> Iterator[Any]:
    """Yield ``function(common, *task)`` for every task, in the order of the tasks.

    If workers end early, the missing tasks are run once more.

    Parameters
    ----------
    function : callable
        Pure, and importable by its name in any process.
    common : object
        What all tasks need; a cluster keeps it for the lifetime of this object.
    tasks : sequence of tuples
    n_jobs : int, optional
        As in joblib, whose context selects the backend; None means all workers of a cluster.
    stream : bool
        Whether to yield results as soon as they are available, if the backend supports it.

    Examples
    --------
    >>> list(run_tasks(pow, 2, [(3,), (4,)], n_jobs=2))
    [8, 16]
    """
    n_done = 0
    for is_last in (False, True):
        try:
            for result in _submit(function, common, tasks[n_done:], n_jobs, stream):
                yield result
                n_done += 1
        except (WorkerLostError, TerminatedWorkerError) as error:
            if is_last:
                raise RuntimeError(WORKER_ENDED) from error
            logger.warning("A worker process ended; its tasks are run once more.")
        else:
            return


def _submit(
    function: Function, common: Any, tasks: Tasks, n_jobs: int | None, stream: bool
) -> Iterable[Any]:
    backend, n_jobs = _active_backend(n_jobs)
    cluster = CLUSTERS.get(type(backend).__name__)
    if cluster is not None:
        if n_jobs == 1 or cluster.is_worker():
            return (function(common, *task) for task in tasks)
        return cluster.run(backend, function, common, tasks, n_jobs)
    # Processes forked beside running threads may deadlock, which loky's never do.
    is_forked = type(backend).__name__ == "MultiprocessingBackend"
    return Parallel(
        n_jobs=n_jobs,
        backend="loky" if is_forked else None,
        prefer="threads",
        # Copy on write: arrays shared between processes are then writeable, so that kernels are
        # not compiled a second time for read-only arrays.
        mmap_mode="c",
        return_as="generator" if stream and backend.supports_return_generator else "list",
    )(delayed(function)(common, *task) for task in tasks)


def discard(results: Iterable[Any]) -> None:
    """End tasks whose results are no longer needed, without joblib's warnings."""
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
    backend, n_jobs = _active_backend(n_jobs)
    cluster = CLUSTERS.get(type(backend).__name__)
    if cluster is None:
        return int(backend.effective_n_jobs(n_jobs))
    return 1 if n_jobs == 1 or cluster.is_worker() else cluster.count(backend, n_jobs)


def _active_backend(n_jobs: int | None) -> tuple[Any, int | None]:
    """Return joblib's backend, and the number of jobs given here or in joblib's context."""
    backend, _ = get_active_backend(prefer="threads")
    _, n_jobs_of_context = get_active_backend()  # with prefer="threads" it would be 1
    return backend, n_jobs_of_context if n_jobs is None else n_jobs


def split_permutations(
    permutations: range,
    n_samples: int,
    n_parts: int,
    n_jobs: int | None,
    task_size: int = TASK_SIZE,
) -> list[range]:
    """Split the permutations of each of several parts of the work into tasks.

    Tasks are small enough for the memory, and enough to keep all workers busy. Results do not
    depend on the split.
    """
    size = max(1, task_size // n_samples)
    n_wanted = TASKS_PER_WORKER * count_workers(n_jobs)
    if n_parts < n_wanted:
        size = min(size, -(-len(permutations) * n_parts // n_wanted))
    size = max(1, -(-size // PERMUTATION_BATCH)) * PERMUTATION_BATCH
    return [permutations[start : start + size] for start in range(0, len(permutations), size)]


# --- Dask ---------------------------------------------------------------------------------------


def _run_on_dask(
    backend: Any, function: Function, common: Any, tasks: Tasks, n_jobs: int | None
) -> Iterator[Any]:
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    client, futures = backend.client, []
    try:
        _wait_for_dask_workers(backend)
        # Broadcast: a worker that dies must not hold the only copy.
        sent = _send(common, client.id, lambda: client.scatter(common, broadcast=True, hash=False))
        futures = client.map(_run_task, tasks, function=function, common=sent, pure=False)
        for future in futures:
            yield _wait_for_result(future, backend)
    except KilledWorker as error:
        client.cancel(futures)
        raise RuntimeError(WORKER_ENDED) from error
    except CancelledError as error:
        _SENT.pop(common, None)
        raise WorkerLostError(str(error)) from error
    except BaseException:
        client.cancel(futures)
        raise


def _run_task(task: tuple[Any, ...], function: Function, common: Any) -> Any:
    return function(common, *task)


def _wait_for_result(future: Any, backend: Any) -> Any:
    """Wait for a result as long as there are workers."""
    while True:
        try:
            return future.result(timeout=_timeout(backend))
        except TimeoutError:
            if future.done():  # just now, or the task itself raised a TimeoutError
                return future.result()
        _wait_for_dask_workers(backend)


def _wait_for_dask_workers(backend: Any) -> None:
    try:
        backend.client.wait_for_workers(1, timeout=_timeout(backend))
    except TimeoutError as error:
        raise RuntimeError(WORKER_ENDED) from error


def _timeout(backend: Any) -> float:
    return float(backend.wait_for_workers_timeout or WORKER_TIMEOUT)


def _is_dask_worker() -> bool:
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True


# --- Ray ----------------------------------------------------------------------------------------


def _run_on_ray(
    backend: Any, function: Function, common: Any, tasks: Tasks, n_jobs: int | None
) -> Iterator[Any]:
    import ray
    from ray.exceptions import ObjectLostError, RayError, RayTaskError

    max_running = _count_on_ray(backend, n_jobs)
    queue: deque[Any] = deque()
    running: list[Any] = []
    try:
        sent = _send(common, ray.get_runtime_context().get_worker_id(), lambda: ray.put(common))
        remote = _remote_task().options(**(backend.ray_remote_args or {}))
        for task in tasks:
            if len(running) == max_running:
                _, running = ray.wait(running)
            queue.append(remote.remote(task, function, [sent]))
            running.append(queue[-1])
            while queue[0] not in running:
                yield ray.get(queue.popleft())
        while queue:
            yield ray.get(queue.popleft())
    except ObjectLostError as error:
        _SENT.pop(common, None)
        raise WorkerLostError(str(error)) from error
    except RayTaskError as error:
        raise error.cause from error
    except RayError as error:
        raise RuntimeError(WORKER_ENDED) from error
    finally:
        for reference in queue:
            ray.cancel(reference)


def _count_on_ray(backend: Any, n_jobs: int | None) -> int:
    """Return the number of jobs, by default that of all cores."""
    import ray

    if not ray.is_initialized():
        ray.init()
    return int(backend.effective_n_jobs(-1 if n_jobs is None else n_jobs))


#: In a Ray worker: the common part of its last task, by the hexadecimal name of its reference.
_AT_HAND: dict[str, Any] = {}


def _run_ray_task(task: tuple[Any, ...], function: Function, sent: list[Any]) -> Any:
    import ray

    name = sent[0].hex()
    if name not in _AT_HAND:
        _AT_HAND.clear()
        # A copy, as Ray's memory is read-only, for which kernels would be compiled once more.
        _AT_HAND[name] = copy.deepcopy(ray.get(sent[0]))
    return function(_AT_HAND[name], *task)


@lru_cache(maxsize=1)
def _remote_task() -> Any:
    import ray

    return ray.remote(num_cpus=1, max_retries=RETRIES)(_run_ray_task)


# --- both ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cluster:
    """How to use one type of cluster, given joblib's backend.

    `run` yields the results of tasks, `count` is the number of tasks that run at a time, and
    `is_worker` is whether the calling thread runs a task itself, which must not wait for workers.
    """

    run: Callable[[Any, Function, Any, Tasks, int | None], Iterator[Any]]
    count: Callable[[Any, int | None], int]
    is_worker: Callable[[], bool]


#: Clusters by the class name of joblib's backend.
CLUSTERS = {
    "DaskDistributedBackend": Cluster(
        _run_on_dask, lambda backend, n_jobs: int(backend.effective_n_jobs(n_jobs)), _is_dask_worker
    ),
    "RayBackend": Cluster(_run_on_ray, _count_on_ray, lambda: False),
}

#: Objects that the workers of a cluster hold, with the cluster and the handle of each.
_SENT: WeakKeyDictionary[Any, tuple[Any, Any]] = WeakKeyDictionary()


def _send(common: Any, cluster: Any, send: Callable[[], Any]) -> Any:
    """Return the handle of an object on the cluster, which is sent at the first call only."""
    if common in _SENT and _SENT[common][0] == cluster:
        return _SENT[common][1]
    handle = send()
    _SENT[common] = cluster, handle
    return handle
