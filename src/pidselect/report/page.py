"""The report of a selection: one HTML page without external files.

`pidselect.report.summary` holds its content as plain values; the templates escape every text.
"""

from __future__ import annotations

import base64
import hashlib
import math
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from pidselect.data import n_rows
from pidselect.data.io import atomic_write
from pidselect.data.messages import counted, cut, p_text, shown, to_float
from pidselect.decomposition import Explanation
from pidselect.notebook import ATOMS
from pidselect.report.joint import joint_tables
from pidselect.report.summary import FORMAT, ReportMetadata, summarise
from pidselect.selection.explain import read_like_fit
from pidselect.selection.notices import fit_findings
from pidselect.selection.stability import Stability

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError("a report needs jinja2: pip install 'pidselect[cli]'") from missing

Record = Mapping[str, Any]

SUFFIXES = (".html", ".htm")

#: Columns of a finding that are shown at once.
MAX_NAMES = 20

#: The table of steps is open if it has at most so many.
FEW_STEPS = 12

#: Largest share of colour in a matrix cell, in percent: text stays readable on it.
MAX_SHADE = 45

#: Heights of a cell and of a line of text in a heat map, and the width of its scale, in pixels.
CELL, LINE, SCALE = 42, 20, 160

#: Control characters, bidirectional overrides, and surrogates, which no encoding accepts.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)

_WORD_BOUNDARY = re.compile(r"(?<=[_./:-])(?=\w)")
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=%|bit\b)")


