"""Tables in text files: delimited fields parsed by pyarrow, JSON lines by `json`."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np

from .column import FloatArray
from .column_store import ColumnStore
from .input import keep
from .messages import did_you_mean, quoted, warn_caller
from .raw_column import BOOLS, EXACT_INTEGERS, RawColumn, from_objects

DELIMITED = (".csv", ".tsv", ".txt")
JSON_LINES = (".jsonl", ".ndjson")
PACKED = ".gz"
DELIMITERS = (",", ";", "\t", "|")

#: Texts that denote a missing value by default.
MISSING_WORDS = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "#N/A")

#: Bytes of text that are parsed together, which are also the most of a record; more in wide tables.
BLOCK_BYTES, WIDE_BLOCK_BYTES, ROWS_OF_A_BLOCK = 2**22, 2**26, 2**7

#: The longest line in characters and the most columns: they bound the memory that a file can take.
LONGEST_LINE, MOST_COLUMNS = 2**26, 2**20

#: The delimiter is detected in so many characters and records.
SAMPLE_CHARACTERS, SAMPLE_RECORDS = 2**16, 200

#: The part of the memory for columns that is used until they are complete, and the values of all
#: columns that are collected before they go to the column store.
SPOOL_SHARE, BUFFERED_VALUES = 4, 2**22

#: So many different words among numbers may denote missing values, if each is outnumbered by so
#: many numbers.
MOST_WORDS, NUMBERS_PER_WORD = 2, 4

#: First bytes of files that are no text, with their format and the end of their names.
SIGNATURES = {
    b"PAR1": ("a Parquet file", ".parquet"),
    b"ARROW1": ("an Arrow file", ".arrow"),
    b"\x93NUMPY": ("a NumPy array", ".npy"),
    b"\x1f\x8b": ("compressed by gzip", PACKED),
    b"PK\x03\x04": ("a zip archive or a spreadsheet", ".zip"),
}

_NUMBER = re.compile(r"\s*[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
_WITH_COMMA = re.compile(r"\s*[+-]?\d+(?:,\d+)*\s*", re.ASCII)
_THOUSANDS = r"(?:[0-9]{1,3}(?:[.,'\s][0-9]{3})+|[0-9]+)(?:[.,][0-9]+)?"
_WITH_SIGNS = re.compile(rf"\s*[+-]?[$€£]?\s?{_THOUSANDS}\s?[%$€£]?\s*")
_UNDECODED = re.compile("[\udc80-\udcff]")

# For RE2, which pyarrow uses.
_CLOCK = r"\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?"
_MOMENT = rf"^\d{{4}}-\d\d-\d\d(?:[T ]{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?)?$"
TRUTHS = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}

Forms = tuple[str, ...]
Setting = tuple[str, object]

#: What a column may hold unless it holds texts; no text has two of these forms.
FORMS: Forms = ("number", "boolean", "moment", "clock")


class FileError(ValueError):
    """A file that cannot be read or written.

    Attributes
    ----------
    path : str
    problem, remedy : str
    line : int or None
        The line of a text file, counted from 1.
    setting : tuple of str and object, or None
        The parameter of `TextFormat` or `Table.open` that resolves it, with a value to try.
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


class TextColumnWarning(UserWarning):
    """Columns read as text that are likely numbers.

    Attributes
    ----------
    columns : tuple of str
    setting : tuple of str and object, or None
        The parameter of `TextFormat` that reads them as numbers.
    """

    def __init__(
        self, message: str, columns: Sequence[str], setting: Setting | None = None
    ) -> None:
        super().__init__(message, columns, setting)
        self.columns, self.setting = tuple(columns), setting

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class TextFormat:
    """How a CSV or JSON lines file is written.

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
        delimiter = self.delimiter
        is_ascii = delimiter is None or (len(delimiter) == 1 and delimiter.isascii())
        if not is_ascii or delimiter in ('"', "\r", "\n", "\0"):
            raise ValueError(
                f"delimiter={delimiter!r} is no delimiter: use one ASCII character other than a "
                "quote, such as ';'; by default it is detected"
            )
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"decimal={self.decimal!r} is no decimal mark: use '.' or ','")
        if self.decimal is not None and self.decimal == delimiter:
            raise ValueError(f"delimiter and decimal cannot both be {delimiter!r}")
        try:
            "".encode(self.encoding)
        except LookupError as error:
            raise ValueError(
                f"encoding={self.encoding!r} is unknown; common ones are 'utf-8', 'latin-1', "
                "'cp1252', 'utf-16'"
            ) from error
        if isinstance(self.na_values, str):
            raise TypeError(
                f"na_values={self.na_values!r} must be a tuple of texts: ({self.na_values!r},)"
            )
        object.__setattr__(self, "na_values", tuple(self.na_values))


def text_suffix(path: Path) -> str:
    """Return the suffix of a file's name, without that of its compression."""
    return (Path(path.stem).suffix if is_packed(path) else path.suffix).lower()


