"""Run the paper's experiments: ``python -m reproduction``."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from reproduction import EXPERIMENTS
from reproduction.runs import FULL_RUNS, RunCount
from reproduction.summary import PAGE, redraw, reproduce

#: Errors of a call, reported in one line; any other error is a defect and shows its traceback.
CALL_ERRORS = (FileExistsError, FileNotFoundError, NotADirectoryError, PermissionError, ValueError)


def _positive(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return int(text)


def _experiment(name: str) -> str:
    if name not in EXPERIMENTS:
        known = ", ".join(EXPERIMENTS)
        raise argparse.ArgumentTypeError(f"there is no experiment {name!r}; known are {known}")
    return name


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    found = argparse.ArgumentParser(
        prog="python -m reproduction",
        description="Run the paper's experiments and write a page with its numbers beside ours.",
        epilog="Experiments: " + "; ".join(f"{name}, {text}" for name, text in EXPERIMENTS.items()),
    )
    add = found.add_argument
    add("names", nargs="*", type=_experiment, help="experiments; default all")
    add("--quick", action="store_true", help="a few runs of everything: minutes, not hours")
    add(
        "--runs",
        type=_positive,
        default=FULL_RUNS,
        help="runs of what the paper repeats 100 times; others scaled",
    )
    add("--resume", action="store_true", help="continue with the runs that the folder holds")
    add("--redraw", action="store_true", help="only rewrite the page from the stored numbers")
    add("--update", type=Path, metavar="FOLDER", help="redraw, with the newer numbers of a folder")
    add("--out", type=Path, default=Path("build/reproduction"), help="folder (default %(default)s)")
    add("--jobs", type=_positive, default=-1, help="processes; default all cores")
    add("--seed", type=int, default=0, help="seed of the first run")
    add("--device", choices=("cpu", "cuda"), default="cpu", help="device of the largest problems")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    options = parser().parse_args(arguments)
    count = RunCount(options.quick, options.runs, options.seed, options.device)
    command = shlex.join(["python", "-m", "reproduction", *options.names, *_flags(count)])
    try:
        if options.redraw or options.update:
            summary = redraw(options.out, options.update)
        else:
            summary = reproduce(
                options.names,
                options.out,
                count,
                resume=options.resume,
                n_jobs=options.jobs,
                command=command,
            )
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


def _flags(count: RunCount) -> list[str]:
    """Return the options on which the numbers depend."""
    quick = ["--quick"] if count.quick else []
    options = {"--runs": count.runs, "--seed": count.seed, "--device": count.device}
    changed = {name: one for name, one in options.items() if one != parser().get_default(name[2:])}
    return [*quick, *(str(word) for pair in changed.items() for word in pair)]


if __name__ == "__main__":
    sys.exit(main())
