"""SIMD intrinsics: one vector instruction for the same step of LANES permutations.

Loops over lanes are compiled with checks for overlapping memory and in pieces, which takes more
than twice as long; so the vector operations are generated directly, for any instruction set.

Of 32-bit distances and of ranks of 16 or 32 bits, two to four times as many fit into a vector as of
64-bit numbers. Ranks are exact; callers resolve what 32-bit distances leave ambiguous.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import wraps

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from pidselect.estimators.knn.spaces import LANES

#: Ranks compared at a time in `count_in_intervals`.
WIDTH = 32

INT = ir.IntType(64)
COUNTS = ir.VectorType(INT, LANES)


def generated(returns=types.void, prefer_literal=False):
    """Make an intrinsic of a function that generates its code, given a builder and the arguments.

    Arrays are given as `Array`, literal integers as int and None as None. The intrinsic returns the
    type `returns`, or a number of its first array if that is None.
    """

    def decorate(generate):
        @wraps(generate)
        def typed(typing_context, *arguments):
            def lower(context, builder, signature, values):
                pairs = zip(signature.args, values, strict=True)
                result = generate(builder, *(_argument(context, builder, *pair) for pair in pairs))
                return context.get_dummy_value() if result is None else result

            return (returns or arguments[0].dtype)(*arguments), lower

        return intrinsic(prefer_literal=prefer_literal)(typed)

    return decorate


def _argument(context, builder, kind, value):
    if isinstance(kind, types.Array):
        return Array(context, builder, kind, value)
    if isinstance(kind, types.IntegerLiteral):
        return kind.literal_value
    return None if isinstance(kind, types.NoneType) else value


class Array:
    """An array in generated code: its numbers, and vectors of several consecutive ones."""

    def __init__(self, context, builder, kind, value):
        array = make_array(kind)(context, builder, value)
        self.builder, self.data = builder, array.data
        self.size = builder.extract_value(array.shape, 0)
        self.element = context.get_data_type(kind.dtype)
        self.align = kind.dtype.bitwidth // 8  # vectors are aligned to their elements only

    def number(self, index):
        """Load one number."""
        return self.builder.load(self.builder.gep(self.data, [index]))

    def sample(self, index):
        """Load the index of a sample, of 32 or 64 bits."""
        sample = self.number(index)
        return self.builder.sext(sample, INT) if sample.type.width < INT.width else sample

    def set_number(self, index, number):
        """Store one number."""
        self.builder.store(number, self.builder.gep(self.data, [index]))

    def address(self, index, width):
        """Return the address of the vector that begins at some number."""
        start = self.builder.gep(self.data, [index])
        return self.builder.bitcast(start, ir.VectorType(self.element, width).as_pointer())

    def vector(self, index, width):
        """Load the vector that begins at some number."""
        return self.builder.load(self.address(index, width), align=self.align)

    def row(self, row):
        """Load the vector of some row."""
        return self.vector(self.builder.mul(row, INT(LANES)), LANES)

    def set_row(self, row, vector):
        """Store the vector of some row."""
        address = self.address(self.builder.mul(row, INT(LANES)), LANES)
        self.builder.store(vector, address, align=self.align)


class Counter:
    """Counts of what is true, one per lane."""

    def __init__(self, builder, vector):
        self.builder, self.vector = builder, vector
        self.total = cgutils.alloca_once_value(builder, ir.Constant(vector, [0] * vector.count))

    def add(self, hits):
        """Add a vector of true or false."""
        more = self.builder.zext(hits, self.vector)
        self.builder.store(self.builder.add(self.value(), more), self.total)

    def value(self):
        """Return the vector of counts."""
        return self.builder.load(self.total)


# ------------------------------------------------------------------ distances


@generated(returns=None, prefer_literal=True)
def insert_smallest(builder, nearest, k, x, i, max_distance, samples, base_distance):
    """Insert the distances between i and some samples into the k smallest of every lane.

    Distances are as in `count_nearer`, of 32 or 64 bits as `nearest` is, and inserted by one pass
    of insertion sort over ``nearest[0..k-1]``, which is held in registers if k is a literal. Return
    the largest of ``nearest[k-1]``.
    """
    with (
        _insertion(builder, nearest, k) as insert,
        _distances(builder, x, i, max_distance, samples, base_distance) as distance,
    ):
        insert(distance)
    last = INT(k - 1) if isinstance(k, int) else builder.sub(k, INT(1))
    return _largest(builder, nearest.row(last))


@generated()
def count_nearer(builder, limits, counts, x, i, max_distance, samples, base_distance):
    """Count in every lane the samples nearer to i than its limit.

    ``counts`` is the number of samples j with ``max(min(|x[j] - x[i]|, max_distance),
    base_distance[j]) < limits``, over all columns of x. The maximum distance is an array, or if x
    has one column a number, or None if that is infinite.
    """
    distances = _distances(builder, x, i, max_distance, samples, base_distance)
    _count_below(builder, distances, limits.row(INT(0)), counts)


@generated()
def count_below(builder, limits, row, counts, distances):
    """Count in every lane the distances below its limit, ``limits[row]``."""
    _count_below(builder, _numbers(builder, distances), limits.row(row), counts)


@generated()
def count_sorted_below(builder, limits, counts, ascending, n_groups):
    """Count in every lane the sorted numbers below its limit, of `n_groups` times LANES.

    Only one group of LANES numbers may hold both smaller ones and others: it is counted in full.
    """
    limit, groups = limits.row(INT(0)), Counter(builder, COUNTS)
    with cgutils.for_range(builder, builder.sub(n_groups, INT(1))) as loop:
        last = builder.add(builder.mul(loop.index, INT(LANES)), INT(LANES - 1))
        number = _broadcast(builder, ascending.number(last))
        groups.add(builder.fcmp_ordered("<", number, limit))
    counts.set_row(INT(0), groups.value())
    with cgutils.for_range(builder, INT(LANES)) as loop:
        first = builder.mul(counts.number(loop.index), INT(LANES))
        threshold = _broadcast(builder, limits.number(loop.index))
        below = builder.fcmp_ordered("<", ascending.vector(first, LANES), threshold)
        counts.set_number(loop.index, builder.add(first, _count_true(builder, below)))


@generated(returns=None)
def largest(builder, numbers, row):
    """Return the largest number of a row."""
    return _largest(builder, numbers.row(row))


def _count_below(builder, distances, limit, counts):
    count = Counter(builder, COUNTS)
    with distances as distance:
        count.add(builder.fcmp_ordered("<", distance, limit))
    counts.set_row(INT(0), count.value())


@contextmanager
def _numbers(builder, array):
    """Loop over the numbers of an array, each broadcast to all lanes."""
    with cgutils.for_range(builder, array.size) as loop:
        yield _broadcast(builder, array.number(loop.index))


@contextmanager
def _distances(builder, x, i, max_distance, samples, base_distance):
    """Loop over the distances of some samples to i."""
    here = None if isinstance(max_distance, Array) else x.row(i)
    with cgutils.for_range(builder, samples.size) as loop:
        j, base = samples.sample(loop.index), base_distance.number(loop.index)
        if base.type != x.element:
            base = builder.fptrunc(base, x.element)
        base = _broadcast(builder, base)
        if here is None:
            yield _maximum_norm(builder, x, (j, i), max_distance, base)
        else:
            yield _larger(builder, _step(builder, x.row(j), here, max_distance), base)


def _maximum_norm(builder, x, pair, max_distance, base):
    """Return the largest distance of a pair of samples over all columns of x and the base."""
    starts = [builder.mul(sample, max_distance.size) for sample in pair]
    norm = cgutils.alloca_once_value(builder, base)
    with cgutils.for_range(builder, max_distance.size) as loop:
        one, other = (x.row(builder.add(start, loop.index)) for start in starts)
        step = _step(builder, one, other, max_distance.number(loop.index))
        builder.store(_larger(builder, step, builder.load(norm)), norm)
    return builder.load(norm)


def _step(builder, one, other, max_distance):
    """Return the distances of one column."""
    step = _call(builder, "fabs", one.type, builder.fsub(one, other))
    if max_distance is None:
        return step
    return _smaller(builder, step, _broadcast(builder, max_distance))


@contextmanager
def _insertion(builder, rows, k):
    """Provide one pass of insertion sort over the k rows, held in registers if k is a literal."""
    if not isinstance(k, int):

        def insert(distance):
            moving = cgutils.alloca_once_value(builder, distance)
            with cgutils.for_range(builder, k) as loop:
                new, old = builder.load(moving), rows.row(loop.index)
                rows.set_row(loop.index, _smaller(builder, new, old))
                builder.store(_larger(builder, new, old), moving)

        yield insert
        return
    kind = rows.row(INT(0)).type
    # Distances sort as their bits, and processors have more units for minima of integers; but for
    # those of 64 bits many have none.
    bits = ir.VectorType(ir.IntType(32), LANES) if rows.align == 4 else kind
    registers = [
        cgutils.alloca_once_value(builder, builder.bitcast(rows.row(INT(t)), bits))
        for t in range(k)
    ]

    def insert_held(distance):
        distance = builder.bitcast(distance, bits)
        for register in registers:
            old = builder.load(register)
            builder.store(_smaller(builder, distance, old), register)
            distance = _larger(builder, distance, old)

    yield insert_held
    for t, register in enumerate(registers):
        rows.set_row(INT(t), builder.bitcast(builder.load(register), kind))


# ------------------------------------------------------------------ ranks


@generated()
def count_listed_in_interval(builder, intervals, counts, rank, samples, shortest):
    """Count in every lane those of the first samples whose rank lies in its interval.

    ``counts[1]`` is the number of t below ``counts[0]`` with ``intervals[0] <= rank[samples[t]] <
    intervals[0] + intervals[1]``; ``counts[0]`` is between `shortest` and the number of samples.
    """
    size = counts.row(INT(0))
    first, width = intervals.row(INT(0)), intervals.row(INT(1))
    count = Counter(builder, size.type)

    def inside(index):
        offset = builder.sub(rank.row(samples.sample(index)), first)
        return builder.icmp_unsigned("<", offset, width)

    with cgutils.for_range(builder, shortest) as loop:
        count.add(inside(loop.index))
    with cgutils.for_range(builder, builder.sub(samples.size, shortest)) as loop:
        index = builder.add(loop.index, shortest)
        number = _broadcast(builder, builder.trunc(index, counts.element))
        near = builder.icmp_unsigned("<", number, size)
        count.add(builder.and_(inside(index), near))
    counts.set_row(INT(1), count.value())


@generated()
def count_in_intervals(builder, begin, end, first, last, counts, ranks, row_size):
    """Count in every lane the ranks of a slice of its row that lie in its interval.

    ``counts`` is the number of t with ``begin <= t < end`` and ``first <= ranks[lane, t] < last``.
    Behind a slice, WIDTH more must be readable.
    """
    none, places = INT(0), ir.Constant(ir.VectorType(ranks.element, WIDTH), list(range(WIDTH)))
    total = cgutils.alloca_once_value(builder, none)

    def start_and_size(low, high, lane):
        size = builder.sub(high.number(lane), low.number(lane))
        is_empty = builder.icmp_signed("<", size, none)
        return low.number(lane), builder.select(is_empty, none, size)

    with cgutils.for_range(builder, INT(LANES)) as lanes:
        start, size = start_and_size(begin, end, lanes.index)
        start = builder.add(start, builder.mul(lanes.index, row_size))
        lowest, width = (
            _broadcast(builder, builder.trunc(number, ranks.element), WIDTH)
            for number in start_and_size(first, last, lanes.index)
        )

        def add(vector, is_used=None):
            index = builder.add(start, builder.mul(vector, INT(WIDTH)))
            offset = builder.sub(ranks.vector(index, WIDTH), lowest)
            inside = builder.icmp_unsigned("<", offset, width)
            inside = inside if is_used is None else builder.and_(inside, is_used)
            more = _count_true(builder, inside)
            builder.store(builder.add(builder.load(total), more), total)

        builder.store(none, total)
        n_whole = builder.udiv(size, INT(WIDTH))
        with cgutils.for_range(builder, n_whole) as loop:
            add(loop.index)
        rest = builder.trunc(builder.urem(size, INT(WIDTH)), ranks.element)
        add(n_whole, builder.icmp_unsigned("<", places, _broadcast(builder, rest, WIDTH)))
        counts.set_number(lanes.index, builder.load(total))


# ------------------------------------------------------------------ bits


@generated()
def count_common_bits(builder, counts, row, mask, bits):
    """Count in every lane the bits that ``mask`` and its words have in common.

    ``counts[row]`` is the sum of the set bits of ``mask[w] & bits[w]`` over all words w.
    """
    total = cgutils.alloca_once_value(builder, ir.Constant(COUNTS, [0] * LANES))
    with cgutils.for_range(builder, mask.size) as loop:
        common = builder.and_(_broadcast(builder, mask.number(loop.index)), bits.row(loop.index))
        ones = _call(builder, "ctpop", COUNTS, common)
        builder.store(builder.add(builder.load(total), ones), total)
    counts.set_row(row, builder.load(total))


@generated(returns=types.int64)
def popcount(builder, word):
    """Return the number of set bits."""
    return builder.ctpop(word)


@generated()
def add_weights(builder, totals, weight, counts, n_rows):
    """Add ``weight[count]`` to the total of every lane, for its counts in the first rows."""
    total = cgutils.alloca_once_value(builder, totals.row(INT(0)))
    with cgutils.for_range(builder, n_rows) as loop:
        count, weights = counts.row(loop.index), ir.Constant(COUNTS, ir.Undefined)
        for lane in range(LANES):
            number = weight.number(builder.extract_element(count, INT(lane)))
            weights = builder.insert_element(weights, number, INT(lane))
        builder.store(builder.add(builder.load(total), weights), total)
    totals.set_row(INT(0), builder.load(total))


@generated()
def fill_row(builder, array, row, number):
    """Set all lanes of a row to a number."""
    array.set_row(row, _broadcast(builder, number))


@generated()
def copy_row(builder, array, row, other, other_row):
    """Copy a row of another array."""
    array.set_row(row, other.row(other_row))


@generated()
def subtract_row(builder, array, row, other, other_row):
    """Subtract a row of another array."""
    array.set_row(row, builder.sub(array.row(row), other.row(other_row)))


@generated()
def add_row(builder, array, row, other, other_row):
    """Add a row of another array."""
    array.set_row(row, builder.add(array.row(row), other.row(other_row)))


@generated(returns=types.boolean)
def exceeds_row(builder, array, row, other, other_row):
    """Return whether any lane of a row is larger than in a row of another array."""
    larger = builder.icmp_signed(">", array.row(row), other.row(other_row))
    return builder.icmp_unsigned("!=", _count_true(builder, larger), INT(0))


# ------------------------------------------------------------------ vectors


def _call(builder, name, returned, vector, **options):
    """Call the function of LLVM with this name for a vector."""
    kind = vector.type
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(returned, [kind]),
        f"llvm.{name}.v{kind.count}{kind.element.intrinsic_name}",
    )
    return builder.call(function, [vector], **options)


def _largest(builder, vector):
    reduced = vector.type.element
    return _call(builder, "vector.reduce.fmax", reduced, vector, fastmath=("nnan",))


def _count_true(builder, hits):
    """Return how many of a vector of true or false are true."""
    bits = builder.bitcast(hits, ir.IntType(hits.type.count))
    return builder.zext(builder.ctpop(bits), INT)


def _smaller(builder, a, b):
    """Return the smaller number of each lane."""
    return builder.select(_less(builder, a, b), a, b)


def _larger(builder, a, b):
    """Return the larger number of each lane."""
    return builder.select(_less(builder, b, a), a, b)


def _less(builder, a, b):
    is_integer = isinstance(a.type.element, ir.IntType)
    return (builder.icmp_signed if is_integer else builder.fcmp_ordered)("<", a, b)


def _broadcast(builder, number, width=LANES):
    """Return a vector with the number in every lane."""
    undefined = ir.Constant(ir.VectorType(number.type, width), ir.Undefined)
    pick = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
    one = builder.insert_element(undefined, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, undefined, pick)
