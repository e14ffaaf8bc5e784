"""HTML of a few elements, for notebooks: everything from the data is escaped here.

A form is a `card`, with a style of its own that touches nothing else on the page. Text takes the
colour of the notebook, light or dark; nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from math import isfinite

from .messages import shown

#: So many rows of a table are shown.
SHOWN_ROWS = 20

#: How columns of a table may look, besides flush right.
LOOKS = {"l": "left", "n": "name", "w": "wide"}

#: What parts of a bar are called; each has its own colour and its own stripes.
ATOMS = ("unique", "shared", "synergy")

#: The colours of Okabe and Ito, which colour-blind readers can tell apart. Lines are of a grey that
#: shows on white and on black.
STYLE = """
.pidselect-card { color: inherit; line-height: 1.45; overflow-x: auto; }
.pidselect-card p, .pidselect-card ul { margin: 0.4em 0; max-width: 60em; }
.pidselect-card table.pidselect-table { border-collapse: collapse; margin: 0.6em 0; border: 0; }
.pidselect-card table.pidselect-table th, .pidselect-card table.pidselect-table td {
  border: 0; border-bottom: 1px solid rgba(128, 128, 128, 0.45); color: inherit;
  padding: 0.25em 0.7em; text-align: right; vertical-align: top; white-space: nowrap; }
.pidselect-card table.pidselect-table .pidselect-left { text-align: left; }
.pidselect-card table.pidselect-table .pidselect-name { text-align: left; white-space: normal;
  min-width: 8em; max-width: 20em; overflow-wrap: anywhere; }
.pidselect-card table.pidselect-table .pidselect-wide {
  text-align: left; white-space: normal; min-width: 18em; overflow-wrap: anywhere; }
.pidselect-card .pidselect-bar { display: flex; width: 9em; height: 0.9em; margin-top: 0.25em; }
.pidselect-card .pidselect-part { display: block; box-sizing: border-box; height: 100%; }
.pidselect-card .pidselect-key {
  display: inline-block; width: 0.9em; height: 0.9em; margin: 0 0.3em 0 0.8em;
  vertical-align: -0.1em; }
