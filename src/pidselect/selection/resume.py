"""Checkpoints: a file of known values, from which an interrupted fit is resumed.

A fit is a pure function of its data, settings and seed. To resume it, it is run again, and known
values are read instead of computed: of a finished test its result, of the test in progress those of
the tasks so far. The key of a value is a digest of all that determines it within the fit, and
values are stored exactly. The file is an SQLite database, locked while the fit runs.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from pidselect import __version__
from pidselect.data import Dataset, FloatArray, IntArray
from pidselect.significance.validation import to_seed

#: The version of what is in the file, and the key of the identity of its fit.
FORMAT, IDENTITY = 1, b"identity"

#: Seconds between two writes.
INTERVAL = 10.0

#: What is wrong with a file, by the code of SQLite's error.
FOREIGN, DAMAGED = "is no checkpoint", "is truncated or damaged"
REASONS = {
    sqlite3.SQLITE_BUSY: "is in use by another fit",
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_ERROR: FOREIGN,  # a database with other tables
    sqlite3.SQLITE_NOTADB: FOREIGN,
}


class CheckpointError(ValueError):
    """A file is no checkpoint of this fit, or cannot be read or written."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"The checkpoint {str(path)!r} {reason}. What it holds is left as it was: use another "
            "path, where there is space; to start again, delete the file."
        )


