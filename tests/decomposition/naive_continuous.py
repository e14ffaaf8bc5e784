"""Slow and obvious: shared exclusions from samples, and from densities that are known.

An antichain is a tuple of tuples of sources, counted from 0: ((0,), (1, 2)).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, logsumexp, ndtri
from scipy.stats import norm, rankdata

# ------------------------------------------------------------------ from samples


def normal_scores(column):
    """Return the n / (N + 1) quantile of the n-th of N different values."""
    ranks, n = rankdata(column), len(column)
    assert len(np.unique(column)) == n
    scores = ndtri(np.minimum(ranks, n + 1 - ranks) / (n + 1))
    return np.where(ranks > n / 2, -scores, scores)


def apart(columns):
    """Return the distances of all pairs of samples, columns being (n_samples, n_columns)."""
    scores = np.stack([normal_scores(column) for column in columns.T])
    return np.abs(scores[:, :, None] - scores[:, None, :]).max(axis=0)


def at_most_as_far(distances):
    """Return for each pair (i, j) how many samples but i are at most as far from i as j is."""
    return np.array([[np.sum(row <= distance) - 1 for distance in row] for row in distances])


def estimate(sources, target, antichain, k):
    """Return the redundancy of an antichain in nats; variables are (n_samples, n_columns)."""
    n = len(target)
    in_target = apart(target)
    in_members = [apart(np.hstack([sources[s] for s in member])) for member in antichain]
    if len(antichain) > 1:
        smallest = min(sum(sources[s].shape[1] for s in member) for member in antichain)
        exponent = smallest / target.shape[1]
        in_target = at_most_as_far(in_target) ** exponent * n ** (1 - exponent)
        in_members = [at_most_as_far(distances) for distances in in_members]
    in_any = np.min(in_members, axis=0)
    total = 0.0
    for i in range(n):
        others = np.delete(np.arange(n), i)
        limit = np.sort(np.maximum(in_any[i], in_target[i])[others])[k - 1]
        total += digamma(np.sum(in_any[i][others] < limit) + 1)
        total += digamma(np.sum(in_target[i][others] < limit) + 1)
    return digamma(k) + digamma(n) - total / n


# ------------------------------------------------------------------ from densities


@dataclass(frozen=True)
class System:
    """Sources and a target of which all densities are known.

    ``draw(n, rng)`` returns samples of the sources, (n, n_sources), and of the target, (n,);
    ``log_ratio(sources, target, member)`` is log f(t | member) / f(t) of samples.
    """

    draw: Callable
    log_ratio: Callable

    def redundancy(self, antichain, n=200_000):
        """Return I(antichain) in nats: the mean over draws of what defines it."""
        sources, target = self.draw(n, np.random.default_rng(0))
        ratios = [self.log_ratio(sources, target, member) for member in antichain]
        return np.mean(logsumexp(ratios, axis=0) - np.log(len(antichain)))


def linear(covariance) -> System:
    """Return a Gaussian system; the target is the last variable."""
    covariance = np.asarray(covariance, dtype=float)
    root = np.linalg.cholesky(covariance)

    def draw(n, rng):
        values = rng.normal(size=(n, len(covariance))) @ root.T
        return values[:, :-1], values[:, -1]

    def log_ratio(sources, target, member):
        member = list(member)
        slope = np.linalg.solve(covariance[np.ix_(member, member)], covariance[member, -1])
        left = covariance[-1, -1] - slope @ covariance[member, -1]
        conditional = norm.logpdf(target, sources[:, member] @ slope, np.sqrt(left))
        return conditional - norm.logpdf(target, 0, np.sqrt(covariance[-1, -1]))

    return System(draw, log_ratio)


def sum_of(weights, correlation, noise) -> System:
    """Return t = sum of weights * s + noise, the sources with this one correlation."""
    weights = np.asarray(weights, dtype=float)
    among = np.full((len(weights), len(weights)), correlation) + np.eye(len(weights)) * (
        1 - correlation
    )
    with_target = among @ weights
    variance = weights @ with_target + noise**2
    return linear(np.block([[among, with_target[:, None]], [with_target, variance]]))


def product(noise) -> System:
    """Return t = s1 * s2 + noise, the sources standard normal and independent."""
    factor = np.linspace(-8, 8, 1001)
    weight = norm.pdf(factor) * (factor[1] - factor[0])
    grid = np.linspace(-60, 60, 4001)
    density = norm.pdf(grid[:, None], 0, np.sqrt(factor**2 + noise**2)) @ weight

    def draw(n, rng):
        sources = rng.normal(size=(n, 2))
        return sources, sources.prod(axis=1) + noise * rng.normal(size=n)

    def log_ratio(sources, target, member):
        if len(member) == 2:
            conditional = norm.logpdf(target, sources.prod(axis=1), noise)
        else:
            spread = np.sqrt(sources[:, member[0]] ** 2 + noise**2)
            conditional = norm.logpdf(target, 0, spread)
        return conditional - np.log(np.interp(target, grid, density))

    return System(draw, log_ratio)


def binned(covariance, bins):
    """Return the joint distribution of a Gaussian system in equally probable bins, roughly.

    The copula's density in the middle of each cell stands for all of the cell.
    """
    covariance = np.asarray(covariance, dtype=float)
    middles = ndtri((np.arange(bins) + 0.5) / bins)
    scale = np.sqrt(np.diag(covariance))
    precision = np.linalg.inv(covariance / np.outer(scale, scale)) - np.eye(len(scale))
    axes = np.meshgrid(*[middles] * len(scale), indexing="ij")
    exponent = sum(
        precision[i, j] * axes[i] * axes[j] for i in range(len(scale)) for j in range(len(scale))
    )
    density = np.exp(-0.5 * exponent)
    return density / density.sum()
