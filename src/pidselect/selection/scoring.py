"""Candidate scores: the conditional mutual information of candidates, observed and permuted.

A test needs candidates and, for permutations of any numbers, their values; permutation 0 is the
observed data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pidselect.data import Block, FloatArray
from pidselect.decomposition.explanation import DIGITS
from pidselect.estimators import NATS_PER_UNIT, Batch
from pidselect.estimators.predictive import information
from pidselect.selection.context import BoundScorer, SelectionContext
from pidselect.selection.executor import ScoringJob
from pidselect.selection.pool import Feature, Features, columns_of, joint_block

BIT = NATS_PER_UNIT["bit"]


@dataclass(frozen=True, eq=False)
class CandidateScores:
    """Candidates of a test and their values; all tests must reject.

    A subclass implements `key` and `score`.
    """

    context: SelectionContext
    candidates: tuple[Feature, ...]
    schemes: tuple[str, ...]  # the surrogate scheme of each test

    @property
    def key(self) -> Any:
        """What determines the values within a fit, as types of JSON."""
        raise NotImplementedError

    def score(self, permutations: range) -> FloatArray:
        """Return values in nats, shape (n_tests, n_candidates, 1, n_permutations)."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, int, int]:
        """The number of tests, of candidates, and of values of each."""
        return len(self.schemes), len(self.candidates), 1

    @property
    def n_values(self) -> int:
        """The number of values that are computed for one permutation."""
        return int(np.prod(self.shape))

    def one_by_one(self) -> tuple[CandidateScores, ...]:
        """Return the scores of the tests one by one, or itself if they are computed together."""
        return (self,)

    def shown_apart(self) -> FloatArray | None:
        """Return the bits that are shown of each candidate, if they are not those observed."""
        return None

    def information(self, observed: FloatArray) -> FloatArray:
        """Return the bits that are shown of each candidate: at most the entropy of the target."""
        return np.minimum(observed, self.context.max_bits)

    def conditioning_set(self, test: int) -> tuple[str, ...] | None:
        """Return the conditioning set of a test; None for that of the step."""
        return None

    def r_squared(self, place: int) -> float:
        """Return the smaller R squared of a candidate and the target on S; 0 if not regressed."""
        return 0.0


