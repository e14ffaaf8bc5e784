"""Features and targets whose information and atoms are known, for explanations.py.

The atoms of a feature f are those of BROJA with the rest R of the features as the other source, in
bits. `Normal` has them by formula, `Discrete` by the distribution itself, and `Channel` by
numerical integration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, ndtri, softmax
from scipy.stats import binom, qmc
from sklearn.cluster import KMeans

from pidselect import decompose_distribution

Array = NDArray[Any]
Rng = np.random.Generator

#: Points of R, of f given R, and bins of a numeric y, for numerical integration.
N_POINTS, N_NODES, N_BINS = 2048, 60, 160

#: Bins of f, states of R and bins of y for BROJA, to which I(f; y) is not sensitive.
BROJA_BINS, BROJA_STATES = 20, 40


@dataclass(frozen=True)
class Truth:
    """I(f; y), I(f; y | R), I(R; y) and the unique information of f, in bits."""

    information: float
    added: float
    rest: float
    unique: float

    @property
    def shared(self) -> float:
        """The information that f and R share."""
        return self.information - self.unique

    @property
    def synergy(self) -> float:
        """What only f and R jointly have."""
        return self.added - self.unique


class System(Protocol):
    """Samples, with columns of labels as text, and the truth of each feature."""

    labels: tuple[int, ...]  # columns
    has_classes: bool
    n_features: int

    def draw(self, n_samples: int, rng: Rng) -> tuple[Array, Array]:
        """Return features and target as numbers."""
        ...

    def truth(self, feature: int) -> Truth:
        """Return the information and the atoms of a feature."""
        ...


def read(system: System, n_samples: int, seed: int) -> tuple[Array, Array]:
    """Return samples as a user has them: labels and classes are texts."""
    X, y = system.draw(n_samples, np.random.default_rng(seed))
    if system.labels:
        X = X.astype(object)
        for column in system.labels:
            X[:, column] = [f"label {value:.0f}" for value in X[:, column]]
    return X, np.array([f"class {value:.0f}" for value in y]) if system.has_classes else y


# ---------------------------------------------------------------------------- normal variables


@dataclass(frozen=True, eq=False)
class Normal:
    """A number y = X w + noise of standard normal noise and normal X.

    For one normal target, BROJA's shared information is the smaller of I(f; y) and I(R; y)
    (A. B. Barrett, Physical Review E 91, 052802, 2015).
    """

    weights: Sequence[float]
    covariance: Array | None = None  # of X; the unit matrix if None
    labels: tuple[int, ...] = ()
    has_classes: bool = False

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.weights)

    @property
    def _covariance(self) -> Array:
        return np.eye(self.n_features) if self.covariance is None else self.covariance

    def draw(self, n_samples: int, rng: Rng) -> tuple[Array, Array]:
        """Return features and target."""
        X = rng.standard_normal((n_samples, self.n_features))
        X = X @ np.linalg.cholesky(self._covariance).T
        return X, X @ np.asarray(self.weights) + rng.standard_normal(n_samples)

    def truth(self, feature: int) -> Truth:
        """Return the information and the atoms of a feature."""
        rest = [place for place in range(self.n_features) if place != feature]
        own, of_rest = self._information([feature]), self._information(rest)
        added = self._information(range(self.n_features)) - of_rest
        return Truth(own, added, of_rest, own - min(own, of_rest))

    def _information(self, features: Sequence[int]) -> float:
        """Return the information of some features jointly, by the variance that they leave."""
        weights, covariance = np.asarray(self.weights), self._covariance
        with_y, some = covariance @ weights, list(features)
        variance = 1.0 + float(weights @ with_y)
        explained = with_y[some] @ np.linalg.solve(covariance[np.ix_(some, some)], with_y[some])
        return float(-np.log2(1.0 - explained / variance) / 2)


def equicorrelated(n_features: int, correlation: float) -> Array:
    """Return the correlations of features of which each pair has the same."""
    return np.full((n_features, n_features), correlation) + (1 - correlation) * np.eye(n_features)


def proxies(n_proxies: int, noise: float) -> Array:
    """Return the covariance of a standard normal variable and of noisy copies of it."""
    covariance = np.ones((1 + n_proxies, 1 + n_proxies))
    covariance[1:, 1:] += noise**2 * np.eye(n_proxies)
    return covariance


#: A signal with a disturbance, and the disturbance: together they have the signal.
DISTURBED = np.array([[2.0, 1.0], [1.0, 1.0]])


# ---------------------------------------------------------------------------- labels and counts


@dataclass(frozen=True, eq=False)
class Discrete:
    """A joint distribution, one axis for each feature and the target last."""

    pmf: Array
    labels: tuple[int, ...] = ()
    has_classes: bool = True

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self.pmf.ndim - 1

    def draw(self, n_samples: int, rng: Rng) -> tuple[Array, Array]:
        """Return features and target."""
        cells = rng.choice(self.pmf.size, n_samples, p=self.pmf.ravel())
        *X, y = np.unravel_index(cells, self.pmf.shape)
        return np.column_stack(X).astype(float), y.astype(float)

    def truth(self, feature: int) -> Truth:
        """Return the information and the atoms of a feature."""
        axes = np.moveaxis(self.pmf, feature, 0)
        pmf = axes.reshape(axes.shape[0], -1, axes.shape[-1])
        atoms = decompose_distribution(pmf)
        own, of_rest = (sum((unique, atoms.shared)) for unique in atoms.unique)
        return Truth(own, atoms.unique[0] + atoms.synergy, of_rest, atoms.unique[0])


def label_sum() -> Array:
    """Labels a, b, a copy of a that is another label in 10 % of the samples, and a useless one.

    The class is a + 1 if b = 2, else a, one more (modulo 4) in 20 % of the samples.
    """
    pmf = np.zeros((3, 3, 3, 4, 4))
    copy = 0.05 + 0.85 * np.eye(3)
    for a, b in np.ndindex(3, 3):
        state = a + (b == 2)
        for step, share in ((0, 0.8), (1, 0.2)):
            pmf[a, b, :, :, (state + step) % 4] += share * copy[a][:, None] / (3 * 3 * 4)
    return pmf


def noisy_copies(noise: Sequence[float], levels: int = 4) -> Array:
    """Return copies of a class, each drawn at random in a share of the samples."""
    pmf = np.full(levels, 1 / levels)
    for share in reversed(noise):
        copy = (1 - share) * np.eye(levels) + share / levels
        pmf = pmf[None] * copy.reshape(levels, *(1,) * (pmf.ndim - 1), levels)
    return pmf


def count_sum(weights: Sequence[int] = (3, 2, 1), n: int = 4) -> Array:
    """Return counts of n coins each, and their weighted sum with the count of 4 n more as noise."""
    count, noise = binom.pmf(np.arange(n + 1), n, 0.5), binom.pmf(np.arange(4 * n + 1), 4 * n, 0.5)
    pmf = np.zeros((*(n + 1 for _ in weights), n * sum(weights) + 4 * n + 1))
    for counts in np.ndindex(pmf.shape[:-1]):
        total = int(np.dot(counts, weights))
        pmf[counts][total : total + len(noise)] = noise * np.prod(count[list(counts)])
    return pmf


# ---------------------------------------------------------------------------- numerical truth


Quantile = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class Channel:
    """Features by their quantile functions, and a target given them.

    `given` are class probabilities, shape (n_samples, n_classes), or with `noise` the mean of a
    number that is normal around it. Features are independent, or normal with one correlation.
    """

    given: Callable[[Array], Array]
    quantiles: Sequence[Quantile]
    noise: float = 0.0
    correlation: float = 0.0
    labels: tuple[int, ...] = ()

    @property
    def n_features(self) -> int:
        """The number of features."""
        return len(self.quantiles)

    @property
    def has_classes(self) -> bool:
        """Whether the target is of classes."""
        return not self.noise

    def draw(self, n_samples: int, rng: Rng) -> tuple[Array, Array]:
        """Return features and target."""
        X = self._features(rng.random((n_samples, self.n_features)))
        return X, self._target(X, rng.random(n_samples))

    def _features(self, uniform: Array) -> Array:
        if self.correlation:
            root = np.linalg.cholesky(equicorrelated(self.n_features, self.correlation))
            return ndtri(uniform) @ root.T
        columns = zip(self.quantiles, uniform.T, strict=True)
        return np.column_stack([quantile(column) for quantile, column in columns])

    def _target(self, X: Array, uniform: Array) -> Array:
        if self.noise:
            return self.given(X) + self.noise * ndtri(uniform)
        below = self.given(X).cumsum(axis=1)[:, :-1] < uniform[:, None]
        return below.sum(axis=1).astype(float)

    def _nodes(self, X: Array, feature: int) -> Array:
        """Return values of equal weight of a feature given the others, (n_samples, n_nodes)."""
        levels = (np.arange(N_NODES) + 0.5) / N_NODES
        if not self.correlation:
            return np.broadcast_to(self.quantiles[feature](levels), (len(X), N_NODES))
        correlations = equicorrelated(self.n_features, self.correlation)
        rest = [place for place in range(self.n_features) if place != feature]
        slopes = np.linalg.solve(correlations[np.ix_(rest, rest)], correlations[rest, feature])
        deviation = np.sqrt(1.0 - correlations[feature, rest] @ slopes)
        return (X[:, rest] @ slopes)[:, None] + deviation * normal(levels)

    def _states(self, X: Array, edges: Array) -> Array:
        """Return the probabilities of the classes, or of the bins of a numeric target."""
        if not self.noise:
            return self.given(X)
        below = ndtr((edges - self.given(X)[:, None]) / self.noise)
        return np.diff(below, axis=1, prepend=0.0, append=1.0)

    def truth(self, feature: int) -> Truth:
        """Return the information and the atoms of a feature."""
        points = qmc.Sobol(self.n_features + 1, seed=0).random(N_POINTS)
        points = np.clip(points, 1e-9, 1 - 1e-9)
        X = self._features(points[:, :-1])
        edges = np.quantile(self._target(X, points[:, -1]), np.arange(1, N_BINS) / N_BINS)
        nodes = self._nodes(X, feature)
        bins = np.searchsorted(np.quantile(X[:, feature], np.arange(1, N_NODES) / N_NODES), nodes)
        if feature in self.labels:
            bins = nodes.astype(int)
        posterior, joint, left = 0.0, 0.0, 0.0
        for node in range(N_NODES):
            replaced = X.copy()
            replaced[:, feature] = nodes[:, node]
            given_all = self._states(replaced, edges)
            posterior = posterior + given_all / N_NODES
            left += entropy(given_all).mean() / N_NODES
            indicator = bins[:, node] == np.arange(bins.max() + 1)[:, None]
            joint = joint + indicator @ given_all / given_all.shape[0] / N_NODES
        h_y, h_given_rest = entropy(posterior.mean(axis=0)), entropy(posterior).mean()
        own = h_y + entropy(joint.sum(axis=1)) - entropy(joint.ravel())
        added, of_rest = h_given_rest - left, h_y - h_given_rest
        shared = own * shared_fraction(joint, posterior)
        return Truth(float(own), float(added), float(of_rest), float(min(own - shared, added)))


def shared_fraction(joint: Array, posterior: Array) -> float:
    """Return the fraction of I(f; y) that is shared, for p(f, y) and samples of p(y | R)."""
    if joint.shape[1] == N_BINS:
        joint, posterior = merged(joint, BROJA_BINS, 1), merged(posterior, BROJA_BINS, 1)
    if joint.shape[0] == N_NODES:
        joint = merged(joint, BROJA_BINS, 0)
    n_states = min(BROJA_STATES, len(np.unique(posterior.round(9), axis=0)))
    states = KMeans(n_states, n_init=1, random_state=0).fit_predict(np.log(posterior + 0.01))
    of_rest = (states == np.arange(n_states)[:, None]) @ posterior / len(posterior)
    target = of_rest.sum(axis=0)
    joint = joint * target / joint.sum(axis=0)
    atoms = decompose_distribution(joint[:, None] * of_rest[None] / target)
    return atoms.shared / (atoms.shared + atoms.unique[0])


def merged(values: Array, n_bins: int, axis: int) -> Array:
    """Return sums of neighbouring bins."""
    starts = np.arange(0, values.shape[axis], values.shape[axis] // n_bins)
    return np.add.reduceat(values, starts, axis)


def entropy(p: Array) -> Array:
    """Return entropies along the last axis, in bits."""
    return -(p * np.log2(np.where(p > 0, p, 1.0))).sum(axis=-1)


def normal(u: Array) -> Array:
    """Return standard normal quantiles; nodes have variance 1, as the distribution does."""
    values = ndtri(u)
    return values / values.std() if len(u) == N_NODES else values


def uniform(u: Array) -> Array:
    """Return quantiles of the uniform distribution from 0 to 1."""
    return u


def symmetric(u: Array) -> Array:
    """Return quantiles of the uniform distribution from -1 to 1."""
    return 2 * u - 1


def four_labels(u: Array) -> Array:
    """Return four labels of equal probability."""
    return np.floor(4 * u)


def friedman(X: Array) -> Array:
    """Friedman's first function."""
    wave = 10 * np.sin(np.pi * X[:, 0] * X[:, 1])
    return wave + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]


