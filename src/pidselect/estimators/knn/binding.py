"""Binding and scoring of the nearest-neighbour estimators: scaling, neighbour lists, kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from pidselect.data import CLASS_LEVELS, Block, Column, FloatArray, IntArray, check_choice
from pidselect.estimators.base import Batch, Scorer, as_numbers, check_same_length, group_starts
from pidselect.estimators.knn.continuous import score_continuous
from pidselect.estimators.knn.discrete import Strata, score_discrete, score_labels
from pidselect.estimators.knn.general import score_general
from pidselect.estimators.knn.neighbour_lists import list_neighbours, spatial_order
from pidselect.estimators.knn.single import score_single
from pidselect.estimators.knn.spaces import (
    LANES,
    Candidate,
    CountingRule,
    RankedColumns,
    SingleColumns,
    Space,
    TargetSpaces,
    bounding_boxes,
    distances_from,
    rank_columns,
    sort_column,
    sort_order,
    sorted_by,
)
from pidselect.estimators.scaling import normal_scores, zscores

Scale = Literal["zscore", "rank"] | None
SCALES: tuple[Scale, ...] = ("zscore", "rank", None)

#: Coordinate of a missing value, far from all others.
MISSING_COORDINATE = 1e300

#: Largest unscaled number, well below the coordinate of a missing one.
MAX_VALUE = 1e290

#: Values of the candidates that are scored by one call of the kernel for single columns.
STACKED_VALUES = 2**18

#: Bytes of a listed neighbour: index and distance.
NEIGHBOUR_BYTES = 12

#: List lengths allow for x this many times sparser than on average at 1,000 samples. Beyond the
#: list radius a search takes the longer the more samples there are, hence the power of N.
SPARSENESS, SPARSENESS_POWER = 30.0, 0.3

#: Bytes of the lists of a bound estimator: shorter lists only take longer. The share for lists in
#: (y, S) and, where strata make lists serve only candidates of several columns, for all of them.
LIST_BYTES, JOINT_SHARE, SHARE_BESIDE_STRATA = 2**30, 2 / 3, 1 / 4

#: The single-column kernel needs lists in (y, S) of this length, and 32-bit distances.
MIN_LIST, MAX_FLOAT32 = LANES, 1e30

#: Average number of neighbours within distance 1 from which the single-column kernel pays.
MIN_WITHIN = 48

#: Average number of samples from which strata are used, in multiples of k.
SAMPLES_PER_STRATUM = 10

#: Samples from which a single column S is searched by its sorted values, not by lists.
MIN_SORTED_SAMPLES = 400

#: Samples from which the largest number of neighbours within a radius is estimated.
RADIUS_SAMPLES = 64


class NeighbourEstimator(BaseEstimator):
    """What `KSG` and `Mixed` share: parameters k and scale, and binding by neighbour lists."""

    k: int
    scale: Scale

    @property
    def uses_ranks_only(self) -> bool:
        """Whether the estimate is invariant under strictly monotone maps of numeric columns."""
        return self.scale == "rank"

    def formula(self, n_samples: int) -> Formula:
        """Return how counts of neighbours become a value."""
        raise NotImplementedError

    def bind(self, target: Block, given: Block) -> Scorer:
        """List every sample's neighbours in (y, S) and in S."""
        formula = checked_formula(self, target.n_samples)
        return self._bind(formula.accept(target), formula.accept(given), formula)

    def _bind(self, target: Block, given: Block, formula: Formula) -> Scorer:
        return NeighbourScorer(bind_target(target, given, formula), formula)

    def estimate(self, x: Block, target: Block, given: Block) -> float:
        """Return I(x; y | S) in nats, as ``bind(target, given).score`` does, without lists."""
        n_samples = target.n_samples
        formula = checked_formula(self, n_samples)
        of_x, of_target, of_given = (
            to_space(formula.accept(block), n_samples, formula.scale)
            for block in (x, target, given)
        )
        total = score_single(of_x, of_target, of_given, formula.rule)
        return formula.offset + total * formula.unit / n_samples


