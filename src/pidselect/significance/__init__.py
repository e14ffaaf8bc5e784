"""Permutation tests: surrogate schemes, maximum statistic, p-values, sequential tests."""

from pidselect.significance.permutation_test import (
    check_resolution,
    critical_value,
    first_largest,
    first_smallest,
    is_significant,
    maximum_statistic,
    minimum_statistic,
    p_values,
)
from pidselect.significance.rng import (
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
from pidselect.significance.surrogates import (
    SURROGATES,
    PermutationSampler,
    SurrogateScheme,
    bind_scheme,
    check_groups,
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
    "PermutationSampler",
    "SurrogateScheme",
    "bind_scheme",
    "check_groups",
    "check_resolution",
    "critical_value",
    "first_largest",
    "first_smallest",
    "is_significant",
    "maximum_statistic",
    "minimum_statistic",
    "p_values",
    "permutations",
]
