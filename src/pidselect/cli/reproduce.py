"""``pidselect reproduce``: the paper's experiments."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pidselect.cli.errors import plain_errors
from pidselect.cli.progress import BETWEEN_LINES
from pidselect.cli.saying import say
from pidselect.data.words import check_choice, duration
from pidselect.experiments.registry import EXPERIMENTS, find

if TYPE_CHECKING:  # loaded by what needs it: help and errors come at once
    from pidselect.experiments.reproduction import Report
    from pidselect.experiments.runner import Plan, State

#: What the help says; \b keeps the lines of the paragraph that follows.
HELP = """Run the paper's experiments, and write a page with its numbers beside ours.

\b
Examples:
  pidselect reproduce --quick
  pidselect reproduce friedman runge --runs 100 --out tables
  pidselect reproduce --resume
"""

EPILOG = "Experiments: " + "; ".join(f"{name}, {what}" for name, what in EXPERIMENTS.items())


def reproduce_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Experiments, or parts of them such as friedman/selection; all, if none is named."
        ),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="The same as an option; may be given repeatedly.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A few runs of everything: minutes instead of hours.")
    ] = False,
    runs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Runs of what the paper repeats 100 times; of the rest in proportion.",
        ),
    ] = None,
    list_only: Annotated[
        bool, typer.Option("--list", help="Only list experiments and their parts.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the runs that the folder holds.")
    ] = False,
    redraw_only: Annotated[
        bool, typer.Option("--redraw", help="Only draw the page anew, from the numbers there.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder of the page, numbers and runs.")] = Path(
        "reproduction"
    ),
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; all cores unless given.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the first run.")] = 0,
    device: Annotated[str, typer.Option(help="cpu or cuda, for the largest problems.")] = "cpu",
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Run the paper's experiments, and write a page with its numbers beside ours."""
    from pidselect.experiments.runner import Plan

    wanted = [*(names or []), *(only or [])]
    plan = Plan(quick=quick, runs=runs, seed=seed, device=device)
    command = shlex.join(["pidselect", "reproduce", *wanted, *_options(plan)])
    going_on = f"{command} {shlex.join(['--out', str(out), '--resume'])}"
    with plain_errors(f"Stopped. The runs so far are kept; go on with\n{going_on}"):
        check_choice(device, ("cpu", "cuda"), "device")
        if list_only:
            _list(wanted, plan)
            return
        from pidselect.experiments.reproduction import redraw, reproduce

        if redraw_only:
            report = redraw(out)
        else:
            with _progress(quiet) as watch:
                report = reproduce(
                    wanted, out, plan, resume=resume, n_jobs=jobs, command=command, watch=watch
                )
    _tell(report)


def _list(wanted: list[str], plan: Plan) -> None:
    """Say what experiments are about, and how many runs each part has in this plan."""
    from pidselect.experiments.runner import planned

    experiments, _ = find(wanted)
    for experiment in experiments:
        say(f"{experiment.name}: {EXPERIMENTS[experiment.name]}")
        for part in experiment.parts:
            tasks = planned([experiment], plan, [name := f"{experiment.name}/{part.name}"])
            taken = duration(sum(task.seconds for task in tasks))
            runs = "1 run" if len(tasks) == 1 else f"{len(tasks)} runs"
            say(f"  {name}: {runs}, about {taken} on one core")


def _options(plan: Plan) -> list[str]:
    """Return the options on which numbers depend, as they are typed."""
    quick = ["--quick"] if plan.quick else []
    runs = [] if plan.runs is None else ["--runs", str(plan.runs)]
    seed = ["--seed", str(plan.seed)] if plan.seed else []
    device = ["--device", plan.device] if plan.device != "cpu" else []
    return [*quick, *runs, *seed, *device]


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[State], None]]:
    """Yield what is told after each run: it moves a bar, or writes a line now and then."""
    if quiet:
        yield lambda state: None
        return
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None, left="")

        def advance(state: State) -> None:
            is_last = state.done == state.total
            name = f"{state.task.experiment}/{state.task.part.name}"
            bar.update(
                task,
                description="drawing the page" if is_last else name,
                total=state.total,
                completed=state.done,
                left=f"{duration(state.seconds_left)} left",
            )

        yield advance


class _Lines:
    """Progress where nobody watches a bar: a line every few seconds."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, state: State) -> None:
        now = time.monotonic()
        if state.done == state.total:
            say(f"{state.total} of {state.total} runs, drawing the page", err=True)
        elif now - self._last >= BETWEEN_LINES:
            self._last = now
            left = duration(state.seconds_left)
            say(f"{state.done} of {state.total} runs, about {left} left", err=True)


def _tell(report: Report) -> None:
    """Say in a few lines what came out, and where it is."""
    for what, name in (("numbers compared", "cells"), ("statements checked", "claims")):
        counts = report.summary["totals"][name]
        told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
        say(f"{what}: {told or 'none'}")
    for experiment in report.summary["experiments"]:
        for claim in experiment["claims"]:
            if claim["verdict"] == "differs":
                say(f"  differs: {experiment['name']}: {claim['name']}")
    say(f"page: {report.page}")
