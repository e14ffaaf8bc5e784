"""Files of tables: any format read into columns, some columns written in any format."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from decimal import Decimal
from difflib import get_close_matches
from functools import lru_cache
from itertools import chain
from math import isnan
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import narwhals.stable.v2 as nw
import numpy as np

from .column_store import ColumnStore
from .formats import (
    PACKED,
    SIGNATURES,
    SUFFIXES,
    TEXTS,
    FileError,
    TextFormat,
    choose,
    format_of,
    is_packed,
    no_rows,
    suffix_of,
)
from .input import column_names, keep, read_columns, unique_names
from .messages import quoted
from .raw_column import RawColumn, from_series

if TYPE_CHECKING:  # which needs pyarrow
    from .text_io import ColumnBuilder, DelimitedFile, JsonLinesFile

AnyPath = str | PathLike[str]
Arrays = Mapping[str, Any]

SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")

#: The path that denotes standard input.
STDIN = "-"

#: The name of the row index where pandas writes it as a column.
INDEX = re.compile(r"__index_level_\d+__")

#: Values that are copied at a time, and bytes of a file whose columns are read together.
BATCH_VALUES = 2**20
GROUP_BYTES = 2**26

#: Rows that a byte of a file can hold. A file that declares more is damaged, and reading it would
#: take any amount of memory; even constant columns of a large file stay below.
ROWS_PER_BYTE, MOST_FREE_ROWS = 2**12, 2**24


def read_file(
    path: AnyPath,
    store: ColumnStore,
    columns: str | Iterable[str] | None = None,
    without: str | Iterable[str] = (),
    text: TextFormat | None = None,
) -> tuple[RawColumn, ...]:
    """Read the columns of a file into the store; for the parameters see `Table.open`."""
    place = check_path(path)
    require_arrow(path)
    chosen = None if columns is None else _as_names(columns)
    if format_of(place) in TEXTS:
        from .text_io import read_text

        return read_text(place, store, chosen, _as_names(without), text)
    with _reading(place):
        names = choose(place, header(place), chosen, _as_names(without))
        if format_of(place) == "numpy":
            raws = [raw for raw in read_columns(_open_array(place), store) if raw.name in names]
        else:
            raws = _read_arrow(place, store, names)
    if not raws or not len(raws[0].values):
        raise no_rows(path)
    return tuple(raws)


def header(path: AnyPath, text: TextFormat | None = None) -> tuple[str, ...]:
    """Return the names of a file's columns, of JSON lines those in the first megabyte."""
    place = check_path(path)
    require_arrow(path)
    if format_of(place) in TEXTS:
        from .text_io import open_text

        return open_text(place, text).names
    with _reading(path):
        if format_of(place) == "numpy":
            return column_names(_open_array(place))
        return _ArrowFile(place).names


def _as_names(names: str | Iterable[str]) -> tuple[str, ...]:
    return (str(names),) if isinstance(names, str) else tuple(dict.fromkeys(map(str, names)))


# ------------------------------------------------------------------------------------------- paths


def check_path(path: AnyPath) -> Path:
    """Return the path of a file that exists and has a format that can be read.

    Examples
    --------
    >>> check_path("no such folder/table.csv")
    Traceback (most recent call last):
    ...
    FileNotFoundError: there is no file 'no such folder/table.csv', and no folder 'no such folder'
    """
    if str(path) == STDIN:
        return _spooled(sys.stdin.buffer)
    place = Path(path)
    if place.is_dir():
        raise FileError(path, "it is a folder", "Give the path of a file in it")
    if place.suffix.lower() in SPREADSHEETS:
        remedy = "Save it as CSV, or read it with pandas.read_excel and pass the dataframe"
        raise FileError(path, "it is a spreadsheet", remedy)
    if format_of(place) is None:
        problem = f"its name must end in {', '.join(SUFFIXES)}, that of a text also in {PACKED}"
        raise FileError(path, problem, "Read other formats with pandas, and pass the dataframe")
    if place.exists():
        return place
    folder = place.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no file {str(path)!r}, and no folder {str(folder)!r}")
    names = sorted(other.name for other in folder.iterdir() if other.is_file())
    stems = [name for name in names if name.partition(".")[0] == place.name.partition(".")[0]]
    near = dict.fromkeys((*get_close_matches(place.name, names), *stems))
    found = quoted(str(folder / name) for name in near)
    hint = f"; did you mean {found}?" if found else ""
    raise FileNotFoundError(f"there is no file {str(path)!r}{hint}")


