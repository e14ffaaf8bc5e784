"""Tables in text files: delimited fields with a header, and JSON lines."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from pidselect.exceptions import Setting, TextNumbersWarning

from .files import (
    MISSING_WORDS,
    PACKED,
    SIGNATURES,
    FileError,
    choose,
    contents,
    format_of,
    no_rows,
    reading,
    require,
)
from .messages import counted, plain, quoted, warn_caller
from .raw_column import RawColumn
from .text_columns import FORMS, Forms, from_texts
from .text_numbers import NUMBER, example_of, notation_of, words_among_numbers

DELIMITERS = (",", ";", "\t", "|")

#: Bytes in which the header is searched, and the most columns that it may name.
HEADER_BYTES, MOST_COLUMNS = 2**24, 2**20

#: The delimiter is detected in so many bytes and records.
SAMPLE_BYTES, SAMPLE_RECORDS = 2**16, 200

Names = Collection[str]

#: Series of texts by the names of columns, with the forms that they may have.
Texts = dict[str, tuple[Any, Forms]]

#: Rows that are collected before they become part of a frame.
ROWS_OF_A_BLOCK = 2**14


@dataclass(frozen=True)
class TextSettings:
    """How a text is written; for the parameters see `Table.open`."""

    delimiter: str | None = None
    encoding: str = "utf-8"
    decimal: str | None = None
    na_values: Sequence[str] = MISSING_WORDS

    def __post_init__(self) -> None:
        delimiter, decimal = plain(self.delimiter), plain(self.decimal)
        if delimiter is not None and not re.fullmatch(r'[^"\r\n\0\x80-\U0010ffff]', delimiter):
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

    @property
    def words(self) -> frozenset[str]:
        """The texts that denote a missing value, without blanks."""
        return frozenset(word.strip() for word in self.na_values)


def open_text(
    path: Path, settings: TextSettings, only_header: bool = False
) -> DelimitedFile | JsonLinesFile:
    """Open a text file: decode it, read its header, detect the delimiter."""
    content = decoded(path, settings.encoding, HEADER_BYTES if only_header else None)
    if format_of(path) == "json":
        settings = replace(settings, delimiter=None, decimal=".")
        if only_header and len(content) >= HEADER_BYTES:
            content = content[: content.rfind(b"\n") + 1]
        return JsonLinesFile(path, content, settings)
    return open_delimited(path, content, settings)


def read_text(
    path: Path, settings: TextSettings, columns: Names | None, without: Names
) -> tuple[RawColumn, ...]:
    """Read columns of a text file, and warn of texts that are likely numbers."""
    file = open_text(path, settings)
    raws, marks = [], {}
    for name, (texts, forms) in file.texts(columns, without).items():
        raw, mark = from_texts(name, texts, settings.words, file.settings.decimal, forms)
        raws.append(raw)
        marks[mark] = name
    if "," in marks and "." in marks:
        problem = f"column {marks[',']!r} has decimal commas, column {marks['.']!r} decimal points"
        remedy = "State decimal=',' or decimal='.'; columns with the other mark are read as text"
        raise FileError(path, problem, remedy, setting=("decimal", ","))
    if isinstance(file, DelimitedFile):  # in JSON, a number in quotes is meant as a text
        _warn_of_numbers(raws, settings.decimal is None and file.settings.decimal == ".")
    return tuple(raws)


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


def decoded(path: Path, encoding: str, most: int | None = None) -> bytes:
    """Return a text, or its first bytes, as UTF-8; name the line of what is no text."""
    content = contents(path, most)
    name = codecs.lookup(encoding).name
    _check_signature(path, content[:8], encoding)
    if not (content.isascii() and name == "utf-8"):
        codec = codecs.getincrementaldecoder("utf-8-sig" if name == "utf-8" else encoding)()
        try:
            text = codec.decode(content, final=most is None or len(content) < most)
            content = text.encode()
        except UnicodeDecodeError as error:
            line = line_at(content, error.start)
            problem = f"byte 0x{content[error.start]:02x} is not {encoding}"
            remedy = "State the encoding, for example encoding='latin-1' or 'cp1252'"
            raise FileError(path, problem, remedy, line, ("encoding", "latin-1")) from error
        except UnicodeError as error:
            raise FileError(path, f"it is damaged: {error}", "Check the encoding") from error
    if b"\0" in content:
        line = line_at(content, content.index(b"\0"))
        problem = "there is a NUL byte: the file is damaged, or no text in this encoding"
        remedy = "State the encoding, for example encoding='utf-16'"
        raise FileError(path, problem, remedy, line, ("encoding", "utf-16"))
    return content


def line_at(content: bytes, place: int) -> int:
    """Return the number of the line of a byte."""
    return 1 + sum(1 for _ in re.finditer(rb"\r\n?|\n", content[:place]))


def _check_signature(path: Path, first: bytes, encoding: str) -> None:
    """Refuse what is no text, or text in another encoding than stated, by its first bytes."""
    is_wide = codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and not is_wide:
        setting: Setting = ("encoding", "utf-16")
        problem = f"it is not {encoding}: it begins with the byte order mark of UTF-16"
        raise FileError(path, problem, "State encoding='utf-16'", setting=setting)
    for signature, (what, ending) in SIGNATURES.items():
        if first.startswith(signature):
            name = f"{path}{ending}" if ending in PACKED else path.with_suffix(ending)
            remedy = f"Rename it to {str(name)!r}, or save it as CSV"
            raise FileError(path, f"it is no text but {what}", remedy)


def _start_of(line: str, length: int = 60) -> str:
    """Return the beginning of a line, quoted, for messages."""
    bare = line.rstrip("\r\n")
    return repr(bare[:length]) + ("..." if len(bare) > length else "")


@dataclass(frozen=True)
class DelimitedFile:
    """A file of delimited fields with a header."""

    path: Path
    content: bytes
    settings: TextSettings  # with its delimiter; without a decimal mark where either may occur
    fields: tuple[str, ...]  # the header as it is written

    @property
    def names(self) -> tuple[str, ...]:
        """The fields without blanks around them; "column 1" for the first if it is empty."""
        return tuple(field.strip() or f"column {i}" for i, field in enumerate(self.fields, 1))

    def texts(self, columns: Names | None = None, without: Names = ()) -> Texts:
        """Return the chosen columns as they are written, with the forms that they may have."""
        names = choose(self.path, self.names, columns, without)
        frame = self._read_regular()
        frame = self._read_any() if frame is None else frame
        if not frame.height:
            raise no_rows(self.path)
        if "" not in self.settings.words:
            frame = frame.fill_null("")
        series = dict(zip(self.names, frame.get_columns(), strict=True))
        return {name: (series[name], FORMS) for name in names}

    def _read_regular(self) -> Any:
        """Return all fields as polars reads them, None where it may differ from Python's `csv`.

        polars fills short lines and blank ones, and is lenient about quotes. Here each line has as
        many fields as the header, which are in quotes as a whole or not at all.
        """
        content, delimiter = self.content, ord(self.settings.delimiter or ",")
        parts = content.split(b'"') if b'"' in content else [content]
        outside, ends = parts[::2], bytes([delimiter, *b"\r\n"])
        bare = np.frombuffer(b"".join(outside), np.uint8)
        n_lines = np.count_nonzero(bare == ord("\n")) + (not content.endswith(b"\n"))
        is_regular = (
            np.count_nonzero(bare == delimiter) == (len(self.fields) - 1) * n_lines > 0
            and (b"\r" not in content or content.count(b"\r") == content.count(b"\r\n"))
            and len(parts) % 2 == 1
            and all(not part or part[0] in ends for part in outside[1:])
            and all(not part or part[-1] in ends for part in outside[:-1])
        )
        if not is_regular:
            return None
        polars = require("polars", self.path)
        with suppress(FileError), reading(self.path):
            how: Any = {"has_header": False, "infer_schema": False, "separator": chr(delimiter)}
            frame = polars.read_csv(content, **how)
            if frame.shape == (n_lines, len(self.fields)):
                return frame.slice(1)
        return None

    def _read_any(self) -> Any:
        """Return all fields as Python's `csv` reads them, and name the line of the first fault."""
        polars = require("polars", self.path)
        keys = [str(place) for place in range(len(self.fields))]
        read = records(self.path, self.content, self.settings.delimiter or ",")
        rows = (row for row, line in read if self._is_row(row, line))
        next(rows)  # the header
        parts = [polars.DataFrame(schema=dict.fromkeys(keys, polars.String))]
        while block := list(islice(rows, ROWS_OF_A_BLOCK)):
            parts.append(polars.DataFrame(dict(zip(keys, zip(*block, strict=True), strict=True))))
        return polars.concat(parts)

    def _is_row(self, row: list[str], line: int) -> bool:
        """Return whether a record is not blank, and has as many fields as the header."""
        found, width, delimiter = len(row), len(self.fields), self.settings.delimiter or ","
        if found == width or (found == 1 and not row[0].strip()):
            return found == width
        setting: Setting | None = None
        remedy = "Correct this line; a field that contains the delimiter must be in quotes"
        if 1 in (found, width):
            setting = ("delimiter", ";")
            header = _start_of(self.fields[0])
            remedy = f"State another delimiter, or delete the line {header} if it is no header"
        problem = (
            f"found {counted(found, 'field')} where the header has {width} (the delimiter is "
            f"{delimiter!r}): {_start_of(delimiter.join(row))}"
        )
        raise FileError(self.path, problem, remedy, line, setting)