def is_packed(path: Path) -> bool:
    """Return whether a file is compressed, by its name."""
    return path.suffix.lower() == PACKED


def is_text(path: Path) -> bool:
    """Return whether a file is text, by its name."""
    return text_suffix(path) in (*DELIMITED, *JSON_LINES)


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


def start_of(line: str, length: int = 60) -> str:
    """Return the beginning of a line, quoted, for messages."""
    bare = line.rstrip("\r\n")
    return repr(bare[:length]) + ("..." if len(bare) > length else "")


# ------------------------------------------------------------------------------------------- lines


def read_lines(path: Path, text: TextFormat) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers; name the line of what is no text."""
    with _decompressing(path), gzip.open(path) if is_packed(path) else path.open("rb") as file:
        _check_signature(path, file.read(8), text.encoding)
        file.seek(0)
        is_utf8 = codecs.lookup(text.encoding).name == "utf-8"
        codec = "utf-8-sig" if is_utf8 else text.encoding  # which accepts a byte order mark
        # Bytes that are not in the encoding become half surrogate pairs, which no text contains.
        wrapper = io.TextIOWrapper(cast(IO[bytes], file), codec, "surrogateescape", newline="")
        for number in count(1):
            line = wrapper.readline(LONGEST_LINE)
            if not line:
                return
            if len(line) == LONGEST_LINE:
                problem = f"the line is longer than {LONGEST_LINE:,} characters: {start_of(line)}"
                raise FileError(path, problem, "Check the line ends of the file", number)
            if not line.isascii() and (wrong := _UNDECODED.search(line)):
                problem = f"byte 0x{ord(wrong[0]) - 0xDC00:02x} is not {text.encoding}"
                remedy = "State the encoding, for example encoding='latin-1' or 'cp1252'"
                raise FileError(path, problem, remedy, number, ("encoding", "latin-1"))
            if "\0" in line:
                problem = "there is a NUL byte: the file is damaged, or no text in this encoding"
                remedy = "State the encoding, for example encoding='utf-16'"
                raise FileError(path, problem, remedy, number, ("encoding", "utf-16"))
            yield number, line


@contextmanager
def _decompressing(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        if not is_packed(path):
            raise
        problem = f"it cannot be decompressed ({error}): it is damaged, or no gzip file"
        raise FileError(path, problem, "Copy it again, or correct its name") from error
    except UnicodeError as error:  # of encodings in which no single byte is wrong
        raise FileError(path, f"it is damaged: {error}", "Check the encoding") from error


def _check_signature(path: Path, first: bytes, encoding: str) -> None:
    """Refuse what is no text, or text in another encoding than stated, by its first bytes."""
    is_wide = codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))
    if first[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) and not is_wide:
        problem = f"it is not {encoding}: it begins with the byte order mark of UTF-16"
        remedy = "State encoding='utf-16', or save it as UTF-8"
        raise FileError(path, problem, remedy, setting=("encoding", "utf-16"))
    for signature, (what, ending) in SIGNATURES.items():
        if first.startswith(signature):
            name = f"{path}{ending}" if ending == PACKED else path.with_suffix(ending)
            remedy = f"Rename it to {str(name)!r}, or save it as CSV"
            raise FileError(path, f"it is no text but {what}", remedy)


class TextBlock(NamedTuple):
    """Some rows: arrays of strings, null where there is no value, and the forms they may have."""

    n_rows: int
    columns: dict[str, Any]
    forms: dict[str, Forms]


# ------------------------------------------------------------------------------- delimited fields


@dataclass(frozen=True)
class DelimitedFile:
    """A file of delimited fields with a header."""

    path: Path
    text: TextFormat  # with its delimiter; without a decimal mark where either may occur
    fields: tuple[str, ...]  # the header as it is written
    n_header_lines: int

    @property
    def names(self) -> tuple[str, ...]:
        """The fields without blanks around them; "column 1" for the first if it is empty."""
        return tuple(field.strip() or f"column {i}" for i, field in enumerate(self.fields, 1))

    def blocks(
        self,
        columns: Collection[str] | None = None,
        without: Collection[str] = (),
        size: int = BLOCK_BYTES,
        as_written: bool = False,
    ) -> Iterator[TextBlock]:
        """Yield the chosen columns; with `as_written` also the words for missing values."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        size = max(size, min(WIDE_BLOCK_BYTES, ROWS_OF_A_BLOCK * sum(map(len, self.fields))))
        places = {name: place for place, name in enumerate(self.names)}
        names = choose(self.path, tuple(places), columns, without)
        keys = [str(place) for place in places.values()]
        forms = dict.fromkeys(names, FORMS)
        is_checked, packing = False, "gzip" if is_packed(self.path) else None
        try:
            with self.path.open("rb") as file:  # by Python, whose buffers are reused
                reader = arrow_csv.open_csv(
                    pa.input_stream(file, compression=packing),
                    arrow_csv.ReadOptions(
                        column_names=keys,
                        skip_rows=self.n_header_lines,
                        block_size=size,
                        encoding=self.text.encoding,
                    ),
                    arrow_csv.ParseOptions(
                        delimiter=self.text.delimiter,
                        newlines_in_values=True,
                        invalid_row_handler=_skip_blank,
                    ),
                    arrow_csv.ConvertOptions(
                        column_types=dict.fromkeys(keys, pa.string()),
                        null_values=self.text.na_values,
                        strings_can_be_null=not as_written,
                    ),
                )
                for batch in reader:
                    if not is_checked and any(map(_has_controls, batch.columns)):
                        self.check()
                        is_checked = True
                    if batch.num_rows:
                        arrays = {name: batch.column(places[name]) for name in names}
                        yield TextBlock(batch.num_rows, arrays, forms)
        except (pa.ArrowException, OSError, UnicodeError) as error:
            self.check()
            problem = f"it cannot be parsed, or a record is longer than {size:,} bytes ({error})"
            raise FileError(self.path, problem, "Save the table as Parquet") from error

    def check(self) -> None:
        """Read all records by Python's `csv`, to name the line of the first fault."""
        for row, line, _ in _records(self.path, self.text):
            is_blank = len(row) == 1 and not row[0].strip()
            if len(row) != len(self.fields) and not is_blank:
                raise self._wrong_width(line, row)

    def _wrong_width(self, line: int, row: list[str]) -> FileError:
        found, width, delimiter = len(row), len(self.fields), self.text.delimiter or ","
        setting: Setting | None = None
        remedy = "a field that contains the delimiter must be in quotes"
        if found == width + 1 and not row[-1]:
            remedy = "the line ends in a delimiter that the header does not have"
        elif found == 1 or width == 1:
            setting = ("delimiter", ";")
            remedy = "state another delimiter, for example delimiter=';'"
            if width == 1:
                remedy += f"; delete the first line, {start_of(self.fields[0])}, if it is no header"
        elif found == width + 1 and line == self.n_header_lines + 1:
            remedy = "if the first field is the name of the row, name it in the header, too"
        problem = (
            f"found {found} field{'s' * (found != 1)} where the header has {width} (the delimiter "
            f"is {delimiter!r}): {start_of(delimiter.join(row))}"
        )
        return FileError(self.path, problem, f"Correct this line; {remedy}", line, setting)