@lru_cache(maxsize=1)
def _spooled(stream: IO[bytes]) -> Path:
    """Copy a stream to a temporary file, as it can be read only once; it lasts until the exit."""
    start = stream.read(2**12)
    # Windows does not delete a file that is still mapped into memory.
    folder = tempfile.TemporaryDirectory(prefix="pidselect-", ignore_cleanup_errors=True)
    _SPOOLS.append(folder)  # deleted at exit
    place = Path(folder.name, f"standard input{_suffix_of(start)}")
    with place.open("wb") as file:
        file.write(start)
        shutil.copyfileobj(stream, file)
    return place


_SPOOLS: list[tempfile.TemporaryDirectory[str]] = []


def _suffix_of(start: bytes) -> str:
    """Return the suffix of a file's format, by its first bytes."""
    if start.startswith(b"\x1f\x8b"):
        unpacked = b""
        with suppress(OSError, EOFError):
            unpacked = gzip.GzipFile(fileobj=io.BytesIO(start)).read1(2**10)
        return _suffix_of(unpacked) + PACKED
    if start.startswith(b"\xff\xff\xff\xff"):
        return ".arrows"
    found = (suffix for first, (_, suffix) in SIGNATURES.items() if start.startswith(first))
    return next(found, ".jsonl" if start.lstrip().startswith(b"{") else ".csv")


def require_arrow(path: object) -> Any:
    """Return pyarrow with the modules that read files."""
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"to read or write {str(path)!r} needs pyarrow: pip install 'pidselect[arrow]'"
        ) from error
    return pyarrow


# -------------------------------------------------------------- Parquet, Arrow and NumPy, by column


@contextmanager
def _reading(path: object, name: str | None = None) -> Iterator[None]:
    """Turn whatever a damaged file causes into one kind of error."""
    try:
        yield
    except (FileError, ModuleNotFoundError, Warning):
        raise
    except Exception as error:
        problem = " ".join(str(error).split()) or type(error).__name__
        if name is None or isinstance(error, MemoryError):
            problem = f"it is damaged, or its name is wrong: {problem}"
            raise FileError(path, problem, "Copy it again") from error
        remedy = f"Convert the column, or exclude it: without=[{name!r}]"
        raise FileError(path, problem, remedy, setting=("without", name)) from error


def _open_array(path: Path) -> Any:
    """Return an array saved by NumPy, mapped into memory."""
    array = np.load(path, mmap_mode="r")
    if not isinstance(array, np.ndarray) or array.dtype.names is not None or array.ndim != 2:
        what = f"{type(array).__name__} of {getattr(array, 'dtype', 'arrays')}"
        problem = f"it holds {what} with shape {getattr(array, 'shape', ())}"
        raise FileError(path, problem, "Save an array of two dimensions, rows and columns")
    if not array.dtype.itemsize:
        raise no_rows(path)
    return array


