"""The innermost steps of a walk, spelt out in vector instructions for all lanes at once.

Written as loops over the lanes, the compiler guards every one of them against overlapping memory
and works through it in pieces, which takes more than twice as long; so here the vectors are put
together by hand, for whatever instructions the machine has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

#: Columns served side by side. 16 was the fastest of 8, 16, 32 and 64.
LANES = 16

_NUMBERS = ir.VectorType(ir.DoubleType(), LANES)
_COUNTS = ir.VectorType(ir.IntType(64), LANES)
_ZERO = ir.Constant(ir.IntType(64), 0)


@intrinsic
def keep_smallest(typing_context, nearest, k, x, j, i, cap, beyond_x):
    """Let the distances of i and j take their places among the k smallest.

    Per lane: ``d = max(min(|x[j] - x[i]|, cap), beyond_x)``, then one pass of insertion sort over
    ``nearest[0..k-1]``: the smaller stays, the larger moves on.
    """
    signature = types.void(
        nearest, types.intp, x, types.intp, types.intp, types.float64, types.float64
    )

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows = _rows(context, builder, signature.args[0], args[0])
        samples = _rows(context, builder, signature.args[2], args[2])
        distance = _distance(builder, samples(args[3]), samples(args[4]), args[5], args[6])
        moving = cgutils.alloca_once_value(builder, distance)
        with cgutils.for_range(builder, args[1]) as loop:
            place = rows(loop.index)
            new, old = builder.load(moving), _load(builder, place)
            builder.store(_smaller(builder, new, old), place, align=8)
            builder.store(_larger(builder, new, old), moving)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def count_nearer(typing_context, counts, limits, x, j, i, cap, beyond_x):
    """Count j in every lane where it is nearer to i than the limit.

    Per lane: ``counts += max(min(|x[j] - x[i]|, cap), beyond_x) < limits``.
    """
    signature = types.void(counts, limits, x, types.intp, types.intp, types.float64, types.float64)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        limit = _rows(context, builder, signature.args[1], args[1])(_ZERO)
        samples = _rows(context, builder, signature.args[2], args[2])
        distance = _distance(builder, samples(args[3]), samples(args[4]), args[5], args[6])
        nearer = builder.fcmp_ordered("<", distance, _load(builder, limit))
        count = _rows(context, builder, signature.args[0], args[0], _COUNTS)(_ZERO)
        total = builder.add(_load(builder, count), builder.zext(nearer, _COUNTS))
        builder.store(total, count, align=8)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def largest(typing_context, numbers, row):
    """Return the largest number of a row."""
    signature = types.float64(numbers, types.intp)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _rows(context, builder, signature.args[0], args[0])(args[1])
        kind = ir.FunctionType(ir.DoubleType(), [_NUMBERS])
        name = f"llvm.vector.reduce.fmax.v{LANES}f64"
        reduce = cgutils.get_or_insert_function(builder.module, kind, name)
        return builder.call(reduce, [_load(builder, address)], fastmath=("nnan",))

    return signature, generate


def _rows(
    context: Any, builder: Any, array_type: Any, array: Any, vector: ir.VectorType = _NUMBERS
) -> Callable[[Any], Any]:
    """Return a function from the number of a row of LANES numbers to its address."""
    data = make_array(array_type)(context, builder, array).data
    lanes = ir.Constant(ir.IntType(64), LANES)

    def address(row: Any) -> Any:
        return builder.bitcast(builder.gep(data, [builder.mul(row, lanes)]), vector.as_pointer())

    return address


def _distance(builder: Any, here: Any, there: Any, cap: Any, beyond_x: Any) -> Any:
    one, other = _load(builder, here), _load(builder, there)
    apart = _larger(builder, builder.fsub(one, other), builder.fsub(other, one))
    return _larger(
        builder, _smaller(builder, apart, _everywhere(builder, cap)), _everywhere(builder, beyond_x)
    )


def _load(builder: Any, address: Any) -> Any:
    return builder.load(address, align=8)  # an array is only aligned to its numbers


def _smaller(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


def _larger(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _everywhere(builder: Any, number: Any) -> Any:
    """Return a vector with the number in every lane."""
    undefined = ir.Constant(_NUMBERS, ir.Undefined)
    first = ir.Constant(ir.IntType(32), 0)
    pick = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(builder.insert_element(undefined, number, first), undefined, pick)
