"""Sources and a target in, atoms out: what is unique, shared and synergistic."""

from pidselect.decomposition.explanation import Explanation, FeatureExplanation
from pidselect.decomposition.measures import MEASURES, decompose_distribution
from pidselect.decomposition.result import Decomposition
from pidselect.decomposition.samples import decompose

__all__ = [
    "MEASURES",
    "Decomposition",
    "Explanation",
    "FeatureExplanation",
    "decompose",
    "decompose_distribution",
]