def _read_arrow(path: Path, store: ColumnStore, names: Sequence[str]) -> list[RawColumn]:
    """Read as many columns at a time as have about `GROUP_BYTES` in the file."""
    raws = []
    file = _ArrowFile(path)
    step = max(1, len(file.schema.names) * GROUP_BYTES // max(1, path.stat().st_size))
    for start in range(0, len(names), step):
        group = names[start : start + step]
        batches = list(file.batches(group))
        if not batches:
            raise no_rows(path)
        table = file.pyarrow.Table.from_batches(batches)
        for name in group:
            series = nw.from_native(table.column(name), series_only=True)
            with _reading(path, name):
                raws.append(keep(from_series(name, series), store))
    return raws


class _ArrowFile:
    """A Parquet file, or an Arrow file or stream; batches are validated before they are used."""

    def __init__(self, path: Path) -> None:
        pyarrow = require_arrow(path)
        self.path, self.pyarrow = path, pyarrow
        self.is_parquet = format_of(path) == "parquet"
        if self.is_parquet:
            self.file = pyarrow.parquet.ParquetFile(path, memory_map=True)
            self.schema = self.file.schema_arrow
            self._check_rows(self.file.metadata.num_rows)
        else:
            self.file = pyarrow.memory_map(str(path))
            self.is_stream = self.file.read(6) != b"ARROW1"
            self.schema = self._reader(None).schema
        names = unique_names(self.schema.names)
        self.names = tuple(name for name in names if not INDEX.fullmatch(name))

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield some columns, some rows at a time."""
        if self.is_parquet:
            step = max(1, BATCH_VALUES // len(names))
            found = self.file.iter_batches(step, columns=list(names), use_threads=False)
        else:
            reader = self._reader(names)
            places = range(0 if self.is_stream else reader.num_record_batches)
            found = reader if self.is_stream else map(reader.get_batch, places)
        for batch in found:
            self._check_rows(batch.num_rows)
            batch.validate(full=True)
            yield batch.select(list(names))

    def _reader(self, names: Sequence[str] | None) -> Any:
        ipc = self.pyarrow.ipc
        places = None if names is None else [self.schema.get_field_index(name) for name in names]
        options = ipc.IpcReadOptions(included_fields=places, use_threads=False)
        self.file.seek(0)
        return (ipc.open_stream if self.is_stream else ipc.open_file)(self.file, options=options)

    def _check_rows(self, n_rows: int) -> None:
        if n_rows > ROWS_PER_BYTE * self.path.stat().st_size + MOST_FREE_ROWS:
            problem = f"it declares {n_rows:,} rows, more than it can hold"
            raise FileError(self.path, problem, "Copy it again")


# ----------------------------------------------------------------------------------------- writing


def write_columns(
    source: AnyPath, target: AnyPath, names: Sequence[str], text: TextFormat | None = None
) -> None:
    r"""Copy some columns of a file to another file, which is written completely or not at all.

    From text to text, fields are copied as they are; the delimiter stays, but for a tab, which
    goes with .tsv. From text to other formats, every column becomes what `Table.open` reads; whole
    numbers beyond those that float64 and int64 hold stay texts.

    Parameters
    ----------
    source : str or path
        Any file that `Table.open` reads, if text as `text` states.
    target : str or path
        Its name determines the format: .csv, .tsv, .txt, .jsonl, .ndjson, and each with .gz;
        .parquet, .pq, .arrow, .feather, .ipc. An existing file is replaced.
    names : sequence of str
        The columns, in the order in which they are written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     people, some = Path(folder, "people.csv"), Path(folder, "some.jsonl")
    ...     _ = people.write_text("age,city,zip\n31.5,Rome,00118\n44,,\n")
    ...     write_columns(people, some, ["city", "age"])
    ...     print(some.read_text(), end="")
    {"city": "Rome", "age": 31.5}
    {"city": null, "age": 44.0}
    """
    origin, place = check_path(source), check_target(target, source)
    require_arrow(target)
    from .text_io import JsonLinesFile, build_columns, open_text

    chosen = _as_names(names)
    file = open_text(origin, text) if format_of(origin) in TEXTS else None
    if not isinstance(file, JsonLinesFile):  # which may name a column in its last line
        choose(source, header(origin, text) if file is None else file.names, chosen)
    columns: dict[str, ColumnBuilder] = {}
    if file is not None and format_of(place) != "delimited":
        columns = build_columns(file, chosen)
    blocks = _blocks(origin, file, chosen)
    with atomic_write(place) as target_file:
        if format_of(place) == "delimited":
            _write_delimited(target_file, place, chosen, blocks, file)
        else:
            write = _write_json if format_of(place) == "json" else _write_arrow
            write(target_file, place, blocks, columns)


def check_target(target: AnyPath, source: AnyPath | None = None) -> Path:
    """Return the path of a file that can be written, by its name and its folder."""
    place = Path(target)
    if format_of(place) in (None, "numpy"):
        known = ", ".join(suffix for suffix, kind in SUFFIXES.items() if kind != "numpy")
        ends = f"Its name must end in {known}, that of a text also in {PACKED}"
        raise FileError(target, "its format cannot be written", ends)
    if place.is_dir():
        raise FileError(target, "it is a folder", "Give the path of a file in it")
    if not place.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(place.parent)!r}; create it first")
    is_source = source is not None and str(source) != STDIN and place.exists()
    if is_source and os.path.samefile(cast(AnyPath, source), place):
        raise FileError(target, "it is the table itself, which would be lost", "Give another name")
    return place


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a file beside its place, and move it there when all is written."""
    place = Path(os.path.realpath(path))  # where a link leads
    beside = place.parent / f".pidselect-{secrets.token_hex(8)}.part"
    try:
        with beside.open("xb") as file:
            with suppress(OSError):  # who may read it, stays as it was
                beside.chmod(place.stat().st_mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        _replace(beside, place)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def _replace(source: Path, target: Path) -> None:
    """Move a file onto another one, which on Windows must wait while anyone has that open."""
    waits = (0.01, 0.03, 0.1, 0.3, 1.0) if os.name == "nt" else ()  # virus scanners take a moment
    for wait in waits:
        try:
            os.replace(source, target)
        except PermissionError:
            time.sleep(wait)
        else:
            return
    os.replace(source, target)


def _blocks(
    path: Path, file: DelimitedFile | JsonLinesFile | None, names: tuple[str, ...]
) -> Iterator[Arrays]:
    """Yield the columns of some rows: of a text as they are written, else as they are."""
    pyarrow = require_arrow(path)
    if file is not None:
        for n_rows, columns in file.blocks(names, as_written=True):
            nothing = pyarrow.nulls(n_rows, "string"), ()
            yield {name: columns.get(name, nothing)[0] for name in names}
    elif format_of(path) == "numpy":
        with _reading(path):
            array = _open_array(path)
            step = max(1, BATCH_VALUES // array.shape[1])
            for start in range(0, len(array), step):
                some = array[start : start + step]
                yield {name: pyarrow.array(some[:, int(name[1:])]) for name in names}
    else:
        with _reading(path):
            for batch in _ArrowFile(path).batches(names):
                yield dict(zip(names, batch.columns, strict=True))


def _write_delimited(
    file: IO[bytes],
    place: Path,
    names: Sequence[str],
    blocks: Iterator[Arrays],
    source: DelimitedFile | JsonLinesFile | None,
) -> None:
    encoding, delimiter, fields = "utf-8", ",", dict(zip(names, names, strict=True))
    if source is not None and hasattr(source, "fields"):
        encoding, delimiter = source.text.encoding, source.text.delimiter or ","
        fields = dict(zip(source.names, source.fields, strict=True))
    if (suffix_of(place) == ".tsv") != (delimiter == "\t"):
        delimiter = "," if delimiter == "\t" else "\t"
    with _text_file(file, place, encoding) as wrapper:
        lists: list[list[str]] = [[fields[name]] for name in names]
        while lists:
            # Python quotes no "\r" where lines end in "\n".
            has_returns = any("\r" in text for texts in lists for text in texts)
            quoting: Any = csv.QUOTE_ALL if has_returns else csv.QUOTE_MINIMAL
            writer = csv.writer(wrapper, delimiter=delimiter, lineterminator="\n", quoting=quoting)
            writer.writerows(zip(*lists, strict=True))
            arrays = next(blocks, {}).values()
            lists = [[_to_text(value) for value in array.to_pylist()] for array in arrays]


def _write_json(
    file: IO[bytes], place: Path, blocks: Iterator[Arrays], columns: Mapping[str, ColumnBuilder]
) -> None:
    with _text_file(file, place, "utf-8") as wrapper:
        for block in blocks:
            typed = [_to_arrow(array, columns.get(name)) for name, array in block.items()]
            lists = [[_to_json(value) for value in array.to_pylist()] for array in typed]
            for row in zip(*lists, strict=True):
                record = dict(zip(block, row, strict=True))
                wrapper.write(json.dumps(record, ensure_ascii=False) + "\n")


def _write_arrow(
    file: IO[bytes], place: Path, blocks: Iterator[Arrays], columns: Mapping[str, ColumnBuilder]
) -> None:
    pyarrow = require_arrow(place)
    batches = (
        pyarrow.record_batch({n: _to_arrow(array, columns.get(n)) for n, array in block.items()})
        for block in blocks
    )
    first: Any = next(batches, None)
    if first is None:
        raise FileError(place, "there are no rows to write", "Choose a source with rows")
    is_parquet = format_of(place) == "parquet"
    if not is_parquet and any(map(pyarrow.types.is_dictionary, first.schema.types)):
        # An Arrow file has one list of categories for all batches.
        table = pyarrow.Table.from_batches([first, *batches]).unify_dictionaries()
        first, *batches = table.to_batches()
    is_stream = suffix_of(place) == ".arrows"
    ipc = pyarrow.ipc.new_stream if is_stream else pyarrow.ipc.new_file
    with (pyarrow.parquet.ParquetWriter if is_parquet else ipc)(file, first.schema) as writer:
        for batch in chain([first], batches):
            writer.write_batch(batch)


@contextmanager
def _text_file(file: IO[bytes], place: Path, encoding: str) -> Iterator[IO[str]]:
    """Open the text of a file, compressed if its name ends so."""
    # Without a name and a time in it, the same table gives the same bytes.
    packed = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if is_packed(place) else None
    below = cast(IO[bytes], packed) if packed else file
    wrapper = io.TextIOWrapper(below, encoding, errors="backslashreplace", newline="")
    try:
        yield wrapper
    finally:
        wrapper.flush()
        wrapper.detach()
        if packed:
            packed.close()


def _to_arrow(texts: Any, column: ColumnBuilder | None) -> Any:
    """Return texts of a file as an array of the type that the whole column has."""
    if column is None:
        return texts
    pyarrow = require_arrow("")
    if column.form == "text" or column.has_merged:
        present = column.without_words(texts)
        if column.form == "text" or not column.is_whole:
            return present
        digits = pyarrow.compute.utf8_trim_whitespace(present)
        points = pyarrow.compute.replace_substring(digits, ",", ".")
        return points.cast(pyarrow.decimal256(76, 0)).cast("int64")
    array = pyarrow.array(column.parse(texts), from_pandas=True)  # NaN is null
    if column.form in ("moment", "clock"):
        array = pyarrow.compute.round(pyarrow.compute.multiply(array, 1e6)).cast("int64")
    kinds = {"boolean": "bool", "moment": "timestamp[us]", "clock": "time64[us]"}
    return array.cast(kinds.get(column.form or "", "int64" if column.is_whole else "double"))


def _to_json(value: Any) -> Any:
    match value:
        case timedelta():  # in seconds, as it is read
            return value.total_seconds()
        case Decimal():
            return float(value)
        case bytes():
            return value.decode("utf-8", "replace")
        case datetime():
            return value.isoformat(sep=" ")
        case float():
            return None if isnan(value) else value
        case None | bool() | int():
            return value
    return str(value)


def _to_text(value: Any) -> str:
    plain = value if isinstance(value, Decimal) else _to_json(value)
    if isinstance(plain, bool):
        return str(plain).lower()
    return "" if plain is None else str(plain)
