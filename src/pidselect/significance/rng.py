"""Draws: rearranged or resampled rows that are a pure function of what they are for.

Every random number comes from a key: the seed, the phase and the step of the selection, the
candidate's columns and the number of the draw. So the same draws come out whatever the order, the
number of workers or the size of the batches in which they are asked for. The rows of bootstrap
resamples come in the same way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pidselect.significance.surrogate_kernels import fill_permutations, fill_resamples

#: What draws are for: the first word of their key after the seed.
SUBSAMPLE, FORWARD, BACKWARD, DECOMPOSITION, BOOTSTRAP = 0, 1, 2, 3, 4
LOOKAHEAD, START, RELEVANCE, STABILITY, FINAL, MEMBERS = 5, 6, 7, 8, 9, 10


def permutations(stream_key: tuple[int, ...], draws: range, n_samples: int) -> NDArray[np.int32]:
    """Draw permutations of the samples, each keyed by `stream_key` and its number.

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
    fill_permutations(*as_keys(stream_key, draws), rows)
    return rows


def resamples(stream_key: tuple[int, ...], draws: range, n_samples: int) -> NDArray[np.int32]:
    """Draw rows with replacement, as many as there are, each resample keyed as a permutation is.

    Examples
    --------
    >>> resamples((0, BOOTSTRAP), range(1, 4), 6)
    array([[1, 1, 2, 3, 3, 0],
           [2, 4, 3, 2, 4, 0],
           [5, 5, 1, 0, 5, 4]], dtype=int32)
    """
    rows = np.empty((len(draws), n_samples), dtype=np.int32)
    fill_resamples(*as_keys(stream_key, draws), rows)
    return rows


def as_keys(
    stream_key: tuple[int, ...], draws: range
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return words and numbers of draws as kernels take them; a word that is too large raises."""
    return np.array(stream_key, dtype=np.uint64), np.array(draws, dtype=np.uint64)
