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
from dataclasses import dataclass, field
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

#: A basis replaces a simpler one, and a map of the values the values themselves, if its squared
#: error is smaller by this factor.
IMPROVEMENT, MAP_IMPROVEMENT = 0.98, 0.75

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

#: Samples in a cell of discrete columns, on average, from which it has curves of its own, and their
#: knots.
SAMPLES_PER_CURVE, CURVE_KNOTS = 20, (0.1, 0.3, 0.5, 0.7, 0.9)

#: How often a metric is learnt, and the widths of the kernel in it.
N_METRICS, METRIC_WIDTHS = 3, (0.35, 0.7, 1.5)

#: Quantiles by which a column is mapped to a normal distribution.
QUANTILES = np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98])

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
    with one_blas_thread():
        smoother = smoother or Smoother.of(given, groups, has_cells=False)
        first, means = smoother.first, smoother.means
        is_dependent = _find_dependent([columns[place] for place in regressed], first)
        is_dependent[:n_refined] = [True] * min(n_refined, len(regressed))
        places = [place for place, kept in zip(regressed, is_dependent, strict=True) if kept]
        responses = [_Response.of(columns[place]) for place in places]
        for ridge in first:
            _fit(ridge, responses)
        if any(response.is_noticed for response in responses):
            for ridge in smoother.more:
                _fit(ridge, [response for response in responses if response.is_noticed])
        refined = [r for r, place in zip(responses, places, strict=True) if place < n_refined]
        for response in refined:
            for ridge in smoother.weighted(response.views["raw"][:, np.newaxis]):
                _fit(ridge, [response], only="raw")
        if close := [response for response in refined if response.is_close]:
            _refine(close, smoother.designs["raw"], means)
    for place, response in zip(places, responses, strict=True):
        found[place] = response.residual()
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


def _find_dependent(columns: Sequence[Column], ridges: Sequence[Ridge]) -> list[bool]:
    """Return which columns depend on S by any regression of their values or normal scores.

    Most columns of wide tables do not, so this is done for many at once.
    """
    found: list[bool] = []
    for start in range(0, len(columns), BLOCK):
        some = columns[start : start + BLOCK]
        numbers = [column.values for column in some]
        is_missing = np.stack([np.isnan(values) for values in numbers], axis=1)
        known = (~is_missing).sum(axis=0)
        least = np.ones(len(some))
        for view, mapped in (("raw", numbers), ("normal", [c.made(normal_scores) for c in some])):
            values = np.stack([_standardized(x) for x in mapped], axis=1)
            for ridge in ridges:
                if ridge.basis.view == view and len(ridge.freedom):
                    left, _ = ridge.residuals(values, is_missing)
                    squares = np.where(is_missing, 0.0, left) ** 2
                    least = np.minimum(least, squares.sum(axis=0) / known)
        found += [e <= 1.0 - _weak(column) for e, column in zip(least.tolist(), some, strict=True)]
    return found


def _weak(column: Column) -> float:
    """Return the R squared up to which a column is used as it is."""
    return WEAK_LABELS if column.feature_type == "nominal" else WEAK


def _normal(values: FloatArray) -> FloatArray | None:
    """Map to about a normal distribution by a smooth function: normal scores would be rough."""
    present = values[~np.isnan(values)]
    end = 1 / (len(present) + 1)
    knots = np.quantile(present, [0, *QUANTILES, 1])
    is_new = np.concatenate([[True], np.diff(knots) > 1e-9 * (knots[-1] - knots[0])])
    if is_new.sum() < 4:
        return None
    normal = ndtri(np.array([end, *QUANTILES, 1 - end]))
    mapped: FloatArray = PchipInterpolator(knots[is_new], normal[is_new])(values)
    return mapped


#: Monotone maps of columns before regression; None where a column has no such map.
VIEWS: dict[str, Callable[[FloatArray], FloatArray | None]] = {
    "raw": lambda values: values,
    "log": lambda values: np.log(values) if np.nanmin(values) > 0 else None,
    "normal": _normal,
}


