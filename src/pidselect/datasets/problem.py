"""What a generator returns, and the few checks that all generators share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
RandomState = int | np.random.Generator | None


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """A table, its target, and the columns that matter.

    Parameters
    ----------
    X : array of float64, shape (n_samples, n_columns)
        The input variables.
    y : array, shape (n_samples,)
        The target: float64 where it is measured, int64 where it is a class.
    names : tuple of str
        One name for each column of `X`.
    relevant : tuple of int
        Indices of the columns that together carry all the information about
        the target, none of them spare, in ascending order.
    description : str
        What it is, in one line.

    Examples
    --------
    >>> from pidselect.datasets import toy
    >>> problem = toy(500, random_state=0)
    >>> problem
    Problem(500 samples of X1, X2, eta; relevant: X1, eta)
    >>> X, y = problem.Xy
    >>> X.shape, y.shape
    ((500, 3), (500,))
    """

    X: FloatArray
    y: NDArray[Any]
    names: tuple[str, ...]
    relevant: tuple[int, ...]
    description: str

    @property
    def Xy(self) -> tuple[FloatArray, NDArray[Any]]:  # noqa: N802
        """Table and target, as scikit-learn takes them."""
        return self.X, self.y

    @property
    def relevant_names(self) -> tuple[str, ...]:
        """Names of the relevant columns."""
        return tuple(self.names[column] for column in self.relevant)

    def __repr__(self) -> str:
        names = ", ".join(abridged(self.names))
        relevant = ", ".join(abridged(self.relevant_names)) or "none"
        return f"Problem({len(self.X)} samples of {names}; relevant: {relevant})"


def relevant_first(X: FloatArray, y: NDArray[Any], n_relevant: int, description: str) -> Problem:
    """Return a problem whose relevant columns X1, X2, ... stand before the others, Z1, Z2, ..."""
    names = numbered("X", n_relevant) + numbered("Z", X.shape[1] - n_relevant)
    return Problem(X, y, names, tuple(range(n_relevant)), description)


def abridged(names: tuple[str, ...], most: int = 12) -> tuple[str, ...]:
    """Return `names`, the middle left out where there are more than `most`."""
    if len(names) <= most:
        return names
    half = most // 2
    return (*names[:half], "...", *names[-half:])


def numbered(letter: str, count: int) -> tuple[str, ...]:
    """Return the names ``X1, X2, ...``."""
    return tuple(f"{letter}{i}" for i in range(1, count + 1))


def balanced_classes(n_samples: int, n_classes: int, rng: np.random.Generator) -> IntArray:
    """Return labels 0, 1, ... in random order, as equally frequent as they can be."""
    return rng.permutation(np.arange(n_samples, dtype=np.int64) % n_classes)


def seed(rng: np.random.Generator) -> int:
    """Draw a seed for scikit-learn, whose generators do not take a Generator."""
    return int(rng.integers(2**31 - 1))


def check_at_least(name: str, value: float, least: float) -> None:
    """Raise unless `value` is a number no smaller than `least`."""
    if not value >= least:
        raise ValueError(f"{name} must be at least {least}, got {value!r}.")
