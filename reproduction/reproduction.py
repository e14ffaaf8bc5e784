"""The whole way: run what is missing, compare with the paper, write the page and the numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reproduction.page import render
from reproduction.registry import EXPERIMENTS, find, load
from reproduction.runner import Plan, State, make, planned
from reproduction.store import Store, replace_text
from reproduction.summary import Summary, summarise, to_csv

PAGE, NUMBERS, TABLE, RUNS = "index.html", "numbers.json", "numbers.csv", "runs"


@dataclass(frozen=True)
class Report:
    """What was written where.

    Parameters
    ----------
    summary : dict
        Everything that was found.
    page : Path
        The page; the numbers lie beside it.
    """

    summary: Summary
    page: Path


def reproduce(
    wanted: Sequence[str],
    out: Path,
    plan: Plan,
    *,
    resume: bool = False,
    n_jobs: int | None = None,
    command: str = "pidselect reproduce",
    watch: Callable[[State], None] = lambda state: None,
) -> Report:
    """Run experiments of the paper and write what came out beside what the paper says.

    Parameters
    ----------
    wanted : sequence of str
        Experiments, or parts of them such as "friedman/selection"; none at all for everything.
    out : Path
        A folder for ``index.html``, ``numbers.json``, ``numbers.csv`` and the runs in ``runs``.
    plan : Plan
        How much is run.
    resume : bool
        Go on from the runs that the folder holds already. Without it they are an error.
    n_jobs : int, optional
        Processes; None for all cores.
    command : str
        What the page says it was made by.
    watch : callable
        Is told after each run.

    Returns
    -------
    Report
        On all experiments that the folder has runs of.
    """
    experiments, parts = find(wanted)
    store = Store(out / RUNS)
    if not resume and not store.is_empty:
        raise FileExistsError(
            f"{str(out)!r} holds runs of an earlier reproduction. Give --resume to go on from "
            "them, or another folder with --out."
        )
    with store.alone():
        if (first := store.first_seed(plan.seed)) != plan.seed:
            raise ValueError(
                f"The runs in {str(out)!r} begin with seed {first}, and not with {plan.seed}. Give "
                f"--seed {first} to go on from them, or another folder with --out."
            )
        make(planned(experiments, plan, parts), store, n_jobs=n_jobs, watch=watch)
        shown = [load(name) for name in EXPERIMENTS if name in parts or store.records(name)]
        return _write(summarise(shown, store, plan, command=command), out)


def redraw(out: Path) -> Report:
    """Write the page anew from the numbers beside it, without any run."""
    path = out / NUMBERS
    if not path.exists():
        raise FileNotFoundError(f"There is no {str(path)!r} to draw from. Leave out --redraw.")
    try:
        return _write(json.loads(path.read_text(encoding="utf-8")), out)
    except (ValueError, KeyError) as error:
        raise ValueError(
            f"{str(path)!r} cannot be drawn from ({error!r}). It is made anew from the runs by "
            "--resume instead of --redraw."
        ) from error


def _write(summary: Summary, out: Path) -> Report:
    out.mkdir(parents=True, exist_ok=True)
    replace_text(out / NUMBERS, json.dumps(summary, indent=1, allow_nan=False) + "\n")
    replace_text(out / TABLE, to_csv(summary))
    replace_text(out / PAGE, render(summary))
    return Report(summary, out / PAGE)
