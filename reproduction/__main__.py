"""Run the paper's experiments: ``python -m reproduction``."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from reproduction import EXPERIMENTS, find_experiments
from reproduction.runs import RunCount, pending_runs
from reproduction.summary import PAGE, redraw, reproduce

#: Errors of a call, reported in one line; any other error is a defect and shows its traceback.
CALL_ERRORS = (FileExistsError, FileNotFoundError, NotADirectoryError, PermissionError, ValueError)


def _positive(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return int(text)


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    found = argparse.ArgumentParser(
        prog="python -m reproduction",
        description="Run the paper's experiments and write a page with its numbers beside ours.",
        epilog="Experiments: " + "; ".join(f"{name}, {text}" for name, text in EXPERIMENTS.items()),
    )
    add = found.add_argument
    add("names", nargs="*", help="experiments, or parts such as friedman/selection; default all")
    add("--quick", action="store_true", help="a few runs of everything: minutes, not hours")
    add("--runs", type=_positive, help="runs of what the paper repeats 100 times; others scaled")
    add("--list", action="store_true", help="only list experiments and their parts")
    add("--resume", action="store_true", help="continue with the runs that the folder holds")
    add("--redraw", action="store_true", help="only rewrite the page from the stored numbers")
    add("--update", type=Path, metavar="FOLDER", help="redraw, with newer numbers of this folder")
    add("--out", type=Path, default=Path("build/reproduction"), help="folder (default %(default)s)")
    add("--jobs", type=_positive, help="processes; default all cores")
    add("--seed", type=int, default=0, help="seed of the first run")
    add("--device", choices=("cpu", "cuda"), default="cpu", help="device of the largest problems")
    add("--quiet", action="store_true", help="no progress bar")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    options = parser().parse_args(arguments)
    count = RunCount(options.quick, options.runs, options.seed, options.device)
    command = shlex.join(["python", "-m", "reproduction", *options.names, *_flags(count)])
    try:
        if options.list:
            _list(options.names, count)
            return 0
        if options.redraw or options.update:
            summary = redraw(options.out, options.update)
        else:
            summary = _reproduce(options, count, command)
    except CALL_ERRORS as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        again = f"{command} --out {shlex.quote(str(options.out))} --resume"
        print(f"Stopped. The finished runs are stored; continue with\n{again}", file=sys.stderr)
        return 130
    for what, name in (("numbers compared", "cells"), ("statements checked", "claims")):
        counts = summary["totals"][name]
        print(
            f"{what}: " + ", ".join(f"{number} {one}" for one, number in counts.items() if number)
        )
    print(f"page: {options.out / PAGE}")
    return 0


def _reproduce(options: argparse.Namespace, count: RunCount, command: str) -> dict[str, Any]:
    columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=options.quiet) as bar:
        task = bar.add_task("runs", total=None)
        return reproduce(
            options.names,
            options.out,
            count,
            resume=options.resume,
            n_jobs=options.jobs,
            command=command,
            on_run=lambda done, total: bar.update(task, completed=done, total=total),
        )


def _flags(count: RunCount) -> list[str]:
    """Return the options on which the numbers depend."""
    quick = ["--quick"] if count.quick else []
    runs = [] if count.runs is None else ["--runs", str(count.runs)]
    seed = ["--seed", str(count.seed)] if count.seed else []
    return [*quick, *runs, *seed, *(["--device", count.device] if count.device != "cpu" else [])]


def _list(names: list[str], count: RunCount) -> None:
    experiments, _ = find_experiments(names)
    for experiment in experiments:
        print(f"{experiment.name}: {EXPERIMENTS[experiment.name]}")
        for part in experiment.parts:
            name = f"{experiment.name}/{part.name}"
            runs = len(pending_runs([experiment], count, [name]))
            print(f"  {name}: {runs} runs, about {runs * part.seconds:.0f} s on one core")


if __name__ == "__main__":
    sys.exit(main())
