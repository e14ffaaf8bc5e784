"""Permutations of samples and interaction scan on a GPU, with the same values as on the CPU.

Columns are grouped by their number of levels, for which kernels are compiled. Only the largest
values are found here; the tuple of the observed data is searched again on the CPU, in one block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.data import FloatArray, IntArray
from pidselect.estimators.cuda.device import (
    DEFAULT_SHARED_BYTES,
    LANES,
    TYPES,
    Cuda,
    CudaRows,
    Kernel,
    index_definition,
    index_type,
)
from pidselect.significance.interactions import LOWEST, PRECISION, InteractionScan, Tables

SOURCES = (*TYPES, ("pidselect.significance", "interactions.cu"))
PERMUTED = (*TYPES, ("pidselect.significance", "permutations.cu"))

#: Indices in the rows of one task.
TASK_SIZE = 2**26

#: Permutations are processed in multiples of this, and so many at a time.
MULTIPLE, CHUNK = 16, 512

#: Bytes of the counts of all pairs, for triples.
PAIR_BYTES = 2**30

#: Words are processed in multiples of this: STEP in the kernels.
STEP = 3

#: Counts that a thread has in registers at most, unless one permutation needs more.
MAX_COUNTS = 24

#: Registers of a thread for a triple and a class: four permutations at a time are fastest.
TRIPLE_COUNTS = 6


class DeviceColumns(NamedTuple):
    """Columns of as many planes on a device: the fields of `Columns` in the kernels."""

    n_planes: int
    place: IntArray  # (n,): among all columns, ascending
    arrays: tuple[Any, ...]  # that the fields point to
    fields: Any = None


class Target(NamedTuple):
    """Permutations of the target on a device: the fields of `Target` in the kernels."""

    n_permutations: int
    fields: Any
    arrays: tuple[Any, ...]  # that the fields point to


@dataclass(frozen=True, eq=False)
class CudaScan:
    """All tables of a scan on a device."""

    device: Cuda
    scan: InteractionScan

    def largest_values(self, blocks: Sequence[int], rows: Any) -> FloatArray:
        """Return the largest G in several blocks, (n_blocks, n_families, n_permutations)."""
        on_cpu, tables_of = np.asarray(rows), [self.scan.blocks[block][0] for block in blocks]
        values = np.full((len(blocks), len(self.scan.families), len(on_cpu)), -np.inf)
        for place in sorted(set(tables_of)):
            own = [row for row, of in enumerate(tables_of) if of == place]
            families = [f for f, (of, _, _) in enumerate(self.scan.families) if of == place]
            ranges = [self.scan.blocks[blocks[row]][1] for row in own]
            size = self._chunk(place, max(block.stop for block in ranges))
            with self.device.lock:
                found = [
                    self._scan(place, ranges, on_cpu[start : start + size])
                    for start in range(0, len(on_cpu), size)
                ]
            values[np.ix_(own, families)] = 2.0 / PRECISION * np.concatenate(found, axis=2)
        return values

    def _chunk(self, place: int, n_columns: int) -> int:
        """Return the number of permutations at a time; triples keep the counts of all pairs."""
        if self.scan.tables[place].order == 2:
            return CHUNK
        needed = max(1, comb(n_columns, 2)) * (4 * len(self.scan.class_sizes) + 4)
        return min(CHUNK, max(1, PAIR_BYTES // (needed * MULTIPLE)) * MULTIPLE)

    def _scan(self, place: int, blocks: Sequence[range], rows: NDArray[np.int32]) -> IntArray:
        """Return the largest interaction, (n_blocks, n_families, n_permutations)."""
        target, families = self._permuted(rows), self.scan.tables[place].families
        counted = [self._count_classes(columns, target) for columns in self._columns[place]]
        lowest = np.full((len(blocks), target.n_permutations), LOWEST, dtype=np.int64)
        best = {family: self.device.put(lowest) for family in families}
        if self.scan.tables[place].order == 2:
            for columns in counted:
                for others in counted:
                    self._scan_pairs(columns, others, target, blocks, best)
        else:
            n_third = self.scan.tables[place].n_third
            self._scan_triples(counted[0], target, blocks, n_third, best[1])
        found = [self.device.get(values)[:, : len(rows)] for values in best.values()]
        return np.stack(found, axis=1)

    def _scan_pairs(
        self,
        columns: DeviceColumns,
        others: DeviceColumns,
        target: Target,
        blocks: Sequence[range],
        best: dict[int, Any],
    ) -> None:
        """Update the largest interaction of pairs with so many levels."""
        place, device = columns.place[:, np.newaxis], self.device
        starts, stops = (np.array([getattr(b, end) for b in blocks]) for end in ("start", "stop"))
        which, row = np.nonzero((starts <= place) & (place < stops))
        n_before = int(np.searchsorted(others.place, columns.place[which].max(initial=0)))
        if n_before:
            device.launch(
                self._kernel("scan_pairs", columns.n_planes, others.n_planes),
                (len(which), -(-n_before // device.threads)),
                *(columns.fields, others.fields, target.fields),
                *(device.put(array.astype(np.int32)) for array in (which, row)),
                best[columns.n_planes * others.n_planes],
            )

    def _scan_triples(
        self,
        columns: DeviceColumns,
        target: Target,
        blocks: Sequence[range],
        n_third: int,
        best: Any,
    ) -> None:
        """Update the largest interaction of triples, all of binary columns."""
        device, n_columns = self.device, max(block.stop for block in blocks)
        m, n_counted, n_pairs = target.n_permutations, self._n_counted, comb(n_columns, 2)
        pairs = (
            device.empty((n_pairs,), np.int32),
            device.empty((m, n_counted, n_pairs), np.int32),
            device.empty((m, n_pairs), np.int64),
        )
        fields = device.put(np.array([*map(device.address, pairs), n_pairs], dtype=np.int64))
        grid = n_columns, -(-n_columns // device.threads)
        device.launch(
            self._kernel("count_pairs", 1, 1), grid, columns.fields, target.fields, fields
        )
        i = np.concatenate([np.arange(block.start, block.stop) for block in blocks])
        n_middle = np.maximum(i - 1, 0)  # the columns before i that have another one before
        row = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
        last, row, begin = (
            np.repeat(array, n_middle) for array in (i, row, np.cumsum(n_middle) - n_middle)
        )
        middle = 1 + np.arange(len(last)) - begin
        if len(last):
            device.launch(
                self._kernel("scan_triples", 1, 1, TRIPLE_COUNTS),
                (len(last), grid[1]),
                *(columns.fields, fields, target.fields),
                *(device.put(array.astype(np.int32)) for array in (last, middle, row)),
                *(np.int32(n_third), best),
            )

    @cached_property
    def _columns(self) -> list[list[DeviceColumns]]:
        """The columns of all tables, by their number of planes."""
        return [self._put_columns(tables) for tables in self.scan.tables]

    def _put_columns(self, tables: Tables) -> list[DeviceColumns]:
        """Put columns on the device, those of as many planes together."""
        planes, owner, n_planes = tables.planes, tables.planes.owner, np.diff(tables.planes.first)
        groups = []
        for n in np.unique(n_planes).tolist():
            place = np.flatnonzero(n_planes == n)
            own = planes.first[place] + np.arange(n)[:, np.newaxis]
            arrays = (
                _words(planes.bits[own]).transpose(0, 2, 1),
                *(array.astype(np.int32) for array in (planes.size[own], place, owner[place])),
            )
            there = tuple(self.device.put(np.ascontiguousarray(array)) for array in arrays)
            groups.append(DeviceColumns(n, place, there))
        return groups

    @cached_property
    def _weight(self) -> Any:
        """The values of n ln n on the device."""
        return self.device.put(self.scan.weight)

    def _permuted(self, rows: NDArray[np.int32]) -> Target:
        """Put permutations of the target on the device."""
        planes = _words(self.scan.permuted_planes(rows, MULTIPLE))
        n_permutations, _, n_words = planes.shape
        bits = self.device.put(np.ascontiguousarray(planes.transpose(2, 1, 0)))
        sizes, weight, n_samples = self.scan.class_sizes, self.scan.weight, len(self.scan.classes)
        constant = weight[sizes].sum() - weight[n_samples]
        fields = [
            *(self.device.address(array) for array in (bits, self._weight)),
            *(n_words, n_permutations, n_samples, constant, *sizes),
        ]
        there = self.device.put(np.array(fields, dtype=np.int64))
        return Target(n_permutations, there, (bits, self._weight))

    def _count_classes(self, columns: DeviceColumns, target: Target) -> DeviceColumns:
        """Return columns with the counts of the classes in every plane."""
        device, n, m = self.device, len(columns.place), target.n_permutations
        arrays = (
            *columns.arrays,
            device.empty((m, self._n_counted, columns.n_planes, n), np.int32),
            device.empty((m, n), np.int64),
        )
        fields = device.put(np.array([*map(device.address, arrays), n], dtype=np.int64))
        kernel = self._kernel("count_classes", columns.n_planes, columns.n_planes)
        device.launch(kernel, (-(-n // device.threads), m), fields, target.fields)
        return columns._replace(arrays=arrays, fields=fields)

    @property
    def _n_counted(self) -> int:
        """The number of classes that are counted: the first is what they leave."""
        return len(self.scan.class_sizes) - 1

    def _kernel(self, name: str, first: int, second: int, n_counts: int | None = None) -> Kernel:
        """Return a kernel for columns of so many planes, by default with a count for each pair."""
        shared = self.scan.weight.nbytes if self.scan.weight.nbytes <= DEFAULT_SHARED_BYTES else 0
        definitions = {
            "FIRST": first,
            "SECOND": second,
            "CLASSES": self._n_counted + 1,
            "PERMUTATIONS": permutations_at_a_time((n_counts or first * second) * self._n_counted),
            "IN_SHARED": int(shared > 0),
        }
        named = tuple((name, str(value)) for name, value in definitions.items())
        return Kernel(name, named, self.device.threads, shared, SOURCES)


def permutations_at_a_time(n_counts: int) -> int:
    """Return how many permutations a thread counts at a time, with so many counts each.

    Examples
    --------
    >>> [permutations_at_a_time(n) for n in (1, 4, 9, 45)]
    [16, 4, 2, 1]
    """
    n = MULTIPLE
    while n > 1 and n * n_counts > MAX_COUNTS:
        n //= 2
    return n


def _words(bits: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return words of 32 bits, with empty ones up to a multiple of STEP."""
    words = np.ascontiguousarray(bits).view(np.uint32)
    return np.pad(words, [(0, 0)] * (words.ndim - 1) + [(0, -words.shape[-1] % STEP)])


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
        kernel = Kernel("fill_permutations", index_definition(device, n), LANES, shared, PERMUTED)
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
