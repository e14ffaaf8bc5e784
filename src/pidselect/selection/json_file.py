"""JSON files with a checksum: checkpoints and saved selectors. Reading them runs no code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any


def file_header(what: str) -> bytes:
    """Return the first bytes of every file of a kind, by which it is recognised."""
    return b'{"what": ' + to_bytes(what) + b", "


def to_bytes(record: Any) -> bytes:
    """Return JSON in ASCII, which holds any name, lone surrogates included."""
    return json.dumps(record, ensure_ascii=True, allow_nan=False).encode("ascii")


def compose(what: str, version: int, record: Mapping[str, Any], **head: str) -> tuple[bytes, ...]:
    """Return the parts of a file: its kind and version, `head`, the checksum and the record."""
    body = to_bytes(record)
    before = {"format": version, **head, "checksum": sha256(body).hexdigest()}
    return file_header(what), to_bytes(before)[1:-1], b', "record": ', body, b"}\n"


def parse(content: bytes, version: int, *head: str) -> dict[str, Any]:
    """Return the values of a file by key; raise a `DamagedFileError` if any is not as written.

    The checksum is that of the values: other spaces between them change nothing.

    Examples
    --------
    >>> content = b"".join(compose("fit", 1, {"bits": [0.5]}))
    >>> parse(content.replace(b"[0.5]", b"[ 0.5]"), 1)["record"]
    {'bits': [0.5]}
    >>> parse(content.replace(b"[0.5]", b"[0.6]"), 1)
    Traceback (most recent call last):
    ...
    pidselect.selection.json_file.DamagedFileError: is modified or damaged, as its checksum is wrong
    """
    try:
        found = json.loads(content, object_pairs_hook=_without_repeats)
        body = to_bytes(found.get("record"))  # refuses NaN and infinity
    except (ValueError, RecursionError) as error:
        raise DamagedFileError("is truncated or modified, and is left unchanged") from error
    if repr(found.get("format")) != repr(version):  # True == 1
        raise OtherFormatError(
            f"has format {found.get('format')!r} of another version of pidselect; this version "
            f"reads format {version}"
        )
    is_whole = found.keys() == {"what", "format", "checksum", "record", *head}
    if not is_whole or not isinstance(found["record"], dict):
        raise DamagedFileError("is modified, as it has other keys than it was written with")
    if found["checksum"] != sha256(body).hexdigest():
        raise DamagedFileError("is modified or damaged, as its checksum is wrong")
    return found


class DamagedFileError(ValueError):
    """What is wrong with a file, as the end of a sentence about it."""


class OtherFormatError(DamagedFileError):
    """The file is of another version of the format."""


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found
