"""Files that a command writes: checked before the work, and never half there."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from pidselect.cli.errors import WrongCallError
from pidselect.cli.options import OutputOptions, TableOptions

#: How the name of a page ends.
PAGES = (".html", ".htm")


def check_places(table: Path, out: OutputOptions) -> None:
    """Refuse places where nothing could be written, before hours are spent."""
    places = {
        "--json": None if out.json in (None, "-") else Path(str(out.json)),
        "--report": out.report,
        "--output": out.output,
        "--checkpoint": out.checkpoint,
    }
    seen: dict[Path, str] = {table.resolve(): "the table itself"}
    for option, path in places.items():
        if path is None:
            continue
        if path.is_dir():
            raise WrongCallError(f"{option} {str(path)!r} is a folder: give the path of a file.")
        if not path.absolute().parent.is_dir():
            raise WrongCallError(
                f"{option} {str(path)!r}: there is no folder {str(path.parent)!r}. Make it first."
            )
        if not path.exists() and not can_write(path.absolute().parent):
            raise WrongCallError(
                f"{option} {str(path)!r}: nothing can be written in {str(path.parent)!r}."
            )
        if path.resolve() in seen and path.name not in ("null", "stdout", "stderr"):
            raise WrongCallError(f"{option} {str(path)!r} is {seen[path.resolve()]}.")
        seen[path.resolve()] = f"the file of {option}, too"
    if out.report is not None:
        is_file = out.report.is_file() or not out.report.exists()  # a device or a pipe is none
        if is_file and out.report.suffix.lower() not in PAGES:
            raise WrongCallError(
                f"--report {str(out.report)!r} is a page: its name must end in .html or .htm."
            )
        import pidselect.report.selection_page  # noqa: F401  (a missing library is told at once)
    if out.output is not None:
        from pidselect.data.writing import check_target

        check_target(out.output, table if table.exists() else None)


def can_write(folder: Path) -> bool:
    """Try it: what a folder says of itself is not all there is to it."""
    try:
        descriptor, name = tempfile.mkstemp(prefix=".pidselect-", suffix=".part", dir=folder)
    except OSError:
        return False
    os.close(descriptor)
    Path(name).unlink()
    return True


def write_json(summary: Mapping[str, Any], place: str) -> str:
    """Write a summary, and say where it is; nothing is said of standard output."""
    text = json.dumps(summary, indent=2, allow_nan=False) + "\n"
    if place == "-":
        typer.echo(text, nl=False)
        return ""
    save(Path(place), text)
    return f"Record: {place}"


def write_page(summary: Mapping[str, Any], path: Path) -> str:
    """Write the page of a summary, and say where it is."""
    from pidselect.report.selection_page import render_selection

    save(path, render_selection(dict(summary)))
    return f"Report: {path}"


def write_table(table: TableOptions, path: Path, names: Sequence[str]) -> str:
    """Write some columns of the table, and say where they are."""
    from pidselect.data.writing import write_columns

    write_columns(table.table, path, names, table.text_format())
    return f"Reduced table of {len(names)} column{'s' * (len(names) != 1)}: {path}"


def save(path: Path, text: str) -> None:
    """Write a text beside its place, then move it there: at no time is there half a file."""
    from pidselect.data.atomic_write import atomic_write

    content = text.encode("utf-8", "backslashreplace")  # JSON names may hold half a letter
    if path.exists() and not path.is_file():  # a device or a pipe
        path.write_bytes(content)
        return
    with atomic_write(path) as file:
        file.write(content)
