"""Scaling of columns to standard deviation 1, the same for any order of the rows and any units.

Nearest-neighbour estimates depend on which distances are equal. In floating point, equal steps of a
rounded column would no longer be equal after division by its standard deviation, and which of them
differ would depend on the unit of the column. So values on a lattice, as rounded numbers are, are
scaled as integers, by a factor of few bits: their products and differences are exact.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from pidselect.data import FloatArray
from pidselect.jit import njit

#: Rounding errors of numbers up to 1 that may have been computed from others, of 32 or 64 bits.
FLOAT32_ERROR, FLOAT64_ERROR = 2.0**-22, 2.0**-44

#: Random numbers appear to lie on a lattice with a probability of at most 2 to this power.
CHANCE = -20.0

#: The smallest gap between numbers on a lattice has at most this many steps.
MAX_STEPS = 1000

#: Bits of the factor of a lattice, unless its integers need more than the other half.
FACTOR_BITS = 26

#: Bits of the median gap between other numbers that are kept. Affine copies of a column then have
#: the same scores, with few exceptions where a rounding error exceeds the remaining bits.
GAP_BITS = 22


def zscores(values: FloatArray) -> FloatArray:
    """Return a column with standard deviation 1 (ddof=1) and mean about 0.

    Missing values stay missing; a constant column becomes zeros. Equal steps of a column on a
    lattice stay equal to the bit, and all distances are invariant under permutations of samples
    and, up to very rare rounding, under affine maps.
    """
    scores = np.full(len(values), np.nan)
    present = ~np.isnan(values)
    levels, level, count = np.unique(values[present], return_inverse=True, return_counts=True)
    if len(levels) <= 1:
        scores[present] = 0.0
        return scores
    # Scaling by a power of two is exact and prevents overflow and underflow of squares.
    _, exponent = np.frexp(max(-levels[0], levels[-1]))
    numbers = np.ldexp(levels, -exponent)
    multiples = lattice_multiples(numbers)
    if multiples is not None:
        numbers = multiples
    mean = _symmetric_sum(count * numbers) / len(level)
    total = _symmetric_sum(count * (numbers - mean) ** 2)
    deviation = np.sqrt(total / (len(level) - 1))
    if multiples is not None:
        bits = min(FACTOR_BITS, 52 - int(multiples[-1]).bit_length())
        fraction, exponent = np.frexp(1.0 / deviation)
        factor = np.ldexp(np.rint(np.ldexp(fraction, bits)), exponent - bits)
        score = (multiples - np.rint(mean)) * factor
    else:
        score = (numbers - mean) / deviation
        gaps = np.diff(score)
        # At most half the smallest gap: no two values become equal.
        middle = np.partition(gaps, len(gaps) // 2)[len(gaps) // 2]
        largest_unit = min(0.5 * gaps.min(), 0.5**GAP_BITS * middle)
        unit = np.ldexp(0.5, np.frexp(largest_unit)[1])
        if largest_unit > 0.0 and score[-1] - score[0] < 2.0**52 * unit:
            score = np.rint(score / unit) * unit
    scores[present] = score[level]
    return scores


def lattice_multiples(levels: FloatArray) -> FloatArray | None:
    """Return ascending numbers up to 1 as integers from 0 on, in units of their common step.

    None if they have no common step, up to rounding errors, or one that random numbers may have.

    Examples
    --------
    >>> lattice_multiples(np.array([-0.3, 0.1, 0.1 + 0.2, 0.9]))
    array([0., 2., 3., 6.])
    >>> lattice_multiples(np.sqrt([0.1, 0.2, 0.3, 0.4]))
    """
    gaps = np.diff(levels)
    span = levels[-1] - levels[0]
    are_single = np.array_equal(levels, levels.astype(np.float32))
    for error in (FLOAT32_ERROR, FLOAT64_ERROR) if are_single else (FLOAT64_ERROR,):
        apart = gaps > 4.0 * error
        # Numbers count as equal by their usual rounding error, not by that of much larger ones.
        if not apart.all():
            size = np.median(np.abs(levels))
            if (gaps[~apart] > 4.0 * error * size).any():
                continue
        bits = -np.log2(16.0 * error)
        n_gaps = len(gaps)
        evidence = max(3.0, (bits * (n_gaps - 1) + CHANCE) / n_gaps)
        smallest = gaps[apart].min() * (1.0 - 1e-9) / MAX_STEPS
        least = max(64.0 * error, span * 2.0**-evidence, smallest)
        # Most columns without a common step are recognized by their first gaps.
        if common_step(np.sort(gaps[:32]), error, least) == 0.0:
            continue
        step = common_step(np.sort(gaps), error, least)
        if step == 0.0:
            continue
        multiples = np.append(0.0, np.cumsum(np.rint(gaps / step)))
        on_lattice = multiples * (span / multiples[-1])
        distance = np.abs(on_lattice - (levels - levels[0]))
        if distance.max() <= 8.0 * error:
            return multiples
    return None


@njit(cache=True, nogil=True, error_model="numpy")
def common_step(gaps: FloatArray, error: float, least: float) -> float:
    """Return the largest number of which all gaps are multiples, or 0 if it is less than `least`.

    Euclid's algorithm. Gaps are ascending, since each gap known as a multiple reduces the error
    of the step.
    """
    step, largest = 0.0, 1.0
    for gap in gaps:
        if gap <= 4.0 * error:
            continue
        if step == 0.0:
            step = gap
        multiple = np.rint(gap / step)
        rest, tolerance = abs(gap - multiple * step), 4.0 * error * (1.0 + multiple / largest)
        if rest > tolerance:
            before = step
            while rest > tolerance:
                step, rest = rest, abs(step - np.rint(step / rest) * rest)
            multiple = np.rint(before / step)
            step, largest = before / multiple, largest * multiple
        elif multiple > largest:
            step, largest = gap / multiple, multiple
        if step < least:
            return 0.0
    return step


def normal_scores(values: FloatArray) -> FloatArray:
    r"""Return the normal scores of a column's ranks, with standard deviation 1 (ddof=1).

    Rank n of N, ties sharing their average, becomes :math:`\Phi^{-1}(n / (N + 1))`. Missing values
    stay missing; a constant column becomes zeros. Scores are not centred, so that distances
    between them are invariant to the bit under strictly monotone maps and permutations of samples.
    """
    scores = np.full(len(values), np.nan)
    present = ~np.isnan(values)
    _, level, size = np.unique(values[present], return_inverse=True, return_counts=True)
    if len(size) <= 1:
        scores[present] = 0.0
        return scores
    # Twice the rank, counted from the nearer end: a negated column has exactly negated scores.
    n = len(level)
    from_below = 2 * np.cumsum(size) - size + 1
    from_above = 2 * (n + 1) - from_below
    score = ndtri(np.minimum(from_below, from_above) / (2 * (n + 1)))
    score = np.where(from_above < from_below, -score, score)
    mean = _symmetric_sum(size * score) / n
    total = _symmetric_sum(size * (score - mean) ** 2)
    score /= np.sqrt(total / (n - 1))
    scores[present] = score[level]
    return scores


def _symmetric_sum(values: FloatArray) -> float:
    """Return the sum, rounded alike for values in reverse order."""
    return float(np.sum(values + values[::-1])) / 2.0
