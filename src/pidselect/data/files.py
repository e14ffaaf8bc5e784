"""Files of tables: formats by name, any of them read by polars, CSV and Parquet also written."""

from __future__ import annotations

import gzip
import io
import os
import re
import secrets
import shutil
import sys
import tempfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import IO, Any, Literal, cast

import narwhals.stable.v2 as nw
import numpy as np

from pidselect.exceptions import Setting

from .input import column_names, read_columns
from .messages import did_you_mean, quoted
from .raw_column import RawColumn, from_series

AnyPath = str | PathLike[str]
Format = Literal["delimited", "json", "parquet", "arrow", "numpy"]

#: The ends of names by format; those of texts, which are the first, may be followed by .gz or .zst.
SUFFIXES: dict[str, Format] = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "delimited"),
    **dict.fromkeys((".jsonl", ".ndjson"), "json"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc", ".arrows"), "arrow"),
    ".npy": "numpy",
}
TEXTS = ("delimited", "json")
WRITTEN = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".parquet", ".pq")
SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")

GZIP, ZSTD = PACKED = (".gz", ".zst")
ZSTD_LIBRARY = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"

#: First bytes of files that are no text, with their format and the end of their names.
SIGNATURES = {
    b"PAR1": ("a Parquet file", ".parquet"),
    b"ARROW1": ("an Arrow file", ".arrow"),
    b"\xff\xff\xff\xff": ("an Arrow stream", ".arrows"),
    b"\x93NUMPY": ("a NumPy array", ".npy"),
    b"\x1f\x8b": ("compressed by gzip", GZIP),
    b"\x28\xb5\x2f\xfd": ("compressed by zstd", ZSTD),
    b"PK\x03\x04": ("a zip archive or a spreadsheet", ".zip"),
}

#: Texts that denote a missing value by default.
MISSING_WORDS = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "#N/A")

#: The path that denotes standard input.
STDIN = "-"

#: The name of the row index where pandas writes it as a column.
INDEX = re.compile(r"__index_level_\d+__")

#: A small file that unpacks to gigabytes is an attack, or no table: so many bytes of a text, and
#: values of other formats, are read from any file; of a larger one so many per byte of it.
MOST_BYTES, BYTES_PER_BYTE = 2**26, 20
MOST_VALUES, VALUES_PER_BYTE = 2**25, 64


class FileError(ValueError):
    r"""A file that cannot be read or written.

    Attributes
    ----------
    path : str
    problem : str
    remedy : str
    line : int or None
        The line of a text file, counted from 1.
    setting : tuple of str and object, or None
        The parameter of `Table.open` that resolves it, with a value to try.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pidselect import Table
    >>> from pidselect.data import FileError
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("age,city\n31,Rome\n44,Oslo,Norway\n")
    ...     try:
    ...         Table.open(path)
    ...     except FileError as error:
    ...         print(error.line, error.problem)
    3 found 3 fields where the header has 2 (the delimiter is ','): '44,Oslo,Norway'
    """

    def __init__(
        self,
        path: object,
        problem: str,
        remedy: str,
        line: int | None = None,
        setting: Setting | None = None,
    ) -> None:
        super().__init__(path, problem, remedy, line, setting)
        self.path, self.problem, self.remedy = str(path), problem, remedy
        self.line, self.setting = line, setting

    def __str__(self) -> str:
        where = repr(self.path) + (f", line {self.line}" if self.line else "")
        return f"{where}: {self.problem}. {self.remedy}"


def no_rows(path: object) -> FileError:
    """Return the error for a file without rows."""
    return FileError(path, "it has no rows", "Choose a file with at least one row of values")


def suffix_of(path: Path) -> str:
    """Return the suffix of a file's name, without that of its compression."""
    return Path(path.stem if path.suffix.lower() in PACKED else path.name).suffix.lower()


def format_of(path: Path) -> Format | None:
    """Return the format of a file by its name, None if it has none of ours."""
    found = SUFFIXES.get(suffix_of(path))
    return None if path.suffix.lower() in PACKED and found not in TEXTS else found


