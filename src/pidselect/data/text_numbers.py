"""Numbers stored as text: recognised by their form, whatever units or separators they have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Literal

#: So many different words among numbers may denote missing values, if each is outnumbered by so
#: many numbers.
MOST_WORDS, NUMBERS_PER_WORD = 2, 4

NUMBER = re.compile(r"\s*[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
_WITH_COMMA = re.compile(r"\s*[+-]?\d+(?:,\d+)*\s*", re.ASCII)
_THOUSANDS = r"(?:[0-9]{1,3}(?:[.,'\s][0-9]{3})+|[0-9]+)(?:[.,][0-9]+)?"
_UNIT = r"%|[$€£¥]|°?[^\W\d_]{1,6}[²³]?(?:/[^\W\d_]{1,4}[²³]?)?"
_MEASURED = re.compile(rf"\s*[+-]?\s?[$€£¥]?\s?{_THOUSANDS}(?:[eE][+-]?[0-9]+)?\s?({_UNIT})?\s*")

#: Digits after a leading zero belong to a code, such as a postcode.
_CODE = re.compile(r"\s*0\d+\s*", re.ASCII)

#: Plain numbers, with a comma, with separators, signs or one unit, or with a few words among them.
Notation = Literal["plain", "comma", "measured", "words"]


def notation_of(labels: Sequence[str]) -> Notation | None:
    """Return how texts denote numbers, None if they do not."""
    if not labels:
        return None
    notation: Notation | None = None
    if all(map(_WITH_COMMA.fullmatch, labels)):
        notation = "comma" if any("," in label for label in labels) else "plain"
    elif all(NUMBER.fullmatch(label) and "," not in label for label in labels):
        notation = "plain"
    elif _are_measured(labels):
        notation = "measured"
    elif words_among_numbers(labels):
        notation = "words"
    return None if notation is None or any(map(_CODE.fullmatch, labels)) else notation


def _are_measured(labels: Sequence[str]) -> bool:
    """Return whether all labels are numbers with signs and separators, and at most one unit."""
    units = set()
    for label in labels:
        match = _MEASURED.fullmatch(label)
        if match is None:
            return False
        units.add(match[1])
    return len(units - {None}) <= 1


def example_of(labels: Sequence[str]) -> str:
    """Return a text that is no plain number, if there is one, as an example."""
    unusual = (label for label in labels if "," in label or not NUMBER.fullmatch(label))
    return next(unusual, labels[0])


def words_among_numbers(labels: Sequence[str]) -> list[str]:
    """Return the few labels that are no numbers, none if there are more.

    Examples
    --------
    >>> words_among_numbers(["1", "2", "3.5", "4", "?"])
    ['?']
    """
    others = (label for label in labels if not NUMBER.fullmatch(label))
    words = list(islice(others, MOST_WORDS + 1))
    enough = len(labels) - len(words) >= NUMBERS_PER_WORD * len(words)
    return words if len(words) <= MOST_WORDS and enough else []
