"""The GPU: memory there, and the kernels of the ``.cu`` files beside this one, by CuPy.

Nothing else knows CuPy. Kernels are compiled when they are first used, for the number of neighbours
and the like that they are used with; CuPy keeps them on disk.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files
from threading import RLock
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import DTypeLike, NDArray

#: Where kernels are, in the order in which they build on each other.
SOURCES = ("spaces.cu", "rows.cu", "walks.cu")

#: Values that are fixed when a kernel is compiled, by name.
Definitions = tuple[tuple[str, str], ...]

#: Bytes that a block can share without asking for them first.
ALWAYS_SHARED = 2**15


class Device(Protocol):
    """A place with memory of its own that runs kernels."""

    lock: RLock
    #: What was prepared of columns, for as long as they are there.
    prepared: WeakKeyDictionary[Any, dict[Any, Any]]

    @property
    def shared_bytes(self) -> int:
        """The memory that the threads of a block can share."""
        ...

    def free_bytes(self) -> int:
        """Return how much memory is free."""
        ...

    def put(self, array: NDArray[Any]) -> Any:
        """Copy an array to the device."""
        ...

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """Return an array of zeros on the device."""
        ...

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """Return an array on the device, whatever it holds."""
        ...

    def get(self, array: Any) -> NDArray[Any]:
        """Copy an array from the device, once all that was launched is done."""
        ...

    def address(self, array: Any) -> int:
        """Return where an array begins."""
        ...

    def launch(self, kernel: Kernel, grid: tuple[int, int], *arguments: Any) -> None:
        """Run a kernel; arguments are arrays on the device and NumPy's numbers."""
        ...


@dataclass(frozen=True)
class Kernel:
    """A kernel: its name, what it is compiled with, threads and shared bytes of each block."""

    name: str
    definitions: Definitions
    threads: int
    shared: int = 0


@dataclass(eq=False)
class Cuda:
    """The current GPU of CuPy."""

    cupy: Any
    lock: RLock = field(default_factory=RLock)
    prepared: WeakKeyDictionary[Any, dict[Any, Any]] = field(default_factory=WeakKeyDictionary)

    modules: dict[Definitions, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the GPU is called."""
        properties = self.cupy.cuda.runtime.getDeviceProperties(self.cupy.cuda.Device().id)
        return str(properties["name"].decode())

    @cached_property
    def shared_bytes(self) -> int:
        """The memory that the threads of a block can share."""
        return int(self.cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"])

    def module(self, definitions: Definitions) -> Any:
        """Return the kernels compiled with these definitions, which takes a second at first."""
        if definitions not in self.modules:
            options = ("-std=c++17", *(f"-D{name}={value}" for name, value in definitions))
            module = self.cupy.RawModule(code=source(), options=options)
            module.compile()
            self.modules[definitions] = module
        return self.modules[definitions]

    def free_bytes(self) -> int:
        """Return how much memory is free, what CuPy keeps for later included."""
        free, _ = self.cupy.cuda.runtime.memGetInfo()
        return int(free) + int(self.cupy.get_default_memory_pool().free_bytes())

    def put(self, array: NDArray[Any]) -> Any:
        """Copy an array to the GPU."""
        return self.cupy.asarray(array)

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """Return an array of zeros on the GPU."""
        return self.cupy.zeros(shape, dtype)

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """Return an array on the GPU, whatever it holds."""
        return self.cupy.empty(shape, dtype)

    def get(self, array: Any) -> NDArray[Any]:
        """Copy an array from the GPU, once all that was launched is done."""
        return np.asarray(self.cupy.asnumpy(array))

    def address(self, array: Any) -> int:
        """Return where an array begins."""
        return int(array.data.ptr)

    def launch(self, kernel: Kernel, grid: tuple[int, int], *arguments: Any) -> None:
        """Run a kernel; arguments are arrays on the GPU and NumPy's numbers."""
        function = self.module(kernel.definitions).get_function(kernel.name)
        if kernel.shared > ALWAYS_SHARED:
            function.max_dynamic_shared_size_bytes = kernel.shared
        function(grid, (kernel.threads,), arguments, shared_mem=kernel.shared)


def source() -> str:
    """Return the source of the kernels."""
    folder = files("pidselect.estimators")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in SOURCES)


@lru_cache(maxsize=1)
def cuda() -> Cuda:
    """Return the GPU, or say in one sentence what is missing.

    Raises
    ------
    RuntimeError
        If there is no CuPy, no driver or no GPU.
    """
    otherwise = 'or use device="cpu", which gives the same result.'
    try:
        import cupy
    except ImportError as error:
        raise RuntimeError(
            'device="cuda" needs CuPy, which cannot be imported here: install it with '
            f'"pip install pidselect[cuda]" (or cupy-cuda12x for CUDA 12), {otherwise}'
        ) from error
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise RuntimeError(
            f'device="cuda" found no GPU that works ({error}): check with nvidia-smi that the '
            f"driver runs and is new enough for CuPy's CUDA, {otherwise}"
        ) from error
    if not n_devices:
        raise RuntimeError(f'device="cuda" found no GPU: make one visible, {otherwise}')
    gpu = Cuda(cupy)
    try:
        gpu.module((("PLACE", "uint16"),))
    except Exception as error:  # CuPy raises what its compiler does, of many kinds
        raise RuntimeError(
            f'device="cuda" found {gpu.name}, but CuPy cannot compile for it ({error}): install '
            f'the CUDA toolkit with "pip install cupy-cuda13x[ctk]", {otherwise}'
        ) from error
    return gpu
