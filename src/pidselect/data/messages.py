"""What messages and records share: wording, tables, and the line that warnings point at."""

from __future__ import annotations

import inspect
import re
import textwrap
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from math import isfinite, isnan, nan
from typing import Any

import numpy as np

SHOWN_NAMES = 12  # names listed in full: what fits a few lines of a terminal


def plain(value: Any) -> Any:
    """Return a scalar of NumPy as that of Python, anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def quoted(names: Iterable[object]) -> str:
    """Return the names quoted and separated by commas, a long list cut short.

    >>> quoted(["age", "height"])
    "'age', 'height'"
    """
    known = list(names)
    shown = ", ".join(repr(plain(name)) for name in known[:SHOWN_NAMES])
    more = len(known) - SHOWN_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def shown(name: str) -> str:
    r"""Return a name as it may be printed, quoted if anything about it would not be seen."""
    is_plain = name.isprintable() and name == name.strip() and name
    return name if is_plain else repr(name)


def printable(text: str) -> str:
    r"""Return text without control characters, as names of columns may hold any.

    >>> printable("age \x1b[2J")
    'age \\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() or one == "\n" else one.encode("unicode_escape").decode()
        for one in text
    )


def did_you_mean(word: object, known: Iterable[object]) -> str:
    """Return the end of an error message: the nearest known word, and all of them.

    >>> did_you_mean("hight", ["age", "height"])
    "; did you mean 'height'? Known are 'age', 'height'"
    """
    words = list(known)
    spelt = {name.lower(): name for name in reversed(words) if isinstance(name, str)}
    near = get_close_matches(str(word).lower(), spelt, n=1)
    question = f"did you mean {plain(spelt[near[0]])!r}? Known" if near else "known"
    return f"; {question} are {quoted(words)}"


def check_choice(value: object, known: Iterable[object], parameter: str) -> None:
    """Raise a ValueError unless `value` is one of the known ones."""
    value, choices = plain(value), list(map(plain, known))
    # True == 1, so the types must agree as well; and an array compared with a word has no truth.
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        raise ValueError(f"{parameter}={value!r} is unknown{did_you_mean(value, choices)}")


def warn_caller(message: str | Warning) -> None:
    """Warn, pointing at the line outside of this package that led here."""
    package = __name__.partition(".")[0]
    frame, level = inspect.currentframe(), 1
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def to_plain(value: Any) -> Any:
    """Return dicts, lists, strings and numbers that JSON can hold; of records, their fields.

    The frame library of the caller is left out. JSON has no infinite numbers: they become the texts
    "inf" and "-inf", which ``float`` reads. NaN, an unknown value, becomes None.

    >>> to_plain({"bits": (1.5, float("inf"), float("nan"))})
    {'bits': [1.5, 'inf', None]}
    """
    if is_dataclass(value):
        names = [field.name for field in fields(value) if field.name != "frame_library"]
        value = {name: getattr(value, name) for name in names}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if isfinite(value) else None if isnan(value) else str(float(value))
    return value


def to_float(value: float | str | None) -> float:
    """Return a number of a record made by `to_plain`; None, for an unknown one, becomes NaN."""
    return nan if value is None else float(value)


def number(value: float | str | None, digits: int = 3, unknown: str = "-") -> str:
    """Return a number with fixed decimals, without a sign if it rounds to zero.

    >>> number(0.52149), number(-0.0001), number("inf"), number(None)
    ('0.521', '0.000', 'inf', '-')
    """
    known = to_float(value)
    return unknown if isnan(known) else f"{round(known, digits) + 0.0:.{digits}f}"


def p_text(value: float | str | None) -> str:
    """Return a p-value with three decimals, never as zero.

    >>> p_text(1 / 201), p_text(0.0002), p_text(None)
    ('0.005', '< 0.001', '-')
    """
    return "< 0.001" if to_float(value) < 0.0005 else number(value)


def p_relation(value: float | str | None, alpha: float, is_sequential: bool = False) -> str:
    """Return a p-value with its relation; of a test that stops early, that to its level alone.

    >>> p_relation(0.0049, 0.05), p_relation(0.0049, 0.05, is_sequential=True)
    ('p = 0.005', 'p < 0.05')
    """
    if value is None:
        return "not tested"
    if is_sequential:
        return f"p {'<' if to_float(value) <= alpha else '>'} {alpha:g}"
    text = p_text(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def duration(seconds: float) -> str:
    """Return a duration in a readable unit."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def cut(text: str, most: int = 60) -> str:
    """Shorten a text in the middle, since long names often differ in their last letters.

    >>> cut("temperature_of_the_sea_in_may", 16)
    'temperatu…in_may'
    """
    if len(text) <= most:
        return text
    tail = max(0, most - 1) * 2 // 5
    head = max(1, most - 1 - tail)
    return f"{text[:head]}…{text[len(text) - tail :]}"


def shorten(name: str) -> str:
    """Return a printable name cut to 22 letters at its end, for a column of a table."""
    text = shown(name)
    return text if len(text) <= 22 else f"{text[:19]}..."


def listed(names: Sequence[str], most: int = 8, letters: int = 60) -> str:
    """Return names as an enumeration, at most so many and each of at most so many letters.

    >>> listed(["wind", "rain", "day"]), listed(["wind", "rain", "day"], most=1)
    ('wind, rain and day', 'wind and 2 more')
    """
    words = [cut(shown(name), letters) for name in names[:most]]
    if len(names) > most:
        words.append(f"{len(names) - most} more")
    *first, last = words or [""]
    return f"{', '.join(first)} and {last}" if first else last


def align(rows: Sequence[Sequence[str]], n_left: int) -> list[str]:
    """Return the lines of a table, the first columns flush left and the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place < n_left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def wrap(lines: Iterable[str], width: int = 100) -> str:
    """Return the lines broken at a width, continued ones indented; p-values stay whole.

    >>> print(wrap(["It adds 0.600 bits, p = 0.005."], 22))
    It adds 0.600 bits,
      p = 0.005.
    """
    look: dict[str, Any] = {"subsequent_indent": "  ", "break_on_hyphens": False}
    fixed = "p\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}"
    whole = (re.sub(r"\bp ([=<>]) (?=\d)", fixed, line) for line in lines)
    text = "\n".join(textwrap.fill(line, width, **look) for line in whole)
    return text.replace("\N{NO-BREAK SPACE}", " ")
