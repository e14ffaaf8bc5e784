"""The paper's larger systems: toy, nested spheres, Friedman's and Runge's models."""

from __future__ import annotations

from typing import Literal

import numpy as np
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3

from pidselect.data import check_choice
from pidselect.datasets.problem import (
    Problem,
    RandomState,
    balanced_classes,
    check_at_least,
    numbered,
    relevant_first,
    seed,
)


def toy(n_samples: int = 1000, *, random_state: RandomState = None) -> Problem:
    r"""Three columns: one informative, one redundant, one that only helps the first.

    .. math::

        Y &= \sin(\xi_1) + 0.1 \eta_Y \\
        X_1 &= \xi_1 + 0.1 \eta \\
        X_2 &= 0.8 \xi_1 + 0.2 \xi_2 + 0.01 \eta

    with all of :math:`\xi_1, \xi_2, \eta, \eta_Y` standard normal and independent. The noise
    source :math:`\eta` is a column too: alone it says nothing about Y, but it cleans
    :math:`X_1`. Given both, :math:`\xi_1` is known exactly, so that :math:`X_2` adds nothing.

    Parameters
    ----------
    n_samples : int, default 1000
        Number of rows.
    random_state : int, Generator or None
        Source of all randomness.

    Returns
    -------
    Problem
        Columns X1, X2, eta; relevant X1 and eta.

    References
    ----------
    The paper, section 3.3.3.

    Examples
    --------
    >>> X, y = toy(1000, random_state=0).Xy
    >>> X1, X2, eta = X.T
    >>> bool(abs(np.corrcoef(eta, y)[0, 1]) < 0.1)          # eta alone: nothing
    True
    >>> print(f"{np.std(y - np.sin(X1 - 0.1 * eta)):.2f}")  # with X1: all but the noise
    0.10
    """
    check_at_least("n_samples", n_samples, 1)
    rng = np.random.default_rng(random_state)
    xi1, xi2, eta, eta_y = rng.standard_normal((4, n_samples))
    X1 = xi1 + 0.1 * eta
    X2 = 0.8 * xi1 + (1 - 0.8) * xi2 + 0.01 * eta
    return Problem(
        X=np.column_stack([X1, X2, eta]),
        y=np.sin(xi1) + 0.1 * eta_y,
        names=("X1", "X2", "eta"),
        relevant=(0, 2),
        description="Toy system: X2 is redundant with X1, eta is synergistic with it",
    )


def nested_spheres(
    n_samples: int = 1000,
    *,
    radii: tuple[float, float] = (1.0, 1.25),
    label_noise: float = 0.0,
    random_state: RandomState = None,
) -> Problem:
    r"""Two classes on the surfaces of two concentric spheres.

    .. math::

        \mathbf{X} = r_Y \, \mathbf{u}, \qquad
        \mathbf{u} \text{ uniform on the unit sphere}, \quad Y \in \{0, 1\}

    Only the three coordinates together, as a radius, tell the class. One coordinate of a sphere
    is uniform on :math:`[-r, r]` (Archimedes), so alone it tells, in bits and with
    :math:`q = r_0 / r_1`,

    .. math:: I(X_i; Y) = 1 - \tfrac{1 + q}{2} \, H_2\!\left(\tfrac{1}{1 + q}\right)

    Parameters
    ----------
    n_samples : int, default 1000
        Number of rows, half of them (or one more) in class 0.
    radii : (float, float), default (1.0, 1.25)
        Radius of class 0 and of class 1; the paper does not state its own. With these a
        coordinate alone tells 0.11 bits. With ``label_noise=0.5`` besides, that is hard to tell
        from chance at 1000 samples, while each coordinate is clear given the others, as in the
        paper. At a ratio of 2 a coordinate alone tells 0.31 bits.
    label_noise : float, default 0.0
        Standard deviation of the Gaussian noise that the paper adds to the class labels to make
        the target continuous. With 0 the target stays the integer class.
    random_state : int, Generator or None
        Source of all randomness.

    Returns
    -------
    Problem
        Columns X1, X2, X3, all relevant.

    References
    ----------
    The paper, Experiment I.

    Examples
    --------
    >>> X, y = nested_spheres(1000, random_state=0).Xy
    >>> radius = np.linalg.norm(X, axis=1)
    >>> bool(np.all((radius > 1.1) == (y == 1)))
    True
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("label_noise", label_noise, 0)
    inner, outer = radii
    if not 0 < inner < outer:
        raise ValueError(f"radii must be two growing positive numbers, got {radii!r}.")
    rng = np.random.default_rng(random_state)
    label = balanced_classes(n_samples, 2, rng)
    direction = rng.standard_normal((n_samples, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    noise = label_noise * rng.standard_normal(n_samples)
    return Problem(
        X=direction * np.where(label == 0, inner, outer)[:, None],
        y=label + noise if label_noise > 0 else label,
        names=numbered("X", 3),
        relevant=(0, 1, 2),
        description=f"Nested spheres of radius {inner} and {outer}: the class is the sphere",
    )


def friedman(
    n_samples: int = 1000,
    *,
    model: Literal[1, 2, 3] = 1,
    noise: float = 1.0,
    random_state: RandomState = None,
) -> Problem:
    r"""One of Friedman's three regression models among uniform nuisance columns.

    .. math::

        \text{1:} \quad Y &= 10 \sin(\pi X_1 X_2) + 20 (X_3 - 0.5)^2 + 10 X_4 + 5 X_5
            + \sigma \eta \\
        \text{2:} \quad Y &= \sqrt{X_1^2 + (X_2 X_3 - 1 / (X_2 X_4))^2} + \sigma \eta \\
        \text{3:} \quad Y &= \arctan\frac{X_2 X_3 - 1 / (X_2 X_4)}{X_1} + \sigma \eta

    with :math:`\eta \sim N(0, 1)`. In model 1 all ten columns are uniform on [0, 1]. In models 2
    and 3 :math:`X_1 \in [0, 100]`, :math:`X_2 \in [40\pi, 560\pi]`, :math:`X_3 \in [0, 1]`,
    :math:`X_4 \in [1, 11]`, and six columns uniform on [0, 1] are added.

    Parameters
    ----------
    n_samples : int, default 1000
        Number of rows.
    model : {1, 2, 3}, default 1
        Which model.
    noise : float, default 1.0
        The standard deviation :math:`\sigma`, the same for all models. It is small beside the
        spread of Y in model 2 (about 380) and large in model 3 (about 0.3). In model 2
        :math:`X_4` moves Y by about a thousandth of the noise: listed as relevant, but not to be
        found.
    random_state : int, Generator or None
        Source of all randomness.

    Returns
    -------
    Problem
        Ten columns: relevant X1 to X5, nuisance Z1 to Z5 (model 1); relevant X1 to X4, nuisance
        Z1 to Z6 (models 2 and 3).

    References
    ----------
    The paper, Experiment III. J. H. Friedman (1991), "Multivariate adaptive regression splines",
    The Annals of Statistics 19(1).

    Examples
    --------
    >>> friedman(100, model=1, random_state=0)
    Problem(100 samples of X1, X2, X3, X4, X5, Z1, Z2, Z3, Z4, Z5; relevant: X1, X2, X3, X4, X5)
    >>> friedman(100, model=2, random_state=0).relevant
    (0, 1, 2, 3)
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("noise", noise, 0)
    check_choice(model, (1, 2, 3), "model")
    rng = np.random.default_rng(random_state)
    if model == 1:
        n_relevant = 5
        X, y = make_friedman1(n_samples, n_features=10, noise=noise, random_state=seed(rng))
    else:
        n_relevant = 4
        make = make_friedman2 if model == 2 else make_friedman3
        X, y = make(n_samples, noise=noise, random_state=seed(rng))
        X = np.column_stack([X, rng.uniform(size=(n_samples, 6))])
    description = f"Friedman's model {model} with {10 - n_relevant} nuisance columns"
    return relevant_first(X, y, n_relevant, description)


