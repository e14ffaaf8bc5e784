"""Forward selection: take the strongest candidate for as long as it is more than chance."""

from __future__ import annotations

from collections.abc import Sequence

from pidselect.selection.criteria import Criterion
from pidselect.selection.evidence import Inquiry
from pidselect.selection.features import Feature
from pidselect.selection.record import Step
from pidselect.significance import first_largest, maximum_statistic


def forward(
    inquiry: Inquiry,
    kept: Sequence[Feature],
    candidates: Sequence[Feature],
    criterion: Criterion,
    max_features: int | None = None,
) -> tuple[list[Feature], list[Step]]:
    """Include features one by one.

    At each step the candidate with the largest I(c; y | S) competes with the largest value that
    the permuted candidates reach, and is included if p <= alpha.

    Parameters
    ----------
    inquiry : Inquiry
    kept : sequence of Feature
        Conditioned on from the start.
    candidates : sequence of Feature
    criterion : Criterion
    max_features : int, optional
        The most columns to be selected; features too wide for the room left are passed over.

    Returns
    -------
    selected : list of Feature, in the order of inclusion
    steps : list of Step
    """
    selected: list[Feature] = []
    steps: list[Step] = []
    while remaining := fitting(candidates, selected, max_features):
        given = criterion([*kept, *selected])
        evidence = inquiry.gather(remaining, given, "forward", len(steps))
        strongest = first_largest(evidence.observed)
        null = maximum_statistic(evidence.surrogates)
        step = evidence.judge(strongest, null, given, inquiry, "forward")
        steps.append(step)
        if not step.accepted:
            break
        selected.append(remaining[strongest])
    return selected, steps


def fitting(
    candidates: Sequence[Feature], selected: Sequence[Feature], max_features: int | None
) -> list[Feature]:
    """Return the candidates that are not selected yet and for which there is room."""
    room = float("inf") if max_features is None else max_features
    room -= sum(len(feature.columns) for feature in selected)
    return [c for c in candidates if c not in selected and len(c.columns) <= room]
