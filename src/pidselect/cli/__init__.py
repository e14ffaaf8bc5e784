"""The command line."""

from __future__ import annotations

import sys
from typing import Annotated

try:
    import rich  # noqa: F401  (typer shows help with it)
    import typer
except ModuleNotFoundError as error:
    raise SystemExit(
        f"The command line needs {error.name}: pip install 'pidselect[cli]'"
    ) from error

from pidselect import __version__
from pidselect.cli import decompose, demo, run

HELP = "Feature selection by conditional mutual information, with permutation tests."

app = typer.Typer(
    help=HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"pidselect {__version__}")
        raise typer.Exit


@app.callback()
def general(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Options without a command."""


app.command("select", help=run.SELECT_HELP)(run.select_command)
app.command("explain", help=run.EXPLAIN_HELP)(run.explain_command)
app.command("decompose", help=decompose.HELP)(decompose.decompose_command)
app.command("demo", help=demo.HELP)(demo.demo_command)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal may lack a character
            stream.reconfigure(errors="backslashreplace")
    app()
