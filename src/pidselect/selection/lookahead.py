"""Look-ahead: include synergistic features jointly if no single candidate is significant.

If no single candidate is significant, pairs are tested by their joint conditional mutual
information, then triples, and so on. Alternatively, candidates are tested given random subsets of
the other candidates (the paper's discussion names both). Each of these levels has a part of alpha,
so that the family-wise error rate of a step is at most alpha. Features that are included jointly
are then subject to backward elimination at the same level, with the maximum statistic, as the
minimum statistic removes hardly any.

If there are too many tuples, those of the candidates with the largest marginal values are searched.
This screening depends on the target, so it is repeated in every permutation: the strongest
candidates of a permutation, not those of the observed data, make its tuples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import Any, ClassVar, Literal

import numpy as np

from pidselect.data import FloatArray, IntArray
from pidselect.selection.backward import backward
from pidselect.selection.context import SelectionContext
from pidselect.selection.executor import ScoringJob
from pidselect.selection.pool import Feature, Features, count_columns, joint_name, merge_features
from pidselect.selection.result import Phase, Step
from pidselect.selection.scoring import (
    Binding,
    CandidateScores,
    ConditionalMI,
    StepScores,
    cmi_given,
)
from pidselect.selection.step_test import PermutationTestResult, run_test
from pidselect.significance import LOOKAHEAD, START, maximum_statistic
from pidselect.significance import permutations as random_permutations
from pidselect.significance.standardize import NullStandardizer

#: Candidates, each with a random subset of the others.
Pairs = list[tuple[Feature, tuple[Feature, ...]]]


@dataclass(frozen=True)
class Lookahead:
    """What to search if no single candidate is significant."""

    order: int = 1  # the size of the largest tuples; 1 for none
    n_random_starts: int = 0  # random subsets that candidates are tested given
    max_tuples: int = 2000  # searched at a step
    start_size: int = 3  # features in a random subset

    @property
    def n_levels(self) -> int:
        """How many tests alpha is divided among: single candidates, tuples by size, subsets."""
        return self.order + (self.n_random_starts > 0)

    def alpha_at(self, alpha: float, level: int) -> float:
        """Return the significance level of a test, 1 being that of single candidates.

        Half of alpha is spent on the first level, half of the rest on the next, and so on; the last
        level has all that is left.

        Examples
        --------
        >>> [Lookahead(order=3).alpha_at(0.08, level) for level in (1, 2, 3)]
        [0.04, 0.02, 0.02]
        """
        return alpha / 2 ** min(level, self.n_levels - 1)


@dataclass(frozen=True, eq=False)
class JointSearch:
    """Search for features to include jointly: at most `max_columns` columns."""

    context: SelectionContext
    given: Features
    candidates: Features
    lookahead: Lookahead
    max_columns: float

    def run(self) -> tuple[list[Feature], list[Step]]:
        """Test level by level; return the features to include, if any, and the steps."""
        steps: list[Step] = []
        for level in range(2, self.lookahead.n_levels + 1):
            alpha = self.lookahead.alpha_at(self.context.alpha, level)
            # All tuples are permuted alike: a feature has the same surrogate in each of its tuples.
            context = replace(self.context, alpha=alpha, shared_permutations=True)
            is_tuple = level <= self.lookahead.order
            tested = self._test_tuples(context, level) if is_tuple else self._test_starts(context)
            if tested is None:
                continue
            step, found = tested
            steps.append(context.executor.callbacks.on_step(step))
            if step.accepted:
                remaining, more, _ = backward(
                    context, self.given, found, maximum_statistic, "joint_backward"
                )
                return remaining, steps + more
        return [], steps

    def is_possible(self) -> bool:
        """Return whether there is anything to test, without computing any value."""
        for order in range(2, self.lookahead.order + 1):
            if not self._is_screened(order):
                if self._tuples(order):
                    return True
            elif len(self._narrow_candidates(order)) >= order:
                return True
        return bool(self._random_starts()[1])

    def _is_screened(self, order: int) -> bool:
        return comb(len(self.candidates), order) > self.lookahead.max_tuples

    def _tuples(self, order: int) -> list[tuple[Feature, ...]]:
        """Return all tuples of at most `max_columns` columns."""
        tuples = combinations(self.candidates, order)
        return [features for features in tuples if count_columns(features) <= self.max_columns]

    def _narrow_candidates(self, order: int) -> list[Feature]:
        """Return the candidates of which any tuple has at most `max_columns` columns."""
        # The others are excluded before the screening, which does not depend on the target.
        return [c for c in self.candidates if order * len(c.columns) <= self.max_columns]

    def _test_tuples(self, context: SelectionContext, order: int) -> tuple[Step, Features] | None:
        """Test the joint information of all tuples, or of those of the strongest candidates."""
        n_tuples = comb(len(self.candidates), order)
        stream_key = (LOOKAHEAD, order, len(self.given))
        name = {2: "pairs", 3: "triples"}.get(order, f"tuples of {order}")
        scores: CandidateScores
        if self._is_screened(order):
            narrow, max_tuples = self._narrow_candidates(order), self.lookahead.max_tuples
            if len(narrow) < order:
                return None
            scores = screen_tuples(context, self.given, narrow, order, stream_key, max_tuples)
            tuples = scores.tuples
            note = (
                f"{len(tuples)} of {n_tuples} {name} searched, those of the strongest single "
                "candidates, screened in every permutation"
            )
        else:
            tuples = self._tuples(order)
            if not tuples:
                return None
            candidates = [merge_features(features) for features in tuples]
            scores = cmi_given(context, candidates, self.given, stream_key)
            note = f"all {len(tuples)} {name} searched"
            if len(tuples) < n_tuples:
                note = f"{len(tuples)} of {n_tuples} {name} searched, others exceed max_features"
        result = run_test(scores, "lookahead")
        found = tuples[result.chosen]
        return self._to_step(result, "lookahead", found, note), found

    def _test_starts(self, context: SelectionContext) -> tuple[Step, Features] | None:
        """Test every candidate given each of several random subsets of the others."""
        starts, pairs = self._random_starts()
        if not pairs:
            return None
        subsets = list(dict.fromkeys(start for _, start in pairs))  # each is bound once
        given = tuple((*self.given, *start) for start in subsets)
        of_each = tuple([c for c, start in pairs if start == subset] for subset in subsets)
        schemes = context.schemes(given[0])
        scores = ConditionalMI(
            context,
            tuple(replace(c, name=f"{c.name} given {joint_name(start)}") for c, start in pairs),
            schemes,
            Binding(context, schemes, given, of_each, n_concurrent=len(subsets)),
            tuple(subsets.index(start) for _, start in pairs),
            (START, len(self.given), 1),
        )
        result = run_test(scores, "random_starts")
        candidate, start = pairs[result.chosen]
        found = (candidate, *start)
        note = f"{len(starts)} different random starts of {len(start)} features searched"
        return self._to_step(result, "random_starts", found, note), found

    def _random_starts(self) -> tuple[list[tuple[Feature, ...]], Pairs]:
        """Return random subsets, and all pairs of a candidate and a subset within `max_columns`."""
        size = min(self.lookahead.start_size, len(self.candidates) - 1)
        if size < 1 or not self.lookahead.n_random_starts:
            return [], []
        stream_key = (self.context.seed, START, len(self.given), 0)
        numbers = range(1, self.lookahead.n_random_starts + 1)
        orders = random_permutations(stream_key, numbers, len(self.candidates))
        subsets = sorted({tuple(sorted(order[:size].tolist())) for order in orders})
        starts = [tuple(self.candidates[place] for place in subset) for subset in subsets]
        pairs = [(c, start) for start in starts for c in self.candidates if c not in start]
        return starts, [(c, s) for c, s in pairs if count_columns([c, *s]) <= self.max_columns]

    def _to_step(
        self, result: PermutationTestResult, phase: Phase, found: Features, note: str
    ) -> Step:
        step = result.to_step(phase, tuple(feature.name for feature in self.given))
        return replace(step, jointly_included=tuple(f.name for f in found)).with_note(note)


# --- screening ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ScreenedTuples(StepScores):
    """Joint information of the tuples of the strongest candidates, screened in every permutation.

    A candidate of these scores is a combination of ranks, such as the first and the third; the
    tuple of features at these ranks differs between permutations. `singles` scores the candidates
    one by one; `tuples` are those of the observed data, and `candidates` the same as features.
    """

    context: SelectionContext
    candidates: tuple[Feature, ...]
    schemes: tuple[str, ...]
    singles: ConditionalMI
    standardizer: NullStandardizer | None
    order: int
    n_strongest: int
    tuples: list[tuple[Feature, ...]]

    @property
    def n_values(self) -> int:
        """The number of values of a permutation, those of single candidates included."""
        return self.singles.n_values + super().n_values

    def score(self, permutations: range) -> FloatArray:
        """Return values in nats, shape (n_tests, n_tuples, n_estimators, n_permutations)."""
        singles = self.singles.score(permutations)
        strongest = _strongest(singles, self.standardizer, self.n_strongest)
        job = RankedTuples(self.singles, strongest, permutations, self.order)
        return self.context.executor.compute(job, permutations)

    def one_by_one(self) -> tuple[CandidateScores, ...]:
        """Return the scores of one scheme each."""
        return tuple(
            replace(self, schemes=singles.schemes, singles=singles)
            for singles in self.singles.one_by_one()
        )


def _strongest(values: FloatArray, standardizer: NullStandardizer | None, n: int) -> IntArray:
    """Return the n strongest candidates in each permutation, (n_tests, n, n_permutations)."""
    best = values.max(axis=2)
    if standardizer is not None:
        # Standardised for all tests alike: otherwise the tuples of the observed data would differ
        # between tests.
        centre, scale = standardizer.centre[:, np.newaxis], standardizer.scale[:, np.newaxis]
        alike = replace(standardizer, centre=centre, scale=scale)
        best = alike.apply(values).max(axis=3).min(axis=0)
    return np.argsort(-best, axis=1, kind="stable")[:, :n].astype(np.int64)


@dataclass(frozen=True, eq=False)
class RankedTuples(ScoringJob):
    """Tuples that differ between permutations."""

    singles: ConditionalMI
    strongest: IntArray  # candidates in each permutation, (n_tests, n_strongest, n_permutations)
    permutations: range
    order: int
    split_by: ClassVar[Literal["permutation"]] = "permutation"

    @property
    def shape(self) -> tuple[int, int, int]:
        """The number of tests, tuples and estimators."""
        n_tests, _, n_estimators = self.singles.shape
        return n_tests, comb(self.strongest.shape[1], self.order), n_estimators

    @property
    def n_samples(self) -> int:
        """The number of samples."""
        return self.singles.n_samples

    def prepare(self) -> None:
        """Bind the estimators."""
        self.singles.prepare()

    def score_task(self, places: list[int], permutations: range, *part: Any) -> FloatArray:
        """Return the joint information of the tuples of some permutations."""
        first = self.permutations.start
        strongest = self.strongest[..., permutations.start - first : permutations.stop - first]
        ranks = np.array(list(combinations(range(strongest.shape[1]), self.order)))
        (bound,), stream_key = self.singles.binding.bound, self.singles.stream_key
        values = np.empty((*self.shape, len(permutations)))
        for test, sampler in enumerate(self.singles.samplers(bound)):
            orders = sampler((self.singles.context.seed, *stream_key), permutations)
            features = np.sort(strongest[test][ranks], axis=1)  # (n_tuples, order, n_permutations)
            flat = features.transpose(0, 2, 1).reshape(-1, self.order)
            # Each distinct tuple is scored once, in all permutations in which it occurs.
            tuples, which, counts = np.unique(flat, axis=0, return_inverse=True, return_counts=True)
            cells = np.split(np.argsort(which, axis=None, kind="stable"), np.cumsum(counts)[:-1])
            for members, cell in zip(tuples, cells, strict=True):
                slot, permutation = np.divmod(cell, len(permutations))
                block = merge_features([self.singles.candidates[place] for place in members]).block
                values[test, slot, :, permutation] = bound.score(block, orders[permutation]).T
        return values


def screen_tuples(
    context: SelectionContext,
    given: Features,
    candidates: Features,
    order: int,
    stream_key: tuple[int, ...],
    max_tuples: int,
) -> ScreenedTuples:
    """Return the scores of at most `max_tuples` tuples, those of the strongest candidates."""
    n_strongest = max(n for n in range(order, len(candidates) + 1) if comb(n, order) <= max_tuples)
    singles = cmi_given(context, candidates, given, stream_key)
    n_values = singles.n_values * (1 + context.n_pilot)
    context.executor.callbacks.on_stage("lookahead", len(candidates), n_values)
    first = singles.score(range(1 + context.n_pilot))
    standardizer = context.standardizer(first[..., 1:])
    best = _strongest(first[..., :1], standardizer, n_strongest)[0, :, 0]
    tuples = [
        tuple(candidates[place] for place in sorted(best[list(ranks)]))
        for ranks in combinations(range(n_strongest), order)
    ]
    merged, schemes = tuple(map(merge_features, tuples)), singles.schemes
    return ScreenedTuples(
        context, merged, schemes, singles, standardizer, order, n_strongest, tuples
    )
