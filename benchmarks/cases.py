"""Data whose truth is known: a conditioning set, candidates, a target, and whether they add to it.

``CASES`` has every case by name. A case makes data from a generator and a number of samples: in a
null the candidates add nothing to the conditioning set, in an alternative they do. The groups:

- "smooth", "kink or jump": x and y are functions of S, each with independent noise;
- "sorts": the same with S of labels, counts, integers, gaps, or 8 to 15 columns;
- "bands": x is a flag or a band of a function of S, and y has classes of it;
- "varying noise": the noise of x and of y depends on S;
- "adversary": functions that a regression of x or y on S misses;
- "tables": no S, many columns, nothing relevant;
- "alternatives", "joint" (x acts only together with S, or on other moments than the mean),
  "linear" and "products" (effects that a textbook test finds, too), "beside integers": x adds to S.

Nothing of the package is needed to make the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, log_ndtr, ndtr
from scipy.stats import poisson

Array = NDArray[np.float64]
Column = NDArray[Any]
Generator = np.random.Generator
Type = Literal["continuous", "ordinal", "nominal"]
Given = Callable[[Generator, int], Column]
Function = Callable[[Column], Array]
Channel = Callable[[Column, Generator], Column]  # what S and noise make of a column

#: Groups in which the candidates add to S; in all others they do not.
ALTERNATIVES = ("alternatives", "joint", "linear", "products", "beside integers")


class Data(NamedTuple):
    """The conditioning set, candidates and a target; texts are labels."""

    given: Column  # (n_samples, n_given)
    x: Column  # (n_samples,) or (n_samples, n_candidates)
    y: Column
    x_type: Type | None = None  # where the values do not say it

    def frame(self) -> tuple[pd.DataFrame, dict[str, Type], list[str]]:
        """Return all columns, types of candidates by name, and the names of the columns of S."""
        x = self.x.reshape(len(self.y), -1)
        columns = {f"s{place}": column for place, column in enumerate(self.given.T)}
        fixed = list(columns)
        columns |= {f"x{place}": column for place, column in enumerate(x.T)}
        types = {name: self.x_type for name in columns if name not in fixed and self.x_type}
        frame = pd.DataFrame({name: pd.Series(list(one)) for name, one in columns.items()})
        return frame, types, fixed


class Case(NamedTuple):
    """How data are made, and what is asked of the test."""

    group: str
    make: Callable[[Generator, int], Data]

    @property
    def is_null(self) -> bool:
        """Whether the candidates add nothing to S."""
        return self.group not in ALTERNATIVES


# --- conditioning sets ----------------------------------------------------------------------------


def normal(n_columns: int) -> Given:
    return lambda rng, n: rng.standard_normal((n, n_columns))


def uniform(n_columns: int) -> Given:
    return lambda rng, n: rng.uniform(size=(n, n_columns))


def lognormal(n_columns: int, deviation: float = 1.0) -> Given:
    return lambda rng, n: np.exp(deviation * rng.standard_normal((n, n_columns)))


def heavy(n_columns: int) -> Given:
    """Return a maker of columns by Student's t with two degrees of freedom."""
    return lambda rng, n: rng.standard_t(2, size=(n, n_columns))


def correlated(n_columns: int, correlation: float) -> Given:
    """Return a maker of normal columns, each pair with this correlation."""

    def make(rng: Generator, n: int) -> Array:
        common, own = rng.standard_normal((n, 1)), rng.standard_normal((n, n_columns))
        return np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own

    return make


def height_and_weight(rng: Generator, n: int) -> Array:
    """Return heights in metres and weights in kilograms."""
    height = rng.normal(1.7, 0.1, n)
    return np.column_stack([height, np.exp(rng.normal(4.3, 0.2, n))])


def codes(n_levels: int, n_columns: int = 1) -> Given:
    """Return a maker of columns of equally likely integers from 0."""
    return lambda rng, n: rng.integers(n_levels, size=(n, n_columns))


def counts(mean: float, n_columns: int = 1) -> Given:
    return lambda rng, n: rng.poisson(mean, size=(n, n_columns))


def gaps(rng: Generator, n: int) -> Array:
    """Return a column of which 60 % are zero and the others positive."""
    return np.where(rng.random((n, 1)) < 0.6, 0.0, rng.gamma(2.0, 1.0, (n, 1)))


def ages(rng: Generator, n: int) -> Array:
    return rng.integers(18, 91, size=(n, 1)).astype(float)


def percents(rng: Generator, n: int) -> Array:
    return np.round(100 * rng.beta(2.0, 3.0, (n, 1)))


