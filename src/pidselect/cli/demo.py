"""``pidselect demo``: a first selection, on a simulated table."""

from __future__ import annotations

import csv
from pathlib import Path
from tempfile import TemporaryDirectory

from pidselect.cli.messages import say
from pidselect.cli.options import (
    DemoOptions,
    OutputOptions,
    SelectionOptions,
    TableOptions,
    command,
)
from pidselect.cli.run import Call, run

N_SAMPLES = 500

NAME = "island.csv"

#: \b keeps the lines of the paragraph that follows.
HELP = """Select features of a simulated table: rides on the hire bicycles of an island.

\b
Examples:
  pidselect demo
  pidselect demo --report island.html --table island.csv
"""

INTRODUCTION = """\
Which variables determine the number of rides on an island's hire bicycles?
Simulated: {n_rows} days, {n_columns} columns (continuous, ordinal and nominal).
Relevant by construction: {relevant}.
"""

NEXT = """
Next, your own table:
  pidselect select TABLE.csv --target COLUMN --report report.html
  pidselect select --help"""


@command
def demo_command(out: DemoOptions) -> None:
    """Select features of a simulated table."""
    from pidselect.cli.output import wrapped

    with TemporaryDirectory(prefix="pidselect-demo-") as folder:
        path = out.table or Path(folder, NAME)
        target = _write(path, out.quiet)
        call = Call(
            TableOptions(table=path, target=[target]),
            SelectionOptions(),
            OutputOptions(report=out.report, quiet=out.quiet),
            source=str(out.table or NAME),
        )
        explanation = run(call).explanation
        say(f"\n{wrapped([one.sentence for one in explanation or () if one.selected])}")
        if not out.quiet:
            say(NEXT)


def _write(path: Path, quiet: bool) -> str:
    """Write the simulated table as CSV, and return the name of its target."""
    from pidselect import datasets

    island = datasets.mixed_table(N_SAMPLES, random_state=0)
    columns = island.with_target()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    if not quiet:
        n_rows, n_columns = len(island.y), len(island.columns)
        relevant = ", ".join(island.relevant)
        say(INTRODUCTION.format(n_rows=n_rows, n_columns=n_columns, relevant=relevant))
    return island.target
