"""Surrogates: rearranged samples in which a candidate has lost what it knew of the target.

Every random number is a pure function of what it is for: the seed, the phase and the step of the
selection, the candidate's columns and the number of the draw. So the same draws come out whatever
the order, the number of workers or the size of the batches in which they are asked for. The rows
of bootstrap resamples come in the same way.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

#: What draws are for: the first word of their key after the seed.
SUBSAMPLE, FORWARD, BACKWARD, DECOMPOSITION, BOOTSTRAP = 0, 1, 2, 3, 4

# SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a counter times GAMMA, its bits well mixed.
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_30, _SHIFT_27, _SHIFT_31 = np.uint64(30), np.uint64(27), np.uint64(31)
_SHIFT_32, _LOW_32 = np.uint64(32), np.uint64(0xFFFFFFFF)


def permutations(words: tuple[int, ...], draws: range, n_samples: int) -> NDArray[np.int32]:
    """Draw permutations of the samples, each keyed by `words` and its number.

    Parameters
    ----------
    words : tuple of int
        What the draws are for: the seed, the phase, the step and the columns, each a whole
        number from 0 to 2**64 - 1.
    draws : range
        The numbers of the draws wanted.
    n_samples : int

    Returns
    -------
    array of int32, shape (len(draws), n_samples)

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
    rows = np.empty((len(draws), n_samples), dtype=np.int32)
    _fill_permutations(np.array(words, dtype=np.uint64), np.array(draws, dtype=np.uint64), rows)
    return rows


def resamples(words: tuple[int, ...], draws: range, n_samples: int) -> NDArray[np.int32]:
    """Draw rows with replacement, as many as there are, each resample keyed as a permutation is.

    Examples
    --------
    >>> resamples((0, BOOTSTRAP), range(1, 4), 6)
    array([[1, 1, 2, 3, 3, 0],
           [2, 4, 3, 2, 4, 0],
           [5, 5, 1, 0, 5, 4]], dtype=int32)
    """
    rows = np.empty((len(draws), n_samples), dtype=np.int32)
    _fill_resamples(np.array(words, dtype=np.uint64), np.array(draws, dtype=np.uint64), rows)
    return rows


@njit(cache=True, nogil=True)
def _fill_permutations(words, draws, rows):
    stem = _stem(words)
    for m in range(draws.size):
        _shuffle(_mix((stem ^ draws[m]) + _GAMMA), rows[m])


@njit(cache=True, nogil=True)
def _fill_resamples(words, draws, rows):
    stem = _stem(words)
    for m in range(draws.size):
        key = _mix((stem ^ draws[m]) + _GAMMA)
        for i in range(rows.shape[1]):
            key += _GAMMA
            rows[m, i] = _below(np.uint64(rows.shape[1]), _mix(key))


@njit(cache=True, nogil=True)
def _stem(words):
    stem = np.uint64(0)
    for word in words:
        stem = _mix((stem ^ word) + _GAMMA)
    return stem


@njit(cache=True, nogil=True)
def _shuffle(key, row):
    """Fisher and Yates: from the top, swap each place with one not above it."""
    for i in range(row.size):
        row[i] = i
    for i in range(row.size - 1, 0, -1):
        key += _GAMMA
        j = _below(np.uint64(i + 1), _mix(key))
        row[i], row[j] = row[j], row[i]


@njit(cache=True, nogil=True)
def _below(bound, random):
    """Return the upper 64 bits of bound * random: a number below the bound (which is < 2**32)."""
    low = (random & _LOW_32) * bound
    return np.int64(((random >> _SHIFT_32) * bound + (low >> _SHIFT_32)) >> _SHIFT_32)


@njit(cache=True, nogil=True)
def _mix(z):
    z = (z ^ (z >> _SHIFT_30)) * _MIX_1
    z = (z ^ (z >> _SHIFT_27)) * _MIX_2
    return z ^ (z >> _SHIFT_31)


#: Every scheme that has a name: words, draws and the number of samples -> rearrangements.
SURROGATES = {"global": permutations}
