"""Dot products of fixed vector widths: equal to the bit wherever they are compiled.

A compiler vectorises a sum only if it may reorder it; then the order depends on the processor, and
on the code that the sum is inlined into. Here the order is fixed.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

#: Numbers of partial sums: eight as far as possible, one for the remaining elements.
WIDTHS = (8, 1)

INT, PLACE = ir.IntType(64), ir.IntType(32)


@intrinsic
def dot(typing_context: Any, x: Any, y: Any) -> Any:
    """Return the sum of x * y over the entries of x; both are contiguous, y may be longer."""
    signature = types.float64(x, y)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _dots(context, builder, signature.args, args)[0]

    return signature, generate


@intrinsic
def four_dots(typing_context: Any, x: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return the dot products of x with four arrays, which takes less time than one by one."""
    signature = types.UniTuple(types.float64, 4)(x, a, b, c, d)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = _dots(context, builder, signature.args, args)
        return context.make_tuple(builder, signature.return_type, values)

    return signature, generate


def _dots(context: Any, builder: Any, array_types: Any, args: Any) -> list[Any]:
    """Return the dot products of the first array with all others."""
    arrays = [make_array(t)(context, builder, a) for t, a in zip(array_types, args, strict=True)]
    size = arrays[0].nitems
    start, totals = INT(0), [ir.Constant(ir.DoubleType(), 0.0)] * (len(arrays) - 1)
    for width in WIDTHS:
        stop = builder.and_(size, INT(-width))
        parts = _sums(builder, arrays, (start, stop), width)
        totals = [builder.fadd(*pair) for pair in zip(totals, parts, strict=True)]
        start = stop
    return totals


def _sums(builder: Any, arrays: Any, bounds: Any, width: int) -> list[Any]:
    """Return the sums of the products within the bounds, by `width` partial sums each."""
    vector = ir.VectorType(ir.DoubleType(), width)
    zeros = ir.Constant(vector, [0.0] * width)
    sums = [cgutils.alloca_once_value(builder, zeros) for _ in arrays[1:]]
    with cgutils.for_range_slice(builder, *bounds, INT(width), INT) as (index, _):
        places = [builder.gep(array.data, [index]) for array in arrays]
        one, *others = (
            builder.load(builder.bitcast(place, vector.as_pointer()), align=8) for place in places
        )
        for total, other in zip(sums, others, strict=True):
            builder.store(builder.fadd(builder.load(total), builder.fmul(one, other)), total)
    return [_sum_of_lanes(builder, builder.load(total), width) for total in sums]


def _sum_of_lanes(builder: Any, lanes: Any, width: int) -> Any:
    """Add the upper half of a vector to its lower half until one number is left."""
    while width > 1:
        width //= 2
        halves = (range(width), range(width, 2 * width))
        masks = [ir.Constant(ir.VectorType(PLACE, width), list(half)) for half in halves]
        lanes = builder.fadd(*(builder.shuffle_vector(lanes, lanes, mask) for mask in masks))
    return builder.extract_element(lanes, PLACE(0))
