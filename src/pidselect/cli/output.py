"""What commands print of a selection, and files: checked before the work, written atomically."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from pidselect.cli.messages import WrongCallError
from pidselect.cli.options import OutputOptions, TableOptions
from pidselect.data.files import atomic_write, check_target, write_columns
from pidselect.data.messages import counted, shown, wrap

if TYPE_CHECKING:
    from pidselect.selection.result import Selection

PAGES = (".html", ".htm")

#: Columns left out that are listed.
MAX_LISTED = 20

#: Width of text, unless the terminal is narrower.
MAX_WIDTH = 100


def selection_text(selection: Selection, n_rows: int) -> str:
    """Return the table of a selection, and a sentence for each column that was left out.

    `n_rows` are of the file, before rows were dropped.
    """
    sentences = []
    if selection.is_complete and not selection.selected:
        sentences.append(f"{selection.empty_verdict()} {selection.empty_reason()}")
    left_out = [
        f"{shown(copy)} is a duplicate of {shown(original)} and was left out."
        for copy, original in selection.duplicates.items()
        if copy not in selection.also_relevant
    ]
    left_out += [f"{shown(name)} was skipped: {why}." for name, why in selection.skipped.items()]
    sentences += left_out[:MAX_LISTED]
    if (more := len(left_out) - MAX_LISTED) > 0:
        sentences.append(f"... and {counted(more, 'more column')} left out.")
    n_samples = selection.settings.n_samples or n_rows
    if n_samples < n_rows:
        sentences.append(f"{n_samples} of {n_rows} rows were used.")
    return "\n\n".join(filter(None, [str(selection), wrapped(sentences)]))


def wrapped(sentences: Sequence[str]) -> str:
    """Return sentences, each on lines of its own at most as wide as the terminal."""
    return wrap(sentences, min(MAX_WIDTH, shutil.get_terminal_size((MAX_WIDTH, 24)).columns))


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
        if not path.exists() and not os.access(folder, os.W_OK):
            raise WrongCallError(f"{where}: the folder {str(path.parent)!r} is not writable.")
        is_file = path.is_file() or not path.exists()  # no device, no pipe
        if is_file and (same := next((other for other in seen if _is_same(path, other)), None)):
            raise WrongCallError(f"{where} is also the path of {seen[same]}.")
        if is_file and option == "--report" and path.suffix.lower() not in PAGES:
            raise WrongCallError(f"{where} must end in {' or '.join(PAGES)}.")
        seen[path] = option
    if out.report is not None:
        import pidselect.report.page  # noqa: F401  (a missing library is an error now)
    if out.output is not None:
        check_target(out.output, table if table.exists() else None)


def _is_same(path: Path, other: Path) -> bool:
    """Return whether two paths lead to one file, by links or in letters of another case."""
    if path.exists() and other.exists():
        return path.samefile(other)
    return path.resolve() == other.resolve()


def write_json(results: Mapping[str, Any], place: str) -> str:
    """Write results to a file, or to standard output if it is "-"; return a line about it."""
    text = json.dumps(results, indent=2, allow_nan=False) + "\n"
    if place == "-":
        typer.echo(text, nl=False)
        return ""
    with atomic_write(Path(place)) as file:
        file.write(text.encode())
    return f"Results: {place}"


def write_page(summary: Mapping[str, Any], path: Path) -> str:
    """Write the report; return a line about it."""
    from pidselect.report.page import render_report, save

    save(render_report(summary), path)
    return f"Report: {path}"


def write_table(table: TableOptions, path: Path, names: Sequence[str]) -> str:
    """Write some columns of the table; return a line about it."""
    write_columns(table.table, path, names, **table.text)
    return f"Reduced table ({counted(len(names), 'column')}): {path}"
