"""One sentence for each feature: what it adds, how, and why it is selected or not."""

from __future__ import annotations

from math import isinf

from pidselect.data.messages import listed, number, shown
from pidselect.decomposition.explanation import Explanation, FeatureExplanation

#: Features named in one place of a sentence, and letters of a name.
MAX_NAMES, MAX_LETTERS = 3, 40


def sentence(feature: FeatureExplanation, explanation: Explanation) -> str:
    """Return the values, the tests and the role of a feature as one sentence."""
    name = shown(feature.name)
    if feature.role == "duplicate":
        return f"{name} is a duplicate of {shown(feature.reason)}."
    if feature.role == "skipped":
        return f"{name} was skipped: {feature.reason}."
    if feature.added is None:
        is_more = feature.role == "adds to the selected set"
        role = "significant given the selected features, but not selected" * is_more or feature.role
        test = "" if feature.p_value is None else f" ({explanation.p_text(feature.p_value)})"
        why = f": {feature.reason}" if feature.reason else ""
        return f"{name} is {role}{test}; its information is not estimable{why}."
    clauses = _selected(feature, explanation) if feature.selected else _other(feature, explanation)
    fit = feature.added_in_fit
    return f"{name} {clauses}{'' if fit is None else f'; in the fit it added {bits(fit)}'}."


def short_sentence(feature: FeatureExplanation, explanation: Explanation) -> str:
    """Return what a table of added information, p-values and roles leaves to be said, in bits."""
    if feature.role == "duplicate":
        return f"Duplicate of {shown(feature.reason)}."
    if feature.role == "skipped":
        return f"Skipped: {feature.reason}."
    if feature.added is None:
        return f"Not estimable: {feature.reason}." if feature.reason else "Not estimable."
    if _is_alone(feature, explanation):
        return "The only selected feature." if feature.selected else ""
    is_out = not feature.selected and feature.role in ("weakly relevant", "irrelevant")
    added = _parts(feature) if feature.added and not is_out else ""
    is_named = bool(feature.redundant_with or feature.overlaps_with)
    shared = ""
    if feature.shared and (is_named or not is_out):
        shared = f"{number(feature.shared)} {_relation(feature)[1]}"
    text = "; ".join(filter(None, (added, shared)))
    return f"{text}." if text else ""


def bits(value: float | None) -> str:
    """Return an amount with its unit.

    >>> bits(0.6), bits(float("inf"))
    ('0.600 bits', 'infinitely many bits')
    """
    return "infinitely many bits" if value is not None and isinf(value) else f"{number(value)} bits"


def _selected(feature: FeatureExplanation, explanation: Explanation) -> str:
    """Return the clauses on a selected feature."""
    test = explanation.p_text(feature.p_value)
    if feature.role == "weakly relevant" and feature.p_value is not None:
        test = f"not significant, {test}"
    if _is_alone(feature, explanation):
        return (
            "is the only selected feature; its marginal information is "
            f"{bits(feature.information)} ({test})"
        )
    fixed = "is a fixed feature and " * (feature.role == "fixed")
    return (
        f"{fixed}adds {'at least ' * feature.is_lower_bound}{bits(feature.added)} beyond the other "
        f"selected features ({_parts(feature)}; {test}); its marginal information is "
        f"{_own(feature)}"
    )


def _other(feature: FeatureExplanation, explanation: Explanation) -> str:
    """Return the clauses on a feature that is not selected."""
    test = explanation.p_text(feature.p_value)
    if _is_alone(feature, explanation):
        own = f"marginal information is {bits(feature.information)} ({test})"
        is_out = feature.role == "irrelevant"
        return f"is not significant: its {own}" if is_out else f"is not selected: its {own}"
    add = f"add {'at least ' * feature.is_lower_bound}{bits(feature.added)}"
    if feature.p_value is None and feature.role in ("irrelevant", "weakly relevant"):
        own = f"has a marginal information of {_own(feature)}"
        return f"{own}; it would {add} to the selected features ({test})"
    if feature.role == "irrelevant":
        marginal = explanation.p_text(feature.marginal_p_value)
        return (
            f"is not significant: its marginal information is {bits(feature.information)} "
            f"({marginal}), and it would {add} to the selected features ({test})"
        )
    if feature.role == "weakly relevant":
        is_named = feature.redundant_with or feature.overlaps_with or not feature.shared
        beyond = "the selected features" if is_named else "them"
        return (
            f"has a marginal information of {_own(feature)}, but is not significant beyond "
            f"{beyond} (would {add}, {test})"
        )
    add += f" to the selected features ({_parts(feature)}"
    if feature.role == "untested":
        return f"was not tested; it would {add})"
    return f"is not selected, but would {add}; {test})"


def _is_alone(feature: FeatureExplanation, explanation: Explanation) -> bool:
    """Return whether there is no (other) selected feature."""
    return not explanation.bits_added.keys() - {feature.name}


def _parts(feature: FeatureExplanation) -> str:
    """Return unique and synergistic information."""
    at_least = "at least " * feature.is_lower_bound
    return f"{number(feature.unique)} unique, {at_least}{number(feature.synergy)} synergistic"


def _own(feature: FeatureExplanation) -> str:
    """Return the marginal information, and how much of it is shared."""
    if not feature.shared:
        return bits(feature.information)
    verb, relation = _relation(feature)
    return f"{bits(feature.information)}, of which {number(feature.shared)} {verb}{relation}"


def _relation(feature: FeatureExplanation) -> tuple[str, str]:
    """Return a verb, and with what information is shared.

    A feature is redundant with those that it depends on. From an independent one it shares what
    both predict.
    """
    if feature.redundant_with:
        names = listed(feature.redundant_with, MAX_NAMES, MAX_LETTERS)
        return "are ", f"redundant with {names}"
    if feature.overlaps_with:
        names = listed(feature.overlaps_with, MAX_NAMES, MAX_LETTERS)
        predict = "predict" + "s" * (len(feature.overlaps_with) == 1)
        return "", f"overlap with what {names} {predict}"
    return "are ", f"shared with the {'other ' * feature.selected}selected features"
