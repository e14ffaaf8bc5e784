"""Subsamples: random parts of the rows, and what a selector takes on each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend
from sklearn.base import clone

from pidselect.data import Block, IntArray
from pidselect.data.feature_types import TARGET, to_target
from pidselect.data.frames import read_vectors, select_rows
from pidselect.selection.callbacks import after_fit, use_callback
from pidselect.selection.executor import abandon
from pidselect.significance import STABILITY, permutations


@dataclass(frozen=True, eq=False)
class Subsamples:
    """Random parts of the rows, each a pure function of the seed and its number.

    Parameters
    ----------
    units : array of int64, shape (n_samples,)
        What each row belongs to and is drawn with: itself, or its group.
    strata : array of int64, shape (n_units,)
        Each of these gets its share.
    share : float
    seed : int
    """

    units: IntArray
    strata: IntArray
    share: float
    seed: int

    @classmethod
    def of(cls, classes: IntArray, groups: IntArray | None, share: float, seed: int) -> Subsamples:
        """Draw rows class by class; with groups, whole ones, by class if each has only one."""
        units = np.arange(len(classes)) if groups is None else groups
        _, first = np.unique(units, return_index=True)
        strata = classes[first]
        if (strata[units] != classes).any():
            strata = np.zeros_like(strata)
        return cls(units, strata, share, seed)

    def rows(self, number: int) -> IntArray:
        """Return the rows of a part, in order.

        Examples
        --------
        >>> Subsamples.of(np.array([0, 0, 0, 0, 1, 1]), None, 0.5, seed=0).rows(1)
        array([0, 2, 5])
        """
        draws = range(number, number + 1)
        order = permutations((self.seed, STABILITY), draws, len(self.strata))[0]
        drawn = np.zeros(len(self.strata), dtype=bool)
        for stratum in np.unique(self.strata):
            members = order[self.strata[order] == stratum]
            drawn[members[: max(1, round(self.share * len(members)))]] = True
        return np.flatnonzero(drawn[self.units]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class SubsampleTask:
    """A selector and the data of which it gets a part."""

    selector: Any
    X: Any
    y: Any
    groups: IntArray | None

    def select(self, parts: Subsamples, number: int) -> list[int]:
        """Return the columns that a copy of the selector takes on one part of the rows."""
        rows = parts.rows(number)
        one = clone(self.selector)
        if "random_state" in one.get_params(deep=False):
            stream_key = np.random.SeedSequence((parts.seed, STABILITY, number)).generate_state(1)
            one.set_params(random_state=int(stream_key[0]))
        if "checkpoint" in one.get_params(deep=False):  # it is for one fit, of all rows
            one.set_params(checkpoint=None)
        y = None if self.y is None else select_rows(self.y, rows)
        more = {} if self.groups is None else {"groups": self.groups[rows]}
        try:
            one.fit(select_rows(self.X, rows), y, **more)
        except Exception as error:
            error.add_note(f"This was subsample {number}, of {len(rows)} rows.")
            raise
        return np.flatnonzero(one.get_support()).tolist()


def select_on_all(
    task: SubsampleTask, parts: Subsamples, n: int, n_jobs: int | None, n_features: int
) -> list[list[int]]:
    """Return what is selected on each part, and tell whoever watches of each."""
    watch = after_fit()
    backend, _ = get_active_backend(prefer="threads")
    in_turn = watch is not None and backend.supports_return_generator
    supports = []
    with use_callback(None):  # the selections have steps of their own, of which nobody is told
        if watch is not None:
            watch.on_stage("stability", n_features, n)
        results = Parallel(n_jobs, prefer="threads", return_as="generator" if in_turn else "list")(
            delayed(task.select)(parts, number) for number in range(1, n + 1)
        )
        try:
            for support in results:
                supports.append(support)
                if watch is not None:
                    watch.on_progress(1)
        except BaseException:
            abandon(results)
            raise
    return supports


def classes_of(y: Any, n_samples: int) -> IntArray:
    """Return the class of every row; all the same where there are none."""
    if y is None:
        return np.zeros(n_samples, dtype=np.int64)
    target = Block(tuple(map(to_target, read_vectors(y, TARGET))))
    if target.n_samples != n_samples:
        raise ValueError(
            f"X has {n_samples} rows, but y has {target.n_samples}: give y one value per row of X."
        )
    if any(feature_type != "nominal" for feature_type in target.feature_types):
        return np.zeros(n_samples, dtype=np.int64)
    return target.codes()
