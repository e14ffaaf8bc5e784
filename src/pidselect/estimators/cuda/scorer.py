"""Nearest-neighbour estimators on a GPU, with the same values as on the CPU.

Without a kernel (several columns as one candidate, discrete target and conditioning set, other
estimators), `bind_on` returns the estimator's own scorer on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from pidselect.data import Block, Column, FloatArray
from pidselect.estimators.base import Batch, Estimator, Scorer, check_same_length
from pidselect.estimators.cuda.device import (
    LANES,
    Cuda,
    CudaRows,
    Kernel,
    index_definition,
    index_type,
)
from pidselect.estimators.knn.binding import (
    NEIGHBOUR_BYTES,
    Formula,
    NeighbourEstimator,
    Scale,
    axis_share,
    checked_formula,
    max_distances,
    scaled,
)
from pidselect.estimators.knn.spaces import sort_column
from pidselect.estimators.ksg import KSG
from pidselect.estimators.mixed import Mixed

#: Largest k on the GPU, limited by registers.
MAX_NEIGHBOURS = 32

#: Share of free memory for the lists of one scorer.
LIST_MEMORY = 0.5

#: Ratio of list lengths to those expected on average. Beyond a list all samples are scanned.
LIST_EXCESS = 64

#: Smallest and largest length of a list; a block sorts the longest in 48 KiB.
LIST_BOUNDS = (256, 4096)

#: Samples from which list radii are estimated.
RADIUS_SAMPLES = 2048

#: Bytes per sample of a cached column, and the share of free memory for all of them.
COLUMN_BYTES, COLUMN_MEMORY = 20, 0.1

#: Bytes of permuted candidates at a time.
CHUNK_BYTES = 2**30

#: Samples per warp.
SAMPLES_PER_WARP = 4


class Prepared(NamedTuple):
    """A scaled and sorted column on a device, samples in their original order."""

    values: Any
    rank: Any
    ascending: Any


def prepare(device: Cuda, column: Column, scale: Scale) -> Prepared:
    """Scale and sort a column, or return it from the cache."""
    cached = device.prepared.setdefault(column, {})
    if scale not in cached:
        values = scaled(column, scale)
        needed = len(device.prepared) * len(values) * COLUMN_BYTES
        if needed > COLUMN_MEMORY * device.free_bytes():
            device.prepared.clear()
        ascending, rank, _ = sort_column(values)
        arrays = values, rank.astype(np.int32), ascending
        cached[scale] = Prepared(*(device.put(array) for array in arrays))
        device.prepared[column] = cached
    found: Prepared = cached[scale]
    return found


def bind_on(
    device: Cuda, estimator: Estimator, target: Block, given: Block, share: int = 1
) -> Scorer:
    """Bind an estimator on a device that `share` scorers share; without a kernel, on the CPU."""

    def on_cpu() -> Scorer:
        return HostScorer(estimator.bind(target, given))

    has_kernel = type(estimator) in (KSG, Mixed) and getattr(estimator, "algorithm", 1) == 1
    if not has_kernel or "continuous" not in (target + given).feature_types:
        return on_cpu()
    formula = checked_formula(cast(NeighbourEstimator, estimator), target.n_samples)
    if formula.k > MAX_NEIGHBOURS:
        return on_cpu()
    with device.lock:
        memory = int(LIST_MEMORY * device.free_bytes() / share)
        spaces = bind_spaces(device, formula.accept(target), formula.accept(given), formula, memory)
    return CudaScorer(device, spaces, formula, on_cpu)


@dataclass(frozen=True, eq=False)
class HostScorer:
    """A scorer on the CPU that accepts permutations on a device."""

    scorer: Scorer

    def score(self, batch: Batch) -> FloatArray:
        """Return I(x; y | S) in nats for every permutation of the candidate, shape (m,)."""
        return self.scorer.score(Batch.of_permutations(batch.block, np.asarray(batch.rows)))


class DeviceSpaces(NamedTuple):
    """The spaces (y, S) and S on the device; `order` are the original indices of the samples."""

    n_samples: int
    shape: int  # GIVEN in the kernels
    order: Any
    fields: Any  # TargetSpaces in the kernels
    kept: tuple[Any, ...]  # the arrays that fields point to


def bind_spaces(
    device: Cuda, target: Block, given: Block, formula: Formula, memory: int
) -> DeviceSpaces:
    """List every sample's neighbours in (y, S) and in S."""
    n, joint = target.n_samples, given + target
    prepared = [prepare(device, column, formula.scale) for column in joint.columns]
    shape = _shape(target, given)
    ranks = [device.get(column.rank) for column in prepared]
    order = np.argsort(ranks[0]) if shape < 2 else _morton_order(ranks)
    values = np.array([device.get(column.values)[order] for column in prepared])
    joint_length, given_length = (
        list_length(n, formula.k, len(joint), len(block), memory // 2) for block in (joint, given)
    )
    joint_space = _put_space(device, values, max_distances(joint))
    given_space = _put_space(device, values[: len(given)], max_distances(given))
    joint_lists = _put_lists(device, joint_space, joint_length if shape > 0 else 0)
    given_lists = _put_lists(device, given_space, given_length if shape > 1 else 0)
    weight = device.put(formula.rule.weight)
    structs = (joint_space, given_space, joint_lists, given_lists)
    fields = [field for struct in structs for field in struct.fields] + [device.address(weight)]
    there = device.put(np.array(fields, dtype=np.int64))
    return DeviceSpaces(n, shape, device.put(order.astype(np.int32)), there, (*structs, weight))


def _shape(target: Block, given: Block) -> int:
    """Return 0 if S is empty and y one numeric column, 1 if S is one numeric column, else 2."""
    if not len(given):
        return 0 if len(target) == 1 and target.feature_types[0] != "nominal" else 2
    return 1 if len(given) == 1 and given.feature_types[0] != "nominal" else 2


def list_length(n_samples: int, k: int, joint_axes: int, axes: int, memory: int) -> int:
    """Return the length of lists in some of the axes: a power of two, for sorting.

    The k-th neighbour in (x, y, S) is at a distance that holds the same share of each axis.

    Examples
    --------
    >>> [list_length(50_000, 4, given + 1, given, 2**32) for given in (2, 3, 6, 10)]
    [4096, 4096, 4096, 2048]
    """
    if not axes:
        return 0
    wanted = max(LIST_EXCESS * n_samples * axis_share(k, n_samples, joint_axes) ** axes, 1.0)
    length = int(np.clip(1 << int(np.ceil(np.log2(wanted))), *LIST_BOUNDS))
    while length > LANES and length * n_samples * NEIGHBOUR_BYTES > memory:
        length //= 2
    return length


def _morton_order(ranks: list[NDArray[np.int32]]) -> NDArray[np.int64]:
    """Order samples along a Morton curve, on which consecutive ones tend to be near."""
    n, axes = len(ranks[0]), ranks[:20]
    bits = min(16, 63 // len(axes))
    curve = np.zeros(n, dtype=np.int64)
    levels = [(rank.astype(np.int64) << bits) // n for rank in axes]
    for bit in range(bits - 1, -1, -1):
        for level in levels:
            curve = (curve << 1) | ((level >> bit) & 1)
    return np.argsort(curve, kind="stable")


class _Struct(NamedTuple):
    """The fields of a struct of the kernels, and the arrays that they point to."""

    fields: tuple[int, ...]
    arrays: tuple[Any, ...]


def _put_space(device: Cuda, values: FloatArray, max_distance: FloatArray) -> _Struct:
    """Put points and the bounding boxes of tiles of 32 on the device."""
    columns, n = values.shape
    if not columns:
        return _Struct((0, 0, 0, 0, 0, n), ())
    tiles = np.pad(values, ((0, 0), (0, -n % LANES)), mode="edge").reshape(columns, -1, LANES)
    arrays = tuple(
        device.put(np.ascontiguousarray(array))
        for array in (values, max_distance, tiles.min(axis=2), tiles.max(axis=2))
    )
    return _Struct((*map(device.address, arrays), columns, n), arrays)


def _put_lists(device: Cuda, space: _Struct, length: int) -> _Struct:
    """List the neighbours of every sample in a space."""
    n = space.fields[-1]
    if not length:
        return _Struct((0, 0, 0, 0, 0), ())
    arrays = (
        device.empty((n, length), np.int32),
        device.empty((n, length), np.float64),
        device.empty((n,), np.int32),
        device.empty((n,), np.float64),
    )
    lists = _Struct((*map(device.address, arrays), length), arrays)
    tried = min(RADIUS_SAMPLES, 1 << (n.bit_length() - 1))
    shared = max(length, tried) * NEIGHBOUR_BYTES
    device.launch(
        Kernel("list_neighbours", index_definition(device, n), device.threads, shared),
        (n, 1),
        *(device.put(np.array(struct.fields, dtype=np.int64)) for struct in (space, lists)),
        *(np.int32(2 * length // 3), np.int32(tried)),
    )
    return lists


@dataclass(frozen=True, eq=False)
class CudaScorer:
    """Scores candidates by counts of neighbours on a device."""

    device: Cuda
    spaces: DeviceSpaces
    formula: Formula
    bind_on_cpu: Callable[[], Scorer]

    @cached_property
    def on_cpu(self) -> Scorer:
        """The same scorer on the CPU, for candidates of several columns."""
        return self.bind_on_cpu()

    def score(self, batch: Batch) -> FloatArray:
        """Return I(x; y | S) in nats for every permutation of the candidate, shape (m,)."""
        n = self.spaces.n_samples
        check_same_length(batch.block, n)
        if len(batch.block) != 1:
            with self.device.lock:
                scorer = self.on_cpu
            return scorer.score(batch)
        block = self.formula.accept(batch.block)
        max_distance = float(max_distances(block)[0])
        with self.device.lock:
            rows = (
                batch.rows.array
                if isinstance(batch.rows, CudaRows)
                else self.device.put(batch.rows.astype(index_type(self.device, n)))
            )
            column = prepare(self.device, block.columns[0], self.formula.scale)
            size = max(1, CHUNK_BYTES // (LANES * n * (8 + 3 * rows.dtype.itemsize))) * LANES
            sums = [
                self._sums(column, max_distance, rows[start : start + size])
                for start in range(0, len(rows), size)
            ]
        return self.formula.offset + np.concatenate(sums) * self.formula.unit / n

    def _sums(self, column: Prepared, max_distance: float, rows: Any) -> NDArray[np.int64]:
        """Return the sums of weights of some permutations."""
        device, spaces, strict = self.device, self.spaces, self.formula.strict
        n, m = spaces.n_samples, len(rows)
        warps = device.threads // LANES
        groups = -(-m // LANES)
        x = device.empty((groups, n, LANES), np.float64)
        rank = device.empty((groups, n, LANES), rows.dtype)
        stride = -(-n // LANES) * LANES
        sample_by_rank = device.empty((groups * LANES, stride), rows.dtype)
        is_sorted = spaces.shape == 1 or (spaces.shape == 0 and not strict)
        rank_by_given = device.empty((groups * LANES, stride), rows.dtype) if is_sorted else None
        fields = [
            *(device.address(array) for array in (x, rank, column.ascending)),
            int(np.float64(max_distance).view(np.int64)),
            device.address(sample_by_rank),
            device.address(rank_by_given) if is_sorted else 0,
            stride,
        ]
        candidate = device.put(np.array(fields, dtype=np.int64))
        device.launch(
            Kernel("arrange", index_definition(device, n), device.threads),
            (-(-n // warps), groups),
            *(rows, np.int32(m), np.int32(n), spaces.order),
            *(column.values, column.rank, candidate),
        )
        sums = device.put(np.zeros(groups * LANES, dtype=np.int64))
        definitions = (
            ("NEIGHBOURS", str(self.formula.k)),
            ("STRICT", str(int(strict))),
            ("GIVEN", str(spaces.shape)),
            *index_definition(device, n),
        )
        device.launch(
            Kernel("score_columns", definitions, device.threads),
            (-(-n // (warps * SAMPLES_PER_WARP)), groups),
            *(spaces.fields, candidate, np.int32(SAMPLES_PER_WARP), sums),
        )
        return np.asarray(device.get(sums)[:m], dtype=np.int64)
