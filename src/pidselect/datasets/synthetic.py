"""Models with known relevant features: of numbers, of classes, and a table of mixed types."""

from __future__ import annotations

from typing import Literal

import numpy as np
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3, make_regression

from pidselect.data import check_choice
from pidselect.datasets.base import (
    RandomState,
    SyntheticDataset,
    SyntheticTable,
    Values,
    balanced_classes,
    check_at_least,
    numbered,
    relevant_first,
)


def toy(n_samples: int = 1000, *, random_state: RandomState = None) -> SyntheticDataset:
    r"""Three features: an informative, a redundant and a synergistic one.

    .. math::

        Y &= \sin(\xi_1) + 0.1 \eta_Y \\
        X_1 &= \xi_1 + 0.1 \eta \\
        X_2 &= 0.8 \xi_1 + 0.2 \xi_2 + 0.01 \eta

    where :math:`\xi_1, \xi_2, \eta, \eta_Y` are independent and standard normal. The noise
    :math:`\eta` is a feature, too: it is independent of Y, but :math:`X_1` and :math:`\eta` jointly
    determine :math:`\xi_1`, so that :math:`X_2` is redundant given both. It is the example of the
    paper's section 3.3.3; relevant are X1 and eta.

    Examples
    --------
    >>> import numpy as np
    >>> from pidselect import datasets
    >>> X, y = datasets.toy(1000, random_state=0).Xy
    >>> X1, X2, eta = X.T
    >>> bool(abs(np.corrcoef(eta, y)[0, 1]) < 0.1)          # eta is marginally independent of y
    True
    >>> print(f"{np.std(y - np.sin(X1 - 0.1 * eta)):.2f}")  # with X1, only the noise is left
    0.10
    """
    check_at_least("n_samples", n_samples, 1)
    rng = np.random.default_rng(random_state)
    xi1, xi2, eta, eta_y = rng.standard_normal((4, n_samples))
    X1 = xi1 + 0.1 * eta
    X2 = 0.8 * xi1 + (1 - 0.8) * xi2 + 0.01 * eta
    return SyntheticDataset(
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
) -> SyntheticDataset:
    r"""Two balanced classes on the surfaces of two concentric spheres (the paper, Experiment I).

    .. math::

        \mathbf{X} = r_Y \, \mathbf{u}, \qquad
        \mathbf{u} \text{ uniform on the unit sphere}, \quad Y \in \{0, 1\}

    The three coordinates jointly determine the class. A single coordinate is uniform on
    :math:`[-r, r]` (Archimedes); its mutual information with the class is, in bits and with
    :math:`q = r_0 / r_1`,

    .. math:: I(X_i; Y) = 1 - \tfrac{1 + q}{2} \, H_2\!\left(\tfrac{1}{1 + q}\right)

    Parameters
    ----------
    radii : (float, float)
        Radius of class 0 and of class 1; the paper does not state its own. The default gives
        :math:`I(X_i; Y)` = 0.11 bit, a ratio of 2 gives 0.31 bit. With ``label_noise=0.5`` and 1000
        samples the default radii agree with the paper: a coordinate is hardly significant
        marginally, and clearly so given the others.
    label_noise : float
        Standard deviation of the Gaussian noise that the paper adds to the labels to obtain a
        continuous target. With 0 the target stays the integer class.

    Examples
    --------
    >>> import numpy as np
    >>> from pidselect import datasets
    >>> X, y = datasets.nested_spheres(1000, random_state=0).Xy
    >>> radius = np.linalg.norm(X, axis=1)
    >>> bool(np.all((radius > 1.1) == (y == 1)))
    True
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("label_noise", label_noise, 0)
    inner, outer = radii
    if not 0 < inner < outer:
        raise ValueError(f"radii must be positive and increasing, got {radii!r}.")
    rng = np.random.default_rng(random_state)
    label = balanced_classes(n_samples, 2, rng)
    direction = rng.standard_normal((n_samples, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    noise = label_noise * rng.standard_normal(n_samples)
    return SyntheticDataset(
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
) -> SyntheticDataset:
    r"""Friedman's three regression models, each with irrelevant uniform features.

    .. math::

        \text{1:} \quad Y &= 10 \sin(\pi X_1 X_2) + 20 (X_3 - 0.5)^2 + 10 X_4 + 5 X_5
            + \sigma \eta \\
        \text{2:} \quad Y &= \sqrt{X_1^2 + (X_2 X_3 - 1 / (X_2 X_4))^2} + \sigma \eta \\
        \text{3:} \quad Y &= \arctan\frac{X_2 X_3 - 1 / (X_2 X_4)}{X_1} + \sigma \eta

    with :math:`\eta \sim N(0, 1)`. In model 1 all ten features are uniform on [0, 1]. In models 2
    and 3 :math:`X_1 \in [0, 100]`, :math:`X_2 \in [40\pi, 560\pi]`, :math:`X_3 \in [0, 1]`,
    :math:`X_4 \in [1, 11]`, and six features uniform on [0, 1] are added.

    Parameters
    ----------
    model : {1, 2, 3}
    noise : float
        The standard deviation :math:`\sigma`, the same for all models. The standard deviation of Y
        is about 380 in model 2 and 0.3 in model 3. In model 2 the effect of :math:`X_4` is about a
        thousandth of the noise: relevant, but not detectable.

    References
    ----------
    The paper, Experiment III. J. H. Friedman (1991), "Multivariate adaptive regression splines",
    The Annals of Statistics 19(1).

    Examples
    --------
    The effect of X3 is a parabola: a ranking by correlation leaves it out.

    >>> import numpy as np
    >>> from pidselect import datasets
    >>> data = datasets.friedman(500, random_state=0)
    >>> data.relevant_names
    ('X1', 'X2', 'X3', 'X4', 'X5')
    >>> correlations = np.corrcoef(data.X.T, data.y)[-1, :-1]
    >>> [data.names[column] for column in np.argsort(-abs(correlations))[:5]]
    ['X4', 'X2', 'X1', 'X5', 'Z3']
    """
    check_at_least("n_samples", n_samples, 1)
    check_at_least("noise", noise, 0)
    check_choice(model, (1, 2, 3), "model")
    rng = np.random.default_rng(random_state)
    seed = int(rng.integers(2**31 - 1))  # scikit-learn accepts no Generator
    if model == 1:
        n_relevant = 5
        X, y = make_friedman1(n_samples, n_features=10, noise=noise, random_state=seed)
    else:
        n_relevant = 4
        make = make_friedman2 if model == 2 else make_friedman3
        X, y = make(n_samples, noise=noise, random_state=seed)
        X = np.column_stack([X, rng.uniform(size=(n_samples, 6))])
    description = f"Friedman's model {model} with {10 - n_relevant} irrelevant features"
    return relevant_first(X, y, n_relevant, description)


def runge(
    n_samples: int = 1000,
    *,
    a: float = 0.4,
    b: float = 2.0,
    c: float = 0.4,
    sigma: float = 0.5,
    random_state: RandomState = None,
) -> SyntheticDataset:
    r"""Time series with synergistic drivers Z, weak drivers W, and redundant children X of W.

    .. math::

        Y_t &= c \sum_{i=1}^4 W^{(i)}_{t-2} + b \prod_{i=1}^3 Z^{(i)}_{t-2} + \sigma \eta_t \\
        X^{(1)}_{t-1} &= a (W^{(1)}_{t-2} + W^{(3)}_{t-2}) + \eta^{(1)}_{t-1} \\
        X^{(2)}_{t-1} &= a (W^{(2)}_{t-2} + W^{(4)}_{t-2}) + \eta^{(2)}_{t-1}

    with Z, W and every :math:`\eta` i.i.d. standard normal. A row holds :math:`Y_t` and each input
    at its lag. W and Z are i.i.d. and there is no feedback, so rows are independent. Z is relevant
    unless b is 0, W unless c is 0.

    Parameters
    ----------
    a, b, c : float
        Coupling from W to X, from the product of Z to Y, from W to Y.
    sigma : float
        Standard deviation of the noise in Y.

    References
    ----------
    The paper, Experiment IV. J. Runge, R. V. Donner and J. Kurths (2015), "Optimal model-free
    prediction from multivariate time series", Physical Review E 91, 052909.

    Examples
    --------
    The product of Z1, Z2 and Z3 drives the target; none of them is correlated with it.

    >>> import numpy as np
    >>> from pidselect import datasets
    >>> data = datasets.runge(1000, c=0.0, random_state=0)
    >>> data.relevant_names
    ('Z1', 'Z2', 'Z3')
    >>> Z = data.X[:, list(data.relevant)]
    >>> bool(abs(np.corrcoef(Z.T, data.y)[-1, :-1]).max() < 0.1)
    True
    >>> bool(np.corrcoef(Z.prod(axis=1), data.y)[0, 1] > 0.9)
    True
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
    return SyntheticDataset(
        X=np.column_stack([Z, W, X]),
        y=y,
        names=numbered("Z", 3) + numbered("W", 4) + numbered("X", 2),
        relevant=(*drivers_Z, *drivers_W),
        description="Runge's model: Z and W at t-2 drive Y at t, X at t-1 is redundant with W",
    )


