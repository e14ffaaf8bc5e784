r"""Sequential tests: draw surrogates only until it is clear which way a test goes.

A gambler bets against the null hypothesis. If it holds, the observed value and its surrogates are
exchangeable, so that after t draws of which L reached the observed value, the next one does so with
probability (L + 1) / (t + 2): bets at these odds are fair. Betting as if the true probability were
uniform on (0, c) leaves the gambler with

.. math:: W_t = \frac1c P\big(\mathrm{Bin}(t + 1, c) > L_t\big)

times the stake (Fischer and Ramdas 2025). A fair game multiplies the stake by w at some time with
probability at most 1/w (Ville), so that 1 / max W is a p-value at whatever time one stops, for
whatever reason. Nothing is lost by looking after every draw.

References
----------
L. Fischer, A. Ramdas, Sequential Monte Carlo testing by betting. Journal of the Royal Statistical
Society B (2025). J. Besag, P. Clifford, Sequential Monte Carlo p-values. Biometrika 78 (1991).
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from pidselect.data import FloatArray
from pidselect.significance.permutation_test import ROUNDING, TIE

#: Draws after which a test ends in any case, or more where alpha needs more.
MOST_DRAWS = 1000

#: The bet's c as a share of alpha. Nearer to 1 tells p-values just below alpha from those above,
#: but needs more draws: 27 that never reach the observed value at 0.5, 39 at 0.8, 58 at 0.95.
CAUTION = 0.8

#: A gambler left with this share of the stake gives up.
HOPELESS = 0.05

Decision = Literal["significant", "not significant", "open"]


def most_draws(alpha: float) -> int:
    """Return after how many draws a test ends in any case: five times what clear ones take.

    Examples
    --------
    >>> most_draws(0.05), most_draws(0.001)
    (1000, 10000)
    """
    return max(MOST_DRAWS, math.ceil(10.0 / alpha))


def wealth(reached: NDArray[np.bool_], alpha: float) -> FloatArray:
    """Return what a stake of 1 has become after each draw, shape (..., n_draws).

    Parameters
    ----------
    reached : array of bool, shape (..., n_draws)
        Whether each draw reached the observed value.
    alpha : float
        The level of the test that the bet is made for; the game is fair for any.

    Examples
    --------
    >>> wealth(np.array([False, False, True]), 0.05).round(2)
    array([1.96, 2.88, 0.23])
    """
    so_far = np.cumsum(reached, axis=-1)
    draws = np.arange(1, reached.shape[-1] + 1)
    bet = CAUTION * alpha
    # P(Bin(n, c) > L) is P(Beta(L + 1, n - L) < c).
    return np.asarray(betainc(so_far + 1.0, draws - so_far + 1.0, bet) / bet)


def betting_p_values(observed: FloatArray, null: FloatArray, alpha: float) -> FloatArray:
    """Return a p-value for each observed value, valid however the number of draws came about.

    Parameters
    ----------
    observed : array, shape (n_candidates,)
    null : array, shape (n_draws,)
        In the order of drawing.
    alpha : float

    Examples
    --------
    >>> betting_p_values(np.array([2.5, 0.5]), np.arange(40.0) % 2, 0.05).round(4)
    array([0.0492, 0.5102])
    """
    if not len(null):
        return np.ones(len(observed))
    reached = null >= np.asarray(observed)[:, np.newaxis] - TIE
    return np.asarray(1.0 / np.maximum(wealth(reached, alpha).max(axis=-1), 1.0))


def verdict(observed: float, null: FloatArray, alpha: float) -> Decision:
    """Say whether the draws so far settle the test of one value.

    Examples
    --------
    >>> verdict(2.5, np.zeros(20), 0.05), verdict(2.5, np.zeros(39), 0.05)
    ('open', 'significant')
    >>> verdict(2.5, np.array([3.0, 1.0, 4.0, 3.0, 1.0, 3.0, 2.0, 3.0]), 0.05)
    'not significant'
    """
    game = wealth(null >= observed - TIE, alpha)
    if len(game) and game.max() >= 1.0 / (alpha + ROUNDING):
        return "significant"
    if len(game) and (game[-1] < HOPELESS or len(game) >= most_draws(alpha)):
        return "not significant"
    return "open"


def betting_critical_value(null: FloatArray, alpha: float) -> float | None:
    """Return what a value must exceed to be significant after all these draws; None if none is.

    A value that had been significant at an earlier time may lie below the line.

    Examples
    --------
    >>> betting_line(np.arange(39.0), 0.05), betting_line(np.arange(20.0), 0.05)
    (38.0, None)
    """
    allowed = np.arange(len(null) + 1.0)
    bet = CAUTION * alpha
    enough = betainc(allowed + 1.0, len(null) - allowed + 1.0, bet) / bet >= 1 / (alpha + ROUNDING)
    if not enough[0] or not len(null):
        return None
    return float(np.sort(null)[::-1][int(np.flatnonzero(enough)[-1])])
