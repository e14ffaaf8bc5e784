"""Checks of what users set, before any work is done."""

from __future__ import annotations

import re
import secrets
from fractions import Fraction
from numbers import Integral, Real

import numpy as np

from pidselect.data import check_choice
from pidselect.selection.backward import STATISTICS
from pidselect.selection.criteria import CRITERIA
from pidselect.significance import SURROGATES, check_resolution

#: Seeds that are drawn have so many bits, which survive a trip through JSON in any language.
SEED_BITS = 53

#: Seeds that are given may have as many as the generator's key takes in.
LARGEST_SEED = 2**64 - 1

RandomState = int | np.random.RandomState | np.random.Generator | None


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


def check_count(value: object, parameter: str, at_least: int = 1) -> int:
    """Return a whole number; refuse what is none, or too small a one."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        raise ValueError(f"{parameter}={value!r} must be a whole number of at least {at_least}.")
    return int(value)


def check_limit(value: object, parameter: str, at_least: int = 1) -> None:
    """Refuse what is neither such a number nor None, which stands for no limit."""
    if value is not None:
        check_count(value, parameter, at_least)


def check_flag(value: object, parameter: str) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{parameter}={value!r} must be True or False.")


def check_jobs(n_jobs: object) -> None:
    """Refuse what is no number of workers; None leaves it to joblib."""
    is_whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (is_whole and n_jobs != 0):
        raise ValueError(
            f"n_jobs={n_jobs!r} is no number of threads: give a whole number such as 2, -1 for all "
            "cores, or None for one (or what a joblib context says)."
        )


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


def to_seed(random_state: RandomState) -> int:
    """Return a seed: the number given, or one drawn from the generator given, or a fresh one.

    Examples
    --------
    >>> to_seed(7)
    7
    """
    if random_state is None:
        return secrets.randbits(SEED_BITS)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**SEED_BITS))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**SEED_BITS, dtype=np.int64))
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if not 0 <= random_state <= LARGEST_SEED:
            raise ValueError(
                f"random_state={random_state} is no seed: it must be a whole number from 0 to "
                "2**64 - 1."
            )
        return int(random_state)
    raise ValueError(
        f"random_state={random_state!r} is no seed: give a whole number, a NumPy generator or None."
    )
