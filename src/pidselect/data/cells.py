"""The fields of a column as texts -> numbers, truth values, times or codes of texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, time
from typing import Any

import numpy as np

from .column import FloatArray
from .raw import EXACT_INTEGERS, from_array, from_objects

TRUTHS = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}

_CLOCK = r"\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?"
_DATE = r"(?!0000)\d{4}-\d\d-\d\d"
_MOMENT = re.compile(rf"{_DATE}(?:[T ]{_CLOCK})?", re.ASCII)
_IN_A_ZONE = re.compile(rf"{_DATE}(?:[T ]{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
_TIME_OF_DAY = re.compile(_CLOCK, re.ASCII)

#: Reads all texts of a block, or returns None if one of them is something else.
Reader = Callable[[Sequence[str]], FloatArray | None]


class Codes(dict[str | None, int]):
    """The code of every text met so far, -1 for those that stand for a missing value.

    Examples
    --------
    >>> codes = Codes(["NA"])
    >>> [codes[text] for text in ("Rome", "Oslo", "NA", "Rome")]
    [0, 1, -1, 0]
    """

    def __init__(self, missing: Iterable[str]) -> None:
        super().__init__({None: -1})  # what JSON calls null
        self._missing = frozenset(missing)
        self.labels: list[str] = []

    def __missing__(self, text: Any) -> int:
        code = -1 if text in self._missing or text.strip() in self._missing else len(self.labels)
        if code >= 0:
            self.labels.append(text)
        self[text] = code
        return code

    def of(self, texts: Sequence[str | None]) -> FloatArray:
        """Return the codes of texts as floats, NaN where missing."""
        codes = np.fromiter(map(self.__getitem__, texts), np.float64, len(texts))
        codes[codes < 0] = np.nan
        return codes


def read_numbers(texts: Sequence[str], is_plain: bool = False) -> FloatArray | None:
    """Return numbers as Python reads them, None if one text is none.

    Blanks around a number are fine. Underscores and the digits of other scripts, which Python
    takes, are not.

    Examples
    --------
    >>> read_numbers([" 3.5", "1e2", "-inf"])
    array([  3.5, 100. ,  -inf])
    >>> read_numbers(["1_000"]) is None
    True
    """
    try:
        numbers = np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        return None
    if not is_plain:
        together = "".join(texts)
        if "_" in together or not (together.isascii() or all(t.strip().isascii() for t in texts)):
            return None
    return numbers


def read_truths(texts: Sequence[str]) -> FloatArray | None:
    """Return 0 for false and 1 for true, in small or capital letters, None if one is neither.

    Examples
    --------
    >>> read_truths(["true", "False"])
    array([1., 0.])
    """
    try:
        return np.fromiter(map(TRUTHS.__getitem__, texts), np.float64, len(texts))
    except KeyError:
        return None


def read_moments(texts: Sequence[str]) -> FloatArray | None:
    """Return ISO dates, with or without a time, in seconds since 1970, None if one is no such.

    Without a time zone they are read as UTC.

    Examples
    --------
    >>> read_moments(["1970-01-02", "1970-01-01 00:00:01.5", "1970-01-01T01:00+01:00"])
    array([8.64e+04, 1.50e+00, 0.00e+00])
    >>> read_moments(["2023-02-29"]) is None
    True
    """
    try:
        if all(map(_MOMENT.fullmatch, texts)):
            # Seconds since 1970 as floats have no room for more than microseconds.
            return from_array("", np.array(texts, dtype="datetime64[us]")).values
        if all(map(_IN_A_ZONE.fullmatch, texts)):
            return from_objects("", list(map(datetime.fromisoformat, texts))).values
        return None
    except ValueError:  # the 30th of February
        return None


def read_clocks(texts: Sequence[str]) -> FloatArray | None:
    """Return times of day, as 08:30 or 08:30:05, in seconds, None if one is no such.

    Examples
    --------
    >>> read_clocks(["08:30", "00:00:05"])
    array([3.06e+04, 5.00e+00])
    """
    if not all(map(_TIME_OF_DAY.fullmatch, texts)):
        return None
    try:
        return from_objects("", list(map(time.fromisoformat, texts))).values
    except ValueError:
        return None


def has_merged(values: Sequence[Any], numbers: FloatArray) -> bool:
    """Return whether a whole number is beyond those that floats tell apart, and lost digits.

    Examples
    --------
    >>> texts = ["9007199254740992", "9007199254740993"]
    >>> has_merged(texts, read_numbers(texts))
    True
    """
    large = np.flatnonzero(np.abs(numbers) > EXACT_INTEGERS - 1)  # false for NaN
    wholes = (whole_number(values[row]) for row in large.tolist())
    # As Python's own, ints are compared with floats exactly.
    return any(a != b for a, b in zip(wholes, numbers[large].tolist(), strict=True))


def whole_number(value: Any) -> int | float:
    """Return a number that is written without decimals as an int, others as floats.

    Examples
    --------
    >>> whole_number(" 12"), whole_number("1e3")
    (12, 1000.0)
    """
    try:
        return int(value) if not isinstance(value, float) else value
    except ValueError:
        return float(value)
