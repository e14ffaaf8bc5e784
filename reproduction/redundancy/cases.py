"""Known distributions of two features and a target: alike, dependent, redundant or none of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from pidselect.data import FloatArray
from pidselect.datasets import gate
from pidselect.decomposition.pmf import entropy
from pidselect.estimators.base import NATS_PER_UNIT


def correlated_copy(agreement: float) -> FloatArray:
    """Return two bits that agree with a probability, and a target that tells both.

    Parameters
    ----------
    agreement : float
        The probability; with 0.5 the bits are independent, with 1 they are the same.
    """
    pmf = np.zeros((2, 2, 4))
    for first, second in product((0, 1), repeat=2):
        chance = agreement if first == second else 1 - agreement
        pmf[first, second, 2 * first + second] = chance / 2
    return pmf


def common_cause(error: float = 0.1) -> FloatArray:
    """Return a target bit and two features that each repeat it, but for errors of their own."""
    pmf = np.zeros((2, 2, 2))
    for first, second, target in product((0, 1), repeat=3):
        pmf[first, second, target] = 0.5 * _flip(first != target, error)
        pmf[first, second, target] *= _flip(second != target, error)
    return pmf


def counterexample(error: float = 0.0) -> FloatArray:
    """Return features that have an irrelevant bit in common, and each a relevant one of its own.

    F1 is (X1, X2) and F2 is (Z1, Z2), each a variable of four levels; Z1 equals X1, and the target
    tells X2 and Z2, each of which may be flipped on its way there.

    Parameters
    ----------
    error : float
        The probability of a flip.
    """
    pmf = np.zeros((4, 4, 4))
    for common, own1, own2, seen1, seen2 in product((0, 1), repeat=5):
        chance = _flip(own1 != seen1, error) * _flip(own2 != seen2, error) / 8
        pmf[2 * common + own1, 2 * common + own2, 2 * seen1 + seen2] += chance
    return pmf


def _flip(is_flipped: bool, error: float) -> float:
    return error if is_flipped else 1 - error


CASES: dict[str, Callable[[], FloatArray]] = {
    "AND": lambda: gate("AND"),
    "XOR": lambda: gate("XOR"),
    "same bit": lambda: gate("RDN"),
    "copy": lambda: gate("COPY"),
    "copy, 60 % alike": lambda: correlated_copy(0.6),
    "copy, 90 % alike": lambda: correlated_copy(0.9),
    "common cause": common_cause,
    "counterexample": counterexample,
    "counterexample, 10 % flipped": lambda: counterexample(0.1),
}

#: Cases in which the target only repeats what is in the features: no mechanism adds redundancy.
OF_THE_SOURCE = ("same bit", "copy", "copy, 60 % alike", "copy, 90 % alike", "counterexample")

SAMPLED = ("AND", "same bit", "copy, 90 % alike", "counterexample", "counterexample, 10 % flipped")


def information_between(
    pmf: FloatArray, first: Sequence[int], second: Sequence[int], given: Sequence[int] = ()
) -> float:
    """Return I(first; second | given) of axes of a distribution, in bits.

    Examples
    --------
    >>> round(information_between(gate("AND"), [0], [1]), 3)
    0.0
    >>> round(information_between(gate("AND"), [0], [1], given=[2]), 3)
    0.189
    """

    def of(*axes: int) -> float:
        return entropy(pmf.sum(axis=tuple(set(range(pmf.ndim)) - set(axes))))

    nats = of(*first, *given) + of(*second, *given) - of(*first, *second, *given) - of(*given)
    return nats / NATS_PER_UNIT["bit"]
