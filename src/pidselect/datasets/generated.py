"""Generators of any size, for regression and for classification."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_regression

from pidselect.datasets.problem import (
    Problem,
    RandomState,
    balanced_classes,
    check_at_least,
    numbered,
    relevant_first,
    seed,
)


def regression(
    n_samples: int = 1000,
    *,
    n_features: int = 50,
    n_informative: int = 10,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Problem:
    r"""Linear model in which few of many normal columns have a weight.

    .. math:: Y = \sum_i w_i X_i + \sigma \eta, \qquad w_i \sim U(0, 100)
        \text{ for informative columns, } 0 \text{ for the others}

    made by scikit-learn's ``make_regression``, which also shuffles the columns; the relevant ones
    are read from its coefficients. A weight may happen to be tiny.

    Parameters
    ----------
    n_samples : int, default 1000
        Number of rows.
    n_features, n_informative : int, default 50 and 10
        Number of columns, and of those with a weight. The paper takes 10 of 50 and 20 of 30.
    noise : float, default 0.0
        The standard deviation :math:`\sigma`.
    random_state : int, Generator or None
        Source of all randomness.

    Returns
    -------
    Problem
        Informative columns are named X1, X2, ..., the others Z1, Z2, ..., each in order of
        appearance.

    References
    ----------
    The paper, Appendix C.

    Examples
    --------
    >>> regression(100, n_features=5, n_informative=2, random_state=1).names
    ('Z1', 'Z2', 'Z3', 'X1', 'X2')
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("noise", noise, 0)
    _check_informative(n_informative, n_features)
    rng = np.random.default_rng(random_state)
    X, y, weights = make_regression(
        n_samples,
        n_features=n_features,
        n_informative=n_informative,
        noise=noise,
        coef=True,
        random_state=seed(rng),
    )
    informative = np.atleast_1d(weights) != 0
    X_names = iter(numbered("X", n_features))
    Z_names = iter(numbered("Z", n_features))
    return Problem(
        X=X,
        y=np.atleast_1d(y),
        names=tuple(next(X_names if is_informative else Z_names) for is_informative in informative),
        relevant=tuple(int(column) for column in np.flatnonzero(informative)),
        description=f"Linear regression on {n_informative} of {n_features} columns",
    )


def classes(
    n_samples: int = 1000,
    *,
    n_features: int = 10,
    n_informative: int = 3,
    n_classes: int = 3,
    separation: float = 1.5,
    random_state: RandomState = None,
) -> Problem:
    r"""Classes that differ in the means of some normal columns and overlap in all of them.

    .. math:: X_i \mid Y = j \;\sim\; N\!\left(s \left(\pi_i(j) - \tfrac{m - 1}{2}\right), 1\right)

    for informative columns, where :math:`\pi_i` is a random order of the m classes for each
    column, and :math:`X_i \sim N(0, 1)` for the others. Given the class all columns are
    independent, so each informative one adds information to any set of the others.

    Parameters
    ----------
    n_samples : int, default 1000
        Number of rows; classes are as equally frequent as they can be.
    n_features, n_informative : int, default 10 and 3
        Number of columns, and of those whose mean depends on the class.
    n_classes : int, default 3
        Number of classes m.
    separation : float, default 1.5
        Distance s between neighbouring class means, in standard deviations.
    random_state : int, Generator or None
        Source of all randomness.

    Returns
    -------
    Problem
        Informative columns X1, X2, ... come first, then Z1, Z2, ...; the target is the class, an
        integer from 0.

    Examples
    --------
    >>> problem = classes(300, n_features=4, n_informative=2, n_classes=2, random_state=0)
    >>> problem
    Problem(300 samples of X1, X2, Z1, Z2; relevant: X1, X2)
    >>> class_means = [problem.X[problem.y == label].mean(axis=0) for label in (0, 1)]
    >>> abs(class_means[0] - class_means[1]) > 1
    array([ True,  True, False, False])
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("n_classes", n_classes, 2)
    _check_informative(n_informative, n_features)
    if not separation > 0:
        raise ValueError(f"separation must be positive, got {separation!r}.")
    rng = np.random.default_rng(random_state)
    y = balanced_classes(n_samples, n_classes, rng)
    levels = separation * (np.arange(n_classes) - (n_classes - 1) / 2)
    X = rng.standard_normal((n_samples, n_features))
    for column in range(n_informative):
        X[:, column] += rng.permutation(levels)[y]
    told_by = f"{n_informative} of {n_features} columns"
    return relevant_first(X, y, n_informative, f"{n_classes} overlapping classes told by {told_by}")


def _check_informative(n_informative: int, n_features: int) -> None:
    """Raise unless there is a column and no more informative ones than columns."""
    check_at_least("n_features", n_features, 1)
    if not 0 <= n_informative <= n_features:
        raise ValueError(
            f"n_informative must lie between 0 and n_features={n_features}, got {n_informative!r}."
        )
