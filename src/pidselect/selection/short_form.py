"""The short form of a result, as a notebook shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pidselect.data.markup import (
    Markup,
    bar,
    card,
    details,
    joined,
    listing,
    name,
    paragraph,
    strong,
    table,
    text,
    verbatim,
)

if TYPE_CHECKING:
    from pidselect.selection.result import Selection
    from pidselect.selection.stability import Stability

#: So many names are said in a sentence.
NAMED = 8

#: What the columns of the table are.
COLUMNS = (
    "Bits: what a feature told at the step where it came in. p: of that step's test against "
    "chance. Final p: of what it tells beside all the others."
)


def selection_form(selection: Selection, estimator: str = "") -> Markup:
    """Return the answer as a sentence, a table of what was selected, and how it came about.

    Parameters
    ----------
    selection : Selection
    estimator : str
        The selector as text, if it is the selector's form.

    Examples
    --------
    >>> from pidselect.selection.result import Selection
    >>> print(selection_form(Selection((), ("<age>",), ())).partition("</style>")[2])
    <p><strong>No feature was selected beyond the fixed features.</strong></p>...
    """
    names = (*selection.fixed_features, *selection.features)
    parts = [strong(_answer(selection))]
    if not names and selection.is_complete:
        parts = [strong("No feature was selected."), paragraph(selection.empty_reason())]
    if names:
        rows = [[name(kept), "fixed", "", "", ""] for kept in selection.fixed_features]
        rows += [_row(selection, feature) for feature in selection.features]
        parts.append(table(["feature", "step", "bits", "p", "final p"], rows))
        parts.append(paragraph(COLUMNS))
    parts += map(paragraph, selection.notes)
    parts += _more(selection, estimator)
    return card(*parts)


def _answer(selection: Selection) -> Markup:
    """Return what was selected, in a sentence."""
    n_selected = len(selection.features)
    if not n_selected:
        kept = " beyond the fixed features" if selection.fixed_features else ""
        return text(f"No feature was selected{kept}.")
    n_candidates = len(selection.steps[0].candidates)
    were = "feature was" if n_selected == 1 else "features were"
    listed = joined([name(feature) for feature in selection.features[:NAMED]], ", ")
    more = f" and {n_selected - NAMED} more" if n_selected > NAMED else ""
    start = f"{n_selected} {were} selected of {n_candidates} candidates: "
    return joined([start, listed, f"{more}."])


def _row(selection: Selection, feature: str) -> list[str]:
    """Return a selected feature's line of the table."""
    step = selection.inclusion_step(feature)
    return [
        name(feature),
        str(selection.steps.index(step) + 1),
        f"{step.value:.4f}",
        _p(step.p_value),
        _p(selection.p_values.get(feature)),
    ]


def _more(selection: Selection, estimator: str) -> list[Markup]:
    """Return what is shown only if somebody asks for it."""
    parts = []
    left_out = [
        [name(column), joined(["a duplicate of ", name(of)])]
        for column, of in selection.duplicates.items()
    ]
    left_out += [[name(column), text(why)] for column, why in selection.skipped.items()]
    if left_out:
        count = f"{len(left_out)} column{'s' * (len(left_out) != 1)} left out"
        parts.append(details(count, table(["column", "why"], left_out, "nw")))
    if selection.steps:
        steps = [str(step) for step in selection.steps[:NAMED]]
        more = len(selection.steps) - len(steps)
        steps += [f"... and {more} more, see .steps"] * (more > 0)
        n_steps = f"{len(selection.steps)} step{'s' * (len(selection.steps) != 1)}"
        parts.append(details(n_steps, listing(steps)))
    if selection.settings:
        settings = [[key, str(value)] for key, value in selection.settings.items()]
        parts.append(details("Settings", table(["setting", "value"], settings, "lw")))
    if estimator:
        parts.append(details("Parameters", verbatim(estimator)))
    return parts


def stability_form(stability: Stability) -> Markup:
    """Return how often features were selected, those first that were so most often."""
    counts, frequencies, intervals = stability.counts, stability.frequencies, stability.intervals
    found = sorted((one for one in counts if counts[one]), key=lambda one: -counts[one])
    rows = [
        [
            name(one),
            bar([("frequency", frequencies[one])], 1.0),
            str(counts[one]),
            f"{frequencies[one]:.2f}",
            "{:.2f} to {:.2f}".format(*intervals[one]),
        ]
        for one in found
    ]
    header = ["feature", "share", "selected", "frequency", "95 % interval"]
    parts, most_often, *remarks = stability.notes
    shown = [table(header, rows, "nlrrr")] if rows else []
    return card(strong(f"{parts} {most_often}"), *shown, *map(paragraph, remarks))


def _p(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
