"""Decisions in, a feature set out."""

from pidselect.selection.brown import MIFS, LinearCriterion
from pidselect.selection.record import Selection, Step
from pidselect.selection.selector import PIDSelector

__all__ = [
    "MIFS",
    "LinearCriterion",
    "PIDSelector",
    "Selection",
    "Step",
]
