"""Functions of selected features: how often they are included, and what is found beside them.

In each data set a conditioning set S is given and one candidate x is tested. In the nulls, x and y
are both functions of S with independent noise, so that x adds nothing; in the alternatives it does.
Last, whole selections from tables with a function of the relevant columns, and noise.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from common import fit, interval, parser, repeat, show, write
from numpy.typing import NDArray

from pidselect import PIDSelector

Array = NDArray[np.float64]
Generator = np.random.Generator
Shape = Literal["smooth", "kink or jump", "alternative"]

SIZES = (300, 500, 1000)
POWER_SIZE, TABLE_SIZE = 200, 1000
N_PERMUTATIONS = 99
LIMITS: dict[Shape, float | None] = {"smooth": 10.0, "kink or jump": 25.0, "alternative": None}

#: Surrogate schemes that are compared.
SCHEMES: dict[str, tuple[str, ...]] = {
    "global and local": ("global", "local"),
    "global and residual": ("global", "residual"),
}


class Data(NamedTuple):
    """The conditioning set, a candidate and a target."""

    given: NDArray[Any]  # (n_samples, n_given)
    x: NDArray[Any]
    y: NDArray[Any]


class Case(NamedTuple):
    """How data are made, and what is asked of the test."""

    make: Callable[[Generator, int], Data]
    shape: Shape = "smooth"


# --- nulls ----------------------------------------------------------------------------------------


def normal(n_columns: int) -> Callable[[Generator, int], Array]:
    """Return a maker of independent normal columns."""
    return lambda rng, n: rng.standard_normal((n, n_columns))


def uniform(n_columns: int) -> Callable[[Generator, int], Array]:
    """Return a maker of uniform columns."""
    return lambda rng, n: rng.uniform(size=(n, n_columns))


def lognormal(n_columns: int, deviation: float = 1.0) -> Callable[[Generator, int], Array]:
    """Return a maker of lognormal columns."""
    return lambda rng, n: np.exp(deviation * rng.standard_normal((n, n_columns)))


def correlated(n_columns: int, correlation: float) -> Callable[[Generator, int], Array]:
    """Return a maker of normal columns, each pair with this correlation."""

    def make(rng: Generator, n: int) -> Array:
        common, own = rng.standard_normal((n, 1)), rng.standard_normal((n, n_columns))
        return np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own

    return make


def height_and_weight(rng: Generator, n: int) -> Array:
    """Return heights in metres and weights in kilograms."""
    height = rng.normal(1.7, 0.1, n)
    return np.column_stack([height, np.exp(rng.normal(4.3, 0.2, n))])


def total(given: Array) -> Array:
    """Return the sum of the columns."""
    return np.asarray(given.sum(axis=1))


def friedman(given: Array) -> Array:
    """Return Friedman's first function over its standard deviation."""
    a, b, c, d, e = given.T
    return np.asarray((10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e) / 4.9)


def body_mass(given: Array) -> Array:
    """Return weight over squared height, over its standard deviation."""
    values = given[:, 1] / given[:, 0] ** 2
    return np.asarray(values / values.std())


def same_function(
    make_given: Callable[[Generator, int], Array],
    function: Callable[[Array], Array],
    noise: float,
    rng: Generator,
    n: int,
) -> Data:
    """Return x and y that are the same function of S with independent normal noise."""
    given = make_given(rng, n)
    errors = noise * rng.standard_normal((2, n))
    return Data(given, function(given) + errors[0], function(given) + errors[1])


