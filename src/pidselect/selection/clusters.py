"""Clusters: the tasks of a step on the workers of Dask or Ray that joblib's context names.

A step sends two things: what all its tasks have in common, which may be a gigabyte of sorted
neighbours, once to every worker, and tasks of a few bytes. Joblib only says which cluster it is;
the cluster itself is asked to do the work. What goes through joblib 1.6 is sent anew with every
call, waits for ever for a task that killed its workers (Dask), or leaves joblib's own pool of
processes changed for the rest of the program (Ray).
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

#: Seconds after which it is asked whether there still is any worker.
PATIENCE = 10.0

#: How often Ray gives a task to another worker; Dask's scheduler has a setting of its own for it.
RETRIES = 3

ENDED = (
    "A worker process ended before its task was done, and no other could do it. Systems end "
    "processes when memory runs out: fewer workers on a machine, a smaller max_memory or "
    "max_samples take less of it. See the logs of the workers for the cause, then fit again."
)

Work = Callable[..., Any]
Tasks = Sequence[tuple[Any, ...]]


class LostError(Exception):
    """What was sent or computed went with a worker; a second try may well succeed."""


@dataclass(frozen=True)
class Cluster:
    """A kind of cluster, by what can be asked of it.

    Parameters
    ----------
    run : callable
        (backend, function, common, tasks, n_jobs) -> ``function(common, *task)`` of every task, in
        their order; `backend` is joblib's, which knows the cluster.
    count : callable
        (backend, n_jobs) -> how many tasks run at a time.
    is_inside : callable
        () -> whether this very thread is at a task for which more workers must not be waited for.
    """

    run: Callable[[Any, Work, Any, Tasks, int | None], Iterator[Any]]
    count: Callable[[Any, int | None], int]
    is_inside: Callable[[], bool]


# --- Dask ---------------------------------------------------------------------------------------


def _run_on_dask(
    backend: Any, function: Work, common: Any, tasks: Tasks, n_jobs: int | None
) -> Iterator[Any]:
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    client, futures = backend.client, []
    try:
        _wait_for_workers(backend)
        # Given to all at once: a worker that dies must not take the only copy with it.
        sent = _send(common, client.id, lambda: client.scatter(common, broadcast=True, hash=False))
        futures = client.map(_work, tasks, function=function, common=sent, pure=False)
        for future in futures:
            yield _wait(future, backend)
    except KilledWorker as error:
        client.cancel(futures)
        raise RuntimeError(ENDED) from error
    except CancelledError as error:
        _SENT.pop(common, None)
        raise LostError(str(error)) from error
    except BaseException:  # nobody wants the rest any more
        client.cancel(futures)
        raise


def _count_on_dask(backend: Any, n_jobs: int | None) -> int:
    """Return the number of its threads; as joblib has it, Dask always works with all of them."""
    return int(backend.effective_n_jobs(n_jobs))


def _is_in_dask() -> bool:
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True


def _work(task: tuple[Any, ...], function: Work, common: Any) -> Any:
    return function(common, *task)


def _wait(future: Any, backend: Any) -> Any:
    """Wait for a result as long as anybody may still compute it."""
    while True:
        try:
            return future.result(timeout=PATIENCE)
        except TimeoutError:
            if future.done():  # just now; or the task itself took too long for something
                return future.result()
        _wait_for_workers(backend)


def _wait_for_workers(backend: Any) -> None:
    """See that there is any worker, or that one comes soon."""
    seconds = backend.wait_for_workers_timeout or PATIENCE
    try:
        backend.client.wait_for_workers(1, timeout=seconds)
    except TimeoutError as error:
        raise RuntimeError(ENDED) from error


# --- Ray ----------------------------------------------------------------------------------------


def _run_on_ray(
    backend: Any, function: Work, common: Any, tasks: Tasks, n_jobs: int | None
) -> Iterator[Any]:
    import ray
    from ray.exceptions import ObjectLostError, RayError, RayTaskError

    most = _count_on_ray(backend, n_jobs)
    queue: deque[Any] = deque()
    running: list[Any] = []
    try:
        sent = _send(common, ray.get_runtime_context().get_worker_id(), lambda: ray.put(common))
        work = _remote_work().options(**(backend.ray_remote_args or {}))
        for task in tasks:
            if len(running) == most:
                _, running = ray.wait(running)
            queue.append(work.remote(task, function, [sent]))
            running.append(queue[-1])
            while queue[0] not in running:
                yield ray.get(queue.popleft())
        while queue:
            yield ray.get(queue.popleft())
    except ObjectLostError as error:
        _SENT.pop(common, None)
        raise LostError(str(error)) from error
    except RayTaskError as error:
        raise error.cause from error
    except RayError as error:
        raise RuntimeError(ENDED) from error
    finally:
        for reference in queue:  # nobody wants the rest any more
            ray.cancel(reference)


def _count_on_ray(backend: Any, n_jobs: int | None) -> int:
    """Return the number of jobs; that of all cores unless told otherwise."""
    import ray

    if not ray.is_initialized():
        ray.init()
    return int(backend.effective_n_jobs(-1 if n_jobs is None else n_jobs))


#: In a worker of Ray: what its last task had in common with others, by the name of its handle.
_AT_HAND: dict[str, Any] = {}


def _work_at_hand(task: tuple[Any, ...], function: Work, sent: list[Any]) -> Any:
    """Do a task with what may be here from the task before."""
    import ray

    name = sent[0].hex()
    if name not in _AT_HAND:
        _AT_HAND.clear()
        # Ray's memory is read-only, for which kernels would have to be compiled once more.
        _AT_HAND[name] = copy.deepcopy(ray.get(sent[0]))
    return function(_AT_HAND[name], *task)


@lru_cache(maxsize=1)
def _remote_work() -> Any:
    import ray

    return ray.remote(num_cpus=1, max_retries=RETRIES)(_work_at_hand)


# --- both ---------------------------------------------------------------------------------------

#: What is with the workers already, and where: it stays there as long as it is needed here, which
#: is for all rounds of a test.
_SENT: WeakKeyDictionary[Any, tuple[Any, Any]] = WeakKeyDictionary()


def _send(common: Any, cluster: Any, send: Callable[[], Any]) -> Any:
    """Return the handle of what is sent, and send it if it is not there yet."""
    if common in _SENT and _SENT[common][0] == cluster:
        return _SENT[common][1]
    handle = send()
    _SENT[common] = cluster, handle
    return handle


CLUSTERS = {
    "DaskDistributedBackend": Cluster(_run_on_dask, _count_on_dask, _is_in_dask),
    "RayBackend": Cluster(_run_on_ray, _count_on_ray, lambda: False),
}
"""The clusters that joblib's backends stand for, by the names of their classes."""