.pidselect-card .pidselect-unique { background: #0072B2; }
.pidselect-card .pidselect-shared { background: repeating-linear-gradient(
  45deg, #E69F00 0 4px, #B87F00 4px 6px); }
.pidselect-card .pidselect-synergy { background: repeating-linear-gradient(
  0deg, #009E73 0 3px, #006B4E 3px 5px); }
.pidselect-card .pidselect-plain { background: #808080; }
.pidselect-card summary { cursor: pointer; }
.pidselect-card pre { color: inherit; background: transparent; white-space: pre-wrap; }
@media (prefers-color-scheme: dark) {
  .pidselect-card .pidselect-part, .pidselect-card .pidselect-key {
    outline: 1px solid rgba(255, 255, 255, 0.35); } }
"""


class Markup(str):
    """Text that is HTML already, so that it is not escaped again."""

    __slots__ = ()


def text(value: str) -> Markup:
    r"""Return text, such as a sentence, as HTML that any file can hold.

    Half a letter, as of a file name that is no UTF-8, is written as its number.

    Examples
    --------
    >>> text("x < 3 & y")
    'x &lt; 3 &amp; y'
    >>> text(text("x < 3"))
    'x &lt; 3'
    >>> text("caf\udce9")
    'caf\\udce9'
    """
    if isinstance(value, Markup):
        return value
    return Markup(escape(value).encode("utf-8", "backslashreplace").decode("utf-8"))


def name(value: str) -> Markup:
    r"""Return a name from the data as HTML, quoted if anything about it would not be seen.

    Examples
    --------
    >>> name("<b>"), name("a\u202eb")
    ('&lt;b&gt;', '&#x27;a\\u202eb&#x27;')
    """
    return text(shown(value))


def joined(parts: Iterable[str], separator: str = "") -> Markup:
    """Return parts one after the other, those that are no HTML yet escaped."""
    return Markup(text(separator).join(map(text, parts)))


def paragraph(*parts: str) -> Markup:
    """Return a paragraph."""
    return Markup(f"<p>{joined(parts)}</p>")


def strong(value: str) -> Markup:
    """Return a paragraph that is read first."""
    return Markup(f"<p><strong>{text(value)}</strong></p>")


def listing(items: Iterable[str]) -> Markup:
    """Return a list; nothing if it has no items."""
    lines = "".join(f"<li>{text(item)}</li>" for item in items)
    return Markup(f"<ul>{lines}</ul>" if lines else "")


def details(summary: str, *parts: str) -> Markup:
    """Return what is shown only if somebody asks for it."""
    return Markup(f"<details><summary>{text(summary)}</summary>{joined(parts)}</details>")


def verbatim(value: str) -> Markup:
    """Return text as it is, in all its lines."""
    return Markup(f"<pre>{text(value)}</pre>")


def table(header: Sequence[str], rows: Sequence[Sequence[str]], aligned: str = "") -> Markup:
    r"""Return a table, of long ones the first rows and how many more there are.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequences of str
    aligned : str
        A letter for each column: "n" for names, however long; "l" left, "r" right, "w" left and
        wrapped. By default names come first, and all others right.

    Examples
    --------
    >>> print(table(["feature", "bits"], [["<age>", "0.5"]]).replace("><t", ">\n<t"))
    <table class="pidselect-table">
    <thead>
    <tr>
    <th scope="col" class="pidselect-name">feature</th>
    <th scope="col">bits</th></tr></thead>
    <tbody>
    <tr>
    <td class="pidselect-name">&lt;age&gt;</td>
    <td>0.5</td></tr></tbody></table>
    """
    aligned = aligned or "n" + "r" * (len(header) - 1)
    looks = {letter: f' class="pidselect-{look}"' for letter, look in LOOKS.items()}
    classes = [looks.get(letter, "") for letter in aligned]

    def line(cells: Sequence[str], tag: str, scope: str = "") -> str:
        pairs = zip(cells, classes, strict=True)
        inner = "".join(f"<{tag}{scope}{kind}>{text(cell)}</{tag}>" for cell, kind in pairs)
        return f"<tr>{inner}</tr>"

    body = "".join(line(row, "td") for row in rows[:SHOWN_ROWS])
    if (more := len(rows) - SHOWN_ROWS) > 0:
        said = f"... and {more} more, see .to_frame()"
        body += f'<tr><td class="pidselect-left" colspan="{len(header)}">{said}</td></tr>'
    head = line(header, "th", ' scope="col"')
    return Markup(
        f'<table class="pidselect-table"><thead>{head}</thead><tbody>{body}</tbody></table>'
    )


def bar(parts: Sequence[tuple[str, float | None]], full: float) -> Markup:
    r"""Return a bar of several parts, as long as its positive parts together.

    Parts below 0, which estimates may be, are drawn as nothing; beside the bar stand the numbers.

    Parameters
    ----------
    parts : sequence of (str, float or None)
        What each part is, see `ATOMS`, or any other word for a grey one; and how much.
    full : float
        The amount that fills the whole width.

    Examples
    --------
    >>> print(bar([("unique", 0.5), ("synergy", -0.1)], full=1.0).replace("><s", ">\n<s"))
    <span class="pidselect-bar" role="img" aria-label="unique 0.500, synergy -0.100">
    <span class="pidselect-part pidselect-unique" style="width:50.0%"></span></span>
    """
    known = [(kind, amount) for kind, amount in parts if amount is not None]
    said = text(", ".join(f"{kind} {amount:.3f}" for kind, amount in known) or "not known")
    drawn = "".join(
        f'<span class="pidselect-part {_look(kind)}" style="width:{width:.1f}%"></span>'
        for kind, amount in known
        if (width := 100 * _share(amount, full)) > 0
    )
    return Markup(f'<span class="pidselect-bar" role="img" aria-label="{said}">{drawn}</span>')


def longest(bars: Iterable[Sequence[tuple[str, float | None]]]) -> float:
    """Return the amount that fills the width of bars which are to be compared.

    Examples
    --------
    >>> longest([[("unique", 0.5), ("synergy", -0.1)], [("shared", 0.2), ("unique", None)]])
    0.5
    """
    amounts = [
        sum(amount for _, amount in parts if amount is not None and 0 < amount < float("inf"))
        for parts in bars
    ]
    return max(amounts, default=0.0)


def legend(kinds: Iterable[str] = ATOMS) -> Markup:
    """Return what the parts of bars are called."""
    keys = (
        f'<span class="pidselect-key {_look(kind)}" aria-hidden="true"></span>{text(kind)}'
        for kind in kinds
    )
    return paragraph(Markup("".join(keys)))


def card(*parts: str) -> Markup:
    """Return the whole form of a result.

    Where it is wider than the page it scrolls, so that keys must reach it.
    """
    start = '<div class="pidselect-card" tabindex="0" role="group" aria-label="pidselect">'
    return Markup(f"{start}<style>{STYLE}</style>{joined(parts)}</div>")


def _look(kind: str) -> str:
    return f"pidselect-{kind}" if kind in ATOMS else "pidselect-plain"


def _share(amount: float, full: float) -> float:
    """Return the share of the width, at least 0 and at most all of it."""
    if amount <= 0 or amount != amount:
        return 0.0
    return min(1.0, amount / full) if full > 0 and isfinite(amount) else 1.0
