"""Regression on the conditioning set S: what it leaves of a candidate and of the target.

For any functions g and f, I(x; y | S) = I(x - g(S); y - f(S) | S). The residuals are easier to
test: where x and y follow S closely, as a total follows its parts, samples near in S still differ
in S, and both x and y follow these differences, which appears as dependence. In residuals it is
left only as far as *both* regressions fail, as their errors are multiplied.

Every response is fitted by ridge regressions on several bases: lines, products, and the kernels of
smooth functions of one, of two and of all columns of S. That with the smallest leave-one-out error
is used. A target that depends on S closely, but not by lines and products, is also fitted with a
metric learnt from the gradients of the fit, for functions of few directions of S, and with pieces
of lines, for functions with kinks and jumps.

References
----------
Shah and Peters (2020), The hardness of conditional independence testing and the generalised
covariance measure, Annals of Statistics. Radhakrishnan, Beaglehole, Pandit and Belkin (2024),
Mechanism for feature learning in neural networks and backpropagation-free machine learning models,
Science, for the metric.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations_with_replacement
from math import comb
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.linalg import solve_triangular
from scipy.special import ndtri
from threadpoolctl import threadpool_limits

from pidselect.data import CLASS_LEVELS, Block, Column, FloatArray, IntArray
from pidselect.estimators.evidence import Design, design_of, functions_of, prior_variances
from pidselect.estimators.pieces import linear_pieces
from pidselect.estimators.scaling import normal_scores

#: Points of a kernel that span its functions, at most half of the samples: of sums of functions of
#: one or two columns and in a learnt metric, and of functions of all columns.
LANDMARKS, RADIAL_LANDMARKS = 100, 200

#: Columns up to which there are functions of all of them; of more, if most are no indicators.
FEW_COLUMNS = 10

#: Degrees of freedom of a regression, and the number of products of columns, in the samples.
MAX_FREEDOM, MAX_PRODUCTS = 1 / 3, 1 / 5

#: Leverage of a sample that is left out, at most.
MAX_LEVERAGE = 0.9

#: Penalties per sample: of lines and products, and of kernels.
LIGHT_PENALTIES = np.array([1e-10, 1e-4, 1e-2])
KERNEL_PENALTIES = 10.0 ** np.arange(-10.0, 1.1, 0.75)

#: A basis replaces a simpler one if its squared error is smaller by this factor.
IMPROVEMENT = 0.98

#: Products of functions of columns whose sizes are found by marginal likelihood.
MAX_WEIGHTED_PRODUCTS = 240

#: R squared from which metric and pieces are tried, and up to which a column is used as it is, one
#: of numbers and one of two labels: labels vary by chance even where S is informative.
STRONG, WEAK, WEAK_LABELS = 0.3, 0.02, 0.4

#: R squared by the first bases from which the others are tried.
NOTICED = 0.1

#: Samples beyond which only lines, products and sums of functions of one column are fitted: others
#: would take minutes and gigabytes.
MANY_SAMPLES = 20_000

#: Values of recent regressions that are kept.
MAX_KEPT = 2**22

#: Columns that are regressed together.
BLOCK = 1000

#: Residuals below this share of the standard deviation are rounding errors: S determines x.
DETERMINED = 1e-9

#: Decimals of residuals, in standard deviations, of information in bits, and of statistics; more
#: would depend on the order of summation.
DECIMALS = 9

#: Size of numbers that have squares, and its inverse.
MIN_SIZE = 1e-50

#: Refinements of a fit to incomplete data.
N_FILLS = 6

#: Added to the diagonal of a kernel, relative to its mean, so that it is positive definite.
JITTER = 1e-8

#: Share of a metric that is the same in all directions.
ROUND_METRIC = 1e-3

#: Fourth moment of a standardized column from which a map of it is tried, the quantiles by which,
#: and the factor of its squared error from which it is used: in a map noise is not even.
HEAVY, QUANTILES = 6.0, np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98])
MAP_IMPROVEMENT = 0.75

#: How often a metric is learnt, and the widths of the kernel in it.
N_METRICS, METRIC_WIDTHS = 3, (0.35, 0.7, 1.5)

#: One thread for products of matrices: more would wait for each other, and sum in another order.
one_blas_thread = partial(threadpool_limits, 1, user_api="blas")

#: Entry of the stream key of the choice of landmarks.
SPREAD = 0x7370_7264


class Residual(NamedTuple):
    """A column without what S explains of it."""

    column: Column
    r_squared: float  # of left-out samples
    projection: Projection | None = None  # by which it was found; None if S explains nothing


@dataclass(frozen=True, eq=False)
class Projection:
    """What one regression leaves of any functions: its basis and penalty, chosen for a column."""

    axes: FloatArray  # (n_samples, n_axes), orthonormal
    shrinkage: FloatArray  # (n_axes,)
    means: GroupMeans

    def residual(self, functions: FloatArray) -> FloatArray:
        """Return functions, (n_samples, n_functions), without their fits."""
        centred = functions - self.means(functions)
        along = self.axes.T @ centred
        return np.asarray(centred - self.axes @ (self.shrinkage[:, np.newaxis] * along))


@dataclass(frozen=True, eq=False)
class Regression:
    """The target and the candidates of a step, regressed on S."""

    target: Block
    found: Mapping[str, Residual]  # by the names of columns
    r_squared: float = 0.0  # of the target, of several columns the smallest

    @classmethod
    def of(
        cls, target: Block, columns: Sequence[Column], given: Block, groups: IntArray | None = None
    ) -> Regression:
        """Regress the target and the columns of candidates; not if S is empty."""
        if not len(given):
            return cls(target, {})
        # A column may have the same name as the target.
        n_target = len(target.columns)
        found = residuals(given, [*target.columns, *columns], groups, n_refined=n_target)
        left = Block(tuple(residual.column for residual in found[:n_target]))
        names = (column.name for column in columns)
        r_squared = min(residual.r_squared for residual in found[:n_target])
        return cls(left, dict(zip(names, found[n_target:], strict=True)), r_squared)

    def residual(self, block: Block) -> Block:
        """Return a candidate whose columns are replaced by their residuals."""
        if not self.found:
            return block
        return Block(tuple(self.found[column.name].column for column in block.columns))


class RecentRegressions:
    """Regressions of a few steps: tests that go on bind again, but fit nothing again."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, ...], tuple[Sequence[Column], Regression]] = {}
        self._lock = Lock()

    def find(
        self, target: Block, columns: Sequence[Column], given: Block, groups: IntArray | None
    ) -> Regression:
        """Return a regression of the same columns, or a new one; groups are always the same."""
        used = (*target.columns, *given.columns, *columns)
        key = (len(given.columns), *map(id, used))
        if (kept := self._kept.get(key)) is not None:
            return kept[1]
        regression = Regression.of(target, columns, given, groups)
        with self._lock:
            if len(used) * given.n_samples <= MAX_KEPT // 16:
                self._kept[key] = used, regression  # the columns, so that no other has their ids
            while sum(map(len, self._kept)) * given.n_samples > MAX_KEPT:
                self._kept.pop(next(iter(self._kept)), None)
        return regression


