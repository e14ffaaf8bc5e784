"""What all pages share: templates that escape, a script that the page vouches for, safe files."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pidselect.data.atomic_write import atomic_write

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "making a page needs jinja2: pip install 'pidselect[cli]'"
    ) from missing

__all__ = ["Markup", "breakable", "fill", "ids", "number", "save", "unbroken"]

#: What no page may hold: control characters, those that turn the order of letters round for all
#: that follows, and halves of pairs, which no encoding takes.
_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)

#: Where words of a name meet, without a space.
_WORDS = re.compile(r"(?<=[_./:-])(?=\w)")


#: Between a number and its unit.
_UNITS = re.compile(r"(?<=\d) (?=%|bit\b)")


def fill(template: str, script: str, values: Mapping[str, Any]) -> str:
    """Return a page: a template filled with values, every text among them escaped.

    Parameters
    ----------
    template, script : str
        Names of files in the folder of templates. The template gets the script, and its hash for
        the policy that lets no other one run.
    values : mapping
        A name that the template needs and that is not there is an error.
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
    return _UNFIT.sub("\ufffd", page)


def ids(taken: Iterable[str]) -> Callable[[str], str]:
    """Return a function that makes ids of names, no two alike.

    Examples
    --------
    >>> name_id = ids(["top"])
    >>> name_id("I: CMI finds all"), name_id("I, CMI finds all!"), name_id("top")
    ('i-cmi-finds-all', 'i-cmi-finds-all-2', 'top-2')
    """
    seen = set(taken)

    def name_id(name: str) -> str:
        stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "x"
        found, number = stem, 1
        while found in seen:
            number += 1
            found = f"{stem}-{number}"
        seen.add(found)
        return found

    return name_id


def breakable(text: str) -> Markup:
    """Return an escaped text that may be broken where words meet, as in names of columns.

    Examples
    --------
    >>> breakable("<b>_mean.radius")
    Markup('&lt;b&gt;_<wbr>mean.<wbr>radius')
    """
    return Markup("<wbr>").join(escape(part) for part in _WORDS.split(text))


def unbroken(text: str) -> str:
    r"""Return a text in which no line ends between a number and its unit.

    Examples
    --------
    >>> unbroken("It tells 0.82 bit.")
    'It tells 0.82\xa0bit.'
    """
    return _UNITS.sub("\N{NO-BREAK SPACE}", text)


def number(value: float | None, digits: int) -> str:
    """Return a number as it is printed, with a true minus and none before zero.

    Examples
    --------
    >>> number(-1234.56, 1), number(-0.001, 1), number(None, 1)
    ('−1,234.6', '0.0', '–')
    """
    if value is None:
        return "–"
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")


def save(page: str, path: str | os.PathLike[str]) -> Path:
    """Write a page at once: it is written beside its place and then moved there.

    Parameters
    ----------
    page : str
    path : str or path
        Its folder is made if there is none.

    Returns
    -------
    Path
    """
    place = Path(os.path.realpath(path))  # where a link leads
    if place.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder: give the path of a file.")
    place.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(place) as file:
        file.write(page.encode())
    return Path(path)
