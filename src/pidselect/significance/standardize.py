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
from typing import NamedTuple

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

#: Standard errors by which the mean, and probability by which the variance of a candidate that is
#: pooled may be off.
UNLIKE_MEAN, UNLIKE_VARIANCE = 3.5, 1e-4

#: The largest variances of means and of variances between pooled candidates, in units of the common
#: variance and of its square. Beyond them scores would be 3 % and 10 % off on average.
MAX_MEANS, MAX_VARIANCES = 0.08, 0.05

#: Standard deviation below which differences are rounding errors.
MIN_SCALE = 1e-12

#: Least standard deviation of the square root of a value with a chi-square null distribution. It is
#: 0.60 for one degree of freedom, 0.71 for many; 0.5 is below what 50 permutations would estimate.
CHI_SCALE = 0.5

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
    def from_pilot(
        cls, pilot: FloatArray, chi2_null: Sequence[bool], n_samples: float = np.inf
    ) -> NullStandardizer:
        """Estimate both from a pilot, (..., n_candidates, n_estimators, n_permutations).

        The number of samples limits how small a standard deviation may be.
        """
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
        centre = _shrink(centre, scale**2 / n, usable)
        return cls(centre, _at_least_chi(scale, centre, which, n_samples), which)

    @classmethod
    def from_alike(
        cls,
        pilot: FloatArray,
        chi2_null: Sequence[bool],
        kinds: IntArray,
        n_samples: float = np.inf,
    ) -> tuple[NullStandardizer, list[IntArray]]:
        """Estimate both for all candidates of a kind together.

        The pilot has the shape (n_candidates, n_estimators, n_permutations). Returns also, for each
        estimator, the candidates that need a larger pilot.
        """
        which = np.array(chi2_null)[:, np.newaxis]
        values = _signed_root(pilot, which)
        centre, scale = np.zeros((2, *values.shape[:2], 1))
        unknown = np.ones(values.shape[:2], dtype=bool)
        for kind in np.flatnonzero(np.bincount(kinds) >= MANY_ALIKE):
            members = np.flatnonzero(kinds == kind)
            for estimator in range(values.shape[1]):
                found = _pool(values[members, estimator])
                centre[members, estimator, 0], scale[members, estimator, 0] = found[:2]
                unknown[members, estimator] = found[2]
        scale = _at_least_chi(scale, centre, which, n_samples)
        return cls(centre, scale, which), [np.flatnonzero(column) for column in unknown.T]

    def replaced(self, places: IntArray, estimator: int, by: NullStandardizer) -> NullStandardizer:
        """Return the standardization with that of some candidates by an estimator replaced."""
        centre, scale = self.centre.copy(), self.scale.copy()
        centre[places, estimator], scale[places, estimator] = by.centre[:, 0], by.scale[:, 0]
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


def _at_least_chi(
    scale: FloatArray, centre: FloatArray, chi2_null: NDArray[np.bool_], n_samples: float
) -> FloatArray:
    """Return scales not below that of a chi-square null distribution; 0 for infinite values.

    Smaller ones are of columns with a rare level, or hardly any samples to permute: most
    permutations have the same value and a few have a far larger one. In units of so small a scale,
    these few would exceed the values of all other candidates.
    """
    least = np.where(chi2_null & np.isfinite(centre), CHI_SCALE / np.sqrt(2.0 * n_samples), 0.0)
    return np.maximum(scale, least)


def _pool(values: FloatArray) -> tuple[FloatArray, float, NDArray[np.bool_]]:
    """Return the means of candidates, a common standard deviation, and who needs a larger pilot.

    Values have the shape (n_candidates, n_permutations). Means are shrunk towards their own mean by
    the share of their variance that is sampling error. Candidates whose mean or variance is too far
    from that of most are not pooled; if the others differ in earnest, none is.
    """
    n_candidates, n = values.shape
    with np.errstate(invalid="ignore"):
        mean, variance = values.mean(axis=1), values.var(axis=1, ddof=1)
        low, middle, high = chi2.ppf([UNLIKE_VARIANCE, 0.5, 1 - UNLIKE_VARIANCE], n - 1) / (n - 1)
        typical = np.median(variance) / middle
        alike = np.abs(mean - np.median(mean)) <= UNLIKE_MEAN * np.sqrt(typical / n)
        alike &= (variance > max(low * typical, MIN_SCALE**2)) & (variance < high * typical)
    if alike.sum() < MANY_ALIKE:
        return np.zeros(n_candidates), 0.0, np.ones(n_candidates, dtype=bool)
    first, second = values[alike, : n // 2], values[alike, n // 2 :]
    squared = float(variance[alike].mean())
    of_means = _Covariance.of(first.mean(axis=1), second.mean(axis=1))
    of_variances = _Covariance.of(first.var(axis=1, ddof=1), second.var(axis=1, ddof=1))
    differ = of_means.exceeds(MAX_MEANS * squared)
    differ |= of_variances.exceeds(MAX_VARIANCES * squared**2)
    kept = np.clip(of_means.value / mean[alike].var(), 0.0, 1.0)
    centre = mean[alike].mean() + kept * (mean - mean[alike].mean())
    return centre, float(np.sqrt(squared)), ~alike | differ


class _Covariance(NamedTuple):
    """The covariance over candidates of an estimate from two halves of the permutations.

    Their sampling errors are independent, so that it estimates the variance between candidates,
    whatever the distribution of the values.
    """

    value: float
    standard_error: float

    @classmethod
    def of(cls, first: FloatArray, second: FloatArray) -> _Covariance:
        products = (first - first.mean()) * (second - second.mean())
        return cls(float(products.mean()), float(products.std() / np.sqrt(len(products))))

    def exceeds(self, limit: float) -> bool:
        """Return whether it is larger than a limit, by more than sampling error explains."""
        return self.value > limit + 2.0 * self.standard_error


def _shrink(values: FloatArray, variance: FloatArray, usable: NDArray[np.bool_]) -> FloatArray:
    """Shrink estimates with these sampling variances towards their mean over candidates.

    Outliers keep their own: they would inflate the variance between candidates.
    """
    known = np.where(usable, values, 0.0)
    alike = usable & (np.abs(known - _median(values, usable)) <= OUTLIER * np.sqrt(variance))
    return np.where(alike, _shrink_to_mean(values, variance, alike), values)


def _median(values: FloatArray, usable: NDArray[np.bool_]) -> FloatArray:
    """Return the median of the usable values over candidates; 0 if there are none."""
    known = np.ma.array(values, mask=~usable)
    found = np.ma.median(known, axis=-3, keepdims=True)  # type: ignore[no-untyped-call]
    return np.ma.filled(found, 0.0)


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
