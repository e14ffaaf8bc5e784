"""Validation of the parameters of any test: counts, workers and seeds."""

from __future__ import annotations

import secrets
from numbers import Integral

import numpy as np

#: Bits of a random seed, which JSON preserves in any language.
SEED_BITS = 53

#: Largest seed: the key of the generator has 64 bits.
MAX_SEED = 2**64 - 1

RandomState = int | np.random.RandomState | np.random.Generator | None


def check_count(value: object, parameter: str, at_least: int = 1) -> int:
    """Return an integer; refuse anything else or a smaller one."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        raise ValueError(f"{parameter}={value!r} must be an integer of at least {at_least}.")
    return int(value)


def check_jobs(n_jobs: object, parameter: str = "n_jobs") -> int | None:
    """Return a number of workers; None is joblib's default."""
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(
            f"{parameter}={n_jobs!r} must be an integer such as 2, -1 for all cores, or None for "
            "one (or that of a joblib context)."
        )
    return int(n_jobs)


def to_seed(random_state: RandomState) -> int:
    """Return the seed itself, a random one of the generator, or a fresh one for None."""
    if random_state is None:
        return secrets.randbits(SEED_BITS)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**SEED_BITS))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**SEED_BITS, dtype=np.int64))
    is_integer = isinstance(random_state, Integral) and not isinstance(random_state, bool)
    if not is_integer or not 0 <= random_state <= MAX_SEED:
        raise ValueError(
            f"random_state={random_state!r} must be an integer from 0 to 2**64 - 1, a NumPy "
            "generator or None."
        )
    return int(random_state)
