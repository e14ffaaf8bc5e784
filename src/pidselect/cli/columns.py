"""Column names on a command line: found, split at commas, completed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import typer

from pidselect.cli.errors import WrongCallError
from pidselect.data.messages import check_choice, did_you_mean


def split_names(values: Iterable[str], known: Sequence[str], option: str) -> tuple[str, ...]:
    """Return the columns that an option names, each once.

    A value is one name or several, separated by commas. A name may hold commas itself: of what
    begins a value, the longest text that is a column wins.

    Parameters
    ----------
    values : iterable of str
        As typed.
    known : sequence of str
        All columns.
    option : str
        For the error.

    Examples
    --------
    >>> split_names(["a,b", "height, cm"], ["a", "b", "height, cm"], "--drop")
    ('a', 'b', 'height, cm')
    >>> split_names(["hight"], ["age", "height"], "--drop")
    Traceback (most recent call last):
    ...
    pidselect.cli.errors.WrongCallError: --drop: there is no column 'hight'; did you mean 'height'?
    Known are 'age', 'height'
    """
    found: dict[str, None] = {}
    names = set(known)
    for value in values:
        pieces = value.split(",")
        start = 0
        while start < len(pieces):
            for end in range(len(pieces), start, -1):
                text = ",".join(pieces[start:end])
                name = text if text in names else text.strip()
                if name in names:
                    break
            else:
                wanted = pieces[start].strip()
                raise WrongCallError(
                    f"{option}: there is no column {wanted!r}{did_you_mean(wanted, known)}"
                )
            found[name] = None
            start = end
    return tuple(found)


def split_kinds(values: Iterable[str], known: Sequence[str]) -> dict[str, str]:
    """Return the kinds that are stated, by column.

    Examples
    --------
    >>> split_kinds(["a=nominal,b=ordinal", "x=y=continuous"], ["a", "b", "x=y"])
    {'a': 'nominal', 'b': 'ordinal', 'x=y': 'continuous'}
    """
    feature_types: dict[str, str] = {}
    for value in values:
        whole = value.rpartition("=")[0].strip() in known
        for pair in [value] if whole else _pairs(value):
            name, sign, feature_type = (part.strip() for part in pair.rpartition("="))
            if not sign:
                raise WrongCallError(
                    f"--kinds {pair!r} must be a name and a kind, such as {pair}=nominal"
                )
            if name not in known:
                raise WrongCallError(
                    f"--kinds: there is no column {name!r}{did_you_mean(name, known)}"
                )
            _check_kind(name, feature_type)
            feature_types[name] = feature_type
    return feature_types


def _check_kind(column: str, feature_type: str) -> None:
    try:
        check_choice(feature_type, ("continuous", "ordinal", "nominal"), f"--kinds {column}")
    except ValueError as error:
        raise WrongCallError(str(error)) from None


def _pairs(value: str) -> list[str]:
    """Return what lies between commas, but for commas that no kind precedes."""
    pairs = [""]
    for piece in value.split(","):
        if pairs[-1] and "=" in pairs[-1]:
            pairs.append(piece.strip())
        else:
            pairs[-1] = f"{pairs[-1]},{piece}" if pairs[-1] else piece.strip()
    return pairs


def complete_column(context: typer.Context, incomplete: str) -> list[str]:
    """Return the columns that what was typed may become; none if the file cannot be read."""
    try:
        from pidselect.data.disk import header
        from pidselect.data.text_format import TextFormat

        given = context.params
        text = TextFormat(
            delimiter=given.get("delimiter"), encoding=given.get("encoding") or "utf-8"
        )
        # A line that is not finished is not always understood: then its words are looked at.
        words = [Path(word).expanduser() for word in (given.get("table"), *context.args) if word]
        names = header(next(word for word in words if word.is_file()), text)
    except Exception:  # whatever it is, the shell's line is no place for it
        return []
    return [name for name in names if name.isprintable() and name.startswith(incomplete)]
