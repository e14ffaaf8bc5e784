r"""Contingency tables drawn with fixed margins: surrogates of discrete data without its rows.

A permutation of x within the levels of S changes the counts n(x, y, S), but not n(x, S) and
n(y, S). Given these margins, the table of every level of S has the distribution

.. math:: P(n) = \frac{\prod_x n_x! \prod_y n_y!}{N! \prod_{xy} n_{xy}!},

which is drawn cell by cell from hypergeometric distributions. Only counts are needed, and the time
grows as the square root of the number of rows: about 50 microseconds for 5 x 2 cells of 10^8 rows.

References
----------
W. M. Patefield, Algorithm AS 159: An efficient method of generating random R x C tables with given
row and column totals. Applied Statistics 30 (1981).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from pidselect.data import FloatArray, IntArray
from pidselect.jit import njit
from pidselect.significance.rng import key_arrays
from pidselect.significance.surrogate_kernels import OPTIONS, key_of, next_fraction, stream_of

#: Counts up to which logarithms of factorials are from a table; Stirling's series beyond it is
#: exact to 1e-12.
FACTORIALS = 128


#: Probabilities below which the sum over the others is 1 up to rounding.
SMALLEST = 1e-18


class Margins(NamedTuple):
    """The margins of the strata, the levels of S: of stratum s, ``x[x_start[s] : x_start[s + 1]]``.

    Strata in which x or y has one level only are left out.
    """

    x: IntArray
    x_start: IntArray
    y: IntArray
    y_start: IntArray


@dataclass(frozen=True, eq=False)
class ContingencyTable:
    """The counts of candidate x, target y and conditioning set S.

    `fixed` is the part of the sum over cells that does not change.
    """

    margins: Margins
    observed: float  # I(x; y | S) in nats
    fixed: float
    n_samples: int
    cell_weight: float  # of an occupied cell, besides n ln n

    @classmethod
    def from_cells(
        cls, x: IntArray, y: IntArray, s: IntArray, counts: IntArray, cell_weight: float = 0.0
    ) -> ContingencyTable:
        """Return the table of cells, given by the levels of x, y and S and the number of rows.

        Examples
        --------
        >>> cells = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.zeros(4, dtype=np.int64)
        >>> table = ContingencyTable.from_cells(*cells, np.array([50, 0, 0, 50]))
        >>> print(round(table.observed / np.log(2), 9))
        1.0
        """
        occupied = counts > 0
        x, y, s, counts = (np.asarray(part)[occupied] for part in (x, y, s, counts))
        n_samples = int(counts.sum())
        of_x, of_y = _margin(s, x, counts), _margin(s, y, counts)
        _, place = np.unique(s, return_inverse=True)
        n_s = np.bincount(place, counts)
        is_open = (of_x.sizes > 1) & (of_y.sizes > 1)
        margins = Margins(*of_x.take(is_open), *of_y.take(is_open))
        in_open = is_open[place]

        def total(sizes: NDArray[Any]) -> float:
            return float(np.sum(xlogy(sizes, sizes) + cell_weight))

        constant = total(n_s) - total(of_x.counts) - total(of_y.counts)
        order = np.lexsort((y, x, s))
        counts, in_open = counts[order], in_open[order]
        return cls(
            margins,
            (total(counts) + constant) / n_samples,
            total(counts[~in_open]) + constant,
            n_samples,
            cell_weight,
        )

    def score(self, stream_key: tuple[int, ...], permutations: range) -> FloatArray:
        """Return I(x; y | S) in nats of drawn tables, and of the observed one as number 0."""
        values = np.empty(len(permutations))
        key, numbers = key_arrays(stream_key, permutations)
        fill_drawn_sums(key, numbers, self.margins, self.cell_weight, LOG_FACTORIALS, values)
        values = (values + self.fixed) / self.n_samples
        values[numbers == 0] = self.observed
        return values


@dataclass(frozen=True, eq=False)
class _Margin:
    counts: IntArray  # by stratum and level
    sizes: IntArray  # the number of levels of each stratum

    def take(self, strata: NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
        """Return the counts of some strata, and where each begins."""
        sizes = self.sizes[strata]
        start = np.concatenate([[0], np.cumsum(sizes)])
        return self.counts[np.repeat(strata, self.sizes)], start


def _margin(s: IntArray, levels: IntArray, counts: IntArray) -> _Margin:
    pairs = np.stack([s, levels], axis=1)
    different, place = np.unique(pairs, axis=0, return_inverse=True)
    sums = np.zeros(len(different), dtype=np.int64)
    np.add.at(sums, place.reshape(-1), counts)
    return _Margin(sums, np.unique(different[:, 0], return_counts=True)[1].astype(np.int64))


def _log_factorials() -> FloatArray:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, FACTORIALS)))])


LOG_FACTORIALS = _log_factorials()


@njit(**OPTIONS)
def fill_drawn_sums(
    stream_key: NDArray[np.uint64],
    numbers: NDArray[np.uint64],
    margins: Margins,
    cell_weight: float,
    log_factorials: FloatArray,
    values: FloatArray,
) -> None:
    """Write the sum of n ln n, and of the weight of occupied cells, over each drawn table."""
    stream = stream_of(stream_key)
    left = np.empty(margins.y.size, dtype=np.int64)  # enough for one stratum
    for m in range(numbers.size):
        key = key_of(stream, numbers[m])
        total = 0.0
        for s in range(margins.x_start.size - 1):
            first, n_y = margins.y_start[s], margins.y_start[s + 1] - margins.y_start[s]
            n_left = 0
            for j in range(n_y):
                left[j] = margins.y[first + j]
                n_left += left[j]
            for place in range(margins.x_start[s], margins.x_start[s + 1] - 1):
                n_drawn, n_rest = margins.x[place], n_left
                n_left -= n_drawn
                for j in range(n_y):
                    n = n_drawn
                    if j < n_y - 1:
                        key, u = next_fraction(key)
                        n = hypergeometric(left[j], n_rest - left[j], n_drawn, u, log_factorials)
                    n_rest -= left[j]
                    n_drawn -= n
                    left[j] -= n
                    if n > 0:
                        total += n * np.log(n) + cell_weight
            for j in range(n_y):
                if left[j] > 0:
                    total += left[j] * np.log(left[j]) + cell_weight
        values[m] = total


@njit(**OPTIONS)
def hypergeometric(
    n_good: int, n_bad: int, n_drawn: int, u: float, log_factorials: FloatArray
) -> int:
    """Return how many of `n_drawn` without replacement are good, by inversion from the mode on.

    The time grows with the standard deviation, the square root of the counts.
    """
    low, high = max(0, n_drawn - n_bad), min(n_drawn, n_good)
    if low == high:
        return low
    mode = int((n_drawn + 1.0) * (n_good + 1.0) / (n_good + n_bad + 2.0))
    mode = min(max(mode, low), high)
    p = np.exp(
        _log_choose(n_good, mode, log_factorials)
        + _log_choose(n_bad, n_drawn - mode, log_factorials)
        - _log_choose(n_good + n_bad, n_drawn, log_factorials)
    )
    above, below, up, down = mode, mode, p, p
    u -= p
    while u > 0.0 and up + down > SMALLEST:
        if above == high:
            up = 0.0
        else:
            up *= float(n_good - above) * float(n_drawn - above)
            up /= float(above + 1) * float(n_bad - n_drawn + above + 1)
            above += 1
            u -= up
            if u <= 0.0:
                return above
        if below == low:
            down = 0.0
        else:
            down *= float(below) * float(n_bad - n_drawn + below)
            down /= float(n_good - below + 1) * float(n_drawn - below + 1)
            below -= 1
            u -= down
            if u <= 0.0:
                return below
    return mode


@njit(**OPTIONS)
def _log_choose(n: int, k: int, log_factorials: FloatArray) -> float:
    return (
        _log_factorial(n, log_factorials)
        - _log_factorial(k, log_factorials)
        - _log_factorial(n - k, log_factorials)
    )


@njit(**OPTIONS)
def _log_factorial(n: int, log_factorials: FloatArray) -> float:
    if n < log_factorials.size:
        return log_factorials[n]
    x = float(n)
    series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / (x * x)) / (x * x)) / x
    return (x + 0.5) * np.log(x) - x + 0.9189385332046727 + series
