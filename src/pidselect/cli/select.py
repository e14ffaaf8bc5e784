"""``pidselect select``: which columns of a table tell about another one."""

from __future__ import annotations

import typer

from pidselect.cli.commands import command
from pidselect.cli.options import OutputOptions, SelectionOptions, TableOptions
from pidselect.cli.run import Call, result_text, run

#: What the help says; \b keeps the lines of the paragraph that follows.
HELP = """Select the columns of a table that tell something about its target.

Features come in one by one, each time the one that adds most, while it adds more than chance.
Ctrl-C loses nothing: it says how to go on.

\b
Examples:
  pidselect select bikes.csv --target rides
  pidselect select bikes.csv --target rides --drop id,notes --report page.html
  pidselect select bikes.csv --target rides --kinds gate=nominal --missing drop
  pidselect select bikes.parquet --target rides --output small.parquet
  pidselect select bikes.csv --target rides --json - --quiet | jq .selected
"""


@command
def select_command(
    context: typer.Context, table: TableOptions, how: SelectionOptions, out: OutputOptions
) -> None:
    """Select the columns of a table that tell something about its target."""
    run(Call.of(context, table, how, out), result_text)
