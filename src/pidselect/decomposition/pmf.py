"""Joint distributions as arrays (one axis per source, the target last), and their atoms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from pidselect.data import FloatArray

#: Allowed deviation of the sum of a distribution from 1: rounding of many terms.
SUM_TOLERANCE = 1e-9


class PIDAtoms(NamedTuple):
    """The result of a measure in nats, in the order of the lattice's labels.

    `gap` is an upper bound of the numerical error of an atom, 0 for closed formulas. The
    misinformative part of an atom is ``informative - atoms``.
    """

    atoms: FloatArray
    gap: float = 0.0
    informative: FloatArray | None = None


class TooManyStatesError(ValueError):
    """A measure cannot be solved in reasonable time for variables of so many states."""

    def __init__(self, reason: str, alternative: str) -> None:
        super().__init__(
            f"{reason}. Use fewer bins; set feature_types={{...: 'continuous'}} for integers that "
            f"are measurements, so that they are binned; or use measure={alternative!r}."
        )
        self.reason = reason


def check_pmf(pmf: ArrayLike) -> FloatArray:
    """Return a joint distribution as a float64 array that sums to 1; raise if it is not one.

    Examples
    --------
    >>> check_pmf([[[0.5, 0.0]], [[0.25, 0.5]]])
    Traceback (most recent call last):
    ...
    ValueError: pmf must sum to 1, but sums to 1.25; divide counts by their sum.
    """
    tolerance = SUM_TOLERANCE
    try:
        values = np.asarray(pmf)
        if np.ma.isMaskedArray(pmf) or values.dtype.kind not in "biuf":
            raise TypeError
        probabilities = values.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"pmf must be an array of real numbers, one axis for each source and the target last, "
            f"got {type(pmf).__name__}."
        ) from None
    if values.dtype.kind == "f":
        tolerance = max(tolerance, values.size * float(np.finfo(values.dtype).eps))
    if probabilities.ndim < 3:
        raise ValueError(
            f"pmf needs one axis for each of two or more sources and one for the target (the last "
            f"axis), but has {probabilities.ndim}: shape {probabilities.shape}."
        )
    if not probabilities.size:
        raise ValueError(f"pmf is empty: shape {probabilities.shape}.")
    _check_entries(probabilities, ~np.isfinite(probabilities), "finite")
    _check_entries(probabilities, probabilities < 0, "at least 0")
    total = probabilities.sum()
    if abs(total - 1) > tolerance:
        raise ValueError(
            f"pmf must sum to 1, but sums to {total:.10g}; divide counts by their sum."
        )
    return probabilities / total


def _check_entries(probabilities: FloatArray, invalid: NDArray[np.bool_], rule: str) -> None:
    if invalid.any():
        index = tuple(int(i) for i in np.argwhere(invalid)[0])
        where = ", ".join(map(str, index))
        raise ValueError(f"pmf[{where}] is {probabilities[index]}; probabilities are {rule}.")


def entropy(pmf: FloatArray) -> float:
    """Return the entropy of a distribution of any shape, in nats."""
    return -float(xlogy(pmf, pmf).sum())


def information(pmf: FloatArray) -> float:
    """Return I(all sources; target) in nats."""
    joint = pmf.reshape(-1, pmf.shape[-1])
    return entropy(joint.sum(axis=0)) + entropy(joint.sum(axis=1)) - entropy(joint)
