"""Tables of a report; a column whose cells are all equal is said once instead."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pidselect.data.messages import cut, listed, p_relation, shown, to_float
from pidselect.decomposition.explanation import ATOMS
from pidselect.report.pictures import finite, number, percent, strips

Record = Mapping[str, Any]

#: Kinds of columns that stay even if all cells are equal.
KEPT = ("name", "order", "how", "strip")


@dataclass(frozen=True)
class TableColumn:
    """A column: its title, its kind, which is a CSS class, and for each row text and sort key."""

    title: str
    kind: str
    cells: Sequence[dict[str, Any]]


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
    return TableColumn(title, kind, [{"text": value} for value in values])


def _numbers(title: str, values: Iterable[Any], text: Callable[[Any], str] = number) -> TableColumn:
    cells = [{"text": text(value), "value": sort_key(value)} for value in values]
    return TableColumn(title, "number", cells)


def _p_values(rows: Iterable[Record], summary: Record, alpha: float | None = None) -> TableColumn:
    """Return the p-values of tests at a level, that of a row if it has one."""
    is_sequential, cells = summary["is_sequential"], []
    for row in rows:
        value, level = row["p_value"], row.get("alpha", alpha or summary["settings"]["alpha"])
        text = p_relation(value, level, is_sequential).removeprefix("p ").removeprefix("= ")
        cells.append({"text": "–" if value is None else text, "value": sort_key(value)})
    return TableColumn("p", "number p", cells)


def _names(
    rows: Sequence[Record], links: Mapping[str, str], asides: Sequence[str], title: str = "Feature"
) -> TableColumn:
    cells = [
        {"text": row["name"], "link": links.get(row["name"]), "aside": aside}
        for row, aside in zip(rows, asides, strict=True)
    ]
    return TableColumn(title, "name", cells)


def _bits(title: str, key: str, rows: Sequence[Record]) -> TableColumn:
    """Return a value of each feature, with its interval."""
    cells = []
    for row in rows:
        bound = "≥ " * (row["is_lower_bound"] and key in ("added", "synergy"))
        interval = row["intervals"].get(key)
        aside = "" if interval is None else "–".join(map(number, interval))
        text = f"{bound}{number(row[key])}"
        cells.append({"text": text, "value": sort_key(row[key]), "aside": aside})
    return TableColumn(title, "number", cells)


def _added(summary: Record, rows: Sequence[Record]) -> list[TableColumn]:
    """Return the added information, and that of the fit beside that of other rows."""
    if all(row["added_in_fit"] is None for row in rows):
        return [_bits("Adds, bits", "added", rows)]
    fit = _numbers("Adds in the fit", [row["added_in_fit"] for row in rows])
    return [_bits("Adds on these rows", "added", rows), fit]


def selected_table(summary: Record, plots: Mapping[str, str]) -> dict[str, Any]:
    """Return the table of selected features; `plots` are the ids of their plots by name."""
    rows = [row for row in summary["features"] if row["selected"]]
    links = {row["name"]: plots.get(row["name"], f"feature-{row['order']}") for row in rows}
    joint = {row["name"]: row["jointly_included"] for row in summary["selected"]}
    asides = [
        f"included jointly with {listed(joint[row['name']], 3, 24)}"
        if joint[row["name"]]
        else "not in the minimal set" * (not row["is_minimal"])
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
            _p_values(rows, summary),
            _texts("Role", "role", [row["role"] for row in rows]),
            _numbers("Frequency", [row["frequency"] for row in rows], percent),
            _texts("In short", "words", short),
        ]
    )


def roles_table(summary: Record, plots: Mapping[str, str]) -> dict[str, Any]:
    """Return the table of all features."""
    rows = summary["features"]
    order = [{"text": str(row["order"]), "value": str(row["order"])} for row in rows]
    parts = [[max(0.0, finite(row[atom])) for atom in ATOMS] for row in rows]
    longest = max(map(sum, parts), default=0.0) or 1.0
    how = [
        {
            "text": _remark(row, summary, plots),
            "bar": [
                (atom, f"{100 * part / longest:.1f}")
                for atom, part in zip(ATOMS, amounts, strict=True)
                if 1000 * part > longest
            ],
            "value": sort_key(None if row["unique"] is None else sum(amounts)),
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
            _p_values(rows, summary),
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


def steps_table(summary: Record) -> dict[str, Any]:
    """Return the table of steps."""
    steps = summary["steps"]
    has_statistics = any(step["unit"] != "bit" for step in steps)
    names = [{"name": cut(shown(step["chosen"]))} for step in steps]
    results = [{"text": step["outcome"], "is_accepted": step["accepted"]} for step in steps]
    return make_table(
        [
            _texts("Step", "order", [str(step["number"]) for step in steps]),
            _texts("Phase", "phase", [step["phase"].replace("_", " ") for step in steps]),
            _names(names, {}, [step["note"] for step in steps], "Tested"),
            TableColumn("Candidates", "strip", strips(steps)),
            TableColumn("Result", "outcome", results),
            _numbers("Bits", [step["bits"] for step in steps], _amount),
            *(_scores(steps, "score", "critical_value") if has_statistics else ()),
            _p_values(steps, summary),
            _numbers("Permutations", [step["n_permutations"] for step in steps], "{:,}".format),
        ]
    )


def _scores(rows: Sequence[Record], *keys: str) -> list[TableColumn]:
    """Return what statistics are of, statistics and critical values; those in bits as such."""
    digits = [3 if row.get("unit") == "bit" else 1 for row in rows]
    columns = [_texts("Statistic of", "estimator", [row["estimator"] for row in rows])]
    for key in keys:
        cells = [
            {"text": number(row[key], places), "value": sort_key(row[key])}
            for row, places in zip(rows, digits, strict=True)
        ]
        title = "Statistic" if key == "score" else "Critical value"
        columns.append(TableColumn(title, "number", cells))
    return columns


def candidates_table(step: Record, summary: Record) -> dict[str, Any]:
    """Return the table of the candidates of a step."""
    rows = step["candidates"]
    names = [{"name": cut(shown(row["name"]))} for row in rows]
    return make_table(
        [
            _names(names, {}, ["tested" * row["is_chosen"] for row in rows], "Candidate"),
            _numbers("Bits", [row["bits"] for row in rows], _amount),
            *(_scores(rows, "score") if step["unit"] != "bit" else ()),
            _p_values(rows, summary, step["alpha"]),
        ]
    )


def _amount(value: float | str | None) -> str:
    """Return bits of a step; estimates below 0 are shown as 0."""
    return number(value if math.isnan(to_float(value)) else max(0.0, to_float(value)))


def sort_key(value: float | str | None) -> str:
    """Return a number as JavaScript reads it, empty if it is unknown."""
    known = to_float(value)
    return "" if math.isnan(known) else f"{known:.6g}".replace("inf", "Infinity")