def days(rng: Generator, n: int) -> Array:
    """Return days of three years, as numbers since 1970."""
    return rng.integers(18_262, 18_262 + 3 * 365, size=(n, 1)).astype(float)


def clouds(rng: Generator, n: int) -> Array:
    centres = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.5]])
    return centres[rng.integers(3, size=n)] + 0.5 * rng.standard_normal((n, 2))


def labels_of(*columns: Given) -> Given:
    """Return a maker of these columns side by side, integers as labels and floats as they are."""

    def make(rng: Generator, n: int) -> Column:
        parts = [part for maker in columns for part in maker(rng, n).T]
        return beside(*(text(part) if part.dtype.kind == "i" else part for part in parts))

    return make


def text(values: Column) -> Column:
    return np.array([f"level {int(value)}" for value in values], dtype=object)


def beside(*columns: Column) -> Column:
    table = np.empty((len(columns[0]), len(columns)), dtype=object)
    for place, column in enumerate(columns):
        table[:, place] = column
    return table


def code(labels: Column) -> NDArray[np.int64]:
    """Return labels of `text` as integers."""
    return np.array([int(str(label).split()[1]) for label in labels])


# --- functions of S, and columns that follow them -------------------------------------------------


def total(given: Column) -> Array:
    return np.asarray(given.sum(axis=1))


def first(given: Column) -> Array:
    return np.asarray(given[:, 0], dtype=float)


def mean_of(given: Column) -> Array:
    return total(given) / np.sqrt(given.shape[1])


def friedman(given: Column) -> Array:
    """Return Friedman's first function over its standard deviation."""
    a, b, c, d, e = given.T
    return np.asarray((10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e) / 4.9)


def body_mass(given: Column) -> Array:
    """Return weight over squared height, over its standard deviation."""
    values = given[:, 1] / given[:, 0] ** 2
    return np.asarray(values / values.std())


def effects(given: Column) -> Array:
    """Return the sum of fixed effects of the labels of all columns, and of numbers."""
    parts = [
        np.sin(2.0 * code(column) + place) if isinstance(column[0], str) else column.astype(float)
        for place, column in enumerate(given.T)
    ]
    return np.asarray(sum(parts))


def slope_by_label(given: Column) -> Array:
    """Return the second column times a slope that depends on the label in the first."""
    return np.asarray(given[:, 1].astype(float) * np.array([-1.0, 0.5, 2.0])[code(given[:, 0])])


def scaled(given: Column) -> Array:
    """Return the first column less its mean over its standard deviation."""
    return (first(given) - first(given).mean()) / first(given).std()


def plus(function: Function, noise: float | Function) -> Channel:
    """Return a channel of a function with normal noise, whose size may be a function, too."""

    def make(given: Column, rng: Generator) -> Array:
        size = noise(given) if callable(noise) else noise
        return function(given) + size * rng.standard_normal(len(given))

    return make


def flag(logit: Function) -> Channel:
    """Return a channel of two labels with these log odds."""
    return lambda given, rng: text(rng.random(len(given)) < expit(logit(given)))


def flipped(condition: Function, share: float = 0.1) -> Channel:
    """Return a channel of two labels by a condition, this share of them wrong."""
    return lambda given, rng: text(condition(given).astype(bool) ^ (rng.random(len(given)) < share))


def classes(function: Function, noise: float, cuts: int | list[float]) -> Channel:
    """Return a channel of classes between cuts, or of so many equally large ones."""

    def make(given: Column, rng: Generator) -> Column:
        values = plus(function, noise)(given, rng)
        limits = np.quantile(values, np.arange(1, cuts) / cuts) if isinstance(cuts, int) else cuts
        return text(np.digitize(values, limits))

    return make


def likely(n_levels: int) -> Channel:
    """Return a channel of labels whose probabilities depend on the label in the first column."""

    def make(given: Column, rng: Generator) -> Column:
        odds = np.sin(1.7 * np.multiply.outer(code(given[:, 0]) + 1, np.arange(n_levels) + 1))
        return text((2 * odds + rng.gumbel(size=odds.shape)).argmax(axis=1))

    return make


def exactly(function: Function) -> Channel:
    return lambda given, _: function(given)


def as_numbers(channel: Channel) -> Channel:
    """Return a channel with labels as their codes."""
    return lambda given, rng: code(channel(given, rng)).astype(float)


def rounded(function: Function, unit: float) -> Channel:
    return lambda given, _: np.round(function(given) / unit) * unit


