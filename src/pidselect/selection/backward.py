"""Backward elimination: drop the weakest feature for as long as it may be chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pidselect.selection.context import SelectionContext
from pidselect.selection.pool import Feature
from pidselect.selection.result import Phase, Step
from pidselect.selection.scoring import ConditionalMI, given_each
from pidselect.selection.step_test import PermutationTestResult, Statistic, evaluate_weakest
from pidselect.significance import BACKWARD, MEMBERS, maximum_statistic, minimum_statistic

#: What the weakest feature's value is compared with. Against the smallest of the surrogates, as
#: in the paper, a feature that adds nothing still survives with probability alpha**(1/|S|);
#: against the largest, with at most alpha.
STATISTICS: dict[str, Statistic] = {
    "minimum": minimum_statistic,
    "maximum": maximum_statistic,
}


def backward(
    context: SelectionContext,
    kept: Sequence[Feature],
    selected: Sequence[Feature],
    statistic: Statistic,
    phase: Phase = "backward",
) -> tuple[list[Feature], list[Step], PermutationTestResult | None]:
    """Remove features one by one.

    The feature with the smallest I(f; y | S without f) is tested, and removed if p > alpha; the
    first that passes ends it. Only one feature goes at a time, so that of two that say the same
    one stays.

    Returns
    -------
    remaining : list of Feature, in the order of inclusion
    steps : list of Step
    evidence : Evidence or None
        About those that remain, if any do.
    """
    remaining = list(selected)
    steps: list[Step] = []
    while remaining:
        stream_key = (BACKWARD,) if phase == "backward" else (MEMBERS, len(kept))
        question = each_given_the_others(context, kept, remaining, (*stream_key, len(steps)))
        weakest, evidence = evaluate_weakest(question, statistic, phase)
        given = tuple(feature.name for feature in (*kept, *remaining))
        step = context.on_step(evidence.to_step(phase, given, weakest, statistic))
        steps.append(step)
        if step.accepted:
            return remaining, steps, evidence
        del remaining[weakest], question, evidence  # what is bound there makes room
    return [], steps, None


def each_given_the_others(
    context: SelectionContext,
    kept: Sequence[Feature],
    features: Sequence[Feature],
    stream_key: tuple[int, ...],
) -> ConditionalMI:
    """Ask for each feature's information given all others."""
    others = [[*kept, *(f for f in features if f is not feature)] for feature in features]
    return given_each(context, features, others, stream_key)


def final_p_values(evidence: PermutationTestResult) -> list[float]:
    """Return the p-value of every feature by the sequential maximum statistic.

    The strongest feature competes with the largest of all surrogates in a draw, the next one with
    the largest of all surrogates but those of the features before it, and so on; no p-value is
    smaller than one before it. That holds the family-wise error over all of them (Westfall and
    Young 1993), and gives weaker features a better chance than the maximum over all would. It does
    not know that the features were selected on the same samples.
    """
    order = np.argsort(-evidence.weakest, kind="stable")
    final = np.zeros(len(order))
    largest_so_far = 0.0
    for rank, place in enumerate(order):
        rest = order[rank:]
        left = PermutationTestResult(
            evidence.question,
            evidence.observed[:, rest],
            evidence.bits[:, rest],
            evidence.members[:, rest],
            evidence.surrogates[:, rest],
        )
        largest_so_far = max(largest_so_far, float(left.p_values()[:, 0].max()))
        final[place] = largest_so_far
    return final.tolist()
