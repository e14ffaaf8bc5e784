"""Forecast: how long a selection takes, and what would be faster.

A small part of the work is timed: a few candidates of all feature types, by the estimators and
surrogate schemes of the fit, given none, one and three features. The number of rows is increased
for as long as that takes little time, and the growth extrapolated. Before the first step its own
time is forecast, after it that of the others: by then it is known which candidates are significant,
and the time of the first step corrects the forecast.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log

import joblib
import numpy as np

from pidselect.data import Block, ColumnStore, IntArray, is_constant
from pidselect.data.messages import counted, duration
from pidselect.estimators import MAX_MEMORY, Copula
from pidselect.selection.callbacks import Callback, Stage
from pidselect.selection.context import NamedEstimator, SelectionContext
from pidselect.selection.executor import PERMUTATION_BATCH, Executor
from pidselect.selection.forward import SelectionPlan
from pidselect.selection.lookahead import JointSearch
from pidselect.selection.pool import Feature, FeaturePool, Features
from pidselect.selection.result import Step
from pidselect.significance import FORWARD, is_significant

logger = logging.getLogger("pidselect")

#: Seconds from which on a selection is announced, and the number of features that it assumes.
LONG, TYPICAL_FEATURES = 60.0, 5

#: A step with less work than this, in samples times scores, is not timed: even at 100 µs a score,
#: as long as a search in a tree takes, six such steps take a minute.
MIN_TIMED_WORK = 1e5

#: Usual permutations of a sequential test; the longest step takes about 10 times the first one.
SEQUENTIAL_PERMUTATIONS, SLOWDOWN = 50, 10

#: Candidates that are timed, the features of the larger conditioning set, and the rows to begin
#: with.
TIMED_CANDIDATES, MANY_FEATURES, FIRST_ROWS = 6, 3, 500

#: The time to spend on a forecast: this share of the forecast time, but at least some seconds.
TIMED_SHARE, TIMED_SECONDS = 0.005, 0.05

#: The power of the number of rows that time grows with: until it is measured, and at most.
GROWTH, MAX_GROWTH = 1.5, 2.2

#: The fewest samples that are recommended: with fewer, nearest neighbours detect only strong
#: effects.
MIN_SAMPLES = 500

#: The largest correction by the first step, and the smallest gain of a remedy.
MAX_CORRECTION, MIN_GAIN = 4.0, 1.5

Clock = Callable[[], float]


@dataclass(frozen=True)
class StepTime:
    """Seconds to bind the estimators of a step, and to score a candidate in one permutation."""

    to_bind: float
    to_score: float

    def seconds(self, n_scores: float, n_workers: int, n_sets: int = 1) -> float:
        """Return the seconds of a step of so many scores and conditioning sets."""
        return n_sets * self.to_bind + n_scores * self.to_score / n_workers

    def scaled(self, factor: float) -> StepTime:
        """Return a multiple of the time."""
        return StepTime(factor * self.to_bind, factor * self.to_score)

    def towards(self, other: StepTime, share: float) -> StepTime:
        """Return the time that differs by a share of the difference from another."""
        return StepTime(
            max(self.to_bind + share * (other.to_bind - self.to_bind), 0.0),
            max(self.to_score + share * (other.to_score - self.to_score), 0.0),
        )


@dataclass(frozen=True, eq=False)
class SelectionWork:
    """The work of a selection of so many features."""

    n_candidates: int
    n_features: int
    n_permutations: int  # of a step, with the observed data and the pilot
    n_final: int  # of the final test, if there is one
    scan_seconds: float  # of look-ahead, on one worker
    has_last_step: bool  # in which nothing is selected
    is_pruned: bool

    def seconds(self, times: Sequence[StepTime], n_workers: int) -> tuple[float, float]:
        """Return the seconds of the first step, and of all others.

        `times` are of steps given none, one, ... features.
        """
        n = self.n_permutations
        steps = [
            times[step].seconds(max(self.n_candidates - step, 1) * n, n_workers)
            for step in range(self.n_features + self.has_last_step)
        ]
        rest = sum(steps[1:]) + self.scan_seconds / n_workers
        k = self.n_features
        if self.is_pruned and k:
            n_tested = n + self.n_final
            n_sets = k * (1 + (self.n_final > 0))
            rest += times[k - 1].seconds(k * n_tested, n_workers, n_sets)
        return steps[0], rest


class Forecast(Callback):
    """Log a warning if the first step, and after it, if all of the selection takes `long` seconds.

    How many features are selected is not known before the first step.
    """

    def __init__(
        self,
        context: SelectionContext,
        pool: FeaturePool,
        plan: SelectionPlan,
        *,
        long: float = LONG,
        clock: Clock = time.perf_counter,
    ) -> None:
        self._context, self._workers = context, context.executor.count_workers()
        self._timed = replace(context, executor=Executor(1, context.executor.max_memory))
        self._pool, self._plan, self._long, self._clock = pool, plan, long, clock
        self._started: float | None = None
        self._ended = 0.0  # of the last step
        self._selected: list[Feature] = []
        self._is_timed = False

    def announce(self) -> None:
        """Time a part of the first step; log a warning if it takes long."""
        context, work = self._context, replace(self._work(0), scan_seconds=0.0)
        n_values = context.target.n_samples * work.n_candidates * work.n_permutations
        if not self._count_features(1) or n_values < MIN_TIMED_WORK:
            return
        if not context.executor.device.is_cpu:
            return  # compiling the kernels takes longer than what would be timed
        self._is_timed = True
        self._report("the first step", work, ())

    def on_stage(self, stage: Stage) -> None:
        """Note the start of the first step."""
        if self._started is None:
            self._started = self._ended = self._clock()

    def on_step(self, step: Step) -> None:
        """Forecast the other steps by the time of those that are done, until it was announced."""
        if not self._is_timed or self._started is None or step.phase != "forward":
            self._is_timed = False
            return
        now = self._clock()
        elapsed, last, self._ended = now - self._started, now - self._ended, now
        by_name = {feature.name: feature for feature in self._pool.candidates}
        order = np.argsort(-np.array(step.scores), kind="stable")
        strongest = [by_name[step.candidates[place]] for place in order]
        n_significant = sum(is_significant(p, step.alpha) for p in step.p_values)
        n_before, n_done = len(self._selected), len(self._selected) + 1
        most = max(min(n_before + n_significant, TYPICAL_FEATURES), n_done)
        work = self._work(self._count_features(most) if step.accepted else n_before)
        if self._context.n_permutations is None:
            n_pilot = self._context.count_pilot(len(step.candidates))
            n_permutations = 1 + n_pilot + step.n_permutations
            work = replace(work, n_permutations=n_permutations)
        what = f"the selection of {counted(work.n_features, 'feature')}"
        if not step.accepted:
            self._is_timed, what = False, "look-ahead"
            is_long = work.scan_seconds >= self._long
        elif n_before:
            is_long = elapsed + last * (work.n_features - n_before) >= self._long
        else:  # later steps may take far longer
            is_long = last * SLOWDOWN * (1 + work.n_features) >= self._long
        if is_long:
            features = [*self._selected, *strongest][: max(MANY_FEATURES, n_done)]
            self._report(what, work, features, elapsed, n_done)
        self._selected.append(strongest[0])
        self._ended = self._clock()

    # --- the work -------------------------------------------------------------------------------

    def _count_features(self, most: int) -> int:
        """Return the number of features that a selection is assumed to have."""
        limit = self._plan.remaining_columns(())
        return int(min(len(self._pool.candidates), most, limit))

    def _work(self, n_features: int, context: SelectionContext | None = None) -> SelectionWork:
        context, plan = context or self._context, self._plan
        n_candidates = len(self._pool.candidates)
        n_left = n_candidates - n_features
        n_permutations = context.n_permutations
        if n_permutations is None:
            n_permutations = SEQUENTIAL_PERMUTATIONS
        is_sequential = context.n_permutations is None
        has_last_step = n_left > 0 and plan.remaining_columns(()) > n_features
        limit = plan.remaining_columns(()) - n_features
        candidates = self._pool.candidates[n_features:]
        search = JointSearch(context, self._pool.fixed, candidates, plan.lookahead, limit)
        return SelectionWork(
            n_candidates,
            n_features,
            1 + context.count_pilot(n_candidates) + n_permutations,
            1 + context.n_pilot + context.fixed_n_permutations if is_sequential else 0,
            search.seconds if has_last_step else 0.0,
            has_last_step,
            plan.statistic is not None and plan.criterion.prunes and context.n_permutations != 0,
        )

    # --- timing ---------------------------------------------------------------------------------

    def _times(
        self,
        work: SelectionWork,
        first: StepTime,
        features: Features,
        context: SelectionContext | None = None,
    ) -> list[StepTime] | None:
        """Return the times of steps given none, one, ... of the features; None if unknown."""
        n_features, several = work.n_features, features[: work.n_features]
        if not several:
            return [first]
        one = self._time(several[:1], work, context)
        most = one if len(several) == 1 else self._time(several, work, context)
        if one is None or most is None:
            return None
        step = 1 / max(len(several) - 1, 1)
        return [first, *(one.towards(most, step * size) for size in range(n_features))]

    def _time(
        self, selected: Features, work: SelectionWork, context: SelectionContext | None = None
    ) -> StepTime | None:
        """Time ever more rows; return the time of all; None if the rows cannot be timed."""
        context = context or self._timed
        n_samples = context.target.n_samples
        parts = [named.subsample for named in context.estimators if named.subsample is not None]
        ratio = max((part.n_samples / len(part.rows) for part in parts), default=1.0)
        n_rows = min(n_samples, int(FIRST_ROWS * ratio))
        growth = GROWTH if any(named.uses_neighbours for named in context.estimators) else 1.0
        earlier: tuple[int, StepTime] | None = None
        while True:
            start = self._clock()
            now = self._time_rows(context, selected, n_rows, is_first=earlier is None)
            if now is None:
                return None
            cost = self._clock() - start
            if earlier is not None and min(now.to_score, earlier[1].to_score) > 0:
                growth = log(now.to_score / earlier[1].to_score) / log(n_rows / earlier[0])
            # Where overhead dominates, time does not grow at first, but it will.
            all_rows = now.scaled((n_samples / n_rows) ** min(max(growth, 1.0), MAX_GROWTH))
            more = min((2 if growth > 1.0 else 4) * n_rows, n_samples)
            total = sum(work.seconds([all_rows] * (work.n_features + 1), self._workers))
            next_cost = cost * (more / n_rows) ** max(growth, 0.0)
            if n_rows == n_samples or next_cost > max(TIMED_SECONDS, TIMED_SHARE * total):
                return all_rows
            earlier, n_rows = (n_rows, now), more

    def _time_rows(
        self, context: SelectionContext, selected: Features, n_rows: int, is_first: bool
    ) -> StepTime | None:
        """Time some candidates in some of the rows; None if the target is constant in them."""
        fixed = [*self._pool.fixed]
        others = [c for c in self._pool.candidates if c not in selected] or selected
        candidates = _evenly(others, TIMED_CANDIDATES)
        if n_rows < context.target.n_samples:
            rows = np.linspace(0, context.target.n_samples - 1, n_rows).astype(np.int64)
            restricted = _restrict(context, rows)
            if restricted is None:
                return None
            context = restricted
            fixed, selected, candidates = (
                [_take(feature, rows) for feature in some] for some in (fixed, selected, candidates)
            )
        for _ in range(1 + is_first):  # the first time, kernels may be compiled
            scores = self._plan.criterion.candidate_scores(
                context, candidates, fixed, selected, (FORWARD, 0)
            )
            start = self._clock()
            scores.score(range(1))
            to_bind = self._clock() - start
        start = self._clock()
        scores.score(range(1, 1 + PERMUTATION_BATCH))
        per_permutation = (self._clock() - start) / PERMUTATION_BATCH
        return StepTime(max(to_bind - per_permutation, 0.0), per_permutation / len(candidates))

    # --- the message ----------------------------------------------------------------------------

    def _report(
        self,
        what: str,
        work: SelectionWork,
        features: Features,
        elapsed: float = 0.0,
        n_done: int = 0,
    ) -> None:
        """Log what takes so long, and remedies; the steps that are done correct the forecast."""
        # The first step is timed again: other programs may run now, or none.
        first = self._time((), work)
        times = None if first is None else self._times(work, first, features)
        if times is None:
            return
        n, n_workers = work.n_permutations, self._workers
        expected = sum(
            times[step].seconds((work.n_candidates - step) * n, n_workers) for step in range(n_done)
        )
        if expected:
            correction = np.clip(elapsed / expected, 1 / MAX_CORRECTION, MAX_CORRECTION)
            times = [one.scaled(float(correction)) for one in times]
        total = sum(work.seconds(times, n_workers))
        if total < self._long:
            return
        self._is_timed = n_done == 0  # once before the first step and once after it
        remedies = [
            f"{setting} takes about {duration(seconds)}"
            for setting, seconds in self._remedies(work, times, features)
            if seconds < total / MIN_GAIN
        ]
        logger.warning(
            f"{counted(work.n_candidates, 'candidate')}, "
            f"{counted(self._context.target.n_samples, 'sample')}: {what} takes about "
            f"{duration(total)}. {'; '.join(remedies)}{'.' if remedies else ''}".rstrip()
        )

    def _remedies(
        self, work: SelectionWork, times: Sequence[StepTime], features: Features
    ) -> Iterator[tuple[str, float]]:
        """Yield settings and their times, those that cost the least power first."""
        context, n_workers = self._context, self._workers
        if n_workers < (n_cores := joblib.cpu_count()):
            yield "n_jobs=-1", sum(work.seconds(times, n_cores))
        if context.n_permutations:
            sequential = replace(context, n_permutations=None)
            shorter = self._work(work.n_features, sequential)
            yield 'n_permutations="auto"', sum(shorter.seconds(times, n_workers))
        has_neighbours = any(named.uses_neighbours for named in context.estimators)
        if has_neighbours:
            copula = (NamedEstimator("copula", Copula()),)
            other = replace(self._timed, estimators=copula, is_portfolio=False)
            less = self._work(work.n_features, other)
            first = self._time((), less, other)
            found = None if first is None else self._times(less, first, features, other)
            if found is not None:
                yield 'estimator="copula"', sum(less.seconds(found, n_workers))
        parts = [named.subsample for named in context.estimators if named.subsample is not None]
        # A number limits all estimators, so that it is compared with the rows of the slowest.
        n_samples = len(parts[0].rows) if parts else context.target.n_samples
        total = sum(work.seconds(times, n_workers))
        growth = GROWTH if has_neighbours else 1.0
        if (fewer := fewer_samples(n_samples, total, self._long / 2, growth)) is not None:
            yield f"max_samples={fewer}", total * (fewer / n_samples) ** growth


def fewer_samples(n_samples: int, seconds: float, wanted: float, growth: float) -> int | None:
    """Return the number of samples that takes the wanted time, at least 500; None if all do.

    Examples
    --------
    >>> fewer_samples(10_000, 240.0, 30.0, 1.5), fewer_samples(10_000, 1e6, 30.0, 1.5)
    (2500, 500)
    """
    share = (wanted / seconds) ** (1 / growth)
    fewer = max(MIN_SAMPLES, int(float(f"{share * n_samples:.2g}")))
    return fewer if fewer < n_samples else None


def _evenly(features: Features, n: int) -> list[Feature]:
    """Return some features, evenly spaced by feature type and number of levels."""

    def kind(feature: Feature) -> list[tuple[str, int]]:
        columns = feature.block.columns
        return [(c.feature_type, c.levels() if c.is_discrete else 0) for c in columns]

    ordered = sorted(features, key=kind)
    places = np.linspace(0, len(ordered) - 1, min(n, len(ordered))).round().astype(int)
    return [ordered[place] for place in places]


def _take(feature: Feature, rows: IntArray) -> Feature:
    """Return some rows of a feature, with a cache of what is derived from them, as in a fit."""
    store = ColumnStore(MAX_MEMORY)
    columns = (replace(c, values=c.values[rows], store=store) for c in feature.block.columns)
    return replace(feature, block=Block(tuple(columns)))


def _restrict(context: SelectionContext, rows: IntArray) -> SelectionContext | None:
    """Return the context of some of the rows; None if the target is constant in them."""
    estimators = tuple(
        named if named.subsample is None else replace(named, subsample=named.subsample.within(rows))
        for named in context.estimators
    )
    target = context.target.take(rows)
    parts = [named.subsample for named in estimators if named.subsample is not None]
    for block in (target, *(target.take(part.rows) for part in parts)):
        if all(is_constant(column.values) for column in block.columns):
            return None
    groups = None if context.groups is None else context.groups[rows]
    # In a part of the rows, exchangeable groups are no longer of the same size.
    schemes = tuple("global" if name == "blocks" else name for name in context.surrogates)
    return replace(context, target=target, estimators=estimators, groups=groups, surrogates=schemes)