def choose(
    path: object,
    names: Sequence[str],
    columns: Collection[str] | None,
    without: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the names among `columns` (None: all) but for those of `without`."""
    for name in sorted({*(columns or ()), *without} - set(names)):
        problem = f"it has no column {name!r}{did_you_mean(name, names)}"
        raise FileError(path, problem, "Use the names of the header")
    left = tuple(n for n in names if (columns is None or n in columns) and n not in without)
    if not left:
        raise FileError(path, "no column is left", f"It has the columns {quoted(names)}")
    return left


def check_path(path: AnyPath) -> Path:
    """Return the path of a file that exists and has a format that can be read."""
    if str(path) == STDIN:
        return _spooled(sys.stdin.buffer)
    place = Path(path)
    if place.is_dir():
        raise FileError(path, "it is a folder", "Give the path of a file in it")
    if place.suffix.lower() in SPREADSHEETS:
        remedy = "Save it as CSV, or read it with pandas.read_excel and pass the dataframe"
        raise FileError(path, "it is a spreadsheet", remedy)
    if format_of(place) is None:
        ends = f"{', '.join(SUFFIXES)}, that of a text also in {GZIP} or {ZSTD}"
        remedy = "Read other formats with pandas, and pass the dataframe"
        raise FileError(path, f"its name must end in {ends}", remedy)
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
    # Windows does not delete a file that is still mapped into memory.
    folder = tempfile.TemporaryDirectory(prefix="pidselect-", ignore_cleanup_errors=True)
    _SPOOLS.append(folder)  # deleted at exit
    place = Path(folder.name, "standard input")
    with place.open("wb") as file:
        shutil.copyfileobj(stream, file)
    with place.open("rb") as file:
        start = file.read(2**10)
    packing = next((end for end in _endings(start) if end in PACKED), "")
    place = place.rename(f"{place}{packing}")
    with suppress(FileError):  # which is raised where the table is read
        start = contents(place, 2**10)
    ending = next(end for end in _endings(start) if end in SUFFIXES)
    return place.rename(place.with_name(f"standard input{ending}{packing}"))


_SPOOLS: list[tempfile.TemporaryDirectory[str]] = []


def _endings(start: bytes) -> list[str]:
    """Return the ends that a file's name may have by its first bytes."""
    found = [end for first, (_, end) in SIGNATURES.items() if start.startswith(first)]
    return [*found, ".jsonl" if start.lstrip().startswith(b"{") else ".csv"]


def read_file(
    path: AnyPath,
    columns: str | Iterable[str] | None = None,
    without: str | Iterable[str] = (),
    **text: Any,
) -> tuple[RawColumn, ...]:
    """Read the columns of a file; for the parameters see `Table.open`."""
    from .text_files import TextSettings, read_text

    settings, place = TextSettings(**text), check_path(path)
    chosen, excluded = None if columns is None else as_names(columns), as_names(without)
    if format_of(place) in TEXTS:
        return read_text(place, settings, chosen, excluded)
    with reading(place):
        names = choose(place, header(place), chosen, excluded)
        if format_of(place) == "numpy":
            raws = [raw for raw in read_columns(_open_array(place)) if raw.name in names]
        else:
            frame = _read_frame(place, names)
            raws = []
            for name in names:
                with reading(place, name):
                    series = nw.from_native(frame.get_column(name), series_only=True)
                    raws.append(from_series(name, series))
    if not len(raws[0].values):
        raise no_rows(path)
    return tuple(raws)


def header(path: AnyPath, **text: Any) -> tuple[str, ...]:
    """Return the names of a file's columns, of JSON lines those in its first rows."""
    from .text_files import TextSettings, open_text

    settings, place = TextSettings(**text), check_path(path)
    if format_of(place) in TEXTS:
        return open_text(place, settings, only_header=True).names
    with reading(place):
        if format_of(place) == "numpy":
            return column_names(_open_array(place))
        names = _scan(place).collect_schema().names()
        return tuple(name for name in names if not INDEX.fullmatch(name))


def as_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return one name or several as a tuple, each once."""
    return (str(names),) if isinstance(names, str) else tuple(dict.fromkeys(map(str, names)))


def require(library: str, path: object) -> Any:
    """Return a library that is imported where a file is read or written."""
    try:
        return import_module(library)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"to read or write {str(path)!r} needs {library}: pip install 'pidselect[cli]'"
        ) from error


@contextmanager
def reading(path: object, name: str | None = None) -> Iterator[None]:
    """Turn whatever a damaged file, or its column `name`, causes into one kind of error."""
    try:
        yield
    except (FileError, ModuleNotFoundError, Warning):
        raise
    except BaseException as error:
        # A panic of polars is no Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        problem = " ".join(str(error).split()) or type(error).__name__
        if name is None or isinstance(error, MemoryError):
            problem = f"it is damaged, or its name is wrong: {problem}"
            raise FileError(path, problem, "Copy it again, or correct its name") from error
        remedy = f"Convert the column, or exclude it: without=[{name!r}]"
        raise FileError(path, problem, remedy, setting=("without", name)) from error


def _scan(path: Path) -> Any:
    """Return a Parquet file, or an Arrow file or stream, as a lazy frame."""
    polars = require("polars", path)
    if format_of(path) == "parquet":
        return polars.scan_parquet(path, glob=False)
    content = path.read_bytes()
    is_file = content.startswith(b"ARROW1")
    return (polars.scan_ipc if is_file else polars.read_ipc_stream)(io.BytesIO(content)).lazy()


def _read_frame(path: Path, names: Sequence[str]) -> Any:
    """Return some columns, unless there are more values than the file can hold."""
    frame = _scan(path)
    n_rows = frame.select(require("polars", path).len()).collect().item()
    if n_rows * len(names) > max(MOST_VALUES, VALUES_PER_BYTE * path.stat().st_size):
        problem = f"it declares {n_rows:,} rows, too many for its size"
        remedy = "If it is whole, read fewer columns, or read it otherwise and pass the dataframe"
        raise FileError(path, problem, remedy)
    return frame.select(names).collect()


def _open_array(path: Path) -> Any:
    """Return an array saved by NumPy, mapped into memory."""
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(array, np.ndarray) or array.dtype.names is not None or array.ndim != 2:
        what = f"{type(array).__name__} of {getattr(array, 'dtype', 'arrays')}"
        problem = f"it holds {what} with shape {getattr(array, 'shape', ())}"
        raise FileError(path, problem, "Save an array of two dimensions, rows and columns")
    if not array.dtype.itemsize:
        raise no_rows(path)
    return array


def contents(path: Path, most: int | None = None) -> bytes:
    """Return what is in a file, decompressed; with `most` at least so many of its first bytes."""
    packing = path.suffix.lower()
    if packing not in PACKED:
        with path.open("rb") as file:
            return file.read(-1 if most is None else most)
    unpacker: Any = gzip if packing == GZIP else require(ZSTD_LIBRARY, path)
    limit = max(MOST_BYTES, BYTES_PER_BYTE * path.stat().st_size)
    try:
        with unpacker.open(path) as packed:
            content: bytes = packed.read(limit + 1 if most is None else most)
    except (OSError, EOFError, zlib.error, getattr(unpacker, "ZstdError", OSError)) as error:
        problem = f"it cannot be decompressed ({error}): it is damaged, or not what its name says"
        raise FileError(path, problem, "Copy it again, or correct its name") from error
    if len(content) > limit:
        problem = f"it unpacks to more than {limit:,} bytes, too many for its size"
        raise FileError(path, problem, "If it is whole, unpack it first")
    return content


def check_target(target: AnyPath, source: AnyPath | None = None) -> Path:
    """Return the path of a file that can be written, by its name and its folder."""
    place = Path(target)
    if not place.name.lower().endswith(WRITTEN):
        remedy = f"Its name must end in {', '.join(WRITTEN)}"
        raise FileError(target, "its format cannot be written", remedy)
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
    """Open a file beside its place, and move it there when all is written.

    A device, or a pipe, is written to as it is.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    place = Path(os.path.realpath(path))  # where a link leads
    beside = place.parent / f".pidselect-{secrets.token_hex(8)}.part"
    try:
        with beside.open("xb") as file:
            with suppress(OSError):  # who may read it, stays as it was
                beside.chmod(place.stat().st_mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, place)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def write_columns(source: AnyPath, target: AnyPath, names: Sequence[str], **text: Any) -> None:
    r"""Copy some columns of a file to a CSV or Parquet file, written completely or not at all.

    From text to text, fields are copied as they are; the delimiter stays, but for a tab, which
    goes with .tsv. In Parquet every column becomes what `Table.open` reads; whole numbers stay
    whole, those beyond int64 texts.
    """
    from .text_columns import typed
    from .text_files import DelimitedFile, TextSettings, open_text

    settings, origin, place = TextSettings(**text), check_path(source), check_target(target, source)
    polars, chosen = require("polars", target), as_names(names)
    is_parquet, encoding, delimiter = format_of(place) == "parquet", "utf-8", ","
    fields = dict(zip(chosen, chosen, strict=True))
    with reading(source):
        if format_of(origin) in TEXTS:
            file = open_text(origin, settings)
            texts, decimal = file.texts(chosen), file.settings.decimal
            columns = {name: one for name, (one, _) in texts.items()}
            if is_parquet:
                columns = {name: typed(*texts[name], settings.words, decimal) for name in chosen}
            elif isinstance(file, DelimitedFile):
                encoding, delimiter = settings.encoding, file.settings.delimiter or delimiter
                fields = dict(zip(file.names, file.fields, strict=True))
        elif choose(source, header(origin), chosen) and format_of(origin) == "numpy":
            array = _open_array(origin)
            columns = {name: polars.Series(array[:, int(name[1:])]) for name in chosen}
        else:
            columns = {series.name: series for series in _read_frame(origin, chosen)}
        # Half a surrogate pair, which a name in JSON may have, has no encoding.
        keys = [fields[name].encode("utf-8", "backslashreplace").decode() for name in chosen]
        frame = polars.DataFrame(dict(zip(keys, map(columns.get, chosen), strict=True)))
    with atomic_write(place) as target_file, reading(source):
        if is_parquet:
            frame.write_parquet(target_file)
            return
        if (suffix_of(place) == ".tsv") != (delimiter == "\t"):
            delimiter = "," if delimiter == "\t" else "\t"
        spans = frame.select(polars.selectors.duration())
        frame = frame.with_columns(one.dt.total_microseconds() / 1e6 for one in spans)
        if len(chosen) > 1:
            frame = frame.with_columns(polars.selectors.string().replace("", None))
        else:  # a missing value would be a blank line
            frame = frame.cast(polars.String).fill_null("")
        content = frame.write_csv(separator=delimiter).encode(encoding, "backslashreplace")
        target_file.write(gzip.compress(content, mtime=0) if place.suffix == GZIP else content)