#: Name: the columns of S, the function of them, the standard deviations of the noise, the shape.
FUNCTIONS: dict[str, tuple[Any, Callable[[Array], Array], tuple[float, ...], Shape]] = {
    "total of 2": (normal(2), total, (0.02, 0.1, 0.3), "smooth"),
    "total of 3": (normal(3), total, (0.02, 0.1, 0.3, 1.0), "smooth"),
    "total of 5": (normal(5), total, (0.02, 0.1, 0.3), "smooth"),
    "total of 12": (normal(12), total, (0.1,), "smooth"),
    "total of 3, correlation 0.9": (correlated(3, 0.9), total, (0.02, 0.1), "smooth"),
    "total of 3 lognormal": (lognormal(3), total, (0.1, 0.3), "smooth"),
    "total of 2, 4 others given": (normal(6), lambda s: s[:, 0] + s[:, 1], (0.1,), "smooth"),
    "s": (normal(1), total, (0.02, 0.1, 1.0), "smooth"),
    "s^2": (normal(1), lambda s: s[:, 0] ** 2, (0.02, 0.1, 0.3), "smooth"),
    "sin 3s": (normal(1), lambda s: np.sin(3 * s[:, 0]), (0.02, 0.1, 0.3), "smooth"),
    "sin 8s": (normal(1), lambda s: np.sin(8 * s[:, 0]), (0.1, 0.3), "smooth"),
    "tanh 4s": (normal(1), lambda s: np.tanh(4 * s[:, 0]), (0.02, 0.1), "smooth"),
    "s1 s2": (normal(2), lambda s: s[:, 0] * s[:, 1], (0.02, 0.1, 0.3), "smooth"),
    "s1 s2 + s3": (normal(3), lambda s: s[:, 0] * s[:, 1] + s[:, 2], (0.1, 0.3), "smooth"),
    "s1 s2 s3": (normal(3), lambda s: s.prod(axis=1), (0.1, 0.3), "smooth"),
    "s1 / s2": (lognormal(2, 0.4), lambda s: s[:, 0] / s[:, 1], (0.02, 0.1), "smooth"),
    "exp(s1 + s2)": (normal(2), lambda s: np.exp(total(s) / 2), (0.1, 0.3), "smooth"),
    "sum of 3 sines": (normal(3), lambda s: total(np.sin(2 * s)), (0.1, 0.3), "smooth"),
    "sine of a total of 3": (normal(3), lambda s: np.sin(2 * total(s)), (0.1, 0.3), "smooth"),
    "Friedman I": (uniform(5), friedman, (0.1, 0.3), "smooth"),
    "body mass index": (height_and_weight, body_mass, (0.05, 0.1), "smooth"),
    "|s|": (normal(1), lambda s: np.abs(s[:, 0]), (0.02, 0.1), "kink or jump"),
    "|s1 - s2|": (normal(2), lambda s: np.abs(s[:, 0] - s[:, 1]), (0.1, 0.3), "kink or jump"),
    "norm of 2": (normal(2), lambda s: np.hypot(s[:, 0], s[:, 1]), (0.1,), "kink or jump"),
    "maximum of 3": (normal(3), lambda s: s.max(axis=1), (0.1, 0.3), "kink or jump"),
    "sign(s1) s2": (normal(2), lambda s: np.sign(s[:, 0]) * s[:, 1], (0.1,), "kink or jump"),
    "step": (normal(1), lambda s: 2.0 * (s[:, 0] > 0.3) + 0.3 * s[:, 0], (0.1,), "kink or jump"),
    "two steps": (
        *(normal(2), lambda s: 2.0 * (s[:, 0] > 0.3) + 1.5 * (s[:, 1] > -0.2)),
        *((0.1,), "kink or jump"),
    ),
    "floor 2s": (normal(1), lambda s: np.floor(2 * s[:, 0]), (0.1,), "kink or jump"),
}


def independent(rng: Generator, n: int) -> Data:
    """Return x that depends on nothing."""
    given = rng.standard_normal((n, 2))
    return Data(given, rng.standard_normal(n), total(given) + 0.5 * rng.standard_normal(n))


def exact_total(rng: Generator, n: int) -> Data:
    """Return x that S determines, and y with little noise."""
    given = rng.standard_normal((n, 3))
    return Data(given, total(given), total(given) + 0.1 * rng.standard_normal(n))


def different_functions(rng: Generator, n: int) -> Data:
    """Return x linear in S, and y not."""
    given = rng.standard_normal((n, 3))
    a, b, c = given.T
    errors = 0.1 * rng.standard_normal((2, n))
    return Data(given, a + b + errors[0], np.sin(2 * a) + b * c + errors[1])


def uneven_noise(rng: Generator, n: int) -> Data:
    """Return totals of three whose noise grows with the first."""
    given = rng.standard_normal((n, 3))
    errors = 0.3 * np.abs(given[:, 0]) * rng.standard_normal((2, n))
    return Data(given, total(given) + errors[0], total(given) + errors[1])


def of_classes(n_classes: int, rng: Generator, n: int) -> Data:
    """Return a total of three as x, and another with noise, in classes, as y."""
    given, x, y = same_function(normal(3), total, 0.1, rng, n)
    cuts = np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1])
    return Data(given, x, np.array(list("abcd"))[np.digitize(y, cuts)])


def labels_of_total(rng: Generator, n: int) -> Data:
    """Return a total of three in four classes as x, and another with noise as y."""
    given, x, y = same_function(normal(3), total, 0.1, rng, n)
    return Data(given, np.array(list("abcd"))[np.digitize(x, [-1.2, 0.0, 1.2])], y)


def slope_by_label(rng: Generator, n: int) -> Data:
    """Return x and y that depend on a number by slopes that depend on a label."""
    label, s = rng.integers(3, size=n), rng.standard_normal(n)
    function = s * np.array([-1.0, 0.5, 2.0])[label]
    given = np.empty((n, 2), dtype=object)
    given[:, 0], given[:, 1] = np.array(list("abc"))[label], s
    errors = 0.1 * rng.standard_normal((2, n))
    return Data(given, function + errors[0], function + errors[1])


