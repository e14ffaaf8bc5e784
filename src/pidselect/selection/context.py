"""Selection context: what all steps of a selection share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from pidselect.data import Block, Column, FloatArray, IntArray
from pidselect.estimators import Estimator, Scorer
from pidselect.estimators.discrete import target_entropy
from pidselect.estimators.regression import Regression
from pidselect.selection.executor import Executor
from pidselect.selection.pool import Features, joint_block
from pidselect.selection.progress import Observer
from pidselect.significance.permutation_test import (
    Decision,
    critical_value,
    fixed_decision,
    p_values,
)
from pidselect.significance.row_orders import GIVEN_ONLY, find_strata
from pidselect.significance.sequential import (
    betting_critical_value,
    betting_p_values,
    decision,
    max_permutations,
)
from pidselect.significance.staged import PERMUTATIONS_TIMES_LEVEL, ScoreTest
from pidselect.significance.surrogates import PermutationSampler


@dataclass(frozen=True, eq=False)
class NamedEstimator:
    """An estimator and its name in the record."""

    name: str
    estimator: Estimator

    def has(self, trait: str) -> bool:
        """Return whether its class has an attribute, such as `uses_neighbours`: see `Estimator`."""
        return bool(getattr(self.estimator, trait, False))


@dataclass(frozen=True, eq=False)
class BoundScorer:
    """An estimator and the surrogate schemes of a test, bound to y and S.

    `samplers` return the row orders of permutations; permutation 0 is the observed data.
    """

    scorer: Scorer
    samplers: tuple[PermutationSampler, ...]
    regression: Regression | None = None  # on S, of which the residuals are scored

    def block(self, block: Block) -> Block:
        """Return a candidate as it is scored."""
        return block if self.regression is None else self.regression.residual(block)

    def r_squared(self, block: Block) -> float:
        """Return the smaller R squared of a candidate and the target on S; 0 if not regressed."""
        if self.regression is None or not self.regression.found:
            return 0.0
        found = [self.regression.found[column.name].r_squared for column in block.columns]
        return min(self.regression.r_squared, *found)


@dataclass(frozen=True, eq=False)
class SelectionContext:
    """What all steps share: target, estimator, the settings of the tests, the executor.

    The tests of all surrogate schemes must reject. Results do not depend on the executor.
    """

    target: Block
    estimator: NamedEstimator
    alpha: float = 0.05
    share: float = 1.0  # of alpha, that a stage of a step has by the score test
    n_permutations: int | None = 200  # None for a sequential test
    surrogates: tuple[str, ...] = ("global",)
    shared_permutations: bool = False
    groups: IntArray | None = None  # of every row
    seed: int = 0
    executor: Executor = field(default_factory=Executor)

    @property
    def key(self) -> Any:
        """The settings that differ among the tests of a fit, as types of JSON."""
        tests = self.alpha, self.share, self.n_permutations, self.shared_permutations
        return self.estimator.name, self.estimator.estimator, tests, self.surrogates

    @property
    def score_test(self) -> ScoreTest | None:
        """The score test, or None if an estimator decides."""
        test = self.estimator.estimator
        return test if isinstance(test, ScoreTest) else None

    def at_share(self, share: float) -> SelectionContext:
        """Return the context of tests that have a share of the level of a step."""
        if self.score_test is not None:
            return replace(self, share=share)
        return replace(self, alpha=self.alpha * share)

    def at_level(self) -> SelectionContext:
        """Return the context of one test at its share of alpha, with permutations enough for it."""
        if self.score_test is None:
            return self
        context = replace(self, alpha=self.alpha * self.share, share=1.0)
        return replace(context, n_permutations=context.fixed_n_permutations)

    @property
    def fixed_n_permutations(self) -> int:
        """The number of permutations of a test that is not sequential, as one of many features."""
        if self.n_permutations is not None:
            return self.n_permutations
        return min(math.ceil(PERMUTATIONS_TIMES_LEVEL / self.alpha), max_permutations(self.alpha))

    def decide(self, observed: float, null: FloatArray) -> Decision:
        """Return the decision of a test after the permutations so far; without any, it rejects."""
        if self.n_permutations is None:
            return decision(observed, null, self.alpha)
        if self.n_permutations == 0:
            return "significant"
        ends_if_futile = self.score_test is not None
        return fixed_decision(observed, null, self.alpha, self.n_permutations, ends_if_futile)

    def p_values(self, observed: FloatArray, null: FloatArray) -> FloatArray:
        """Return the p-values of values that are tested against one null distribution."""
        if self.n_permutations is None:
            return betting_p_values(observed, null, self.alpha)
        return p_values(observed, null)

    def critical_value(self, null: FloatArray) -> float | None:
        """Return the critical value of a test that has all its permutations, else None."""
        if self.n_permutations is None:
            return betting_critical_value(null, self.alpha)
        is_complete = 0 < len(null) == self.n_permutations
        return critical_value(null, self.alpha) if is_complete else None

    def is_close_call(self, p_value: float) -> bool:
        """Return whether p lies within two standard errors of alpha, given a fixed number."""
        if not (n := self.n_permutations):
            return False
        n_exceeding = round(p_value * (1 + n)) - 1
        standard_error = math.sqrt(p_value * (1 - p_value) / n)
        return n_exceeding > 0 and abs(p_value - self.alpha) <= 2 * standard_error

    @cached_property
    def max_bits(self) -> float:
        """The entropy of a discrete target, which no mutual information exceeds, in bits."""
        entropy = target_entropy(self.target)
        return np.inf if entropy is None else entropy

    @property
    def observed(self) -> SelectionContext:
        """The context of observed values: nothing is permuted, and none is reported."""
        return replace(
            self,
            n_permutations=0,
            surrogates=("global",),
            executor=replace(self.executor, observer=Observer()),
        )

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
        if self.estimator.has("needs_levels"):
            return tuple(dict.fromkeys("local" if s == "residual" else s for s in schemes))
        return schemes

    def schemes_of_tuples(self, given: Features) -> tuple[str, ...]:
        """Return the schemes that apply to tuples: those of an estimator, also by the score test.

        Rows that are near in S are exchanged first, as a variance may depend on S.
        """
        if self.surrogates != ("global",) or self.score_test is None:
            return self.schemes(given)
        return replace(self, surrogates=("residual", "global")).schemes(given)

    def bind(
        self,
        given: Sequence[Features],
        schemes: Sequence[str],
        n_concurrent: int = 1,
        columns: Sequence[Sequence[Column]] | None = None,
    ) -> tuple[BoundScorer, ...]:
        """Bind to the target and to each conditioning set, in as many threads as jobs.

        On a GPU, `n_concurrent` share the memory. If there are `columns`, of the candidates of each
        set, they and the target are regressed on it.
        """
        device, groups, n_samples = self.executor.device, self.groups, self.target.n_samples

        def bind(features: Features, regressed: Sequence[Column] | None) -> BoundScorer:
            block, target, regression = joint_block(features), self.target, None
            if regressed is not None:
                regression = self.executor.regressions.find(target, regressed, block, groups)
                target = regression.target
            return BoundScorer(
                device.bind(self.estimator.estimator, target, block, n_concurrent),
                tuple(device.sampler(name, block, n_samples, groups) for name in schemes),
                regression,
            )

        n_threads = effective_n_jobs(self.executor.n_jobs) if device.is_cpu else 1
        with ThreadPoolExecutor(max(1, min(n_threads, len(given)))) as threads:
            return tuple(threads.map(bind, given, columns or [None] * len(given)))
