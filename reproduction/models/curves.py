"""What is swept in the statistical models, and how the curves over alpha are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, get_args

from reproduction.experiment import Outcome, Results
from reproduction.figures import Role

Kind = Literal["additive", "multiplicative"]
Distribution = Literal["uniform", "binomial", "poisson", "exponential"]
KINDS: tuple[Kind, ...] = get_args(Kind)
DISTRIBUTIONS: tuple[Distribution, ...] = get_args(Distribution)
SIGMAS = (0.1, 1.0, 10.0)

#: Inputs of whole numbers, for which there is an estimator of mixed data besides.
DISCRETE = ("binomial", "poisson")

#: What the paper shows, the only one with lines of significance.
SHOWN: tuple[Distribution, float] = ("uniform", 0.1)

#: Uniform inputs from 0 to 1 instead of from 1 to 2.
FROM_ZERO: Final = "uniform from 0"
Inputs = Distribution | Literal["uniform from 0"]

#: What terms and atoms of a run are called in words.
TERMS = {"mi1": "I(X1;Y)", "mi2": "I(X2;Y)", "cmi1": "I(X1;Y|X2)", "cmi2": "I(X2;Y|X1)"}
ATOMS: dict[Role, str] = {
    "unique1": "unique to X1",
    "unique2": "unique to X2",
    "shared": "shared",
    "synergy": "synergy",
}


def in_words(distribution: str) -> str:
    """Return the name of a distribution as it is written within a sentence."""
    return "Poisson" if distribution == "poisson" else distribution


def finest(runs: Sequence[Outcome]) -> list[Outcome]:
    """Return the runs on the finest grid: quick runs and full ones may lie in one store."""
    most = max((len(run["alpha"]) for run in runs), default=0)
    return [run for run in runs if len(run["alpha"]) == most]


def curves_of(results: Results, kind: str, distribution: str, sigma: float) -> list[Outcome]:
    """Return all sweeps of a model, from whichever part it is in."""
    if (distribution, sigma) == SHOWN:
        return finest(results.of("curve", kind=kind))
    found = results.of("others", kind=kind, distribution=distribution, sigma=sigma)
    return finest(found)


def values_at(
    runs: Sequence[Outcome], name: str, alpha: float, estimator: str = "count"
) -> list[float]:
    """Return a term at one alpha, for each run; none if that is not on the grid."""
    return [
        run[estimator][name][run["alpha"].index(alpha)] for run in runs if alpha in run["alpha"]
    ]
