"""Nearest neighbours on a GPU: bind and score as on the CPU, to the same values.

A question that no kernel answers (several columns as one candidate, targets and given that are all
discrete, other estimators) is left to the CPU: `bind_on` then returns what the estimator's own
`bind` does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from pidselect.data import Block, Column, FloatArray
from pidselect.estimators.base import Batch, Estimator, Scorer, as_numbers, check_same_length
from pidselect.estimators.cuda.device import Device, Kernel, cuda
from pidselect.estimators.cuda.rows import (
    LANES,
    CudaRows,
    Permutations,
    cut_draws,
    place_definition,
    place_type,
)
from pidselect.estimators.knn.binding import (
    Scale,
    caps,
    check_enough_samples,
    check_neighbours,
    finest_unit,
    scaled,
)
from pidselect.estimators.ksg import KSG
from pidselect.estimators.mixed import Mixed

__all__ = ["CudaRows", "CudaScorer", "Permutations", "bind_on", "cuda", "cut_draws"]

#: More neighbours than registers can hold are left to the CPU.
MOST_NEIGHBOURS = 32

#: The largest part of free memory that neighbours of one question may take.
SHARE = 0.5

#: Lists of neighbours are this many times longer than expected on average. One that ends too early
#: costs a look at all samples, tile by tile.
SLACK = 64

#: Bounds on the length of a list; the upper one is what a block can sort in 48 KiB.
SHORTEST_LIST, LONGEST_LIST = 256, 4096

#: Samples by which it is guessed how far a list reaches.
TRIED = 2048

#: Bytes of a listed neighbour: its number and its distance.
NEIGHBOUR_BYTES = 12

#: Bytes of a sample of a column that is kept, and the part of free memory that all may take.
COLUMN_BYTES, KEPT = 20, 0.1

#: Bytes that rearranged candidates may take at a time.
CHUNK_BYTES = 2**30

#: Threads of a block, and samples that each of its warps goes through.
THREADS, SAMPLES_PER_WARP = 256, 4

WARPS = THREADS // LANES


# ------------------------------------------------------------------ columns


@dataclass(frozen=True, eq=False)
class Prepared:
    """A column on a device, ready for use, its samples as they were numbered at first."""

    values: Any
    place: Any  # each sample's place along it
    ascending: Any


def prepare(device: Device, column: Column, scale: Scale) -> Prepared:
    """Scale and sort a column, or find what was made of it before."""
    known = device.prepared.setdefault(column, {})
    if scale not in known:
        values = scaled(column, scale)
        kept = len(device.prepared) * len(values) * COLUMN_BYTES
        if kept > KEPT * device.free_bytes():
            device.prepared.clear()
        order = np.argsort(values)
        place = np.empty(len(order), dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        arrays = (device.put(array) for array in (values, place, values[order]))
        known[scale] = Prepared(*arrays)
        device.prepared[column] = known
    found: Prepared = known[scale]
    return found


# ------------------------------------------------------------------ binding


@dataclass(frozen=True)
class Recipe:
    """What tells one nearest-neighbour estimator from another.

    The mean over samples of the weights of their counts, plus the offset, is the information.
    """

    k: int
    strict: bool
    scale: Scale
    weight: FloatArray
    offset: float


def recipe(estimator: Estimator, n_samples: int) -> Recipe | None:
    """Return how an estimator turns counts into information; None if no kernel knows it."""
    if isinstance(estimator, KSG | Mixed):
        check_neighbours(estimator.k, estimator.scale)
    counts = np.arange(n_samples, dtype=np.float64)
    if type(estimator) is KSG and estimator.algorithm == 1:
        weight, offset = digamma(counts + 1.0), float(digamma(estimator.k))
        return Recipe(estimator.k, True, estimator.scale, weight, offset)
    if type(estimator) is Mixed:
        weight = digamma(np.maximum(counts, 1.0))
        return Recipe(estimator.k, False, estimator.scale, weight, 0.0)
    return None


def bind_on(
    device: Device,
    estimator: Estimator,
    target: Block,
    given: Block,
    max_memory: int,
    share: int = 1,
) -> Scorer:
    """Bind an estimator on a device if there is a kernel for it, else on the CPU.

    Parameters
    ----------
    device : Device
    estimator : Estimator
    target, given : Block
    max_memory : int
        What may be used of the CPU's memory where it has to help, in bytes.
    share : int
        How many others are bound beside this one, of whose memory on the device it gets its part.
    """

    def on_cpu() -> Scorer:
        return estimator.bind(target, given, max_memory=max_memory)

    how = recipe(estimator, target.n_samples)
    if how is None or how.k > MOST_NEIGHBOURS or "continuous" not in (target + given).feature_types:
        return on_cpu()
    check_enough_samples(target.n_samples, how.k)
    if how.strict:
        target, given = as_numbers(target, "KSG"), as_numbers(given, "KSG")
    with device.lock:
        memory = int(SHARE * device.free_bytes() / share)
        around = surround(device, target, given, how, memory)
    return CudaScorer(device, around, how, on_cpu)


@dataclass(frozen=True, eq=False)
class DeviceSpace:
    """All that scoring needs to know of the target and the given, on the device.

    Samples are numbered anew: `order` is what each was called before.
    """

    n_samples: int
    shape: int  # as GIVEN in the kernels
    order: Any
    table: Any
    unit: float
    kept: tuple[Any, ...]  # what the table points at


def surround(device: Device, target: Block, given: Block, how: Recipe, memory: int) -> DeviceSpace:
    """List every sample's neighbours in (y, S) and in S."""
    n, joint = target.n_samples, given + target
    prepared = [prepare(device, column, how.scale) for column in joint.columns]
    line = _line(target, given)
    places = [device.get(column.place) for column in prepared]
    order = np.argsort(places[0]) if line < 2 else _near_together(places)
    values = np.array([device.get(column.values)[order] for column in prepared])
    joint_length = list_length(n, how.k, len(joint), len(joint), memory // 2)
    given_length = list_length(n, how.k, len(joint), len(given), memory // 2)
    joint_space = _space(device, values, caps(joint))
    given_space = _space(device, values[: len(given)], caps(given))
    joint_lists = _lists(device, joint_space, joint_length if line > 0 else 0)
    given_lists = _lists(device, given_space, given_length if line > 1 else 0)
    unit = finest_unit(how.weight, n)
    weight = device.put(np.rint(how.weight / unit).astype(np.int64))
    parts = (joint_space, given_space, joint_lists, given_lists)
    fields = [field for part in parts for field in part.fields] + [device.address(weight)]
    table = device.put(np.array(fields, dtype=np.int64))
    there = device.put(order.astype(np.int32))
    return DeviceSpace(n, line, there, table, unit, (*parts, weight))


def _line(target: Block, given: Block) -> int:
    """Return 0 where y alone, 1 where S is a column of numbers to go along, else 2."""
    if not len(given):
        return 0 if len(target) == 1 and target.feature_types[0] != "nominal" else 2
    return 1 if len(given) == 1 and given.feature_types[0] != "nominal" else 2


def list_length(n_samples: int, k: int, joint_axes: int, axes: int, memory: int) -> int:
    """Return how many neighbours to list in some of the axes: a power of two, as sorting needs it.

    The k-th neighbour in (x, y, S) comes as near as to take in the same share of each axis.

    Examples
    --------
    >>> [list_length(50_000, 4, given + 1, given, 2**32) for given in (2, 3, 6, 10)]
    [4096, 4096, 4096, 2048]
    """
    if not axes:
        return 0
    share = min(1.0, k / n_samples) ** (1.0 / (1 + joint_axes))
    wanted = SLACK * n_samples * share**axes
    length = min(max(_power_of_two(wanted), SHORTEST_LIST), LONGEST_LIST)
    while length > LANES and length * n_samples * NEIGHBOUR_BYTES > memory:
        length //= 2
    return length


def _power_of_two(at_least: float) -> int:
    return 1 << max(0, int(np.ceil(np.log2(max(at_least, 1.0)))))


def _near_together(places: list[NDArray[np.int32]]) -> NDArray[np.int64]:
    """Order samples along a curve (Morton's) on which near ones tend to follow each other."""
    n, axes = len(places[0]), places[:20]
    bits = min(16, 63 // len(axes))
    curve = np.zeros(n, dtype=np.int64)
    levels = [(place.astype(np.int64) << bits) // n for place in axes]
    for bit in range(bits - 1, -1, -1):
        for level in levels:
            curve = (curve << 1) | ((level >> bit) & 1)
    return np.argsort(curve, kind="stable")


@dataclass(frozen=True, eq=False)
class _Part:
    """A part of the table of surroundings: its fields, and the arrays that they point at."""

    fields: tuple[int, ...]
    arrays: tuple[Any, ...]
    size: int = 0


def _space(device: Device, values: FloatArray, cap: FloatArray) -> _Part:
    """Put points on the device, and the box around each 32 that follow each other."""
    columns, n = values.shape
    if not columns:
        return _Part((0, 0, 0, 0, 0, n), ())
    tiles = np.pad(values, ((0, 0), (0, -n % LANES)), mode="edge").reshape(columns, -1, LANES)
    arrays = tuple(
        device.put(np.ascontiguousarray(array))
        for array in (values, cap, tiles.min(axis=2), tiles.max(axis=2))
    )
    return _Part((*map(device.address, arrays), columns, n), arrays)


def _lists(device: Device, space: _Part, length: int) -> _Part:
    """List the neighbours of every sample in a space."""
    n = space.fields[-1]
    if not length:
        return _Part((0, 0, 0, 0, 0), ())
    arrays = (
        device.empty((n, length), np.int32),
        device.empty((n, length), np.float64),
        device.empty((n,), np.int32),
        device.empty((n,), np.float64),
    )
    part = _Part((*map(device.address, arrays), length), arrays, length)
    tried = min(TRIED, 1 << (n.bit_length() - 1))
    shared = max(length, tried) * NEIGHBOUR_BYTES
    kernel = Kernel("list_neighbours", place_definition(n), THREADS, shared)
    device.launch(
        kernel,
        (n, 1),
        device.put(np.array(space.fields, dtype=np.int64)),
        device.put(np.array(part.fields, dtype=np.int64)),
        np.int32(2 * length // 3),
        np.int32(tried),
    )
    return part


# ------------------------------------------------------------------ scoring


@dataclass(frozen=True, eq=False)
class CudaScorer:
    """Scores columns by the counts of neighbours around each sample, on a device."""

    device: Device
    around: DeviceSpace
    how: Recipe
    bind_on_cpu: Callable[[], Scorer]

    @cached_property
    def on_cpu(self) -> Scorer:
        """The same on the CPU, for what has no kernel."""
        return self.bind_on_cpu()

    def score(self, batch: Batch) -> FloatArray:
        """Return I(x; y | S) in nats for every version of the candidate, shape (m,)."""
        n = self.around.n_samples
        check_same_length(batch, n)
        if len(batch.block) != 1:
            with self.device.lock:
                scorer = self.on_cpu
            return scorer.score(Batch(batch.block, np.asarray(batch.rows)))
        block = as_numbers(batch.block, "KSG") if self.how.strict else batch.block
        with self.device.lock:
            rows = self._rows_there(batch.rows)
            column = prepare(self.device, block.columns[0], self.how.scale)
            size = max(1, CHUNK_BYTES // (LANES * n * (8 + 3 * rows.dtype.itemsize))) * LANES
            sums = [
                self._sums(column, float(caps(block)[0]), rows[start : start + size])
                for start in range(0, len(rows), size)
            ]
        return self.how.offset + np.concatenate(sums) * self.around.unit / n

    def _rows_there(self, rows: Any) -> Any:
        if isinstance(rows, CudaRows):
            return rows.array
        return self.device.put(rows.astype(place_type(self.around.n_samples)))

    def _sums(self, column: Prepared, cap: float, rows: Any) -> NDArray[np.int64]:
        """Return the sums of weights of some rearrangements."""
        device, n, m = self.device, self.around.n_samples, len(rows)
        groups = -(-m // LANES)
        x = device.empty((groups, n, LANES), np.float64)
        place = device.empty((groups, n, LANES), rows.dtype)
        stride = -(-n // LANES) * LANES
        at_places = device.empty((groups * LANES, stride), rows.dtype)
        needs_line = self.around.shape == 1 or (self.around.shape == 0 and not self.how.strict)
        along_line = device.empty((groups * LANES, stride), rows.dtype) if needs_line else None
        fields = [
            *(device.address(array) for array in (x, place, column.ascending)),
            int(np.float64(cap).view(np.int64)),
            device.address(at_places),
            device.address(along_line) if needs_line else 0,
            stride,
        ]
        candidate = device.put(np.array(fields, dtype=np.int64))
        device.launch(
            Kernel("arrange", place_definition(n), THREADS),
            (-(-n // WARPS), groups),
            *(rows, np.int32(m), np.int32(n), self.around.order),
            *(column.values, column.place, candidate),
        )
        sums = device.zeros((groups * LANES,), np.int64)
        definitions = (
            ("NEIGHBOURS", str(self.how.k)),
            ("STRICT", str(int(self.how.strict))),
            ("GIVEN", str(self.around.shape)),
            *place_definition(n),
        )
        device.launch(
            Kernel("score_columns", definitions, THREADS),
            (-(-n // (WARPS * SAMPLES_PER_WARP)), groups),
            *(self.around.table, candidate, np.int32(SAMPLES_PER_WARP), sums),
        )
        return np.asarray(device.get(sums)[:m], dtype=np.int64)