def records(path: Path, content: bytes, delimiter: str) -> Iterator[tuple[list[str], int]]:
    """Yield records that are not empty, with the numbers of their first lines."""
    lines = io.TextIOWrapper(io.BytesIO(content), "utf-8", newline="")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    csv.field_size_limit(max(csv.field_size_limit(), len(content) + 1))
    first = 1
    try:
        for row in reader:
            if row:
                yield row, first
            first = reader.line_num + 1
    except csv.Error as error:
        start = content.splitlines()[first - 1].decode()
        problem = (
            "a quote is not closed, or a field continues after its quote, until line "
            f"{reader.line_num} ({error}): {_start_of(start)}"
        )
        remedy = "Close every quote, and double a quote inside of a quoted field"
        raise FileError(path, problem, remedy, first) from error


def open_delimited(path: Path, content: bytes, settings: TextSettings) -> DelimitedFile:
    """Read the header, and detect the delimiter unless it is stated."""
    sample = content[:SAMPLE_BYTES].decode("utf-8", "ignore")
    delimiter = settings.delimiter or find_delimiter(sample, path)
    decimal = settings.decimal or (None if delimiter == ";" else ".")
    settings = replace(settings, delimiter=delimiter, decimal=decimal)
    fields, _ = next(records(path, content, delimiter), ([], 0))
    if len(fields) > MOST_COLUMNS:
        problem = f"the header has more than {MOST_COLUMNS:,} fields (delimiter {delimiter!r})"
        raise FileError(path, problem, "Save so wide a table as a NumPy array (.npy)", 1)
    file = DelimitedFile(path, content, settings, tuple(fields))
    remedy = "Write a line with the names of the columns above the rows"
    shown, problem = _start_of(delimiter.join(fields)), ""
    if not fields:
        raise FileError(path, "it is empty", remedy)
    if not any(map(str.strip, fields)):
        problem = f"{shown} names no column"
    elif fields[0].lower().startswith("sep=") and len(fields) <= 2:
        problem, remedy = f"{shown} is a note for spreadsheets", "Delete this line"
    elif all(map(NUMBER.fullmatch, fields)) and any("." in field for field in fields):
        problem = f"{shown} contains numbers only, and no column names"
    elif doubles := [name for name, times in Counter(file.names).items() if times > 1]:
        problem = f"column names must be unique, but the header repeats {quoted(doubles)}"
    if problem:
        raise FileError(path, problem, remedy, 1)
    return file