class Results:
    """Known values of a fit by key: new ones are in memory, and from time to time in the file."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._new: dict[bytes, bytes] = {}
        self._parts: set[bytes] = set()  # of the result that is being computed
        self._obsolete: set[bytes] = set()
        self._due = time.monotonic() + INTERVAL

    def find(self, key: bytes) -> list[FloatArray] | None:
        """Return the arrays of a key, or None."""
        self._parts.add(key)
        self._obsolete.discard(key)
        if key in self._new:
            return unpack(self._new[key])
        found = self._database.execute("SELECT value FROM known WHERE key = ?", (key,)).fetchone()
        return None if found is None else unpack(found[0])

    def put(self, key: bytes, *arrays: FloatArray) -> None:
        """Keep the arrays of a key."""
        self._new[key] = pack(arrays)
        if time.monotonic() >= self._due:
            self.write()

    def recall(self, key: bytes, run: Callable[[], Sequence[FloatArray]]) -> Sequence[FloatArray]:
        """Return a result, computed unless it is known; then it replaces those it is made of."""
        found: Sequence[FloatArray] | None = self.find(key)
        if found is None:
            outer, self._parts = self._parts, set()
            found = run()
            self._obsolete |= self._parts
            self._parts = outer
            self.put(key, *found)
        return found

    def write(self) -> None:
        """Write what is new to the file, all of it or nothing."""
        new = {key: self._new[key] for key in self._new.keys() - self._obsolete}
        rows = ((key, value, digest(key, value)) for key, value in new.items())
        with self._database as database:
            database.execute("BEGIN")
            database.executemany("DELETE FROM known WHERE key = ?", zip(self._obsolete))
            database.executemany("INSERT OR REPLACE INTO known VALUES (?, ?, ?)", rows)
        self._new, self._obsolete = {}, set()
        self._due = time.monotonic() + INTERVAL


def pack(arrays: Iterable[FloatArray]) -> bytes:
    """Return arrays as the bytes of .npy files, without pickle."""
    buffer = BytesIO()
    for array in arrays:
        np.save(buffer, np.asarray(array, dtype=np.float64), allow_pickle=False)
    return buffer.getvalue()


def unpack(content: bytes) -> list[FloatArray]:
    """Return the arrays that `pack` has packed."""
    buffer, arrays = BytesIO(content), []
    while buffer.tell() < len(content):
        arrays.append(np.load(buffer, allow_pickle=False))
    return arrays


@contextmanager
def recording(path: Path, identity: bytes) -> Iterator[Results]:
    """Open the file of a fit, and store what is computed in this block, even if it fails."""
    with _opened(path) as (database, stored):
        if stored is None:
            database.execute("CREATE TABLE known (key BLOB PRIMARY KEY, value BLOB, checksum BLOB)")
            row = IDENTITY, identity, digest(IDENTITY, identity)
            database.execute("INSERT INTO known VALUES (?, ?, ?)", row)
        elif found := differences(stored, json.loads(identity)):
            raise CheckpointError(path, f"is of another fit: {found}")
        database.execute("COMMIT")
        results = Results(database)
        try:
            yield results
        except BaseException:
            with suppress(sqlite3.Error):  # the first error is the one to raise
                results.write()
            raise
        results.write()


def find_seed(path: Path | None, random_state: Any) -> int:
    """Return the seed of a fit: that of its file, unless another one is given."""
    if random_state is None and path is not None and path.exists():
        with _opened(path) as (_, stored):
            if stored is not None:
                return int(stored["seed"])
    return to_seed(random_state)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[sqlite3.Connection, dict[str, Any] | None]]:
    """Lock a file and check all of it; yield it in a transaction, with the identity of its fit."""
    place = Path(os.path.realpath(path))  # the working directory may change
    if place.exists() and not place.is_file():
        raise CheckpointError(path, "is a folder or a device")
    try:
        with closing(sqlite3.connect(place, timeout=0.0, isolation_level=None)) as database:
            database.text_factory = bytes  # damaged text is not decoded
            database.execute("PRAGMA locking_mode = EXCLUSIVE")
            database.execute("BEGIN EXCLUSIVE")
            yield database, _check(database, path) if place.stat().st_size else None
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        reason = REASONS.get(code, f"cannot be read or written ({error})")
        raise CheckpointError(path, reason) from error


def _check(database: sqlite3.Connection, path: Path) -> dict[str, Any]:
    """Return the identity of the fit of a file; raise unless all of it is as it was written."""
    identity, is_whole = b"", True
    with suppress(UnicodeDecodeError):  # of SQLite's message about a damaged schema
        for key, value, checksum in database.execute("SELECT key, value, checksum FROM known"):
            is_whole &= type(key) is type(value) is bytes and checksum == digest(key, value)
            identity = value if key == IDENTITY else identity
        is_whole &= database.execute("PRAGMA quick_check").fetchall() == [(b"ok",)]
    if not (is_whole and identity):
        raise CheckpointError(path, DAMAGED)
    return dict(json.loads(identity))


def identify(asked: Mapping[str, Any], data: Dataset, groups: IntArray | None) -> bytes:
    """Return what determines a fit: settings; of the data names, types and digests, no values."""
    n_samples = data.target.n_samples
    found: dict[str, Any] = {"format": FORMAT, "pidselect": __version__, "n_samples": n_samples}
    for kind, columns in (("column", data.table.columns), ("target", data.target.columns)):
        found[f"order of {kind}s"] = digest(to_json([column.name for column in columns])).hex()
        for column in columns:
            content = digest(to_json(column.labels), column.values.tobytes()).hex()
            found[f"{kind} {column.name!r}"] = f"{column.feature_type}, {content}"
    found["groups"] = None if groups is None else digest(groups.tobytes()).hex()
    return to_json({**found, **asked})


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Describe how two fits differ; empty if they do not."""
    found = [
        f"{name} was {before.get(name)!r} and is {now.get(name)!r}"
        for name in {**before, **now}
        if before.get(name) != now.get(name)
    ]
    return "; ".join(found[:3]) + f"; and {len(found) - 3} more" * (len(found) > 3)


def digest(*parts: bytes) -> bytes:
    """Return a digest of bytes."""
    return blake2b(b"".join(parts), digest_size=16).digest()


def to_json(content: Any) -> bytes:
    """Return settings as JSON, objects as their class and parameters."""

    def describe(value: Any) -> Any:
        if hasattr(value, "tolist"):  # an array, or a number of NumPy
            return value.tolist()
        if hasattr(value, "__qualname__"):
            return f"{value.__module__}.{value.__qualname__}"
        cls, found = type(value), getattr(value, "__dict__", {"value": repr(value)})
        if hasattr(value, "get_params"):
            found = value.get_params(deep=False)
        return {"class": f"{cls.__module__}.{cls.__qualname__}", **found}

    return json.dumps(content, default=describe).encode()
