"""Rearrangements of samples on a GPU: drawn there, and copied from there only if asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect.estimators.cuda.device import Definitions, Device, Kernel

#: Threads of a warp, which go the same way, and the rearrangements that are scored side by side.
LANES = 32

#: Samples that numbers of 16 bits can tell apart.
MOST_NARROW = 2**16

#: Numbers in the rows of one task.
TASK_SIZE = 2**26


@dataclass(frozen=True, eq=False)
class CudaRows:
    """Rearrangements of samples in the memory of a device, copied from there only if asked for."""

    device: Device
    array: Any  # (n_rows, n_samples), of the type of places

    @property
    def shape(self) -> tuple[int, int]:
        """How many rearrangements of how many samples there are."""
        return tuple(self.array.shape)

    def __len__(self) -> int:
        return int(self.array.shape[0])

    @cached_property
    def on_cpu(self) -> NDArray[np.int32]:
        """The same rows in the memory of the CPU."""
        with self.device.lock:
            return self.device.get(self.array).astype(np.int32)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.on_cpu if dtype is None else self.on_cpu.astype(dtype)

    def __getitem__(self, rows: Any) -> NDArray[np.int32]:
        return self.on_cpu[rows]


@dataclass(frozen=True, eq=False)
class Permutations:
    """Draws permutations of all samples on a device, those that the CPU would draw.

    Parameters
    ----------
    device : Device
    n_samples : int
    """

    device: Device
    n_samples: int

    def __call__(self, stream_key: tuple[int, ...], draws: range) -> Any:
        """Return these draws as `CudaRows`; number 0 leaves all samples where they are."""
        device, n = self.device, self.n_samples
        place = place_type(n)
        needed = n * place.itemsize
        fits = needed <= device.shared_bytes
        kernel = Kernel("draw_permutations", place_definition(n), LANES, needed if fits else 0)
        with device.lock:
            rows = device.empty((len(draws), n), place)
            words_there = device.put(np.array(stream_key, dtype=np.uint64))
            device.launch(
                kernel,
                (len(draws), 1),
                words_there,
                np.int32(len(stream_key)),
                np.uint64(draws.start),
                np.int32(n),
                np.int32(fits),
                rows,
            )
        return CudaRows(device, rows)


def cut_draws(draws: range, n_samples: int) -> list[range]:
    """Cut draws into tasks that keep a device busy, and of which memory holds several.

    Examples
    --------
    >>> [len(some) for some in cut_draws(range(201), 50_000)]
    [201]
    """
    size = max(1, TASK_SIZE // (LANES * n_samples)) * LANES
    return [
        range(start, min(start + size, draws.stop))
        for start in range(draws.start, draws.stop, size)
    ]


def place_type(n_samples: int) -> np.dtype[Any]:
    """Return the smallest type that holds the number of any sample: half as wide, twice as fast."""
    return np.dtype(np.uint16 if n_samples <= MOST_NARROW else np.uint32)


def place_definition(n_samples: int) -> Definitions:
    """Return the same for the kernels."""
    return (("PLACE", place_type(n_samples).name),)
