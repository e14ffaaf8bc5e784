"""Partial information decomposition: unique, shared and synergistic information.

`decompose_distribution` applies a measure of `measures` (`broja`, `minimum`, `ccs`,
`shared_exclusions`) on the redundancy `lattice`; `decompose` applies it to samples, after `binning`
or by a measure of `continuous` variables, with tests of the sources and intervals (`inference`).
`explain` decomposes each feature of a selection against the others (`source_pair`). `result` holds
what these return.
"""

from pidselect.decomposition.decompose import decompose
from pidselect.decomposition.measures import MEASURES, decompose_distribution
from pidselect.decomposition.result import (
    Decomposition,
    Explanation,
    FeatureExplanation,
    SourceTest,
)

__all__ = [
    "MEASURES",
    "Decomposition",
    "Explanation",
    "FeatureExplanation",
    "SourceTest",
    "decompose",
    "decompose_distribution",
]