def render_report(summary: Record) -> str:
    """Return the page of a summary, of `pidselect.report.summary.summarise` or read from JSON.

    All texts from the data are escaped; nothing is loaded from elsewhere.
    """
    if summary.get("format") != FORMAT:
        raise ValueError(
            f"this summary has format {summary.get('format')!r}, this version of pidselect reads "
            f"format {FORMAT}: render it with the version that wrote it."
        )
    environment = Environment(
        loader=PackageLoader("pidselect.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = environment.get_template("selection.js").render()
    # The content security policy permits no other script.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = environment.get_template("selection.html").render(
        _view(summary), script=Markup(script), script_hash=digest
    )
    return _UNSAFE.sub("\ufffd", page)


def write_report(
    selector: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    groups: Any = None,
    explanation: Explanation | None = None,
    stability: Stability | None = None,
    title: str | None = None,
) -> Path:
    """Write the report of a fitted selector as one HTML page.

    Parameters
    ----------
    selector : PIDSelector
        A fitted one.
    X, y
        The data it was fitted to, or held-out rows for the PID; see ``PIDSelector.explain``.
    path : str or path
        Such as "report.html". An existing file is replaced.
    groups : array-like, shape (n_samples,), optional
        Those of the fit; without them, roles are those of its record.
    explanation : Explanation, optional
        Result of ``selector.explain(X, y)`` where it is known; by default it is computed.
    stability : Stability, optional
        Result of `pidselect.stability` for the same selector: adds selection frequencies.
    title : str, optional

    Returns
    -------
    Path
        Of the file.

    Examples
    --------
    >>> import tempfile
    >>> from pidselect import PIDSelector, datasets, write_report
    >>> toy = datasets.toy(100, random_state=1)
    >>> selector = PIDSelector(n_permutations=20, random_state=0).fit(toy.X, toy.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(selector, toy.X, toy.y, f"{folder}/report.html").read_text("utf-8")
    >>> "2 features selected from 3 columns: x0 and x2." in page
    True
    """
    check_is_fitted(selector)
    if Path(path).suffix.lower() not in SUFFIXES:
        raise ValueError(f"path={str(path)!r} must end in .html.")
    selection = selector.selection_
    if explanation is None:
        explanation = selector.explain(X, y, groups)
    target_types = selection.settings.target_types
    dataset = read_like_fit(X, y, selector.feature_types_, target_types, selector.missing)
    metadata = ReportMetadata.of(dataset, command=_code(selector), title=title or "")
    if not explanation.in_sample:
        metadata = replace(metadata, n_rows=selection.settings.n_samples)
    summary = summarise(
        selection,
        explanation=explanation,
        stability=stability,
        findings=fit_findings(dataset, selection, n_rows(X)),
        joint=joint_tables(selection, dataset),
        metadata=metadata,
    )
    return save(render_report(summary), path)


def save(page: str, path: str | os.PathLike[str]) -> Path:
    """Write a page atomically; folders are made if needed, links are followed."""
    place = Path(os.path.realpath(path))
    if place.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder: give the path of a file.")
    place.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(place) as file:
        file.write(page.encode())
    return Path(path)


def _code(selector: Any) -> str:
    """Return the Python code that reproduces a fit, with its seed."""
    settings = selector.selection_.settings
    again = clone(selector).set_params(random_state=settings.seed)
    arguments = "X, y" if settings.n_groups is None else "X, y, groups"
    return (
        "from pidselect import PIDSelector\n\n"
        f"selector = {again.__repr__(N_CHAR_MAX=10_000)}\n"
        f"selector.fit({arguments})"
    )


def _view(summary: Record) -> dict[str, Any]:
    """Return the values and functions that the templates use."""
    features = _bars(summary["features"])
    links = {feature["name"]: f"feature-{feature['order']}" for feature in features}
    return {
        **summary,
        "created": datetime.fromisoformat(summary["created"]),
        "selected": [{**row, "link": links.get(row["name"])} for row in summary["selected"]],
        "features": features,
        "roles": list(Counter(feature["role"] for feature in features).items()),
        "phases": {step["phase"] for step in summary["steps"]},
        "in_deviations": any(step["unit"] != "bit" for step in summary["steps"]),
        "picture": _picture(summary),
        "joint": list(map(_heat_map, summary.get("joint", ()))),
        "matrices": _matrices(summary["pairs"]),
        "setting_rows": [(key, _setting(value)) for key, value in summary["settings"].items()],
        "max_names": MAX_NAMES,
        "few_steps": FEW_STEPS,
        "bits": number,
        "p": lambda value: typeset(p_text(value)),
        "score": lambda value, unit: number(value, 3 if unit == "bit" else 1),
        "percent": lambda value: "–" if value is None else f"{100 * value:.0f} %",
        "plain": _plain,
        "count": counted,
        "unbroken": unbroken,
        "full": lambda name: breakable(shown(name)),
        "brief": lambda name: breakable(cut(shown(name))),
    }


def _picture(summary: Record) -> Markup | None:
    """Return the selection path as SVG; None without steps or without matplotlib."""
    if not summary["steps"]:
        return None
    try:
        from pidselect.report.displays import SelectionPathDisplay
    except ModuleNotFoundError:  # the table of steps has the same numbers
        return None
    # matplotlib escapes the texts of its SVG.
    return Markup(SelectionPathDisplay.from_dict(summary["selection"]).to_svg(salt="path"))


def _bars(features: Sequence[Record]) -> list[dict[str, Any]]:
    """Add to each feature its PID bar, as widths in percent of the longest bar."""
    positive = [
        [max(0.0, value) if math.isfinite(value := to_float(row[atom])) else 0.0 for atom in ATOMS]
        for row in features
    ]
    longest = max(map(sum, positive), default=0.0) or 1.0
    return [
        {
            **row,
            "total": None if row["unique"] is None else sum(parts),
            "bar": [
                (atom, f"{100 * part / longest:.1f}")
                for atom, part in zip(ATOMS, parts, strict=True)
                if 1000 * part > longest
            ],
        }
        for row, parts in zip(features, positive, strict=True)
    ]


def _matrices(pairs: Record | None) -> dict[str, list[list[dict[str, Any]]]]:
    """Return synergy and redundancy as the cells of lower triangles, shaded by value."""
    if pairs is None:
        return {}
    matrices = {}
    for key in ("synergy", "redundancy"):
        known = zip(pairs[key], pairs["estimable"], strict=True)
        rows = [
            [
                to_float(value) if is_known else math.nan
                for value, is_known in zip(row[:stop], estimable, strict=False)
            ]
            for stop, (row, estimable) in enumerate(known, start=key == "redundancy")
        ]
        largest = max((value for row in rows for value in row if value > 0), default=1.0)
        matrices[key] = [
            [
                {"text": number(x), "level": round(MAX_SHADE * x / largest) if x > 0 else 0}
                for x in row
            ]
            + [{"text": "", "level": 0}] * (len(rows) - len(row))
            for row in rows
        ]
    return matrices


def _heat_map(table: Record) -> dict[str, Any]:
    """Return a joint table with the texts, colours and places of its picture, in pixels."""
    if not table["counts"]:
        return {**table, "cells": []}
    digits, overall = table["digits"], table["overall"]
    low, high = min(table["range"][0], overall), max(table["range"][1], overall)
    most = max(overall - low, high - overall) or 1.0

    def shade(value: float) -> dict[str, Any]:
        share = min(abs(value - overall) / most, 1.0)
        side = "above" if value > overall else "below"
        return {"side": side, "level": f"{MAX_SHADE / 100 * share:.2f}"}

    first, second = ([cut(shown(one), 16) for one in levels] for levels in table["levels"])
    names = [cut(shown(name), 24) for name in table["features"]]
    texts = [[number(value, digits) for value in row] for row in table["values"]]
    left = max(map(_text_width, (names[0], *first))) + 10
    wide = (
        max(map(_text_width, ("1,000 rows", *second, *(one for row in texts for one in row)))) + 8
    )
    ends = [number(low, digits), number(high, digits)]
    start = left + _text_width(ends[0]) + 6
    right = max(
        left + wide * len(second),
        left + _text_width(names[1]),
        start + SCALE + _text_width(ends[1]) + 6,
    )
    return {
        **table,
        "names": names,
        "left": left,
        "wide": wide,
        "high": CELL,
        "right": right,
        "labels": [first, second],
        "cells": [
            {
                "x": left + wide * column,
                "y": 2 * LINE + 8 + CELL * row,
                "text": texts[row][column],
                "count": count,
                **({} if value is None else shade(value)),
            }
            for row, counts in enumerate(table["counts"])
            for column, (count, value) in enumerate(zip(counts, table["values"][row], strict=True))
        ],
        "scale": {
            "start": start,
            "wide": SCALE,
            "ends": [
                {"text": text, **shade(end)} for text, end in zip(ends, (low, high), strict=True)
            ],
            "middle": f"{(overall - low) / (high - low or 1.0):.3f}",
        },
        "bottom": 2 * LINE + 8 + CELL * len(first),
    }


def _text_width(text: str) -> int:
    """Return a width that a text of 13 pixels hardly exceeds, in pixels."""
    return sum(
        14 if one in "MW@%—…" or ord(one) > 0x1100 else 8 + 2 * one.isupper() for one in text
    )


def _plain(value: float | str | None) -> str:
    """Return a number as JavaScript reads it, empty if it is unknown."""
    known = to_float(value)
    if math.isnan(known):
        return ""
    return f"{known:.6g}".replace("inf", "Infinity")


def _setting(value: Any) -> str:
    """Return the value of a setting in one line.

    Examples
    --------
    >>> _setting(["global", "local"]), _setting(None), _setting({"copula": "Copula()"})
    ('global, local', 'none', 'copula: Copula()')
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_setting(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_setting, value))
    return str(value)


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
    return "–" if math.isnan(known) else typeset(f"{round(known, digits) + 0.0:,.{digits}f}")
