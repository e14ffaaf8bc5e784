r"""Interaction scan: every pair and triple of columns, for what they share with the target jointly.

Columns and the target are reduced to a few levels, each the set of samples that has it, 64 samples
to a machine word; so a cell of a contingency table is a bitwise AND and a count of bits. The
statistic is 2N times the interaction information: what a pair has beyond both marginal terms, and a
triple beyond its pairs,

.. math:: G_{ij} = 2N [I(x_i, x_j; y) - I(x_i; y) - I(x_j; y)],

.. math::

    G_{ijk} = 2N [I(x_i, x_j, x_k; y) - \sum_{a < b} I(x_a, x_b; y) + \sum_a I(x_a; y)],

about chi-square distributed if y is independent of the columns. Tables differ in their degrees of
freedom: the largest G of each *family* of tables becomes a p-value, adjusted for the number of
tables in the family, and the smallest p-value of all families, as a standard normal quantile, is
the statistic of the scan. A permutation of the target has its own: no approximation is left in the
test.

Small scans are matrix products (`interaction_products`); others are compiled
(`interaction_kernels`), with the same values.

References
----------
Wan et al. (2010), BOOST: a fast approach to detecting gene-gene interactions in genome-wide
case-control studies, American Journal of Human Genetics 87(3).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import comb
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, hyperu, ndtri_exp, xlogy
from scipy.stats import chi2, rankdata

from pidselect.data import Block, Column, FloatArray, IntArray
from pidselect.data.column import renumbered
from pidselect.estimators.base import groups_of
from pidselect.estimators.knn.spaces import LANES

logger = logging.getLogger(__name__)

#: Which triples are searched: none, those of two features and a given column, or all with these.
Triples = Literal["none", "given", "all"]

#: Levels of a column at most.
MAX_LEVELS = 4

#: Classes of a target at most: the rarest are one class.
MAX_CLASSES = 6

#: Classes of a numeric target, by quantiles: three have the power of two for a shift of the mean,
#: and see a change of scale, too.
NUMERIC_CLASSES = 3

#: n ln n is rounded to a multiple of 1 / PRECISION: its sums are then exact in any order.
PRECISION = 2**24

#: Tables in one block of the work, about a tenth of a second for 16 permutations.
BLOCK_SIZE = 2**18

#: Triples in one block for every pair of columns at least.
TRIPLES_PER_PAIR = 8

#: Multiplications for a permutation up to which no kernel is compiled, as that takes longer: about
#: as long as 200 permutations; and those that take as long as looking up n ln n for a cell.
MAX_PRODUCTS, CELL = 10**9, 256

#: Samples up to which 32-bit numbers count exactly.
MAX_COUNT = 2**24

#: Time of looking up n ln n, in operations on a word: AND, count of bits and addition.
LOOKUP = 10

#: Chi-square values beyond which p-values are computed as logarithms.
FAR = 1000.0

#: The logarithm of a p-value is at most -ROUNDING.
ROUNDING = 2.0**-52

#: No interaction is below this.
LOWEST = -(2**62)

#: Sets of samples, 64 to a word.
Bits = NDArray[np.uint64]


class Planes(NamedTuple):
    """Columns as bits: each plane is the set of samples of one level of a column."""

    bits: Bits  # (n_planes, n_words), without the last level of each column
    first: IntArray  # (n_columns + 1,): the first plane of each column
    size: IntArray  # (n_planes,): the number of samples
    owner: IntArray  # (n_columns,): the feature of each column; negative for those given, the first


def few_levels(column: Column, n_levels: int = MAX_LEVELS) -> IntArray:
    """Return a column as at most `n_levels` levels 0, 1, ...

    Labels keep the most frequent levels, the others are one; numbers are cut at quantiles. Missing
    ones are a level of their own if there are more than two.
    """
    codes = column.codes()
    if codes.max(initial=0) < n_levels:
        return codes
    if column.feature_type == "nominal":
        order = np.argsort(-np.bincount(codes), kind="stable")
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return np.minimum(rank[codes], n_levels - 1)
    missing = np.isnan(column.values)
    n_parts = max(n_levels - bool(missing.any()), 2)
    cuts = _cuts(codes[~missing], n_parts)
    levels = np.searchsorted(cuts, codes, side="left")
    of_missing = n_parts
    if n_parts == n_levels:  # two levels leave none for missing values: these join the rarer one
        of_missing = int(np.argmin(np.bincount(levels[~missing])))
    levels[missing] = of_missing
    return renumbered(levels.astype(np.int64))


def _cuts(codes: IntArray, n_parts: int) -> IntArray:
    """Return the codes after which numbers are cut, for parts of about the same size.

    They depend on the order of the numbers alone, and are the same from both ends.
    """
    n_up_to = np.cumsum(np.bincount(codes))[:-1]
    cuts = []
    for part in range(1, n_parts):
        distance = np.abs(n_parts * n_up_to - part * len(codes))
        nearest = np.flatnonzero(distance == distance.min())
        cuts.append(nearest[0] if 2 * part <= n_parts else nearest[-1])
    return np.unique(np.array(cuts, dtype=np.int64))


def target_classes(target: Block, strata: IntArray | None = None) -> IntArray:
    """Return the class of every sample; numbers are cut at quantiles, within strata if given.

    Ranks within strata are exchangeable there, and leave out what differs between them.
    """
    classes = np.zeros(target.n_samples, dtype=np.int64)
    for column in target.columns:
        is_numeric = column.feature_type != "nominal" and column.levels() > NUMERIC_CLASSES + 1
        if is_numeric and strata is not None:
            column = _ranks_within(column, strata)
        codes = few_levels(column, NUMERIC_CLASSES if is_numeric else MAX_CLASSES)
        classes = renumbered(classes * MAX_CLASSES + codes)
    joint = Column("y", "nominal", classes.astype(np.float64))
    return few_levels(joint, MAX_CLASSES)


def _ranks_within(column: Column, strata: IntArray) -> Column:
    """Return the rank of every sample among those of its stratum, between 0 and 1."""
    codes = column.codes()
    ranks = np.empty(len(codes))
    for rows in groups_of(strata):
        ranks[rows] = (rankdata(codes[rows]) - 0.5) / len(rows)
    return Column(column.name, "continuous", ranks)


def pack(sets: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return sets of samples, (..., n_samples), as bits, (..., n_words)."""
    n_words = -(-sets.shape[-1] // 64)
    n_more = 64 * n_words - sets.shape[-1]
    padding = np.zeros((*sets.shape[:-1], n_more), dtype=np.bool_)
    padded = np.concatenate([sets, padding], axis=-1)
    return np.packbits(padded, axis=-1, bitorder="little").view(np.uint64)


def make_planes(
    features: Sequence[Block], n_levels: int = MAX_LEVELS, given: Block | None = None
) -> Planes:
    """Return the columns of features, reduced to a few levels, as bits; without constant ones.

    Given columns come first.
    """
    first = () if given is None else given.columns
    owned = [(-1 - place, column) for place, column in enumerate(first)]
    for place, block in enumerate(features):
        owned += [(place, column) for column in block.columns]
    n_samples = features[0].n_samples if features else 0
    joined = pack(np.empty((0, n_samples), dtype=np.bool_))
    bits: list[Bits] = []
    size: list[int] = []
    n_planes = [0]
    owner: list[int] = []
    for place, column in owned:
        levels = few_levels(column, n_levels)
        last = levels.max(initial=0)
        if last == 0:
            continue
        sets = levels == np.arange(last)[:, np.newaxis]
        bits.append(pack(sets))
        size += sets.sum(axis=1).tolist()
        n_planes.append(len(sets))
        owner.append(place)
    if bits:
        joined = np.concatenate(bits)
    return Planes(
        joined,
        np.cumsum(n_planes, dtype=np.int64),
        np.array(size, dtype=np.int64),
        np.array(owner, dtype=np.int64),
    )


def count_levels(column: Column, n_levels: int = MAX_LEVELS) -> int:
    """Return the number of levels of a column at most, from its type where that suffices."""
    return min(column.levels(), n_levels) if column.is_discrete else n_levels


def count_operations(n_levels: Sequence[int], n_samples: int, n_classes: int, order: int) -> float:
    """Return the operations on words of 64 samples that a permutation takes at most.

    `n_levels` are those of the columns; triples are of two levels each.
    """
    n_words = -(-n_samples // 64)
    of_count = (n_classes - 1) * n_words
    of_cell = LOOKUP * n_classes
    if order == 3:
        n_triples = comb(len(n_levels), 3)
        return float(n_triples * (of_count + 8 * of_cell))
    fine = np.array(n_levels, dtype=np.float64)
    binary = np.full(len(n_levels), 2.0)
    operations = 0.0
    for levels in (fine, binary):
        operations += of_count * _sum_of_products(levels - 1)
        operations += of_cell * _sum_of_products(levels)
    return operations


def _sum_of_products(values: FloatArray) -> float:
    """Return the sum over all pairs."""
    return float(values.sum() ** 2 - (values**2).sum()) / 2


def pair_bytes(n_columns: int, n_classes: int) -> int:
    """Return the bytes of the counts of all pairs that a scan of triples needs."""
    return comb(n_columns, 2) * (n_classes + 1) * 8 * LANES


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of all pairs or triples of some columns."""

    planes: Planes
    order: int  # 2 or 3; triples are of binary columns
    n_given: int = 0  # of the columns, which may be one of a triple
    only_given: bool = False  # only triples with one of these

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self.planes.owner)

    @property
    def n_third(self) -> int:
        """The number of columns that may be the third of a triple, the first ones."""
        return self.n_given if self.only_given else self.n_columns

    @cached_property
    def families(self) -> dict[int, int]:
        """The number of tables by degrees of freedom (for two classes)."""
        if self.order == 3:
            return {1: self._count_up_to(self.n_columns)}
        of_columns = np.bincount(np.diff(self.planes.first), minlength=MAX_LEVELS)
        families: dict[int, int] = {}
        for a in range(1, MAX_LEVELS):
            for b in range(1, a + 1):
                n = int(of_columns[a] * of_columns[b])
                if a == b:
                    n = comb(int(of_columns[a]), 2)
                if n:
                    families.setdefault(a * b, 0)
                    families[a * b] += n
        return families

    def _count_up_to(self, n_columns: int) -> int:
        """Return the number of pairs, or of triples, of the first columns."""
        if self.order == 2:
            return comb(n_columns, 2)
        n_free = max(n_columns - self.n_given, 0)
        n_triples = self.n_given * comb(n_free, 2)
        if not self.only_given:
            n_triples += comb(n_free, 3)
        return n_triples

    @cached_property
    def n_tables(self) -> int:
        """The number of tables."""
        return sum(self.families.values())

    @property
    def has_tuples(self) -> bool:
        """Whether there are columns of as many different features."""
        owner = self.planes.owner
        n_features = len(np.unique(owner[owner >= 0]))
        if self.order == 2 or (owner >= 0).all():
            return n_features >= self.order and not self.only_given
        return n_features >= 2

    def blocks(self) -> list[range]:
        """Return ranges of columns, each with about BLOCK_SIZE tables of it and those before."""
        size = BLOCK_SIZE
        if self.order == 3:  # each block counts the pairs of all columns before
            size = max(size, TRIPLES_PER_PAIR * comb(self.n_columns, 2))
        n_up_to = [self._count_up_to(i + 1) for i in range(self.n_columns)]
        block_of = np.array(n_up_to) // size
        changes = np.flatnonzero(np.diff(block_of)) + 1
        bounds = [0, *changes.tolist(), self.n_columns]
        return [range(start, stop) for start, stop in pairwise(bounds)]


@dataclass(frozen=True, eq=False)
class InteractionScan:
    """All tables of some features and a target, block by block."""

    tables: tuple[Tables, ...]
    classes: IntArray  # of every sample

    @classmethod
    def of(
        cls,
        features: Sequence[Block],
        target: Block,
        strata: IntArray | None,
        triples: Triples,
        given: Block | None = None,
    ) -> InteractionScan:
        """Reduce columns and target to a few levels.

        Pairs are searched with columns of up to four levels and, as an effect may need no more,
        with two; triples with two. A pair may act differently at the levels of a given column, so
        that triples with one of these are searched, too. There are no tables if fewer features
        vary, or the target does not.
        """
        fine = make_planes(features, MAX_LEVELS)
        binary = make_planes(features, 2)
        tables = [Tables(fine, 2)]
        if len(fine.size) > len(binary.size):
            tables.append(Tables(binary, 2))
        if triples != "none":
            planes = binary if given is None else make_planes(features, 2, given)
            n_given = int((planes.owner < 0).sum())
            tables.append(Tables(planes, 3, n_given=n_given, only_given=triples == "given"))
        classes = target_classes(target, strata)
        if not classes.any():
            return cls((), classes)
        usable = tuple(one for one in tables if one.has_tuples)
        return cls(usable, classes)

    @cached_property
    def class_sizes(self) -> IntArray:
        """The number of samples of each class."""
        return np.bincount(self.classes).astype(np.int64)

    @property
    def n_tables(self) -> int:
        """The number of tables."""
        return sum(tables.n_tables for tables in self.tables)

    @cached_property
    def blocks(self) -> list[tuple[int, range]]:
        """The blocks of the work: the number of the tables, and columns."""
        return [
            (place, columns)
            for place, tables in enumerate(self.tables)
            for columns in tables.blocks()
        ]

    @cached_property
    def families(self) -> list[tuple[int, int, int]]:
        """The families: the number of the tables, degrees of freedom, and the number of tables."""
        return [
            (place, df, n_tables)
            for place, tables in enumerate(self.tables)
            for df, n_tables in tables.families.items()
        ]

    @cached_property
    def is_small(self) -> bool:
        """Whether it is computed by matrix products: for more tables, compiling kernels pays."""
        n_samples = len(self.classes)
        n_cells = 0
        for tables in self.tables:
            n_planes = np.diff(tables.planes.first)
            n_levels = int(n_planes.max()) + 1
            n_cells += tables.n_tables * n_levels**tables.order
        n_products = n_cells * len(self.class_sizes) * (n_samples + CELL)
        is_small = n_products <= MAX_PRODUCTS and n_samples < MAX_COUNT
        if not is_small:
            logger.info(f"Interactions of {self.n_tables} tables: by compiled kernels")
        return is_small

    @cached_property
    def weight(self) -> IntArray:
        """The values of n ln n, as integers."""
        n = np.arange(len(self.classes) + 1, dtype=np.float64)
        return np.rint(PRECISION * xlogy(n, n)).astype(np.int64)

    def largest(self, block: int, rows: NDArray[np.int32]) -> tuple[FloatArray, IntArray]:
        """Return the largest G of each family in a block, and the features of the tuple.

        In permutation m, sample i has the candidates' values of sample ``rows[m, i]``. The shapes
        are (n_families, n_permutations) and (n_families, n_permutations, 3); families of other
        tables have -inf.
        """
        if self.is_small:
            from pidselect.significance.interaction_products import scan_block
        else:
            from pidselect.significance.interaction_kernels import scan_block
        place, columns = self.blocks[block]
        tables = self.tables[place]
        own = [family for family, (t, _, _) in enumerate(self.families) if t == place]
        shape = len(self.families), len(rows)
        values = np.full(shape, -np.inf)
        tuples = np.full((*shape, 3), -1, dtype=np.int64)
        best, tuples[own] = scan_block(self, tables, columns, rows)
        values[own] = 2.0 / PRECISION * best
        owner_or_none = np.append(tables.planes.owner, -1)
        return values, owner_or_none[tuples]

    def largest_values(self, blocks: Sequence[int], rows: NDArray[np.int32]) -> FloatArray:
        """Return the largest G in several blocks, (n_blocks, n_families, n_permutations)."""
        return np.stack([self.largest(block, rows)[0] for block in blocks])

    def permuted(self, rows: NDArray[np.int32]) -> IntArray:
        """Return permutations of the target, (n_permutations, n_samples)."""
        permuted = np.empty(rows.shape, dtype=np.int64)
        np.put_along_axis(permuted, rows, self.classes[np.newaxis], axis=1)
        return permuted

    def permuted_planes(self, rows: NDArray[np.int32], multiple: int) -> NDArray[np.uint64]:
        """Return permutations of the target as bits, (n_permutations, n_classes - 1, n_words).

        The first class is left out; the last permutation is repeated up to a multiple of a number.
        """
        permuted = self.permuted(rows)
        bits = [pack(permuted == k) for k in range(1, len(self.class_sizes))]
        planes = np.stack(bits, axis=1)
        n_repeated = -len(rows) % multiple
        return np.pad(planes, ((0, n_repeated), (0, 0), (0, 0)), "edge")

    def quantiles(self, largest: FloatArray) -> FloatArray:
        """Return the largest G of families, (..., n_families), as adjusted normal quantiles."""
        n_free = len(self.class_sizes) - 1
        each = [
            adjusted_quantile(largest[..., place], df * n_free, n_tables)
            for place, (_, df, n_tables) in enumerate(self.families)
        ]
        return np.stack(each, axis=-1)

    def statistic(self, largest: FloatArray) -> FloatArray:
        """Return the statistic of permutations, from (n_blocks, n_families, n_permutations)."""
        of_families = largest.max(axis=0).T
        return np.asarray(self.quantiles(of_families).max(axis=-1))


class Scanner(Protocol):
    """Computes the largest interactions on some device."""

    def largest_values(self, blocks: Sequence[int], rows: Any) -> FloatArray:
        """Return the largest G in several blocks, (n_blocks, n_families, n_permutations)."""


def adjusted_quantile(g: FloatArray, df: int, n_tables: int) -> FloatArray:
    """Return the normal quantile of the p-value of the largest of several chi-square values."""
    g = np.maximum(g, 0.0)
    far = np.maximum(g, FAR) / 2
    half = df / 2
    tail = half * np.log(far) - far
    tail = tail + np.log(hyperu(1, 1 + half, far)) - gammaln(half)
    near = chi2.logsf(np.minimum(g, FAR), df)
    log_p = np.where(g > FAR, tail, near)
    # log(1 - (1 - p)**n), which is n p for small p
    with np.errstate(divide="ignore"):
        log_none = n_tables * np.log1p(-np.exp(log_p))
        exact = np.log(-np.expm1(log_none))
        small = np.log(n_tables) + log_p
    # A p-value of 1 is rounded down, so that the quantile is finite.
    exact = np.minimum(exact, -ROUNDING)
    adjusted = np.where(small < -30.0, small, exact)
    return np.asarray(-ndtri_exp(adjusted))
