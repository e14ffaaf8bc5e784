r"""Score test: whether a candidate is informative about the target given S, without neighbours.

Let r be what S leaves of the target, and e what it leaves of a candidate (`estimators.regression`).
If the candidate has no information given S, functions :math:`\phi` of (e, S) are uncorrelated with
r. Each squared sum is divided by its own variance,

.. math:: T = \sum_j \frac{(\sum_i \phi_{ij} r_i)^2}{\sum_i \phi_{ij}^2 r_i^2},

so that noise that varies with S does not matter, and is added within a *family* of functions: line,
square, waves, products with S, and scale (with :math:`r^2`). Families are compared by
-log p (chi-square) plus the logarithm of their weight, and the largest value of a candidate is its
statistic. The null distribution is that of the largest statistic over all candidates with the rows
of r permuted, numerator and denominator computed again.

Two matrix products serve all candidates and permutations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, gammaln, ndtr, ndtri
from scipy.stats import rankdata

from pidselect.data import Block, Column, FloatArray, IntArray
from pidselect.estimators.logistic import fit_classes
from pidselect.estimators.regression import GroupMeans, Projection, Smoother, residuals, sized
from pidselect.estimators.scaling import normal_scores
from pidselect.significance.row_orders import RowOrders, find_strata, near_cells

#: Families of functions and their weights. Numbers have a line, labels indicators; missing values
#: are one of their own. A curve is of the slower half of the waves.
FAMILIES = {
    "label": 0.50,
    "line": 0.50,
    "square": 0.08,
    "missing": 0.20,
    "curve": 0.20,
    "wave": 0.12,
    "product": 0.07,
    "scale": 0.03,
}

#: Waves of a number, cosines of its rank, and samples from which they are used.
N_WAVES, WAVE_SAMPLES = 6, 50

#: Levels up to which a number is used as it is; of more, its normal scores.
FEW_LEVELS = 20

#: Columns of S that functions of a candidate are multiplied with, at most, and levels of a number
#: up to which all its powers are.
MAX_PRODUCTS, FEW_PRODUCTS = 30, 4

#: Rows of the rarest level that has an indicator.
MIN_ROWS = 3

#: The variance of a function is mixed with that of all rows, as of so many further rows, unless the
#: size of residuals depends on S, and then that of levels of few rows: a self-normalised sum over k
#: rows cannot exceed k, and its denominator varies if they are few.
PRIOR_ROWS = 30.0
RARE_ROWS, RARE_PRIOR_ROWS = 30, 10.0

#: Samples for every level of several labels together, and for every function of a feature.
SAMPLES_PER_LEVEL = 10

#: Levels of a label with an indicator each, at most; rarer ones share one.
MAX_LEVELS = 100

#: Length of a function beside those before it, relative to its own, below which it is redundant.
REDUNDANT = 1e-4

#: Added to squared residuals, relative to their mean, before the logarithm.
LEAST_SQUARE = 0.05

#: Standard deviation below which functions and residuals are rounding errors.
DETERMINED = 1e-9

#: Share of the deviance of classes below which S determines them.
DETERMINED_DEVIANCE = 0.02

#: Samples in a cell of S of each partition, at most a quarter of them.
CELLS = (12, 40)

#: Where nothing of a candidate is left: no statistic is smaller.
NOTHING = -50.0

#: Least denominator of a statistic whose functions and residuals have length 1 and sqrt(n).
LEAST = 1e-6

#: Functions of a candidate with the names of their families, each (n_samples, n_functions).
Functions = list[tuple[str, FloatArray]]


class Family(NamedTuple):
    """Functions of several candidates, alike in number."""

    name: str  # of the family; products with each column of S are subfamilies
    owners: IntArray  # (n_members,): positions of candidates
    functions: FloatArray  # (n_members, n_samples, n_functions)


@dataclass(frozen=True, eq=False)
class Bound:
    """The target and the conditioning set of a test: residuals, and what functions are made of."""

    given: Block
    groups: IntArray | None
    strata: IntArray | None  # within which rows are permuted, if S is discrete
    orders: RowOrders  # of the rows of residuals, under the null hypothesis
    mean: FloatArray  # (n_samples, n_directions): functions of the residuals
    scale: FloatArray | None  # those of their squares; none of classes
    projection: Projection | None  # that of the target
    smoother: Smoother | None
    has_even_noise: bool = False  # whether the size of residuals does not depend on S
    has_order: bool = False  # whether the first direction is that of the values of classes

    @property
    def is_determined(self) -> bool:
        """Whether S leaves nothing of the target."""
        return not self.mean.shape[1]

    @cached_property
    def design(self) -> FloatArray:
        """Columns of S that functions are multiplied with, standardized: strata, if there are."""
        columns = [_design(column) for column in self.given.columns]
        if self.strata is not None:
            columns = [_indicators(_joint(self.strata), MIN_ROWS)]
        z = np.concatenate([np.empty((len(self.mean), 0)), *columns], axis=1)
        return scaled(z[:, :MAX_PRODUCTS])

    @cached_property
    def moments(self) -> tuple[FloatArray, ...]:
        """The residuals of the target and, of numbers, their second and third moments."""
        if self.scale is None:
            return (self.mean,)
        r = self.mean
        third = self.centred(r**3 - 3.0 * r)
        return r, self.scale, scaled(third)

    @cached_property
    def partitions(self) -> tuple[list[IntArray], ...]:
        """The samples of cells of S, by their size; none within strata."""
        if not len(self.given) or self.strata is not None:
            return ()
        n_samples = len(self.mean)
        return tuple(near_cells(self.given, n_samples, min(n, n_samples // 4)) for n in CELLS)

    def centred(self, functions: FloatArray) -> FloatArray:
        """Return functions without what S explains of them."""
        if self.smoother is None:
            codes = self.orders.groups if self.orders.scheme == "global" else None
            means = functions.mean(axis=0) if codes is None else GroupMeans(codes)(functions)
            return functions - means
        left, _ = self.smoother.residual(functions)
        return left if self.projection is None else self.projection.residual(left)

    def projected(self, functions: FloatArray) -> FloatArray:
        """Return functions without their fit by the very regression of the target."""
        if self.projection is None:
            return self.centred(functions)
        return self.projection.residual(functions)


def bind(
    target: Block, given: Block, groups: IntArray | None = None, scheme: str = "global"
) -> Bound:
    """Regress the target on S.

    Rows are permuted within groups; within the joint levels of S, too, where all of them are large
    enough.
    """
    target, given = sized(target), sized(given)
    n_samples = target.n_samples
    strata = find_strata(given, groups) if scheme == "global" else None
    orders = RowOrders(scheme, n_samples, groups if strata is None else strata)
    smoother = Smoother.of(given, groups) if len(given) and strata is None else None
    bound = Bound(given, groups, strata, orders, np.empty((n_samples, 0)), None, None, smoother)
    if len(target) > 1 and all(column.is_discrete for column in target.columns):
        joint = target.codes()
        if joint.max() < MAX_LEVELS:
            target = Block((_joint(joint),))
    has_order = len(target) == 1 and _has_order(target.columns[0])
    means, of_numbers = [], []
    projection: Projection | None = None
    has_even_noise = True
    for column in target.columns:
        if _is_label(column):
            means.append(_class_residuals(column, bound))
            has_even_noise &= smoother is None
            continue
        left, own, explains_size = _number_residuals(column, bound)
        has_even_noise &= not explains_size
        projection = projection or own
        means.append(left)
        of_numbers.append(left)
    mean = _orthonormal(np.concatenate(means, axis=1))
    bound = replace(bound, projection=projection, has_even_noise=has_even_noise)
    scale = None
    if of_numbers:
        numbers = np.concatenate(of_numbers, axis=1)
        first, second = np.triu_indices(numbers.shape[1])
        scale = _orthonormal(bound.centred(numbers[:, first] * numbers[:, second]))
    return replace(bound, mean=mean, scale=scale, has_order=has_order and mean.shape[1] > 1)


def _evened(residual: FloatArray, bound: Bound) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return residuals, (n_samples, n_columns), over the size that S explains of them.

    Returns also of which it explains any. Any function of S may divide a residual; samples of large
    noise would else outweigh all others.
    """
    if bound.smoother is None:
        return residual, np.zeros(residual.shape[1], dtype=np.bool_)
    squares = residual**2
    mean = squares.mean(axis=0)
    size = np.log(squares + LEAST_SQUARE * np.where(mean > 0, mean, 1.0))
    left, is_explained = bound.smoother.residual(size)
    explained = size - size.mean(axis=0) - left
    return residual * np.where(is_explained, np.exp(-0.5 * explained), 1.0), is_explained


