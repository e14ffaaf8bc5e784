"""SIMD intrinsics on 64-bit distances: one vector instruction for LANES permutations at a time.

Loops over lanes are compiled with checks for overlapping memory and in pieces, which takes more
than twice as long; so the vector operations are generated directly, for any instruction set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

#: Permutations processed at a time. 16 was the fastest of 8, 16, 32 and 64.
LANES = 16

INT = ir.IntType(64)
DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
COUNTS = ir.VectorType(INT, LANES)


@intrinsic(prefer_literal=True)
def insert_smallest(typing_context, nearest, k, x, i, max_distance, samples, base_distance):
    """Insert the distances between i and some samples into the k smallest of every lane.

    ``d = max(min(|x[j] - x[i]|, max_distance), base_distance[j])``, over all columns of x, then one
    pass of insertion sort over ``nearest[0..k-1]``. The maximum distance is an array, or a number
    if x has one column. With a literal k, `nearest` is held in registers.
    """
    signature = types.void(nearest, k, x, types.intp, max_distance, samples, base_distance)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows = row_addresses(context, builder, signature.args[0], args[0], DOUBLES)
        distances = _distances(context, builder, signature.args[2:], args[2:])
        with insertion(builder, rows, signature.args[1], args[1], 8) as insert, distances as one:
            insert(one)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def count_nearer(typing_context, limits, counts, x, i, max_distance, samples, base_distance):
    """Count in every lane the samples nearer to i than its limit.

    ``counts`` is the number of samples j with ``max(min(|x[j] - x[i]|, max_distance),
    base_distance[j]) < limits``, over all columns of x. The maximum distance is an array, or a
    number if x has one column.
    """
    signature = types.void(limits, counts, x, types.intp, max_distance, samples, base_distance)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        limits = row_addresses(context, builder, signature.args[0], args[0], DOUBLES)
        total = row_addresses(context, builder, signature.args[1], args[1], COUNTS)(INT(0))
        distances = _distances(context, builder, signature.args[2:], args[2:])
        _count_below(builder, distances, load(builder, limits(INT(0)), 8), total)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def count_below(typing_context, limits, row, counts, distances):
    """Count in every lane the distances below its limit, ``limits[row]``."""
    signature = types.void(limits, types.intp, counts, distances)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        limits = row_addresses(context, builder, signature.args[0], args[0], DOUBLES)
        total = row_addresses(context, builder, signature.args[2], args[2], COUNTS)(INT(0))
        numbers = _numbers(context, builder, signature.args[3], args[3])
        _count_below(builder, numbers, load(builder, limits(args[1]), 8), total)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def largest(typing_context, numbers, row):
    """Return the largest number of a row."""
    signature = types.float64(numbers, types.intp)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = row_addresses(context, builder, signature.args[0], args[0], DOUBLES)(args[1])
        return reduce_largest(builder, load(builder, address, 8), "f64")

    return signature, generate


def _count_below(builder: Any, distances: Any, limit: Any, total: Any) -> None:
    """Store the number of distance vectors below the limit, by lane."""
    count = cgutils.alloca_once_value(builder, ir.Constant(COUNTS, [0] * LANES))
    with distances as distance:
        nearer = builder.fcmp_ordered("<", distance, limit)
        builder.store(builder.add(builder.load(count), builder.zext(nearer, COUNTS)), count)
    builder.store(builder.load(count), total, align=8)


@contextmanager
def _numbers(context: Any, builder: Any, array_type: Any, array: Any) -> Iterator[Any]:
    """Loop over the numbers of an array, each broadcast to all lanes."""
    numbers = make_array(array_type)(context, builder, array)
    with cgutils.for_range(builder, size_of(builder, numbers)) as loop:
        yield broadcast(builder, builder.load(builder.gep(numbers.data, [loop.index])), DOUBLES)


@contextmanager
def _distances(context: Any, builder: Any, array_types: Any, args: Any) -> Iterator[Any]:
    """Loop over distances to i; `args` are x, i, max_distance, samples, base_distance."""
    x, i, max_distance, samples, base_distance = args
    rows = row_addresses(context, builder, array_types[0], x, DOUBLES)
    bounds = None
    if isinstance(array_types[2], types.Array):
        bounds = make_array(array_types[2])(context, builder, max_distance)
    neighbours = make_array(array_types[3])(context, builder, samples)
    base = make_array(array_types[4])(context, builder, base_distance)
    with cgutils.for_range(builder, size_of(builder, neighbours)) as loop:
        j = builder.load(builder.gep(neighbours.data, [loop.index]))
        if j.type.width < 64:
            j = builder.sext(j, INT)
        rest = broadcast(builder, builder.load(builder.gep(base.data, [loop.index])), DOUBLES)
        if bounds is None:
            yield larger(builder, _column_distance(builder, rows(j), rows(i), max_distance), rest)
        else:
            yield _maximum_norm(builder, rows, (j, i), bounds, rest)


def _maximum_norm(builder: Any, rows: Any, pair: Any, bounds: Any, rest: Any) -> Any:
    """Return the largest distance of a pair of samples over all columns of x and the rest."""
    n_columns = size_of(builder, bounds)
    starts = [builder.mul(sample, n_columns) for sample in pair]
    norm = cgutils.alloca_once_value(builder, rest)
    with cgutils.for_range(builder, n_columns) as loop:
        here, there = (rows(builder.add(start, loop.index)) for start in starts)
        bound = builder.load(builder.gep(bounds.data, [loop.index]))
        step = _column_distance(builder, here, there, bound)
        builder.store(larger(builder, step, builder.load(norm)), norm)
    return builder.load(norm)


def _column_distance(builder: Any, here: Any, there: Any, max_distance: Any) -> Any:
    one, other = load(builder, here, 8), load(builder, there, 8)
    step = larger(builder, builder.fsub(one, other), builder.fsub(other, one))
    return smaller(builder, step, broadcast(builder, max_distance, DOUBLES))


# ------------------------------------------------------------------ shared with simd32


def row_addresses(
    context: Any, builder: Any, array_type: Any, array: Any, vector: ir.VectorType
) -> Callable[[Any], Any]:
    """Return a function from a row of LANES numbers to its address."""
    data = make_array(array_type)(context, builder, array).data

    def address(row: Any) -> Any:
        return builder.bitcast(
            builder.gep(data, [builder.mul(row, INT(LANES))]), vector.as_pointer()
        )

    return address


@contextmanager
def insertion(
    builder: Any, rows: Any, k_type: Any, k: Any, align: int
) -> Iterator[Callable[[Any], None]]:
    """Provide one pass of insertion sort over the k rows, held in registers if k is a literal."""
    if not isinstance(k_type, types.IntegerLiteral):

        def insert(distance: Any) -> None:
            moving = cgutils.alloca_once_value(builder, distance)
            with cgutils.for_range(builder, k) as loop:
                row = rows(loop.index)
                new, old = builder.load(moving), load(builder, row, align)
                builder.store(smaller(builder, new, old), row, align=align)
                builder.store(larger(builder, new, old), moving)

        yield insert
        return
    addresses = [rows(INT(t)) for t in range(k_type.literal_value)]
    registers = [
        cgutils.alloca_once_value(builder, load(builder, address, align)) for address in addresses
    ]

    def insert_held(distance: Any) -> None:
        for register in registers:
            old = builder.load(register)
            builder.store(smaller(builder, distance, old), register)
            distance = larger(builder, distance, old)

    yield insert_held
    for register, address in zip(registers, addresses, strict=True):
        builder.store(builder.load(register), address, align=align)


def reduce_largest(builder: Any, numbers: Any, type_name: str) -> Any:
    """Return the largest number of a vector."""
    function_type = ir.FunctionType(numbers.type.element, [numbers.type])
    name = f"llvm.vector.reduce.fmax.v{LANES}{type_name}"
    reduce = cgutils.get_or_insert_function(builder.module, function_type, name)
    return builder.call(reduce, [numbers], fastmath=("nnan",))


def size_of(builder: Any, array: Any) -> Any:
    """Return the length of an array."""
    return cgutils.unpack_tuple(builder, array.shape, 1)[0]


def load(builder: Any, address: Any, align: int) -> Any:
    """Load a vector; arrays are aligned to their elements only."""
    return builder.load(address, align=align)


def smaller(builder: Any, a: Any, b: Any) -> Any:
    """Return the smaller number of each lane."""
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


def larger(builder: Any, a: Any, b: Any) -> Any:
    """Return the larger number of each lane."""
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def broadcast(builder: Any, number: Any, vector: ir.VectorType) -> Any:
    """Return a vector with the number in every lane."""
    undefined = ir.Constant(vector, ir.Undefined)
    pick = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    one = builder.insert_element(undefined, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, undefined, pick)
