"""The command line."""

from __future__ import annotations

import csv
import sys
from typing import Annotated

try:
    import rich  # noqa: F401  (typer shows help with it)
    import typer
except ModuleNotFoundError as error:
    raise SystemExit(
        f"The command line needs {error.name}: pip install 'pidselect[cli]' brings all it needs."
    ) from error

from pidselect import __version__
from pidselect.cli import decompose, demo, explain, info, select

#: Fields of a CSV may be longer than Python lets them be: whole articles, but no whole file.
LONGEST_FIELD = 2**24

app = typer.Typer(
    help="Which of my variables matter, and how.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pidselect {__version__}")
        raise typer.Exit


@app.callback()
def general(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """Which of my variables matter, and how."""


app.command("select", help=select.HELP)(select.select_command)
app.command("explain", help=explain.HELP)(explain.explain_command)
app.command("decompose", help=decompose.HELP)(decompose.decompose_command)
app.command("demo", help=demo.HELP)(demo.demo_command)
app.command("info", help=info.HELP)(info.info_command)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # no letter that a terminal lacks is worth a crash
            stream.reconfigure(errors="backslashreplace")
    csv.field_size_limit(LONGEST_FIELD)
    app()
