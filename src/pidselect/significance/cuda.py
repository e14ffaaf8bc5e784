"""Permutations of samples on a GPU, equal to those on the CPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pidselect.estimators.cuda.device import (
    LANES,
    TYPES,
    Cuda,
    CudaRows,
    Kernel,
    index_definition,
    index_type,
)

SOURCES = (*TYPES, ("pidselect.significance", "permutations.cu"))

#: Indices in the rows of one task.
TASK_SIZE = 2**26


@dataclass(frozen=True, eq=False)
class CudaPermutations:
    """Samples permutations on a device, equal to those of `rng.permutations`."""

    device: Cuda
    n_samples: int

    def __call__(self, stream_key: tuple[int, ...], numbers: range) -> CudaRows:
        """Return these permutations; number 0 is the identity."""
        device, n = self.device, self.n_samples
        dtype = index_type(device, n)
        needed = n * dtype.itemsize
        fits = needed <= device.shared_bytes
        shared = needed if fits else 0
        kernel = Kernel("fill_permutations", index_definition(device, n), LANES, shared, SOURCES)
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
    return [numbers[start : start + size] for start in range(0, len(numbers), size)]
