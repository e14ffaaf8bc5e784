"""Backward elimination: drop the weakest feature for as long as it may be chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pidselect.selection.evidence import Evidence, Statistic, find_weakest
from pidselect.selection.features import Feature
from pidselect.selection.inquiry import Inquiry
from pidselect.selection.question import Information, given_each
from pidselect.selection.record import Phase, Step
from pidselect.significance import BACKWARD, MEMBERS, maximum_statistic, minimum_statistic

#: What the weakest feature's value is compared with. Against the smallest of the surrogates, as
#: in the paper, a feature that adds nothing still survives with probability alpha**(1/|S|);
#: against the largest, with at most alpha.
STATISTICS: dict[str, Statistic] = {
    "minimum": minimum_statistic,
    "maximum": maximum_statistic,
}


def backward(
    inquiry: Inquiry,
    kept: Sequence[Feature],
    selected: Sequence[Feature],
    statistic: Statistic,
    phase: Phase = "backward",
) -> tuple[list[Feature], list[Step], Evidence | None]:
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
        words = (BACKWARD,) if phase == "backward" else (MEMBERS, len(kept))
        question = each_given_the_others(inquiry, kept, remaining, (*words, len(steps)))
        weakest, evidence = find_weakest(question, statistic, phase)
        given = tuple(feature.name for feature in (*kept, *remaining))
        step = inquiry.took(evidence.to_step(phase, given, weakest, statistic))
        steps.append(step)
        if step.accepted:
            return remaining, steps, evidence
        del remaining[weakest], question, evidence  # what is bound there makes room
    return [], steps, None


def each_given_the_others(
    inquiry: Inquiry, kept: Sequence[Feature], features: Sequence[Feature], words: tuple[int, ...]
) -> Information:
    """Ask for each feature's information given all others."""
    others = [[*kept, *(f for f in features if f is not feature)] for feature in features]
    return given_each(inquiry, features, others, words)


def final_p_values(evidence: Evidence) -> list[float]:
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
        left = Evidence(
            evidence.question,
            evidence.observed[:, rest],
            evidence.bits[:, rest],
            evidence.members[:, rest],
            evidence.surrogates[:, rest],
        )
        largest_so_far = max(largest_so_far, float(left.p_values()[:, 0].max()))
        final[place] = largest_so_far
    return final.tolist()
