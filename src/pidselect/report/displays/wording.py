"""How names and numbers are written into a picture: they fit, and nothing in them is hidden."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from unicodedata import combining, east_asian_width

from pidselect.data.messages import shown
from pidselect.report.style import LETTER

#: The size of type, in points, that `LETTER` is measured at.
SIZE = 8.0

#: Names beyond so many letters are cut.
LONGEST = 24


def written(name: str, most: int = LONGEST) -> str:
    r"""Return a name as it is written into a picture, cut in the middle where it is too long.

    The middle goes because long names often differ at their ends.

    Examples
    --------
    >>> written("height"), written("temperature_of_the_sea_in_may", 16)
    ('height', 'temperatu…in_may')
    >>> written("a\nb")
    "'a\\nb'"
    """
    text = shown(name)
    if len(text) <= most:
        return text
    tail = max(0, most - 1) * 2 // 5
    head = max(1, most - 1 - tail)
    return f"{text[:head]}…{text[len(text) - tail :]}"


def width(text: str, size: float = SIZE) -> float:
    """Return about how wide the longest line of a text is, in inches.

    Examples
    --------
    >>> round(width("height"), 2), round(width("高さ"), 2)
    (0.43, 0.29)
    """
    longest = max((sum(map(_cells, line)) for line in text.split("\n")), default=0)
    return longest * LETTER * size / SIZE


def _cells(letter: str) -> int:
    if combining(letter):
        return 0
    return 2 if east_asian_width(letter) in "WF" else 1


def to_float(value: Any) -> float:
    """Return a number as records hold it: "inf" is a text there, and what is unknown is None.

    Examples
    --------
    >>> to_float("inf"), to_float(None), to_float(0.5)
    (inf, nan, 0.5)
    """
    return math.nan if value is None else float(value)


def number(value: float, digits: int = 2) -> str:
    """Return a number of so many decimals; what rounds to zero has no sign.

    Examples
    --------
    >>> number(-0.001), number(1.239), number(float("nan")), number(float("-inf"))
    ('0.00', '1.24', 'not estimable', 'minus infinity')
    """
    if math.isnan(value):
        return "not estimable"
    if math.isinf(value):
        return "infinity" if value > 0 else "minus infinity"
    return f"{round(value, digits) + 0.0:.{digits}f}"


def listed(names: Sequence[str], most: int = 12, letters: int = 60) -> str:
    """Return names, each of so many letters at most, as a list of a sentence.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], most=2)
    ('a, b and c', 'a, b and 1 more')
    """
    known = [written(name, letters) for name in names[:most]]
    if more := len(names) - len(known):
        known.append(f"{more} more")
    return known[0] if len(known) == 1 else f"{', '.join(known[:-1])} and {known[-1]}"


def counted(count: int, noun: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> counted(1, "step"), counted(3, "step")
    ('1 step', '3 steps')
    """
    return f"{count} {noun}" + "s" * (count != 1)


def sources_in_words(variables: Sequence[str]) -> str:
    """Return what sources and, last, the target are called.

    Examples
    --------
    >>> sources_in_words(["rain", "sprinkler", "wet"])
    '1 is rain, 2 is sprinkler; the target is wet'
    """
    *sources, target = (written(name) for name in variables)
    numbered = ", ".join(f"{place} is {name}" for place, name in enumerate(sources, start=1))
    return f"{numbered}; the target is {target}"
