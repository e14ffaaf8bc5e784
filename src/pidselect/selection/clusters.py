"""Dask and Ray clusters, addressed directly where joblib's context names one.

What all tasks have in common, which may be a gigabyte of sorted neighbours, is sent once to every
worker, and a task is a few bytes. Joblib 1.6 sends the common part again with every call, waits
forever for a task that killed its workers (Dask), or leaves its own process pool modified (Ray).
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

#: Seconds after which it is checked whether a Dask cluster still has workers.
WORKER_TIMEOUT = 10.0

#: How often Ray gives a task to another worker; Dask's scheduler has its own setting.
RETRIES = 3

WORKER_ENDED = (
    "A worker process ended before its task was done, and no other worker could do it. Operating "
    "systems end processes when memory runs out: use fewer workers per machine, or a smaller "
    "max_memory or max_samples. The logs of the workers show the cause."
)

Function = Callable[..., Any]
Tasks = Sequence[tuple[Any, ...]]

#: Objects that the workers of a cluster hold, with the cluster and the handle of each.
Sent = MutableMapping[Any, tuple[Any, Any]]


class WorkerLostError(Exception):
    """Data or results were lost with a worker; a second attempt may succeed."""


def _send(common: Any, cluster: Any, sent: Sent, send: Callable[[], Any]) -> Any:
    """Return the handle of an object on the cluster, which is sent at the first call only."""
    if common not in sent or sent[common][0] != cluster:
        sent[common] = cluster, send()
    return sent[common][1]


# --- Dask ---------------------------------------------------------------------------------------


def _run_on_dask(
    backend: Any, function: Function, common: Any, tasks: Tasks, n_jobs: int | None, sent: Sent
) -> Iterator[Any]:
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    client, futures = backend.client, []
    try:
        _wait_for_dask_workers(backend)
        # Broadcast: a worker that dies must not hold the only copy.
        handle = _send(
            common, client.id, sent, lambda: client.scatter(common, broadcast=True, hash=False)
        )
        futures = client.map(_run_task, tasks, function=function, common=handle, pure=False)
        for future in futures:
            yield _wait_for_result(future, backend)
    except KilledWorker as error:
        client.cancel(futures)
        raise RuntimeError(WORKER_ENDED) from error
    except CancelledError as error:
        sent.pop(common, None)
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


@dataclass(frozen=True)
class _Stored:
    """An object in Ray's store; a worker gives up the reference once it has a copy."""

    name: str
    references: list[Any] = field(compare=False)


def _run_on_ray(
    backend: Any, function: Function, common: Any, tasks: Tasks, n_jobs: int | None, sent: Sent
) -> Iterator[Any]:
    import ray
    from ray.exceptions import ObjectLostError, RayError, RayTaskError

    max_running = _count_on_ray(backend, n_jobs)
    queue: deque[Any] = deque()
    running: list[Any] = []
    try:
        cluster = ray.get_runtime_context().get_worker_id()
        reference = _send(common, cluster, sent, lambda: ray.put(common))
        remote = _remote_task().options(**(backend.ray_remote_args or {}))
        for task in tasks:
            if len(running) == max_running:
                _, running = ray.wait(running)
            queue.append(remote.remote(task, function, _Stored(reference.hex(), [reference])))
            running.append(queue[-1])
            while queue[0] not in running:
                yield ray.get(queue.popleft())
        while queue:
            yield ray.get(queue.popleft())
    except ObjectLostError as error:
        sent.pop(common, None)
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


def _run_ray_task(task: tuple[Any, ...], function: Function, stored: _Stored) -> Any:
    return function(_own_copy(stored), *task)


@lru_cache(maxsize=1)  # the tasks of a worker mostly have the same common part
def _own_copy(stored: _Stored) -> Any:
    """Copy an object, as Ray's memory is read-only, for which kernels would be compiled again."""
    import ray

    return copy.deepcopy(ray.get(stored.references.pop()))


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

    run: Callable[[Any, Function, Any, Tasks, int | None, Sent], Iterator[Any]]
    count: Callable[[Any, int | None], int]
    is_worker: Callable[[], bool]


#: Clusters by the class name of joblib's backend.
CLUSTERS = {
    "DaskDistributedBackend": Cluster(
        _run_on_dask, lambda backend, n_jobs: int(backend.effective_n_jobs(n_jobs)), _is_dask_worker
    ),
    "RayBackend": Cluster(_run_on_ray, _count_on_ray, lambda: False),
}
