"""Sentences: what was found about a feature, in everyday words."""

from __future__ import annotations

from collections.abc import Sequence

from pidselect.data.messages import shown
from pidselect.decomposition.explanation import FeatureExplanation

#: From these shares on, most or almost all of something is meant.
MOST = 0.5
ALMOST_ALL = 0.9

TESTED = {
    "strongly relevant": "is strongly relevant",
    "weakly relevant": "is weakly relevant",
    "fixed": "is fixed, untested",
}


def sentence(
    feature: FeatureExplanation, target: str, others: Sequence[str], kept: Sequence[str] = ()
) -> str:
    """Say in one sentence what a feature tells about the target, and how.

    Parameters
    ----------
    feature : FeatureExplanation
    target : str
        What the target is called.
    others : sequence of str
        The selected features that it stands beside.
    kept : sequence of str
        Those among them that were never tested, so that nothing was ever tested without them.

    Examples
    --------
    >>> X1 = FeatureExplanation("X1", "strongly relevant", True, 0.31, 0.4, 0.21, 1.2, "broja")
    >>> print(sentence(X1, "y", ["X2", "X3"]))
    X1 is strongly relevant: it tells 0.52 bit about y that the other selected features do not
    (0.31 bit by itself, 0.21 bit only together with them), and shares 0.40 bit with them.
    """
    name, about = shown(feature.name), f"about {shown(target)}"
    if feature.role == "duplicate":
        return (
            f"{name} is a duplicate of {shown(feature.reason)}: what is said of that holds for it."
        )
    if feature.role == "skipped":
        return f"{name} was skipped: {feature.reason}."
    if feature.role == "irrelevant":
        return f"{name} is irrelevant as far as tests can tell: {_none_found(about, others, kept)}."
    subject = f"{name} {TESTED[feature.role]}"
    if feature.unique is None:
        return f"{subject}; how it tells {about} is not estimable: {feature.reason}."
    if feature.role == "weakly relevant" and not feature.selected:
        return f"{subject}: {_redundancy(feature, about)}."
    return f"{subject}: {_contribution(feature, about, others)}."


def _none_found(about: str, others: Sequence[str], kept: Sequence[str]) -> str:
    found = f"none found it to tell anything {about}"
    if kept:
        return f"{found} that {_listed(kept)} would not"
    return f"{found}, by itself or together with {_named(others, 'the ')}" if others else found


def _contribution(feature: FeatureExplanation, about: str, others: Sequence[str]) -> str:
    """Say what a selected feature adds to the others, and what it has in common with them."""
    if not others:
        return f"it tells {bits(feature.information)} {about}, as the only one selected"
    they = _named(others, "the other ")
    them = "it" if len(others) == 1 else "them"
    does = "does" if len(others) == 1 else "do"
    more = f"it tells {bits(feature.relevance)} {about} that {they} {does} not"
    if not _is_something(feature.relevance) and feature.role == "strongly relevant":
        return (
            f"by its test it adds something to {they}, but this estimate is too coarse to say how "
            f"much; it shares {bits(feature.shared)} with {them}"
        )
    if not _is_something(feature.relevance):
        return f"{more} in these samples, and shares {bits(feature.shared)} with {them}"
    if feature.has_bounds:
        return f"{more}{_bounds(feature, others)}"
    apart, together = _is_something(feature.unique), _is_something(feature.synergy)
    how = {
        (True, True): f" ({bits(feature.unique)} by itself, {bits(feature.synergy)} only together "
        f"with {them})",
        (True, False): " (by itself)",
        (False, True): f" (only together with {them})",
        (False, False): "",
    }[apart, together]
    return f"{more}{how}, and shares {bits(feature.shared)} with {them}"


def _bounds(feature: FeatureExplanation, others: Sequence[str]) -> str:
    """Say what amounts alone tell: bounds of the parts.

    Nobody can share more than the smaller amount. What exceeds all that a feature tells by itself
    is there only with the others.
    """
    them, they = ("it", shown(others[0])) if len(others) == 1 else ("them", "the others")
    if not _is_something(feature.information):
        return f", only together with {them}; by itself it tells nothing"
    told, relevance = feature.information or 0.0, feature.relevance or 0.0
    shared, together = feature.shared or 0.0, relevance - told
    text = f"; by itself it tells {bits(told)}"
    if _is_something(together):
        text = f", at least {bits(together)} of it only together with {them}{text}"
    if not _is_something(shared):
        return f"{text}, which {they} do{'es' * (len(others) == 1)} not"
    part = "which" if shared >= told else f"{bits(shared)} of which"
    return f"{text}, {part} {they} may tell as well"


def _redundancy(feature: FeatureExplanation, about: str) -> str:
    """Say how much of what a feature tells is known already, and what it would add.

    What is shared counts as redundant only as far as it outweighs the synergy: a feature that would
    add as much as it tells by itself was not left out for being redundant.
    """
    whom = _listed(feature.redundant_with) or "the selected features"
    told = feature.information or 0.0
    known = (feature.shared or 0.0) - max(feature.synergy or 0.0, 0.0)
    if not _is_something(told):
        story = f"it passed a test, but by itself it tells nothing {about} in these samples"
    elif not _is_something(known):
        story = f"it tells {bits(told)} {about} by itself"
    elif known >= MOST * told:
        amount = "almost all" if known >= ALMOST_ALL * told else "most"
        story = f"{amount} of the {bits(told)} it tells {about} is redundant with {whom}"
    else:
        least = f"at least {bits(known)}"
        story = f"of the {bits(told)} it tells {about}, {least} is redundant with {whom}"
    if not _is_something(feature.relevance):
        return story
    return f"{story}; beside the selected features it would add {bits(feature.relevance)}"


def bits(value: float | None) -> str:
    """Return an amount of information in words.

    Examples
    --------
    >>> bits(0.521), bits(0.004), bits(-0.2)
    ('0.52 bit', 'nothing', 'nothing')
    """
    return f"{value:.2f} bit" if value is not None and _is_something(value) else "nothing"


def _is_something(value: float | None) -> bool:
    return value is not None and round(value, 2) > 0


def _named(others: Sequence[str], article: str) -> str:
    return shown(others[0]) if len(others) == 1 else f"{article}selected features"


def _listed(names: Sequence[str]) -> str:
    *first, last = map(shown, names) if names else [""]
    return f"{', '.join(first)} and {last}" if first else last
