"""SIMD intrinsics on 32-bit distances and on ranks of 16 or 32 bits.

Two to four times as many fit into a vector as of 64 bits. Ranks are exact; callers resolve what
32-bit distances leave ambiguous by exact ones.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from pidselect.estimators.knn.simd64 import (
    COUNTS,
    DOUBLES,
    INT,
    LANES,
    broadcast,
    insertion,
    larger,
    load,
    reduce_largest,
    row_addresses,
    size_of,
)

#: Ranks compared at a time in `count_in_interval`.
WIDTH = 32

FLOATS = ir.VectorType(ir.FloatType(), LANES)


@intrinsic(prefer_literal=True)
def insert_nearest(typing_context, nearest, k, x, i, samples, base_distance):
    """Insert the 32-bit distances between i and some samples into the k smallest of every lane.

    ``d = max(|x[j] - x[i]|, base_distance[j])``, as `insert_smallest` does. Return the largest of
    ``nearest[k-1]``.
    """
    signature = types.float32(nearest, k, x, types.intp, samples, base_distance)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows = row_addresses(context, builder, signature.args[0], args[0], FLOATS)
        columns = row_addresses(context, builder, signature.args[2], args[2], FLOATS)
        here = load(builder, columns(args[3]), 4)
        neighbours = make_array(signature.args[4])(context, builder, args[4])
        base = make_array(signature.args[5])(context, builder, args[5])
        n_neighbours = size_of(builder, neighbours)
        with (
            insertion(builder, rows, signature.args[1], args[1], 4) as insert,
            cgutils.for_range(builder, n_neighbours) as loop,
        ):
            j = builder.sext(builder.load(builder.gep(neighbours.data, [loop.index])), INT)
            rest = builder.load(builder.gep(base.data, [loop.index]))
            rest = broadcast(builder, builder.fptrunc(rest, ir.FloatType()), FLOATS)
            step = _absolute(builder, builder.fsub(load(builder, columns(j), 4), here))
            insert(larger(builder, step, rest))
        kth = rows(builder.sub(args[1], INT(1)))
        return reduce_largest(builder, load(builder, kth, 4), "f32")

    return signature, generate


@intrinsic
def count_groups_below(typing_context, limits, counts, ascending, n_groups):
    """Count in every lane the groups of LANES sorted numbers that are all below its limit."""
    signature = types.void(limits, counts, ascending, types.intp)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        limits = row_addresses(context, builder, signature.args[0], args[0], DOUBLES)
        limit = load(builder, limits(INT(0)), 8)
        total = row_addresses(context, builder, signature.args[1], args[1], COUNTS)(INT(0))
        numbers = make_array(signature.args[2])(context, builder, args[2]).data
        count = cgutils.alloca_once_value(builder, ir.Constant(COUNTS, [0] * LANES))
        with cgutils.for_range(builder, args[3]) as loop:
            last = builder.add(builder.mul(loop.index, INT(LANES)), INT(LANES - 1))
            number = broadcast(builder, builder.load(builder.gep(numbers, [last])), DOUBLES)
            below = builder.fcmp_ordered("<", number, limit)
            builder.store(builder.add(builder.load(count), builder.zext(below, COUNTS)), count)
        builder.store(builder.load(count), total, align=8)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def count_listed_in_interval(typing_context, intervals, counts, rank, samples, shortest):
    """Count in every lane those of the first samples whose rank lies in its interval.

    ``counts[1]`` is the number of t below ``counts[0]`` with ``intervals[0] <= rank[samples[t]] <
    intervals[0] + intervals[1]``; ``counts[0]`` is between `shortest` and the number of samples.
    """
    signature = types.void(intervals, counts, rank, samples, types.intp)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        ranks = rank_vector(signature.args[2])
        intervals = row_addresses(context, builder, signature.args[0], args[0], ranks)
        totals = row_addresses(context, builder, signature.args[1], args[1], ranks)
        rows = row_addresses(context, builder, signature.args[2], args[2], ranks)
        neighbours = make_array(signature.args[3])(context, builder, args[3])
        first, width = (load(builder, intervals(INT(t)), 2) for t in range(2))
        size = load(builder, totals(INT(0)), 2)
        count = cgutils.alloca_once_value(builder, ir.Constant(ranks, [0] * LANES))

        def inside(index: Any) -> Any:
            j = builder.sext(builder.load(builder.gep(neighbours.data, [index])), INT)
            offset = builder.sub(load(builder, rows(j), 2), first)
            return builder.icmp_unsigned("<", offset, width)

        with cgutils.for_range(builder, args[4]) as loop:
            hit = builder.zext(inside(loop.index), ranks)
            builder.store(builder.add(builder.load(count), hit), count)
        with cgutils.for_range(builder, builder.sub(size_of(builder, neighbours), args[4])) as loop:
            index = builder.add(loop.index, args[4])
            number = broadcast(builder, builder.trunc(index, ranks.element), ranks)
            near = builder.icmp_unsigned("<", number, size)
            hit = builder.zext(builder.and_(inside(index), near), ranks)
            builder.store(builder.add(builder.load(count), hit), count)
        builder.store(builder.load(count), totals(INT(1)), align=2)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def count_near_in_interval(typing_context, limits, intervals, counts, rank, samples, distances):
    """Count in every lane the samples nearer than its limit, and those of them in its interval.

    ``counts[0]`` is the number of samples with ``distances[t] < limits``, and ``counts[1]`` that of
    those with ``intervals[0] <= rank[samples[t]] < intervals[0] + intervals[1]``.
    """
    signature = types.void(limits, intervals, counts, rank, samples, distances)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        limits = row_addresses(context, builder, signature.args[0], args[0], DOUBLES)
        ranks = rank_vector(signature.args[3])
        intervals = row_addresses(context, builder, signature.args[1], args[1], ranks)
        totals = row_addresses(context, builder, signature.args[2], args[2], ranks)
        rows = row_addresses(context, builder, signature.args[3], args[3], ranks)
        neighbours = make_array(signature.args[4])(context, builder, args[4])
        steps = make_array(signature.args[5])(context, builder, args[5]).data
        limit = load(builder, limits(INT(0)), 8)
        first, width = (load(builder, intervals(INT(t)), 2) for t in range(2))
        none = ir.Constant(ranks, [0] * LANES)
        near, both = (cgutils.alloca_once_value(builder, none) for _ in range(2))
        with cgutils.for_range(builder, size_of(builder, neighbours)) as loop:
            j = builder.sext(builder.load(builder.gep(neighbours.data, [loop.index])), INT)
            step = broadcast(builder, builder.load(builder.gep(steps, [loop.index])), DOUBLES)
            is_near = builder.fcmp_ordered("<", step, limit)
            offset = builder.sub(load(builder, rows(j), 2), first)
            is_both = builder.and_(is_near, builder.icmp_unsigned("<", offset, width))
            for total, hit in ((near, is_near), (both, is_both)):
                more = builder.zext(hit, ranks)
                builder.store(builder.add(builder.load(total), more), total)
        for t, total in enumerate((near, both)):
            builder.store(builder.load(total), totals(INT(t)), align=2)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def count_in_interval(typing_context, ranks, first, width):
    """Count the ranks with ``first <= rank < first + width``."""
    signature = types.int64(ranks, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        ranks = rank_vector(signature.args[0], WIDTH)
        array = make_array(signature.args[0])(context, builder, args[0])
        first, width = (builder.trunc(number, ranks.element) for number in args[1:])
        firsts, widths = (broadcast(builder, number, ranks) for number in (first, width))
        size = size_of(builder, array)
        n_vectors = builder.udiv(size, INT(WIDTH))
        count = cgutils.alloca_once_value(builder, ir.Constant(ranks, [0] * WIDTH))
        with cgutils.for_range(builder, n_vectors) as loop:
            start = builder.gep(array.data, [builder.mul(loop.index, INT(WIDTH))])
            some = load(builder, builder.bitcast(start, ranks.as_pointer()), 2)
            inside = builder.icmp_unsigned("<", builder.sub(some, firsts), widths)
            builder.store(builder.add(builder.load(count), builder.zext(inside, ranks)), count)
        add = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ranks.element, [ranks]),
            f"llvm.vector.reduce.add.v{WIDTH}i{ranks.element.width}",
        )
        total = builder.zext(builder.call(add, [builder.load(count)]), INT)
        total = cgutils.alloca_once_value(builder, total)
        done = builder.mul(n_vectors, INT(WIDTH))
        with cgutils.for_range(builder, builder.sub(size, done)) as loop:
            one = builder.load(builder.gep(array.data, [builder.add(loop.index, done)]))
            inside = builder.icmp_unsigned("<", builder.sub(one, first), width)
            builder.store(builder.add(builder.load(total), builder.zext(inside, INT)), total)
        return builder.load(total)

    return signature, generate


def rank_vector(array_type: Any, count: int = LANES) -> Any:
    """Return the type of a vector of ranks."""
    return ir.VectorType(ir.IntType(array_type.dtype.bitwidth), count)


def _absolute(builder: Any, numbers: Any) -> Any:
    function_type = ir.FunctionType(FLOATS, [FLOATS])
    function = cgutils.get_or_insert_function(
        builder.module, function_type, f"llvm.fabs.v{LANES}f32"
    )
    return builder.call(function, [numbers])
