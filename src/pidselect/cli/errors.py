"""How a command ends: exit codes, errors in one line, and library words as options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from pidselect.cli.output import say

#: Exit status of what failed, of a wrong call, and of what was interrupted.
FAILED, WRONG_CALL, INTERRUPTED = 1, 2, 130

#: What a call can have wrong. A full disk is none of it, nor a library that is not there.
WRONG = (
    ValueError,
    FileExistsError,
    FileNotFoundError,
    IsADirectoryError,
    NotADirectoryError,
    PermissionError,
)

#: What is told in one line; anything else is a bug, and is shown with all that led to it.
EXPECTED = (ValueError, OSError, RuntimeError, ModuleNotFoundError, MemoryError)

#: Parameters that the command line calls otherwise than by their name with dashes.
RENAMED = {
    "n_permutations": "permutations",
    "n_bootstrap": "bootstrap",
    "n_jobs": "jobs",
    "n_random_starts": "starts",
    "random_state": "seed",
}

#: Parameters that are options, as messages of the library name them: ``max_samples=2500``.
PARAMETERS = (
    "criterion",
    "estimator",
    "alpha",
    "surrogates",
    "backward",
    "lookahead",
    "max_features",
    "max_conditioning",
    "max_samples",
    "max_memory",
    "missing",
    "device",
    "checkpoint",
    "stability",
    "measure",
    "bins",
    "unit",
    "encoding",
    "delimiter",
    "decimal",
    *RENAMED,
)

QUOTED = r"'[^']*'|\"[^\"]*\""
#: What says itself how it is typed: ``delimiter=';' (--delimiter ';')``.
BOTH = re.compile(rf"(?:\b\w+=(?:{QUOTED}|\[(?:{QUOTED})\])|\bTextFormat\([^()]*\)) \((--[^()]*)\)")
SEVERAL = rf"[(\[](?:{QUOTED})(?:, (?:{QUOTED}))*,?[)\]]"
SETTING = re.compile(rf"\b({'|'.join(PARAMETERS)})=({QUOTED}|{SEVERAL}|[\w.+-]*\w)")
#: Other values of the setting before: ``--measure imin or 'mmi'``.
OTHERS = re.compile(r"""(--[\w-]+ [\w-]+(?: or [\w-]+)*) or (['"])([\w-]+)\2""")
FEATURE_TYPES = re.compile(r"\bkinds=\{([^{}]*)\}")
TARGET = re.compile(rf"\bthe target ({QUOTED})")

#: Words of the library for what the command line calls otherwise.
PHRASES = {
    "feature_groups": "--feature-groups",
    "give each its own path": "give each its own --checkpoint FILE",
    "say where to end with max_features": "say where to end with --max-features",
    "lookahead and n_starts come into play": "--lookahead and --starts come into play",
    ": leave it at None": ": leave it out",
    "Give another path, or delete the file to begin anew.": "Give --restart to forget it and begin "
    "anew, or --checkpoint FILE to keep this run elsewhere.",
    "groups=None: pass the group of every row as groups": "--groups is not given: name the column "
    "that says which rows belong together",
    ", or None for one (or what a joblib context says)": "",
    "What one source tells about a target is pidselect.mutual_information.": "Give --source once "
    "for each of them.",
}


class WrongCallError(ValueError):
    """A call that makes no sense, in words that need no translation."""


def exit_code(error: BaseException) -> int:
    """Return the exit status of a command that ends by an error.

    Examples
    --------
    >>> exit_code(ValueError("no such column")), exit_code(OSError(28, "No space left on device"))
    (2, 1)
    """
    return WRONG_CALL if isinstance(error, WRONG) else FAILED


def is_expected(error: BaseException) -> bool:
    """Return whether an error is told in one line: what has notes comes from within a run."""
    return isinstance(error, EXPECTED) and not getattr(error, "__notes__", ())


def as_options(text: str) -> str:
    """Return a message of the library in the words of the command line.

    Examples
    --------
    >>> as_options("max_samples=2500 takes 30 s; feature_types={'id': 'nominal'} keeps it")
    "--max-samples 2500 takes 30 s; --kinds 'id=nominal' keeps it"
    >>> as_options("use missing='drop' or n_jobs=-1")
    'use --missing drop or --jobs -1'
    >>> as_options("give delimiter=';' (--delimiter ';')")
    "give --delimiter ';'"
    """
    target = TARGET.search(text)
    text = BOTH.sub(r"\1", text)
    text = SETTING.sub(lambda found: _option(found[1], found[2]), text)
    while (joined := OTHERS.sub(r"\1 or \3", text)) != text:
        text = joined
    text = FEATURE_TYPES.sub(lambda found: _kinds(found[1], target), text)
    for phrase, option in PHRASES.items():
        text = text.replace(phrase, option)
    return text


def _option(name: str, value: str) -> str:
    """Return a setting as it is typed: a shell would take a bare semicolon for the end."""
    typed = ",".join(map(_bare, re.findall(QUOTED, value))) if value[0] in "([" else _bare(value)
    if (name, typed) == ("backward", "None"):
        typed = "none"
    return f"--{RENAMED.get(name, name).replace('_', '-')} {shlex.quote(typed)}"


def _kinds(pairs: str, target: re.Match[str] | None) -> str:
    """Return ``'a': 'nominal', 'b': 'ordinal'`` as options; a target goes by its own name."""
    options = []
    for quoted, feature_type in re.findall(rf"({QUOTED}|\.\.\.): ['\"](\w+)['\"]", pairs):
        if quoted == "...":
            options.append(f"--kinds NAME={feature_type}")
            continue
        name = target[1] if target and _bare(quoted) == "target" else quoted
        options.append(f"--kinds {name[0]}{_bare(name)}={feature_type}{name[0]}")
    return " ".join(options)


def _bare(value: str) -> str:
    return value.strip("'\"")


def one_line(error: BaseException) -> str:
    """Return what an error says, in one line and in the words of the command line.

    Examples
    --------
    >>> one_line(MemoryError())
    'There is not enough memory. A smaller --max-memory or --max-samples takes less.'
    """
    if isinstance(error, MemoryError):
        return "There is not enough memory. A smaller --max-memory or --max-samples takes less."
    text = str(error)
    if isinstance(error, OSError) and error.strerror:  # whose number says nothing to anybody
        text = error.strerror + (f": {error.filename!r}" if error.filename else "")
    words = " ".join(text.split())
    return words if isinstance(error, WrongCallError) else as_options(words)


@contextmanager
def plain_errors(if_stopped: str = "Stopped.") -> Iterator[None]:
    """Turn what a user can mend into one line and an exit status.

    Parameters
    ----------
    if_stopped : str
        What is said after Ctrl-C.
    """
    try:
        yield
    except KeyboardInterrupt:
        say(f"\n{if_stopped}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except (typer.Exit, BrokenPipeError):  # the end is decided, or whoever read has seen enough
        raise
    except Exception as error:
        if not is_expected(error):
            raise
        say(f"Error: {one_line(error)}", err=True)
        raise typer.Exit(exit_code(error)) from None
