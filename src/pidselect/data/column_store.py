"""ColumnStore: arrays in memory up to a limit, beyond it in temporary files."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Callable
from threading import RLock
from typing import IO, Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

#: The size of a sparse file, which holds many arrays: the number of open files is limited.
FILE_BYTES = 2**30

#: Arrays begin at multiples of this, so that no two share a line of the processor's cache.
ALIGNMENT = 64

#: A derived array is identified by the values and the function it was made by.
Key = tuple[int, Callable[..., Any]]


class ColumnStore:
    """Arrays with a limit to the memory they take, and a cache of arrays derived from them.

    Arrays beyond the limit are in memory-mapped files without names, in the folder of temporary
    files (see the environment variable ``TMPDIR``), and are deleted with the last array in them.

    Parameters
    ----------
    max_bytes : int
        The memory that all arrays together may take before files are used.
    file_bytes : int
        The size of one file.

    Examples
    --------
    >>> store = ColumnStore(max_bytes=1000)
    >>> small, large = store.keep(np.arange(100.0)), store.keep(np.arange(50_000.0))
    >>> float(large.sum()), store.bytes_in_memory, store.bytes_in_files
    (1249975000.0, 800, 400000)
    """

    def __init__(self, max_bytes: int, file_bytes: int = FILE_BYTES) -> None:
        self.max_bytes, self.file_bytes = max_bytes, file_bytes
        self.bytes_in_memory = 0
        self.bytes_in_files = 0
        self._made: dict[Key, tuple[Any, Any]] = {}
        self._file: IO[bytes] | None = None
        self._map: mmap.mmap | None = None
        self._end = 0
        self._lock = RLock()  # threads may come at once

    def __reduce__(self) -> tuple[type[ColumnStore], tuple[int, int]]:
        """Pickle the store without its arrays, which are computed again."""
        return ColumnStore, (self.max_bytes, self.file_bytes)

    def keep(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values, or a writable copy of them in a file beyond the limit."""
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
        """Return ``make(values)``, which is computed once."""
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
                size = max(self.file_bytes, values.nbytes)
                if self._file is not None:
                    self._file.close()  # what is mapped stays
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 (it is written to until the end)
                finalize(self, self._file.close)
                self._file.truncate(size)
                self._map = mmap.mmap(self._file.fileno(), size)
                start = 0
            if os.name == "nt":  # where a file may differ from its map, but is never sparse
                self._map[start : start + values.nbytes] = values.tobytes()
            else:  # a full disk is an error here, but ends the process where a map is written to
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
