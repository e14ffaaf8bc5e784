"""Executor: computes the values of a step on threads, processes, a cluster or a GPU.

It splits the work into tasks, has joblib run them, reports progress and saves values to the
checkpoint. What is scored and how is none of its concern: it calls the pure function of a
`ScoringJob`. Joblib's context names the backend.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import starmap
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from pidselect.data import Block, FloatArray, IntArray
from pidselect.estimators import Estimator, Scorer
from pidselect.estimators.cuda.device import cuda
from pidselect.estimators.cuda.scorer import bind_on
from pidselect.estimators.regression import RecentRegressions
from pidselect.selection.progress import Observer
from pidselect.selection.resume import Results, digest, to_json
from pidselect.significance.cuda import CudaPermutations, CudaScan, split_for_device
from pidselect.significance.interactions import InteractionScan, Scanner
from pidselect.significance.surrogates import PermutationSampler, bind_scheme

#: Row indices in the permutations of one task, which bound its memory and its time.
TASK_SIZE = 2**22

#: Permutations of a task are multiples of what a kernel processes side by side, unless that
#: many have more row indices than this.
PERMUTATION_BATCH, MAX_TASK_SIZE = 16, 2**24

#: Tasks per worker that keep all workers busy although tasks differ in length.
TASKS_PER_WORKER = 4

#: Work of a task, in samples times values, that takes a few seconds: for progress.
PROGRESS_WORK = 2**21

#: ... and about a minute: for checkpoints. Neighbour searches take about half a microsecond each,
#: and two estimators and two tests four times as long.
SAVED_WORK = 2**25

#: Fewest candidates of a task: they share the generation of their permutations.
FEWEST_CANDIDATES = 16

#: What loky, Dask and Ray raise where a process that did a task, or data that it had, are lost.
LOST = {"TerminatedWorkerError", "KilledWorker", "CancelledError", "RayActorError"}

WORKER_ENDED = (
    "A worker process ended before its task was done. Operating systems end processes when memory "
    "runs out: use fewer workers (n_jobs) or a smaller max_samples. With checkpoint, the same call "
    "resumes the fit. The logs of the workers show the cause."
)

#: Positions of candidates and numbers of permutations.
Task = tuple[list[int], range]


@dataclass(frozen=True, eq=False)
class ScoringJob:
    """Candidates whose values are computed task by task.

    ``function(common(), *arguments(places, permutations))`` returns the values of some of them in
    some permutations, shape (n_tests, n_candidates, n_values, n_permutations).
    """

    key: Any  # what determines the values within a fit, as types of JSON
    shape: tuple[int, int, int]  # the number of tests, of candidates, and of values of each
    n_samples: int
    is_divided: bool  # each candidate needs tasks of its own
    function: Callable[..., FloatArray]  # importable by its name
    common: Callable[[], Any]  # computed once, before tasks are distributed
    arguments: Callable[[list[int], range], tuple[Any, ...]]


class CPU:
    """Where estimators are bound and permutations are sampled: on the CPU."""

    #: Whether what is bound can be sent to other processes.
    is_cpu: bool = True

    def bind(self, estimator: Estimator, target: Block, given: Block, n_concurrent: int) -> Scorer:
        """Bind an estimator, one of `n_concurrent` at the same time."""
        return estimator.bind(target, given)

    def sampler(
        self, scheme: str, given: Block, n_samples: int, groups: IntArray | None
    ) -> PermutationSampler:
        """Bind a surrogate scheme to a conditioning set."""
        return bind_scheme(scheme, given, n_samples, groups)

    def scanner(self, scan: InteractionScan) -> Scanner:
        """Return what scans pairs and triples."""
        return scan


class CUDA(CPU):
    """The GPU; an estimator or a scheme without a kernel is bound on the CPU."""

    is_cpu = False

    def bind(self, estimator: Estimator, target: Block, given: Block, n_concurrent: int) -> Scorer:
        """Bind an estimator."""
        return bind_on(cuda(), estimator, target, given, n_concurrent)

    def sampler(
        self, scheme: str, given: Block, n_samples: int, groups: IntArray | None
    ) -> PermutationSampler:
        """Bind a surrogate scheme."""
        if scheme == "global" and groups is None:
            return CudaPermutations(cuda(), n_samples)
        return super().sampler(scheme, given, n_samples, groups)

    def scanner(self, scan: InteractionScan) -> Scanner:
        """Return what scans pairs and triples."""
        return CudaScan(cuda(), scan)


#: Devices by name.
DEVICES: dict[str, CPU] = {"cpu": CPU(), "cuda": CUDA()}


@dataclass(frozen=True, eq=False)
class Common:
    """What all tasks of a call share."""

    value: Any

    def __sizeof__(self) -> int:
        return 2**20  # joblib has Dask send large arguments once, not with every task


def _call(function: Callable[..., Any], common: Common, *task: Any) -> Any:
    return function(common.value, *task)


@dataclass(frozen=True, eq=False)
class Executor:
    """The resources of a fit: workers, device, observer and checkpoint.

    `n_jobs` is as in joblib, whose context selects the backend.
    """

    n_jobs: int | None = None
    device: CPU = DEVICES["cpu"]
    observer: Observer = field(default_factory=Observer)
    checkpoint: Results | None = None
    task_size: int = TASK_SIZE
    regressions: RecentRegressions = field(default_factory=RecentRegressions)

    def compute(self, job: ScoringJob, permutations: range) -> FloatArray:
        """Return the values of all candidates; those that the checkpoint holds are only read.

        They have the shape (n_tests, n_candidates, n_values, n_permutations).
        """
        key = self.key([job.key, permutations.start, permutations.stop])
        return self.recall(key, lambda: [self._compute(job, permutations, key)])[0]

    def _compute(self, job: ScoringJob, permutations: range, key: bytes) -> FloatArray:
        """Return the values of a job, of which the checkpoint may hold those of some tasks."""
        scores, missing = np.empty((*job.shape, len(permutations))), []

        def put(task: Task, values: FloatArray) -> None:
            places, some = task
            start = some.start - permutations.start
            scores[:, places, :, start : start + len(some)] = values
            self.observer.on_progress(values.size)

        for task in self.split(job, permutations):
            task_key = digest(key, to_json([task[0], task[1].start, task[1].stop]))
            if self.checkpoint is None or (known := self.checkpoint.find(task_key)) is None:
                missing.append((task, task_key))
            else:
                put(task, known[0])
        if missing:
            common = job.common()
            arguments = [job.arguments(*task) for task, _ in missing]
            with closing(self.run(job.function, common, arguments)) as results:
                for (task, task_key), found in zip(missing, results, strict=True):
                    if self.checkpoint is not None:
                        self.checkpoint.put(task_key, found)
                    put(task, found)
        return scores

    def key(self, content: Any) -> bytes:
        """Return a digest of what determines a result, by which the checkpoint knows it."""
        return b"" if self.checkpoint is None else digest(to_json(content))

    def recall(self, key: bytes, run: Callable[[], Sequence[FloatArray]]) -> Sequence[FloatArray]:
        """Return a result: that of the checkpoint, if there is one that has it, else it is run."""
        return run() if self.checkpoint is None else self.checkpoint.recall(key, run)

    def split(self, job: ScoringJob, permutations: range) -> list[Task]:
        """Split the work into tasks: small enough for the memory, enough to keep workers busy.

        If progress is reported or saved, tasks are short. Values do not depend on the split.
        """
        n_candidates = job.shape[1]
        if job.is_divided:
            ranges = self._ranges(permutations, job.n_samples, n_candidates, 1)
            return [([place], some) for place in range(n_candidates) for some in ranges]
        # Many candidates are split rather than their permutations, which are scored in one call.
        n_parts = max(1, n_candidates // FEWEST_CANDIDATES)
        ranges = self._ranges(permutations, job.n_samples, n_parts, n_candidates)
        size, n_workers = n_candidates, self.count_workers()
        if n_workers > 1 and len(ranges) < n_workers:
            size = max(1, -(-n_candidates * len(ranges) // (TASKS_PER_WORKER * n_workers)))
        if self.checkpoint is not None or self.observer.is_shown:
            work = job.n_samples * max(map(len, ranges), default=1)
            size = min(size, max(FEWEST_CANDIDATES, SAVED_WORK // work))
        parts = [
            list(range(start, min(start + size, n_candidates)))
            for start in range(0, n_candidates, size)
        ]
        return [(part, some) for some in ranges for part in parts]

    def _ranges(
        self, permutations: range, n_samples: int, n_parts: int, n_candidates: int
    ) -> list[range]:
        """Split permutations, for each of several parts of the work with so many candidates."""
        if not self.device.is_cpu:
            return split_for_device(permutations, n_samples)
        size = max(1, self.task_size // n_samples)
        n_wanted = TASKS_PER_WORKER * self.count_workers()
        if n_parts < n_wanted:
            size = min(size, -(-len(permutations) * n_parts // n_wanted))
        if self.observer.is_shown:
            size = min(size, max(1, PROGRESS_WORK // (n_samples * n_candidates)))
        size = max(1, -(-size // PERMUTATION_BATCH)) * PERMUTATION_BATCH
        size = min(size, max(1, MAX_TASK_SIZE // n_samples))
        return [permutations[start : start + size] for start in range(0, len(permutations), size)]

    def run(
        self, function: Callable[..., Any], common: Any, tasks: Sequence[tuple[Any, ...]]
    ) -> Generator[Any, None, None]:
        """Yield ``function(common, *task)`` for every task, in the order of the tasks.

        The function is pure, and importable by its name in any process. A single task is done here.
        A process that is lost ends the work; Dask replaces it, but what it alone had is sent again,
        once.

        Examples
        --------
        >>> list(Executor(n_jobs=2).run(pow, 2, [(3,), (4,)]))
        [8, 16]
        """
        backend, n_jobs = self._backend()
        if len(tasks) == 1 or self.count_workers() == 1:
            yield from starmap(partial(function, common), tasks)
            return
        # Processes forked beside running threads may deadlock, which loky's never do.
        is_forked = type(backend).__name__ == "MultiprocessingBackend"
        parallel = Parallel(
            n_jobs=n_jobs,
            backend="loky" if is_forked else None,
            prefer="threads" if self.device.is_cpu else None,
            require=None if self.device.is_cpu else "sharedmem",
            # Copy on write: arrays shared between processes are then writeable, so that kernels
            # are not compiled a second time for read-only arrays.
            mmap_mode="c",
            return_as="generator" if backend.supports_return_generator else "list",
        )
        call, shared, n_done = delayed(partial(_call, function)), Common(common), 0
        lost = LOST
        while True:
            results: Iterable[Any] = ()
            try:
                results = parallel(call(shared, *task) for task in tasks[n_done:])
                for result in results:
                    yield result
                    n_done += 1
            except Exception as error:
                if lost.isdisjoint(kind.__name__ for kind in type(error).__mro__):
                    raise
                if lost is not LOST or type(backend).__name__ != "DaskDistributedBackend":
                    raise RuntimeError(WORKER_ENDED) from error
                lost = LOST | {"TimeoutError"}  # if no worker comes
            else:
                return
            finally:
                with warnings.catch_warnings():  # joblib's, where results are no longer needed
                    warnings.simplefilter("ignore")
                    getattr(results, "close", lambda: None)()

    def count_workers(self) -> int:
        """Return how many tasks run at a time."""
        backend, n_jobs = self._backend()
        return 1 if n_jobs == 1 else int(backend.effective_n_jobs(n_jobs))

    def _backend(self) -> tuple[Any, int | None]:
        """Return joblib's backend and the number of jobs."""
        require = None if self.device.is_cpu else "sharedmem"
        backend, _ = get_active_backend(prefer="threads", require=require)
        _, n_jobs = get_active_backend()  # where threads are preferred it would be 1
        return backend, n_jobs if self.n_jobs is None else self.n_jobs
