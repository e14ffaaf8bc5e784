"""Permutation tests of the best or weakest of several candidates: maximum and minimum statistic.

A selection step tests the extreme one of many candidates. The *maximum statistic* corrects for
that: its null distribution is that of the largest value over all candidates, each with a surrogate
of its own, which controls the family-wise error rate over the candidates of a step (Novelli et al.
2019). The *minimum statistic* is the analogue for the weakest selected feature.

With n permutations, p = (1 + #{null >= observed - 1e-10}) / (1 + n).
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from pidselect.data import FloatArray, IntArray

#: Of a test that may not have all of its permutations yet.
Decision = Literal["significant", "not significant", "open"]

#: Difference up to which values are tied: it is rounding error.
TIE = 1e-10

#: Rounding error of a level of significance such as 1 - 0.95.
ROUNDING = 1e-12

#: A test is futile if at least so many permutations have reached the observed value, and their
#: share is so many times its level.
FUTILE_NUMBER, FUTILE_SHARE = 3, 5.0


def maximum_statistic(surrogates: FloatArray) -> FloatArray:
    """Return the largest value over candidates, the first axis, for every permutation."""
    return np.asarray(surrogates.max(axis=0))


def minimum_statistic(surrogates: FloatArray) -> FloatArray:
    """Return the smallest value over candidates, the first axis, for every permutation."""
    return np.asarray(surrogates.min(axis=0))


def first_largest(values: FloatArray) -> int:
    """Return the index of the largest value, of tied ones the first."""
    return int(np.argmax(values >= values.max() - TIE))


def first_smallest(values: FloatArray) -> int:
    """Return the index of the smallest value, of tied ones the first."""
    return int(np.argmax(values <= values.min() + TIE))


def p_values(observed: FloatArray, null: FloatArray) -> FloatArray:
    """Return (1 + number of null values that reach the observed one) / (1 + number of them).

    Examples
    --------
    >>> p_values(np.array([2.5, 0.5]), np.array([0.0, 1.0, 2.0, 3.0]))
    array([0.4, 0.8])
    """
    least = np.asarray(observed) - TIE
    n_below = np.searchsorted(np.sort(null), least, side="left")
    n = 1.0 + len(null)
    return np.asarray((n - n_below) / n)


def step_down_p_values(
    observed: FloatArray, surrogates: FloatArray, order: IntArray | None = None
) -> FloatArray:
    """Return p-values by the step-down maximum statistic (Westfall and Young 1993).

    The largest value is tested against the maximum over all candidates, the next one against the
    maximum over all but the first, and so on; p-values are made monotone. This controls the
    family-wise error rate, with more power than the maximum over all. Tests of which all must
    reject have an `order` of the candidates in common.
    """
    if order is None:
        order = np.argsort(-observed, kind="stable")
    ascending = surrogates[order[::-1]]
    null = np.maximum.accumulate(ascending, axis=0)[::-1]
    least = observed[order, np.newaxis] - TIE
    n_reached = (null >= least).sum(axis=1)
    p = (1.0 + n_reached) / (1.0 + surrogates.shape[1])
    adjusted = np.empty(len(observed))
    adjusted[order] = np.maximum.accumulate(p)
    return adjusted


def critical_value(null: FloatArray, alpha: float) -> float:
    """Return the value that an observed one must exceed to be significant at level alpha.

    Examples
    --------
    Of 99 null values, four may reach the observed one at 5 %: p = (1 + 4) / 100.

    >>> float(critical_value(np.arange(99.0), 0.05))
    94.0
    """
    # At most all but one: p = 1 is never significant, however near to 1 alpha is.
    n = len(null)
    n_reached = math.floor((alpha + ROUNDING) * (1 + n)) - 1
    descending = np.sort(null)[::-1]
    return float(descending[min(n_reached, n - 1)])


def is_significant(p_value: float, alpha: float) -> bool:
    """Return whether p <= alpha < 1, up to rounding."""
    return bool(p_value <= alpha + ROUNDING and p_value < 1)


def fixed_decision(
    observed: float,
    null: FloatArray,
    alpha: float,
    n_permutations: int,
    ends_if_futile: bool = False,
) -> Decision:
    """Return the decision of a test of so many permutations after the first of them.

    It is known early if too many have reached the observed value.
    """
    n_reached = int((null >= observed - TIE).sum())
    if not is_significant((1 + n_reached) / (1 + n_permutations), alpha):
        return "not significant"
    if ends_if_futile and is_futile(n_reached, len(null), alpha):
        return "not significant"
    return "significant" if len(null) >= n_permutations else "open"


def is_futile(n_reached: int, n_permutations: int, alpha: float) -> bool:
    """Return whether too many of the first permutations have reached the observed value."""
    return n_reached >= max(FUTILE_NUMBER, FUTILE_SHARE * alpha * n_permutations)


def fewest_permutations(alpha: float) -> int:
    """Return the number of permutations without which no p-value reaches alpha.

    Examples
    --------
    >>> fewest_permutations(0.05)
    19
    """
    return math.ceil(1.0 / (alpha + ROUNDING)) - 1


def check_resolution(alpha: float, n_permutations: int) -> None:
    """Refuse too few permutations for any p-value to reach alpha."""
    if not is_significant(1.0 / (1.0 + n_permutations), alpha):
        needed = fewest_permutations(alpha)
        raise ValueError(
            f"n_permutations={n_permutations} allows no p-value below "
            f"1/(1+{n_permutations}) = {1 / (1 + n_permutations):.3g}, so that no feature could be "
            f"significant at alpha={alpha:g}. Use n_permutations={needed} or more."
        )