def _has_order(column: Column) -> bool:
    """Return whether classes are numbers, which may be counts or grades."""
    return column.feature_type == "nominal" and column.labels is None and column.levels() > 2


def _number_residuals(column: Column, bound: Bound) -> tuple[FloatArray, Projection | None, bool]:
    """Return what S leaves of a number, as normal scores, the regression, and if S has its size."""
    left, projection = column, None
    if bound.smoother is not None:
        (found,) = residuals(bound.given, [column], bound.groups, 1, bound.smoother)
        left, projection = found.column, found.projection
    else:
        values = bound.centred(_filled(column.values[:, np.newaxis]))[:, 0]
        values = np.where(np.isnan(column.values), np.nan, values)
        left = Column(column.name, "continuous", values)
    missing = np.isnan(left.values)
    values = np.where(missing, 0.0, left.values)
    if values.std() < DETERMINED:
        return np.empty((len(values), 0)), projection, False
    present = ~missing
    functions = np.zeros((len(values), 1))
    evened, is_explained = _evened(values[:, np.newaxis], bound)
    kept = evened[present]
    functions[present] = _scores(kept) if column.levels() > FEW_LEVELS else kept - kept.mean()
    if missing.any():
        functions = np.column_stack([functions, missing])
    return scaled(bound.centred(functions)), projection, bool(is_explained[0])


