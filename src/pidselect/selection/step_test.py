"""Evidence: a question put to the data, tested, and answered by a step of the record."""

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
from pidselect.selection.executor import DRAWS_AT_ONCE
from pidselect.selection.partial_scores import decode, encode
from pidselect.selection.result import Phase, Step
from pidselect.selection.scoring import CandidateScores, SubsetIntersection
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
    most_draws,
    verdict,
)

#: Values of all candidates in a draw, shape (n_candidates, n_draws) -> what chance reached in it.
Statistic = Callable[[FloatArray], FloatArray]

BIT = NATS_PER_UNIT["bit"]


@dataclass(frozen=True, eq=False)
class PermutationTestResult:
    """What the candidates of a question reached, as observed and in the draws of the test.

    Parameters
    ----------
    question : Question
    observed : array, shape (n_tests, n_candidates)
        In bits, or for a portfolio in standard deviations above what chance reaches.
    bits : array, shape (n_tests, n_candidates)
        In bits, by the member of the portfolio that counts.
    members : array of int, shape (n_tests, n_candidates)
        Which that is.
    surrogates : array, shape (n_tests, n_candidates, n_draws)
    """

    question: CandidateScores
    observed: FloatArray
    bits: FloatArray
    members: IntArray
    surrogates: FloatArray

    @property
    def weakest(self) -> FloatArray:
        """Each candidate's value in the test that speaks least for it."""
        return np.asarray(self.observed.min(axis=0))

    def p_values(self, statistic: Statistic = maximum_statistic) -> FloatArray:
        """Return each candidate's p-value in each test, shape (n_tests, n_candidates)."""
        context = self.question.context
        tests = [
            (observed, statistic(drawn))
            for observed, drawn in zip(self.observed, self.surrogates, strict=True)
        ]
        if context.n_permutations is None:
            return np.array([betting_p_values(*test, context.alpha) for test in tests])
        return np.array([p_values(*test) for test in tests])

    def to_step(
        self, phase: Phase, given: tuple[str, ...], chosen: int, statistic: Statistic
    ) -> Step:
        """Judge the chosen candidate, and put it on record beside the others.

        All tests must reject, so the one with the largest p-value decides.
        """
        context = self.question.context
        n_drawn = self.surrogates.shape[-1]
        # Equal p-values are common, as there are few draws: then the smallest value decides.
        p = self.p_values(statistic) if n_drawn else np.ones_like(self.observed)
        deciding = int(np.lexsort((self.observed[:, chosen], -p[:, chosen]))[0])
        null = statistic(self.surrogates[deciding])
        line: float | None
        if context.n_permutations is None:
            line = betting_critical_value(null, context.alpha)
        else:
            line = critical_value(null, context.alpha) if n_drawn else None
        adjusted = p.max(axis=0)
        accepted = not n_drawn or is_significant(float(adjusted[chosen]), context.alpha)
        if line is not None and (self.observed[deciding, chosen] > line) != accepted:
            line = None  # the draws that decided gave another one
        is_close = n_drawn and context.n_permutations and _is_close(adjusted[chosen], context)
        names = np.array([member.name for member in context.members])
        return Step(
            phase=phase,
            conditioning_set=self.question.givens[deciding]
            if isinstance(self.question, SubsetIntersection)
            else given,
            candidates=tuple(feature.name for feature in self.question.candidates),
            values=tuple(self.bits[deciding].tolist()),
            scores=tuple(self.observed[deciding].tolist()),
            unit=context.unit,
            estimators=tuple(names[self.members[deciding]].tolist()),
            p_values=tuple(adjusted.tolist()) if n_drawn else (),
            chosen=self.question.candidates[chosen].name,
            critical_value=line,
            p_value=float(adjusted[chosen]) if n_drawn else None,
            alpha=context.alpha,
            surrogates=self.question.schemes[deciding],
            n_permutations=n_drawn,
            accepted=accepted,
            close_call=bool(is_close),
        )


def evaluate_strongest(
    question: CandidateScores, part: StageName = "forward"
) -> tuple[int, PermutationTestResult]:
    """Draw until it is clear whether the strongest candidate is more than chance."""
    return _once(question, part, first_largest, maximum_statistic)


def evaluate_weakest(
    question: CandidateScores, statistic: Statistic, part: StageName = "backward"
) -> tuple[int, PermutationTestResult]:
    """Draw until it is clear whether the weakest candidate is more than chance."""
    return _once(question, part, first_smallest, statistic, is_whole=True)


