"""Standards: values of unlike estimators and columns on one scale, that of their own surrogates.

What is large for one estimator may be small for another, and a label of 300 levels tells much more
by chance than one of two. So every candidate has, for every estimator, a few pilot draws, which fix
a centre and a scale; how far a value lies above its own centre can then be compared. Pilot draws
decide nothing else: the test has draws of its own, and to those the observed value is exchangeable.

Few draws leave centre and scale uncertain, by a seventh of a standard deviation and by a tenth of
it, and of many candidates the most fortunate one would profit. Candidates of the same kind have the
same null distribution, or nearly; so their estimates are drawn together as far as they differ no
more than chance makes them (James and Stein 1961). Where they do differ, as labels of two and of
300 levels do, each keeps its own.

Where the estimate is a sum of squares, as that of counts and of correlations is, its null
distribution has the long tail of a chi-square, and its largest values would drown those of an
estimator without one. Its square root has a normal tail (Fisher 1925).

References
----------
W. James, C. Stein, Estimation with quadratic loss. Proceedings of the Fourth Berkeley Symposium
(1961). R. A. Fisher, Statistical Methods for Research Workers (1925), for the square root.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pidselect.data import FloatArray

#: Draws that fix a centre and a scale.
PILOT_DRAWS = 50

#: A standard deviation below this is rounding.
NO_SCALE = 1e-12

#: From this many candidates on, what they have in common can be told.
FEWEST_TO_SHARE = 4

#: Candidates this many standard errors away from the middle one are of another kind.
UNLIKE = 4.0


@dataclass(frozen=True, eq=False)
class NullStandardizer:
    """Centre and scale of every candidate by every estimator, and which estimates are skewed.

    Parameters
    ----------
    centre, scale : array, shape (..., n_members, 1)
    skewed : array of bool, shape (n_members, 1)
        The estimators of which the square root is taken.
    """

    centre: FloatArray
    scale: FloatArray
    skewed: NDArray[np.bool_]

    @classmethod
    def of(cls, pilot: FloatArray, skewed: Sequence[bool]) -> NullStandardizer:
        """Fix the standard by pilot draws.

        Parameters
        ----------
        pilot : array, shape (..., n_candidates, n_members, n_draws)
        skewed : sequence of bool, one for each member
        """
        which = np.array(skewed)[:, np.newaxis]
        values, n_draws = _straightened(pilot, which), pilot.shape[-1]
        with np.errstate(invalid="ignore"):  # infinite values have no scale: it comes out as NaN
            centre = values.mean(axis=-1, keepdims=True)
            scale = values.std(axis=-1, ddof=1, keepdims=True)
        usable = np.isfinite(centre) & (scale > NO_SCALE)
        logarithm = np.log(np.where(usable, scale, 1.0))
        scale = np.where(
            usable, np.exp(_shrunk(logarithm, np.full_like(scale, 0.5 / (n_draws - 1)), usable)), 0
        )
        return cls(_shrunk(centre, scale**2 / n_draws, usable), scale, which)

    def apply(self, values: FloatArray) -> FloatArray:
        """Return values, shape (..., n_members, n), in scales above the centre; 0 without a scale.

        Examples
        --------
        One candidate by two estimators, of which the second has always the same value:

        >>> pilot = np.array([[[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]]])
        >>> Standard.of(pilot, [False, False]).apply(np.array([[[4.0, 1.0], [5.0, 6.0]]]))
        array([[[ 2., -1.],
                [ 0.,  0.]]])
        """
        has_scale = self.scale > NO_SCALE
        with np.errstate(invalid="ignore"):
            above = _straightened(values, self.skewed) - self.centre
            return np.where(has_scale, above / np.where(has_scale, self.scale, 1.0), 0.0)


def _shrunk(values: FloatArray, variance: FloatArray, usable: NDArray[np.bool_]) -> FloatArray:
    """Draw estimates towards the mean of all candidates, as far as chance makes them differ.

    Parameters
    ----------
    values, variance : array, shape (..., n_candidates, n_members, 1)
        Estimates, and the variance that each has by chance.
    usable : array of bool, the same shape
        Which of them count; the others stay as they are.
    """
    # One unlike the others keeps its own, whatever their number: it would pass for chance.
    known = np.where(usable, values, 0.0)
    alike = usable & (np.abs(known - _median(values, usable)) <= UNLIKE * np.sqrt(variance))
    return np.where(alike, _towards_mean(values, variance, alike), values)


def _median(values: FloatArray, usable: NDArray[np.bool_]) -> FloatArray:
    """Return the median of the usable ones over all candidates; 0 if there are none."""
    count = usable.sum(axis=-3, keepdims=True)
    ascending = np.sort(np.where(usable, values, np.inf), axis=-3)
    places = np.maximum(count - 1, 0) // 2, np.minimum(count // 2, values.shape[-3] - 1)
    low, high = (np.take_along_axis(ascending, place, axis=-3) for place in places)
    return np.where(count > 0, (low + high) / 2.0, 0.0)


def _towards_mean(
    values: FloatArray, variance: FloatArray, usable: NDArray[np.bool_]
) -> FloatArray:
    """Draw the usable ones towards their mean by the share of variance that chance explains."""
    count = usable.sum(axis=-3, keepdims=True)
    known = np.where(usable, values, 0.0)
    mean = known.sum(axis=-3, keepdims=True) / np.maximum(count, 1)
    squares = np.where(usable, (known - mean) ** 2, 0.0).sum(axis=-3, keepdims=True)
    null_atoms = np.where(usable, variance, 0.0).sum(axis=-3, keepdims=True) / np.maximum(count, 1)
    observed = squares / np.maximum(count - 1, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        own = np.where(observed > null_atoms, 1.0 - null_atoms / observed, 0.0)
    return np.where(count >= FEWEST_TO_SHARE, mean + own * (known - mean), values)


def _straightened(values: FloatArray, skewed: NDArray[np.bool_]) -> FloatArray:
    return np.where(skewed, np.sign(values) * np.sqrt(np.abs(values)), values)
