"""The GPU by CuPy: memory, and compilation of the kernels in the ``.cu`` files.

Kernels are compiled on first use, for the number of neighbours and other definitions; CuPy caches
them on disk.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files
from threading import RLock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import DTypeLike, NDArray

#: Package and files of some kernels, in the order of their dependence.
Sources = tuple[tuple[str, str], ...]

#: What all kernels need, and the kernels of the estimators.
TYPES: Sources = ((__package__, "types.cu"),)
SCORING: Sources = (
    *TYPES,
    *((__package__, name) for name in ("neighbours.cu", "candidates.cu", "scoring.cu")),
)

#: Threads of a warp, and permutations scored at a time.
LANES = 32

#: Preprocessor definitions of a compiled kernel.
Definitions = tuple[tuple[str, str], ...]

#: Bytes of shared memory of a block that need not be requested.
DEFAULT_SHARED_BYTES = 2**15


@dataclass(frozen=True)
class Kernel:
    """A kernel: name, definitions, threads and shared bytes of a block, and its sources."""

    name: str
    definitions: Definitions
    threads: int
    shared: int = 0
    sources: Sources = SCORING


@dataclass(eq=False)
class Cuda:
    """The current GPU of CuPy."""

    cupy: Any
    lock: RLock = field(default_factory=RLock)
    #: Scaled and sorted columns by scale, as long as the columns exist.
    prepared: WeakKeyDictionary[Any, dict[Any, Any]] = field(default_factory=WeakKeyDictionary)
    modules: dict[tuple[Sources, Definitions], Any] = field(default_factory=dict)
    threads: int = 256  # of a block
    max_uint16_samples: int = 2**16  # up to which indices of samples have 16 bits

    @cached_property
    def shared_bytes(self) -> int:
        """The shared memory of a block."""
        return int(self.cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"])

    def module(self, sources: Sources, definitions: Definitions) -> Any:
        """Return kernels compiled with these definitions."""
        if (sources, definitions) not in self.modules:
            options = ("-std=c++17", *(f"-D{name}={value}" for name, value in definitions))
            module = self.cupy.RawModule(code=read_sources(sources), options=options)
            module.compile()
            self.modules[sources, definitions] = module
        return self.modules[sources, definitions]

    def free_bytes(self) -> int:
        """Return the free memory, including that cached by CuPy."""
        free, _ = self.cupy.cuda.runtime.memGetInfo()
        return int(free) + int(self.cupy.get_default_memory_pool().free_bytes())

    def put(self, array: NDArray[Any]) -> Any:
        """Copy an array to the GPU."""
        return self.cupy.asarray(array)

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        """Return an uninitialized array on the GPU."""
        return self.cupy.empty(shape, dtype)

    def get(self, array: Any) -> NDArray[Any]:
        """Copy an array from the GPU, after all launched kernels."""
        return np.asarray(self.cupy.asnumpy(array))

    def address(self, array: Any) -> int:
        """Return the address of an array."""
        return int(array.data.ptr)

    def launch(self, kernel: Kernel, grid: tuple[int, int], *arguments: Any) -> None:
        """Run a kernel; arguments are arrays on the GPU and NumPy scalars."""
        function = self.module(kernel.sources, kernel.definitions).get_function(kernel.name)
        if kernel.shared > DEFAULT_SHARED_BYTES:
            function.max_dynamic_shared_size_bytes = kernel.shared
        function(grid, (kernel.threads,), arguments, shared_mem=kernel.shared)


def read_sources(sources: Sources) -> str:
    """Return the text of some sources."""
    texts = (files(package).joinpath(name).read_text(encoding="utf-8") for package, name in sources)
    return "\n".join(texts)


def index_type(device: Cuda, n_samples: int) -> np.dtype[Any]:
    """Return the smallest type for the index of any sample."""
    return np.dtype(np.uint16 if n_samples <= device.max_uint16_samples else np.uint32)


def index_definition(device: Cuda, n_samples: int) -> Definitions:
    """Return the `index_type` as a definition for kernels."""
    return (("INDEX", index_type(device, n_samples).name),)


@dataclass(frozen=True, eq=False)
class CudaRows:
    """Permutations on a device, copied to the CPU on demand."""

    device: Cuda
    array: Any  # (n_rows, n_samples), of the type of indices

    def __len__(self) -> int:
        return int(self.array.shape[0])

    @cached_property
    def on_cpu(self) -> NDArray[np.int32]:
        """The permutations in the memory of the CPU."""
        with self.device.lock:
            return self.device.get(self.array).astype(np.int32)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.on_cpu if dtype is None else self.on_cpu.astype(dtype)

    def __getitem__(self, rows: Any) -> NDArray[np.int32]:
        return self.on_cpu[rows]


@lru_cache(maxsize=1)
def cuda() -> Cuda:
    """Return the GPU; a RuntimeError says if CuPy, a driver, a compiler or a GPU is missing."""
    otherwise = 'or use device="cpu", which gives the same result.'
    try:
        import cupy
    except ImportError as error:
        raise RuntimeError(
            'device="cuda" needs CuPy, which cannot be imported: install it with '
            f'"pip install pidselect[cuda]" (or cupy-cuda12x for CUDA 12), {otherwise}'
        ) from error
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise RuntimeError(
            f'device="cuda" found no working GPU ({error}): check with nvidia-smi that the '
            f"driver runs and is new enough for CuPy's CUDA, {otherwise}"
        ) from error
    if not n_devices:
        raise RuntimeError(f'device="cuda" found no GPU: make one visible, {otherwise}')
    gpu = Cuda(cupy)
    try:
        gpu.module(SCORING, (("INDEX", "uint16"),))
    except Exception as error:  # CuPy raises any exception of its compiler
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        raise RuntimeError(
            f'device="cuda" found {properties["name"].decode()}, but CuPy cannot compile for it '
            f'({error}): install the CUDA toolkit with "pip install cupy-cuda13x[ctk]", {otherwise}'
        ) from error
    return gpu
