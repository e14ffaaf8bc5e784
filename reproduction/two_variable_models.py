"""The paper's models of two input variables: Experiments II, V and VI."""

from __future__ import annotations

from typing import Literal

import numpy as np

from pidselect.data import check_choice
from pidselect.datasets import SyntheticDataset
from pidselect.datasets.base import (
    FloatArray,
    RandomState,
    balanced_classes,
    check_at_least,
    numbered,
)

Pair = tuple[float, float]

DISTRIBUTIONS = ("uniform", "binomial", "poisson", "exponential")

# Experiment VI: the two class means and the covariance (s11, s12, s22) of each example.
_GUYON_MEANS: dict[int, tuple[Pair, Pair]] = {
    1: ((-1.0, -1.0), (1.0, 1.0)),
    2: ((-1.0, -1.0), (1.0, 1.0)),
    3: ((0.0, 0.0), (0.0, 0.0)),
    4: ((-0.5, 0.5), (0.5, 0.5)),
    5: ((-0.5, 0.0), (0.5, 0.0)),
}
_GUYON_COVARIANCES: dict[int, tuple[float, float, float]] = {
    1: (1.0, 0.0, 1.0),
    2: (1.0, 0.0, 2.0),
    3: (1.0, 1.0, 1.0),
    4: (0.1, 0.4, 2.0),
    5: (0.1, -0.4, 2.0),
}


