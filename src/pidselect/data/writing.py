"""Some columns of a file -> another file, which is there as a whole or not at all."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any, cast

from .atomic_write import atomic_write
from .choice import Choice
from .copying import Copying
from .disk import ARROW, PARQUET, check_path, header, require_arrow
from .lines import PACKED
from .text import DELIMITED, JSON_LINES, text_suffix
from .text_format import TextFormat


def write_columns(
    source: str | PathLike[str],
    target: str | PathLike[str],
    names: Sequence[str],
    text: TextFormat | None = None,
) -> None:
    r"""Copy some columns of a file to another file, block by block.

    From text to text, fields are copied as they are; the delimiter stays, but for a tab, which
    goes with .tsv. From text to the others, every column becomes what `Table.open` reads; whole
    numbers that float64 does not tell apart stay texts.

    Parameters
    ----------
    source : str or path
        Any file that `Table.open` reads.
    target : str or path
        Its name says what is written: .csv, .tsv, .txt, .jsonl, .ndjson, and each with .gz;
        .parquet, .pq, .arrow, .feather, .ipc. What is there is replaced.
    names : sequence of str
        The columns, in the order in which they are written.
    text : TextFormat, optional
        How the source is written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     people, some = Path(folder, "people.csv"), Path(folder, "some.jsonl")
    ...     _ = people.write_text("age,city,zip\n31.5,Rome,00118\n44,,\n")
    ...     write_columns(people, some, ["city", "age"])
    ...     print(some.read_text(), end="")
    {"city": "Rome", "age": 31.5}
    {"city": null, "age": 44}
    """
    origin, place = check_path(source), check_target(target, source)
    chosen = tuple(dict.fromkeys([names] if isinstance(names, str) else names))
    if text_suffix(origin) not in JSON_LINES:  # which may name a column in their last line
        Choice.of(chosen).among(header(origin, text), source)
    copying = Copying(origin, chosen, text)
    with atomic_write(place) as file:
        _writer(place)(copying, file, place)


def check_target(target: str | PathLike[str], source: str | PathLike[str] | None = None) -> Path:
    """Return the path of a file that can be written, by its name and its folder.

    Examples
    --------
    >>> check_target("reduced.xlsx")
    Traceback (most recent call last):
    ...
    ValueError: 'reduced.xlsx' cannot be written: its name must end in .csv, .tsv, .txt, .jsonl,
    .ndjson, .parquet, .pq, .arrow, .feather, .ipc, those of text also in .gz
    """
    place = Path(target)
    if text_suffix(place) not in (*DELIMITED, *JSON_LINES) and place.suffix.lower() not in (
        *PARQUET,
        *ARROW,
    ):
        known = ", ".join((*DELIMITED, *JSON_LINES, *PARQUET, *ARROW))
        raise ValueError(
            f"{str(target)!r} cannot be written: its name must end in {known}, those of text also "
            f"in {PACKED}"
        )
    if place.is_dir():
        raise ValueError(f"{str(target)!r} is a folder: give the path of a file in it")
    if not place.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(place.parent)!r}; make it first")
    if source is not None and place.exists() and os.path.samefile(source, place):
        raise ValueError(
            f"{str(target)!r} is the table itself, which would be lost: give another name"
        )
    return place


def _writer(place: Path) -> Callable[[Copying, IO[bytes], Path], None]:
    if place.suffix.lower() in (*PARQUET, *ARROW):
        return _write_arrow
    return _write_json if text_suffix(place) in JSON_LINES else _write_delimited


@contextmanager
def _text_file(file: IO[bytes], place: Path, encoding: str) -> Iterator[IO[str]]:
    """Open the text of a file, packed if its name says so."""
    is_packed = place.suffix.lower() == PACKED
    # Neither a name nor a time goes into the file: the same table is the same bytes.
    packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if is_packed else None
    below = cast(IO[bytes], packed) if packed else file
    # Of JSON, a text may hold half a letter, which is written as JSON writes it.
    wrapper = io.TextIOWrapper(below, encoding, errors="backslashreplace", newline="")
    try:
        yield wrapper
    finally:
        wrapper.flush()
        wrapper.detach()
        if packed:
            packed.close()


def _write_delimited(copying: Copying, file: IO[bytes], place: Path) -> None:
    delimiter = copying.delimiter(is_tabbed=text_suffix(place) == ".tsv")
    with _text_file(file, place, copying.encoding) as wrapper:
        writer = csv.writer(wrapper, delimiter=delimiter, lineterminator="\n")
        writer.writerow(copying.fields)
        for columns in copying.texts():
            writer.writerows(zip(*columns, strict=True))


def _write_json(copying: Copying, file: IO[bytes], place: Path) -> None:
    names = copying.names
    with _text_file(file, place, "utf-8") as wrapper:
        for columns in copying.values():
            for row in zip(*columns, strict=True):
                record = dict(zip(names, row, strict=True))
                wrapper.write(json.dumps(record, ensure_ascii=False) + "\n")


def _write_arrow(copying: Copying, file: IO[bytes], place: Path) -> None:
    pyarrow = require_arrow(place)
    batches = copying.batches()
    first: Any = next(batches, None)
    if first is None:
        raise ValueError(f"{str(copying.source)!r} has no rows that could be written")
    is_parquet = place.suffix.lower() in PARQUET
    if not is_parquet and any(map(pyarrow.types.is_dictionary, first.schema.types)):
        # An Arrow file has one list of categories for all batches.
        table = pyarrow.Table.from_batches([first, *batches]).unify_dictionaries()
        batches = iter(table.to_batches())
        first = next(batches)
    make = pyarrow.parquet.ParquetWriter if is_parquet else pyarrow.ipc.new_file
    with make(file, first.schema) as writer:
        writer.write_batch(first)
        for batch in batches:
            writer.write_batch(batch)
