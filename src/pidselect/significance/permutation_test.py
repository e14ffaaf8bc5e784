r"""Tests of whether the best or the weakest of several candidates is more than chance.

A selection step looks at many candidates and takes an extreme one, so chance must be given as many
tries. The *maximum statistic* does that: under the null hypothesis, the largest value over all
candidates, each with its own surrogate, is what the largest observed value competes with. It
controls the family-wise error over the candidates of a step (Novelli et al. 2019). The *minimum
statistic* does the same for the weakest of the selected ones.

With n draws, of which some are as large as the observed value (or within 1e-10 of it, so that
rounding decides nothing), :math:`p = (1 + \#) / (1 + n)`.
"""

from __future__ import annotations

import math

import numpy as np

from pidselect.data import FloatArray

#: Values this little apart count as equal: only rounding sets them apart.
TIE = 1e-10

#: What rounding may have taken from a level of significance such as 1 - 0.95.
ROUNDING = 1e-12


def maximum_statistic(surrogates: FloatArray) -> FloatArray:
    """Return, for every draw, the largest value over all candidates.

    Parameters
    ----------
    surrogates : array, shape (n_candidates, n_draws)
    """
    return np.asarray(surrogates.max(axis=0))


def minimum_statistic(surrogates: FloatArray) -> FloatArray:
    """Return, for every draw, the smallest value over all candidates.

    Parameters
    ----------
    surrogates : array, shape (n_candidates, n_draws)
    """
    return np.asarray(surrogates.min(axis=0))


def first_largest(values: FloatArray) -> int:
    """Return the place of the largest value, of equal ones the first.

    Examples
    --------
    >>> first_largest(np.array([0.1, 0.3, 0.1 + 0.2]))  # 0.1 + 0.2 is 0.30000000000000004
    1
    """
    return int(np.argmax(values >= values.max() - TIE))


def first_smallest(values: FloatArray) -> int:
    """Return the place of the smallest value, of equal ones the first.

    Examples
    --------
    >>> first_smallest(np.array([0.5, 0.1 + 0.2, 0.3]))  # 0.1 + 0.2 is 0.30000000000000004
    1
    """
    return int(np.argmax(values <= values.min() + TIE))


def p_values(observed: FloatArray, null: FloatArray) -> FloatArray:
    """Return (1 + number of null values that reach the observed one) / (1 + number of them).

    Examples
    --------
    >>> p_values(np.array([2.5, 0.5]), np.array([0.0, 1.0, 2.0, 3.0]))
    array([0.4, 0.8])
    """
    below = np.searchsorted(np.sort(null), np.asarray(observed) - TIE, side="left")
    return np.asarray((1.0 + len(null) - below) / (1.0 + len(null)))


def critical_value(null: FloatArray, alpha: float) -> float:
    """Return the value that an observed one must exceed to be significant at level alpha.

    Examples
    --------
    Of 99 draws, four may reach the observed value at 5 %: (1 + 4) / 100 is just small enough.

    >>> float(null_line(np.arange(99.0), 0.05))
    94.0
    """
    # At most all draws but one: with p = 1 nothing is significant, however near alpha comes to it.
    allowed = min(math.floor((alpha + ROUNDING) * (1 + len(null))) - 1, len(null) - 1)
    return float(np.sort(null)[::-1][allowed])


def is_significant(p_value: float, alpha: float) -> bool:
    """Return whether p <= alpha < 1, whatever rounding did to either.

    Examples
    --------
    >>> is_significant(0.2, 1 - 0.8)  # 1 - 0.8 is 0.19999999999999996
    True
    """
    return bool(p_value <= alpha + ROUNDING and p_value < 1)


def check_resolution(alpha: float, n_permutations: int) -> None:
    """Refuse so few draws that no p-value could ever reach alpha."""
    if not is_significant(1.0 / (1.0 + n_permutations), alpha):
        needed = math.ceil(1.0 / (alpha + ROUNDING)) - 1
        raise ValueError(
            f"n_permutations={n_permutations} cannot give a p-value below "
            f"1/(1+{n_permutations}) = {1 / (1 + n_permutations):.3g}, so nothing could ever be "
            f"significant at alpha={alpha:g}. Use n_permutations={needed} or more."
        )
