"""The decorator of compiled functions, which are cached on disk.

Numba compiles a function again if its own file has changed, but not if that of a function it calls
has. So the sources of all kernels are part of what identifies a cached function here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba

#: The packages with compiled functions.
PACKAGES = ("decomposition", "estimators", "significance")


def njit(**options: Any) -> Callable[[Any], Any]:
    """Compile a function as `numba.njit` does, again if any kernel of the package has changed."""

    def compiled(function: Any) -> Any:
        dispatcher = numba.njit(**options)(function)
        # Private parts of Numba, which an update may rename: pyproject.toml has an upper bound.
        # There is no such file if caching or compilation is switched off.
        file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
        if file is not None:
            file._source_stamp = (file._source_stamp, kernel_sources())
        return dispatcher

    return compiled


@lru_cache(maxsize=1)
def kernel_sources() -> str:
    """Return a hash of all sources with compiled functions."""
    total = sha256()
    for package in PACKAGES:
        for path in sorted(Path(__file__).with_name(package).rglob("*.py")):
            source = path.read_bytes()
            if b"njit" in source or b"numba" in source:
                total.update(source)
    return total.hexdigest()
