"""A file of JSON that is whole at any moment, and that is never written over unread."""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from pidselect.data.atomic_write import atomic_write

#: What the file says that it is, and the number of its form.
WHAT = "pidselect checkpoint"
FORMAT = 1

#: How the file begins, and where it says who wrote it last.
BEGINNING = f'{{"what": "{WHAT}", '.encode()
STAMP = re.compile(rb'"written": "([0-9a-f]+-[0-9]+)"')
HEAD = 256

#: Files under way that are older, in seconds, are of processes that were killed.
STALE = 3600.0

WAY_OUT = "Give another path, or delete the file to begin anew."


class SafeFile:
    """A file that one process at a time reads, and then writes again and again.

    What is written goes to a file of its own, is brought to the disk, and is then moved to its
    place, as systems do at once. A checksum tells a file that was cut short or changed; a stamp
    tells whether another process has written meanwhile.

    Parameters
    ----------
    path : Path

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = SafeFile(Path(folder, "known.json"))
    ...     print(file.read())
    ...     file.write({"bits": [0.5]})
    ...     print(SafeFile(Path(folder, "known.json")).read())
    None
    {'bits': [0.5]}
    """

    def __init__(self, path: Path) -> None:
        self._path = Path(os.path.realpath(path))  # where a link leads, and wherever we go later
        self._stamp: str | None = None
        self._writer = secrets.token_hex(8)
        self._n_written = 0

    @property
    def is_there(self) -> bool:
        """Whether it was read or written."""
        return self._stamp is not None

    def refusal(self, why: str) -> ValueError:
        """Return an error that says why the file is of no use."""
        return ValueError(f"The checkpoint {str(self._path)!r} {why}. {WAY_OUT}")

    def read(self) -> dict[str, Any] | None:
        """Return what was written last, None if there is no file; refuse anything else."""
        if self._path.exists() and not self._path.is_file():
            raise ValueError(
                f"checkpoint={str(self._path)!r} is a folder or a device: give the path of a file."
            )
        try:
            with self._path.open("rb") as file:
                content = file.read(HEAD)
                if not content.startswith(BEGINNING):  # who knows how large it is
                    raise self.refusal("is no checkpoint, and is left as it is")
                content += file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise OSError(
                error.errno,
                f"The checkpoint {str(self._path)!r} cannot be read ({error.strerror})",
            ) from error
        try:
            found = json.loads(content)
            record = found.get("record")
            body = _to_bytes(record)  # which refuses numbers that JSON does not have
        except (ValueError, RecursionError) as error:
            raise self.refusal("was cut short or changed, and is left as it is") from error
        if found.get("format") != FORMAT:
            raise self.refusal(
                f"has format {found.get('format')!r}, of another version of pidselect; this one "
                f"knows format {FORMAT}"
            )
        if not isinstance(record, dict) or found.get("checksum") != _checksum(body):
            raise self.refusal("was changed or damaged, as its checksum is wrong")
        self._stamp = str(found.get("written"))
        return record

    def write(self, record: Mapping[str, Any]) -> None:
        """Put a record in place of the one before, at once."""
        try:
            self._check_nobody_else()
            stamp = f"{self._writer}-{self._n_written}"
            body = _to_bytes(record)
            head = {"what": WHAT, "format": FORMAT, "written": stamp, "checksum": _checksum(body)}
            # Who wrote it comes first, so that it is found without reading all of it.
            self._replace(_to_bytes(head)[:-1], b', "record": ', body, b"}\n")
        except OSError as error:
            raise OSError(
                error.errno,
                f"The checkpoint {str(self._path)!r} could not be written ({error.strerror}). What "
                "was written before is whole: once writing works, fit goes on from there. Or give "
                "another path",
            ) from error
        self._stamp, self._n_written = stamp, self._n_written + 1

    def _check_nobody_else(self) -> None:
        """Refuse to write over what somebody else has written since."""
        try:
            with self._path.open("rb") as file:
                found = STAMP.search(file.read(HEAD))
        except FileNotFoundError:
            return
        if found is None or found[1].decode() != self._stamp:
            raise RuntimeError(
                f"Another fit has written to the checkpoint {str(self._path)!r} meanwhile. A "
                "checkpoint is for one fit at a time: give each its own path."
            )

    def _replace(self, *parts: bytes) -> None:
        folder = self._path.parent
        if not self._n_written:
            _tidy(folder)
        with atomic_write(self._path) as file:
            file.writelines(parts)
        with suppress(OSError):  # not every system lets folders be synchronised
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _to_bytes(record: Mapping[str, Any]) -> bytes:
    """Return JSON in ASCII: names may hold what no other encoding takes, such as half a pair."""
    return json.dumps(record, ensure_ascii=True, allow_nan=False).encode("ascii")


def _checksum(body: bytes) -> str:
    return sha256(body).hexdigest()


def _tidy(folder: Path) -> None:
    """Remove what processes left behind that were killed while they wrote."""
    for left in folder.glob(".pidselect-*.part"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > STALE:
                left.unlink()
