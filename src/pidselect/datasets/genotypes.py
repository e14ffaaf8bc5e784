"""Case-control genotypes with an interaction of two loci without marginal effects."""

from __future__ import annotations

import numpy as np

from pidselect.datasets.base import (
    FloatArray,
    RandomState,
    SyntheticDataset,
    balanced_classes,
    check_at_least,
    relevant_first,
)

# Enough for dozens of directions to reach a heritability of 0.4 with minor_allele=0.2.
N_DIRECTIONS = 10_000

# Smallest minor allele frequency: all loci are common variants.
RAREST = 0.05


def epistasis(
    n_samples: int = 1600,
    *,
    n_loci: int = 20,
    heritability: float = 0.4,
    minor_allele: float = 0.2,
    random_state: RandomState = None,
) -> SyntheticDataset:
    r"""Cases and controls that differ in the joint distribution of two loci, not in the marginals.

    A genotype is the number of minor alleles at a locus, in Hardy-Weinberg proportions
    :math:`p = ((1 - q)^2, 2 q (1 - q), q^2)`. The genotypes of the first two loci determine the
    probability :math:`f_{ij}` of the disease (see `penetrance`); cases and controls are balanced:

    .. math::

        P(X_1 = i, X_2 = j \mid Y = 1) = \frac{p_i p_j f_{ij}}{K}, \qquad
        P(X_1 = i, X_2 = j \mid Y = 0) = \frac{p_i p_j (1 - f_{ij})}{1 - K}

    where K is the prevalence.

    Parameters
    ----------
    n_loci : int
        Number of features, at least 2. Minor allele frequencies of irrelevant loci are uniform
        between 0.05 and 0.5.
    heritability : float
        Share of the variance of the disease that the two loci explain, in the population.
    minor_allele : float
        Frequency q of the minor allele at the two loci, from 0.05 to 0.5.

    References
    ----------
    M. D. Ritchie et al. (2001), "Multifactor-dimensionality reduction reveals high-order
    interactions among estrogen-metabolism genes in sporadic breast cancer", American Journal of
    Human Genetics 69(1).

    Examples
    --------
    >>> from pidselect import datasets
    >>> data = datasets.epistasis(random_state=0)
    >>> carriers, cases = data.X[:, :2] > 0, data.y == 1
    >>> for group in (carriers[:, 0], carriers[:, 1], carriers.all(axis=1)):
    ...     print(f"{group[cases].mean():.2f} of cases, {group[~cases].mean():.2f} of controls")
    0.37 of cases, 0.36 of controls
    0.36 of cases, 0.36 of controls
    0.03 of cases, 0.31 of controls
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("n_loci", n_loci, 2)
    rng = np.random.default_rng(random_state)
    table = penetrance(heritability, minor_allele, random_state=rng)
    y = balanced_classes(n_samples, 2, rng)
    population = np.outer(proportions(minor_allele), proportions(minor_allele))
    others = rng.uniform(RAREST, 0.5, size=n_loci - 2)
    X = np.empty((n_samples, n_loci))
    for label, share in enumerate((population * (1 - table), population * table)):
        rows = np.flatnonzero(y == label)
        cells = rng.choice(table.size, size=len(rows), p=(share / share.sum()).ravel())
        X[rows, :2] = np.column_stack(np.unravel_index(cells, table.shape))
    X[:, 2:] = rng.binomial(2, others, size=(n_samples, n_loci - 2))
    description = f"Two of {n_loci} loci interact without marginal effects"
    return relevant_first(X, y, 2, description)


def penetrance(
    heritability: float = 0.4, minor_allele: float = 0.2, *, random_state: RandomState = None
) -> FloatArray:
    r"""Return random disease risks by two genotypes, shape (3, 3), without marginal effects.

    .. math::

        \sum_j p_j f_{ij} = \sum_i p_i f_{ij} = K, \qquad
        h^2 = \frac{\sum_{ij} p_i p_j (f_{ij} - K)^2}{K (1 - K)}

    A direction :math:`d_{ij}` is drawn uniformly from the four-dimensional space of tables of unit
    variance all of whose marginals are 0. Then :math:`f = K + c d` stays between 0 and 1 up to
    :math:`h^2 = 1 / (\max d \cdot \max(-d))`, reached at the prevalence
    :math:`K = \max(-d) / (\max d + \max(-d))`, which is used. The first of 10,000 directions that
    reaches the heritability is used; an error names the largest one if none does.

    Parameters
    ----------
    heritability : float
        The :math:`h^2` above. The directions reach 0.05 for an allele frequency of 0.05, 0.2 for
        0.1, 0.5 for 0.2 and 0.8 for 0.3 and more.
    minor_allele : float
        Frequency q of the minor allele at both loci, from 0.05 to 0.5.

    References
    ----------
    R. Culverhouse et al. (2002), "A perspective on epistasis: limits of models displaying no main
    effect", American Journal of Human Genetics 70(2). R. J. Urbanowicz et al. (2012), "GAMETES: a
    fast, direct algorithm for generating pure, strict, epistatic models with random
    architectures", BioData Mining 5:16.

    Examples
    --------
    >>> from pidselect import datasets
    >>> table = datasets.penetrance(random_state=0)
    >>> table.round(2)
    array([[0.5 , 0.98, 0.7 ],
           [0.97, 0.05, 0.63],
           [0.76, 0.51, 0.26]])
    >>> genotypes = [0.8**2, 2 * 0.8 * 0.2, 0.2**2]  # none, one or two minor alleles
    >>> (table @ genotypes).round(2)  # no marginal effect: the prevalence
    array([0.66, 0.66, 0.66])
    """
    if not RAREST <= minor_allele <= 0.5:
        raise ValueError(f"minor_allele must lie between {RAREST} and 0.5, got {minor_allele!r}.")
    rng = np.random.default_rng(random_state)
    contrasts = _contrasts(minor_allele)
    weights = rng.standard_normal((N_DIRECTIONS, 2, 2))
    weights /= np.linalg.norm(weights, axis=(1, 2), keepdims=True)
    directions = contrasts @ weights @ contrasts.T
    up, down = directions.max(axis=(1, 2)), -directions.min(axis=(1, 2))
    reached = 1 / (up * down)
    enough = np.flatnonzero(reached >= heritability)
    if not heritability > 0 or not len(enough):
        raise ValueError(
            f"heritability must be above 0 and at most {reached.max():.4f}, the largest found "
            f"without marginal effects for minor_allele={minor_allele!r}; got {heritability!r}."
        )
    first = enough[0]
    prevalence = down[first] / (up[first] + down[first])
    size = np.sqrt(heritability * prevalence * (1 - prevalence))
    return np.clip(prevalence + size * directions[first], 0.0, 1.0)  # rounding errors


def proportions(minor_allele: float) -> FloatArray:
    """Return the Hardy-Weinberg proportions of the genotypes 0, 1 and 2."""
    q = minor_allele
    return np.array([(1 - q) ** 2, 2 * q * (1 - q), q**2])


def _contrasts(minor_allele: float) -> FloatArray:
    """Return two functions of a genotype, shape (3, 2): mean 0, variance 1, uncorrelated."""
    root = np.sqrt(proportions(minor_allele))
    complete, _ = np.linalg.qr(root[:, None], mode="complete")
    return complete[:, 1:] / root[:, None]