def open_delimited(path: Path, text: TextFormat) -> DelimitedFile:
    """Read the header, and detect the delimiter unless it is stated."""
    sample = ""
    for _, line in read_lines(path, text):
        sample += line
        if len(sample) > SAMPLE_CHARACTERS:
            break
    delimiter = text.delimiter or find_delimiter(sample, path)
    text = replace(
        text, delimiter=delimiter, decimal=text.decimal or (None if delimiter == ";" else ".")
    )
    if sample.lstrip().partition("\n")[0].count(delimiter) >= MOST_COLUMNS:
        problem = f"the header has more than {MOST_COLUMNS:,} fields (delimiter {delimiter!r})"
        raise FileError(path, problem, "Save so wide a table as a NumPy array (.npy)", 1)
    fields, _, n_lines = next(_records(path, text), ([], 0, 0))
    file = DelimitedFile(path, text, tuple(fields), n_lines)
    _check_header(file)
    return file


def _check_header(file: DelimitedFile) -> None:
    """Refuse a first line that names no columns."""
    path, fields = file.path, file.fields
    remedy = "Write a line with the names of the columns above the rows"
    if not fields:
        raise FileError(path, "it is empty", remedy)
    shown = start_of((file.text.delimiter or ",").join(fields))
    if not any(map(str.strip, fields)):
        raise FileError(path, f"{shown} names no column", remedy, 1)
    if fields[0].lower().startswith("sep=") and len(fields) <= 2:
        raise FileError(path, f"{shown} is a note for spreadsheets", "Delete this line", 1)
    if all(map(_NUMBER.fullmatch, fields)) and any("." in field for field in fields):
        raise FileError(path, f"{shown} contains numbers only, and no column names", remedy, 1)
    if doubles := [name for name, count in Counter(file.names).items() if count > 1]:
        problem = f"column names must be unique, but the header repeats {quoted(doubles)}"
        raise FileError(path, problem, f"Rename them. If these are values: {remedy}", 1)


