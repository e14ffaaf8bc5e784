"""Sources and a target in, atoms out: what is unique, shared and synergistic.

A distribution is decomposed by a measure (`measures`: `broja`, `minimum`, `shared_exclusions`,
`ccs`) on the `lattice`. Samples become states (`states`) or are taken as they are (`continuous`);
either way they are `subjects`, which can be asked again with rows rearranged (`doubt`), and all of
that is one call in `samples`. Features are explained (`explain`) by contrasting each with others
(`contrast`); what comes out is an `explanation`, in words (`sentences`).
"""

from pidselect.decomposition.decompose import decompose
from pidselect.decomposition.explanation import Explanation, FeatureExplanation
from pidselect.decomposition.measures import MEASURES, decompose_distribution
from pidselect.decomposition.result import Decomposition

__all__ = [
    "MEASURES",
    "Decomposition",
    "Explanation",
    "FeatureExplanation",
    "decompose",
    "decompose_distribution",
]