def levels(rng: Generator, n: int) -> Data:
    """Return discrete x and y, sums of two discrete columns and noise."""
    given = rng.integers(3, size=(n, 2)).astype(float)
    errors = rng.integers(-1, 2, size=(2, n))
    return Data(given, total(given) + errors[0], total(given) + errors[1])


# --- alternatives ---------------------------------------------------------------------------------


def added(
    n_given: int,
    weight: float,
    noise: float,
    of_x: Callable[[Array], Array],
    rng: Generator,
    n: int,
) -> Data:
    """Return y, a total of S to which a function of an independent x is added."""
    given, x = rng.standard_normal((n, n_given)), rng.standard_normal(n)
    return Data(given, x, total(given) + weight * of_x(x) + noise * rng.standard_normal(n))


def near_copy(n_given: int, correlation: float, noise: float, rng: Generator, n: int) -> Data:
    """Return x that is correlated with the mean m of S, and y = m + x."""
    given = rng.standard_normal((n, n_given))
    m = total(given) / np.sqrt(n_given)
    x = correlation * m + np.sqrt(1 - correlation**2) * rng.standard_normal(n)
    return Data(given, x, m + x + noise * rng.standard_normal(n))


def own_part(function: Callable[[Array], Array], rng: Generator, n: int) -> Data:
    """Return x = f(S) + 0.3 e and y = f(S) + 0.3 e + noise: e is in both."""
    given, own = rng.standard_normal((n, 2)), 0.3 * rng.standard_normal(n)
    x = function(given) + own
    return Data(given, x, x + 0.3 * rng.standard_normal(n))


def scale(rng: Generator, n: int) -> Data:
    """Return x that changes the noise of y, not its mean."""
    given, x = rng.standard_normal((n, 1)), rng.standard_normal(n)
    return Data(given, x, given[:, 0] + np.exp(x / 2) * rng.standard_normal(n))


def product(rng: Generator, n: int) -> Data:
    """Return y, the product of S and x, with noise."""
    given, x = rng.standard_normal((n, 1)), rng.standard_normal(n)
    return Data(given, x, given[:, 0] * x + 0.5 * rng.standard_normal(n))


def cases() -> Iterator[tuple[str, Case]]:
    """Yield all cases by name."""
    for name, (make_given, function, noises, shape) in FUNCTIONS.items():
        for noise in noises:
            make = partial(same_function, make_given, function, noise)
            yield f"{name}, noise {noise:g}", Case(make, shape)
    yield "independent", Case(independent)
    yield "exact total of 3", Case(exact_total)
    yield "s1 + s2; sin 2s1 + s2 s3", Case(different_functions)
    yield "total of 3, uneven noise", Case(uneven_noise)
    yield "total of 3, 2 classes", Case(partial(of_classes, 2))
    yield "total of 3, 4 classes", Case(partial(of_classes, 4))
    yield "labels of a total of 3", Case(labels_of_total)
    yield "slope by label", Case(slope_by_label)
    yield "levels", Case(levels)
    for n_given, weight, noise in ((1, 0.2, 1.0), (3, 0.2, 1.0), (3, 0.2, 0.1), (6, 0.2, 1.0)):
        make = partial(added, n_given, weight, noise, np.array)
        yield f"total of {n_given} + {weight:g} x, noise {noise:g}", Case(make, "alternative")
    yield "total of 3 + x^2", Case(partial(added, 3, 1.0, 1.0, np.square), "alternative")
    for n_given, correlation, noise in ((1, 0.95, 1.0), (1, 0.99, 1.0), (3, 0.99, 0.3)):
        make = partial(near_copy, n_given, correlation, noise)
        yield f"{n_given} given, correlation {correlation:g}", Case(make, "alternative")
    yield "own part of s1 s2", Case(partial(own_part, lambda s: s.prod(axis=1)), "alternative")
    yield (
        "own part of sin 3s",
        Case(partial(own_part, lambda s: np.sin(3 * s[:, 0])), "alternative"),
    )
    yield "scale", Case(scale, "alternative")
    yield "s x", Case(product, "alternative")


CASES = dict(cases())


def included(name: str, n_samples: int, seed: int) -> list[bool]:
    """Return for each choice of schemes whether x is included beside S, in one data set."""
    given, x, y = CASES[name].make(np.random.default_rng([seed, n_samples]), n_samples)
    X = np.column_stack([given.astype(object), x.astype(object)])
    fixed = list(range(given.shape[1]))
    found = []
    for surrogates in SCHEMES.values():
        selector = PIDSelector(
            surrogates=surrogates,
            n_permutations=N_PERMUTATIONS,
            fixed_features=fixed,
            backward=None,
            n_jobs=1,
            random_state=seed,
        )
        fit(selector, X, y)
        found.append(X.shape[1] - 1 in selector.selected_)
    return found