def drawn(
    make_given: Given,
    of_x: Channel,
    of_y: Channel,
    rng: Generator,
    n: int,
    x_type: Type | None = None,
    n_candidates: int = 1,
) -> Data:
    """Return x and y that depend on S alone, each by a channel and independent noise."""
    given = make_given(rng, n)
    candidates = [of_x(given, rng) for _ in range(n_candidates)]
    x = candidates[0] if n_candidates == 1 else np.column_stack(candidates)
    return Data(given, x, of_y(given, rng), x_type)


# --- nulls ----------------------------------------------------------------------------------------

#: Name: the columns of S, the function of them, standard deviations of the noise of x and y.
SMOOTH: dict[str, tuple[Given, Function, tuple[float, ...]]] = {
    "total of 2": (normal(2), total, (0.02, 0.1, 0.3)),
    "total of 3": (normal(3), total, (0.02, 0.1, 0.3, 1.0)),
    "total of 5": (normal(5), total, (0.02, 0.1, 0.3)),
    "total of 6": (normal(6), total, (0.1,)),
    "total of 12": (normal(12), total, (0.1,)),
    "total of 3, correlation 0.9": (correlated(3, 0.9), total, (0.02, 0.1)),
    "total of 3 exponential": (lambda rng, n: rng.exponential(size=(n, 3)), total, (0.1,)),
    "total of 3 lognormal": (lognormal(3), total, (0.1, 0.3)),
    "total of 3 heavy-tailed": (heavy(3), total, (0.1,)),
    "total of 2, 4 others given": (normal(6), lambda s: s[:, 0] + s[:, 1], (0.1,)),
    "s": (normal(1), total, (0.02, 0.1, 1.0)),
    "s^2": (normal(1), lambda s: s[:, 0] ** 2, (0.02, 0.1, 0.3)),
    "sin 3s": (normal(1), lambda s: np.sin(3 * s[:, 0]), (0.02, 0.1, 0.3)),
    "sin 8s": (normal(1), lambda s: np.sin(8 * s[:, 0]), (0.1, 0.3)),
    "tanh 4s": (normal(1), lambda s: np.tanh(4 * s[:, 0]), (0.02, 0.1)),
    "s1 s2": (normal(2), lambda s: s[:, 0] * s[:, 1], (0.02, 0.1, 0.3)),
    "s1 s2 + s3": (normal(3), lambda s: s[:, 0] * s[:, 1] + s[:, 2], (0.1, 0.3)),
    "s1 s2 s3": (normal(3), lambda s: s.prod(axis=1), (0.1, 0.3)),
    "s1 / s2": (lognormal(2, 0.4), lambda s: s[:, 0] / s[:, 1], (0.02, 0.1)),
    "exp(s1 + s2)": (normal(2), lambda s: np.exp(total(s) / 2), (0.1, 0.3)),
    "sum of 3 sines": (normal(3), lambda s: total(np.sin(2 * s)), (0.1, 0.3)),
    "sine of a total of 3": (normal(3), lambda s: np.sin(2 * total(s)), (0.1, 0.3)),
    "Friedman I": (uniform(5), friedman, (0.1, 0.3)),
    "body mass index": (height_and_weight, body_mass, (0.05, 0.1)),
    "slope by label": (labels_of(codes(3), normal(1)), slope_by_label, (0.1,)),
    "levels of S": (codes(4, 2), total, (0.1,)),
}
KINKS: dict[str, tuple[Given, Function, tuple[float, ...]]] = {
    "|s|": (normal(1), lambda s: np.abs(s[:, 0]), (0.02, 0.1)),
    "|s1 - s2|": (normal(2), lambda s: np.abs(s[:, 0] - s[:, 1]), (0.1, 0.3)),
    "norm of 2": (normal(2), lambda s: np.hypot(s[:, 0], s[:, 1]), (0.1,)),
    "maximum of 3": (normal(3), lambda s: s.max(axis=1), (0.1, 0.3)),
    "sign(s1) s2": (normal(2), lambda s: np.sign(s[:, 0]) * s[:, 1], (0.1,)),
    "step": (normal(1), lambda s: 2.0 * (s[:, 0] > 0.3) + 0.3 * s[:, 0], (0.1,)),
    "two steps": (normal(2), lambda s: 2.0 * (s[:, 0] > 0.3) + 1.5 * (s[:, 1] > -0.2), (0.1,)),
    "floor 2s": (normal(1), lambda s: np.floor(2 * s[:, 0]), (0.1,)),
}
SORTS: dict[str, tuple[Given, Function, tuple[float, ...]]] = {
    "three labels of 4": (labels_of(codes(4, 3)), effects, (0.1, 0.3)),
    "label of 12 and a number": (labels_of(codes(12), normal(1)), effects, (0.3,)),
    "two labels, two numbers": (labels_of(codes(3), codes(6), normal(2)), effects, (0.3,)),
    "two counts": (counts(4, 2), lambda s: np.sqrt(total(s) + 1.0), (0.1, 0.3)),
    "rare counts": (counts(0.3, 3), lambda s: total(np.minimum(s, 2)), (0.3,)),
    "gaps": (gaps, lambda s: np.log1p(s[:, 0]) + (s[:, 0] > 0), (0.1, 0.3)),
    "gaps, linear": (gaps, first, (0.1,)),
    "age": (ages, lambda s: ((s[:, 0] - 50) / 20) ** 2, (0.1, 0.3)),
    "percent": (percents, lambda s: np.log(s[:, 0] + 1), (0.1, 0.3)),
    "days": (days, lambda s: np.sin(2 * np.pi * s[:, 0] / 365), (0.1, 0.3)),
    "total of 8": (normal(8), mean_of, (0.1, 0.3)),
    "8, curved": (normal(8), lambda s: mean_of(s) + 0.3 * mean_of(s) ** 2, (0.3,)),
    "10 with a product": (normal(10), lambda s: mean_of(s) + s[:, 0] * s[:, 1], (0.3,)),
    "total of 15": (normal(15), mean_of, (0.1, 0.3)),
    "15, curved": (normal(15), lambda s: mean_of(s) + 0.3 * mean_of(s) ** 2, (0.3,)),
}


