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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, count, islice
from pathlib import Path
from typing import IO, Any, cast

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

#: Bytes of text that are parsed together, which are also the most of a record. A wide table is
#: parsed in larger blocks.
BLOCK_BYTES = 2**22
WIDE_BLOCK_BYTES = 2**26
ROWS_OF_A_BLOCK = 2**7

#: The longest line in characters and the most columns: they bound the memory that a file can take.
LONGEST_LINE = 2**26
MOST_COLUMNS = 2**20

#: The delimiter is detected in so many characters and records.
SAMPLE_CHARACTERS = 2**16
SAMPLE_RECORDS = 200

#: The part of the memory for columns that is used until they are complete.
SPOOL_SHARE = 4

#: Values of all columns that are collected in memory before they go to the column store.
BUFFERED_VALUES = 2**22

#: So many different words among numbers may denote missing values, if each is outnumbered by so
#: many numbers.
MOST_WORDS, NUMBERS_PER_WORD = 2, 4

#: First bytes of files that are no text, with their format and the end of their names.
SIGNATURES = {
    b"PAR1": ("a Parquet file", ".parquet"),
    b"ARROW1": ("an Arrow file", ".arrow"),
    b"\x93NUMPY": ("a NumPy array", ".npy"),
    b"\x1f\x8b": ("compressed by gzip", PACKED),
}

_NUMBER = re.compile(r"\s*[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
_WITH_COMMA = re.compile(r"\s*[+-]?\d+(?:,\d+)*\s*", re.ASCII)
_ESCAPED = re.compile("[\udc80-\udcff]")
_THOUSANDS = r"(?:[0-9]{1,3}(?:[.,'\s][0-9]{3})+|[0-9]+)(?:[.,][0-9]+)?"
_WITH_SIGNS = re.compile(rf"\s*[+-]?[$€£]?\s?{_THOUSANDS}\s?[%$€£]?\s*")

# For RE2, which pyarrow uses.
_YEAR = r"(?:[1-9]\d{3}|0[1-9]\d\d|00[1-9]\d|000[1-9])"
_CLOCK = r"\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?"
_MOMENT = rf"^{_YEAR}-\d\d-\d\d(?:[T ]{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?)?$"
TRUTHS = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}


Forms = tuple[str, ...]

#: What a column may hold unless it holds texts; no text has two of these forms.
FORMS: Forms = ("number", "boolean", "moment", "clock")


