"""A column that grows block by block, and finds out what it holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .cells import Codes, has_merged, read_clocks, read_moments, read_numbers, read_truths
from .column import FloatArray
from .column_store import ColumnStore
from .raw import BOOLS, EXACT_INTEGERS, Form, RawColumn
from .text_format import TextFormat

#: So many values of all columns wait in memory until they are put together for the store.
WAITING = 2**22

#: What a column may be unless it holds texts; no value can be two of them.
CANDIDATES: tuple[tuple[Form, bool], ...] = (
    ("number", False),
    ("bool", False),
    ("time", False),
    ("time", True),  # of the day
)


@dataclass(frozen=True)
class Spool:
    """Where the values of growing columns lie until all are there.

    Parameters
    ----------
    store : Store
    n_columns : int
        How many columns grow at a time.
    """

    store: ColumnStore
    n_columns: int

    @property
    def together(self) -> int:
        """How many values of one column are stored together."""
        return max(1, WAITING // max(1, self.n_columns))


class Growing:
    """A column of texts under way: numbers, truth values, times or texts, whatever all are.

    The first block with a value settles what the column is to hold. Where a later one holds
    anything else, `is_mixed` is set, and the column has to be read again, as texts.

    Parameters
    ----------
    name : str
    text : TextFormat
        With a decimal mark, or none where either is one.
    spool : Spool, optional
        Without one, values are not kept.
    as_text : bool
        Whether the column holds texts whatever they look like.

    Examples
    --------
    >>> column = Growing("a", TextFormat(decimal="."), Spool(Store(10**6), 1))
    >>> column.add(["1", "NA", " 2.5"])
    >>> column.finish().values
    array([1. , nan, 2.5])
    >>> column.add(["many"])
    >>> column.is_mixed
    True
    """

    def __init__(
        self, name: str, text: TextFormat, spool: Spool | None = None, as_text: bool = False
    ) -> None:
        self.name = name
        self.is_whole = True  # numbers without decimals alone, which floats tell apart
        self.is_mixed = False
        self.has_merged = False
        self.mark: str | None = None  # the decimal mark that was met
        self._text = text
        self._decimal = text.decimal
        self._codes = Codes(text.missing)
        self._missing = frozenset((None, *text.missing))  # None is the null of JSON
        self._has_numbers = any(_is_number(word) for word in text.missing)
        self._form: Form | None = "text" if as_text else None
        self._is_clock = False
        self._parts: list[FloatArray] = []
        self._n_open = 0  # values that are not in the store yet
        self._n_stored = 0  # parts that are
        self._spool = spool

    def add(self, values: Sequence[Any], is_plain: bool = False) -> None:
        """Add the next values; `is_plain` says that they are ASCII without an underscore."""
        if self.is_mixed:
            return
        read = self._read(values, is_plain)
        if read is None:
            self.is_mixed = True
            self._parts.clear()
        else:
            self._append(read)

    def add_missing(self, count: int) -> None:
        """Add missing values."""
        if count and not self.is_mixed:
            self._append(np.full(count, np.nan))

    @property
    def form(self) -> Form:
        """What the column holds so far; if nothing, numbers that are all missing."""
        return "text" if self.is_mixed else self._form or "number"

    @property
    def is_clock(self) -> bool:
        """Whether it holds times of the day."""
        return self.form == "time" and self._is_clock

    def settled(self) -> Growing:
        """Return an empty column that reads texts in the form that this one was found to have."""
        other = Growing(self.name, self._text)
        other._form, other._is_clock, other.mark = self.form, self._is_clock, self.mark
        other.is_whole, other.has_merged = self.is_whole, self.has_merged
        return other

    def read(self, values: Sequence[Any]) -> FloatArray:
        """Return values of a column that is settled; of texts, codes in the order of meeting."""
        read = self._read(values, False)
        if read is None:
            raise ValueError(f"column {self.name!r} changed while its file was read")
        return read

    def finish(self) -> RawColumn:
        """Return the column; codes of texts are in the texts' order."""
        values = np.concatenate(self._parts) if self._parts else np.empty(0)
        if self._form == "text":
            order = np.argsort(np.array(self._codes.labels, dtype=object), kind="stable")
            ranks = np.append(np.empty(len(order)), np.nan)
            ranks[order] = np.arange(len(order))
            values = ranks[np.where(np.isnan(values), -1, values).astype(np.int64)]
            labels = tuple(self._codes.labels[place] for place in order)
            return RawColumn(self.name, "text", values, labels)
        labels_of_truths = BOOLS if self._form == "bool" else None
        return RawColumn(self.name, self._form or "number", values, labels_of_truths)

    def _read(self, values: Sequence[Any], is_plain: bool) -> FloatArray | None:
        if self._form == "text":
            return self._read_texts(values)
        if is_plain and self._is_simple and self._form in (None, "number"):
            numbers = read_numbers(values, is_plain)
            # Where all are NaN, it may be for words of missing values, which settle nothing.
            if numbers is not None and (self._form or not np.isnan(numbers).all()):
                self._form = "number"
                self.has_merged = self.has_merged or has_merged(values, numbers)
                return numbers
        before, read = self._form, None
        if not self._has_numbers:  # else blanks around such a word would make it a number
            read = self._read_without(values, self._missing.__contains__)
        if read is None:
            # To look for words with blanks around them takes longer, and they are rare.
            self._form = before
            read = self._read_without(values, self.is_missing)
        return self._read_texts(values) if read is None and self.form == "text" else read

    def _read_without(
        self, values: Sequence[Any], is_missing: Callable[[Any], bool]
    ) -> FloatArray | None:
        """Read the values that are not missing; the first ones settle the form."""
        gone = np.fromiter(map(is_missing, values), bool, len(values))
        present = [value for value, is_gone in zip(values, gone, strict=True) if not is_gone]
        spread = np.full(len(values), np.nan)
        if not present:
            return spread
        if self._form is None and not self._settles(present):
            self._form, self.mark, self.has_merged = "text", None, False
            return None
        read = self._read_present(present)
        if read is None:
            return None
        spread[~gone] = read
        return spread

    def _settles(self, present: Sequence[Any]) -> bool:
        """Find the form that these values have, unless they are texts."""
        for self._form, self._is_clock in CANDIDATES:
            # One of them tells most often, and all are read by and by.
            if self._read_present(present[:1]) is not None:
                return self._read_present(present) is not None
        return False

    def _read_present(self, present: Sequence[Any]) -> FloatArray | None:
        """Return values that are not missing in the form that is settled."""
        match self._form:
            case "number":
                return self._read_numbers(present)
            case "bool":
                return read_truths(present)
            case _:
                return read_clocks(present) if self._is_clock else read_moments(present)

    def _read_numbers(self, texts: Sequence[str]) -> FloatArray | None:
        points = texts
        mark = None
        if self._decimal != ".":
            together = "".join(texts)
            mark = "," if "," in together else "." if "." in together else None
            if mark == "," and "." in together:
                return None
            if mark is not None and mark != (self._decimal or self.mark or mark):
                return None
            if mark == ",":
                points = [text.replace(",", ".") for text in texts]
        numbers = read_numbers(points)
        if numbers is not None:
            self.mark = self.mark or mark
            self.has_merged = self.has_merged or has_merged(points, numbers)
        return numbers

    def _read_texts(self, values: Sequence[Any]) -> FloatArray | None:
        return self._codes.of(values)

    @property
    def _is_simple(self) -> bool:
        """Whether what Python reads as a number is one: none stands for a missing value."""
        return self._decimal == "." and not self._has_numbers

    def is_missing(self, value: Any) -> bool:
        """Return whether a text stands for a missing value."""
        return value in self._missing or value.strip() in self._missing

    def _append(self, values: FloatArray) -> None:
        self.is_whole = self.is_whole and _are_whole(values)
        if self._spool is None:
            return
        self._parts.append(values)
        self._n_open += len(values)
        if self._n_open >= self._spool.together:
            whole = np.concatenate(self._parts[self._n_stored :])
            self._parts[self._n_stored :] = [self._spool.store.keep(whole)]
            self._n_stored, self._n_open = len(self._parts), 0