def checked_formula(estimator: NeighbourEstimator, n_samples: int) -> Formula:
    """Return the formula; refuse invalid parameters, and fewer than k + 2 samples."""
    k = estimator.k
    if isinstance(k, bool) or not isinstance(k, Integral) or k < 1:
        raise ValueError(f"k={k!r}: the number of neighbours must be an integer of at least 1.")
    check_choice(estimator.scale, SCALES, "scale")
    if n_samples < k + 2:
        raise ValueError(
            f"{k} nearest neighbours need at least {k + 2} samples, but there are "
            f"n_samples={n_samples}. Provide more samples or choose a smaller k."
        )
    return estimator.formula(n_samples)


def scaled(column: Column, scale: Scale) -> FloatArray:
    """Return the coordinates of a column: scaled numbers, or the codes of labels."""
    if column.feature_type == "nominal":
        return column.codes().astype(np.float64)
    if scale is not None:
        values: FloatArray = column.made(zscores if scale == "zscore" else normal_scores)
    else:
        values = column.values
        if np.nanmax(np.abs(values)) > MAX_VALUE:
            raise ValueError(
                f"column {column.name!r} holds numbers beyond {MAX_VALUE:g}, whose distances "
                'overflow. Use scale="zscore" or "rank".'
            )
    return np.where(np.isnan(values), MISSING_COORDINATE, values) if column.has_missing else values


def max_distances(block: Block) -> FloatArray:
    """Return the largest distance of each column: 1 for labels, else infinity."""
    return np.array(
        [1.0 if feature_type == "nominal" else np.inf for feature_type in block.feature_types]
    )


def to_space(block: Block, n_samples: int, scale: Scale) -> Space:
    """Return the scaled samples of a block, which may be empty."""
    values = np.empty((len(block), n_samples))
    for axis, column in zip(values, block.columns, strict=True):
        axis[:] = scaled(column, scale)
    return Space(values, max_distances(block))


def has_only_labels(block: Block) -> bool:
    """Return whether all columns of a block have labels."""
    return set(block.feature_types) == {"nominal"}


def to_candidate(block: Block, scale: Scale) -> Candidate:
    """Return the scaled samples of a candidate, sorted by its first column."""
    columns = [scaled(column, scale) for column in block.columns]
    values = np.ascontiguousarray(np.stack(columns, axis=1))
    # Scaling keeps the order, so that one order serves all scales.
    order = block.columns[0].made(sort_order)
    return Candidate(values, max_distances(block), sorted_by(order, columns[0]))


def list_lengths(joint: Block, given: Block, k: int, share: float = 1.0) -> tuple[int, int]:
    """Return the lengths of lists in (y, S) and in S, in a share of the memory; 0 if S is empty.

    Columns with few levels leave a stratum of (y, S) to be searched; lists suffice for the largest.
    """
    n = joint.n_samples
    in_joint, joint_axes = samples_and_axes(joint)
    in_given, given_axes = samples_and_axes(given)
    sparseness = SPARSENESS * max(1.0, n / 1000) ** SPARSENESS_POWER
    per_axis = axis_share(k, in_joint, joint_axes, sparseness)
    wanted = np.array([in_joint * per_axis**joint_axes, in_given * per_axis**given_axes])
    affordable = share * LIST_BYTES / (NEIGHBOUR_BYTES * n)
    joint_limit = JOINT_SHARE * affordable if len(given) else affordable
    joint_length = min(wanted[0], n - 1, joint_limit)
    return int(joint_length), int(min(wanted[1], n - 1, affordable - joint_length))


def axis_share(k: int, n_samples: float, joint_axes: int, sparseness: float = 1.0) -> float:
    """Return the share of samples in each axis within the distance of the k-th neighbour.

    (k/N)^(1/D) in D continuous dimensions, x and those of (y, S), times the D-th root of the
    sparseness of x.
    """
    return float((min(1.0, k / n_samples) * sparseness) ** (1.0 / (1 + joint_axes)))


