"""Backward elimination: drop the weakest feature for as long as it may be chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pidselect.data import FloatArray
from pidselect.selection.evidence import Evidence, Inquiry
from pidselect.selection.features import Feature
from pidselect.selection.record import Step
from pidselect.significance import first_smallest, maximum_statistic, minimum_statistic

#: What the weakest feature's value is compared with. Against the smallest of the surrogates, as
#: in the paper, a feature that adds nothing still survives with probability alpha**(1/|S|);
#: against the largest, with at most alpha.
STATISTICS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "minimum": minimum_statistic,
    "maximum": maximum_statistic,
}


def backward(
    inquiry: Inquiry,
    kept: Sequence[Feature],
    selected: Sequence[Feature],
    statistic: Callable[[FloatArray], FloatArray],
) -> tuple[list[Feature], list[Step]]:
    """Remove features one by one.

    The feature with the smallest I(f; y | S without f) is tested, and removed if p > alpha; the
    first that passes ends it. Only one feature goes at a time, so that of two that say the same
    one stays.

    Returns
    -------
    remaining : list of Feature, in the order of inclusion
    steps : list of Step
    """
    remaining = list(selected)
    steps: list[Step] = []
    while remaining:
        evidence = each_given_the_others(inquiry, kept, remaining, len(steps))
        weakest = first_smallest(evidence.observed)
        null = statistic(evidence.surrogates)
        step = evidence.judge(weakest, null, [*kept, *remaining], inquiry, "backward")
        steps.append(step)
        if step.accepted:
            break
        del remaining[weakest]
    return remaining, steps


def each_given_the_others(
    inquiry: Inquiry, kept: Sequence[Feature], features: Sequence[Feature], step: int
) -> Evidence:
    """Score each feature given all others, one after the other: each needs a binding of its own."""
    parts = [
        inquiry.gather(
            [feature], [*kept, *(f for f in features if f is not feature)], "backward", step
        )
        for feature in features
    ]
    return Evidence(
        tuple(features),
        np.concatenate([part.observed for part in parts]),
        np.concatenate([part.surrogates for part in parts]),
    )