def residuals(
    given: Block,
    columns: Sequence[Column],
    groups: IntArray | None = None,
    n_refined: int = 1,
    smoother: Smoother | None = None,
) -> list[Residual]:
    """Return the residuals of columns that are regressed on S, each sample left out of its fit.

    Numbers and two labels are regressed; a column of more labels, or one that does not depend on S,
    is returned as it is. Missing values stay missing. If there are groups of rows, each has a mean
    of its own, as samples are permuted within groups. Values are in standard deviations. Only the
    first `n_refined` columns, those of the target, are fitted with metrics and pieces: errors are
    multiplied, so that one good fit suffices. A `smoother` of S lends its regressions.
    """
    given, columns = sized(given), sized(Block(tuple(columns))).columns
    found = [Residual(column, 0.0) for column in columns]
    are_labels = (column.feature_type == "nominal" and column.levels() > 2 for column in columns)
    regressed = [place for place, is_kept in enumerate(are_labels) if not is_kept]
    smoother = smoother or Smoother.of(given, groups, has_cells=False)
    with one_blas_thread():
        for start in range(0, len(regressed), BLOCK):
            places = regressed[start : start + BLOCK]
            n = sum(place < n_refined for place in places)
            fits = _Fits.of([columns[place] for place in places], _standardized, smoother, n)
            heavy = [number for number, column in enumerate(fits.columns) if _is_heavy(column)]
            if heavy:
                some = [fits.columns[number] for number in heavy]
                mapped = _Fits.of(some, _mapped, smoother, sum(number < n for number in heavy))
            for number in np.flatnonzero(fits.error <= 1.0 - fits.weak).tolist():
                found[places[number]] = fits.residual(number)
            for own, number in enumerate(heavy):
                if mapped.error_of_scores(own) < MAP_IMPROVEMENT * fits.error_of_scores(number):
                    found[places[number]] = mapped.residual(own)
    return found


