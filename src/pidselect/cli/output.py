"""What is printed: harmless whatever it holds, and the library's warnings as notes."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

#: Printed as they are, though they are no letters.
LAYOUT = "\n"

#: How a warning begins that the result itself tells.
TOLD_BY_THE_RESULT = ("No feature was selected",)


def harmless(text: str) -> str:
    r"""Return text without anything that a terminal would obey: names may hold anything.

    Examples
    --------
    >>> harmless("age \x1b[2J")
    'age \\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in LAYOUT else _escaped(one) for one in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def say(text: str = "", *, err: bool = False) -> None:
    """Print a text, on standard error if asked for."""
    typer.echo(harmless(text), err=err)


@contextmanager
def warnings_as_notes(tell: Callable[[str], None]) -> Iterator[None]:
    """Pass on what the library warns of, as text and each only once.

    Parameters
    ----------
    tell : callable
        Is given the text.
    """
    seen: set[str] = set()

    def once(text: str) -> None:
        if text not in seen and not text.startswith(TOLD_BY_THE_RESULT):
            seen.add(text)
            tell(text)

    logger, handler = logging.getLogger("pidselect"), _Handler(once)
    logger.addHandler(handler)
    was_passed_on, logger.propagate = logger.propagate, False
    try:
        with warnings.catch_warnings():
            before = warnings.showwarning

            def show(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
                if issubclass(category, UserWarning):
                    once(str(message))
                else:
                    before(message, category, *where, **more)

            warnings.filterwarnings("always", category=UserWarning)
            warnings.showwarning = show
            yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = was_passed_on


class _Handler(logging.Handler):
    """Passes on warnings that come as log records."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        self._tell(record.getMessage())
