"""Dask and Ray clusters, addressed directly where joblib's context names one.

What all tasks have in common, which may be a gigabyte of sorted neighbours, is sent once to every
worker. Columns of candidates are sent apart: few of them to every worker, too; those of a wide
table in chunks, each of which one worker keeps for all steps, and computes the tasks of. A task is
a few bytes. Joblib 1.6 sends the common part again with every call, waits forever for a task that
killed its workers (Dask), or leaves its own process pool modified (Ray).
"""

from __future__ import annotations

import copy
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from pidselect.data import Block, Column

#: Seconds after which it is checked whether a Dask cluster still has workers.
WORKER_TIMEOUT = 10.0

#: How often Ray gives a task to another worker; Dask's scheduler has its own setting.
RETRIES = 3

#: How often lost data are sent again without a result in between.
RESENDS = 2

WORKER_ENDED = (
    "A worker process ended before its task was done, and no other worker could do it. Operating "
    "systems end processes when memory runs out: use fewer workers per machine, or a smaller "
    "max_memory or max_samples. The logs of the workers show the cause."
)

Function = Callable[..., Any]
Tasks = Sequence[tuple[Any, ...]]

#: The chunk of each task, None for columns that every worker has; see `Executor.run`.
Chunks = Sequence[int | None] | None


class WorkerLostError(Exception):
    """Data or results were lost with a worker; a second attempt may succeed."""


# --- what workers have --------------------------------------------------------------------------


class Place(NamedTuple):
    """Where a column lies."""

    parcel: Any  # the handle of a list of columns
    position: int  # in that list
    worker: str | None  # that was sent the list; None for all


class RemoteTask(NamedTuple):
    """A task whose columns lie on workers."""

    arguments: tuple[Any, ...]  # without the blocks
    blocks: list[list[tuple[int, int]]] | None  # the parcel and the position of every column
    parcels: list[Any]
    worker: str | None = None  # that has the parcels; None for all

    def take(self, parcels: Sequence[list[Column]]) -> tuple[Any, ...]:
        """Return all arguments, the blocks from the parcels."""
        if self.blocks is None:
            return self.arguments
        blocks = [Block(tuple(parcels[p][i] for p, i in places)) for places in self.blocks]
        return blocks, *self.arguments


@dataclass(eq=False)
class Sent:
    """Handles of what the workers of a cluster have; they release what is forgotten here."""

    cluster: Any = None
    #: Of common objects, with the columns that every worker has as long as them.
    common: MutableMapping[Any, tuple[Any, dict[Column, Place]]] = field(
        default_factory=WeakKeyDictionary
    )
    #: Columns that one worker has, as long as the client has them: candidates for all steps,
    #: residuals for one.
    columns: MutableMapping[Column, Place] = field(default_factory=WeakKeyDictionary)
    n_chunks: int = 0
    owners: dict[int, str] = field(default_factory=dict)  # the worker of each chunk

    def forget(self) -> None:
        """Have everything sent again."""
        self.common.clear()
        self.columns.clear()
        self.owners.clear()

    def divide(self, n_chunks: int) -> int:
        """Return the number of chunks: more if there are more workers, never fewer."""
        if n_chunks > self.n_chunks:
            self.n_chunks = n_chunks
            self.columns.clear()
            self.owners.clear()
        return self.n_chunks

    def send(
        self,
        cluster: Any,
        n_threads: Mapping[str, int],
        common: Any,
        tasks: Tasks,
        chunks: Chunks,
        put: Callable[[list[Any], str | None], list[Any]],
        has: Callable[[Any], bool] = lambda handle: True,
    ) -> tuple[Any, list[RemoteTask]]:
        """Send what workers do not have; return the handle of the common object, and the tasks.

        `n_threads` are those of the workers that chunks are divided among, `put` sends objects to
        one worker or to all and returns their handles, and `has` is whether a handle is valid.
        """
        if cluster != self.cluster:
            self.forget()
            self.cluster = cluster
        if common not in self.common or not has(self.common[common][0]):
            self.common[common] = put([common], None)[0], {}
        handle, everywhere = self.common[common]
        if chunks is None:
            return handle, [RemoteTask(task, None, []) for task in tasks]
        self.owners = assign(self.n_chunks, n_threads, self.owners)

        def kept(chunk: int | None) -> tuple[MutableMapping[Column, Place], str | None]:
            return (everywhere, None) if chunk is None else (self.columns, self.owners.get(chunk))

        missing: dict[str | None, dict[int | None, dict[Column, None]]] = {}
        for task, chunk in zip(tasks, chunks, strict=True):
            known, worker = kept(chunk)
            for block in task[0]:
                for column in block.columns:
                    place = known.get(column)
                    if place is None or place.worker != worker or not has(place.parcel):
                        missing.setdefault(worker, {}).setdefault(chunk, {})[column] = None
        for worker, of_chunks in missing.items():
            parcels = put([list(columns) for columns in of_chunks.values()], worker)
            for parcel, (chunk, columns) in zip(parcels, of_chunks.items(), strict=True):
                known, _ = kept(chunk)
                for position, column in enumerate(columns):
                    known[column] = Place(parcel, position, worker)
        each = zip(tasks, chunks, strict=True)
        return handle, [refer(task, *kept(chunk)) for task, chunk in each]


