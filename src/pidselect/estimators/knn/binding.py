"""What the nearest-neighbour estimators share: scaling, binding and scoring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Literal

import numpy as np

from pidselect.data import CLASS_LEVELS, Block, Column, FloatArray, IntArray, check_choice
from pidselect.estimators.base import (
    Batch,
    check_same_length,
    group_starts,
    normal_scores,
    standardised,
)
from pidselect.estimators.knn.continuous import FEW_SAMPLES, SHORTEST_LIST, score_smooth_columns
from pidselect.estimators.knn.discrete import Strata, score_columns_in_strata
from pidselect.estimators.knn.general import Candidate, Neighbourhood, Rule, score_columns
from pidselect.estimators.knn.neighbour_lists import sorted_neighbours, spatial_order
from pidselect.estimators.knn.spaces import Space, distances_from, in_blocks, in_line

Scale = Literal["zscore", "rank"] | None
SCALES: tuple[Scale, ...] = ("zscore", "rank", None)

#: Where a missing value lies on the axis of its column: at one place, and far from all others.
FAR_AWAY = 1e300

#: Numbers are taken as they are up to this, well below the distance of a missing one.
LARGEST = 1e290

#: Numbers up to this have room in 32 bits, and so have their differences.
LARGEST_NARROW = 1e30

#: The share of samples with a value of their own from which a column counts as smooth.
MOSTLY = 0.9

NOBODY = np.empty(0)

#: Bytes of one listed neighbour: its index and its distance.
NEIGHBOUR_BYTES = 12

#: How many times sparser than on average samples may lie along x, for 1,000 samples, before a list
#: of their neighbours ends too early. That costs a look at others, which takes the longer the more
#: samples there are: so it grows with this power of their number.
SPARSE, SPARSE_GROWTH = 30.0, 0.3

#: The share of the memory that neighbours in (y, S) may take; the rest is for those in S.
JOINT_SHARE = 2 / 3

#: Where samples are grouped, lists serve only candidates of several columns, and may be short.
MEMORY_BESIDE_STRATA = 2**26

#: Strata pay off from this many samples in each on average, in multiples of k.
SAMPLES_PER_STRATUM = 10


def check_neighbours(k: object, scale: object) -> None:
    """Refuse a number of neighbours or a scale that makes no sense."""
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise ValueError(f"k={k!r}: the number of neighbours must be an integer of at least 1.")
    check_choice(scale, SCALES, "scale")


def check_enough_samples(n_samples: int, k: int) -> None:
    """Refuse fewer samples than k + 2."""
    if n_samples < k + 2:
        raise ValueError(
            f"{k} nearest neighbours need at least {k + 2} samples, but there are "
            f"n_samples={n_samples}. Bring more samples or choose a smaller k."
        )


def scaled(column: Column, scale: Scale) -> FloatArray:
    """Place a column's samples on an axis: numbers by the scale, labels at 0, 1, ... by level."""
    if column.feature_type == "nominal":
        return column.codes().astype(np.float64)
    if scale == "zscore":
        values = standardised(column.values)
    elif scale == "rank":
        values = normal_scores(column.values)
    else:
        values = column.values
        if np.nanmax(np.abs(values)) > LARGEST:
            raise ValueError(
                f"column {column.name!r} holds numbers beyond {LARGEST:g}, whose distances are no "
                'numbers any more. Use scale="zscore" or "rank".'
            )
    return np.where(np.isnan(values), FAR_AWAY, values)


def caps(block: Block) -> FloatArray:
    """Return the largest distance each column can contribute: 1 for labels, else infinity."""
    return np.array(
        [1.0 if feature_type == "nominal" else np.inf for feature_type in block.feature_types]
    )


def to_space(block: Block, n_samples: int, scale: Scale) -> Space:
    """Place the samples of a block in a space; a block without columns gives one of none."""
    values = np.empty((len(block), n_samples))
    for axis, column in zip(values, block.columns, strict=True):
        axis[:] = scaled(column, scale)
    return Space(values, caps(block))


