"""Joint distributions as arrays (one axis per source, the target last), and their atoms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from pidselect.data import FloatArray

#: Allowed deviation of the sum of a distribution from 1: rounding of many terms.
SUM_TOLERANCE = 1e-9

#: Unknowns that are solved for at the most: with so many, a step takes seconds.
MOST_UNKNOWNS = 2000


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


def check_states(measure: str, shape: Sequence[int], n_unknowns: int, alternative: str) -> None:
    """Raise if a distribution (two sources, target) has too many states to solve for."""
    if n_unknowns > MOST_UNKNOWNS:
        raise TooManyStatesError(
            f"measure={measure!r}: {shape[0]} and {shape[1]} states of the sources and {shape[2]} "
            "of the target are too many. Use fewer bins (those of bins=None are all values, and "
            f"labels are never binned), or measure={alternative!r}."
        )


def check_pmf(pmf: ArrayLike) -> FloatArray:
    """Return a joint distribution as a float64 array that sums to 1; raise if it is not one."""
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
    if probabilities.ndim < 3:
        raise ValueError(
            f"pmf needs one axis for each of two or more sources and one for the target (the last "
            f"axis), but has {probabilities.ndim}: shape {probabilities.shape}."
        )
    if not probabilities.size:
        raise ValueError(f"pmf is empty: shape {probabilities.shape}.")
    rules = {"finite": np.isfinite(probabilities), "at least 0": probabilities >= 0}
    for rule, is_valid in rules.items():
        if not is_valid.all():
            index = tuple(int(i) for i in np.argwhere(~is_valid)[0])
            where = ", ".join(map(str, index))
            raise ValueError(f"pmf[{where}] is {probabilities[index]}; probabilities are {rule}.")
    total = probabilities.sum()
    rounding = np.finfo(values.dtype).eps if values.dtype.kind == "f" else 0.0
    tolerance = max(SUM_TOLERANCE, values.size * float(rounding))
    if abs(total - 1) > tolerance:
        raise ValueError(
            f"pmf must sum to 1, but sums to {total:.10g}; divide counts by their sum."
        )
    return probabilities / total


def entropy(pmf: FloatArray) -> float:
    """Return the entropy of a distribution of any shape, in nats."""
    return -float(xlogy(pmf, pmf).sum())


def information(pmf: FloatArray) -> float:
    """Return I(all sources; target) in nats."""
    joint = pmf.reshape(-1, pmf.shape[-1])
    return entropy(joint.sum(axis=0)) + entropy(joint.sum(axis=1)) - entropy(joint)
