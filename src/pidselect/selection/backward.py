"""Backward elimination: remove the weakest feature as long as it is not significant."""

from __future__ import annotations

from dataclasses import replace

from pidselect.selection.context import SelectionContext
from pidselect.selection.pool import Feature, Features
from pidselect.selection.result import Phase, Step
from pidselect.selection.scoring import CandidateScores, scores_given
from pidselect.selection.step_test import Statistic, run_test
from pidselect.significance.permutation_test import (
    first_smallest,
    maximum_statistic,
    minimum_statistic,
)
from pidselect.significance.rng import BACKWARD, MEMBERS

#: The statistic over the surrogates of all features that the weakest feature is tested against.
#: Under the minimum statistic, as in the paper, an uninformative feature is retained with
#: probability alpha**(1/|S|); under the maximum statistic (step down), with at most alpha.
STATISTICS: dict[str, Statistic] = {"minimum": minimum_statistic, "maximum": maximum_statistic}

#: Conditioning sets of their own that are bound at the same time, each with a part of the memory.
N_CONCURRENT = 4


def backward(
    context: SelectionContext,
    fixed: Features,
    selected: Features,
    statistic: Statistic,
    phase: Phase = "backward",
    n_steps: int = 0,
    n_candidates: int = 1,
) -> tuple[list[Feature], list[Step], dict[str, float]]:
    r"""Remove features one by one.

    The feature with the smallest :math:`I(f; y | S \setminus f)`, or by the score test the one with
    the largest p-value, is removed if p > alpha; else the elimination ends. As one feature is
    removed at a time, one of two redundant features remains. `n_steps` is the number of steps
    before, if there was an earlier elimination. Of features that were included jointly, the last
    one that remains has a part of alpha: any of `n_candidates` could be it, and none was
    significant before. Returns the remaining features, the steps, and the final p-values by name,
    which sequential tests do not have.
    """
    remaining = list(selected)
    steps: list[Step] = []
    while remaining:
        stream_key = (BACKWARD,) if phase == "backward" else (MEMBERS, len(fixed))
        tested = context
        if len(remaining) == 1:
            tested = replace(context, alpha=context.alpha / n_candidates)
        scores = cmi_given_others(tested, fixed, remaining, (*stream_key, n_steps + len(steps)))
        is_fixed = context.n_permutations is not None or context.score_test is not None
        result = run_test(scores, phase, first_smallest, statistic, step_down=is_fixed)
        given = tuple(feature.name for feature in (*fixed, *remaining))
        step = result.to_step(phase, given, is_fixed and statistic is maximum_statistic)
        steps.append(context.executor.observer.on_step(step))
        if step.accepted:
            return remaining, steps, result.final
        del remaining[result.chosen], scores, result  # releases the bound estimators
    return [], steps, {}


def cmi_given_others(
    context: SelectionContext, fixed: Features, features: Features, stream_key: tuple[int, ...]
) -> CandidateScores:
    """Return the conditional mutual information of each feature given all others."""
    others = [[*fixed, *(f for f in features if f is not feature)] for feature in features]
    # A fixed number of permutations is computed at once, so that candidates can be processed a few
    # at a time, each with more memory. The number does not depend on the workers, nor do the keys
    # of values in a checkpoint.
    n = len(others) if context.n_permutations is None else min(len(others), N_CONCURRENT)
    return scores_given(context, features, others, range(len(others)), stream_key, n)
