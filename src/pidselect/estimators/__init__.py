"""Estimators of (conditional) mutual information, in nats: nearest-neighbour, plug-in, Gaussian."""

from pidselect.estimators.base import NATS_PER_UNIT, Batch, Estimator, Scorer
from pidselect.estimators.discrete import Discrete
from pidselect.estimators.gaussian import Copula, Gaussian
from pidselect.estimators.ksg import KSG
from pidselect.estimators.mixed import Mixed
from pidselect.estimators.mutual_information import mutual_information
from pidselect.estimators.registry import BY_TYPES, ESTIMATORS, resolve

__all__ = [
    "BY_TYPES",
    "ESTIMATORS",
    "KSG",
    "NATS_PER_UNIT",
    "Batch",
    "Copula",
    "Discrete",
    "Estimator",
    "Gaussian",
    "Mixed",
    "Scorer",
    "mutual_information",
    "resolve",
]