def statistical_model(
    n_samples: int = 1000,
    *,
    kind: Literal["additive", "multiplicative"] = "additive",
    alpha: float = 0.5,
    sigma: float = 0.1,
    distribution: Literal["uniform", "binomial", "poisson", "exponential"] = "uniform",
    random_state: RandomState = None,
) -> SyntheticDataset:
    r"""Two independent inputs, added or multiplied, one weighted against the other.

    .. math::

        Y &= \alpha X_1 + (1 - \alpha) X_2 + \sigma \eta && \text{(additive)} \\
        Y &= X_1^{\alpha} X_2^{1 - \alpha} + \sigma \eta && \text{(multiplicative)}

    Parameters
    ----------
    n_samples : int, default 1000
        Number of rows.
    kind : {"additive", "multiplicative"}
        How the inputs are combined.
    alpha : float in [0, 2], default 0.5
        The weight: 0 leaves only X2, 1 leaves only X1.
    sigma : float, default 0.1
        Standard deviation of the noise; the paper takes 0.1, 1 and 10.
    distribution : {"uniform", "binomial", "poisson", "exponential"}
        What both inputs are drawn from; see the notes.
    random_state : int, Generator or None
        Source of all randomness.

    Returns
    -------
    SyntheticDataset
        Columns X1 and X2; both relevant, unless alpha is 0 (X2 only) or 1 (X1 only).

    Notes
    -----
    Notes on the paper's table of distributions:

    - uniform is printed with b=1, a=2, that is with its limits swapped: drawn from [1, 2];
    - binomial: n=20, p=0.5;
    - Poisson is printed with :math:`\lambda_1` twice: X1 has rate 4, X2 has rate 10;
    - exponential is printed with the formula of a Poisson distribution; drawn with density
      :math:`1.5 \exp(-1.5 x)`.

    For alpha > 1 the multiplicative model divides by a power of X2, which is undefined where a
    binomial or Poisson X2 is 0 (probability 1e-6 and 1/22,000). There, and only there,
    zeros of X2 are resampled.

    References
    ----------
    The paper, Experiment II and its table of distributions.

    Examples
    --------
    >>> problem = statistical_model(1000, kind="multiplicative", alpha=1.0, random_state=0)
    >>> problem.relevant_names
    ('X1',)
    >>> X1, X2 = problem.X.T
    >>> print(f"{np.std(problem.y - X1):.1f}")              # X2 to the power of 0 is gone
    0.1
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("sigma", sigma, 0)
    check_choice(kind, ("additive", "multiplicative"), "kind")
    check_choice(distribution, DISTRIBUTIONS, "distribution")
    if not 0 <= alpha <= 2:
        raise ValueError(f"alpha must lie between 0 and 2, got {alpha!r}.")
    rng = np.random.default_rng(random_state)
    X1 = _draw(distribution, 4.0, n_samples, rng)
    X2 = _draw(distribution, 10.0, n_samples, rng)
    noise = sigma * rng.standard_normal(n_samples)
    if kind == "additive":
        y = alpha * X1 + (1 - alpha) * X2 + noise
    else:
        while alpha > 1 and (zero := X2 == 0).any():
            X2[zero] = _draw(distribution, 10.0, int(zero.sum()), rng)
        y = X1**alpha * X2 ** (1 - alpha) + noise
    relevant = (0,) if alpha == 1 else (1,) if alpha == 0 else (0, 1)
    return SyntheticDataset(
        X=np.column_stack([X1, X2]),
        y=y,
        names=numbered("X", 2),
        relevant=relevant,
        description=f"{kind.capitalize()} model of two {distribution} inputs, alpha={alpha:g}",
    )


def _draw(
    distribution: str, poisson_rate: float, n_samples: int, rng: np.random.Generator
) -> FloatArray:
    """Sample one input; only the Poisson distribution differs between the two."""
    match distribution:
        case "uniform":
            return rng.uniform(1.0, 2.0, n_samples)
        case "binomial":
            return rng.binomial(20, 0.5, n_samples).astype(float)
        case "poisson":
            return rng.poisson(poisson_rate, n_samples).astype(float)
        case _:
            return rng.exponential(1 / 1.5, n_samples)


def noise_model(
    n_samples: int = 1000,
    *,
    kind: Literal["mackay", "haufe"] = "mackay",
    a: float = 1.0,
    sigma: float = 0.1,
    random_state: RandomState = None,
) -> SyntheticDataset:
    r"""Signal S and distractor D, which is part of the target or of the measurement.

    .. math::

        \text{mackay:} \quad X_1 &= S,      & X_2 &= D, & Y &= f(S) + aD \\
        \text{haufe:}  \quad X_1 &= S + aD, & X_2 &= D, & Y &= f(S)

    with S and D standard normal and :math:`f(S) = \sin(S) + \sigma \eta`. In the second model
    :math:`X_2` is independent of Y, and synergistic with :math:`X_1`.

    Parameters
    ----------
    n_samples : int, default 1000
        Number of rows.
    kind : {"mackay", "haufe"}
        Whether the distractor enters the target or the measured input.
    a : float, default 1.0
        Strength of the distractor; the paper takes 0 to 4.
    sigma : float, default 0.1
        Standard deviation of the noise in f.
    random_state : int, Generator or None
        Source of all randomness.

    Returns
    -------
    SyntheticDataset
        Columns X1 and X2, both relevant; with ``a=0`` only X1.

    References
    ----------
    The paper, Experiment V. D. J. C. MacKay (2005), "Information theory, inference, and learning
    algorithms". S. Haufe et al. (2014), "On the interpretation of weight vectors of linear models
    in multivariate neuroimaging", NeuroImage 87.

    Examples
    --------
    >>> problem = noise_model(1000, kind="haufe", a=2.0, random_state=0)
    >>> X1, X2 = problem.X.T
    >>> print(f"{np.corrcoef(X1, problem.y)[0, 1]:.1f}")             # buried in the distractor
    0.4
    >>> print(f"{np.corrcoef(X1 - 2 * X2, problem.y)[0, 1]:.1f}")    # and recovered
    0.9
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("sigma", sigma, 0)
    check_choice(kind, ("mackay", "haufe"), "kind")
    rng = np.random.default_rng(random_state)
    signal, distractor, eta = rng.standard_normal((3, n_samples))
    y = np.sin(signal) + sigma * eta
    if kind == "mackay":
        X1, y = signal, y + a * distractor
    else:
        X1 = signal + a * distractor
    return SyntheticDataset(
        X=np.column_stack([X1, distractor]),
        y=y,
        names=numbered("X", 2),
        relevant=(0, 1) if a != 0 else (0,),
        description=f"Noise example after {kind.capitalize()}, distractor strength a={a:g}",
    )


