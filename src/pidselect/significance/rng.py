"""Keyed random generator: permutations and bootstrap resamples as pure functions of a stream key.

A stream key holds the seed, the phase and step of the selection, and the candidate's columns; with
the number of a permutation it determines all random numbers. So permutations are the same for any
order, number of workers and batch size.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pidselect.data import FloatArray
from pidselect.significance.surrogate_kernels import GAMMA, fill_permutations, fill_resamples, mix

#: Purposes of random numbers: the second entry of a stream key, after the seed.
SUBSAMPLE, FORWARD, BACKWARD, DECOMPOSITION, BOOTSTRAP = 0, 1, 2, 3, 4
LOOKAHEAD, START, RELEVANCE, STABILITY, FINAL, MEMBERS, SWAP = 5, 6, 7, 8, 9, 10, 11


def permutations(stream_key: tuple[int, ...], numbers: range, n_samples: int) -> NDArray[np.int32]:
    """Return the permutations of these numbers, shape (len(numbers), n_samples).

    Entries of the stream key are integers from 0 to 2**64 - 1.

    Examples
    --------
    >>> permutations((0, FORWARD, 3), range(1, 4), 6)
    array([[0, 1, 4, 2, 3, 5],
           [1, 3, 5, 4, 0, 2],
           [1, 5, 0, 4, 2, 3]], dtype=int32)
    >>> both = permutations((0, FORWARD, 3), range(1, 11), 6)
    >>> bool((permutations((0, FORWARD, 3), range(6, 11), 6) == both[5:]).all())
    True
    """
    rows = np.empty((len(numbers), n_samples), dtype=np.int32)
    fill_permutations(*key_arrays(stream_key, numbers), rows)
    return rows


def resamples(stream_key: tuple[int, ...], numbers: range, n_samples: int) -> NDArray[np.int32]:
    """Return bootstrap resamples: rows drawn with replacement, keyed as permutations are.

    Examples
    --------
    >>> resamples((0, BOOTSTRAP), range(1, 4), 6)
    array([[1, 1, 2, 3, 3, 0],
           [2, 4, 3, 2, 4, 0],
           [5, 5, 1, 0, 5, 4]], dtype=int32)
    """
    rows = np.empty((len(numbers), n_samples), dtype=np.int32)
    fill_resamples(*key_arrays(stream_key, numbers), rows)
    return rows


def row_keys(seed: int, n_rows: int) -> FloatArray:
    """Return a random number for each row of a table: rows with the smallest are a random sample.

    That of a row does not depend on how many there are.

    Examples
    --------
    >>> bool((row_keys(7, 6)[:4] == row_keys(7, 4)).all())
    True
    """
    start = mix(np.array([seed], dtype=np.uint64) + GAMMA)
    numbers = np.arange(1, n_rows + 1, dtype=np.uint64)
    return np.asarray(mix(start + numbers * GAMMA) / 2.0**64)


def key_arrays(
    stream_key: tuple[int, ...], numbers: range
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the stream key and the numbers for kernels; integers out of range raise."""
    return np.array(stream_key, dtype=np.uint64), np.array(numbers, dtype=np.uint64)