def samples_and_axes(block: Block) -> tuple[float, int]:
    """Return the most samples of a joint level of columns with few, and the number of others."""
    few = tuple(c for c in block.columns if c.is_discrete and c.levels() <= CLASS_LEVELS)
    most = np.bincount(Block(few).codes()).max() if few else block.n_samples
    return float(most), len(block) - len(few)


class BoundTarget(NamedTuple):
    """The target and the conditioning set, with samples in `spatial_order`."""

    order: IntArray  # the original index of each sample
    spaces: TargetSpaces
    numeric: TargetSpaces  # without labels, for radii of 1 or more; empty if not needed
    strata: Strata | None  # samples grouped by (y, S), if all columns are discrete with few levels
    ranks: RankedColumns  # empty if there are no lists, or if 32 bits do not hold all numbers
    has_labels: bool  # whether some column of (y, S) has labels
    only_labels: bool  # whether all columns have


def bind_target(target: Block, given: Block, formula: Formula) -> BoundTarget:
    """List neighbours in (y, S) and in S, and choose the kernels."""
    k, scale, joint = formula.k, formula.scale, target + given
    everything = to_space(joint, target.n_samples, scale)
    order = spatial_order(everything.values)
    everything = everything._replace(values=np.ascontiguousarray(everything.values[:, order]))
    is_label = np.isfinite(everything.max_distance)
    needs_numeric = is_label.any() and not is_label[: len(target)].all()
    strata = to_strata(target, given, k, scale)
    if strata is not None:
        strata = strata._replace(joint=strata.joint[order], given=strata.given[order])
    is_sorted = len(given) == 1 and given.feature_types[0] != "nominal"
    is_sorted &= target.n_samples >= MIN_SORTED_SAMPLES
    share = (1.0 if strata is None else SHARE_BESIDE_STRATA) / (1 + needs_numeric)
    lengths = (0, 0)  # with labels alone, samples of a stratum are all at distance 0
    if not is_label.all():
        lengths = list_lengths(joint, Block() if is_sorted else given, k, share)
    max_radius = 1.0 if is_label.any() else np.inf
    spaces = to_spaces(everything, len(target), lengths, max_radius, is_sorted)
    numbers = np.flatnonzero(~is_label & needs_numeric)
    numeric = bind_numbers(
        Space(everything.values[numbers], everything.max_distance[numbers]),
        int((numbers < len(target)).sum()),
        share,
    )
    n_listed = spaces.joint_lists.sample.shape[1]
    has_lists = n_listed >= MIN_LIST
    if has_lists and is_label.any():
        has_lists = np.isfinite(spaces.joint_lists.distance).mean() * n_listed >= MIN_WITHIN
    fits = np.abs(everything.values).max() < MAX_FLOAT32
    return BoundTarget(
        order,
        spaces,
        numeric,
        strata,
        rank_columns(everything.values if has_lists and fits else everything.values[:0]),
        bool(is_label.any()),
        bool(is_label.all()),
    )


def bind_numbers(joint: Space, n_target: int, share: float) -> TargetSpaces:
    """List all neighbours within distance 1, where no label matters, as far as memory allows."""
    limit, n_samples = np.nextafter(1.0, np.inf), joint.values.shape[1]
    given = Space(joint.values[n_target:], joint.max_distance[n_target:])
    joint_length, given_length = (most_within(space, limit) for space in (joint, given))
    affordable = share * LIST_BYTES // (NEIGHBOUR_BYTES * n_samples)
    if joint_length + given_length > affordable:
        joint_length = given_length = 0
    return to_spaces(joint, n_target, (joint_length, given_length), limit)


