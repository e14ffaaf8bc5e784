"""The score test in plain loops: one candidate, one function and one permutation at a time.

Regressions (`residuals`, `Smoother`, `Projection`, `fit_classes`) are those of the package, which
have tests of their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.stats import chi2, norm

from pidselect.data import Block, Column
from pidselect.estimators.logistic import fit_classes
from pidselect.estimators.regression import Smoother, residuals
from pidselect.significance.row_orders import RowOrders, find_strata

WEIGHTS = {
    "label": 0.50,
    "line": 0.50,
    "square": 0.08,
    "missing": 0.20,
    "curve": 0.20,
    "wave": 0.12,
    "product": 0.07,
    "scale": 0.03,
}
NOTHING = -50.0

Vector = np.ndarray
#: Name of a family, its functions.
NaiveFamily = tuple[str, list[Vector]]


def normal_scores(values: Vector) -> Vector:
    """Return normal scores, equal values with their mean rank; missing values are 0."""
    known = values[~np.isnan(values)]
    found = np.zeros(len(values))
    for i, value in enumerate(values):
        if not math.isnan(value):
            rank = (known < value).sum() + ((known == value).sum() + 1) / 2
            found[i] = norm.ppf((rank - 0.375) / (len(known) + 0.25))
    return found


def rank_scores(values: Vector) -> Vector:
    """Return normal scores of rank / (n + 1) with standard deviation 1; missing values are 0."""
    known = values[~np.isnan(values)]
    found = np.zeros(len(values))
    for i, value in enumerate(values):
        if not math.isnan(value):
            rank = (known < value).sum() + ((known == value).sum() + 1) / 2
            found[i] = norm.ppf(rank / (len(known) + 1))
    present = found[~np.isnan(values)]
    return found / present.std(ddof=1) if len(set(known.tolist())) > 1 else 0.0 * found


def standardized(values: Vector) -> Vector:
    """Return a vector with mean 0 and standard deviation 1, missing values at the mean."""
    filled = np.where(np.isnan(values), np.nanmean(values), values)
    centred = filled - filled.mean()
    return centred / centred.std() if centred.std() > 1e-12 else centred


def gram_schmidt(functions: Sequence[Vector]) -> list[Vector]:
    """Return orthonormal functions in their order; redundant ones are 0."""
    found: list[Vector] = []
    for function in functions:
        length = math.sqrt((function**2).sum())
        if length <= 1e-9 * math.sqrt(len(function)):
            found.append(np.zeros(len(function)))
            continue
        left = function / length
        for _ in range(2):
            for other in found:
                left = left - (other @ left) * other
        length = math.sqrt((left**2).sum())
        found.append(left / length if length > 1e-4 else np.zeros(len(function)))
    return found


def is_label(column: Column) -> bool:
    return column.feature_type == "nominal" or column.levels() <= 2


def indicators(column: Column, least: int) -> list[Vector]:
    """Return indicators of levels, frequent ones first; levels of few rows share the last."""
    codes = column.codes().tolist()
    levels = sorted(set(codes), key=lambda level: (-codes.count(level), level))
    kept = [level for level in levels[:100] if codes.count(level) >= least]
    found = [np.array([float(code == level) for code in codes]) for level in kept]
    others = np.array([float(code not in kept) for code in codes])
    return [*found, others] if others.sum() >= least else found


def has_order(column: Column) -> bool:
    """Return whether classes are numbers."""
    return column.feature_type == "nominal" and column.labels is None and column.levels() > 2


def with_missing(function: Vector, column: Column) -> list[Vector]:
    missing = np.isnan(column.values)
    return [function, missing.astype(float)] if missing.any() else [function]


class NaiveBound:
    """The target given S: residuals, and what functions are multiplied with."""

    def __init__(self, target: Block, given: Block, groups=None) -> None:
        self.given, self.groups, self.projection = given, groups, None
        self.strata = find_strata(given, groups)
        has_smoother = len(given) and self.strata is None
        self.smoother = Smoother.of(given, groups) if has_smoother else None
        strata = groups if self.strata is None else self.strata
        self.orders = RowOrders("global", target.n_samples, strata)
        columns = target.columns
        if len(columns) > 1 and all(column.is_discrete for column in columns):
            joint = target.codes().astype(float)
            if joint.max() < 100:
                names = tuple(map(str, range(100)))
                columns = (Column("joint", "nominal", joint, names),)
        means, numbers, projection = [], [], None
        self.has_even_noise = True  # whether the size of residuals does not depend on S
        for column in columns:
            if column.feature_type == "nominal" or column.levels() == 2:
                means += self.class_residuals(column)
                continue
            found, own = self.number_residuals(column)
            projection = projection or own
            means += found
            numbers += found
        self.projection = projection
        self.mean, self.scale = self.directions(means), None
        self.has_order = len(columns) == 1 and has_order(columns[0]) and len(self.mean) > 1
        if numbers:
            pairs = [(i, j) for i in range(len(numbers)) for j in range(i, len(numbers))]
            self.scale = self.directions([self.left(numbers[i] * numbers[j]) for i, j in pairs])
        self.design = self.multipliers()

    @cached_property
    def graphs(self) -> list[np.ndarray]:
        """Which samples are in the same cell of S, (n, n), for two sizes of cells."""
        if not len(self.given) or self.strata is not None:
            return []
        n = self.given.n_samples
        return [near(self.given, n, min(size, n // 4)) for size in (12, 40)]

    def directions(self, functions: Sequence[Vector]) -> list[Vector]:
        made = gram_schmidt([function - function.mean() for function in functions])
        return [math.sqrt(len(one)) * one for one in made if (one**2).sum() > 0.5]

    def left(self, function: Vector, of_target: bool = False) -> Vector:
        """Return a function without what S explains of it."""
        if of_target and self.projection is not None:
            return self.projection.residual(function[:, np.newaxis])[:, 0]
        if self.smoother is None:
            found = function.copy()
            own = self.orders.groups
            strata = np.zeros(len(function)) if own is None else own
            for stratum in set(strata.tolist()):
                found[strata == stratum] -= function[strata == stratum].mean()
            return found
        found, _ = self.smoother.residual(function[:, np.newaxis])
        if self.projection is not None:
            found = self.projection.residual(found)
        return found[:, 0]

    def number_residuals(self, column: Column):
        values, projection = column.values, None
        if self.smoother is not None:
            found = residuals(self.given, [column], self.groups, 1, self.smoother)[0]
            values, projection = found.column.values, found.projection
        else:
            filled = np.where(np.isnan(values), np.nanmean(values), values)
            values = np.where(np.isnan(values), np.nan, self.left(filled))
        missing = np.isnan(values)
        if np.where(missing, 0.0, values).std() < 1e-9:
            return [], projection
        evened, is_explained = self.evened(np.where(missing, 0.0, values))
        self.has_even_noise &= not is_explained
        values = np.where(missing, np.nan, evened)
        function = np.where(missing, 0.0, values - np.nanmean(values))
        if column.levels() > 20:
            function = normal_scores(values)
        functions = [function, missing.astype(float)] if missing.any() else [function]
        if self.smoother is not None:
            functions = [self.smoother.residual(f[:, np.newaxis])[0][:, 0] for f in functions]
        else:
            functions = [self.left(f) for f in functions]
        return [standardized(f) for f in functions], projection

    def evened(self, left: Vector) -> tuple[Vector, bool]:
        """Return residuals over the size that S explains of them, and whether it explains any."""
        if self.smoother is None:
            return left, False
        size = np.log(left**2 + 0.05 * (left**2).mean())
        unexplained, is_explained = self.smoother.residual(size[:, np.newaxis])
        explained = size - size.mean() - unexplained[:, 0]
        return (left * np.exp(-explained / 2), True) if is_explained[0] else (left, False)

    def class_residuals(self, column: Column) -> list[Vector]:
        self.has_even_noise &= self.smoother is None
        classes = indicators(column, 1)
        if len(classes) < 2:
            return []
        if self.smoother is None:
            left = [self.left(one) for one in classes]
        else:
            fit = fit_classes(self.smoother, np.stack(classes, axis=1))
            null = -2 * sum(one.sum() * math.log(one.mean()) for one in classes)
            if fit.deviance < 0.02 * null:
                return []
            left = [one - fit.probabilities[:, k] for k, one in enumerate(classes)]
        if not has_order(column):
            return left[1:]
        values = np.where(np.isnan(column.values), np.nanmean(column.values), column.values)
        means = [(values * one).sum() / one.sum() for one in classes]
        centre = np.mean(means)
        line = sum((mean - centre) * one for mean, one in zip(means, left, strict=True))
        return [line, *left[1:]]

    def multipliers(self) -> list[Vector]:
        found = []
        if self.strata is not None:
            strata = Column("joint", "nominal", self.strata.astype(float))
            return [standardized(one) for one in indicators(strata, 3)][:30]
        for column in self.given.columns:
            if is_label(column):
                own = indicators(column, 3)
                found += own[1:] if len(own) > 1 else own
            else:
                found += with_missing(rank_scores(column.values), column)
        return [standardized(one) for one in found][:30]


# --- functions of a candidate ---------------------------------------------------------------------


def number_functions(column: Column, bound: NaiveBound) -> list[tuple[str, list[Vector]]]:
    left, explained = column.values, 0.0
    missing = np.isnan(left)
    if bound.smoother is not None:
        found = residuals(bound.given, [column], bound.groups, 0, bound.smoother)[0]
        left, explained = found.column.values, found.r_squared
    else:
        left = np.where(missing, np.nan, bound.left(np.where(missing, np.nanmean(left), left)))
    if np.where(missing, 0.0, left).std() < 1e-9:
        return []
    levels = column.levels()
    evened, _ = bound.evened(np.where(missing, np.nanmean(left), left))
    z = np.where(missing, 0.0, standardized(evened))
    if levels > 20:
        z = normal_scores(np.where(missing, np.nan, evened))
    powers = [z, z**2 - 1, z**3 - 3 * z][: max(1, levels - 1)]
    waves = []
    if levels > 20 and len(z) >= 50:
        waves = [np.cos(math.pi * j * norm.cdf(z)) for j in range(1, 7)]
    powers, waves = ([np.where(missing, 0.0, f) for f in some] for some in (powers, waves))
    found = [("line", powers[:1]), ("square", powers[1:2]), ("powers", powers), ("wave", waves)]
    factors = powers if levels <= 4 else [z]
    found += [("scale", powers[:1])]
    found += [("product", [f * s for f in factors]) for s in bound.design]
    if missing.any():
        found.append(("missing", [missing.astype(float)]))
    if explained > 0:
        remainder = np.where(missing, 0.0, left) * math.sqrt(max(1 - explained, 0.0))
        fit = normal_scores(standardized(column.values) - remainder)
        found.append(("product", [f * fit for f in factors]))
    return found


def block_functions(block: Block, bound: NaiveBound) -> list[tuple[str, list[Vector]]]:
    """Return the functions of a candidate, by family."""
    n = block.n_samples
    if len(block) == 1 and not is_label(block.columns[0]):
        return number_functions(block.columns[0], bound)
    if all(is_label(column) for column in block.columns):
        codes = block.codes()
        if len(block) == 1 or codes.max() < max(2, n // 10):
            own = indicators(Column("joint", "nominal", codes.astype(float)), 3)[1:]
            products = [("product", [f * s for f in own]) for s in bound.design]
            return [("label", own), ("scale", own), *products]
    names = ("line", "missing", "square", "powers", "wave")
    parts: dict[str, list[Vector]] = {name: [] for name in names}
    lines = []
    for column in block.columns:
        functions = [("line", indicators(column, 3)[1:])]
        if not is_label(column):
            functions = number_functions(column, bound)
        lines.append([f for name, some in functions if name == "line" for f in some])
        for name, some in functions:
            if name in parts:
                parts[name] += some
    n_columns = len(parts["wave"]) // 6
    parts["wave"] = [parts["wave"][6 * c + j] for j in range(6) for c in range(n_columns)]
    for first, second in combinations(lines, 2):
        parts["square"] += [f * g for f in first for g in second]
    found = [(name, some) for name, some in parts.items() if len(some) <= n // 10]
    found += [("scale", some) for name, some in found if name == "line"]
    products = [("product", [f * s for f in parts["line"]]) for s in bound.design]
    return [*found, *products]


def families(block: Block, bound: NaiveBound) -> list[NaiveFamily]:
    """Return the functions of a candidate without what S explains, orthonormal by family."""
    found = []
    for name, functions in block_functions(block, bound):
        if functions:
            left = [bound.left(f, name == "label") for f in functions]
            found.append((name, gram_schmidt(left)))
    return found


# --- statistics -----------------------------------------------------------------------------------


def statistic(found: Sequence[NaiveFamily], bound: NaiveBound, row: Vector) -> dict[str, float]:
    """Return the statistic of a candidate in one order of the rows, by family."""
    best = dict.fromkeys(WEIGHTS, NOTHING)
    parts = [*found, *(("curve", f[: len(f) // 2]) for name, f in found if name == "wave")]
    names = [name for name, _ in parts]
    for name, functions in parts:
        directions = bound.scale if name == "scale" else bound.mean
        used = [f for f in functions if (f**2).sum() > 0.5]
        if name not in WEIGHTS or not directions or not used:
            continue
        weight = WEIGHTS[name] / names.count(name)
        some = [directions]
        if bound.has_order:
            some, weight = [directions[:1], directions], weight / 2
        for own in some:
            total = sum(squared_sum(f, r[row], name, bound) for f in used for r in own)
            log_p = -chi2.logsf(total, len(used) * len(own))
            best[name] = max(best[name], log_p + math.log(weight))
    return best


def squared_sum(f: Vector, r: Vector, name: str, bound: NaiveBound) -> float:
    """Return the self-normalised squared sum of a function and residuals."""
    effective = 1 / (f**4).sum()
    variance = (f**2 * r**2).sum()
    prior = 10.0 if name == "label" and effective < 30 else 0.0
    prior = 30.0 if bound.has_even_noise else prior
    variance = (effective * variance + prior) / (effective + prior)
    return (f * r).sum() ** 2 / max(variance, 1e-6)


def local_statistic(found: Sequence[NaiveFamily], bound: NaiveBound, row: Vector) -> float:
    """Return the local statistic of a candidate in one order of the rows, with dense matrices."""
    best, moments = NOTHING, [bound.mean]
    if bound.scale is not None:
        third = [standardized(bound.left(r**3 - 3 * r)) for r in bound.mean]
        moments = [bound.mean, bound.scale, third]
    for name, functions in found:
        for order, moment in enumerate(moments):
            for direction in moment:
                r = direction[row]
                if name in ("powers", "label"):
                    for place, f in enumerate(functions):
                        value = (f * r).sum() ** 2 / max((f**2 * r**2).sum(), 1e-6)
                        if order == 1 and name == "powers" and bound.smoother and place % 3 == 1:
                            value = 0.0
                        best = max(best, (value ** (1 / 3) - 7 / 9) / math.sqrt(2 / 9))
                if order < {"line": 2, "label": 2, "wave": 1}.get(name, 0):
                    slow = functions[: len(functions) // 2 if name == "wave" else 12]
                    products = sum(np.outer(f, f) for f in slow) * np.outer(r, r)
                    for graph in bound.graphs:
                        some = products[np.triu(graph, 1)]
                        value = some.sum() / math.sqrt(max((some**2).sum(), 1e-300))
                        best = max(best, value)
    return best


def near(given: Block, n: int, size: int) -> np.ndarray:
    """Return which pairs of samples are in the same cell of S, (n, n)."""
    points = points_of(given, n)
    found = np.zeros((n, n), dtype=bool)

    def split(rows: list[int], n_cells: int) -> None:
        if n_cells == 1:
            for i in rows:
                found[i, rows] = True
            return
        spread = [np.std([points[i][axis] for i in rows]) for axis in range(len(points[0]))]
        axis = spread.index(max(spread))
        rows = sorted(rows, key=lambda i: points[i][axis])
        half = n_cells // 2
        cut = len(rows) * half // n_cells
        split(rows[:cut], half)
        split(rows[cut:], n_cells - half)

    split(list(range(n)), max(1, n // max(size, 1)))
    return found


def nearest_lists(given: Block, n: int, k: int, groups=None) -> list[list[int]]:
    """Return the nearest samples of each, by distances of all pairs within its group."""
    points = points_of(given, n, groups)
    lists = []
    for i in range(n):
        others = [j for j in range(n) if j != i and (groups is None or groups[j] == groups[i])]
        others.sort(key=lambda j: ((points[i] - points[j]) ** 2).sum())
        lists.append(others[:k])
    return lists


def points_of(given: Block, n: int, groups=None) -> np.ndarray:
    """Return samples as points by normal scores."""
    parts = []
    for column in given.columns:
        values = column.values
        if column.feature_type == "nominal":
            codes = column.codes()
            levels = sorted(set(codes.tolist()), key=lambda level: (-(codes == level).sum(), level))
            apart = [level for level in levels if (codes == level).sum() > 5]
            parts += [10.0 * (codes == level) for level in apart or levels[:1]]
            continue
        missing = np.isnan(values)
        parts.append(rank_scores(values))
        if missing.any():
            parts.append(10.0 * missing)
    if groups is not None:
        parts.append(1e4 * np.asarray(groups))
    points = np.stack(parts, axis=1)
    return points + np.random.default_rng(n).normal(scale=1e-6, size=points.shape)


# --- stages ---------------------------------------------------------------------------------------


def reached(observed: float, null: float) -> bool:
    return null >= observed - 1e-9 * max(1.0, abs(observed))


def stage_p_values(observed: Sequence[float], null: np.ndarray, step_down: bool) -> list[float]:
    """Return p-values from statistics of permutations, (n_candidates, n_permutations)."""
    order = sorted(range(len(observed)), key=lambda c: -observed[c])
    p, largest = [1.0] * len(observed), 0.0
    for place, c in enumerate(order):
        rivals = order[place:] if step_down else order
        maxima = null[rivals].max(axis=0)
        own = (1 + sum(reached(observed[c], value) for value in maxima)) / (1 + len(maxima))
        largest = max(largest, own)
        p[c] = largest if observed[c] > NOTHING else 1.0
    return p


def staged_p_values(
    target: Block,
    given: Block,
    candidates: Sequence[Block],
    key: tuple[int, ...],
    level: float,
    n_permutations: int,
    step_down: bool = False,
) -> list[float]:
    """Return the p-values of the test of all candidates."""
    bound = NaiveBound(target, given)
    made = [families(block, bound) if bound.mean else [] for block in candidates]
    p = [1.0] * len(candidates)
    for number, (share, first) in enumerate(((0.8, 512), (0.2, 8))):

        def values(row: Vector, number: int = number) -> list[float]:
            if number:
                return [local_statistic(one, bound, row) for one in made]
            return [max(statistic(one, bound, row).values()) for one in made]

        observed = values(np.arange(target.n_samples))
        null: list[list[float]] = []
        stop = first
        while True:
            while len(null) < min(stop, n_permutations):
                (row,) = bound.orders((*key, number), range(len(null) + 1, len(null) + 2))
                null.append(values(row))
            n_reached = sum(reached(max(observed), max(one)) for one in null)
            is_lost = (1 + n_reached) / (1 + n_permutations) > level * share + 1e-12
            if len(null) == n_permutations or is_lost:
                break
            if n_reached >= max(3, 8 * level * share * len(null)):
                break
            stop *= 4
        found = stage_p_values(observed, np.array(null).T, step_down)
        p = [min(old, new / share) for old, new in zip(p, found, strict=True)]
        if not step_down and min(p) <= level + 1e-12 and min(p) < 1:
            break
    return p