def to_candidate(block: Block, scale: Scale) -> Candidate:
    """Prepare a block for scoring, its samples sorted along the first column."""
    values = np.stack([scaled(column, scale) for column in block.columns], axis=1)
    return Candidate(values, caps(block), in_line(values[:, 0]))


def to_neighbourhood(
    joint: Space, given: Space, blocks: tuple[Block, Block], k: int, max_memory: int
) -> Neighbourhood:
    """Sort the neighbours of every sample in (y, S) and in S, as long as `max_memory` allows."""
    target_and_given, listed = blocks
    on_line = len(listed) == 1 and listed.feature_types[0] != "nominal"
    lengths = list_lengths(target_and_given, Block() if on_line else listed, k, max_memory)
    joint_blocks, given_blocks = in_blocks(joint), in_blocks(given)
    return Neighbourhood(
        joint,
        joint.values.T.copy(),
        joint_blocks,
        sorted_neighbours(joint, joint_blocks, lengths[0]),
        given,
        given.values.T.copy(),
        given_blocks,
        sorted_neighbours(given, given_blocks, lengths[1]),
        in_line(given.values[0] if on_line else NOBODY),
    )


def list_lengths(joint: Block, given: Block, k: int, max_memory: int) -> tuple[int, int]:
    """Say how many neighbours of each sample to list in (y, S) and in S; none if S is empty.

    Where columns with few levels leave m samples in a stratum of (y, S), the k-th neighbour in D
    continuous dimensions, that of x included, comes as near as to take in a share (k/m)^(1/D) of
    each of them; and where x is sparse by some factor, as far again as the D-th root of it. With
    few levels alone in S whole strata tie, and a list helps only if it holds the largest of them.
    Shorter lists only cost time, so memory has the last word.
    """
    n = joint.n_samples
    in_joint, joint_axes = spread(joint)
    in_given, given_axes = spread(given)
    if len(given) and not given_axes:
        in_given = float(np.bincount(given.codes()).max())
    farther = SPARSE * max(1.0, n / 1000) ** SPARSE_GROWTH
    share = (min(1.0, k / in_joint) * farther) ** (1.0 / (1 + joint_axes))
    wanted = np.array([in_joint * share**joint_axes, in_given * share**given_axes])
    affordable = max_memory / (NEIGHBOUR_BYTES * n)
    most = JOINT_SHARE * affordable if len(given) else affordable
    joint_length = min(wanted[0], n - 1, most)
    return int(joint_length), int(min(wanted[1], n - 1, affordable - joint_length))


def spread(block: Block) -> tuple[float, int]:
    """Return the samples in each joint level of the columns with few, and the number of others."""
    few = tuple(c for c in block.columns if c.is_discrete and c.levels() <= CLASS_LEVELS)
    n_levels = Block(few).codes().max() + 1 if few else 1
    return block.n_samples / n_levels, len(block) - len(few)


@dataclass(frozen=True, eq=False)
class BoundSpace:
    """What is known of (y, S), its samples in an order in which near ones follow each other.

    Parameters
    ----------
    order : array of int
        Which sample comes first, second, ...
    around : Neighbourhood
    strata : Strata or None
        Samples grouped, where that pays.
    is_smooth : bool
        Whether all columns are numbers of which hardly any two coincide.
    """

    order: IntArray
    around: Neighbourhood
    strata: Strata | None
    is_smooth: bool


def bind_space(target: Block, given: Block, k: int, scale: Scale, max_memory: int) -> BoundSpace:
    """Sort neighbours and, where that pays, group samples."""
    everything = to_space(target + given, target.n_samples, scale)
    order = spatial_order(everything.values)
    values, n_target = np.ascontiguousarray(everything.values[:, order]), len(target)
    joint = Space(values, everything.cap)
    alone = Space(values[n_target:].copy(), everything.cap[n_target:])
    strata = to_strata(target, given, k, scale)
    if strata is not None:
        strata = strata._replace(joint=strata.joint[order], given=strata.given[order])
        max_memory = min(max_memory, MEMORY_BESIDE_STRATA)
    around = to_neighbourhood(joint, alone, (target + given, given), k, max_memory)
    has_lists = around.joint_order.sample.shape[1] >= SHORTEST_LIST
    return BoundSpace(order, around, strata, has_lists and is_smooth(joint))


