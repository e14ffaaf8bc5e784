"""Formats of files: the ends of their names, the settings of a text, the errors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pidselect.exceptions import Setting

from .messages import did_you_mean, plain, quoted

Format = Literal["delimited", "json", "parquet", "arrow", "numpy"]

#: The ends of names by format; those of texts, which are the first, may be followed by .gz.
SUFFIXES: dict[str, Format] = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "delimited"),
    **dict.fromkeys((".jsonl", ".ndjson"), "json"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc", ".arrows"), "arrow"),
    ".npy": "numpy",
}
TEXTS = ("delimited", "json")
PACKED = ".gz"

#: First bytes of files that are no text, with their format and the end of their names.
SIGNATURES = {
    b"PAR1": ("a Parquet file", ".parquet"),
    b"ARROW1": ("an Arrow file", ".arrow"),
    b"\x93NUMPY": ("a NumPy array", ".npy"),
    b"\x1f\x8b": ("compressed by gzip", PACKED),
    b"PK\x03\x04": ("a zip archive or a spreadsheet", ".zip"),
}

#: Texts that denote a missing value by default.
MISSING_WORDS = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "#N/A")


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
        The parameter of `TextFormat` or `Table.open` that resolves it, with a value to try.

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
    ...         print(error.line, error.problem, error.remedy, sep="; ")
    3; found 3 fields where the header has 2 (the delimiter is ','): '44,Oslo,Norway'; Correct this
    line; a field that contains the delimiter must be in quotes, and a name of the row must be named
    in the header
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


@dataclass(frozen=True)
class TextFormat:
    r"""How a CSV or JSON lines file is written.

    Parameters
    ----------
    delimiter : str, optional
        The character between two fields. By default the one of comma, semicolon, tab and ``|``
        that splits the first records into the same number of fields.
    encoding : str
        A byte order mark of UTF-8 is accepted.
    decimal : {".", ","}, optional
        The decimal mark. By default the point; in files delimited by semicolons also the comma,
        but not both in one file.
    na_values : tuple of str
        The texts that denote a missing value, with or without blanks around them.

    Examples
    --------
    A file in Latin-1 with decimal commas, and -9 for values that are missing:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from pidselect import Table
    >>> from pidselect.data import TextFormat
    >>> lines = "größe|alter\n1,62|31\n1,80|-9\n1,75|27\n1,71|44\n"
    >>> text = TextFormat(encoding="latin-1", decimal=",", na_values=("-9",))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "leute.csv")
    ...     _ = path.write_bytes(lines.encode("latin-1"))
    ...     Table.open(path, text=text, missing="drop")
    Table of 3 samples and 2 columns
      größe  continuous  3 levels
      alter  continuous  3 levels
    >>> TextFormat(decimal=";")
    Traceback (most recent call last):
    ...
    ValueError: decimal=';' is no decimal mark: use '.' or ','
    """

    delimiter: str | None = None
    encoding: str = "utf-8"
    decimal: str | None = None
    na_values: tuple[str, ...] = MISSING_WORDS

    def __post_init__(self) -> None:
        delimiter, decimal = plain(self.delimiter), plain(self.decimal)
        is_ascii = delimiter is None or (len(delimiter) == 1 and delimiter.isascii())
        if not is_ascii or delimiter in ('"', "\r", "\n", "\0"):
            raise ValueError(
                f"delimiter={delimiter!r} is no delimiter: use one ASCII character other than a "
                "quote, such as ';'; by default it is detected"
            )
        if decimal not in (None, ".", ","):
            raise ValueError(f"decimal={decimal!r} is no decimal mark: use '.' or ','")
        if decimal is not None and decimal == delimiter:
            raise ValueError(f"delimiter and decimal cannot both be {delimiter!r}")
        try:
            "".encode(self.encoding)
        except LookupError as error:
            raise ValueError(
                f"encoding={plain(self.encoding)!r} is unknown; common ones are 'utf-8', "
                "'latin-1', 'cp1252', 'utf-16'"
            ) from error
        if isinstance(self.na_values, str):
            text = plain(self.na_values)
            raise TypeError(f"na_values={text!r} must be a tuple of texts: ({text!r},)")
        object.__setattr__(self, "na_values", tuple(self.na_values))


def is_packed(path: Path) -> bool:
    """Return whether a file is compressed, by its name."""
    return path.suffix.lower() == PACKED


def suffix_of(path: Path) -> str:
    """Return the suffix of a file's name, without that of its compression."""
    return (Path(path.stem).suffix if is_packed(path) else path.suffix).lower()


def format_of(path: Path) -> Format | None:
    """Return the format of a file by its name, None if it has none of ours."""
    found = SUFFIXES.get(suffix_of(path))
    return None if is_packed(path) and found not in TEXTS else found


def no_rows(path: object) -> FileError:
    """Return the error for a file without rows."""
    return FileError(path, "it has no rows", "Choose a file with at least one row of values")


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