def regression(
    n_samples: int = 1000,
    *,
    n_features: int = 50,
    n_informative: int = 10,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> SyntheticDataset:
    r"""Linear model with few informative features, by scikit-learn's ``make_regression``.

    .. math:: Y = \sum_i w_i X_i + \sigma \eta, \qquad w_i \sim U(0, 100)
        \text{ for informative features, } 0 \text{ for the others}

    Parameters
    ----------
    n_features, n_informative : int
        The paper uses 10 of 50 and 20 of 30 (Appendix C).
    noise : float
        The standard deviation :math:`\sigma`.

    Examples
    --------
    >>> from pidselect import datasets
    >>> datasets.regression(100, n_features=5, n_informative=2, random_state=1).names
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
        random_state=int(rng.integers(2**31 - 1)),
    )
    informative = np.atleast_1d(weights) != 0
    X_names = iter(numbered("X", n_features))
    Z_names = iter(numbered("Z", n_features))
    return SyntheticDataset(
        X=X,
        y=np.atleast_1d(y),
        names=tuple(next(X_names if is_informative else Z_names) for is_informative in informative),
        relevant=tuple(int(column) for column in np.flatnonzero(informative)),
        description=f"Linear regression on {n_informative} of {n_features} features",
    )


def classes(
    n_samples: int = 1000,
    *,
    n_features: int = 10,
    n_informative: int = 3,
    n_classes: int = 3,
    separation: float = 1.5,
    random_state: RandomState = None,
) -> SyntheticDataset:
    r"""Overlapping classes that differ in the means of some normal features.

    .. math:: X_i \mid Y = j \;\sim\; N\!\left(s \left(\pi_i(j) - \tfrac{m - 1}{2}\right), 1\right)

    for informative features, where :math:`\pi_i` is a random permutation of the m classes, and
    :math:`X_i \sim N(0, 1)` for the others. Features are independent given the class, so that each
    informative one has positive conditional mutual information given any set of the others.

    Parameters
    ----------
    n_features, n_informative, n_classes : int
    separation : float
        Distance s between neighbouring class means, in standard deviations.

    Examples
    --------
    >>> from pidselect import datasets
    >>> datasets.classes(300, n_features=4, n_informative=2, n_classes=2, random_state=0)
    SyntheticDataset(300 samples of X1, X2, Z1, Z2; relevant: X1, X2)
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
    description = f"{n_classes} classes, {n_informative} of {n_features} features are informative"
    return relevant_first(X, y, n_informative, description)


def mixed_table(n_samples: int = 1000, *, random_state: RandomState = None) -> SyntheticTable:
    r"""Bicycle rental on an island: kilometres ridden a day, with mixed feature types.

    .. math::

        Y = 60 + 120 \, e^{-((T - 20) / 6)^2} + 0.8 \, G + 60 \, H + 140 \, [M = F] + 10 \, \eta

    T is ``temperature``, G ``overnight_guests``, H ``holiday``; ``market`` M and ``ferry`` F are
    north or south and interact. The ferry is marginally independent of Y, since both places of the
    market are equally frequent; the market is weakly informative, since the ferry more often lands
    in the north.

    ========================  ========  ===================================================
    column                    values    role
    ========================  ========  ===================================================
    temperature               float     relevant, not monotone
    temperature_fahrenheit    float     exact duplicate
    ice_creams_sold           int       redundant with temperature
    overnight_guests          int       relevant, linear
    breakfasts_served         int       redundant with overnight_guests
    holiday                   bool      relevant
    market, ferry             str       relevant, synergistic
    captain, moon             str       irrelevant
    tide_height               float     irrelevant
    seagulls_counted          int       irrelevant
    flag_raised               bool      irrelevant
    ========================  ========  ===================================================

    Examples
    --------
    >>> from pidselect import datasets
    >>> island = datasets.mixed_table(365, random_state=0)
    >>> island.relevant
    ('temperature', 'overnight_guests', 'holiday', 'market', 'ferry')
    >>> len(island.columns), island.target
    (13, 'kilometres_ridden')
    """
    check_at_least("n_samples", n_samples, 1)
    rng = np.random.default_rng(random_state)
    temperature = np.round(rng.normal(17.0, 5.0, n_samples), 1)
    guests = rng.integers(40, 161, n_samples)
    holiday = rng.random(n_samples) < 0.35
    market = rng.choice(["north", "south"], n_samples)
    ferry = rng.choice(["north", "south"], n_samples, p=[0.75, 0.25])
    y = (
        60
        + 120 * np.exp(-(((temperature - 20) / 6) ** 2))
        + 0.8 * guests
        + 60 * holiday
        + 140 * (market == ferry)
        + 10 * rng.standard_normal(n_samples)
    )
    columns: dict[str, Values] = {
        "captain": rng.choice(["Asta", "Bjarne", "Cilla", "Dag"], n_samples).tolist(),
        "temperature_fahrenheit": (1.8 * temperature + 32).tolist(),
        "market": market.tolist(),
        "tide_height": np.round(rng.uniform(-0.6, 1.4, n_samples), 2).tolist(),
        "ice_creams_sold": rng.poisson(60 * np.exp((temperature - 17) / 8)).tolist(),
        "overnight_guests": guests.tolist(),
        "holiday": holiday.tolist(),
        "seagulls_counted": rng.poisson(23.0, n_samples).tolist(),
        "temperature": temperature.tolist(),
        "moon": rng.choice(["new", "waxing", "full", "waning"], n_samples).tolist(),
        "ferry": ferry.tolist(),
        "breakfasts_served": rng.binomial(guests, 0.9).tolist(),
        "flag_raised": (rng.random(n_samples) < 0.5).tolist(),
    }
    return SyntheticTable(
        columns=columns,
        y=y,
        target="kilometres_ridden",
        relevant=("temperature", "overnight_guests", "holiday", "market", "ferry"),
        redundant={
            "temperature_fahrenheit": "temperature",
            "ice_creams_sold": "temperature",
            "breakfasts_served": "overnight_guests",
        },
    )


def _check_informative(n_informative: int, n_features: int) -> None:
    check_at_least("n_features", n_features, 1)
    if not 0 <= n_informative <= n_features:
        raise ValueError(
            f"n_informative must lie between 0 and n_features={n_features}, got {n_informative!r}."
        )
