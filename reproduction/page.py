"""Makes one page of HTML from a summary: it needs no other file, and no network.

The summary is plain values. Here they get an order, a text and an id; how they look is in the
templates, which put every text in escaped.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pidselect.report.html import ids, number
from reproduction.figures import Figure
from reproduction.plots import draw

Record = Mapping[str, Any]

#: What comes of a comparison, and its mark: colour alone says nothing.
MARKS = {"agrees": "✓", "differs": "✗", "undecided": "?", "not run": "–"}

#: Columns of a table that a screen has room for.
WIDE = 6

#: What is known about an environment, in words.
_FACTS = {"logical_cpus": "logical CPUs", "cpu": "CPU", "seconds": "time of one core"}

#: Ids that the templates use themselves.
_TAKEN = ("filter", "top", "answer", "reading", "environments", "open", "contents")


def render(summary: Record) -> str:
    """Return the page.

    Parameters
    ----------
    summary : mapping
        As `reproduction.summary` makes it; a number that is missing is None.
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("reproduction"), PackageLoader("pidselect.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = environment.get_template("filter.js").render()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template("page.html").render(
        _view(summary), marks=MARKS, script=Markup(script), script_hash=digest
    )


def _view(summary: Record) -> dict[str, Any]:
    """Return what the templates show."""
    name_id = ids(_TAKEN)
    experiments = [_experiment(record, name_id) for record in summary["experiments"]]
    totals = summary["totals"]
    return {
        **summary,
        "made": datetime.fromisoformat(summary["made"]),
        "answer": _answer(totals),
        "totals": {
            kind: {verdict: totals[kind].get(verdict, 0) for verdict in MARKS} for kind in totals
        },
        "environment_rows": _environment_rows(summary["environments"]),
        "experiments": experiments,
    }


# ----------------------------------------------------------------------------------- the answer


def _answer(totals: Record) -> list[str]:
    """Say in a sentence each how many numbers and how many statements agree.

    Examples
    --------
    >>> _answer({"cells": {"agrees": 3, "differs": 1}, "claims": {"not run": 2}})
    ['Of 4 comparisons with numbers of the paper, 3 agree and 1 differs.',
     'Of 2 checks of the paper’s statements, none agree and 2 were not run.']
    """
    sentences = []
    for kind, what in (
        ("cells", "comparisons with numbers of the paper"),
        ("claims", "checks of the paper’s statements"),
    ):
        counts = totals[kind]
        agree = counts.get("agrees", 0)
        parts = [f"{agree or 'none'} agree{'s' if agree == 1 else ''}"]
        for verdict, one, several in (
            ("differs", "differs", "differ"),
            ("undecided", "is undecided", "are undecided"),
            ("not run", "was not run", "were not run"),
        ):
            if number := counts.get(verdict, 0):
                parts.append(f"{number} {one if number == 1 else several}")
        listed = " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]
        sentences.append(f"Of {sum(counts.values())} {what}, {listed}.")
    return sentences


def _environment_rows(environments: Sequence[Record]) -> list[tuple[str, list[str]]]:
    """Return a row for each thing known about the environments, with one value for each of them."""
    keys = dict.fromkeys(key for environment in environments for key in environment)
    return [
        (_FACTS.get(key, key), [_fact(key, environment.get(key)) for environment in environments])
        for key in keys
    ]


def _fact(key: str, value: Any) -> str:
    if value is None:
        return "–"
    return duration(value) if key == "seconds" else str(value)


# ------------------------------------------------------------------------------- an experiment


def _experiment(record: Record, name_id: Callable[[str], str]) -> dict[str, Any]:
    place = name_id(record["name"])
    tables = [_table(table, place, name_id) for table in record["comparisons"]]
    claims = [_claim(claim, place, name_id) for claim in record["claims"]]
    differing = [
        {"id": claim["id"], "text": claim["name"]}
        for claim in claims
        if claim["verdict"] == "differs"
    ]
    for table in tables:
        differing += [
            {"id": cell["id"], "text": f"{table['title']}: {cell['row']}, {cell['column']}"}
            for cell in table["compared"]
            if cell["verdict"] == "differs"
        ]
    verdicts = [cell["verdict"] for table in tables for cell in table["compared"]]
    return {
        **record,
        "id": place,
        "parts": [{**part, "took": duration(part["seconds"])} for part in record["parts"]],
        "tables": tables,
        "claims": claims,
        "figures": [_figure(figure, place, name_id) for figure in record["figures"]],
        "differing": differing,
        "counts": Counter([*verdicts, *(claim["verdict"] for claim in claims)]),
    }