def product(X: Array) -> Array:
    """A product of two features, and a third."""
    return X[:, 0] * X[:, 1] + X[:, 2]


def slopes(X: Array) -> Array:
    """A slope for each label, and another feature."""
    return (X[:, 0] - 1) * X[:, 1] + X[:, 2]


def ordered(X: Array, n_classes: int) -> Array:
    """Probabilities of ordered classes by the sum of all features."""
    score = 3.0 * X.sum(axis=1) / np.sqrt(X.shape[1])
    steps = np.arange(n_classes) - (n_classes - 1) / 2
    return softmax(score[:, None] * steps - steps**2, axis=1)


def two_classes(X: Array) -> Array:
    """Probabilities of two classes by the sum of all features."""
    return ordered(X, 2)


def three_classes(X: Array) -> Array:
    """Probabilities of three classes by the sum of all features."""
    return ordered(X, 3)


def noisy_xor(X: Array) -> Array:
    """Two classes by the sign of x0 x1, x2 and x3."""
    p = expit(3 * np.sign(X[:, 0] * X[:, 1]) + 2 * X[:, 2] + 2 * X[:, 3])
    return np.column_stack([1 - p, p])


def two_bits(X: Array) -> Array:
    """Four classes, two bits: one by x0, the other by x1, x2 and x3."""
    first, second = expit(4 * X[:, 0]), expit(3 * (X[:, 1] + X[:, 2]) + X[:, 3])
    no = (1 - first) * (1 - second), first * (1 - second)
    return np.column_stack([*no, (1 - first) * second, first * second])


