"""Keyed random generator: permutations and bootstrap resamples as pure functions of a stream key.

A stream key holds the seed, the phase and step of the selection, and the candidate's columns; with
the number of a permutation it determines all random numbers. So permutations are the same for any
order, number of workers and batch size.

A key is mixed from the stream key and the number of a permutation; its t-th random number is the
mixed sum of the key and t times an odd constant (SplitMix64). There is no state between them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect.data import FloatArray
from pidselect.jit import njit

#: Purposes of random numbers: the second entry of a stream key, after the seed.
SUBSAMPLE = 0
FORWARD = 1
BACKWARD = 2
DECOMPOSITION = 3
BOOTSTRAP = 4
LOOKAHEAD = 5
START = 6
RELEVANCE = 7
STABILITY = 8
FINAL = 9
MEMBERS = 10
SWAP = 11

# SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a counter times GAMMA, its bits well mixed.
GAMMA = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_27 = np.uint64(27)
_SHIFT_30 = np.uint64(30)
_SHIFT_31 = np.uint64(31)
_SHIFT_32 = np.uint64(32)
_LOW_32 = np.uint64(0xFFFFFFFF)

OPTIONS = {"cache": True, "nogil": True}
#: Formulas are inlined before compilation, which takes less time than a function each.
INLINED = {**OPTIONS, "inline": "always"}


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
    _fill_permutations(*_key_arrays(stream_key, numbers), rows)
    return rows


def resamples(stream_key: tuple[int, ...], numbers: range, n_samples: int) -> NDArray[np.int32]:
    """Return bootstrap resamples: rows drawn with replacement, keyed as permutations are."""
    rows = np.empty((len(numbers), n_samples), dtype=np.int32)
    _fill_resamples(*_key_arrays(stream_key, numbers), rows)
    return rows


def row_keys(seed: int, n_rows: int) -> FloatArray:
    """Return a random number for each row of a table: rows with the smallest are a random sample.

    That of a row does not depend on how many there are.
    """
    start = mix(np.array([seed], dtype=np.uint64) + GAMMA)
    numbers = np.arange(1, n_rows + 1, dtype=np.uint64)
    return np.asarray(mix(start + numbers * GAMMA) / 2.0**64)


def _key_arrays(
    stream_key: tuple[int, ...], numbers: range
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the stream key and the numbers for kernels; integers out of range raise."""
    return np.array(stream_key, dtype=np.uint64), np.array(numbers, dtype=np.uint64)


@njit(**OPTIONS)
def _fill_permutations(stream_key, numbers, rows):
    """Write a Fisher-Yates shuffle of all samples into each row."""
    stream = _stream_of(stream_key)
    for m in range(numbers.size):
        key = _key_of(stream, numbers[m])
        row = rows[m]
        for i in range(row.size):
            row[i] = i
        for i in range(row.size - 1, 0, -1):
            key += GAMMA
            j = _below(np.uint64(i + 1), _mix(key))
            row[i], row[j] = row[j], row[i]


@njit(**OPTIONS)
def _fill_resamples(stream_key, numbers, rows):
    """Write samples with replacement into each row."""
    stream = _stream_of(stream_key)
    for m in range(numbers.size):
        key = _key_of(stream, numbers[m])
        for i in range(rows.shape[1]):
            key += GAMMA
            rows[m, i] = _below(np.uint64(rows.shape[1]), _mix(key))


@njit(**INLINED)
def _stream_of(stream_key):
    """Return the start of a stream."""
    stream = np.uint64(0)
    for entry in stream_key:
        stream = _mix((stream ^ entry) + GAMMA)
    return stream


@njit(**INLINED)
def _key_of(stream, number):
    """Return the key of a permutation."""
    return _mix((stream ^ number) + GAMMA)


@njit(**INLINED)
def _below(bound, random):
    """Return the upper 64 bits of bound * random: a random number below the bound (< 2**32)."""
    low = (random & _LOW_32) * bound
    high = (random >> _SHIFT_32) * bound
    carried = low >> _SHIFT_32
    return np.int64((high + carried) >> _SHIFT_32)


def mix(z: Any) -> Any:
    """Mix the bits of numbers."""
    z = (z ^ (z >> _SHIFT_30)) * MIX_1
    z = (z ^ (z >> _SHIFT_27)) * MIX_2
    return z ^ (z >> _SHIFT_31)


_mix = njit(**INLINED)(mix)
