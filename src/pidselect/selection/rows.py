"""The rows of a fit: all of them, a random subsample, or a random part for nearest neighbours."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import numpy as np

from pidselect.data import CLASS_LEVELS, Block, Dataset, IntArray, is_constant
from pidselect.estimators.base import partition
from pidselect.selection.context import NamedEstimator
from pidselect.significance.rng import SUBSAMPLE, permutations, row_keys
from pidselect.significance.staged import ScoreTest
from pidselect.significance.surrogates import WITHIN_PARTS

logger = logging.getLogger("pidselect")

#: Rows up to which max_samples="auto" uses all of them for neighbours, and for the score test.
MAX_ROWS, MAX_SCORED_ROWS = 20_000, 1_000_000

#: Rows that nearest neighbours use beyond that. Their time grows faster than the number of rows.
#: With 5,000 a step takes about as long as the other estimators need for 100,000.
NEIGHBOUR_ROWS = 5_000

#: Rows of a group that are taken before those of another group: few of many groups would leave
#: nothing to permute within them.
ROWS_PER_GROUP = 50


@dataclass(frozen=True, eq=False)
class UsedRows:
    """The rows that are used, in ascending order."""

    n_samples: int
    rows: IntArray | None = None  # None for all rows
    n_neighbour_samples: int | None = None  # that max_samples="auto" leaves to neighbours

    def announce(self) -> None:
        """Log that nearest neighbours use a part of the rows."""
        if self.n_neighbour_samples is not None:
            logger.info(
                f"{self.n_samples:,} rows: nearest neighbours use a random "
                f"{self.n_neighbour_samples:,} of them; max_samples=None uses all rows."
            )


def choose_rows(
    max_samples: int | Literal["auto"] | None,
    estimator: NamedEstimator,
    surrogates: Sequence[str],
    target: Block,
    groups: IntArray | None,
    seed: int,
) -> UsedRows:
    """Choose the rows that are used; `groups` are of the rows of the target.

    "auto" limits nearest neighbours, and the score test to a million rows, unless rows are not
    exchangeable.
    """
    n_samples = target.n_samples
    is_auto = max_samples == "auto"
    if is_auto and WITHIN_PARTS.issuperset(surrogates):
        if estimator.has("uses_neighbours") and n_samples > MAX_ROWS:
            rows = random_part(NEIGHBOUR_ROWS, target, groups, seed)
            return UsedRows(n_samples, rows, len(rows))
        most = MAX_SCORED_ROWS if isinstance(estimator.estimator, ScoreTest) else None
    else:
        most = None if is_auto else cast(int | None, max_samples)
    sampled = sample_rows(most, target, seed)
    return UsedRows(n_samples if sampled is None else len(sampled), sampled)


def take_rows(dataset: Dataset, rows: IntArray | None) -> Dataset:
    """Return a dataset with some of its samples; None for all."""
    if rows is None:
        return dataset
    return replace(
        dataset,
        table=dataset.table.take(rows),
        target=dataset.target.take(rows),
        rows=dataset.rows[rows],
    )


def sample_rows(max_samples: int | None, target: Block, seed: int) -> IntArray | None:
    """Return the rows of a random subsample if there are too many samples, else None."""
    if max_samples is None or target.n_samples <= max_samples:
        return None
    keys = row_keys(seed, target.n_samples)
    return _checked(np.argpartition(keys, max_samples - 1)[:max_samples], target)


def random_part(n_rows: int, target: Block, groups: IntArray | None, seed: int) -> IntArray:
    """Return random rows: of groups up to 50 each, of classes in proportion, at least one of each.

    The choice may depend on the target, as permutations of candidates leave it as it is.
    """
    (rows,) = permutations((seed, SUBSAMPLE), range(1, 2), target.n_samples)
    shuffled = rows.astype(np.int64)
    if groups is not None:
        rank = _rank_within(groups[shuffled])
        _, first, place = np.unique(groups[shuffled], return_index=True, return_inverse=True)
        shuffled = shuffled[np.lexsort((rank, first[place], rank // ROWS_PER_GROUP))]
    elif all(c.is_discrete and c.levels() <= CLASS_LEVELS for c in target.columns):
        classes = target.codes()[shuffled]
        share = _rank_within(classes) / np.bincount(classes)[classes]
        shuffled = shuffled[np.argsort(share, kind="stable")]
    return _checked(shuffled[:n_rows], target)


def _rank_within(codes: IntArray) -> IntArray:
    """Return how many earlier entries have the same code."""
    samples, start = partition(codes)
    rank = np.empty_like(codes)
    rank[samples] = np.arange(len(codes)) - np.repeat(start[:-1], np.diff(start))
    return rank


def _checked(rows: IntArray, target: Block) -> IntArray:
    """Return the rows in ascending order; refuse rows in which the target is constant."""
    rows = np.sort(rows)
    if all(is_constant(column.values) for column in target.take(rows).columns):
        raise ValueError(
            f"The target is constant in a random subsample of max_samples={len(rows)} samples. "
            "Use a larger max_samples."
        )
    return rows
