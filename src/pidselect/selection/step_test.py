"""Step test: the permutation test that decides one step of a selection."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np

from pidselect.data import FloatArray, IntArray
from pidselect.estimators import NATS_PER_UNIT
from pidselect.selection.callbacks import StageName
from pidselect.selection.checkpoint import decode, encode
from pidselect.selection.context import SelectionContext
from pidselect.selection.executor import PERMUTATION_BATCH
from pidselect.selection.result import Phase, Step
from pidselect.selection.scoring import CandidateScores
from pidselect.significance import (
    critical_value,
    first_largest,
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

    Scores are in bits or, for a portfolio, in standard deviations above the mean of the null
    distribution. `bits` are those of the estimator with the largest score, at most the entropy of
    the target; `estimators` is its index. `information` are bits by the first estimator, in the
    first test. Shapes are (n_tests, n_candidates), that of `surrogates` (n_tests, n_candidates,
    n_permutations) and that of `information` (n_candidates,).
    """

    candidate_scores: CandidateScores
    chosen: int  # the position of the candidate that is tested
    observed: FloatArray
    bits: FloatArray
    estimators: IntArray
    surrogates: FloatArray
    information: FloatArray

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
        self, phase: Phase, given: tuple[str, ...], statistic: Statistic = maximum_statistic
    ) -> Step:
        """Return the step of the record that tests the chosen candidate.

        All tests must reject, so the one with the largest p-value decides.
        """
        scores, context, chosen = self.candidate_scores, self.candidate_scores.context, self.chosen
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
        own_set = scores.conditioning_set(deciding)
        return Step(
            phase=phase,
            conditioning_set=given if own_set is None else own_set,
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
            information=tuple(self.information.tolist()),
        )


def _is_close_call(p_value: float, context: SelectionContext) -> bool:
    """Return whether p lies within two standard errors of alpha, given a fixed number of them."""
    n = context.n_permutations
    if not n:
        return False
    n_exceeding = round(p_value * (1 + n)) - 1
    standard_error = math.sqrt(p_value * (1 - p_value) / n)
    return n_exceeding > 0 and abs(p_value - context.alpha) <= 2 * standard_error


def run_test(
    scores: CandidateScores,
    stage: StageName = "forward",
    choose: Callable[[FloatArray], int] = first_largest,
    statistic: Statistic = maximum_statistic,
    keep_surrogates: bool = False,
) -> PermutationTestResult:
    """Choose a candidate by its observed value and compute the permutations that its test needs.

    By default the largest value is tested against the maximum statistic. A test that the checkpoint
    holds is only read; with `keep_surrogates` it has those of all candidates, as final p-values
    need.
    """
    context = scores.context
    executor, test_id = context.executor, _test_id(scores)
    if (saved := executor.saved_result(test_id, partial(_from_saved, scores))) is not None:
        return saved
    batches = list(_batches(context))
    is_exact = context.n_permutations is not None
    n_candidates, n_values = len(scores.candidates), scores.n_values * batches[-1].stop
    executor.callbacks.on_stage(stage, n_candidates, n_values, is_exact)
    values = scores.score(batches[0])
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
    for permutations in batches[1:]:
        if _is_decided(observed[:, chosen], surrogates, statistic, context):
            break
        more = standardize(scores.score(permutations)).max(axis=2)
        surrogates = np.concatenate([surrogates, more], axis=2)
    bits = np.minimum(bits, context.max_bits)
    result = PermutationTestResult(
        scores, chosen, observed, bits, estimators, surrogates, values[0, :, 0, 0] / BIT
    )
    executor.save_result(test_id, partial(_to_saved, result, statistic, keep_surrogates))
    return result


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


# --- results in the checkpoint ------------------------------------------------------------------


def _test_id(scores: CandidateScores) -> str:
    """Return a digest of the candidates and the test."""
    names = [feature.name for feature in scores.candidates]
    content = json.dumps([names, scores.schemes, scores.context.alpha])
    return blake2b(content.encode(), digest_size=16).hexdigest()


def _to_saved(
    result: PermutationTestResult, statistic: Statistic, keep_surrogates: bool
) -> dict[str, Any]:
    """Return a result as plain types, with the statistic of every permutation."""
    null = np.stack([statistic(values) for values in result.surrogates])[:, np.newaxis]
    arrays = {
        "observed": result.observed,
        "bits": result.bits,
        "information": result.information,
        "estimators": result.estimators,
        "null": null,
        **({"surrogates": result.surrogates} if keep_surrogates else {}),
    }
    return {
        "chosen": result.chosen,
        "candidate": result.candidate_scores.candidates[result.chosen].name,
        **{name: encode(array) for name, array in arrays.items()},
    }


def _from_saved(scores: CandidateScores, saved: Mapping[str, Any]) -> PermutationTestResult:
    """Return the result of a test from the checkpoint; raise if it is not one of these scores.

    Without the surrogates of all candidates it has the statistic of every permutation, which makes
    no difference to a step of the record.
    """
    context, shape = scores.context, (len(scores.schemes), len(scores.candidates))
    observed, bits, estimators, information = (
        decode(saved[name]) for name in ("observed", "bits", "estimators", "information")
    )
    surrogates = decode(saved.get("surrogates", saved["null"]))
    n_rows = shape[1] if "surrogates" in saved else 1
    n_permutations = context.n_permutations
    if n_permutations is None:
        n_permutations = surrogates.shape[-1]
    if (
        {observed.shape, bits.shape, estimators.shape} != {shape}
        or information.shape != shape[1:]
        or surrogates.shape != (shape[0], n_rows, n_permutations)
        or not np.isin(estimators, range(len(context.estimators))).all()
        or not 0 <= saved["chosen"] < shape[1]
    ):
        raise ValueError("the shapes are not those of the test")
    return PermutationTestResult(
        scores, saved["chosen"], observed, bits, estimators, surrogates, information
    )