def _records(path: Path, text: TextFormat) -> Iterator[tuple[list[str], int, int]]:
    """Yield records that are not empty, with the numbers of their first and last line."""
    first_line = ""

    def lines() -> Iterator[str]:
        nonlocal first_line
        for _, line in read_lines(path, text):
            first_line = first_line or line
            yield line

    reader = csv.reader(lines(), delimiter=text.delimiter or ",", strict=True)
    limit = csv.field_size_limit(WIDE_BLOCK_BYTES)
    try:
        while True:
            first, first_line = reader.line_num + 1, ""
            row = next(reader, None)
            if row is None:
                return
            if row:
                yield row, first, reader.line_num
    except csv.Error as error:
        problem = (
            "a quote is not closed, or a field continues after its quote, until line "
            f"{reader.line_num} ({error}): {start_of(first_line)}"
        )
        remedy = "Close every quote, and double a quote inside of a quoted field"
        raise FileError(path, problem, remedy, first) from error
    finally:
        csv.field_size_limit(limit)


def _has_controls(array: Any) -> bool:
    """Return whether texts contain line ends, as after a quote that is not closed, or NUL."""
    data = array.buffers()[2]
    return bool(data) and bool(np.frombuffer(data, np.uint8).min() <= ord("\r"))


def _skip_blank(row: Any) -> str:
    """Skip lines of blanks, refuse other lines with a wrong number of fields."""
    return "skip" if row.actual_columns == 1 and not row.text.strip(' \t"') else "error"


def find_delimiter(sample: str, path: Path) -> str:
    r"""Return the delimiter that splits the records into the same number of fields.

    Of several it is the one with which most records agree with the first, then the one with more
    fields; a comma if the first record has none.

    Examples
    --------
    >>> find_delimiter("a;b\n1,5;2,5\n", Path("a.csv"))
    ';'
    """
    usual = ("\t", *DELIMITERS) if ".tsv" in path.suffixes else DELIMITERS
    return max(usual, key=lambda delimiter: _agreement(sample, delimiter))  # the first of equals


