"""Estimates approach answers known in closed form or by quadrature, in nats.

Each tolerance is the bias plus four standard errors of the mean over `SEEDS`, both measured over
twenty other seeds at the same number of samples. The bias is that of the method, not of its
computation, such as that of the mixed estimator, which counts borders, and fades with n.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import e, log, pi

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import naive
from estimators.samples import Sample
from pidselect.estimators import KSG, Batch, Copula, Discrete, Gaussian, Mixed

SEEDS = range(100, 106)


def stack(*columns) -> np.ndarray:
    return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)


def nothing(n: int) -> np.ndarray:
    return np.empty((n, 0))


def correlated(rng, n, rho):
    """Return two standard normal columns with correlation rho (one, or one for each sample)."""
    x, noise = rng.normal(size=(2, n))
    return x, rho * x + np.sqrt(1 - np.square(rho)) * noise


def normal_information(rho: float) -> float:
    return -0.5 * log(1 - rho**2)


# --- systems ------------------------------------------------------------------------------------


def ladder(rng, n, labels=()):
    """X uniform on 0..4, Y ~ U[X, X + 2]."""
    x = rng.integers(0, 5, n)
    return Sample(stack(x), stack(x + 2 * rng.random(n)), nothing(n), labels)


def ladder_of_labels(rng, n):
    return ladder(rng, n, labels=(0,))


def classes(rng, n):
    """Three classes, x ~ N(2c, 1) in each."""
    c = rng.integers(0, 3, n)
    return Sample(stack(rng.normal(size=n) + 2 * c), stack(c), nothing(n), (), (0,))


def classes_as_candidate(rng, n):
    data = classes(rng, n)
    return Sample(data.y, data.x, data.s, (0,))


def classes_information() -> float:
    """Return h(x) - h(x | c)."""

    def integrand(t):
        density = sum(norm.pdf(t - 2 * c) for c in range(3)) / 3
        return -density * log(density)

    return quad(integrand, -8, 12)[0] - 0.5 * log(2 * pi * e)


def threshold(rng, n):
    """A class that is a function of a number."""
    x = rng.normal(size=n)
    return Sample(stack(x), stack(x > 0), nothing(n), (), (0,))


def zero_inflated(rng, n):
    """Both zero with probability 0.4, else log-normal with correlated logarithms.

    Whether they are zero is a function of either, so I = H(zero) + 0.6 I(normal).
    """
    zero = rng.random(n) < 0.4
    x, y = (np.where(zero, 0, np.exp(part / 2)) for part in correlated(rng, n, 0.8))
    return Sample(stack(x), stack(y), nothing(n))


def strata(rng, n):
    """Given a label, the correlation is 0, 0.6 or 0.9: the answer is the average over labels."""
    s = rng.integers(0, 3, n)
    x, y = correlated(rng, n, np.array([0, 0.6, 0.9])[s])
    return Sample(stack(x), stack(y + s), stack(s), (), (), (0,))


def flipped_threshold(rng, n):
    """y says on which side x is, or, by a coin known as S, the opposite: nothing without S."""
    x, coin = rng.normal(size=n), rng.integers(0, 2, n)
    return Sample(stack(x), stack((x > 0) ^ (coin == 1)), stack(coin), (), (0,), (0,))


def common_cause(rng, n):
    """x and y copies of a number S with noise of their own: nothing is left given S."""
    s = rng.normal(size=n)
    x, y = s + rng.normal(size=(2, n))
    return Sample(stack(x), stack(y), stack(s))


def independent(rng, n):
    return Sample(stack(rng.normal(size=n)), stack(rng.integers(0, 3, n)), nothing(n), (), (0,))


def normal_pair(rng, n):
    return Sample(*(stack(part) for part in correlated(rng, n, 0.8)), nothing(n))


def normal_given_one(rng, n):
    """x and y share a cause S and have a partial correlation of 0.6."""
    s = rng.normal(size=n)
    x, y = correlated(rng, n, 0.6)
    return Sample(stack(x + s), stack(y - s), stack(s))


def skewed_pair(rng, n):
    data = normal_pair(rng, n)
    return Sample(np.exp(2 * data.x), -(data.y**3), data.s)


# --- cases --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    system: Callable[[np.random.Generator, int], Sample]
    estimator: object
    truth: float
    tolerance: float
    n: int = 2000


def estimates(case: Case, n: int, seeds: range = SEEDS) -> np.ndarray:
    values = []
    for seed in seeds:
        x, y, s = case.system(np.random.default_rng(seed), n).blocks
        scorer = case.estimator.bind(y, s)
        values.append(scorer.score(Batch.observed(x))[0])
    return np.array(values)


LADDER = log(5) - 4 * log(2) / 5
STRATA = (normal_information(0.6) + normal_information(0.9)) / 3
INFLATED = -0.6 * log(0.6) - 0.4 * log(0.4) + 0.6 * normal_information(0.8)

CASES = [
    Case(ladder, Mixed(), LADDER, 0.022),
    Case(ladder_of_labels, Mixed(), LADDER, 0.022),
    Case(classes, Mixed(), classes_information(), 0.029),
    Case(classes_as_candidate, Mixed(), classes_information(), 0.029),
    Case(threshold, Mixed(), log(2), 0.002),
    Case(zero_inflated, Mixed(), INFLATED, 0.056),
    Case(strata, Mixed(), STRATA, 0.073),
    Case(flipped_threshold, Mixed(), log(2), 0.0035),
    Case(common_cause, Mixed(), 0.0, 0.043),
    Case(independent, Mixed(), 0.0, 0.023),
    Case(normal_pair, Mixed(), normal_information(0.8), 0.067),
    Case(normal_pair, KSG(), normal_information(0.8), 0.049),
    Case(normal_pair, KSG(algorithm=2), normal_information(0.8), 0.048),
    Case(normal_pair, Gaussian(), normal_information(0.8), 0.034),
    Case(normal_pair, Copula(), normal_information(0.8), 0.032),
    Case(normal_given_one, KSG(), normal_information(0.6), 0.035),
    Case(normal_given_one, KSG(algorithm=2), normal_information(0.6), 0.06),
    Case(normal_given_one, Gaussian(), normal_information(0.6), 0.033),
    Case(skewed_pair, KSG(scale="rank"), normal_information(0.8), 0.034),
    Case(classes, Mixed(scale="rank"), classes_information(), 0.029),
    Case(strata, Mixed(scale="rank"), STRATA, 0.075),
    Case(skewed_pair, Copula(), normal_information(0.8), 0.032),
]


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.system.__name__}-{type(case.estimator).__name__}"
)
def test_known_information(case):
    assert estimates(case, case.n).mean() == pytest.approx(case.truth, rel=0, abs=case.tolerance)


def test_mixed_of_labels_is_nearly_the_plug_in():
    """Where all is ties, psi of counts stands for their logarithm."""
    rng = np.random.default_rng(5)
    s = rng.integers(0, 2, 2000)
    x = (s + rng.integers(0, 3, 2000)) % 3
    y = np.where(rng.random(2000) < 0.7, x + s, rng.integers(0, 4, 2000))
    data = Sample(stack(x), stack(y), stack(s), (0,), (0,), (0,))
    case = Case(lambda rng, n: data, Mixed(), naive.discrete(data.x, data.y, data.s), 0.01)
    assert estimates(case, 2000)[0] == pytest.approx(case.truth, rel=0, abs=case.tolerance)


def test_miller_madow_takes_away_most_of_the_bias():
    """Independent columns of 6 and 4 levels: the plug-in is too large by about 5 * 3 / 2n."""

    def levels(rng, n):
        return Sample(stack(rng.integers(0, 6, n)), stack(rng.integers(0, 4, n)), nothing(n))

    plain, corrected = (
        estimates(Case(levels, Discrete(correction=correction), 0.0, 0.0), 300).mean()
        for correction in (None, "miller-madow")
    )
    assert plain == pytest.approx(15 / 600, rel=0.5)
    assert abs(corrected) < plain / 3