def product_of(given: Column) -> Array:
    return np.asarray(given.prod(axis=1))


def square(given: Column) -> Array:
    return np.asarray(first(given) ** 2)


def size_of_first(given: Column) -> Array:
    return np.asarray(0.3 * np.abs(first(given)))


FOUR = [-1.2, 0.0, 1.2]  # cuts of a total of three in four bands
NOISY_TOTAL = plus(total, 0.1)

#: Nulls in which x and y differ: the columns of S, the channels of x and y, the type of x.
UNEQUAL: dict[str, tuple[Any, ...]] = {
    "independent": (normal(2), plus(lambda _: 0.0, 1.0), plus(total, 0.5)),
    "exact total of 3": (normal(3), exactly(total), NOISY_TOTAL),
    "exact product": (lognormal(2, 0.5), exactly(product_of), plus(product_of, 0.1)),
    "exact s^2": (normal(1), exactly(square), plus(square, 0.1)),
    "copy, noise 1e-6": (normal(1), plus(first, 1e-6), NOISY_TOTAL),
    "cube, noise 1e-6": (
        *(normal(1), plus(lambda s: first(s) ** 3, 1e-6)),
        plus(lambda s: np.sin(2 * first(s)), 0.1),
    ),
    "total of 3; its square": (normal(3), NOISY_TOTAL, plus(lambda s: total(s) ** 2, 0.1)),
    "s1 + s2; sin 2s1 + s2 s3": (
        *(normal(3), plus(lambda s: s[:, 0] + s[:, 1], 0.1)),
        plus(lambda s: np.sin(2 * s[:, 0]) + s[:, 1] * s[:, 2], 0.1),
    ),
    "s, noise 0.3 |s|; s": (normal(1), plus(first, size_of_first), NOISY_TOTAL),
    "s, noise 0.3 |s|": (normal(1), *[plus(first, size_of_first)] * 2),
    "total of 3, noise 0.3 |s1|": (normal(3), *[plus(total, size_of_first)] * 2),
    "total of 3, 2 classes": (normal(3), NOISY_TOTAL, classes(total, 0.1, 2)),
    "total of 3, 4 classes": (normal(3), NOISY_TOTAL, classes(total, 0.1, 4)),
    "s^2, 2 classes": (normal(1), plus(square, 0.1), classes(square, 0.1, [0.5])),
    "labels of a total of 3": (normal(3), classes(total, 0.1, FOUR), NOISY_TOTAL),
    "exact labels of a total of 3": (normal(3), classes(total, 0.0, FOUR), NOISY_TOTAL),
    "bands of a total of 3": (
        *(normal(3), as_numbers(classes(total, 0.0, FOUR)), NOISY_TOTAL, "ordinal"),
    ),
    "s in 4 bands": (
        *(normal(1), as_numbers(classes(total, 0.0, [-0.7, 0.0, 0.7])), NOISY_TOTAL, "ordinal"),
    ),
    "s in halves": (normal(1), rounded(first, 0.5), NOISY_TOTAL, "ordinal"),
    "levels": (codes(3, 2), *[lambda s, rng: total(s) + rng.integers(-1, 2, len(s))] * 2),
}

