"""``pidselect demo``: a first selection, on a table that is made for it."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from pidselect.cli.errors import plain_errors
from pidselect.cli.formatting import relevant_sentences
from pidselect.cli.options import OutputOptions, SelectionOptions, TableOptions
from pidselect.cli.output import say
from pidselect.cli.run import Call, Found, result_text, run

#: Few days and draws: the demo should not take long.
N_DAYS, N_DRAWS = 500, 50

#: What the made table is called.
NAME = "island.csv"

#: What the help says; \b keeps the lines of the paragraph that follows.
HELP = """Show a selection on a made table: what makes people on an island ride hire bicycles.

\b
Examples:
  pidselect demo
  pidselect demo --report island.html --table island.csv
"""

QUESTION = """\
What makes people on an island ride the hire bicycles?
A made season of {n_rows} days, {n_columns} columns: numbers, counts, labels and yes/no together.
What counts is known here: {relevant}.
"""

GOING_ON = """
Now your own table:
  pidselect select TABLE.csv --target COLUMN --report report.html
  pidselect select --help"""


def demo_command(
    report: Annotated[Path, typer.Option(metavar="FILE.html", help="Where the page goes.")] = Path(
        "pidselect-demo.html"
    ),
    table: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="Also keep the made table, to play with."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only the result.")] = False,
) -> None:
    """Show a selection on a made table."""
    with plain_errors(), TemporaryDirectory(prefix="pidselect-demo-") as folder:
        path = table or Path(folder, NAME)
        target = _write(path, quiet)
        kept = [] if table is None else ["--table", str(table)]
        run(
            Call(
                TableOptions(table=path, target=[target]),
                SelectionOptions(permutations=str(N_DRAWS)),
                OutputOptions(report=report, quiet=quiet),
                typed=shlex.join(["pidselect", "demo", "--report", str(report), *kept]),
                measure="auto",
                is_kept=False,
                called=NAME if table is None else "",  # where it lies is gone when that is read
            ),
            _text,
        )
        if not quiet:
            say(GOING_ON)


def _write(path: Path, quiet: bool) -> str:
    """Write the made table as CSV, say what it is, and return the name of its target."""
    from pidselect import datasets

    island = datasets.mixed_table(N_DAYS, random_state=0)
    columns = island.with_target()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    if not quiet:
        say(
            QUESTION.format(
                n_rows=len(island.y),
                n_columns=len(island.columns),
                relevant=", ".join(island.relevant),
            )
        )
    return island.target


def _text(found: Found) -> str:
    how = "" if found.explanation is None else relevant_sentences(found.explanation)
    return f"{result_text(found)}\n\nAnd how:\n\n{how}"
