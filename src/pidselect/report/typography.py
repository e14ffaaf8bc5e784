"""Numbers and names as they are printed on pages."""

from __future__ import annotations

import math
import re

from markupsafe import Markup, escape

from pidselect.data.messages import to_float

_WORD_BOUNDARY = re.compile(r"(?<=[_./:-])(?=\w)")
_SPACES = re.compile(
    r"(?<=\d) (?=%|bits?\b)|(?<=\bp) (?=[=<>] \d)|(?<=p [=<>]) (?=\d)|(?<=^[<≤≥]) (?=\S)"
)


def number(value: float | str | None, digits: int = 3) -> str:
    """Return a number with fixed decimals as it is printed on pages.

    Examples
    --------
    >>> number(-1234.5, 1), number(-0.001, 1), number(None, 1)
    ('−1,234.5', '0.0', '–')
    """
    known = to_float(value)
    return "–" if math.isnan(known) else typeset(f"{round(known, digits) + 0.0:,.{digits}f}")


def typeset(text: str) -> str:
    """Return a number with a minus sign, an infinity sign, or a dash if it is unknown.

    Examples
    --------
    >>> typeset("-0.5"), typeset("-inf"), typeset("-")
    ('−0.5', '−∞', '–')
    """
    return "–" if text == "-" else text.replace("-", "−").replace("inf", "∞")


def percent(value: float | str | None) -> str:
    """Return a share in percent.

    >>> percent(0.256), percent(None)
    ('26 %', '–')
    """
    return "–" if value is None else f"{100 * to_float(value):.0f} %"


def breakable(text: str) -> Markup:
    """Escape a text, with line breaks permitted after punctuation within names.

    Examples
    --------
    >>> breakable("<b>_mean.radius")
    Markup('&lt;b&gt;_<wbr>mean.<wbr>radius')
    """
    return Markup("<wbr>").join(escape(part) for part in _WORD_BOUNDARY.split(text))


def unbroken(text: str) -> str:
    r"""Put no-break spaces between numbers and units, and within relations such as p = 0.005.

    Examples
    --------
    >>> unbroken("0.820 bits, p = 0.005")
    '0.820\xa0bits, p\xa0=\xa00.005'
    """
    return _SPACES.sub("\N{NO-BREAK SPACE}", text)
