"""Interaction scan on a GPU, with the same values as on the CPU.

Pairs have kernels, triples are scanned on the CPU. Columns are grouped by their number of levels,
for which a kernel is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.data import FloatArray, IntArray
from pidselect.estimators.cuda.device import DEFAULT_SHARED_BYTES, TYPES, Cuda, Kernel
from pidselect.significance.interactions import LOWEST, PRECISION, InteractionScan, Tables

SOURCES = (*TYPES, ("pidselect.significance", "interactions.cu"))

#: Permutations are processed in multiples of this, and so many at a time.
MULTIPLE, CHUNK = 16, 512

#: Words are processed in multiples of this: STEP in the kernels.
STEP = 3

#: Counts that a thread has in registers at most, unless one permutation needs more.
MAX_COUNTS = 48


class Columns(NamedTuple):
    """Columns of as many planes on a device: the fields of `Columns` in the kernels."""

    n_planes: int
    place: IntArray  # (n,): among all columns
    arrays: tuple[Any, ...]


class Target(NamedTuple):
    """Permutations of the target on a device: the fields of `Target` in the kernels."""

    n_permutations: int
    fields: Any
    kept: tuple[Any, ...]  # the arrays that fields point to


@dataclass(frozen=True, eq=False)
class CudaScan:
    """All tables of a scan on a device."""

    device: Cuda
    scan: InteractionScan

    def largest_values(self, blocks: Sequence[int], rows: Any) -> FloatArray:
        """Return the largest G in several blocks, (n_blocks, n_families, n_permutations)."""
        on_cpu = np.asarray(rows)
        values = np.full((len(blocks), len(self.scan.families), len(on_cpu)), -np.inf)
        tables_of = [self.scan.blocks[block][0] for block in blocks]
        for place, tables in enumerate(self.scan.tables):
            own = [row for row, of in enumerate(tables_of) if of == place]
            some = [blocks[row] for row in own]
            if own and tables.order == 2:
                families = [f for f, (of, _, _) in enumerate(self.scan.families) if of == place]
                with self.device.lock:
                    values[np.ix_(own, families)] = self._largest_of_pairs(place, some, on_cpu)
            elif own:
                values[own] = self.scan.largest_values(some, on_cpu)
        return values

    def _largest_of_pairs(
        self, place: int, blocks: Sequence[int], rows: NDArray[np.int32]
    ) -> FloatArray:
        """Return the largest G of each family of tables, in permutations chunk by chunk."""
        ranges = [self.scan.blocks[block][1] for block in blocks]
        families = list(self.scan.tables[place].families)
        best = [
            self._scan_pairs(place, ranges, families, rows[start : start + CHUNK])
            for start in range(0, len(rows), CHUNK)
        ]
        return 2.0 / PRECISION * np.concatenate(best, axis=2)

    def _scan_pairs(
        self, place: int, ranges: Sequence[range], families: list[int], rows: NDArray[np.int32]
    ) -> IntArray:
        """Return the largest interaction, (n_blocks, n_families, n_permutations)."""
        device, target, groups = self.device, self._permuted(rows), self._columns[place]
        shape = len(ranges), target.n_permutations
        counted = [self._count_classes(columns, target) for columns in groups]
        best = {f: device.put(np.full(shape, LOWEST, dtype=np.int64)) for f in families}
        starts = np.array([block.start for block in ranges])
        stops = np.array([block.stop for block in ranges])
        for columns, (fields, _) in zip(groups, counted, strict=True):
            inside = (starts <= columns.place[:, np.newaxis]) & (columns.place[:, np.newaxis] < stops)
            which, row = np.nonzero(inside)
            if not len(which):
                continue
            items = [device.put(array.astype(np.int32)) for array in (which, row)]
            for others, (other_fields, _) in zip(groups, counted, strict=True):
                n_before = int(np.searchsorted(others.place, columns.place[which[-1]]))
                family = columns.n_planes * others.n_planes
                if n_before and family in best:
                    device.launch(
                        self._kernel("scan_pairs", columns.n_planes, others.n_planes),
                        (len(which), -(-n_before // device.threads)),
                        *(fields, other_fields, target.fields, *items, best[family]),
                    )
        found = [device.get(best[family])[:, : len(rows)] for family in families]
        return np.stack(found, axis=1)

    @cached_property
    def _columns(self) -> list[list[Columns]]:
        """The columns of all tables, by their number of planes."""
        return [self._put_columns(tables) for tables in self.scan.tables]

    def _put_columns(self, tables: Tables) -> list[Columns]:
        """Put columns on the device, those of as many planes together."""
        planes, n_planes = tables.planes, np.diff(tables.planes.first)
        groups = []
        for n in np.unique(n_planes).tolist():
            place = np.flatnonzero(n_planes == n)
            own = planes.first[place] + np.arange(n)[:, np.newaxis]
            arrays = (
                _words(planes.bits[own]).transpose(0, 2, 1),
                *(array.astype(np.int32) for array in (planes.size[own], place, planes.owner[place])),
            )
            there = tuple(self.device.put(np.ascontiguousarray(array)) for array in arrays)
            groups.append(Columns(n, place, there))
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

    def _count_classes(self, columns: Columns, target: Target) -> tuple[Any, tuple[Any, ...]]:
        """Count the classes in every plane; return the columns for kernels, and what they need."""
        device, n, m = self.device, len(columns.place), target.n_permutations
        n_counted = len(self.scan.class_sizes) - 1
        counts = (
            device.empty((m, n_counted, columns.n_planes, n), np.int32),
            device.empty((m, n), np.int64),
        )
        arrays = (*columns.arrays, *counts)
        fields = device.put(np.array([*map(device.address, arrays), n], dtype=np.int64))
        kernel = self._kernel("count_classes", columns.n_planes, columns.n_planes)
        device.launch(kernel, (-(-n // device.threads), m), fields, target.fields)
        return fields, arrays

    def _kernel(self, name: str, first: int, second: int) -> Kernel:
        """Return a kernel for columns of so many planes."""
        n_classes = len(self.scan.class_sizes)
        shared = self.scan.weight.nbytes if self.scan.weight.nbytes <= DEFAULT_SHARED_BYTES else 0
        definitions = {
            "FIRST": first,
            "SECOND": second,
            "CLASSES": n_classes,
            "PERMUTATIONS": permutations_at_a_time(first * second * (n_classes - 1)),
            "IN_SHARED": int(shared > 0),
        }
        named = tuple((name, str(value)) for name, value in definitions.items())
        return Kernel(name, named, self.device.threads, shared, SOURCES)


def permutations_at_a_time(n_counts: int) -> int:
    """Return how many permutations a thread counts at a time, with so many counts each.

    Examples
    --------
    >>> [permutations_at_a_time(n) for n in (1, 4, 9, 45)]
    [16, 8, 4, 1]
    """
    n = MULTIPLE
    while n > 1 and n * n_counts > MAX_COUNTS:
        n //= 2
    return n


def _words(bits: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return words of 32 bits, with empty ones up to a multiple of STEP."""
    words = np.ascontiguousarray(bits).view(np.uint32)
    return np.pad(words, [(0, 0)] * (words.ndim - 1) + [(0, -words.shape[-1] % STEP)])
