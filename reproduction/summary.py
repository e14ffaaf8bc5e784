"""All numbers of a reproduction as plain values: what the page shows and the files hold."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reproduction import EXPERIMENTS, find_experiments, load_experiment
from reproduction.agreement import Agreement, Estimate, compare, estimate
from reproduction.experiment import Experiment, Results, RunRecord
from reproduction.page import render_page
from reproduction.runs import RunCount, RunLog, execute, pending_runs, write_atomically

Summary = dict[str, Any]

PAGE, NUMBERS, TABLE, RUNS = "index.html", "numbers.json", "numbers.csv", "runs"

FIELDS = (
    *("experiment", "kind", "where", "what", "x", "value", "standard_error", "threshold"),
    *("runs", "paper", "verdict"),
)


def reproduce(
    wanted: Sequence[str],
    out: Path,
    count: RunCount,
    *,
    resume: bool = False,
    n_jobs: int | None = None,
    command: str = "python -m reproduction",
    on_run: Callable[[int, int], None] = lambda done, total: None,
) -> Summary:
    """Run experiments of the paper and write the page and the numbers.

    Parameters
    ----------
    wanted : sequence of str
        Experiments, or parts such as "friedman/selection"; empty for everything.
    out : Path
        Folder of ``index.html``, ``numbers.json``, ``numbers.csv`` and of the runs in ``runs``.
    count : RunCount
    resume : bool
        Continue with the runs that the folder holds. Without it they are an error.
    n_jobs, on_run
        See `execute`.
    command : str
        Shown on the page.

    Returns
    -------
    dict
        The numbers of all experiments that the folder has runs of.
    """
    experiments, parts = find_experiments(wanted)
    log = RunLog(out / RUNS)
    if not resume and not log.is_empty:
        raise FileExistsError(
            f"{str(out)!r} holds runs of an earlier reproduction. Resume it, or use another folder."
        )
    with log.lock():
        if (first := log.first_seed(count.seed)) != count.seed:
            raise ValueError(
                f"The runs in {str(out)!r} begin with seed {first}, not with {count.seed}. Use "
                f"seed {first} to continue with them, or another folder."
            )
        execute(pending_runs(experiments, count, parts), log, n_jobs=n_jobs, on_run=on_run)
        shown = [
            load_experiment(name) for name in EXPERIMENTS if name in parts or log.records(name)
        ]
        return write_files(summarise(shown, log, count, command), out)


def redraw(out: Path) -> Summary:
    """Write the page from the stored numbers, without any run."""
    path = out / NUMBERS
    if not path.exists():
        raise FileNotFoundError(f"There is no {str(path)!r} to write the page from.")
    try:
        return write_files(json.loads(path.read_text(encoding="utf-8")), out)
    except (ValueError, KeyError) as error:
        raise ValueError(
            f"{str(path)!r} is damaged ({error!r}). Resume the reproduction to write it again."
        ) from error


def write_files(summary: Summary, out: Path) -> Summary:
    """Write page, numbers and table, and return the numbers."""
    page = render_page(summary)
    out.mkdir(parents=True, exist_ok=True)
    write_atomically(out / NUMBERS, json.dumps(summary, indent=1, allow_nan=False) + "\n")
    write_atomically(out / TABLE, to_csv(summary))
    write_atomically(out / PAGE, page)
    return summary


def summarise(
    experiments: Sequence[Experiment], log: RunLog, count: RunCount, command: str
) -> Summary:
    """Return the numbers of all tables, claims and figures."""
    records = {experiment.name: log.current(experiment) for experiment in experiments}
    found = [summarise_experiment(one, records[one.name]) for one in experiments]
    cells = [
        cell["verdict"] for one in found for table in one["comparisons"] for cell in table["cells"]
    ]
    claims = [claim["verdict"] for one in found for claim in one["claims"]]
    seconds: dict[str, list[float]] = {}
    for record in (record for runs in records.values() for record in runs):
        seconds.setdefault(record.environment, []).append(record.seconds)
    known = log.environments()
    return {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": count.seed,
        "quick": count.quick,
        "command": command,
        "totals": {
            kind: {verdict.value: Counter(seen)[verdict] for verdict in reversed(Agreement)}
            for kind, seen in (("cells", cells), ("claims", claims))
        },
        "environments": [
            {"id": name, **known.get(name, {}), "runs": len(taken), "seconds": round(sum(taken), 1)}
            for name, taken in seconds.items()
        ],
        "experiments": found,
    }


def summarise_experiment(experiment: Experiment, records: Sequence[RunRecord]) -> Summary:
    """Return the numbers of one experiment; texts stay with the experiment."""
    results = Results(records)
    found: Summary = {
        "name": experiment.name,
        "parts": [_part(part.name, records) for part in experiment.parts],
        "comparisons": [],
        "claims": [_plain(claim.evaluate(results)) for claim in experiment.claims],
        "figures": [],
    }
    for table in experiment.comparisons:
        cells = []
        for row, column, values, paper in table.cells(results):
            ours = estimate(values)
            verdict = None if paper is None else compare(ours, paper)
            place = {"row": row, "column": column, "ours": ours, "paper": paper}
            cells.append(_plain({**place, "verdict": verdict}))
        found["comparisons"].append({"name": table.name, "cells": cells})
    for figure in experiment.figures:
        panels = [_plain(panel) for panel in figure.panels(results) if panel]
        if panels:
            found["figures"].append({"name": figure.name, "panels": panels})
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
    """Return every number of tables, claims and figures as a line."""
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
    for figure in experiment["figures"]:
        for panel in figure["panels"]:
            place = {"kind": "figure", "where": f"{figure['name']}: {panel['title']}"}
            for node in panel["nodes"]:
                yield {**place, "x": node["label"], "value": node["count"]}
            for series in panel["series"]:
                nothing = [None] * len(series["y"])
                columns = (series["x"], series["y"], series["error"], series["threshold"])
                for x, y, error, limit in zip(*(one or nothing for one in columns), strict=True):
                    values = {"value": y, "standard_error": error, "threshold": limit}
                    yield {**place, "what": series["label"], "x": x, **values}
