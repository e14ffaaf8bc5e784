"""Arrays made into blocks, and random samples of every sort of column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np

from pidselect.data.column import Block, Column

NOTHING = Block()


def list_bytes(n: int):
    """Return a context in which neighbour lists have so many bytes."""
    return patch("pidselect.estimators.knn.binding.LIST_BYTES", n)


def block(values: np.ndarray, nominal: Sequence[int] = (), name: str = "x") -> Block:
    """Return the columns of an (n, d) array as a block; integers are ordinal, others continuous."""
    return Block(
        tuple(
            Column(f"{name}{j}", _kind(column, j in nominal), np.array(column, dtype=np.float64))
            for j, column in enumerate(np.asarray(values, dtype=np.float64).T)
        )
    )


def _kind(column: np.ndarray, is_nominal: bool) -> str:
    if is_nominal:
        return "nominal"
    present = column[~np.isnan(column)]
    return "ordinal" if (present == np.round(present)).all() else "continuous"


def orders(rng: np.random.Generator, m: int, n: int) -> np.ndarray:
    """Return m permutations of n rows, the first of them the identity."""
    rows = np.stack([np.arange(n), *(rng.permutation(n) for _ in range(m - 1))])
    return rows.astype(np.int32)


@dataclass(frozen=True)
class Sample:
    """Three blocks of numbers with the places of their labels."""

    x: np.ndarray
    y: np.ndarray
    s: np.ndarray
    nominal_x: tuple[int, ...] = ()
    nominal_y: tuple[int, ...] = ()
    nominal_s: tuple[int, ...] = ()

    @property
    def n(self) -> int:
        return len(self.x)

    @property
    def blocks(self) -> tuple[Block, Block, Block]:
        """The same as blocks x, y, S."""
        return (
            block(self.x, self.nominal_x, "x"),
            block(self.y, self.nominal_y, "y"),
            block(self.s, self.nominal_s, "s"),
        )


def sample(
    seed: int,
    n: int,
    widths: tuple[int, int, int],
    sorts: Sequence[str],
    *,
    duplicates: bool = False,
) -> Sample:
    """Return n samples of dependent columns, `widths` of them in x, y and S.

    Each column is of a random sort out of `sorts` (see `_column`); `duplicates` draws the rows
    with replacement.
    """
    rng = np.random.default_rng(seed)
    cause = rng.normal(size=n)
    rows = rng.integers(0, n, n) if duplicates else np.arange(n)
    arrays, nominal = [], []
    for width in widths:
        chosen = rng.choice(list(sorts), size=width)
        columns = [_column(sort, cause + rng.normal(size=n), rng) for sort in chosen]
        arrays.append(np.stack(columns, axis=1)[rows] if width else np.empty((n, 0)))
        nominal.append(tuple(j for j, sort in enumerate(chosen) if sort.startswith("labels")))
    return Sample(*arrays, *nominal)


def _column(sort: str, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a column made of normal values: measured, rounded, graded, labelled or missing."""
    missing = rng.random(len(values)) < 0.2
    if sort == "normal":
        return values
    if sort == "tenths":
        return np.round(values, 1)
    if sort == "nearly tenths":
        return np.round(values, 1) + 1e-15 * values
    if sort == "integers":
        return np.round(2 * values)
    if sort == "grades":  # farther apart than two labels
        return 3 * np.clip(np.round(values), -1, 1)
    if sort == "constant":
        return np.full_like(values, 0.1)
    if sort == "missing":
        return np.where(missing, np.nan, values)
    levels = int(rng.integers(1, 5))
    codes = np.clip(np.floor(values + levels / 2), 0, levels - 1).astype(int)
    labels = rng.permutation(levels)[codes].astype(np.float64)
    return np.where(missing, np.nan, labels) if sort == "labels missing" else labels