def _class_residuals(column: Column, bound: Bound) -> FloatArray:
    """Return indicators of classes without their probabilities given S.

    If classes are numbers, their mean value without that given S comes first.
    """
    indicators = _indicators(column, 1)
    if indicators.shape[1] < 2:
        return np.empty((len(indicators), 0))
    if bound.smoother is None:
        left = bound.centred(indicators)
    else:
        fit = fit_classes(bound.smoother, indicators)
        frequency = indicators.mean(axis=0)
        null = -2.0 * len(indicators) * (frequency * np.log(frequency)).sum()
        if fit.deviance < DETERMINED_DEVIANCE * null:
            return np.empty((len(indicators), 0))
        left = indicators - fit.probabilities
    found = left[:, 1:]
    if _has_order(column):
        values = _filled(column.values[:, np.newaxis])[:, 0]
        of_classes = values @ indicators / indicators.sum(axis=0)
        found = np.column_stack([left @ (of_classes - of_classes.mean()), found])
    return np.asarray(found)


# --- functions of candidates ----------------------------------------------------------------------


def functions_of(candidates: Sequence[Block], bound: Bound) -> list[Functions]:
    """Return the functions of each candidate, by family."""
    candidates = [sized(block) for block in candidates]
    are_numbers = [_is_number(block) for block in candidates]
    numbers = [block.columns[0] for block in compress(candidates, are_numbers)]
    of_numbers = iter(_number_functions(numbers, bound))
    return [
        next(of_numbers) if is_number else _block_functions(block, bound)
        for block, is_number in zip(candidates, are_numbers, strict=True)
    ]


def families(
    functions: Sequence[Functions], bound: Bound, wanted: Collection[str] = FAMILIES
) -> list[Family]:
    """Return the functions of candidates by family, orthonormal within each."""
    made = dict[tuple[str, int], list[tuple[int, FloatArray]]]()
    for owner, own in enumerate(functions):
        for name, some in own:
            if name in wanted and some.shape[1]:
                made.setdefault((name, some.shape[1]), []).append((owner, some))
    found = [_family(name, members, bound) for (name, _), members in made.items()]
    if "scale" in wanted:  # by the lines of numbers
        found += [family._replace(name="scale") for family in found if family.name == "line"]
    return found


def _family(name: str, members: Sequence[tuple[int, FloatArray]], bound: Bound) -> Family:
    """Return functions of several candidates without what S explains of them."""
    functions = np.stack([some for _, some in members], axis=1)
    flat = functions.reshape(len(functions), -1)
    left = bound.projected(flat) if name == "label" else bound.centred(flat)
    by_member = left.reshape(functions.shape).transpose(1, 0, 2)
    owners = np.array([owner for owner, _ in members])
    return Family(name, owners, _orthonormalised(by_member))


