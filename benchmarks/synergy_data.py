"""Tables whose relevant columns act jointly, for synergy.py; every rule is in its docstring."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pidselect import datasets

Array = NDArray[Any]
Rng = np.random.Generator

N_COLUMNS, N_SAMPLES = 20, 1000


class Problem(NamedTuple):
    """A table of numbers, its target (classes if of integers) and the columns to be found."""

    X: Array
    y: Array
    relevant: frozenset[int]
    types: dict[str, str]  # of columns whose codes are labels, for `feature_types`


def hide(rng: Rng, planted: ArrayLike, others: ArrayLike, y: Array, labels: Any = ()) -> Problem:
    """Put the planted columns at random places among the others.

    Ties would otherwise be decided for the first columns. `labels` are the columns of labels, by
    their places before; True for all.
    """
    first = np.asarray(planted)
    X = np.column_stack([first, others])
    order = rng.permutation(X.shape[1])
    relevant = frozenset(np.flatnonzero(order < first.shape[1]).tolist())
    chosen = np.flatnonzero(np.isin(order, labels) | (labels is True))
    return Problem(X[:, order], y, relevant, {f"x{place}": "nominal" for place in chosen})


def uniform(rng: Rng, n_columns: int = N_COLUMNS) -> tuple[Array, Array]:
    """Return two columns and the others, uniform on [-1, 1]."""
    X = rng.uniform(-1.0, 1.0, size=(N_SAMPLES, n_columns))
    return X[:, :2], X[:, 2:]


def flip(rng: Rng, y: Array, share: float, n_classes: int = 2) -> Array:
    """Replace a share of the classes by random ones."""
    return np.where(rng.random(len(y)) < share, rng.integers(n_classes, size=len(y)), y)


# ---------------------------------------------------------------------------- genotypes


def contrasts(minor_allele: float) -> tuple[Array, Array]:
    """Return the Hardy-Weinberg proportions of 0, 1 and 2 alleles, and two functions of them.

    The functions, shape (3, 2), have mean 0 and variance 1 and are uncorrelated.
    """
    q = minor_allele
    proportions = np.array([(1 - q) ** 2, 2 * q * (1 - q), q**2])
    root = np.sqrt(proportions)
    complete, _ = np.linalg.qr(root[:, None], mode="complete")
    return proportions, complete[:, 1:] / root[:, None]


def penetrance(rng: Rng, heritability: float, minor_allele: float) -> Array:
    """Return disease risks by two genotypes, shape (3, 3), without marginal effects.

    Their deviations from the prevalence are a random direction in the tables all of whose marginals
    are 0 (Culverhouse et al. 2002, Urbanowicz et al. 2012); of 10,000 the first is used that
    reaches the heritability, the share of the disease's variance that the loci explain.
    """
    _, functions = contrasts(minor_allele)
    weights = rng.standard_normal((10_000, 2, 2))
    weights /= np.linalg.norm(weights, axis=(1, 2), keepdims=True)
    directions = functions @ weights @ functions.T
    up, down = directions.max(axis=(1, 2)), -directions.min(axis=(1, 2))
    first = np.flatnonzero(1 / (up * down) >= heritability)[0]
    prevalence = down[first] / (up[first] + down[first])
    size = np.sqrt(heritability * prevalence * (1 - prevalence))
    risks: Array = np.clip(prevalence + size * directions[first], 0.0, 1.0)  # rounding errors
    return risks


def epistasis(
    rng: Rng, n_samples: int, n_loci: int, minor_allele: float, heritability: float
) -> tuple[Array, Array]:
    """Return genotypes and the class: cases and controls, balanced.

    The first two loci have the minor allele given; the others from 0.05 to 0.5.
    """
    risks = penetrance(rng, heritability, minor_allele)
    y = rng.permutation(np.arange(n_samples) % 2)
    proportions, _ = contrasts(minor_allele)
    population = np.outer(proportions, proportions)
    others = rng.uniform(0.05, 0.5, size=n_loci - 2)
    X = np.empty((n_samples, n_loci))
    for label, share in enumerate((population * (1 - risks), population * risks)):
        rows = np.flatnonzero(y == label)
        cells = rng.choice(risks.size, size=len(rows), p=(share / share.sum()).ravel())
        X[rows, :2] = np.column_stack(np.unravel_index(cells, risks.shape))
    X[:, 2:] = rng.binomial(2, others, size=(n_samples, n_loci - 2))
    return X, y


def loci(
    rng: Rng,
    n_samples: int = 1600,
    n_loci: int = N_COLUMNS,
    minor_allele: float = 0.2,
    heritability: float = 0.4,
) -> Problem:
    """Two loci without marginal effects, as GAMETES makes them, among others."""
    X, y = epistasis(rng, n_samples, n_loci, minor_allele, heritability)
    return hide(rng, X[:, :2], X[:, 2:], y)


def mixed_loci(rng: Rng, minor_allele: float = 0.2) -> Problem:
    """The same two loci among nine loci, five normal columns and four of 2 to 5 labels."""
    X, y = epistasis(rng, 1600, 11, minor_allele, 0.4)
    normal = rng.standard_normal((len(y), 5))
    labels = rng.integers([2, 3, 4, 5], size=(len(y), 4))
    return hide(rng, X[:, :2], np.column_stack([X[:, 2:], normal, labels]), y, range(16, 20))


# ---------------------------------------------------------------------------- pairs of numbers


def xor(rng: Rng, n_columns: int = N_COLUMNS) -> Problem:
    """The sign of x1 x2."""
    pair, others = uniform(rng, n_columns)
    return hide(rng, pair, others, (pair.prod(axis=1) > 0).astype(int))


def xor_cuts(rng: Rng) -> Problem:
    """Whether one of two columns, not both, is above its cut: at the quantiles 0.3 and 0.7.

    Each of them has a marginal effect: the class is 1 with probability 0.3 on one side of its cut
    and with 0.7 on the other.
    """
    pair, others = uniform(rng)
    above = (pair + 1) / 2 > (0.3, 0.7)
    return hide(rng, pair, others, (above[:, 0] ^ above[:, 1]).astype(int))


def xor_cuts_pure(rng: Rng) -> Problem:
    """The same cuts with risks 1/2 + (b1 - 0.7) (b2 - 0.3) / 0.98, b = x above its cut.

    No marginal effects, and the risk is 0 in one of the four cells.
    """
    pair, others = uniform(rng)
    centred = ((pair + 1) / 2 > (0.3, 0.7)) - np.array([0.7, 0.3])
    risk = 0.5 + centred.prod(axis=1) / 0.98
    return hide(rng, pair, others, (rng.random(N_SAMPLES) < risk).astype(int))


def checkerboard(rng: Rng) -> Problem:
    """The colour of a board of 4 x 4 fields."""
    pair, others = uniform(rng)
    fields = np.floor(2 * (pair + 1)).astype(int)
    return hide(rng, pair, others, fields.sum(axis=1) % 2)


def product_uniform(rng: Rng) -> Problem:
    """The number x1 x2 + noise of half its standard deviation, x uniform on [-1, 1]."""
    pair, others = uniform(rng)
    return hide(rng, pair, others, pair.prod(axis=1) + rng.normal(0, 1 / 6, N_SAMPLES))


def product_normal(rng: Rng) -> Problem:
    """The number x1 x2 + noise of half its standard deviation, x standard normal."""
    X = rng.standard_normal((N_SAMPLES, N_COLUMNS))
    y = X[:, 0] * X[:, 1] + rng.normal(0, 0.5, N_SAMPLES)
    return hide(rng, X[:, :2], X[:, 2:], y)


def given_number(rng: Rng) -> Problem:
    """The number 2 s + x1 x2 + noise / 2, all of them standard normal."""
    X = rng.standard_normal((N_SAMPLES, N_COLUMNS))
    y = 2 * X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(0, 0.5, N_SAMPLES)
    return hide(rng, X[:, :3], X[:, 3:], y)


def given_class(rng: Rng) -> Problem:
    """Two classes of logit 2 s + 2 sign(x1 x2), all of them standard normal."""
    X = rng.standard_normal((N_SAMPLES, N_COLUMNS))
    logit = 2 * X[:, 0] + 2 * np.sign(X[:, 1] * X[:, 2])
    y = rng.random(N_SAMPLES) < 1 / (1 + np.exp(-logit))
    return hide(rng, X[:, :3], X[:, 3:], y.astype(int))


# ---------------------------------------------------------------------------- labels and bits


def three_labels(rng: Rng) -> Problem:
    """(a + b) mod 3 of two columns of three labels, a random class in half of the rows."""
    X = rng.integers(3, size=(N_SAMPLES, N_COLUMNS))
    y = flip(rng, X[:, :2].sum(axis=1) % 3, 0.5, n_classes=3)
    return hide(rng, X[:, :2], X[:, 2:], y, labels=True)


def monk(rng: Rng) -> Problem:
    """The first of the MONK's problems: a1 = a2 or a5 = 1, of 3, 3, 2, 3, 4 and 2 labels."""
    a = rng.integers(1, [4, 4, 3, 4, 5, 3], size=(N_SAMPLES, 6))
    y = (a[:, 0] == a[:, 1]) | (a[:, 4] == 1)
    return hide(rng, a[:, [0, 1, 4]], a[:, [2, 3, 5]], y.astype(int), labels=True)


