"""Contrasts: one feature beside others, taken apart by counting states or by an estimator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from pidselect.data import CLASS_LEVELS, Block, Column, FloatArray, IntArray
from pidselect.decomposition.binning import equal_count_bins, to_codes
from pidselect.decomposition.decompose import FEWEST_PER_STATE
from pidselect.decomposition.inference import correct
from pidselect.decomposition.measures import MEASURES
from pidselect.decomposition.samples import DiscreteSample
from pidselect.estimators import MAX_MEMORY, Batch, Discrete, Estimator
from pidselect.significance import permutations
from pidselect.significance.rng import DECOMPOSITION

#: Tables of more cells are not counted: each is counted and decomposed dozens of times.
MOST_CELLS = 10**7

#: A few draws are enough: with five times as many, the root mean square errors of corrected atoms
#: changed by no more than 0.001 bit on six known systems.
CORRECTION_DRAWS = 10

NOTHING = Block()

INFINITE = "the estimate is infinite, as features determine the target without any noise"


class SourcePair(NamedTuple):
    """A question: what a feature tells about the target, beside what others tell."""

    feature: Block
    others: Block


class Atoms(NamedTuple):
    """The answer, in nats: what only the feature tells, what both tell, what only both tell."""

    unique: float
    shared: float
    synergy: float

    @property
    def overlap(self) -> float:
        """What the others take from the feature, I(f; y) - I(f; y | others).

        Shared information alone would not tell which of several others it is redundant with:
        variables that have nothing to do with each other may share information about a target.
        """
        return self.shared - self.synergy


#: What was found, or in words why nothing could be.
Answer = Atoms | str


@dataclass(frozen=True, eq=False)
class Counting:
    """Count joint states, decompose their frequencies, and correct for chance.

    Values are adjusted for what they are when the target is permuted (see `doubt`), without which
    synergy reads high: on three independent variables of five levels each and 700 samples it is
    0.08 bit before and 0.00 bit after, with a deviation of 0.01 bit.

    Parameters
    ----------
    target : Block
    measure : str
        A measure of two sources.
    bins : int
        Of a continuous column, equally many samples in each.
    strict : bool
        Whether too few samples for the states are an answer of their own.
    """

    target: Block
    measure: str = "broja"
    bins: int = 5
    strict: bool = True
    seed: int = 0
    n_jobs: int | None = None
    is_symmetric = True

    def name(self, contrasts: Sequence[SourcePair]) -> str:
        """Return the method in words."""
        blocks = [self.target, *(block for contrast in contrasts for block in contrast)]
        binned = any(is_binned(column) for block in blocks for column in block.columns)
        return f"{self.measure}, {self.bins} bins" if binned else self.measure

    def answer(self, contrasts: Sequence[SourcePair]) -> list[Answer]:
        """Take every feature apart, in parallel."""
        return list(
            Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(self._answer)(contrast) for contrast in contrasts
            )
        )

    def doubt_about(self, contrast: SourcePair) -> str:
        """Say why counting cannot be trusted here, or nothing if it can."""
        subject = self._subject(contrast)
        return self._too_many(subject) or too_few(subject)

    def _answer(self, contrast: SourcePair) -> Answer:
        subject = self._subject(contrast)
        if reason := self._too_many(subject) or (self.strict and too_few(subject)):
            return reason
        observed = subject.atoms([None, None, None])
        chance = np.stack([subject.atoms([None, None, rows]) for rows in self._permutations])
        shared, unique, _, synergy = correct(observed, chance, subject).tolist()
        return Atoms(unique, shared, synergy)

    def _too_many(self, subject: DiscreteSample) -> str:
        """Say that there are too many states to count or to solve for, if so."""
        if (n_cells := math.prod(subject.shape)) > MOST_CELLS:
            return f"the table of all joint states has {n_cells:.0e} cells, too many"
        return MEASURES[self.measure].too_large(subject.shape).partition(".")[0]

    @cached_property
    def _permutations(self) -> NDArray[np.int32]:
        """The rows of the target in every draw, the same for all questions."""
        words = (self.seed, DECOMPOSITION, 2)
        return permutations(words, range(1, CORRECTION_DRAWS + 1), self.target.n_samples)

    def _subject(self, contrast: SourcePair) -> DiscreteSample:
        n_samples = self.target.n_samples
        for block in (*contrast, self.target):
            if block not in self._states:
                self._states[block] = to_states(block, self.bins, n_samples)
        codes = tuple(self._states[block] for block in (*contrast, self.target))
        return DiscreteSample(codes, MEASURES[self.measure].decompose)

    @cached_property
    def _states(self) -> dict[Block, IntArray]:
        """The states of every block met so far: the target and many others are in each question."""
        return {}


def too_few(subject: DiscreteSample) -> str:
    """Say that there are fewer than five samples for each joint state, if so."""
    if subject.samples_per_state >= FEWEST_PER_STATE:
        return ""
    return (
        f"{subject.n_samples} samples fill {subject.n_states} joint states, "
        f"{subject.samples_per_state:.1f} each, where {FEWEST_PER_STATE} are needed"
    )


@dataclass(frozen=True, eq=False)
class Estimating:
    r"""Estimate information without states, and take as shared the smaller of two amounts.

    .. math:: \mathrm{shared} = \min(I(f; y), I(S; y)), \quad
              \mathrm{unique} = I(f; y) - \mathrm{shared}, \quad
              \mathrm{synergy} = I(f; y | S) - \mathrm{unique}

    This is the minimum mutual information, which for jointly Gaussian variables and one target is
    BROJA, too (A. B. Barrett, Physical Review E 91, 052802, 2015).
    """

    target: Block
    estimator: Estimator
    n_jobs: int | None = None
    max_memory: int = MAX_MEMORY
    is_symmetric = False  # the chain rule holds for the information, not for its estimates

    def name(self, contrasts: Sequence[SourcePair]) -> str:
        """Return the method in words."""
        return f"mmi by {estimator_name(self.estimator)}"

    def answer(self, contrasts: Sequence[SourcePair]) -> list[Answer]:
        """Take every feature apart, each set of others being bound once."""
        blocks = [block for contrast in contrasts for block in contrast]
        alone = self._score_alone(list(dict.fromkeys(filter(len, blocks))))
        beside: dict[Block, list[Block]] = {}
        for feature, others in contrasts:
            if len(feature) and len(others):
                beside.setdefault(others, []).append(feature)
        worker = self if len(beside) == 1 else self._one_of_many()
        scored = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(worker._score)(others, features) for others, features in beside.items()
        )
        given = dict(zip(beside, scored, strict=True))
        return [_smaller_is_shared(contrast, alone, given) for contrast in contrasts]

    def doubt_about(self, contrast: SourcePair) -> str:
        """Say nothing: no states are counted."""
        return ""

    def _score_alone(self, blocks: Sequence[Block]) -> dict[Block, float]:
        """Return I(block; y) in nats; of a wide block as I(y; block), the same but faster."""
        wide = [block for block in blocks if len(block) > len(self.target)]
        worker = self._one_of_many()
        scored = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(replace(worker, target=block)._score)(NOTHING, [self.target]) for block in wide
        )
        narrow = [block for block in blocks if block not in wide]
        return {
            **dict(zip(wide, (score[self.target] for score in scored), strict=True)),
            **self._score(NOTHING, narrow),
        }

    def _one_of_many(self) -> Estimating:
        """Return what works in one thread of several, with its part of the memory."""
        memory = self.max_memory // effective_n_jobs(self.n_jobs)
        return replace(self, n_jobs=1, max_memory=max(memory, 1))

    def _score(self, given: Block, features: Sequence[Block]) -> dict[Block, float]:
        """Return I(f; y | given) in nats by feature."""
        if not features:
            return {}
        scorer = self.estimator.bind(self.target, given, max_memory=self.max_memory)
        values = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(scorer.score)(Batch.observed(feature)) for feature in features
        )
        return {f: float(value[0]) for f, value in zip(features, values, strict=True)}


Method = Counting | Estimating


@dataclass(frozen=True, eq=False)
class PIDStrategy:
    """How to answer: the measure asked for, and what to fall back on.

    Parameters
    ----------
    estimator : Estimator
        What estimates information where samples are too few to count states; a `Discrete` one
        cannot, as it counts states itself.
    measure : str
        "auto": "broja" where there are five samples for each joint state that occurs, else by the
        estimator. Or a measure by name, which is then used come what may.
    bins : int
    """

    estimator: Estimator
    measure: str = "auto"
    bins: int = 5
    seed: int = 0
    n_jobs: int | None = None
    max_memory: int = MAX_MEMORY

    def choose(self, target: Block, contrasts: Sequence[SourcePair]) -> Method:
        """Return one method for all of these questions, so that their answers can be compared."""
        if self.measure != "auto":
            return self._counting(target, self.measure, strict=False)
        counting = self._counting(target, "broja", strict=True)
        if isinstance(self.estimator, Discrete) or not any(map(counting.doubt_about, contrasts)):
            return counting
        return Estimating(target, self.estimator, self.n_jobs, self.max_memory)

    def _counting(self, target: Block, measure: str, strict: bool) -> Counting:
        return Counting(target, measure, self.bins, strict, self.seed, self.n_jobs)


def _smaller_is_shared(
    contrast: SourcePair, alone: dict[Block, float], given: dict[Block, dict[Block, float]]
) -> Answer:
    """Put together what was estimated."""
    feature, others = contrast
    if not len(feature):
        return Atoms(0.0, 0.0, 0.0)
    told = alone[feature]
    if not len(others):
        return Atoms(told, 0.0, 0.0) if math.isfinite(told) else INFINITE
    known, added = alone[others], given[others][feature]
    if not all(map(math.isfinite, (told, known, added))):
        return INFINITE
    shared = min(told, known)
    return Atoms(told - shared, shared, added - (told - shared))


def to_states(block: Block, bins: int, n_samples: int) -> IntArray:
    """Return each sample's state; a block without columns has one, a missing value one of its own.

    Counts and grades of more than 20 levels are binned like measurements.

    Examples
    --------
    >>> gaps = Column("x", "continuous", np.array([0.1, np.nan, 0.9, 0.2, np.nan, 0.8]))
    >>> to_states(Block((gaps,)), 2, 6)
    array([0, 2, 1, 0, 2, 1])
    """
    if not len(block):
        return np.zeros(n_samples, dtype=np.int64)
    return to_codes(Block(tuple(_in_levels(column, bins) for column in block.columns)))


def is_binned(column: Column) -> bool:
    """Return whether a column has too many ordered levels to count each of them."""
    ordered = column.feature_type == "ordinal" and column.levels() > CLASS_LEVELS
    return ordered or column.feature_type == "continuous"


def _in_levels(column: Column, bins: int) -> Column:
    if not is_binned(column):
        return column
    levels: FloatArray = np.full(len(column.values), np.nan)
    known = ~np.isnan(column.values)
    levels[known] = equal_count_bins(column.values[known], bins)
    return replace(column, feature_type="ordinal", values=levels)


def estimator_name(estimator: Estimator) -> str:
    """Return an estimator as it is written, with its number of neighbours in any case.

    Examples
    --------
    >>> from pidselect.estimators import KSG, Copula
    >>> estimator_name(KSG(scale="rank")), estimator_name(Copula())
    ("KSG(k=4, scale='rank')", 'Copula()')
    """
    text, k = repr(estimator), estimator.get_params().get("k")
    if k is None or "k=" in text:
        return text
    name, _, rest = text.partition("(")
    return f"{name}(k={k}{'' if rest == ')' else ', '}{rest}"
