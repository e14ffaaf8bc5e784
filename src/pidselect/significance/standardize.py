"""Null standardization: values of several estimators and columns in units of their own null.

A value that is large for one estimator may be small for another, and a nominal column of 300 levels
has larger values under independence than one of two. So every candidate and estimator has a few
pilot permutations, whose mean and standard deviation standardize its values. Pilot permutations are
used for nothing else: the test uses others, to which the observed value is exchangeable.

Means and standard deviations from few permutations are uncertain, and the maximum over many
candidates would favour those estimated too low. Candidates of the same type have nearly the same
null distribution, so estimates are shrunk towards their mean over candidates as far as sampling
error explains their differences (James and Stein 1961). Candidates that do differ, such as nominal
columns of two and of 300 levels, keep their own.

Estimates that are sums of squares (plug-in, Gaussian) have a chi-square null distribution with a
long upper tail, which would dominate other estimators; their square root has a normal tail (Fisher
1925).

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

#: Pilot permutations per candidate.
PILOT_PERMUTATIONS = 50

#: Standard deviation below which differences are rounding errors.
MIN_SCALE = 1e-12

#: Fewest candidates for shrinkage.
MIN_CANDIDATES = 4

#: Standard errors from the median beyond which a candidate is excluded from shrinkage.
OUTLIER = 4.0


@dataclass(frozen=True, eq=False)
class NullStandardizer:
    """Null mean and standard deviation of every candidate and estimator."""

    centre: FloatArray  # (..., n_estimators, 1), as is `scale`
    scale: FloatArray
    chi2_null: NDArray[np.bool_]  # (n_estimators, 1): whether the signed square root is taken

    @classmethod
    def from_pilot(cls, pilot: FloatArray, chi2_null: Sequence[bool]) -> NullStandardizer:
        """Estimate both from a pilot, (..., n_candidates, n_estimators, n_permutations)."""
        which = np.array(chi2_null)[:, np.newaxis]
        values, n = _signed_root(pilot, which), pilot.shape[-1]
        with np.errstate(invalid="ignore"):  # the scale of infinite values is NaN
            centre = values.mean(axis=-1, keepdims=True)
            scale = values.std(axis=-1, ddof=1, keepdims=True)
        usable = np.isfinite(centre) & (scale > MIN_SCALE)
        logarithm = np.log(np.where(usable, scale, 1.0))
        scale = np.where(
            usable, np.exp(_shrink(logarithm, np.full_like(scale, 0.5 / (n - 1)), usable)), 0
        )
        return cls(_shrink(centre, scale**2 / n, usable), scale, which)

    def apply(self, values: FloatArray) -> FloatArray:
        """Return standardized values, shape (..., n_estimators, n); 0 where the scale is 0.

        Examples
        --------
        One candidate by two estimators, of which the second is constant:

        >>> pilot = np.array([[[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]]])
        >>> standardizer = NullStandardizer.from_pilot(pilot, [False, False])
        >>> standardizer.apply(np.array([[[4.0, 1.0], [5.0, 6.0]]]))
        array([[[ 2., -1.],
                [ 0.,  0.]]])
        """
        has_scale = self.scale > MIN_SCALE
        with np.errstate(invalid="ignore"):
            above = _signed_root(values, self.chi2_null) - self.centre
            return np.where(has_scale, above / np.where(has_scale, self.scale, 1.0), 0.0)


def _shrink(values: FloatArray, variance: FloatArray, usable: NDArray[np.bool_]) -> FloatArray:
    """Shrink estimates with these sampling variances towards their mean over candidates.

    Outliers keep their own: they would inflate the variance between candidates.
    """
    known = np.where(usable, values, 0.0)
    alike = usable & (np.abs(known - _median(values, usable)) <= OUTLIER * np.sqrt(variance))
    return np.where(alike, _shrink_to_mean(values, variance, alike), values)


def _median(values: FloatArray, usable: NDArray[np.bool_]) -> FloatArray:
    """Return the median of the usable values over candidates; 0 if there are none."""
    count = usable.sum(axis=-3, keepdims=True)
    ascending = np.sort(np.where(usable, values, np.inf), axis=-3)
    middle = np.maximum(count - 1, 0) // 2, np.minimum(count // 2, values.shape[-3] - 1)
    low, high = (np.take_along_axis(ascending, rank, axis=-3) for rank in middle)
    return np.where(count > 0, (low + high) / 2.0, 0.0)


def _shrink_to_mean(
    values: FloatArray, variance: FloatArray, usable: NDArray[np.bool_]
) -> FloatArray:
    """Shrink by the share of the variance between candidates that sampling error explains."""
    count = usable.sum(axis=-3, keepdims=True)
    known = np.where(usable, values, 0.0)
    mean = known.sum(axis=-3, keepdims=True) / np.maximum(count, 1)
    squares = np.where(usable, (known - mean) ** 2, 0.0).sum(axis=-3, keepdims=True)
    expected = np.where(usable, variance, 0.0).sum(axis=-3, keepdims=True) / np.maximum(count, 1)
    observed = squares / np.maximum(count - 1, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        kept = np.where(observed > expected, 1.0 - expected / observed, 0.0)
    return np.where(count >= MIN_CANDIDATES, mean + kept * (known - mean), values)


def _signed_root(values: FloatArray, chi2_null: NDArray[np.bool_]) -> FloatArray:
    return np.where(chi2_null, np.sign(values) * np.sqrt(np.abs(values)), values)
