"""Sentences of the report: the selected features, and the significance of the selection."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isinf

from pidselect.data.feature_types import TARGET
from pidselect.data.messages import counted, cut, listed, number, shown
from pidselect.decomposition import Explanation
from pidselect.selection.result import (
    INCLUSION_PHASES,
    NOTHING_TO_FIND,
    SINGLE_SHARE,
    Selection,
    Step,
)
from pidselect.selection.stability import Stability
from pidselect.significance.staged import PERMUTATIONS_TIMES_LEVEL, STAGES


def conclusions(
    selection: Selection, explanation: Explanation | None, n_columns: int, is_complete: bool
) -> list[str]:
    """Return which features are selected with their joint information, and why no others are."""
    selected = list(selection.selected)
    if explanation is not None:  # in the order of the chart
        order = [feature.name for feature in explanation]
        selected.sort(key=lambda name: order.index(name) if name in order else len(order))
    columns = counted(n_columns, "column")
    level = f" at level {selection.settings.alpha:g}"
    how = " without a test" if selection.settings.n_permutations == 0 else level
    fixed = selection.fixed_features
    beside = f" in addition to the fixed {listed(fixed)}" if fixed else ""
    stopped = " before the fit was interrupted" * (not is_complete)
    if not selected:
        meaning = f": {NOTHING_TO_FIND}" * bool(is_complete and selection.steps)
        return [f"None of {columns} selected{level}{beside}{stopped}{meaning}."]
    minimal = []
    if selection.also_relevant:
        of_features = [f"Minimal set: {listed(selection.features)}."] * bool(selection.features)
        others = f"Relevant, but not in the minimal set: {listed(selection.also_relevant)}."
        minimal = [*of_features, others]
    return [
        f"{len(selected)} of {columns} selected{how}{beside}{stopped}: {listed(selected)}"
        f"{_joint_information(explanation, bool(selection.also_relevant))}.",
        *minimal,
        *(_end_of_search(selection) if is_complete else ()),
    ]


def _joint_information(explanation: Explanation | None, is_part: bool) -> str:
    """Return the information of the explained features: the minimal set, if that `is_part`."""
    if explanation is None:
        return ""
    target, bits = target_name(explanation.target), explanation.information
    who = "the minimal set has" if is_part else "it has"
    if len(explanation.bits_added) > 1 and not is_part:
        who = "jointly they have"
    if bits is None:
        return f"; the information about {target} is not estimable from these samples"
    if isinf(bits):
        return f"; {who} infinite information about {target}, which is determined in these samples"
    share = explanation.share(bits)
    if share is None:
        return f"; {who} {number(bits)} bits of information about {target}"
    if explanation.entropy is None:
        scale = f"as much as a linear Gaussian model with R2 = {share:.2f}"
    else:
        scale = f"{100 * share:.0f} % of its entropy of {number(explanation.entropy)} bits"
    return f"; {who} {number(bits)} bits of information about {target}, {scale}"


def _end_of_search(selection: Selection) -> list[str]:
    phases = {*INCLUSION_PHASES} - {"swap"}
    searches = [step for step in selection.steps if step.phase in phases]
    # Other criteria do not estimate what a candidate adds.
    by_cmi = selection.settings.criterion == "cmi"
    if not searches or not by_cmi or selection.settings.n_permutations == 0:
        return []
    if not searches[-1].accepted:
        which = "minimal set" if selection.also_relevant else "selected features"
        return [f"No other candidate is significant given the {which}."]
    if len(searches[-1].candidates) > 1:
        return ["The search ended at max_features: further candidates may be significant."]
    return []


def significance(
    selection: Selection,
    explanation: Explanation | None,
    stability: Stability | None,
    n_rows: int,
) -> list[str]:
    """Return how the selection was tested, and on which rows."""
    if selection.settings.n_permutations == 0:
        lines = ["Not tested, as n_permutations is 0: the features are only ranked."]
    else:
        lines = _tests(selection)
    if (n_samples := selection.settings.n_samples or n_rows) < n_rows:
        lines.append(f"The tests used {n_samples:,} of {n_rows:,} rows.")
    lines += selection.notes
    if any(step.close_call for step in selection.steps):
        lines.append("More permutations reduce this error, if chosen before the result is known.")
    if explanation is not None and explanation.n_samples != n_samples:
        lines.append(f"The PID was estimated from {explanation.n_samples:,} rows.")
    if stability is not None:
        similarity = ""
        if stability.stability is not None:
            similarity = f" Stability {stability.stability:.2f} (1: equal, 0: random selections)."
        lines.append(
            f"Frequency: share of {counted(len(stability.selections), 'subsample')} of "
            f"{100 * stability.sample_fraction:g} % of the rows in which a feature is selected."
            f"{similarity}"
        )
    return lines


def _tests(selection: Selection) -> list[str]:
    tested, lines = [step for step in selection.steps if step.p_value is not None], list[str]()
    is_scored = any(step.unit == "" and step.phase != "lookahead" for step in tested)
    if tested:
        lines = _score_test(selection, tested) if is_scored else _by_estimator(selection, tested)
        alpha = 100 * selection.settings.alpha
        lines.append(f"False-positive rate of a step without informative candidates: {alpha:g} %.")
    if tests := selection.marginal:
        lines.append(
            f"The marginal information of {counted(len(tests.candidates), 'candidate')} is tested "
            f"at level {tests.alpha:g} by the step-down maximum statistic. Features that are "
            "relevant only jointly with others may be missed."
        )
    if selection.p_values:
        given = "The final p-value is that of a feature given all other selected features"
        lines.append(f"{given}, adjusted for their number." if not is_scored else f"{given}.")
    return lines


def _score_test(selection: Selection, tested: Sequence[Step]) -> list[str]:
    """Return what the default test compares, its permutations, shares and smallest p-value."""
    alpha, most = selection.settings.alpha, max(step.n_permutations for step in tested)
    share = SINGLE_SHARE if any(step.phase == "lookahead" for step in tested) else 1.0
    parts = [f"{100 * share * stage.share:g} % for the {stage.name} test" for stage in STAGES]
    parts += [f"{100 * (1 - share):.0f} % for pairs and triples"] * (share < 1)
    part, n = share * STAGES[0].share, selection.settings.n_permutations
    smallest = 1 / (1 + (ceil(PERMUTATIONS_TIMES_LEVEL / (alpha * part)) if n == "auto" else n))
    return [
        "Each step compares functions of residuals: of what the selected features leave of the "
        "target and of each candidate. The residuals of the target are permuted, up to "
        f"{most:,} times, for the null distribution of the maximum over all candidates.",
        f"The level of a step, {alpha:g}, is shared: {listed(parts)}. A p-value is that of a test "
        f"over its share; the smallest possible one is {smallest / part:.3g}.",
    ]


def _by_estimator(selection: Selection, tested: Sequence[Step]) -> list[str]:
    """Return the permutations and the level of the tests by an estimator."""
    n_permutations = selection.settings.n_permutations
    level = f"permutation test at level {selection.settings.alpha:g}"
    if n_permutations == "auto":
        most = max(step.n_permutations for step in tested)
        return [f"Each step is a sequential {level} with at most {most:,} permutations."]
    return [
        f"Each step is a {level} with {n_permutations:,} permutations; the smallest possible "
        f"p-value is {1 / (1 + n_permutations):.3f}."
    ]


def record_sentence(name: str, selection: Selection) -> str:
    """Return what the record of a selection holds about a feature, without an explanation."""
    subject = shown(name)
    if name in selection.duplicates:
        return f"{subject} is a duplicate of {shown(selection.duplicates[name])}."
    if name in selection.skipped:
        return f"{subject} was skipped: {selection.skipped[name]}."
    if name in selection.fixed_features:
        return f"{subject} is a fixed feature, not tested."
    if name in selection.also_relevant:
        return f"{subject} is relevant, but not in the minimal set."
    if name not in selection.features:
        if any(name in step.removed for step in selection.steps):
            return f"{subject} was included and later removed as redundant."
        return f"{subject} was not selected."
    step = selection.inclusion_step(name)
    others = [other for other in step.jointly_included if other != name]
    who = f"{subject}, jointly with {listed(others)}," if others else subject
    bits = selection.bits_added.get(name)
    if bits is None:  # of a fit that was interrupted
        return f"{who} was included at step {selection.step_number(step)}."
    return f"{who} adds {number(bits)} bits to the features selected before."


def target_name(target: str) -> str:
    """Return the name of the target, or "the target" if it has none."""
    return "the target" if target == TARGET else cut(shown(target))
