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

Many candidates of one kind need fewer pilot permutations each, as their common mean and standard
deviation are known from all of them. Whether they have common ones is seen from the pilot itself:
differences between candidates that are real are found again in its other half.

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
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from pidselect.data import FloatArray, IntArray

#: Pilot permutations per candidate.
PILOT_PERMUTATIONS = 50

#: Pilot permutations per candidate if there are many of one kind, and the number that are many.
#: With the observed data and 39 of the test, the fewest that a sequential test may need, they fill
#: three batches of 16.
POOLED_PERMUTATIONS, MANY_ALIKE = 8, 100

#: Additional pilot permutations of candidates that differ from the others, by numbers that no test
#: reaches.
MORE_PERMUTATIONS = range(2**40, 2**40 + 48)

#: Standard errors by which the pooled mean, and probability by which the pooled variance, may be
#: missed by a candidate that does not differ.
UNLIKE_MEAN, UNLIKE_VARIANCE = 3.5, 1e-4

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

    @classmethod
    def from_alike(
        cls, pilot: FloatArray, chi2_null: Sequence[bool], kinds: IntArray
    ) -> tuple[NullStandardizer, IntArray]:
        """Estimate both for all candidates of a kind together.

        The pilot has the shape (n_tests, n_candidates, n_estimators, n_permutations). Returns also
        which candidates differ from those of their kind, or have too few of them.
        """
        which = np.array(chi2_null)[:, np.newaxis]
        values = _signed_root(pilot, which)
        centre, scale = np.zeros((2, *values.shape[:-1], 1))
        differs = np.ones(len(kinds), dtype=bool)
        for kind in np.flatnonzero(np.bincount(kinds) >= MANY_ALIKE):
            members = np.flatnonzero(kinds == kind)
            mean, deviation, differs[members] = _pool(values[:, members])
            centre[:, members], scale[:, members] = mean, deviation
        return cls(centre, scale, which), np.flatnonzero(differs)

    def replaced(self, places: IntArray, by: NullStandardizer) -> NullStandardizer:
        """Return the standardization with that of some candidates replaced."""
        centre, scale = self.centre.copy(), self.scale.copy()
        centre[:, places], scale[:, places] = by.centre, by.scale
        return replace(self, centre=centre, scale=scale)

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


def _pool(values: FloatArray) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return the mean and the standard deviation over candidates, and which of them differ.

    Values have the shape (n_tests, n_candidates, n_estimators, n_permutations), the first two
    results (n_tests, 1, n_estimators, 1). If the variance between candidates is larger than the
    sampling variance of `PILOT_PERMUTATIONS` for each would be, all differ.
    """
    n = values.shape[-1]
    with np.errstate(invalid="ignore"):
        mean, variance = values.mean(axis=-1), values.var(axis=-1, ddof=1)
    low, middle, high = chi2.ppf([UNLIKE_VARIANCE, 0.5, 1 - UNLIKE_VARIANCE], n - 1) / (n - 1)
    with np.errstate(invalid="ignore"):
        typical = np.median(variance, axis=1, keepdims=True) / middle
        off = np.abs(mean - np.median(mean, axis=1, keepdims=True))
        alike = (off <= UNLIKE_MEAN * np.sqrt(typical / n)) & (variance <= high * typical)
        alike &= (variance >= low * typical) & (variance > MIN_SCALE**2)
    differs = ~alike.all(axis=(0, 2))
    if differs.sum() > len(differs) - MANY_ALIKE:
        return np.zeros(()), np.zeros(()), np.ones(len(differs), dtype=bool)
    known = values[:, ~differs]
    centre = known.mean(axis=(1, 3), keepdims=True)
    squared = known.var(axis=-1, ddof=1).mean(axis=1)[:, np.newaxis, :, np.newaxis]
    first, second = known[..., : n // 2], known[..., n // 2 :]
    vary = _covaries(first.mean(axis=-1), second.mean(axis=-1), squared / PILOT_PERMUTATIONS)
    # The variance of a sample variance of m values is 2 / (m - 1) of its square.
    limit = 2.0 * squared**2 / (PILOT_PERMUTATIONS - 1)
    vary |= _covaries(first.var(axis=-1, ddof=1), second.var(axis=-1, ddof=1), limit)
    return centre, np.sqrt(squared), differs | vary


def _covaries(first: FloatArray, second: FloatArray, limit: FloatArray) -> bool:
    """Return whether the covariance over candidates, axis 1, exceeds a limit by 2 standard errors.

    Sampling errors of the two halves are independent, so that it is the variance between
    candidates, whatever the distribution of their values.
    """
    first = first - first.mean(axis=1, keepdims=True)
    second = second - second.mean(axis=1, keepdims=True)
    products = first * second
    error = products.std(axis=1) / np.sqrt(products.shape[1])
    return bool((products.mean(axis=1) > limit[:, 0, :, 0] + 2.0 * error).any())


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
