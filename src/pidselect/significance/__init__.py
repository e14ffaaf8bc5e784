"""Information in, a decision out: is it more than chance."""

from pidselect.significance.surrogates import (
    BACKWARD,
    FORWARD,
    SUBSAMPLE,
    SURROGATES,
    permutations,
)
from pidselect.significance.tests import (
    check_resolution,
    first_largest,
    first_smallest,
    is_significant,
    maximum_statistic,
    minimum_statistic,
    null_line,
    p_values,
)

__all__ = [
    "BACKWARD",
    "FORWARD",
    "SUBSAMPLE",
    "SURROGATES",
    "check_resolution",
    "first_largest",
    "first_smallest",
    "is_significant",
    "maximum_statistic",
    "minimum_statistic",
    "null_line",
    "p_values",
    "permutations",
]
