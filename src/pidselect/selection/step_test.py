"""Step test: the permutation test that decides one step of a selection."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from pidselect.data import FloatArray, IntArray
from pidselect.estimators import NATS_PER_UNIT
from pidselect.selection.callbacks import StageName
from pidselect.selection.context import SelectionContext
from pidselect.selection.executor import PERMUTATION_BATCH
from pidselect.selection.result import Phase, Step
from pidselect.selection.scoring import CandidateScores, SubsetIntersection, decode, encode
from pidselect.significance import (
    critical_value,
    first_largest,
    first_smallest,
    is_significant,
    maximum_statistic,
    p_values,
)
from pidselect.significance.sequential import (
    betting_critical_value,
    betting_p_values,
    decision,
    max_permutations,
)

#: Surrogate values, shape (n_candidates, n_permutations) -> statistic, shape (n_permutations,).
Statistic = Callable[[FloatArray], FloatArray]

BIT = NATS_PER_UNIT["bit"]


@dataclass(frozen=True, eq=False)
class PermutationTestResult:
    """Observed values and surrogate values of the candidates of a step.

    Parameters
    ----------
    candidate_scores : CandidateScores
    observed : array, shape (n_tests, n_candidates)
        In bits or, for a portfolio, in standard deviations above the mean of the null distribution.
    bits : array, shape (n_tests, n_candidates)
        In bits, by the estimator of the portfolio with the largest score.
    estimators : array of int, shape (n_tests, n_candidates)
        The index of that estimator.
    surrogates : array, shape (n_tests, n_candidates, n_permutations)
    """

    candidate_scores: CandidateScores
    observed: FloatArray
    bits: FloatArray
    estimators: IntArray
    surrogates: FloatArray

    @property
    def min_observed(self) -> FloatArray:
        """The smallest observed value of each candidate over the tests."""
        return np.asarray(self.observed.min(axis=0))

    def p_values(self, statistic: Statistic = maximum_statistic) -> FloatArray:
        """Return each candidate's p-value in each test, shape (n_tests, n_candidates)."""
        context = self.candidate_scores.context
        tests = [
            (observed, statistic(surrogates))
            for observed, surrogates in zip(self.observed, self.surrogates, strict=True)
        ]
        if context.n_permutations is None:
            return np.array([betting_p_values(*test, context.alpha) for test in tests])
        return np.array([p_values(*test) for test in tests])

    def to_step(
        self, phase: Phase, given: tuple[str, ...], chosen: int, statistic: Statistic
    ) -> Step:
        """Return the step of the record that tests the chosen candidate.

        All tests must reject, so the one with the largest p-value decides.
        """
        scores, context = self.candidate_scores, self.candidate_scores.context
        n_permutations = self.surrogates.shape[-1]
        # Equal p-values are common with few permutations: then the smallest value decides.
        p = self.p_values(statistic) if n_permutations else np.ones_like(self.observed)
        deciding = int(np.lexsort((self.observed[:, chosen], -p[:, chosen]))[0])
        null = statistic(self.surrogates[deciding])
        critical: float | None = None
        if context.n_permutations is None:
            critical = betting_critical_value(null, context.alpha)
        elif n_permutations:
            critical = critical_value(null, context.alpha)
        adjusted = p.max(axis=0)
        p_value = float(adjusted[chosen])
        accepted = not n_permutations or is_significant(p_value, context.alpha)
        if critical is not None and (self.observed[deciding, chosen] > critical) != accepted:
            critical = None  # a sequential test was decided by earlier permutations
        names = np.array([named.name for named in context.estimators])
        return Step(
            phase=phase,
            conditioning_set=scores.conditioning_set_of_tests[deciding]
            if isinstance(scores, SubsetIntersection)
            else given,
            candidates=tuple(feature.name for feature in scores.candidates),
            values=tuple(self.bits[deciding].tolist()),
            scores=tuple(self.observed[deciding].tolist()),
            unit=context.unit,
            estimators=tuple(names[self.estimators[deciding]].tolist()),
            p_values=tuple(adjusted.tolist()) if n_permutations else (),
            chosen=scores.candidates[chosen].name,
            critical_value=critical,
            p_value=p_value if n_permutations else None,
            alpha=context.alpha,
            surrogates=scores.schemes[deciding],
            n_permutations=n_permutations,
            accepted=accepted,
            close_call=_is_close_call(p_value, context),
        )


def _is_close_call(p_value: float, context: SelectionContext) -> bool:
    """Return whether p lies within two standard errors of alpha, given a fixed number of them."""
    n = context.n_permutations
    if not n:
        return False
    n_exceeding = round(p_value * (1 + n)) - 1
    standard_error = math.sqrt(p_value * (1 - p_value) / n)
    return n_exceeding > 0 and abs(p_value - context.alpha) <= 2 * standard_error


def evaluate_strongest(
    scores: CandidateScores, stage: StageName = "forward"
) -> tuple[int, PermutationTestResult]:
    """Test the candidate with the largest value against the maximum statistic.

    Returns its index and the result.
    """
    return run_or_resume(scores, stage, first_largest, maximum_statistic)


