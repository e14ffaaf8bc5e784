"""What a command prints: results, notes, and errors in one line with an exit code."""

from __future__ import annotations

import logging
import os
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import typer

#: Exit codes of a failure, a wrong call or file, and an interruption.
FAILED, WRONG_CALL, INTERRUPTED = 1, 2, 130

#: Errors of a call or a file. A full disk is none of them, nor a missing library.
WRONG = (
    ValueError,
    FileExistsError,
    FileNotFoundError,
    IsADirectoryError,
    NotADirectoryError,
    PermissionError,
)

#: Errors reported in one line; any other error is a defect and shows its traceback.
EXPECTED = (ValueError, OSError, RuntimeError, ModuleNotFoundError, MemoryError)

HINT = "Parameters are options: n_jobs=2 is --n-jobs 2."


def say(text: str = "", *, err: bool = False) -> None:
    """Print a text, on standard error if `err`."""
    from pidselect.data.messages import printable

    typer.echo(printable(text), err=err)


class WrongCallError(ValueError):
    """A wrong call, whose message names the option."""


def to_option(parameter: str, value: object) -> str:
    """Return a parameter and its value as they are typed."""
    if isinstance(value, Mapping):
        value = [f"{key}={one}" for key, one in value.items()]
    option = f"--{parameter.replace('_', '-')}"
    words: list[str] = []
    for one in value if isinstance(value, list | tuple) else [value]:
        words += [f"{option}={one}"] if str(one).startswith("-") else [option, str(one)]
    return join_words(words)


def join_words(words: Sequence[str]) -> str:
    """Return words as they are typed in the shell of this system."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def as_typed() -> str:
    """Return this command as it was typed."""
    return join_words(["pidselect", *sys.argv[1:]])


def hint(error: BaseException | Warning) -> str:
    """Return the option that resolves an error of the library, or how parameters are options."""
    if setting := getattr(error, "setting", None):
        return f"Option: {to_option(*setting)}"
    is_of_library = isinstance(error, ValueError | UserWarning)
    return HINT if is_of_library and not isinstance(error, WrongCallError) else ""


def one_line(error: BaseException) -> str:
    """Return the message of an error in one line.

    Examples
    --------
    >>> one_line(MemoryError())
    'Not enough memory: reduce --max-samples.'
    """
    if isinstance(error, MemoryError):
        return "Not enough memory: reduce --max-samples."
    text = str(error)
    if isinstance(error, OSError) and error.strerror:  # without its number
        text = error.strerror + (f": {error.filename!r}" if error.filename else "")
    return " ".join(text.split())


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn errors that a user can resolve into a message and an exit code."""
    try:
        yield
    except KeyboardInterrupt:
        say("\nInterrupted.", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except (typer.Exit, BrokenPipeError):
        raise
    except EXPECTED as error:
        say("\n".join(filter(None, [f"Error: {one_line(error)}", hint(error)])), err=True)
        raise typer.Exit(WRONG_CALL if isinstance(error, WRONG) else FAILED) from None


@contextmanager
def warnings_as_notes(show: Callable[[str], None]) -> Iterator[None]:
    """Pass warnings and log messages of the library to `show`, each only once."""
    seen: set[str] = set()

    def show_once(text: str, advice: str) -> None:
        if text not in seen:
            seen.add(text)
            show(f"Note: {' '.join(text.split())}")
            if advice and advice not in seen:
                seen.add(advice)
                show(advice)

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.name.startswith("pidselect.selection"):  # the result, which is shown
                return
            names_parameters = record.name != "pidselect.jit"
            show_once(record.getMessage(), HINT if names_parameters else "")

    def show_warning(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
        if issubclass(category, UserWarning):
            show_once(str(message), hint(message))
        else:
            default(message, category, *where, **more)

    logger, handler = logging.getLogger("pidselect"), Handler()
    level, propagated = logger.level, logger.propagate
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    logger.propagate = False
    try:
        with warnings.catch_warnings():
            default, warnings.showwarning = warnings.showwarning, show_warning
            warnings.filterwarnings("always", category=UserWarning)
            yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagated
