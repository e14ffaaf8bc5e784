"""Partial information decomposition: unique, shared and synergistic information.

`decompose_distribution` applies a measure of `measures` (`broja`, `minimum`, `ccs`,
`shared_exclusions`) on the redundancy `lattice`; `decompose` applies it to samples, after `binning`
or by a measure of `continuous` variables, with tests of the sources and intervals (`inference`).
`explain` decomposes each feature of a selection against the others: `posterior` has the fraction of
its information that they share, `atoms` the parts. `result` and `explanation` hold
what these return.
"""

from pidselect.decomposition.decompose import decompose
from pidselect.decomposition.explanation import Explanation, FeatureExplanation
from pidselect.decomposition.measures import MEASURES, decompose_distribution
from pidselect.decomposition.result import Decomposition, SourceTest

__all__ = [
    "MEASURES",
    "Decomposition",
    "Explanation",
    "FeatureExplanation",
    "SourceTest",
    "decompose",
    "decompose_distribution",
]
