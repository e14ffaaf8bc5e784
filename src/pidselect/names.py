"""Registered names, for the help and completion of the command line.

The registries import compiled kernels, which takes a second. The library checks names by the
registries; a test compares them with these.
"""

from typing import Literal, get_args

CriterionName = Literal[
    "cmi", "mi", "mim", "mifs", "mrmr", "cife", "jmi", "cmim", "disr", "icap", "pid"
]
MeasureName = Literal["broja", "imin", "mmi", "ccs", "sx"]
ContinuousMeasureName = Literal["gaussian", "sx-ksg"]

CRITERION_NAMES: tuple[str, ...] = get_args(CriterionName)
BY_TYPES_NAMES = ("auto", "paper")
ESTIMATOR_NAMES = ("ksg", "ksg-rank", "mixed", "mixed-rank", "discrete", "gaussian", "copula")
SURROGATE_NAMES = ("global", "local", "residual", "shift", "blocks")
MEASURE_NAMES: tuple[str, ...] = get_args(MeasureName)
CONTINUOUS_MEASURE_NAMES: tuple[str, ...] = get_args(ContinuousMeasureName)
