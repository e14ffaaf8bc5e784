"""Feature selection: forward selection and backward elimination with permutation tests."""

from pidselect.selection.pairwise_criteria import MIFS, LinearCriterion
from pidselect.selection.result import Selection, Step
from pidselect.selection.selector import PIDSelector

__all__ = [
    "MIFS",
    "LinearCriterion",
    "PIDSelector",
    "Selection",
    "Step",
]
