"""One page of HTML from the stored numbers and the texts of the experiments."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pidselect.report.pictures import number
from reproduction import EXPERIMENTS, load_experiment, read_texts
from reproduction.agreement import CRITICAL, FEW_RUNS, PAPER_RUNS, TESTED, Estimate
from reproduction.experiment import Experiment
from reproduction.plots import draw_svg

Record = Mapping[str, Any]

#: Verdicts and their marks, which do not rely on colour.
MARKS = {
    "agrees": "✓",
    "differs": "✗",
    "undecided": "?",
    "not run": "–",
    "identity": "≡",
    "unchecked": "○",
}

RULES = (
    f"A number of a table agrees if it differs from the paper's by at most {CRITICAL} · √(1 + "
    f"n/{PAPER_RUNS}) standard errors of our n runs: the paper's {PAPER_RUNS} runs are assumed to "
    "vary as ours do. Where all our runs are equal, the standard error is that of a percentage "
    "halfway between both numbers. Of a hundred equal numbers, one is expected to differ.",
    "A statement that one value exceeds another agrees if the mean difference, run by run, is more "
    f"than {CRITICAL} standard errors above zero. Other statements name their limit.",
    f"What does not agree differs. With fewer than {FEW_RUNS} runs it is undecided, and so is what "
    "agrees only because a difference is not significant.",
    "An identity holds for any data: by definition, by counting, or as the number of another "
    "statement. It is computed, which checks our code, but not counted as agreeing.",
    "What no run decides is unchecked, with the reason: theorems, statements on the literature and "
    "arguments without a number.",
)


def ids(taken: Iterable[str]) -> Callable[[str], str]:
    """Return a function that makes unique ids of names.

    Examples
    --------
    >>> name_id = ids(["top"])
    >>> name_id("I: CMI finds all"), name_id("I, CMI finds all!"), name_id("top")
    ('i-cmi-finds-all', 'i-cmi-finds-all-2', 'top-2')
    """
    seen = set(taken)

    def name_id(name: str) -> str:
        stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "x"
        found, count = stem, 1
        while found in seen:
            count += 1
            found = f"{stem}-{count}"
        seen.add(found)
        return found

    return name_id


def render_page(summary: Record) -> str:
    """Return the page: it needs no other file and no network.

    Parameters
    ----------
    summary : mapping
        As `reproduction.summary.summarise` returns it.
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
    name_id = ids(("filter", "top", "results", "reading", "environments", "open", "contents"))
    shown = [
        _experiment(record, load_experiment(record["name"]), name_id)
        for record in summary["experiments"]
        if record["name"] in EXPERIMENTS
    ]
    return environment.get_template("page.html").render(
        {**summary, "experiments": shown},
        title="Reproduction of the paper's experiments",
        made=datetime.fromisoformat(summary["made"]),
        marks=MARKS,
        n_tested=sum(summary["totals"]["claims"][verdict] for verdict in TESTED),
        rules=RULES,
        notes=read_texts()["general"]["notes"],
        script=Markup(script),
        script_hash=digest,
    )


def _experiment(
    record: Record, experiment: Experiment, name_id: Callable[[str], str]
) -> dict[str, Any]:
    """Return numbers and texts of an experiment together."""
    place = name_id(experiment.name)
    tables = {table.name: table for table in experiment.comparisons}
    claims = {claim.name: claim for claim in experiment.claims}
    figures = {figure.name: figure for figure in experiment.figures}
    shown = {
        "id": place,
        "text": experiment,
        "parts": record["parts"],
        "tables": [
            _table(one, tables[one["name"]], f"{place} {one['name']}", name_id)
            for one in record["comparisons"]
            if one["name"] in tables and one["cells"]
        ],
        "claims": [
            _claim(one, claims[one["name"]], name_id(f"{place} {one['name']}"))
            for one in record["claims"]
            if one["name"] in claims
        ],
        "figures": [
            _figure(one, figures[one["name"]], name_id(f"figure {one['name']}"))
            for one in record["figures"]
            if one["name"] in figures
        ],
    }
    shown["differing"] = [
        {"id": one["id"], "text": one["name"]}
        for one in (*shown["claims"], *(cell for table in shown["tables"] for cell in table["all"]))
        if one["verdict"] == "differs"
    ]
    return shown


def _table(record: Record, text: Any, place: str, name_id: Callable[[str], str]) -> dict[str, Any]:
    """Return the cells by row and column; a table with more columns than rows is transposed."""
    cells = {
        (cell["row"], cell["column"]): {
            **cell,
            "id": name_id(f"{place} {cell['row']} {cell['column']}"),
            "name": f"{text.title}: {cell['row']}, {cell['column']}",
            "shown": _number(cell["ours"], text.digits),
            "paper_shown": None if cell["paper"] is None else number(cell["paper"], text.digits),
        }
        for cell in record["cells"]
    }
    rows, columns = (list(dict.fromkeys(key[axis] for key in cells)) for axis in (0, 1))
    runs = {cell["ours"]["runs"] for cell in cells.values()}
    turned = len(columns) > max(6, len(rows))
    if turned:
        rows, columns = columns, rows
    return {
        "text": text,
        "id": name_id(place),
        "columns": columns,
        "rows": [
            (row, [cells.get((column, row) if turned else (row, column)) for column in columns])
            for row in rows
        ],
        "all": list(cells.values()),
        "runs": runs.pop() if len(runs) == 1 else None,
    }


def _claim(record: Record, text: Any, place: str) -> dict[str, Any]:
    ours = record["ours"]
    remark = f"{text.identity} {text.remark}".strip()
    rule = text.conditions[0].rule
    if ours["standard_error"] and rule.text.startswith(("mean at", "mean between")):
        margin = rule.margin(Estimate(ours["mean"], ours["standard_error"], ours["runs"]))
        if abs(margin) <= CRITICAL * ours["standard_error"]:
            remark += f" The mean is less than {CRITICAL} standard errors from its limit."
    return {
        **record,
        "id": place,
        "text": text,
        "shown": _number(ours, _digits(ours)),
        "remark": remark.strip(),
    }


def _figure(record: Record, text: Any, place: str) -> dict[str, Any]:
    panels = [{**panel, "n_columns": text.n_columns} for panel in record["panels"]]
    titles = "; ".join(panel["title"] for panel in panels)
    label = f"{text.title}. {text.caption} Panels: {titles}."
    # matplotlib escapes all texts.
    svg = Markup(draw_svg(record["name"], label, panels, text.n_columns))
    return {"id": place, "text": text, "svg": svg}


def _number(ours: Record, digits: int) -> str:
    """Return mean ± standard error; no error where it is unknown or the number exact."""
    error = ours["standard_error"]
    if error is None or (error == 0 and ours["runs"] < 2):
        return number(ours["mean"], digits)
    return f"{number(ours['mean'], digits)} ± {number(error, digits)}"


def _digits(ours: Record) -> int:
    """Return the number of decimals: two digits of the error.

    Examples
    --------
    >>> _digits({"mean": 0.4567, "standard_error": 0.0123})
    3
    """
    size, mean = ours["standard_error"] or 0.0, ours["mean"] or 0.0
    if not size:
        if mean == round(mean):
            return 0
        size = abs(mean) / 10.0  # without an error, three digits of the value
    return min(6, max(0, 1 - math.floor(math.log10(size))))
