"""Text files of any size -> named raw columns; of the text, only a block is in memory at a time.

What a column holds is known when all of it was seen. A first reading takes every column for what
its first values are. Columns that turn out to hold something else, too, are texts, and are read
once more from the beginning, as they are written.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from .cells import whole_number
from .choice import Choice
from .column_store import ColumnStore
from .delimited import DelimitedFile
from .frames import keep
from .growing import Growing, GrowingTyped, Spool
from .json_lines import JsonLinesFile
from .lines import PACKED
from .messages import quoted, warn_caller
from .raw import RawColumn, from_objects
from .text_format import TextFormat

DELIMITED = (".csv", ".tsv", ".txt")
JSON_LINES = (".jsonl", ".ndjson")

_NUMBER = re.compile(r"\s*[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
_WITH_COMMA = re.compile(r"\s*[+-]?\d+(?:,\d+)*\s*", re.ASCII)
_THOUSANDS = r"(?:[0-9]{1,3}(?:[.,'\s][0-9]{3})+|[0-9]+)(?:[.,][0-9]+)?"
_WITH_SIGNS = re.compile(rf"\s*[+-]?[$€£]?\s?{_THOUSANDS}\s?[%$€£]?\s*")

#: So many different words among numbers may stand for missing values, and so many numbers to each
#: have to be there.
MOST_WORDS, NUMBERS_A_WORD = 2, 4

#: The part of the memory for columns that is used until they are whole.
SPOOL_SHARE = 4


def is_text(path: Path) -> bool:
    """Return whether a file is one of text, by its name.

    Examples
    --------
    >>> is_text(Path("table.csv.gz")), is_text(Path("table.parquet"))
    (True, False)
    """
    return text_suffix(path) in (*DELIMITED, *JSON_LINES)


def text_suffix(path: Path) -> str:
    """Return the end of the name that says what a file holds once it is unpacked.

    Examples
    --------
    >>> text_suffix(Path("table.CSV.gz"))
    '.csv'
    """
    is_packed = path.suffix.lower() == PACKED
    return (Path(path.stem).suffix if is_packed else path.suffix).lower()


def open_text(path: Path, text: TextFormat | None) -> DelimitedFile | JsonLinesFile:
    """Return the file with what its beginning says: names, delimiter, decimal mark."""
    text = text or TextFormat()
    if text_suffix(path) in JSON_LINES:
        return JsonLinesFile(path, replace(text, delimiter=None, decimal="."))
    return DelimitedFile.open(path, text)


def read_text(
    path: Path, store: ColumnStore, choice: Choice, text: TextFormat | None
) -> tuple[RawColumn, ...]:
    """Read columns of a text file into the store.

    Parameters
    ----------
    path : Path
    store : Store
    choice : Choice
    text : TextFormat, optional
    """
    file = open_text(path, text)
    spool = ColumnStore(store.max_bytes // SPOOL_SHARE)
    columns = grow(file, choice, spool)
    doubtful = [name for name, column in columns.items() if column.is_mixed or column.has_merged]
    texts = grow(file, Choice.of(doubtful), spool, as_text=True) if doubtful else {}
    raws = []
    for name, column in columns.items():
        if column.is_mixed:
            column = texts[name]
        elif column.has_merged:  # this warns where different numbers become equal
            labels = texts[name].finish().labels or ()
            from_objects(name, [whole_number(label.replace(",", ".")) for label in labels])
        raws.append(keep(column.finish(), store))
    if isinstance(file, DelimitedFile):  # in JSON, who writes a text means a text
        unread = [raw for raw in raws if raw.form == "text" and raw.labels]
        if (text is None or text.decimal is None) and file.text.decimal == ".":
            _warn_commas(unread)
        _warn_signs(unread)
        _warn_words(unread)
    return tuple(raws)


def grow(
    file: DelimitedFile | JsonLinesFile,
    choice: Choice,
    spool: ColumnStore | None = None,
    as_text: bool = False,
) -> dict[str, Growing]:
    """Read the wanted columns from beginning to end.

    Parameters
    ----------
    file : DelimitedFile or JsonLinesFile
    choice : Choice
    spool : Store, optional
        Where values lie meanwhile. Without one it is only found out what the columns hold.
    as_text : bool
        Whether all columns hold texts, whatever they look like.
    """
    feature_type = GrowingTyped if isinstance(file, JsonLinesFile) else Growing
    columns: dict[str, Growing] = {}
    n_rows = 0
    for block in file.blocks(choice, as_text):
        for name in block.names:
            if name not in columns:  # JSON lines may bring new ones at any time
                place = Spool(spool, len(block.names)) if spool is not None else None
                columns[name] = feature_type(name, file.text, place, as_text)
                columns[name].add_missing(n_rows)
        for name, values in zip(block.names, block.columns, strict=True):
            columns[name].add(values, block.is_plain)
        n_rows += block.n_rows
    if not columns:
        raise ValueError(f"{str(file.path)!r} has no rows{file.hint_if_empty}")
    _check_marks(file.path, columns.values())
    return columns


def _check_marks(path: Path, columns: Iterable[Growing]) -> None:
    """Refuse a file in which both the point and the comma are decimal marks."""
    marked = {mark: [c.name for c in columns if c.mark == mark and not c.is_mixed] for mark in ",."}
    if marked[","] and marked["."]:
        raise ValueError(
            f"{str(path)!r} has numbers with a decimal comma (column {marked[','][0]!r}) and with "
            f"a decimal point (column {marked['.'][0]!r}). Say which it is: decimal=',' "
            "(--decimal ,) or decimal='.' (--decimal .); columns with the other one are texts then"
        )


def _warn_commas(texts: Sequence[RawColumn]) -> None:
    """Warn of texts that are all numbers if a comma is taken for the decimal mark."""
    if alike := _all_like(_WITH_COMMA, texts):
        warn_caller(
            f"columns of texts that look like numbers with a comma: {quoted(alike)}. If it is the "
            "decimal mark, give decimal=',' (--decimal ,); if it stands between thousands, take it "
            "out"
        )


def _warn_signs(texts: Sequence[RawColumn]) -> None:
    """Warn of texts that would be numbers without a percent sign, a currency or thousands."""
    commas = _all_like(_WITH_COMMA, texts)
    if alike := [name for name in _all_like(_WITH_SIGNS, texts) if name not in commas]:
        warn_caller(
            "columns of texts that look like numbers with a sign, a mark between thousands or "
            f"another decimal mark: {quoted(alike)}. Without these they are read as numbers"
        )


def _warn_words(texts: Sequence[RawColumn]) -> None:
    """Warn of numbers that a few words turn into texts, such as a question mark for unknown."""
    for raw in texts:
        if words := _words_among_numbers(raw.labels or ()):
            options = " ".join(f"--na {shlex.quote(word.strip())}" for word in words)
            warn_caller(
                f"column {raw.name!r} holds numbers, but for {quoted(words)}, and so is one of "
                f"texts. If missing values are meant, say so by TextFormat(missing=...) ({options})"
            )


def _all_like(pattern: re.Pattern[str], texts: Sequence[RawColumn]) -> list[str]:
    return [raw.name for raw in texts if all(map(pattern.fullmatch, raw.labels or ()))]


def _words_among_numbers(labels: Sequence[str]) -> list[str]:
    """Return the few labels that are no numbers, none if there are more.

    Examples
    --------
    >>> _words_among_numbers(["1", "2", "3.5", "4", "?"])
    ['?']
    >>> _words_among_numbers(["1", "few", "some", "many"])
    []
    """
    words: list[str] = []
    for label in labels:
        if not _NUMBER.fullmatch(label):
            words.append(label)
            if len(words) > MOST_WORDS:
                return []
    return words if len(labels) - len(words) >= NUMBERS_A_WORD * len(words) else []
