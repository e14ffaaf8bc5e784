"""Swap: exchange a selected feature for a candidate that makes it redundant.

Forward selection may include a proxy, a feature that is informative only through others that are
not selected yet. Once these are selected, backward elimination removes it; but given the proxy,
they may not be significant. So each selected feature is compared with the other candidates given
the rest of the selected set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pidselect.data import FloatArray
from pidselect.selection.context import SelectionContext
from pidselect.selection.forward import SelectionPlan
from pidselect.selection.pool import Feature, Features
from pidselect.selection.result import Step
from pidselect.selection.scoring import cmi_given
from pidselect.selection.step_test import run_test
from pidselect.significance import SWAP
from pidselect.significance.permutation_test import TIE

#: Permutations that the bias of a value is estimated from: without them, a column of many levels
#: would seem more informative than one of few.
BIAS_PERMUTATIONS = 8


def swap(
    context: SelectionContext,
    fixed: Features,
    selected: Features,
    candidates: Features,
    plan: SelectionPlan,
    n_steps: int,
) -> tuple[list[Feature], list[Step]]:
    r"""Exchange features f for candidates c, one after the other.

    The candidate with the largest :math:`I(c; y | S \setminus f)` takes the place of f if it is
    significant against the maximum statistic over f and all candidates, and f is not significant
    given :math:`S \setminus f` and c. Nothing is tested unless the value of some candidate, less
    its bias, exceeds that of f. `n_steps` is the number of steps before. Returns the features, the
    new ones last, and the steps.
    """
    current, steps = list(selected), list[Step]()
    for feature in selected:
        others = [f for f in current if f is not feature]
        given = [*fixed, *others]
        rivals = plan.eligible([c for c in candidates if c not in current], others)
        if not rivals or not _is_exceeded(context, feature, rivals, given):
            continue
        stream_key = (SWAP, n_steps + len(steps))
        strongest, step = _test(context, [feature, *rivals], given, (*stream_key, 0))
        if not step.accepted or strongest is feature:
            continue
        _, last = _test(context, [feature], [*given, strongest], (*stream_key, 1))
        p = f"p = {last.p_value:.4f} given it"
        if last.accepted:
            step = replace(step, accepted=False).with_note(f"{feature.name} is retained, {p}")
        else:
            step = replace(step, replaced=feature.name).with_note(f"replaces {feature.name}, {p}")
            current = [*others, strongest]
        steps.append(context.executor.callbacks.on_step(step))
    return current, steps


def _test(
    context: SelectionContext, candidates: Features, given: Features, stream_key: tuple[int, ...]
) -> tuple[Feature, Step]:
    """Test the strongest candidate; return it and the step."""
    result = run_test(cmi_given(context, candidates, given, stream_key), "swap")
    return candidates[result.chosen], result.to_step("swap", tuple(f.name for f in given))


def _is_exceeded(
    context: SelectionContext, feature: Feature, rivals: Sequence[Feature], given: Features
) -> bool:
    """Return whether any rival is more informative than the feature, by their values above bias."""
    scores = cmi_given(context.observed, [feature, *rivals], given, (SWAP,))
    values: FloatArray = scores.score(range(1 + BIAS_PERMUTATIONS))[0, :, 0]
    above = values[:, 0] - values[:, 1:].mean(axis=1)
    return bool(above[1:].max() > above[0] + TIE)