def _table(record: Record, place: str, name_id: Callable[[str], str]) -> dict[str, Any]:
    """Return the cells of a comparison as rows and columns."""
    table_id = name_id(f"{place} {record['name']}")
    cells = [
        {
            **cell,
            "id": name_id(f"{table_id} {cell['row']} {cell['column']}"),
            "shown": number(cell["ours"]["mean"], record["digits"]),
            "error": _error(cell["ours"], record["digits"]),
            "runs": cell["ours"]["runs"],
            "paper_shown": None
            if cell["paper"] is None
            else number(cell["paper"], record["digits"]),
        }
        for cell in record["cells"]
    ]
    at: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for cell in cells:
        at.setdefault((cell["row"], cell["column"]), []).append(cell)
    columns = list(dict.fromkeys(cell["column"] for cell in cells))
    groups = _groups(columns)
    # A table too wide for a screen is turned: what columns have in common goes to the left.
    nested = len(columns) > WIDE and len({tuple(names) for _, names in groups}) == 1
    lines = [(head, [f"{head}: {name}" for name in names]) for head, names in groups]
    runs = {cell["runs"] for cell in cells}
    return {
        **record,
        "id": table_id,
        "nested": nested,
        "groups": [] if nested else groups,
        "columns": groups[0][1] if nested else columns,
        "rows": [
            (
                row,
                [
                    (head, [at.get((row, column), []) for column in names])
                    for head, names in (lines if nested else [("", columns)])
                ],
            )
            for row in dict.fromkeys(cell["row"] for cell in cells)
        ],
        "runs": runs.pop() if len(runs) == 1 else None,
        "compared": [cell for cell in cells if cell["verdict"] is not None],
    }


def _groups(columns: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return columns under common heads, if all are named like "CMI: TP"; else nothing.

    Examples
    --------
    >>> _groups(["CMI: TP", "CMI: FP", "MI: TP"])
    [('CMI', ['TP', 'FP']), ('MI', ['TP'])]
    """
    groups: list[tuple[str, list[str]]] = []
    for column in columns:
        head, colon, rest = column.partition(": ")
        if not colon:
            return []
        if not groups or groups[-1][0] != head:
            groups.append((head, []))
        groups[-1][1].append(rest)
    return groups if len(groups) < len(columns) else []


def _claim(record: Record, place: str, name_id: Callable[[str], str]) -> dict[str, Any]:
    ours = record["ours"]
    digits = _digits(ours)
    return {
        **record,
        "id": name_id(f"{place} {record['name']}"),
        "shown": number(ours["mean"], digits),
        "error": _error(ours, digits),
        "runs": ours["runs"],
    }


def _figure(record: Record, place: str, name_id: Callable[[str], str]) -> dict[str, Any]:
    figure_id = name_id(f"figure {place} {record['name']}")
    svg = draw(Figure.from_dict(record), salt=figure_id)
    # What matplotlib writes is escaped already, and the drawing has no other source.
    return {**record, "id": figure_id, "svg": Markup(svg)}


# ------------------------------------------------------------------------------------- numbers


def duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> duration(0.42), duration(75), duration(7384)
    ('0.4 s', '1 min 15 s', '2 h 3 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def _error(ours: Record, digits: int) -> str | None:
    """Return the standard error; none where a single run has none, or is exact."""
    error = ours["standard_error"]
    if error is None or (error == 0 and ours["runs"] < 2):
        return None
    return number(error, digits)


def _digits(ours: Record) -> int:
    """Return how many digits after the point tell something: two of the error.

    Examples
    --------
    >>> _digits({"mean": 0.4567, "standard_error": 0.0123})
    3
    >>> _digits({"mean": 18.0, "standard_error": 0.0})
    0
    """
    size = ours["standard_error"] or 0.0
    if not size:
        mean = ours["mean"] or 0.0
        if mean == round(mean):
            return 0
        size = abs(mean) / 10.0  # without an error, three digits of the value
    return min(6, max(0, 1 - math.floor(math.log10(size))))
