"""Paths of files: formats by name, standard input, the error that names a file, atomic writing."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import IO, Literal, cast

from pidselect.exceptions import Setting

from .messages import did_you_mean, quoted

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


# --------------------------------------------------------------------------------- names and paths


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
    from .files import contents

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


# ----------------------------------------------------------------------------------------- writing


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
        os.replace(beside, place)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
