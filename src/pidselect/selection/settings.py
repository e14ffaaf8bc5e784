"""Checks of what users set, before any work is done."""

from __future__ import annotations

import re
from fractions import Fraction
from numbers import Integral, Real

import numpy as np

from pidselect.data import check_choice
from pidselect.selection.backward import STATISTICS
from pidselect.selection.criteria import CRITERIA
from pidselect.significance import SURROGATES, check_resolution
from pidselect.significance.settings import (
    LARGEST_SEED,
    SEED_BITS,
    RandomState,
    check_count,
    check_jobs,
    to_seed,
)

__all__ = [
    "LARGEST_SEED",
    "SEED_BITS",
    "RandomState",
    "check_count",
    "check_flag",
    "check_jobs",
    "check_limit",
    "check_settings",
    "to_bytes",
    "to_seed",
]


def check_settings(
    criterion: object, surrogates: object, backward: object, alpha: object, n_permutations: object
) -> None:
    """Refuse what a test cannot be run with."""
    check_choice(criterion, CRITERIA, "criterion")
    check_choice(surrogates, SURROGATES, "surrogates")
    check_choice(backward, (*STATISTICS, None), "backward")
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0 < float(alpha) < 1:
        raise ValueError(f"alpha={alpha!r} is no error rate: it must lie between 0 and 1.")
    check_resolution(float(alpha), check_count(n_permutations, "n_permutations"))


def check_limit(value: object, parameter: str, at_least: int = 1) -> None:
    """Refuse what is neither such a number nor None, which stands for no limit."""
    if value is not None:
        check_count(value, parameter, at_least)


def check_flag(value: object, parameter: str) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{parameter}={value!r} must be True or False.")


def to_bytes(memory: int | str) -> int:
    """Return an amount of memory in bytes.

    Examples
    --------
    >>> to_bytes("1GiB"), to_bytes("500 MB"), to_bytes(1024)
    (1073741824, 500000000, 1024)
    """
    size = 0
    if isinstance(memory, Integral) and not isinstance(memory, bool):
        size = int(memory)
    elif found := re.fullmatch(r"\s*(\d+\.?\d*)\s*([KMGT]?)(i?)B\s*", str(memory), re.IGNORECASE):
        power = " KMGT".index(found[2].upper() or " ")
        size = int(Fraction(found[1]) * (1024 if found[3] else 1000) ** power)
    if size < 1:
        raise ValueError(
            f'max_memory={memory!r} is no amount of memory: give bytes, or text such as "1GiB".'
        )
    return size
