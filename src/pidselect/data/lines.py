"""Text files, packed or not -> blocks of numbered lines, or what is wrong with their bytes."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn, cast

from .text_format import TextFormat

#: So much text is in memory at a time, in characters.
BLOCK_CHARACTERS = 2**22

#: How much of a line is shown in a message.
SHOWN_CHARACTERS = 60

PACKED = ".gz"

#: How files begin that are no text, with what they are and how their names end.
BEGINNINGS = {
    b"PAR1": ("a Parquet file", ".parquet"),
    b"ARROW1": ("an Arrow file", ".arrow"),
    b"\x1f\x8b": ("packed by gzip", PACKED),
}


@dataclass(frozen=True)
class Lines:
    """Lines of a file that stand together.

    Parameters
    ----------
    first : int
        The number of the first one, which is 1 at the beginning of the file.
    lines : list of str
        With their ends.
    is_plain : bool
        Whether all is ASCII without an underscore, so that a number is one to everybody.
    """

    first: int
    lines: list[str]
    is_plain: bool


def read_lines(path: Path, text: TextFormat, size: int | None = None) -> Iterator[Lines]:
    r"""Yield the lines of a file in blocks of about `size` characters.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.csv")
    ...     _ = path.write_bytes(b"a,b\r\n1,2\r\n")
    ...     [block.lines for block in read_lines(path, TextFormat())]
    [['a,b\r\n', '1,2\r\n']]
    """
    hint, first = size or BLOCK_CHARACTERS, 1
    with _opened(path) as file:
        _check_beginning(path, _first_bytes(path, file), text.encoding)
        wrapper = io.TextIOWrapper(file, encoding=_encoding(text), newline="")
        while lines := _next_lines(path, wrapper, hint, text):
            together = "".join(lines)
            if "\0" in together:
                _raise_nul(path, first, lines)
            yield Lines(first, lines, together.isascii() and "_" not in together)
            first += len(lines)


def start_of(line: str) -> str:
    r"""Return the beginning of a line, for messages.

    Examples
    --------
    >>> start_of("1,2\n")
    "'1,2'"
    """
    bare = line.rstrip("\r\n")
    cut = bare[:SHOWN_CHARACTERS]
    return repr(cut) + ("..." if len(cut) < len(bare) else "")


def _opened(path: Path) -> IO[bytes]:
    if path.suffix.lower() == PACKED:
        return cast(IO[bytes], gzip.open(path, "rb"))
    return path.open("rb")


def _encoding(text: TextFormat) -> str:
    is_utf8 = codecs.lookup(text.encoding).name == "utf-8"
    return "utf-8-sig" if is_utf8 else text.encoding  # which takes the mark, if there is one


def _first_bytes(path: Path, file: IO[bytes]) -> bytes:
    try:
        beginning = file.read(max(map(len, BEGINNINGS)))
        file.seek(0)
    except (OSError, EOFError, zlib.error) as error:
        _raise_broken(path, error)
    return beginning


def _next_lines(path: Path, wrapper: io.TextIOWrapper, hint: int, text: TextFormat) -> list[str]:
    try:
        return wrapper.readlines(hint)
    except UnicodeDecodeError as error:
        _raise_encoding(path, text, error)
    except (OSError, EOFError, zlib.error) as error:
        _raise_broken(path, error)


def _check_beginning(path: Path, beginning: bytes, encoding: str) -> None:
    """Refuse what is no text, or text in another encoding than stated, by its first bytes."""
    is_wide = codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))
    if beginning[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) and not is_wide:
        raise ValueError(
            f"{str(path)!r} is not {encoding}: it begins with the mark of UTF-16. Give "
            "encoding='utf-16' (--encoding utf-16), or save it as UTF-8"
        )
    for first, (what, ending) in BEGINNINGS.items():
        if beginning.startswith(first):
            name = f"{path}{ending}" if ending == PACKED else path.with_suffix(ending)
            raise ValueError(
                f"{str(path)!r} is no text: by its first bytes it is {what}. Rename it to "
                f"{str(name)!r}"
            )
    if beginning.startswith(b"PK\x03\x04"):
        raise ValueError(
            f"{str(path)!r} is no text but a zip archive or a spreadsheet: unpack it, or save it "
            "as CSV"
        )


def _raise_nul(path: Path, first: int, lines: list[str]) -> NoReturn:
    number, line = next((n, line) for n, line in enumerate(lines, first) if "\0" in line)
    raise ValueError(
        f"{str(path)!r}, line {number}: there is a NUL byte at character {line.index(chr(0)) + 1}, "
        f"which no text has: {start_of(line)}. If the file is UTF-16, give encoding='utf-16' "
        "(--encoding utf-16); otherwise it is damaged, or no text"
    )


def _raise_broken(path: Path, error: Exception) -> NoReturn:
    if path.suffix.lower() != PACKED:
        raise error
    raise ValueError(
        f"{str(path)!r} cannot be unpacked ({error}): it is cut short or damaged, or no gzip file. "
        "Get it anew, or let its name say what it is"
    ) from error


def _raise_encoding(path: Path, text: TextFormat, error: UnicodeDecodeError) -> NoReturn:
    """Read the file again, to say in which line and where the first wrong byte is."""
    decoder = codecs.getincrementaldecoder(_encoding(text))()
    line, place, was_return = 1, 0, False
    with _opened(path) as file:
        while chunk := file.read(2**16):
            try:
                decoded = decoder.decode(chunk)
            except UnicodeDecodeError as found:
                good = found.object[: found.start]
                decoded = good.decode(text.encoding, "replace")
                place += found.start + len(chunk) - len(found.object) + 1
                line += _line_ends(decoded, was_return)
                wrong = found.object[found.start]
                break
            line += _line_ends(decoded, was_return)
            was_return = decoded.endswith("\r")
            place += len(chunk)
        else:  # it ends in the middle of a letter
            wrong = error.object[error.start]
    other = "latin-1" if codecs.lookup(text.encoding).name != "iso8859-1" else "utf-8"
    raise ValueError(
        f"{str(path)!r}, line {line}: byte {place} (0x{wrong:02x}) is not {text.encoding}. Give "
        f"the file's encoding: encoding={other!r} (--encoding {other}) for example; spreadsheets "
        "of western languages often write 'cp1252'"
    ) from error


def _line_ends(text: str, was_return: bool) -> int:
    """Return how many lines end in a text; an end of two characters may have begun before."""
    half = was_return and text.startswith("\n")
    return text.count("\n") + text.count("\r") - text.count("\r\n") - half
