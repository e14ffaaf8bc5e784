"""Files of delimited fields (CSV and its kin) -> blocks of columns of texts."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import ClassVar, NoReturn

import numpy as np

from .cells import read_numbers
from .choice import Choice
from .lines import read_lines, start_of
from .messages import quoted
from .text_format import DELIMITERS, TextFormat

#: The delimiter is found out in so many characters, and so many records.
SAMPLE_CHARACTERS = 2**16
SAMPLE_RECORDS = 200

OTHER_DELIMITER = "another delimiter is given by delimiter=';' (--delimiter ';')"


@dataclass(frozen=True)
class TextBlock:
    """Some rows of a file, as columns of texts.

    Parameters
    ----------
    n_rows : int
    columns : sequence of sequences
        Each has `n_rows` values; JSON's may be other than texts.
    names : tuple of str
        The columns' names.
    is_plain : bool
        Whether all is ASCII without an underscore, so that a number is one to everybody.
    """

    n_rows: int
    columns: Sequence[Sequence[object]]
    names: tuple[str, ...]
    is_plain: bool


@dataclass(frozen=True)
class DelimitedFile:
    """A file of delimited fields, with a header that names its columns.

    Parameters
    ----------
    path : Path
    text : TextFormat
        With its delimiter.
    fields : tuple of str
        The header's fields as they are written.
    names : tuple of str
        The columns' names: without the blanks around them; where there is none, "column 1" for
        the first column and so on.
    """

    path: Path
    text: TextFormat
    fields: tuple[str, ...]
    names: tuple[str, ...]

    hint_if_empty: ClassVar[str] = ": there is a header, and nothing below it"

    @classmethod
    def open(cls, path: Path, text: TextFormat) -> DelimitedFile:
        """Read the header, and find out the delimiter and the decimal mark unless they are given.

        A semicolon leaves the decimal mark open: both are met there.
        """
        sample = next(read_lines(path, text, SAMPLE_CHARACTERS), None)
        delimiter = text.delimiter or find_delimiter(sample.lines if sample else (), path)
        decimal = text.decimal or (None if delimiter == ";" else ".")
        full = replace(text, delimiter=delimiter, decimal=decimal)
        header = next(cls(path, full, (), ()).records(SAMPLE_CHARACTERS), None)
        if header is None:
            raise ValueError(
                f"{str(path)!r} is empty; a table has a line with the names of its columns, and "
                "rows below it"
            )
        fields = tuple(header)
        _check_header(path, fields, delimiter)
        names = tuple(field.strip() or f"column {i}" for i, field in enumerate(fields, 1))
        if doubles := [name for name, count in Counter(names).items() if count > 1]:
            raise ValueError(
                f"{str(path)!r}: column names must be unique, but the header has more than one of "
                f"{quoted(doubles)}; rename them. A file whose first line holds values needs a "
                "line of names above it"
            )
        return cls(path, full, fields, names)

    def blocks(self, choice: Choice, as_text: bool = False) -> Iterator[TextBlock]:
        """Yield the wanted columns block by block; they are texts anyway."""
        names = choice.among(self.names, self.path)
        places = [place for place, name in enumerate(self.names) if choice.has(name)]
        is_first = True
        for rows, is_plain in self._rows():
            kept = self._checked(rows[1:] if is_first else rows)
            is_first = False
            if kept:
                columns = list(zip(*kept, strict=True))
                chosen = [columns[place] for place in places]
                yield TextBlock(len(kept), chosen, names, is_plain)

    def records(self, size: int | None = None) -> Iterator[list[str]]:
        """Yield the records one by one, the header first; `size` is that of a block of text."""
        for rows, _ in self._rows(size):
            yield from rows

    def _checked(self, rows: list[list[str]]) -> list[list[str]]:
        """Return the rows, all of which have as many fields as the header."""
        width = len(self.names)
        if set(map(len, rows)) <= {width}:
            return rows
        kept = [row for row in rows if not (len(row) == 1 < width and not row[0].strip())]
        if not set(map(len, kept)) <= {width}:
            self.raise_fault()
        return kept

    def _rows(self, size: int | None = None) -> Iterator[tuple[list[list[str]], bool]]:
        """Yield blocks of records that are not blank; a record may reach into the next block."""
        is_last = is_plain = False

        def feed() -> Iterator[str]:
            nonlocal is_last, is_plain
            is_plain = True
            for block in read_lines(self.path, self.text, size):
                is_plain = is_plain and block.is_plain
                yield from block.lines[:-1]
                is_last = True  # by the time the next record is there
                yield block.lines[-1]
                is_last = False

        rows: list[list[str]] = []
        try:
            for row in csv.reader(feed(), delimiter=self._delimiter, strict=True):
                if row:
                    rows.append(row)
                if is_last and rows:
                    yield rows, is_plain
                    rows, is_plain = [], True
        except csv.Error:
            self.raise_fault()
        if rows:
            yield rows, is_plain

    @property
    def _delimiter(self) -> str:
        return self.text.delimiter or ","

    def raise_fault(self) -> NoReturn:
        """Read the file again, record by record, to say in which line something is wrong."""
        lines: list[str] = []

        def feed() -> Iterator[str]:
            for block in read_lines(self.path, self.text):
                for line in block.lines:
                    lines.append(line)
                    yield line

        reader = csv.reader(feed(), delimiter=self._delimiter, strict=True)
        width = len(self.names)
        while True:
            first = reader.line_num + 1
            lines.clear()
            try:
                row = next(reader)
            except csv.Error as error:
                self._raise_quote(first, reader.line_num, lines[0], error)
            except StopIteration:
                raise ValueError(f"{str(self.path)!r} changed while it was read") from None
            width = width or len(row)
            if len(row) not in (0, width) and not (len(row) == 1 and not row[0].strip()):
                self._raise_width(first, row, width, lines[0])

    def _raise_width(self, line: int, row: list[str], width: int, start: str) -> NoReturn:
        found = len(row)
        hint = "a field that holds the delimiter must be in quotes"
        if found == width + 1 and not row[-1]:
            hint = "the line ends in a delimiter that the header does not have"
        elif found == 1:
            hint = OTHER_DELIMITER
        elif width == 1:
            name = start_of(self.fields[0] if self.fields else "")
            hint = f"if the first line, {name}, is no header, delete it; {OTHER_DELIMITER}"
        elif found == width + 1 and line == 2:
            hint = "if the first field is the row's name, name it in the header, too"
        raise ValueError(
            f"{str(self.path)!r}, line {line}: found {found} field{'s' * (found != 1)}, but the "
            f"header names {width} (the delimiter is {self._delimiter!r}): {start_of(start)}. "
            f"Mend this line; {hint}"
        )

    def _raise_quote(self, first: int, last: int, start: str, error: csv.Error) -> NoReturn:
        where = f"{str(self.path)!r}, line {first}"
        if "field larger than" in str(error):
            why = (
                f"a field is longer than {csv.field_size_limit()} characters; most likely a quote "
                "is opened and never closed. Close it; csv.field_size_limit(n) allows longer ones"
            )
        elif "unexpected end" in str(error):
            why = f"a quote is opened and never closed until the file ends in line {last}. Close it"
        else:
            reach = f" (in line {last})" if last != first else ""
            why = (
                f"a quoted field goes on after its closing quote{reach}. Close every quote that is "
                "opened, and write a quote inside of a quoted field twice"
            )
        raise ValueError(f"{where}: {why}: {start_of(start)}") from error


def _check_header(path: Path, fields: Sequence[str], delimiter: str) -> None:
    """Refuse a first line that plainly names no columns."""
    where = f"{str(path)!r}, line 1: {start_of(delimiter.join(fields))}"
    if not any(map(str.strip, fields)):
        raise ValueError(f"{where} names no column; write a line with their names above the rows")
    if fields[0].lower().startswith("sep=") and len(fields) <= 2:
        raise ValueError(f"{where} is a note for spreadsheets; delete this line")
    numbers = read_numbers(fields)
    if numbers is not None and not np.array_equal(numbers, np.floor(numbers)):
        raise ValueError(
            f"{where} holds numbers alone, and no names of columns; write a line with their names "
            "above it"
        )


def find_delimiter(lines: Sequence[str], path: Path) -> str:
    r"""Return the delimiter that cuts the lines into the same number of fields, more than one.

    Where several do, or none does, it is the one with which most lines agree with the first, then
    the one with more fields. A comma if the first line has no delimiter.

    Examples
    --------
    >>> find_delimiter(["a;b\n", "1,5;2,5\n"], Path("a.csv"))
    ';'
    """
    usual = ("\t", *DELIMITERS) if ".tsv" in path.suffixes else DELIMITERS
    scores = {delimiter: _agreement(lines, delimiter) for delimiter in usual}
    return max(scores, key=scores.__getitem__)  # of equal ones, the first


def _agreement(lines: Sequence[str], delimiter: str) -> tuple[float, int]:
    widths: list[int] = []
    try:
        # A record that is cut off by the end of the sample is no fault.
        rows = islice(csv.reader(lines, delimiter=delimiter), SAMPLE_RECORDS)
        widths.extend(len(row) for row in rows if row)
    except csv.Error:
        pass
    if len(lines) > 2 and len(widths) > 2:
        widths.pop()
    if not widths or widths[0] < 2:
        return 0.0, 0
    return sum(width == widths[0] for width in widths) / len(widths), widths[0]
