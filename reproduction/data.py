"""The paper's models of two input variables: Experiments II, V and VI."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pidselect.datasets import SyntheticDataset

Pair = tuple[float, float]

#: Class means, and the covariance (s11, s12, s22), of each example of Experiment VI.
EXAMPLE_MEANS: dict[int, tuple[Pair, Pair]] = {
    1: ((-1.0, -1.0), (1.0, 1.0)),
    2: ((-1.0, -1.0), (1.0, 1.0)),
    3: ((0.0, 0.0), (0.0, 0.0)),
    4: ((-0.5, 0.5), (0.5, 0.5)),
    5: ((-0.5, 0.0), (0.5, 0.0)),
}
EXAMPLE_COVARIANCES: dict[int, tuple[float, float, float]] = {
    1: (1.0, 0.0, 1.0),
    2: (1.0, 0.0, 2.0),
    3: (1.0, 1.0, 1.0),
    4: (0.1, 0.4, 2.0),
    5: (0.1, -0.4, 2.0),
}


def statistical_model(
    n_samples: int,
    *,
    kind: str = "additive",
    alpha: float = 0.5,
    sigma: float = 0.1,
    distribution: str = "uniform",
    random_state: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Return two independent inputs, added or multiplied (Experiment II).

    .. math::

        Y &= \alpha X_1 + (1 - \alpha) X_2 + \sigma \eta && \text{(additive)} \\
        Y &= X_1^{\alpha} X_2^{1 - \alpha} + \sigma \eta && \text{(multiplicative)}

    The paper's table of distributions has misprints, read as follows: uniform on [1, 3], as scipy
    reads the parameters 1 and 2; binomial with n=20, p=0.5; Poisson with rates 4 (X1) and 10 (X2);
    exponential with rate 1.5. Where X2 has a negative power, its zeros are drawn again.
    """
    rng = np.random.default_rng(random_state)
    X1 = _inputs(distribution, 4.0, n_samples, rng)
    X2 = _inputs(distribution, 10.0, n_samples, rng)
    noise = sigma * rng.standard_normal(n_samples)
    while kind != "additive" and alpha > 1 and (zero := X2 == 0).any():
        X2[zero] = _inputs(distribution, 10.0, int(zero.sum()), rng)
    y = alpha * X1 + (1 - alpha) * X2 if kind == "additive" else X1**alpha * X2 ** (1 - alpha)
    return np.column_stack([X1, X2]), y + noise


def _inputs(
    distribution: str, poisson_rate: float, n_samples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    match distribution:
        case "uniform":
            return rng.uniform(1.0, 3.0, n_samples)
        case "binomial":
            return rng.binomial(20, 0.5, n_samples).astype(float)
        case "poisson":
            return rng.poisson(poisson_rate, n_samples).astype(float)
        case _:
            return rng.exponential(1 / 1.5, n_samples)


def noise_model(n_samples: int, *, kind: str, a: float, random_state: int) -> SyntheticDataset:
    r"""Return a signal S and a distractor D of target or measurement (Experiment V).

    .. math::

        \text{mackay:} \quad X_1 &= S,      & X_2 &= D, & Y &= \sin S + 0.1 \eta + aD \\
        \text{haufe:}  \quad X_1 &= S + aD, & X_2 &= D, & Y &= \sin S + 0.1 \eta
    """
    rng = np.random.default_rng(random_state)
    signal, distractor, eta = rng.standard_normal((3, n_samples))
    y = np.sin(signal) + 0.1 * eta
    relevant = (0, 1) if a != 0 else (0,)
    if kind == "mackay":
        y, X1 = y + a * distractor, signal
    else:
        X1 = signal + a * distractor
    X = np.column_stack([X1, distractor])
    return SyntheticDataset(X, y, ("X1", "X2"), relevant, f"Noise model {kind}, strength a={a:g}")


def two_classes(
    n_samples: int,
    *,
    example: int,
    means: tuple[Pair, Pair] | None = None,
    random_state: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return two normal classes of equal size in the plane (Experiment VI).

    Class means may be other than the printed ones, which are misprinted in examples 3 and 4.
    """
    centres = np.array(means or EXAMPLE_MEANS[example])
    s11, s12, s22 = EXAMPLE_COVARIANCES[example]
    rng = np.random.default_rng(random_state)
    y = rng.permutation(np.arange(n_samples, dtype=np.int64) % 2)
    first, second = rng.standard_normal((2, n_samples))
    # Cholesky by hand: the covariance of example 3 is singular, and its columns must be equal.
    X1 = np.sqrt(s11) * first + centres[y, 0]
    X2 = s12 / np.sqrt(s11) * first + np.sqrt(s22 - s12**2 / s11) * second + centres[y, 1]
    return np.column_stack([X1, X2]), y