def is_smooth(space: Space) -> bool:
    """Say whether hardly any two samples coincide in any column, and narrow numbers hold them all.

    Where many do, exact distances would have to decide nearly always.
    """
    n_samples = space.values.shape[1]
    return bool(
        np.isinf(space.cap).all()
        and np.abs(space.values).max() < LARGEST_NARROW
        and all(len(np.unique(axis)) >= MOSTLY * n_samples for axis in space.values)
    )


def to_strata(target: Block, given: Block, k: int, scale: Scale) -> Strata | None:
    """Group samples that share (y, S), or return None where that would not pay."""
    joint = target + given
    if "continuous" in joint.feature_types:
        return None
    n = target.n_samples
    joint_codes = joint.codes()
    given_codes = given.codes() if len(given) else np.zeros(n, dtype=np.int64)
    if n < SAMPLES_PER_STRATUM * k * (joint_codes.max() + 1):
        return None
    joint_gap = gaps(to_space(joint, n, scale), joint_codes)
    given_gap = gaps(to_space(given, n, scale), given_codes)
    given_of_joint = given_codes[np.unique(joint_codes, return_index=True)[1]]
    safe = np.minimum(joint_gap, given_gap[given_of_joint])
    return Strata(
        joint_codes, group_starts(joint_codes), given_codes, group_starts(given_codes), safe
    )


def gaps(space: Space, codes: IntArray) -> FloatArray:
    """Return each stratum's distance to the nearest other one."""
    one_of_each = np.unique(codes, return_index=True)[1]
    points = Space(np.ascontiguousarray(space.values[:, one_of_each]), space.cap)
    distance, nearest = np.empty(len(one_of_each)), np.empty(len(one_of_each))
    for stratum in range(len(one_of_each)):
        distances_from(points, stratum, distance)
        distance[stratum] = np.inf
        nearest[stratum] = distance.min()
    return nearest


@dataclass(frozen=True, eq=False)
class NeighbourScorer:
    """Scores columns by the counts of neighbours around each sample.

    A sample's share is the sum of the rule's weights of its counts, in this unit of nats; the value
    is the mean share plus the offset.
    """

    known: BoundSpace
    rule: Rule
    unit: float
    offset: float
    to_candidate: Callable[[Block], Candidate]

    def score(self, batch: Batch) -> FloatArray:
        """Return I(x; y | S) in nats for every version of the candidate, shape (m,)."""
        known = self.known
        n_samples = len(known.order)
        check_same_length(batch, n_samples)
        candidate = self.to_candidate(batch.block)
        # An index would lay out many rows column by column but a single one not, and kernels would
        # be compiled for both.
        rows = np.take(batch.rows, known.order, axis=1)
        sums = np.empty(len(batch), dtype=np.int64)
        if len(batch.block) > 1:
            score_columns(candidate, rows, known.around, self.rule, sums)
        elif known.strata is not None:
            score_columns_in_strata(candidate, rows, known.strata, known.around, self.rule, sums)
        elif known.is_smooth and is_smooth(Space(candidate.values.T, candidate.cap)):
            places = np.empty(0, dtype=np.uint16 if n_samples <= FEW_SAMPLES else np.uint32)
            score_smooth_columns(candidate, rows, known.around, self.rule, sums, places)
        else:
            score_columns(candidate, rows, known.around, self.rule, sums)
        return self.offset + sums * self.unit / n_samples


def in_whole_numbers(k: int, strict: bool, weight: FloatArray) -> tuple[Rule, float]:
    """Return the rule with these weights as whole numbers, and the unit they are in."""
    unit = finest_unit(weight, len(weight))
    return Rule(k, strict, np.rint(weight / unit).astype(np.int64)), unit


def finest_unit(weight: FloatArray, n_samples: int) -> float:
    """Return the smallest power of two in which no sum of four weights a sample can overflow.

    With a million samples it is 2**-36, so that rounding stays far below 1e-10.
    """
    largest = 4.0 * n_samples * np.abs(weight).max()
    return float(2.0 ** (np.ceil(np.log2(largest)) - 62))
