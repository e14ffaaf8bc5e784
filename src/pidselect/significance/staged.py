"""The default test, stage by stage: functions of residuals first, then what is near in S.

Each stage has a share of the level and a null distribution of its own, the largest statistic over
all candidates, and draws as many permutations as its share needs; the second follows only where the
first finds nothing. The p-value of a candidate is the smallest of those of the stages that were
run, each over its share.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, starmap
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pidselect.data import Block, FloatArray, IntArray
from pidselect.significance.local import LOCAL_FAMILIES, local_statistics
from pidselect.significance.permutation_test import critical_value, is_futile, is_significant
from pidselect.significance.score import (
    FAMILIES,
    NOTHING,
    Bound,
    Family,
    bind,
    families,
    functions_of,
    statistics,
)

#: Permutations of a stage, over its level.
PERMUTATIONS_TIMES_LEVEL = 10

#: Values of one column in the candidates of a task; they do not depend on the number of workers.
TASK_VALUES, MAX_TASK = 2**17, 256

#: Values of all candidates up to which their functions are kept for further permutations.
MAX_KEPT = 2**21

#: Samples in all permutations of a batch.
MAX_BATCH = 2**27

#: Difference of statistics, relative to their size, up to which they are tied.
TIE = 1e-9


class ScoreTest(BaseEstimator):
    """The default test of a selection: residuals of the target and of candidates given S.

    Functions of the residuals of all candidates and those of the target are compared in two stages;
    nothing is compiled. See `significance.score` and `significance.local`.

    Examples
    --------
    >>> from pidselect import PIDSelector, ScoreTest, datasets
    >>> toy = datasets.toy(200, random_state=1)
    >>> PIDSelector(estimator=ScoreTest(), random_state=0).fit(toy.X, toy.y).selected_
    array([0, 2])
    """


class Stage(NamedTuple):
    """A stage of the test: its share of the level, and the permutations of its first batch."""

    name: str
    share: float
    first_batch: int


STAGES = (Stage("score", 0.8, 512), Stage("local", 0.2, 8))

#: ``run(function, common, tasks)`` yields ``function(common, *task)`` for each task.
Run = Callable[[Callable[..., Any], Any, Sequence[tuple[Any, ...]]], Iterable[Any]]


@dataclass(frozen=True, eq=False)
class StagedResult:
    """The test of several candidates; shapes are (n_candidates,).

    `statistics` and `functions`, the names of the families with the largest, are those of the stage
    that decided, `null` its largest statistics over all candidates, (n_permutations,).
    """

    p_values: FloatArray
    statistics: FloatArray
    functions: tuple[str, ...]
    null: FloatArray
    critical_value: float | None
    share: float  # of the level


def in_turn(function: Callable[..., Any], common: Any, tasks: Sequence[tuple[Any, ...]]) -> Any:
    """Run tasks one after the other."""
    return starmap(lambda *task: function(common, *task), tasks)


def staged_test(
    bound: Bound,
    candidates: Sequence[Block],
    stream_key: tuple[int, ...],
    level: float,
    share: float = 1.0,
    n_permutations: int | None = None,
    step_down: bool = False,
    run: Run = in_turn,
) -> StagedResult:
    """Test candidates given S at a share of a level.

    By default p-values are those of the maximum statistic. With `step_down` each candidate is
    compared with those that are not stronger, and both stages are run for all of them.
    """
    p_values, parts = np.full(len(candidates), np.inf), _parts(candidates, len(bound.mean))
    for number, stage in enumerate(STAGES):
        part = share * stage.share
        test = _Stage(bound, parts, stage, (*stream_key, number), step_down, run)
        found = test.result(level * part, n_permutations)
        of_stage = np.minimum(1.0, found.p_values / part)
        if of_stage.min() <= p_values.min():
            deciding = replace(found, share=part)
        p_values = np.minimum(p_values, of_stage)
        if not step_down and is_significant(float(p_values.min()), level):
            break
    return replace(deciding, p_values=p_values)


class StagedSettings(NamedTuple):
    """What the tests of several conditioning sets share."""

    target: Block
    groups: IntArray | None
    scheme: str
    level: float
    share: float
    n_permutations: int | None

    def test(
        self,
        given: Block,
        candidates: Sequence[Block],
        stream_key: tuple[int, ...],
        step_down: bool = False,
        run: Run = in_turn,
    ) -> StagedResult:
        """Test candidates given a set."""
        bound = bind(self.target, given, self.groups, self.scheme)
        level, share, n = self.level, self.share, self.n_permutations
        return staged_test(bound, candidates, stream_key, level, share, n, step_down, run)

    def statistics(self, given: Block, candidates: Sequence[Block]) -> FloatArray:
        """Return the statistics of the first stage given a set, (n_candidates,)."""
        bound = bind(self.target, given, self.groups, self.scheme)
        rows = np.arange(len(bound.mean))[np.newaxis]
        return task_statistics(bound, Part(candidates), STAGES[0].name, rows, True)[0]


def _parts(candidates: Sequence[Block], n_samples: int) -> list[Part]:
    """Return the candidates of each task."""
    size = max(1, min(MAX_TASK, TASK_VALUES // n_samples))
    keeps = n_samples * len(candidates) <= MAX_KEPT
    starts = range(0, len(candidates), size)
    return [Part(candidates[start : start + size], keeps) for start in starts]


@dataclass(frozen=True, eq=False)
class _Stage:
    bound: Bound
    parts: Sequence[Part]
    stage: Stage
    stream_key: tuple[int, ...]
    keeps_all: bool
    run: Run

    def result(self, level: float, n_permutations: int | None) -> StagedResult:
        """Draw permutations until the stage is decided."""
        n = n_permutations or math.ceil(PERMUTATIONS_TIMES_LEVEL / level)
        most = max(1, MAX_BATCH // len(self.bound.mean))
        parts = []
        for start, stop in pairwise(_batches(self.stage.first_batch, n, most)):
            observed, functions, some = self._values(range(1 + start, 1 + stop))
            parts.append(some)
            null = np.concatenate(parts, axis=1)
            largest = null.max(axis=0)
            n_reached = int(is_reached(observed.max(), largest).sum())
            if not is_significant((1 + n_reached) / (1 + n), level):
                break
            if is_futile(n_reached, stop, level):
                break
        critical = critical_value(largest, level) if len(largest) == n else None
        p_values = self._p_values(observed, null)
        return StagedResult(p_values, observed, functions, largest, critical, 1.0)

    def _p_values(self, observed: FloatArray, null: FloatArray) -> FloatArray:
        """Return p-values by the maximum statistic, or step down if there are those of each."""
        order = np.argsort(-observed, kind="stable")
        if len(null) > 1:
            ascending = null[order[::-1]]
            null = np.maximum.accumulate(ascending, axis=0)[::-1]
        n_reached = is_reached(observed[order, np.newaxis], null).sum(axis=1)
        p = (1.0 + n_reached) / (1.0 + null.shape[1])
        p_values = np.empty(len(observed))
        p_values[order] = np.maximum.accumulate(p)
        return np.where(observed > NOTHING, p_values, 1.0)

    def _values(self, numbers: range) -> tuple[FloatArray, tuple[str, ...], FloatArray]:
        """Return the statistics of the data, their families, and those of permutations."""
        n_samples = len(self.bound.mean)
        rows = self.bound.orders(self.stream_key, numbers)
        rows = np.concatenate([np.arange(n_samples)[np.newaxis], rows])
        tasks = [(part, self.stage.name, rows, self.keeps_all) for part in self.parts]
        found = self.run(task_statistics, self.bound, tasks)
        observed, families_of, null = zip(*found, strict=True)
        joined = np.concatenate(null) if self.keeps_all else np.max(null, axis=0)
        names = tuple(name for some in families_of for name in some)
        return np.concatenate(observed), names, joined


@dataclass(frozen=True, eq=False)
class Part:
    """Some candidates of a test; in one process, their functions are made once."""

    candidates: Sequence[Block]
    keeps: bool = True
    _kept: dict[str, Any] = field(default_factory=dict)

    def families(self, bound: Bound, stage: str) -> list[Family]:
        """Return the functions of a stage."""
        if bound.is_determined:
            return []
        if (found := self._kept.get(stage)) is not None:
            return list(found)
        if (functions := self._kept.get("all")) is None:
            functions = functions_of(self.candidates, bound)
        found = families(functions, bound, LOCAL_FAMILIES if stage == "local" else FAMILIES)
        if self.keeps:
            self._kept.update({"all": functions, stage: found})
        return found


def task_statistics(
    bound: Bound, part: Part, stage: str, rows: IntArray, keeps_all: bool
) -> tuple[FloatArray, tuple[str, ...], FloatArray]:
    """Return the statistics of some candidates, their families, and those of permutations."""
    n = len(part.candidates)
    made = part.families(bound, stage)
    if stage == "local":
        values = local_statistics(made, bound, n, rows)
        null = values[:, 1:]
        if not keeps_all:
            null = null.max(axis=0, keepdims=True)
        return values[:, 0], ("local",) * n, null
    observed, null = statistics(made, bound, n, rows, keeps_all)
    names = tuple(list(FAMILIES)[place] for place in observed.argmax(axis=0))
    return observed.max(axis=0), names, null


def is_reached(observed: FloatArray | float, null: FloatArray) -> Any:
    """Return whether values of the null distribution reach an observed one, up to rounding."""
    # One that is undefined counts as reached.
    return ~(null < observed - TIE * np.maximum(1.0, np.abs(observed)))


def _batches(first: int, n: int, most: int) -> Iterator[int]:
    """Yield the numbers of permutations after which a stage may end, at most so many at a time."""
    stop = 0
    while stop < n:
        yield stop
        stop = min(n, max(first, 2 * stop), stop + most)
    yield n
