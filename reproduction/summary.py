"""All that was found, as plain values: what the page shows and the files hold."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from reproduction.agreement import (
    FEW_RUNS,
    PAPER_RUNS,
    SURE,
    Cell,
    Claim,
    Estimate,
    Verdict,
)
from reproduction.experiment import Experiment, Part
from reproduction.notes import GENERAL_NOTES
from reproduction.runner import Plan
from reproduction.store import Record, Store, results_of

Summary = dict[str, Any]

RULES = (
    f"A number of a table agrees if it differs from the paper's by at most {SURE} · √(1 + "
    f"n/{PAPER_RUNS}) standard errors of our n runs: the paper's {PAPER_RUNS} runs are taken to "
    "spread as ours do. Where all our runs are alike, the standard error is that of a share "
    "halfway between ours and the paper's in as many runs. Of a hundred numbers that are truly "
    "alike, one is expected to differ.",
    f"A statement that one value lies above another agrees if the mean difference, run by run, is "
    f"more than {SURE} standard errors above zero. Other statements name their limit.",
    f"What does not agree differs. With fewer than {FEW_RUNS} runs it is called undecided, and so "
    "is what agrees only since the difference is within chance.",
)

FIELDS = (
    "experiment",
    "kind",
    "where",
    "what",
    "x",
    "value",
    "standard_error",
    "threshold",
    "runs",
    "paper",
    "verdict",
)


def summarise(
    experiments: Sequence[Experiment], store: Store, plan: Plan, *, command: str
) -> Summary:
    """Return everything that the page shows, as plain values."""
    told = [_tell(experiment, store) for experiment in experiments]
    return {
        "title": "The paper, reproduced",
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": plan.seed,
        "quick": plan.quick,
        "command": command,
        "rules": list(RULES),
        "totals": {
            "cells": _count(
                found["verdict"]
                for one in told
                for table in one["comparisons"]
                for found in table["cells"]
                if found["verdict"]
            ),
            "claims": _count(claim["verdict"] for one in told for claim in one["claims"]),
        },
        "environments": _environments(experiments, store),
        "general_notes": [asdict(note) for note in GENERAL_NOTES],
        "experiments": told,
    }


def _tell(experiment: Experiment, store: Store) -> Summary:
    records = store.current(experiment)
    findings = experiment.report(results_of(records))
    return {
        "name": experiment.name,
        "title": experiment.title,
        "where": experiment.where,
        "about": list(experiment.about),
        "notes": [asdict(note) for note in experiment.notes],
        "parts": [_tell_part(part, records) for part in experiment.parts],
        "comparisons": [
            {
                "name": table.name,
                "title": table.title,
                "caption": table.caption,
                "digits": table.digits,
                "cells": [_tell_cell(found) for found in table.cells],
            }
            for table in findings.comparisons
        ],
        "claims": [_tell_claim(claim) for claim in findings.claims],
        "figures": [_without_nan(figure.to_dict()) for figure in findings.figures],
    }


def _tell_part(part: Part, records: Sequence[Record]) -> Summary:
    of_part = [record for record in records if record.part == part.name]
    runs = Counter(str(sorted(record.point.items())) for record in of_part).values()
    span = f"{min(runs)} to {max(runs)}" if len(set(runs)) > 1 else str(max(runs, default=0))
    seconds = sum(record.seconds for record in of_part)
    return {"name": part.name, "points": len(runs), "runs": span, "seconds": round(seconds, 1)}


def _tell_cell(found: Cell) -> Summary:
    return {
        "row": found.row,
        "column": found.column,
        "ours": _tell_estimate(found.ours),
        "paper": found.paper,
        "verdict": None if found.verdict is None else found.verdict.value,
    }


def _tell_claim(claim: Claim) -> Summary:
    return {
        "name": claim.name,
        "statement": claim.statement,
        "ours": _tell_estimate(claim.ours),
        "measured": claim.measured,
        "rule": claim.rule,
        "verdict": claim.verdict.value,
        "remark": claim.remark,
    }


def _tell_estimate(found: Estimate) -> Summary:
    return {
        "mean": _number(found.mean),
        "standard_error": _number(found.standard_error),
        "runs": found.runs,
    }


def _number(value: float) -> float | None:
    """Return a number that JSON has, to seven digits; None for none."""
    return float(f"{value:.7g}") if math.isfinite(value) else None


def _without_nan(value: Any) -> Any:
    match value:
        case float():
            return _number(value)
        case Mapping():
            return {name: _without_nan(member) for name, member in value.items()}
        case list() | tuple():
            return [_without_nan(member) for member in value]
    return value


def _count(verdicts: Iterator[str]) -> dict[str, int]:
    counts = Counter(verdicts)
    return {verdict.value: counts[verdict.value] for verdict in Verdict}


def _environments(experiments: Sequence[Experiment], store: Store) -> list[Summary]:
    """Return every environment in which runs were made, with how many and how long they took."""
    seconds: dict[str, list[float]] = {}
    for experiment in experiments:
        for record in store.current(experiment):
            seconds.setdefault(record.environment, []).append(record.seconds)
    known = store.environments()
    return [
        {"id": name, **known.get(name, {}), "runs": len(taken), "seconds": round(sum(taken), 1)}
        for name, taken in seconds.items()
    ]


def to_csv(summary: Summary) -> str:
    """Return every number of a summary as a line of its own: of tables, statements and figures."""
    out = io.StringIO()
    writer = csv.DictWriter(out, FIELDS, lineterminator="\n", restval="")
    writer.writeheader()
    for experiment in summary["experiments"]:
        for row in _rows(experiment):
            writer.writerow({"experiment": experiment["name"], **row})
    return out.getvalue()


def _rows(experiment: Summary) -> Iterator[dict[str, Any]]:
    for table in experiment["comparisons"]:
        for found in table["cells"]:
            yield {
                "kind": "table",
                "where": table["name"],
                "what": f"{found['row']}; {found['column']}",
                **_estimate_fields(found["ours"]),
                "paper": found["paper"],
                "verdict": found["verdict"],
            }
    for claim in experiment["claims"]:
        yield {
            "kind": "statement",
            "where": claim["name"],
            "what": claim["measured"],
            **_estimate_fields(claim["ours"]),
            "verdict": claim["verdict"],
        }
    for figure in experiment["figures"]:
        for panel in figure["panels"]:
            for series in panel["series"]:
                yield from _points(f"{figure['name']}: {panel['title']}", series)
            for node in panel["nodes"]:
                where = f"{figure['name']}: {panel['title']}"
                yield {"kind": "figure", "where": where, "x": node["label"], "value": node["count"]}


def _estimate_fields(ours: Summary) -> dict[str, Any]:
    return {
        "value": ours["mean"],
        "standard_error": ours["standard_error"],
        "runs": ours["runs"],
    }


def _points(where: str, series: Summary) -> Iterator[dict[str, Any]]:
    for place, (x, y) in enumerate(zip(series["x"], series["y"], strict=True)):
        yield {
            "kind": "figure",
            "where": where,
            "what": series["label"],
            "x": x,
            "value": y,
            "standard_error": series["error"][place] if series["error"] else None,
            "threshold": series["threshold"][place] if series["threshold"] else None,
        }