def multiplexer(rng: Rng) -> Problem:
    """The one of four bits that two others address, beside four bits of no use."""
    bits = rng.integers(2, size=(N_SAMPLES, 10))
    address = 2 * bits[:, 0] + bits[:, 1]
    return hide(rng, bits[:, :6], bits[:, 6:], bits[np.arange(N_SAMPLES), 2 + address])


def parity(rng: Rng, n_bits: int, n_columns: int, n_samples: int = N_SAMPLES) -> Problem:
    """The parity of some bits, beside bits of no use."""
    bits = rng.integers(2, size=(n_samples, n_columns))
    return hide(rng, bits[:, :n_bits], bits[:, n_bits:], bits[:, :n_bits].sum(axis=1) % 2)


def parity_unseen(rng: Rng, n_bits: int, n_columns: int) -> Problem:
    """The parity of more bits than are searched for jointly: nothing is to be selected."""
    return parity(rng, n_bits, n_columns)._replace(relevant=frozenset())


def spheres(rng: Rng, label_noise: float = 0.0) -> Problem:
    """Points of two concentric spheres: three columns and no other."""
    made = datasets.nested_spheres(
        N_SAMPLES, radii=(1.0, 1.25), label_noise=label_noise, random_state=rng
    )
    return hide(rng, made.X, np.empty((N_SAMPLES, 0)), made.y)


