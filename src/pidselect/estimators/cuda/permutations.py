"""Permutations of samples in the memory of a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect.estimators.cuda.device import Cuda, Definitions, Kernel

#: Threads of a warp, and permutations scored at a time.
LANES = 32

#: Indices in the rows of one task.
TASK_SIZE = 2**26


@dataclass(frozen=True, eq=False)
class CudaRows:
    """Permutations on a device, copied to the CPU on demand."""

    device: Cuda
    array: Any  # (n_rows, n_samples), of the type of indices

    @property
    def shape(self) -> tuple[int, int]:
        """The number of permutations and of samples."""
        return tuple(self.array.shape)

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


@dataclass(frozen=True, eq=False)
class Permutations:
    """Samples permutations on a device, equal to those of `permutations` on the CPU."""

    device: Cuda
    n_samples: int

    def __call__(self, stream_key: tuple[int, ...], numbers: range) -> Any:
        """Return these permutations as `CudaRows`; number 0 is the identity."""
        device, n = self.device, self.n_samples
        dtype = index_type(device, n)
        needed = n * dtype.itemsize
        fits = needed <= device.shared_bytes
        kernel = Kernel(
            "fill_permutations", index_definition(device, n), LANES, needed if fits else 0
        )
        with device.lock:
            rows = device.empty((len(numbers), n), dtype)
            device.launch(
                kernel,
                (len(numbers), 1),
                *(device.put(np.array(stream_key, dtype=np.uint64)), np.int32(len(stream_key))),
                *(np.uint64(numbers.start), np.int32(n), np.int32(fits), rows),
            )
        return CudaRows(device, rows)


def split_for_device(numbers: range, n_samples: int) -> list[range]:
    """Split permutations into tasks of a size that suits a device.

    Examples
    --------
    >>> [len(some) for some in split_for_device(range(201), 50_000)]
    [201]
    """
    size = max(1, TASK_SIZE // (LANES * n_samples)) * LANES
    return [
        range(start, min(start + size, numbers.stop))
        for start in range(numbers.start, numbers.stop, size)
    ]


def index_type(device: Cuda, n_samples: int) -> np.dtype[Any]:
    """Return the smallest type for the index of any sample."""
    return np.dtype(np.uint16 if n_samples <= device.max_uint16_samples else np.uint32)


def index_definition(device: Cuda, n_samples: int) -> Definitions:
    """Return the `index_type` as a definition for kernels."""
    return (("INDEX", index_type(device, n_samples).name),)
