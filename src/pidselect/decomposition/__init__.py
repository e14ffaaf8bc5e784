"""Sources and a target in, atoms out: what is unique, shared and synergistic."""

from pidselect.decomposition.measures import MEASURES, decompose_distribution
from pidselect.decomposition.result import Decomposition

__all__ = ["MEASURES", "Decomposition", "decompose_distribution"]
