"""Columns in, information out: estimators of (conditional) mutual information, in nats."""

from pidselect.estimators.base import MAX_MEMORY, Batch, Estimator, Scorer
from pidselect.estimators.discrete import Discrete
from pidselect.estimators.gaussian import Copula, Gaussian
from pidselect.estimators.information import (
    ESTIMATORS,
    NATS_PER_UNIT,
    is_portfolio,
    mutual_information,
    resolve,
    resolve_members,
)
from pidselect.estimators.ksg import KSG
from pidselect.estimators.mixed import Mixed

__all__ = [
    "ESTIMATORS",
    "KSG",
    "MAX_MEMORY",
    "NATS_PER_UNIT",
    "Batch",
    "Copula",
    "Discrete",
    "Estimator",
    "Gaussian",
    "Mixed",
    "Scorer",
    "is_portfolio",
    "mutual_information",
    "resolve",
    "resolve_members",
]