def _is_label(column: Column) -> bool:
    return column.feature_type == "nominal" or column.levels() <= 2


def _is_number(block: Block) -> bool:
    return len(block) == 1 and not _is_label(block.columns[0])


def _number_functions(columns: Sequence[Column], bound: Bound) -> list[Functions]:
    """Return the functions of each column of numbers, by family."""
    if not columns:
        return []
    values = np.stack([column.values for column in columns], axis=1)
    missing: NDArray[np.bool_] = np.isnan(values)
    has_missing = np.atleast_1d(missing.any(axis=0))
    levels = np.array([column.levels() for column in columns])
    left, explained = values, np.zeros(len(columns))
    if bound.smoother is not None:
        of_columns = residuals(bound.given, columns, bound.groups, 0, bound.smoother)
        left = np.stack([residual.column.values for residual in of_columns], axis=1)
        explained = np.array([residual.r_squared for residual in of_columns])
    else:
        left = np.where(missing, np.nan, bound.centred(_filled(values)))
    is_left = np.where(missing, 0.0, left).std(axis=0) >= DETERMINED
    evened, _ = _evened(_filled(left), bound)
    z = np.where(missing, 0.0, scaled(evened))
    is_fine = levels > FEW_LEVELS
    whole = np.flatnonzero(is_fine & ~has_missing)
    z[:, whole] = _scores(evened[:, whole])
    for each in np.flatnonzero(is_fine & has_missing):
        present = np.flatnonzero(~np.isnan(values[:, each]))
        z[present, each] = _scores(evened[present][:, [each]])[:, 0]
    found: list[Functions] = []
    for place, score in enumerate(z.T):
        absent = missing[:, place] if has_missing[place] else None
        functions = _functions_of_scores(score, int(levels[place]), absent)
        factor = score[:, np.newaxis]
        if levels[place] <= FEW_PRODUCTS:  # as those of a label, in powers
            factor = dict(functions)["powers"]
        of_s = list(bound.design.T)
        if explained[place] > 0:
            remainder = np.nan_to_num(left[:, [place]])
            remainder *= np.sqrt(max(1.0 - explained[place], 0.0))
            of_s.append(_scores(scaled(_filled(values[:, [place]])) - remainder)[:, 0])
        functions += [("product", factor * column[:, np.newaxis]) for column in of_s]
        found.append(functions if is_left[place] else [])
    return found


def _functions_of_scores(
    z: FloatArray, levels: int, missing: NDArray[np.bool_] | None
) -> Functions:
    """Return functions of one number by family; missing values have 0 in all of them."""
    powers = np.column_stack([z, z * z - 1.0, z**3 - 3.0 * z])[:, : max(1, levels - 1)]
    waves = np.empty((len(z), 0))
    if levels > FEW_LEVELS and len(z) >= WAVE_SAMPLES:
        waves = np.cos(np.pi * ndtr(z)[:, np.newaxis] * np.arange(1, N_WAVES + 1))
    functions = [
        ("line", powers[:, :1]),
        ("square", powers[:, 1:2]),
        ("powers", powers),
        ("wave", waves),
    ]
    if missing is not None:
        powers[missing], waves[missing] = 0.0, 0.0
        functions.append(("missing", missing[:, np.newaxis].astype(np.float64)))
    return functions


def _filled(values: FloatArray) -> FloatArray:
    """Return columns with missing values at the mean."""
    missing = np.isnan(values)
    if not missing.any():
        return values
    return np.where(missing, np.nanmean(values, axis=0), values)


