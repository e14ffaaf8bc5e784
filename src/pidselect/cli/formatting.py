"""Results as text: the selection, the columns that were left out, and the explanation."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from pidselect.data.messages import align, counted, number, shorten, shown, wrap

if TYPE_CHECKING:  # imported where it is used: help must be quick
    from pidselect.decomposition.explanation import Explanation, FeatureExplanation
    from pidselect.selection.result import Selection

#: Columns left out, and features not selected, that are listed.
MAX_LISTED = 20

#: Limits of the width of text.
MAX_WIDTH, MIN_WIDTH = 100, 40

#: Length of the longest bar, and the marks of its parts: unique and synergy.
BAR_LENGTH = 24
BLOCKS, LETTERS = "█▒", "u+"


def selection_text(selection: Selection, n_rows: int) -> str:
    """Return the table of a selection, and a sentence for each column that was left out.

    `n_rows` are of the file, before rows were dropped.
    """
    sentences = []
    if selection.is_complete and not selection.selected:
        sentences.append(f"{selection.empty_verdict()} {selection.empty_reason()}")
    left_out = [
        f"{shown(copy)} is a duplicate of {shown(original)} and was left out."
        for copy, original in selection.duplicates.items()
        if copy not in selection.also_relevant
    ]
    left_out += [f"{shown(name)} was skipped: {why}." for name, why in selection.skipped.items()]
    sentences += left_out[:MAX_LISTED]
    if (more := len(left_out) - MAX_LISTED) > 0:
        sentences.append(f"... and {counted(more, 'more column')} left out.")
    n_samples = selection.settings.n_samples or n_rows
    if n_samples < n_rows:
        sentences.append(f"{n_samples} of {n_rows} rows were used.")
    return "\n\n".join(filter(None, [str(selection), _wrapped(sentences)]))


def warnings_text(warnings: Sequence[str]) -> str:
    """Return warnings about the data that put the result in question."""
    return _wrapped([f"Warning: {warning}" for warning in warnings])


def explanation_text(explanation: Explanation) -> str:
    """Return a table with bars, a sentence for each feature, and notes."""
    selected = [feature for feature in explanation if feature.selected]
    others = [feature for feature in explanation if not feature.selected]
    listed = selected + others[:MAX_LISTED]
    title = (
        f"Information about {shown(explanation.target)} "
        f"({len(selected)} selected, {explanation.n_samples} samples)"
    )
    sentences = [feature.sentence for feature in listed]
    if (more := len(others) - MAX_LISTED) > 0:
        sentences.append(f"... and {counted(more, 'more feature')}: --json writes all of them.")
    notes = [f"Note: {note}" for note in explanation.notes]
    blocks = [title, _table(listed, explanation), _wrapped(sentences), _wrapped(notes)]
    return "\n\n".join(filter(None, blocks))


def relevant_sentences(explanation: Explanation) -> str:
    """Return a sentence for each relevant feature."""
    roles = ("fixed", "strongly relevant", "adds to the selected set", "weakly relevant")
    return _wrapped([feature.sentence for feature in explanation if feature.role in roles])


def _table(features: Sequence[FeatureExplanation], explanation: Explanation) -> str:
    """Return a line for each feature: role, added bits, p-value, and a bar of its parts."""
    marks = _marks()
    parts = [(feature.unique or 0.0, feature.synergy or 0.0) for feature in features]
    largest = max(filter(isfinite, map(sum, parts)), default=0.0)
    rows = [
        (
            shorten(one.name),
            one.role,
            ">= " * one.is_lower_bound + number(one.added),
            "-"
            if one.p_value is None
            else explanation.p_text(one.p_value).removeprefix("p ").removeprefix("= "),
        )
        for one in features
    ]
    lines = align([("feature", "role", "adds", "p"), *rows], n_left=2)
    bars = ["", *(_bar(amounts, largest, marks) for amounts in parts)]
    table = [f"{line}  {bar}".rstrip() for line, bar in zip(lines, bars, strict=True)]
    legend = f"; bars: {marks[0]} unique, {marks[1]} synergy" if largest else ""
    table.append(f"In bits, beyond the (other) selected features{legend}.")
    if explanation.bits_added and (total := explanation.information) is not None:
        share = explanation.share(total)
        beside = "" if share is None else f" ({explanation.share_name} {100 * share:.0f} %)"
        table.append(f"All selected features: {number(total)} bits{beside}.")
    return "\n".join(table)


def _bar(amounts: Sequence[float], largest: float, marks: str) -> str:
    """Return a bar, rounded at the ends of its parts so that its length is right."""
    if largest <= 0:
        return ""
    bar, total = "", 0.0
    for mark, amount in zip(marks, amounts, strict=True):
        total = min(total + amount, largest)
        bar += mark * (round(BAR_LENGTH * total / largest) - len(bar))
    return bar


def _marks() -> str:
    """Return blocks, or letters where the encoding of standard output has no blocks."""
    try:
        BLOCKS.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return LETTERS
    return BLOCKS


def _wrapped(lines: Sequence[str]) -> str:
    width = MAX_WIDTH  # of a file
    if sys.stdout is not None and sys.stdout.isatty():  # None where it is closed
        width = max(MIN_WIDTH, min(MAX_WIDTH, shutil.get_terminal_size().columns))
    return wrap(lines, width)