def _mapped(values: FloatArray) -> FloatArray:
    """Return a column in each view, (n_views, n_samples), standardized; NaN without a view."""
    has_maps = len(np.unique(values[~np.isnan(values)])) > 2
    found = [values, *((view(values) if has_maps else None) for view in list(VIEWS.values())[1:])]
    nothing = np.full(len(values), np.nan)
    return np.stack([nothing if one is None else _standardized(one) for one in found])


def _order(values: FloatArray) -> IntArray:
    """Return the order of the values that are present."""
    return np.argsort(values[~np.isnan(values)], kind="stable")


class _Fit(NamedTuple):
    """A regression of a column in one of its views."""

    view: str
    residuals: FloatArray
    error: float  # mean squared error of left-out values, whose variance is 1
    is_simple: bool  # by lines and products
    projection: Projection | None = None


@dataclass(frozen=True, eq=False)
class _Response:
    """A column that is regressed, and its best fit in each view so far."""

    column: Column
    views: dict[str, FloatArray]  # standardized; 0 if missing
    is_missing: NDArray[np.bool_]
    order: IntArray  # of the values that are present
    scores: FloatArray  # normal scores of the values that are present
    fits: dict[str, _Fit]
    errors: dict[str, float] = field(default_factory=dict)  # of fits, as normal scores

    @classmethod
    def of(cls, column: Column) -> _Response:
        present = ~np.isnan(column.values)
        mapped = zip(VIEWS, column.made(_mapped), strict=True)
        views = {view: found for view, found in mapped if not np.isnan(found[0])}
        scores = column.made(normal_scores)[present]
        order = column.made(_order)
        fits = {view: _Fit(view, found, 1.0, True) for view, found in views.items()}
        return cls(column, views, ~present, order, scores, fits)

    @property
    def best(self) -> _Fit:
        """The fit of the values as they are, unless that of a map of them is clearly better.

        In a map the noise would no longer be the same everywhere.
        """
        errors = self.errors
        for view in self.fits.keys() - errors:
            errors[view] = self._error_of_scores(self.fits[view])
        least = min(self.fits, key=lambda view: errors[view])
        return self.fits[least if errors[least] < MAP_IMPROVEMENT * errors["raw"] else "raw"]

    @property
    def is_noticed(self) -> bool:
        """Whether it depends on S so much that a better fit matters."""
        return self.best.error <= 1.0 - max(NOTICED, _weak(self.column))

    @property
    def is_close(self) -> bool:
        """Whether it depends on S closely, but not by lines and products."""
        if len(self.is_missing) > MANY_SAMPLES:
            return False
        return self.best.error <= 1.0 - STRONG and not self.best.is_simple

    def _error_of_scores(self, fit: _Fit) -> float:
        """Return the mean squared error of left-out values as normal scores, alike in all views."""
        present = ~self.is_missing
        values, left = self.views[fit.view][present], fit.residuals[present]
        predicted = np.interp(values - left, values[self.order], self.scores[self.order])
        return float(((predicted - self.scores) ** 2).mean())

    def residual(self) -> Residual:
        """Return the residuals of the best fit, or the column itself if nothing fits."""
        best = self.best
        if best.error > 1.0 - _weak(self.column):
            return Residual(self.column, 0.0)
        values = np.where(self.is_missing, np.nan, best.residuals)
        deviation = np.nanstd(values)
        if deviation < DETERMINED:
            values = np.where(self.is_missing, np.nan, 0.0)
        else:
            values = np.round(values / deviation, DECIMALS)
        left = Column(self.column.name, "continuous", values)
        return Residual(left, 1.0 - best.error, best.projection)


def _standardized(values: FloatArray) -> FloatArray:
    """Return a column with mean 0 and standard deviation 1; missing values become 0."""
    deviation = np.nanstd(values)
    return np.nan_to_num((values - np.nanmean(values)) / (deviation if deviation > 0 else 1.0))