class FileError(ValueError):
    """A file that cannot be read or written.

    Attributes
    ----------
    path : str
    problem, remedy : str
        What is wrong, and what to do about it.
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
        setting: tuple[str, object] | None = None,
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
        The parameter of `TextFormat` that reads them as numbers, with its value.
    """

    def __init__(
        self, message: str, columns: Sequence[str], setting: tuple[str, object] | None = None
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
    """Return the suffix of a file's name, without that of its compression.

    Examples
    --------
    >>> text_suffix(Path("table.CSV.gz"))
    '.csv'
    """
    is_packed = path.suffix.lower() == PACKED
    return (Path(path.stem).suffix if is_packed else path.suffix).lower()


def is_text(path: Path) -> bool:
    """Return whether a file is text, by its name."""
    return text_suffix(path) in (*DELIMITED, *JSON_LINES)


def start_of(line: str, length: int = 60) -> str:
    """Return the beginning of a line, quoted, for messages."""
    bare = line.rstrip("\r\n")
    return repr(bare[:length]) + ("..." if len(bare) > length else "")


# ------------------------------------------------------------------------------------------- lines


def read_lines(path: Path, text: TextFormat) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers; name the line of what is no text."""
    with _opened(path) as file, _reading_text(path):
        _check_signature(path, file.read(8), text.encoding)
        file.seek(0)
        # Bytes that are not in the encoding become half surrogate pairs, which no text contains.
        wrapper = io.TextIOWrapper(file, _codec(text), "surrogateescape", newline="")
        for number in count(1):
            line = wrapper.readline(LONGEST_LINE)
            if not line:
                return
            if len(line) == LONGEST_LINE:
                raise FileError(
                    path,
                    f"the line is longer than {LONGEST_LINE:,} characters: {start_of(line)}",
                    "The file has no line ends, or is no table",
                    number,
                )
            if not line.isascii() and (wrong := _ESCAPED.search(line)):
                raise _wrong_encoding(path, text, number, ord(wrong[0]) - 0xDC00)
            if "\0" in line:
                raise FileError(
                    path,
                    "there is a NUL byte, which no text contains",
                    "State encoding='utf-16' if that is the encoding; otherwise the file is "
                    "damaged or no text",
                    number,
                    ("encoding", "utf-16"),
                )
            yield number, line


def _codec(text: TextFormat) -> str:
    is_utf8 = codecs.lookup(text.encoding).name == "utf-8"
    return "utf-8-sig" if is_utf8 else text.encoding  # which accepts a byte order mark


def _opened(path: Path) -> IO[bytes]:
    if path.suffix.lower() == PACKED:
        return cast(IO[bytes], gzip.open(path, "rb"))
    return path.open("rb")


@contextmanager
def _reading_text(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        if path.suffix.lower() != PACKED:
            raise
        raise FileError(
            path,
            f"it cannot be decompressed ({error}): it is truncated, damaged, or no gzip file",
            "Copy or download it again, or correct its name",
        ) from error
    except UnicodeError as error:  # of encodings in which no single byte is wrong
        raise FileError(path, f"it is damaged: {error}", "Check the encoding") from error


def _check_signature(path: Path, first: bytes, encoding: str) -> None:
    """Refuse what is no text, or text in another encoding than stated, by its first bytes."""
    is_wide = codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))
    if first[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) and not is_wide:
        raise FileError(
            path,
            f"it is not {encoding}: it begins with the byte order mark of UTF-16",
            "State encoding='utf-16', or save it as UTF-8",
            setting=("encoding", "utf-16"),
        )
    for signature, (what, ending) in SIGNATURES.items():
        if first.startswith(signature):
            name = f"{path}{ending}" if ending == PACKED else path.with_suffix(ending)
            raise FileError(path, f"it is no text but {what}", f"Rename it to {str(name)!r}")
    if first.startswith(b"PK\x03\x04"):
        raise FileError(
            path, "it is no text but a zip archive or a spreadsheet", "Unpack it, or save it as CSV"
        )


def _wrong_encoding(path: Path, text: TextFormat, line: int, byte: int) -> FileError:
    other = "latin-1" if codecs.lookup(text.encoding).name != "iso8859-1" else "utf-8"
    return FileError(
        path,
        f"byte 0x{byte:02x} is not {text.encoding}",
        f"State the encoding, for example encoding={other!r}; spreadsheets of western languages "
        "often use 'cp1252'",
        line,
        ("encoding", other),
    )


class _Recoded(io.RawIOBase):
    """The bytes of a text file in UTF-8.

    `is_plain` tells afterwards whether quotes enclosed whole fields, so that all CSV readers agree.
    """

    def __init__(self, path: Path, text: TextFormat) -> None:
        self._file, self._path, self.is_plain = _opened(path), path, True
        self._decoder = codecs.getincrementaldecoder(_codec(text))()
        self._around = np.frombuffer(f'{text.delimiter}\r\n"'.encode(), np.uint8)
        self._rest, self._is_inside, self._is_at_end = b"\n", False, False

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def read(self, size: int = -1) -> bytes:
        with _reading_text(self._path):
            chunk = self._file.read(size)
        data = self._decoder.decode(chunk, final=not chunk).encode("utf-8", "backslashreplace")
        if b"\0" in data:
            raise UnicodeError("there is a NUL byte")
        if not chunk and not self._is_at_end:
            data, self._is_at_end = data + b"\n", True
        if self.is_plain:
            self._look_at_quotes(data)
        if self._is_at_end:
            self.is_plain = self.is_plain and not self._is_inside
        return data if data or not chunk else self.read(size)

    def _look_at_quotes(self, data: bytes) -> None:
        """Check what is before each opening and after each closing quote."""
        window = self._rest + data  # its first and its last byte are only looked at
        self._rest = window[-2:]
        if b'"' not in window:
            return
        codes = np.frombuffer(window, np.uint8)
        quotes = np.flatnonzero(codes[1:-1] == ord('"')) + 1
        opening, closing = quotes[self._is_inside :: 2], quotes[not self._is_inside :: 2]
        beside = np.concatenate([codes[opening - 1], codes[closing + 1]])
        self._is_inside ^= len(quotes) % 2 == 1
        self.is_plain = bool(np.isin(beside, self._around).all())


# ------------------------------------------------------------------------------- delimited fields


@dataclass(frozen=True)
class DelimitedFile:
    """A file of delimited fields with a header.

    Parameters
    ----------
    path : Path
    text : TextFormat
        With its delimiter; without a decimal mark where either may occur.
    fields : tuple of str
        The header's fields as they are written.
    names : tuple of str
        The fields without blanks around them; "column 1" for the first if it is empty, and so on.
    n_header_lines : int
    """

    path: Path
    text: TextFormat
    fields: tuple[str, ...]
    names: tuple[str, ...]
    n_header_lines: int

    @classmethod
    def open(cls, path: Path, text: TextFormat) -> DelimitedFile:
        """Read the header, and detect the delimiter unless it is stated."""
        sample = "".join(line for _, line in _first_lines(path, text))
        delimiter = text.delimiter or find_delimiter(sample, path)
        decimal = text.decimal or (None if delimiter == ";" else ".")
        full = replace(text, delimiter=delimiter, decimal=decimal)
        if sample.lstrip().partition("\n")[0].count(delimiter) >= MOST_COLUMNS:
            raise FileError(
                path,
                f"the header has more than {MOST_COLUMNS:,} fields (the delimiter is "
                f"{delimiter!r})",
                "Save a table of so many columns as a NumPy array (.npy)",
                1,
            )
        header, _, n_lines = next(cls(path, full, (), (), 0)._records(), ([], 0, 0))
        if not header:
            raise FileError(
                path, "it is empty", "A table has a line with the names of its columns, then rows"
            )
        _check_header(path, header, delimiter)
        names = tuple(field.strip() or f"column {i}" for i, field in enumerate(header, 1))
        if doubles := [name for name, count in Counter(names).items() if count > 1]:
            raise FileError(
                path,
                f"column names must be unique, but the header repeats {quoted(doubles)}",
                "Rename them. A file whose first line holds values needs a line of names above it",
                1,
            )
        return cls(path, full, tuple(header), names, n_lines)

    def tables(self, names: Sequence[str], size: int = BLOCK_BYTES) -> Iterator[list[Any]]:
        """Yield columns as arrays of strings, block by block."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        size = max(size, min(WIDE_BLOCK_BYTES, ROWS_OF_A_BLOCK * sum(map(len, self.fields))))
        places = {name: str(place) for place, name in enumerate(self.names)}
        wanted = [places[name] for name in names]
        with _Recoded(self.path, self.text) as source:
            try:
                reader = arrow_csv.open_csv(
                    pa.PythonFile(source, "r"),
                    arrow_csv.ReadOptions(
                        column_names=list(places.values()),
                        skip_rows=self.n_header_lines,
                        block_size=size,
                    ),
                    arrow_csv.ParseOptions(
                        delimiter=self._delimiter,
                        newlines_in_values=True,
                        invalid_row_handler=_skip_blank,
                    ),
                    arrow_csv.ConvertOptions(
                        check_utf8=False,
                        column_types=dict.fromkeys(wanted, pa.string()),
                        strings_can_be_null=False,
                        include_columns=wanted,
                    ),
                )
                for batch in reader:
                    if batch.num_rows:
                        yield batch.columns
            except (pa.ArrowInvalid, UnicodeError) as error:
                self.check()
                raise FileError(
                    self.path,
                    f"a record is longer than {size:,} bytes ({error})",
                    "Shorten it, or save the table as Parquet",
                ) from error
            if not source.is_plain:
                self.check()

    def check(self) -> None:
        """Read all records by Python's `csv`, to name the line of the first fault."""
        for row, line, _ in self._records():
            is_blank = len(row) == 1 and not row[0].strip()
            if len(row) != len(self.names) and not is_blank:
                raise self._wrong_width(line, row)

    def _records(self) -> Iterator[tuple[list[str], int, int]]:
        """Yield records that are not empty, with the numbers of their first and last line."""
        record: list[str] = []
        is_at_end = False

        def lines() -> Iterator[str]:
            nonlocal is_at_end
            for _, line in read_lines(self.path, self.text):
                record.append(line)
                yield line
            is_at_end = True

        reader = csv.reader(lines(), delimiter=self._delimiter, strict=True)
        while True:
            first = reader.line_num + 1
            record.clear()
            try:
                row = next(reader, None)
            except csv.Error as error:
                raise self._wrong_quote(first, reader.line_num, record, is_at_end) from error
            if row is None:
                return
            if row:
                yield row, first, reader.line_num

    @property
    def _delimiter(self) -> str:
        return self.text.delimiter or ","

    def _wrong_width(self, line: int, row: list[str]) -> FileError:
        found, width = len(row), len(self.names)
        setting: tuple[str, object] | None = None
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
        return FileError(
            self.path,
            f"found {found} field{'s' * (found != 1)} where the header has {width} (the delimiter "
            f"is {self._delimiter!r}): {start_of(self._delimiter.join(row))}",
            f"Correct this line; {remedy}",
            line,
            setting,
        )

    def _wrong_quote(
        self, first: int, last: int, record: Sequence[str], is_at_end: bool
    ) -> FileError:
        if is_at_end:
            problem = f"a quote is opened and not closed before the file ends in line {last}"
            remedy = "Close it"
        elif sum(map(len, record)) > csv.field_size_limit():
            problem = f"a field is longer than {csv.field_size_limit():,} characters"
            remedy = "Close the quote, if one is open; csv.field_size_limit(n) allows longer fields"
        else:
            problem = f"a quoted field continues after its closing quote in line {last}"
            remedy = "Close every quote, and double a quote inside of a quoted field"
        return FileError(self.path, f"{problem}: {start_of(record[0])}", remedy, first)


def _first_lines(path: Path, text: TextFormat) -> Iterator[tuple[int, str]]:
    n_characters = 0
    for number, line in read_lines(path, text):
        yield number, line
        n_characters += len(line)
        if n_characters > SAMPLE_CHARACTERS:
            return


def _skip_blank(row: Any) -> str:
    """Skip lines of blanks, refuse other lines with a wrong number of fields."""
    return "skip" if row.actual_columns == 1 and not row.text.strip(' \t"') else "error"


def _check_header(path: Path, fields: Sequence[str], delimiter: str) -> None:
    """Refuse a first line that names no columns."""
    shown = start_of(delimiter.join(fields))
    remedy = "Write a line with the names of the columns above the rows"
    if not any(map(str.strip, fields)):
        raise FileError(path, f"{shown} names no column", remedy, 1)
    if fields[0].lower().startswith("sep=") and len(fields) <= 2:
        raise FileError(path, f"{shown} is a note for spreadsheets", "Delete this line", 1)
    numbers = [number for field in fields if (number := to_number(field)) is not None]
    if len(numbers) == len(fields) and any(number != np.floor(number) for number in numbers):
        raise FileError(path, f"{shown} contains numbers only, and no column names", remedy, 1)


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

    def first_names(self) -> tuple[str, ...]:
        """Return the keys in the beginning of the file, in their order."""
        met: dict[str, None] = {}
        next(self.tables(ColumnChoice(), met, 2**20), None)
        if not met:
            raise no_rows(self.path)
        return tuple(met)

    def tables(
        self, choice: ColumnChoice, met: dict[str, None], size: int = BLOCK_BYTES
    ) -> Iterator[tuple[int, dict[str, tuple[Any, Forms]]]]:
        """Yield the number of rows of a block, and its columns with the forms they may have.

        Columns are arrays of strings as they are written, null where there is no value; `met`
        collects all keys of the file.
        """
        as_written: Any = dict.fromkeys(("parse_float", "parse_int", "parse_constant"), _Number)
        decoder = json.JSONDecoder(**as_written)
        numbered = read_lines(self.path, self.text)
        while lines := dict(_some_lines(numbered, size)):
            rows = [self._object(decoder, number, line) for number, line in lines.items()]
            met |= dict.fromkeys(chain.from_iterable(rows))
            columns = {}
            for name in filter(choice.has, met):
                values = [row.get(name) for row in rows]
                self._check_flat(name, lines, values)
                columns[name] = self._typed(values)
            yield len(rows), columns

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

    def _check_flat(self, name: str, lines: Iterable[int], values: Sequence[Any]) -> None:
        for number, value in zip(lines, values, strict=True):
            if isinstance(value, dict | list):
                what = "an object" if isinstance(value, dict) else "a list"
                raise FileError(
                    self.path,
                    f"column {name!r} holds {what}",
                    f"Flatten it (pandas.json_normalize), or exclude it: without=[{name!r}]",
                    number,
                    ("without", name),
                )

    def _typed(self, values: list[Any]) -> tuple[Any, Forms]:
        words = self.text.na_values
        types = {type(v) for v in values if type(v) is not str or v.strip() not in words}
        forms = {_Number: ("number",), bool: ("boolean",), str: ("moment", "clock")}
        types.discard(type(None))
        texts = [str(v).lower() if isinstance(v, bool) else v for v in values]
        try:
            array = _strings(texts)
        except UnicodeEncodeError:  # half a surrogate pair
            array = _strings([v and v.encode("utf-8", "backslashreplace").decode() for v in texts])
        return array, forms[types.pop()] if len(types) == 1 else ()


def _some_lines(lines: Iterator[tuple[int, str]], size: int) -> Iterator[tuple[int, str]]:
    """Yield lines that are not blank, until they have `size` characters."""
    for number, line in lines:
        if not line.isspace():
            yield number, line
            size -= len(line)
        if size <= 0:
            return


def _strings(values: Sequence[str | None]) -> Any:
    import pyarrow as pa

    return pa.array(values, pa.string())


def no_rows(path: object) -> FileError:
    """Return the error for a file without rows."""
    return FileError(path, "it has no rows", "Choose a file with at least one row of values")


def changed(path: object) -> FileError:
    """Return the error for a file that differs between two readings."""
    return FileError(path, "it changed while it was read", "Read it again when it is complete")


# ------------------------------------------------------------------------------ values of a column


class ColumnBuilder:
    """A column that is read block by block.

    The first block with a value decides whether it holds numbers, booleans, times or texts. If a
    later one holds anything else, `is_mixed` is set, and the column has to be read again as texts.

    Parameters
    ----------
    name : str
    text : TextFormat
        With a decimal mark, or without one where either may occur.
    spool : ColumnStore, optional
        Where values are kept meanwhile; without one they are only examined.
    n_columns : int
        How many columns are read at a time.
    form : str, optional
        What the column holds, if that is known.
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
        self._codes = _Codes(text.na_values)
        numbers = (to_number(word) for word in text.na_values)
        self._has_numeric_words = any(n is not None and not np.isnan(n) for n in numbers)
        self._spool = spool
        self._most_buffered = max(1, BUFFERED_VALUES // max(1, n_columns))
        self._parts: list[FloatArray] = []
        self._n_spooled = self._n_buffered = 0

    def add(self, array: Any, forms: Forms = FORMS) -> None:
        """Add an Arrow array of strings, which may have one of these forms."""
        if not self.is_mixed:
            self._append(self.parse(array, forms))

    def add_missing(self, count: int) -> None:
        """Add missing values."""
        if count and not self.is_mixed:
            self._append(np.full(count, np.nan))

    def parse(self, array: Any, forms: Forms = FORMS) -> FloatArray | None:
        """Return the values in the form of the column, None if they do not have it.

        Texts become codes in the order of their first occurrence.
        """
        if self.form == "text":
            return self._codes.of(array)
        for present in self._present(array):
            if present.null_count == len(present):
                return np.full(len(present), np.nan)
            for form in forms if self.form is None else {self.form}.intersection(forms):
                values = self._numbers(present) if form == "number" else _PARSERS[form](present)
                if values is not None:
                    self.form = form
                    return values
        if self.form is None:
            self.form = "text"
            return self._codes.of(array)
        return None

    def _present(self, texts: Any) -> Iterator[Any]:
        """Yield the texts with null for missing values, as they are found with ever more effort."""
        import pyarrow as pa
        import pyarrow.compute as pc

        words, null = pa.array(self.text.na_values, pa.string()), pa.scalar(None, pa.string())
        if self.form == "number" and not self._has_numeric_words:
            yield texts
        gone = pc.is_in(texts, words)
        if not self._has_numeric_words:
            yield pc.if_else(gone, null, texts)
        gone = pc.or_(gone, pc.is_in(pc.utf8_trim_whitespace(texts), words))
        yield pc.if_else(gone, null, texts)

    def settled(self) -> ColumnBuilder:
        """Return an empty column of the form that this one was found to have."""
        other = ColumnBuilder(self.name, self.text, form="text" if self.is_mixed else self.form)
        other.mark, other.is_whole = self.mark, self.is_whole
        other.has_merged = self.has_merged
        return other

    def finish(self) -> RawColumn:
        """Return the whole column; the codes of texts are in the order of the texts."""
        values = np.concatenate(self._parts) if self._parts else np.empty(0)
        match self.form:
            case "text":
                return self._codes.finish(self.name, values)
            case "boolean":
                return RawColumn(self.name, "bool", values, BOOLS)
            case "moment" | "clock":
                return RawColumn(self.name, "time", values)
        return RawColumn(self.name, "number", values)

    def is_missing(self, text: str | None) -> bool:
        """Return whether a text denotes a missing value."""
        return text is None or text in self._codes.missing or text.strip() in self._codes.missing

    def _numbers(self, texts: Any) -> FloatArray | None:
        import pyarrow.compute as pc

        mark = None
        if self.text.decimal != ".":
            marks = [m for m in ",." if pc.any(pc.match_substring(texts, m)).as_py()]
            if len(marks) == 2:
                return None
            mark = marks[0] if marks else None
            if mark is not None and mark != (self.text.decimal or self.mark or mark):
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

    def _append(self, values: FloatArray | None) -> None:
        if values is None:
            self.is_mixed = True
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


class _Codes(dict[str | None, float]):
    """The code of each text in the order of their first occurrence, NaN for missing values."""

    def __init__(self, missing: Iterable[str]) -> None:
        super().__init__({None: np.nan})
        self.missing = frozenset(missing)
        self.labels: list[str] = []

    def __missing__(self, text: Any) -> float:
        is_missing = text in self.missing or text.strip() in self.missing
        code = np.nan if is_missing else float(len(self.labels))
        if not is_missing:
            self.labels.append(text)
        self[text] = code
        return code

    def of(self, texts: Any) -> FloatArray:
        """Return the codes of an Arrow array of strings."""
        encoded = texts.dictionary_encode()
        codes = np.array([*map(self.__getitem__, encoded.dictionary.to_pylist()), np.nan])
        return codes[encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]

    def finish(self, name: str, codes: FloatArray) -> RawColumn:
        """Return the column with codes in the order of the texts."""
        order = sorted(range(len(self.labels)), key=self.labels.__getitem__)
        ranks = np.full(len(order) + 1, np.nan)
        ranks[order] = np.arange(len(order))
        values = ranks[np.where(np.isnan(codes), -1, codes).astype(np.int64)]
        return RawColumn(name, "text", values, tuple(self.labels[place] for place in order))


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
    odd = texts.filter(pc.is_nan(numbers)).to_pylist()  # "nan(1)" is no number
    if any(to_number(text) is None for text in odd):
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
    ticks = _microseconds(texts, _MOMENT)
    return None if ticks is None else ticks / 1e6


def _clocks(texts: Any) -> FloatArray | None:
    """Return times of day, such as 08:30 or 08:30:05, in seconds."""
    ticks = _microseconds(texts, f"^{_CLOCK}$", "1970-01-01T")
    return None if ticks is None else ticks // 1e6 + ticks % 1e6 / 1e6


def _microseconds(texts: Any, pattern: str, prefix: str = "") -> FloatArray | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.all(pc.match_substring_regex(texts, pattern)).as_py():
        return None
    texts = pc.binary_join_element_wise(prefix, texts, "")
    texts = pc.replace_substring_regex(texts, r"(\.\d{6})\d+", r"\1")
    has_zone = pc.match_substring_regex(texts, r"(?:Z|[+-]\d\d:?\d\d)$")
    is_date = pc.equal(pc.utf8_length(texts), len("1970-01-01"))
    ends = pc.if_else(has_zone, "", pc.if_else(is_date, "T00:00:00Z", "Z"))
    try:
        whole = pc.binary_join_element_wise(texts, ends, "")
        times = whole.cast(pa.timestamp("us", "UTC")).cast("int64")
    except pa.ArrowInvalid:  # the 30th of February
        return None
    return np.asarray(times.to_numpy(zero_copy_only=False), dtype=np.float64)


_PARSERS: Mapping[str, Any] = {"boolean": _booleans, "moment": _moments, "clock": _clocks}


def to_number(text: str) -> float | None:
    """Return a number as Python reads it, without underscores and in ASCII digits, or None."""
    try:
        return float(text) if "_" not in text and text.strip().isascii() else None
    except ValueError:
        return None


def whole_number(value: Any) -> int | float:
    """Return a number that is written without decimals as an int, others as floats.

    Examples
    --------
    >>> whole_number(" 12"), whole_number("1e3")
    (12, 1000.0)
    """
    try:
        return int(value) if not isinstance(value, float) else value
    except ValueError:
        return float(value)


# ---------------------------------------------------------------------------------- whole columns


@dataclass(frozen=True)
class ColumnChoice:
    """Which columns of a file are wanted: all, or `columns`, but for `without`."""

    columns: frozenset[str] | None = None
    without: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, columns: str | Iterable[str] | None = None, without: str | Iterable[str] = ()
    ) -> ColumnChoice:
        """Return the choice of one name or several."""
        one, other = (
            None if names is None else frozenset([names] if isinstance(names, str) else names)
            for names in (columns, without)
        )
        return cls(one, other or frozenset())

    def has(self, name: str) -> bool:
        """Return whether a column is wanted."""
        return (self.columns is None or name in self.columns) and name not in self.without

    def among(self, names: Sequence[str], path: object) -> tuple[str, ...]:
        """Return the wanted ones of these names, in their order."""
        for name in sorted({*(self.columns or ()), *self.without} - set(names)):
            raise FileError(
                path,
                f"it has no column {name!r}{did_you_mean(name, names)}",
                "Use the names of the header",
            )
        left = tuple(filter(self.has, names))
        if not left:
            raise FileError(path, "no column is left", f"It has the columns {quoted(names)}")
        return left


TextFile = DelimitedFile | JsonLinesFile


def open_text(path: Path, text: TextFormat | None) -> TextFile:
    """Open a text file: read its header, detect delimiter and decimal mark."""
    text = text or TextFormat()
    if text_suffix(path) in JSON_LINES:
        return JsonLinesFile(path, replace(text, delimiter=None, decimal="."))
    return DelimitedFile.open(path, text)


def build_columns(
    file: TextFile,
    choice: ColumnChoice,
    spool: ColumnStore | None = None,
    as_text: bool = False,
    size: int = BLOCK_BYTES,
) -> dict[str, ColumnBuilder]:
    """Read the chosen columns from beginning to end.

    Parameters
    ----------
    file : DelimitedFile or JsonLinesFile
    choice : ColumnChoice
    spool : ColumnStore, optional
        Where values are kept meanwhile; without one only the forms of the columns are found.
    as_text : bool
        Whether all columns are texts, whatever they look like.
    size : int
        Bytes of text that are parsed together.
    """
    form = "text" if as_text else None
    n_rows = 0
    columns: dict[str, ColumnBuilder] = {}
    if isinstance(file, DelimitedFile):
        names = choice.among(file.names, file.path)
        columns = {n: ColumnBuilder(n, file.text, spool, len(names), form) for n in names}
        for arrays in file.tables(names, size):
            n_rows += len(arrays[0])
            for builder, array in zip(columns.values(), arrays, strict=True):
                builder.add(array)
    else:
        met: dict[str, None] = {}
        for n_new, found in file.tables(choice, met, size):
            for name, (array, forms) in found.items():
                if name not in columns:  # a new key may occur in any line
                    columns[name] = ColumnBuilder(name, file.text, spool, len(found), form)
                    columns[name].add_missing(n_rows)
                columns[name].add(array, forms)
            n_rows += n_new
        if met:
            choice.among(tuple(met), file.path)
    if not n_rows or not columns:
        raise no_rows(file.path)
    _check_marks(file.path, columns.values())
    return columns


def read_text(
    path: Path,
    store: ColumnStore,
    choice: ColumnChoice,
    text: TextFormat | None,
    size: int = BLOCK_BYTES,
) -> tuple[RawColumn, ...]:
    """Read columns of a text file into the store, and warn of texts that are likely numbers."""
    file = open_text(path, text)
    spool = ColumnStore(store.max_bytes // SPOOL_SHARE)
    columns = build_columns(file, choice, spool, size=size)
    doubtful = [name for name, column in columns.items() if column.is_mixed or column.has_merged]
    texts = {}
    if doubtful:
        texts = build_columns(file, ColumnChoice.of(doubtful), spool, as_text=True, size=size)
    raws = []
    for name, column in columns.items():
        if column.is_mixed:
            column = texts[name]
        elif column.has_merged:  # this warns where different numbers become equal
            labels = texts[name].finish().labels or ()
            from_objects(name, [whole_number(label.replace(",", ".")) for label in labels])
        raws.append(keep(column.finish(), store))
    if isinstance(file, DelimitedFile):  # in JSON, a number in quotes is meant as a text
        is_stated = text is not None and text.decimal is not None
        unread = [raw for raw in raws if raw.form == "text" and raw.labels]
        _warn_of_numbers(unread, may_be_comma=not is_stated and file.text.decimal == ".")
    return tuple(raws)


def _check_marks(path: Path, columns: Iterable[ColumnBuilder]) -> None:
    """Refuse a file in which both the point and the comma are decimal marks."""
    found = {column.mark: column.name for column in columns if not column.is_mixed}
    if "," in found and "." in found:
        raise FileError(
            path,
            f"column {found[',']!r} has numbers with a decimal comma, column {found['.']!r} with a "
            "decimal point",
            "State which it is, decimal=',' or decimal='.'; columns with the other mark are then "
            "read as text",
            setting=("decimal", ","),
        )


def _warn_of_numbers(texts: Sequence[RawColumn], may_be_comma: bool) -> None:
    """Warn of texts that are numbers but for a decimal comma, a sign, or a few words."""
    with_comma = [raw.name for raw in texts if _all_match(_WITH_COMMA, raw)]
    with_signs = [raw.name for raw in texts if _all_match(_WITH_SIGNS, raw)]
    if with_comma and may_be_comma:
        warn_caller(
            TextColumnWarning(
                "columns were read as text that look like numbers with a comma: "
                f"{quoted(with_comma)}. State decimal=',' if it is the decimal mark; remove it if "
                "it separates thousands",
                with_comma,
                ("decimal", ","),
            )
        )
    if others := [name for name in with_signs if name not in with_comma]:
        warn_caller(
            TextColumnWarning(
                "columns were read as text that look like numbers with a sign, separated "
                f"thousands or another decimal mark: {quoted(others)}. Remove these to have them "
                "read as numbers",
                others,
            )
        )
    for raw in texts:
        if words := words_among_numbers(raw.labels or ()):
            warn_caller(
                TextColumnWarning(
                    f"column {raw.name!r} was read as text, as it holds numbers and "
                    f"{quoted(words)}. If these denote missing values, include them in na_values="
                    f"{tuple(word.strip() for word in words)}",
                    [raw.name],
                    ("na_values", tuple(word.strip() for word in words)),
                )
            )


def _all_match(pattern: re.Pattern[str], raw: RawColumn) -> bool:
    return all(map(pattern.fullmatch, raw.labels or ()))


def words_among_numbers(labels: Sequence[str]) -> list[str]:
    """Return the few labels that are no numbers, none if there are more.

    Examples
    --------
    >>> words_among_numbers(["1", "2", "3.5", "4", "?"])
    ['?']
    >>> words_among_numbers(["1", "few", "some", "many"])
    []
    """
    words = list(
        islice((label for label in labels if not _NUMBER.fullmatch(label)), MOST_WORDS + 1)
    )
    enough = len(labels) - len(words) >= NUMBERS_PER_WORD * len(words)
    return words if len(words) <= MOST_WORDS and enough else []