def most_within(space: Space, radius: float) -> int:
    """Return about the largest number of samples within a radius of one; 0 without columns."""
    n_samples, most, distance = space.values.shape[1], 0, np.empty(space.values.shape[1])
    if not len(space.values):
        return 0
    for sample in range(0, n_samples, -(-n_samples // RADIUS_SAMPLES)):
        distances_from(space, sample, distance)
        most = max(most, int((distance < radius).sum()))
    return most


def to_spaces(
    joint: Space,
    n_target: int,
    lengths: tuple[int, int],
    max_radius: float = np.inf,
    is_sorted: bool = False,
) -> TargetSpaces:
    """Return the spaces (y, S) and S with neighbour lists of these lengths, up to a radius.

    Columns of y come first. If S `is_sorted`, its one column is, and lists of S are not needed.
    """
    given = Space(joint.values[n_target:].copy(), joint.max_distance[n_target:])
    joint_boxes, given_boxes = bounding_boxes(joint), bounding_boxes(given)
    joint_length, given_length = lengths
    return TargetSpaces(
        joint,
        joint.values.T.copy(),
        joint_boxes,
        list_neighbours(joint, joint_boxes, joint_length, max_radius),
        given,
        given_boxes,
        list_neighbours(given, given_boxes, given_length, max_radius),
        sort_column(given.values[0] if is_sorted else np.empty(0)),
    )


def to_strata(target: Block, given: Block, k: int, scale: Scale) -> Strata | None:
    """Group samples by (y, S) and by S; None if not discrete, or too many groups of numbers."""
    joint = target + given
    if "continuous" in joint.feature_types:
        return None
    n = target.n_samples
    joint_codes = joint.codes()
    given_codes = given.codes() if len(given) else np.zeros(n, dtype=np.int64)
    has_numbers = set(joint.feature_types) != {"nominal"}
    if has_numbers and n < SAMPLES_PER_STRATUM * k * (joint_codes.max() + 1):
        return None
    joint_gap = gaps(to_space(joint, n, scale), joint_codes)
    given_gap = gaps(to_space(given, n, scale), given_codes)
    given_of_joint = given_codes[np.unique(joint_codes, return_index=True)[1]]
    gap = np.minimum(joint_gap, given_gap[given_of_joint])
    starts = group_starts(joint_codes), group_starts(given_codes)
    groups = joint_codes, starts[0], given_codes, starts[1], gap
    return Strata(*groups, len(given) > 0, has_only_labels(target))


def gaps(space: Space, codes: IntArray) -> FloatArray:
    """Return each stratum's distance to the nearest other one."""
    representatives = np.unique(codes, return_index=True)[1]
    points = Space(np.ascontiguousarray(space.values[:, representatives]), space.max_distance)
    distance, nearest = np.empty((2, len(representatives)))
    for stratum in range(len(representatives)):
        distances_from(points, stratum, distance)
        distance[stratum] = np.inf
        nearest[stratum] = distance.min()
    return nearest


@dataclass(frozen=True, eq=False)
class Formula:
    """A nearest-neighbour estimator: the offset plus the mean weight of the counts of a sample."""

    k: int
    strict: bool
    scale: Scale
    weight: FloatArray  # by count
    offset: float

    def accept(self, block: Block) -> Block:
        """Return a block as the estimator takes it; KSG, whose counts are strict, needs numbers."""
        return as_numbers(block, "KSG") if self.strict else block

    @cached_property
    def unit(self) -> float:
        """The smallest power of two in which sums of four weights per sample do not overflow.

        With a million samples it is 2**-36, so that rounding errors are far below 1e-10.
        """
        largest = 4.0 * len(self.weight) * np.abs(self.weight).max()
        return float(2.0 ** (np.ceil(np.log2(largest)) - 62))

    @cached_property
    def rule(self) -> CountingRule:
        """The rule with weights rounded to integers, in multiples of the unit."""
        weight = np.rint(self.weight / self.unit).astype(np.int64)
        return CountingRule(self.k, self.strict, weight, np.inf)


@dataclass(frozen=True, eq=False)
class NeighbourScorer:
    """Scores candidates by counts of neighbours."""

    bound: BoundTarget
    formula: Formula

    def score(self, batch: Batch) -> FloatArray:
        """Return I(x; y | S) in nats for every permutation of the candidate, shape (m,)."""
        values: FloatArray = self.score_together([batch.block], batch.rows)[0]
        return values

    def score_together(self, blocks: Sequence[Block], rows: NDArray[np.int32]) -> FloatArray:
        """Return the same for several candidates that are permuted alike, (n_candidates, m)."""
        # Indexing would return column-major rows for many permutations but not for a single one,
        # and kernels would be compiled for both.
        ordered = np.take(rows, self.bound.order, axis=1)
        sums = np.zeros((len(blocks), len(rows)), dtype=np.int64)
        for block in blocks:
            check_same_length(block, len(self.bound.order))
        blocks = [self.formula.accept(block) for block in blocks]
        singles = [self._to_single_column(block) for block in blocks]
        stacked = [
            place
            for place, block in enumerate(blocks)
            if singles[place] and self.bound.strata is None and not has_only_labels(block)
        ]
        size = max(1, STACKED_VALUES // rows.shape[1])
        all_open = np.empty((0, rows.shape[1]), dtype=np.bool_)
        spaces = self.bound.spaces, self.bound.ranks, self._rule()
        for start in range(0, len(stacked), size):
            some = stacked[start : start + size]
            together = map(np.concatenate, zip(*(singles[place] for place in some), strict=True))
            sums[some] = score_continuous(SingleColumns(*together), ordered, all_open, *spaces)
        for place in set(range(len(blocks))).difference(stacked):
            self._add(blocks[place], singles[place], ordered, sums[place])
        return self.formula.offset + sums * self.formula.unit / len(self.bound.order)

    def _rule(self, only_labels: bool = False) -> CountingRule:
        """Return the rule for candidates that have labels only, or for others."""
        has_labels = only_labels or self.bound.has_labels
        return self.formula.rule._replace(max_radius=1.0 if has_labels else np.inf)

    def _to_single_column(self, block: Block) -> SingleColumns | tuple[()]:
        """Return a candidate for the kernel for single columns; empty if it is for another one."""
        bound, column = self.bound, block.columns[0]
        needs_numeric = len(bound.numeric.joint.values) > 0 and not has_only_labels(block)
        if len(block) > 1 or needs_numeric or not len(bound.ranks.rank):
            return ()
        values, order = scaled(column, self.formula.scale), column.made(sort_order)
        if not -MAX_FLOAT32 < values[order[0]] <= values[order[-1]] < MAX_FLOAT32:
            return ()
        return SingleColumns(values[np.newaxis], order[np.newaxis])

    def _add(
        self,
        block: Block,
        single: SingleColumns | tuple[()],
        rows: NDArray[np.int32],
        sums: NDArray[np.int64],
    ) -> None:
        """Add the weights of all counts of a candidate, in units of the formula."""
        bound, only_labels, n_samples = self.bound, has_only_labels(block), rows.shape[1]
        rule = self._rule(only_labels)
        if bound.only_labels and only_labels and bound.strata is not None:
            score_labels(block.codes(), rows, bound.strata, rule, sums)
            return
        is_open = np.empty((0, n_samples), dtype=np.bool_)
        if len(block) == 1 and bound.strata is not None:
            is_open = np.zeros(rows.shape, dtype=np.bool_)
            candidate = to_candidate(block, self.formula.scale)
            if not score_discrete(candidate, rows, bound.strata, rule, sums, is_open):
                return
        if single:
            sums += score_continuous(single, rows, is_open, bound.spaces, bound.ranks, rule)[0]
            return
        candidate = to_candidate(block, self.formula.scale)
        score_general(candidate, rows, is_open, bound.spaces, bound.numeric, rule, sums)