def refer(task: tuple[Any, ...], known: Mapping[Column, Place], worker: str | None) -> RemoteTask:
    """Return a task with the places of its columns instead of its blocks."""
    blocks, *others = task
    number: dict[Any, int] = {}
    places = [
        [
            (number.setdefault(place.parcel, len(number)), place.position)
            for place in (known[column] for column in block.columns)
        ]
        for block in blocks
    ]
    return RemoteTask(tuple(others), places, list(number), worker)


def assign(
    n_chunks: int, n_threads: Mapping[str, int], before: Mapping[int, str]
) -> dict[int, str]:
    """Return the worker of each chunk: that of before, unless it ended or has more than its share.

    Examples
    --------
    >>> owners = assign(4, {"a": 1, "b": 1}, {})
    >>> owners
    {0: 'a', 1: 'b', 2: 'a', 3: 'b'}
    >>> assign(4, {"b": 1, "c": 1}, owners)
    {1: 'b', 3: 'b', 0: 'c', 2: 'c'}
    """
    n_total, load = sum(n_threads.values()), Counter[str]()
    owners: dict[int, str] = {}
    if not n_total:
        return owners
    for chunk, worker in before.items():
        if load[worker] < ceil(n_chunks * n_threads.get(worker, 0) / n_total):
            owners[chunk] = worker
            load[worker] += 1
    for chunk in range(n_chunks):
        if chunk not in owners:
            owners[chunk] = min(n_threads, key=lambda name: (load[name] + 1) / n_threads[name])
            load[owners[chunk]] += 1
    return owners


# --- Dask ---------------------------------------------------------------------------------------


def _run_on_dask(
    backend: Any,
    function: Function,
    common: Any,
    tasks: Tasks,
    chunks: Chunks,
    n_jobs: int | None,
    sent: Sent,
) -> Iterator[Any]:
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    client, futures = backend.client, dict[int, Any]()

    def put(values: list[Any], worker: str | None) -> Any:
        workers = None if worker is None else [worker]
        try:
            return client.scatter(values, workers, broadcast=worker is None, hash=False)
        except (KeyError, OSError) as error:  # the worker has just ended
            raise WorkerLostError(str(error)) from error

    try:
        _wait_for_dask_workers(backend)
        handle, remote = sent.send(
            client.id,
            client.nthreads(),
            common,
            tasks,
            chunks,
            put,
            has=lambda future: future.status == "finished",
        )
        by_worker: dict[str | None, list[int]] = {}
        for number, task in enumerate(remote):
            by_worker.setdefault(task.worker, []).append(number)
        for worker, numbers in by_worker.items():
            some = [remote[number] for number in numbers]
            submitted = client.map(
                _run_task,
                [task._replace(parcels=[]) for task in some],
                [task.parcels for task in some],
                function=function,
                common=handle,
                workers=None if worker is None else [worker],
                allow_other_workers=worker is not None,  # as its columns move if it retires
                pure=False,
            )
            futures.update(zip(numbers, submitted, strict=True))
        for number in range(len(tasks)):
            yield _wait_for_result(futures[number], backend)
    except KilledWorker as error:
        raise RuntimeError(WORKER_ENDED) from error
    except CancelledError as error:
        raise WorkerLostError(str(error)) from error
    finally:
        if left := [future for future in futures.values() if not future.done()]:
            client.cancel(left)


def _run_task(task: RemoteTask, parcels: list[Any], function: Function, common: Any) -> Any:
    return function(common, *task.take(parcels))


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
    backend: Any,
    function: Function,
    common: Any,
    tasks: Tasks,
    chunks: Chunks,
    n_jobs: int | None,
    sent: Sent,
) -> Iterator[Any]:
    import ray
    from ray.exceptions import ObjectLostError, RayError, RayTaskError

    max_running = _count_on_ray(backend, n_jobs)
    queue: deque[Any] = deque()
    running: list[Any] = []
    try:
        cluster = ray.get_runtime_context().get_worker_id()
        # Ray's own scheduler divides the tasks among workers.
        handle, remote_tasks = sent.send(
            cluster, {}, common, tasks, chunks, lambda values, worker: list(map(ray.put, values))
        )
        remote = _remote_task().options(**(backend.ray_remote_args or {}))
        for task in remote_tasks:
            if len(running) == max_running:
                _, running = ray.wait(running)
            # Parcels as arguments of their own: Ray runs the task where they are, if it can.
            alone, stored = task._replace(parcels=[]), _Stored(handle.hex(), [handle])
            queue.append(remote.remote(alone, function, stored, *task.parcels))
            running.append(queue[-1])
            while queue[0] not in running:
                yield ray.get(queue.popleft())
        while queue:
            yield ray.get(queue.popleft())
    except ObjectLostError as error:
        sent.forget()
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


def _run_ray_task(
    task: RemoteTask, function: Function, stored: _Stored, *parcels: list[Column]
) -> Any:
    return function(_own_copy(stored), *copy.deepcopy(task.take(parcels)))


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

    run: Callable[[Any, Function, Any, Tasks, Chunks, int | None, Sent], Iterator[Any]]
    count: Callable[[Any, int | None], int]
    is_worker: Callable[[], bool]


#: Clusters by the class name of joblib's backend.
CLUSTERS = {
    "DaskDistributedBackend": Cluster(
        _run_on_dask, lambda backend, n_jobs: int(backend.effective_n_jobs(n_jobs)), _is_dask_worker
    ),
    "RayBackend": Cluster(_run_on_ray, _count_on_ray, lambda: False),
}
