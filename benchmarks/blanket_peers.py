"""HITON-MB and IAMB with a G2 test, written small: Markov blankets by tests of independence.

References
----------
C. F. Aliferis, I. Tsamardinos, A. Statnikov, HITON: a novel Markov blanket algorithm for optimal
variable selection. AMIA (2003). I. Tsamardinos, C. F. Aliferis, A. Statnikov, Algorithms for large
scale Markov blanket discovery. FLAIRS (2003).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, xlogy

#: Level of every test, and the most variables that are conditioned on at a time.
ALPHA, MOST_GIVEN = 0.05, 3


class IndependenceTests:
    """G2 tests of the columns of a table of states, (n_samples, n_columns); each is run once."""

    def __init__(self, states: NDArray[np.int64]) -> None:
        self._columns = [np.unique(c, return_inverse=True)[1] for c in states.T]
        self._levels = [int(column.max()) + 1 for column in self._columns]
        self._known: dict[tuple[int, int, tuple[int, ...]], tuple[float, float]] = {}

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self._columns)

    def test(self, x: int, y: int, given: tuple[int, ...] = ()) -> tuple[float, float]:
        """Return the p-value of independence given some columns, and minus the G2 statistic.

        Degrees of freedom are those of the levels that occur in each stratum.
        """
        key = (min(x, y), max(x, y), tuple(sorted(given)))
        if key not in self._known:
            self._known[key] = self._compute(*key)
        return self._known[key]

    def _compute(self, x: int, y: int, given: tuple[int, ...]) -> tuple[float, float]:
        stratum = np.zeros(len(self._columns[x]), dtype=np.int64)
        for column in given:
            stratum = stratum * self._levels[column] + self._columns[column]
        if len(given) > 1:
            stratum = np.unique(stratum, return_inverse=True)[1]
        shape = (int(stratum.max()) + 1, self._levels[x], self._levels[y])
        cell = (stratum * shape[1] + self._columns[x]) * shape[2] + self._columns[y]
        n = np.bincount(cell, minlength=shape[0] * shape[1] * shape[2]).reshape(shape)
        of_x, of_y, total = n.sum(axis=2), n.sum(axis=1), n.sum(axis=(1, 2))
        sums = [xlogy(counts, counts).sum() for counts in (n, total, of_x, of_y)]
        g2 = 2.0 * (sums[0] + sums[1] - sums[2] - sums[3])
        degrees = (((of_x > 0).sum(axis=1) - 1) * ((of_y > 0).sum(axis=1) - 1)).sum()
        if degrees == 0:
            return 1.0, 0.0
        return float(chdtrc(degrees, g2)), -float(g2)


def hiton_pc(tests: IndependenceTests, target: int) -> tuple[list[int], dict[int, tuple[int, ...]]]:
    """Return parents and children, and the set given which each other column is independent."""
    separated: dict[int, tuple[int, ...]] = {}
    marginal = {x: tests.test(x, target) for x in range(tests.n_columns) if x != target}
    found: list[int] = []
    for x in sorted(marginal, key=marginal.__getitem__):
        if marginal[x][0] > ALPHA:
            separated[x] = ()
            continue
        found.append(x)
        # The newest variable first, then each one that it may make redundant.
        for one in (x, *(f for f in found if f != x)):
            others = [f for f in found if f != one]
            given = _separating_set(tests, one, target, others, None if one == x else x)
            if given is not None:
                separated[one] = given
                found.remove(one)
                if one == x:
                    break
    return found, separated


def _separating_set(
    tests: IndependenceTests, x: int, target: int, others: list[int], containing: int | None
) -> tuple[int, ...] | None:
    for size in range(1, min(MOST_GIVEN, len(others)) + 1):
        for given in combinations(others, size):
            if containing is not None and containing not in given:
                continue
            if tests.test(x, target, given)[0] > ALPHA:
                return given
    return None


def hiton_mb(tests: IndependenceTests, target: int) -> set[int]:
    """Return parents and children, and the spouses: columns dependent on y given a child."""
    near, separated = hiton_pc(tests, target)
    blanket = set(near)
    for child in near:
        for x in hiton_pc(tests, child)[0]:
            if x == target or x in blanket:
                continue
            given = tuple({*separated.get(x, ()), child} - {x})
            if tests.test(x, target, given)[0] <= ALPHA:
                blanket.add(x)
    return blanket


def iamb(tests: IndependenceTests, target: int) -> set[int]:
    """Return the blanket by incremental association: all that are selected are conditioned on."""
    blanket: list[int] = []
    while True:
        others = [x for x in range(tests.n_columns) if x != target and x not in blanket]
        results = {x: tests.test(x, target, tuple(blanket)) for x in others}
        strongest = min(results, key=results.__getitem__, default=None)
        if strongest is None or results[strongest][0] > ALPHA:
            break
        blanket.append(strongest)
    for x in list(blanket):
        if tests.test(x, target, tuple(b for b in blanket if b != x))[0] > ALPHA:
            blanket.remove(x)
    return set(blanket)
