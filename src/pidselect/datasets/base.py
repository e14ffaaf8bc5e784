"""The types that generators return, and their shared checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
RandomState = int | np.random.Generator | None
Values = list[float] | list[int] | list[str] | list[bool]


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticDataset:
    """Features, target, and the indices of the relevant features.

    Parameters
    ----------
    X : array of float64, shape (n_samples, n_features)
    y : array, shape (n_samples,)
        Target: float64 if continuous, int64 for classes.
    names : tuple of str
        Feature names, one for each column of `X`.
    relevant : tuple of int
        Indices of a minimal sufficient set of features, ascending.
    description : str
        One line.

    Examples
    --------
    >>> from pidselect.datasets import toy
    >>> data = toy(500, random_state=0)
    >>> data
    SyntheticDataset(500 samples of X1, X2, eta; relevant: X1, eta)
    >>> data.relevant_names, data.relevant
    (('X1', 'eta'), (0, 2))
    >>> X, y = data.Xy
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
        """Features and target, as ``return_X_y=True`` gives them in scikit-learn."""
        return self.X, self.y

    @property
    def relevant_names(self) -> tuple[str, ...]:
        """Names of the relevant features."""
        return tuple(self.names[column] for column in self.relevant)

    def __repr__(self) -> str:
        names = self.names if len(self.names) <= 12 else (*self.names[:6], "...", *self.names[-6:])
        relevant = ", ".join(self.relevant_names) or "none"
        return (
            f"SyntheticDataset({len(self.X)} samples of {', '.join(names)}; relevant: {relevant})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticTable:
    """Columns of plain Python values, a target, and the names of the relevant columns.

    Parameters
    ----------
    columns : dict of str to list
        Values of each column: all floats, all ints, all strings or all booleans.
    y : array of float64, shape (n_samples,)
    target : str
        Name of the target.
    relevant : tuple of str
        A minimal sufficient set of columns.
    redundant : dict of str to str
        Exact or noisy duplicates, each with the column it duplicates.

    Examples
    --------
    >>> import pandas as pd
    >>> from pidselect import datasets
    >>> island = datasets.mixed_table(100, random_state=0)
    >>> pd.DataFrame(island.with_target()).shape, island.redundant["breakfasts_served"]
    ((100, 14), 'overnight_guests')
    """

    columns: dict[str, Values]
    y: FloatArray
    target: str
    relevant: tuple[str, ...]
    redundant: dict[str, str]

    def with_target(self) -> dict[str, Values]:
        """Return features and target as one dict of columns, for a data frame or a file."""
        return {**self.columns, self.target: self.y.tolist()}


def relevant_first(
    X: FloatArray, y: NDArray[Any], n_relevant: int, description: str
) -> SyntheticDataset:
    """Name the first `n_relevant` columns X1, X2, ... and the other ones Z1, Z2, ..."""
    names = numbered("X", n_relevant) + numbered("Z", X.shape[1] - n_relevant)
    return SyntheticDataset(X, y, names, tuple(range(n_relevant)), description)


def numbered(letter: str, count: int) -> tuple[str, ...]:
    """Return the names ``X1, X2, ...``."""
    return tuple(f"{letter}{i}" for i in range(1, count + 1))


def balanced_classes(n_samples: int, n_classes: int, rng: np.random.Generator) -> IntArray:
    """Return labels 0, 1, ... in random order; class sizes differ by at most one."""
    return rng.permutation(np.arange(n_samples, dtype=np.int64) % n_classes)


def check_at_least(name: str, value: float, least: float) -> None:
    """Raise a ValueError unless `value` is a number no smaller than `least`."""
    if not value >= least:
        raise ValueError(f"{name} must be at least {least}, got {value!r}.")
