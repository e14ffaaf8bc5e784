"""Step test: the permutation test that decides one step of a selection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pidselect.data import FloatArray
from pidselect.data.messages import listed, shown
from pidselect.selection.context import SelectionContext
from pidselect.selection.executor import PERMUTATION_BATCH
from pidselect.selection.progress import StageName
from pidselect.selection.result import Phase, Step
from pidselect.selection.score_step import ScoreTestResult, run_score_test
from pidselect.selection.scoring import BIT, CandidateScores
from pidselect.significance.permutation_test import (
    TIE,
    Decision,
    first_largest,
    is_significant,
    maximum_statistic,
    step_down_p_values,
)
from pidselect.significance.sequential import max_permutations

#: Surrogate values, shape (n_candidates, n_permutations) -> statistic, shape (n_permutations,).
Statistic = Callable[[FloatArray], FloatArray]

#: R squared of a candidate and the target on the conditioning set, each sample left out of its fit,
#: above which no test can decide: what is left of both is mostly the error of the regressions.
DETERMINED_R2 = 0.99

#: Batches that a sequential test computes at a time as long as no permutation has reached the
#: observed value: fewer would decide nothing, unless the value is reached after all.
UNDISPUTED_BATCHES = 2


@dataclass(frozen=True, eq=False)
class PermutationTestResult:
    """Observed values and surrogate values of the candidates of a step.

    Scores are in bits, of shape (n_tests, n_candidates); `information` are the bits that are shown,
    of shape (n_candidates,).

    `null` has the statistic over the surrogates of all candidates for each test, shape
    (n_permutations,). If no candidate is significant in one of the tests, those after it are left
    out. `step_down` are the p-values of all candidates by the step-down maximum statistic, if they
    were requested; `r_squared` is the smaller one of the chosen candidate and of the target,
    regressed on the conditioning set.
    """

    candidate_scores: CandidateScores
    chosen: int  # the position of the candidate that is tested
    observed: FloatArray
    null: tuple[FloatArray, ...]
    information: FloatArray
    step_down: tuple[float, ...] = ()
    r_squared: float = 0.0

    @property
    def final(self) -> dict[str, float]:
        """The p-value of each candidate by the step-down maximum statistic, if requested."""
        names = (feature.name for feature in self.candidate_scores.candidates)
        return dict(zip(names, self.step_down, strict=False))

    def to_step(self, phase: Phase, given: tuple[str, ...], is_step_down: bool = False) -> Step:
        """Return the step of the record that tests the chosen candidate.

        All tests must reject, so the one with the largest p-value decides. Step down, stronger
        candidates are tested before: the weakest is significant if they are, too.
        """
        scores, context, chosen = self.candidate_scores, self.candidate_scores.context, self.chosen
        is_tested = len(self.null[0]) > 0
        tests = zip(self.observed, self.null, strict=True)
        p = np.array([context.p_values(*test) for test in tests])
        # Equal p-values are common with few permutations: then the smallest value decides.
        deciding = int(np.lexsort((self.observed[:, chosen], -p[:, chosen]))[0])
        null = self.null[deciding]
        critical = context.critical_value(null)
        adjusted = np.array(self.step_down) if is_step_down else p.max(axis=0)
        p_value = float(adjusted[chosen])
        accepted = not is_tested or is_significant(p_value, context.alpha)
        exceeds = critical is not None and self.observed[deciding, chosen] > critical
        if exceeds != accepted or p_value > p[deciding, chosen]:
            critical = None  # decided by earlier permutations, or by a stronger candidate
        own_set = scores.conditioning_set(deciding)
        return Step(
            phase=phase,
            conditioning_set=given if own_set is None else own_set,
            candidates=tuple(feature.name for feature in scores.candidates),
            values=tuple(self.information.tolist()),
            scores=tuple(self.observed[deciding].tolist()),
            unit="bit",
            estimators=(context.estimator.name,) * len(scores.candidates),
            p_values=tuple(adjusted.tolist()) if is_tested else (),
            chosen=scores.candidates[chosen].name,
            critical_value=critical,
            p_value=p_value if is_tested else None,
            alpha=context.alpha,
            surrogates=scores.schemes[deciding],
            n_permutations=len(null),
            accepted=accepted,
            note=self._note() if is_tested else "",
            close_call=context.is_close_call(p_value),
        )

    def _note(self) -> str:
        """Return that no test can decide, if so little of candidate and target is left."""
        if self.r_squared <= DETERMINED_R2:
            return ""
        target = listed([c.name for c in self.candidate_scores.context.target.columns])
        chosen = shown(self.candidate_scores.candidates[self.chosen].name)
        return (
            f"{chosen} and {target} both follow the selected features too closely "
            f"(R² > {DETERMINED_R2}) for a test to decide"
        )


def run_test(
    scores: CandidateScores,
    stage: StageName = "forward",
    choose: Callable[[FloatArray], int] = first_largest,
    statistic: Statistic = maximum_statistic,
    step_down: bool = False,
) -> PermutationTestResult | ScoreTestResult:
    """Choose a candidate by its observed value and compute the permutations that its test needs.

    By default the largest value is tested against the maximum statistic. Then tests are run one
    after the other: if the largest value in one of them is not significant, no candidate is, and
    the other tests cannot change that. A test that the checkpoint holds is only read. With
    `step_down` all tests are run, for p-values of all candidates; the maximum statistic is then
    that of the chosen candidate alone, as the weakest is tested last.
    """
    if scores.context.score_test is not None:
        return run_score_test(scores, stage, choose, step_down)
    run = partial(_run_test, scores, stage, choose, statistic, step_down)
    executor = scores.context.executor
    arrays = executor.recall(executor.key([stage, scores.key, step_down]), run)
    (chosen, r_squared), observed, information, of_each, *null = arrays
    return PermutationTestResult(
        scores,
        int(chosen),
        observed,
        tuple(null),
        information,
        tuple(of_each.tolist()),
        float(r_squared),
    )


def _run_test(
    scores: CandidateScores,
    stage: StageName,
    choose: Callable[[FloatArray], int],
    statistic: Statistic,
    step_down: bool,
) -> tuple[FloatArray, ...]:
    """Run a test; return the arrays of its result."""
    context, executor = scores.context, scores.context.executor
    is_single = step_down or choose is not first_largest
    parts = (scores,) if is_single else scores.one_by_one()
    most = 1 + _n_first(context)
    if context.n_permutations is None:
        most += max_permutations(context.alpha) + UNDISPUTED_BATCHES * PERMUTATION_BATCH
    n_values = scores.n_values * most
    executor.observer.on_stage(stage, len(scores.candidates), n_values)
    shown = scores.shown_apart()  # before the estimators of the tests take memory
    tests: list[RunningTest] = []
    for part in parts:
        tests.append(RunningTest(part, _n_first(context), step_down, statistic))
        candidate = choose(tests[-1].min_observed)
        # A test that is disputed may take many permutations; another scheme may decide with few.
        while (screened := tests[-1].decision(candidate)) == "open":
            if tests[-1].is_reached(candidate):
                break
            tests[-1].permute(candidate)
        if screened == "not significant":
            break
    chosen = choose(np.min([test.min_observed for test in tests], axis=0))
    while screened != "not significant":  # the shortest of the tests that are open first
        decisions = [test.decision(chosen) for test in tests]
        if "not significant" in decisions or "open" not in decisions:
            break
        some = (one for one, known in zip(tests, decisions, strict=True) if known == "open")
        min(some, key=lambda test: test.n_computed).permute(chosen)
    observed = np.concatenate([test.observed for test in tests])
    surrogates = [values for test in tests for values in test.surrogates]
    if step_down and statistic is maximum_statistic:
        null = tuple(values[chosen] for values in surrogates)
    else:
        null = tuple(map(statistic, surrogates))
    return (
        np.array([chosen, scores.r_squared(chosen)]),
        observed,
        scores.information(tests[0].bits) if shown is None else shown,
        np.array(final_p_values(observed, surrogates) if step_down else ()),
        *null,
    )


def final_p_values(observed: FloatArray, surrogates: Sequence[FloatArray]) -> tuple[float, ...]:
    """Return the p-value of every feature by the step-down maximum statistic.

    Values have the shape (n_tests, n_features), surrogates (n_features, n_permutations) for each
    test; all tests must reject, and the smallest value orders the features. This controls the
    family-wise error rate over the features, but does not account for their selection on the same
    samples.
    """
    order = np.argsort(-observed.min(axis=0), kind="stable")
    tests = zip(observed, surrogates, strict=True)
    p = np.max([step_down_p_values(*test, order) for test in tests], axis=0)
    return tuple(p.tolist())


class RunningTest:
    """Tests that are computed together: observed values, and the permutations so far.

    The first are the observed data and `n_first` permutations. Surrogates are those of all
    candidates, or only their statistic.
    """

    def __init__(
        self,
        scores: CandidateScores,
        n_first: int,
        keep_surrogates: bool,
        statistic: Statistic = maximum_statistic,
    ) -> None:
        self._scores, self._statistic, self._keeps = scores, statistic, keep_surrogates
        self.n_computed = 1 + n_first
        values = scores.score(range(self.n_computed))[:, :, 0] / BIT
        self.observed = values[..., 0]
        self.bits = values[0, :, 0]
        self.surrogates = self._kept(values[..., 1:])

    @property
    def min_observed(self) -> FloatArray:
        """The smallest observed value of each candidate over the tests."""
        return np.asarray(self.observed.min(axis=0))

    def permute(self, chosen: int) -> None:
        """Compute more permutations: several batches if none has reached a candidate's value."""
        self.extend(PERMUTATION_BATCH * (1 if self.is_reached(chosen) else UNDISPUTED_BATCHES))

    def extend(self, n_permutations: int) -> None:
        """Compute so many more permutations."""
        start = self.n_computed
        self.n_computed += n_permutations
        values = self._scores.score(range(start, self.n_computed))
        more = self._kept(values[:, :, 0] / BIT)
        self.surrogates = np.concatenate([self.surrogates, more], axis=2)

    def is_reached(self, chosen: int) -> bool:
        """Return whether any permutation has reached the observed value of a candidate."""
        tests = zip(self.observed[:, chosen], self.surrogates, strict=True)
        return any((self._statistic(null) >= value - TIE).any() for value, null in tests)

    def decision(self, chosen: int) -> Decision:
        """Return "significant" if all tests reject, "not significant" if one does not."""
        null = map(self._statistic, self.surrogates)
        tests = zip(self.observed[:, chosen], null, strict=True)
        decisions = {self._scores.context.decide(*test) for test in tests}
        order: tuple[Decision, ...] = ("not significant", "open", "significant")
        return min(decisions, key=order.index)

    def _kept(self, surrogates: FloatArray) -> FloatArray:
        """Return the surrogates of all candidates if they are needed, else their statistic."""
        if self._keeps:
            return surrogates
        return np.stack([self._statistic(values) for values in surrogates])[:, np.newaxis]


def _n_first(context: SelectionContext) -> int:
    """Return how many permutations of a test are computed at first: all, or up to a batch."""
    if context.n_permutations is not None:
        return context.n_permutations
    return PERMUTATION_BATCH - 1
