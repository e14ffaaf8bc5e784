"""``pidselect select`` and ``pidselect explain``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from pidselect.cli.messages import plain_errors
from pidselect.cli.options import (
    Bins,
    OutputOptions,
    SelectionOptions,
    TableOptions,
    command,
    decomposing,
    one_of,
)
from pidselect.names import MEASURE_NAMES

#: \b keeps the lines of the paragraph that follows.
SELECT_HELP = """Select the features of a table that are informative about its target.

Each step includes the candidate with the largest conditional mutual
information, if it is significant. Ctrl-C prints how to resume the run.

\b
Examples:
  pidselect select bikes.csv --target rides
  pidselect select bikes.csv --target rides --drop id,notes --report page.html
  pidselect select bikes.csv --target rides --feature-types gate=nominal --missing drop
  pidselect select bikes.parquet --target rides --output small.parquet
  pidselect select bikes.csv --target rides --json - --quiet | jq .selected
"""

EXPLAIN_HELP = """Select features, and decompose the information of each one about the target.

For each feature: its relevance by tests, and its unique, shared and
synergistic information.

\b
Examples:
  pidselect explain bikes.csv --target rides
  pidselect explain bikes.csv --target rides --report bikes.html
  pidselect explain bikes.csv --target rides --measure mmi --bins 4
"""


@command
def select_command(
    context: typer.Context, table: TableOptions, how: SelectionOptions, out: OutputOptions
) -> None:
    """Select the features of a table that are informative about its target."""
    from pidselect.cli.run import Call, run, select_text

    run(Call.of(context, table, how, out), select_text)


@command
def explain_command(
    context: typer.Context,
    table: TableOptions,
    how: SelectionOptions,
    out: OutputOptions,
    measure: Annotated[
        str,
        decomposing(
            "The measure of shared information; auto chooses by sample size.",
            **one_of("auto", *MEASURE_NAMES),
        ),
    ] = "auto",
    bins: Bins = 5,
) -> None:
    """Select features, and decompose the information of each one about the target."""
    from pidselect.cli.run import Call, explain_text, run

    with plain_errors():
        from pidselect.significance.validation import check_count

        check_count(bins, "bins", at_least=2)
    run(replace(Call.of(context, table, how, out), measure=measure, bins=bins), explain_text)