class GrowingTyped(Growing):
    """A column of JSON values: what is no text there is a number, a truth value or null.

    Examples
    --------
    >>> column = GrowingTyped("a", TextFormat(decimal="."), Spool(Store(10**6), 1))
    >>> column.add([1, None, 2.5])
    >>> column.finish().values
    array([1. , nan, 2.5])
    """

    def _read_present(self, present: Sequence[Any]) -> FloatArray | None:
        types = set(map(type, present))
        match self._form:
            case "number" if types <= {int, float}:
                numbers = np.fromiter(map(_to_float, present), np.float64, len(present))
                self.has_merged = self.has_merged or has_merged(present, numbers)
                return numbers
            case "bool" if types == {bool}:
                return np.array(present, dtype=np.float64)
            case "time" if types == {str}:
                return super()._read_present(present)
        return None

    def _read_texts(self, values: Sequence[Any]) -> FloatArray | None:
        return self._codes.of(values) if set(map(type, values)) <= {str, type(None)} else None

    def is_missing(self, value: Any) -> bool:
        """Return whether a value is missing."""
        return not isinstance(value, int | float) and super().is_missing(value)


def _are_whole(values: FloatArray) -> bool:
    present = values[~np.isnan(values)]
    return bool(np.all((present == np.floor(present)) & (np.abs(present) < EXACT_INTEGERS)))


def _is_number(word: str) -> bool:
    numbers = read_numbers([word])
    return numbers is not None and not np.isnan(numbers[0])  # which is missing anyway


def _to_float(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number beyond 1e308; infinity is refused later on
        return float("inf") if value > 0 else float("-inf")
