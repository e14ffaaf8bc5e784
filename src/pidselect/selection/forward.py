"""Forward selection: include the strongest candidate as long as it is significant."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from pidselect.selection.context import SelectionContext
from pidselect.selection.lookahead import JointSearch, Lookahead
from pidselect.selection.pool import Feature, Features, count_columns
from pidselect.selection.result import Step
from pidselect.selection.scoring import Criterion
from pidselect.selection.step_test import Statistic, run_test
from pidselect.significance.rng import FORWARD


@dataclass(frozen=True, eq=False)
class SelectionPlan:
    """The settings of forward selection and backward elimination."""

    criterion: Criterion
    max_features: float = inf  # columns, fixed ones not counted
    lookahead: Lookahead = field(default_factory=Lookahead)
    statistic: Statistic | None = None  # of backward elimination; None to omit it
    n_swaps: int = 0  # rounds of exchanging selected features for candidates, at most

    def eligible(self, candidates: Features, selected: Features) -> list[Feature]:
        """Return the candidates that are not selected and fit within `max_features`."""
        remaining = self.remaining_columns(selected)
        return [c for c in candidates if c not in selected and len(c.columns) <= remaining]

    def remaining_columns(self, selected: Features) -> float:
        """Return how many more columns may be selected."""
        return self.max_features - count_columns(selected)


def forward(
    context: SelectionContext,
    fixed: Features,
    candidates: Features,
    plan: SelectionPlan,
    selected: Features = (),
    n_steps: int = 0,
) -> tuple[list[Feature], list[Step]]:
    """Include features one by one, or several synergistic ones jointly.

    At each step the strongest candidate is tested against the maximum statistic over all
    candidates, and is included if p <= alpha. Fixed features are in the conditioning set from the
    start, as are those `selected` in `n_steps` steps before. Returns the selected features in the
    order of inclusion, and the steps.
    """
    report = context.executor.observer.on_step
    selected = list(selected)
    steps: list[Step] = []
    while remaining := plan.eligible(candidates, selected):
        n_columns = plan.remaining_columns(selected)
        search = JointSearch(context, [*fixed, *selected], remaining, plan.lookahead, n_columns)
        single = context.at_share(search.share_of_singles)
        scores = plan.criterion.candidate_scores(
            single, remaining, fixed, selected, (FORWARD, n_steps + len(steps))
        )
        result = run_test(scores)
        given = tuple(f.name for f in plan.criterion.conditioning_set(fixed, selected))
        step, strongest = result.to_step("forward", given), remaining[result.chosen]
        del scores, result  # releases the bound estimators before the next are bound
        if step.accepted:
            steps.append(report(step))
            selected.append(strongest)
            continue
        steps.append(report(step.with_note(search.note)))
        found, more = search.run()
        if search.order > 1 and not more:
            steps[-1] = steps[-1].with_note(
                "no look-ahead: given the selected features, the target or all but one of the "
                "candidates are constant"
            )
        steps += more
        if not found:
            break
        selected += found
    return selected, steps