# ---------------------------------------------------------------------------- published


class Rule(NamedTuple):
    """Thresholds of the three conditions, of which one must hold for class 1; None without it."""

    ring: float | None = None  # most distance of a point from the circle
    xor: float | None = None  # least of (0.5 - a) (b - 0.5)
    sum: float | None = None  # least of a + b + noise


#: A. Passemiers, P. Folco, D. Raimondi, G. Birolo, Y. Moreau, P. Fariselli (2024), "A quantitative
#: benchmark of neural network feature selection methods for detecting nonlinear signals",
#: Scientific Reports 14. The thresholds are those of its authors' program
#: (github.com/AntoinePassemiers/Feature-Selection-Benchmark); the classes are about balanced.
RULES = {
    "xor": Rule(xor=0.0),
    "ring": Rule(ring=0.1151),
    "ring+xor": Rule(ring=0.0704, xor=0.0337),
    "ring+xor+sum": Rule(ring=0.0479, xor=0.0598, sum=1.4074),
}
RADIUS, SUM_NOISE = 0.35, 0.2  # of the circle around (0.5, 0.5); standard deviation


def published(rng: Rng, rule: Rule, n_columns: int) -> Problem:
    """Two columns, uniform on [0, 1], for each condition of the rule, among others."""
    X = rng.uniform(size=(N_SAMPLES, n_columns))
    y, n_used = np.zeros(N_SAMPLES, dtype=bool), 0
    for condition, threshold in rule._asdict().items():
        if threshold is None:
            continue
        a, b = X[:, n_used : n_used + 2].T
        n_used += 2
        match condition:
            case "ring":
                y |= np.abs(np.hypot(a - 0.5, b - 0.5) - RADIUS) <= threshold
            case "xor":
                y |= (0.5 - a) * (b - 0.5) >= threshold
            case "sum":
                y |= a + b + rng.normal(0, SUM_NOISE, N_SAMPLES) >= threshold
    return hide(rng, X[:, :n_used], X[:, n_used:], y.astype(int))


# ---------------------------------------------------------------------------- null
