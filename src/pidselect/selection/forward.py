"""Forward selection: take the strongest candidate for as long as it is more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pidselect.selection.context import SelectionContext
from pidselect.selection.criteria import Criterion
from pidselect.selection.lookahead import Search, can_look_ahead, look_ahead
from pidselect.selection.pool import Feature
from pidselect.selection.result import Step
from pidselect.selection.step_test import Statistic, evaluate_strongest
from pidselect.significance import FORWARD, maximum_statistic


@dataclass(frozen=True, eq=False)
class SelectionPlan:
    """How to go forward, and back.

    Parameters
    ----------
    criterion : Criterion
    max_features : int, optional
        The most columns to be selected; features too wide for the room left are passed over.
    search : Search
        How far to look ahead where no single candidate is significant.
    statistic : Statistic, optional
        What the weakest feature is compared with going backward; None for not going there.
    """

    criterion: Criterion
    max_features: int | None = None
    search: Search = field(default_factory=Search)
    statistic: Statistic | None = None

    def fitting(self, candidates: Sequence[Feature], selected: Sequence[Feature]) -> list[Feature]:
        """Return the candidates that are not selected yet and for which there is room."""
        room = self.room(selected)
        return [c for c in candidates if c not in selected and len(c.columns) <= room]

    def room(self, selected: Sequence[Feature]) -> float:
        """Return how many more columns may be selected."""
        most = float("inf") if self.max_features is None else self.max_features
        return most - sum(len(feature.columns) for feature in selected)


def forward(
    context: SelectionContext,
    kept: Sequence[Feature],
    candidates: Sequence[Feature],
    plan: SelectionPlan,
) -> tuple[list[Feature], list[Step]]:
    """Include features one by one, or several at once where only they together tell something.

    At each step the strongest candidate competes with the largest value that the permuted
    candidates reach, and is included if p <= alpha.

    Parameters
    ----------
    inquiry : Inquiry
    kept : sequence of Feature
        Conditioned on from the start.
    candidates : sequence of Feature
    plan : Plan

    Returns
    -------
    selected : list of Feature, in the order of inclusion
    steps : list of Step
    """
    selected: list[Feature] = []
    steps: list[Step] = []
    while remaining := plan.fitting(candidates, selected):
        single = context.at(plan.search.share(context.alpha, 1))
        question = plan.criterion.ask(single, remaining, (kept, selected), (FORWARD, len(steps)))
        strongest, evidence = evaluate_strongest(question)
        given = tuple(feature.name for feature in plan.criterion.given(kept, selected))
        step = evidence.to_step("forward", given, strongest, maximum_statistic)
        del question, evidence  # what is bound there makes room for what comes next
        if step.accepted:
            steps.append(context.on_step(step))
            selected.append(remaining[strongest])
            continue
        ahead = (context, [*kept, *selected], remaining, plan.search, plan.room(selected))
        if plan.search.n_levels > 1 and not can_look_ahead(*ahead):
            few = len(remaining) < 2
            why = "too few candidates" if few else "no room for them within max_features"
            step = replace(step, note=f"no look-ahead: {why}")
        steps.append(context.on_step(step))
        found, more = look_ahead(*ahead)
        steps += more
        if not found:
            break
        selected += found
    return selected, steps
