"""All numbers of a reproduction as plain values: what the page shows and the files hold."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from reproduction import EXPERIMENTS, load_experiment
from reproduction.agreement import Agreement, Estimate, compare, estimate
from reproduction.experiment import Experiment, Results, RunRecord
from reproduction.page import render_page
from reproduction.runs import RunCount, RunLog, execute, pending_runs

Summary = dict[str, Any]

PAGE, NUMBERS, TABLE = "index.html", "numbers.json", "numbers.csv"

#: Added to the shown command where experiments were run again later.
UPDATED = ", parts again later (--update)"

FIELDS = (
    *("experiment", "kind", "where", "what", "value", "standard_error"),
    *("runs", "paper", "verdict"),
)


def reproduce(
    wanted: Sequence[str],
    out: Path,
    count: RunCount,
    *,
    resume: bool = False,
    n_jobs: int = -1,
    command: str = "python -m reproduction",
) -> Summary:
    """Run experiments of the paper and write the page and the numbers.

    Names of experiments are `wanted`, all if empty. The folder `out` gets the page, the numbers
    and the runs; if it has runs, these are an error unless `resume` continues with them. The page
    shows the `command`, and all experiments that the folder has runs of.
    """
    names, log = set(wanted) or set(EXPERIMENTS), RunLog(out)
    if not resume and log.experiments():
        raise FileExistsError(
            f"{str(out)!r} holds runs of an earlier reproduction. Resume it, or use another folder."
        )
    experiments = [load_experiment(name) for name in EXPERIMENTS if name in names]
    missing = log.missing(pending_runs(experiments, count))
    bar: dict[str, Any] = {"total": len(missing), "console": Console(stderr=True)}
    for found in track(execute(missing, n_jobs=n_jobs), "runs", **bar):
        log.add(*found)
    names |= log.experiments()
    shown = [load_experiment(name) for name in EXPERIMENTS if name in names]
    return write_files(summarise(shown, log, count, command), out)


def redraw(out: Path, newer: Path | None = None) -> Summary:
    """Write the page from the stored numbers, without any run.

    The numbers in `newer`, a later reproduction of some experiments, replace those in `out`.
    """
    stored: Summary = json.loads((out / NUMBERS).read_text(encoding="utf-8"))
    if newer is not None:
        later: Summary = json.loads((newer / NUMBERS).read_text(encoding="utf-8"))
        if later["quick"] or later["seed"] != stored["seed"]:
            raise ValueError("Only a full reproduction from the same seed can replace numbers.")
        for key, name in (("experiments", "name"), ("environments", "id")):
            stored[key] = list({one[name]: one for one in (*stored[key], *later[key])}.values())
        stored["experiments"].sort(key=lambda one: list(EXPERIMENTS).index(one["name"]))
        stored["command"] = stored["command"].removesuffix(UPDATED) + UPDATED
        stored["made"] = later["made"]
    return write_files({**stored, "totals": _totals(stored["experiments"])}, out)


def write_files(summary: Summary, out: Path) -> Summary:
    """Write page, numbers and table, and return the numbers."""
    texts = {
        NUMBERS: json.dumps(summary, indent=1, allow_nan=False) + "\n",
        TABLE: to_csv(summary),
        PAGE: render_page(summary),
    }
    for name, text in texts.items():
        (out / name).write_text(text, encoding="utf-8")
    return summary


def summarise(
    experiments: Sequence[Experiment], log: RunLog, count: RunCount, command: str
) -> Summary:
    """Return the numbers of all tables and claims."""
    records = {experiment.name: log.current(experiment) for experiment in experiments}
    found = [summarise_experiment(one, records[one.name]) for one in experiments]
    seconds: dict[str, list[float]] = {}
    for record in (record for runs in records.values() for record in runs):
        seconds.setdefault(record.environment, []).append(record.seconds)
    return {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": count.seed,
        "quick": count.quick,
        "command": command,
        "totals": _totals(found),
        "environments": [
            {
                "id": sha256(text.encode()).hexdigest()[:8],
                **json.loads(text),
                "runs": len(taken),
                "seconds": round(sum(taken), 1),
            }
            for text, taken in seconds.items()
        ],
        "experiments": found,
    }


def _totals(experiments: Sequence[Summary]) -> Summary:
    """Return the number of cells and of claims with each verdict."""
    cells = [
        cell["verdict"]
        for one in experiments
        for table in one["comparisons"]
        for cell in table["cells"]
    ]
    claims = [claim["verdict"] for one in experiments for claim in one["claims"]]
    return {
        kind: {verdict.value: Counter(seen)[verdict] for verdict in reversed(Agreement)}
        for kind, seen in (("cells", cells), ("claims", claims))
    }


def summarise_experiment(experiment: Experiment, records: Sequence[RunRecord]) -> Summary:
    """Return the numbers of one experiment; texts stay with the experiment."""
    results = Results(records)
    found: Summary = {
        "name": experiment.name,
        "parts": [_part(part.name, records) for part in experiment.parts],
        "comparisons": [],
        "claims": [_plain(claim.evaluate(results)) for claim in experiment.claims],
    }
    for name, table in experiment.tables.items():
        cells = []
        for row, column, values, paper in table(results):
            ours = estimate(values)
            verdict = None if paper is None else compare(ours, paper)
            place = {"row": row, "column": column, "ours": ours, "paper": paper}
            cells.append(_plain({**place, "verdict": verdict}))
        found["comparisons"].append({"name": name, "cells": cells})
    return found


def _part(name: str, records: Sequence[RunRecord]) -> Summary:
    mine = [record for record in records if record.part == name]
    runs = Counter(str(sorted(record.point.items())) for record in mine).values()
    span = f"{min(runs)} to {max(runs)}" if len(set(runs)) > 1 else str(max(runs, default=0))
    seconds = round(sum(record.seconds for record in mine), 1)
    return {"name": name, "points": len(runs), "runs": span, "seconds": seconds}


def _plain(value: Any) -> Any:
    """Return values that JSON has, numbers to seven digits."""
    match value:
        case float():
            return float(f"{value:.7g}") if math.isfinite(value) else None
        case Estimate():
            return _plain(value._asdict())
        case Mapping():
            return {name: _plain(member) for name, member in value.items()}
        case list() | tuple():
            return [_plain(member) for member in value]
    return value


def to_csv(summary: Summary) -> str:
    """Return every number of tables and claims as a line."""
    out = io.StringIO()
    writer = csv.DictWriter(out, FIELDS, lineterminator="\n", restval="")
    writer.writeheader()
    for experiment in summary["experiments"]:
        for row in _rows(experiment):
            writer.writerow({"experiment": experiment["name"], **row})
    return out.getvalue()


def _rows(experiment: Summary) -> Iterator[Summary]:
    def ours(found: Summary) -> Summary:
        error, runs = found["ours"]["standard_error"], found["ours"]["runs"]
        return {"value": found["ours"]["mean"], "standard_error": error, "runs": runs}

    for table in experiment["comparisons"]:
        for cell in table["cells"]:
            place = {"kind": "table", "where": table["name"]}
            what = {"what": f"{cell['row']}; {cell['column']}", "paper": cell["paper"]}
            yield {**place, **what, **ours(cell), "verdict": cell["verdict"]}
    for claim in experiment["claims"]:
        place = {"kind": "statement", "where": claim["name"], "what": claim["measured"]}
        yield {**place, **ours(claim), "verdict": claim["verdict"]}