class Criterion:
    """The quantity by which candidates are ranked and tested."""

    is_cmi: bool = False  # whether it is the conditional mutual information, as in other phases
    permutes_target: bool = False  # as redundancy is subtracted: nothing is eliminated

    def conditioning_set(self, fixed: Features, selected: Features) -> Features:
        """Return the features that values depend on, besides the candidate."""
        return [*fixed, *selected]

    def candidate_scores(
        self,
        context: SelectionContext,
        candidates: Features,
        fixed: Features,
        selected: Features,
        stream_key: tuple[int, ...],
    ) -> CandidateScores:
        """Return the values of the candidates given fixed and selected features."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Binding:
    """An estimator and surrogate schemes, bound to conditioning sets at the first use."""

    context: SelectionContext
    schemes: tuple[str, ...]
    given: tuple[Features, ...]  # the conditioning sets
    candidates: tuple[Features, ...]  # of each set
    n_concurrent: int  # sets bound at the same time, each with a part of the memory
    is_regressed: bool  # candidates and target are replaced by their residuals on S

    @cached_property
    def bound(self) -> tuple[BoundScorer, ...]:
        """The estimator and the schemes bound to every conditioning set."""
        columns = None
        if self.is_regressed:
            columns = [
                list({column.name: column for column in joint_block(some).columns}.values())
                for some in self.candidates
            ]
        return self.context.bind(self.given, self.schemes, self.n_concurrent, columns)

    def share(self) -> list[BoundScorer]:
        """Return what all tests of a step share, without residuals, which are of candidates."""
        return [replace(bound, regression=None) for bound in self.bound]


def score_blocks(
    of_sets: Sequence[BoundScorer],
    blocks: Sequence[Block],
    permutations: range,
    number: int,
    tests: Sequence[int],
    stream_key: tuple[int, ...],
) -> FloatArray:
    """Score candidates that are permuted alike, given the conditioning set of a number.

    The shape is (n_tests, n_candidates, 1, n_permutations), in nats. An estimator that scores
    several candidates at once has a method ``score_together(blocks, rows)``.
    """
    bound = of_sets[number]
    values = np.empty((len(tests), len(blocks), 1, len(permutations)))
    for test, sampler in enumerate(bound.samplers[place] for place in tests):
        rows = sampler(stream_key, permutations)
        if score_together := getattr(bound.scorer, "score_together", None):
            values[test, :, 0] = score_together(blocks, rows)
            continue
        for place, block in enumerate(blocks):
            values[test, place, 0] = bound.scorer.score(Batch.of_permutations(block, rows))
    return values


@dataclass(frozen=True, eq=False)
class ConditionalMI(CandidateScores):
    """I(c; y | S) of each candidate c, with a common conditioning set S or with one for each."""

    binding: Binding  # shared by all tests of a step
    set_of: tuple[int, ...]  # of each candidate, by its position in the bound conditioning sets
    stream_key: tuple[int, ...]  # the phase and the step

    @property
    def key(self) -> Any:
        """The settings, the candidates, and all that is bound, on which residuals depend."""
        binding, bound = self.binding, [columns_of(self.candidates)]
        bound += [columns_of(f) for f in (*binding.given, *binding.candidates)]
        schemes = self.schemes, binding.schemes, binding.is_regressed
        return self.context.key, self.stream_key, schemes, bound, self.set_of

    def score(self, permutations: range) -> FloatArray:
        """Return values in nats, shape (n_tests, n_candidates, 1, n_permutations)."""
        context, values = self.context, []
        for part in self._parts():
            # Candidates in one task have the same conditioning set and the same permutations.
            is_divided = len(part.binding.given) > 1 or not context.shared_permutations
            job = ScoringJob(
                part.key,
                part.shape,
                context.target.n_samples,
                is_divided,
                score_blocks,
                part.binding.share,
                part._arguments,
            )
            values.append(context.executor.compute(job, permutations))
        return np.concatenate(values, axis=1)

    def one_by_one(self) -> tuple[ConditionalMI, ...]:
        """Return the scores of one scheme each, or itself if that would bind again."""
        if len(self.schemes) == 1 or len(self.binding.given) > self.binding.n_concurrent:
            return (self,)
        return tuple(replace(self, schemes=(scheme,)) for scheme in self.schemes)

    def shown_apart(self) -> FloatArray | None:
        """Return bits as `information_given` has them, where residuals are scored."""
        if not self.binding.is_regressed:
            return None
        given = [self.binding.given[place] for place in self.set_of]
        return information_given(self.context, self.candidates, given)

    def information(self, observed: FloatArray) -> FloatArray:
        """Return the bits that are shown: those observed, from 0 to the entropy of the target."""
        return np.clip(observed, 0.0, self.context.max_bits)

    def r_squared(self, place: int) -> float:
        """Return the smaller R squared of a candidate and the target on S; 0 if not regressed."""
        binding, number = self.binding, self.set_of[place]
        if "residual" not in binding.schemes:
            return 0.0
        if len(binding.given) > binding.n_concurrent:  # it was bound a few sets at a time
            given, candidates = (binding.given[number],), (binding.candidates[number],)
            binding, number = replace(binding, given=given, candidates=candidates), 0
        return binding.bound[number].r_squared(self.candidates[place].block)

    def _parts(self) -> Iterator[ConditionalMI]:
        """Yield the scores of a few candidates at a time if not all sets are bound at once."""
        given, size = self.binding.given, self.binding.n_concurrent
        if len(given) <= size:
            yield self
            return
        for start in range(0, len(given), size):
            some = slice(start, start + size)
            candidates = self.binding.candidates[some]
            binding = replace(self.binding, given=given[some], candidates=candidates)
            set_of = tuple(range(len(binding.given)))
            yield replace(self, candidates=self.candidates[some], binding=binding, set_of=set_of)

    def _arguments(self, places: list[int], permutations: range) -> tuple[Any, ...]:
        """Return some candidates as they are scored, and how they are."""
        number = self.set_of[places[0]]
        bound, binding, seed = self.binding.bound[number], self.binding, self.context.seed
        features = [self.candidates[place] for place in places]
        columns = () if self.context.shared_permutations else features[0].columns
        return (
            [bound.block(feature.block) for feature in features],
            permutations,
            number,
            [binding.schemes.index(scheme) for scheme in self.schemes],
            (seed, *self.stream_key, *columns),
        )


@dataclass(frozen=True, eq=False)
class ScoreCandidates(CandidateScores):
    """Candidates of the score test, with a common conditioning set or with one for each."""

    given: tuple[Features, ...]  # the conditioning sets
    set_of: tuple[int, ...]  # of each candidate, by its position in these
    stream_key: tuple[int, ...]  # the phase and the step

    @property
    def key(self) -> Any:
        """The settings, the candidates and the sets."""
        sets = [columns_of(features) for features in self.given]
        return self.context.key, self.stream_key, columns_of(self.candidates), sets, self.set_of


def cmi_given(
    context: SelectionContext,
    candidates: Features,
    given: Features,
    stream_key: tuple[int, ...],
    n_concurrent: int = 1,
) -> CandidateScores:
    """Return the conditional mutual information of candidates with one conditioning set."""
    return scores_given(
        context, candidates, [given], [0] * len(candidates), stream_key, n_concurrent
    )


def scores_given(
    context: SelectionContext,
    candidates: Features,
    given: Sequence[Features],
    set_of: Sequence[int],
    stream_key: tuple[int, ...],
    n_concurrent: int,
) -> CandidateScores:
    """Return the scores of candidates, each given the set of its number, by the test in use."""
    if context.score_test is not None:
        named = tuple(candidates), context.surrogates
        return ScoreCandidates(context, *named, tuple(given), tuple(set_of), stream_key)
    # All have the schemes of the largest set: tests would else differ where some are empty.
    schemes = context.schemes(max(given, key=lambda some: len(joint_block(some))))
    is_regressed = "residual" in schemes
    pairs = list(zip(candidates, set_of, strict=True))
    of_each = tuple([c for c, own in pairs if own == number] for number in range(len(given)))
    binding = Binding(context, schemes, tuple(given), of_each, n_concurrent, is_regressed)
    return ConditionalMI(context, tuple(candidates), schemes, binding, tuple(set_of), stream_key)


def information_given(
    context: SelectionContext, features: Features, given: Sequence[Features]
) -> FloatArray:
    """Return I(f; y | S) of each feature and its set S in bits, from 0 to the entropy of y.

    It is what records, explanations and reports show: by the estimator or, beside the score test,
    of rows that are predicted by fits without them.
    """
    values, places_of = np.zeros(len(features)), dict[Features, list[int]]()
    for place, some in enumerate(given):
        places_of.setdefault(tuple(some), []).append(place)
    for some, places in places_of.items():
        wanted = [features[place] for place in places]
        if context.score_test is not None:
            blocks = [feature.block for feature in wanted]
            values[places] = information(context.target, joint_block(some), blocks, context.groups)
            continue
        scores = cmi_given(context.observed, wanted, some, ())
        values[places] = scores.score(range(1))[0, :, 0, 0] / BIT
    return np.clip(values, 0.0, context.max_bits)


def added_bits(
    context: SelectionContext, features: Features, given: Features = ()
) -> dict[str, float]:
    """Return the information in bits that each feature adds to S and the features before it.

    Their sum is the joint information, at most the entropy of the target. Features without a
    varying column add nothing.
    """
    varying = [feature for feature in features if len(feature.block)]
    before = [(*given, *varying[:place]) for place in range(len(varying))]
    bits = information_given(context, varying, before)
    if np.isfinite(context.max_bits):
        bits = np.diff(np.minimum(bits.cumsum(), context.max_bits), prepend=0.0)
    added = dict.fromkeys((feature.name for feature in features), 0.0)
    names = (feature.name for feature in varying)
    return added | dict(zip(names, bits.tolist(), strict=True))


def bits_shown(context: SelectionContext, features: Features) -> dict[str, float]:
    """Return the information that each feature adds to those before it, as multiples of 0.001 bit.

    Each value is rounded, so that the sum of those shown is the joint information shown; it is at
    most the entropy of the target as shown.
    """
    most, total, shown = round(context.max_bits, DIGITS), 0.0, dict[str, float]()
    for name, bits in added_bits(context, features).items():
        value = round(bits, DIGITS)
        shown[name] = value if total + value <= most else round(most - total, DIGITS)
        total = round(total + shown[name], DIGITS)
    return shown


def information_of_set(
    information: Mapping[str, float], added: float, joint: float, others: Sequence[str]
) -> float:
    """Return I(R; y) of a set R in bits, for I(f; y | R), I(f, R; y) and I(g; y) of its members.

    Estimates do not obey the chain rule exactly, but no set is less informative than a member.
    """
    if len(others) == 1:
        return information[others[0]]
    return max([joint - added, *(information[name] for name in others)])


@dataclass(frozen=True, eq=False)
class SubsetIntersection(CandidateScores):
    """The same candidates with several conditioning sets: the tests of all of them must reject."""

    scores: tuple[Any, ...]  # ConditionalMI or ScoreCandidates, each with one set

    @property
    def key(self) -> Any:
        """Those of all conditioning sets."""
        return [scores.key for scores in self.scores]

    def score(self, permutations: range) -> FloatArray:
        """Return the values of all tests."""
        return np.concatenate([scores.score(permutations) for scores in self.scores])

    def one_by_one(self) -> tuple[CandidateScores, ...]:
        """Return the scores of one scheme given one conditioning set each."""
        return tuple(test for scores in self.scores for test in scores.one_by_one())

    def shown_apart(self) -> FloatArray:
        """Return the smallest information over the conditioning sets, in bits."""
        each = (
            information_given(self.context, self.candidates, scores.binding.given * self.shape[1])
            for scores in self.scores
        )
        return np.min(list(each), axis=0)

    def conditioning_set(self, test: int) -> tuple[str, ...]:
        """Return the conditioning set of a test."""
        of_tests = [scores.binding.given[0] for scores in self.scores for _ in scores.schemes]
        return tuple(feature.name for feature in of_tests[test])

    def r_squared(self, place: int) -> float:
        """Return the largest over the conditioning sets: one test decides if it does not reject."""
        return max(scores.r_squared(place) for scores in self.scores)