def _block_functions(block: Block, bound: Bound) -> Functions:
    """Return the functions of a label, or of several columns, by family.

    Labels together are one label of their joint levels, unless these are too many. Families of
    several columns hold the functions of each, and squares the products of two columns, too.
    """
    if all(_is_label(column) for column in block.columns):
        codes = block.codes()
        if len(block) == 1 or codes.max() < max(2, len(codes) // SAMPLES_PER_LEVEL):
            functions = _indicators(_joint(codes), MIN_ROWS)[:, 1:]
            products = [("product", functions * s[:, np.newaxis]) for s in bound.design.T]
            return [("label", functions), ("scale", functions), *products]
    nothing = np.empty((len(bound.mean), 0))
    of_columns = [
        {"line": _indicators(column, MIN_ROWS)[:, 1:]}
        if _is_label(column)
        else dict(_number_functions([column], bound)[0])
        for column in block.columns
    ]
    names = ("line", "missing", "square", "powers")
    joined = {
        name: np.concatenate([some.get(name, nothing) for some in of_columns], axis=1)
        for name in names
    }
    waves = [some["wave"] for some in of_columns if some.get("wave", nothing).shape[1]]
    if waves:  # slow ones first
        joined["wave"] = np.stack(waves, axis=2).reshape(len(nothing), -1)
    pairs = [
        (first["line"][:, :, np.newaxis] * second["line"][:, np.newaxis]).reshape(len(nothing), -1)
        for first, second in combinations(of_columns, 2)
        if "line" in first and "line" in second
    ]
    joined["square"] = np.concatenate([joined["square"], *pairs], axis=1)
    most, line = len(nothing) // SAMPLES_PER_LEVEL, joined["line"]
    products = [("product", line * s[:, np.newaxis]) for s in bound.design.T]
    kept = [(name, some) for name, some in joined.items() if some.shape[1] <= most]
    return [*kept, *products]


def _joint(codes: IntArray) -> Column:
    """Return joint levels as one label, whose codes have no order."""
    names = tuple(map(str, range(int(codes.max(initial=0)) + 1)))
    return Column("joint", "nominal", codes.astype(np.float64), names)


def _indicators(column: Column, least: int) -> FloatArray:
    """Return indicators of levels from frequent to rare; levels of few rows share the last one."""
    codes = column.codes()
    counts = np.bincount(codes)
    order = np.argsort(-counts, kind="stable")
    kept = [level for level in order[:MAX_LEVELS] if counts[level] >= least]
    columns = [codes == level for level in kept]
    others = ~np.isin(codes, kept)
    if others.sum() >= least:
        columns.append(others)
    return np.column_stack(columns).astype(np.float64)


def _design(column: Column) -> FloatArray:
    """Return a column of S as functions are multiplied with it."""
    if _is_label(column):
        indicators = _indicators(column, MIN_ROWS)
        return indicators[:, 1:] if indicators.shape[1] > 1 else indicators
    missing = [np.isnan(column.values)] if column.has_missing else []
    return np.column_stack([np.nan_to_num(column.made(normal_scores)), *missing])


# --- statistics -----------------------------------------------------------------------------------


def statistics(
    made: Sequence[Family], bound: Bound, n_candidates: int, rows: IntArray, keeps_all: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the statistics of the data, (n_families, n_candidates), and those of permutations.

    In permutation m, sample i has the residual of sample ``rows[m, i]``; the first are the data.
    The statistics of permutations are the largest over all candidates, (1, n_permutations), or with
    `keeps_all` those of each candidate, (n_candidates, n_permutations).
    """
    names = list(FAMILIES)
    observed = np.full((len(names), n_candidates), NOTHING)
    null = np.full((n_candidates if keeps_all else 1, len(rows) - 1), NOTHING)
    counts = np.zeros((len(names), n_candidates), dtype=np.int64)  # of subfamilies
    for family in made:
        np.add.at(counts[names.index(family.name)], family.owners, 1)
    counts[names.index("curve")] = counts[names.index("wave")]
    counts *= 2 if bound.has_order else 1
    for family in made:
        for name, sums, freedom in _sums(family, bound, rows):
            number = names.index(name)
            n_members = counts[number, family.owners]
            weight = np.log(FAMILIES[name] / n_members)
            value = _log_p(sums[:, :1], freedom[:, np.newaxis])[:, 0] + weight
            np.maximum.at(observed[number], family.owners, np.where(freedom > 0, value, NOTHING))
            if keeps_all:
                value = _log_p(sums[:, 1:], freedom[:, np.newaxis]) + weight[:, np.newaxis]
                value[freedom == 0] = NOTHING
                np.maximum.at(null, family.owners, value)
                continue
            # Of functions alike, the largest sum has the largest value.
            alike = np.stack([freedom, n_members], axis=1)
            for free, count in np.unique(alike[freedom > 0], axis=0):
                largest = sums[(alike == (free, count)).all(axis=1), 1:].max(axis=0)
                value = _log_p(largest, free) + np.log(FAMILIES[name] / count)
                np.maximum(null[0], value, out=null[0])
    return observed, null


def _sums(
    family: Family, bound: Bound, rows: IntArray
) -> Iterator[tuple[str, FloatArray, IntArray]]:
    """Yield names of families, their self-normalised sums, and the numbers of these.

    The sums have the shape (n_members, n_permutations). Those of the first half of the waves are
    of curves. Those with the first direction, if it is the order of classes, come first.
    """
    part = bound.scale if family.name == "scale" else bound.mean
    if part is None or not part.shape[1]:
        return
    members, n_samples, width = family.functions.shape
    flat = family.functions.transpose(0, 2, 1).reshape(-1, n_samples)
    squares = flat**2
    is_function = (squares.sum(axis=1) > 0.5).reshape(members, width)
    total = np.zeros((len(flat), len(rows)))
    fourth = (squares**2).sum(axis=1)
    effective = 1.0 / np.maximum(fourth, 1.0 / n_samples)[:, np.newaxis]  # rows
    is_rare = effective < RARE_ROWS if family.name == "label" else False
    prior = PRIOR_ROWS if bound.has_even_noise else np.where(is_rare, RARE_PRIOR_ROWS, 0.0)
    for number, direction in enumerate(part.T, start=1):
        permuted = direction[rows].T
        variance = effective * (squares @ permuted**2) + prior
        total += (flat @ permuted) ** 2 * (effective + prior) / np.maximum(variance, LEAST)
        if number == part.shape[1] or (number == 1 and bound.has_order):
            by_member = total.reshape(members, width, -1)
            parts = [(family.name, width)]
            if family.name == "wave":
                parts.append(("curve", width // 2))
            for name, n in parts:
                yield name, by_member[:, :n].sum(axis=1), number * is_function[:, :n].sum(axis=1)


def _log_p(sums: FloatArray, freedom: IntArray | int) -> FloatArray:
    """Return -log p of chi-square values."""
    half = np.maximum(freedom, 1) / 2.0
    tail = gammaincc(half, sums / 2.0)
    with np.errstate(divide="ignore"):
        x = np.maximum(sums / 2.0, 1e-300)
        far = x - (half - 1.0) * np.log(x) + gammaln(half)
        return np.where(tail > 1e-290, -np.log(np.maximum(tail, 1e-300)), far)


# --- scaling --------------------------------------------------------------------------------------


def scaled(values: FloatArray) -> FloatArray:
    """Return columns with mean 0 and standard deviation 1; constant ones are 0."""
    centred = values - values.mean(axis=0)
    deviation = centred.std(axis=0)
    return np.asarray(centred / np.where(deviation > 1e-12, deviation, 1.0))


def _scores(values: FloatArray) -> FloatArray:
    """Return normal scores of columns."""
    return np.asarray(ndtri((rankdata(values, axis=0) - 0.375) / (len(values) + 0.25)))


def _orthonormal(values: FloatArray) -> FloatArray:
    """Return directions of residuals, orthogonal and of length sqrt(n)."""
    centred = values - values.mean(axis=0)
    found = _orthonormalised(centred[np.newaxis])[0]
    return np.asarray(found[:, (found**2).sum(axis=0) > 0.5] * np.sqrt(len(values)))


def _orthonormalised(functions: FloatArray) -> FloatArray:
    """Return functions of each member made orthonormal in their order; redundant ones are 0."""
    length = np.sqrt((functions**2).sum(axis=1, keepdims=True))
    scale = np.where(length > DETERMINED * np.sqrt(functions.shape[1]), length, 1.0)
    unit = np.where(length > DETERMINED * np.sqrt(functions.shape[1]), functions / scale, 0.0)
    for j in range(unit.shape[2]):
        column = unit[:, :, j]
        before = unit[:, :, :j]
        if j:
            for _ in range(2):
                along = np.einsum("mnk,mn->mk", before, column)
                column = column - np.einsum("mnk,mk->mn", before, along)
        left = np.sqrt((column**2).sum(axis=1, keepdims=True))
        is_new = left > REDUNDANT
        unit[:, :, j] = np.where(is_new, column / np.where(is_new, left, 1.0), 0.0)
    return unit
