"""A column of texts, read as numbers, booleans, times, or labels."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import numpy as np

from .column import FloatArray
from .raw_column import BOOLS, EXACT_INTEGERS, Form, RawColumn, seconds_of, to_float, warn_merged

_CLOCK = r"(?:[01]\d|2[0-3]):\d\d(?::\d\d(?:\.\d{1,9})?)?"
CLOCK = re.compile(_CLOCK, re.ASCII)
MOMENT = re.compile(rf"\d{{4}}-\d\d-\d\d(?:[T ]{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
INTEGER = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)

TRUTHS = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}

Forms = tuple[str, ...]

#: What a column may hold unless it holds texts; no text has two of these forms.
FORMS: Forms = ("number", "boolean", "time")


def from_texts(
    name: str, texts: Any, words: frozenset[str], decimal: str | None = ".", forms: Forms = FORMS
) -> tuple[RawColumn, str | None]:
    """Read texts (a series of polars); return the decimal mark that was found as well.

    Unless all have one of the `forms`, they are labels. `words` denote missing values, with or
    without blanks around them. Where `decimal` is None either mark may occur, but not both.
    """
    import polars

    if "number" in forms and decimal == "." and not any(map(_is_number, words)):
        numbers = _numbers(texts)  # mostly there are no words or blanks in it
        if numbers is not None:
            return _number_column(name, texts, numbers), None
    present = without_words(texts, words)
    if "number" in forms:
        marks = [m for m in ",." if decimal != "." and present.str.contains(m, literal=True).any()]
        points = present.str.strip_chars().str.replace_all("," if marks else ".", ".", literal=True)
        is_one_mark = not marks or marks == [decimal or marks[0]]
        numbers = _numbers(points) if is_one_mark else None
        if numbers is not None:
            return _number_column(name, points, numbers), marks[0] if marks else None
    labels = sorted(present.drop_nulls().unique())
    codes = present.cast(polars.Enum(labels)).to_physical().cast(polars.Int64).fill_null(-1)
    form, values = _values(labels, forms)
    known = {"text": tuple(labels), "bool": BOOLS}.get(form)
    return RawColumn(name, form, np.array([*values, np.nan])[codes.to_numpy()], known), None


def without_words(texts: Any, words: frozenset[str]) -> Any:
    """Return the texts with null for those that denote a missing value."""
    import polars

    is_missing = texts.str.strip_chars().is_in(sorted(words))
    return texts.zip_with(~is_missing, polars.Series([None], dtype=polars.String))


def _is_number(word: str) -> bool:
    with suppress(ValueError):
        return not np.isnan(float(word))
    return False


def _numbers(texts: Any) -> FloatArray | None:
    """Return texts as numbers, null as NaN; None if any is no number."""
    import polars

    numbers = texts.cast(polars.Float64, strict=False)
    if numbers.null_count() > texts.null_count():
        return None
    return np.array(numbers.to_numpy(), dtype=np.float64)


def _number_column(name: str, texts: Any, numbers: FloatArray) -> RawColumn:
    large = np.flatnonzero(np.abs(numbers) >= EXACT_INTEGERS)
    if len(large):
        whole = set(map(int, filter(INTEGER.fullmatch, texts.gather(large).unique())))
        warn_merged(name, len(whole), len(set(map(to_float, whole))))
    return RawColumn(name, "number", numbers)


def _values(labels: Sequence[str], forms: Forms) -> tuple[Form, Sequence[float]]:
    """Return what labels hold, and the value of each: the number of a text, 1 for true, seconds."""
    if not labels:
        return "number", []
    if "boolean" in forms and TRUTHS.keys() >= set(labels):
        return "bool", [TRUTHS[label] for label in labels]
    for pattern, before in ((MOMENT, ""), (CLOCK, "1970-01-01T")):
        if "time" in forms and all(map(pattern.fullmatch, labels)):
            with suppress(ValueError, OverflowError):  # the 30th of February
                return "time", [
                    seconds_of("", datetime.fromisoformat(before + label)) for label in labels
                ]
    return "text", range(len(labels))


def typed(texts: Any, forms: Forms, words: frozenset[str], decimal: str | None) -> Any:
    """Return texts as polars writes what they hold: numbers, booleans, times, or texts."""
    import polars

    present = without_words(texts, words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what was read has warned
        raw, mark = from_texts("", texts, words, decimal, forms)
    values = polars.Series(raw.values, nan_to_null=True)
    match raw.form:
        case "bool":
            return values.cast(polars.Boolean)
        case "time":
            return (values * 1e6).round().cast(polars.Int64).cast(polars.Datetime("us"))
        case "number":
            integers = present.str.strip_chars().cast(polars.Int64, strict=False)
            if integers.null_count() == present.null_count():
                return integers
            is_exact = mark or not np.any(np.abs(raw.values) >= EXACT_INTEGERS)
            return values if is_exact else present
    return present