def sized(block: Block) -> Block:
    """Return a block whose numbers are of a size that has squares."""
    columns = list(block.columns)
    for place, column in enumerate(columns):
        largest = np.nanmax(np.abs(column.values), initial=0.0)
        if largest > 0.0 and not MIN_SIZE < largest < 1.0 / MIN_SIZE:
            # A power of two changes no digit.
            values = np.ldexp(column.values, -int(np.frexp(largest)[1]))
            columns[place] = Column(column.name, column.feature_type, values, column.labels)
    return Block(tuple(columns))


@dataclass(frozen=True, eq=False)
class _Fits:
    """Columns that are regressed, and the best fit of each so far; shapes are (..., n_columns)."""

    columns: Sequence[Column]
    values: FloatArray  # standardized; 0 if missing
    missing: NDArray[np.bool_]
    left: FloatArray  # of left-out values
    error: FloatArray  # mean squared error of these; the variance of values is 1
    weak: FloatArray  # R squared up to which a column is used as it is
    is_simple: NDArray[np.bool_]  # by lines and products
    projections: list[Projection | None]

    @classmethod
    def of(
        cls,
        columns: Sequence[Column],
        view: Callable[[FloatArray], FloatArray],
        smoother: Smoother,
        n_refined: int,
    ) -> _Fits:
        """Fit columns in a view of their values, the first ones as targets."""
        values = np.stack([column.made(view) for column in columns], axis=1)
        missing = np.stack([np.isnan(column.values) for column in columns], axis=1)
        weak = [WEAK_LABELS if c.feature_type == "nominal" else WEAK for c in columns]
        n = len(columns)
        nothing: list[Projection | None] = [None] * n
        left, error, simple = values.copy(), np.ones(n), np.ones(n, dtype=np.bool_)
        fits = cls(columns, values, missing, left, error, np.array(weak), simple, nothing)
        fits.improve(smoother.first, np.arange(n))
        if len(noticed := np.flatnonzero(error <= 1.0 - np.maximum(NOTICED, weak))):
            fits.improve(smoother.more, noticed)
        for number in range(n_refined):
            _refine(fits, number, smoother)
        return fits

    def improve(self, ridges: Iterable[Ridge], places: IntArray) -> None:
        """Fit some columns by further regressions, and keep what is better."""
        values, missing = self.values[:, places], self.missing[:, places]
        known = (~missing).sum(axis=0)
        for ridge in ridges:
            left, shrinkage = ridge.residuals(values, missing)
            error = np.square(left).sum(axis=0, where=~missing) / known
            better = np.flatnonzero(error < IMPROVEMENT * self.error[places])
            chosen = places[better]
            self.left[:, chosen], self.error[chosen] = left[:, better], error[better]
            self.is_simple[chosen] = ridge.basis.is_simple
            for place, own in zip(chosen, shrinkage.T[better], strict=True):
                self.projections[place] = Projection(ridge.axes, own, ridge.means)

    def error_of_scores(self, place: int) -> float:
        """Return the mean squared error of left-out values as normal scores, alike in all views."""
        present = ~self.missing[:, place]
        values, left = self.values[present, place], self.left[present, place]
        scores, order = normal_scores(values), np.argsort(values, kind="stable")
        predicted = np.interp(values - left, values[order], scores[order])
        return float(((predicted - scores) ** 2).mean())

    def residual(self, place: int) -> Residual:
        """Return the residuals of the best fit of a column."""
        column = self.columns[place]
        values = np.where(self.missing[:, place], np.nan, self.left[:, place])
        deviation = np.nanstd(values)
        if deviation < DETERMINED:
            values = np.where(self.missing[:, place], np.nan, 0.0)
        else:
            values = np.round(values / deviation, DECIMALS)
        left = Column(column.name, "continuous", values)
        return Residual(left, 1.0 - float(self.error[place]), self.projections[place])


