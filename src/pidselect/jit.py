"""The decorator of compiled functions, and the folder on disk where they are kept.

Numba is imported by the first call of a kernel: what calls none does not wait for it.

One folder serves all installations of a user: its name is a hash of the sources of all kernels and
of the versions that code depends on. So a wheel, an editable install and another virtual
environment share compiled code, and a changed kernel, or one that calls it, is compiled again.
"""

from __future__ import annotations

import logging
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, lru_cache, update_wrapper
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

logger = logging.getLogger(__name__)


def njit(**options: Any) -> Callable[[Any], Any]:
    """Compile a function as `numba.njit` does, and keep it on disk for all installations."""
    return lambda function: LazyKernel(function, options)


class LazyKernel:
    """A function that Numba compiles when Python or another kernel first calls it.

    Attributes are those of Numba's function.
    """

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self._options = options

    @cached_property
    def _compiled(self) -> Any:
        import numba

        # No kernel is passed to another one as a function, which needs a wrapper of its own.
        options = {**self._options, "cache": False, "no_cfunc_wrapper": True}
        dispatcher = numba.njit(**options)(self.__wrapped__)
        if self._options.get("cache") and hasattr(dispatcher, "_cache"):  # if any is compiled
            dispatcher._cache = KernelCache(self.__wrapped__)
        return dispatcher

    def __call__(self, *arguments: Any) -> Any:
        """Call Numba's function."""
        return self._compiled(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._compiled, name)


class KernelCache:
    """The compiled versions of one function, one file each.

    Files are written under another name and renamed, so that processes can share the folder. Where
    it cannot be read or written, functions are compiled by every process. It takes the place of a
    private part of Numba, which an update may change: pyproject.toml has an upper bound.
    """

    cache_path = None

    def __init__(self, function: Any) -> None:
        self._name = f"{function.__module__}.{function.__qualname__}"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the version for some argument types, or None if there is none on disk."""
        from numba.core.compiler import CompileResult

        target_context.refresh()
        key = (sig, target_context.codegen().magic_tuple())
        path = self._path(key)
        with suppress(OSError, EOFError, pickle.UnpicklingError):
            saved_key, saved = pickle.loads(path.read_bytes())
            if saved_key == key:
                return CompileResult._rebuild(target_context, *saved)
        announce()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write a version for some argument types."""
        from numba.core.serialize import dumps

        if data.library.has_dynamic_globals:
            return
        key = (sig, data.codegen.magic_tuple())
        path = self._path(key)
        temporary = path.with_suffix(f".{uuid4().hex}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(dumps((key, data._reduce())))
            temporary.replace(path)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            if isinstance(error, PermissionError) and path.exists():
                return  # another process has written it, and Windows replaces no open file
            warn_unwritable(path.parent, str(error.strerror))

    def _path(self, key: Any) -> Path:
        return cache_folder() / f"{self._name}-{sha256(repr(key).encode()).hexdigest()[:16]}.kernel"


@lru_cache(maxsize=1)
def cache_folder() -> Path:
    """Return the folder of compiled kernels: in NUMBA_CACHE_DIR, or in the user's cache."""
    import numba
    from numba import config
    from numba.misc.appdirs import user_cache_dir

    parent = Path(config.CACHE_DIR or user_cache_dir("pidselect", appauthor=False))
    versions = (numba.__version__, sys.implementation.cache_tag)
    settings = (config.OPT, config.BOUNDSCHECK, config.LOOP_VECTORIZE, config.SLP_VECTORIZE)
    identity = sha256(repr((versions, settings)).encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        if b"njit" in (source := path.read_bytes()):
            identity.update(source)
    return parent / f"kernels-{identity.hexdigest()[:16]}"


@lru_cache(maxsize=1)
def announce() -> None:
    """Say that kernels are compiled, once."""
    logger.info("Compiling kernels (once, 10 to 20 s)")


@lru_cache(maxsize=1)
def warn_unwritable(folder: Path, reason: str) -> None:
    """Warn that kernels are not kept."""
    logger.warning(
        f"Compiled kernels cannot be kept in {folder}: {reason}. Set NUMBA_CACHE_DIR to a folder "
        "that can be written."
    )