#: Channels of flags and bands x of two normal columns, and of classes y beside them.
BANDS: dict[str, tuple[Channel, Channel]] = {
    "flag; logistic": (classes(mean_of, 0.0, [0.0]), flag(lambda s: 4 * mean_of(s))),
    "bands; logistic": (
        *(classes(mean_of, 0.0, [-0.7, 0.0, 0.7]), flag(lambda s: 4 * mean_of(s))),
    ),
    "bands; threshold": (classes(mean_of, 0.0, [-0.7, 0.0, 0.7]), classes(mean_of, 0.3, [0.0])),
    "noisy bands; 3 classes": (
        *(classes(mean_of, 0.1, [-0.7, 0.0, 0.7]), classes(mean_of, 0.1, [-0.5, 0.5])),
    ),
}
TYPES: dict[str, Type] = {"label": "nominal", "ordinal": "ordinal", "number": "continuous"}

#: Standard deviations of the noise of x and y as functions of S.
NOISES: dict[str, tuple[Given, Function]] = {
    "exp 1.5s": (normal(1), lambda s: np.exp(1.5 * first(s))),
    "exp(1.5 sin 3(s1 + s2))": (normal(2), lambda s: np.exp(1.5 * np.sin(3 * total(s)))),
    "exp(1.5 sign(s1 s2))": (normal(2), lambda s: np.exp(1.5 * np.sign(product_of(s)))),
    "by a label of 20": (labels_of(codes(20)), lambda s: np.exp(1.5 * effects(s))),
}


def wave(given: Column) -> Array:
    """Return a curve of the second column that depends on the label in the first."""
    return np.asarray(np.sin(2 * given[:, 1].astype(float) + 1.5 * code(given[:, 0])))


def curved(given: Column) -> Array:
    return mean_of(given) + mean_of(given) ** 2


def nearest_cloud(given: Column) -> Array:
    return np.where(given[:, 1] > 1.75, 2.0, 1.0 * (given[:, 0] > 2.0))


def is_odd(given: Column) -> Array:
    return total(given[:, :3]) % 2


SQUARE_OF_SUM: Channel = lambda s, rng: total(s) ** 2 * np.exp(0.3 * rng.standard_normal(len(s)))  # noqa: E731
QUICK = flag(lambda s: 4 * np.sin(2 * total(s)))
BAND_OF_SUM = as_numbers(classes(total, 0.3, [-1.0, 0.0, 1.0]))

