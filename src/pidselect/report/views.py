"""What the templates of a report show: a summary as texts, tables, and places in pictures.

Places are in percent, so that pictures are as wide as the page permits.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pidselect.data.messages import counted, cut, listed, p_relation, shown, to_float
from pidselect.notebook import ATOMS
from pidselect.report.importance import explained_features, importance_bars
from pidselect.report.levels import decimals
from pidselect.report.typography import breakable, number, percent, unbroken

Record = Mapping[str, Any]
Cell = dict[str, Any]

#: Columns of a finding that are shown at once.
MAX_NAMES = 20

#: The table of steps is open if it has at most so many.
FEW_STEPS = 12

#: Largest share of colour in a cell, in percent: text stays readable on it.
MAX_SHADE = 45

#: Kinds of columns that stay even if all cells are equal.
KEPT = ("name", "order", "how", "strip")


@dataclass(frozen=True)
class TableColumn:
    """A column: its title, its kind, which is a CSS class, and for each row text and sort key."""

    title: str
    kind: str
    cells: Sequence[Cell]
    is_number: bool = True


def view(summary: Record) -> dict[str, Any]:
    """Return the values and functions that the templates use."""
    features, explained = summary["features"], summary["explanation"]
    order = {feature["name"]: feature["order"] for feature in features}
    profiles = sorted(summary["profiles"], key=lambda one: order.get(one["feature"], 0))
    profiles = [_profile(one, profiles) for one in profiles]
    plots = {one["feature"]: f"plot-{place}" for place, one in enumerate(profiles, start=1)}
    bars = importance_bars(features)
    return {
        **summary,
        "created": datetime.fromisoformat(summary["created"]),
        "bars": [_importance(bar, summary) for bar in bars] if explained else [],
        "n_more": len(explained_features(features)) - len(bars),
        "selected_table": _selected_table(summary, plots),
        "roles": list(Counter(feature["role"] for feature in features).items()),
        "roles_table": _roles_table(summary, plots),
        "row_roles": [feature["role"] for feature in features],
        "phases": {step["phase"] for step in summary["steps"]},
        "steps_table": _steps_table(summary),
        "candidates": [_candidates_table(step, summary) for step in summary["steps"]],
        "profiles": profiles,
        "sentences": {feature["name"]: feature["sentence"] for feature in features},
        "joint": list(map(_heat_map, summary["joint"])),
        "pairs": summary["pairs"] and _pairs(summary["pairs"]),
        "setting_rows": [(key, _setting(value)) for key, value in summary["settings"].items()],
        "max_names": MAX_NAMES,
        "max_shade": MAX_SHADE,
        "few_steps": FEW_STEPS,
        "bits": number,
        "percent": percent,
        "count": counted,
        "unbroken": unbroken,
        "full": lambda name: breakable(shown(name)),
        "brief": lambda name: breakable(cut(shown(name))),
        "label": lambda level: cut(shown(level), 24),
    }


# ----------------------------------------------------------------------------------------- tables


def make_table(columns: Iterable[TableColumn]) -> dict[str, Any]:
    """Return the columns whose cells differ, their rows, and once what all rows have in common."""
    kept, same = [], []
    for column in columns:
        found = {(cell["text"], cell.get("aside", "")) for cell in column.cells}
        texts = {text for text, _ in found}
        if texts <= {"", "–"} and column.kind not in KEPT:
            continue
        if len(found) > 1 or len(column.cells) < 2 or column.kind in KEPT:
            kept.append(column)
        else:
            title = column.title
            same.append(f"{title.lower() if title[1:].islower() else title} {texts.pop()}")
    rows = list(zip(*(column.cells for column in kept), strict=True))
    return {"columns": kept, "rows": rows, "same": ", ".join(same)}


def _texts(title: str, kind: str, values: Iterable[str]) -> TableColumn:
    return TableColumn(title, kind, [{"text": value} for value in values], is_number=False)


def _numbers(title: str, values: Iterable[Any], text: Callable[[Any], str] = number) -> TableColumn:
    cells = [{"text": text(value), "value": plain(value)} for value in values]
    return TableColumn(title, "number", cells)


def _p_values(values: Iterable[Any], summary: Record, alpha: float | None = None) -> TableColumn:
    def text(value: Any) -> str:
        level = summary["settings"]["alpha"] if alpha is None else alpha
        is_sequential = summary["settings"]["n_permutations"] == "auto"
        if value is None:
            return "–"
        return p_relation(value, level, is_sequential).removeprefix("p ").removeprefix("= ")

    return _numbers("p", values, text)


def _names(
    rows: Sequence[Record],
    links: Mapping[str, str],
    asides: Sequence[str],
    title: str = "Feature",
) -> TableColumn:
    cells = [
        {"text": row["name"], "link": links.get(row["name"]), "aside": aside}
        for row, aside in zip(rows, asides, strict=True)
    ]
    return TableColumn(title, "name", cells, is_number=False)


def _bits(title: str, key: str, rows: Sequence[Record]) -> TableColumn:
    """Return a value of each feature, with its interval."""
    cells = []
    for row in rows:
        bound = "≥ " * (row["is_lower_bound"] and key in ("added", "synergy"))
        interval = row["intervals"].get(key)
        aside = "" if interval is None else "–".join(map(number, interval))
        text = f"{bound}{number(row[key])}"
        cells.append({"text": text, "value": plain(row[key]), "aside": aside})
    return TableColumn(title, "number", cells)


def _added(summary: Record, rows: Sequence[Record]) -> list[TableColumn]:
    """Return the added information, and that of the fit beside that of other rows."""
    if all(row["added_in_fit"] is None for row in rows):
        return [_bits("Adds, bits", "added", rows)]
    fit = _numbers("Adds in the fit", [row["added_in_fit"] for row in rows])
    return [_bits("Adds on these rows", "added", rows), fit]


def _selected_table(summary: Record, plots: Mapping[str, str]) -> dict[str, Any]:
    rows = [row for row in summary["features"] if row["selected"]]
    links = {row["name"]: plots.get(row["name"], f"feature-{row['order']}") for row in rows}
    joint = {row["name"] for row in summary["selected"] if row["jointly_included"]}
    asides = [
        ", ".join(
            filter(
                None,
                (
                    "jointly included" * (row["name"] in joint),
                    "not in the minimal set" * (not row["is_minimal"]),
                ),
            )
        )
        for row in rows
    ]
    share = (summary["explanation"] or {}).get("share_name", "")
    short = [row["short"] or row["sentence"] for row in rows]
    return make_table(
        [
            _names(rows, links, asides),
            _texts("Type", "type", [row["feature_type"] for row in rows]),
            *_added(summary, rows),
            _numbers(share, [row["share"] for row in rows], percent),
            _p_values([row["p_value"] for row in rows], summary),
            _texts("Role", "role", [row["role"] for row in rows]),
            _numbers("Frequency", [row["frequency"] for row in rows], percent),
            _texts("In short", "words", short),
        ]
    )


def _roles_table(summary: Record, plots: Mapping[str, str]) -> dict[str, Any]:
    rows = summary["features"]
    order = [{"text": str(row["order"]), "value": str(row["order"])} for row in rows]
    parts = [[max(0.0, _finite(row[atom])) for atom in ATOMS] for row in rows]
    longest = max(map(sum, parts), default=0.0) or 1.0
    how = [
        {
            "text": _remark(row, summary, plots),
            "bar": [
                (atom, f"{100 * part / longest:.1f}")
                for atom, part in zip(ATOMS, amounts, strict=True)
                if 1000 * part > longest
            ],
            "value": plain(None if row["unique"] is None else sum(amounts)),
        }
        for row, amounts in zip(rows, parts, strict=True)
    ]
    return make_table(
        [
            TableColumn("No.", "order", order),
            _names(rows, plots, [""] * len(rows)),
            _texts("Type", "type", [row["feature_type"] for row in rows]),
            _texts("Role", "role", [row["role"] for row in rows]),
            *_added(summary, rows),
            _bits("Unique", "unique", rows),
            _bits("Synergy", "synergy", rows),
            _bits("Shared", "shared", rows),
            _bits("Information", "information", rows),
            _p_values([row["p_value"] for row in rows], summary),
            _numbers("Frequency", [row["frequency"] for row in rows], percent),
            TableColumn("Parts and remark", "how", how),
        ]
    )


def _remark(row: Record, summary: Record, plots: Mapping[str, str]) -> str:
    """Return what is not said elsewhere: in the table of selected features, or below a plot."""
    if not summary["explanation"]:
        return "" if row["selected"] else row["sentence"]
    if row["selected"] and row["is_minimal"]:
        return "" if row["name"] in plots else row["sentence"]
    return row["short"]


def _steps_table(summary: Record) -> dict[str, Any]:
    steps = summary["steps"]
    in_deviations = any(step["unit"] != "bit" for step in steps)
    names = [{"name": cut(shown(step["chosen"]))} for step in steps]
    results = [{"text": step["outcome"], "is_accepted": step["accepted"]} for step in steps]
    p_values = [_p_values([step["p_value"]], summary, step["alpha"]).cells[0] for step in steps]
    return make_table(
        [
            _texts("Step", "order", [str(step["number"]) for step in steps]),
            _texts("Phase", "phase", [step["phase"].replace("_", " ") for step in steps]),
            _names(names, {}, [step["note"] for step in steps], "Tested"),
            TableColumn("Scores of candidates", "strip", _strips(steps)),
            TableColumn("Result", "outcome", results, is_number=False),
            _numbers("Bits", [step["bits"] for step in steps], _amount),
            *(_scores(steps, "critical_value") if in_deviations else ()),
            TableColumn("p", "number", p_values),
            _numbers("Permutations", [step["n_permutations"] for step in steps], "{:,}".format),
        ]
    )


def _scores(rows: Sequence[Record], critical: str = "") -> list[TableColumn]:
    """Return score and critical value, of which those in bits have no column of their own."""
    units = [row.get("unit", "sd") for row in rows]
    digits = [3 if unit == "bit" else 1 for unit in units]
    columns = [_texts("Estimator", "estimator", [row["estimator"] for row in rows])]
    for title, key in (("Score", "score"), ("Critical value", critical)):
        if key:
            cells = [
                {"text": number(row[key], places), "value": plain(row[key])}
                for row, places in zip(rows, digits, strict=True)
            ]
            columns.append(TableColumn(title, "number", cells))
    return columns


def _candidates_table(step: Record, summary: Record) -> dict[str, Any]:
    rows = step["candidates"]
    names = [{"name": cut(shown(row["name"]))} for row in rows]
    return make_table(
        [
            _names(names, {}, ["tested" * row["is_chosen"] for row in rows], "Candidate"),
            _numbers("Bits", [row["bits"] for row in rows], _amount),
            *(_scores(rows) if step["unit"] != "bit" else ()),
            _p_values([row["p_value"] for row in rows], summary, step["alpha"]),
        ]
    )


# --------------------------------------------------------------------------------------- pictures


def _importance(bar: Record, summary: Record) -> dict[str, Any]:
    """Return a bar of the chart of importance, with its amount and test as texts."""
    settings = summary["settings"]
    test = p_relation(bar["p_value"], settings["alpha"], settings["n_permutations"] == "auto")
    is_out = to_float(bar["p_value"]) > settings["alpha"]
    share = f" ({percent(bar['share'])})" if bar["share"] is not None else ""
    bound = "≥ " * bar["is_lower_bound"]
    why = ""
    if not bar["selected"] and bar["redundant_with"]:
        why = f"; redundant with {listed(bar['redundant_with'], 2, 24)}"
    return {
        **bar,
        "amount": f"{bound}{number(bar['added'])}{share}",
        "test": f"{'not significant, ' * is_out}{test}{why}",
    }


def _strips(steps: Sequence[Record]) -> list[Cell]:
    """Return the scores of each step in percent of a common scale; infinite ones at its ends."""
    key = "score" if len({step["unit"] for step in steps}) == 1 else "bits"
    critical = [to_float(step["critical_value"]) if key == "score" else math.nan for step in steps]
    scores = [[to_float(row[key]) for row in step["candidates"]] for step in steps]
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
            "chosen": place(to_float(step[key])),
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


def _profile(profile: Record, profiles: Sequence[Record]) -> dict[str, Any]:
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


def _heat_map(table: Record) -> dict[str, Any]:
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


def _pairs(pairs: Record) -> dict[str, Any]:
    """Return a matrix: redundancy below the diagonal, synergy above it, on it the information."""
    n = len(pairs["names"])
    places = [(row, column) for row in range(n) for column in range(n) if row != column]
    key = {True: "redundancy", False: "synergy"}  # whether the row is below the column
    values = [_finite(pairs[key[i > j]][i][j]) for i, j in places if pairs["estimable"][i][j]]
    largest = max(values, default=0.0) or 1.0

    def cell(i: int, j: int) -> dict[str, Any]:
        value = pairs[key[i >= j]][i][j]
        is_known = i == j or pairs["estimable"][i][j]
        level = round(MAX_SHADE * _finite(value) / largest) if is_known and i != j else 0
        return {
            "text": number(value) if is_known else "–",
            "level": level,
            "part": "" if i == j else "shared" if i > j else "synergy",
            "is_overlap": i > j and is_known and level > 0 and not pairs["dependent"][i][j],
        }

    rows = [[cell(i, j) for j in range(n)] for i in range(n)]
    has_overlap = any(cell["is_overlap"] for row in rows for cell in row)
    return {**pairs, "rows": rows, "largest": number(largest), "has_overlap": has_overlap}


# ------------------------------------------------------------------------------------------ texts


def _percent(value: float, low: float, high: float, margin: float = 0.0) -> float:
    share = (value - low) / (high - low) if high > low else 0.5
    return round(margin + (100.0 - 2.0 * margin) * share, 2)


def _amount(value: float | str | None) -> str:
    """Return bits of a step; estimates below 0 are shown as 0."""
    return number(value if math.isnan(to_float(value)) else max(0.0, to_float(value)))


def _finite(value: float | str | None) -> float:
    known = to_float(value)
    return known if math.isfinite(known) else 0.0


def plain(value: float | str | None) -> str:
    """Return a number as JavaScript reads it, empty if it is unknown."""
    known = to_float(value)
    return "" if math.isnan(known) else f"{known:.6g}".replace("inf", "Infinity")


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