def _once(
    question: CandidateScores,
    part: StageName,
    choose: Callable[[FloatArray], int],
    statistic: Statistic,
    is_whole: bool = False,
) -> tuple[int, PermutationTestResult]:
    """Examine a question, or recall what came of it where that was written down.

    What is recalled has only one value a draw, the statistic's, for all candidates: for a step of
    the record that is the same. `is_whole` asks for all of them, as final p-values do.
    """
    journal = question.context.journal
    if journal is None:
        _begin(question, part)
        return examine(question, choose, statistic)
    asked = _digest(question)
    if (page := journal.recall(asked)) is None:
        _begin(question, part)
        chosen, evidence = examine(question, choose, statistic)
        null = np.stack([statistic(drawn) for drawn in evidence.surrogates])[:, np.newaxis]
        page = {
            "chosen": chosen,
            "candidate": question.candidates[chosen].name,
            "observed": encode(evidence.observed),
            "bits": encode(evidence.bits),
            "members": encode(evidence.members),
            "null": encode(null),
            **({"surrogates": encode(evidence.surrogates)} if is_whole else {}),
        }
        journal.finish(asked, page)
        return chosen, evidence
    observed, bits, members = (decode(page[name]) for name in ("observed", "bits", "members"))
    surrogates = decode(page.get("surrogates", page["null"]))
    return int(page["chosen"]), PermutationTestResult(question, observed, bits, members, surrogates)


def _begin(question: CandidateScores, part: StageName) -> None:
    """Tell whoever watches that a test begins, and how many values it takes at most."""
    context = question.context
    if context.watch is None:
        return
    *_, last = _rounds(context)
    n_candidates = len(question.candidates)
    every = len(question.schemes) * n_candidates * len(context.members)
    per_draw = int(getattr(question, "n_values_per_draw", every))
    is_exact = context.n_permutations is not None
    context.watch.on_stage(part, n_candidates, per_draw * last.stop, is_exact)


def _digest(question: CandidateScores) -> str:
    """Return a text by which the same candidates and tests are recognised."""
    names = [feature.name for feature in question.candidates]
    asked = json.dumps([names, question.schemes, question.context.alpha])
    return blake2b(asked.encode(), digest_size=16).hexdigest()


def examine(
    question: CandidateScores, choose: Callable[[FloatArray], int], statistic: Statistic
) -> tuple[int, PermutationTestResult]:
    """Choose a candidate by its observed value, then draw as many surrogates as its test needs."""
    context = question.context
    rounds = _rounds(context)
    values = question.score(next(rounds))
    first_test = 1 + context.n_pilot
    to_scores = _scale(context, values[..., 1:first_test])
    scores = to_scores(values)
    members = scores[..., 0].argmax(axis=2)
    bits = np.take_along_axis(values[..., 0], members[..., np.newaxis], axis=2)[..., 0] / BIT
    best = scores.max(axis=2)
    observed, drawn = best[..., 0], best[..., first_test:]
    chosen = choose(observed.min(axis=0))
    for draws in rounds:
        if _is_settled(observed[:, chosen], drawn, statistic, context):
            break
        drawn = np.concatenate([drawn, to_scores(question.score(draws)).max(axis=2)], axis=2)
    return chosen, PermutationTestResult(question, observed, bits, members, drawn)


def _rounds(context: SelectionContext) -> Iterator[range]:
    """Yield the draws to be made at once: the data as observed and the pilot ones come first."""
    start = 1 + context.n_pilot
    if context.n_permutations is not None:
        yield range(start + context.n_permutations)
        return
    stop = -(-(start + 1) // DRAWS_AT_ONCE) * DRAWS_AT_ONCE
    yield range(stop)
    while stop < start + most_draws(context.alpha):
        yield range(stop, stop + DRAWS_AT_ONCE)
        stop += DRAWS_AT_ONCE


def _scale(context: SelectionContext, pilot: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return what turns nats into what candidates are compared in."""
    standard = context.standard(pilot)
    return (lambda values: values / BIT) if standard is None else standard.apply


def _is_close(p: float, context: SelectionContext) -> bool:
    """Say whether p lies within two standard errors of alpha, as far as draws are random."""
    n_draws = context.n_permutations or 1
    n_reached = round(p * (1 + n_draws)) - 1
    error = math.sqrt(p * (1 - p) / n_draws)
    return n_reached > 0 and abs(p - context.alpha) <= 2 * error


def _is_settled(
    observed: FloatArray, drawn: FloatArray, statistic: Statistic, context: SelectionContext
) -> bool:
    """Say whether all tests have rejected, or one has given up."""
    verdicts = {
        verdict(float(value), statistic(null), context.alpha)
        for value, null in zip(observed, drawn, strict=True)
    }
    return "not significant" in verdicts or "open" not in verdicts
