"""Files that may be larger than memory -> named raw columns, one at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from .frames import keep, read_columns, unique_names
from .raw import Raw, from_series
from .store import Store

PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather", ".ipc")
NUMPY = (".npy",)

#: What pandas calls the rows' numbers or names where it writes them as columns.
INDEX = re.compile(r"__index_level_\d+__")


def read_file(path: str | PathLike[str], store: Store) -> tuple[Raw, ...]:
    """Read the columns of a file into the store; at no time is there more than one besides.

    Parameters
    ----------
    path : str or path
        What the file holds goes by the end of its name.
    store : Store

    Examples
    --------
    >>> read_file("table.xlsx", Store(0))
    Traceback (most recent call last):
    ...
    ValueError: path='table.xlsx' is none of the files that can be read column by column: its name
    must end in .parquet, .pq, .arrow, .feather, .ipc, .npy. Read others with pandas, and pass the
    frame
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (*PARQUET, *ARROW, *NUMPY):
        known = ", ".join((*PARQUET, *ARROW, *NUMPY))
        raise ValueError(
            f"path={str(path)!r} is none of the files that can be read column by column: its name "
            f"must end in {known}. Read others with pandas, and pass the frame"
        )
    if suffix in NUMPY:
        return read_columns(_open_array(path), store)
    columns = _parquet_columns(path) if suffix in PARQUET else _arrow_columns(path)
    raws = []
    for name, column in columns:
        if not INDEX.fullmatch(name):
            series = nw.from_native(column, series_only=True)
            raws.append(keep(from_series(name, series), store))
    if not raws or not len(raws[0].values):
        raise ValueError(f"path={str(path)!r} holds no rows, or no columns")
    return tuple(raws)


def _open_array(path: str | PathLike[str]) -> Any:
    try:
        return np.load(path, mmap_mode="r")
    except ValueError as error:
        raise ValueError(
            f"path={str(path)!r} is no plain array that can be mapped: {error}"
        ) from error


def _parquet_columns(path: str | PathLike[str]) -> Iterator[tuple[str, Any]]:
    parquet = _arrow(path, "parquet")
    with parquet.ParquetFile(path, memory_map=True) as file:
        for name in unique_names(file.schema_arrow.names):
            yield name, file.read(columns=[name]).column(0)


def _arrow_columns(path: str | PathLike[str]) -> Iterator[tuple[str, Any]]:
    ipc, pyarrow = _arrow(path, "ipc"), _arrow(path)
    with pyarrow.memory_map(str(path)) as source:
        try:
            whole = ipc.open_file(source)
        except pyarrow.ArrowInvalid as error:
            raise ValueError(
                f"path={str(path)!r} cannot be read: {error}. A stream is no Arrow file; write it "
                "as one, with pyarrow.feather.write_feather for example."
            ) from error
        # What is not looked at takes no memory, unless it has to be unpacked.
        table = whole.read_all() if _is_mapped(whole, pyarrow) else None
        for place, name in enumerate(unique_names(whole.schema.names)):
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


def _arrow(path: str | PathLike[str], module: str | None = None) -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"reading {str(path)!r} takes pyarrow: pip install 'pidselect[arrow]'"
        ) from error
    return getattr(pyarrow, module) if module else pyarrow
