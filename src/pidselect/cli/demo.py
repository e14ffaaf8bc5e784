"""``pidselect demo``: a first selection, on a simulated table."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from pidselect.cli.messages import plain_errors, say
from pidselect.cli.options import (
    DemoOptions,
    ExplanationOptions,
    OutputOptions,
    SelectionOptions,
    TableOptions,
    command,
)

if TYPE_CHECKING:
    from pidselect.cli.run import Result

#: Few samples and permutations, to be quick.
N_SAMPLES, N_PERMUTATIONS = 500, 50

NAME = "island.csv"

#: What compiles the kernels of explanations.
COMPILE = "from pidselect import *; decompose_distribution(datasets.gate('AND'))"

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
    from pidselect.cli.run import Call, run

    folders = TemporaryDirectory(prefix="pidselect-demo-")
    with plain_errors(), compiling_explanations(), folders as folder:
        path = out.table or Path(folder, NAME)
        target = _write(path, out.quiet)
        call = Call(
            TableOptions(table=path, target=[target]),
            SelectionOptions(n_permutations=N_PERMUTATIONS),
            OutputOptions(report=out.report, quiet=out.quiet),
            ExplanationOptions(),
            source=str(out.table or NAME),
        )
        run(call, _text)
        if not out.quiet:
            say(NEXT)


@contextmanager
def compiling_explanations() -> Iterator[None]:
    """Compile the kernels of explanations in a second process, unless they are on disk."""
    from pidselect.jit import is_compiled

    if is_compiled("decomposition"):
        yield
        return
    null = subprocess.DEVNULL
    with subprocess.Popen([sys.executable, "-c", COMPILE], stdout=null, stderr=null) as process:
        try:
            yield
        finally:
            process.kill()


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


def _text(result: Result) -> str:
    from pidselect.cli.formatting import relevant_sentences
    from pidselect.cli.run import select_text

    sentences = "" if result.explanation is None else relevant_sentences(result.explanation)
    return f"{select_text(result)}\n\n{sentences}"
