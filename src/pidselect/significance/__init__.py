"""Information in, a decision out: is it more than chance."""

from pidselect.significance.schemes import SURROGATES, Scheme, Shuffle, check_groups
from pidselect.significance.surrogates import (
    BACKWARD,
    FINAL,
    FORWARD,
    LOOKAHEAD,
    MEMBERS,
    RELEVANCE,
    STABILITY,
    START,
    SUBSAMPLE,
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
    "FINAL",
    "FORWARD",
    "LOOKAHEAD",
    "MEMBERS",
    "RELEVANCE",
    "STABILITY",
    "START",
    "SUBSAMPLE",
    "SURROGATES",
    "Scheme",
    "Shuffle",
    "check_groups",
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
