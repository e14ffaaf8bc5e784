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
from reproduction.agreement import EQUAL, UNCHECKED, Agreement, Estimate, compare, estimate
from reproduction.experiment import Experiment, Results, RunRecord
from reproduction.page import render_page
from reproduction.runs import RunCount, RunLog, execute, pending_runs, write_atomically

Summary = dict[str, Any]

PAGE, NUMBERS, TABLE, RUNS = "index.html", "numbers.json", "numbers.csv", "runs"

#: Added to the shown command where parts were run again later.
UPDATED = ", parts again later (--update)"

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


def redraw(out: Path, newer: Path | None = None) -> Summary:
    """Write the page from the stored numbers, without any run, judged by the rules of today.

    Parameters
    ----------
    newer : Path, optional
        Folder of another reproduction of some parts, with at least as many runs: its numbers
        replace those stored in `out`.
    """
    stored = _read(out)
    if newer is not None:
        stored = _updated(stored, _read(newer))
    try:
        for found in stored["experiments"]:
            found["claims"] = _judged(load_experiment(found["name"]), found["claims"])
        return write_files({**stored, "totals": _totals(stored["experiments"])}, out)
    except (ValueError, KeyError) as error:
        raise ValueError(
            f"{str(out / NUMBERS)!r} is damaged ({error!r}). Resume the reproduction to write it "
            "again."
        ) from error


def _read(out: Path) -> Summary:
    path = out / NUMBERS
    if not path.exists():
        raise FileNotFoundError(f"There is no {str(path)!r} to write the page from.")
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ValueError(
            f"{str(path)!r} is damaged ({error!r}). Resume the reproduction to write it again."
        ) from error


def _judged(experiment: Experiment, stored: Sequence[Summary]) -> list[Summary]:
    """Return the stored values of today's claims with verdicts by today's rules.

    The stored number is that of the least favourable condition, so that a claim with several
    conditions keeps its verdict, as does one that more than the mean decides.
    """
    by_name = {one["name"]: one for one in stored}
    found = []
    for claim in experiment.claims:
        one = by_name.get(claim.name) or _plain(claim.evaluate(Results([])))
        verdict, (rule, *others) = Agreement(one["verdict"]), [c.rule for c in claim.conditions]
        if rule == UNCHECKED or not (others or rule == EQUAL):
            verdict = rule.judge(stored_estimate(one))
        elif verdict == Agreement.IDENTITY:
            verdict = Agreement.AGREES
        found.append({**one, "verdict": claim.counted(verdict)})
    return found


def stored_estimate(found: Summary) -> Estimate:
    """Return the estimate of a stored claim or cell."""
    ours: Summary = found["ours"]
    mean, error = (math.nan if ours[key] is None else ours[key] for key in Estimate._fields[:2])
    return Estimate(mean, error, ours["runs"])


def _updated(stored: Summary, newer: Summary) -> Summary:
    """Return stored numbers, with those of a newer reproduction that rest on as many runs."""
    if newer["quick"] or newer["seed"] != stored["seed"]:
        raise ValueError("Only a full reproduction from the same seed can replace stored numbers.")
    changed = {one["name"]: one for one in newer["experiments"]}
    kept = {one["name"]: one for one in stored["experiments"]}
    experiments = [
        _merged(kept.get(name), changed.get(name), load_experiment(name))
        for name in EXPERIMENTS
        if name in kept or name in changed
    ]
    environments = {one["id"]: one for one in (*stored["environments"], *newer["environments"])}
    return {
        **stored,
        "made": newer["made"],
        "command": f"{stored['command'].removesuffix(UPDATED)}{UPDATED}",
        "environments": list(environments.values()),
        "experiments": experiments,
    }


def _merged(kept: Summary | None, changed: Summary | None, experiment: Experiment) -> Summary:
    """Return an experiment as stored, with what was run again; all of it if all parts were."""
    complete = {(part.name, len(part.points)) for part in experiment.parts}
    if kept is None or changed is None:
        return kept or changed or {}
    stored = {part["name"]: _n_runs(part) for part in kept["parts"]}
    for part in changed["parts"]:
        if 0 < _n_runs(part) < stored.get(part["name"], 0):
            raise ValueError(
                f"{experiment.name}/{part['name']} has {_n_runs(part)} runs, but "
                f"{stored[part['name']]} are stored. Resume it with as many."
            )
    if complete == {(part["name"], part["points"]) for part in changed["parts"]}:
        return changed

    def newest(old: Sequence[Summary], new: Sequence[Summary], *keys: str) -> list[Summary]:
        """Return the items of today's experiment, each from the reproduction with more runs."""
        known = {tuple(one[key] for key in keys): one for one in old}
        pairs = ((one, known.get(tuple(one[key] for key in keys), one)) for one in new)
        return [max(pair, key=lambda one: (_n_runs(one), one.get("points", 0))) for pair in pairs]

    merged: Summary = {
        "name": experiment.name,
        "parts": newest(kept["parts"], changed["parts"], "name"),
        "claims": newest(kept["claims"], changed["claims"], "name"),
        "comparisons": [],
        "figures": [],
    }
    for table in changed["comparisons"]:
        old = [one["cells"] for one in kept["comparisons"] if one["name"] == table["name"]]
        cells = newest(old[0] if old else [], table["cells"], "row", "column")
        merged["comparisons"].append({"name": table["name"], "cells": cells})
    for figure in experiment.figures:
        before, now = (
            [
                panel
                for one in where["figures"]
                if one["name"] == figure.name
                for panel in one["panels"]
            ]
            for where in (kept, changed)
        )
        # Only panels and series with runs exist: a figure that was run in part is completed.
        if len(now) < len(before):
            known = {panel["title"]: panel for panel in before}
            for panel in now:
                pair = panel, known.get(panel["title"], panel)
                known[panel["title"]] = max(pair, key=lambda one: len(one["series"]))
            now = list(known.values())
        if now:
            merged["figures"].append({"name": figure.name, "panels": now})
    return merged


def _n_runs(found: Summary) -> int:
    """Return the runs of a claim or a cell, or the fewest at a point of a part."""
    if "ours" in found:
        return int(found["ours"]["runs"])
    return int(found["runs"].partition(" ")[0])


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
    seconds: dict[str, list[float]] = {}
    for record in (record for runs in records.values() for record in runs):
        seconds.setdefault(record.environment, []).append(record.seconds)
    known = log.environments()
    return {
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": count.seed,
        "quick": count.quick,
        "command": command,
        "totals": _totals(found),
        "environments": [
            {"id": name, **known.get(name, {}), "runs": len(taken), "seconds": round(sum(taken), 1)}
            for name, taken in seconds.items()
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
