"""Selection context: what all steps of a selection share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from pidselect.data import Block, Column, FloatArray, IntArray
from pidselect.estimators import Estimator
from pidselect.estimators.conditional import (
    ConditionalNeighbours,
    is_shown_by_residuals,
    less_biased,
)
from pidselect.estimators.discrete import target_entropy
from pidselect.estimators.subsample import Subsample
from pidselect.selection.executor import DEVICES, BoundScorers, Executor
from pidselect.selection.pool import Features, joint_block
from pidselect.selection.progress import Observer
from pidselect.significance import GIVEN_ONLY, find_strata
from pidselect.significance.sequential import max_permutations
from pidselect.significance.standardize import (
    MANY_ALIKE,
    PILOT_PERMUTATIONS,
    POOLED_PERMUTATIONS,
    NullStandardizer,
)

#: A test for many features has no sequential form: this many permutations over alpha instead, 200
#: at alpha = 0.05. A sequential test would need the most for some of the features.
PERMUTATIONS_TIMES_ALPHA = 10


@dataclass(frozen=True, eq=False)
class NamedEstimator:
    """An estimator and its name in the record."""

    name: str
    estimator: Estimator
    subsample: Subsample | None = None  # the samples that it uses; None for all

    @property
    def chi2_null(self) -> bool:
        """Whether its null distribution has a long tail, as a chi-squared distribution has."""
        return bool(getattr(self.estimator, "chi2_null", False))

    @property
    def uses_ranks_only(self) -> bool:
        """Whether its values depend on the ranks of a column only."""
        return bool(getattr(self.estimator, "uses_ranks_only", False))

    @property
    def needs_levels(self) -> bool:
        """Whether it counts levels, of which residuals have none."""
        return bool(getattr(self.estimator, "needs_levels", False))

    @property
    def uses_neighbours(self) -> bool:
        """Whether its time grows faster than the number of samples, as for nearest neighbours."""
        return bool(getattr(self.estimator, "uses_neighbours", False))


@dataclass(frozen=True, eq=False)
class SelectionContext:
    """What all steps share: target, estimators, the settings of the tests, the executor.

    Of several estimators, the one with the most significant value counts. In a portfolio, values
    are standardised by pilot permutations. The tests of all surrogate schemes must reject. Results
    do not depend on the executor.
    """

    target: Block
    estimators: tuple[NamedEstimator, ...]
    is_portfolio: bool = False
    alpha: float = 0.05
    n_permutations: int | None = 200  # None for a sequential test
    surrogates: tuple[str, ...] = ("global",)
    shared_permutations: bool = False
    groups: IntArray | None = None  # of every row
    seed: int = 0
    executor: Executor = field(default_factory=Executor)

    @property
    def key(self) -> Any:
        """The settings that differ among the tests of a fit, as types of JSON."""
        estimators = [(named.name, named.estimator) for named in self.estimators]
        tests = self.alpha, self.n_permutations, self.is_portfolio, self.shared_permutations
        return estimators, tests, self.surrogates

    @property
    def n_pilot(self) -> int:
        """The number of pilot permutations, which precede those of the test.

        Many candidates that are alike have fewer of them.
        """
        return PILOT_PERMUTATIONS if self.is_portfolio else 0

    def count_pilot(self, n_candidates: int) -> int:
        """Return the number of pilot permutations of each of so many candidates of one test."""
        is_pooled = self.is_portfolio and n_candidates >= MANY_ALIKE
        return POOLED_PERMUTATIONS if is_pooled else self.n_pilot

    @property
    def fixed_n_permutations(self) -> int:
        """The number of permutations of a test that is not sequential."""
        if self.n_permutations is not None:
            return self.n_permutations
        return min(ceil(PERMUTATIONS_TIMES_ALPHA / self.alpha), max_permutations(self.alpha))

    @property
    def unit(self) -> str:
        """The unit of scores: bits, or standard deviations of the null distribution."""
        return "sd" if self.is_portfolio else "bit"

    @cached_property
    def max_bits(self) -> float:
        """The entropy of a discrete target, which no mutual information exceeds, in bits."""
        entropy = target_entropy(self.target)
        return np.inf if entropy is None else entropy

    def standardizer(self, pilot: FloatArray) -> NullStandardizer | None:
        """Return the standardisation by pilot permutations; None if scores are in bits."""
        if not self.is_portfolio:
            return None
        chi2_null = [named.chi2_null for named in self.estimators]
        return NullStandardizer.from_pilot(pilot, chi2_null, self.target.n_samples)

    @property
    def observed(self) -> SelectionContext:
        """The context of observed values: nothing is permuted, and none is reported."""
        return replace(
            self,
            is_portfolio=False,
            n_permutations=0,
            surrogates=("global",),
            executor=replace(self.executor, observer=Observer()),
        )

    def shows_residuals(self, given: Features) -> bool:
        """Return whether the information given S that is shown is that of residuals on S."""
        general = self.estimators[0].estimator
        return self.is_portfolio and is_shown_by_residuals(general, joint_block(given))

    def shown(self, given: Features) -> SelectionContext:
        """Return the context of the information given S that is shown.

        It has one estimator, the first. Of a portfolio, counts are corrected for bias, and ranks
        given numbers are those of residuals on S.
        """
        observed, named = self.observed, self.estimators[0]
        if self.shows_residuals(given):
            residual = ConditionalNeighbours.for_target(
                self.target, getattr(named.estimator, "k", 4)
            )
            executor = replace(observed.executor, device=DEVICES["cpu"])
            observed = replace(observed, executor=executor)
            named = replace(named, estimator=residual)
        elif self.is_portfolio:
            estimator = less_biased(named.estimator)
            named = named if estimator is named.estimator else replace(named, estimator=estimator)
        return replace(observed, estimators=(named,))

    def shows_scores(self, given: Features) -> bool:
        """Return whether the first estimator scores what is shown."""
        return self.shown(given).estimators[0] is self.estimators[0]

    def schemes(self, given: Features) -> tuple[str, ...]:
        """Return the schemes that apply to a conditioning set.

        Without one, "local" and "residual" are "global". Where permutations within the levels of a
        discrete one are exact, they take the place of "global" and "residual", which needs numbers.
        """
        schemes, block = self.surrogates, joint_block(given)
        if not len(block) and "global" in schemes:
            return tuple(scheme for scheme in schemes if scheme not in GIVEN_ONLY)
        if "residual" not in schemes or not len(block):
            return schemes
        if find_strata(block, self.groups) is not None:
            others = (s for s in schemes if s not in ("global", "local", "residual"))
            return (*others, "local")
        if any(named.needs_levels for named in self.estimators):
            return tuple(dict.fromkeys("local" if s == "residual" else s for s in schemes))
        return schemes

    def bind(
        self,
        given: Sequence[Features],
        schemes: Sequence[str],
        n_concurrent: int = 1,
        columns: Sequence[Sequence[Column]] | None = None,
    ) -> tuple[BoundScorers, ...]:
        """Bind to the target and to each conditioning set; `n_concurrent` share the memory.

        If there are `columns`, of the candidates of each set, they are regressed on it.
        """
        return self.executor.bind(
            [(named.estimator, named.subsample) for named in self.estimators],
            self.target,
            [joint_block(features) for features in given],
            schemes,
            self.groups,
            n_concurrent,
            columns,
        )
