"""Compiled operations on rows: contiguous arrays of numbers, of any shape.

Each operation is compiled once and called wherever it is used; loops written out in its place would
take several times as long to compile.

Dot products are of fixed vector widths: equal to the bit wherever they are compiled. A compiler
vectorises a sum only if it may reorder it; then the order depends on the processor, and on the code
that the sum is inlined into. Here the order is fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

#: Numbers of partial sums: eight as far as possible, one for the remaining elements.
WIDTHS = (8, 1)

INT, PLACE, FLOAT, VOID = ir.IntType(64), ir.IntType(32), ir.DoubleType(), ir.VoidType()
ZERO, ONE = FLOAT(0.0), FLOAT(1.0)


def operation(name: str, formula: Callable[..., Any]) -> Any:
    """Return a compiled operation on rows, `operation(out, *inputs)`.

    Each entry of `out` becomes formula(builder, entry, *entries of the inputs). An input is a
    number, or a row that is at least as long as `out` and does not overlap with it.
    """

    def build(builder: Any, size: Any, arguments: Any) -> None:
        arguments[0].add_attribute("noalias")
        with cgutils.for_range(builder, size) as loop:
            entries = [a if a.type == FLOAT else builder.gep(a, [loop.index]) for a in arguments]
            loaded = [entry if entry.type == FLOAT else builder.load(entry) for entry in entries]
            builder.store(formula(builder, *loaded), entries[0])
        builder.ret_void()

    def call(context: Any, builder: Any, typed: Any, args: Any) -> Any:
        _call(builder, name, VOID, build, *_pointers(context, builder, typed, args))
        return context.get_dummy_value()

    @intrinsic
    @wraps(formula)  # Numba needs the number of arguments
    def apply(typing_context: Any, *arguments: Any) -> Any:
        return types.void(*arguments), call

    return apply


def _pointers(context: Any, builder: Any, typed: Any, args: Any) -> tuple[Any, list[Any]]:
    """Return the size of the first argument, and pointers to rows in place of these."""
    rows = {
        place: make_array(t)(context, builder, args[place])
        for place, t in enumerate(typed.args)
        if isinstance(t, types.Array)
    }
    return rows[0].nitems, [rows[i].data if i in rows else a for i, a in enumerate(args)]


def _call(builder: Any, name: str, result: Any, build: Any, size: Any, arguments: Any) -> Any:
    """Call the function of an operation, which is built where the module has none yet."""
    kinds = [argument.type for argument in arguments]
    key = "".join("n" if kind == FLOAT else "r" for kind in kinds)
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(result, [INT, *kinds]), f"pidselect.{name}.{key}"
    )
    if function.is_declaration:
        function.linkage = "linkonce_odr"
        function.attributes.add("noinline")
        build(ir.IRBuilder(function.append_basic_block()), function.args[0], function.args[1:])
    return builder.call(function, [size, *arguments])


def _call_dot(context: Any, builder: Any, typed: Any, args: Any) -> Any:
    def build(inner: Any, size: Any, rows: Any) -> None:
        inner.ret(_dots(inner, size, rows)[0])

    return _call(builder, "dot", FLOAT, build, *_pointers(context, builder, typed, args))


def larger(builder: Any, x: Any, y: Any, then: Any, otherwise: Any) -> Any:
    """Return, in a formula, one value where x > y, else another."""
    return builder.select(builder.fcmp_ordered(">", x, y), then, otherwise)


assign = operation("assign", lambda b, old, x: x)
multiply = operation("multiply", lambda b, old, x: b.fmul(old, x))
divide = operation("divide", lambda b, old, x: b.fdiv(old, x))
assign_product = operation("assign_product", lambda b, old, x, y: b.fmul(x, y))
add_product = operation("add_product", lambda b, old, x, y: b.fadd(old, b.fmul(x, y)))
subtract_product = operation("subtract_product", lambda b, old, x, y: b.fsub(old, b.fmul(x, y)))
#: Add x (y + z).
add_product_sum = operation(
    "add_product_sum", lambda b, old, x, y, z: b.fadd(old, b.fmul(x, b.fadd(y, z)))
)
#: Replace positive entries by their inverse, others by 0.
invert = operation("invert", lambda b, x: larger(b, x, ZERO, b.fdiv(ONE, x), ZERO))


@intrinsic
def keep_rolled(typing_context: Any) -> Any:
    """Keep the loop around it from being unrolled and vectorised.

    That multiplies the time to compile, and pays only in loops that take most of the time. No
    instruction is added: a piece of assembly, even an empty one, is not copied.
    """

    def generate(context: Any, builder: Any, typed: Any, args: Any) -> Any:
        builder.asm(ir.FunctionType(VOID, []), "", "", [], side_effect=True)
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def dot(typing_context: Any, x: Any, y: Any) -> Any:
    """Return the sum of x * y over the entries of x; both are contiguous, y may be longer."""
    return types.float64(x, y), _call_dot


@intrinsic
def four_dots(typing_context: Any, x: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return the dot products of x with four arrays, which takes less time than one by one."""
    signature = types.UniTuple(types.float64, 4)(x, a, b, c, d)

    def generate(context: Any, builder: Any, typed: Any, args: Any) -> Any:
        size, rows = _pointers(context, builder, typed, args)
        return context.make_tuple(builder, typed.return_type, _dots(builder, size, rows))

    return signature, generate


def _dots(builder: Any, size: Any, rows: Any) -> list[Any]:
    """Return the dot products of the first row with all others."""
    start, totals = INT(0), [ZERO] * (len(rows) - 1)
    for width in WIDTHS:
        stop = builder.and_(size, INT(-width))
        parts = _sums(builder, rows, (start, stop), width)
        totals = [builder.fadd(*pair) for pair in zip(totals, parts, strict=True)]
        start = stop
    return totals


def _sums(builder: Any, rows: Any, bounds: Any, width: int) -> list[Any]:
    """Return the sums of the products within the bounds, by `width` partial sums each."""
    vector = ir.VectorType(FLOAT, width)
    zeros = ir.Constant(vector, [0.0] * width)
    sums = [cgutils.alloca_once_value(builder, zeros) for _ in rows[1:]]
    with cgutils.for_range_slice(builder, *bounds, INT(width), INT) as (index, _):
        places = [builder.gep(row, [index]) for row in rows]
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
