"""Joint distributions as arrays: one axis for each source, the target last."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from pidselect.data import FloatArray

#: How far the sum of a distribution may be from 1: rounding of many terms, not a mistake.
SUM_TOLERANCE = 1e-9


class Parts(NamedTuple):
    """What a measure returns, in nats, in the order of the lattice's labels.

    Parameters
    ----------
    atoms : array of float64, shape (n_atoms,)
    gap : float
        How far an atom can be from its true value, for measures that are solved for; 0 for
        closed formulas.
    informative : array of float64, shape (n_atoms,), optional
        The informative part of each atom, where the measure knows one; what it exceeds the atom
        by is the misinformative part.
    """

    atoms: FloatArray
    gap: float = 0.0
    informative: FloatArray | None = None


def check_pmf(pmf: ArrayLike) -> FloatArray:
    """Return a joint distribution as an array that sums to 1, or say what is wrong with it.

    Examples
    --------
    >>> check_pmf([[[0.5, 0.0]], [[0.25, 0.5]]])
    Traceback (most recent call last):
    ...
    ValueError: pmf must sum to 1, but sums to 1.25; divide it by its sum if it holds counts.
    """
    tolerance = SUM_TOLERANCE
    try:
        given = np.asarray(pmf)
        if np.ma.isMaskedArray(pmf) or given.dtype.kind not in "biuf":
            raise TypeError
        probabilities = given.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"pmf must be an array of real numbers, one axis for each source and the target last, "
            f"got {type(pmf).__name__}."
        ) from None
    if given.dtype.kind == "f":
        tolerance = max(tolerance, given.size * float(np.finfo(given.dtype).eps))
    if probabilities.ndim < 3:
        raise ValueError(
            f"pmf needs an axis for each of two or more sources and one for the target, but has "
            f"{probabilities.ndim}: shape {probabilities.shape}. The target's axis is the last."
        )
    if not probabilities.size:
        raise ValueError(f"pmf is empty: shape {probabilities.shape}.")
    _refuse(probabilities, ~np.isfinite(probabilities), "finite")
    _refuse(probabilities, probabilities < 0, "at least 0")
    total = probabilities.sum()
    if abs(total - 1) > tolerance:
        raise ValueError(
            f"pmf must sum to 1, but sums to {total:.10g}; divide it by its sum if it holds counts."
        )
    return probabilities / total


def _refuse(probabilities: FloatArray, wrong: NDArray[np.bool_], rule: str) -> None:
    """Name the first entry that is wrong, if any is."""
    if wrong.any():
        place = tuple(int(index) for index in np.argwhere(wrong)[0])
        where = ", ".join(map(str, place))
        raise ValueError(f"pmf[{where}] is {probabilities[place]}; probabilities are {rule}.")


def entropy(pmf: FloatArray) -> float:
    """Return the entropy of a distribution of any shape, in nats."""
    return -float(xlogy(pmf, pmf).sum())


def information(pmf: FloatArray) -> float:
    """Return I(all sources; target) in nats, the target being the last axis.

    Examples
    --------
    >>> information(np.array([[0.5, 0.0], [0.0, 0.5]]))  # one bit
    0.693147...
    """
    joint = pmf.reshape(-1, pmf.shape[-1])
    return entropy(joint.sum(axis=0)) + entropy(joint.sum(axis=1)) - entropy(joint)
