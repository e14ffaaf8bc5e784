"""Vector instructions on narrow numbers: distances of 32 bits, places of 16 or 32.

Twice to four times as many fit into a vector as of 64 bits. Places lose nothing by it, and whoever
uses the distances makes sure that what they leave open is decided by exact ones.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from pidselect.estimators.knn.simd64 import LANES, larger, size_of, smaller

#: Places along a line that are compared at once.
_AT_ONCE = 32

_INT = ir.IntType(64)
_NUMBERS = ir.VectorType(ir.FloatType(), LANES)


@intrinsic(prefer_literal=True)
def keep_nearest(typing_context, nearest, k, x, i, samples, beyond_x):
    """Let the distances of i and some samples take their places among the k smallest.

    Per lane and sample j: ``d = max(|x[j] - x[i]|, beyond_x[j])`` in 32 bits, then one pass of
    insertion sort over ``nearest[0..k-1]``. A k that is spelt out in the call lets `nearest` stay
    in registers. Returns the largest number of ``nearest[k-1]``.
    """
    signature = types.float32(nearest, k, x, types.intp, samples, beyond_x)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows = _rows(context, builder, signature.args[0], args[0], _NUMBERS)
        columns = _rows(context, builder, signature.args[2], args[2], _NUMBERS)
        here = _load(builder, columns(args[3]))
        neighbours = make_array(signature.args[4])(context, builder, args[4])
        beyond = make_array(signature.args[5])(context, builder, args[5])
        literal = signature.args[1]
        k = literal.literal_value if isinstance(literal, types.IntegerLiteral) else None
        held = None
        if k is not None:
            held = [
                cgutils.alloca_once_value(builder, _load(builder, rows(ir.Constant(_INT, t))))
                for t in range(k)
            ]
        with cgutils.for_range(builder, size_of(builder, neighbours)) as loop:
            j = builder.sext(builder.load(builder.gep(neighbours.data, [loop.index])), _INT)
            farther = builder.load(builder.gep(beyond.data, [loop.index]))
            farther = _everywhere(builder, builder.fptrunc(farther, ir.FloatType()), _NUMBERS)
            step = _absolute(builder, builder.fsub(_load(builder, columns(j)), here))
            moving = larger(builder, step, farther)
            if held is not None:
                for register in held:
                    old = builder.load(register)
                    builder.store(smaller(builder, moving, old), register)
                    moving = larger(builder, moving, old)
            else:
                carried = cgutils.alloca_once_value(builder, moving)
                builder.store(moving, carried)
                with cgutils.for_range(builder, args[1]) as inner:
                    place = rows(inner.index)
                    new, old = builder.load(carried), _load(builder, place)
                    builder.store(smaller(builder, new, old), place, align=4)
                    builder.store(larger(builder, new, old), carried)
        if held is not None:
            for t, register in enumerate(held):
                builder.store(builder.load(register), rows(ir.Constant(_INT, t)), align=4)
        kth = builder.sub(args[1], _INT(1))
        kind = ir.FunctionType(ir.FloatType(), [_NUMBERS])
        reduce = cgutils.get_or_insert_function(
            builder.module, kind, f"llvm.vector.reduce.fmax.v{LANES}f32"
        )
        return builder.call(reduce, [_load(builder, rows(kth))], fastmath=("nnan",))

    return signature, generate


@intrinsic
def count_sixteens(typing_context, limits, counts, ascending, n_groups):
    """Count in every lane the groups of 16 sorted numbers that are all below its limit."""
    signature = types.void(limits, counts, ascending, types.intp)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        exact, whole = ir.VectorType(ir.DoubleType(), LANES), ir.VectorType(_INT, LANES)
        limit = _load(
            builder, _rows(context, builder, signature.args[0], args[0], exact)(_INT(0)), 8
        )
        total = _rows(context, builder, signature.args[1], args[1], whole)(_INT(0))
        numbers = make_array(signature.args[2])(context, builder, args[2]).data
        count = cgutils.alloca_once_value(builder, ir.Constant(whole, [0] * LANES))
        with cgutils.for_range(builder, args[3]) as loop:
            last = builder.add(builder.mul(loop.index, _INT(LANES)), _INT(LANES - 1))
            number = _everywhere(builder, builder.load(builder.gep(numbers, [last])), exact)
            below = builder.fcmp_ordered("<", number, limit)
            builder.store(builder.add(builder.load(count), builder.zext(below, whole)), count)
        builder.store(builder.load(count), total, align=8)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def count_placed(typing_context, stretches, counts, place, samples, shortest):
    """Count in every lane those of the first samples that lie in its stretch of places.

    Per lane: ``counts[1]`` becomes the number of t below ``counts[0]`` with ``stretches[0] <=
    place[samples[t]] < stretches[0] + stretches[1]``. All of ``counts[0]`` are at least `shortest`,
    and none is larger than there are samples.
    """
    signature = types.void(stretches, counts, place, samples, types.intp)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        places = _places(signature.args[2])
        stretches = _rows(context, builder, signature.args[0], args[0], places)
        totals = _rows(context, builder, signature.args[1], args[1], places)
        rows = _rows(context, builder, signature.args[2], args[2], places)
        neighbours = make_array(signature.args[3])(context, builder, args[3])
        first, width = (_load(builder, stretches(_INT(t)), 2) for t in range(2))
        size = _load(builder, totals(_INT(0)), 2)
        count = cgutils.alloca_once_value(builder, ir.Constant(places, [0] * LANES))

        def inside(index: Any) -> Any:
            j = builder.sext(builder.load(builder.gep(neighbours.data, [index])), _INT)
            offset = builder.sub(_load(builder, rows(j), 2), first)
            return builder.icmp_unsigned("<", offset, width)

        with cgutils.for_range(builder, args[4]) as loop:
            hit = builder.zext(inside(loop.index), places)
            builder.store(builder.add(builder.load(count), hit), count)
        with cgutils.for_range(builder, builder.sub(size_of(builder, neighbours), args[4])) as loop:
            index = builder.add(loop.index, args[4])
            number = _everywhere(builder, builder.trunc(index, places.element), places)
            near = builder.icmp_unsigned("<", number, size)
            hit = builder.zext(builder.and_(inside(index), near), places)
            builder.store(builder.add(builder.load(count), hit), count)
        builder.store(builder.load(count), totals(_INT(1)), align=2)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def count_near(typing_context, limits, stretches, counts, place, samples, distances):
    """Count in every lane the samples nearer than its limit, and those in its stretch of places.

    Per lane: ``counts[0]`` is the number of samples with ``distances[t] < limits``, and
    ``counts[1]`` of those with ``stretches[0] <= place[samples[t]] < stretches[0] + stretches[1]``.
    """
    signature = types.void(limits, stretches, counts, place, samples, distances)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        exact = ir.VectorType(ir.DoubleType(), LANES)
        limits = _rows(context, builder, signature.args[0], args[0], exact)
        places = _places(signature.args[3])
        stretches = _rows(context, builder, signature.args[1], args[1], places)
        totals = _rows(context, builder, signature.args[2], args[2], places)
        rows = _rows(context, builder, signature.args[3], args[3], places)
        neighbours = make_array(signature.args[4])(context, builder, args[4])
        steps = make_array(signature.args[5])(context, builder, args[5]).data
        limit = _load(builder, limits(_INT(0)), 8)
        first, width = (_load(builder, stretches(_INT(t)), 2) for t in range(2))
        none = ir.Constant(places, [0] * LANES)
        near, both = (cgutils.alloca_once_value(builder, none) for _ in range(2))
        with cgutils.for_range(builder, size_of(builder, neighbours)) as loop:
            j = builder.sext(builder.load(builder.gep(neighbours.data, [loop.index])), _INT)
            step = _everywhere(builder, builder.load(builder.gep(steps, [loop.index])), exact)
            is_near = builder.fcmp_ordered("<", step, limit)
            offset = builder.sub(_load(builder, rows(j), 2), first)
            is_both = builder.and_(is_near, builder.icmp_unsigned("<", offset, width))
            for total, hit in ((near, is_near), (both, is_both)):
                more = builder.zext(hit, places)
                builder.store(builder.add(builder.load(total), more), total)
        for t, total in enumerate((near, both)):
            builder.store(builder.load(total), totals(_INT(t)), align=2)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def count_between(typing_context, places, first, width):
    """Count those of some places that lie in ``first <= place < first + width``."""
    signature = types.int64(places, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        places = _places(signature.args[0], _AT_ONCE)
        array = make_array(signature.args[0])(context, builder, args[0])
        first, width = (builder.trunc(number, places.element) for number in args[1:])
        firsts, widths = (_everywhere(builder, number, places) for number in (first, width))
        size = size_of(builder, array)
        whole = builder.udiv(size, _INT(_AT_ONCE))
        count = cgutils.alloca_once_value(builder, ir.Constant(places, [0] * _AT_ONCE))
        with cgutils.for_range(builder, whole) as loop:
            start = builder.gep(array.data, [builder.mul(loop.index, _INT(_AT_ONCE))])
            some = _load(builder, builder.bitcast(start, places.as_pointer()), 2)
            inside = builder.icmp_unsigned("<", builder.sub(some, firsts), widths)
            builder.store(builder.add(builder.load(count), builder.zext(inside, places)), count)
        add = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(places.element, [places]),
            f"llvm.vector.reduce.add.v{_AT_ONCE}i{places.element.width}",
        )
        total = builder.zext(builder.call(add, [builder.load(count)]), _INT)
        total = cgutils.alloca_once_value(builder, total)
        done = builder.mul(whole, _INT(_AT_ONCE))
        with cgutils.for_range(builder, builder.sub(size, done)) as loop:
            one = builder.load(builder.gep(array.data, [builder.add(loop.index, done)]))
            inside = builder.icmp_unsigned("<", builder.sub(one, first), width)
            builder.store(builder.add(builder.load(total), builder.zext(inside, _INT)), total)
        return builder.load(total)

    return signature, generate


def _places(array_type: Any, count: int = LANES) -> Any:
    """Return the type of a vector of places, which are of 16 or of 32 bits."""
    return ir.VectorType(ir.IntType(array_type.dtype.bitwidth), count)


def _rows(context: Any, builder: Any, array_type: Any, array: Any, vector: Any) -> Any:
    """Return a function from the number of a row of LANES numbers to its address."""
    data = make_array(array_type)(context, builder, array).data

    def address(row: Any) -> Any:
        start = builder.gep(data, [builder.mul(row, _INT(LANES))])
        return builder.bitcast(start, vector.as_pointer())

    return address


def _load(builder: Any, address: Any, align: int = 4) -> Any:
    return builder.load(address, align=align)  # an array is only aligned to its numbers


def _absolute(builder: Any, numbers: Any) -> Any:
    kind = ir.FunctionType(_NUMBERS, [_NUMBERS])
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fabs.v{LANES}f32")
    return builder.call(function, [numbers])


def _everywhere(builder: Any, number: Any, vector: Any) -> Any:
    """Return a vector with the number in every lane."""
    undefined = ir.Constant(vector, ir.Undefined)
    pick = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    one = builder.insert_element(undefined, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, undefined, pick)
