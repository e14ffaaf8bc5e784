"""Operations on rows, and sums of a fixed order: the same wherever they are compiled."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from pidselect.decomposition import broja_certificate, broja_interior_point, broja_newton
from pidselect.decomposition.rows import (
    add_product,
    add_product_sum,
    assign,
    assign_product,
    divide,
    dot,
    four_dots,
    invert,
    multiply,
    subtract_product,
)
from pidselect.jit import Kernel


@njit
def operate(out, x, y, number):
    assign(out[0], number)
    assign(out[1], x)
    multiply(out[2], x)
    divide(out[3], x)
    assign_product(out[4], x, number)
    add_product(out[5], x, y)
    subtract_product(out[6], x, number)
    add_product_sum(out[7], x, number, y)
    invert(out[8])


@pytest.mark.parametrize("size", [0, 1, 7, 64, 125])
def test_operations_change_the_entries_of_the_first_row(size):
    rng = np.random.default_rng(size)
    rows, x, y = rng.normal(size=(9, size)), rng.normal(size=size), rng.normal(size=size + 3)
    old, number = rows.copy(), 0.7
    operate(rows, x, y, number)
    z = y[:size]
    expected = [
        np.full(size, number),
        x,
        old[2] * x,
        old[3] / x,
        x * number,
        old[5] + x * z,
        old[6] - x * number,
        old[7] + x * (number + z),
        np.where(old[8] > 0, 1 / old[8], 0),
    ]
    assert (rows == expected).all()


@njit
def multiply_all(out, x):
    multiply(out, x)


@njit
def compiled(x, rows):
    return dot(x, rows[0]), four_dots(x, rows[0], rows[1], rows[2], rows[3])


def in_order(x, y):
    """Return the sum by eight partial sums, then the remaining elements one by one."""
    whole = len(x) // 8 * 8
    lanes = np.zeros(8)
    for start in range(0, whole, 8):
        lanes += x[start : start + 8] * y[start : start + 8]
    while len(lanes) > 1:
        lanes = lanes[: len(lanes) // 2] + lanes[len(lanes) // 2 :]
    rest = 0.0
    for one, other in zip(x[whole:], y[whole:], strict=True):
        rest += one * other
    return 0.0 + lanes[0] + rest


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 16, 23, 125, 625])
def test_equal_to_the_bit_to_sums_in_order(size):
    rng = np.random.default_rng(size)
    x, rows = rng.normal(size=size), rng.normal(size=(4, size))
    one, four = compiled(x, rows)
    assert one == in_order(x, rows[0])
    assert four == tuple(in_order(x, row) for row in rows)


@pytest.mark.parametrize("module", [broja_certificate, broja_interior_point, broja_newton])
def test_kernels_may_not_reorder_sums(module):
    """With fast mathematics, atoms differed between compiled and cached kernels."""
    kernels = [value for value in vars(module).values() if isinstance(value, Kernel)]
    assert kernels
    assert not any(kernel.targetoptions.get("fastmath") for kernel in kernels)
