"""Checks of what users set for any test: counts, workers and seeds."""

from __future__ import annotations

import secrets
from numbers import Integral

import numpy as np

#: Seeds that are drawn have so many bits, which survive a trip through JSON in any language.
SEED_BITS = 53

#: Seeds that are given may have as many as the generator's key takes in.
LARGEST_SEED = 2**64 - 1

RandomState = int | np.random.RandomState | np.random.Generator | None


def check_count(value: object, parameter: str, at_least: int = 1) -> int:
    """Return a whole number; refuse what is none, or too small a one."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        raise ValueError(f"{parameter}={value!r} must be a whole number of at least {at_least}.")
    return int(value)


def check_jobs(n_jobs: object) -> None:
    """Refuse what is no number of workers; None leaves it to joblib."""
    is_whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (is_whole and n_jobs != 0):
        raise ValueError(
            f"n_jobs={n_jobs!r} is no number of threads: give a whole number such as 2, -1 for all "
            "cores, or None for one (or what a joblib context says)."
        )


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