# --- whole selections -----------------------------------------------------------------------------

N_NOISE = 4


def beside_total(target: Callable[[Array], Array], rng: Generator, n: int) -> Data:
    """Return three parts, their total with little noise, and a target of the parts."""
    parts = rng.standard_normal((n, 3))
    errors = rng.standard_normal((2, n))
    return Data(parts, total(parts) + 0.1 * errors[0], target(parts) + 0.3 * errors[1])


def beside_body_mass(rng: Generator, n: int) -> Data:
    """Return height and weight, the body mass index, and a target of height and weight."""
    given = height_and_weight(rng, n)
    errors = rng.standard_normal((2, n))
    index = given[:, 1] / given[:, 0] ** 2 + 0.05 * errors[0]
    return Data(given, index, 0.05 * given[:, 1] + 2 * given[:, 0] + 0.3 * errors[1])


WHOLE: dict[str, Callable[[Generator, int], Data]] = {
    "three parts with weights": partial(beside_total, lambda s: s @ [1.0, 0.8, 0.6]),
    "three parts, not linear": partial(
        beside_total, lambda s: s[:, 0] ** 2 + s[:, 1] * s[:, 2] + s[:, 1]
    ),
    "three parts, equal weights": partial(beside_total, total),
    "height and weight": beside_body_mass,
}


def is_exact(name: str, seed: int) -> tuple[bool, bool]:
    """Return whether exactly the parts are selected, and whether their function is, too."""
    rng = np.random.default_rng(seed)
    given, x, y = WHOLE[name](rng, TABLE_SIZE)
    X = np.column_stack([given, x, rng.standard_normal((TABLE_SIZE, N_NOISE))])
    selector = PIDSelector(n_jobs=1, random_state=seed)
    fit(selector, X, y)
    n_given, selected = given.shape[1], set(selector.selected_.tolist())
    return selected == set(range(n_given)), n_given in selected


def count_exact(name: str, options: Namespace) -> dict[str, Any]:
    """Return the share of data sets in which exactly the parts are selected."""
    exact, function = np.mean(repeat(is_exact, name, options=options), axis=0) * 100.0
    return {"parts": name, "data sets": options.runs, "exact": exact, "with function": function}


def count(name: str, n_samples: int, options: Namespace) -> dict[str, Any]:
    """Return the share of data sets in which x is included, by each choice of schemes."""
    times = np.sum(repeat(included, name, n_samples, options=options), axis=0)
    percent = dict(zip(SCHEMES, (100.0 * times / options.runs).tolist(), strict=True))
    limit, now = LIMITS[CASES[name].shape], percent["global and residual"]
    low, high = interval(int(times[-1]), options.runs)
    return {
        "case": name,
        "shape": CASES[name].shape,
        "n_samples": n_samples,
        "data sets": options.runs,
        **percent,
        "low": low,
        "high": high,
        "met": None if limit is None else bool(now <= limit),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Test, count, print and write."""
    command = parser(__doc__ or "", runs=500, help_runs="data sets of each row")
    command.add_argument("--jobs", type=int, default=1, help="processes (1)")
    command.add_argument("--only", help="cases whose name contains this")
    command.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="samples of nulls")
    options = command.parse_args(arguments)
    chosen = [name for name in CASES if options.only is None or options.only in name]
    nulls = [name for name in chosen if CASES[name].shape != "alternative"]
    rows: list[dict[str, Any]] = []
    for n_samples in (*options.sizes, POWER_SIZE):
        names = nulls if n_samples != POWER_SIZE else [n for n in chosen if n not in nulls]
        part = [count(name, n_samples, options) for name in names]
        if not part:
            continue
        show(
            f"Percent of data sets in which x is included, N={n_samples}",
            ("x and y of S", "data sets", *SCHEMES, "low", "high", "met"),
            [(row["case"], *list(row.values())[3:]) for row in part],
        )
        for scheme in SCHEMES:
            print(f"mean by {scheme}: {np.mean([row[scheme] for row in part]):.1f} %")
        rows += part
    whole = [count_exact(name, options) for name in WHOLE if options.only is None]
    if whole:
        show(
            f"Percent of data sets in which exactly the parts are selected, N={TABLE_SIZE}",
            tuple(whole[0]),
            [tuple(row.values()) for row in whole],
        )
    write("conditional_nulls", options, {"rows": rows, "whole": whole})


if __name__ == "__main__":
    main()