def _agreement(sample: str, delimiter: str) -> tuple[float, int]:
    widths: list[int] = []
    try:
        reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
        widths.extend(len(row) for row in islice(reader, SAMPLE_RECORDS) if row)
    except csv.Error:
        pass
    if len(widths) > 2:
        widths.pop()  # it may be cut off by the end of the sample
    if not widths or widths[0] < 2:
        return 0.0, 0
    return sum(width == widths[0] for width in widths) / len(widths), widths[0]


# -------------------------------------------------------------------------------------- JSON lines


class _Number(str):
    """A number of JSON as it is written."""

    __slots__ = ()


@dataclass(frozen=True)
class JsonLinesFile:
    """A file with a JSON object in each line, whose keys are the columns' names."""

    path: Path
    text: TextFormat

    @property
    def names(self) -> tuple[str, ...]:
        """The keys in the first megabyte, in their order."""
        rows = next(self._rows(2**20), {}).values()
        names = tuple(dict.fromkeys(key for row in rows for key in row))
        if not names:
            raise no_rows(self.path)
        return names

    def blocks(
        self,
        columns: Collection[str] | None = None,
        without: Collection[str] = (),
        size: int = BLOCK_BYTES,
        as_written: bool = False,
    ) -> Iterator[TextBlock]:
        """Yield the chosen columns of which keys were found so far."""
        import pyarrow as pa

        found: dict[str, None] = {}
        for rows in self._rows(size):
            found |= dict.fromkeys(key for row in rows.values() for key in row)
            block = TextBlock(len(rows), {}, {})
            for name in found:
                if (columns is None or name in columns) and name not in without:
                    texts, block.forms[name] = self._texts(name, rows)
                    block.columns[name] = pa.array(texts, pa.string())
            yield block
        if found:
            choose(self.path, tuple(found), columns, without)

    def _rows(self, size: int) -> Iterator[dict[int, dict[str, Any]]]:
        """Yield the objects of about `size` characters by the numbers of their lines."""
        as_written: Any = dict.fromkeys(("parse_float", "parse_int", "parse_constant"), _Number)
        decoder = json.JSONDecoder(**as_written)
        rows: dict[int, dict[str, Any]] = {}
        n_characters = 0
        for number, line in read_lines(self.path, self.text):
            if not line.isspace():
                rows[number] = self._object(decoder, number, line)
                n_characters += len(line)
            if n_characters >= size:
                yield rows
                rows, n_characters = {}, 0
        if rows:
            yield rows

    def _object(self, decoder: json.JSONDecoder, number: int, line: str) -> dict[str, Any]:
        problem = f"{start_of(line)} is no object"
        try:
            row = decoder.decode(line.strip())
            if isinstance(row, dict):
                return row
        except json.JSONDecodeError as error:
            problem = f"broken JSON at character {error.pos + 1} ({error.msg}): {start_of(line)}"
        except (ValueError, RecursionError) as error:
            problem = f"{error}: {start_of(line)}"
        remedy = 'Each line must hold one whole object, such as {"age": 31.5, "city": "Rome"}'
        raise FileError(self.path, problem, remedy, number)

    def _texts(self, name: str, rows: dict[int, dict[str, Any]]) -> tuple[list[str | None], Forms]:
        """Return the values of a key as they are written, and the forms that their types allow."""
        texts: list[str | None] = []
        types: set[type] = set()
        for number, row in rows.items():
            value = row.get(name)
            if isinstance(value, dict | list):
                what = "an object" if isinstance(value, dict) else "a list"
                problem = f"column {name!r} holds {what}"
                remedy = f"Flatten it (pandas.json_normalize), or exclude it: without=[{name!r}]"
                raise FileError(self.path, problem, remedy, number, ("without", name))
            if isinstance(value, bool):
                texts.append(str(value).lower())
            else:  # half a surrogate pair has no encoding
                texts.append(value and value.encode("utf-8", "backslashreplace").decode())
            if value is not None and str(value).strip() not in self.text.na_values:
                types.add(type(value))
        forms = {_Number: ("number",), bool: ("boolean",), str: ("moment", "clock")}
        return texts, forms[types.pop()] if len(types) == 1 else ()


# ------------------------------------------------------------------------------ values of a column


