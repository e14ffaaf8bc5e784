"""Logic gates as joint distributions: the standard examples of PID."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from pidselect.data import check_choice
from pidselect.datasets.base import FloatArray, IntArray, RandomState, check_at_least

Bits = tuple[int, ...]


def _binary_number(bits: Bits) -> int:
    return int("".join(map(str, bits)), base=2)


# Target as a function of the source bits. RDN differs from COPY1 in its sources: see `gate`.
_TARGETS: dict[str, Callable[[Bits], int]] = {
    "AND": lambda bits: int(all(bits)),
    "OR": lambda bits: int(any(bits)),
    "XOR": lambda bits: sum(bits) % 2,
    "SUM": sum,
    "COPY": _binary_number,
    "COPY1": lambda bits: bits[0],
    "UNQ": _binary_number,
    "RDN": lambda bits: bits[0],
}

GATES: tuple[str, ...] = tuple(_TARGETS)
"""Names of the available gates."""


def gate(name: str, *, n_sources: int = 2) -> FloatArray:
    """Return the joint distribution of uniform source bits and a function of them.

    ===== =============================== =======================================
    name  target                          mutual information (two sources)
    ===== =============================== =======================================
    AND   1 if all sources are 1          0.81 bits, shared and synergistic
    OR    1 if any source is 1            the same
    XOR   parity of the sources           1 bit, all synergy
    SUM   number of ones                  1.5 bits, shared and synergistic
    COPY  all sources as a binary number  2 bits, one unique to each source
    COPY1 the first source                1 bit, unique to the first source
    UNQ   as COPY, by its other name      the same
    RDN   a bit that every source equals  1 bit, all shared
    ===== =============================== =======================================

    The last column holds for the BROJA measure; other measures differ, notably on COPY.

    Parameters
    ----------
    name : str
        One of `GATES`, case-insensitive.
    n_sources : int

    Returns
    -------
    array of float64, shape (2, ..., 2, n_target_states)
        Probabilities, one axis for each source, the target last.

    References
    ----------
    P. L. Williams and R. D. Beer (2010), "Nonnegative decomposition of multivariate information",
    arXiv:1004.2515. V. Griffith and C. Koch (2014), "Quantifying synergistic mutual information".

    Examples
    --------
    >>> from pidselect import datasets
    >>> datasets.gate("AND")
    array([[[0.25, 0.  ],
            [0.25, 0.  ]],
           [[0.25, 0.  ],
            [0.  , 0.25]]])
    >>> datasets.gate("XOR", n_sources=3).shape
    (2, 2, 2, 2)
    """
    check_at_least("n_sources", n_sources, 1)
    check_choice(name.upper(), GATES, "name")
    target = _TARGETS[name.upper()]
    sources = list(product((0, 1), repeat=n_sources))
    if name.upper() == "RDN":
        sources = [sources[0], sources[-1]]  # all zeros, all ones
    targets = [target(bits) for bits in sources]
    pmf = np.zeros((2,) * n_sources + (max(targets) + 1,))
    for bits, state in zip(sources, targets, strict=True):
        pmf[(*bits, state)] = 1 / len(sources)
    return pmf


def sample(
    pmf: ArrayLike, n_samples: int = 1000, *, random_state: RandomState = None
) -> tuple[IntArray, IntArray]:
    """Draw independent samples from a joint distribution.

    Parameters
    ----------
    pmf : array, shape (n_states_1, ..., n_states_target)
        Probabilities, one axis for each source, the target last.

    Returns
    -------
    X : array of int64, shape (n_samples, n_sources)
    y : array of int64, shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> from pidselect import datasets
    >>> X, y = datasets.sample(datasets.gate("XOR"), 200, random_state=0)
    >>> bool(np.all(y == (X[:, 0] ^ X[:, 1])))
    True
    """
    check_at_least("n_samples", n_samples, 1)
    values = np.asarray(pmf, dtype=np.float64)
    if values.ndim < 2 or not (values >= 0).all() or not abs(values.sum() - 1) <= 1e-9:
        raise ValueError(
            "pmf must have an axis for each source and one for the target, and values of at least "
            f"0 that sum to 1; got {values.ndim} axes, minimum {values.min()}, sum {values.sum()}."
        )
    probabilities = values / values.sum()
    rng = np.random.default_rng(random_state)
    flat = rng.choice(probabilities.size, size=n_samples, p=probabilities.ravel())
    states = np.column_stack(np.unravel_index(flat, probabilities.shape)).astype(np.int64)
    return states[:, :-1], states[:, -1]
