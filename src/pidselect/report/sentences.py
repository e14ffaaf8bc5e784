"""Sentences of a report: what was selected, how sure that is, and why."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf
from typing import TYPE_CHECKING

from pidselect.data.feature_types import TARGET
from pidselect.data.messages import shown
from pidselect.decomposition.result import Explanation
from pidselect.selection.result import INCLUSION_PHASES, Selection
from pidselect.selection.stability import Stability
from pidselect.significance import is_significant

if TYPE_CHECKING:
    from pidselect.report.summary import About

#: Names listed in the answer; a longer list is cut short, as the table below has all of them.
MOST_NAMED = 8

#: Letters of a name in a list.
LONG_NAME = 60


def answer(
    selection: Selection, explanation: Explanation | None, about: About, is_complete: bool
) -> list[str]:
    """Return the answer in a few sentences: which features, how much they tell, what is left."""
    target, names = named(about.target), selection.features
    columns = f"{about.n_columns:,} column{'s' * (about.n_columns != 1)}"
    kept = selection.fixed_features
    start = "" if is_complete else "so far, "
    if kept:
        start += f"beyond {listed(kept)}, which {'was' if len(kept) == 1 else 'were'} kept, "
    if not names and not is_complete:
        return [f"No feature was selected before the run was stopped, of {columns} given."]
    if not names:
        more = " more" * bool(kept)
        found = f"{start}none of the {columns} was found to tell something{more} about {target}."
        return [_begun(found)]
    count = f"{len(names)} of {columns}"
    if (
        any(name not in about.feature_types for name in names) and about.feature_types
    ):  # groups of columns
        count = f"{len(names)} feature{'s' * (len(names) != 1)}, out of {columns},"
    were, they_tell = ("was", "it tells") if len(names) == 1 else ("were", "they tell")
    untested = ", untested," * _is_untested(selection)
    selected = f"{start}{count} {were} selected{untested} for what {they_tell} about {target}"
    return [
        _begun(f"{selected}: {listed(names)}."),
        *_together(selection, explanation, about),
        *(_others(selection) if is_complete else ()),
    ]


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]


def _together(selection: Selection, explanation: Explanation | None, about: About) -> list[str]:
    """Say how much all selected features tell together."""
    if explanation is None:
        return []
    n_features = len(selection.features) + len(selection.fixed_features)
    they = "It tells" if n_features == 1 else "Together they tell"
    if selection.fixed_features:
        they = "With what was kept, " + (
            "it tells" if len(selection.features) == 1 else "they tell"
        )
    bits, known = explanation.information, about.entropy
    if bits is None:
        they = "it tells" if n_features == 1 else "they tell together"
        return [f"How much {they} cannot be estimated from these samples."]
    if isinf(bits):
        return [f"{they} it exactly, as far as the estimate goes."]
    if known is None:
        return [f"{they} {max(bits, 0.0):.2f} bit."]
    if bits >= known:  # nobody can tell more: estimates can
        return [f"{they} all of the {known:.2f} bit there is to know, as far as the estimate goes."]
    share = f"{100 * max(bits, 0.0) / known:.0f} %"
    return [f"{they} {max(bits, 0.0):.2f} of the {known:.2f} bit there is to know, or {share}."]


def _others(selection: Selection) -> list[str]:
    """Say why it was left at these features."""
    searches = [step for step in selection.steps if step.phase in INCLUSION_PHASES]
    by_cmi = selection.settings.get("criterion", "cmi") == "cmi"  # others say nothing of adding
    if not searches or not by_cmi or _is_untested(selection):
        return []
    if not searches[-1].accepted:
        return ["None of the others was found to add to that."]
    if len(searches[-1].candidates) > 1:
        return ["The search ended at max_features: others may add to that."]
    return []


def _is_untested(selection: Selection) -> bool:
    return selection.settings.get("n_permutations") == 0


def certainty(
    selection: Selection,
    explanation: Explanation | None,
    stability: Stability | None,
    n_rows: int,
) -> list[str]:
    """Return what p-values say, and how far that can be trusted."""
    settings = selection.settings
    draws, alpha = settings.get("n_permutations"), settings.get("alpha", 0.05)
    if _is_untested(selection):
        said = ["Nothing was tested, as n_permutations is 0: this is a ranking, cut off."]
    else:
        said = [*_of_tests(selection, draws, alpha), *_of_final(selection, alpha)]
    if (n_samples := settings.get("n_samples", n_rows)) < n_rows:
        said.append(f"The tests went by {n_samples:,} of {n_rows:,} rows.")
    if explanation is not None and explanation.n_samples != n_samples:
        said.append(f"How features tell was estimated from {explanation.n_samples:,} rows.")
    if explanation is not None and explanation.in_sample and selection.features:
        said.append(
            "Bits are estimates, from the rows that features were selected on: take them for the "
            "upper end."
        )
    if stability is not None:
        said += _of_stability(stability)
    return said


def _of_tests(selection: Selection, draws: object, alpha: float) -> list[str]:
    once = f"In a step where there is nothing to find, chance passes in {100 * alpha:g} % of cases."
    tested = [step for step in selection.steps if step.p_value is not None]
    if not tested:
        return []
    close = dict.fromkeys(step.chosen for step in tested if step.close_call)
    calls = (
        [f"Close call, more permutations may change it: {listed(list(close))}."] if close else []
    )
    if draws == "auto":
        most = max(step.n_permutations for step in tested)
        return [
            f"Every step was tested at level {alpha:g} against shuffled data, of which as many "
            f"were drawn as it took, at most {most:,}. Tests ended early: of a p-value, only the "
            "side of the level it is on says much.",
            once,
            *calls,
        ]
    return [
        f"Every step was tested at level {alpha:g} against {draws:,} sets of shuffled data. The "
        "p-value is the share of them in which the luckiest candidate did at least as well; "
        f"{1 / (1 + int(str(draws))):.3f} is the smallest that so many can give.",
        once,
        *calls,
    ]


def _of_final(selection: Selection, alpha: float) -> list[str]:
    if not selection.p_values:
        return []
    final = (
        "The final p-value tests each feature once more, beside all the others that were selected, "
        "and is adjusted for their number."
    )
    doubtful = [n for n, p in selection.p_values.items() if not is_significant(p, alpha)]
    if doubtful:
        do = "does" if len(doubtful) == 1 else "do"
        final += f" By it, {listed(doubtful)} {do} not surely add something to the others."
    return [final]


def _of_stability(stability: Stability) -> list[str]:
    n_parts = len(stability.selections)
    said = (
        f"The frequency is how often a feature is selected again from random parts of the rows: "
        f"{n_parts} parts, each {100 * stability.sample_fraction:g} % of the rows."
    )
    if stability.stability is not None:
        said += f" Their stability is {stability.stability:.2f} (1: always the same; 0: by chance)."
    return [said]


def untold(name: str, selection: Selection) -> str:
    """Say what the record alone knows of a feature.

    Parameters
    ----------
    name : str
        One that took part.
    selection : Selection
    """
    subject = shown(name)
    if name in selection.fixed_features:
        return f"{subject} was kept from the start, untested."
    if name not in selection.features:
        removed = any(s.chosen == name and s.phase == "backward" for s in selection.steps)
        if removed:
            return f"{subject} was selected, but removed again, as the others tell the same."
        return f"{subject} was not selected."
    step = selection.inclusion_step(name)
    others = [other for other in step.jointly_included if other != name]
    who = f"{subject} and {listed(others)} together" if others else subject
    tell = "tell" if others else "tells"
    beyond = " beyond what was selected before" if step.conditioning_set else ""
    return f"{who} {tell} {step.value:.2f} bit{beyond}."


def named(target: str) -> str:
    """Return what the target is called; one without a name of its own is the target.

    Examples
    --------
    >>> named("rentals"), named("target")
    ('rentals', 'the target')
    """
    return "the target" if target == TARGET else cut(shown(target), LONG_NAME)


def listed(names: Sequence[str]) -> str:
    """Return names as a list in words, a long one cut short.

    Examples
    --------
    >>> listed(["wind"]), listed(["wind", "rain", "day"])
    ('wind', 'wind, rain and day')
    >>> listed([f"x{i}" for i in range(20)])
    'x0, x1, x2, x3, x4, x5, x6, x7 and 12 more'
    """
    words = [cut(shown(name), LONG_NAME) for name in names]
    if len(words) > MOST_NAMED:
        words = [*words[:MOST_NAMED], f"{len(words) - MOST_NAMED} more"]
    *first, last = words or [""]
    return f"{', '.join(first)} and {last}" if first else last


def cut(text: str, most: int) -> str:
    """Return a text of at most so many letters.

    Examples
    --------
    >>> cut("temperature", 5)
    'temp…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"
