"""TextFormat: how the tables in text files are written."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

#: What may stand between the fields of a line, where it is found out.
DELIMITERS = (",", ";", "\t", "|")

#: What stands for a missing value unless told otherwise.
MISSING_WORDS = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "#N/A")


@dataclass(frozen=True)
class TextFormat:
    """How the text of a CSV file, or of JSON lines, is to be read.

    Parameters
    ----------
    delimiter : str, optional
        The character between two fields. Unless given, the one of comma, semicolon, tab and ``|``
        that cuts the first lines into the same number of fields.
    encoding : str
        What bytes stand for which letters; a mark of UTF-8 at the beginning is fine.
    decimal : {".", ","}, optional
        The mark before a number's decimals. Unless given, it is the point; where the delimiter is
        a semicolon, the comma is one, too, but not both in one file.
    missing : tuple of str
        The texts that stand for a missing value, with or without blanks around them.

    Examples
    --------
    >>> TextFormat(decimal=";")
    Traceback (most recent call last):
    ...
    ValueError: decimal=';' is no decimal mark: give '.' or ',' (--decimal , for example)
    """

    delimiter: str | None = None
    encoding: str = "utf-8"
    decimal: str | None = None
    missing: tuple[str, ...] = MISSING_WORDS

    def __post_init__(self) -> None:
        delimiter = self.delimiter
        if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
            raise ValueError(
                f"delimiter={delimiter!r} is no delimiter: give one character, such as ';' "
                "(--delimiter ';'), and no quote; by default it is found out"
            )
        if self.decimal not in (None, ".", ","):
            raise ValueError(
                f"decimal={self.decimal!r} is no decimal mark: give '.' or ',' "
                "(--decimal , for example)"
            )
        if self.decimal is not None and self.decimal == delimiter:
            raise ValueError(
                f"delimiter and decimal cannot both be {delimiter!r}: they would not be told apart"
            )
        try:
            codecs.lookup(self.encoding)
        except LookupError as error:
            raise ValueError(
                f"encoding={self.encoding!r} is unknown; common ones are 'utf-8', 'latin-1', "
                "'cp1252', 'utf-16' (--encoding latin-1)"
            ) from error
        if isinstance(self.missing, str):
            raise TypeError(
                f"missing={self.missing!r} must be a tuple of texts: ({self.missing!r},)"
            )
        object.__setattr__(self, "missing", tuple(self.missing))
