"""The wording that error messages share."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

SHOWN_NAMES = 12  # names listed in full: what fits a few lines of a terminal


def quoted(names: Iterable[str]) -> str:
    """Return the names quoted and separated by commas, a long list cut short.

    Examples
    --------
    >>> quoted(["age", "height"])
    "'age', 'height'"
    >>> quoted(f"x{i}" for i in range(100)).endswith("'x10', 'x11' and 88 more")
    True
    """
    known = list(names)
    shown = ", ".join(repr(name) for name in known[:SHOWN_NAMES])
    more = len(known) - SHOWN_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return the end of an error message: the nearest known word, and all of them.

    Examples
    --------
    >>> did_you_mean("hight", ["age", "height"])
    "; did you mean 'height'? Known are 'age', 'height'"
    """
    words = list(known)
    spelt = {name.lower(): name for name in reversed(words)}
    near = get_close_matches(str(word).lower(), spelt, n=1)
    question = f"did you mean {spelt[near[0]]!r}? Known" if near else "known"
    return f"; {question} are {quoted(words)}"


def check_choice(value: object, known: Iterable[str], parameter: str) -> None:
    """Raise a ValueError unless `value` is one of the known words.

    Examples
    --------
    >>> check_choice("dorp", ["error", "drop"], "missing")
    Traceback (most recent call last):
    ...
    ValueError: missing='dorp' is unknown; did you mean 'drop'? Known are 'error', 'drop'
    """
    words = list(known)
    if not (isinstance(value, str) and value in words):
        raise ValueError(f"{parameter}={value!r} is unknown{did_you_mean(value, words)}")