def _is_heavy(column: Column) -> bool:
    """Return whether a column is of numbers of which a few are far from the others."""
    is_number = column.feature_type != "nominal" and column.levels() > 2
    return is_number and float(np.mean(column.made(_standardized) ** 4)) > HEAVY


def _mapped(values: FloatArray) -> FloatArray:
    """Map by the logarithm, or else to about a normal distribution by a smooth function.

    Normal scores would be rough.
    """
    present = values[~np.isnan(values)]
    if present.min() > 0:
        return _standardized(np.log(values))
    end = 1 / (len(present) + 1)
    knots = np.quantile(present, [0, *QUANTILES, 1])
    is_new = np.concatenate([[True], np.diff(knots) > 1e-9 * (knots[-1] - knots[0])])
    if is_new.sum() < 4:
        return _standardized(values)
    normal = ndtri(np.array([end, *QUANTILES, 1 - end]))
    return _standardized(PchipInterpolator(knots[is_new], normal[is_new])(values))


def _standardized(values: FloatArray) -> FloatArray:
    """Return a column with mean 0 and standard deviation 1; missing values become 0."""
    deviation = np.nanstd(values)
    return np.nan_to_num((values - np.nanmean(values)) / (deviation if deviation > 0 else 1.0))


@dataclass(frozen=True, eq=False)
class Smoother:
    """Ridge regressions on all bases of S, for any number of functions.

    With `has_cells` there are, in addition, the cells of discrete columns.
    """

    given: Block
    means: GroupMeans
    has_cells: bool

    @classmethod
    def of(cls, given: Block, groups: IntArray | None = None, has_cells: bool = True) -> Smoother:
        """Return the smoother of S; each group of rows has a mean of its own."""
        one_group = np.zeros(given.n_samples, dtype=np.int64)
        return cls(given, GroupMeans(one_group if groups is None else groups), has_cells)

    @cached_property
    def design(self) -> FloatArray:
        """The columns of S."""
        return _design(self.given, _standardized)

    @cached_property
    def first(self) -> list[Ridge]:
        """Regressions on simple bases, by which most dependences are noticed."""
        cells = _cell_bases(self.given, self.design) if self.has_cells else ()
        is_heavy = any(map(_is_heavy, self.given.columns))
        mapped = [_design(self.given, _mapped)] if is_heavy else []
        return self._ridges([*_first_bases([self.design, *mapped]), *cells])

    @cached_property
    def more(self) -> list[Ridge]:
        """Regressions on further bases, for what depends on S."""
        return self._ridges(_more_bases(self.design))

    @cached_property
    def _columns(self) -> Design:
        n_products = min(MAX_WEIGHTED_PRODUCTS, len(self.design) // 2)
        return design_of([functions_of(column) for column in self.given.columns], n_products)

    def weighted(self, responses: FloatArray, are_classes: bool = False) -> list[Ridge]:
        """Return a regression with sizes of functions by the marginal likelihood of responses.

        There is none for many samples, and if no function is informative.
        """
        if len(responses) > MANY_SAMPLES:
            return []
        design = self._columns
        found = [prior_variances(design, response, are_classes) for response in responses.T]
        variance = np.mean(found, axis=0)
        variance[0] = 0.0  # the constant
        used = np.flatnonzero(variance)
        features = np.sqrt(variance[used]) * design.features[used].T
        penalty = 1.0 / len(responses)
        if are_classes:
            penalty /= float(responses.var(axis=0).mean())
        basis = _Basis(features, np.array([penalty]), False)
        return self._ridges([basis]) if len(used) else []

    def _ridges(self, bases: Iterable[_Basis]) -> list[Ridge]:
        ridges = (Ridge.of(basis, self.means) for basis in bases)
        return [ridge for ridge in ridges if len(ridge.freedom)]

    def residual(self, functions: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Return leave-one-out residuals of functions, (n_samples, n_functions).

        Each is fitted by the basis and the penalty with the smallest error by generalised
        cross-validation, and left as it is, centred, if none is better than its mean. Returns also
        for each whether S explains any of it.
        """
        centred = functions - self.means(functions)
        total = (centred**2).sum(axis=0)
        least, chosen = total.copy(), np.full((2, len(total)), -1)
        self._choose(centred, 0, self.first, np.arange(len(total)), least, chosen)
        noticed = np.flatnonzero(least < (1.0 - NOTICED) * total)
        if len(noticed):
            self._choose(centred, len(self.first), self.more, noticed, least, chosen)
        for number in np.unique(chosen[0][chosen[0] >= 0]).tolist():
            ridge = (*self.first, *(self.more if len(noticed) else ()))[number]
            places = np.flatnonzero(chosen[0] == number)
            centred[:, places] = ridge.left_out(centred[:, places], chosen[1, places])
        return centred, chosen[0] >= 0

    def _choose(
        self,
        centred: FloatArray,
        first: int,
        ridges: Sequence[Ridge],
        places: IntArray,
        least: FloatArray,
        chosen: IntArray,
    ) -> None:
        """Write the numbers of regression and penalty that fit functions better than others."""
        values, total = centred[:, places], (centred[:, places] ** 2).sum(axis=0)
        for number, ridge in enumerate(ridges, start=first):
            errors = ridge.generalised_errors(ridge.axes.T @ values, total)
            best = errors.argmin(axis=0)
            error = errors[best, np.arange(len(best))]
            better = error < IMPROVEMENT * least[places]
            least[places[better]] = error[better]
            chosen[0, places[better]], chosen[1, places[better]] = number, best[better]


def _cell_bases(given: Block, z: FloatArray) -> list[_Basis]:
    """Return the joint levels of columns of few levels, if there are any and not too many."""
    discrete = [c for c in given.columns if c.is_discrete and c.levels() <= CLASS_LEVELS]
    if not discrete:
        return []
    codes = Block(tuple(discrete)).codes()
    n_cells = int(codes.max()) + 1
    if n_cells > MAX_FREEDOM * given.n_samples:
        return []
    cells = (codes[:, np.newaxis] == np.arange(n_cells)).astype(np.float64)
    return [_Basis(np.concatenate([cells, z], axis=1), KERNEL_PENALTIES, True)]


def _design(given: Block, view: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Return the columns of S, (n_samples, n_columns), in a view of their values.

    Labels are indicators of levels but the most frequent, one for 20 samples at most; missing
    values are at the mean, with an indicator.
    """
    columns = [np.zeros(given.n_samples)]  # labels of one level have no function
    for column in given.columns:
        if column.feature_type == "nominal":
            codes = column.codes()
            by_count = np.argsort(-np.bincount(codes), kind="stable")
            used = by_count[1 : 1 + max(1, len(codes) // 20)]
            columns += [(codes == level).astype(float) for level in used]
            continue
        columns.append(column.made(view))
        if column.has_missing:
            columns.append(np.isnan(column.values).astype(float))
    design = np.stack(columns[1:] or columns, axis=1)
    return np.asarray(design - design.mean(axis=0))


class _Basis(NamedTuple):
    """Functions of S, (n_samples, n_features), and the penalties of their coefficients."""

    features: FloatArray
    penalties: FloatArray
    is_simple: bool  # lines and products only


def _first_bases(designs: Sequence[FloatArray]) -> Iterator[_Basis]:
    """Yield bases from simple to complex; most dependences are noticed in one of them."""
    for z in designs:
        yield _Basis(z, LIGHT_PENALTIES, True)
    for z in designs:
        if _has_products(z):
            yield _Basis(np.concatenate([z, _products(z)], axis=1), LIGHT_PENALTIES, True)
    yield from _kernel_bases(designs[0], [SMOOTH], [1.0])


def _more_bases(z: FloatArray) -> Iterator[_Basis]:
    """Yield bases for what depends on S."""
    n_columns = z.shape[1]
    if comb(n_columns + 3, 3) <= MAX_FREEDOM * len(z):
        places = combinations_with_replacement(range(n_columns), 3)
        cubes = np.stack([z[:, i] * z[:, j] * z[:, k] for i, j, k in places], axis=1)
        features = np.concatenate([z, _products(z), cubes], axis=1)
        yield _Basis(features, LIGHT_PENALTIES, True)
    if len(z) <= MANY_SAMPLES:
        kernels = [_Additive(_gaussian, 1.0, 1), _Additive(_gaussian, 3.0, 2)]
        yield from _kernel_bases(z, kernels, [0.5])


def _kernel_bases(
    z: FloatArray, additive: Sequence[_Additive], widths: Sequence[float]
) -> Iterator[_Basis]:
    """Yield the functions of kernels: sums over columns that are no indicators, and radial ones.

    Widths of radial ones are relative; there are none of many indicators, by which all samples are
    far from each other.
    """
    n_columns = z.shape[1]
    curved = z[:, [len(np.unique(column)) > 2 for column in z.T]]
    for kernel in additive:
        if kernel.order <= curved.shape[1]:
            yield _kernel_basis(z, curved, kernel, LANDMARKS)
    is_near = n_columns <= FEW_COLUMNS or 2 * curved.shape[1] >= n_columns
    for width in widths if n_columns > 1 and is_near else ():
        if len(z) <= MANY_SAMPLES:
            radial = _Radial(width * np.sqrt(n_columns))
            yield _kernel_basis(z, z, radial, RADIAL_LANDMARKS)


def _kernel_basis(z: FloatArray, points: FloatArray, kernel: _Kernel, n_landmarks: int) -> _Basis:
    """Return the functions of a kernel."""
    return _Basis(_kernel_features(z, points, kernel, n_landmarks), KERNEL_PENALTIES, False)


def _has_products(z: FloatArray) -> bool:
    """Return whether there are samples enough for all squares and products of columns."""
    return z.shape[1] * (z.shape[1] + 1) // 2 <= MAX_PRODUCTS * len(z)


def _products(z: FloatArray) -> FloatArray:
    """Return the squares and products of columns."""
    first, second = np.triu_indices(z.shape[1])
    return z[:, first] * z[:, second]


def _matern(distance: FloatArray) -> FloatArray:
    """Return the Matern kernel 3/2: functions with kinks are nearly of this kind."""
    scaled = np.sqrt(3.0) * distance
    return np.asarray((1.0 + scaled) * np.exp(-scaled))


def _gaussian(distance: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-0.5 * distance**2))


#: Two sets of points, (n, n_columns) and (m, n_columns) -> values of the kernel, (n, m).
_Kernel = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True)
class _Radial:
    """A function of the distance in all columns."""

    width: float

    def __call__(self, points: FloatArray, others: FloatArray) -> FloatArray:
        squares = (points**2).sum(axis=1)[:, np.newaxis] + (others**2).sum(axis=1)
        distance = np.sqrt(np.maximum(squares - 2.0 * points @ others.T, 0.0))
        return _gaussian(distance / self.width)


@dataclass(frozen=True)
class _Additive:
    """Sums of functions of one column, or of one and of two columns."""

    profile: Callable[[FloatArray], FloatArray]
    width: float
    order: int

    def __call__(self, points: FloatArray, others: FloatArray) -> FloatArray:
        n_columns = points.shape[1]
        total, squares = np.zeros((2, len(points), len(others)))
        for column, other in zip(points.T, others.T, strict=True):
            value = self.profile(np.abs(column[:, np.newaxis] - other) / self.width)
            total += value
            squares += value**2
        if self.order == 1:
            return np.asarray(total / n_columns)
        n_pairs = n_columns * (n_columns - 1)
        return np.asarray(total / n_columns + (total**2 - squares) / n_pairs)


#: Sums of smooth functions of one column.
SMOOTH = _Additive(_matern, 4.0, 1)

#: Functions of all columns, in units of their width.
RADIAL = _Radial(1.0)


def _kernel_features(
    z: FloatArray, points: FloatArray, kernel: _Kernel, n_landmarks: int = LANDMARKS
) -> FloatArray:
    """Return features whose products are nearly a kernel's values (Nystroem), with products of z.

    The kernel is evaluated at `points`, which may be z in another metric.
    """
    rows = _spread(z)[: min(n_landmarks, len(z) // 2)]
    values = kernel(points, points[rows])
    among = values[rows]
    root = np.linalg.cholesky(among + JITTER * np.trace(among) / len(among) * np.eye(len(among)))
    features = solve_triangular(root, values.T, lower=True, check_finite=False).T
    parts = [features, 0.3 * z]
    if _has_products(z):
        parts.append(0.1 * _products(z))
    return np.concatenate(parts, axis=1)


def _spread(z: FloatArray) -> IntArray:
    """Return a random order of the samples that depends on their values, not on their rows."""
    by_value = np.lexsort(z.T)
    rng = np.random.default_rng([SPREAD, len(z)])
    return np.asarray(by_value[rng.permutation(len(z))], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class GroupMeans:
    """Means over the samples of each group."""

    groups: IntArray

    @cached_property
    def sizes(self) -> IntArray:
        """The number of samples of each group."""
        return np.bincount(self.groups)

    @property
    def own_share(self) -> FloatArray:
        """The share of each sample in the mean of its group, (n_samples, 1)."""
        return np.asarray(1.0 / self.sizes[self.groups])[:, np.newaxis]

    def __call__(self, values: FloatArray) -> FloatArray:
        """Return the mean of the group of every sample, for each column."""
        if len(self.sizes) == 1:
            return values.mean(axis=0, keepdims=True)
        sums = np.zeros((len(self.sizes), values.shape[1]))
        np.add.at(sums, self.groups, values)
        return np.asarray((sums / self.sizes[:, np.newaxis])[self.groups])


@dataclass(frozen=True, eq=False)
class Ridge:
    """Ridge regression on a basis by all penalties, for any responses."""

    basis: _Basis
    axes: FloatArray  # (n_samples, n_axes), orthonormal
    shrinkage: FloatArray  # (n_penalties, n_axes)
    freedom: FloatArray  # (n_penalties,): degrees of freedom
    means: GroupMeans

    @classmethod
    def of(cls, basis: _Basis, means: GroupMeans) -> Ridge:
        """Return the regressions by all penalties that leave degrees of freedom."""
        n_samples = len(basis.features)
        centred = basis.features - means(basis.features)
        values, vectors = np.linalg.eigh(centred.T @ centred)
        kept = values > 1e-12 * max(values[-1], 1e-300)
        axes = centred @ (vectors[:, kept] / np.sqrt(values[kept]))
        shrinkage = values[kept] / (values[kept] + n_samples * basis.penalties[:, np.newaxis])
        freedom = len(means.sizes) + shrinkage.sum(axis=1)
        usable = freedom <= MAX_FREEDOM * n_samples
        return cls(basis, axes, shrinkage[usable], freedom[usable], means)

    def residuals(
        self, responses: FloatArray, is_missing: NDArray[np.bool_]
    ) -> tuple[FloatArray, FloatArray]:
        """Return leave-one-out residuals and shrinkage, the penalty by cross-validation (GCV).

        Responses have the shape (n_samples, n_responses). Missing values are replaced by their
        fits a few times, which is close to a fit of the others alone.
        """
        filled = responses
        for _ in range(N_FILLS if is_missing.any() else 1):
            mean = self.means(filled)
            along = self.axes.T @ (filled - mean)
            errors = self.generalised_errors(along, ((filled - mean) ** 2).sum(axis=0))
            shrinkage = self.shrinkage[errors.argmin(axis=0)].T
            fitted = mean + self.axes @ (shrinkage * along)
            filled = np.where(is_missing, fitted, filled)
        leverage = self.means.own_share + self.axes**2 @ shrinkage
        return (filled - fitted) / (1.0 - np.minimum(leverage, MAX_LEVERAGE)), shrinkage

    def generalised_errors(self, along: FloatArray, total: FloatArray) -> FloatArray:
        """Return errors by generalised cross-validation, (n_penalties, n_responses).

        `along` are products of the axes with centred responses, `total` the squares of these.
        """
        unexplained = np.maximum(total - (along**2).sum(axis=0), 0.0)
        squares = unexplained + (1.0 - self.shrinkage) ** 2 @ along**2
        share = self.freedom / len(self.axes)
        return np.asarray(squares / ((1.0 - share) ** 2)[:, np.newaxis])

    def left_out(self, centred: FloatArray, penalties: IntArray) -> FloatArray:
        """Return leave-one-out residuals of centred functions by a penalty for each."""
        along = self.shrinkage[penalties].T * (self.axes.T @ centred)
        leverage = self.means.own_share + self.axes**2 @ self.shrinkage.T
        share = 1.0 - np.minimum(leverage, MAX_LEVERAGE)
        return np.asarray((centred - self.axes @ along) / share[:, penalties])


def _refine(fits: _Fits, place: int, smoother: Smoother) -> None:
    """Fit a column with sizes of functions, a metric and pieces of its own."""
    values, places = fits.values[:, place], np.array([place])
    fits.improve(smoother.weighted(values[:, np.newaxis]), places)
    is_close = fits.error[place] <= 1.0 - STRONG and not fits.is_simple[place]
    if not is_close or len(values) > MANY_SAMPLES:
        return
    z, means = smoother.design, smoother.means
    if z.shape[1] > 1:
        _fit_metrics(fits, place, z, means)
    known = np.flatnonzero(~fits.missing[:, place])
    pieces = linear_pieces(z[known], values[known], MAX_FREEDOM * len(known))
    if len(pieces) > 1:
        design = np.column_stack([np.ones(len(z)), z])
        parts = np.zeros((len(pieces), *design.shape))
        for part, rows in zip(parts, pieces, strict=True):
            part[known[rows]] = design[known[rows]]
        smooth = _kernel_features(z, z, SMOOTH)
        basis = _Basis(np.concatenate([smooth, *parts], axis=1), KERNEL_PENALTIES, False)
        fits.improve([Ridge.of(basis, means)], places)


def _fit_metrics(fits: _Fits, place: int, z: FloatArray, means: GroupMeans) -> None:
    """Learn a metric from the best fit so far and fit with it, in turns."""
    metric = np.eye(z.shape[1]) / (0.7 * np.sqrt(z.shape[1]))
    widths: tuple[float, ...] = METRIC_WIDTHS
    for _ in range(N_METRICS):
        metric = _learn_metric(z, metric, fits.values[:, place] - fits.left[:, place])
        errors = [fits.error[place]]
        for width in widths:
            basis = _kernel_basis(z, z @ metric / width, RADIAL, LANDMARKS)
            fits.improve([Ridge.of(basis, means)], np.array([place]))
            errors.append(fits.error[place])
        if errors[-1] == errors[0]:
            return
        widths = (widths[int(np.argmin(np.diff(errors)))],)
        metric = metric / widths[0]


def _learn_metric(z: FloatArray, metric: FloatArray, fitted: FloatArray) -> FloatArray:
    """Return a matrix by which z is multiplied, so that distance counts where a function varies.

    It is the mean outer product of the gradients of the function, which are those of a kernel
    interpolation in the present metric.
    """
    rows = _spread(z)[: min(RADIAL_LANDMARKS, len(z) // 2)]
    points = z[rows] @ metric
    kernel = RADIAL(points, points)
    smoothing = 1e-3 * np.eye(len(rows))
    weighted = kernel * np.linalg.solve(kernel + smoothing, fitted[rows] - fitted.mean())
    gradients = (weighted @ points - weighted.sum(axis=1)[:, np.newaxis] * points) @ metric.T
    outer = gradients.T @ gradients
    scale = np.trace(outer)
    if not scale > 0:
        return metric
    return np.asarray(outer / scale + ROUND_METRIC / len(outer) * np.eye(len(outer)))
