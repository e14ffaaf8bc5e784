"""Results as text: the selection, what was left out, and how features tell."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pidselect.cli.errors import as_options
from pidselect.data.messages import align, shown

if TYPE_CHECKING:  # loaded by what needs it: help and errors come at once
    from pidselect.decomposition.explanation import Explanation, FeatureExplanation
    from pidselect.selection.result import Selection

#: Of columns that were left out, so many are named; of features that are not selected, as well.
MOST_NAMED = 20

#: Texts are broken into lines of so many columns at most, and so many at least.
WIDEST, NARROWEST = 100, 40

#: What a note says that holds in Python only.
IN_PYTHON = "; held-out rows can be passed instead"

#: The longest bar, and what its parts are drawn with: unique, shared, synergy.
LONGEST = 24
BLOCKS, LETTERS = "█▒░", "us+"


def selection_text(selection: Selection, n_rows: int) -> str:
    """Return the table of a selection, and a sentence for each column that was left out.

    Parameters
    ----------
    selection : Selection
    n_rows : int
        Of the file, before rows were left out.
    """
    blocks = [str(selection)]
    if selection.is_complete and not selection.features:
        blocks.append(
            _wrapped([as_options(f"No feature was selected. {selection.empty_reason()}")])
        )
    if left_out := _left_out(selection, n_rows):
        blocks.append(_wrapped(left_out))
    return "\n\n".join(blocks)


def _left_out(selection: Selection, n_rows: int) -> list[str]:
    sentences = [
        f"{shown(copy)} says the same as {shown(original)} and was left out."
        for copy, original in selection.duplicates.items()
    ]
    sentences += [
        f"{shown(name)} was skipped: {reason}." for name, reason in selection.skipped.items()
    ]
    if more := len(sentences) - MOST_NAMED:
        sentences[MOST_NAMED:] = [f"... and {more} more columns were left out."] * (more > 0)
    n_samples = selection.settings.get("n_samples", n_rows)
    if n_samples < n_rows:
        sentences.append(f"{n_samples} of {n_rows} rows were used.")
    return sentences


def alarms_text(alarms: Sequence[str]) -> str:
    """Return what undoes the answer, in the words of the command line.

    Examples
    --------
    >>> print(alarms_text(["day counts the rows. Use surrogates='shift'."]))
    Mind: day counts the rows. Use --surrogates shift.
    """
    return _wrapped([f"Mind: {as_options(alarm)}" for alarm in alarms])


def explanation_text(explanation: Explanation) -> str:
    """Return roles with bars, a sentence for each feature, and notes."""
    others = [feature for feature in explanation if not feature.selected]
    printed = [feature for feature in explanation if feature.selected] + others[:MOST_NAMED]
    n_selected = sum(feature.selected for feature in explanation)
    title = (
        f"What features tell about {shown(explanation.target)} "
        f"({n_selected} selected, {explanation.n_samples} samples)"
    )
    sentences = [feature.sentence for feature in printed]
    if more := len(others) - MOST_NAMED:
        sentences += [f"... and {more} more, in what --json writes."] * (more > 0)
    notes = [f"Note: {as_options(note).replace(IN_PYTHON, '')}" for note in explanation.notes]
    blocks = [title, _bars(printed), _wrapped(sentences), _wrapped(notes)]
    return "\n\n".join(block for block in blocks if block)


def relevant_sentences(explanation: Explanation) -> str:
    """Return a sentence for each feature that tells something."""
    roles = ("fixed", "strongly relevant", "weakly relevant")
    return _wrapped([feature.sentence for feature in explanation if feature.role in roles])


def _bars(features: Sequence[FeatureExplanation]) -> str:
    """Return a line for each feature: its role, its parts in bits, and a bar of them."""
    from pidselect.decomposition.explanation import ATOMS, cut, number

    marks = _marks()
    parts = [[max(0.0, getattr(feature, atom) or 0.0) for atom in ATOMS] for feature in features]
    longest = max(map(sum, parts), default=0.0)
    header = ("feature", "role", *ATOMS)
    rows = [
        (cut(one.name), one.role, *(number(getattr(one, atom)) for atom in ATOMS))
        for one in features
    ]
    lines = align([header, *rows], n_left=2)
    drawn = ["", *(_bar(amounts, longest, marks) for amounts in parts)]
    legend = ", ".join(f"{mark} {atom}" for mark, atom in zip(marks, ATOMS, strict=True))
    table = [f"{line}  {bar}".rstrip() for line, bar in zip(lines, drawn, strict=True)]
    scale = f"In bits; bars: {legend}; the longest is {longest:.3f} bit." if longest else "In bits."
    return "\n".join([*table, scale])


def _bar(amounts: Sequence[float], longest: float, marks: str) -> str:
    """Return a bar whose parts are rounded so that its length is right.

    Examples
    --------
    >>> _bar([0.5, 0.25, 0.25], 1.0, "us+")
    'uuuuuuuuuuuussssss++++++'
    """
    if longest <= 0:
        return ""
    ends, total = [0], 0.0
    for amount in amounts:
        total += amount
        ends.append(round(LONGEST * total / longest))
    return "".join(
        mark * (end - start) for mark, start, end in zip(marks, ends[:-1], ends[1:], strict=True)
    )


def _marks() -> str:
    """Return blocks, or letters where standard output has no blocks."""
    try:
        BLOCKS.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return LETTERS
    return BLOCKS


def _wrapped(lines: Sequence[str]) -> str:
    width = _width()
    return "\n".join(
        textwrap.fill(line, width, subsequent_indent="  ", break_on_hyphens=False) for line in lines
    )


def _width() -> int:
    """Return the width of the terminal within limits; what goes to a file is the same anywhere."""
    if sys.stdout is None or not sys.stdout.isatty():  # None where it is closed
        return WIDEST
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size().columns))
