"""The innermost steps of a walk, spelt out in vector instructions for all lanes at once.

Written as loops over the lanes, the compiler guards every one of them against overlapping memory
and works through it in pieces, which takes more than twice as long; so here the vectors are put
together by hand, for whatever instructions the machine has.
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

#: Columns served side by side. 16 was the fastest of 8, 16, 32 and 64.
LANES = 16

_NUMBERS = ir.VectorType(ir.DoubleType(), LANES)
_COUNTS = ir.VectorType(ir.IntType(64), LANES)
_ZERO = ir.Constant(ir.IntType(64), 0)


@intrinsic(prefer_literal=True)
def keep_smallest(typing_context, nearest, k, x, i, cap, samples, beyond_x):
    """Let the distances of i and some samples take their places among the k smallest.

    Per lane and sample j: ``d = max(min(|x[j] - x[i]|, cap), beyond_x[j])``, over all columns of
    x, then one pass of insertion sort over ``nearest[0..k-1]``: the smaller stays, the larger moves
    on. The cap is an array, or a number if x has but one column. A k that is spelt out in the call
    lets `nearest` stay in registers.
    """
    signature = types.void(nearest, k, x, types.intp, cap, samples, beyond_x)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows = _rows(context, builder, signature.args[0], args[0])
        steps = _distances(context, builder, signature.args[2:], args[2:])
        if isinstance(signature.args[1], types.IntegerLiteral):
            _insert_held(builder, steps, rows, signature.args[1].literal_value)
            return context.get_dummy_value()
        with steps as distance:
            moving = cgutils.alloca_once_value(builder, distance)
            with cgutils.for_range(builder, args[1]) as loop:
                place = rows(loop.index)
                new, old = builder.load(moving), _load(builder, place)
                builder.store(smaller(builder, new, old), place, align=8)
                builder.store(larger(builder, new, old), moving)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def count_nearer(typing_context, limits, counts, x, i, cap, samples, beyond_x):
    """Count in every lane those of some samples that are nearer to i than the limit.

    Per lane: ``counts`` is the number of samples j with
    ``max(min(|x[j] - x[i]|, cap), beyond_x[j]) < limits``, over all columns of x. The cap is an
    array, or a number if x has but one column.
    """
    signature = types.void(limits, counts, x, types.intp, cap, samples, beyond_x)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        limit = _load(builder, _rows(context, builder, signature.args[0], args[0])(_ZERO))
        total = _rows(context, builder, signature.args[1], args[1], _COUNTS)(_ZERO)
        steps = _distances(context, builder, signature.args[2:], args[2:])
        _count_below(builder, steps, limit, total)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def count_below(typing_context, limits, row, counts, distances):
    """Count in every lane the distances below the limit, ``limits[row]``."""
    signature = types.void(limits, types.intp, counts, distances)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        limit = _load(builder, _rows(context, builder, signature.args[0], args[0])(args[1]))
        total = _rows(context, builder, signature.args[2], args[2], _COUNTS)(_ZERO)
        _count_below(builder, _numbers(context, builder, signature.args[3], args[3]), limit, total)
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


def _insert_held(builder: Any, steps: Any, rows: Any, k: int) -> None:
    """Let the vectors that come by take their places among the k smallest, held in registers."""
    places = [rows(ir.Constant(ir.IntType(64), t)) for t in range(k)]
    held = [cgutils.alloca_once_value(builder, _load(builder, place)) for place in places]
    with steps as moving:
        for register in held:
            old = builder.load(register)
            builder.store(smaller(builder, moving, old), register)
            moving = larger(builder, moving, old)
    for register, place in zip(held, places, strict=True):
        builder.store(builder.load(register), place, align=8)


def _count_below(builder: Any, steps: Any, limit: Any, total: Any) -> None:
    """Store how many of the vectors that come by are below the limit, lane by lane."""
    count = cgutils.alloca_once_value(builder, ir.Constant(_COUNTS, [0] * LANES))
    with steps as distance:
        nearer = builder.fcmp_ordered("<", distance, limit)
        builder.store(builder.add(builder.load(count), builder.zext(nearer, _COUNTS)), count)
    builder.store(builder.load(count), total, align=8)


@contextmanager
def _numbers(context: Any, builder: Any, kind: Any, array: Any) -> Iterator[Any]:
    """Loop over the numbers of an array, each in every lane."""
    numbers = make_array(kind)(context, builder, array)
    with cgutils.for_range(builder, size_of(builder, numbers)) as loop:
        yield _everywhere(builder, builder.load(builder.gep(numbers.data, [loop.index])))


@contextmanager
def _distances(context: Any, builder: Any, kinds: Any, args: Any) -> Iterator[Any]:
    """Loop over samples and their distances to i; arguments are (x, i, cap, samples, beyond_x)."""
    x, i, cap, samples, beyond_x = args
    rows = _rows(context, builder, kinds[0], x)
    caps = make_array(kinds[2])(context, builder, cap) if isinstance(kinds[2], types.Array) else cap
    neighbours = make_array(kinds[3])(context, builder, samples)
    beyond = make_array(kinds[4])(context, builder, beyond_x)
    with cgutils.for_range(builder, size_of(builder, neighbours)) as loop:
        j = builder.load(builder.gep(neighbours.data, [loop.index]))
        if j.type.width < 64:
            j = builder.sext(j, ir.IntType(64))
        farthest = _everywhere(builder, builder.load(builder.gep(beyond.data, [loop.index])))
        if caps is cap:
            yield larger(builder, _apart(builder, rows(j), rows(i), cap), farthest)
        else:
            yield _farthest(builder, rows, (j, i), caps, farthest)


def _farthest(builder: Any, rows: Any, pair: Any, caps: Any, beyond_x: Any) -> Any:
    """Return the largest distance of a pair of samples over all columns and what is beyond x."""
    columns = size_of(builder, caps)
    starts = [builder.mul(sample, columns) for sample in pair]
    so_far = cgutils.alloca_once_value(builder, beyond_x)
    with cgutils.for_range(builder, columns) as loop:
        here, there = (rows(builder.add(start, loop.index)) for start in starts)
        cap = builder.load(builder.gep(caps.data, [loop.index]))
        step = _apart(builder, here, there, cap)
        builder.store(larger(builder, step, builder.load(so_far)), so_far)
    return builder.load(so_far)


def size_of(builder: Any, array: Any) -> Any:
    """Return the length of an array."""
    return cgutils.unpack_tuple(builder, array.shape, 1)[0]


def _apart(builder: Any, here: Any, there: Any, cap: Any) -> Any:
    """Return how far two rows are apart, at most by the cap."""
    one, other = _load(builder, here), _load(builder, there)
    step = larger(builder, builder.fsub(one, other), builder.fsub(other, one))
    return smaller(builder, step, _everywhere(builder, cap))


def _load(builder: Any, address: Any) -> Any:
    return builder.load(address, align=8)  # an array is only aligned to its numbers


def smaller(builder: Any, a: Any, b: Any) -> Any:
    """Return the smaller number of each lane."""
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


def larger(builder: Any, a: Any, b: Any) -> Any:
    """Return the larger number of each lane."""
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _everywhere(builder: Any, number: Any) -> Any:
    """Return a vector with the number in every lane."""
    undefined = ir.Constant(_NUMBERS, ir.Undefined)
    first = ir.Constant(ir.IntType(32), 0)
    pick = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(builder.insert_element(undefined, number, first), undefined, pick)
