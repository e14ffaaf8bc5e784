"""``pidselect select`` and ``pidselect explain``."""

from __future__ import annotations

from pidselect.cli.options import (
    ExplanationOptions,
    OutputOptions,
    SelectionOptions,
    TableOptions,
    command,
)

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
def select_command(table: TableOptions, how: SelectionOptions, out: OutputOptions) -> None:
    """Select the features of a table that are informative about its target."""
    from pidselect.cli.run import Call, run, select_text

    run(Call(table, how, out), select_text)


@command
def explain_command(
    table: TableOptions, how: SelectionOptions, explain: ExplanationOptions, out: OutputOptions
) -> None:
    """Select features, and decompose the information of each one about the target."""
    from pidselect.cli.run import Call, explain_text, run

    run(Call(table, how, out, explain), explain_text)