class ColumnBuilder:
    """A column that is read block by block.

    The first block with a value decides whether it holds numbers, booleans, times or texts. If a
    later one holds anything else, `is_mixed` is set, and the column has to be read again as texts.
    Values are kept in `spool` meanwhile, as many as its share among `n_columns` in memory; without
    a spool they are only examined.
    """

    def __init__(
        self,
        name: str,
        text: TextFormat,
        spool: ColumnStore | None = None,
        n_columns: int = 1,
        form: str | None = None,
    ) -> None:
        self.name, self.text, self.form = name, text, form
        self.mark: str | None = None  # the decimal mark that was found
        self.is_mixed = self.has_merged = False
        self.is_whole = True  # whole numbers only, of which float64 holds every one
        self._missing = frozenset(word.strip() for word in text.na_values)
        self._has_numeric_words = any(map(_NUMBER.fullmatch, self._missing))
        self._labels: dict[str, float] = {}  # with their codes, in the order of occurrence
        self._spool = spool
        self._most_buffered = max(1, BUFFERED_VALUES // n_columns)
        self._parts: list[FloatArray] = []
        self._n_spooled = self._n_buffered = 0

    def add(self, values: FloatArray | None) -> None:
        """Add values, None for those that do not have the form of the column."""
        if values is None or self.is_mixed:
            self.is_mixed, self.form = True, "text"
            self._parts.clear()
            return
        if self.is_whole:
            present = values[~np.isnan(values)]
            small = np.abs(present) < EXACT_INTEGERS
            self.is_whole = bool(np.all((present == np.floor(present)) & small))
        if self._spool is None:
            return
        self._parts.append(values)
        self._n_buffered += len(values)
        if self._n_buffered >= self._most_buffered:
            joined = np.concatenate(self._parts[self._n_spooled :])
            self._parts[self._n_spooled :] = [self._spool.keep(joined)]
            self._n_spooled, self._n_buffered = len(self._parts), 0

    def parse(self, texts: Any, forms: Forms = FORMS) -> FloatArray | None:
        """Return an Arrow array of strings in the form of the column, None if it has another.

        Texts become codes in the order of their first occurrence.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.form == "text":
            return self._codes(texts)
        if self.form == "number" and "number" in forms and not self._has_numeric_words:
            values = self._numbers(texts)  # mostly there are no words or blanks in it
            if values is not None:
                return values
        words = pa.array(sorted(self._missing), pa.string())
        is_missing = pc.is_in(pc.utf8_trim_whitespace(texts), words)
        present = pc.if_else(is_missing, pa.scalar(None, pa.string()), texts)
        if present.null_count == len(present):
            return np.full(len(present), np.nan)
        for form in forms if self.form is None else {self.form}.intersection(forms):
            values = self._numbers(present) if form == "number" else _PARSERS[form](present)
            if values is not None:
                self.form = form
                return values
        if self.form is None:
            self.form = "text"
            return self._codes(texts)
        return None

    def _numbers(self, texts: Any) -> FloatArray | None:
        import pyarrow.compute as pc

        mark = None
        if self.text.decimal != ".":
            marks = [m for m in ",." if pc.any(pc.match_substring(texts, m)).as_py()]
            mark = marks[0] if marks else None
            if len(marks) == 2 or (mark and mark != (self.text.decimal or self.mark or mark)):
                return None
            texts = pc.replace_substring(texts, ",", ".")
        numbers = parse_numbers(texts)
        if numbers is not None:
            self.mark = self.mark or mark
            if not self.has_merged:
                large = np.flatnonzero(np.abs(numbers) >= EXACT_INTEGERS)
                pairs = zip(texts.take(large).to_pylist(), numbers[large].tolist(), strict=True)
                self.has_merged = any(whole_number(text) != number for text, number in pairs)
        return numbers

    def _codes(self, texts: Any) -> FloatArray:
        encoded = texts.dictionary_encode()
        codes = [
            np.nan if self.is_missing(text) else self._labels.setdefault(text, len(self._labels))
            for text in encoded.dictionary.to_pylist()
        ]
        places = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return np.array([*codes, np.nan])[places]

    def is_missing(self, text: str | None) -> bool:
        """Return whether a text denotes a missing value."""
        return text is None or text.strip() in self._missing

    def finish(self) -> RawColumn:
        """Return the whole column; the codes of texts are in the order of the texts."""
        values = np.concatenate(self._parts) if self._parts else np.empty(0)
        match self.form:
            case "text":
                labels = sorted(self._labels)
                ranks = np.full(len(labels) + 1, np.nan)
                ranks[[int(self._labels[label]) for label in labels]] = np.arange(len(labels))
                places = np.where(np.isnan(values), -1, values).astype(np.int64)
                return RawColumn(self.name, "text", ranks[places], tuple(labels))
            case "boolean":
                return RawColumn(self.name, "bool", values, BOOLS)
            case "moment" | "clock":
                return RawColumn(self.name, "time", values)
        return RawColumn(self.name, "number", values)


def parse_numbers(texts: Any) -> FloatArray | None:
    """Return an Arrow array of texts as numbers, None if any is none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> parse_numbers(pa.array([" 3.5", "1e2", None, "-inf"]))
    array([  3.5, 100. ,   nan,  -inf])
    >>> parse_numbers(pa.array(["1_000"])) is None
    True
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = texts.cast(pa.float64())
    except pa.ArrowInvalid:
        try:
            numbers = pc.utf8_trim_whitespace(texts).cast(pa.float64())
        except pa.ArrowInvalid:
            return None
    odd = texts.filter(pc.is_nan(numbers)).unique().to_pylist()
    if any(text.strip().lower().lstrip("+-") != "nan" for text in odd):  # such as "nan(1)"
        return None
    return np.asarray(numbers.to_numpy(zero_copy_only=False))


def _booleans(texts: Any) -> FloatArray | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    places = pc.index_in(texts, pa.array(TRUTHS))
    if places.null_count != texts.null_count:
        return None
    return np.array([*TRUTHS.values(), np.nan])[places.fill_null(-1).to_numpy()]


def _moments(texts: Any) -> FloatArray | None:
    """Return ISO dates and times in seconds since 1970, in UTC unless a zone is written."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.all(pc.match_substring_regex(texts, _MOMENT)).as_py():
        return None
    texts = pc.replace_substring_regex(texts, r"(\.\d{6})\d+", r"\1")
    has_zone = pc.match_substring_regex(texts, r"(?:Z|[+-]\d\d:?\d\d)$")
    is_date = pc.equal(pc.utf8_length(texts), len("1970-01-01"))
    ends = pc.if_else(is_date, "T00:00:00Z", pc.if_else(has_zone, "", "Z"))
    try:
        moments = pc.binary_join_element_wise(texts, ends, "").cast(pa.timestamp("us", "UTC"))
    except pa.ArrowInvalid:  # the 30th of February
        return None
    return np.asarray(moments.cast("int64").to_numpy(zero_copy_only=False) / 1e6)


def _clocks(texts: Any) -> FloatArray | None:
    """Return times of day, such as 08:30 or 08:30:05, in seconds."""
    import pyarrow.compute as pc

    if not pc.all(pc.match_substring_regex(texts, f"^{_CLOCK}$")).as_py():
        return None
    return _moments(pc.binary_join_element_wise("1970-01-01T", texts, ""))


_PARSERS: dict[str, Any] = {"boolean": _booleans, "moment": _moments, "clock": _clocks}


def whole_number(value: Any) -> int | float:
    """Return a number that is written without decimals as an int, others as floats."""
    try:
        return int(value) if not isinstance(value, float) else value
    except ValueError:
        return float(value)


# ---------------------------------------------------------------------------------- whole columns


TextFile = DelimitedFile | JsonLinesFile


def open_text(path: Path, text: TextFormat | None) -> TextFile:
    """Open a text file: read its header, detect delimiter and decimal mark."""
    text = text or TextFormat()
    if text_suffix(path) in JSON_LINES:
        return JsonLinesFile(path, replace(text, delimiter=None, decimal="."))
    return open_delimited(path, text)


def build_columns(
    file: TextFile,
    columns: Collection[str] | None = None,
    without: Collection[str] = (),
    spool: ColumnStore | None = None,
    form: str | None = None,
    size: int = BLOCK_BYTES,
) -> dict[str, ColumnBuilder]:
    """Read the chosen columns from beginning to end; without a spool only find their forms."""
    builders: dict[str, ColumnBuilder] = {}
    n_rows = 0
    for block in file.blocks(columns, without, size):
        for name, array in block.columns.items():
            if name not in builders:  # a new key of JSON may occur in any line
                builders[name] = ColumnBuilder(name, file.text, spool, len(block.columns), form)
                builders[name].add(np.full(n_rows, np.nan))
            builder = builders[name]
            if not builder.is_mixed:
                builder.add(builder.parse(array, block.forms[name]))
        n_rows += block.n_rows
    if not builders:
        raise no_rows(file.path)
    marks = {builder.mark: name for name, builder in builders.items() if not builder.is_mixed}
    if "," in marks and "." in marks:
        problem = f"column {marks[',']!r} has decimal commas, column {marks['.']!r} decimal points"
        remedy = "State decimal=',' or decimal='.'; columns with the other mark are read as text"
        raise FileError(file.path, problem, remedy, setting=("decimal", ","))
    return builders


def read_text(
    path: Path,
    store: ColumnStore,
    columns: Collection[str] | None,
    without: Collection[str],
    text: TextFormat | None,
    size: int = BLOCK_BYTES,
) -> tuple[RawColumn, ...]:
    """Read columns of a text file into the store, and warn of texts that are likely numbers."""
    file = open_text(path, text)
    spool = ColumnStore(store.max_bytes // SPOOL_SHARE)
    builders = build_columns(file, columns, without, spool, size=size)
    again = [name for name, builder in builders.items() if builder.is_mixed or builder.has_merged]
    texts = build_columns(file, again, (), spool, "text", size) if again else {}
    raws = []
    for name, builder in builders.items():
        if builder.is_mixed:
            builder = texts[name]
        elif builder.has_merged:  # this warns where different numbers become equal
            labels = texts[name].finish().labels or ()
            from_objects(name, [whole_number(label.replace(",", ".")) for label in labels])
        raws.append(keep(builder.finish(), store))
    if isinstance(file, DelimitedFile):  # in JSON, a number in quotes is meant as a text
        is_stated = text is not None and text.decimal is not None
        _warn_of_numbers(raws, may_be_comma=not is_stated and file.text.decimal == ".")
    return tuple(raws)


def _warn_of_numbers(raws: Iterable[RawColumn], may_be_comma: bool) -> None:
    """Warn of texts that are numbers but for a decimal comma, a sign, or a few words."""
    found: dict[tuple[str, Setting | None], list[str]] = {}
    for raw in raws:
        if raw.form != "text" or not raw.labels:
            continue
        if all(map(_WITH_COMMA.fullmatch, raw.labels)):
            advice = "State decimal=',' if the comma is the decimal mark, remove it otherwise"
            setting: Setting | None = ("decimal", ",")
            if not may_be_comma:
                continue
        elif all(map(_WITH_SIGNS.fullmatch, raw.labels)):
            advice = "Remove signs, separators of thousands or other decimal marks"
            setting = None
        elif words := words_among_numbers(raw.labels):
            setting = ("na_values", tuple(word.strip() for word in words))
            advice = f"If {quoted(words)} denote missing values, state na_values={setting[1]}"
        else:
            continue
        found.setdefault((advice, setting), []).append(raw.name)
    for (advice, setting), names in found.items():
        message = f"columns were read as text that look like numbers: {quoted(names)}. {advice}"
        warn_caller(TextColumnWarning(message, names, setting))


def words_among_numbers(labels: Sequence[str]) -> list[str]:
    """Return the few labels that are no numbers, none if there are more.

    Examples
    --------
    >>> words_among_numbers(["1", "2", "3.5", "4", "?"])
    ['?']
    >>> words_among_numbers(["1", "few", "some", "many"])
    []
    """
    others = (label for label in labels if not _NUMBER.fullmatch(label))
    words = list(islice(others, MOST_WORDS + 1))
    enough = len(labels) - len(words) >= NUMBERS_PER_WORD * len(words)
    return words if len(words) <= MOST_WORDS and enough else []
