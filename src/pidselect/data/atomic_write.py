"""Files that are whole at any moment: the one of before, or the one of after."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a file beside its place, and move it there when all is written."""
    place = Path(os.path.realpath(path))  # where a link leads
    beside = place.parent / f".pidselect-{secrets.token_hex(8)}.part"
    try:
        with beside.open("xb") as file:
            with suppress(OSError):  # who may read it, stays as it was
                beside.chmod(place.stat().st_mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, place)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
