"""The interaction scan in plain loops over contingency tables: slow, and easy to check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import combinations
from math import expm1, inf, isnan, log, log1p, prod
from typing import NamedTuple

from scipy.stats import chi2, norm

#: A column or a target of few levels, sample by sample.
Levels = Sequence[Hashable]

#: Levels of a column, classes of a target, and those of a numeric target, at most.
MAX_LEVELS, MAX_CLASSES, NUMERIC_CLASSES = 4, 6, 3


# --- levels --------------------------------------------------------------------------------------


def numbered(values: Sequence) -> list[int]:
    """Return values as 0, 1, ... in their order, missing ones last."""
    distinct = sorted({value for value in values if not isnan(value)})
    return [len(distinct) if isnan(value) else distinct.index(value) for value in values]


def few_levels(values: Sequence, is_nominal: bool, n_levels: int = MAX_LEVELS) -> list[int]:
    """Return the most frequent labels, or the quantile of numbers, with missing ones apart."""
    codes = numbered(values)
    if len(set(codes)) <= n_levels:
        return codes
    if is_nominal:
        count = Counter(codes)
        ranked = sorted(count, key=lambda code: (-count[code], code))
        return [min(ranked.index(code), n_levels - 1) for code in codes]
    present = sorted(value for value in values if not isnan(value))
    n_parts = max(n_levels - (len(present) < len(values)), 2)
    cuts = {nearest_cut(present, Fraction(part, n_parts)) for part in range(1, n_parts)}
    levels = [v if isnan(v) else sum(cut < v for cut in cuts) for v in values]
    if n_parts < n_levels:
        return numbered(levels)
    rarest = min((0, 1), key=levels.count)  # of missing values, if there are two levels only
    return numbered(
        [rarest if isnan(level) else level for level in levels] if n_parts == 2 else levels
    )


def nearest_cut(values: Sequence, share: Fraction) -> float:
    """Return the value, not the largest, up to which the share of samples is nearest to another.

    Of two that are as near, it is the one farther from the middle.
    """

    def distance(cut: float) -> tuple[Fraction, float]:
        part = Fraction(sum(value <= cut for value in values), len(values))
        return abs(part - share), cut if share <= Fraction(1, 2) else -cut

    return min(set(values) - {max(values)}, key=distance)


def ranks_within(values: Sequence[float], strata: Sequence[int]) -> list[Fraction]:
    """Return the mean rank of every value within its stratum, between 0 and 1."""
    ranks = []
    for value, stratum in zip(values, strata, strict=True):
        same = [v for v, s in zip(values, strata, strict=True) if s == stratum]
        n_below, n_tied = sum(v < value for v in same), same.count(value)
        ranks.append(Fraction(2 * n_below + n_tied, 2 * len(same)))
    return ranks


def target_classes(
    columns: Sequence[tuple[Sequence[float], bool]], strata: Sequence[int] | None = None
) -> list[int]:
    """Return the class of every sample, from columns of values, each nominal or not."""
    of_columns = []
    for values, is_nominal in columns:
        is_numeric = not is_nominal and len(set(values)) > NUMERIC_CLASSES + 1
        if is_numeric and strata is not None:
            values = ranks_within(values, strata)
        n_classes = NUMERIC_CLASSES if is_numeric else MAX_CLASSES
        of_columns.append(few_levels(values, is_nominal, n_classes))
    joint = list(zip(*of_columns, strict=True))
    distinct = sorted(set(joint))
    return few_levels([distinct.index(one) for one in joint], True, MAX_CLASSES)


# --- tables --------------------------------------------------------------------------------------


def information(columns: Sequence[Levels], y: Levels) -> float:
    """Return the mutual information of columns, jointly, and y, in nats."""
    x, n = list(zip(*columns, strict=True)), len(y)
    n_x, n_y, n_xy = Counter(x), Counter(y), Counter(zip(x, y, strict=True))
    return sum(m / n * log(m * n / (n_x[a] * n_y[b])) for (a, b), m in n_xy.items())


def interaction(columns: Sequence[Levels], y: Levels) -> float:
    """Return G of a pair or a triple: 2 N times what all smaller tuples do not have."""
    total = 0.0
    for size in range(1, len(columns) + 1):
        sign = (-1) ** (len(columns) - size)
        total += sign * sum(information(some, y) for some in combinations(columns, size))
    return 2 * len(y) * total


class Family(NamedTuple):
    """All tuples of columns whose tables have the same degrees of freedom."""

    df: int
    n_tables: int
    tuples: list[tuple[tuple[int, ...], list[Levels]]]  # those of different features, with levels


def families(
    several: Sequence[Levels],
    two: Sequence[Levels],
    owner: Sequence[int],
    n_classes: int,
    with_triples: bool,
    given: Sequence[Levels] = (),
) -> list[Family]:
    """Return the families of pairs of columns of several levels and of two, and of triples of two.

    Those of two are the same where no column has more. Tuples within a feature count as tables. One
    of a triple may be given, all of which have two levels.
    """
    n_given, two = len(given), [*given, *two]
    several, owner = [*given, *several], [*(-1 - place for place in range(n_given)), *owner]
    searched = [(several, 2)]
    if any(len(set(column)) > 2 for column in several[n_given:]):
        searched.append((two, 2))
    if with_triples:
        searched.append((two, 3))
    found: dict[tuple[int, int], list[tuple[int, ...]]] = {}
    for number, (columns, order) in enumerate(searched):
        usable = [place for place, column in enumerate(columns) if len(set(column)) > 1]
        if order == 2:
            usable = [place for place in usable if owner[place] >= 0]
        if len({owner[place] for place in usable}) < order:
            continue
        for places in combinations(usable, order):
            if sum(owner[place] < 0 for place in places) > 1:
                continue
            df = prod(len(set(columns[place])) - 1 for place in places)
            found.setdefault((number, df), []).append(places)
    return [
        Family(
            df * (n_classes - 1),
            len(tuples),
            [
                (
                    tuple(sorted(owner[p] for p in places if owner[p] >= 0)),
                    [searched[number][0][p] for p in places],
                )
                for places in tuples
                if len({owner[p] for p in places}) == len(places)
            ],
        )
        for (number, df), tuples in found.items()
    ]


def quantile(g: float, df: int, n_tables: int) -> float:
    """Return the normal quantile of the p-value of the largest of n values."""
    p = chi2.sf(max(g, 0.0), df)
    adjusted = -expm1(n_tables * log1p(-p)) if p < 1 else 1.0
    return float(norm.isf(min(adjusted, 1 - 2**-52)))  # so that it is finite


def statistic(tested: Sequence[Family], y: Levels) -> tuple[float, set[tuple[int, ...]]]:
    """Return the largest quantile, and the features of all tuples within rounding of it."""
    scored = [
        (quantile(interaction(columns, y), family.df, family.n_tables), features)
        for family in tested
        for features, columns in family.tuples
    ]
    largest = max((value for value, _ in scored), default=-inf)
    return largest, {features for value, features in scored if value >= largest - 1e-5}