def evaluate_weakest(
    scores: CandidateScores, statistic: Statistic, stage: StageName = "backward"
) -> tuple[int, PermutationTestResult]:
    """Test the candidate with the smallest value; return its index and the result."""
    return run_or_resume(scores, stage, first_smallest, statistic, keep_surrogates=True)


def run_or_resume(
    scores: CandidateScores,
    stage: StageName,
    choose: Callable[[FloatArray], int],
    statistic: Statistic,
    keep_surrogates: bool = False,
) -> tuple[int, PermutationTestResult]:
    """Run a test, or return its result from the checkpoint.

    A result from the checkpoint has the statistic of every permutation instead of the surrogates
    of all candidates, which makes no difference to a step of the record. With `keep_surrogates` it
    has all of them, as final p-values need.
    """
    journal = scores.context.journal
    if journal is None:
        _report_stage(scores, stage)
        return run_test(scores, choose, statistic)
    test_id = _test_id(scores)
    entry = journal.find_result(test_id)
    if entry is not None:
        observed, bits, estimators = (
            decode(entry[name]) for name in ("observed", "bits", "estimators")
        )
        surrogates = decode(entry.get("surrogates", entry["null"]))
        result = PermutationTestResult(scores, observed, bits, estimators, surrogates)
        return int(entry["chosen"]), result
    _report_stage(scores, stage)
    chosen, result = run_test(scores, choose, statistic)
    null = np.stack([statistic(values) for values in result.surrogates])[:, np.newaxis]
    entry = {
        "chosen": chosen,
        "candidate": scores.candidates[chosen].name,
        "observed": encode(result.observed),
        "bits": encode(result.bits),
        "estimators": encode(result.estimators),
        "null": encode(null),
        **({"surrogates": encode(result.surrogates)} if keep_surrogates else {}),
    }
    journal.add_result(test_id, entry)
    return chosen, result


def _report_stage(scores: CandidateScores, stage: StageName) -> None:
    """Report that a test begins, and the number of values it computes at most."""
    context = scores.context
    if context.callbacks is None:
        return
    *_, last = _batches(context)
    n_candidates = len(scores.candidates)
    n_values = len(scores.schemes) * n_candidates * len(context.estimators)
    n_values = int(getattr(scores, "n_values_per_permutation", n_values))
    is_exact = context.n_permutations is not None
    context.callbacks.on_stage(stage, n_candidates, n_values * last.stop, is_exact)


def _test_id(scores: CandidateScores) -> str:
    """Return a digest of the candidates and the test."""
    names = [feature.name for feature in scores.candidates]
    content = json.dumps([names, scores.schemes, scores.context.alpha])
    return blake2b(content.encode(), digest_size=16).hexdigest()


def run_test(
    scores: CandidateScores, choose: Callable[[FloatArray], int], statistic: Statistic
) -> tuple[int, PermutationTestResult]:
    """Choose a candidate by its observed value and compute the permutations that its test needs."""
    context = scores.context
    batches = _batches(context)
    values = scores.score(next(batches))
    first_test = 1 + context.n_pilot
    standardizer = context.standardizer(values[..., 1:first_test])

    def standardize(values: FloatArray) -> FloatArray:
        return values / BIT if standardizer is None else standardizer.apply(values)

    standardized = standardize(values)
    estimators = standardized[..., 0].argmax(axis=2)
    bits = np.take_along_axis(values[..., 0], estimators[..., np.newaxis], axis=2)[..., 0] / BIT
    best = standardized.max(axis=2)
    observed, surrogates = best[..., 0], best[..., first_test:]
    chosen = choose(observed.min(axis=0))
    for permutations in batches:
        if _is_decided(observed[:, chosen], surrogates, statistic, context):
            break
        more = standardize(scores.score(permutations)).max(axis=2)
        surrogates = np.concatenate([surrogates, more], axis=2)
    return chosen, PermutationTestResult(scores, observed, bits, estimators, surrogates)


def _batches(context: SelectionContext) -> Iterator[range]:
    """Yield the permutations to compute at once, first the observed data and the pilot ones."""
    start = 1 + context.n_pilot
    if context.n_permutations is not None:
        yield range(start + context.n_permutations)
        return
    stop = -(-(start + 1) // PERMUTATION_BATCH) * PERMUTATION_BATCH
    yield range(stop)
    while stop < start + max_permutations(context.alpha):
        yield range(stop, stop + PERMUTATION_BATCH)
        stop += PERMUTATION_BATCH


def _is_decided(
    observed: FloatArray, surrogates: FloatArray, statistic: Statistic, context: SelectionContext
) -> bool:
    """Return whether all sequential tests have rejected, or one will not."""
    decisions = {
        decision(float(value), statistic(values), context.alpha)
        for value, values in zip(observed, surrogates, strict=True)
    }
    return "not significant" in decisions or "open" not in decisions
