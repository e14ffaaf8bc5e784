"""Files that a command writes: checked before the work, written atomically."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from pidselect.cli.messages import WrongCallError
from pidselect.cli.options import OutputOptions, TextOptions
from pidselect.data.io import atomic_write, check_target, write_columns
from pidselect.data.messages import counted

PAGES = (".html", ".htm")


def check_places(table: Path, out: OutputOptions) -> None:
    """Refuse paths that cannot be written, before hours are spent."""
    places = {
        "--json": None if out.json in (None, "-") else Path(str(out.json)),
        "--report": out.report,
        "--output": out.output,
        "--checkpoint": out.checkpoint,
    }
    seen: dict[Path, str] = {table: "the table"}
    for option, path in places.items():
        if path is None:
            continue
        where, folder = f"{option} {str(path)!r}", path.absolute().parent
        if path.is_dir():
            raise WrongCallError(f"{where} is a folder: use the path of a file.")
        if not folder.is_dir():
            raise WrongCallError(f"{where}: there is no folder {str(path.parent)!r}.")
        if not path.exists() and not can_write(folder):
            raise WrongCallError(f"{where}: the folder {str(path.parent)!r} is not writable.")
        is_file = path.is_file() or not path.exists()  # no device, no pipe
        if is_file and (same := next((other for other in seen if _is_same(path, other)), None)):
            raise WrongCallError(f"{where} is also the path of {seen[same]}.")
        seen[path] = option
    if out.report is not None:
        is_file = out.report.is_file() or not out.report.exists()
        if is_file and out.report.suffix.lower() not in PAGES:
            raise WrongCallError(f"--report {str(out.report)!r} must end in {' or '.join(PAGES)}.")
        import pidselect.report.page  # noqa: F401  (a missing library is an error now)
    if out.output is not None:
        check_target(out.output, table if table.exists() else None)


def _is_same(path: Path, other: Path) -> bool:
    """Return whether two paths lead to one file, by links or in letters of another case."""
    if path.exists() and other.exists():
        return path.samefile(other)
    return path.resolve() == other.resolve()


def can_write(folder: Path) -> bool:
    """Return whether a file can be made, by making one."""
    try:
        descriptor, name = tempfile.mkstemp(prefix=".pidselect-", suffix=".part", dir=folder)
    except OSError:
        return False
    os.close(descriptor)
    Path(name).unlink()
    return True


def write_json(results: Mapping[str, Any], place: str) -> str:
    """Write results to a file, or to standard output if it is "-"; return a line about it."""
    text = json.dumps(results, indent=2, allow_nan=False) + "\n"
    if place == "-":
        typer.echo(text, nl=False)
        return ""
    _save(Path(place), text)
    return f"Results: {place}"


def write_page(summary: Mapping[str, Any], path: Path) -> str:
    """Write the report; return a line about it."""
    from pidselect.report.page import render_report

    _save(path, render_report(dict(summary)))
    return f"Report: {path}"


def write_table(table: TextOptions, path: Path, names: Sequence[str]) -> str:
    """Write some columns of the table; return a line about it."""
    write_columns(table.table, path, names, table.text_format)
    return f"Reduced table ({counted(len(names), 'column')}): {path}"


def _save(path: Path, text: str) -> None:
    content = text.encode("utf-8", "backslashreplace")  # names in JSON may hold lone surrogates
    if path.exists() and not path.is_file():  # a device or a pipe
        path.write_bytes(content)
        return
    with atomic_write(path) as file:
        file.write(content)
