"""Reading tables in text files: delimited fields parsed by pyarrow, JSON lines by `json`.

This module needs pyarrow; `io` imports it when a text is read.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, islice
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from pidselect.exceptions import Setting, TextNumbersWarning

from .column import FloatArray
from .column_store import ColumnStore
from .formats import (
    PACKED,
    SIGNATURES,
    FileError,
    TextFormat,
    choose,
    format_of,
    is_packed,
    no_rows,
)
from .input import keep
from .messages import quoted, warn_caller
from .raw_column import BOOLS, EXACT_INTEGERS, RawColumn, to_float, warn_merged
from .text_numbers import NUMBER, example_of, notation_of, words_among_numbers

DELIMITERS = (",", ";", "\t", "|")

#: Bytes of text that are parsed together, which are also the most of a record; more in wide tables.
BLOCK_BYTES, WIDE_BLOCK_BYTES, ROWS_OF_A_BLOCK = 2**22, 2**26, 2**7

#: The longest line in characters and the most columns: they bound the memory that a file can take.
LONGEST_LINE, MOST_COLUMNS = 2**26, 2**20

#: The delimiter is detected in so many characters and records.
SAMPLE_CHARACTERS, SAMPLE_RECORDS = 2**16, 200

#: The part of the memory for columns that is used until they are complete, and the values of all
#: columns that are collected before they go to the column store.
SPOOL_SHARE, BUFFERED_VALUES = 4, 2**22

_UNDECODED = re.compile("[\udc80-\udcff]")

# For RE2, which pyarrow uses.
_CLOCK = r"\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?"
_MOMENT = rf"^\d{{4}}-\d\d-\d\d(?:[T ]{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?)?$"
TRUTHS = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}

Forms = tuple[str, ...]

#: What a column may hold unless it holds texts; no text has two of these forms.
FORMS: Forms = ("number", "boolean", "moment", "clock")

#: A number of rows, and the columns: Arrow arrays of strings with the forms that they may have.
TextBlock = tuple[int, dict[str, tuple[Any, Forms]]]


def open_text(path: Path, text: TextFormat | None) -> DelimitedFile | JsonLinesFile:
    """Open a text file: read its header, detect delimiter and decimal mark."""
    text = text or TextFormat()
    if format_of(path) == "json":
        return JsonLinesFile(path, replace(text, delimiter=None, decimal="."))
    return open_delimited(path, text)


def read_text(
    path: Path,
    store: ColumnStore,
    columns: Collection[str] | None,
    without: Collection[str],
    text: TextFormat | None,
) -> tuple[RawColumn, ...]:
    """Read columns of a text file into the store, and warn of texts that are likely numbers."""
    file = open_text(path, text)
    spool = ColumnStore(store.max_bytes // SPOOL_SHARE)
    builders = build_columns(file, columns, without, spool)
    if mixed := [name for name, builder in builders.items() if builder.is_mixed]:
        builders |= build_columns(file, mixed, (), spool, "text")
    raws = [keep(builder.finish(), store) for builder in builders.values()]
    if isinstance(file, DelimitedFile):  # in JSON, a number in quotes is meant as a text
        is_stated = text is not None and text.decimal is not None
        _warn_of_numbers(raws, may_be_comma=not is_stated and file.text.decimal == ".")
    return tuple(raws)


def build_columns(
    file: DelimitedFile | JsonLinesFile,
    columns: Collection[str] | None = None,
    without: Collection[str] = (),
    spool: ColumnStore | None = None,
    form: str | None = None,
) -> dict[str, ColumnBuilder]:
    """Read the chosen columns from beginning to end; without a spool only find their forms."""
    builders: dict[str, ColumnBuilder] = {}
    n_before = 0
    for n_rows, arrays in file.blocks(columns, without):
        for name, (array, forms) in arrays.items():
            if name not in builders:  # a new key of JSON may occur in any line
                builders[name] = ColumnBuilder(name, file.text, spool, len(arrays), form)
                builders[name].add(np.full(n_before, np.nan))
            if not builders[name].is_mixed:
                builders[name].add(builders[name].parse(array, forms))
        n_before += n_rows
    if not builders:
        raise no_rows(file.path)
    marks = {builder.mark: name for name, builder in builders.items() if not builder.is_mixed}
    if "," in marks and "." in marks:
        problem = f"column {marks[',']!r} has decimal commas, column {marks['.']!r} decimal points"
        remedy = "State decimal=',' or decimal='.'; columns with the other mark are read as text"
        raise FileError(file.path, problem, remedy, setting=("decimal", ","))
    return builders


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
                problem = f"the line is longer than {LONGEST_LINE:,} characters: {_start_of(line)}"
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


def _start_of(line: str, length: int = 60) -> str:
    """Return the beginning of a line, quoted, for messages."""
    bare = line.rstrip("\r\n")
    return repr(bare[:length]) + ("..." if len(bare) > length else "")


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
        as_written: bool = False,
    ) -> Iterator[TextBlock]:
        """Yield the chosen columns; with `as_written` also the words for missing values."""
        wide = min(WIDE_BLOCK_BYTES, ROWS_OF_A_BLOCK * sum(map(len, self.fields)))
        size = max(BLOCK_BYTES, wide)
        places = {name: place for place, name in enumerate(self.names)}
        names = choose(self.path, tuple(places), columns, without)
        keys = [str(place) for place in places.values()]
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
                        arrays = {name: (batch.column(places[name]), FORMS) for name in names}
                        yield batch.num_rows, arrays
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
        if 1 in (found, width):
            setting = ("delimiter", ";")
            remedy = (
                "state another delimiter, for example delimiter=';', or delete the first line, "
                f"{_start_of(self.fields[0])}, if it is no header"
            )
        elif found == width + 1:
            remedy += ", and a name of the row must be named in the header"
        problem = (
            f"found {found} field{'s' * (found != 1)} where the header has {width} (the delimiter "
            f"is {delimiter!r}): {_start_of(delimiter.join(row))}"
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
    decimal = text.decimal or (None if delimiter == ";" else ".")
    text = replace(text, delimiter=delimiter, decimal=decimal)
    if sample.lstrip().partition("\n")[0].count(delimiter) >= MOST_COLUMNS:
        problem = f"the header has more than {MOST_COLUMNS:,} fields (delimiter {delimiter!r})"
        raise FileError(path, problem, "Save so wide a table as a NumPy array (.npy)", 1)
    fields, _, n_lines = next(_records(path, text), ([], 0, 0))
    file = DelimitedFile(path, text, tuple(fields), n_lines)
    remedy = "Write a line with the names of the columns above the rows"
    if not fields:
        raise FileError(path, "it is empty", remedy)
    shown = _start_of(delimiter.join(fields))
    if not any(map(str.strip, fields)):
        raise FileError(path, f"{shown} names no column", remedy, 1)
    if fields[0].lower().startswith("sep=") and len(fields) <= 2:
        raise FileError(path, f"{shown} is a note for spreadsheets", "Delete this line", 1)
    if all(map(NUMBER.fullmatch, fields)) and any("." in field for field in fields):
        raise FileError(path, f"{shown} contains numbers only, and no column names", remedy, 1)
    if doubles := [name for name, times in Counter(file.names).items() if times > 1]:
        problem = f"column names must be unique, but the header repeats {quoted(doubles)}"
        raise FileError(path, problem, f"Rename them. If these are values: {remedy}", 1)
    return file


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
            f"{reader.line_num} ({error}): {_start_of(first_line)}"
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

    def agreement(delimiter: str) -> tuple[float, int]:
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
        return widths.count(widths[0]) / len(widths), widths[0]

    usual = ("\t", *DELIMITERS) if ".tsv" in path.suffixes else DELIMITERS
    return max(usual, key=agreement)  # the first of equals


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
        as_written: bool = False,
    ) -> Iterator[TextBlock]:
        """Yield the chosen columns of which keys were found so far."""
        found: dict[str, None] = {}
        for rows in self._rows(BLOCK_BYTES):
            found |= dict.fromkeys(key for row in rows.values() for key in row)
            chosen = [n for n in found if (columns is None or n in columns) and n not in without]
            yield len(rows), {name: self._texts(name, rows) for name in chosen}
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
        problem = f"{_start_of(line)} is no object"
        try:
            row = decoder.decode(line.strip())
            if isinstance(row, dict):
                return row
        except json.JSONDecodeError as error:
            problem = f"broken JSON at character {error.pos + 1} ({error.msg}): {_start_of(line)}"
        except (ValueError, RecursionError) as error:
            problem = f"{error}: {_start_of(line)}"
        remedy = 'Each line must hold one whole object, such as {"age": 31.5, "city": "Rome"}'
        raise FileError(self.path, problem, remedy, number)

    def _texts(self, name: str, rows: dict[int, dict[str, Any]]) -> tuple[Any, Forms]:
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
        allowed: Forms = forms[types.pop()] if len(types) == 1 else ()
        return pa.array(texts, pa.string()), allowed


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
        self.is_mixed = False
        self.is_whole = True  # whole numbers only, in the range of int64
        self._large: set[int] = set()  # whole numbers where float64 does not hold every one
        self._missing = frozenset(word.strip() for word in text.na_values)
        self._has_numeric_words = any(map(NUMBER.fullmatch, self._missing))
        self._labels: dict[str, float] = {}  # with their codes, in the order of occurrence
        self._spool = spool
        self._most_buffered = max(1, BUFFERED_VALUES // n_columns)
        self._parts: list[FloatArray] = []
        self._n_spooled = self._n_buffered = 0

    def add(self, values: FloatArray | None) -> None:
        """Add values, None for those that do not have the form of the column."""
        if values is None:
            self.is_mixed, self.form = True, "text"
            self._parts.clear()
        elif self._spool is None:
            known = values[~np.isnan(values)]
            is_whole = (known == np.floor(known)) & (np.abs(known) < 2**63)
            self.is_whole = self.is_whole and bool(is_whole.all())
        else:
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
        if self.form == "text":
            return self._codes(texts)
        if self.form == "number" and "number" in forms and not self._has_numeric_words:
            values = self._numbers(texts)  # mostly there are no words or blanks in it
            if values is not None:
                return values
        present = self.without_words(texts)
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

    def without_words(self, texts: Any) -> Any:
        """Return the texts with null for those that denote a missing value."""
        words = pa.array(sorted(self._missing), pa.string())
        is_missing = pc.is_in(pc.utf8_trim_whitespace(texts), words)
        return pc.if_else(is_missing, pa.scalar(None, pa.string()), texts)

    def _numbers(self, texts: Any) -> FloatArray | None:
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
            large = np.flatnonzero(np.abs(numbers) >= EXACT_INTEGERS)
            if len(large):
                found = map(whole_number, texts.take(large).unique().to_pylist())
                self._large.update(number for number in found if isinstance(number, int))
        return numbers

    def _codes(self, texts: Any) -> FloatArray:
        encoded = texts.dictionary_encode()
        codes = [
            np.nan
            if text.strip() in self._missing
            else self._labels.setdefault(text, len(self._labels))
            for text in encoded.dictionary.to_pylist()
        ]
        places = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return np.array([*codes, np.nan])[places]

    @cached_property
    def has_merged(self) -> bool:
        """Of a complete column, whether float64 does not hold some of the whole numbers."""
        return any(to_float(number) != number for number in self._large)

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
        warn_merged(self.name, len(self._large), len(set(map(to_float, self._large))))
        return RawColumn(self.name, "number", values)


def parse_numbers(texts: Any) -> FloatArray | None:
    """Return an Arrow array of texts as numbers, None if any is none."""
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
    places = pc.index_in(texts, pa.array(TRUTHS))
    if places.null_count != texts.null_count:
        return None
    return np.array([*TRUTHS.values(), np.nan])[places.fill_null(-1).to_numpy()]


def _moments(texts: Any) -> FloatArray | None:
    """Return ISO dates and times in seconds since 1970, in UTC unless a zone is written."""
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
    if not pc.all(pc.match_substring_regex(texts, f"^{_CLOCK}$")).as_py():
        return None
    return _moments(pc.binary_join_element_wise("1970-01-01T", texts, ""))


_PARSERS: dict[str, Any] = {"boolean": _booleans, "moment": _moments, "clock": _clocks}


def whole_number(text: str) -> int | float:
    """Return a number that is written without decimals as an int, others as floats."""
    try:
        return int(text)
    except ValueError:
        return float(text)


# --------------------------------------------------------------------------- texts that are numbers


def _warn_of_numbers(raws: Iterable[RawColumn], may_be_comma: bool) -> None:
    """Warn of texts that are numbers but for a decimal comma, a sign, a unit, or a few words."""
    found: dict[tuple[str, Setting | None], list[RawColumn]] = {}
    for raw in raws:
        labels = raw.labels or ()
        notation = notation_of(labels) if raw.form == "text" else None
        if notation is None or (notation == "comma" and not may_be_comma):
            continue
        setting: Setting | None = None
        if notation == "comma":
            advice = "State decimal=',' if the comma is the decimal mark, remove it otherwise"
            setting = ("decimal", ",")
        elif notation == "words":
            words = words_among_numbers(labels)
            setting = ("na_values", tuple(word.strip() for word in words))
            advice = f"If {quoted(words)} denote missing values, state na_values={setting[1]}"
        else:
            advice = "Remove units, signs, separators of thousands or other decimal marks"
        found.setdefault((advice, setting), []).append(raw)
    for (advice, setting), columns in found.items():
        first, names = columns[0], [raw.name for raw in columns]
        message = (
            f"columns were read as text that look like numbers: {quoted(names)} (such as "
            f"{example_of(first.labels or ())!r} in {first.name!r}). {advice}"
        )
        warn_caller(TextNumbersWarning(message, names, setting))
