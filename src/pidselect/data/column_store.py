"""Store: arrays in memory as far as there is room, and beyond that in temporary files."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Callable
from threading import RLock
from typing import IO, Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

#: The size of a file, of which only what is written takes room on the disk. An open file for each
#: array would soon be too many.
FILE_BYTES = 2**30

#: Arrays begin at multiples of this, so that no two share a line of the processor's cache.
ALIGNMENT = 64

#: What is made of a column is found again by its values and by how it was made.
Key = tuple[int, Callable[..., Any]]


class ColumnStore:
    """A place for columns and for what is made of them, with a limit to the memory it takes.

    What exceeds the limit goes to files, which are mapped into memory: the system reads from them
    what is looked at, and takes the memory back whenever somebody else needs it. The files have no
    names and are gone with the last array that lies in them, also if the program is killed. They
    lie where Python's `tempfile` puts files; the environment variable ``TMPDIR`` says where, which
    should not be a disk in memory.

    Parameters
    ----------
    max_bytes : int
        The memory that all arrays together may take before files are used.

    Examples
    --------
    >>> store = Store(max_bytes=1000)
    >>> small, large = store.keep(np.arange(100.0)), store.keep(np.arange(50_000.0))
    >>> float(large.sum()), store.bytes_in_memory, store.bytes_in_files
    (1249975000.0, 800, 400000)
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.bytes_in_memory = 0
        self.bytes_in_files = 0
        self._made: dict[Key, tuple[Any, Any]] = {}
        self._file: IO[bytes] | None = None
        self._map: mmap.mmap | None = None
        self._end = 0
        self._lock = RLock()  # threads may come at once

    def __reduce__(self) -> tuple[type[ColumnStore], tuple[int]]:
        """Travel empty: elsewhere, whatever is missing is made anew."""
        return ColumnStore, (self.max_bytes,)

    def keep(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values, or a copy of them in a file if there is no room for them.

        Either may be written to; a kernel need not be compiled twice.
        """
        with self._lock:
            if self.bytes_in_memory + values.nbytes <= self.max_bytes:
                self.bytes_in_memory += values.nbytes
                return values
            if not values.nbytes:
                return values
            self.bytes_in_files += values.nbytes
            return self._write(np.ascontiguousarray(values))

    def made(
        self, values: NDArray[Any], make: Callable[[NDArray[Any]], NDArray[Any]]
    ) -> NDArray[Any]:
        """Return ``make(values)``, which is made once for as long as the store lasts.

        Examples
        --------
        >>> store, values = Store(max_bytes=1000), np.arange(3.0)
        >>> store.made(values, np.sqrt) is store.made(values, np.sqrt)
        True
        """
        key = id(values), make
        if key not in self._made:
            made = make(values)
            with self._lock:
                if key not in self._made:  # no other thread has come first
                    # Kept together with the values, so that no other array gets their number.
                    self._made[key] = values, self.keep(made)
        return np.asarray(self._made[key][1])

    def _write(self, values: NDArray[Any]) -> NDArray[Any]:
        start = -(-self._end // ALIGNMENT) * ALIGNMENT
        try:
            if self._file is None or self._map is None or start + values.nbytes > len(self._map):
                size = max(FILE_BYTES, values.nbytes)
                if self._file is not None:
                    self._file.close()  # what is mapped stays
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 (it is written to until the end)
                finalize(self, self._file.close)
                self._file.truncate(size)
                self._map = mmap.mmap(self._file.fileno(), size)
                start = 0
            self._file.seek(start)
            self._file.write(values.data)
            self._file.flush()
        except OSError as error:
            raise OSError(
                f"{values.nbytes / 2**20:.0f} MiB of a table do not fit into the folder of "
                f"temporary files, {tempfile.gettempdir()!r} ({error}). Set the environment "
                "variable TMPDIR to one with more room, or use a larger max_memory."
            ) from error
        self._end = start + values.nbytes
        kept = np.frombuffer(self._map, values.dtype, values.size, start)
        return kept.reshape(values.shape)
