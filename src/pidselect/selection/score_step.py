"""Steps of the score test: which candidate is included or removed, and its record."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pidselect.data import FloatArray
from pidselect.estimators.regression import DECIMALS
from pidselect.selection.context import SelectionContext
from pidselect.selection.pool import joint_block
from pidselect.selection.progress import StageName
from pidselect.selection.result import Phase, Step
from pidselect.selection.scoring import (
    CandidateScores,
    ScoreCandidates,
    SubsetIntersection,
    information_given,
)
from pidselect.significance.permutation_test import first_largest, is_significant
from pidselect.significance.score import FAMILIES
from pidselect.significance.staged import StagedResult, StagedSettings

#: Significant candidates whose information is compared, those with the largest statistics.
MOST_COMPARED = 5

#: What the largest statistic may be of.
NAMES = (*FAMILIES, "local")


@dataclass(frozen=True, eq=False)
class ScoreTestResult:
    """Statistics and p-values of the candidates of a step; shapes are (n_candidates,)."""

    candidate_scores: CandidateScores
    chosen: int  # the position of the candidate that is tested
    p_values: FloatArray
    statistics: FloatArray
    functions: tuple[str, ...]
    information: FloatArray  # bits; NaN where it was not estimated
    n_permutations: int
    critical_value: float | None
    share: float  # of the level, that the deciding stage has
    set_number: int  # of several conditioning sets that all must reject, the one that decided

    @property
    def step_down(self) -> tuple[float, ...]:
        """The p-values of all candidates."""
        return tuple(self.p_values.tolist())

    @property
    def final(self) -> dict[str, float]:
        """The p-values by the names of candidates."""
        names = (feature.name for feature in self.candidate_scores.candidates)
        return dict(zip(names, self.p_values.tolist(), strict=True))

    def to_step(self, phase: Phase, given: tuple[str, ...], is_step_down: bool = False) -> Step:
        """Return the step of the record that tests the chosen candidate."""
        scores, chosen = self.candidate_scores, self.chosen
        context, p_value = scores.context, float(self.p_values[self.chosen])
        accepted = is_significant(p_value, context.alpha)
        critical = self.critical_value
        exceeds = critical is not None and self.statistics[chosen] > critical
        if isinstance(scores, SubsetIntersection):
            given = tuple(feature.name for feature in scores.scores[self.set_number].given[0])
        return Step(
            phase=phase,
            conditioning_set=given,
            candidates=tuple(feature.name for feature in scores.candidates),
            values=tuple(self.information.tolist()),
            scores=tuple(self.statistics.tolist()),
            unit="",
            estimators=self.functions,
            p_values=tuple(self.p_values.tolist()),
            chosen=scores.candidates[chosen].name,
            critical_value=critical if exceeds == accepted else None,
            p_value=p_value,
            alpha=context.alpha,
            surrogates=context.surrogates[0],
            n_permutations=self.n_permutations,
            accepted=accepted,
            close_call=self._is_close_call(p_value),
        )

    def _is_close_call(self, p_value: float) -> bool:
        """Return whether p, of all permutations, lies within two standard errors of alpha."""
        if self.critical_value is None:  # the stage ended early
            return False
        n, raw = self.n_permutations, p_value * self.share
        error = math.sqrt(raw * (1 - raw) / n) / self.share
        is_near = abs(p_value - self.candidate_scores.context.alpha) <= 2 * error
        return round(raw * (1 + n)) > 1 and p_value < 1 and is_near


def run_score_test(
    scores: CandidateScores,
    stage: StageName,
    choose: Callable[[FloatArray], int],
    step_down: bool,
) -> ScoreTestResult:
    """Test candidates and choose one; a test that the checkpoint holds is only read.

    Of the significant candidates with the largest statistics, the one with the largest information
    is chosen. `choose` others by their strength, from the most to the least significant.
    """
    executor = scores.context.executor
    run = partial(_run, scores, stage, choose, step_down)
    arrays = executor.recall(executor.key(["score", stage, scores.key, step_down]), run)
    p_values, statistics, codes, information, (chosen, n, critical, share, number) = arrays
    return ScoreTestResult(
        scores,
        int(chosen),
        p_values,
        statistics,
        tuple(NAMES[int(code)] if code >= 0 else "" for code in codes),
        information,
        int(n),
        None if math.isnan(critical) else float(critical),
        float(share),
        int(number),
    )


def _run(
    scores: CandidateScores,
    stage: StageName,
    choose: Callable[[FloatArray], int],
    step_down: bool,
) -> Sequence[FloatArray]:
    """Run a test; return the arrays of its result."""
    context, candidates = scores.context, scores.candidates
    context.executor.observer.on_stage(stage, len(candidates), len(candidates))
    parts = scores.scores if isinstance(scores, SubsetIntersection) else (scores,)
    each_alone = step_down or choose is not first_largest
    results = [_test_sets(part, each_alone, step_down) for part in parts]
    p_values = np.max([one.p_values for one in results], axis=0)
    statistics = np.min([one.statistics for one in results], axis=0)
    order = np.lexsort((-statistics, p_values))
    strength = np.empty(len(order))
    strength[order] = -np.arange(len(order))
    chosen = choose(strength)
    information = np.full(len(candidates), np.nan)
    passing = [place for place in order if is_significant(p_values[place], context.alpha)]
    wanted = [chosen]
    if choose is first_largest:
        by_statistic = sorted(passing, key=lambda place: -statistics[place])
        wanted = by_statistic[:MOST_COMPARED] or wanted
    elif len(passing) == len(candidates):  # nothing is removed
        wanted = list(range(len(candidates)))
    some = [candidates[place] for place in wanted]
    sets = ([part.given[part.set_of[place]] for place in wanted] for part in parts)
    information[wanted] = np.min([information_given(context, some, one) for one in sets], axis=0)
    if choose is first_largest and passing:
        chosen = wanted[first_largest(information[wanted])]
    number = int(np.argmax([one.p_values[chosen] for one in results]))
    deciding = results[number]
    codes = [NAMES.index(name) if name else -1 for name in deciding.functions]
    critical = math.nan if deciding.critical_value is None else deciding.critical_value
    statistics, critical = np.round(statistics, DECIMALS), round(critical, DECIMALS)
    facts = [chosen, len(deciding.null), critical, deciding.share, number]
    context.executor.observer.on_progress(len(candidates))
    return p_values, statistics, np.array(codes, dtype=float), information, np.array(facts)


def _test_sets(scores: ScoreCandidates, each_alone: bool, step_down: bool) -> StagedResult:
    """Test candidates given their sets.

    Those of a set are tested against the maximum over them, or step down, and several sets have
    equal shares of the level, unless each candidate is tested alone.
    """
    context, n_sets = scores.context, len(scores.given)
    settings = settings_of(context, 1 if each_alone else n_sets)
    seed, key = context.seed, scores.stream_key
    places = [np.flatnonzero(np.array(scores.set_of) == number) for number in range(n_sets)]
    blocks = [[scores.candidates[place].block for place in some] for some in places]
    sets = [joint_block(some) for some in scores.given]
    run = context.executor.run
    if n_sets == 1:
        is_family = step_down and len(blocks[0]) > 1
        return settings.test(sets[0], blocks[0], (seed, *key, 0), is_family, run)
    tasks = [
        (given, some, (seed, *key, number))
        for number, (given, some) in enumerate(zip(sets, blocks, strict=True))
    ]
    results = list(run(StagedSettings.test, settings, tasks))
    p_values, statistics = np.ones((2, len(scores.candidates)))
    functions = [""] * len(scores.candidates)
    for some, result in zip(places, results, strict=True):
        p_values[some], statistics[some] = result.p_values, result.statistics
        for place, name in zip(some, result.functions, strict=True):
            functions[place] = name
    smallest = [result.p_values.min() for result in results]
    deciding = results[int(np.argmax(smallest) if each_alone else np.argmin(smallest))]
    return replace(deciding, p_values=p_values, statistics=statistics, functions=(*functions,))


def settings_of(context: SelectionContext, n_sets: int = 1) -> StagedSettings:
    """Return the settings of the tests of a step."""
    return StagedSettings(
        context.target,
        context.groups,
        context.surrogates[0],
        context.alpha,
        context.share / n_sets,
        context.n_permutations,
    )
