"""Distributions of two sources and a target whose atoms are known."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

from pidselect.datasets import gate

Array = NDArray[np.float64]


def noisy(name: str, noise: float) -> Array:
    """Return a gate whose target is drawn at random in a share of the samples."""
    pmf = gate(name)
    return (1 - noise) * pmf + noise * pmf.sum(axis=2, keepdims=True) / pmf.shape[2]


def dirichlet(levels: int, concentration: float, seed: int) -> Array:
    """Return a random distribution of two sources and a target."""
    flat = np.random.default_rng(seed).dirichlet(np.full(levels**3, concentration))
    return flat.reshape(levels, levels, levels)


def feature_against_set(n_others: int, noise: float = 1.0) -> Array:
    """Return one feature of five bins, a set of such features, and their noisy sum in five bins."""
    states = np.array(list(itertools.product(range(5), repeat=1 + n_others))) - 2.0
    total = states.sum(axis=1)

    def below(cut: float) -> Array:
        return ndtr((cut - total) / noise)

    def excess(cut: float, share: float) -> float:
        return float(below(cut).mean()) - share

    cuts = [brentq(excess, -50, 50, args=(share,)) for share in (0.2, 0.4, 0.6, 0.8)]
    shares = np.column_stack([np.zeros(len(total)), *map(below, cuts), np.ones(len(total))])
    return (np.diff(shares, axis=1) / len(total)).reshape(5, 5**n_others, 5)


def two_copies(levels: int, noise: float) -> Array:
    """Return two copies of a target, each drawn at random in a share of the samples.

    The two are equally good: neither has unique information.
    """
    copy = (1 - noise) * np.eye(levels) + noise / levels
    return np.einsum("ta,tb->abt", copy, copy) / levels


def independent(*levels: int) -> Array:
    """Return variables that have nothing to do with each other, of unequal probabilities."""
    first, second, target = (np.arange(1.0, n + 1) / (n * (n + 1) / 2) for n in levels)
    return first[:, None, None] * second[:, None] * target


def one_tells(noise: float = 0.3) -> Array:
    """Return a target that copies the first source of three levels; the second is independent."""
    copy = (1 - noise) * np.eye(3) + noise / 3
    return np.broadcast_to(copy[:, None, :] / 9, (3, 3, 3)).copy()


def chain(levels: int, noise: float) -> Array:
    """Return a first source, and a second one and a target that are noisy copies of it.

    Given the first source, the second is independent of the target.
    """
    copy = (1 - noise) * np.eye(levels) + noise / levels
    return np.einsum("ab,at->abt", copy, copy) / levels


def alike(noise: float = 0.3) -> Array:
    """Return two sources that resemble each other, and a target independent of both."""
    copy = (1 - noise) * np.eye(3) + noise / 3
    return np.broadcast_to(copy[:, :, None] / 9, (3, 3, 3)).copy()