@dataclass(frozen=True, eq=False)
class Smoother:
    """Ridge regressions on all bases of S, for any number of functions.

    With `has_cells` there are, in addition, the cells of discrete columns, and the curves of
    numbers in each cell.
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
    def designs(self) -> dict[str, FloatArray]:
        """The columns of S in each view."""
        return _designs(self.given)

    @cached_property
    def first(self) -> list[Ridge]:
        """Regressions on simple bases, by which most dependences are noticed."""
        cells = _cell_bases(self.given, self.designs["raw"]) if self.has_cells else ()
        return self._ridges([*_first_bases(self.designs), *cells])

    @cached_property
    def more(self) -> list[Ridge]:
        """Regressions on further bases, for what depends on S."""
        return self._ridges(_more_bases(self.designs["raw"]))

    @cached_property
    def _columns(self) -> Design:
        n_products = min(MAX_WEIGHTED_PRODUCTS, len(self.designs["raw"]) // 2)
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
        basis = _Basis("raw", features, np.array([penalty]), False)
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


def _cell_bases(given: Block, z: FloatArray) -> Iterator[_Basis]:
    """Yield the joint levels of columns of few levels, and the curves of numbers within them."""
    discrete = [c for c in given.columns if c.is_discrete and c.levels() <= CLASS_LEVELS]
    if not discrete:
        return
    n_samples = given.n_samples
    codes = Block(tuple(discrete)).codes()
    n_cells = int(codes.max()) + 1
    if n_cells > MAX_FREEDOM * n_samples:
        return
    cells = (codes[:, np.newaxis] == np.arange(n_cells)).astype(np.float64)
    yield _Basis("raw", np.concatenate([cells, z], axis=1), KERNEL_PENALTIES, True)
    numbers = [_standardized(c.values) for c in given.columns if c not in discrete]
    if numbers and n_cells <= n_samples / SAMPLES_PER_CURVE:
        curves = np.concatenate([_curve(values) for values in numbers], axis=1)
        parts = [cells[:, [cell]] * curves for cell in range(n_cells)]
        features = np.concatenate([z, cells, *parts], axis=1)
        yield _Basis("raw", features, KERNEL_PENALTIES, False)


def _curve(values: FloatArray) -> FloatArray:
    """Return a line and cubic splines of a column, standardized."""
    knots = np.quantile(values, CURVE_KNOTS)
    cubes = np.abs(values[:, np.newaxis] - knots) ** 3
    columns = np.column_stack([values, cubes])
    deviation = columns.std(axis=0)
    return np.asarray((columns - columns.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0))


def _designs(given: Block) -> dict[str, FloatArray]:
    """Return the columns of S, (n_samples, n_columns), in each view that any of them has.

    Labels are indicators of levels but the most frequent, one for 20 samples at most; missing
    values are at the mean, with an indicator.
    """
    designs = {}
    for view, map_values in VIEWS.items():
        columns: list[FloatArray] = []
        n_mapped = 0
        for column in given.columns:
            if column.feature_type == "nominal":
                codes = column.codes()
                by_count = np.argsort(-np.bincount(codes), kind="stable")
                used = by_count[1 : 1 + max(1, len(codes) // 20)]
                columns += [(codes == level).astype(float) for level in used]
                continue
            mapped = map_values(column.values)
            n_mapped += mapped is not None
            columns.append(_standardized(column.values if mapped is None else mapped))
            if column.has_missing:
                columns.append(np.isnan(column.values).astype(float))
        if n_mapped or view == "raw":
            nothing = [np.zeros(given.n_samples)]  # labels of one level have no function
            design = np.stack(columns or nothing, axis=1)
            designs[view] = design - design.mean(axis=0)
    return designs


class _Basis(NamedTuple):
    """Functions of S, (n_samples, n_features), and the penalties of their coefficients."""

    view: str
    features: FloatArray
    penalties: FloatArray
    is_simple: bool  # lines and products only


def _first_bases(designs: dict[str, FloatArray]) -> Iterator[_Basis]:
    """Yield bases from simple to complex; most dependences are noticed in one of them."""
    for view, z in designs.items():
        yield _Basis(view, z, LIGHT_PENALTIES, True)
    for view, z in designs.items():
        if _has_products(z):
            yield _Basis(view, np.concatenate([z, _products(z)], axis=1), LIGHT_PENALTIES, True)
    yield from _kernel_bases(designs["raw"], [SMOOTH], [1.0])


def _more_bases(z: FloatArray) -> Iterator[_Basis]:
    """Yield bases for what depends on S."""
    n_columns = z.shape[1]
    if comb(n_columns + 3, 3) <= MAX_FREEDOM * len(z):
        places = combinations_with_replacement(range(n_columns), 3)
        cubes = np.stack([z[:, i] * z[:, j] * z[:, k] for i, j, k in places], axis=1)
        features = np.concatenate([z, _products(z), cubes], axis=1)
        yield _Basis("raw", features, LIGHT_PENALTIES, True)
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
            yield _kernel_basis(z, curved, kernel)
    is_near = n_columns <= FEW_COLUMNS or 2 * curved.shape[1] >= n_columns
    for width in widths if n_columns > 1 and is_near else ():
        if len(z) <= MANY_SAMPLES:
            yield _kernel_basis(z, z, _Radial(width * np.sqrt(n_columns)))


def _kernel_basis(z: FloatArray, points: FloatArray, kernel: _Kernel) -> _Basis:
    """Return the functions of a kernel."""
    n_landmarks = RADIAL_LANDMARKS if isinstance(kernel, _Radial) else LANDMARKS
    return _Basis("raw", _kernel_features(z, points, kernel, n_landmarks), KERNEL_PENALTIES, False)


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


def _fit(ridge: Ridge, responses: Sequence[_Response], only: str | None = None) -> None:
    """Fit responses in all views, or in one, and keep what is better."""
    pairs = [
        (response, view)
        for response in responses
        for view in response.views
        if only is None or view == only
    ]
    if not pairs or not len(ridge.freedom):
        return
    values = np.stack([response.views[view] for response, view in pairs], axis=1)
    is_missing = np.stack([response.is_missing for response, _ in pairs], axis=1)
    found, shrinkage = ridge.residuals(values, is_missing)
    for (response, view), left, of_axes in zip(pairs, found.T, shrinkage.T, strict=True):
        error = float((left[~response.is_missing] ** 2).mean())
        if error < IMPROVEMENT * response.fits[view].error:
            projection = Projection(ridge.axes, of_axes, ridge.means)
            response.fits[view] = _Fit(view, left, error, ridge.basis.is_simple, projection)
            response.errors.pop(view, None)


def _refine(responses: Sequence[_Response], z: FloatArray, means: GroupMeans) -> None:
    """Fit responses that depend on S closely with metrics of their own, and piece by piece."""
    smooth = _kernel_features(z, z, SMOOTH)
    design = np.column_stack([np.ones(len(z)), z])
    for response in responses:
        known = np.flatnonzero(~response.is_missing)
        for view in dict.fromkeys(["raw", response.best.view]):
            if z.shape[1] > 1:
                _fit_metrics(response, view, z, means)
            pieces = linear_pieces(z[known], response.views[view][known], MAX_FREEDOM * len(known))
            if len(pieces) > 1:
                parts = np.zeros((len(pieces), *design.shape))
                for part, rows in zip(parts, pieces, strict=True):
                    part[known[rows]] = design[known[rows]]
                _fit_one(response, view, np.concatenate([smooth, *parts], axis=1), means)


def _fit_metrics(response: _Response, view: str, z: FloatArray, means: GroupMeans) -> None:
    """Learn a metric from the best fit so far and fit with it, in turns."""
    metric = np.eye(z.shape[1]) / (0.7 * np.sqrt(z.shape[1]))
    widths: tuple[float, ...] = METRIC_WIDTHS
    for _ in range(N_METRICS):
        metric = _learn_metric(z, metric, response.views[view] - response.fits[view].residuals)
        errors = [response.fits[view].error]
        for width in widths:
            features = _kernel_features(z, z @ metric / width, RADIAL)
            _fit_one(response, view, features, means)
            errors.append(response.fits[view].error)
        if errors[-1] == errors[0]:
            return
        widths = (widths[int(np.argmin(np.diff(errors)))],)
        metric = metric / widths[0]


def _fit_one(response: _Response, view: str, features: FloatArray, means: GroupMeans) -> None:
    """Fit one response in one view."""
    basis = _Basis(view, features, KERNEL_PENALTIES, False)
    _fit(Ridge.of(basis, means), [response], only=view)


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
