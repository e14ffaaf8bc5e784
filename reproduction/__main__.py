"""Run the paper's experiments: ``python -m reproduction``."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from reproduction.registry import EXPERIMENTS, find
from reproduction.reproduction import Report, redraw, reproduce
from reproduction.runner import Plan, planned

#: Errors of a call, reported in one line; any other error is a defect and shows its traceback.
CALL_ERRORS = (FileExistsError, FileNotFoundError, NotADirectoryError, PermissionError, ValueError)


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
    add("--runs", type=int, help="runs of what the paper repeats 100 times; others in proportion")
    add("--list", action="store_true", help="only list experiments and their parts")
    add("--resume", action="store_true", help="continue with the runs that the folder holds")
    add("--redraw", action="store_true", help="only rewrite the page from the stored numbers")
    add("--out", type=Path, default=Path("build/reproduction"), help="folder (default %(default)s)")
    add("--jobs", type=int, help="processes; default all cores")
    add("--seed", type=int, default=0, help="seed of the first run")
    add("--device", choices=("cpu", "cuda"), default="cpu", help="device of the largest problems")
    add("--quiet", action="store_true", help="no progress bar")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    options = parser().parse_args(arguments)
    for name in ("runs", "jobs"):
        if (value := getattr(options, name)) is not None and value < 1:
            parser().error(f"--{name} must be at least 1, got {value}")
    plan = Plan(options.quick, options.runs, options.seed, options.device)
    command = shlex.join(["python", "-m", "reproduction", *options.names, *_flags(plan)])
    try:
        if options.list:
            _list(options.names, plan)
        else:
            _show(redraw(options.out) if options.redraw else _reproduce(options, plan, command))
    except CALL_ERRORS as error:
        if isinstance(error, ValueError) and hasattr(error, "__notes__"):
            raise  # of a run
        print(f"Error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        again = f"{command} --out {shlex.quote(str(options.out))} --resume"
        print(f"Stopped. The finished runs are stored; continue with\n{again}", file=sys.stderr)
        return 130
    return 0


def _reproduce(options: argparse.Namespace, plan: Plan, command: str) -> Report:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), disable=options.quiet) as bar:
        task = bar.add_task("runs", total=None)
        return reproduce(
            options.names,
            options.out,
            plan,
            resume=options.resume,
            n_jobs=options.jobs,
            command=command,
            watch=lambda state: bar.update(task, completed=state.done, total=state.total),
        )


def _flags(plan: Plan) -> list[str]:
    """Return the options on which the numbers depend."""
    quick = ["--quick"] if plan.quick else []
    runs = [] if plan.runs is None else ["--runs", str(plan.runs)]
    seed = ["--seed", str(plan.seed)] if plan.seed else []
    return [*quick, *runs, *seed, *(["--device", plan.device] if plan.device != "cpu" else [])]


def _list(names: list[str], plan: Plan) -> None:
    experiments, _ = find(names)
    for experiment in experiments:
        print(f"{experiment.name}: {EXPERIMENTS[experiment.name]}")
        for part in experiment.parts:
            tasks = planned([experiment], plan, [name := f"{experiment.name}/{part.name}"])
            seconds = sum(task.seconds for task in tasks)
            print(f"  {name}: {len(tasks)} runs, about {seconds:.0f} s on one core")


def _show(report: Report) -> None:
    for what, name in (("numbers compared", "cells"), ("statements checked", "claims")):
        counts = report.summary["totals"][name]
        shown = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
        print(f"{what}: {shown or 'none'}")
    print(f"page: {report.page}")


if __name__ == "__main__":
    sys.exit(main())
