"""``pidselect explain``: how the columns of a table tell about another one."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from pidselect.cli.choices import MEASURES, WHOLE, one_of
from pidselect.cli.commands import command
from pidselect.cli.errors import plain_errors
from pidselect.cli.formatting import explanation_text
from pidselect.cli.options import OutputOptions, SelectionOptions, TableOptions
from pidselect.cli.run import Call, Found, run

#: What the help says; \b keeps the lines of the paragraph that follows.
HELP = """Select features, and say how each one tells about the target.

Each gets a role, a sentence, and three amounts: what it tells alone (unique), what others tell
as well (shared), and what it tells only together with others (synergy).

\b
Examples:
  pidselect explain bikes.csv --target rides
  pidselect explain bikes.csv --target rides --report bikes.html
  pidselect explain bikes.csv --target rides --measure mmi --bins 4
"""

HOW = "How features are taken apart"


@command
def explain_command(
    context: typer.Context,
    table: TableOptions,
    how: SelectionOptions,
    out: OutputOptions,
    measure: Annotated[
        str,
        typer.Option(
            rich_help_panel=HOW, **one_of("auto", *MEASURES), help="auto knows what fits."
        ),
    ] = "auto",
    bins: Annotated[
        int, typer.Option(rich_help_panel=HOW, **WHOLE, help="Bins of a continuous column.")
    ] = 5,
) -> None:
    """Select features, and say how each one tells about the target."""
    with plain_errors():
        from pidselect.significance.validation import check_count

        check_count(bins, "bins", at_least=2)
    run(replace(Call.of(context, table, how, out), measure=measure, bins=bins), _text)


def _text(found: Found) -> str:
    text = "" if found.explanation is None else explanation_text(found.explanation)
    return text if found.stability is None else f"{text}\n\n{found.stability}"
