"""Pages: escaping templates, a script allowed by its hash alone, files written atomically."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Mapping
from math import isnan
from pathlib import Path
from typing import Any

from pidselect.data.io import atomic_write
from pidselect.data.messages import to_float

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError("a report needs jinja2: pip install 'pidselect[cli]'") from missing

__all__ = ["Markup", "breakable", "fill", "number", "save", "typeset", "unbroken"]

#: Control characters, bidirectional overrides, and surrogates, which no encoding accepts.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)

_WORD_BOUNDARY = re.compile(r"(?<=[_./:-])(?=\w)")
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=%|bit\b)")


def fill(template: str, script: str, values: Mapping[str, Any]) -> str:
    """Render a page with all texts escaped; a missing value is an error.

    The hash of the script is for the content security policy, which permits no other one.
    """
    environment = Environment(
        loader=PackageLoader("pidselect.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    code = environment.get_template(script).render()
    digest = hashlib.sha256(code.encode()).digest()
    page = environment.get_template(template).render(
        values, script=Markup(code), script_hash=base64.b64encode(digest).decode()
    )
    return _UNSAFE.sub("\ufffd", page)


def breakable(text: str) -> Markup:
    """Escape a text, with line breaks permitted after punctuation within names.

    Examples
    --------
    >>> breakable("<b>_mean.radius")
    Markup('&lt;b&gt;_<wbr>mean.<wbr>radius')
    """
    return Markup("<wbr>").join(escape(part) for part in _WORD_BOUNDARY.split(text))


def unbroken(text: str) -> str:
    r"""Put no-break spaces between numbers and units.

    Examples
    --------
    >>> unbroken("0.82 bit")
    '0.82\xa0bit'
    """
    return _BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", text)


def typeset(text: str) -> str:
    """Return a number with a minus sign, an infinity sign, or a dash if it is unknown.

    Examples
    --------
    >>> typeset("-0.5"), typeset("-inf"), typeset("-")
    ('−0.5', '−∞', '–')
    """
    return "–" if text == "-" else text.replace("-", "−").replace("inf", "∞")


def number(value: float | str | None, digits: int = 3) -> str:
    """Return a number with fixed decimals as it is printed on pages.

    Examples
    --------
    >>> number(-1234.5, 1), number(-0.001, 1), number(None, 1)
    ('−1,234.5', '0.0', '–')
    """
    known = to_float(value)
    return "–" if isnan(known) else typeset(f"{round(known, digits) + 0.0:,.{digits}f}")


def save(page: str, path: str | os.PathLike[str]) -> Path:
    """Write a page atomically; folders are made if needed, links are followed."""
    place = Path(os.path.realpath(path))
    if place.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder: give the path of a file.")
    place.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(place) as file:
        file.write(page.encode())
    return Path(path)