def runge(
    n_samples: int = 1000,
    *,
    a: float = 0.4,
    b: float = 2.0,
    c: float = 0.4,
    sigma: float = 0.5,
    random_state: RandomState = None,
) -> Problem:
    r"""Time series with synergistic drivers Z, weak drivers W, and their redundant children X.

    .. math::

        Y_t &= c \sum_{i=1}^4 W^{(i)}_{t-2} + b \prod_{i=1}^3 Z^{(i)}_{t-2} + \sigma \eta_t \\
        X^{(1)}_{t-1} &= a (W^{(1)}_{t-2} + W^{(3)}_{t-2}) + \eta^{(1)}_{t-1} \\
        X^{(2)}_{t-1} &= a (W^{(2)}_{t-2} + W^{(4)}_{t-2}) + \eta^{(2)}_{t-1}

    with Z, W and every :math:`\eta` i.i.d. standard normal. A row holds Y at one time t and each
    input at the lag that reaches it. Nothing feeds back and W and Z have no memory, so rows at
    different times are independent; they are drawn as such, with no transient to discard.

    Parameters
    ----------
    n_samples : int, default 1000
        Number of time points t.
    a, b, c : float, default 0.4, 2.0, 0.4
        Coupling from W to X, from the product of Z to Y, from W to Y.
    sigma : float, default 0.5
        Standard deviation of the noise in Y.
    random_state : int, Generator or None
        Source of all randomness.

    Returns
    -------
    Problem
        Columns Z1 to Z3 and W1 to W4 at t-2, X1 and X2 at t-1; relevant all Z and W (Z only where
        b is not 0, W only where c is not 0).

    References
    ----------
    The paper, Experiment IV. J. Runge, R. V. Donner and J. Kurths (2015), "Optimal model-free
    prediction from multivariate time series", Physical Review E 91, 052909.

    Examples
    --------
    >>> runge(200, random_state=0)
    Problem(200 samples of Z1, Z2, Z3, W1, W2, W3, W4, X1, X2;
        relevant: Z1, Z2, Z3, W1, W2, W3, W4)
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("sigma", sigma, 0)
    rng = np.random.default_rng(random_state)
    Z = rng.standard_normal((n_samples, 3))
    W = rng.standard_normal((n_samples, 4))
    X = a * (W[:, :2] + W[:, 2:]) + rng.standard_normal((n_samples, 2))
    y = c * W.sum(axis=1) + b * Z.prod(axis=1) + sigma * rng.standard_normal(n_samples)
    drivers_Z = range(3) if b != 0 else ()
    drivers_W = range(3, 7) if c != 0 else ()
    return Problem(
        X=np.column_stack([Z, W, X]),
        y=y,
        names=numbered("Z", 3) + numbered("W", 4) + numbered("X", 2),
        relevant=(*drivers_Z, *drivers_W),
        description="Runge's model: Z and W at t-2 drive Y at t, X at t-1 repeats W",
    )