def find_delimiter(sample: str, path: Path) -> str:
    r"""Return the delimiter that splits the records into the same number of fields.

    Of several it is the one with which most records agree with the first, then the one with more
    fields; a comma if the first record has none.
    """

    def agreement(delimiter: str) -> tuple[float, int]:
        reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
        widths = [len(row) for row in islice(reader, SAMPLE_RECORDS) if row]
        if len(widths) > 2:
            widths.pop()  # it may be cut off by the end of the sample
        if not widths or widths[0] < 2:
            return 0.0, 0
        return widths.count(widths[0]) / len(widths), widths[0]

    usual = ("\t", *DELIMITERS) if ".tsv" in path.suffixes else DELIMITERS
    return max(usual, key=agreement)  # the first of equals


class _Number(str):
    """A number of JSON as it is written."""

    __slots__ = ()


@dataclass(frozen=True)
class JsonLinesFile:
    """A file with a JSON object in each line, whose keys are the columns' names."""

    path: Path
    content: bytes
    settings: TextSettings

    @property
    def names(self) -> tuple[str, ...]:
        """All keys, in the order in which they occur."""
        return tuple(self._columns)

    def texts(self, columns: Names | None = None, without: Names = ()) -> Texts:
        """Return the chosen columns as they are written, with the forms that their types allow."""
        polars, found = require("polars", self.path), {}
        forms: dict[type, Forms] = {_Number: ("number",), bool: ("boolean",), str: ("time",)}
        for name in choose(self.path, self.names, columns, without):
            values = self._columns[name]
            words = self.settings.words
            types = {type(v) for v in values if v is not None and str(v).strip() not in words}
            if not types.isdisjoint({dict, list}):
                problem = f"column {name!r} holds lists or objects"
                remedy = f"Flatten it (pandas.json_normalize), or exclude it: without=[{name!r}]"
                raise FileError(self.path, problem, remedy, setting=("without", name))
            texts = (str(v).lower() if isinstance(v, bool) else v and _encodable(v) for v in values)
            own = forms[types.pop()] if len(types) == 1 else ()
            found[name] = polars.Series(list(texts), dtype=polars.String), own
        return found

    @cached_property
    def _columns(self) -> dict[str, list[Any]]:
        """The values of each key, None where a line does not have it."""
        as_written: Any = dict.fromkeys(("parse_float", "parse_int", "parse_constant"), _Number)
        decoder, n_rows, columns = json.JSONDecoder(**as_written), 0, dict[str, list[Any]]()
        lines = io.TextIOWrapper(io.BytesIO(self.content), "utf-8", newline="")
        for number, line in enumerate(lines, 1):
            if line.isspace():
                continue
            for name, value in self._object(decoder, number, line).items():
                column = columns.setdefault(name, [])
                column += [None] * (n_rows - len(column))
                column.append(value)
            n_rows += 1
        for column in columns.values():
            column += [None] * (n_rows - len(column))
        if not columns:
            raise no_rows(self.path)
        return columns

    def _object(self, decoder: json.JSONDecoder, number: int, line: str) -> dict[str, Any]:
        problem = f"{_start_of(line)} is no object"
        try:
            row = decoder.decode(line.strip())
            if isinstance(row, dict):
                return row
        except (ValueError, RecursionError) as error:
            problem = f"{_start_of(line)} is no JSON: {error}"
        remedy = 'Each line must hold one whole object, such as {"age": 31.5, "city": "Rome"}'
        raise FileError(self.path, problem, remedy, number)


def _encodable(text: str) -> str:
    """Return a text in which half surrogate pairs, which have no encoding, are written out."""
    return text.encode("utf-8", "backslashreplace").decode()
