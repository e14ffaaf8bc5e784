"""Files that may be larger than memory -> named raw columns, one at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from .choice import Choice
from .column_store import ColumnStore
from .frames import column_names, keep, read_columns, unique_names
from .json_lines import JsonLinesFile
from .lines import PACKED
from .messages import quoted
from .raw import RawColumn, from_series
from .text import DELIMITED, JSON_LINES, is_text, open_text, read_text
from .text_format import TextFormat

PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
NUMPY = (".npy",)
SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")

#: What pandas calls the rows' numbers or names where it writes them as columns.
INDEX = re.compile(r"__index_level_\d+__")


def read_file(
    path: str | PathLike[str],
    store: ColumnStore,
    choice: Choice | None = None,
    text: TextFormat | None = None,
) -> tuple[RawColumn, ...]:
    """Read the columns of a file into the store; at no time is there more than one besides.

    Parameters
    ----------
    path : str or path
        What the file holds goes by the end of its name.
    store : Store
    choice : Choice, optional
        Which columns to read; all unless given.
    text : TextFormat, optional
        How a text file is written, where it is not found out rightly.

    Examples
    --------
    >>> read_file("table.xlsx", Store(0))
    Traceback (most recent call last):
    ...
    ValueError: 'table.xlsx' is a spreadsheet; save it as CSV, or read it with pandas.read_excel and
    pass the frame
    """
    place, choice = check_path(path), choice or Choice()
    if is_text(place):
        return read_text(place, store, choice, text)
    if place.suffix.lower() in NUMPY:
        array = open_array(path)
        wanted = set(choice.among(column_names(array), path))
        everything = read_columns(array, store)
        return tuple(raw for raw in everything if raw.name in wanted)
    columns = _parquet_columns if place.suffix.lower() in PARQUET else _arrow_columns
    raws = []
    for name, column in columns(path, choice):
        series = nw.from_native(column, series_only=True)
        try:
            raws.append(keep(from_series(name, series), store))
        except TypeError as error:  # lists, objects or bytes
            raise ValueError(
                f"{str(path)!r}: {error}, by without=[{name!r}] (--drop {name!r})"
            ) from error
    if not raws or not len(raws[0].values):
        raise ValueError(f"{str(path)!r} holds no rows, or no columns")
    return tuple(raws)


def header(path: str | PathLike[str], text: TextFormat | None = None) -> tuple[str, ...]:
    r"""Return the names of a file's columns, without reading what is in them.

    Parameters
    ----------
    path : str or path
        Any file that `Table.open` reads. Of JSON lines, only the first megabyte is looked at.
    text : TextFormat, optional

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("age,city\n31.5,Rome\n")
    ...     header(path)
    ('age', 'city')
    """
    place = check_path(path)
    if is_text(place):
        file = open_text(place, text)
        return file.first_names() if isinstance(file, JsonLinesFile) else file.names
    if place.suffix.lower() in NUMPY:
        return column_names(open_array(path))
    if place.suffix.lower() in PARQUET:
        with open_parquet(path) as file:
            return _without_index(file.schema_arrow.names)
    with require_arrow(path).memory_map(str(path)) as source:
        return _without_index(open_arrow(path, source).schema.names)


def check_path(path: str | PathLike[str]) -> Path:
    """Return the path of a file that is there and can be read, by its name.

    Examples
    --------
    >>> check_path("no such folder/table.csv")
    Traceback (most recent call last):
    ...
    FileNotFoundError: there is no file 'no such folder/table.csv', and no folder 'no such folder'
    """
    place = Path(path)
    if place.is_dir():
        raise ValueError(f"{str(path)!r} is a folder: give the path of a file in it")
    if place.suffix.lower() in SPREADSHEETS:
        raise ValueError(
            f"{str(path)!r} is a spreadsheet; save it as CSV, or read it with pandas.read_excel "
            "and pass the frame"
        )
    if not is_text(place) and place.suffix.lower() not in (*PARQUET, *ARROW, *NUMPY):
        known = ", ".join((*DELIMITED, *JSON_LINES, *PARQUET, *ARROW, *NUMPY))
        raise ValueError(
            f"{str(path)!r} is none of the files that can be read: its name must end in {known}, "
            f"those of text also in {PACKED}. Read others with pandas, and pass the frame"
        )
    if not place.exists():
        raise FileNotFoundError(_not_there(place))
    return place


def _not_there(path: Path) -> str:
    """Return what to say of a file that is not there: the nearest names of its folder."""
    folder = path.parent
    if not folder.is_dir():
        return f"there is no file {str(path)!r}, and no folder {str(folder)!r}"
    names = sorted(other.name for other in folder.iterdir() if other.is_file())
    near = get_close_matches(path.name, names, n=3)
    stems = [name for name in names if name.partition(".")[0] == path.name.partition(".")[0]]
    found = quoted(str(folder / name) for name in dict.fromkeys((*near, *stems)))
    return f"there is no file {str(path)!r}" + (f"; did you mean {found}?" if found else "")


def _without_index(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in unique_names(names) if not INDEX.fullmatch(name))


def open_array(path: str | PathLike[str]) -> Any:
    """Return an array saved by NumPy, mapped into memory."""
    try:
        array = np.load(path, mmap_mode="r")
    except (ValueError, EOFError) as error:
        raise ValueError(f"{str(path)!r} is no plain array that can be mapped: {error}") from error
    if array.dtype.names is not None or array.ndim != 2:
        what = "records" if array.dtype.names is not None else f"{array.ndim} dimensions"
        raise ValueError(
            f"{str(path)!r} is an array of {what}; a table has two dimensions, rows and columns"
        )
    return array


def open_parquet(path: str | PathLike[str]) -> Any:
    """Return a Parquet file to read columns from."""
    parquet, pyarrow = require_arrow(path, "parquet"), require_arrow(path)
    try:
        return parquet.ParquetFile(path, memory_map=True)
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{str(path)!r} is no Parquet file, or a damaged one: {error}") from error


def _parquet_columns(path: str | PathLike[str], choice: Choice) -> Iterator[tuple[str, Any]]:
    with open_parquet(path) as file:
        for name in choice.among(_without_index(file.schema_arrow.names), path):
            yield name, file.read(columns=[name]).column(name)


def open_arrow(path: str | PathLike[str], source: Any) -> Any:
    """Return an Arrow file to read batches from; `source` is its map in memory."""
    ipc, pyarrow = require_arrow(path, "ipc"), require_arrow(path)
    try:
        return ipc.open_file(source)
    except pyarrow.ArrowInvalid as error:
        raise ValueError(
            f"{str(path)!r} cannot be read: {error}. A stream is no Arrow file; write it "
            "as one, with pyarrow.feather.write_feather for example."
        ) from error


def _arrow_columns(path: str | PathLike[str], choice: Choice) -> Iterator[tuple[str, Any]]:
    ipc, pyarrow = require_arrow(path, "ipc"), require_arrow(path)
    with pyarrow.memory_map(str(path)) as source:
        whole = open_arrow(path, source)
        wanted = set(choice.among(_without_index(whole.schema.names), path))
        # What is not looked at takes no memory, unless it has to be unpacked.
        table = whole.read_all() if _is_mapped(whole, pyarrow) else None
        for place, name in enumerate(whole.schema.names):
            if name not in wanted:
                continue
            if table is not None:
                yield name, table.column(place)
                continue
            # A compressed file would otherwise be unpacked as a whole.
            only = ipc.IpcReadOptions(included_fields=[place])
            yield name, ipc.open_file(source, options=only).read_all().column(0)


def _is_mapped(file: Any, pyarrow: Any) -> bool:
    """Return whether values lie in the file as they are, so that reading takes no memory.

    To tell, the first batch is read, which takes memory if it has to be unpacked. With its columns
    chosen, batches that need no unpacking would be copied.
    """
    if not file.num_record_batches:
        return True
    before = pyarrow.total_allocated_bytes()
    batch = file.get_batch(0)
    return bool(pyarrow.total_allocated_bytes() - before < batch.nbytes / 2)


def require_arrow(path: str | PathLike[str], module: str | None = None) -> Any:
    """Return pyarrow or one of its modules, or say for which file it has to be installed."""
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{str(path)!r} takes pyarrow: pip install 'pidselect[arrow]'"
        ) from error
    return getattr(pyarrow, module) if module else pyarrow
