"""Columns of a file as they are to be written: as texts, as values, or as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from .cells import whole_number
from .choice import Choice
from .delimited import DelimitedFile
from .disk import NUMPY, PARQUET, open_array, open_arrow, open_parquet, require_arrow
from .growing import Growing
from .json_lines import JsonLinesFile
from .text import grow, is_text, open_text
from .text_format import TextFormat

#: So many values are taken out of a file of Arrow or NumPy at a time.
BATCH_VALUES = 2**20

Values = list[Sequence[Any]]  # those of some rows, column by column


@dataclass(frozen=True)
class Copying:
    """Some columns of a file, read block by block.

    Parameters
    ----------
    source : Path
    names : tuple of str
        The columns, in the order in which they are written.
    text : TextFormat, optional
        How the source is written.
    """

    source: Path
    names: tuple[str, ...]
    text: TextFormat | None = None

    @cached_property
    def file(self) -> DelimitedFile | JsonLinesFile | None:
        """The source, if it is a text."""
        return open_text(self.source, self.text) if is_text(self.source) else None

    @property
    def encoding(self) -> str:
        """That of the source, so that whatever reads the one reads the other."""
        return self.file.text.encoding if isinstance(self.file, DelimitedFile) else "utf-8"

    @property
    def fields(self) -> tuple[str, ...]:
        """The names as the source writes them."""
        if not isinstance(self.file, DelimitedFile):
            return self.names
        written = dict(zip(self.file.names, self.file.fields, strict=True))
        return tuple(written[name] for name in self.names)

    def delimiter(self, is_tabbed: bool) -> str:
        """Return the source's delimiter, but for a tab, which goes with files of its own."""
        own = self.file.text.delimiter if isinstance(self.file, DelimitedFile) else None
        if is_tabbed:
            return "\t"
        return own if own and own != "\t" else ","

    def texts(self) -> Iterator[Values]:
        """Yield the values as texts: those of a text as they are."""
        if self.file is None:
            for columns in self._rows():
                yield [list(map(_to_text, column)) for column in columns]
            return
        for columns in self._written():
            is_typed = isinstance(self.file, JsonLinesFile)
            yield [["" if v is None else v for v in c] if is_typed else c for c in columns]

    def values(self) -> Iterator[Values]:
        """Yield the values as JSON has them, None where missing."""
        if self.file is None:
            for columns in self._rows():
                yield [list(map(_to_json, column)) for column in columns]
            return
        for columns in self._written():
            pairs = zip(self._settled, columns, strict=True)
            yield [_to_values(column, written) for column, written in pairs]

    def batches(self) -> Iterator[Any]:
        """Yield Arrow's record batches, all of one schema."""
        pyarrow = self.arrow()
        if self.file is None and self.source.suffix.lower() not in NUMPY:
            yield from self._arrow_batches()
            return
        if self.file is None:
            for columns in self._rows():
                yield pyarrow.record_batch(list(map(pyarrow.array, columns)), list(self.names))
            return
        for columns in self._written():
            pairs = zip(self._settled, columns, strict=True)
            arrays = [_to_arrow(pyarrow, column, written) for column, written in pairs]
            yield pyarrow.record_batch(arrays, list(self.names))

    def arrow(self) -> Any:
        """Return pyarrow, or say that it is not there."""
        return require_arrow(self.source)

    def _written(self) -> Iterator[Values]:
        """Yield the columns of a text as they are written, in the order of the names."""
        if self.file is None:
            return
        for block in self.file.blocks(Choice.of(self.names), as_text=True):
            # A key of JSON lines may come late.
            found = dict(zip(block.names, block.columns, strict=True))
            nothing = [None] * block.n_rows
            yield [found.get(name, nothing) for name in self.names]

    @cached_property
    def _settled(self) -> list[Growing]:
        """The columns of a text as they are once all was read, without their values."""
        if self.file is None:
            return []
        columns = grow(self.file, Choice.of(self.names))
        return [columns[name].settled() for name in self.names]

    def _rows(self) -> Iterator[Values]:
        """Yield the columns of a file that is no text, some rows at a time."""
        if self.source.suffix.lower() not in NUMPY:
            for batch in self._arrow_batches():
                yield [column.to_pylist() for column in batch.columns]
            return
        array = open_array(self.source)
        places = [int(name[1:]) for name in self.names]
        step = max(1, BATCH_VALUES // array.shape[1])
        for start in range(0, len(array), step):
            yield [array[start : start + step, place].tolist() for place in places]

    def _arrow_batches(self) -> Iterator[Any]:
        step = max(1, BATCH_VALUES // len(self.names))
        if self.source.suffix.lower() in PARQUET:
            with open_parquet(self.source) as file:
                for batch in file.iter_batches(step, columns=list(self.names)):
                    yield batch.select(list(self.names))
            return
        with self.arrow().memory_map(str(self.source)) as mapped:
            file = open_arrow(self.source, mapped)
            for place in range(file.num_record_batches):
                yield file.get_batch(place).select(list(self.names))


def _to_values(column: Growing, texts: Sequence[str | None]) -> list[Any]:
    """Return texts as JSON has them: numbers, truth values, or the texts themselves."""
    match column.form:
        case "number":
            present = [None if column.is_missing(text) else text for text in texts]
            return [None if text is None else _to_number(text) for text in present]
        case "bool":
            return [None if isnan(value) else bool(value) for value in column.read(texts)]
        case _:
            return [None if column.is_missing(text) else text for text in texts]


def _to_number(text: str) -> int | float | None:
    number = whole_number(text.replace(",", "."))
    return None if isnan(number) else number


def _to_arrow(pyarrow: Any, column: Growing, texts: Sequence[str | None]) -> Any:
    """Return texts as an array of Arrow, of the type that the whole column has."""
    if column.form == "text" or column.has_merged:
        present = [None if column.is_missing(text) else text for text in texts]
        return pyarrow.array(present, pyarrow.string())
    values = column.read(texts)
    gone = np.isnan(values)
    known = np.where(gone, 0.0, values)
    match column.form:
        case "number" if column.is_whole:
            return pyarrow.array(known.astype(np.int64), mask=gone)
        case "number":
            return pyarrow.array(values, mask=gone)
        case "bool":
            return pyarrow.array(known.astype(bool), mask=gone)
    ticks = pyarrow.array(np.rint(known * 1e6).astype(np.int64), mask=gone)
    return ticks.cast(pyarrow.time64("us") if column.is_clock else pyarrow.timestamp("us"))


def _to_text(value: Any) -> str:
    if value is None or (isinstance(value, float) and isnan(value)):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, timedelta):  # in seconds, as it is read
        return f"{value.total_seconds():.15g}"
    return value.isoformat(sep=" ") if isinstance(value, datetime) else str(value)


def _to_json(value: Any) -> Any:
    if isinstance(value, float) and isnan(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, timedelta):
        return value.total_seconds()
    return float(value) if isinstance(value, Decimal) else _to_text(value)
