"""Values that options take: names that the shell completes, and numbers, told in plain words.

The names are written down here, as what knows them takes a second to load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import typer

from pidselect.data.messages import check_choice, did_you_mean

CRITERIA = ("cmi", "mi", "mim", "mifs", "mrmr", "cife", "jmi", "cmim", "disr", "icap", "pid")
ESTIMATORS = (
    "auto",
    "ksg",
    "ksg-rank",
    "mixed",
    "mixed-rank",
    "discrete",
    "gaussian",
    "copula",
)
SCHEMES = ("global", "local", "shift", "blocks")
MEASURES = ("broja", "ccs", "imin", "mmi", "sx")
CONTINUOUS = ("gaussian", "sx-ksg")


def one_of(*names: str) -> dict[str, Any]:
    """Return how an option takes one of some names: listed, completed, and refused with the list.

    Examples
    --------
    >>> device = one_of("cpu", "cuda")
    >>> device["metavar"], device["autocompletion"]("cu")
    ('cpu|cuda', ['cuda'])
    """

    def parse(text: str) -> str:
        if text not in names:
            raise typer.BadParameter(f"{text!r} is unknown{did_you_mean(text, names)}")
        return text

    return {"parser": parse, "metavar": "|".join(names), "autocompletion": completing(names)}


def whole(text: str | int) -> int:
    """Return a whole number that was typed."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no whole number, such as 7.") from None


def real(text: str | float) -> float:
    """Return a number that was typed."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no number, such as 0.05.") from None


#: How an option takes a whole number.
WHOLE: dict[str, Any] = {"parser": whole, "metavar": "N"}


def completing(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Return what completes the last of some names that commas separate.

    Examples
    --------
    >>> completing(["ksg", "copula"])("ksg,co")
    ['ksg,copula']
    """
    known = tuple(names)

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in known if name.startswith(last)]

    return complete


def check_names(value: str | tuple[str, ...], known: Iterable[str], parameter: str) -> None:
    """Refuse a name that is not known, with the nearest one."""
    for name in (value,) if isinstance(value, str) else value:
        check_choice(name, known, parameter)
