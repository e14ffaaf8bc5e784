"""One page of HTML from the stored numbers and the texts of the experiments."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pidselect.report.pictures import number
from reproduction import load_experiment, read_texts
from reproduction.agreement import CRITICAL, FEW_RUNS, PAPER_RUNS, Agreement, Estimate
from reproduction.experiment import Claim

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


def render_page(summary: Record) -> str:
    """Return the page as one self-contained text, each experiment with its texts of today."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("reproduction"), PackageLoader("pidselect.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = environment.get_template("filter.js").render()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    tested = (one for one in Agreement if one not in (Agreement.IDENTITY, Agreement.UNCHECKED))
    return environment.get_template("page.html").render(
        {**summary, "experiments": [_experiment(record) for record in summary["experiments"]]},
        title="Reproduction of the paper's experiments",
        made=datetime.fromisoformat(summary["made"]),
        marks=MARKS,
        n_tested=sum(summary["totals"]["claims"][verdict] for verdict in tested),
        critical=CRITICAL,
        paper_runs=PAPER_RUNS,
        few_runs=FEW_RUNS,
        notes=read_texts()["general"]["notes"],
        script=Markup(script),
        script_hash=digest,
    )


def _experiment(record: Record) -> dict[str, Any]:
    """Return numbers and texts of an experiment together."""
    name = record["name"]
    experiment = load_experiment(name)
    text, claims = experiment.text, {claim.name: claim for claim in experiment.claims}
    tables = [
        _table(one["cells"], text["tables"][one["name"]], f"{name}-{one['name']}")
        for one in record["comparisons"]
    ]
    shown = [
        _claim(one, claims[one["name"]], f"{name}-statement-{place}")
        for place, one in enumerate(record["claims"], start=1)
    ]
    everything = [*shown, *(cell for table in tables for cell in table["all"])]
    return {
        "id": name,
        "text": text,
        "parts": record["parts"],
        "tables": tables,
        "claims": shown,
        "differing": [one for one in everything if one["verdict"] == "differs"],
    }


def _table(found: list[Record], text: Record, place: str) -> dict[str, Any]:
    """Return the cells by row and column; a table with more columns than rows is transposed."""
    digits = text.get("digits", 1)
    place = place.replace(" ", "-")
    cells = {
        (cell["row"], cell["column"]): {
            **cell,
            "id": f"{place}-{number_of}",
            "name": f"{text['title']}: {cell['row']}, {cell['column']}",
            "shown": _number(cell["ours"], digits),
            "paper_shown": None if cell["paper"] is None else number(cell["paper"], digits),
        }
        for number_of, cell in enumerate(found, start=1)
    }
    rows, columns = (list(dict.fromkeys(key[axis] for key in cells)) for axis in (0, 1))
    runs = {cell["ours"]["runs"] for cell in cells.values()}
    turned = len(columns) > max(6, len(rows))
    if turned:
        rows, columns = columns, rows
    return {
        "text": text,
        "id": place,
        "columns": columns,
        "rows": [
            (row, [cells.get((column, row) if turned else (row, column)) for column in columns])
            for row in rows
        ],
        "all": list(cells.values()),
        "runs": runs.pop() if len(runs) == 1 else None,
    }


def _claim(record: Record, claim: Claim, place: str) -> dict[str, Any]:
    ours, rule = record["ours"], claim.conditions[0].rule
    remark = f"{claim.identity} {claim.remark}"
    if ours["standard_error"] and rule and rule.text.startswith(("mean at", "mean between")):
        margin = rule.margin(Estimate(ours["mean"], ours["standard_error"], ours["runs"]))
        if abs(margin) <= CRITICAL * ours["standard_error"]:
            remark += f" The mean is less than {CRITICAL} standard errors from its limit."
    return {
        **record,
        "id": place,
        "statement": claim.statement,
        "rule": rule.text if rule else "not checked",
        "shown": _number(ours, _digits(ours)),
        "remark": remark.strip(),
    }


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
