"""Distributions of two sources and a target that are hard on solvers, each from its seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Generator = np.random.Generator
Shape = tuple[int, int, int]  # levels of the first source, of the second, of the target

LARGE: Shape = (5, 125, 5)
LARGE_EVERY = 49  # no divisor in common with the number of families: each is large in its turn


def stress(family: str, rng: Generator, *, large: bool = False) -> FloatArray:
    """Return a distribution of one of FAMILIES: an axis for each source, the target last."""
    pmf = FAMILIES[family](LARGE if large else draw_shape(rng), rng)
    if rng.random() < 0.5:
        pmf = pmf.swapaxes(0, 1)
    return np.ascontiguousarray(pmf / pmf.sum())


def suite(n: int, seed: int = 0) -> Iterator[tuple[str, FloatArray]]:
    """Yield n distributions with their families, which take turns."""
    for i, family in zip(range(n), cycle_of_families(), strict=False):
        rng = np.random.default_rng((seed, i))
        yield family, stress(family, rng, large=i % LARGE_EVERY == LARGE_EVERY - 1)


def cycle_of_families() -> Iterator[str]:
    while True:
        yield from FAMILIES


def count_states(codes: Sequence[NDArray[np.int64]]) -> FloatArray:
    """Return the relative frequency of every joint state, an axis for each variable."""
    pmf = np.zeros([code.max() + 1 for code in codes])
    np.add.at(pmf, tuple(codes), 1 / len(codes[0]))
    return pmf


def draw_shape(rng: Generator) -> Shape:
    """Return sizes from 2 x 2 x 2 to 6 x 40 x 6, two of five from the smallest."""
    most = (3, 3, 3) if rng.random() < 0.4 else (6, 40, 6)
    first, second, target = (int(rng.integers(2, m + 1)) for m in most)
    return first, second, target


# ---------------------------------------------------------------------------- families


def dense(shape: Shape, rng: Generator) -> FloatArray:
    return rng.standard_exponential(shape)


def spiky(shape: Shape, rng: Generator) -> FloatArray:
    """Draw from a Dirichlet distribution of parameter 0.05: few states hold nearly all."""
    pmf = rng.standard_gamma(0.05, size=shape)
    return pmf + (pmf.max() == 0)


def sparse(shape: Shape, rng: Generator) -> FloatArray:
    """Set four of five probabilities to zero."""
    pmf = rng.random(shape) * (rng.random(shape) < 0.2)
    pmf.flat[rng.integers(pmf.size)] += 0.1
    return pmf


def counts(shape: Shape, rng: Generator) -> FloatArray:
    """Count a sample: many zeros, and many probabilities exactly alike."""
    n_samples = int(rng.choice([5, 20, 100, 1000]))
    origin = rng.standard_gamma(0.5, size=shape)
    drawn = rng.multinomial(n_samples, (origin / origin.sum()).ravel())
    return drawn.reshape(shape).astype(np.float64)


def function(shape: Shape, rng: Generator) -> FloatArray:
    """Let the sources determine the target."""
    pmf = np.zeros(shape)
    first, second = np.indices(shape[:2])
    pmf[first, second, rng.integers(shape[2], size=shape[:2])] = rng.random(shape[:2])
    return pmf


def uniform_function(shape: Shape, rng: Generator) -> FloatArray:
    """Let uniform sources determine the target, as in logic gates: all ties, many solutions."""
    return (function(shape, rng) > 0).astype(np.float64)


def decades(shape: Shape, rng: Generator) -> FloatArray:
    """Spread probabilities over eight decades."""
    return 10 ** rng.uniform(-8, 0, size=shape)


def copied_source(shape: Shape, rng: Generator) -> FloatArray:
    """Make the second source nearly a copy of the first."""
    pmf = np.zeros(shape)
    first = np.arange(shape[0])
    pmf[first, first % shape[1]] = rng.random((shape[0], shape[2]))
    return disturbed(pmf, rng)


def copied_target(shape: Shape, rng: Generator) -> FloatArray:
    """Make the target nearly a copy of the first source."""
    pmf = np.zeros(shape)
    first = np.arange(shape[0])
    pmf[first, :, first % shape[2]] = rng.random(shape[:2])
    return disturbed(pmf, rng)


def copies(shape: Shape, rng: Generator) -> FloatArray:
    """Make all three nearly the same."""
    pmf = np.zeros(shape)
    first = np.arange(shape[0])
    pmf[first, first % shape[1], first % shape[2]] = rng.random(shape[0])
    return disturbed(pmf, rng)


def disturbed(pmf: FloatArray, rng: Generator) -> FloatArray:
    """Add noise of 1e-9 to 1e-3, on all states or on one in three."""
    noise = rng.random(pmf.shape) * (rng.random(pmf.shape) < rng.choice([1.0, 1 / 3]))
    return pmf / pmf.sum() + 10 ** rng.uniform(-9, -3) * noise / max(noise.sum(), 1e-300)


def independent(shape: Shape, rng: Generator) -> FloatArray:
    """Make the target independent of both sources, or the sources of each other given it."""
    if rng.random() < 0.5:
        return dense((*shape[:2], 1), rng) * dense((1, 1, shape[2]), rng)
    return dense((shape[0], 1, shape[2]), rng) * dense((1, shape[1], shape[2]), rng)


def degenerate(shape: Shape, rng: Generator) -> FloatArray:
    """Leave one level to a source, to the target or to all, with empty levels or without."""
    constant = [(0,), (1,), (2,), (0, 1), (0, 2), (0, 1, 2)][rng.integers(6)]
    pmf = dense(shape, rng)
    for axis in constant:
        pmf = pmf.sum(axis=axis, keepdims=True)
    empty = [(0, int(rng.integers(3))) for _ in shape]
    return np.pad(pmf, empty)


FAMILIES: dict[str, Callable[[Shape, Generator], FloatArray]] = {
    "dense": dense,
    "Dirichlet 0.05": spiky,
    "80 % zeros": sparse,
    "counts": counts,
    "deterministic target": function,
    "uniform gates": uniform_function,
    "eight decades": decades,
    "near copy, source": copied_source,
    "near copy, target": copied_target,
    "near copies, all": copies,
    "independent": independent,
    "degenerate": degenerate,
}
