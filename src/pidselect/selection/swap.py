"""Swap: exchange a selected feature for a candidate that makes it redundant.

Forward selection may include a proxy, a feature that is informative only through others that are
not selected yet. Once these are selected, backward elimination removes it; but given the proxy,
they may not be significant. So each selected feature is compared with the other candidates given
the rest of the selected set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pidselect.data.duplicates import are_near_duplicates
from pidselect.selection.context import SelectionContext
from pidselect.selection.forward import SelectionPlan
from pidselect.selection.pool import Feature, Features, joint_block
from pidselect.selection.result import Step
from pidselect.selection.score_step import MOST_COMPARED, settings_of
from pidselect.selection.scoring import cmi_given, information_given
from pidselect.selection.step_test import run_test
from pidselect.significance.permutation_test import TIE, is_significant
from pidselect.significance.rng import SWAP


def swap(
    context: SelectionContext,
    fixed: Features,
    selected: Features,
    candidates: Features,
    plan: SelectionPlan,
    before: Sequence[Step],
) -> tuple[list[Feature], list[Step]]:
    r"""Exchange features f for candidates c, one after the other.

    Of the candidates that were significant at a forward step, the one with the largest
    :math:`I(c; y | S \setminus f)` takes the place of f if f is not significant given
    :math:`S \setminus f` and c, and c is significant against the maximum statistic over f and all
    these candidates. A feature that was replaced in the steps before does not come back by a swap.
    Returns the features, the new ones last, and the steps.
    """
    current, steps = list(selected), list[Step]()
    replaced, significant = {step.replaced for step in before}, _significant(before)
    for feature in selected:
        others = [f for f in current if f is not feature]
        given = [*fixed, *others]
        new = [c for c in candidates if c not in current and c.name not in replaced]
        rivals = [rival for rival in plan.eligible(new, others) if rival.name in significant]
        place = _more_informative(context, feature, rivals, given) if rivals else None
        if place is None:
            continue
        rival, stream_key = rivals[place], (SWAP, len(before) + len(steps))
        of_feature = _test(context, [feature], 0, [*given, rival], (*stream_key, 0))
        if of_feature.accepted:
            continue
        step = _test(context, [feature, *rivals], 1 + place, given, (*stream_key, 1))
        if not step.accepted:
            continue
        note = f"replaces {feature.name}, p = {of_feature.p_value:.4f} given it"
        step = replace(step, replaced=feature.name).with_note(note)
        steps.append(context.executor.observer.on_step(step))
        current = [*others, rival]
    return current, steps


def _test(
    context: SelectionContext,
    candidates: Features,
    place: int,
    given: Features,
    stream_key: tuple[int, ...],
) -> Step:
    """Test one of the candidates against the maximum statistic over all of them."""
    scores = cmi_given(context, candidates, given, stream_key)
    result = run_test(scores, "swap", lambda _: place)
    return result.to_step("swap", tuple(f.name for f in given))


def _significant(before: Sequence[Step]) -> set[str]:
    """Return the candidates that were significant at any forward step."""
    return {
        name
        for step in before
        if step.phase == "forward"
        for name, p in zip(step.candidates, step.p_values, strict=True)
        if is_significant(p, step.alpha)
    }


def _more_informative(
    context: SelectionContext, feature: Feature, rivals: Sequence[Feature], given: Features
) -> int | None:
    """Return the place of the most informative rival if it exceeds the feature."""
    places = list(range(len(rivals)))
    if len(rivals) > MOST_COMPARED:
        blocks = [rival.block for rival in rivals]
        statistics = settings_of(context).statistics(joint_block(given), blocks)
        places = np.argsort(-statistics, kind="stable")[:MOST_COMPARED].tolist()
    compared = [feature, *(rivals[place] for place in places)]
    bits = information_given(context, compared, [given] * len(compared))
    best = int(bits[1:].argmax())
    is_more = bits[1 + best] > bits[0] + TIE
    return None if not is_more or _are_alike(feature, rivals[places[best]]) else places[best]


def _are_alike(feature: Feature, rival: Feature) -> bool:
    """Return whether both are near-duplicates: of the two, either may be selected."""
    columns = (*feature.block.columns, *rival.block.columns)
    is_pair = len(columns) == 2 and all(column.feature_type != "nominal" for column in columns)
    return is_pair and bool(are_near_duplicates(columns[:1], columns[1:])[0, 0])