def guyon(
    n_samples: int = 1000,
    *,
    example: Literal[1, 2, 3, 4, 5] = 1,
    means: tuple[Pair, Pair] | None = None,
    random_state: RandomState = None,
) -> SyntheticDataset:
    r"""Two normal classes in the plane, whose inputs may be correlated but are rarely redundant.

    .. math:: \mathbf{X} \mid Y = j \;\sim\; N(\mu_j, \Sigma), \qquad Y \in \{0, 1\}

    ========  ============  ===========  ===================  =================================
    example   first mean    second mean  covariance           what it shows
    ========  ============  ===========  ===================  =================================
    1         (-1, -1)      (1, 1)       1, 0; 0, 1           independent inputs, synergy
    2         (-1, -1)      (1, 1)       1, 0; 0, 2           the same with unequal variances
    3         (0, 0)        (0, 0)       1, 1; 1, 1           X2 is X1: only redundancy
    4         (-0.5, 0.5)   (0.5, 0.5)   0.1, 0.4; 0.4, 2     correlated 0.89, still synergy
    5         (-0.5, 0)     (0.5, 0)     0.1, -0.4; -0.4, 2   correlated -0.89, still synergy
    ========  ============  ===========  ===================  =================================

    Parameters
    ----------
    n_samples : int, default 1000
        Number of rows, half of them (or one more) in class 0.
    example : {1, 2, 3, 4, 5}, default 1
        Which of the paper's five examples.
    means : pair of (float, float), optional
        Class means to take instead of the printed ones. Example 3 as printed has equal means, so
        that no feature is informative; the paper's result, only redundant information, needs
        different ones, such as ``((-1, -1), (1, 1))``.
    random_state : int, Generator or None
        Source of all randomness.

    Returns
    -------
    SyntheticDataset
        Columns X1 and X2. Relevant are the entries of the discriminant
        :math:`\Sigma^{-1}(\mu_1 - \mu_0)` that are not 0. Of two equal columns (example 3) the
        first is listed, and either will do.

    References
    ----------
    The paper, Experiment VI. I. Guyon and A. Elisseeff (2003), "An introduction to variable and
    feature selection", JMLR 3. S. Haufe et al. (2014), NeuroImage 87.

    Examples
    --------
    >>> problem = guyon(1000, example=5, random_state=0)
    >>> X1, X2 = problem.X.T
    >>> bool(abs(np.corrcoef(X2, problem.y)[0, 1]) < 0.1)   # X2 is marginally independent of y
    True
    >>> problem.relevant_names                              # and synergistic with X1
    ('X1', 'X2')
    >>> guyon(example=3).relevant, guyon(example=3, means=((-1, -1), (1, 1))).relevant
    ((), (0,))
    """
    check_at_least("n_samples", n_samples, 1)
    check_choice(example, _GUYON_MEANS, "example")
    centres = np.array(_GUYON_MEANS[example] if means is None else means, dtype=float)
    if centres.shape != (2, 2):
        raise ValueError(f"means must be two pairs of numbers, got {means!r}.")
    s11, s12, s22 = _GUYON_COVARIANCES[example]
    rng = np.random.default_rng(random_state)
    y = balanced_classes(n_samples, 2, rng)
    first, second = rng.standard_normal((2, n_samples))
    # Cholesky by hand: the covariance of example 3 is singular, and its columns must be equal.
    X1 = np.sqrt(s11) * first
    X2 = s12 / np.sqrt(s11) * first + np.sqrt(s22 - s12**2 / s11) * second
    return SyntheticDataset(
        X=np.column_stack([X1, X2]) + centres[y],
        y=y,
        names=numbered("X", 2),
        relevant=_discriminating(centres[1] - centres[0], s11, s12, s22),
        description=f"Example {example} of two normal classes in the plane",
    )


def _discriminating(shift: FloatArray, s11: float, s12: float, s22: float) -> tuple[int, ...]:
    """Return the columns on which the best discriminant of two normal classes depends."""
    d1, d2 = shift
    if s11 * s22 == s12**2:  # equal columns: their difference is the class, or one suffices
        return (0, 1) if d1 != d2 else (0,) if d1 != 0 else ()
    weights = (s22 * d1 - s12 * d2, s11 * d2 - s12 * d1)
    return tuple(column for column, weight in enumerate(weights) if weight != 0)
