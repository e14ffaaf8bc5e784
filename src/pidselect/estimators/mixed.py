"""Nearest-neighbour estimator for mixed discrete and continuous variables (Mesner, Shalizi)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import digamma

from pidselect.estimators.knn.binding import Formula, NeighbourEstimator, Scale


class Mixed(NeighbourEstimator):
    r"""Nearest-neighbour estimator for any mixture of discrete and continuous variables.

    With :math:`\rho` the distance of a sample's k-th neighbour in (x, y, S), maximum norm, and
    counts of the samples at distances up to :math:`\rho`,

    .. math:: I(x;y|S) = \langle \psi(\tilde k) + \psi(n_S) - \psi(n_{xS}) - \psi(n_{yS}) \rangle,

    where :math:`\tilde k` is the count in (x, y, S): k, or more if several samples are at distance
    :math:`\rho`, as for labels, counts and rounded numbers. (The paper uses k unless
    :math:`\rho = 0`; ties then bias the value downwards, by 0.4 bit for two independent normal
    variables rounded to one digit, N = 1000.) A sample is not its own neighbour; without S,
    :math:`n_S = N - 1`, as for a constant S. The value is never clipped.

    The distance of two labels is 0 or 1, that of numbers their difference after scaling. Missing
    values kept as a category are at distance 0 from each other and infinitely far from the rest.

    Parameters
    ----------
    k : int
        The number of neighbours.
    scale : {"zscore", "rank", None}
        The transformation of numeric columns, as in `KSG`. Both scales have standard deviation 1,
        comparable to the distance 1 of two labels.

    References
    ----------
    O. C. Mesner, C. R. Shalizi, arXiv:1912.03387 (2019).
    W. Gao, S. Kannan, S. Oh, P. Viswanath, NeurIPS (2017), for the case without S.

    Examples
    --------
    >>> import numpy as np
    >>> from pidselect import mutual_information
    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(0, 5, size=2000)
    >>> y = rng.uniform(x, x + 2)
    >>> round(float(np.log2(5) - 4 / 5), 1)  # the true value in bits
    1.5
    >>> round(mutual_information(x, y, estimator="mixed"), 1)
    1.5
    """

    uses_neighbours: ClassVar[bool] = True

    def __init__(self, k: int = 4, scale: Scale = "zscore") -> None:
        self.k = k
        self.scale = scale

    def formula(self, n_samples: int) -> Formula:
        """Return the formula; counts are at least 1, since they include the k neighbours."""
        weight = digamma(np.maximum(np.arange(n_samples), 1.0))
        return Formula(self.k, False, self.scale, weight, 0.0)