#: Functions that regressions of x or y on S miss: the columns of S, the channels, the type of x.
ADVERSARY: dict[str, tuple[Any, ...]] = {
    "parity of 3 of 6 bits": (codes(2, 6), *[flipped(is_odd)] * 2),
    "curve by label, classes": (
        *(labels_of(codes(4), normal(1)), classes(wave, 0.3, 3)),
        flag(lambda s: 4 * wave(s)),
    ),
    "curve by label, numbers": (labels_of(codes(4), normal(1)), *[plus(wave, 0.1)] * 2),
    "flags of sin 2(s1 + s2)": (normal(2), QUICK, QUICK),
    "heavy tails, square of the sum": (heavy(2), SQUARE_OF_SUM, SQUARE_OF_SUM),
    "label of 8; 4 labels, 3 classes": (labels_of(codes(8)), likely(4), likely(3)),
    "label of 20; 4 labels, number": (labels_of(codes(20)), likely(4), plus(effects, 0.5)),
    "flags of an age": (ages, *[flipped(lambda s: first(s) >= 65)] * 2),
    "parity of a count": (counts(3.0), *[flipped(is_odd)] * 2),
    "4 ordinal bands": (normal(2), BAND_OF_SUM, BAND_OF_SUM, "ordinal"),
    "three clouds": (clouds, *[plus(nearest_cloud, 0.1)] * 2),
    "three clouds, classes": (clouds, *[flipped(lambda s: nearest_cloud(s) == 1)] * 2),
    "flags of gaps": (gaps, *[flipped(lambda s: first(s) > 0)] * 2),
    "constant S": (lambda _, n: np.zeros((n, 1)), *[plus(first, 1.0)] * 2),
    "classes that are S": (*(labels_of(codes(3)), plus(effects, 0.3), lambda s, _: s[:, 0]),),
    "flag of s1 + s2": (normal(2), plus(total, 0.3), classes(total, 0.0, [0.0])),
    "n / 2 classes": (
        *(normal(2), plus(total, 0.3), lambda s, rng: text(rng.integers(len(s) // 2, size=len(s)))),
    ),
    "edges of a square": (*(normal(2), *[flipped(lambda s: (np.abs(s) < 0.8).all(axis=1))] * 2),),
    "15 columns, 60 rows": (
        lambda rng, _: rng.standard_normal((60, 15)),
        *[plus(curved, 0.3)] * 2,
    ),
}


# --- null tables ----------------------------------------------------------------------------------


def mixed_table(n_columns: int) -> Given:
    """Return a maker of numbers, labels, counts and flags by turns."""

    def make(rng: Generator, n: int) -> Column:
        makers: list[Callable[[int], Column]] = [
            lambda _: rng.standard_normal(n),
            lambda place: text(rng.integers(2 + place % 11, size=n)),
            lambda place: rng.poisson(4.0 ** (place % 3), n).astype(float),
            lambda _: rng.standard_t(2, n),
            lambda _: (rng.random(n) < 0.1).astype(float),
        ]
        return beside(*(makers[place % len(makers)](place) for place in range(n_columns)))

    return make


def independent(make_columns: Given, of_y: Channel, rng: Generator, n: int) -> Data:
    """Return many columns, and a target that depends on none."""
    return Data(np.empty((n, 0)), make_columns(rng, n), of_y(np.empty((n, 1)), rng))


def of(maker: Given) -> Channel:
    return lambda given, rng: maker(rng, len(given))[:, 0]


FIVE = of(labels_of(codes(5)))
TABLES: dict[str, tuple[Given, Channel]] = {
    "numbers": (normal(20), of(normal(1))),
    "heavy tails": (heavy(20), of(heavy(1))),
    "correlated": (correlated(20, 0.8), of(normal(1))),
    "levels, 3 classes": (codes(4, 20), of(labels_of(codes(3)))),
    "labels, 3 classes": (labels_of(codes(9, 20)), of(labels_of(codes(3)))),
    "2 classes, one rare": (normal(50), flipped(lambda s: np.zeros(len(s)), 0.05)),
    "counts, count": (counts(2.0, 20), of(counts(2.0))),
    "500 numbers": (normal(500), of(normal(1))),
    "1,000 genotypes, 2 classes": (
        lambda rng, n: rng.binomial(2, rng.uniform(0.05, 0.5, 1000), size=(n, 1000)),
        of(labels_of(codes(2))),
    ),
    "20 mixed, number": (mixed_table(20), of(normal(1))),
    "20 mixed, 5 classes": (mixed_table(20), FIVE),
    "100 mixed, number": (mixed_table(100), of(normal(1))),
    "100 mixed, 5 classes": (mixed_table(100), FIVE),
}


# --- alternatives ---------------------------------------------------------------------------------


def added(
    make_given: Given,
    of_x: Channel,
    of_y: Callable[[Column, Array, Array], Array],
    rng: Generator,
    n: int,
    missing: float = 0.0,
) -> Data:
    """Return y as a function of S, x (labels: their codes) and a normal e; bools are classes."""
    given = make_given(rng, n)
    x = of_x(given, rng)
    numbers = code(x) if isinstance(x[0], str) else x
    y = of_y(given, numbers, rng.standard_normal(n))
    if missing:
        x = np.where(rng.random(n) < missing, np.nan, x)
    return Data(given, x, text(y) if y.dtype == bool else y)


def own_part(
    n_given: int,
    in_x: Function,
    in_y: Function,
    of_own: Callable[[Array], Array],
    size: float,
    noise: float,
    rng: Generator,
    n: int,
) -> Data:
    """Return two functions of S, to which functions of the same part of x are added."""
    given, own, e = normal(n_given)(rng, n), rng.standard_normal(n), rng.standard_normal(n)
    return Data(given, in_x(given) + size * own, in_y(given) + of_own(own) + noise * e)


def near_copy(n_given: int, correlation: float, noise: float, rng: Generator, n: int) -> Data:
    """Return x that is correlated with the mean m of S, and y = m + x."""
    given, size = normal(n_given)(rng, n), np.sqrt(1 - correlation**2)
    x = correlation * mean_of(given) + size * rng.standard_normal(n)
    return Data(given, x, mean_of(given) + x + noise * rng.standard_normal(n))


def exponential(e: Array) -> Array:
    """Return exponential values of mean 0 that grow with normal ones."""
    return -log_ndtr(-e) - 1.0


NUMBER: Channel = plus(lambda s: np.zeros(len(s)), 1.0)
BIT: Channel = of(lambda rng, n: rng.integers(2, size=(n, 1)).astype(float))
RARE: Channel = of(lambda rng, n: (rng.random((n, 1)) < 0.05).astype(float))
LABEL: Channel = of(labels_of(codes(4)))

#: y = total of S + weight x + noise e: the number of columns of S, the weight, the noise.
LINES = (
    *((3, 0.5, 1.0), (3, 0.2, 1.0), (3, 0.5, 0.1), (3, 0.2, 0.1), (1, 0.2, 1.0)),
    *((1, 0.125, 0.5), (6, 0.5, 1.0), (6, 0.2, 1.0), (5, 0.2, 1.0)),
)
#: `near_copy`: the number of columns of S, the correlation, the noise.
COPIES = (
    *((1, 0.95, 0.3), (1, 0.95, 1.0), (1, 0.99, 0.3), (1, 0.99, 1.0), (3, 0.95, 0.3)),
    *((3, 0.99, 0.3), (3, 0.99, 0.1), (3, 0.95, 1.0), (6, 0.95, 0.3)),
)
#: `added`: the columns of S, the channel of x, the function of S, x and e.
ADDED: dict[str, dict[str, tuple[Any, ...]]] = {
    "alternatives": {
        "s^2 + x^2": (normal(1), NUMBER, lambda s, x, e: square(s) + x**2 + e),
        "s x": (normal(1), NUMBER, lambda s, x, e: first(s) * x + 0.5 * e),
        "s1 + s2 + sin 2x": (normal(2), NUMBER, lambda s, x, e: total(s) + np.sin(2 * x) + e / 2),
        "total of 3 + x^2": (normal(3), NUMBER, lambda s, x, e: total(s) + x**2 + e),
        "scale": (normal(1), NUMBER, lambda s, x, e: first(s) + np.exp(x / 2) * e),
        "classes of s1 + s2 + x / 2": (
            *(normal(2), NUMBER, lambda s, x, e: total(s) + 0.5 * x + 0.5 * e > 0),
        ),
        "total of 3 + 0.6 flag": (normal(3), BIT, lambda s, x, e: total(s) + 0.6 * x + e),
        "s + 0.6 flag of s": (
            *(normal(1), as_numbers(classes(first, 1.0, [0.0]))),
            lambda s, x, e: first(s) + 0.6 * x + e,
        ),
        "levels + level": (
            *(codes(3, 2), of(lambda rng, n: rng.integers(3, size=(n, 1)).astype(float))),
            lambda s, x, e: total(s) + x + np.round(1.7 * e),
        ),
    },
    "joint": {
        "skew by x": (normal(1), NUMBER, lambda s, x, e: first(s) + np.sign(x) * exponential(e)),
        "cos 3(x + s)": (normal(1), NUMBER, lambda s, x, e: np.cos(3 * (x + first(s))) + 0.3 * e),
        "sin 3x sin 3s": (
            *(normal(1), NUMBER),
            lambda s, x, e: np.sin(3 * x) * np.sin(3 * first(s)) + 0.3 * e,
        ),
        "x s1 s2": (normal(2), NUMBER, lambda s, x, e: x * product_of(s) + 0.5 * e),
        "sign of x s1 s2": (normal(2), NUMBER, lambda s, x, e: x * product_of(s) > 0),
    },
    "linear": {
        "x given 10": (normal(10), NUMBER, lambda s, x, e: total(s) + 0.165 * x + e),
        "flag of 5 %": (normal(2), RARE, lambda s, x, e: total(s) + 0.85 * x + e),
        "60 % missing": (normal(2), NUMBER, lambda s, x, e: total(s) + 0.3 * x + e),
        "flag in classes": (normal(2), BIT, lambda s, x, e: total(s) + 0.45 * x + e > 0),
        "counts": (
            *(normal(2), NUMBER),
            lambda s, x, e: poisson.ppf(ndtr(e), np.exp(0.3 * total(s) + 0.18 * x)),
        ),
    },
    "products": {
        "x s9 after 10": (normal(10), NUMBER, lambda s, x, e: total(s) + 0.5 * x * s[:, 9] + e),
        "label of 4 times s": (
            *(normal(1), LABEL),
            lambda s, x, e: first(s) + np.array([-0.7, -0.2, 0.2, 0.7])[x] * first(s) + e,
        ),
        "x s after a label of 12": (
            *(labels_of(codes(12), normal(1)), NUMBER),
            lambda s, x, e: effects(s) + 0.5 * x * s[:, 1].astype(float) + e,
        ),
        "label by label": (
            *(labels_of(codes(5)), LABEL),
            lambda s, x, e: effects(s) + 0.35 * np.sin(3.0 * x * code(s[:, 0]) + x) + e,
        ),
    },
}
#: `own_part`: the number of columns of S, functions of S in x and y, of the part in y, sizes.
OWN: dict[str, tuple[Any, ...]] = {
    "own part beside s^2": (1, square, square, lambda e: 0.3 * e, 0.3, 0.3),
    "own part beside sin 3s": (
        1,
        lambda s: np.sin(3 * first(s)),
        first,
        lambda e: 0.3 * e,
        *[0.3] * 2,
    ),
    "own part beside s1 s2": (2, product_of, total, lambda e: 0.3 * e, 0.3, 0.3),
    "own part beside a total of 5": (5, total, total, lambda e: 0.3 * e, 0.3, 1.0),
    "own part beside m; m^2": (
        *(3, lambda s: 0.99 * mean_of(s), lambda s: mean_of(s) ** 2),
        *(lambda e: 0.7 * e, 0.14, 0.5),
    ),
    "small own part beside s1 s2": (2, product_of, product_of, lambda e: 0.3 * e, 0.1, 0.5),
    "square of the own part": (
        *(1, *[lambda s: np.sin(3 * first(s))] * 2),
        *(lambda e: 0.1 * e + 0.5 * (e**2 - 1), 0.1, 0.3),
    ),
}
#: Columns of S of integers, and candidates that depend on them.
INTEGERS: dict[str, Given] = {"age": ages, "count": counts(30.0), "percent": percents, "day": days}
TIED: dict[str, Channel] = {
    "label": classes(scaled, 0.5, [-0.4, 0.4]),
    "flag": as_numbers(classes(scaled, 0.7, [0.0])),
    "number": plus(scaled, 1.0),
}


def cases() -> Iterator[tuple[str, Case]]:
    of_functions = {"smooth": SMOOTH, "kink or jump": KINKS, "sorts": SORTS}
    for group, functions in of_functions.items():
        for name, (given, function, noises) in functions.items():
            for noise in noises:
                channel = plus(function, noise)
                yield (
                    f"{name}, noise {noise:g}",
                    Case(group, partial(drawn, given, channel, channel)),
                )
    for group, unequal in {"smooth": UNEQUAL, "adversary": ADVERSARY}.items():
        for name, (given, of_x, of_y, *x_type) in unequal.items():
            make = partial(drawn, given, of_x, of_y, x_type=x_type[0] if x_type else None)
            yield name, Case(group, make)
    for (name, (of_x, of_y)), (kind, x_type) in product(BANDS.items(), TYPES.items()):
        channel = of_x if x_type == "nominal" else as_numbers(of_x)
        make = partial(drawn, normal(2), channel, of_y, x_type=x_type)
        yield f"{name}; {kind}", Case("bands", make)
    for (name, (given, noise)), n_candidates in product(NOISES.items(), (1, 10)):
        channel = plus(lambda s: np.zeros(len(s)), noise)
        make = partial(drawn, given, channel, channel, n_candidates=n_candidates)
        yield f"noise {name}, {n_candidates} tested", Case("varying noise", make)
    for name, (columns, of_y) in TABLES.items():
        yield f"table of {name}", Case("tables", partial(independent, columns, of_y))
    for n_given, weight, noise in LINES:
        function = partial(lambda s, x, e, weight, noise: total(s) + weight * x + noise * e)
        make = partial(
            added, normal(n_given), NUMBER, partial(function, weight=weight, noise=noise)
        )
        yield f"total of {n_given} + {weight:g} x, noise {noise:g}", Case("alternatives", make)
    for copy in COPIES:
        name = "{} given, correlation {:g}, noise {:g}".format(*copy)
        yield name, Case("alternatives", partial(near_copy, *copy))
    for name, settings in OWN.items():
        yield name, Case("alternatives", partial(own_part, *settings))
    for group, entries in ADDED.items():
        for name, settings in entries.items():
            missing = 0.6 if "missing" in name else 0.0
            yield name, Case(group, partial(added, *settings, missing=missing))
    for (name, given), (kind, channel) in product(INTEGERS.items(), TIED.items()):
        make = partial(added, given, channel, beside_number)
        yield f"{kind} beside {name}", Case("beside integers", make)


def beside_number(given: Column, x: Array, e: Array) -> Array:
    """Return a curve of S and an effect of x that S does not explain."""
    return (
        scaled(given)
        + 0.3 * scaled(given) ** 2
        + 0.5 * (x == 1 if x.dtype.kind == "i" else x)
        + 0.7 * e
    )


CASES = dict(cases())
