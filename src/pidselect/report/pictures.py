"""Numbers, names and pictures as a page shows them.

Places in pictures are in percent, so that they are as wide as the page permits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from pidselect.data.messages import cut, p_relation, shown, to_float
from pidselect.decomposition.explanation import ADDED_PARTS
from pidselect.report.levels import decimals

Record = Mapping[str, Any]

#: Features of the chart: all selected ones up to the first number, with others up to the second.
MAX_SELECTED, MAX_BARS = 30, 10

#: Largest share of colour in a cell, in percent: text stays readable on it.
MAX_SHADE = 45

_WORD_BOUNDARY = re.compile(r"(?<=[_./:-])(?=\w)")
_SPACES = re.compile(
    r"(?<=\d) (?=%|bits?\b)|(?<=\bp) (?=[=<>] \d)|(?<=p [=<>]) (?=\d)|(?<=^[<≤≥]) (?=\S)"
)


def number(value: float | str | None, digits: int = 3) -> str:
    """Return a number with fixed decimals and the signs of print.

    Examples
    --------
    >>> number(-1234.5, 1), number("-inf"), number(None, 1)
    ('−1,234.5', '−∞', '–')
    """
    known = to_float(value)
    text = "–" if math.isnan(known) else f"{round(known, digits) + 0.0:,.{digits}f}"
    return text.replace("-", "−").replace("inf", "∞")


def percent(value: float | str | None) -> str:
    """Return a share in percent."""
    return "–" if value is None else f"{100 * to_float(value):.0f} %"


def breakable(text: str) -> Markup:
    """Escape a text, with line breaks permitted after punctuation within names.

    >>> breakable("<b>_mean.radius")
    Markup('&lt;b&gt;_<wbr>mean.<wbr>radius')
    """
    return Markup("<wbr>").join(escape(part) for part in _WORD_BOUNDARY.split(text))


def unbroken(text: str) -> str:
    r"""Put no-break spaces between numbers and units, and within relations such as p = 0.005.

    >>> unbroken("0.820 bits, p = 0.005")
    '0.820\xa0bits, p\xa0=\xa00.005'
    """
    return _SPACES.sub("\N{NO-BREAK SPACE}", text)


def explained_features(features: Sequence[Record]) -> list[Record]:
    """Return the features that could have been selected."""
    return [one for one in features if one["role"] not in ("duplicate", "skipped")]


def importance_bars(features: Sequence[Record], summary: Record) -> list[dict[str, Any]]:
    """Return the features of the chart with their bars, in percent of its width, and their texts.

    `parts` are (name, start, width), `whisker` are the ends of the interval of the added
    information, or None. Infinite ones fill the chart.
    """
    explained = explained_features(features)
    selected = [one for one in explained if one["selected"]][:MAX_SELECTED]
    others = [one for one in explained if not one["selected"] and one["added"] is not None]
    drawn = selected + others[: max(MAX_BARS - len(selected), MAX_BARS // 2)]
    ends = [(one["added"], *one["intervals"].get("added", ())) for one in drawn]
    longest = max((finite(end) for row in ends for end in row), default=0.0) or 1.0

    def length(value: Any) -> float:
        known = to_float(value)
        return round(min(100.0, 100.0 * known / longest), 2) if known > 0 else 0.0

    rows = []
    for one in drawn:
        parts, start = [], 0.0
        for name in ADDED_PARTS:
            width = min(length(one[name]), 100.0 - start)
            parts.append((name, start, width))
            start = round(start + width, 2)
        interval = one["intervals"].get("added")
        share = f" ({percent(one['share'])})" if one["share"] is not None else ""
        test = p_relation(one["p_value"], summary["settings"]["alpha"], summary["is_sequential"])
        if not one["selected"] and one["redundant_with"]:
            test += f"; redundant with {cut(shown(one['redundant_with'][0]), 24)}"
        rows.append(
            {
                **one,
                "parts": parts,
                "whisker": None if interval is None else tuple(map(length, interval)),
                "is_out": not one["selected"] and one["role"] in ("weakly relevant", "irrelevant"),
                "amount": f"{'≥ ' * one['is_lower_bound']}{number(one['added'])}{share}",
                "test": test,
            }
        )
    return rows


def root(value: float | str | None) -> float:
    """Return the square root of a statistic, at least 0: small ones are seen beside large ones."""
    known = to_float(value)
    return known if math.isnan(known) else math.sqrt(max(0.0, known))


def strips(steps: Sequence[Record]) -> list[dict[str, Any]]:
    """Return the scores of each step in percent of a common scale; infinite ones at its ends."""
    units = {step["unit"] for step in steps}
    key = "score" if len(units) == 1 else "bits"
    scale = root if units == {""} else to_float
    critical = [scale(step["critical_value"]) if key == "score" else math.nan for step in steps]
    scores = [[scale(row[key]) for row in step["candidates"]] for step in steps]
    known = [value for row in (*scores, critical) for value in row if math.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=1.0)

    def place(value: float) -> float | None:
        if math.isnan(value):
            return None
        return _percent(min(max(value, low), high), low, high, margin=2.0)

    return [
        {
            "text": "",
            "is_accepted": step["accepted"],
            "critical": place(line),
            "chosen": place(scale(step[key])),
            "dots": sorted(
                {
                    place(value)
                    for value, row in zip(row_scores, step["candidates"], strict=True)
                    if not row["is_chosen"] and not math.isnan(value)
                }
            ),
        }
        for step, row_scores, line in zip(steps, scores, critical, strict=True)
    ]


def target_plot(profile: Record, profiles: Sequence[Record]) -> dict[str, Any]:
    """Return the target against one feature: a line, or a row for each level.

    Means have one scale in all of them; shares go from 0 to 1.
    """
    classes, digits = profile["classes"], 2
    low, high = 0.0, 1.0
    if not classes:
        errors = [
            (v[0], e) for one in profiles for v, e in zip(one["values"], one["errors"], strict=True)
        ]
        low, high = min(v - e for v, e in errors), max(v + e for v, e in errors)
        digits = max(0, decimals(high - low))

    def place(value: float) -> float:
        return _percent(min(max(value, low), high), low, high)

    rows = []
    for level, (label, count) in enumerate(zip(profile["levels"], profile["counts"], strict=True)):
        values, parts, start = profile["values"][level], [], 0.0
        for index, value in enumerate(values if classes else ()):
            width = round(100.0 * value, 2)
            parts.append((index, round(start, 2), width))
            start += width
        error = None if profile["errors"] is None else profile["errors"][level]
        text = percent(values[0]) if classes else number(values[0], digits)
        rows.append(
            {
                "label": cut(shown(label), 24),
                "count": count,
                "text": text if error is not None else "",
                "parts": parts,
                "dot": None if classes else place(values[0]),
                "whisker": error is not None
                and (place(values[0] - error), place(values[0] + error)),
                "described": ", ".join(percent(value) for value in values) if classes else text,
            }
        )
    return {
        **profile,
        "rows": rows,
        "line": _line(profile, rows) if profile["positions"] else None,
        "scale": [number(low, digits), number(high, digits)],
        "mark": place(profile["overall"][0]) if profile["errors"] is not None else None,
        "names": [cut(shown(name), 24) for name in classes] if len(classes) > 1 else [],
    }


def _line(profile: Record, rows: Sequence[Record]) -> dict[str, Any]:
    """Return the points of a line and its band, from 0 to 100 on both axes; y goes down."""
    known = [
        (position, row)
        for position, row in zip(profile["positions"], rows, strict=True)
        if position is not None
    ]
    low, high = known[0][0], known[-1][0]
    points = [(_percent(x, low, high), row) for x, row in known]
    upper = [(x, 100.0 - row["whisker"][1]) for x, row in points]
    lower = [(x, 100.0 - row["whisker"][0]) for x, row in reversed(points)]
    dots = [(x, round(100.0 - row["dot"], 2)) for x, row in points]
    return {
        "dots": dots,
        "path": " ".join(f"{x},{y}" for x, y in dots),
        "band": " ".join(f"{x},{y:.2f}" for x, y in upper + lower),
        "others": [row for x, row in zip(profile["positions"], rows, strict=True) if x is None],
    }


def heat_map(table: Record) -> dict[str, Any]:
    """Return a joint table with texts and shades: above or below the value of all rows."""
    if not table["counts"]:
        return {**table, "rows": []}
    digits, overall = table["digits"], table["overall"]
    low, high = min(table["range"][0], overall), max(table["range"][1], overall)
    most = max(overall - low, high - overall) or 1.0

    def shade(value: float) -> dict[str, Any]:
        share = min(abs(value - overall) / most, 1.0)
        return {"side": "above" if value > overall else "below", "level": round(MAX_SHADE * share)}

    rows = []
    for label, counts, values in zip(
        table["levels"][0], table["counts"], table["values"], strict=True
    ):
        cells = [
            {"count": count, "text": number(value, digits), **(shade(value) if count else {})}
            for count, value in zip(counts, values, strict=True)
        ]
        rows.append((label, cells))
    return {
        **table,
        "rows": rows,
        "low": {"text": number(low, digits), **shade(low)},
        "high": {"text": number(high, digits), **shade(high)},
        "middle": _percent(overall, low, high),
    }


def _percent(value: float, low: float, high: float, margin: float = 0.0) -> float:
    share = (value - low) / (high - low) if high > low else 0.5
    return round(margin + (100.0 - 2.0 * margin) * share, 2)


def finite(value: float | str | None) -> float:
    """Return a number, 0 if it is unknown or infinite."""
    known = to_float(value)
    return known if math.isfinite(known) else 0.0