LABEL_AND_NUMBERS = [four_labels, normal, normal]

#: Systems by their names, with the features that are measured.
SYSTEMS: dict[str, tuple[System, tuple[int, ...]]] = {
    "sum of 2": (Normal([1] * 2), (0,)),
    "sum of 4": (Normal([1] * 4), (0,)),
    "sum of 10": (Normal([1] * 10), (0,)),
    "sum of 4, correlated 0.5": (Normal([1] * 4, equicorrelated(4, 0.5)), (0,)),
    "2 x0 + x1 + x2": (Normal([2, 1, 1]), (0, 1)),
    "sum of 3, x3 irrelevant": (Normal([1, 1, 1, 0]), (3,)),
    "cause and two proxies": (Normal([1, 0, 0], proxies(2, 0.5)), (0, 1)),
    "signal with disturbance": (Normal([2, -2], DISTURBED), (0, 1)),
    "Friedman I": (Channel(friedman, [uniform] * 5, noise=1.0), (0, 2, 3)),
    "x0 x1 + x2": (Channel(product, [normal] * 3, noise=0.5), (0, 2)),
    "slopes by label x0": (Channel(slopes, LABEL_AND_NUMBERS, 0.5, labels=(0,)), (0, 1)),
    "two classes, 3 features": (Channel(two_classes, [normal] * 3), (0,)),
    "two classes, 10 features": (Channel(two_classes, [normal] * 10), (0,)),
    "three classes, correlated 0.4": (Channel(three_classes, [normal] * 5, correlation=0.4), (0,)),
    "XOR of signs": (Channel(noisy_xor, [symmetric] * 4), (0, 2)),
    "two bits": (Channel(two_bits, [normal] * 4), (0, 1)),
    "labels": (Discrete(label_sum(), labels=(0, 1, 2, 3)), (0, 1, 2, 3)),
    "copies of a class": (Discrete(noisy_copies([0.3, 0.3, 0.6]), labels=(0, 1, 2)), (0, 2)),
    "counts": (Discrete(count_sum(), has_classes=False), (0, 2)),
}
