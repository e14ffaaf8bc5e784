"""The information that features add, as the rows of a bar chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from pidselect.data.messages import to_float
from pidselect.notebook import ADDED_PARTS

#: Features of the chart: all selected ones up to the first number, with others up to the second.
MAX_SELECTED, MAX_BARS = 30, 10


def explained_features(features: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the features that could have been selected."""
    return [one for one in features if one["role"] not in ("duplicate", "skipped")]


def importance_bars(features: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the features of the chart with their bars, in percent of its width.

    `parts` are (name, start, width), `whisker` are the ends of the interval of the added
    information, or None. Infinite ones fill the chart.
    """
    explained = explained_features(features)
    selected = [one for one in explained if one["selected"]][:MAX_SELECTED]
    others = [one for one in explained if not one["selected"] and one["added"] is not None]
    drawn = selected + others[: max(MAX_BARS - len(selected), MAX_BARS // 2)]
    ends = [end for one in drawn for end in (to_float(one["added"]), _upper(one)) if isfinite(end)]
    longest = max(ends, default=0.0) or 1.0

    def percent(value: Any) -> float:
        known = to_float(value)
        return round(min(100.0, 100.0 * known / longest), 2) if known > 0 else 0.0

    rows = []
    for one in drawn:
        parts, start = [], 0.0
        for name in ADDED_PARTS:
            width = min(percent(one[name]), 100.0 - start)
            parts.append((name, start, width))
            start = round(start + width, 2)
        interval = one["intervals"].get("added")
        whisker = None if interval is None else tuple(map(percent, interval))
        rows.append({**one, "parts": parts, "whisker": whisker})
    return rows


def _upper(feature: Mapping[str, Any]) -> float:
    return to_float(feature["intervals"].get("added", (None, None))[1])
