"""Sums of a fixed order: the same wherever they are compiled."""

from __future__ import annotations

import numpy as np
import pytest

from pidselect.decomposition import broja_certificate, broja_interior_point, broja_newton
from pidselect.decomposition.broja_newton import dot
from pidselect.jit import LazyKernel, njit


@njit(nogil=True)
def compiled(x, y):
    return dot(x, y)


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
    x, y = rng.normal(size=(2, size))
    assert compiled(x, y) == in_order(x, y)


@pytest.mark.parametrize("module", [broja_certificate, broja_interior_point, broja_newton])
def test_kernels_may_not_reorder_sums(module):
    """With fast mathematics, atoms differed between compiled and cached kernels."""
    kernels = [value for value in vars(module).values() if isinstance(value, LazyKernel)]
    assert kernels
    assert not any(kernel.targetoptions.get("fastmath") for kernel in kernels)
